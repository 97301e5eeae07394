// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Functions of one name: which prototype an address has, when its code or a table bears one out,
 * and when nothing does.
 */
#include "base/array.h"
#include "debugger/functions/instances.h"
#include "debugger/infer/known/inference.h"
#include "debugger/target/attached.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define ROOM				0x100 /* of a function */
#define AT(name)			(TEXT + (name)*ROOM)
#define TABLE				DATA
#define ELSEWHERE			(TEXT + 0x100000)
#define BY_STRUCT			"void (struct foo *foo)"
#define CHECK_PROVED(symbol, prototype) CHECK_STRING(proved(symbol), prototype)

/* The functions, in the order of their addresses; all TWO are called "two". */
enum { PUT_FOO, PUT_LIST, SET, ONLY, TWO, TWO_AGAIN, CLONE, INIT, THREE, FUNCTION_COUNT };

static struct machine machine;
static uint64_t table[2];

static void add_function(struct libbpf_btf *btf, const char *name, int parameter,
			 const char *parameter_name)
{
	int proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, parameter_name, parameter);
	btf__add_func(btf, name, BTF_FUNC_STATIC, proto);
}

static void add_types(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1);
	int color = btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "RED", 0);
	int list = add_list_head(btf), to_list = list - 1;
	int to_foo = btf__add_ptr(btf, list + 4), proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "foo", to_foo);
	int operation = btf__add_ptr(btf, proto);
	CHECK_U64(btf__add_struct(btf, "foo", 64), list + 4);
	add_member(btf, "list", list, 0);
	add_member(btf, "count", int_, 16);
	add_member(btf, "color", color, 20);
	add_member(btf, "link", to_list, 24);
	add_member(btf, "operation", operation, 32);
	add_member(btf, "a", to_list, 40);
	add_member(btf, "b", to_list, 48);
	add_member(btf, "c", to_list, 56);
	btf__add_func(btf, "put_foo", BTF_FUNC_GLOBAL, proto);
	int numbers = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "number", int_);
	btf__add_func_param(btf, "color", color);
	btf__add_func(btf, "set", BTF_FUNC_GLOBAL, numbers);
	btf__add_func(btf, "only", BTF_FUNC_STATIC, proto);
	btf__add_func(btf, "two", BTF_FUNC_STATIC, proto);
	btf__add_func(btf, "two", BTF_FUNC_STATIC, numbers);
	btf__add_func(btf, "three", BTF_FUNC_STATIC, proto);
	add_function(btf, "three", to_list, "list");
	add_function(btf, "put_list", to_list, "list");
	/* A variable that BTF types: a table that points at functions. */
	int operations = btf__add_struct(btf, "operations", 16);
	add_member(btf, "operation", operation, 0);
	add_member(btf, "name", to_list, 8);
	int variable = btf__add_var(btf, "table", BTF_VAR_GLOBAL_ALLOCATED, operations);
	btf__add_datasec(btf, ".rodata", 16);
	btf__add_datasec_var_info(btf, variable, 0, 16);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },		  { TEXT, 'T', "_stext" },
		{ AT(PUT_FOO), 'T', "put_foo" },  { AT(PUT_LIST), 'T', "put_list" },
		{ AT(SET), 'T', "set" },	  { AT(ONLY), 't', "only" },
		{ AT(TWO), 't', "two" },	  { AT(TWO_AGAIN), 't', "two" },
		{ AT(CLONE), 't', "two.isra.0" }, { AT(INIT), 'T', "__init_begin" },
		{ AT(INIT), 't', "two" },	  { AT(THREE), 'T', "__init_end" },
		{ AT(THREE), 't', "three" },	  { AT(FUNCTION_COUNT), 'T', "_etext" },
		{ TABLE, 'R', "table" },	  { TABLE + 16, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

/* The next instructions are those of a function. */
static void begin(int function)
{
	code_size = (size_t)function * ROOM;
	memset(machine_code + code_size, 0xc3, ROOM); /* ret */
}

/* What was learned is forgotten: the code is another now. */
static void forget(void)
{
	target_detach_all(&machine.target);
}

/* Of the functions of a name, the one at an address. */
static struct error *take_instance(void *context, const struct function_instance *instance)
{
	struct function_instance *wanted = context;
	if (instance->symbol.address == wanted->symbol.address)
		*wanted = *instance;
	return NULL;
}

static struct function_instance ask(int function)
{
	struct function_instance instance = { .symbol.address = AT(function) };
	struct symbol symbol;
	uint32_t count = symtab_count(machine.target.symbols);
	for (uint32_t i = 0; i < count; i++) {
		symtab_get(machine.target.symbols, i, &symbol);
		/* Of two names the last one: the others are marks. */
		if (symbol.address == AT(function))
			CHECK_OK(function_instances(&machine.target, symbol.name, take_instance,
						    &instance));
	}
	forget();
	return instance;
}

/* The prototype that is proved, "": none is. */
static const char *proved(int function)
{
	static char spelled[128];
	struct function_instance instance = ask(function);
	struct btf_type record;
	*spelled = 0;
	if (instance.proof != INSTANCE_UNPROVED && type_get(instance.function, &record))
		type_spell((struct type){ record.btf, record.type }, NULL, spelled,
			   sizeof(spelled));
	return spelled;
}

/* What a call of it means to the flow of types. */
static enum callee_kind called(int function)
{
	struct inference *inference;
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	struct error *error = inference_get(&machine.target, &inference);
	CHECK_OK(error);
	if (!error)
		callees_find(&inference->callees, AT(function), &callee);
	forget();
	return callee.kind;
}

/* put_foo(first argument) */
static void hand_on(int function)
{
	begin(function);
	bytes("48 89 fb"); /* mov %rdi, %rbx */
	call(ELSEWHERE);
	bytes("48 89 df"); /* mov %rbx, %rdi */
	call(AT(PUT_FOO));
}

static void test_only(void)
{
	CHECK_PROVED(ONLY, BY_STRUCT);
	CHECK_U64(ask(ONLY).proof, INSTANCE_ONLY);
	CHECK_U64(called(ONLY), CALLEE_TYPED);
	begin(ONLY);
	bytes("8b 46 10"); /* mov 0x10(%rsi), %eax: a second argument */
	CHECK_PROVED(ONLY, "");
	CHECK_U64(ask(ONLY).refuted, 1);
	hand_on(ONLY);
	CHECK_U64(ask(ONLY).proof, INSTANCE_CODE);
	begin(ONLY);
}

static void test_code(void)
{
	hand_on(TWO);
	begin(TWO_AGAIN); /* set(first, second) */
	call(AT(SET));
	CHECK_PROVED(TWO, BY_STRUCT);
	CHECK_U64(ask(TWO).proof, INSTANCE_CODE);
	CHECK_U64(ask(TWO).refuted, 1);
	CHECK_U64(called(TWO), CALLEE_TYPED);
	/* Numbers that are handed on as numbers prove nothing: pointers would not be noticed. */
	CHECK_PROVED(TWO_AGAIN, "");
	CHECK_U64(called(TWO_AGAIN), CALLEE_UNKNOWN);
	/* A call of a member of it is a strong word, too. */
	begin(TWO);
	bytes("ff 57 20"); /* call *32(%rdi) */
	CHECK_PROVED(TWO, BY_STRUCT);
}

static void test_members(void)
{
	static const char *const loads[] = {
		"48 8b 07",    "48 8b 47 08", "8b 47 10",    "8b 47 14",
		"48 8b 47 18", "48 8b 47 20", "48 8b 47 28", "48 8b 47 30",
	};
	begin(TWO);
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
		/* Few members may be those of any struct. */
		CHECK_PROVED(TWO, "");
		bytes(loads[i]);
	}
	CHECK_PROVED(TWO, BY_STRUCT);
	/* Parts of members are what another struct has there. */
	bytes("8a 47 11 8a 47 12 8a 47 13"); /* mov 17(%rdi), %al... */
	CHECK_PROVED(TWO, "");
}

