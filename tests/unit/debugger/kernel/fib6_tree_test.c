// SPDX-License-Identifier: GPL-3.0-or-later
/* Routes of IPv6 in a tree by hand, whole and with every link leading anywhere. */
#include "debugger/kernel/fib6_tree.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define BASE  0xffff888000100000ull
#define WORDS 1024u

/*
 * Words: the namespace, the lists of tables, a table with its root, two nodes below it, one for
 * sources below that, routes.
 */
enum {
	NET,
	HEADS = 8,
	TABLE = 300,
	ROOT = TABLE + 3,
	NODE_A = 320,
	NODE_B = 330,
	SOURCE = 340,
	ROUTE_A = 350,
	ROUTE_B = 352,
	ROUTE_C = 354,
	NOTHING = 356
};

/* Words of a node. */
enum { PARENT, LEFT, RIGHT, SUBTREE, LEAF, BITS };

static struct fixture {
	uint64_t words[WORDS];
	struct memory_array memory;
	struct target target;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
} fixture;

static struct found {
	uint64_t routes[16];
	uint32_t table;
	size_t count, problems;
} found;

static struct error *visit(void *context, const struct object *route, uint32_t table)
{
	(void)context;
	if (found.count == 16)
		return error_create(ERROR_OTHER, "too many");
	found.routes[found.count++] = route->address;
	found.table = table;
	return NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	(void)context;
	found.problems++;
	error_free(problem);
	return NULL;
}

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

static void add(const char *name, int type, size_t offset)
{
	btf__add_field(fixture.source, name, type, (uint32_t)offset * 8, 0);
}

static void create(void)
{
	struct libbpf_btf *btf = fixture.source = btf__new_empty();
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int u16 = btf__add_int(btf, "short unsigned int", 2, 0);
	int u8 = btf__add_int(btf, "unsigned char", 1, 0);
	int pointer = btf__add_ptr(btf, u64);
	int hlist = btf__add_struct(btf, "hlist_node", 16);
	add("next", u64, 0);
	add("pprev", u64, 8);
	int ipv6 = btf__add_struct(btf, "netns_ipv6", 24);
	add("fib_table_hash", pointer, 0);
	add("fib6_null_entry", u64, 8);
	add("fib6_has_custom_rules", u8, 16);
	btf__add_struct(btf, "net", 24);
	add("ipv6", ipv6, 0);
	int node = btf__add_struct(btf, "fib6_node", 48);
	add("parent", u64, 0);
	add("left", u64, 8);
	add("right", u64, 16);
	add("subtree", u64, 24);
	add("leaf", u64, 32);
	add("fn_bit", u16, 40);
	add("fn_flags", u16, 42);
	btf__add_struct(btf, "fib6_table", 72);
	add("tb6_hlist", hlist, 0);
	add("tb6_id", u32, 16);
	add("tb6_root", node, 24);
	btf__add_struct(btf, "fib6_info", 16);
	add("fib6_next", u64, 0);
	add("fib6_node", u64, 8);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture.btf));
	memory_array_init(&fixture.memory, BASE, fixture.words, sizeof(fixture.words));
	fixture.target = (struct target){ .memory = &fixture.memory.memory, .btf = fixture.btf };
	static const struct test_symbol symbols[] = { { 0xffffffff81000000, 'T', "_text" },
						      { 0xffffffff81000000, 'T', "_stext" },
						      { 0xffffffff82000000, 'D', "_end" } };
	image_symbols(&fixture.tables, 0xffffffff83000000, symbols, 3, &fixture.target.symbols);
}

static void build_node(size_t word, size_t parent, uint64_t bit, uint64_t flags, size_t leaf)
{
	fixture.words[word + PARENT] = parent ? at(parent) : 0;
	fixture.words[word + LEAF] = at(leaf);
	fixture.words[word + BITS] = bit | flags << 16;
}

