// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * bpf_states: put tasks to sleep under BPF programs and probes.
 *
 *   bpf_states OBJECT MANIFEST TRUTH
 *
 * Loads OBJECT (programs.bpf.c), attaches what this kernel can attach, starts
 * tasks that block below the programs, writes "PID COMM STATE EXPLANATION"
 * lines to MANIFEST as states does, and to TRUTH what the kernel itself says
 * of each loaded program: where its functions lie and which line of source
 * each range of instructions is of.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct wish {
	__u64 pointer, thread, copied;
};

static struct bpf_object *object;

static void complain(const char *what)
{
	printf("guest: bpf_states: %s: %s\n", what, strerror(errno));
}

static void fail(const char *what)
{
	complain(what);
	exit(1);
}

/* A page whose first touch waits for ever. */
static void *unserved_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { .start = (__u64)page, .len = 4096 },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (page == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		fail("userfaultfd");
	return page;
}

static struct bpf_program *program(const char *name)
{
	return bpf_object__find_program_by_name(object, name);
}

/* The tasks */

static void block_in_syscall_program(void)
{
	struct wish wish = { .pointer = (__u64)unserved_page() };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &wish, .ctx_size_in = sizeof(wish));
	bpf_prog_test_run_opts(bpf_program__fd(program("blocked_syscall")), &options);
}

static void block_in_open(void)
{
	struct wish wish = { .pointer = (__u64)unserved_page(),
			     .thread = (__u64)syscall(SYS_gettid) };
	__u32 first = 0;
	struct bpf_map *wishes = bpf_object__find_map_by_name(object, "wishes");
	if (bpf_map__update_elem(wishes, &first, sizeof(first), &wish, sizeof(wish), 0))
		fail("wishes");
	if (open("/proc/version", O_RDONLY) < 0)
		complain("open");
}

static void block_in_sleep(void)
{
	struct timespec day = { 86400, 0 };
	nanosleep(&day, NULL);
}

static void block_in_poll(void)
{
	int ends[2];
	if (pipe(ends))
		fail("pipe");
	struct pollfd wait = { .fd = ends[0], .events = POLLIN };
	poll(&wait, 1, -1);
}

static void block_in_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2], fd = epoll_create1(0);
	if (pipe(ends) || epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event))
		fail("epoll");
	epoll_wait(fd, &event, 1, -1);
}

static void block_in_pipe(void)
{
	int ends[2];
	char byte;
	if (pipe(ends) || read(ends[0], &byte, 1) < 0)
		fail("pipe");
}

static void block_in_wait(void)
{
	pid_t child = fork();
	if (!child)
		for (;;)
			pause();
	waitpid(child, NULL, 0);
}

static const struct task {
	const char *comm;
	const char *program; /* that must be attached, NULL: none */
	void (*block)(void);
	const char *explanation;
} tasks[] = {
	{ "bpf-syscall", "blocked_syscall", block_in_syscall_program, "in bpf_copy_from_user" },
	{ "bpf-open", "blocked_open", block_in_open, "in bpf_copy_from_user, in a trampoline" },
	{ "bpf-fexit", "after_sleep", block_in_sleep, "called by a trampoline" },
	{ "bpf-fentry", "before_poll", block_in_poll, "polls; entered through a trampoline" },
	{ "bpf-kprobe", "count_epoll", block_in_epoll, "epoll_wait with a kprobe" },
	{ "kretprobed", NULL, block_in_pipe, "pipe_read returns to a kretprobe" },
	{ "graphed", NULL, block_in_wait, "do_wait is traced by function_graph" },
};
#define TASK_COUNT (sizeof(tasks) / sizeof(*tasks))

static pid_t start(const struct task *task)
{
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, task->comm);
	task->block();
	printf("guest: bpf_states: %s did not block\n", task->comm);
	_exit(1);
}

static char letter_of(pid_t pid)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	if (file)
		fclose(file);
	line[size] = 0;
	const char *end = strrchr(line, ')');
	return end ? end[2] : '?';
}

static void start_tasks(const char *manifest, const bool *attached)
{
	pid_t pids[TASK_COUNT] = { 0 };
	for (size_t i = 0; i < TASK_COUNT; i++)
		if (attached[i])
			pids[i] = start(&tasks[i]);
	usleep(1500000);
	FILE *file = fopen(manifest, "ae");
	if (!file)
		fail(manifest);
	for (size_t i = 0; i < TASK_COUNT; i++)
		if (pids[i] && strchr("SD", letter_of(pids[i])))
			fprintf(file, "%d %s %c %s\n", pids[i], tasks[i].comm, letter_of(pids[i]),
				tasks[i].explanation);
	fclose(file);
}

/* Probes without BPF */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
	if (n < 0)
		complain(path);
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

#define TRACING "/sys/kernel/tracing/"

static bool set_kretprobe(void)
{
	return write_file(TRACING "kprobe_events", "r:returns pipe_read\n") &&
	       write_file(TRACING "events/kprobes/returns/enable", "1");
}

static bool set_function_graph(void)
{
	return write_file(TRACING "set_graph_function", "do_wait\n") &&
	       write_file(TRACING "current_tracer", "function_graph");
}

/* The truth */

static void print_text(FILE *file, const struct btf *btf, __u32 offset)
{
	const char *text = btf__str_by_offset(btf, offset);
	fprintf(file, "%s", text ? text : "?");
}

