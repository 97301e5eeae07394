// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What any program pays that looks at all memory of a dump by libkdumpfile: reads each page that
 * is there, and compares its words with one value.
 *
 *	read_all DUMP        cc -O2 tests/bench/read_all.c -lkdumpfile
 */
#include <fcntl.h>
#include <inttypes.h>
#include <libkdumpfile/kdumpfile.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_SIZE 4096u
#define VALUE	  0x123456789abcdefull

static void fail(const char *what)
{
	fprintf(stderr, "read_all: %s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	static uint64_t words[PAGE_SIZE / 8];
	kdump_num_t pages = 0;
	uint64_t read = 0, found = 0;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	kdump_ctx_t *ctx = kdump_new();
	if (fd < 0 || !ctx || kdump_open_fd(ctx, fd) != KDUMP_OK)
		fail("cannot open the dump");
	if (kdump_get_number_attr(ctx, "max_pfn", &pages) != KDUMP_OK)
		fail("no max_pfn");
	for (uint64_t pfn = 0; pfn < pages; pfn++) {
		size_t size = PAGE_SIZE;
		if (kdump_read(ctx, KDUMP_MACHPHYSADDR, pfn * PAGE_SIZE, words, &size) != KDUMP_OK)
			continue;
		read++;
		for (size_t i = 0; i < PAGE_SIZE / 8; i++)
			found += words[i] == VALUE;
	}
	kdump_free(ctx);
	printf("%" PRIu64 " pages, %" PRIu64 " words\n", read, found);
	return 0;
}
