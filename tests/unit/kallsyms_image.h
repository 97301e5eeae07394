/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes kallsyms tables as the kernel's scripts/kallsyms would, of any of its times: every address
 * encoding, both forms of lengths, every order of the tables, both byte orders.
 */
#ifndef TESTS_UNIT_KALLSYMS_IMAGE_H
#define TESTS_UNIT_KALLSYMS_IMAGE_H

#include "base/memory.h"
#include "symbols/kallsyms.h"
#include "tests/unit/test.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_symbol {
	uint64_t address;
	char kind;
	const char *name;
};

enum table_order {
	ORDER_BEFORE,	   /* to 6.1: addresses first */
	ORDER_BEFORE_SEQS, /* 6.2, 6.3: and the sequence numbers before the tokens */
	ORDER_BEHIND,	   /* 6.4 to 6.19: addresses behind the tokens */
	ORDER_COMPACT	   /* 7.0: and aligned to four bytes, no base */
};

struct image_options {
	enum table_order order;
	enum kallsyms_encoding encoding;
	bool long_lengths;
	bool big_endian;
	unsigned int word_size;
	uint64_t base;	/* address of the image */
	size_t padding; /* bytes before the tables */
	const struct test_symbol *symbols;
	uint32_t count;
};

struct image {
	struct image_options options;
	uint8_t *data;
	size_t size, capacity;
	struct kallsyms_tables tables;
	struct memory_array memory;
	char tokens[256][16];
};

static void image_bytes(struct image *image, const void *data, size_t size)
{
	while (image->size + size > image->capacity) {
		image->capacity = image->capacity ? image->capacity * 2 : 4096;
		image->data = realloc(image->data, image->capacity);
		if (!image->data)
			abort();
	}
	memcpy(image->data + image->size, data, size);
	image->size += size;
}

static void image_number(struct image *image, uint64_t value, size_t size)
{
	uint8_t raw[8];
	for (size_t i = 0; i < size; i++)
		raw[image->options.big_endian ? size - 1 - i : i] = (uint8_t)(value >> i * 8);
	image_bytes(image, raw, size);
}

/* Aligns and gives the address there. */
static uint64_t image_label(struct image *image)
{
	size_t align = image->options.order == ORDER_COMPACT ? 4 : image->options.word_size;
	while (image->size % align)
		image_number(image, 0, 1);
	return image->options.base + image->size;
}

/* Characters are tokens of their own; a few strings that are frequent; the rest is unused. */
static void image_token(unsigned int code, char ret[16])
{
	static const char *const strings[] = { "Tinit_",  "__pfx_", "_start", "function", "ext4_",
					       "tfunct",  "ion_",   "00",     "Aper_cpu", "_end",
					       "dobject", "Robj",   "__cfi_" };
	if (code > 0 && code <= sizeof(strings) / sizeof(strings[0]))
		snprintf(ret, 16, "%s", strings[code - 1]);
	else if (code > ' ' && code < 127)
		snprintf(ret, 16, "%c", (char)code);
	else
		snprintf(ret, 16, "#unused%u", code);
}

/* One record; returns its number of tokens. */
static size_t image_compress(const struct image *image, const struct test_symbol *symbol,
			     uint8_t tokens[1024])
{
	char text[1024];
	snprintf(text, sizeof(text), "%c%s", symbol->kind, symbol->name);
	size_t count = 0;
	for (const char *at = text; *at;) {
		size_t best = 1;
		tokens[count] = (uint8_t)*at;
		for (unsigned int code = 0; code < 256; code++) {
			const char *token = image->tokens[code];
			size_t length = strlen(token);
			if (length > best && token[0] == *at && !strncmp(at, token, length)) {
				best = length;
				tokens[count] = (uint8_t)code;
			}
		}
		at += best;
		count++;
	}
	return count;
}

static void image_names(struct image *image)
{
	const struct image_options *options = &image->options;
	image->tables.num_syms = image_label(image);
	image_number(image, options->count, 4);
	image->tables.names = image_label(image);
	size_t start = image->size;
	uint32_t *markers = calloc(options->count / 256 + 1, sizeof(*markers));
	for (uint32_t i = 0; i < options->count; i++) {
		uint8_t tokens[1024];
		size_t count = image_compress(image, &options->symbols[i], tokens);
		if (i % 256 == 0)
			markers[i / 256] = (uint32_t)(image->size - start);
		if (options->long_lengths && count > 127) {
			image_number(image, (count & 0x7f) | 0x80, 1);
			image_number(image, count >> 7, 1);
		} else {
			image_number(image, count, 1);
		}
		image_bytes(image, tokens, count);
	}
	image_label(image);
	for (uint32_t i = 0; i < (options->count + 255) / 256; i++)
		image_number(image, markers[i], 4);
	free(markers);
}

