// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/analysis.h"
#include "debugger/show/html.h"
#include "debugger/show/html_report.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define BLOCKED_SHOWN 4 /* tasks that are blocked: the drawing has all */

static void write_raw(FILE *file, const char *text)
{
	html_raw(file, text, strlen(text));
}

static void write_evidence(FILE *file, const struct finding *finding)
{
	if (!finding->count)
		return;
	fputs("<ul>\n", file);
	for (size_t i = 0; i < finding->count; i++) {
		fputs("<li>", file);
		write_raw(file, finding->evidence[i].text);
		if (finding->evidence[i].command) {
			fputs(" <code>", file);
			write_raw(file, finding->evidence[i].command);
			fputs("</code>", file);
		}
		fputs("</li>\n", file);
	}
	fputs("</ul>\n", file);
}

static void write_finding(FILE *file, const struct finding *finding, bool is_first)
{
	const char *tag = is_first ? "h1" : "p";
	fprintf(file, "<%s%s>", tag, is_first ? "" : " class=\"also\"");
	write_raw(file, finding->summary ?: "");
	fprintf(file, "</%s>\n<p class=\"sure\">", tag);
	html_string(file, confidence_name(finding->sure));
	fputs(" (", file);
	html_string(file, finding->kind);
	fputs(")</p>\n", file);
	write_evidence(file, finding);
}

static void write_term(FILE *file, const char *term, const char *text)
{
	if (!*text)
		return;
	fprintf(file, "<dt>%s</dt><dd>", term);
	write_raw(file, text);
	fputs("</dd>\n", file);
}

static void write_facts(FILE *file, const struct analysis *analysis)
{
	char place[SYMBOL_NAME_SIZE + 96], text[sizeof(place) + 64];
	fputs("<dl>\n", file);
	write_term(file, "Last words", analysis->panic);
	if (analysis->has_task && analysis->count) {
		snprintf(text, sizeof(text), "pid %" PRId32 " \"%s\" on CPU %" PRIu32,
			 analysis->task.pid, analysis->task.comm, analysis->task.cpu);
		write_term(file, "Task", text);
	}
	if (analysis->count && analysis->blamed < analysis->trace.count) {
		analysis_place(analysis, analysis->blamed, place, sizeof(place));
		snprintf(text, sizeof(text), "frame %zu, %s", analysis->blamed, place);
		write_term(file, "Look at", text);
	}
	for (size_t i = 0; i < analysis->unread_count; i++)
		write_term(file, "Not read", analysis->unread[i]->message);
	write_term(file, "Signature", analysis->signature);
	fputs("</dl>\n", file);
}

struct error *html_analysis(struct session *session, FILE *file)
{
	struct analysis analysis;
	size_t blocked = 0;
	struct error *error = analysis_run(session->target, NULL, &analysis);
	if (!error && !analysis.count) {
		const char *words = analysis_nothing_found(&analysis);
		fprintf(file, "<h1>%c%s%s</h1>\n", toupper((unsigned char)*words), words + 1,
			analysis.panicked ? " but that it panicked" : "");
	}
	for (size_t i = 0; i < analysis.count && !error; i++) {
		bool is_blocked = !strcmp(analysis.findings[i].kind, "blocked");
		blocked += is_blocked;
		if (!is_blocked ||
		    (blocked <= BLOCKED_SHOWN && finding_is_about_waiting(&analysis.findings[0])))
			write_finding(file, &analysis.findings[i], !i);
	}
	if (!error)
		write_facts(file, &analysis);
	analysis_deinit(&analysis);
	return error;
}
