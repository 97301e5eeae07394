// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"
#include "debugger/kernel/summary.h"
#include <inttypes.h>
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

static void show_task(struct out *out, const struct summary *summary)
{
	if (!summary->has_task)
		return;
	const struct task *task = &summary->task;
	label(out, summary->panicked ? "PANIC TASK" : "TASK");
	out_object_begin(out, "task");
	out_text(out, "pid ");
	out_i64(out, "pid", task->pid);
	out_text(out, " \"");
	out_string(out, "comm", task->comm);
	out_text(out, "\" at ");
	out_address(out, "address", task->address);
	out_text(out, " on CPU ");
	out_u64(out, "cpu", task->cpu);
	out_text(out, "\n");
	out_object_end(out);
}

static void show_sizes(struct out *out, const struct target *target, const struct summary *summary)
{
	char text[64];
	label(out, "CPUS");
	out_u64(out, "cpus", summary->cpus);
	if (summary->cpus_online != summary->cpus)
		out_text(out, " possible, %" PRIu64 " online", summary->cpus_online);
	out_u64_as(out, "cpus_online", summary->cpus_online, "");
	out_text(out, "\n");
	label(out, "TASKS");
	out_u64(out, "tasks", summary->tasks);
	out_text(out, "\n");
	snprintf(text, sizeof(text), "%.1f MiB", (double)target->facts->memory_size / (1 << 20));
	label(out, "MEMORY");
	out_u64_as(out, "memory", target->facts->memory_size, text);
	out_text(out, "\n");
}

static void show_dump(struct out *out, const struct target *target)
{
	const struct vmcore_facts *facts = target->facts;
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

static void show_problems(struct out *out, const struct target *target)
{
	out_array_begin(out, "problems");
	for (const struct target_problem *p = target->problems; p; p = p->next) {
		label(out, "PROBLEM");
		out_string(out, NULL, p->error->message);
		out_text(out, "\n");
		if (p->advice) {
			label(out, "ADVICE");
			out_text(out, "%s\n", p->advice);
		}
	}
	out_array_end(out);
	out_array_begin(out, "advice");
	for (const struct target_problem *p = target->problems; p; p = p->next)
		if (p->advice)
			out_string_as(out, NULL, p->advice, "");
	out_array_end(out);
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
	field(out, "PANIC", "panic", summary.panic);
	show_task(out, &summary);
	show_sizes(out, session->target, &summary);
	show_dump(out, session->target);
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
		       "the panic\n"
		       "message with its task and CPU, how many CPUs and tasks there are, how much "
		       "memory,\n"
		       "and what kind of dump this is. What could not be read of the dump is "
		       "listed as a problem.",
	.examples = (const char *const[]){ "sys", NULL },
	.run = run,
};
