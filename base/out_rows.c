// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A sink that makes one table of whatever a command writes, for another sink: rows of tables and
 * objects become rows, nested members columns with a dot. All is kept until the end, for only then
 * it is known which columns there are.
 */
#include "base/escape.h"
#include "base/out_sink.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE   256
#define DEPTH_MAX   64
#define COLUMNS_MAX 256
#define WIDTH_MAX   60 /* of a column; longer cells stick out */
#define REPEAT_MAX  16 /* cells that begin every row */

#define PART UINT32_MAX /* the column of what joins a cell before */

/*
 * Bytes in `bytes`: first the data, then the text. Later values of a name are joined in the end,
 * with the first: each time would be a copy of all before.
 */
struct cell {
	size_t start, data_size, text_size;
	size_t next, last; /* cells that join it, by number: of the first the last one; 0: none */
	uint32_t column;
	bool is_string, is_address, is_wide, data_quoted, text_quoted;
};

struct out_rows {
	struct out out;
	struct out *inner;
	const char *chosen; /* NULL: all */
	char *keys[COLUMNS_MAX];
	char *titles[COLUMNS_MAX];
	size_t column_count;
	struct cell *cells;
	size_t cell_count, cell_capacity;
	size_t *rows; /* the first cell of each */
	size_t row_count, row_capacity;
	struct cell repeated[REPEAT_MAX];
	size_t repeated_count;
	char *bytes;
	size_t size, capacity;
	/* Where it is: levels that are open, those within a row, and the row's name path. */
	size_t level, row_level; /* 0: in no row */
	size_t lengths[DEPTH_MAX];
	char path[PATH_SIZE];
	bool written;
	bool is_full;  /* there were more columns than are kept */
	char *unknown; /* a chosen column that does not exist */
};

static struct out_rows *rows_of(const struct out *out)
{
	return container_of(out, struct out_rows, out);
}

/* --- keeping --------------------------------------------------------------------- */

