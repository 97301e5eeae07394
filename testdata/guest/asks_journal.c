// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tasks that wait for a filesystem whose device is suspended: the thread of its journal and who
 * syncs for it, the worker of a loop device whose file lies there and who reads and writes that
 * device, who renames and holds up all others that do.
 */
#define _GNU_SOURCE
#include "asks.h"
#include <fcntl.h>
#include <linux/loop.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE	     "lab-journal"
#define FOLDER	     "/tmp/journal"
#define LOOP	     "/dev/loop6"
#define PAGE	     4096
#define IMAGE_PAGES  64
#define WRITTEN_PAGE 32 /* far behind what is read ahead for the first one */

static char page[PAGE];
static int file, loop;
static int folders[4];
static const char *const folder_paths[] = { FOLDER "/a", FOLDER "/b", FOLDER "/c", FOLDER "/d" };

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);
	if (fd < 0)
		fail(path);
	return fd;
}

/* Mounted anew: nothing of what is in the directories and the image is in memory. */
static void fill(const char *device)
{
	if (mkdir(FOLDER, 0755) || mount(device, FOLDER, "ext4", 0, ""))
		fail("mount of " DEVICE);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (mkdir(folder_paths[i], 0755))
			fail(folder_paths[i]);
	close(must_open(FOLDER "/a/moved", O_CREAT | O_WRONLY));
	close(must_open(FOLDER "/c/moved", O_CREAT | O_WRONLY));
	int image = must_open(FOLDER "/image", O_CREAT | O_WRONLY);
	for (size_t i = 0; i < IMAGE_PAGES; i++)
		if (write(image, page, PAGE) != PAGE)
			fail(FOLDER "/image");
	if (close(image) || umount(FOLDER) || mount(device, FOLDER, "ext4", 0, ""))
		fail("mount of " DEVICE);
}

static void prepare(void)
{
	file = must_open(FOLDER "/log", O_CREAT | O_WRONLY);
	if (write(file, page, PAGE) != PAGE || fsync(file))
		fail(FOLDER "/log");
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		folders[i] = must_open(folder_paths[i], O_PATH | O_DIRECTORY);
	loop = must_open(LOOP, O_RDWR);
	if (ioctl(loop, LOOP_SET_FD, must_open(FOLDER "/image", O_RDWR)))
		fail(LOOP);
}

static void sync_file(void)
{
	if (!fchmod(file, 0600))
		fsync(file);
}

static void read_loop(void)
{
	pread(loop, page, PAGE, 0);
}

static void sync_loop(void)
{
	if (pwrite(loop, page, PAGE, WRITTEN_PAGE * PAGE) == PAGE)
		fsync(loop);
}

static void rename_first(void)
{
	renameat(folders[0], "moved", folders[1], "moved");
}

static void rename_second(void)
{
	renameat(folders[2], "moved", folders[3], "moved");
}

void journal_start(FILE *manifest)
{
	char device[64];
	mapper_path(DEVICE, device, sizeof(device));
	fill(device);
	prepare();
	mapper_suspend_under(DEVICE);
	start_asking(manifest, "sync-waits", "syncs a file of a device that is suspended",
		     sync_file);
	start_asking(manifest, "rename-holds", "renames what it has to read first", rename_first);
	sleep(1);
	start_asking(manifest, "rename-waits", "waits for rename-holds", rename_second);
	start_asking(manifest, "loop-reads", "reads a loop device whose file cannot be read",
		     read_loop);
	sleep(1);
	start_asking(manifest, "loop-syncs", "syncs a loop device whose worker is at loop-reads",
		     sync_loop);
}
