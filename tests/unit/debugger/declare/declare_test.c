// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/eval_fixture.h"

static struct fixture *fixture;

static struct error *spell(const char *text, char *buffer, size_t size)
{
	struct type type;
	struct error *error = declare_parse_type(&fixture->target, NULL, text, NULL, &type);
	if (!error)
		type_spell(type, NULL, buffer, size);
	return error;
}

#define CHECK_TYPE(text, expected)                                                                 \
	do {                                                                                       \
		char spelled[256] = "";                                                            \
		CHECK_OK(spell(text, spelled, sizeof(spelled)));                                   \
		CHECK_STRING(spelled, expected);                                                   \
	} while (0)

#define CHECK_NO_TYPE(text, part)                                                                  \
	do {                                                                                       \
		char spelled[256];                                                                 \
		CHECK_FAILS(spell(text, spelled, sizeof(spelled)), part);                          \
	} while (0)

static void test_integers(void)
{
	CHECK_TYPE("int", "int");
	CHECK_TYPE("unsigned", "unsigned int");
	CHECK_TYPE("signed", "int");
	CHECK_TYPE("unsigned long", "long unsigned int");
	CHECK_TYPE("long unsigned int", "long unsigned int");
	CHECK_TYPE("int long unsigned", "long unsigned int");
	CHECK_TYPE("long long", "long long int");
	CHECK_TYPE("long int long unsigned", "long long unsigned int");
	CHECK_TYPE("short", "short int");
	CHECK_TYPE("char", "char");
	CHECK_TYPE("signed char", "signed char");
	CHECK_TYPE("char unsigned", "unsigned char");
	CHECK_TYPE("_Bool", "_Bool");
	CHECK_TYPE("void *", "void *");
	CHECK_TYPE("u8", "u8");
	CHECK_NO_TYPE("unsigned signed", "no type of C");
	CHECK_NO_TYPE("long char", "no type of C");
	CHECK_NO_TYPE("long long long", "no type of C");
	CHECK_NO_TYPE("short int int", "no type of C");
	CHECK_NO_TYPE("unsigned void", "no type of C");
	CHECK_NO_TYPE("unsigned u8", "a name in the midst");
	CHECK_NO_TYPE("u8 long", "two types");
}

static void test_derived(void)
{
	CHECK_TYPE("struct thing *", "struct thing *");
	CHECK_TYPE("const struct thing *const *", "struct thing **");
	CHECK_TYPE("struct thing __percpu *", "struct thing *");
	CHECK_TYPE("int [3]", "int [3]");
	CHECK_TYPE("int [3][4]", "int [3][4]");
	CHECK_TYPE("int *[3]", "int *[3]");
	CHECK_TYPE("int (*)[3]", "int (*)[3]");
	CHECK_TYPE("int (*)(void)", "int (*)(void)");
	CHECK_TYPE("int (*)(u8, struct point *, ...)", "int (*)(u8, struct point *, ...)");
	CHECK_TYPE("int (*(*)(char))[3]", "int (*(*)(char))[3]");
	CHECK_TYPE("int (*[2])(int named, int (*callback)(void), char text[])",
		   "int (*[2])(int, int (*)(void), char *)");
	CHECK_TYPE("int [2 * (3 + 1) << 1]", "int [16]");
	CHECK_TYPE("struct opaque *", "struct opaque *");
	CHECK_TYPE("enum color", "enum color");
	CHECK_TYPE("struct /* a */ thing // b", "struct thing");
}

static void test_refused(void)
{
	CHECK_NO_TYPE("", "column 1");
	CHECK_NO_TYPE("struct", "a tag");
	CHECK_NO_TYPE("struct nothing", "no type \"struct nothing\"");
	CHECK_NO_TYPE("struct thinh", "did you mean \"struct thing\"");
	CHECK_NO_TYPE("int x", "name in the midst");
	CHECK_NO_TYPE("int *)", "the end of the type");
	CHECK_NO_TYPE("int [", "a number");
	CHECK_NO_TYPE("int [x]", "a number");
	CHECK_NO_TYPE("int [1 / 0]", "division by zero");
	CHECK_NO_TYPE("int [0x100000000]", "so many elements");
	CHECK_NO_TYPE("struct opaque [2]", "size is not known");
	CHECK_NO_TYPE("int (*)(int", "\")\"");
	CHECK_NO_TYPE("int *struct", "midst");
	CHECK_NO_TYPE("thing_t[4294967295][4294967295]", "too big");
}

static void test_length(void)
{
	struct type type;
	size_t length = 0;
	CHECK_OK(declare_parse_type(&fixture->target, NULL, "struct thing *)&x", &length, &type));
	CHECK_U64(length, strlen("struct thing *"));
}

static void check_found(const char *name, uint64_t room, const char *expected, const char *part)
{
	struct type type;
	struct error *why = NULL;
	char spelled[128] = "(none)";
	CHECK_OK(declarations_find(&fixture->target, name, room, &type, &why));
	if (type.btf)
		type_spell(type, NULL, spelled, sizeof(spelled));
	CHECK_STRING(spelled, expected);
	if (part)
		CHECK(why && strstr(why->message, part));
	else
		CHECK(!why);
	if (why && part && !strstr(why->message, part))
		printf("%s\n", why->message);
	error_free(why);
}

