// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/bash_completion.h"

#include "cmds/command.h"

static const char head[] =
	"# bash completion for btfcrash, made by btfcrash --bash-completion\n"
	"_btfcrash()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tcase $before in\n";

static const char tail[] = "\tesac\n"
			   "\tCOMPREPLY=()\n"
			   "}\n"
			   "complete -o default -F _btfcrash btfcrash\n";

static void write_words(FILE *file, const char *before, const char *const *words)
{
	fprintf(file, "\t%s)\n\t\tCOMPREPLY=($(compgen -W \"", before);
	for (size_t i = 0; words[i]; i++)
		fprintf(file, i ? " %s" : "%s", words[i]);
	fputs("\" -- \"$word\"))\n\t\treturn ;;\n", file);
}

void bash_completion_write(FILE *file, const struct option *options)
{
	static const char *const colors[] = { "auto", "always", "never", NULL };
	static const char *const formats[] = { "text", "json", "csv", NULL };
	fputs(head, file);
	fputs("\t-c | --command)\n\t\tCOMPREPLY=($(compgen -W \"", file);
	for (size_t i = 0; commands[i]; i++)
		fprintf(file, i ? " %s" : "%s", commands[i]->name);
	fputs("\" -- \"$word\"))\n\t\treturn ;;\n", file);
	write_words(file, "--color", colors);
	write_words(file, "--format", formats);
	fputs("\tesac\n\tcase $word in\n\t-*)\n\t\tCOMPREPLY=($(compgen -W \"", file);
	for (const struct option *option = options; option->name; option++)
		fprintf(file, option == options ? "--%s" : " --%s", option->name);
	fputs("\" -- \"$word\"))\n\t\treturn ;;\n", file);
	fputs(tail, file);
}
