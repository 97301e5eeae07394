/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gdb's formats behind a command's name: "p/x EXPRESSION", "x/4gx ADDRESS". */
#ifndef DEBUGGER_COMMAND_FORMAT_H
#define DEBUGGER_COMMAND_FORMAT_H

/* The line in words of ours; NULL: it has no such format. Caller frees. */
char *format_expand(const char *line);

#endif
