// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/serve.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/interrupt.h"
#include "debugger/command/alias.h"
#include "debugger/command/line.h"
#include "debugger/helper/death.h"
#include "debugger/helper/serve_private.h"
#include "debugger/shell/history.h"
#include "debugger/shell/shell.h"
#include "debugger/shell/spawn.h"
#include "debugger/target/object.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- replies -------------------------------------------------------------------------------- */

static bool reply(struct server *server, enum helper_reply kind)
{
	return channel_send(server->socket, kind, NULL, 0, -1);
}

static bool reply_errno(struct server *server, int number)
{
	int32_t value = number;
	return channel_send(server->socket, HELPER_ERRNO, &value, sizeof(value), -1);
}

/* Closes the file; below 0: errno says why. */
static bool reply_file(struct server *server, int file)
{
	if (file < 0)
		return reply_errno(server, errno);
	bool sent = channel_send(server->socket, HELPER_OK, NULL, 0, file);
	close(file);
	return sent;
}

/* --- programs ------------------------------------------------------------------------------- */

/* On a terminal, a program shows what it gets: that is filtered. */
static bool run_piped(struct server *server, const char *program)
{
	int input;
	if (server->child_count == CHILDREN_MAX)
		return reply_errno(server, EAGAIN);
	pid_t *child = &server->children[server->child_count];
	int status = spawn_shell(program, &input, child);
	if (!status && server->terminal->is_there)
		status = terminal_filter_to(server->terminal, input, *child, &input);
	if (status)
		return reply_errno(server, status);
	server->child_count++;
	return reply_file(server, input);
}

static bool run_beside(struct server *server, const char *program)
{
	if (server->child_count == CHILDREN_MAX)
		return reply_errno(server, EAGAIN);
	int status = spawn_shell(*program ? program : "exec \"${SHELL:-sh}\"", NULL,
				 &server->children[server->child_count]);
	if (status)
		return reply_errno(server, status);
	server->child_count++;
	return reply(server, HELPER_OK);
}

static bool serve_program(struct server *server, const char *program, bool is_beside)
{
	struct grant *grant = lines_grant(server);
	if (!grant || !grant_take_program(grant, program, is_beside))
		return reply_errno(server, EPERM);
	return is_beside ? run_beside(server, program) : run_piped(server, program);
}

/* Of other words it is not told what there is on this machine. */
static bool serve_is_program(struct server *server, const char *word)
{
	const struct grant *grant = lines_grant(server);
	bool is_one = grant && grant_begins_with(grant, word) &&
		      line_is_program(word, strlen(word));
	return reply(server, is_one ? HELPER_OK : HELPER_NONE);
}

static bool serve_pager(struct server *server)
{
	struct grant *grant = lines_grant(server);
	const char *pager = spawn_pager();
	if (!server->options->interactive || !pager || !grant || !grant->pager)
		return reply_errno(server, EPERM);
	grant->pager = false;
	setenv("LESS", "FRX", 0);
	return run_piped(server, pager);
}

static bool serve_wait(struct server *server)
{
	if (!server->child_count)
		return reply_errno(server, ECHILD);
	pid_t child = server->children[--server->child_count];
	terminal_finish(server->terminal, child);
	uint32_t status = (uint32_t)spawn_wait(child);
	return channel_send(server->socket, HELPER_OK, &status, sizeof(status), -1);
}

/* --- files ---------------------------------------------------------------------------------- */

/* A slip of the user's: `export vmlinux vmcore`. */
static bool is_dump(const struct serve_options *options, const char *path)
{
	struct stat file, dump;
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return false;
	for (size_t i = 0; i < options->dump_count; i++)
		if (!stat(options->dumps[i], &dump) && file.st_dev == dump.st_dev &&
		    file.st_ino == dump.st_ino)
			return true;
	return false;
}

#define READER_SECONDS 1.0
#define READER_PAUSES  50

/*
 * A FIFO that nobody reads would hold the open for ever, where no Ctrl-C ends it: it fails with
 * ENXIO if nobody has come after a second. Below 0: errno.
 */
static int open_to_write(const char *path, int flags, mode_t mode)
{
	const struct timespec pause = { .tv_nsec = (long)(1e9 * READER_SECONDS / READER_PAUSES) };
	int file = open(path, flags | O_NONBLOCK, mode);
	for (int i = 0; file < 0 && errno == ENXIO && i < READER_PAUSES && !interrupt_flag; i++) {
		nanosleep(&pause, NULL);
		file = open(path, flags | O_NONBLOCK, mode);
	}
	if (file >= 0)
		(void)fcntl(file, F_SETFL, flags & O_APPEND);
	return file;
}

