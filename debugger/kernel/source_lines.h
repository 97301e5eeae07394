/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places in the source that the kernel itself has: of BUGs and WARNs and of debug messages it keeps
 * file and line, and where their code is. Each proves that code of that line stands at that
 * address; the function around it may be another one, which it was inlined into. Of the lines of
 * other addresses nothing is known: compilers move code.
 */
#ifndef DEBUGGER_KERNEL_SOURCE_LINES_H
#define DEBUGGER_KERNEL_SOURCE_LINES_H

#include "debugger/target/target.h"

enum line_kind { LINE_BUG, LINE_WARNING, LINE_DEBUG_MESSAGE };
/* "BUG", "WARN", "debug message". */
const char *line_kind_name(enum line_kind kind);

struct line_fact {
	uint64_t address;
	uint64_t function; /* address of the symbol around it */
	const char *file;
	const char *within; /* the function that it is written in; NULL: not known */
	uint32_t line;
	enum line_kind kind;
	bool is_near;	  /* it stands up to some 60 bytes behind the address */
	bool is_function; /* what it is written in is the function around it */
};

struct source_lines;

/* Errors are fatal ones: a kernel that has no such tables has no lines. */
struct error *source_lines_create(struct target *target, struct source_lines **ret) MUST_CHECK;
void source_lines_destroy(struct source_lines *lines);

/* Those of the function whose symbol is at `address`, by address. *ret is borrowed. */
size_t source_lines_of(const struct source_lines *lines, uint64_t address,
		       const struct line_fact **ret);
size_t source_lines_count(const struct source_lines *lines);
/* All, by address. */
const struct line_fact *source_lines_all(const struct source_lines *lines);

enum file_proof {
	FILE_UNKNOWN,
	FILE_FILLED, /* its neighbours on both sides are of that file, and files stay together when
		      * a kernel is linked; wrong where one source includes another */
	FILE_CODE,   /* code of no other source file is known in it, but that may be inlined */
	FILE_WRITTEN /* something that is written in the function itself says so */
};
/* "written there"...: in words. */
const char *file_proof_name(enum file_proof proof);
/* The file that a function is written in. *ret is borrowed, NULL: FILE_UNKNOWN. */
enum file_proof source_lines_file(const struct source_lines *lines, const struct symbol *function,
				  const char **ret);

#endif
