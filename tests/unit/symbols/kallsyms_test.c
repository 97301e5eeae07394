// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's own symbols: every way they were ever stored, whole and broken. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "symbols/symtab.h"
#include "tests/unit/kallsyms_image.h"
#include <inttypes.h>

#define TEXT 0xffffffff81000000u

/* 200 characters that no token shortens. */
#define LONG_NAME                                                                                  \
	"_RINvNtQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQ" \
	"zQ"                                                                                       \
	"zQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQzQz"  \
	"QzQzQzQzQzQzQzQzQzQzQzQzQzQzQ"
static const struct test_symbol symbols[] = {
	{ TEXT, 'T', "_text" },
	{ TEXT, 'T', "_stext" },
	{ TEXT, 't', "__pfx_function_one" },
	{ TEXT + 0x10, 'T', "function_one" },
	{ TEXT + 0x80, 't', "__pfx_alias_of" },
	{ TEXT + 0x80, 't', "__cfi_alias_of" },
	{ TEXT + 0x80, 'T', "__pi_alias_of" },
	{ TEXT + 0x80, 'T', "alias_of" },
	{ TEXT + 0x80, 'W', "alias_weak" },
	{ TEXT + 0x100, 't', "same_name" },
	{ TEXT + 0x200, 't', "same_name" },
	{ TEXT + 0x300, 't', "ext4_function" },
	{ TEXT + 0x340, 't', LONG_NAME },
	{ TEXT + 0x400, 'T', "_etext" },
	{ TEXT + 0x2000, 'D', "object" },
	{ TEXT + 0x2008, 'd', "object00" },
	{ TEXT + 0x3000, 'B', "_end" },
};

static const struct test_symbol per_cpu[] = {
	{ 0, 'A', "__per_cpu_start" },	   { 0, 'A', "fixed_percpu_data" },
	{ 0x1000, 'A', "per_cpu_object" }, { 0x2000, 'A', "__per_cpu_end" },
	{ 0x8000, 'A', "some_constant" },
};

/* The symbols of an encoding: with absolute per-CPU ones before where it has such. */
static const struct test_symbol *symbols_of(enum kallsyms_encoding encoding, uint32_t *ret_count)
{
	static struct test_symbol both[ARRAY_COUNT(per_cpu) + ARRAY_COUNT(symbols)];
	if (encoding != KALLSYMS_ABSOLUTE_PERCPU) {
		*ret_count = ARRAY_COUNT(symbols);
		return symbols;
	}
	memcpy(both, per_cpu, sizeof(per_cpu));
	memcpy(both + ARRAY_COUNT(per_cpu), symbols, sizeof(symbols));
	*ret_count = ARRAY_COUNT(both);
	return both;
}

static struct symtab *new_symtab(void)
{
	struct symtab *symtab = NULL;
	CHECK_OK(symtab_create(&symtab));
	return symtab;
}

/* Everything that went in comes out, by number, name and address. */
static void check_symbols(const struct symtab *symtab, const struct image *image)
{
	const struct image_options *options = &image->options;
	CHECK_U64(symtab_kernel_count(symtab), options->count);
	for (uint32_t i = 0; i < options->count && !test_bad; i++) {
		const struct test_symbol *wanted = &options->symbols[i];
		struct symbol got;
		symtab_get(symtab, i, &got);
		CHECK_STRING(got.name, wanted->name);
		CHECK_U64(got.address, wanted->address);
		CHECK_U64(got.kind, wanted->kind);
		CHECK_U64(got.number, i);
		CHECK(!got.module);
		uint64_t cursor = 0;
		bool found = false;
		while (symtab_find(symtab, NULL, wanted->name, &cursor, &got))
			found |= got.number == i;
		CHECK(found);
		uint64_t offset = 99;
		bool is_place = !(options->encoding == KALLSYMS_ABSOLUTE_PERCPU &&
				  wanted->address <= INT32_MAX);
		CHECK(symtab_by_address(symtab, wanted->address, &got, &offset) == is_place);
		if (is_place)
			CHECK(got.address == wanted->address && !offset);
	}
}

