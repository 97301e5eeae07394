// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/pointer_source.h"

#include <stdio.h>

#define FRAMES_MAX 8 /* that pass a pointer on are followed */

bool named_member_find(const struct function_members *members, uint64_t at,
		       struct named_member *ret)
{
	const struct member_access *access = function_members_at(members, at);
	struct member_place place;
	*ret = (struct named_member){ .path = "" };
	if (!access || access->is_address)
		return false;
	member_path_at(access->type, access->offset, &place);
	if (place.is_padding || !*place.path)
		return false;
	snprintf(ret->path, sizeof(ret->path), "%s", place.path);
	type_spell(type_unqualified(access->type), "", ret->type, sizeof(ret->type));
	ret->offset = access->offset;
	return true;
}

/* The caller's frame, where what this one was entered with can be looked for; false: there is none.
 */
static bool was_called(const struct stack_trace *trace, size_t frame)
{
	if (frame + 1 >= trace->count)
		return false;
	const struct frame *caller = &trace->frames[frame + 1];
	return !caller->pc_is_exact && !caller->is_unproved && caller->kind != FRAME_USER &&
	       caller->kind != FRAME_SCAN && caller->kind != FRAME_POINTER;
}

static struct error *follow(const struct analysis *analysis, size_t frame, unsigned int reg,
			    struct pointer_source *ret)
{
	int64_t added = 0;
	for (size_t i = frame; i < frame + FRAMES_MAX; i++) {
		struct origin origin;
		struct error *error = origin_find(analysis->target, &analysis->task,
						  &analysis->trace.frames[i], reg, &origin);
		if (error)
			return error_only_fatal(error);
		added += origin.offset;
		origin.offset = added;
		ret->is_known = true;
		ret->frame = i;
		ret->origin = origin;
		if (!origin.is_entry || !was_called(&analysis->trace, i))
			return NULL;
		reg = origin.entry;
	}
	return NULL;
}

struct error *pointer_source_find(const struct analysis *analysis, size_t frame, unsigned int reg,
				  struct pointer_source *ret)
{
	struct function_members members = { 0 };
	*ret = (struct pointer_source){ 0 };
	TRY(follow(analysis, frame, reg, ret));
	if (!ret->is_known || !ret->origin.is_loaded)
		return NULL;
	struct error *error = function_members_find(
		analysis->target, &analysis->trace.frames[ret->frame].symbol, &members);
	if (!error)
		named_member_find(&members, ret->origin.at, &ret->member);
	function_members_deinit(&members);
	TRY(error_only_fatal(error));
	if (!ret->origin.has_place)
		return NULL;
	return object_note_find(analysis->target, ret->origin.place, &ret->note);
}
