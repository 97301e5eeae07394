// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a name hints at, which most often only breaks ties: the struct that is called so, what
 * members and parameters of that name are, whether it is the name of several.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/solve/rules.h"
#include "debugger/target/target.h"

#include <stdio.h>
#include <string.h>

#define NAMESAKE_MAX	 64
#define USED_PERCENT_MIN 30 /* of members of a name, that make a candidate */
#define KIN_PERCENT_MIN	 10 /* that say something */
#define STRUCT_NAME_MIN	 4  /* bytes of a struct's name that a symbol's may end with */

/* gcc numbers static variables of functions: "state.3". */
static size_t base_length(const char *name)
{
	const char *dot = strchr(name, '.');
	return dot ? (size_t)(dot - name) : strlen(name);
}

/* Words that name a table, in whichever number. */
static bool is_table_word(const char *word, size_t length)
{
	static const char *const words[] = { "table", "tbl",  "tab",	"array",    "map",
					     "hash",  "path", "policy", "template", "string" };
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (strlen(words[i]) == length && !strncmp(word, words[i], length))
			return true;
	return false;
}

/* A plural; of "ops", "status", "class" and the like the s says nothing. */
static bool is_plural(const char *word, size_t length)
{
	static const char *const singular[] = { "ss", "us", "is", "ops" };
	if (length < 3 || word[length - 1] != 's')
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(singular); i++) {
		size_t tail = strlen(singular[i]);
		if (length >= tail && !strncmp(word + length - tail, singular[i], tail))
			return false;
	}
	return true;
}

/* Is the last word of the name one for several things? */
static bool says_many(const char *name)
{
	size_t end = base_length(name), start;
	while (end && (name[end - 1] == '_' || (name[end - 1] >= '0' && name[end - 1] <= '9')))
		end--;
	for (start = end; start && name[start - 1] != '_';)
		start--;
	return is_plural(name + start, end - start) || is_table_word(name + start, end - start);
}

/* The type of a kind that is called as the symbol, or so with an end that types have; 0: none. */
static uint32_t find_called(const struct question *question, enum btf_kind kind, size_t length)
{
	static const char tails[][sizeof("_types")] = { "", "_t", "s", "_type", "_types", "_id" };
	size_t count = kind == BTF_ENUM ? ARRAY_COUNT(tails) : 2;
	char name[NAMESAKE_MAX + sizeof(tails[0])];
	uint32_t type = 0;
	memcpy(name, question->symbol->name, length);
	for (size_t i = 0; i < count && !type; i++) {
		memcpy(name + length, tails[i], sizeof(tails[i]));
		type = layout_find(question->layout, kind, name);
	}
	return type;
}

/* The struct or enum that is called as the symbol; a pointer where a struct does not fit. */
static uint32_t find_namesake(const struct question *question, size_t length)
{
	const struct layout *layout = question->layout;
	if (length < STRUCT_NAME_MIN || length > NAMESAKE_MAX)
		return 0;
	uint32_t type = find_called(question, BTF_STRUCT, length);
	if (!type)
		type = find_called(question, BTF_UNION, length);
	if (!type)
		return find_called(question, BTF_ENUM, length);
	return layout_size(layout, type) <= question->subject->room ? type
								    : layout->records[type].pointer;
}

struct error *names_prepare(struct question *question)
{
	struct knowledge *knowledge = question->knowledge;
	const char *name = question->symbol->name;
	size_t length = base_length(name);
	TRY(knowledge_prepare(knowledge));
	question->use_count =
		(uint32_t)name_uses_find(knowledge->name_uses, name, length, question->uses);
	question->namesake = find_namesake(question, length);
	question->says_many = says_many(name);
	question->suffix_hashes = 0;
	for (size_t i = 0; i + STRUCT_NAME_MIN <= length; i++)
		question->suffix_hashes |= (uint64_t)1 << (layout_hash(name + i, length - i) >> 26);
	return NULL;
}

uint32_t names_shown(const struct question *question, uint32_t type)
{
	const struct layout *layout = question->layout;
	struct name_word words[NAME_WORDS_MAX];
	char name[NAMESAKE_MAX + sizeof("_t")];
	uint32_t shown = layout_shown(layout, type);
	if (shown == type || layout->records[type].name)
		return shown;
	size_t count = name_words(question->symbol->name, words);
	for (size_t i = 0; i < count; i++) {
		uint64_t cursor = 0;
		if (words[i].length > NAMESAKE_MAX)
			continue;
		snprintf(name, sizeof(name), "%.*s_t", (int)words[i].length, words[i].start);
		uint32_t id = btf_find(layout->btf, BTF_TYPEDEF, name, &cursor);
		if (id && layout_resolve(layout, id) == type)
			return id;
	}
	return shown;
}

