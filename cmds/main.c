// SPDX-License-Identifier: GPL-3.0-or-later
/* The command line: which dump, which commands from where, and the exit status. */
#include "base/array.h"
#include "base/cache_file.h"
#include "base/interrupt.h"
#include "base/rights.h"
#include "base/sandbox.h"
#include "base/standard.h"
#include "base/strbuf.h"
#include "debugger/command/alias.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/dumps.h"
#include "debugger/command/given.h"
#include "debugger/command/manual.h"
#include "debugger/command/options.h"
#include "debugger/command/table_schema.h"
#include "debugger/completion/complete.h"
#include "debugger/completion/completions.h"
#include "debugger/declare/declare.h"
#include "debugger/export/export.h"
#include "debugger/helper/serve.h"
#include "debugger/hidden/hidden.h"
#include "debugger/shell/shell.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include "debugger/with/start.h"
#include "vmcore/decompress.h"
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const struct command command_help;

#define RAW_MEMORY "raw memory: crash, drgn and gdb read no images of it"

enum exit_status { EXIT_ALL_WELL = 0, EXIT_COMMAND_FAILED = 1, EXIT_NO_DUMP = 2 };

struct settings {
	struct source *sources;
	size_t source_count;
	const char **declarations;
	size_t declaration_count;
	const char **btf_files;
	size_t btf_file_count;
	const char *vmcoreinfo;
	bool raw; /* --format raw */
	bool no_cache, no_hints, no_sandbox;
	bool live;
	enum output_format format;
	bool exact_integers;
	const char *columns; /* NULL: all */
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	bool quiet, no_rc;
	struct dumps dumps;
	const struct tool *tool;     /* to start on the dump; NULL: none */
	char **tool_arguments;	     /* borrowed of main()'s */
	const char *database;	     /* --sqlite: its file; NULL */
	char *database_line;	     /* the command that writes it */
	FILE *tool_file, *tool_list; /* what is written for it; NULL: this process does not */
	bool interactive;	     /* a prompt: neither -c nor -i, and a terminal */
	bool only_help; /* no line asks for more than what the program says of itself */
};

/* What a session runs in. */
struct surroundings {
	struct helper_link helper;
	struct sandbox sandbox;
	struct cache_place cache;
	bool is_terminal[STDERR_FILENO + 1]; /* of the standard files, before they were given up */
};

static int fail(struct error *error)
{
	fputs("btfcrash: ", stderr);
	out_escape(stderr, error->message, strlen(error->message));
	putc('\n', stderr);
	error_free(error);
	return EXIT_NO_DUMP;
}

/* What was written is lost or not: the exit status then. */
static int flush(int status)
{
	struct error *error = standard_flush();
	if (error)
		fail(error);
	return error && !status ? EXIT_COMMAND_FAILED : status;
}

/* Where the option's argument stands among the words that it takes; -1, and a message: nowhere. */
static int word_number(int key)
{
	const struct program_option *option = option_of_key(key);
	int number = option_word(optarg, option->words);
	if (number < 0)
		fprintf(stderr, "btfcrash: --%s takes one of %s, not \"%s\"\n", option->name,
			option->words, optarg);
	return number;
}

