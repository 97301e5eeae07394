// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The allocator of per-CPU memory (kernel mm/percpu.c): chunks, each with a unit for every CPU. The
 * kernel's own variables lie before the first chunk; they have none, and a row all the same.
 */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>

enum {
	COLUMN_CHUNK,
	COLUMN_KIND,
	COLUMN_TYPE,
	COLUMN_SLOT,
	COLUMN_BASE,
	COLUMN_SIZE,
	COLUMN_FREE,
	COLUMN_LARGEST,
	COLUMN_PAGES,
	COLUMN_POPULATED,
	COLUMN_EMPTY,
	COLUMN_IMMUTABLE,
	COLUMN_ISOLATED,
	COLUMN_MEMORY,
};

static const struct table_column columns[] = {
	[COLUMN_CHUNK] = { "chunk", COLUMN_ADDRESS, 16, "its struct pcpu_chunk",
			   "struct pcpu_chunk" },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -8,
			  "static: variables of the kernel itself; reserved: those of modules; "
			  "first: made at boot; dynamic",
			  NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, 0, "ROOT, MEMCG: who pays for it, until 5.13",
			  NULL },
	[COLUMN_SLOT] = { "slot", COLUMN_INTEGER, 4,
			  "the list that it is on: of pcpu_chunk_lists, by what is free", NULL },
	[COLUMN_BASE] = { "base_addr", COLUMN_ADDRESS, 16,
			  "of its first unit; pcpu_unit_offsets has how far a CPU's is from that",
			  NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "of a unit: what each CPU has", NULL },
	[COLUMN_FREE] = { "free", COLUMN_BYTES, 6, "of that, as the kernel counts", NULL },
	[COLUMN_LARGEST] = { "largest", COLUMN_BYTES, 7,
			     "free area, as the kernel noted it: there may be a larger one", NULL },
	[COLUMN_PAGES] = { "nr_pages", COLUMN_INTEGER, 8, "of a unit", NULL },
	[COLUMN_POPULATED] = { "nr_populated", COLUMN_INTEGER, 12, "of these that have memory",
			       NULL },
	[COLUMN_EMPTY] = { "nr_empty_pop_pages", COLUMN_INTEGER, 0,
			   "of these that nothing is allocated in", NULL },
	[COLUMN_IMMUTABLE] = { "immutable", COLUMN_INTEGER, 0, "1: its pages stay as they are",
			       NULL },
	[COLUMN_ISOLATED] = { "isolated", COLUMN_INTEGER, 0,
			      "1: nothing is allocated there, its pages go back", NULL },
	[COLUMN_MEMORY] = { "memory", COLUMN_BYTES, 6, "that it has, of all CPUs", NULL },
};

/* Of the kernel they are some 20: a list for each power of two up to a unit. */
#define SLOTS_MAX 64
#define TYPES_MAX 4
/* NR_CPUS is 8192 at most. */
#define UNITS_MAX (1u << 14)
/* 1 << 20 pages are 4 GiB for each CPU. */
#define PAGES_MAX (1u << 20)

struct pass {
	uint64_t first, reserved; /* chunks; 0: there is none */
	uint64_t start;		  /* where the first unit's variables of the kernel lie; 0 */
	uint64_t units;		  /* 0: not known */
	bool has_types;
	uint64_t type;
};

static struct error *read_variable(struct table_scan *scan, const char *name, const char *type,
				   uint64_t *ret)
{
	struct object variable;
	*ret = 0;
	TRY(object_variable(scan->target, name, type, &variable));
	return error_prefix(object_u64(&variable, NULL, ret), "%s", name);
}

static struct error *set_memory(struct table_scan *scan, const struct pass *pass,
				uint64_t populated)
{
	if (!pass->units)
		return error_create(ERROR_NOT_FOUND, "the number of units is not known");
	table_set_pages(scan, COLUMN_MEMORY, populated * pass->units);
	return NULL;
}

/*
 * The kernel notes the largest area in the unit that it allocates by, of which there are nr_bits in
 * all pages.
 */
