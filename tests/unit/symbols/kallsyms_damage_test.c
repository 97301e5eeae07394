// SPDX-License-Identifier: GPL-3.0-or-later
/* Damaged tables of the kernel's own symbols: what is lost is said, and the rest works. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "symbols/symtab.h"
#include "tests/unit/kallsyms_image.h"

#define TEXT  0xffffffff81000000u
#define COUNT 3016u
/* The first ones, where the encoding has such. */
#define PER_CPU 5u

static const struct {
	enum table_order order;
	enum kallsyms_encoding encoding;
} forms[] = {
	{ ORDER_BEFORE, KALLSYMS_ABSOLUTE },
	{ ORDER_BEFORE, KALLSYMS_ABSOLUTE_PERCPU },
	{ ORDER_BEFORE_SEQS, KALLSYMS_BASE_RELATIVE },
	{ ORDER_BEFORE_SEQS, KALLSYMS_ABSOLUTE_PERCPU },
	{ ORDER_BEHIND, KALLSYMS_BASE_RELATIVE },
	{ ORDER_BEHIND, KALLSYMS_ABSOLUTE_PERCPU },
	{ ORDER_COMPACT, KALLSYMS_PLACE_RELATIVE },
};

struct damage {
	struct image_options options;
	struct test_symbol symbols[COUNT];
	char names[COUNT][200];
	struct image image;
	struct symtab *symtab;
};

/* Every 50th name is longer than one byte of a length can say. */
static void name_symbols(struct damage *damage)
{
	bool has_per_cpu = damage->options.encoding == KALLSYMS_ABSOLUTE_PERCPU;
	for (uint32_t i = 0; i < COUNT; i++) {
		bool is_per_cpu = has_per_cpu && i < PER_CPU;
		snprintf(damage->names[i], sizeof(damage->names[i]), "%s_%u%0*u",
			 i % 3 ? "ext4_object" : "init_function", i, i % 50 ? 1 : 150, 0);
		damage->symbols[i] = (struct test_symbol){ is_per_cpu ? i * 16 : TEXT + i * 16u,
							   is_per_cpu ? 'A' : "dT"[i % 2],
							   damage -> names[i] };
	}
	damage->symbols[PER_CPU].name = "_stext";
}

static struct damage *damage_create(size_t form, bool long_lengths)
{
	struct damage *damage = calloc(1, sizeof(*damage));
	if (!damage)
		abort();
	damage->options = (struct image_options){ .order = forms[form].order,
						  .encoding = forms[form].encoding,
						  .long_lengths = long_lengths,
						  .word_size = 8,
						  .base = TEXT + 0x20000,
						  .padding = 0x238,
						  .symbols = damage->symbols,
						  .count = COUNT };
	name_symbols(damage);
	image_create(&damage->image, &damage->options);
	CHECK_OK(symtab_create(&damage->symtab));
	return damage;
}

static void damage_destroy(struct damage *damage)
{
	symtab_destroy(damage->symtab);
	image_destroy(&damage->image);
	free(damage);
}

static void load(struct damage *damage)
{
	CHECK_OK(
		kallsyms_load(damage->symtab, &damage->image.memory.memory, &damage->image.tables));
}

/* The offset of a symbol's record in the image's bytes. */
static size_t record_at(const struct image *image, uint32_t number)
{
	size_t at = image->tables.names - image->options.base;
	for (uint32_t i = 0; i < number; i++) {
		size_t length = image->data[at++];
		if (image->options.long_lengths && length > 127)
			length = (length & 0x7f) | (size_t)image->data[at++] << 7;
		at += length;
	}
	return at;
}

