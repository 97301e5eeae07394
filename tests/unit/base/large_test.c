// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory for large buffers: of each size all of it is there, and realloc() and free() take it. */
#include "base/large.h"

#include "tests/unit/test.h"
#include <stdint.h>
#include <string.h>

static void check_size(size_t size)
{
	uint8_t *data = large_malloc(size);
	CHECK(data);
	if (!data)
		return;
	memset(data, 0x5a, size);
	if (size >= HUGE_PAGE)
		CHECK_U64((uintptr_t)data % HUGE_PAGE, 0);
	uint8_t *grown = realloc(data, size * 2 + 1);
	CHECK(grown);
	if (!grown) {
		free(data);
		return;
	}
	for (size_t i = 0; i < size; i += 509)
		CHECK_U64(grown[i], 0x5a);
	free(grown);
}

static void test_sizes(void)
{
	static const size_t sizes[] = {
		0, 1, 4096, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 3 * HUGE_PAGE + 77
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_size(sizes[i]);
}

int main(void)
{
	RUN(test_sizes);
	return test_finish();
}
