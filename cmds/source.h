/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMDS_SOURCE_H
#define CMDS_SOURCE_H

#include "cmds/command.h"

extern const struct command command_source;
/* The file that `source` is told: "~/x" is of the home folder. Caller frees; NULL: no memory. */
char *source_path(const char *word);

#endif
