// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/physical.h"

#include "base/workers.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SIZE (4u << 20) /* bytes of pages */
#define CACHE_WAYS 4u
#define NO_PAGE	   UINT64_MAX

/* Reads of more pages than this go around the cache: they would only sweep it. */
#define BULK_PAGES_READ	      1	 /* ELF: one pread() is the price of a page or of a megabyte */
#define BULK_PAGES_DECOMPRESS 16 /* stacks and tables are read again, BTF and kallsyms are not */

/* What is decompressed by two threads: the types of a kernel and the names of its symbols are. */
#define SHARED_SIZE_MIN (256u << 10)
#define SHARED_STEP	(64u << 10)

/* Pages of one hash value; the oldest gives way. */
struct cache_set {
	uint64_t pages[CACHE_WAYS]; /* page numbers */
	uint8_t *data;		    /* CACHE_WAYS pages, from the first that is asked for on */
	uint8_t next;
};

struct physical {
	struct memory memory;
	struct physical_source source;
	size_t bulk_size;
	pthread_mutex_t lock; /* of the cache and of the source, which keeps buffers */
	struct cache_set *sets;
	size_t set_count; /* a power of two */
};

static struct error *read_library(struct physical *physical, uint64_t address, void *buffer,
				  size_t size)
{
	struct error *error = library_read(physical->source.library, address, buffer, size);
	if (!error || error->kind != ERROR_EXCLUDED ||
	    library_is_ram(physical->source.library, error->address))
		return error;
	address = error->address;
	error_free(error);
	return error_create_at(ERROR_FAULT, address,
			       "there is no memory at physical address 0x%" PRIx64, address);
}

struct shared_read {
	struct diskdump *dumps[2]; /* the same with buffers of each thread's own */
	uint64_t address;
	uint8_t *to;
	size_t size;
};

static struct error *read_step(void *context, unsigned int worker, size_t number)
{
	const struct shared_read *read = context;
	size_t at = number * SHARED_STEP, left = read->size - at;
	return diskdump_read(read->dumps[worker], read->address + at, read->to + at,
			     left < SHARED_STEP ? left : SHARED_STEP);
}

static struct error *read_shared(struct diskdump *dump, uint64_t address, void *buffer, size_t size)
{
	struct shared_read read = { { dump, NULL }, address, buffer, size };
	const struct work work = { .count = (size + SHARED_STEP - 1) / SHARED_STEP,
				   .step = read_step,
				   .context = &read };
	TRY(diskdump_share(dump, &read.dumps[1]));
	struct error *error = workers_run(&work, 2);
	diskdump_unshare(read.dumps[1]);
	if (!error)
		return NULL;
	/* One thread finds the first place that is bad. Ctrl-C is for who asks for it between
	 * reads. */
	error_free(error);
	return diskdump_read(dump, address, buffer, size);
}

static struct error *read_dump(struct diskdump *dump, uint64_t address, void *buffer, size_t size)
{
	bool is_shared = size >= SHARED_SIZE_MIN && diskdump_is_compressed(dump) &&
			 workers_count() > 1;
	return (is_shared ? read_shared : diskdump_read)(dump, address, buffer, size);
}

/* From the file, around the cache. */
static struct error *read_source(struct physical *physical, uint64_t address, void *buffer,
				 size_t size)
{
	if (physical->source.core)
		return elf_core_read(physical->source.core, address, buffer, size);
	if (physical->source.dump)
		return read_dump(physical->source.dump, address, buffer, size);
	if (physical->source.avml)
		return avml_read(physical->source.avml, address, buffer, size);
	return read_library(physical, address, buffer, size);
}

static struct cache_set *find_set(const struct physical *physical, uint64_t page)
{
	uint64_t hash = page * 0x9e3779b97f4a7c15u;
	return &physical->sets[(hash >> 40) & (physical->set_count - 1)];
}

/* The page's bytes in the cache; NULL when it cannot be read as a whole. */
static const uint8_t *get_page(struct physical *physical, uint64_t page)
{
	size_t page_size = physical->source.page_size;
	struct cache_set *set = find_set(physical, page);
	for (unsigned int way = 0; way < CACHE_WAYS; way++)
		if (set->pages[way] == page)
			return set->data + way * page_size;
	if (!set->data)
		set->data = malloc(CACHE_WAYS * page_size);
	if (!set->data)
		return NULL;
	unsigned int way = set->next;
	uint8_t *data = set->data + way * page_size;
	set->pages[way] = NO_PAGE;
	struct error *error = read_source(physical, page * page_size, data, page_size);
	if (error) {
		error_free(error);
		return NULL;
	}
	set->pages[way] = page;
	set->next = (uint8_t)((way + 1) % CACHE_WAYS);
	return data;
}

