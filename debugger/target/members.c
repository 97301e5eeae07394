// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS	  256u
#define PATH_SIZE 40
/* 2^64 divided by the golden ratio */
#define HASH_FACTOR 0x9e3779b97f4a7c15u

/* The answer to one question; the next of its slot takes its place. */
struct answer {
	struct type type; /* btf NULL: free */
	char path[PATH_SIZE];
	bool is_missing;
	struct member member;
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

/* By where the path lies, which of nearly all is a literal: its text is compared, not hashed. */
static struct answer *slot_for(struct members *members, struct type type, const char *path)
{
	uint64_t key = ((uint64_t)(uintptr_t)path + ((uint64_t)type.id << 32)) * HASH_FACTOR;
	return &members->slots[(key >> 32) % SLOTS];
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

/* `member` NULL: there is none. */
static void remember(struct members *members, struct type type, const char *path,
		     const struct member *member)
{
	struct answer answer = { .type = type, .is_missing = !member };
	size_t length = strlen(path);
	if (!members || !type.btf || length >= sizeof(answer.path))
		return;
	memcpy(answer.path, path, length + 1);
	if (member)
		answer.member = *member;
	pthread_mutex_lock(&members->lock);
	*slot_for(members, type, path) = answer;
	pthread_mutex_unlock(&members->lock);
}

/* What a pointer points at; a struct that is only declared there may be defined elsewhere. */
static struct type find_pointed(struct type type)
{
	struct type pointed;
	struct btf_type record;
	if (!type_is_pointer(type) || !type_target(type, &pointed))
		return (struct type){ .btf = NULL };
	if (type_get_resolved(pointed, &record) && record.kind == BTF_FWD)
		(void)btf_find_definition(pointed.btf, &record, &pointed);
	return pointed;
}

static void describe(struct member *member)
{
	struct type type = member->place.type;
	uint64_t size;
	member->pointed = find_pointed(type);
	member->size = 0;
	member->is_signed = type_is_signed(type);
	if (!member->place.bit_size && type_size(type, &size) && size <= 8)
		member->size = (uint8_t)size;
}

struct error *members_find(struct members *members, struct type type, const char *path,
			   struct member *ret)
{
	struct answer known;
	if (recall(members, type, path, &known) && !known.is_missing) {
		*ret = known.member;
		return NULL;
	}
	struct error *error = type_find_path(type, path, &ret->place);
	if (!error)
		describe(ret);
	if (!error || error->kind == ERROR_NOT_FOUND)
		remember(members, type, path, error ? NULL : ret);
	return error;
}

bool members_has(struct members *members, struct type type, const char *path)
{
	struct answer known;
	struct member member;
	if (recall(members, type, path, &known))
		return !known.is_missing;
	struct error *error = members_find(members, type, path, &member);
	error_free(error);
	return !error;
}
