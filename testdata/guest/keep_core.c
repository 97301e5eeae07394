// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * keep_core: the kernel's core_pattern, which writes a core to /tmp/core and
 * then keeps the pipe open, so that who dumped it stays as it is (with
 * /proc/sys/kernel/core_pipe_limit).
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE 4096

static int is_zero(const char *page)
{
	for (int i = 0; i < PAGE; i++)
		if (page[i])
			return 0;
	return 1;
}

/* A whole page, but for the last one. */
static ssize_t read_page(char *page)
{
	ssize_t size = 0, more = 1;
	while (size < PAGE && more > 0) {
		more = read(0, page + size, PAGE - size);
		size += more > 0 ? more : 0;
	}
	return size;
}

int main(void)
{
	static char page[PAGE];
	int file = open("/tmp/core.part", O_WRONLY | O_CREAT | O_EXCL, 0600);
	ssize_t size, all = 0;
	/* The first one is kept. */
	if (file < 0)
		return 1;
	while ((size = read_page(page)) > 0) {
		ssize_t written = is_zero(page) && size == PAGE ? size
								: pwrite(file, page, size, all);
		if (written != size)
			return 1;
		all += size;
	}
	if (ftruncate(file, all) || close(file) || rename("/tmp/core.part", "/tmp/core"))
		return 1;
	for (;;)
		pause();
}
