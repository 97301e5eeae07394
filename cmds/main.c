// SPDX-License-Identifier: GPL-3.0-or-later
/* The command line: which dump, which commands from where, and the exit status. */
#include "base/interrupt.h"
#include "cmds/alias.h"
#include "cmds/bash_completion.h"
#include "cmds/command.h"
#include "cmds/complete.h"
#include "cmds/confine.h"
#include "cmds/manual.h"
#include "cmds/run.h"
#include "debugger/declare/declare.h"
#include "debugger/shell/shell.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status { EXIT_ALL_WELL = 0, EXIT_COMMAND_FAILED = 1, EXIT_NO_DUMP = 2 };

/* -c and -i may be mixed; they run in the order given. */
struct source {
	bool is_file;
	const char *text; /* command or path */
};

struct settings {
	struct source *sources;
	size_t source_count;
	const char **declarations;
	size_t declaration_count;
	const char **btf_files;
	size_t btf_file_count;
	const char *vmcoreinfo;
	bool no_cache, no_hints, no_sandbox;
	enum output_format format;
	const char *columns; /* NULL: all */
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	bool quiet, no_rc;
	const char *const *dumps;
	size_t dump_count;
};

static const char usage_text[] =
	"usage: btfcrash [OPTIONS] [DUMP...]\n"
	"\n"
	"Debugs a Linux kernel crash dump with nothing but the dump. Without DUMP: /proc/vmcore.\n"
	"Several DUMPs are the parts of one split dump.\n"
	"\n"
	"  -c, --command COMMAND  run COMMAND and leave (may be repeated)\n"
	"  -i, --input FILE       run the commands in FILE and leave (- is standard input)\n"
	"      --json             one line of JSON a command\n"
	"      --csv              tables as comma-separated values\n"
	"      --columns LIST     only these columns of tables: pid,comm\n"
	"      --color WHEN       auto (a terminal, and no $NO_COLOR), always or never\n"
	"      --no-rc            do not read ~/.config/btfcrash/rc at the prompt\n"
	"  -q, --quiet            no banner\n"
	"      --btf FILE[,base=NAME]  more types and variables: BTF, an ELF file, a folder\n"
	"      --declare FILE     C declarations of kernel variables: \"struct foo bar;\"\n"
	"      --vmcoreinfo FILE  use this VMCOREINFO instead of the dump's\n"
	"      --no-cache         types of globals: neither read nor keep results in ~/.cache\n"
	"      --no-hints         types of globals: without the table of other kernels\n"
	"      --no-sandbox       keep all system calls even where no command needs them\n"
	"  -h, --help             this text; `-c help` lists the commands\n"
	"  -V, --version          the version\n"
	"\n"
	"Exit status: 0 all commands succeeded, 1 one failed, 2 no dump or wrong usage.\n";

static int fail(struct error *error)
{
	fputs("btfcrash: ", stderr);
	out_escape(stderr, error->message, strlen(error->message));
	putc('\n', stderr);
	error_free(error);
	return EXIT_NO_DUMP;
}

enum {
	OPTION_JSON = 256,
	OPTION_CSV,
	OPTION_FORMAT,
	OPTION_COLUMNS,
	OPTION_COLOR,
	OPTION_NO_RC,
	OPTION_VMCOREINFO,
	OPTION_NO_CACHE,
	OPTION_NO_HINTS,
	OPTION_NO_SANDBOX,
	OPTION_DECLARE,
	OPTION_BTF,
	OPTION_MANUAL,
	OPTION_BASH_COMPLETION
};

static const struct option options[] = {
	{ "command", required_argument, NULL, 'c' },
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "csv", no_argument, NULL, OPTION_CSV },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "columns", required_argument, NULL, OPTION_COLUMNS },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "no-rc", no_argument, NULL, OPTION_NO_RC },
	{ "quiet", no_argument, NULL, 'q' },
	{ "btf", required_argument, NULL, OPTION_BTF },
	{ "declare", required_argument, NULL, OPTION_DECLARE },
	{ "vmcoreinfo", required_argument, NULL, OPTION_VMCOREINFO },
	{ "no-cache", no_argument, NULL, OPTION_NO_CACHE },
	{ "no-hints", no_argument, NULL, OPTION_NO_HINTS },
	{ "no-sandbox", no_argument, NULL, OPTION_NO_SANDBOX },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	/* For the Makefile: the man page, bash's completion. */
	{ "manual", no_argument, NULL, OPTION_MANUAL },
	{ "bash-completion", no_argument, NULL, OPTION_BASH_COMPLETION },
	{ NULL, 0, NULL, 0 },
};

static int no_such_word(const char *option, const char *word, const char *words)
{
	fprintf(stderr, "btfcrash: --%s takes %s, not \"%s\"\n", option, words, word);
	return EXIT_NO_DUMP;
}

/* The number of a word among words with blanks between; -1: none of them. */
static int word_number(const char *word, const char *words)
{
	for (int number = 0; *words; number++) {
		size_t length = strcspn(words, " ");
		if (strlen(word) == length && !strncmp(word, words, length))
			return number;
		words += length + (words[length] == ' ');
	}
	return -1;
}

