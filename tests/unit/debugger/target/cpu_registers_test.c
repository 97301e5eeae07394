// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whose registers are these? Four CPUs, ELF files with made notes, and the memory that a dying
 * kernel leaves: 0 was idle, 1 is offline, 2 is idle too and never answered, 3 panicked.
 */
#include "base/array.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/target/cpu_registers.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <elf.h>
#include <unistd.h>

#define CPUS	      4u
#define DATA	      0xffffffff82000000u
#define TABLES	      0xffffffff83000000u
#define PRSTATUS_SIZE 336u
/* The last register is cut; padding behind them does not matter. */
#define SHORT_PRSTATUS 327u
#define QEMU_SIZE      440u
#define PANIC_PID      77

/* As in the kernel: an ELF note with the name CORE. */
struct raw_note {
	uint32_t name_size, size, type;
	char name[8];
	uint8_t prstatus[PRSTATUS_SIZE];
	uint8_t end[12];
};

/* What lies at DATA. */
struct contents {
	uint64_t crash_notes; /* of CPU 0 */
	struct raw_note notes[CPUS];
	int32_t pids[CPUS][2]; /* each a task_struct: pid, tgid */
};

struct file {
	uint8_t notes[8192];
	size_t size;
};

struct fixture {
	struct target target;
	struct vmcore_facts facts;
	struct cpu cpus[CPUS];
	struct contents contents;
	struct memory_array memory;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
	struct file file;
};

/* --- notes --------------------------------------------------------------------------- */

/* Where a CPU was, so that one sees whose registers they are. */
static uint64_t place(uint32_t cpu)
{
	return 0xffffffff81000000u + 0x1000 * (cpu + 1);
}

static void make_prstatus(uint8_t *data, uint32_t cpu, int32_t pid)
{
	uint64_t rip = place(cpu);
	memset(data, 0, PRSTATUS_SIZE);
	memcpy(data + 32, &pid, sizeof(pid));
	memcpy(data + 112 + 16 * 8, &rip, sizeof(rip));
}

static void make_qemu(uint8_t *data, uint32_t cpu)
{
	uint32_t version = 1;
	uint64_t rip = place(cpu), cr3 = 0x1000 * (cpu + 1);
	memset(data, 0, QEMU_SIZE);
	memcpy(data, &version, sizeof(version));
	memcpy(data + 8 + 16 * 8, &rip, sizeof(rip));
	memcpy(data + 152 + 10 * 24 + 3 * 8, &cr3, sizeof(cr3));
}

static void add_note(struct file *file, const char *name, uint32_t type, const void *data,
		     size_t size)
{
	const uint32_t header[] = { (uint32_t)strlen(name) + 1, (uint32_t)size, type };
	uint8_t *to = file->notes + file->size;
	memcpy(to, header, sizeof(header));
	strcpy((char *)to + sizeof(header), name);
	memcpy(to + sizeof(header) + 8, data, size);
	file->size += sizeof(header) + 8 + ((size + 3) & ~(size_t)3);
}

static void add_prstatus(struct file *file, uint32_t cpu, int32_t pid)
{
	uint8_t data[PRSTATUS_SIZE];
	make_prstatus(data, cpu, pid);
	add_note(file, "CORE", NT_PRSTATUS, data, sizeof(data));
}

static void add_qemu(struct file *file, uint32_t cpu)
{
	uint8_t data[QEMU_SIZE];
	make_qemu(data, cpu);
	add_note(file, "QEMU", 0, data, sizeof(data));
}

/* An ELF core file of these notes and a page of memory. */
static struct vmcore *open_file(const struct file *file)
{
	static const uint8_t page[4096];
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					   EV_CURRENT },
			      .e_type = ET_CORE,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2 };
	uint64_t start = sizeof(header) + 2 * sizeof(Elf64_Phdr);
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_NOTE, .p_offset = start, .p_filesz = file->size },
		{ .p_type = PT_LOAD,
		  .p_offset = start + file->size,
		  .p_filesz = sizeof(page),
		  .p_memsz = sizeof(page) },
	};
	char path[] = "/tmp/cpu_registers_test.XXXXXX";
	int descriptor = mkstemp(path);
	FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
	if (!stream)
		abort();
	fwrite(&header, sizeof(header), 1, stream);
	fwrite(segments, sizeof(segments), 1, stream);
	fwrite(file->notes, file->size, 1, stream);
	fwrite(page, sizeof(page), 1, stream);
	CHECK(!fclose(stream));
	struct vmcore *vmcore = NULL;
	const char *const paths[] = { path };
	CHECK_OK(vmcore_open(paths, 1, &(struct vmcore_options){ 0 }, &vmcore));
	unlink(path);
	return vmcore;
}

