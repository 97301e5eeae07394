/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel holds, as tables. A table is one file and one `const struct table`: its name, its
 * columns, and a function that visits the rows in the kernel's order. The command, the completion,
 * the help, JSON, CSV, its schema and SQL are made from that. To add one: debugger/tables/NAME.c, a
 * line in cmds/commands.def, a session test.
 *
 * A row's cells are set one by one, in any order; those that are not set are NULL: this kernel has
 * no such thing. What the dump lacks costs its cell, which then says why.
 */
#ifndef DEBUGGER_TABLES_TABLE_H
#define DEBUGGER_TABLES_TABLE_H

#include "base/seen.h"
#include "debugger/kernel/task.h"
#include "debugger/target/object.h"

#define TABLE_COLUMNS_MAX 32

enum column_kind {
	COLUMN_INTEGER,	 /* of 32 bits: a number in JSON */
	COLUMN_WIDE,	 /* of 64: a string of digits there */
	COLUMN_BYTES,	 /* a size; text scales it */
	COLUMN_DURATION, /* nanoseconds; text has seconds */
	COLUMN_ADDRESS,	 /* of memory of the kernel's, or a user's */
	COLUMN_TEXT	 /* any bytes but NUL: a sink escapes them */
};

struct table_column {
	const char *name; /* the kernel's or /proc's own word: JSON's key, SQL's column */
	enum column_kind kind;
	int width;	       /* places in text, negative: left-aligned; 0: only if asked for */
	const char *help;      /* one line */
	const char *type_name; /* of an address: the C type of what lies there; NULL */
};

enum cell_state { CELL_NULL, CELL_SET, CELL_MISSING };

struct table_cell {
	enum cell_state state;
	uint64_t number;     /* of all kinds but text; integers are signed */
	char *text;	     /* of text; owned by the scan */
	struct error *error; /* CELL_MISSING: why; owned by the scan */
};

struct table_scan;

struct table {
	const char *name;
	const char *alias;	     /* other names of its command, blanks between; NULL */
	const char *summary;	     /* what the rows are: "open files" */
	const char *description;     /* paragraphs for help: what a row is, what is odd */
	const char *const *examples; /* NULL-terminated command lines that work on any dump */
	const struct table_column *columns;
	size_t column_count;
	/*
	 * One of them. `visit_task` is called for a task; tasks whose member `shared` is the same
	 * pointer as their group leader's have the same rows, which come once; NULL: each has its
	 * own.
	 */
	struct error *(*visit)(struct table_scan *scan);
	struct error *(*visit_task)(struct table_scan *scan, const struct task *task);
	const char *shared;
	/* Beside `visit`: the rows alone whose column `named`, of text, is `name`; NULL: cannot. */
	struct error *(*visit_named)(struct table_scan *scan, const char *name);
	unsigned int named;
	unsigned int item; /* the column whose address stands for the row in a pipe */
	/*
	 * Each row is an object of its own, the one of column `item`: there are no more of them
	 * than the memory has room for, and one that comes again and again is a walk that goes
	 * round.
	 */
	bool is_object;
};

/*
 * What no pass exceeds, whatever the dump's links say. Reaching one is the pass's problem, and ends
 * it; of a task's rows, the task's part of it.
 */
struct table_bounds {
	uint64_t rows;	    /* 0: not known yet */
	uint64_t of_task;   /* rows */
	uint64_t text_size; /* bytes, of all cells */
};

/* A pass over a table. Zeroed but for what the caller sets; table_scan_deinit() afterwards. */
struct table_scan {
	struct target *target;
	const struct table *table;
	uint64_t wanted; /* a bit for each column that will be looked at */
	uint64_t limit;	 /* of rows; 0: none */
	/* Called for each row; an error ends the pass and is handed on. */
	struct error *(*row)(void *context, const struct table_cell *cells);
	void *context;

	/* Below: the pass's own. */
	struct table_cell cells[TABLE_COLUMNS_MAX];
	uint64_t count; /* of rows until now */
	bool is_full;	/* there are `limit` */
	bool is_cut;	/* `problem` is a bound: there may be rows that nobody saw */
	struct table_bounds bounds;
	uint64_t of_task, text_size; /* until now */
	bool is_of_task;	     /* the rows that come */
	uint64_t marked, mark_due;   /* an item that came, and at which row comes the next one */
	uint32_t mark_returns;	     /* how often it came again */
	struct error *problem;	     /* the first thing that was broken */
	struct seen seen;	     /* what table_walk() has visited */
};

/* All rows of the table; of one that has rows of tasks, those of all tasks. */
struct error *table_scan_run(struct table_scan *scan) MUST_CHECK;
/* The rows of one task. */
struct error *table_scan_task(struct table_scan *scan, const struct task *task) MUST_CHECK;
/* Those that table_scan_run() has of it: none of a thread that shares its leader's. */
struct error *table_scan_as_task(struct table_scan *scan, const struct task *task) MUST_CHECK;
/* Those of a name; the table has visit_named(). */
struct error *table_scan_named(struct table_scan *scan, const char *name) MUST_CHECK;
void table_scan_deinit(struct table_scan *scan);
/* What was broken on the way, after all that could be reached; NULL: nothing. Caller frees. */
struct error *table_scan_problem(struct table_scan *scan) MUST_CHECK;

/* The column of that name; -1: none. */
int table_column_named(const struct table *table, const char *name, size_t length);

/* --- for the functions of tables --- */

static inline bool table_wants(const struct table_scan *scan, unsigned int column)
{
	return scan->wanted >> column & 1;
}

void table_set(struct table_scan *scan, unsigned int column, uint64_t number);
/* Bytes of so many pages; the cell is missing where no memory is so large. */
void table_set_pages(struct table_scan *scan, unsigned int column, uint64_t pages);
/* Copied; a column that nobody looks at stays NULL. */
void table_set_text(struct table_scan *scan, unsigned int column, const char *text);
/*
 * Takes `error`: the cell says why it is empty, or is NULL where the kernel lacks the member. Fatal
 * errors are handed on.
 */
struct error *table_set_error(struct table_scan *scan, unsigned int column,
			      struct error *error) MUST_CHECK;
/* The integer or pointer at `path` of an object. Only fatal errors. */
struct error *table_set_member(struct table_scan *scan, unsigned int column,
			       const struct object *object, const char *path) MUST_CHECK;
/* Hands the row over and begins an empty one. */
struct error *table_emit(struct table_scan *scan) MUST_CHECK;
/* Something is broken here, and the pass goes on; takes `error`, and hands a fatal one on. */
struct error *table_broken(struct table_scan *scan, struct error *error) MUST_CHECK;

#endif
