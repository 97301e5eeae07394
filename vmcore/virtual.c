// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/virtual.h"

#include "vmcore/vmcore.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SLOTS 1024u /* 24 KiB; one entry a translation, whatever its size */
#define SIZES_MAX   8
#define LIVE_PAGE   4096u /* the smallest one: mapped or not as a whole */

/*
 * Page-table walks are cached by their result. A run of 2 MiB takes one slot, found by the address
 * divided by its size; a look-up asks once for each size that was ever met (two or three).
 */
struct virtual_memory {
	struct memory memory;
	struct memory *physical;
	const struct translator *translator;
	struct vmcore *live;	 /* NULL: a dump */
	pthread_mutex_t lock;	 /* of all below; readers may be threads */
	struct translation last; /* most reads stay where the one before was */
	uint64_t sizes[SIZES_MAX];
	size_t size_count;
	struct translation slots[CACHE_SLOTS]; /* size 0: free */
};

static bool covers(const struct translation *run, uint64_t address)
{
	return address - run->address < run->size;
}

static struct translation *slot_for(struct virtual_memory *virtual, uint64_t start, uint64_t size)
{
	uint64_t hash = (start ^ size) * 0x9e3779b97f4a7c15u;
	return &virtual->slots[hash >> 40 & (CACHE_SLOTS - 1)];
}

static const struct translation *find_cached(struct virtual_memory *virtual, uint64_t address)
{
	for (size_t i = 0; i < virtual->size_count; i++) {
		uint64_t size = virtual->sizes[i];
		const struct translation *run = slot_for(virtual, address & ~(size - 1), size);
		if (run->size == size && covers(run, address))
			return run;
	}
	return NULL;
}

/* Runs of odd sizes or too many different ones are not remembered, only slower. */
static void remember(struct virtual_memory *virtual, const struct translation *run)
{
	if (!run->size || (run->size & (run->size - 1)) || run->address & (run->size - 1))
		return;
	size_t i = 0;
	while (i < virtual->size_count && virtual->sizes[i] != run->size)
		i++;
	if (i == SIZES_MAX)
		return;
	if (i == virtual->size_count)
		virtual->sizes[virtual->size_count++] = run->size;
	*slot_for(virtual, run->address, run->size) = *run;
}

/* The run that holds `address`, in virtual->last. */
static struct error *translate(struct virtual_memory *virtual, uint64_t address)
{
	if (virtual->live)
		return virtual->translator->translate(virtual->translator, address, &virtual->last);
	if (covers(&virtual->last, address))
		return NULL;
	const struct translation *cached = find_cached(virtual, address);
	if (cached) {
		virtual->last = *cached;
		return NULL;
	}
	struct translation run;
	struct error *error = virtual->translator->translate(virtual->translator, address, &run);
	if (error)
		return error;
	remember(virtual, &run);
	virtual->last = run;
	return NULL;
}

/*
 * How much from `address` on, at most `size`, lies in one piece of physical memory. Neighbouring
 * pages are joined as far as they follow each other there too. A failure behind the first byte is
 * left for the next call, when its address comes first.
 */
static struct error *find_piece(struct virtual_memory *virtual, uint64_t address, size_t size,
				uint64_t *ret_physical, size_t *ret_size)
{
	struct error *error = translate(virtual, address);
	if (error)
		return error;
	const struct translation *run = &virtual->last;
	uint64_t physical = run->physical + (address - run->address);
	uint64_t done = run->size - (address - run->address);
	while (done < size) {
		error = translate(virtual, address + done);
		if (error) {
			error_free(error);
			break;
		}
		uint64_t skip = address + done - run->address;
		if (run->physical + skip != physical + done)
			break;
		done += run->size - skip;
	}
	*ret_physical = physical;
	*ret_size = done < size ? (size_t)done : size;
	return NULL;
}

/* The physical reader's error in terms of the virtual address. */
static struct error *in_virtual(const struct virtual_memory *virtual, struct error *error,
				uint64_t address, uint64_t physical, size_t size)
{
	uint64_t skip = error->address - physical;
	if (skip >= size)
		skip = 0;
	error = error_prefix(error, "%s address 0x%" PRIx64, virtual->memory.name, address + skip);
	if (error->kind != ERROR_NO_MEMORY)
		error->address = address + skip;
	return error;
}

