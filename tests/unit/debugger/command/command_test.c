// SPDX-License-Identifier: GPL-3.0-or-later
/* From the text of one command to its arguments; aliases; the words of foreach; items in a pipe. */
#include "debugger/command/alias.h"
#include "debugger/command/arguments.h"
#include "debugger/command/foreach_words.h"
#include "debugger/command/line.h"
#include "debugger/command/pipe.h"
#include "tests/unit/test.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char buffer[2048];

/* "bt -c=1 [init]": options by letter or name with their arguments, operands in brackets. */
static void write_call(FILE *file, const struct call *call)
{
	fputs(call->command->name, file);
	for (size_t i = 0; i < command_option_count(call->command); i++) {
		const struct option_spec *option = &call->command->options[i];
		const char *given = call->arguments.options[i];
		if (given && option->letter)
			fprintf(file, " -%c%s%s", option->letter, *given ? "=" : "", given);
		else if (given)
			fprintf(file, " --%s%s%s", option->name, *given ? "=" : "", given);
	}
	for (size_t i = 0; i < call->arguments.operand_count; i++)
		fprintf(file, " [%s]", call->arguments.operands[i]);
	if (call->json || call->csv || call->columns)
		fprintf(file, " %s%s%s", call->json ? "json" : "", call->csv ? "csv" : "",
			call->columns ? call->columns : "");
}

static const char *parsed(const char *text)
{
	struct call call;
	FILE *file = fmemopen(buffer, sizeof(buffer), "w");
	struct error *error = call_parse(text, &call);
	if (error)
		fprintf(file, "error: %s", error->message);
	else
		write_call(file, &call);
	fputc(0, file);
	fclose(file);
	error_free(error);
	call_deinit(&call);
	return buffer;
}

static void test_arguments(void)
{
	CHECK_STRING(parsed("bt"), "bt");
	CHECK_STRING(parsed("  bt   -c  1 "), "bt -c=1");
	CHECK_STRING(parsed("bt -c1"), "bt -c=1");
	CHECK_STRING(parsed("bt --cpu=1"), "bt -c=1");
	CHECK_STRING(parsed("bt -an"), "bt -a -n");
	CHECK_STRING(parsed("bt -n 17 ffff888003a40000"), "bt -n [17] [ffff888003a40000]");
	CHECK_STRING(parsed("bt 17 -n"), "bt -n [17]");
	CHECK_STRING(parsed("ps 'a b' \"c'd\" e\\ f"), "ps [a b] [c'd] [e f]");
	CHECK_STRING(parsed("ps --csv --columns pid,comm 1"), "ps [1] csvpid,comm");
	CHECK_STRING(parsed("ps --columns=pid 1 --json"), "ps [1] jsonpid");
	/* Brackets group: an address may have a cast. */
	CHECK_STRING(parsed("whattype (struct file *)0x1000"), "whattype [(struct file *)0x1000]");
	CHECK_STRING(parsed("rd (unsigned long *)&x 2"), "rd [(unsigned long *)&x] [2]");
}

/* An operand that is an expression goes to the end of the line, minus, quotes, bars and all. */
static void test_expressions(void)
{
	CHECK_STRING(parsed("print -x a - -b"), "print -x [a - -b]");
	CHECK_STRING(parsed("print -1"), "print [-1]");
	CHECK_STRING(parsed("print -- -x"), "print [-x]");
	CHECK_STRING(parsed("print (char *)\"a  b\""), "print [(char *)\"a  b\"]");
	CHECK_STRING(parsed("print a --csv"), "print [a] csv");
	CHECK_STRING(parsed("print a--csv"), "print [a--csv]");
	CHECK_STRING(parsed("p init_task"), "print [init_task]");
}

static void check_error(const char *text, const char *part)
{
	const char *got = parsed(text);
	bool is_right = !strncmp(got, "error: ", 7) && strstr(got, part);
	if (!is_right)
		printf("%s: %s\n", text, got);
	CHECK(is_right);
}

static void test_usage(void)
{
	char many[5000] = "ps";
	for (size_t i = 0; i < 2000; i++)
		strcat(many, " 1");
	check_error("nosuch", "no command \"nosuch\"");
	check_error("lst", "list");
	check_error("PS -k", "did you mean \"ps\"?");
	check_error("REGISTERS", "did you mean \"registers\"?");
	check_error("bt --nosuch", "no option --nosuch; usage: bt ");
	check_error("bt -z", "-z");
	check_error("bt -c", "-c needs CPU; usage: bt ");
	check_error("ps --columns", "--columns needs a list");
	check_error("print", "EXPRESSION is missing; usage: print ");
	check_error("quit now", "quit takes no operands");
	check_error(many, "operands");
	check_error("*task_struct", "no command \"*task_struct\"; `struct task_struct` shows");
}

