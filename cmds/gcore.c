// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/core.h"

#include "debugger/command/command.h"
#include "debugger/command/task_named.h"
#include "debugger/kernel/mappings.h"
#include "debugger/kernel/path.h"
#include "debugger/shell/child.h"
#include <inttypes.h>

/* Of mappings that are not whole; the sums are of all. */
#define INCOMPLETE_SHOWN 1000

struct listing {
	struct session *session;
	uint64_t count;
};

/* ", 12 pages swapped out"; JSON has zeros, too. */
static void write_missing(struct out *out, const struct core_missing *missing)
{
	static const char *const words[] = { "swapped out", "in their file alone",
					     "not in the dump" };
	static const char *const keys[] = { "swapped", "in_file", "not_in_dump" };
	const uint64_t counts[] = { missing->swapped, missing->in_file, missing->not_in_dump };
	const char *separator = "";
	for (size_t i = 0; i < 3; i++) {
		char text[64] = "";
		if (counts[i]) {
			snprintf(text, sizeof(text), "%s%" PRIu64 " %s", separator, counts[i],
				 words[i]);
			separator = ", ";
		}
		out_u64_as(out, keys[i], counts[i], text);
	}
}

static struct error *write_incomplete(void *context, const struct object *vma,
				      const struct core_missing *missing)
{
	struct listing *listing = context;
	struct out *out = listing->session->out;
	struct object mm;
	uint64_t start, end;
	char path[PATH_SIZE];
	if (listing->count++ >= INCOMPLETE_SHOWN)
		return NULL;
	TRY(object_u64(vma, "vm_start", &start));
	TRY(object_u64(vma, "vm_end", &end));
	TRY(object_follow(vma, "vm_mm", &mm));
	struct error *error = mapping_name(&mm, vma, path, sizeof(path));
	out_object_begin(out, NULL);
	out_address(out, "start", start);
	out_text(out, "-");
	out_address(out, "end", end);
	out_text(out, "  ");
	if (error)
		out_missing(out, "path", error);
	else
		out_string(out, "path", path);
	out_text(out, "%s", error || *path ? ": " : "");
	write_missing(out, missing);
	out_text(out, "\n");
	out_object_end(out);
	return error_only_fatal(error);
}

static void count(struct out *out, const char *key, uint64_t number, const char *text)
{
	out_u64(out, key, number);
	out_text(out, "%s", text);
}

static void write_sums(struct out *out, const char *path, const struct core_summary *summary)
{
	const struct core_missing *missing = &summary->missing;
	uint64_t all = missing->swapped + missing->in_file + missing->not_in_dump;
	out_string(out, "file", path);
	out_text(out, ": ");
	count(out, "bytes", summary->bytes, " bytes, ");
	count(out, "threads", summary->threads, " threads, ");
	count(out, "mappings", summary->mappings, " mappings, ");
	count(out, "pages", summary->pages, " pages");
	out_text(out, "\n");
	if (all)
		out_text(out, "missing: %" PRIu64 " pages: ", all);
	out_object_begin(out, "missing");
	write_missing(out, missing);
	out_object_end(out);
	out_text(out, "%s", all ? "\n" : "");
	out_u64_as(out, "without_registers", summary->without_registers, "");
	if (summary->without_registers)
		out_text(out, "without registers: %" PRIu64 " threads\n",
			 summary->without_registers);
	out_u64_as(out, "devices", summary->devices, "");
	out_bool_as(out, "names_are_cut", summary->names_are_cut, "");
	if (summary->names_are_cut)
		out_text(out, "the names of mapped files are not complete\n");
}

static struct error *write_core(struct session *session, const struct task *task, const char *path)
{
	struct listing listing = { .session = session };
	const struct core_options options = { .progress = session->progress,
					      .incomplete = write_incomplete,
					      .context = &listing };
	struct core_summary summary;
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	out_object_begin(session->out, NULL);
	out_array_begin(session->out, "incomplete");
	struct error *error = export_core(session->target, task, &options, file, &summary);
	out_array_end(session->out);
	if (listing.count > INCOMPLETE_SHOWN)
		out_text(session->out, "and %" PRIu64 " more mappings\n",
			 listing.count - INCOMPLETE_SHOWN);
	out_u64_as(session->out, "incomplete_count", listing.count, "");
	error = output_close(session->helper, file, path, error);
	if (!error)
		write_sums(session->out, path, &summary);
	out_object_end(session->out);
	return error;
}

static struct error *gcore_run(struct session *session, const struct arguments *arguments)
{
	struct task task;
	TRY(task_named(session, arguments->operands[0], &task));
	struct error *error = write_core(session, &task, arguments->operands[1]);
	task_deinit(&task);
	return error;
}

static const char *const examples[] = { "gcore 1 /dev/null", NULL };

const struct command command_gcore = {
	.name = "gcore",
	.summary = "write the core of a process, which gdb opens",
	.description =
		"Writes an ELF core of TASK's process into FILE: its memory, the user registers of "
		"all of its threads, the TASK's first, its arguments, its auxiliary vector and the "
		"files that it has mapped. `gdb PROGRAM FILE` opens it, where PROGRAM is the same "
		"file as in the dead machine: `extract` may have it. Nobody else may read FILE, "
		"whatever the umask says; one that exists has to be the user's own.\n"
		"\n"
		"Pages of mapped files are in the core if they were in memory at all, even where "
		"the process had not touched them; what was never touched are zeros. What was "
		"swapped out or in its file alone, or is not in the dump, is not in the core "
		"either: gdb cannot access it, or reads it from its own copy of a mapped file. The "
		"mappings that lack pages are listed, with the number of 4 KiB pages by the "
		"reason. makedumpfile -d 8, and with it -d 31, leaves out all but some pages of "
		"files: such a core has registers and little else.\n"
		"\n"
		"A thread that ran when the machine died has registers where the stack leads back "
		"to user mode, but none of the FPU, SSE and AVX, which its CPU had. What is wider "
		"than AVX's (AVX-512) is not written. Up to 5.15 a thread that runs a virtual "
		"machine has its guest's there: nothing says so.",
	.operands = { { .name = "TASK", .kind = OPERAND_TASK },
		      { .name = "FILE", .kind = OPERAND_OUTPUT, .is_private = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = gcore_run,
};
