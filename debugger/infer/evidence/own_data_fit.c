// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/evidence/own_data_fit_private.h"

/* What a wrong word costs: more than describing one of which nothing is known. */
#define WRONG_WORD    (100 * FIT_BIT)
#define SMALL_NUMBER  16 /* a pointer may be so much: it means no object */
#define TEXT_VISITS   24 /* members among which pointers to text speak for a type */
#define DEPTH_MAX     12
#define SPARE_BITS    4 /* of numbers that are narrower than their type */
#define VISITS_MAX    4096
#define ENUMS_MAX     64
#define END_COST      (8 * FIT_BIT) /* of elements, before the room ends */
#define COUNTED_SLACK 64	    /* bytes of a room behind what is counted in it */
#define SIGN_COST     (3 * FIT_BIT) /* of a number that is none of those of its type */

/* Bytes in [from, to) that are not 0, as far as they are at hand. */
static int count_filled(const struct fit *fit, uint64_t from, uint64_t to)
{
	uint32_t size = fit->question->size;
	uint64_t end = to < size ? to : size;
	return from < end ? fit->filled[end] - fit->filled[from] : 0;
}

static int cost_padding(const struct fit *fit, uint64_t from, uint64_t to)
{
	return count_filled(fit, from, to) * fit_bits(RULE_PADDING);
}

static int cost_no_function(struct fit *fit)
{
	return fit_found(fit, RULE_FUNCTION_NONE);
}

static int cost_function(struct fit *fit, uint32_t prototype, uint64_t value)
{
	const struct function_entry *function = knowledge_function(fit->question->knowledge, value);
	if (!function->is_function)
		return cost_no_function(fit);
	if (!function->prototype.btf && !function->likely_count)
		return 4 * FIT_BIT;
	bool is_proved;
	enum likeness likeness = function_compare(function, fit->layout, prototype, &is_proved);
	if (likeness == LIKE_EXACTLY)
		return fit_found(fit, RULE_FUNCTION_RIGHT);
	if (likeness != LIKE_NOT)
		return FIT_BIT;
	return is_proved ? fit_found(fit, RULE_FUNCTION_OTHER) : 6 * FIT_BIT;
}

static int cost_object(struct fit *fit, uint32_t target, uint64_t value)
{
	const struct layout *layout = fit->layout;
	uint32_t there = knowledge_type_in(fit->question->knowledge, value, layout);
	bool is_right = there && layout_match(layout, there, 0, target) == LIKE_EXACTLY;
	/* A number is what many things begin with. */
	if (!there || layout_kind(layout, target) == BTF_INT)
		return fit_found_at(fit, RULE_POINTER_THERE, !there ? 4 : is_right ? 1 : 6);
	if (is_right)
		return fit_found(fit, RULE_POINTER_RIGHT);
	return layout_is_compound(layout, target) || layout_kind(layout, target) == BTF_PTR
		       ? fit_found(fit, RULE_POINTER_OTHER)
		       : 6 * FIT_BIT;
}

/* A pointer to bytes: to text, or to what only somebody calls so. */
static int cost_pointer_to_byte(struct fit *fit, bool is_char, enum word_kind word, uint64_t value)
{
	bool is_text = word == WORD_TEXT ||
		       (fit->evidence && word == WORD_OBJECT && word_is_text(fit->question, value));
	if (is_char && is_text && fit->visits < TEXT_VISITS)
		return fit_found_at(fit, RULE_POINTER_TEXT, word == WORD_TEXT ? 1 : 14);
	int bits = word == WORD_TEXT ? 1 : word == WORD_BYTES ? 2 : 14;
	return is_char ? bits * FIT_BIT : fit_found_at(fit, RULE_POINTER_THERE, bits);
}

