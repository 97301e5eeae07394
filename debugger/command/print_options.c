// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/print_options.h"

#include "base/array.h"
#include <ctype.h>
#include <string.h>

/* The options that set one of render_settings. */
static const struct {
	char letter;
	const char *setting, *value; /* value NULL: the option's argument */
} settings[] = {
	{ 'x', "base", "hex" }, { 'o', "base", "oct" },	  { 'D', "base", "dec" },
	{ 'd', "depth", NULL }, { 'a', "array", NULL },	  { 's', "string", NULL },
	{ 't', "types", "on" }, { 'O', "offsets", "on" }, { 'z', "hide-zero", "on" },
	{ 'r', "raw", "on" },
};

struct error *print_options(const struct command *command, const struct arguments *arguments,
			    struct render_options *options)
{
	for (size_t i = 0; i < ARRAY_COUNT(settings); i++) {
		const char *given = argument_option(command, arguments, settings[i].letter);
		if (!given)
			continue;
		options->base_of_all |= !strcmp(settings[i].setting, "base");
		TRY(render_option_set(options, settings[i].setting,
				      settings[i].value ? settings[i].value : given));
	}
	return NULL;
}

const char *print_format(const char *text, struct render_options *options)
{
	static const struct {
		char letter;
		enum number_base base;
	} formats[] = { { 'd', BASE_DECIMAL },	   { 'u', BASE_DECIMAL },
			{ 'x', BASE_HEXADECIMAL }, { 'z', BASE_HEXADECIMAL },
			{ 'a', BASE_HEXADECIMAL }, { 'o', BASE_OCTAL } };
	size_t found = 0;
	if (text[0] != '/' || !text[1] || !isspace((unsigned char)text[2]))
		return text;
	while (found < ARRAY_COUNT(formats) && formats[found].letter != text[1])
		found++;
	if (found == ARRAY_COUNT(formats))
		return text;
	options->base = formats[found].base;
	options->base_of_all = true;
	for (text += 2; isspace((unsigned char)*text); text++)
		;
	return text;
}
