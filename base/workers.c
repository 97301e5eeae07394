// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/workers.h"

#include "base/interrupt.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct crew {
	const struct work *work;
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t lock; /* of the two below */
	struct error *error;
	size_t failed; /* the step that `error` is of */
};

struct worker {
	struct crew *crew;
	unsigned int number;
	bool is_caller;
};

unsigned int workers_count(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online < 1 ? 1 : online < WORKERS_MAX ? (unsigned int)online : WORKERS_MAX;
}

static void fail(struct crew *crew, struct error *error, size_t number)
{
	atomic_store(&crew->stop, true);
	pthread_mutex_lock(&crew->lock);
	if (!crew->error || number < crew->failed) {
		error_free(crew->error);
		crew->error = error;
		crew->failed = number;
	} else {
		error_free(error);
	}
	pthread_mutex_unlock(&crew->lock);
}

static void *run(void *context)
{
	const struct worker *worker = context;
	struct crew *crew = worker->crew;
	const struct work *work = crew->work;
	size_t block = work->block ? work->block : 1;
	for (;;) {
		size_t first = atomic_fetch_add(&crew->next, block);
		size_t end = work->count - first < block ? work->count : first + block;
		if (first >= work->count)
			return NULL;
		if (worker->is_caller)
			progress_report(work->progress, work->what,
					work->from + (work->to - work->from) * first / work->count,
					100);
		for (size_t i = first; i < end; i++) {
			if (atomic_load(&crew->stop) || interrupt_flag)
				return NULL;
			struct error *error = work->step(work->context, worker->number, i);
			if (error)
				fail(crew, error, i);
		}
	}
}

/* Signals are the caller's thread's: a read() elsewhere is not disturbed by Ctrl-C. */
static unsigned int start(struct worker *workers, pthread_t *threads, unsigned int count)
{
	sigset_t all, before;
	unsigned int started = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started + 1 < count &&
	       !pthread_create(&threads[started], NULL, run, &workers[started + 1]))
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

struct error *workers_run(const struct work *work, unsigned int count)
{
	pthread_t threads[WORKERS_MAX];
	struct worker workers[WORKERS_MAX];
	struct crew crew = { .work = work, .lock = PTHREAD_MUTEX_INITIALIZER };
	if (count > WORKERS_MAX)
		count = WORKERS_MAX;
	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		workers[i] = (struct worker){ &crew, i, !i };
	unsigned int started = work->count > 1 ? start(workers, threads, count) : 0;
	run(&workers[0]);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&crew.lock);
	return crew.error ? crew.error : interrupt_check();
}
