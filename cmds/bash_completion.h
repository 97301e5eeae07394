/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bash's completion of the program's command line, out of the option and command tables. */
#ifndef CMDS_BASH_COMPLETION_H
#define CMDS_BASH_COMPLETION_H

#include <getopt.h>
#include <stdio.h>

/* `options` ends with a nameless one. */
void bash_completion_write(FILE *file, const struct option *options);

#endif
