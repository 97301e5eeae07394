// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/terminal.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PROGRESS_MAX 120 /* bytes */
#define ERASE_LINE   "\r\x1b[K"
/* Of what a pipe holds at most, several times: who goes on writing is not waited for. */
#define SETTLE_ROUNDS 64

/* --- the beginning -----------------------------------------------------------------------------
 */

/* /dev/tty and its own name are one. */
static bool is_same_terminal(int first, int second)
{
	unsigned int devices[2];
	return !ioctl(first, TIOCGDEV, &devices[0]) && !ioctl(second, TIOCGDEV, &devices[1]) &&
	       devices[0] == devices[1];
}

static int duplicate(int file)
{
	return fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static int open_for(struct terminal *terminal, int file, int *ret)
{
	return terminal_filter_to(terminal, duplicate(file), 0, ret);
}

static int open_errors(struct terminal *terminal, bool output, struct terminal_inputs *ret)
{
	int *inputs = ret->files;
	if (!output || !is_same_terminal(STDOUT_FILENO, STDERR_FILENO))
		return open_for(terminal, STDERR_FILENO, &inputs[STDERR_FILENO]);
	/* In one pipe, what was written first comes first. */
	inputs[STDERR_FILENO] = duplicate(inputs[STDOUT_FILENO]);
	return inputs[STDERR_FILENO] < 0 ? errno : 0;
}

int terminal_open(struct terminal *terminal, struct terminal_inputs *ret)
{
	*terminal = (struct terminal){ 0 };
	*ret = (struct terminal_inputs){ { -1, -1, -1 } };
	bool input = isatty(STDIN_FILENO), output = isatty(STDOUT_FILENO);
	bool errors = isatty(STDERR_FILENO);
	int status = 0;
	for (int file = STDIN_FILENO; file <= STDERR_FILENO && !terminal->has_mode; file++)
		terminal->has_mode = !tcgetattr(file, &terminal->mode);
	terminal->is_there = output || errors;
	if (input) {
		ret->files[STDIN_FILENO] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		status = ret->files[STDIN_FILENO] < 0 ? errno : 0;
	}
	if (!status && output)
		status = open_for(terminal, STDOUT_FILENO, &ret->files[STDOUT_FILENO]);
	if (!status && errors)
		status = open_errors(terminal, output, ret);
	return status;
}

void terminal_inputs_close(struct terminal_inputs *inputs)
{
	for (size_t i = 0; i < ARRAY_COUNT(inputs->files); i++) {
		if (inputs->files[i] >= 0)
			close(inputs->files[i]);
		inputs->files[i] = -1;
	}
}

static void close_relays(struct terminal *terminal)
{
	for (size_t i = 0; i < RELAYS_MAX; i++)
		relay_close(&terminal->relays[i]);
}

void terminal_leave(struct terminal *terminal, struct terminal_inputs *inputs)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (inputs->files[file] >= 0)
			(void)dup2(inputs->files[file], file);
	/* As on the terminal: a line is seen when it ends. */
	if (inputs->files[STDOUT_FILENO] >= 0)
		setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	terminal_inputs_close(inputs);
	close_relays(terminal);
}

/* --- what comes through ------------------------------------------------------------------------
 */

static void say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

static void hide_progress(struct terminal *terminal)
{
	if (terminal->has_progress)
		say(ERASE_LINE);
	terminal->has_progress = false;
}

/* One part of what is there; it closes a relay that has ended. */
static enum relay_result pass_on(struct terminal *terminal, struct relay *relay)
{
	enum relay_result result = relay_read(relay);
	if (result == RELAY_MOVED && !relay->program)
		hide_progress(terminal);
	if (result == RELAY_MOVED)
		result = relay_write(relay);
	if (result == RELAY_ENDED)
		relay_close(relay);
	return result;
}

/*
 * Waits for any of them, or for `waited` (NULL: nothing else), and passes on one part. A program
 * that has closed its input is seen even when nothing is written to it: the other process is to
 * hear of it as soon as without us.
 */
