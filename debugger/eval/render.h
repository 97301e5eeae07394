/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed values as text and JSON, and the options that say how. The text is for reading: enumerators
 * by name, pointers with what they point to, locks and lists in short. JSON has the data: numbers,
 * addresses, every member. With `raw` the text says just what JSON says.
 */
#ifndef DEBUGGER_EVAL_RENDER_H
#define DEBUGGER_EVAL_RENDER_H

#include "base/error.h"
#include "base/out.h"
#include <stdbool.h>
#include <stddef.h>

struct value;

enum number_base { BASE_DECIMAL, BASE_HEXADECIMAL, BASE_OCTAL };

struct render_options {
	enum number_base base;
	bool base_of_all;   /* of pids too, which are decimal else: of this value it was asked */
	unsigned int depth; /* levels of nesting shown, 0: all */
	unsigned int array_limit;  /* elements shown, 0: all */
	unsigned int string_limit; /* bytes shown, 0: all */
	bool hide_zero;		   /* leave out members whose bytes are all zero */
	bool show_types;	   /* ".pid = (pid_t)1" */
	bool show_offsets;	   /* a comment with a member's offset in the whole, in bytes */
	bool raw;		   /* no short forms, enumerators or symbols */
	unsigned int indent;	   /* tabs before every line of the text but the first */
	bool one_line;		   /* text without line breaks, for cells of tables */
	bool bare_strings;	   /* a string that is the whole value has no quotes */
};
extern const struct render_options render_defaults;

/*
 * Writes the value: C syntax with designated members in text, objects and arrays in JSON. Parts
 * that cannot be read are shown in their places; an error only when nothing can. When a limit cut
 * something off and `key` is not NULL, JSON has the field "KEY_cut": true after it.
 */
struct error *value_render(struct out *out, const char *key, const struct value *value,
			   const struct render_options *options) MUST_CHECK;

/* --- options by name (render_options.c), for `set` and the options of commands -----------------
 */

struct render_setting {
	const char *name;   /* "depth" */
	const char *values; /* "NUMBER", "on|off", "dec|hex|oct" */
	const char *help;   /* one line */
};
/* All of them, in the order to list them. */
extern const struct render_setting render_settings[];
extern const size_t render_setting_count;
/* ERROR_USAGE for names and values that do not exist; the message says which do. */
struct error *render_option_set(struct render_options *options, const char *name,
				const char *value) MUST_CHECK;
/* The value as render_option_set() takes it; "" for an unknown name. Returns `buffer`. */
const char *render_option_text(const struct render_options *options, const char *name, char *buffer,
			       size_t size);

#endif