/* All symbols are right but those from `first` to `end` (none: equal), which nothing finds. */
static void check_lost(const struct damage *damage, uint32_t first, uint32_t end, bool addresses)
{
	const struct symtab *symtab = damage->symtab;
	CHECK_U64(symtab_kernel_count(symtab), COUNT);
	CHECK(!symtab_warning(symtab) == (first == end));
	for (uint32_t i = 0; i < COUNT && !test_bad; i++) {
		const struct test_symbol *wanted = &damage->symbols[i];
		bool is_lost = i >= first && i < end, found = false;
		struct symbol got;
		uint64_t cursor = 0, offset;
		symtab_get(symtab, i, &got);
		CHECK_STRING(got.name, is_lost ? "" : wanted->name);
		CHECK_U64(got.kind, is_lost ? '?' : wanted->kind);
		CHECK(is_lost || got.address == wanted->address);
		while (symtab_find(symtab, NULL, wanted->name, &cursor, &got))
			found |= got.number == i;
		CHECK(found == !is_lost);
		/* Nor is a neighbour's name given to what is lost. */
		bool ends = i + 1 == COUNT || (addresses && i + 1 == first);
		if (wanted->address >= TEXT) {
			CHECK(symtab_by_address(symtab, wanted->address, &got, &offset) ==
			      !is_lost);
			CHECK(symtab_by_address(symtab, wanted->address + 2, &got, &offset) ==
			      (!is_lost && !ends));
		}
	}
	uint64_t cursor = 0;
	struct symbol got;
	CHECK(!symtab_find(symtab, NULL, "", &cursor, &got));
}

/* One wrong length costs the 256 symbols around it. */
static void test_damaged_length(void)
{
	for (size_t form = 0; form < 2 * ARRAY_COUNT(forms) && !test_bad; form++) {
		struct damage *damage = damage_create(form / 2, form % 2);
		struct image *image = &damage->image;
		const uint32_t numbers[] = { 260, 256, 511, 1000, 2815, COUNT - 100, COUNT - 1 };
		for (size_t i = 0; i < ARRAY_COUNT(numbers) && !test_bad; i++) {
			size_t at = record_at(image, numbers[i]);
			uint32_t run = numbers[i] / 256 * 256;
			image->data[at] ^= i % 2 ? 0x85 : 0x09;
			load(damage);
			check_lost(damage, run, run + 256 < COUNT ? run + 256 : COUNT, false);
			const char *warning = symtab_warning(damage->symtab);
			CHECK(warning && strstr(warning, "kallsyms_names: damaged records"));
			image->data[at] ^= i % 2 ? 0x85 : 0x09;
			if (test_bad)
				printf("... form %zu, symbol %u\n", form, numbers[i]);
		}
		damage_destroy(damage);
	}
}

/* A wrong marker costs nothing, alone or beside a wrong length. */
static void test_damaged_marker(void)
{
	struct damage *damage = damage_create(5, true);
	struct image *image = &damage->image;
	size_t markers = (record_at(image, COUNT) + 7) & ~(size_t)7;
	for (uint32_t i = 0; i < (COUNT + 255) / 256 && !test_bad; i++) {
		image->data[markers + i * 4] ^= 0x10;
		load(damage);
		check_lost(damage, 0, 0, false);
		image->data[markers + i * 4] ^= 0x10;
	}
	damage_destroy(damage);
}

/*
 * Tables that VMCOREINFO does not name are found although names or one marker are damaged: all but
 * the last run of names and the last marker, which tell where the rest is.
 */
static void test_damaged_by_shape(void)
{
	for (size_t form = 0; form < 2 * ARRAY_COUNT(forms) && !test_bad; form++) {
		struct damage *damage = damage_create(form / 2, form % 2);
		struct image *image = &damage->image;
		const struct kallsyms_tables by_shape = { .stext = image->tables.stext };
		size_t markers = record_at(image, COUNT);
		markers += -markers & (damage->options.order == ORDER_COMPACT ? 3 : 7);
		image->data[record_at(image, 1000)] ^= 0x09;
		image->data[markers + 7 * 4] ^= 0x10;
		image->tables = by_shape;
		load(damage);
		check_lost(damage, 768, 1024, false);
		if (test_bad)
			printf("... form %zu\n", form);
		damage_destroy(damage);
	}
}

