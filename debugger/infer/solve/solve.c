// SPDX-License-Identifier: GPL-3.0-or-later
/* Candidates, and the choice among them. */
#include "debugger/infer/solve/solve.h"

#include "base/array.h"
#include "debugger/infer/solve/array_length.h"
#include <stdlib.h>
#include <string.h>

#define VISITS_MAX     20000 /* holders that one question climbs */
#define CLIMB_MAX      6
#define CANDIDATES_MAX 1500
#define SEEDS_MAX      8 /* clues that candidates are made from */
#define ARRAYS_MAX     4
#define SLACK_MAX      64 /* bytes before the next symbol that alignment explains */

#define UP_CAST_HOLDERS 5 /* structs that begin with a type, from which on it is a base of many */

/* Points that a candidate starts with. */
#define PRIOR_LISTS  0	 /* an array of what is seldom seen alone */
#define GUESS_MIN    -60 /* points; below that, nothing is said */
#define REJECTED_MIN 0	 /* points; of what something contradicts */
#define PRIOR_NONE   -1000

#define NO_POINTS (-1000000) /* less than any candidate has */

struct error *solver_init(struct solver *solver, const struct layout *layout)
{
	*solver = (struct solver){ .layout = layout };
	solver->marks = calloc((size_t)layout->end + 1, sizeof(*solver->marks));
	solver->matches = calloc(MATCHES_CACHE, sizeof(*solver->matches));
	return solver->marks && solver->matches ? NULL : error_no_memory();
}

void solver_deinit(struct solver *solver)
{
	free(solver->marks);
	free(solver->items);
	free(solver->wishes);
	free(solver->matches);
	*solver = (struct solver){ 0 };
}

/* --- candidates ----------------------------------------------------------------------------- */

