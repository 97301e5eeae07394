// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/page_array.h"

#define PHYSICAL_BITS_MIN 32
#define PHYSICAL_BITS_MAX 52
#define PHYSICAL_MAX	  ((uint64_t)1 << PHYSICAL_BITS_MAX)

/* KASLR keeps it in a variable. */
static struct error *read_direct_map(struct target *target, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, "page_offset_base", "unsigned long", &variable));
	return object_u64(&variable, NULL, ret);
}

/* What the kernel was built for: behind that its array of struct page would reach other things. */
static uint64_t frames_most(const struct target *target)
{
	int64_t bits = 0;
	uint64_t most = PHYSICAL_MAX;
	if (target->vmcoreinfo &&
	    vmcoreinfo_number(target->vmcoreinfo, "NUMBER(MAX_PHYSMEM_BITS)", &bits) &&
	    bits > PHYSICAL_BITS_MIN && bits < PHYSICAL_BITS_MAX)
		most = (uint64_t)1 << bits;
	return most / target->facts->page_size;
}

struct error *page_array_read(struct target *target, struct page_array *ret)
{
	struct page_array pages = { .count = 0 };
	uint64_t end = target->facts->max_physical, page_size = target->facts->page_size, frames;
	struct object count;
	struct type_place place;
	TRY(page_records_init(target, &pages.records));
	TRY(object_at(target, "struct page", 0, &pages.page));
	TRY(read_direct_map(target, &pages.direct_map));
	if (!end || end > PHYSICAL_MAX)
		return error_create(ERROR_FORMAT, "the dump does not say how much memory there is");
	pages.count = end / page_size;
	/* Memory behind what was dumped has pages too. */
	struct error *error = object_variable(target, "max_pfn", "unsigned long", &count);
	if (!error)
		error = object_u64(&count, NULL, &frames);
	if (!error && frames > pages.count && frames <= frames_most(target))
		pages.count = frames;
	TRY(error_only_fatal(error));
	TRY(type_find_path(pages.page.type, page_flags_path(&pages.page), &place));
	pages.flags_offset = place.bit_offset / 8;
	*ret = pages;
	return NULL;
}

bool page_array_at(const struct page_array *pages, uint64_t frame, uint64_t *ret)
{
	if (frame >= pages->count)
		return false;
	*ret = page_record_of(&pages->records, frame * pages->records.page_size);
	return true;
}

bool page_array_frame(const struct page_array *pages, uint64_t address, uint64_t *ret)
{
	uint64_t frame = (address - pages->records.base) / pages->records.record_size;
	if (address < pages->records.base || frame >= pages->count)
		return false;
	*ret = frame;
	return true;
}

struct error *page_array_flags(const struct page_array *pages, uint64_t frame, uint64_t *ret)
{
	uint64_t page;
	if (!page_array_at(pages, frame, &page))
		return error_create(ERROR_NOT_FOUND, "there is no such page");
	return memory_read_word(pages->records.target->memory, page + pages->flags_offset, ret);
}