static int cost_pointer(struct fit *fit, uint32_t type, uint32_t offset)
{
	const struct layout *layout = fit->layout;
	uint32_t target = layout_target(layout, type);
	enum btf_kind kind = layout_kind(layout, target);
	uint64_t value = word_load(fit->question, offset, 8);
	enum word_kind word = fit_word(fit, offset);
	if (word == WORD_ZERO)
		return ZERO_COST;
	if (word == WORD_NUMBER) {
		if (is_poison(value))
			return 5 * FIT_BIT;
		if (value > SMALL_NUMBER)
			(void)fit_found(fit, is_kernel_pointer(value) ? RULE_POINTER_THERE
								      : RULE_POINTER_NUMBER);
		return target ? WRONG_WORD : 16 * FIT_BIT + fit_number_cost(value, 8);
	}
	if (kind == BTF_FUNC_PROTO)
		return word == WORD_FUNCTION ? cost_function(fit, target, value)
					     : cost_no_function(fit);
	if (word == WORD_FUNCTION)
		return target ? 20 * FIT_BIT : fit_found_at(fit, RULE_POINTER_THERE, 10);
	if (kind == BTF_INT && layout_size(layout, target) == 1)
		return cost_pointer_to_byte(fit, target == layout->character, word, value);
	if (word == WORD_OBJECT)
		return target ? cost_object(fit, target, value)
			      : fit_found_at(fit, RULE_POINTER_THERE, 4);
	return fit_found_at(fit, RULE_POINTER_THERE,
			    !target ? (word == WORD_TEXT ? 8 : 6) : (word == WORD_TEXT ? 10 : 8));
}

static bool has_enumerator(const struct layout *layout, uint32_t type, uint64_t value,
			   unsigned int *ret_count)
{
	struct btf_type record;
	struct btf_enumerator enumerator;
	*ret_count = 0;
	if (!btf_get(layout->btf, type, &record))
		return true;
	for (uint32_t i = 0; i < ENUMS_MAX && btf_enumerator(&record, i, &enumerator); i++) {
		++*ret_count;
		if (((uint64_t)enumerator.value & 0xffffffff) == (value & 0xffffffff))
			return true;
	}
	/* So many count up from 0. */
	return *ret_count == ENUMS_MAX && (value & 0xffffffff) < record.vlen;
}

/* Of an integer of 8 bytes, or of half of one of 16. */
static int cost_long(struct fit *fit, uint32_t offset)
{
	uint64_t value = word_load(fit->question, offset, 8);
	if (offset % 8 || !is_kernel_pointer(value))
		return fit_number_cost(value, 8);
	return fit_word(fit, offset) == WORD_NUMBER ? fit_number_cost(value, 8) : 32 * FIT_BIT;
}

/* Integers that are a pointer, or half of one. */
static void find_pointer_in(struct fit *fit, uint32_t size, uint32_t offset)
{
	uint32_t first = offset & ~7u;
	uint64_t word = word_load(fit->question, first, 8);
	if (size == 4 && offset == first && word >= IMAGE_START && word < (uint64_t)-65536)
		(void)fit_found(fit, RULE_HALF_IMAGE);
	else if (size == 8 && is_kernel_pointer(word))
		(void)fit_found(fit, RULE_INTEGER_POINTER);
}

static int cost_scalar(struct fit *fit, uint32_t type, uint32_t offset)
{
	const struct layout_record *record = &fit->layout->records[type];
	uint64_t value = word_load(fit->question, offset, record->size <= 8 ? record->size : 8);
	if (fit->evidence)
		find_pointer_in(fit, record->size, offset);
	if (record->kind == BTF_ENUM || record->kind == BTF_ENUM64) {
		unsigned int count;
		if (!has_enumerator(fit->layout, type, value, &count))
			return 14 * FIT_BIT + fit_number_cost(value, record->size);
		return value ? (1 + fit_log2(count)) * FIT_BIT : ZERO_COST;
	}
	if (record->encoding & BTF_INT_BOOL)
		return value > 1 ? fit_found(fit, RULE_BOOL) : value ? FIT_BIT : ZERO_COST;
	/* Small negative numbers are for those with a sign, masks for those without. */
	bool is_negative = value >= 0xffff0000, has_sign = record->encoding & BTF_INT_SIGNED;
	if (record->size == 4 && value >> 31 && value != UINT32_MAX && is_negative != has_sign)
		return SIGN_COST + fit_number_cost(value, 4);
	if (record->size == 16)
		return cost_long(fit, offset) + cost_long(fit, offset + 8);
	return record->size == 8 ? cost_long(fit, offset) : fit_number_cost(value, record->size);
}

