// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Return addresses that tracers replaced: the function graph tracer (return_to_handler) and
 * rethook, which kretprobes use since 5.18. KERNEL-FORMATS section 5.5. One more kind is one more
 * line of the table below.
 */
#include "debugger/unwind/step.h"

#include "base/array.h"
#include <inttypes.h>

/* A task's shadow stack has 50 (to 6.10) or 512 words' worth of entries. */
#define SHADOW_LIMIT 1024

/* --- rethook: a list of nodes, each with the slot it took over ---------------------------- */

static struct error *recover_rethook(struct object *task, uint64_t slot, uint64_t trampoline,
				     uint64_t *ret)
{
	uint64_t node, link, frame, address;
	TRY(object_u64(task, "rethooks.first", &node));
	TRY(object_offset(task->target, "struct rethook_node", "llist", &link));
	for (unsigned int i = 0; node && i < SHADOW_LIMIT; i++) {
		struct object hook;
		TRY(object_at(task->target, "struct rethook_node", node - link, &hook));
		TRY(object_u64(&hook, "frame", &frame));
		TRY(object_u64(&hook, "ret_addr", &address));
		if (frame == slot && address != trampoline) {
			*ret = address;
			return NULL;
		}
		TRY(object_u64(&hook, "llist.next", &node));
	}
	return error_create(ERROR_NOT_FOUND, "no rethook of the stack slot 0x%" PRIx64, slot);
}

/* --- the function graph tracer -------------------------------------------------------------- */

static struct error *match_shadow(struct target *target, uint64_t address, uint64_t slot,
				  uint64_t trampoline, bool *ret_match, uint64_t *ret)
{
	struct object entry;
	uint64_t place, pc;
	TRY(object_at(target, "struct ftrace_ret_stack", address, &entry));
	TRY(object_u64(&entry, "retp", &place));
	TRY(object_u64(&entry, "ret", &pc));
	*ret_match = place == slot && pc != trampoline;
	if (*ret_match)
		*ret = pc;
	return NULL;
}

/* Up to 6.10: an array of ftrace_ret_stack, `curr_ret_stack` the index of its top. */
static struct error *recover_from_array(struct object *task, uint64_t slot, uint64_t trampoline,
					uint64_t *ret)
{
	struct object stack;
	uint64_t top, size;
	TRY(object_follow(task, "ret_stack", &stack));
	TRY(object_u64(task, "curr_ret_stack", &top));
	if (!type_size(stack.type, &size))
		return error_create(ERROR_FORMAT, "ret_stack has no size");
	for (int64_t i = (int32_t)top; i >= 0 && i < SHADOW_LIMIT; i--) {
		bool match;
		TRY(match_shadow(task->target, stack.address + (uint64_t)i * size, slot, trampoline,
				 &match, ret));
		if (match)
			return NULL;
	}
	return error_create(ERROR_NOT_FOUND, "no traced call of the stack slot 0x%" PRIx64, slot);
}

/* Since 6.11: words; below each top one says how many words its entry takes. */
static struct error *recover_from_words(struct object *task, uint64_t slot, uint64_t trampoline,
					uint64_t *ret)
{
	uint64_t words, current;
	TRY(object_u64(task, "ret_stack", &words));
	TRY(object_u64(task, "curr_ret_stack", &current));
	current = (uint32_t)current;
	while (current && current < SHADOW_LIMIT) {
		uint64_t size;
		bool match;
		TRY(memory_read_u64(task->target->memory, words + 8 * (current - 1), &size));
		size &= 0x3ff;
		if (!size || size > current - 1)
			break;
		current -= 1 + size;
		TRY(match_shadow(task->target, words + 8 * current, slot, trampoline, &match, ret));
		if (match)
			return NULL;
	}
	return error_create(ERROR_NOT_FOUND, "no traced call of the stack slot 0x%" PRIx64, slot);
}

static struct error *recover_traced(struct object *task, uint64_t slot, uint64_t trampoline,
				    uint64_t *ret)
{
	struct object stack;
	struct btf_type record;
	TRY(object_follow(task, "ret_stack", &stack));
	if (type_get_resolved(stack.type, &record) && record.kind == BTF_STRUCT)
		return recover_from_array(task, slot, trampoline, ret);
	return recover_from_words(task, slot, trampoline, ret);
}

/* --- which --------------------------------------------------------------------------------------
 */

struct error *recover_return_address(struct unwinder *unwinder, uint64_t slot, uint64_t *pc)
{
	static const struct {
		const char *symbol;
		struct error *(*recover)(struct object *task, uint64_t slot, uint64_t trampoline,
					 uint64_t *ret);
	} trampolines[] = {
		{ "return_to_handler", recover_traced },
		{ "arch_rethook_trampoline", recover_rethook },
	};
	struct target *target = unwinder->target;
	for (size_t i = 0; i < ARRAY_COUNT(trampolines); i++) {
		uint64_t trampoline;
		struct object task;
		if (!symtab_address(target->symbols, trampolines[i].symbol, &trampoline) ||
		    trampoline != *pc)
			continue;
		if (!unwinder->task)
			return error_create(ERROR_NOT_FOUND, "a traced call of an unknown task");
		TRY(object_at(target, "struct task_struct", unwinder->task->address, &task));
		return error_prefix(trampolines[i].recover(&task, slot, trampoline, pc), "%s",
				    trampolines[i].symbol);
	}
	return NULL;
}
