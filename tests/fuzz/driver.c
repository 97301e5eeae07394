// SPDX-License-Identifier: GPL-3.0-or-later
/* One target for libFuzzer, by its name in $FUZZ_TARGET. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <string.h>

/* libkdumpfile, which opens what is of neither of our formats, is another project's. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libkdumpfile\nleak:libaddrxlat\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_entry *chosen;
	for (size_t i = 0; !chosen && i < fuzz_entry_count; i++)
		if (!strcmp(fuzz_entries[i].name, getenv("FUZZ_TARGET") ?: ""))
			chosen = &fuzz_entries[i];
	if (!chosen) {
		fputs("FUZZ_TARGET must be one of:", stderr);
		for (size_t i = 0; i < fuzz_entry_count; i++)
			fprintf(stderr, " %s", fuzz_entries[i].name);
		fputc('\n', stderr);
		exit(2);
	}
	if (size <= chosen->size_limit)
		chosen->run(data, size);
	return 0;
}
