/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of ftrace's ring buffers: pages in a circle for each CPU, the oldest first, and a page
 * aside that a reader has taken out (kernel kernel/trace/ring_buffer.c).
 */
#ifndef DEBUGGER_KERNEL_TRACE_BUFFER_H
#define DEBUGGER_KERNEL_TRACE_BUFFER_H

#include "debugger/target/object.h"

struct trace_record {
	uint32_t cpu;
	uint64_t time;	     /* by the buffer's clock: nanoseconds, unless another was chosen */
	uint64_t address;    /* of its struct trace_entry */
	const uint8_t *data; /* the same bytes, borrowed until the visitor returns */
	size_t size;
};

struct trace_visitor {
	/* An error ends the walk. */
	struct error *(*visit)(void *context, const struct trace_record *record);
	/* Something is broken; takes `problem`, and an error ends the walk. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/*
 * All records of the struct trace_buffer at an address, of all CPUs, by their time. A page that is
 * broken costs its own records, or those that lie behind it in the circle.
 */
struct error *trace_buffer_for_each(struct target *target, uint64_t buffer,
				    const struct trace_visitor *visitor) MUST_CHECK;

#endif
