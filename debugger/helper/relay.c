// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/helper/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static bool set_nonblocking(int file)
{
	int flags = fcntl(file, F_GETFL);
	return flags >= 0 && fcntl(file, F_SETFL, flags | O_NONBLOCK) >= 0;
}

int relay_open(struct relay *relay, int to, pid_t program, int *ret_input)
{
	int ends[2] = { -1, -1 };
	char *bytes = malloc(TERMINAL_FILTER_ROOM(RELAY_BYTES));
	/* A terminal's file is shared with other programs, for which it has to block. */
	bool good = to >= 0 && bytes && !pipe2(ends, O_CLOEXEC) && set_nonblocking(ends[0]) &&
		    (!program || set_nonblocking(to));
	if (!good) {
		int status = errno ? errno : ENOMEM;
		for (int i = 0; i < 2; i++)
			if (ends[i] >= 0)
				close(ends[i]);
		if (to >= 0)
			close(to);
		free(bytes);
		return status;
	}
	*relay = (struct relay){
		.is_open = true, .from = ends[0], .to = to, .program = program, .bytes = bytes
	};
	*ret_input = ends[1];
	return 0;
}

void relay_close(struct relay *relay)
{
	if (!relay->is_open)
		return;
	close(relay->from);
	close(relay->to);
	free(relay->bytes);
	*relay = (struct relay){ 0 };
}

enum relay_result relay_read(struct relay *relay)
{
	char bytes[RELAY_BYTES];
	ssize_t size;
	if (relay->start < relay->size)
		return RELAY_MOVED;
	if (relay->has_ended)
		return RELAY_ENDED;
	do
		size = read(relay->from, bytes, sizeof(bytes));
	while (size < 0 && errno == EINTR);
	if (size < 0 && errno == EAGAIN)
		return RELAY_EMPTY;
	relay->has_ended = size <= 0;
	relay->start = 0;
	relay->size = relay->has_ended ? terminal_filter_end(&relay->filter, relay->bytes)
				       : terminal_filter_pass(&relay->filter, bytes, (size_t)size,
							      relay->bytes);
	return relay->has_ended && !relay->size ? RELAY_ENDED : RELAY_MOVED;
}

/* Of a terminal's file that somebody made one that does not block. */
static bool wait_to_write(const struct relay *relay)
{
	struct pollfd waiting = { .fd = relay->to, .events = POLLOUT };
	return !relay->program && (poll(&waiting, 1, -1) >= 0 || errno == EINTR);
}

enum relay_result relay_write(struct relay *relay)
{
	while (relay->start < relay->size) {
		ssize_t size =
			write(relay->to, relay->bytes + relay->start, relay->size - relay->start);
		if (size >= 0)
			relay->start += (size_t)size;
		else if (errno == EAGAIN && relay->program)
			return RELAY_EMPTY;
		else if (errno != EINTR && !(errno == EAGAIN && wait_to_write(relay)))
			return RELAY_ENDED;
	}
	return RELAY_MOVED;
}

void relay_interrupt(struct relay *relay)
{
	relay->start = 0;
	relay->size = terminal_filter_end(&relay->filter, relay->bytes);
	(void)relay_write(relay);
}
