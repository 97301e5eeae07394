// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>

#define TEXT_MAX  1024
#define WORDS_MAX 512

/* --- containers ------------------------------------------------------------------------------ */

struct pass {
	struct table_scan *scan;
	const struct table_walk *walk;
	uint64_t offset; /* of the node */
};

static struct error *visit(void *context, const struct walk_item *item)
{
	const struct pass *pass = context;
	struct object object;
	/* A number in the place of a pointer. */
	if (item->is_value)
		return NULL;
	TRY(object_at(pass->scan->target, pass->walk->type_name, item->address - pass->offset,
		      &object));
	return pass->walk->visit(pass->scan, &object, pass->walk->context);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *walk_container(struct table_scan *scan, uint64_t head,
				    const struct table_walk *walk, struct seen *seen,
				    const char *never_empty)
{
	struct pass pass = { .scan = scan, .walk = walk };
	const struct walk steps = { .target = scan->target,
				    .visit = visit,
				    .broken = broken,
				    .context = &pass,
				    .seen = seen,
				    .never_empty = never_empty };
	uint64_t offset = 0;
	if (walk->node)
		TRY(object_offset(scan->target, walk->type_name, walk->node, &offset));
	if (walk->container == CONTAINER_CHAIN)
		return walk_chain(&steps, head, offset);
	pass.offset = offset;
	switch (walk->container) {
	case CONTAINER_LIST:
		return walk_list(&steps, head, false);
	case CONTAINER_HLIST:
		return walk_hlist(&steps, head, HLIST_PLAIN);
	case CONTAINER_NULLS:
		return walk_hlist(&steps, head, HLIST_NULLS);
	case CONTAINER_RBTREE:
		return walk_rbtree(&steps, head);
	case CONTAINER_IDR:
		return walk_idr(&steps, head);
	case CONTAINER_XARRAY:
		return walk_xarray(&steps, head);
	case CONTAINER_CHAIN:
		break;
	}
	return NULL;
}

struct error *table_walk(struct table_scan *scan, uint64_t head, const struct table_walk *walk)
{
	return walk_container(scan, head, walk, &scan->seen, NULL);
}

struct error *table_walk_forgetful(struct table_scan *scan, uint64_t head,
				   const struct table_walk *walk)
{
	return walk_container(scan, head, walk, NULL, NULL);
}

/* Variables whose containers are filled while the kernel boots, and never empty again. */
static const char *const never_empty[] = { "cgroup_roots",	  "file_systems",
					   "ftrace_trace_arrays", "misc_list",
					   "net_namespace_list",  "super_blocks",
					   "worker_pool_idr",	  "workqueues" };

static bool is_never_empty(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(never_empty); i++)
		if (!strcmp(name, never_empty[i]))
			return true;
	return false;
}

struct error *table_walk_variable(struct table_scan *scan, const char *name, const char *type_name,
				  const struct table_walk *walk)
{
	struct object head;
	TRY(object_variable(scan->target, name, type_name, &head));
	if (walk->container == CONTAINER_CHAIN)
		TRY(object_u64(&head, NULL, &head.address));
	return walk_container(scan, head.address, walk, &scan->seen,
			      is_never_empty(name) ? name : NULL);
}

struct error *table_check_count(struct table_scan *scan, const struct object *owner,
				const char *member, uint64_t found)
{
	uint64_t counted = 0;
	if (!object_has(owner, member))
		return NULL;
	struct error *error = object_u64(owner, member, &counted);
	if (!error && counted > found)
		error = error_create(ERROR_FORMAT,
				     "%s of 0x%" PRIx64 " is %" PRIu64 ", but %" PRIu64 " %s found",
				     member, owner->address, counted, found,
				     found == 1 ? "is" : "are");
	return table_broken(scan, error);
}

struct error *table_each_cpu(struct table_scan *scan, const char *name, const char *type_name,
			     table_cpu_visitor *visit_cpu, void *context)
{
	const struct cpu *cpus;
	TRY(target_need_cpus(scan->target));
	size_t count = target_cpus(scan->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		struct object object;
		TRY(object_per_cpu(scan->target, name, type_name, &cpus[i], &object));
		struct error *error = visit_cpu(scan, &cpus[i], &object, context);
		TRY(table_broken(scan, error_prefix(error, "CPU %" PRIu32, cpus[i].number)));
	}
	return NULL;
}

/* --- cells ----------------------------------------------------------------------------------- */

struct error *table_set_pointed(struct table_scan *scan, unsigned int column,
				const struct object *object, const char *path)
{
	char text[TEXT_MAX];
	uint64_t address;
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_u64(object, path, &address);
	if (!error && !address)
		return NULL;
	if (!error)
		error = path_pointed_string(object, path, text, sizeof(text));
	if (error)
		return table_set_error(scan, column, error);
	table_set_text(scan, column, text);
	return NULL;
}

struct error *table_set_chars(struct table_scan *scan, unsigned int column,
			      const struct object *object, const char *path)
{
	char text[TEXT_MAX];
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_string(object, path, text, sizeof(text));
	if (error)
		return table_set_error(scan, column, error);
	table_set_text(scan, column, text);
	return NULL;
}

