// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_spans.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/page_array.h"
#include "debugger/kernel/vmalloc.h"
#include "vmcore/virtual.h"
#include <inttypes.h>

#define OTHERS_MAX ((size_t)8 << 20)
/*
 * Pages that are asked for in the page tables, by the machine's memory. There may be a page at many
 * addresses, as that of zeros, and areas of vmalloc have holes; but tables in a ring have no end,
 * and an area whose size is damaged may be all addresses.
 */
#define LOOKUPS_MIN   ((uint64_t)2 << 20)
#define LOOKUPS_TIMES 16 /* each page of memory */
/* The array of struct page comes and goes by sections of 128 MiB of memory. */
#define SECTION_SIZE	((uint64_t)128 << 20)
#define INTERRUPT_EVERY 4096

struct memory_spans {
	struct target *target;
	enum memory_space space;
	uint64_t first, last;
	/* Of other memory than the direct map's: by address, and by physical address. */
	struct memory_span *others, *taken;
	size_t other_count, other_capacity, taken_count;
	uint64_t lookups;
	uint64_t direct_map;
	/* How far it is. */
	size_t other, taken_at;
	uint64_t physical;	/* of the direct map: what is before is done */
	struct memory_span run; /* that is being cut; size 0: none */
	bool is_direct_done;
	/* Of a process: */
	struct user_space *user;
	const struct user_mapping *mappings;
	size_t mapping_count, mapping; /* of which this one is next */
	uint64_t at;		       /* in it */
};

void memory_spans_destroy(struct memory_spans *spans)
{
	if (!spans)
		return;
	free(spans->others);
	free(spans->taken);
	free(spans);
}

/* --- memory that has another address than that of the direct map ------------------------------ */

static bool add_other(struct memory_spans *spans, uint64_t address, uint64_t physical,
		      uint64_t size)
{
	struct memory_span *last = spans->other_count ? &spans->others[spans->other_count - 1]
						      : NULL;
	if (last && last->address + last->size == address &&
	    last->physical + last->size == physical) {
		last->size += size;
		return true;
	}
	if (!array_reserve(&spans->others, &spans->other_capacity, spans->other_count + 1))
		return false;
	spans->others[spans->other_count++] = (struct memory_span){ address, physical, size };
	return true;
}

/* Whether a page that is mapped there is what it seems to be; NULL: all are. */
typedef bool page_check(void *context, uint64_t physical);

static uint64_t lookups_max(const struct memory_spans *spans)
{
	const struct vmcore_facts *facts = spans->target->facts;
	uint64_t most = facts->max_physical / facts->page_size * LOOKUPS_TIMES;
	return most > LOOKUPS_MIN ? most : LOOKUPS_MIN;
}

/*
 * The pages that are mapped in a range; where none is, the next one is looked for `step` on. What
 * is left when there were too many is searched all the same, as a part of the direct map.
 */
static struct error *add_range(struct memory_spans *spans, uint64_t start, uint64_t end,
			       uint64_t step, page_check *check, void *context)
{
	const uint64_t page = spans->target->facts->page_size, most = lookups_max(spans);
	uint64_t at = (start > spans->first ? start : spans->first) & ~(page - 1);
	if (end - 1 > spans->last)
		end = spans->last + 1;
	while (at < end) {
		uint64_t physical;
		if (spans->lookups++ % INTERRUPT_EVERY == 0)
			TRY(interrupt_check());
		if (spans->lookups > most || spans->other_count > OTHERS_MAX)
			return NULL;
		struct error *error =
			virtual_memory_translate(spans->target->memory, at, &physical);
		uint64_t next = at + page;
		if (error)
			next = (at & ~(step - 1)) + step;
		else if ((!check || check(context, physical)) &&
			 !add_other(spans, at, physical, page))
			return error_no_memory();
		TRY(error_only_fatal(error));
		if (next <= at)
			break;
		at = next;
	}
	return NULL;
}

static struct error *add_area(void *context, const struct vmalloc_area *area)
{
	struct memory_spans *spans = context;
	const uint64_t page = spans->target->facts->page_size;
	uint64_t end;
	if (__builtin_add_overflow(area->start, area->size, &end) || !area->size ||
	    end - 1 < spans->first || area->start > spans->last)
		return NULL;
	return add_range(spans, area->start, end, page, NULL, NULL);
}

static struct error *add_areas(struct memory_spans *spans)
{
	uint64_t lost;
	return error_only_fatal(vmalloc_for_each(spans->target, add_area, spans, &lost));
}

struct image {
	const struct page_array *pages;
	unsigned int reserved; /* PG_reserved */
};

/* What the kernel gave away of its image after it had started is mapped there all the same. */
static bool is_still_image(void *context, uint64_t physical)
{
	const struct image *image = context;
	uint64_t flags;
	struct error *error =
		page_array_flags(image->pages, physical / image->pages->records.page_size, &flags);
	bool is_given_away = !error && !(flags >> image->reserved & 1);
	error_free(error);
	return !is_given_away;
}

