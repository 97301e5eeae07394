// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/parameter.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The kernel itself has some 500. */
#define PARAMETERS_MAX 65536
#define ELEMENTS_MAX   65536

/*
 * Of kernel/params.c: param_ops_NAME or, of operations that are a driver's own, their `get` when
 * that is param_get_NAME; and the type that these read.
 */
static const struct {
	const char *name, *type;
	bool is_inverted;
} operations[] = {
	{ "byte", "unsigned char", false },
	{ "short", "short", false },
	{ "ushort", "unsigned short", false },
	{ "int", "int", false },
	{ "uint", "unsigned int", false },
	{ "hexint", "unsigned int", false },
	{ "long", "long", false },
	{ "ulong", "unsigned long", false },
	{ "ullong", "unsigned long long", false },
	{ "charp", NULL, false },
	{ "bool", "bool", false },
	{ "bool_enable_only", "bool", false },
	{ "invbool", "bool", true },
	{ "bint", "int", false },
};

static bool is_symbol(const struct target *target, uint64_t address, const char *prefix,
		      const char *name)
{
	char symbol[64];
	uint64_t found;
	snprintf(symbol, sizeof(symbol), "%s%s", prefix, name);
	return address && symtab_address(target->symbols, symbol, &found) && found == address;
}

static struct error *named_type(struct target *target, const char *name, struct type *ret)
{
	struct type character;
	if (name)
		return target_find_type(target, NULL, name, ret);
	TRY(target_find_type(target, NULL, "char", &character));
	return type_pointer_to(character, ret);
}

/* The function that shows a value; 0: there is none, or it cannot be read. */
static uint64_t getter_of(struct target *target, uint64_t address)
{
	struct object table;
	uint64_t getter = 0;
	struct error *error = object_at(target, "struct kernel_param_ops", address, &table);
	if (!error)
		error = object_u64(&table, "get", &getter);
	error_free(error);
	return error ? 0 : getter;
}

/* The type of one value; ERROR_NOT_FOUND: of none that is known. */
static struct error *value_type(struct target *target, uint64_t address, struct type *ret,
				bool *ret_is_inverted)
{
	uint64_t getter = getter_of(target, address);
	for (size_t i = 0; i < ARRAY_COUNT(operations); i++) {
		if (!is_symbol(target, address, "param_ops_", operations[i].name) &&
		    !is_symbol(target, getter, "param_get_", operations[i].name))
			continue;
		*ret_is_inverted = operations[i].is_inverted;
		return named_type(target, operations[i].type, ret);
	}
	return error_create(ERROR_NOT_FOUND, "operations that are not the kernel's own");
}

/* struct kparam_string: a buffer of so many bytes. */
static struct error *read_string(struct target *target, struct parameter *parameter)
{
	struct object string;
	struct type character, type;
	uint64_t size, variable;
	TRY(object_at(target, "struct kparam_string", parameter->argument, &string));
	TRY(object_u64(&string, "maxlen", &size));
	TRY(object_u64(&string, "string", &variable));
	if (size > ELEMENTS_MAX)
		return error_create(ERROR_FORMAT, "maxlen is %" PRIu64, size);
	TRY(target_find_type(target, NULL, "char", &character));
	TRY(type_array_of(character, (uint32_t)size, &type));
	parameter->type = type;
	parameter->variable = variable;
	return NULL;
}

/* How many elements are set; `num` NULL: nobody counts, all of them. */
static struct error *count_elements(const struct object *array, uint64_t *ret)
{
	uint64_t maximum, counter;
	uint32_t count;
	TRY(object_u64(array, "max", &maximum));
	TRY(object_u64(array, "num", &counter));
	*ret = maximum;
	if (counter) {
		TRY(memory_read_u32(array->target->memory, counter, &count));
		*ret = count < maximum ? count : maximum;
	}
	if (*ret > ELEMENTS_MAX)
		return error_create(ERROR_FORMAT, "%" PRIu64 " elements", *ret);
	return NULL;
}

static struct error *read_array(struct target *target, struct parameter *parameter)
{
	struct object array;
	struct type element, type;
	uint64_t own_operations, size, count, variable, step;
	TRY(object_at(target, "struct kparam_array", parameter->argument, &array));
	TRY(object_u64(&array, "ops", &own_operations));
	TRY(object_u64(&array, "elemsize", &step));
	TRY(object_u64(&array, "elem", &variable));
	TRY(count_elements(&array, &count));
	TRY(value_type(target, own_operations, &element, &parameter->is_inverted));
	if (!type_size(element, &size) || size != step)
		return error_create(ERROR_FORMAT, "elements of %" PRIu64 " bytes", step);
	TRY(type_array_of(element, (uint32_t)count, &type));
	parameter->type = type;
	parameter->variable = variable;
	return NULL;
}

static struct error *find_type(struct target *target, struct parameter *parameter)
{
	if (is_symbol(target, parameter->operations, "param_ops_", "string"))
		return read_string(target, parameter);
	if (is_symbol(target, parameter->operations, "param_array_ops", ""))
		return read_array(target, parameter);
	TRY(value_type(target, parameter->operations, &parameter->type, &parameter->is_inverted));
	parameter->variable = parameter->argument;
	return NULL;
}

static struct error *read_parameter(const struct object *object, struct parameter *parameter)
{
	struct target *target = object->target;
	uint64_t name, permissions;
	size_t length;
	TRY(object_u64(object, "ops", &parameter->operations));
	TRY(object_u64(object, "perm", &permissions));
	TRY(object_u64(object, "arg", &parameter->argument));
	parameter->permissions = (uint32_t)permissions;
	/* A value that cannot be typed is one of unknown type. */
	struct error *error = find_type(target, parameter);
	error_free(error);
	TRY(object_u64(object, "name", &name));
	return memory_read_string(target->memory, name, parameter->name, sizeof(parameter->name),
				  &length);
}

/* Where the table is, and how many bytes. */
static struct error *find_table(struct target *target, const struct module *module, uint64_t record,
				uint64_t *ret_start, uint64_t *ret_count)
{
	uint64_t end;
	struct object object;
	if (module) {
		TRY(object_at(target, "struct module", module->address, &object));
		TRY(object_u64(&object, "kp", ret_start));
		return object_u64(&object, "num_kp", ret_count);
	}
	if (!symtab_address(target->symbols, "__start___param", ret_start) ||
	    !symtab_address(target->symbols, "__stop___param", &end) || end < *ret_start)
		return error_create(ERROR_NOT_FOUND, "the kernel has no __start___param");
	*ret_count = (end - *ret_start) / record;
	return NULL;
}

struct error *parameter_for_each(struct target *target, const struct module *module,
				 const struct parameter_visitor *visitor)
{
	uint64_t start, count, size;
	struct object object;
	TRY(target_need_memory(target));
	TRY(object_at(target, "struct kernel_param", 0, &object));
	if (!type_size(object.type, &size) || !size)
		return error_create(ERROR_FORMAT, "struct kernel_param has no size");
	TRY(find_table(target, module, size, &start, &count));
	if (count > PARAMETERS_MAX)
		return error_create(ERROR_FORMAT, "%" PRIu64 " parameters", count);
	for (uint64_t i = 0; i < count; i++) {
		struct parameter parameter = { .address = start + i * size };
		TRY(interrupt_check());
		object.address = parameter.address;
		struct error *error = read_parameter(&object, &parameter);
		if (error)
			*parameter.name = 0;
		error_free(error);
		TRY(visitor->visit(visitor->context, &parameter));
	}
	return NULL;
}
