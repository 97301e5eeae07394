// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Linked into the program by the linker's --wrap, in front of what reads a dump: some of the words
 * that are read are others, and the same word may be another one each time.
 *
 *   BTFCRASH_WORDS=SEED:SHARE:AFTER:LARGEST:LEVELS
 *
 * One word in SHARE, from the AFTER-th read on, in reads of at most LARGEST bytes; LEVELS: 1
 * physical memory, with page tables and what programs have mapped, 2 the kernel's virtual memory, 3
 * both. Nothing is lent: what would be used in its place is read. Without the variable all words
 * are as they are. How many were changed stands in the last line on standard error.
 */
#include "base/bytes.h"
#include "vmcore/physical.h"
#include "vmcore/virtual.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORIES_MAX   64
#define POINTERS       4096 /* that were read last */
#define NOTED	       512  /* bytes of a read that are looked at for them */
#define LEVEL_PHYSICAL 1
#define LEVEL_VIRTUAL  2

struct hooked {
	struct memory *memory;
	struct error *(*read)(struct memory *memory, uint64_t address, void *buffer, size_t size);
};

struct words {
	pthread_mutex_t lock; /* of all below; readers may be threads */
	bool is_told, is_known;
	uint64_t random, share, after, largest, levels;
	uint64_t reads, changed;
	uint64_t rest; /* words before the next one that is changed */
	struct hooked hooked[MEMORIES_MAX];
	uint64_t pointers[POINTERS];
	size_t pointer_count;
};

static struct words *all_words(void)
{
	static struct words words = { .lock = PTHREAD_MUTEX_INITIALIZER };
	return &words;
}

static uint64_t next_random(struct words *words)
{
	words->random ^= words->random << 13;
	words->random ^= words->random >> 7;
	words->random ^= words->random << 17;
	return words->random;
}

/* --- other words ----------------------------------------------------------------------------- */

static bool is_pointer(uint64_t value)
{
	return value >> 47 == 0x1ffff && value + 4096 >= 4096;
}

static uint64_t any_pointer(struct words *words)
{
	size_t count = words->pointer_count < POINTERS ? words->pointer_count : POINTERS;
	return count ? words->pointers[next_random(words) % count] : 0;
}

/* In the place of `value`, which is read at `address`. */
static uint64_t other_word(struct words *words, uint64_t address, uint64_t value)
{
	uint64_t random = next_random(words);
	switch (next_random(words) % 16) {
	case 0:
		return value + 8;
	case 1:
		return value - 8;
	case 2:
		return 0;
	case 3:
		return UINT64_MAX;
	case 4:
	case 5:
	case 6: /* a cycle of several, or an object of another kind */
		return any_pointer(words);
	case 7: /* a cycle of one */
		return address;
	case 8: /* wild: of the kernel's half, of a user's */
		return random | 0xffff800000000000;
	case 9:
		return random & 0x7fffffffffff;
	case 10:
		return UINT64_C(1) << (random & 1 ? 31 : 63);
	case 11: /* counts: of any size, and of both halves */
		return random >> random % 61;
	case 12:
		return value | UINT64_C(0x7fffffff) << 32 * (random & 1);
	case 13:
		return value + random % 5 - 2;
	case 14:
		return value ^ UINT64_C(1) << random % 64;
	default:
		return (random & 0xff) * 0x0101010101010101;
	}
}

/* What is left of a word at the ends of a read is one of its own. */
static size_t part_of(uint64_t address, size_t size)
{
	size_t part = 8 - (size_t)(address % 8);
	return part < size ? part : size;
}

static void note_pointers(struct words *words, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 8 <= size && at < NOTED; at += 8) {
		uint64_t value = load_u64(bytes + at, false);
		if (is_pointer(value))
			words->pointers[words->pointer_count++ % POINTERS] = value;
	}
}

