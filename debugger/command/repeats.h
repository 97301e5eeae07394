/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages about one item after the other: equal ones are said once, and counted at the end. */
#ifndef DEBUGGER_COMMAND_REPEATS_H
#define DEBUGGER_COMMAND_REPEATS_H

#include "debugger/session.h"
#include <stddef.h>
#include <stdint.h>

#define REPEATS_MAX 16 /* different messages that are remembered; others are said each time */

struct repeats {
	struct {
		char *item, *message; /* of whom it was said, and what */
		uint64_t more;	      /* how often it would have been said again */
	} said[REPEATS_MAX];
	size_t count;
};

/* "item: message", unless the message was said of another item, which it returns; else NULL. */
const char *repeats_say(struct repeats *repeats, const struct session *session, const char *item,
			const char *message);
/* Says what was counted, and forgets it all. */
void repeats_end(struct repeats *repeats, const struct session *session);

#endif
