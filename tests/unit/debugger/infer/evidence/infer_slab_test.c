// SPDX-License-Identifier: GPL-3.0-or-later
/* Types by slab caches: what a pointer at an object says, and what a cache's name does. */
#include "base/array.h"
#include "debugger/infer/evidence/pointers.h"
#include "debugger/kernel/slab_types.h"
#include "tests/unit/infer_asked.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member)  (DATA + offsetof(struct contents, member))
#define PAGE	    4096u
#define PAGES	    8u
#define DIRECT	    0xffff888000000000u
#define VMALLOC	    0xffffc90000000000u
#define VMEMMAP	    0xffffea0000000000u
#define OBJECT	    160u /* bytes of an object */
#define SLOT	    192u /* with what is behind it */
#define TABLE_ITEMS 64u
#define SLAB	    2u /* its first page; the next one is of the same slab */

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_page {
	uint64_t flags, compound_head, slab_cache;
};
struct raw_cache {
	uint64_t name;
	int32_t references;
	uint32_t size, object_size, offset, order_objects;
};

struct contents {
	uint64_t page_offset_base, vmalloc_base, vmemmap_base;
	struct raw_cache cache;
	char name[32];
	uint64_t pointers[6];
};

static struct contents contents;
static struct raw_page pages[PAGES];
static uint64_t heap[PAGES * PAGE / 8];
static struct machine machine;

static void add_types(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1), ulong = btf__add_int(btf, "long", 8, 0);
	int order = btf__add_struct(btf, "kmem_cache_order_objects", 4);
	add_member(btf, "x", int_, 0);
	int cache = btf__add_struct(btf, "kmem_cache", sizeof(struct raw_cache));
	add_member(btf, "name", ulong, offsetof(struct raw_cache, name));
	add_member(btf, "refcount", int_, offsetof(struct raw_cache, references));
	add_member(btf, "size", int_, offsetof(struct raw_cache, size));
	add_member(btf, "object_size", int_, offsetof(struct raw_cache, object_size));
	add_member(btf, "offset", int_, offsetof(struct raw_cache, offset));
	add_member(btf, "oo", order, offsetof(struct raw_cache, order_objects));
	btf__add_struct(btf, "page", sizeof(struct raw_page));
	add_member(btf, "compound_head", ulong, offsetof(struct raw_page, compound_head));
	int pointer = btf__add_ptr(btf, cache);
	btf__add_struct(btf, "slab", sizeof(struct raw_page));
	add_member(btf, "slab_cache", pointer, offsetof(struct raw_page, slab_cache));
	static const char *const names[] = { "dentry",		"file",
					     "signal_struct",	"ext4_group",
					     "ext4_inode_info", "files_struct" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		int type = btf__add_struct(btf, names[i], 160);
		add_member(btf, "count", ulong, 0);
		add_member(btf, "flags", ulong, 152);
		btf__add_ptr(btf, type);
	}
	/* The kernel allocates as many of the last member as the machine has nodes. */
	int items = btf__add_array(btf, int_, pointer, TABLE_ITEMS);
	btf__add_struct(btf, "table", 8 + TABLE_ITEMS * 8);
	add_member(btf, "count", ulong, 0);
	add_member(btf, "caches", items, 8);
	/* What ends in a buffer, of which the cache has less. */
	int character = btf__add_int(btf, "char", 1, 1);
	int buffer = btf__add_array(btf, int_, character, 64);
	btf__add_struct(btf, "names_buffer", 72);
	add_member(btf, "count", ulong, 0);
	add_member(btf, "text", buffer, 8);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },
		{ TEXT, 'T', "_stext" },
		{ TEXT + 16, 'T', "_etext" },
		{ AT(page_offset_base), 'D', "page_offset_base" },
		{ AT(vmalloc_base), 'D', "vmalloc_base" },
		{ AT(vmemmap_base), 'D', "vmemmap_base" },
		{ AT(cache), 'd', "cache" },
		{ AT(pointers), 'd', "pointers" },
		{ AT(pointers) + 48, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

static uint64_t object(unsigned int index)
{
	return DIRECT + SLAB * PAGE + index * SLOT;
}

static void fill(const char *name)
{
	contents = (struct contents){
		.page_offset_base = DIRECT,
		.vmalloc_base = VMALLOC,
		.vmemmap_base = VMEMMAP,
		.cache = { AT(name), 1, SLOT, OBJECT, 0, 1u << 16 | 2 * PAGE / SLOT },
		.pointers = { object(3) },
	};
	snprintf(contents.name, sizeof(contents.name), "%s", name);
	memset(pages, 0, sizeof(pages));
	pages[SLAB].slab_cache = AT(cache);
	pages[SLAB + 1].compound_head = (VMEMMAP + SLAB * sizeof(struct raw_page)) | 1;
}

/* The type that the first of the pointers has by what it points at; "": none is said. */
static const char *pointer_type(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask_source(asked, slab_collect, "pointers");
	const struct clue *clue = find_clue(asked, CLUE_VALUE, 0);
	CHECK_U64(asked->clues.count, clue != NULL);
	CHECK(!clue || (clue->source == SOURCE_SLAB && clue->where == contents.pointers[0]));
	const char *type = clue_type(clue);
	asked_destroy(asked);
	return type;
}

static void test_names(void)
{
	static const struct {
		const char *cache, *type;
	} wanted[] = { { "dentry", "struct dentry *" },
		       { "filp", "struct file *" },
		       { "signal_cache", "struct signal_struct *" },
		       { "files_cache", "struct files_struct *" },
		       { "ext4_inode_cache", "struct ext4_inode_info *" },
		       { "files", "struct files_struct *" },
		       { "no_such_struct", "" },
		       { "", "" } };
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		fill(wanted[i].cache);
		CHECK_STRING(pointer_type(), wanted[i].type);
	}
}