static bool is_text_byte(const struct fit *fit, uint32_t offset)
{
	uint8_t byte = offset < fit->question->size ? fit->question->bytes[offset] : 0;
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
}

/* A letter alone, between zeros or other numbers, is none. */
static bool is_in_text(const struct fit *fit, uint32_t offset)
{
	return is_text_byte(fit, offset) &&
	       (!offset || is_text_byte(fit, offset - 1) || is_text_byte(fit, offset + 1));
}

/* An array of bytes: cheap if they are text and the type says so. */
static int cost_bytes(const struct fit *fit, uint32_t element, uint32_t offset, uint32_t count)
{
	bool is_char = element == fit->layout->character;
	bool is_bool = fit->layout->records[element].encoding & BTF_INT_BOOL;
	int cost = 0, texts = 0;
	for (uint32_t i = 0; i < count && offset + i < fit->size && cost < fit->limit; i++) {
		uint8_t byte = fit->question->bytes[offset + i];
		bool is_text = is_in_text(fit, offset + i);
		texts += is_text ? 1 : byte ? -1 : 0;
		if (is_bool)
			cost += byte > 1 ? fit_bits(RULE_BOOL) : FIT_BIT;
		else if (is_char)
			cost += !byte	  ? FIT_BIT / 4
				: is_text ? 5 * FIT_BIT
				: i	  ? 12 * FIT_BIT
					  : 24 * FIT_BIT;
		else
			cost += !byte ? ZERO_COST : byte < 16 ? 6 * FIT_BIT : 10 * FIT_BIT;
	}
	return is_char && texts <= 1 ? cost + 24 * FIT_BIT : cost;
}

/*
 * Is a member the number behind a pointer, and says how many of what that points at its room has?
 * Then it tells next to nothing that the room has not told.
 */
static bool counts_before(struct fit *fit, const struct field *field, uint32_t offset)
{
	const struct layout *layout = fit->layout;
	uint32_t size = layout_size(layout, field->type);
	if (offset % 8 || offset < 8 || size > 8 || field[-1].offset + 8 != field->offset ||
	    layout_kind(layout, field->type) != BTF_INT ||
	    layout_kind(layout, field[-1].type) != BTF_PTR)
		return false;
	uint64_t step = layout_size(layout, layout_target(layout, field[-1].type));
	uint64_t count = word_load(fit->question, offset, size);
	uint64_t room = step && count ? fit_room_behind(fit, offset - 8) : 0;
	return room && count <= room / step && room - count * step < COUNTED_SLACK;
}

static int cost_type(struct fit *fit, uint32_t type, uint32_t offset, int depth);

/* Of a part, after others cost `spent`: not counted to the end where that is beyond the limit. */
static int cost_part(struct fit *fit, uint32_t type, uint32_t offset, int depth, int spent)
{
	fit->limit -= spent;
	int cost = cost_type(fit, type, offset, depth);
	fit->limit += spent;
	return cost;
}

static int cost_members(struct fit *fit, uint32_t type, uint32_t offset, int depth)
{
	const struct layout_record *record = &fit->layout->records[type];
	const struct field *field = &fit->layout->fields[record->first_field];
	uint64_t end = offset;
	int cost = 0;
	for (uint32_t i = 0; i < record->field_count; i++, field++) {
		uint64_t start = (uint64_t)offset + field->offset;
		if (cost > fit->limit || start > UINT32_MAX)
			return cost;
		if (field->bit_size) {
			uint64_t stop = start + 1 + (field->bit_size + 6) / 8;
			/* Neighbours share their bytes: those that are new are counted. */
			for (uint64_t at = end > start ? end : start; at < stop; at++)
				cost += fit_number_cost(word_load(fit->question, (uint32_t)at, 1),
							1);
			end = stop > end ? stop : end;
			continue;
		}
		if (start > end)
			cost += cost_padding(fit, end, start);
		bool is_count = i && counts_before(fit, field, (uint32_t)start);
		cost += is_count ? COUNTED_COST
				 : cost_part(fit, field->type, (uint32_t)start, depth + 1, cost);
		start += layout_size(fit->layout, field->type);
		end = start > end ? start : end;
	}
	return cost + cost_padding(fit, end, (uint64_t)offset + record->size);
}

