// SPDX-License-Identifier: GPL-3.0-or-later
/* Sockets that tasks have open (kernel include/net/sock.h). */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/open_files.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_FD,
	COLUMN_SOCKET,
	COLUMN_SOCK,
	COLUMN_INO,
	COLUMN_FAMILY,
	COLUMN_TYPE,
	COLUMN_PROTOCOL,
	COLUMN_STATE,
	COLUMN_RECEIVED,
	COLUMN_TASK,
	COLUMN_LOCAL,
	COLUMN_REMOTE,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the task", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "the task's name", NULL },
	[COLUMN_FD] = { "fd", COLUMN_INTEGER, 4, "the descriptor", NULL },
	[COLUMN_SOCKET] = { "socket", COLUMN_ADDRESS, 0, "its struct socket", "struct socket" },
	[COLUMN_SOCK] = { "sock", COLUMN_ADDRESS, 16, "its struct sock", "struct sock" },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 0, "number of the inode, as in /proc/net", NULL },
	[COLUMN_FAMILY] = { "family", COLUMN_TEXT, -8, "AF_*: INET, INET6, UNIX, ...", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -9, "SOCK_*: STREAM, DGRAM, ...", NULL },
	[COLUMN_PROTOCOL] = { "protocol", COLUMN_INTEGER, 0, "IPPROTO_*, or the family's own",
			      NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -11, "TCP_*: ESTABLISHED, LISTEN, CLOSE, ...",
			   NULL },
	[COLUMN_RECEIVED] = { "received", COLUMN_INTEGER, 0,
			      "packets that wait to be read, or of a listening one connections",
			      NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the task's task_struct",
			  "struct task_struct" },
	[COLUMN_LOCAL] = { "local", COLUMN_TEXT, -22, "address and port, or path", NULL },
	[COLUMN_REMOTE] = { "remote", COLUMN_TEXT, -22, "address and port of the other end", NULL },
};

#define MODE_TYPE    0170000u /* S_IFMT */
#define MODE_SOCKET  0140000u /* S_IFSOCK */
#define STATE_LISTEN 10	      /* kernel include/net/tcp_states.h */

struct pass {
	struct table_scan *scan;
	const struct task *task;
};

static const char *family_name(uint64_t family)
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
		if (names[i].number == family)
			return names[i].name;
	return NULL;
}

static const char *type_name(uint64_t type)
{
	static const char *const names[] = { [SOCK_STREAM] = "STREAM",
					     [SOCK_DGRAM] = "DGRAM",
					     [SOCK_RAW] = "RAW",
					     [SOCK_RDM] = "RDM",
					     [SOCK_SEQPACKET] = "SEQPACKET" };
	return type < ARRAY_COUNT(names) ? names[type] : NULL;
}

static const char *state_name(uint64_t state)
{
	static const char *const names[] = { NULL,	    "ESTABLISHED", "SYN_SENT",	"SYN_RECV",
					     "FIN_WAIT1",   "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
					     "CLOSE_WAIT",  "LAST_ACK",	   "LISTEN",	"CLOSING",
					     "NEW_SYN_RECV" };
	return state < ARRAY_COUNT(names) ? names[state] : NULL;
}

/* Its name, or where that is not known its number. */
static void set_word(struct table_scan *scan, unsigned int column, const char *name,
		     uint64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, number);
	table_set_text(scan, column, name ?: text);
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

static struct error *set_internet(struct table_scan *scan, const struct object *sock, int family)
{
	struct object remote;
	uint64_t local;
	uint8_t port[2];
	TRY(object_u64(sock, "__sk_common.skc_num", &local));
	TRY(object_member(sock, "__sk_common.skc_dport", &remote));
	TRY(memory_read(scan->target->memory, remote.address, port, sizeof(port)));
	bool is_old = family == AF_INET;
	TRY(set_address(scan, COLUMN_LOCAL, sock,
			is_old ? "__sk_common.skc_rcv_saddr" : "__sk_common.skc_v6_rcv_saddr",
			family, (uint16_t)local));
	/* The port is in the net's order, whatever the machine's. */
	return set_address(scan, COLUMN_REMOTE, sock,
			   is_old ? "__sk_common.skc_daddr" : "__sk_common.skc_v6_daddr", family,
			   (uint16_t)(port[0] << 8 | port[1]));
}

