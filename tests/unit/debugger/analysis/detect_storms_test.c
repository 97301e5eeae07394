// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Softirqs that take a CPU, and what of that is a cause: of a lockup in the thread that runs them
 * it is the function that did not come to its end, of one elsewhere on that CPU it is they.
 */
#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	   0xffffffff82000000u
#define TABLES	   0xffffffff83000000u
#define FRAMES_MAX 16u
#define SOFTIRQS   3u
#define PER_CPU	   0x1000u
#define OTHER	   0xffff888000001000u /* a task */

struct raw_task {
	uint64_t pid, load;
	uint32_t state;
	char comm[16];
};

struct raw_data {
	uint64_t thread; /* per CPU, as is what follows */
	uint32_t softirqs[SOFTIRQS];
	uint64_t names[SOFTIRQS];
	char text[SOFTIRQS][8];
	struct raw_task task;
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct cpu cpu;
	struct frame frames[FRAMES_MAX];
	struct analysis analysis;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int letter = btf__add_int(btf, "char", 1, 1);
	int counts = btf__add_array(btf, uint, uint, SOFTIRQS);
	int name = btf__add_array(btf, uint, letter, 16);
	btf__add_struct(btf, "kernel_stat", SOFTIRQS * 4);
	add_member(btf, "softirqs", counts, 0);
	int average = btf__add_struct(btf, "sched_avg", 8);
	add_member(btf, "util_avg", ulong, 0);
	int entity = btf__add_struct(btf, "sched_entity", 8);
	add_member(btf, "avg", average, 0);
	btf__add_struct(btf, "task_struct", sizeof(struct raw_task));
	add_member(btf, "pid", ulong, 0);
	add_member(btf, "se", entity, offsetof(struct raw_task, load));
	add_member(btf, "__state", uint, offsetof(struct raw_task, state));
	add_member(btf, "comm", name, offsetof(struct raw_task, comm));
	kernel_data_take_types(&machine->kernel);
}

static void put_data(struct machine *machine)
{
	static const char *const names[SOFTIRQS] = { "HI", "TIMER", "NET_RX" };
	struct raw_data *data = &machine->data;
	data->thread = AT(task);
	data->task = (struct raw_task){ .pid = 21, .load = 1000, .comm = "ksoftirqd/1" };
	for (unsigned int i = 0; i < SOFTIRQS; i++) {
		data->softirqs[i] = i == 1 ? 1000 : 10;
		data->names[i] = AT(text[i]);
		strcpy(data->text[i], names[i]);
	}
}

