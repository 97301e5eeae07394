/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the renderer: what render.c (structs, arrays) and render_scalar.c share. */
#ifndef DEBUGGER_EVAL_RENDER_H
#define DEBUGGER_EVAL_RENDER_H

#include "debugger/eval/image.h"
#include "debugger/eval/value.h"

/* Where in the image a value lies. */
struct slot {
	struct type type;
	uint64_t offset;     /* bytes */
	uint32_t bit_offset; /* 0 to 7, of a bit-field */
	uint32_t bit_size;   /* 0: not a bit-field */
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
	bool quiet;	     /* JSON only: text shows this value as a repetition */
	uint64_t text_start; /* of the kernel; 0 unknown */
};

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

#endif
