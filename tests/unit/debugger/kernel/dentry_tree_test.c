// SPDX-License-Identifier: GPL-3.0-or-later
/* Names in folders by hand, of both kinds of lists, whole and with every link leading anywhere. */
#include "base/array.h"
#include "debugger/kernel/dentry_tree.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define BASE  0xffff888000100000ull
#define WORDS 1024u
#define FOUND 16u

/* Words: a superblock, its root, a folder with a file, a file, and their names. */
enum { SUPER, ROOT = 16, FOLDER = 32, FILE_A = 48, FILE_B = 64, NAMES = 100, OTHER = 200 };
/* Words of a dentry. */
enum { PARENT, SB, NAME_LENGTH, NAME_AT, HEAD, LINK = 6 };

struct fixture {
	uint64_t words[WORDS];
	struct memory_array memory;
	struct target target;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
	bool is_hlist;
};

static struct found {
	uint64_t dentries[FOUND];
	size_t count, problems;
} found;

static struct error *visit(void *context, const struct object *dentry)
{
	(void)context;
	if (found.count == FOUND)
		return error_create(ERROR_OTHER, "too many");
	found.dentries[found.count++] = dentry->address;
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

static void add(struct fixture *fixture, const char *name, int type, size_t offset)
{
	btf__add_field(fixture->source, name, type, (uint32_t)offset * 8, 0);
}

static void add_types(struct fixture *fixture)
{
	struct libbpf_btf *btf = fixture->source = btf__new_empty();
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int byte = btf__add_int(btf, "char", 1, 1);
	int text = btf__add_ptr(btf, byte);
	int list = btf__add_struct(btf, "list_head", 16);
	add(fixture, "next", u64, 0);
	add(fixture, "prev", u64, 8);
	int node = btf__add_struct(btf, "hlist_node", 16);
	add(fixture, "next", u64, 0);
	add(fixture, "pprev", u64, 8);
	int head = btf__add_struct(btf, "hlist_head", 8);
	add(fixture, "first", u64, 0);
	int name = btf__add_struct(btf, "qstr", 16);
	add(fixture, "len", u64, 0);
	add(fixture, "name", text, 8);
	int pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "dentry", 64);
	add(fixture, "d_parent", pointer, 8 * PARENT);
	add(fixture, "d_sb", u64, 8 * SB);
	add(fixture, "d_name", name, 8 * NAME_LENGTH);
	add(fixture, fixture->is_hlist ? "d_children" : "d_subdirs",
	    fixture->is_hlist ? head : list, 8 * HEAD);
	add(fixture, fixture->is_hlist ? "d_sib" : "d_child", fixture->is_hlist ? node : list,
	    8 * LINK);
	btf__add_struct(btf, "super_block", 8);
	add(fixture, "s_root", pointer, 0);
}

static void create(struct fixture *fixture)
{
	static const struct test_symbol symbols[] = { { 0xffffffff81000000, 'T', "_text" },
						      { 0xffffffff81000000, 'T', "_stext" },
						      { 0xffffffff82000000, 'D', "_end" } };
	uint32_t size = 0;
	add_types(fixture);
	const void *raw = btf__raw_data(fixture->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &fixture->btf));
	memory_array_init(&fixture->memory, BASE, fixture->words, sizeof(fixture->words));
	fixture->target = (struct target){ .memory = &fixture->memory.memory, .btf = fixture->btf };
	image_symbols(&fixture->tables, 0xffffffff83000000, symbols, 3, &fixture->target.symbols);
}

static void destroy(struct fixture *fixture)
{
	symtab_destroy(fixture->target.symbols);
	image_destroy(&fixture->tables);
	btf_close(fixture->btf);
	btf__free(fixture->source);
}

/* A dentry is the first, and a list of one or two, of what is in `parent`. */
static void put(struct fixture *fixture, size_t word, size_t parent, const char *name)
{
	uint64_t *dentry = fixture->words + word, *folder = fixture->words + parent;
	size_t place = NAMES + word / 2;
	dentry[PARENT] = at(parent);
	dentry[SB] = at(SUPER);
	dentry[NAME_LENGTH] = strlen(name);
	dentry[NAME_AT] = at(place);
	memcpy(fixture->words + place, name, strlen(name) + 1);
	if (!fixture->is_hlist)
		dentry[HEAD] = dentry[HEAD + 1] = at(word + HEAD);
	if (word == parent)
		return;
	uint64_t next = folder[HEAD];
	dentry[LINK] = next;
	dentry[LINK + 1] = at(parent + HEAD);
	folder[HEAD] = at(word + LINK);
	if (next)
		fixture->words[(next - BASE) / 8 + 1] = at(word + LINK);
}