/* CPU 1, whose thread for softirqs has had 97 % of it. */
static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(thread) - PER_CPU, 'd', "ksoftirqd" },
		{ AT(softirqs) - PER_CPU, 'd', "kstat" },
		{ AT(names), 'R', "softirq_to_name" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	put_data(machine);
	machine->cpu = (struct cpu){ .number = 1, .per_cpu_offset = PER_CPU };
	machine->kernel.target.cpus = &machine->cpu;
	machine->kernel.target.cpu_count = 1;
	machine->kernel.target.cpus_loaded = true;
	machine->analysis = (struct analysis){
		.target = &machine->kernel.target,
		.trace = { .frames = machine->frames },
		.panicked = true,
	};
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	machine->analysis.trace = (struct stack_trace){ 0 };
	analysis_deinit(&machine->analysis);
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

/* The stack, innermost first; "*": an interrupt came upon it. It is of the task that panicked. */
static void die(struct machine *machine, uint64_t task, const char *const *names)
{
	struct analysis *analysis = &machine->analysis;
	for (; names[analysis->trace.count]; analysis->trace.count++) {
		const char *name = names[analysis->trace.count];
		machine->frames[analysis->trace.count] =
			(struct frame){ .kind = *name == '*' ? FRAME_EXCEPTION : FRAME_ORC,
					.has_symbol = true,
					.symbol = { .name = name + (*name == '*') } };
	}
	analysis->has_task = true;
	analysis->task = (struct task){ .address = task, .pid = 21, .cpu = 1 };
	strcpy(analysis->task.comm, task == AT(task) ? "ksoftirqd/1" : "victim");
	machine->cpu.current_task = task;
	CHECK_OK(detect_panic(analysis));
	CHECK_OK(detect_storms(analysis));
}

static bool has_evidence(const struct machine *machine, const char *text)
{
	const struct finding *finding = &machine->analysis.findings[0];
	for (size_t i = 0; i < finding->count; i++)
		if (!strcmp(finding->evidence[i].text, text))
			return true;
	return false;
}

static const char *const in_thread[] = { "panic",
					 "watchdog_timer_fn",
					 "asm_sysvec_apic_timer_interrupt",
					 "*delay_tsc",
					 "expire",
					 "call_timer_fn",
					 "handle_softirqs",
					 "run_ksoftirqd",
					 "kthread",
					 NULL };

static void test_function_in_thread(void)
{
	struct machine *machine = machine_create();
	die(machine, AT(task), in_thread);
	CHECK_U64(machine->analysis.count, 1);
	CHECK_STRING(machine->analysis.findings[0].kind, "soft-lockup");
	CHECK_STRING(machine->analysis.findings[0].summary,
		     "a CPU did not schedule for too long: a timer was in expire+0x0");
	CHECK(has_evidence(machine, "it ran in a timer; pid 21 \"ksoftirqd/1\" is only the thread "
				    "that runs them"));
	machine_destroy(machine);
}

/* Nothing but the kernel's own loop is known of it. */
static void test_loop_in_thread(void)
{
	static const char *const names[] = { "panic",
					     "watchdog_timer_fn",
					     "asm_sysvec_apic_timer_interrupt",
					     "*handle_softirqs",
					     "run_ksoftirqd",
					     "kthread",
					     NULL };
	struct machine *machine = machine_create();
	die(machine, AT(task), names);
	CHECK_U64(machine->analysis.count, 2);
	CHECK_STRING(machine->analysis.findings[0].kind, "softirq-storm");
	CHECK_STRING(machine->analysis.findings[0].summary,
		     "softirqs take CPU 1: pid 21 \"ksoftirqd/1\" runs them, and has had 97 % of "
		     "the CPU of late");
	CHECK(has_evidence(machine, "most that came there since the start are TIMER: 1000"));
	machine_destroy(machine);
}

/* What an interrupt brought keeps the CPU: the thread had it before. */
static void test_function_in_interrupt(void)
{
	static const char *const names[] = { "panic",
					     "watchdog_timer_fn",
					     "asm_sysvec_apic_timer_interrupt",
					     "*expire",
					     "call_timer_fn",
					     "handle_softirqs",
					     "irq_exit_rcu",
					     "asm_sysvec_apic_timer_interrupt",
					     "*work",
					     NULL };
	struct machine *machine = machine_create();
	die(machine, OTHER, names);
	CHECK_U64(machine->analysis.count, 1);
	CHECK_STRING(machine->analysis.findings[0].summary,
		     "a CPU did not schedule for too long: a timer was in expire+0x0");
	CHECK(has_evidence(machine, "it ran in a timer; pid 21 \"victim\" was only interrupted"));
	machine_destroy(machine);
}

/* So does a task of its own accord, or in a loop that has no name to blame. */
static void test_task(void)
{
	static const char *const names[] = { "panic", "watchdog_timer_fn",
					     "asm_sysvec_apic_timer_interrupt", "*work", NULL };
	static const char *const loop[] = { "panic", "watchdog_timer_fn",
					    "asm_sysvec_apic_timer_interrupt", "*delay_tsc", NULL };
	struct machine *machine = machine_create();
	die(machine, OTHER, names);
	CHECK_U64(machine->analysis.count, 1);
	CHECK_STRING(machine->analysis.findings[0].summary,
		     "a CPU did not schedule for too long: pid 21 \"victim\" was in work+0x0");
	machine_destroy(machine);

	machine = machine_create();
	die(machine, OTHER, loop);
	CHECK_U64(machine->analysis.count, 2);
	CHECK_STRING(machine->analysis.findings[0].kind, "softirq-storm");
	machine_destroy(machine);

	/* The thread does not do much. */
	machine = machine_create();
	machine->data.task.load = 511;
	die(machine, OTHER, loop);
	CHECK_U64(machine->analysis.count, 1);
	CHECK_STRING(machine->analysis.findings[0].kind, "soft-lockup");
	machine_destroy(machine);
}

/* Who asked for the end is named first. */
static void test_sysrq(void)
{
	static const char *const names[] = { "panic", "sysrq_handle_crash", "write", NULL };
	struct machine *machine = machine_create();
	die(machine, OTHER, names);
	CHECK_U64(machine->analysis.count, 2);
	CHECK_STRING(machine->analysis.findings[0].kind, "sysrq");
	CHECK_STRING(machine->analysis.findings[1].summary,
		     "softirqs take CPU 1: pid 21 \"ksoftirqd/1\" waits to go on with them, and "
		     "has had 97 % of the CPU of late");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_function_in_thread);
	RUN(test_loop_in_thread);
	RUN(test_function_in_interrupt);
	RUN(test_task);
	RUN(test_sysrq);
	return test_finish();
}
