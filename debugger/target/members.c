// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/members.h"

#include "base/hash.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS	  256u
#define PATH_SIZE 40

/* The answer to one question; the next of its slot takes its place. */
struct answer {
	struct type type; /* btf NULL: free */
	char path[PATH_SIZE];
	bool is_missing;
	struct type_place place;
};

struct members {
	pthread_mutex_t lock;
	struct answer slots[SLOTS];
};

struct error *members_create(struct members **ret)
{
	struct members *members = calloc(1, sizeof(*members));
	if (!members)
		return error_no_memory();
	pthread_mutex_init(&members->lock, NULL);
	*ret = members;
	return NULL;
}

void members_destroy(struct members *members)
{
	if (members)
		pthread_mutex_destroy(&members->lock);
	free(members);
}

static struct answer *slot_for(struct members *members, struct type type, const char *path)
{
	uint32_t hash = hash_string(path) ^ type.id * 0x9e3779b1u;
	return &members->slots[(hash ^ hash >> 16) % SLOTS];
}

static bool recall(struct members *members, struct type type, const char *path, struct answer *ret)
{
	if (!members)
		return false;
	struct answer *slot = slot_for(members, type, path);
	pthread_mutex_lock(&members->lock);
	bool known = slot->type.btf == type.btf && slot->type.id == type.id &&
		     !strcmp(slot->path, path);
	if (known)
		*ret = *slot;
	pthread_mutex_unlock(&members->lock);
	return known;
}

/* `place` NULL: there is none. */
static void remember(struct members *members, struct type type, const char *path,
		     const struct type_place *place)
{
	struct answer answer = { .type = type, .is_missing = !place };
	size_t length = strlen(path);
	if (!members || !type.btf || length >= sizeof(answer.path))
		return;
	memcpy(answer.path, path, length + 1);
	if (place)
		answer.place = *place;
	pthread_mutex_lock(&members->lock);
	*slot_for(members, type, path) = answer;
	pthread_mutex_unlock(&members->lock);
}

struct error *members_find(struct members *members, struct type type, const char *path,
			   struct type_place *ret)
{
	struct answer known;
	if (recall(members, type, path, &known) && !known.is_missing) {
		*ret = known.place;
		return NULL;
	}
	struct error *error = type_find_path(type, path, ret);
	if (!error || error->kind == ERROR_NOT_FOUND)
		remember(members, type, path, error ? NULL : ret);
	return error;
}

bool members_has(struct members *members, struct type type, const char *path)
{
	struct answer known;
	struct type_place place;
	if (recall(members, type, path, &known))
		return !known.is_missing;
	struct error *error = members_find(members, type, path, &place);
	error_free(error);
	return !error;
}
