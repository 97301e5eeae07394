// SPDX-License-Identifier: GPL-3.0-or-later
/* Symbols of modules and of generated code. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "symbols/symtab.h"
#include <elf.h>

#define CORE	  0xc0100000u
#define CORE_SIZE 0x1000u
#define DATA	  0xc0200000u
#define TABLES	  0xc0300000u
#define PER_CPU	  0x39000u
#define EXPORTS	  (DATA + 0x800)
#define UNDEF	  0
#define SOMEWHERE 5

struct elf_row {
	const char *name;
	uint64_t value, size;
	uint16_t section;
	char kind;
};

static const struct elf_row rows[] = {
	{ "", 0, 0, UNDEF, '?' }, /* the null symbol */
	{ "first", CORE, 0x20, SOMEWHERE, 't' },
	{ "printk", 0, 0, UNDEF, 'U' },
	{ "second", CORE + 0x40, 0x10, SOMEWHERE, 't' },
	{ "exported", CORE + 0x80, 0x30, SOMEWHERE, 't' },
	{ "exported_gpl", CORE + 0xc0, 0x30, SOMEWHERE, 't' },
	{ "__pfx_padded", CORE + 0x100, 0x10, SOMEWHERE, 't' },
	{ "padded", CORE + 0x110, 0x10, SOMEWHERE, 't' },
	{ "init_module", CORE + 0x200, 0x10, SOMEWHERE, 't' },
	{ "my_init", CORE + 0x200, 0x10, SOMEWHERE, 't' },
	{ "$x", CORE + 0x300, 0, SOMEWHERE, 't' },
	{ "counter", PER_CPU + 8, 8, SOMEWHERE, 'a' },
	{ "__key.0", DATA + 0x100, 0, SOMEWHERE, 'b' }, /* a struct without members */
	{ "variable", DATA + 0x100, 4, SOMEWHERE, 'd' },
	{ "__ksymtab_exported", EXPORTS + 12, 0, SOMEWHERE, 'r' },
	{ "__ksymtab_exported_gpl", EXPORTS + 48, 0, SOMEWHERE, 'r' },
	{ "elsewhere", 0x1234, 0, SHN_ABS, 'a' },
};

struct module_image {
	unsigned int word;
	bool big_endian;
	uint8_t data[8192];
	size_t size;
	struct memory_array memory;
	struct module_symbols module;
};

static void put(struct module_image *image, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		image->data[image->size + (image->big_endian ? size - 1 - i : i)] =
			(uint8_t)(value >> i * 8);
	image->size += size;
}

static void put_row(struct module_image *image, const struct elf_row *row, uint32_t name)
{
	put(image, name, 4);
	if (image->word == 8) {
		put(image, 0, 2);
		put(image, row->section, 2);
		put(image, row->value, 8);
		put(image, row->size, 8);
	} else {
		put(image, row->value, 4);
		put(image, row->size, 4);
		put(image, 0, 2);
		put(image, row->section, 2);
	}
}

static void image_init(struct module_image *image, unsigned int word, bool big_endian)
{
	*image = (struct module_image){ .word = word, .big_endian = big_endian };
	image->module = (struct module_symbols){
		.name = "testing",
		.symtab = TABLES,
		.count = ARRAY_COUNT(rows),
		.percpu = PER_CPU,
		.percpu_size = 0x100,
		.exports = EXPORTS,
		.exports_size = 36,
		/* The last is none of a module; per-CPU symbols must not name places in it. */
		.regions = { { CORE, CORE_SIZE }, { DATA, 0x1000 }, { PER_CPU, 0x1000 } },
		.region_count = 3,
	};
	uint32_t name = 1;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		put_row(image, &rows[i], *rows[i].name ? name : 0);
		name += *rows[i].name ? (uint32_t)strlen(rows[i].name) + 1 : 0;
	}
	image->module.strtab = TABLES + image->size;
	put(image, 0, 1);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (*rows[i].name) {
			memcpy(image->data + image->size, rows[i].name, strlen(rows[i].name) + 1);
			image->size += strlen(rows[i].name) + 1;
		}
	image->module.typetab = TABLES + image->size;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		put(image, (uint8_t)rows[i].kind, 1);
	memory_array_init(&image->memory, TABLES, image->data, sizeof(image->data));
	image->memory.memory.word_size = (uint8_t)word;
	image->memory.memory.big_endian = big_endian;
}

static struct symtab *new_symtab(void)
{
	struct symtab *symtab = NULL;
	CHECK_OK(symtab_create(&symtab));
	return symtab;
}

static struct symbol named(const struct symtab *symtab, const char *module, const char *name)
{
	struct symbol symbol = { 0 };
	uint64_t cursor = 0;
	CHECK(symtab_find(symtab, module, name, &cursor, &symbol));
	return symbol;
}

