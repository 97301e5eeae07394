/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages between two processes over a stream socket: a kind, a size, bytes, and perhaps an open
 * file. Each side says how many bytes it will take; what is longer, cut off or of no kind that it
 * knows ends the talk.
 */
#ifndef BASE_CHANNEL_H
#define BASE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	uint32_t kind;
	uint8_t *data; /* owned; a NUL follows the bytes */
	size_t size;
	int file; /* -1: none came with it. Owned */
};

/* How many bytes a message of this kind may have. */
typedef size_t channel_limit(uint32_t kind);

/* `file` -1: none. False: nobody is there any more. */
bool channel_send(int socket, uint32_t kind, const void *data, size_t size, int file);
/* False: the end, or a message that is none. */
bool channel_receive(int socket, channel_limit *limit, struct message *ret);
void message_deinit(struct message *message);

#endif
