// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/siblings.h"

#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/target/object.h"

#define DEPTH_MAX      12
#define ROWS_MAX       256
#define SIBLINGS_MIN   4
#define SEARCHED_MAX   16 /* siblings, of each of which so many types are tried on all */
#define TYPES_A_SEARCH 16
#define TYPES_MAX      128
#define CLEAR_MARGIN   8 /* points of a table that is but a guess */
#define MARGIN_MIN     (8 * FIT_BIT)
#define COST_MAX       (1 << 24)
#define ARRAY_COST     (4 * FIT_BIT) /* one row has one of them, most often */

/* A type, and the bits that the bytes of all siblings take with it. */
struct common {
	uint32_t type;
	int64_t cost;
};

struct siblings {
	struct one *one;
	size_t subjects[ROWS_MAX];
	size_t count;
	struct common types[TYPES_MAX];
	size_t type_count;
	/* Bytes of each of the numbers that code indexes at the start; 0: it does not. */
	uint32_t numbers;
};

static uint64_t word_at(const struct knowledge *knowledge, uint64_t address)
{
	uint64_t value = 0;
	error_free(memory_read_u64(knowledge->target->memory, address, &value));
	return value;
}

/* What nobody uses by itself, or it would be known by that. */
static void add_sibling(struct siblings *siblings, const struct answer *answers, uint64_t address)
{
	const struct subjects *subjects = siblings->one->knowledge->subjects;
	uint64_t offset;
	const struct subject *subject = subject_at(subjects, address, &offset);
	if (!is_kernel_pointer(address) || !subject || offset || subject->module)
		return;
	size_t number = (size_t)(subject - subjects->items);
	if (answers[number].confidence >= CONFIDENCE_INFERRED ||
	    answers[number].sources >> SOURCE_CODE & 1)
		return;
	for (size_t i = 0; i < siblings->count; i++)
		if (siblings->subjects[i] == number)
			return;
	siblings->subjects[siblings->count++] = number;
}

/* Its bytes; NULL: they are all zero. */
static struct error *fit_sibling(struct siblings *siblings, size_t index, struct fit **ret)
{
	struct one *one = siblings->one;
	const struct subject *subject = &one->knowledge->subjects->items[siblings->subjects[index]];
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	symtab_get_into(one->knowledge->target->symbols, subject->symbol, name, &symbol);
	one_begin(one, subject, &symbol);
	TRY(names_prepare(&one->question));
	*ret = fit_create(&one->question);
	/* The symbol is gone when it is asked. */
	if (*ret)
		fit_read_name(*ret);
	return NULL;
}

static bool begins_with_numbers(const struct layout *layout, uint32_t type, uint32_t size)
{
	const struct field *field;
	for (int depth = 0; layout_is_compound(layout, type) && depth < DEPTH_MAX; depth++) {
		if (!(field = layout_field(layout, type, 0)) || field->bit_size)
			return false;
		type = field->type;
	}
	uint32_t number = layout_target(layout, type);
	enum btf_kind kind = layout_kind(layout, number);
	return layout_kind(layout, type) == BTF_ARRAY && layout_size(layout, number) == size &&
	       (kind == BTF_INT || kind == BTF_ENUM || kind == BTF_ENUM64);
}

/* What a table points at is const only if it was declared so; other constants may just be never
 * written. */
static void add_type(struct siblings *siblings, uint32_t type)
{
	const struct question *question = &siblings->one->question;
	if (question->among_constants && layout_lacks_const(question->layout, type))
		return;
	if (siblings->numbers && !begins_with_numbers(question->layout, type, siblings->numbers))
		return;
	for (size_t i = 0; i < siblings->type_count; i++)
		if (siblings->types[i].type == type)
			return;
	if (siblings->type_count < TYPES_MAX)
		siblings->types[siblings->type_count++] = (struct common){ type, 0 };
}

static struct error *collect_types(struct siblings *siblings)
{
	for (size_t i = 0; i < siblings->count && i < SEARCHED_MAX; i++) {
		struct fitted found[TYPES_A_SEARCH];
		struct fit *fit;
		TRY(fit_sibling(siblings, i, &fit));
		size_t count = fit ? fit_search(fit, found, TYPES_A_SEARCH) : 0;
		for (size_t k = 0; k < count; k++)
			add_type(siblings, found[k].type);
		fit_destroy(fit);
	}
	return NULL;
}

/* Whether a type is rare counts once; a name that says nothing of most says little of all. */
static struct error *count_costs(struct siblings *siblings)
{
	const struct question *question = &siblings->one->question;
	for (size_t i = 0; i < siblings->count; i++) {
		struct fit *fit;
		TRY(fit_sibling(siblings, i, &fit));
		for (size_t k = 0; fit && k < siblings->type_count; k++) {
			struct common *common = &siblings->types[k];
			uint32_t size = layout_size(question->layout, common->type);
			uint64_t most = size ? question->subject->room / size : 0;
			common->cost += fit_cost(fit, common->type, most > 1 ? (uint32_t)most : 0,
						 COST_MAX) +
					(most > 1 ? ARRAY_COST : 0);
			common->cost += (fit_prior(fit, common->type, false) -
					 fit_name(fit, common->type)) /
					(int)siblings->count;
		}
		fit_destroy(fit);
	}
	return NULL;
}

