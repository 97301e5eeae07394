// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/page_cache.h"

#include "debugger/kernel/walk.h"
#include <inttypes.h>

/* A swap entry as a value of an xarray (kernel include/linux/swapops.h: swp_entry). */
#define SWAP_TYPE_SHIFT 58

struct error *page_cache_init(const struct page_records *records, uint64_t mapping,
			      struct page_cache *ret)
{
	struct object inode;
	uint64_t operations, shmem;
	*ret = (struct page_cache){ .records = records };
	TRY(object_at(records->target, "struct address_space", mapping, &ret->mapping));
	TRY(object_u64(&ret->mapping, "a_ops", &operations));
	ret->is_shmem = symtab_address(records->target->symbols, "shmem_aops", &shmem) &&
			shmem == operations;
	TRY(object_follow(&ret->mapping, "host", &inode));
	ret->inode = inode.address;
	return object_u64(&inode, "i_size", &ret->size);
}

/* Folios of several pages have one entry, that of their first page. */
static struct error *check_page(const struct page_cache *cache, uint64_t entry, uint64_t index,
				struct cached_page *ret)
{
	struct object page;
	uint64_t mapping, first;
	TRY(object_at(cache->records->target, "struct page", entry, &page));
	TRY(object_u64(&page, "mapping", &mapping));
	/* __folio_index since 6.16. */
	TRY(object_u64(&page, object_has(&page, "index") ? "index" : "__folio_index", &first));
	if (mapping != cache->mapping.address || first > index)
		return error_create(ERROR_FORMAT,
				    "struct page 0x%" PRIx64 " is not page %" PRIu64
				    " of address_space 0x%" PRIx64,
				    entry, index, cache->mapping.address);
	uint64_t offset;
	if (__builtin_mul_overflow(index - first, cache->records->record_size, &offset) ||
	    __builtin_add_overflow(entry, offset, &ret->record))
		return error_create(ERROR_FORMAT, "struct page 0x%" PRIx64 " is too far", entry);
	TRY(page_record_physical(cache->records, ret->record, &ret->physical));
	ret->state = CACHED_IN;
	return NULL;
}

struct error *page_cache_find(const struct page_cache *cache, uint64_t index,
			      struct cached_page *ret)
{
	struct object pages;
	uint64_t entry;
	*ret = (struct cached_page){ .state = CACHED_NOT };
	TRY(object_member(&cache->mapping, "i_pages", &pages));
	TRY(xarray_load(cache->records->target, pages.address, index, &entry));
	if (!entry)
		return NULL;
	if (!(entry & 1))
		return check_page(cache, entry, index, ret);
	/* Of other files it tells when the page was thrown out. */
	if (!cache->is_shmem)
		return NULL;
	uint64_t value = entry >> 1;
	ret->state = CACHED_SWAPPED;
	ret->swap_type = (uint32_t)(value >> SWAP_TYPE_SHIFT);
	ret->swap_offset = value & (((uint64_t)1 << SWAP_TYPE_SHIFT) - 1);
	return NULL;
}