static struct scored *find_item(struct solver *solver, uint32_t type, uint32_t count)
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
static void add(struct solver *solver, struct scored item)
{
	/* A variable that points at a hlist_node is the head of its list. */
	if (solver->layout->hlist_node &&
	    layout_target(solver->layout, item.type) == solver->layout->hlist_node)
		item.type = layout_find(solver->layout, BTF_STRUCT, "hlist_head");
	uint32_t size = layout_size(solver->layout, item.type);
	uint64_t room = solver->input->subject->room;
	if (!size || size > room || solver->count >= CANDIDATES_MAX)
		return;
	struct scored *old = find_item(solver, item.type, item.count);
	if (old) {
		old->prior = old->prior > item.prior ? old->prior : item.prior;
		old->is_direct |= item.is_direct;
		old->is_fact |= item.is_fact;
		old->is_proved |= item.is_proved;
		return;
	}
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
	add(solver, (struct scored){ .type = type, .prior = PRIOR_NONE });
	struct scored *item = find_item(solver, type, 0);
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

static int array_prior(const struct solver *solver, uint32_t type)
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

/* The type, and an array of it where more than one fits. */
static void add_with_array(struct solver *solver, uint32_t type, int prior, bool direct)
{
	uint64_t room = solver->input->subject->room;
	uint32_t size = layout_size(solver->layout, type);
	add(solver, (struct scored){ .type = type, .prior = (int16_t)prior, .is_direct = direct });
	enum btf_kind kind = layout_kind(solver->layout, type);
	if (!size || room / size < 2 || kind == BTF_ARRAY)
		return;
	add(solver, (struct scored){ .type = type,
				     .count = (uint32_t)(room / size),
				     .prior = (int16_t)(prior + array_prior(solver, type)),
				     .is_direct = direct });
}

/* Takes a bitmap of a cpumask's size for a cpumask. */
static void add_cpumask(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	uint32_t size = layout_size(layout, layout->cpumask);
	uint64_t room = solver->input->subject->room;
	if (size > 8 && room >= size && room - size < SLACK_MAX)
		add(solver, (struct scored){ .type = layout->cpumask, .is_direct = true });
}

/*
 * What functions of bitmaps take as unsigned long * is most often the bits of a cpumask; a
 * cpumask_var_t is a pointer to one where they are large.
 */
static void add_cpumask_pointer(struct solver *solver, const struct wish *wish)
{
	if (wish->kind == CLUE_VALUE && solver_is_cpumask_bits(solver->layout, wish->type))
		add(solver,
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
			add(solver, (struct scored){ .type = seed->type,
						     .count = count,
						     .is_direct = true });
		for (uint32_t h = layout->records[seed->type].holders; h != HOLDER_NONE;
		     h = layout->holders[h].next) {
			const struct holder *holder = &layout->holders[h];
			if (++solver->visits > VISITS_MAX)
				return;
			if (holder->offset == offset && layout_has_name(layout, holder->type) &&
			    layout_size(layout, holder->type) == stride->size)
				add(solver,
				    (struct scored){ .type = holder->type,
						     .count = count,
						     .prior = points_of(solver, RULE_INSIDE) });
		}
	}
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
			add(solver, (struct scored){ .type = type, .prior = (int16_t)prior });
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

static void grow_seed(struct solver *solver, const struct wish *seed)
{
	if (!seed->type)
		return;
	if (seed->kind == CLUE_WHOLE) {
		uint32_t element = seed->type, count = 0;
		if (layout_kind(solver->layout, seed->type) == BTF_ARRAY) {
			count = layout_array_count(solver->layout, seed->type);
			element = layout_target(solver->layout, seed->type);
		}
		add(solver, (struct scored){ .type = element,
					     .count = count,
					     .is_direct = true,
					     .is_proved = count != 0,
					     .is_fact = seed->kind == CLUE_WHOLE });
		return;
	}
	if (!seed->offset && seed->count)
		add(solver,
		    (struct scored){ .type = seed->type, .count = seed->count, .is_direct = true });
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
			add(solver, (struct scored){ .type = types[i], .prior = (int16_t)prior });
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
		grow_seed(solver, &solver->wishes[best]);
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
		if (wish->kind == CLUE_ACCESS && !wish->offset)
			add_default(solver, wish->size);
		if (wish->kind == CLUE_STRIDE && !wish->offset && wish->size <= 8)
			add_default(solver, wish->size);
	}
}

/* --- the choice -------------------------------------------------------------------------- */

static int compare_scored(const void *left, const void *right)
{
	const struct scored *a = left, *b = right;
	if (!a->rejected != !b->rejected)
		return a->rejected ? 1 : -1;
	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	if (a->is_direct != b->is_direct)
		return a->is_direct ? -1 : 1;
	if (!a->count != !b->count)
		return a->count ? 1 : -1;
	return a->type < b->type ? -1 : a->type > b->type;
}

struct scored *solver_consider(struct solver *solver, uint32_t type, uint32_t count)
{
	struct scored *item = find_item(solver, type, count);
	if (item)
		return item;
	size_t before = solver->count;
	add(solver, (struct scored){ .type = type,
				     .count = count,
				     .prior = points_of(solver, RULE_SEARCHED) });
	if (solver->count == before)
		return NULL;
	item = &solver->items[before];
	solver_check(solver, item);
	return item;
}

bool solver_is_outgrown(const struct solver *solver)
{
	const struct layout *layout = solver->layout;
	const struct scored *best = solver->items;
	if (!solver->count || !best->count || best->is_proved ||
	    !layout_is_compound(layout, best->type) ||
	    solver->input->in_use <= layout_size(layout, best->type))
		return false;
	/* Another of them is known. */
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].type && solver->wishes[i].source != SOURCE_NAME &&
		    solver->wishes[i].offset >= layout_size(layout, best->type))
			return false;
	for (uint32_t i = layout->records[best->type].holders; i != HOLDER_NONE;
	     i = layout->holders[i].next)
		if (!layout->holders[i].offset &&
		    layout_size(layout, layout->holders[i].type) <= solver->input->subject->room)
			return true;
	return false;
}

static struct error *refine(struct solver *solver)
{
	if (solver->count)
		solver->settled = solver->items[0];
	solver->settled_margin = solver_margin(solver);
	struct error *error = solver->input->refine(solver->input->context, solver);
	if (error)
		return error;
	if (solver->out_of_memory)
		return error_no_memory();
	if (solver->count)
		array_sort(solver->items, solver->count, sizeof(*solver->items), compare_scored);
	return NULL;
}

