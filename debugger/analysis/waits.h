/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tasks that sleep wait for, who has it, and what he waits for in turn. The function that
 * a task sleeps in says the kind of wait; the object is an argument of it that is proved, or what
 * the waiter's record on its stack is linked to; the owner is what the lock itself says. What none
 * of these says is not known, and says so.
 */
#ifndef DEBUGGER_ANALYSIS_WAITS_H
#define DEBUGGER_ANALYSIS_WAITS_H

#include "debugger/infer/infer.h"
#include "debugger/kernel/task.h"

#define WAIT_NONE	UINT32_MAX
#define WAIT_OTHERS_MAX 4
#define WAIT_ENDED_MAX	64

struct wait {
	struct task task;     /* its `problem` is not kept */
	const char *function; /* that it sleeps in, outside of the scheduler; "": not known */
	const char *caller;   /* the first one around it that does more than wait; "" */
	/* Literals: "mutex", "completion", "wait queue"...; "sleep": nothing is known to wait for.
	 */
	const char *kind;
	const char *type;     /* C type of the object: "struct mutex"; NULL: it has none */
	uint64_t object;      /* address of it; of a futex the user's; 0: not known */
	const char *mode;     /* "read", "write", "shared"; NULL */
	const char *how;      /* what says which object: "argument", "list"...; NULL */
	enum confidence sure; /* of the object */
	/* What the object is part of: "struct super_block"; NULL: nothing that is known. */
	const char *within_type;
	uint64_t within;

	uint64_t owner; /* address of its task_struct; 0: not known */
	enum confidence owner_sure;
	const char *owner_how; /* what says so; without an owner, why there is none; NULL */
	/* Several that could end it, of whom none is known to be the one to do so: their
	 * task_structs. */
	uint64_t others[WAIT_OTHERS_MAX];
	uint32_t other_count;
	bool has_more_others;
	bool is_granted; /* it need not wait any more, but did not run yet */
	bool has_age;
	uint64_t age; /* ns since it last got a CPU: it sleeps for this long at most */

	uint32_t owner_wait; /* what the owner waits for, index; WAIT_NONE */
	uint32_t chain;	     /* that it is part of, index; WAIT_NONE: of none */
};

/* Tasks that wait for one another up to one at the head, or in a circle. */
struct wait_chain {
	struct task head;     /* who holds all others up; of a circle the first one found */
	uint32_t wait;	      /* what the head itself waits for, index; WAIT_NONE: nothing known */
	uint32_t behind;      /* tasks that wait for the head, or for the circle, directly or not */
	uint32_t length;      /* tasks in the circle; 0: it is none */
	enum confidence sure; /* the least of all owners and objects in it */
};

/* An address that was looked at because a lock says that its owner is there. */
struct wait_ended {
	uint64_t task;
	char *text; /* "its owner has ended; the last..."; NULL: no task that has */
};

struct waits {
	struct wait *items; /* those that cannot be interrupted first, then in the order of ps */
	size_t count, capacity;
	struct wait_chain *chains; /* circles first, then by how many are behind */
	size_t chain_count, chain_capacity;
	struct error *problem; /* the first of those of tasks and stacks; NULL: all were seen */
	struct budget *budget; /* the target's, for the items */
	struct wait_ended ended[WAIT_ENDED_MAX]; /* owner_how of an item may be of these */
	size_t ended_count;
};

/*
 * Of all tasks: those that sleep uninterruptibly, and those of the others whose object is known.
 * Errors are fatal ones, and what is needed and missing.
 */
struct error *waits_find(struct target *target, struct waits *ret) MUST_CHECK;
void waits_deinit(struct waits *waits);
/*
 * Fills in owner_wait, chain and the chains of items whose task and owner are known. `task_of`
 * finds an owner that does not wait; NULL: not known.
 */
struct error *waits_link(struct waits *waits,
			 const struct task *(*task_of)(void *context, uint64_t address),
			 void *context) MUST_CHECK;

#endif
