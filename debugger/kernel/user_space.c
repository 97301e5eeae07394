// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/user_space.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/mappings.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* kernel include/linux/mm.h */
#define VM_PFNMAP  ((uint64_t)1 << 10)
#define VM_HUGETLB ((uint64_t)1 << 22)
/* Of an entry whose number is a page's: more bits than that say other things. */
#define ENTRY_PFN_BITS 40

struct user_space {
	struct memory memory; /* the first: memory_read() leads here */
	struct target *target;
	uint64_t mm, root; /* of struct mm_struct; physical, of the top table */
	struct page_records records;
	uint64_t zero_page, huge_zero_page; /* physical; UINT64_MAX: not known */
	uint64_t swap_files;		    /* numbers below it are of swap files */
	bool has_mappings;
	struct user_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct error *problem;	 /* with some of them */
	struct page_cache cache; /* of the file that was last asked for, */
	uint64_t cached_file;	 /* which is this struct file; 0: none was */
};

const char *user_page_kind_name(enum user_page_kind kind)
{
	static const char *const names[] = {
		[USER_PAGE_UNMAPPED] = "unmapped", [USER_PAGE_PRESENT] = "present",
		[USER_PAGE_ZERO] = "zero",	   [USER_PAGE_MIGRATING] = "migrating",
		[USER_PAGE_CACHED] = "cached",	   [USER_PAGE_FRESH] = "untouched",
		[USER_PAGE_IN_FILE] = "in file",   [USER_PAGE_BEYOND] = "beyond file",
		[USER_PAGE_SWAPPED] = "swapped",   [USER_PAGE_SPECIAL] = "special",
		[USER_PAGE_NOTHING] = "nothing",
	};
	return names[kind];
}

bool user_page_has_bytes(const struct user_page *page)
{
	return page->kind == USER_PAGE_PRESENT || page->kind == USER_PAGE_ZERO ||
	       page->kind == USER_PAGE_MIGRATING || page->kind == USER_PAGE_CACHED ||
	       page->kind == USER_PAGE_FRESH;
}

/* --- mappings ------------------------------------------------------------------------------- */

static struct error *read_mapping(const struct object *vma, struct user_mapping *ret)
{
	struct object file;
	uint64_t operations;
	*ret = (struct user_mapping){ .vma = vma->address };
	TRY(object_u64(vma, "vm_start", &ret->start));
	TRY(object_u64(vma, "vm_end", &ret->end));
	TRY(object_u64(vma, "vm_flags", &ret->flags));
	TRY(object_u64(vma, "vm_pgoff", &ret->page_offset));
	TRY(object_u64(vma, "vm_ops", &operations));
	TRY(object_follow(vma, "vm_file", &file));
	ret->is_special = operations && !file.address;
	ret->file = file.address;
	return NULL;
}

static struct error *keep_problem(void *context, struct error *problem)
{
	struct user_space *space = context;
	if (error_is_fatal(problem))
		return problem;
	if (space->problem)
		error_free(problem);
	else
		space->problem = problem;
	return NULL;
}

static struct error *add_mapping(void *context, const struct object *vma)
{
	struct user_space *space = context;
	struct user_mapping mapping;
	struct error *error = read_mapping(vma, &mapping);
	const struct user_mapping *last =
		space->mapping_count ? &space->mappings[space->mapping_count - 1] : NULL;
	if (!error && last && mapping.start < last->end)
		error = error_create(ERROR_FORMAT, "mapping 0x%" PRIx64 " overlaps 0x%" PRIx64,
				     mapping.vma, last->vma);
	if (error)
		return keep_problem(space, error);
	if (!array_reserve(&space->mappings, &space->mapping_capacity, space->mapping_count + 1))
		return error_no_memory();
	space->mappings[space->mapping_count++] = mapping;
	return NULL;
}

struct error *user_space_mappings(struct user_space *space, const struct user_mapping **ret,
				  size_t *ret_count, const struct error **ret_problem)
{
	const struct mapping_visitor visitor = { add_mapping, keep_problem, space };
	if (!space->has_mappings) {
		space->has_mappings = true;
		struct error *error = mappings_for_each(space->target, space->mm, &visitor);
		TRY(error ? keep_problem(space, error) : NULL);
	}
	*ret = space->mappings;
	*ret_count = space->mapping_count;
	*ret_problem = space->problem;
	return NULL;
}