struct error *table_set_function(struct table_scan *scan, unsigned int column,
				 const struct object *object, const char *path)
{
	char text[SYMBOL_NAME_SIZE + 80];
	uint64_t address;
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_u64(object, path, &address);
	if (error)
		return table_set_error(scan, column, error);
	if (!address)
		return NULL;
	if (!target_describe(scan->target, address, text, sizeof(text)))
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
	table_set_text(scan, column, text);
	return NULL;
}

struct error *table_set_scaled(struct table_scan *scan, unsigned int column,
			       const struct object *object, const char *path, uint64_t unit)
{
	uint64_t number, product;
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_u64(object, path, &number);
	if (!error && (__builtin_mul_overflow(number, unit, &product) || product > INT64_MAX))
		error = error_create(ERROR_FORMAT,
				     "%s is %" PRIu64 ", which is more than there can be", path,
				     number);
	if (error)
		return table_set_error(scan, column, error);
	table_set(scan, column, product);
	return NULL;
}

void table_set_name(struct table_scan *scan, unsigned int column, const char *const *names,
		    size_t count, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, number);
	table_set_text(scan, column, number < count && names[number] ? names[number] : text);
}

void table_set_words(struct table_scan *scan, unsigned int column, const struct table_word *words,
		     size_t count, uint64_t value)
{
	char text[WORDS_MAX] = "";
	size_t used = 0;
	for (size_t i = 0; i < count && used < sizeof(text); i++)
		if (value & words[i].bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? "," : "", words[i].word);
	table_set_text(scan, column, text);
}

/* --- names ----------------------------------------------------------------------------------- */

bool table_symbol(const struct table_scan *scan, const char *name, uint64_t *ret)
{
	return symtab_address(scan->target->symbols, name, ret);
}

/* The next enumerator of a type, from *index on. */
static bool next_enumerator(const struct table_scan *scan, const char *type_name, uint32_t *index,
			    struct btf_enumerator *ret)
{
	struct type type;
	struct btf_type record;
	struct error *error = target_find_type(scan->target, NULL, type_name, &type);
	if (error) {
		error_free(error);
		return false;
	}
	return btf_get(type.btf, type.id, &record) && btf_enumerator(&record, (*index)++, ret);
}

bool table_enumerator(const struct table_scan *scan, const char *type_name, const char *name,
		      uint64_t *ret)
{
	struct btf_enumerator enumerator;
	for (uint32_t i = 0; next_enumerator(scan, type_name, &i, &enumerator);)
		if (!strcmp(enumerator.name, name)) {
			*ret = (uint64_t)enumerator.value;
			return true;
		}
	return false;
}

void table_set_enumerator(struct table_scan *scan, unsigned int column, const char *type_name,
			  const char *prefix, uint64_t number)
{
	struct btf_enumerator enumerator;
	size_t length = strlen(prefix);
	if (!table_wants(scan, column))
		return;
	for (uint32_t i = 0; next_enumerator(scan, type_name, &i, &enumerator);)
		if ((uint64_t)enumerator.value == number &&
		    !strncmp(enumerator.name, prefix, length)) {
			table_set_text(scan, column, enumerator.name + length);
			return;
		}
	table_set_name(scan, column, NULL, 0, number);
}

#define REQ_OP_MASK 0xffu

void table_set_operation(struct table_scan *scan, unsigned int column, uint64_t flags)
{
	uint64_t number;
	/* Called req_opf until ff07a02e9e8e (6.0). */
	const char *type = table_enumerator(scan, "enum req_op", "REQ_OP_READ", &number)
				   ? "enum req_op"
				   : "enum req_opf";
	table_set_enumerator(scan, column, type, "REQ_OP_", flags & REQ_OP_MASK);
}

struct error *table_set_task(struct table_scan *scan, unsigned int column, unsigned int pid_column,
			     const struct object *object, const char *path)
{
	struct object task;
	struct error *error = object_follow(object, path, &task);
	if (error)
		return table_set_error(scan, column, error);
	if (!task.address)
		return NULL;
	table_set(scan, column, task.address);
	return table_set_member(scan, pid_column, &task, "pid");
}

bool table_function(const struct table_scan *scan, uint64_t address, char name[SYMBOL_NAME_SIZE],
		    const struct btf **ret_types)
{
	struct target *target = scan->target;
	char buffer[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	*ret_types = NULL;
	if (!target_symbol_at_into(target, address, buffer, &symbol, &offset) || offset)
		return false;
	snprintf(name, SYMBOL_NAME_SIZE, "%s", symbol.name);
	*ret_types = target_symbol_btf(target, &symbol);
	return true;
}

struct error *table_object(const struct table_scan *scan, const struct btf *types,
			   const char *type_name, uint64_t address, struct object *ret)
{
	struct type type;
	TRY(target_find_type(scan->target, types, type_name, &type));
	*ret = (struct object){ .target = scan->target, .type = type, .address = address };
	return NULL;
}
