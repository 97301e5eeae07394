// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/rights.h"

#include "base/sandbox.h"
#include "base/workers.h"
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define GIB	     (UINT64_C(1) << 30)
#define DATA_MIN     (GIB / 4)
#define DATA_BASE    GIB
#define DATA_FACTOR  4
#define FILE_BASE    (16 * GIB)
#define FILE_FACTOR  64
#define MORE_FILES   256
#define MORE_THREADS (WORKERS_MAX + 256)
/* /proc/kcore has the size of the address space: no dump is so large. */
#define INPUT_MAX (UINT64_C(1) << 46)

static void limit(int resource, uint64_t most)
{
	struct rlimit now;
	if (getrlimit(resource, &now))
		return;
	if (now.rlim_max > most)
		now.rlim_max = most;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	(void)setrlimit(resource, &now);
}

static void limit_all(uint64_t input, int highest)
{
	struct sysinfo machine;
	if (!sysinfo(&machine)) {
		uint64_t memory =
			(uint64_t)(machine.totalram + machine.totalswap) * machine.mem_unit;
		if (input > INPUT_MAX)
			input = memory;
		uint64_t data = DATA_BASE + DATA_FACTOR * input;
		if (data > memory)
			data = memory;
		/* The shadow of a sanitizer's build is larger than any memory. */
		if (!IS_SANITIZED)
			limit(RLIMIT_DATA, data > DATA_MIN ? data : DATA_MIN);
		limit(RLIMIT_FSIZE, FILE_BASE + FILE_FACTOR * input);
		limit(RLIMIT_NPROC, (uint64_t)machine.procs + MORE_THREADS);
	}
	/* What does not fit is an error of write(), which is told, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	limit(RLIMIT_CORE, 0);
	if (highest >= 0)
		limit(RLIMIT_NOFILE, (uint64_t)highest + 1 + MORE_FILES);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
	/* The bounding set first: that takes a capability. Behind the last one: EINVAL. */
	for (unsigned long number = 0; !prctl(PR_CAPBSET_DROP, number, 0, 0, 0); number++)
		;
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	memset(none, 0, sizeof(none));
	(void)syscall(SYS_capset, &header, none);
}

void rights_give_up(uint64_t input, int highest)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_all(input, highest);
	drop_capabilities();
	/* The leak checker traces. */
	if (!IS_SANITIZED)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
