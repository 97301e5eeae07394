// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * collect: write the truth about the live kernel to a raw disk, then crash it.
 *
 *   collect DEVICE CRASH (crashes.h)
 *
 * The truth is a tar archive of what the kernel says about itself in /proc and
 * /sys; tests compare a debugger's answers with it.  What never changes comes
 * first, counters next, tasks last: the same process then crashes the machine,
 * so that the tasks of the archive are the tasks of the dump.
 */
#define _GNU_SOURCE
#include "crashes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define TAR_BLOCK 512
#define PATH_SIZE 512
#define PAGE_SIZE 4096
/* Larger processes, or with more text in maps, are not told of page by page; behind them all is the
 * kernel. */
#define MEMORY_SIZE (64UL << 20)
#define MAPS_SIZE   65536
#define USER_END    (1UL << 63)

struct buffer {
	char *data;
	size_t size, capacity;
};

static int device;

void fail(const char *what)
{
	printf("guest: failed: collect: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *path_format(char *path, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(path, PATH_SIZE, format, args);
	va_end(args);
	return path;
}

/* The archive */

static void device_write(const void *data, size_t size)
{
	while (size) {
		ssize_t n = write(device, data, size);
		if (n <= 0)
			fail("write to the truth disk");
		data = (const char *)data + n;
		size -= n;
	}
}

static void tar_header(const char *name, size_t size)
{
	char header[TAR_BLOCK] = { 0 };
	if (strlen(name) >= 100)
		fail(name);
	strcpy(header, name);
	strcpy(header + 100, "0000644");
	strcpy(header + 108, "0000000");
	strcpy(header + 116, "0000000");
	snprintf(header + 124, 12, "%011zo", size);
	strcpy(header + 136, "00000000000");
	header[156] = '0';
	memcpy(header + 257,
	       "ustar\0"
	       "00",
	       8);

	memset(header + 148, ' ', 8);
	unsigned int sum = 0;
	for (size_t i = 0; i < sizeof(header); i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	device_write(header, sizeof(header));
}

static void tar_add(const char *name, const struct buffer *content)
{
	static const char zeros[TAR_BLOCK];
	tar_header(name, content->size);
	device_write(content->data, content->size);
	device_write(zeros, -content->size % TAR_BLOCK);
}

static void tar_end(void)
{
	static const char zeros[2 * TAR_BLOCK];
	device_write(zeros, sizeof(zeros));
	if (fsync(device))
		fail("fsync of the truth disk");
}

/* Reading /proc and /sys, whose files have no size */

static void buffer_reserve(struct buffer *buffer, size_t more)
{
	if (buffer->capacity - buffer->size >= more)
		return;
	buffer->capacity = 2 * buffer->capacity + more;
	buffer->data = realloc(buffer->data, buffer->capacity);
	if (!buffer->data)
		fail("realloc");
}

/* Returns false if the file cannot be opened; a failing read ends the content. */
static int buffer_read_file(struct buffer *buffer, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	buffer->size = 0;
	for (;;) {
		buffer_reserve(buffer, 1 << 16);
		ssize_t n = read(fd, buffer->data + buffer->size, buffer->capacity - buffer->size);
		if (n <= 0)
			break;
		buffer->size += n;
	}
	close(fd);
	return 1;
}

/* "name value" of a file of a tree: a newline, and what would be taken for one, are escaped. */
static void add_tree_line(struct buffer *lines, const char *name, const struct buffer *content)
{
	size_t size = content->size;
	if (size && content->data[size - 1] == '\n')
		size--;
	buffer_reserve(lines, PATH_SIZE + 2 * size);
	lines->size += sprintf(lines->data + lines->size, "%s ", name);
	for (size_t i = 0; i < size; i++) {
		char byte = content->data[i];
		if (byte == '\n' || byte == '\\')
			lines->data[lines->size++] = '\\';
		lines->data[lines->size++] = byte == '\n' ? 'n' : byte;
	}
	lines->data[lines->size++] = '\n';
}

static void add_file(const char *path, const char *name)
{
	static struct buffer buffer;
	if (buffer_read_file(&buffer, path))
		tar_add(name, &buffer);
}

static void for_each_entry(const char *directory,
			   void (*visit)(const char *path, const char *name, void *context),
			   void *context)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[PATH_SIZE];
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		path_format(path, "%s/%s", directory, entry->d_name);
		visit(path, entry->d_name, context);
	}
	closedir(dir);
}

/* Trees of small files, each as one file of the archive */

struct tree {
	size_t root; /* length of the path that names leave out */
	struct buffer lines;
};

