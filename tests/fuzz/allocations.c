// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Linked into the program by the linker's --wrap, in front of malloc() and its kin: memory is
 * short.
 *
 *   BTFCRASH_ALLOCATIONS=AFTER:LEAST
 *
 * From the AFTER-th allocation of a process on, those of at least LEAST bytes fail. Without the
 * variable none does. What libraries allocate is theirs.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

struct shortage {
	uint64_t after, least;
	bool is_known;
	atomic_uint_fast64_t count;
};

static struct shortage *the_shortage(void)
{
	static struct shortage shortage;
	const char *text = shortage.is_known ? NULL : getenv("BTFCRASH_ALLOCATIONS");
	/* Asked for before there is a second thread. */
	if (!shortage.is_known) {
		shortage.is_known = true;
		if (!text ||
		    sscanf(text, "%" SCNu64 ":%" SCNu64, &shortage.after, &shortage.least) != 2)
			shortage.after = UINT64_MAX;
	}
	return &shortage;
}

static bool fails(size_t size)
{
	struct shortage *shortage = the_shortage();
	return atomic_fetch_add(&shortage->count, 1) >= shortage->after && size >= shortage->least;
}

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(size ? count * size : 0) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails(size) ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return fails(strlen(text) + 1) ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails(strnlen(text, size) + 1) ? NULL : __real_strndup(text, size);
}
