/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a detector found out about a dead machine: one sentence, how sure it is, and what it rests
 * on, each with the line that shows it. A line is made of this program's own words and of numbers;
 * a name that a dump has is never part of one, for a reader types it.
 */
#ifndef DEBUGGER_ANALYSIS_FINDING_H
#define DEBUGGER_ANALYSIS_FINDING_H

#include "base/strbuf.h"
#include "debugger/infer/infer.h"

#define FINDING_CIRCLE_MAX 16

struct evidence {
	char *text;    /* a sentence without its full stop, with names as the dump has them */
	char *command; /* what shows it: "bt 42"; NULL: nothing does */
};

/* The facts that sentences are made of, for whoever wants them without the sentences. */
struct finding_task {
	uint64_t address; /* of the task_struct; 0: none */
	bool is_named;	  /* pid and comm are known */
	int32_t pid;
	char comm[64]; /* as in struct task */
};

struct finding_access {
	const char
		*kind; /* "read", "write", "call" (where to, is read), "fetch"; NULL: not known */
	uint64_t address;
	uint32_t size;	  /* bytes; 0: not known */
	const char *base; /* the register that it starts from; NULL: none. Then: */
	uint64_t base_value;
	int64_t displacement;
};

/* What a bad pointer was read from, or what is broken. */
struct finding_object {
	uint64_t address;	     /* 0: not known */
	char type[128], member[384]; /* "struct lab_device", "ops"; "": not known */
	char note[192];		     /* "an object of the slab cache kmalloc-256"; "" */
};

/* One task that waits, and for whom. */
struct finding_link {
	struct finding_task task, owner;
	const char *kind, *mode, *type; /* as in struct wait */
	uint64_t object;		/* 0: not known */
	char *name;			/* of the object, in words; NULL */
	enum confidence sure, owner_sure;
};

struct finding {
	const char *kind;     /* a literal: "null-pointer", "deadlock", "sysrq" */
	enum confidence sure; /* of the summary */
	char *summary;	      /* one sentence without its full stop */
	char *culprit;	      /* a function to blame before any of the stack; NULL */
	uint64_t task;	      /* whom it happened to, address of the task_struct; 0: nobody */
	uint64_t blamed;      /* the task that others wait for or that did it; 0: none */
	uint64_t circle[FINDING_CIRCLE_MAX]; /* tasks of a deadlock, the first ones */
	size_t circle_count;
	struct evidence *evidence;
	size_t count, capacity;
	char *instruction; /* in words; NULL: none is to blame, or the dump does not have it */
	uint64_t instruction_address;
	struct finding_access access;
	struct finding_object object;
	struct finding_link *links; /* from who waits to who holds him up, and so on */
	size_t link_count, link_capacity;
};

/* Fills in the sentence; an earlier one goes, and may be an argument. Errors: no memory. */
struct error *finding_summarize(struct finding *finding, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;
/* Adds a piece; `command` (a copy is kept) may be NULL. Errors: no memory. */
struct error *finding_add(struct finding *finding, const char *command, const char *format, ...)
	PRINTF_LIKE(3, 4) MUST_CHECK;
/* The same in a place among those that are there: what is behind it moves. */
struct error *finding_add_at(struct finding *finding, size_t at, const char *command,
			     const char *format, ...) PRINTF_LIKE(4, 5) MUST_CHECK;
/* Somebody has looked at a machine that hung, or the kernel has: who is blocked is of interest. */
bool finding_is_about_waiting(const struct finding *finding);
void finding_deinit(struct finding *finding);

#endif
