// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/selection.h"
#include "tests/unit/eval_fixture.h"

static struct fixture *fixture;
static char *rendered;

static struct error *render_value(const struct value *value, bool json,
				  const struct render_options *options)
{
	size_t size = 0;
	free(rendered);
	rendered = NULL;
	FILE *file = open_memstream(&rendered, &size);
	struct out *out = json ? out_json_create(file) : out_text_create(file);
	struct error *error = value_render(out, NULL, value, options);
	out_destroy(out);
	fclose(file);
	return error;
}

static struct error *render(const char *text, bool json)
{
	struct value value;
	struct error *error = expression_value(&fixture->scope, text, &value);
	return error ? error : render_value(&value, json, &render_defaults);
}

#define CHECK_BOTH(expression, text, json)                                                         \
	do {                                                                                       \
		CHECK_OK(render(expression, false));                                               \
		CHECK_STRING(rendered, text);                                                      \
		CHECK_OK(render(expression, true));                                                \
		CHECK_STRING(rendered, json);                                                      \
	} while (0)

static void test_scalars(void)
{
	CHECK_BOTH("thing.number", "-2", "-2");
	CHECK_BOTH("thing.bits", "4294967294", "4294967294");
	CHECK_BOTH("thing.middle", "100", "100");
	CHECK_BOTH("thing.negative", "-3", "-3");
	CHECK_BOTH("thing.color", "BLUE", "7");
	CHECK_BOTH("twin.color", "3", "3");
	CHECK_BOTH("thing.flag", "true", "true");
	CHECK_BOTH("twin.flag", "false", "false");
	CHECK_BOTH("(char)'A'", "65 'A'", "65");
	CHECK_BOTH("(signed char)-5", "-5", "-5");
	CHECK_BOTH("thing.big", "-9223372036854775808", "\"-9223372036854775808\"");
	/* By the type, never by the value. */
	CHECK_BOTH("(long)-1", "-1", "\"-1\"");
	CHECK_BOTH("(unsigned long)1", "1", "\"1\"");
	CHECK_BOTH("(unsigned int)4294967295", "4294967295", "4294967295");
	CHECK_BOTH("1 == 1", "1", "1");
}

static void test_pointers(void)
{
	CHECK_BOTH("thing.function", "some_function", "\"0xffffffff81000100\"");
	CHECK_BOTH("twin.function", "0x0", "\"0x0\"");
	char text[64], json[64];
	uint64_t address = AT(thing.points[1]);
	snprintf(text, sizeof(text), "0x%" PRIx64 " <thing+0x%" PRIx64 ">", address,
		 (uint64_t)(address - AT(thing)));
	snprintf(json, sizeof(json), "\"0x%" PRIx64 "\"", address);
	CHECK_BOTH("&thing.points[1]", text, json);
	CHECK_OK(render("thing.text", false));
	CHECK(strstr(rendered, " \"hi\\n\\\\there\"") != NULL);
	CHECK_OK(render("(char *)&filtered", false));
	CHECK(strstr(rendered, "<excluded>") != NULL);
	CHECK_BOTH("(char *)1", "0x1", "\"0x1\"");
	CHECK_BOTH("some_function", "0xffffffff81000100 <some_function>", "\"0xffffffff81000100\"");
}

static void test_strings(void)
{
	CHECK_BOTH("thing.name", "\"first \\\"one\\\"\"", "\"first \\\"one\\\"\"");
	CHECK_BOTH("twin.name", "\"second\"", "\"second\"");
	CHECK_BOTH("thing.tail", "{}", "[]");
	struct render_options options = { .string_limit = 3 };
	struct value value;
	CHECK_OK(expression_value(&fixture->scope, "twin.name", &value));
	CHECK_OK(render_value(&value, false, &options));
	CHECK_STRING(rendered, "\"sec\"...");
	/* In quotes backslashes are doubled once; the bare string has what tells it from a byte. */
	strcpy(fixture->contents->string, "\\x9b\x9b\\q");
	CHECK_BOTH("string", "\"\\\\x9b\\x9b\\\\q\"", "\"\\\\\\\\x9b\\\\x9b\\\\q\"");
	CHECK_OK(render("thing.text", false));
	CHECK(strstr(rendered, " \"\\\\x9b\\x9b\\\\q\"") != NULL);
	CHECK_OK(expression_value(&fixture->scope, "string", &value));
	options = (struct render_options){ .bare_strings = true };
	CHECK_OK(render_value(&value, false, &options));
	CHECK_STRING(rendered, "\\\\x9b\\x9b\\q");
	CHECK_BOTH("(char)'\\\\'", "92 '\\\\'", "92");
	/* Bytes that are no text never reach a terminal raw. */
	memcpy(fixture->contents->string, "\033[31m\377", 7);
	CHECK_OK(render("string", false));
	CHECK(!strchr(rendered, 27) && !strchr(rendered, '\377'));
	fill_contents(fixture->contents);
}

