// SPDX-License-Identifier: GPL-3.0-or-later
/* Which addresses of data the code of a function mentions. */
#include "debugger/hidden/hidden_private.h"

#include "base/array.h"
#include "debugger/code/text.h"
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION_MAX	65536u
#define STEPS_OF_A_BYTE 8u

struct code_reader {
	struct hidden *hidden;
	const struct lowering *lowering;
	struct decoder *decoder;
	struct text text;
};

struct error *code_reader_create(struct hidden *hidden, struct code_reader **ret)
{
	const char *arch = hidden->target->arch->name;
	const struct lowering *lowering = lowering_find(arch);
	if (!lowering)
		return error_create(ERROR_UNSUPPORTED, "code of %s is not understood", arch);
	struct code_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return error_no_memory();
	reader->hidden = hidden;
	reader->lowering = lowering;
	reader->decoder = lowering->create();
	struct error *error = reader->decoder ? text_init(&reader->text, hidden->target, lowering)
					      : error_no_memory();
	if (error) {
		code_reader_destroy(reader);
		return error;
	}
	*ret = reader;
	return NULL;
}

void code_reader_destroy(struct code_reader *reader)
{
	if (reader->decoder)
		reader->lowering->destroy(reader->decoder);
	text_deinit(&reader->text);
	free(reader);
}

static bool is_data(const struct hidden *hidden, int64_t address)
{
	return (uint64_t)address >= hidden->first && (uint64_t)address <= hidden->last;
}

static struct error *add(struct mentions *mentions, uint64_t address)
{
	if (!array_reserve(&mentions->items, &mentions->capacity, mentions->count + 1))
		return error_no_memory();
	mentions->items[mentions->count++] = address;
	return NULL;
}

/* The address that an operation has in it; 0: none. */
static uint64_t mentioned(const struct hidden *hidden, const struct op *op)
{
	if (is_data(hidden, op->constant) &&
	    (op->kind == OP_CONSTANT || op->kind == OP_STORE_CONSTANT))
		return (uint64_t)op->constant;
	return !op->per_cpu && is_data(hidden, op->displacement) ? (uint64_t)op->displacement : 0;
}

static struct error *read_ops(const struct code_reader *reader, const struct ops *ops,
			      struct mentions *mentions)
{
	for (size_t i = 0; i < ops->count; i++) {
		uint64_t address = mentioned(reader->hidden, &ops->items[i]);
		if (address)
			TRY(add(mentions, address));
	}
	return NULL;
}

static struct error *read_function(struct code_reader *reader, const struct symbol *symbol,
				   struct mentions *mentions)
{
	if (!symbol->size || symbol->size > FUNCTION_MAX)
		return NULL;
	TRY(hidden_spend(reader->hidden, symbol->size * STEPS_OF_A_BYTE));
	uint8_t *bytes = malloc(symbol->size);
	struct ops ops = { 0 };
	if (!bytes)
		return error_no_memory();
	struct error *error = NULL;
	if (text_read(&reader->text, symbol->address, bytes, symbol->size)) {
		struct code code = { bytes, symbol->size, symbol->address };
		reader->lowering->lower(reader->decoder, &code, &ops);
		error = ops.failed ? error_no_memory() : read_ops(reader, &ops, mentions);
	}
	free(ops.items);
	free(bytes);
	return error;
}

struct error *code_reader_mentions(struct code_reader *reader, const char *function,
				   struct mentions *mentions, bool *ret)
{
	static const char *const parts[] = { "", ".isra.0", ".constprop.0", ".part.0", ".cold" };
	*ret = false;
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		char name[SYMBOL_NAME_SIZE];
		uint64_t cursor = 0;
		struct symbol symbol;
		snprintf(name, sizeof(name), "%s%s", function, parts[i]);
		while (symtab_find_own(reader->hidden->target->symbols, NULL, name, &cursor,
				       &symbol)) {
			TRY(read_function(reader, &symbol, mentions));
			*ret = true;
		}
	}
	return NULL;
}