/* One that is there is the user's own, closed to others and only then empty; below 0: errno. */
static int open_private(const char *path)
{
	struct stat status;
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file >= 0 || errno != EEXIST)
		return file;
	file = open_to_write(path, O_WRONLY | O_CLOEXEC, 0);
	if (file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode))
		return file;
	if (status.st_uid == geteuid() && !fchmod(file, 0600) && !ftruncate(file, 0))
		return file;
	close(file);
	errno = EPERM;
	return -1;
}

static bool serve_write(struct server *server, const char *path, bool append)
{
	struct grant *grant = lines_grant(server);
	bool is_private;
	if (!grant || !grant_take_write(grant, path, append, &is_private))
		return reply_errno(server, EPERM);
	if (is_dump(server->options, path))
		return reply_errno(server, EBUSY);
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : O_TRUNC);
	int file = is_private ? open_private(path) : open_to_write(path, flags, 0666), status = 0;
	/* "/dev/tty" */
	if (file >= 0 && isatty(file))
		status = terminal_filter_to(server->terminal, file, 0, &file);
	if (file >= 0 && !append)
		grant_keep_opened(grant, path, file);
	return status ? reply_errno(server, status) : reply_file(server, file);
}

/* What the other process has written it may take away; nothing that was there before. */
static bool serve_empty(struct server *server, const char *path)
{
	struct grant *grant = lines_grant(server);
	int file = grant ? grant_take_opened(grant, path) : -1;
	if (file < 0)
		return reply_errno(server, EPERM);
	int status = ftruncate(file, 0) ? errno : 0;
	close(file);
	return status ? reply_errno(server, status) : reply(server, HELPER_OK);
}

/*
 * The path comes from a dump, which may name a module or a release "../../x": what counts is where
 * it leads. NULL: not into a folder of the user's.
 */
static char *resolve(const struct server *server, const char *path)
{
	const struct serve_options *options = server->options;
	if (!options->folder_count) {
		errno = EPERM;
		return NULL;
	}
	return folder_resolve(options->folders, options->folder_count, path);
}

/* Closes the file; a terminal is the helper's alone. */
static bool reply_unless_terminal(struct server *server, int file)
{
	if (file < 0 || !isatty(file))
		return reply_file(server, file);
	close(file);
	return reply_errno(server, EPERM);
}

