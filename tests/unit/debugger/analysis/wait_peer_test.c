// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who has the other end of a pipe, or the device of a FUSE filesystem, open: one task, several, the
 * waiter itself, nobody; tables of files that are shared, too large, unreadable; lists of devices
 * that go in circles.
 */
#include "tests/unit/sleeper_fixture.h"

#include "base/interrupt.h"

#define NOWHERE SLEEPER_NOWHERE
#define TASKS	SLEEPER_TASKS
#define SLOTS	4u
/* More devices of one filesystem than are looked at. */
#define DEVICES 4097u
#define READS	1u
#define WRITES	2u

struct raw_task {
	uint64_t files;
};

struct raw_files {
	uint64_t fdt;
};

struct raw_fdtable {
	uint32_t max_fds, pad;
	uint64_t fd;
};

struct raw_file {
	uint32_t mode, pad;
	uint64_t data;
};

struct raw_pipe {
	uint32_t readers, writers;
};

struct raw_device {
	uint64_t next, prev;
};

struct raw_connection {
	struct raw_device devices;
	uint32_t dev_count, pad;
};

struct raw_request {
	uint64_t connection;
};

struct raw_socket {
	uint64_t sk, file;
};

struct raw_sock {
	uint32_t family, state;
	uint64_t socket, peer;
};

struct raw_automount {
	uint64_t requests, pipe;
};

struct raw_data {
	struct raw_task tasks[TASKS];
	struct raw_files files[TASKS];
	struct raw_fdtable tables[TASKS];
	uint64_t slots[TASKS][SLOTS];
	struct raw_file ends[2]; /* that is read, that is written */
	struct raw_file device_file;
	struct raw_pipe pipe;
	struct raw_device devices[DEVICES];
	struct raw_connection connection;
	struct raw_request request;
	struct raw_socket sockets[2];
	struct raw_sock socks[2];
	struct raw_file socket_file;
	struct raw_automount automount;
	uint64_t asked[2]; /* by the automount: each leads to the next one */
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	uint32_t to_automount; /* the pointer's type */
	struct sleeper_fixture base;
};

static void write_types(struct fixture *fixture)
{
	struct libbpf_btf *btf = fixture->base.written;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int number = btf__add_int(btf, "unsigned int", 4, 0);
	int list = add_list_head(btf);
	int counter = btf__add_struct(btf, "atomic_t", 4);
	add_member(btf, "counter", number, 0);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "files", word, 0);
	btf__add_struct(btf, "files_struct", sizeof(struct raw_files));
	add_member(btf, "fdt", word, 0);
	btf__add_struct(btf, "fdtable", sizeof(struct raw_fdtable));
	add_member(btf, "max_fds", number, 0);
	add_member(btf, "fd", word, offsetof(struct raw_fdtable, fd));
	int file = btf__add_struct(btf, "file", sizeof(struct raw_file));
	add_member(btf, "f_mode", number, 0);
	add_member(btf, "private_data", word, offsetof(struct raw_file, data));
	btf__add_struct(btf, "pipe_inode_info", sizeof(struct raw_pipe));
	add_member(btf, "readers", number, 0);
	add_member(btf, "writers", number, 4);
	btf__add_struct(btf, "fuse_dev", sizeof(struct raw_device));
	add_member(btf, "entry", list, 0);
	int connection = btf__add_struct(btf, "fuse_conn", sizeof(struct raw_connection));
	add_member(btf, "devices", list, 0);
	add_member(btf, "dev_count", counter, offsetof(struct raw_connection, dev_count));
	int common = btf__add_struct(btf, "sock_common", 8);
	add_member(btf, "skc_family", number, 0);
	add_member(btf, "skc_state", number, 4);
	btf__add_struct(btf, "sock", sizeof(struct raw_sock));
	add_member(btf, "__sk_common", common, 0);
	add_member(btf, "sk_socket", word, offsetof(struct raw_sock, socket));
	btf__add_struct(btf, "unix_sock", sizeof(struct raw_sock));
	add_member(btf, "peer", word, offsetof(struct raw_sock, peer));
	btf__add_struct(btf, "socket", sizeof(struct raw_socket));
	add_member(btf, "sk", word, 0);
	add_member(btf, "file", word, offsetof(struct raw_socket, file));
	int to_connection = btf__add_ptr(btf, connection);
	int request = btf__add_struct(btf, "fuse_req", sizeof(struct raw_request));
	add_member(btf, "fc", to_connection, 0);
	int argument = btf__add_ptr(btf, request);
	int to_file = btf__add_ptr(btf, file);
	int to_asked = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "autofs_wait_queue", 8);
	add_member(btf, "next", to_asked, 0);
	int automount = btf__add_struct(btf, "autofs_sb_info", sizeof(struct raw_automount));
	add_member(btf, "queues", to_asked, 0);
	add_member(btf, "pipe", to_file, 8);
	fixture->to_automount = (uint32_t)btf__add_ptr(btf, automount);
	sleeper_fixture_open(&fixture->base, argument, AT(request));
}

