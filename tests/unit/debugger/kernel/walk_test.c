// SPDX-License-Identifier: GPL-3.0-or-later
/* Walking hash lists, chains, red-black trees, xarrays and maple trees, whole and damaged. */
#include "debugger/kernel/walk.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"
#include <stddef.h>
#include <stdio.h>

#define BASE  0xffff888000100000ull
#define WORDS 4096u

/* As the kernel has them; the offsets are the compiler's. */
struct rb_node {
	uint64_t __rb_parent_color, rb_right, rb_left;
};

#define SLOTS	    16
#define WORD_LEVELS 16 /* of 4 bits */
struct xa_node {
	uint8_t shift, offset, count, nr_values;
	uint64_t parent, array;
	uint64_t slots[SLOTS];
};

struct maple_range_64 {
	uint64_t parent, pivot[15], slot[16];
};

struct maple_arange_64 {
	uint64_t parent, pivot[9], slot[10], gap[10];
};

static struct fixture {
	uint64_t words[WORDS];
	struct memory_array memory;
	struct target target;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
} fixture;

/* What a walk found. */
static struct found {
	struct walk_item items[256];
	size_t count, problems;
	char problem[256];
} found;

static struct error *visit(void *context, const struct walk_item *item)
{
	(void)context;
	if (found.count == 256)
		return error_create(ERROR_OTHER, "too many");
	found.items[found.count++] = *item;
	return NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	(void)context;
	if (!found.problems++)
		snprintf(found.problem, sizeof(found.problem), "%s", problem->message);
	error_free(problem);
	return NULL;
}

static const struct walk walk = { .target = &fixture.target, .visit = visit, .broken = broken };

/* Runs one walk on an empty `found`. */
#define WALK(call)                                                                                 \
	do {                                                                                       \
		memset(&found, 0, sizeof(found));                                                  \
		CHECK_OK(call);                                                                    \
	} while (0)

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

static void clear(void)
{
	memset(fixture.words, 0, sizeof(fixture.words));
}

static void add(const char *name, int type, size_t offset)
{
	btf__add_field(fixture.source, name, type, offset * 8, 0);
}

static void create(void)
{
	struct libbpf_btf *btf = fixture.source = btf__new_empty();
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int u8 = btf__add_int(btf, "unsigned char", 1, 0);
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int slots = btf__add_array(btf, u32, u64, SLOTS), a15 = btf__add_array(btf, u32, u64, 15);
	int a9 = btf__add_array(btf, u32, u64, 9), a10 = btf__add_array(btf, u32, u64, 10);
	btf__add_struct(btf, "rb_node", sizeof(struct rb_node));
	add("__rb_parent_color", u64, offsetof(struct rb_node, __rb_parent_color));
	add("rb_right", u64, offsetof(struct rb_node, rb_right));
	add("rb_left", u64, offsetof(struct rb_node, rb_left));
	btf__add_struct(btf, "rb_root", 8);
	add("rb_node", u64, 0);
	btf__add_struct(btf, "xa_node", sizeof(struct xa_node));
	add("shift", u8, offsetof(struct xa_node, shift));
	add("offset", u8, offsetof(struct xa_node, offset));
	add("parent", u64, offsetof(struct xa_node, parent));
	add("slots", slots, offsetof(struct xa_node, slots));
	int xarray = btf__add_struct(btf, "xarray", 16);
	add("xa_head", u64, 8);
	btf__add_struct(btf, "idr", 24);
	add("idr_rt", xarray, 0);
	add("idr_base", u32, 16);
	btf__add_struct(btf, "maple_tree", 16);
	add("ma_root", u64, 8);
	btf__add_struct(btf, "maple_range_64", sizeof(struct maple_range_64));
	add("pivot", a15, offsetof(struct maple_range_64, pivot));
	add("slot", slots, offsetof(struct maple_range_64, slot));
	btf__add_struct(btf, "maple_arange_64", sizeof(struct maple_arange_64));
	add("pivot", a9, offsetof(struct maple_arange_64, pivot));
	add("slot", a10, offsetof(struct maple_arange_64, slot));
	btf__add_enum(btf, "maple_type", 4);
	btf__add_enum_value(btf, "maple_dense", 0);
	btf__add_enum_value(btf, "maple_leaf_64", 1);
	btf__add_enum_value(btf, "maple_range_64", 2);
	btf__add_enum_value(btf, "maple_arange_64", 3);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture.btf));
	memory_array_init(&fixture.memory, BASE, fixture.words, sizeof(fixture.words));
	fixture.target = (struct target){ .memory = &fixture.memory.memory, .btf = fixture.btf };
	/* Types are only asked for where there are symbols. */
	static const struct test_symbol symbols[] = { { 0xffffffff81000000, 'T', "_text" },
						      { 0xffffffff81000000, 'T', "_stext" },
						      { 0xffffffff82000000, 'D', "_end" } };
	image_symbols(&fixture.tables, 0xffffffff83000000, symbols, 3, &fixture.target.symbols);
}

