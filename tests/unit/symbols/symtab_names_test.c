// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Names stay where they are as long as the table does, whoever asks and whatever is added; which
 * symbols are functions.
 */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/workers.h"
#include "symbols/symtab.h"
#include "tests/unit/kallsyms_image.h"

#define TEXT	0xffffffff81000000u
#define COUNT	600u
#define WORKERS 4u

static char texts[COUNT][32];
static struct test_symbol symbols[COUNT];

static void load(struct image *image, struct symtab **ret)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(texts[i], sizeof(texts[i]), "function_%u_of_many", i);
		symbols[i] = (struct test_symbol){ TEXT + 16 * i, 'T', texts[i] };
	}
	symbols[0].name = "_text";
	symbols[1].name = "_stext";
	struct image_options options = { .order = ORDER_BEHIND,
					 .encoding = KALLSYMS_BASE_RELATIVE,
					 .long_lengths = true,
					 .word_size = 8,
					 .base = TEXT + 0x10000,
					 .symbols = symbols,
					 .count = COUNT };
	image_create(image, &options);
	CHECK_OK(symtab_create(ret));
	CHECK_OK(kallsyms_load(*ret, &image->memory.memory, &image->tables));
}

static void test_kept(void)
{
	struct image image;
	struct symtab *symtab;
	struct symbol first, again;
	char name[SYMBOL_NAME_SIZE];
	uint64_t offset;
	load(&image, &symtab);
	symtab_get(symtab, 7, &first);
	symtab_get(symtab, 7, &again);
	CHECK(first.name == again.name && first.kind == again.kind && first.size == again.size);
	CHECK(symtab_by_address(symtab, TEXT + 16 * 7 + 3, &again, &offset));
	CHECK(first.name == again.name);
	symtab_get_into(symtab, 7, name, &again);
	CHECK(again.name == name);
	CHECK_STRING(name, first.name);
	CHECK(symtab_by_address_into(symtab, TEXT + 16 * 8, name, &again, &offset));
	CHECK(again.name == name);
	CHECK_STRING(name, "function_8_of_many");
	symtab_peek(symtab, 7, &again);
	CHECK_STRING(again.name, "");
	symtab_get(symtab, COUNT, &again);
	CHECK_STRING(again.name, "");
	symtab_destroy(symtab);
	image_destroy(&image);
}

/* Numbers change, and tables grow; names that somebody has do not move. */
static void test_added(void)
{
	struct found_symbol found[] = {
		{ .name = "function_0_of_few", .address = TEXT + 8, .kind = 'd' }
	};
	struct image image;
	struct symtab *symtab;
	struct symbol kernel, loose, other;
	uint64_t cursor = 0;
	char text[32];
	load(&image, &symtab);
	symtab_get(symtab, 7, &kernel);
	CHECK_OK(symtab_add(symtab, "bpf", "first", 't', 0x1000, 16));
	CHECK(symtab_find(symtab, "bpf", "first", &cursor, &loose));
	CHECK_OK(symtab_add_found(symtab, found, ARRAY_COUNT(found)));
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "bpf_prog_%u", i);
		CHECK_OK(symtab_add(symtab, "bpf", text, 't', 0x2000 + i, 1));
	}
	CHECK_STRING(kernel.name, "function_7_of_many");
	CHECK_STRING(loose.name, "first");
	symtab_get(symtab, 7, &other);
	CHECK_STRING(other.name, "function_6_of_many");
	symtab_get(symtab, 8, &other);
	CHECK_STRING(other.name, "function_7_of_many");
	CHECK(symtab_keep_name(symtab, "noted") == symtab_keep_name(symtab, "noted"));
	CHECK_STRING(symtab_keep_name(symtab, "noted"), "noted");
	symtab_destroy(symtab);
	image_destroy(&image);
}

struct askers {
	const struct symtab *symtab;
	const char *names[WORKERS][COUNT];
};

/* Each worker asks for all names, from a place of its own on. */
static struct error *ask(void *context, unsigned int worker, size_t number)
{
	struct askers *askers = context;
	struct symbol symbol;
	(void)worker;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t at = (i + (uint32_t)number * 8) % COUNT;
		symtab_get(askers->symtab, at, &symbol);
		askers->names[number][at] = symbol.name;
	}
	return NULL;
}

static void test_threads(void)
{
	static struct askers askers;
	struct image image;
	struct symtab *symtab;
	load(&image, &symtab);
	CHECK(symtab_make_indexes(symtab));
	askers.symtab = symtab;
	struct work work = { .count = WORKERS, .block = 1, .step = ask, .context = &askers };
	CHECK_OK(workers_run(&work, WORKERS));
	for (size_t i = 0; i < WORKERS; i++)
		for (uint32_t j = 0; j < COUNT; j++)
			CHECK_STRING(askers.names[i][j], symbols[j].name);
	symtab_destroy(symtab);
	image_destroy(&image);
}

/*
 * Where .data is linked writable and executable, data has the letter of text; what ends with the
 * boot and what drivers end with are functions, wherever they lie.
 */
static void test_functions(void)
{
	static const struct {
		struct test_symbol symbol;
		bool is_function;
	} cases[] = {
		{ { TEXT, 'T', "_stext" }, true },
		{ { TEXT + 0x10, 'W', "weak_function" }, true },
		{ { TEXT + 0x1000, 'T', "_etext" }, true },
		{ { TEXT + 0x2000, 'T', "_sdata" }, false },
		{ { TEXT + 0x2010, 't', "variable" }, false },
		{ { TEXT + 0x2020, 'd', "other" }, false },
		{ { TEXT + 0x3000, 'T', "_edata" }, true },
		{ { TEXT + 0x4000, 'T', "_sinittext" }, true },
		{ { TEXT + 0x4800, 'T', "_einittext" }, true },
		{ { TEXT + 0x4810, 't', "driver_exit" }, true },
		{ { TEXT + 0x5000, 'b', "zeros" }, false },
	};
	struct test_symbol mine[ARRAY_COUNT(cases)];
	struct image image;
	struct symtab *symtab;
	struct symbol symbol;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		mine[i] = cases[i].symbol;
	image_symbols(&image, TEXT + 0x20000, mine, ARRAY_COUNT(mine), &symtab);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t cursor = 0;
		CHECK(symtab_find(symtab, NULL, cases[i].symbol.name, &cursor, &symbol));
		CHECK(symtab_is_function(symtab, &symbol) == cases[i].is_function);
	}
	symtab_destroy(symtab);
	image_destroy(&image);
}

int main(void)
{
	RUN(test_functions);
	RUN(test_kept);
	RUN(test_added);
	RUN(test_threads);
	return test_finish();
}
