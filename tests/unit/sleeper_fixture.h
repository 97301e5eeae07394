/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine of a few tasks, one of which sleeps in one frame: what it waits for is asked. */
#ifndef TESTS_UNIT_SLEEPER_FIXTURE_H
#define TESTS_UNIT_SLEEPER_FIXTURE_H

#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#include "debugger/analysis/waits_private.h"

#define SLEEPER_BASE	0xffff888000100000u /* where the machine's data lies */
#define SLEEPER_NOWHERE 0xffff8880dead0000u /* where nothing is */
#define SLEEPER_TASKS	4u

struct sleeper_fixture {
	struct memory_array memory;
	struct libbpf_btf *written; /* the kernel's types, as the test writes them */
	struct target target;
	struct task tasks[SLEEPER_TASKS]; /* the first one sleeps */
	struct frame frames[1];
	struct frame_arguments arguments[1];
	struct stack_trace trace;
	struct wait_world world;
	struct wait wait;
	struct sleeper sleeper;
};

/* `data` is the machine's memory, borrowed; `function`: where the first task sleeps. */
static inline void sleeper_fixture_init(struct sleeper_fixture *fixture, const void *data,
					size_t size, const char *function)
{
	*fixture = (struct sleeper_fixture){ .written = btf__new_empty(),
					     .frames = { { .has_symbol = true,
							   .symbol.name = function } },
					     .trace = { .frames = fixture->frames, .count = 1 },
					     .world = { .target = &fixture->target,
							.tasks = fixture->tasks,
							.task_count = SLEEPER_TASKS,
							.members_left = SLEEPER_TASKS },
					     .sleeper = { .world = &fixture->world,
							  .task = &fixture->tasks[0],
							  .trace = &fixture->trace,
							  .arguments = fixture->arguments,
							  .arguments_asked = true,
							  .wait = &fixture->wait } };
	memory_array_init(&fixture->memory, SLEEPER_BASE, data, size);
	fixture->target.memory = &fixture->memory.memory;
	fixture->target.modules_loaded = true;
	for (unsigned int i = 0; i < SLEEPER_TASKS; i++)
		fixture->tasks[i].state_letter = 'S';
}

/*
 * After all types are written. `argument`: the type of the frame's first argument, whose value is
 * `value`; 0: it has none.
 */
static inline void sleeper_fixture_open(struct sleeper_fixture *fixture, int argument,
					uint64_t value)
{
	uint32_t size;
	const void *data = btf__raw_data(fixture->written, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &fixture->target.btf));
	if (argument)
		fixture->arguments[0] = (struct frame_arguments){
			.has_prototype = true,
			.count = 1,
			.items = { { .name = "argument",
				     .type = { fixture->target.btf, (uint32_t)argument },
				     .is_known = true,
				     .value = value } }
		};
}

static inline void sleeper_fixture_deinit(struct sleeper_fixture *fixture)
{
	wait_rings_deinit(&fixture->world.rings);
	free(fixture->world.workers);
	free(fixture->world.files);
	free(fixture->world.kernfs_users);
	symtab_destroy(fixture->target.symbols);
	btf_close(fixture->target.btf);
	btf__free(fixture->written);
}

/* `how`: a part of what is said of the owner. */
static inline void sleeper_fixture_check(const struct sleeper_fixture *fixture, const char *kind,
					 uint64_t owner, enum confidence sure, const char *how)
{
	const struct wait *wait = &fixture->wait;
	if (kind)
		CHECK_STRING(wait->kind, kind);
	CHECK_U64(wait->owner, owner);
	if (owner)
		CHECK_U64(wait->owner_sure, sure);
	CHECK(wait->owner_how && strstr(wait->owner_how, how));
}

#endif
