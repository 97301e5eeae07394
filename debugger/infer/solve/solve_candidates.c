// SPDX-License-Identifier: GPL-3.0-or-later
/* Candidates: the types that clues name, what these are part of, and arrays of either. */
#include "debugger/infer/solve/solve.h"

#include "base/array.h"
#include "debugger/infer/solve/array_length.h"
#include <string.h>

#define VISITS_MAX     20000 /* holders that one question climbs */
#define CLIMB_MAX      6
#define CANDIDATES_MAX 1500
#define SEEDS_MAX      8  /* clues that candidates are made from */
#define SLACK_MAX      64 /* bytes before the next symbol that alignment explains */

/* Points that a candidate starts with. */
#define BUCKETS_MIN 16
#define PRIOR_LISTS 0 /* an array of what is seldom seen alone */
#define PRIOR_NONE  -1000

struct scored *solver_find(struct solver *solver, uint32_t type, uint32_t count)
{
	const struct solver_mark *mark = &solver->marks[type];
	if (mark->stamp != solver->stamp)
		return NULL;
	/* It may have moved since, or this is the one with the other kind of count. */
	if (mark->index < solver->count) {
		struct scored *item = &solver->items[mark->index];
		if (item->type == type && !item->count == !count)
			return item;
	}
	for (size_t i = 0; i < solver->count; i++)
		if (solver->items[i].type == type && !solver->items[i].count == !count)
			return &solver->items[i];
	return NULL;
}

/* A candidate; of equal ones the better prior stays. */
void solver_add(struct solver *solver, struct scored item)
{
	/* A variable that points at a hlist_node is the head of its list. */
	if (solver->layout->hlist_node &&
	    layout_target(solver->layout, item.type) == solver->layout->hlist_node)
		item.type = layout_find(solver->layout, BTF_STRUCT, "hlist_head");
	uint32_t size = layout_size(solver->layout, item.type);
	uint64_t room = solver->input->subject->room;
	if (!size || size > room)
		return;
	struct scored *old = solver_find(solver, item.type, item.count);
	if (old) {
		old->prior = old->prior > item.prior ? old->prior : item.prior;
		old->is_direct |= item.is_direct;
		old->is_fact |= item.is_fact;
		old->is_exact |= item.is_exact;
		old->is_proved |= item.is_proved;
		return;
	}
	if (solver->count >= CANDIDATES_MAX)
		return;
	if (!array_reserve(&solver->items, &solver->capacity, solver->count + 1)) {
		solver->out_of_memory = true;
		return;
	}
	solver->marks[item.type] = (struct solver_mark){ solver->stamp, (uint32_t)solver->count };
	item.offered = NOT_OFFERED;
	solver->items[solver->count++] = item;
}

/* A candidate of the clue at hand, whose prior is settled when all of them are known. */
static void offer(struct solver *solver, uint32_t type, int prior)
{
	solver_add(solver, (struct scored){ .type = type, .prior = PRIOR_NONE });
	struct scored *item = solver_find(solver, type, 0);
	if (item && item->offered < prior)
		item->offered = (int16_t)prior;
}

/* A holder (a struct that contains the type) is the less likely the more of them there are. */
static void settle_offers(struct solver *solver)
{
	size_t count = 0;
	int many = 0;
	for (size_t i = 0; i < solver->count; i++)
		count += solver->items[i].offered != NOT_OFFERED;
	for (; count > 2; count /= 2)
		many += points_of(solver, RULE_CROWD);
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		if (item->offered != NOT_OFFERED && item->prior < item->offered + many)
			item->prior = (int16_t)(item->offered + many);
		item->offered = NOT_OFFERED;
	}
}

int solver_array_prior(const struct solver *solver, uint32_t type)
{
	const struct layout *layout = solver->layout;
	enum btf_kind kind = layout_kind(layout, type);
	if (kind == BTF_STRUCT && layout->records[type].held_by >= HELD_BY_MANY)
		return points_of(solver, RULE_ARRAY_PARTS);
	if (array_ends_with_empty(layout, type))
		return PRIOR_LISTS;
	return kind == BTF_STRUCT || kind == BTF_UNION ? points_of(solver, RULE_ARRAY)
	       : kind == BTF_PTR		       ? points_of(solver, RULE_ARRAY_POINTERS)
						       : points_of(solver, RULE_ARRAY_NUMBERS);
}

