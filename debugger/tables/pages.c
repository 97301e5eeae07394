// SPDX-License-Identifier: GPL-3.0-or-later
/* Pages of memory, by the kernel's array of struct page. */
#include "debugger/kernel/page_array.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/eval/flag_names.h"
#include "debugger/tables/walks.h"
#include "debugger/target/page_walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_PAGE,
	COLUMN_PHYSICAL,
	COLUMN_TYPE,
	COLUMN_MAPPING,
	COLUMN_INDEX,
	COLUMN_COUNT,
	COLUMN_MAPS,
	COLUMN_HEAD,
	COLUMN_FLAGS,
	COLUMN_NAMES,
	COLUMN_GROUP,
};

static const struct table_column columns[] = {
	[COLUMN_PAGE] = { "page", COLUMN_ADDRESS, 16, "its struct page", "struct page" },
	[COLUMN_PHYSICAL] = { "physical", COLUMN_ADDRESS, 16, "its physical address", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -7,
			  "free, slab, ...: by the kernel's word for what is no user's and no "
			  "file's",
			  NULL },
	[COLUMN_MAPPING] = { "mapping", COLUMN_ADDRESS, 16,
			     "whose it is: a struct address_space; with bit 0 an anon_vma", NULL },
	[COLUMN_INDEX] = { "pgoff", COLUMN_WIDE, 8, "which page of that", NULL },
	[COLUMN_COUNT] = { "refcount", COLUMN_INTEGER, 8, "who holds it", NULL },
	[COLUMN_MAPS] = { "mapcount", COLUMN_INTEGER, 8,
			  "page tables that have it, or the block that it is of", NULL },
	[COLUMN_HEAD] = { "head", COLUMN_ADDRESS, 0, "the first page of the block it is a part of",
			  "struct page" },
	[COLUMN_FLAGS] = { "flags", COLUMN_WIDE, 0, "the word of flags", NULL },
	[COLUMN_NAMES] = { "flag_names", COLUMN_TEXT, -20, "the kernel's names of those", NULL },
	[COLUMN_GROUP] = { "memcg", COLUMN_ADDRESS, 0,
			   "the struct mem_cgroup that it is charged to, as in `cgroups`; the "
			   "objects of a slab are charged one by one",
			   "struct mem_cgroup" },
};

/* So many struct pages are read at once. */
#define CHUNK 64
/* Of a struct page: 64 bytes, and a few more where they are counted for cgroups or checked. */
#define RECORD_MAX 256
/* Of memory there are some dozens, but a filter may leave out each page of the array. */
#define HOLES_MAX (1u << 25)

/* Where members are in a struct page. */
struct layout {
	struct type_place flags, mapping, index, count, maps, head;
	bool has_head;
	uint64_t slab;	      /* the bit of PG_slab, up to 6.9; 0 */
	uint64_t records_end; /* behind the last struct page */
	bool has_numbers;     /* types are the enumerators of enum pagetype */
	const struct flag_names *names;
	/* How often a block of several pages is mapped as one, less one, lies behind its head. */
	bool has_whole;
	uint64_t whole;	      /* bytes behind it */
	uint64_t head_bits;   /* PG_head */
	bool is_of_anonymous; /* pages of files have counted it themselves, up to 6.1 */
	uint64_t double_map;  /* PG_double_map, in the second page's flags; 0 */
	uint64_t hugetlb;     /* compound_dtor of the second page of one of hugetlb */
	struct type_place dtor;
	/* Who it is charged to (kernel include/linux/memcontrol.h). */
	bool has_group;
	struct type_place group;
	uint64_t group_objects, group_kernel, group_flags; /* bits of that word, and all of them */
	uint64_t subsystem;				   /* memory's struct cgroup_subsys */
};

/* Of the last block that was asked for. */
struct block {
	uint64_t head;
	uint64_t maps; /* of the whole */
};

/* What the last word that was asked for leads to. */
struct charge {
	uint64_t word, group;
};

struct pass {
	struct table_scan *scan;
	struct layout layout;
	uint64_t record_size;
	struct block block;
	struct charge charge;
};

/*
 * In struct folio since 6.2, and each page's own count has nothing of it; before, in the second
 * struct page.
 */
