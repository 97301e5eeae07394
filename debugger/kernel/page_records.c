// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/page_records.h"

#include <inttypes.h>

/* 52 bits are the most that any processor has. */
#define PHYSICAL_MAX	((uint64_t)1 << 52)
#define RECORD_SIZE_MAX 4096u
#define FLAG_BITS	64

struct error *page_records_init(struct target *target, struct page_records *ret)
{
	struct type page;
	uint64_t address, size;
	*ret = (struct page_records){ .target = target, .page_size = target->facts->page_size };
	TRY(target_need_memory(target));
	TRY(target_find_type(target, NULL, "struct page", &page));
	if (!type_size(page, &size) || !size || size > RECORD_SIZE_MAX || !ret->page_size)
		return error_create(ERROR_FORMAT, "struct page has no sane size");
	ret->record_size = size;
	if (!symtab_address(target->symbols, "vmemmap_base", &address))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol vmemmap_base");
	return error_prefix(memory_read_word(target->memory, address, &ret->base), "vmemmap_base");
}

uint64_t page_record_of(const struct page_records *records, uint64_t physical)
{
	return records->base + physical / records->page_size * records->record_size;
}

struct error *page_record_physical(const struct page_records *records, uint64_t record,
				   uint64_t *ret)
{
	uint64_t offset = record - records->base, page = offset / records->record_size;
	if (record < records->base || offset % records->record_size ||
	    page >= PHYSICAL_MAX / records->page_size)
		return error_create(ERROR_FORMAT, "0x%" PRIx64 " is no struct page", record);
	*ret = page * records->page_size;
	return NULL;
}

const char *page_flags_path(const struct object *page)
{
	return object_has(page, "flags.f") ? "flags.f" : "flags";
}

bool page_flag_bit(const struct target *target, const char *name, unsigned int *ret)
{
	struct btf_enumerator flag;
	uint32_t id;
	if (!btf_find_enumerator(target->btf, name, &id, &flag) || flag.value < 0 ||
	    flag.value >= FLAG_BITS)
		return false;
	*ret = (unsigned int)flag.value;
	return true;
}
