// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cache_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FILES_MAX 1024 /* of one dump that is split */
#define SECOND	  INT64_C(1000000000)
/*
 * Two changes within a tick of the file system's clock leave one time: 10 ms where it is the
 * kernel's, 2 s where times are whole seconds (FAT).
 */
#define TICK	  (SECOND / 20)
#define LONG_TICK (2 * SECOND + SECOND / 2)

static int64_t nanoseconds(struct timespec time)
{
	return (int64_t)((uint64_t)time.tv_sec * (uint64_t)SECOND + (uint64_t)time.tv_nsec);
}

static bool describe(const char *path, uint64_t ret[5])
{
	struct stat status;
	struct timespec now;
	if (stat(path, &status) || !S_ISREG(status.st_mode) || clock_gettime(CLOCK_REALTIME, &now))
		return false;
	int64_t tick = status.st_ctim.tv_nsec ? TICK : LONG_TICK;
	if (nanoseconds(now) - nanoseconds(status.st_ctim) < tick)
		return false;
	const uint64_t words[] = { (uint64_t)status.st_dev, (uint64_t)status.st_ino,
				   (uint64_t)status.st_size, (uint64_t)nanoseconds(status.st_mtim),
				   (uint64_t)nanoseconds(status.st_ctim) };
	memcpy(ret, words, sizeof(words));
	return true;
}

bool cache_dump_init(struct cache_dump *dump, const char *const *paths, size_t count)
{
	*dump = (struct cache_dump){ 0 };
	if (!count || count > FILES_MAX)
		return false;
	dump->size = count * 5 * sizeof(uint64_t);
	dump->bytes = malloc(dump->size);
	for (size_t i = 0; i < count; i++) {
		uint64_t words[5];
		if (!dump->bytes || !describe(paths[i], words)) {
			cache_dump_deinit(dump);
			return false;
		}
		memcpy(dump->bytes + i * sizeof(words), words, sizeof(words));
	}
	return true;
}

bool cache_dump_equal(const struct cache_dump *a, const struct cache_dump *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

void cache_dump_deinit(struct cache_dump *dump)
{
	free(dump->bytes);
	*dump = (struct cache_dump){ 0 };
}
