/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel lets this process have and be, beside the calls that it may make
 * (base/sandbox.h).
 */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdint.h>

/*
 * For good, as far as the kernel lets it. `input`: bytes of the files that will be read;
 * `highest`: of the numbers of open files, -1: not known.
 * - No capability, whoever this is: those of root are needed to open files, which are open.
 * - Nobody but root may trace it or see its memory, and it leaves no core: that would be the dump's
 *   memory, in a file that nobody asked for.
 * - Its data: 1 GiB and 4 times the input, and at most what the machine has; 256 MiB on a small
 * one, whose kernel counts what is in use. malloc() fails there.
 * - The size of a file that it writes: 16 GiB and 64 times the input. write() fails there (EFBIG).
 * - The numbers of files: 256 more than are open.
 * - Threads: so many that this user can have 272 more than the whole machine has now. The kernel
 *   does not count those of root.
 */
void rights_give_up(uint64_t input, int highest);

#endif
