/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spreading types along pointers: an object of known type whose typed pointer hits a global says
 * what lies there. Objects on the heap that are reached on the way are followed too, as mdb's
 * ::typegraph does.
 */
#ifndef DEBUGGER_INFER_EVIDENCE_POINTERS_H
#define DEBUGGER_INFER_EVIDENCE_POINTERS_H

#include "debugger/infer/known/knowledge.h"
#include "debugger/target/object.h"

struct pointer_walk;

/* `first` to `last`: where the globals are that are asked about. */
struct error *pointer_walk_create(struct knowledge *knowledge,
				  struct pointer_walk **ret) MUST_CHECK;
void pointer_walk_destroy(struct pointer_walk *walk);
/* An object to start from; `count` 0: one. `type` is resolved, of the kernel's layout or a view. */
struct error *pointer_walk_add(struct pointer_walk *walk, const struct layout *layout,
			       uint64_t address, uint32_t type, uint32_t count) MUST_CHECK;
/* Follows all there is to follow; new facts go to the knowledge. `*ret_new`: how many. */
struct error *pointer_walk_run(struct pointer_walk *walk, size_t *ret_new) MUST_CHECK;

#endif