/* It ends in an array without a length, so it is no element. */
static bool is_open_ended(const struct layout *layout, uint32_t type)
{
	const struct layout_record *record = &layout->records[type];
	const struct field *last =
		layout_is_compound(layout, type) && record->field_count
			? &layout->fields[record->first_field + record->field_count - 1]
			: NULL;
	return last && layout_kind(layout, last->type) == BTF_ARRAY &&
	       !layout_size(layout, last->type);
}

/* The type, and an array of it where more than one fits. */
static void add_with_array(struct solver *solver, uint32_t type, int prior, bool direct)
{
	uint64_t room = solver->input->subject->room;
	uint32_t size = layout_size(solver->layout, type);
	solver_add(solver,
		   (struct scored){ .type = type, .prior = (int16_t)prior, .is_direct = direct });
	enum btf_kind kind = layout_kind(solver->layout, type);
	if (!size || room / size < 2 || kind == BTF_ARRAY || is_open_ended(solver->layout, type))
		return;
	solver_add(solver,
		   (struct scored){ .type = type,
				    .count = (uint32_t)(room / size),
				    .prior = (int16_t)(prior + solver_array_prior(solver, type)),
				    .is_direct = direct });
}

/* Takes a bitmap of a cpumask's size for a cpumask. */
static void add_cpumask(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	uint32_t size = layout_size(layout, layout->cpumask);
	uint64_t room = solver->input->subject->room;
	if (size > 8 && room >= size && room - size < SLACK_MAX)
		solver_add(solver, (struct scored){ .type = layout->cpumask, .is_direct = true });
}

/*
 * What functions of bitmaps take as unsigned long * is most often the bits of a cpumask; a
 * cpumask_var_t is a pointer to one where they are large.
 */
static void add_cpumask_pointer(struct solver *solver, const struct wish *wish)
{
	if (wish->kind == CLUE_VALUE && solver_is_cpumask_bits(solver->layout, wish->type))
		solver_add(solver,
			   (struct scored){
				   .type = solver->layout->records[solver->layout->cpumask].pointer,
				   .prior = points_of(solver, RULE_CPUMASK),
				   .is_direct = true });
}

/* The least size that is the whole symbol but for alignment: of no type if that is above the room.
 */
static uint64_t least_size(const struct solver *solver)
{
	uint64_t room = solver->input->subject->room;
	uint64_t end = solver->input->subject->address + room, alignment = end & -end;
	uint64_t slack = alignment > SLACK_MAX ? alignment : SLACK_MAX;
	return solver->input->place == PLACE_RODATA || slack > room ? 1 : room - slack + 1;
}

/* A type that lies `offset` bytes into the symbol, `depth` holders up. */
struct held {
	uint32_t holders, size, offset;
	int depth, prior;
};

/* The types that hold it so that it lies there, and those that hold them. Holders say all that is
 * needed: the records of types are all over memory. */
static void climb(struct solver *solver, const struct held *held, uint64_t least)
{
	const struct layout *layout = solver->layout;
	uint64_t room = solver->input->subject->room;
	for (uint32_t i = held->holders; i != HOLDER_NONE; i = layout->holders[i].next) {
		const struct holder *holder = &layout->holders[i];
		if (++solver->visits > VISITS_MAX)
			return;
		if (holder->size > room) {
			/* They come by size; in front of the kernel's there are a module's own. */
			if (i < layout->first_holder || !layout->first_holder)
				return;
			continue;
		}
		if (holder->offset > held->offset)
			continue;
		uint32_t inside = held->offset - holder->offset;
		if (held->size && inside && holder->count != 1) {
			uint32_t element = inside / held->size;
			if (holder->count && element >= holder->count)
				element = holder->count - 1;
			inside -= element * held->size;
		}
		if (!inside && holder->size >= least && layout_is_declared(layout, holder->type))
			offer(solver, holder->type, held->prior);
		if (held->depth >= CLIMB_MAX || holder->upper == HOLDER_NONE)
			continue;
		struct held upper = { holder->upper, holder->size, inside, held->depth + 1,
				      held->prior + (inside ? 0 : points_of(solver, RULE_DEEPER)) };
		climb(solver, &upper, least);
	}
}

