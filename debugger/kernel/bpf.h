/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BPF programs in memory: struct bpf_prog_aux (kernel include/linux/bpf.h), whose own BTF has the
 * names of functions and files and the very text of the source lines. KERNEL-FORMATS section 8.
 */
#ifndef DEBUGGER_KERNEL_BPF_H
#define DEBUGGER_KERNEL_BPF_H

#include "debugger/target/target.h"

/* A function of a program, as it was JITed. */
struct bpf_function {
	uint64_t aux; /* address of its struct bpf_prog_aux */
	uint32_t id;  /* of the program; 0: of a subprogram, which has none of its own */
	char tag[17]; /* hexadecimal */
	char name[SYMBOL_NAME_SIZE]; /* by its BTF, else the 15 bytes that the kernel keeps */
	char prototype[256];	     /* "int read_page(u64 pointer)", "" without BTF */
};

struct bpf_line {
	char file[256];
	char source[256]; /* the line itself, blanks in front taken off */
	uint32_t line, column;
};

/* `aux`: owner of a GENERATED_BPF_PROGRAM. What cannot be read of names stays "". */
struct error *bpf_function_read(struct target *target, uint64_t aux,
				struct bpf_function *ret) MUST_CHECK;
/*
 * The line of source of the instruction at `pc`, or before it when it is a return address
 * (`exact` false). ret->line 0: the program has no line information for it.
 */
struct error *bpf_line_at(struct target *target, uint64_t aux, uint64_t pc, bool exact,
			  struct bpf_line *ret) MUST_CHECK;

/* Where the code of a line begins; address 0: the verifier removed it. */
typedef struct error *bpf_line_visitor(void *context, uint64_t address,
				       const struct bpf_line *line);
/* All lines of a program, in the order of its instructions; `aux`: its, or a function's of it. */
struct error *bpf_for_each_line(struct target *target, uint64_t aux, bpf_line_visitor *visit,
				void *context) MUST_CHECK;

#endif
