// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * crowd: many threads that sleep in a few different ways.
 *
 *   crowd COUNT READY
 *
 * Makes the file READY when all of them sleep.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static atomic_int started;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

static void read_pipe(void)
{
	char byte;
	if (read(ends[0], &byte, 1) < 0)
		perror("guest: crowd: read");
}

static void wait_for_mutex(void)
{
	pthread_mutex_lock(&never);
}

static void sleep_long(void)
{
	struct timespec day = { 86400, 0 };
	nanosleep(&day, NULL);
}

static void poll_pipe(void)
{
	struct pollfd wait = { .fd = ends[0], .events = POLLIN };
	poll(&wait, 1, -1);
}

static void *sleeper(void *number)
{
	static void (*const ways[])(void) = { read_pipe, wait_for_mutex, wait_for_mutex, sleep_long,
					      poll_pipe };
	char name[16];
	snprintf(name, sizeof(name), "crowd-%ld", (long)number);
	prctl(PR_SET_NAME, name);
	atomic_fetch_add(&started, 1);
	ways[(long)number % (sizeof(ways) / sizeof(*ways))]();
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[1]) : 0;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32768);
	pthread_mutex_lock(&never);
	if (!count || pipe(ends)) {
		printf("guest: failed: usage: crowd COUNT READY\n");
		return 2;
	}
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &attributes, sleeper, (void *)i)) {
			printf("guest: failed: crowd: thread %ld of %ld\n", i, count);
			return 1;
		}
	}
	while (atomic_load(&started) < count)
		usleep(10000);
	usleep(500000);
	close(open(argv[2], O_CREAT | O_WRONLY, 0644));
	for (;;)
		pause();
}