/* --- a machine ----------------------------------------------------------------------- */

#define AT(member) (DATA + offsetof(struct contents, member))

/* What crash_save_cpu() leaves. */
static void leave_note(struct fixture *fixture, uint32_t cpu, int32_t pid)
{
	struct raw_note *note = &fixture->contents.notes[cpu];
	*note = (struct raw_note){ 5, PRSTATUS_SIZE, NT_PRSTATUS, "CORE", { 0 }, { 0 } };
	make_prstatus(note->prstatus, cpu, pid);
}

static void add_types(struct fixture *fixture)
{
	struct libbpf_btf *btf = fixture->source = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, 1);
	btf__add_struct(btf, "task_struct", 8);
	btf__add_field(btf, "pid", number, 0, 0);
	btf__add_field(btf, "tgid", number, 32, 0);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	fixture->target.btf = fixture->btf;
}

static void add_symbols(struct fixture *fixture)
{
	static const struct test_symbol symbols[] = {
		{ DATA - 4096, 'T', "_stext" },
		{ AT(crash_notes), 'D', "crash_notes" },
		{ DATA + 4096, 'D', "_end" },
	};
	image_symbols(&fixture->tables, TABLES, symbols, ARRAY_COUNT(symbols),
		      &fixture->target.symbols);
}

static struct fixture *fixture_create(bool from_kexec)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	if (!fixture)
		abort();
	memory_array_init(&fixture->memory, DATA, &fixture->contents, sizeof(fixture->contents));
	fixture->memory.memory.word_size = 8;
	fixture->facts.from_kexec = from_kexec;
	fixture->target = (struct target){ .memory = &fixture->memory.memory,
					   .facts = &fixture->facts,
					   .arch = &arch_x86_64,
					   .cpus = fixture->cpus,
					   .cpu_count = CPUS,
					   .cpus_loaded = true,
					   .modules_loaded = true };
	add_types(fixture);
	add_symbols(fixture);
	fixture->contents.crash_notes = AT(notes[0]);
	fixture->contents.pids[3][0] = PANIC_PID;
	for (uint32_t i = 0; i < CPUS; i++)
		fixture->cpus[i] = (struct cpu){ .number = i,
						 .online = i != 1,
						 .per_cpu_offset = i * sizeof(struct raw_note),
						 .current_task = AT(pids[i]) };
	return fixture;
}

static void load(struct fixture *fixture)
{
	fixture->target.vmcore = open_file(&fixture->file);
	if (fixture->target.vmcore)
		cpu_registers_load(&fixture->target);
}

static size_t fixture_destroy(struct fixture *fixture)
{
	size_t problems = 0;
	while (fixture->target.problems) {
		struct target_problem *problem = fixture->target.problems;
		fixture->target.problems = problem->next;
		error_free(problem->error);
		free(problem);
		problems++;
	}
	vmcore_close(fixture->target.vmcore);
	symtab_destroy(fixture->target.symbols);
	btf_close(fixture->btf);
	btf__free(fixture->source);
	image_destroy(&fixture->tables);
	free(fixture);
	return problems;
}

static void check_cpu(const struct fixture *fixture, uint32_t number, const char *from)
{
	const struct cpu *cpu = &fixture->cpus[number];
	CHECK(cpu->has_registers == (from != NULL));
	if (!from || !cpu->has_registers)
		return;
	CHECK_STRING(cpu->registers_from, from);
	CHECK(registers_has(&cpu->registers, X86_64_RIP));
	CHECK_U64(cpu->registers.values[X86_64_RIP], place(number));
}

/* --- kexec --------------------------------------------------------------------------- */

static struct fixture *kexec_create(void)
{
	struct fixture *fixture = fixture_create(true);
	leave_note(fixture, 0, 0);
	leave_note(fixture, 3, PANIC_PID);
	add_prstatus(&fixture->file, 0, 0);
	add_prstatus(&fixture->file, 3, PANIC_PID);
	return fixture;
}