/* Options about the looks of the output. Returns as parse_option(). */
static int parse_output_option(int option, struct settings *settings)
{
	int number;
	switch (option) {
	case OPTION_JSON:
		settings->format = FORMAT_JSON;
		break;
	case OPTION_CSV:
		settings->format = FORMAT_CSV;
		break;
	case OPTION_FORMAT:
		number = word_number(optarg, "text json csv");
		if (number < 0)
			return no_such_word("format", optarg, "text, json or csv");
		settings->format = (enum output_format)number;
		break;
	case OPTION_COLUMNS:
		settings->columns = optarg;
		break;
	case OPTION_COLOR:
		number = word_number(optarg, "auto always never");
		if (number < 0)
			return no_such_word("color", optarg, "auto, always or never");
		settings->color = number;
		break;
	default:
		fputs("btfcrash: `btfcrash --help` shows the usage\n", stderr);
		return EXIT_NO_DUMP;
	}
	return -1;
}

/* Returns an exit status, or -1 to go on. */
static int parse_option(int option, struct settings *settings)
{
	switch (option) {
	case 'c':
	case 'i':
		settings->sources[settings->source_count++] =
			(struct source){ option == 'i', optarg };
		break;
	case 'q':
		settings->quiet = true;
		break;
	case OPTION_NO_RC:
		settings->no_rc = true;
		break;
	case OPTION_BTF:
		settings->btf_files[settings->btf_file_count++] = optarg;
		break;
	case OPTION_DECLARE:
		settings->declarations[settings->declaration_count++] = optarg;
		break;
	case OPTION_NO_CACHE:
		settings->no_cache = true;
		break;
	case OPTION_NO_SANDBOX:
		settings->no_sandbox = true;
		break;
	case OPTION_NO_HINTS:
		settings->no_hints = true;
		break;
	case OPTION_VMCOREINFO:
		settings->vmcoreinfo = optarg;
		break;
	case 'h':
		fputs(usage_text, stdout);
		return EXIT_ALL_WELL;
	case 'V':
		puts("btfcrash " BTFCRASH_VERSION);
		return EXIT_ALL_WELL;
	case OPTION_MANUAL:
		manual_write(stdout);
		return EXIT_ALL_WELL;
	case OPTION_BASH_COMPLETION:
		bash_completion_write(stdout, options);
		return EXIT_ALL_WELL;
	default:
		return parse_output_option(option, settings);
	}
	return -1;
}

static int parse_command_line(int argc, char **argv, struct settings *settings)
{
	int option;
	while ((option = getopt_long(argc, argv, "c:i:qhV", options, NULL)) != -1) {
		int status = parse_option(option, settings);
		if (status != -1)
			return status;
	}
	settings->dumps = (const char *const *)argv + optind;
	settings->dump_count = (size_t)(argc - optind);
	return -1;
}

static struct error *run_sources(struct session *session, const struct settings *settings)
{
	struct error *error = NULL;
	for (size_t i = 0; i < settings->source_count && !error; i++) {
		const struct source *source = &settings->sources[i];
		if (session->quit || session->interrupted)
			break;
		if (source->is_file)
			error = shell_run_path(session, source->text, command_run_line);
		else
			command_run_line(session, source->text);
	}
	return error;
}

/* Aliases and settings of the user's are for the prompt: scripts shall mean the same everywhere. */
static struct error *interact(struct session *session, const struct settings *settings)
{
	session->interactive = true;
	if (!settings->no_rc)
		TRY(shell_run_rc(session, command_run_line));
	if (!session->quiet && !session->quit) {
		puts("btfcrash " BTFCRASH_VERSION "; `help` lists the commands\n");
		command_run_line(session, "sys");
		putchar('\n');
	}
	shell_interact(session, command_run_line, command_complete);
	session->failed = false;
	return NULL;
}

/* Whether everything that will be run is known, and needs neither programs nor files to write. */
static bool stays_inside(struct session *session, const struct settings *settings)
{
	bool inside = settings->source_count && !settings->no_sandbox;
	for (size_t i = 0; i < settings->source_count && inside; i++) {
		const struct source *source = &settings->sources[i];
		inside = source->is_file ? confine_allows_script(session, source->text)
					 : run_stays_inside(session, source->text);
	}
	return inside;
}

static struct error *run_session(struct session *session, const struct settings *settings)
{
	if (settings->source_count)
		return run_sources(session, settings);
	if (!isatty(STDIN_FILENO))
		return shell_run_file(session, stdin, "standard input", command_run_line);
	return interact(session, settings);
}