static void add_tree_entry(const char *path, const char *name, void *context)
{
	/* Binary, or kept by themselves, or the tree of another. */
	static const char *const left_out[] = { "notes", "sections", "holders", "drivers",
						"uevent" };
	static struct buffer content;
	struct tree *tree = context;
	struct stat status;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (!strcmp(name, left_out[i]))
			return;
	if (lstat(path, &status))
		return;
	if (S_ISDIR(status.st_mode))
		for_each_entry(path, add_tree_entry, tree);
	else if (S_ISREG(status.st_mode) && status.st_mode & 0444 &&
		 buffer_read_file(&content, path))
		add_tree_line(&tree->lines, path + tree->root + 1, &content);
}

static void add_tree(const char *directory, const char *name)
{
	static struct tree tree;
	tree.root = strlen(directory);
	tree.lines.size = 0;
	for_each_entry(directory, add_tree_entry, &tree);
	tar_add(name, &tree.lines);
}

/* Where a link leads, without the folders; "-" if there is none. */
static const char *link_name(const char *path, char *buffer)
{
	ssize_t size = readlink(path, buffer, PATH_SIZE - 1);
	if (size < 0)
		return "-";
	buffer[size] = 0;
	const char *slash = strrchr(buffer, '/');
	return slash ? slash + 1 : buffer;
}

/* "BUS DEVICE DRIVER" of each device of a bus. */
static void add_bus_device(const char *path, const char *name, void *context)
{
	struct buffer *lines = context;
	char link[PATH_SIZE], target[PATH_SIZE];
	const char *bus = strstr(path, "/bus/") + 5;
	buffer_reserve(lines, 3 * PATH_SIZE);
	path_format(link, "%s/driver", path);
	lines->size += sprintf(lines->data + lines->size, "%.*s %s %s\n", (int)strcspn(bus, "/"),
			       bus, name, link_name(link, target));
}

static void add_bus(const char *path, const char *name, void *context)
{
	char devices[PATH_SIZE];
	(void)name;
	for_each_entry(path_format(devices, "%s/devices", path), add_bus_device, context);
}

static void add_buses(void)
{
	static struct buffer lines;
	for_each_entry("/sys/bus", add_bus, &lines);
	tar_add("buses", &lines);
}

/* "DISK FILE VALUE" of what a request queue says of itself. */
static void add_disk(const char *path, const char *name, void *context)
{
	static const char *const names[] = {
		"size", "ro", "removable", "inflight", "queue/scheduler", "queue/nr_requests"
	};
	static struct buffer content;
	char from[PATH_SIZE], line[PATH_SIZE];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (buffer_read_file(&content, path_format(from, "%s/%s", path, names[i])))
			add_tree_line(context, path_format(line, "%s %s", name, names[i]),
				      &content);
}

static void add_disks(void)
{
	static struct buffer lines;
	for_each_entry("/sys/block", add_disk, &lines);
	tar_add("disks", &lines);
}

/* Modules */

static void add_into(const char *path, const char *name, void *prefix)
{
	char to[PATH_SIZE];
	add_file(path, path_format(to, "%s/%s", (char *)prefix, name));
}

static void add_sections(const char *path, const char *name, void *context)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	(void)context;
	for_each_entry(path_format(from, "%s/sections", path), add_into,
		       path_format(to, "sections/%s", name));
}

/* What ftrace has */

static void add_event(const char *path, const char *name, void *context)
{
	static struct buffer content;
	char from[PATH_SIZE];
	(void)name;
	if (buffer_read_file(&content, path_format(from, "%s/id", path)))
		add_tree_line(context, path + strlen("/sys/kernel/tracing/events/"), &content);
}

static void add_system(const char *path, const char *name, void *context)
{
	(void)name;
	for_each_entry(path, add_event, context);
}

/* The text of a trace, and what each CPU says of its buffer: of all, and of an instance. */
static void add_trace(const char *path, const char *name, void *context)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	(void)context;
	add_file(path_format(from, "%s/trace", path), path_format(to, "trace/%s", name));
	add_file(path_format(from, "%s/set_event", path), path_format(to, "set_event/%s", name));
}

static void add_tracing(void)
{
	static struct buffer lines;
	for_each_entry("/sys/kernel/tracing/events", add_system, &lines);
	tar_add("trace_events", &lines);
	add_trace("/sys/kernel/tracing", "global", NULL);
	for_each_entry("/sys/kernel/tracing/instances", add_trace, NULL);
	add_file("/sys/kernel/tracing/uprobe_events", "uprobe_events");
	add_file("/sys/kernel/tracing/kprobe_events", "kprobe_events");
}