static void change_words(struct words *words, uint64_t address, uint8_t *bytes, size_t size)
{
	note_pointers(words, bytes, size);
	if (words->reads++ < words->after || size > words->largest)
		return;
	while (size) {
		size_t part = part_of(address, size);
		if (!words->rest) {
			uint64_t value = 0;
			memcpy(&value, bytes, part);
			value = other_word(words, address, value);
			memcpy(bytes, &value, part);
			words->changed++;
			words->rest = 1 + next_random(words) % (2 * words->share);
		}
		words->rest--;
		/* Whole words that stay as they are. */
		uint64_t more = words->rest < (size - part) / 8 ? words->rest : (size - part) / 8;
		words->rest -= more;
		part += (size_t)more * 8;
		address += part, bytes += part, size -= part;
	}
}

/* --- in front of the readers ----------------------------------------------------------------- */

static struct error *words_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	struct words *words = all_words();
	size_t i = 0;
	pthread_mutex_lock(&words->lock);
	while (words->hooked[i].memory != memory)
		i++;
	struct hooked hooked = words->hooked[i];
	pthread_mutex_unlock(&words->lock);
	TRY(hooked.read(memory, address, buffer, size));
	pthread_mutex_lock(&words->lock);
	change_words(words, address, buffer, size);
	pthread_mutex_unlock(&words->lock);
	return NULL;
}

static void take_settings(struct words *words)
{
	const char *text = getenv("BTFCRASH_WORDS");
	uint64_t seed;
	words->is_known = true;
	words->is_told = text &&
			 sscanf(text, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64,
				&seed, &words->share, &words->after, &words->largest,
				&words->levels) == 5 &&
			 words->share;
	if (!words->is_told)
		return;
	words->random = (seed + 1) * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 8; i++)
		next_random(words);
	words->rest = next_random(words) % (2 * words->share);
}

/* A memory that is made where an old one was takes its place. */
static void hook(struct memory *memory, uint64_t level)
{
	struct words *words = all_words();
	size_t i = 0;
	pthread_mutex_lock(&words->lock);
	if (!words->is_known)
		take_settings(words);
	while (i < MEMORIES_MAX && words->hooked[i].memory && words->hooked[i].memory != memory)
		i++;
	if (words->is_told && words->levels & level && i < MEMORIES_MAX) {
		words->hooked[i] = (struct hooked){ memory, memory->read };
		memory->read = words_read;
		memory->lend = NULL;
	}
	pthread_mutex_unlock(&words->lock);
}

/* By write() alone: the sandbox lets no other call pass. */
__attribute__((destructor)) static void tell(void)
{
	const struct words *words = all_words();
	char line[100];
	if (!words->is_told)
		return;
	snprintf(line, sizeof(line), "words: %" PRIu64 " changed in %" PRIu64 " reads\n",
		 words->changed, words->reads);
	(void)!write(STDERR_FILENO, line, strlen(line));
}

struct error *__real_physical_memory_create(const struct physical_source *source,
					    struct memory **ret);
struct error *__wrap_physical_memory_create(const struct physical_source *source,
					    struct memory **ret);
struct error *__wrap_physical_memory_create(const struct physical_source *source,
					    struct memory **ret)
{
	TRY(__real_physical_memory_create(source, ret));
	hook(*ret, LEVEL_PHYSICAL);
	return NULL;
}

struct error *__real_physical_reader_create(struct memory *physical, struct memory **ret);
struct error *__wrap_physical_reader_create(struct memory *physical, struct memory **ret);
struct error *__wrap_physical_reader_create(struct memory *physical, struct memory **ret)
{
	TRY(__real_physical_reader_create(physical, ret));
	hook(*ret, LEVEL_PHYSICAL);
	return NULL;
}

struct error *__real_virtual_memory_create(struct memory *physical,
					   const struct translator *translator,
					   struct memory **ret);
struct error *__wrap_virtual_memory_create(struct memory *physical,
					   const struct translator *translator,
					   struct memory **ret);
struct error *__wrap_virtual_memory_create(struct memory *physical,
					   const struct translator *translator, struct memory **ret)
{
	TRY(__real_virtual_memory_create(physical, translator, ret));
	hook(*ret, LEVEL_VIRTUAL);
	return NULL;
}