static void check_encoding(const struct image_options *options, bool scan, const char *name)
{
	struct image image;
	image_create(&image, options);
	struct kallsyms_tables tables = image.tables;
	if (scan)
		tables = (struct kallsyms_tables){ .stext = image.tables.stext };
	struct symtab *symtab = new_symtab();
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &tables));
	CHECK_STRING(symtab_encoding(symtab), name);
	check_symbols(symtab, &image);
	if (test_bad)
		printf("... order %d, encoding %d, %s lengths, %s-endian, %u bits%s\n",
		       options->order, options->encoding, options->long_lengths ? "long" : "short",
		       options->big_endian ? "big" : "little", options->word_size * 8,
		       scan ? ", by shape" : "");
	symtab_destroy(symtab);
	image_destroy(&image);
}

static const struct {
	enum table_order order;
	enum kallsyms_encoding encoding;
	const char *name;
} forms[] = {
	{ ORDER_BEFORE, KALLSYMS_ABSOLUTE, "absolute" },
	{ ORDER_BEFORE, KALLSYMS_BASE_RELATIVE, "base-relative" },
	{ ORDER_BEFORE, KALLSYMS_ABSOLUTE_PERCPU, "absolute-percpu" },
	{ ORDER_BEFORE_SEQS, KALLSYMS_BASE_RELATIVE, "base-relative" },
	{ ORDER_BEFORE_SEQS, KALLSYMS_ABSOLUTE_PERCPU, "absolute-percpu" },
	{ ORDER_BEHIND, KALLSYMS_ABSOLUTE, "absolute" },
	{ ORDER_BEHIND, KALLSYMS_BASE_RELATIVE, "base-relative" },
	{ ORDER_BEHIND, KALLSYMS_ABSOLUTE_PERCPU, "absolute-percpu" },
	{ ORDER_COMPACT, KALLSYMS_PLACE_RELATIVE, "place-relative" },
};

static void test_encodings(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(forms) && !test_bad; i++)
		for (int variant = 0; variant < 4 && !test_bad; variant++) {
			struct image_options options = {
				.order = forms[i].order,
				.encoding = forms[i].encoding,
				.long_lengths = variant & 1,
				.big_endian = variant & 2,
				.word_size = 8,
				.base = TEXT + 0x4000,
			};
			options.symbols = symbols_of(options.encoding, &options.count);
			check_encoding(&options, false, forms[i].name);
		}
}

static void test_32_bits(void)
{
	static const struct test_symbol small[] = {
		{ 0xc0008000, 'T', "_stext" },
		{ 0xc0008000, 't', "function" },
		{ 0xc0009000, 'T', "_etext" },
		{ 0xc0a00000, 'D', "object" },
	};
	static const struct {
		enum kallsyms_encoding encoding;
		const char *name;
	} encodings[] = {
		{ KALLSYMS_ABSOLUTE, "absolute" },
		{ KALLSYMS_BASE_RELATIVE, "base-relative" },
		{ KALLSYMS_PLACE_RELATIVE, "place-relative" },
		{ KALLSYMS_OFFSET_ONLY, "absolute" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(encodings); i++)
		for (int big = 0; big < 2; big++) {
			struct image_options options = {
				.order = ORDER_COMPACT,
				.encoding = encodings[i].encoding,
				.big_endian = big,
				.word_size = 4,
				.base = 0xc0800000,
				.symbols = small,
				.count = ARRAY_COUNT(small),
			};
			check_encoding(&options, false, encodings[i].name);
		}
}

/* Enough symbols for a number of them to look like one. */
static struct test_symbol *many_symbols(enum kallsyms_encoding encoding, uint32_t *ret_count)
{
	uint32_t few;
	const struct test_symbol *first = symbols_of(encoding, &few);
	uint32_t count = few + 3000;
	struct test_symbol *many = calloc(count, sizeof(*many));
	memcpy(many, first, few * sizeof(*many));
	/* `_end` stays the last. */
	many[count - 1] = many[few - 1];
	many[count - 1].address = TEXT + 0x3000 + 3000 * 16;
	for (uint32_t i = few - 1; i < count - 1; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s_%u", i % 3 ? "ext4_object" : "init_function", i);
		many[i] = (struct test_symbol){ TEXT + 0x3000 + (i - few + 1) * 16u,
						i % 2 ? 'd' : 'T', strdup(name) };
	}
	*ret_count = count;
	return many;
}

static void free_many(struct test_symbol *many, enum kallsyms_encoding encoding, uint32_t count)
{
	uint32_t few;
	symbols_of(encoding, &few);
	for (uint32_t i = few - 1; i < count - 1; i++)
		free((char *)many[i].name);
	free(many);
}

static void test_scan(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(forms) && !test_bad; i++)
		for (int variant = 0; variant < 4 && !test_bad; variant++) {
			struct image_options options = {
				.order = forms[i].order,
				.encoding = forms[i].encoding,
				.long_lengths = variant & 1,
				.big_endian = variant & 2,
				.word_size = 8,
				/* A hole between text and tables, which begin within a page. */
				.base = TEXT + 0x20000,
				.padding = 0x238,
			};
			struct test_symbol *many = many_symbols(options.encoding, &options.count);
			options.symbols = many;
			check_encoding(&options, true, forms[i].name);
			free_many(many, options.encoding, options.count);
		}
}

