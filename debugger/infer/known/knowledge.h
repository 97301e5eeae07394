/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of evidence share: layouts of the views of BTF, prototypes by address,
 * what the kernel's tables say, what is typed already.
 */
#ifndef DEBUGGER_INFER_KNOWN_KNOWLEDGE_H
#define DEBUGGER_INFER_KNOWN_KNOWLEDGE_H

#include "base/address_map.h"
#include "debugger/infer/known/habits.h"
#include "debugger/infer/known/name_uses.h"
#include "debugger/infer/known/typing.h"
#include "debugger/infer/layout/layout.h"
#include "debugger/kernel/slabs.h"
#include "debugger/target/target.h"

/* A clue about an address, from a table that was read once for all symbols. */
struct fact {
	uint64_t address;
	struct clue clue; /* its offset is 0: found by address */
	uint32_t number;  /* in the order they came */
};

#define PROTOTYPES_A_NAME 4

struct function_entry {
	uint64_t address;
	struct type prototype; /* { NULL, 0 }: no function begins here, or its type is not proved */
	/* Those of its name, the first few; none where many functions share one. */
	struct type likely[PROTOTYPES_A_NAME];
	uint8_t likely_count;
	bool is_function;
};

/* A global of known type; `count` 0: no array. */
struct typed {
	uint64_t address;
	const struct layout *layout;
	uint32_t type, count;
};

/* The resolved id of its type in a view; 0: the type is of another module. */
static inline uint32_t typed_in_view(const struct typed *typed, const struct layout *layout)
{
	return typed->layout == layout
		       ? typed->type
		       : layout_id(layout, (struct type){ typed->layout->btf, typed->type });
}

struct view {
	const struct btf *btf;
	struct layout *layout;
};

struct knowledge {
	struct target *target;
	struct view *views;
	size_t view_count, view_capacity;
	struct address_map functions; /* struct function_entry */
	struct address_map blocks;    /* habits.h */
	struct fact *facts;	      /* by address once `facts_sorted` */
	size_t fact_count, fact_capacity;
	bool tables_read, facts_sorted, is_prepared;
	/* struct typed. With the shipped table: of the question at hand only. */
	struct address_map typed;
	struct slabs *slabs;		 /* NULL: not asked for yet, or not there */
	bool no_slabs;			 /* the dump lacks what leads to them */
	struct families *families;	 /* NULL: nothing is learned yet */
	struct name_uses *name_uses;	 /* of the kernel's BTF; NULL: not prepared */
	struct habits habits;		 /* of all its functions; as name_uses */
	struct hints *hints;		 /* NULL: not to be used */
	const struct subjects *subjects; /* of the whole pass; NULL: not listed */
	/* What the kernel never writes, and in it what it writes while it boots. */
	uint64_t constants_start, constants_end, boot_start, boot_end;
	const struct rules *rules; /* NULL: all; borrowed */
	uint32_t hint_kernels;	   /* whose rows count */
	struct hint_types *hint_types;
	bool is_shared; /* a copy that a thread asks */
};

struct error *knowledge_create(struct target *target, struct knowledge **ret) MUST_CHECK;
void knowledge_destroy(struct knowledge *knowledge);
/*
 * Reads what is read once, on two processors; all facts are in order after it. Threads that ask
 * have a copy each (zeroed at first) that borrows all but what is remembered of functions and
 * slabs; to be made again when the original has changed, ended before it goes.
 */
struct error *knowledge_prepare(struct knowledge *knowledge) MUST_CHECK;
void knowledge_share(const struct knowledge *knowledge, struct knowledge *copy);
void knowledge_unshare(struct knowledge *copy);
/* Of the heap; *ret NULL: the dump lacks what leads to them. Owned by the knowledge. */
struct error *knowledge_slabs(struct knowledge *knowledge, struct slabs **ret) MUST_CHECK;
/* The layout of a module's BTF, NULL: the kernel's. */
struct error *knowledge_layout(struct knowledge *knowledge, const struct module *module,
			       const struct layout **ret) MUST_CHECK;
/*
 * The function that begins at an address. Its prototype is proved when the name is the only one in
 * BTF and among the symbols, or its code bears it out (callees.h): static functions of one name
 * share it with strangers.
 */
const struct function_entry *knowledge_function(struct knowledge *knowledge, uint64_t address);
/*
 * Is `type` (resolved) its prototype: exactly, or weakly one that its name has? `*ret_proved`: the
 * prototype is one of the view, and proved.
 */
enum likeness function_compare(const struct function_entry *function, const struct layout *layout,
			       uint32_t type, bool *ret_proved);
