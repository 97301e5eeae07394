// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/eval/render.h"
#include "debugger/eval/value.h"
#include "debugger/eval/variables.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

extern const struct command command_task;

/* --- listing -------------------------------------------------------------------------------- */

static void list_variable(struct session *session, const char *name, const struct value *value)
{
	struct render_options options = session->render;
	struct out *out = session->out;
	char dollar[80], spelled[512];
	options.one_line = true;
	options.depth = 1;
	snprintf(dollar, sizeof(dollar), "$%s", name);
	out_object_begin(out, NULL);
	out_string(out, "name", dollar);
	out_text(out, " = (");
	out_string(out, "type", value_type_name(value, spelled, sizeof(spelled)));
	out_text(out, ")");
	struct error *error = value_render(out, "value", value, &options);
	if (error)
		out_missing(out, "value", error);
	error_free(error);
	out_object_end(out);
	out_text(out, "\n");
}

static void list_option(struct session *session, const struct render_setting *setting,
			const char *value)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_pad(out, -10);
	out_string(out, "name", setting->name);
	out_text(out, " ");
	out_pad(out, -6);
	out_string(out, "value", value);
	out_text(out, " %s (%s)\n", setting->help, setting->values);
	out_object_end(out);
}

static const struct render_setting pager = { "pager", "on|off",
					     "long output at the prompt goes through $PAGER" };

static void list_all(struct session *session)
{
	struct out *out = session->out;
	char text[64];
	const char *name;
	const struct value *value;
	out_object_begin(out, NULL);
	out_array_begin(out, "options");
	for (size_t i = 0; i < render_setting_count; i++)
		list_option(session, &render_settings[i],
			    render_option_text(&session->render, render_settings[i].name, text,
					       sizeof(text)));
	list_option(session, &pager, session->pager ? "on" : "off");
	out_array_end(out);
	out_array_begin(out, "variables");
	for (size_t i = 0; variables_get(session->scope.variables, i, &name, &value); i++)
		list_variable(session, name, value);
	out_array_end(out);
	out_object_end(out);
}

/* --- setting -------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Takes a word of letters, digits and `more` from *text; false when it does not fit. */
static bool take_word(const char **text, const char *more, char *buffer, size_t size)
{
	size_t length = 0;
	const char *from = *text;
	while (ascii_is_alnum(from[length]) || (from[length] && strchr(more, from[length])))
		length++;
	if (length >= size)
		return false;
	memcpy(buffer, from, length);
	buffer[length] = 0;
	*text = skip_blanks(from + length);
	return true;
}

/* A register cannot be set, and a variable of its name could never be read. */
static struct error *check_register(struct scope *scope, const char *name)
{
	struct value value;
	bool found = false;
	struct error *error = scope->find_register ? scope->find_register(scope->register_context,
									  name, &found, &value)
						   : NULL;
	if (!error && !found)
		return NULL;
	error_free(error);
	return error_create(ERROR_USAGE, "$%s is a register, it cannot be set", name);
}

static struct error *set_variable(struct session *session, const char *text)
{
	struct scope *scope = &session->scope;
	struct value value;
	char name[64];
	text++;
	if (!take_word(&text, "_$", name, sizeof(name)))
		return error_create(ERROR_USAGE, "the variable's name is too long");
	if (*text != '=' || text[1] == '=')
		return error_create(ERROR_USAGE, "\"=\" should follow $%s", name);
	TRY(check_register(scope, name));
	TRY(expression_value(scope, skip_blanks(text + 1), &value));
	TRY(variables_set(scope->variables, name, &value));
	out_null_as(session->out, NULL, "");
	return NULL;
}

/* crash's `set hex`, `set hex on` and `set radix 16`. NULL: it is none of them. */
static const char *crash_base(const char *name, const char *value)
{
	static const char *const bases[][2] = { { "dec", "10" }, { "hex", "16" }, { "oct", "8" } };
	if (!strcmp(name, "hex") && (!strcmp(value, "on") || !strcmp(value, "off")))
		return bases[!strcmp(value, "on")][0];
	for (size_t i = 0; i < ARRAY_COUNT(bases); i++)
		if ((!strcmp(name, bases[i][0]) && !*value) ||
		    (!strcmp(name, "radix") && !strcmp(value, bases[i][1])))
			return bases[i][0];
	return NULL;
}

