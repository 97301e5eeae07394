/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the page of `report --html` has beside the answers of commands. */
#ifndef DEBUGGER_SHOW_HTML_REPORT_H
#define DEBUGGER_SHOW_HTML_REPORT_H

#include "debugger/session.h"
#include <stdio.h>

/* Why it died: what `analyze` says, with its evidence. Errors are fatal ones. */
struct error *html_analysis(struct session *session, FILE *file) MUST_CHECK;
/*
 * Who waits for whom, drawn: those who hold others up on the left, circles marked. Nothing where
 * nobody does. Errors are fatal ones.
 */
struct error *html_locks(struct session *session, FILE *file) MUST_CHECK;
/* What the memory was used for, as bars; nothing where the dump does not say. */
struct error *html_memory(struct session *session, FILE *file) MUST_CHECK;

#endif
