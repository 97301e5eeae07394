/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page, made out of the command table. */
#ifndef CMDS_MANUAL_H
#define CMDS_MANUAL_H

#include <stdio.h>

/* Writes btfcrash(1) in man(7) macros. */
void manual_write(FILE *file);

#endif
