// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/inference.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/declare/declare.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

/* A larger table of static branches is a damaged pair of symbols. */
#define EDGES_SIZE_MAX (8u << 20)
#define JUMP_ENTRY     16 /* struct jump_entry: s32 code, s32 target, long key */

static void inference_destroy(void *data)
{
	struct inference *inference = data;
	if (!inference)
		return;
	if (inference->forget)
		inference->forget(inference->remembered);
	text_deinit(&inference->text);
	text_deinit(&inference->strings);
	callees_deinit(&inference->callees);
	per_cpu_deinit(&inference->per_cpu);
	subjects_deinit(&inference->subjects);
	free(inference->levels.items);
	address_map_deinit(&inference->known);
	free(inference->edges);
	free(inference->functions);
	free(inference);
}

/* --- levels of BTF --------------------------------------------------------------------------- */

static struct error *set_level(struct inference *inference, size_t level, const struct btf *btf)
{
	struct levels *levels = &inference->levels;
	if (level >= levels->count) {
		const struct btf **grown = realloc(levels->items, (level + 1) * sizeof(*grown));
		if (!grown)
			return error_no_memory();
		for (size_t i = levels->count; i <= level; i++)
			grown[i] = NULL;
		levels->items = grown;
		levels->count = level + 1;
	}
	levels->items[level] = btf;
	/* Found out when first asked for; threads must not be the first. */
	(void)btf_pointer_size(btf);
	return NULL;
}

struct error *inference_add_module(struct inference *inference, const struct module *module)
{
	size_t level = LEVEL_MODULES + (size_t)(module - inference->target->modules);
	if (level < inference->levels.count && inference->levels.items[level])
		return NULL;
	TRY(text_add_module(&inference->text, module));
	/* Modules lie above the kernel. */
	for (size_t i = 0; i < module->region_count; i++) {
		uint64_t end = module->regions[i].start + module->regions[i].size;
		if (end > inference->data_last && end >= module->regions[i].start)
			inference->data_last = end;
	}
	const struct btf *btf = target_module_btf(inference->target, module);
	if (!btf)
		return NULL;
	TRY(set_level(inference, level, btf));
	return per_cpu_add(&inference->per_cpu, &inference->levels, (uint16_t)level,
			   module->percpu);
}

struct error *inference_add_modules(struct inference *inference)
{
	const struct module *modules;
	if (inference->modules_read)
		return NULL;
	size_t count = target_modules(inference->target, &modules);
	for (size_t i = 0; i < count && i < UINT16_MAX - LEVEL_MODULES; i++)
		TRY(inference_add_module(inference, &modules[i]));
	inference->modules_read = true;
	return NULL;
}

/* `void *`, which has no name to be found by. */
static void find_pointer(struct inference *inference)
{
	const struct btf *btf = inference->target->btf;
	struct btf_type record;
	for (uint32_t id = 1; id < btf_end_id(btf); id++) {
		if (btf_get(btf, id, &record) && record.kind == BTF_PTR && !record.type) {
			inference->pointer.id = id;
			return;
		}
	}
}

/* Integers, for values of which the sign is all that is known; what points at itself. */
static void find_types(struct inference *inference)
{
	static const char *const names[4][2] = {
		{ "unsigned char", "signed char" },
		{ "short unsigned int", "short int" },
		{ "unsigned int", "int" },
		{ "long unsigned int", "long int" },
	};
	find_pointer(inference);
	uint64_t list_cursor = 0;
	inference->list_head.id =
		btf_find(inference->target->btf, BTF_STRUCT, "list_head", &list_cursor);
	static const char *const atomics[2] = { "atomic_t", "atomic64_t" };
	for (int i = 0; i < 2; i++) {
		uint64_t cursor = 0;
		inference->atomics[i].id =
			btf_find(inference->target->btf, BTF_TYPEDEF, atomics[i], &cursor);
	}
	uint64_t truth_cursor = 0;
	inference->truth.id = btf_find(inference->target->btf, BTF_INT, "_Bool", &truth_cursor);
	for (int i = 0; i < 4; i++) {
		for (int sign = 0; sign < 2; sign++) {
			uint64_t cursor = 0;
			inference->integers[i][sign].id =
				btf_find(inference->target->btf, BTF_INT, names[i][sign], &cursor);
		}
	}
}

/* --- the kernel ------------------------------------------------------------------------------ */

