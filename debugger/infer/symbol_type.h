/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The type of a symbol, whoever knows it: the one question that everybody asks. */
#ifndef DEBUGGER_INFER_SYMBOL_TYPE_H
#define DEBUGGER_INFER_SYMBOL_TYPE_H

#include "debugger/infer/infer.h"

/* What one side says. */
struct statement {
	struct type type; /* { NULL, 0 }: nothing, ORIGIN_NONE */
	enum type_origin origin;
	bool at_most; /* an array whose length nothing proves */
};

struct verdict {
	struct type type; /* { NULL, 0 }: nobody says */
	enum type_origin origin;
	bool at_most;
	/* What it was made of. Inference is not asked about what is declared, but by infer_all()
	 * and infer_symbol(). */
	struct statement declared, inferred;
};

/*
 * What the user declares, BTF says, or the program's own list does; of all others what inference
 * finds. Those of the list are the variables that nearly every question is about: they are not
 * inferred, so that their answers come at once.
 */
struct error *symbol_verdict(struct target *target, const struct symbol *symbol,
			     struct verdict *ret) MUST_CHECK;
/* The same with what inference said of the symbol; `undeclared`: without the program's list. */
struct error *verdict_of_typing(struct target *target, const struct symbol *symbol,
				const struct typing *typing, bool undeclared,
				struct verdict *ret) MUST_CHECK;
/*
 * What else a symbol may be whose type is a guess: the candidates that nothing contradicts, best
 * first, at most `most`. Returns how many.
 */
size_t verdict_alternatives(struct target *target, const struct symbol *symbol, struct type type,
			    struct type *ret, size_t most);
/* Says so of an array whose length nothing proves, `room` bytes before the next symbol. */
const char *verdict_length_remark(struct type type, uint64_t room);
/* Equal but for the length of an array. */
bool verdict_is_same_type(struct type a, struct type b);
/* symbol_verdict() for those who need no more of it. */
struct error *symbol_type(struct target *target, const struct symbol *symbol, struct type *ret_type,
			  enum type_origin *ret_origin) MUST_CHECK;
/*
 * How sure a type of that origin is. The program's own list of declarations is one source of two,
 * as the shipped table is; what the user says is not doubted.
 */
enum confidence origin_confidence(enum type_origin origin);
/* The origin of a type that inference found. */
enum type_origin confidence_origin(enum confidence confidence);
/*
 * For people, in a comment behind the type: "declared", "inferred", "guess"...; NULL where there is
 * nothing to say: BTF, certain, an expression.
 */
const char *origin_remark(enum type_origin origin);
/* "origin" and "confidence" of JSON. No confidence (NULL) for casts, which are the user's. */
const char *origin_data_name(enum type_origin origin);
const char *origin_confidence_name(enum type_origin origin);

#endif
