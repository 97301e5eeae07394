/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What help says of things that are no commands. */
#ifndef DEBUGGER_COMMAND_TOPICS_H
#define DEBUGGER_COMMAND_TOPICS_H

#include "debugger/command/crash_words.h"
#include <stddef.h>

struct topic {
	const char *name, *summary;
	const char *text;		/* as it is shown */
	const char *const *examples;	/* NULL-terminated; they work on any dump */
	const struct crash_word *words; /* a table below the text; NULL */
};

extern const struct topic topics[];
extern const size_t topic_count;
/* NULL: there is none. */
const struct topic *topic_find(const char *name);

#endif