static void test_help(void)
{
	CHECK_STRING(parsed("ps --help "), "help [ps]");
	CHECK(call_asks_for_help(" help ps"));
	CHECK(call_asks_for_help("?"));
	CHECK(call_asks_for_help(" ps --help "));
	CHECK(call_asks_for_help("print --help"));
	CHECK(!call_asks_for_help("ps"));
	CHECK(!call_asks_for_help("nosuch --help"));
	CHECK(!call_asks_for_help("print --help + 1"));
	CHECK(!call_asks_for_help(""));
}

static void test_numbers(void)
{
	uint64_t value = 5;
	CHECK_OK(argument_number("0x10", "a CPU number", 0, 16, &value));
	CHECK_U64(value, 16);
	CHECK_FAILS(argument_number("17", "a CPU number", 0, 16, &value),
		    "\"17\" is not a CPU number");
	CHECK_FAILS(argument_number("0", "a count", 1, 16, &value), "\"0\" is not a count");
	CHECK_FAILS(argument_number("-1", "a count", 0, UINT64_MAX, &value), "\"-1\"");
	CHECK_U64(value, 16);
}

/* --- aliases ---------------------------------------------------------------------------------- */

static void check_expanded(const struct session *session, const char *line, const char *expected)
{
	char *text = alias_expand(session, line);
	CHECK_STRING(text, expected);
	free(text);
}

static void test_aliases(void)
{
	struct session session = { .target = NULL };
	check_expanded(&session, "where -a", "bt -a");
	check_expanded(&session, "wherever", "wherever");
	check_expanded(&session, "gdb where", "bt");
	check_expanded(&session, "g where", "bt");
	check_expanded(&session, "g", "g");
	check_expanded(&session, "sf", "set scroll off");
	check_expanded(&session, "x/4gx init_task", "rd -64 init_task 4");
	check_expanded(&session, "x/2i schedule + 4", "dis 'schedule + 4' 2");
	check_expanded(&session, "p/x jiffies", "print /x jiffies");
	alias_learn(&session, "alias d = ps -s D | bt");
	check_expanded(&session, "d -n", "ps -s D | bt -n");
	alias_learn(&session, "alias d ps");
	check_expanded(&session, "d -n", "ps -n");
	CHECK_U64(session.alias_count, 1);
	/* The user's own come first, and none is replaced twice. */
	alias_learn(&session, "alias where = d");
	alias_learn(&session, "alias d = where -x");
	check_expanded(&session, "where", "where -x");
	alias_learn(&session, "unalias where");
	check_expanded(&session, "where", "bt");
	alias_learn(&session, "alias g = ps");
	check_expanded(&session, "g 1", "ps 1");
	alias_learn(&session, "unalias g");
	/* No aliases, and not aloud. */
	alias_learn(&session, "alias");
	alias_learn(&session, "alias a/b = ps");
	alias_learn(&session, "unalias nosuch");
	alias_learn(&session, "nosuch command");
	CHECK_U64(session.alias_count, 1);
	aliases_deinit(&session);
}

/* --- foreach ---------------------------------------------------------------------------------- */

/* "[task][task] command" */
static const char *words(const char *operand)
{
	struct session session = { .target = NULL };
	struct foreach_words found;
	struct error *error = foreach_words_init(&session, operand, &found);
	size_t used = 0;
	*buffer = 0;
	for (size_t i = 0; !error && i < found.count; i++)
		used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "[%s]",
					 found.names[i]);
	snprintf(buffer + used, sizeof(buffer) - used, " %s",
		 error		 ? error->message
		 : found.command ? found.command
				 : "(none)");
	error_free(error);
	foreach_words_deinit(&found);
	return buffer;
}

static void test_foreach(void)
{
	struct session session = { .target = NULL };
	CHECK_STRING(words("bt"), " bt");
	CHECK_STRING(words("1 init kworker* bt -n"), "[1][init][kworker*] bt -n");
	CHECK_STRING(words("'bt' \"log\" bt"), "[bt][log] bt");
	CHECK_STRING(words("1 where"), "[1] where");
	CHECK_STRING(words("1 p/x current->pid"), "[1] p/x current->pid");
	CHECK_STRING(words("1 2"), "[1][2] (none)");
	CHECK_STRING(words("-s D bt"), " -s: options stand before the tasks");
	CHECK_STRING(foreach_command(&session, "foreach -s D 1 print current"), "print current");
	CHECK(!foreach_command(&session, "print current"));
	CHECK(!foreach_command(&session, "foreach 1 foreach 2 bt"));
	CHECK(!foreach_command(&session, "foreach 1 2"));
}

/* --- items of a pipe ---------------------------------------------------------------------------
 */

