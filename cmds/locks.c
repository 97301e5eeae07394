// SPDX-License-Identifier: GPL-3.0-or-later
/* What tasks wait for, who has it, and who waits for whom. */
#include "base/array.h"
#include "debugger/analysis/wait_text.h"
#include "debugger/command/command.h"
#include "debugger/command/task_named.h"
#include "debugger/show/wait_graph.h"
#include "debugger/whattype/whattype.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct column columns[] = {
	{ "pid", "PID", 7 },
	{ "comm", "COMM", -15 },
	{ "task", NULL, 0 },
	{ "state", "ST", 2 },
	{ "kind", "WAITS FOR", -12 },
	{ "mode", "TO", -5 },
	{ "object", "LOCK", 16 },
	{ "type", NULL, 0 },
	{ "owner_pid", "OWNER", 7 },
	{ "owner_comm", "", -15 },
	{ "owner", NULL, 0 },
	{ "sure", "SURE", -8 },
	{ "how", NULL, 0 },
	{ "owner_sure", NULL, 0 },
	{ "owner_how", NULL, 0 },
	{ "granted", NULL, 0 },
	{ "milliseconds", "SECONDS", 9 },
	{ "function", NULL, 0 },
	{ "caller", NULL, 0 },
	{ "within", NULL, 0 },
	{ "within_type", NULL, 0 },
	{ "name", "WHAT", -1 },
};

/* Objects that are asked for their types. */
#define TYPES_ASKED 4

struct table {
	struct target *target;
	bool choice;	    /* of one lock or task, and not all */
	uint64_t typed;	    /* the last object that was asked for its type; 0: none */
	struct strbuf type; /* of it, in words */
	unsigned int asked;
};

/* --- the table -------------------------------------------------------------------------- */

static void string_or_null(struct out *out, const char *key, const char *text)
{
	if (text)
		out_string(out, key, text);
	else
		out_null_as(out, key, "");
}

static void address_or_null(struct out *out, const char *key, uint64_t address)
{
	if (address)
		out_address(out, key, address);
	else
		out_null_as(out, key, "");
}

/* A link is as sure as its weaker end. */
static enum confidence sure_of(const struct wait *wait)
{
	return wait->owner && wait->owner_sure < wait->sure ? wait->owner_sure : wait->sure;
}

const struct task *wait_owner_task(const struct waits *waits, const struct wait *wait)
{
	if (!wait->owner)
		return NULL;
	if (wait->owner_wait != WAIT_NONE)
		return &waits->items[wait->owner_wait].task;
	return wait->chain == WAIT_NONE ? NULL : &waits->chains[wait->chain].head;
}

static void write_owner(struct out *out, const struct waits *waits, const struct wait *wait)
{
	const struct task *owner = wait_owner_task(waits, wait);
	if (owner && owner->pid >= 0) {
		out_i64(out, "owner_pid", owner->pid);
		out_string(out, "owner_comm", owner->comm);
	} else {
		out_null_as(out, "owner_pid", wait->owner ? "?" : "-");
		out_null_as(out, "owner_comm", "");
	}
	address_or_null(out, "owner", wait->owner);
}

/* What typed pointers and slab caches say of an object that has no name. */
static struct error *put_type(struct target *target, uint64_t address, struct strbuf *ret)
{
	struct whattype what;
	struct member_place place;
	char type[256];
	TRY(whattype_ask(target, address, false, &what));
	const struct whattype_finding *finding = &what.findings[0];
	/* That the object is one of its own is nothing new. */
	if (what.finding_count && finding->covers && finding->fits && finding->start != address) {
		type_spell(finding->type, NULL, type, sizeof(type));
		member_path_whole_at(finding->type, address - finding->start, &place);
		if (*place.path)
			strbuf_format(ret, "%s of ", place.path);
		strbuf_format(ret, "%s 0x%" PRIx64, type, finding->start);
		if (finding->confidence < CONFIDENCE_CERTAIN)
			strbuf_format(ret, " (%s)", confidence_name(finding->confidence));
	}
	whattype_deinit(&what);
	return NULL;
}

/* Of those that were asked for alone, and once for all that wait for one object: it takes a while.
 */
static struct error *find_type(struct table *table, const struct wait *wait, struct strbuf *ret)
{
	if (table->typed != wait->object && table->asked < TYPES_ASKED) {
		strbuf_deinit(&table->type);
		table->type = (struct strbuf){ 0 };
		table->typed = wait->object;
		table->asked++;
		TRY(put_type(table->target, wait->object, &table->type));
	}
	if (table->typed == wait->object)
		strbuf_bytes(ret, table->type.data, table->type.size);
	return NULL;
}

static struct error *find_name(struct table *table, const struct wait *wait, struct strbuf *ret)
{
	wait_put_object_name(table->target, wait, ret);
	if (ret->size || !wait->object || !strcmp(wait->kind, "futex"))
		return NULL;
	if (table->choice)
		TRY(find_type(table, wait, ret));
	if (!ret->size)
		wait_put_object_place(table->target, wait, ret);
	return NULL;
}

static struct error *write_name(struct out *out, struct table *table, const struct wait *wait)
{
	struct strbuf name = { 0 };
	struct error *error = find_name(table, wait, &name);
	/* Who reads a table sees at least where it sleeps. */
	if (!error && name.size && !name.failed)
		out_string_bytes(out, "name", name.data, name.size);
	else
		out_null_as(out, "name", wait->object ? "" : wait->function);
	strbuf_deinit(&name);
	return error;
}

