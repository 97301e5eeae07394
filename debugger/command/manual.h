/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page, made out of the command table. */
#ifndef DEBUGGER_COMMAND_MANUAL_H
#define DEBUGGER_COMMAND_MANUAL_H

#include <stdio.h>

/* Writes btfcrash(1) in man(7) macros. */
void manual_write(FILE *file);

#endif
