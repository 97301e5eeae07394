/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a word of a symbol's bytes is, whatever type it is taken for. */
#ifndef DEBUGGER_INFER_EVIDENCE_WORDS_H
#define DEBUGGER_INFER_EVIDENCE_WORDS_H

#include "debugger/infer/known/knowledge.h"

/* The kernel and its modules lie above, the heap below. */
#define IMAGE_START 0xffffffff80000000

/* An integer of up to 8 bytes; 0 where the bytes are not at hand. */
uint64_t word_load(const struct question *question, uint32_t offset, uint32_t size);
/* LIST_POISON1 and its like, and error numbers: a pointer may hold them. */
static inline bool is_poison(uint64_t value)
{
	return value >> 48 == 0xdead || value >= (uint64_t)-4096;
}

/* A list_head: all zero (not set up) or poisoned (removed), or linked back from both neighbours. */
enum list_head_state { LIST_HEAD_NOT, LIST_HEAD_EMPTY, LIST_HEAD_LINKED };
enum list_head_state word_list_head(const struct question *question, uint32_t offset);
/* Text lies at an address. On the heap, anything may begin with a few letters. */
bool word_is_text(const struct question *question, uint64_t address);

#endif
