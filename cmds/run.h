/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of running a line that pipes need too. */
#ifndef CMDS_RUN_H
#define CMDS_RUN_H

#include "cmds/arguments.h"

/* Runs one command with its needs checked; its name goes before the error. */
struct error *run_call(struct session *session, const struct call *call) MUST_CHECK;
/*
 * Whether a line that is going to be run neither starts a program nor writes a file, nor may lead
 * to other lines that do.
 */
bool run_stays_inside(struct session *session, const char *text);
/* "btfcrash: FILE:LINE: message" on standard error. */
void run_message(const struct session *session, const char *text);

#endif
