// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/allocation_report.h"

#include "base/array.h"
#include "base/digits.h"
#include "debugger/analysis/log_frame.h"
#include <stdio.h>
#include <string.h>

static const char failure[] = ": page allocation failure: order:";

/* --- parsing ---------------------------------------------------------------------------------- */

/* The number behind a word of a line. */
static bool number_after(const char *line, const char *word, uint64_t *ret)
{
	const char *text = strstr(line, word);
	return text && digits_scan(text + strlen(word), 10, ret);
}

static void begin(struct allocation_report *report, const char *line, const char *found)
{
	*report = (struct allocation_report){ .phase = ALLOCATION_STACK, .pid = -1, .page_kib = 4 };
	if (!number_after(found, "order:", &report->order) ||
	    report->order >= ALLOCATION_ORDER_MAX) {
		report->phase = ALLOCATION_NONE;
		return;
	}
	snprintf(report->comm, sizeof(report->comm), "%.*s", (int)(found - line), line);
	log_text_after(found, "mode:", "(", report->mode, sizeof(report->mode));
	/* Its names, if the kernel gives them. */
	if (strstr(found, "mode:") && strchr(strstr(found, "mode:"), '('))
		log_text_after(strstr(found, "mode:"), "(", ")", report->mode,
			       sizeof(report->mode));
	log_text_after(found, "cpuset=", ",", report->cpuset, sizeof(report->cpuset));
	log_text_after(found, "mems_allowed=", " ", report->nodes, sizeof(report->nodes));
}

static struct allocation_zone *find_zone(struct allocation_report *report, uint32_t node,
					 const char *name)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->zones[i].node == node && !strcmp(report->zones[i].name, name))
			return &report->zones[i];
	return NULL;
}

