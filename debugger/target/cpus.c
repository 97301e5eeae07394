// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The possible CPUs: __cpu_possible_mask, __per_cpu_offset[], and what each run queue holds
 * (kernel include/linux/cpumask.h, kernel/sched/sched.h).
 */
#include "debugger/target/cpu_registers.h"
#include "debugger/target/object.h"

#include "base/array.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <string.h>

/* NR_CPUS_RANGE_END is 8192 on x86-64 and less elsewhere. */
#define CPU_LIMIT 16384

/* THREAD_SIZE and IRQ_STACK_SIZE of x86-64 without KASAN. */
#define STACK_SIZE_DEFAULT (16u << 10)
#define STACK_SIZE_MAX	   (1u << 20)

/* --- masks --------------------------------------------------------------------- */

struct mask {
	uint64_t words[CPU_LIMIT / 64];
	uint32_t bits;
};

static bool mask_has(const struct mask *mask, uint32_t bit)
{
	return bit < mask->bits && mask->words[bit / 64] >> (bit % 64) & 1;
}

static struct error *read_mask(struct target *target, const char *name, struct mask *ret)
{
	unsigned int word = target->arch->word_size;
	uint64_t address;
	if (!symtab_address(target->symbols, name, &address))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol %s", name);
	for (uint32_t bit = 0; bit < ret->bits; bit += word * 8) {
		uint64_t value;
		TRY(error_prefix(memory_read_word(target->memory, address + bit / 8, &value), "%s",
				 name));
		ret->words[bit / 64] |= value << (bit % 64);
	}
	return NULL;
}

/* Bits of a struct cpumask: NR_CPUS, in whole words; 0: not known. */
static uint32_t mask_bits(struct target *target)
{
	struct type type;
	uint64_t size;
	struct error *error = target_find_type(target, NULL, "struct cpumask", &type);
	bool is_known = !error && type_size(type, &size) && size <= CPU_LIMIT / 8;
	error_free(error);
	return is_known ? (uint32_t)size * 8 : 0;
}

/* nr_cpu_ids is a constant, without a symbol, on kernels for one CPU or with FORCE_NR_CPUS. */
static struct error *read_cpu_limit(struct target *target, uint32_t *ret)
{
	uint64_t address;
	if (symtab_address(target->symbols, "nr_cpu_ids", &address)) {
		TRY(error_prefix(memory_read_u32(target->memory, address, ret), "nr_cpu_ids"));
	} else {
		*ret = mask_bits(target) ?: 1;
	}
	if (!*ret || *ret > CPU_LIMIT)
		return error_create(ERROR_FORMAT, "nr_cpu_ids is %" PRIu32, *ret);
	return NULL;
}

/* nr_cpu_ids is one more than the last possible CPU (kernel/smp.c): what is behind is looked at,
 * too. */
static struct error *read_possible(struct target *target, struct mask *ret)
{
	struct mask whole = { .bits = mask_bits(target) };
	uint32_t end = 0;
	TRY(read_cpu_limit(target, &ret->bits));
	TRY(read_mask(target, "__cpu_possible_mask", ret));
	if (whole.bits <= ret->bits)
		return NULL;
	TRY(read_mask(target, "__cpu_possible_mask", &whole));
	for (uint32_t bit = ret->bits; bit < whole.bits; bit++)
		end = mask_has(&whole, bit) ? bit + 1 : end;
	if (!end)
		return NULL;
	target_add_problem(target, error_create(ERROR_FORMAT,
						"nr_cpu_ids is %" PRIu32 ", and CPU %" PRIu32
						" is possible",
						ret->bits, end - 1));
	whole.bits = end;
	*ret = whole;
	return NULL;
}

/* --- one CPU ---------------------------------------------------------------------- */

