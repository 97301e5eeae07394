// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Landlock by its system calls: the C library has none of them, and headers are older than kernels.
 * Numbers are those of linux/landlock.h and of all machines.
 */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL_CREATE   444
#define CALL_ADD      445
#define CALL_RESTRICT 446

#define CREATE_VERSION	  1u
#define RULE_PATH_BENEATH 1

#define READ_FILE   (UINT64_C(1) << 2)
#define READ_FOLDER (UINT64_C(1) << 3)
/* What each version of the interface can forbid, all of which is. */
#define RIGHTS_1   ((UINT64_C(1) << 13) - 1)
#define RIGHTS_2   (RIGHTS_1 | UINT64_C(1) << 13) /* linking elsewhere */
#define RIGHTS_3   (RIGHTS_2 | UINT64_C(1) << 14) /* truncating */
#define RIGHTS_5   (RIGHTS_3 | UINT64_C(1) << 15) /* ioctl() on devices */
#define RIGHTS_NET 3u				  /* 4: bind and connect */
#define SCOPES	   3u				  /* 6: abstract sockets, signals */

struct attributes {
	uint64_t files, net, scopes;
};

struct rule {
	uint64_t rights;
	int32_t folder;
} __attribute__((packed));

/* A kernel takes no more of the struct than its version has. */
static size_t attributes_of(int version, struct attributes *ret)
{
	*ret = (struct attributes){ .files = version >= 5   ? RIGHTS_5
					     : version >= 3 ? RIGHTS_3
					     : version == 2 ? RIGHTS_2
							    : RIGHTS_1 };
	if (version < 4)
		return sizeof(ret->files);
	ret->net = RIGHTS_NET;
	if (version < 6)
		return sizeof(ret->files) + sizeof(ret->net);
	ret->scopes = SCOPES;
	return sizeof(*ret);
}

/* Reading of all that is in a folder. */
static void allow(int ruleset, const char *path)
{
	struct rule rule = { .rights = READ_FILE | READ_FOLDER,
			     .folder = open(path, O_PATH | O_CLOEXEC) };
	if (rule.folder < 0)
		return;
	(void)syscall(CALL_ADD, ruleset, RULE_PATH_BENEATH, &rule, 0);
	close(rule.folder);
}

static bool restrict_to(int ruleset)
{
	if (IS_SANITIZED)
		allow(ruleset, "/proc");
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(CALL_RESTRICT, ruleset, 0);
}

int landlock_enter(const char **ret_lack)
{
	struct attributes attributes;
	long version = syscall(CALL_CREATE, NULL, 0, CREATE_VERSION);
	*ret_lack = NULL;
	if (version <= 0) {
		*ret_lack = errno == EOPNOTSUPP ? "this kernel was started without it"
						: "this kernel has none";
		return 0;
	}
	if (version > 6)
		version = 6;
	size_t size = attributes_of((int)version, &attributes);
	long ruleset = syscall(CALL_CREATE, &attributes, size, 0);
	bool restricted = ruleset >= 0 && restrict_to((int)ruleset);
	if (ruleset >= 0)
		close((int)ruleset);
	if (!restricted)
		*ret_lack = "it was refused";
	return restricted ? (int)version : 0;
}