static bool is_wordlist_member(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* The number of a column, which it gets when first asked for; COLUMNS_MAX: there are too many. */
static uint32_t column_number(struct out_rows *rows, const char *key, const char *title)
{
	for (size_t i = 0; i < rows->column_count; i++)
		if (!strcmp(rows->keys[i], key))
			return (uint32_t)i;
	if (rows->column_count == COLUMNS_MAX) {
		rows->is_full = true;
		return COLUMNS_MAX;
	}
	char *copy = strdup(key), *heading = strdup(title && *title ? title : key);
	if (!copy || !heading) {
		free(copy);
		free(heading);
		rows->out.failed = true;
		return COLUMNS_MAX;
	}
	rows->keys[rows->column_count] = copy;
	rows->titles[rows->column_count] = heading;
	return (uint32_t)rows->column_count++;
}

static bool keep_bytes(struct out_rows *rows, const char *bytes, size_t size)
{
	if (!out_reserve(&rows->out, &rows->bytes, &rows->capacity, rows->size + size + 1))
		return false;
	memcpy(rows->bytes + rows->size, bytes, size);
	rows->size += size;
	return true;
}

/* Of a joined cell; its own backslashes get doubled where they stand beside escapes. */
static void keep_part(struct out_rows *rows, const char *bytes, size_t size, bool is_raw)
{
	size_t start = 0;
	for (size_t i = 0; is_raw && i < size; i++) {
		if (bytes[i] != '\\' || !escape_is_ambiguous(bytes + i, size - i))
			continue;
		keep_bytes(rows, bytes + start, i + 1 - start);
		start = i;
	}
	keep_bytes(rows, bytes + start, size - start);
}

/* The first part and those behind it as one, with blanks between; empty texts are left out. */
static void join_texts(struct out_rows *rows, const struct cell *first, bool is_raw)
{
	size_t start = rows->size;
	for (const struct cell *part = first; part;
	     part = part->next ? &rows->cells[part->next] : NULL) {
		if (!part->text_size)
			continue;
		if (rows->size > start)
			keep_bytes(rows, " ", 1);
		keep_part(rows, rows->bytes + part->start + part->data_size, part->text_size,
			  is_raw && !part->text_quoted);
	}
}

static void join_parts(struct out_rows *rows, struct cell *first)
{
	struct cell whole = *first;
	size_t most = 0;
	for (const struct cell *part = first; part;
	     part = part->next ? &rows->cells[part->next] : NULL) {
		most += 2 * (part->data_size + part->text_size + 1);
		whole.data_quoted |= part->data_quoted;
		whole.text_quoted |= part->text_quoted;
	}
	/* The copies' source may move when room is made. */
	if (!out_reserve(&rows->out, &rows->bytes, &rows->capacity, rows->size + most))
		return;
	whole.start = rows->size;
	for (const struct cell *part = first; part;
	     part = part->next ? &rows->cells[part->next] : NULL) {
		if (part != first)
			keep_bytes(rows, " ", 1);
		keep_part(rows, rows->bytes + part->start, part->data_size,
			  whole.data_quoted && !part->data_quoted);
	}
	whole.data_size = rows->size - whole.start;
	join_texts(rows, first, whole.text_quoted);
	whole.text_size = rows->size - whole.start - whole.data_size;
	whole.is_string = true;
	whole.next = 0;
	*first = whole;
}

static void join_all(struct out_rows *rows, size_t from)
{
	for (size_t i = from; i < rows->cell_count && !rows->out.failed; i++)
		if (rows->cells[i].column != PART && rows->cells[i].next)
			join_parts(rows, &rows->cells[i]);
}

static void keep_cell(struct out_rows *rows, const char *key, const struct out_field *field)
{
	if (rows->chosen && !is_wordlist_member(rows->chosen, key)) {
		column_number(rows, key, NULL); /* for the message that names those that exist */
		return;
	}
	uint32_t column = column_number(rows, key, NULL);
	if (column == COLUMNS_MAX || !rows->row_count)
		return;
	size_t first = rows->rows[rows->row_count - 1], count = rows->cell_count;
	while (first < count && rows->cells[first].column != column)
		first++;
	if (!out_reserve(&rows->out, &rows->cells, &rows->cell_capacity, rows->cell_count + 1))
		return;
	struct cell cell = { .start = rows->size,
			     .data_size = field->data_size,
			     .text_size = field->text_size,
			     .column = first < count ? PART : column,
			     .is_string = field->is_string,
			     .is_address = field->is_address,
			     .is_wide = field->is_wide,
			     .data_quoted = field->data_quoted,
			     .text_quoted = field->text_quoted };
	if (!keep_bytes(rows, field->data, field->data_size) ||
	    !keep_bytes(rows, field->text, field->text_size))
		return;
	rows->cells[rows->cell_count++] = cell;
	if (first == count)
		return;
	struct cell *head = &rows->cells[first];
	if (head->next)
		rows->cells[head->last].next = count;
	else
		head->next = count;
	head->last = count;
}

/* --- what commands write ----------------------------------------------------------- */

static void new_row(struct out_rows *rows)
{
	if (!out_reserve(&rows->out, &rows->rows, &rows->row_capacity, rows->row_count + 1) ||
	    !out_reserve(&rows->out, &rows->cells, &rows->cell_capacity,
			 rows->cell_count + rows->repeated_count))
		return;
	rows->rows[rows->row_count++] = rows->cell_count;
	for (size_t i = 0; i < rows->repeated_count; i++)
		rows->cells[rows->cell_count++] = rows->repeated[i];
}

void out_rows_repeat_begin(struct out *out)
{
	rows_of(out)->repeated_count = 0;
	out_object_begin(out, NULL);
}

void out_rows_repeat_end(struct out *out)
{
	struct out_rows *rows = rows_of(out);
	out_object_end(out);
	if (!rows->row_count || out->failed)
		return;
	size_t first = rows->rows[--rows->row_count];
	join_all(rows, first);
	for (size_t i = first; i < rows->cell_count && rows->repeated_count < REPEAT_MAX; i++)
		if (rows->cells[i].column != PART)
			rows->repeated[rows->repeated_count++] = rows->cells[i];
	rows->cell_count = first;
}

/* One level down; in a row, its key joins the path. `is_row`: this may be one. */
static void enter(struct out_rows *rows, const char *key, bool is_row)
{
	size_t length = strlen(rows->path);
	if (rows->level < DEPTH_MAX)
		rows->lengths[rows->level] = length;
	rows->level++;
	if (!rows->row_level && is_row) {
		rows->row_level = rows->level;
		new_row(rows);
	} else if (rows->row_level && key && length + strlen(key) + 2 < PATH_SIZE) {
		snprintf(rows->path + length, PATH_SIZE - length, length ? ".%s" : "%s", key);
	}
}

static void leave(struct out_rows *rows)
{
	if (!rows->level)
		return;
	if (rows->row_level == rows->level)
		rows->row_level = 0;
	rows->level--;
	if (rows->level < DEPTH_MAX)
		rows->path[rows->lengths[rows->level]] = 0;
}

static void rows_begin(struct out *out, const char *key, bool is_array)
{
	enter(rows_of(out), key, !is_array);
}

static void rows_end(struct out *out, bool is_array)
{
	(void)is_array;
	leave(rows_of(out));
}

static void rows_field(struct out *out, const struct out_field *field)
{
	struct out_rows *rows = rows_of(out);
	char key[PATH_SIZE * 2];
	if (!rows->row_level)
		new_row(rows);
	if (field->key)
		snprintf(key, sizeof(key), *rows->path ? "%s.%s" : "%s%s", rows->path, field->key);
	else
		snprintf(key, sizeof(key), "%s", *rows->path ? rows->path : "value");
	keep_cell(rows, key, field);
}

static void rows_line(struct out *out, const char *text, size_t size)
{
	struct out_field field = {
		.is_string = true, .data = text, .data_size = size, .text = text, .text_size = size
	};
	rows_field(out, &field);
}

static void rows_missing(struct out *out, const char *key, const struct error *error)
{
	char word[32];
	int length = snprintf(word, sizeof(word), "<%s>", error_place_word(error));
	struct out_field field = { .key = key,
				   .is_string = true,
				   .data = word,
				   .data_size = (size_t)length,
				   .text = word,
				   .text_size = (size_t)length };
	rows_field(out, &field);
}

static void rows_table_begin(struct out *out, const char *key, const struct column *columns,
			     size_t count)
{
	struct out_rows *rows = rows_of(out);
	for (size_t i = 0; i < count && !rows->row_level; i++)
		column_number(rows, columns[i].key, columns[i].title);
	enter(rows, key, false);
}

static void rows_row_begin(struct out *out)
{
	enter(rows_of(out), NULL, true);
}

static void rows_leave(struct out *out)
{
	leave(rows_of(out));
}

/* --- the table ----------------------------------------------------------------------- */

struct layout {
	struct column columns[COLUMNS_MAX];
	uint32_t numbers[COLUMNS_MAX];
	size_t count;
};

/* Text as a person shall see it; a field that only data has shows that. */
static void cell_field(const struct out_rows *rows, const struct cell *cell, struct out_field *ret)
{
	const char *data = rows->bytes + cell->start;
	bool no_text = !cell->text_size;
	*ret = (struct out_field){ .key = rows->keys[cell->column],
				   .is_string = cell->is_string,
				   .data = data,
				   .data_size = cell->data_size,
				   .text = no_text ? data : data + cell->data_size,
				   .text_size = no_text ? cell->data_size : cell->text_size,
				   .is_address = cell->is_address,
				   .is_wide = cell->is_wide,
				   .data_quoted = cell->data_quoted,
				   .text_quoted = no_text ? cell->data_quoted : cell->text_quoted };
}

static void add_column(const struct out_rows *rows, struct layout *layout, size_t number)
{
	int width = (int)strlen(rows->titles[number]);
	bool left = false;
	for (size_t i = 0; i < rows->cell_count; i++) {
		struct out_field field;
		if (rows->cells[i].column != number)
			continue;
		cell_field(rows, &rows->cells[i], &field);
		int places = out_width(field.text, field.text_size, field.text_quoted);
		if (places > width)
			width = places < WIDTH_MAX ? places : WIDTH_MAX;
		left |= field.is_string && !field.is_address;
	}
	layout->numbers[layout->count] = (uint32_t)number;
	layout->columns[layout->count++] =
		(struct column){ rows->keys[number], rows->titles[number], left ? -width : width };
}

/* The chosen columns in their order, or all. */
static void choose(struct out_rows *rows, struct layout *layout)
{
	const char *at = rows->chosen;
	for (size_t i = 0; !at && i < rows->column_count; i++)
		add_column(rows, layout, i);
	while (at && *at && layout->count < COLUMNS_MAX) {
		size_t length = strcspn(at, ","), number = 0;
		while (number < rows->column_count &&
		       (strncmp(rows->keys[number], at, length) || rows->keys[number][length]))
			number++;
		if (number < rows->column_count)
			add_column(rows, layout, number);
		else if (!rows->unknown)
			rows->unknown = strndup(at, length);
		at += length + (at[length] == ',');
	}
}

static void write_row(struct out_rows *rows, const struct layout *layout, size_t number)
{
	size_t end = number + 1 < rows->row_count ? rows->rows[number + 1] : rows->cell_count;
	out_row_begin(rows->inner);
	for (size_t i = 0; i < layout->count; i++) {
		struct out_field field = {
			.key = layout->columns[i].key, .data = "null", .data_size = 4, .text = ""
		};
		for (size_t cell = rows->rows[number]; cell < end; cell++)
			if (rows->cells[cell].column == layout->numbers[i])
				cell_field(rows, &rows->cells[cell], &field);
		rows->inner->ops->field(rows->inner, &field);
	}
	out_row_end(rows->inner);
}

static void rows_finish(struct out *out, size_t depth)
{
	struct out_rows *rows = rows_of(out);
	while (rows->level > depth)
		leave(rows);
	if (depth || rows->written)
		return;
	rows->written = true;
	struct layout *layout = calloc(1, sizeof(*layout));
	if (!layout) {
		out->failed = true;
		return;
	}
	/* What there was no room for is some cells of the last row, at least. */
	if (out->bound && rows->row_count)
		rows->cell_count = rows->rows[--rows->row_count];
	join_all(rows, 0);
	choose(rows, layout);
	if (layout->count && !rows->unknown) {
		out_table_begin(rows->inner, NULL, layout->columns, layout->count);
		for (size_t i = 0; i < rows->row_count; i++)
			write_row(rows, layout, i);
		out_table_end(rows->inner);
	}
	free(layout);
	out_finish(rows->inner);
}

static const struct out_ops rows_ops;

bool out_is_rows(const struct out *out)
{
	return out->ops == &rows_ops;
}

struct error *out_rows_check(const struct out *out)
{
	const struct out_rows *rows = rows_of(out);
	char list[256];
	size_t used = 0;
	if (rows->is_full && !rows->chosen)
		return error_create(ERROR_OTHER,
				    "only the first %d columns are shown: --columns chooses others",
				    COLUMNS_MAX);
	if (!rows->unknown || !rows->column_count)
		return NULL;
	for (size_t i = 0; i < rows->column_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? "," : "",
					 rows->keys[i]);
	return error_create(ERROR_USAGE, "no column \"%s\"; there are: %s", rows->unknown, list);
}

static void rows_destroy(struct out *out)
{
	struct out_rows *rows = rows_of(out);
	for (size_t i = 0; i < rows->column_count; i++) {
		free(rows->keys[i]);
		free(rows->titles[i]);
	}
	budget_release(out->budget, rows->cells, rows->cell_capacity);
	budget_release(out->budget, rows->rows, rows->row_capacity);
	budget_release(out->budget, rows->bytes, rows->capacity);
	free(rows->unknown);
	out_destroy(rows->inner);
}

static const struct out_ops rows_ops = {
	.begin = rows_begin,
	.end = rows_end,
	.field = rows_field,
	.line = rows_line,
	.missing = rows_missing,
	.table_begin = rows_table_begin,
	.row_begin = rows_row_begin,
	.row_end = rows_leave,
	.table_end = rows_leave,
	.finish = rows_finish,
	.destroy = rows_destroy,
};

struct out *out_rows_create(struct out *inner, const char *columns, struct budget *budget)
{
	struct out_rows *rows = inner ? calloc(1, sizeof(*rows)) : NULL;
	if (!rows) {
		out_destroy(inner);
		return NULL;
	}
	rows->out.ops = &rows_ops;
	rows->out.budget = budget;
	rows->inner = inner;
	rows->chosen = columns;
	return &rows->out;
}
