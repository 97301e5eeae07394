// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Notes of a core as the kernel writes them (kernel fs/binfmt_elf.c, include/uapi/linux/elfcore.h):
 * the registers of each thread, the process, its auxiliary vector, its mapped files.
 */
#include "debugger/export/core_private.h"

#include "debugger/kernel/mappings.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/task_strings.h"
#include "debugger/target/arch_x86_64.h"
#include "debugger/unwind/unwind.h"
#include <elf.h>
#include <inttypes.h>

/* struct elf_prstatus on machines of 64 bits: its beginning is the same on all. */
#define PRSTATUS_PID	 32 /* then parent, group, session */
#define PRSTATUS_LARGEST 4096u
/* On x86-64: whether there is a note of the FPU's registers. */
#define PRSTATUS_FPVALID 328
/* struct elf_prpsinfo on the same. */
struct process_info {
	char state, state_letter, is_zombie, nice;
	uint32_t unused;
	uint64_t flags;
	uint32_t uid, gid;
	int32_t pid, parent, group, session;
	char name[16], arguments[80];
};

static const char padding[8];

/* `owner` has five to eight bytes with its zero. */
static void add_note_of(struct strbuf *notes, const char *owner, uint32_t type, const void *data,
			size_t size)
{
	const Elf64_Nhdr header = { .n_namesz = (uint32_t)strlen(owner) + 1,
				    .n_descsz = (uint32_t)size,
				    .n_type = type };
	strbuf_bytes(notes, (const char *)&header, sizeof(header));
	strbuf_bytes(notes, owner, header.n_namesz);
	strbuf_bytes(notes, padding, 8 - header.n_namesz);
	strbuf_bytes(notes, data, size);
	strbuf_bytes(notes, padding, -size & 3);
}

static void add_note(struct strbuf *notes, uint32_t type, const void *data, size_t size)
{
	add_note_of(notes, "CORE", type, data, size);
}

/* Only a fatal error; *ret is 0 where a kernel has no such member. */
static struct error *read_or_zero(const struct object *object, const char *path, uint64_t *ret)
{
	*ret = 0;
	struct error *error = object_u64(object, path, ret);
	return error_only_fatal(error);
}

/* --- threads ------------------------------------------------------------------------------- */

static void take(struct registers *registers, unsigned int number, const struct object *task,
		 const char *path)
{
	uint64_t value;
	struct error *error = object_u64(task, path, &value);
	if (!error && !registers_has(registers, number))
		registers_set(registers, number, value);
	error_free(error);
}

/* Those that the processor does not save when it enters the kernel. */
static void add_segments(const struct object *task, struct registers *registers)
{
	take(registers, X86_64_FS_BASE, task, "thread.fsbase");
	take(registers, X86_64_GS_BASE, task, "thread.gsbase");
	take(registers, X86_64_DS, task, "thread.ds");
	take(registers, X86_64_ES, task, "thread.es");
	take(registers, X86_64_FS, task, "thread.fsindex");
	take(registers, X86_64_GS, task, "thread.gsindex");
}

/* The registers of user mode are where its stack ends; *ret knows none where it is not whole. */
static struct error *user_registers(struct core *core, const struct task *task,
				    const struct object *object, struct registers *ret)
{
	struct stack_trace trace;
	*ret = (struct registers){ .known = 0 };
	struct error *error = unwind_task(core->target, task, &trace);
	if (error)
		return error_only_fatal(error);
	const struct frame *last = trace.count ? &trace.frames[trace.count - 1] : NULL;
	if (last && last->kind == FRAME_USER && !last->is_unproved && !trace.may_be_user &&
	    core->target->arch->is_possible(&last->registers)) {
		*ret = last->registers;
		/* What a CPU holds meanwhile is the kernel's. */
		registers_forget(ret, X86_64_GS_BASE);
		add_segments(object, ret);
	}
	stack_trace_deinit(&trace);
	return NULL;
}

/* Of the initial namespace, as all of the dump's are. */
static struct error *read_pid_of(const struct object *signal, const char *kind, int32_t *ret)
{
	uint32_t id;
	struct btf_enumerator value;
	struct object pid;
	uint64_t number;
	char path[40];
	*ret = 0;
	if (!btf_find_enumerator(signal->target->btf, kind, &id, &value))
		return NULL;
	snprintf(path, sizeof(path), "pids[%d]", (int)value.value);
	struct error *error = object_follow(signal, path, &pid);
	if (!error && pid.address)
		error = object_u64(&pid, "numbers[0].nr", &number);
	if (!error && pid.address)
		*ret = (int32_t)number;
	return error_only_fatal(error);
}

static struct error *read_pids(const struct object *task, int32_t *ret_group, int32_t *ret_session)
{
	struct object signal;
	*ret_group = *ret_session = 0;
	struct error *error = object_follow(task, "signal", &signal);
	if (error)
		return error_only_fatal(error);
	TRY(read_pid_of(&signal, "PIDTYPE_PGID", ret_group));
	return read_pid_of(&signal, "PIDTYPE_SID", ret_session);
}