static void test_arrays(void)
{
	CHECK_BOTH("thing.bytes", "{ 1, 2, 3, 3, 3, 3 }", "[1, 2, 3, 3, 3, 3]");
	memset(fixture->contents->thing.bytes, 7, 6);
	CHECK_BOTH("thing.bytes", "{ 7 <repeats 6 times> }", "[7, 7, 7, 7, 7, 7]");
	fill_contents(fixture->contents);
	CHECK_BOTH("matrix", "{\n\t{ 0, 10, 20 },\n\t{ 30, 40, 50 },\n}",
		   "[[0, 10, 20], [30, 40, 50]]");
	CHECK_BOTH("thing.points",
		   "{\n\t{\n\t\t.x = -1,\n\t\t.y = 9,\n\t},\n\t{\n\t\t.x = 1,\n\t\t.y = 9,\n\t} "
		   "<repeats 3 times>,\n}",
		   "[{\"x\": -1, \"y\": 9}, {\"x\": 1, \"y\": 9}, {\"x\": 1, \"y\": 9}, {\"x\": 1, "
		   "\"y\": 9}]");
}

static void test_whole(void)
{
	CHECK_OK(render("thing", true));
	CHECK(strstr(rendered,
		     "\"number\": -2, \"bits\": 4294967294, \"low\": 5, \"middle\": 100"));
	CHECK(strstr(rendered, "\"tail\": []"));
	CHECK_OK(render("thing", false));
	CHECK(strstr(rendered, "\t.number = -2,\n\t.bits = 4294967294,\n\t.low = 5,\n"));
	CHECK(strstr(rendered, "\t.function = some_function,\n"));
	struct render_options options = { .depth = 1, .base = BASE_HEXADECIMAL };
	struct value value;
	CHECK_OK(expression_value(&fixture->scope, "thing", &value));
	CHECK_OK(render_value(&value, false, &options));
	CHECK(strstr(rendered, ".points = {...},\n"));
	CHECK(strstr(rendered, ".middle = 0x64,\n"));
}

/* `thing` with options. */
static const char *with(const char *name, const char *setting, const char *expression)
{
	struct render_options options = render_defaults;
	struct value value;
	CHECK_OK(render_option_set(&options, name, setting));
	CHECK_OK(expression_value(&fixture->scope, expression, &value));
	CHECK_OK(render_value(&value, false, &options));
	return rendered;
}

static void test_options(void)
{
	char line[64];
	CHECK_STRING(with("base", "oct", "thing.middle"), "0144");
	CHECK_STRING(with("base", "oct", "thing.points[0].x"), "037777777777");
	CHECK_STRING(with("base", "hex", "thing.points[0].x"), "0xffffffff");
	CHECK_STRING(with("array", "2", "thing.bytes"), "{ 1, 2, ... }");
	CHECK_STRING(with("string", "2", "thing.name"), "\"fi\"...");
	CHECK_STRING(with("raw", "on", "thing.color"), "7");
	CHECK_STRING(with("raw", "on", "thing.function"), "0xffffffff81000100");
	CHECK_STRING(with("raw", "on", "(char)65"), "65");
	CHECK_STRING(with("hide-zero", "on", "matrix"),
		     "{\n\t{ 0, 10, 20 },\n\t{ 30, 40, 50 },\n}");
	CHECK(!strstr(with("hide-zero", "on", "thing"), ".opaque"));
	CHECK(strstr(rendered, ".flag = true"));
	CHECK(!strstr(with("hide-zero", "on", "twin"), ".negative"));
	CHECK(strstr(with("types", "on", "thing"), "\t.negative = (int)-3,\n"));
	CHECK(strstr(rendered, "\t.points = (struct point [4]){\n"));
	CHECK(strstr(rendered, "\t\t\t.x = (int)-1,\n"));
	snprintf(line, sizeof(line), "\t/* %zu */ .flag = true,\n", offsetof(struct thing, flag));
	CHECK(strstr(with("offsets", "on", "thing"), line));
	snprintf(line, sizeof(line), "/* %zu:3 */ .middle = ", offsetof(struct thing, number) + 4);
	CHECK(strstr(rendered, line));
}

