// SPDX-License-Identifier: GPL-3.0-or-later
/* Pages of processes: where what they have mapped is. */
#include "debugger/kernel/user_space.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/mappings.h"
#include "debugger/kernel/path.h"
#include "debugger/tables/table.h"
#include <inttypes.h>

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_ADDRESS_OF,
	COLUMN_SIZE,
	COLUMN_STATE,
	COLUMN_PHYSICAL,
	COLUMN_PAGE,
	COLUMN_SWAP_TYPE,
	COLUMN_SWAP_OFFSET,
	COLUMN_VMA,
	COLUMN_TASK,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the task", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, 0, "the task's name", NULL },
	[COLUMN_ADDRESS_OF] = { "address", COLUMN_ADDRESS, 16, "the process's", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 5, "of what the row is true of", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -9, "as `vtop` says it: present, swapped, ...",
			   NULL },
	[COLUMN_PHYSICAL] = { "physical", COLUMN_ADDRESS, 16, "its physical address", NULL },
	[COLUMN_PAGE] = { "page", COLUMN_ADDRESS, 0, "its struct page", "struct page" },
	[COLUMN_SWAP_TYPE] = { "swap_type", COLUMN_INTEGER, 0, "which swap file", NULL },
	[COLUMN_SWAP_OFFSET] = { "swap_offset", COLUMN_WIDE, 0, "which page of that", NULL },
	[COLUMN_VMA] = { "vma", COLUMN_ADDRESS, 0, "the mapping's struct vm_area_struct",
			 "struct vm_area_struct" },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the task's task_struct",
			  "struct task_struct" },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "of the mapping: a file, [heap], [stack]",
			  NULL },
};

struct pass {
	struct table_scan *scan;
	const struct task *task;
	struct user_space *space;
	struct object mm;
	char path[PATH_SIZE];  /* of the mapping */
	struct error *unnamed; /* why it has none, NULL */
	uint64_t budget;       /* of pages that are looked up, of the whole task */
};

/*
 * A page may be in several places; what is in no memory may have no end: so many more than four
 * times the machine's pages are looked up for a task. What memory the machine has is the dump's
 * word, too, so that no task gets more than what a terabyte of small pages takes.
 */
#define LOOKUPS_MORE (1u << 20)
#define LOOKUPS_MAX  ((uint64_t)1 << 28)

static void set_place(struct table_scan *scan, const struct user_page *page,
		      const struct page_records *records)
{
	table_set_text(scan, COLUMN_STATE, user_page_kind_name(page->kind));
	if (user_page_has_bytes(page) && page->kind != USER_PAGE_FRESH) {
		table_set(scan, COLUMN_PHYSICAL, page->physical);
		table_set(scan, COLUMN_PAGE, page_record_of(records, page->physical));
	}
	if (page->kind == USER_PAGE_SWAPPED || page->kind == USER_PAGE_SPECIAL) {
		table_set(scan, COLUMN_SWAP_TYPE, page->swap_type);
		table_set(scan, COLUMN_SWAP_OFFSET, page->swap_offset);
	}
}

static bool has_place(const struct user_page *page)
{
	return (user_page_has_bytes(page) && page->kind != USER_PAGE_FRESH) ||
	       page->kind == USER_PAGE_SWAPPED || page->kind == USER_PAGE_SPECIAL;
}

/* What is at an address of a mapping, and of how many bytes of it that is true. */
static struct error *look_up(struct pass *pass, const struct user_mapping *mapping,
			     uint64_t address, struct user_page *page)
{
	struct error *error = user_space_page(pass->space, address, page);
	/* Of a huge page the mapping may have a part. */
	uint64_t skip = address - page->start, left = mapping->end - address;
	page->size = page->size > skip ? page->size - skip
				       : user_space_records(pass->space)->page_size;
	if (page->size > left)
		page->size = left;
	if (page->physical)
		page->physical += skip;
	pass->budget--;
	return error;
}

