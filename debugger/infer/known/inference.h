/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the reading of code keeps between questions about one target. Made when first asked for,
 * goes with the target.
 */
#ifndef DEBUGGER_INFER_KNOWN_INFERENCE_H
#define DEBUGGER_INFER_KNOWN_INFERENCE_H

#include "base/address_map.h"
#include "debugger/code/text.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/prototypes/callees.h"

/* The type of a whole global where that is known; false: it is not. Asked by one thread only. */
typedef bool known_type_of(void *context, const struct subject *subject,
			   const struct symbol *symbol, struct type *ret);

struct function_range {
	uint64_t address;
	uint32_t size;
};

/* An answer of known_type that is kept. */
struct known_global {
	uint64_t address;
	struct kind type; /* id 0: not known */
};

struct remembered;

struct inference {
	struct target *target;
	const struct lowering *lowering;
	struct levels levels;
	struct text text, strings;
	struct callees callees;
	struct per_cpu per_cpu;
	struct kind list_head, integers[4][2], atomics[2], truth, pointer;
	uint64_t data_first, data_last;
	uint64_t per_cpu_offsets, this_cpu_offset;
	/* Replaces what BTF and declarations say. */
	known_type_of *known_type;
	void *known_context;
	struct address_map known; /* struct known_global, by address of the symbol */
	struct code_edge *edges;  /* of static branches, by `from` */
	size_t edge_count;
	bool edges_read, modules_read;

	struct remembered *remembered; /* of kept.c, NULL: nothing yet */
	void (*forget)(struct remembered *remembered);

	/* For all of the kernel at once; empty before. */
	struct subjects subjects;
	struct function_range *functions;
	size_t function_count, function_capacity;
	struct progress *progress; /* is told how far that is; NULL */
};

/* The target's. Errors: no code can be read (no symbols, another processor, no BTF). */
struct error *inference_get(struct target *target, struct inference **ret) MUST_CHECK;
/* NULL: nobody has asked for it yet. */
struct inference *inference_kept(const struct target *target);
/* BTF and text of one module, of all. */
struct error *inference_add_module(struct inference *inference,
				   const struct module *module) MUST_CHECK;
struct error *inference_add_modules(struct inference *inference) MUST_CHECK;
/* The type of a whole subject, id 0: it is not known. */
struct kind known_subject(struct inference *inference, const struct subject *subject);
/* The known global around an address; false: none. */
bool known_global(struct inference *inference, uint64_t address, struct kind *ret,
		  int64_t *ret_offset);
/* The static branches of the kernel. What cannot be read is left out. */
void inference_read_edges(struct inference *inference);

#endif
