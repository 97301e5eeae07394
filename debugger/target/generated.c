// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Code that the kernel wrote at run time, as /proc/kallsyms lists it behind the modules: ftrace
 * trampolines (kernel/trace/ftrace.c: ftrace_ops_trampoline_list), BPF images (kernel/bpf/core.c:
 * bpf_kallsyms with programs, trampolines, dispatchers), pages of kprobe slots (kernel/kprobes.c:
 * kprobe_insn_cache). Kernels before 5.8 keep no such lists.
 */
#include "base/array.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GENERATED_LIMIT 1000000u
/* The largest: JITed programs of a million instructions; pages of trampolines. */
#define GENERATED_SIZE_LIMIT (64u << 20)
/* Slots of optimised and other kprobes lie in pages of 4 KiB. */
#define SLOT_PAGE_SIZE 4096

struct collector {
	struct target *target;
	const char *module;
	size_t capacity;
};

static struct error *add(struct collector *collector, const struct generated_code *code,
			 const char *name)
{
	struct target *target = collector->target;
	if (code->end <= code->start || code->end - code->start > GENERATED_SIZE_LIMIT)
		return error_create(ERROR_FORMAT, "%s: 0x%" PRIx64 " to 0x%" PRIx64, name,
				    code->start, code->end);
	if (target->generated_count == GENERATED_LIMIT)
		return error_create(ERROR_FORMAT, "more than %u", GENERATED_LIMIT);
	if (!array_reserve(&target->generated, &collector->capacity, target->generated_count + 1))
		return error_no_memory();
	target->generated[target->generated_count++] = *code;
	return symtab_add(target->symbols, collector->module, name, 't', code->start,
			  code->end - code->start);
}

/* One thing that is on a list. */
typedef struct error *adder(struct collector *collector, struct object *object);

static struct error *add_list(struct collector *collector, uint64_t head, const char *type,
			      const char *link, adder *add_one)
{
	struct list_walk walk;
	uint64_t node;
	list_walk_init(&walk, collector->target, head);
	for (;;) {
		struct object object;
		TRY(list_walk_next(&walk, &node));
		if (!node)
			return NULL;
		TRY(object_container(collector->target, type, link, node, &object));
		struct error *error = add_one(collector, &object);
		if (error && error->kind == ERROR_NO_MEMORY)
			return error;
		if (error)
			target_add_problem(collector->target,
					   error_prefix(error, "%s", collector->module));
	}
}

static struct error *add_trampoline(struct collector *collector, struct object *ops)
{
	struct generated_code code = { .kind = GENERATED_FTRACE, .owner = ops->address };
	uint64_t size;
	TRY(object_u64(ops, "trampoline", &code.start));
	TRY(object_u64(ops, "trampoline_size", &size));
	code.end = code.start + size;
	return add(collector, &code, "ftrace_trampoline");
}

static struct error *add_bpf(struct collector *collector, struct object *ksym)
{
	struct generated_code code = { .kind = GENERATED_BPF_IMAGE, .owner = ksym->address };
	char name[SYMBOL_NAME_SIZE];
	uint64_t is_program;
	TRY(object_u64(ksym, "start", &code.start));
	TRY(object_u64(ksym, "end", &code.end));
	TRY(object_string(ksym, "name", name, sizeof(name)));
	TRY(object_u64(ksym, "prog", &is_program));
	if (is_program) {
		struct object aux;
		TRY(object_container(collector->target, "struct bpf_prog_aux", "ksym",
				     ksym->address, &aux));
		code.kind = GENERATED_BPF_PROGRAM;
		code.owner = aux.address;
	}
	return add(collector, &code, name);
}

static struct error *add_slots(struct collector *collector, struct object *page)
{
	struct generated_code code = { .kind = GENERATED_KPROBE, .owner = page->address };
	struct object cache;
	char name[64] = "kprobe_insn_page";
	uint64_t text;
	TRY(object_u64(page, "insns", &code.start));
	TRY(object_follow(page, "cache", &cache));
	TRY(object_u64(&cache, "sym", &text));
	if (text) {
		size_t length;
		TRY(memory_read_string(collector->target->memory, text, name, sizeof(name),
				       &length));
	}
	code.end = code.start + SLOT_PAGE_SIZE;
	return add(collector, &code, name);
}

static struct error *add_kprobe_pages(struct collector *collector, const char *cache_name)
{
	struct object cache, pages;
	uint64_t address;
	if (!symtab_address(collector->target->symbols, cache_name, &address))
		return NULL;
	TRY(object_at(collector->target, "struct kprobe_insn_cache", address, &cache));
	TRY(object_member(&cache, "pages", &pages));
	return add_list(collector, pages.address, "struct kprobe_insn_page", "list", add_slots);
}

static struct error *add_named_list(struct collector *collector, const char *symbol,
				    const char *type, const char *link, adder *add_one)
{
	uint64_t head;
	if (!symtab_address(collector->target->symbols, symbol, &head))
		return NULL;
	return add_list(collector, head, type, link, add_one);
}

/* A list that the kernel lacks is no problem; a broken one is noted, the others still count. */
static void note(struct target *target, const char *what, struct error *error)
{
	if (error)
		target_add_problem(target, error_prefix(error, "%s", what));
}

void generated_load(struct target *target)
{
	struct collector collector = { .target = target, .module = "__builtin__ftrace" };
	note(target, "ftrace trampolines",
	     add_named_list(&collector, "ftrace_ops_trampoline_list", "struct ftrace_ops", "list",
			    add_trampoline));
	collector.module = "bpf";
	note(target, "BPF images",
	     add_named_list(&collector, "bpf_kallsyms", "struct bpf_ksym", "lnode", add_bpf));
	collector.module = "__builtin__kprobes";
	note(target, "kprobe slots", add_kprobe_pages(&collector, "kprobe_insn_slots"));
	note(target, "kprobe slots", add_kprobe_pages(&collector, "kprobe_optinsn_slots"));
}

const struct generated_code *target_generated_at(struct target *target, uint64_t address)
{
	const struct module *modules;
	target_modules(target, &modules);
	for (size_t i = 0; i < target->generated_count; i++)
		if (address >= target->generated[i].start && address < target->generated[i].end)
			return &target->generated[i];
	return NULL;
}