static struct error *find_whole(struct table_scan *scan, const struct page_array *pages,
				struct layout *layout)
{
	static const char *const names[] = { "_entire_mapcount", "_compound_mapcount" };
	unsigned int bit;
	struct object folio;
	uint64_t offset;
	if (!page_flag_bit(scan->target, "PG_head", &bit))
		return NULL;
	layout->head_bits = (uint64_t)1 << bit;
	struct error *error = object_at(scan->target, "struct folio", 0, &folio);
	for (size_t i = 0; i < ARRAY_COUNT(names) && !error; i++)
		if (object_has(&folio, names[i])) {
			layout->has_whole = true;
			return object_offset(scan->target, "struct folio", names[i],
					     &layout->whole);
		}
	/* Up to 5.15 there were none. */
	error_free(error);
	if (!object_has(&pages->page, "compound_mapcount") ||
	    !object_has(&pages->page, "compound_dtor"))
		return NULL;
	TRY(object_offset(scan->target, "struct page", "compound_mapcount", &offset));
	TRY(type_find_path(pages->page.type, "compound_dtor", &layout->dtor));
	layout->whole = pages->records.record_size + offset;
	layout->has_whole = layout->is_of_anonymous = true;
	if (page_flag_bit(scan->target, "PG_double_map", &bit))
		layout->double_map = (uint64_t)1 << bit;
	if (!table_enumerator(scan, "enum compound_dtor_id", "HUGETLB_PAGE_DTOR", &layout->hugetlb))
		layout->hugetlb = UINT64_MAX;
	return NULL;
}

/* Since 5.11 flags are in the word; before, bit 0 of it says that objects are charged. */
static struct error *find_group(struct table_scan *scan, const struct page_array *pages,
				struct layout *layout)
{
	static const char flags[] = "enum page_memcg_data_flags";
	bool has_flags = object_has(&pages->page, "memcg_data");
	uint64_t cursor = 0;
	struct symbol subsystem;
	layout->has_group =
		(has_flags || object_has(&pages->page, "mem_cgroup")) &&
		target_find_symbol(scan->target, NULL, "memory_cgrp_subsys", &cursor, &subsystem);
	if (!layout->has_group)
		return NULL;
	layout->subsystem = subsystem.address;
	TRY(type_find_path(pages->page.type, has_flags ? "memcg_data" : "mem_cgroup",
			   &layout->group));
	layout->group_objects = layout->group_flags = 1;
	if (!has_flags ||
	    !table_enumerator(scan, flags, "__NR_MEMCG_DATA_FLAGS", &layout->group_flags))
		return NULL;
	layout->group_flags--;
	if (!table_enumerator(scan, flags, "MEMCG_DATA_KMEM", &layout->group_kernel))
		layout->has_group = false;
	return NULL;
}

static struct error *find_layout(struct table_scan *scan, const struct page_array *pages,
				 struct layout *layout)
{
	struct type page = pages->page.type;
	unsigned int slab;
	uint64_t unused;
	*layout = (struct layout){ .has_numbers = table_enumerator(scan, "enum pagetype",
								   "PGTY_buddy", &unused) };
	TRY(type_find_path(page, page_flags_path(&pages->page), &layout->flags));
	TRY(type_find_path(page, "mapping", &layout->mapping));
	/* Since 6.16 (acc53a0b4c15) */
	TRY(type_find_path(page, object_has(&pages->page, "index") ? "index" : "__folio_index",
			   &layout->index));
	TRY(type_find_path(page, "_refcount.counter", &layout->count));
	TRY(type_find_path(page, "_mapcount.counter", &layout->maps));
	const char *head = object_has(&pages->page, "compound_head") ? "compound_head"
								     : "compound_info";
	layout->has_head = object_has(&pages->page, head);
	if (layout->has_head)
		TRY(type_find_path(page, head, &layout->head));
	if (page_flag_bit(scan->target, "PG_slab", &slab))
		layout->slab = (uint64_t)1 << slab;
	TRY(find_whole(scan, pages, layout));
	TRY(find_group(scan, pages, layout));
	layout->names = flag_names_of_member(page, "flags");
	layout->records_end = pages->records.base + pages->count * pages->records.record_size;
	return NULL;
}

