// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <string.h>

const struct fuzz_entry fuzz_entries[] = {
	{ "elf", fuzz_elf, 16384 },
	{ "diskdump", fuzz_diskdump, 65536 },
	{ "flattened", fuzz_flattened, 65536 },
	{ "lime", fuzz_lime, 4096 },
	{ "avml", fuzz_avml, 4096 },
	{ "raw", fuzz_raw, 16384 },
	{ "vmcoreinfo", fuzz_vmcoreinfo, 8192 },
	{ "kallsyms", fuzz_kallsyms, 32768 },
	{ "kallsyms-scan", fuzz_kallsyms_scan, 65536 },
	{ "module", fuzz_module, 8192 },
	{ "btf", fuzz_btf, 8192 },
	{ "btf-split", fuzz_btf_split, 16384 },
	{ "btf-sizes", fuzz_btf_sizes, 1024 },
	{ "btf-search", fuzz_btf_search, 4096 },
	{ "orc", fuzz_orc, 4096 },
	{ "lower", fuzz_lower, 512 },
	{ "symbolic", fuzz_symbolic, 512 },
	{ "printk", fuzz_printk, 8192 },
	{ "expression", fuzz_expression, 256 },
	{ "declaration", fuzz_declaration, 512 },
	{ "line", fuzz_line, 256 },
	{ "hints", fuzz_hints, 8192 },
	{ "cache", fuzz_cache, 8192 },
	{ "structures", fuzz_structures, 256 },
};
const size_t fuzz_entry_count = sizeof(fuzz_entries) / sizeof(fuzz_entries[0]);

void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

uint64_t fuzz_take(struct fuzz_input *input, size_t bytes)
{
	uint64_t value = 0;
	for (size_t i = 0; i < bytes && input->size; i++) {
		value |= (uint64_t)*input->data++ << i * 8;
		input->size--;
	}
	return value;
}

void fuzz_done(struct error *error)
{
	if (!error)
		return;
	EXPECT(*error->message);
	error_free(error);
}