void solver_judge_all(struct solver *solver)
{
	for (size_t i = 0; i < solver->count; i++)
		if (!solver->items[i].is_judged)
			solver_judge(solver, &solver->items[i]);
	array_sort(solver->items, solver->count, sizeof(*solver->items), compare_scored);
}

static bool is_twin(const struct solver *solver, uint32_t type, const struct scored *best)
{
	return type == best->type || layout_compare(solver->layout, type, best->type) != LIKE_NOT;
}

/* Of those that are judged, the points of the best but one that is no twin of it. */
static int second_points(const struct solver *solver)
{
	const struct scored *best = NULL;
	int second = NO_POINTS;
	for (size_t i = 0; i < solver->count; i++) {
		const struct scored *item = &solver->items[i];
		if (item->is_judged && (!best || compare_scored(item, best) < 0))
			best = item;
	}
	for (size_t i = 0; i < solver->count; i++) {
		const struct scored *item = &solver->items[i];
		if (item->is_judged && !item->rejected && item->score > second &&
		    !is_twin(solver, item->type, best))
			second = item->score;
	}
	return second;
}

/* Judges those that can get `least` points or more; false: there are no others to judge. */
static bool judge_some(struct solver *solver, int least)
{
	bool others = false;
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		if (item->is_judged || !solver_may_stand(item))
			continue;
		if (item->score + solver->input->judge_most < least)
			others = true;
		else
			solver_judge(solver, item);
	}
	return others;
}

/* Judges until no other can be the best, or the one that it is compared with. */
static void judge_best(struct solver *solver)
{
	int least = NO_POINTS, second;
	for (size_t i = 0; i < solver->count; i++)
		if (solver_may_stand(&solver->items[i]) && solver->items[i].score > least)
			least = solver->items[i].score;
	while (judge_some(solver, least)) {
		second = second_points(solver);
		if (second >= least)
			break;
		least = second != NO_POINTS ? second : least - solver->input->judge_most;
	}
	size_t judged = 0;
	for (size_t i = 0; i < solver->count; i++) {
		struct scored item = solver->items[i];
		if (!item.is_judged)
			continue;
		solver->items[i] = solver->items[judged];
		solver->items[judged++] = item;
	}
	array_sort(solver->items, judged, sizeof(*solver->items), compare_scored);
	/* All are contradicted: the best of them may still do as a guess. */
	if (!judged || solver->items->rejected)
		solver_judge_all(solver);
}

/* What a table of the kernel says and nothing contradicts needs no rivals. */
static bool settle_by_table(struct solver *solver)
{
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].kind == CLUE_WHOLE)
			grow_seed(solver, &solver->wishes[i]);
	for (size_t i = 0; i < solver->count; i++)
		solver_check(solver, &solver->items[i]);
	return solver->count == 1 && solver_confidence(solver) == CONFIDENCE_CERTAIN;
}

/* Puts the last one, which is judged, where it belongs among those that are. */
static void put_in_order(struct solver *solver)
{
	size_t last = solver->count - 1, at = 0;
	struct scored item = solver->items[last];
	while (at < last && solver->items[at].is_judged &&
	       compare_scored(&solver->items[at], &item) < 0)
		at++;
	memmove(&solver->items[at + 1], &solver->items[at], (last - at) * sizeof(item));
	solver->items[at] = item;
}

/*
 * What holds a thing that clues name is offered alone. An array of the best is one, too, if it is
 * of what is never alone, or if the name is that of several and more than one is in use.
 */
static void add_arrays(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	const struct solver_input *input = solver->input;
	struct scored best[ARRAYS_MAX];
	size_t count = solver->count < ARRAYS_MAX ? solver->count : ARRAYS_MAX;
	memcpy(best, solver->items, count * sizeof(best[0]));
	for (size_t i = 0; i < count; i++) {
		uint32_t type = best[i].type, size = layout_size(layout, type);
		uint64_t most = input->subject->room / size;
		bool is_many = array_ends_with_empty(layout, type) ||
			       (input->says_many && input->in_use > size);
		if (best[i].count || best[i].rejected || !layout_is_compound(layout, type) ||
		    most < 2 || !is_many || find_item(solver, type, 1))
			continue;
		size_t before = solver->count;
		add(solver, (struct scored){ .type = type,
					     .count = (uint32_t)most,
					     .prior = (int16_t)(best[i].prior +
								array_prior(solver, type)) });
		if (solver->count == before)
			continue;
		solver_check(solver, &solver->items[before]);
		put_in_order(solver);
	}
}

