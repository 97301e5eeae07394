// SPDX-License-Identifier: GPL-3.0-or-later
/* Of what is kept in a folder, the oldest gives way. */
#include "tests/unit/test.h"

#include "base/own_folder.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 6
#define BYTES 16384

struct world {
	char path[64];
	int folder;
};

static void world_init(struct world *world)
{
	strcpy(world->path, "/tmp/btfcrash-folder-XXXXXX");
	CHECK(mkdtemp(world->path) != NULL);
	world->folder = open(world->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(world->folder >= 0);
}

static void make(const struct world *world, const char *name, long nanoseconds)
{
	static const char bytes[BYTES] = { 'x' };
	struct timespec times[2] = { { 1000000000, nanoseconds }, { 1000000000, nanoseconds } };
	int file = openat(world->folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(file >= 0 && write(file, bytes, sizeof(bytes)) == BYTES && !fsync(file) &&
	      !futimens(file, times));
	close(file);
}

/* Six of one second, "0.kept" the oldest of them, and a file of another kind that is older. */
static void make_all(const struct world *world)
{
	char name[32];
	for (int i = 0; i < FILES; i++) {
		/* Not in the order of their names. */
		int number = (i * 5 + 2) % FILES;
		snprintf(name, sizeof(name), "%d.kept", number);
		make(world, name, 1000 + number);
		snprintf(name, sizeof(name), "%d.kept.list", number);
		make(world, name, 1);
	}
	make(world, "other", 0);
	make(world, ".kept", 0);
}

/* Removes all, and checks which were left: a digit each, those beside them too. */
static void check_left(struct world *world, const char *wanted, const char *wanted_lists)
{
	char name[32], left[FILES + 1] = "", lists[FILES + 1] = "";
	for (int i = 0; i < FILES; i++) {
		char digit[2] = { (char)('0' + i), 0 };
		snprintf(name, sizeof(name), "%d.kept", i);
		if (!unlinkat(world->folder, name, 0))
			strcat(left, digit);
		snprintf(name, sizeof(name), "%d.kept.list", i);
		if (!unlinkat(world->folder, name, 0))
			strcat(lists, digit);
	}
	CHECK_STRING(left, wanted);
	CHECK_STRING(lists, wanted_lists);
	CHECK(!unlinkat(world->folder, "other", 0) && !unlinkat(world->folder, ".kept", 0));
}

static bool is_first(const char *name, const struct stat *status)
{
	return status->st_size >= 0 && *name == '0';
}

static void test_prune(void)
{
	static const struct {
		struct folder_limits limits;
		const char *newest, *left, *lists;
	} cases[] = {
		{ { ".kept", ".list", FILES, 0, NULL }, "5.kept", "012345", "012345" },
		{ { ".kept", ".list", 4, 0, NULL }, "5.kept", "2345", "2345" },
		{ { ".kept", NULL, 4, 0, NULL }, "5.kept", "2345", "012345" },
		/* What has just been made, by a clock that went back. */
		{ { ".kept", ".list", 2, 0, NULL }, "0.kept", "05", "05" },
		{ { ".kept", ".list", 0, 0, NULL }, "3.kept", "3", "3" },
		{ { ".kept", ".list", FILES, 3 * BYTES + BYTES / 2, NULL },
		  "5.kept",
		  "345",
		  "345" },
		{ { ".kept", ".list", FILES, 1, NULL }, "5.kept", "5", "5" },
		/* Somebody needs the oldest. */
		{ { ".kept", ".list", 2, 0, is_first }, "5.kept", "05", "05" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world;
		world_init(&world);
		make_all(&world);
		own_folder_prune(world.folder, &cases[i].limits, cases[i].newest);
		check_left(&world, cases[i].left, cases[i].lists);
		close(world.folder);
		CHECK(!rmdir(world.path));
	}
}

/* A folder that is gone, or was never open. */
static void test_no_folder(void)
{
	const struct folder_limits limits = { ".kept", NULL, 0, 0, NULL };
	own_folder_prune(-1, &limits, "");
}

int main(void)
{
	RUN(test_prune);
	RUN(test_no_folder);
	return test_finish();
}
