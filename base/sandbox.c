// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/sandbox.h"

#include "base/rights.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_END    65536 /* numbers of open files: parts of a dump may be thousands */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* By number: -1 is none of this machine's. */
static const int allowed[] = {
	/* files that are open; sendfile and the like are not asked for */
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(fstat64),
	SCMP_SYS(fstatfs),
	SCMP_SYS(fstatfs64),
	SCMP_SYS(fadvise64),
	SCMP_SYS(fadvise64_64),
	SCMP_SYS(readahead),
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
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
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
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
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

/*
 * Refused, and not deadly: libraries try it and live without. Behind each name who does.
 */
static const int tolerated[] = {
	/* glibc: processors online, memory, character sets, time zones; dlopen() */
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(stat),
	SCMP_SYS(stat64),
	SCMP_SYS(lstat),
	SCMP_SYS(lstat64),
	SCMP_SYS(statx),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	/* SQLite: names of files, of which it opens none */
	SCMP_SYS(getcwd),
	/* isatty() of newer C libraries */
	SCMP_SYS(ioctl),
	/* glibc: names of its memory and threads, shadow stacks */
	SCMP_SYS(prctl),
	SCMP_SYS(arch_prctl),
	/* pthread_create(): older kernels have none */
	SCMP_SYS(clone3),
	/* pthread_getattr_np() and sysconf() may ask with it, and may set nothing */
	SCMP_SYS(prlimit64),
};

/* The first filter says how they are allowed. */
static const int conditional[] = { SCMP_SYS(clone), SCMP_SYS(tgkill), SCMP_SYS(sendto) };

/* Where the last filter cannot be laid, these are. */
static const int deadly[] = {
	/* programs and processes */
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(kill),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(process_madvise),
	SCMP_SYS(kcmp),
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

/* All that is read is open: opening is refused, and deadly with each bit that is not for reading.
 */
static int add_opening(scmp_filter_ctx filter, int call, unsigned int flags)
{
	static const uint32_t bits[] = { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC };
	const uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC;
	int status = 0;
	if (call < 0)
		return 0;
	if (IS_SANITIZED)
		status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
					  SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, writes, O_RDONLY));
	for (size_t i = 0; i < COUNT(bits) && !status; i++)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 1,
					  SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
	return status;
}

/* fstat(), as newer C libraries ask for it: no path is looked up. */
static int add_status(scmp_filter_ctx filter)
{
	return SCMP_SYS(newfstatat) < 0
		       ? 0
		       : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
					  SCMP_CMP(3, SCMP_CMP_EQ, AT_EMPTY_PATH, 0));
}

/*
 * The size of a disk. The process has no terminal: to the question whether a file is one, which the
 * C library asks of each device that it opens as a stream, the answer is no. All else that has to
 * do with terminals is deadly; typing into the user's one is among it.
 */
static int add_ioctl(scmp_filter_ctx filter)
{
	static const uint32_t questions[] = { 0x5401 /* TCGETS */, 0x802c542a /* TCGETS2 */ };
	const int call = SCMP_SYS(ioctl);
	int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				      SCMP_CMP(1, SCMP_CMP_EQ, 0x80081272 /* BLKGETSIZE64 */, 0));
	for (size_t i = 0; i < COUNT(questions) && !status; i++)
		status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(25 /* ENOTTY */), call, 1,
					  SCMP_CMP(1, SCMP_CMP_EQ, questions[i], 0));
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 1,
					  SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffffffff, 0x5400));
	/* 0x5402 to 0x54ff, TCSETS and so on: by the highest bit of the last byte. */
	for (uint32_t bit = 2; bit <= 0x80 && !status; bit *= 2)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 1,
					  SCMP_CMP(1, SCMP_CMP_MASKED_EQ,
						   0xffffff00 | (0x100 - bit), 0x5400 | bit));
	return status;
}

