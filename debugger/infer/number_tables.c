// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/number_tables.h"

#include "base/bytes.h"

#define POINTERS_MAX 1024

/* What a table's pointers lead to. */
struct pointed {
	size_t subjects[POINTERS_MAX];
	size_t count;
	uint32_t number; /* type */
};

/* 0: it is no such table. */
static uint32_t indexed_number(const struct layout *layout, const struct answer *answer)
{
	uint32_t target = layout_target(layout, answer->type);
	return answer->confidence >= CONFIDENCE_GUESS && answer->count > 1 &&
			       answer->sources >> SOURCE_CODE & 1 &&
			       layout_kind(layout, answer->type) == BTF_PTR &&
			       layout_kind(layout, target) == BTF_INT &&
			       layout_size(layout, target) > 1
		       ? target
		       : 0;
}

static void add_pointed(const struct knowledge *knowledge, uint64_t address,
			struct pointed *pointed)
{
	const struct subjects *subjects = knowledge->subjects;
	uint64_t offset;
	const struct subject *subject = subject_at(subjects, address, &offset);
	if (subject && !offset && !subject->module && pointed->count < POINTERS_MAX)
		pointed->subjects[pointed->count++] = (size_t)(subject - subjects->items);
}

static void read_table(const struct knowledge *knowledge, const struct layout *layout,
		       const struct answer *answers, size_t table, struct pointed *pointed)
{
	const struct subject *subject = &knowledge->subjects->items[table];
	const struct target *target = knowledge->target;
	uint8_t bytes[POINTERS_MAX * 8];
	pointed->count = 0;
	pointed->number = subject->module ? 0 : indexed_number(layout, &answers[table]);
	if (!pointed->number)
		return;
	size_t size = subject->room < sizeof(bytes) ? (size_t)subject->room : sizeof(bytes);
	size = memory_read_some(target->memory, subject->address, bytes, size, NULL);
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t value = load_u64(bytes + at, target->facts->big_endian);
		if (is_kernel_pointer(value))
			add_pointed(knowledge, value, pointed);
	}
}

struct error *number_table_teach(struct knowledge *knowledge, const struct layout *layout,
				 const struct answer *answers, const uint32_t *types, size_t table)
{
	struct pointed pointed;
	read_table(knowledge, layout, answers, table, &pointed);
	struct clue object = { .kind = CLUE_OBJECT,
			       .source = SOURCE_POINTER,
			       .type = { layout->btf, pointed.number },
			       .where = knowledge->subjects->items[table].address,
			       .how = "code indexes numbers behind a table's pointer to it" };
	struct clue step = object;
	step.kind = CLUE_STRIDE;
	step.type = (struct type){ NULL, 0 };
	step.size = layout_size(layout, pointed.number);
	for (size_t i = 0; i < pointed.count; i++) {
		size_t number = pointed.subjects[i];
		uint64_t address = knowledge->subjects->items[number].address;
		/* What is used by itself, too, is known better by that. */
		if (types[number] || answers[number].confidence >= CONFIDENCE_INFERRED ||
		    answers[number].sources >> SOURCE_CODE & 1)
			continue;
		TRY(knowledge_add_fact(knowledge, address, &object));
		TRY(knowledge_add_fact(knowledge, address, &step));
	}
	return NULL;
}

static void lengthen(const struct knowledge *knowledge, const struct pointed *pointed,
		     struct answer *answers, size_t number)
{
	const struct subject *items = knowledge->subjects->items;
	struct answer *answer = &answers[number];
	for (size_t i = 0; i < pointed->count; i++) {
		const struct answer *other = &answers[pointed->subjects[i]];
		if (other->type == pointed->number && other->count > answer->count &&
		    items[pointed->subjects[i]].room == items[number].room)
			answer->count = other->count;
	}
}

void number_table_lengthen(const struct knowledge *knowledge, const struct layout *layout,
			   struct answer *answers, size_t table)
{
	struct pointed pointed;
	read_table(knowledge, layout, answers, table, &pointed);
	for (size_t i = 0; i < pointed.count; i++) {
		const struct answer *answer = &answers[pointed.subjects[i]];
		if (answer->type == pointed.number && answer->count && !answer->count_is_proved)
			lengthen(knowledge, &pointed, answers, pointed.subjects[i]);
	}
}
