// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/object_name.h"

#include "btf/member_path.h"
#include "debugger/analysis/object_owner.h"
#include "debugger/analysis/variable_search.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	   (SYMBOL_NAME_SIZE + 256)
#define PLACES_MAX 8

/* What is asked about, and the variable that it is found by. */
struct question {
	struct target *target;
	uint64_t address;
	struct type wanted;
	struct symbol symbol;
	struct type type; /* of the variable; { NULL, 0 }: not known */
	enum confidence sure;
};

static struct error *ask_type(struct question *question)
{
	enum type_origin origin;
	/* To infer a type takes more memory than all the rest, which is wanted there for the dump.
	 */
	if (question->target->facts && question->target->facts->is_capture) {
		question->type = (struct type){ NULL, 0 };
		return NULL;
	}
	TRY(symbol_type(question->target, &question->symbol, &question->type, &origin));
	question->sure = origin_confidence(origin);
	/* A guess is no name. */
	if (question->sure < CONFIDENCE_INFERRED)
		question->type = (struct type){ NULL, 0 };
	return NULL;
}

/* "0x... is *dev.queue [drv], by the inferred type of dev": that in two parts. */
static bool put_way(const struct question *question, const char *first, const char *second,
		    struct strbuf *ret)
{
	strbuf_format(ret, "0x%" PRIx64 " is %s%s", question->address, first, second);
	if (question->symbol.module)
		strbuf_format(ret, " [%s]", question->symbol.module);
	if (question->sure < CONFIDENCE_CERTAIN)
		strbuf_format(ret, ", by the %s type of %s", confidence_name(question->sure),
			      question->symbol.name);
	return true;
}

/* `way`: what C writes up to the member, "dev->". */
static bool put_member(const struct question *question, struct type outer, uint64_t offset,
		       const char *way, struct strbuf *ret)
{
	struct member_place place;
	if (!member_is_at(outer, offset, question->wanted))
		return false;
	member_path_whole_at(outer, offset, &place);
	if (!*place.path || place.start != offset)
		return false;
	return put_way(question, way, place.path, ret);
}

/* Through the pointer at `place`, which is the variable or a member of it. */
static bool put_pointed(const struct question *question, uint64_t offset, uint64_t place,
			struct strbuf *ret)
{
	struct type pointer = question->type, pointee;
	struct member_place member = { .path = "" };
	char way[WORDS + MEMBER_PATH_SIZE + 4];
	uint64_t value, size;
	struct error *error = memory_read_word(question->target->memory, place, &value);
	error_free(error);
	if (error || value > question->address)
		return false;
	if (offset || !type_is_pointer(type_resolve(pointer))) {
		member_path_at(question->type, offset, &member);
		pointer = member.type;
		if (member.start != offset || member.in_union || member.is_padding)
			return false;
	}
	if (!type_is_pointer(type_resolve(pointer)) ||
	    !type_target(type_resolve(pointer), &pointee) || !type_size(pointee, &size) ||
	    question->address - value >= size)
		return false;
	snprintf(way, sizeof(way), "%s%s%s", question->symbol.name,
		 *member.path && *member.path != '[' ? "." : "", member.path);
	if (value == question->address &&
	    type_equal(type_resolve(pointee), type_resolve(question->wanted)))
		return put_way(question, "*", way, ret);
	strcat(way, "->");
	return put_member(question, pointee, question->address - value, way, ret);
}

/* By the first of the pointers of modules whose type has such a member there. */
static struct error *put_by_pointers(struct question *question, const struct object_note *note,
				     struct strbuf *ret)
{
	uint64_t places[PLACES_MAX], offset;
	size_t found;
	TRY(variables_find_pointers(question->target, VARIABLES_OF_MODULES, note->object,
				    note->size, places, PLACES_MAX, &found));
	for (size_t i = 0; i < found; i++) {
		if (!target_symbol_at(question->target, places[i], &question->symbol, &offset))
			continue;
		TRY(ask_type(question));
		if (question->type.btf && put_pointed(question, offset, places[i], ret))
			return NULL;
	}
	return NULL;
}

static struct error *put_owner(struct question *question, struct strbuf *ret)
{
	struct object_note note;
	struct object_owner owner;
	char what[64], words[WORDS];
	TRY(object_note_find(question->target, question->address, &note));
	TRY(object_owner_of(question->target, &note, &owner));
	if (owner.place && owner.is_pointed_at && !owner.pointers)
		TRY(put_by_pointers(question, &note, ret));
	if (ret->size)
		return NULL;
	snprintf(what, sizeof(what), "the object that 0x%" PRIx64 " lies in", question->address);
	object_owner_spell(&owner, what, words, sizeof(words));
	strbuf_put(ret, words);
	return NULL;
}

static struct error *put_part(struct question *question, uint64_t offset, struct strbuf *ret)
{
	char way[WORDS];
	/* At its start it is said to be the variable. */
	if (!offset)
		return NULL;
	TRY(ask_type(question));
	snprintf(way, sizeof(way), "%s.", question->symbol.name);
	if (question->type.btf)
		put_member(question, question->type, offset, way, ret);
	return NULL;
}

static const char names_key;

struct error *object_names_allow(struct target *target, uint32_t count)
{
	uint32_t *left = target_attached(target, &names_key);
	if (!left) {
		left = malloc(sizeof(*left));
		if (!left)
			return error_no_memory();
		TRY(target_attach(target, &names_key, left, free));
	}
	*left = count;
	return NULL;
}

struct error *object_name_put(struct target *target, uint64_t address, const char *type,
			      struct strbuf *ret)
{
	struct question question = { .target = target, .address = address };
	struct object object;
	uint64_t offset;
	uint32_t *left = target_attached(target, &names_key);
	if (!left || !*left)
		return NULL;
	struct error *error = object_at(target, type, address, &object);
	if (error)
		return error_only_fatal(error);
	question.wanted = object.type;
	if (target_symbol_at(target, address, &question.symbol, &offset))
		return put_part(&question, offset, ret);
	--*left;
	return put_owner(&question, ret);
}
