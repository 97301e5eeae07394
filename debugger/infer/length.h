// SPDX-License-Identifier: GPL-3.0-or-later
/* How long an array is, of which only the room up to the next symbol is known. */
#ifndef BTFCRASH_DEBUGGER_INFER_LENGTH_H
#define BTFCRASH_DEBUGGER_INFER_LENGTH_H

#include "debugger/infer/knowledge.h"

/*
 * Elements that the symbol has, of `type` (an id of question->layout), when the room would hold
 * `most` of them: those in use, with the empty one that ends lists of pointers and text, as far as
 * alignment explains the rest of the room. Never more than `most`. An estimate: nothing proves it.
 */
uint32_t length_of_array(const struct question *question, uint32_t type, uint32_t most);

/* Lists of that type end with an empty element, and it is seldom seen alone: sysfs walks them so.
 */
bool ends_with_empty(const struct layout *layout, uint32_t type);

#endif