/* Runs of nothing that follow each other are one. */
static struct error *lengthen(struct pass *pass, const struct user_mapping *mapping,
			      uint64_t address, struct user_page *page)
{
	struct user_page next;
	while (address + page->size < mapping->end && pass->budget) {
		TRY(interrupt_check());
		struct error *error = look_up(pass, mapping, address + page->size, &next);
		if (error || next.kind != page->kind)
			return error_only_fatal(error);
		page->size += next.size;
	}
	return NULL;
}

/* The run at `*address` of a mapping, which moves behind it. */
static struct error *emit(struct pass *pass, const struct user_mapping *mapping, uint64_t *address)
{
	struct table_scan *scan = pass->scan;
	struct user_page page;
	struct error *error = look_up(pass, mapping, *address, &page);
	if (!error && !has_place(&page))
		TRY(lengthen(pass, mapping, *address, &page));
	table_set(scan, COLUMN_PID, (uint64_t)pass->task->pid);
	table_set_text(scan, COLUMN_COMM, pass->task->comm);
	table_set(scan, COLUMN_TASK, pass->task->address);
	table_set(scan, COLUMN_VMA, mapping->vma);
	table_set(scan, COLUMN_ADDRESS_OF, *address);
	table_set(scan, COLUMN_SIZE, page.size);
	if (error)
		TRY(table_set_error(scan, COLUMN_STATE, error));
	else
		set_place(scan, &page, user_space_records(pass->space));
	if (pass->unnamed)
		TRY(table_set_error(scan, COLUMN_PATH, error_copy(pass->unnamed)));
	else
		table_set_text(scan, COLUMN_PATH, pass->path);
	*address += page.size;
	return table_emit(scan);
}

static struct error *visit_runs(struct pass *pass, const struct user_mapping *mapping)
{
	for (uint64_t address = mapping->start; address < mapping->end;) {
		if (!pass->budget)
			return error_create(ERROR_FORMAT,
					    "more pages than are looked at of a process: "
					    "what follows 0x%" PRIx64 ", in mapping 0x%" PRIx64
					    ", is not shown",
					    address, mapping->vma);
		TRY(emit(pass, mapping, &address));
	}
	return NULL;
}

static struct error *visit_mapping(struct pass *pass, const struct user_mapping *mapping)
{
	struct object vma;
	pass->path[0] = 0;
	TRY(object_at(pass->scan->target, "struct vm_area_struct", mapping->vma, &vma));
	if (table_wants(pass->scan, COLUMN_PATH))
		pass->unnamed = mapping_name(&pass->mm, &vma, pass->path, sizeof(pass->path));
	struct error *error = visit_runs(pass, mapping);
	error_free(pass->unnamed);
	pass->unnamed = NULL;
	return error;
}

static struct error *visit_mappings(struct pass *pass)
{
	const struct user_mapping *mappings;
	const struct error *problem;
	size_t count;
	TRY(user_space_mappings(pass->space, &mappings, &count, &problem));
	for (size_t i = 0; i < count; i++)
		TRY(visit_mapping(pass, &mappings[i]));
	return problem ? table_broken(pass->scan, error_copy(problem)) : NULL;
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct pass pass = { .scan = scan, .task = task };
	struct object object;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	TRY(object_follow(&object, "mm", &pass.mm));
	/* Kernel threads have none. */
	if (!pass.mm.address)
		return NULL;
	const struct vmcore_facts *facts = scan->target->facts;
	if (facts->page_size)
		pass.budget = facts->max_physical / facts->page_size;
	pass.budget = pass.budget < LOOKUPS_MAX / 8 ? pass.budget * 4 + LOOKUPS_MORE : LOOKUPS_MAX;
	TRY(user_space_open(scan->target, pass.mm.address, &pass.space));
	struct error *error = visit_mappings(&pass);
	user_space_close(pass.space);
	return error;
}

static const char *const examples[] = {
	"userpages -o address,size,state,physical -n 5",
	"sql SELECT state, sum(size) AS bytes FROM userpages GROUP BY state", NULL
};

const struct table table_userpages = {
	.name = "userpages",
	.summary = "pages of processes",
	.description = "A row is a run of a mapping of which the same is true: a page that is in "
		       "memory or in swap, or as many that were never touched. Threads share what "
		       "their leader has.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "mm",
	.item = COLUMN_PAGE,
};