static struct error *add_image(struct memory_spans *spans, const struct page_array *pages)
{
	struct image image = { .pages = pages };
	uint64_t start, end;
	bool is_known = page_flag_bit(spans->target, "PG_reserved", &image.reserved);
	if (!symtab_address(spans->target->symbols, "_text", &start) &&
	    !symtab_address(spans->target->symbols, "_stext", &start))
		return NULL;
	if (!target_image_end(spans->target, &end) || end <= start)
		return NULL;
	return add_range(spans, start, end, pages->records.page_size,
			 is_known ? is_still_image : NULL, &image);
}

static struct error *add_page_structs(struct memory_spans *spans, const struct page_array *pages)
{
	uint64_t size;
	if (__builtin_mul_overflow(pages->count, pages->records.record_size, &size) ||
	    size > UINT64_MAX - pages->records.base || !size)
		return NULL;
	uint64_t step = SECTION_SIZE / pages->records.page_size * pages->records.record_size;
	return add_range(spans, pages->records.base, pages->records.base + size,
			 step & (step - 1) ? pages->records.page_size : step, NULL, NULL);
}

static int compare_address(const void *a, const void *b)
{
	const struct memory_span *left = a, *right = b;
	return left->address < right->address ? -1 : left->address > right->address;
}

static int compare_physical(const void *a, const void *b)
{
	const struct memory_span *left = a, *right = b;
	return left->physical < right->physical ? -1 : left->physical > right->physical;
}

/* The physical memory of all of them, in runs. */
static struct error *make_taken(struct memory_spans *spans)
{
	spans->taken = calloc(spans->other_count + 1, sizeof(*spans->taken));
	if (!spans->taken)
		return error_no_memory();
	for (size_t i = 0; i < spans->other_count; i++)
		spans->taken[i] = spans->others[i];
	array_sort(spans->taken, spans->other_count, sizeof(*spans->taken), compare_physical);
	for (size_t i = 0; i < spans->other_count; i++) {
		struct memory_span *last =
			spans->taken_count ? &spans->taken[spans->taken_count - 1] : NULL;
		uint64_t end = spans->taken[i].physical + spans->taken[i].size;
		if (!last || spans->taken[i].physical > last->physical + last->size)
			spans->taken[spans->taken_count++] = spans->taken[i];
		else if (end > last->physical + last->size)
			last->size = end - last->physical;
	}
	return NULL;
}

static struct error *find_kernel(struct memory_spans *spans)
{
	struct page_array pages;
	TRY(target_need_memory(spans->target));
	TRY(page_array_read(spans->target, &pages));
	spans->direct_map = pages.direct_map;
	TRY(add_areas(spans));
	TRY(add_page_structs(spans, &pages));
	TRY(add_image(spans, &pages));
	array_sort(spans->others, spans->other_count, sizeof(*spans->others), compare_address);
	return make_taken(spans);
}

/* Those that cannot be read are the caller's to report: user_space_mappings() has the problem. */
static struct error *find_user(struct memory_spans *spans)
{
	const struct error *problem;
	return user_space_mappings(spans->user, &spans->mappings, &spans->mapping_count, &problem);
}

struct error *memory_spans_create(struct target *target, enum memory_space space,
				  struct user_space *user, uint64_t first, uint64_t last,
				  struct memory_spans **ret)
{
	struct memory_spans *spans = calloc(1, sizeof(*spans));
	if (!spans)
		return error_no_memory();
	*spans = (struct memory_spans){
		.target = target, .space = space, .user = user, .first = first, .last = last
	};
	struct error *error = space == SPACE_KERNEL ? find_kernel(spans)
			      : space == SPACE_USER ? find_user(spans)
						    : NULL;
	/* What is before the range in the direct map is not looked for. */
	if (first > spans->direct_map)
		spans->physical = first - spans->direct_map;
	if (error)
		memory_spans_destroy(spans);
	else
		*ret = spans;
	return error;
}

/* --- one after the other ---------------------------------------------------------------------- */

/* The next run of memory that is in the dump; without a list of them, all there may be. */
static bool next_run(struct memory_spans *spans)
{
	const struct vmcore_facts *facts = spans->target->facts;
	uint64_t start, size;
	if (vmcore_next_run(spans->target->vmcore, spans->physical, &start, &size)) {
		spans->run = (struct memory_span){ 0, start, size };
		return true;
	}
	struct vmcore *vmcore = spans->target->vmcore;
	if (vmcore_next_run(vmcore, 0, &start, &size) || spans->physical >= facts->max_physical)
		return false;
	spans->run =
		(struct memory_span){ 0, spans->physical, facts->max_physical - spans->physical };
	return true;
}

/* Takes away from the run's start what other addresses have, and finds where that begins again. */
static void pass_taken(struct memory_spans *spans)
{
	struct memory_span *run = &spans->run;
	while (run->size && spans->taken_at < spans->taken_count) {
		const struct memory_span *taken = &spans->taken[spans->taken_at];
		uint64_t end = taken->physical + taken->size;
		if (end <= run->physical) {
			spans->taken_at++;
			continue;
		}
		if (taken->physical > run->physical)
			return;
		uint64_t cut = end - run->physical;
		cut = cut < run->size ? cut : run->size;
		run->physical += cut;
		run->size -= cut;
		spans->physical = run->physical;
	}
}

