// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "debugger/show/html.h"
#include "debugger/show/html_report.h"
#include <inttypes.h>

#define NUMBER_END 340 /* of the column, from the left */
#define BAR_LEFT   356
#define BAR_WIDTH  400
#define ROW_HEIGHT 24

/* The kernel's own sums, as /proc/meminfo has them (kernel mm/vmstat.c). */
static const struct use {
	const char *label, *expression;
	bool is_kilobytes; /* else pages */
} uses[] = {
	{ "free", "vm_zone_stat[NR_FREE_PAGES].counter", false },
	{ "processes (anonymous)", "vm_node_stat[NR_ANON_MAPPED].counter", false },
	{ "files and shared memory", "vm_node_stat[NR_FILE_PAGES].counter", false },
	{ "of that: shared, tmpfs", "vm_node_stat[NR_SHMEM].counter", false },
	{ "slab, reclaimable", "vm_node_stat[NR_SLAB_RECLAIMABLE_B].counter", false },
	{ "slab, unreclaimable", "vm_node_stat[NR_SLAB_UNRECLAIMABLE_B].counter", false },
	{ "kernel stacks", "vm_node_stat[NR_KERNEL_STACK_KB].counter", true },
	{ "page tables", "vm_node_stat[NR_PAGETABLE].counter", false },
	{ "vmalloc", "nr_vmalloc_pages.counter", false },
	{ "vmalloc", "vm_node_stat[NR_VMALLOC].counter", false }, /* since 7.0 */
};

static bool read_number(struct session *session, const char *expression, uint64_t *ret)
{
	struct value value;
	struct error *error = expression_value(&session->scope, expression, &value);
	if (!error)
		error = value_u64(&value, ret);
	bool is_known = !error;
	error_free(error);
	return is_known;
}

static void write_bar(FILE *file, const struct use *use, uint64_t bytes, uint64_t total,
		      unsigned int row)
{
	double share = bytes < total ? (double)bytes / (double)total : 1;
	unsigned int y = row * ROW_HEIGHT;
	/* The number first: on a narrow screen the bar is what is cut. */
	fprintf(file,
		"<text x=\"0\" y=\"%u\">%s</text><text class=\"soft end\" x=\"%d\" y=\"%u\">%.1f "
		"MiB "
		"%5.1f %%</text><rect class=\"rest\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"16\"/>"
		"<rect class=\"bar\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"16\"/>\n",
		y + 15, use->label, NUMBER_END, y + 15, (double)bytes / (1 << 20), share * 100,
		BAR_LEFT, y + 3, BAR_WIDTH, BAR_LEFT, y + 3, share * BAR_WIDTH);
}

struct error *html_memory(struct session *session, FILE *file)
{
	uint64_t total, amounts[ARRAY_COUNT(uses)], page = session->target->facts->page_size;
	bool is_known[ARRAY_COUNT(uses)];
	unsigned int rows = 0;
	if (!page || !read_number(session, "_totalram_pages.counter", &total) || !total ||
	    total > UINT64_MAX / page)
		return NULL;
	total *= page;
	for (size_t i = 0; i < ARRAY_COUNT(uses); i++) {
		uint64_t unit = uses[i].is_kilobytes ? 1024 : page;
		is_known[i] = read_number(session, uses[i].expression, &amounts[i]) &&
			      amounts[i] <= total / unit;
		amounts[i] = is_known[i] ? amounts[i] * unit : 0;
		rows += is_known[i];
	}
	if (!rows)
		return NULL;
	fprintf(file,
		"<section id=\"memory\"><h2>Memory</h2>\n<p class=\"soft\">%.1f MiB in all; the "
		"kernel's own sums</p>\n<div class=\"wide\"><svg width=\"%d\" height=\"%u\" "
		"role=\"img\" aria-label=\"Use of memory\">\n",
		(double)total / (1 << 20), BAR_LEFT + BAR_WIDTH + 2, rows * ROW_HEIGHT + 6);
	rows = 0;
	for (size_t i = 0; i < ARRAY_COUNT(uses); i++)
		if (is_known[i])
			write_bar(file, &uses[i], amounts[i], total, rows++);
	fputs("</svg></div></section>\n", file);
	return NULL;
}
