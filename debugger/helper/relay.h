/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pipe whose other end the process that reads the dump writes to, and the place that its bytes go
 * to, filtered (base/terminal_filter.h): a terminal, or a program that is on one.
 */
#ifndef DEBUGGER_HELPER_RELAY_H
#define DEBUGGER_HELPER_RELAY_H

#include "base/terminal_filter.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RELAY_BYTES 16384 /* that are read at once */

struct relay {
	bool is_open;
	int from;	/* never blocks */
	int to;		/* owned */
	pid_t program;	/* that reads what is written, and may not do so for long; 0: a terminal */
	bool has_ended; /* nothing comes after `bytes` */
	struct terminal_filter filter;
	char *bytes; /* filtered, to be written: [start, size) */
	size_t start, size;
};

enum relay_result { RELAY_MOVED, RELAY_EMPTY, RELAY_ENDED };

/* Takes `to`, which it closes even when it fails. *ret_input: the end to write to. Returns an
 * errno; 0: done. */
int relay_open(struct relay *relay, int to, pid_t program, int *ret_input);
/* Nothing is done to one that is not open. */
void relay_close(struct relay *relay);
/* Fills `bytes` if nothing waits there; RELAY_ENDED: nothing will come any more. */
enum relay_result relay_read(struct relay *relay);
/*
 * Writes them; to a terminal all, to a program what it takes now. RELAY_ENDED: nobody reads them.
 */
enum relay_result relay_write(struct relay *relay);
/* Of a terminal: others write there now. Nothing is held any more, and no colour stays on. */
void relay_interrupt(struct relay *relay);

#endif
