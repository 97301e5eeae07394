/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is asked of the helper: a process that was started before the dump was opened, and does what
 * the sandbox (base/sandbox.h) forbids to the one that reads it. It owns the user's lines, from the
 * prompt, scripts and -c, and finds out by itself what each may run, write and read; whoever reads
 * a dump can only ask it to do so. `debugger/helper/serve.c` is its other side.
 */
#ifndef BASE_HELPER_H
#define BASE_HELPER_H

#include "base/channel.h"
#include "base/error.h"
#include "base/opened.h"
#include <sys/types.h>

enum helper_request {
	/* Where lines come from, a stack. */
	HELPER_COMMAND = 1, /* u32: number of a source on the command line that is a -c */
	HELPER_SCRIPT,	    /* path, "-": standard input */
	HELPER_RC,	    /* the user's file for the prompt; none: HELPER_NONE */
	HELPER_PROMPT,
	HELPER_LINE,	  /* the next one; HELPER_NONE at the end */
	HELPER_COMPLETED, /* names, each of which ends with a NUL */
	HELPER_CLOSE,	  /* the uppermost source */
	/* What the line that runs says. */
	HELPER_IS_PROGRAM, /* a word: does a program of the line begin with it, and is there one? */
	HELPER_PROGRAM,	   /* the shell command; the reply has the pipe to it */
	HELPER_BESIDE,	   /* the same without a pipe */
	HELPER_PAGER,
	HELPER_WAIT,   /* for the program started last; u32 status */
	HELPER_WRITE,  /* path; the reply has the open file; EBUSY: it is the dump */
	HELPER_APPEND, /* the same */
	HELPER_EMPTY,  /* a path that was opened by HELPER_WRITE for the line that runs */
	HELPER_READ,   /* the same */
	HELPER_LIST,   /* path of a folder; the reply has a file with what folder_list() tells */
	HELPER_CACHE_FIND, /* key; the reply has the file */
	HELPER_CACHE_KEEP, /* key, bytes */
	/* Of the kernel that runs, where that is what is looked at (debugger/target/live.h): the
	 * reply has a file with the answer, or is HELPER_NONE with words that say why there is
	 * none. */
	HELPER_KERNEL_BTF, /* "vmlinux" or the name of a module */
	HELPER_BPF_PROGRAMS,
	HELPER_BPF_MAPS,
	/* The terminal, which is the helper's. */
	HELPER_SIZE,	 /* the reply has a struct helper_size */
	HELPER_PROGRESS, /* words of the line that says how far work has come; "": none */
	HELPER_LEAVE,	 /* the last one: this process ends as it should. There is no reply */
	HELPER_REQUESTS
};

enum helper_reply {
	HELPER_OK = 100,
	HELPER_NONE,
	HELPER_ERRNO,	/* i32 */
	HELPER_GIVEN,	/* u64 number of the line in its file, the line */
	HELPER_COMPLETE /* struct helper_question, the line up to the cursor: which names fit? */
};

/* What only a dump can add to the words that TAB offers. Values are those of the messages. */
enum helper_names {
	NAMES_NONE,
	NAMES_MODULES,
	NAMES_CPUS, /* their numbers */
	NAMES_PIDS,
	NAMES_TASKS,	 /* by name; behind a digit by pid */
	NAMES_TYPES,	 /* struct, union, enum; behind a point their members */
	NAMES_EXPRESSION /* whatever C may go on with: symbols, members, types, variables */
};

struct helper_question {
	uint32_t names; /* enum helper_names */
	uint32_t start; /* where in the line the operand begins that the cursor is in */
};

/* Of the terminal, in characters; 0: it is not known. */
struct helper_size {
	uint32_t rows, columns;
};

#define HELPER_TEXT_MAX	 (1u << 20)  /* bytes of a line, a path, all words */
#define HELPER_CACHE_MAX (64u << 20) /* bytes of results */

struct helper_link {
	int socket; /* -1: there is none */
	pid_t pid;
	bool is_asked_to_read; /* this process may open no files itself */
	struct opened opened;  /* what was opened before it might no more */
	bool has_terminal;     /* standard output or error is a terminal, and a pipe to it here */
};

/* The request and what is said to it; false: the helper is gone, or says no, and errno says why. */
bool helper_ask(struct helper_link *helper, enum helper_request request, const void *data,
		size_t size, struct message *ret);
/* The same where only yes or no matters. */
bool helper_tell(struct helper_link *helper, enum helper_request request, const void *data,
		 size_t size);
/* The same with a path, or NULL for nothing, where an open file comes back; -1. */
int helper_file(struct helper_link *helper, enum helper_request request, const char *text);
/*
 * Opens a file for reading: one that was opened before, or through the helper where this process
 * may not. No pipe is waited for. -1, with errno.
 */
int helper_open(struct helper_link *helper, const char *path);
/* A file with what folder_list() tells of a folder; -1, with errno. */
int helper_list(struct helper_link *helper, const char *folder);
/* The next message of the helper's, whatever it is. */
bool helper_hear(struct helper_link *helper, struct message *ret);
/* Says that all is done, and waits for its end: nothing is written to the terminal behind it. */
void helper_end(struct helper_link *helper);

#endif
