// SPDX-License-Identifier: GPL-3.0-or-later
/* Rights that are given up: capabilities, and what is without end. */
#include "tests/unit/test.h"

#include "base/rights.h"
#include "base/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

static bool holds(bool (*check)(void), uint64_t input)
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		rights_give_up(input, 9);
		_exit(!check());
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* CapInh, CapPrm, CapEff, CapBnd, CapAmb: zeros. */
static bool has_no_capability(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long long value;
	unsigned int zeros = 0, sets = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Cap%*3s: %llx", &value) != 1)
			continue;
		sets++;
		/* Who has none has no right to make the bounding set smaller either. */
		zeros += !value || (geteuid() && !strncmp(line, "CapBnd", 6));
	}
	return sets == 5 && zeros == sets;
}

static bool gains_nothing(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
	       (IS_SANITIZED || !prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit = { 0 };
	CHECK(!getrlimit(resource, &limit) && limit.rlim_cur <= limit.rlim_max);
	return limit.rlim_max;
}

static bool leaves_no_core(void)
{
	return !limit_of(RLIMIT_CORE);
}

static bool has_no_memory_without_end(void)
{
	if (IS_SANITIZED)
		return true;
	void *little =
		mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *much = mmap(NULL, 2 * GIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return little != MAP_FAILED && much == MAP_FAILED && errno == ENOMEM &&
	       limit_of(RLIMIT_DATA) <= GIB && limit_of(RLIMIT_DATA) >= GIB / 4;
}

/* A larger dump, and no more than there is. */
static bool has_the_machine(void)
{
	struct sysinfo machine;
	CHECK(!sysinfo(&machine));
	uint64_t memory = (uint64_t)(machine.totalram + machine.totalswap) * machine.mem_unit;
	return IS_SANITIZED || limit_of(RLIMIT_DATA) == (memory > GIB / 4 ? memory : GIB / 4);
}

static bool writes_no_file_without_end(void)
{
	char path[] = "/tmp/rights-test-XXXXXX";
	int file = mkstemp(path);
	bool good = file >= 0 && !unlink(path) && pwrite(file, "x", 1, (off_t)GIB) == 1 &&
		    pwrite(file, "x", 1, (off_t)(16 * GIB)) < 0 && errno == EFBIG;
	return good && limit_of(RLIMIT_FSIZE) == 16 * GIB;
}

static bool opens_no_files_without_end(void)
{
	return dup2(STDERR_FILENO, 9 + 256) == 9 + 256 && dup2(STDERR_FILENO, 9 + 256 + 1) < 0 &&
	       errno == EBADF;
}

/* Of root the kernel counts none. */
static bool has_no_threads_without_end(void)
{
	struct sysinfo machine;
	CHECK(!sysinfo(&machine));
	return limit_of(RLIMIT_NPROC) < (uint64_t)machine.procs + 1024;
}

static void test_capabilities(void)
{
	CHECK(holds(has_no_capability, 0));
	CHECK(holds(gains_nothing, 0));
}

static void test_limits(void)
{
	CHECK(holds(leaves_no_core, 0));
	CHECK(holds(has_no_memory_without_end, 0));
	CHECK(holds(has_the_machine, UINT64_C(1) << 45));
	/* /proc/kcore. */
	CHECK(holds(has_the_machine, UINT64_C(1) << 47));
	CHECK(holds(writes_no_file_without_end, 0));
	CHECK(holds(opens_no_files_without_end, 0));
	CHECK(holds(has_no_threads_without_end, 0));
}

int main(void)
{
	RUN(test_capabilities);
	RUN(test_limits);
	return test_finish();
}
