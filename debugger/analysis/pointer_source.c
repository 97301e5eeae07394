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

/*
 * The caller called this very function, and not one that jumped on to it with registers of its own.
 */
static struct error *is_called_by(const struct analysis *analysis, size_t frame, bool *ret)
{
	const struct frame *frames = analysis->trace.frames;
	uint64_t called;
	bool is_pointer;
	struct error *error = origin_find_called(analysis->target, &analysis->task,
						 &frames[frame + 1], &called, &is_pointer);
	*ret = !error && frames[frame].has_symbol && called == frames[frame].symbol.address;
	return error_only_fatal(error);
}

/* On through the functions that passed the value on, from what is known of it in the first. */
static struct error *follow(const struct analysis *analysis, struct pointer_source *ret)
{
	int64_t added = ret->origin.offset;
	for (size_t i = 0; i < FRAMES_MAX && ret->origin.is_entry; i++) {
		struct origin origin;
		bool is_called = was_called(&analysis->trace, ret->frame);
		if (is_called)
			TRY(is_called_by(analysis, ret->frame, &is_called));
		if (!is_called)
			break;
		struct error *error = origin_find(analysis->target, &analysis->task,
						  &analysis->trace.frames[ret->frame + 1],
						  ret->origin.entry, &origin);
		if (error)
			return error_only_fatal(error);
		added += origin.offset;
		origin.offset = added;
		ret->origin = origin;
		ret->frame++;
	}
	return NULL;
}

/* What the place is that it was read from. */
static struct error *describe(const struct analysis *analysis, struct pointer_source *ret)
{
	struct function_members members = { 0 };
	TRY(follow(analysis, ret));
	if (!ret->origin.is_loaded)
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

struct error *pointer_source_find(const struct analysis *analysis, size_t frame, unsigned int reg,
				  struct pointer_source *ret)
{
	*ret = (struct pointer_source){ .frame = frame };
	struct error *error = origin_find(analysis->target, &analysis->task,
					  &analysis->trace.frames[frame], reg, &ret->origin);
	ret->is_known = !error;
	return error ? error_only_fatal(error) : describe(analysis, ret);
}

struct error *pointer_source_find_target(const struct analysis *analysis, size_t frame,
					 struct pointer_source *ret)
{
	*ret = (struct pointer_source){ .frame = frame };
	struct error *error = origin_find_target(analysis->target, &analysis->task,
						 &analysis->trace.frames[frame], &ret->origin);
	ret->is_known = !error;
	return error ? error_only_fatal(error) : describe(analysis, ret);
}