/*
 * A length of 130 and a first token of 1 also are a length of two bytes, 130 again: the walk goes
 * on beside the records, where it takes small tokens for lengths, and has its number of records
 * before they end. Only the markers tell.
 */
static void test_ambiguous_lengths(void)
{
	struct image_options options = {
		.order = ORDER_BEFORE_SEQS,
		.encoding = KALLSYMS_BASE_RELATIVE,
		.word_size = 8,
		.base = TEXT + 0x20000,
	};
	struct test_symbol *many = many_symbols(options.encoding, &options.count);
	char name[5 + 129 * 2 + 1] = "init_";
	memset(name + 5, '0', 129 * 2);
	for (uint32_t i = 2; i < 12; i++) {
		many[i].kind = 'T';
		many[i].name = name;
	}
	options.symbols = many;
	for (int form = 0; form < 2; form++) {
		options.long_lengths = form;
		check_encoding(&options, false, "base-relative");
	}
	free_many(many, options.encoding, options.count);
}

static void test_scan_finds_nothing(void)
{
	static const uint8_t zeros[65536];
	struct memory_array memory;
	memory_array_init(&memory, TEXT, zeros, sizeof(zeros));
	struct symtab *symtab = new_symtab();
	struct kallsyms_tables tables = { .stext = TEXT };
	CHECK_FAILS(kallsyms_load(symtab, &memory.memory, &tables), "no token table");
	tables.stext = 0;
	CHECK_FAILS(kallsyms_load(symtab, &memory.memory, &tables), "_stext");
	CHECK_U64(symtab_count(symtab), 0);
	CHECK_STRING(symtab_encoding(symtab), "none");
	symtab_destroy(symtab);
}

static void make_usual(struct image *image, enum kallsyms_encoding encoding)
{
	struct image_options options = {
		.order = encoding == KALLSYMS_PLACE_RELATIVE ? ORDER_COMPACT : ORDER_BEHIND,
		.encoding = encoding,
		.long_lengths = true,
		.word_size = 8,
		.base = TEXT + 0x4000,
	};
	options.symbols = symbols_of(encoding, &options.count);
	image_create(image, &options);
}

static void test_names(void)
{
	struct image image;
	make_usual(&image, KALLSYMS_ABSOLUTE_PERCPU);
	struct symtab *symtab = new_symtab();
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &image.tables));
	struct symbol symbol;
	uint64_t cursor = 0, address;
	CHECK(symtab_find(symtab, NULL, "same_name", &cursor, &symbol));
	CHECK_U64(symbol.address, TEXT + 0x100);
	CHECK(symtab_find(symtab, NULL, "same_name", &cursor, &symbol));
	CHECK_U64(symbol.address, TEXT + 0x200);
	CHECK(!symtab_find(symtab, NULL, "same_name", &cursor, &symbol));
	cursor = 0;
	CHECK(!symtab_find(symtab, NULL, "same_nam", &cursor, &symbol));
	CHECK(!symtab_find(symtab, NULL, "same_name_", &cursor, &symbol));
	CHECK(!symtab_find(symtab, NULL, "", &cursor, &symbol));
	CHECK(!symtab_find(symtab, "xfs", "same_name", &cursor, &symbol));
	CHECK(symtab_address(symtab, "object00", &address));
	CHECK_U64(address, TEXT + 0x2008);
	CHECK(!symtab_address(symtab, "object0", &address));
	symtab_destroy(symtab);
	image_destroy(&image);
}

