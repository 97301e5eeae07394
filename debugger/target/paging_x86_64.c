// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/paging_x86_64.h"

#include "base/bytes.h"
#include <inttypes.h>
#include <stdlib.h>

#define START_KERNEL_MAP 0xffffffff80000000u
#define NULL_END	 4096 /* a member of the struct at NULL lies below */
#define ENTRY_PRESENT	 ((uint64_t)1 << 0)
#define ENTRY_PAGE_SIZE	 ((uint64_t)1 << 7)
#define ENTRY_PROTECTED	 ((uint64_t)1 << 8) /* where it is not present */
#define ENTRY_ADDRESS	 0x000ffffffffff000u
/* A swap entry: five bits of type above, then the offset, all its bits turned over (6b28baca9b1f,
 * 4.18); the lowest nine are the processor's. */
#define SWAP_TYPE_SHIFT	  59
#define SWAP_OFFSET_SHIFT 9
#define SWAP_OFFSET_BITS  50
#define LEVEL_BITS	  9
#define PAGE_BITS	  12
#define LARGE_LEVELS	  3 /* a 1 GiB page ends at the third level from below */
/* From _stext on, no kernel image is smaller; one with debugging options may be larger. */
#define IMAGE_SIZE ((uint64_t)64 << 20)

struct paging {
	struct translator translator;
	struct memory *physical;
	uint64_t root; /* physical address of the top table */
	uint64_t address_mask;
	unsigned int levels;
	uint64_t stext;	    /* start of the image's text; 0 unknown */
	uint64_t phys_base; /* physical address of the image minus START_KERNEL_MAP's offset */
};

/* Address bits below the index of a level; level 1 is the lowest. */
static unsigned int level_shift(unsigned int level)
{
	return PAGE_BITS + (level - 1) * LEVEL_BITS;
}

/* `whose`: "kernel" or "user", for the message. */
static struct error *check_canonical(const struct paging *paging, const char *whose,
				     uint64_t address)
{
	unsigned int unused = 64 - level_shift(paging->levels + 1);
	if ((uint64_t)((int64_t)(address << unused) >> unused) == address)
		return NULL;
	return error_create_at(ERROR_FAULT, address, "%s address 0x%" PRIx64 " is not canonical",
			       whose, address);
}

struct place {
	uint64_t table, address;
	unsigned int level;
	const char *whose;
};

static struct error *read_entry(const struct paging *paging, const struct place *place,
				uint64_t *ret)
{
	uint64_t address = place->address;
	unsigned int level = place->level;
	uint64_t index = address >> level_shift(level) & ((1u << LEVEL_BITS) - 1);
	struct error *error = memory_read_u64(paging->physical, place->table + index * 8, ret);
	if (!error)
		return NULL;
	error = error_prefix(error, "%s address 0x%" PRIx64 ": level %u page table", place->whose,
			     address, level);
	if (error->kind != ERROR_NO_MEMORY)
		error->address = address;
	return error;
}

/*
 * The image is contiguous in physical memory (KERNEL-FORMATS 6.1), so what a table that is not in
 * the dump would have said of it is known.
 */
static bool translate_image(const struct paging *paging, uint64_t address, struct translation *ret)
{
	if (!paging->stext || address < paging->stext || address - paging->stext >= IMAGE_SIZE)
		return false;
	/* What a table of pages reaches, for it is asked of each of them. */
	uint64_t size = (uint64_t)1 << level_shift(2), start = address & ~(size - 1);
	if (start < paging->stext) {
		size = (uint64_t)1 << PAGE_BITS;
		start = address & ~(size - 1);
	}
	*ret = (struct translation){ start, start - START_KERNEL_MAP + paging->phys_base, size };
	return true;
}

/* The kernel's own tables have nothing in the lower half. */
static struct error *not_mapped(uint64_t address)
{
	const char *why = address < NULL_END ? " (a NULL pointer)"
			  : !(address >> 63) ? " (an address of user space)"
					     : "";
	return error_create_at(ERROR_FAULT, address, "kernel address 0x%" PRIx64 " is not mapped%s",
			       address, why);
}

