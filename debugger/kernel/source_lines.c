// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/source_lines.h"

#include "base/array.h"
#include "base/hash.h"
#include "debugger/kernel/bug_table.h"
#include "debugger/kernel/dynamic_debug.h"
#include <string.h>

#define ALIKE_MAX 64u /* names of one hash that are looked at */

/* A function that something is known of. */
struct known {
	uint64_t address;
	const struct module *module; /* NULL: the kernel */
	size_t first, count;	     /* facts */
	const char *file;	     /* NULL: they do not agree, or have no source file */
	enum file_proof proof;
};

struct source_lines {
	struct target *target;
	struct line_fact *facts;
	size_t count, capacity;
	struct known *functions;
	size_t function_count, function_capacity;
	char **names; /* of files and functions, each once */
	size_t name_count, name_capacity;
	struct hash_index index; /* of these */
};

const char *line_kind_name(enum line_kind kind)
{
	static const char *const names[] = {
		[LINE_BUG] = "BUG", [LINE_WARNING] = "WARN", [LINE_DEBUG_MESSAGE] = "debug message"
	};
	return names[kind];
}

const char *file_proof_name(enum file_proof proof)
{
	static const char *const names[] = { [FILE_UNKNOWN] = "not known",
					     [FILE_FILLED] = "as its neighbours",
					     [FILE_CODE] = "its code",
					     [FILE_WRITTEN] = "written there" };
	return names[proof];
}

static const char *keep_name(struct source_lines *lines, const char *name)
{
	uint32_t hash = hash_string(name);
	size_t position = hash_index_first(&lines->index, hash);
	uint32_t looked = 0, i;
	/* Hostile names may all have one hash: then some are kept more than once. */
	while (looked++ < ALIKE_MAX &&
	       (i = hash_index_next(&lines->index, hash, &position)) != HASH_NONE)
		if (!strcmp(lines->names[i], name))
			return lines->names[i];
	if (!array_reserve(&lines->names, &lines->name_capacity, lines->name_count + 1) ||
	    !hash_index_add(&lines->index, hash, (uint32_t)lines->name_count))
		return NULL;
	char *copy = strdup(name);
	if (copy)
		lines->names[lines->name_count++] = copy;
	return copy;
}

/* The name up to what a compiler adds to it. */
static bool is_called(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	return !strncmp(symbol, name, length) && (!symbol[length] || symbol[length] == '.');
}

/*
 * Where init code was, another module may be by now: `module` is whose tables say it. `within`: ""
 * not known.
 */
static struct error *add(struct source_lines *lines, const struct module *module,
			 struct line_fact fact, const char *file, const char *within)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	if (!*file || target_module_at(lines->target, fact.address) != module ||
	    !target_symbol_at_into(lines->target, fact.address, name, &symbol, &offset) ||
	    !symtab_is_text(lines->target->symbols, fact.address))
		return NULL;
	if (!array_reserve(&lines->facts, &lines->capacity, lines->count + 1))
		return error_no_memory();
	fact.function = symbol.address;
	fact.is_function = *within && is_called(name, within);
	fact.file = keep_name(lines, strncmp(file, "./", 2) ? file : file + 2);
	fact.within = *within ? keep_name(lines, within) : NULL;
	if (!fact.file || (*within && !fact.within))
		return error_no_memory();
	lines->facts[lines->count++] = fact;
	return NULL;
}

static struct error *add_bug(void *context, const struct module *module, const struct bug *bug)
{
	struct line_fact fact = { .address = bug->address,
				  .line = (uint32_t)bug->line,
				  .is_near = bug->is_near,
				  .kind = bug->is_warning ? LINE_WARNING : LINE_BUG };
	return add(context, module, fact, bug->file, "");
}

static struct error *add_site(void *context, const struct debug_site *site)
{
	struct source_lines *lines = context;
	struct line_fact fact = { .address = site->address,
				  .line = (uint32_t)site->line,
				  .kind = LINE_DEBUG_MESSAGE };
	return add(lines, target_module_at(lines->target, site->descriptor), fact, site->file,
		   site->function);
}

static int compare_facts(const void *a, const void *b)
{
	const struct line_fact *one = a, *other = b;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	if (one->line != other->line)
		return one->line < other->line ? -1 : 1;
	return strcmp(one->file, other->file);
}

