// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A process whose core the kernel has written, and which is still there: the
 * kernel waits until the program that reads the core has closed the pipe, and
 * keep_core never does.  All threads have known registers.
 */
#define _GNU_SOURCE
#include "states.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	   16
#define STACK_SIZE 65536
#define ALL_KINDS  "0xff" /* of mappings: pages of files, too */

/* What rbx, rbp, r12 to r15 and the vector registers hold, plus the thread's number; the upper half
 * of ymm0: the complement. */
#define KNOWN 0x1122334455667700

static atomic_int arrived;

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

static void *map(size_t pages, int protection, int flags, int file)
{
	void *memory = mmap(NULL, pages * 4096, protection, flags, file, 0);
	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	return memory;
}

static void fill(char *memory, const char *what, int pages)
{
	for (int page = 0; page < pages; page++)
		sprintf(memory + page * 4096, "btfcrash %s page %d", what, page);
}

/* Of each kind: private, shared, of a file, of a file and written to, protected, with holes. */
static void map_all_kinds(void)
{
	const int both = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	fill(map(PAGES, both, anonymous, -1), "private", PAGES);
	fill(map(PAGES, both, MAP_SHARED | MAP_ANONYMOUS, -1), "shared", PAGES);
	char *some = map(PAGES, both, anonymous, -1);
	sprintf(some + 5 * 4096, "btfcrash page after a hole");
	char *protected = map(PAGES, both, anonymous, -1);
	fill(protected, "protected", PAGES);
	mprotect(protected, PAGES * 4096, PROT_NONE);
	map(PAGES, both, anonymous, -1);
	const volatile char *read = map(PAGES, PROT_READ, anonymous, -1);
	(void)read[0]; /* the zero page */

	int file = open("/tmp/mapped-file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(file, "open");
	must(ftruncate(file, PAGES * 4096), "ftruncate");
	fill(map(PAGES, both, MAP_SHARED, file), "file", PAGES);
	fill(map(PAGES, both, MAP_PRIVATE, file), "written", PAGES / 2);
	map(PAGES, PROT_READ, MAP_PRIVATE, file);
	close(file);

	char *paged = map(PAGES, both, anonymous, -1);
	fill(paged, "paged", PAGES);
	madvise(paged, PAGES * 4096, MADV_PAGEOUT);
}

/* Upper halves of vector registers, which instructions of SSE leave as they are. */
static void known_upper_halves(unsigned long value)
{
	if (__builtin_cpu_supports("avx"))
		asm volatile("movq %[value], %%xmm0\n\t"
			     "punpcklqdq %%xmm0, %%xmm0\n\t"
			     "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm15\n\t"
			     "movq %[complement], %%xmm0\n\t"
			     "punpcklqdq %%xmm0, %%xmm0\n\t"
			     "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0"
			     :
			     : [value] "r"(value), [complement] "r"(~value));
}

/*
 * Known values into the registers, and then for ever in a system call, or, with `call` -1, an
 * instruction that is none.
 */
static void known_registers(long number, long call)
{
	unsigned long value = KNOWN + number, time[2] = { 100000000, 0 };
	unsigned int rounding = 0x1f80 | (number & 3) << 13;
	known_upper_halves(value);
	asm volatile("ldmxcsr %[rounding]\n\t"
		     "fldpi\n\t"
		     "fildll %[memory]\n\t"
		     "movq %[value], %%xmm0\n\t"
		     "punpcklqdq %%xmm0, %%xmm0\n\t"
		     "movdqa %%xmm0, %%xmm1\n\tpaddq %%xmm0, %%xmm1\n\t"
		     "movdqa %%xmm0, %%xmm7\n\tpslldq $3, %%xmm7\n\t"
		     "movdqa %%xmm0, %%xmm15\n\tpsrldq $5, %%xmm15\n\t"
		     "mov %[value], %%r12\n\t"
		     "lea 0x10(%%r12), %%r13\n\t"
		     "lea 0x20(%%r12), %%r14\n\t"
		     "lea 0x30(%%r12), %%r15\n\t"
		     "lea 0x40(%%r12), %%rbx\n\t"
		     "sub $128, %%rsp\n\t" /* what is below it is in use */
		     "push %%rbp\n\t"
		     "lea 0x50(%%r12), %%rbp\n\t"
		     "test %%rax, %%rax\n\t"
		     "js 1f\n"
		     "0:\tsyscall\n\t"
		     "jmp 0b\n"
		     "1:\tud2\n\t"
		     "pop %%rbp\n\t"
		     "add $128, %%rsp"
		     :
		     : "a"(call), "D"(time),
		       "S"(0), [value] "d"(value), [memory] "m"(value), [rounding] "m"(rounding)
		     : "rbx", "r12", "r13", "r14", "r15", "rcx", "r11", "memory", "cc");
}

static void *thread_main(void *number)
{
	static const long calls[] = { 0, SYS_pause, SYS_nanosleep };
	char comm[16];
	long own = (long)(intptr_t)number;
	snprintf(comm, sizeof(comm), "dumped-%ld", own);
	prctl(PR_SET_NAME, comm);
	atomic_fetch_add(&arrived, 1);
	known_registers(own, calls[own]);
	return NULL;
}

void enter_dumped(void)
{
	pthread_attr_t attributes;
	static char stacks[2][STACK_SIZE] __attribute__((aligned(4096)));
	write_to("/proc/self/coredump_filter", ALL_KINDS);
	map_all_kinds();
	for (intptr_t i = 1; i <= 2; i++) {
		pthread_t thread;
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stacks[i - 1], STACK_SIZE);
		if (pthread_create(&thread, &attributes, thread_main, (void *)i))
			give_up("pthread_create");
	}
	while (atomic_load(&arrived) < 2)
		sleep_ms(10);
	sleep_ms(200);
	known_registers(3, -1);
}