/* Task 0 waits; each has a table of its own, in which nothing is open. */
static void build(struct fixture *fixture)
{
	struct raw_data *data = &fixture->data;
	*data = (struct raw_data){ 0 };
	sleeper_fixture_init(&fixture->base, data, sizeof(*data), "request_wait_answer");
	write_types(fixture);
	for (unsigned int i = 0; i < TASKS; i++) {
		data->tasks[i].files = AT(files[i]);
		data->files[i].fdt = AT(tables[i]);
		data->tables[i] = (struct raw_fdtable){ .max_fds = SLOTS, .fd = AT(slots[i]) };
		struct task *task = &fixture->base.tasks[i];
		task->address = AT(tasks[i]);
		task->pid = task->tgid = (int32_t)i + 1;
	}
	data->ends[0] = (struct raw_file){ .mode = READS, .data = AT(pipe) };
	data->ends[1] = (struct raw_file){ .mode = WRITES, .data = AT(pipe) };
	data->pipe = (struct raw_pipe){ 1, 1 };
	data->device_file = (struct raw_file){ .mode = READS | WRITES, .data = AT(devices[0]) };
	data->devices[0] = (struct raw_device){ AT(connection), AT(connection) };
	data->connection.devices = (struct raw_device){ AT(devices[0]), AT(devices[0]) };
	data->connection.dev_count = 1;
	data->request.connection = AT(connection);
}

static void finish(struct fixture *fixture)
{
	sleeper_fixture_deinit(&fixture->base);
}

/* Asks anew: of nothing is known any more. */
static void ask(struct fixture *fixture, const char *mode)
{
	struct wait_world *world = &fixture->base.world;
	world->files_loaded = world->files_cut = world->files_unread = false;
	world->file_count = world->file_steps = 0;
	fixture->base.wait =
		(struct wait){ .type = "struct pipe_inode_info", .object = AT(pipe), .mode = mode };
	if (mode)
		CHECK_OK(wait_pipe_peer(&fixture->base.sleeper));
	else
		CHECK_OK(wait_find_fuse(&fixture->base.sleeper));
}

static void check_owner(const struct fixture *fixture, uint64_t owner, enum confidence sure,
			const char *how)
{
	sleeper_fixture_check(&fixture->base, NULL, owner, sure, how);
}

static void test_pipe(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "no task is seen to have the other end open");
	data->slots[2][1] = AT(ends[1]);
	ask(&fixture, "read");
	check_owner(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the only one");
	/* The end that it reads from is not the one that would end its wait. */
	ask(&fixture, "write");
	check_owner(&fixture, 0, 0, "no task is seen");
	/* The pipe counts one more than was seen: somebody may have it who is not known. */
	data->pipe.writers = 2;
	ask(&fixture, "read");
	check_owner(&fixture, AT(tasks[2]), CONFIDENCE_INFERRED, "the only one");
	data->slots[0][0] = AT(ends[1]);
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "several tasks");
	CHECK_U64(fixture.base.wait.other_count, 1);
	CHECK_U64(fixture.base.wait.others[0], AT(tasks[2]));
	data->slots[2][1] = 0;
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "none but itself");
	finish(&fixture);
}

/* Threads of a process have one table: it is one owner, by its first thread. */
static void test_shared_table(void)
{
	struct fixture fixture;
	build(&fixture);
	fixture.data.slots[2][0] = fixture.data.slots[2][3] = AT(ends[1]);
	fixture.data.tasks[3].files = AT(files[2]);
	fixture.base.tasks[2].tgid = fixture.base.tasks[3].pid;
	ask(&fixture, "read");
	check_owner(&fixture, AT(tasks[3]), CONFIDENCE_CERTAIN, "the only one");
	finish(&fixture);
}

