/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that writes results into the cache for one that may not: it is started before the
 * sandbox closes, takes a key and bytes through a pipe, and knows nothing of the dump.
 */
#ifndef DEBUGGER_INFER_CACHE_KEEPER_H
#define DEBUGGER_INFER_CACHE_KEEPER_H

#include "debugger/infer/cache_file.h"
#include <sys/types.h>

struct cache_keeper {
	int to; /* pipe, -1: none */
	pid_t child;
};

/* False: there is no cache folder, or no process. */
bool cache_keeper_start(struct cache_keeper *keeper);
/* Hands over bytes to be kept under a key. */
void cache_keeper_send(struct cache_keeper *keeper, const struct cache_key *key, const void *data,
		       size_t size);
/* Waits until all is written. */
void cache_keeper_end(struct cache_keeper *keeper);

#endif
