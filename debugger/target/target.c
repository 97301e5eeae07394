// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Opening a target: each step needs some of the ones before it, and each may fail on its
 * own. Only a file that is no dump, or one whose kernel memory cannot be found at all, ends it.
 */
#include "debugger/target/attached.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/btf_search.h"
#include "debugger/target/live.h"
#include "debugger/target/members.h"
#include "debugger/target/module_index.h"
#include "debugger/target/object.h"
#include "debugger/target/vmcoreinfo_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No kernel's BTF came near this (4 to 8 MiB); a larger one is a damaged pair of symbols. */
#define BTF_SIZE_LIMIT (64u << 20)

/* A list of modules can be damaged in as many places as it has nodes. */
#define PROBLEMS_MAX 100

/* Of makedumpfile's -d: all that it can leave out. */
#define DUMP_LEVEL_MOST 31

static const char no_note_advice[] =
	"that is as good; --vmcoreinfo FILE takes another one, should this one be wrong";
static const char symbols_advice[] =
	"the log and memory (`log`, `rd ADDRESS`) need none; stacks, tasks and names do: is there "
	"another copy of the dump, or one that was filtered less?";
static const char only_types_advice[] =
	"the log, memory, types and casts (`log`, `rd ADDRESS`, `struct`, `print *(struct NAME "
	"*)ADDRESS`) need none, nor do the names that VMCOREINFO has (init_uts_ns); stacks, tasks "
	"and other names do: is there another copy of the dump, or one that was filtered less?";
static const char types_advice[] =
	"symbols, memory and the log (`sym`, `rd`, `dis`, `log`) need none; --btf FILE brings the "
	"types: /sys/kernel/btf/vmlinux of a machine that runs this kernel, or its vmlinux";
static const char incomplete_advice[] =
	"what is there can be read. Was a copy cut short, or is a file of a split dump missing? If "
	"not, its disk may have been full: more room for dumps helps, or makedumpfile -d 31";
static const char filtered_advice[] =
	"what is there can be read. Was a copy cut short, or is a file of a split dump missing? If "
	"not, its disk may have been full: only more room for dumps helps, this one was filtered";
static const char filter_advice[] =
	"the rest can be read; its maker left these pages out. A makedumpfile that is older than "
	"the "
	"kernel leaves out what it should keep (1.7.6 knows Linux 6.12): use a newer one, or -d 1";

const char *target_advice(const struct target *target, enum error_kind kind)
{
	if (kind == ERROR_TRUNCATED)
		return target->facts->dump_level == DUMP_LEVEL_MOST ? filtered_advice
								    : incomplete_advice;
	return kind == ERROR_EXCLUDED && target->facts->dump_level > 0 ? filter_advice : NULL;
}

const char *target_error_advice(const struct target *target, const struct error *error)
{
	return error->advice ?: target_advice(target, error->kind);
}

void target_add_problem(struct target *target, struct error *error)
{
	target_add_missing(target, PART_NONE, error);
}

void target_add_missing(struct target *target, enum target_part part, struct error *error)
{
	if (!error)
		return;
	struct target_problem **link = &target->problems;
	size_t count = 0;
	for (; *link; link = &(*link)->next, count++) {
		if (error_is_equal((*link)->error, error)) {
			(*link)->parts |= 1u << part;
			error_free(error);
			return;
		}
	}
	if (part == PART_NONE && count >= PROBLEMS_MAX) {
		error_free(error);
		if (count > PROBLEMS_MAX)
			return;
		error = error_create(ERROR_OTHER, "there are more problems than these %d",
				     PROBLEMS_MAX);
	}
	*link = calloc(1, sizeof(**link));
	if (*link) {
		**link = (struct target_problem){ .error = error, .parts = 1u << part };
		return;
	}
	error_free(error);
	target->parts_without_problem |= 1u << part;
}

/* --- the steps ----------------------------------------------------------------- */

