// SPDX-License-Identifier: GPL-3.0-or-later
/* The solver on what a module brings: types of its own that begin with the kernel's. */
#include "tests/unit/debugger/infer/solve/solve_bench.h"

struct module_bench {
	struct bench bench;
	struct libbpf_btf *writer;
	struct btf *btf;
	struct layout *layout;
	struct solver solver;
	int pointer; /* struct mutex * */
};

/* `has_own`: a struct of the module's begins with a mutex, by way of another one. */
static void init_module(struct module_bench *module, uint64_t room, bool has_own)
{
	struct bench *bench = &module->bench;
	uint32_t size;
	init(bench, room);
	module->writer = btf__new_empty_split(bench->writer);
	module->pointer = btf__add_ptr(module->writer, bench->types.mutex);
	if (has_own) {
		int part = btf__add_struct(module->writer, "part", 40);
		add_member(module->writer, "mutex", bench->types.mutex, 0);
		btf__add_struct(module->writer, "own", 64);
		add_member(module->writer, "part", part, 0);
	}
	const void *data = btf__raw_data(module->writer, &size);
	CHECK_OK(btf_open(data, size, bench->btf, "lab", &module->btf));
	CHECK_OK(layout_create(module->btf, NULL, &module->layout));
	CHECK_OK(solver_init(&module->solver, module->layout));
}

static enum confidence ask_module(struct module_bench *module, const char *expected)
{
	char spelled[128] = "";
	struct type type;
	CHECK_OK(solve(&module->solver, &module->bench.input));
	CHECK_OK(scored_type(module->layout, module->solver.items, &type));
	type_spell(type, NULL, spelled, sizeof(spelled));
	CHECK_STRING(spelled, expected);
	return solver_confidence(&module->solver);
}

static void deinit_module(struct module_bench *module)
{
	solver_deinit(&module->solver);
	layout_destroy(module->layout);
	btf_close(module->btf);
	btf__free(module->writer);
	deinit(&module->bench);
}

/* mutex_lock(&own->mutex) passes the address of what the module calls `struct own`. */
static void test_module_up_cast(void)
{
	for (int has_own = 0; has_own < 2; has_own++) {
		struct module_bench module;
		init_module(&module, 8, has_own);
		struct clue clue = { .kind = CLUE_VALUE,
				     .source = SOURCE_CODE,
				     .size = 8,
				     .type = { module.btf, (uint32_t)module.pointer } };
		for (int i = 0; i < 4; i++) {
			clue.where = PLACE + (uint64_t)i;
			CHECK(clues_add(&module.bench.clues, &clue));
		}
		CHECK_U64(ask_module(&module, "struct mutex *"),
			  has_own ? CONFIDENCE_GUESS : CONFIDENCE_INFERRED);
		deinit_module(&module);
	}
}

/* _raw_spin_lock() takes what a spinlock_t consists of: a module may have the one or the other. */
static void test_module_spinlock(void)
{
	struct module_bench module;
	init_module(&module, 4, false);
	for (int i = 0; i < 3; i++)
		clue(&module.bench, CLUE_OBJECT, 0, module.bench.types.raw, 4);
	CHECK_U64(ask_module(&module, "struct spinlock"), CONFIDENCE_GUESS);
	clue(&module.bench, CLUE_OBJECT, 0, module.bench.types.spin, 4);
	CHECK_U64(ask_module(&module, "struct spinlock"), CONFIDENCE_INFERRED);
	deinit_module(&module);
}

int main(void)
{
	RUN(test_module_up_cast);
	RUN(test_module_spinlock);
	return test_finish();
}