static struct declarations *fixture_declarations(void)
{
	struct declarations *declarations = NULL;
	CHECK_OK(target_declarations(&fixture->target, &declarations));
	return declarations;
}

static struct error *add(const char *text)
{
	return declarations_add(fixture_declarations(), text, "t.decl");
}

static void test_table(void)
{
	CHECK_OK(add("/* of a test */ extern struct thing a, *b, c[2];;\n"
		     "static volatile unsigned long d[] __attribute__((aligned(8)));\n"
		     "int (*e)(struct point *, unsigned int); const char f[];\n"
		     "struct nowhere g; struct opaque h, *i; thing_t j; int k[2][3], k2[][3];"));
	check_found("a", sizeof(struct thing), "struct thing", NULL);
	check_found("a", 0, "struct thing", NULL);
	check_found("a", sizeof(struct thing) - 1, "(none)", "up to the next symbol");
	check_found("b", 8, "struct thing *", NULL);
	check_found("c", sizeof(struct thing[2]), "struct thing [2]", NULL);
	check_found("d", 71, "long unsigned int [8]", NULL);
	check_found("e", 8, "int (*)(struct point *, unsigned int)", NULL);
	check_found("f", 100, "char [100]", NULL);
	check_found("g", 8, "(none)", "t.decl:4: g: column 1: no type \"struct nowhere\"");
	check_found("h", 8, "(none)", "incomplete");
	check_found("i", 8, "struct opaque *", NULL);
	check_found("j", 4096, "thing_t", NULL);
	check_found("k", 24, "int [2][3]", NULL);
	check_found("k2", 100, "int [8][3]", NULL);
	check_found("nobody", 8, "(none)", NULL);
}

static void test_rank(void)
{
	CHECK_OK(add("int rank; struct nowhere rank;"));
	check_found("rank", 8, "int", NULL);
	CHECK_OK(add("long rank;"));
	check_found("rank", 8, "long int", NULL);
	/* What does not fit leaves the place to what does. */
	check_found("rank", 4, "int", NULL);
}

static void test_bad_declarations(void)
{
	CHECK_FAILS(add("int x"), "t.decl:1: column 6");
	CHECK_FAILS(add("int;"), "a name should be");
	CHECK_FAILS(add("int y;\n\nint 3;"), "t.decl:3: column 5");
	CHECK_FAILS(add("struct { int a; } z;"), "a tag");
	CHECK_FAILS(add("int a = 3;"), "where \";\" should be");
	CHECK_FAILS(add("/* int a;"), "does not end");
	CHECK_FAILS(declarations_add_file(fixture_declarations(), NULL, "/nonexistent/x"),
		    "/nonexistent/x");
	CHECK_FAILS(declarations_add_file(fixture_declarations(), NULL, "/dev"), "/dev");
}

/* Every cut and many changes of a text: an error or not, but no crash. */
static void test_hostile(void)
{
	static const char seed[] = "struct thing *a[2][1 << 3], (*b)(int, char *, ...); "
				   "unsigned long __attribute__((x(y))) c; u8 d[];";
	uint64_t state = 7;
	for (int i = 0; i < 10000; i++) {
		char text[sizeof(seed)];
		memcpy(text, seed, sizeof(seed));
		if (i < (int)sizeof(seed))
			text[i] = 0;
		else
			mutate(text, &state);
		struct declarations *table = declarations_create();
		error_free(declarations_add(table, text, "t"));
		struct attached *own = fixture_lend(fixture, table);
		struct type type;
		struct error *why = NULL;
		for (const char *name = "a\0b\0c\0d\0"; *name; name += 2) {
			error_free(declarations_find(&fixture->target, name, 64, &type, &why));
			error_free(why);
			why = NULL;
		}
		fixture_lend_back(fixture, own);
	}
}

static void test_deep(void)
{
	static const char *const patterns[] = { "int (", "int *", "int [1](", "int [(", "int (*(" };
	static char text[20000];
	char spelled[64];
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const char *tail = patterns[i] + 4;
		strcpy(text, patterns[i]);
		size_t used = strlen(text);
		while (used + strlen(tail) + 1 < sizeof(text)) {
			strcpy(text + used, tail);
			used += strlen(tail);
		}
		struct error *error = spell(text, spelled, sizeof(spelled));
		CHECK(error != NULL);
		error_free(error);
	}
}

static void test_builtin(void)
{
	struct declarations *table = declarations_create();
	CHECK_OK(declarations_add_builtin(table));
	struct attached *own = fixture_lend(fixture, table);
	/* This machine has no task_struct: the reason says who wants it. */
	check_found("init_task", 8, "(none)",
		    "init_task: column 1: no type \"struct task_struct\"");
	check_found("jiffies", 8, "long unsigned int", NULL);
	fixture_lend_back(fixture, own);
}

int main(void)
{
	fixture = fixture_create(FIXTURE_DECLARATIONS);
	RUN(test_integers);
	RUN(test_derived);
	RUN(test_refused);
	RUN(test_length);
	RUN(test_table);
	RUN(test_rank);
	RUN(test_bad_declarations);
	RUN(test_hostile);
	RUN(test_deep);
	RUN(test_builtin);
	fixture_destroy(fixture);
	return test_finish();
}