static struct error *set_largest(struct table_scan *scan, const struct object *chunk,
				 uint64_t pages)
{
	uint64_t largest, bits, size = pages * scan->target->facts->page_size;
	TRY(object_u64(chunk, "chunk_md.contig_hint", &largest));
	TRY(object_u64(chunk, "chunk_md.nr_bits", &bits));
	if (!bits || bits > size || size % bits || largest > bits)
		return error_create(ERROR_FORMAT, "%" PRId64 " of %" PRId64 " places are not sane",
				    (int64_t)largest, (int64_t)bits);
	table_set(scan, COLUMN_LARGEST, largest * (size / bits));
	return NULL;
}

static struct error *set_free(struct table_scan *scan, const struct object *chunk, uint64_t pages)
{
	uint64_t free_bytes;
	TRY(object_u64(chunk, "free_bytes", &free_bytes));
	if (free_bytes > pages * scan->target->facts->page_size)
		return error_create(ERROR_FORMAT, "%" PRId64 " bytes are more than it has",
				    (int64_t)free_bytes);
	table_set(scan, COLUMN_FREE, free_bytes);
	return NULL;
}

static struct error *set_populated(struct table_scan *scan, const struct pass *pass,
				   const struct object *chunk, uint64_t pages)
{
	uint64_t populated;
	TRY(object_u64(chunk, "nr_populated", &populated));
	if (populated > pages)
		return error_create(ERROR_FORMAT, "%" PRId64 " pages are more than it has",
				    (int64_t)populated);
	table_set(scan, COLUMN_POPULATED, populated);
	return table_set_error(scan, COLUMN_MEMORY, set_memory(scan, pass, populated));
}

static struct error *set_sizes(struct table_scan *scan, const struct pass *pass,
			       const struct object *chunk)
{
	uint64_t pages;
	TRY(object_u64(chunk, "nr_pages", &pages));
	if (pages > PAGES_MAX)
		return error_create(ERROR_FORMAT, "%" PRId64 " pages are not sane", (int64_t)pages);
	table_set(scan, COLUMN_PAGES, pages);
	table_set_pages(scan, COLUMN_SIZE, pages);
	TRY(table_set_error(scan, COLUMN_FREE, set_free(scan, chunk, pages)));
	TRY(table_set_error(scan, COLUMN_LARGEST, set_largest(scan, chunk, pages)));
	return table_set_error(scan, COLUMN_POPULATED, set_populated(scan, pass, chunk, pages));
}

/* The cells that are set already stay: the list's. */
static struct error *emit(struct table_scan *scan, const struct pass *pass,
			  const struct object *chunk)
{
	table_set(scan, COLUMN_CHUNK, chunk->address);
	table_set_text(scan, COLUMN_KIND,
		       chunk->address == pass->reserved ? "reserved"
		       : chunk->address == pass->first	? "first"
							: "dynamic");
	TRY(table_set_member(scan, COLUMN_BASE, chunk, "base_addr"));
	TRY(table_set_error(scan, COLUMN_PAGES, set_sizes(scan, pass, chunk)));
	TRY(table_set_member(scan, COLUMN_EMPTY, chunk, "nr_empty_pop_pages"));
	TRY(table_set_member(scan, COLUMN_IMMUTABLE, chunk, "immutable"));
	/* Since 5.14. */
	TRY(table_set_member(scan, COLUMN_ISOLATED, chunk, "isolated"));
	return table_emit(scan);
}

struct slot {
	const struct pass *pass;
	uint64_t number;
};

static struct error *visit_chunk(struct table_scan *scan, const struct object *chunk, void *context)
{
	const struct slot *slot = context;
	table_set(scan, COLUMN_SLOT, slot->number);
	if (slot->pass->has_types)
		table_set_enumerator(scan, COLUMN_TYPE, "enum pcpu_chunk_type", "PCPU_CHUNK_",
				     slot->pass->type);
	return emit(scan, slot->pass, chunk);
}

/* What lies before all chunks. The reserved one, if there is one, is the first of these. */
static struct error *emit_static(struct table_scan *scan, const struct pass *pass)
{
	uint64_t end, page_size = scan->target->facts->page_size;
	struct object chunk;
	TRY(object_at(scan->target, "struct pcpu_chunk",
		      pass->reserved ? pass->reserved : pass->first, &chunk));
	TRY(object_u64(&chunk, "base_addr", &end));
	if (end < pass->start || (end - pass->start) / page_size > PAGES_MAX)
		return error_create(ERROR_FORMAT, "the first chunk is not behind pcpu_base_addr");
	uint64_t pages = (end - pass->start) / page_size;
	table_set_text(scan, COLUMN_KIND, "static");
	table_set(scan, COLUMN_BASE, pass->start);
	table_set(scan, COLUMN_PAGES, pages);
	table_set(scan, COLUMN_POPULATED, pages);
	table_set_pages(scan, COLUMN_SIZE, pages);
	TRY(table_set_error(scan, COLUMN_MEMORY, set_memory(scan, pass, pages)));
	return table_emit(scan);
}