static bool fits(const struct type_place *place, uint32_t bits, uint64_t size)
{
	return place->bit_offset <= size * 8 && size * 8 - place->bit_offset >= bits;
}

/* Whether all that is loaded lies within a record of so many bytes. */
static bool layout_fits(const struct layout *layout, uint64_t size)
{
	return fits(&layout->flags, 64, size) && fits(&layout->mapping, 64, size) &&
	       fits(&layout->index, 64, size) && fits(&layout->count, 32, size) &&
	       fits(&layout->maps, 32, size) &&
	       (!layout->has_head || fits(&layout->head, 64, size)) &&
	       (!layout->has_group || fits(&layout->group, 64, size)) &&
	       (!layout->is_of_anonymous || fits(&layout->dtor, 8, size));
}

static uint64_t load(const uint8_t *data, const struct type_place *place, uint32_t bits)
{
	return btf_load_bits(data, place->bit_offset, bits, false);
}

/*
 * What shares its place with the count of page tables, where that is below -1: an enumerator since
 * 6.12 (4ffca5a96678), before that some cleared bits, of which VMCOREINFO has those that
 * makedumpfile asks.
 */
static void set_type(struct table_scan *scan, const struct layout *layout, int32_t type)
{
	static const char *const keys[][2] = { { "NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)", "buddy" },
					       { "NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)", "offline" },
					       { "NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)", "hugetlb" },
					       { "NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)", "slab" } };
	char number[16];
	if (layout->has_numbers) {
		table_set_enumerator(scan, COLUMN_TYPE, "enum pagetype", "PGTY_",
				     (uint32_t)type >> 24);
		return;
	}
	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		int64_t value;
		if (vmcoreinfo_number(scan->target->vmcoreinfo, keys[i][0], &value) &&
		    value == type) {
			table_set_text(scan, COLUMN_TYPE, keys[i][1]);
			return;
		}
	}
	snprintf(number, sizeof(number), "0x%" PRIx32, (uint32_t)type);
	table_set_text(scan, COLUMN_TYPE, number);
}

static void set_names(struct table_scan *scan, const struct layout *layout, uint64_t flags)
{
	const char *names[FLAG_NAMES_MAX];
	char text[512];
	uint64_t rest;
	size_t used = 0;
	if (!layout->names || !table_wants(scan, COLUMN_NAMES))
		return;
	size_t count = flag_names_split(scan->target, layout->names, flags, names, &rest);
	text[0] = 0;
	for (size_t i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
					 names[i]);
	table_set_text(scan, COLUMN_NAMES, text);
}

/* The head's address, or since 7.1 or so the mask that makes it of the tail's. */
static uint64_t head_of(const struct layout *layout, uint64_t page, uint64_t head)
{
	return head >= layout->records_end ? page & head : head - 1;
}

/* How often a block is mapped as one. */
static struct error *read_whole(struct pass *pass, uint64_t head)
{
	const struct layout *layout = &pass->layout;
	struct memory *memory = pass->scan->target->memory;
	uint8_t first[RECORD_MAX], second[RECORD_MAX];
	uint32_t count;
	TRY(memory_read_u32(memory, head + layout->whole, &count));
	/* There is one less than that. */
	uint64_t maps = count < INT32_MAX ? (uint64_t)count + 1 : 0;
	if (maps && layout->is_of_anonymous) {
		TRY(memory_read(memory, head, first, pass->record_size));
		TRY(memory_read(memory, head + pass->record_size, second, pass->record_size));
		bool is_huge = load(second, &layout->dtor, 8) == layout->hugetlb;
		bool is_anonymous = load(first, &layout->mapping, 64) & 1;
		if (!is_huge && !is_anonymous)
			maps = 0;
		else if (load(second, &layout->flags, 64) & layout->double_map)
			maps--;
	}
	pass->block = (struct block){ .head = head, .maps = maps };
	return NULL;
}

/* What the block that a page is of adds to its own count; 0 of a page by itself. */
static struct error *whole_maps(struct pass *pass, uint64_t head, uint64_t *ret)
{
	struct table_scan *scan = pass->scan;
	*ret = 0;
	if (!head || !pass->layout.has_whole ||
	    (!table_wants(scan, COLUMN_MAPS) && !table_wants(scan, COLUMN_MAPPING) &&
	     !table_wants(scan, COLUMN_INDEX)))
		return NULL;
	if (pass->block.head != head)
		TRY(read_whole(pass, head));
	*ret = pass->block.maps;
	return NULL;
}

