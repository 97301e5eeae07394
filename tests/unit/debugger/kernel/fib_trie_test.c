// SPDX-License-Identifier: GPL-3.0-or-later
/* Routes of a trie by hand, whole and with every link leading anywhere. */
#include "debugger/kernel/fib_trie.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define BASE  0xffff888000100000ull
#define WORDS 1024u

/* Words: the namespace, the lists of tables, a table, its trie, an inner node, two leaves. */
enum {
	NET,
	HEADS = 8,
	TABLE = 300,
	TRIE = 310,
	INNER = 320,
	LEAF_A = 330,
	LEAF_B = 340,
	ALIAS_A = 350,
	ALIAS_B = 360
};

static struct fixture {
	uint64_t words[WORDS];
	struct memory_array memory;
	struct target target;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
} fixture;

static struct found {
	struct fib_route routes[16];
	size_t count, problems;
} found;

static struct error *visit(void *context, const struct fib_route *route)
{
	(void)context;
	if (found.count == 16)
		return error_create(ERROR_OTHER, "too many");
	found.routes[found.count++] = *route;
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
	int u8 = btf__add_int(btf, "unsigned char", 1, 0);
	int pointer = btf__add_ptr(btf, u64);
	int node = btf__add_struct(btf, "hlist_node", 16);
	add("next", u64, 0);
	add("pprev", u64, 8);
	int ipv4 = btf__add_struct(btf, "netns_ipv4", 16);
	add("fib_table_hash", pointer, 0);
	add("fib_has_custom_rules", u8, 8);
	btf__add_struct(btf, "net", 16);
	add("ipv4", ipv4, 0);
	btf__add_struct(btf, "fib_table", 32);
	add("tb_hlist", node, 0);
	add("tb_id", u32, 16);
	add("tb_data", pointer, 24);
	int vector = btf__add_struct(btf, "key_vector", 24);
	add("key", u32, 0);
	add("pos", u8, 4);
	add("bits", u8, 5);
	add("leaf", u64, 8);
	add("tnode", u64, 8);
	btf__add_struct(btf, "trie", 24);
	add("kv", vector, 0);
	btf__add_struct(btf, "fib_alias", 32);
	add("fa_list", node, 0);
	add("fa_slen", u8, 16);
	add("tb_id", u32, 20);
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

static void build_alias(size_t word, size_t leaf, uint64_t suffix, uint64_t table)
{
	fixture.words[word] = 0;
	fixture.words[word + 1] = at(leaf + 1);
	fixture.words[word + 2] = suffix | table << 32;
	fixture.words[leaf + 1] = at(word);
}

/* 10.0.0.0/8 and 192.0.0.0/4 of table 254; position in bits 32 to 39, how many in 40 to 47. */
static void build(void)
{
	memset(fixture.words, 0, sizeof(fixture.words));
	fixture.words[NET] = at(HEADS);
	fixture.words[HEADS] = at(TABLE);
	fixture.words[TABLE + 1] = at(HEADS);
	fixture.words[TABLE + 2] = 254;
	fixture.words[TABLE + 3] = at(TRIE);
	fixture.words[TRIE + 1] = at(INNER);
	fixture.words[INNER] = UINT64_C(31) << 32 | UINT64_C(1) << 40;
	fixture.words[INNER + 1] = at(LEAF_A);
	fixture.words[INNER + 2] = at(LEAF_B);
	fixture.words[LEAF_A] = 0x0a000000;
	fixture.words[LEAF_B] = 0xc0000000;
	build_alias(ALIAS_A, LEAF_A, 24, 254);
	build_alias(ALIAS_B, LEAF_B, 28, 254);
}

static void read_routes(void)
{
	const struct fib_visitor visitor = { visit, broken, NULL, NULL };
	struct object net;
	memset(&found, 0, sizeof(found));
	CHECK_OK(object_at(&fixture.target, "struct net", at(NET), &net));
	CHECK_OK(fib_trie_for_each(&net, &visitor));
}

static void test_whole(void)
{
	build();
	read_routes();
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.count, 2);
	CHECK_U64(found.routes[0].key, 0x0a000000);
	CHECK_U64(found.routes[0].length, 8);
	CHECK_U64(found.routes[1].length, 4);
	CHECK_U64(found.routes[1].table, 254);
	/* Another table's, in the same trie. */
	fixture.words[ALIAS_B + 2] = 28 | UINT64_C(255) << 32;
	read_routes();
	CHECK_U64(found.count, 1);
	CHECK_U64(found.problems, 0);
	/* A suffix of more bits than there are. */
	build();
	fixture.words[ALIAS_A + 2] = 33 | UINT64_C(254) << 32;
	read_routes();
	CHECK_U64(found.count, 1);
	CHECK_U64(found.problems, 1);
}

/* Each link leads to each node, to nothing and out of memory: the walk ends, and invents nothing.
 */
static void test_damage(void)
{
	static const size_t links[] = { HEADS,	    TABLE + 3,	TRIE + 1, INNER + 1, INNER + 2,
					LEAF_A + 1, LEAF_B + 1, ALIAS_A,  ALIAS_B };
	static const size_t places[] = { TABLE, TRIE, INNER, LEAF_A, LEAF_B, ALIAS_A, ALIAS_B };
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		for (size_t k = 0; k <= sizeof(places) / sizeof(*places); k++) {
			build();
			fixture.words[links[i]] = k < sizeof(places) / sizeof(*places)
							  ? at(places[k])
							  : 0xdead000000000100;
			read_routes();
			CHECK(found.count <= 4);
		}
}

/* A node that claims to decide on 255 bits, or on bits of its own above it. */
static void test_wide(void)
{
	build();
	fixture.words[INNER] = UINT64_C(0) << 32 | UINT64_C(255) << 40;
	read_routes();
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, 0);
	build();
	fixture.words[INNER] = UINT64_C(32) << 40;
	read_routes();
	CHECK_U64(found.problems, 1);
	/* The inner node as its own child. */
	build();
	fixture.words[INNER + 1] = at(INNER);
	read_routes();
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, 1);
}

int main(void)
{
	create();
	RUN(test_whole);
	RUN(test_damage);
	RUN(test_wide);
	symtab_destroy(fixture.target.symbols);
	image_destroy(&fixture.tables);
	btf_close(fixture.btf);
	btf__free(fixture.source);
	return test_finish();
}