/* Of a union, the cost of the member that explains the bytes best. */
static int cost_union(struct fit *fit, uint32_t type, uint32_t offset, int depth)
{
	const struct field *field;
	uint32_t size = layout_size(fit->layout, type);
	uint32_t arms = fit->layout->records[type].field_count;
	int best = FIT_IMPOSSIBLE;
	/* One that says it all is enough: unions of hooks have hundreds. */
	for (uint32_t i = 0; best > FIT_BIT && (field = layout_field(fit->layout, type, i)); i++) {
		if (field->bit_size)
			continue;
		int beyond = best < fit->limit ? fit->limit - best : 0;
		int cost = cost_part(fit, field->type, offset + field->offset, depth + 1, beyond) +
			   cost_padding(fit,
					(uint64_t)offset + layout_size(fit->layout, field->type),
					(uint64_t)offset + size);
		best = cost < best ? cost : best;
	}
	return best == FIT_IMPOSSIBLE ? 0 : best + fit_log2(arms) * FIT_BIT / 2;
}

static enum list_head_state list_head_at(struct fit *fit, uint32_t offset)
{
	if (offset % 8 || offset / 8 >= FIT_WORDS_MAX)
		return word_list_head(fit->question, offset);
	uint8_t *known = &fit->list_heads[offset / 8];
	if (!*known)
		*known = (uint8_t)(word_list_head(fit->question, offset) + 1);
	return (enum list_head_state)(*known - 1);
}

static int cost_list_head(struct fit *fit, uint32_t offset)
{
	switch (list_head_at(fit, offset)) {
	case LIST_HEAD_LINKED:
		return fit_found(fit, RULE_LIST_LINKED);
	case LIST_HEAD_NOT:
		return fit_found(fit, RULE_LIST_NOT);
	default:
		return 2 * FIT_BIT;
	}
}

/* Of bytes of which nothing is known. */
static int cost_unknown(const struct fit *fit, uint64_t start, uint64_t end)
{
	end = end < fit->size ? end : fit->size;
	return fit->unknown[(start + 7) / 8] - fit->unknown[(end + 7) / 8];
}

static int least_from(const struct fit *fit, uint64_t start)
{
	return start < fit->size ? fit->least[(start + 7) / 8] : 0;
}

/*
 * Of numbers of two bytes, none of which fills them: each takes as many bits as the largest. Longer
 * ones may as well be the members of structs.
 */
static int cost_narrow(const struct fit *fit, uint32_t element, uint32_t count)
{
	uint32_t step = layout_size(fit->layout, element), longest = 0, end = count;
	if (layout_kind(fit->layout, element) != BTF_INT || step != 2)
		return FIT_IMPOSSIBLE;
	if (end > fit->size / step)
		end = fit->size / step;
	for (uint32_t i = 0; i < end; i++) {
		uint32_t length = (uint32_t)fit_log2(word_load(fit->question, i * step, step));
		longest = length > longest ? length : longest;
	}
	return longest + SPARE_BITS <= 8 * step ? (int)(end * (longest + 1) * FIT_BIT)
						: FIT_IMPOSSIBLE;
}

static int cost_array(struct fit *fit, uint32_t element, uint32_t count, uint32_t offset, int depth)
{
	uint32_t step = layout_size(fit->layout, element);
	/* Behind constants may lie literals that have no symbol. */
	int cost = 0, ended = FIT_IMPOSSIBLE;
	if (step == 1 && layout_kind(fit->layout, element) == BTF_INT)
		return fit->evidence ? 0 : cost_bytes(fit, element, offset, count);
	if (fit->evidence && count > EVIDENCE_ELEMENTS)
		count = EVIDENCE_ELEMENTS;
	if (!depth && step)
		ended = cost_narrow(fit, element, count);
	for (uint32_t i = 0; step && i < count && cost <= fit->limit; i++) {
		uint64_t start = offset + (uint64_t)i * step;
		if (start >= fit->size)
			break;
		if (i && step >= 8 && !depth && fit->question->has_literals) {
			int rest = cost + END_COST +
				   cost_unknown(fit, start, offset + (uint64_t)count * step);
			ended = rest < ended ? rest : ended;
		}
		/* What follows this element costs at least so much, whatever its type. */
		int behind = depth ? 0 : least_from(fit, start + step);
		cost += cost_part(fit, element, (uint32_t)start, depth + 1, cost + behind);
		if (cost + behind > fit->limit)
			cost = fit->limit + 1;
	}
	return cost < ended ? cost : ended;
}

