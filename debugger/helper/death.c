// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/death.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* proc(5): of /proc/PID/stat the third field is the state, the 52nd the exit code as waitpid() has
 * it. */
#define FIELD_STATE	3
#define FIELD_EXIT_CODE 52

/*
 * 0: not known. It is not this process' child. While it ends, its files are closed before its
 * parent hears of it.
 */
static int signal_of(pid_t reader)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)reader);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[size < 0 ? 0 : size] = 0;
	/* The second field is its name, which may hold anything. */
	const char *at = strrchr(text, ')');
	for (int field = FIELD_STATE; at && field <= FIELD_EXIT_CODE; field++)
		at = strchr(at + 1, ' ');
	return at ? (int)strtol(at, NULL, 10) & 0x7f : 0;
}

void death_tell(pid_t reader, bool is_told)
{
	int number = signal_of(reader);
	switch (number) {
	case SIGSYS:
		fputs("btfcrash: the sandbox ended the process that reads the dump: it asked the "
		      "kernel for what no reader needs (SIGSYS; the last line of `dmesg` has the "
		      "number of the call). Either the dump is made to attack, or this is a bug of "
		      "btfcrash with this C library: please report it; --no-sandbox goes without\n",
		      stderr);
		break;
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGABRT:
		fprintf(stderr,
			"btfcrash: the process that reads the dump died of SIG%s, which is a bug: "
			"please report it as SECURITY.md says\n",
			sigabbrev_np(number));
		break;
	default:
		if (is_told)
			fputs("\nbtfcrash: the process that reads the dump has ended "
			      "unexpectedly\n",
			      stderr);
		break;
	}
}
