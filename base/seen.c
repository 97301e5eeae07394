// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/seen.h"

#define PAGE_SIZE  UINT64_C(4096)
#define WORD_SIZE  8u
#define PAGES_MAX  (1u << 20) /* 4 GiB, wherever they are */
#define BITS	   64u
#define WORD_COUNT (PAGE_SIZE / WORD_SIZE / BITS)

/* What was seen in a page; its address is never 0, which the map does not take. */
struct page {
	uint64_t address;
	uint64_t words[WORD_COUNT];
};

struct error *seen_add(struct seen *seen, uint64_t address, bool *ret_again)
{
	uint64_t key = (address & ~(PAGE_SIZE - 1)) | 1;
	uint64_t word = address % PAGE_SIZE / WORD_SIZE;
	struct page *page = address_map_find(&seen->pages, sizeof(*page), key);
	if (!page && seen->pages.count >= PAGES_MAX)
		return error_create(ERROR_FORMAT, "walks lead to more than %u pages of memory",
				    PAGES_MAX);
	if (!page)
		page = address_map_add(&seen->pages, sizeof(*page), key);
	if (!page)
		return error_no_memory();
	uint64_t bit = UINT64_C(1) << word % BITS;
	*ret_again = page->words[word / BITS] & bit;
	page->words[word / BITS] |= bit;
	return NULL;
}

void seen_deinit(struct seen *seen)
{
	address_map_deinit(&seen->pages);
}
