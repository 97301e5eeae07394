// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From C types as written to BTF types. Suggestions for misspelled names cost a walk over all
 * types: they are made only for what the user typed (ctype_resolve_anywhere()).
 */
#include "debugger/declare/ctype.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/declare/nearest.h"
#include "debugger/target/object.h"

#include <string.h>

#define DEPTH_MAX 256

struct resolution {
	struct target *target;
	const struct btf *near;
	const struct ctype *missing; /* the name that nobody knows, for a suggestion */
};

static const struct btf *first_btf(const struct resolution *resolution)
{
	return resolution->near ? resolution->near : resolution->target->btf;
}

/* "struct foo" that is only declared: enough for a pointer to it. */
static bool find_forward(const struct btf *btf, const char *name, struct type *ret)
{
	bool is_union = !strncmp(name, "union ", 6);
	if (!is_union && strncmp(name, "struct ", 7))
		return false;
	uint64_t cursor = 0;
	uint32_t id;
	struct btf_type record;
	while ((id = btf_find(btf, BTF_FWD, strchr(name, ' ') + 1, &cursor))) {
		if (!btf_get(btf, id, &record) || record.kind_flag != is_union)
			continue;
		*ret = (struct type){ btf, id };
		return true;
	}
	return false;
}

static struct error *resolve_named(struct resolution *resolution, const struct ctype *ctype,
				   struct type *ret)
{
	struct error *error =
		target_find_type(resolution->target, resolution->near, ctype->name, ret);
	if (!error || error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	if (find_forward(first_btf(resolution), ctype->name, ret))
		return NULL;
	resolution->missing = ctype;
	return error_create(ERROR_NOT_FOUND, "column %u: no type \"%s\"", ctype->column,
			    ctype->name);
}

static struct error *resolve(struct resolution *resolution, const struct ctype *ctype,
			     uint32_t depth, struct type *ret);

static struct error *resolve_function(struct resolution *resolution, const struct ctype *ctype,
				      uint32_t depth, struct type *ret)
{
	struct type result, params[CTYPE_PARAMS_MAX];
	TRY(resolve(resolution, ctype->target, depth + 1, &result));
	for (uint32_t i = 0; i < ctype->param_count; i++)
		TRY(resolve(resolution, ctype->params[i], depth + 1, &params[i]));
	return type_function(result, params, ctype->param_count, ctype->varargs, ret);
}

static struct error *resolve_array(struct resolution *resolution, const struct ctype *ctype,
				   uint32_t depth, uint64_t room, struct type *ret)
{
	struct type element;
	uint64_t size;
	TRY(resolve(resolution, ctype->target, depth + 1, &element));
	if (!type_size(element, &size))
		return error_create(ERROR_USAGE,
				    "column %u: an array of elements whose size is not known",
				    ctype->column);
	uint64_t count = ctype->size;
	if (ctype->is_open)
		count = size ? room / size : 0;
	if (count > UINT32_MAX || __builtin_mul_overflow(count, size, &size))
		return error_create(ERROR_USAGE, "column %u: the array is too big", ctype->column);
	return type_array_of(element, count, ret);
}

static struct error *resolve_plain(struct resolution *resolution, const struct ctype *ctype,
				   uint32_t depth, struct type *ret)
{
	const struct btf *btf = first_btf(resolution);
	if (depth > DEPTH_MAX)
		return error_create(ERROR_USAGE, "column %u: nested too deep", ctype->column);
	struct type inner;
	switch (ctype->kind) {
	case CTYPE_VOID:
		*ret = (struct type){ btf, 0 };
		return NULL;
	case CTYPE_INTEGER:
		return type_integer(btf, ctype->name,
				    ctype->size ? ctype->size : btf_pointer_size(btf),
				    ctype->encoding, ret);
	case CTYPE_FLOAT:
	case CTYPE_NAMED:
		return resolve_named(resolution, ctype, ret);
	case CTYPE_POINTER:
		TRY(resolve(resolution, ctype->target, depth + 1, &inner));
		return type_pointer_to(inner, ret);
	case CTYPE_ARRAY:
		return resolve_array(resolution, ctype, depth, 0, ret);
	case CTYPE_FUNCTION:
		return resolve_function(resolution, ctype, depth, ret);
	case CTYPE_GROUP:
		return resolve(resolution, ctype->target, depth + 1, ret);
	case CTYPE_KNOWN:
		*ret = ctype->known;
		return NULL;
	}
	return error_create(ERROR_OTHER, "ctype: unknown kind %d", ctype->kind);
}

static struct error *resolve(struct resolution *resolution, const struct ctype *ctype,
			     uint32_t depth, struct type *ret)
{
	TRY(resolve_plain(resolution, ctype, depth, ret));
	if (ctype->is_volatile)
		TRY(type_qualified(*ret, BTF_VOLATILE, ret));
	return ctype->is_const ? type_qualified(*ret, BTF_CONST, ret) : NULL;
}

static struct error *resolve_whole(struct resolution *resolution, const struct ctype *ctype,
				   uint64_t room, struct type *ret)
{
	if (!resolution->near)
		TRY(target_need_btf(resolution->target));
	while (ctype->kind == CTYPE_GROUP)
		ctype = ctype->target;
	if (ctype->kind == CTYPE_ARRAY)
		return resolve_array(resolution, ctype, 0, room, ret);
	return resolve(resolution, ctype, 0, ret);
}

struct error *ctype_resolve(struct target *target, const struct btf *near,
			    const struct ctype *ctype, uint64_t room, struct type *ret)
{
	struct resolution resolution = { .target = target, .near = near };
	return resolve_whole(&resolution, ctype, room, ret);
}

/* --- for people ----------------------------------------------------------------------------- */

/* Types that only a module knows: its BTF is loaded when nobody else has the name. */
static struct error *resolve_in_modules(struct resolution *resolution, const struct ctype *ctype,
					struct error *error, struct type *ret)
{
	const struct module *modules;
	size_t count = target_modules(resolution->target, &modules);
	for (size_t i = 0; i < count && error && error->kind == ERROR_NOT_FOUND; i++) {
		struct resolution within = { .target = resolution->target,
					     .near = target_module_btf(resolution->target,
								       &modules[i]) };
		if (!within.near)
			continue;
		error_free(error);
		error = resolve_whole(&within, ctype, 0, ret);
	}
	/* Which of them have it is not known then. */
	struct error *interrupted = error ? interrupt_check() : NULL;
	if (interrupted)
		error_free(error);
	return interrupted ?: error;
}

/* The "struct " that a name lacks; NULL: none helps. */
static const char *missing_tag(const struct btf *btf, const char *name)
{
	static const struct {
		const char *prefix;
		enum btf_kind kind;
	} tags[] = { { "struct ", BTF_STRUCT }, { "union ", BTF_UNION }, { "enum ", BTF_ENUM } };
	for (size_t i = 0; i < ARRAY_COUNT(tags); i++) {
		uint64_t cursor = 0;
		if (btf_find(btf, tags[i].kind, name, &cursor))
			return tags[i].prefix;
	}
	return NULL;
}

static struct error *no_such_type(const struct btf *btf, const struct ctype *ctype)
{
	static const struct {
		const char *prefix;
		enum btf_kind kind;
	} tags[] = { { "struct ", BTF_STRUCT },
		     { "union ", BTF_UNION },
		     { "enum ", BTF_ENUM },
		     { "", BTF_TYPEDEF } };
	size_t i = 0;
	while (strncmp(ctype->name, tags[i].prefix, strlen(tags[i].prefix)))
		i++;
	const char *plain = ctype->name + strlen(tags[i].prefix);
	const char *tag = missing_tag(btf, ctype->name);
	if (tag)
		return error_create(ERROR_NOT_FOUND,
				    "column %u: no type \"%s\"; did you mean \"%s%s\"?",
				    ctype->column, ctype->name, tag, ctype->name);
	struct nearest nearest;
	nearest_init(&nearest, plain, strlen(plain));
	nearest_offer_types(&nearest, btf, tags[i].kind);
	if (!*nearest.best)
		return error_create(ERROR_NOT_FOUND, "column %u: no type \"%s\"", ctype->column,
				    ctype->name);
	return error_create(ERROR_NOT_FOUND, "column %u: no type \"%s\"; did you mean \"%s%s\"?",
			    ctype->column, ctype->name, tags[i].prefix, nearest.best);
}

struct error *ctype_resolve_anywhere(struct target *target, const struct btf *near,
				     const struct ctype *ctype, struct type *ret)
{
	struct resolution resolution = { .target = target, .near = near };
	struct error *error = resolve_whole(&resolution, ctype, 0, ret);
	if (!error || error->kind != ERROR_NOT_FOUND || !resolution.missing || !target->btf)
		return error;
	error = resolve_in_modules(&resolution, ctype, error, ret);
	if (!error || error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	return no_such_type(first_btf(&resolution), resolution.missing);
}
