// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The leak checker stops the process' threads with ptrace(). */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
	__has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* By number: -1 is none of this machine's. */
static const int allowed[] = {
	/* files that are open, or are opened to be read; sendfile and the like are not asked for */
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(readv),
	SCMP_SYS(preadv),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(fstat64),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(stat),
	SCMP_SYS(stat64),
	SCMP_SYS(lstat),
	SCMP_SYS(lstat64),
	SCMP_SYS(statx),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(getcwd),
	SCMP_SYS(fadvise64),
	SCMP_SYS(fadvise64_64),
	SCMP_SYS(readahead),
	SCMP_SYS(dup),
	SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64),
	/* output that is open */
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(select),
	SCMP_SYS(_newselect),
	SCMP_SYS(pselect6),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(mmap),
	SCMP_SYS(mmap2),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(mprotect),
	SCMP_SYS(madvise),
	SCMP_SYS(membarrier),
	/* threads */
	SCMP_SYS(futex),
	SCMP_SYS(futex_time64),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(getcpu),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(getppid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(tgkill),
	/* signals */
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigsuspend),
	SCMP_SYS(restart_syscall),
	/* clocks, limits, names, the end */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(setitimer),
	SCMP_SYS(getitimer),
	SCMP_SYS(getrandom),
	SCMP_SYS(getrusage),
	SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
	SCMP_SYS(getrlimit),
	SCMP_SYS(ugetrlimit),
	SCMP_SYS(times),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

static const int deadly[] = {
	/* programs and processes */
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	/* the net */
	SCMP_SYS(socket),
	SCMP_SYS(socketpair),
	SCMP_SYS(connect),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	/* files */
	SCMP_SYS(creat),
	SCMP_SYS(truncate),
	SCMP_SYS(ftruncate),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(link),
	SCMP_SYS(linkat),
	SCMP_SYS(symlink),
	SCMP_SYS(symlinkat),
	SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(rmdir),
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
	SCMP_SYS(chmod),
	SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(chown),
	SCMP_SYS(fchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(openat2),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	/* the machine */
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(bpf),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(setuid),
	SCMP_SYS(setgid),
	SCMP_SYS(setresuid),
	SCMP_SYS(setresgid),
	SCMP_SYS(capset),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
};

/* Terminal sizes and "is it a terminal" only: others could type into the user's terminal. */
static const uint32_t terminal_requests[] = { 0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */,
					      0x541b /* FIONREAD */,
					      0x80081272 /* BLKGETSIZE64 */ };

static int add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	int status = 0;
	for (size_t i = 0; i < count && !status; i++) {
		/* Below 0: another machine's call, which this one does not have. */
		if (calls[i] >= 0)
			status = seccomp_rule_add(filter, action, calls[i], 0);
	}
	return status;
}

/* Opening: for reading only, which O_TRUNC and O_CREAT are not. */
static int add_opening(scmp_filter_ctx filter, int call, unsigned int flags)
{
	const uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC;
	if (call < 0)
		return 0;
	int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				      SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, writes, O_RDONLY));
	/* What is not allowed is deadly: each bit that may be set. */
	static const uint32_t bits[] = { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC };
	for (size_t i = 0; i < COUNT(bits) && !status; i++)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 1,
					  SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
	return status;
}

static int add_rules(scmp_filter_ctx filter)
{
	int status = add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
	if (!status)
		status = add_all(filter, SCMP_ACT_KILL_PROCESS, deadly, COUNT(deadly));
	if (!status)
		status = add_opening(filter, SCMP_SYS(openat), 2);
	if (!status)
		status = add_opening(filter, SCMP_SYS(open), 1);
	for (size_t i = 0; i < COUNT(terminal_requests) && !status; i++)
		status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
					  SCMP_CMP(1, SCMP_CMP_EQ, terminal_requests[i], 0));
	/* A thread, not a process; clone3()'s flags are in memory, where no filter sees them: glibc
	 * falls back when it is not there. */
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
					  SCMP_CMP(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD,
						   CLONE_THREAD));
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
					  SCMP_CMP(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(38 /* ENOSYS */), SCMP_SYS(clone3),
					  0);
	return status;
}

struct error *sandbox_enter(void)
{
	if (IS_SANITIZED)
		return error_create(ERROR_UNSUPPORTED, "sandbox: not under a sanitizer");
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(1 /* EPERM */));
	if (!filter)
		return error_no_memory();
	int status = add_rules(filter);
	if (!status)
		status = seccomp_load(filter);
	seccomp_release(filter);
	if (status)
		return error_create(ERROR_UNSUPPORTED, "sandbox: no seccomp filter here: %s",
				    strerror(-status));
	return NULL;
}
