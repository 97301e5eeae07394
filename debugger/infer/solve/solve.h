/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From clues to a type. Theory: a clue is a constraint ("at offset 8 lies a mutex"), so the
 * candidates are the types that the clues name, the types that hold those at that offset, and
 * arrays of either, as far as they fit the room. Each is checked against every clue and against the
 * bytes in the dump; what contradicts takes points away, what matches gives some, and a type that
 * needs more faith (a container nobody named, an unexplained gap before the next symbol) starts
 * lower. The best one gets a tier by what stands for it, what against it, and how far the next is.
 */
#ifndef DEBUGGER_INFER_SOLVE_SOLVE_H
#define DEBUGGER_INFER_SOLVE_SOLVE_H

#include "debugger/infer/known/typing.h"
#include "debugger/infer/layout/layout.h"
#include "debugger/infer/solve/rules.h"

enum subject_place { PLACE_DATA, PLACE_BSS, PLACE_RODATA };

#define NOT_OFFERED INT16_MIN
#define NOWHERE	    1

/* One that was considered: `count` elements of `type`, 0: no array. */
struct scored {
	uint32_t type, count;
	int16_t prior;	 /* what it takes to believe it without clues: 0 or less */
	int16_t offered; /* the prior that the clue at hand offers, NOT_OFFERED */
	int16_t score;	 /* all together */
	int16_t matched; /* points of clues that match exactly; names do not count */
	int16_t typed;	 /* of those, points of clues that name a type */
	int16_t against; /* points of clues that contradict */
	int16_t data;	 /* what its bytes say */
	int16_t gap;	 /* what the gap behind it says */
	uint16_t times_for, times_against; /* clues that match, and contradict */
	uint8_t sources;		   /* bit N: matched by clues of enum clue_source N */
	bool is_direct;			   /* a clue names it itself */
	bool is_proved;			   /* its count: a stride, or a table */
	bool is_counted;		   /* an object that points at it says how many there are */
	bool is_fact;			   /* a table of the kernel says so */
	bool is_exact;			   /* and of an integer whether it has a sign */
	bool is_judged;			   /* its bytes and its name, not only the clues */
	bool is_refined; /* chosen or passed over by how well it explains the bytes */
	const char *rejected;
	uint64_t rejected_by; /* the clue's `where`, NOWHERE */
};

/* What layout_match() said; type 0: empty. */
struct match_answer {
	uint32_t type, offset, wanted;
	enum likeness likeness;
};
#define MATCHES_CACHE 16384 /* a power of two */

struct solver;

struct solver_input {
	const struct subject *subject;
	const struct clues *clues;
	enum subject_place place;
	bool is_constant;     /* in .rodata, whatever kallsyms calls it */
	bool among_constants; /* and not among what is written at boot only */
	uint64_t in_use;      /* bytes up to the last that is not 0, as far as they are known */
	/*
	 * What the symbol's bytes say of a candidate, in points; below 0: against. NULL: not known.
	 * `*ret_why` is set where it is against.
	 */
	int (*judge)(void *context, uint32_t type, uint32_t count, const char **ret_why);
	/* The struct that most members of that name are, or point at, 0: none. */
	uint32_t used;
	bool says_many; /* the name is that of several */
	/* What the name says, 0 to 6. */
	int (*judge_name)(void *context, uint32_t type, uint32_t count);
	/*
	 * What these two give at most together: then candidates that clues put too far behind are
	 * not judged, and lie behind the others in no order. 0: all are.
	 */
	int judge_most;
	/* For solver_refine(): adds candidates by solver_consider() and changes scores by how well
	 * they explain the bytes. NULL: not wanted. */
	struct error *(*refine)(void *context, struct solver *solver);
	void *context;
	const struct rules *rules; /* NULL: all */
};

/* The question that added a type as a candidate, and where. */
struct solver_mark {
	uint32_t stamp, index;
};

/* Working storage; one a thread. */
struct solver {
	const struct layout *layout;
	struct scored *items; /* best first, after solve() */
	size_t count, capacity;
	struct solver_mark *marks; /* by type id */
	uint32_t mark_count, stamp;
	struct wish *wishes; /* the clues, resolved and counted */
	size_t wish_count, wish_capacity;
	struct match_answer *matches; /* MATCHES_CACHE of them: other symbols ask the same */
	uint32_t visits;
	const struct solver_input *input;
	struct scored settled; /* the best before refining; type 0: there was none */
	int settled_margin;
	bool out_of_memory;
};

static inline int16_t points_of(const struct solver *solver, enum rule which)
{
	return (int16_t)rule(solver->input->rules, which);
}

struct error *solver_init(struct solver *solver, const struct layout *layout) MUST_CHECK;
/* From now on for another layout. */
struct error *solver_use(struct solver *solver, const struct layout *layout) MUST_CHECK;
void solver_deinit(struct solver *solver);
/* Fills solver->items. */
struct error *solve(struct solver *solver, const struct solver_input *input) MUST_CHECK;
/* After solve(), where that does not suffice: the input's `refine`. Takes time. */
struct error *solver_refine(struct solver *solver) MUST_CHECK;
/* Judges the candidates, too, that could not be the best, and puts all in order. */
void solver_judge_all(struct solver *solver);
/* For `refine`: a candidate, added and checked if it is not there. NULL: does not fit. */
struct scored *solver_consider(struct solver *solver, uint32_t type, uint32_t count);
/* The tier of the best item. */
enum confidence solver_confidence(const struct solver *solver);
/*
 * Are the elements of the best item there only because there is room, where what is in use behind
 * the first one may as well be the rest of a larger struct?
 */
bool solver_is_outgrown(const struct solver *solver);
/* Points by which the best is ahead of the next that is no twin of it. */
int solver_margin(const struct solver *solver);

/* Of a candidate, what is shown: the type by its name, the array. Makes types in the BTF's scratch
 * level: one thread only. */
struct error *scored_type(const struct layout *layout, const struct scored *item,
			  struct type *ret) MUST_CHECK;

/* --- solve_candidates.c ---------------------------------------------------------------------- */

/* All that the wishes lead to; what the room alone allows where that is nothing. */
void solver_grow(struct solver *solver);
/* Those of one wish. */
void solver_grow_seed(struct solver *solver, const struct wish *seed);
/* The candidate; NULL: it is none. */
struct scored *solver_find(struct solver *solver, uint32_t type, uint32_t count);
/* Unless it is there or cannot be. */
void solver_add(struct solver *solver, struct scored item);
/* Points that an array of a type begins with. */
int solver_array_prior(const struct solver *solver, uint32_t type);

/* --- solve_check.c: a candidate against the clues ------------------------------------------ */

/* A clue in the view's ids. */
struct wish {
	enum clue_kind kind;
	enum clue_source source;
	uint32_t offset, size;
	uint32_t count; /* of these, 0: not known */
	uint32_t type;	/* resolved, 0: none */
	int16_t weight;
	uint16_t times;
	bool shows_sign; /* as the clue's */
	uint64_t where;
};

/* Is `pointer`, resolved, one to what a struct cpumask of more than a word consists of? */
bool solver_is_cpumask_bits(const struct layout *layout, uint32_t pointer);
/* The clues of the input as wishes; drops what cannot be meant. False: no memory. */
bool solver_read_clues(struct solver *solver);
/* Fills the points of an item: those of clues, those of its bytes and its name, both. */
void solver_check_clues(struct solver *solver, struct scored *item);
void solver_judge(struct solver *solver, struct scored *item);
void solver_check(struct solver *solver, struct scored *item);
/* Judging it can still make it one that is not rejected. */
bool solver_may_stand(const struct scored *item);

#endif