/* A struct mem_cgroup is one by the subsystem that its state is of. */
static bool is_group(const struct pass *pass, uint64_t address)
{
	struct object group;
	uint64_t subsystem = 0;
	struct error *error = object_at(pass->scan->target, "struct mem_cgroup", address, &group);
	error = error ?: object_u64(&group, "css.ss", &subsystem);
	error_free(error);
	return !error && subsystem == pass->layout.subsystem;
}

/* Of the kernel's own pages, and since 7.x of all, the word leads there by way of an obj_cgroup. */
static struct error *find_charged(struct pass *pass, uint64_t word, uint64_t *ret)
{
	const struct layout *layout = &pass->layout;
	struct object charge;
	*ret = word & ~layout->group_flags;
	if (!(word & layout->group_kernel) && is_group(pass, *ret))
		return NULL;
	TRY(object_at(pass->scan->target, "struct obj_cgroup", *ret, &charge));
	TRY(object_u64(&charge, "memcg", ret));
	return is_group(pass, *ret)
		       ? NULL
		       : error_create_at(ERROR_FORMAT, *ret,
					 "0x%" PRIx64 " is no struct mem_cgroup", *ret);
}

/* A block's pages are charged by its head. */
static struct error *set_group(struct pass *pass, const uint8_t *data, uint64_t head)
{
	struct table_scan *scan = pass->scan;
	const struct layout *layout = &pass->layout;
	uint64_t word = load(data, &layout->group, 64);
	if (head)
		TRY(memory_read_word(scan->target->memory, head + layout->group.bit_offset / 8,
				     &word));
	if (!word || word & layout->group_objects)
		return NULL;
	if (pass->charge.word != word) {
		pass->charge = (struct charge){ .word = 0 };
		TRY(find_charged(pass, word, &pass->charge.group));
		pass->charge.word = word;
	}
	table_set(scan, COLUMN_GROUP, pass->charge.group);
	return NULL;
}

/* The members of a page share their places with others where it is a slab or has a type. */
static struct error *emit(struct pass *pass, uint64_t page, const uint8_t *data)
{
	struct table_scan *scan = pass->scan;
	const struct layout *layout = &pass->layout;
	uint64_t flags = load(data, &layout->flags, 64);
	uint64_t head = layout->has_head ? load(data, &layout->head, 64) : 0;
	uint64_t mapping = load(data, &layout->mapping, 64), whole = 0;
	int32_t maps = (int32_t)load(data, &layout->maps, 32);
	bool is_slab = flags & layout->slab, is_tail = head & 1, has_type = maps < -1;
	head = is_tail ? head_of(layout, page, head) : flags & layout->head_bits ? page : 0;
	struct error *error = is_slab ? NULL : whole_maps(pass, head, &whole);
	bool is_counted = !is_slab && !error;
	TRY(table_set_error(scan, COLUMN_MAPS, error));
	if (is_slab)
		table_set_text(scan, COLUMN_TYPE, "slab");
	else if (has_type)
		set_type(scan, layout, maps);
	/* What has a type can be mapped only as a whole. */
	if (is_counted && (!has_type || whole))
		table_set(scan, COLUMN_MAPS, (has_type ? 0 : (uint64_t)maps + 1) + whole);
	if (is_tail)
		table_set(scan, COLUMN_HEAD, head);
	if (mapping && !is_slab && !is_tail && (!has_type || whole)) {
		table_set(scan, COLUMN_MAPPING, mapping);
		table_set(scan, COLUMN_INDEX, load(data, &layout->index, 64));
	}
	table_set(scan, COLUMN_COUNT, (uint64_t)(int32_t)load(data, &layout->count, 32));
	table_set(scan, COLUMN_FLAGS, flags);
	set_names(scan, layout, flags);
	if (layout->has_group && !is_slab && table_wants(scan, COLUMN_GROUP))
		TRY(table_set_error(scan, COLUMN_GROUP, set_group(pass, data, is_tail ? head : 0)));
	return table_emit(scan);
}

