// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/shell.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/shell/history.h"
#include "debugger/shell/text_file.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define STANDARD_INPUT "standard input"
#define SCRIPTS_MAX    16 /* that source one another */

bool shell_is_command(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line && *line != '#';
}

/* --- words that fit ----------------------------------------------------------------- */

void completions_add(struct completions *completions, const char *word)
{
	if (!array_reserve(&completions->words, &completions->capacity, completions->count + 1))
		return;
	char *copy = strdup(word);
	if (copy)
		completions->words[completions->count++] = copy;
}

void completions_deinit(struct completions *completions)
{
	for (size_t i = 0; i < completions->count; i++)
		free(completions->words[i]);
	free(completions->words);
	*completions = (struct completions){ 0 };
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void completions_sort(struct completions *completions)
{
	char **words = completions->words;
	size_t kept = 0;
	array_sort(words, completions->count, sizeof(*words), compare_words);
	for (size_t i = 0; i < completions->count; i++) {
		if (kept && !strcmp(words[kept - 1], words[i]))
			free(words[i]);
		else
			words[kept++] = words[i];
	}
	completions->count = kept;
}

/* What the prompt wants to know, which it shows to the user. */
static bool complete(struct session *session, shell_completer *completer,
		     const struct message *message)
{
	struct completions found = { 0 };
	struct helper_question question;
	const char *line = (const char *)message->data + sizeof(question);
	char *data = NULL;
	size_t size = 0;
	if (message->size < sizeof(question))
		return false;
	memcpy(&question, message->data, sizeof(question));
	/* Ctrl-C that dropped a line is none for this. */
	interrupt_clear();
	if (completer && question.start <= strlen(line))
		completer(session, line, &question, &found);
	FILE *file = open_memstream(&data, &size);
	for (size_t i = 0, used = 0; file && i < found.count; i++) {
		used += strlen(found.words[i]) + 1;
		if (used < HELPER_TEXT_MAX)
			fwrite(found.words[i], strlen(found.words[i]) + 1, 1, file);
	}
	bool sent = file && !fclose(file) &&
		    channel_send(session->helper->socket, HELPER_COMPLETED, data, size, -1);
	free(data);
	completions_deinit(&found);
	return sent;
}

/*
 * There is no terminal any more to say it on, nor to put back the mode of: the shell does both for
 * a program that has died of a signal.
 */
static void die_as(int signal_number)
{
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Why it does not answer. It is a child that has ended, or will at once. */
static struct error *helper_lost(struct helper_link *helper)
{
	struct error *error = error_system("the helper process");
	int status, tries = 100;
	pid_t pid = 0;
	while (!pid && tries--) {
		pid = waitpid(helper->pid, &status, WNOHANG);
		if (!pid)
			poll(NULL, 0, 10);
	}
	if (pid != helper->pid)
		return error;
	error_free(error);
	if (WIFSIGNALED(status) && helper->has_terminal)
		die_as(WTERMSIG(status));
	if (WIFSIGNALED(status))
		return error_create(ERROR_SYSTEM, "the helper process was killed by signal %d",
				    WTERMSIG(status));
	return error_create(ERROR_SYSTEM, "the helper process has ended");
}

/* --- lines -------------------------------------------------------------------------- */

/* The next line of the uppermost source; *ret NULL: there is none. Caller frees the message. */
static struct error *next_line(struct session *session, shell_completer *completer,
			       struct message *message, const char **ret, size_t *ret_number)
{
	uint64_t number;
	*ret = NULL;
	bool heard = helper_ask(session->helper, HELPER_LINE, NULL, 0, message);
	while (heard && message->kind == HELPER_COMPLETE) {
		bool answered = complete(session, completer, message);
		message_deinit(message);
		heard = answered && helper_hear(session->helper, message);
	}
	bool is_gone = errno == ECHILD || errno == EPIPE || errno == ECONNRESET;
	if (!heard && is_gone)
		return error_prefix(helper_lost(session->helper), "reading commands");
	if (!heard) {
		/* Of a file, the caller says which. */
		const struct script *script = session->script;
		bool is_file = script && strcmp(script->path, STANDARD_INPUT) != 0;
		struct error *error = text_file_error(errno);
		return is_file ? error : error_prefix(error, "reading commands");
	}
	if (message->kind != HELPER_GIVEN || message->size < sizeof(number))
		return NULL;
	memcpy(&number, message->data, sizeof(number));
	*ret_number = (size_t)number;
	*ret = (const char *)message->data + sizeof(number);
	return NULL;
}

static struct error *run_lines(struct session *session, struct script *script, shell_runner *run,
			       shell_completer *completer)
{
	struct error *error = NULL;
	const char *line = "";
	while (!session->quit && !session->interrupted && line && !error) {
		struct message message = { .file = -1 };
		size_t number = 0;
		error = next_line(session, completer, &message, &line, &number);
		if (script)
			script->line = number;
		if (line)
			run(session, line);
		message_deinit(&message);
	}
	(void)helper_tell(session->helper, HELPER_CLOSE, NULL, 0);
	return error;
}

static struct error *run_script(struct session *session, const char *path, shell_runner *run)
{
	struct script script = { .path = path, .outer = session->script };
	session->script = &script;
	struct error *error = run_lines(session, &script, run, NULL);
	session->script = script.outer;
	return error;
}

struct error *shell_interact(struct session *session, shell_runner *run, shell_completer *completer)
{
	if (!helper_tell(session->helper, HELPER_PROMPT, NULL, 0))
		return error_system("the prompt");
	return run_lines(session, NULL, run, completer);
}

struct error *shell_run_command(struct session *session, size_t number, const char *line,
				shell_runner *run)
{
	uint32_t index = (uint32_t)number;
	/* The line runs without a helper, too: most lines need none. */
	bool told = helper_tell(session->helper, HELPER_COMMAND, &index, sizeof(index));
	run(session, line);
	if (told)
		(void)helper_tell(session->helper, HELPER_CLOSE, NULL, 0);
	return NULL;
}

struct error *shell_run_path(struct session *session, const char *path, shell_runner *run)
{
	size_t depth = 0;
	for (const struct script *script = session->script; script; script = script->outer)
		depth++;
	if (depth >= SCRIPTS_MAX)
		return error_create(ERROR_USAGE, "%s: %d files source one another", path,
				    SCRIPTS_MAX);
	bool is_input = !strcmp(path, "-");
	if (!helper_tell(session->helper, HELPER_SCRIPT, path, strlen(path)))
		return error_prefix(text_file_error(errno), "%s", path);
	struct error *error = run_script(session, is_input ? STANDARD_INPUT : path, run);
	return is_input ? error : error_prefix(error, "%s", path);
}

struct error *shell_run_rc(struct session *session, shell_runner *run)
{
	struct message reply;
	if (!helper_ask(session->helper, HELPER_RC, NULL, 0, &reply)) {
		struct error *error = text_file_error(errno);
		char *path = user_path("XDG_CONFIG_HOME", ".config", "rc");
		error = error_prefix(error, "%s", path ? path : "the file of lines for the prompt");
		free(path);
		return error;
	}
	struct error *error = NULL;
	const char *path = (const char *)reply.data;
	if (reply.kind == HELPER_OK)
		error = error_prefix(run_script(session, path, run), "%s", path);
	message_deinit(&reply);
	return error;
}
