// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/attached.h"

#include <stdlib.h>

struct attached {
	const void *key;
	void *data;
	void (*destroy)(void *data);
	struct attached *earlier;
};

void *target_attached(const struct target *target, const void *key)
{
	for (const struct attached *at = target->attached; at; at = at->earlier)
		if (at->key == key)
			return at->data;
	return NULL;
}

struct error *target_attach(struct target *target, const void *key, void *data,
			    void (*destroy)(void *data))
{
	struct attached *attached = malloc(sizeof(*attached));
	if (!attached) {
		destroy(data);
		return error_no_memory();
	}
	*attached = (struct attached){ key, data, destroy, target->attached };
	target->attached = attached;
	return NULL;
}

static void detach(struct attached **at)
{
	struct attached *attached = *at;
	*at = attached->earlier;
	attached->destroy(attached->data);
	free(attached);
}

void target_detach(struct target *target, const void *key)
{
	for (struct attached **at = &target->attached; *at; at = &(*at)->earlier)
		if ((*at)->key == key) {
			detach(at);
			return;
		}
}

void target_detach_all(struct target *target)
{
	while (target->attached)
		detach(&target->attached);
}
