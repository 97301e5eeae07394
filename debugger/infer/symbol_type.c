// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/symbol_type.h"

#include "debugger/declare/declare.h"
#include "debugger/infer/known/declared_length.h"
#include "debugger/target/object.h"

static bool is_array(struct type type)
{
	struct btf_type record;
	return type.btf && type_get_resolved(type, &record) && record.kind == BTF_ARRAY;
}

/* An array that has no room for an element more: nothing else may say that it is so long. */
static bool fills_room(struct type type, uint64_t room)
{
	struct type element;
	uint64_t size, step;
	return room && is_array(type) && type_target(type, &element) && type_size(element, &step) &&
	       type_size(type, &size) && size <= room && room - size < step;
}

const char *verdict_length_remark(struct type type, uint64_t room)
{
	return fills_room(type, room) ? "at most so long" : "length not proved";
}

bool verdict_is_same_type(struct type a, struct type b)
{
	struct type first, second;
	if (is_array(a) && is_array(b) && type_target(a, &first) && type_target(b, &second)) {
		a = first;
		b = second;
	}
	return type_equal(type_resolve(a), type_resolve(b));
}

static struct error *find_declared(struct target *target, const struct symbol *symbol,
				   struct statement *ret)
{
	struct statement found = { .origin = ORIGIN_NONE };
	TRY(declared_symbol_type(target, symbol, &found.type, &found.origin));
	bool is_proved = found.origin == ORIGIN_KERNEL || found.origin == ORIGIN_MODULE ||
			 found.origin == ORIGIN_FILE;
	found.at_most = !is_proved && fills_room(found.type, symbol->size);
	/* The list says "[]" of these; the enumerator does not prove that this kernel has it so. */
	if (found.at_most && found.origin == ORIGIN_DECLARED)
		TRY(declared_length_shorten(target->btf, symbol, &found.type));
	*ret = found;
	return NULL;
}

static struct verdict verdict_of(const struct statement *declared, const struct statement *inferred,
				 bool undeclared)
{
	bool is_declared = declared->origin != ORIGIN_NONE &&
			   !(undeclared && declared->origin == ORIGIN_DECLARED);
	const struct statement *counts = is_declared ? declared : inferred;
	return (struct verdict){ counts->type, counts->origin, counts->at_most, *declared,
				 *inferred };
}

struct error *verdict_of_typing(struct target *target, const struct symbol *symbol,
				const struct typing *typing, bool undeclared, struct verdict *ret)
{
	struct statement declared,
		inferred = { typing->type, typing->origin,
			     is_array(typing->type) && !typing->count_is_proved &&
				     !symbol->size_exact };
	TRY(find_declared(target, symbol, &declared));
	*ret = verdict_of(&declared, &inferred, undeclared);
	return NULL;
}

size_t verdict_alternatives(struct target *target, const struct symbol *symbol, struct type type,
			    struct type *ret, size_t most)
{
	struct typing typing;
	size_t kept = 0;
	struct error *error = infer_candidates(target, symbol, &typing);
	if (error) {
		error_free(error);
		return 0;
	}
	for (size_t i = 0; i < typing.candidate_count && kept < most; i++) {
		const struct candidate *candidate = &typing.candidates[i];
		if (!candidate->rejected && !type_equal(candidate->type, type))
			ret[kept++] = candidate->type;
	}
	typing_deinit(&typing);
	return kept;
}

struct error *symbol_verdict(struct target *target, const struct symbol *symbol,
			     struct verdict *ret)
{
	static const struct statement nothing = { .origin = ORIGIN_NONE };
	struct typing typing;
	struct statement declared;
	TRY(find_declared(target, symbol, &declared));
	*ret = verdict_of(&declared, &nothing, false);
	if (declared.origin != ORIGIN_NONE || !target->btf || !target->memory || !target->arch)
		return NULL;
	struct error *error = infer_symbol(target, NULL, symbol, false, &typing);
	/* Without its type, a variable is still shown as bytes. */
	if (error)
		return error_only_fatal(error);
	error = verdict_of_typing(target, symbol, &typing, false, ret);
	typing_deinit(&typing);
	return error;
}

struct error *symbol_type(struct target *target, const struct symbol *symbol, struct type *ret_type,
			  enum type_origin *ret_origin)
{
	struct verdict verdict;
	TRY(symbol_verdict(target, symbol, &verdict));
	*ret_type = verdict.type;
	*ret_origin = verdict.origin;
	return NULL;
}

enum confidence origin_confidence(enum type_origin origin)
{
	switch (origin) {
	case ORIGIN_NONE:
		return CONFIDENCE_UNKNOWN;
	case ORIGIN_GUESSED:
		return CONFIDENCE_GUESS;
	case ORIGIN_INFERRED:
	case ORIGIN_DECLARED:
		return CONFIDENCE_INFERRED;
	default:
		return CONFIDENCE_CERTAIN;
	}
}

enum type_origin confidence_origin(enum confidence confidence)
{
	static const enum type_origin origins[] = {
		[CONFIDENCE_UNKNOWN] = ORIGIN_NONE,
		[CONFIDENCE_GUESS] = ORIGIN_GUESSED,
		[CONFIDENCE_INFERRED] = ORIGIN_INFERRED,
		[CONFIDENCE_CERTAIN] = ORIGIN_CERTAIN,
	};
	return origins[confidence];
}

const char *origin_remark(enum type_origin origin)
{
	bool is_plain = origin == ORIGIN_NONE || origin == ORIGIN_KERNEL ||
			origin == ORIGIN_MODULE || origin == ORIGIN_CERTAIN ||
			origin == ORIGIN_CAST;
	return is_plain ? NULL : type_origin_name(origin);
}

const char *origin_data_name(enum type_origin origin)
{
	bool is_inferred = origin == ORIGIN_CERTAIN || origin == ORIGIN_GUESSED;
	return type_origin_name(is_inferred ? ORIGIN_INFERRED : origin);
}

const char *origin_confidence_name(enum type_origin origin)
{
	return origin == ORIGIN_CAST ? NULL : confidence_name(origin_confidence(origin));
}