static void test_option_names(void)
{
	struct render_options options = render_defaults;
	char text[32];
	for (size_t i = 0; i < render_setting_count; i++) {
		const char *name = render_settings[i].name;
		render_option_text(&options, name, text, sizeof(text));
		CHECK_OK(render_option_set(&options, name, text));
		CHECK(*text && !memcmp(&options, &render_defaults, sizeof(options)));
		CHECK_FAILS(render_option_set(&options, name, "maybe"), name);
		CHECK_FAILS(render_option_set(&options, name, ""), name);
	}
	CHECK_OK(render_option_set(&options, "depth", "0x10"));
	CHECK_STRING(render_option_text(&options, "depth", text, sizeof(text)), "16");
	CHECK_FAILS(render_option_set(&options, "depth", "-1"), "not a number");
	CHECK_FAILS(render_option_set(&options, "depth", "99999999999"), "not a number");
	CHECK_FAILS(render_option_set(&options, "nosuch", "1"), "there are base, depth");
	CHECK_STRING(render_option_text(&options, "nosuch", text, sizeof(text)), "");
}

/* What was left out is said to programs too. */
static void test_cut(void)
{
	struct render_options options = { .array_limit = 2 };
	struct value value;
	size_t size = 0;
	CHECK_OK(expression_value(&fixture->scope, "thing.bytes", &value));
	free(rendered);
	FILE *file = open_memstream(&rendered, &size);
	struct out *out = out_json_create(file);
	out_object_begin(out, NULL);
	CHECK_OK(value_render(out, "value", &value, &options));
	out_object_end(out);
	out_destroy(out);
	fclose(file);
	CHECK_STRING(rendered, "{\"value\": [1, 2], \"value_cut\": true}");
	options = (struct render_options){ .one_line = true };
	CHECK_OK(expression_value(&fixture->scope, "thing.points[0]", &value));
	CHECK_OK(render_value(&value, false, &options));
	CHECK_STRING(rendered, "{ .x = -1, .y = 9, }");
	options = (struct render_options){ .indent = 2 };
	CHECK_OK(render_value(&value, false, &options));
	CHECK_STRING(rendered, "{\n\t\t\t.x = -1,\n\t\t\t.y = 9,\n\t\t}");
}

static struct selection selection;