static struct error *translate(const struct translator *translator, uint64_t address,
			       struct translation *ret)
{
	const struct paging *paging = (const struct paging *)translator;
	struct error *error = check_canonical(paging, "kernel", address);
	uint64_t table = paging->root;
	for (unsigned int level = paging->levels; !error; level--) {
		uint64_t entry = 0;
		const struct place place = { table, address, level, "kernel" };
		error = read_entry(paging, &place, &entry);
		if (error && error_is_missing(error) && translate_image(paging, address, ret)) {
			error_free(error);
			return NULL;
		}
		if (error)
			break;
		if (!(entry & ENTRY_PRESENT))
			return not_mapped(address);
		table = entry & paging->address_mask;
		bool large = level > 1 && level <= LARGE_LEVELS && entry & ENTRY_PAGE_SIZE;
		if (level > 1 && !large)
			continue;
		uint64_t size = (uint64_t)1 << level_shift(level);
		/* Bit 12 of a large page is its PAT bit, not an address bit. */
		*ret = (struct translation){ address & ~(size - 1), table & ~(size - 1), size };
		return NULL;
	}
	return error;
}

/* --- one address, step by step ---------------------------------------------------------------- */

static const char *const level_names[] = { "PTE", "PMD", "PUD", "P4D", "PGD" };

/* Without five levels the top table is called by its own name all the same. */
static const char *level_name(const struct paging *paging, unsigned int level)
{
	return level_names[level == paging->levels ? 4 : level - 1];
}

/* What an entry without the present bit says (kernel arch/x86/include/asm/pgtable_64.h). */
static void decode_absent(const struct paging *paging, uint64_t entry, struct page_walk *walk)
{
	walk->state = PAGE_ABSENT;
	if (!entry)
		return;
	if (entry & ENTRY_PROTECTED) {
		/* Its address is turned over, so that no processor guesses at what is there. */
		walk->state = PAGE_PROTECTED;
		walk->physical = ~entry & paging->address_mask;
		return;
	}
	walk->state = PAGE_SWAPPED;
	walk->swap_type = (uint32_t)(entry >> SWAP_TYPE_SHIFT);
	walk->swap_offset = ~entry >> SWAP_OFFSET_SHIFT & (((uint64_t)1 << SWAP_OFFSET_BITS) - 1);
}

/* A table below a table: present, and not the last. */
static bool leads_on(uint64_t entry, unsigned int level)
{
	bool large = level <= LARGE_LEVELS && entry & ENTRY_PAGE_SIZE;
	return level > 1 && entry & ENTRY_PRESENT && !large;
}

struct error *paging_x86_64_walk(const struct translator *translator, uint64_t root,
				 uint64_t address, struct page_walk *ret)
{
	const struct paging *paging = (const struct paging *)translator;
	uint64_t table = root == PAGE_ROOT_KERNEL ? paging->root : root & paging->address_mask;
	unsigned int level = paging->levels;
	*ret = (struct page_walk){ .count = 0 };
	const char *whose = root == PAGE_ROOT_KERNEL ? "kernel" : "user";
	/* All between the halves is as little an address. */
	ret->start = (uint64_t)1 << (level_shift(paging->levels + 1) - 1);
	ret->size = -2 * ret->start;
	TRY(check_canonical(paging, whose, address));
	for (;; level--) {
		uint64_t at = address >> level_shift(level) & ((1u << LEVEL_BITS) - 1), entry;
		const struct place place = { table, address, level, whose };
		/* Of all of that nothing is known where the table is not in the dump. */
		ret->size = (uint64_t)1 << level_shift(level + 1);
		ret->start = address & ~(ret->size - 1);
		TRY(read_entry(paging, &place, &entry));
		ret->steps[ret->count++] =
			(struct page_step){ table + at * 8, entry, level_name(paging, level) };
		if (!leads_on(entry, level))
			break;
		table = entry & paging->address_mask;
	}
	uint64_t entry = ret->steps[ret->count - 1].entry;
	ret->size = (uint64_t)1 << level_shift(level);
	ret->start = address & ~(ret->size - 1);
	ret->physical = entry & paging->address_mask;
	if (entry & ENTRY_PRESENT)
		ret->state = PAGE_PRESENT;
	else
		decode_absent(paging, entry, ret);
	/* Bit 12 of a large page is its PAT bit, not an address bit. */
	ret->physical = (ret->physical & ~(ret->size - 1)) + (address - ret->start);
	if (ret->state == PAGE_SWAPPED || ret->state == PAGE_ABSENT)
		ret->physical = 0;
	return NULL;
}