/* The call with one item after another, as parsed() writes it. */
static const char *piped(const char *text, size_t count, const uint64_t *addresses)
{
	struct piped piped;
	FILE *file = fmemopen(buffer, sizeof(buffer), "w");
	struct error *error = piped_parse(text, &piped);
	if (!error)
		write_call(file, &piped.call);
	for (size_t i = 0; i < count && !error; i++) {
		error = piped_put(&piped, addresses[i]);
		fputs("; ", file);
		write_call(file, &piped.call);
	}
	if (error)
		fprintf(file, "error: %s", error->message);
	fputc(0, file);
	fclose(file);
	error_free(error);
	piped_deinit(&piped);
	return buffer;
}

static const char *piped_words(const char *text)
{
	return piped(text, 0, NULL);
}

static void test_items(void)
{
	static const uint64_t items[] = { 0xffff888000001000, 0x2a };
	CHECK_STRING(piped("bt", 2, items), "bt [$_]; bt [0xffff888000001000]; bt [0x2a]");
	CHECK_STRING(piped("bt -n", 1, items + 1), "bt -n [$_]; bt -n [0x2a]");
	CHECK_STRING(piped("rd $_ 4", 1, items + 1), "rd [$_] [4]; rd [0x2a] [4]");
	CHECK_STRING(piped("rd $_+8 '4 $_'", 2, items),
		     "rd [$_+8] [4 $_]; rd [0xffff888000001000+8] [4 0xffff888000001000]; "
		     "rd [0x2a+8] [4 0x2a]");
	CHECK_STRING(piped("bt -c $_ 1", 1, items + 1), "bt -c=$_ [1]; bt -c=0x2a [1]");
	CHECK_STRING(piped("bt --json", 1, items + 1), "bt [$_] json; bt [0x2a] json");
	/* That is another variable. */
	CHECK_STRING(piped("sym $_x $__", 1, items), "sym [$_x] [$__]; sym [$_x] [$__]");
	/* An expression has the item as a variable: the words stay. */
	CHECK_STRING(piped("print $_->pid + 1", 1, items),
		     "print [$_->pid + 1]; print [$_->pid + 1]");
	CHECK_STRING(piped("print {pid}", 1, items), "print [{pid}]; print [{pid}]");
}

static void test_pipe(void)
{
	CHECK_STRING(piped_words("print"), "print [*$_]");
	CHECK_STRING(piped_words("print comm"), "print [$_->comm]");
	CHECK_STRING(piped_words("print comm --csv"), "print [$_->comm] csv");
	CHECK_STRING(piped_words("print -x ->mm.pgd"), "print -x [$_->mm.pgd]");
	CHECK_STRING(piped_words("print (struct foo)->bar"), "print [((struct foo *)$_)->bar]");
	CHECK_STRING(piped_words("print (struct foo *).bar"), "print [((struct foo *)$_)->bar]");
	CHECK_STRING(piped_words("print $_->pid + 1"), "print [$_->pid + 1]");
	CHECK(pipe_is_table("print {pid, comm}"));
	CHECK(pipe_is_table("print -x (struct task_struct){pid}"));
	CHECK(pipe_is_table("p {pid}"));
	CHECK(!pipe_is_table("print pid"));
	CHECK(!pipe_is_table("list {pid}"));
}

static void check_unpiped(const char *text, const char *expected)
{
	CHECK(strstr(piped_words(text), expected));
}

static void test_no_pipe(void)
{
	/* That is C's own cast of something. */
	check_unpiped("print (struct foo)bar", "error: print: what of each item?");
	check_unpiped("print 3 + 4", "error: print: what of each item?");
	check_unpiped("log", "error: log takes no address");
	check_unpiped("nosuch", "error: no command \"nosuch\"");
	check_unpiped("bt -Z", "error: bt: no option -Z");
	check_unpiped("sys", "error: sys takes no address");
}

/* --- files of a line ---------------------------------------------------------------------------
 */

static void check_path(const char *word, const char *expected)
{
	char *path = line_path(word);
	CHECK_STRING(path, expected);
	free(path);
}

static void test_paths(void)
{
	setenv("HOME", "/home/somebody", 1);
	check_path("/etc/rc", "/etc/rc");
	check_path("~/rc", "/home/somebody/rc");
	check_path("~rc", "~rc");
	unsetenv("HOME");
	check_path("~/rc", "~/rc");
}

int main(void)
{
	RUN(test_arguments);
	RUN(test_expressions);
	RUN(test_usage);
	RUN(test_help);
	RUN(test_numbers);
	RUN(test_aliases);
	RUN(test_foreach);
	RUN(test_items);
	RUN(test_pipe);
	RUN(test_no_pipe);
	RUN(test_paths);
	return test_finish();
}