/* Elements of an array of known stride: what the clue names lies in one of them. */
static void add_elements(struct solver *solver, const struct wish *seed)
{
	const struct layout *layout = solver->layout;
	for (size_t i = 0; i < solver->wish_count; i++) {
		const struct wish *stride = &solver->wishes[i];
		if (stride->kind != CLUE_STRIDE || !stride->size ||
		    solver->input->subject->room / stride->size < 2)
			continue;
		uint32_t offset = seed->offset % stride->size;
		uint32_t count = (uint32_t)(solver->input->subject->room / stride->size);
		if (!offset && layout_size(layout, seed->type) == stride->size)
			solver_add(solver, (struct scored){ .type = seed->type,
							    .count = count,
							    .is_direct = true });
		for (uint32_t h = layout->records[seed->type].holders; h != HOLDER_NONE;
		     h = layout->holders[h].next) {
			const struct holder *holder = &layout->holders[h];
			if (++solver->visits > VISITS_MAX)
				return;
			if (holder->offset == offset && layout_has_name(layout, holder->type) &&
			    layout_size(layout, holder->type) == stride->size)
				solver_add(solver, (struct scored){ .type = holder->type,
								    .count = count,
								    .prior = points_of(
									    solver, RULE_INSIDE) });
		}
	}
}

/* Pointers to what nobody names, as many as a hash has values: the heads of its chains. */
static void add_buckets(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	uint64_t count = solver->input->subject->room / 8;
	if (count >= BUCKETS_MIN && count <= UINT32_MAX && !(count & (count - 1)) &&
	    !solver->input->is_constant)
		solver_add(solver,
			   (struct scored){ .type = layout_find(layout, BTF_STRUCT, "hlist_head"),
					    .count = (uint32_t)count,
					    .prior = points_of(solver, RULE_BUCKETS) });
}

static void add_default(struct solver *solver, uint32_t size)
{
	static const struct {
		const char *name;
		uint32_t size;
		enum rule ahead; /* of the others of that size; RULE_COUNT: none */
	} integers[] = {
		{ "int", 4, RULE_DEFAULT_INT },
		{ "unsigned int", 4, RULE_COUNT },
		{ "long unsigned int", 8, RULE_COUNT },
		{ "long int", 8, RULE_DEFAULT_LONG },
		{ "long long unsigned int", 8, RULE_DEFAULT_LONG },
		{ "_Bool", 1, RULE_DEFAULT_BOOL },
		{ "unsigned char", 1, RULE_COUNT },
		{ "short unsigned int", 2, RULE_COUNT },
	};
	for (size_t i = 0; i < ARRAY_COUNT(integers); i++) {
		if (integers[i].size != size)
			continue;
		uint32_t type = layout_find(solver->layout, BTF_INT, integers[i].name);
		int prior = points_of(solver, RULE_DEFAULT);
		if (integers[i].ahead != RULE_COUNT)
			prior += points_of(solver, integers[i].ahead);
		if (integers[i].ahead == RULE_DEFAULT_BOOL)
			solver_add(solver,
				   (struct scored){ .type = type, .prior = (int16_t)prior });
		else
			add_with_array(solver, type, prior, false);
	}
	if (size == 8 && solver->layout->records[0].pointer)
		add_with_array(solver, solver->layout->records[0].pointer,
			       points_of(solver, RULE_DEFAULT) - 1, false);
}

/*
 * Nothing speaks: what is as small as an integer is one, most often, and none that could not lie at
 * this address.
 */
static void add_by_room(struct solver *solver)
{
	uint64_t room = solver->input->subject->room, address = solver->input->subject->address;
	uint32_t size = room >= 8 ? 8 : room >= 4 ? 4 : 1;
	while (address % size)
		size /= 2;
	if (room <= 16)
		add_default(solver, size);
	if (room == 8)
		add_default(solver, 4);
	size_t kept = 0;
	for (size_t i = 0; i < solver->count; i++)
		if (!solver->items[i].count)
			solver->items[kept++] = solver->items[i];
	solver->count = kept;
}

