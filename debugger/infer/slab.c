// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a pointer in the symbol points at on the heap: SLUB's cache of the page says of what size,
 * and often of what type, its objects are. A cache that others were merged into says nothing.
 * Page to cache: struct slab since 5.17 (d122019bf061), before that struct page itself.
 */
#include "debugger/infer/knowledge.h"
#include "debugger/infer/slab_types.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4 /* of a symbol, looked at */

struct slab_layout {
	bool is_known;
	uint64_t direct_map, direct_map_end, page_array, page_size, page_struct;
	const char *slab; /* type that has slab_cache */
};

static bool read_symbol(struct target *target, const char *name, uint64_t *ret)
{
	uint64_t address;
	if (!symtab_address(target->symbols, name, &address))
		return false;
	struct error *error = memory_read_u64(target->memory, address, ret);
	error_free(error);
	return !error;
}

static bool find_layout(struct knowledge *knowledge, const struct layout *types)
{
	struct target *target = knowledge->target;
	struct slab_layout *slab = knowledge->slab;
	if (slab)
		return slab->is_known;
	slab = knowledge->slab = calloc(1, sizeof(*slab));
	if (!slab)
		return false;
	slab->page_size = target->facts->page_size;
	slab->page_struct = layout_size(types, layout_find(types, BTF_STRUCT, "page"));
	slab->slab = layout_find(types, BTF_STRUCT, "slab") ? "struct slab" : "struct page";
	/* x86-64 with KASLR keeps both bases in variables. */
	slab->is_known = slab->page_size && slab->page_struct &&
			 read_symbol(target, "page_offset_base", &slab->direct_map) &&
			 read_symbol(target, "vmalloc_base", &slab->direct_map_end) &&
			 read_symbol(target, "vmemmap_base", &slab->page_array);
	return slab->is_known;
}

/* The first page's struct of the compound that holds an address. */
static struct error *head_page(struct knowledge *knowledge, uint64_t address, uint64_t *ret)
{
	const struct slab_layout *slab = knowledge->slab;
	uint64_t head, page = slab->page_array +
			      (address - slab->direct_map) / slab->page_size * slab->page_struct;
	struct object object;
	TRY(object_at(knowledge->target, "struct page", page, &object));
	TRY(object_u64(&object, "compound_head", &head));
	*ret = head & 1 ? head - 1 : page;
	return NULL;
}

/* The name of the cache that the address is an object of; fails for other memory. */
static struct error *cache_name(struct knowledge *knowledge, uint64_t address, char *ret)
{
	struct target *target = knowledge->target;
	uint64_t page, references, self, next, back, text, size, start, offset;
	struct object slab, cache;
	size_t length;
	TRY(head_page(knowledge, address, &page));
	TRY(object_at(target, knowledge->slab->slab, page, &slab));
	TRY(object_follow(&slab, "slab_cache", &cache));
	if (!is_kernel_pointer(cache.address))
		return error_create(ERROR_NOT_FOUND, "no slab");
	/* On the list of all caches, it is one. */
	TRY(object_u64(&cache, "list.next", &next));
	TRY(object_offset(target, "struct kmem_cache", "list", &offset));
	self = cache.address + offset;
	TRY(memory_read_u64(target->memory, next + 8, &back));
	TRY(object_u64(&cache, "refcount", &references));
	TRY(object_u64(&cache, "size", &size));
	if (back != self || references != 1 || !size)
		return error_create(ERROR_NOT_FOUND, "no slab of one type");
	start = knowledge->slab->direct_map + (page - knowledge->slab->page_array) /
						      knowledge->slab->page_struct *
						      knowledge->slab->page_size;
	/* Red zones would shift objects; then nothing begins at these places. */
	if ((address - start) % size)
		return error_create(ERROR_NOT_FOUND, "not at the start of an object");
	TRY(object_u64(&cache, "name", &text));
	return memory_read_string(target->memory, text, ret, SLAB_NAME_SIZE, &length);
}

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

static struct error *collect_word(const struct question *question, uint32_t offset, uint64_t value,
				  struct clues *clues)
{
	const struct layout *layout = question->layout;
	char name[SLAB_NAME_SIZE];
	struct error *error = cache_name(question->knowledge, value, name);
	if (error) {
		bool is_fatal = error->kind == ERROR_NO_MEMORY;
		if (is_fatal)
			return error;
		error_free(error);
		return NULL;
	}
	uint32_t type = type_of_cache(layout, name);
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
		if (!is_kernel_pointer(value) || value % 8 ||
		    !find_layout(knowledge, question->layout) ||
		    value < knowledge->slab->direct_map || value >= knowledge->slab->direct_map_end)
			continue;
		TRY(collect_word(question, 8 * i, value, clues));
	}
	return NULL;
}