/* What no prototype of the name explains. */
static void test_contradictions(void)
{
	hand_on(TWO);
	bytes("48 8b 83 00 01 00 00"); /* mov 256(%rbx), %rax: past the end of a foo */
	CHECK_PROVED(TWO, "");
	begin(TWO);
	bytes("48 89 d0"); /* mov %rdx, %rax: neither has three */
	call(AT(PUT_FOO));
	CHECK_PROVED(TWO, "");
	/* Which value is handed on depends on the way: neither. */
	begin(TWO);
	bytes("85 ff 74 03"); /* test %edi, %edi; je over the next */
	bytes("48 89 c7");    /* mov %rax, %rdi */
	call(AT(PUT_FOO));
	CHECK_PROVED(TWO, "");
	/* An instruction that nobody models forgets what it may write. */
	begin(TWO);
	bytes("66 0f 3a 63 c1 00"); /* pcmpistri */
	call(AT(PUT_FOO));
	CHECK_PROVED(TWO, "");
	/* So does a call. */
	begin(TWO);
	bytes("50"); /* push %rax: no hook of tracing is so far in */
	bytes("0f 1f 44 00 00");
	call(ELSEWHERE);
	call(AT(PUT_FOO));
	CHECK_PROVED(TWO, "");
}

/* Several fit, a clone's parameters are others, freed and absent code is none. */
static void test_unproved(void)
{
	begin(TWO);
	CHECK_PROVED(TWO, "");
	hand_on(CLONE);
	CHECK_PROVED(CLONE, "");
	CHECK(ask(CLONE).is_clone);
	CHECK_U64(called(CLONE), CALLEE_UNKNOWN);
	hand_on(INIT);
	CHECK_PROVED(INIT, "");
	CHECK_U64(called(INIT), CALLEE_UNKNOWN);
	hand_on(TWO);
	machine.parts[0].size = 0;
	CHECK_PROVED(TWO, "");
	machine.parts[0].size = sizeof(machine_code);
	CHECK_PROVED(TWO, BY_STRUCT);
	/* foo * and the list that a foo begins with: all that it touches is in both. */
	begin(THREE);
	bytes("48 8b 07 48 8b 47 08");
	call(AT(PUT_LIST));
	CHECK_PROVED(THREE, "");
	CHECK_U64(ask(THREE).refuted, 0);
}