static void check_module(const struct symtab *symtab)
{
	uint32_t number = 0;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (rows[i].section == UNDEF)
			continue;
		struct symbol symbol;
		symtab_get(symtab, number, &symbol);
		CHECK_STRING(symbol.name, rows[i].name);
		CHECK_STRING(symbol.module, "testing");
		CHECK_U64(symbol.address, rows[i].value);
		CHECK_U64(symbol.size, rows[i].size);
		CHECK(symbol.size_exact);
		CHECK_U64(symbol.kind, strcmp(rows[i].name, "exported") ? rows[i].kind : 'T');
		CHECK(symbol.per_cpu == !strcmp(rows[i].name, "counter"));
		CHECK_U64(named(symtab, NULL, rows[i].name).number, number);
		CHECK_U64(named(symtab, "testing", rows[i].name).number, number);
		number++;
	}
	CHECK_U64(symtab_count(symtab), number);
	CHECK_U64(symtab_kernel_count(symtab), 0);
}

static void test_all_machines(void)
{
	for (int variant = 0; variant < 4; variant++) {
		struct module_image image;
		image_init(&image, variant & 1 ? 4 : 8, variant & 2);
		struct symtab *symtab = new_symtab();
		CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
		check_module(symtab);
		symtab_destroy(symtab);
	}
}

static void test_by_address(void)
{
	static const struct {
		uint64_t address;
		const char *text;
	} places[] = {
		{ CORE - 1, NULL },
		{ CORE, "first [testing]" },
		/* Padding belongs to what stands before it, as the kernel has it. */
		{ CORE + 0x3f, "first+0x3f [testing]" },
		{ CORE + 0x40, "second [testing]" },
		{ CORE + 0x104, "__pfx_padded+0x4 [testing]" },
		{ CORE + 0x110, "padded [testing]" },
		{ CORE + 0x204, "init_module+0x4 [testing]" },
		{ CORE + 0x304, "init_module+0x104 [testing]" },
		{ CORE + 0xfff, "init_module+0xdff [testing]" },
		{ CORE + 0x1000, NULL },
		{ DATA, NULL },
		{ DATA + 0x100, "variable [testing]" },
		{ DATA + 0x102, "variable+0x2 [testing]" },
		{ PER_CPU + 8, NULL },
		{ 0x1234, NULL },
	};
	struct module_image image;
	image_init(&image, 8, false);
	struct symtab *symtab = new_symtab();
	CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		char text[600];
		bool found = symtab_describe(symtab, places[i].address, text, sizeof(text));
		CHECK(found == (places[i].text != NULL));
		if (found && places[i].text)
			CHECK_STRING(text, places[i].text);
	}
	CHECK(symtab_is_text(symtab, CORE + 0x88));
	CHECK(!symtab_is_text(symtab, DATA + 0x100));
	CHECK(!symtab_is_text(symtab, CORE + 0x1000));
	symtab_destroy(symtab);
}

static void test_generated(void)
{
	struct module_image image;
	image_init(&image, 8, false);
	struct symtab *symtab = new_symtab();
	struct symbol symbol;
	uint64_t offset;
	CHECK_OK(symtab_add(symtab, "bpf", "bpf_prog_1", 't', 0x5000, 0x100));
	CHECK(symtab_by_address(symtab, 0x50ff, &symbol, &offset));
	CHECK_U64(offset, 0xff);
	/* The index grows with what comes later. */
	CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
	CHECK_OK(symtab_add(symtab, "bpf", "bpf_prog_2", 't', 0x6000, 0));
	CHECK_OK(symtab_add(symtab, "__builtin__ftrace", "ftrace_trampoline", 't', 0x7000, 0x80));
	/* Nor does it change when all is indexed beforehand. */
	CHECK(symtab_make_indexes(symtab));
	CHECK_OK(symtab_add(symtab, "late", "late_prog", 't', 0x8000, 16));
	CHECK(symtab_by_address(symtab, 0x800f, &symbol, &offset));
	CHECK_U64(named(symtab, "late", "late_prog").address, 0x8000);
	CHECK(!symtab_by_address(symtab, 0x5100, &symbol, &offset));
	CHECK(symtab_by_address(symtab, 0x6000, &symbol, &offset));
	CHECK_STRING(symbol.name, "bpf_prog_2");
	CHECK_STRING(symbol.module, "bpf");
	CHECK(!symtab_by_address(symtab, 0x6001, &symbol, &offset));
	CHECK(symtab_by_address(symtab, CORE + 1, &symbol, &offset));
	CHECK_STRING(symbol.name, "first");
	CHECK_STRING(named(symtab, NULL, "ftrace_trampoline").module, "__builtin__ftrace");
	CHECK_U64(named(symtab, "bpf", "bpf_prog_1").address, 0x5000);
	CHECK(symtab_is_text(symtab, 0x7010));
	CHECK(!symtab_is_text(symtab, 0x7080));
	uint64_t cursor = 0, address;
	CHECK(!symtab_find(symtab, "bpf", "first", &cursor, &symbol));
	/* Not of the kernel itself. */
	CHECK(!symtab_address(symtab, "first", &address));
	symtab_destroy(symtab);
}

