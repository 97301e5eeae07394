// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory full of what looks like tables of symbols. Who believes all of it meets alarm(). */
#include "tests/unit/kallsyms_image.h"

#include "base/array.h"
#include "base/bytes.h"
#include "symbols/symtab.h"
#include <unistd.h>

#define SECONDS 600 /* on a busy machine, with sanitizers */
#define TEXT	0xffffffff81000000u
#define MIB	((size_t)1 << 20)

/* Memory whose byte at each address is made up when it is asked for. */
struct made_up {
	struct memory memory;
	uint8_t (*byte)(uint64_t address);
	uint64_t reads;
};

static struct error *made_up_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct made_up *made_up = (struct made_up *)memory;
	uint8_t *to = buffer;
	made_up->reads++;
	for (size_t i = 0; i < size; i++)
		to[i] = made_up->byte(address + i);
	return NULL;
}

static struct made_up make_up(uint8_t (*byte)(uint64_t address))
{
	return (struct made_up){
		.memory = { .read = made_up_read, .name = "made-up", .word_size = 8 },
		.byte = byte,
	};
}

static void check_load(struct memory *memory, const struct kallsyms_tables *tables, const char *why)
{
	struct symtab *symtab;
	CHECK_OK(symtab_create(&symtab));
	alarm(SECONDS);
	CHECK_FAILS(kallsyms_load(symtab, memory, tables), why);
	alarm(0);
	symtab_destroy(symtab);
}

/* "0\0" to "9\0", again and again: each may be in a table of tokens. */
static uint8_t digit_byte(uint64_t address)
{
	return address % 2 ? 0 : (uint8_t)('0' + address / 2 % 10);
}

static void test_digits(void)
{
	struct made_up digits = make_up(digit_byte);
	struct kallsyms_tables tables = { .stext = TEXT };
	check_load(&digits.memory, &tables, "no token table");
	CHECK(digits.reads < 2000);
}

/* Zeros, and behind each three that could be markers: before a good table of tokens. */
static void test_scan_markers(void)
{
	static const uint32_t words[] = { 0, 1000, 2000, 3000 };
	static const struct test_symbol symbols[] = { { TEXT, 'T', "_stext" },
						      { TEXT + 64, 'T', "_etext" } };
	struct image_options options = { .order = ORDER_BEHIND,
					 .encoding = KALLSYMS_BASE_RELATIVE,
					 .word_size = 8,
					 .base = TEXT,
					 .padding = 8 * MIB,
					 .symbols = symbols,
					 .count = ARRAY_COUNT(symbols) };
	struct image image;
	image_create(&image, &options);
	size_t end = (size_t)(image.tables.token_table - TEXT);
	for (size_t at = 0; at + sizeof(words) <= end; at += sizeof(words))
		memcpy(image.data + at, words, sizeof(words));
	struct kallsyms_tables tables = { .stext = TEXT };
	check_load(&image.memory.memory, &tables, "no names before the token table");
	image_destroy(&image);
}

/* Words that rise by 1000: markers, wherever one begins. The first one says that names are damaged.
 */
#define NAMES	  (TEXT + 4096)
#define NAMES_END (NAMES + 32 * MIB)
#define COUNT	  (1u << 20)

static uint8_t marker_byte(uint64_t address)
{
	uint32_t word = (uint32_t)((address - NAMES) / 4 * 1000);
	if (address < NAMES)
		word = COUNT;
	if (address >= NAMES_END)
		word = 0;
	return (uint8_t)(word >> 8 * (address % 4));
}

static void test_endless_markers(void)
{
	struct made_up markers = make_up(marker_byte);
	struct kallsyms_tables tables = { .stext = TEXT,
					  .num_syms = NAMES - 4,
					  .names = NAMES,
					  .token_table = NAMES_END,
					  .token_index = NAMES_END + 4096,
					  .offsets = NAMES_END + 8192,
					  .relative_base = TEXT };
	check_load(&markers.memory, &tables, "kallsyms_names");
}

int main(void)
{
	RUN(test_digits);
	RUN(test_scan_markers);
	RUN(test_endless_markers);
	return test_finish();
}