static void pass_round(struct terminal *terminal, struct pollfd *waited)
{
	/* No more than are open: poll() takes no more than there may be open files. */
	struct relay *relays[RELAYS_MAX];
	struct pollfd files[2 * RELAYS_MAX + 1];
	size_t count = 0;
	for (size_t i = 0; i < RELAYS_MAX; i++) {
		struct relay *relay = &terminal->relays[i];
		bool waits = relay->start < relay->size;
		if (!relay->is_open)
			continue;
		files[2 * count] = (struct pollfd){ waits ? -1 : relay->from, POLLIN, 0 };
		files[2 * count + 1] =
			(struct pollfd){ relay->program ? relay->to : -1, waits ? POLLOUT : 0, 0 };
		relays[count++] = relay;
	}
	files[2 * count] = waited ? *waited : (struct pollfd){ .fd = -1 };
	int ready = poll(files, 2 * count + 1, -1);
	if (ready < 0 && errno != EINTR)
		close_relays(terminal);
	for (size_t i = 0; i < count && ready > 0; i++) {
		if (files[2 * i + 1].revents & (POLLERR | POLLNVAL))
			relay_close(relays[i]);
		else if (files[2 * i].revents || files[2 * i + 1].revents)
			(void)pass_on(terminal, relays[i]);
	}
	if (waited && ready > 0)
		waited->revents = files[2 * count].revents;
}

void terminal_wait(struct terminal *terminal, int socket)
{
	struct pollfd waited = { .fd = socket, .events = POLLIN };
	while (!waited.revents)
		pass_round(terminal, &waited);
	terminal_settle(terminal);
}

void terminal_settle(struct terminal *terminal)
{
	for (size_t i = 0; i < RELAYS_MAX; i++) {
		struct relay *relay = &terminal->relays[i];
		enum relay_result result = RELAY_MOVED;
		for (int round = 0; round < SETTLE_ROUNDS && result == RELAY_MOVED; round++)
			result = relay->is_open && !relay->program ? pass_on(terminal, relay)
								   : RELAY_ENDED;
	}
}

void terminal_hand_over(struct terminal *terminal)
{
	hide_progress(terminal);
	terminal_settle(terminal);
	for (size_t i = 0; i < RELAYS_MAX; i++)
		if (terminal->relays[i].is_open && !terminal->relays[i].program)
			relay_interrupt(&terminal->relays[i]);
}

int terminal_filter_to(struct terminal *terminal, int to, pid_t program, int *ret)
{
	for (size_t i = 0; i < RELAYS_MAX; i++)
		if (!terminal->relays[i].is_open)
			return relay_open(&terminal->relays[i], to, program, ret);
	close(to);
	return EMFILE;
}

static bool is_fed(const struct terminal *terminal, pid_t program)
{
	for (size_t i = 0; i < RELAYS_MAX; i++)
		if (terminal->relays[i].is_open && terminal->relays[i].program == program)
			return true;
	return false;
}

void terminal_finish(struct terminal *terminal, pid_t program)
{
	while (is_fed(terminal, program))
		pass_round(terminal, NULL);
}

/* --- what is drawn here ------------------------------------------------------------------------
 */

bool terminal_progress(struct terminal *terminal, const char *text)
{
	size_t size = strlen(text);
	if (size > PROGRESS_MAX)
		return false;
	for (size_t at = 0, length; at < size; at += length) {
		length = escape_printable(text + at, size - at);
		if (!length)
			return false;
	}
	hide_progress(terminal);
	if (!size || !isatty(STDERR_FILENO))
		return true;
	say(ERASE_LINE);
	say(text);
	terminal->has_progress = true;
	return true;
}

struct helper_size terminal_size(void)
{
	struct winsize size = { 0 };
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return (struct helper_size){ size.ws_row, size.ws_col };
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* What a process that is gone has left for a program. */
static void feed_rest(struct relay *relay)
{
	struct pollfd waited = { .fd = relay->to, .events = POLLOUT };
	for (int round = 0; round < SETTLE_ROUNDS && relay_read(relay) == RELAY_MOVED; round++)
		while (relay_write(relay) == RELAY_EMPTY)
			(void)poll(&waited, 1, -1);
	relay_close(relay);
}

/* Unless it is somebody else's by now: of a shell that does not wait for us. */
static void restore_mode(const struct terminal *terminal)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO && terminal->has_mode; file++)
		if (isatty(file) && tcgetpgrp(file) == getpgrp() &&
		    !tcsetattr(file, TCSANOW, &terminal->mode))
			return;
}

/* `| head`: SIGPIPE is the usual end of a program. */
static bool is_output_left(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };
	return poll(&output, 1, 0) > 0 && output.revents & POLLERR;
}

bool terminal_close(struct terminal *terminal, bool was_left)
{
	terminal_hand_over(terminal);
	for (size_t i = 0; i < RELAYS_MAX; i++)
		if (terminal->relays[i].is_open && terminal->relays[i].program)
			feed_rest(&terminal->relays[i]);
	close_relays(terminal);
	/* After Ctrl-C everybody knows. */
	if (was_left || !terminal->is_there || interrupt_flag || is_output_left())
		return false;
	restore_mode(terminal);
	return true;
}