/* It is on no list. */
static struct error *emit_reserved(struct table_scan *scan, const struct pass *pass)
{
	struct object chunk;
	TRY(object_at(scan->target, "struct pcpu_chunk", pass->reserved, &chunk));
	return emit(scan, pass, &chunk);
}

static struct error *visit_lists(struct table_scan *scan, const struct pass *pass, uint64_t head,
				 uint64_t count)
{
	struct slot slot = { .pass = pass };
	const struct table_walk walk = { CONTAINER_LIST, "struct pcpu_chunk", "list", visit_chunk,
					 &slot };
	struct object list;
	uint64_t size;
	TRY(object_at(scan->target, "struct list_head", head, &list));
	if (!type_size(list.type, &size))
		return error_create(ERROR_FORMAT, "struct list_head has no size");
	for (; slot.number < count; slot.number++, head += size)
		TRY(table_broken(scan, error_prefix(table_walk(scan, head, &walk),
						    "pcpu_chunk_lists[%" PRIu64 "]", slot.number)));
	return NULL;
}

static struct error *read_pass(struct table_scan *scan, struct pass *pass)
{
	*pass = (struct pass){ .first = 0 };
	TRY(table_broken(scan,
			 read_variable(scan, "pcpu_first_chunk", "unsigned long", &pass->first)));
	TRY(table_broken(scan, read_variable(scan, "pcpu_reserved_chunk", "unsigned long",
					     &pass->reserved)));
	TRY(table_broken(scan,
			 read_variable(scan, "pcpu_base_addr", "unsigned long", &pass->start)));
	TRY(table_broken(scan, read_variable(scan, "pcpu_nr_units", "int", &pass->units)));
	if (pass->units <= UNITS_MAX)
		return NULL;
	struct error *error =
		error_create(ERROR_FORMAT, "pcpu_nr_units is %" PRId64, (int64_t)pass->units);
	pass->units = 0;
	return table_broken(scan, error);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass;
	uint64_t lists, slots, types = 1, size;
	struct object head;
	TRY(read_variable(scan, "pcpu_chunk_lists", "unsigned long", &lists));
	TRY(read_variable(scan, "pcpu_nr_slots", "int", &slots));
	TRY(object_at(scan->target, "struct list_head", lists, &head));
	TRY(read_pass(scan, &pass));
	/* From 5.9 to 5.13 what cgroups pay for has lists of its own, behind the others. */
	pass.has_types =
		table_enumerator(scan, "enum pcpu_chunk_type", "PCPU_NR_CHUNK_TYPES", &types);
	if (slots > SLOTS_MAX || types > TYPES_MAX || !type_size(head.type, &size))
		return error_create(ERROR_FORMAT, "%" PRId64 " lists are more than there can be",
				    (int64_t)slots);
	if (pass.start && (pass.reserved || pass.first))
		TRY(table_broken(scan, emit_static(scan, &pass)));
	if (pass.reserved)
		TRY(table_broken(scan, emit_reserved(scan, &pass)));
	for (; pass.type < types; pass.type++)
		TRY(visit_lists(scan, &pass, lists + pass.type * slots * size, slots));
	return NULL;
}

static const char *const examples[] = { "percpu",
					"percpu --where \"kind = 'dynamic'\" --sort -free",
					"sql SELECT sum(memory) AS bytes FROM percpu", NULL };

const struct table table_percpu = {
	.name = "percpu",
	.summary = "per-CPU memory",
	.description =
		"A row is a struct pcpu_chunk, of which each CPU has a unit; before them comes "
		"what the kernel's own variables take. The sum of `memory` is what /proc/meminfo "
		"calls Percpu, or a page for each CPU more where those end within a page.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CHUNK,
};
