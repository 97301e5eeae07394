// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/functions/instance_table.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/prototypes/instance_judge.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE (1u << 20)
/* A larger kernel image is a damaged pair of symbols. */
#define DATA_MAX (512u << 20)
/* Tables that are looked at for one function. */
#define PLACES_MAX 4096

struct found_place {
	uint64_t address;
	size_t question;
};

struct table_scan {
	struct target *target;
	struct table_question *questions;
	size_t count;
	struct found_place *places;
	size_t place_count, place_capacity;
};

static int compare_questions(const void *left, const void *right)
{
	const struct table_question *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* --- where they are pointed at --------------------------------------------------------------- */

static struct error *scan_chunk(struct table_scan *scan, uint64_t address, const uint8_t *bytes,
				size_t size)
{
	uint64_t first = scan->questions[0].address;
	uint64_t span = scan->questions[scan->count - 1].address - first;
	for (size_t at = 0; at + 8 <= size; at += 8) {
		struct table_question wanted = {
			.address = load_u64(bytes + at, scan->target->facts->big_endian)
		};
		if (wanted.address - first > span)
			continue;
		const struct table_question *found = array_search(
			&wanted, scan->questions, scan->count, sizeof(wanted), compare_questions);
		if (!found || scan->place_count == PLACES_MAX)
			continue;
		if (!array_reserve(&scan->places, &scan->place_capacity, scan->place_count + 1))
			return error_no_memory();
		scan->places[scan->place_count++] =
			(struct found_place){ address + at, (size_t)(found - scan->questions) };
	}
	return NULL;
}

static struct error *scan_data(struct table_scan *scan)
{
	struct target *target = scan->target;
	uint64_t start, end;
	struct error *error = NULL;
	if (!symtab_address(target->symbols, "_etext", &start) || !target_image_end(target, &end) ||
	    end <= start || end - start > DATA_MAX)
		return NULL;
	start &= ~(uint64_t)7;
	uint8_t *chunk = malloc(end - start < CHUNK_SIZE ? (size_t)(end - start) : CHUNK_SIZE);
	if (!chunk)
		return error_no_memory();
	for (uint64_t at = start; !error && at < end; at += CHUNK_SIZE) {
		size_t size = end - at < CHUNK_SIZE ? (size_t)(end - at) : CHUNK_SIZE;
		memory_read_filled(target->memory, at, chunk, size, 0);
		error = scan_chunk(scan, at, chunk, size);
		if (!error)
			error = interrupt_check();
	}
	free(chunk);
	return error;
}

/* --- what points at them --------------------------------------------------------------------- */

/* Types that were not themselves inferred from function pointers, which would be a circle. */
static bool is_certain(enum type_origin origin)
{
	return origin == ORIGIN_KERNEL || origin == ORIGIN_MODULE || origin == ORIGIN_FILE ||
	       origin == ORIGIN_CERTAIN;
}

/* The function type of the member at a place; false: none that is certain. */
static bool prototype_at(struct target *target, uint64_t address, struct type *ret)
{
	struct symbol symbol;
	uint64_t offset;
	struct type type, member;
	struct btf_type record;
	enum type_origin origin;
	if (!symtab_by_address(target->symbols, address, &symbol, &offset) ||
	    !strchr("dDrRbB", symbol.kind))
		return false;
	struct error *error = symbol_type(target, &symbol, &type, &origin);
	bool is_typed = !error && is_certain(origin) && type.btf;
	error_free(error);
	if (!is_typed || !type_scalar_at(type, offset, 8, &member) || !type_is_pointer(member) ||
	    !type_target(member, &type) || !type_get_resolved(type, &record) ||
	    record.kind != BTF_FUNC_PROTO)
		return false;
	*ret = type_resolve(type);
	return true;
}

static void answer(struct table_scan *scan, const struct found_place *place)
{
	struct table_question *question = &scan->questions[place->question];
	struct type prototype;
	if (!prototype_at(scan->target, place->address, &prototype))
		return;
	if (question->prototype.btf && !is_same_prototype(question->prototype, prototype))
		question->is_contradictory = true;
	question->prototype = prototype;
}

struct error *table_prototypes(struct target *target, struct table_question *questions,
			       size_t count)
{
	struct table_scan scan = { .target = target, .questions = questions, .count = count };
	if (!count)
		return NULL;
	TRY(target_need_memory(target));
	array_sort(questions, count, sizeof(*questions), compare_questions);
	struct error *error = scan_data(&scan);
	for (size_t i = 0; !error && i < scan.place_count; i++) {
		answer(&scan, &scan.places[i]);
		error = interrupt_check();
	}
	free(scan.places);
	return error;
}
