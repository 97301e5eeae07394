// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a pointer in the symbol points at on the heap: SLUB's cache of the page says of what size,
 * and often of what type, its objects are. A cache that others were merged into says nothing.
 */
#include "base/bytes.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/kernel/slab_types.h"
#include "debugger/target/object.h"

#define WORDS_MAX 4 /* of a symbol, looked at */

/* "dentry", "inode_cache", "ext4_inode_cache" for struct ext4_inode_info...: 0: none. */
static uint32_t type_of_cache(const struct layout *layout, const char *name)
{
	char tag[SLAB_TAG_SIZE];
	for (unsigned int number = 0; slab_suggest_tag(name, number, tag); number++) {
		uint32_t type = layout_find(layout, BTF_STRUCT, tag);
		if (type)
			return type;
	}
	return 0;
}

static struct error *collect_word(const struct question *question, struct slabs *slabs,
				  uint32_t offset, uint64_t value, struct clues *clues)
{
	const struct layout *layout = question->layout;
	const struct slab_cache *cache;
	uint64_t slot;
	struct error *error = slabs_slot(slabs, value, &cache, &slot);
	if (error)
		return error_only_fatal(error);
	if (cache->is_shared || slot != value)
		return NULL;
	uint32_t type = type_of_cache(layout, cache->name);
	struct clue clue = { .kind = CLUE_VALUE,
			     .source = SOURCE_SLAB,
			     .offset = offset,
			     .size = 8,
			     .type = { layout->btf, type ? layout->records[type].pointer : 0 },
			     .where = value,
			     .how = "points at an object of a slab cache" };
	if (clue.type.id && !clues_add(clues, &clue))
		return error_no_memory();
	return NULL;
}

struct error *slab_collect(const struct question *question, struct clues *clues)
{
	struct knowledge *knowledge = question->knowledge;
	bool big_endian = knowledge->target->facts->big_endian;
	if (question->is_constant || question->subject->address % 8)
		return NULL;
	for (uint32_t i = 0; i < WORDS_MAX && 8 * (i + 1) <= question->size; i++) {
		uint64_t value = load_u64(question->bytes + 8 * i, big_endian);
		struct slabs *slabs;
		if (!is_kernel_pointer(value) || value % 8)
			continue;
		TRY(knowledge_slabs(knowledge, &slabs));
		if (slabs)
			TRY(collect_word(question, slabs, 8 * i, value, clues));
	}
	return NULL;
}
