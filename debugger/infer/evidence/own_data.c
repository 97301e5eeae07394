// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a symbol's own bytes say. As clues: functions whose prototypes only some members have, list
 * heads, text. As a judge of candidates: pointers must be where pointers belong.
 */
#include "base/ascii.h"
#include "debugger/infer/evidence/words.h"
#include "debugger/infer/solve/rules.h"

#define WORDS_MAX	   64  /* of the symbol, looked at for clues */
#define FUNCTIONS_MAX	   12  /* clues of that kind */
#define LEAVES_MAX	   160 /* members of a candidate that are judged */
#define DEPTH_MAX	   16
#define TEXT_SIZE_MIN	   4
#define SHORT_TEXT_MIN	   2
#define SHORT_CONSTANT_MIN 3
#define SHORT_ROOM_MAX	   16

/* --- text -------------------------------------------------------------------------------- */

uint32_t own_data_string(const struct question *question)
{
	return (uint32_t)ascii_text_length((const char *)question->bytes, question->size);
}

uint32_t own_data_text(const struct question *question)
{
	uint32_t length = own_data_string(question), used = length;
	while (used < question->size && !question->bytes[used])
		used++;
	return used == question->size ? length : 0;
}

/* --- clues --------------------------------------------------------------------------------- */

static bool add(struct clues *clues, const struct clue *clue)
{
	struct clue whole = *clue;
	whole.source = SOURCE_DATA;
	return clues_add(clues, &whole);
}

/* A pointer to a global of known type: to that, or to what it begins with. */
static bool add_pointee(const struct question *question, struct clues *clues, uint32_t offset,
			const struct typed *typed)
{
	const struct layout *layout = question->layout;
	const struct field *field;
	uint32_t type = typed_in_view(typed, layout);
	for (int depth = 0; type && depth < 3; depth++) {
		/* What a struct begins with, nobody points at by itself if it is no struct. */
		if (depth && !layout_is_compound(layout, type))
			break;
		uint32_t pointer = layout->records[type].pointer;
		struct clue clue = { .kind = CLUE_SHAPE,
				     .source = SOURCE_NAME,
				     .offset = offset,
				     .size = 8,
				     .type = { layout->btf, pointer },
				     .how = "points at a global of known type" };
		if (pointer && !clues_add(clues, &clue))
			return false;
		field = layout_is_compound(layout, type) ? layout_field(layout, type, 0) : NULL;
		type = field && !field->offset && !field->bit_size ? field->type : 0;
	}
	return true;
}

/* A pointer to a function: of the proved prototype, else of one of those that its name has. */
static bool add_function(struct clues *clues, uint32_t offset,
			 const struct function_entry *function)
{
	struct clue clue = { .kind = CLUE_SHAPE,
			     .source = SOURCE_DATA,
			     .offset = offset,
			     .size = 8,
			     .type = function->prototype,
			     .where = function->address,
			     .how = "points at a function" };
	if (clue.type.btf)
		return clues_add(clues, &clue);
	clue.source = SOURCE_NAME;
	clue.how = "points at a function of a common name";
	for (uint32_t i = 0; i < function->likely_count; i++) {
		clue.type = function->likely[i];
		if (!clues_add(clues, &clue))
			return false;
	}
	return true;
}

static bool collect_word(const struct question *question, struct clues *clues, uint32_t offset,
			 unsigned int *functions)
{
	const struct layout *layout = question->layout;
	uint64_t value = word_load(question, offset, 8);
	if (!is_kernel_pointer(value))
		return true;
	const struct function_entry *function = knowledge_function(question->knowledge, value);
	if (function->prototype.btf || function->likely_count)
		return (*functions)++ >= FUNCTIONS_MAX || add_function(clues, offset, function);
	const struct typed *typed = knowledge_type_at(question->knowledge, value);
	if (typed && offset < 64)
		return add_pointee(question, clues, offset, typed);
	if (!function->is_function && layout->list_head &&
	    word_list_head(question, offset) == LIST_HEAD_LINKED)
		return add(clues, &(struct clue){ .kind = CLUE_SHAPE,
						  .offset = offset,
						  .size = 16,
						  .type = { layout->btf, layout->list_head },
						  .where = question->subject->address + offset,
						  .how = "is linked back" });
	return true;
}

/* Of a short constant: literals without a symbol may follow it. */
static uint32_t short_constant(const struct question *question)
{
	uint32_t length = own_data_string(question);
	if (!question->has_literals || question->subject->room > SHORT_ROOM_MAX ||
	    length < SHORT_CONSTANT_MIN)
		return 0;
	for (uint32_t i = 0; i < length; i++)
		if (!ascii_is_alnum(question->bytes[i]))
			return 0;
	return length;
}

/* Numbers may look like letters; short text is a word or a format, and no longer than its room. */
static bool is_long_enough(const struct question *question, uint32_t length)
{
	if (length >= TEXT_SIZE_MIN)
		return true;
	if (length < SHORT_TEXT_MIN || question->size - length >= length)
		return false;
	for (uint32_t i = 0; i < length; i++)
		if (!ascii_is_alnum(question->bytes[i]) && question->bytes[i] != '%')
			return false;
	return true;
}

