// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/prompt.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/helper.h"
#include "base/interrupt.h"
#include "base/out_sink.h"
#include "debugger/shell/history.h"
#include "debugger/shell/shell.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

/*
 * Readline 8.2 divides by the width of the terminal, less one where the terminal does not wrap by
 * itself: of one column that is 0. It is told of no fewer than these, which leaves room for a
 * letter or two behind the prompt; a line then looks odd where there are fewer.
 */
#define COLUMNS_MIN 12

struct prompt {
	int socket;
	struct winsize size; /* of the terminal, as readline knows it */
	struct prompt_link link;
	char *path; /* of the history, NULL: none */
	struct completions found;
	bool is_completing; /* what was found is for the cursor as it stands */
};

/*
 * Readline hands its callbacks nothing of ours, and there is one terminal: so this is, beside the
 * Ctrl-C flag, the only variable of file scope. NULL outside of prompt_read().
 */
static struct prompt *shell_prompt;

/* The other process is gone, or talks nonsense: there is nothing left to do. */
static void leave(void)
{
	static const char message[] =
		"\nbtfcrash: the process that reads the dump has ended unexpectedly\n";
	if (rl_deprep_term_function)
		rl_deprep_term_function();
	/* Its last words. */
	shell_prompt->link.settle(shell_prompt->link.context);
	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	_exit(0);
}

/* --- TAB --------------------------------------------------------------------------------- */

/* Readline asks for one word after the other, and frees them. */
static char *next_completion(const char *text, int state)
{
	struct completions *found = &shell_prompt->found;
	(void)text;
	return (size_t)state < found->count ? strdup(found->words[state]) : NULL;
}

/*
 * A file's name goes into the line as it is: one with blanks, with what the line or a shell gives a
 * meaning, or with controls is left to be typed. The folder before it is there already.
 */
static bool is_plain_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t size = strlen(name);
	if (*name == '-')
		return false;
	for (size_t i = 0, length; i < size; i += length) {
		length = out_printable(name + i, size - i);
		bool is_odd = length == 1 && !ascii_is_alnum(name[i]) &&
			      !strchr("_.-+,:@%", name[i]);
		if (!length || is_odd)
			return false;
	}
	return true;
}

static char *next_file(const char *text, int state)
{
	char *path;
	while ((path = rl_filename_completion_function(text, state)) && !is_plain_file(path)) {
		free(path);
		state = 1;
	}
	return path;
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
	rl_completion_append_character = ' ';
	rl_completion_suppress_quote = 1;
	rl_attempted_completion_over = 1;
	(void)start, (void)end;
	/* Other keys than TAB would put what it found last time into another line. */
	if (!shell_prompt->is_completing)
		return rl_completion_matches(text, no_completion);
	if (found->are_files) {
		rl_filename_completion_desired = 1;
		return rl_completion_matches(text, next_file);
	}
	rl_sort_completion_matches = 0;
	return rl_completion_matches(text, found->count ? next_completion : no_completion);
}

/*
 * Readline goes back from the cursor to the nearest break character: all that our word does not
 * hold are such. Caller frees; NULL without memory.
 */
static char *find_breaks(const char *line, size_t start, size_t end)
{
	char word[256] = "", *breaks = calloc(1, 128);
	if (end - start < sizeof(word))
		memcpy(word, line + start, end - start);
	for (int byte = 1, used = 0; breaks && byte < 127; byte++)
		if (!strchr(word, byte) && !ascii_is_alnum(byte) && byte != '_')
			breaks[used++] = (char)byte;
	return breaks;
}

/*
 * Of words that differ in case only, or in `-` and `_`, readline may take the common part from any
 * when ~/.inputrc wants that: one that nobody has checked.
 */
static int complete_exactly(int count, int key)
{
	const char *value = rl_variable_value("completion-ignore-case");
	bool folds = value && !strcmp(value, "on") && !shell_prompt->found.are_files;
	if (folds)
		rl_variable_bind("completion-ignore-case", "off");
	int result = rl_complete(count, key);
	if (folds)
		rl_variable_bind("completion-ignore-case", "on");
	return result;
}

/* Finds the words and the place they belong to before readline cuts the line its own way. */
static int complete_key(int count, int key)
{
	struct prompt *prompt = shell_prompt;
	const struct prompt_link *link = &prompt->link;
	struct completions *found = &prompt->found;
	completions_deinit(found);
	if (!link->find(link->context, rl_line_buffer, (size_t)rl_point, found))
		leave();
	/* Readline would look for the word in all of a long line, which takes the square of that.
	 */
	if (!found->count && !found->are_files)
		return rl_ding();
	char *breaks = find_breaks(rl_line_buffer, found->start, (size_t)rl_point);
	rl_completer_word_break_characters = breaks ? breaks : " ";
	/* A second TAB in a row lists the words. */
	if (rl_last_func == complete_key)
		rl_last_func = rl_complete;
	prompt->is_completing = true;
	int result = complete_exactly(count, key);
	prompt->is_completing = false;
	rl_completer_word_break_characters = " ";
	free(breaks);
	return result;
}

/* --- the prompt -------------------------------------------------------------------------- */

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

