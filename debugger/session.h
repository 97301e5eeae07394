/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user is looking at: a target, where output goes, and settings. */
#ifndef DEBUGGER_SESSION_H
#define DEBUGGER_SESSION_H

#include "base/out.h"
#include "debugger/eval/value.h"
#include "debugger/target/target.h"

struct session {
	struct target *target;
	struct out *out; /* text or JSON */
	bool json;
	bool quiet;
	bool quit;   /* set by `quit`: the loop ends */
	bool failed; /* some command failed: exit status 1 */
	bool interactive;
	struct render_options render;
};

#endif
