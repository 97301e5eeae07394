// SPDX-License-Identifier: GPL-3.0-or-later
/* Which | and > of a line are the shell's, and which are C's. */
#include "debugger/command/line.h"
#include "tests/unit/test.h"
#include <stdbool.h>

/* A word of a list with blanks between. */
static bool is_in(const char *list, const char *word, size_t length)
{
	for (const char *at = list; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (length && strcspn(at, " ") == length && !strncmp(at, word, length))
			return true;
	}
	return false;
}

static bool is_command(void *context, const char *word, size_t length, bool *ret_expression)
{
	(void)context;
	*ret_expression = is_in("print list", word, length);
	return *ret_expression || is_in("ps bt log tree", word, length);
}

static bool is_program(void *context, const char *word, size_t length)
{
	(void)context;
	return is_in("grep less w sort", word, length);
}

static bool is_variable(void *context, const char *word, size_t length)
{
	(void)context;
	return is_in("jiffies flags w log", word, length);
}

static const struct line_names names = { NULL, is_command, is_program, is_variable };

/* "[stage][stage]|program>file" */
static const char *shape(const char *text)
{
	static char buffer[512];
	struct line line;
	struct error *error = line_split(text, &names, &line);
	if (error) {
		snprintf(buffer, sizeof(buffer), "error: %s", error->message);
		error_free(error);
		return buffer;
	}
	size_t used = 0;
	for (size_t i = 0; i < line.stage_count; i++)
		used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "[%s]",
					 line.stages[i]);
	if (line.program)
		used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "|%s", line.program);
	if (line.file)
		snprintf(buffer + used, sizeof(buffer) - used, "%s%s", line.append ? ">>" : ">",
			 line.file);
	line_deinit(&line);
	return buffer;
}

static void test_without_expressions(void)
{
	CHECK_STRING(shape("ps"), "[ps]");
	CHECK_STRING(shape(" ps  -k  "), "[ps  -k]");
	CHECK_STRING(shape("ps | grep foo"), "[ps]|grep foo");
	CHECK_STRING(shape("ps|grep foo"), "[ps]|grep foo");
	CHECK_STRING(shape("ps |grep a | sort > x"), "[ps]|grep a | sort > x");
	CHECK_STRING(shape("ps > /tmp/x"), "[ps]>/tmp/x");
	CHECK_STRING(shape("ps>x"), "[ps]>x");
	CHECK_STRING(shape("ps >> 'a b'"), "[ps]>>a b");
	CHECK_STRING(shape("ps | bt | less"), "[ps][bt]|less");
	CHECK_STRING(shape("ps | !bt"), "[ps]|bt");
	CHECK_STRING(shape("ps 'a|b' \"c > d\""), "[ps 'a|b' \"c > d\"]");
	CHECK_STRING(shape("bt mm->owner"), "[bt mm->owner]");
	CHECK_STRING(shape("ps don't | grep x"), "[ps don't]|grep x");
}

static void test_with_expressions(void)
{
	CHECK_STRING(shape("print a | b"), "[print a | b]");
	CHECK_STRING(shape("print a | grep x"), "[print a]|grep x");
	CHECK_STRING(shape("print a|grep x"), "[print a|grep x]");
	CHECK_STRING(shape("print a || grep"), "[print a || grep]");
	CHECK_STRING(shape("print (a | grep)"), "[print (a | grep)]");
	CHECK_STRING(shape("print x[a | grep] | less"), "[print x[a | grep]]|less");
	CHECK_STRING(shape("print '|' | less"), "[print '|']|less");
	CHECK_STRING(shape("print '\\'' | less"), "[print '\\'']|less");
	CHECK_STRING(shape("print a->b > 5"), "[print a->b > 5]");
	CHECK_STRING(shape("print a >> 2"), "[print a >> 2]");
	CHECK_STRING(shape("print a >= file"), "[print a >= file]");
	CHECK_STRING(shape("print a > file"), "[print a]>file");
	CHECK_STRING(shape("print a >> file"), "[print a]>>file");
	CHECK_STRING(shape("print a>file"), "[print a>file]");
	CHECK_STRING(shape("print a > b + c"), "[print a > b + c]");
	CHECK_STRING(shape("print a > ./jiffies"), "[print a]>./jiffies");
	CHECK_STRING(shape("list x | print {a, b} | grep y"), "[list x][print {a, b}]|grep y");
	CHECK_STRING(shape("ps | print $_->flags | 4"), "[ps][print $_->flags | 4]");
	CHECK_STRING(shape("print a | w"), "[print a]|w");
	CHECK_STRING(shape("print a | log"), "[print a][log]");
	CHECK_STRING(shape("print (a | w)"), "[print (a | w)]");
	CHECK_STRING(shape("print a | flags"), "[print a | flags]");
	CHECK_STRING(shape("print a | !log x"), "[print a]|log x");
}

