// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/pipe.h"

#include "base/interrupt.h"
#include "cmds/run.h"
#include "debugger/declare/declare.h"
#include "debugger/eval/variables.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 64

/* --- the text of a command ---------------------------------------------------------- */

static const char *skip_word(const char *at)
{
	at += strcspn(at, " \t");
	return at + strspn(at, " \t");
}

/* What follows the command's name and its options. */
static const char *operands_of(const struct command *command, const char *text)
{
	const char *at = skip_word(text);
	while (*at == '-' && at[1] && at[1] != '>') {
		char word[128];
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " \t"), at);
		const struct option_spec *option = command_find_option(command, word);
		if (!option && strncmp(word, "--", 2))
			break;
		bool joined = option && (strchr(word, '=') ||
					 (option->letter && word[1] == option->letter && word[2]));
		bool takes_next = option ? option->argument && !joined : !strcmp(word, "--columns");
		at = skip_word(at);
		if (takes_next)
			at = skip_word(at);
	}
	return at;
}

static const struct command *command_of(const char *text)
{
	return command_find(text, strcspn(text, " \t"));
}

bool pipe_is_table(const char *text)
{
	const struct command *command = command_of(text);
	return command && command_takes_expression(command) && *operands_of(command, text) == '{';
}

static bool takes_address(const struct command *command)
{
	for (size_t i = 0; i < command_operand_count(command); i++) {
		enum operand_kind kind = command->operands[i].kind;
		if (kind == OPERAND_ADDRESS || kind == OPERAND_TASK || kind == OPERAND_TASK_NAME ||
		    kind == OPERAND_SYMBOL || kind == OPERAND_EXPRESSION)
			return true;
	}
	return false;
}

/* Every `$_` that is a word of its own replaced by the address. */
static char *replace_item(const char *text, uint64_t address)
{
	char *result = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&result, &size);
	if (!file)
		return NULL;
	const char *found;
	while ((found = strstr(text, "$_"))) {
		fwrite(text, 1, (size_t)(found - text), file);
		if (isalnum((unsigned char)found[2]) || found[2] == '_')
			fputs("$_", file);
		else
			fprintf(file, "0x%" PRIx64, address);
		text = found + 2;
	}
	fputs(text, file);
	fclose(file);
	return result;
}

struct error *pipe_command(const char *text, uint64_t address, char **ret)
{
	const struct command *command = command_of(text);
	int length = -1;
	char *result = NULL;
	if (!command)
		return command_unknown(text, strcspn(text, " \t"));
	bool expression = command_takes_expression(command);
	const char *rest = operands_of(command, text);
	if (!takes_address(command))
		return error_create(ERROR_USAGE, "%s takes no address: it cannot stand behind a |",
				    command->name);
	if (strstr(text, "$_")) {
		result = expression ? strdup(text) : replace_item(text, address);
		length = result ? 0 : -1;
	} else if (!expression) {
		length = asprintf(&result, "%s 0x%" PRIx64, text, address);
	} else if (!*rest) {
		length = asprintf(&result, "%s *$_", text);
	} else if (!strncmp(rest, "->", 2) || *rest == '.') {
		length = asprintf(&result, "%.*s $_%s%s", (int)(rest - text), text,
				  *rest == '.' ? "->" : "", rest + (*rest == '.'));
	} else {
		return error_create(ERROR_USAGE,
				    "%s: what of each item? $_->MEMBER, or {MEMBER, MEMBER...}",
				    command->name);
	}
	if (length < 0)
		return error_no_memory();
	*ret = result;
	return NULL;
}

/* --- $_ ----------------------------------------------------------------------------- */

/* A pointer's type is looked up once for items of one type, which most are. */
struct consumer {
	struct session *session;
	const char *type_name;
	struct type pointer;
};

static struct error *set_item(struct consumer *consumer, const struct out_item *item)
{
	struct session *session = consumer->session;
	struct variables *variables = session->scope.variables;
	char name[256];
	if (!item->type_name)
		return variables_set_address(variables, session->target, item->address);
	if (consumer->type_name != item->type_name) {
		snprintf(name, sizeof(name), "%s *", item->type_name);
		TRY(declare_parse_type(session->target, NULL, name, NULL, &consumer->pointer));
		consumer->type_name = item->type_name;
	}
	struct value value = { .target = session->target,
			       .type = consumer->pointer,
			       .scalar = item->address,
			       .origin = ORIGIN_CAST };
	return variables_set(variables, "_", &value);
}

/* --- members in a table ---------------------------------------------------------------- */

struct member_list {
	char *text; /* cut up */
	const char *names[MEMBERS_MAX];
	size_t count;
};

/* "{comm, a[f(1, 2)], pid}": commas within brackets separate nothing. */
static struct error *parse_members(const char *text, struct member_list *ret)
{
	const char *end = strrchr(text, '}');
	int depth = 0;
	if (!end || end[1 + strspn(end + 1, " \t")])
		return error_create(ERROR_USAGE, "the members' list has no } at its end");
	ret->text = strndup(text + 1, (size_t)(end - text - 1));
	if (!ret->text)
		return error_no_memory();
	for (char *at = ret->text, *start = at;; at++) {
		depth += *at && strchr("([{", *at) ? 1 : *at && strchr(")]}", *at) ? -1 : 0;
		if (*at && (*at != ',' || depth))
			continue;
		bool last = !*at;
		for (char *back = at; back > start && isspace((unsigned char)back[-1]); back--)
			back[-1] = 0;
		*at = 0;
		start += strspn(start, " \t");
		if (*start && ret->count < MEMBERS_MAX)
			ret->names[ret->count++] = start;
		if (last)
			break;
		start = at + 1;
	}
	return ret->count ? NULL : error_create(ERROR_USAGE, "{} names no member");
}