static void on_wake(int signal_number)
{
	(void)signal_number;
}

/* After Ctrl-Z the shell has put the terminal back as it was, with its own line editing. */
static void take_terminal(int terminal)
{
	struct termios mode;
	if (tcgetattr(terminal, &mode) || !(mode.c_lflag & ICANON))
		return;
	rl_cleanup_after_signal();
	rl_reset_after_signal();
	rl_forced_update_display();
}

static void find_size(void)
{
	int rows, columns;
	rl_reset_screen_size();
	rl_get_screen_size(&rows, &columns);
	if (columns < COLUMNS_MIN ||
	    (shell_prompt->size.ws_col && shell_prompt->size.ws_col < COLUMNS_MIN))
		rl_set_screen_size(rows, COLUMNS_MIN);
}

/* Readline calls this before it shows the prompt. */
static int on_start(void)
{
	(void)ioctl(fileno(rl_instream), TIOCGWINSZ, &shell_prompt->size);
	find_size();
	return 0;
}

/* What readline would do by itself at SIGWINCH, but with a width that it can bear. */
static void take_size(int terminal)
{
	struct winsize size, *known = &shell_prompt->size;
	if (ioctl(terminal, TIOCGWINSZ, &size) ||
	    (size.ws_row == known->ws_row && size.ws_col == known->ws_col))
		return;
	*known = size;
	rl_clear_visible_line();
	find_size();
	rl_forced_update_display();
}

/*
 * Of a line that is refused anyway only as much is kept as shows that it is: a few keys that kill
 * and yank make gigabytes of it.
 */
static void bound_line(void)
{
	const int bound = HELPER_TEXT_MAX + 1;
	if (rl_end <= bound)
		return;
	rl_free_undo_list();
	rl_line_buffer[bound] = 0;
	rl_end = bound;
	rl_point = rl_point > bound ? bound : rl_point;
	rl_mark = rl_mark > bound ? bound : rl_mark;
	rl_redisplay();
	rl_ding();
}

/* A key; the end of the other process ends this one too, or it would fight for the terminal. */
static int read_key(FILE *file)
{
	struct pollfd waiting[] = { { .fd = fileno(file), .events = POLLIN },
				    { .fd = shell_prompt->socket, .events = POLLIN } };
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	bound_line();
	do {
		on_signal();
		rl_check_signals();
		take_terminal(fileno(file));
		take_size(fileno(file));
		waiting[0].revents = waiting[1].revents = 0;
		if (ppoll(waiting, ARRAY_COUNT(waiting), NULL, &before) < 0 && errno != EINTR)
			break;
	} while (!waiting[0].revents && !waiting[1].revents);
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* The other process only waits for a line; if its end is readable now, it has died. */
	if (waiting[1].revents)
		leave();
	return rl_getc(file);
}

static void prepare_readline(void)
{
	rl_readline_name = "btfcrash";
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	/* Programs ask the terminal: what the variables say would be out of date, or COLUMNS_MIN.
	 */
	rl_change_environment = 0;
	rl_startup_hook = on_start;
	rl_signal_event_hook = on_signal;
	rl_getc_function = read_key;
	rl_attempted_completion_function = attempt_completion;
	rl_completer_quote_characters = "";
	rl_completion_query_items = 200;
	/* One TAB lists; ~/.inputrc, which is read later, may want it otherwise. */
	rl_variable_bind("show-all-if-ambiguous", "on");
	rl_bind_key('\t', complete_key);
}

struct prompt *prompt_open(int socket, const struct prompt_link *link)
{
	struct prompt *prompt = calloc(1, sizeof(*prompt));
	if (!prompt)
		return NULL;
	prompt->socket = socket;
	prompt->link = *link;
	prompt->path = user_path("XDG_STATE_HOME", ".local/state", "history");
	prepare_readline();
	history_load(prompt->path);
	return prompt;
}

/* More than the other process takes would end the session. */
static bool is_too_long(const char *line)
{
	bool too_long = strlen(line) > HELPER_TEXT_MAX;
	if (too_long)
		fprintf(stderr, "btfcrash: no line has more than %u bytes: nothing was done\n",
			HELPER_TEXT_MAX);
	return too_long;
}

char *prompt_read(struct prompt *prompt)
{
	char *line = NULL;
	/* They only have to end the waiting for a key. */
	struct sigaction action = { .sa_handler = on_wake }, continued, resized;
	sigemptyset(&action.sa_mask);
	sigaction(SIGCONT, &action, &continued);
	sigaction(SIGWINCH, &action, &resized);
	shell_prompt = prompt;
	do {
		free(line);
		interrupt_clear();
		line = readline("btfcrash> ");
	} while (line && (!shell_is_command(line) || is_too_long(line)));
	shell_prompt = NULL;
	sigaction(SIGCONT, &continued, NULL);
	sigaction(SIGWINCH, &resized, NULL);
	if (line) {
		history_keep(prompt->path, line);
	} else {
		putchar('\n');
		fflush(stdout);
	}
	return line;
}

void prompt_close(struct prompt *prompt)
{
	if (!prompt)
		return;
	history_tidy(prompt->path);
	completions_deinit(&prompt->found);
	free(prompt->path);
	free(prompt);
}
