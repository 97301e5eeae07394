// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/interrupts.h"

#include "debugger/kernel/clock.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>

struct interrupts {
	struct target *target;
	interrupt_visitor *visit;
	void *context;
	uint64_t *lost;
};

static struct error *read_interrupt(struct target *target, const struct walk_item *item,
				    struct interrupt *ret)
{
	struct object desc, action;
	*ret = (struct interrupt){ .number = (uint32_t)item->index, .desc = item->address };
	TRY(object_at(target, "struct irq_desc", item->address, &desc));
	/* A count, or since 6.10 (99cf63c56b9d) a struct irqstat that begins with it. */
	TRY(object_u64(&desc, "kstat_irqs", &ret->counts));
	TRY(object_follow(&desc, "action", &action));
	if (!action.address)
		return NULL;
	TRY(object_u64(&action, "handler", &ret->handler));
	return path_pointed_string(&action, "name", ret->name, sizeof(ret->name));
}

static struct error *visit_desc(void *context, const struct walk_item *item)
{
	struct interrupts *interrupts = context;
	struct interrupt interrupt;
	struct error *error = read_interrupt(interrupts->target, item, &interrupt);
	if (!error)
		return interrupts->visit(interrupts->context, &interrupt);
	++*interrupts->lost;
	return error_only_fatal(error);
}

static struct error *count_break(void *context, struct error *problem)
{
	struct interrupts *interrupts = context;
	++*interrupts->lost;
	return error_only_fatal(problem);
}

static bool find_symbol(struct target *target, const char *name, uint64_t *ret)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	if (!target_find_symbol(target, NULL, name, &cursor, &symbol))
		return false;
	*ret = symbol.address;
	return true;
}

/* Each says which one it is: one that is met again is not at its place. */
static struct error *check_number(struct target *target, const struct walk_item *item)
{
	struct object desc;
	uint64_t number;
	TRY(object_at(target, "struct irq_desc", item->address, &desc));
	TRY(object_u64(&desc, "irq_data.irq", &number));
	return number == item->index
		       ? NULL
		       : error_create(ERROR_FORMAT,
				      "the struct irq_desc at 0x%" PRIx64 " is number %" PRIu64,
				      item->address, number);
}

static struct error *visit_item(void *context, const struct walk_item *item)
{
	const struct walk *walk = context;
	if (item->is_value)
		return NULL;
	struct error *error = check_number(walk->target, item);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error, "interrupt %" PRIu64, item->index));
	return walk->visit(walk->context, item);
}

static struct error *broken_tree(void *context, struct error *problem)
{
	const struct walk *walk = context;
	return walk->broken(walk->context, problem);
}

struct error *interrupts_walk(const struct walk *its)
{
	struct walk inner = *its, walk = {
		.target = its->target, .visit = visit_item, .broken = broken_tree, .context = &inner
	};
	uint64_t tree;
	/* A maple tree since 721255b9826b (6.5). */
	walk.never_empty = "sparse_irqs";
	if (find_symbol(walk.target, walk.never_empty, &tree))
		return walk_maple(&walk, tree);
	walk.never_empty = "irq_desc_tree";
	if (find_symbol(walk.target, walk.never_empty, &tree))
		return walk_xarray(&walk, tree);
	return error_create(ERROR_NOT_FOUND, "this kernel has neither sparse_irqs nor "
					     "irq_desc_tree");
}

struct error *interrupts_for_each(struct target *target, interrupt_visitor *visit, void *context,
				  uint64_t *ret_lost)
{
	struct interrupts interrupts = { target, visit, context, ret_lost };
	const struct walk walk = {
		.target = target, .visit = visit_desc, .broken = count_break, .context = &interrupts
	};
	*ret_lost = 0;
	return interrupts_walk(&walk);
}

struct error *interrupt_count(struct target *target, const struct interrupt *interrupt,
			      const struct cpu *cpu, uint32_t *ret)
{
	*ret = 0;
	if (!interrupt->counts)
		return error_create(ERROR_FORMAT, "kstat_irqs of IRQ %" PRIu32 " is NULL",
				    interrupt->number);
	return memory_read_u32(target->memory, interrupt->counts + cpu->per_cpu_offset, ret);
}

static struct error *read_variable(struct target *target, const char *name, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, name, "unsigned long", &variable));
	return object_u64(&variable, NULL, ret);
}

struct error *interrupt_rate_read(struct target *target, const struct cpu *cpu,
				  struct interrupt_rate *ret)
{
	struct object pool;
	uint64_t count, last, now, tick;
	*ret = (struct interrupt_rate){ 0 };
	TRY(object_per_cpu(target, "irq_randomness", "struct fast_pool", cpu, &pool));
	/* Before 58340f8e952b (5.18) it begins anew at other times. */
	if (!object_has(&pool, "mix") || !cpu->current_task)
		return NULL;
	TRY(object_u64(&pool, "count", &count));
	TRY(object_u64(&pool, "last", &last));
	TRY(read_variable(target, "jiffies", &now));
	TRY(clock_tick(target, &tick));
	/* The highest bit says that it is to begin anew. */
	ret->count = (uint32_t)count & (UINT32_MAX >> 1);
	if (now > last && __builtin_mul_overflow(now - last, tick, &ret->ns))
		ret->ns = 0;
	return NULL;
}

struct error *softirq_counts(struct target *target, const struct cpu *cpu,
			     uint32_t ret[SOFTIRQS_MAX], size_t *ret_count)
{
	struct object stat, counts;
	uint64_t size;
	TRY(object_per_cpu(target, "kstat", "struct kernel_stat", cpu, &stat));
	TRY(object_member(&stat, "softirqs", &counts));
	if (!type_size(counts.type, &size) || size / sizeof(*ret) > SOFTIRQS_MAX)
		return error_create(ERROR_FORMAT, "the counts of softirqs are not sane");
	*ret_count = size / sizeof(*ret);
	for (size_t i = 0; i < *ret_count; i++)
		TRY(memory_read_u32(target->memory, counts.address + i * sizeof(*ret), &ret[i]));
	return NULL;
}

void softirq_name(struct target *target, size_t number, char *buffer, size_t size)
{
	uint64_t names, name;
	size_t length;
	*buffer = 0;
	if (number >= SOFTIRQS_MAX || !find_symbol(target, "softirq_to_name", &names))
		return;
	struct error *error =
		memory_read_word(target->memory, names + number * target->memory->word_size, &name);
	if (!error && name)
		error = memory_read_string(target->memory, name, buffer, size, &length);
	error_free(error);
}
