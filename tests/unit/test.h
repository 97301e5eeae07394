/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unit tests' harness: one program a file, static test functions, CHECK*() that report and go
 *on.
 *
 *	static void test_parse(void) { CHECK_U64(parse("1"), 1); }
 *	int main(void) { RUN(test_parse); return test_finish(); }
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include "base/error.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_passed, test_failed, test_bad;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);           \
			test_bad = 1;                                                              \
		}                                                                                  \
	} while (0)

#define CHECK_U64(actual, expected)                                                                \
	do {                                                                                       \
		uint64_t test_a = (uint64_t)(actual), test_e = (uint64_t)(expected);               \
		if (test_a != test_e) {                                                            \
			printf("%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64            \
			       " (0x%" PRIx64 ")\n",                                               \
			       __FILE__, __LINE__, #actual, test_a, test_a, test_e, test_e);       \
			test_bad = 1;                                                              \
		}                                                                                  \
	} while (0)

#define CHECK_STRING(actual, expected)                                                             \
	do {                                                                                       \
		const char *test_a = (actual), *test_e = (expected);                               \
		if (!test_a || strcmp(test_a, test_e)) {                                           \
			printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #actual,   \
			       test_a ? test_a : "(null)", test_e);                                \
			test_bad = 1;                                                              \
		}                                                                                  \
	} while (0)

/* Success of a fallible call; an error is printed and counted. */
#define CHECK_OK(call)                                                                             \
	do {                                                                                       \
		struct error *test_error = (call);                                                 \
		if (test_error) {                                                                  \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, test_error->message); \
			error_free(test_error);                                                    \
			test_bad = 1;                                                              \
		}                                                                                  \
	} while (0)

/* Failure with a message that contains `part`. */
#define CHECK_FAILS(call, part)                                                                    \
	do {                                                                                       \
		struct error *test_error = (call);                                                 \
		if (!test_error || !strstr(test_error->message, part)) {                           \
			printf("%s:%d: %s: message \"%s\" lacks \"%s\"\n", __FILE__, __LINE__,     \
			       #call, test_error ? test_error->message : "(success)", part);       \
			test_bad = 1;                                                              \
		}                                                                                  \
		error_free(test_error);                                                            \
	} while (0)

#define RUN(test)                                                                                  \
	do {                                                                                       \
		test_bad = 0;                                                                      \
		test();                                                                            \
		if (test_bad)                                                                      \
			test_failed++;                                                             \
		else                                                                               \
			test_passed++;                                                             \
		printf("%s %s\n", test_bad ? "FAIL" : "ok", #test);                                \
	} while (0)

static inline int test_finish(void)
{
	printf("%d passed, %d failed\n", test_passed, test_failed);
	return test_failed ? 1 : 0;
}

#endif