#define MANY 2000u

/* Of each name there are two, and of some five. */
static void make_many(struct test_symbol *many, char names[MANY][24])
{
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t number = i % 7 ? i % (MANY / 2) * 7919 % 1009 : i % 31;
		snprintf(names[i], 24, "%s%" PRIu32, i % 3 ? "function_" : "ext4_", number);
		many[i] = (struct test_symbol){ TEXT + i * 16, 't', names[i] };
	}
	many[0].name = "_stext";
}

static uint32_t find_plainly(const struct test_symbol *many, const char *name, uint32_t from)
{
	while (from < MANY && strcmp(many[from].name, name))
		from++;
	return from;
}

/* The kernel's own order finds what a walk finds, and never something else where it is damaged. */
static void check_sorted(const struct kallsyms *kallsyms, const struct test_symbol *many,
			 bool damaged)
{
	static const char *const absent[] = { "", "a", "ext4_", "function_9999", "zebra" };
	unsigned int sure = 0;
	for (uint32_t i = 0; i < MANY + ARRAY_COUNT(absent); i++) {
		const char *name = i < MANY ? many[i].name : absent[i - MANY];
		uint32_t from = i * 31 % MANY, wanted = find_plainly(many, name, from), number = 0;
		enum kallsyms_found found = kallsyms_find_sorted(kallsyms, name, from, &number);
		sure += found != KALLSYMS_UNSURE;
		if (found == KALLSYMS_FOUND)
			CHECK_U64(damaged && number > wanted ? wanted : number, wanted);
		if (found == KALLSYMS_ABSENT)
			CHECK_U64(wanted, MANY);
	}
	CHECK(damaged ? sure < MANY : sure == MANY + ARRAY_COUNT(absent));
}

static void test_sorted(void)
{
	static const enum table_order orders[] = { ORDER_BEFORE_SEQS, ORDER_BEHIND, ORDER_COMPACT };
	static struct test_symbol many[MANY];
	static char names[MANY][24];
	make_many(many, names);
	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		struct image image;
		struct kallsyms kallsyms;
		struct image_options options = { .order = orders[i],
						 .encoding = orders[i] == ORDER_COMPACT
								     ? KALLSYMS_PLACE_RELATIVE
								     : KALLSYMS_BASE_RELATIVE,
						 .long_lengths = true,
						 .word_size = 8,
						 .base = TEXT + 0x1000000,
						 .symbols = many,
						 .count = MANY };
		image_create(&image, &options);
		CHECK_OK(kallsyms_read(&kallsyms, &image.memory.memory, &image.tables));
		CHECK(kallsyms.sorted);
		check_sorted(&kallsyms, many, false);
		memset(kallsyms.sorted + 3 * 700, 0, 3 * 400);
		check_sorted(&kallsyms, many, true);
		memset(kallsyms.sorted + 3 * 700, 0xff, 3 * 400);
		check_sorted(&kallsyms, many, true);
		kallsyms_deinit(&kallsyms);
		image_destroy(&image);
	}
	/* What is in its place before 6.2 is none. */
	struct image image;
	struct kallsyms kallsyms;
	struct image_options options = { .order = ORDER_BEFORE,
					 .encoding = KALLSYMS_BASE_RELATIVE,
					 .word_size = 8,
					 .base = TEXT + 0x1000000,
					 .symbols = many,
					 .count = MANY };
	image_create(&image, &options);
	CHECK_OK(kallsyms_read(&kallsyms, &image.memory.memory, &image.tables));
	CHECK(!kallsyms.sorted);
	kallsyms_deinit(&kallsyms);
	image_destroy(&image);
}