/* What cannot be read has nothing open, and no count is believed. */
static void test_wild(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	data->slots[1][0] = NOWHERE;
	data->tasks[2].files = NOWHERE;
	data->files[3].fdt = NOWHERE;
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "no task is seen");
	data->tables[1].fd = NOWHERE;
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "no task is seen");
	/* Others may share the table of the only one that was seen. */
	data->slots[0][1] = AT(ends[1]);
	fixture.base.sleeper.task = &fixture.base.tasks[1];
	ask(&fixture, "read");
	check_owner(&fixture, AT(tasks[0]), CONFIDENCE_INFERRED, "the only one");
	fixture.base.sleeper.task = &fixture.base.tasks[0];
	data->slots[0][1] = 0;
	/* Behind the end of the memory nothing is; that there is too much to look at is said. */
	data->tables[1] = (struct raw_fdtable){ .max_fds = UINT32_MAX, .fd = AT(slots[1]) };
	ask(&fixture, "read");
	check_owner(&fixture, 0, 0, "too many open files");
	data->tables[1].max_fds = 0;
	data->tasks[0].files = 0;
	ask(&fixture, "read");
	CHECK(!fixture.base.wait.owner);
	fixture.base.world.task_count = 0;
	ask(&fixture, "read");
	CHECK(!fixture.base.wait.owner);
	interrupt_flag = 1;
	fixture.base.world.task_count = TASKS;
	fixture.base.world.files_loaded = false;
	CHECK_FAILS(wait_pipe_peer(&fixture.base.sleeper), "interrupted");
	interrupt_clear();
	finish(&fixture);
}

static void test_fuse(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	data->slots[1][2] = AT(device_file);
	ask(&fixture, NULL);
	CHECK_STRING(fixture.base.wait.kind, "FUSE answer");
	CHECK_U64(fixture.base.wait.object, AT(request));
	check_owner(&fixture, AT(tasks[1]), CONFIDENCE_CERTAIN, "the only one");
	data->slots[3][0] = AT(device_file);
	ask(&fixture, NULL);
	check_owner(&fixture, 0, 0, "several tasks have the filesystem's device open");
	CHECK_U64(fixture.base.wait.other_count, 2);
	finish(&fixture);
}

/* Asks who has the other end of the first socket. */
static void ask_socket(struct fixture *fixture)
{
	struct wait_world *world = &fixture->base.world;
	world->files_loaded = world->files_cut = world->files_unread = false;
	world->file_count = world->file_steps = 0;
	fixture->base.wait = (struct wait){ .type = "struct socket", .object = AT(sockets[0]) };
	CHECK_OK(wait_socket_peer(&fixture->base.sleeper));
}

static void test_socket(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	data->socket_file = (struct raw_file){ .mode = READS | WRITES, .data = AT(sockets[1]) };
	data->sockets[0] = (struct raw_socket){ AT(socks[0]), NOWHERE };
	data->sockets[1] = (struct raw_socket){ AT(socks[1]), AT(socket_file) };
	data->socks[0] = (struct raw_sock){ 1, 1, AT(sockets[0]), AT(socks[1]) };
	data->socks[1] = (struct raw_sock){ 1, 1, AT(sockets[1]), AT(socks[0]) };
	data->slots[2][1] = AT(socket_file);
	ask_socket(&fixture);
	check_owner(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the only one");
	/* Inherited by somebody else. */
	data->slots[3][0] = AT(socket_file);
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "several tasks");
	data->sockets[1].file = 0;
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "the other end is the kernel's own, or is being closed");
	data->socks[1].socket = NOWHERE;
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "who has the other end open could not be found out");
	data->socks[1].socket = 0;
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "the connection has not been accepted yet");
	data->socks[1].state = 7;
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "the other end is closed");
	data->socks[0].peer = NOWHERE;
	ask_socket(&fixture);
	check_owner(&fixture, 0, 0, "who has the other end open could not be found out");
	/* Of a socket that is not connected, or not to this machine, nobody is known. */
	data->socks[0].peer = 0;
	ask_socket(&fixture);
	CHECK(!fixture.base.wait.owner && !fixture.base.wait.owner_how);
	data->socks[0] = (struct raw_sock){ 2, 1, AT(sockets[0]), AT(socks[1]) };
	ask_socket(&fixture);
	CHECK(!fixture.base.wait.owner && !fixture.base.wait.owner_how);
	data->sockets[0].sk = NOWHERE;
	ask_socket(&fixture);
	CHECK(!fixture.base.wait.owner && !fixture.base.wait.owner_how);
	finish(&fixture);
}

