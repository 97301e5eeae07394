/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What most tables do: walk a container of the kernel's, and show members of what is in it. A link
 * that is broken is the pass's problem, and the walk goes on with what can be reached.
 */
#ifndef DEBUGGER_TABLES_WALKS_H
#define DEBUGGER_TABLES_WALKS_H

#include "debugger/kernel/walk.h"
#include "debugger/tables/table.h"

/* An error ends the walk, so one that is not fatal goes to table_broken(). */
typedef struct error *table_visitor(struct table_scan *scan, const struct object *object,
				    void *context);

enum table_container {
	CONTAINER_LIST,
	CONTAINER_HLIST,
	CONTAINER_NULLS, /* a hlist_nulls */
	CONTAINER_CHAIN, /* linked by `node` alone, which is a pointer to the next whole */
	CONTAINER_RBTREE,
	CONTAINER_IDR,
	CONTAINER_XARRAY
};

/*
 * Each that is in the container at `head`: a `type_name`, whose member `node` links it. `node`
 * NULL: what is in the map is the address of the whole. What was visited in this pass, by whatever
 * walk, is broken where one leads to it again.
 */
struct table_walk {
	enum table_container container;
	const char *type_name, *node;
	table_visitor *visit;
	void *context;
};
struct error *table_walk(struct table_scan *scan, uint64_t head,
			 const struct table_walk *walk) MUST_CHECK;
/*
 * The same without a look at what was visited: where `visit` sees that each is of this container
 * alone, or bounds how many walks there are.
 */
struct error *table_walk_forgetful(struct table_scan *scan, uint64_t head,
				   const struct table_walk *walk) MUST_CHECK;
/* table_walk() of a variable that is the head, of that type; of a chain it is the pointer to it. */
struct error *table_walk_variable(struct table_scan *scan, const char *name, const char *type_name,
				  const struct table_walk *walk) MUST_CHECK;
/*
 * Holds what was found against the kernel's own count of it, a member of `owner`: a container that
 * ends too early looks like a whole one. The pass is broken where fewer were found. A kernel that
 * has no such member does not count.
 */
struct error *table_check_count(struct table_scan *scan, const struct object *owner,
				const char *member, uint64_t found) MUST_CHECK;
/* A per-CPU variable on each possible CPU; what cannot be read of one costs this one. */
typedef struct error *table_cpu_visitor(struct table_scan *scan, const struct cpu *cpu,
					const struct object *object, void *context);
struct error *table_each_cpu(struct table_scan *scan, const char *name, const char *type_name,
			     table_cpu_visitor *visit, void *context) MUST_CHECK;

/* --- cells; errors are fatal ones, others say in the cell why it is empty --- */

/* The string behind the pointer at `path`; of NULL none. */
struct error *table_set_pointed(struct table_scan *scan, unsigned int column,
				const struct object *object, const char *path) MUST_CHECK;
/* The char array at `path`. */
struct error *table_set_chars(struct table_scan *scan, unsigned int column,
			      const struct object *object, const char *path) MUST_CHECK;
/* What the pointer at `path` leads to, by its symbol; an address without one as digits. */
struct error *table_set_function(struct table_scan *scan, unsigned int column,
				 const struct object *object, const char *path) MUST_CHECK;
/* The number at `path` times `unit`. */
struct error *table_set_scaled(struct table_scan *scan, unsigned int column,
			       const struct object *object, const char *path,
			       uint64_t unit) MUST_CHECK;
/* names[number], or where there is none the number. */
void table_set_name(struct table_scan *scan, unsigned int column, const char *const *names,
		    size_t count, uint64_t number);
/* The words of the bits that are set, commas between. */
struct table_word {
	uint64_t bit;
	const char *word;
};
void table_set_words(struct table_scan *scan, unsigned int column, const struct table_word *words,
		     size_t count, uint64_t value);
/* The enumerator of that value, without `prefix`; where there is none the number. */
void table_set_enumerator(struct table_scan *scan, unsigned int column, const char *type_name,
			  const char *prefix, uint64_t number);
/* "READ", "WRITE", ...: what a request or a bio is for, of its flags. */
void table_set_operation(struct table_scan *scan, unsigned int column, uint64_t flags);
/* A task by the pointer at `path`: its address, and its pid in another column. */
struct error *table_set_task(struct table_scan *scan, unsigned int column, unsigned int pid_column,
			     const struct object *object, const char *path) MUST_CHECK;
/* Of the first of the kernel's symbols of that name; false: there is none. */
bool table_symbol(const struct table_scan *scan, const char *name, uint64_t *ret);
/* The value of an enumerator of the kernel's, by the name of its enum; false: it has none. */
bool table_enumerator(const struct table_scan *scan, const char *type_name, const char *name,
		      uint64_t *ret);

/*
 * The function that begins at an address: its name, and the types of the module that it is of,
 * NULL: of the kernel. false: none begins there.
 */
bool table_function(const struct table_scan *scan, uint64_t address, char name[SYMBOL_NAME_SIZE],
		    const struct btf **ret_types);
/* object_at() of a type that may be a module's: of `types`, NULL: of the kernel alone. */
struct error *table_object(const struct table_scan *scan, const struct btf *types,
			   const char *type_name, uint64_t address, struct object *ret) MUST_CHECK;

#endif
