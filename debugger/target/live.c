// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/live.h"

#include "base/helper.h"
#include "debugger/target/object.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A million programs or maps. */
#define LIST_LIMIT (512u << 20)

static struct error *read_file(int file, uint64_t limit, void **ret, size_t *ret_size)
{
	struct stat status;
	if (fstat(file, &status))
		return error_system("what the kernel said");
	size_t size = (size_t)status.st_size, done = 0;
	if (status.st_size < 0 || (uint64_t)status.st_size > limit)
		return error_create(ERROR_FORMAT, "the kernel said %zu bytes", size);
	uint8_t *data = malloc(size + 1);
	if (!data)
		return error_no_memory();
	while (done < size) {
		ssize_t part = pread(file, data + done, size - done, (off_t)done);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0) {
			free(data);
			return error_system("what the kernel said");
		}
		done += (size_t)part;
	}
	*ret = data;
	*ret_size = size;
	return NULL;
}

static struct error *ask(struct target *target, enum helper_request request, const char *text,
			 uint64_t limit, void **ret, size_t *ret_size)
{
	struct message reply;
	struct error *error;
	if (!target_is_live(target))
		return error_create(ERROR_UNSUPPORTED, "this is no running kernel");
	if (!helper_ask(target->helper, request, text, strlen(text), &reply))
		return error_system("the helper process");
	if (reply.kind == HELPER_OK && reply.file >= 0)
		error = read_file(reply.file, limit, ret, ret_size);
	else
		error = error_create(ERROR_UNSUPPORTED, "%s", (const char *)reply.data);
	message_deinit(&reply);
	return error;
}

static struct error *ask_list(struct target *target, enum helper_request request, size_t size,
			      void **ret, size_t *ret_count)
{
	TRY(ask(target, request, "", LIST_LIMIT, ret, ret_count));
	*ret_count /= size;
	return NULL;
}

struct error *live_btf(struct target *target, const char *name, uint64_t limit, void **ret,
		       size_t *ret_size)
{
	return ask(target, HELPER_KERNEL_BTF, name, limit, ret, ret_size);
}

struct error *live_programs(struct target *target, struct running_program **ret, size_t *ret_count)
{
	return ask_list(target, HELPER_BPF_PROGRAMS, sizeof(**ret), (void **)ret, ret_count);
}

struct error *live_maps(struct target *target, struct running_map **ret, size_t *ret_count)
{
	return ask_list(target, HELPER_BPF_MAPS, sizeof(**ret), (void **)ret, ret_count);
}