/* How far what an absent entry stands for goes; where that is not known, one page. */
static uint64_t hole_end(struct target *target, uint64_t address)
{
	struct page_walk walk;
	uint64_t page_size = target->facts->page_size;
	uint64_t end = address - address % page_size + page_size;
	if (!target->arch->page_walk || !target->translator)
		return end;
	struct error *error =
		target->arch->page_walk(target->translator, PAGE_ROOT_KERNEL, address, &walk);
	if (!error && walk.state == PAGE_ABSENT && walk.start + walk.size > end)
		end = walk.start + walk.size;
	error_free(error);
	return end;
}

/*
 * The first frame behind what could not be read: where there is no memory, there is no struct page
 * either. Takes `why`.
 */
static struct error *skip(struct table_scan *scan, const struct page_array *pages,
			  struct error *why, uint64_t *frame)
{
	uint64_t size = pages->records.record_size, page_size = pages->records.page_size;
	uint64_t at = pages->records.base + *frame * size;
	uint64_t address = why->address > at ? why->address : at;
	bool is_hole = why->kind == ERROR_FAULT;
	uint64_t end = is_hole ? hole_end(scan->target, address)
			       : address - address % page_size + page_size;
	/* At the end of all addresses it is 0. */
	*frame = end > at ? (end - pages->records.base + size - 1) / size : pages->count;
	if (!is_hole)
		return table_broken(scan, why);
	error_free(why);
	return NULL;
}

/* All that can be read at once from a frame on, which moves behind it. */
static struct error *emit_chunk(struct pass *pass, const struct page_array *pages, uint8_t *buffer,
				uint64_t *frame, uint32_t *holes)
{
	struct table_scan *scan = pass->scan;
	uint64_t size = pages->records.record_size, left = pages->count - *frame;
	uint64_t address = pages->records.base + *frame * size, first = *frame;
	size_t wanted = (size_t)((left < CHUNK ? left : CHUNK) * size);
	struct error *why, *error = NULL;
	size_t got = memory_read_some(scan->target->memory, address, buffer, wanted, &why);
	for (uint64_t i = 0; i < got / size && !error; i++) {
		table_set(scan, COLUMN_PAGE, address + i * size);
		table_set(scan, COLUMN_PHYSICAL, (first + i) * pages->records.page_size);
		error = emit(pass, address + i * size, buffer + i * size);
	}
	*frame += got / size;
	if (error || !why) {
		error_free(why);
		return error;
	}
	if (++*holes > HOLES_MAX) {
		*frame = pages->count;
		error_free(why);
		return table_broken(scan, error_create(ERROR_FORMAT,
						       "more than %u holes in the array of struct "
						       "page: the rest is not shown",
						       HOLES_MAX));
	}
	return skip(scan, pages, why, frame);
}

static struct error *visit(struct table_scan *scan)
{
	struct page_array pages;
	struct pass pass = { .scan = scan };
	uint32_t holes = 0;
	TRY(page_array_read(scan->target, &pages));
	TRY(find_layout(scan, &pages, &pass.layout));
	pass.record_size = pages.records.record_size;
	if (pass.record_size > RECORD_MAX)
		return error_create(ERROR_FORMAT, "struct page has %" PRIu64 " bytes",
				    pass.record_size);
	if (!layout_fits(&pass.layout, pages.records.record_size))
		return error_create(ERROR_FORMAT, "struct page is smaller than its members");
	uint8_t *buffer = malloc(CHUNK * pages.records.record_size);
	struct error *error = buffer ? NULL : error_no_memory();
	for (uint64_t frame = 0; frame < pages.count && !error;) {
		error = interrupt_check();
		if (!error)
			error = emit_chunk(&pass, &pages, buffer, &frame, &holes);
	}
	free(buffer);
	return error;
}

static const char *const examples[] = {
	"pages -n 10", "pages -o type,physical --where \"type = 'slab'\" -n 5",
	"sql SELECT coalesce(type, 'other') AS kind, count(*) AS pages FROM pages GROUP BY 1", NULL
};

const struct table table_pages = {
	.name = "pages",
	.summary = "pages of memory",
	.description = "A row is a page frame that has a struct page; there is one for each 4 KiB, "
		       "so ask with --where, -n or `sql`. Of a block that is free the first page "
		       "alone has a type.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PAGE,
	.is_object = true,
};