struct error *solve(struct solver *solver, const struct solver_input *input)
{
	solver->input = input;
	solver->count = 0;
	solver->out_of_memory = false;
	solver->stamp++;
	solver->settled = (struct scored){ .type = 0 };
	if (!solver_read_clues(solver))
		return error_no_memory();
	if (input->judge_most && settle_by_table(solver))
		return NULL;
	solver->count = 0;
	grow_candidates(solver);
	if (!solver->count)
		add_by_room(solver);
	add_used(solver);
	if (solver->out_of_memory)
		return error_no_memory();
	for (size_t i = 0; i < solver->count; i++)
		solver_check_clues(solver, &solver->items[i]);
	if (input->judge_most)
		judge_best(solver);
	else
		solver_judge_all(solver);
	add_arrays(solver);
	return NULL;
}

struct error *solver_refine(struct solver *solver)
{
	bool is_counted = solver->count && solver->items->is_counted && !solver->items->rejected;
	if (!solver->input->refine || is_counted ||
	    solver_confidence(solver) >= CONFIDENCE_INFERRED)
		return NULL;
	solver_judge_all(solver);
	return refine(solver);
}

int solver_margin(const struct solver *solver)
{
	if (!solver->count)
		return 0;
	const struct scored *best = solver->items;
	for (size_t i = 1; i < solver->count; i++) {
		const struct scored *next = &solver->items[i];
		if (next->rejected)
			break;
		if (!is_twin(solver, next->type, best))
			return best->score - next->score;
	}
	return best->score > 0 ? best->score : 0;
}

/*
 * A pointer to what many structs begin with, known from one clue: the function that takes it may
 * serve all of them.
 */
static bool is_up_cast(const struct solver *solver, const struct scored *best)
{
	const struct layout *layout = solver->layout;
	uint32_t target = layout_target(layout, best->type), holders = 0, clues = 0;
	if (layout_kind(layout, best->type) != BTF_PTR || !layout_is_compound(layout, target))
		return false;
	for (uint32_t i = layout->records[target].holders; i != HOLDER_NONE;
	     i = layout->holders[i].next)
		holders += !layout->holders[i].offset;
	for (size_t i = 0; i < solver->wish_count; i++)
		clues += solver->wishes[i].type == best->type ? solver->wishes[i].times : 0;
	return holders >= UP_CAST_HOLDERS && clues < 3;
}

enum confidence solver_confidence(const struct solver *solver)
{
	const struct scored *best = solver->items;
	if (!solver->count || best->score <= GUESS_MIN)
		return CONFIDENCE_UNKNOWN;
	if (best->rejected)
		return best->rejected_by != NOWHERE && best->score >= REJECTED_MIN
			       ? CONFIDENCE_GUESS
			       : CONFIDENCE_UNKNOWN;
	if (best->is_fact && !best->against && best->data >= 0)
		return CONFIDENCE_CERTAIN;
	if (best->is_refined)
		return CONFIDENCE_GUESS;
	int margin = solver_margin(solver), strength = best->typed + best->data;
	/* Elements that are no structs look like the members of many. */
	if (best->count && !layout_is_compound(solver->layout, best->type) && !best->is_proved)
		return CONFIDENCE_GUESS;
	if (is_up_cast(solver, best) || solver_is_outgrown(solver))
		return CONFIDENCE_GUESS;
	if (best->against > 3 || best->data < 0 || strength < 6 || margin < 4 || best->score < 4)
		return CONFIDENCE_GUESS;
	return CONFIDENCE_INFERRED;
}

struct error *scored_type(const struct layout *layout, const struct scored *item, struct type *ret)
{
	struct type type = { layout->btf, layout_shown(layout, item->type) };
	if (!item->count) {
		*ret = type;
		return NULL;
	}
	return type_array_of(type, item->count, ret);
}
