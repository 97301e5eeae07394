/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A record of the trace as the kernel's own `trace` file has it. */
#ifndef DEBUGGER_KERNEL_TRACE_TEXT_H
#define DEBUGGER_KERNEL_TRACE_TEXT_H

#include "base/strbuf.h"
#include "debugger/kernel/trace_buffer.h"
#include "debugger/kernel/trace_events.h"

struct trace_printer;
/* Large; for many records. NULL without memory. */
struct trace_printer *trace_printer_create(struct target *target);
void trace_printer_destroy(struct trace_printer *printer);
/*
 * What stands behind the event's name there, NUL-terminated. Where the event's format is beyond us,
 * its fields, "NAME=VALUE NAME=VALUE". `call` is loaded.
 */
void trace_text(struct trace_printer *printer, const struct trace_event_call *call,
		const struct trace_record *record, struct strbuf *out);
/* Whether its format is not: tried with a record that has nothing but zeros. */
bool trace_text_is_whole(struct trace_printer *printer, const struct trace_event_call *call);

#endif
