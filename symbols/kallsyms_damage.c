// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables with damage: pages that are not in the dump, lengths that are not right. Records have no
 * mark where they begin, so one wrong length makes nonsense of all that follows; but the kernel
 * keeps the offset of every 256th record (kallsyms_markers), and from each of them on the records
 * can be followed again.
 */
#include "symbols/kallsyms.h"

#include "base/array.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pages are not smaller, on any machine. */
#define PAGE_SIZE 4096u
/* Of one record, bytes: more than KSYM_NAME_LEN. */
#define RECORD_MAX 600u
#define RECORD_MIN 2u
/* Behind a table, until the next label. */
#define PADDING_MAX 8u
/* Markers that are looked at: a kernel needs some millions, markers that go on without end more. */
#define STEPS_MAX (1u << 27)

/* --- holes ------------------------------------------------------------------------- */

struct error *holes_read(struct holes *holes, struct memory *memory, uint64_t address, void *buffer,
			 size_t size)
{
	size_t at = 0;
	while (at < size) {
		struct error *why;
		at += memory_read_some(memory, address + at, (uint8_t *)buffer + at, size - at,
				       &why);
		if (!why)
			break;
		if (!error_is_missing(why))
			return why;
		if (holes->why)
			error_free(why);
		else
			holes->why = why;
		size_t next = at + PAGE_SIZE - (address + at) % PAGE_SIZE;
		next = next < size ? next : size;
		memset((uint8_t *)buffer + at, 0, next - at);
		if (!array_reserve(&holes->items, &holes->capacity, holes->count + 1))
			return error_no_memory();
		holes->items[holes->count++] = (struct hole){ at, next };
		at = next;
	}
	return NULL;
}

bool holes_touch(const struct holes *holes, size_t start, size_t end)
{
	/* They are in order: the first that ends behind `start`. */
	size_t first = array_bound(holes->count, i, holes->items[i].end <= start);
	return first < holes->count && holes->items[first].start < end;
}

void holes_deinit(struct holes *holes)
{
	free(holes->items);
	error_free(holes->why);
	*holes = (struct holes){ 0 };
}

/* --- losing symbols ------------------------------------------------------------------ */

bool kallsyms_is_lost(const struct kallsyms *kallsyms, uint32_t number)
{
	return kallsyms->records[number] == kallsyms->names_size - 1;
}

void kallsyms_lose(struct kallsyms *kallsyms, uint32_t number)
{
	kallsyms->records[number] = (uint32_t)kallsyms->names_size - 1;
}

void kallsyms_set_damage(struct kallsyms *kallsyms, struct error *error)
{
	if (kallsyms->damage)
		error_free(error);
	else
		kallsyms->damage = error;
}

struct error *kallsyms_count_lost(struct kallsyms *kallsyms)
{
	uint32_t lost = 0;
	for (uint32_t i = 0; i < kallsyms->count && kallsyms->damage; i++)
		lost += kallsyms_is_lost(kallsyms, i);
	struct error *damage = kallsyms->damage;
	if (!damage)
		return NULL;
	damage = error_prefix(damage, "%" PRIu32 " of %" PRIu32 " symbols are lost", lost,
			      kallsyms->count);
	kallsyms->damage = NULL;
	if (lost > kallsyms->count / 2)
		return damage;
	if (lost)
		kallsyms->damage = damage;
	else
		error_free(damage);
	return NULL;
}

/* --- markers -------------------------------------------------------------------------- */

/* All between the start of the names and the next table that is known. */
struct part {
	uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool big_endian;
	struct holes holes;
	uint32_t count, marker_count;
	size_t markers; /* where they are; no record reaches beyond */
	uint64_t steps; /* that may still be taken to find them */
};

static uint32_t marker(const struct part *part, uint32_t number)
{
	return load_u32(part->bytes + part->markers + (size_t)number * 4, part->big_endian);
}

static uint32_t run_length(const struct part *part, uint32_t run)
{
	uint32_t left = part->count - run * KALLSYMS_MARKER_STEP;
	return left < KALLSYMS_MARKER_STEP ? left : KALLSYMS_MARKER_STEP;
}

/*
 * How many of the markers at part->markers do not follow their neighbour as markers do: they begin
 * with 0, and between two of them lie 256 records. Counts up to `limit`.
 */
static uint32_t count_misfits(struct part *part, uint32_t limit)
{
	uint32_t misfits = marker(part, 0) != 0, previous = 0;
	for (uint32_t i = 1; i <= part->marker_count && misfits < limit && part->steps; i++) {
		bool is_end = i == part->marker_count;
		uint32_t next = is_end ? (uint32_t)part->markers : marker(part, i);
		uint32_t records = run_length(part, i - 1);
		part->steps--;
		misfits += next - previous < records * RECORD_MIN ||
			   next - previous > records * RECORD_MAX + PADDING_MAX;
		previous = next;
	}
	return part->steps ? misfits : limit;
}

/* The place with the fewest misfits; markers may be damaged themselves. */
static bool find_markers(struct part *part)
{
	uint64_t least = (uint64_t)part->count * RECORD_MIN;
	size_t size = (size_t)part->marker_count * 4, best_at = 0;
	uint32_t best = part->marker_count / 16 + 1;
	bool found = false;
	least += -(part->address + least) & 3;
	part->steps = STEPS_MAX;
	for (size_t at = least; at + size <= part->size && best && part->steps; at += 4) {
		part->markers = at;
		uint32_t misfits = count_misfits(part, best);
		if (misfits >= best)
			continue;
		best = misfits;
		best_at = at;
		found = true;
	}
	part->markers = best_at;
	return found;
}

