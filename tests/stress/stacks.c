// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Damages the stacks of a real dump in memory, and unwinds them:  stacks DUMP ROUNDS [SEED]
 *
 * Each round takes one task and spoils its stack in one of several ways: random words, a page of
 * noise, pointers that go round in circles, an excluded page, registers that lead nowhere. Whatever
 * it holds, the walk has to end, soon, with a reason when it is not whole, and the arguments of its
 * frames have to be answered. Prints what came out; exit status 1 when a round took too long or
 * left no reason.
 */
#include "debugger/arguments/arguments.h"
#include "debugger/kernel/task.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TASKS_MAX    4096
#define WORDS_MAX    512
#define STACK_SIZE   (16u << 10)
#define PAGE_SIZE    4096u
#define FRAMES_MAX   2048
#define SECONDS_MAX  2.0
#define DEFAULT_SEED 5

struct word {
	uint64_t address, value;
};

/* The dump's memory with some words that are others, and a hole. */
struct overlay {
	struct memory memory;
	struct memory *inner;
	struct word words[WORDS_MAX];
	size_t count;
	uint64_t hole; /* address of an excluded page, 0: none */
};

struct stress {
	struct target *target;
	struct overlay overlay;
	struct task tasks[TASKS_MAX];
	size_t task_count;
	uint64_t random;
	uint64_t text, text_size;
	/* What came out. */
	uint64_t frames, known, whole, reasons, failed;
	double slowest;
};

static uint64_t next_random(struct stress *stress)
{
	stress->random ^= stress->random << 13;
	stress->random ^= stress->random >> 7;
	stress->random ^= stress->random << 17;
	return stress->random;
}

/* --- damaged memory -------------------------------------------------------------------------- */

static struct error *overlay_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct overlay *overlay = (struct overlay *)memory;
	uint64_t hole = overlay->hole;
	if (hole && address < hole + PAGE_SIZE && address + size > hole) {
		uint64_t first = address > hole ? address : hole;
		return error_create_at(ERROR_EXCLUDED, first, "0x%" PRIx64 " is excluded", first);
	}
	struct error *error = overlay->inner->read(overlay->inner, address, buffer, size);
	for (size_t i = 0; !error && i < overlay->count; i++) {
		const struct word *word = &overlay->words[i];
		if (word->address >= address && word->address - address < size &&
		    size - (word->address - address) >= 8)
			memcpy((uint8_t *)buffer + (word->address - address), &word->value, 8);
	}
	return error;
}

/* Words as real stacks have them, and others. */
static uint64_t random_word(struct stress *stress, const struct task *task)
{
	switch (next_random(stress) % 6) {
	case 0:
		return stress->text + next_random(stress) % stress->text_size;
	case 1:
		return task->stack + next_random(stress) % STACK_SIZE;
	case 2:
		return task->stack + (next_random(stress) % STACK_SIZE & ~7u);
	case 3:
		return next_random(stress) % 4096;
	case 4:
		return task->address + next_random(stress) % 4096;
	default:
		return next_random(stress);
	}
}

static void change(struct stress *stress, uint64_t address, uint64_t value)
{
	struct overlay *overlay = &stress->overlay;
	if (overlay->count < WORDS_MAX)
		overlay->words[overlay->count++] = (struct word){ address & ~(uint64_t)7, value };
}

/* A place in the part of the stack that is in use: the last few KiB. */
static uint64_t random_place(struct stress *stress, const struct task *task)
{
	return task->stack + STACK_SIZE - 8 - (next_random(stress) % 2048 & ~7u);
}

static void damage(struct stress *stress, const struct task *task)
{
	stress->overlay.count = 0;
	stress->overlay.hole = 0;
	switch (next_random(stress) % 4) {
	case 0:
		for (uint64_t i = next_random(stress) % 16; i < 17; i++)
			change(stress, random_place(stress, task), random_word(stress, task));
		break;
	case 1: /* a page of noise */
		for (uint64_t i = 0; i < PAGE_SIZE / 8; i++)
			change(stress, task->stack + STACK_SIZE - PAGE_SIZE + 8 * i,
			       random_word(stress, task));
		break;
	case 2: /* each points at itself or below */
		for (uint64_t i = 0; i < 64; i++) {
			uint64_t place = random_place(stress, task);
			change(stress, place, place - 8 * (next_random(stress) % 8));
		}
		break;
	default:
		stress->overlay.hole =
			task->stack + next_random(stress) % (STACK_SIZE / PAGE_SIZE) * PAGE_SIZE;
	}
}

/* --- rounds ---------------------------------------------------------------------------------- */

