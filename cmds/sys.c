// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/helper.h"
#include "base/sandbox.h"
#include "debugger/command/command.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/kernel/summary.h"
#include "debugger/show/traces.h"
#include "debugger/target/live.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABEL 12 /* places for the names on the left */

static void label(struct out *out, const char *name)
{
	out_text(out, "%*s: ", LABEL, name);
}

static void field(struct out *out, const char *name, const char *key, const char *value)
{
	if (!*value)
		return;
	label(out, name);
	out_string(out, key, value);
	out_text(out, "\n");
}

static void show_time(struct out *out, const struct summary *summary)
{
	if (summary->crash_time) {
		char text[64];
		time_t seconds = (time_t)summary->crash_time;
		struct tm parts;
		if (gmtime_r(&seconds, &parts)) {
			strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
			field(out, "DATE", "date", text);
		}
	}
	if (summary->uptime >= 0) {
		int64_t seconds = summary->uptime;
		char text[64];
		snprintf(text, sizeof(text), "%" PRId64 " days, %02d:%02d:%02d", seconds / 86400,
			 (int)(seconds / 3600 % 24), (int)(seconds / 60 % 60), (int)(seconds % 60));
		label(out, "UPTIME");
		out_i64_as(out, "uptime", seconds, text);
		out_text(out, "\n");
	}
}

static void show_load(struct out *out, const struct summary *summary)
{
	char text[40];
	if (summary->load[0] < 0) {
		out_null_as(out, "load_average", "");
		return;
	}
	label(out, "LOAD");
	out_array_begin(out, "load_average");
	for (size_t i = 0; i < SUMMARY_LOADS; i++) {
		snprintf(text, sizeof(text), "%.2f", summary->load[i]);
		out_text(out, i ? ", " : "");
		out_double_as(out, NULL, summary->load[i], text);
	}
	out_array_end(out);
	out_text(out, " (of 1, 5 and 15 minutes)\n");
}

static void show_task(struct out *out, const struct summary *summary, bool is_live)
{
	if (!summary->has_task)
		return;
	label(out, summary->panicked ? "PANIC TASK" : is_live ? "SELECTED" : "TASK");
	task_write_place(out, "task", &summary->task);
	out_text(out, "\n");
}

/* Those that the panic stopped, of a machine that it goes for no kexec on. */
static void show_stopped(struct out *out, struct target *target)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus), shown = 0;
	out_array_begin(out, "cpus_stopped");
	for (size_t i = 0; i < count; i++) {
		if (!cpus[i].is_stopped)
			continue;
		out_u64_as(out, NULL, cpus[i].number, "");
		shown++;
	}
	out_array_end(out);
	if (shown)
		out_text(out, " (the panic stopped %zu of them)", shown);
}

/* CPUs that left no registers when the kernel died through kexec. */
static void show_silent(struct out *out, struct target *target)
{
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus), shown = 0;
	out_array_begin(out, "cpus_silent");
	for (size_t i = 0; i < count; i++) {
		if (!cpus[i].is_silent)
			continue;
		out_text(out, shown++ ? ", " : " (no answer from CPU ");
		out_u64(out, NULL, cpus[i].number);
	}
	out_array_end(out);
	out_text(out, shown ? " when the kernel died)" : "");
}

static void show_bytes(struct out *out, const char *key, uint64_t bytes)
{
	char text[32];
	snprintf(text, sizeof(text), "%.1f MiB", (double)bytes / (1 << 20));
	out_u64_as(out, key, bytes, text);
}

/* 0: nothing is known of them, for no machine has none. */
static void show_count(struct out *out, const char *key, uint64_t count)
{
	if (count)
		out_u64(out, key, count);
	else
		out_null_as(out, key, "not known");
}

