// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Symbols that the kernel's table leaves out (without CONFIG_KALLSYMS_ALL: all data), put in where
 * their addresses belong, in the table's own compression: whoever asks sees one table.
 */
#include "symbols/symtab_private.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define SHORT_LENGTH 0x7f /* a length of one byte */

/* The code of each character that is a token by itself; 0: none, as no name has a NUL. */
struct alphabet {
	uint8_t codes[256];
	bool has[256];
};

static void read_alphabet(const struct kallsyms *kallsyms, struct alphabet *ret)
{
	*ret = (struct alphabet){ 0 };
	for (size_t i = 0; i < ARRAY_COUNT(kallsyms->tokens); i++) {
		const struct kallsyms_token *token = &kallsyms->tokens[i];
		uint8_t character = (uint8_t)kallsyms->token_text[token->start];
		if (token->size != 1)
			continue;
		ret->codes[character] = (uint8_t)i;
		ret->has[character] = true;
	}
}

/*
 * The record of a symbol. Returns its size, 0 when a character is missing or the name too long;
 * another letter of the same meaning stands in for a kind that is missing.
 */
static size_t encode(const struct kallsyms *kallsyms, const struct alphabet *alphabet,
		     const struct found_symbol *symbol, uint8_t *ret)
{
	size_t length = strlen(symbol->name);
	uint8_t kind = (uint8_t)symbol->kind;
	if (!alphabet->has[kind])
		kind ^= 0x20;
	if (!length || length >= SYMBOL_NAME_SIZE || !alphabet->has[kind])
		return 0;
	size_t tokens = length + 1, at = 0;
	if (tokens > SHORT_LENGTH && !kallsyms->long_lengths)
		return 0;
	if (tokens > SHORT_LENGTH) {
		ret[at++] = (uint8_t)(tokens & 0x7f) | 0x80;
		ret[at++] = (uint8_t)(tokens >> 7);
	} else {
		ret[at++] = (uint8_t)tokens;
	}
	ret[at++] = alphabet->codes[kind];
	for (size_t i = 0; i < length; i++) {
		uint8_t character = (uint8_t)symbol->name[i];
		if (!alphabet->has[character])
			return 0;
		ret[at++] = alphabet->codes[character];
	}
	return at;
}

static int compare_found(const void *a, const void *b)
{
	const struct found_symbol *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* The tables that take the place of the old ones. */
struct merge {
	struct kallsyms *old;
	uint32_t *records;
	uint64_t *addresses;
	uint8_t *names;
	size_t names_size;
	struct kallsyms_found_entry *found;
	size_t found_count;
	uint32_t count;
};

static void merge_deinit(struct merge *merge)
{
	free(merge->found);
	free(merge->records);
	free(merge->addresses);
	free(merge->names);
}

static bool allocate(struct merge *merge, const struct found_symbol *items, size_t count)
{
	size_t total = merge->old->count + count, size = merge->old->names_size;
	for (size_t i = 0; i < count; i++)
		size += strlen(items[i].name) + 3;
	merge->found = malloc((merge->old->found_count + count) * sizeof(*merge->found));
	merge->records = malloc(total * sizeof(*merge->records));
	merge->addresses = malloc(total * sizeof(*merge->addresses));
	merge->names = malloc(size);
	if (!merge->found || !merge->records || !merge->addresses || !merge->names ||
	    size > UINT32_MAX || total > UINT32_MAX) {
		merge_deinit(merge);
		return false;
	}
	memcpy(merge->names, merge->old->names, merge->old->names_size);
	merge->names_size = merge->old->names_size;
	return true;
}

static void put_old(struct merge *merge, uint32_t number)
{
	const struct kallsyms_found_entry *entry = kallsyms_found(merge->old, number);
	if (entry) {
		merge->found[merge->found_count] = *entry;
		merge->found[merge->found_count++].number = merge->count;
	}
	merge->records[merge->count] = merge->old->records[number];
	merge->addresses[merge->count++] = merge->old->addresses[number];
}

static void put_found(struct merge *merge, const struct alphabet *alphabet,
		      const struct found_symbol *symbol)
{
	size_t size = encode(merge->old, alphabet, symbol, merge->names + merge->names_size);
	if (!size)
		return;
	merge->found[merge->found_count++] =
		(struct kallsyms_found_entry){ merge->count, symbol->size, symbol->per_cpu,
					       symbol->evidence };
	merge->records[merge->count] = (uint32_t)merge->names_size;
	merge->addresses[merge->count++] = symbol->address;
	merge->names_size += size;
}

struct error *symtab_add_found(struct symtab *symtab, struct found_symbol *items, size_t count)
{
	struct kallsyms *kernel = &symtab->kernel;
	struct merge merge = { .old = kernel };
	struct alphabet alphabet;
	if (!count || !kernel->count)
		return NULL;
	if (!allocate(&merge, items, count))
		return error_no_memory();
	read_alphabet(kernel, &alphabet);
	if (!symtab_names_renumber(symtab->names, (uint32_t)(kernel->count + count))) {
		merge_deinit(&merge);
		return error_no_memory();
	}
	array_sort(items, count, sizeof(*items), compare_found);
	uint32_t number = 0;
	for (size_t i = 0; i < count; i++) {
		while (number < kernel->count && kernel->addresses[number] <= items[i].address)
			put_old(&merge, number++);
		put_found(&merge, &alphabet, &items[i]);
	}
	while (number < kernel->count)
		put_old(&merge, number++);
	free(kernel->records);
	free(kernel->addresses);
	free(kernel->names);
	free(kernel->found);
	/* The kernel's order by name has the old numbers. */
	free(kernel->sorted);
	kernel->sorted = NULL;
	kernel->records = merge.records;
	kernel->addresses = merge.addresses;
	kernel->names = merge.names;
	kernel->names_size = merge.names_size;
	kernel->found = merge.found;
	kernel->found_count = merge.found_count;
	kernel->count = merge.count;
	symtab_index_forget_kernel(symtab->index);
	return NULL;
}

const struct kallsyms_found_entry *kallsyms_found(const struct kallsyms *kallsyms, uint32_t number)
{
	size_t first = array_bound(kallsyms->found_count, i, kallsyms->found[i].number < number);
	return first < kallsyms->found_count && kallsyms->found[first].number == number
		       ? &kallsyms->found[first]
		       : NULL;
}
