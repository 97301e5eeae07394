// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The floor of the benchmark: what any program pays that asks libkdumpfile for the kernel's symbols
 * and types. Opens the dump, reads the kallsyms tables and the BTF bytes, and prints how much that
 * was. No code of the project, no index, no check: for good x86-64 dumps since 6.0 only.
 *
 *	floor DUMP
 */
#include <fcntl.h>
#include <inttypes.h>
#include <libkdumpfile/kdumpfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_KERNEL_MAP 0xffffffff80000000u
#define NAMES_CHUNK	 (1u << 20)
#define TOKENS_SIZE	 4096 /* of the token table: about 1000 bytes in real kernels */

struct dump {
	kdump_ctx_t *ctx;
	uint64_t phys_base;
};

struct names {
	uint8_t *data;
	size_t size, capacity;
	uint64_t address;
};

static void fail(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	exit(1);
}

static char *line(struct dump *dump, const char *key)
{
	char *value = NULL;
	return kdump_vmcoreinfo_line(dump->ctx, key, &value) == KDUMP_OK ? value : NULL;
}

static uint64_t symbol(struct dump *dump, const char *key)
{
	char *value = line(dump, key);
	uint64_t address = value ? strtoull(value, NULL, 16) : 0;
	free(value);
	return address;
}

/* The kernel image lies in one piece: no page tables needed. */
static void read_memory(struct dump *dump, uint64_t address, void *buffer, size_t size)
{
	if (kdump_read(dump->ctx, KDUMP_MACHPHYSADDR, address - START_KERNEL_MAP + dump->phys_base,
		       buffer, &size) != KDUMP_OK)
		fail(kdump_get_err(dump->ctx));
}

static void open_dump(struct dump *dump, const char *path)
{
	int fd = open(path, O_RDONLY);
	dump->ctx = kdump_new();
	if (fd < 0 || !dump->ctx || kdump_open_fd(dump->ctx, fd) != KDUMP_OK)
		fail("cannot open the dump");
	/* VMCOREINFO is asked for by way of the system it belongs to. */
	if (kdump_set_string_attr(dump->ctx, KDUMP_ATTR_OSTYPE, "linux") != KDUMP_OK)
		fail("not Linux");
	char *base = line(dump, "NUMBER(phys_base)");
	if (!base)
		fail("no NUMBER(phys_base)");
	dump->phys_base = strtoull(base, NULL, 10);
	free(base);
}

/* The byte at `at` of the names, whose end nobody tells. */
static uint8_t name_byte(struct dump *dump, struct names *names, size_t at)
{
	while (at >= names->size) {
		names->data = realloc(names->data, names->size + NAMES_CHUNK);
		if (!names->data)
			fail("no memory");
		read_memory(dump, names->address + names->size, names->data + names->size,
			    NAMES_CHUNK);
		names->size += NAMES_CHUNK;
	}
	return names->data[at];
}

/* The address of a symbol, from whichever of the encodings the kernel has. */
static uint64_t decode(uint64_t offsets, uint64_t base, uint32_t index, int32_t offset)
{
	if (!base)
		return offsets + (uint64_t)index * 4 + (uint64_t)(int64_t)offset;
	return offset < 0 ? base - 1 - (uint64_t)(int64_t)offset : base + (uint32_t)offset;
}

int main(int argc, char **argv)
{
	struct dump dump = { 0 };
	if (argc != 2)
		fail("usage: floor DUMP");
	open_dump(&dump, argv[1]);

	struct names names = { .address = symbol(&dump, "SYMBOL(kallsyms_names)") };
	uint64_t offsets = symbol(&dump, "SYMBOL(kallsyms_offsets)");
	uint64_t base = 0, start = 0, stop = 0;
	uint32_t count = 0;
	uint16_t tokens[256];
	char token_table[TOKENS_SIZE];
	read_memory(&dump, symbol(&dump, "SYMBOL(kallsyms_num_syms)"), &count, sizeof(count));
	read_memory(&dump, symbol(&dump, "SYMBOL(kallsyms_token_index)"), tokens, sizeof(tokens));
	read_memory(&dump, symbol(&dump, "SYMBOL(kallsyms_token_table)"), token_table,
		    sizeof(token_table));
	if (symbol(&dump, "SYMBOL(kallsyms_relative_base)"))
		read_memory(&dump, symbol(&dump, "SYMBOL(kallsyms_relative_base)"), &base,
			    sizeof(base));
	int32_t *table = malloc((size_t)count * sizeof(*table));
	if (!table)
		fail("no memory");
	read_memory(&dump, offsets, table, (size_t)count * sizeof(*table));

	size_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		char name[1024];
		size_t length = 0, size = name_byte(&dump, &names, at++);
		if (size & 0x80)
			size = (size & 0x7f) | (size_t)name_byte(&dump, &names, at++) << 7;
		for (; size; size--) {
			const char *token = token_table + tokens[name_byte(&dump, &names, at++)];
			while (*token && length < sizeof(name) - 1)
				name[length++] = *token++;
		}
		name[length] = 0;
		if (!strcmp(name + 1, "__start_BTF"))
			start = decode(offsets, base, i, table[i]);
		if (!strcmp(name + 1, "__stop_BTF"))
			stop = decode(offsets, base, i, table[i]);
	}
	void *btf = malloc(stop - start);
	if (!btf || stop <= start)
		fail("no BTF");
	read_memory(&dump, start, btf, stop - start);
	printf("%" PRIu32 " symbols, %" PRIu64 " bytes of BTF\n", count, stop - start);
	free(btf);
	free(table);
	free(names.data);
	kdump_free(dump.ctx);
	return 0;
}
