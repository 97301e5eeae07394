// SPDX-License-Identifier: GPL-3.0-or-later
/* Sockets by the kernel's tables of them, as /proc/net has them. */
#include "debugger/tables/sock_cells.h"

#include "base/array.h"
#include "debugger/kernel/sock_tables.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
	COLUMN_SOCK,
	COLUMN_NAMESPACE,
	COLUMN_INO,
	COLUMN_FAMILY,
	COLUMN_TYPE,
	COLUMN_PROTOCOL,
	COLUMN_STATE,
	COLUMN_RECEIVED,
	COLUMN_SENT,
	COLUMN_UID,
	COLUMN_LOCAL,
	COLUMN_REMOTE,
};

static const struct table_column columns[] = {
	[COLUMN_SOCK] = { "sock", COLUMN_ADDRESS, 16, "its struct sock", "struct sock" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 0,
			       "inode number of the namespace, as in /proc/PID/ns/net", NULL },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 7, "number of its inode; 0: nobody holds it", NULL },
	[COLUMN_FAMILY] = { "family", COLUMN_TEXT, -8, "AF_*: INET, INET6, UNIX, ...", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -9, "SOCK_*: STREAM, DGRAM, ...", NULL },
	[COLUMN_PROTOCOL] = { "protocol", COLUMN_INTEGER, 0, "IPPROTO_*, or the family's own",
			      NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -11, "TCP_*: ESTABLISHED, LISTEN, CLOSE, ...",
			   NULL },
	[COLUMN_RECEIVED] = { "rx", COLUMN_INTEGER, 6,
			      "bytes of TCP that wait to be read, connections to be accepted, "
			      "else packets",
			      NULL },
	[COLUMN_SENT] = { "tx", COLUMN_INTEGER, 6, "bytes of TCP that are not acknowledged", NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 0, "whose it is", NULL },
	[COLUMN_LOCAL] = { "local", COLUMN_TEXT, -22,
			   "address and port, path, port of netlink, device of packets", NULL },
	[COLUMN_REMOTE] = { "remote", COLUMN_TEXT, -22, "address and port of the other end", NULL },
};

#define PROTOCOL_TCP 6

/* In these two states there is less of it than a struct sock. */
static bool is_whole(uint64_t state)
{
	return state != SOCK_TIME_WAIT && state != SOCK_NEW_SYN_RECV;
}

static struct error *set_difference(struct table_scan *scan, unsigned int column,
				    const struct object *object, const char *first,
				    const char *second)
{
	uint64_t a, b;
	TRY(object_u64(object, first, &a));
	TRY(object_u64(object, second, &b));
	/* Both count round and round. */
	int32_t difference = (int32_t)(uint32_t)(a - b);
	table_set(scan, column, difference > 0 ? (uint64_t)difference : 0);
	return NULL;
}

static struct error *set_queues(struct table_scan *scan, const struct object *sock, uint64_t state,
				bool is_tcp)
{
	struct object tcp;
	if (!is_tcp)
		return table_set_member(scan, COLUMN_RECEIVED, sock, "sk_receive_queue.qlen");
	if (state == SOCK_LISTEN)
		return table_set_member(scan, COLUMN_RECEIVED, sock, "sk_ack_backlog");
	TRY(object_at(scan->target, "struct tcp_sock", sock->address, &tcp));
	TRY(set_difference(scan, COLUMN_RECEIVED, &tcp, "rcv_nxt", "copied_seq"));
	return set_difference(scan, COLUMN_SENT, &tcp, "write_seq", "snd_una");
}

static struct error *set_inode(struct table_scan *scan, const struct object *sock)
{
	struct object socket, alloc;
	TRY(object_follow(sock, "sk_socket", &socket));
	if (!socket.address) {
		table_set(scan, COLUMN_INO, 0);
		return NULL;
	}
	TRY(object_container(scan->target, "struct socket_alloc", "socket", socket.address,
			     &alloc));
	TRY(table_set_member(scan, COLUMN_UID, &alloc, "vfs_inode.i_uid.val"));
	return table_set_member(scan, COLUMN_INO, &alloc, "vfs_inode.i_ino");
}

/* --- names ----------------------------------------------------------------------------------- */

static struct error *set_netlink(struct table_scan *scan, const struct object *sock)
{
	struct object own;
	uint64_t port;
	char text[24];
	TRY(object_at(scan->target, "struct netlink_sock", sock->address, &own));
	TRY(object_u64(&own, "portid", &port));
	snprintf(text, sizeof(text), "%" PRIu64, port);
	table_set_text(scan, COLUMN_LOCAL, text);
	return NULL;
}

