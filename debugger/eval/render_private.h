/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the renderer: what render.c (structs, arrays), render_scalar.c and render_short.c share.
 */
#ifndef DEBUGGER_EVAL_RENDER_PRIVATE_H
#define DEBUGGER_EVAL_RENDER_PRIVATE_H

#include "debugger/eval/image.h"
#include "debugger/eval/value.h"

/* Where in the image a value lies. */
struct slot {
	struct type type;
	uint64_t offset;		/* bytes */
	uint32_t bit_offset;		/* 0 to 7, of a bit-field */
	uint32_t bit_size;		/* 0: not a bit-field */
	const struct flag_names *flags; /* of its bits; NULL: they have none */
};

struct renderer {
	struct out *out;
	const struct render_options *options;
	struct target *target;
	struct image image;
	unsigned int depth;  /* of nesting at the moment */
	unsigned int indent; /* tabs at the start of a line */
	unsigned int column; /* about where the line is, for folding */
	uint64_t nodes;	     /* values written: hostile types may nest without end */
	uint64_t members;    /* of structs, written */
	bool quiet;	     /* JSON only: text shows this value as a repetition */
	bool cut;	     /* a limit left something out */
	uint64_t text_start; /* of the kernel; 0 unknown */
	struct type whole;   /* whose members are written; not an anonymous part of it */
	uint64_t address;    /* of the image in the target; 0: nowhere */
};

#define RENDER_TEXT_SIZE 1024

/* Scalars: one field. `record` is the resolved type of the slot. */
void render_scalar(struct renderer *renderer, const char *key, const struct slot *slot,
		   const struct btf_type *record);
/* A function is shown as where it is. */
void render_function(struct renderer *renderer, const char *key, uint64_t address);
/* char[]: a string up to its NUL. */
void render_string(struct renderer *renderer, const char *key, const struct slot *slot,
		   uint64_t size);
void render_missing(struct renderer *renderer, const char *key, const struct error *error);
/* A word in the place of a value; null in JSON. */
void render_note(struct renderer *renderer, const char *key, const char *note);
bool type_is_char(struct type type);
/* "0x... <symbol+0x10>" of a pointer of a type; with `raw` only the number. True: it ends in a
 * string in quotes (out_quoted()) instead of the symbol. */
bool render_pointer_text(const struct renderer *renderer, struct type type, uint64_t address,
			 char text[RENDER_TEXT_SIZE]);
void render_number_text(const struct renderer *renderer, uint64_t value, bool is_signed,
			uint64_t size, char text[RENDER_TEXT_SIZE]);
/* The integer, enum or pointer of a slot, extended to 64 bits. */
uint64_t render_load(const struct renderer *renderer, const struct slot *slot, uint64_t size);
/* printf() behind what is there. */
void render_append(char text[RENDER_TEXT_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);
/* In quotes, with C's escapes for quotes and backslashes; the sink sees to the rest, and has to be
 * told: out_quoted(). */
void render_quote(const char *from, size_t length, char *to, size_t size);
/*
 * Well-known structs (atomics, locks, lists, sets of CPUs) in a few words, "{ locked, owner = 12
 * \"bash\" }". A struct is known by its name and its members; false: show it as any other.
 * *ret_quoted: it has a string in quotes.
 */
bool render_short_text(const struct renderer *renderer, const struct slot *slot,
		       char text[RENDER_TEXT_SIZE], bool *ret_quoted);

#endif
