// SPDX-License-Identifier: GPL-3.0-or-later
/* Where an address lies in physical memory, entry by entry; and back. */
#include "base/array.h"
#include "debugger/command/command.h"
#include "debugger/command/task_space.h"
#include "debugger/eval/flag_names.h"
#include "debugger/kernel/mappings.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/user_space.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct command command_vtop;

/* --- pieces ----------------------------------------------------------------------------------- */

static void write_flags(struct session *session, uint64_t entry)
{
	const struct arch *arch = session->target->arch;
	struct out *out = session->out;
	out_array_begin(out, "flags");
	for (size_t i = 0; i < arch->page_flag_count; i++) {
		if (!(entry >> i & 1) || !arch->page_flags[i])
			continue;
		out_text(out, " ");
		out_string(out, NULL, arch->page_flags[i]);
	}
	out_array_end(out);
}

static void write_steps(struct session *session, const struct page_walk *walk)
{
	struct out *out = session->out;
	out_array_begin(out, "steps");
	for (size_t i = 0; i < walk->count; i++) {
		const struct page_step *step = &walk->steps[i];
		out_object_begin(out, NULL);
		out_text(out, "  ");
		out_string(out, "level", step->name);
		out_text(out, "  ");
		out_address(out, "at", step->physical);
		out_text(out, "  ");
		out_address(out, "entry", step->entry);
		/* Of what is not present the bits mean something else. */
		bool is_present = i + 1 < walk->count || walk->state == PAGE_PRESENT;
		if (is_present)
			write_flags(session, step->entry);
		out_text(out, "\n");
		out_object_end(out);
	}
	out_array_end(out);
}

static struct error *write_page_flags(struct session *session, const struct object *page)
{
	const char *names[FLAG_NAMES_MAX];
	uint64_t flags, rest;
	TRY(object_u64(page, page_flags_path(page), &flags));
	size_t count = flag_names_split(session->target, flag_names_of_member(page->type, "flags"),
					flags, names, &rest);
	out_address_as(session->out, "flags", flags, "");
	out_array_begin(session->out, "flag_names");
	for (size_t i = 0; i < count; i++) {
		out_text(session->out, "%s", i ? "|" : "");
		out_string(session->out, NULL, names[i]);
	}
	out_array_end(session->out);
	return NULL;
}

/* Of memory: a device's has no struct page. */
static struct error *write_page(struct session *session, uint64_t physical)
{
	struct page_records records;
	struct object page;
	struct out *out = session->out;
	if (physical >= session->target->facts->max_physical)
		return NULL;
	TRY(error_only_fatal(page_records_init(session->target, &records)));
	if (!records.record_size || !records.base)
		return NULL;
	TRY(object_at(session->target, "struct page", page_record_of(&records, physical), &page));
	out_item_named(out, page.address, "struct page");
	out_object_begin(out, "page");
	out_text(out, "  page ");
	out_address(out, "address", page.address);
	out_text(out, "  ");
	struct error *error = write_page_flags(session, &page);
	if (error)
		out_missing(out, "problem", error);
	out_text(out, "\n");
	out_object_end(out);
	return error_only_fatal(error);
}

static void write_head(struct out *out, uint64_t address, const char *kind, bool is_there,
		       uint64_t physical)
{
	out_address(out, "address", address);
	out_text(out, "  ");
	if (is_there)
		out_address(out, "physical", physical);
	else
		out_null_as(out, "physical", "               -");
	out_text(out, "  ");
	out_string(out, "kind", kind);
}

static void write_size(struct out *out, uint64_t size)
{
	out_text(out, ", a page of ");
	char text[32];
	bool is_small = size < (1u << 20);
	snprintf(text, sizeof(text), "%" PRIu64 " %s", is_small ? size >> 10 : size >> 20,
		 is_small ? "KiB" : "MiB");
	out_wide_as(out, "page_size", size, text);
}

/* --- a process's ---------------------------------------------------------------------------- */

static struct error *write_mapping(struct session *session, uint64_t mm_address, uint64_t address)
{
	struct out *out = session->out;
	struct object mm, vma;
	char path[PATH_SIZE];
	TRY(object_at(session->target, "struct vm_area_struct", address, &vma));
	TRY(object_at(session->target, "struct mm_struct", mm_address, &mm));
	out_text(out, "  vma  ");
	out_address(out, "vma", address);
	out_text(out, "  ");
	struct error *error = mapping_name(&mm, &vma, path, sizeof(path));
	if (error)
		out_missing(out, "path", error);
	else
		out_string(out, "path", path);
	out_text(out, "\n");
	return error_only_fatal(error);
}

static struct error *vma_of(struct user_space *space, uint64_t address, uint64_t *ret)
{
	const struct user_mapping *mappings;
	const struct error *problem;
	size_t count;
	*ret = 0;
	TRY(user_space_mappings(space, &mappings, &count, &problem));
	size_t first = array_bound(count, i, mappings[i].end <= address);
	if (first < count && mappings[first].start <= address)
		*ret = mappings[first].vma;
	return NULL;
}

