/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's own symbol table as it lies in its .rodata (scripts/kallsyms.c writes it,
 * kernel/kallsyms.c reads it). Names stay compressed: a record is a length and that many tokens, a
 * token stands for a string. Private to symbols/.
 */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include "base/error.h"
#include "base/memory.h"
#include "symbols/symtab.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a symbol's address is stored (KERNEL-FORMATS 2.2). */
enum kallsyms_encoding {
	KALLSYMS_ABSOLUTE,	  /* a table of words */
	KALLSYMS_BASE_RELATIVE,	  /* base + unsigned offset */
	KALLSYMS_ABSOLUTE_PERCPU, /* offset >= 0: itself; < 0: base - 1 - offset */
	KALLSYMS_PLACE_RELATIVE,  /* the offset's own address + signed offset */
	KALLSYMS_OFFSET_ONLY	  /* 32 bits: the offset is the address */
};

struct kallsyms_token {
	uint16_t start, size; /* in token_text */
	/* Hash of a string that ends in this token = hash before * factor + hash. */
	uint32_t hash, factor;
	/* The same without the first character, which in a record's first token is the kind. */
	uint32_t tail_hash, tail_factor;
};

struct kallsyms {
	uint32_t count; /* 0: not loaded */
	enum kallsyms_encoding encoding;
	bool long_lengths; /* a length with bit 7 has a second byte */
	/* Its last byte is a record of no tokens, for the symbols that are lost. */
	uint8_t *names;
	size_t names_size;
	uint32_t *records;   /* offset in `names` of each symbol's record */
	uint64_t *addresses; /* as they are at run time, ascending */
	char *token_text;
	struct kallsyms_token tokens[256];
	uint8_t *sorted; /* the kernel's order by name (kallsyms_sorted.c); NULL: none is known */
	/* Symbols that the table lacked, by number; what symtab_add_found() put in. */
	struct kallsyms_found_entry {
		uint32_t number;
		uint64_t size; /* bytes; 0: unknown */
		bool per_cpu;
		const char *evidence; /* borrowed for good */
	} * found;
	size_t found_count;
	struct error *damage; /* what is lost and why, NULL: nothing */
};

/* Borrows nothing. On error `kallsyms` is empty. */
struct error *kallsyms_read(struct kallsyms *kallsyms, struct memory *memory,
			    const struct kallsyms_tables *tables) MUST_CHECK;
void kallsyms_deinit(struct kallsyms *kallsyms);

/*
 * The name, cut to `size` - 1 bytes; `*ret_kind` is nm's letter, '?' when there is none. Returns
 * the length written.
 */
size_t kallsyms_name(const struct kallsyms *kallsyms, uint32_t number, char *buffer, size_t size,
		     char *ret_kind);
char kallsyms_kind(const struct kallsyms *kallsyms, uint32_t number);
bool kallsyms_name_is(const struct kallsyms *kallsyms, uint32_t number, const char *name,
		      size_t length);
/* The strings that a name consists of, without the kind. */
struct kallsyms_parts {
	const struct kallsyms *kallsyms;
	const uint8_t *codes;
	size_t left;
	bool has_kind;
};
struct kallsyms_parts kallsyms_parts(const struct kallsyms *kallsyms, uint32_t number);
/* False: that was all of them. `*ret_text` is not terminated. */
bool kallsyms_next_part(struct kallsyms_parts *parts, const char **ret_text, size_t *ret_size);
/* symbol_hash() of the name, without decoding it. */
uint32_t kallsyms_name_hash(const struct kallsyms *kallsyms, uint32_t number);
/*
 * Neither name nor kind; the address is that of the symbol before, plus 1, where it is lost too (so
 * that what lies behind is not taken for a part of that one).
 */
bool kallsyms_is_lost(const struct kallsyms *kallsyms, uint32_t number);
/* In encoding absolute-percpu: a number (per-CPU offset, constant), not a place. */
bool kallsyms_is_number(const struct kallsyms *kallsyms, uint32_t number);

/* What was put in under that number; NULL: the kernel's table has it. */
const struct kallsyms_found_entry *kallsyms_found(const struct kallsyms *kallsyms, uint32_t number);

