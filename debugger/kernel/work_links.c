// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/work_links.h"

#include "debugger/target/object.h"

static bool find_number(const struct target *target, const char *name, uint64_t *ret)
{
	struct btf_enumerator found;
	uint32_t id;
	if (!target->btf || !btf_find_enumerator(target->btf, name, &id, &found))
		return false;
	*ret = (uint64_t)found.value;
	return *ret < 64;
}

bool work_links_find(struct target *target, struct work_links *ret)
{
	struct object link;
	uint64_t bit, shift;
	if (!find_number(target, "WORK_STRUCT_PWQ_BIT", &bit) ||
	    (!find_number(target, "WORK_STRUCT_PWQ_SHIFT", &shift) &&
	     !find_number(target, "WORK_STRUCT_FLAG_BITS", &shift)))
		return false;
	struct error *error = object_at(target, "struct pool_workqueue", 0, &link);
	error_free(error);
	if (error)
		return false;
	/* Called so until f97a4a1a3f87 (5.15). */
	*ret = (struct work_links){ UINT64_C(1) << bit, UINT64_MAX << shift,
				    object_has(&link, "delayed_works") ? "delayed_works"
								       : "inactive_works" };
	return true;
}
