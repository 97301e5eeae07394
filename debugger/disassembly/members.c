// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/disassembly/members.h"

#include "base/array.h"
#include "debugger/arguments/prototype.h"
#include "debugger/infer/evidence/accesses.h"
#include "debugger/target/object.h"
#include <stdlib.h>

#define FUNCTION_SIZE_MAX (1u << 20)

struct pass {
	struct inference *inference;
	struct function_members *members;
	uint8_t *bases; /* register of the place, of each item */
	size_t base_capacity;
	size_t next; /* item */
	bool failed; /* no memory */
	struct frame_arguments arguments;
	uint8_t registers[ARGUMENTS_MAX];
};

static void add_access(void *context, const struct flow_access *access)
{
	struct pass *pass = context;
	struct function_members *members = pass->members;
	struct type type = kind_type(&pass->inference->levels, access->type);
	struct btf_type record;
	uint64_t size;
	if (members->count && members->items[members->count - 1].at == access->at)
		return;
	/* Beyond its end it is a part of something larger. */
	if (!type_get_resolved(type, &record) || !type_size(type, &size) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION) || access->offset < 0 ||
	    (uint64_t)access->offset + access->size > size || (uint64_t)access->offset >= size)
		return;
	if (!array_reserve(&members->items, &members->capacity, members->count + 1) ||
	    !array_reserve(&pass->bases, &pass->base_capacity, members->count + 1)) {
		pass->failed = true;
		return;
	}
	pass->bases[members->count] = access->base;
	members->items[members->count++] = (struct member_access){
		.at = access->at,
		.is_address = access->is_address,
		.type = type,
		.offset = (uint64_t)access->offset,
	};
}

/* Names the argument that the place of an access starts from. */
static void name_argument(void *context, const struct op *op, const struct symbolic_state *state)
{
	struct pass *pass = context;
	struct function_members *members = pass->members;
	while (pass->next < members->count && members->items[pass->next].at < op->at)
		pass->next++;
	if (pass->next == members->count || members->items[pass->next].at != op->at)
		return;
	uint8_t base = pass->bases[pass->next];
	if (base >= LOWER_TEMPORARY || op->base != base)
		return;
	const struct symbolic *value = &state->registers[base];
	if (value->base != BASE_ENTRY || value->size < 8 || value->offset)
		return;
	for (size_t i = 0; i < pass->arguments.count; i++)
		if (pass->registers[i] == value->id && *pass->arguments.items[i].name)
			members->items[pass->next].argument = pass->arguments.items[i].name;
}

static struct error *follow(struct pass *pass, const struct code *code)
{
	struct symbolic_world world;
	struct callee callee;
	struct error *error = function_accesses(pass->inference, code, add_access, pass);
	if (!error && pass->failed)
		error = error_no_memory();
	if (error ||
	    !arguments_prototype(pass->inference, code->address, &pass->arguments, pass->registers))
		return error;
	callees_find(&pass->inference->callees, code->address, &callee);
	pass->members->prototype = kind_type(&pass->inference->levels, callee.prototype);
	arguments_world(pass->inference, &world);
	error = symbolic_watch(&world, code, name_argument, pass);
	/* Then no names are known. */
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	return error;
}

struct error *function_members_find(struct target *target, const struct symbol *function,
				    struct function_members *ret)
{
	struct pass pass = { .members = ret };
	*ret = (struct function_members){ .count = 0 };
	TRY(inference_get(target, &pass.inference));
	const struct module *module = function->module ? target_module(target, function->module)
						       : NULL;
	if (module)
		TRY(inference_add_module(pass.inference, module));
	if (!function->size || function->size > FUNCTION_SIZE_MAX)
		return error_create(ERROR_NOT_FOUND, "its size is not known");
	uint8_t *bytes = malloc(function->size);
	if (!bytes)
		return error_no_memory();
	struct code code = { bytes, function->size, function->address };
	struct error *error = NULL;
	if (text_read(&pass.inference->text, code.address, bytes, code.size))
		error = follow(&pass, &code);
	else
		error = error_create(ERROR_NOT_FOUND, "it is not in the kernel's text");
	free(bytes);
	free(pass.bases);
	return error;
}

void function_members_deinit(struct function_members *members)
{
	free(members->items);
	*members = (struct function_members){ .count = 0 };
}

const struct member_access *function_members_at(const struct function_members *members, uint64_t at)
{
	size_t first = array_bound(members->count, i, members->items[i].at < at);
	return first < members->count && members->items[first].at == at ? &members->items[first]
									: NULL;
}
