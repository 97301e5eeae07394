// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/wait_place.h"

#include "debugger/kernel/path.h"
#include "debugger/kernel/slab_types.h"
#include "debugger/target/attached.h"
#include "debugger/whattype/place.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void destroy(void *places)
{
	places_destroy(places);
}

/* Asked for every lock there is: what was read of the slabs is kept, but of a machine that runs. */
static struct error *get_places(struct target *target, struct places **ret)
{
	static const char key;
	*ret = target_attached(target, &key);
	if (*ret && !target_is_live(target))
		return NULL;
	target_detach(target, &key);
	TRY(places_create(target, ret));
	return target_attach(target, &key, *ret, destroy);
}

bool wait_put_inode(struct target *target, uint64_t address, struct strbuf *ret)
{
	char name[64] = "", path[PATH_SIZE];
	struct object inode, block;
	uint64_t number = 0;
	struct error *error = object_at(target, "struct inode", address, &inode);
	if (!error)
		error = object_u64(&inode, "i_ino", &number);
	if (!error)
		error = object_follow(&inode, "i_sb", &block);
	if (!error)
		error = object_string(&block, "s_id", name, sizeof(name));
	error_free(error);
	if (error)
		return false;
	error = path_of_inode(&inode, path);
	strbuf_format(ret, "inode %" PRIu64, number);
	if (!error)
		strbuf_format(ret, ", %s", path);
	strbuf_format(ret, " of %s", name);
	error_free(error);
	return true;
}

/* Filesystems have inodes of their own kind, and that inside: it is what people know. */
static bool put_member_of_inode(const struct object *object, const char *member, struct strbuf *ret)
{
	char spelled[64], prefix[MEMBER_PATH_SIZE];
	struct object inode;
	for (const char *dot = member; dot; dot = strchr(dot + 1, '.')) {
		inode = *object;
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(dot - member), member);
		struct error *error = dot == member ? NULL : object_member(object, prefix, &inode);
		error_free(error);
		if (error)
			return false;
		type_spell(type_unqualified(inode.type), NULL, spelled, sizeof(spelled));
		if (strcmp(spelled, "struct inode") != 0)
			continue;
		size_t before = ret->size;
		strbuf_format(ret, "%s of ", dot == member ? member : dot + 1);
		if (wait_put_inode(object->target, inode.address, ret))
			return true;
		ret->size = before;
		return false;
	}
	return false;
}

static void put_object(struct target *target, const struct memory_place *place, const char *asked,
		       struct strbuf *ret)
{
	char type[160];
	struct object object = { .target = target, .type = place->type, .address = place->start };
	if (!place->type.btf || !*place->member) {
		/* At its start, the object may be what was asked about, and no part of anything. */
		if (!place->offset)
			return;
		strbuf_format(ret, "in %s object of the slab cache %s",
			      place->slab.state == SLAB_FREE ? "a free" : "an",
			      place->slab.cache->name);
		return;
	}
	type_spell(type_unqualified(place->type), NULL, type, sizeof(type));
	/* Its first member begins where it does. */
	if (!place->offset && asked && !strcmp(type, asked))
		return;
	if (put_member_of_inode(&object, place->member, ret))
		return;
	strbuf_format(ret, "%s of the %s at 0x%" PRIx64, place->member, type, place->start);
}

void wait_put_place(struct target *target, uint64_t address, const char *type, struct strbuf *ret)
{
	struct places *places;
	struct memory_place place;
	struct error *error = get_places(target, &places);
	if (!error)
		error = places_find(places, address, &place);
	if (!error && place.region == REGION_SLAB && place.slab.state != SLAB_NO_OBJECT)
		put_object(target, &place, type, ret);
	ret->failed |= error && error->kind == ERROR_NO_MEMORY;
	error_free(error);
}

enum confidence wait_slab_object(struct target *target, uint64_t address, const char *type)
{
	struct places *places;
	struct memory_place place = { .region = REGION_UNKNOWN };
	struct slab_type found;
	char spelled[160];
	struct error *error = get_places(target, &places);
	if (!error)
		error = places_find(places, address, &place);
	error_free(error);
	if (error || place.region != REGION_SLAB || place.slab.state != SLAB_ALLOCATED ||
	    place.offset)
		return CONFIDENCE_UNKNOWN;
	slab_type_of(target, place.slab.cache, &found);
	if (!found.type.btf)
		return CONFIDENCE_UNKNOWN;
	type_spell(type_unqualified(found.type), NULL, spelled, sizeof(spelled));
	if (strcmp(spelled, type) != 0)
		return CONFIDENCE_UNKNOWN;
	return found.is_sure ? CONFIDENCE_CERTAIN : CONFIDENCE_INFERRED;
}
