// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * hops: routes with several next hops, which busybox's ip cannot make.
 *
 *   hops DEVICE OTHER
 *
 * makes, for IPv4 and IPv6, a route with hops of its own, one with a hop that is an object of its
 * own (ip-nexthop(8)), and one with a group of such. DEVICE has 192.0.2.1/24; both are up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define METRIC 33

static int netlink;
static int devices[2];

static struct {
	struct nlmsghdr header;
	char body[1024];
} request;

static void fail(const char *what)
{
	printf("guest: failed: hops: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *append(const void *data, size_t size)
{
	char *end = (char *)&request + NLMSG_ALIGN(request.header.nlmsg_len);
	memcpy(end, data, size);
	request.header.nlmsg_len = end + size - (char *)&request;
	return end;
}

static void begin(int type, const void *body, size_t size)
{
	memset(&request, 0, sizeof(request));
	request.header = (struct nlmsghdr){ NLMSG_HDRLEN, type,
					    NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, 0 };
	append(body, size);
}

static struct rtattr *add(int type, const void *data, size_t size)
{
	struct rtattr head = { RTA_LENGTH(size), type };
	struct rtattr *attribute = append(&head, sizeof(head));
	append(data, size);
	return attribute;
}

static void add_number(int type, unsigned int number)
{
	add(type, &number, sizeof(number));
}

static void add_address(int type, int family, const char *text)
{
	char address[16];
	inet_pton(family, text, address);
	add(type, address, family == AF_INET ? 4 : 16);
}

static void finish(const char *what)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[1024];
	} answer;
	if (send(netlink, &request, request.header.nlmsg_len, 0) < 0 ||
	    recv(netlink, &answer, sizeof(answer), 0) < 0)
		fail(what);
	errno = answer.header.nlmsg_type == NLMSG_ERROR ? -answer.error.error : EBADMSG;
	if (errno)
		fail(what);
}

static void begin_route(int family, const char *destination, int bits)
{
	struct rtmsg route = { .rtm_family = family,
			       .rtm_dst_len = bits,
			       .rtm_table = RT_TABLE_MAIN,
			       .rtm_protocol = RTPROT_STATIC,
			       .rtm_scope = RT_SCOPE_UNIVERSE,
			       .rtm_type = RTN_UNICAST };
	begin(RTM_NEWROUTE, &route, sizeof(route));
	add_address(RTA_DST, family, destination);
	add_number(RTA_PRIORITY, METRIC);
}

/* A hop of the attribute RTA_MULTIPATH, which is the last one. */
static void add_hop(struct rtattr *all, int family, int device, const char *gateway, int weight)
{
	struct rtnexthop head = { .rtnh_hops = weight - 1, .rtnh_ifindex = device };
	struct rtnexthop *hop = append(&head, sizeof(head));
	char *end = (char *)&request;
	if (gateway)
		add_address(RTA_GATEWAY, family, gateway);
	end += request.header.nlmsg_len;
	hop->rtnh_len = end - (char *)hop;
	all->rta_len = end - (char *)all;
}

static void make_hop(int family, int id, int device, const char *gateway)
{
	struct nhmsg hop = { .nh_family = family, .nh_protocol = RTPROT_STATIC };
	begin(RTM_NEWNEXTHOP, &hop, sizeof(hop));
	add_number(NHA_ID, id);
	add_number(NHA_OIF, device);
	add_address(NHA_GATEWAY, family, gateway);
	finish("a hop");
}

static void make_group(int id, const struct nexthop_grp *hops, size_t size)
{
	struct nhmsg group = { .nh_protocol = RTPROT_STATIC };
	begin(RTM_NEWNEXTHOP, &group, sizeof(group));
	add_number(NHA_ID, id);
	add(NHA_GROUP, hops, size);
	finish("a group of hops");
}

static void make_route_by(int family, const char *destination, int bits, int id)
{
	begin_route(family, destination, bits);
	add_number(RTA_NH_ID, id);
	finish("a route by a hop's number");
}

/* Two hops, from `id` on; behind them the group that they are in, with weights. */
static void make_shared(int family, int id, const char *first, int device, const char *second)
{
	const struct nexthop_grp group[] = { { .id = id, .weight = 10 - 1 },
					     { .id = id + 1, .weight = 200 - 1 } };
	make_hop(family, id, devices[0], first);
	make_hop(family, id + 1, device, second);
	make_group(id + 2, group, sizeof(group));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 3) {
		printf("guest: failed: usage: hops DEVICE OTHER\n");
		return 2;
	}
	for (int i = 0; i < 2; i++)
		if (!(devices[i] = if_nametoindex(argv[1 + i])))
			fail(argv[1 + i]);
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (netlink < 0)
		fail("rtnetlink");

	begin_route(AF_INET, "198.18.0.0", 24);
	struct rtattr *all = add(RTA_MULTIPATH, NULL, 0);
	add_hop(all, AF_INET, devices[0], "192.0.2.254", 1);
	add_hop(all, AF_INET, devices[0], "192.0.2.253", 4);
	add_hop(all, AF_INET, devices[1], NULL, 250);
	finish("a route of IPv4");
	make_shared(AF_INET, 41, "192.0.2.252", devices[0], "192.0.2.251");
	make_route_by(AF_INET, "198.18.1.0", 24, 42);
	make_route_by(AF_INET, "198.18.2.0", 24, 43);

	begin_route(AF_INET6, "2001:db8:2::", 48);
	all = add(RTA_MULTIPATH, NULL, 0);
	add_hop(all, AF_INET6, devices[0], "fe80::1", 3);
	add_hop(all, AF_INET6, devices[1], "fe80::2", 77);
	finish("a route of IPv6");
	make_shared(AF_INET6, 61, "fe80::3", devices[1], "fe80::4");
	make_route_by(AF_INET6, "2001:db8:3::", 48, 62);
	make_route_by(AF_INET6, "2001:db8:4::", 48, 63);
}