/* --- hash lists and chains ------------------------------------------------------------------- */

#define NODES 6u

/* A head at word 0 and nodes of two words from word 2 on. */
static void build_hlist(uint64_t lock, uint64_t end)
{
	clear();
	fixture.words[0] = at(2) | lock;
	for (size_t i = 0; i < NODES; i++) {
		fixture.words[2 + 2 * i] = i + 1 < NODES ? at(4 + 2 * i) : end;
		fixture.words[3 + 2 * i] = i ? at(2 * i) : at(0);
	}
}

static void test_hlist(void)
{
	build_hlist(0, 0);
	WALK(walk_hlist(&walk, BASE, HLIST_PLAIN));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.items[1].address, at(4));
	build_hlist(1, 0);
	WALK(walk_hlist(&walk, BASE, HLIST_BL));
	CHECK_U64(found.count, NODES);
	build_hlist(0, 0x8d1);
	WALK(walk_hlist(&walk, BASE, HLIST_NULLS));
	CHECK_U64(found.count, NODES);
	clear();
	WALK(walk_hlist(&walk, BASE, HLIST_PLAIN));
	CHECK_U64(found.count + found.problems, 0);
	WALK(walk_hlist(&walk, 8, HLIST_PLAIN));
	CHECK_U64(found.problems, 1);
}

/* Each node leads to each other one: what lies before the wrong link is found, once. */
static void test_hlist_damage(void)
{
	for (size_t from = 0; from < NODES; from++) {
		for (size_t to = 0; to <= NODES; to++) {
			if (to == from + 1)
				continue;
			build_hlist(0, 0);
			fixture.words[2 + 2 * from] = to < NODES ? at(2 + 2 * to)
								 : 0xdead000000000100;
			WALK(walk_hlist(&walk, BASE, HLIST_PLAIN));
			CHECK_U64(found.count, from + 1);
			CHECK_U64(found.problems, 1);
		}
	}
}

/* The head of an empty list where a hash list's should be: a node that points back to its head,
 * which it is. */
static void test_hlist_round(void)
{
	clear();
	fixture.words[0] = fixture.words[1] = at(0);
	WALK(walk_hlist(&walk, BASE, HLIST_PLAIN));
	CHECK_U64(found.count, 0);
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "leads back to its head"));
	/* The same over several nodes. */
	build_hlist(0, at(0));
	fixture.words[1] = at(2 * NODES);
	WALK(walk_hlist(&walk, BASE, HLIST_PLAIN));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 1);
}