/* Options about the looks of the output. Returns as parse_option(). */
static int parse_output_option(int option, struct settings *settings)
{
	int number;
	switch (option) {
	case OPTION_JSON:
		settings->format = FORMAT_JSON;
		break;
	case OPTION_JSON_INTEGERS:
		number = word_number(option);
		if (number < 0)
			return EXIT_NO_DUMP;
		settings->exact_integers = number == 1;
		break;
	case OPTION_CSV:
		settings->format = FORMAT_CSV;
		break;
	case OPTION_FORMAT:
		number = word_number(option);
		if (number < 0)
			return EXIT_NO_DUMP;
		/* The only format of a dump that nothing in it may tell. */
		settings->raw |= number == 3;
		if (number < 3)
			settings->format = (enum output_format)number;
		break;
	case OPTION_COLUMNS:
		settings->columns = optarg;
		break;
	case OPTION_COLOR:
		number = word_number(option);
		if (number < 0)
			return EXIT_NO_DUMP;
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
	struct error *error;
	switch (option) {
	case 'c':
	case 'i':
		settings->sources[settings->source_count++] =
			(struct source){ option == 'i', optarg };
		break;
	case 'q':
		settings->quiet = true;
		break;
	case OPTION_RECORD:
		settings->quiet = true;
		settings->sources[settings->source_count++] = (struct source){ false, "record" };
		break;
	case OPTION_LIVE:
		settings->live = true;
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
	case OPTION_WITH:
		if (word_number(option) < 0)
			return EXIT_NO_DUMP;
		settings->tool = tool_find(optarg);
		break;
	case OPTION_SQLITE:
		settings->database = optarg;
		break;
	case 'h':
		options_usage(stdout);
		return EXIT_ALL_WELL;
	case 'V':
		puts("btfcrash " BTFCRASH_VERSION);
		return EXIT_ALL_WELL;
	case OPTION_MANUAL:
		manual_write(stdout);
		return EXIT_ALL_WELL;
	case OPTION_SCHEMAS:
		error = table_schemas_write(optarg);
		return error ? fail(error) : EXIT_ALL_WELL;
	case OPTION_COMPLETION:
		if (word_number(option) < 0)
			return EXIT_NO_DUMP;
		completions_write(stdout, optarg);
		return EXIT_ALL_WELL;
	default:
		return parse_output_option(option, settings);
	}
	return -1;
}

/* As a line has it: in quotes, whatever is in it. */
static void put_quoted(struct strbuf *line, const char *word)
{
	strbuf_put(line, " \"");
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			strbuf_char(line, '\\');
		strbuf_char(line, *word);
	}
	strbuf_char(line, '"');
}

/* --sqlite FILE TABLE... is a command behind all others. */
static int add_database(struct settings *settings, char **tables, size_t table_count)
{
	struct strbuf line = { 0 };
	strbuf_put(&line, "export sqlite");
	for (size_t i = 0; i < table_count; i++)
		put_quoted(&line, tables[i]);
	put_quoted(&line, settings->database);
	strbuf_bytes(&line, "", 1);
	if (line.failed) {
		strbuf_deinit(&line);
		return fail(error_no_memory());
	}
	settings->database_line = line.data;
	settings->sources[settings->source_count++] = (struct source){ false, line.data };
	return -1;
}

static int parse_command_line(int argc, char **argv, struct settings *settings)
{
	struct option *options = options_for_getopt();
	char *letters = option_letters();
	int option, status = -1;
	if (!options || !letters) {
		fputs("btfcrash: out of memory\n", stderr);
		status = EXIT_NO_DUMP;
	}
	while (status == -1 && (option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		status = parse_option(option, settings);
		/* What follows a tool's name is the tool's. */
		if (settings->tool && !settings->tool_arguments) {
			settings->tool_arguments = argv + optind;
			argc = optind;
		}
		if (settings->database && !settings->database_line && status == -1) {
			status = add_database(settings, argv + optind, (size_t)(argc - optind));
			argc = optind;
		}
	}
	settings->dumps =
		(struct dumps){ (const char **)argv + optind, (size_t)(argc - optind), NULL };
	free(letters);
	free(options);
	return status;
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
			error = shell_run_command(session, i, source->text, command_run_line);
	}
	return error;
}

/* Aliases and settings of the user's are for the prompt: scripts shall mean the same everywhere. */
static struct error *interact(struct session *session, const struct settings *settings)
{
	session->interactive = true;
	struct error *error = settings->no_rc ? NULL : shell_run_rc(session, command_run_line);
	if (error)
		fprintf(stderr, "btfcrash: warning: %s\n", error->message);
	error_free(error);
	if (!session->quiet && !session->quit) {
		puts("btfcrash " BTFCRASH_VERSION "; `help` lists the commands\n");
		command_run_line(session, "sys");
		putchar('\n');
	}
	error = shell_interact(session, command_run_line, command_complete);
	session->failed = false;
	return error;
}

static struct error *run_session(struct session *session, const struct settings *settings)
{
	return settings->interactive ? interact(session, settings) : run_sources(session, settings);
}

