// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * asks: disks that are asked and do not answer, and disks that the device mapper makes of them.
 *
 *   asks MANIFEST FOLDER READY
 *
 * Writes to FOLDER what it asked the disks for (asked: "DISK r|w SECTOR BYTES"), what the device
 * mapper says (mapped), and makes the file READY. Adds a line for each task to MANIFEST, as states
 * does. Asynchronous reads and writes leave the task free; others wait for a disk that does not
 * answer, or for reads that no disk is asked for: their device is suspended, or their cgroup has
 * had its share.
 */
#define _GNU_SOURCE
#include "asks.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/dm-ioctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR	      512
#define FIRST_BYTES   (128 << 10) /* more than what the disk answers at once */
#define PAGE	      4096
#define DM_BYTES      16384
#define NARROW_CGROUP "/sys/fs/cgroup/narrow"

static char memory[4][FIRST_BYTES] __attribute__((aligned(PAGE)));

/* Behind the first one, which is answered. */
static const struct ask {
	unsigned int opcode;
	unsigned long sector, bytes;
} asks[] = {
	{ IOCB_CMD_PREAD, 0, FIRST_BYTES },
	{ IOCB_CMD_PREAD, 2048, 8192 },
	{ IOCB_CMD_PWRITE, 4104, 4096 },
	{ IOCB_CMD_PREAD, 8200, 65536 },
};

void fail(const char *what)
{
	printf("guest: failed: asks: %s: %s\n", what, strerror(errno));
	exit(1);
}

void start_asking(FILE *manifest, const char *comm, const char *explanation, void (*run)(void))
{
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid) {
		fprintf(manifest, "%d %s D %s\n", pid, comm, explanation);
		return;
	}
	prctl(PR_SET_NAME, comm);
	run();
	fail(comm);
}

static int open_disk(const char *path)
{
	int disk = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (disk < 0)
		fail(path);
	return disk;
}

static FILE *open_output(const char *folder, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	if (!file)
		fail(path);
	return file;
}

static void submit(aio_context_t context, int disk, size_t index)
{
	static struct iocb calls[64], *call = calls;
	*call = (struct iocb){ .aio_fildes = (unsigned int)disk,
			       .aio_lio_opcode = (unsigned short)asks[index].opcode,
			       .aio_buf = (unsigned long)memory[index],
			       .aio_nbytes = asks[index].bytes,
			       .aio_offset = (long)asks[index].sector * SECTOR };
	if (syscall(SYS_io_submit, context, 1L, &call) != 1)
		fail("io_submit");
	call++;
}

static void ask(aio_context_t context, const char *name, FILE *asked)
{
	char path[64];
	struct io_event event;
	snprintf(path, sizeof(path), "/dev/%s", name);
	int disk = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (disk < 0)
		fail(path);
	submit(context, disk, 0);
	if (syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) != 1)
		fail("io_getevents");
	for (size_t i = 1; i < sizeof(asks) / sizeof(*asks); i++) {
		submit(context, disk, i);
		fprintf(asked, "%s %c %lu %lu\n", name,
			asks[i].opcode == IOCB_CMD_PREAD ? 'r' : 'w', asks[i].sector,
			asks[i].bytes);
	}
}

/* --- the device mapper ----------------------------------------------------------------------- */

static int control;
static int asleep; /* /dev/dm-N, which is suspended */
static union {
	struct dm_ioctl head;
	char bytes[DM_BYTES];
} call;

static void prepare(const char *name, const char *uuid, unsigned int flags)
{
	memset(&call, 0, sizeof(call));
	call.head.version[0] = DM_VERSION_MAJOR;
	call.head.data_size = sizeof(call);
	call.head.data_start = sizeof(call.head);
	call.head.flags = flags;
	snprintf(call.head.name, sizeof(call.head.name), "%s", name);
	snprintf(call.head.uuid, sizeof(call.head.uuid), "%s", uuid);
}

static void tell(unsigned long command, const char *what)
{
	if (ioctl(control, command, &call))
		fail(what);
}

struct target {
	unsigned long start, length;
	const char *type, *parameters;
};

static void load(const char *name, const struct target *targets, unsigned int count)
{
	prepare(name, "", 0);
	size_t at = sizeof(call.head);
	call.head.target_count = count;
	for (unsigned int i = 0; i < count; i++) {
		struct dm_target_spec *spec = (void *)(call.bytes + at);
		size_t size = (sizeof(*spec) + strlen(targets[i].parameters) + 8) & ~7UL;
		spec->sector_start = targets[i].start;
		spec->length = targets[i].length;
		spec->next = (unsigned int)size;
		strcpy(spec->target_type, targets[i].type);
		strcpy((char *)(spec + 1), targets[i].parameters);
		at += size;
	}
	tell(DM_TABLE_LOAD, "DM_TABLE_LOAD");
}

static void set_suspended(const char *name, bool is_suspended)
{
	prepare(name, "", is_suspended ? DM_SUSPEND_FLAG | DM_SKIP_LOCKFS_FLAG : 0);
	tell(DM_DEV_SUSPEND, "DM_DEV_SUSPEND");
}

void mapper_suspend_under(const char *name)
{
	prepare(name, "", DM_SUSPEND_FLAG | DM_SKIP_LOCKFS_FLAG | DM_NOFLUSH_FLAG);
	tell(DM_DEV_SUSPEND, "DM_DEV_SUSPEND");
}