static bool is_zero(const struct fit *fit, uint32_t offset, uint32_t size)
{
	uint32_t left = fit->size - offset;
	return !count_filled(fit, offset, offset + (size < left ? size : left));
}

static int cost_type(struct fit *fit, uint32_t type, uint32_t offset, int depth)
{
	const struct layout *layout = fit->layout;
	if (depth > DEPTH_MAX || offset >= fit->size)
		return 0;
	if (++fit->visits > (fit->evidence ? EVIDENCE_VISITS : VISITS_MAX))
		return fit->limit + 1;
	enum btf_kind kind = layout_kind(layout, type);
	switch (kind) {
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ARRAY:
		if (is_zero(fit, offset, layout_size(layout, type)))
			return ZERO_COST;
		if (kind == BTF_ARRAY)
			return cost_array(fit, layout_target(layout, type),
					  layout_array_count(layout, type), offset, depth);
		/* Any arm of a union may be the one in use: the best is no evidence. */
		if (kind == BTF_UNION)
			return fit->evidence ? 0 : cost_union(fit, type, offset, depth);
		return type == layout->list_head ? cost_list_head(fit, offset)
						 : cost_members(fit, type, offset, depth);
	case BTF_PTR:
		return cost_pointer(fit, type, offset);
	case BTF_INT:
	case BTF_ENUM:
	case BTF_ENUM64:
		return cost_scalar(fit, type, offset);
	default:
		return 0;
	}
}

/* What lies between the end and the next symbol. */
static int cost_gap(const struct fit *fit, uint64_t size)
{
	const struct subject *subject = fit->question->subject;
	uint64_t gap = subject->room - size, end = subject->address + subject->room;
	uint64_t alignment = end & -end;
	int cost = 0;
	if (gap && subject->room_is_exact)
		return fit_bits(RULE_GAP_INEXACT);
	cost += count_filled(fit, size, fit->size) *
		(fit->question->has_literals ? 10 * FIT_BIT : fit_bits(RULE_PADDING));
	if (gap >= alignment)
		cost += fit_bits(RULE_GAP_UNEXPLAINED);
	return cost + (!gap ? 0 : gap < 32 ? 2 : 6) * FIT_BIT;
}

/* --- at a glance ------------------------------------------------------------------------ */

static int least_pointer(struct fit *fit, enum leaf_kind leaf, uint32_t offset)
{
	switch (fit_word(fit, offset)) {
	case WORD_ZERO:
		return 0;
	case WORD_NUMBER:
		return is_poison(word_load(fit->question, offset, 8)) ? 0 : WRONG_WORD;
	case WORD_FUNCTION:
		return leaf == LEAF_FUNCTION ? FIT_BIT : 20 * FIT_BIT;
	default:
		return leaf == LEAF_FUNCTION ? fit_bits(RULE_FUNCTION_NONE) : FIT_BIT;
	}
}

static int least_integer(struct fit *fit, uint32_t offset, uint32_t size)
{
	uint64_t value = word_load(fit->question, offset, size);
	int cost = size == 8 ? cost_long(fit, offset) : fit_number_cost(value, size);
	bool may_count = offset >= 8 && fit_is_address(word_load(fit->question, offset - 8, 8));
	/* Zeros cost next to nothing together. */
	return !value ? 0 : may_count && cost > COUNTED_COST ? COUNTED_COST : cost;
}

static void prepare_byte(struct fit *fit, uint32_t offset)
{
	uint8_t byte = fit->question->bytes[offset];
	if (!byte)
		return;
	fit->least_leaves[LEAF_BOOL][offset] = (uint16_t)(byte > 1 ? fit_bits(RULE_BOOL) : FIT_BIT);
	fit->least_leaves[LEAF_HOLE][offset] = (uint16_t)fit_bits(RULE_PADDING);
}

