// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/child.h"

#include "debugger/target/object.h"
#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A stream to a file that the helper opened. */
static struct error *open_stream(int file, const char *name, FILE **ret)
{
	*ret = file >= 0 ? fdopen(file, "w") : NULL;
	if (*ret)
		return NULL;
	struct error *error = error_system("%s", name);
	if (file >= 0)
		close(file);
	return error;
}

static void begin(struct helper_link *helper, struct child *child)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, &child->pipe_action);
	child->helper = helper;
}

struct error *child_start(struct helper_link *helper, const char *command, bool piped,
			  struct child *ret)
{
	struct child child = { 0 };
	fflush(stdout);
	if (piped)
		TRY(open_stream(helper_file(helper, HELPER_PROGRAM, command), command, &child.to));
	else if (!helper_tell(helper, HELPER_BESIDE, command, strlen(command)))
		return error_system("%s", *command ? command : "a shell");
	begin(helper, &child);
	*ret = child;
	return NULL;
}

struct error *child_start_pager(struct helper_link *helper, struct child *ret)
{
	struct child child = { 0 };
	fflush(stdout);
	TRY(open_stream(helper_file(helper, HELPER_PAGER, NULL), "the pager", &child.to));
	begin(helper, &child);
	*ret = child;
	return NULL;
}

int child_wait(struct child *child)
{
	struct message reply;
	uint32_t status = 1;
	if (child->to)
		fclose(child->to);
	if (helper_ask(child->helper, HELPER_WAIT, NULL, 0, &reply) && reply.size == sizeof(status))
		memcpy(&status, reply.data, sizeof(status));
	message_deinit(&reply);
	sigaction(SIGPIPE, &child->pipe_action, NULL);
	*child = (struct child){ 0 };
	return (int)status;
}

struct error *output_open(struct helper_link *helper, const char *path, bool append, FILE **ret)
{
	int file = helper_file(helper, append ? HELPER_APPEND : HELPER_WRITE, path);
	if (file < 0 && errno == EBUSY)
		return error_create(ERROR_USAGE, "%s is the dump, which is not written to", path);
	if (file < 0 && errno == ENXIO)
		return error_create(ERROR_SYSTEM, "%s: nobody reads from it", path);
	return open_stream(file, path, ret);
}

struct error *output_close(struct helper_link *helper, FILE *file, const char *path,
			   struct error *error)
{
	struct stat status;
	if (!file)
		return error;
	if (!error && fflush(file))
		error = error_system("%s", path);
	bool is_left = error && !fstat(fileno(file), &status) && S_ISREG(status.st_mode);
	if (error)
		__fpurge(file); /* else fclose() writes what is left of it */
	if (fclose(file) && !error)
		error = error_system("%s", path);
	if (!is_left)
		return error;
	bool is_emptied = helper_tell(helper, HELPER_EMPTY, path, strlen(path));
	return error_prefix(error, "%s is %s", path, is_emptied ? "left empty" : "not whole");
}