static struct error *open_vmcoreinfo(struct target *target)
{
	target->vmcoreinfo = vmcore_vmcoreinfo(target->vmcore);
	if (!target->vmcoreinfo) {
		struct error *error = vmcore_search_vmcoreinfo(target->vmcore);
		if (error)
			return error_prefix(error, "the dump has no VMCOREINFO note, which "
						   "--vmcoreinfo FILE can bring");
		target->vmcoreinfo = vmcore_vmcoreinfo(target->vmcore);
		error = error_create(ERROR_NOT_FOUND,
				     "the dump has no VMCOREINFO note; using the text found in "
				     "its memory");
		target_add_problem(target, error_advise(error, no_note_advice));
	}
	const char *release = vmcoreinfo_get(target->vmcoreinfo, "OSRELEASE");
	snprintf(target->release, sizeof(target->release), "%s", release ? release : "");
	return NULL;
}

/* Asked first: of no use is a VMCOREINFO to what cannot be read with it. */
static struct error *open_arch(struct target *target)
{
	const char *machine = target->facts->machine;
	target->arch = arch_find(machine);
	if (target->arch || !*machine)
		return NULL;
	return error_create(ERROR_UNSUPPORTED,
			    "the dump is of machine type %s, which is not supported yet: this "
			    "btfcrash reads x86_64 only",
			    machine);
}

static struct error *open_memory(struct target *target)
{
	if (!target->arch)
		TRY(open_arch(target));
	if (!target->arch)
		return error_create(ERROR_UNSUPPORTED,
				    "neither the dump's headers nor its VMCOREINFO say of which "
				    "machine it is");
	struct error *error = target->arch->translator_create(target->physical, target->vmcoreinfo,
							      &target->translator);
	if (!error)
		error = virtual_memory_create(target->physical, target->translator,
					      &target->memory);
	if (!error && target_is_live(target))
		virtual_memory_set_live(target->memory, target->vmcore);
	return error_prefix(error, "kernel memory cannot be translated");
}

static struct error *open_symbols(struct target *target)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{ "SYMBOL(kallsyms_num_syms)", offsetof(struct kallsyms_tables, num_syms) },
		{ "SYMBOL(kallsyms_names)", offsetof(struct kallsyms_tables, names) },
		{ "SYMBOL(kallsyms_token_table)", offsetof(struct kallsyms_tables, token_table) },
		{ "SYMBOL(kallsyms_token_index)", offsetof(struct kallsyms_tables, token_index) },
		{ "SYMBOL(kallsyms_offsets)", offsetof(struct kallsyms_tables, offsets) },
		{ "SYMBOL(kallsyms_addresses)", offsetof(struct kallsyms_tables, addresses) },
		{ "SYMBOL(kallsyms_relative_base)",
		  offsetof(struct kallsyms_tables, relative_base) },
		{ "SYMBOL(_stext)", offsetof(struct kallsyms_tables, stext) },
	};
	struct kallsyms_tables tables = { 0 };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t value;
		if (vmcoreinfo_hex(target->vmcoreinfo, keys[i].key, &value))
			memcpy((char *)&tables + keys[i].offset, &value, sizeof(value));
	}
	struct error *error = kallsyms_load(target->symbols, target->memory, &tables);
	if (!error && symtab_warning(target->symbols))
		target_add_problem(target, error_create(ERROR_FORMAT, "%s",
							symtab_warning(target->symbols)));
	return error_prefix(error, "no symbols");
}

