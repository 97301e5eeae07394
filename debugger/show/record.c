// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/record.h"

#include "base/array.h"
#include "debugger/analysis/analysis.h"
#include "debugger/kernel/memory_account.h"
#include "debugger/kernel/module.h"
#include "debugger/kernel/printk.h"
#include "debugger/show/record_parts.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUILD_ID_SIZE 128
#define TEXT_SIZE     256
#define BOOT_ID_SIZE  16
#define FRAMES_MAX    32 /* of the stack that panicked */

static void write_text(struct out *out, const char *key, const char *text)
{
	if (*text)
		out_string(out, key, text);
	else
		out_null_as(out, key, "");
}

/* A variable of text, by its place alone. */
static void write_variable(struct record *record, const char *key, const char *name)
{
	char text[TEXT_SIZE] = "";
	uint64_t address;
	size_t length;
	if (symtab_address(record->target->symbols, name, &address))
		error_free(memory_read_string(record->target->memory, address, text, sizeof(text),
					      &length));
	write_text(record->out, key, text);
}

static void write_time(struct out *out, const char *key, int64_t seconds)
{
	char text[64] = "";
	time_t moment = (time_t)seconds;
	struct tm parts;
	if (seconds > 0 && gmtime_r(&moment, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	write_text(out, key, text);
}

/* --- which machine, which boot ----------------------------------------------------------------
 */

static void write_kernel(struct record *record)
{
	struct out *out = record->out;
	char build_id[BUILD_ID_SIZE] = "";
	if (!target_build_id(record->target, NULL, build_id, sizeof(build_id)))
		*build_id = 0;
	out_object_begin(out, "kernel");
	write_text(out, "release", record->summary.release);
	write_text(out, "version", record->summary.version);
	write_text(out, "machine", record->target->facts->machine);
	write_text(out, "build_id", build_id);
	out_object_end(out);
}

/* As /proc/sys/kernel/random/boot_id has it; zeros where nobody ever read that. */
static void write_boot_id(struct record *record)
{
	uint8_t id[BOOT_ID_SIZE] = { 0 };
	static const uint8_t none[BOOT_ID_SIZE];
	char text[2 * BOOT_ID_SIZE + 1] = "";
	uint64_t address;
	if (symtab_address(record->target->symbols, "sysctl_bootid", &address))
		error_free(memory_read(record->target->memory, address, id, sizeof(id)));
	for (size_t i = 0; i < sizeof(id) && memcmp(id, none, sizeof(id)); i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	write_text(record->out, "boot_id", text);
}

static void write_count(struct out *out, const char *key, bool is_known, uint64_t count)
{
	if (is_known)
		out_u64(out, key, count);
	else
		out_null_as(out, key, "");
}

static void write_host(struct record *record)
{
	struct out *out = record->out;
	out_object_begin(out, "host");
	write_text(out, "name", record->options->is_anonymous ? "" : record->summary.nodename);
	write_boot_id(record);
	write_variable(record, "hardware", "dump_stack_arch_desc_str");
	write_count(out, "cpus", record->summary.cpus, record->summary.cpus);
	write_count(out, "cpus_online", record->summary.cpus, record->summary.cpus_online);
	write_count(out, "memory", record->summary.memory, record->summary.memory);
	out_object_end(out);
}

static void write_dump(struct record *record)
{
	const struct vmcore_facts *facts = record->target->facts;
	struct out *out = record->out;
	out_object_begin(out, "dump");
	out_string(out, "format", facts->format);
	if (facts->dump_level >= 0)
		out_i64(out, "level", facts->dump_level);
	else
		out_null_as(out, "level", "");
	out_u64(out, "size", facts->file_size);
	out_bool(out, "kdump", facts->from_kexec);
	out_bool(out, "live", facts->is_live);
	out_array_begin(out, "problems");
	for (const struct target_problem *p = record->target->problems; p; p = p->next)
		out_string(out, NULL, p->error->message);
	out_array_end(out);
	out_object_end(out);
}

/* --- why it died ------------------------------------------------------------------------------ */

static void write_task(struct record *record)
{
	struct out *out = record->out;
	const struct analysis *analysis = &record->analysis;
	const char state[] = { analysis->task.state_letter, 0 };
	if (!analysis->has_task) {
		out_null_as(out, "task", "");
		return;
	}
	out_object_begin(out, "task");
	if (record->options->is_anonymous || analysis->task.is_partial)
		out_null_as(out, "comm", "");
	else
		out_string(out, "comm", analysis->task.comm);
	if (analysis->task.is_partial)
		out_null_as(out, "pid", "");
	else
		out_i64(out, "pid", analysis->task.pid);
	out_u64(out, "cpu", analysis->task.cpu);
	out_string(out, "state", state);
	out_object_end(out);
}

static void write_place(struct out *out, const struct frame *frame)
{
	out_object_begin(out, NULL);
	write_text(out, "function", frame->has_symbol ? frame->symbol.name : "");
	out_u64(out, "offset", frame->has_symbol ? frame->offset : 0);
	write_text(out, "module",
		   frame->has_symbol && frame->symbol.module ? frame->symbol.module : "");
	out_string(out, "found", frame_kind_name(frame->kind));
	out_object_end(out);
}

/* Without addresses, which are another boot's or another kernel's anyway. */
static void write_stack(struct record *record)
{
	const struct stack_trace *trace = &record->analysis.trace;
	out_array_begin(record->out, "stack");
	for (size_t i = 0; i < trace->count && i < FRAMES_MAX; i++)
		if (trace->frames[i].kind != FRAME_USER)
			write_place(record->out, &trace->frames[i]);
	out_array_end(record->out);
}

/* The functions of the signature: "1 null-pointer a/b/c". */
static void write_blamed(struct record *record)
{
	char *copy = strdup(record->analysis.signature);
	char *kind = copy ? strchr(copy, ' ') : NULL;
	char *functions = kind ? strchr(kind + 1, ' ') : NULL, *rest = NULL;
	out_array_begin(record->out, "blamed");
	for (char *name = functions ? strtok_r(functions + 1, "/", &rest) : NULL; name;
	     name = strtok_r(NULL, "/", &rest))
		out_string(record->out, NULL, name);
	out_array_end(record->out);
	free(copy);
}

static void write_finding(struct record *record, const struct finding *finding)
{
	struct out *out = record->out;
	out_object_begin(out, NULL);
	out_string(out, "kind", finding->kind);
	out_string(out, "sure", confidence_name(finding->sure));
	/* Its words are made of names and addresses. */
	if (record->options->is_anonymous || !finding->summary)
		out_null_as(out, "summary", "");
	else
		out_string(out, "summary", finding->summary);
	out_object_end(out);
}

static void write_cause(struct record *record)
{
	struct out *out = record->out;
	const struct analysis *analysis = &record->analysis;
	const struct finding *first = analysis->count ? &analysis->findings[0] : NULL;
	write_text(out, "kind", first ? first->kind : "");
	write_text(out, "sure", first ? confidence_name(first->sure) : "");
	write_text(out, "summary",
		   first && first->summary && !record->options->is_anonymous ? first->summary : "");
	write_text(out, "signature", analysis->signature);
	write_blamed(record);
	write_text(out, "panic", record->options->is_anonymous ? "" : analysis->panic);
	out_array_begin(out, "findings");
	/* What is blocked is told by "waiting", a group each. */
	for (size_t i = 0; i < analysis->count; i++)
		if (strcmp(analysis->findings[i].kind, "blocked") != 0)
			write_finding(record, &analysis->findings[i]);
	out_array_end(out);
	write_task(record);
	write_stack(record);
}

/* --- what it was made of ---------------------------------------------------------------------- */

static void write_taints(struct record *record)
{
	char letters[TAINT_LETTERS_SIZE] = "";
	uint64_t address, taints = 0;
	struct error *error = NULL;
	bool is_known = symtab_address(record->target->symbols, "tainted_mask", &address);
	if (is_known)
		error = memory_read_word(record->target->memory, address, &taints);
	if (is_known && !error)
		error = taint_letters(record->target, taints, letters);
	error_free(error);
	if (!is_known || error)
		out_null_as(record->out, "taints", "");
	else
		out_string(record->out, "taints", letters);
}

static void write_module(struct record *record, const struct module *module)
{
	struct module_facts facts;
	struct out *out = record->out;
	/* What cannot be read is empty. */
	error_free(module_facts_read(record->target, module, &facts));
	out_object_begin(out, NULL);
	out_string(out, "name", module->name);
	write_text(out, "version", facts.version);
	write_text(out, "srcversion", facts.source_version);
	out_string(out, "taints", facts.letters);
	out_object_end(out);
}

static void write_modules(struct record *record)
{
	const struct module *modules;
	size_t count = target_modules(record->target, &modules);
	out_array_begin(record->out, "modules");
	for (size_t i = 0; i < count; i++)
		write_module(record, &modules[i]);
	out_array_end(record->out);
}

/* Bytes by kind, those that have any. */
static void write_memory(struct record *record)
{
	struct memory_account account;
	struct out *out = record->out;
	struct error *error = memory_account_read(record->target, &account);
	if (error) {
		error_free(error);
		out_null_as(out, "memory", "");
		return;
	}
	out_object_begin(out, "memory");
	out_u64(out, "total", account.total * account.page_size);
	out_u64(out, "unaccounted", account.unaccounted * account.page_size);
	out_array_begin(out, "kinds");
	for (enum memory_kind kind = 0; kind < MEMORY_KINDS; kind++) {
		if (!account.pages[kind])
			continue;
		out_object_begin(out, NULL);
		out_string(out, "kind", memory_kind_name(kind));
		out_u64(out, "bytes", account.pages[kind] * account.page_size);
		out_object_end(out);
	}
	out_array_end(out);
	out_object_end(out);
}

/* --- all of it -------------------------------------------------------------------------------- */

static struct error *write_all(struct record *record)
{
	struct out *out = record->out;
	const struct summary *summary = &record->summary;
	out_string(out, "schema", "btfcrash-record");
	out_u64(out, "version", RECORD_VERSION);
	out_string(out, "program", BTFCRASH_VERSION);
	write_time(out, "time", summary->crash_time);
	if (summary->uptime >= 0)
		out_i64(out, "uptime", summary->uptime);
	else
		out_null_as(out, "uptime", "");
	write_kernel(record);
	write_host(record);
	write_cause(record);
	write_taints(record);
	write_modules(record);
	TRY(record_write_waiting(record));
	write_memory(record);
	write_dump(record);
	TRY(record_write_log(record));
	return record_write_stacks(record);
}

struct error *record_write(struct session *session, struct out *out,
			   const struct record_options *options)
{
	struct record record = {
		.session = session, .target = session->target, .out = out, .options = options
	};
	summary_read(record.target, &record.summary);
	struct error *error = analysis_run(record.target, NULL, &record.analysis);
	out_object_begin(out, NULL);
	if (!error)
		error = write_all(&record);
	out_object_end(out);
	analysis_deinit(&record.analysis);
	summary_deinit(&record.summary);
	return error;
}