/* `scroll` in crash, `pagination` in gdb. */
static bool is_pager(const char *name)
{
	return !strcmp(name, "pager") || !strcmp(name, "scroll") || !strcmp(name, "pagination");
}

/* How values are rendered. The error of a name that there is not names the pager, too. */
static struct error *set_render(struct session *session, const char *name, const char *value)
{
	struct error *error = render_option_set(&session->render, name, value);
	for (size_t i = 0; i < render_setting_count; i++)
		if (!strcmp(render_settings[i].name, name))
			return error;
	struct error *whole = error_create(error->kind, "%s, %s", error->message, pager.name);
	error_free(error);
	return whole;
}

static struct error *set_option(struct session *session, const char *text)
{
	char name[64];
	if (!take_word(&text, "-_", name, sizeof(name)) || !*name)
		return error_create(ERROR_USAGE,
				    "`set $NAME = EXPRESSION` or `set OPTION VALUE`; `set` alone "
				    "lists both");
	if (*text == '=')
		text = skip_blanks(text + 1);
	bool on = !strcmp(text, "on");
	const char *base = crash_base(name, text);
	if (base)
		TRY(render_option_set(&session->render, "base", base));
	else if (!is_pager(name))
		TRY(set_render(session, name, text));
	else if (on || !strcmp(text, "off"))
		session->pager = on;
	else
		return error_create(ERROR_USAGE, "%s is on or off, not \"%s\"", name, text);
	out_null_as(session->out, NULL, "");
	return NULL;
}

/* crash's `set -p` and `set -c CPU`: the task that panicked, and what a CPU ran. */
static struct error *set_current(struct session *session, const char *text)
{
	struct value value;
	char expression[64], address[32];
	bool panicked = !strcmp(text, "-p");
	if (!panicked &&
	    (strncmp(text, "-c", 2) || !isdigit((unsigned char)*skip_blanks(text + 2))))
		return error_create(ERROR_USAGE, "set -p or set -c CPU");
	session->scope.task = panicked ? 0 : session->scope.task;
	snprintf(expression, sizeof(expression), "current%s%s", panicked ? "" : ":",
		 panicked ? "" : skip_blanks(text + 2));
	TRY(expression_value(&session->scope, expression, &value));
	snprintf(address, sizeof(address), "0x%" PRIx64, value.scalar);
	const char *operands[] = { address };
	const struct arguments arguments = { .operands = operands, .operand_count = 1 };
	return command_task.run(session, &arguments);
}

/* crash's `set PID` and `set ADDRESS`: as `task` does. */
static bool is_task(const char *text)
{
	size_t digits = strspn(text, "0123456789"), hex = strspn(text, "0123456789abcdefABCDEF");
	return (digits && !text[digits]) || (hex == 16 && !text[hex]) ||
	       !strncasecmp(text, "0x", 2);
}

static struct error *set_run(struct session *session, const struct arguments *arguments)
{
	if (!arguments->operand_count) {
		list_all(session);
		return NULL;
	}
	const char *text = arguments->operands[0];
	if (is_task(text))
		return command_task.run(session, arguments);
	if (*text == '-')
		return set_current(session, text);
	return *text == '$' ? set_variable(session, text) : set_option(session, text);
}

static const char *const examples[] = { "set $init = &init_task", "set base hex", "set", NULL };

const struct command command_set = {
	.name = "set",
	.summary = "set a variable or an option of printing",
	.description =
		"`set $NAME = EXPRESSION` keeps the value of an expression with its type under a "
		"name for later expressions. What lies in memory is kept as the place.\n"
		"\n"
		"`set OPTION VALUE` sets how values are printed, for the rest of the session. "
		"Without operands it lists options and variables.\n"
		"\n"
		"`set PID` and `set ADDRESS` select a task, as `task` does; `set -p` the one that "
		"panicked, `set -c CPU` the one that a CPU ran.\n"
		"\n"
		"Every result of print has a number: $1 is the first, $ the last, $$ the one "
		"before, $$N N before the last. $_ is the address that came through a pipe.",
	.operands = { { .name = "$NAME = EXPRESSION|OPTION VALUE",
			.kind = OPERAND_EXPRESSION,
			.optional = true,
			.rest = true } },
	.examples = examples,
	.run = set_run,
};