static void test_by_address(void)
{
	struct image image;
	make_usual(&image, KALLSYMS_ABSOLUTE_PERCPU);
	struct symtab *symtab = new_symtab();
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &image.tables));
	char text[600];
	static const struct {
		uint64_t address;
		const char *text; /* NULL: nothing is near */
	} places[] = {
		{ TEXT - 1, NULL },
		{ TEXT, "_text" },
		{ TEXT + 0xf, "_text+0xf" },
		{ TEXT + 0x10, "function_one" },
		{ TEXT + 0x7f, "function_one+0x6f" },
		{ TEXT + 0x80, "alias_of" },
		{ TEXT + 0xff, "alias_of+0x7f" },
		{ TEXT + 0x340, LONG_NAME },
		{ TEXT + 0x400, "_etext" },
		{ TEXT + 0x401, NULL },
		{ TEXT + 0x1fff, NULL },
		{ TEXT + 0x2009, "object00+0x1" },
		{ TEXT + 0x3000, "_end" },
		{ TEXT + 0x3001, NULL },
		{ UINT64_MAX, NULL },
		/* Per-CPU offsets are no places. */
		{ 0, NULL },
		{ 0x1000, NULL },
		{ 0x8004, NULL },
		{ 0x7fffffff, NULL },
		{ 0x80000000, NULL },
	};
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		bool found = symtab_describe(symtab, places[i].address, text, sizeof(text));
		CHECK(found == (places[i].text != NULL));
		if (found && places[i].text)
			CHECK_STRING(text, places[i].text);
	}
	CHECK(symtab_is_text(symtab, TEXT));
	CHECK(symtab_is_text(symtab, TEXT + 0x3ff));
	CHECK(!symtab_is_text(symtab, TEXT + 0x400));
	CHECK(!symtab_is_text(symtab, TEXT - 1));
	symtab_destroy(symtab);
	image_destroy(&image);
}

static struct symbol named(const struct symtab *symtab, const char *name)
{
	struct symbol symbol = { 0 };
	uint64_t cursor = 0;
	CHECK(symtab_find(symtab, NULL, name, &cursor, &symbol));
	return symbol;
}

static void test_sizes_and_per_cpu(void)
{
	struct image image;
	make_usual(&image, KALLSYMS_ABSOLUTE_PERCPU);
	struct symtab *symtab = new_symtab();
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &image.tables));
	CHECK_U64(named(symtab, "function_one").size, 0x70);
	CHECK_U64(named(symtab, "alias_of").size, 0x80);
	CHECK(!named(symtab, "alias_of").size_exact);
	CHECK_U64(named(symtab, "_etext").size, 0);
	CHECK_U64(named(symtab, "_end").size, 0);
	CHECK_U64(named(symtab, "fixed_percpu_data").size, 0x1000);
	CHECK_U64(named(symtab, "some_constant").size, 0);
	CHECK(named(symtab, "fixed_percpu_data").per_cpu);
	CHECK(named(symtab, "per_cpu_object").per_cpu);
	CHECK(!named(symtab, "some_constant").per_cpu);
	CHECK(!named(symtab, "object").per_cpu);
	/* An offset is no place. */
	struct symbol symbol;
	uint64_t offset, object = named(symtab, "object").address;
	CHECK(symtab_by_per_cpu_address(symtab, 0x1fff, &symbol, &offset) && offset == 0xfff);
	CHECK_STRING(symbol.name, "per_cpu_object");
	CHECK(!symtab_by_address(symtab, 0x1fff, &symbol, &offset));
	CHECK(symtab_by_per_cpu_address(symtab, 8, &symbol, &offset));
	CHECK_STRING(symbol.name, "fixed_percpu_data"); /* not the bound of the section */
	CHECK(!symtab_by_per_cpu_address(symtab, object, &symbol, &offset));
	symtab_destroy(symtab);
	image_destroy(&image);
}