static void test_errors(void)
{
	CHECK(!strncmp(shape("print a > jiffies"), "error: \"> jiffies\" may be", 24));
	CHECK_STRING(shape("ps |"), "error: there is nothing behind the |");
	CHECK_STRING(shape("| grep"), "error: there is no command before the |");
	CHECK_STRING(shape("ps >"), "error: there is no file name behind the >");
	CHECK_STRING(shape("ps > a b"), "error: > takes one file name, at the end of the line: "
					"\"a b\"");
	CHECK(!strncmp(shape("ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps|ps"), "error: more",
		       11));
}

/* A `;` begins no command, and is not handed to one as a word. */
static void test_semicolons(void)
{
	static const char another[] =
		"error: one line is one command: what follows the \";\" needs a "
		"line of its own, or another -c";
	static const char end[] = "error: one line is one command: leave out the \";\" at its end";
	CHECK_STRING(shape("ps ; bt"), another);
	CHECK_STRING(shape("ps; nosuch"), another);
	CHECK_STRING(shape("ps;bt"), another);
	CHECK_STRING(shape("print a; log"), another);
	CHECK_STRING(shape("ps | print a ; bt | grep x"), another);
	CHECK_STRING(shape("print a;"), end);
	CHECK_STRING(shape("ps ; | grep x"), end);
	CHECK_STRING(shape("ps a;b"), "[ps a;b]");
	CHECK_STRING(shape("ps 'a; bt' \"c ;\""), "[ps 'a; bt' \"c ;\"]");
	CHECK_STRING(shape("print (a; bt)"), "[print (a; bt)]");
	CHECK_STRING(shape("ps | grep x; bt"), "[ps]|grep x; bt");
}

static void test_comments(void)
{
	CHECK_U64(line_length("# all of it"), 0);
	CHECK_U64(line_length("ps  # tasks"), 2);
	CHECK_U64(line_length("ps #"), 2);
	CHECK_U64(line_length("print '#' # x"), 9);
	CHECK_U64(line_length("print a#b"), 9);
	CHECK_U64(line_length("bt #3"), 5);
	CHECK_U64(line_length("print (a # b)"), 13);
}

static void test_last_part(void)
{
	bool file;
	CHECK_U64(line_last_part("ps", &file), 0);
	CHECK_U64(line_last_part("ps | pri", &file), 4);
	CHECK(!file);
	CHECK_U64(line_last_part("ps > /tm", &file), 4);
	CHECK(file);
	CHECK_U64(line_last_part("print a->b", &file), 0);
	CHECK_U64(line_last_part("print (a | b", &file), 0);
}

/* No line, however cut or mutated, does more than fail. */
static void test_any_bytes(void)
{
	static const char text[] = "print 'a\\' \"b[{(|>> > x | !y # z) ]} -> || >= $_";
	char copy[sizeof(text)];
	unsigned int seed = 1;
	for (int i = 0; i < 20000; i++) {
		memcpy(copy, text, sizeof(text));
		for (int j = 0; j < 6; j++) {
			seed = seed * 1103515245 + 12345;
			copy[(seed >> 8) % (sizeof(text) - 1)] = text[(seed >> 20) % sizeof(text)];
		}
		shape(copy);
		line_length(copy);
	}
	CHECK(true);
}

int main(void)
{
	RUN(test_without_expressions);
	RUN(test_with_expressions);
	RUN(test_errors);
	RUN(test_semicolons);
	RUN(test_comments);
	RUN(test_last_part);
	RUN(test_any_bytes);
	return test_finish();
}
