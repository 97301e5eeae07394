// SPDX-License-Identifier: GPL-3.0-or-later
/* Which prototypes of callees are proved: of names that are the only one, and of no clone. */
#include "debugger/infer/callees.h"
#include "tests/unit/flow_world.h"

static void test_callees(void)
{
	static struct module module = { .name = "mod" };
	static struct target target;
	const struct btf *items[LEVEL_MODULES + 1] = { levels_items[0], NULL, levels_items[0] };
	struct levels with_module = { items, ARRAY_COUNT(items) };
	struct callees callees = { .target = &target,
				   .lowering = &lowering_x86_64,
				   .levels = &with_module };
	struct callee ret;
	target.modules = &module;
	target.module_count = 1;
	target.modules_loaded = true;
	CHECK_OK(symtab_create(&target.symbols));
	CHECK_OK(symtab_add(target.symbols, "mod", "one", 't', TEXT, 16));
	CHECK_OK(symtab_add(target.symbols, "mod", "two", 't', TEXT + 16, 16));
	CHECK_OK(symtab_add(target.symbols, "mod", "one.isra.0", 't', TEXT + 32, 16));
	CHECK_OK(symtab_add(target.symbols, "mod", "clone", 't', TEXT + 48, 16));
	CHECK_OK(symtab_add(target.symbols, "mod", "clone", 't', TEXT + 64, 16));
	callees_find(&callees, TEXT, &ret);
	CHECK_U64(ret.kind, CALLEE_TYPED);
	CHECK_U64(ret.prototype.id, PUT_FOO_PROTO);
	callees_find(&callees, TEXT + 4, &ret); /* not its beginning */
	CHECK_U64(ret.kind, CALLEE_UNKNOWN);
	callees_find(&callees, TEXT + 16, &ret); /* two prototypes */
	CHECK_U64(ret.kind, CALLEE_UNKNOWN);
	callees_find(&callees, TEXT + 32, &ret); /* a clone */
	CHECK_U64(ret.kind, CALLEE_UNKNOWN);
	callees_find(&callees, TEXT + 48, &ret); /* two symbols */
	CHECK_U64(ret.kind, CALLEE_UNKNOWN);
	callees_find(&callees, TEXT, &ret); /* from the table */
	CHECK_U64(ret.kind, CALLEE_TYPED);
	callees_deinit(&callees);
	symtab_destroy(target.symbols);
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_callees);
	btf_close(btf);
	return test_finish();
}
