// SPDX-License-Identifier: GPL-3.0-or-later
/* The types that explain the bytes of a symbol best, of all that there are. */
#include "debugger/infer/evidence/own_data_fit_private.h"
#include <stdlib.h>
#include <string.h>

#define SEARCH_MARGIN  (16 * FIT_BIT) /* worse than the best so far: not counted to the end */
#define UNION_PRIOR    (18 * FIT_BIT)
#define TWO_OF_A_KIND  (3 * FIT_BIT)  /* an array */
#define POINTERS_PRIOR (12 * FIT_BIT) /* void * */
#define NAME_MIN       (4 * FIT_BIT)
#define NOT_CONST      (8 * FIT_BIT) /* see RULE_CONSTANT */
#define SLACK_MAX      64
#define NAME_POINTERS  (8 * FIT_BIT)
#define FIRST_WORDS    7 /* bits of outline.pointers */

/* A struct that can be, though its name does not speak for it. */
struct unnamed {
	const struct outline *outline;
	int prior;
};

struct search {
	struct fit *fit;
	struct fitted *found; /* best first */
	size_t count, room;
	struct unnamed *unnamed;
	size_t unnamed_count;
};

static void keep(struct search *search, const struct fitted *fitted)
{
	size_t at = search->count;
	while (at && search->found[at - 1].cost > fitted->cost)
		at--;
	if (at >= search->room)
		return;
	size_t last = search->count < search->room ? search->count : search->room - 1;
	memmove(&search->found[at + 1], &search->found[at], (last - at) * sizeof(*search->found));
	search->found[at] = *fitted;
	search->count = last + 1;
}

/* `outline`: of the type; NULL: it is no struct. */
static void try_one(struct search *search, uint32_t type, const struct outline *outline, int prior)
{
	struct fit *fit = search->fit;
	uint64_t size = outline ? outline->size : layout_size(fit->layout, type);
	if (!size || size > fit->question->subject->room)
		return;
	uint64_t count = fit->question->subject->room / size;
	int best = search->count ? search->found->cost : FIT_IMPOSSIBLE / 2;
	struct fitted fitted = { .type = type, .count = count > 1 ? (uint32_t)count : 0 };
	prior += fitted.count ? TWO_OF_A_KIND : 0;
	int limit = best + SEARCH_MARGIN - prior;
	fitted.cost = prior + (outline ? fit_cost_outlined(fit, outline, fitted.count, limit)
				       : fit_cost(fit, type, fitted.count, limit));
	if (fitted.cost < best + SEARCH_MARGIN)
		keep(search, &fitted);
}

static void try_type(struct search *search, uint32_t type, int prior)
{
	try_one(search, type, NULL, prior);
}

/* Dividing 64 bits takes twice as long. */
static uint64_t remainder_of(uint64_t room, uint32_t size)
{
	return room <= UINT32_MAX ? (uint32_t)room % size : room % size;
}

static bool can_be(const struct fit *fit, const struct outline *outline)
{
	const struct subject *subject = fit->question->subject;
	if (outline->size > subject->room || fit->pointers & outline->numbers ||
	    fit->numbers & outline->pointers || fit->in_use & outline->holes ||
	    (fit->question->has_literals && outline->is_written))
		return false;
	uint64_t gap = remainder_of(subject->room, outline->size);
	uint64_t end = subject->address + subject->room;
	return gap < SLACK_MAX || gap < (end & -end);
}

static int prior_of(const struct fit *fit, uint32_t type, bool is_named)
{
	const struct layout *layout = fit->layout;
	const struct families *families = fit->question->knowledge->families;
	switch (layout_kind(layout, type)) {
	case BTF_STRUCT:
		return is_named ? 0 : families_rarity(families, type) * FIT_BIT;
	case BTF_UNION:
		return is_named ? 0 : UNION_PRIOR;
	case BTF_PTR: {
		uint32_t target = layout_target(layout, type);
		if (!target || layout_kind(layout, target) == BTF_FUNC_PROTO)
			return POINTERS_PRIOR;
		return is_named || !layout_is_compound(layout, target)
			       ? 0
			       : families_rarity(families, type) * FIT_BIT;
	}
	default:
		return 0;
	}
}

int fit_prior(const struct fit *fit, uint32_t type, bool is_named)
{
	return prior_of(fit, type, is_named) +
	       (fit->question->among_constants && layout_lacks_const(fit->layout, type) ? NOT_CONST
											: 0);
}

