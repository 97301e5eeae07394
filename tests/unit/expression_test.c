// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/eval_fixture.h"

/* The compiler is asked to compute what people write, precedence and odd comparisons included. */
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
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
	struct error *error = expression_value(&fixture->target, text, &value);
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
	struct error *error = expression_value(&fixture->target, text, &value);
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
	struct error *error = expression_value(&fixture->target, text, &value);
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
	CHECK_OK(expression_evaluate(&fixture->target, "cpu_number:a + 1", see, &seen));
	CHECK_U64(seen.count, 2);
	CHECK_U64(seen.numbers[0], 1001);
	CHECK_U64(seen.numbers[1], 1002);
	CHECK_U64(seen.cpus[1], 1);
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
		CHECK_OK(expression_address(&fixture->target, text, &address));                    \
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
}

static void test_depth(void)
{
	static char text[100000];
	static const char *const patterns[] = { "(",   "-",  "!", "sizeof ", "(int)",
						"1+",  "1?", "*", "((int*)", "thing.points[",
						"1||", "1-(" };
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
		error_free(expression_address(&fixture->target, text, &address));
	}
	/* Some survive, most do not. */
	CHECK(good > 100 && good < 19000);
}

int main(void)
{
	fixture = fixture_create(FIXTURE_DECLARATIONS);
	RUN(test_arithmetic);
	RUN(test_types_of_results);
	RUN(test_members);
	RUN(test_pointers);
	RUN(test_casts);
	RUN(test_per_cpu);
	RUN(test_equal_names);
	RUN(test_errors);
	RUN(test_addresses);
	RUN(test_depth);
	RUN(test_mutations);
	fixture_destroy(fixture);
	return test_finish();
}