static void describe(FILE *file, int fd)
{
	struct bpf_prog_info sizes = { 0 }, info = { 0 };
	__u32 size = sizeof(sizes);
	if (bpf_obj_get_info_by_fd(fd, &sizes, &size))
		fail("program info");
	__u64 *starts = calloc(sizes.nr_jited_ksyms + 1, sizeof(*starts));
	__u32 *lengths = calloc(sizes.nr_jited_func_lens + 1, sizeof(*lengths));
	struct bpf_line_info *lines = calloc(sizes.nr_line_info + 1, sizeof(*lines));
	__u64 *addresses = calloc(sizes.nr_jited_line_info + 1, sizeof(*addresses));
	struct bpf_func_info *functions = calloc(sizes.nr_func_info + 1, sizeof(*functions));
	info = (struct bpf_prog_info){ .nr_jited_ksyms = sizes.nr_jited_ksyms,
				       .jited_ksyms = (__u64)starts,
				       .nr_jited_func_lens = sizes.nr_jited_func_lens,
				       .jited_func_lens = (__u64)lengths,
				       .nr_line_info = sizes.nr_line_info,
				       .line_info_rec_size = sizeof(*lines),
				       .line_info = (__u64)lines,
				       .nr_jited_line_info = sizes.nr_jited_line_info,
				       .jited_line_info_rec_size = sizeof(*addresses),
				       .jited_line_info = (__u64)addresses,
				       .nr_func_info = sizes.nr_func_info,
				       .func_info_rec_size = sizeof(*functions),
				       .func_info = (__u64)functions };
	size = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		fail("program info");
	struct btf *btf = info.btf_id ? btf__load_from_kernel_by_id(info.btf_id) : NULL;
	fprintf(file, "PROGRAM\t%u\t%s\t%u\t%u\t%u\t", info.id, info.name, info.type,
		info.jited_prog_len, info.xlated_prog_len);
	for (int i = 0; i < BPF_TAG_SIZE; i++)
		fprintf(file, "%02x", info.tag[i]);
	fprintf(file, "\n");
	for (__u32 i = 0; i < info.nr_jited_ksyms; i++) {
		fprintf(file, "FUNCTION\t%llx\t%u\t", starts[i], lengths[i]);
		const struct btf_type *function =
			btf && i < info.nr_func_info ? btf__type_by_id(btf, functions[i].type_id)
						     : NULL;
		if (function)
			print_text(file, btf, function->name_off);
		fprintf(file, "\n");
	}
	for (__u32 i = 0; btf && i < info.nr_jited_line_info; i++) {
		fprintf(file, "LINE\t%llx\t%u\t%u\t", addresses[i],
			BPF_LINE_INFO_LINE_NUM(lines[i].line_col),
			BPF_LINE_INFO_LINE_COL(lines[i].line_col));
		print_text(file, btf, lines[i].file_name_off);
		fprintf(file, "\t");
		print_text(file, btf, lines[i].line_off);
		fprintf(file, "\n");
	}
	btf__free(btf);
	free(functions);
	free(addresses);
	free(lines);
	free(lengths);
	free(starts);
}

static void describe_map(FILE *file, int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		fail("map info");
	fprintf(file, "MAP\t%u\t%s\t%u\t%u\t%u\t%u\n", info.id, info.name, info.type, info.key_size,
		info.value_size, info.max_entries);
}

static void describe_all(const char *path)
{
	FILE *file = fopen(path, "we");
	if (!file)
		fail(path);
	for (__u32 id = 0; !bpf_prog_get_next_id(id, &id);) {
		int fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			continue;
		describe(file, fd);
		close(fd);
	}
	for (__u32 id = 0; !bpf_map_get_next_id(id, &id);) {
		int fd = bpf_map_get_fd_by_id(id);
		if (fd < 0)
			continue;
		describe_map(file, fd);
		close(fd);
	}
	fclose(file);
}

/* Loading */

static int say(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vprintf(format, arguments) : 0;
}

static bool load(const char *path)
{
	object = bpf_object__open_file(path, NULL);
	return object && !bpf_object__load(object);
}

/* A kernel that refuses one program shall load the others. */
static void load_what_loads(const char *path)
{
	static const char *const dispensable[] = { "after_sleep", "before_poll", "blocked_open",
						   "blocked_syscall" };
	if (load(path))
		return;
	for (size_t i = 0; i < sizeof(dispensable) / sizeof(*dispensable); i++) {
		printf("guest: bpf_states: once more, without %s\n", dispensable[i]);
		object = bpf_object__open_file(path, NULL);
		for (size_t j = 0; object && j <= i; j++)
			bpf_program__set_autoload(program(dispensable[j]), false);
		if (object && !bpf_object__load(object))
			return;
	}
	fail("no program can be loaded");
}

static bool attach(const char *name)
{
	if (!strcmp(name, "blocked_syscall"))
		return bpf_program__fd(program(name)) >= 0;
	if (bpf_program__fd(program(name)) < 0)
		return false;
	struct bpf_link *link = bpf_program__attach(program(name));
	if (!link)
		complain(name);
	return link;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc != 4) {
		printf("guest: failed: usage: bpf_states OBJECT MANIFEST TRUTH\n");
		return 2;
	}
	libbpf_set_print(say);
	load_what_loads(argv[1]);
	bool attached[TASK_COUNT];
	for (size_t i = 0; i < TASK_COUNT; i++)
		attached[i] = !tasks[i].program || attach(tasks[i].program);
	attach("count_nanosleep");
	attached[TASK_COUNT - 2] = set_kretprobe();
	attached[TASK_COUNT - 1] = set_function_graph();
	if (!bpf_program__attach_xdp(program("pass_all"), 1))
		complain("xdp on lo");
	start_tasks(argv[2], attached);
	describe_all(argv[3]);
	char done[256];
	snprintf(done, sizeof(done), "%s.done", argv[3]);
	close(open(done, O_CREAT | O_WRONLY, 0644));
	for (;;)
		pause();
}
