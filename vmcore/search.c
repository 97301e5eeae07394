// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The last resort for a dump without a VMCOREINFO note: the kernel keeps the note in memory
 * (kernel/crash_core.c: vmcoreinfo_note), from boot on. Others may lie around: of the kernel
 * before a kexec, of the capture kernel, the copy in a kexec control page.
 */
#include "vmcore/search.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE	(1u << 20)
#define NOTE_SIZE_MAX	65536 /* a page of the largest page size */
#define NOTE_TEXT	24    /* where the text starts in the note */
#define CANDIDATES_MAX	64    /* hostile memory could be full of them */
#define UTS_SEARCH_SIZE 512

struct search {
	struct memory *memory;
	struct vmcoreinfo *best;
	int best_score;
	unsigned int candidates;
};

bool search_fits(struct memory *memory, const struct vmcoreinfo *info)
{
	uint64_t address, physical;
	char bytes[UTS_SEARCH_SIZE];
	const char *release = vmcoreinfo_get(info, "OSRELEASE");
	if (!*release || !vmcoreinfo_hex(info, "SYMBOL(init_uts_ns)", &address) ||
	    !vmcoreinfo_image_physical(info, address, &physical))
		return false;
	struct error *error = memory_read(memory, physical, bytes, sizeof(bytes));
	bool found = !error && memmem(bytes, sizeof(bytes), release, strlen(release) + 1);
	error_free(error);
	return found;
}

static int score(struct memory *memory, const struct vmcoreinfo *info)
{
	static const char *const keys[] = { "PAGESIZE", "SYMBOL(_stext)", "SYMBOL(swapper_pg_dir)",
					    "SYMBOL(init_uts_ns)" };
	int points = search_fits(memory, info) ? 100 : 0;
	for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
		points += vmcoreinfo_get(info, keys[i]) ? 1 : 0;
	/* Of a kexec'd kernel's leftovers and the crashed kernel, the latter noted its crash. */
	return points + (vmcoreinfo_get(info, "CRASHTIME") ? 10 : 0);
}

/* `text` of `size` bytes may be a VMCOREINFO; keeps it when it beats the best so far. */
static struct error *consider(struct search *search, const char *text, size_t size)
{
	struct vmcoreinfo *info = NULL;
	struct error *error = vmcoreinfo_parse(text, size, &info);
	if (error) {
		bool fatal = error->kind == ERROR_NO_MEMORY;
		if (!fatal)
			error_free(error);
		return fatal ? error : NULL;
	}
	int points = score(search->memory, info);
	if (points <= search->best_score) {
		vmcoreinfo_free(info);
		return NULL;
	}
	vmcoreinfo_free(search->best);
	search->best = info;
	search->best_score = points;
	return NULL;
}

/* The size of the text when a note's header is at `at`, else 0. */
static uint32_t note_text_size(const struct search *search, const uint8_t *at)
{
	bool big = search->memory->big_endian;
	uint32_t size = load_u32(at + 4, big);
	if (load_u32(at, big) != sizeof("VMCOREINFO") || load_u32(at + 8, big) ||
	    memcmp(at + 12, "VMCOREINFO\0", 12) || size > NOTE_SIZE_MAX)
		return 0;
	return size;
}

/* Reads the note at `physical` whole, it may run past the chunk. */
static struct error *read_candidate(struct search *search, uint64_t physical, uint32_t size)
{
	void *text = NULL;
	struct error *error =
		memory_read_alloc(search->memory, physical + NOTE_TEXT, size, NOTE_SIZE_MAX, &text);
	if (error) {
		error_free(error);
		return NULL;
	}
	error = consider(search, text, size);
	free(text);
	return error;
}

/* Looks for notes in `size` bytes that were read from `physical`. */
static struct error *search_chunk(struct search *search, const uint8_t *chunk, size_t size,
				  uint64_t physical)
{
	const uint8_t *at = chunk, *end = chunk + size;
	struct error *error = NULL;
	while (!error && (at = memmem(at, (size_t)(end - at), "VMCOREINFO", 11))) {
		size_t offset = (size_t)(at - chunk);
		if (offset >= 12 && size - offset >= 12) {
			uint32_t text = note_text_size(search, at - 12);
			if (text && search->candidates++ < CANDIDATES_MAX)
				error = read_candidate(search, physical + offset - 12, text);
		}
		at++;
	}
	return error;
}

static struct error *search_run(struct search *search, uint8_t *chunk, uint64_t start,
				uint64_t size)
{
	while (size >= NOTE_TEXT) {
		size_t part = size < CHUNK_SIZE ? (size_t)size : CHUNK_SIZE;
		struct error *why = NULL;
		size_t got = memory_read_some(search->memory, start, chunk, part, &why);
		error_free(why);
		struct error *error = search_chunk(search, chunk, got, start);
		if (!error)
			error = interrupt_check();
		if (error)
			return error;
		/* Chunks overlap by a header; what cannot be read is stepped over by pages. */
		uint64_t step = got < part ? (got | 4095) + 1 : part;
		if (step < size && got == part)
			step -= NOTE_TEXT;
		if (step >= size)
			break;
		start += step;
		size -= step;
	}
	return NULL;
}

struct error *search_vmcoreinfo(struct memory *physical, struct vmcoreinfo **ret)
{
	struct search search = { .memory = physical, .best_score = -1 };
	uint8_t *chunk = malloc(CHUNK_SIZE);
	if (!chunk)
		return error_no_memory();
	struct error *error = NULL;
	uint64_t next = 0, start, size;
	while (!error && search.candidates < CANDIDATES_MAX &&
	       physical_memory_next(physical, next, &start, &size)) {
		error = search_run(&search, chunk, start, size);
		next = start + size;
		if (next < start)
			break;
	}
	free(chunk);
	if (!error && !search.best)
		error = error_create(ERROR_NOT_FOUND, "no VMCOREINFO in the dump's memory");
	if (error)
		vmcoreinfo_free(search.best);
	else
		*ret = search.best;
	return error;
}
