// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/convert.h"

#include "debugger/target/object.h"
#include <string.h>

static uint32_t word_size(const struct target *target)
{
	if (target->btf)
		return btf_pointer_size(target->btf);
	return target->memory ? target->memory->word_size : 8;
}

struct arithmetic arithmetic_word(const struct target *target, bool is_signed)
{
	return (struct arithmetic){ word_size(target), is_signed, RANK_LONG };
}

/* C11 6.3.1.1: what int can hold becomes int. gcc keeps the declared type of wide bit-fields. */
static struct arithmetic promoted(const struct btf_type *record, const struct value *value)
{
	bool is_signed = value_is_signed(value);
	uint32_t bits = value->bit_size;
	if (record->size < INT_SIZE || (bits && (bits < 32 || (bits == 32 && is_signed))))
		return class_int;
	if (record->kind == BTF_INT && strstr(record->name, "long long"))
		return (struct arithmetic){ 8, is_signed, RANK_LONG_LONG };
	if (record->kind == BTF_INT && strstr(record->name, "long"))
		return (struct arithmetic){ record->size, is_signed, RANK_LONG };
	if (record->size == INT_SIZE)
		return is_signed ? class_int : class_unsigned;
	return (struct arithmetic){ 8, is_signed,
				    word_size(value->target) == 8 ? RANK_LONG : RANK_LONG_LONG };
}

struct error *operand_promote(const struct value *value, struct arithmetic *ret_class,
			      uint64_t *ret)
{
	struct btf_type record;
	TRY(value_u64(value, ret));
	if (value_record(value, &record) &&
	    (record.kind == BTF_INT || record.kind == BTF_ENUM || record.kind == BTF_ENUM64))
		*ret_class = promoted(&record, value);
	else
		*ret_class = arithmetic_word(value->target, false);
	return NULL;
}

/* C11 6.3.1.8, of types that were promoted. */
struct arithmetic arithmetic_common(struct arithmetic a, struct arithmetic b)
{
	struct arithmetic high = a.rank > b.rank ? a : b, low = a.rank > b.rank ? b : a;
	/* A signed one of the higher rank that cannot hold all of the unsigned: its unsigned one.
	 */
	if (!low.is_signed && (high.rank == low.rank || high.size <= low.size))
		high.is_signed = false;
	return high;
}

uint64_t arithmetic_wrap(struct arithmetic class, uint64_t value)
{
	if (class.size >= 8)
		return value;
	return class.is_signed ? sign_extend(value, class.size * 8)
			       : value & (((uint64_t)1 << class.size * 8) - 1);
}

static const char *class_name(struct arithmetic class)
{
	static const char *const names[][2] = {
		[RANK_INT] = { "unsigned int", "int" },
		[RANK_LONG] = { "long unsigned int", "long int" },
		[RANK_LONG_LONG] = { "long long unsigned int", "long long int" },
	};
	return names[class.rank][class.is_signed];
}

struct error *value_set_integer(struct target *target, struct arithmetic class, uint64_t number,
				struct value *ret)
{
	struct type type = { NULL, 0 };
	if (target->btf)
		TRY(type_integer(target->btf, class_name(class), class.size,
				 class.is_signed ? BTF_INT_SIGNED : 0, &type));
	*ret = (struct value){ .target = target,
			       .type = type,
			       .scalar = arithmetic_wrap(class, number),
			       .origin = ORIGIN_CAST };
	return NULL;
}

struct error *value_set_pointer(struct target *target, struct type type, uint64_t address,
				struct value *ret)
{
	struct type pointer = { NULL, 0 };
	if (!type.btf)
		type = (struct type){ target->btf, 0 };
	if (type.btf)
		TRY(type_pointer_to(type, &pointer));
	*ret = (struct value){
		.target = target, .type = pointer, .scalar = address, .origin = ORIGIN_CAST
	};
	return NULL;
}

static bool is_aggregate(enum btf_kind kind)
{
	return kind == BTF_STRUCT || kind == BTF_UNION || kind == BTF_ARRAY;
}

/* The same bytes under another type. */
static struct error *reinterpret(const struct value *value, struct type type, struct value *ret)
{
	uint64_t size;
	char spelled[128];
	type_spell(type, NULL, spelled, sizeof(spelled));
	if (!type_size(type, &size))
		return error_create(ERROR_USAGE, "%s has no size, nothing can be of this type",
				    spelled);
	if (!value->in_memory)
		return error_create(ERROR_USAGE,
				    "a number cannot become %s; cast it to a pointer and follow it",
				    spelled);
	if (value->bit_size)
		return error_create(ERROR_USAGE, "a bit-field cannot become %s", spelled);
	*ret = *value;
	ret->type = type;
	ret->raw_size = 0;
	ret->at_most = false;
	ret->is_symbol = false;
	ret->origin = ORIGIN_CAST;
	return NULL;
}

/* "(struct foo *)bar" where bar is a struct, not the address of one. */
static struct error *check_pointer(const struct value *value, const struct btf_type *to)
{
	struct btf_type from;
	char name[128];
	if (to->kind != BTF_PTR || !value_record(value, &from) ||
	    (from.kind != BTF_STRUCT && from.kind != BTF_UNION))
		return NULL;
	return error_create(ERROR_USAGE,
			    "the whole %s is no pointer: put & before it for its address",
			    value_type_name(value, name, sizeof(name)));
}

static struct error *cast_scalar(const struct value *value, struct type type,
				 const struct btf_type *record, struct value *ret)
{
	uint64_t number, size;
	TRY(check_pointer(value, record));
	TRY(value_u64(value, &number));
	if (!type_size(type, &size) || size > 8)
		return error_create(ERROR_USAGE, "no cast to a type of more than 8 bytes");
	if (record->kind == BTF_INT && (record->int_encoding & BTF_INT_BOOL))
		number = number != 0;
	else if (type_is_signed(type))
		number = sign_extend(number, size * 8);
	else if (size < 8)
		number &= ((uint64_t)1 << size * 8) - 1;
	*ret = (struct value){
		.target = value->target, .type = type, .scalar = number, .origin = ORIGIN_CAST
	};
	return NULL;
}

struct error *value_cast(const struct value *value, struct type type, struct value *ret)
{
	struct btf_type to, from;
	type = type_completed(value->target, type);
	if (!type_get_resolved(type, &to))
		return error_create(ERROR_FORMAT, "the type does not exist");
	bool untyped = value->in_memory && !value_record(value, &from);
	if (untyped || is_aggregate(to.kind))
		return reinterpret(value, type, ret);
	switch (to.kind) {
	case BTF_INT:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_PTR:
		return cast_scalar(value, type, &to, ret);
	case BTF_VOID:
		return error_create(ERROR_USAGE, "a value of type void has nothing to show");
	case BTF_FLOAT:
		return error_create(ERROR_USAGE, "numbers with a fraction are not known here");
	default:
		return reinterpret(value, type, ret);
	}
}

enum type_origin origin_combine(enum type_origin a, enum type_origin b)
{
	if (a == ORIGIN_CAST || b == ORIGIN_CAST)
		return a == ORIGIN_CAST ? b : a;
	return a > b ? a : b;
}
