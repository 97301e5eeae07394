// SPDX-License-Identifier: GPL-3.0-or-later
/* What lies at an offset of a type, against the compiler's own layout. */
#include "btf/member_path.h"

#include "tests/unit/eval_fixture.h"

static struct fixture *fixture;

static struct type type_of(const char *name)
{
	struct type type = { NULL, 0 };
	CHECK_OK(declare_parse_type(&fixture->target, NULL, name, NULL, &type));
	return type;
}

static struct member_place at(const char *type, uint64_t offset)
{
	struct member_place place;
	member_path_at(type_of(type), offset, &place);
	return place;
}

static void test_paths(void)
{
	struct member_place place = at("struct thing", offsetof(struct thing, points[2].y) + 1);
	CHECK_STRING(place.path, "points[2].y");
	CHECK_U64(place.start, offsetof(struct thing, points[2].y));
	CHECK(!place.in_union && !place.is_padding);
	place = at("struct thing", 3);
	CHECK_STRING(place.path, "name[3]");
	place = at("struct point [4]", 2 * sizeof(struct point) + 4);
	CHECK_STRING(place.path, "[2].y");
	place = at("int", 2);
	CHECK_STRING(place.path, "");
}

static struct member_place whole_at(const char *type, uint64_t offset)
{
	struct member_place place;
	member_path_whole_at(type_of(type), offset, &place);
	return place;
}

static void test_whole_members(void)
{
	struct member_place place = whole_at("struct thing", offsetof(struct thing, points[2]));
	CHECK_STRING(place.path, "points[2]");
	CHECK(type_equal(place.type, type_of("struct point")));
	place = whole_at("struct thing", offsetof(struct thing, points));
	CHECK_STRING(place.path, "points[0]");
	place = whole_at("struct thing", offsetof(struct thing, points[2].y));
	CHECK_STRING(place.path, "points[2].y");
	place = whole_at("struct thing", offsetof(struct thing, points[2].y) + 1);
	CHECK_STRING(place.path, "points[2].y");
	/* Without a name of its own there is nothing to call it by. */
	place = whole_at("struct thing", offsetof(struct thing, number));
	CHECK_STRING(place.path, "number");
}

static void test_unions_and_bits(void)
{
	struct member_place place = at("struct thing", offsetof(struct thing, number));
	CHECK_STRING(place.path, "number");
	CHECK(place.in_union);
	/* Ten bits lie in two bytes: the second is the second field's. */
	place = at("struct thing", offsetof(struct thing, number) + 4);
	CHECK_STRING(place.path, "low");
	place = at("struct thing", offsetof(struct thing, number) + 5);
	CHECK_STRING(place.path, "middle");
}

static void test_padding(void)
{
	uint64_t end = offsetof(struct thing, bytes) + sizeof(((struct thing *)0)->bytes);
	struct member_place place = at("struct thing", end);
	if (end < offsetof(struct thing, points))
		CHECK(place.is_padding);
	/* Past the end nothing is a member. */
	place = at("struct thing", 1 << 20);
	CHECK(place.is_padding);
}

static void test_by_type(void)
{
	struct type thing = type_of("struct thing"), point = type_of("struct point");
	CHECK(member_is_at(thing, 0, thing));
	CHECK(member_is_at(thing, offsetof(struct thing, points[3]), point));
	CHECK(!member_is_at(thing, offsetof(struct thing, points[3]) + 4, point));
	CHECK(member_is_at(thing, offsetof(struct thing, points[3]) + 4, type_of("int")));
	CHECK(!member_is_at(thing, sizeof(struct thing), point));
	/* Both arms of a union. */
	CHECK(member_is_at(thing, offsetof(struct thing, number), type_of("unsigned int")));
	CHECK(member_is_at(thing, offsetof(struct thing, number), type_of("int")));
}

static void test_least_size(void)
{
	CHECK_U64(member_least_size(type_of("struct point")), sizeof(struct point));
	/* It ends in a flexible array. */
	CHECK_U64(member_least_size(type_of("struct thing")), offsetof(struct thing, tail));
	CHECK_U64(member_least_size(type_of("long")), 8);
}

int main(void)
{
	fixture = fixture_create(FIXTURE_DECLARATIONS);
	RUN(test_paths);
	RUN(test_whole_members);
	RUN(test_unions_and_bits);
	RUN(test_padding);
	RUN(test_by_type);
	RUN(test_least_size);
	fixture_destroy(fixture);
	return test_finish();
}
