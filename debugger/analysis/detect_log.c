// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the kernel said before its end: reports of its own checks, of devices and of memory, and an
 * oops that it survived. What is about the end itself is evidence of that; the rest is told
 * besides.
 */
#include "base/array.h"
#include "base/digits.h"
#include "debugger/analysis/allocation_report.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/cpu_view.h"
#include "debugger/analysis/memory_words.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/printk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S  1000000000.0
#define LINE	  256
#define KIB_SHIFT 10
/* A report so near to the end is of what the kernel died of, if that was a BUG or a WARN. */
#define SAME_EVENT_NS  10000000000u
#define SAME_MOMENT_NS 1000000000u
/* So soon before a BUG, and of such a weight (KERN_WARNING is what printk() has by itself). */
#define REASON_NS    100000000u
#define REASON_LEVEL 4u
/* Of a network device that is held up the kernel speaks each 5 s, or 10 s. */
#define REPEATED_NS 20000000000u
#define ORDER_LIMIT 32
#define ZONES_SHOWN 8
#define FRAGMENTED  4 /* so many times as much is free as was asked for */

enum report {
	REPORT_CHECK,
	REPORT_ALLOCATION,
	REPORT_KILLED,
	REPORT_IO,
	REPORT_HARDWARE,
	REPORT_THERMAL,
	REPORT_WARNING,
	REPORT_HANG,
	REPORT_NETWORK,
	REPORTS
};

static const struct {
	const char *kind, *words;
} reports[] = {
	[REPORT_CHECK] = { "kernel-report", "the kernel found a mistake in itself" },
	[REPORT_ALLOCATION] = { "allocation-failure", "pages could not be allocated" },
	[REPORT_KILLED] = { "oom-kill", "processes were killed for want of memory" },
	[REPORT_IO] = { "io-error", "a device or file system failed" },
	[REPORT_HARDWARE] = { "hardware-error", "hardware reported an error" },
	[REPORT_THERMAL] = { "thermal", "a processor was too hot" },
	[REPORT_WARNING] = { "earlier-warning", "the kernel warned" },
	[REPORT_HANG] = { "earlier-hang", "the kernel found that something hung" },
	[REPORT_NETWORK] = { "network-device", "a network device was held up" },
};

/* Words of the kernel's, anywhere in a line of it. */
static const struct {
	const char *words;
	enum report report;
} rows[] = {
	{ "BUG: KASAN:", REPORT_CHECK },
	{ "BUG: KFENCE:", REPORT_CHECK },
	{ "BUG: KMSAN:", REPORT_CHECK },
	{ "BUG: KCSAN:", REPORT_CHECK },
	{ "UBSAN:", REPORT_CHECK },
	{ "refcount_t:", REPORT_CHECK },
	{ "list_add corruption", REPORT_CHECK },
	{ "list_del corruption", REPORT_CHECK },
	{ "BUG: Bad page", REPORT_CHECK },
	{ "BUG: sleeping function", REPORT_CHECK },
	{ "BUG: scheduling while atomic", REPORT_CHECK },
	{ "BUG: workqueue lockup", REPORT_CHECK },
	{ "usercopy: Kernel memory", REPORT_CHECK },
	{ "detected buffer overflow", REPORT_CHECK },
	{ "page allocation failure: order:", REPORT_ALLOCATION },
	{ "ut of memory: Killed process", REPORT_KILLED },
	{ "I/O error, dev ", REPORT_IO },
	{ "Buffer I/O error", REPORT_IO },
	{ "critical medium error", REPORT_IO },
	{ "EXT4-fs error", REPORT_IO },
	{ "BTRFS error", REPORT_IO },
	{ "BTRFS critical", REPORT_IO },
	{ "Corruption detected. Unmount and run xfs_repair", REPORT_IO },
	{ "[Hardware Error]", REPORT_HARDWARE },
	{ "temperature above threshold", REPORT_THERMAL },
	{ "WARNING: CPU:", REPORT_WARNING },
	{ "BUG: soft lockup - CPU#", REPORT_HANG },
	{ "hard LOCKUP on cpu", REPORT_HANG },
	{ "detected stalls on CPUs/tasks", REPORT_HANG },
	{ "self-detected stall on CPU", REPORT_HANG },
	{ "detected expedited stalls", REPORT_HANG },
	{ " blocked for more than ", REPORT_HANG },
	{ "NETDEV WATCHDOG:", REPORT_NETWORK },
	{ "unregister_netdevice: waiting for ", REPORT_NETWORK },
};

