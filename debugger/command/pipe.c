// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/pipe.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/interrupt.h"
#include "debugger/command/print_options.h"
#include "debugger/command/repeats.h"
#include "debugger/command/run.h"
#include "debugger/eval/selection.h"
#include "debugger/eval/variables.h"
#include "debugger/show/member.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the text of a command ---------------------------------------------------------- */

static const struct command *command_of(const char *text)
{
	return command_find(text, strcspn(text, " \t"));
}

/*
 * Behind "(TYPE)" or "(TYPE *)" with members, or nothing, behind it; `at` itself: this is none, or
 * C's own cast of something.
 */
static const char *skip_cast(const char *at)
{
	const char *end = at;
	int depth = 0;
	if (*at != '(')
		return at;
	for (; *end; end++) {
		depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
		if (!depth)
			break;
	}
	if (!*end)
		return at;
	end++;
	end += strspn(end, " \t");
	return !*end || strchr("{.", *end) || !strncmp(end, "->", 2) ? end : at;
}

/* "comm", "mm->pgd", "se.load": members of what comes, for the same of each would be senseless. */
static bool is_path(const char *text, size_t length)
{
	if (!length || (!ascii_is_alpha(*text) && *text != '_'))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_alnum(text[i]) && !strchr("_.[]", text[i]) &&
		    strncmp(text + i, "->", 2) && strncmp(text + i - 1, "->", 2))
			return false;
	return true;
}

/* The length of the operand, without options behind it such as --csv. */
static size_t operand_length(const char *text)
{
	const char *options = strstr(text, " --");
	size_t length = options ? (size_t)(options - text) : strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return length;
}

/* Whether the operand of `print` is "[/x] [(TYPE)][PATH]{...}". */
static bool is_selection(const char *operand)
{
	struct render_options unused;
	char *text = strndup(operand, operand_length(operand));
	if (!text)
		return false;
	const char *at = skip_cast(print_format(text, &unused));
	const char *members = selection_find(at);
	bool found = members && (members == at || is_path(at, (size_t)(members - at)));
	free(text);
	return found;
}

bool pipe_is_table(const char *text)
{
	const struct command *command = command_of(text);
	return command && command->makes_table && is_selection(call_operands(command, text));
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

/* The next `$_` that is a word of its own; NULL. */
static const char *find_item(const char *text)
{
	while ((text = strstr(text, "$_")) && (ascii_is_alnum(text[2]) || text[2] == '_'))
		text += 2;
	return text;
}

/* Each of them replaced by the address. */
static char *replace_item(const char *text, uint64_t address)
{
	char *result = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&result, &size);
	if (!file)
		return NULL;
	const char *found;
	while ((found = find_item(text))) {
		fprintf(file, "%.*s0x%" PRIx64, (int)(found - text), text, address);
		text = found + 2;
	}
	fputs(text, file);
	fclose(file);
	return result;
}

/*
 * "$_" in its place: "*$_" where nothing is said, "$_->member". A pointer of another type where the
 * text begins with one in parentheses.
 */
static struct error *expression_command(const struct command *command, const char *text,
					const char *rest, char **ret)
{
	const char *at = skip_cast(rest);
	int type_size = (int)(at - rest), length;
	char *item = NULL;
	while (type_size && rest[type_size] != ')')
		type_size--;
	type_size -= type_size > 0;
	bool is_pointer = type_size && rest[type_size] == '*';
	if (asprintf(&item, type_size ? "((%.*s%s)$_)" : "$_", type_size, rest + 1,
		     is_pointer ? "" : " *") < 0)
		return error_no_memory();
	bool arrow = !strncmp(at, "->", 2), point = *at == '.';
	const char *blank = isspace((unsigned char)rest[-1]) ? "" : " ";
	if (!*at)
		length = asprintf(ret, "%.*s%s*%s", (int)(rest - text), text, blank, item);
	else if (arrow || point || is_path(at, operand_length(at)))
		length = asprintf(ret, "%.*s%s%s->%s", (int)(rest - text), text, blank, item,
				  at + (arrow ? 2 : point));
	else
		length = -2;
	free(item);
	if (length == -2)
		return error_create(ERROR_USAGE,
				    "%s: what of each item? MEMBER, {MEMBER, MEMBER...}, or "
				    "$_->MEMBER in an expression",
				    command->name);
	return length < 0 ? error_no_memory() : NULL;
}

