// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/convert.h"
#include "debugger/eval/variables.h"
#include "tests/unit/eval_fixture.h"

/* The compiler is asked to compute what people write, precedence and odd comparisons included. */
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-value"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wconstant-conversion"
#pragma clang diagnostic ignored "-Wconstant-logical-operand"
#pragma clang diagnostic ignored "-Wtautological-compare"
#else
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif

static struct fixture *fixture;

static uint64_t number_of(const char *text)
{
	struct value value;
	uint64_t number = 0xbad0bad0bad0bad0ull;
	struct error *error = expression_value(&fixture->scope, text, &value);
	if (!error)
		error = value_u64(&value, &number);
	if (error) {
		printf("%s: %s\n", text, error->message);
		error_free(error);
		test_bad = 1;
	}
	return number;
}

static const char *type_of(const char *text)
{
	static char spelled[256];
	struct value value;
	snprintf(spelled, sizeof(spelled), "(error)");
	struct error *error = expression_value(&fixture->scope, text, &value);
	if (!error && value.type.btf)
		type_spell(value.type, NULL, spelled, sizeof(spelled));
	if (error)
		printf("%s: %s\n", text, error->message);
	error_free(error);
	return spelled;
}

static struct error *evaluate(const char *text)
{
	struct value value;
	uint64_t number;
	struct error *error = expression_value(&fixture->scope, text, &value);
	return error ? error : value_u64(&value, &number);
}

