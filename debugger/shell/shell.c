// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/shell.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/shell/history.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#define SCRIPTS_MAX 16 /* that source one another */

static bool is_command(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line && *line != '#';
}

/* --- TAB --------------------------------------------------------------------------- */

/*
 * Readline hands its callbacks nothing of ours, and there is one terminal: so this is, beside the
 * Ctrl-C flag, the only variable of file scope. NULL outside of shell_interact().
 */
static struct prompt {
	struct session *session;
	shell_completer *complete;
	struct completions found;
} * shell_prompt;

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

/* Readline asks for one word after the other, and frees them. */
static char *next_completion(const char *text, int state)
{
	struct completions *found = &shell_prompt->found;
	(void)text;
	return (size_t)state < found->count ? strdup(found->words[state]) : NULL;
}

static char *no_completion(const char *text, int state)
{
	(void)text, (void)state;
	return NULL;
}

/* Where the word to complete begins is ours to say: readline takes it from here. */
static char **attempt_completion(const char *text, int start, int end)
{
	struct completions *found = &shell_prompt->found;
	rl_completion_append_character = found->is_partial ? '\0' : ' ';
	rl_completion_suppress_quote = 1;
	(void)start, (void)end;
	if (found->are_files) {
		rl_filename_completion_desired = 1;
		return rl_completion_matches(text, rl_filename_completion_function);
	}
	rl_attempted_completion_over = 1;
	rl_sort_completion_matches = 0;
	return rl_completion_matches(text, found->count ? next_completion : no_completion);
}

/* Finds the words and the place they belong to before readline cuts the line its own way. */
static int complete_key(int count, int key)
{
	struct prompt *prompt = shell_prompt;
	char *breaks = NULL;
	completions_deinit(&prompt->found);
	prompt->complete(prompt->session, rl_line_buffer, (size_t)rl_point, &prompt->found);
	/*
	 * Readline goes back from the cursor to the nearest break character: all that our word does
	 * not hold are such.
	 */
	size_t start = prompt->found.start, length = (size_t)rl_point - start;
	char word[256] = "";
	if (length < sizeof(word))
		memcpy(word, rl_line_buffer + start, length);
	breaks = calloc(1, 128);
	for (int byte = 1, used = 0; breaks && byte < 127; byte++)
		if (!strchr(word, byte) && !isalnum(byte) && byte != '_')
			breaks[used++] = (char)byte;
	rl_completer_word_break_characters = breaks ? breaks : " ";
	/* A second TAB in a row lists the words. */
	if (rl_last_func == complete_key)
		rl_last_func = rl_complete;
	int result = rl_complete(count, key);
	rl_completer_word_break_characters = " ";
	free(breaks);
	return result;
}

/* --- the prompt -------------------------------------------------------------------- */

/* Readline calls this when a signal came while it waited: Ctrl-C drops the line, not the shell. */
static int on_signal(void)
{
	if (!interrupt_flag)
		return 0;
	interrupt_clear();
	rl_replace_line("", 0);
	using_history(); /* the arrows begin at its end again */
	rl_crlf();
	rl_on_new_line();
	rl_redisplay();
	return 0;
}

static void prepare_readline(void)
{
	rl_readline_name = "btfcrash";
	rl_catch_signals = 0;
	rl_catch_sigwinch = 1;
	rl_signal_event_hook = on_signal;
	rl_attempted_completion_function = attempt_completion;
	rl_completer_quote_characters = "";
	rl_completion_query_items = 200;
	/* One TAB lists; ~/.inputrc, which is read later, may want it otherwise. */
	rl_variable_bind("show-all-if-ambiguous", "on");
	rl_bind_key('\t', complete_key);
}

void shell_interact(struct session *session, shell_runner *run, shell_completer *complete)
{
	struct prompt prompt = { .session = session, .complete = complete };
	char *path = user_path("XDG_STATE_HOME", ".local/state", "history");
	shell_prompt = &prompt;
	prepare_readline();
	history_load(path);
	while (!session->quit) {
		char *line = readline("btfcrash> ");
		if (!line) {
			putchar('\n');
			break;
		}
		if (is_command(line)) {
			history_keep(path, line);
			run(session, line);
		}
		free(line);
	}
	history_tidy(path);
	completions_deinit(&prompt.found);
	shell_prompt = NULL;
	free(path);
}

/* --- scripts ----------------------------------------------------------------------- */

struct error *shell_run_file(struct session *session, FILE *file, const char *path,
			     shell_runner *run)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	struct script script = { .path = path, .outer = session->script };
	session->script = &script;
	while (!session->quit && !session->interrupted &&
	       (length = getline(&line, &size, file)) >= 0) {
		script.line++;
		if (length && line[length - 1] == '\n')
			line[length - 1] = 0;
		if (is_command(line))
			run(session, line);
	}
	session->script = script.outer;
	struct error *error = ferror(file) ? error_system("reading commands") : NULL;
	free(line);
	return error;
}

struct error *shell_run_path(struct session *session, const char *path, shell_runner *run)
{
	size_t depth = 0;
	for (const struct script *script = session->script; script; script = script->outer)
		depth++;
	if (depth >= SCRIPTS_MAX)
		return error_create(ERROR_USAGE, "%s: %d files source one another", path,
				    SCRIPTS_MAX);
	if (!strcmp(path, "-"))
		return shell_run_file(session, stdin, "standard input", run);
	FILE *file = fopen(path, "re");
	if (!file)
		return error_system("%s", path);
	struct error *error = error_prefix(shell_run_file(session, file, path, run), "%s", path);
	fclose(file);
	return error;
}

struct error *shell_run_rc(struct session *session, shell_runner *run)
{
	char *path = user_path("XDG_CONFIG_HOME", ".config", "rc");
	struct error *error = NULL;
	if (path && !access(path, F_OK))
		error = shell_run_path(session, path, run);
	free(path);
	return error;
}
