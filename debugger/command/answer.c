// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/answer.h"

static void begin_object(struct answer *answer)
{
	answer->out = out_json_create(answer->to);
	if (!answer->out)
		return;
	out_object_begin(answer->out, NULL);
	/* Exactly as given, so that programs can match the answer with their line. */
	out_quoted(answer->out, OUT_QUOTED);
	out_string(answer->out, "command", answer->line);
	out_quoted(answer->out, OUT_RAW);
}

static void write_outcome(const struct answer *answer, const struct error *error)
{
	struct target *target = answer->session->target;
	const char *advice = error && target ? target_error_advice(target, error) : NULL;
	out_bool(answer->out, "ok", !error);
	if (error)
		out_string(answer->out, "error", error->message);
	if (advice)
		out_string(answer->out, "advice", advice);
}

static void end_object(struct answer *answer)
{
	out_object_end(answer->out);
	out_destroy(answer->out);
	answer->out = NULL;
	putc('\n', answer->to);
}

static void write_result(struct answer *answer, const char *text, size_t size)
{
	fputs(", \"result\": ", answer->to);
	fwrite(text, 1, size, answer->to);
}

/* What `to` does not take, it remembers itself. */
static ssize_t take_bytes(void *cookie, const char *bytes, size_t size)
{
	struct answer *answer = cookie;
	if (answer->out) {
		fwrite(bytes, 1, size, answer->to);
		return (ssize_t)size;
	}
	strbuf_bytes(&answer->held, bytes, size);
	if (answer->held.size <= ANSWER_HELD || answer->held.failed)
		return (ssize_t)size;
	begin_object(answer);
	if (!answer->out)
		return (ssize_t)size;
	write_result(answer, answer->held.data, answer->held.size);
	strbuf_deinit(&answer->held);
	return (ssize_t)size;
}

/* There is no memory to write JSON with: whoever reads it still gets an object. */
static void write_shortage(FILE *to)
{
	fputs("{\"command\": \"\", \"ok\": false, \"error\": \"out of memory\"}\n", to);
}

struct error *answer_begin(struct answer *answer, const struct session *session, FILE *to,
			   const char *line)
{
	*answer = (struct answer){ .session = session, .line = line, .to = to };
	answer->result = fopencookie(answer, "w", (cookie_io_functions_t){ .write = take_bytes });
	return answer->result ? NULL : error_no_memory();
}

struct error *answer_end(struct answer *answer, struct error *error)
{
	if ((fclose(answer->result) || answer->held.failed) && !error)
		error = error_no_memory();
	if (answer->out) {
		write_outcome(answer, error);
		end_object(answer);
		return error;
	}
	/* Half of it would be no JSON. */
	if (answer->held.failed)
		strbuf_deinit(&answer->held);
	begin_object(answer);
	if (answer->out) {
		write_outcome(answer, error);
		if (answer->held.size)
			write_result(answer, answer->held.data, answer->held.size);
		else if (!error)
			write_result(answer, "null", 4);
		end_object(answer);
	} else {
		write_shortage(answer->to);
		if (!error)
			error = error_no_memory();
	}
	strbuf_deinit(&answer->held);
	return error;
}

void answer_refuse(const struct session *session, FILE *to, const char *line,
		   const struct error *error)
{
	struct answer answer = { .session = session, .line = line, .to = to };
	begin_object(&answer);
	if (!answer.out) {
		write_shortage(to);
		return;
	}
	write_outcome(&answer, error);
	end_object(&answer);
}
