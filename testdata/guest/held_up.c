// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * held_up: tasks that something beside them holds up, and one that has too much.
 *
 *   held_up MANIFEST READY
 *
 * A cgroup whose share of a CPU is used up, and one that is frozen; /dev/vdb, which answers next to
 * nothing; a server of NFS that takes connections and says nothing; a daemon that is to mount what
 * others ask for; a futex whose owner the kernel knows; memory that BPF maps have. Adds a line for
 * each task to MANIFEST, as states does, and makes the file READY when all wait.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOW_CGROUP "/sys/fs/cgroup/slow"
#define COLD_CGROUP "/sys/fs/cgroup/cold"
#define NFS_PORT    20490
#define NFS_FOLDER  "/tmp/nfs"
#define AUTO_FOLDER "/tmp/auto"
#define DISK	    "/dev/vdb"
#define DISK_BYTES  (1 << 20)
#define MAP_VALUES  (24 << 10)
#define MAP_BYTES   1024 /* of a value */
#define FUTEX_PAGE  (void *)0x7b7e00000000

static FILE *manifest;

static void fail(const char *what)
{
	printf("guest: failed: held_up: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void start(const char *comm, char letter, const char *explanation, void (*run)(void))
{
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid) {
		fprintf(manifest, "%d %s %c %s\n", pid, comm, letter, explanation);
		return;
	}
	prctl(PR_SET_NAME, comm);
	run();
	fail(comm);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

/* Two milliseconds of each second are used up at once. */

static void spin(void)
{
	set(SLOW_CGROUP "/cgroup.procs", "0");
	for (;;)
		sched_yield();
}

static void throttle(void)
{
	set("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	if (mkdir(SLOW_CGROUP, 0755))
		fail(SLOW_CGROUP);
	set(SLOW_CGROUP "/cpu.max", "2000 1000000");
	start("slow-spins", 'R', "in a cgroup that has used up its share", spin);
}

/* Who is to read a pipe is in a cgroup that is frozen. */

static int ends[2];

static void pause_in_cold(void)
{
	set(COLD_CGROUP "/cgroup.procs", "0");
	close(ends[1]);
	for (;;)
		pause();
}

static void fill_pipe(void)
{
	static const char page[4096];
	close(ends[0]);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
}

static void freeze(void)
{
	if (mkdir(COLD_CGROUP, 0755) || pipe2(ends, O_CLOEXEC))
		fail(COLD_CGROUP);
	start("cold-holds", 'S', "the only reader of a full pipe, frozen", pause_in_cold);
	start("cold-waits", 'S', "waits for cold-holds", fill_pipe);
	close(ends[0]);
	close(ends[1]);
	sleep(1);
	set(COLD_CGROUP "/cgroup.freeze", "1");
}

/* A futex that the kernel hands on itself, with the priority of who waits. */

static void lock_futex(void)
{
	syscall(SYS_futex, FUTEX_PAGE, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
}

static void hold_futex(void)
{
	lock_futex();
	for (;;)
		pause();
}

static void share_futex(void)
{
	if (mmap(FUTEX_PAGE, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		fail("memory of a futex");
	start("pi-holds", 'S', "has the futex of pi-waits", hold_futex);
	sleep(1);
	start("pi-waits", 'S', "waits for pi-holds", lock_futex);
}

static void read_disk(void)
{
	static char data[DISK_BYTES];
	int disk = open(DISK, O_RDONLY | O_CLOEXEC);
	if (disk < 0)
		fail(DISK);
	/* One request is answered, however big; the next one has to wait. */
	while (read(disk, data, sizeof(data)) > 0)
		;
}

/* Connections are the kernel's to take: nobody reads from them. */
static void listen_for_ever(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(NFS_PORT),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 8))
		fail("socket of the server");
	for (;;)
		pause();
}

static void mount_nfs(void)
{
	char options[256];
	snprintf(options, sizeof(options),
		 "vers=3,nolock,proto=tcp,mountproto=tcp,port=%d,mountport=%d,addr=127.0.0.1,"
		 "mountaddr=127.0.0.1",
		 NFS_PORT, NFS_PORT);
	mount("127.0.0.1:/export", NFS_FOLDER, "nfs", 0, options);
}

static void wait_for_nfs(void)
{
	if (mkdir(NFS_FOLDER, 0755))
		fail(NFS_FOLDER);
	start("nfs-server", 'S', "says nothing on port 20490", listen_for_ever);
	sleep(1);
	start("nfs-waits", 'D', "mounts what nfs-server should answer for", mount_nfs);
}

/* A filesystem whose daemon is to mount what somebody asks for, and does not read that */

static void be_daemon(void)
{
	char options[128];
	int asked[2];
	/* Those of the daemon's own group would ask for nothing. */
	if (setpgid(0, 0) || pipe2(asked, O_CLOEXEC))
		fail("group of the daemon");
	snprintf(options, sizeof(options), "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect", asked[1],
		 getpgrp());
	if (mount("automount", AUTO_FOLDER, "autofs", 0, options) || close(asked[1]))
		fail(AUTO_FOLDER);
	for (;;)
		pause();
}

static void ask_daemon(void)
{
	open(AUTO_FOLDER "/share/file", O_RDONLY | O_CLOEXEC);
}

static void wait_for_automount(void)
{
	if (mkdir(AUTO_FOLDER, 0755))
		fail(AUTO_FOLDER);
	start("auto-daemon", 'S', "mounts nothing below " AUTO_FOLDER, be_daemon);
	sleep(1);
	start("auto-waits", 'S', "waits for auto-daemon", ask_daemon);
}

static void keep_maps(void)
{
	union bpf_attr array = { .map_type = BPF_MAP_TYPE_ARRAY,
				 .key_size = 4,
				 .value_size = MAP_BYTES,
				 .max_entries = MAP_VALUES,
				 .map_name = "lab_array" };
	union bpf_attr hash = { .map_type = BPF_MAP_TYPE_HASH,
				.key_size = 4,
				.value_size = MAP_BYTES,
				.max_entries = MAP_VALUES / 2,
				.map_name = "lab_hash" };
	/* Up to 5.10 they are locked memory. */
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	if (setrlimit(RLIMIT_MEMLOCK, &all))
		fail("setrlimit");
	if (syscall(SYS_bpf, BPF_MAP_CREATE, &array, sizeof(array)) < 0 ||
	    syscall(SYS_bpf, BPF_MAP_CREATE, &hash, sizeof(hash)) < 0)
		fail("BPF maps");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	manifest = argc == 3 ? fopen(argv[1], "ae") : NULL;
	if (!manifest)
		fail("usage: held_up MANIFEST READY");
	setvbuf(manifest, NULL, _IONBF, 0);
	start("disk-waits", 'D', "reads " DISK ", which does not answer", read_disk);
	wait_for_nfs();
	wait_for_automount();
	freeze();
	share_futex();
	start("maps-keeps", 'S', "has BPF maps of 36 MiB", keep_maps);
	throttle();
	sleep(6); /* there is an age to be told, and a habit of the cgroup's */
	if (fclose(manifest) || close(open(argv[2], O_CREAT | O_WRONLY | O_CLOEXEC, 0644)))
		fail(argv[2]);
	for (;;)
		pause();
}