void fit_prepare_leaves(struct fit *fit)
{
	for (uint32_t at = 0; at < fit->size; at++) {
		prepare_byte(fit, at);
		for (int leaf = LEAF_INT8; leaf <= LEAF_INT64; leaf++)
			if (at % (1u << leaf) == 0 && at + (1u << leaf) <= fit->size)
				fit->least_leaves[leaf][at] =
					(uint16_t)least_integer(fit, at, 1u << leaf);
		if (at % 8 || at + 8 > fit->size)
			continue;
		fit->least_leaves[LEAF_POINTER][at] =
			(uint16_t)least_pointer(fit, LEAF_POINTER, at);
		fit->least_leaves[LEAF_FUNCTION][at] =
			(uint16_t)least_pointer(fit, LEAF_FUNCTION, at);
	}
}

static int least_leaf(struct fit *fit, enum leaf_kind kind, uint32_t offset)
{
	if (kind != LEAF_LIST)
		return fit->least_leaves[kind][offset];
	return is_zero(fit, offset, 16) ? 0 : cost_list_head(fit, offset);
}

static int least_element(struct fit *fit, const struct outline *outline, uint32_t start, int limit)
{
	const struct leaf *leaf = &fit->layout->outlines->leaves[outline->first_leaf];
	const struct leaf *end = leaf + outline->leaf_count;
	int cost = 0;
	for (; leaf < end && start + leaf->offset < fit->size && cost <= limit; leaf++)
		cost += least_leaf(fit, (enum leaf_kind)leaf->kind, start + leaf->offset);
	return cost;
}

/* Of an array as cost_array() does. */
static int least_cost(struct fit *fit, const struct outline *outline, uint32_t count, int limit)
{
	uint64_t step = outline->size, end = step * (count ? count : 1);
	int cost = 0, ended = FIT_IMPOSSIBLE;
	for (uint64_t start = 0; start < end && start < fit->size && cost <= limit; start += step) {
		if (start && step >= 8 && fit->question->has_literals) {
			int rest = cost + END_COST + cost_unknown(fit, start, end);
			ended = rest < ended ? rest : ended;
		}
		cost += least_element(fit, outline, (uint32_t)start, limit - cost);
	}
	return cost < ended ? cost : ended;
}

/* --- the whole -------------------------------------------------------------------------- */

int fit_cost_bytes(struct fit *fit, uint32_t type, uint32_t count, int limit)
{
	fit->visits = 0;
	fit->limit = limit;
	return count ? cost_array(fit, type, count, 0, 0) : cost_type(fit, type, 0, 0);
}

static int cost_whole(struct fit *fit, uint32_t type, const struct outline *outline, uint32_t count,
		      int limit)
{
	uint64_t size = layout_size(fit->layout, type);
	if (!size || size > fit->question->subject->room ||
	    fit->question->subject->address % layout_alignment(fit->layout, type))
		return FIT_IMPOSSIBLE;
	uint64_t whole = count ? size * count : size;
	if (whole > fit->question->subject->room)
		return FIT_IMPOSSIBLE;
	int gap = cost_gap(fit, whole);
	/* The last element counted may end later than those of others. */
	uint64_t counted = (fit->size + size - 1) / size * size;
	bool is_cut = count && counted > fit->size && whole > fit->size;
	limit = is_cut ? limit : limit - gap;
	if (limit < 0 || (outline && least_cost(fit, outline, count, limit) > limit))
		return FIT_IMPOSSIBLE;
	int cost = fit_cost_bytes(fit, type, count, limit);
	if (cost > limit)
		return FIT_IMPOSSIBLE;
	if (is_cut && cost < FIT_IMPOSSIBLE / 8)
		cost = (int)((int64_t)cost * fit->size / (int64_t)counted);
	/* Tables of pointers begin with one. */
	if (count && layout_kind(fit->layout, type) == BTF_PTR && !word_load(fit->question, 0, 8))
		cost += 8 * FIT_BIT;
	return cost + gap;
}

int fit_cost(struct fit *fit, uint32_t type, uint32_t count, int limit)
{
	return cost_whole(fit, type, NULL, count, limit);
}

int fit_cost_outlined(struct fit *fit, const struct outline *outline, uint32_t count, int limit)
{
	return cost_whole(fit, outline->type, outline, count, limit);
}