/* current_task by itself, or in pcpu_hot (6.2 to 6.14); 0: not known. */
static uint64_t current_by_symbol(struct target *target, const struct cpu *cpu)
{
	uint64_t address, value = 0;
	struct object hot;
	struct error *error;
	if (symtab_address(target->symbols, "current_task", &address)) {
		error = memory_read_word(target->memory, address + cpu->per_cpu_offset, &value);
	} else {
		error = object_per_cpu(target, "pcpu_hot", "struct pcpu_hot", cpu, &hot);
		if (!error)
			error = object_u64(&hot, "current_task", &value);
	}
	error_free(error);
	return error ? 0 : value;
}

static struct error *read_run_queue(struct target *target, struct cpu *cpu, uint64_t *ret_current)
{
	struct object queue;
	TRY(object_per_cpu(target, "runqueues", "struct rq", cpu, &queue));
	TRY(object_u64(&queue, "curr", ret_current));
	return object_u64(&queue, "idle", &cpu->idle_task);
}

/*
 * The two differ while a CPU goes from one task to the next, on a kernel that is read while it
 * runs, and where one of them is damaged.
 */
static void read_tasks(struct target *target, struct cpu *cpu)
{
	uint64_t queued = 0;
	struct error *error = read_run_queue(target, cpu, &queued);
	if (error)
		target_add_problem(target,
				   error_prefix(error, "run queue of CPU %" PRIu32, cpu->number));
	cpu->current_task = current_by_symbol(target, cpu);
	if (!cpu->current_task || target_is_live(target))
		cpu->current_task = queued ?: cpu->current_task;
	if (queued != cpu->current_task)
		cpu->rival_task = queued;
}

static struct error *read_per_cpu_offset(struct target *target, uint32_t number, uint64_t *ret)
{
	unsigned int word = target->arch->word_size;
	uint64_t table;
	*ret = 0;
	if (!symtab_address(target->symbols, "__per_cpu_offset", &table))
		return NULL; /* a kernel for one CPU */
	return error_prefix(memory_read_word(target->memory, table + (uint64_t)number * word, ret),
			    "__per_cpu_offset[%" PRIu32 "]", number);
}

static const struct cpu *cpu_with_area(const struct target *target, uint64_t per_cpu_offset)
{
	for (size_t i = 0; i < target->cpu_count; i++)
		if (target->cpus[i].per_cpu_offset == per_cpu_offset)
			return &target->cpus[i];
	return NULL;
}

/*
 * CPUs that a damaged mask makes possible: in the table the kernel has the same offset for all that
 * it gave no area to.
 */
struct doubles {
	uint32_t number, of; /* the first of them, and whose area it has */
	size_t count;
};

static struct error *add_cpu(struct target *target, struct cpu cpu, size_t *capacity,
			     struct doubles *doubles)
{
	cpu.is_stopped &= !cpu.online;
	TRY(read_per_cpu_offset(target, cpu.number, &cpu.per_cpu_offset));
	const struct cpu *other = cpu_with_area(target, cpu.per_cpu_offset);
	if (other && !doubles->count++) {
		doubles->number = cpu.number;
		doubles->of = other->number;
	}
	if (other)
		return NULL;
	read_tasks(target, &cpu);
	if (!array_reserve(&target->cpus, capacity, target->cpu_count + 1))
		return error_no_memory();
	target->cpus[target->cpu_count++] = cpu;
	return NULL;
}

/* The one that the others share with, which was not online, is none either. */
static void drop_double(struct target *target, struct doubles *doubles)
{
	for (size_t i = 0; i < target->cpu_count && doubles->count; i++)
		if (target->cpus[i].number == doubles->of && !target->cpus[i].online) {
			target->cpu_count--;
			memmove(&target->cpus[i], &target->cpus[i + 1],
				(target->cpu_count - i) * sizeof(*target->cpus));
			doubles->count++;
			return;
		}
}

