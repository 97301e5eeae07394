// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a symbol's own bytes say, as clues: functions whose prototypes only some members have, list
 * heads, text. What they say of a candidate: own_data_judge.c.
 */
#include "base/ascii.h"
#include "debugger/infer/evidence/words.h"
#include "debugger/infer/solve/rules.h"

#define WORDS_MAX	   64 /* of the symbol, looked at for clues */
#define FUNCTIONS_MAX	   12 /* clues of that kind */
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