static int kin_points(const struct fit *fit, uint32_t type)
{
	for (size_t i = 0; fit->kin_bits >> type % 64 & 1 && i < fit->kin_count; i++)
		if (fit->kin[i].type == type)
			return fit->kin[i].points * FIT_BIT;
	return 0;
}

/* An array of pointers to a type, likelier where the names of its kin say so. */
static void try_pointer(struct search *search, uint32_t target)
{
	const struct fit *fit = search->fit;
	uint32_t pointer = fit->layout->records[target].pointer;
	try_type(search, pointer, fit_prior(fit, pointer, false) - kin_points(fit, pointer));
}

/* Tries an array of pointers to a type whose name resembles the symbol's. */
static void try_pointer_named(struct search *search, uint32_t target, int name)
{
	const struct fit *fit = search->fit;
	uint32_t pointer = fit->layout->records[target].pointer;
	const struct families *families = fit->question->knowledge->families;
	if (pointer)
		try_type(search, pointer, families_rarity(families, pointer) * FIT_BIT - name);
}

static void search_scalars(struct search *search)
{
	static const char *const scalars[] = {
		"char",		"unsigned char", "short unsigned int",
		"unsigned int", "int",		 "long unsigned int",
		"_Bool"
	};
	const struct layout *layout = search->fit->layout;
	uint64_t value = word_load(search->fit->question, 0, 8);
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		try_type(search, layout_find(layout, BTF_INT, scalars[i]), 0);
	try_type(search, layout->records[0].pointer, POINTERS_PRIOR);
	for (size_t i = 0; i < search->fit->kin_count; i++)
		if (layout_kind(layout, search->fit->kin[i].type) == BTF_PTR)
			try_pointer(search, layout_target(layout, search->fit->kin[i].type));
	uint32_t text = layout->character;
	try_type(search, text ? layout->records[text].pointer : 0, 0);
	uint32_t type = knowledge_type_in(search->fit->question->knowledge, value, layout);
	/* A pointer to it, or to what it begins with. */
	for (int depth = 0; type && depth < 3; depth++) {
		const struct field *field =
			layout_is_compound(layout, type) ? layout_field(layout, type, 0) : NULL;
		try_pointer(search, type);
		type = field && !field->offset && !field->bit_size ? field->type : 0;
	}
}

/* Points for a name that resembles the symbol's. */
static int name_points(const struct fit *fit, const struct outline *outline)
{
	int family = kin_points(fit, outline->type);
	int points = FIT_BIT * outlines_name_points(fit->layout->outlines, outline, fit->name,
						    fit->name_count, fit->name_bits);
	return points > family ? points : family;
}

int fit_name(struct fit *fit, uint32_t type)
{
	const struct outline *outline = outlines_find(fit->layout->outlines, type);
	fit_read_name(fit);
	if (outline)
		return name_points(fit, outline);
	return kin_points(fit, type);
}

/* Those whose name speaks for them; the others are put down where there are pointers: numbers look
 * like any other numbers. */
static void search_named(struct search *search)
{
	const struct fit *fit = search->fit;
	const struct outlines *outlines = fit->layout->outlines;
	for (size_t i = 0; i < outlines->count; i++) {
		const struct outline *outline = &outlines->items[i];
		bool is_possible = !outline->is_union && can_be(fit, outline);
		if (outline->is_union || (!is_possible && !(fit->pointers & FIRST_WORDS)))
			continue;
		int name = name_points(fit, outline);
		if (name >= NAME_POINTERS && fit->pointers & FIRST_WORDS)
			try_pointer_named(search, outline->type, name);
		if (!is_possible)
			continue;
		int prior = fit_prior(fit, outline->type, false) - name;
		if (name >= NAME_MIN)
			try_one(search, outline->type, outline, prior);
		else if (fit->pointers)
			search->unnamed[search->unnamed_count++] =
				(struct unnamed){ outline, prior };
	}
}

size_t fit_search(struct fit *fit, struct fitted *ret, size_t room)
{
	struct search search = { .fit = fit, .found = ret, .room = room };
	search.unnamed = malloc((fit->layout->outlines->count + 1) * sizeof(*search.unnamed));
	if (!search.unnamed)
		return 0;
	fit_prepare_leaves(fit);
	fit_read_name(fit);
	search_scalars(&search);
	search_named(&search);
	for (size_t i = 0; i < search.unnamed_count; i++) {
		const struct unnamed *one = &search.unnamed[i];
		try_one(&search, one->outline->type, one->outline, one->prior);
	}
	free(search.unnamed);
	return search.count;
}
