/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program gives up once its files are open: a dump comes from another machine and may be
 * made to take over who reads it. A seccomp filter (Linux, libseccomp) is laid on the process and
 * all of its later threads.
 *
 * - Allowed: reading files and opening them for reading, writing what is open, memory, threads,
 *   clocks, signals, polling: what a reader of a file needs.
 * - Deadly (SIGSYS): running a program, a new process, a socket, opening for writing, making,
 *   renaming or removing files, tracing, kernel modules, mounts, other users. No part of the
 *   program asks for these by mistake.
 * - Everything else: EPERM, which the C library bears.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include "base/error.h"

/*
 * For good. Errors: ERROR_UNSUPPORTED when this kernel, a container or a sanitizer does not let
 * it: then nothing is given up.
 */
struct error *sandbox_enter(void) MUST_CHECK;

#endif
