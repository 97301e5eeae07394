// SPDX-License-Identifier: GPL-3.0-or-later
/* State of the audit subsystem, as auditctl -s says it (kernel kernel/audit.c). */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum { COLUMN_VALUE, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_VALUE] = { "value", COLUMN_WIDE, 10, "its value", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "what auditctl -s calls it", NULL },
};

/* Types that they have since they are there. */
static const struct {
	const char *name, *variable, *type_name, *path;
} values[] = {
	{ "enabled", "audit_enabled", "unsigned int", NULL },
	{ "failure", "audit_failure", "unsigned int", NULL },
	{ "pid", "auditd_conn", NULL, NULL },
	{ "rate_limit", "audit_rate_limit", "unsigned int", NULL },
	{ "backlog_limit", "audit_backlog_limit", "unsigned int", NULL },
	{ "lost", "audit_lost", "atomic_t", "counter" },
	{ "backlog", "audit_queue", "struct sk_buff_head", "qlen" },
	{ "backlog_wait_time", "audit_backlog_wait_time", "unsigned int", NULL },
	/* Records for a daemon that is not there, or did not take them. */
	{ "hold", "audit_hold_queue", "struct sk_buff_head", "qlen" },
	{ "retry", "audit_retry_queue", "struct sk_buff_head", "qlen" },
	/* Of tasks, calls and io_uring: those that make the others slower. */
	{ "call_rules", "audit_n_rules", "int", NULL },
};

/* Whom records are sent to; 0: nobody. */
static struct error *read_daemon(struct target *target, const char *variable, uint64_t *ret)
{
	struct object pointer, connection, pid;
	uint64_t address;
	*ret = 0;
	TRY(object_variable(target, variable, "unsigned long", &pointer));
	TRY(object_u64(&pointer, NULL, &address));
	if (!address)
		return NULL;
	TRY(object_at(target, "struct auditd_connection", address, &connection));
	TRY(object_follow(&connection, "pid", &pid));
	return pid.address ? object_u64(&pid, "numbers[0].nr", ret) : NULL;
}

static struct error *read_value(struct target *target, size_t number, uint64_t *ret)
{
	struct object object;
	if (!values[number].type_name)
		return read_daemon(target, values[number].variable, ret);
	TRY(object_variable(target, values[number].variable, values[number].type_name, &object));
	return object_u64(&object, values[number].path, ret);
}

static struct error *visit(struct table_scan *scan)
{
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		uint64_t value = 0, address;
		if (!table_symbol(scan, values[i].variable, &address))
			continue;
		struct error *error = read_value(scan->target, i, &value);
		table_set_text(scan, COLUMN_NAME, values[i].name);
		if (error)
			TRY(table_set_error(scan, COLUMN_VALUE, error));
		else
			table_set(scan, COLUMN_VALUE, value);
		TRY(table_emit(scan));
	}
	return NULL;
}

static const char *const examples[] = { "audit", "audit --where 'value > 0'", NULL };

const struct table table_audit = {
	.name = "audit",
	.summary = "state of the audit subsystem",
	.description =
		"A row is a value, by auditctl's name for it (-s). hold and retry are records "
		"for a daemon that is not there or did not take them, call_rules the "
		"rules that each system call is compared with; all rules are auditrules.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_NAME,
};