/* Neither the place in the file nor pid 0 says which CPU it is. */
static void test_kexec(void)
{
	struct fixture *fixture = kexec_create();
	load(fixture);
	check_cpu(fixture, 0, "crash_notes");
	check_cpu(fixture, 1, NULL);
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, "crash_notes");
	CHECK(!registers_has(&fixture->cpus[3].registers, X86_64_CR3));
	for (uint32_t i = 0; i < CPUS; i++)
		CHECK(fixture->cpus[i].is_silent == (i == 2));
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* What is in the file was in memory: no note there is of a CPU that left none. */
static void test_kexec_silent(void)
{
	struct fixture *fixture = kexec_create();
	fixture->contents.pids[2][0] = 55;
	add_prstatus(&fixture->file, 2, 55);
	load(fixture);
	check_cpu(fixture, 2, NULL);
	CHECK(fixture->cpus[2].is_silent);
	CHECK_U64(fixture_destroy(fixture), 0);

	/* One that cannot be read says nothing. */
	fixture = kexec_create();
	fixture->contents.pids[2][0] = 55;
	add_prstatus(&fixture->file, 2, 55);
	fixture->contents.notes[2].size = 1;
	load(fixture);
	check_cpu(fixture, 2, "PRSTATUS");
	CHECK(!fixture->cpus[2].is_silent);
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* An offline CPU's note is of an earlier time: nobody vouches for it. */
static void test_kexec_stale(void)
{
	struct fixture *fixture = kexec_create();
	leave_note(fixture, 1, 4711);
	/* This one has the right pid. */
	leave_note(fixture, 2, 55);
	fixture->contents.pids[2][0] = 55;
	load(fixture);
	check_cpu(fixture, 0, "crash_notes");
	check_cpu(fixture, 1, NULL);
	check_cpu(fixture, 2, "crash_notes");
	check_cpu(fixture, 3, "crash_notes");
	CHECK_U64(fixture_destroy(fixture), 1);
}

/* Whatever is wrong with a note in memory costs one CPU. */
static void test_kexec_damaged(void)
{
	for (unsigned int way = 0; way < 5; way++) {
		struct fixture *fixture = kexec_create();
		struct raw_note *note = &fixture->contents.notes[0];
		if (way == 0)
			note->name_size = 4;
		else if (way == 1)
			note->type++;
		else if (way == 2)
			note->name[0] = 'V';
		else if (way == 3)
			note->size = UINT32_MAX;
		else
			note->size = SHORT_PRSTATUS;
		load(fixture);
		/* Two CPUs are idle: the note in the file may be of either. */
		check_cpu(fixture, 0, NULL);
		check_cpu(fixture, 2, NULL);
		check_cpu(fixture, 3, "crash_notes");
		CHECK_U64(fixture_destroy(fixture), 0);
	}
}

/* Without crash_notes the file's notes are given to whom they can only be of. */
static void test_kexec_by_pid(void)
{
	struct fixture *fixture = kexec_create();
	fixture->contents.crash_notes = 0;
	load(fixture);
	check_cpu(fixture, 0, NULL);
	check_cpu(fixture, 1, NULL);
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, "PRSTATUS");
	CHECK_U64(fixture_destroy(fixture), CPUS);

	/* One idle CPU that is online: the offline one does not count. */
	fixture = kexec_create();
	fixture->contents.crash_notes = 8;
	fixture->contents.pids[2][0] = 55;
	load(fixture);
	check_cpu(fixture, 0, "PRSTATUS");
	check_cpu(fixture, 1, NULL);
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, "PRSTATUS");
	CHECK_U64(fixture_destroy(fixture), CPUS);
}

/* A note that has its CPU is not given to another one that runs a task of the same pid. */
static void test_kexec_once(void)
{
	struct fixture *fixture = kexec_create();
	fixture->cpus[0].current_task = 0;
	load(fixture);
	check_cpu(fixture, 0, "crash_notes");
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, "crash_notes");
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* --- QEMU ---------------------------------------------------------------------------- */

