// SPDX-License-Identifier: GPL-3.0-or-later
/* The configuration that the kernel was built with, where it has it in memory: /proc/config.gz. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { COLUMN_LINE, COLUMN_VALUE, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_LINE] = { "line", COLUMN_INTEGER, 5, "of the file .config", NULL },
	[COLUMN_VALUE] = { "value", COLUMN_TEXT, -16, "y, m, a number, a text; n: it is not set",
			   NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -32, "with CONFIG_ in front", NULL },
};

/* A compressed one has some 60 KB, and is five times as large unpacked. */
#define PACKED_MAX ((uint64_t)16 << 20)
#define TEXT_MAX   ((size_t)64 << 20)
#define GZIP_BITS  (16 + MAX_WBITS)

/* "CONFIG_A=y", "# CONFIG_B is not set"; anything else is a comment. */
static struct error *visit_line(struct table_scan *scan, char *line, uint64_t number)
{
	static const char unset[] = " is not set";
	char *value = NULL;
	if (!strncmp(line, "# CONFIG_", 9)) {
		char *end = strstr(line, unset);
		if (end && !end[sizeof(unset) - 1]) {
			*end = 0;
			line += 2;
			value = "n";
		}
	} else if (!strncmp(line, "CONFIG_", 7)) {
		value = strchr(line, '=');
		if (value)
			*value++ = 0;
	}
	if (!value)
		return NULL;
	/* Texts without their quotes. */
	size_t length = strlen(value);
	if (length > 1 && *value == '"' && value[length - 1] == '"') {
		value[length - 1] = 0;
		value++;
	}
	table_set(scan, COLUMN_LINE, number);
	table_set_text(scan, COLUMN_NAME, line);
	table_set_text(scan, COLUMN_VALUE, value);
	return table_emit(scan);
}

static struct error *visit_text(struct table_scan *scan, char *text)
{
	for (uint64_t number = 1; *text; number++) {
		char *end = strchr(text, '\n');
		if (end)
			*end = 0;
		TRY(visit_line(scan, text, number));
		text = end ? end + 1 : text + strlen(text);
	}
	return NULL;
}

/* *ret: NUL behind it; caller frees. */
static struct error *unpack(const uint8_t *packed, size_t size, char **ret)
{
	z_stream stream = { .next_in = (uint8_t *)packed, .avail_in = (uInt)size };
	size_t capacity = 8 * size + 4096;
	if (capacity > TEXT_MAX)
		capacity = TEXT_MAX;
	char *text = malloc(capacity + 1);
	if (!text || inflateInit2(&stream, GZIP_BITS) != Z_OK) {
		free(text);
		return error_no_memory();
	}
	stream.next_out = (uint8_t *)text;
	stream.avail_out = (uInt)capacity;
	int status = inflate(&stream, Z_FINISH);
	size_t length = capacity - stream.avail_out;
	inflateEnd(&stream);
	if (status != Z_STREAM_END) {
		free(text);
		return error_create(ERROR_FORMAT,
				    "kernel_config_data is no gzip file that is whole");
	}
	text[length] = 0;
	*ret = text;
	return NULL;
}

static struct error *find(struct table_scan *scan, uint64_t *ret_start, uint64_t *ret_end)
{
	struct symbol start, end;
	const struct module *modules;
	uint64_t cursor = 0, other = 0;
	/* It may be a module's, "configs". */
	target_modules(scan->target, &modules);
	*ret_start = *ret_end = 0;
	if (!target_find_symbol(scan->target, NULL, "kernel_config_data", &cursor, &start) ||
	    !target_find_symbol(scan->target, NULL, "kernel_config_data_end", &other, &end))
		return NULL;
	if (end.address <= start.address || end.address - start.address > PACKED_MAX)
		return error_create(ERROR_FORMAT, "kernel_config_data has no usable length");
	*ret_start = start.address;
	*ret_end = end.address;
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	uint64_t start, end;
	void *packed;
	char *text = NULL;
	TRY(find(scan, &start, &end));
	if (!start)
		return NULL;
	TRY(memory_read_alloc(scan->target->memory, start, end - start, PACKED_MAX, &packed));
	struct error *error = unpack(packed, end - start, &text);
	free(packed);
	if (error)
		return error;
	error = visit_text(scan, text);
	free(text);
	return error;
}

static const char *const examples[] = { "config --where \"name = 'CONFIG_HZ'\"", NULL };

const struct table table_config = {
	.name = "config",
	.summary = "the kernel's configuration, where it has that in memory",
	.description =
		"A row is an option of the kernel's configuration, as /proc/config.gz has them. "
		"There are none where the kernel was built without CONFIG_IKCONFIG, or has it "
		"as a module that is not loaded.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_LINE,
};
