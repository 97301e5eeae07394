// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * tells: what the kernel says of itself through system calls, or in more files than one.
 *
 *   tells DIRECTORY [all]
 *
 * writes files, of lines but for the last two:
 *
 *   files       MAJOR:MINOR INODE MODE LINKS UID GID SIZE PATH, by lstat, of some file systems
 *   mounts      MAJOR:MINOR BLOCK PATH of each mount's root; BLOCK is st_blksize
 *   routes      FAMILY TABLE TYPE SCOPE PROTOCOL METRIC DEVICE GATEWAY WEIGHT SOURCE TO/BITS
 *   neighbours  FAMILY DEVICE STATE REFERENCES ADDRESS
 *   devices     BUS DEVICE PARENT NODE MODULE, of /sys/bus
 *   resources   DEVICE START END FLAGS, of PCI devices
 *   network     DEVICE FILE VALUE, of /sys/class/net
 *   workqueues  QUEUE FILE VALUE, of /sys/devices/virtual/workqueue
 *   buffers     INSTANCE CPU NAME VALUE, of tracefs
 *   formats     SYSTEM/EVENT, fields ("TYPE NAME;"), what it prints, between tabs; \1: a newline
 *   kpagecount, kpageflags: those of /proc
 *
 * "-" is what is not there. Routes have a line for each hop; one that is alone has no weight. What
 * stands behind "buffers", which takes longer than all else, is told if it is asked for. It runs
 * shortly before "collect": what it tells should not change by itself.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MORE	3 /* of what is told, the last */
#define TRACING "/sys/kernel/tracing"

static FILE *out;

static void fail(const char *what)
{
	printf("guest: failed: tells: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *join(char path[PATH_MAX], const char *folder, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		fail(folder);
	return path;
}

/* Files */

static int tell_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)kind;
	(void)where;
	fprintf(out, "%u:%u %lu %06o %lu %u %u %lld %s\n", major(status->st_dev),
		minor(status->st_dev), status->st_ino, status->st_mode, status->st_nlink,
		status->st_uid, status->st_gid, (long long)status->st_size, path);
	return 0;
}

/* Of one file system each: what is mounted below is its own. */
static void tell_files(void)
{
	static const char *const roots[] = { "/",
					     "/tmp",
					     "/dev",
					     "/dev/pts",
					     "/dev/shm",
					     "/mnt/frozen",
					     "/mnt/overlay",
					     "/mnt/swap",
					     "/sys/fs/cgroup",
					     "/mnt/named",
					     "/sys/kernel/mm",
					     "/proc/sys" };
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		nftw(roots[i], tell_file, 16, FTW_PHYS | FTW_MOUNT);
}

static void tell_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[4096], path[4096];
	struct stat status;
	if (!file)
		fail("mountinfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d %*d %*s %*s %4095s", path) == 1 && !lstat(path, &status))
			fprintf(out, "%u:%u %ld %s\n", major(status.st_dev), minor(status.st_dev),
				status.st_blksize, path);
	fclose(file);
}

/* Small files */

static void for_each_entry(const char *directory,
			   void (*visit)(const char *path, const char *name, const char *context),
			   const char *context)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[PATH_MAX];
		if (entry->d_name[0] == '.')
			continue;
		visit(join(path, directory, entry->d_name), entry->d_name, context);
	}
	closedir(dir);
}

/* The first line of a file; false: there is none, or it cannot be read. */
static int first_line(const char *folder, const char *name, char *line, int size)
{
	char path[PATH_MAX];
	FILE *file = fopen(join(path, folder, name), "re");
	if (!file)
		return 0;
	int is_read = fgets(line, size, file) != NULL;
	fclose(file);
	if (is_read)
		line[strcspn(line, "\n")] = 0;
	return is_read;
}

/* The last name of where a link leads. */
static const char *link_name(const char *path, char buffer[PATH_MAX])
{
	return realpath(path, buffer) ? strrchr(buffer, '/') + 1 : "-";
}

/* The device whose folder a device's folder lies in: other folders have no such file. */
static const char *parent_name(const char *path, char buffer[PATH_MAX])
{
	char uevent[PATH_MAX];
	if (!realpath(path, buffer))
		return "-";
	*strrchr(buffer, '/') = 0;
	return access(join(uevent, buffer, "uevent"), F_OK) ? "-" : strrchr(buffer, '/') + 1;
}

static void tell_device(const char *path, const char *name, const char *bus)
{
	char parent[PATH_MAX], module[PATH_MAX], link[PATH_MAX], node[64];
	fprintf(out, "%s %s %s %s %s\n", bus, name, parent_name(path, parent),
		first_line(path, "numa_node", node, sizeof(node)) ? node : "-",
		link_name(join(link, path, "driver/module"), module));
}

static void tell_bus(const char *path, const char *name, const char *context)
{
	char devices[PATH_MAX];
	(void)context;
	for_each_entry(join(devices, path, "devices"), tell_device, name);
}

