// SPDX-License-Identifier: GPL-3.0-or-later
/* What people type: expressions and declarations over the unit tests' machine, lines. */
#include "tests/fuzz/targets.h"

#include "base/out.h"
#include "debugger/command/line.h"
#include "debugger/eval/render.h"
#include "tests/unit/eval_fixture.h"

static struct fixture *machine(void)
{
	static struct fixture *fixture;
	if (!fixture)
		fixture = fixture_create(FIXTURE_DECLARATIONS);
	return fixture;
}

/* As a C string of its own. */
static char *string_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	return text;
}

struct shown {
	struct out *out;
	unsigned int count;
};

static struct error *show(void *context, const struct expression_result *result)
{
	struct shown *shown = context;
	if (result->value)
		error_free(value_render(shown->out, NULL, result->value, &render_defaults));
	return ++shown->count < 200 ? NULL : error_create(ERROR_OTHER, "enough");
}

void fuzz_expression(const uint8_t *data, size_t size)
{
	struct fixture *fixture = machine();
	char *text = string_of(data, size), *written = NULL;
	size_t written_size = 0;
	FILE *file = open_memstream(&written, &written_size);
	struct shown shown = { .out = size & 1 ? out_json_create(file) : out_text_create(file) };
	struct value value;
	uint64_t address;
	out_array_begin(shown.out, NULL);
	fuzz_done(expression_evaluate(&fixture->scope, text, SLICE_ARRAY, show, &shown));
	out_finish(shown.out);
	fuzz_done(expression_type(&fixture->scope, text, &value));
	fuzz_done(expression_address(&fixture->scope, text, &address));
	expression_has_several(&fixture->scope, text, SLICE_ARRAY);
	out_destroy(shown.out);
	fclose(file);
	for (size_t i = 0; i < written_size; i++)
		EXPECT((unsigned char)written[i] >= ' ' || strchr("\n\t", written[i]));
	free(written);
	free(text);
}

void fuzz_declaration(const uint8_t *data, size_t size)
{
	struct fixture *fixture = machine();
	char *text = string_of(data, size);
	struct type type;
	size_t length;
	fuzz_done(declare_parse_type(&fixture->target, NULL, text, &length, &type));
	fuzz_done(declare_parse_type(&fixture->target, NULL, text, NULL, &type));
	declare_is_type(&fixture->target, NULL, text, &type);
	struct declarations *table = declarations_create();
	struct attached *own = fixture_lend(fixture, table);
	fuzz_done(declarations_add(table, text, "fuzz"));
	static const char *const names[] = { "thing", "matrix", "x", "cpu_number" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct error *why = NULL;
		fuzz_done(declarations_find(&fixture->target, names[i], 16, &type, &why));
		fuzz_done(why);
	}
	fixture_lend_back(fixture, own);
	free(text);
}

static bool is_command(void *context, const char *word, size_t length, bool *ret_expression)
{
	(void)context;
	*ret_expression = length && word[0] == 'p';
	return length == 2 || *ret_expression;
}

static bool is_program(void *context, const char *word, size_t length)
{
	(void)context;
	return length > 2 && word[0] == 's';
}

static bool is_variable(void *context, const char *word, size_t length)
{
	(void)context;
	return length && word[length - 1] == 'x';
}

void fuzz_line(const uint8_t *data, size_t size)
{
	static const struct line_names names = { NULL, is_command, is_program, is_variable };
	char *text = string_of(data, size);
	struct line line;
	bool is_file;
	EXPECT(line_length(text) <= strlen(text));
	EXPECT(line_last_part(text, &is_file) <= strlen(text));
	struct error *error = line_split(text, &names, &line);
	if (!error) {
		EXPECT(line.stage_count <= LINE_STAGES_MAX);
		for (size_t i = 0; i < line.stage_count; i++)
			EXPECT(strlen(line.stages[i]) <= size);
		line_deinit(&line);
	}
	fuzz_done(error);
	free(text);
}
