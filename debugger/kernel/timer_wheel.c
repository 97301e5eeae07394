// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/timer_wheel.h"

#include "base/bytes.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdlib.h>

/* There are 3; and lists, of which a wheel has 576. */
#define BASES_MAX   16
#define BUCKETS_MAX 65536

struct pass {
	struct target *target;
	const struct wheel_visitor *visitor;
	struct wheel_timer timer;
	uint64_t entry;	  /* offset in a timer */
	struct seen seen; /* a timer is in one list */
};

static struct error *visit(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	TRY(object_at(pass->target, "struct timer_list", item->address - pass->entry,
		      &pass->timer.timer));
	return pass->visitor->visit(pass->visitor->context, &pass->timer);
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

/* All heads are read at once: most lists are empty. */
static struct error *visit_buckets(struct pass *pass, uint64_t vectors, size_t count,
				   uint8_t *heads)
{
	struct memory *memory = pass->target->memory;
	size_t word = memory->word_size;
	const struct walk walk = { .target = pass->target,
				   .visit = visit,
				   .broken = broken,
				   .context = pass,
				   .seen = &pass->seen };
	TRY(memory_read(memory, vectors, heads, count * word));
	for (size_t i = 0; i < count; i++) {
		if (!load_unsigned(heads + i * word, word, memory->big_endian))
			continue;
		pass->timer.bucket = (uint32_t)i;
		TRY(walk_hlist(&walk, vectors + i * word, HLIST_PLAIN));
	}
	return NULL;
}

static struct error *visit_base(struct pass *pass, const struct object *base)
{
	struct object vectors;
	uint64_t size;
	size_t word = pass->target->memory->word_size;
	TRY(object_member(base, "vectors", &vectors));
	if (!type_size(vectors.type, &size) || size / word > BUCKETS_MAX)
		return error_create(ERROR_FORMAT, "struct timer_base has no usable vectors");
	uint8_t *heads = malloc(size);
	if (!heads)
		return error_no_memory();
	struct error *error = visit_buckets(pass, vectors.address, size / word, heads);
	free(heads);
	return error;
}

/* In bytes: by the variable's type, which BTF of 5.10 does not have, or else by its symbol. */
static struct error *size_of_bases(struct target *target, uint64_t *ret)
{
	struct object bases;
	struct symbol symbol;
	uint64_t cursor = 0;
	struct error *error = object_variable(target, "timer_bases", NULL, &bases);
	if (!error)
		return type_size(bases.type, ret)
			       ? NULL
			       : error_create(ERROR_FORMAT, "timer_bases have no size");
	if (error->kind != ERROR_NOT_FOUND ||
	    !symtab_find_own(target->symbols, NULL, "timer_bases", &cursor, &symbol))
		return error;
	error_free(error);
	*ret = symbol.size;
	return NULL;
}

/* How many wheels a CPU has, and the size of one. */
static struct error *count_bases(struct target *target, uint64_t *ret_size, uint64_t *ret_count)
{
	struct object base;
	uint64_t all = 0;
	TRY(size_of_bases(target, &all));
	TRY(object_at(target, "struct timer_base", 0, &base));
	if (!type_size(base.type, ret_size) || !*ret_size || all % *ret_size ||
	    all / *ret_size > BASES_MAX)
		return error_create(ERROR_FORMAT, "timer_bases are no wheels");
	*ret_count = all / *ret_size;
	return NULL;
}

static struct error *visit_cpu(struct pass *pass, const struct cpu *cpu)
{
	struct object bases, base;
	uint64_t size = 0, count = 0;
	TRY(object_per_cpu(pass->target, "timer_bases", "struct timer_base", cpu, &bases));
	TRY(count_bases(pass->target, &size, &count));
	pass->timer.cpu = cpu->number;
	for (uint64_t i = 0; i < count; i++) {
		pass->timer.base = (uint32_t)i;
		TRY(object_at(pass->target, "struct timer_base", bases.address + i * size, &base));
		struct error *error = visit_base(pass, &base);
		if (error && error_is_fatal(error))
			return error;
		if (error)
			TRY(broken(pass,
				   error_prefix(error, "timers of CPU %" PRIu32, cpu->number)));
	}
	return NULL;
}

struct error *timer_wheel_for_each(struct target *target, const struct wheel_visitor *visitor)
{
	struct pass pass = { .target = target, .visitor = visitor };
	const struct cpu *cpus;
	TRY(target_need_cpus(target));
	TRY(object_offset(target, "struct timer_list", "entry", &pass.entry));
	size_t count = target_cpus(target, &cpus);
	struct error *error = NULL;
	for (size_t i = 0; i < count && !error; i++)
		error = visit_cpu(&pass, &cpus[i]);
	seen_deinit(&pass.seen);
	return error;
}
