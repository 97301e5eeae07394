// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_search.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "base/workers.h"
#include "vmcore/virtual.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* What one worker reads at a time stays in a processor's own cache. */
#define CHUNK_SIZE ((uint64_t)256 << 10)
/* Of a round: bounds what is found before it is handed on, each word of it at the worst. */
#define ROUND_HITS_MAX ((uint64_t)2 << 20)
#define ROUND_SIZE_MAX ((uint64_t)32 << 20)
#define SPANS_MAX      8192u

struct found {
	uint64_t value;
	uint32_t offset; /* in the chunk */
	uint32_t pattern;
};

/* Spans that follow one another. */
struct chunk {
	uint64_t address, size;
	size_t first_span, span_count;
	struct found *found;
	size_t count, capacity;
};

struct pass {
	struct memory_search *search;
	struct memory_spans *spans;
	unsigned int workers;
	struct memory *readers[WORKERS_MAX];
	uint8_t *buffers[WORKERS_MAX];
	size_t text_max;      /* the longest text */
	pthread_mutex_t user; /* one worker at a time reads a process's memory by its addresses */
	struct memory_span round[SPANS_MAX];
	size_t span_count;
	struct chunk chunks[SPANS_MAX];
	size_t chunk_count;

	atomic_uint_fast64_t read;
	uint64_t hits;
};

/* --- within a piece that was read ------------------------------------------------------------- */

/* The first match among `count` words; `count`: none. */
#define DEFINE_FIND(TYPE, LOAD)                                                                    \
	static inline __attribute__((always_inline)) size_t find_##TYPE(                           \
		const uint8_t *at, size_t count, const struct search_pattern *pattern, bool big)   \
	{                                                                                          \
		const TYPE first = (TYPE)pattern->first, span = (TYPE)pattern->span,               \
			   keep = (TYPE)pattern->keep;                                             \
		size_t i = 0;                                                                      \
		while (i < count &&                                                                \
		       (TYPE)((LOAD(at + i * sizeof(TYPE), big) & keep) - first) > span)           \
			i++;                                                                       \
		return i;                                                                          \
	}
DEFINE_FIND(uint64_t, load_u64)
DEFINE_FIND(uint32_t, load_u32)
DEFINE_FIND(uint16_t, load_u16)

static size_t find_word(const uint8_t *at, size_t count, unsigned int width,
			const struct search_pattern *pattern, bool big)
{
	switch (width) {
	case 8:
		return big ? find_uint64_t(at, count, pattern, true)
			   : find_uint64_t(at, count, pattern, false);
	case 4:
		return find_uint32_t(at, count, pattern, big);
	default:
		return find_uint16_t(at, count, pattern, big);
	}
}

static struct error *add_found(struct chunk *chunk, size_t offset, uint64_t value, size_t pattern)
{
	if (!array_reserve(&chunk->found, &chunk->capacity, chunk->count + 1))
		return error_no_memory();
	chunk->found[chunk->count++] = (struct found){ value, (uint32_t)offset, (uint32_t)pattern };
	return NULL;
}

static struct error *find_words(const struct pass *pass, struct chunk *chunk, const uint8_t *buffer,
				size_t start, size_t end, size_t number)
{
	const struct memory_search *search = pass->search;
	const unsigned int width = search->width;
	const bool big = pass->readers[0]->big_endian;
	size_t at = start + (size_t)(-(chunk->address + start) & (width - 1));
	while (at < end && end - at >= width) {
		size_t count = (end - at) / width;
		size_t skip = find_word(buffer + at, count, width, &search->patterns[number], big);
		if (skip == count)
			break;
		at += skip * width;
		TRY(add_found(chunk, at, load_unsigned(buffer + at, width, big), number));
		at += width;
	}
	return NULL;
}

/* A text may run on behind the chunk, but begins in it. */
static struct error *find_texts(const struct pass *pass, struct chunk *chunk, const uint8_t *buffer,
				size_t start, size_t end, size_t number)
{
	const struct search_pattern *pattern = &pass->search->patterns[number];
	const uint8_t *at = buffer + start;
	while ((at = memmem(at, (size_t)(buffer + end - at), pattern->text, pattern->size))) {
		if ((size_t)(at - buffer) >= chunk->size)
			break;
		TRY(add_found(chunk, (size_t)(at - buffer), 0, number));
		at++;
	}
	return NULL;
}