static bool is_source(const char *file)
{
	size_t length = strlen(file);
	return length > 2 && (!strcmp(file + length - 2, ".c") || !strcmp(file + length - 2, ".S"));
}

/* What is written in the function itself decides, else all of it has to agree. */
static void decide_file(const struct source_lines *lines, struct known *known)
{
	enum file_proof best = FILE_UNKNOWN;
	for (size_t i = 0; i < known->count; i++) {
		const struct line_fact *fact = &lines->facts[known->first + i];
		enum file_proof proof = fact->is_function	? FILE_WRITTEN
					: is_source(fact->file) ? FILE_CODE
								: FILE_UNKNOWN;
		if (proof < best || proof == FILE_UNKNOWN)
			continue;
		if (proof > best)
			known->file = fact->file;
		else if (known->file != fact->file)
			known->file = NULL;
		best = proof;
	}
	known->proof = known->file ? best : FILE_UNKNOWN;
}

/* A function's code is in one piece: facts that have one stand together. */
static struct error *sort_in(struct source_lines *lines)
{
	array_sort(lines->facts, lines->count, sizeof(*lines->facts), compare_facts);
	for (size_t i = 0; i < lines->count;) {
		struct known known = { .address = lines->facts[i].function, .first = i };
		while (i < lines->count && lines->facts[i].function == known.address)
			i++;
		known.count = i - known.first;
		known.module = target_module_at(lines->target, known.address);
		decide_file(lines, &known);
		if (!array_reserve(&lines->functions, &lines->function_capacity,
				   lines->function_count + 1))
			return error_no_memory();
		lines->functions[lines->function_count++] = known;
	}
	return NULL;
}

struct error *source_lines_create(struct target *target, struct source_lines **ret)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));
	if (!lines)
		return error_no_memory();
	lines->target = target;
	struct error *error = hash_index_init(&lines->index, 1024) ? NULL : error_no_memory();
	if (!error)
		error = error_only_fatal(bug_each(target, add_bug, lines));
	if (!error)
		error = error_only_fatal(debug_site_each(target, add_site, lines));
	if (!error)
		error = sort_in(lines);
	if (error)
		source_lines_destroy(lines);
	else
		*ret = lines;
	return error;
}

void source_lines_destroy(struct source_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->name_count; i++)
		free(lines->names[i]);
	free(lines->names);
	hash_index_deinit(&lines->index);
	free(lines->functions);
	free(lines->facts);
	free(lines);
}

/* How many functions lie in front of an address. */
static size_t position_of(const struct source_lines *lines, uint64_t address)
{
	return array_bound(lines->function_count, i, lines->functions[i].address < address);
}

static bool is_at(const struct source_lines *lines, size_t position, uint64_t address)
{
	return position < lines->function_count && lines->functions[position].address == address;
}

size_t source_lines_of(const struct source_lines *lines, uint64_t address,
		       const struct line_fact **ret)
{
	size_t position = position_of(lines, address);
	*ret = NULL;
	if (!is_at(lines, position, address))
		return 0;
	*ret = &lines->facts[lines->functions[position].first];
	return lines->functions[position].count;
}

size_t source_lines_count(const struct source_lines *lines)
{
	return lines->count;
}

const struct line_fact *source_lines_all(const struct source_lines *lines)
{
	return lines->facts;
}

enum file_proof source_lines_file(const struct source_lines *lines, const struct symbol *function,
				  const char **ret)
{
	size_t position = position_of(lines, function->address), behind = position;
	*ret = NULL;
	if (is_at(lines, position, function->address)) {
		if (lines->functions[position].file) {
			*ret = lines->functions[position].file;
			return lines->functions[position].proof;
		}
		behind++;
	}
	if (!position || behind >= lines->function_count)
		return FILE_UNKNOWN;
	const struct known *before = &lines->functions[position - 1];
	const struct known *after = &lines->functions[behind];
	const struct module *module = target_module_at(lines->target, function->address);
	if (before->module != module || after->module != module || !before->file ||
	    before->file != after->file)
		return FILE_UNKNOWN;
	*ret = before->file;
	return FILE_FILLED;
}
