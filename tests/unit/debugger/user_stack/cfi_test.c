// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Stacks of this very program, by the call frame information of what it has mapped, beside what the
 * C library finds; through a signal, too; and with bytes of that information changed.
 */
#include "debugger/user_stack/program.h"
#include "tests/unit/chance.h"
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/user_stack/cfi_rules.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES_MAX   64
#define PROGRAMS_MAX 32

/* --- the memory of this process, and its files ------------------------------------------------ */

/* A byte that reads as another one; 0: none does. */
static uint64_t changed_at;
static uint8_t changed_to;

static struct error *read_self(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = { buffer, size }, remote = { (void *)(uintptr_t)address, size };
	(void)memory;
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)size)
		return error_create_at(ERROR_FAULT, address, "nothing is there");
	if (changed_at - address < size)
		((uint8_t *)buffer)[changed_at - address] = changed_to;
	return NULL;
}

static struct memory self = { .read = read_self, .name = "self", .word_size = 8 };

struct file {
	struct memory memory;
	int fd;
};

static struct error *read_file(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	const struct file *file = (const struct file *)memory;
	if (pread(file->fd, buffer, size, (off_t)address) != (ssize_t)size)
		return error_create_at(ERROR_FAULT, address, "nothing is there");
	return NULL;
}

static struct mapped {
	struct program program;
	uint64_t end;
	int fd;
} programs[PROGRAMS_MAX];
static size_t program_count;

static int take_program(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t start = UINT64_MAX, end = 0;
	(void)size;
	(void)context;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + (segment->p_vaddr & ~4095ull);
		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		if (info->dlpi_addr + segment->p_vaddr + segment->p_memsz > end)
			end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
	}
	struct mapped *mapped = &programs[program_count++];
	mapped->program.start = start;
	mapped->end = end;
	mapped->fd = open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", O_RDONLY);
	/* The vDSO has no file. */
	if (mapped->fd >= 0) {
		struct file *file = calloc(1, sizeof(*file));
		file->memory = (struct memory){ .read = read_file, .word_size = 8 };
		file->fd = mapped->fd;
		mapped->program.file = &file->memory;
	}
	mapped->program.room = PROGRAMS_ROOM;
	CHECK_OK(program_read(&mapped->program, &self));
	return program_count == PROGRAMS_MAX;
}

