// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/html.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/styles.h"
#include <stdbool.h>
#include <string.h>

/*
 * The policy names these two by their SHA-256, in base64: a change of one changes its sum, which
 * the session group `report` computes.
 */
static const char style[] =
	":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#5c6670;--line:#d5dae0;"
	"--shade:#f4f6f8;--bad:#b3261e;--badshade:#fdecea;--guess:#8a6100;--bar:#3b6ea5}"
	"@media(prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e4e7ea;--soft:#9aa4ae;"
	"--line:#363c44;--shade:#1e2227;--bad:#ff8a80;--badshade:#3a1f1d;--guess:#e0b050;"
	"--bar:#6fa3d8}}"
	"*{box-sizing:border-box}"
	"body{margin:0 auto;max-width:76rem;padding:1rem 1.25rem 3rem;background:var(--paper);"
	"color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
	"h1{font-size:1.35rem;line-height:1.3;margin:.2rem 0 .6rem;overflow-wrap:anywhere}"
	"h2{font-size:1.05rem;margin:0}"
	"p{margin:.3rem 0}"
	"nav{font-size:.9rem;margin:.8rem 0}nav a{margin-right:1rem}"
	"a{color:var(--bar)}"
	"pre,code{font:12.5px/1.45 ui-monospace,'DejaVu Sans Mono',monospace}"
	"pre{margin:.5rem 0;padding:.6rem .75rem;background:var(--shade);border-radius:4px;"
	"white-space:pre-wrap;overflow-wrap:anywhere}"
	"code{overflow-wrap:anywhere}"
	"details,section{border-top:1px solid var(--line);padding:.6rem 0}"
	"summary{cursor:pointer}summary h2{display:inline}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}"
	"dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;min-width:0}"
	"ul{margin:.3rem 0;padding-left:1.2rem}li{overflow-wrap:anywhere}li code{color:var(--soft)}"
	".also{margin:.8rem 0 0}.soft{color:var(--soft)}.sure{font-size:.85rem;color:var(--soft)}"
	".h{font-weight:600}.a{color:var(--soft)}.g{color:var(--guess)}.e,.gone{color:var(--bad)}"
	"mark{background:var(--badshade);color:inherit;box-shadow:-.4rem 0 0 var(--bad)}"
	".log{max-height:34rem;overflow:auto}"
	".wide{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}"
	"th,td{text-align:left;padding:.15rem .7rem .15rem 0;border-bottom:1px solid var(--line);"
	"white-space:nowrap}"
	"th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--bar)}"
	".n{text-align:right}"
	"svg{display:block;max-width:100%}.wide svg{max-width:none}"
	"svg text{fill:var(--ink);font:12.5px ui-monospace,'DejaVu Sans Mono',monospace}"
	"svg .end{text-anchor:end}svg .soft{fill:var(--soft)}svg "
	".box{fill:var(--shade);stroke:var(--line)}"
	"svg .in{stroke:var(--bad)}svg .edge{fill:none;stroke:var(--soft)}svg "
	".edge.in{stroke:var(--"
	"bad)}svg .bar{fill:var(--bar)}svg .rest{fill:var(--shade);stroke:var(--line)}"
	"@media(max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.3rem}}"
	"@media "
	"print{:root{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--shade:#fff;--bar:#444}"
	"body{max-width:none;padding:0;font-size:10pt}pre,code{font-size:8pt}.log{max-height:none;"
	"overflow:visible}nav{display:none}details,section{break-inside:auto}}";

/* Without it the table is in the order of `ps`, and the headings are only headings. */
static const char script[] =
	"document.querySelectorAll('table').forEach(function(t){"
	"t.querySelectorAll('th').forEach(function(h,i){"
	"var b=document.createElement('button'),d=1;b.type='button';b.textContent=h.textContent;"
	"h.textContent='';h.appendChild(b);"
	"b.addEventListener('click',function(){"
	"var r=Array.from(t.tBodies[0].rows);"
	"r.sort(function(x,y){var p=x.cells[i].textContent,q=y.cells[i].textContent;"
	"return d*p.localeCompare(q,undefined,{numeric:true})});"
	"d=-d;h.setAttribute('aria-sort',d<0?'ascending':'descending');"
	"r.forEach(function(x){t.tBodies[0].appendChild(x)})})})})";

#define STYLE_SUM  "kELUIi5ImJX8vJK1zwg7AOJWPop0l+O4K2l4nNPf2IQ="
#define SCRIPT_SUM "NM7Iz2f0B/NKHQfYuPHP5fA72bsOXWT84A9fY6sAQ2k="

void html_text(FILE *file, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			fputc(text[i], file);
		}
	}
}

void html_string(FILE *file, const char *text)
{
	html_text(file, text, strlen(text));
}

void html_raw(FILE *file, const char *text, size_t size)
{
	while (size) {
		char escape[ESCAPE_SIZE];
		size_t length = escape_next(text, size, false, escape);
		if (*escape)
			html_string(file, escape);
		else
			html_text(file, text, length);
		text += length;
		size -= length;
	}
}