/* Data that the table lacks is put in where it belongs, and says that it was found. */
static void test_found(void)
{
	char inside[] = "object000", unknown[] = "unknown_size", alone[] = "per_cpu_one",
	     nameless[] = "";
	struct found_symbol found[] = {
		{ unknown, TEXT + 0x2800, 0, 'd', false, "by chance" },
		{ inside, TEXT + 0x2100, 8, 'D', false, "by luck" },
		{ nameless, TEXT + 0x2200, 8, 'D', false, "never" },
		{ alone, 0x1800, 4, 'A', true, "by type" },
	};
	struct image image;
	make_usual(&image, KALLSYMS_ABSOLUTE_PERCPU);
	struct symtab *symtab = new_symtab();
	struct symbol symbol;
	uint64_t offset;
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &image.tables));
	uint32_t before = symtab_kernel_count(symtab);
	CHECK_OK(symtab_add_found(symtab, found, ARRAY_COUNT(found)));
	CHECK_U64(symtab_kernel_count(symtab), before + 3);
	CHECK_STRING(named(symtab, "object000").evidence, "by luck");
	CHECK_U64(named(symtab, "object000").size, 8);
	CHECK_U64(named(symtab, "unknown_size").address, TEXT + 0x2800);
	CHECK(named(symtab, "per_cpu_one").per_cpu);
	CHECK(!named(symtab, "function_one").evidence);
	CHECK_U64(named(symtab, "_end").address, TEXT + 0x3000);
	/* A known size ends it; of an unknown one only the first byte is sure. */
	CHECK(symtab_by_address(symtab, TEXT + 0x2107, &symbol, &offset) && offset == 7);
	CHECK(!symtab_by_address(symtab, TEXT + 0x2108, &symbol, &offset));
	CHECK(symtab_by_address(symtab, TEXT + 0x2800, &symbol, &offset) && !offset);
	CHECK(!symtab_by_address(symtab, TEXT + 0x2801, &symbol, &offset));
	symtab_destroy(symtab);
	image_destroy(&image);
}

/* Since 6.15 per-CPU symbols are addresses of the image. */
static void test_per_cpu_addresses(void)
{
	static const struct test_symbol with_template[] = {
		{ TEXT, 'T', "_stext" },
		{ TEXT + 0x1000, 'D', "__per_cpu_start" },
		{ TEXT + 0x1000, 'D', "cpu_object" },
		{ TEXT + 0x1040, 'd', "cpu_other" },
		{ TEXT + 0x2000, 'D', "__per_cpu_end" },
		{ TEXT + 0x2000, 'D', "object" },
	};
	struct image_options options = {
		.order = ORDER_COMPACT,
		.encoding = KALLSYMS_PLACE_RELATIVE,
		.word_size = 8,
		.base = TEXT + 0x4000,
		.symbols = with_template,
		.count = ARRAY_COUNT(with_template),
	};
	struct image image;
	image_create(&image, &options);
	struct symtab *symtab = new_symtab();
	CHECK_OK(kallsyms_load(symtab, &image.memory.memory, &image.tables));
	CHECK(named(symtab, "cpu_object").per_cpu);
	CHECK(named(symtab, "cpu_other").per_cpu);
	CHECK(!named(symtab, "object").per_cpu);
	CHECK(!named(symtab, "_stext").per_cpu);
	char text[600];
	CHECK(!symtab_describe(symtab, TEXT + 0x1008, text, sizeof(text)));
	CHECK(symtab_describe(symtab, TEXT + 0x2000, text, sizeof(text)));
	CHECK_STRING(text, "object");
	symtab_destroy(symtab);
	image_destroy(&image);
}

static void test_wrong_tables(void)
{
	struct image image;
	make_usual(&image, KALLSYMS_BASE_RELATIVE);
	struct memory *memory = &image.memory.memory;
	struct symtab *symtab = new_symtab();
	struct kallsyms_tables tables = image.tables;
	tables.stext += 0x1000;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "no known encoding");
	CHECK_U64(symtab_count(symtab), 0);
	tables = image.tables;
	tables.names = 0xffff000000000000;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "kallsyms_names");
	tables = image.tables;
	tables.token_index = 0x1000;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "kallsyms_token_index");
	tables = image.tables;
	tables.offsets = image.options.base + image.size - 8;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "kallsyms_offsets");
	tables = image.tables;
	tables.relative_base = 8;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "kallsyms_relative_base");
	tables = image.tables;
	tables.num_syms = image.tables.token_table;
	CHECK_FAILS(kallsyms_load(symtab, memory, &tables), "no sane count");
	/* And the right ones still load after all that. */
	CHECK_OK(kallsyms_load(symtab, memory, &image.tables));
	check_symbols(symtab, &image);
	symtab_destroy(symtab);
	image_destroy(&image);
}

