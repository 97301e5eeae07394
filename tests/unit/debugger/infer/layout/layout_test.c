// SPDX-License-Identifier: GPL-3.0-or-later
/* Whose types a view of types has: ids of two modules, and of what is made on top, are the same. */
#include "debugger/infer/layout/layout.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

struct chain {
	struct libbpf_btf *writers[3]; /* the kernel, two modules on top of it */
	struct btf *levels[3];
	struct layout *kernel, *module;
	uint32_t of_kernel, of_module; /* structs; the ids of both modules' are equal */
};

static void add_struct(struct libbpf_btf *writer, const char *name, int member)
{
	btf__add_struct(writer, name, 8);
	btf__add_field(writer, "member", member, 0, 0);
}

static void open_level(struct chain *chain, size_t level)
{
	uint32_t size;
	const void *data = btf__raw_data(chain->writers[level], &size);
	CHECK_OK(btf_open(data, size, level ? chain->levels[0] : NULL, "level",
			  &chain->levels[level]));
}

static void init(struct chain *chain)
{
	*chain = (struct chain){ .writers = { btf__new_empty() } };
	int number = btf__add_int(chain->writers[0], "long", 8, BTF_INT_SIGNED);
	add_struct(chain->writers[0], "of_kernel", number);
	btf__add_ptr(chain->writers[0], btf__type_cnt(chain->writers[0]) - 1);
	chain->of_kernel = btf__type_cnt(chain->writers[0]) - 2;
	chain->of_module = btf__type_cnt(chain->writers[0]);
	for (size_t i = 1; i < 3; i++) {
		chain->writers[i] = btf__new_empty_split(chain->writers[0]);
		add_struct(chain->writers[i], i == 1 ? "of_first" : "of_second", number);
	}
	/* const struct of_kernel [2], of the first module. */
	int constant = btf__add_const(chain->writers[1], (int)chain->of_kernel);
	btf__add_const(chain->writers[1], btf__add_array(chain->writers[1], number, constant, 2));
	for (size_t i = 0; i < 3; i++)
		open_level(chain, i);
	CHECK_OK(layout_create(chain->levels[0], NULL, &chain->kernel));
	CHECK_OK(layout_create(chain->levels[1], chain->kernel, &chain->module));
}

static void deinit(struct chain *chain)
{
	layout_destroy(chain->module);
	layout_destroy(chain->kernel);
	for (size_t i = 3; i--;) {
		btf_close(chain->levels[i]);
		btf__free(chain->writers[i]);
	}
}

static uint32_t id_of(const struct layout *layout, const struct btf *btf, uint32_t id)
{
	return layout_id(layout, (struct type){ btf, id });
}

static void test_levels(void)
{
	struct chain chain;
	init(&chain);
	for (size_t i = 0; i < 3; i++)
		CHECK_U64(id_of(chain.module, chain.levels[i], chain.of_kernel), chain.of_kernel);
	CHECK_U64(id_of(chain.module, chain.levels[1], chain.of_module), chain.of_module);
	CHECK_U64(id_of(chain.module, chain.levels[2], chain.of_module), 0);
	CHECK_U64(id_of(chain.kernel, chain.levels[1], chain.of_module), 0);
	deinit(&chain);
}

static void test_made_types(void)
{
	struct chain chain;
	struct type type = { NULL, 0 };
	init(&chain);
	/* On top of the kernel's BTF, with ids that are a module's, too. */
	CHECK_OK(type_array_of((struct type){ chain.levels[0], chain.of_kernel }, 3, &type));
	CHECK_U64(type.id, chain.of_module);
	CHECK_U64(layout_id(chain.module, type), 0);
	CHECK_OK(type_pointer_to((struct type){ chain.levels[0], chain.of_kernel }, &type));
	uint32_t id = layout_id(chain.module, type);
	CHECK_U64(layout_kind(chain.module, id), BTF_PTR);
	CHECK_U64(layout_target(chain.module, id), chain.of_kernel);
	deinit(&chain);
}

/* What a module has a constant of has none in the kernel, nor in the next module. */
static void test_constants(void)
{
	struct chain chain;
	init(&chain);
	CHECK(layout_lacks_const(chain.kernel, chain.of_kernel));
	CHECK(!layout_lacks_const(chain.module, chain.of_kernel));
	CHECK(layout_lacks_const(chain.module, chain.of_module));
	/* Of numbers that is not asked. */
	CHECK(!layout_lacks_const(chain.kernel, layout_find(chain.kernel, BTF_INT, "long")));
	CHECK_OK(layout_replace(chain.levels[2], chain.kernel, &chain.module));
	CHECK(layout_lacks_const(chain.module, chain.of_kernel));
	deinit(&chain);
}

/* A module's own struct of a name that the kernel has, with one member; and a pointer to it. */
static void check_copy(const char *name, int size, const char *member, bool is_pointer,
		       uint32_t bits, bool joined)
{
	struct libbpf_btf *kernel = btf__new_empty(), *module;
	struct btf *levels[2];
	struct layout *base, *own, *alone;
	uint32_t bytes;
	int number = btf__add_int(kernel, "long", 8, BTF_INT_SIGNED);
	uint32_t original = (uint32_t)btf__add_struct(kernel, "twin", 16);
	btf__add_field(kernel, "member", number, 64, 0);
	uint32_t pointer = (uint32_t)btf__add_ptr(kernel, (int)original);
	module = btf__new_empty_split(kernel);
	int kind = is_pointer ? btf__add_ptr(module, number) : number;
	uint32_t copy = (uint32_t)btf__add_struct(module, name, (uint32_t)size);
	btf__add_field(module, member, kind, bits, 0);
	uint32_t to_copy = (uint32_t)btf__add_ptr(module, btf__add_const(module, (int)copy));
	/* The bytes last until a writer is changed. */
	const void *data = btf__raw_data(kernel, &bytes);
	CHECK_OK(btf_open(data, bytes, NULL, "kernel", &levels[0]));
	data = btf__raw_data(module, &bytes);
	CHECK_OK(btf_open(data, bytes, levels[0], "module", &levels[1]));
	CHECK_OK(layout_create(levels[0], NULL, &base));
	CHECK_OK(layout_create(levels[1], base, &own));
	CHECK_OK(layout_create(levels[1], NULL, &alone));
	CHECK_U64(layout_resolve(own, copy), joined ? original : copy);
	CHECK_U64(layout_resolve(alone, copy), joined ? original : copy);
	CHECK_U64(layout_resolve(own, to_copy), joined ? pointer : to_copy);
	CHECK_U64(layout_target(own, to_copy), joined ? original : copy);
	CHECK_U64(layout_shown(own, original), joined ? copy : original);
	CHECK_U64(layout_shown(base, original), original);
	layout_destroy(alone);
	layout_destroy(own);
	layout_destroy(base);
	btf_close(levels[1]);
	btf_close(levels[0]);
	btf__free(module);
	btf__free(kernel);
}

static void test_copies(void)
{
	check_copy("twin", 16, "member", false, 64, true);
	check_copy("other", 16, "member", false, 64, false);
	check_copy("twin", 24, "member", false, 64, false);
	check_copy("twin", 16, "another", false, 64, false);
	check_copy("twin", 16, "member", true, 64, false);
	check_copy("twin", 16, "member", false, 0, false);
}

int main(void)
{
	RUN(test_copies);
	RUN(test_levels);
	RUN(test_made_types);
	RUN(test_constants);
	return test_finish();
}