/* Through the page tables: what of these bytes lies in one piece. */
static struct error *read_piece(struct virtual_memory *virtual, uint64_t address, uint8_t *to,
				size_t size, size_t *ret_size)
{
	uint64_t physical = 0;
	pthread_mutex_lock(&virtual->lock);
	struct error *error = find_piece(virtual, address, size, &physical, ret_size);
	pthread_mutex_unlock(&virtual->lock);
	if (error)
		return error;
	error = memory_read(virtual->physical, physical, to, *ret_size);
	return error ? in_virtual(virtual, error, address, physical, *ret_size) : NULL;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* Pages of nothing but zeros must be there, or the kernel gave them for a hole. */
static struct error *check_zeros(struct virtual_memory *virtual, uint64_t address,
				 const uint8_t *bytes, size_t size)
{
	while (size) {
		size_t part = LIVE_PAGE - (size_t)(address % LIVE_PAGE);
		part = part < size ? part : size;
		if (is_zero(bytes, part)) {
			uint64_t physical;
			struct error *error =
				virtual_memory_translate(&virtual->memory, address, &physical);
			if (error)
				return error;
		}
		address += part, bytes += part, size -= part;
	}
	return NULL;
}

/* The kernel's own copy of what its tables say now; without them where it offers none. */
static struct error *read_live(struct virtual_memory *virtual, uint64_t address, uint8_t *to,
			       size_t size, size_t *ret_size)
{
	bool sure = true;
	struct error *error = vmcore_read_live(virtual->live, address, to, size, ret_size, &sure);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return read_piece(virtual, address, to, size, ret_size);
	}
	return error || sure ? error : check_zeros(virtual, address, to, *ret_size);
}

static struct error *virtual_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct virtual_memory *virtual = (struct virtual_memory *)memory;
	uint8_t *to = buffer;
	while (size) {
		size_t part = 0;
		struct error *error = virtual->live ? read_live(virtual, address, to, size, &part)
						    : read_piece(virtual, address, to, size, &part);
		if (error)
			return error;
		to += part;
		address += part;
		size -= part;
	}
	return NULL;
}

/* What lies in one piece of physical memory. */
static const void *virtual_lend(struct memory *memory, uint64_t address, size_t size)
{
	struct virtual_memory *virtual = (struct virtual_memory *)memory;
	uint64_t physical = 0;
	size_t part = 0;
	if (!virtual->physical->lend)
		return NULL;
	pthread_mutex_lock(&virtual->lock);
	struct error *error = find_piece(virtual, address, size, &physical, &part);
	pthread_mutex_unlock(&virtual->lock);
	bool whole = !error && part == size;
	error_free(error);
	return whole ? virtual->physical->lend(virtual->physical, physical, size) : NULL;
}

struct error *virtual_memory_create(struct memory *physical, const struct translator *translator,
				    struct memory **ret)
{
	struct virtual_memory *virtual = calloc(1, sizeof(*virtual));
	if (!virtual)
		return error_no_memory();
	virtual->memory = (struct memory){ .read = virtual_read,
					   .lend = virtual_lend,
					   .name = "kernel",
					   .word_size = physical->word_size,
					   .big_endian = physical->big_endian };
	virtual->physical = physical;
	virtual->translator = translator;
	pthread_mutex_init(&virtual->lock, NULL);
	*ret = &virtual->memory;
	return NULL;
}

void virtual_memory_set_live(struct memory *memory, struct vmcore *vmcore)
{
	((struct virtual_memory *)memory)->live = vmcore;
}

void virtual_memory_destroy(struct memory *memory)
{
	struct virtual_memory *virtual = (struct virtual_memory *)memory;
	if (virtual)
		pthread_mutex_destroy(&virtual->lock);
	free(virtual);
}

struct error *virtual_memory_translate(struct memory *memory, uint64_t address, uint64_t *ret)
{
	struct virtual_memory *virtual = (struct virtual_memory *)memory;
	pthread_mutex_lock(&virtual->lock);
	struct error *error = translate(virtual, address);
	if (!error)
		*ret = virtual->last.physical + (address - virtual->last.address);
	pthread_mutex_unlock(&virtual->lock);
	return error;
}
