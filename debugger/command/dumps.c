// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/dumps.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CRASHED "/proc/vmcore"
#define RUNNING "/proc/kcore"

/* An ELF file that is a program; no dump is. */
static bool is_elf_program(const char *path)
{
	Elf64_Ehdr header;
	struct stat status;
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool whole = read(fd, &header, sizeof(header)) == sizeof(header);
	close(fd);
	return whole && !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

void dumps_leave_vmlinux_aside(struct dumps *dumps, bool quiet)
{
	size_t count = 0;
	for (size_t i = 0; i < dumps->count; i++) {
		const char *path = dumps->paths[i];
		if (count + dumps->count - i == 1 || !is_elf_program(path)) {
			dumps->paths[count++] = path;
			continue;
		}
		if (!quiet)
			fprintf(stderr,
				"btfcrash: %s is left aside: the dump needs no vmlinux beside it\n",
				path);
	}
	dumps->count = count;
}

void dumps_choose(struct dumps *dumps, bool live)
{
	if (dumps->count)
		return;
	dumps->chosen = live ? RUNNING : CRASHED;
	dumps->paths = &dumps->chosen;
	dumps->count = 1;
}

bool dumps_has_default(void)
{
	return !access(CRASHED, F_OK);
}

bool dumps_are_live(const struct dumps *dumps)
{
	return dumps->count == 1 && !strcmp(dumps->paths[0], RUNNING);
}
