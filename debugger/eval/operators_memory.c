// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Comparisons that C has not: comm == "swapper/0", and two structs by their bytes.
 */
#include "debugger/eval/convert.h"
#include "debugger/eval/image.h"
#include "debugger/eval/tree.h"
#include "debugger/target/object.h"
#include <string.h>

#define COMPARE_MAX (16u << 20) /* bytes */

/* --- texts ---------------------------------------------------------------------------------- */

/* An array of characters or a pointer to them. */
static bool is_text(const struct value *value)
{
	struct btf_type record;
	struct type target;
	return value_record(value, &record) &&
	       (record.kind == BTF_PTR || record.kind == BTF_ARRAY) &&
	       type_target(value->type, &target) && type_get_resolved(target, &record) &&
	       record.kind == BTF_INT && record.size == 1;
}

/* Where the text starts in memory, and how many bytes it may have: all, when it is a pointer. */
static struct error *text_place(const struct value *value, uint64_t *ret_address,
				uint64_t *ret_size)
{
	struct btf_type record;
	*ret_size = UINT64_MAX;
	if (value_record(value, &record) && record.kind == BTF_ARRAY)
		type_size(value->type, ret_size);
	TRY(target_need_memory(value->target));
	return value_u64(value, ret_address);
}

static struct error *text_equals(const struct value *value, const char *literal, bool *ret)
{
	uint64_t address, size;
	TRY(text_place(value, &address, &size));
	for (uint64_t i = 0;; i++) {
		char c = 0; /* an array may end without a NUL */
		if (i < size)
			TRY(memory_read(value->target->memory, address + i, &c, 1));
		if (c != literal[i] || !c) {
			*ret = c == literal[i];
			return NULL;
		}
	}
}

static struct error *compare_texts(const struct value *left, const struct value *right, bool *ret)
{
	if (left->bytes && right->bytes) {
		*ret = !strcmp(left->bytes, right->bytes);
		return NULL;
	}
	return left->bytes ? text_equals(right, left->bytes, ret)
			   : text_equals(left, right->bytes, ret);
}

/* --- structs -------------------------------------------------------------------------------- */

static bool is_struct(const struct value *value)
{
	struct btf_type record;
	return value->in_memory && value_record(value, &record) &&
	       (record.kind == BTF_STRUCT || record.kind == BTF_UNION);
}

/* Every byte has to be there. */
static struct error *read_whole(const struct value *value, uint64_t size, struct image *ret)
{
	TRY(image_read(value->target->memory, value->address, size, ret));
	const struct error *missing = image_missing(ret, 0, size);
	if (!missing)
		return NULL;
	struct error *error =
		error_create_at(missing->kind, missing->address, "%s", missing->message);
	image_deinit(ret);
	return error;
}

static struct error *compare_structs(const struct value *left, const struct value *right, bool *ret)
{
	struct image images[2];
	uint64_t size;
	TRY(target_need_memory(left->target));
	if (!type_size(left->type, &size) || size > COMPARE_MAX)
		return error_create(ERROR_USAGE, "too big to compare");
	TRY(read_whole(left, size, &images[0]));
	struct error *error = read_whole(right, size, &images[1]);
	if (!error) {
		*ret = !memcmp(images[0].data, images[1].data, size);
		image_deinit(&images[1]);
	}
	image_deinit(&images[0]);
	return error;
}

bool compares_memory(int operation, const struct value *left, const struct value *right)
{
	if (operation != TOKEN_EQUAL && operation != TOKEN_NOT_EQUAL)
		return false;
	if (left->bytes || right->bytes)
		return is_text(left) && is_text(right);
	return is_struct(left) && is_struct(right) && type_equal(left->type, right->type);
}

struct error *memory_compare(int operation, const struct value *left, const struct value *right,
			     struct value *ret)
{
	bool equal = false;
	TRY(left->bytes || right->bytes ? compare_texts(left, right, &equal)
					: compare_structs(left, right, &equal));
	TRY(value_set_integer(left->target, class_int, equal == (operation == TOKEN_EQUAL), ret));
	ret->origin = origin_combine(left->origin, right->origin);
	return NULL;
}