static void test_chain(void)
{
	clear();
	for (size_t i = 0; i < NODES; i++)
		fixture.words[3 * i + 1] = i + 1 < NODES ? at(3 * i + 3) : 0;
	WALK(walk_chain(&walk, BASE, 8));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 0);
	/* Nobody knows what was behind a node that leads back, be it to the first. */
	fixture.words[3 * NODES - 2] = BASE;
	WALK(walk_chain(&walk, BASE, 8));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "leads back to 0xffff888000100000"));
	WALK(walk_chain_or_ring(&walk, BASE, 8));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 0);
	fixture.words[3 * NODES - 2] = at(6);
	WALK(walk_chain(&walk, BASE, 8));
	CHECK_U64(found.count, NODES);
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "leads back to 0xffff888000100030"));
	fixture.words[4] = 0x10;
	WALK(walk_chain(&walk, BASE, 8));
	CHECK_U64(found.count, 2);
	CHECK_U64(found.problems, 1);
	WALK(walk_chain(&walk, 0, 8));
	CHECK_U64(found.count + found.problems, 0);
}

/* A head at word 0 and a ring of NODES list_heads behind it. */
static void build_list(void)
{
	clear();
	for (size_t i = 0; i <= NODES; i++) {
		fixture.words[2 * i] = at(2 * ((i + 1) % (NODES + 1)));
		fixture.words[2 * i + 1] = at(2 * ((i + NODES) % (NODES + 1)));
	}
}

/* Behind a break the rest is found from the other end, in order and once. */
static void test_list_damage(void)
{
	build_list();
	WALK(walk_list(&walk, BASE, false));
	CHECK_U64(found.count, NODES);
	for (size_t from = 1; from <= NODES; from++) {
		build_list();
		fixture.words[2 * from] = 0xdead000000000100;
		WALK(walk_list(&walk, BASE, false));
		CHECK_U64(found.problems, 1);
		for (size_t i = 1; i < found.count; i++)
			CHECK(found.items[i].address > found.items[i - 1].address);
		/* The broken node itself is refused from behind, unless it was met before. */
		CHECK_U64(found.count, NODES);
		WALK(walk_list(&walk, BASE, true));
		CHECK_U64(found.problems, 1);
	}
}

/* --- red-black trees ------------------------------------------------------------------------- */

#define RB_NODES 31u

static struct rb_node *rb(size_t index)
{
	return (struct rb_node *)&fixture.words[8 + 3 * index];
}

static uint64_t rb_at(size_t index)
{
	return at(8 + 3 * index);
}

/* A full binary tree over the numbers [low, high); the root of it. */
static uint64_t build_rb(size_t low, size_t high, uint64_t parent)
{
	if (low >= high)
		return 0;
	size_t middle = (low + high) / 2;
	rb(middle)->__rb_parent_color = parent | 1;
	rb(middle)->rb_left = build_rb(low, middle, rb_at(middle));
	rb(middle)->rb_right = build_rb(middle + 1, high, rb_at(middle));
	return rb_at(middle);
}

static void build_rbtree(void)
{
	clear();
	fixture.words[0] = build_rb(0, RB_NODES, 0);
}

static void check_order(void)
{
	for (size_t i = 1; i < found.count; i++)
		CHECK(found.items[i].address > found.items[i - 1].address);
}

static void test_rbtree(void)
{
	build_rbtree();
	WALK(walk_rbtree(&walk, BASE));
	CHECK_U64(found.count, RB_NODES);
	CHECK_U64(found.problems, 0);
	check_order();
	clear();
	WALK(walk_rbtree(&walk, BASE));
	CHECK_U64(found.count + found.problems, 0);
}

/* Any link to anywhere: what is not below it is still found, nothing twice. */
static void test_rbtree_damage(void)
{
	for (size_t node = 0; node < RB_NODES; node++) {
		for (size_t to = 0; to <= RB_NODES; to++) {
			for (int side = 0; side < 2; side++) {
				build_rbtree();
				uint64_t *link = side ? &rb(node)->rb_left : &rb(node)->rb_right;
				uint64_t wrong = to < RB_NODES ? rb_at(to) : 0x1230;
				if (*link == wrong)
					continue;
				*link = wrong;
				WALK(walk_rbtree(&walk, BASE));
				/* Nobody can tell which of two equal sides is wrong. */
				if (rb(node)->rb_left != rb(node)->rb_right)
					check_order();
				CHECK_U64(found.problems, 1);
				CHECK(found.count < RB_NODES + 1 && found.count > RB_NODES / 2 - 1);
			}
		}
	}
}

