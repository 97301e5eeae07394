// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Two worlds. QEMU writes one PRSTATUS and one QEMU note a vCPU; pr_pid is the vCPU's number
 * plus one, and the QEMU note has the same registers and more. A kernel that dies through
 * kexec writes one PRSTATUS a CPU into the per-CPU crash_notes (kernel/crash_core.c), with the
 * current task's pid; /proc/vmcore collects them and leaves out the CPUs that never answered, so
 * that neither the index nor the pid (0 for each idle task) alone tells the CPU.
 */
#include "debugger/target/cpu_registers.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_HEADER_SIZE 12
#define NOTE_NAME_SIZE	 8 /* "CORE" with NUL, padded */
#define NT_PRSTATUS	 1
/* elf_prstatus: 336 bytes on x86-64, 392 on arm64. */
#define NOTE_SIZE_LIMIT 1024

static void set_registers(struct cpu *cpu, const struct registers *registers, const char *from)
{
	cpu->registers = *registers;
	cpu->registers_from = from;
	cpu->has_registers = true;
}

static struct cpu *find_cpu(struct target *target, uint32_t number)
{
	for (size_t i = 0; i < target->cpu_count; i++)
		if (target->cpus[i].number == number)
			return &target->cpus[i];
	return NULL;
}

/* --- a hypervisor's notes ------------------------------------------------------------ */

static void take_prstatus(struct target *target, const struct cpu_note *note)
{
	struct registers registers;
	int32_t pid = 0;
	if (!target->arch->registers_from_prstatus(note->data, note->size, &registers, &pid) ||
	    pid < 1)
		return;
	struct cpu *cpu = find_cpu(target, (uint32_t)pid - 1);
	if (cpu)
		set_registers(cpu, &registers, "PRSTATUS");
}

static bool is_same_place(const struct target *target, const struct registers *a,
			  const struct registers *b)
{
	const struct arch *arch = target->arch;
	return a->values[arch->pc] == b->values[arch->pc] &&
	       a->values[arch->sp] == b->values[arch->sp];
}

static size_t count_notes(struct target *target, enum cpu_note_kind kind)
{
	size_t count = 0;
	for (size_t i = 0; i < vmcore_cpu_note_count(target->vmcore); i++)
		count += vmcore_cpu_note(target->vmcore, i)->kind == kind;
	return count;
}

/*
 * QEMU's own note does not name its CPU. It is the one whose PRSTATUS has it at the same place,
 * for where notes are missing the order says nothing; by itself, the order of all does.
 */
static struct cpu *cpu_of_qemu_note(struct target *target, const struct cpu_note *note,
				    const struct registers *registers)
{
	for (size_t i = 0; i < target->cpu_count; i++) {
		struct cpu *cpu = &target->cpus[i];
		if (cpu->has_registers && registers->known & ~cpu->registers.known &&
		    is_same_place(target, &cpu->registers, registers))
			return cpu;
	}
	if (!count_notes(target, CPU_NOTE_PRSTATUS) &&
	    count_notes(target, CPU_NOTE_QEMU) == target->cpu_count)
		return find_cpu(target, note->order);
	return NULL;
}

static void take_qemu_note(struct target *target, const struct cpu_note *note)
{
	struct registers registers;
	if (!target->arch->registers_from_qemu ||
	    !target->arch->registers_from_qemu(note->data, note->size, &registers))
		return;
	struct cpu *cpu = cpu_of_qemu_note(target, note, &registers);
	if (!cpu)
		return;
	if (!cpu->has_registers) {
		set_registers(cpu, &registers, "QEMU");
		return;
	}
	/* The same moment, with more registers (control registers): add what is missing. */
	for (unsigned int i = 0; i < target->arch->register_count; i++)
		if (registers_has(&registers, i) && !registers_has(&cpu->registers, i))
			registers_set(&cpu->registers, i, registers.values[i]);
}

static void take_hypervisor_note(struct target *target, const struct cpu_note *note)
{
	if (note->kind == CPU_NOTE_PRSTATUS)
		take_prstatus(target, note);
	else
		take_qemu_note(target, note);
}

static void load_from_hypervisor(struct target *target)
{
	static const enum cpu_note_kind kinds[] = { CPU_NOTE_PRSTATUS, CPU_NOTE_QEMU };
	size_t count = vmcore_cpu_note_count(target->vmcore);
	for (size_t kind = 0; kind < ARRAY_COUNT(kinds); kind++) {
		for (size_t i = 0; i < count; i++) {
			const struct cpu_note *note = vmcore_cpu_note(target->vmcore, i);
			if (note->kind == kinds[kind])
				take_hypervisor_note(target, note);
		}
	}
}

/* --- the kernel's own notes ------------------------------------------------------------ */

/* A note that was never written: the kernel allocates them as zeros. */
static bool is_empty(const uint8_t *header, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (header[i])
			return false;
	return true;
}