static struct error *write_user(struct session *session, struct user_space *space, uint64_t mm,
				uint64_t address)
{
	struct out *out = session->out;
	struct user_page page;
	uint64_t vma;
	TRY(user_space_page(space, address, &page));
	TRY(vma_of(space, address, &vma));
	bool is_there = user_page_has_bytes(&page) && page.kind != USER_PAGE_FRESH;
	uint64_t physical = page.physical + (address - page.start);
	out_object_begin(out, NULL);
	write_head(out, address, user_page_kind_name(page.kind), is_there, physical);
	bool no_access = page.walk.state == PAGE_PROTECTED;
	out_bool_as(out, "no_access", no_access, no_access ? ", without access" : "");
	if (is_there)
		write_size(out, page.kind == USER_PAGE_CACHED ? page.size : page.walk.size);
	if (page.kind == USER_PAGE_SWAPPED || page.kind == USER_PAGE_SPECIAL) {
		out_text(out, ", type ");
		out_u64(out, "swap_type", page.swap_type);
		out_text(out, ", offset ");
		out_wide(out, "swap_offset", page.swap_offset);
	}
	out_text(out, "\n");
	write_steps(session, &page.walk);
	struct error *error = vma ? write_mapping(session, mm, vma) : NULL;
	if (!error && is_there)
		error = write_page(session, physical);
	out_object_end(out);
	return error;
}

/* --- the kernel's -------------------------------------------------------------------------- */

static struct error *write_kernel(struct session *session, uint64_t address)
{
	struct target *target = session->target;
	struct out *out = session->out;
	struct page_walk walk;
	if (!target->arch->page_walk || !target->translator)
		return error_create(ERROR_UNSUPPORTED, "page tables are not read on %s",
				    target->arch->name);
	TRY(target->arch->page_walk(target->translator, PAGE_ROOT_KERNEL, address, &walk));
	bool is_there = walk.state == PAGE_PRESENT;
	out_object_begin(out, NULL);
	write_head(out, address, is_there ? "present" : "unmapped", is_there, walk.physical);
	if (is_there)
		write_size(out, walk.size);
	out_text(out, "\n");
	write_steps(session, &walk);
	struct error *error = is_there ? write_page(session, walk.physical) : NULL;
	out_object_end(out);
	return error;
}

/* --- the commands ---------------------------------------------------------------------------- */

enum { OPTION_USER, OPTION_KERNEL, OPTION_TASK };

static struct error *write_each(struct session *session, const struct arguments *arguments,
				struct user_space *space)
{
	struct error *error = NULL;
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < arguments->operand_count && !error; i++) {
		uint64_t address;
		error = expression_address(&session->scope, arguments->operands[i], &address);
		bool is_user = arguments->options[OPTION_USER] || arguments->options[OPTION_TASK];
		if (!error)
			error = is_user ? write_user(session, space, user_space_mm(space), address)
					: write_kernel(session, address);
	}
	out_array_end(session->out);
	return error;
}

static struct error *vtop_run(struct session *session, const struct arguments *arguments)
{
	struct user_space *space = NULL;
	const char *task = arguments->options[OPTION_TASK];
	if (arguments->options[OPTION_KERNEL] && (arguments->options[OPTION_USER] || task))
		return command_usage_error(&command_vtop, "-k and -u are two memories");
	if (arguments->options[OPTION_USER] || task)
		TRY(task_space_open(session, task, &space));
	struct error *error = write_each(session, arguments, space);
	user_space_close(space);
	return error;
}

static const char *const examples[] = { "vtop init_task", "vtop -u -c 1 0x400000",
					"vtop init_task | print flags", NULL };

const struct command command_vtop = {
	.name = "vtop",
	.summary = "physical address of a virtual one, with its page tables' entries",
	.description =
		"Follows the page tables from the top: of each level the physical address of the "
		"entry, the entry and its flags; then the struct page with its flags by name. "
		"Without -u the tables are the kernel's.\n"
		"\n"
		"With -u ADDRESS is one of a process, the chosen task's or TASK's (-c). What is "
		"not "
		"in its tables may be in memory all the same: a page of the mapped file is cached, "
		"or else in file; untouched memory would be zeros; what is swapped has the number "
		"of the swap file and the page in it. special is memory of a device, a poisoned "
		"page, a marker. Behind a pipe, pages are $_, a struct page *.",
	.options = { [OPTION_USER] = { 'u', NULL, NULL, 0, "addresses of a process" },
		     [OPTION_KERNEL] = { 'k', NULL, NULL, 0,
					 "addresses of the kernel, as without" },
		     [OPTION_TASK] = { 'c', NULL, "TASK", OPERAND_TASK,
				       "of this task's process" } },
	.operands = { { .name = "ADDRESS", .kind = OPERAND_ADDRESS, .repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.per_task = true,
	.run = vtop_run,
};

static struct error *ptov_run(struct session *session, const struct arguments *arguments)
{
	struct target *target = session->target;
	struct out *out = session->out;
	uint64_t variable, base, physical;
	if (!symtab_address(target->symbols, "page_offset_base", &variable))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol page_offset_base");
	TRY(error_prefix(memory_read_word(target->memory, variable, &base), "page_offset_base"));
	out_array_begin(out, NULL);
	struct error *error = NULL;
	for (size_t i = 0; i < arguments->operand_count && !error; i++) {
		error = expression_address(&session->scope, arguments->operands[i], &physical);
		if (!error && physical >= target->facts->max_physical)
			error = error_create(ERROR_USAGE,
					     "0x%" PRIx64
					     " is behind the end of memory, 0x%" PRIx64,
					     physical, target->facts->max_physical);
		if (error)
			break;
		out_object_begin(out, NULL);
		out_address(out, "physical", physical);
		out_text(out, "  ");
		out_address(out, "address", base + physical);
		out_text(out, "\n");
		out_object_end(out);
	}
	out_array_end(out);
	return error;
}

static const char *const ptov_examples[] = { "ptov 0x100000", NULL };

const struct command command_ptov = {
	.name = "ptov",
	.summary = "the kernel's address of a physical one",
	.description = "Where the kernel has that memory in its direct map, which has all of it.",
	.operands = { { .name = "PHYSICAL", .kind = OPERAND_ADDRESS, .repeated = true } },
	.examples = ptov_examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS,
	.run = ptov_run,
};
