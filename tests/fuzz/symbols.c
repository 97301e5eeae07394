// SPDX-License-Identifier: GPL-3.0-or-later
/* Symbol tables in memory: the kernel's, where VMCOREINFO names them and where not, a module's. */
#include "tests/fuzz/targets.h"

#include "symbols/kallsyms.h"
#include "symbols/symtab.h"
#include <string.h>

#define BASE 0xffffffff82000000u

/* Everything that is asked of a table. */
static void ask_symbols(const struct symtab *symtab)
{
	uint32_t count = symtab_count(symtab), step = count / 200 + 1;
	EXPECT(symtab_kernel_count(symtab) <= count);
	for (uint32_t i = 0; i < count; i += step) {
		struct symbol symbol, found;
		uint64_t offset, cursor = 0;
		char text[64];
		symtab_get(symtab, i, &symbol);
		EXPECT(strnlen(symbol.name, SYMBOL_NAME_SIZE) < SYMBOL_NAME_SIZE);
		if (symbol.name[0] && strlen(symbol.name) < SYMBOL_NAME_SIZE - 1)
			EXPECT(symtab_find(symtab, symbol.module, symbol.name, &cursor, &found) &&
			       !strcmp(found.name, symbol.name));
		for (int beside = -1; beside < 2; beside++)
			symtab_by_address(symtab, symbol.address + (uint64_t)beside, &found,
					  &offset);
		symtab_describe(symtab, symbol.address + 3, text, sizeof(text));
		symtab_is_text(symtab, symbol.address);
	}
	symtab_warning(symtab);
	symtab_encoding(symtab);
}

static struct memory *array_of(struct memory_array *array, const struct fuzz_input *input,
			       uint64_t shape)
{
	memory_array_init(array, BASE, input->data, input->size);
	array->memory.word_size = shape & 1 ? 4 : 8;
	array->memory.big_endian = shape & 2;
	return &array->memory;
}

static void load(struct memory *memory, const struct kallsyms_tables *tables)
{
	struct symtab *symtab = NULL;
	EXPECT(!symtab_create(&symtab));
	fuzz_done(kallsyms_load(symtab, memory, tables));
	ask_symbols(symtab);
	symtab_destroy(symtab);
}

/* Input: shape, where the seven tables are, then memory. */
void fuzz_kallsyms(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct memory_array array;
	uint64_t shape = fuzz_take(&input, 1), at[7];
	for (size_t i = 0; i < 7; i++) {
		uint64_t offset = fuzz_take(&input, 4);
		at[i] = offset ? BASE + offset - 1 : 0;
	}
	struct kallsyms_tables tables = { .num_syms = at[0],
					  .names = at[1],
					  .token_table = at[2],
					  .token_index = at[3],
					  .offsets = at[4],
					  .addresses = at[5],
					  .relative_base = at[6],
					  .stext = fuzz_take(&input, 8) };
	load(array_of(&array, &input, shape), &tables);
}

/* Behind the input there are zeros, for errors by the page would take the time. */
static struct error *read_zeros_behind(struct memory *memory, uint64_t address, void *buffer,
				       size_t size)
{
	struct memory_array *array = (struct memory_array *)memory;
	uint64_t offset = address - array->base;
	size_t there = offset < array->size ? array->size - (size_t)offset : 0;
	there = there < size ? there : size;
	memset(buffer, 0, size);
	if (there)
		memcpy(buffer, array->data + offset, there);
	return NULL;
}

/* Input: shape, then memory from _stext on. */
void fuzz_kallsyms_scan(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct memory_array array;
	struct kallsyms_tables found[KALLSYMS_CANDIDATES], tables = { .stext = BASE };
	size_t count = 0;
	struct memory *memory = array_of(&array, &input, fuzz_take(&input, 1));
	memory->read = read_zeros_behind;
	fuzz_done(kallsyms_scan(memory, BASE, found, &count));
	EXPECT(count <= KALLSYMS_CANDIDATES);
	load(memory, &tables);
}

/* Input: shape, where the parts are, then memory. */
void fuzz_module(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct memory_array array;
	struct symtab *symtab = NULL;
	uint64_t shape = fuzz_take(&input, 1);
	struct module_symbols module = { .name = "testing" };
	module.symtab = BASE + fuzz_take(&input, 2);
	module.strtab = BASE + fuzz_take(&input, 2);
	module.typetab = shape & 4 ? 0 : BASE + fuzz_take(&input, 2);
	module.count = (uint32_t)fuzz_take(&input, 3);
	module.exports = shape & 8 ? 0 : BASE + fuzz_take(&input, 2);
	module.exports_size = fuzz_take(&input, 3);
	module.percpu = fuzz_take(&input, 4);
	module.percpu_size = fuzz_take(&input, 4);
	module.region_count = shape >> 4 & 7;
	for (size_t i = 0; i < module.region_count; i++) {
		module.regions[i].start = 0xffffffffc0000000u + fuzz_take(&input, 4);
		module.regions[i].size = fuzz_take(&input, 4);
	}
	struct memory *memory = array_of(&array, &input, shape);
	EXPECT(!symtab_create(&symtab));
	fuzz_done(symtab_add_module(symtab, memory, &module));
	fuzz_done(symtab_add(symtab, "bpf", "bpf_prog_1", 't', module.percpu, module.percpu_size));
	ask_symbols(symtab);
	symtab_destroy(symtab);
}