static struct error *find_all(const struct pass *pass, struct chunk *chunk, const uint8_t *buffer,
			      size_t start, size_t end)
{
	for (size_t i = 0; i < pass->search->pattern_count; i++)
		TRY((pass->search->width == 1 ? find_texts : find_words)(pass, chunk, buffer, start,
									 end, i));
	return NULL;
}

/* --- a chunk -----------------------------------------------------------------------------------
 */

static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return left->pattern < right->pattern ? -1 : left->pattern > right->pattern;
}

/*
 * Reads a span behind the `*at` bytes that there are. What lies before a hole is looked through:
 * from *start on.
 */
static struct error *read_span(struct pass *pass, unsigned int worker, struct chunk *chunk,
			       const struct memory_span *span, size_t *start, size_t *at)
{
	const uint32_t page = pass->search->target->facts->page_size;
	struct memory *reader = pass->readers[worker];
	uint8_t *buffer = pass->buffers[worker];
	uint64_t done = 0;
	while (done < span->size) {
		struct error *why;
		size_t left = (size_t)(span->size - done);
		size_t got =
			memory_read_some(reader, span->physical + done, buffer + *at, left, &why);
		done += got;
		*at += got;
		atomic_fetch_add_explicit(&pass->read, got, memory_order_relaxed);
		if (!why)
			break;
		if (error_is_fatal(why))
			return why;
		error_free(why);
		TRY(find_all(pass, chunk, buffer, *start, *at));
		size_t hole = page - (size_t)((span->physical + done) & (page - 1));
		hole = hole < span->size - done ? hole : (size_t)(span->size - done);
		done += hole;
		*at += hole;
		*start = *at;
	}
	return NULL;
}

/* What follows a chunk, as far as it is there. */
static struct error *read_behind(struct pass *pass, uint64_t address, uint8_t *buffer, size_t size,
				 size_t *ret_got)
{
	const struct memory_search *search = pass->search;
	struct memory *memory = search->space == SPACE_KERNEL ? search->target->memory
				: search->space == SPACE_USER ? user_space_memory(search->user)
							      : search->target->physical;
	struct error *why;
	if (search->space == SPACE_USER)
		pthread_mutex_lock(&pass->user);
	*ret_got = memory_read_some(memory, address, buffer, size, &why);
	if (search->space == SPACE_USER)
		pthread_mutex_unlock(&pass->user);
	return error_only_fatal(why);
}

static struct error *search_chunk(void *context, unsigned int worker, size_t number)
{
	struct pass *pass = context;
	const struct memory_search *search = pass->search;
	struct chunk *chunk = &pass->chunks[number];
	uint8_t *buffer = pass->buffers[worker];
	size_t start = 0, at = 0;
	for (size_t i = 0; i < chunk->span_count; i++)
		TRY(read_span(pass, worker, chunk, &pass->round[chunk->first_span + i], &start,
			      &at));
	uint64_t end = chunk->address + chunk->size;
	if (search->width == 1 && start < at && end && end <= search->last) {
		uint64_t left = search->last - end;
		size_t more = left < pass->text_max - 1 ? (size_t)left + 1 : pass->text_max - 1;
		size_t got;
		TRY(read_behind(pass, end, buffer + at, more, &got));
		at += got;
	}
	TRY(find_all(pass, chunk, buffer, start, at));
	/* Each pattern was looked for by itself. */
	if (search->pattern_count > 1)
		array_sort(chunk->found, chunk->count, sizeof(*chunk->found), compare_found);
	return NULL;
}

/* --- rounds ------------------------------------------------------------------------------------
 */

/* Fills the round with spans of `size` bytes or a little more; none: there are none left. */
static struct error *fill_round(struct pass *pass, uint64_t size)
{
	struct memory_span span;
	uint64_t taken = 0;
	pass->span_count = pass->chunk_count = 0;
	while (taken < size && pass->span_count < SPANS_MAX) {
		TRY(memory_spans_next(pass->spans, CHUNK_SIZE, &span));
		if (!span.size)
			break;
		struct chunk *chunk = pass->chunk_count ? &pass->chunks[pass->chunk_count - 1]
							: NULL;
		if (chunk && chunk->address + chunk->size == span.address &&
		    chunk->size + span.size <= CHUNK_SIZE) {
			chunk->size += span.size;
			chunk->span_count++;
		} else {
			chunk = &pass->chunks[pass->chunk_count++];
			chunk->address = span.address;
			chunk->size = span.size;
			chunk->first_span = pass->span_count;
			chunk->span_count = 1;
		}
		pass->round[pass->span_count++] = span;
		taken += span.size;
	}
	return NULL;
}

