// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whose a slab cache is. The cache does not say: a variable that has its address does, and what its
 * objects point to, for they are mostly of one kind when there are too many of them.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "debugger/analysis/memory_words.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/variable_search.h"
#include "debugger/kernel/slab_objects.h"
#include "debugger/target/list.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS_MAX    200000 /* that are looked into */
#define WORDS_MAX      64     /* of each */
#define FREQUENT_MAX   4      /* values of a word that may be frequent */
#define HEADS_MAX      8      /* variables of modules */
#define FREQUENT_SHARE 4      /* one of so many objects has it */
#define SHOWN_MAX      3
#define KERNEL_BIT     63 /* set in its addresses */

/* --- a variable that has the cache ------------------------------------------------------------ */

static struct error *add_variable(struct target *target, const struct slab_usage *usage,
				  struct finding *finding, char *owner, size_t size)
{
	struct symbol symbol;
	uint64_t offset;
	char command[40];
	uint64_t place;
	size_t count;
	*owner = 0;
	TRY(variables_find_pointers(target, VARIABLES_OF_MODULES, usage->cache.address, 1, &place,
				    1, &count));
	if (!count)
		TRY(variables_find_pointers(target, VARIABLES_OF_KERNEL, usage->cache.address, 1,
					    &place, 1, &count));
	if (!count || !target_symbol_at(target, place, &symbol, &offset))
		return NULL;
	if (symbol.module)
		snprintf(owner, size, "%s [%s]", symbol.name, symbol.module);
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, place);
	TRY(finding_add(finding, command, "%s known to %s",
			usage->cache.is_shared ? "one of the caches that were merged into it is"
					       : "the cache is",
			*owner ? owner : symbol.name));
	/* Of several, the one that a variable stands for need not have the objects. */
	if (usage->cache.is_shared)
		*owner = 0;
	return NULL;
}

/* --- what the objects point to ---------------------------------------------------------------- */

/* The values that are most frequent (Misra and Gries): no count is more than there are. */
struct frequent {
	uint64_t value, count;
};

struct contents {
	struct target *target;
	size_t words; /* of an object */
	uint64_t objects;
	bool is_enough;
	struct frequent frequent[WORDS_MAX][FREQUENT_MAX];
	uint64_t heads[HEADS_MAX]; /* variables of modules that head a list of objects */
	size_t head_count;
	uint64_t modules_start, modules_end;
};

static void count_value(struct frequent *frequent, uint64_t value)
{
	struct frequent *free_one = NULL;
	for (size_t i = 0; i < FREQUENT_MAX; i++) {
		if (frequent[i].count && frequent[i].value == value) {
			frequent[i].count++;
			return;
		}
		if (!frequent[i].count)
			free_one = &frequent[i];
	}
	if (free_one)
		*free_one = (struct frequent){ value, 1 };
	for (size_t i = 0; i < FREQUENT_MAX && !free_one; i++)
		frequent[i].count--;
}

/* A struct list_head in a module's memory at one end of whose list the object is. */
static bool is_head(const struct contents *contents, uint64_t link, uint64_t value)
{
	struct memory *memory = contents->target->memory;
	uint64_t next, previous;
	struct error *error = memory_read_u64(memory, value, &next);
	if (!error)
		error = memory_read_u64(memory, value + sizeof(uint64_t), &previous);
	bool is = !error && (next == link || previous + sizeof(uint64_t) == link ||
			     next + sizeof(uint64_t) == link || previous == link);
	error_free(error);
	return is;
}

static void note_head(struct contents *contents, uint64_t link, uint64_t value)
{
	if (value < contents->modules_start || value >= contents->modules_end ||
	    contents->head_count == HEADS_MAX || !is_head(contents, link, value))
		return;
	for (size_t i = 0; i < contents->head_count; i++)
		if (contents->heads[i] == value)
			return;
	contents->heads[contents->head_count++] = value;
}