/* Two modules with a name in common. */
static void test_equal_names(void)
{
	struct module_image image;
	image_init(&image, 8, false);
	struct symtab *symtab = new_symtab();
	CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
	image.module.name = "another";
	CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
	uint64_t cursor = 0;
	struct symbol symbol;
	CHECK(symtab_find(symtab, NULL, "second", &cursor, &symbol));
	CHECK_STRING(symbol.module, "testing");
	CHECK(symtab_find(symtab, NULL, "second", &cursor, &symbol));
	CHECK_STRING(symbol.module, "another");
	CHECK(!symtab_find(symtab, NULL, "second", &cursor, &symbol));
	cursor = 0;
	CHECK(symtab_find(symtab, "another", "second", &cursor, &symbol));
	CHECK(!symtab_find(symtab, "another", "second", &cursor, &symbol));
	symtab_destroy(symtab);
}

/* What cannot be read costs this module only; its place is still known to be a module's. */
static void test_unreadable(void)
{
	struct module_image image;
	image_init(&image, 8, false);
	struct symtab *symtab = new_symtab();
	image.module.symtab = 0x10;
	CHECK_FAILS(symtab_add_module(symtab, &image.memory.memory, &image.module), "testing");
	CHECK_U64(symtab_count(symtab), 0);
	CHECK(symtab_is_text(symtab, CORE + 8));
	image.module.symtab = TABLES;
	image.module.count = UINT32_MAX;
	CHECK_FAILS(symtab_add_module(symtab, &image.memory.memory, &image.module), "sane");
	image.module.count = ARRAY_COUNT(rows);
	image.module.typetab = 0;
	CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
	CHECK_U64(named(symtab, NULL, "second").kind, '?');
	symtab_destroy(symtab);
}

static void test_every_byte_mutated(void)
{
	struct module_image image;
	image_init(&image, 8, false);
	for (size_t i = 0; i < image.size * 2; i++) {
		struct symtab *symtab = new_symtab();
		uint8_t mask = i & 1 ? 0xff : 0x80;
		image.data[i / 2] ^= mask;
		CHECK_OK(symtab_add_module(symtab, &image.memory.memory, &image.module));
		image.data[i / 2] ^= mask;
		for (uint32_t number = 0; number < symtab_count(symtab); number++) {
			struct symbol symbol, other;
			uint64_t cursor = 0, offset;
			symtab_get(symtab, number, &symbol);
			/* None goes round all addresses, or out of the module's memory. */
			CHECK(symbol.size <= UINT64_MAX - symbol.address);
			CHECK(symbol.address - CORE >= CORE_SIZE ||
			      symbol.size <= CORE_SIZE - (symbol.address - CORE));
			while (symtab_find(symtab, NULL, symbol.name, &cursor, &other))
				;
			(void)symtab_by_address(symtab, symbol.address, &other, &offset);
		}
		symtab_destroy(symtab);
	}
	for (size_t size = 0; size < image.size; size++) {
		struct symtab *symtab = new_symtab();
		image.memory.size = size;
		struct error *error =
			symtab_add_module(symtab, &image.memory.memory, &image.module);
		CHECK(error);
		error_free(error);
		symtab_destroy(symtab);
	}
}

static struct error *read_ones(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	(void)memory;
	(void)address;
	memset(buffer, 1, size);
	return NULL;
}

/* Modules that each have as many as a module may: all of them together are bounded, too. */
static void test_many(void)
{
	struct memory memory = { .read = read_ones, .name = "ones", .word_size = 8 };
	struct module_symbols module = { .name = "many", .count = 1u << 20, .symtab = 4096 };
	struct symtab *symtab;
	CHECK_OK(symtab_create(&symtab));
	CHECK_OK(symtab_add_module(symtab, &memory, &module));
	CHECK_OK(symtab_add_module(symtab, &memory, &module));
	CHECK_FAILS(symtab_add_module(symtab, &memory, &module), "more than 2097152 symbols");
	CHECK_FAILS(symtab_add(symtab, "bpf", "one", 't', 4096, 16), "more than 2097152 symbols");
	CHECK_U64(symtab_count(symtab), 2u << 20);
	/* Their names have no end: beginnings of some are kept. */
	struct symbol symbol;
	symtab_get(symtab, 0, &symbol);
	CHECK_U64(strlen(symbol.name), SYMBOL_NAME_SIZE - 1);
	symtab_get(symtab, (2u << 20) - 1, &symbol);
	CHECK_STRING(symbol.name, "");
	symtab_destroy(symtab);
}

int main(void)
{
	RUN(test_all_machines);
	RUN(test_by_address);
	RUN(test_generated);
	RUN(test_equal_names);
	RUN(test_unreadable);
	RUN(test_every_byte_mutated);
	RUN(test_many);
	return test_finish();
}