static struct mapped *program_of(uint64_t address)
{
	for (size_t i = 0; i < program_count; i++)
		if (address >= programs[i].program.start && address < programs[i].end)
			return &programs[i];
	return NULL;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static struct taken {
	ucontext_t context;
	void *wanted[FRAMES_MAX];
	int wanted_count;
	struct cfi_registers frames[FRAMES_MAX];
	size_t count;
	unsigned int signals;
	bool is_whole;
} taken;

static void take_registers(const ucontext_t *context, struct cfi_registers *ret)
{
	static const int numbers[CFI_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
						    REG_RDI, REG_RBP, REG_RSP, REG_R8,	REG_R9,
						    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
						    REG_R15, REG_RIP };
	*ret = (struct cfi_registers){ 0 };
	for (unsigned int i = 0; i < CFI_REGISTERS; i++)
		cfi_set(ret, i, (uint64_t)context->uc_mcontext.gregs[numbers[i]]);
}

/* Follows the stack from where it was taken, while it is still there. */
static void follow(void)
{
	bool is_exact = true;
	taken.count = taken.signals = 0;
	taken.is_whole = false;
	take_registers(&taken.context, &taken.frames[0]);
	while (++taken.count < FRAMES_MAX) {
		struct cfi_registers *from = &taken.frames[taken.count - 1];
		enum cfi_result result = CFI_NOTHING;
		uint64_t code = from->values[CFI_RIP] - !is_exact;
		struct mapped *mapped = program_of(code);
		if (!mapped)
			return;
		struct error *error =
			cfi_step(&mapped->program.frames, code, from, from + 1, &result);
		if (error && !changed_at)
			printf("%s\n", error->message);
		error_free(error);
		taken.is_whole = !error && result == CFI_OUTERMOST;
		if (error || result == CFI_NOTHING || result == CFI_OUTERMOST)
			return;
		is_exact = result == CFI_SIGNAL_STEP;
		taken.signals += is_exact;
	}
}

static __attribute__((noinline)) void take(void)
{
	taken.wanted_count = backtrace(taken.wanted, FRAMES_MAX);
	getcontext(&taken.context);
	follow();
	__asm__ volatile("" ::: "memory");
}

/* Frames of different sizes; none is a tail call. */
static __attribute__((noinline)) int deep(int depth, void (*at_end)(void))
{
	volatile char room[64];
	room[0] = (char)depth;
	if (depth)
		depth = deep(depth - 1, at_end);
	else
		at_end();
	return depth + room[0];
}

/* A sanitizer's own backtrace() begins with a frame of its own. */
#ifdef __SANITIZE_ADDRESS__
#define OWN_FRAMES 1
#else
#define OWN_FRAMES 0
#endif

static void check_stack(void)
{
	size_t wanted_count = (size_t)taken.wanted_count - OWN_FRAMES;
	void *const *wanted = taken.wanted + OWN_FRAMES;
	CHECK(taken.is_whole);
	CHECK_U64(taken.count, wanted_count);
	/* The first one is where its own call was. */
	for (size_t i = 1; i < taken.count && i < wanted_count; i++)
		CHECK_U64(taken.frames[i].values[CFI_RIP], (uint64_t)(uintptr_t)wanted[i]);
}

static void test_calls(void)
{
	deep(10, take);
	CHECK(taken.count > 11);
	check_stack();
}

static void on_signal(int number)
{
	(void)number;
	take();
}

static void raise_one(void)
{
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

static void test_signals(void)
{
	signal(SIGUSR1, on_signal);
	deep(5, raise_one);
	CHECK_U64(taken.signals, 1);
	check_stack();
	/* On a stack of its own. */
	static char room[1 << 16];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	deep(5, raise_one);
	CHECK_U64(taken.signals, 1);
	check_stack();
}

/* Without .eh_frame_hdr, as static programs are. */
static void test_list(void)
{
	struct mapped *mapped = program_of((uint64_t)(uintptr_t)deep);
	struct cfi_table header = mapped->program.frames;
	struct cfi_table list = { .memory = &self };
	uint32_t distance;
	CHECK_OK(memory_read_u32(&self, header.address + 4, &distance));
	uint64_t section = header.address + 4 + (uint64_t)(int32_t)distance, size = 0;
	uint32_t length = 1;
	while (length) {
		CHECK_OK(memory_read_u32(&self, section + size, &length));
		size += length + 4;
	}
	CHECK_OK(cfi_table_list(&list, section, size));
	CHECK(list.count > 10);
	for (size_t i = 1; i < list.count; i++)
		CHECK(list.entries[i].start >= list.entries[i - 1].start);
	mapped->program.frames = list;
	deep(10, take);
	mapped->program.frames = header;
	check_stack();
	cfi_table_deinit(&list);
}

static void check_name(uint64_t address, const char *wanted, uint64_t offset)
{
	char name[256] = "";
	uint64_t got = 0;
	struct mapped *mapped = program_of(address);
	CHECK(mapped &&
	      program_symbol_at(&mapped->program, &self, address, name, sizeof(name), &got));
	CHECK_STRING(name, wanted);
	CHECK_U64(got, offset);
}

static void test_names(void)
{
	check_name((uint64_t)(uintptr_t)deep, "deep", 0);
	check_name((uint64_t)(uintptr_t)on_signal + 3, "on_signal", 3);
	/* One that is stripped has the names that others ask for. */
	char name[256] = "";
	uint64_t offset;
	uint64_t address = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
	struct mapped *mapped = program_of(address);
	CHECK(mapped &&
	      program_symbol_at(&mapped->program, &self, address, name, sizeof(name), &offset));
	CHECK(strstr(name, "qsort"));
	/* The vDSO is in memory alone. */
	bool is_there = false;
	for (size_t i = 0; i < program_count; i++) {
		struct program *program = &programs[i].program;
		for (size_t k = 0; !program->file && k < program->symbol_count; k++) {
			address = program->symbols[k].value + program->bias;
			is_there |= program_symbol_at(program, &self, address, name, sizeof(name),
						      &offset) &&
				    strstr(name, "clock_gettime") && !offset;
		}
	}
	CHECK(is_there);
}

/* Any byte of the tables may be any other one: a stack is then cut short, or goes astray. */
/* This program's file again, with another way to its tables. */
static void read_again(struct program *program, uint64_t room)
{
	const struct mapped *mapped = program_of((uint64_t)(uintptr_t)deep);
	*program = (struct program){ .start = mapped->program.start,
				     .file = mapped->program.file,
				     .room = room };
	CHECK_OK(program_read(program, &self));
}

static void forget(struct program *program)
{
	cfi_table_deinit(&program->frames);
	error_free(program->problem);
	free(program->symbols);
}

/* Without segments .eh_frame is where sections say, if nobody says how far it was moved. */
static void test_no_segments(void)
{
	struct program program;
	changed_at = program_of((uint64_t)(uintptr_t)deep)->program.start +
		     offsetof(ElfW(Ehdr), e_phentsize);
	changed_to = 1;
	read_again(&program, PROGRAMS_ROOM);
	changed_at = 0;
	CHECK(!program.frames.size && !program.frames.count);
	CHECK(program.symbol_count);
	forget(&program);
}

static void test_room(void)
{
	struct program program;
	read_again(&program, PROGRAMS_ROOM);
	CHECK(program.room < PROGRAMS_ROOM);
	CHECK(program.symbol_count && !program.problem);
	uint64_t taken_room = PROGRAMS_ROOM - program.room;
	forget(&program);
	read_again(&program, taken_room - 1);
	CHECK(!program.symbol_count && program.problem &&
	      strstr(program.problem->message, "larger tables"));
	forget(&program);
}

static void test_damage(void)
{
	static uint64_t state = 1;
	struct mapped *mapped = program_of((uint64_t)(uintptr_t)deep);
	const struct cfi_table *table = &mapped->program.frames;
	unsigned int short_ones = 0;
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t first = table->address, size = mapped->end - first;
		if (size > 0x3000)
			size = 0x3000;
		changed_at = first + next_random(&state) % size;
		changed_to = (uint8_t)next_random(&state);
		deep(3, take);
		short_ones += !taken.is_whole;
	}
	changed_at = 0;
	CHECK(short_ones > 2);
}

/* Instructions and expressions of any bytes at all. */
static void test_chance(void)
{
	static uint64_t state = 7;
	uint8_t bytes[48];
	struct cfi_registers registers, next;
	take_registers(&taken.context, &registers);
	for (unsigned int i = 0; i < 50000; i++) {
		struct cfi_row row;
		bool is_outermost;
		uint64_t value = 0;
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)next_random(&state);
		const struct cfi_cursor all = { .data = bytes, .size = sizeof(bytes) };
		const struct cfi_common common = { .code_factor = next_random(&state) % 3,
						   .data_factor = -8,
						   .return_register = CFI_RIP,
						   .instructions = { .data = bytes, .size = 8 } };
		struct error *error = cfi_rules_find(&common, all, 0x1000,
						     0x1000 + next_random(&state) % 64, &row);
		if (!error)
			error = cfi_rules_apply(&self, &common, &row, &registers, &next,
						&is_outermost);
		error_free(error);
		error_free(cfi_evaluate(&self, all, &registers, &value, &value));
	}
}

