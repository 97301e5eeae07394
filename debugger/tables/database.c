// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/database.h"

#include "base/escape.h"
#include "base/strbuf.h"
#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE     4096u
#define HEADER_SIZE   100u /* of the file, in the first page */
#define LEVELS_MAX    12
#define LEAF_HEADER   8u
#define BRANCH_HEADER 12u
#define LEAF_KIND     13
#define BRANCH_KIND   5
#define VARINT_MAX    9
/* Of a row in the page of its tree; the rest is in pages of their own. */
#define LOCAL_MAX (PAGE_SIZE - 35)
#define LOCAL_MIN ((PAGE_SIZE - 12) * 32 / 255 - 23)
#define TEXT_MAX  ((size_t)16 << 20)

/* A page that is being filled: cells from its end, the list of their places from its start. */
struct page {
	uint8_t bytes[PAGE_SIZE];
	uint32_t count, start; /* cells, and where the lowest one begins */
};

/* Of a tree above the leaves. */
struct level {
	struct page page;
	bool has_child;		      /* one that is not in the page yet: it may be its last */
	uint32_t child, last;	      /* that, and the one in the page's last cell: page numbers */
	uint64_t child_key, last_key; /* the greatest row number below */
	uint32_t last_size;	      /* of the last cell, bytes */
};

struct tree {
	struct page leaf;
	uint64_t key; /* of the last row */
	struct level levels[LEVELS_MAX];
	unsigned int level_count;
};

struct database {
	FILE *file;
	uint32_t page_count;
	struct tree tree, schema;
	struct strbuf header, body, record;
};

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