static void show_cpus(struct out *out, struct target *target, const struct summary *summary)
{
	label(out, "CPUS");
	show_count(out, "cpus", summary->cpus);
	if (summary->cpus_online != summary->cpus)
		out_text(out, " possible, %" PRIu64 " up", summary->cpus_online);
	if (summary->cpus)
		out_u64_as(out, "cpus_online", summary->cpus_online, "");
	else
		out_null_as(out, "cpus_online", "");
	show_stopped(out, target);
	show_silent(out, target);
	out_text(out, "\n");
}

static void show_sizes(struct out *out, struct target *target, const struct summary *summary)
{
	show_cpus(out, target, summary);
	label(out, "TASKS");
	show_count(out, "tasks", summary->tasks);
	out_bool_as(out, "all_tasks", summary->has_all_tasks, "");
	out_text(out, summary->tasks && !summary->has_all_tasks ? " at least\n" : "\n");
	label(out, "MEMORY");
	if (summary->memory)
		show_bytes(out, "memory", summary->memory);
	else
		out_null_as(out, "memory", "?");
	out_text(out, " (");
	show_bytes(out, "memory_in_dump", target->facts->memory_size);
	out_text(out, " in the dump)\n");
}

/* `lack`: why it is read from memory, as in a dump; NULL: it is not. */
static void show_source(struct out *out, const char *what, const char *interface,
			const struct error *lack)
{
	if (lack)
		out_text(out, "%s from memory (%s)", what, lack->message);
	else
		out_text(out, "%s from %s", what, interface);
}

static void write_source(struct out *out, const char *key, const char *interface,
			 const struct error *lack)
{
	char lack_key[32];
	snprintf(lack_key, sizeof(lack_key), "%s_lack", key);
	out_string_as(out, key, lack ? "memory" : interface, "");
	if (lack)
		out_string_as(out, lack_key, lack->message, "");
}

/* What a running kernel was asked for, instead of being read from its memory. */
static void show_sources(struct out *out, struct target *target)
{
	static const char btf[] = "/sys/kernel/btf", bpf[] = "bpf(2)";
	struct running_program *programs = NULL;
	size_t count;
	const struct error *no_btf = target->live_lack;
	struct error *no_bpf = live_programs(target, &programs, &count);
	label(out, "SOURCES");
	if (no_btf && no_bpf && error_is_equal(no_btf, no_bpf)) {
		show_source(out, "all", NULL, no_bpf);
	} else {
		show_source(out, "types", btf, no_btf);
		show_source(out, ", BPF programs", bpf, no_bpf);
		out_text(out, ", all else from memory");
	}
	out_text(out, "\n");
	out_object_begin(out, "sources");
	write_source(out, "types", btf, no_btf);
	write_source(out, "bpf", bpf, no_bpf);
	out_object_end(out);
	error_free(no_bpf);
	free(programs);
}

static void show_dump(struct out *out, struct target *target)
{
	const struct vmcore_facts *facts = target->facts;
	out_bool_as(out, "live", facts->is_live, "");
	if (facts->is_live) {
		label(out, "LIVE");
		out_text(out, "the running kernel (/proc/kcore), ");
		out_string_as(out, "format", facts->format, "");
		out_string(out, "machine", facts->machine);
		out_text(out, ": it goes on while it is read\n");
		show_sources(out, target);
		return;
	}
	label(out, "DUMP");
	out_string(out, "format", facts->format);
	out_text(out, ", %s", facts->machine);
	out_string_as(out, "machine", facts->machine, "");
	if (facts->dump_level >= 0) {
		out_text(out, ", level ");
		out_i64(out, "dump_level", facts->dump_level);
	}
	out_text(out, ", %.1f MiB", (double)facts->file_size / (1 << 20));
	out_u64_as(out, "file_size", facts->file_size, "");
	out_text(out, facts->from_kexec ? ", by kdump\n" : ", from outside (no kdump)\n");
	out_bool_as(out, "kdump", facts->from_kexec, "");
}

