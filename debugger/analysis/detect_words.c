// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * More about ends that have their own records: the first process (how it ended), the root file
 * system (which one was looked for), a machine check (what the banks say).
 */
#include "base/array.h"
#include "base/digits.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/stack_words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT		 256
#define COMMAND_LINE	 4096
#define SIGNAL_MASK	 0x7fu /* of an exit code, as wait(2) has it */
#define STATUS_SHIFT	 8
#define STATUS_MASK	 0xffu
#define STATUS_NOT_FOUND 127u

static bool is_cause(const struct analysis *analysis, const char *kind)
{
	return analysis->count && !strcmp(analysis->findings[0].kind, kind);
}

/* --- the first process ------------------------------------------------------------------------ */

static const char *signal_name(unsigned int number)
{
	static const char *const names[] = {
		[1] = "SIGHUP",	 [2] = "SIGINT",   [3] = "SIGQUIT",  [4] = "SIGILL",
		[5] = "SIGTRAP", [6] = "SIGABRT",  [7] = "SIGBUS",   [8] = "SIGFPE",
		[9] = "SIGKILL", [11] = "SIGSEGV", [13] = "SIGPIPE", [15] = "SIGTERM",
		[31] = "SIGSYS"
	};
	return number < ARRAY_COUNT(names) && names[number] ? names[number] : "";
}

static struct error *say_init(struct analysis *analysis)
{
	static const char words[] = "exitcode=0x";
	struct finding *finding = &analysis->findings[0];
	const char *text = strstr(analysis->panic, words);
	uint64_t code;
	if (!text || !digits_scan(text + sizeof(words) - 1, 16, &code))
		return NULL;
	unsigned int signal = (unsigned int)code & SIGNAL_MASK;
	unsigned int status = (unsigned int)(code >> STATUS_SHIFT) & STATUS_MASK;
	TRY(finding_add(finding, "bt", "its exit code was 0x%" PRIx64, code));
	if (signal)
		return finding_summarize(
			finding, "the first process, pid %d \"%s\", was killed by signal %u%s%s",
			analysis->task.pid, analysis->task.comm, signal,
			*signal_name(signal) ? ", " : "", signal_name(signal));
	return finding_summarize(
		finding, "the first process, pid %d \"%s\", ended with status %u%s",
		analysis->task.pid, analysis->task.comm, status,
		status == STATUS_NOT_FOUND ? ", as of a program that is not there" : "");
}

/* --- the root file system --------------------------------------------------------------------- */

/* The word of the kernel's command line that begins so; "": none does. */
static struct error *find_parameter(struct target *target, const char *name, char *buffer,
				    size_t size)
{
	struct object pointer;
	uint64_t address;
	char line[COMMAND_LINE];
	size_t length;
	*buffer = 0;
	TRY(object_variable(target, "saved_command_line", "unsigned long", &pointer));
	TRY(object_u64(&pointer, NULL, &address));
	TRY(memory_read_string(target->memory, address, line, sizeof(line), &length));
	for (char *word = line; *word; word += strspn(word, " ")) {
		size_t end = strcspn(word, " ");
		if (!strncmp(word, name, strlen(name)))
			snprintf(buffer, size, "%.*s", (int)end, word);
		word += end;
	}
	return NULL;
}

static struct error *say_root(struct analysis *analysis)
{
	char parameter[TEXT] = "";
	struct finding *finding = &analysis->findings[0];
	const char *text = strstr(analysis->panic, "VFS: ");
	if (!text)
		return NULL;
	TRY(error_only_fatal(
		find_parameter(analysis->target, "root=", parameter, sizeof(parameter))));
	finding->kind = "no-root";
	/* What it calls to mount one is called otherwise by each kernel. */
	static const char caller[] = "prepare_namespace";
	if (trace_find(&analysis->trace, 0, caller) < analysis->trace.count) {
		finding->culprit = strdup(caller);
		if (!finding->culprit)
			return error_no_memory();
	}
	TRY(finding_summarize(finding, "there is no root file system to start from: %s", text));
	return finding_add(finding, "log", "the kernel was started %s%s",
			   *parameter ? "with " : "without root=", parameter);
}

/* --- machine checks --------------------------------------------------------------------------- */

/* Bits of a bank's status (Intel's and AMD's manuals agree about these). */
#define STATUS_VALID	   63
#define STATUS_UNCORRECTED 61
#define STATUS_HAS_ADDRESS 58
#define STATUS_CORRUPT	   57