struct vector {
	const uint8_t bytes[16];
	size_t size;
	uint64_t wanted;
};

/* By hand from DWARF 5, 2.5. */
static void test_expressions(void)
{
	static const struct vector vectors[] = {
		/* lit7 */
		{ { 0x37 }, 1, 7 },
		/* const1s -2, const2u 0x1234, plus */
		{ { 0x09, 0xfe, 0x0a, 0x34, 0x12, 0x22 }, 6, 0x1232 },
		/* rsp + 16 of the linkage table's: breg7 8; breg16 0; lit15; and; lit11; ge; lit3;
		   shl; plus */
		{ { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 11, 0x1010 },
		/* lit1 lit2 swap minus: 2 - 1 */
		{ { 0x31, 0x32, 0x16, 0x1c }, 4, 1 },
		/* lit5 lit9 over minus: 9 - 5 */
		{ { 0x35, 0x39, 0x14, 0x1c }, 4, 4 },
		/* constu 300, dup, mul, const1u 2, shr */
		{ { 0x10, 0xac, 2, 0x12, 0x1e, 0x08, 2, 0x25 }, 8, 22500 },
		/* lit1 neg lit4 shra */
		{ { 0x31, 0x1f, 0x34, 0x26 }, 4, UINT64_MAX },
		/* lit3 plus_uconst 130 */
		{ { 0x33, 0x23, 0x82, 1 }, 4, 133 },
	};
	struct cfi_registers registers = { 0 };
	cfi_set(&registers, CFI_RSP, 0x1000);
	cfi_set(&registers, CFI_RIP, 0x40102b);
	for (size_t i = 0; i < ARRAY_COUNT(vectors); i++) {
		const struct cfi_cursor cursor = { .data = vectors[i].bytes,
						   .size = vectors[i].size };
		uint64_t value = 0;
		CHECK_OK(cfi_evaluate(&self, cursor, &registers, NULL, &value));
		CHECK_U64(value, vectors[i].wanted);
	}
}

int main(void)
{
	dl_iterate_phdr(take_program, NULL);
	RUN(test_calls);
	RUN(test_signals);
	RUN(test_list);
	RUN(test_names);
	RUN(test_no_segments);
	RUN(test_room);
	RUN(test_damage);
	RUN(test_chance);
	RUN(test_expressions);
	for (size_t i = 0; i < program_count; i++) {
		cfi_table_deinit(&programs[i].program.frames);
		error_free(programs[i].program.problem);
		free(programs[i].program.symbols);
		free(programs[i].program.file);
		if (programs[i].fd >= 0)
			close(programs[i].fd);
	}
	return test_finish();
}
