// SPDX-License-Identifier: GPL-3.0-or-later
/* Sockets that tasks have open (kernel include/net/sock.h). */
#include "debugger/tables/sock_cells.h"

#include "base/array.h"
#include "debugger/kernel/open_files.h"
#include <inttypes.h>
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

#define MODE_TYPE   0170000u /* S_IFMT */
#define MODE_SOCKET 0140000u /* S_IFSOCK */

struct pass {
	struct table_scan *scan;
	const struct task *task;
};

/* --- rows ------------------------------------------------------------------------------------ */

static struct error *set_sock(struct table_scan *scan, const struct object *sock)
{
	uint64_t family, number, state;
	TRY(object_u64(sock, "__sk_common.skc_family", &family));
	sock_set_family(scan, COLUMN_FAMILY, family);
	TRY(object_u64(sock, "__sk_common.skc_state", &state));
	sock_set_state(scan, COLUMN_STATE, state);
	TRY(object_u64(sock, "sk_type", &number));
	sock_set_type(scan, COLUMN_TYPE, number);
	TRY(table_set_member(scan, COLUMN_PROTOCOL, sock, "sk_protocol"));
	bool is_internet = family == AF_INET || family == AF_INET6;
	TRY(table_set_member(scan, COLUMN_RECEIVED, sock,
			     is_internet && state == SOCK_LISTEN ? "sk_ack_backlog"
								 : "sk_receive_queue.qlen"));
	if (is_internet)
		return sock_set_internet(scan, COLUMN_LOCAL, COLUMN_REMOTE, sock, (int)family);
	return family == AF_UNIX ? sock_set_unix(scan, COLUMN_LOCAL, sock->address) : NULL;
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
		"waits for its end, are socks. States are TCP's; other protocols use "
		"some of them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "files",
	.item = COLUMN_SOCK,
};