void solver_grow_seed(struct solver *solver, const struct wish *seed)
{
	if (!seed->type)
		return;
	if (seed->kind == CLUE_WHOLE) {
		uint32_t element = seed->type, count = 0;
		if (layout_kind(solver->layout, seed->type) == BTF_ARRAY) {
			count = layout_array_count(solver->layout, seed->type);
			element = layout_target(solver->layout, seed->type);
		}
		solver_add(solver, (struct scored){ .type = element,
						    .count = count,
						    .is_direct = true,
						    .is_proved = count != 0,
						    .is_fact = true,
						    .is_exact = seed->shows_sign });
		return;
	}
	if (!seed->offset && seed->count)
		solver_add(solver, (struct scored){ .type = seed->type,
						    .count = seed->count,
						    .is_direct = true });
	if (!seed->offset && seed->kind != CLUE_SHAPE)
		add_with_array(solver, seed->type, 0, true);
	else if (!seed->offset)
		add_with_array(solver, seed->type, -1, true);
	struct held held = { solver->layout->records[seed->type].holders,
			     layout_size(solver->layout, seed->type), seed->offset, 0,
			     seed->offset ? points_of(solver, RULE_INSIDE)
					  : points_of(solver, RULE_CONTAINER) };
	climb(solver, &held, least_size(solver));
	settle_offers(solver);
	add_elements(solver, seed);
}

#define RANK_LAST (UINT32_MAX / 2)

/* Seeds with few holders first: they say most. A number further in has none, and says nothing. */
static uint32_t rank_seed(const struct solver *solver, const struct wish *wish)
{
	if (wish->kind == CLUE_WHOLE)
		return 0;
	uint32_t holders = solver->layout->records[wish->type].held_by;
	if (wish->offset && !holders)
		return RANK_LAST;
	return 1 + (wish->offset ? 200 : 0) + holders;
}

/* What members are that are called so, and a pointer to it. */
static void add_used(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	uint32_t used = solver->input->used;
	int prior = points_of(solver, RULE_USED);
	if (!used)
		return;
	uint32_t types[] = { used, layout->records[used].pointer };
	for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
		uint32_t size = layout_size(layout, types[i]);
		if (!size || solver->input->subject->room / size > 1024)
			continue;
		if (solver->input->says_many)
			add_with_array(solver, types[i], prior, false);
		else
			solver_add(solver,
				   (struct scored){ .type = types[i], .prior = (int16_t)prior });
	}
}

static void grow_candidates(struct solver *solver)
{
	bool used[256] = { false };
	size_t wishes = solver->wish_count < ARRAY_COUNT(used) ? solver->wish_count
							       : ARRAY_COUNT(used);
	for (int round = 0; round < SEEDS_MAX; round++) {
		size_t best = wishes;
		uint32_t best_rank = UINT32_MAX;
		for (size_t i = 0; i < wishes; i++) {
			const struct wish *wish = &solver->wishes[i];
			if (used[i] || !wish->type)
				continue;
			uint32_t rank = rank_seed(solver, wish);
			if (rank < best_rank) {
				best_rank = rank;
				best = i;
			}
		}
		if (best == wishes)
			break;
		used[best] = true;
		solver->visits = 0;
		solver_grow_seed(solver, &solver->wishes[best]);
	}
	/* What is directly named at 0 must be among them, however many seeds there are. */
	for (size_t i = 0; i < solver->wish_count; i++) {
		const struct wish *wish = &solver->wishes[i];
		if (wish->type && !wish->offset && wish->kind != CLUE_WHOLE)
			add_with_array(solver, wish->type, wish->kind == CLUE_SHAPE ? -1 : 0, true);
		if (!wish->offset && (wish->size == 8 || wish->kind == CLUE_STRIDE))
			add_cpumask(solver);
		if (!wish->offset)
			add_cpumask_pointer(solver, wish);
		if (wish->kind == CLUE_VALUE && wish->type == solver->layout->records[0].pointer)
			add_buckets(solver);
		if (wish->kind == CLUE_ACCESS && !wish->offset)
			add_default(solver, wish->size);
		if (wish->kind == CLUE_STRIDE && !wish->offset && wish->size <= 8)
			add_default(solver, wish->size);
	}
}

void solver_grow(struct solver *solver)
{
	grow_candidates(solver);
	if (!solver->count)
		add_by_room(solver);
	add_used(solver);
}
