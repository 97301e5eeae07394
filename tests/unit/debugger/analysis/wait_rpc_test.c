// SPDX-License-Identifier: GPL-3.0-or-later
/* Whether a server was asked at all is said of a call, and what could not be read is not. */
#include "tests/unit/sleeper_fixture.h"

#define SENT 0x0800u

struct raw_call {
	uint64_t state;
	uint16_t flags, pad[3];
};

struct raw_data {
	uint64_t tasks[SLEEPER_TASKS];
	struct raw_call call;
};

#define AT(member) (SLEEPER_BASE + offsetof(struct raw_data, member))

struct fixture {
	struct raw_data data;
	struct sleeper_fixture base;
};

static void build(struct fixture *fixture, uint16_t flags)
{
	struct raw_data *data = &fixture->data;
	*data = (struct raw_data){ .call.flags = flags };
	sleeper_fixture_init(&fixture->base, data, sizeof(*data), "rpc_wait_bit_killable");
	struct libbpf_btf *btf = fixture->base.written;
	int word = btf__add_int(btf, "long unsigned int", 8, 0);
	int number = btf__add_int(btf, "short unsigned int", 2, 0);
	btf__add_struct(btf, "rpc_task", sizeof(struct raw_call));
	add_member(btf, "tk_runstate", word, 0);
	add_member(btf, "tk_flags", number, offsetof(struct raw_call, flags));
	sleeper_fixture_open(&fixture->base, 0, 0);
	fixture->base.wait = (struct wait){ .kind = "bit", .object = AT(call.state) };
}

static void check_wait(struct fixture *fixture, uint64_t within, const char *how)
{
	wait_find_rpc(&fixture->base.sleeper);
	CHECK_U64(fixture->base.wait.within, within);
	sleeper_fixture_check(&fixture->base, "RPC answer", 0, CONFIDENCE_UNKNOWN, how);
	sleeper_fixture_deinit(&fixture->base);
}

static void test_calls(void)
{
	struct fixture fixture;
	build(&fixture, SENT | 1);
	check_wait(&fixture, AT(call), "the server has not answered");
	build(&fixture, (uint16_t)~SENT);
	check_wait(&fixture, AT(call), "the call has not been sent yet");
	build(&fixture, SENT);
	fixture.base.wait.object = SLEEPER_NOWHERE;
	check_wait(&fixture, SLEEPER_NOWHERE, "whether the server was asked could not be");
}

/* Whoever waits for a bit elsewhere, or for something else there, waits for no server. */
static void test_others(void)
{
	struct fixture fixture;
	build(&fixture, SENT);
	fixture.base.frames[0].symbol.name = "bit_wait";
	wait_find_rpc(&fixture.base.sleeper);
	CHECK_STRING(fixture.base.wait.kind, "bit");
	fixture.base.frames[0].symbol.name = "rpc_wait_bit_killable";
	fixture.base.wait.kind = NULL;
	wait_find_rpc(&fixture.base.sleeper);
	CHECK(!fixture.base.wait.kind && !fixture.base.wait.owner_how);
	sleeper_fixture_deinit(&fixture.base);
}

int main(void)
{
	RUN(test_calls);
	RUN(test_others);
	return test_finish();
}
