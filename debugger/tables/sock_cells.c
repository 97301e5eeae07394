// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/sock_cells.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

void sock_set_family(struct table_scan *scan, unsigned int column, uint64_t family)
{
	static const struct {
		unsigned int number;
		const char *name;
	} names[] = {
		{ AF_UNIX, "UNIX" },	       { AF_INET, "INET" },	{ AF_INET6, "INET6" },
		{ AF_NETLINK, "NETLINK" },     { AF_PACKET, "PACKET" }, { AF_VSOCK, "VSOCK" },
		{ AF_BLUETOOTH, "BLUETOOTH" }, { AF_CAN, "CAN" },	{ AF_ALG, "ALG" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (names[i].number == family) {
			table_set_text(scan, column, names[i].name);
			return;
		}
	table_set_name(scan, column, NULL, 0, family);
}

void sock_set_type(struct table_scan *scan, unsigned int column, uint64_t type)
{
	static const char *const names[] = { [SOCK_STREAM] = "STREAM",
					     [SOCK_DGRAM] = "DGRAM",
					     [SOCK_RAW] = "RAW",
					     [SOCK_RDM] = "RDM",
					     [SOCK_SEQPACKET] = "SEQPACKET" };
	table_set_name(scan, column, names, ARRAY_COUNT(names), type);
}

void sock_set_state(struct table_scan *scan, unsigned int column, uint64_t state)
{
	static const char *const names[] = { NULL,	    "ESTABLISHED", "SYN_SENT",	"SYN_RECV",
					     "FIN_WAIT1",   "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
					     "CLOSE_WAIT",  "LAST_ACK",	   "LISTEN",	"CLOSING",
					     "NEW_SYN_RECV" };
	table_set_name(scan, column, names, ARRAY_COUNT(names), state);
}

/* --- addresses ------------------------------------------------------------------------------- */

/* "1.2.3.4:80", "[::1]:80"; `port` in the host's order. */
static struct error *set_address(struct table_scan *scan, unsigned int column,
				 const struct object *sock, const char *member, int family,
				 uint16_t port)
{
	struct object address;
	uint8_t bytes[16];
	char name[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 16];
	TRY(object_member(sock, member, &address));
	TRY(memory_read(scan->target->memory, address.address, bytes, family == AF_INET ? 4 : 16));
	snprintf(text, sizeof(text), family == AF_INET ? "%s:%u" : "[%s]:%u",
		 inet_ntop(family, bytes, name, sizeof(name)) ?: "?", port);
	table_set_text(scan, column, text);
	return NULL;
}

struct error *sock_set_internet(struct table_scan *scan, unsigned int local_column,
				unsigned int remote_column, const struct object *sock, int family)
{
	struct object remote;
	uint64_t local;
	uint8_t port[2];
	TRY(object_u64(sock, "__sk_common.skc_num", &local));
	TRY(object_member(sock, "__sk_common.skc_dport", &remote));
	TRY(memory_read(scan->target->memory, remote.address, port, sizeof(port)));
	bool is_old = family == AF_INET;
	TRY(set_address(scan, local_column, sock,
			is_old ? "__sk_common.skc_rcv_saddr" : "__sk_common.skc_v6_rcv_saddr",
			family, (uint16_t)local));
	/* The port is in the net's order, whatever the machine's. */
	return set_address(scan, remote_column, sock,
			   is_old ? "__sk_common.skc_daddr" : "__sk_common.skc_v6_daddr", family,
			   (uint16_t)(port[0] << 8 | port[1]));
}

#define UNIX_PATH_MAX 108 /* sockaddr_un.sun_path */

struct error *sock_set_unix(struct table_scan *scan, unsigned int column, uint64_t sock)
{
	struct object own, address, name;
	uint64_t length;
	char text[UNIX_PATH_MAX + 1];
	TRY(object_at(scan->target, "struct unix_sock", sock, &own));
	TRY(object_follow(&own, "addr", &address));
	if (!address.address)
		return NULL;
	TRY(object_u64(&address, "len", &length));
	TRY(object_member(&address, "name", &name));
	size_t size = length > 2 ? (size_t)length - 2 : 0;
	if (size > UNIX_PATH_MAX)
		return error_create(ERROR_FORMAT,
				    "the name of UNIX socket 0x%" PRIx64 " has %" PRIu64 " bytes",
				    sock, length);
	TRY(memory_read(scan->target->memory, name.address + 2, text, size));
	text[size] = 0;
	/* One of no file is as long as it is said to be, whatever bytes are in it: as in
	 * /proc/net/unix. */
	bool is_abstract = size && !*text;
	for (size_t i = 0; is_abstract && i < size; i++)
		if (!text[i])
			text[i] = '@';
	table_set_text(scan, column, text);
	return NULL;
}
