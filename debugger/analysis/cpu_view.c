// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/cpu_view.h"

#include "debugger/kernel/printk.h"
#include "debugger/kernel/walk.h"
#include "debugger/target/object.h"
#include <string.h>

struct panic_time {
	bool found;
	uint64_t time;
};

static struct error *look_for_panic(void *context, const struct printk_record *record)
{
	static const char words[] = "Kernel panic - not syncing";
	struct panic_time *panic = context;
	if (record->size >= sizeof(words) - 1 && !memcmp(record->text, words, sizeof(words) - 1)) {
		panic->found = true;
		panic->time = record->time;
	}
	return NULL;
}

struct error *time_of_death(struct target *target, uint64_t *ret)
{
	struct panic_time panic = { .found = false };
	uint64_t lost, clock, latest = 0;
	const struct cpu *cpus;
	struct object queue;
	TRY(error_only_fatal(printk_for_each(target, look_for_panic, &panic, &lost)));
	*ret = panic.time;
	if (panic.found)
		return NULL;
	size_t count = target_cpus(target, &cpus);
	for (size_t i = 0; i < count; i++) {
		TRY(object_per_cpu(target, "runqueues", "struct rq", &cpus[i], &queue));
		TRY(object_u64(&queue, "clock", &clock));
		latest = clock > latest ? clock : latest;
	}
	if (!latest)
		return error_create(ERROR_NOT_FOUND, "it is not known when the machine died");
	*ret = latest;
	return NULL;
}

#define NEVER ((uint64_t)INT64_MAX) /* KTIME_MAX */

/* When the first timer of the monotonic clock, which is the first of them, is to run. */
static struct error *read_first(const struct object *base, uint64_t *ret)
{
	struct object node;
	uint64_t leftmost, expires;
	TRY(object_u64(base, "clock_base[0].active.rb_root.rb_leftmost", &leftmost));
	if (!leftmost)
		return NULL;
	TRY(object_container(base->target, "struct timerqueue_node", "node", leftmost, &node));
	TRY(object_u64(&node, "expires", &expires));
	*ret = expires;
	return NULL;
}

struct error *cpu_lateness(struct target *target, const struct cpu *cpu, uint64_t now,
			   uint64_t *ret, uint64_t *ret_due)
{
	struct object base;
	uint64_t due;
	TRY(object_per_cpu(target, "hrtimer_bases", "struct hrtimer_cpu_base", cpu, &base));
	TRY(object_u64(&base, "expires_next", &due));
	/* One that is just running timers has none: the first of those that are left is due. */
	if (due == NEVER)
		TRY(error_only_fatal(read_first(&base, &due)));
	*ret_due = due;
	*ret = (int64_t)due > 0 && due < now ? now - due : 0;
	return NULL;
}

#define RECORDS_MAX (1u << 16) /* of CPUs, that are looked at for all calls to one */

struct calls {
	struct target *target;
	const struct cpu *cpu; /* that is asked */
	size_t looked_at;
	pending_call_visitor *visit;
	void *context;
};

/* Wake-ups and irq_work are on the same list, and call nothing of this sort. */
static struct error *is_call(const struct object *data, bool *ret)
{
	uint32_t id;
	uint64_t flags;
	struct btf_enumerator type, mask;
	const struct btf *btf = data->target->btf;
	TRY(object_u64(data, "node.u_flags", &flags));
	*ret = true;
	if (!btf_find_enumerator(btf, "CSD_FLAG_TYPE_MASK", &id, &mask))
		return NULL;
	uint64_t kind = flags & (uint64_t)mask.value;
	*ret = (btf_find_enumerator(btf, "CSD_TYPE_SYNC", &id, &type) &&
		kind == (uint64_t)type.value) ||
	       (btf_find_enumerator(btf, "CSD_TYPE_ASYNC", &id, &type) &&
		kind == (uint64_t)type.value);
	return NULL;
}

/*
 * Who asks several CPUs has a call for each of them, in that one's area, and notes no more than
 * where (kernel/smp.c, cfd_data).
 */
static struct error *find_asker(struct calls *calls, struct pending_call *call)
{
	const struct cpu *cpus;
	size_t count = target_cpus(calls->target, &cpus);
	for (size_t i = 0; i < count && calls->looked_at < RECORDS_MAX; i++, calls->looked_at++) {
		struct object data;
		uint64_t own;
		TRY(object_per_cpu(calls->target, "cfd_data", "struct call_function_data", &cpus[i],
				   &data));
		TRY(object_u64(&data, object_has(&data, "csd") ? "csd" : "pcpu", &own));
		if (own && own + calls->cpu->per_cpu_offset == call->address)
			call->by = cpus[i].number;
	}
	return NULL;
}

static struct error *visit_call(void *context, const struct walk_item *item)
{
	struct calls *calls = context;
	struct object data;
	bool is;
	uint64_t by = UINT32_MAX;
	struct pending_call call = { .address = item->address };
	TRY(object_at(calls->target, "struct __call_single_data", item->address, &data));
	TRY(is_call(&data, &is));
	if (!is)
		return NULL;
	TRY(object_u64(&data, "func", &call.function));
	if (object_has(&data, "node.src"))
		TRY(object_u64(&data, "node.src", &by));
	call.by = (uint32_t)by;
	TRY(error_only_fatal(find_asker(calls, &call)));
	return calls->visit(calls->context, &call);
}

static struct error *end_walk(void *context, struct error *problem)
{
	(void)context;
	return problem;
}

struct error *cpu_for_each_call(struct target *target, const struct cpu *cpu,
				pending_call_visitor *visit, void *context)
{
	struct calls calls = { target, cpu, 0, visit, context };
	struct walk walk = {
		.target = target, .visit = visit_call, .broken = end_walk, .context = &calls
	};
	struct object queue;
	uint64_t first, offset;
	TRY(object_per_cpu(target, "call_single_queue", "struct llist_head", cpu, &queue));
	TRY(object_u64(&queue, "first", &first));
	TRY(object_offset(target, "struct __call_single_data", "node.llist.next", &offset));
	return first ? walk_chain(&walk, first, offset) : NULL;
}