/* --- xarrays --------------------------------------------------------------------------------- */

static struct xa_node *xa(size_t index)
{
	return (struct xa_node *)&fixture.words[16 + index * sizeof(struct xa_node) / 8];
}

static uint64_t xa_at(size_t index)
{
	return BASE + (uint64_t)((char *)xa(index) - (char *)fixture.words);
}

/* A root with leaves in slots 0 and 3; entries: 1 -> 0x1000, 2 -> value 7, 50-51 -> 0x2000. */
static void build_xarray(void)
{
	clear();
	fixture.words[1] = xa_at(0) | 2;
	*xa(0) = (struct xa_node){ .shift = 4 };
	xa(0)->slots[0] = xa_at(1) | 2;
	xa(0)->slots[3] = xa_at(2) | 2;
	*xa(1) = (struct xa_node){ .parent = xa_at(0) };
	xa(1)->slots[1] = 0x1000;
	xa(1)->slots[2] = 7 << 1 | 1;
	*xa(2) = (struct xa_node){ .parent = xa_at(0), .offset = 3 };
	xa(2)->slots[2] = 0x2000;
	xa(2)->slots[3] = 2 << 2 | 2;	/* a sibling */
	xa(2)->slots[4] = 257 << 2 | 2; /* XA_ZERO_ENTRY */
}

static void test_xarray(void)
{
	build_xarray();
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 3);
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.items[0].index, 1);
	CHECK_U64(found.items[0].address, 0x1000);
	CHECK(found.items[1].is_value && found.items[1].address == 7);
	CHECK_U64(found.items[2].index, 50);
	CHECK_U64(found.items[2].last, 51);
	fixture.words[2] = 5; /* idr_base */
	WALK(walk_idr(&walk, BASE));
	CHECK_U64(found.items[2].index, 55);
	fixture.words[1] = 0x3000;
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK_U64(found.items[0].index, 0);
}

static void test_xarray_damage(void)
{
	build_xarray();
	xa(0)->slots[0] = xa_at(0) | 2; /* itself */
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK_U64(found.problems, 1);
	build_xarray();
	xa(0)->slots[5] = xa_at(2) | 2; /* twice: it says itself which is right */
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 3);
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "in slot 5 and says 3"));
	build_xarray();
	xa(1)->shift = 4;
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK_U64(found.problems, 1);
	build_xarray();
	xa(0)->slots[7] = 0xdeadbeef00000002;
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 3);
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "for index 112"));
}

/* Nodes that lie in all slots of the one above, without an entry at the end: 16 times as many
 * visits for each level, unless it is asked in which slot they say they are. */
