// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/options.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 25

static const struct program_option program_options[] = {
	{ 'c', "command", "COMMAND", NULL, "run COMMAND and leave (may be repeated)", NULL },
	{ 'i', "input", "FILE", NULL, "run the commands in FILE and leave (-: standard input)",
	  NULL },
	{ OPTION_LIVE, "live", NULL, NULL, "look at the running kernel (/proc/kcore; as root)",
	  "It goes on while it is read: each command sees it anew, stacks are shown of tasks that "
	  "slept all the while, those that run are marked as moving, and no results are kept for "
	  "later sessions. Types and BPF programs are what the kernel itself says (libbpf)." },
	{ OPTION_JSON, "json", NULL, NULL, "one line of JSON a command",
	  "It is {\"command\", \"ok\", \"result\"}, or has \"error\" instead of the result. JSON "
	  "schemas, in PREFIX/share/btfcrash/schemas, say what it is: answer.json the line, "
	  "COMMAND.json the result of each command." },
	{ OPTION_JSON_INTEGERS, "json-integers", "HOW", "portable exact",
	  "portable: 64-bit integers are strings; or exact",
	  "Many readers of JSON (jq, JavaScript) round numbers from 2^53 on. So an integer whose C "
	  "type is wider than 32 bits is a string of decimal digits, whatever its value. With "
	  "exact "
	  "all integers are numbers, for readers that keep them (Python), and no string but an "
	  "address looks like one: the text 0x1f is \\x30x1f then." },
	{ OPTION_CSV, "csv", NULL, NULL, "tables as comma-separated values", NULL },
	{ OPTION_RECORD, "record", NULL, NULL, "what to keep of a crash, as a line of JSON",
	  "It is the command record with --quiet." },
	{ OPTION_FORMAT, "format", "FORMAT", "text json csv raw",
	  "text, json or csv; raw: DUMP is raw memory",
	  "With raw, DUMP is an image of memory, whatever it begins with." },
	{ OPTION_COLUMNS, "columns", "LIST", NULL, "only these columns of tables: pid,comm",
	  "They are shown in the order of LIST." },
	{ OPTION_COLOR, "color", "WHEN", "auto always never",
	  "auto (a terminal, and no $NO_COLOR), always or never", NULL },
	{ OPTION_NO_RC, "no-rc", NULL, NULL, "do not read ~/.config/btfcrash/rc at the prompt",
	  NULL },
	{ 'q', "quiet", NULL, NULL, "no banner and no warnings", NULL },
	{ OPTION_BTF, "btf", "FILE[,base=NAME]", NULL, "more types and variables",
	  "FILE is BTF, an ELF file with BTF, or a folder of such. With base=NAME its types go on "
	  "from those of the module NAME, else from the kernel's." },
	{ OPTION_DECLARE, "declare", "FILE", NULL,
	  "C declarations of kernel variables: \"struct foo bar;\"", NULL },
	{ OPTION_VMCOREINFO, "vmcoreinfo", "FILE", NULL,
	  "use this VMCOREINFO of the same kernel and boot",
	  "It stands in for the dump's own note, and is refused if the dump contradicts it." },
	{ OPTION_NO_CACHE, "no-cache", NULL, NULL,
	  "neither read nor keep types of globals in ~/.cache", NULL },
	{ OPTION_NO_HINTS, "no-hints", NULL, NULL,
	  "types of globals without the table of other kernels",
	  "All variables are looked at before the first is answered for, which takes some "
	  "seconds." },
	{ OPTION_NO_SANDBOX, "no-sandbox", NULL, NULL, "keep the right to do all that the user may",
	  NULL },
	{ OPTION_WITH, "with", "TOOL", "crash drgn gdb",
	  "start TOOL on DUMP, with a vmlinux made of it",
	  "The rest of the line is the tool's: `btfcrash vmcore --with crash -s -i FILE`. The file "
	  "is what `export vmlinux` writes, with the list of its tiers beside it; both are kept in "
	  "~/.cache/btfcrash for the next time, or removed where nothing is kept. drgn gets "
	  "names for the code of modules, where it knows plugins. gdb reads ELF dumps with virtual "
	  "addresses only, and gets them as they were at run time. The exit status is the "
	  "tool's." },
	{ OPTION_SQLITE, "sqlite", "FILE", NULL, "write the tables that `sql` asks to a database",
	  "The rest of the line are the tables that are wanted: `btfcrash vmcore --sqlite FILE "
	  "tasks "
	  "files`; without any, all. It is what `export sqlite` does." },
	{ 'h', "help", NULL, NULL, "this text; `-c help` lists the commands", NULL },
	{ 'V', "version", NULL, NULL, "the version", NULL },
	{ OPTION_MANUAL, "manual", NULL, NULL, NULL, NULL },
	{ OPTION_COMPLETION, "completion", "SHELL", "bash zsh fish", NULL, NULL },
	{ OPTION_SCHEMAS, "schemas", "FOLDER", NULL, NULL, NULL },
};

