/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the whole pass found, kept in the user's cache folder between sessions.
 *
 * Types of globals come from code, which is the kernel build's, and from live data, which is this
 * dump's alone: what a list head points at, what lies in a slab, which module is loaded. No part
 * can be told to be of the one kind only, as each answer weighs both, and no sample of the bytes
 * tells whether the others are the same: a damaged copy, whose notes, BTF and banner are whole, has
 * wrong answers. So results are kept for the very files (struct cache_dump), and a copy of a dump
 * has its own. The key holds the rest: this program (its own build id, which changes with every
 * rule and with the table, and the decoder's version) with its options, and, as a second proof, the
 * build (VMCOREINFO, the bytes of BTF, the banner) and the moment (registers, clocks).
 *
 * And it is checked before it is believed: each symbol by name, place, room and a hash of its bytes
 * in this dump, each type by id, kind, name and size in this dump's BTF, the modules by name and
 * place. In the whole pass one difference drops all of it.
 */
#ifndef DEBUGGER_INFER_STORE_CACHE_H
#define DEBUGGER_INFER_STORE_CACHE_H

#include "base/cache_file.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/infer/solve/agree.h"

struct cache;

/* What results of the whole pass depend on; false: they cannot be kept. */
bool cache_key_of(struct target *target, const struct infer_options *options,
		  struct cache_key *ret);
/*
 * The dump's results; NULL: none, or not to be believed. Little is read of the target, nothing of
 * modules.
 */
struct cache *cache_open(struct target *target, const struct cache_key *key);
void cache_close(struct cache *cache);
/* The answer about one symbol, checked; false: none. Its `type` is 0. */
bool cache_find(struct cache *cache, const struct subject *subject, const struct symbol *symbol,
		struct answer *ret);
/* All answers, by subject, and each is checked; false: one is not right. */
bool cache_take_all(struct cache *cache, const struct subjects *subjects, struct answer *ret);
/* Keeps the answers, if there is a place for them. */
void cache_keep(struct target *target, const struct cache_key *key, const struct subjects *subjects,
		const struct answer *answers);

/* --- cache_rows.c: what is in the file, as bytes that are not believed -------------------- */

struct cache_module {
	uint64_t base, size;
	const char *name;
};

/* A type of BTF, or (id 0) one that C text spells. */
struct cache_type {
	uint32_t view; /* 0: the kernel's BTF; N: that of module N - 1 */
	uint32_t id, kind, size;
	const char *text; /* name, or spelling */
};

struct cache_row {
	uint64_t place; /* from _text */
	uint32_t room;	/* bytes, the lower bits */
	uint32_t name;	/* hash */
	uint32_t bytes; /* hash */
	uint32_t type;	/* CACHE_NO_TYPE: unknown */
	uint32_t count, row;
	int16_t score, margin;
	uint8_t confidence, sources;
	uint8_t count_is_proved, unused;
};
_Static_assert(sizeof(struct cache_row) == 40, "no padding: rows are kept as they are in memory");
#define CACHE_NO_TYPE UINT32_MAX

struct cache_rows {
	uint8_t *data; /* owned */
	uint32_t module_count, type_count, row_count;
	const uint8_t *modules, *types, *rows;
	const char *texts;
	uint32_t text_size;
};

/* Takes the bytes; false: they are no rows (and freed). */
bool cache_rows_open(struct cache_rows *rows, uint8_t *data, size_t size);
void cache_rows_close(struct cache_rows *rows);
/* Below their counts. False: its text is out of bounds. */
bool cache_rows_module(const struct cache_rows *rows, uint32_t number, struct cache_module *ret);
bool cache_rows_type(const struct cache_rows *rows, uint32_t number, struct cache_type *ret);
/* False: its numbers make no sense. */
bool cache_rows_row(const struct cache_rows *rows, uint32_t number, struct cache_row *ret);

struct cache_writer {
	uint8_t *modules, *types, *rows;
	char *texts;
	size_t module_capacity, type_capacity, row_capacity, text_capacity;
	uint32_t module_count, type_count, row_count, text_size;
	bool failed; /* no memory, or too much */
};

void cache_write_module(struct cache_writer *writer, const struct cache_module *module);
void cache_write_type(struct cache_writer *writer, const struct cache_type *type);
void cache_write_row(struct cache_writer *writer, const struct cache_row *row);
/* malloc()ed; NULL when the writer failed. */
uint8_t *cache_writer_finish(struct cache_writer *writer, size_t *ret_size);
void cache_writer_deinit(struct cache_writer *writer);

#endif
