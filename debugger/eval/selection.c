// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/selection.h"

#include "base/ascii.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE   256
#define NESTING_MAX 8

struct parser {
	const char *at;
	const char *type_name; /* without "struct ", NULL */
	struct selection *selection;
};

void selection_deinit(struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		free(selection->paths[i]);
	free(selection->plans);
	*selection = (struct selection){ .count = 0 };
}

static struct error *add_path(struct parser *parser, const char *path)
{
	struct selection *selection = parser->selection;
	size_t length = parser->type_name ? strlen(parser->type_name) : 0;
	if (length && !strncmp(path, parser->type_name, length) && path[length] == '.')
		path += length + 1;
	for (size_t i = 0; i < selection->count; i++)
		if (!strcmp(selection->paths[i], path))
			return NULL;
	if (selection->count == SELECTION_MAX)
		return error_create(ERROR_USAGE, "more than %d members", SELECTION_MAX);
	char *copy = strdup(path);
	if (!copy)
		return error_no_memory();
	selection->paths[selection->count++] = copy;
	return NULL;
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

/* Up to a comma or a brace that is in no brackets; without blanks at its end. */
static size_t path_length(const char *at)
{
	int depth = 0;
	size_t length = 0;
	for (; at[length]; length++) {
		if (strchr("([", at[length]))
			depth++;
		else if (strchr(")]", at[length]))
			depth--;
		else if (depth <= 0 && strchr(",{}", at[length]))
			break;
	}
	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	return length;
}

/* Letters, digits, joints, and whatever stands in brackets behind a name. */
bool selection_is_path(const char *text)
{
	int depth = 0;
	if (!ascii_is_alpha(*text) && *text != '_')
		return false;
	for (; *text; text++) {
		depth += *text == '[' ? 1 : *text == ']' ? -1 : 0;
		if (!strncmp(text, "->", 2))
			text++;
		else if (!depth && !ascii_is_alnum(*text) && !strchr("_.]", *text))
			return false;
	}
	return true;
}

/* What `$_` may stand in front of, so that braces can follow. */
static bool can_be_continued(const char *path)
{
	if (!strncmp(path, "$_", 2))
		path += 2 + (path[2] == '.' ? 1 : !strncmp(path + 2, "->", 2) ? 2 : 0);
	return !*path || selection_is_path(path);
}

static void drop_suffix(char *path, const char *suffix)
{
	size_t length = strlen(path), end = strlen(suffix);
	if (length > end && !strcmp(path + length - end, suffix))
		path[length - end] = 0;
}

static struct error *parse_list(struct parser *parser, const char *prefix, unsigned int depth);

/* One path, or what stands before braces with what is in them. */
static struct error *parse_one(struct parser *parser, const char *prefix, unsigned int depth)
{
	char path[PATH_SIZE];
	skip_blanks(parser);
	size_t length = path_length(parser->at);
	bool joins = *prefix && (ascii_is_alpha(*parser->at) || *parser->at == '_');
	int used = snprintf(path, sizeof(path), "%s%s%.*s", prefix, joins ? "." : "", (int)length,
			    parser->at);
	if (!length || used >= (int)sizeof(path))
		return error_create(ERROR_USAGE, "a member's name should stand before \"%s\"",
				    parser->at);
	parser->at += length;
	skip_blanks(parser);
	bool is_nested = *prefix || *parser->at == '{';
	if (is_nested && !can_be_continued(path))
		return error_create(
			ERROR_USAGE,
			"\"%s\" is no member: an expression stands in the outer braces, "
			"with none of its own",
			path);
	if (*parser->at != '{')
		return add_path(parser, path);
	drop_suffix(path, "->");
	drop_suffix(path, ".");
	return parse_list(parser, path, depth + 1);
}

/* "{a, b}" */
static struct error *parse_list(struct parser *parser, const char *prefix, unsigned int depth)
{
	if (depth > NESTING_MAX)
		return error_create(ERROR_USAGE, "braces nested too deep");
	do {
		parser->at++;
		TRY(parse_one(parser, prefix, depth));
		skip_blanks(parser);
	} while (*parser->at == ',');
	if (*parser->at != '}')
		return error_create(ERROR_USAGE, "a comma or \"}\" should stand before \"%s\"",
				    parser->at);
	parser->at++;
	return NULL;
}

/* Parses a list of members without braces around it. */
static struct error *parse_all(struct parser *parser)
{
	for (;;) {
		TRY(parse_one(parser, "", 0));
		skip_blanks(parser);
		if (*parser->at != ',')
			return NULL;
		parser->at++;
	}
}

struct error *selection_parse(const char *text, const char *type_name, struct selection *ret)
{
	struct selection selection = { .count = 0 };
	const char *blank = type_name ? strrchr(type_name, ' ') : NULL;
	struct parser parser = { .at = text,
				 .type_name = blank ? blank + 1 : type_name,
				 .selection = &selection };
	skip_blanks(&parser);
	struct error *error = *parser.at == '{' ? parse_list(&parser, "", 0) : parse_all(&parser);
	skip_blanks(&parser);
	if (!error && *parser.at)
		error = error_create(ERROR_USAGE, "\"%s\" follows the members", parser.at);
	if (error)
		selection_deinit(&selection);
	else
		*ret = selection;
	return error;
}

struct error *selection_check(struct scope *scope, const struct selection *selection,
			      struct type type)
{
	struct value base = {
		.target = scope->target, .type = type, .in_memory = true, .origin = ORIGIN_CAST
	};
	struct value member;
	for (size_t i = 0; i < selection->count; i++) {
		const char *path = selection->paths[i];
		if (strstr(path, "$_"))
			continue;
		TRY(selection_is_path(path) ? expression_member_type(scope, &base, path, &member)
					    : expression_about_type(scope, &base, path, &member));
	}
	return NULL;
}

struct error *selection_value(struct selection *selection, size_t index, struct scope *scope,
			      const struct value *object, struct value *ret)
{
	const char *path = selection->paths[index];
	if (!selection_is_path(path))
		return expression_about(scope, object, path, ret);
	if (!selection->plans)
		selection->plans = calloc(selection->count, sizeof(*selection->plans));
	if (!selection->plans)
		return error_no_memory();
	return member_plan_value(&selection->plans[index], scope, object, path, ret);
}

/* From the end backward: a brace cannot stand in an expression but within quotes. */
const char *selection_find(const char *text)
{
	size_t end = strlen(text), depth = 0;
	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	if (!end || text[end - 1] != '}')
		return NULL;
	while (end--) {
		if (text[end] == '}')
			depth++;
		else if (text[end] == '{' && !--depth)
			return text + end;
	}
	return NULL;
}
