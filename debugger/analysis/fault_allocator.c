// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A fault inside the slab allocator while it takes an object from a cache: it follows the free
 * list, which lies in the free objects themselves. Who wrote into one of those need not be on the
 * stack.
 */
#include "base/array.h"
#include "debugger/analysis/byte_run.h"
#include "debugger/analysis/fault.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/kernel/slab_link.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8u
#define NEAR 4096u /* a member of the cache, and not an object of it */

/* They are given a cache, which is their argument "s", and return an object of it. */
static bool allocates(const struct frame *frame)
{
	static const char *const starts[] = { "__kmalloc",	    "kmalloc_trace",
					      "kmalloc_node_trace", "__kmem_cache_alloc",
					      "kmem_cache_alloc",   "___slab_alloc",
					      "__slab_alloc" };
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (frame->has_symbol && !frame->symbol.module &&
		    !strncmp(frame->symbol.name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static struct error *read_name(struct target *target, uint64_t cache, char *name, size_t size)
{
	struct object object;
	uint64_t address;
	size_t length;
	TRY(object_at(target, "struct kmem_cache", cache, &object));
	TRY(object_u64(&object, "name", &address));
	return memory_read_string(target->memory, address, name, size, &length);
}

static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at++)
		if (*at <= ' ' || *at == '/' || *at > '~')
			return false;
	return *name;
}

/*
 * Caches of one size may be one: an object of that of the caches is a cache if it is in their list
 * and has a name.
 */
static bool is_cache(struct target *target, uint64_t address)
{
	char name[SLAB_NAME_SIZE];
	struct object object, list;
	uint64_t next, back = 0;
	struct error *error = object_at(target, "struct kmem_cache", address, &object);
	error = error ?: object_member(&object, "list", &list);
	error = error ?: object_u64(&list, "next", &next);
	error = error ?: memory_read_word(target->memory, next + sizeof(next), &back);
	error = error ?: read_name(target, address, name, sizeof(name));
	bool ret = !error && back == list.address && is_plain(name);
	error_free(error);
	return ret;
}

/*
 * The cache that a frame's registers alone have the address of: where all of the allocator is one
 * function with kmalloc(), the cache is no argument. 0: none, or several.
 */
static struct error *cache_in_registers(const struct fault *fault, uint64_t *ret)
{
	static const char cache[] = "slab cache kmem_cache";
	const struct registers *registers = &fault->frame->registers;
	struct target *target = fault->analysis->target;
	*ret = 0;
	for (unsigned int i = 0; i < ARRAY_COUNT(registers->values); i++) {
		uint64_t value = registers->values[i];
		struct object_note note;
		if (!registers_has(registers, i) || !is_kernel_pointer(value) || value == *ret)
			continue;
		TRY(object_note_find(target, value, &note));
		if (!note.is_slab || note.object != value || note.state != SLAB_ALLOCATED ||
		    !strstr(note.text, cache) || !is_cache(target, value))
			continue;
		if (*ret) {
			*ret = 0;
			return NULL;
		}
		*ret = value;
	}
	return NULL;
}

static struct error *find_cache(const struct fault *fault, uint64_t *ret)
{
	return analysis_argument(fault->analysis, fault->at, "s", ret)
		       ? NULL
		       : cache_in_registers(fault, ret);
}

/* Text that was written over it: of a word that was cleared since, what is left behind it. */
static struct error *show_text(struct target *target, const struct slab_link *link,
			       struct finding *finding)
{
	uint64_t places[] = { link->place, link->place + WORD, link->place - WORD, link->text };
	struct byte_run run = { .size = 0 };
	char words[256], command[64];
	for (size_t i = 0; i < ARRAY_COUNT(places) && !*run.text; i++)
		byte_run_find(target->memory, places[i], &run);
	if (!*run.text)
		return NULL;
	byte_run_spell(&run, words, sizeof(words));
	snprintf(command, sizeof(command), "rd -a 0x%" PRIx64 " %" PRIu64, run.start, run.size);
	TRY(finding_add(finding, command, "%s", words));
	return fault_append(finding, words);
}

/*
 * The object whose word leads astray, and whose it and the one before it are: who wrote there had
 * freed the one, or wrote on behind the end of the other. `whose`: of the two the one that is
 * known, of one module's the first; "": none is, or they are of two.
 */
static struct error *show_link(const struct fault *fault, uint64_t cache, struct finding *finding,
			       struct slab_link *ret, struct fault_owner *whose)
{
	struct target *target = fault->analysis->target;
	struct object_note note = { .is_slab = true };
	struct fault_owner own, before = { .words = "" };
	char command[64];
	*whose = (struct fault_owner){ .words = "" };
	TRY(error_only_fatal(slab_link_find(target, cache, fault->access->address, ret)));
	if (!ret->slot)
		return NULL;
	snprintf(command, sizeof(command), "rd 0x%" PRIx64, ret->place);
	TRY(finding_add(finding, ret->is_gone ? NULL : command,
			"the object at 0x%" PRIx64 " %s there, by its word at +0x%" PRIx64
			"%s 0x%" PRIx64,
			ret->slot, ret->is_gone ? "led" : "leads", ret->place - ret->slot,
			ret->is_gone ? ", which was cleared since, and was" : ":", ret->stored));
	if (ret->is_gone && !ret->stored)
		TRY(finding_add(finding, NULL,
				"a word of 0 is what an object has that was given out while it was "
				"on the list: it had been freed twice, or was cleared after it had "
				"been freed"));
	TRY(show_text(target, ret, finding));
	note.object = ret->slot;
	note.size = ret->size;
	TRY(fault_add_owner(target, &note, "that object", finding, &own));
	note.object = ret->before;
	if (note.object)
		TRY(fault_add_owner(target, &note, "the object before it", finding, &before));
	if (!*own.words || !*before.words || !strcmp(own.module, before.module))
		*whose = *own.words ? own : before;
	return NULL;
}

struct error *fault_show_allocator(struct fault *fault, struct finding *finding, bool *ret)
{
	struct analysis *analysis = fault->analysis;
	char name[SLAB_NAME_SIZE];
	uint64_t cache;
	*ret = false;
	if (!fault->access || !fault->access->has_base || !allocates(fault->frame))
		return NULL;
	TRY(find_cache(fault, &cache));
	if (!cache || fault->pointer - cache + NEAR <= 2 * NEAR)
		return NULL;
	struct error *error = read_name(analysis->target, cache, name, sizeof(name));
	if (error || !is_plain(name))
		return error_only_fatal(error);
	*ret = true;
	struct slab_link link;
	struct fault_owner whose;
	char at[sizeof(whose) + 32];
	TRY(show_link(fault, cache, finding, &link, &whose));
	snprintf(at, sizeof(at), " at 0x%" PRIx64 "%s%s%s", link.slot, *whose.words ? " (" : "",
		 whose.words, *whose.words ? ")" : "");
	TRY(finding_summarize(finding, "the free list of the slab cache %s is broken%s: %s", name,
			      link.slot ? at : "", finding->summary));
	finding->kind = "slab-corruption";
	/* What the code there follows is not read: the cache's own members may be what is broken.
	 */
	finding->sure = CONFIDENCE_INFERRED;
	analysis->blamed = fault->at;
	/* Caches of one size are everybody's. */
	if (asprintf(&finding->culprit, "%s%s%s", name, *whose.words ? "/" : "",
		     *whose.words ? whose.variable : "") < 0) {
		finding->culprit = NULL;
		return error_no_memory();
	}
	TRY(finding_add(
		finding, NULL,
		"the list leads from one free object to the next: one was written to, by a "
		"writer behind the end of its own object, or after it had been freed (which "
		"may have been twice), or by who still had its page, mapped or for a device"));
	return finding_add(finding, "slabs", "whoever asks that cache for memory meets it");
}