static struct error *open_kernel(struct inference *inference)
{
	struct target *target = inference->target;
	struct per_cpu_copies untyped;
	uint64_t start = 0;
	TRY(target_need_btf(target));
	inference->lowering = lowering_find(target->arch->name);
	if (!inference->lowering)
		return error_create(ERROR_UNSUPPORTED, "code of %s is not understood",
				    target->arch->name);
	TRY(set_level(inference, 0, target->btf));
	TRY(text_init(&inference->text, target, inference->lowering));
	TRY(text_init_strings(&inference->strings, target, inference->lowering));
	if (!symtab_address(target->symbols, "_etext", &inference->data_first) ||
	    !target_image_end(target, &inference->data_last))
		return error_create(ERROR_NOT_FOUND, "the kernel has no _etext and _end");
	find_types(inference);
	if (!symtab_address(target->symbols, "__per_cpu_offset", &inference->per_cpu_offsets))
		inference->per_cpu_offsets = 0;
	(void)symtab_address(target->symbols, "__per_cpu_start", &start);
	inference->this_cpu_offset = per_cpu_offset(&inference->levels, "this_cpu_off", start);
	if (per_cpu_untyped(target, &untyped) &&
	    !symtab_address(target->symbols, "this_cpu_off", &inference->this_cpu_offset))
		inference->this_cpu_offset = UINT64_MAX;
	inference->callees = (struct callees){ .target = target,
					       .lowering = inference->lowering,
					       .levels = &inference->levels };
	return per_cpu_add(&inference->per_cpu, &inference->levels, 0, start);
}

static const char inference_key;

struct inference *inference_kept(const struct target *target)
{
	return target_attached(target, &inference_key);
}

struct error *inference_get(struct target *target, struct inference **ret)
{
	struct inference *inference = inference_kept(target);
	if (!inference) {
		inference = calloc(1, sizeof(*inference));
		if (!inference)
			return error_no_memory();
		inference->target = target;
		struct error *error = open_kernel(inference);
		if (error) {
			inference_destroy(inference);
			return error_prefix(error, "code cannot be read");
		}
		TRY(target_attach(target, &inference_key, inference, inference_destroy));
	}
	*ret = inference;
	return NULL;
}

/* --- globals whose type is known ------------------------------------------------------------- */

/*
 * By BTF or the user's declaration. The program's own list is a second source, compared with what
 * is inferred: code that is read with it would only say it once more.
 */
static bool type_of_target(struct target *target, const struct symbol *symbol, struct type *ret)
{
	enum type_origin origin;
	struct error *error = declared_symbol_type(target, symbol, ret, &origin);
	error_free(error);
	return !error && origin != ORIGIN_NONE && origin != ORIGIN_DECLARED;
}

static struct kind ask_known(struct inference *inference, const struct subject *subject)
{
	struct kind none = { 0, 0 };
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct type type;
	uint16_t level;
	symtab_get_into(inference->target->symbols, subject->symbol, name, &symbol);
	bool known = inference->known_type ? inference->known_type(inference->known_context,
								   subject, &symbol, &type)
					   : type_of_target(inference->target, &symbol, &type);
	if (!known || !type.btf ||
	    !level_of_module(inference->target, &inference->levels, symbol.module, &level))
		return none;
	if (type.id >= btf_end_id(inference->levels.items[level])) {
		if (level || set_level(inference, LEVEL_SCRATCH, type.btf))
			return none;
		level = LEVEL_SCRATCH;
	}
	return kind_of(&inference->levels, level, type.id);
}

struct kind known_subject(struct inference *inference, const struct subject *subject)
{
	struct known_global *known =
		address_map_find(&inference->known, sizeof(*known), subject->address);
	if (known)
		return known->type;
	struct kind type = ask_known(inference, subject);
	known = address_map_add(&inference->known, sizeof(*known), subject->address);
	if (known)
		known->type = type;
	return type;
}

bool known_global(struct inference *inference, uint64_t address, struct kind *ret,
		  int64_t *ret_offset)
{
	struct subject subject;
	uint64_t offset;
	if (!subject_find(inference->target, address, &subject, &offset))
		return false;
	*ret = known_subject(inference, &subject);
	*ret_offset = (int64_t)offset;
	return ret->id;
}

/* --- static branches ------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
	const struct code_edge *left = a, *right = b;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return left->to < right->to ? -1 : left->to > right->to;
}

void inference_read_edges(struct inference *inference)
{
	struct target *target = inference->target;
	uint64_t start, end;
	void *data;
	if (inference->edges_read)
		return;
	inference->edges_read = true;
	if (!symtab_address(target->symbols, "__start___jump_table", &start) ||
	    !symtab_address(target->symbols, "__stop___jump_table", &end) || end <= start)
		return;
	struct error *error =
		memory_read_alloc(target->memory, start, end - start, EDGES_SIZE_MAX, &data);
	if (error) {
		error_free(error);
		return;
	}
	size_t count = (size_t)(end - start) / JUMP_ENTRY;
	inference->edges = calloc(count + 1, sizeof(*inference->edges));
	for (size_t i = 0; inference->edges && i < count; i++) {
		const uint8_t *entry = (const uint8_t *)data + i * JUMP_ENTRY;
		uint64_t place = start + i * JUMP_ENTRY;
		bool big_endian = target->memory->big_endian;
		inference->edges[i] = (struct code_edge){
			.from = place + (uint64_t)(int32_t)load_u32(entry, big_endian),
			.to = place + 4 + (uint64_t)(int32_t)load_u32(entry + 4, big_endian),
		};
	}
	free(data);
	if (!inference->edges)
		return;
	inference->edge_count = count;
	array_sort(inference->edges, count, sizeof(*inference->edges), compare_edges);
}
