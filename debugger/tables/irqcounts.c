// SPDX-License-Identifier: GPL-3.0-or-later
/* Interrupts by CPU, as the columns of /proc/interrupts have them. */
#include "debugger/kernel/interrupts.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBERS_MAX 256

enum { COLUMN_CPU, COLUMN_LABEL, COLUMN_IRQ, COLUMN_DESC, COLUMN_COUNT, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "where it came", NULL },
	[COLUMN_LABEL] = { "label", COLUMN_TEXT, 5, "as /proc/interrupts has it: 4, LOC, RES",
			   NULL },
	[COLUMN_IRQ] = { "irq", COLUMN_INTEGER, 0, "of a device's: its number", NULL },
	[COLUMN_DESC] = { "desc", COLUMN_ADDRESS, 0, "of a device's: its struct irq_desc",
			  "struct irq_desc" },
	[COLUMN_COUNT] = { "count", COLUMN_WIDE, 10, "how often", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -28, "who handles it first, or what it is", NULL },
};

/* The processor's own up to 7.1: members of irq_cpustat_t (kernel arch/x86/kernel/irq.c). */
static const struct {
	const char *label, *member, *name;
} own[] = {
	{ "NMI", "__nmi_count", "non-maskable interrupts" },
	{ "LOC", "apic_timer_irqs", "local timer" },
	{ "SPU", "irq_spurious_count", "spurious interrupts" },
	{ "PMI", "apic_perf_irqs", "performance monitoring" },
	{ "IWI", "apic_irq_work_irqs", "irq_work" },
	{ "RTR", "icr_read_retry_count", "APIC ICR read retries" },
	{ "RES", "irq_resched_count", "rescheduling" },
	{ "CAL", "irq_call_count", "function calls" },
	{ "TLB", "irq_tlb_count", "TLB shootdowns" },
	{ "TRM", "irq_thermal_count", "thermal events" },
	{ "THR", "irq_threshold_count", "threshold APIC" },
	{ "DFR", "irq_deferred_error_count", "deferred errors" },
	{ "HYP", "irq_hv_callback_count", "hypervisor callbacks" },
	{ "PIN", "kvm_posted_intr_ipis", "posted interrupts" },
	{ "NPI", "kvm_posted_intr_nested_ipis", "nested posted interrupts" },
	{ "PIW", "kvm_posted_intr_wakeup_ipis", "posted interrupts that wake" },
};

/* Variables of their own. */
static const struct {
	const char *label, *variable, *name;
} counted[] = {
	{ "MCE", "mce_exception_count", "machine checks" },
	{ "MCP", "mce_poll_count", "polls for machine checks" },
};

struct pass {
	struct table_scan *scan;
	const struct cpu *cpu;
};

static struct error *visit_device(void *context, const struct interrupt *interrupt)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	char label[16];
	uint32_t count;
	snprintf(label, sizeof(label), "%" PRIu32, interrupt->number);
	table_set(scan, COLUMN_CPU, pass->cpu->number);
	table_set_text(scan, COLUMN_LABEL, label);
	table_set(scan, COLUMN_IRQ, interrupt->number);
	table_set(scan, COLUMN_DESC, interrupt->desc);
	struct error *error = interrupt_count(scan->target, interrupt, pass->cpu, &count);
	if (error)
		TRY(table_set_error(scan, COLUMN_COUNT, error));
	else
		table_set(scan, COLUMN_COUNT, count);
	if (*interrupt->name)
		table_set_text(scan, COLUMN_NAME, interrupt->name);
	return table_emit(scan);
}

/* A label or a text of the kernel's, without the blanks and the line's end that it prints. */
static struct error *read_word(const struct object *info, const char *member, char *word,
			       size_t size)
{
	uint64_t address;
	size_t length;
	TRY(object_u64(info, member, &address));
	TRY(memory_read_string(info->target->memory, address, word, size, &length));
	size_t start = strspn(word, " "), end = strcspn(word, "\n");
	memmove(word, word + start, end > start ? end - start : 0);
	word[end > start ? end - start : 0] = 0;
	return NULL;
}