struct found {
	uint64_t count, time; /* of the first one, ns */
	char line[LINE];      /* the first one */
	uint64_t last_time;
	uint32_t last_caller;
	char last[LINE];
};

struct search {
	uint64_t end; /* ns: what comes after it is of the panic itself */
	struct found found[REPORTS];
	char init[LINE];	     /* a fault of the first process */
	bool is_cut;		     /* the record before was the mark of a report */
	struct printk_record before; /* that record's, without its text */
	char line_before[LINE];
	bool is_marked;	       /* the record before was the mark, for what follows */
	char before_bug[LINE]; /* what the kernel said right before its last BUG, if it did */
	char warned[LINE];     /* what the last WARN() said, if it did */
	struct allocation_report allocation; /* the last one */
	/* An oops: its first line and where it was. */
	char oops[LINE], place[LINE];
	uint64_t oops_time;
};

static void look_for_oops(struct search *search, const char *line, uint64_t time)
{
	static const char *const starts[] = { "BUG: kernel NULL pointer",
					      "BUG: unable to handle",
					      "kernel BUG at",
					      "general protection fault",
					      "divide error",
					      "stack segment",
					      "invalid opcode" };
	static const char place[] = "RIP: 0010:";
	for (size_t i = 0; i < ARRAY_COUNT(starts) && !*search->oops; i++)
		if (!strncmp(line, starts[i], strlen(starts[i]))) {
			strcpy(search->oops, line);
			search->oops_time = time;
		}
	if (*search->oops && !*search->place && !strncmp(line, place, sizeof(place) - 1))
		strcpy(search->place, line + sizeof(place) - 1);
}

/* A WARN() with a text prints that between the mark and its place. */
static void look_for_warned(struct search *search, const char *line)
{
	bool is_text = search->is_cut && *line && strncmp(line, "WARNING: ", 9) != 0 &&
		       strncmp(line, "kernel BUG at", 13) != 0;
	if (search->is_cut)
		snprintf(search->warned, sizeof(search->warned), "%s", is_text ? line : "");
	search->is_cut = strstr(line, "[ cut here ]");
}

/* What was wrong is printed before BUG(), which says no more than where it is. */
static void look_for_reason(struct search *search, const struct printk_record *record,
			    const char *line)
{
	const struct printk_record *before = &search->before;
	/* The mark was of a WARN(), or of something else. */
	if (search->is_marked && strncmp(line, "kernel BUG at", 13) != 0)
		*search->before_bug = 0;
	search->is_marked = search->is_cut;
	bool is_of_same = before->caller == record->caller &&
			  record->time - before->time < REASON_NS && before->level <= REASON_LEVEL;
	if (search->is_cut) {
		snprintf(search->before_bug, sizeof(search->before_bug), "%s",
			 is_of_same && !strstr(search->line_before, "[ end trace")
				 ? search->line_before
				 : "");
		return;
	}
	search->before = *record;
	search->before.text = NULL;
	snprintf(search->line_before, sizeof(search->line_before), "%s", line);
}

/* From 6.19 on the line of a WARN() begins with its place. */
static bool is_placed_warning(const char *line)
{
	return !strncmp(line, "WARNING: ", 9) && strstr(line, ", CPU#");
}

static struct error *look_at_record(void *context, const struct printk_record *record)
{
	struct search *search = context;
	char line[LINE];
	if (record->time > search->end || !printk_is_of_kernel(record))
		return NULL;
	printk_first_line(record, line, sizeof(line));
	look_for_oops(search, line, record->time);
	look_for_warned(search, line);
	look_for_reason(search, record, line);
	allocation_report_line(&search->allocation, line);
	if (strstr(line, "[1]: segfault at") || strstr(line, "[1] trap") ||
	    strstr(line, "[1] general protection"))
		strcpy(search->init, line);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct found *found = &search->found[rows[i].report];
		bool is_placed = rows[i].report == REPORT_WARNING && is_placed_warning(line);
		if (!is_placed && !strstr(line, rows[i].words))
			continue;
		if (!found->count++) {
			found->time = record->time;
			strcpy(found->line, line);
		}
		found->last_time = record->time;
		found->last_caller = record->caller;
		strcpy(found->last, line);
		break;
	}
	return NULL;
}