static void test_tables(void)
{
	begin(THREE);
	table[0] = AT(THREE);
	CHECK_PROVED(THREE, BY_STRUCT);
	CHECK_U64(ask(THREE).proof, INSTANCE_TABLE);
	/* Not for callees: what a table says, they say of the table. */
	CHECK_U64(called(THREE), CALLEE_UNKNOWN);
	/* A place for something else. */
	table[0] = 0, table[1] = AT(THREE);
	CHECK_PROVED(THREE, "");
	table[1] = 0;
	CHECK_PROVED(THREE, "");
}

static void ask_all(struct machine *damaged)
{
	(void)damaged;
	for (int function = 0; function < FUNCTION_COUNT; function++)
		(void)ask(function);
}

static void test_damage(void)
{
	hand_on(TWO);
	begin(THREE);
	table[0] = AT(THREE);
	machine_damage(&machine, 200, ask_all);
	CHECK_PROVED(TWO, BY_STRUCT);
	CHECK_PROVED(THREE, BY_STRUCT);
}

int main(void)
{
	machine_init(&machine);
	machine_add_part(&machine, TEXT, machine_code, sizeof(machine_code));
	machine_add_part(&machine, DATA, table, sizeof(table));
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	RUN(test_only);
	RUN(test_code);
	RUN(test_members);
	RUN(test_contradictions);
	RUN(test_unproved);
	RUN(test_tables);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