static bool collect_text(const struct question *question, struct clues *clues)
{
	uint32_t length = own_data_text(question), room = question->size;
	uint32_t type = question->layout->character;
	/* Ids in tables begin with text as well, but are short of their room. */
	if (type && ((is_long_enough(question, length) && length * 4 >= room &&
		      (!question->is_constant || room - length <= 32)) ||
		     short_constant(question)))
		return add(clues,
			   &(struct clue){ .kind = CLUE_STRIDE, .size = 1, .how = "is text" }) &&
		       add(clues, &(struct clue){ .kind = CLUE_SHAPE,
						  .size = 1,
						  .type = { question->layout->btf, type },
						  .how = "is text" });
	uint64_t value = word_load(question, 0, 8);
	uint32_t pointer = type ? question->layout->records[type].pointer : 0;
	if (pointer && is_kernel_pointer(value) &&
	    !symtab_is_text(question->knowledge->target->symbols, value) &&
	    word_is_text(question, value))
		return add(clues, &(struct clue){ .kind = CLUE_VALUE,
						  .size = 8,
						  .type = { question->layout->btf, pointer },
						  .where = value,
						  .how = "points at text" });
	return true;
}

/* A table of the kernel says what it is: numbers in it may look like letters. */
static bool is_told(const struct clues *clues)
{
	for (size_t i = 0; i < clues->count; i++)
		if (clues->items[i].kind == CLUE_WHOLE)
			return true;
	return false;
}

struct error *own_data_collect(const struct question *question, struct clues *clues)
{
	unsigned int functions = 0;
	uint64_t start = question->subject->address % 8;
	for (uint32_t offset = start ? (uint32_t)(8 - start) : 0, words = 0;
	     offset + 8 <= question->size && words < WORDS_MAX; offset += 8, words++)
		if (!collect_word(question, clues, offset, &functions))
			return error_no_memory();
	return is_told(clues) || collect_text(question, clues) ? NULL : error_no_memory();
}

/* --- the judge ----------------------------------------------------------------------------- */

struct trial {
	const struct question *question;
	const struct layout *layout;
	int points;
	int good; /* points for it so far: the first few of a kind count */
	unsigned int leaves;
	const char *why;
};

static void for_it(struct trial *trial, enum rule which)
{
	int points = rule(trial->question->knowledge->rules, which);
	if (trial->good < 10) {
		trial->good += points;
		trial->points += points;
	}
}

/* The row says why. */
static void against_it(struct trial *trial, enum rule which)
{
	int points = rule(trial->question->knowledge->rules, which);
	trial->points += points;
	if (points && (!trial->why || points < -3))
		trial->why = rule_row(which)->says;
}

static void judge_function(struct trial *trial, uint32_t prototype, uint64_t value)
{
	const struct function_entry *function =
		knowledge_function(trial->question->knowledge, value);
	if (!function->is_function) {
		against_it(trial, RULE_FUNCTION_NONE);
		return;
	}
	bool is_proved;
	enum likeness likeness = function_compare(function, trial->layout, prototype, &is_proved);
	if (likeness == LIKE_EXACTLY)
		for_it(trial, RULE_FUNCTION_RIGHT);
	else if (likeness == LIKE_NOT && is_proved)
		against_it(trial, RULE_FUNCTION_OTHER);
}

static void judge_pointer(struct trial *trial, uint32_t type, uint32_t offset)
{
	uint64_t value = word_load(trial->question, offset, 8);
	if (!value)
		return;
	uint32_t target = layout_target(trial->layout, type);
	enum btf_kind kind = layout_kind(trial->layout, target);
	if (!is_kernel_pointer(value)) {
		if (value > 16 && !is_poison(value))
			against_it(trial, RULE_POINTER_NUMBER);
		return;
	}
	if (kind == BTF_FUNC_PROTO) {
		judge_function(trial, target, value);
		return;
	}
	uint32_t there = knowledge_type_in(trial->question->knowledge, value, trial->layout);
	if (there && target && kind != BTF_INT) {
		/* What lies there is known. */
		if (layout_match(trial->layout, there, 0, target) == LIKE_EXACTLY)
			for_it(trial, RULE_POINTER_RIGHT);
		else if (layout_is_compound(trial->layout, target) ||
			 layout_kind(trial->layout, target) == BTF_PTR)
			against_it(trial, RULE_POINTER_OTHER);
		return;
	}
	const struct function_entry *function =
		knowledge_function(trial->question->knowledge, value);
	if (function->is_function && target)
		return;
	if (target && target == trial->layout->character && trial->leaves < 24) {
		/* Or at bytes that somebody called char. */
		if (word_is_text(trial->question, value))
			for_it(trial, RULE_POINTER_TEXT);
		return;
	}
	if (trial->good < 2)
		for_it(trial, RULE_POINTER_THERE);
}