static void test_qemu(void)
{
	struct fixture *fixture = fixture_create(false);
	/* In any order: pr_pid is the vCPU plus one, though a task of that pid may run elsewhere.
	 */
	for (uint32_t i = CPUS; i-- > 0;)
		add_prstatus(&fixture->file, i, (int32_t)i + 1);
	fixture->contents.pids[0][0] = 3;
	/* What memory says is not of this moment. */
	leave_note(fixture, 2, 0);
	for (uint32_t i = 0; i < CPUS; i++)
		add_qemu(&fixture->file, i);
	load(fixture);
	for (uint32_t i = 0; i < CPUS; i++) {
		check_cpu(fixture, i, "PRSTATUS");
		CHECK_U64(fixture->cpus[i].registers.values[X86_64_CR3], 0x1000 * (i + 1));
	}
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* Only some notes, too short ones, and those of CPUs that the kernel did not know. */
static void test_qemu_odd(void)
{
	uint8_t data[QEMU_SIZE];
	struct fixture *fixture = fixture_create(false);
	add_prstatus(&fixture->file, 0, 0);
	add_prstatus(&fixture->file, 0, -1);
	add_prstatus(&fixture->file, 0, INT32_MIN);
	add_prstatus(&fixture->file, 0, CPUS + 1);
	add_prstatus(&fixture->file, 1, 2);
	make_prstatus(data, 3, 4);
	add_note(&fixture->file, "CORE", NT_PRSTATUS, data, SHORT_PRSTATUS);
	make_qemu(data, 0);
	add_note(&fixture->file, "QEMU", 0, data, QEMU_SIZE / 2);
	add_qemu(&fixture->file, 1);
	add_qemu(&fixture->file, 2);
	load(fixture);
	check_cpu(fixture, 0, NULL);
	check_cpu(fixture, 1, "PRSTATUS");
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, NULL);
	CHECK(registers_has(&fixture->cpus[1].registers, X86_64_CR3));
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* Without the notes of one CPU, the order of the others does not make them its. */
static void test_qemu_incomplete(void)
{
	struct fixture *fixture = fixture_create(false);
	for (uint32_t i = 0; i < CPUS; i++)
		if (i != 1)
			add_prstatus(&fixture->file, i, (int32_t)i + 1);
	for (uint32_t i = 0; i < CPUS; i++)
		if (i != 1)
			add_qemu(&fixture->file, i);
	load(fixture);
	for (uint32_t i = 0; i < CPUS; i++) {
		CHECK(!fixture->cpus[i].is_silent);
		check_cpu(fixture, i, i == 1 ? NULL : "PRSTATUS");
		if (i != 1)
			CHECK_U64(fixture->cpus[i].registers.values[X86_64_CR3], 0x1000 * (i + 1));
	}
	CHECK_U64(fixture_destroy(fixture), 0);
}

/* By themselves, QEMU's notes are in the order of all CPUs or say nothing. */
static void test_qemu_alone(void)
{
	for (uint32_t count = CPUS - 1; count <= CPUS; count++) {
		struct fixture *fixture = fixture_create(false);
		for (uint32_t i = 0; i < count; i++)
			add_qemu(&fixture->file, i);
		load(fixture);
		for (uint32_t i = 0; i < CPUS; i++)
			check_cpu(fixture, i, count == CPUS ? "QEMU" : NULL);
		CHECK_U64(fixture_destroy(fixture), 0);
	}
}

/* A hypervisor's dump without notes, of a kernel that died through kexec: what that one left. */
static void test_qemu_without_notes(void)
{
	struct fixture *fixture = fixture_create(false);
	leave_note(fixture, 3, PANIC_PID);
	leave_note(fixture, 1, 4711);
	add_prstatus(&fixture->file, 0, 1);
	load(fixture);
	check_cpu(fixture, 0, "PRSTATUS");
	check_cpu(fixture, 1, NULL);
	check_cpu(fixture, 2, NULL);
	check_cpu(fixture, 3, "crash_notes");
	CHECK_U64(fixture_destroy(fixture), 0);
}

int main(void)
{
	RUN(test_kexec);
	RUN(test_kexec_silent);
	RUN(test_kexec_stale);
	RUN(test_kexec_damaged);
	RUN(test_kexec_by_pid);
	RUN(test_kexec_once);
	RUN(test_qemu);
	RUN(test_qemu_odd);
	RUN(test_qemu_incomplete);
	RUN(test_qemu_alone);
	RUN(test_qemu_without_notes);
	return test_finish();
}