static struct error *read_cached(struct physical *physical, uint64_t address, void *buffer,
				 size_t size)
{
	uint32_t page_size = physical->source.page_size;
	if (size > physical->bulk_size)
		return read_source(physical, address, buffer, size);
	uint8_t *to = buffer;
	while (size) {
		size_t skip = (size_t)(address % page_size);
		size_t part = page_size - skip < size ? page_size - skip : size;
		const uint8_t *data = get_page(physical, address / page_size);
		if (data) {
			memcpy(to, data + skip, part);
		} else {
			/* RAM can start and end within a page: ask for these bytes alone. */
			struct error *error = read_source(physical, address, to, part);
			if (error)
				return error;
		}
		to += part;
		address += part;
		size -= part;
	}
	return NULL;
}

/* Threads take turns. */
static struct error *physical_read(struct memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct physical *physical = (struct physical *)memory;
	pthread_mutex_lock(&physical->lock);
	struct error *error = read_cached(physical, address, buffer, size);
	pthread_mutex_unlock(&physical->lock);
	return error;
}

static const void *physical_lend(struct memory *memory, uint64_t address, size_t size)
{
	struct physical *physical = (struct physical *)memory;
	if (!physical->source.core)
		return NULL;
	pthread_mutex_lock(&physical->lock);
	const void *lent = elf_core_lend(physical->source.core, address, size);
	pthread_mutex_unlock(&physical->lock);
	return lent;
}

struct error *physical_memory_create(const struct physical_source *source, struct memory **ret)
{
	struct physical *physical = calloc(1, sizeof(*physical));
	if (!physical)
		return error_no_memory();
	physical->memory = (struct memory){ .read = physical_read,
					    .lend = physical_lend,
					    .name = "physical",
					    .word_size = source->word_size,
					    .big_endian = source->big_endian };
	physical->source = *source;
	pthread_mutex_init(&physical->lock, NULL);
	physical->bulk_size =
		source->page_size * (source->core ? BULK_PAGES_READ : BULK_PAGES_DECOMPRESS);
	/* What was read of a live machine is old at once. */
	if (source->core && source->core->is_live)
		physical->bulk_size = 0;
	physical->set_count = CACHE_SIZE / source->page_size / CACHE_WAYS;
	physical->sets = malloc(physical->set_count * sizeof(*physical->sets));
	if (!physical->sets) {
		physical_memory_destroy(&physical->memory);
		return error_no_memory();
	}
	for (size_t i = 0; i < physical->set_count; i++)
		physical->sets[i] =
			(struct cache_set){ .pages = { NO_PAGE, NO_PAGE, NO_PAGE, NO_PAGE } };
	*ret = &physical->memory;
	return NULL;
}

void physical_memory_destroy(struct memory *memory)
{
	struct physical *physical = (struct physical *)memory;
	if (!physical)
		return;
	pthread_mutex_destroy(&physical->lock);
	for (size_t i = 0; physical->sets && i < physical->set_count; i++)
		free(physical->sets[i].data);
	free(physical->sets);
	free(physical);
}

bool physical_memory_next(const struct memory *memory, uint64_t address, uint64_t *ret_start,
			  uint64_t *ret_size)
{
	const struct physical *physical = (const struct physical *)memory;
	if (physical->source.core)
		return elf_core_next(physical->source.core, address, ret_start, ret_size);
	if (physical->source.dump)
		return diskdump_next(physical->source.dump, address, ret_start, ret_size);
	if (physical->source.avml)
		return avml_next(physical->source.avml, address, ret_start, ret_size);
	return false;
}

/* --- a thread's own -------------------------------------------------------------------------- */

struct reader {
	struct memory memory;
	struct memory *physical;
	const struct elf_core *core; /* which keeps nothing of a read */
	struct diskdump *dump;
};

static struct error *reader_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	struct reader *reader = (struct reader *)memory;
	if (reader->core)
		return elf_core_read(reader->core, address, buffer, size);
	if (reader->dump)
		return diskdump_read(reader->dump, address, buffer, size);
	return memory_read(reader->physical, address, buffer, size);
}

struct error *physical_reader_create(struct memory *memory, struct memory **ret)
{
	const struct physical *physical = (const struct physical *)memory;
	struct reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return error_no_memory();
	reader->memory = (struct memory){ .read = reader_read,
					  .name = memory->name,
					  .word_size = memory->word_size,
					  .big_endian = memory->big_endian };
	reader->physical = memory;
	reader->core = physical->source.core;
	struct error *error = NULL;
	if (physical->source.dump)
		error = diskdump_share(physical->source.dump, &reader->dump);
	if (error)
		free(reader);
	else
		*ret = &reader->memory;
	return error;
}

void physical_reader_destroy(struct memory *memory)
{
	struct reader *reader = (struct reader *)memory;
	if (reader)
		diskdump_unshare(reader->dump);
	free(reader);
}
