// SPDX-License-Identifier: GPL-3.0-or-later
/* Pressure stall information, as /proc/pressure and cgroupfs have it. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/cgroup.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_GROUP,
	COLUMN_RESOURCE,
	COLUMN_KIND,
	COLUMN_AVG10,
	COLUMN_AVG60,
	COLUMN_AVG300,
	COLUMN_TOTAL,
	COLUMN_CGROUP,
	COLUMN_PATH
};

static const struct table_column columns[] = {
	[COLUMN_GROUP] = { "psi", COLUMN_ADDRESS, 0, "its struct psi_group", "struct psi_group" },
	[COLUMN_RESOURCE] = { "resource", COLUMN_TEXT, -8,
			      "what tasks waited for: io, memory, cpu, irq", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -4,
			  "some: of them waited at least one; full: all that could have worked",
			  NULL },
	[COLUMN_AVG10] = { "avg10", COLUMN_TEXT, 6, "percent of the last 10 seconds", NULL },
	[COLUMN_AVG60] = { "avg60", COLUMN_TEXT, 6, "of the last minute", NULL },
	[COLUMN_AVG300] = { "avg300", COLUMN_TEXT, 6, "of the last five minutes", NULL },
	[COLUMN_TOTAL] = { "total", COLUMN_DURATION, 14,
			   "since the start, as last added up; nanoseconds in JSON", NULL },
	[COLUMN_CGROUP] = { "cgroup", COLUMN_ADDRESS, 0, "whose it is; NULL: the machine's",
			    "struct cgroup" },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "of the cgroup", NULL },
};

#define AVERAGES   3u
#define FIXED_BITS 11u /* FSHIFT of kernel include/linux/sched/loadavg.h */

/* By the names of enum psi_states, of which a kernel may lack some. */
static const struct {
	const char *state, *resource, *kind;
} states[] = { { "PSI_IO_SOME", "io", "some" },	     { "PSI_IO_FULL", "io", "full" },
	       { "PSI_MEM_SOME", "memory", "some" }, { "PSI_MEM_FULL", "memory", "full" },
	       { "PSI_CPU_SOME", "cpu", "some" },    { "PSI_CPU_FULL", "cpu", "full" },
	       { "PSI_IRQ_FULL", "irq", "full" } };

static struct error *set_average(struct table_scan *scan, unsigned int column,
				 const struct object *group, uint64_t index)
{
	char path[32], text[48];
	uint64_t average;
	snprintf(path, sizeof(path), "avg[%" PRIu64 "]", index);
	struct error *error = object_u64(group, path, &average);
	if (error)
		return table_set_error(scan, column, error);
	uint64_t fraction = (average & ((1u << FIXED_BITS) - 1)) * 100 >> FIXED_BITS;
	snprintf(text, sizeof(text), "%" PRIu64 ".%02" PRIu64, average >> FIXED_BITS, fraction);
	table_set_text(scan, column, text);
	return NULL;
}

/* `cgroup` 0: the machine's. */
static struct error *visit_group(struct table_scan *scan, const struct object *group,
				 uint64_t cgroup)
{
	char path[PATH_SIZE] = "";
	if (cgroup)
		TRY(cgroup_path(scan->target, cgroup, path, sizeof(path)));
	for (size_t i = 0; i < ARRAY_COUNT(states); i++) {
		char total[32];
		uint64_t state;
		if (!table_enumerator(scan, "enum psi_states", states[i].state, &state))
			continue;
		/* avg[states][3], total[PSI_AVGS of enum psi_aggregators, which is 0][states] */
		snprintf(total, sizeof(total), "total[%" PRIu64 "]", state);
		table_set(scan, COLUMN_GROUP, group->address);
		table_set_text(scan, COLUMN_RESOURCE, states[i].resource);
		table_set_text(scan, COLUMN_KIND, states[i].kind);
		/* Of the whole machine the kernel says that it is not defined. */
		bool is_defined = cgroup || strcmp(states[i].state, "PSI_CPU_FULL") != 0;
		for (unsigned int k = 0; k < AVERAGES && is_defined; k++)
			TRY(set_average(scan, COLUMN_AVG10 + k, group, AVERAGES * state + k));
		if (is_defined)
			TRY(table_set_member(scan, COLUMN_TOTAL, group, total));
		if (cgroup) {
			table_set(scan, COLUMN_CGROUP, cgroup);
			table_set_text(scan, COLUMN_PATH, path);
		}
		TRY(table_emit(scan));
	}
	return NULL;
}

#define DEPTH_MAX 256

/* A pointer since 5f69a6577bc3 (6.0), none of the root. */
static struct error *visit_own(struct table_scan *scan, const struct object *cgroup)
{
	struct object group;
	uint64_t level;
	TRY(object_u64(cgroup, "level", &level));
	TRY(object_member(cgroup, "psi", &group));
	if (type_is_pointer(group.type))
		TRY(object_follow(cgroup, "psi", &group));
	return level && group.address ? visit_group(scan, &group, cgroup->address) : NULL;
}

static struct error *visit_cgroup(struct table_scan *scan, const struct object *cgroup,
				  void *context)
{
	unsigned int *depth = context;
	const struct table_walk walk = { CONTAINER_LIST, "struct cgroup", "self.sibling",
					 visit_cgroup, context };
	struct object children;
	TRY(table_broken(scan, visit_own(scan, cgroup)));
	TRY(object_member(cgroup, "self.children", &children));
	if (*depth == DEPTH_MAX)
		return table_broken(scan, error_create(ERROR_FORMAT, "cgroups have no end"));
	(*depth)++;
	struct error *error = table_walk(scan, children.address, &walk);
	(*depth)--;
	return table_broken(scan, error);
}

static struct error *visit(struct table_scan *scan)
{
	struct object system, root;
	unsigned int depth = 0;
	TRY(object_variable(scan->target, "psi_system", "struct psi_group", &system));
	TRY(visit_group(scan, &system, 0));
	TRY(object_variable(scan->target, "cgrp_dfl_root", "struct cgroup_root", &root));
	TRY(object_member(&root, "cgrp", &root));
	return visit_cgroup(scan, &root, &depth);
}

static const char *const examples[] = { "pressure --where 'path is null'",
					"pressure --sort -total -n 5", NULL };

const struct table table_pressure = {
	.name = "pressure",
	.summary = "how long tasks waited for CPUs, memory and disks",
	.description =
		"A row is a line of /proc/pressure, or of the pressure files of a cgroup: of "
		"the time, how much tasks of it waited. The kernel adds up every two seconds, "
		"unless nothing goes on, or somebody reads.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_GROUP,
};