/* One of struct irq_stat_info irq_stat_info[]. */
static struct error *visit_number(struct table_scan *scan, const struct cpu *cpu,
				  const struct object *count, const struct object *info)
{
	char label[16], name[64];
	struct error *error = read_word(info, "symbol", label, sizeof(label));
	if (error)
		TRY(table_set_error(scan, COLUMN_LABEL, error));
	else
		table_set_text(scan, COLUMN_LABEL, label);
	error = read_word(info, "text", name, sizeof(name));
	if (error)
		TRY(table_set_error(scan, COLUMN_NAME, error));
	else
		table_set_text(scan, COLUMN_NAME, name);
	table_set(scan, COLUMN_CPU, cpu->number);
	TRY(table_set_member(scan, COLUMN_COUNT, count, NULL));
	return table_emit(scan);
}

/* Where the kernel has numbers them, and says in a table what each is (since 7.2). */
static struct error *visit_numbers(struct table_scan *scan, const struct cpu *cpu,
				   const struct object *counts)
{
	struct object info;
	struct btf_type array;
	struct type element;
	uint64_t step, size;
	uint64_t start;
	if (!symtab_address(scan->target->symbols, "irq_stat_info", &start))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol irq_stat_info");
	TRY(object_at(scan->target, "struct irq_stat_info", start, &info));
	if (!type_get_resolved(counts->type, &array) || array.kind != BTF_ARRAY ||
	    !type_target(counts->type, &element) || !type_size(element, &step) ||
	    !type_size(info.type, &size))
		return error_create(ERROR_UNSUPPORTED, "irq_cpustat_t.counts is no array");
	for (uint32_t i = 0; i < array.array_count && i < NUMBERS_MAX; i++) {
		struct object count = { .target = scan->target,
					.type = element,
					.address = counts->address + i * step };
		TRY(visit_number(scan, cpu, &count, &info));
		info.address += size;
	}
	return NULL;
}

/* Those that this kernel has. */
static struct error *visit_own(struct table_scan *scan, const struct cpu *cpu)
{
	struct object stat, counts;
	TRY(object_per_cpu(scan->target, "irq_stat", "irq_cpustat_t", cpu, &stat));
	if (object_has(&stat, "counts")) {
		TRY(object_member(&stat, "counts", &counts));
		return visit_numbers(scan, cpu, &counts);
	}
	for (size_t i = 0; i < ARRAY_COUNT(own); i++) {
		if (!object_has(&stat, own[i].member))
			continue;
		table_set(scan, COLUMN_CPU, cpu->number);
		table_set_text(scan, COLUMN_LABEL, own[i].label);
		table_set_text(scan, COLUMN_NAME, own[i].name);
		TRY(table_set_member(scan, COLUMN_COUNT, &stat, own[i].member));
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *visit_counted(struct table_scan *scan, const struct cpu *cpu)
{
	for (size_t i = 0; i < ARRAY_COUNT(counted); i++) {
		struct object object;
		struct error *error = object_per_cpu(scan->target, counted[i].variable,
						     "unsigned int", cpu, &object);
		if (error && error->kind == ERROR_NOT_FOUND) {
			error_free(error);
			continue;
		}
		TRY(error);
		table_set(scan, COLUMN_CPU, cpu->number);
		table_set_text(scan, COLUMN_LABEL, counted[i].label);
		table_set_text(scan, COLUMN_NAME, counted[i].name);
		TRY(table_set_member(scan, COLUMN_COUNT, &object, NULL));
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	const struct cpu *cpus;
	TRY(target_need_cpus(scan->target));
	size_t count = target_cpus(scan->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		struct pass pass = { scan, &cpus[i] };
		uint64_t lost = 0;
		struct error *error = interrupts_for_each(scan->target, visit_device, &pass, &lost);
		if (!error && lost)
			error = error_create(ERROR_FAULT, "%" PRIu64 " interrupts cannot be read",
					     lost);
		TRY(table_broken(scan, error));
		TRY(table_broken(scan, visit_own(scan, &cpus[i])));
		TRY(table_broken(scan, visit_counted(scan, &cpus[i])));
	}
	return NULL;
}

static const char *const examples[] = { "irqcounts --where 'count > 0' --sort -count",
					"sql SELECT label, sum(count) AS count, name FROM "
					"irqcounts GROUP BY label ORDER BY 2 DESC LIMIT 5",
					NULL };

const struct table table_irqcounts = {
	.name = "irqcounts",
	.summary = "interrupts by CPU",
	.description = "A row is how often an interrupt came on a CPU: of a device, or of the "
		       "processor's own. The sums are in irqs.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DESC,
};