/* Finds it by its symbols or, where symbols are missing, by searching for its header. */
static struct error *find_btf(struct target *target, uint64_t *ret_start, uint64_t *ret_size)
{
	uint64_t stop, stext;
	if (symtab_address(target->symbols, "__start_BTF", ret_start) &&
	    symtab_address(target->symbols, "__stop_BTF", &stop) && stop > *ret_start) {
		*ret_size = stop - *ret_start;
		return NULL;
	}
	/* The table may be one of functions only, which has no __start_BTF up to 6.9. */
	bool has_all = symtab_address(target->symbols, "init_task", &stop) &&
		       !symtab_warning(target->symbols);
	if (has_all || !vmcoreinfo_hex(target->vmcoreinfo, "SYMBOL(_stext)", &stext))
		return error_create(ERROR_NOT_FOUND, "the kernel has no __start_BTF (built without "
						     "CONFIG_DEBUG_INFO_BTF?)");
	struct error *error = btf_search(target->memory, stext, ret_start, ret_size);
	if (!error)
		target_add_problem(target, error_create(ERROR_NOT_FOUND,
							"__start_BTF is not known; using the BTF "
							"found at 0x%" PRIx64,
							*ret_start));
	return error;
}

static struct error *open_btf_bytes(struct target *target)
{
	return btf_open(target->btf_data, target->btf_size, NULL, "vmlinux", &target->btf);
}

static struct error *open_memory_btf(struct target *target)
{
	uint64_t start = 0, size = 0;
	TRY(find_btf(target, &start, &size));
	struct error *error = memory_borrow(target->memory, start, size, BTF_SIZE_LIMIT,
					    &target->btf_data, &target->btf_copy);
	target->btf_size = (size_t)size;
	if (!error)
		error = open_btf_bytes(target);
	return error_prefix(error, "the BTF at 0x%" PRIx64, start);
}

/* The same bytes of a running kernel, from itself where it gives them. */
static struct error *open_live_btf(struct target *target)
{
	target->live_lack =
		live_btf(target, "vmlinux", BTF_SIZE_LIMIT, &target->btf_copy, &target->btf_size);
	if (target->live_lack)
		return open_memory_btf(target);
	target->btf_data = target->btf_copy;
	return open_btf_bytes(target);
}

static struct error *open_btf(struct target *target)
{
	struct error *error = target_is_live(target) ? open_live_btf(target)
						     : open_memory_btf(target);
	if (!error && btf_warning(target->btf))
		target_add_problem(target, error_create(ERROR_FORMAT, "the kernel's BTF: %s",
							btf_warning(target->btf)));
	return error_prefix(error, "no types");
}

static struct error *open_parts(struct target *target, const char *vmcoreinfo_path)
{
	TRY(open_arch(target));
	TRY(open_vmcoreinfo(target));
	TRY(open_memory(target));
	if (vmcoreinfo_path)
		TRY(error_prefix(vmcoreinfo_check_place(target), "%s", vmcoreinfo_path));
	struct error *error = open_symbols(target);
	if (vmcoreinfo_path) {
		struct error *other = vmcoreinfo_check_kernel(target);
		if (other) {
			error_free(error);
			return error_prefix(other, "%s", vmcoreinfo_path);
		}
	}
	if (error) {
		struct error *types = open_btf(target);
		const char *advice = types ? symbols_advice : only_types_advice;
		target_add_missing(target, PART_SYMBOLS, error_advise(error, advice));
		target_add_missing(target, PART_TYPES, types);
		return NULL;
	}
	vmcoreinfo_doubt(target, vmcoreinfo_check_banner(target));
	target_add_missing(target, PART_TYPES, error_advise(open_btf(target), types_advice));
	return NULL;
}

/*
 * A page of equal words compresses to a hundredth and less, but not all pages of a dump are such;
 * what a header promises without any bytes of the file holds nothing that could be walked through.
 */
#define COMPRESSION_MAX 64
#define LIVE_PART	8 /* of its memory is enough on a machine that is at work */

uint64_t target_memory_size(const struct target *target)
{
	const struct vmcore_facts *facts = target->facts;
	if (!facts)
		return 0;
	uint64_t held, memory = facts->memory_size;
	if (facts->is_live)
		return memory;
	if (__builtin_mul_overflow(facts->file_size, (uint64_t)COMPRESSION_MAX, &held))
		held = UINT64_MAX;
	return memory && memory < held ? memory : held;
}

