// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who takes a file of kernfs away waits for who is in its code: for one task, for several, for some
 * that are not known; and the count of a node that is garbage makes nobody of none of them.
 */
#include "tests/unit/sleeper_fixture.h"

#include "base/array.h"

#define DEACTIVATED (-0x7fffffff)

struct raw_node {
	int32_t active, pad;
};

struct raw_data {
	struct raw_node nodes[2];
	uint64_t tasks[SLEEPER_TASKS];
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	struct sleeper_fixture base;
	struct wait_kernfs_user users[8];
};

/* The first node goes away, and counts `active` who are in its code. */
static void build(struct fixture *fixture, int32_t active)
{
	struct raw_data *data = &fixture->data;
	*data = (struct raw_data){ .nodes[0].active = DEACTIVATED + active };
	sleeper_fixture_init(&fixture->base, data, sizeof(*data), "kernfs_drain");
	struct libbpf_btf *btf = fixture->base.written;
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int counter = btf__add_struct(btf, "atomic_t", 4);
	add_member(btf, "counter", number, 0);
	int node = btf__add_struct(btf, "kernfs_node", sizeof(struct raw_node));
	add_member(btf, "active", counter, 0);
	int argument = btf__add_ptr(btf, node);
	sleeper_fixture_open(&fixture->base, argument, AT(nodes[0]));
	for (unsigned int i = 0; i < SLEEPER_TASKS; i++)
		fixture->base.tasks[i].address = AT(tasks[i]);
}

/* `count` tasks are seen in the code of files, sorted as they are kept. */
static void check_wait(struct fixture *fixture, size_t count, uint64_t owner, const char *how)
{
	struct sleeper_fixture *base = &fixture->base;
	base->world.kernfs_users = fixture->users;
	base->world.kernfs_user_count = count;
	base->world.kernfs_loaded = true;
	CHECK_OK(wait_find_kernfs(&base->sleeper));
	CHECK_U64(base->wait.object, AT(nodes[0]));
	sleeper_fixture_check(base, "kernfs file", owner, CONFIDENCE_CERTAIN, how);
	base->world.kernfs_users = NULL;
	sleeper_fixture_deinit(base);
}

static void test_one(void)
{
	struct fixture fixture;
	build(&fixture, 1);
	fixture.users[0] = (struct wait_kernfs_user){ AT(nodes[0]), AT(tasks[1]) };
	fixture.users[1] = (struct wait_kernfs_user){ AT(nodes[1]), AT(tasks[2]) };
	check_wait(&fixture, 2, AT(tasks[1]), "it is in the code of that file");
	/* The node counts one more than is seen. */
	build(&fixture, 2);
	check_wait(&fixture, 2, 0, "several tasks");
	CHECK_U64(fixture.base.wait.other_count, 1);
	CHECK(fixture.base.wait.has_more_others);
}

static void test_several(void)
{
	struct fixture fixture;
	build(&fixture, ARRAY_COUNT(fixture.users));
	for (size_t i = 0; i < ARRAY_COUNT(fixture.users); i++)
		fixture.users[i] = (struct wait_kernfs_user){ AT(nodes[0]), AT(tasks[1]) };
	check_wait(&fixture, ARRAY_COUNT(fixture.users), 0, "several tasks");
	CHECK_U64(fixture.base.wait.other_count, WAIT_OTHERS_MAX);
	CHECK(fixture.base.wait.has_more_others);
}

static void test_none(void)
{
	struct fixture fixture;
	build(&fixture, 0);
	fixture.users[0] = (struct wait_kernfs_user){ AT(nodes[0]), AT(tasks[1]) };
	check_wait(&fixture, 1, 0, "nobody is in its code any more");
	build(&fixture, 1);
	check_wait(&fixture, 0, 0, "no task is seen in the code of that file");
	build(&fixture, 1);
	fixture.users[0] = (struct wait_kernfs_user){ 0, AT(tasks[1]) };
	check_wait(&fixture, 1, 0, "some task is in the code of that file");
}

static void test_not_known(void)
{
	struct fixture fixture;
	build(&fixture, 1);
	fixture.base.arguments[0].items[0].value = SLEEPER_NOWHERE;
	CHECK_OK(wait_find_kernfs(&fixture.base.sleeper));
	sleeper_fixture_check(&fixture.base, "kernfs file", 0, CONFIDENCE_UNKNOWN,
			      "could not be found out");
	fixture.base.wait = (struct wait){ 0 };
	fixture.base.arguments[0].items[0].is_known = false;
	CHECK_OK(wait_find_kernfs(&fixture.base.sleeper));
	CHECK(!fixture.base.wait.kind);
	sleeper_fixture_deinit(&fixture.base);
}

int main(void)
{
	RUN(test_one);
	RUN(test_several);
	RUN(test_none);
	RUN(test_not_known);
	return test_finish();
}
