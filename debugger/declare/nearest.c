// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/declare/nearest.h"

#include "base/interrupt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ANONYMOUS_DEPTH 8

void nearest_init(struct nearest *nearest, const char *wanted, size_t length)
{
	*nearest = (struct nearest){ 0 };
	if (length >= sizeof(nearest->wanted))
		return;
	memcpy(nearest->wanted, wanted, length);
	nearest->length = length;
	/* Exclusive: one slip in a short word, two in a longer one, three in a long one. */
	nearest->distance = length < 5 ? 2 : length < 9 ? 3 : 4;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance with swaps of neighbours, given up above `limit`. */
static unsigned int distance(const char *a, size_t a_length, const char *b, size_t b_length,
			     unsigned int limit)
{
	unsigned int rows[3][sizeof(((struct nearest *)0)->best) + 1];
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2];
	for (size_t j = 0; j <= b_length; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int best = row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(least(row[j - 1], last[j]) + 1,
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
			best = least(best, row[j]);
		}
		if (best > limit)
			return limit + 1;
		unsigned int *spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_length];
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
	size_t length = strnlen(candidate, sizeof(nearest->best));
	if (!nearest->length || !length || length >= sizeof(nearest->best) ||
	    (size_t)llabs((long long)length - (long long)nearest->length) >= nearest->distance)
		return;
	/* The wrong case is one slip, however many letters have it. */
	unsigned int found = strcasecmp(nearest->wanted, candidate)
				     ? distance(nearest->wanted, nearest->length, candidate, length,
						nearest->distance)
				     : strcmp(nearest->wanted, candidate) != 0;
	/* A word that shares nothing is not near, however short both are. */
	if (found >= nearest->distance || found >= nearest->length)
		return;
	nearest->distance = found;
	memcpy(nearest->best, candidate, length + 1);
}

static void offer_members(struct nearest *nearest, struct type type, int depth)
{
	struct btf_type record;
	struct btf_member member;
	if (depth > ANONYMOUS_DEPTH || !type_get_resolved(type, &record) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION))
		return;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		if (*member.name)
			nearest_offer(nearest, member.name);
		else
			offer_members(nearest, (struct type){ type.btf, member.type }, depth + 1);
	}
}

void nearest_offer_members(struct nearest *nearest, struct type type)
{
	offer_members(nearest, type, 0);
}

void nearest_offer_types(struct nearest *nearest, const struct btf *btf, enum btf_kind kind)
{
	struct btf_type record;
	for (uint32_t id = 1; id < btf_end_id(btf) && btf_get(btf, id, &record); id++)
		if (record.kind == kind || (record.kind == BTF_ENUM64 && kind == BTF_ENUM))
			nearest_offer(nearest, record.name);
}

void nearest_offer_symbols(struct nearest *nearest, struct target *target)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint32_t count = symtab_count(target->symbols);
	for (uint32_t i = 0; i < count && !interrupt_flag; i++) {
		symtab_get_into(target->symbols, i, name, &symbol);
		if (*symbol.name)
			nearest_offer(nearest, symbol.name);
	}
}

const char *nearest_hint(const struct nearest *nearest, char *buffer, size_t size)
{
	*buffer = 0;
	if (*nearest->best)
		snprintf(buffer, size, "; did you mean \"%s\"?", nearest->best);
	return buffer;
}
