// SPDX-License-Identifier: GPL-3.0-or-later
/* Places that refer to an address, found without decoding. */
#include "debugger/code/references.h"

#include "base/array.h"
#include "tests/unit/test.h"

#define TEXT 0xffffffff81000000u
#define DATA 0xffffffff82000000u

static uint64_t places[64];
static size_t place_count;

static void add_place(void *context, uint64_t address)
{
	(void)context;
	if (place_count < ARRAY_COUNT(places))
		places[place_count++] = address;
}

static void test_references(void)
{
	static uint8_t text[4096];
	struct reference_scan scan = { DATA, 64, NULL, add_place };
	memset(text, 0x90, sizeof(text));
	/* At every place of a block, and in the last, partial one. */
	for (size_t at = 0; at + 4 <= sizeof(text); at += at < 600 ? 1 : 97) {
		for (int form = 0; form < 3; form++) {
			uint32_t value = form == 0   ? (uint32_t)(DATA + 63)
					 : form == 1 ? (uint32_t)(DATA - (TEXT + at + 4))
						     : (uint32_t)(DATA + 63 - (TEXT + at + 8));
			uint8_t saved[4];
			memcpy(saved, text + at, 4);
			memcpy(text + at, &value, 4);
			place_count = 0;
			references_find(&scan, text, sizeof(text) - 1, TEXT);
			bool is_cut = at + 4 > sizeof(text) - 1;
			CHECK_U64(place_count, is_cut ? 0 : 1);
			CHECK(is_cut || places[0] == TEXT + at);
			memcpy(text + at, saved, 4);
		}
	}
	uint32_t beyond = (uint32_t)(DATA + 64);
	memcpy(text + 100, &beyond, 4);
	place_count = 0;
	references_find(&scan, text, sizeof(text), TEXT);
	references_find(&scan, text, 3, TEXT);
	references_find(&scan, text, 0, TEXT);
	CHECK_U64(place_count, 0);
}

int main(void)
{
	RUN(test_references);
	return test_finish();
}
