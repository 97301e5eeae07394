/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that notes which words are read, at which place of the code, or has other words than the
 * dump. For one program each: the functions are its own.
 */
#ifndef TESTS_STRESS_WORDS_H
#define TESTS_STRESS_WORDS_H

#include "base/memory.h"
#include <execinfo.h>
#include <pthread.h>
#include <string.h>

#define WORDS_MAX      (1u << 17) /* that are noted of a line */
#define SLOTS	       (2 * WORDS_MAX)
#define CHANGES_MAX    8192u
#define CHANGE_SLOTS   (2 * CHANGES_MAX)
#define FRAMES_MAX     10
#define FRAMES_SKIPPED 2
#define LINE_BITS      (1u << 23)

struct word {
	uint64_t address, value;
	uint32_t place; /* of the code that read it first */
	uint32_t number;
};

/* What a process tells its parent. */
struct shared {
	struct word words[WORDS_MAX];
	size_t count;
	uint64_t bytes, lines;
	uint64_t repeated; /* bytes of lines that had come before */
	uint64_t line_hash, line_size;
	uint8_t met[LINE_BITS / 8]; /* a bit for each hash of a line */
};

struct change {
	uint64_t address, value;
};

struct overlay {
	struct memory memory;
	struct memory *inner;
	struct shared *shared;
	bool notes; /* what is read, rather than changes it */
	uint32_t slots[SLOTS];
	pthread_mutex_t lock;
	struct change changes[CHANGE_SLOTS]; /* by a hash of the address; 0: none */
	size_t change_count;
};

static size_t hash_of(uint64_t address)
{
	return (address >> 3) * 0x9e3779b97f4a7c15u >> 40;
}

static struct change *change_at(struct overlay *overlay, uint64_t address)
{
	size_t at = hash_of(address);
	while (overlay->changes[at % CHANGE_SLOTS].address &&
	       overlay->changes[at % CHANGE_SLOTS].address != address)
		at++;
	return &overlay->changes[at % CHANGE_SLOTS];
}

static void set_word(struct overlay *overlay, uint64_t address, uint64_t value)
{
	struct change *change = change_at(overlay, address);
	if (address % 8 || (!change->address && overlay->change_count == CHANGES_MAX))
		return;
	overlay->change_count += !change->address;
	*change = (struct change){ address, value };
}

static uint32_t place_of_code(void)
{
	void *frames[FRAMES_MAX];
	int count = backtrace(frames, FRAMES_MAX);
	uint64_t hash = 0xcbf29ce484222325;
	for (int i = FRAMES_SKIPPED; i < count; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 0x100000001b3;
	return (uint32_t)(hash >> 32 ^ hash);
}

static void note_word(struct overlay *overlay, uint64_t address, uint64_t value, uint32_t place)
{
	struct shared *shared = overlay->shared;
	size_t at = hash_of(address);
	for (; overlay->slots[at % SLOTS]; at++)
		if (shared->words[overlay->slots[at % SLOTS] - 1].address == address)
			return;
	if (shared->count == WORDS_MAX)
		return;
	shared->words[shared->count] =
		(struct word){ address, value, place, (uint32_t)shared->count };
	overlay->slots[at % SLOTS] = (uint32_t)++shared->count;
}

static void note_words(struct overlay *overlay, uint64_t address, const uint8_t *bytes, size_t size)
{
	if (overlay->shared->count == WORDS_MAX)
		return;
	uint32_t place = place_of_code();
	pthread_mutex_lock(&overlay->lock);
	for (size_t at = -address & 7; at + 8 <= size; at += 8) {
		uint64_t value;
		memcpy(&value, bytes + at, 8);
		note_word(overlay, address + at, value, place + (uint32_t)at);
	}
	pthread_mutex_unlock(&overlay->lock);
}

static void change_words(struct overlay *overlay, uint64_t address, uint8_t *bytes, size_t size)
{
	for (uint64_t at = address & ~(uint64_t)7; at - address + 8 < size + 8; at += 8) {
		const struct change *change = change_at(overlay, at);
		for (size_t i = 0; change->address && i < 8; i++)
			if (at + i - address < size)
				bytes[at + i - address] = (uint8_t)(change->value >> 8 * i);
	}
}

static struct error *overlay_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct overlay *overlay = (struct overlay *)memory;
	TRY(overlay->inner->read(overlay->inner, address, buffer, size));
	if (overlay->notes)
		note_words(overlay, address, buffer, size);
	else if (overlay->change_count)
		change_words(overlay, address, buffer, size);
	return NULL;
}

#endif
