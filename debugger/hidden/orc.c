// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * ORC's tables (kernel arch/x86/include/asm/orc_*.h and include/asm-generic/vmlinux.lds.h): the
 * addresses, 32 bits each and relative to themselves, ascend through the text; the records of six
 * bytes follow at once, one for each. The code that unwinds mentions both, and the distance
 * between the two is the number of addresses.
 */
#include "debugger/hidden/hidden_private.h"

#include "base/bytes.h"
#include <stdlib.h>

#define IP_SIZE	    4u
#define RECORD_SIZE 6u
#define COUNT_MIN   10000u
#define COUNT_MAX   (1u << 22)

static const char evidence[] = "what the code that unwinds uses, a table of the text's addresses";

struct text_limits {
	uint64_t first, last;
};

/* They ascend, all of them, and are in the text. */
static bool are_addresses(const struct hidden *hidden, const struct text_limits *text,
			  uint64_t start, uint64_t count)
{
	struct memory *memory = hidden->target->memory;
	void *bytes;
	struct error *error = memory_read_alloc(memory, start, count * IP_SIZE,
						(uint64_t)COUNT_MAX * IP_SIZE, &bytes);
	error_free(error);
	if (error)
		return false;
	uint64_t previous = text->first;
	bool good = true;
	for (uint64_t i = 0; i < count && good; i++) {
		uint32_t distance = load_u32((uint8_t *)bytes + i * IP_SIZE, memory->big_endian);
		uint64_t ip = start + i * IP_SIZE + (uint64_t)(int64_t)(int32_t)distance;
		good = ip >= previous && ip <= text->last;
		previous = ip;
	}
	free(bytes);
	return good;
}

/* The first of the addresses must be where the text begins. */
static bool may_be_start(const struct hidden *hidden, const struct text_limits *text,
			 uint64_t start)
{
	uint32_t distance;
	struct error *error = start % IP_SIZE
				      ? error_create(ERROR_FORMAT, "no start")
				      : memory_read_u32(hidden->target->memory, start, &distance);
	error_free(error);
	return !error && start + (uint64_t)(int64_t)(int32_t)distance - text->first < 4096;
}

static struct error *add_tables(struct hidden *hidden, uint64_t ips, uint64_t count)
{
	uint64_t records = ips + count * IP_SIZE, size = count * RECORD_SIZE;
	TRY(hidden_add(hidden, "__start_orc_unwind_ip", 'R', ips, 0, evidence));
	TRY(hidden_add(hidden, "__stop_orc_unwind_ip", 'R', records, 0, evidence));
	TRY(hidden_add(hidden, "__start_orc_unwind", 'R', records, 0, evidence));
	return hidden_add(hidden, "__stop_orc_unwind", 'R', records + size, 0, evidence);
}

/* *ret_count 0: there is none. */
static struct error *find_pair(struct hidden *hidden, const struct text_limits *text,
			       const struct mentions *mentions, uint64_t *ret_ips,
			       uint64_t *ret_count)
{
	*ret_count = 0;
	for (size_t i = 0; i < mentions->count; i++) {
		uint64_t ips = mentions->items[i];
		TRY(hidden_spend(hidden, mentions->count));
		if (!may_be_start(hidden, text, ips))
			continue;
		for (size_t j = 0; j < mentions->count; j++) {
			uint64_t count = (mentions->items[j] - ips) / IP_SIZE;
			if ((mentions->items[j] - ips) % IP_SIZE || count < COUNT_MIN ||
			    count > COUNT_MAX)
				continue;
			TRY(hidden_spend(hidden, count));
			if (!are_addresses(hidden, text, ips, count))
				continue;
			*ret_ips = ips;
			*ret_count = count;
			return NULL;
		}
	}
	return NULL;
}

struct error *hidden_add_orc(struct hidden *hidden, struct code_reader *reader)
{
	static const char *const users[] = { "orc_find", "__orc_find", "unwind_next_frame" };
	const struct symtab *symbols = hidden->target->symbols;
	struct mentions mentions = { 0 };
	struct text_limits text;
	uint64_t known, ips, count;
	struct error *error = NULL;
	bool exists;
	if (symtab_address(symbols, "__start_orc_unwind_ip", &known) ||
	    !symtab_address(symbols, "_stext", &text.first))
		return NULL;
	/* The text of initialisation lies behind the data. */
	text.last = hidden->last;
	for (size_t i = 0; !error && i < sizeof(users) / sizeof(users[0]); i++)
		error = code_reader_mentions(reader, users[i], &mentions, &exists);
	if (!error)
		error = find_pair(hidden, &text, &mentions, &ips, &count);
	if (!error && count)
		error = add_tables(hidden, ips, count);
	free(mentions.items);
	return error;
}
