// SPDX-License-Identifier: GPL-3.0-or-later
/* Who waits for whom: as a tree for people, and in Graphviz' language. */
#include "debugger/show/wait_graph.h"

#include "base/array.h"
#include "base/escape.h"
#include "debugger/analysis/wait_stack.h"
#include "debugger/analysis/wait_text.h"
#include <inttypes.h>
#include <string.h>

/* Deeper ones are not indented any more. */
#define INDENT_MAX 16

struct graph {
	struct session *session;
	const struct waits *waits;
	/*
	 * Waits by whom they wait for: an item, or, numbered behind these, the head of a chain that
	 * waits for nothing itself. WAIT_NONE: the last one.
	 */
	uint32_t *first, *next;
	bool *in_circle; /* items */
	bool *is_shown;	 /* chains */
	bool *is_alone;	 /* items that are in no chain, and shown */
};

static bool concerns(const struct wait_choice *choice, const struct wait *wait)
{
	if (choice->object)
		return wait->object == choice->object;
	return !choice->task || wait->task.address == choice->task || wait->owner == choice->task;
}

static void find_circles(struct graph *graph)
{
	const struct waits *waits = graph->waits;
	for (size_t i = 0; i < waits->chain_count; i++) {
		uint32_t at = waits->chains[i].wait;
		for (uint32_t k = 0; k < waits->chains[i].length; k++) {
			graph->in_circle[at] = true;
			at = waits->items[at].owner_wait;
		}
	}
}

static void sort_in(struct graph *graph, const struct wait_choice *choice)
{
	const struct waits *waits = graph->waits;
	for (size_t i = waits->count; i--;) {
		const struct wait *wait = &waits->items[i];
		bool is_stuck = wait->task.state_letter == 'D';
		if (wait->chain == WAIT_NONE) {
			graph->is_alone[i] = is_stuck && concerns(choice, wait);
			continue;
		}
		graph->is_shown[wait->chain] |= concerns(choice, wait);
		if (graph->in_circle[i] || !wait->owner)
			continue;
		size_t parent = wait->owner_wait != WAIT_NONE ? wait->owner_wait
							      : waits->count + wait->chain;
		graph->next[i] = graph->first[parent];
		graph->first[parent] = (uint32_t)i;
	}
}

static void graph_deinit(struct graph *graph)
{
	free(graph->first);
	free(graph->next);
	free(graph->in_circle);
	free(graph->is_shown);
	free(graph->is_alone);
}

static struct error *graph_init(struct graph *graph, struct session *session,
				const struct waits *waits, const struct wait_choice *choice)
{
	size_t count = waits->count + waits->chain_count + 1;
	*graph = (struct graph){ .session = session, .waits = waits };
	graph->first = malloc(count * sizeof(*graph->first));
	graph->next = malloc(count * sizeof(*graph->next));
	graph->in_circle = calloc(count, sizeof(*graph->in_circle));
	graph->is_shown = calloc(count, sizeof(*graph->is_shown));
	graph->is_alone = calloc(count, sizeof(*graph->is_alone));
	if (!graph->first || !graph->next || !graph->in_circle || !graph->is_shown ||
	    !graph->is_alone) {
		graph_deinit(graph);
		return error_no_memory();
	}
	for (size_t i = 0; i < count; i++)
		graph->first[i] = graph->next[i] = WAIT_NONE;
	find_circles(graph);
	sort_in(graph, choice);
	return NULL;
}

/* --- the tree ----------------------------------------------------------------------------------
 */

static void write_task(struct out *out, const char *key, const struct task *task)
{
	out_object_begin(out, key);
	out_i64_as(out, "pid", task->pid, "");
	out_string_as(out, "comm", task->comm, "");
	out_address_as(out, "address", task->address, "");
	out_object_end(out);
}

static void write_sentence(struct out *out, struct strbuf *text, uint32_t depth)
{
	strbuf_bytes(text, "", 1);
	uint32_t indent = depth < INDENT_MAX ? depth : INDENT_MAX;
	out_text(out, "%*s", (int)(2 * indent), "");
	out_string(out, "text", text->failed ? "" : text->data);
	out_text(out, "\n");
	strbuf_deinit(text);
}

static void write_link(struct graph *graph, uint32_t number, uint32_t depth, const char *end)
{
	const struct wait *wait = &graph->waits->items[number];
	struct out *out = graph->session->out;
	const struct task *owner = wait_owner_task(graph->waits, wait);
	struct strbuf text = { 0 };
	out_item_named(out, wait->task.address, "struct task_struct");
	out_object_begin(out, NULL);
	out_u64_as(out, "depth", depth, "");
	write_task(out, "task", &wait->task);
	wait_put_link(graph->session->target, wait, owner, &text);
	strbuf_put(&text, end);
	write_sentence(out, &text, depth);
	out_object_end(out);
}