/* *ret NULL: no mapping is there; *ret_end: where the next one begins. */
static struct error *find_mapping(struct user_space *space, uint64_t address,
				  const struct user_mapping **ret, uint64_t *ret_end)
{
	const struct user_mapping *mappings;
	const struct error *problem;
	size_t count;
	TRY(user_space_mappings(space, &mappings, &count, &problem));
	size_t first = array_bound(count, i, mappings[i].end <= address);
	bool found = first < count && mappings[first].start <= address;
	*ret = found ? &mappings[first] : NULL;
	*ret_end = first < count && !found ? mappings[first].start : UINT64_MAX;
	/* Where some could not be read, that there is none is not known. */
	return !found && problem ? error_copy(problem) : NULL;
}

/* --- what is at an address ---------------------------------------------------------------------
 */

/* Cuts what holds for a run to the part of it within [start, end). */
static void cut(struct user_page *page, uint64_t start, uint64_t end)
{
	uint64_t last = page->start + (page->size - 1);
	if (page->start < start)
		page->start = start;
	if (last > end - 1)
		last = end - 1;
	page->size = last - page->start + 1;
}

static struct error *find_in_file(struct user_space *space, const struct user_mapping *mapping,
				  uint64_t address, struct user_page *page)
{
	struct cached_page cached;
	uint64_t page_size = space->records.page_size;
	uint64_t index = mapping->page_offset + (address - mapping->start) / page_size;
	if (space->cached_file != mapping->file) {
		struct object file;
		uint64_t contents;
		space->cached_file = 0;
		TRY(object_at(space->target, "struct file", mapping->file, &file));
		TRY(object_u64(&file, "f_mapping", &contents));
		TRY(page_cache_init(&space->records, contents, &space->cache));
		space->cached_file = mapping->file;
	}
	if (index >= space->cache.size / page_size + (space->cache.size % page_size != 0)) {
		page->kind = USER_PAGE_BEYOND;
		cut(page, address & ~(page_size - 1), mapping->end);
		return NULL;
	}
	cut(page, address & ~(page_size - 1), (address | (page_size - 1)) + 1);
	TRY(page_cache_find(&space->cache, index, &cached));
	page->kind = cached.state == CACHED_IN	      ? USER_PAGE_CACHED
		     : cached.state == CACHED_SWAPPED ? USER_PAGE_SWAPPED
		     : space->cache.is_shmem	      ? USER_PAGE_FRESH
						      : USER_PAGE_IN_FILE;
	page->physical = cached.physical;
	page->swap_type = cached.swap_type;
	page->swap_offset = cached.swap_offset;
	return NULL;
}

/* The tables have nothing there. */
static struct error *find_behind(struct user_space *space, uint64_t address, struct user_page *page)
{
	const struct user_mapping *mapping;
	uint64_t next;
	TRY(find_mapping(space, address, &mapping, &next));
	if (!mapping) {
		page->kind = USER_PAGE_UNMAPPED;
		cut(page, page->start, next);
		return NULL;
	}
	page->vma = mapping->vma;
	cut(page, mapping->start, mapping->end);
	if (mapping->is_special || mapping->flags & (VM_PFNMAP | VM_HUGETLB)) {
		page->kind = USER_PAGE_NOTHING;
		return NULL;
	}
	if (mapping->file)
		return find_in_file(space, mapping, address, page);
	page->kind = USER_PAGE_FRESH;
	return NULL;
}

/*
 * Which numbers are of what is a matter of the kernel's configuration; that a page is being moved
 * is known from the page, which is locked for as long.
 */