/* 7 bits a byte, the highest first; the ninth has 8. */
static size_t varint(uint8_t to[VARINT_MAX], uint64_t value)
{
	size_t size = 1;
	while (size < VARINT_MAX && value >> 7 * size)
		size++;
	if (size == VARINT_MAX) {
		to[8] = (uint8_t)value;
		value >>= 8;
		for (int i = 7; i >= 0; i--, value >>= 7)
			to[i] = (uint8_t)(value | 0x80);
		return size;
	}
	for (size_t i = size; i-- > 0; value >>= 7)
		to[i] = (uint8_t)((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
	return size;
}

/* --- pages -------------------------------------------------------------------------------------
 */

static struct error *write_page(struct database *database, const uint8_t *bytes, uint32_t *ret)
{
	if (database->page_count == UINT32_MAX - 1)
		return error_create(ERROR_UNSUPPORTED, "too large for a database");
	if (fwrite(bytes, 1, PAGE_SIZE, database->file) != PAGE_SIZE)
		return error_system("database");
	*ret = ++database->page_count;
	return NULL;
}

static void page_begin(struct page *page)
{
	page->count = 0;
	page->start = PAGE_SIZE;
	memset(page->bytes, 0, sizeof(page->bytes));
}

static bool page_fits(const struct page *page, uint32_t header, uint32_t size)
{
	return header + 2 * (page->count + 1) + size <= page->start;
}

static uint8_t *page_add(struct page *page, uint32_t header, uint32_t size)
{
	page->start -= size;
	store(page->bytes + header + 2 * page->count, page->start, 2);
	page->count++;
	return page->bytes + page->start;
}

static struct error *page_write(struct database *database, struct page *page, uint8_t kind,
				uint32_t *ret)
{
	page->bytes[0] = kind;
	store(page->bytes + 3, page->count, 2);
	store(page->bytes + 5, page->start, 2);
	struct error *error = write_page(database, page->bytes, ret);
	page_begin(page);
	return error;
}

/* --- trees -------------------------------------------------------------------------------------
 */

static void tree_begin(struct tree *tree)
{
	tree->key = 0;
	tree->level_count = 0;
	page_begin(&tree->leaf);
}

/* The child that waits becomes a cell. */
static bool level_put(struct level *level)
{
	uint8_t key[VARINT_MAX];
	size_t size = varint(key, level->child_key);
	if (!page_fits(&level->page, BRANCH_HEADER, (uint32_t)size + 4))
		return false;
	uint8_t *cell = page_add(&level->page, BRANCH_HEADER, (uint32_t)size + 4);
	store(cell, level->child, 4);
	memcpy(cell + 4, key, size);
	level->last = level->child;
	level->last_key = level->child_key;
	level->last_size = (uint32_t)size + 4;
	return true;
}

static struct error *add_child(struct database *database, struct tree *tree, unsigned int number,
			       uint32_t child, uint64_t key)
{
	/* A loop, not a recursion: what is full is a child of the next level. */
	for (;; number++) {
		if (number == LEVELS_MAX)
			return error_create(ERROR_UNSUPPORTED, "too large for a database");
		struct level *level = &tree->levels[number];
		if (number == tree->level_count) {
			tree->level_count++;
			level->has_child = false;
			page_begin(&level->page);
		}
		bool is_full = level->has_child && !level_put(level);
		uint32_t waiting = level->child;
		uint64_t waiting_key = level->child_key;
		level->has_child = true;
		level->child = child;
		level->child_key = key;
		if (!is_full)
			return NULL;
		/* The page's last child has no cell; the next page begins with the one that waited,
		 * so that none is without a cell. */
		uint32_t page;
		uint64_t last_key = level->last_key;
		level->page.count--;
		level->page.start += level->last_size;
		store(level->page.bytes + BRANCH_HEADER - 4, level->last, 4);
		TRY(page_write(database, &level->page, BRANCH_KIND, &page));
		level->child = waiting;
		level->child_key = waiting_key;
		(void)level_put(level);
		level->child = child;
		level->child_key = key;
		child = page;
		key = last_key;
	}
}

static struct error *leaf_end(struct database *database, struct tree *tree, uint32_t *ret)
{
	return page_write(database, &tree->leaf, LEAF_KIND, ret);
}

/* The pages that are not full, from the leaves up. *ret: the root. */
static struct error *tree_end(struct database *database, struct tree *tree, uint32_t *ret)
{
	uint32_t page;
	TRY(leaf_end(database, tree, &page));
	if (tree->level_count)
		TRY(add_child(database, tree, 0, page, tree->key));
	for (unsigned int i = 0; i < tree->level_count; i++) {
		struct level *level = &tree->levels[i];
		store(level->page.bytes + BRANCH_HEADER - 4, level->child, 4);
		TRY(page_write(database, &level->page, BRANCH_KIND, &page));
		if (i + 1 < tree->level_count)
			TRY(add_child(database, tree, i + 1, page, level->child_key));
	}
	*ret = page;
	return NULL;
}

/* What a row has beyond its page: pages one behind the other. */
static struct error *write_rest(struct database *database, const uint8_t *bytes, size_t size,
				uint32_t *ret)
{
	uint8_t page[PAGE_SIZE];
	*ret = database->page_count + 1;
	while (size) {
		uint32_t number;
		size_t part = size < PAGE_SIZE - 4 ? size : PAGE_SIZE - 4;
		memset(page, 0, sizeof(page));
		store(page, size > part ? database->page_count + 2 : 0, 4);
		memcpy(page + 4, bytes, part);
		TRY(write_page(database, page, &number));
		bytes += part;
		size -= part;
	}
	return NULL;
}

static struct error *tree_add(struct database *database, struct tree *tree, const uint8_t *row,
			      size_t size)
{
	uint8_t head[2 * VARINT_MAX];
	uint32_t rest = 0;
	size_t local = size;
	if (size > LOCAL_MAX) {
		local = LOCAL_MIN + (size - LOCAL_MIN) % (PAGE_SIZE - 4);
		local = local <= LOCAL_MAX ? local : LOCAL_MIN;
		TRY(write_rest(database, row + local, size - local, &rest));
	}
	size_t head_size = varint(head, size);
	head_size += varint(head + head_size, tree->key + 1);
	uint32_t cell_size = (uint32_t)(head_size + local + (rest ? 4 : 0));
	if (!page_fits(&tree->leaf, LEAF_HEADER, cell_size)) {
		uint32_t page;
		TRY(leaf_end(database, tree, &page));
		TRY(add_child(database, tree, 0, page, tree->key));
	}
	uint8_t *cell = page_add(&tree->leaf, LEAF_HEADER, cell_size);
	memcpy(cell, head, head_size);
	memcpy(cell + head_size, row, local);
	if (rest)
		store(cell + head_size + local, rest, 4);
	tree->key++;
	return NULL;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static void row_begin(struct database *database)
{
	database->header.size = database->body.size = database->record.size = 0;
}

static void put_varint(struct strbuf *to, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	strbuf_bytes(to, (const char *)bytes, varint(bytes, value));
}

static void put_null(struct database *database)
{
	put_varint(&database->header, 0);
}

static void put_integer(struct database *database, int64_t value)
{
	/* Kinds 1 to 6. */
	static const uint8_t sizes[] = { 1, 2, 3, 4, 6, 8 };
	uint8_t bytes[8];
	unsigned int kind = 0;
	while (kind < 5 && (value < -(INT64_C(1) << (sizes[kind] * 8 - 1)) ||
			    value >= INT64_C(1) << (sizes[kind] * 8 - 1)))
		kind++;
	put_varint(&database->header, kind + 1);
	store(bytes, (uint64_t)value, sizes[kind]);
	strbuf_bytes(&database->body, (const char *)bytes, sizes[kind]);
}

static void put_text(struct database *database, const char *text)
{
	size_t before = database->body.size, left = strlen(text);
	left = left < TEXT_MAX ? left : TEXT_MAX;
	while (left) {
		char escape[ESCAPE_SIZE];
		size_t size = escape_next(text, left, false, escape);
		if (*escape)
			strbuf_put(&database->body, escape);
		else
			strbuf_bytes(&database->body, text, size);
		text += size;
		left -= size;
	}
	put_varint(&database->header, 13 + 2 * (database->body.size - before));
}

static struct error *row_end(struct database *database, struct tree *tree)
{
	struct strbuf *record = &database->record;
	uint8_t bytes[VARINT_MAX];
	/* The header's size counts itself. */
	size_t size = database->header.size + 1;
	while (database->header.size + varint(bytes, size) != size)
		size = database->header.size + varint(bytes, size);
	put_varint(record, size);
	strbuf_bytes(record, database->header.data, database->header.size);
	strbuf_bytes(record, database->body.data, database->body.size);
	if (record->failed || database->header.failed || database->body.failed)
		return error_no_memory();
	return tree_add(database, tree, (const uint8_t *)record->data, record->size);
}

/* --- tables ------------------------------------------------------------------------------------
 */

struct adding {
	struct database *database;
	const struct table *table;
	uint64_t missing;
};

static struct error *add_row(void *context, const struct table_cell *cells)
{
	struct adding *adding = context;
	const struct table *table = adding->table;
	row_begin(adding->database);
	for (size_t i = 0; i < table->column_count; i++) {
		adding->missing += cells[i].state == CELL_MISSING;
		if (cells[i].state != CELL_SET)
			put_null(adding->database);
		else if (table->columns[i].kind == COLUMN_TEXT)
			put_text(adding->database, cells[i].text);
		else
			put_integer(adding->database, (int64_t)cells[i].number);
	}
	return row_end(adding->database, &adding->database->tree);
}

static struct error *add_schema(struct database *database, const struct table *table, uint32_t root)
{
	struct strbuf text = { 0 };
	strbuf_format(&text, "CREATE TABLE \"%s\"(", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		strbuf_format(&text, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name,
			      table->columns[i].kind == COLUMN_TEXT ? "TEXT" : "INTEGER");
	strbuf_bytes(&text, ")", 2);
	row_begin(database);
	put_text(database, "table");
	put_text(database, table->name);
	put_text(database, table->name);
	put_integer(database, root);
	if (!text.failed)
		put_text(database, text.data);
	struct error *error = text.failed ? error_no_memory()
					  : row_end(database, &database->schema);
	strbuf_deinit(&text);
	return error;
}

struct error *database_add(struct database *database, struct target *target,
			   const struct table *table, uint64_t *ret_rows, uint64_t *ret_missing,
			   struct error **ret_problem)
{
	struct adding adding = { .database = database, .table = table };
	struct table_scan scan = { .target = target,
				   .table = table,
				   .wanted = UINT64_MAX,
				   .row = add_row,
				   .context = &adding };
	uint32_t root;
	tree_begin(&database->tree);
	struct error *error = table_scan_run(&scan);
	if (!error)
		error = tree_end(database, &database->tree, &root);
	if (!error)
		error = add_schema(database, table, root);
	if (!error) {
		*ret_rows = database->tree.key;
		*ret_missing = adding.missing;
		*ret_problem = error_prefix(table_scan_problem(&scan), "%s", table->name);
	}
	table_scan_deinit(&scan);
	return error;
}

/* --- the file ----------------------------------------------------------------------------------
 */

struct error *database_create(FILE *file, struct database **ret)
{
	static const uint8_t none[PAGE_SIZE];
	uint32_t first;
	struct database *database = calloc(1, sizeof(*database));
	if (!database)
		return error_no_memory();
	database->file = file;
	tree_begin(&database->schema);
	struct error *error = write_page(database, none, &first);
	if (error)
		database_destroy(database);
	else
		*ret = database;
	return error;
}

void database_destroy(struct database *database)
{
	if (!database)
		return;
	strbuf_deinit(&database->header);
	strbuf_deinit(&database->body);
	strbuf_deinit(&database->record);
	free(database);
}

/* The first page: the file's header, and the tree of tables, which it is the root of. */
static void make_first(const struct database *database, uint32_t schema, uint8_t *page)
{
	uint8_t *root = page + HEADER_SIZE;
	memcpy(page, "SQLite format 3", 16);
	store(page + 16, PAGE_SIZE, 2);
	page[18] = page[19] = 1; /* a journal that is rolled back */
	page[21] = 64;		 /* what a reader insists on */
	page[22] = page[23] = 32;
	store(page + 24, 1, 4); /* changes */
	store(page + 28, database->page_count, 4);
	store(page + 40, 1, 4); /* of the schema */
	store(page + 44, 4, 4); /* its format */
	store(page + 56, 1, 4); /* UTF-8 */
	store(page + 92, 1, 4); /* of these changes are the pages that were counted */
	store(page + 96, 3040001, 4);
	/* Its only child has all: with the header in front there might be no room here. */
	root[0] = BRANCH_KIND;
	store(root + 5, PAGE_SIZE, 2);
	store(root + 8, schema, 4);
}

struct error *database_finish(struct database *database, uint64_t *ret_size)
{
	uint8_t first[PAGE_SIZE] = { 0 };
	uint32_t schema;
	TRY(tree_end(database, &database->schema, &schema));
	make_first(database, schema, first);
	if (fflush(database->file) || fseek(database->file, 0, SEEK_SET) ||
	    fwrite(first, 1, PAGE_SIZE, database->file) != PAGE_SIZE || fflush(database->file))
		return error_system("database");
	*ret_size = (uint64_t)database->page_count * PAGE_SIZE;
	return NULL;
}