static void judge_integer(struct trial *trial, uint32_t type, uint32_t offset)
{
	const struct layout_record *record = &trial->layout->records[type];
	uint32_t size = record->size;
	if (offset + size > trial->question->size)
		return;
	uint64_t value = word_load(trial->question, offset, size);
	if (record->kind == BTF_INT && (record->encoding & BTF_INT_BOOL) && value > 1) {
		against_it(trial, RULE_BOOL);
		return;
	}
	if (size == 1 && record->kind == BTF_INT)
		return;
	uint32_t first = offset & ~7u;
	uint64_t word = word_load(trial->question, first, 8);
	if (size == 4 && offset == first && word >= 0xffffffff80000000 && word < (uint64_t)-65536)
		against_it(trial, RULE_HALF_IMAGE);
	else if (size == 8 && is_kernel_pointer(word))
		against_it(trial, RULE_INTEGER_POINTER);
}

static void judge_type(struct trial *trial, uint32_t type, uint32_t offset, int depth);

static void judge_members(struct trial *trial, uint32_t type, uint32_t offset, int depth)
{
	const struct field *field;
	for (uint32_t i = 0; (field = layout_field(trial->layout, type, i)); i++)
		if (!field->bit_size)
			judge_type(trial, field->type, offset + field->offset, depth + 1);
}

static void judge_array(struct trial *trial, uint32_t element, uint32_t count, uint32_t offset,
			int depth)
{
	uint32_t size = layout_size(trial->layout, element);
	/* Bytes may be anything. */
	if (!size || (size == 1 && layout_kind(trial->layout, element) == BTF_INT))
		return;
	for (uint32_t i = 0; i < count && i < 8; i++) {
		uint64_t at = offset + (uint64_t)i * size;
		if (at >= trial->question->size)
			break;
		judge_type(trial, element, (uint32_t)at, depth + 1);
	}
}

static void judge_type(struct trial *trial, uint32_t type, uint32_t offset, int depth)
{
	const struct layout *layout = trial->layout;
	if (depth > DEPTH_MAX || trial->leaves++ > LEAVES_MAX || offset >= trial->question->size)
		return;
	switch (layout_kind(layout, type)) {
	case BTF_STRUCT:
		if (type == layout->list_head) {
			enum list_head_state state = word_list_head(trial->question, offset);
			if (state == LIST_HEAD_LINKED)
				for_it(trial, RULE_LIST_LINKED);
			else if (state == LIST_HEAD_NOT)
				against_it(trial, RULE_LIST_NOT);
			return;
		}
		judge_members(trial, type, offset, depth);
		return;
	case BTF_PTR:
		judge_pointer(trial, type, offset);
		return;
	case BTF_INT:
	case BTF_ENUM:
	case BTF_ENUM64:
		judge_integer(trial, type, offset);
		return;
	case BTF_ARRAY:
		judge_array(trial, layout_target(layout, type), layout_array_count(layout, type),
			    offset, depth);
		return;
	default:
		/* Any arm of a union may be the one in use. */
		return;
	}
}

/*
 * DEFINE_STATIC_KEY_TRUE() and _FALSE() wrap nearly all keys, and what the key began as stands in
 * the lowest bit of its second word for good.
 */
static void judge_static_key(struct trial *trial, uint32_t type)
{
	const struct layout *layout = trial->layout;
	int points = rule(trial->question->knowledge->rules, RULE_STATIC_KEY);
	bool begins_true = word_load(trial->question, 8, 8) & 1;
	if (!type || layout_size(layout, type) != 16 || trial->question->size < 16)
		return;
	if (type == layout_find(layout, BTF_STRUCT, "static_key_true"))
		trial->points += begins_true ? points : -points;
	else if (type == layout_find(layout, BTF_STRUCT, "static_key_false"))
		trial->points += begins_true ? -points : points;
}

/* What lies behind the end is padding: zeros. */
static void judge_padding(struct trial *trial, uint64_t end)
{
	const struct question *question = trial->question;
	if (question->is_constant)
		return;
	for (uint64_t at = end; at < question->size && at < end + 256; at++) {
		if (question->bytes[at]) {
			against_it(trial, RULE_PADDING);
			return;
		}
	}
}

int own_data_judge(void *context, uint32_t type, uint32_t count, const char **ret_why)
{
	const struct question *question = context;
	struct trial trial = { .question = question, .layout = question->layout };
	/* Zeros are neither for nor against any type. */
	if (!question->bytes || !question->size || question->is_zero)
		return 0;
	uint64_t size = layout_size(trial.layout, type);
	judge_static_key(&trial, type);
	if (count)
		judge_array(&trial, type, count, 0, 0);
	else
		judge_type(&trial, type, 0, 0);
	/* Strings without a symbol may follow what is known to end. */
	if (!count || count != question->counted)
		judge_padding(&trial, count ? size * count : size);
	*ret_why = trial.why;
	return trial.points < -25	      ? -25
	       : trial.points > OWN_DATA_MOST ? OWN_DATA_MOST
					      : trial.points;
}