/* The class of a colour, "" of none; *ret_size: bytes of the code, 0: it is none. */
static const char *find_color(const char *text, size_t size, size_t *ret_size)
{
	static const struct {
		const char *code, *name;
	} colors[] = { { STYLE_PLAIN, "" },
		       { STYLE_HEADING, "h" },
		       { STYLE_ADDRESS, "a" },
		       { STYLE_GUESS, "g" },
		       { STYLE_ERROR, "e" } };
	for (size_t i = 0; i < ARRAY_COUNT(colors); i++) {
		*ret_size = strlen(colors[i].code);
		if (size >= *ret_size && !memcmp(text, colors[i].code, *ret_size))
			return colors[i].name;
	}
	*ret_size = 0;
	return "";
}

void html_colored(FILE *file, const char *text, size_t size)
{
	bool is_open = false;
	while (size) {
		const char *escape = memchr(text, '\x1b', size);
		size_t plain = escape ? (size_t)(escape - text) : size, length;
		html_text(file, text, plain);
		text += plain;
		size -= plain;
		if (!size)
			break;
		const char *name = find_color(text, size, &length);
		fputs(is_open ? "</span>" : "", file);
		is_open = *name;
		if (is_open)
			fprintf(file, "<span class=\"%s\">", name);
		/* The sink writes no other one. */
		length = length ?: 1;
		text += length;
		size -= length;
	}
	fputs(is_open ? "</span>" : "", file);
}

/* --- the log -------------------------------------------------------------------------------- */

/* Behind "[    1.234567] ". */
static const char *skip_time(const char *line, size_t *size)
{
	const char *end = *size && *line == '[' ? memchr(line, ']', *size) : NULL;
	if (!end || (size_t)(end - line) + 2 > *size)
		return line;
	*size -= (size_t)(end - line) + 2;
	return end + 2;
}

static bool begins(const char *line, size_t size, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		if (size >= length && !memcmp(line, words[i], length))
			return true;
	}
	return false;
}

/* How the kernel's reports begin and end. */
static bool is_begin(const char *line, size_t size)
{
	static const char *const words[] = {
		"BUG: ",
		"kernel BUG at ",
		"WARNING: ",
		"Oops: ",
		"INFO: task ",
		"general protection fault",
		"Kernel panic - ",
		"watchdog: BUG: ",
		"watchdog: Watchdog ",
		"rcu: INFO: ",
		"divide error: ",
		"invalid opcode: ",
		"traps: PANIC: ",
		"PANIC: ",
		"Unable to handle ",
		"list_add corruption",
		"list_del corruption",
		"stack segment: ",
	};
	line = skip_time(line, &size);
	return begins(line, size, words, ARRAY_COUNT(words));
}

static bool is_end(const char *line, size_t size)
{
	static const char *const words[] = { "---[ end " };
	line = skip_time(line, &size);
	return begins(line, size, words, ARRAY_COUNT(words));
}

/* A report without an end has so many lines. */
#define REPORT_LINES 80

bool html_log_is_marked(const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) + 1 : size;
		if (is_begin(text, length))
			return true;
		text += length;
		size -= length;
	}
	return false;
}

void html_log(FILE *file, const char *text, size_t size)
{
	unsigned int left = 0;
	bool is_first = true;
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;
		if (is_begin(text, length))
			left = REPORT_LINES;
		if (left) {
			fprintf(file, "<mark%s>", is_first ? " id=\"oops\"" : "");
			is_first = false;
			left = is_end(text, length) ? 0 : left - 1;
			html_text(file, text, length);
			fputs("</mark>", file);
		} else {
			html_text(file, text, length);
		}
		fputc('\n', file);
		length += end ? 1 : 0;
		text += length;
		size -= length;
	}
}

/* --- tables --------------------------------------------------------------------------------- */

/* One field of a line of CSV (RFC 4180); *ret_last: nothing of the line is behind it. */
static const char *write_field(FILE *file, const char *text, const char *end, bool *ret_last)
{
	bool is_quoted = text < end && *text == '"';
	text += is_quoted ? 1 : 0;
	while (text < end) {
		if (is_quoted && *text == '"') {
			text++;
			if (text == end || *text != '"')
				break;
		} else if (!is_quoted && (*text == ',' || *text == '\n')) {
			break;
		}
		html_text(file, text++, 1);
	}
	*ret_last = text == end || *text == '\n';
	return text < end ? text + 1 : text;
}

static const char *write_row(FILE *file, const char *text, const char *end, const char *tag)
{
	bool is_last = text == end;
	fputs("<tr>", file);
	while (!is_last) {
		fprintf(file, "<%s>", tag);
		text = write_field(file, text, end, &is_last);
		fprintf(file, "</%s>", tag);
	}
	fputs("</tr>\n", file);
	return text;
}

void html_table(FILE *file, const char *csv, size_t size)
{
	const char *end = csv + size;
	fputs("<div class=\"wide\"><table>\n<thead>", file);
	csv = write_row(file, csv, end, "th");
	fputs("</thead>\n<tbody>\n", file);
	while (csv < end)
		csv = write_row(file, csv, end, "td");
	fputs("</tbody></table></div>\n", file);
}

/* --- the page ------------------------------------------------------------------------------- */

void html_begin(FILE *file, const char *title)
{
	fprintf(file,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action "
		"'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		STYLE_SUM, SCRIPT_SUM);
	html_string(file, title);
	fprintf(file, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

void html_end(FILE *file)
{
	fprintf(file, "<script>%s</script>\n</body>\n</html>\n", script);
}