static void test_selection(void)
{
	CHECK_OK(selection_parse(" a , b->c,d{e, ->f, [3].g{h}} ", NULL, &selection));
	static const char *const paths[] = { "a", "b->c", "d.e", "d->f", "d[3].g.h" };
	CHECK_U64(selection.count, 5);
	for (size_t i = 0; i < selection.count && i < 5; i++)
		CHECK_STRING(selection.paths[i], paths[i]);
	selection_deinit(&selection);
	CHECK_OK(selection_parse("{task_struct.comm, x[f(1, 2)], comm}", "struct task_struct",
				 &selection));
	CHECK_U64(selection.count, 2);
	CHECK_STRING(selection.paths[0], "comm");
	CHECK_STRING(selection.paths[1], "x[f(1, 2)]");
	selection_deinit(&selection);
	static const char *const wrong[] = {
		"", "{}", "{a", "a,", ",a", "{a}b", "a}", "{a{}}", "{{{{{{{{{{{{a", "a{b"
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_FAILS(selection_parse(wrong[i], NULL, &selection), "");
	static const char braces[] = "x[1] {a, b{c}} ";
	CHECK(selection_find(braces) == braces + 5);
	CHECK(!selection_find("x{a}.b") && !selection_find("x") && !selection_find(""));
	CHECK(!selection_find("a}"));
}

static void test_missing(void)
{
	/* Eight bytes before the excluded page: one point is there, one is not. */
	CHECK_BOTH("*(struct point (*)[2])&straddling",
		   "{\n\t{\n\t\t.x = 0,\n\t\t.y = 0,\n\t},\n\t<excluded>,\n}",
		   "[{\"x\": 0, \"y\": 0}, {\"error\": \"kernel address 0xffffffff82001000 is "
		   "excluded\"}]");
	CHECK_FAILS(render("filtered", false), "excluded");
	CHECK_FAILS(render("filtered.number", false), "excluded");
	CHECK_FAILS(render("*(int *)8", false), "");
	/* The middle of an object is away, its end is not. */
	CHECK_OK(render("*(int (*)[3000])&straddling", false));
	CHECK(strstr(rendered, "0, 0, <excluded> <repeats "));
}

static void test_untyped(void)
{
	CHECK_BOTH("untyped", "{ 0x2222222211111111, 0x4444444433333333 }",
		   "[\"0x2222222211111111\", \"0x4444444433333333\"]");
}

/* Unions of ten of the one before, the innermost of 8 bytes, one on top of the other. */
static int add_nested(struct libbpf_btf *source, int id, int levels)
{
	for (; levels; levels--) {
		int inner = id;
		id = btf__add_union(source, "nested", 8);
		for (int i = 0; i < 10; i++) {
			char name[16];
			snprintf(name, sizeof(name), "m%d", i);
			btf__add_field(source, name, inner, 0, 0);
		}
	}
	return id;
}

/* Records whose members lie outside, nest deep, or have no size. */
static void test_hostile_types(void)
{
	struct libbpf_btf *source = btf__new_empty();
	int int_id = btf__add_int(source, "int", 4, 1);
	int outside = btf__add_struct(source, "outside", 8);
	btf__add_field(source, "inner", int_id, 0, 0);
	btf__add_field(source, "far", int_id, 0xfffff0, 0);
	int nested = btf__add_array(source, int_id, add_nested(source, int_id, 4), 420);
	int empty = btf__add_struct(source, "empty", 0);
	int many = btf__add_array(source, int_id, empty, -1);
	uint32_t size = 0;
	const void *raw = btf__raw_data(source, &size);
	struct btf *btf;
	CHECK_OK(btf_open(raw, size, NULL, "hostile", &btf));
	CHECK_STRING(btf_warning(btf), "type 2 (STRUCT) has a member beyond its end");
	struct value value = { .target = &fixture->target,
			       .in_memory = true,
			       .address = DATA_BASE,
			       .type = { btf, outside } };
	CHECK_OK(render_value(&value, false, &render_defaults));
	CHECK(strstr(rendered, ".far = <"));
	value.type.id = many;
	CHECK_OK(render_value(&value, true, &render_defaults));
	CHECK_STRING(rendered, "[]");
	value.type.id = nested;
	CHECK_FAILS(render_value(&value, true, &render_defaults), "print parts");
	btf_close(btf);
	btf__free(source);
}

static void test_definition(void)
{
	struct type type;
	size_t size = 0;
	free(rendered);
	rendered = NULL;
	FILE *file = open_memstream(&rendered, &size);
	struct out *out = out_text_create(file);
	CHECK_OK(target_find_type(&fixture->target, NULL, "struct thing", &type));
	CHECK_OK(definition_render(out, NULL, type));
	out_destroy(out);
	fclose(file);
	char line[128];
	CHECK(strstr(rendered, "struct thing {\n\tchar                       name[16];"));
	snprintf(line, sizeof(line), "/* %5zu %5zu */\n", offsetof(struct thing, points),
		 sizeof(struct point[4]));
	CHECK(strstr(rendered, line));
	CHECK(strstr(rendered, "middle:7;"));
	CHECK(strstr(rendered, "int                        (*function)(long unsigned int count);"));
	CHECK(strstr(rendered, "\tunion {\n\t\tint "));
}

int main(void)
{
	fixture = fixture_create(FIXTURE_DECLARATIONS);
	RUN(test_scalars);
	RUN(test_pointers);
	RUN(test_strings);
	RUN(test_arrays);
	RUN(test_whole);
	RUN(test_options);
	RUN(test_option_names);
	RUN(test_cut);
	RUN(test_selection);
	RUN(test_missing);
	RUN(test_untyped);
	RUN(test_hostile_types);
	RUN(test_definition);
	fixture_destroy(fixture);
	free(rendered);
	return test_finish();
}