static void test_xarray_of_equal_slots(void)
{
	clear();
	fixture.words[1] = xa_at(0) | 2;
	for (unsigned int level = 0; level < WORD_LEVELS; level++) {
		*xa(level) = (struct xa_node){ .shift = (uint8_t)(4 * (WORD_LEVELS - 1 - level)),
					       .offset = SLOTS - 1,
					       .parent = level ? xa_at(level - 1) : 0 };
		for (size_t slot = 0; slot < SLOTS && level + 1 < WORD_LEVELS; slot++)
			xa(level)->slots[slot] = xa_at(level + 1) | 2;
	}
	xa(WORD_LEVELS - 1)->slots[1] = 0x1000;
	WALK(walk_xarray(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK_U64(found.items[0].index, UINT64_MAX - 14);
	CHECK_U64(found.problems, (SLOTS - 1) * (WORD_LEVELS - 1));
}

/* --- maple trees ----------------------------------------------------------------------------- */

/* Nodes are aligned to 256 bytes. */
static uint64_t maple_at(size_t index)
{
	return BASE + 256 * (index + 1);
}

static void *maple(size_t index)
{
	return &fixture.words[32 * (index + 1)];
}

static uint64_t encoded(size_t index, unsigned int type)
{
	return maple_at(index) | type << 3 | 4;
}

/* Ranges 0-9 empty, 10-19 -> 0x1000, 20-0x7fff empty, 0x8000-end -> 0x2000; 5 levels of type. */
static void build_maple(void)
{
	clear();
	fixture.words[1] = encoded(0, 3) | 2;
	struct maple_arange_64 *root = maple(0);
	*root = (struct maple_arange_64){ .parent = BASE | 1, .pivot = { 19, UINT64_MAX } };
	root->slot[0] = encoded(1, 1);
	root->slot[1] = encoded(2, 1);
	struct maple_range_64 *low = maple(1), *high = maple(2);
	*low = (struct maple_range_64){ .parent = maple_at(0) | 4, .pivot = { 9, 19 } };
	low->slot[1] = 0x1000;
	/* The pivot of its last slot is left out. */
	*high = (struct maple_range_64){ .parent = maple_at(0) | 12, .pivot = { 0x7fff } };
	high->slot[1] = 0x2000;
}

static void test_maple(void)
{
	build_maple();
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count, 2);
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.items[0].index, 10);
	CHECK_U64(found.items[0].last, 19);
	CHECK_U64(found.items[0].address, 0x1000);
	CHECK_U64(found.items[1].index, 0x8000);
	CHECK_U64(found.items[1].last, UINT64_MAX);
	fixture.words[1] = 0x4000;
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count, 1);
	fixture.words[1] = 0;
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count + found.problems, 0);
}

static void test_maple_damage(void)
{
	build_maple();
	((struct maple_arange_64 *)maple(0))->slot[0] = encoded(0, 3);
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK_U64(found.problems, 1);
	build_maple();
	((struct maple_arange_64 *)maple(0))->slot[0] = encoded(1, 9);
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count, 1);
	CHECK(strstr(found.problem, "unknown type 9"));
	build_maple();
	((struct maple_range_64 *)maple(1))->pivot[1] = 3; /* before the first */
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.problems, 1);
	CHECK(strstr(found.problem, "goes back"));
	build_maple();
	*(uint64_t *)maple(0) = 0; /* dead */
	WALK(walk_maple(&walk, BASE));
	CHECK_U64(found.count, 0);
	CHECK_U64(found.problems, 1);
}

/* --- anything -------------------------------------------------------------------------------- */

static struct error *walk_any(int which)
{
	switch (which) {
	case 0:
		return walk_hlist(&walk, BASE, HLIST_PLAIN);
	case 1:
		return walk_chain(&walk, at(16), 8);
	case 2:
		return walk_rbtree(&walk, BASE);
	case 3:
		return walk_xarray(&walk, BASE);
	case 4:
		return walk_idr(&walk, BASE);
	default:
		return walk_maple(&walk, BASE);
	}
}

/* Words that point somewhere near, with any low bits: every walk ends. */
static void test_random(void)
{
	uint64_t state = 1;
	for (int round = 0; round < 3000; round++) {
		for (size_t i = 0; i < WORDS; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			fixture.words[i] = state >> 62 ? BASE + (state >> 33) % (8 * WORDS) : 0;
			if (state >> 40 & 3)
				fixture.words[i] &= ~(uint64_t)7 | (state >> 50 & 2);
		}
		memset(&found, 0, sizeof(found));
		struct error *error = walk_any(round % 6);
		CHECK(!error || !strcmp(error->message, "too many"));
		error_free(error);
	}
}

int main(void)
{
	create();
	RUN(test_hlist);
	RUN(test_hlist_damage);
	RUN(test_hlist_round);
	RUN(test_chain);
	RUN(test_list_damage);
	RUN(test_rbtree);
	RUN(test_rbtree_damage);
	RUN(test_xarray);
	RUN(test_xarray_damage);
	RUN(test_xarray_of_equal_slots);
	RUN(test_maple);
	RUN(test_maple_damage);
	RUN(test_random);
	symtab_destroy(fixture.target.symbols);
	image_destroy(&fixture.tables);
	btf_close(fixture.btf);
	btf__free(fixture.source);
	return test_finish();
}
