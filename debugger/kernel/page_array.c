// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/page_array.h"

#include <string.h>

#define RECORD_MAX   4096u
#define PHYSICAL_MAX ((uint64_t)1 << 52)
#define FLAG_BITS    64

/* KASLR keeps it in a variable. */
static struct error *read_base(struct target *target, const char *name, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, name, "unsigned long", &variable));
	return object_u64(&variable, NULL, ret);
}

static void find_flag_names(struct page_array *pages)
{
	struct type type;
	struct error *error = target_find_type(pages->target, NULL, "enum pageflags", &type);
	if (!error) {
		pages->names = type.btf;
		pages->names_id = type.id;
	}
	error_free(error);
}

struct error *page_array_read(struct target *target, struct page_array *ret)
{
	struct page_array pages = { .target = target, .page_size = target->facts->page_size };
	uint64_t end = target->facts->max_physical, frames;
	struct object count;
	struct type_place place;
	TRY(object_at(target, "struct page", 0, &pages.page));
	if (!type_size(pages.page.type, &pages.record) || !pages.record ||
	    pages.record > RECORD_MAX)
		return error_create(ERROR_FORMAT, "struct page has no sane size");
	TRY(read_base(target, "vmemmap_base", &pages.start));
	TRY(read_base(target, "page_offset_base", &pages.direct_map));
	if (!pages.page_size || !end || end > PHYSICAL_MAX)
		return error_create(ERROR_FORMAT, "the dump does not say how much memory there is");
	pages.count = end / pages.page_size;
	/* Memory behind what was dumped has pages too. */
	struct error *error = object_variable(target, "max_pfn", "unsigned long", &count);
	if (!error)
		error = object_u64(&count, NULL, &frames);
	if (!error && frames > pages.count && frames <= PHYSICAL_MAX / pages.page_size)
		pages.count = frames;
	TRY(error_only_fatal(error));
	/* memdesc_flags_t since 6.18 (53fbef56e07d). */
	pages.flags_path = object_has(&pages.page, "flags.f") ? "flags.f" : "flags";
	TRY(type_find_path(pages.page.type, pages.flags_path, &place));
	pages.flags_offset = place.bit_offset / 8;
	find_flag_names(&pages);
	*ret = pages;
	return NULL;
}

bool page_array_at(const struct page_array *pages, uint64_t frame, uint64_t *ret)
{
	if (frame >= pages->count)
		return false;
	*ret = pages->start + frame * pages->record;
	return true;
}

bool page_array_frame(const struct page_array *pages, uint64_t address, uint64_t *ret)
{
	uint64_t frame = (address - pages->start) / pages->record;
	if (address < pages->start || frame >= pages->count)
		return false;
	*ret = frame;
	return true;
}

struct error *page_array_flags(const struct page_array *pages, uint64_t frame, uint64_t *ret)
{
	uint64_t page;
	if (!page_array_at(pages, frame, &page))
		return error_create(ERROR_NOT_FOUND, "there is no such page");
	return memory_read_word(pages->target->memory, page + pages->flags_offset, ret);
}

bool page_array_flag(const struct page_array *pages, const char *name, unsigned int *ret)
{
	struct btf_type type;
	struct btf_enumerator flag;
	if (!pages->names || !btf_get(pages->names, pages->names_id, &type))
		return false;
	for (uint32_t i = 0; btf_enumerator(&type, i, &flag); i++)
		if (!strcmp(flag.name, name) && flag.value >= 0 && flag.value < FLAG_BITS) {
			*ret = (unsigned int)flag.value;
			return true;
		}
	return false;
}
