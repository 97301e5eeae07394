/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies at an address: which kind of memory it is, and what type the bytes have, by symbols,
 * per-CPU areas, slab caches and the typed objects that point there.
 */
#ifndef DEBUGGER_WHATTYPE_WHATTYPE_H
#define DEBUGGER_WHATTYPE_WHATTYPE_H

#include "btf/member_path.h"
#include "debugger/kernel/task.h"
#include "debugger/whattype/reach.h"

enum memory_region {
	REGION_UNKNOWN, /* not the kernel's half, or nothing that is known */
	REGION_TEXT,
	REGION_DATA, /* of the kernel or a module */
	REGION_PER_CPU,
	REGION_SLAB,
	REGION_STACK,	    /* a task's */
	REGION_CPU_STACK,   /* for interrupts and exceptions */
	REGION_PAGE_STRUCT, /* vmemmap */
	REGION_VMALLOC,
	REGION_DIRECT_MAP /* physical memory, no slab */
};
/* "data", "per-CPU", "slab", "task stack"... */
const char *memory_region_name(enum memory_region region);

/* Something that says what lies there. */
struct whattype_finding {
	struct type type;
	uint64_t start; /* of the object */
	enum confidence confidence;
	enum type_origin origin; /* ORIGIN_NONE: none of its own */
	const char *how;	 /* static: "symbol", "slab cache", "pointer" */
	uint32_t reach;		 /* number of the object that was reached, REACH_NONE */
	uint32_t agree, differ;	 /* others that lie within the object and (do not) fit in */
	bool covers;		 /* the address lies in it; else before or behind */
	bool fits;		 /* in the slab object */
	bool is_part;		 /* of an earlier one */
};

#define FINDINGS_MAX 96

struct whattype {
	struct target *target;
	bool follows_all;    /* typed pointers, even where those nearby tell enough */
	struct reach *reach; /* NULL: was not needed */
	struct reach *near;  /* then it is this one, else NULL */
	uint64_t address;
	enum memory_region region;
	bool has_symbol;
	struct symbol symbol;
	uint64_t symbol_offset;
	const struct cpu *cpu; /* of per-CPU memory and of a CPU's stack */
	struct slab_place slab;
	bool has_task;
	struct task task; /* whose stack it is */
	char stack[16];	  /* name of a CPU's stack */
	uint64_t physical;
	bool is_mapped;				    /* then `physical` is right */
	uint64_t area_start, area_end, area_caller; /* of vmalloc; 0: not known */
	/* Best first; of an address that nobody types, none. */
	struct whattype_finding findings[FINDINGS_MAX];
	size_t finding_count;
};

/*
 * Errors are fatal ones only; a memory that cannot be read has REGION_UNKNOWN or no findings.
 * `all`: follows all typed pointers of the dump. Else only if symbols, the slab cache and what is
 * around the object do not make its type certain.
 */
struct error *whattype_ask(struct target *target, uint64_t address, bool all,
			   struct whattype *ret) MUST_CHECK;
void whattype_deinit(struct whattype *whattype);

#endif
