// SPDX-License-Identifier: GPL-3.0-or-later
/* The ORC tables of a target: where they are, which encoding, and a cache of answers. */
#include "debugger/unwind/orc.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The largest table seen has 511,000 entries. */
#define ENTRY_LIMIT  (1u << 24)
#define CACHE_SIZE   1024 /* a power of two */
#define LOOKUP_SHIFT 8	  /* one orc_lookup word for 256 bytes of text */
#define HEADER_SIZE  20

struct cached {
	uint64_t pc;
	bool valid, found;
	struct orc_entry entry;
};

struct orc {
	struct target *target;
	enum orc_version version;
	bool indirect_adds_after;
	struct orc_table kernel;
	uint64_t text_start, text_end, init_start, init_end;
	uint64_t lookup; /* orc_lookup[], 0: none */
	uint32_t lookup_count;
	struct error *problem; /* why the kernel's table cannot be used */
	struct cached cache[CACHE_SIZE];
};

/* --- which encoding -------------------------------------------------------------------- */

static bool read_symbol(struct target *target, const char *name, void *buffer, size_t size)
{
	uint64_t address;
	if (!symtab_address(target->symbols, name, &address))
		return false;
	struct error *error = memory_read(target->memory, address, buffer, size);
	error_free(error);
	return !error;
}

/* orc_fp_entry, the rule for frame pointers, is the same in all versions but for its coding. */
static enum orc_version version_by_constant(struct target *target)
{
	static const uint8_t offsets[] = { 0x10, 0x00, 0xf0, 0xff };
	uint8_t raw[ORC_ENTRY_SIZE];
	if (!read_symbol(target, "orc_fp_entry", raw, sizeof(raw)) ||
	    memcmp(raw, offsets, sizeof(offsets)))
		return ORC_UNKNOWN;
	switch (load_u16(raw + 4, false)) {
	case 0x0014:
		return ORC_V1;
	case 0x0214:
		return ORC_V3;
	case 0x0284:
		return ORC_V4;
	}
	return ORC_UNKNOWN;
}

/* A hash of the kernel's orc_types.h (b9f174c811e3, 6.4 and 6.3.10). */
static enum orc_version version_by_header(struct target *target)
{
	static const struct {
		uint8_t start[4];
		enum orc_version version;
	} known[] = {
		{ { 0xdb, 0x84, 0xae, 0xd4 }, ORC_V2 },
		{ { 0xfe, 0x5d, 0x32, 0xbf }, ORC_V3 },
		{ { 0x13, 0x7c, 0x36, 0xad }, ORC_V4 },
	};
	uint8_t header[HEADER_SIZE];
	if (!read_symbol(target, "__start_orc_header", header, sizeof(header)))
		return ORC_UNKNOWN;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (!memcmp(header, known[i].start, sizeof(known[i].start)))
			return known[i].version;
	return ORC_UNKNOWN;
}

/*
 * v2 looks like v1 but for the place of the end bit: the syscall entry is an end of the stack,
 * 0x0400 in v1 and 0x0800 in v2.
 */
static bool is_v2(struct orc *orc)
{
	uint64_t entry;
	uint8_t raw[ORC_ENTRY_SIZE];
	bool found;
	if (!symtab_address(orc->target->symbols, "entry_SYSCALL_64", &entry))
		return false;
	struct error *error =
		orc_table_find(&orc->kernel, 0, orc->kernel.count - 1, entry, raw, &found);
	error_free(error);
	return !error && found && load_u16(raw + 4, false) >> 11 & 1;
}

static struct error *find_version(struct orc *orc)
{
	orc->version = version_by_constant(orc->target);
	if (orc->version == ORC_UNKNOWN)
		orc->version = version_by_header(orc->target);
	if (orc->version == ORC_UNKNOWN)
		TRY(orc_guess_version(&orc->kernel, &orc->version));
	if (orc->version == ORC_V1 && is_v2(orc))
		orc->version = ORC_V2;
	return NULL;
}

/* --- where the tables are ----------------------------------------------------------------- */

static struct error *find_table(struct target *target, struct orc_table *ret)
{
	uint64_t ips_end, entries_end;
	const struct symtab *symbols = target->symbols;
	if (!symtab_address(symbols, "__start_orc_unwind_ip", &ret->ips) ||
	    !symtab_address(symbols, "__stop_orc_unwind_ip", &ips_end) ||
	    !symtab_address(symbols, "__start_orc_unwind", &ret->entries) ||
	    !symtab_address(symbols, "__stop_orc_unwind", &entries_end))
		return error_create(ERROR_NOT_FOUND, "the kernel has no ORC tables");
	uint64_t count = (ips_end - ret->ips) / 4;
	if (!count || count > ENTRY_LIMIT || ips_end < ret->ips || entries_end < ret->entries ||
	    (entries_end - ret->entries) / ORC_ENTRY_SIZE != count)
		return error_create(ERROR_FORMAT,
				    "the ORC tables do not match: %" PRIu64
				    " addresses at 0x%" PRIx64 ", records from 0x%" PRIx64
				    " to 0x%" PRIx64,
				    count, ret->ips, ret->entries, entries_end);
	ret->memory = target->memory;
	ret->count = (uint32_t)count;
	return NULL;
}

