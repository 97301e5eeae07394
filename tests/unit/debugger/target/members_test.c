// SPDX-License-Identifier: GPL-3.0-or-later
/* Places of members that are remembered are those that a search finds. */
#include "tests/unit/btf_samples.h"

#include "debugger/target/members.h"
#include <stdlib.h>

static const char *const paths[] = {
	"next",	   "a",		 "b",	       "x",	     "y",     "y[3]",
	"y[8]",	   "nothing",	 "next.next",  "nodes[2].y", "field", "plain",
	"grid[1]", "grid[1][2]", "nodes[3].b", "",	     "x.",    "flexible[1000].x"
};
static const char *const structs[] = { "node", "table", "old" };

static void compare(struct members *members, struct type type, const char *path)
{
	struct type_place wanted = { .bit_offset = 0 };
	struct member found = { .place.bit_offset = 1 };
	struct error *expected = type_find_path(type, path, &wanted);
	struct error *error = members_find(members, type, path, &found);
	CHECK(!error == !expected);
	CHECK(members_has(members, type, path) == !expected);
	if (expected && error)
		CHECK_STRING(error->message, expected->message);
	else
		CHECK(found.place.bit_offset == wanted.bit_offset &&
		      found.place.bit_size == wanted.bit_size &&
		      type_equal(found.place.type, wanted.type));
	error_free(expected);
	error_free(error);
}

static void test_as_searched(void)
{
	struct libbpf_btf *sample = sample_create();
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf = NULL;
	struct members *members = NULL;
	CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
	CHECK_OK(members_create(&members));
	/* The second time they are remembered; without a memory they are searched for. */
	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
			for (size_t j = 0; j < sizeof(paths) / sizeof(paths[0]); j++)
				compare(turn < 2 ? members : NULL,
					named(btf, BTF_STRUCT, structs[i]), paths[j]);
	members_destroy(members);
	btf_close(btf);
	free(data);
	btf__free(sample);
}

/* A path that is too long to be kept, and more questions than there is room for. */
static void test_many(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	int number = btf__add_int(sample, "int", 4, BTF_INT_SIGNED);
	char name[64];
	btf__add_struct(sample, "wide", 4 * 2000);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name),
			 i % 7 ? "m%d" : "a_member_with_a_name_beyond_forty_bytes_%d", i);
		btf__add_field(sample, name, number, 32 * i, 0);
	}
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf = NULL;
	struct members *members = NULL;
	CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
	CHECK_OK(members_create(&members));
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 2000; i += 3) {
			snprintf(name, sizeof(name),
				 i % 7 ? "m%d" : "a_member_with_a_name_beyond_forty_bytes_%d", i);
			compare(members, named(btf, BTF_STRUCT, "wide"), name);
		}
	members_destroy(members);
	btf_close(btf);
	free(data);
	btf__free(sample);
}

int main(void)
{
	RUN(test_as_searched);
	RUN(test_many);
	return test_finish();
}