static double before_end(const struct search *search, uint64_t time)
{
	return (double)(search->end - time) / NS_PER_S;
}

/* --- what is told ----------------------------------------------------------------------------- */

/* Of KiB that the log has. */
static void kib_text(uint64_t kib, char text[MEMORY_SIZE_TEXT])
{
	memory_size_text(kib <= UINT64_MAX >> KIB_SHIFT ? kib << KIB_SHIFT : UINT64_MAX, text);
}

/* Who asked, for how much, and what each zone had that could have given it. */
static struct error *add_request(struct finding *finding, const struct allocation_report *report)
{
	char size[MEMORY_SIZE_TEXT], kept[MEMORY_SIZE_TEXT], reserve[MEMORY_SIZE_TEXT];
	kib_text(report->page_kib << report->order, size);
	TRY(finding_add(finding, "log",
			"asked for: order %" PRIu64 " (%s), %s, by pid %" PRId32 " \"%s\"%s%s",
			report->order, size,
			*report->mode ? report->mode : "flags that are not known", report->pid,
			report->comm, *report->caller ? " for " : "", report->caller));
	if (*report->mode && !allocation_may_wait(report))
		TRY(finding_add(finding, NULL,
				"%s: whoever asks so must not sleep until memory is reclaimed",
				report->mode));
	for (size_t i = 0; i < report->count && i < ZONES_SHOWN; i++) {
		const struct allocation_zone *zone = &report->zones[i];
		bool is_allowed = !*report->nodes || allocation_has_node(report->nodes, zone->node);
		kib_text(zone->free, size);
		kib_text(zone->min, kept);
		kib_text(zone->reserve, reserve);
		TRY(finding_add(finding, "log",
				"zone %s of node %" PRIu32 " had %s free then; it keeps %s%s%s%s%s",
				zone->name, zone->node, size, kept, zone->reserve ? ", and " : "",
				zone->reserve ? reserve : "",
				zone->reserve ? " for those who can use no other" : "",
				is_allowed ? "" : "; that node is not allowed"));
	}
	return NULL;
}

/*
 * A zone of a node that whoever asked may not have memory of, and that has some at the end: of such
 * nodes the log of that moment has nothing. KiB; 0: there is none.
 */
static struct error *find_elsewhere(const struct analysis *analysis,
				    const struct allocation_report *report, uint32_t *ret_node,
				    uint64_t *ret_kib)
{
	*ret_kib = 0;
	if (!*report->nodes)
		return NULL;
	struct zones *zones = malloc(sizeof(*zones));
	if (!zones)
		return error_no_memory();
	struct error *error = zones_read(analysis->target, zones);
	for (size_t i = 0; i < zones->count && !error; i++) {
		const struct zone *zone = &zones->items[i];
		uint64_t kib = zone->free * (analysis->target->facts->page_size >> KIB_SHIFT);
		if (zone->free <= zone->high || zone->free >= PAGES_LIMIT || kib <= *ret_kib ||
		    allocation_has_node(report->nodes, zone->node))
			continue;
		*ret_node = zone->node;
		*ret_kib = kib;
	}
	free(zones);
	return error_only_fatal(error);
}

