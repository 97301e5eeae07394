/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a function does with its arguments, read from its code and without a prototype: which
 * registers it reads, what it dereferences at which offsets, and to which functions it hands what.
 * A value is an argument, or what was loaded through one ("the word 24 bytes into the first
 * argument"), plus a number.
 */
#ifndef DEBUGGER_PROTOTYPES_INSTANCE_CODE_H
#define DEBUGGER_PROTOTYPES_INSTANCE_CODE_H

#include "debugger/prototypes/callee.h"

#define USE_NODES_MAX 96
#define USES_MAX      512

/* Node 0 is "unknown"; the arguments in registers are 1, 2, ... in their order. */
struct use_node {
	uint16_t parent; /* 0: an argument */
	int32_t offset;	 /* in what the parent points at, where this pointer lies */
};

enum use_kind {
	USE_ACCESS, /* `size` bytes at `offset` from the node */
	USE_PASS,   /* node + offset is an argument of type `type` */
	USE_CALL    /* the node is called */
};
struct use {
	uint8_t kind, size;
	uint16_t node;
	int32_t offset;
	struct kind type;
};

struct uses {
	struct use_node nodes[USE_NODES_MAX];
	uint16_t node_count;
	struct use items[USES_MAX];
	size_t count;
	uint32_t read; /* mask of arguments that are read */
};

struct use_world {
	const struct levels *levels;
	const struct lowering *lowering;
	void *context;
	/* The function that begins at an address. */
	void (*callee)(void *context, uint64_t address, struct callee *ret);
};

/* *ret_known false: the code is too tangled, nothing is said. */
struct error *uses_read(const struct use_world *world, const struct code *code, struct uses *ret,
			bool *ret_known) MUST_CHECK;

#endif