/* kernel arch/x86/include/asm/pgtable_types.h */
const char *const paging_x86_64_flags[PAGING_X86_64_FLAGS] = {
	[0] = "PRESENT", [1] = "RW",	       [2] = "USER",	 [3] = "PWT",
	[4] = "PCD",	 [5] = "ACCESSED",     [6] = "DIRTY",	 [7] = "PSE",
	[8] = "GLOBAL",	 [9] = "SPECIAL",      [10] = "UFFD_WP", [11] = "SOFT_DIRTY",
	[57] = "DEVMAP", [58] = "SAVED_DIRTY", [63] = "NX",
};

static struct error *missing_key(const char *key)
{
	return error_create(ERROR_NOT_FOUND,
			    "VMCOREINFO lacks %s: kernel addresses cannot be translated", key);
}

static struct error *find_root(const struct vmcoreinfo *info, uint64_t *ret)
{
	uint64_t directory;
	int64_t base;
	/* Two names of one table: swapper_pg_dir is a macro for init_top_pgt. */
	if (!vmcoreinfo_hex(info, "SYMBOL(swapper_pg_dir)", &directory) &&
	    !vmcoreinfo_hex(info, "SYMBOL(init_top_pgt)", &directory))
		return missing_key("SYMBOL(swapper_pg_dir)");
	if (!vmcoreinfo_number(info, "NUMBER(phys_base)", &base))
		return missing_key("NUMBER(phys_base)");
	if (directory < START_KERNEL_MAP)
		return error_create(ERROR_FORMAT,
				    "VMCOREINFO: swapper_pg_dir at 0x%" PRIx64
				    " is outside of the kernel image",
				    directory);
	/* Entries of the table are 8 bytes; a root that is not a page would be read askew. */
	*ret = (directory - START_KERNEL_MAP + (uint64_t)base) & ENTRY_ADDRESS;
	return NULL;
}

struct error *paging_x86_64_create(struct memory *physical, const struct vmcoreinfo *info,
				   struct translator **ret)
{
	uint64_t root = 0;
	struct error *error = find_root(info, &root);
	if (error)
		return error;
	struct paging *paging = calloc(1, sizeof(*paging));
	if (!paging)
		return error_no_memory();
	/* Both keys came later than the page tables they speak of: absent means off. */
	int64_t five_levels = 0, sme_mask = 0;
	vmcoreinfo_number(info, "NUMBER(pgtable_l5_enabled)", &five_levels);
	vmcoreinfo_number(info, "NUMBER(sme_mask)", &sme_mask);
	paging->translator.translate = translate;
	paging->physical = physical;
	paging->levels = five_levels ? 5 : 4;
	paging->address_mask = ENTRY_ADDRESS & ~(uint64_t)sme_mask;
	paging->root = root & paging->address_mask;
	int64_t phys_base = 0;
	if (vmcoreinfo_number(info, "NUMBER(phys_base)", &phys_base) &&
	    vmcoreinfo_hex(info, "SYMBOL(_stext)", &paging->stext))
		paging->phys_base = (uint64_t)phys_base;
	*ret = &paging->translator;
	return NULL;
}