static struct error *find_special(struct user_space *space, struct user_page *page)
{
	unsigned int locked;
	struct object record;
	uint64_t flags, number = page->swap_offset & (((uint64_t)1 << ENTRY_PFN_BITS) - 1);
	uint64_t physical = number * space->records.page_size;
	page->kind = USER_PAGE_SPECIAL;
	if (!page_flag_bit(space->target, "PG_locked", &locked) ||
	    physical >= space->target->facts->max_physical)
		return NULL;
	uint64_t address = page_record_of(&space->records, physical);
	TRY(object_at(space->target, "struct page", address, &record));
	struct error *error = object_u64(&record, page_flags_path(&record), &flags);
	if (!error && flags >> locked & 1) {
		page->kind = USER_PAGE_MIGRATING;
		page->physical = physical;
	}
	return error_only_fatal(error);
}

static bool is_zero_page(const struct user_space *space, const struct user_page *page)
{
	return page->physical == space->zero_page || (page->walk.size > space->records.page_size &&
						      page->physical == space->huge_zero_page);
}

struct error *user_space_page(struct user_space *space, uint64_t address, struct user_page *ret)
{
	struct target *target = space->target;
	const uint64_t half = (uint64_t)1 << 63;
	*ret = (struct user_page){ .kind = USER_PAGE_UNMAPPED, .start = half, .size = half };
	/* The upper half of its tables is the kernel's own. */
	if (address >= half)
		return error_create_at(ERROR_FAULT, address,
				       "0x%" PRIx64 " is an address of the kernel's", address);
	struct error *error =
		target->arch->page_walk(target->translator, space->root, address, &ret->walk);
	ret->start = ret->walk.start;
	ret->size = ret->walk.size;
	if (error)
		return error;
	switch (ret->walk.state) {
	case PAGE_PRESENT:
	case PAGE_PROTECTED:
		ret->physical = ret->walk.physical - (address - ret->start);
		ret->kind = is_zero_page(space, ret) ? USER_PAGE_ZERO : USER_PAGE_PRESENT;
		return NULL;
	case PAGE_SWAPPED:
		ret->kind = USER_PAGE_SWAPPED;
		ret->swap_type = ret->walk.swap_type;
		ret->swap_offset = ret->walk.swap_offset;
		return ret->swap_type < space->swap_files ? NULL : find_special(space, ret);
	default:
		return find_behind(space, address, ret);
	}
}

/* --- its bytes ---------------------------------------------------------------------------------
 */

static struct error *say_missing(const struct user_page *page, uint64_t address)
{
	switch (page->kind) {
	case USER_PAGE_SWAPPED:
		return error_create_at(ERROR_ELSEWHERE, address,
				       "user address 0x%" PRIx64 " is swapped out: page %" PRIu64
				       " of swap file %u",
				       address, page->swap_offset, page->swap_type);
	case USER_PAGE_IN_FILE:
		return error_create_at(ERROR_ELSEWHERE, address,
				       "user address 0x%" PRIx64
				       " is in the mapped file alone, not in memory",
				       address);
	case USER_PAGE_BEYOND:
		return error_create_at(ERROR_FAULT, address,
				       "user address 0x%" PRIx64
				       " is behind the end of the mapped file",
				       address);
	case USER_PAGE_SPECIAL:
		return error_create_at(ERROR_FAULT, address,
				       "user address 0x%" PRIx64
				       " has no memory: its entry is special, type %u",
				       address, page->swap_type);
	default:
		return error_create_at(ERROR_FAULT, address,
				       "user address 0x%" PRIx64 " is not mapped", address);
	}
}

/* An error says the physical address; asked was for a virtual one. */
static struct error *read_physical(struct user_space *space, const struct user_page *page,
				   uint64_t address, void *buffer, size_t size)
{
	uint64_t physical = page->physical + (address - page->start);
	struct error *error = memory_read(space->target->physical, physical, buffer, size);
	if (!error || !error_is_missing(error))
		return error;
	uint64_t offset = error->address - physical;
	uint64_t bad = address + (offset < size ? offset : 0);
	error = error_prefix(error, "user address 0x%" PRIx64, bad);
	if (error->kind != ERROR_NO_MEMORY)
		error->address = bad;
	return error;
}