/* A global that is typed; the last word counts. */
struct error *knowledge_set_type(struct knowledge *knowledge, const struct typed *typed) MUST_CHECK;
void knowledge_forget_types(struct knowledge *knowledge);
/* Of the kernel: in .rodata. */
bool knowledge_is_constant(const struct knowledge *knowledge, uint64_t address);
/* NULL: not known. */
const struct typed *knowledge_type_at(const struct knowledge *knowledge, uint64_t address);
/* The resolved id of its type in a view; 0: not known, or of another module. */
static inline uint32_t knowledge_type_in(const struct knowledge *knowledge, uint64_t address,
					 const struct layout *layout)
{
	const struct typed *typed = knowledge_type_at(knowledge, address);
	return typed ? typed_in_view(typed, layout) : 0;
}

struct error *knowledge_add_fact(struct knowledge *knowledge, uint64_t address,
				 const struct clue *clue) MUST_CHECK;

/* The next fact about the range that came after the first `known` ones; `*cursor` starts as 0. */
const struct fact *knowledge_news(struct knowledge *knowledge, uint64_t address, uint64_t size,
				  size_t known, size_t *cursor);
/* The first fact at or above an address; facts are in order of addresses. */
size_t knowledge_first_fact(struct knowledge *knowledge, uint64_t address);

/* --- sources: each adds what it knows of the subject ------------------------------------ */

#define PLACES_MAX 3

struct question {
	struct knowledge *knowledge;
	const struct subject *subject;
	const struct symbol *symbol;
	const struct layout *layout;
	const uint8_t *bytes; /* of the symbol, as many as could be read */
	uint32_t size;
	const struct clues *code; /* what all code says, borrowed; NULL: it is read for this one */
	uint32_t counted;	  /* elements that it has, as a clue says; 0: none does */
	bool is_constant;	  /* in read-only data */
	bool has_literals;	  /* strings without a symbol may follow it */
	bool among_constants;	  /* and not among what is written at boot only */
	bool is_zero;		  /* all of the bytes are */
	/* What the name says; names_prepare() fills it. */
	uint32_t namesake;	/* the struct called as the symbol, or a pointer to it; 0: none */
	bool says_many;		/* the name is a plural, or calls it a table */
	uint64_t suffix_hashes; /* bit N: the hash of one of the name's ends begins with N */
	struct name_use uses[NAME_USES_MAX]; /* the likeliest first */
	uint32_t use_count;
	/* Where code uses it; what integers are used there, once that is asked. */
	uint64_t places[PLACES_MAX];
	uint32_t place_count;
	bool has_habits;
	struct habits habits;
	struct fit
		*fit; /* the bytes, looked at once for all candidates, borrowed; NULL: for each */
};

typedef struct error *source_collect(const struct question *question, struct clues *clues);

/* tables.c: reads them, once. */
struct error *tables_read(struct knowledge *knowledge) MUST_CHECK;

source_collect code_collect, tables_collect, btf_ids_collect, own_data_collect, slab_collect,
	names_collect;

/* --- own_data.c ------------------------------------------------------------------------ */
#define OWN_DATA_MOST 10
/* What the symbol's bytes say of `count` (0: one) of `type`, in points, at most OWN_DATA_MOST.
 * `context`: a question. */
int own_data_judge(void *context, uint32_t type, uint32_t count, const char **ret_why);
/* The length of the text that the bytes begin with, up to its NUL; 0: no text. */
uint32_t own_data_string(const struct question *question);
/* The same if there is nothing but zeros behind it, else 0. */
uint32_t own_data_text(const struct question *question);
/* --- own_data_refine.c: see solver_input.refine --------------------------------------------- */
struct solver;
struct error *own_data_refine(void *context, struct solver *solver) MUST_CHECK;
/* --- names.c: 0 to NAMES_MOST points ------------------------------------------------------- */
#define NAMES_MOST 8
/* The struct that most members of that name are, or point at; 0: none. */
uint32_t names_used_struct(const struct question *question);
int names_judge(void *context, uint32_t type, uint32_t count);
/*
 * As layout_shown(); of the typedefs of one unnamed struct (guid_t and uuid_t, which BTF has as
 * one) the one that the symbol is called by.
 */
uint32_t names_shown(const struct question *question, uint32_t type);
/* Types that go with a name, by other variables' and by members' names; returns how many. */
#define NAMES_KIN_MAX 40
struct name_word;
struct kinship;
size_t names_kin(const struct question *question, const struct name_word *words, size_t count,
		 struct kinship *ret);
struct error *names_prepare(struct question *question) MUST_CHECK;

#endif
