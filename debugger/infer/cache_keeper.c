// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/cache_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE_LIMIT (64u << 20) /* bytes of one result; tables have some megabytes */

struct message {
	struct cache_key key;
	uint64_t size;
};

static bool receive(int from, void *buffer, size_t size)
{
	while (size) {
		ssize_t part = read(from, buffer, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		buffer = (uint8_t *)buffer + part;
		size -= (size_t)part;
	}
	return true;
}

static bool send_all(int to, const void *buffer, size_t size)
{
	while (size) {
		ssize_t part = write(to, buffer, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		buffer = (const uint8_t *)buffer + part;
		size -= (size_t)part;
	}
	return true;
}

/* The child: nothing of what comes is believed but that it is bytes. */
static void keep(int from)
{
	char folder[CACHE_PATH_SIZE];
	struct message message;
	while (receive(from, &message, sizeof(message)) && message.size <= SIZE_LIMIT) {
		uint8_t *data = malloc(message.size ? message.size : 1);
		if (!data || !receive(from, data, message.size))
			break;
		if (cache_folder(true, folder, sizeof(folder)))
			(void)cache_file_write(folder, &message.key, data, message.size);
		free(data);
	}
}

bool cache_keeper_start(struct cache_keeper *keeper)
{
	char folder[CACHE_PATH_SIZE];
	int ends[2];
	*keeper = (struct cache_keeper){ .to = -1 };
	if (!cache_folder(false, folder, sizeof(folder)) || pipe2(ends, O_CLOEXEC))
		return false;
	keeper->child = fork();
	if (!keeper->child) {
		/* Ctrl-C is for the commands. The output is closed, for who reads it waits for its
		 * end. */
		signal(SIGINT, SIG_IGN);
		close(ends[1]);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		keep(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	if (keeper->child < 0) {
		close(ends[1]);
		return false;
	}
	keeper->to = ends[1];
	return true;
}

void cache_keeper_send(struct cache_keeper *keeper, const struct cache_key *key, const void *data,
		       size_t size)
{
	struct message message;
	/* No bytes between the members are sent that nobody wrote. */
	memset(&message, 0, sizeof(message));
	message.key = *key;
	message.size = size;
	if (keeper->to < 0 || size > SIZE_LIMIT)
		return;
	/* A child that is gone must not end the session. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	bool sent = send_all(keeper->to, &message, sizeof(message)) &&
		    send_all(keeper->to, data, size);
	signal(SIGPIPE, before);
	if (!sent)
		cache_keeper_end(keeper);
}

void cache_keeper_end(struct cache_keeper *keeper)
{
	if (keeper->to < 0)
		return;
	close(keeper->to);
	keeper->to = -1;
	while (waitpid(keeper->child, NULL, 0) < 0 && errno == EINTR)
		;
}