struct error *target_open(const char *const *paths, size_t count,
			  const struct target_options *options, struct target **ret)
{
	struct target *target = calloc(1, sizeof(*target));
	if (!target)
		return error_no_memory();
	struct vmcore_options vmcore_options = { .vmcoreinfo_path = options->vmcoreinfo_path,
						 .helper = options->helper,
						 .progress = options->progress,
						 .raw = options->raw };
	target->helper = options->helper;
	struct error *error = vmcore_open(paths, count, &vmcore_options, &target->vmcore);
	if (!error)
		error = symtab_create(&target->symbols);
	if (!error)
		error = members_create(&target->members);
	if (!error) {
		target->physical = vmcore_physical(target->vmcore);
		target->facts = vmcore_facts(target->vmcore);
		budget_init(&target->kept,
			    target_memory_size(target) / (target->facts->is_live ? LIVE_PART : 1));
		if (*target->facts->warning)
			target_add_problem(target,
					   error_advise(error_create(ERROR_TRUNCATED, "%s",
								     target->facts->warning),
							incomplete_advice));
		error = error_prefix(open_parts(target, options->vmcoreinfo_path), "%s", paths[0]);
	}
	if (error) {
		target_close(target);
		return error;
	}
	*ret = target;
	return NULL;
}

void target_close(struct target *target)
{
	if (!target)
		return;
	target_detach_all(target);
	if (target->btf_is_of_file)
		target->btf = NULL;
	btf_files_destroy(target);
	for (size_t i = 0; i < target->module_count; i++) {
		if (!target->modules[i].btf_is_of_file)
			btf_close(target->modules[i].btf);
		free(target->modules[i].btf_data);
		error_free(target->modules[i].problem);
	}
	module_index_destroy(target->module_index);
	free(target->modules);
	free(target->generated);
	free(target->cpus);
	members_destroy(target->members);
	btf_close(target->btf);
	free(target->btf_copy);
	error_free(target->live_lack);
	symtab_destroy(target->symbols);
	virtual_memory_destroy(target->memory);
	free(target->translator);
	vmcore_close(target->vmcore);
	while (target->problems) {
		struct target_problem *problem = target->problems;
		target->problems = problem->next;
		error_free(problem->error);
		free(problem);
	}
	free(target);
}

void target_refresh(struct target *target)
{
	if (!target_is_live(target))
		return;
	vmcore_refresh(target->vmcore);
	free(target->cpus);
	target->cpus = NULL;
	target->cpu_count = 0;
	target->cpus_loaded = false;
}

/* --- what is missing, and why ------------------------------------------------------ */

struct error *target_part_problem(const struct target *target, enum target_part part)
{
	for (const struct target_problem *p = target->problems; p; p = p->next)
		if (p->parts & 1u << part)
			return error_copy(p->error);
	return target->parts_without_problem & 1u << part ? error_no_memory() : NULL;
}

static struct error *need(const struct target *target, bool there, enum target_part part,
			  const char *what)
{
	if (there)
		return NULL;
	return target_part_problem(target, part)
		       ?: error_create(ERROR_NOT_FOUND, "no %s in this dump", what);
}

struct error *target_need_memory(const struct target *target)
{
	/* Where it cannot be had, no target opens: no problem of one says why. */
	return target->memory ? NULL
			      : error_create(ERROR_NOT_FOUND, "no kernel memory in this dump");
}

struct error *target_need_symbols(const struct target *target)
{
	return need(target, symtab_count(target->symbols), PART_SYMBOLS, "symbols");
}

struct error *target_need_btf(const struct target *target)
{
	return need(target, target->btf, PART_TYPES, "types");
}

struct error *target_need_cpus(struct target *target)
{
	const struct cpu *cpus;
	return need(target, target_cpus(target, &cpus), PART_CPUS, "CPUs");
}
