// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/with/start.h"

#include "base/interrupt.h"
#include "base/out.h"
#include "debugger/with/kept.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 2
#define INTERRUPTED	 (128 + SIGINT)

static int fail(struct error *error)
{
	fputs("btfcrash: ", stderr);
	out_escape(stderr, error->message, strlen(error->message));
	putc('\n', stderr);
	error_free(error);
	return EXIT_NOT_STARTED;
}

/* --- before anything is done -------------------------------------------------------------------
 */

static struct error *check_formats(const struct with *with)
{
	const struct tool *tool = with->tool;
	enum dump_format format;
	for (size_t i = 0; i < with->dump_count; i++) {
		const char *path = with->dumps[i];
		if (!dump_format_of(path, &format))
			return error_system("%s", path);
		if (!tool->reads(format))
			return error_create(ERROR_UNSUPPORTED,
					    "%s is %s, which %s does not read: %s", path,
					    dump_format_name(format), tool->name, tool->others);
	}
	if (with->dump_count > 1 && !tool->reads_split)
		return error_create(ERROR_UNSUPPORTED, "%s reads a dump of one file only",
				    tool->name);
	return NULL;
}

static struct error *find_program(const struct tool *tool, char **ret)
{
	*ret = tool_program(tool);
	return *ret ? NULL
		    : error_create(ERROR_NOT_FOUND, "there is no %s here (Debian's package: %s)",
				   tool->name, tool->package);
}

/* --- processes ----------------------------------------------------------------------------------
 */

/* Ctrl-C is for the process that is waited for. */
static int wait_for(pid_t pid)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int status;
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_NOT_STARTED;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The files are there: what is made of them, in a process of its own. */
static int fill_files(FILE *vmlinux, FILE *tiers, const struct sigaction *interrupt,
		      with_maker *make, void *context)
{
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		sigaction(SIGINT, interrupt, NULL);
		/* Ctrl-C came before, for both. */
		exit(interrupt_flag ? INTERRUPTED : make(context, vmlinux, tiers));
	}
	return pid < 0 ? fail(error_system("a process that writes the file")) : wait_for(pid);
}

/* From here on Ctrl-C is noted only: the files have to go before this process does. */
static int make_file(struct kept *kept, with_maker *make, void *context)
{
	FILE *vmlinux, *tiers;
	struct sigaction interrupt;
	sigaction(SIGINT, NULL, &interrupt);
	if (interrupt.sa_handler != SIG_IGN)
		interrupt_install();
	struct error *error = kept_create(kept, &vmlinux, &tiers);
	int status = error ? fail(error) : fill_files(vmlinux, tiers, &interrupt, make, context);
	if (!status && interrupt_flag)
		status = INTERRUPTED;
	if (status && !error)
		kept_drop(kept, vmlinux, tiers);
	error = status ? NULL : kept_keep(kept, vmlinux, tiers);
	if (error)
		status = fail(error);
	sigaction(SIGINT, &interrupt, NULL);
	return !status && interrupt_flag ? INTERRUPTED : status;
}

/* As the user has them, and ours. */
static struct error *add_plugin(const struct tool *tool, struct kept *kept)
{
	const char *before = getenv(tool->plugin_variable);
	char *path, *value = NULL;
	TRY(kept_text(kept, tool->plugin_name, tool->plugin, &path));
	/* drgn has no sign for a comma within. */
	if (!strchr(path, ',') && asprintf(&value, "%s%sbtfcrash=%s", before ? before : "",
					   before && *before ? "," : "", path) >= 0) {
		setenv(tool->plugin_variable, value, 1);
		free(value);
	}
	free(path);
	return NULL;
}

/*
 * A path is no option, whatever it begins with, and no process: gdb takes a second word that begins
 * with a digit for the number of one, and attaches to it. Owned; NULL without memory.
 */
