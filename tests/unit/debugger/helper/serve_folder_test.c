// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Files in the folders that the command line names: the helper opens what lies there, by whatever
 * name a dump holds, and nothing that lies elsewhere.
 */
#include "tests/unit/test.h"

#include "debugger/helper/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/serve-folder-XXXXXX";

static void make_file(const char *name)
{
	int file = open(name, O_WRONLY | O_CREAT, 0600);
	CHECK(file >= 0);
	close(file);
}

static void start(size_t folder_count, struct helper_link *ret)
{
	static const char *folders[] = { "modules" };
	const struct serve_options options = { .folders = folders, .folder_count = folder_count };
	CHECK_OK(serve_start(&options, ret));
	ret->is_asked_to_read = true;
}

static bool gives(int file)
{
	if (file >= 0)
		close(file);
	return file >= 0;
}

static void test_named_folder(void)
{
	struct helper_link link;
	char bytes[16];
	start(1, &link);
	CHECK(gives(helper_open(&link, "modules/6.1/xfs.ko")));
	int file = helper_list(&link, "modules/6.1");
	CHECK(file >= 0 && pread(file, bytes, sizeof(bytes), 0) == 12 && !strcmp(bytes, "link"));
	CHECK(!strcmp(bytes + 5, "xfs.ko"));
	close(file);
	CHECK(!gives(helper_open(&link, "modules/6.1/none.ko")) && errno == ENOENT);
	/* It is for reading. */
	CHECK(helper_file(&link, HELPER_WRITE, "modules/6.1/xfs.ko") < 0 && errno == EPERM);
	helper_end(&link);
}

/* A release that is "..", or "../../etc". */
static void test_elsewhere(void)
{
	struct helper_link link;
	start(1, &link);
	CHECK(!gives(helper_open(&link, "secret")) && errno == EACCES);
	CHECK(!gives(helper_open(&link, "modules/../secret")) && errno == EACCES);
	CHECK(!gives(helper_open(&link, "modules/6.1/link")) && errno == EACCES);
	CHECK(!gives(helper_open(&link, "/etc/passwd")) && errno == EACCES);
	CHECK(!gives(helper_list(&link, "modules/..")) && errno == EACCES);
	CHECK(!gives(helper_list(&link, "/")) && errno == EACCES);
	helper_end(&link);
	/* Where no folder was named. */
	start(0, &link);
	CHECK(!gives(helper_open(&link, "modules/6.1/xfs.ko")) && errno == EPERM);
	CHECK(!gives(helper_list(&link, "modules")) && errno == EPERM);
	helper_end(&link);
}

int main(void)
{
	CHECK(mkdtemp(top) && !chdir(top) && !mkdir("modules", 0700) &&
	      !mkdir("modules/6.1", 0700));
	make_file("modules/6.1/xfs.ko");
	make_file("secret");
	CHECK(!symlink("../../secret", "modules/6.1/link"));
	RUN(test_named_folder);
	RUN(test_elsewhere);
	CHECK(!unlink("modules/6.1/link") && !unlink("modules/6.1/xfs.ko") && !unlink("secret"));
	CHECK(!rmdir("modules/6.1") && !rmdir("modules") && !chdir("/") && !rmdir(top));
	return test_finish();
}
