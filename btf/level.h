/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One level of BTF from the inside; only for the files of btf/.
 *
 * A level opened from a blob is immutable. What is made when first asked for lies behind `lazy`,
 * so that everyone can hold the level as const.
 */
#ifndef BTF_LEVEL_H
#define BTF_LEVEL_H

#include "base/hash.h"
#include "btf/btf.h"

/* Longest chain of modifiers, nested arrays or nested declarators that is followed. */
#define CHAIN_MAX 64
/* Structs in structs, by value. */
#define NESTING_MAX 32
/* Records that one question may visit, so that hostile nesting ends. */
#define VISITS_MAX 65536

#define RECORD_SIZE	  12 /* of what every record begins with: name, info, size or type */
#define MEMBER_SIZE	  12
#define ENUMERATOR_SIZE	  8
#define ENUMERATOR64_SIZE 12
#define PARAM_SIZE	  8
#define ENTRY_SIZE	  12

/* Records and strings of a scratch level: they never move, so what was decoded stays valid. */
struct arena {
	uint8_t **chunks;
	size_t count, capacity;
	uint32_t used;		    /* offset of the next free byte */
	size_t offset_capacity;	    /* of btf.offsets */
	struct hash_index interned; /* of the ids of the level, by what they are */
};
#define ARENA_CHUNK 65536u

/* Names of one group of kinds: heads of chains that go on in btf_lazy.next. */
struct name_index {
	uint32_t *heads; /* of links, 0: none; NULL: not built */
	uint32_t mask;
	uint32_t ids;	/* the bits of a link that are its id; the others are its hash's */
	uint32_t scans; /* look-ups that did without it */
};

/* Enumerators by their names: heads of chains through `items`, from 1 on. */
struct enumerator_index {
	struct enumerator_item {
		uint32_t id, index, next; /* of its enum, in it */
	} * items;
	uint32_t *heads; /* NULL: not built */
	uint32_t mask;
	uint32_t scans;
};

struct btf_lazy {
	struct name_index types, functions;
	struct enumerator_index enumerators;
	uint32_t *next; /* by id - start_id: the next link of the chain, ids ascending */
	unsigned int pointer_size;
	struct btf *scratch;
	uint64_t nested_total; /* while nesting.c counts */
};

struct btf {
	const struct btf *base;
	const uint8_t *types;
	const char *strings;
	uint32_t types_size; /* bytes */
	uint32_t string_start, string_size;
	uint32_t start_id, end_id;
	uint32_t *offsets; /* of the records, from `types` or in the arena */
	const uint8_t *layout;
	uint32_t layout_count; /* of kinds */
	bool big_endian;
	bool signs_enums;    /* some enum says that it is signed: the encoder knows the flag */
	bool is_cut;	     /* records after a damaged one are lost */
	uint8_t depth;	     /* levels below */
	struct arena *arena; /* of a scratch level, else NULL */
	struct btf_lazy *lazy;
	char *warning;
	uint32_t *nested; /* by id - start_id: members of a struct, with those within; nesting.c */
	uint8_t *mended;  /* a copy of the types without what was damaged, NULL: nothing was */
	char name[];
};

/* What follows the 12 bytes of a record, and which of its words are names and ids. */
struct shape {
	const char *name;
	uint8_t info_size, element_size;
	bool has_type;	     /* the third word is an id */
	bool element_names;  /* an element begins with a name */
	int8_t element_type; /* where in an element an id lies, -1 nowhere */
};
/* By kind, all below BTF_KIND_COUNT. */
extern const struct shape shapes[];

/*
 * Tells of every word of a record that is a name or an id, the record's own name first. `record`
 * lies within and is of a known kind.
 */
enum word_role { WORD_NAME, WORD_TYPE, WORD_ELEMENT_NAME, WORD_ELEMENT_TYPE };
typedef void word_visitor(void *context, const uint8_t *word, enum word_role role);
void record_words(const uint8_t *record, bool big_endian, word_visitor *visit, void *context);

/* An integer's bits lie within its bytes, which are not more than compilers make. */
bool int_is_sane(uint32_t size, uint32_t data);

/*
 * sizes.c: a member of a struct or union, or an entry of a section, lies within; an enum or float
 * is as wide as there are; the bits of an array have numbers. True for other kinds.
 */
bool element_fits(const struct btf_type *type, uint32_t index);
bool scalar_is_sane(const struct btf_type *type);
bool array_is_sane(const struct btf_type *type);
/*
 * nesting.c: a struct or union holds no more members than walks visit, those of inner ones counted,
 * and not itself. To mend one is to drop the members that are too many: told of each, the word
 * with its type and whether it is the type's first, as deep within as it lies.
 */
struct nesting {
	void (*drop)(void *context, const struct btf_type *type, const uint8_t *word,
		     bool is_first);
	void *context;
};
/* Forgets what was counted. False without memory. */
bool nesting_init(struct btf *btf);
bool nesting_is_sane(const struct btf_type *type);
void nesting_mend(const struct nesting *nesting, const struct btf_type *type);
/* All of that for all records of a level. */
bool level_fits(const struct btf *btf);

static inline enum btf_kind info_kind(uint32_t info)
{
	return (enum btf_kind)(info >> 24 & 0x7f);
}

static inline uint32_t info_vlen(uint32_t info)
{
	return info & 0xffffff;
}

static inline uint32_t level_u32(const struct btf *btf, const uint8_t *from)
{
	return load_u32(from, btf->big_endian);
}

/* The level of a view that holds `id`; NULL when there is none. `id` is not 0. */
static inline const struct btf *level_of(const struct btf *btf, uint32_t id)
{
	while (id < btf->start_id)
		btf = btf->base;
	return id < btf->end_id ? btf : NULL;
}

/* The bytes of the record of an id of this very level. */
static inline const uint8_t *level_record(const struct btf *btf, uint32_t id)
{
	uint32_t offset = btf->offsets[id - btf->start_id];
	if (btf->arena)
		return btf->arena->chunks[offset / ARENA_CHUNK] + offset % ARENA_CHUNK;
	return btf->types + offset;
}

/* Name, info and size-or-type of a record, without decoding the rest. */
struct record {
	const struct btf *level;
	const uint8_t *bytes;
	enum btf_kind kind;
	uint32_t type; /* or size */
};
/* False for void and ids that do not exist. */
bool record_get(const struct btf *btf, uint32_t id, struct record *ret);

/* The string at an offset of the view; "" when there is none. */
const char *btf_string(const struct btf *btf, uint32_t offset);

/* The same where the level itself has it, as the names of its own records mostly are. */
static inline const char *level_string(const struct btf *btf, uint32_t offset)
{
	bool own = !btf->arena && offset >= btf->string_start &&
		   offset - btf->string_start < btf->string_size;
	return own ? btf->strings + (offset - btf->string_start) : btf_string(btf, offset);
}

bool kind_is_modifier(enum btf_kind kind);

/*
 * Names beyond the strings, ids beyond the types, integers that cannot be, members beyond the end
 * of their struct: each costs what it is in, the rest stays as good as ever. What begins to be read
 * at the wrong place is cut off. `types_size`: bytes of the records that are indexed.
 */
struct error *mend_records(struct btf *btf, uint32_t types_size) MUST_CHECK;

/* An empty level that continues `base`. NULL without memory. */
struct btf *level_create(const struct btf *base, const char *name);
void name_indexes_deinit(struct btf_lazy *lazy);

/* A level for derived types on top of `base`; NULL without memory. */
struct btf *scratch_create(const struct btf *base);
void arena_destroy(struct arena *arena);

#endif