/* "12*4kB (UM) 0*8kB 3*16kB (U) = 96kB": the largest piece that there is one of. */
static uint64_t largest_piece(const char *text)
{
	uint64_t count, size, largest = 0;
	while (*text) {
		const char *end = digits_scan(text, 10, &count);
		if (end && *end == '*' && digits_scan(end + 1, 10, &size) && count &&
		    size > largest)
			largest = size;
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return largest;
}

static void look_at_zone(struct allocation_report *report, const char *line)
{
	struct allocation_zone zone = { .node = 0 };
	uint64_t node;
	const char *text = digits_scan(line + strlen("Node "), 10, &node);
	if (!text || *text != ' ' || node >= ALLOCATION_NODES_MAX)
		return;
	size_t length = strcspn(++text, " :");
	if (!length || length >= sizeof(zone.name))
		return;
	zone.node = (uint32_t)node;
	memcpy(zone.name, text, length);
	text += length;
	struct allocation_zone *known = find_zone(report, zone.node, zone.name);
	if (known && !strncmp(text, ": ", 2))
		known->largest = largest_piece(text + 2);
	if (known || report->count == ALLOCATION_ZONES_MAX || strncmp(text, " free:", 6) != 0 ||
	    !number_after(text, " free:", &zone.free) || !number_after(text, " min:", &zone.min) ||
	    !number_after(text, " low:", &zone.low))
		return;
	report->zones[report->count++] = zone;
	report->phase = ALLOCATION_ZONES;
}

/* Pages, of which the last ones count: those for who may use all zones. */
static void look_at_reserve(struct allocation_report *report, const char *text)
{
	uint64_t pages;
	struct allocation_zone *zone = &report->zones[report->count - 1];
	while ((text = digits_scan(text + strspn(text, " "), 10, &pages)))
		if (pages <= UINT64_MAX / report->page_kib &&
		    pages * report->page_kib > zone->reserve)
			zone->reserve = pages * report->page_kib;
}

void allocation_report_line(struct allocation_report *report, const char *line)
{
	static const char reserve[] = "lowmem_reserve[]:";
	const char *found = strstr(line, failure);
	if (found) {
		begin(report, line, found);
		return;
	}
	if (report->phase == ALLOCATION_NONE || report->phase == ALLOCATION_DONE)
		return;
	uint64_t pid;
	if (report->pid < 0 && number_after(line, " PID: ", &pid) && pid <= INT32_MAX)
		report->pid = (int32_t)pid;
	char caller[sizeof(report->caller)];
	if (report->phase == ALLOCATION_STACK && *line == ' ' && !*report->caller &&
	    log_frame_to_blame(line, caller, sizeof(caller)))
		strcpy(report->caller, caller);
	if (!strncmp(line, "Node ", strlen("Node ")))
		look_at_zone(report, line);
	else if (report->count && !strncmp(line, reserve, sizeof(reserve) - 1))
		look_at_reserve(report, line + sizeof(reserve) - 1);
	else if (strstr(line, " total pagecache pages"))
		report->phase = ALLOCATION_DONE;
}

/* --- why -------------------------------------------------------------------------------------- */

bool allocation_has_node(const char *nodes, uint32_t node)
{
	uint64_t first, last;
	while (*nodes) {
		nodes = digits_scan(nodes, 10, &first);
		last = first;
		if (nodes && *nodes == '-')
			nodes = digits_scan(nodes + 1, 10, &last);
		if (!nodes)
			return true;
		if (node >= first && node <= last)
			return true;
		nodes += *nodes == ',';
		if (*nodes && (*nodes < '0' || *nodes > '9'))
			return true;
	}
	return false;
}

/* Whole words of the mode: "GFP_DMA" is none of "GFP_DMA32". */
static bool has_flag(const char *mode, const char *flag)
{
	size_t length = strlen(flag);
	for (const char *text = mode; *text;) {
		size_t word = strcspn(text, "|");
		if (word == length && !strncmp(text, flag, length))
			return true;
		text += word;
		text += *text == '|';
	}
	return false;
}

bool allocation_may_wait(const struct allocation_report *report)
{
	static const char *const waiting[] = { "GFP_KERNEL",
					       "GFP_KERNEL_ACCOUNT",
					       "GFP_USER",
					       "GFP_NOIO",
					       "GFP_NOFS",
					       "GFP_HIGHUSER",
					       "GFP_HIGHUSER_MOVABLE",
					       "GFP_TRANSHUGE",
					       "__GFP_DIRECT_RECLAIM",
					       "__GFP_RECLAIM" };
	for (size_t i = 0; i < ARRAY_COUNT(waiting); i++)
		if (has_flag(report->mode, waiting[i]))
			return true;
	return false;
}

/* Zones of devices that reach part of memory only: asked for, those above are out of the question.
 */
static bool is_within_reach(const struct allocation_report *report,
			    const struct allocation_zone *zone)
{
	bool is_dma = has_flag(report->mode, "GFP_DMA") || has_flag(report->mode, "__GFP_DMA");
	bool is_dma32 = has_flag(report->mode, "GFP_DMA32") ||
			has_flag(report->mode, "__GFP_DMA32");
	if (is_dma)
		return !strcmp(zone->name, "DMA");
	if (is_dma32)
		return !strncmp(zone->name, "DMA", 3);
	/* Only what can be moved may lie there. */
	return strcmp(zone->name, "Movable") != 0 ||
	       has_flag(report->mode, "GFP_HIGHUSER_MOVABLE") ||
	       has_flag(report->mode, "__GFP_MOVABLE");
}

/* Above what it keeps; 0: nothing is. */
static uint64_t to_be_had(const struct allocation_zone *zone)
{
	uint64_t kept = zone->min > UINT64_MAX - zone->reserve ? UINT64_MAX
							       : zone->min + zone->reserve;
	return zone->free > kept ? zone->free - kept : 0;
}

/* Nearer to having it; of two that have none, the one that keeps less for others. */
static bool is_nearer(const struct allocation_zone *zone, const struct allocation_zone *than)
{
	if (!than || to_be_had(zone) != to_be_had(than))
		return !than || to_be_had(zone) > to_be_had(than);
	if (zone->reserve != than->reserve)
		return zone->reserve < than->reserve;
	return zone->free > than->free;
}

enum allocation_reason allocation_report_reason(const struct allocation_report *report,
						const struct allocation_zone **ret)
{
	const struct allocation_zone *best = NULL, *other = NULL;
	uint64_t wanted = report->page_kib << report->order;
	*ret = NULL;
	for (size_t i = 0; i < report->count; i++) {
		const struct allocation_zone *zone = &report->zones[i];
		if (!is_within_reach(report, zone))
			continue;
		if (*report->nodes && !allocation_has_node(report->nodes, zone->node))
			other = is_nearer(zone, other) ? zone : other;
		else
			best = is_nearer(zone, best) ? zone : best;
	}
	if (!best)
		return ALLOCATION_UNKNOWN;
	*ret = best;
	if (to_be_had(best) >= wanted)
		return best->largest && best->largest < wanted ? ALLOCATION_FRAGMENTED
							       : ALLOCATION_UNKNOWN;
	if (other && to_be_had(other) >= wanted && other->free > other->low) {
		*ret = other;
		return ALLOCATION_CPUSET;
	}
	return ALLOCATION_WATERMARK;
}
