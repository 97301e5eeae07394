// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/format.h"

#include "base/digits.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "4gx" of x/4gx: gdb's count, size and letter. */
struct format {
	uint64_t count;
	int bits;
	char letter;
};

static bool parse_format(const char *text, size_t length, struct format *ret)
{
	static const char sizes[] = "bhwg";
	*ret = (struct format){ .count = 1, .bits = 0, .letter = 'x' };
	if (length && isdigit((unsigned char)*text)) {
		const char *end = digits_scan(text, 10, &ret->count);
		if (!end)
			return false;
		length -= (size_t)(end - text);
		text = end;
	}
	for (; length; text++, length--) {
		const char *size = strchr(sizes, *text);
		if (size)
			ret->bits = 8 << (size - sizes);
		else if (strchr("xduoacsitz", *text))
			ret->letter = *text;
		else
			return false;
	}
	return true;
}

/* "x/4gx ADDRESS" */
static char *expand_examine(const char *text, size_t length, const char *operand)
{
	struct format format;
	char *line = NULL;
	int size = -1;
	const char *quote = strpbrk(operand, " \t") ? "'" : "";
	if (!*operand || strchr(operand, '\'') || !parse_format(text, length, &format))
		return NULL;
	if (format.letter == 's')
		size = asprintf(&line, "print (char *)(%s)", operand);
	else if (format.letter == 'i')
		size = asprintf(&line, "dis %s%s%s %" PRIu64, quote, operand, quote, format.count);
	else if (format.letter == 'a')
		size = asprintf(&line, "rd -s %s%s%s %" PRIu64, quote, operand, quote,
				format.count);
	else if (format.letter == 'c')
		size = asprintf(&line, "rd -a -8 %s%s%s %" PRIu64, quote, operand, quote,
				format.count);
	else
		size = asprintf(&line, "rd -%d %s%s%s %" PRIu64, format.bits ? format.bits : 32,
				quote, operand, quote, format.count);
	return size < 0 ? NULL : line;
}

char *format_expand(const char *line)
{
	size_t word = strcspn(line, " \t\n|>"), name = strcspn(line, "/ \t\n|>");
	const char *format = line + name + 1, *rest = line + word + strspn(line + word, " \t\n");
	char *expanded = NULL;
	if (!name || line[name] != '/' || name + 1 >= word)
		return NULL;
	if (name == 1 && *line == 'x')
		return expand_examine(format, word - name - 1, rest);
	/* print takes the letter itself; ptype needs no /o for offsets. */
	bool is_ptype = name == 5 && !strncmp(line, "ptype", 5);
	if (!(name == 1 && *line == 'p') && !(name == 5 && !strncmp(line, "print", 5)) && !is_ptype)
		return NULL;
	int size = is_ptype ? asprintf(&expanded, "ptype %s", rest)
			    : asprintf(&expanded, "print /%.*s %s", (int)(word - name - 1), format,
				       rest);
	return size < 0 ? NULL : expanded;
}
