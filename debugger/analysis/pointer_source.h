/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a pointer in a register came from: back through the function's code, and through those that
 * passed it on, to the place in memory that it was read from, or to the outermost argument.
 */
#ifndef DEBUGGER_ANALYSIS_POINTER_SOURCE_H
#define DEBUGGER_ANALYSIS_POINTER_SOURCE_H

#include "btf/member_path.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/object_note.h"
#include "debugger/arguments/origin.h"
#include "debugger/disassembly/members.h"

/* A member that an instruction accesses, as far as the code says. */
struct named_member {
	char path[MEMBER_PATH_SIZE]; /* "ops"; "" not known */
	char type[128];		     /* "struct lab_device" */
	uint64_t offset;	     /* of the member in that, bytes */
};

/* False: the code does not say. */
bool named_member_find(const struct function_members *members, uint64_t at,
		       struct named_member *ret);

struct pointer_source {
	bool is_known;
	size_t frame;		    /* of the function that read it, or that was given it */
	struct origin origin;	    /* there */
	struct named_member member; /* of what it was read from */
	struct object_note note;    /* of where it was read from */
};

/* `reg`: in struct registers, in that frame. Errors are fatal ones only. */
struct error *pointer_source_find(const struct analysis *analysis, size_t frame, unsigned int reg,
				  struct pointer_source *ret) MUST_CHECK;
/* The same of the address that the frame called. */
struct error *pointer_source_find_target(const struct analysis *analysis, size_t frame,
					 struct pointer_source *ret) MUST_CHECK;

#endif