static struct error *load_cpus(struct target *target)
{
	struct mask possible = { .bits = 0 }, online = { .bits = 0 }, active;
	struct doubles doubles = { .count = 0 };
	size_t capacity = 0;
	TRY(target_need_memory(target));
	TRY(target_need_symbols(target));
	TRY(read_possible(target, &possible));
	online.bits = possible.bits;
	active = online;
	error_free(read_mask(target, "__cpu_active_mask", &active));
	/* Without the second mask every possible CPU counts as online. */
	struct error *error = read_mask(target, "__cpu_online_mask", &online);
	target_add_problem(target, error);
	for (uint32_t number = 0; number < possible.bits; number++)
		if (mask_has(&possible, number))
			TRY(add_cpu(target,
				    (struct cpu){ .number = number,
						  .online = error || mask_has(&online, number),
						  .is_stopped = mask_has(&active, number) },
				    &capacity, &doubles));
	drop_double(target, &doubles);
	if (doubles.count)
		target_add_problem(target,
				   error_create(ERROR_FORMAT,
						"%zu possible CPUs are left out: CPU %" PRIu32
						" has the per-CPU area of CPU %" PRIu32,
						doubles.count, doubles.number, doubles.of));
	return NULL;
}

/* --- what it runs ------------------------------------------------------------------ */

uint64_t target_stack_size(struct target *target)
{
	struct type type;
	uint64_t size = 0;
	struct error *error = target_find_type(target, NULL, "struct irq_stack", &type);
	bool is_known = !error && type_size(type, &size) && size && size <= STACK_SIZE_MAX;
	error_free(error);
	return is_known ? size : STACK_SIZE_DEFAULT;
}

static bool is_on_its_stack(struct target *target, const struct cpu *cpu, uint64_t task)
{
	struct object object;
	uint64_t stack = 0, sp = cpu->registers.values[target->arch->sp];
	if (!cpu->has_registers)
		return false;
	struct error *error = object_at(target, "struct task_struct", task, &object);
	if (!error)
		error = object_u64(&object, "stack", &stack);
	bool ret = !error && stack && sp >= stack && sp - stack <= target_stack_size(target);
	error_free(error);
	return ret;
}

/* Its registers tell which of the two it runs; where they cannot, what the kernel's code asks. */
static void settle_task(struct target *target, struct cpu *cpu)
{
	if (!cpu->rival_task)
		return;
	/* The current_task of a CPU that was never up is still the first CPU's idle task. */
	if (!cpu->online && !cpu->is_stopped) {
		cpu->current_task = cpu->rival_task;
		return;
	}
	bool is_rival = is_on_its_stack(target, cpu, cpu->rival_task);
	bool is_sure = is_rival != is_on_its_stack(target, cpu, cpu->current_task);
	target_add_problem(target,
			   error_create(ERROR_FORMAT,
					"CPU %" PRIu32 ": its run queue says that it runs the task "
					"0x%" PRIx64 ", current_task 0x%" PRIx64 ": %s is taken%s",
					cpu->number, cpu->rival_task, cpu->current_task,
					is_rival && is_sure ? "the former" : "the latter",
					is_sure ? ", on whose stack it is" : ""));
	if (is_rival && is_sure)
		cpu->current_task = cpu->rival_task;
}

/* --- look-ups --------------------------------------------------------------------- */

size_t target_cpus(struct target *target, const struct cpu **ret)
{
	if (!target->cpus_loaded) {
		target->cpus_loaded = true;
		struct error *error = load_cpus(target);
		if (error)
			target_add_missing(target, PART_CPUS,
					   error_prefix(error, "CPUs cannot be known"));
		cpu_registers_load(target);
		for (size_t i = 0; i < target->cpu_count; i++)
			settle_task(target, &target->cpus[i]);
	}
	*ret = target->cpus;
	return target->cpu_count;
}

const struct cpu *target_cpu(struct target *target, uint32_t number)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	for (size_t i = 0; i < count; i++)
		if (cpus[i].number == number)
			return &cpus[i];
	return NULL;
}

struct error *target_find_cpu(struct target *target, uint32_t number, const struct cpu **ret)
{
	*ret = target_cpu(target, number);
	if (*ret)
		return NULL;
	TRY(target_need_cpus(target));
	return error_create(ERROR_NOT_FOUND, "there is no CPU %" PRIu32, number);
}