static struct error *read_user(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	struct user_space *space = (struct user_space *)memory;
	uint8_t *at = buffer;
	while (size) {
		struct user_page page;
		TRY(interrupt_check());
		struct error *error = user_space_page(space, address, &page);
		/* What a table that is missing hides is missing. */
		if (error && !error_is_fatal(error) && !error_is_missing(error)) {
			struct error *why = error;
			error = error_create_at(ERROR_FAULT, address, "%s", why->message);
			error_free(why);
		}
		if (error)
			return error;
		uint64_t left = page.size - (address - page.start);
		size_t part = size < left ? size : (size_t)left;
		if (!user_page_has_bytes(&page))
			return say_missing(&page, address);
		if (page.kind == USER_PAGE_ZERO || page.kind == USER_PAGE_FRESH)
			memset(at, 0, part);
		else
			TRY(read_physical(space, &page, address, at, part));
		at += part;
		address += part;
		size -= part;
	}
	return NULL;
}

struct memory *user_space_memory(struct user_space *space)
{
	return &space->memory;
}

struct target *user_space_target(const struct user_space *space)
{
	return space->target;
}

uint64_t user_space_mm(const struct user_space *space)
{
	return space->mm;
}

const struct page_records *user_space_records(const struct user_space *space)
{
	return &space->records;
}

/* --- opening ------------------------------------------------------------------------------------
 */

/* Zero pages and swap files: what is not known is not told apart. */
static void find_zero_pages(struct user_space *space)
{
	struct target *target = space->target;
	struct translation run;
	uint64_t address, frame;
	space->zero_page = space->huge_zero_page = UINT64_MAX;
	if (symtab_address(target->symbols, "empty_zero_page", &address)) {
		struct error *error =
			target->translator->translate(target->translator, address, &run);
		if (!error)
			space->zero_page = run.physical + (address - run.address);
		error_free(error);
	}
	if (symtab_address(target->symbols, "huge_zero_pfn", &address)) {
		struct error *error = memory_read_word(target->memory, address, &frame);
		if (!error && frame < UINT64_MAX / space->records.page_size)
			space->huge_zero_page = frame * space->records.page_size;
		error_free(error);
	}
}

static struct error *prepare(struct user_space *space)
{
	struct target *target = space->target;
	struct object mm;
	struct translation run;
	uint64_t address, top;
	uint32_t count = 0;
	if (!target->arch->page_walk || !target->translator)
		return error_create(ERROR_UNSUPPORTED,
				    "page tables of processes are not read on %s",
				    target->arch->name);
	TRY(page_records_init(target, &space->records));
	TRY(object_at(target, "struct mm_struct", space->mm, &mm));
	TRY(object_u64(&mm, "pgd", &top));
	TRY(error_prefix(target->translator->translate(target->translator, top, &run),
			 "mm 0x%" PRIx64 ": its page tables", space->mm));
	space->root = run.physical + (top - run.address);
	find_zero_pages(space);
	if (symtab_address(target->symbols, "nr_swapfiles", &address))
		TRY(error_only_fatal(memory_read_u32(target->memory, address, &count)));
	space->swap_files = count;
	return NULL;
}

struct error *user_space_open(struct target *target, uint64_t mm, struct user_space **ret)
{
	TRY(target_need_memory(target));
	struct user_space *space = calloc(1, sizeof(*space));
	if (!space)
		return error_no_memory();
	space->memory = (struct memory){ .read = read_user,
					 .name = "user",
					 .word_size = target->memory->word_size,
					 .big_endian = target->memory->big_endian };
	space->target = target;
	space->mm = mm;
	struct error *error = prepare(space);
	if (error)
		user_space_close(space);
	else
		*ret = space;
	return error;
}

struct error *user_space_open_task(struct target *target, const struct task *task,
				   struct user_space **ret)
{
	struct object object;
	uint64_t mm;
	TRY(object_at(target, "struct task_struct", task->address, &object));
	TRY(object_u64(&object, "mm", &mm));
	if (!mm)
		return error_create(ERROR_NOT_FOUND, "task %d has no memory of its own: %s",
				    task->pid,
				    task->state_letter == 'Z' || task->state_letter == 'X'
					    ? "it has exited"
					    : "it is a kernel thread");
	return user_space_open(target, mm, ret);
}

void user_space_close(struct user_space *space)
{
	if (!space)
		return;
	error_free(space->problem);
	free(space->mappings);
	free(space);
}
