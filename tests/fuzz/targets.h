/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz targets: each takes any bytes as what one parser of foreign bytes reads, and asks all that
 * can be asked about the result. A finding is a sanitizer's report, a failed EXPECT() or a hang.
 *
 * The same functions run under libFuzzer (driver.c, `make fuzz`) and, over the inputs that are kept
 * in corpus/, as the unit test corpus_test.c.
 */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void fuzz_target(const uint8_t *data, size_t size);

struct fuzz_entry {
	const char *name; /* of the folder in corpus/ */
	fuzz_target *run;
	size_t size_limit; /* bytes of input that are worth trying */
};
extern const struct fuzz_entry fuzz_entries[];
extern const size_t fuzz_entry_count;

/* What must hold whatever the input. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fuzz_fail(__FILE__, __LINE__, #condition);                                 \
	} while (0)
void fuzz_fail(const char *file, int line, const char *what);

/* Bytes to choose by, taken from the start of the input; zeros behind its end. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};
uint64_t fuzz_take(struct fuzz_input *input, size_t bytes);

/* Error messages are one line of text, and freed. */
void fuzz_done(struct error *error);

/* files.c */
fuzz_target fuzz_elf, fuzz_diskdump, fuzz_flattened, fuzz_lime, fuzz_avml, fuzz_raw,
	fuzz_vmcoreinfo, fuzz_hints, fuzz_cache;
/* symbols.c */
fuzz_target fuzz_kallsyms, fuzz_kallsyms_scan, fuzz_module;
/* types.c */
fuzz_target fuzz_btf, fuzz_btf_split, fuzz_btf_sizes, fuzz_btf_search;
/* code.c */
fuzz_target fuzz_orc, fuzz_lower, fuzz_symbolic;
/* log.c */
fuzz_target fuzz_printk;
/* text.c */
fuzz_target fuzz_expression, fuzz_declaration, fuzz_line;
/* structures.c */
fuzz_target fuzz_structures;

#endif
