/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for what has megabytes: BTF, names, tables over all types. */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/*
 * malloc(), for free() and realloc(); where `size` has whole huge pages, they are asked for: one
 * fault instead of 512, each of which costs a virtual machine 10 us and more. What is left at the
 * end stays in small pages, so no memory is taken that is not used.
 */
static inline void *large_malloc(size_t size)
{
	void *data;
	if (size < HUGE_PAGE)
		return malloc(size ? size : 1);
	if (posix_memalign(&data, HUGE_PAGE, size))
		return NULL;
	/* A kernel without huge pages refuses, and small ones will do. */
	(void)madvise(data, size & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
	return data;
}

#endif
