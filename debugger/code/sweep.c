// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/sweep.h"

#include "base/array.h"
#include <string.h>

#define SWEEPS_EXACT 4 /* after so many, joins widen */
#define LABELS_MAX   8192

/* --- labels ---------------------------------------------------------------------------------- */

static void *state_at(struct sweep *sweep, uint16_t number)
{
	return sweep->states + (number - 1) * sweep->rules->state_size;
}

static void copy(const struct sweep *sweep, void *to, const void *from)
{
	if (sweep->rules->copy)
		sweep->rules->copy(to, from);
	else
		memcpy(to, from, sweep->rules->state_size);
}

static void add_label(struct sweep *sweep, uint64_t target)
{
	uint16_t *number = &sweep->label_of[target - sweep->code->address];
	if (*number)
		return;
	if (sweep->label_count == LABELS_MAX)
		sweep->too_many = true;
	else
		*number = (uint16_t)++sweep->label_count;
}

bool sweep_begin(struct sweep *sweep, const struct code *code, const struct ops *ops,
		 const struct code_edge *edges, size_t edge_count)
{
	sweep->code = code;
	sweep->ops = ops;
	sweep->edges = edges;
	sweep->edge_count = edge_count;
	sweep->label_count = 0;
	sweep->too_many = false;
	if (!array_reserve(&sweep->label_of, &sweep->label_of_capacity, code->size + 1))
		return false;
	memset(sweep->label_of, 0, (code->size + 1) * sizeof(*sweep->label_of));
	for (size_t i = 0; i < ops->count; i++) {
		const struct op *op = &ops->items[i];
		uint64_t target = (uint64_t)op->constant;
		if ((op->kind == OP_JUMP || op->kind == OP_BRANCH) &&
		    sweep_is_inside(sweep, target))
			add_label(sweep, target);
	}
	for (size_t i = 0; i < edge_count; i++)
		if (sweep_is_inside(sweep, edges[i].from) && sweep_is_inside(sweep, edges[i].to))
			add_label(sweep, edges[i].to);
	return array_reserve(&sweep->reached, &sweep->reached_capacity, sweep->label_count + 1) &&
	       array_reserve_bytes((void **)&sweep->states, &sweep->state_capacity,
				   sweep->label_count + 1, sweep->rules->state_size);
}

void sweep_deinit(struct sweep *sweep)
{
	free(sweep->label_of);
	free(sweep->reached);
	free(sweep->states);
}

/* --- paths ----------------------------------------------------------------------------------- */

static void reach(struct sweep *sweep, uint16_t number, bool is_back)
{
	void *state = state_at(sweep, number);
	if (!sweep->reached[number - 1]) {
		sweep->reached[number - 1] = true;
		copy(sweep, state, sweep->state);
		sweep->changed |= is_back;
		return;
	}
	enum join how = sweep->number >= SWEEPS_EXACT ? JOIN_WIDEN
			: is_back		      ? JOIN_BACKWARD
						      : JOIN_FORWARD;
	bool changed = sweep->rules->join(state, sweep->state, how);
	sweep->changed |= changed && is_back;
}

void sweep_go_to(struct sweep *sweep, uint64_t target, uint32_t from)
{
	uint64_t offset = target - sweep->code->address;
	if (sweep->label_of[offset] && sweep->live)
		reach(sweep, sweep->label_of[offset], offset <= from);
}

void sweep_end_path(struct sweep *sweep)
{
	sweep->live = false;
	if (sweep->rules->lose)
		sweep->rules->lose(sweep->context);
}

/* Control reaches a label, from above or from where it was jumped to. */
static void arrive(struct sweep *sweep, uint16_t number)
{
	/* From above, so nothing below was computed with less. */
	if (sweep->live)
		reach(sweep, number, false);
	if (!sweep->reached[number - 1]) {
		sweep_end_path(sweep);
		return;
	}
	copy(sweep, sweep->state, state_at(sweep, number));
	sweep->live = true;
}

/* Jumps that are patched out at the moment (static branches), but may be taken at other times. */
static void take_edges(struct sweep *sweep, size_t *edge, uint32_t at)
{
	uint64_t here = sweep->code->address + at;
	for (; *edge < sweep->edge_count && sweep->edges[*edge].from <= here; ++*edge)
		if (sweep->edges[*edge].from == here &&
		    sweep_is_inside(sweep, sweep->edges[*edge].to))
			sweep_go_to(sweep, sweep->edges[*edge].to, at);
}

/* Instructions that are nothing have no operations, but may be labels: each byte is asked. */
static void arrive_all(struct sweep *sweep, size_t *edge, uint32_t from, uint32_t to)
{
	bool has_edge = *edge < sweep->edge_count &&
			sweep->edges[*edge].from <= sweep->code->address + to;
	for (uint32_t at = from; at <= to; at++) {
		static const uint16_t none[4];
		if (!has_edge && at + 3 <= to &&
		    !memcmp(&sweep->label_of[at], none, sizeof(none))) {
			at += 3;
			continue;
		}
		if (sweep->label_of[at])
			arrive(sweep, sweep->label_of[at]);
		if (has_edge)
			take_edges(sweep, edge, at);
	}
}

/* --- sweeps ---------------------------------------------------------------------------------- */

void sweep_once(struct sweep *sweep)
{
	size_t edge = 0;
	uint32_t next = 0;
	sweep->rules->enter(sweep->context);
	sweep->live = true;
	sweep->changed = false;
	for (size_t i = 0; i < sweep->ops->count; i++) {
		const struct op *op = &sweep->ops->items[i];
		if (op->at >= next) {
			arrive_all(sweep, &edge, next, op->at);
			next = op->at + 1;
		}
		if (sweep->live || sweep->rules->lose)
			sweep->rules->execute(sweep->context, op);
	}
}

bool sweep_converge(struct sweep *sweep)
{
	memset(sweep->reached, 0, sweep->label_count * sizeof(*sweep->reached));
	for (sweep->number = 0; sweep->number < sweep->rules->most; sweep->number++) {
		sweep_once(sweep);
		if (!sweep->changed)
			return true;
	}
	return false;
}
