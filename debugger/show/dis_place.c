// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/dis_place.h"

#include "base/digits.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MAX 8 /* functions of one name that are told */

struct named {
	uint64_t addresses[NAMED_MAX];
	size_t count;
};

static void add_address(struct named *named, uint64_t address)
{
	for (size_t i = 0; i < named->count && i < NAMED_MAX; i++)
		if (named->addresses[i] == address)
			return;
	if (named->count < NAMED_MAX)
		named->addresses[named->count] = address;
	named->count++;
}

static void find_symbols(struct target *target, const char *name, struct named *named)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	while (target_find_symbol(target, NULL, name, &cursor, &symbol))
		if (symtab_is_function(target->symbols, &symbol))
			add_address(named, symbol.address);
}

/* The symbol of a BPF function is bpf_prog_<16 hexadecimal digits>_<name>. */
#define BPF_PREFIX	  "bpf_prog_"
#define BPF_PREFIX_LENGTH 26

static void find_bpf(struct target *target, const char *name, struct named *named)
{
	const struct module *modules;
	target_modules(target, &modules);
	for (size_t i = 0; i < target->generated_count; i++) {
		struct symbol symbol;
		uint64_t offset;
		if (target->generated[i].kind == GENERATED_BPF_PROGRAM &&
		    target_symbol_at(target, target->generated[i].start, &symbol, &offset) &&
		    !strncmp(symbol.name, BPF_PREFIX, strlen(BPF_PREFIX)) &&
		    strlen(symbol.name) > BPF_PREFIX_LENGTH &&
		    !strcmp(symbol.name + BPF_PREFIX_LENGTH, name))
			add_address(named, target->generated[i].start);
	}
}

static struct error *several(const char *name, const struct named *named)
{
	char text[NAMED_MAX * 24];
	size_t used = 0;
	for (size_t i = 0; i < named->count && i < NAMED_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " 0x%" PRIx64,
					 named->addresses[i]);
	return error_create(ERROR_USAGE, "%zu functions are called %s:%s%s", named->count, name,
			    text, named->count > NAMED_MAX ? " ..." : "");
}

/* False: no function has the name. */
static bool find_named(struct target *target, const char *name, uint64_t *ret,
		       struct error **ret_error)
{
	struct named named = { .count = 0 };
	*ret_error = NULL;
	find_symbols(target, name, &named);
	if (!named.count)
		find_bpf(target, name, &named);
	if (named.count > 1)
		*ret_error = several(name, &named);
	*ret = named.addresses[0];
	return named.count;
}

void dis_place_at(struct target *target, uint64_t address, struct dis_place *ret)
{
	*ret = (struct dis_place){ .address = address };
	ret->has_symbol = target_symbol_at(target, address, &ret->symbol, &ret->offset);
}

/* "name+0x10", where the name need not be one of C. */
static bool split(const char *text, char *name, size_t size, uint64_t *ret_offset)
{
	const char *plus = strrchr(text, '+');
	size_t length = plus ? (size_t)(plus - text) : 0;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (!length || length >= size)
		return false;
	snprintf(name, size, "%.*s", (int)length, text);
	const char *end = digits_scan(plus + 1, 0, ret_offset);
	return end && !*end;
}

struct error *dis_place_find(struct session *session, const char *text, struct dis_place *ret)
{
	struct target *target = session->target;
	char name[SYMBOL_NAME_SIZE];
	uint64_t address, offset;
	struct error *error;
	if (find_named(target, text, &address, &error)) {
		if (error)
			return error;
		dis_place_at(target, address, ret);
		ret->is_name = true;
		return NULL;
	}
	if (split(text, name, sizeof(name), &offset) &&
	    find_named(target, name, &address, &error)) {
		if (error)
			return error;
		dis_place_at(target, address + offset, ret);
		return NULL;
	}
	error = expression_address(&session->scope, text, &address);
	if (!error)
		dis_place_at(target, address, ret);
	return error;
}
