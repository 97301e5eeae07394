/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory reader: one way to ask for bytes at an address, whoever holds
 * them (physical memory of a dump, kernel virtual memory, an array in a test).
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory {
	/*
	 * Reads `size` bytes at `address`, all or an error. Errors: ERROR_FAULT,
	 * ERROR_EXCLUDED, ERROR_TRUNCATED with the first bad address.
	 */
	struct error *(*read)(struct memory *memory, uint64_t address, void *buffer, size_t size);
	const char *name;  /* of the address space, for messages: "physical", "kernel" */
	uint8_t word_size; /* of a long and a pointer, bytes */
	bool big_endian;
	/*
	 * Lends these bytes for as long as the memory lives; NULL: they have to be read. May be
	 * NULL itself: nothing is lent.
	 */
	const void *(*lend)(struct memory *memory, uint64_t address, size_t size);
};

struct error *memory_read(struct memory *memory, uint64_t address, void *buffer,
			  size_t size) MUST_CHECK;
struct error *memory_read_u8(struct memory *memory, uint64_t address, uint8_t *ret) MUST_CHECK;
struct error *memory_read_u16(struct memory *memory, uint64_t address, uint16_t *ret) MUST_CHECK;
struct error *memory_read_u32(struct memory *memory, uint64_t address, uint32_t *ret) MUST_CHECK;
struct error *memory_read_u64(struct memory *memory, uint64_t address, uint64_t *ret) MUST_CHECK;
/* An unsigned integer of 1, 2, 4 or 8 bytes. */
struct error *memory_read_unsigned(struct memory *memory, uint64_t address, size_t size,
				   uint64_t *ret) MUST_CHECK;
/* A long or a pointer of the target, zero-extended. */
struct error *memory_read_word(struct memory *memory, uint64_t address, uint64_t *ret) MUST_CHECK;
/*
 * A string up to its NUL or `size - 1` bytes, always terminated in `buffer`.
 * `*ret_length`: bytes before the NUL. A string that runs into unreadable memory
 * is an error; what was read stays in `buffer`.
 */
struct error *memory_read_string(struct memory *memory, uint64_t address, char *buffer, size_t size,
				 size_t *ret_length) MUST_CHECK;
/*
 * Reads as much as there is from the start of the range. Returns the number of bytes read;
 * when fewer than `size`, `*ret_why` is the error (caller frees), else NULL. `ret_why` may be NULL.
 */
size_t memory_read_some(struct memory *memory, uint64_t address, void *buffer, size_t size,
			struct error **ret_why);
/*
 * Reads all that there is of the range: one hole does not hide what is behind it. What is missing,
 * in whole pages, is filled.
 */
void memory_read_filled(struct memory *memory, uint64_t address, void *buffer, size_t size,
			uint8_t filler);
/* malloc()s `size` (at most `limit`) bytes and fills them. Caller frees *ret. */
struct error *memory_read_alloc(struct memory *memory, uint64_t address, uint64_t size,
				uint64_t limit, void **ret) MUST_CHECK;
/*
 * The same without a copy where the memory lends. The bytes are *ret; *ret_copy is what the caller
 * frees afterwards, NULL when they were lent.
 */
struct error *memory_borrow(struct memory *memory, uint64_t address, uint64_t size, uint64_t limit,
			    const void **ret, void **ret_copy) MUST_CHECK;

/* A borrowed array of bytes as memory that starts at `base`: for tests and notes. */
struct memory_array {
	struct memory memory;
	uint64_t base;
	const uint8_t *data;
	size_t size;
};
void memory_array_init(struct memory_array *array, uint64_t base, const void *data, size_t size);

#endif
