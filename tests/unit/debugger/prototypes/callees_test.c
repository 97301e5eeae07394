// SPDX-License-Identifier: GPL-3.0-or-later
/* Which prototype the function at an address has, by its name and by its code. */
#include "debugger/prototypes/callees.h"
#include "debugger/target/module_index.h"
#include "tests/unit/flow_world.h"

/* One module, whose BTF has the functions. */
static struct callees callees_of(struct target *target)
{
	static struct module module = { .name = "mod" };
	static const struct btf *items[LEVEL_MODULES + 1];
	static const struct levels with_module = { items, ARRAY_COUNT(items) };
	items[0] = items[LEVEL_MODULES] = levels_items[0];
	*target = (struct target){ .modules = &module, .module_count = 1, .modules_loaded = true };
	CHECK_OK(symtab_create(&target->symbols));
	CHECK_OK(module_index_create(target, &target->module_index));
	return (struct callees){ .target = target,
				 .lowering = &lowering_x86_64,
				 .levels = &with_module };
}

static void test_callees(void)
{
	static struct target target;
	struct callees callees = callees_of(&target);
	struct callee ret;
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
	/* What threads found is kept: it is not asked for again. */
	callees_deinit(&callees);
	callees_find_unique(&callees, TEXT, &ret);
	CHECK_U64(ret.kind, CALLEE_TYPED);
	callees_add_unique(&callees, TEXT, &ret);
	callees_add_unique(&callees, TEXT, &(struct callee){ .kind = CALLEE_HELPER });
	callees_find_unique(&callees, TEXT + 48, &ret);
	callees_add_unique(&callees, TEXT + 48, &ret);
	CHECK_U64(callees.known.count, 2);
	callees.complete = true;
	callees_find(&callees, TEXT, &ret);
	CHECK_U64(ret.prototype.id, PUT_FOO_PROTO);
	callees_deinit(&callees);
	module_index_destroy(target.module_index);
	symtab_destroy(target.symbols);
}

/* put_foo() has one argument. */
static enum callee_kind judged(const char *text)
{
	static struct target target;
	struct memory_array memory;
	struct callees callees = callees_of(&target);
	struct callee ret;
	code_size = 0;
	bytes(text);
	memory_array_init(&memory, TEXT, machine_code, code_size);
	target.memory = &memory.memory;
	CHECK_OK(symtab_add(target.symbols, "mod", "one", 't', TEXT, code_size));
	for (int i = 0; i < 2; i++) /* asked, and from the table */
		callees_find_judged(&callees, TEXT, &ret);
	callees_deinit(&callees);
	module_index_destroy(target.module_index);
	symtab_destroy(target.symbols);
	return ret.kind;
}

static void test_judged_by_code(void)
{
	CHECK_U64(judged("8b 47 10 c3"), CALLEE_TYPED);	  /* mov 0x10(%rdi), %eax */
	CHECK_U64(judged("8b 46 10 c3"), CALLEE_UNKNOWN); /* mov 0x10(%rsi), %eax */
	/* mov %rsi, -0x8(%rsp): saved; then read back */
	CHECK_U64(judged("48 89 74 24 f8 c3"), CALLEE_TYPED);
	CHECK_U64(judged("48 89 74 24 f8 48 8b 44 24 f8 c3"), CALLEE_UNKNOWN);
}

int main(void)
{
	struct btf *btf = make_btf();
	levels_items[0] = btf;
	RUN(test_callees);
	RUN(test_judged_by_code);
	btf_close(btf);
	return test_finish();
}
