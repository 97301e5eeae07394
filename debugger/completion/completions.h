/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What shells need to complete the program's command line, out of the option and command tables. */
#ifndef DEBUGGER_COMPLETION_COMPLETIONS_H
#define DEBUGGER_COMPLETION_COMPLETIONS_H

#include <stdio.h>

/* A file to source, for what `btfcrash --completion SHELL` takes: bash, zsh or fish. */
void completions_write(FILE *file, const char *shell);

#endif