/* What kind of thing failed, by the lower 16 bits of the status. */
static const struct part {
	uint32_t mask, value;
	const char *name, *word;
} parts[] = {
	{ 0xe800, 0x0800, "a bus or interconnect", "bus" },
	{ 0xef00, 0x0100, "a cache", "cache" },
	{ 0xef80, 0x0080, "a memory controller", "memory-controller" },
	{ 0xeff0, 0x0010, "a translation buffer (TLB)", "translation-buffer" },
	{ 0xefff, 0x0005, "an internal parity check", "parity" },
	{ 0, 0, "something that the code does not tell", "unknown-part" },
};

static const struct part *part_of_machine(uint64_t status)
{
	const struct part *part = parts;
	while ((status & part->mask) != part->value)
		part++;
	return part;
}

/* A struct mce_hw_err around it since 6.13. */
static const char *record_type(struct target *target)
{
	struct object record;
	struct error *error = object_at(target, "struct mce_hw_err", 0, &record);
	const char *name = error ? "struct mce" : "struct mce_hw_err";
	error_free(error);
	return name;
}

static struct error *say_bank(struct analysis *analysis, struct object *record, uint32_t cpu,
			      const char *command, bool *ret_said)
{
	uint64_t status, bank, address;
	char where[64] = "";
	struct finding *finding = &analysis->findings[0];
	const struct part *part;
	if (object_has(record, "m.status"))
		TRY(object_member(record, "m", record));
	TRY(object_u64(record, "status", &status));
	TRY(object_u64(record, "bank", &bank));
	TRY(object_u64(record, "addr", &address));
	if (!(status >> STATUS_VALID & 1))
		return NULL;
	*ret_said = true;
	part = part_of_machine(status);
	/* Whatever the CPU was doing then is on the stack, and has no part in it. */
	finding->culprit = strdup(part->word);
	if (!finding->culprit)
		return error_no_memory();
	if (status >> STATUS_HAS_ADDRESS & 1)
		snprintf(where, sizeof(where), ", at address 0x%" PRIx64, address);
	TRY(finding_summarize(
		finding, "hardware has failed, says CPU %u: %s, %s%s%s", cpu, part->name,
		status >> STATUS_UNCORRECTED & 1 ? "uncorrected" : "corrected",
		status >> STATUS_CORRUPT & 1 ? ", the processor's state is corrupt" : "", where));
	return finding_add(finding, command, "bank %" PRIu64 " of CPU %u has status 0x%" PRIx64,
			   bank, cpu, status);
}

/* What mce_panic() was told was the worst, else what each CPU has seen. */
static struct error *say_banks(struct analysis *analysis)
{
	struct target *target = analysis->target;
	const char *type = record_type(target);
	const struct cpu *cpus;
	struct object record;
	uint64_t address;
	bool said = false;
	char command[64];
	size_t frame = trace_find(&analysis->trace, 0, "mce_panic");
	if (analysis_argument(analysis, frame, "final", &address) && address) {
		TRY(object_at(target, type, address, &record));
		snprintf(command, sizeof(command), "print *(%s *)0x%" PRIx64, type, address);
		TRY(error_only_fatal(
			say_bank(analysis, &record, analysis->task.cpu, command, &said)));
	}
	size_t count = target_cpus(target, &cpus);
	/* Renamed since 6.12. */
	const char *seen = symtab_address(target->symbols, "mces_seen", &address) ? "mces_seen"
										  : "hw_errs_seen";
	for (size_t i = 0; i < count && !said; i++) {
		TRY(object_per_cpu(target, seen, type, &cpus[i], &record));
		snprintf(command, sizeof(command), "print %s:%u", seen, cpus[i].number);
		TRY(error_only_fatal(say_bank(analysis, &record, cpus[i].number, command, &said)));
	}
	if (said && frame < analysis->trace.count)
		analysis->blamed = frame;
	return NULL;
}

struct error *detect_words(struct analysis *analysis)
{
	if (analysis->is_asked || !analysis->count)
		return NULL;
	if (is_cause(analysis, "init-died"))
		TRY(say_init(analysis));
	if (is_cause(analysis, "panic") && strstr(analysis->panic, "Unable to mount root"))
		TRY(say_root(analysis));
	return is_cause(analysis, "machine-check") ? say_banks(analysis) : NULL;
}
