// SPDX-License-Identifier: GPL-3.0-or-later
/* How long an array is: by its bytes, by who points at it, by the number of its name. */
#include "debugger/infer/evidence/counted.h"
#include "debugger/infer/known/declared_length.h"
#include "debugger/infer/solve/array_length.h"
#include "tests/unit/eval_fixture.h"
#include "tests/unit/infer_asked.h"

struct counts {
	uint64_t rows, cells;
	uint32_t count, n_rows;
	uint8_t flags;
};

static struct fixture *fixture; /* of the test that runs */

static struct asked *create(void)
{
	fixture = fixture_create("");
	int pointer = btf__add_ptr(fixture->source, fixture->ids.point);
	int byte = btf__add_int(fixture->source, "char", 1, 0);
	btf__add_struct(fixture->source, "counts", sizeof(struct counts));
	add_member(fixture->source, "rows", pointer, offsetof(struct counts, rows));
	add_member(fixture->source, "cells", pointer, offsetof(struct counts, cells));
	add_member(fixture->source, "count", fixture->ids.uint, offsetof(struct counts, count));
	add_member(fixture->source, "n_rows", fixture->ids.uint, offsetof(struct counts, n_rows));
	add_member(fixture->source, "flags", byte, offsetof(struct counts, flags));
	btf__add_struct(fixture->source, "point_device_id", 8);
	add_member(fixture->source, "x", fixture->ids.uint, 0);
	add_member(fixture->source, "y", fixture->ids.uint, 4);
	btf__add_enum(fixture->source, NULL, 4);
	btf__add_enum_value(fixture->source, "NR_SOFTIRQS", 5);
	btf__add_enum_value(fixture->source, "__SCHED_FEAT_NR", INT32_MAX);
	uint32_t size;
	btf_close(fixture->btf);
	const void *raw = btf__raw_data(fixture->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	fixture->target.btf = fixture->btf;
	struct asked *asked = asked_create(&fixture->target);
	ask(asked, "thing", 64);
	memset(asked->bytes, 0, sizeof(asked->bytes));
	return asked;
}

static void destroy(struct asked *asked)
{
	asked_destroy(asked);
	fixture_destroy(fixture);
}

static uint32_t find(const struct asked *asked, const char *name)
{
	return layout_find(asked->layout, BTF_STRUCT, name);
}

static void test_in_use(void)
{
	struct asked *asked = create();
	uint32_t point = find(asked, "point"), id = find(asked, "point_device_id");
	/* Zeros tell nothing. */
	CHECK_U64(array_estimate(&asked->question, point, 8), 8);
	asked->bytes[8 * 4] = 1;
	CHECK_U64(array_estimate(&asked->question, point, 8), 5);
	/* A list of ids ends with an empty one. */
	CHECK_U64(array_estimate(&asked->question, id, 8), 6);
	asked->bytes[63] = 1;
	CHECK_U64(array_estimate(&asked->question, point, 8), 8);
	CHECK_U64(array_estimate(&asked->question, id, 8), 8);
	/* No alignment leaves more than 31 bytes, so these are elements. */
	memset(asked->bytes, 0, sizeof(asked->bytes));
	asked->bytes[8] = 1;
	CHECK_U64(array_estimate(&asked->question, point, 8), 8);
	/* What is not read to its end, and what kallsyms knows the size of. */
	asked->bytes[8 * 4] = 1;
	asked->question.size = 40;
	CHECK_U64(array_estimate(&asked->question, point, 8), 8);
	asked->question.size = 64;
	asked->subject.room_is_exact = true;
	CHECK_U64(array_estimate(&asked->question, point, 8), 8);
	destroy(asked);
}

static void test_end(void)
{
	struct asked *asked = create();
	struct question *question = &asked->question;
	uint32_t point = find(asked, "point"), id = find(asked, "point_device_id");
	bool is_sure;
	asked->subject.address = 0xffffffff81000000;
	CHECK_U64(array_end(question, id, false, &is_sure), 0);
	for (int i = 0; i < 3; i++)
		asked->bytes[8 * i] = 1;
	/* One of zeros ends it, and alignment explains the rest; of points nothing is known. */
	CHECK_U64(array_end(question, id, false, &is_sure), 4);
	CHECK(is_sure);
	CHECK_U64(array_end(question, point, false, &is_sure), 0);
	CHECK(array_is_list(question, id) && !array_is_list(question, point));
	CHECK(array_ends_with_empty(asked->layout, id));
	CHECK(!array_ends_with_empty(asked->layout, point));
	/* Something else follows, or the next symbol is aligned less. */
	asked->bytes[48] = 1;
	CHECK_U64(array_end(question, id, false, &is_sure), 4);
	CHECK(!is_sure);
	asked->bytes[48] = 0;
	asked->subject.address += 16;
	CHECK_U64(array_end(question, id, false, &is_sure), 4);
	CHECK(!is_sure);
	asked->subject.room_is_exact = true;
	CHECK_U64(array_end(question, id, false, &is_sure), 0);
	destroy(asked);
}

static void test_end_of_text(void)
{
	struct asked *asked = create();
	struct question *question = &asked->question;
	uint32_t character = asked->layout->character, point = find(asked, "point");
	bool is_sure;
	asked->subject.address = 0xffffffff81000000;
	memcpy(asked->bytes, "prev_comm=%s prev_pid=%d next_pid=%d", 36);
	CHECK_U64(array_end(question, character, true, &is_sure), 37);
	CHECK(is_sure);
	/* A buffer may be longer than what is in it. */
	question->is_constant = question->has_literals = false;
	CHECK_U64(array_end(question, character, false, &is_sure), 0);
	memset(asked->bytes, 1, 64);
	CHECK(array_is_filled(question, point, 8) && !array_is_filled(question, point, 7));
	asked->bytes[63] = 0;
	CHECK_U64(array_in_use(question, point), 8);
	asked->subject.room += 8;
	CHECK(!array_is_filled(question, point, 8));
	destroy(asked);
}

/* An enumerator is the length where the elements end with the room, or a constant may follow. */
static void test_declared(void)
{
	struct asked *asked = create();
	struct question *question = &asked->question;
	uint32_t point = find(asked, "point");
	bool is_sure;
	struct declared_length why = { .enumerator = NULL };
	CHECK_U64(declared_length(asked->layout->btf, "softirq_vec", &why), 5);
	CHECK_STRING(why.enumerator, "NR_SOFTIRQS");
	CHECK_U64(declared_length(asked->layout->btf, "oid_index", NULL), 0);
	CHECK_U64(declared_length(asked->layout->btf, "thing", NULL), 0);
	/* BTF's own number, whatever it is, makes no array longer than its room. */
	CHECK_U64(declared_length(asked->layout->btf, "sched_feat_keys", NULL), 0);
	CHECK_U64(array_declared(question, point, &is_sure), 0);
	asked->symbol.name = "softirq_vec";
	asked->subject.address = 0xffffffff81000000;
	question->has_literals = false;
	CHECK_U64(array_declared(question, point, &is_sure), 5);
	/* Nothing shows that the last one is there. */
	CHECK(!is_sure);
	asked->bytes[8 * 4] = 1;
	CHECK_U64(array_declared(question, point, &is_sure), 5);
	CHECK(is_sure);
	asked->bytes[8 * 5] = 1;
	CHECK_U64(array_declared(question, point, &is_sure), 0);
	question->has_literals = true;
	CHECK_U64(array_declared(question, point, &is_sure), 5);
	asked->bytes[8 * 5] = 0;
	question->has_literals = false;
	/* There is no room for five of 32 bytes, and no alignment leaves 24 before such an address.
	 */
	CHECK_U64(array_declared(question, find(asked, "counts"), &is_sure), 0);
	asked->subject.address += 8;
	CHECK_U64(array_declared(question, point, &is_sure), 0);
	asked->subject.address -= 8;
	asked->subject.room_is_exact = true;
	CHECK_U64(array_declared(question, point, &is_sure), 0);
	destroy(asked);
}

static uint64_t counted(const struct asked *asked, const struct counts *counts, size_t offset)
{
	return counted_by(asked->layout, find(asked, "counts"), (uint32_t)offset,
			  (const uint8_t *)counts, false);
}

static void test_counted(void)
{
	struct asked *asked = create();
	struct counts counts = { .count = 3, .n_rows = 5 };
	CHECK_U64(counted(asked, &counts, offsetof(struct counts, rows)), 5);
	/* "count" is of the pointer right before it. */
	CHECK_U64(counted(asked, &counts, offsetof(struct counts, cells)), 3);
	CHECK_U64(counted(asked, &counts, offsetof(struct counts, flags)), 0);
	CHECK_U64(counted(asked, &counts, 4), 0);
	destroy(asked);
}

static bool says_many(struct asked *asked, const char *name)
{
	asked->symbol.name = name;
	CHECK_OK(names_prepare(&asked->question));
	return asked->question.says_many;
}

static void test_number_of_name(void)
{
	struct asked *asked = create();
	CHECK(says_many(asked, "my_entries"));
	CHECK(says_many(asked, "my_entries.12"));
	CHECK(says_many(asked, "entry_table"));
	CHECK(!says_many(asked, "my_entry"));
	CHECK(!says_many(asked, "my_ops"));
	CHECK(!says_many(asked, "status"));
	CHECK(!says_many(asked, "class"));
	CHECK(!says_many(asked, "_"));
	CHECK(!says_many(asked, ""));
	destroy(asked);
}

int main(void)
{
	RUN(test_in_use);
	RUN(test_end);
	RUN(test_end_of_text);
	RUN(test_declared);
	RUN(test_counted);
	RUN(test_number_of_name);
	return test_finish();
}