static struct error *write_wait(struct out *out, struct table *table, const struct waits *waits,
				const struct wait *wait)
{
	char state[2] = { wait->task.state_letter, 0 };
	out_item_named(out, wait->task.address, "struct task_struct");
	out_row_begin(out);
	out_i64(out, "pid", wait->task.pid);
	out_string(out, "comm", wait->task.comm);
	out_address(out, "task", wait->task.address);
	out_string(out, "state", state);
	out_string(out, "kind", wait->kind);
	string_or_null(out, "mode", wait->mode);
	address_or_null(out, "object", wait->object);
	string_or_null(out, "type", wait->type);
	write_owner(out, waits, wait);
	if (sure_of(wait) < CONFIDENCE_CERTAIN)
		out_style(out, OUT_GUESS);
	out_string_as(out, "sure", confidence_name(wait->sure), confidence_name(sure_of(wait)));
	out_style(out, OUT_PLAIN);
	string_or_null(out, "how", wait->how);
	string_or_null(out, "owner_sure", wait->owner ? confidence_name(wait->owner_sure) : NULL);
	string_or_null(out, "owner_how", wait->owner_how);
	out_bool(out, "granted", wait->is_granted);
	if (wait->has_age) {
		uint64_t tenths = wait->age / 100000000;
		char text[32];
		snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
		out_u64_as(out, "milliseconds", wait->age / 1000000, text);
	} else {
		out_null_as(out, "milliseconds", "?");
	}
	out_string(out, "function", wait->function);
	out_string(out, "caller", wait->caller);
	address_or_null(out, "within", wait->within);
	string_or_null(out, "within_type", wait->within_type);
	struct error *error = write_name(out, table, wait);
	out_row_end(out);
	return error;
}

static bool is_shown(const struct wait *wait, const struct wait_choice *choice)
{
	if (choice->object)
		return wait->object == choice->object;
	return !choice->task || wait->task.address == choice->task || wait->owner == choice->task;
}

static struct error *write_table(struct session *session, const struct waits *waits,
				 const struct wait_choice *choice)
{
	struct table table = { .target = session->target,
			       .choice = choice->object || choice->task };
	struct error *error = NULL;
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < waits->count && !error; i++)
		if (is_shown(&waits->items[i], choice))
			error = write_wait(session->out, &table, waits, &waits->items[i]);
	out_table_end(session->out);
	strbuf_deinit(&table.type);
	return error;
}

/* --- the command ------------------------------------------------------------------------ */

/* A lock that somebody waits for, else a task. */
static struct error *choose(struct session *session, const struct waits *waits, const char *text,
			    struct wait_choice *ret)
{
	struct task task;
	uint64_t address;
	struct error *error = expression_address(&session->scope, text, &address);
	for (size_t i = 0; !error && i < waits->count; i++)
		if (waits->items[i].object == address) {
			ret->object = address;
			return NULL;
		}
	TRY(error_only_fatal(error));
	TRY(task_named(session, text, &task));
	ret->task = task.address;
	task_deinit(&task);
	return NULL;
}

static struct error *locks_run(struct session *session, const struct arguments *arguments)
{
	struct waits waits;
	struct wait_choice choice = { 0 };
	if (arguments->options[0] && arguments->options[1])
		return error_create(ERROR_USAGE, "--graph and --dot exclude each other");
	TRY(waits_find(session->target, &waits));
	struct error *error = NULL;
	if (arguments->operand_count)
		error = choose(session, &waits, arguments->operands[0], &choice);
	if (!error) {
		if (arguments->options[0])
			error = wait_write_graph(session, &waits, &choice);
		else if (arguments->options[1])
			error = wait_write_dot(session, &waits, &choice);
		else
			error = write_table(session, &waits, &choice);
	}
	if (!error)
		error = error_copy(waits.problem);
	waits_deinit(&waits);
	return error;
}

static const char *const examples[] = { "locks",       "locks --graph",
					"locks --dot", "locks | print {pid, comm, __state}",
					"locks 1",     NULL };

const struct command command_locks = {
	.name = "locks",
	.summary = "what tasks wait for, and who has it",
	.description =
		"Lists what sleeping tasks wait for: those whose sleep cannot be interrupted, and "
		"of "
		"the others those where it is known what for. The function that a task sleeps in "
		"says "
		"the kind (mutex, rwsem, completion, futex, wait queue...); which one it is, an "
		"argument that is proved or the list of waiters; the owner, the lock's own word. "
		"What "
		"the kernel does not note is not known: readers of an rwsem, who has a semaphore, "
		"who "
		"completes a completion. SECONDS, or milliseconds in data, is since when the task "
		"has had no CPU.\n"
		"\n"
		"certain: object and owner are proved; inferred and guess: one of them is not, "
		"such "
		"as a reader that may have gone. Of a lock or a task: who waits for it.\n"
		"\n"
		"With -g, who waits for whom: the tasks behind each one that holds others up, and "
		"circles, which are deadlocks. With -d, the same for Graphviz: `locks -d | dot "
		"-Tsvg`. Behind a pipe, each task is `$_`, a struct task_struct *.",
	.options = { { 'g', "graph", NULL, 0, "who waits for whom, as a tree" },
		     { 'd', "dot", NULL, 0, "the same in Graphviz' language" } },
	.operands = { { .name = "ADDRESS|TASK", .kind = OPERAND_TASK_NAME, .optional = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = locks_run,
};
