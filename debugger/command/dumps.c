// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/dumps.h"

#include "base/sandbox.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CRASHED "/proc/vmcore"
#define RUNNING "/proc/kcore"

static int is_elf_program(int file)
{
	Elf64_Ehdr header;
	return pread(file, &header, sizeof(header), 0) == sizeof(header) &&
	       !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/* An ELF file that is a program; no dump is. Not even its first bytes are read by who may do all.
 */
static bool is_vmlinux(const char *path)
{
	struct stat status;
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool is = file >= 0 && sandbox_look(is_elf_program, file) == 1;
	if (file >= 0)
		close(file);
	return is;
}

void dumps_leave_vmlinux_aside(struct dumps *dumps, bool quiet)
{
	size_t count = 0;
	for (size_t i = 0; i < dumps->count; i++) {
		const char *path = dumps->paths[i];
		if (count + dumps->count - i == 1 || !is_vmlinux(path)) {
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
