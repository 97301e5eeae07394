// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Structures of a real kernel with wrong words in them: modules, BPF programs and their lines,
 * tasks, stacks and their arguments, the log. The dump is $BTFCRASH_FUZZ_DUMP; without one there is
 * nothing to do.
 *
 * Input: four bytes a change: which of the reads that the questions make of an unchanged dump (two
 * bytes), what is put there, and a number. So inputs name structures by the order in which they are
 * asked for, not by address, and mean much the same in another dump.
 */
#include "tests/fuzz/targets.h"

#include "base/array.h"
#include "base/hash.h"
#include "debugger/arguments/arguments.h"
#include "debugger/kernel/bpf.h"
#include "debugger/kernel/printk.h"
#include "debugger/kernel/walk.h"
#include "debugger/unwind/unwind.h"
#include <string.h>

#define READS_MAX   65536
#define CHANGES_MAX 64

struct change {
	uint64_t address;
	uint8_t bytes[8];
};

/* The kernel's memory with changes, which remembers what was read of it. */
struct changed_memory {
	struct memory memory;
	struct memory *below;
	uint64_t *reads; /* NULL: not remembered any more */
	size_t read_count;
	struct change changes[CHANGES_MAX];
	size_t change_count;
};

static struct error *changed_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct changed_memory *changed = (struct changed_memory *)memory;
	if (changed->reads && changed->read_count < READS_MAX)
		changed->reads[changed->read_count++] = address;
	struct error *error = changed->below->read(changed->below, address, buffer, size);
	for (size_t i = 0; !error && i < changed->change_count; i++)
		for (size_t at = 0; at < 8; at++) {
			uint64_t offset = changed->changes[i].address + at - address;
			if (offset < size)
				((uint8_t *)buffer)[offset] = changed->changes[i].bytes[at];
		}
	return error;
}

static void ask_bpf(struct target *target)
{
	for (size_t i = 0; i < target->generated_count; i++) {
		const struct generated_code *code = &target->generated[i];
		struct bpf_function function;
		struct bpf_line line;
		char text[128];
		EXPECT(code->start <= code->end);
		target_generated_at(target, code->start);
		target_describe(target, code->start, text, sizeof(text));
		if (code->kind != GENERATED_BPF_PROGRAM)
			continue;
		fuzz_done(bpf_function_read(target, code->owner, &function));
		for (uint64_t at = 0; at < 64; at += 21)
			fuzz_done(
				bpf_line_at(target, code->owner, code->start + at, at & 1, &line));
	}
}

static struct error *ask_task(void *context, const struct task *task)
{
	struct target *target = context;
	struct stack_trace trace;
	struct frame_arguments *arguments = NULL;
	EXPECT(memchr(task->comm, 0, sizeof(task->comm)));
	if (task->pid % 16)
		return NULL;
	struct error *error = unwind_task(target, task, &trace);
	if (!error) {
		if (task->pid < 64)
			fuzz_done(arguments_of(target, task, &trace, &arguments));
		free(arguments);
		stack_trace_deinit(&trace);
	}
	fuzz_done(error);
	return NULL;
}

static struct error *ask_record(void *context, const struct printk_record *record)
{
	uint8_t *sum = context;
	for (size_t i = 0; i < record->size; i++)
		*sum ^= (uint8_t)record->text[i];
	return NULL;
}

static void ask(struct target *target)
{
	const struct cpu *cpus;
	const struct module *modules;
	struct error *problem = NULL;
	uint64_t lost;
	uint8_t sum = 0;
	target_cpus(target, &cpus);
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++)
		EXPECT(memchr(modules[i].name, 0, sizeof(modules[i].name)));
	if (count)
		target_module_btf(target, &modules[count / 2]);
	ask_bpf(target);
	fuzz_done(task_for_each(target, ask_task, target, &problem));
	fuzz_done(problem);
	fuzz_done(printk_for_each(target, ask_record, &sum, &lost));
}

static struct target *open_changed(struct changed_memory *changed)
{
	const char *path = getenv("BTFCRASH_FUZZ_DUMP");
	struct target_options options = { 0 };
	struct target *target = NULL;
	if (!path)
		return NULL;
	struct error *error = target_open(&path, 1, &options, &target);
	EXPECT(!error && target->memory);
	changed->below = target->memory;
	changed->memory = *target->memory;
	changed->memory.read = changed_read;
	target->memory = &changed->memory;
	return target;
}

/* What the questions read of an unchanged dump, in order. */
static const struct changed_memory *unchanged(void)
{
	static struct changed_memory memory;
	if (memory.reads)
		return &memory;
	struct target *target = open_changed(&memory);
	if (!target)
		return NULL;
	memory.reads = calloc(READS_MAX, sizeof(*memory.reads));
	ask(target);
	target->memory = memory.below;
	target_close(target);
	EXPECT(memory.read_count > 100);
	return &memory;
}

/* The word that a change puts at an address. */
static uint64_t new_word(const struct changed_memory *known, uint8_t kind, uint64_t address,
			 uint8_t number)
{
	static const uint64_t words[] = { 0,	      1,	  0x7fffffff, 0x80000000,
					  UINT32_MAX, 1ull << 47, 1ull << 63, UINT64_MAX };
	switch (kind) {
	case 0:
		return words[number % ARRAY_COUNT(words)];
	case 1: /* a pointer to something else that was asked for */
		return known->reads[(size_t)number * 251 % known->read_count];
	case 2: /* to itself, or beside */
		return address + (uint64_t)(int8_t)number;
	case 3:
		return number;
	default:
		return 0xffff888000000000u + ((uint64_t)number << 20);
	}
}

void fuzz_structures(const uint8_t *data, size_t size)
{
	const struct changed_memory *known = unchanged();
	struct fuzz_input input = { data, size };
	struct changed_memory changed = { 0 };
	if (!known)
		return;
	struct target *target = open_changed(&changed);
	while (input.size && changed.change_count < CHANGES_MAX) {
		struct change *change = &changed.changes[changed.change_count++];
		change->address = known->reads[fuzz_take(&input, 2) % known->read_count];
		uint8_t kind = (uint8_t)fuzz_take(&input, 1);
		uint64_t word = new_word(known, kind % 5, change->address + (kind / 5 & ~7u),
					 (uint8_t)fuzz_take(&input, 1));
		change->address += kind / 5 & ~7u;
		memcpy(change->bytes, &word, sizeof(word));
	}
	ask(target);
	target->memory = changed.below;
	target_close(target);
}