static struct error *summarize_allocation(const struct analysis *analysis, struct finding *finding,
					  const struct allocation_report *report)
{
	uint64_t elsewhere;
	uint32_t node = 0;
	char wanted[MEMORY_SIZE_TEXT], size[MEMORY_SIZE_TEXT], kept[MEMORY_SIZE_TEXT];
	const struct allocation_zone *zone;
	const char *who = *report->caller ? report->caller : report->comm;
	enum allocation_reason reason = allocation_report_reason(report, &zone);
	kib_text(report->page_kib << report->order, wanted);
	TRY(find_elsewhere(analysis, report, &node, &elsewhere));
	if (elsewhere && reason != ALLOCATION_CPUSET && reason != ALLOCATION_FRAGMENTED) {
		/* Then, it may have had less. */
		finding->sure = CONFIDENCE_INFERRED;
		kib_text(elsewhere, size);
		return finding_summarize(
			finding,
			"%s got no memory (%s): its cpuset %s allows node %s only, while "
			"node %" PRIu32 " has %s free at the end",
			who, wanted, report->cpuset, report->nodes, node, size);
	}
	if (reason == ALLOCATION_UNKNOWN)
		return NULL;
	kib_text(zone->free, size);
	kib_text(zone->min + zone->reserve, kept);
	if (reason == ALLOCATION_FRAGMENTED)
		return finding_summarize(finding,
					 "memory is fragmented: %s was not to be had in one piece, "
					 "though %s are free, in pieces of %" PRIu64
					 " KiB at most: %s asked",
					 wanted, size, zone->largest, who);
	if (reason == ALLOCATION_CPUSET)
		return finding_summarize(
			finding,
			"%s got no memory (%s): its cpuset %s allows node %s only, while "
			"zone %s of node %" PRIu32 " had %s free",
			who, wanted, report->cpuset, report->nodes, zone->name, zone->node, size);
	return finding_summarize(finding,
				 "%s got no memory (%s): zone %s of node %" PRIu32
				 " had %s free, and keeps "
				 "%s for others than %s",
				 who, wanted, zone->name, zone->node, size, kept,
				 *report->mode ? report->mode : "whoever asked");
}

/* Pages of an order that nobody had, though much is free: in pieces. `who` asked; "": not known. */
static struct error *add_fragmentation(struct analysis *analysis, struct finding *finding,
				       const char *line, const char *who, bool is_all)
{
	const char *text = strstr(line, "order:");
	uint64_t order, free_pages = 0;
	int highest = -1;
	char size[MEMORY_SIZE_TEXT], asked[MEMORY_SIZE_TEXT];
	if (!text || !digits_scan(text + strlen("order:"), 10, &order) || order >= ORDER_LIMIT)
		return NULL;
	struct zones *zones = malloc(sizeof(*zones));
	if (!zones)
		return error_no_memory();
	struct error *error = zones_read(analysis->target, zones);
	for (size_t i = 0; i < zones->count && !error; i++) {
		int zone = zone_highest_order(&zones->items[i]);
		free_pages += zones->items[i].free;
		highest = zone > highest ? zone : highest;
	}
	free(zones);
	if (error)
		return error_only_fatal(error);
	uint64_t page = analysis->target->facts->page_size;
	memory_size_text(free_pages < PAGES_LIMIT / page ? free_pages * page : UINT64_MAX, size);
	memory_size_text(page << order, asked);
	bool is_fragmented = is_all && highest < (int)order && free_pages >> order >= FRAGMENTED;
	if (is_fragmented)
		TRY(finding_summarize(finding,
				      "memory is fragmented: %s was not to be had in one piece, "
				      "though %s are free, in pieces of %" PRIu64
				      " KiB at most%s%s%s",
				      asked, size, highest < 0 ? 0 : page << highest >> KIB_SHIFT,
				      *who ? ": " : "", who, *who ? " asked" : ""));
	return finding_add(finding, "print vm_zone_stat",
			   "at the end %s are free, in blocks up to order %d; asked for was order "
			   "%" PRIu64,
			   size, highest, order);
}

/* For the signature: it is of no task. */
static const char *network_culprit(const char *line)
{
	return strstr(line, "unregister_netdevice") ? "unregister_netdevice" : "watchdog";
}

