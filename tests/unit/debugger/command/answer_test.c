// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/answer.h"
#include "tests/unit/test.h"

#define NUMBERS 200000u /* more than ANSWER_HELD bytes of them */

struct written {
	char *text;
	size_t size;
	FILE *file;
};

static void open_written(struct written *written)
{
	written->file = open_memstream(&written->text, &written->size);
}

static void close_written(struct written *written)
{
	fclose(written->file);
	free(written->text);
}

static void write_numbers(FILE *file, size_t count)
{
	struct out *out = out_json_create(file);
	out_array_begin(out, NULL);
	for (size_t i = 0; i < count; i++)
		out_u64(out, NULL, i);
	out_finish(out);
	out_destroy(out);
}

/* As long as it is short, "ok" comes first. */
static void test_short(void)
{
	struct session session = { .target = NULL };
	struct answer answer;
	struct written written;
	open_written(&written);
	CHECK_OK(answer_begin(&answer, &session, written.file, "a \\ \"line\""));
	write_numbers(answer.result, 2);
	fflush(answer.result);
	fflush(written.file);
	CHECK_U64(written.size, 0);
	CHECK_OK(answer_end(&answer, NULL));
	fflush(written.file);
	CHECK_STRING(written.text,
		     "{\"command\": \"a \\\\ \\\"line\\\"\", \"ok\": true, \"result\": [0, 1]}\n");
	close_written(&written);
}

static void check_end(const struct written *written, const char *end)
{
	size_t length = strlen(end);
	CHECK(written->size > length);
	if (written->size > length)
		CHECK_STRING(written->text + written->size - length, end);
}

static const char *kept(const struct error *error)
{
	return error ? error->message : "none";
}

/* A long one goes out meanwhile; what went wrong is said behind it. */
static void test_long(struct error *error, const char *end)
{
	struct session session = { .target = NULL };
	struct answer answer;
	struct written written;
	open_written(&written);
	CHECK_OK(answer_begin(&answer, &session, written.file, "list"));
	write_numbers(answer.result, NUMBERS);
	fflush(answer.result);
	fflush(written.file);
	CHECK(written.size > ANSWER_HELD);
	CHECK_U64(answer.held.capacity, 0);
	CHECK_U64(strncmp(written.text, "{\"command\": \"list\", \"result\": [0, 1, 2", 37), 0);
	error = answer_end(&answer, error);
	fflush(written.file);
	check_end(&written, end);
	error_free(error);
	close_written(&written);
}

static void test_long_well(void)
{
	test_long(NULL, ", 199998, 199999], \"ok\": true}\n");
}

static void test_long_badly(void)
{
	test_long(error_create(ERROR_FORMAT, "a link is broken"),
		  ", 199999], \"ok\": false, \"error\": \"a link is broken\"}\n");
}

static void test_none(void)
{
	struct session session = { .target = NULL };
	struct answer answer;
	struct written written;
	open_written(&written);
	CHECK_OK(answer_begin(&answer, &session, written.file, "quit"));
	CHECK_OK(answer_end(&answer, NULL));
	CHECK_OK(answer_begin(&answer, &session, written.file, "ps"));
	struct error *error = answer_end(&answer, error_create(ERROR_USAGE, "no"));
	CHECK_STRING(kept(error), "no");
	answer_refuse(&session, written.file, "x", error);
	fflush(written.file);
	CHECK_STRING(written.text, "{\"command\": \"quit\", \"ok\": true, \"result\": null}\n"
				   "{\"command\": \"ps\", \"ok\": false, \"error\": \"no\"}\n"
				   "{\"command\": \"x\", \"ok\": false, \"error\": \"no\"}\n");
	error_free(error);
	close_written(&written);
}

int main(void)
{
	RUN(test_short);
	RUN(test_long_well);
	RUN(test_long_badly);
	RUN(test_none);
	return test_finish();
}