/* All have the first device; the list of the others has no end that would be looked for. */
static void test_many_devices(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	data->slots[1][2] = AT(device_file);
	for (unsigned int i = 0; i < DEVICES; i++)
		data->devices[i] =
			(struct raw_device){ i + 1 < DEVICES ? AT(devices[i + 1]) : AT(connection),
					     i ? AT(devices[i - 1]) : AT(connection) };
	data->connection.devices.prev = AT(devices[DEVICES - 1]);
	data->connection.dev_count = DEVICES;
	ask(&fixture, NULL);
	check_owner(&fixture, 0, 0, "too many open files");
	data->devices[DEVICES - 2].next = AT(connection);
	data->connection.devices.prev = AT(devices[DEVICES - 2]);
	ask(&fixture, NULL);
	check_owner(&fixture, AT(tasks[1]), CONFIDENCE_INFERRED, "the only one");
	finish(&fixture);
}

static void test_wild_fuse(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	data->slots[1][2] = AT(device_file);
	/* A circle beside the head. */
	data->devices[0] = (struct raw_device){ AT(devices[1]), AT(connection) };
	data->devices[1] = (struct raw_device){ AT(devices[0]), AT(devices[0]) };
	ask(&fixture, NULL);
	CHECK(!fixture.base.wait.owner);
	CHECK_STRING(fixture.base.wait.kind, "FUSE answer");
	data->connection.devices = (struct raw_device){ AT(connection), AT(connection) };
	ask(&fixture, NULL);
	check_owner(&fixture, 0, 0, "no task is seen to have the filesystem's device open");
	data->request.connection = NOWHERE;
	ask(&fixture, NULL);
	check_owner(&fixture, 0, 0, "who has the filesystem's device open could not be found out");
	fixture.base.arguments[0].items[0].is_known = false;
	ask(&fixture, NULL);
	CHECK(!fixture.base.wait.kind);
	finish(&fixture);
}

/* Asks what the second request of an automount waits for. */
static void ask_automount(struct fixture *fixture)
{
	struct sleeper_fixture *base = &fixture->base;
	base->world.files_loaded = false;
	base->world.file_count = base->world.file_steps = 0;
	base->wait = (struct wait){ 0 };
	CHECK_OK(wait_find_autofs(&base->sleeper, AT(asked[1])));
}

static void test_automount(void)
{
	struct fixture fixture;
	struct raw_data *data = &fixture.data;
	build(&fixture);
	fixture.base.frames[0].symbol.name = "autofs_wait";
	fixture.base.arguments[0].items[0].type.id = fixture.to_automount;
	fixture.base.arguments[0].items[0].value = AT(automount);
	data->automount = (struct raw_automount){ AT(asked[0]), AT(ends[1]) };
	data->asked[0] = AT(asked[1]);
	ask_automount(&fixture);
	CHECK_STRING(fixture.base.wait.kind, "automount");
	check_owner(&fixture, 0, 0, "no task is seen to have the pipe of the automount daemon");
	data->slots[2][1] = AT(ends[0]);
	ask_automount(&fixture);
	check_owner(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the only one");
	/* Who writes into it is no daemon. */
	data->slots[3][0] = AT(ends[1]);
	ask_automount(&fixture);
	check_owner(&fixture, AT(tasks[2]), CONFIDENCE_CERTAIN, "the only one");
	data->automount.pipe = NOWHERE;
	ask_automount(&fixture);
	check_owner(&fixture, 0, 0, "who is the automount daemon could not be found out");
	data->automount.pipe = 0;
	ask_automount(&fixture);
	check_owner(&fixture, 0, 0, "has no automount daemon any more");
	/* A ring that the request is not in, a request that is not there. */
	data->asked[0] = AT(asked[0]);
	ask_automount(&fixture);
	CHECK(!fixture.base.wait.kind);
	data->automount.requests = NOWHERE;
	ask_automount(&fixture);
	CHECK(!fixture.base.wait.kind);
	finish(&fixture);
}

int main(void)
{
	RUN(test_pipe);
	RUN(test_shared_table);
	RUN(test_wild);
	RUN(test_fuse);
	RUN(test_socket);
	RUN(test_automount);
	RUN(test_many_devices);
	RUN(test_wild_fuse);
	return test_finish();
}