static uint64_t physical_of(const struct pass *pass, const struct chunk *chunk, uint64_t address)
{
	size_t i = chunk->first_span;
	while (address - pass->round[i].address >= pass->round[i].size)
		i++;
	return pass->round[i].physical + (address - pass->round[i].address);
}

/* The direct map has holes where the machine has memory: what firmware keeps, what was unplugged.
 */
static bool is_mapped(const struct memory_search *search, const struct search_hit *hit)
{
	uint64_t physical;
	if (search->space != SPACE_KERNEL)
		return true;
	struct error *error =
		virtual_memory_translate(search->target->memory, hit->address, &physical);
	bool mapped = !error && physical == hit->physical;
	error_free(error);
	return mapped;
}

/* What one round found does not stay with what others find. */
static void forget_found(struct pass *pass)
{
	for (size_t i = 0; i < pass->chunk_count; i++) {
		struct chunk *chunk = &pass->chunks[i];
		free(chunk->found);
		chunk->found = NULL;
		chunk->count = chunk->capacity = 0;
	}
}

static struct error *hand_on(struct pass *pass, bool *ret_full)
{
	struct memory_search *search = pass->search;
	for (size_t i = 0; i < pass->chunk_count && !*ret_full; i++) {
		const struct chunk *chunk = &pass->chunks[i];
		for (size_t k = 0; k < chunk->count && !*ret_full; k++) {
			const struct found *found = &chunk->found[k];
			struct search_hit hit = { .address = chunk->address + found->offset,
						  .value = found->value,
						  .pattern = found->pattern };
			hit.physical = physical_of(pass, chunk, hit.address);
			if (!is_mapped(search, &hit))
				continue;
			TRY(interrupt_check());
			TRY(search->hit(search->context, &hit));
			*ret_full = search->limit && ++pass->hits == search->limit;
		}
	}
	return NULL;
}

static struct error *search_round(struct pass *pass, bool *ret_full)
{
	const struct work work = { .count = pass->chunk_count,
				   .step = search_chunk,
				   .context = pass };
	struct error *error = workers_run(&work, pass->workers);
	if (!error)
		error = hand_on(pass, ret_full);
	forget_found(pass);
	return error;
}

static struct error *search_rounds(struct pass *pass)
{
	struct memory_search *search = pass->search;
	uint64_t most = ROUND_HITS_MAX * search->width, size = CHUNK_SIZE;
	bool is_full = false;
	most = most < ROUND_SIZE_MAX ? most : ROUND_SIZE_MAX;
	/* The first rounds are short: what is found first is seen at once. */
	while (!is_full) {
		TRY(fill_round(pass, size));
		if (!pass->span_count)
			break;
		TRY(search_round(pass, &is_full));
		progress_report(search->progress, "search", atomic_load(&pass->read),
				search->target->facts->memory_size);
		size = size * 2 < most ? size * 2 : most;
	}
	return NULL;
}

static struct error *prepare(struct pass *pass)
{
	const struct memory_search *search = pass->search;
	for (size_t i = 0; i < search->pattern_count; i++)
		if (search->patterns[i].text && search->patterns[i].size > pass->text_max)
			pass->text_max = search->patterns[i].size;
	pass->workers = workers_count();
	for (unsigned int i = 0; i < pass->workers; i++) {
		pass->buffers[i] = malloc(CHUNK_SIZE + pass->text_max);
		if (!pass->buffers[i])
			return error_no_memory();
		TRY(vmcore_reader_create(search->target->vmcore, &pass->readers[i]));
	}
	return memory_spans_create(search->target, search->space, search->user, search->first,
				   search->last, &pass->spans);
}

static void pass_destroy(struct pass *pass)
{
	for (unsigned int i = 0; i < WORKERS_MAX; i++) {
		vmcore_reader_destroy(pass->readers[i]);
		free(pass->buffers[i]);
	}
	memory_spans_destroy(pass->spans);
	pthread_mutex_destroy(&pass->user);
	free(pass);
}

struct error *memory_search_run(struct memory_search *search)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	if (!pass)
		return error_no_memory();
	pass->search = search;
	pthread_mutex_init(&pass->user, NULL);
	struct error *error = prepare(pass);
	if (!error)
		error = search_rounds(pass);
	progress_end(search->progress);
	search->searched = atomic_load(&pass->read);
	pass_destroy(pass);
	return error;
}
