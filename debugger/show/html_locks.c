// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "debugger/analysis/wait_text.h"
#include "debugger/show/html.h"
#include "debugger/show/html_report.h"
#include "debugger/show/wait_graph.h"
#include <inttypes.h>

#define ROW_HEIGHT 46
#define BOX_HEIGHT 36
#define BOX_WIDTH  640
#define STEP	   36 /* to the right, for each one that stands between */
#define DEPTH_MAX  12 /* deeper ones are not indented any more */
#define ROWS_MAX   80 /* `locks --graph` has all */
#define MARGIN	   8

/* A task in the drawing. */
struct box {
	const struct task *task;
	const struct wait *wait; /* what it waits for; NULL: nothing that is known */
	uint32_t number;	 /* of that */
	uint32_t parent;	 /* box of who holds it up; WAIT_NONE: nobody */
	uint32_t depth;
	bool in_circle;
};

struct drawing {
	struct target *target;
	const struct waits *waits;
	struct box boxes[ROWS_MAX];
	uint32_t count, left_out;
};

static uint32_t add_box(struct drawing *drawing, struct box box)
{
	if (drawing->count == ROWS_MAX) {
		drawing->left_out++;
		return WAIT_NONE;
	}
	drawing->boxes[drawing->count] = box;
	return drawing->count++;
}

static bool is_drawn(const struct drawing *drawing, uint32_t first, uint32_t wait)
{
	for (uint32_t i = first; i < drawing->count; i++)
		if (drawing->boxes[i].wait && drawing->boxes[i].number == wait)
			return true;
	return false;
}

/* Whom the wait is for, in this chain: another wait, or its head. */
static bool is_behind(const struct wait *wait, uint32_t chain, const struct box *box)
{
	if (wait->chain != chain || !wait->owner)
		return false;
	return box->wait ? wait->owner_wait == box->number : wait->owner_wait == WAIT_NONE;
}

/*
 * Those behind a box, each followed by those behind it. A box that is full, or that was seen, has
 * none: the recursion ends with the rows.
 */
static void add_behind(struct drawing *drawing, uint32_t chain, uint32_t first, uint32_t parent)
{
	const struct waits *waits = drawing->waits;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct wait *wait = &waits->items[i];
		if (!is_behind(wait, chain, &drawing->boxes[parent]) || is_drawn(drawing, first, i))
			continue;
		uint32_t box = add_box(drawing, (struct box){
							.task = &wait->task,
							.wait = wait,
							.number = i,
							.parent = parent,
							.depth = drawing->boxes[parent].depth + 1,
						});
		if (box != WAIT_NONE)
			add_behind(drawing, chain, first, box);
	}
}

/* A circle's tasks stand below one another, and then who is behind any of them. */
static void add_chain(struct drawing *drawing, uint32_t number)
{
	const struct waits *waits = drawing->waits;
	const struct wait_chain *chain = &waits->chains[number];
	uint32_t first = drawing->count, at = chain->wait, last = WAIT_NONE;
	if (drawing->count == ROWS_MAX) {
		drawing->left_out++;
		return;
	}
	for (uint32_t i = 0; i < chain->length && at != WAIT_NONE; i++) {
		last = add_box(drawing, (struct box){ .task = &waits->items[at].task,
						      .wait = &waits->items[at],
						      .number = at,
						      .parent = WAIT_NONE,
						      .in_circle = true });
		at = waits->items[at].owner_wait;
	}
	if (!chain->length)
		last = add_box(drawing,
			       (struct box){ .task = &chain->head,
					     .wait = at == WAIT_NONE ? NULL : &waits->items[at],
					     .number = at,
					     .parent = WAIT_NONE });
	for (uint32_t i = first; last != WAIT_NONE && i <= last; i++)
		add_behind(drawing, number, first, i);
}

static unsigned int left_of(const struct box *box)
{
	uint32_t depth = box->depth < DEPTH_MAX ? box->depth : DEPTH_MAX;
	return MARGIN + 28 + depth * STEP;
}

static unsigned int top_of(uint32_t number)
{
	return MARGIN + number * ROW_HEIGHT;
}

static void write_label(FILE *file, const struct strbuf *text)
{
	/* What does not fit would stand on another box. */
	const size_t limit = 84;
	html_raw(file, text->data ?: "", text->size < limit ? text->size : limit);
	if (text->size > limit)
		fputs("...", file);
}

