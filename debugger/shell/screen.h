/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal as a place to write the output of a command to. When it is longer than the screen it
 * goes through the pager: $PAGER, else less. The user who leaves the pager stops the command.
 */
#ifndef DEBUGGER_SHELL_SCREEN_H
#define DEBUGGER_SHELL_SCREEN_H

#include "base/progress.h"
#include "debugger/shell/child.h"
#include <stddef.h>

struct screen {
	FILE *file;		   /* to write to */
	struct progress *progress; /* taken off the screen before something is written; NULL */
	struct helper_link *progress_helper;
	struct helper_link *helper; /* runs the pager */
	bool may_page;
	bool left;  /* the user left the pager: nobody reads any more */
	char *held; /* the first lines, until it is known whether they are too many */
	size_t held_size, held_capacity;
	int rows, columns; /* of the terminal */
	int row, column;   /* reached by what is held */
	struct child pager;
};

/* `screen` stays where it is until it is closed. False without memory. */
bool screen_open(struct screen *screen, struct progress *progress, struct helper_link *helper,
		 bool may_page);
/* Writes what is held, waits until the pager is left. */
void screen_close(struct screen *screen);

#endif