/* What fcntl() is used for: it could also have signals sent to others. */
static int add_fcntl(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(fcntl), SCMP_SYS(fcntl64) };
	static const uint32_t commands[] = { F_GETFD, F_SETFD, F_GETFL };
	int status = 0;
	for (size_t i = 0; i < COUNT(calls) * COUNT(commands) && !status; i++) {
		int call = calls[i / COUNT(commands)];
		if (call >= 0)
			status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
						  SCMP_CMP(1, SCMP_CMP_EQ,
							   commands[i % COUNT(commands)], 0));
	}
	return status;
}

/* A clone() with all of `flags` and none of `others` is answered so. */
static int add_clone(scmp_filter_ctx filter, uint32_t action, uint64_t flags, uint64_t others)
{
	return seccomp_rule_add(filter, action, SCMP_SYS(clone), 1,
				SCMP_CMP(0, SCMP_CMP_MASKED_EQ, flags | others, flags));
}

/*
 * A thread, not a process, and with no namespace of its own; clone3()'s flags are in memory, where
 * no filter sees them: glibc falls back when it is not there.
 */
static int add_threads(scmp_filter_ctx filter)
{
	static const uint64_t namespaces[] = { CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
					       CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
					       CLONE_NEWNET };
	const uint64_t sanitizers = IS_SANITIZED ? CLONE_VM : 0;
	uint64_t all = 0;
	for (size_t i = 0; i < COUNT(namespaces); i++)
		all |= namespaces[i];
	int status = add_clone(filter, SCMP_ACT_ALLOW, CLONE_THREAD, all);
	if (!status && IS_SANITIZED)
		status = add_clone(filter, SCMP_ACT_ALLOW, CLONE_VM, CLONE_THREAD | all);
	if (!status)
		status = add_clone(filter, SCMP_ACT_KILL_PROCESS, 0, CLONE_THREAD | sanitizers);
	for (size_t i = 0; i < COUNT(namespaces) && !status; i++)
		status = add_clone(filter, SCMP_ACT_KILL_PROCESS, namespaces[i], 0);
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_ERRNO(38 /* ENOSYS */), SCMP_SYS(clone3),
					  0);
	return status;
}

/* Signals to this process alone: raise() and abort() need them. */
static int add_signals(scmp_filter_ctx filter)
{
	uint64_t self = (uint64_t)getpid();
	int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				      SCMP_CMP(0, SCMP_CMP_EQ, self, 0));
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(tgkill), 1,
					  SCMP_CMP(0, SCMP_CMP_NE, self, 0));
	return status;
}

/* Allowed of any file but the standard ones. */
static int add_of_others(scmp_filter_ctx filter, int call)
{
	/* The kernel looks at 32 bits of the number and SCMP_CMP_GT at 64: one bit from 2 on, or 3.
	 */
	int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
				      SCMP_CMP(0, SCMP_CMP_EQ, STDERR_FILENO + 1, 0));
	for (uint64_t bit = 4; bit < FILES_END && !status; bit *= 2)
		status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
					  SCMP_CMP(0, SCMP_CMP_MASKED_EQ, bit, bit));
	return status;
}

/*
 * Not the terminal: what the user types is for the helper, and for the programs that it runs. Nor
 * is the place moved at which they go on reading or writing a standard file, which all share: the
 * helper would take the end of a line for one.
 */
static int add_reading(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek),
				     SCMP_SYS(_llseek), SCMP_SYS(recvmsg) };
	int status = 0;
	for (size_t i = 0; i < COUNT(calls) && !status; i++)
		if (calls[i] >= 0)
			status = add_of_others(filter, calls[i]);
	return status;
}

/* Over a socket that is connected: to nobody else. */
static int add_sending(scmp_filter_ctx filter)
{
	int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1,
				      SCMP_CMP(4, SCMP_CMP_EQ, 0, 0));
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(sendto), 1,
					  SCMP_CMP(4, SCMP_CMP_NE, 0, 0));
	return status;
}

/* This process' limits may be asked for, not set. */
static int add_limits(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2,
				SCMP_CMP(0, SCMP_CMP_EQ, 0, 0), SCMP_CMP(2, SCMP_CMP_EQ, 0, 0));
}

/* Memory never becomes code. */
static int add_mapping(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect) };
	int status = 0;
	for (size_t i = 0; i < COUNT(calls) && !status; i++)
		if (calls[i] >= 0)
			status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 1,
						  SCMP_CMP(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return status;
}

