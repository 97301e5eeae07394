// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/object_note.h"

#include <stdio.h>

static void say_slab(const struct slab_place *place, struct object_note *ret)
{
	static const char *const states[] = { [SLAB_NO_OBJECT] = "no object",
					      [SLAB_FREE] = "a free object",
					      [SLAB_ALLOCATED] = "an object",
					      [SLAB_UNSURE] = "an object, in use or free," };
	ret->is_slab = true;
	ret->state = place->state;
	ret->object = place->object;
	ret->size = place->object ? place->cache->object_size : 0;
	snprintf(ret->text, sizeof(ret->text), "%s of the slab cache %s%s", states[place->state],
		 place->cache->name,
		 place->cache->is_shared ? ", which others were merged into" : "");
}

struct error *object_note_find(struct target *target, uint64_t address, struct object_note *ret)
{
	struct slabs *slabs = NULL;
	struct slab_place place;
	char described[sizeof(ret->text)];
	*ret = (struct object_note){ 0 };
	if (target_describe(target, address, described, sizeof(described))) {
		snprintf(ret->text, sizeof(ret->text), "%s", described);
		return NULL;
	}
	struct error *error = slabs_create(target, &slabs);
	if (!error)
		error = slabs_find(slabs, address, &place);
	if (!error)
		say_slab(&place, ret);
	slabs_destroy(slabs);
	return error_only_fatal(error);
}
