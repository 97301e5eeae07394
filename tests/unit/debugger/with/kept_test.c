// SPDX-License-Identifier: GPL-3.0-or-later
/* Files for other tools: what was kept is found, nothing that is wrong is, and old ones give way.
 */
#include "tests/unit/test.h"

#include "debugger/command/options.h"
#include "debugger/with/kept.h"
#include "debugger/with/tool.h"
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct world {
	char home[64], dump[128], folder[128];
	const char *dumps[1];
};

static void world_init(struct world *world)
{
	strcpy(world->home, "/tmp/btfcrash-kept-XXXXXX");
	CHECK(mkdtemp(world->home) != NULL);
	setenv("XDG_CACHE_HOME", world->home, 1);
	setenv("TMPDIR", world->home, 1);
	snprintf(world->folder, sizeof(world->folder), "%s/btfcrash", world->home);
	snprintf(world->dump, sizeof(world->dump), "%s/dump", world->home);
	FILE *file = fopen(world->dump, "w");
	CHECK(file && fputs("a dump", file) >= 0 && !fclose(file));
	world->dumps[0] = world->dump;
	/* What was changed within a tick of the clock is not kept. */
	usleep(100000);
}

/* The number of files whose names have the ending, "": of all; each is removed if `remove_them`. */
static size_t count_files(const char *folder, const char *ending, bool remove_them)
{
	char path[512];
	struct dirent *entry;
	size_t count = 0;
	DIR *listing = opendir(folder);
	while (listing && (entry = readdir(listing))) {
		size_t length = strlen(entry->d_name), tail = strlen(ending);
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || length < tail ||
		    strcmp(entry->d_name + length - tail, ending) != 0)
			continue;
		count++;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (remove_them)
			(void)remove(path);
	}
	if (listing)
		closedir(listing);
	return count;
}

static void world_deinit(struct world *world)
{
	count_files(world->folder, "", true);
	count_files(world->home, "", true);
	CHECK(!rmdir(world->home));
}

static void open_kept(struct world *world, uint64_t number, bool keep, struct kept *kept)
{
	struct cache_key key;
	cache_key_init(&key);
	cache_key_add(&key, &number, sizeof(number));
	CHECK_OK(kept_open(kept, &key, keep, world->dumps, 1));
}

static void make(struct kept *kept, const char *text)
{
	FILE *vmlinux, *tiers;
	CHECK_OK(kept_create(kept, &vmlinux, &tiers));
	CHECK(fputs(text, vmlinux) >= 0 && fputs("a list\n", tiers) >= 0);
	CHECK_OK(kept_keep(kept, vmlinux, tiers));
}

static void test_found_again(void)
{
	struct world world;
	struct kept kept;
	char text[16] = "";
	world_init(&world);
	open_kept(&world, 1, true, &kept);
	CHECK(!kept.is_temporary && !kept_find(&kept));
	make(&kept, "an ELF file");
	CHECK(kept_find(&kept));
	CHECK(!access(kept.tiers, R_OK));
	FILE *file = fopen(kept.vmlinux, "r");
	CHECK(file && fread(text, 1, 11, file) == 11 && !fclose(file));
	CHECK_STRING(text, "an ELF file");
	kept_close(&kept);
	open_kept(&world, 2, true, &kept);
	CHECK(!kept_find(&kept));
	kept_close(&kept);
	open_kept(&world, 1, true, &kept);
	CHECK(kept_find(&kept));
	kept_close(&kept);
	world_deinit(&world);
}

/* Each byte behind the ELF file counts, and so do its rights. */
static void test_damaged(void)
{
	struct world world;
	struct kept kept;
	world_init(&world);
	open_kept(&world, 1, true, &kept);
	make(&kept, "ELF");
	struct stat status;
	CHECK(!stat(kept.vmlinux, &status));
	CHECK_U64(status.st_mode & 0777, 0600);
	for (off_t at = 3; at < status.st_size; at++) {
		FILE *file = fopen(kept.vmlinux, "r+");
		CHECK(file && !fseeko(file, at, SEEK_SET));
		int byte = fgetc(file);
		CHECK(!fseeko(file, at, SEEK_SET) && fputc(byte ^ 0x55, file) >= 0);
		CHECK(!fflush(file) && !kept_find(&kept));
		CHECK(!fseeko(file, at, SEEK_SET) && fputc(byte, file) >= 0 && !fclose(file));
	}
	CHECK(kept_find(&kept));
	CHECK(!chmod(kept.vmlinux, 0620) && !kept_find(&kept));
	CHECK(!chmod(kept.vmlinux, 0600) && kept_find(&kept));
	CHECK(!truncate(kept.vmlinux, 10) && !kept_find(&kept));
	CHECK(!unlink(kept.vmlinux) && !symlink(world.dump, kept.vmlinux) && !kept_find(&kept));
	kept_close(&kept);
	world_deinit(&world);
}

/* As if it had been used so many seconds ago. */
static void set_age(const char *path, time_t seconds)
{
	const struct timespec when = { .tv_sec = time(NULL) - seconds };
	const struct timespec times[2] = { when, when };
	CHECK(!utimensat(AT_FDCWD, path, times, 0));
}

static void make_one(struct world *world, uint64_t number, time_t age)
{
	struct kept kept;
	open_kept(world, number, true, &kept);
	make(&kept, "ELF");
	CHECK(kept_find(&kept));
	set_age(kept.vmlinux, age);
	kept_close(&kept);
}