/* https://no-color.org: set and not empty. */
static bool wants_color(const struct settings *settings, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (settings->color != COLOR_AUTO)
		return settings->color == COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static void show_problems(const struct session *session)
{
	for (const struct target_problem *p = session->target->problems; p; p = p->next) {
		fputs("btfcrash: warning: ", stderr);
		out_escape(stderr, p->error->message, strlen(p->error->message));
		putc('\n', stderr);
		if (p->advice)
			fprintf(stderr, "btfcrash: advice: %s\n", p->advice);
	}
}

static struct error *find_register(void *context, const char *name, bool *ret_found,
				   struct value *ret)
{
	struct session *session = context;
	return focus_register(&session->focus, session->target, name, ret_found, ret);
}

static struct error *find_argument(void *context, const char *name, bool *ret_found,
				   struct value *ret)
{
	struct session *session = context;
	return focus_argument(&session->focus, session->target, name, ret_found, ret);
}

static int debug(struct target *target, const struct settings *settings, struct progress *progress,
		 struct cache_keeper *keeper)
{
	struct session session = { .target = target,
				   .format = settings->format,
				   .columns = settings->columns,
				   .json = settings->format != FORMAT_TEXT,
				   .quiet = settings->quiet,
				   .on_terminal = isatty(STDOUT_FILENO),
				   .colors = wants_color(settings, STDOUT_FILENO),
				   .message_color = wants_color(settings, STDERR_FILENO),
				   .pager = true,
				   .progress = progress,
				   .render = render_defaults };
	/* Only without the symbols is the dump of so little use that every command should hear of
	 * it. */
	if (!settings->quiet && settings->format == FORMAT_TEXT)
		show_problems(&session);
	interrupt_install();
	if (stays_inside(&session, settings))
		confine_enter(&session, keeper);
	else
		cache_keeper_end(keeper);
	struct error *error = scope_init(&session.scope, target);
	session.scope.find_register = find_register;
	session.scope.find_argument = find_argument;
	session.scope.register_context = &session;
	if (!error)
		error = run_session(&session, settings);
	scope_deinit(&session.scope);
	focus_deinit(&session.focus);
	aliases_deinit(&session);
	if (error)
		return fail(error);
	if (fflush(stdout) || ferror(stdout))
		return fail(error_system("standard output"));
	return session.failed ? EXIT_COMMAND_FAILED : EXIT_ALL_WELL;
}

static struct error *add_declarations(struct target *target, const struct settings *settings)
{
	struct error *error = NULL;
	struct declarations *declarations = NULL;
	if (settings->declaration_count)
		error = target_declarations(target, &declarations);
	for (size_t i = 0; i < settings->declaration_count && !error; i++)
		error = declarations_add_file(declarations, settings->declarations[i]);
	return error;
}

static struct error *add_btf_files(struct target *target, const struct settings *settings)
{
	struct error *error = NULL;
	for (size_t i = 0; i < settings->btf_file_count && !error; i++)
		error = target_add_btf(target, settings->btf_files[i]);
	return error;
}

/* Results of other sessions know nothing of declarations and types that the user brings. */
static bool uses_cache(const struct settings *settings)
{
	return !settings->no_cache && !settings->declaration_count && !settings->btf_file_count;
}

static struct error *open_target(const struct settings *settings, struct target **ret)
{
	static const char *const live[] = { "/proc/vmcore" };
	bool is_live = !settings->dump_count;
	struct target_options target_options = { .vmcoreinfo_path = settings->vmcoreinfo };
	struct target *target;
	struct error *error = target_open(is_live ? live : settings->dumps,
					  is_live ? 1 : settings->dump_count, &target_options,
					  &target);
	if (error)
		return error;
	target->no_hints = settings->no_hints;
	target->no_cache = !uses_cache(settings);
	error = add_btf_files(target, settings);
	if (!error)
		error = add_declarations(target, settings);
	if (error) {
		target_close(target);
		return error;
	}
	*ret = target;
	return NULL;
}

static int open_and_debug(const struct settings *settings)
{
	struct target *target = NULL;
	struct progress progress;
	struct cache_keeper keeper = { .to = -1 };
	progress_init(&progress, isatty(STDERR_FILENO) ? stderr : NULL);
	/* Before the dump is opened, as a process of that much memory takes long to copy. */
	if (settings->source_count && !settings->no_sandbox && uses_cache(settings))
		(void)cache_keeper_start(&keeper);
	struct error *error = open_target(settings, &target);
	int status = error ? fail(error) : debug(target, settings, &progress, &keeper);
	cache_keeper_end(&keeper);
	target_close(target);
	return status;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	struct settings settings = {
		.sources = calloc((size_t)argc, sizeof(*settings.sources)),
		.declarations = calloc((size_t)argc, sizeof(*settings.declarations)),
		.btf_files = calloc((size_t)argc, sizeof(*settings.btf_files)),
	};
	int status = EXIT_NO_DUMP;
	if (!settings.sources || !settings.declarations || !settings.btf_files)
		fputs("btfcrash: out of memory\n", stderr);
	else
		status = parse_command_line(argc, argv, &settings);
	if (status == -1 && !settings.dump_count && access("/proc/vmcore", F_OK)) {
		fputs("btfcrash: no DUMP given, and there is no /proc/vmcore here\n", stderr);
		fputs(usage_text, stderr);
		status = EXIT_NO_DUMP;
	}
	if (status == -1)
		status = open_and_debug(&settings);
	free(settings.sources);
	free(settings.declarations);
	free(settings.btf_files);
	return status;
}
