// SPDX-License-Identifier: GPL-3.0-or-later
/* Files that are opened before they are read, and what lies in the folders that were named. */
#include "tests/unit/test.h"

#include "base/folder.h"
#include "base/helper.h"
#include "base/opened.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/opened-test-XXXXXX";

static const char *in_top(const char *name)
{
	static char paths[4][4096];
	static unsigned int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void make_file(const char *name)
{
	int file = open(in_top(name), O_WRONLY | O_CREAT, 0600);
	CHECK(write(file, name, strlen(name)) == (ssize_t)strlen(name));
	close(file);
}

/* In "in": files, a folder, links to all, one hidden; beside it "out". */
static void make_tree(void)
{
	CHECK(mkdtemp(top) && !mkdir(in_top("in"), 0700) && !mkdir(in_top("in/sub"), 0700) &&
	      !mkdir(in_top("in-not"), 0700));
	make_file("in/b");
	make_file("in/.hidden");
	make_file("in/sub/a");
	make_file("in-not/secret");
	CHECK(!symlink("sub/a", in_top("in/link")) &&
	      !symlink(in_top("in/b"), in_top("in/whole")) &&
	      !symlink("../in-not/secret", in_top("in/out")) &&
	      !symlink("sub", in_top("in/folder")) && !symlink("nothing", in_top("in/dangling")));
}

static void remove_tree(void)
{
	static const char *const names[] = { "in/b",	      "in/.hidden", "in/sub/a",
					     "in-not/secret", "in/link",    "in/whole",
					     "in/out",	      "in/folder",  "in/dangling" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(!unlink(in_top(names[i])));
	CHECK(!rmdir(in_top("in/sub")) && !rmdir(in_top("in")) && !rmdir(in_top("in-not")) &&
	      !rmdir(top));
}

static void test_each_is_handed_out_once(void)
{
	struct opened opened;
	char byte;
	int first = -1, second = -1, other = -1;
	CHECK(opened_init(&opened, 3));
	opened_add(&opened, in_top("in/b"));
	opened_add(&opened, in_top("nothing"));
	opened_add(&opened, in_top("in/b"));
	/* "in/b" twice. */
	CHECK_U64(opened_size(&opened), 8);
	struct helper_link link = { .socket = -1, .opened = opened };
	CHECK((first = helper_open(&link, opened.files[0].path)) == opened.files[0].fd);
	CHECK((second = helper_open(&link, opened.files[2].path)) == opened.files[2].fd);
	CHECK(read(first, &byte, 1) == 1 && byte == 'i');
	CHECK(helper_open(&link, opened.files[1].path) < 0 && errno == ENOENT);
	/* What is not among them is opened now, or asked for. */
	CHECK((other = helper_open(&link, in_top("in/sub/a"))) >= 0);
	link.is_asked_to_read = true;
	CHECK(helper_open(&link, in_top("in/sub/a")) < 0 && errno == ECHILD);
	CHECK(helper_list(&link, in_top("in")) < 0 && errno == ECHILD);
	close(first);
	close(second);
	close(other);
	opened_deinit(&link.opened);
}

static void test_terminal_is_no_file(void)
{
	struct opened opened;
	char path[64];
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), file;
	CHECK(terminal >= 0 && isatty(terminal) && opened_init(&opened, 1));
	snprintf(path, sizeof(path), "/dev/fd/%d", terminal);
	opened_add(&opened, path);
	CHECK(opened_take(&opened, path, &file) && file < 0 && errno == EPERM);
	opened_deinit(&opened);
	close(terminal);
}

static void test_files_of_folder(void)
{
	static const char wanted[] = "b\0link\0out\0sub/a\0whole";
	char bytes[256] = "";
	struct helper_link link = { .socket = -1 };
	int file = helper_list(&link, in_top("in"));
	CHECK(file >= 0);
	CHECK_U64(pread(file, bytes, sizeof(bytes), 0), sizeof(wanted));
	CHECK(!memcmp(bytes, wanted, sizeof(wanted)));
	close(file);
	CHECK(helper_list(&link, in_top("nothing")) < 0 && errno == ENOENT);
}

static bool leads_to(const char *name, const char *wanted)
{
	const char *const folders[] = { in_top("nothing"), in_top("in") };
	errno = 0;
	char *real = folder_resolve(folders, 2, in_top(name));
	bool good = wanted ? real && !strcmp(real, in_top(wanted)) : !real && errno == EACCES;
	free(real);
	return good;
}

/* A release or a module's name in a dump may be "../../../etc/shadow". */
static void test_only_what_is_below(void)
{
	CHECK(leads_to("in/b", "in/b"));
	CHECK(leads_to("in/sub/../b", "in/b"));
	CHECK(leads_to("in/link", "in/sub/a"));
	CHECK(leads_to("in/whole", "in/b"));
	CHECK(leads_to("in", "in"));
	CHECK(leads_to("in/out", NULL));
	CHECK(leads_to("in/../in-not/secret", NULL));
	CHECK(leads_to("in-not/secret", NULL));
	CHECK(leads_to("in/..", NULL));
	const char *const folders[] = { in_top("in") };
	CHECK(!folder_resolve(folders, 1, in_top("in/nothing")) && errno == ENOENT);
}

int main(void)
{
	make_tree();
	RUN(test_each_is_handed_out_once);
	RUN(test_terminal_is_no_file);
	RUN(test_files_of_folder);
	RUN(test_only_what_is_below);
	remove_tree();
	return test_finish();
}