/* A member's name, or any expression with $_. */
static struct error *member_value(struct session *session, const char *name, struct value *ret)
{
	char text[512];
	bool whole = strstr(name, "$_");
	if (snprintf(text, sizeof(text), "%s%s", whole ? "" : "$_->", name) >= (int)sizeof(text))
		return error_create(ERROR_USAGE, "an expression of over %zu characters",
				    sizeof(text));
	return expression_value(&session->scope, text, ret);
}

/* As one string: what a cell of a table can hold; quotes that enclose it all are left out. */
static struct error *render_cell(struct session *session, const char *key,
				 const struct value *value)
{
	char *text = NULL;
	size_t size = 0;
	struct render_options options = session->render;
	options.one_line = true;
	FILE *memory = open_memstream(&text, &size);
	struct out *out = memory ? out_text_create(memory) : NULL;
	if (!out) {
		if (memory)
			fclose(memory);
		free(text);
		return error_no_memory();
	}
	struct error *error = value_render(out, NULL, value, &options);
	out_finish(out);
	out_destroy(out);
	fclose(memory);
	if (!error && size >= 2 && *text == '"' && strchr(text + 1, '"') == text + size - 1)
		out_string_bytes(session->out, key, text + 1, size - 2);
	else if (!error)
		out_string_bytes(session->out, key, text, size);
	free(text);
	return error;
}

static struct error *write_member(struct session *session, const char *name)
{
	struct value value;
	struct error *error = member_value(session, name, &value);
	if (!error && session->format == FORMAT_JSON)
		error = value_render(session->out, name, &value, &session->render);
	else if (!error)
		error = render_cell(session, name, &value);
	if (!error || !error_is_missing(error))
		return error;
	out_missing(session->out, name, error);
	error_free(error);
	return NULL;
}

static struct error *write_members(struct session *session, const char *text,
				   const struct out_item *item)
{
	struct member_list list = { 0 };
	struct error *error = parse_members(operands_of(command_of(text), text), &list);
	out_item(session->out, item->address, item->type_name);
	out_object_begin(session->out, NULL);
	out_address(session->out, "address", item->address);
	for (size_t i = 0; i < list.count && !error; i++)
		error = write_member(session, list.names[i]);
	out_object_end(session->out);
	free(list.text);
	return error;
}

/* --- running ---------------------------------------------------------------------------- */

static struct error *run_command(struct session *session, const char *text,
				 const struct out_item *item)
{
	char *command = NULL;
	struct call call = { 0 };
	TRY(pipe_command(text, item->address, &command));
	struct error *error = call_parse(command, &call);
	if (!error)
		error = run_call(session, &call);
	call_deinit(&call);
	free(command);
	return error;
}

/* What fails for one item may do for the next; but not what is wrong with the words. */
static bool is_final(const struct error *error)
{
	return error->kind == ERROR_USAGE || error->kind == ERROR_NO_MEMORY ||
	       error->kind == ERROR_INTERRUPTED;
}

static void show_failure(struct session *session, const struct out_item *item,
			 const struct error *error)
{
	char message[512];
	if (session->json) {
		out_object_begin(session->out, NULL);
		out_address(session->out, "address", item->address);
		out_string(session->out, "error", error->message);
		out_object_end(session->out);
		return;
	}
	snprintf(message, sizeof(message), "0x%" PRIx64 ": %s", item->address, error->message);
	fflush(session->file);
	run_message(session, message);
}

/* Answers of several lines are kept apart by an empty one. */
static bool is_long(const char *text)
{
	const struct command *command = command_of(text);
	for (size_t i = 0; command && i < command_operand_count(command); i++)
		if (command->operands[i].kind == OPERAND_TASK ||
		    command->operands[i].kind == OPERAND_TYPE)
			return true;
	return false;
}

static struct error *run_item(struct consumer *consumer, const char *text,
			      const struct out_item *item, bool is_table)
{
	TRY(interrupt_check());
	TRY(set_item(consumer, item));
	return is_table ? write_members(consumer->session, text, item)
			: run_command(consumer->session, text, item);
}

struct error *pipe_run(struct session *session, const char *text, const struct out_item *items,
		       size_t count)
{
	struct consumer consumer = { .session = session };
	struct error *error = NULL;
	bool is_table = pipe_is_table(text), apart = is_long(text);
	size_t failed = 0;
	out_array_begin(session->out, NULL);
	size_t depth = out_depth(session->out);
	for (size_t i = 0; i < count && !error; i++) {
		progress_report(session->progress, text, i, count);
		if (i && apart)
			out_text(session->out, "\n");
		error = run_item(&consumer, text, &items[i], is_table);
		if (!error || is_final(error))
			continue;
		out_finish_to(session->out, depth);
		show_failure(session, &items[i], error);
		error_free(error);
		error = NULL;
		failed++;
	}
	out_finish_to(session->out, depth);
	out_array_end(session->out);
	if (!error && failed && session->json)
		error = error_create(ERROR_OTHER, "%zu of %zu failed", failed, count);
	if (failed)
		session->failed = true;
	return error;
}