/* The compiler computes the same: nothing is written down twice. */
#define CHECK_SAME(expression)                                                                     \
	do {                                                                                       \
		CHECK_U64(number_of(#expression), (uint64_t)(expression));                         \
		CHECK_U64(number_of("sizeof(" #expression ")"), sizeof(expression));               \
	} while (0)

static void test_arithmetic(void)
{
	CHECK_SAME(1 + 2 * 3);
	CHECK_SAME((1 + 2) * 3);
	CHECK_SAME(10 - 4 - 3);
	CHECK_SAME(100 / 7 % 5);
	CHECK_SAME(-7 / 2);
	CHECK_SAME(-7 % 3);
	CHECK_SAME(1 << 4 | 2 ^ 3 & 6);
	CHECK_SAME(0x10 + 010 + 'A' + '\n' + '\x41');
	CHECK_SAME(1 < 2 == 2 > 1);
	CHECK_SAME(1 && 0 || 2);
	CHECK_SAME(!5 + ~0);
	CHECK_SAME(1 ? 2 ? 3 : 4 : 5);
	CHECK_SAME(0 ? 1 : 0 ? 2 : 3);
	CHECK_SAME(- -5);
	CHECK_SAME(2147483647 + 0);
	CHECK_SAME(2147483648);
	CHECK_SAME(0x80000000);
	CHECK_SAME(0xffffffff + 1);
	CHECK_SAME(0xffffffffffffffff);
	CHECK_SAME(4294967295u + 1u);
	CHECK_SAME(1l << 40);
	CHECK_SAME(-1 >> 3);
	CHECK_SAME(0xf0000000 >> 4);
	CHECK_SAME((unsigned char)300);
	CHECK_SAME((signed char)200);
	CHECK_SAME((short)-1 < (unsigned short)1);
	CHECK_SAME((unsigned char)255 + 1);
	CHECK_SAME(-1 < 1ul);
	CHECK_SAME((long)-1 / 2);
	CHECK_SAME((_Bool)42);
	CHECK_SAME((char)65 * 2);
	CHECK_SAME(5 != 5 || 3 >= 3 && 2 <= 1);
	CHECK_SAME('\101' + '\0' + '\12' + '\377' + '\xff' + '\?' + '\"');
	CHECK_SAME(0b101 + 0XfULL + 1LL + 1lu);
	CHECK_SAME((1, 2));
	CHECK_SAME(1 ? -1 : 2u);
	CHECK_SAME((1 ? 1 : 2l) + (0 ? 1ull : 2));
	CHECK_SAME("abc"[1] +
		   sizeof("ab"
			  "c") +
		   sizeof "");
	CHECK_SAME(1 ["abc"]);
	CHECK_SAME(1 ? (char)-1 : (short)2);
}

static void test_types_of_results(void)
{
	CHECK_STRING(type_of("1"), "int");
	CHECK_STRING(type_of("1u"), "unsigned int");
	CHECK_STRING(type_of("1 + 1l"), "long int");
	CHECK_STRING(type_of("sizeof(int)"), "long unsigned int");
	CHECK_STRING(type_of("&thing"), "struct thing *");
	CHECK_STRING(type_of("&thing.points[1]"), "struct point *");
	CHECK_STRING(type_of("thing.points + 1"), "struct point *");
	CHECK_STRING(type_of("&pointer - &pointer"), "long int");
	CHECK_STRING(type_of("*pointer"), "struct thing");
	CHECK_STRING(type_of("&untyped"), "void *");
	CHECK_STRING(type_of("(struct thing **)1"), "struct thing **");
	CHECK_STRING(type_of("(int (*)(char, struct point *))1"), "int (*)(char, struct point *)");
	CHECK_STRING(type_of("1ll + 1ul"), "long long unsigned int");
	CHECK_STRING(type_of("1 ? 1 : 1l"), "long int");
	CHECK_STRING(type_of("1 ? 0 : &thing"), "struct thing *");
	CHECK_STRING(type_of("1 ? (void *)0 : &thing"), "struct thing *");
	CHECK_STRING(type_of("1 ? thing.points : 0"), "struct point *");
	CHECK_STRING(type_of("\"abc\""), "char [4]");
	CHECK_STRING(type_of("(typeof(thing.points[0]) *)1"), "struct point *");
	CHECK_STRING(type_of("(typeof(pointer) (*)[3])1"), "struct thing *(*)[3]");
	CHECK_STRING(type_of("(typeof(struct point))thing"), "struct point");
	CHECK_STRING(type_of("container_of(1, struct thing, points)"), "struct thing *");
	CHECK_STRING(type_of("thing.points[1..2]"), "struct point [2]");
	CHECK_STRING(type_of("&some_function"), "int (*)(long unsigned int count)");
}

static void test_members(void)
{
	CHECK_U64(number_of("thing.number"), -2);
	CHECK_U64(number_of("thing->number"), -2);
	CHECK_U64(number_of("thing.bits"), 0xfffffffe);
	CHECK_U64(number_of("thing.low"), 5);
	CHECK_U64(number_of("thing.middle"), 100);
	CHECK_U64(number_of("thing.negative"), -3);
	CHECK_U64(number_of("thing.negative + 0u"), 0xfffffffdu);
	CHECK_U64(number_of("thing.low - 6 < 0"), 1);
	CHECK_U64(number_of("thing.color == BLUE"), 1);
	CHECK_U64(number_of("thing.next->next->number"), -2);
	CHECK_U64(number_of("thing.next.next.number"), -2);
	CHECK_U64(number_of("(*pointer).name[0]"), 's');
	CHECK_U64(number_of("pointer->name[5]"), 'd');
	CHECK_U64(number_of("thing.points[2].y"), 9);
	CHECK_U64(number_of("thing.points[-1 + 1].x"), -1);
	CHECK_U64(number_of("(thing.points + 3)->x"), 1);
	CHECK_U64(number_of("*matrix[1]"), 30);
	CHECK_U64(number_of("matrix[1][2]"), 50);
	CHECK_U64(number_of("halves[3]"), 65532);
	CHECK_U64(number_of("thing.big"), (uint64_t)INT64_MIN);
	CHECK_U64(number_of("thing.big / -1"), (uint64_t)INT64_MIN);
	CHECK_U64(number_of("thing.big % -1"), 0);
}

static void test_pointers(void)
{
	CHECK_U64(number_of("&thing"), AT(thing));
	CHECK_U64(number_of("&thing + 1"), AT(thing) + sizeof(struct thing));
	CHECK_U64(number_of("1 + &thing"), AT(thing) + sizeof(struct thing));
	CHECK_U64(number_of("(char *)&thing + 1"), AT(thing) + 1);
	CHECK_U64(number_of("(void *)&thing + 1"), AT(thing) + 1);
	CHECK_U64(number_of("pointer - &thing"), 1);
	CHECK_U64(number_of("&thing - pointer"), (uint64_t)-1);
	CHECK_U64(number_of("&thing.points[2]"), AT(thing.points[2]));
	CHECK_U64(number_of("*&thing.number"), -2);
	CHECK_U64(number_of("pointer == &thing + 1"), 1);
	CHECK_U64(number_of("!pointer || pointer > &thing"), 1);
	CHECK_FAILS(evaluate("((struct point *)0)->y"), "");
}

static void test_places(void)
{
	CHECK_U64(number_of("offsetof(struct thing, points)"), offsetof(struct thing, points));
	CHECK_U64(number_of("offsetof(struct thing, points[2].y)"),
		  offsetof(struct thing, points[2].y));
	CHECK_U64(number_of("offsetof(thing_t, points[1 + 1].y)"),
		  offsetof(struct thing, points[2].y));
	CHECK_U64(number_of("offsetof(struct thing, bits)"), offsetof(struct thing, bits));
	CHECK_U64(number_of("offsetof(typeof(thing), next)"), offsetof(struct thing, next));
	CHECK_U64(number_of("container_of(&thing.points[2], struct thing, points[2])->number"), -2);
	CHECK_U64(number_of("container_of(0x1000, struct thing, next)"),
		  0x1000 - offsetof(struct thing, next));
	CHECK_FAILS(evaluate("offsetof(struct thing, low)"), "a bit-field has no offset");
	CHECK_FAILS(evaluate("offsetof(struct thing, next->name)"),
		    "column 30: the path goes through a pointer");
	CHECK_FAILS(evaluate("offsetof(struct thing, nam)"), "did you mean \"name\"?");
	CHECK_FAILS(evaluate("offsetof(struct thing)"), "where \",\" should be");
	CHECK_FAILS(evaluate("container_of(&thing, struct thing)"), "where \",\" should be");
	CHECK_U64(number_of("sizeof(thing.points[1..3])"), sizeof(struct point[3]));
	CHECK_U64(number_of("sizeof(typeof(thing.points[1..2]))"), sizeof(struct point[2]));
}

static void test_strings(void)
{
	CHECK_U64(number_of("thing.name == \"first \\\"one\\\"\""), 1);
	CHECK_U64(number_of("thing.name == \"first\""), 0);
	CHECK_U64(number_of("thing.name != \"first\""), 1);
	CHECK_U64(number_of("\"second\" == pointer->name"), 1);
	CHECK_U64(number_of("thing.text == \"hi\\n\\\\there\""), 1);
	CHECK_U64(number_of("\"a\" \"b\" == \"ab\""), 1);
	CHECK_U64(number_of("thing == *pointer"), 0);
	CHECK_U64(number_of("thing == *thing.next->next"), 1);
	CHECK_U64(number_of("thing.points[1] == thing.points[2]"), 1);
	CHECK_U64(number_of("thing.points[0] != thing.points[2]"), 1);
	CHECK_FAILS(evaluate("filtered.name == \"x\""), "excluded");
	CHECK_FAILS(evaluate("filtered == thing"), "excluded");
	CHECK_FAILS(evaluate("\"x\" + 1"), "a string of yours has no address");
	CHECK_FAILS(evaluate("\"x\"[2]"), "the string ends before");
	CHECK_FAILS(evaluate("\"x"), "a string does not end");
	CHECK_FAILS(evaluate("\"\\q\""), "malformed escape");
}

static void test_casts(void)
{
	/* A typedef's name that is a variable's, too: what follows decides. */
	CHECK_U64(number_of("(matrix)3"), 3);
	CHECK_U64(number_of("(matrix)[0][1]"), 10);
	CHECK_U64(number_of("(u8)0x1ff"), 0xff);
	CHECK_U64(number_of("(thing_t *)1 + 1"), 1 + sizeof(struct thing));
	CHECK_U64(number_of("((struct point)thing.points[0]).x"), -1);
	CHECK_U64(number_of("((struct point)untyped).y"), 0x22222222);
	CHECK_U64(number_of("(unsigned int)untyped"), 0x11111111);
	CHECK_U64(number_of("((unsigned int *)&untyped)[3]"), 0x44444444);
	CHECK_U64(number_of("(enum color)1 == GREEN"), 1);
	CHECK_U64(number_of("((int [2])untyped)[1]"), 0x22222222);
	CHECK_U64(number_of("sizeof(struct thing)"), sizeof(struct thing));
	CHECK_U64(number_of("sizeof thing.points"), sizeof(struct point[4]));
	CHECK_U64(number_of("sizeof(*(struct thing *)0)"), sizeof(struct thing));
	CHECK_U64(number_of("sizeof(int [3][4])"), sizeof(int[3][4]));
	CHECK_U64(number_of("sizeof cpu_number"), 8);
}

struct seen {
	uint64_t numbers[4];
	uint32_t cpus[4];
	size_t count;
};

static struct error *see(void *context, const struct expression_result *result)
{
	struct seen *seen = context;
	CHECK(seen->count < 4 && result->value);
	seen->cpus[seen->count] = result->has_cpu ? result->cpu : 99;
	return value_u64(result->value, &seen->numbers[seen->count++]);
}

static void test_per_cpu(void)
{
	struct seen seen = { .count = 0 };
	CHECK_U64(number_of("cpu_number:0"), 1000);
	CHECK_U64(number_of("cpu_number:1"), 1001);
	CHECK_U64(number_of("&cpu_number:1"), AT(per_cpu[1]));
	CHECK_FAILS(evaluate("1 ? cpu_number:1 : 0"), "where an operator");
	CHECK_U64(number_of("1 ? (cpu_number:1) : 0"), 1001);
	CHECK_U64(number_of("0?1:2"), 2);
	CHECK_FAILS(evaluate("cpu_number"), "column 1: per-CPU variable: say cpu_number:0 or");
	CHECK_FAILS(evaluate("cpu_number:2"), "no CPU 2");
	CHECK_FAILS(evaluate("thing:0"), "not a per-CPU variable");
	CHECK_FAILS(evaluate("cpu_number:a"), "one CPU is wanted");
	CHECK_U64(number_of("per_cpu(cpu_number, 1)"), 1001);
	CHECK_U64(number_of("per_cpu(cpu_number, 2 - 1) + per_cpu(cpu_number, 0)"), 2001);
	CHECK_U64(number_of("&per_cpu(cpu_number, 1)"), AT(per_cpu[1]));
	CHECK_U64(number_of("*per_cpu_ptr((unsigned long *)64, 1)"), 1001);
	CHECK_U64(number_of("sizeof(per_cpu(cpu_number, 9))"), 8);
	CHECK_FAILS(evaluate("per_cpu(cpu_number, 2)"), "column 21: there is no CPU 2");
	CHECK_FAILS(evaluate("per_cpu(thing, 1)"), "column 9: no per-CPU variable is in it");
	CHECK_FAILS(evaluate("per_cpu(cpu_number)"), "where \",\" should be");
	CHECK_OK(expression_evaluate(&fixture->scope, "cpu_number:a + 1", SLICE_ARRAY, see, &seen));
	CHECK_U64(seen.count, 2);
	CHECK_U64(seen.numbers[0], 1001);
	CHECK_U64(seen.numbers[1], 1002);
	CHECK_U64(seen.cpus[1], 1);
}

static struct error *see_index(void *context, const struct expression_result *result)
{
	struct seen *seen = context;
	CHECK(seen->count < 4 && result->index_count);
	seen->cpus[seen->count] = (uint32_t)result->indices[result->index_count - 1];
	seen->numbers[seen->count] = 0;
	if (result->error)
		CHECK(error_is_missing(result->error));
	return result->value ? value_u64(result->value, &seen->numbers[seen->count++])
			     : (seen->count++, NULL);
}

static void test_slices(void)
{
	struct seen seen = { .count = 0 };
	CHECK(expression_has_several(&fixture->scope, "matrix[0..1][2]", SLICE_ARRAY));
	CHECK(expression_has_several(&fixture->scope, "cpu_number:a", SLICE_ARRAY));
	CHECK(!expression_has_several(&fixture->scope, "matrix[0..1]", SLICE_ARRAY));
	CHECK(expression_has_several(&fixture->scope, "matrix[0..1]", SLICE_ELEMENTS));
	CHECK(!expression_has_several(&fixture->scope, "matrix[0] + 0..", SLICE_ELEMENTS));
	CHECK(!expression_has_several(&fixture->scope, "matrix[", SLICE_ARRAY));
	CHECK_OK(expression_evaluate(&fixture->scope, "matrix[0..1][2] + 1", SLICE_ARRAY, see_index,
				     &seen));
	CHECK_U64(seen.count, 2);
	CHECK_U64(seen.numbers[0], 21);
	CHECK_U64(seen.numbers[1], 51);
	CHECK_U64(seen.cpus[1], 1);
	seen.count = 0;
	CHECK_OK(expression_evaluate(&fixture->scope, "matrix[0..1][1..2] * 1", SLICE_ARRAY,
				     see_index, &seen));
	CHECK_U64(seen.count, 4);
	CHECK_U64(seen.numbers[2], 40);
	CHECK_U64(seen.cpus[2], 1);
	seen.count = 0;
	/* The second is on a page that is not there. */
	CHECK_OK(expression_evaluate(&fixture->scope, "((struct point *)&straddling)[0..1].x + 0",
				     SLICE_ARRAY, see_index, &seen));
	CHECK_U64(seen.count, 2);
	CHECK_FAILS(evaluate("thing.points[2..3][1].y"), "one value is wanted here");
	CHECK_FAILS(evaluate("matrix[0..1][0]"), "one value is wanted here");
	CHECK_FAILS(evaluate("matrix[1..0]"), "column 7: the slice ends before it begins");
	CHECK_FAILS(evaluate("matrix[0..0xffffffff]"), "the slice is too big");
	CHECK_FAILS(evaluate("matrix[-9223372036854775807..9223372036854775807]"), "too big");
	CHECK_FAILS(evaluate("matrix[0..1][0..1][0..1][0..1][0..1]"), "more than 4 slices");
	CHECK_FAILS(evaluate("matrix[..1]"), "where a value should be");
	CHECK_FAILS(evaluate("matrix[1..]"), "where a value should be");
}

static void test_variables(void)
{
	struct value value;
	struct variables *variables = fixture->scope.variables;
	uint64_t number;
	CHECK_FAILS(evaluate("$"), "column 1: there is no result yet");
	CHECK_FAILS(evaluate("$t"), "no variable \"t\"");
	CHECK_OK(expression_value(&fixture->scope, "&thing", &value));
	CHECK_OK(variables_set(variables, "task", &value));
	CHECK_U64(number_of("$task->number"), -2);
	CHECK_STRING(type_of("$task"), "struct thing *");
	CHECK_FAILS(evaluate("1 + $tsak"),
		    "column 5: no variable \"tsak\"; did you mean \"task\"?");
	CHECK_FAILS(variables_set(variables, "1", &value), "cannot be called");
	CHECK_OK(variables_set_address(variables, &fixture->target, 0x1234));
	CHECK_U64(number_of("$_"), 0x1234);
	for (int i = 1; i <= 5000; i++) {
		CHECK_OK(value_set_integer(&fixture->target, class_int, i, &value));
		CHECK_OK(variables_add_result(variables, &value, &number));
		CHECK_U64(number, i);
	}
	CHECK_U64(number_of("$"), 5000);
	CHECK_U64(number_of("$$ + $$2 + $4990"), 4999 + 4998 + 4990);
	CHECK_FAILS(evaluate("$1"), "so old that it was forgotten");
	CHECK_FAILS(evaluate("$5001"), "there is no result $5001, the last one is $5000");
	CHECK_FAILS(evaluate("$$5000"), "there is no result");
	CHECK_FAILS(evaluate("$task = 1"), "column 7: a dump cannot be changed");
	CHECK_FAILS(evaluate("(thing.number += 1)"), "column 15: a dump cannot be changed");
	CHECK_FAILS(evaluate("++thing.number"), "column 1: a dump cannot be changed");
	CHECK_FAILS(evaluate("matrix[0]@4"), "column 10: elements are ARRAY[0..9]");
}

static struct error *find_register(void *context, const char *name, bool *ret_found,
				   struct value *ret)
{
	*ret_found = !strcmp(name, "pc");
	if (!strcmp(name, "lost"))
		return error_create(ERROR_NOT_FOUND, "it was not saved");
	return *ret_found ? value_set_integer(context, class_int, 4711, ret) : NULL;
}

static void test_registers(void)
{
	fixture->scope.find_register = find_register;
	fixture->scope.register_context = &fixture->target;
	CHECK_U64(number_of("$pc + 1"), 4712);
	CHECK_FAILS(evaluate("1 + $lost"), "column 5: it was not saved");
	CHECK_FAILS(evaluate("$other"), "no variable");
	fixture->scope.find_register = NULL;
}

static void test_member_paths(void)
{
	struct value base, value;
	uint64_t number;
	CHECK_OK(expression_value(&fixture->scope, "pointer", &base));
	CHECK_OK(expression_member(&fixture->scope, &base, "next->number", &value));
	CHECK_OK(value_u64(&value, &number));
	CHECK_U64(number, -2);
	CHECK_OK(expression_member(&fixture->scope, &base, "[-1].points[3].y", &value));
	CHECK_OK(value_u64(&value, &number));
	CHECK_U64(number, 9);
	CHECK_FAILS(expression_member(&fixture->scope, &base, "next.numbr", &value),
		    "column 6: struct thing has no member");
	CHECK_FAILS(expression_member(&fixture->scope, &base, "next + 1", &value), "column 6");
}

static void test_equal_names(void)
{
	char text[64];
	/* The variable, though the function comes first. */
	CHECK_U64(number_of("&twin"), AT(other));
	snprintf(text, sizeof(text), "&twin@%llx", TEXT_BASE + 0x200);
	CHECK_U64(number_of(text), TEXT_BASE + 0x200);
	CHECK_FAILS(evaluate("twin@123"), "no symbol \"twin\" at 0x123");
	CHECK_U64(number_of("&vmlinux:twin"), AT(other));
	CHECK_FAILS(evaluate("ext9:twin"), "no module \"ext9\"");
}

static void test_errors(void)
{
	CHECK_FAILS(evaluate("thing.nam"), "column 7: struct thing has no member \"nam\"; did "
					   "you mean \"name\"?");
	CHECK_FAILS(evaluate("thing.numbre"), "did you mean \"number\"?");
	CHECK_FAILS(evaluate("thnig"), "did you mean \"thing\"?");
	CHECK_FAILS(evaluate("(struct thnig *)1"), "did you mean \"struct thing\"?");
	CHECK_FAILS(evaluate("thing.opaque->x"), "struct opaque is only declared");
	CHECK_FAILS(evaluate("1 / 0"), "column 3: division by zero");
	CHECK_FAILS(evaluate("1 % (2 - 2)"), "division by zero");
	CHECK_FAILS(evaluate("1 << 32"), "shift");
	CHECK_FAILS(evaluate("1 << -1"), "shift");
	CHECK_FAILS(evaluate("untyped + 1"), "column 9: its type is not known");
	CHECK_FAILS(evaluate("thing + 1"), "struct thing is not a number");
	CHECK_FAILS(evaluate("*1"), "not a pointer");
	CHECK_FAILS(evaluate("*(void *)1"), "points to nothing");
	CHECK_FAILS(evaluate("&1"), "no address");
	CHECK_FAILS(evaluate("&thing.low"), "bit-field");
	CHECK_FAILS(evaluate("1[2]"), "only arrays and pointers");
	CHECK_FAILS(evaluate("&thing + &thing"), "two pointers");
	CHECK_FAILS(evaluate("1 +"), "column 4: it ends");
	CHECK_FAILS(evaluate("1 2"), "column 3: \"2\" where an operator");
	CHECK_FAILS(evaluate("(1"), "where \")\" should be");
	CHECK_FAILS(evaluate(""), "column 1");
	CHECK_FAILS(evaluate("12ab"), "needs 0x");
	CHECK_FAILS(evaluate("99999999999999999999"), "64 bits");
	CHECK_FAILS(evaluate("'ab'"), "character");
	CHECK_FAILS(evaluate("ffffff"), "hexadecimal needs 0x");
	CHECK_FAILS(evaluate("1 \001"), "not a character");
	CHECK_FAILS(evaluate("/* open"), "comment");
	CHECK_FAILS(evaluate("filtered.number"), "excluded");
}

static void test_addresses(void)
{
	uint64_t address = 0;
#define CHECK_ADDRESS(text, expected)                                                              \
	do {                                                                                       \
		CHECK_OK(expression_address(&fixture->scope, text, &address));                     \
		CHECK_U64(address, expected);                                                      \
	} while (0)
	CHECK_ADDRESS("thing", AT(thing));
	CHECK_ADDRESS("pointer", AT(pointer));
	CHECK_ADDRESS("untyped", AT(untyped));
	CHECK_ADDRESS("thing+0x10", AT(thing) + 16);
	CHECK_ADDRESS("thing-8", AT(thing) - 8);
	CHECK_ADDRESS("&thing", AT(thing));
	CHECK_ADDRESS("ffffffff82000000", DATA_BASE);
	CHECK_ADDRESS("0xffffffff82000000", DATA_BASE);
	CHECK_ADDRESS("1000", 0x1000);
	CHECK_ADDRESS("thing.next", AT(other));
	CHECK_ADDRESS("thing.points", AT(thing.points));
	CHECK_ADDRESS("thing.next + 8 - 4", AT(other) + 4);
	CHECK_ADDRESS("*pointer", AT(other));
	CHECK_ADDRESS("cpu_number:1", AT(per_cpu[1]));
	CHECK_ADDRESS("some_function", TEXT_BASE + 0x100);
	CHECK_ADDRESS("&((struct thing *)0)->points", AT(thing.points) - AT(thing));
	CHECK_FAILS(expression_address(&fixture->scope, "*(struct thing *)0", &address),
		    "NULL pointer");
	CHECK_FAILS(expression_address(&fixture->scope, "((struct thing *)0)->points", &address),
		    "NULL pointer");
}

static void test_depth(void)
{
	static char text[100000];
	static const char *const patterns[] = { "(",
						"-",
						"!",
						"sizeof ",
						"(int)",
						"1+",
						"1?",
						"*",
						"((int*)",
						"thing.points[",
						"1||",
						"1-(",
						"typeof(",
						"sizeof(typeof(",
						"(typeof((",
						"offsetof(struct thing, points[",
						"container_of(",
						"per_cpu(",
						"1,",
						"thing.points[0..",
						"$task->next",
						"a.",
						"int (*",
						"(int(*)(" };
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		*text = 0;
		size_t used = 0, length = strlen(patterns[i]);
		while (used + length + 2 < sizeof(text)) {
			memcpy(text + used, patterns[i], length + 1);
			used += length;
		}
		struct error *error = evaluate(text);
		CHECK(error != NULL);
		error_free(error);
	}
	/* As many additions as a person would never type. */
	strcpy(text, "1");
	for (int i = 0; i < 300; i++)
		strcat(text, "+1");
	CHECK_U64(number_of(text), 301);
}

static void test_mutations(void)
{
	static const char *const seeds[] = {
		"thing.next->next->points[2].y + sizeof(struct thing)",
		"(int (*)(char, struct point *))&thing + 1 << 2 >> 1",
		"((struct point *)&untyped)[1].x == 0x33333333 ? 'a' : \"b\"",
		"cpu_number:0 + cpu_number:a / 010 - 0b11",
		"&twin@ffffffff82000000:1 && !~-+1 || vmlinux:thing",
	};
	uint64_t state = 1;
	size_t good = 0;
	for (int i = 0; i < 20000; i++) {
		char text[128];
		snprintf(text, sizeof(text), "%s", seeds[next_random(&state) % 5]);
		mutate(text, &state);
		uint64_t address;
		struct error *error = evaluate(text);
		good += !error;
		error_free(error);
		error_free(expression_address(&fixture->scope, text, &address));
	}
	/* Some survive, most do not. */
	CHECK(good > 100 && good < 19000);
}

/* Nonsense of C's own words. */
static void test_token_soup(void)
{
	static const char *const words[] = {
		"thing",
		"pointer",
		"matrix",
		"untyped",
		".",
		"->",
		"[",
		"]",
		"(",
		")",
		"*",
		"&",
		"+",
		"-",
		"/",
		"%",
		"<<",
		">>",
		"<",
		"==",
		"!=",
		"&&",
		"||",
		"?",
		":",
		",",
		"..",
		"...",
		"~",
		"!",
		"^",
		"|",
		"=",
		"++",
		"0",
		"1",
		"2u",
		"0x7ful",
		"-1",
		"'a'",
		"\"one\"",
		"next",
		"points",
		"number",
		"low",
		"name",
		"struct",
		"thing_t",
		"int",
		"char",
		"sizeof",
		"offsetof",
		"container_of",
		"typeof",
		"per_cpu",
		"const",
		"$",
		"$task",
		"$$",
		"$1",
		"cpu_number:1",
		"cpu_number:a",
		"twin@0",
		"current",
		"struct thing",
		"(struct thing *)",
		"unsigned",
		"union",
		"x",
		"y",
		"RED",
		"9223372036854775808",
	};
	uint64_t state = 7, address;
	size_t good = 0;
	for (int i = 0; i < 60000; i++) {
		char text[512] = "";
		for (uint32_t n = next_random(&state) % 12 + 1; n; n--) {
			strcat(text, words[next_random(&state) % (sizeof(words) / sizeof(*words))]);
			if (next_random(&state) % 2)
				strcat(text, " ");
		}
		struct value value;
		struct error *error = evaluate(text);
		good += !error;
		error_free(error);
		error_free(expression_type(&fixture->scope, text, &value));
		error_free(expression_address(&fixture->scope, text, &address));
	}
	CHECK(good > 200 && good < 50000);
}

int main(void)
{
	fixture = fixture_create(FIXTURE_DECLARATIONS);
	RUN(test_arithmetic);
	RUN(test_types_of_results);
	RUN(test_members);
	RUN(test_pointers);
	RUN(test_places);
	RUN(test_strings);
	RUN(test_casts);
	RUN(test_per_cpu);
	RUN(test_slices);
	RUN(test_variables);
	RUN(test_registers);
	RUN(test_member_paths);
	RUN(test_equal_names);
	RUN(test_errors);
	RUN(test_addresses);
	RUN(test_depth);
	RUN(test_mutations);
	RUN(test_token_soup);
	fixture_destroy(fixture);
	return test_finish();
}
