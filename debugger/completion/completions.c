// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/completion/completions.h"

#include "debugger/command/command.h"
#include "debugger/command/options.h"
#include <string.h>

static void write_commands(FILE *file)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(file, i ? " %s" : "%s", commands[i]->name);
}

static bool takes_command(const struct program_option *option)
{
	return option->argument && !strcmp(option->argument, "COMMAND");
}

static bool takes_file(const struct program_option *option)
{
	return option->argument && !strncmp(option->argument, "FILE", strlen("FILE"));
}

/* The words that an option's argument may be. */
static void write_words(FILE *file, const struct program_option *option)
{
	if (takes_command(option))
		write_commands(file);
	else
		fputs(option->words, file);
}

/* --- bash ------------------------------------------------------------------------------- */

static void write_bash(FILE *file)
{
	fputs("# bash completion for btfcrash, made by btfcrash --completion bash\n"
	      "_btfcrash()\n"
	      "{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tcase $before in\n",
	      file);
	for (const struct program_option *option = NULL; (option = option_next(option));) {
		if (!option->words && !takes_command(option))
			continue;
		fputs("\t", file);
		if (option_letter(option))
			fprintf(file, "-%c | ", option_letter(option));
		fprintf(file, "--%s)\n\t\tCOMPREPLY=($(compgen -W \"", option->name);
		write_words(file, option);
		fputs("\" -- \"$word\"))\n\t\treturn ;;\n", file);
	}
	fputs("\tesac\n\tcase $word in\n\t-*)\n\t\tCOMPREPLY=($(compgen -W \"", file);
	const char *before = "";
	for (const struct program_option *option = NULL; (option = option_next(option));
	     before = " ")
		fprintf(file, "%s--%s", before, option->name);
	fputs("\" -- \"$word\"))\n"
	      "\t\treturn ;;\n"
	      "\tesac\n"
	      "\tCOMPREPLY=()\n"
	      "}\n"
	      "complete -o default -F _btfcrash btfcrash\n",
	      file);
}

/* --- zsh, fish ---------------------------------------------------------------------------- */

/* Within single quotes; `special` characters are preceded by a backslash. */
static void write_quoted(FILE *file, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", file);
		else if (strchr(special, *text))
			putc('\\', file);
		putc(*text, file);
	}
}

static void write_zsh(FILE *file)
{
	fputs("#compdef btfcrash\n"
	      "# zsh completion for btfcrash, made by btfcrash --completion zsh\n"
	      "_arguments -s -S",
	      file);
	for (const struct program_option *option = NULL; (option = option_next(option));) {
		char letter = option_letter(option);
		fputs(" \\\n\t", file);
		if (letter)
			fprintf(file, "'*'{-%c,--%s}'[", letter, option->name);
		else
			fprintf(file, "'*--%s[", option->name);
		write_quoted(file, option->help, "[]\\");
		putc(']', file);
		if (option->argument) {
			fprintf(file, ":%.*s:", (int)strcspn(option->argument, "["),
				option->argument);
			if (takes_file(option)) {
				fputs("_files", file);
			} else if (option->words || takes_command(option)) {
				putc('(', file);
				write_words(file, option);
				putc(')', file);
			}
		}
		putc('\'', file);
	}
	fputs(" \\\n\t'*:DUMP:_files'\n", file);
}

static void write_fish(FILE *file)
{
	fputs("# fish completion for btfcrash, made by btfcrash --completion fish\n", file);
	for (const struct program_option *option = NULL; (option = option_next(option));) {
		fputs("complete -c btfcrash", file);
		if (option_letter(option))
			fprintf(file, " -s %c", option_letter(option));
		fprintf(file, " -l %s", option->name);
		if (takes_file(option)) {
			fputs(" -r -F", file);
		} else if (option->words || takes_command(option)) {
			fputs(" -x -a '", file);
			write_words(file, option);
			putc('\'', file);
		} else if (option->argument) {
			fputs(" -x", file);
		}
		fputs(" -d '", file);
		write_quoted(file, option->help, "\\");
		fputs("'\n", file);
	}
}

void completions_write(FILE *file, const char *shell)
{
	if (!strcmp(shell, "zsh"))
		write_zsh(file);
	else if (!strcmp(shell, "fish"))
		write_fish(file);
	else
		write_bash(file);
}
