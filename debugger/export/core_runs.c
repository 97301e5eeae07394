// SPDX-License-Identifier: GPL-3.0-or-later
/* Which memory of the process there is: every page is looked at before the first byte is written.
 */
#include "debugger/export/core_private.h"

#include "base/array.h"
#include "base/interrupt.h"
#include <elf.h>
#include <inttypes.h>

/* kernel include/linux/mm.h */
#define VM_READ	  0x1u
#define VM_WRITE  0x2u
#define VM_EXEC	  0x4u
#define VM_PFNMAP ((uint64_t)1 << 10)
#define VM_IO	  ((uint64_t)1 << 14)

#define RUNS_MAX  (1u << 22)
#define STEPS_MAX ((uint64_t)1 << 28)
/* Some memory may be mapped twice, as ring buffers are; tables that lead to themselves have more.
 */
#define TIMES_MEMORY 4

static struct error *add_run(struct core *core, const struct user_mapping *mapping, uint64_t start,
			     uint64_t size, bool has_bytes)
{
	struct core_run *last = core->run_count ? &core->runs[core->run_count - 1] : NULL;
	if (has_bytes) {
		core->run_bytes += size;
		core->summary.pages += size / core->page_size;
	}
	if (core->run_bytes / TIMES_MEMORY > core->target->facts->memory_size)
		return error_create(ERROR_FORMAT, "the process has more memory than the machine");
	if (last && last->has_bytes == has_bytes && last->start + last->size == start &&
	    last->start >= mapping->start) {
		last->size += size;
		return NULL;
	}
	if (core->run_count >= RUNS_MAX)
		return error_create(ERROR_FORMAT, "its memory is in more than %u pieces", RUNS_MAX);
	if (!array_reserve(&core->runs, &core->run_capacity, core->run_count + 1))
		return error_no_memory();
	uint32_t flags = (mapping->flags & VM_READ ? PF_R : 0) |
			 (mapping->flags & VM_WRITE ? PF_W : 0) |
			 (mapping->flags & VM_EXEC ? PF_X : 0);
	core->runs[core->run_count++] = (struct core_run){ start, size, flags, has_bytes };
	return NULL;
}

static struct error *count_step(struct core *core)
{
	TRY(interrupt_check());
	progress_report(core->options->progress, "pages", core->steps, 0);
	if (core->steps++ >= STEPS_MAX)
		return error_create(ERROR_FORMAT, "more than %" PRIu64 " pages to look at",
				    STEPS_MAX);
	return NULL;
}

/* Whether the dump has them is known when they have been read. */
static struct error *add_pages(struct core *core, const struct user_mapping *mapping,
			       uint64_t start, uint64_t size, struct core_missing *missing)
{
	struct memory *memory = user_space_memory(core->space);
	for (uint64_t at = start; at < start + size; at += core->page_size) {
		uint8_t byte;
		TRY(count_step(core));
		struct error *error = memory_read_u8(memory, at, &byte);
		if (!error)
			TRY(add_run(core, mapping, at, core->page_size, true));
		else if (error_is_fatal(error))
			return error;
		else
			missing->not_in_dump++;
		error_free(error);
	}
	return NULL;
}

/* What is at `at`, up to `end`; *ret_next: behind it. */
static struct error *add_at(struct core *core, const struct user_mapping *mapping, uint64_t at,
			    uint64_t *ret_next, struct core_missing *missing)
{
	struct user_page page;
	TRY(count_step(core));
	struct error *error = user_space_page(core->space, at, &page);
	if (error && error_is_fatal(error))
		return error;
	uint64_t next = page.start + page.size;
	if (next <= at || next > mapping->end)
		next = next <= at ? at + core->page_size : mapping->end;
	uint64_t size = next - at, pages = size / core->page_size;
	*ret_next = next;
	if (error) {
		missing->not_in_dump += pages;
		error_free(error);
		return NULL;
	}
	switch (page.kind) {
	case USER_PAGE_FRESH:
	case USER_PAGE_ZERO:
		return add_run(core, mapping, at, size, false);
	case USER_PAGE_SWAPPED:
		missing->swapped += pages;
		return NULL;
	case USER_PAGE_IN_FILE:
		missing->in_file += pages;
		return NULL;
	default:
		return user_page_has_bytes(&page) ? add_pages(core, mapping, at, size, missing)
						  : NULL;
	}
}

static struct error *find_in_mapping(struct core *core, const struct user_mapping *mapping)
{
	struct core_missing missing = { 0 };
	struct object vma;
	for (uint64_t at = mapping->start; at < mapping->end;)
		TRY(add_at(core, mapping, at, &at, &missing));
	core->summary.missing.swapped += missing.swapped;
	core->summary.missing.in_file += missing.in_file;
	core->summary.missing.not_in_dump += missing.not_in_dump;
	if (!missing.swapped && !missing.in_file && !missing.not_in_dump)
		return NULL;
	TRY(object_at(core->target, "struct vm_area_struct", mapping->vma, &vma));
	return core->options->incomplete(core->options->context, &vma, &missing);
}

struct error *core_find_runs(struct core *core)
{
	for (size_t i = 0; i < core->mapping_count; i++) {
		if (core->mappings[i].flags & (VM_IO | VM_PFNMAP))
			core->summary.devices++;
		else
			TRY(find_in_mapping(core, &core->mappings[i]));
	}
	progress_end(core->options->progress);
	return NULL;
}
