/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes DWARF 4 in its 32-bit format (dwarfstd.org, DWARF Debugging Information Format 4): the
 * sections .debug_info, .debug_abbrev, .debug_str, .debug_aranges and .debug_line in memory,
 * little-endian.
 *
 * An entry is begun by dwarf_entry(), which writes its type if it may have one; its other
 * attributes follow in the order in which the table in dwarf.c has them. Running out of memory and
 * going beyond a bound are remembered until the end.
 */
#ifndef DEBUGGER_EXPORT_DWARF_H
#define DEBUGGER_EXPORT_DWARF_H

#include "base/hash.h"
#include "base/strbuf.h"

enum dwarf_entry {
	DWARF_UNIT,
	DWARF_CODE_UNIT,
	DWARF_LINES_UNIT,  /* of code, with lines of source */
	DWARF_BASE_TYPE,   /* name, byte: bytes, byte: encoding */
	DWARF_UNSPECIFIED, /* name */
	DWARF_POINTER,	   /* type; byte: bytes */
	DWARF_ARRAY,	   /* type */
	DWARF_SUBRANGE,	   /* number: elements */
	DWARF_OPEN_SUBRANGE,
	DWARF_STRUCT,	    /* name, number: bytes */
	DWARF_NO_STRUCT,    /* number: bytes; without a name */
	DWARF_UNION,	    /* as those of structs */
	DWARF_NO_UNION,	    /* the same */
	DWARF_FWD_STRUCT,   /* name; an incomplete one */
	DWARF_FWD_UNION,    /* name */
	DWARF_MEMBER,	    /* type; name, number: offset in bytes */
	DWARF_NO_MEMBER,    /* type; number: offset in bytes */
	DWARF_BITS,	    /* type; name, number: bits, number: offset in bits */
	DWARF_NO_BITS,	    /* type; number: bits, number: offset in bits */
	DWARF_ENUM,	    /* name, byte: bytes */
	DWARF_NO_ENUM,	    /* byte: bytes */
	DWARF_FWD_ENUM,	    /* name, byte: bytes */
	DWARF_SIGNED,	    /* name, signed number: an enumerator */
	DWARF_UNSIGNED,	    /* name, number: an enumerator */
	DWARF_TYPEDEF,	    /* type; name */
	DWARF_CONST,	    /* type */
	DWARF_VOLATILE,	    /* type */
	DWARF_RESTRICT,	    /* type */
	DWARF_PROTOTYPE,    /* type */
	DWARF_PARAMETER,    /* type; name */
	DWARF_NO_PARAMETER, /* type; without a name */
	DWARF_ELLIPSIS,
	DWARF_FUNCTION,	       /* type; name, address, data4: bytes */
	DWARF_STATIC_FUNCTION, /* the same */
	DWARF_UNPROTOTYPED,    /* name, address, data4: bytes */
	DWARF_VARIABLE,	       /* type; name, location */
	DWARF_STATIC_VARIABLE, /* the same */
	DWARF_CONSTANT,	       /* type; name, signed number: its value */
	DWARF_ENTRY_COUNT
};

/* Where an entry's type is. */
struct dwarf_type {
	enum dwarf_where { DWARF_VOID, DWARF_HERE, DWARF_ELSEWHERE } where; /* in this unit? */
	uint32_t offset;						    /* in .debug_info */
};

/* Where an address stands in .debug_info, .debug_aranges or .debug_line. */
struct dwarf_place {
	uint64_t offset, address;
};

/* The line of source of one instruction. */
struct dwarf_line {
	uint64_t address;
	uint32_t line, file; /* a number that the caller gave the name; from 0 on */
	uint8_t size;	     /* bytes of the instruction */
};

struct dwarf_lines {
	const struct dwarf_line *items;
	size_t count;
	const char *const *names; /* of files, by number */
	size_t name_count;
	const char *folder; /* in which the files are, unless their names say so */
};

struct dwarf {
	const char *producer; /* borrowed */
	struct strbuf info, strings, ranges, lines;
	struct hash_index names;	     /* of offsets in `strings` */
	uint8_t codes[DWARF_ENTRY_COUNT][3]; /* of abbreviations, by where the type is; 0: none */
	size_t unit;			     /* where the one that is open begins */
	bool is_relocatable;		     /* places of addresses are kept */
	struct strbuf info_places, range_places, line_places; /* of struct dwarf_place */
	bool failed;					      /* no memory */
	bool is_full; /* a bound was reached: what came after is lost */
};

#define DWARF_NAME_MAX	  511 /* of the kernel's own symbols, KSYM_NAME_LEN - 1; the rest is cut */
#define DWARF_INFO_MAX	  (256u << 20)
#define DWARF_STRINGS_MAX (64u << 20)
#define DWARF_LINES_MAX	  (64u << 20)

/* `producer` (borrowed): DW_AT_producer of all units. */
void dwarf_init(struct dwarf *dwarf, const char *producer);
void dwarf_deinit(struct dwarf *dwarf);
/* The abbreviations of all units. */
void dwarf_abbreviations(const struct dwarf *dwarf, struct strbuf *ret);

/* Until dwarf_unit_end(), entries are of this unit. */
void dwarf_unit_begin(struct dwarf *dwarf, const char *name);
/* One of the code at [start, start + size), which .debug_aranges is told. */
void dwarf_code_unit_begin(struct dwarf *dwarf, const char *name, uint64_t start, uint32_t size);
/*
 * The same of one with lines of source, in ascending order; of all other instructions it says that
 * their line is not known.
 */
void dwarf_lines_unit_begin(struct dwarf *dwarf, const char *name, uint64_t start, uint32_t size,
			    const struct dwarf_lines *lines);
void dwarf_unit_end(struct dwarf *dwarf);
/* As if it had not been begun. */
void dwarf_unit_drop(struct dwarf *dwarf);

/* Returns its offset. */
uint32_t dwarf_entry(struct dwarf *dwarf, enum dwarf_entry entry, struct dwarf_type type);
/* Ends the children of the last entry that has some. */
void dwarf_end_children(struct dwarf *dwarf);
/*
 * A name as it is written, in `ret`: at most DWARF_NAME_MAX bytes; control characters, which a
 * debugger would show as they are, become question marks. Returns its length.
 */
size_t dwarf_clean_name(const char *name, char ret[DWARF_NAME_MAX + 1]);
void dwarf_name(struct dwarf *dwarf, const char *name);
void dwarf_byte(struct dwarf *dwarf, uint8_t byte);
void dwarf_number(struct dwarf *dwarf, uint64_t number);
void dwarf_signed(struct dwarf *dwarf, int64_t number);
void dwarf_u32(struct dwarf *dwarf, uint32_t number);
void dwarf_address(struct dwarf *dwarf, uint64_t address);
/* A location by the operation, DW_OP_addr or DW_OP_const8u. */
void dwarf_location(struct dwarf *dwarf, uint8_t operation, uint64_t address);

#endif