static void tell_devices(void)
{
	for_each_entry("/sys/bus", tell_bus, NULL);
}

static void tell_device_resources(const char *path, const char *name, const char *context)
{
	char from[PATH_MAX], line[256];
	(void)context;
	FILE *file = fopen(join(from, path, "resource"), "re");
	while (file && fgets(line, sizeof(line), file))
		fprintf(out, "%s %s", name, line);
	if (file)
		fclose(file);
}

static void tell_resources(void)
{
	for_each_entry("/sys/bus/pci/devices", tell_device_resources, NULL);
}

/* "NAME FILE VALUE" of each of the files that are named. */
static void tell_values(const char *path, const char *name, const char *const files[])
{
	char line[4096];
	for (; *files; files++)
		if (first_line(path, *files, line, sizeof(line)))
			fprintf(out, "%s %s %s\n", name, *files, line);
}

static void tell_netdev(const char *path, const char *name, const char *context)
{
	static const char *const files[] = { "ifindex", "flags", "mtu", "address", NULL };
	(void)context;
	tell_values(path, name, files);
}

static void tell_network(void)
{
	for_each_entry("/sys/class/net", tell_netdev, NULL);
}

static void tell_queue(const char *path, const char *name, const char *context)
{
	static const char *const files[] = { "max_active", "per_cpu", "nice", "cpumask", NULL };
	(void)context;
	tell_values(path, name, files);
}

static void tell_workqueues(void)
{
	for_each_entry("/sys/devices/virtual/workqueue", tell_queue, NULL);
}

/* Tracing */

/* "\tfield:TYPE NAME;\toffset:...": those that all events have are told once, and end with an empty
 * line. */
static void tell_format(const char *path, const char *name, const char *system)
{
	char from[PATH_MAX], *line = NULL;
	size_t size = 0;
	int is_own = 0, is_print = 0;
	FILE *file = fopen(join(from, path, "format"), "re");
	if (!file)
		return;
	fprintf(out, "%s/%s\t", system, name);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		is_own |= !*line;
		if (is_print) {
			fprintf(out, "\001%s", line);
		} else if (!strncmp(line, "print fmt: ", 11)) {
			fprintf(out, "\t%s", line + 11);
			is_print = 1;
		} else if (is_own && !strncmp(line, "\tfield:", 7)) {
			fprintf(out, "%.*s;", (int)strcspn(line + 7, ";"), line + 7);
		}
	}
	fputc('\n', out);
	free(line);
	fclose(file);
}

static void tell_system(const char *path, const char *name, const char *context)
{
	(void)context;
	for_each_entry(path, tell_format, name);
}

static void tell_formats(void)
{
	for_each_entry(TRACING "/events", tell_system, NULL);
}

static void tell_buffer(const char *path, const char *name, const char *instance)
{
	char from[PATH_MAX], line[256];
	if (first_line(path, "buffer_size_kb", line, sizeof(line)))
		fprintf(out, "%s %s size %s\n", instance, name, line);
	FILE *file = fopen(join(from, path, "stats"), "re");
	while (file && fgets(line, sizeof(line), file))
		fprintf(out, "%s %s %s", instance, name, line);
	if (file)
		fclose(file);
}

static void tell_instance(const char *path, const char *name, const char *context)
{
	char cpus[PATH_MAX];
	(void)context;
	for_each_entry(join(cpus, path, "per_cpu"), tell_buffer, name);
}

static void tell_buffers(void)
{
	tell_instance(TRACING, "global", NULL);
	for_each_entry(TRACING "/instances", tell_instance, NULL);
}

/* Frames of memory: 64 bits each */

static void tell_frames(const char *path)
{
	static char words[1 << 16];
	ssize_t size;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		fail(path);
	while ((size = read(file, words, sizeof(words))) > 0)
		fwrite(words, 1, size, out);
	close(file);
}

static void tell_counts(void)
{
	tell_frames("/proc/kpagecount");
}

static void tell_flags(void)
{
	tell_frames("/proc/kpageflags");
}

/* What rtnetlink dumps */

static void dump(int type, int family, void (*visit)(const struct nlmsghdr *message))
{
	static char answer[1 << 16];
	struct {
		struct nlmsghdr header;
		struct rtmsg body; /* as large as the others, whose first byte is the family, too */
	} request = { .header = { sizeof(request), type, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 },
		      .body = { .rtm_family = family } };
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (netlink < 0 || send(netlink, &request, sizeof(request), 0) < 0)
		fail("rtnetlink");
	for (;;) {
		int size = recv(netlink, answer, sizeof(answer), 0);
		if (size <= 0)
			fail("rtnetlink");
		for (struct nlmsghdr *at = (void *)answer; NLMSG_OK(at, size);
		     at = NLMSG_NEXT(at, size)) {
			if (at->nlmsg_type == NLMSG_ERROR)
				fail("rtnetlink");
			if (at->nlmsg_type == NLMSG_DONE) {
				close(netlink);
				return;
			}
			visit(at);
		}
	}
}

