// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a module's BTF has once more of the kernel's. pahole keeps a copy of each struct that leads
 * to one which differs, and takes some unnamed unions for different that are not: then of
 * task_struct, too. To evidence the copy is the original; it is shown as the module's own, for what
 * its pointers lead to may be called as something of the base, and be another.
 */
#include "debugger/infer/layout/layout_private.h"

#include <stdlib.h>
#include <string.h>

/* Unnamed parts of unnamed parts: hostile BTF nests without end. */
#define DEPTH_MAX 24
/* Structs of one name that are compared with a module's. */
#define NAMESAKES_MAX 4
/* Records and members that are compared for all of a module: xfs of 7.3 takes 16,000. */
#define COPY_VISITS_MAX (1u << 20)
/* How many of a module's structs of one name (with xfs of 7.3, two) are looked for. */
#define COPIES_A_NAME 16
#define COPY_HASHES   65536

/* What is left of the work that may be spent on copies. */
struct copies {
	uint8_t *tried; /* by the hash of a name */
	uint32_t visits;
};

/* The struct of the bases that is defined as this one; 0: there is none. */
static uint32_t find_original(struct copies *copies, const struct btf_type *copy)
{
	const struct btf *base = btf_base(copy->btf);
	uint64_t cursor = 0;
	if (!base || !*copy->name || (copy->kind != BTF_STRUCT && copy->kind != BTF_UNION))
		return 0;
	uint8_t *tried = &copies->tried[layout_hash(copy->name, strlen(copy->name)) % COPY_HASHES];
	if (*tried == COPIES_A_NAME)
		return 0;
	++*tried;
	for (int tries = 0; tries < NAMESAKES_MAX; tries++) {
		uint32_t found = btf_find(base, copy->kind, copy->name, &cursor);
		if (!found || type_equal_within((struct type){ copy->btf, copy->id },
						(struct type){ base, found }, &copies->visits))
			return found;
	}
	return 0;
}

/* The copy is the original, and so are its parts without a name. */
static void join(struct layout *layout, const struct btf_type *copy,
		 const struct btf_type *original, int depth)
{
	struct layout_record *record = &layout->records[copy->id];
	struct btf_member left, right;
	record->resolved = layout->records[original->id].resolved;
	if (*copy->name && !layout->records[record->resolved].named)
		layout_change(layout, record->resolved)->named = copy->id;
	for (uint32_t i = 0;
	     depth < DEPTH_MAX && btf_member(copy, i, &left) && btf_member(original, i, &right);
	     i++) {
		struct btf_type part, counterpart;
		if (btf_get(copy->btf, left.type, &part) && part.btf == copy->btf && !*part.name &&
		    (part.kind == BTF_STRUCT || part.kind == BTF_UNION) &&
		    btf_get(original->btf, right.type, &counterpart) &&
		    layout->records[part.id].resolved == part.id)
			join(layout, &part, &counterpart, depth + 1);
	}
}

bool layout_join_copies(struct layout *layout)
{
	struct copies copies = { calloc(COPY_HASHES, 1), COPY_VISITS_MAX };
	if (!copies.tried)
		return false;
	for (uint32_t id = layout->first; id < layout->end; id++) {
		struct btf_type copy, original;
		if (btf_get(layout->btf, id, &copy) &&
		    btf_get(layout->btf, find_original(&copies, &copy), &original) && original.id)
			join(layout, &copy, &original, 0);
	}
	free(copies.tried);
	for (uint32_t id = layout->first; id < layout->end; id++)
		layout->records[id].resolved = layout_resolve(layout, layout->records[id].resolved);
	return true;
}