/* The root has no route but the one that stands for none; one of its nodes has two. */
static void build(void)
{
	memset(fixture.words, 0, sizeof(fixture.words));
	fixture.words[NET] = at(HEADS);
	fixture.words[NET + 1] = at(NOTHING);
	fixture.words[HEADS + 5] = at(TABLE);
	fixture.words[TABLE + 1] = at(HEADS + 5);
	fixture.words[TABLE + 2] = 254;
	build_node(ROOT, 0, 0, 7, NOTHING);
	fixture.words[ROOT + LEFT] = at(NODE_A);
	build_node(NODE_A, ROOT, 64, 4, ROUTE_A);
	/* It leads to what is below, and its leaf is of there. */
	fixture.words[ROOT + RIGHT] = at(NODE_B);
	build_node(NODE_B, ROOT, 8, 0, ROUTE_C);
	fixture.words[NODE_B + SUBTREE] = at(SOURCE);
	build_node(SOURCE, NODE_B, 0, 4, ROUTE_C);
	fixture.words[ROUTE_A] = at(ROUTE_B);
	fixture.words[ROUTE_A + 1] = fixture.words[ROUTE_B + 1] = at(NODE_A);
	fixture.words[ROUTE_C + 1] = at(SOURCE);
}

static void read_routes(void)
{
	const struct fib6_visitor visitor = { visit, broken, NULL, NULL };
	struct object net;
	memset(&found, 0, sizeof(found));
	CHECK_OK(object_at(&fixture.target, "struct net", at(NET), &net));
	CHECK_OK(fib6_tree_for_each(&net, &visitor));
}

static void test_whole(void)
{
	build();
	read_routes();
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.count, 3);
	CHECK_U64(found.routes[0], at(ROUTE_A));
	CHECK_U64(found.routes[1], at(ROUTE_B));
	CHECK_U64(found.routes[2], at(ROUTE_C));
	CHECK_U64(found.table, 254);
}

/* Each link leads to each node, to nothing and out of memory: the walk ends. */
static void test_damage(void)
{
	static const size_t links[] = { HEADS + 5,     TABLE,	       ROOT + LEFT,
					ROOT + RIGHT,  ROOT + SUBTREE, ROOT + LEAF,
					NODE_A + LEFT, NODE_A + RIGHT, NODE_A + SUBTREE,
					NODE_A + LEAF, NODE_B + LEFT,  NODE_B + SUBTREE,
					SOURCE + LEFT, SOURCE + RIGHT, SOURCE + SUBTREE,
					SOURCE + LEAF, ROUTE_A,	       ROUTE_B,
					ROUTE_C };
	static const size_t places[] = { TABLE,	  ROOT,	   NODE_A,  NODE_B, SOURCE,
					 ROUTE_A, ROUTE_B, ROUTE_C, NOTHING };
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		for (size_t k = 0; k <= sizeof(places) / sizeof(*places); k++) {
			build();
			fixture.words[links[i]] = k < sizeof(places) / sizeof(*places)
							  ? at(places[k])
							  : 0xdead000000000100;
			read_routes();
			/* Each once. What lies there may pass for a route. */
			CHECK(found.count <= 4);
			for (size_t one = 1; one < found.count; one++)
				CHECK(found.routes[one] != found.routes[one - 1]);
		}
}

static void check_broken(size_t routes)
{
	read_routes();
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, routes);
}

static void test_lies(void)
{
	/* One child twice: each level would double what is looked at. */
	build();
	fixture.words[ROOT + RIGHT] = at(NODE_A);
	check_broken(0);
	/* A node as its own child. */
	build();
	fixture.words[NODE_A + LEFT] = at(NODE_A);
	fixture.words[NODE_A + PARENT] = at(NODE_A);
	check_broken(1);
	/* Of no more bits than its parent, or than there are. */
	build();
	fixture.words[NODE_A + BITS] = 0 | 4 << 16;
	check_broken(1);
	build();
	fixture.words[NODE_A + BITS] = 129 | 4 << 16;
	check_broken(1);
	/* Routes in a ring, and those of another node. */
	build();
	fixture.words[ROUTE_B] = at(ROUTE_B);
	check_broken(3);
	build();
	fixture.words[NODE_A + LEAF] = at(ROUTE_C);
	check_broken(1);
}

int main(void)
{
	create();
	RUN(test_whole);
	RUN(test_damage);
	RUN(test_lies);
	symtab_destroy(fixture.target.symbols);
	image_destroy(&fixture.tables);
	btf_close(fixture.btf);
	btf__free(fixture.source);
	return test_finish();
}