/* 0: none is far ahead. */
static uint32_t choose(const struct siblings *siblings)
{
	const struct common *best = NULL;
	int64_t next = INT64_MAX;
	for (size_t i = 0; i < siblings->type_count; i++) {
		const struct common *common = &siblings->types[i];
		if (!best || common->cost < best->cost) {
			next = best ? best->cost : INT64_MAX;
			best = common;
		} else if (common->cost < next) {
			next = common->cost;
		}
	}
	return best && best->cost < FIT_IMPOSSIBLE && next - best->cost >= MARGIN_MIN ? best->type
										      : 0;
}

/* Those that rows with the function `function` at `key` point at from `offset`. */
static struct error *find_of(struct one *one, const struct answer *answers, size_t table,
			     uint32_t offset, uint32_t key, uint64_t function, uint32_t *types)
{
	const struct layout *layout = one->solver->layout;
	const struct answer *answer = &answers[table];
	uint64_t address = one->knowledge->subjects->items[table].address;
	uint32_t step = layout_size(layout, answer->type);
	struct siblings siblings = { .one = one };
	if (layout_kind(layout, answer->type) == BTF_PTR)
		siblings.numbers = layout_size(layout, layout_target(layout, answer->type));
	for (uint32_t i = 0; i < answer->count && i < ROWS_MAX; i++) {
		uint64_t row = address + (uint64_t)i * step;
		if (key == offset || word_at(one->knowledge, row + key) == function)
			add_sibling(&siblings, answers, word_at(one->knowledge, row + offset));
	}
	if (siblings.count < SIBLINGS_MIN)
		return NULL;
	TRY(collect_types(&siblings));
	TRY(count_costs(&siblings));
	uint32_t type = choose(&siblings);
	for (size_t i = 0; layout_is_compound(layout, type) && i < siblings.count; i++)
		types[siblings.subjects[i]] = type;
	return NULL;
}

/* Rows with one function mean one thing by a pointer. */
static struct error *find_column(struct one *one, const struct answer *answers, size_t table,
				 uint32_t offset, uint32_t *types)
{
	const struct layout *layout = one->solver->layout;
	const struct answer *answer = &answers[table];
	uint64_t address = one->knowledge->subjects->items[table].address;
	uint32_t step = layout_size(layout, answer->type), key = offset;
	const struct field *field;
	for (uint32_t i = 0; key == offset && (field = layout_field(layout, answer->type, i)); i++)
		if (layout_kind(layout, layout_target(layout, field->type)) == BTF_FUNC_PROTO)
			key = field->offset;
	for (uint32_t i = 0; i < answer->count && i < ROWS_MAX; i++) {
		uint64_t function = word_at(one->knowledge, address + (uint64_t)i * step + key);
		uint32_t before = 0;
		while (before < i && key != offset &&
		       word_at(one->knowledge, address + (uint64_t)before * step + key) != function)
			before++;
		if (before < i || (i && key == offset))
			continue;
		TRY(find_of(one, answers, table, offset, key, function, types));
	}
	return NULL;
}

/* A void *, or a number that may be one. */
static bool is_untyped(const struct layout *layout, uint32_t type)
{
	enum btf_kind kind = layout_kind(layout, type);
	return layout_size(layout, type) == 8 &&
	       (kind == BTF_INT || (kind == BTF_PTR && !layout_target(layout, type)));
}

/* Numbers behind a table's pointers may as well be the first member of a struct. */
static bool leads_to_numbers(const struct layout *layout, const struct answer *answer)
{
	uint32_t target = layout_target(layout, answer->type);
	return layout_kind(layout, answer->type) == BTF_PTR &&
	       layout_kind(layout, target) == BTF_INT && layout_size(layout, target) > 1;
}

struct error *siblings_find(struct one *one, const struct answer *answers, size_t table,
			    uint32_t *types)
{
	const struct layout *layout = one->solver->layout;
	const struct answer *answer = &answers[table];
	const struct field *field;
	if (answer->count < SIBLINGS_MIN || one->knowledge->subjects->items[table].module)
		return NULL;
	if (leads_to_numbers(layout, answer))
		return find_of(one, answers, table, 0, 0, 0, types);
	if (!layout_is_compound(layout, answer->type) ||
	    (answer->confidence == CONFIDENCE_GUESS && answer->margin < CLEAR_MARGIN))
		return NULL;
	for (uint32_t i = 0; (field = layout_field(layout, answer->type, i)); i++)
		if (!field->bit_size && is_untyped(layout, field->type))
			TRY(find_column(one, answers, table, field->offset, types));
	return NULL;
}
