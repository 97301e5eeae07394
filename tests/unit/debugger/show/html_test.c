// SPDX-License-Identifier: GPL-3.0-or-later
/* Whatever the text is, no element comes out of it but the page's own. */
#include "debugger/show/html.h"

#include "tests/unit/test.h"
#include <stdlib.h>
#include <string.h>

typedef void writer(FILE *file, const char *text, size_t size);

/* Caller frees. */
static char *write_sized(writer *write, const char *text, size_t size)
{
	char *result = NULL;
	size_t length;
	FILE *file = open_memstream(&result, &length);
	if (!file)
		abort();
	/* Its own piece of memory: what is read behind the end is seen. */
	char *copy = malloc(size ?: 1);
	if (!copy)
		abort();
	memcpy(copy, text, size);
	write(file, copy, size);
	free(copy);
	fclose(file);
	return result;
}

static void check_written(writer *write, const char *text, const char *expected)
{
	char *result = write_sized(write, text, strlen(text));
	CHECK_STRING(result, expected);
	free(result);
}

static void test_text(void)
{
	check_written(html_text, "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
	check_written(html_raw, "\x1b<\x9b", "\\x1b&lt;\\x9b");
	check_written(html_text, "", "");
}

static void test_colors(void)
{
	check_written(html_colored, "\x1b[1mhead\x1b[0m <b>",
		      "<span class=\"h\">head</span> &lt;b&gt;");
	check_written(html_colored, "\x1b[31m\x1b[2mx",
		      "<span class=\"e\"></span><span class=\"a\">x</span>");
	/* No colour of ours, and one that is cut off. */
	check_written(html_colored, "\x1b[7mx\x1b[", "[7mx[");
}

static void test_tables(void)
{
	static const char head[] = "<div class=\"wide\"><table>\n<thead>",
			  body[] = "</thead>\n<tbody>\n", end[] = "</tbody></table></div>\n";
	char expected[512];
	snprintf(expected, sizeof(expected),
		 "%s<tr><th>a</th><th>b</th></tr>\n%s<tr><td>1,&quot;&lt;</td><td></td></tr>\n"
		 "<tr><td>x</td></tr>\n%s",
		 head, body, end);
	check_written(html_table, "a,b\n\"1,\"\"<\",\nx\n", expected);
	snprintf(expected, sizeof(expected), "%s<tr></tr>\n%s%s", head, body, end);
	check_written(html_table, "", expected);
}

static void test_log(void)
{
	check_written(html_log,
		      "[    1.0] fine\n[    2.0] WARNING: <x>\n[    2.1] ---[ end trace ]---\nlast",
		      "[    1.0] fine\n<mark id=\"oops\">[    2.0] WARNING: &lt;x&gt;</mark>\n"
		      "<mark>[    2.1] ---[ end trace ]---</mark>\nlast\n");
	check_written(html_log, "[\n[]\nBUG: ", "[\n[]\n<mark id=\"oops\">BUG: </mark>\n");
	CHECK(html_log_is_marked("[] BUG: x\n", 10));
	CHECK(!html_log_is_marked("no BUG: x\n", 10));
}

/* Cut off anywhere, each ends, and what is between its own elements has no bare bracket. */
static void test_cut(void)
{
	static writer *const writers[] = { html_text, html_raw, html_colored, html_log,
					   html_table };
	static const char text[] = "\x1b[1m\"a\"\"<\",\n[ 1] BUG: <\xe2\x80\xae>\x1b[0m,'\"";
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		for (size_t size = 0; size < sizeof(text); size++) {
			char *result = write_sized(writers[i], text, size);
			unsigned int open = 0;
			for (const char *at = result; *at; at++) {
				open += *at == '<';
				CHECK(open <= 1);
				open -= open && *at == '>';
			}
			CHECK(!open);
			free(result);
		}
}

int main(void)
{
	RUN(test_text);
	RUN(test_colors);
	RUN(test_tables);
	RUN(test_log);
	RUN(test_cut);
	return test_finish();
}