static struct error *look_into(void *context, uint64_t object, bool is_allocated)
{
	struct contents *contents = context;
	uint8_t bytes[WORDS_MAX * sizeof(uint64_t)];
	if (!is_allocated)
		return NULL;
	if (contents->objects >= OBJECTS_MAX) {
		contents->is_enough = true;
		return error_create(ERROR_NOT_FOUND, "enough was seen");
	}
	struct error *error = memory_read(contents->target->memory, object, bytes,
					  contents->words * sizeof(uint64_t));
	if (error)
		return error_only_fatal(error);
	contents->objects++;
	for (size_t i = 0; i < contents->words; i++) {
		uint64_t word = load_unsigned(bytes + i * sizeof(uint64_t), sizeof(uint64_t),
					      contents->target->memory->big_endian);
		if (!(word >> KERNEL_BIT))
			continue;
		count_value(contents->frequent[i], word);
		note_head(contents, object + i * sizeof(uint64_t), word);
	}
	return NULL;
}

static void find_modules(struct contents *contents)
{
	const struct module *modules;
	size_t count = target_modules(contents->target, &modules);
	contents->modules_start = UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < modules[i].region_count; k++) {
			uint64_t start = modules[i].regions[k].start;
			uint64_t end = start + modules[i].regions[k].size;
			if (start < contents->modules_start)
				contents->modules_start = start;
			if (end > start && end > contents->modules_end)
				contents->modules_end = end;
		}
}

static struct error *add_pointer(const struct contents *contents, const struct frequent *one,
				 size_t word, struct finding *finding)
{
	struct object_note note;
	char command[40];
	TRY(object_note_find(contents->target, one->value, &note));
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, one->value);
	return finding_add(finding, command,
			   "at least %" PRIu64 " of %" PRIu64
			   " objects have at offset %zu the address 0x%" PRIx64 "%s%s",
			   one->count, contents->objects, word * sizeof(uint64_t), one->value,
			   *note.text ? ": " : "", note.text);
}

static uint64_t count_entries(struct target *target, uint64_t head)
{
	struct list_walk walk;
	uint64_t node = 0, count = 0;
	list_walk_init(&walk, target, head);
	for (; count < OBJECTS_MAX; count++) {
		struct error *error = list_walk_next(&walk, &node);
		bool failed = error;
		error_free(error);
		if (failed || !node)
			break;
	}
	return count;
}

static struct error *add_head(const struct contents *contents, uint64_t head,
			      struct finding *finding, char *owner, size_t size)
{
	char command[40], place[SYMBOL_NAME_SIZE + 96];
	uint64_t count = count_entries(contents->target, head);
	if (count < contents->objects / FREQUENT_SHARE ||
	    !target_describe(contents->target, head, place, sizeof(place)))
		return NULL;
	if (!*owner)
		snprintf(owner, size, "list %s", place);
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, head);
	return finding_add(finding, command,
			   "an object is at the end of the list %s, which has %s%" PRIu64
			   " entries",
			   place, count == OBJECTS_MAX ? "at least " : "", count);
}

static struct error *add_contents(const struct contents *contents, struct finding *finding,
				  char *owner, size_t size)
{
	size_t shown = 0;
	for (size_t i = 0; i < contents->head_count; i++)
		TRY(add_head(contents, contents->heads[i], finding, owner, size));
	for (size_t i = 0; i < contents->words; i++)
		for (size_t k = 0; k < FREQUENT_MAX && shown < SHOWN_MAX; k++) {
			const struct frequent *one = &contents->frequent[i][k];
			if (one->count < contents->objects / FREQUENT_SHARE || !one->count)
				continue;
			TRY(add_pointer(contents, one, i, finding));
			shown++;
		}
	return NULL;
}

static struct error *look_at_objects(struct target *target, const struct slab_usage *usage,
				     struct contents *contents)
{
	struct slab_walk *walk;
	size_t words = (size_t)(usage->cache.object_size / sizeof(uint64_t));
	contents->target = target;
	contents->words = words < WORDS_MAX ? words : WORDS_MAX;
	find_modules(contents);
	TRY(slab_walk_create(target, usage->cache.address, &walk));
	struct error *error = slab_walk_objects(walk, look_into, contents);
	slab_walk_destroy(walk);
	if (contents->is_enough) {
		error_free(error);
		error = NULL;
	}
	return error;
}

struct error *cache_users_add(struct target *target, const struct slab_usage *usage,
			      struct finding *finding, char *owner, size_t size)
{
	TRY(add_variable(target, usage, finding, owner, size));
	struct contents *contents = calloc(1, sizeof(*contents));
	if (!contents)
		return error_no_memory();
	struct error *error = error_only_fatal(look_at_objects(target, usage, contents));
	if (!error && contents->objects)
		error = add_contents(contents, finding, owner, size);
	free(contents);
	return error;
}