static bool serve_read(struct server *server, const char *path)
{
	struct grant *grant = lines_grant(server);
	/* A FIFO without a writer would hang before it could be refused. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (grant && grant_has_read(grant, path))
		return reply_unless_terminal(server, open(path, flags));
	char *real = resolve(server, path);
	if (!real)
		return reply_errno(server, errno);
	bool sent = reply_unless_terminal(server, open(real, flags | O_NOFOLLOW));
	free(real);
	return sent;
}

static bool serve_list(struct server *server, const char *path)
{
	char *real = resolve(server, path);
	int file = real ? memfd_create("btfcrash", MFD_CLOEXEC) : -1;
	bool good = file >= 0 && folder_list(real, file);
	int why = errno;
	free(real);
	if (good)
		return reply_file(server, file);
	if (file >= 0)
		close(file);
	return reply_errno(server, why);
}

/* --- the cache ------------------------------------------------------------------------------ */

static struct cache_place *place_of(struct server *server, bool create)
{
	if (!server->has_dump)
		return NULL;
	if (server->place.folder < 0)
		server->place.folder = cache_folder_open(create);
	server->place.dump = &server->dump;
	return server->place.folder < 0 ? NULL : &server->place;
}

static bool serve_cache_find(struct server *server, const struct message *request)
{
	struct cache_key key;
	struct cache_place *place = place_of(server, false);
	if (request->size != sizeof(key) || !place)
		return reply(server, HELPER_NONE);
	memcpy(&key, request->data, sizeof(key));
	int file = cache_file_find(place, &key);
	return file < 0 ? reply(server, HELPER_NONE) : reply_file(server, file);
}

/* Only of files that are what they were when the session began. */
static bool serve_cache_keep(struct server *server, const struct message *request)
{
	struct cache_key key;
	struct cache_dump now;
	const struct serve_options *options = server->options;
	struct cache_place *place = place_of(server, true);
	if (request->size <= sizeof(key) || !place || server->kept_count == KEPT_MAX ||
	    !cache_dump_init(&now, options->dumps, options->dump_count))
		return reply(server, HELPER_NONE);
	memcpy(&key, request->data, sizeof(key));
	bool kept = cache_dump_equal(&now, &server->dump) &&
		    cache_file_write(place, &key, request->data + sizeof(key),
				     request->size - sizeof(key));
	cache_dump_deinit(&now);
	server->kept_count++;
	return reply(server, kept ? HELPER_OK : HELPER_NONE);
}

/* --- the running kernel --------------------------------------------------------------------- */

static struct error *write_facts(struct server *server, const struct message *request, int file)
{
	if (!server->options->live)
		return error_create(ERROR_UNSUPPORTED, "this is no running kernel");
	if (!server->kernel)
		TRY(running_kernel_open(&server->kernel));
	if (request->kind == HELPER_KERNEL_BTF)
		return running_kernel_write_btf(server->kernel, (const char *)request->data, file);
	return request->kind == HELPER_BPF_PROGRAMS
		       ? running_kernel_write_programs(server->kernel, file)
		       : running_kernel_write_maps(server->kernel, file);
}

static bool serve_kernel(struct server *server, const struct message *request)
{
	int file = memfd_create("btfcrash", MFD_CLOEXEC);
	if (file < 0)
		return reply_errno(server, errno);
	struct error *error = write_facts(server, request, file);
	if (!error)
		return reply_file(server, file);
	close(file);
	bool sent = channel_send(server->socket, HELPER_NONE, error->message,
				 strlen(error->message), -1);
	error_free(error);
	return sent;
}

/* --- the terminal --------------------------------------------------------------------------- */

static bool serve_size(struct server *server)
{
	struct helper_size size = terminal_size();
	return channel_send(server->socket, HELPER_OK, &size, sizeof(size), -1);
}

static bool serve_progress(struct server *server, const char *text)
{
	return terminal_progress(server->terminal, text) ? reply(server, HELPER_OK)
							 : reply_errno(server, EINVAL);
}

/* Before the prompt is shown, or a program is. */
static void prepare_terminal(struct server *server, uint32_t kind)
{
	if (kind == HELPER_LINE || kind == HELPER_PROGRAM || kind == HELPER_BESIDE ||
	    kind == HELPER_PAGER)
		terminal_hand_over(server->terminal);
}

/* --- requests ------------------------------------------------------------------------------- */

static bool serve_line(struct server *server)
{
	struct lines_next next;
	int status = lines_next(server, &next);
	if (status)
		return reply_errno(server, status);
	if (!next.line)
		return reply(server, HELPER_NONE);
	size_t length = strlen(next.line);
	uint8_t *data = length <= HELPER_TEXT_MAX ? malloc(sizeof(next.number) + length) : NULL;
	if (!data)
		return reply_errno(server, E2BIG);
	memcpy(data, &next.number, sizeof(next.number));
	memcpy(data + sizeof(next.number), next.line, length);
	bool sent =
		channel_send(server->socket, HELPER_GIVEN, data, sizeof(next.number) + length, -1);
	free(data);
	return sent;
}

static bool serve_rc(struct server *server)
{
	char *path = user_path("XDG_CONFIG_HOME", ".config", "rc");
	int status = lines_open_rc(server, path);
	bool sent = status == ENOENT ? reply(server, HELPER_NONE)
		    : status	     ? reply_errno(server, status)
			     : channel_send(server->socket, HELPER_OK, path, strlen(path), -1);
	free(path);
	return sent;
}

static bool serve_opening(struct server *server, int status)
{
	return status ? reply_errno(server, status) : reply(server, HELPER_OK);
}

/* A word of text has no NUL inside. */
static bool is_text(const struct message *request)
{
	return strlen((const char *)request->data) == request->size;
}

/* False: the end. */
static bool serve_request(struct server *server, const struct message *request)
{
	const char *text = (const char *)request->data;
	switch (request->kind) {
	case HELPER_COMMAND:
		return serve_opening(server, lines_open_command(server, request));
	case HELPER_SCRIPT:
		return is_text(request) && serve_opening(server, lines_open_script(server, text));
	case HELPER_RC:
		return serve_rc(server);
	case HELPER_PROMPT:
		return serve_opening(server, lines_open_prompt(server));
	case HELPER_LINE:
		return serve_line(server);
	case HELPER_CLOSE:
		lines_close(server);
		return reply(server, HELPER_OK);
	case HELPER_IS_PROGRAM:
		return is_text(request) && serve_is_program(server, text);
	case HELPER_PROGRAM:
	case HELPER_BESIDE:
		return is_text(request) &&
		       serve_program(server, text, request->kind == HELPER_BESIDE);
	case HELPER_PAGER:
		return serve_pager(server);
	case HELPER_WAIT:
		return serve_wait(server);
	case HELPER_WRITE:
	case HELPER_APPEND:
		return is_text(request) &&
		       serve_write(server, text, request->kind == HELPER_APPEND);
	case HELPER_EMPTY:
		return is_text(request) && serve_empty(server, text);
	case HELPER_READ:
		return is_text(request) && serve_read(server, text);
	case HELPER_LIST:
		return is_text(request) && serve_list(server, text);
	case HELPER_CACHE_FIND:
		return serve_cache_find(server, request);
	case HELPER_CACHE_KEEP:
		return serve_cache_keep(server, request);
	case HELPER_KERNEL_BTF:
	case HELPER_BPF_PROGRAMS:
	case HELPER_BPF_MAPS:
		return is_text(request) && serve_kernel(server, request);
	case HELPER_SIZE:
		return serve_size(server);
	case HELPER_PROGRESS:
		return is_text(request) && serve_progress(server, text);
	case HELPER_LEAVE:
		server->was_left = true;
		return false;
	default:
		return false;
	}
}

bool serve_at_prompt(struct server *server, const struct message *request)
{
	/* What brings types is asked for at any time; what concerns lines is not, while one is
	 * typed. */
	switch (request->kind) {
	case HELPER_CACHE_FIND:
	case HELPER_CACHE_KEEP:
	case HELPER_KERNEL_BTF:
	case HELPER_BPF_PROGRAMS:
	case HELPER_BPF_MAPS:
		return serve_request(server, request);
	case HELPER_PROGRESS:
		/* The line that is typed is there. */
		return reply(server, HELPER_OK);
	default:
		return false;
	}
}

size_t serve_limit(uint32_t kind)
{
	return kind == HELPER_CACHE_KEEP ? HELPER_CACHE_MAX
	       : kind < HELPER_REQUESTS	 ? HELPER_TEXT_MAX
					 : 0;
}

/* What was written before it was asked is on the terminal by then. */
static bool next_request(struct server *server, struct message *ret)
{
	terminal_wait(server->terminal, server->socket);
	return channel_receive(server->socket, serve_limit, ret);
}

void serve(const struct serve_options *options, int socket, pid_t reader, struct terminal *terminal)
{
	struct server server = { .socket = socket,
				 .terminal = terminal,
				 .options = options,
				 .place = { .folder = -1 } };
	struct message request;
	server.has_dump = options->keeps &&
			  cache_dump_init(&server.dump, options->dumps, options->dump_count);
	bool goes_on = true;
	while (goes_on && next_request(&server, &request)) {
		prepare_terminal(&server, request.kind);
		goes_on = request.file < 0 && serve_request(&server, &request);
		message_deinit(&request);
	}
	bool is_told = terminal_close(terminal, server.was_left);
	if (!server.was_left)
		death_tell(reader, is_told);
	while (server.depth)
		lines_close(&server);
	aliases_deinit(&server.session);
	cache_dump_deinit(&server.dump);
	running_kernel_close(server.kernel);
	if (server.place.folder >= 0)
		close(server.place.folder);
}

/*
 * Ctrl-C is for the commands and for programs, which get it too. What ends the other process ends
 * this one, after the terminal has its mode back.
 */
static void prepare(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	interrupt_install();
	/* Not dumpable, so nobody but root may trace it. */
	(void)prctl(PR_SET_DUMPABLE, 0);
}

struct error *serve_start(const struct serve_options *options, struct helper_link *ret)
{
	int ends[2];
	struct terminal terminal = { 0 };
	struct terminal_inputs inputs = { { -1, -1, -1 } };
	*ret = (struct helper_link){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_system("the helper process");
	fflush(NULL);
	int status = options->takes_terminal ? terminal_open(&terminal, &inputs) : 0;
	pid_t reader = getpid(), pid = status ? -1 : fork();
	if (status)
		errno = status;
	if (!pid) {
		close(ends[0]);
		terminal_inputs_close(&inputs);
		prepare();
		serve(options, ends[1], reader, &terminal);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		struct error *error = error_system("the helper process");
		close(ends[0]);
		terminal_inputs_close(&inputs);
		return error;
	}
	*ret = (struct helper_link){ .socket = ends[0],
				     .pid = pid,
				     .has_terminal = terminal.is_there };
	terminal_leave(&terminal, &inputs);
	return NULL;
}