/* Memory with one page left out. */
struct filtered {
	struct memory memory;
	struct memory *whole;
	uint64_t excluded;
};

static struct error *filtered_read(struct memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct filtered *filtered = (struct filtered *)memory;
	if (address + size > filtered->excluded && address < filtered->excluded + 4096)
		return error_create_at(ERROR_EXCLUDED,
				       address > filtered->excluded ? address : filtered->excluded,
				       "excluded");
	return memory_read(filtered->whole, address, buffer, size);
}

static void load_filtered(struct damage *damage, uint64_t page)
{
	struct filtered filtered = { .memory = damage->image.memory.memory,
				     .whole = &damage->image.memory.memory,
				     .excluded = page };
	filtered.memory.read = filtered_read;
	CHECK_OK(kallsyms_load(damage->symtab, &filtered.memory, &damage->image.tables));
}

static void test_excluded_names(void)
{
	for (size_t form = 0; form < ARRAY_COUNT(forms) && !test_bad; form++) {
		struct damage *damage = damage_create(form, true);
		struct image *image = &damage->image;
		uint64_t page = (image->tables.names + 2 * 4096) & ~4095ull;
		uint32_t first = 0, end = 0;
		for (uint32_t i = 0; i < COUNT; i++) {
			uint64_t start = image->options.base + record_at(image, i);
			uint64_t behind = image->options.base + record_at(image, i + 1);
			if (behind <= page || start >= page + 4096)
				continue;
			first = end ? first : i / 256 * 256;
			end = (i / 256 + 1) * 256;
		}
		load_filtered(damage, page);
		check_lost(damage, first, end, false);
		const char *warning = symtab_warning(damage->symtab);
		CHECK(warning && strstr(warning, "kallsyms_names: excluded"));
		damage_destroy(damage);
	}
}

static void test_excluded_addresses(void)
{
	for (size_t form = 0; form < ARRAY_COUNT(forms) && !test_bad; form++) {
		struct damage *damage = damage_create(form, true);
		struct kallsyms_tables *tables = &damage->image.tables;
		uint64_t table = tables->offsets ? tables->offsets : tables->addresses;
		uint64_t page = (table + 4096) & ~4095ull, size = tables->offsets ? 4 : 8;
		load_filtered(damage, page);
		uint32_t first = (uint32_t)((page - table) / size);
		check_lost(damage, first, (uint32_t)((page + 4096 - table + size - 1) / size),
			   true);
		struct symbol before;
		symtab_get(damage->symtab, first - 1, &before);
		CHECK_U64(before.size, 0);
		const char *warning = symtab_warning(damage->symtab);
		CHECK(warning && strstr(warning, "excluded"));
		damage_destroy(damage);
	}
}

/* Any byte of names and markers: the rest stays right, or it is as if nothing were wrong. */
static void test_damaged_names_mutated(void)
{
	struct damage *damage = damage_create(4, true);
	struct image *image = &damage->image;
	size_t start = image->tables.names - image->options.base;
	size_t end = image->tables.token_table - image->options.base;
	for (size_t i = start; i < end && !test_bad; i += 23) {
		uint32_t wrong = 0;
		image->data[i] ^= 0x5a;
		load(damage);
		for (uint32_t n = 0; n < COUNT; n++) {
			struct symbol got;
			symtab_get(damage->symtab, n, &got);
			wrong += strcmp(got.name, damage->symbols[n].name) != 0;
		}
		/* A token that is wrong costs its own name, without a warning. */
		CHECK(wrong <= (symtab_warning(damage->symtab) ? 256 : 1));
		image->data[i] ^= 0x5a;
	}
	damage_destroy(damage);
}

int main(void)
{
	RUN(test_damaged_length);
	RUN(test_damaged_marker);
	RUN(test_damaged_by_shape);
	RUN(test_excluded_names);
	RUN(test_excluded_addresses);
	RUN(test_damaged_names_mutated);
	return test_finish();
}