/* The attribute of a number, NULL if it is not there. */
static const void *attribute(struct rtattr *first, int size, int number)
{
	for (; RTA_OK(first, size); first = RTA_NEXT(first, size))
		if (first->rta_type == number)
			return RTA_DATA(first);
	return NULL;
}

static unsigned int number_of(const void *data, unsigned int without)
{
	return data ? *(const unsigned int *)data : without;
}

static const char *address_of(int family, const void *data, char *text)
{
	return data ? inet_ntop(family, data, text, INET6_ADDRSTRLEN) : "-";
}

static const char *device_name(const void *index, char *name)
{
	return index && if_indextoname(number_of(index, 0), name) ? name : "-";
}

/* The line of a hop; `device` and `gateway` are attributes' data. */
static void tell_hop(const struct nlmsghdr *message, const void *device, const void *gateway,
		     int weight)
{
	struct rtmsg *route = NLMSG_DATA(message);
	struct rtattr *first = RTM_RTA(route);
	int size = RTM_PAYLOAD(message), family = route->rtm_family;
	char name[IF_NAMESIZE], hop[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN],
		destination[INET6_ADDRSTRLEN], share[16] = "-";
	const void *to = attribute(first, size, RTA_DST);
	if (weight)
		snprintf(share, sizeof(share), "%d", weight);
	fprintf(out, "%d %u %u %u %u %u %s %s %s %s %s/%u\n", family,
		number_of(attribute(first, size, RTA_TABLE), route->rtm_table), route->rtm_type,
		route->rtm_scope, route->rtm_protocol,
		number_of(attribute(first, size, RTA_PRIORITY), 0), device_name(device, name),
		address_of(family, gateway, hop), share,
		address_of(family, attribute(first, size, RTA_PREFSRC), source),
		to		    ? address_of(family, to, destination)
		: family == AF_INET ? "0.0.0.0"
				    : "::",
		route->rtm_dst_len);
}

static void tell_route(const struct nlmsghdr *message)
{
	struct rtattr *first = RTM_RTA(NLMSG_DATA(message)), *own;
	int size = RTM_PAYLOAD(message), left;
	for (own = first, left = size; RTA_OK(own, left); own = RTA_NEXT(own, left))
		if (own->rta_type == RTA_MULTIPATH)
			break;
	if (!RTA_OK(own, left)) {
		tell_hop(message, attribute(first, size, RTA_OIF),
			 attribute(first, size, RTA_GATEWAY), 0);
		return;
	}
	struct rtnexthop *hop = RTA_DATA(own);
	for (left = RTA_PAYLOAD(own); RTNH_OK(hop, left); hop = RTNH_NEXT(hop)) {
		left -= RTNH_ALIGN(hop->rtnh_len);
		tell_hop(message, &hop->rtnh_ifindex,
			 attribute(RTNH_DATA(hop), hop->rtnh_len - sizeof(*hop), RTA_GATEWAY),
			 hop->rtnh_hops + 1);
	}
}

static void tell_neighbour(const struct nlmsghdr *message)
{
	struct ndmsg *neighbour = NLMSG_DATA(message);
	struct rtattr *first = (void *)((char *)neighbour + NLMSG_ALIGN(sizeof(*neighbour)));
	int size = NLMSG_PAYLOAD(message, sizeof(*neighbour)), family = neighbour->ndm_family;
	const struct nda_cacheinfo *info = attribute(first, size, NDA_CACHEINFO);
	char device[IF_NAMESIZE], address[INET6_ADDRSTRLEN];
	fprintf(out, "%d %s %u %u %s\n", family, device_name(&neighbour->ndm_ifindex, device),
		neighbour->ndm_state, info ? info->ndm_refcnt : 0,
		address_of(family, attribute(first, size, NDA_DST), address));
}

static void tell_routes(void)
{
	dump(RTM_GETROUTE, AF_INET, tell_route);
	dump(RTM_GETROUTE, AF_INET6, tell_route);
}

static void tell_neighbours(void)
{
	dump(RTM_GETNEIGH, AF_INET, tell_neighbour);
	dump(RTM_GETNEIGH, AF_INET6, tell_neighbour);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*tell)(void);
	} all[] = {
		{ "files", tell_files },       { "mounts", tell_mounts },
		{ "routes", tell_routes },     { "neighbours", tell_neighbours },
		{ "devices", tell_devices },   { "resources", tell_resources },
		{ "network", tell_network },   { "workqueues", tell_workqueues },
		{ "buffers", tell_buffers },   { "formats", tell_formats },
		{ "kpagecount", tell_counts }, { "kpageflags", tell_flags },
	};
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 2 && argc != 3) {
		printf("guest: failed: usage: tells DIRECTORY [all]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all) - (argc == 2 ? MORE : 0); i++) {
		char path[PATH_MAX];
		out = fopen(join(path, argv[1], all[i].name), "we");
		if (!out)
			fail(path);
		all[i].tell();
		if (fclose(out))
			fail(path);
	}
}
