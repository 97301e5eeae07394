// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/panic_cpu.h"

#include "base/array.h"
#include "debugger/kernel/printk.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 4

static const char kept_key;

struct panic_cpu {
	bool is_known;
	uint32_t number;
};

struct witness {
	const char *name;
	bool is_read, says_so;
	uint32_t number;
};

/* The counter of an atomic_t, or a plain int: both -1 (PANIC_CPU_INVALID) until set. */
static void ask_variable(struct target *target, struct witness *witness)
{
	uint64_t address;
	uint32_t value;
	if (!target->memory || !symtab_address(target->symbols, witness->name, &address))
		return;
	struct error *error = memory_read_u32(target->memory, address, &value);
	witness->is_read = !error;
	witness->says_so = !error && target_cpu(target, value);
	witness->number = error ? 0 : value;
	error_free(error);
}

static bool runs_pid(struct target *target, const struct cpu *cpu, uint32_t pid)
{
	struct object task;
	uint64_t value = 0;
	if (!cpu->current_task)
		return false;
	struct error *error = object_at(target, "struct task_struct", cpu->current_task, &task);
	if (!error)
		error = object_u64(&task, "pid", &value);
	bool ret = !error && (uint32_t)value == pid;
	error_free(error);
	return ret;
}

/* A task that one CPU alone runs, or a CPU that was not in a task. */
static void ask_log(struct target *target, struct witness *witness)
{
	const struct cpu *cpus;
	uint32_t caller;
	if (!printk_panic_caller(target, &caller))
		return;
	size_t count = target_cpus(target, &cpus), found = 0;
	for (size_t i = 0; i < count; i++) {
		bool is_it = caller & PRINTK_CALLER_CPU
				     ? cpus[i].number == (caller & ~PRINTK_CALLER_CPU)
				     : runs_pid(target, &cpus[i], caller);
		if (!is_it)
			continue;
		witness->number = cpus[i].number;
		found++;
	}
	witness->says_so = found == 1;
}

/* Whether a word of the stack leads into one of the functions that only who panics calls. */
static bool has_panic(const struct symbol *functions, size_t count, uint64_t word)
{
	for (size_t i = 0; i < count; i++)
		if (word > functions[i].address && word - functions[i].address < functions[i].size)
			return true;
	return false;
}

static size_t find_functions(struct target *target, struct symbol *ret)
{
	static const char *const names[FUNCTIONS] = { "panic", "vpanic", "crash_kexec",
						      "__crash_kexec" };
	size_t count = 0;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		uint64_t cursor = 0;
		count += symtab_find_own(target->symbols, NULL, names[i], &cursor, &ret[count]);
	}
	return count;
}

static bool panics(struct target *target, const struct cpu *cpu, const struct symbol *functions,
		   size_t count)
{
	struct object task;
	uint64_t stack = 0, word, sp = cpu->registers.values[target->arch->sp];
	uint64_t size = target_stack_size(target), step = target->memory->word_size;
	if (!cpu->current_task)
		return false;
	struct error *error = object_at(target, "struct task_struct", cpu->current_task, &task);
	if (!error)
		error = object_u64(&task, "stack", &stack);
	uint64_t from = cpu->has_registers && sp > stack && sp - stack < size ? sp - stack : 0;
	bool ret = false;
	for (uint64_t at = from; !error && !ret && at + step <= size; at += step) {
		error = memory_read_word(target->memory, stack + at, &word);
		ret = !error && has_panic(functions, count, word);
	}
	error_free(error);
	return ret;
}

/* The task of one CPU alone has such a word on its stack, which may be an old one. */
static void ask_stacks(struct target *target, struct witness *witness)
{
	struct symbol functions[FUNCTIONS];
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus), found = 0;
	size_t function_count = find_functions(target, functions);
	for (size_t i = 0; i < count; i++) {
		if (!panics(target, &cpus[i], functions, function_count))
			continue;
		witness->number = cpus[i].number;
		found++;
	}
	witness->says_so = found == 1;
}

static size_t count_for(const struct witness *witnesses, size_t count, uint32_t number)
{
	size_t ret = 0;
	for (size_t i = 0; i < count; i++)
		ret += witnesses[i].says_so && witnesses[i].number == number;
	return ret;
}

/*
 * crashing_cpu is set for kexec alone, and a panic is in no log that was written over; whoever
 * panics writes panic_cpu before the line in the log.
 */
static void say_contradiction(struct target *target, const struct witness *witnesses, size_t count,
			      const struct witness *best)
{
	for (size_t i = 0; i < count; i++) {
		const struct witness *other = &witnesses[i];
		char what[32] = "that no CPU";
		if (other->says_so && other->number == best->number)
			continue;
		if (other->says_so)
			snprintf(what, sizeof(what), "that CPU %" PRIu32, other->number);
		else if (i || !other->is_read)
			continue;
		target_add_problem(target,
				   error_create(ERROR_FORMAT,
						"%s says %s panicked, and %s that CPU "
						"%" PRIu32 " did: the latter is taken",
						other->name, what, best->name, best->number));
	}
}

static const struct witness *best_of(const struct witness *witnesses, size_t count)
{
	const struct witness *ret = NULL;
	size_t most = 0;
	for (size_t i = 0; i < count; i++) {
		size_t votes =
			witnesses[i].says_so ? count_for(witnesses, count, witnesses[i].number) : 0;
		if (votes > most) {
			most = votes;
			ret = &witnesses[i];
		}
	}
	return ret;
}

static void find(struct target *target, struct panic_cpu *ret)
{
	struct witness witnesses[] = { { .name = "panic_cpu" },
				       { .name = "crashing_cpu" },
				       { .name = "the log" },
				       { .name = "the stacks" } };
	const size_t count = ARRAY_COUNT(witnesses);
	ask_variable(target, &witnesses[0]);
	ask_variable(target, &witnesses[1]);
	ask_log(target, &witnesses[2]);
	const struct witness *best = best_of(witnesses, count);
	if (!best)
		return;
	/* It takes long, so only where the others do not agree. */
	for (size_t i = 0; i < count; i++)
		if (witnesses[i].says_so && witnesses[i].number != best->number) {
			ask_stacks(target, &witnesses[3]);
			break;
		}
	best = best_of(witnesses, count);
	*ret = (struct panic_cpu){ .is_known = true, .number = best->number };
	say_contradiction(target, witnesses, count, best);
}

bool panic_cpu_find(struct target *target, uint32_t *ret)
{
	struct panic_cpu *kept = target_attached(target, &kept_key), found = { 0 };
	if (!kept) {
		find(target, &found);
		kept = malloc(sizeof(*kept));
		if (kept)
			*kept = found;
		if (kept)
			error_free(target_attach(target, &kept_key, kept, free));
	} else {
		found = *kept;
	}
	if (found.is_known)
		*ret = found.number;
	return found.is_known;
}
