/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of a page of HTML that needs nothing from elsewhere. All text is escaped here, whoever it
 * comes from; the page's own policy allows no script and no style but the page's own.
 */
#ifndef DEBUGGER_SHOW_HTML_H
#define DEBUGGER_SHOW_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As text, or as the value of an attribute in quotes. */
void html_text(FILE *file, const char *text, size_t size);
void html_string(FILE *file, const char *text);
/* Bytes of the dump, with what cannot be printed escaped. */
void html_raw(FILE *file, const char *text, size_t size);
/* What out_color_create() wrote: its colours become classes. */
void html_colored(FILE *file, const char *text, size_t size);
/* The lines of a log: those of oopses, warnings and the panic are marked, the first one is #oops.
 */
void html_log(FILE *file, const char *text, size_t size);
/* Whether that marks any. */
bool html_log_is_marked(const char *text, size_t size);
/* What out_csv_create() wrote, as a table that a reader may sort. */
void html_table(FILE *file, const char *csv, size_t size);

void html_begin(FILE *file, const char *title);
void html_end(FILE *file);

#endif