static char *plain_path(const char *path)
{
	char *ret;
	return asprintf(&ret, "%s%s", *path == '/' ? "" : "./", path) < 0 ? NULL : ret;
}

struct words {
	const char **items;
	char **dumps; /* owned, as many as there are */
};

static void words_deinit(struct words *words, size_t dump_count)
{
	for (size_t i = 0; words->dumps && i < dump_count; i++)
		free(words->dumps[i]);
	free(words->dumps);
	free(words->items);
}

static struct error *words_init(struct words *words, const struct with *with,
				const struct kept *kept)
{
	size_t given = 0, count = 0;
	while (with->arguments[given])
		given++;
	*words = (struct words){
		calloc(TOOL_WORDS_MAX + with->dump_count + given + 1, sizeof(*words->items)),
		calloc(with->dump_count + 1, sizeof(*words->dumps)),
	};
	bool good = words->items && words->dumps;
	for (size_t i = 0; good && i < with->dump_count; i++)
		good = (words->dumps[i] = plain_path(with->dumps[i])) != NULL;
	if (!good) {
		words_deinit(words, with->dump_count);
		return error_no_memory();
	}
	const struct tool_files files = { .vmlinux = kept->vmlinux,
					  .dumps = (const char *const *)words->dumps,
					  .dump_count = with->dump_count };
	words->items[count++] = with->tool->name;
	with->tool->add_words(&files, words->items, &count);
	for (size_t i = 0; i < given; i++)
		words->items[count++] = with->arguments[i];
	return NULL;
}

static void tell(const struct with *with, const struct kept *kept)
{
	if (with->quiet)
		return;
	fprintf(stderr,
		"btfcrash: %s gets a vmlinux that is written from the dump, no debuginfo: %s\n"
		"btfcrash: types of variables are certain, inferred or declared, which only this "
		"list tells: %s\n"
		"btfcrash: it has lines of source of BUG() and WARN() alone, and no local "
		"variables; what a filtered dump lacks may read as zeros\n",
		with->tool->name, kept->vmlinux, kept->tiers);
	if (with->tool->limits)
		fprintf(stderr, "btfcrash: %s\n", with->tool->limits);
}

static int execute(const char *program, const struct words *words)
{
	execv(program, (char *const *)words->items);
	return fail(error_system("%s", program));
}

/* The program takes this process' place, unless there is something to remove behind it. */
static int run(const char *program, const struct words *words, const struct kept *kept)
{
	fflush(NULL);
	if (!kept->is_temporary)
		return execute(program, words);
	pid_t pid = fork();
	if (!pid)
		exit(execute(program, words));
	return pid < 0 ? fail(error_system("%s", program)) : wait_for(pid);
}

static int start(const struct with *with, struct kept *kept, const char *program)
{
	struct words words;
	struct error *error = NULL;
	if (with->tool->plugin)
		error = add_plugin(with->tool, kept);
	if (!error)
		error = words_init(&words, with, kept);
	if (error)
		return fail(error);
	tell(with, kept);
	int status = run(program, &words, kept);
	words_deinit(&words, with->dump_count);
	return status;
}

int with_start(const struct with *with, with_maker *make, void *context)
{
	struct kept kept = { .folder = -1 };
	struct cache_key key;
	char *program = NULL;
	int status = 0;
	cache_key_init(&key);
	bool keep = cache_key_add_program(&key) && with->keep;
	cache_key_add(&key, with->rules, strlen(with->rules));
	cache_key_add(&key, &with->tool->wants_moved, sizeof(with->tool->wants_moved));
	struct error *error = find_program(with->tool, &program);
	if (!error)
		error = check_formats(with);
	if (!error)
		error = kept_open(&kept, &key, keep, with->dumps, with->dump_count);
	if (error)
		status = fail(error);
	if (!status && !kept_find(&kept))
		status = make_file(&kept, make, context);
	if (!status)
		status = start(with, &kept, program);
	kept_close(&kept);
	free(program);
	return status;
}
