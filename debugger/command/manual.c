// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/manual.h"

#include "debugger/command/command.h"
#include "debugger/command/options.h"
#include "debugger/command/topics.h"
#include <ctype.h>
#include <string.h>

/* Text as roff takes it: backslashes and hyphens escaped, no line that begins with a dot or a
 * quote. */
static void roff(FILE *file, const char *text)
{
	bool line_start = true;
	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", file);
		if (*text == '\\')
			fputs("\\e", file);
		else if (*text == '-')
			fputs("\\-", file);
		else
			putc(*text, file);
		line_start = *text == '\n';
	}
}

static void write_option(FILE *file, const struct option_spec *option)
{
	fputs(".TP\n.B ", file);
	if (option->letter)
		fprintf(file, "\\-%c", option->letter);
	if (option->letter && option->name)
		fputs(", ", file);
	if (option->name)
		fprintf(file, "\\-\\-%s", option->name);
	fprintf(file, option->argument ? " \\fI%s\\fR\n" : "%s\n",
		option->argument ? option->argument : "");
	roff(file, option->help);
	putc('\n', file);
}

static void write_program_option(FILE *file, const struct program_option *option)
{
	const struct option_spec spec = { .letter = option_letter(option),
					  .name = option->name,
					  .argument = option->argument,
					  .help = option->help };
	write_option(file, &spec);
	if (!option->more)
		return;
	fputs(".br\n", file);
	roff(file, option->more);
	putc('\n', file);
}

static void write_command(FILE *file, const struct command *command)
{
	char usage[512];
	command_usage(command, usage, sizeof(usage));
	fputs(".SS ", file);
	roff(file, usage + strlen("usage: "));
	fputs("\n", file);
	roff(file, command_description(command));
	putc('\n', file);
	for (size_t i = 0; i < OPTIONS_MAX; i++)
		if (command->options[i].letter || command->options[i].name)
			write_option(file, &command->options[i]);
	if (command_other_names(command)) {
		fputs(".PP\nAlso: ", file);
		roff(file, command_other_names(command));
		putc('\n', file);
	}
	fputs(".PP\nExamples:\n.nf\n", file);
	const char *const *examples = command_examples(command);
	for (size_t i = 0; examples && examples[i]; i++) {
		fputs(".B \"    ", file);
		roff(file, examples[i]);
		fputs("\"\n", file);
	}
	fputs(".fi\n", file);
}

/* Laid out by hand, and shown so. */
static void write_topic(FILE *file, const struct topic *topic)
{
	fputs(".SH ", file);
	for (const char *at = topic->name; *at; at++)
		putc(toupper((unsigned char)*at), file);
	fputs("\n.nf\n", file);
	roff(file, topic->text);
	fputs(".fi\n", file);
	for (size_t i = 0; topic->words && topic->words[i].name; i++) {
		fprintf(file, ".TP\n.B %s\n", topic->words[i].name);
		roff(file, topic->words[i].hint);
		putc('\n', file);
	}
}

static const char head[] =
	".TH BTFCRASH 1 \"\" \"btfcrash " BTFCRASH_VERSION "\" \"User Commands\"\n"
	".SH NAME\n"
	"btfcrash \\- debug a Linux kernel crash dump with nothing but the dump\n"
	".SH SYNOPSIS\n"
	".B btfcrash\n"
	"[\\fIOPTIONS\\fR] [\\fIDUMP\\fR...]\n"
	".SH DESCRIPTION\n"
	"Opens a crash dump (ELF, kdump-compressed, split or flattened, or /proc/vmcore) and "
	"answers\n"
	"questions about it from what it holds itself: kallsyms for symbols, BTF for types, ORC "
	"for\n"
	"stacks. No vmlinux, DWARF or debuginfo package is needed. Several DUMPs are the parts of "
	"one\n"
	"split dump. Without \\fB\\-c\\fR, \\fB\\-i\\fR or piped input it shows a prompt.\n"
	".SH OPTIONS\n";

static const char middle[] =
	".SH EXIT STATUS\n"
	"0 when every command succeeded, 1 when one failed, 2 when the dump cannot be opened or "
	"the\n"
	"usage is wrong.\n"
	".SH COMMANDS\n";

static const char tail[] =
	".SH FILES\n"
	".TP\n.I ~/.config/btfcrash/rc\nCommands that run at the start of a prompt.\n"
	".TP\n.I ~/.local/state/btfcrash/history\nThe prompt's history.\n"
	".TP\n.I PREFIX/share/btfcrash/schemas/\nWhat the JSON of each command is, as JSON "
	"Schema.\n"
	".TP\n.I PREFIX/share/btfcrash/python/btfcrash.py\nA Python module that opens dumps and "
	"gives "
	"objects\n"
	"(Debian: the package python3\\-btfcrash); its documentation: pydoc btfcrash.\n"
	".SH SEE ALSO\n"
	"crash(8), makedumpfile(8), bpftool(8), pahole(1)\n";

void manual_write(FILE *file)
{
	fputs(head, file);
	for (const struct program_option *option = NULL; (option = option_next(option));)
		write_program_option(file, option);
	fputs(middle, file);
	for (size_t i = 0; commands[i]; i++)
		write_command(file, commands[i]);
	for (size_t i = 0; i < topic_count; i++)
		write_topic(file, &topics[i]);
	fputs(tail, file);
}