/* What a CPU left in crash_notes: `*ret_size` bytes of PRSTATUS, 0: nothing. */
static struct error *read_crash_note(struct target *target, const struct cpu *cpu, uint8_t *note,
				     size_t *ret_size, bool *ret_empty)
{
	bool big = target->memory->big_endian;
	uint64_t variable, pointer;
	uint8_t header[NOTE_HEADER_SIZE + NOTE_NAME_SIZE];
	*ret_size = 0;
	*ret_empty = false;
	if (!symtab_address(target->symbols, "crash_notes", &variable))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol crash_notes");
	TRY(error_prefix(memory_read_word(target->memory, variable, &pointer), "crash_notes"));
	if (!pointer)
		return error_create(ERROR_NOT_FOUND, "crash_notes is not allocated");
	uint64_t address = pointer + cpu->per_cpu_offset;
	TRY(memory_read(target->memory, address, header, sizeof(header)));
	uint32_t size = load_u32(header + 4, big);
	*ret_empty = is_empty(header, sizeof(header));
	if (load_u32(header, big) != 5 || load_u32(header + 8, big) != NT_PRSTATUS ||
	    memcmp(header + NOTE_HEADER_SIZE, "CORE", 5) || size > NOTE_SIZE_LIMIT)
		return NULL;
	TRY(memory_read(target->memory, address + sizeof(header), note, size));
	*ret_size = size;
	return NULL;
}

static bool file_has_note(struct target *target, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < vmcore_cpu_note_count(target->vmcore); i++) {
		const struct cpu_note *note = vmcore_cpu_note(target->vmcore, i);
		if (note->kind == CPU_NOTE_PRSTATUS && note->size == size &&
		    !memcmp(note->data, data, size))
			return true;
	}
	return false;
}

static bool task_pid(struct target *target, uint64_t address, int32_t *ret)
{
	struct object task;
	uint64_t pid;
	if (!address)
		return false;
	struct error *error = object_at(target, "struct task_struct", address, &task);
	if (!error)
		error = object_u64(&task, "pid", &pid);
	error_free(error);
	if (!error)
		*ret = (int32_t)pid;
	return !error;
}

static struct error *load_crash_note(struct target *target, struct cpu *cpu)
{
	uint8_t note[NOTE_SIZE_LIMIT];
	size_t size;
	struct registers registers;
	int32_t pid, current_pid;
	bool empty;
	TRY(read_crash_note(target, cpu, note, &size, &empty));
	cpu->is_silent = empty && cpu->online && target->facts->from_kexec;
	if (!size || !target->arch->registers_from_prstatus(note, size, &registers, &pid))
		return NULL;
	/* Memory may have been overwritten since: the file or the run queue must agree. */
	bool agreed = file_has_note(target, note, size) ||
		      (task_pid(target, cpu->current_task, &current_pid) && current_pid == pid);
	if (!agreed)
		return error_create(ERROR_FORMAT,
				    "the note in crash_notes is neither in the file nor of its "
				    "current task");
	set_registers(cpu, &registers, "crash_notes");
	return NULL;
}

/* The pid of each CPU's current task. */
struct current {
	bool is_known;
	int32_t pid;
};

/* A file's note that no CPU has yet, of a pid that one CPU alone runs. */
static void match_by_pid(struct target *target, const struct current *currents,
			 const struct cpu_note *note)
{
	struct registers registers;
	struct cpu *match = NULL;
	int32_t pid;
	if (note->kind != CPU_NOTE_PRSTATUS ||
	    !target->arch->registers_from_prstatus(note->data, note->size, &registers, &pid))
		return;
	for (size_t i = 0; i < target->cpu_count; i++) {
		struct cpu *cpu = &target->cpus[i];
		if (cpu->has_registers && !memcmp(&cpu->registers, &registers, sizeof(registers)))
			return;
		if (!cpu->online || !currents[i].is_known || currents[i].pid != pid)
			continue;
		if (match)
			return;
		match = cpu;
	}
	/* A CPU that left none in memory has none in the file. */
	if (match && !match->has_registers && !match->is_silent)
		set_registers(match, &registers, "PRSTATUS");
}

static struct error *match_all(struct target *target)
{
	struct current *currents = calloc(target->cpu_count, sizeof(*currents));
	if (!currents)
		return error_no_memory();
	for (size_t i = 0; i < target->cpu_count; i++)
		currents[i].is_known =
			task_pid(target, target->cpus[i].current_task, &currents[i].pid);
	struct error *error = NULL;
	for (size_t i = 0; !error && i < vmcore_cpu_note_count(target->vmcore); i++) {
		match_by_pid(target, currents, vmcore_cpu_note(target->vmcore, i));
		error = interrupt_check();
	}
	free(currents);
	return error;
}

static struct error *load_from_kernel(struct target *target)
{
	for (size_t i = 0; i < target->cpu_count; i++) {
		TRY(interrupt_check());
		struct error *error = load_crash_note(target, &target->cpus[i]);
		if (error)
			target_add_problem(target, error_prefix(error, "registers of CPU %" PRIu32,
								target->cpus[i].number));
	}
	return match_all(target);
}

/*
 * A dump from outside without notes, of a kernel that had begun to die through kexec: what its
 * CPUs left of themselves on the way. No other path fills crash_notes, and no kernel comes back
 * from this one. That there is nothing is no problem here.
 */
static void load_what_is_missing(struct target *target)
{
	for (size_t i = 0; i < target->cpu_count; i++)
		if (!target->cpus[i].has_registers)
			error_free(load_crash_note(target, &target->cpus[i]));
}

void cpu_registers_load(struct target *target)
{
	if (!target->memory || !target->arch || !target->cpu_count)
		return;
	if (target->facts->from_kexec) {
		target_add_problem(target,
				   error_prefix(load_from_kernel(target), "registers of CPUs"));
		return;
	}
	load_from_hypervisor(target);
	load_what_is_missing(target);
}