/* Tasks */

static void add_link_line(const char *path, const char *name, void *context)
{
	struct buffer *lines = context;
	char target[PATH_SIZE];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return;
	target[n] = 0;
	buffer_reserve(lines, 2 * PATH_SIZE);
	lines->size += sprintf(lines->data + lines->size, "%s %s\n", name, target);
}

/* One "NAME TARGET" line for each symbolic link of the directory. */
static void add_links(const char *directory, const char *name)
{
	static struct buffer lines;
	lines.size = 0;
	for_each_entry(directory, add_link_line, &lines);
	tar_add(name, &lines);
}

/* "DESCRIPTOR INODE MODE LINKS UID GID SIZE" of what each descriptor leads to. */
static void add_status_line(const char *path, const char *name, void *context)
{
	struct buffer *lines = context;
	struct stat status;
	if (stat(path, &status))
		return;
	buffer_reserve(lines, PATH_SIZE);
	lines->size += sprintf(lines->data + lines->size, "%s %lu %06o %lu %u %u %lld\n", name,
			       status.st_ino, status.st_mode, status.st_nlink, status.st_uid,
			       status.st_gid, (long long)status.st_size);
}

static void add_statuses(const char *directory, const char *name)
{
	static struct buffer lines;
	lines.size = 0;
	for_each_entry(directory, add_status_line, &lines);
	tar_add(name, &lines);
}

/* What /proc/PID/pagemap says of the pages from `start` on: those that it says nothing of are left
 * out. */
static void add_page_lines(struct buffer *lines, int pagemap, unsigned long start,
			   unsigned long end)
{
	const unsigned long long soft_dirty = 1ULL << 55;
	unsigned long long entries[512];
	while (start < end) {
		size_t count = (end - start) / PAGE_SIZE;
		if (count > sizeof(entries) / sizeof(*entries))
			count = sizeof(entries) / sizeof(*entries);
		ssize_t size = pread(pagemap, entries, count * sizeof(*entries),
				     start / PAGE_SIZE * sizeof(*entries));
		if (size <= 0)
			return;
		count = size / sizeof(*entries);
		buffer_reserve(lines, 40 * count);
		for (size_t i = 0; i < count; i++)
			if (entries[i] & ~soft_dirty)
				lines->size += sprintf(lines->data + lines->size, "%lx %llx\n",
						       start + i * PAGE_SIZE, entries[i]);
		start += count * PAGE_SIZE;
	}
}

/*
 * smaps, and a line for each page, "ADDRESS ENTRY", of processes that are not large. These come
 * last: who reads a process's memory, as for some other files, brings pages back.
 */
static void add_memory(const char *process, const char *tid)
{
	static struct buffer lines, maps;
	unsigned long start, end, sum = 0;
	char from[PATH_SIZE], to[PATH_SIZE];
	if (!buffer_read_file(&maps, path_format(from, "%s/maps", process)) || !maps.size ||
	    maps.size > MAPS_SIZE)
		return;
	maps.data[maps.size - 1] = 0;
	for (char *line = maps.data; line; line = strchr(line + 1, '\n'))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start < USER_END)
			sum += end - start;
	int pagemap = open(path_format(from, "%s/pagemap", process), O_RDONLY | O_CLOEXEC);
	if (pagemap < 0 || sum > MEMORY_SIZE) {
		close(pagemap);
		return;
	}
	add_file(path_format(from, "%s/smaps", process), path_format(to, "tasks/%s/smaps", tid));
	lines.size = 0;
	for (char *line = maps.data; line; line = strchr(line + 1, '\n'))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start < USER_END)
			add_page_lines(&lines, pagemap, start, end);
	tar_add(path_format(to, "tasks/%s/pagemap", tid), &lines);
	close(pagemap);
}

static void add_task(const char *path, const char *tid, void *context)
{
	static const char *const names[] = {
		"comm",
		"status",
		"stat",
		"wchan",
		"stack",
		"syscall",
		"cgroup",
		"sched",
		/* The same for all threads, and with 2,000 of them long: */
		"maps",
		"mountinfo",
		"limits",
		"cmdline",
		"environ",
		"auxv",
	};
	const size_t own = 8, all = sizeof(names) / sizeof(*names);
	char from[PATH_SIZE], to[PATH_SIZE];
	const char *process = context;
	for (size_t i = 0; i < (strcmp(process, tid) ? own : all); i++)
		add_file(path_format(from, "%s/%s", path, names[i]),
			 path_format(to, "tasks/%s/%s", tid, names[i]));
	add_links(path_format(from, "%s/fd", path), path_format(to, "tasks/%s/files", tid));
	if (!strcmp(process, tid)) {
		add_tree(path_format(from, "%s/fdinfo", path),
			 path_format(to, "tasks/%s/fdinfo", tid));
		if (!access("/tmp/told", F_OK)) {
			add_statuses(path_format(from, "%s/fd", path),
				     path_format(to, "tasks/%s/statuses", tid));
			add_memory(path, tid);
		}
	}
	add_links(path_format(from, "%s/ns", path), path_format(to, "tasks/%s/namespaces", tid));
	add_links(path, path_format(to, "tasks/%s/links", tid));
}