/* "*" of all devices. */
static struct error *set_packet(struct table_scan *scan, const struct object *sock)
{
	struct object own, number;
	uint64_t index;
	uint8_t bytes[2];
	char text[48];
	TRY(object_at(scan->target, "struct packet_sock", sock->address, &own));
	TRY(object_u64(&own, "ifindex", &index));
	TRY(object_member(&own, "num", &number));
	TRY(memory_read(scan->target->memory, number.address, bytes, sizeof(bytes)));
	int used = snprintf(text, sizeof(text), "%02x%02x:", bytes[0], bytes[1]);
	snprintf(text + used, sizeof(text) - (size_t)used, index ? "%" PRIu64 : "*", index);
	table_set_text(scan, COLUMN_LOCAL, text);
	return NULL;
}

static struct error *set_ends(struct table_scan *scan, const struct object *sock, uint64_t family)
{
	switch (family) {
	case AF_INET:
	case AF_INET6:
		return sock_set_internet(scan, COLUMN_LOCAL, COLUMN_REMOTE, sock, (int)family);
	case AF_UNIX:
		return sock_set_unix(scan, COLUMN_LOCAL, sock->address);
	case AF_NETLINK:
		return set_netlink(scan, sock);
	case AF_PACKET:
		return set_packet(scan, sock);
	default:
		return NULL;
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static struct error *set_whole(struct table_scan *scan, const struct object *sock, uint64_t family,
			       uint64_t state)
{
	uint64_t type, protocol;
	TRY(table_set_error(scan, COLUMN_INO, set_inode(scan, sock)));
	TRY(object_u64(sock, "sk_type", &type));
	sock_set_type(scan, COLUMN_TYPE, type);
	TRY(object_u64(sock, "sk_protocol", &protocol));
	table_set(scan, COLUMN_PROTOCOL, protocol);
	bool is_tcp = (family == AF_INET || family == AF_INET6) && type == SOCK_STREAM &&
		      protocol == PROTOCOL_TCP;
	return set_queues(scan, sock, state, is_tcp);
}

/* What is left of one that waits for its end says in which state it did. */
static struct error *set_state(struct table_scan *scan, const struct object *sock, uint64_t state)
{
	struct object rest;
	if (state == SOCK_TIME_WAIT) {
		TRY(object_at(scan->target, "struct inet_timewait_sock", sock->address, &rest));
		TRY(object_u64(&rest, "tw_substate", &state));
	}
	sock_set_state(scan, COLUMN_STATE, state);
	return NULL;
}

static struct error *set_sock(struct table_scan *scan, const struct object *sock)
{
	struct object net;
	uint64_t family, state;
	TRY(object_u64(sock, "__sk_common.skc_family", &family));
	sock_set_family(scan, COLUMN_FAMILY, family);
	TRY(object_u64(sock, "__sk_common.skc_state", &state));
	TRY(set_state(scan, sock, state));
	TRY(object_follow(sock, "__sk_common.skc_net.net", &net));
	TRY(table_set_member(scan, COLUMN_NAMESPACE, &net, "ns.inum"));
	TRY(table_set_error(scan, COLUMN_LOCAL, set_ends(scan, sock, family)));
	if (is_whole(state))
		return set_whole(scan, sock, family, state);
	table_set(scan, COLUMN_INO, 0);
	table_set_text(scan, COLUMN_TYPE, "STREAM");
	table_set(scan, COLUMN_PROTOCOL, PROTOCOL_TCP);
	return NULL;
}

static struct error *visit_sock(void *context, const struct object *sock)
{
	struct table_scan *scan = context;
	table_set(scan, COLUMN_SOCK, sock->address);
	TRY(table_set_error(scan, COLUMN_STATE, set_sock(scan, sock)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	return table_broken(context, problem);
}

static struct error *visit(struct table_scan *scan)
{
	const struct sock_visitor visitor = { visit_sock, broken, scan };
	return sock_tables_for_each(scan->target, &visitor);
}

static const char *const examples[] = {
	"socks --where \"family = 'INET'\"",
	"sql SELECT s.local, s.remote, s.state FROM socks s LEFT JOIN sockets f ON f.sock = s.sock "
	"WHERE f.sock IS NULL",
	NULL
};

const struct table table_socks = {
	.name = "socks",
	.summary = "sockets by the kernel's tables",
	.description =
		"A row is a struct sock of the kernel's tables of TCP, UDP, raw, UNIX, netlink and "
		"packet sockets in all network namespaces, as /proc/net has them; also those that "
		"nobody holds, and connections in TIME_WAIT. Those of tasks, whatever their "
		"family, are sockets.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SOCK,
	.is_object = true,
};