/* The text with "$_" where the item stands: behind it, if nothing else is said. */
static struct error *text_with_item(const char *text, char **ret)
{
	const struct command *command = command_of(text);
	int length = 0;
	if (!command)
		return command_unknown(text, strcspn(text, " \t"));
	bool is_expression = command_takes_expression(command);
	if (!takes_address(command))
		return error_create(ERROR_USAGE, "%s takes no address: it cannot stand behind a |",
				    command->name);
	if (strstr(text, "$_") || pipe_is_table(text))
		length = asprintf(ret, "%s", text);
	else if (is_expression)
		return expression_command(command, text, call_operands(command, text), ret);
	else
		length = asprintf(ret, "%s $_", text);
	return length < 0 ? error_no_memory() : NULL;
}

static struct error *add_place(struct piped *piped, const char **word)
{
	if (!*word || !find_item(*word))
		return NULL;
	if (!array_reserve(&piped->places, &piped->place_capacity, piped->place_count + 1))
		return error_no_memory();
	piped->places[piped->place_count++] = (struct piped_place){ word, *word, NULL };
	return NULL;
}

struct error *piped_parse(const char *text, struct piped *ret)
{
	*ret = (struct piped){ .is_table = pipe_is_table(text) };
	TRY(text_with_item(text, &ret->text));
	TRY(call_parse(ret->text, &ret->call));
	if (command_takes_expression(ret->call.command))
		return NULL;
	for (size_t i = 0; i < OPTIONS_MAX; i++)
		TRY(add_place(ret, &ret->call.arguments.options[i]));
	for (size_t i = 0; i < ret->call.arguments.operand_count; i++)
		TRY(add_place(ret, &ret->call.operands[i]));
	return NULL;
}

struct error *piped_put(struct piped *piped, uint64_t address)
{
	for (size_t i = 0; i < piped->place_count; i++) {
		struct piped_place *place = &piped->places[i];
		char *filled = replace_item(place->form, address);
		if (!filled)
			return error_no_memory();
		free(place->filled);
		*place->word = place->filled = filled;
	}
	return NULL;
}

void piped_deinit(struct piped *piped)
{
	for (size_t i = 0; i < piped->place_count; i++)
		free(piped->places[i].filled);
	free(piped->places);
	call_deinit(&piped->call);
	free(piped->text);
}

/* --- $_ ----------------------------------------------------------------------------- */

/* `print {A, B}` */
struct table {
	struct render_options options;
	struct selection members;
	char *cast; /* the type that the items are said to have, NULL */
};

struct consumer {
	struct session *session;
	struct piped piped;
	struct table table; /* if it makes one */
	/* A pointer's type is looked up once for items of one type, which most are. */
	struct out_item last;
	struct value item;
	struct repeats repeats;
};

/* "struct foo" or "struct foo *": the type of a pointer to one. */
static struct error *find_pointer(struct session *session, const char *name, struct type *ret)
{
	struct value value;
	char *text = NULL;
	size_t length = strlen(name);
	while (length && isspace((unsigned char)name[length - 1]))
		length--;
	bool is_pointer = length && name[length - 1] == '*';
	if (asprintf(&text, "(%s%s)0", name, is_pointer ? "" : " *") < 0)
		return error_no_memory();
	struct error *error = expression_type(&session->scope, text, &value);
	free(text);
	if (!error)
		*ret = value.type;
	return error;
}

/* Before the first row: a member that does not exist is no table. */
static struct error *check_members(struct consumer *consumer)
{
	struct type target;
	if (!consumer->piped.is_table || !type_target(consumer->item.type, &target))
		return NULL;
	return error_prefix(selection_check(&consumer->session->scope, &consumer->table.members,
					    target),
			    "print");
}

/* Whether consumer->item has the type that the item is to have. */
static bool has_type_of(const struct consumer *consumer, const struct out_item *item)
{
	const struct out_item *last = &consumer->last;
	return consumer->item.type.btf &&
	       (consumer->table.cast || (last->type_name == item->type_name &&
					 last->btf == item->btf && last->type_id == item->type_id));
}

static struct error *set_item(struct consumer *consumer, const struct out_item *item)
{
	struct session *session = consumer->session;
	struct variables *variables = session->scope.variables;
	const char *name = consumer->table.cast ? consumer->table.cast : item->type_name;
	if (!name && !item->btf && consumer->piped.is_table)
		return error_create(ERROR_USAGE,
				    "print: whose members? what comes has no type: print (struct "
				    "NAME){MEMBER, MEMBER...}");
	if (!name && !item->btf)
		return variables_set_address(variables, session->target, item->address);
	if (!has_type_of(consumer, item)) {
		consumer->item = (struct value){ .target = session->target, .origin = ORIGIN_CAST };
		TRY(name ? find_pointer(session, name, &consumer->item.type)
			 : type_pointer_to((struct type){ item->btf, item->type_id },
					   &consumer->item.type));
		TRY(check_members(consumer));
		consumer->last = *item;
	}
	consumer->item.scalar = item->address;
	return variables_set(variables, "_", &consumer->item);
}