static void add_process(const char *path, const char *name, void *context)
{
	char from[PATH_SIZE];
	(void)context;
	if (name[0] >= '0' && name[0] <= '9')
		for_each_entry(path_format(from, "%s/task", path), add_task, (void *)name);
}

/* The whole truth */

static void add_proc_files(const char *const names[])
{
	for (; *names; names++) {
		char path[PATH_SIZE];
		add_file(path_format(path, "/proc/%s", *names), *names);
	}
}

static void add_constants(void)
{
	static const char *const names[] = {
		"kallsyms", "modules",	       "version", "cpuinfo", "iomem",	   "ioports",
		"cmdline",  "filesystems",     "devices", "misc",    "partitions", "consoles",
		"cgroups",  "bus/pci/devices", "crypto",  NULL,
	};
	add_proc_files(names);
	add_file("/sys/kernel/notes", "notes");
	add_file("/sys/kernel/vmcoreinfo", "vmcoreinfo");
	add_file("/tmp/states", "states");
	add_file("/tmp/bpf", "bpf");
	add_file("/tmp/core", "core");
	for_each_entry("/tmp/disks", add_into, "disks_asked");
	for_each_entry("/tmp/audit", add_into, "audit");
	for_each_entry("/tmp/told", add_into, "told");
	add_file("/sys/module/stuck/parameters/listing", "stuck");
	for_each_entry("/sys/kernel/btf", add_into, "btf");
	for_each_entry("/sys/module", add_sections, NULL);
	add_tree("/sys/module", "modules_tree");
	add_buses();
	fsync(device);
}

static void add_counters(void)
{
	static const char *const names[] = {
		"slabinfo",	"vmallocinfo",	"meminfo",	   "mounts",
		"swaps",	"stat",		"vmstat",	   "buddyinfo",
		"zoneinfo",	"pagetypeinfo", "interrupts",	   "softirqs",
		"timer_list",	"locks",	"diskstats",	   "loadavg",
		"schedstat",	"keys",		"net/tcp",	   "net/tcp6",
		"net/udp",	"net/udp6",	"net/unix",	   "net/netlink",
		"net/raw",	"net/raw6",	"net/packet",	   "net/dev",
		"net/route",	"net/arp",	"net/if_inet6",	   "net/protocols",
		"net/sockstat", "sysvipc/msg",	"sysvipc/sem",	   "sysvipc/shm",
		"net/fib_trie", "net/ptype",	"net/ipv6_route",  "net/icmp",
		"pressure/cpu", "pressure/io",	"pressure/memory", "pressure/irq",
		NULL,
	};
	add_proc_files(names);
	add_tree("/proc/sys", "sysctl");
	add_tree("/sys/fs/cgroup", "cgroup_tree");
	add_tree("/sys/kernel/mm/hugepages", "hugepages");
	add_disks();
	add_file("/tmp/neighbours", "neighbours");
	add_file("/sys/kernel/debug/kprobes/list", "kprobes");
	add_file("/sys/kernel/debug/sched/debug", "sched_debug");
	add_file("/sys/kernel/debug/dynamic_debug/control", "dynamic_debug");
	add_tree("/proc/irq", "irq_tree");
	add_tracing();
}

static void add_tasks(void)
{
	for_each_entry("/proc", add_process, NULL);
	add_file("/proc/uptime", "uptime");
	/* What else is told takes pages, which CPUs take from and put onto lists of their own. */
	fsync(device);
	add_file("/proc/zoneinfo", "zoneinfo_last");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 3) {
		printf("guest: failed: usage: collect DEVICE CRASH\n");
		return 2;
	}
	device = open(argv[1], O_WRONLY | O_CLOEXEC);
	if (device < 0)
		fail(argv[1]);
	add_constants();
	add_counters();
	add_tasks();
	tar_end();
	printf("guest: ready\n");
	/* All of it is out before the machine dies: who waits for it took that for a failure. */
	tcdrain(STDOUT_FILENO);
	crash_as(argv[2]);
	fail("the crash did not happen");
}
