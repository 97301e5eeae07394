/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked about, how it is asked, and the answer. */
#ifndef DEBUGGER_INFER_KNOWN_TYPING_H
#define DEBUGGER_INFER_KNOWN_TYPING_H

#include "base/progress.h"
#include "debugger/infer/flow/clue.h"

struct rules;

enum confidence {
	CONFIDENCE_UNKNOWN,
	CONFIDENCE_GUESS,    /* shown with its alternatives */
	CONFIDENCE_INFERRED, /* strong constraints, no contradiction, a margin over the runner-up */
	CONFIDENCE_CERTAIN   /* BTF, a kernel table's fact, or two independent sources that agree */
};
/* "unknown", "guess", "inferred", "certain". */
const char *confidence_name(enum confidence confidence);

/* A data symbol and the room it has. */
struct subject {
	uint64_t address;      /* of a per-CPU variable: of the copy that stands for it */
	uint64_t per_cpu_base; /* what that is beyond the symbol's address; 0: it is not per-CPU */
	uint64_t room;	       /* bytes to the next symbol of another address, or its exact size */
	bool room_is_exact;
	uint32_t symbol;	     /* number in target->symbols */
	const struct module *module; /* NULL: the kernel */
};

struct candidate {
	struct type type;
	int score;
	const char *rejected; /* static text, why; NULL: it stands */
	uint64_t rejected_by; /* clue's `where` */
};

/* A row of the shipped table: what the variable's name is in other kernels. */
struct listed_row {
	char type[512];	  /* an array with the length that they have */
	char kernels[64]; /* "5.10, 6.1" */
	const char *said; /* static text: what became of it */
	uint64_t said_by; /* where that was seen; below 2: nowhere */
};

struct typing {
	enum confidence confidence;
	enum type_origin origin;
	struct type type;     /* { NULL, 0 }: unknown */
	bool count_is_proved; /* of an array: else "at most" */
	int score, margin;    /* points of the best candidate, and to the next */
	unsigned int sources; /* bit N: enum clue_source N speaks for it */
	/*
	 * NULL unless asked for. What is answered comes first, with the points of what the
	 * candidates found for it, then the others, best first.
	 */
	struct candidate *candidates;
	size_t candidate_count;
	struct listed_row *rows; /* NULL unless asked for */
	size_t row_count;
	struct clues clues; /* empty unless asked for */
};
void typing_deinit(struct typing *typing);

/* NULL: none. */
struct infer_options {
	bool no_hints; /* without the shipped table */
	bool no_cache; /* neither read nor written; the same two in target are for all questions */
	const char
		*without; /* a kernel's series or release: its own rows do not count; for scores */
	const struct rules *rules; /* those that hold, for scores; NULL: all. Borrowed. */
	unsigned int threads;	   /* of the whole pass, 0: as many as processors */
	struct progress *progress; /* is told how far the whole pass is; NULL */
};

#endif
