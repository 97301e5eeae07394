/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the process that reads a dump gives up: a dump comes from another machine and may be made to
 * take over who reads it. All that a user's line asks for beside answers is done by the helper
 * process (base/helper.h).
 *
 * Before the dump is opened (sandbox_enter()):
 * - Landlock, where the kernel has it: of all files only those that were named, and the folders of
 *   the libraries that are loaded, may be opened, for reading; no signals and no abstract sockets
 *   to processes outside.
 * - seccomp: allowed is what a reader of files needs: reading, but not from the standard files,
 *   whose place it does not move either; opening for reading; writing to what is open; memory,
 * threads, clocks, signals to itself. Deadly (SIGSYS) is what no part of the program asks for by
 * mistake: running a program, a new process, a socket, opening for writing, making, renaming or
 * removing files, signals to others, tracing, kernel modules, mounts, other users. Everything else:
 * EPERM, which the C library bears. When it is open (sandbox_seal()):
 * - No file is opened any more (EACCES), no memory becomes executable (deadly).
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

struct sandbox {
	bool seccomp, sealed;
	int landlock;		   /* version of its interface that is in force, 0: none */
	const char *landlock_lack; /* why none is, NULL */
	struct error *lack;	   /* why there is no seccomp; NULL */
};

/*
 * For good. `paths`: files and folders that may be opened; those that do not exist are passed over.
 * What cannot be had is said in the struct, and the rest goes on.
 */
void sandbox_enter(struct sandbox *sandbox, const char *const *paths, size_t count);
void sandbox_seal(struct sandbox *sandbox);
void sandbox_deinit(struct sandbox *sandbox);

/* --- landlock.c --- */

/* The version in force, 0: none, and *ret_lack says why. */
int landlock_enter(const char *const *paths, size_t count, const char **ret_lack);

/* The leak checker stops the process' threads with ptrace(), from a process of its own, and reads
 * /proc/self. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
	__has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
