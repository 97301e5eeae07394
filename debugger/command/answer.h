/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line's answer in JSON: {"command", "ok", "error", "advice", "result"}. Whether it went well is
 * known at the end, so the result is held back; one that gets longer than ANSWER_HELD goes out as
 * it is made, and "ok" and "error" follow it.
 */
#ifndef DEBUGGER_COMMAND_ANSWER_H
#define DEBUGGER_COMMAND_ANSWER_H

#include "base/out.h"
#include "base/strbuf.h"
#include "debugger/session.h"

#define ANSWER_HELD (1u << 20) /* bytes of the result */

struct answer {
	const struct session *session;
	const char *line;
	FILE *to;
	struct strbuf held;
	struct out *out; /* what is around the result; NULL: nothing is written yet */
	FILE *result;	 /* what the result is written to */
};

/* Borrows all; `answer` must stay where it is. Afterwards answer_end(). */
struct error *answer_begin(struct answer *answer, const struct session *session, FILE *to,
			   const char *line) MUST_CHECK;
/* Writes what is left to say. Returns `error`, or the first that came here. */
struct error *answer_end(struct answer *answer, struct error *error) MUST_CHECK;
/* One without a result: the line could not be run. */
void answer_refuse(const struct session *session, FILE *to, const char *line,
		   const struct error *error);

#endif
