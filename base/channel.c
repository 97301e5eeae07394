// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct header {
	uint32_t kind, size;
};

/* Room for one file's number. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* All of the bytes in one direction: what a call leaves over goes with the next. */
static bool move_bytes(int socket, void *data, size_t size, bool is_sent)
{
	while (size) {
		ssize_t part = is_sent ? send(socket, data, size, MSG_NOSIGNAL)
				       : read(socket, data, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		data = (uint8_t *)data + part;
		size -= (size_t)part;
	}
	return true;
}

static bool send_bytes(int socket, const void *data, size_t size)
{
	return move_bytes(socket, (void *)data, size, true);
}

static bool receive_bytes(int socket, void *buffer, size_t size)
{
	return move_bytes(socket, buffer, size, false);
}

/* A header is small: it goes whole, or not at all. */
static bool send_with_file(int socket, struct header *header, int file)
{
	union control control;
	struct iovec part = { header, sizeof(*header) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	memset(&control, 0, sizeof(control));
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(item), &file, sizeof(file));
	ssize_t sent;
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*header);
}

bool channel_send(int socket, uint32_t kind, const void *data, size_t size, int file)
{
	struct header header = { kind, (uint32_t)size };
	if (size > UINT32_MAX)
		return false;
	bool sent = file < 0 ? send_bytes(socket, &header, sizeof(header))
			     : send_with_file(socket, &header, file);
	return sent && send_bytes(socket, data, size);
}

/* The first file that came; whatever else did is closed. */
static int take_file(struct msghdr *message)
{
	int file = -1;
	for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item;
	     item = CMSG_NXTHDR(message, item)) {
		if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= item->cmsg_len;
		     at += sizeof(int)) {
			int one;
			memcpy(&one, (uint8_t *)item + at, sizeof(one));
			if (file < 0)
				file = one;
			else
				close(one);
		}
	}
	return file;
}

static bool receive_header(int socket, struct header *header, int *ret_file)
{
	union control control;
	struct iovec part = { header, sizeof(*header) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	ssize_t size;
	*ret_file = -1;
	do
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size <= 0)
		return false;
	*ret_file = take_file(&message);
	return receive_bytes(socket, (uint8_t *)header + size, sizeof(*header) - (size_t)size);
}

bool channel_receive(int socket, channel_limit *limit, struct message *ret)
{
	struct header header;
	*ret = (struct message){ .file = -1 };
	bool good = receive_header(socket, &header, &ret->file);
	if (good && header.size <= limit(header.kind))
		ret->data = malloc((size_t)header.size + 1);
	if (!ret->data || !receive_bytes(socket, ret->data, header.size)) {
		message_deinit(ret);
		return false;
	}
	ret->data[header.size] = 0;
	ret->kind = header.kind;
	ret->size = header.size;
	return true;
}

void message_deinit(struct message *message)
{
	free(message->data);
	if (message->file >= 0)
		close(message->file);
	*message = (struct message){ .file = -1 };
}
