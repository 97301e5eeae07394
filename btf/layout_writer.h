/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between layout_text.c (structs and their comments) and layout_type.c (the types of members). */
#ifndef BTF_LAYOUT_WRITER_H
#define BTF_LAYOUT_WRITER_H

#include "btf/layout.h"

struct layout_writer {
	struct btf_layouts *layouts;
	const struct btf_layout_style *style;
	struct strbuf *text;
	uint32_t members; /* written */
	int depth;	  /* of braces */
	struct error *error;
};

/* Where in the text a struct or union is; a copy goes down to what it holds. */
struct layout_frame {
	int indent;		    /* tabs */
	int type_width, name_width; /* of the columns; deep inside they go below 0 */
	uint32_t base;		    /* of the struct in the whole, bytes */
	uint32_t *cache_line;	    /* the last one named */
	bool relative;		    /* behind a pointer: offsets begin at 0 */
	bool in_union;		    /* somewhere above */
	bool is_first, is_last;	    /* of the members of the innermost struct */
	bool with_trailer;
};

/* "struct x {" to "}", attributes and `suffix`. */
void layout_put_braces(struct layout_writer *writer, struct layout_frame frame,
		       const struct btf_type *record, const char *suffix);
/* A member's type around its name; true when it is one in braces, with only the name behind. */
bool layout_put_type(struct layout_writer *writer, struct layout_frame frame, struct type type,
		     const char *name);

#endif