static void build(struct fixture *fixture)
{
	memset(fixture->words, 0, sizeof(fixture->words));
	fixture->words[SUPER] = at(ROOT);
	put(fixture, ROOT, ROOT, "/");
	put(fixture, FOLDER, ROOT, "folder");
	put(fixture, FILE_A, ROOT, "one");
	put(fixture, FILE_B, FOLDER, "two");
}

static void read_names(struct fixture *fixture)
{
	const struct dentry_visitor visitor = { visit, broken, NULL };
	struct object super;
	memset(&found, 0, sizeof(found));
	CHECK_OK(object_at(&fixture->target, "struct super_block", at(SUPER), &super));
	error_free(dentry_tree_for_each(&super, &visitor));
}

static void check_path(struct fixture *fixture, size_t word, const char *wanted)
{
	char buffer[PATH_SIZE];
	const char *path = "";
	struct object dentry;
	CHECK_OK(object_at(&fixture->target, "struct dentry", at(word), &dentry));
	CHECK_OK(dentry_path(dentry, NULL, buffer, &path));
	CHECK_STRING(path, wanted);
}

static void check_whole(struct fixture *fixture)
{
	build(fixture);
	read_names(fixture);
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.count, 4);
	CHECK_U64(found.dentries[0], at(ROOT));
	check_path(fixture, ROOT, "/");
	check_path(fixture, FILE_A, "/one");
	check_path(fixture, FILE_B, "/folder/two");
	/* A mark of who reads the folder has no name. */
	fixture->words[FILE_A + NAME_LENGTH] = 0;
	read_names(fixture);
	CHECK_U64(found.problems, 0);
	CHECK_U64(found.count, 3);
}

/* Each link leads to each node, to nothing and out of memory: each name comes once at most. */
static void check_damage(struct fixture *fixture)
{
	static const size_t dentries[] = { ROOT, FOLDER, FILE_A, FILE_B };
	static const size_t members[] = { PARENT, SB, HEAD, HEAD + 1, LINK, LINK + 1, NAME_AT };
	for (size_t i = 0; i < ARRAY_COUNT(dentries) * ARRAY_COUNT(members); i++)
		for (size_t k = 0; k < 4 * ARRAY_COUNT(dentries) + 2; k++) {
			static const size_t parts[] = { 0, HEAD, LINK, LINK + 1 };
			build(fixture);
			uint64_t *word = &fixture->words[dentries[i / ARRAY_COUNT(members)] +
							 members[i % ARRAY_COUNT(members)]];
			*word = k < 16	  ? at(dentries[k / 4] + parts[k % 4])
				: k == 16 ? 0
					  : 0xdead000000000100;
			read_names(fixture);
			CHECK(found.count <= 4);
			for (size_t one = 0; one < found.count; one++)
				for (size_t other = 0; other < one; other++)
					CHECK(found.dentries[one] != found.dentries[other]);
		}
}

static void check_lies(struct fixture *fixture)
{
	/* A folder in itself, and one that is another filesystem's. */
	build(fixture);
	fixture->words[FOLDER + PARENT] = at(FOLDER);
	read_names(fixture);
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, 2);
	build(fixture);
	fixture->words[FOLDER + SB] = at(OTHER);
	read_names(fixture);
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, 2);
	/* A root that is its own child, as it is its own parent. */
	build(fixture);
	fixture->words[ROOT + HEAD] = fixture->words[ROOT + HEAD + 1] = at(ROOT + LINK);
	fixture->words[ROOT + LINK] = fixture->is_hlist ? 0 : at(ROOT + HEAD);
	fixture->words[ROOT + LINK + 1] = at(ROOT + HEAD);
	read_names(fixture);
	CHECK_U64(found.problems, 1);
	CHECK_U64(found.count, 1);
	/* A root that is none. */
	build(fixture);
	fixture->words[ROOT + PARENT] = at(FOLDER);
	read_names(fixture);
	CHECK_U64(found.count, 0);
}

static struct fixture lists, hlists = { .is_hlist = true };

static void test_lists(void)
{
	check_whole(&lists);
	check_damage(&lists);
	check_lies(&lists);
}

static void test_hlists(void)
{
	check_whole(&hlists);
	check_damage(&hlists);
	check_lies(&hlists);
}

int main(void)
{
	create(&lists);
	create(&hlists);
	RUN(test_lists);
	RUN(test_hlists);
	destroy(&lists);
	destroy(&hlists);
	return test_finish();
}