/* Other kernels' BTF has the per-CPU variables, and no others. */
static void show_types(struct out *out, struct target *target)
{
	struct per_cpu_copies copies;
	bool is_untyped = per_cpu_untyped(target, &copies);
	if (is_untyped) {
		label(out, "TYPES");
		out_text(out,
			 "the kernel's BTF has no per-CPU variables: their types are inferred\n");
	}
	out_bool_as(out, "per_cpu_inferred", is_untyped, "");
}

static void show_problems(struct out *out, const struct target *target)
{
	out_array_begin(out, "problems");
	for (const struct target_problem *p = target->problems; p; p = p->next) {
		label(out, "PROBLEM");
		out_string(out, NULL, p->error->message);
		out_text(out, "\n");
		if (p->error->advice) {
			label(out, "ADVICE");
			out_text(out, "%s\n", p->error->advice);
		}
	}
	out_array_end(out);
	out_array_begin(out, "advice");
	for (const struct target_problem *p = target->problems; p; p = p->next)
		if (p->error->advice)
			out_string_as(out, NULL, p->error->advice, "");
	out_array_end(out);
}

/* What the process that reads the dump may not do, or why it still may. */
static void show_sandbox(struct out *out, const struct session *session)
{
	const struct sandbox *sandbox = session->sandbox;
	bool is_on = sandbox && sandbox->seccomp;
	const char *lack = is_on		      ? NULL
			   : sandbox && sandbox->lack ? sandbox->lack->message
						      : "off (--no-sandbox)";
	bool has_helper = session->helper && session->helper->socket >= 0;
	label(out, "SANDBOX");
	out_object_begin(out, "sandbox");
	if (is_on)
		out_text(out, "seccomp%s", sandbox->sealed ? ", no more files" : "");
	if (sandbox && sandbox->landlock)
		out_text(out, "%sLandlock %d", is_on ? ", " : "", sandbox->landlock);
	else if (sandbox && sandbox->landlock_lack)
		out_text(out, ", no Landlock: %s", sandbox->landlock_lack);
	if (has_helper && is_on)
		out_text(out, ", helper process");
	if (lack)
		out_text(out, "%s", lack);
	out_text(out, "\n");
	out_bool_as(out, "seccomp", is_on, "");
	out_bool_as(out, "sealed", is_on && sandbox->sealed, "");
	out_u64_as(out, "landlock", sandbox ? (uint64_t)sandbox->landlock : 0, "");
	out_bool_as(out, "helper", has_helper, "");
	if (lack)
		out_string_as(out, "lack", lack, "");
	out_object_end(out);
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	(void)arguments;
	struct summary summary;
	struct out *out = session->out;
	summary_read(session->target, &summary);
	out_object_begin(out, NULL);
	field(out, "KERNEL", "release", summary.release);
	field(out, "VERSION", "version", summary.version);
	field(out, "NODE", "node", summary.nodename);
	show_time(out, &summary);
	show_load(out, &summary);
	field(out, "PANIC", "panic", summary.panic);
	show_task(out, &summary, target_is_live(session->target));
	show_sizes(out, session->target, &summary);
	show_dump(out, session->target);
	show_types(out, session->target);
	show_sandbox(out, session);
	show_problems(out, session->target);
	out_object_end(out);
	summary_deinit(&summary);
	return NULL;
}

extern const struct command command_sys;
const struct command command_sys = {
	.name = "sys",
	.summary = "show the system's facts: kernel, date, panic, sizes, dump",
	.description = "Shows the kernel's release and version, when it died and after how long, "
		       "its load\n"
		       "averages, the panic message with its task and CPU, how many CPUs and tasks "
		       "there are,\n"
		       "how much memory, what kind of dump this is, and how the program is kept "
		       "from doing\n"
		       "what a hostile dump might want. What could not be read of the dump is "
		       "listed as a\n"
		       "problem.",
	.examples = (const char *const[]){ "sys", NULL },
	.run = run,
};