static bool next_direct(struct memory_spans *spans, uint64_t limit, struct memory_span *ret)
{
	struct memory_span *run = &spans->run;
	for (;;) {
		if (!run->size && !next_run(spans))
			return false;
		pass_taken(spans);
		if (run->size)
			break;
	}
	uint64_t size = run->size < limit ? run->size : limit;
	if (spans->taken_at < spans->taken_count) {
		uint64_t before = spans->taken[spans->taken_at].physical - run->physical;
		size = before < size ? before : size;
	}
	*ret = (struct memory_span){ spans->direct_map + run->physical, run->physical, size };
	run->physical += size;
	run->size -= size;
	spans->physical = run->physical;
	return ret->address >= spans->direct_map;
}

static bool next_other(struct memory_spans *spans, uint64_t limit, struct memory_span *ret)
{
	if (spans->other == spans->other_count)
		return false;
	struct memory_span *other = &spans->others[spans->other];
	uint64_t size = other->size < limit ? other->size : limit;
	*ret = (struct memory_span){ other->address, other->physical, size };
	other->address += size;
	other->physical += size;
	other->size -= size;
	spans->other += !other->size;
	return true;
}

static bool next_span(struct memory_spans *spans, uint64_t limit, struct memory_span *ret)
{
	bool is_before = spans->other < spans->other_count &&
			 spans->others[spans->other].address < spans->direct_map;
	if (is_before)
		return next_other(spans, limit, ret);
	if (!spans->is_direct_done) {
		if (next_direct(spans, limit, ret) && ret->address <= spans->last)
			return true;
		spans->is_direct_done = true;
	}
	return next_other(spans, limit, ret);
}

/* Whether bytes of memory are there: untouched pages have none. */
static bool is_somewhere(const struct user_page *page)
{
	return user_page_has_bytes(page) && page->kind != USER_PAGE_FRESH;
}

static struct error *count_lookup(struct memory_spans *spans)
{
	if (++spans->lookups > lookups_max(spans))
		return error_create(
			ERROR_FORMAT,
			"mm 0x%" PRIx64
			" has %u times more pages than the machine: not all are searched",
			user_space_mm(spans->user), LOOKUPS_TIMES);
	return interrupt_check();
}

/* The next run of pages that are in memory, at `at` or behind it. */
static struct error *next_user_run(struct memory_spans *spans)
{
	while (spans->mapping < spans->mapping_count) {
		const struct user_mapping *mapping = &spans->mappings[spans->mapping];
		struct user_page page;
		if (spans->at < mapping->start)
			spans->at = mapping->start;
		if (spans->at < spans->first)
			spans->at = spans->first;
		if (spans->at >= mapping->end) {
			spans->mapping++;
			continue;
		}
		if (spans->at > spans->last)
			return NULL;
		TRY(count_lookup(spans));
		uint64_t at = spans->at;
		struct error *error = user_space_page(spans->user, at, &page);
		bool is_there = !error && is_somewhere(&page);
		TRY(error_only_fatal(error));
		uint64_t end = page.start + page.size, skip = spans->target->facts->page_size;
		/* Nothing is known of what broken tables lead to. */
		if (end <= at)
			end = (at & ~(skip - 1)) + skip;
		if (end > mapping->end || end <= at)
			end = mapping->end;
		spans->at = end;
		if (is_there) {
			spans->run = (struct memory_span){ at, page.physical + (at - page.start),
							   end - at };
			return NULL;
		}
	}
	return NULL;
}

static struct error *next_user(struct memory_spans *spans, uint64_t limit, struct memory_span *ret)
{
	struct memory_span *run = &spans->run;
	if (!run->size)
		TRY(next_user_run(spans));
	uint64_t size = run->size < limit ? run->size : limit;
	*ret = (struct memory_span){ run->address, run->physical, size };
	run->address += size;
	run->physical += size;
	run->size -= size;
	return NULL;
}

/* Cuts it to the range; false: nothing of it is in there. */
static bool cut(const struct memory_spans *spans, struct memory_span *span)
{
	uint64_t last = span->address + (span->size - 1);
	if (last < spans->first || span->address > spans->last)
		return false;
	if (span->address < spans->first) {
		uint64_t before = spans->first - span->address;
		span->address += before, span->physical += before, span->size -= before;
	}
	if (last > spans->last)
		span->size -= last - spans->last;
	return true;
}

struct error *memory_spans_next(struct memory_spans *spans, uint64_t limit, struct memory_span *ret)
{
	for (;;) {
		*ret = (struct memory_span){ 0 };
		if (spans->space == SPACE_USER)
			TRY(next_user(spans, limit, ret));
		else if (!next_span(spans, limit, ret))
			ret->size = 0;
		if (!ret->size || cut(spans, ret))
			return NULL;
	}
}