static void test_places(void)
{
	/* In the second page of the slab: page 1 begins within an object. */
	fill("dentry");
	contents.pointers[0] = object(30);
	CHECK_STRING(pointer_type(), "struct dentry *");
	contents.pointers[0] = object(3) + 8; /* not where one begins */
	CHECK_STRING(pointer_type(), "");
	contents.pointers[0] = DIRECT + (SLAB - 1) * PAGE; /* no slab's page */
	CHECK_STRING(pointer_type(), "");
	contents.pointers[0] = VMALLOC; /* not the direct map */
	CHECK_STRING(pointer_type(), "");
	contents.pointers[0] = DIRECT + PAGES * PAGE; /* no struct page */
	CHECK_STRING(pointer_type(), "");
}

/* What is no cache, and one that serves several types. */
static void test_caches(void)
{
	fill("dentry");
	contents.cache.references = 2;
	CHECK_STRING(pointer_type(), "");
	fill("dentry");
	contents.cache.size = 0;
	CHECK_STRING(pointer_type(), "");
	fill("dentry");
	contents.cache.object_size = SLOT + 8; /* larger than its place */
	CHECK_STRING(pointer_type(), "");
	fill("dentry");
	pages[SLAB].slab_cache = 0x1234;
	CHECK_STRING(pointer_type(), "");
}

static void test_words(void)
{
	struct asked *asked = asked_create(&machine.target);
	fill("dentry");
	for (size_t i = 0; i < ARRAY_COUNT(contents.pointers); i++)
		contents.pointers[i] = object((unsigned int)i);
	ask_source(asked, slab_collect, "pointers");
	CHECK_U64(asked->clues.count, 4);
	CHECK(find_clue(asked, CLUE_VALUE, 24) && !find_clue(asked, CLUE_VALUE, 32));
	/* Constants never point at the heap. */
	asked->question.is_constant = true;
	asked->clues.count = 0;
	CHECK_OK(slab_collect(&asked->question, &asked->clues));
	CHECK_U64(asked->clues.count, 0);
	asked_destroy(asked);
}

/* Behind an object on the heap lies the next one, whatever its type says of its length. */
static void test_walk(void)
{
	struct asked *asked = asked_create(&machine.target);
	struct pointer_walk *walk;
	size_t found;
	fill("tables");
	uint64_t *table = heap + (object(3) - DIRECT) / 8;
	table[SLOT / 8 - 1] = AT(cache);    /* the last item that is in the slot */
	table[SLOT / 8] = AT(pointers) + 8; /* the next object's first word */
	CHECK_OK(pointer_walk_create(asked->knowledge, &walk));
	CHECK_OK(pointer_walk_add(walk, asked->layout, object(3), struct_named(asked, "table"), 0));
	CHECK_OK(pointer_walk_run(walk, &found));
	CHECK_U64(found, 1);
	CHECK(has_news(asked, AT(cache), 8, 0));
	CHECK(!has_news(asked, AT(pointers), 48, 0));
	pointer_walk_destroy(walk);
	memset(heap, 0, sizeof(heap));
	asked_destroy(asked);
}

static void ask_all(struct machine *damaged)
{
	struct asked *asked = asked_create(&damaged->target);
	ask_source(asked, slab_collect, "pointers");
	CHECK(asked->clues.count <= 4);
	asked_destroy(asked);
}

static void test_damage(void)
{
	fill("dentry");
	for (size_t i = 0; i < ARRAY_COUNT(contents.pointers); i++)
		contents.pointers[i] = object((unsigned int)i);
	machine_damage(&machine, 3000, ask_all);
	fill("dentry");
	CHECK_STRING(pointer_type(), "struct dentry *");
}

/* --- the type of a cache's objects ----------------------------------------------------------- */

static void check_type(const struct slab_cache *cache, const char *wanted, bool is_sure)
{
	struct slab_type type;
	char spelled[128] = "";
	slab_type_of(&machine.target, cache, &type);
	if (type.type.btf)
		type_spell(type.type, NULL, spelled, sizeof(spelled));
	CHECK_STRING(spelled, wanted);
	CHECK_U64(type.is_sure, is_sure);
}

static void test_cache_types(void)
{
	struct slab_cache cache = { .name = "dentry", .object_size = OBJECT, .slot_size = SLOT };
	check_type(&cache, "struct dentry", true);
	cache.is_shared = true; /* with caches of the same size */
	check_type(&cache, "struct dentry", false);
	cache.is_shared = false;
	cache.object_size = 168; /* of a struct that begins with one? */
	check_type(&cache, "struct dentry", false);
	cache.object_size = 152; /* the struct is larger */
	check_type(&cache, "", false);
	strcpy(cache.name, "names_buffer"); /* but for its buffer */
	cache.object_size = 40;
	check_type(&cache, "struct names_buffer", true);
	strcpy(cache.name, "ext4_inode_cache");
	cache.object_size = 160;
	check_type(&cache, "struct ext4_inode_info", true);
	strcpy(cache.name, "kmalloc-160");
	check_type(&cache, "", false);
	memset(cache.name, 'x', sizeof(cache.name) - 1);
	check_type(&cache, "", false);
}

int main(void)
{
	machine_init(&machine);
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	machine_add_part(&machine, VMEMMAP, pages, sizeof(pages));
	machine_add_part(&machine, DIRECT, heap, sizeof(heap));
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	machine.facts.max_physical = PAGES * PAGE;
	RUN(test_names);
	RUN(test_places);
	RUN(test_caches);
	RUN(test_words);
	RUN(test_walk);
	RUN(test_damage);
	RUN(test_cache_types);
	machine_deinit(&machine);
	return test_finish();
}
