/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the sandbox (base/sandbox.h) closes behind a session: when everything that is going to be
 * run is known beforehand and needs neither programs nor files to write. So not at the prompt, not
 * for commands from standard input, and not where a line has `| PROGRAM`, `> FILE`, `!`, `source`
 * or `alias`.
 */
#ifndef CMDS_CONFINE_H
#define CMDS_CONFINE_H

#include "debugger/infer/cache_keeper.h"
#include "debugger/session.h"

/* Of a script's lines. False: one of them needs more, or the file cannot be read as often as one
 * likes. */
bool confine_allows_script(struct session *session, const char *path);
/*
 * Closes the sandbox; results for the cache go to the keeper, which was started before; to nobody
 * where it was not. Where the kernel has no seccomp filters all goes on without.
 */
void confine_enter(struct session *session, struct cache_keeper *keeper);

#endif