#define UNIX_PATH_MAX 108 /* sockaddr_un.sun_path */

/* Its path; "@name" of an abstract one, up to the next NUL. */
static struct error *set_unix(struct table_scan *scan, uint64_t sock)
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
	if (size && !*text)
		*text = '@';
	table_set_text(scan, COLUMN_LOCAL, text);
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------------ */

static struct error *set_sock(struct table_scan *scan, const struct object *sock)
{
	uint64_t family, number, state;
	TRY(object_u64(sock, "__sk_common.skc_family", &family));
	set_word(scan, COLUMN_FAMILY, family_name(family), family);
	TRY(object_u64(sock, "__sk_common.skc_state", &state));
	set_word(scan, COLUMN_STATE, state_name(state), state);
	TRY(object_u64(sock, "sk_type", &number));
	set_word(scan, COLUMN_TYPE, type_name(number), number);
	TRY(table_set_member(scan, COLUMN_PROTOCOL, sock, "sk_protocol"));
	bool is_internet = family == AF_INET || family == AF_INET6;
	TRY(table_set_member(scan, COLUMN_RECEIVED, sock,
			     is_internet && state == STATE_LISTEN ? "sk_ack_backlog"
								  : "sk_receive_queue.qlen"));
	if (is_internet)
		return set_internet(scan, sock, (int)family);
	return family == AF_UNIX ? set_unix(scan, sock->address) : NULL;
}

static struct error *is_socket(const struct object *file, struct object *ret_inode, bool *ret)
{
	uint64_t mode;
	TRY(object_follow(file, "f_inode", ret_inode));
	TRY(object_u64(ret_inode, "i_mode", &mode));
	*ret = (mode & MODE_TYPE) == MODE_SOCKET;
	return NULL;
}

/* A socket knows its file: what does not is none. */
static struct error *find_sock(const struct object *file, struct object *ret_socket,
			       struct object *ret_sock)
{
	uint64_t address, back;
	TRY(object_u64(file, "private_data", &address));
	TRY(object_at(file->target, "struct socket", address, ret_socket));
	TRY(object_u64(ret_socket, "file", &back));
	if (back != file->address)
		return error_create(ERROR_FORMAT, "0x%" PRIx64 " is no socket of file 0x%" PRIx64,
				    address, file->address);
	return object_follow(ret_socket, "sk", ret_sock);
}

static struct error *visit_file(void *context, const struct open_file *open)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object file, inode, socket, sock;
	bool is_wanted = false;
	TRY(object_at(scan->target, "struct file", open->file, &file));
	struct error *error = is_socket(&file, &inode, &is_wanted);
	if (error || !is_wanted)
		return table_broken(scan, error);
	table_set(scan, COLUMN_PID, (uint64_t)pass->task->pid);
	table_set_text(scan, COLUMN_COMM, pass->task->comm);
	table_set(scan, COLUMN_TASK, pass->task->address);
	table_set(scan, COLUMN_FD, open->fd);
	TRY(table_set_member(scan, COLUMN_INO, &inode, "i_ino"));
	error = find_sock(&file, &socket, &sock);
	if (error) {
		TRY(table_set_error(scan, COLUMN_SOCK, error));
		return table_emit(scan);
	}
	table_set(scan, COLUMN_SOCKET, socket.address);
	table_set(scan, COLUMN_SOCK, sock.address);
	if (sock.address)
		TRY(table_set_error(scan, COLUMN_LOCAL, set_sock(scan, &sock)));
	return table_emit(scan);
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct pass pass = { scan, task };
	return error_prefix(open_files_for_each(scan->target, task->address, visit_file, &pass),
			    "files");
}

static const char *const examples[] = {
	"sockets -a", "sockets -a --where \"state = 'LISTEN'\" -o pid,comm,family,local",
	"sockets -a | print {sk_sndbuf, sk_rcvbuf}", NULL
};

const struct table table_sockets = {
	.name = "sockets",
	.summary = "open sockets",
	.description =
		"A row is a descriptor of a task that leads to a socket, so one that several "
		"hold comes several times. Those that nobody holds, as a connection that "
		"waits for its end, have no row. States are TCP's; other protocols use "
		"some of them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "files",
	.item = COLUMN_SOCK,
};
