// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Names that were asked for, kept as long as the table: the kernel's are compressed, those of
 * generated code come one by one. Threads ask at once.
 */
#include "base/array.h"
#include "symbols/symtab_private.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE (16u << 10)

struct chunk {
	struct chunk *next;
	size_t used;
	char text[CHUNK_SIZE];
};

struct symtab_names {
	pthread_mutex_t lock; /* of the chunks */
	struct chunk *chunks; /* the one that is being filled first */
	/* By the kernel's number; NULL: not asked for yet. Pages nobody touches cost nothing. */
	_Atomic(const char *) *kernel;
};

struct symtab_names *symtab_names_create(void)
{
	struct symtab_names *names = calloc(1, sizeof(*names));
	if (names)
		pthread_mutex_init(&names->lock, NULL);
	return names;
}

void symtab_names_destroy(struct symtab_names *names)
{
	if (!names)
		return;
	for (struct chunk *next, *chunk = names->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free((void *)names->kernel);
	pthread_mutex_destroy(&names->lock);
	free(names);
}

bool symtab_names_renumber(struct symtab_names *names, uint32_t count)
{
	_Atomic(const char *) *kernel = calloc((size_t)count + 1, sizeof(*kernel));
	if (!kernel)
		return false;
	free((void *)names->kernel);
	names->kernel = kernel;
	return true;
}

static const char *keep(struct symtab_names *names, const char *name, size_t length)
{
	struct chunk *chunk = names->chunks;
	if (!chunk || length >= CHUNK_SIZE - chunk->used) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = names->chunks;
		chunk->used = 0;
		names->chunks = chunk;
	}
	char *kept = chunk->text + chunk->used;
	memcpy(kept, name, length);
	kept[length] = 0;
	chunk->used += length + 1;
	return kept;
}

const char *symtab_names_keep(struct symtab_names *names, const char *name, size_t length)
{
	if (!length)
		return "";
	pthread_mutex_lock(&names->lock);
	const char *kept = keep(names, name, length);
	pthread_mutex_unlock(&names->lock);
	return kept;
}

static const char *find(const struct symtab_names *names, const char *name)
{
	for (const struct chunk *chunk = names->chunks; chunk; chunk = chunk->next)
		for (size_t at = 0; at < chunk->used; at += strlen(chunk->text + at) + 1)
			if (!strcmp(chunk->text + at, name))
				return chunk->text + at;
	return NULL;
}

const char *symtab_keep_name(const struct symtab *symtab, const char *name)
{
	struct symtab_names *names = symtab->names;
	size_t length = strnlen(name, SYMBOL_NAME_SIZE - 1);
	pthread_mutex_lock(&names->lock);
	const char *kept = find(names, name);
	if (!kept)
		kept = keep(names, name, length);
	pthread_mutex_unlock(&names->lock);
	return kept ? kept : "";
}

const char *symtab_names_of_kernel(struct symtab_names *names, const struct kallsyms *kernel,
				   uint32_t number, char *ret_kind)
{
	char name[SYMBOL_NAME_SIZE];
	const char *kept = atomic_load_explicit(&names->kernel[number], memory_order_acquire);
	if (kept) {
		*ret_kind = kallsyms_kind(kernel, number);
		return kept;
	}
	size_t length = kallsyms_name(kernel, number, name, sizeof(name), ret_kind);
	kept = symtab_names_keep(names, name, length);
	if (!kept)
		return "";
	/* Of two threads the later one's stays; both are good. */
	atomic_store_explicit(&names->kernel[number], kept, memory_order_release);
	return kept;
}