void mapper_path(const char *name, char *path, size_t size)
{
	prepare(name, "", 0);
	tell(DM_DEV_STATUS, "DM_DEV_STATUS");
	snprintf(path, size, "/dev/dm-%u", minor(call.head.dev));
}

/* "device NAME|UUID|MAJOR:MINOR|FLAGS|OPEN COUNT|EVENT", and "target NAME|START|LENGTH|TYPE|..." */
static void report(const char *name, FILE *mapped)
{
	prepare(name, "", DM_STATUS_TABLE_FLAG);
	tell(DM_TABLE_STATUS, "DM_TABLE_STATUS");
	fprintf(mapped, "device %s|%s|%u:%u|%s|%d|%u\n", call.head.name, call.head.uuid,
		major(call.head.dev), minor(call.head.dev),
		call.head.flags & DM_SUSPEND_FLAG ? "suspended" : "active", call.head.open_count,
		call.head.event_nr);
	size_t at = call.head.data_start;
	for (unsigned int i = 0; i < call.head.target_count; i++) {
		const struct dm_target_spec *spec = (const void *)(call.bytes + at);
		fprintf(mapped, "target %s|%llu|%llu|%s|%s\n", name, spec->sector_start,
			spec->length, spec->target_type, (const char *)(spec + 1));
		at = call.head.data_start + spec->next;
	}
}

/* One of several targets, one that is suspended and open, one without a table. */
static void map_devices(FILE *mapped)
{
	static const struct target several[] = {
		{ 0, 2048, "linear", "/dev/sda 64" },
		{ 2048, 4096, "striped", "2 8 /dev/vdb 16384 /dev/nvme0n1 32" },
		{ 6144, 1024, "error", "" },
	};
	static const struct target journal[] = { { 0, 16384, "linear", "/dev/loop7 0" } };
	static const struct target one[] = { { 0, 1024, "linear", "/dev/nvme0n1 8192" } };
	char path[64];
	control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		fail("/dev/mapper/control");
	prepare("lab-several", "LAB-several-1", 0);
	tell(DM_DEV_CREATE, "DM_DEV_CREATE");
	load("lab-several", several, 3);
	set_suspended("lab-several", false);
	prepare("lab-asleep", "", 0);
	tell(DM_DEV_CREATE, "DM_DEV_CREATE");
	load("lab-asleep", one, 1);
	set_suspended("lab-asleep", false);
	mapper_path("lab-asleep", path, sizeof(path));
	asleep = open_disk(path);
	set_suspended("lab-asleep", true);
	prepare("lab-bare", "LAB-bare-3", 0);
	tell(DM_DEV_CREATE, "DM_DEV_CREATE");
	prepare("lab-journal", "", 0);
	tell(DM_DEV_CREATE, "DM_DEV_CREATE");
	load("lab-journal", journal, 1);
	set_suspended("lab-journal", false);
	report("lab-several", mapped);
	report("lab-asleep", mapped);
	report("lab-bare", mapped);
}

/* --- reads that are kept back ----------------------------------------------------------------- */

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

static int read_from;
static const char *read_in; /* a file to join a cgroup; NULL: none */

static void read_page(void)
{
	if (read_in)
		set(read_in, "0");
	pread(read_from, memory[0], PAGE, PAGE);
}

static void start_reader(FILE *manifest, const char *comm, const char *explanation, int disk,
			 const char *cgroup)
{
	read_from = disk;
	read_in = cgroup;
	start_asking(manifest, comm, explanation, read_page);
}

/* Whoever sets a limit first waits for all that the disk was asked for. */
static void limit_reads(void)
{
	struct stat status;
	char limit[64];
	set("/sys/fs/cgroup/cgroup.subtree_control", "+io");
	if (stat("/dev/sda", &status) || mkdir(NARROW_CGROUP, 0755))
		fail(NARROW_CGROUP);
	snprintf(limit, sizeof(limit), "%u:%u rbps=2", major(status.st_rdev),
		 minor(status.st_rdev));
	set(NARROW_CGROUP "/io.max", limit);
}

static void keep_back(FILE *manifest)
{
	journal_start(manifest);
	start_reader(manifest, "mapper-waits", "reads a device that is suspended", asleep, NULL);
	start_reader(manifest, "direct-waits", "reads a disk that does not answer",
		     open_disk("/dev/vdb"), NULL);
	start_reader(manifest, "limit-waits", "in a cgroup that may read two bytes a second",
		     open_disk("/dev/sda"), NARROW_CGROUP "/cgroup.procs");
}

int main(int argc, char **argv)
{
	static const char *const disks[] = { "vdb", "sda", "nvme0n1" };
	aio_context_t context = 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	FILE *manifest = argc == 4 ? fopen(argv[1], "ae") : NULL;
	if (!manifest)
		fail("usage: asks MANIFEST FOLDER READY");
	prctl(PR_SET_NAME, "disk-asks");
	fprintf(manifest, "%d disk-asks S asks disks that do not answer\n", getpid());
	FILE *asked = open_output(argv[2], "asked"), *mapped = open_output(argv[2], "mapped");
	map_devices(mapped);
	limit_reads();
	if (syscall(SYS_io_setup, 64L, &context))
		fail("io_setup");
	for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++)
		ask(context, disks[i], asked);
	keep_back(manifest);
	report("lab-journal", mapped);
	fclose(asked);
	fclose(mapped);
	fclose(manifest);
	if (close(open(argv[3], O_CREAT | O_WRONLY | O_CLOEXEC, 0644)))
		fail(argv[3]);
	for (;;)
		pause();
}
