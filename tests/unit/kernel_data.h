/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel of a test's own: one struct of data at an address, symbols and types for it, nothing
 * else. What a test changes in the data, the target has at once.
 */
#ifndef TESTS_UNIT_KERNEL_DATA_H
#define TESTS_UNIT_KERNEL_DATA_H

#include "debugger/target/target.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <inttypes.h>

struct kernel_data {
	struct memory memory; /* first: what is read is found through it */
	struct target target;
	uint64_t start;
	const void *bytes; /* borrowed */
	size_t size;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
};

static inline struct error *kernel_data_read(struct memory *memory, uint64_t address, void *buffer,
					     size_t size)
{
	const struct kernel_data *kernel = (const struct kernel_data *)memory;
	uint64_t offset = address - kernel->start;
	if (offset >= kernel->size || size > kernel->size - offset)
		return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
	memcpy(buffer, (const uint8_t *)kernel->bytes + offset, size);
	return NULL;
}

/* `start`, `bytes`, `size` are set. `tables`: where the symbols' tables lie. */
static inline void kernel_data_init(struct kernel_data *kernel, uint64_t tables,
				    const struct test_symbol *symbols, uint32_t count)
{
	kernel->memory =
		(struct memory){ .read = kernel_data_read, .name = "kernel", .word_size = 8 };
	kernel->target = (struct target){ .memory = &kernel->memory, .modules_loaded = true };
	image_symbols(&kernel->tables, tables, symbols, count, &kernel->target.symbols);
	kernel->source = btf__new_empty();
}

/* After the types were added to `source`. */
static inline void kernel_data_take_types(struct kernel_data *kernel)
{
	uint32_t size = 0;
	const void *raw = btf__raw_data(kernel->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &kernel->btf));
	kernel->target.btf = kernel->btf;
}

static inline void kernel_data_deinit(struct kernel_data *kernel)
{
	symtab_destroy(kernel->target.symbols);
	btf_close(kernel->btf);
	btf__free(kernel->source);
	image_destroy(&kernel->tables);
}

#endif
