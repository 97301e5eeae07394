/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of pointers behind which code indexes numbers, as the instruction decoder's: what they
 * point at are arrays of these, all of one length where they have equal room.
 */
#ifndef DEBUGGER_INFER_NUMBER_TABLES_H
#define DEBUGGER_INFER_NUMBER_TABLES_H

#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/infer/solve/agree.h"

/*
 * `answer` is what `table` is so far: adds facts about what it points at, if it is such a table;
 * leaves out what is known already. `answers`: of each of `knowledge->subjects`; `types`: the
 * structs that siblings_find() took them for, 0: none.
 */
struct error *number_table_teach(struct knowledge *knowledge, const struct layout *layout,
				 const struct answer *answers, const uint32_t *types,
				 size_t table) MUST_CHECK;
/*
 * Afterwards, with new answers: as long as the longest of equal room. The last elements of the
 * others are zeros, which look like padding.
 */
void number_table_lengthen(const struct knowledge *knowledge, const struct layout *layout,
			   struct answer *answers, size_t table);

#endif
