// SPDX-License-Identifier: GPL-3.0-or-later
/* Steps done by threads: each once, errors and Ctrl-C end them. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "base/workers.h"
#include <stdatomic.h>

#define STEPS 10000

struct steps {
	atomic_uint done[STEPS];
	atomic_uint busy[WORKERS_MAX];
	atomic_uint all;
	size_t fail_from; /* these steps fail */
	size_t interrupt_at;
};

static struct error *step(void *context, unsigned int worker, size_t number)
{
	struct steps *steps = context;
	if (worker >= WORKERS_MAX || atomic_fetch_add(&steps->busy[worker], 1))
		return error_create(ERROR_FORMAT, "two at once are worker %u", worker);
	atomic_fetch_add(&steps->done[number], 1);
	atomic_fetch_add(&steps->all, 1);
	atomic_fetch_sub(&steps->busy[worker], 1);
	if (number == steps->interrupt_at)
		interrupt_flag = 1;
	return number < steps->fail_from ? NULL : error_create(ERROR_NOT_FOUND, "step %zu", number);
}

static struct steps *create(void)
{
	struct steps *steps = calloc(1, sizeof(*steps));
	if (!steps)
		abort();
	steps->fail_from = steps->interrupt_at = STEPS;
	return steps;
}

static void test_each_once(void)
{
	static const unsigned int counts[] = { 1, 2, 7, WORKERS_MAX, 1000 };
	static const size_t blocks[] = { 0, 1, 32, STEPS, STEPS * 2 };
	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		struct steps *steps = create();
		struct work work = {
			.count = STEPS, .block = blocks[i], .step = step, .context = steps
		};
		CHECK_OK(workers_run(&work, counts[i]));
		for (size_t number = 0; number < STEPS; number++)
			CHECK(steps->done[number] == 1);
		work.count = 0;
		CHECK_OK(workers_run(&work, counts[i]));
		CHECK_U64(steps->all, STEPS);
		free(steps);
	}
}

static void test_error(void)
{
	struct steps *steps = create();
	struct work work = { .count = STEPS, .block = 1, .step = step, .context = steps };
	steps->fail_from = 100;
	struct error *error = workers_run(&work, 1);
	CHECK(error);
	CHECK_STRING(error ? error->message : "", "step 100");
	CHECK_U64(steps->all, 101);
	error_free(error);
	/* Several fail at once: the lowest that did is told of, the others are freed. */
	error = workers_run(&work, 4);
	CHECK(error && !strncmp(error->message, "step ", 5));
	CHECK(steps->all < STEPS);
	error_free(error);
	free(steps);
}

static void test_interrupt(void)
{
	struct steps *steps = create();
	struct work work = { .count = STEPS, .block = 8, .step = step, .context = steps };
	steps->interrupt_at = 10;
	struct error *error = workers_run(&work, 1);
	CHECK(error && error->kind == ERROR_INTERRUPTED);
	CHECK_U64(steps->all, 11);
	error_free(error);
	error = workers_run(&work, 3);
	CHECK(error && error->kind == ERROR_INTERRUPTED);
	CHECK_U64(steps->all, 11);
	error_free(error);
	interrupt_clear();
	free(steps);
}

int main(void)
{
	RUN(test_each_once);
	RUN(test_error);
	RUN(test_interrupt);
	return test_finish();
}
