// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/helper.h"

#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t limit_of(uint32_t kind)
{
	(void)kind;
	return HELPER_TEXT_MAX + sizeof(uint64_t);
}

bool helper_hear(struct helper_link *helper, struct message *ret)
{
	if (helper && helper->socket >= 0 && channel_receive(helper->socket, limit_of, ret))
		return true;
	*ret = (struct message){ .file = -1 };
	errno = ECHILD;
	return false;
}

bool helper_ask(struct helper_link *helper, enum helper_request request, const void *data,
		size_t size, struct message *ret)
{
	*ret = (struct message){ .file = -1 };
	if (!helper || helper->socket < 0 ||
	    !channel_send(helper->socket, request, data, size, -1)) {
		errno = ECHILD;
		return false;
	}
	if (!helper_hear(helper, ret))
		return false;
	int32_t number = EPROTO;
	if (ret->kind != HELPER_ERRNO)
		return true;
	if (ret->size == sizeof(number))
		memcpy(&number, ret->data, sizeof(number));
	message_deinit(ret);
	errno = number;
	return false;
}

bool helper_tell(struct helper_link *helper, enum helper_request request, const void *data,
		 size_t size)
{
	struct message reply;
	bool said = helper_ask(helper, request, data, size, &reply) && reply.kind == HELPER_OK;
	message_deinit(&reply);
	return said;
}

int helper_file(struct helper_link *helper, enum helper_request request, const char *text)
{
	struct message reply;
	if (!helper_ask(helper, request, text, text ? strlen(text) : 0, &reply))
		return -1;
	int file = reply.file;
	reply.file = -1;
	message_deinit(&reply);
	if (file < 0)
		errno = EPROTO;
	return file;
}

int helper_open(struct helper_link *helper, const char *path)
{
	int file;
	if (helper && opened_take(&helper->opened, path, &file))
		return file;
	if (helper && helper->is_asked_to_read)
		return helper_file(helper, HELPER_READ, path);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int helper_list(struct helper_link *helper, const char *folder)
{
	if (helper && helper->is_asked_to_read)
		return helper_file(helper, HELPER_LIST, folder);
	int file = memfd_create("btfcrash", MFD_CLOEXEC);
	if (file < 0 || folder_list(folder, file))
		return file;
	int why = errno;
	close(file);
	errno = why;
	return -1;
}

void helper_end(struct helper_link *helper)
{
	if (helper->socket < 0)
		return;
	(void)channel_send(helper->socket, HELPER_LEAVE, NULL, 0, -1);
	close(helper->socket);
	helper->socket = -1;
	while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