static void test_old_ones_give_way(void)
{
	struct world world;
	struct kept kept;
	world_init(&world);
	for (uint64_t i = 0; i < 12; i++)
		make_one(&world, i, 2000 - (time_t)i);
	CHECK_U64(count_files(world.folder, ".vmlinux", false), 8);
	CHECK_U64(count_files(world.folder, ".tiers", false), 8);
	CHECK_U64(count_files(world.folder, "", false), 16);
	for (uint64_t i = 0; i < 12; i++) {
		open_kept(&world, i, true, &kept);
		CHECK(kept_find(&kept) == (i >= 4));
		kept_close(&kept);
	}
	world_deinit(&world);
}

/* What others have just found, and are about to open, stays, and so does what they write. */
static void test_others_files_stay(void)
{
	struct world world;
	struct kept written, abandoned;
	FILE *files[4];
	char path[256];
	world_init(&world);
	open_kept(&world, 100, true, &written);
	CHECK_OK(kept_create(&written, &files[0], &files[1]));
	snprintf(path, sizeof(path), "%s/%s", world.folder, written.new_name);
	set_age(path, 600);
	open_kept(&world, 100, true, &abandoned);
	CHECK_OK(kept_create(&abandoned, &files[2], &files[3]));
	CHECK(strcmp(abandoned.new_name, written.new_name) != 0);
	snprintf(path, sizeof(path), "%s/%s", world.folder, abandoned.new_name);
	set_age(path, 7200);
	for (uint64_t i = 0; i < 12; i++)
		make_one(&world, i, 0);
	CHECK_U64(count_files(world.folder, ".vmlinux", false), 13);
	CHECK(access(path, F_OK));
	CHECK_OK(kept_keep(&written, files[0], files[1]));
	CHECK(kept_find(&written));
	kept_drop(&abandoned, files[2], files[3]);
	kept_close(&abandoned);
	kept_close(&written);
	CHECK_U64(count_files(world.folder, "", false), 26);
	world_deinit(&world);
}

static void test_temporary(void)
{
	struct world world;
	struct kept kept;
	char *path;
	world_init(&world);
	open_kept(&world, 1, false, &kept);
	CHECK(kept.is_temporary && !kept_find(&kept));
	make(&kept, "ELF");
	CHECK(!access(kept.vmlinux, R_OK) && !access(kept.tiers, R_OK));
	CHECK_OK(kept_text(&kept, "text.py", "pass\n", &path));
	CHECK(!access(path, R_OK));
	free(path);
	kept_close(&kept);
	CHECK_U64(count_files(world.home, "", false), 1);
	world_deinit(&world);
}

static void test_dropped(void)
{
	struct world world;
	struct kept kept;
	FILE *vmlinux, *tiers;
	world_init(&world);
	open_kept(&world, 1, true, &kept);
	CHECK_OK(kept_create(&kept, &vmlinux, &tiers));
	kept_drop(&kept, vmlinux, tiers);
	CHECK(!kept_find(&kept));
	CHECK_U64(count_files(world.folder, "", false), 0);
	/* What does not get its name leaves nothing, either. */
	char path[256], *ret;
	snprintf(path, sizeof(path), "%s/text.py", world.folder);
	CHECK(!mkdir(path, 0700));
	CHECK_FAILS(kept_text(&kept, "text.py", "pass\n", &ret), "text.py");
	CHECK_U64(count_files(world.folder, "", false), 1);
	kept_close(&kept);
	world_deinit(&world);
}

/* --- formats --------------------------------------------------------------------------------- */

static enum dump_format format_of(const struct world *world, const void *bytes, size_t size)
{
	enum dump_format format = DUMP_OTHER;
	FILE *file = fopen(world->dump, "w");
	CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
	CHECK(dump_format_of(world->dump, &format));
	return format;
}

static void test_formats(void)
{
	struct world world;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
	} elf = { { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
		    .e_phoff = sizeof(Elf64_Ehdr),
		    .e_phnum = 2 },
		  { { .p_type = PT_NOTE }, { .p_type = PT_LOAD } } };
	world_init(&world);
	CHECK_U64(format_of(&world, &elf, sizeof(elf)), DUMP_ELF_PHYSICAL);
	elf.segments[1].p_vaddr = 0xffffffff81000000u;
	CHECK_U64(format_of(&world, &elf, sizeof(elf)), DUMP_ELF);
	CHECK_U64(format_of(&world, &elf, sizeof(elf) - 8), DUMP_ELF_PHYSICAL);
	elf.header.e_phoff = UINT64_MAX;
	CHECK_U64(format_of(&world, &elf, sizeof(elf)), DUMP_ELF_PHYSICAL);
	CHECK_U64(format_of(&world, "KDUMP   and more", 16), DUMP_KDUMP);
	CHECK_U64(format_of(&world, "makedumpfile\0\0\0\0", 16), DUMP_FLATTENED);
	CHECK_U64(format_of(&world, "EMiL and what else", 16), DUMP_IMAGE);
	CHECK_U64(format_of(&world, "nothing of all this", 16), DUMP_OTHER);
	CHECK_U64(format_of(&world, "", 0), DUMP_OTHER);
	enum dump_format format;
	CHECK(!dump_format_of("/nonexistent/dump", &format));
	world_deinit(&world);
}

/* Each word of the option is a tool, and no other one. */
static void test_tools(void)
{
	char words[64], *rest = words, *word;
	size_t count = 0;
	snprintf(words, sizeof(words), "%s", option_of_key(OPTION_WITH)->words);
	while ((word = strsep(&rest, " "))) {
		const struct tool *tool = tool_find(word);
		CHECK(tool && !strcmp(tool->name, word));
		count++;
	}
	CHECK_U64(count, 3);
	CHECK(!tool_find("") && !tool_find("gd"));
}

int main(void)
{
	RUN(test_found_again);
	RUN(test_damaged);
	RUN(test_old_ones_give_way);
	RUN(test_others_files_stay);
	RUN(test_temporary);
	RUN(test_dropped);
	RUN(test_formats);
	RUN(test_tools);
	return test_finish();
}