struct error *names_collect(const struct question *question, struct clues *clues)
{
	struct clue clue = { .kind = CLUE_SHAPE,
			     .source = SOURCE_NAME,
			     .type = { question->layout->btf, question->namesake },
			     .how = "is called so" };
	if (question->namesake && !clues_add(clues, &clue))
		return error_no_memory();
	return NULL;
}

/* Does a struct of the same size begin with the other, as a spinlock_t does with its
 * raw_spinlock_t? */
static bool is_wrapper(const struct layout *layout, uint32_t outer, uint32_t inner)
{
	const struct field *field;
	while (outer != inner && layout_is_compound(layout, outer) &&
	       (field = layout_field(layout, outer, 0)) &&
	       layout_size(layout, field->type) == layout_size(layout, outer))
		outer = field->type;
	return outer == inner;
}

/* How much likelier the type is with that name than with any, in bits. */
static int judge_use(const struct question *question, uint32_t type)
{
	const struct layout *layout = question->layout;
	uint32_t used = name_uses_type(layout, type);
	bool is_struct = layout_is_compound(layout, used);
	int most = rule(question->knowledge->rules,
			is_struct ? RULE_NAME_USED : RULE_NAME_USED_NUMBER);
	for (uint32_t i = 0; i < question->use_count; i++) {
		const struct name_use *use = &question->uses[i];
		if (is_struct && use->percent < USED_PERCENT_MIN)
			continue;
		/* Numbers have names that say little: for them half as much. */
		int points = use->bits / (is_struct ? 2 : 4);
		if (use->type == used || (is_struct && (is_wrapper(layout, used, use->type) ||
							is_wrapper(layout, use->type, used))))
			return points < most ? points : most;
	}
	return 0;
}

uint32_t names_used_struct(const struct question *question)
{
	const struct name_use *use = question->uses;
	return question->use_count && use->percent >= USED_PERCENT_MIN &&
			       layout_is_compound(question->layout, use->type)
		       ? use->type
		       : 0;
}

size_t names_kin(const struct question *question, const struct name_word *words, size_t count,
		 struct kinship *ret)
{
	const struct layout *layout = question->layout;
	size_t found = families_kin(question->knowledge->families, words, count, ret,
				    NAMES_KIN_MAX - 2 * NAME_USES_MAX);
	for (uint32_t i = 0; i < question->use_count; i++) {
		const struct name_use *use = &question->uses[i];
		/* Members are not variables: what those are called says more. */
		int points = use->bits / 4;
		if (use->percent < KIN_PERCENT_MIN || !points)
			continue;
		found = families_keep(ret, found, NAMES_KIN_MAX,
				      (struct kinship){ use->type, points });
		uint32_t pointer = layout->records[use->type].pointer;
		if (layout_is_compound(layout, use->type) && pointer)
			found = families_keep(ret, found, NAMES_KIN_MAX,
					      (struct kinship){ pointer, points });
	}
	return found;
}

static int judge_named(const struct question *question, uint32_t type)
{
	const struct rules *rules = question->knowledge->rules;
	const struct layout *layout = question->layout;
	const char *name = question->symbol->name;
	struct btf_type record;
	if (type && type == question->namesake)
		return rule(rules, RULE_NAME_SAME);
	bool is_pointer = layout_kind(layout, type) == BTF_PTR;
	uint32_t named = is_pointer ? layout_target(layout, type) : type;
	if (!layout_is_compound(layout, named) ||
	    !(question->suffix_hashes >> (layout->records[named].name >> 26) & 1) ||
	    !btf_get(layout->btf, named, &record))
		return 0;
	size_t length = base_length(name), other = strlen(record.name);
	if (other < STRUCT_NAME_MIN || length < other ||
	    strncmp(name + length - other, record.name, other))
		return 0;
	return rule(rules, RULE_NAME_PART);
}

/* How likely an integer is in that part of the kernel. */
static int judge_habit(struct question *question, uint32_t type)
{
	const struct layout *layout = question->layout;
	const struct habits *all = &question->knowledge->habits;
	int most = rule(question->knowledge->rules, RULE_HABIT);
	if (layout_kind(layout, type) != BTF_INT || !question->place_count || !most)
		return 0;
	for (uint32_t i = 0; !question->has_habits && i < question->place_count; i++)
		habits_around(&question->knowledge->blocks, question->knowledge->target, all,
			      question->places[i], &question->habits);
	question->has_habits = true;
	/* The first bit may be chance. */
	int bits = habits_bits(&question->habits, all, type) - 1;
	if (bits < 0)
		return 0;
	return bits > most ? most : bits;
}

int names_judge(void *context, uint32_t type, uint32_t count)
{
	struct question *question = context;
	const struct layout *layout = question->layout;
	/* An enum's values are one at a time. */
	bool is_list = count && layout_kind(layout, type) == BTF_ENUM;
	int points = is_list ? 0 : judge_named(question, type), use = judge_use(question, type);
	points = points > use ? points : use;
	return points + judge_habit(question, type);
}
