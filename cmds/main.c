// SPDX-License-Identifier: GPL-3.0-or-later
/* The command line: which dump, which commands from where, and the exit status. */
#include "base/interrupt.h"
#include "cmds/command.h"
#include "cmds/manual.h"
#include "debugger/declare/declare.h"
#include "debugger/shell/shell.h"
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
	const char *vmcoreinfo;
	bool json, quiet;
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
	"  -q, --quiet            no banner\n"
	"      --declare FILE     C declarations of kernel variables: \"struct foo bar;\"\n"
	"      --vmcoreinfo FILE  use this VMCOREINFO instead of the dump's\n"
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

enum { OPTION_JSON = 256, OPTION_VMCOREINFO, OPTION_DECLARE, OPTION_MANUAL };

static const struct option options[] = {
	{ "command", required_argument, NULL, 'c' },
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "declare", required_argument, NULL, OPTION_DECLARE },
	{ "vmcoreinfo", required_argument, NULL, OPTION_VMCOREINFO },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "manual", no_argument, NULL, OPTION_MANUAL }, /* for the Makefile: the man page */
	{ NULL, 0, NULL, 0 },
};

/* Returns an exit status, or -1 to go on. */
static int parse_command_line(int argc, char **argv, struct settings *settings)
{
	int option;
	while ((option = getopt_long(argc, argv, "c:i:qhV", options, NULL)) != -1) {
		switch (option) {
		case 'c':
		case 'i':
			settings->sources[settings->source_count++] =
				(struct source){ option == 'i', optarg };
			break;
		case 'q':
			settings->quiet = true;
			break;
		case OPTION_JSON:
			settings->json = true;
			break;
		case OPTION_DECLARE:
			settings->declarations[settings->declaration_count++] = optarg;
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
		default:
			fputs("btfcrash: `btfcrash --help` shows the usage\n", stderr);
			return EXIT_NO_DUMP;
		}
	}
	settings->dumps = (const char *const *)argv + optind;
	settings->dump_count = (size_t)(argc - optind);
	return -1;
}

static void run_line(struct session *session, const char *line)
{
	command_run_line(session, line);
}

static struct error *run_script(struct session *session, const char *path)
{
	if (!strcmp(path, "-"))
		return shell_run_file(session, stdin, run_line);
	FILE *file = fopen(path, "re");
	if (!file)
		return error_system("%s", path);
	struct error *error = error_prefix(shell_run_file(session, file, run_line), "%s", path);
	fclose(file);
	return error;
}

static struct error *run_sources(struct session *session, const struct settings *settings)
{
	struct error *error = NULL;
	for (size_t i = 0; i < settings->source_count && !session->quit && !error; i++) {
		const struct source *source = &settings->sources[i];
		if (source->is_file)
			error = run_script(session, source->text);
		else
			run_line(session, source->text);
	}
	return error;
}

static void interact(struct session *session)
{
	session->interactive = true;
	if (!session->quiet) {
		puts("btfcrash " BTFCRASH_VERSION "; `help` lists the commands\n");
		run_line(session, "sys");
		putchar('\n');
	}
	shell_interact(session, run_line);
	session->failed = false;
}

static struct error *run_session(struct session *session, const struct settings *settings)
{
	if (settings->source_count)
		return run_sources(session, settings);
	if (!isatty(STDIN_FILENO))
		return shell_run_file(session, stdin, run_line);
	interact(session);
	return NULL;
}

static int debug(struct target *target, const struct settings *settings)
{
	struct session session = { .target = target,
				   .json = settings->json,
				   .quiet = settings->quiet,
				   .render = render_defaults };
	/* Only without the symbols is the dump of so little use that every command should hear of
	 * it. */
	if (!settings->quiet && !settings->json)
		for (const struct target_problem *p = target->problems; p; p = p->next) {
			fputs("btfcrash: warning: ", stderr);
			out_escape(stderr, p->error->message, strlen(p->error->message));
			putc('\n', stderr);
		}
	session.out = settings->json ? out_json_create(stdout) : out_text_create(stdout);
	if (!session.out)
		return fail(error_no_memory());
	interrupt_install();
	struct error *error = run_session(&session, settings);
	out_destroy(session.out);
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
	error = add_declarations(target, settings);
	if (error) {
		target_close(target);
		return error;
	}
	*ret = target;
	return NULL;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	struct settings settings = {
		.sources = calloc((size_t)argc, sizeof(*settings.sources)),
		.declarations = calloc((size_t)argc, sizeof(*settings.declarations)),
	};
	int status = EXIT_NO_DUMP;
	if (!settings.sources || !settings.declarations)
		fputs("btfcrash: out of memory\n", stderr);
	else
		status = parse_command_line(argc, argv, &settings);
	if (status == -1 && !settings.dump_count && access("/proc/vmcore", F_OK)) {
		fputs("btfcrash: no DUMP given, and there is no /proc/vmcore here\n", stderr);
		fputs(usage_text, stderr);
		status = EXIT_NO_DUMP;
	}
	if (status == -1) {
		struct target *target = NULL;
		struct error *error = open_target(&settings, &target);
		status = error ? fail(error) : debug(target, &settings);
		target_close(target);
	}
	free(settings.sources);
	free(settings.declarations);
	return status;
}