static const int sanitizers[] = { SCMP_SYS(ptrace),	SCMP_SYS(prctl),    SCMP_SYS(pipe),
				  SCMP_SYS(pipe2),	SCMP_SYS(getppid),  SCMP_SYS(getdents),
				  SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
				  SCMP_SYS(newfstatat), SCMP_SYS(stat),	    SCMP_SYS(access) };
static const int tracing[] = { SCMP_SYS(ptrace) };

static int add_rules(scmp_filter_ctx filter)
{
	int status = add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
	if (!status)
		status = add_all(filter, SCMP_ACT_KILL_PROCESS, deadly, COUNT(deadly));
	if (!status && IS_SANITIZED)
		status = add_all(filter, SCMP_ACT_ALLOW, sanitizers, COUNT(sanitizers));
	else if (!status)
		status = add_all(filter, SCMP_ACT_KILL_PROCESS, tracing, COUNT(tracing));
	if (!status)
		status = add_opening(filter, SCMP_SYS(openat), 2);
	if (!status)
		status = add_opening(filter, SCMP_SYS(open), 1);
	if (!status)
		status = add_ioctl(filter);
	if (!status)
		status = add_mapping(filter);
	if (!status)
		status = add_reading(filter);
	if (!status)
		status = add_sending(filter);
	if (!status)
		status = add_limits(filter);
	if (!status)
		status = add_status(filter);
	if (!status)
		status = add_fcntl(filter);
	if (!status)
		status = add_signals(filter);
	/* For the seal: a further filter takes rights, it gives none. */
	if (!status)
		status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(seccomp), 2,
					  SCMP_CMP(0, SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER, 0),
					  SCMP_CMP(1, SCMP_CMP_EQ, 0, 0));
	return status ? status : add_threads(filter);
}

/*
 * On top of the first filter: of two answers the harder one holds, and what this one does not have
 * is deadly.
 */
static int add_seal(scmp_filter_ctx filter)
{
	int status = add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
	if (!status)
		status = add_all(filter, SCMP_ACT_ALLOW, tolerated, COUNT(tolerated));
	if (!status)
		status = add_all(filter, SCMP_ACT_ALLOW, conditional, COUNT(conditional));
	if (!status && IS_SANITIZED)
		status = add_all(filter, SCMP_ACT_ALLOW, sanitizers, COUNT(sanitizers));
	if (!status)
		status = add_reading(filter);
	if (!status)
		status = add_fcntl(filter);
	return status ? status : add_mapping(filter);
}

/* `again`: by a process that has no more new privileges already, and may not say so. */
static int load(uint32_t otherwise, bool again, int (*add)(scmp_filter_ctx filter))
{
	scmp_filter_ctx filter = seccomp_init(otherwise);
	if (!filter)
		return -ENOMEM;
	int status = again ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) : 0;
	if (!status)
		status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!status)
		status = add(filter);
	if (!status)
		status = seccomp_load(filter);
	seccomp_release(filter);
	return status;
}

void sandbox_enter(struct sandbox *sandbox)
{
	*sandbox = (struct sandbox){ 0 };
	sandbox->landlock = landlock_enter(&sandbox->landlock_lack);
	int status = load(SCMP_ACT_ERRNO(1 /* EPERM */), false, add_rules);
	sandbox->seccomp = !status;
	sandbox->sealed = !status && !load(SCMP_ACT_KILL_PROCESS, true, add_seal);
	if (status)
		sandbox->lack = error_create(ERROR_UNSUPPORTED,
					     "no sandbox: seccomp filters are not to be had here "
					     "(%s)",
					     strerror(-status));
}

int sandbox_look(int (*look)(int file), int file)
{
	int status = -1;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		struct sandbox sandbox;
		rights_give_up(0, file);
		sandbox_enter(&sandbox);
		_exit(look(file));
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void sandbox_deinit(struct sandbox *sandbox)
{
	error_free(sandbox->lack);
	*sandbox = (struct sandbox){ 0 };
}
