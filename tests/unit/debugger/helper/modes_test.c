// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * With which mode the helper process opens what a line writes: bytes of processes and of their
 * files are for the user alone, whatever the umask says and whatever was there.
 */
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/command/command.h"
#include "debugger/helper/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

/* Asks for FILE where `line` runs; 0, or errno. Something is written where that is allowed. */
static int write_file(const char *line, bool append)
{
	struct source source = { .text = line };
	struct serve_options options = { .sources = &source, .source_count = 1 };
	struct helper_link helper;
	uint32_t number = 0;
	CHECK_OK(serve_start(&options, &helper));
	CHECK(helper_tell(&helper, HELPER_COMMAND, &number, sizeof(number)));
	int file = helper_file(&helper, append ? HELPER_APPEND : HELPER_WRITE, "file");
	int status = file < 0 ? errno : 0;
	if (file >= 0) {
		CHECK(write(file, "new", 3) == 3);
		close(file);
	}
	helper_end(&helper);
	return status;
}

/* The same, and it is to be emptied: before, behind, and once more; which of these was done. */
static unsigned int empty_file(const char *line, bool append)
{
	struct source source = { .text = line };
	struct serve_options options = { .sources = &source, .source_count = 1 };
	struct helper_link helper;
	uint32_t number = 0;
	CHECK_OK(serve_start(&options, &helper));
	CHECK(helper_tell(&helper, HELPER_COMMAND, &number, sizeof(number)));
	unsigned int done = helper_tell(&helper, HELPER_EMPTY, "file", 4);
	int file = helper_file(&helper, append ? HELPER_APPEND : HELPER_WRITE, "file");
	CHECK(file >= 0 && write(file, "new", 3) == 3);
	done |= (unsigned int)helper_tell(&helper, HELPER_EMPTY, "other", 5) << 1;
	done |= (unsigned int)helper_tell(&helper, HELPER_EMPTY, "file", 4) << 2;
	done |= (unsigned int)helper_tell(&helper, HELPER_EMPTY, "file", 4) << 3;
	close(file);
	helper_end(&helper);
	return done;
}

static void check_file(mode_t mode, off_t size)
{
	struct stat status;
	CHECK(!stat("file", &status));
	CHECK_U64(status.st_mode & 07777, mode);
	CHECK_U64(status.st_size, size);
}

static void make_file(mode_t mode)
{
	FILE *file = fopen("file", "w");
	CHECK(file && fputs("older", file) >= 0 && !fclose(file));
	CHECK(!chmod("file", mode));
}

static const struct {
	const char *line;
	bool append;
	mode_t mode; /* of a new file, with a umask of 0 */
} outputs[] = {
	{ "gcore 1 file", false, 0600 },	{ "extract /proc/1/exe file", false, 0600 },
	{ "gcore 1 file > file", false, 0600 }, { "ps > file", false, 0666 },
	{ "ps >> file", true, 0666 },		{ "btf --export file", false, 0666 },
	{ "report --html file", false, 0666 },	{ "export vmlinux file", false, 0666 },
	{ "export sqlite file", false, 0666 },
};

static void test_new_files(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(outputs); i++) {
		umask(0);
		CHECK_U64(write_file(outputs[i].line, outputs[i].append), 0);
		check_file(outputs[i].mode, 3);
		CHECK(!unlink("file"));
		umask(027);
		CHECK_U64(write_file(outputs[i].line, outputs[i].append), 0);
		check_file(outputs[i].mode & 0640, 3);
		CHECK(!unlink("file"));
	}
}

static void test_files_that_exist(void)
{
	static const mode_t modes[] = { 0644, 0666, 0604, 0600, 0755 };
	umask(0);
	for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
		make_file(modes[i]);
		CHECK_U64(write_file("ps > file", false), 0);
		check_file(modes[i], 3);
		make_file(modes[i]);
		CHECK_U64(write_file("gcore 1 file", false), 0);
		check_file(0600, 3);
	}
	CHECK(!unlink("file"));
}

/* What was written may be taken away, once; not what was there before. */
static void test_emptied_files(void)
{
	umask(0);
	CHECK_U64(empty_file("gcore 1 file", false), 1u << 2);
	check_file(0600, 0);
	CHECK_U64(empty_file("ps > file", false), 1u << 2);
	check_file(0600, 0);
	CHECK(!unlink("file"));
	make_file(0644);
	CHECK_U64(empty_file("ps >> file", true), 0);
	check_file(0644, 8);
	CHECK(!unlink("file"));
	CHECK(!symlink("/dev/null", "file"));
	CHECK_U64(empty_file("ps > file", false), 0);
	CHECK(!unlink("file"));
}

/* A link leads where the user's own files are; to nothing no file is made by it. */
static void test_links(void)
{
	make_file(0644);
	CHECK(!rename("file", "behind") && !symlink("behind", "file"));
	CHECK_U64(write_file("gcore 1 file", false), 0);
	check_file(0600, 3);
	CHECK(!unlink("behind"));
	CHECK_U64(write_file("gcore 1 file", false), ENOENT);
	CHECK(!unlink("file"));
	CHECK(!symlink("/dev/null", "file"));
	CHECK_U64(write_file("gcore 1 file", false), 0);
	struct stat status;
	CHECK(!stat("/dev/null", &status) && (status.st_mode & 0777) == 0666);
	CHECK(!unlink("file"));
}

/* Its owner could read it. */
static void test_others_files(void)
{
	if (geteuid())
		return;
	make_file(0666);
	CHECK(!chown("file", NOBODY, NOBODY));
	CHECK_U64(write_file("gcore 1 file", false), EPERM);
	check_file(0666, 5);
	CHECK_U64(write_file("ps > file", false), 0);
	CHECK(!unlink("file"));
}

/* Whoever adds an output says here what its mode is. */
static void test_all_are_known(void)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *command = commands[i];
		size_t length = strlen(command->name), last = command_operand_count(command);
		bool is_known = !last || command->operands[last - 1].kind != OPERAND_OUTPUT;
		for (size_t k = 0; k < ARRAY_COUNT(outputs); k++)
			is_known |= !strncmp(outputs[k].line, command->name, length) &&
				    outputs[k].line[length] == ' ';
		if (!is_known)
			printf("%s: the mode of its file is not tested\n", command->name);
		CHECK(is_known);
	}
}

int main(void)
{
	char folder[] = "/tmp/btfcrash-modes-XXXXXX";
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	RUN(test_new_files);
	RUN(test_files_that_exist);
	RUN(test_emptied_files);
	RUN(test_links);
	RUN(test_others_files);
	RUN(test_all_are_known);
	if (chdir("/") || rmdir(folder))
		return 1;
	return test_finish();
}