const struct program_option *option_next(const struct program_option *option)
{
	const struct program_option *end = program_options + ARRAY_COUNT(program_options);
	option = option ? option + 1 : program_options;
	while (option < end && !option->help)
		option++;
	return option < end ? option : NULL;
}

char option_letter(const struct program_option *option)
{
	return option->key < OPTION_LIVE ? (char)option->key : 0;
}

struct option *options_for_getopt(void)
{
	struct option *ret = calloc(ARRAY_COUNT(program_options) + 1, sizeof(*ret));
	for (size_t i = 0; ret && i < ARRAY_COUNT(program_options); i++) {
		const struct program_option *option = &program_options[i];
		ret[i] = (struct option){ .name = option->name,
					  .has_arg = option->argument ? required_argument
								      : no_argument,
					  .val = option->key };
	}
	return ret;
}

char *option_letters(void)
{
	char *ret = calloc(ARRAY_COUNT(program_options) + 1, 2), *at = ret;
	for (size_t i = 0; ret && i < ARRAY_COUNT(program_options); i++) {
		const struct program_option *option = &program_options[i];
		if (!option_letter(option))
			continue;
		*at++ = option_letter(option);
		if (option->argument)
			*at++ = ':';
	}
	return ret;
}

int option_word(const char *word, const char *words)
{
	for (int number = 0; *words; number++) {
		size_t length = strcspn(words, " ");
		if (strlen(word) == length && !strncmp(word, words, length))
			return number;
		words += length + (words[length] == ' ');
	}
	return -1;
}

const struct program_option *option_of_key(int key)
{
	const struct program_option *option = program_options;
	while (option->key != key)
		option++;
	return option;
}

void options_usage(FILE *file)
{
	fputs("usage: btfcrash [OPTIONS] [DUMP...]\n"
	      "       btfcrash [OPTIONS] [DUMP...] --with TOOL [ARGUMENTS of TOOL]\n"
	      "\n"
	      "Debugs a Linux kernel crash dump with nothing but the dump. Without DUMP:\n"
	      "/proc/vmcore. Several DUMPs are the parts of one split dump. With --live: the\n"
	      "running kernel.\n"
	      "\n",
	      file);
	for (const struct program_option *option = NULL; (option = option_next(option));) {
		char letter = option_letter(option);
		int width = letter ? fprintf(file, "  -%c, ", letter) : fprintf(file, "      ");
		width += fprintf(file, "--%s%s%s", option->name, option->argument ? " " : "",
				 option->argument ? option->argument : "");
		fprintf(file, "%*s%s\n", width + 2 < HELP_COLUMN ? HELP_COLUMN - width : 2, "",
			option->help);
	}
	fputs("\nExit status: 0 all commands succeeded, 1 one failed, 2 no dump or wrong usage.\n",
	      file);
}
