/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Did you mean": the name nearest to one that does not exist. */
#ifndef DEBUGGER_DECLARE_NEAREST_H
#define DEBUGGER_DECLARE_NEAREST_H

#include "btf/btf.h"
#include "debugger/target/target.h"

struct nearest {
	char wanted[64];
	size_t length;
	unsigned int distance; /* of `best`; larger ones are not taken */
	char best[64];	       /* "": none near enough */
};

void nearest_init(struct nearest *nearest, const char *wanted, size_t length);
void nearest_offer(struct nearest *nearest, const char *candidate);
/* Offers the members of a struct or union, those of anonymous ones in it too. */
void nearest_offer_members(struct nearest *nearest, struct type type);
void nearest_offer_types(struct nearest *nearest, const struct btf *btf, enum btf_kind kind);
void nearest_offer_symbols(struct nearest *nearest, struct target *target);
/* `; did you mean "comm"?` or "". */
const char *nearest_hint(const struct nearest *nearest, char *buffer, size_t size);

#endif