/* A polynomial, so that a token's part of it can be computed beforehand. */
#define SYMBOL_HASH_FACTOR 0x9e3779b1u
uint32_t symbol_hash(const char *name, size_t length);

/* --- parts of kallsyms_read() -------------------------------------------------- */

/* The name tables: count, names, token_table, token_index of `tables`. */
struct error *kallsyms_read_names(struct kallsyms *kallsyms, struct memory *memory,
				  const struct kallsyms_tables *tables) MUST_CHECK;
/* The address tables; needs the names, to find _stext. */
struct error *kallsyms_read_addresses(struct kallsyms *kallsyms, struct memory *memory,
				      const struct kallsyms_tables *tables) MUST_CHECK;
/*
 * Follows the records from the start of `names`. Returns the offset of the end of the last of
 * `count`, 0 when they run past `size` or one is empty. `records` may be NULL.
 */
size_t kallsyms_walk_records(const uint8_t *names, size_t size, uint32_t count, bool long_lengths,
			     uint32_t *records);
/*
 * Do the markers (offset of every 256th record), which follow the names, agree with the records?
 * `end` is the address where the names end. `*ret_end`: where the markers end.
 */
bool kallsyms_markers_agree(struct memory *memory, uint64_t end, const uint32_t *records,
			    uint32_t count, uint64_t *ret_end);

/* The offset in `names` of every so many records is a marker. */
#define KALLSYMS_MARKER_STEP 256u

/* --- by name (kallsyms_sorted.c) --------------------------------------------------- */

/* Fills `sorted`, if the kernel has it and no name is lost. */
void kallsyms_read_sorted(struct kallsyms *kallsyms, struct memory *memory,
			  const struct kallsyms_tables *tables);
enum kallsyms_found {
	KALLSYMS_FOUND,
	KALLSYMS_ABSENT,
	KALLSYMS_UNSURE /* the order is damaged here */
};
/* The lowest number >= `from` with that name, by the order, which must be there. */
enum kallsyms_found kallsyms_find_sorted(const struct kallsyms *kallsyms, const char *name,
					 uint32_t from, uint32_t *ret);

/* --- damage (kallsyms_damage.c) --------------------------------------------------- */

/* Where bytes are missing; offsets in what was read. Zeroed at first. */
struct holes {
	struct hole {
		size_t start, end;
	} * items;
	size_t count, capacity;
	struct error *why; /* of the first; NULL: there is none */
};
/* Reads what there is, zeros for the rest. Fails only when missing bytes are not the reason. */
struct error *holes_read(struct holes *holes, struct memory *memory, uint64_t address, void *buffer,
			 size_t size) MUST_CHECK;
bool holes_touch(const struct holes *holes, size_t start, size_t end);
void holes_deinit(struct holes *holes);

/*
 * Reads names that cannot be followed from the first to the last: from marker to marker, within the
 * `size` bytes before the next table. Runs that do not fit their markers are lost.
 */
struct error *kallsyms_resynchronise(struct kallsyms *kallsyms, struct memory *memory,
				     const struct kallsyms_tables *tables,
				     uint64_t size) MUST_CHECK;
/* Makes a symbol a lost one. */
void kallsyms_lose(struct kallsyms *kallsyms, uint32_t number);
/* Takes `error`; the first one stays. */
void kallsyms_set_damage(struct kallsyms *kallsyms, struct error *error);
/* Says in `damage` how many are lost. An error when most are. */
struct error *kallsyms_count_lost(struct kallsyms *kallsyms) MUST_CHECK;

/*
 * Finds the tables by their shape (5.10 to 5.19 do not name them in VMCOREINFO). The name tables
 * are certain, where the addresses are depends on the kernel: `ret` gets the possible answers, to
 * be tried in order.
 */
#define KALLSYMS_CANDIDATES 5
struct error *kallsyms_scan(struct memory *memory, uint64_t stext,
			    struct kallsyms_tables ret[KALLSYMS_CANDIDATES],
			    size_t *ret_count) MUST_CHECK;

#endif