/* https://no-color.org: set and not empty. */
static bool wants_color(const struct settings *settings, bool is_terminal)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (settings->color != COLOR_AUTO)
		return settings->color == COLOR_ALWAYS;
	return is_terminal && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static void show_problems(const struct session *session)
{
	const struct sandbox *sandbox = session->sandbox;
	if (sandbox && sandbox->lack)
		fprintf(stderr, "btfcrash: warning: %s\n", sandbox->lack->message);
	else if (sandbox && sandbox->landlock_lack)
		fprintf(stderr,
			"btfcrash: warning: no Landlock (%s): the sandbox is of seccomp alone\n",
			sandbox->landlock_lack);
	for (const struct target_problem *p = session->target->problems; p; p = p->next) {
		fputs("btfcrash: warning: ", stderr);
		out_escape(stderr, p->error->message, strlen(p->error->message));
		putc('\n', stderr);
		if (p->error->advice)
			fprintf(stderr, "btfcrash: advice: %s\n", p->error->advice);
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
		 struct surroundings *around)
{
	struct session session = {
		.target = target,
		.helper = &around->helper,
		.sandbox = &around->sandbox,
		.format = settings->format,
		.exact_integers = settings->exact_integers,
		.columns = settings->columns,
		.json = settings->format != FORMAT_TEXT,
		.quiet = settings->quiet,
		.on_terminal = around->is_terminal[STDOUT_FILENO],
		.colors = wants_color(settings, around->is_terminal[STDOUT_FILENO]),
		.message_color = wants_color(settings, around->is_terminal[STDERR_FILENO]),
		.pager = true,
		.progress = progress,
		.render = render_defaults
	};
	/* Only without the symbols is the dump of so little use that every command should hear of
	 * it. */
	if (target && !settings->quiet && settings->format == FORMAT_TEXT)
		show_problems(&session);
	interrupt_install();
	struct error *error = target ? scope_init(&session.scope, target) : NULL;
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
	return session.failed ? EXIT_COMMAND_FAILED : EXIT_ALL_WELL;
}

static struct error *add_declarations(struct target *target, const struct settings *settings)
{
	struct error *error = NULL;
	struct declarations *declarations = NULL;
	if (settings->declaration_count)
		error = target_declarations(target, &declarations);
	for (size_t i = 0; i < settings->declaration_count && !error; i++)
		error = declarations_add_file(declarations, target->helper,
					      settings->declarations[i]);
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

static struct error *open_target(const struct settings *settings, struct surroundings *around,
				 struct progress *progress, struct target **ret)
{
	struct target_options target_options = { .vmcoreinfo_path = settings->vmcoreinfo,
						 .helper = &around->helper,
						 .progress = progress,
						 .raw = settings->raw };
	struct target *target;
	struct error *error =
		target_open(settings->dumps.paths, settings->dumps.count, &target_options, &target);
	if (error)
		return error;
	hidden_find(target);
	target->cache_place = &around->cache;
	target->no_hints = settings->no_hints;
	/* A running kernel's variables have changed by the next session. */
	target->no_cache = !uses_cache(settings) || target_is_live(target);
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

/* --- a tool's file ------------------------------------------------------------------------------
 */

static int write_for_tool(struct target *target, const struct settings *settings,
			  struct surroundings *around, struct progress *progress)
{
	struct session session = { .target = target, .sandbox = &around->sandbox };
	const struct export_options options = { .run_time = settings->tool->wants_moved,
						.tiers = settings->tool_list,
						.progress = progress };
	struct export_summary summary;
	/* By its first bytes it could have been a format that the tool knows. */
	if (target->facts->is_raw)
		return fail(error_create(ERROR_UNSUPPORTED, RAW_MEMORY));
	if (!settings->quiet)
		show_problems(&session);
	struct error *error = export_vmlinux(target, &options, settings->tool_file, &summary);
	return error ? fail(error) : EXIT_ALL_WELL;
}

/* --- the whole ----------------------------------------------------------------------------------
 */

/* What is needed is open: rights go, and with them all other files. */
static void enter_sandbox(const struct settings *settings, struct surroundings *around)
{
	const struct opened *opened = &around->helper.opened;
	int *needed = calloc(opened->count + 3, sizeof(*needed)), highest = -1;
	/* Reads /etc/localtime, once. */
	tzset();
	decompress_keep_libraries();
	/* If memory ran out, all stay open. */
	if (needed) {
		size_t count = 0;
		needed[count++] = around->helper.socket;
		needed[count++] = settings->tool_file ? fileno(settings->tool_file) : -1;
		needed[count++] = settings->tool_list ? fileno(settings->tool_list) : -1;
		for (size_t i = 0; i < opened->count; i++)
			needed[count++] = opened->files[i].fd;
		highest = standard_close_others(needed, count);
	}
	free(needed);
	rights_give_up(opened_size(opened), highest);
	sandbox_enter(&around->sandbox);
	around->helper.is_asked_to_read = around->sandbox.seccomp;
}

/* The helper first: it is to know nothing of the dump, and a process of little memory is quickly
 * copied. */
static struct error *start_helper(const struct settings *settings, const struct given_files *given,
				  struct surroundings *around)
{
	const struct serve_options wanted = { .sources = settings->sources,
					      .source_count = settings->source_count,
					      .interactive = settings->interactive,
					      .no_rc = settings->no_rc,
					      .dumps = settings->dumps.paths,
					      .dump_count = settings->dumps.count,
					      .keeps = uses_cache(settings),
					      .live = dumps_are_live(&settings->dumps),
					      .folders = (const char *const *)given->folders,
					      .folder_count = given->folder_count,
					      .takes_terminal = true };
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		around->is_terminal[file] = isatty(file);
	return serve_start(&wanted, &around->helper);
}

static void warn_of_helper(const struct settings *settings, struct error *error)
{
	if (error && !settings->quiet)
		fprintf(stderr,
			"btfcrash: warning: no programs, no files to write, no scripts: %s\n",
			error->message);
	error_free(error);
}

/* Nothing that was given is read before the sandbox is entered. */
static struct error *prepare(const struct settings *settings, const struct given_files *given,
			     struct surroundings *around)
{
	struct error *error = start_helper(settings, given, around);
	/* Without one, who reads the dump would have the terminal. */
	if (error && (around->is_terminal[STDOUT_FILENO] || around->is_terminal[STDERR_FILENO]))
		return error;
	warn_of_helper(settings, error);
	if (!settings->only_help)
		TRY(given_open(given, &around->helper.opened));
	if (!settings->no_sandbox)
		enter_sandbox(settings, around);
	return NULL;
}

static int open_and_debug(const struct settings *settings)
{
	const struct given_words words = { .dumps = settings->dumps.paths,
					   .dump_count = settings->dumps.count,
					   .btf = settings->btf_files,
					   .btf_count = settings->btf_file_count,
					   .declarations = settings->declarations,
					   .declaration_count = settings->declaration_count,
					   .vmcoreinfo = settings->vmcoreinfo };
	struct given_files given;
	struct target *target = NULL;
	struct progress progress;
	struct surroundings around = { .helper = { .socket = -1 } };
	around.cache = (struct cache_place){ .helper = &around.helper, .folder = -1 };
	struct error *error = given_init(&given, &words);
	if (!error)
		error = prepare(settings, &given, &around);
	progress_init(&progress, around.is_terminal[STDERR_FILENO] ? &around.helper : NULL);
	if (!error && !settings->only_help)
		error = open_target(settings, &around, &progress, &target);
	int status = error		   ? fail(error)
		     : settings->tool_file ? write_for_tool(target, settings, &around, &progress)
					   : debug(target, settings, &progress, &around);
	target_close(target);
	opened_deinit(&around.helper.opened);
	given_deinit(&given);
	/* As long as there is somebody who shows it. */
	status = flush(status);
	helper_end(&around.helper);
	sandbox_deinit(&around.sandbox);
	return status;
}

/* A pipe may lead to commands that are about a dump; a file is none. */
static bool line_asks_for_help(const char *line)
{
	char *text = strndup(line, strcspn(line, ">"));
	bool asks = text && !strchr(line, '|') && call_asks_for_help(text);
	free(text);
	return asks;
}

static bool asks_for_help_only(const struct settings *settings)
{
	for (size_t i = 0; i < settings->source_count; i++)
		if (settings->sources[i].is_file || !line_asks_for_help(settings->sources[i].text))
			return false;
	return settings->source_count > 0;
}

/* What the program takes for granted: standard files that are open, a dump, lines to run. */
static void settle(struct settings *settings)
{
	dumps_leave_vmlinux_aside(&settings->dumps, settings->quiet);
	dumps_choose(&settings->dumps, settings->live);
	settings->only_help = asks_for_help_only(settings);
	settings->interactive = !settings->source_count && !settings->tool && isatty(STDIN_FILENO);
	if (!settings->source_count && !settings->tool && !settings->interactive)
		settings->sources[settings->source_count++] = (struct source){ true, "-" };
}

static int open_for_tool(void *context, FILE *vmlinux, FILE *tiers)
{
	struct settings settings = *(const struct settings *)context;
	settings.tool_file = vmlinux;
	settings.tool_list = tiers;
	return open_and_debug(&settings);
}

static int start_tool(struct settings *settings)
{
	const struct with with = { .tool = settings->tool,
				   .arguments = settings->tool_arguments,
				   .dumps = settings->dumps.paths,
				   .dump_count = settings->dumps.count,
				   .quiet = settings->quiet,
				   .keep = uses_cache(settings) && !settings->vmcoreinfo,
				   .rules = settings->no_hints ? "no hints" : "" };
	return with_start(&with, open_for_tool, settings);
}

/* Returns as parse_option(). */
static int check_tool(const struct settings *settings)
{
	const char *why = settings->live	   ? "--live is not for other tools"
			  : settings->source_count ? "-c and -i are no options beside --with: what "
						     "follows the tool's name is the tool's"
			  : settings->raw	   ? RAW_MEMORY
						   : NULL;
	if (!settings->tool || !why)
		return -1;
	fprintf(stderr, "btfcrash: %s\n", why);
	return EXIT_NO_DUMP;
}

/* Returns as parse_option(). */
static int check_dumps(const struct settings *settings)
{
	const struct dumps *dumps = &settings->dumps;
	if (settings->live && dumps->count && !dumps_are_live(dumps)) {
		fputs("btfcrash: --live is the running kernel: it takes no DUMP\n", stderr);
		return EXIT_NO_DUMP;
	}
	if (settings->live || dumps->count || asks_for_help_only(settings) || dumps_has_default())
		return -1;
	if (settings->tool)
		fputs("btfcrash: DUMP comes before --with: what follows the tool's name is the "
		      "tool's\n",
		      stderr);
	fputs("btfcrash: no DUMP given, and there is no /proc/vmcore here (--live looks at the "
	      "running kernel)\n",
	      stderr);
	options_usage(stderr);
	return EXIT_NO_DUMP;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	struct settings settings = {
		.sources = calloc((size_t)argc + 2, sizeof(*settings.sources)),
		.declarations = calloc((size_t)argc, sizeof(*settings.declarations)),
		.btf_files = calloc((size_t)argc, sizeof(*settings.btf_files)),
	};
	int status = EXIT_NO_DUMP;
	/* Who started this may have ignored it: then the status of programs is lost. */
	signal(SIGCHLD, SIG_DFL);
	struct error *error = standard_open();
	if (!error)
		error = standard_stack();
	if (error)
		return fail(error);
	if (!settings.sources || !settings.declarations || !settings.btf_files)
		fputs("btfcrash: out of memory\n", stderr);
	else
		status = parse_command_line(argc, argv, &settings);
	if (status == -1)
		status = check_tool(&settings);
	if (status == -1)
		status = check_dumps(&settings);
	if (status == -1) {
		settle(&settings);
		status = settings.tool ? start_tool(&settings) : open_and_debug(&settings);
	}
	free(settings.sources);
	free(settings.database_line);
	free(settings.declarations);
	free(settings.btf_files);
	return flush(status);
}