static void find_ranges(struct orc *orc)
{
	const struct symtab *symbols = orc->target->symbols;
	uint64_t count_address;
	if (!symtab_address(symbols, "_stext", &orc->text_start) ||
	    !symtab_address(symbols, "_etext", &orc->text_end))
		orc->text_start = orc->text_end = 0;
	if (!symtab_address(symbols, "_sinittext", &orc->init_start) ||
	    !symtab_address(symbols, "_einittext", &orc->init_end))
		orc->init_start = orc->init_end = 0;
	if (!symtab_address(symbols, "orc_lookup", &orc->lookup) ||
	    !symtab_address(symbols, "lookup_num_blocks", &count_address))
		return;
	struct error *error =
		memory_read_u32(orc->target->memory, count_address, &orc->lookup_count);
	error_free(error);
	if (error || orc->lookup_count > (orc->text_end - orc->text_start) / 128)
		orc->lookup_count = 0;
}

/*
 * 5.12 changed SP_INDIRECT ("x86/unwind/orc: Change REG_SP_INDIRECT") together with the IRQ
 * stack, whose pointer lies 8 below the end since then: the pointer tells.
 */
static bool read_indirect_adds_after(struct target *target)
{
	const struct cpu *cpus;
	uint64_t variable, pointer;
	if (!target_cpus(target, &cpus) ||
	    !symtab_address(target->symbols, "hardirq_stack_ptr", &variable))
		return true;
	struct error *error =
		memory_read_word(target->memory, variable + cpus[0].per_cpu_offset, &pointer);
	error_free(error);
	return error || pointer % 4096 != 0;
}

static void orc_destroy(void *data)
{
	struct orc *orc = data;
	error_free(orc->problem);
	free(orc);
}

static struct error *open_kernel_table(struct orc *orc)
{
	TRY(find_table(orc->target, &orc->kernel));
	TRY(find_version(orc));
	find_ranges(orc);
	orc->indirect_adds_after = read_indirect_adds_after(orc->target);
	return NULL;
}

struct error *orc_of(struct target *target, struct orc **ret)
{
	static const char key;
	struct orc *orc = target_attached(target, &key);
	if (!orc) {
		orc = calloc(1, sizeof(*orc));
		if (!orc)
			return error_no_memory();
		orc->target = target;
		orc->problem = open_kernel_table(orc);
		TRY(target_attach(target, &key, orc, orc_destroy));
	}
	if (orc->problem)
		return error_copy(orc->problem);
	*ret = orc;
	return NULL;
}

enum orc_version orc_version_of(const struct orc *orc)
{
	return orc->version;
}

bool orc_indirect_adds_after(const struct orc *orc)
{
	return orc->indirect_adds_after;
}

/* --- looking up --------------------------------------------------------------------------- */

/* The kernel's accelerator narrows to a block's few entries; false: search the whole table. */
static struct error *find_by_lookup(struct orc *orc, uint64_t pc, uint8_t raw[ORC_ENTRY_SIZE],
				    bool *ret_found)
{
	uint64_t block = (pc - orc->text_start) >> LOOKUP_SHIFT;
	uint8_t words[8];
	*ret_found = false;
	if (pc < orc->text_start || block + 1 >= orc->lookup_count)
		return NULL;
	TRY(memory_read(orc->target->memory, orc->lookup + 4 * block, words, sizeof(words)));
	uint32_t first = load_u32(words, false), last = load_u32(words + 4, false);
	if (first > last || last >= orc->kernel.count)
		return NULL;
	return orc_table_find(&orc->kernel, first, last, pc, raw, ret_found);
}

static struct error *find_in_kernel(struct orc *orc, uint64_t pc, uint8_t raw[ORC_ENTRY_SIZE],
				    bool *ret_found)
{
	struct error *error = find_by_lookup(orc, pc, raw, ret_found);
	if (!error && *ret_found)
		return NULL;
	error_free(error);
	return orc_table_find(&orc->kernel, 0, orc->kernel.count - 1, pc, raw, ret_found);
}

static struct error *find_in_module(struct orc *orc, uint64_t pc, uint8_t raw[ORC_ENTRY_SIZE],
				    bool *ret_found)
{
	const struct module *module = target_module_at(orc->target, pc);
	*ret_found = false;
	if (!module || !module->orc_count)
		return NULL;
	struct orc_table table = { .memory = orc->target->memory,
				   .ips = module->orc_ip,
				   .entries = module->orc,
				   .count = module->orc_count };
	return error_prefix(orc_table_find(&table, 0, table.count - 1, pc, raw, ret_found),
			    "ORC of module %s", module->name);
}

static struct error *find_uncached(struct orc *orc, uint64_t pc, struct orc_entry *ret,
				   bool *ret_found)
{
	uint8_t raw[ORC_ENTRY_SIZE];
	if ((pc >= orc->text_start && pc < orc->text_end) ||
	    (pc >= orc->init_start && pc < orc->init_end))
		TRY(error_prefix(find_in_kernel(orc, pc, raw, ret_found), "ORC of the kernel"));
	else
		TRY(find_in_module(orc, pc, raw, ret_found));
	if (*ret_found)
		orc_decode(orc->version, raw, ret);
	return NULL;
}

struct error *orc_find(struct orc *orc, uint64_t pc, struct orc_entry *ret, bool *ret_found)
{
	struct cached *cached = &orc->cache[(pc ^ pc >> 10) % CACHE_SIZE];
	if (!cached->valid || cached->pc != pc) {
		cached->valid = false;
		TRY(find_uncached(orc, pc, &cached->entry, &cached->found));
		cached->pc = pc;
		cached->valid = true;
	}
	*ret = cached->entry;
	*ret_found = cached->found;
	return NULL;
}
