// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"

#include "base/bytes.h"
#include "base/large.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 4096

struct error *memory_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	if (!size)
		return NULL;
	if (size - 1 > UINT64_MAX - address)
		return error_create_at(ERROR_FAULT, address,
				       "%zu bytes at %s address 0x%" PRIx64
				       " run past the end of the address space",
				       size, memory->name, address);
	return memory->read(memory, address, buffer, size);
}

struct error *memory_read_unsigned(struct memory *memory, uint64_t address, size_t size,
				   uint64_t *ret)
{
	uint8_t raw[8];
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return error_create(ERROR_OTHER, "no integer has %zu bytes", size);
	struct error *error = memory_read(memory, address, raw, size);
	if (!error)
		*ret = load_unsigned(raw, size, memory->big_endian);
	return error;
}

struct error *memory_read_u8(struct memory *memory, uint64_t address, uint8_t *ret)
{
	return memory_read(memory, address, ret, 1);
}

struct error *memory_read_u16(struct memory *memory, uint64_t address, uint16_t *ret)
{
	uint64_t value;
	struct error *error = memory_read_unsigned(memory, address, 2, &value);
	if (!error)
		*ret = (uint16_t)value;
	return error;
}

struct error *memory_read_u32(struct memory *memory, uint64_t address, uint32_t *ret)
{
	uint64_t value;
	struct error *error = memory_read_unsigned(memory, address, 4, &value);
	if (!error)
		*ret = (uint32_t)value;
	return error;
}

struct error *memory_read_u64(struct memory *memory, uint64_t address, uint64_t *ret)
{
	return memory_read_unsigned(memory, address, 8, ret);
}

struct error *memory_read_word(struct memory *memory, uint64_t address, uint64_t *ret)
{
	return memory_read_unsigned(memory, address, memory->word_size, ret);
}

/* Bytes from `address` to the end of its chunk, at most `size`. */
static size_t chunk_rest(uint64_t address, size_t size)
{
	size_t rest = CHUNK - (size_t)(address % CHUNK);
	return rest < size ? rest : size;
}

struct error *memory_read_string(struct memory *memory, uint64_t address, char *buffer, size_t size,
				 size_t *ret_length)
{
	size_t length = 0;
	struct error *error = NULL;
	while (length + 1 < size) {
		size_t part = chunk_rest(address + length, size - 1 - length);
		error = memory_read(memory, address + length, buffer + length, part);
		if (error && part > 1) { /* its end may still come before what is missing */
			error_free(error);
			part = 1;
			error = memory_read(memory, address + length, buffer + length, part);
		}
		if (error)
			break;
		const char *end = memchr(buffer + length, 0, part);
		if (end) {
			length = (size_t)(end - buffer);
			break;
		}
		length += part;
	}
	if (size)
		buffer[length] = 0;
	*ret_length = length;
	return error;
}

size_t memory_read_some(struct memory *memory, uint64_t address, void *buffer, size_t size,
			struct error **ret_why)
{
	struct error *error = memory_read(memory, address, buffer, size);
	size_t done = error ? 0 : size;
	while (done < size) {
		size_t part = chunk_rest(address + done, size - done);
		error_free(error);
		error = memory_read(memory, address + done, (char *)buffer + done, part);
		if (error)
			break;
		done += part;
	}
	if (ret_why)
		*ret_why = error;
	else
		error_free(error);
	return done;
}

void memory_read_filled(struct memory *memory, uint64_t address, void *buffer, size_t size,
			uint8_t filler)
{
	uint8_t *to = buffer;
	while (size) {
		struct error *why;
		size_t got = memory_read_some(memory, address, to, size, &why);
		error_free(why);
		if (got == size)
			return;
		address += got, to += got, size -= got;
		size_t hole = chunk_rest(address, size);
		memset(to, filler, hole);
		address += hole, to += hole, size -= hole;
	}
}

struct error *memory_read_alloc(struct memory *memory, uint64_t address, uint64_t size,
				uint64_t limit, void **ret)
{
	if (size > limit)
		return error_create(ERROR_FORMAT, "size %" PRIu64 " is beyond the sane %" PRIu64,
				    size, limit);
	void *buffer = large_malloc((size_t)size);
	if (!buffer)
		return error_no_memory();
	struct error *error = memory_read(memory, address, buffer, (size_t)size);
	if (error) {
		free(buffer);
		return error;
	}
	*ret = buffer;
	return NULL;
}

struct error *memory_borrow(struct memory *memory, uint64_t address, uint64_t size, uint64_t limit,
			    const void **ret, void **ret_copy)
{
	*ret_copy = NULL;
	if (memory->lend && size && size <= limit && size - 1 <= UINT64_MAX - address) {
		const void *lent = memory->lend(memory, address, (size_t)size);
		if (lent) {
			*ret = lent;
			return NULL;
		}
	}
	struct error *error = memory_read_alloc(memory, address, size, limit, ret_copy);
	if (!error)
		*ret = *ret_copy;
	return error;
}

static struct error *memory_array_read(struct memory *memory, uint64_t address, void *buffer,
				       size_t size)
{
	struct memory_array *array = (struct memory_array *)memory;
	if (address < array->base || address - array->base >= array->size)
		return error_create_at(ERROR_FAULT, address, "no memory at 0x%" PRIx64, address);
	uint64_t offset = address - array->base;
	if (size > array->size - offset)
		return error_create_at(ERROR_FAULT, array->base + array->size,
				       "no memory at 0x%" PRIx64, array->base + array->size);
	memcpy(buffer, array->data + offset, size);
	return NULL;
}

void memory_array_init(struct memory_array *array, uint64_t base, const void *data, size_t size)
{
	*array = (struct memory_array){
		.memory = { .read = memory_array_read, .name = "array", .word_size = 8 },
		.base = base,
		.data = data,
		.size = size,
	};
}