static void image_tokens(struct image *image)
{
	uint16_t index[256];
	image->tables.token_table = image_label(image);
	for (unsigned int code = 0; code < 256; code++) {
		const char *token = image->tokens[code];
		index[code] =
			(uint16_t)(image->options.base + image->size - image->tables.token_table);
		image_bytes(image, token, strlen(token) + 1);
	}
	image->tables.token_index = image_label(image);
	for (unsigned int code = 0; code < 256; code++)
		image_number(image, index[code], 2);
}

static void image_addresses(struct image *image)
{
	const struct image_options *options = &image->options;
	uint64_t table = image_label(image);
	uint64_t base = options->symbols[0].address;
	if (options->encoding == KALLSYMS_ABSOLUTE_PERCPU)
		for (uint32_t i = 0; options->symbols[i].address <= INT32_MAX; i++)
			base = options->symbols[i + 1].address;
	for (uint32_t i = 0; i < options->count; i++) {
		uint64_t address = options->symbols[i].address;
		switch (options->encoding) {
		case KALLSYMS_ABSOLUTE:
			image_number(image, address, options->word_size);
			break;
		case KALLSYMS_BASE_RELATIVE:
			image_number(image, address - base, 4);
			break;
		case KALLSYMS_ABSOLUTE_PERCPU:
			image_number(image, address <= INT32_MAX ? address : base - 1 - address, 4);
			break;
		case KALLSYMS_PLACE_RELATIVE:
			image_number(image, address - (table + i * 4u), 4);
			break;
		case KALLSYMS_OFFSET_ONLY:
			image_number(image, address, 4);
			break;
		}
	}
	if (options->encoding == KALLSYMS_ABSOLUTE) {
		image->tables.addresses = table;
		return;
	}
	image->tables.offsets = table;
	if (options->encoding == KALLSYMS_BASE_RELATIVE ||
	    options->encoding == KALLSYMS_ABSOLUTE_PERCPU) {
		image->tables.relative_base = image_label(image);
		image_number(image, base, options->word_size);
	}
}

static int image_compare_names(const void *left, const void *right, void *context)
{
	const struct test_symbol *symbols = context;
	const uint32_t *a = left, *b = right;
	int order = strcmp(symbols[*a].name, symbols[*b].name);
	return order ? order : *a < *b ? -1 : *a > *b;
}

/* kallsyms_seqs_of_names: big-endian on all machines. */
static void image_order(struct image *image)
{
	uint32_t count = image->options.count, *order = malloc(count * sizeof(*order));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), image_compare_names, (void *)image->options.symbols);
	image_label(image);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t entry[] = { (uint8_t)(order[i] >> 16), (uint8_t)(order[i] >> 8),
				    (uint8_t)order[i] };
		image_bytes(image, entry, sizeof(entry));
	}
	free(order);
}

static void image_create(struct image *image, const struct image_options *options)
{
	*image = (struct image){ .options = *options };
	for (unsigned int code = 0; code < 256; code++)
		image_token(code, image->tokens[code]);
	for (size_t i = 0; i < options->padding; i++)
		image_number(image, 0xcc, 1);
	bool before = options->order == ORDER_BEFORE || options->order == ORDER_BEFORE_SEQS;
	if (before)
		image_addresses(image);
	image_names(image);
	if (options->order == ORDER_BEFORE_SEQS)
		image_order(image);
	image_tokens(image);
	if (!before) {
		image_addresses(image);
		image_order(image);
	}
	/* Something behind it all. */
	image_bytes(image, "the end, with more bytes than a name is long", 45);
	/* Memory comes in pages. */
	while (options->padding && image->size % 4096)
		image_number(image, 0, 1);
	for (uint32_t i = 0; i < options->count; i++)
		if (!strcmp(options->symbols[i].name, "_stext"))
			image->tables.stext = options->symbols[i].address;
	memory_array_init(&image->memory, options->base, image->data, image->size);
	image->memory.memory.word_size = (uint8_t)options->word_size;
	image->memory.memory.big_endian = options->big_endian;
}

static void image_destroy(struct image *image)
{
	free(image->data);
}

/* For tests of what is above kallsyms: its tables at `base`, and the symbols read from them. */
static inline void image_symbols(struct image *image, uint64_t base,
				 const struct test_symbol *symbols, size_t count,
				 struct symtab **ret)
{
	struct image_options options = { .order = ORDER_BEFORE,
					 .encoding = KALLSYMS_ABSOLUTE_PERCPU,
					 .word_size = 8,
					 .base = base,
					 .symbols = symbols,
					 .count = count };
	image_create(image, &options);
	CHECK_OK(symtab_create(ret));
	CHECK_OK(kallsyms_load(*ret, &image->memory.memory, &image->tables));
}

#endif
