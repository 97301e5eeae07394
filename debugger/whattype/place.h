/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which memory an address lies in, for thousands of addresses: what whattype_ask() says of one
 * without the types that pointers lead to. What it needs it reads once, when it is first asked for.
 */
#ifndef DEBUGGER_WHATTYPE_PLACE_H
#define DEBUGGER_WHATTYPE_PLACE_H

#include "btf/member_path.h"
#include "debugger/whattype/whattype.h"

struct places;

struct memory_place {
	enum memory_region region;
	bool has_symbol; /* of text, data and per-CPU variables */
	char symbol[SYMBOL_NAME_SIZE], module[64];
	uint64_t start;		/* of the symbol, the object, the stack, the area; else 0 */
	uint64_t offset;	/* of the address in that */
	const struct cpu *cpu;	/* of per-CPU memory and a CPU's stack */
	struct slab_place slab; /* REGION_SLAB */
	/* REGION_STACK: of a task; REGION_CPU_STACK: its name. */
	uint64_t task;
	int32_t pid;
	char comm[64], stack[16];
	uint64_t caller; /* REGION_VMALLOC: who allocated it, 0: not known */
	uint64_t frame;	 /* REGION_PAGE_STRUCT: the page's number */
	/* Of the object: what its cache or its place says of its type. { NULL, 0 }: nothing. */
	struct type type;
	enum confidence confidence;
	char member[MEMBER_PATH_SIZE]; /* "": none */
};

struct error *places_create(struct target *target, struct places **ret) MUST_CHECK;
void places_destroy(struct places *places);
/* Errors are fatal ones. What is in `ret` lives as long as `places`. */
struct error *places_find(struct places *places, uint64_t address,
			  struct memory_place *ret) MUST_CHECK;
/* In one line: "task_struct 0xffff888003a80000+0x4c8 .parent", "runqueues:1+0x960"; truncates. */
void place_spell(const struct places *places, const struct memory_place *place, char *buffer,
		 size_t size);

#endif