static void write_box(struct drawing *drawing, FILE *file, uint32_t number)
{
	const struct box *box = &drawing->boxes[number];
	struct strbuf name = { 0 }, object = { 0 };
	unsigned int x = left_of(box), y = top_of(number);
	wait_put_task(box->task, &name);
	if (box->wait && !box->wait->object && *box->wait->function) {
		strbuf_format(&object, "sleeps in %s", box->wait->function);
	} else if (box->wait) {
		strbuf_put(&object, "waits for ");
		wait_put_object(drawing->target, box->wait, &object);
	} else {
		wait_put_state(drawing->target, box->task, NULL, &object);
	}
	fprintf(file,
		"<rect class=\"box%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
		"<text x=\"%u\" y=\"%u\">",
		box->in_circle ? " in" : "", x, y, BOX_WIDTH, BOX_HEIGHT, x + 8, y + 15);
	write_label(file, &name);
	fprintf(file, "</text><text class=\"soft\" x=\"%u\" y=\"%u\">", x + 8, y + 30);
	write_label(file, &object);
	fputs("</text>\n", file);
	strbuf_deinit(&name);
	strbuf_deinit(&object);
}

/* From who waits to who holds him up: along the left side. */
static void write_edge(FILE *file, const struct drawing *drawing, uint32_t from, uint32_t to)
{
	const struct box *waiter = &drawing->boxes[from], *owner = &drawing->boxes[to];
	bool in = waiter->in_circle && owner->in_circle;
	unsigned int y = top_of(from) + BOX_HEIGHT / 2;
	unsigned int end = to < from ? top_of(to) + BOX_HEIGHT : top_of(to);
	unsigned int x = left_of(owner) + 14;
	/* The edge that closes a circle, or one to a box below, goes around. */
	if (in && to < from)
		fprintf(file,
			"<path class=\"edge in\" marker-end=\"url(#to)\" d=\"M%u %uH%uV%uH%u\"/>\n",
			left_of(waiter), y, left_of(waiter) - 16, top_of(to) + BOX_HEIGHT / 2,
			left_of(owner) - 2);
	else if (in)
		fprintf(file, "<path class=\"edge in\" marker-end=\"url(#to)\" d=\"M%u %uV%u\"/>\n",
			x + 18, top_of(from) + BOX_HEIGHT, end - 2);
	else
		fprintf(file, "<path class=\"edge\" marker-end=\"url(#to)\" d=\"M%u %uH%uV%u\"/>\n",
			left_of(waiter), y, x, end + 2);
}

static uint32_t find_box(const struct drawing *drawing, uint32_t wait)
{
	for (uint32_t i = 0; i < drawing->count; i++)
		if (drawing->boxes[i].wait && drawing->boxes[i].number == wait)
			return i;
	return WAIT_NONE;
}

static void write_drawing(struct drawing *drawing, FILE *file)
{
	unsigned int deepest = 0;
	for (uint32_t i = 0; i < drawing->count; i++)
		if (left_of(&drawing->boxes[i]) > deepest)
			deepest = left_of(&drawing->boxes[i]);
	fprintf(file,
		"<section id=\"locks\"><h2>Who waits for whom</h2>\n<p class=\"soft\">An arrow "
		"leads to who holds a task up; tasks in red wait for one another.</p>\n"
		"<div class=\"wide\"><svg width=\"%u\" height=\"%u\" role=\"img\" "
		"aria-label=\"Who waits for whom\">\n<defs><marker id=\"to\" viewBox=\"0 0 8 8\" "
		"refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path "
		"class=\"edge\" d=\"M0 0L8 4L0 8\"/></marker></defs>\n",
		deepest + BOX_WIDTH + MARGIN, top_of(drawing->count));
	/* The boxes over them: an edge passes behind one that it does not concern. */
	for (uint32_t i = 0; i < drawing->count; i++) {
		const struct box *box = &drawing->boxes[i];
		uint32_t to = box->in_circle ? find_box(drawing, box->wait->owner_wait)
					     : box->parent;
		if (to != WAIT_NONE && to != i)
			write_edge(file, drawing, i, to);
	}
	for (uint32_t i = 0; i < drawing->count; i++)
		write_box(drawing, file, i);
	fputs("</svg></div>\n", file);
	if (drawing->left_out)
		fprintf(file,
			"<p class=\"soft\">%" PRIu32 " more: <code>locks --graph</code></p>\n",
			drawing->left_out);
	fputs("</section>\n", file);
}

struct error *html_locks(struct session *session, FILE *file)
{
	struct waits waits = { 0 };
	struct drawing *drawing = calloc(1, sizeof(*drawing));
	if (!drawing)
		return error_no_memory();
	struct error *error = waits_find(session->target, &waits);
	if (!error) {
		drawing->target = session->target;
		drawing->waits = &waits;
		for (uint32_t i = 0; i < waits.chain_count; i++)
			add_chain(drawing, i);
		if (drawing->count)
			write_drawing(drawing, file);
	}
	waits_deinit(&waits);
	free(drawing);
	return error_only_fatal(error);
}
