// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/prototypes/instance.h"

#include "base/array.h"
#include "debugger/prototypes/instance_judge.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_CODE (1u << 16)

const char *instance_proof_name(enum instance_proof proof)
{
	static const char *const names[] = {
		[INSTANCE_UNPROVED] = "unproved",
		[INSTANCE_ONLY] = "only one",
		[INSTANCE_TAGGED] = "declaration tag",
		[INSTANCE_CODE] = "code",
		[INSTANCE_TABLE] = "table",
	};
	return names[proof];
}

/* --- prototypes ------------------------------------------------------------------------------ */

static void add_function(struct functions *functions, uint32_t id)
{
	struct btf_type record;
	if (!btf_get(functions->btf, id, &record))
		return;
	if (functions->count == INSTANCE_FUNCTIONS_MAX) {
		functions->is_too_many = true;
		return;
	}
	struct type prototype = { functions->btf, record.type };
	uint32_t at = functions->count++;
	functions->ids[at] = id;
	functions->prototypes[at] = prototype;
	for (uint32_t i = 0; i < at && !functions->is_repeated[at]; i++)
		functions->is_repeated[at] = is_same_prototype(functions->prototypes[i], prototype);
	functions->distinct += !functions->is_repeated[at];
}

void instance_functions(const struct btf *btf, const char *name, struct functions *ret)
{
	uint64_t cursor = 0;
	uint32_t id;
	*ret = (struct functions){ .btf = btf };
	while ((id = btf_find(btf, BTF_FUNC, name, &cursor)) && id >= btf_start_id(btf))
		add_function(ret, id);
}

/* Addresses of functions of that name in the kernel or a module. */
uint32_t instance_addresses(const struct symtab *symbols, const char *module, const char *name)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	uint32_t count = 0;
	while (symtab_find_own(symbols, module, name, &cursor, &symbol))
		count += symtab_is_function(symbols, &symbol);
	return count;
}

/* --- declaration tags ------------------------------------------------------------------------ */

/* "addr:0x..." or "addr=0x...": where the linker put the function. */
static bool tagged_address(const struct btf_type *tag, uint64_t *ret)
{
	char *end;
	if (strncmp(tag->name, "addr", 4) || (tag->name[4] != ':' && tag->name[4] != '='))
		return false;
	*ret = strtoull(tag->name + 5, &end, 0);
	return end != tag->name + 5 && !*end;
}

/* The base BTF of kernels has no such tags today; that is found out once. */
static bool has_tags(struct callees *callees, const struct btf *btf)
{
	struct btf_type record;
	uint64_t address;
	if (callees->tags_of == btf)
		return callees->has_tags;
	callees->tags_of = btf;
	callees->has_tags = false;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf) && !callees->has_tags; id++)
		callees->has_tags = btf_get(btf, id, &record) && record.kind == BTF_DECL_TAG &&
				    tagged_address(&record, &address);
	return callees->has_tags;
}

/* How far the kernel was moved when it was loaded. */
static uint64_t load_offset(const struct target *target)
{
	uint64_t offset = 0;
	if (target->vmcoreinfo)
		(void)vmcoreinfo_hex(target->vmcoreinfo, "KERNELOFFSET", &offset);
	return offset;
}

/* The FUNC whose tag has the address; 0: none. */
static uint32_t tagged_function(struct callees *callees, const struct functions *functions,
				const struct symbol *symbol)
{
	struct btf_type record;
	uint64_t address;
	if (!has_tags(callees, functions->btf))
		return 0;
	uint64_t offset = symbol->module ? 0 : load_offset(callees->target);
	for (uint32_t id = btf_start_id(functions->btf); id < btf_end_id(functions->btf); id++) {
		if (!btf_get(functions->btf, id, &record) || record.kind != BTF_DECL_TAG ||
		    !tagged_address(&record, &address) || address + offset != symbol->address)
			continue;
		for (uint32_t i = 0; i < functions->count; i++)
			if (functions->ids[i] == record.type)
				return record.type;
	}
	return 0;
}

/* --- code ------------------------------------------------------------------------------------ */

static void ask_unique(void *context, uint64_t address, struct callee *ret)
{
	callees_find_unique(context, address, ret);
}

/* Freed when the kernel has booted, and used for other things since. */
static bool is_init(const struct target *target, uint64_t address)
{
	/* The second are in a table that has functions only, too. */
	static const char *const sections[][2] = { { "__init_begin", "__init_end" },
						   { "_sinittext", "_einittext" } };
	uint64_t start, end;
	for (size_t i = 0; i < ARRAY_COUNT(sections); i++)
		if (symtab_address(target->symbols, sections[i][0], &start) &&
		    symtab_address(target->symbols, sections[i][1], &end))
			return address - start < end - start;
	return false;
}