/* --- members in a table ---------------------------------------------------------------- */

static void table_deinit(struct table *table)
{
	selection_deinit(&table->members);
	free(table->cast);
}

static struct error *parse_table(struct consumer *consumer)
{
	struct table *table = &consumer->table;
	const struct call *call = &consumer->piped.call;
	table->options = consumer->session->render;
	table->options.one_line = true;
	table->options.bare_strings = true;
	TRY(print_options(call->command, &call->arguments, &table->options));
	const char *text = print_format(call->arguments.operands[0], &table->options);
	const char *members = skip_cast(text);
	if (members > text) {
		table->cast = strndup(text + 1, (size_t)(members - text - 1));
		if (!table->cast)
			return error_no_memory();
		*strrchr(table->cast, ')') = 0;
	}
	return selection_parse(members, table->cast, &table->members);
}

static struct error *write_row(struct consumer *consumer, const struct out_item *item)
{
	struct session *session = consumer->session;
	struct selection *members = &consumer->table.members;
	struct value object;
	struct error *error = NULL;
	TRY(value_follow(&consumer->item, &object));
	out_item(session->out, item);
	out_object_begin(session->out, NULL);
	out_address(session->out, "address", item->address);
	for (size_t i = 0; i < members->count && !error; i++)
		error = member_show(session, &object, members, i, members->paths[i],
				    &consumer->table.options, true);
	out_object_end(session->out);
	return error;
}

/* --- running ---------------------------------------------------------------------------- */

/* What fails for one item may do for the next; but not what is wrong with the words. */
static bool is_final(const struct error *error)
{
	return error->kind == ERROR_USAGE || error_is_fatal(error);
}

static void show_failure(struct consumer *consumer, const struct out_item *item,
			 const struct error *error)
{
	struct session *session = consumer->session;
	char name[32];
	if (session->json) {
		out_object_begin(session->out, NULL);
		out_address(session->out, "address", item->address);
		out_string(session->out, "error", error->message);
		out_object_end(session->out);
		return;
	}
	snprintf(name, sizeof(name), "0x%" PRIx64, item->address);
	repeats_say(&consumer->repeats, session, name, error->message);
}

/* Answers of several lines are kept apart by an empty one. */
static bool is_long(const struct command *command)
{
	for (size_t i = 0; i < command_operand_count(command); i++)
		if (command->operands[i].kind == OPERAND_TASK ||
		    command->operands[i].kind == OPERAND_TYPE)
			return true;
	return false;
}

static struct error *run_item(struct consumer *consumer, const struct out_item *item)
{
	TRY(interrupt_check());
	TRY(out_check(consumer->session->out));
	struct error *error = set_item(consumer, item);
	/* What is wrong with the type or the members' names is so for the next item too. */
	if (error)
		return error_as(ERROR_USAGE, error);
	if (consumer->piped.is_table)
		return write_row(consumer, item);
	TRY(piped_put(&consumer->piped, item->address));
	return run_call(consumer->session, &consumer->piped.call);
}

/* All items; *ret_failed: how many of them said why not. */
static struct error *run_items(struct consumer *consumer, const char *text,
			       const struct out_item *items, size_t count, size_t *ret_failed)
{
	struct session *session = consumer->session;
	struct error *error = NULL;
	bool apart = is_long(consumer->piped.call.command);
	size_t depth = out_depth(session->out);
	*ret_failed = 0;
	for (size_t i = 0; i < count && !error; i++) {
		progress_report(session->progress, text, i, count);
		if (i && apart)
			out_text(session->out, "\n");
		error = run_item(consumer, &items[i]);
		if (!error || is_final(error))
			continue;
		out_finish_to(session->out, depth);
		show_failure(consumer, &items[i], error);
		error_free(error);
		error = NULL;
		++*ret_failed;
	}
	out_finish_to(session->out, depth);
	repeats_end(&consumer->repeats, session);
	return error;
}

struct error *pipe_run(struct session *session, const char *text, const struct out_item *items,
		       size_t count)
{
	struct consumer consumer = { .session = session };
	size_t failed = 0;
	struct error *error = piped_parse(text, &consumer.piped);
	if (!error && consumer.piped.is_table)
		error = parse_table(&consumer);
	if (!error) {
		out_array_begin(session->out, NULL);
		error = run_items(&consumer, text, items, count, &failed);
		out_array_end(session->out);
	}
	error = error_after_bound(error);
	table_deinit(&consumer.table);
	piped_deinit(&consumer.piped);
	if (!error && failed && session->json)
		error = error_create(ERROR_OTHER, "%zu of %zu failed", failed, count);
	if (failed)
		session->failed = true;
	return error;
}
