// SPDX-License-Identifier: GPL-3.0-or-later
/* The tables of addresses: which encoding it is, is asked from the data. */
#include "symbols/kallsyms.h"

#include "base/bytes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where the raw values are and what they are relative to. */
struct address_table {
	uint8_t *raw;
	size_t value_size;
	uint64_t address; /* of raw[0] in the kernel */
	uint64_t base;
	uint64_t mask; /* of an address */
	bool big_endian;
	struct holes holes; /* in `raw` */
};

static uint64_t decode(const struct address_table *table, enum kallsyms_encoding encoding,
		       uint32_t number)
{
	const uint8_t *raw = table->raw + number * table->value_size;
	if (encoding == KALLSYMS_ABSOLUTE)
		return load_unsigned(raw, table->value_size, table->big_endian);
	uint32_t offset = load_u32(raw, table->big_endian);
	int64_t signed_offset = (int32_t)offset;
	uint64_t address = offset;
	switch (encoding) {
	case KALLSYMS_BASE_RELATIVE:
		address = table->base + offset;
		break;
	case KALLSYMS_ABSOLUTE_PERCPU:
		if (signed_offset < 0)
			address = table->base - 1 - (uint64_t)signed_offset;
		break;
	case KALLSYMS_PLACE_RELATIVE:
		address = table->address + (uint64_t)number * 4 + (uint64_t)signed_offset;
		break;
	case KALLSYMS_ABSOLUTE:
	case KALLSYMS_OFFSET_ONLY:
		break;
	}
	return address & table->mask;
}

static bool is_missing(const struct address_table *table, uint32_t number)
{
	size_t start = number * table->value_size;
	return table->holes.count && holes_touch(&table->holes, start, start + table->value_size);
}

/*
 * Decodes all addresses. They ascend, save for damage: a flipped bit must not cost the whole
 * table, a wrong encoding must.
 */
static bool decode_all(struct kallsyms *kallsyms, const struct address_table *table,
		       enum kallsyms_encoding encoding)
{
	uint64_t previous = 0;
	uint32_t disorder = 0;
	bool was_missing = false;
	for (uint32_t i = 0; i < kallsyms->count; i++) {
		bool missing = is_missing(table, i);
		uint64_t address = previous + !was_missing;
		if (!missing)
			address = decode(table, encoding, i);
		was_missing = missing;
		disorder += address < previous;
		previous = address;
		kallsyms->addresses[i] = address;
	}
	kallsyms->encoding = encoding;
	return disorder <= kallsyms->count / 100;
}

static bool find_stext(const struct kallsyms *kallsyms, uint32_t *ret)
{
	for (uint32_t i = 0; i < kallsyms->count; i++)
		if (kallsyms_name_is(kallsyms, i, "_stext", 6)) {
			*ret = i;
			return true;
		}
	return false;
}

static struct error *choose_encoding(struct kallsyms *kallsyms, const struct address_table *table,
				     const enum kallsyms_encoding *candidates, size_t count,
				     uint64_t stext)
{
	uint32_t number = 0;
	bool has_stext = stext && find_stext(kallsyms, &number);
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		if (has_stext && decode(table, candidates[i], number) != stext)
			continue;
		any = true;
		if (!decode_all(kallsyms, table, candidates[i]))
			continue;
		/* Without a _stext to compare the order alone decides; it must still hold stext. */
		if (has_stext || !stext ||
		    (kallsyms->addresses[0] <= stext &&
		     kallsyms->addresses[kallsyms->count - 1] >= stext))
			return NULL;
	}
	if (has_stext && !any)
		return error_create(ERROR_FORMAT,
				    "kallsyms_offsets: no known encoding puts _stext (symbol "
				    "%" PRIu32 ") at 0x%" PRIx64,
				    number, stext);
	return error_create(ERROR_FORMAT, "kallsyms_offsets: the addresses do not ascend");
}

/* Reads the values; symbols whose addresses are missing are lost. */
static struct error *read_raw(struct kallsyms *kallsyms, struct memory *memory,
			      struct address_table *table, const char *name)
{
	size_t size = kallsyms->count * table->value_size;
	table->raw = malloc(size);
	kallsyms->addresses = malloc(kallsyms->count * sizeof(*kallsyms->addresses));
	if (!table->raw || !kallsyms->addresses)
		return error_no_memory();
	struct error *error = holes_read(&table->holes, memory, table->address, table->raw, size);
	if (error)
		return error_prefix(error, "%s", name);
	for (size_t i = 0; i < table->holes.count; i++) {
		size_t last = (table->holes.items[i].end - 1) / table->value_size;
		for (size_t n = table->holes.items[i].start / table->value_size; n <= last; n++)
			kallsyms_lose(kallsyms, (uint32_t)n);
	}
	if (table->holes.why)
		kallsyms_set_damage(kallsyms, error_prefix(table->holes.why, "%s", name));
	table->holes.why = NULL;
	return NULL;
}

struct error *kallsyms_read_addresses(struct kallsyms *kallsyms, struct memory *memory,
				      const struct kallsyms_tables *tables)
{
	static const enum kallsyms_encoding absolute[] = { KALLSYMS_ABSOLUTE };
	/* Data of absolute-percpu does not ascend as base-relative, but the other way round it may.
	 */
	static const enum kallsyms_encoding with_base[] = { KALLSYMS_BASE_RELATIVE,
							    KALLSYMS_ABSOLUTE_PERCPU };
	static const enum kallsyms_encoding without_base[] = { KALLSYMS_PLACE_RELATIVE,
							       KALLSYMS_OFFSET_ONLY };
	struct address_table table = {
		.value_size = 4,
		.address = tables->offsets,
		.mask = memory->word_size == 4 ? UINT32_MAX : UINT64_MAX,
		.big_endian = memory->big_endian,
	};
	const enum kallsyms_encoding *candidates = without_base;
	size_t count = memory->word_size == 4 ? 2 : 1;
	const char *name = "kallsyms_offsets";
	if (!tables->offsets) {
		table.address = tables->addresses;
		table.value_size = memory->word_size;
		candidates = absolute;
		count = 1;
		name = "kallsyms_addresses";
	} else if (tables->relative_base) {
		struct error *error = memory_read_word(memory, tables->relative_base, &table.base);
		if (error)
			return error_prefix(error, "kallsyms_relative_base");
		candidates = with_base;
		count = 2;
	}
	struct error *error = read_raw(kallsyms, memory, &table, name);
	if (!error)
		error = choose_encoding(kallsyms, &table, candidates, count, tables->stext);
	free(table.raw);
	holes_deinit(&table.holes);
	return error;
}

bool kallsyms_is_number(const struct kallsyms *kallsyms, uint32_t number)
{
	return kallsyms->encoding == KALLSYMS_ABSOLUTE_PERCPU &&
	       kallsyms->addresses[number] <= INT32_MAX;
}
