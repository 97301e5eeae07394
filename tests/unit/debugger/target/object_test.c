// SPDX-License-Identifier: GPL-3.0-or-later
/* Members of an object that was read as a whole are those of one that was not. */
#include "debugger/target/object.h"

#include "base/array.h"
#include "tests/unit/infer_machine.h"

#define SIZE 40u

/* The last member of the second one lies where there is no memory. */
static uint8_t contents[MACHINE_PAGE];
static struct machine machine;

static const char *const paths[] = {
	"wide", "byte", "minus", "inner.low", "inner.high", "pointer"
};

static void add_types(void)
{
	struct libbpf_btf *btf = machine.source;
	int wide = btf__add_int(btf, "long unsigned int", 8, 0);
	int byte = btf__add_int(btf, "unsigned char", 1, 0);
	int minus = btf__add_int(btf, "int", 4, 1);
	int inner = btf__add_struct(btf, "inner", 8);
	add_member(btf, "low", minus, 0);
	add_member(btf, "high", minus, 4);
	/* To what comes right behind. */
	int pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "thing", SIZE);
	add_member(btf, "wide", wide, 0);
	add_member(btf, "byte", byte, 9);
	add_member(btf, "minus", minus, 12);
	add_member(btf, "inner", inner, 16);
	add_member(btf, "pointer", pointer, 32);
}

/* Each member of both is the same, or fails with the same words. */
static void compare(const struct object *whole, const struct object *parts)
{
	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		uint64_t left = 0, right = 0;
		struct error *one = object_u64(whole, paths[i], &left),
			     *other = object_u64(parts, paths[i], &right);
		CHECK(!one == !other && (!one || !strcmp(one->message, other->message)));
		CHECK_U64(left, right);
		error_free(one);
		error_free(other);
	}
	struct object left = { .address = 1 }, right = { .address = 1 };
	struct error *one = object_follow(whole, "pointer", &left),
		     *other = object_follow(parts, "pointer", &right);
	CHECK(!one == !other && left.address == right.address && !left.bytes);
	error_free(one);
	error_free(other);
}

static void test_members(void)
{
	uint8_t buffer[SIZE];
	for (uint64_t at = 0; at < sizeof(contents); at += 8) {
		struct object whole, parts;
		CHECK_OK(object_at(&machine.target, "struct thing", DATA + at, &parts));
		whole = parts;
		object_load(&whole, buffer, sizeof(buffer));
		CHECK(!whole.bytes == (at + SIZE > sizeof(contents)));
		compare(&whole, &parts);
	}
}

/* What was read is what counts, and not what is there by now. */
static void test_once(void)
{
	uint8_t buffer[SIZE];
	struct object thing;
	uint64_t value;
	CHECK_OK(object_at(&machine.target, "struct thing", DATA, &thing));
	object_load(&thing, buffer, sizeof(buffer) - 1);
	CHECK(!thing.bytes);
	object_load(&thing, buffer, sizeof(buffer));
	contents[9]++;
	CHECK_OK(object_u64(&thing, "byte", &value));
	CHECK_U64(value + 1, contents[9]);
	contents[9]--;
	struct object inner;
	CHECK_OK(object_member(&thing, "inner", &inner));
	CHECK(!inner.bytes && inner.address == DATA + 16);
}

int main(void)
{
	uint64_t state = 1;
	for (size_t i = 0; i < sizeof(contents); i++)
		contents[i] = (uint8_t)next_random(&state);
	contents[9] = 7;
	machine_init(&machine);
	add_types();
	machine_set_types(&machine);
	machine_add_part(&machine, DATA, contents, sizeof(contents));
	RUN(test_members);
	RUN(test_once);
	machine_deinit(&machine);
	return test_finish();
}
