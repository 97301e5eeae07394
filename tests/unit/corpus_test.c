// SPDX-License-Identifier: GPL-3.0-or-later
/* What fuzzing found, and a choice of what it tried, again: tests/fuzz/corpus/TARGET/NAME. */
#include "tests/unit/test.h"

#include "tests/fuzz/targets.h"
#include <dirent.h>
#include <stdbool.h>

#define INPUT_MAX (1u << 20)

static uint8_t *read_input(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = malloc(INPUT_MAX);
	if (!file || !data) {
		printf("cannot read %s\n", path);
		exit(1);
	}
	*ret_size = fread(data, 1, INPUT_MAX, file);
	fclose(file);
	/* So that the sanitizer sees its end. */
	uint8_t *exact = malloc(*ret_size ? *ret_size : 1);
	if (!exact)
		abort();
	memcpy(exact, data, *ret_size);
	free(data);
	return exact;
}

/* Runs the inputs of a target; returns how many. A finding ends the program. */
static unsigned int run_corpus(const struct fuzz_entry *entry)
{
	char folder[512], path[1024];
	unsigned int count = 0;
	const char *end = strstr(__FILE__, "unit/corpus_test.c");
	snprintf(folder, sizeof(folder), "%.*sfuzz/corpus/%s", (int)(end - __FILE__), __FILE__,
		 entry->name);
	DIR *inputs = opendir(folder);
	struct dirent *input;
	while (inputs && (input = readdir(inputs))) {
		size_t size;
		if (input->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, input->d_name);
		uint8_t *data = read_input(path, &size);
		/* The last line that is seen says which one it was. */
		printf("%s/%s\n", entry->name, input->d_name);
		fflush(stdout);
		entry->run(data, size);
		free(data);
		count++;
	}
	if (inputs)
		closedir(inputs);
	return count;
}

int main(void)
{
	for (size_t i = 0; i < fuzz_entry_count; i++) {
		bool has_inputs = run_corpus(&fuzz_entries[i]) > 0;
		/* Structures need a dump: the session tests have mutants of one. */
		bool needs_dump = !strcmp(fuzz_entries[i].name, "structures");
		CHECK(has_inputs || needs_dump);
		printf("%s %s\n", has_inputs || needs_dump ? "ok" : "FAIL", fuzz_entries[i].name);
		*(has_inputs || needs_dump ? &test_passed : &test_failed) += 1;
	}
	return test_finish();
}