/* --- runs between markers --------------------------------------------------------------- */

/* Follows the records of a run. Returns the offset behind the last, 0 when they cannot be right. */
static size_t follow_run(const struct part *part, uint32_t run, size_t start, bool long_lengths,
			 uint32_t *records)
{
	uint32_t length = run_length(part, run);
	records += run * KALLSYMS_MARKER_STEP;
	if (start >= part->markers)
		return 0;
	/* The walk wants a byte to spare; behind the last record are the markers. */
	size_t size = kallsyms_walk_records(part->bytes + start, part->markers + 1 - start, length,
					    long_lengths, records);
	if (!size || holes_touch(&part->holes, start, start + size))
		return 0;
	for (uint32_t i = 0; i < length; i++)
		records[i] += (uint32_t)start;
	return start + size;
}

/* Does the run end where the next one begins? */
static bool run_fits(const struct part *part, uint32_t run, size_t end)
{
	if (!end || run + 1 < part->marker_count)
		return end && end == marker(part, run + 1);
	return end <= part->markers && part->markers - end < PADDING_MAX;
}

/* Follows all runs. Returns the number of those that are lost, `*ret_first` the first of them. */
static uint32_t follow_runs(const struct part *part, bool long_lengths, uint32_t *records,
			    uint32_t *ret_first)
{
	uint32_t lost = 0;
	for (uint32_t run = 0; run < part->marker_count; run++) {
		size_t start = run ? marker(part, run) : 0;
		size_t end = follow_run(part, run, start, long_lengths, records);
		if (run_fits(part, run, end))
			continue;
		/* It may be the next marker that is wrong. */
		if (end && run + 1 < part->marker_count &&
		    run_fits(part, run + 1,
			     follow_run(part, run + 1, end, long_lengths, records))) {
			run++;
			continue;
		}
		if (!lost++)
			*ret_first = run;
		for (uint32_t i = 0; i < run_length(part, run); i++)
			records[run * KALLSYMS_MARKER_STEP + i] = (uint32_t)part->markers;
	}
	return lost;
}

static struct error *read_part(struct part *part, struct memory *memory,
			       const struct kallsyms_tables *tables, uint64_t size)
{
	part->address = tables->names;
	part->big_endian = memory->big_endian;
	part->marker_count = (part->count + KALLSYMS_MARKER_STEP - 1) / KALLSYMS_MARKER_STEP;
	if (part->marker_count < 2 || size > (uint64_t)part->count * RECORD_MAX + PAGE_SIZE)
		return error_create(ERROR_FORMAT, "kallsyms_names: no markers to go by");
	part->size = (size_t)size;
	part->bytes = malloc(part->size);
	if (!part->bytes)
		return error_no_memory();
	struct error *error =
		holes_read(&part->holes, memory, tables->names, part->bytes, part->size);
	if (!error && !find_markers(part))
		error = error_create(ERROR_FORMAT, "kallsyms_names: no markers behind them");
	return error;
}

/* The form of lengths with which less is lost; up to two bytes when that is the same. */
static uint32_t choose_form(struct kallsyms *kallsyms, const struct part *part, uint32_t *ret_first)
{
	kallsyms->long_lengths = true;
	uint32_t lost = follow_runs(part, true, kallsyms->records, ret_first);
	if (!lost)
		return 0;
	kallsyms->long_lengths = false;
	uint32_t lost_short = follow_runs(part, false, kallsyms->records, ret_first);
	if (lost_short < lost)
		return lost_short;
	kallsyms->long_lengths = true;
	return follow_runs(part, true, kallsyms->records, ret_first);
}

static struct error *follow_part(struct kallsyms *kallsyms, struct part *part)
{
	uint32_t first = 0;
	uint32_t lost = choose_form(kallsyms, part, &first);
	if (lost > part->marker_count / 2)
		return error_create(ERROR_FORMAT,
				    "kallsyms_names: %" PRIu32 " of %" PRIu32
				    " markers do not lead to records",
				    lost, part->marker_count);
	struct error *why = part->holes.why;
	part->holes.why = NULL;
	if (lost && !why)
		why = error_create(ERROR_FORMAT, "damaged records from number %" PRIu32 " on",
				   first * KALLSYMS_MARKER_STEP);
	if (lost)
		kallsyms_set_damage(kallsyms, error_prefix(why, "kallsyms_names"));
	else
		error_free(why);
	free(kallsyms->names);
	kallsyms->names = part->bytes;
	/* The empty record. */
	kallsyms->names_size = part->markers + 1;
	kallsyms->names[part->markers] = 0;
	part->bytes = NULL;
	return NULL;
}

struct error *kallsyms_resynchronise(struct kallsyms *kallsyms, struct memory *memory,
				     const struct kallsyms_tables *tables, uint64_t size)
{
	struct part part = { .count = kallsyms->count };
	struct error *error = read_part(&part, memory, tables, size);
	if (!error)
		error = follow_part(kallsyms, &part);
	free(part.bytes);
	holes_deinit(&part.holes);
	return error;
}