static struct error *tell(struct analysis *analysis, const struct search *search,
			  enum report report)
{
	const struct found *found = &search->found[report];
	struct finding *finding = analysis_add(analysis, reports[report].kind, CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	TRY(finding_summarize(finding, "%s, %.1f s before the end: %s", reports[report].words,
			      before_end(search, found->time), found->line));
	if (report == REPORT_NETWORK && !(finding->culprit = strdup(network_culprit(found->last))))
		return error_no_memory();
	/* What is not said any more was let go, and hangs nobody at the end. */
	if (report == REPORT_NETWORK && search->end - found->last_time > REPEATED_NS)
		finding->kind = reports[REPORT_HANG].kind;
	if (found->count == 1 && report == REPORT_ALLOCATION)
		TRY(finding_add(finding, "log", "the log has it %.1f s before the end: %s",
				before_end(search, found->time), found->line));
	else if (found->count == 1)
		TRY(finding_add(finding, "log", "the log has no other such line"));
	else
		TRY(finding_add(finding, "log",
				"the log has %" PRIu64
				" such lines, the last one %.1f s before the end: %s",
				found->count, before_end(search, found->last_time), found->last));
	if (report != REPORT_ALLOCATION)
		return NULL;
	if (search->allocation.count) {
		TRY(summarize_allocation(analysis, finding, &search->allocation));
		TRY(add_request(finding, &search->allocation));
	}
	/* What the zones of that moment do not tell, those of the end may. */
	const struct allocation_zone *zone;
	bool is_known = finding->sure != CONFIDENCE_CERTAIN ||
			allocation_report_reason(&search->allocation, &zone) != ALLOCATION_UNKNOWN;
	const struct allocation_report *last = &search->allocation;
	const char *who = *last->caller ? last->caller : last->comm;
	return add_fragmentation(analysis, finding, found->last, who, !is_known);
}

static bool is_cause(const struct analysis *analysis, const char *kind)
{
	return analysis->count && !strcmp(analysis->findings[0].kind, kind);
}

/* The report is of what it died of: a check that ends in BUG or WARN, a machine check. */
static bool is_of_the_end(const struct analysis *analysis, const struct search *search,
			  enum report report)
{
	uint64_t age = search->end - search->found[report].last_time;
	uint32_t caller;
	if (report == REPORT_HARDWARE)
		return is_cause(analysis, "machine-check") || is_cause(analysis, "hardware-error");
	bool is_trap = is_cause(analysis, "bug") || is_cause(analysis, "warning") ||
		       is_cause(analysis, "invalid-instruction") ||
		       is_cause(analysis, "sleep-in-atomic") || is_cause(analysis, "kernel-report");
	/* A check that warns, and then will not go on. */
	if (report == REPORT_WARNING)
		return is_cause(analysis, "bug") && age < SAME_MOMENT_NS &&
		       printk_panic_caller(analysis->target, &caller) &&
		       caller == search->found[report].last_caller;
	if (report == REPORT_IO)
		return strstr(analysis->panic, "panic forced after error") && age < SAME_EVENT_NS;
	return report == REPORT_CHECK && is_trap && age < SAME_EVENT_NS;
}

/* Whoever had the dump made did so because of something that the kernel had not died of. */
static bool is_dump_asked_for(const struct analysis *analysis)
{
	return !analysis->panicked || is_cause(analysis, "sysrq") || is_cause(analysis, "nmi");
}

/* A BUG in the kernel's own code that nobody called from a module is told by its words. */
static struct error *tell_reason(struct analysis *analysis, const struct search *search)
{
	const struct stack_trace *trace = &analysis->trace;
	size_t frame;
	bool is_told = search->found[REPORT_CHECK].count &&
		       !strcmp(search->found[REPORT_CHECK].last, search->before_bug);
	if (!*search->before_bug || is_told || !is_cause(analysis, "bug"))
		return NULL;
	struct finding *finding = &analysis->findings[0];
	TRY(analysis_find_module(analysis, analysis->blamed, &frame));
	bool is_of_module = frame < trace->count || (analysis->blamed < trace->count &&
						     trace->frames[analysis->blamed].symbol.module);
	if (!is_of_module)
		TRY(finding_summarize(finding, "%s; the kernel said: %s", finding->summary,
				      search->before_bug));
	return finding_add_at(finding, 0, "log", "the kernel said: %s", search->before_bug);
}

static struct error *tell_reports(struct analysis *analysis, const struct search *search)
{
	size_t told = 0;
	if (*search->init && is_cause(analysis, "init-died"))
		TRY(finding_add(&analysis->findings[0], "log", "the kernel said: %s",
				search->init));
	TRY(tell_reason(analysis, search));
	/* A check's text, which has a row of its own, would be told twice. */
	bool is_told = search->found[REPORT_CHECK].count &&
		       !strcmp(search->found[REPORT_CHECK].last, search->warned);
	if (*search->warned && !is_told && is_cause(analysis, "warning"))
		TRY(finding_add_at(&analysis->findings[0], told++, "log", "the kernel said: %s",
				   search->warned));
	for (unsigned int i = 0; i < REPORTS; i++) {
		const struct found *found = &search->found[i];
		if (!found->count)
			continue;
		analysis->has_warning |= i == REPORT_WARNING;
		/* The warning that panics is no earlier one. */
		if (i == REPORT_WARNING && found->count == 1 && is_cause(analysis, "warning"))
			continue;
		/* Where it panicked of that, it is the cause already. */
		if (i == REPORT_HANG && !is_dump_asked_for(analysis))
			continue;
		if (is_of_the_end(analysis, search, i))
			TRY(finding_add_at(&analysis->findings[0], told++, "log",
					   "the kernel said: %s",
					   i == REPORT_HARDWARE ? found->line : found->last));
		else
			TRY(tell(analysis, search, i));
	}
	return NULL;
}

/* --- an oops that was survived ---------------------------------------------------------------- */

static struct error *read_oopses(struct target *target, uint64_t *ret_count, uint64_t *ret_ip)
{
	struct object counter, registers;
	TRY(object_variable(target, "die_counter", "int", &counter));
	TRY(object_u64(&counter, NULL, ret_count));
	TRY(object_variable(target, "exec_summary_regs", "struct pt_regs", &registers));
	return object_u64(&registers, "ip", ret_ip);
}

/* The registers of the first one since the start are kept by the kernel. */
static struct error *tell_oops(struct analysis *analysis, const struct search *search)
{
	uint64_t count = 0, ip = 0;
	char place[SYMBOL_NAME_SIZE + 96], command[40];
	TRY(error_only_fatal(read_oopses(analysis->target, &count, &ip)));
	bool is_the_end = analysis->panicked && (strstr(analysis->panic, "Fatal exception") ||
						 !strstr(analysis->panic, "Kernel panic"));
	if (!ip || count <= (is_the_end ? 1u : 0u))
		return NULL;
	if (!target_describe(analysis->target, ip, place, sizeof(place)))
		snprintf(place, sizeof(place), "0x%" PRIx64, ip);
	struct finding *finding = analysis_add_at(analysis, analysis->count ? 1 : 0, "earlier-oops",
						  CONFIDENCE_CERTAIN);
	if (!finding)
		return error_no_memory();
	finding->task = 0;
	if (*search->oops)
		TRY(finding_summarize(finding, "the kernel oopsed %.1f s before the end, in %s: %s",
				      before_end(search, search->oops_time), place, search->oops));
	else
		TRY(finding_summarize(finding, "the kernel oopsed before, in %s", place));
	snprintf(command, sizeof(command), "dis 0x%" PRIx64, ip);
	TRY(finding_add(finding, "print exec_summary_regs",
			"the registers of the first of %" PRIu64 " oops%s", count,
			count == 1 ? "" : "es"));
	TRY(finding_add(finding, command, "the instruction there"));
	return *search->place ? finding_add(finding, "log", "the log says: %s", search->place)
			      : NULL;
}

struct error *detect_log(struct analysis *analysis)
{
	uint64_t lost;
	if (analysis->is_asked || target_is_live(analysis->target))
		return NULL;
	struct search *search = calloc(1, sizeof(*search));
	if (!search)
		return error_no_memory();
	search->end = UINT64_MAX;
	struct error *error = time_of_death(analysis->target, &search->end);
	if (!error)
		error = printk_for_each(analysis->target, look_at_record, search, &lost);
	if (!error)
		error = tell_reports(analysis, search);
	if (!error)
		error = tell_oops(analysis, search);
	free(search);
	return error;
}