static struct error *unwind(struct stress *stress, const struct task *task,
			    struct stack_trace *trace)
{
	struct registers registers = { .known = 0 };
	const struct arch *arch = stress->target->arch;
	if (next_random(stress) % 4)
		return unwind_task(stress->target, task, trace);
	for (unsigned int i = 0; i < arch->register_count; i++)
		if (next_random(stress) % 4)
			registers_set(&registers, i, random_word(stress, task));
	registers_set(&registers, arch->sp, random_word(stress, task));
	registers_set(&registers, arch->pc,
		      next_random(stress) % 8
			      ? stress->text + next_random(stress) % stress->text_size
			      : next_random(stress));
	return unwind_registers(stress->target, &registers, task, trace);
}

static void count_arguments(struct stress *stress, const struct stack_trace *trace,
			    const struct frame_arguments *arguments)
{
	for (size_t i = 0; i < trace->count; i++)
		for (size_t j = 0; j < arguments[i].count; j++)
			stress->known += arguments[i].items[j].is_known;
}

static bool is_whole(const struct stack_trace *trace)
{
	return trace->count && !trace->end;
}

static void walk(struct stress *stress, const struct task *task)
{
	struct stack_trace trace;
	struct frame_arguments *arguments = NULL;
	struct error *error = unwind(stress, task, &trace);
	if (error) { /* not even a first frame: that is a reason too */
		stress->reasons++;
		error_free(error);
		return;
	}
	stress->frames += trace.count;
	stress->whole += is_whole(&trace);
	stress->reasons += trace.end != NULL;
	if (trace.count > FRAMES_MAX || (!trace.end && !trace.count)) {
		printf("pid %d: %zu frames and no reason\n", task->pid, trace.count);
		stress->failed++;
	}
	error = arguments_of(stress->target, task, &trace, &arguments);
	if (!error)
		count_arguments(stress, &trace, arguments);
	error_free(error);
	free(arguments);
	stack_trace_deinit(&trace);
}

/* Of the processor: others may need it too. */
static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_round(struct stress *stress, uint64_t number)
{
	const struct task *task = &stress->tasks[next_random(stress) % stress->task_count];
	damage(stress, task);
	double start = now();
	walk(stress, task);
	double seconds = now() - start;
	if (seconds > stress->slowest)
		stress->slowest = seconds;
	/* The first ones read tables. */
	if (seconds > SECONDS_MAX && number > 100) {
		printf("round %" PRIu64 ", pid %d: %.1f s\n", number, task->pid, seconds);
		stress->failed++;
	}
}

/* --- the dump -------------------------------------------------------------------------------- */

static struct error *add_task(void *context, const struct task *task)
{
	struct stress *stress = context;
	if (task->stack && stress->task_count < TASKS_MAX)
		stress->tasks[stress->task_count++] = *task;
	return NULL;
}

static struct error *prepare(struct stress *stress)
{
	struct error *problem = NULL;
	uint64_t end;
	struct target *target = stress->target;
	TRY(target_need_memory(target));
	TRY(task_for_each(target, add_task, stress, &problem));
	error_free(problem);
	if (!stress->task_count || !symtab_address(target->symbols, "_stext", &stress->text) ||
	    !symtab_address(target->symbols, "_etext", &end) || end <= stress->text)
		return error_create(ERROR_NOT_FOUND, "no tasks or no text");
	stress->text_size = end - stress->text;
	stress->overlay.memory = *target->memory;
	stress->overlay.memory.read = overlay_read;
	stress->overlay.inner = target->memory;
	return NULL;
}

static struct error *run(struct stress *stress, const char *dump, uint64_t rounds)
{
	struct target_options options = { .vmcoreinfo_path = NULL };
	TRY(target_open(&dump, 1, &options, &stress->target));
	struct error *error = prepare(stress);
	if (!error) {
		stress->target->memory = &stress->overlay.memory;
		for (uint64_t i = 0; i < rounds; i++)
			run_round(stress, i);
		stress->target->memory = stress->overlay.inner;
	}
	target_close(stress->target);
	return error;
}

int main(int argc, char **argv)
{
	static struct stress stress;
	if (argc < 3) {
		fprintf(stderr, "usage: stacks DUMP ROUNDS [SEED]\n");
		return 2;
	}
	uint64_t rounds = strtoull(argv[2], NULL, 10);
	stress.random =
		(argc > 3 ? strtoull(argv[3], NULL, 10) : DEFAULT_SEED) * 0x9e3779b97f4a7c15u;
	double start = now();
	struct error *error = run(&stress, argv[1], rounds);
	if (error) {
		fprintf(stderr, "stacks: %s\n", error->message);
		error_free(error);
		return 2;
	}
	printf("%" PRIu64 " rounds of %zu tasks: %" PRIu64 " frames, %" PRIu64 " whole, %" PRIu64
	       " with a reason, %" PRIu64 " arguments; %.1f s, the slowest %.3f s\n",
	       rounds, stress.task_count, stress.frames, stress.whole, stress.reasons, stress.known,
	       now() - start, stress.slowest);
	return stress.failed || !stress.frames;
}
