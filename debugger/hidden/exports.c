// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The tables of exported symbols (kernel include/linux/export.h, kernel/module/main.c): in most
 * kernels triples of 32 bits, each the distance from itself to the symbol, its name and its
 * namespace. No symbol that is kept says where they are; they are told by what they say: entries
 * follow one another, whose names are names, and the functions among them are where the kernel's
 * own table has them.
 */
#include "debugger/hidden/hidden_private.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include <stdlib.h>
#include <string.h>

#define ENTRY		12u
#define STEP		4u
#define CHUNK		((size_t)1 << 20)
#define PROBE		8u  /* entries that must look right before one reads names */
#define ENTRIES_MIN	64u /* fewer are no table of a kernel */
#define NAME_SIZE	256
#define STEPS_OF_A_NAME 20u

static const char evidence[] = "an exported symbol";

struct scan {
	struct hidden *hidden;
	const uint8_t *chunk;
	size_t size;
	uint64_t address; /* of the chunk */
};

struct export
{
	uint64_t value, name;
};

static uint64_t from_place(const struct scan *scan, size_t at)
{
	uint32_t distance = load_u32(scan->chunk + at, scan->hidden->target->memory->big_endian);
	return scan->address + at + (uint64_t)(int64_t)(int32_t)distance;
}

/* Judged by its offsets alone: those of name and namespace must lead into the image's data. */
static bool may_be_entry(const struct scan *scan, size_t at, struct export *ret)
{
	const struct hidden *hidden = scan->hidden;
	uint64_t name = from_place(scan, at + 4), space = from_place(scan, at + 8);
	*ret = (struct export){ from_place(scan, at), name };
	return name >= hidden->first && name <= hidden->last && space >= hidden->first &&
	       space <= hidden->last && space != name;
}

static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$",
			    *c))
			return false;
	return *text != 0;
}

/* False: the bytes there are no name. */
static bool read_name(const struct hidden *hidden, uint64_t address, char name[NAME_SIZE])
{
	size_t length;
	struct error *error =
		memory_read_string(hidden->target->memory, address, name, NAME_SIZE, &length);
	error_free(error);
	return !error && length < NAME_SIZE - 1 && is_name(name);
}

enum verdict { NO_ENTRY, FUNCTION_AGREES, DATA_EXPORT };

static bool is_text(const struct hidden *hidden, uint64_t address)
{
	return symtab_is_text(hidden->target->symbols, address);
}

/* A function must be one of that name. */
static struct error *judge(struct hidden *hidden, const struct export *export, const char *name,
			   enum verdict *ret)
{
	uint64_t cursor = 0;
	struct symbol symbol;
	*ret = is_text(hidden, export->value) ? NO_ENTRY : DATA_EXPORT;
	TRY(hidden_spend(hidden, STEPS_OF_A_NAME));
	while (*ret == NO_ENTRY &&
	       symtab_find_own(hidden->target->symbols, NULL, name, &cursor, &symbol)) {
		TRY(hidden_spend(hidden, STEPS_OF_A_NAME));
		if (symbol.address == export->value)
			*ret = FUNCTION_AGREES;
	}
	return NULL;
}

/*
 * Reads entries from `at` on until one is none, and keeps what they say if they are many and
 * functions are among them. `*ret_end`: where it stopped.
 */
static struct error *read_table(struct scan *scan, size_t at, size_t *ret_end)
{
	struct hidden *hidden = scan->hidden;
	size_t before = hidden->count, functions = 0, entries = 0;
	struct export export;
	char name[NAME_SIZE];
	struct error *error = NULL;
	for (; !error && at + ENTRY <= scan->size; at += ENTRY, entries++) {
		if (!may_be_entry(scan, at, &export) || !read_name(hidden, export.name, name))
			break;
		enum verdict verdict;
		error = judge(hidden, &export, name, &verdict);
		if (error || verdict == NO_ENTRY)
			break;
		if (verdict == FUNCTION_AGREES)
			functions++;
		else
			error = hidden_add(hidden, name, 'D', export.value, 0, evidence);
	}
	*ret_end = at;
	if (error || (entries >= ENTRIES_MIN && functions >= entries / 4))
		return error;
	while (hidden->count > before)
		free(hidden->items[--hidden->count].name);
	return error;
}

static bool looks_like_table(const struct scan *scan, size_t at)
{
	struct export export;
	if (at + (size_t)PROBE * ENTRY > scan->size)
		return false;
	for (size_t i = 0; i < PROBE; i++)
		if (!may_be_entry(scan, at + i * ENTRY, &export))
			return false;
	return true;
}

static struct error *scan_chunk(struct scan *scan, size_t *ret_next)
{
	size_t at = 0;
	struct error *error = NULL;
	while (!error && at + (size_t)PROBE * ENTRY <= scan->size) {
		size_t end = at;
		bool is_table = looks_like_table(scan, at);
		/* The next chunk begins with it, so that it lies in one. */
		if (is_table && scan->size == CHUNK && at > CHUNK / 2)
			break;
		if (is_table)
			error = read_table(scan, at, &end);
		at = end > at ? end : at + STEP;
	}
	*ret_next = at;
	return error;
}

struct error *hidden_add_exports(struct hidden *hidden)
{
	uint8_t *chunk = malloc(CHUNK);
	if (!chunk)
		return error_no_memory();
	struct error *error = NULL;
	uint64_t address = hidden->first;
	while (!error && address < hidden->last) {
		struct error *why;
		struct scan scan = { .hidden = hidden, .chunk = chunk, .address = address };
		scan.size = memory_read_some(hidden->target->memory, address, chunk, CHUNK, &why);
		size_t next = 0;
		error = scan_chunk(&scan, &next);
		/* A table goes on in the next chunk; holes are stepped over. */
		address = why ? ((address + scan.size) | 4095) + 1 : address + next;
		error_free(why);
		if (!error)
			error = interrupt_check();
	}
	free(chunk);
	return error;
}