/* Asks everything of whatever was loaded. */
static void ask_everything(const struct symtab *symtab)
{
	struct symbol symbol;
	uint64_t offset;
	char text[600];
	for (uint32_t i = 0; i < symtab_count(symtab) && i < 1000; i++) {
		symtab_get(symtab, i, &symbol);
		uint64_t cursor = 0;
		struct symbol other;
		while (symtab_find(symtab, NULL, symbol.name, &cursor, &other))
			;
		(void)symtab_by_address(symtab, symbol.address + 1, &other, &offset);
	}
	(void)symtab_describe(symtab, TEXT + 0x11, text, sizeof(text));
	(void)symtab_is_text(symtab, TEXT + 0x11);
}

static void load_damaged(struct symtab *symtab, struct image *image, bool scan, int *ret_loaded)
{
	struct kallsyms_tables tables = image->tables;
	if (scan)
		tables = (struct kallsyms_tables){ .stext = image->tables.stext };
	struct error *error = kallsyms_load(symtab, &image->memory.memory, &tables);
	if (error)
		CHECK_U64(symtab_count(symtab), 0);
	else
		++*ret_loaded;
	error_free(error);
	ask_everything(symtab);
}

static void test_every_byte_mutated(void)
{
	static const uint8_t masks[] = { 0x81, 0xff };
	static const enum kallsyms_encoding encodings[] = { KALLSYMS_ABSOLUTE_PERCPU,
							    KALLSYMS_PLACE_RELATIVE };
	struct symtab *symtab = new_symtab();
	int loaded = 0;
	for (size_t e = 0; e < ARRAY_COUNT(encodings); e++) {
		struct image image;
		make_usual(&image, encodings[e]);
		for (size_t i = 0; i < image.size; i++)
			for (size_t m = 0; m < ARRAY_COUNT(masks); m++) {
				image.data[i] ^= masks[m];
				load_damaged(symtab, &image, false, &loaded);
				image.data[i] ^= masks[m];
			}
		image_destroy(&image);
	}
	CHECK(loaded > 0);
	symtab_destroy(symtab);
}

static void test_truncated(void)
{
	struct image image;
	make_usual(&image, KALLSYMS_BASE_RELATIVE);
	struct symtab *symtab = new_symtab();
	size_t whole = image.size;
	int loaded = 0;
	for (size_t size = 0; size < whole; size++) {
		uint8_t *exact = malloc(size ? size : 1);
		memcpy(exact, image.data, size);
		image.memory.data = exact;
		image.memory.size = size;
		load_damaged(symtab, &image, false, &loaded);
		free(exact);
	}
	/* Only the order by name and the bytes behind the tables are not missed. */
	CHECK(loaded > 0 && loaded < 64 + 3 * (int)image.options.count);
	symtab_destroy(symtab);
	image_destroy(&image);
}

static void test_scan_mutated(void)
{
	struct image_options options = {
		.order = ORDER_BEFORE,
		.encoding = KALLSYMS_BASE_RELATIVE,
		.word_size = 8,
		.base = TEXT + 0x20000,
		.padding = 0x238,
	};
	struct test_symbol *many = many_symbols(options.encoding, &options.count);
	options.symbols = many;
	struct image image;
	image_create(&image, &options);
	struct symtab *symtab = new_symtab();
	int loaded = 0;
	for (size_t i = 0; i < image.size; i += 997) {
		image.data[i] ^= 0x41;
		load_damaged(symtab, &image, true, &loaded);
		image.data[i] ^= 0x41;
	}
	CHECK(loaded > 0);
	symtab_destroy(symtab);
	image_destroy(&image);
	free_many(many, options.encoding, options.count);
}

int main(void)
{
	RUN(test_encodings);
	RUN(test_32_bits);
	RUN(test_scan);
	RUN(test_ambiguous_lengths);
	RUN(test_scan_finds_nothing);
	RUN(test_names);
	RUN(test_sorted);
	RUN(test_by_address);
	RUN(test_sizes_and_per_cpu);
	RUN(test_found);
	RUN(test_per_cpu_addresses);
	RUN(test_wrong_tables);
	RUN(test_every_byte_mutated);
	RUN(test_truncated);
	RUN(test_scan_mutated);
	return test_finish();
}
