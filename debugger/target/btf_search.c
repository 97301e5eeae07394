// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/btf_search.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "btf/btf.h"
#include <inttypes.h>
#include <stdlib.h>

/* So much read-only data behind the text is searched; kernels seen have 30 MiB. */
#define SEARCH_RANGE ((uint64_t)64 << 20)
#define CHUNK	     ((size_t)1 << 20)
#define PAGE	     4096

/*
 * struct btf_header (include/uapi/linux/btf.h): u16 magic, u8 version, u8 flags, then 32 bits each
 * of hdr_len, type_off, type_len, str_off, str_len; the offsets count from the header's end.
 */
#define HEADER_SIZE 24
#define HEADER_MAX  256 /* later versions append to it */
#define ALIGNMENT   4
#define MAGIC	    0xeb9f
#define VERSION	    1
/* Kernels have 4 to 8 MiB of BTF; modules' does not lie in the image. */
#define TYPES_MIN   (64u << 10)
#define SECTION_MAX (32u << 20)
/* What looks like it is read whole; hostile memory could be full of headers. */
#define CANDIDATES_MAX 16

/* The size that a header tells of; 0: it is none. */
static uint64_t told_size(const uint8_t *header, bool big_endian)
{
	if (load_u16(header, big_endian) != MAGIC || header[2] != VERSION)
		return 0;
	uint32_t length = load_u32(header + 4, big_endian);
	uint32_t type_offset = load_u32(header + 8, big_endian);
	uint32_t type_size = load_u32(header + 12, big_endian);
	uint32_t string_offset = load_u32(header + 16, big_endian);
	uint32_t string_size = load_u32(header + 20, big_endian);
	if (length < HEADER_SIZE || length > HEADER_MAX || type_size < TYPES_MIN ||
	    type_size > SECTION_MAX || string_size > SECTION_MAX || type_offset % ALIGNMENT ||
	    string_offset < type_size || string_offset > SECTION_MAX)
		return 0;
	return (uint64_t)length + string_offset + string_size;
}

/* Whether what lies there can be read as BTF and knows tasks; errors are why it cannot be. */
static struct error *is_of_kernel(struct memory *memory, uint64_t address, uint64_t size, bool *ret)
{
	const void *data = NULL;
	void *copy = NULL;
	struct btf *btf = NULL;
	uint64_t cursor = 0;
	struct error *error = memory_borrow(memory, address, size, size, &data, &copy);
	if (!error)
		error = btf_open(data, (size_t)size, NULL, "vmlinux", &btf);
	*ret = !error && btf_find(btf, BTF_STRUCT, "task_struct", &cursor);
	btf_close(btf);
	free(copy);
	return error;
}

struct search {
	struct memory *memory;
	unsigned int candidates;
	uint64_t address, size; /* of what was found; 0: nothing yet */
	struct error *unread;	/* why the first that looks like it is none; NULL: nothing does */
};

static struct error *look(struct search *search, uint64_t address, uint64_t size, bool *ret)
{
	struct error *error = is_of_kernel(search->memory, address, size, ret);
	if (!error || error_is_fatal(error))
		return error;
	if (search->unread)
		error_free(error);
	else
		search->unread = error_prefix(error, "what looks like BTF at 0x%" PRIx64, address);
	return NULL;
}

/* In what was read from `address`. Each candidate may take a second. */
static struct error *search_chunk(struct search *search, uint64_t address, const uint8_t *chunk,
				  size_t size)
{
	for (size_t at = 0; at + HEADER_SIZE <= size && !search->size; at += ALIGNMENT) {
		uint64_t told = told_size(chunk + at, search->memory->big_endian);
		if (!told || search->candidates++ >= CANDIDATES_MAX)
			continue;
		bool found = false;
		TRY(interrupt_check());
		TRY(look(search, address + at, told, &found));
		if (found) {
			search->address = address + at;
			search->size = told;
		}
	}
	return interrupt_check();
}

struct error *btf_search(struct memory *memory, uint64_t stext, uint64_t *ret_address,
			 uint64_t *ret_size)
{
	uint8_t *chunk = malloc(CHUNK);
	if (!chunk)
		return error_no_memory();
	struct error *error = NULL;
	struct search search = { .memory = memory };
	uint64_t address = stext & ~(uint64_t)(PAGE - 1);
	while (!search.size && !error && address >= stext - PAGE &&
	       address - stext + PAGE < SEARCH_RANGE) {
		struct error *why;
		size_t size = memory_read_some(memory, address, chunk, CHUNK, &why);
		error = search_chunk(&search, address, chunk, size);
		/* A header may straddle the edge; holes are stepped over by the page. */
		address = why ? ((address + size) & ~(uint64_t)(PAGE - 1)) + PAGE
			      : address + CHUNK - PAGE;
		if (!error && why && error_is_fatal(why))
			error = why;
		else
			error_free(why);
	}
	free(chunk);
	if (!error && !search.size)
		error = search.unread
				?: error_create(ERROR_NOT_FOUND,
						"no BTF within %" PRIu64
						" MiB after _stext (0x%" PRIx64 ")",
						SEARCH_RANGE >> 20, stext);
	if (error != search.unread)
		error_free(search.unread);
	if (error)
		return error;
	*ret_address = search.address;
	*ret_size = search.size;
	return NULL;
}