/* All that wait for what has a number, directly or not. */
static void write_behind(struct graph *graph, uint32_t parent, uint32_t depth)
{
	uint32_t at = graph->first[parent], level = depth;
	while (at != WAIT_NONE) {
		write_link(graph, at, level, "");
		if (graph->first[at] != WAIT_NONE) {
			at = graph->first[at];
			level++;
			continue;
		}
		while (graph->next[at] == WAIT_NONE && level > depth) {
			at = graph->waits->items[at].owner_wait;
			level--;
		}
		at = graph->next[at];
	}
}

static void write_circle(struct graph *graph, const struct wait_chain *chain)
{
	uint32_t at = chain->wait;
	for (uint32_t i = 0; i < chain->length; i++) {
		write_link(graph, at, 1, i + 1 == chain->length ? ": a deadlock" : "");
		write_behind(graph, at, 2);
		at = graph->waits->items[at].owner_wait;
	}
}

static void put_count(struct strbuf *text, uint32_t count, const char *what)
{
	strbuf_format(text, "%" PRIu32 " task%s %s", count, count == 1 ? "" : "s", what);
}

static struct error *write_head(struct graph *graph, const struct wait_chain *chain)
{
	struct strbuf text = { 0 };
	const char *function;
	if (chain->length == 1) {
		wait_put_task(&chain->head, &text);
		strbuf_put(&text, " waits for itself");
	} else if (chain->length) {
		put_count(&text, chain->length, "wait for one another");
	} else if (chain->wait != WAIT_NONE) {
		wait_put_link(graph->session->target, &graph->waits->items[chain->wait], NULL,
			      &text);
	} else {
		TRY(wait_function_of(graph->session->target, &chain->head, &function));
		wait_put_task(&chain->head, &text);
		strbuf_char(&text, ' ');
		wait_put_state(graph->session->target, &chain->head, function, &text);
	}
	strbuf_put(&text, "; ");
	put_count(&text, chain->behind, "behind");
	write_sentence(graph->session->out, &text, 0);
	return NULL;
}

static struct error *write_chain(struct graph *graph, uint32_t number)
{
	const struct wait_chain *chain = &graph->waits->chains[number];
	struct out *out = graph->session->out;
	out_item_named(out, chain->head.address, "struct task_struct");
	out_object_begin(out, NULL);
	struct error *error = write_head(graph, chain);
	out_bool_as(out, "deadlock", chain->length != 0, "");
	out_u64_as(out, "length", chain->length, "");
	out_u64_as(out, "behind", chain->behind, "");
	out_string_as(out, "sure", confidence_name(chain->sure), "");
	write_task(out, "head", &chain->head);
	out_array_begin(out, "waits");
	if (chain->length) {
		write_circle(graph, chain);
	} else if (chain->wait != WAIT_NONE) {
		write_behind(graph, chain->wait, 1);
	} else {
		write_behind(graph, (uint32_t)graph->waits->count + number, 1);
	}
	out_array_end(out);
	out_object_end(out);
	return error;
}

static void write_alone(struct graph *graph)
{
	struct out *out = graph->session->out;
	bool has_any = false;
	out_array_begin(out, "others");
	for (uint32_t i = 0; i < graph->waits->count; i++) {
		if (!graph->is_alone[i])
			continue;
		if (!has_any)
			out_text(out, "Nobody is known to hold these up:\n");
		has_any = true;
		write_link(graph, i, 1, "");
	}
	out_array_end(out);
}

struct error *wait_write_graph(struct session *session, const struct waits *waits,
			       const struct wait_choice *choice)
{
	struct graph graph;
	struct error *error = NULL;
	TRY(graph_init(&graph, session, waits, choice));
	out_object_begin(session->out, NULL);
	out_array_begin(session->out, "chains");
	for (uint32_t i = 0; i < waits->chain_count && !error; i++)
		if (graph.is_shown[i])
			error = write_chain(&graph, i);
	out_array_end(session->out);
	if (!error)
		write_alone(&graph);
	out_object_end(session->out);
	graph_deinit(&graph);
	return error;
}

/* --- Graphviz --------------------------------------------------------------------------- */