static struct error *add_thread(struct core *core, const struct task *task)
{
	const struct arch *arch = core->target->arch;
	uint8_t data[PRSTATUS_LARGEST] = { 0 };
	struct core_fpu fpu = { .size = 0 };
	struct object object;
	struct registers registers;
	int32_t pids[4] = { task->pid, task->ppid < 0 ? 0 : task->ppid };
	TRY(object_at(core->target, "struct task_struct", task->address, &object));
	TRY(user_registers(core, task, &object, &registers));
	TRY(read_pids(&object, &pids[2], &pids[3]));
	memcpy(data + PRSTATUS_PID, pids, sizeof(pids));
	arch->registers_to_prstatus(&registers, data);
	core->summary.threads++;
	core->summary.without_registers += !registers.known;
	if (registers.known && !task->on_cpu)
		TRY(core_read_fpu(&object, &fpu));
	data[PRSTATUS_FPVALID] = fpu.size > 0;
	add_note(&core->notes, NT_PRSTATUS, data, arch->prstatus_size);
	if (fpu.size)
		add_note(&core->notes, NT_FPREGSET, fpu.area, CORE_FPU_SIZE);
	if (fpu.size == CORE_AVX_SIZE)
		add_note_of(&core->notes, "LINUX", NT_X86_XSTATE, fpu.area, fpu.size);
	return core->notes.size > CORE_NOTES_MAX
		       ? error_create(ERROR_FORMAT, "its notes have more than %u MiB",
				      CORE_NOTES_MAX >> 20)
		       : NULL;
}

/* The others of the process; the one that was asked for comes first: gdb begins with it. */
static struct error *visit_task(void *context, const struct task *task)
{
	struct core *core = context;
	if (task->tgid != core->task->tgid || !task->has_mm || task->is_partial ||
	    task->address == core->task->address)
		return NULL;
	return add_thread(core, task);
}

/* --- the process ----------------------------------------------------------------------------- */

static struct error *read_arguments(struct core *core, struct process_info *info)
{
	struct task_strings strings;
	struct error *error = task_strings_read(core->target, core->task, TASK_ARGUMENTS, &strings);
	if (error)
		return error_only_fatal(error);
	size_t size = strings.size < sizeof(info->arguments) ? strings.size
							     : sizeof(info->arguments) - 1;
	for (size_t i = 0; i < size; i++)
		info->arguments[i] = strings.bytes[i] ? strings.bytes[i] : ' ';
	task_strings_deinit(&strings);
	return NULL;
}

static struct error *add_process(struct core *core)
{
	const struct task *task = core->task;
	struct process_info info = { .state_letter = task->state_letter,
				     .pid = task->tgid,
				     .parent = task->ppid < 0 ? 0 : task->ppid };
	struct object object, credentials;
	uint64_t value;
	TRY(object_at(core->target, "struct task_struct", task->address, &object));
	TRY(read_or_zero(&object, "flags", &info.flags));
	TRY(read_pids(&object, &info.group, &info.session));
	struct error *error = object_follow(&object, "real_cred", &credentials);
	if (!error) {
		TRY(read_or_zero(&credentials, "uid.val", &value));
		info.uid = (uint32_t)value;
		TRY(read_or_zero(&credentials, "gid.val", &value));
		info.gid = (uint32_t)value;
	}
	TRY(error_only_fatal(error));
	memcpy(info.name, task->comm, sizeof(info.name) - 1);
	TRY(read_arguments(core, &info));
	add_note(&core->notes, NT_PRPSINFO, &info, sizeof(info));
	return NULL;
}

/* Pairs of words up to AT_NULL. */
static struct error *add_auxiliary(struct core *core)
{
	struct object vector;
	uint64_t size, words[512];
	struct error *error = object_member(&core->mm, "saved_auxv", &vector);
	if (!error && (!type_size(vector.type, &size) || size > sizeof(words)))
		return NULL;
	if (!error)
		error = memory_read(core->target->memory, vector.address, words, size);
	if (error)
		return error_only_fatal(error);
	size_t count = 0;
	while ((count + 2) * 8 <= size && words[count])
		count += 2;
	add_note(&core->notes, NT_AUXV, words, (count + 2) * 8 <= size ? (count + 2) * 8 : size);
	return NULL;
}

/* Start, end, and the page of the file it begins with, of each; their names behind all of them. */
static struct error *add_files(struct core *core)
{
	struct strbuf places = { 0 }, names = { 0 };
	uint64_t head[2] = { 0, core->page_size };
	struct error *error = NULL;
	for (size_t i = 0; !error && i < core->mapping_count; i++) {
		const struct user_mapping *mapping = &core->mappings[i];
		const uint64_t place[] = { mapping->start, mapping->end, mapping->page_offset };
		struct object vma;
		char path[PATH_SIZE] = "";
		if (!mapping->file)
			continue;
		error = object_at(core->target, "struct vm_area_struct", mapping->vma, &vma);
		if (!error)
			error = error_only_fatal(mapping_name(&core->mm, &vma, path, sizeof(path)));
		if (error || places.size + names.size > CORE_NOTES_MAX / 2) {
			core->summary.names_are_cut = !error;
			break;
		}
		strbuf_bytes(&places, (const char *)place, sizeof(place));
		strbuf_bytes(&names, path, strlen(path) + 1);
		head[0]++;
	}
	struct strbuf all = { 0 };
	strbuf_bytes(&all, (const char *)head, sizeof(head));
	strbuf_bytes(&all, places.data, places.size);
	strbuf_bytes(&all, names.data, names.size);
	if (!error && (places.failed || names.failed || all.failed))
		error = error_no_memory();
	if (!error)
		add_note(&core->notes, NT_FILE, all.data, all.size);
	strbuf_deinit(&places);
	strbuf_deinit(&names);
	strbuf_deinit(&all);
	return error;
}

struct error *core_add_notes(struct core *core)
{
	struct error *problem = NULL;
	TRY(add_thread(core, core->task));
	TRY(add_process(core));
	TRY(add_auxiliary(core));
	TRY(add_files(core));
	struct error *error = task_for_each(core->target, visit_task, core, &problem);
	error_free(problem);
	return error ?: core->notes.failed ? error_no_memory() : NULL;
}
