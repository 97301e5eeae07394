/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the process that reads a dump gives up, before it reads the first byte: a dump comes from
 * another machine and may be made to take over who reads it. All that a user's line asks for beside
 * answers is done by the helper process (base/helper.h).
 *
 * All that is read is open by then, and every library loaded.
 * - Landlock, where the kernel has it: no file may be opened; no signals and no abstract sockets
 *   to processes outside.
 * - seccomp: allowed is what a reader of open files needs: reading, but not from the standard
 * files, whose place it does not move either; writing to what is open; memory, but no new code in
 * it; threads, clocks, signals to itself. What libraries try and live without is refused, and no
 * file is said to be a terminal: there is none here. Deadly (SIGSYS) is everything else.
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

/* For good. What cannot be had is said in the struct, and the rest goes on. */
void sandbox_enter(struct sandbox *sandbox);
void sandbox_deinit(struct sandbox *sandbox);
/*
 * What `look` says of an open file, 0 to 254, in a process of its own that has entered the sandbox,
 * if there is one here; -1: it did not end well.
 */
int sandbox_look(int (*look)(int file), int file);

/* --- landlock.c --- */

/* The version in force, 0: none, and *ret_lack says why. */
int landlock_enter(const char **ret_lack);

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