/* A name in quotes: a backslash there begins an escape of Graphviz' own. */
static void put_label(struct strbuf *line, const char *text, size_t size)
{
	while (size) {
		char escape[ESCAPE_SIZE];
		size_t length = escape_next(text, size, true, escape);
		const char *from = *escape ? escape : text;
		size_t count = *escape ? strlen(escape) : length;
		for (size_t i = 0; i < count; i++) {
			if (from[i] == '"' || from[i] == '\\')
				strbuf_char(line, '\\');
			strbuf_char(line, from[i]);
		}
		text += length;
		size -= length;
	}
}

/* Lines have escapes of their own by now, and nothing that a terminal would take for one. */
static void write_line(struct out *out, struct strbuf *line)
{
	out_quoted(out, OUT_QUOTED);
	if (out_is_text(out)) {
		strbuf_char(line, '\n');
		out_lines(out, line->data ?: "", line->size);
	} else {
		out_string_bytes(out, NULL, line->data ?: "", line->size);
	}
	out_quoted(out, OUT_RAW);
	strbuf_deinit(line);
	*line = (struct strbuf){ 0 };
}

static void write_words(struct out *out, const char *words)
{
	struct strbuf line = { 0 };
	strbuf_put(&line, words);
	write_line(out, &line);
}

static void write_node(struct out *out, const struct task *task, bool is_circle)
{
	struct strbuf line = { 0 }, label = { 0 };
	wait_put_task(task, &label);
	strbuf_format(&line, "\ttask_%" PRIx64 " [label=\"", task->address);
	put_label(&line, label.data ?: "", label.size);
	strbuf_format(&line, "\\n%s\"%s];",
		      task->on_cpu		  ? "runs"
		      : task->state_letter == 'D' ? "uninterruptible"
						  : "sleeps",
		      is_circle ? ", color=red" : "");
	write_line(out, &line);
	strbuf_deinit(&label);
}

static void write_edge(struct graph *graph, uint32_t number)
{
	const struct wait *wait = &graph->waits->items[number];
	struct out *out = graph->session->out;
	struct strbuf line = { 0 }, label = { 0 };
	wait_put_object(graph->session->target, wait, &label);
	bool is_sure = wait->sure == CONFIDENCE_CERTAIN && wait->owner_sure == CONFIDENCE_CERTAIN;
	if (wait->owner)
		strbuf_format(&line, "\ttask_%" PRIx64 " -> task_%" PRIx64 " [label=\"",
			      wait->task.address, wait->owner);
	else
		strbuf_format(&line, "\ttask_%" PRIx64 " -> object_%" PRIx64 " [label=\"",
			      wait->task.address, wait->object);
	put_label(&line, label.data ?: "", label.size);
	strbuf_format(&line, "\"%s%s];", graph->in_circle[number] ? ", color=red" : "",
		      wait->owner && !is_sure ? ", style=dashed" : "");
	write_line(out, &line);
	strbuf_deinit(&label);
}

/* A lock whose owner is not known. */
static void write_object(struct out *out, const struct wait *wait)
{
	struct strbuf line = { 0 };
	strbuf_format(&line, "\tobject_%" PRIx64 " [shape=ellipse, label=\"", wait->object);
	put_label(&line, wait->kind, strlen(wait->kind));
	if (wait->owner_how) {
		strbuf_put(&line, "\\n");
		put_label(&line, wait->owner_how, strlen(wait->owner_how));
	}
	strbuf_put(&line, "\"];");
	write_line(out, &line);
}

struct error *wait_write_dot(struct session *session, const struct waits *waits,
			     const struct wait_choice *choice)
{
	struct graph graph;
	struct out *out = session->out;
	TRY(graph_init(&graph, session, waits, choice));
	out_array_begin(out, NULL);
	write_words(out, "digraph waits {");
	write_words(out, "\tnode [shape=box];");
	for (uint32_t i = 0; i < waits->chain_count; i++)
		if (graph.is_shown[i] && waits->chains[i].wait == WAIT_NONE)
			write_node(out, &waits->chains[i].head, false);
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct wait *wait = &waits->items[i];
		bool in_chain = wait->chain != WAIT_NONE && graph.is_shown[wait->chain];
		if (!in_chain && !graph.is_alone[i])
			continue;
		write_node(out, &wait->task, graph.in_circle[i]);
		if (!wait->owner && wait->object)
			write_object(out, wait);
		if (wait->owner || wait->object)
			write_edge(&graph, i);
	}
	write_words(out, "}");
	out_array_end(out);
	graph_deinit(&graph);
	return NULL;
}