static struct error *read_uses(struct callees *callees, const struct use_world *world,
			       const struct symbol *symbol, struct uses *uses, bool *ret_known)
{
	*ret_known = false;
	if (!callees->target->memory || !symbol->size ||
	    is_init(callees->target, symbol->address) || symbol->size > SIZE_MAX_CODE)
		return NULL;
	uint8_t *bytes = malloc(symbol->size);
	if (!bytes)
		return error_no_memory();
	struct error *error =
		memory_read(callees->target->memory, symbol->address, bytes, symbol->size);
	struct code code = { bytes, symbol->size, symbol->address };
	if (!error)
		error = uses_read(world, &code, uses, ret_known);
	free(bytes);
	return error;
}

/* Judges each prototype; the FUNC that alone is borne out, 0: none. */
static uint32_t judge(const struct use_world *world, const struct functions *functions,
		      const struct uses *uses, struct function_instance *ret)
{
	struct judgement judgement;
	uint32_t found = 0, possible = 0;
	bool is_proved = false;
	for (uint32_t i = 0; i < functions->count; i++) {
		if (functions->is_repeated[i])
			continue;
		judge_prototype(world, uses, functions->prototypes[i], &judgement);
		if (judgement.refuted || (judgement.odd && functions->distinct > 1)) {
			ret->refuted++;
			ret->why = judgement.refuted ? judgement.refuted
						     : "what it does with its arguments is odd";
			continue;
		}
		possible++;
		found = functions->ids[i];
		/* Without a rival it may be a stranger's, which happens to begin with the same. */
		is_proved = is_borne_out(&judgement) &&
			    (functions->distinct > 1 || is_whole(&judgement));
	}
	if (possible > 1)
		ret->why = "several prototypes fit the code";
	else if (possible == 1)
		ret->why = is_proved ? "what it does with its arguments"
				     : "the code says too little";
	return possible == 1 && is_proved ? found : 0;
}

/* `*ret`: what it does with its arguments, which the caller frees; NULL: not known. */
static struct error *uses_of(struct callees *callees, const struct use_world *world,
			     const struct symbol *symbol, struct uses **ret)
{
	bool is_known = false;
	*ret = NULL;
	struct uses *uses = malloc(sizeof(*uses));
	if (!uses)
		return error_no_memory();
	struct error *error = read_uses(callees, world, symbol, uses, &is_known);
	if (is_known && !error)
		*ret = uses;
	else
		free(uses);
	return error;
}

static struct use_world world_of(struct callees *callees)
{
	return (struct use_world){ .levels = callees->levels,
				   .lowering = callees->lowering,
				   .context = callees,
				   .callee = ask_unique };
}

static uint32_t function_by_code(struct callees *callees, const struct functions *functions,
				 const struct symbol *symbol, struct function_instance *ret)
{
	struct use_world world = world_of(callees);
	struct uses *uses;
	ret->why = is_init(callees->target, symbol->address) ? "its code was freed"
							     : "its code cannot be followed";
	error_free(uses_of(callees, &world, symbol, &uses));
	uint32_t id = uses ? judge(&world, functions, uses, ret) : 0;
	free(uses);
	return id;
}

bool is_refuted_by_code(struct callees *callees, const struct symbol *symbol, struct type prototype)
{
	struct use_world world = world_of(callees);
	struct judgement judgement = { .refuted = NULL };
	struct uses *uses;
	error_free(uses_of(callees, &world, symbol, &uses));
	if (uses)
		judge_prototype(&world, uses, prototype, &judgement);
	free(uses);
	return judgement.refuted != NULL;
}

/* --- one function ---------------------------------------------------------------------------- */

uint32_t instance_function(struct callees *callees, const struct btf *btf,
			   const struct symbol *symbol, struct function_instance *ret)
{
	struct functions functions;
	char base[SYMBOL_NAME_SIZE];
	snprintf(base, sizeof(base), "%s", symbol->name);
	base[strcspn(base, ".")] = 0;
	ret->is_clone = strchr(symbol->name, '.') != NULL;
	instance_functions(btf, base, &functions);
	ret->candidates = functions.distinct;
	if (functions.distinct == 1)
		ret->function = (struct type){ btf, functions.ids[0] };
	ret->why = !functions.count	   ? "BTF has no function of that name"
		   : functions.is_too_many ? "too many of that name"
		   : ret->is_clone	   ? "a clone: its parameters may be others"
					   : NULL;
	if (ret->why)
		return 0;
	uint32_t id = tagged_function(callees, &functions, symbol);
	ret->proof = INSTANCE_TAGGED;
	if (!id) {
		ret->proof = INSTANCE_CODE;
		id = function_by_code(callees, &functions, symbol, ret);
	}
	if (!id && functions.distinct == 1 && !ret->refuted &&
	    instance_addresses(callees->target->symbols, symbol->module, symbol->name) == 1) {
		ret->proof = INSTANCE_ONLY;
		id = functions.ids[0];
	}
	if (!id)
		ret->proof = INSTANCE_UNPROVED;
	else
		ret->function = (struct type){ btf, id };
	return id;
}
