// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The whole of inference on a made-up kernel: code, bytes and tables to a type and a tier; one
 * symbol, all of them, and all of it damaged.
 */
#include "base/array.h"
#include "debugger/infer/infer.h"
#include "debugger/target/attached.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member)     (DATA + offsetof(struct contents, member))
#define ROOM	       0x100 /* of a function */
#define FUNCTION(name) (TEXT + (name)*ROOM)

enum { LIST_ADD, PUT_FOO, CLONE, USER, CLONE_USER, PER_CPU_USER, FUNCTION_COUNT };

/* The area of the first CPU; the second one's is nothing. BTF has no per-CPU variables. */
#define AREA	       0xffff888007e00000u
#define OFFSET(member) (0x1000 + offsetof(struct area, member))

struct raw_foo {
	uint64_t next, prev, operation;
	int64_t count;
};

struct contents {
	uint64_t operations[2]; /* of parameters: only their addresses count */
	uint64_t parameters[1][2];
	struct raw_foo foo, strange;
	uint64_t list[2], pointer;
	int32_t number, limit;
	uint64_t end;
};

struct area {
	uint64_t this_cpu;
	struct raw_foo foo;
	uint64_t pointer;
	int32_t number;
	int32_t end;
};

static struct contents contents;
static struct area area;
static struct cpu cpus[] = { { .number = 0, .per_cpu_offset = AREA - 0x1000 },
			     { .number = 1, .per_cpu_offset = AREA + 0x100000 } };
static struct machine machine;

static void add_types(struct libbpf_btf *btf)
{
	btf__add_int(btf, "int", 4, 1);
	int ulong = btf__add_int(btf, "long", 8, 0);
	int list = add_list_head(btf), to_list = list - 1;
	int to_foo = btf__add_ptr(btf, list + 4), put_foo = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "foo", to_foo);
	int operation = btf__add_ptr(btf, put_foo);
	CHECK_U64(btf__add_struct(btf, "foo", sizeof(struct raw_foo)), list + 4);
	add_member(btf, "list", list, 0);
	add_member(btf, "operation", operation, offsetof(struct raw_foo, operation));
	add_member(btf, "count", ulong, offsetof(struct raw_foo, count));
	btf__add_func(btf, "put_foo", BTF_FUNC_GLOBAL, put_foo);
	btf__add_func(btf, "put", BTF_FUNC_STATIC, put_foo);
	btf__add_func(btf, "put.isra.0", BTF_FUNC_STATIC, put_foo);
	int list_add = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "new", to_list);
	btf__add_func_param(btf, "head", to_list);
	btf__add_func(btf, "list_add", BTF_FUNC_GLOBAL, list_add);
	btf__add_struct(btf, "kernel_param", 16);
	add_member(btf, "ops", ulong, 0);
	add_member(btf, "arg", ulong, 8);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ 0x1000, 'A', "__per_cpu_start" },
		{ OFFSET(this_cpu), 'A', "this_cpu_off" },
		{ OFFSET(foo), 'A', "cpu_foo" },
		{ OFFSET(pointer), 'A', "cpu_pointer" },
		{ OFFSET(number), 'A', "cpu_number" },
		{ OFFSET(end), 'A', "__per_cpu_end" },
		{ TEXT, 'T', "_text" },
		{ TEXT, 'T', "_stext" },
		{ FUNCTION(LIST_ADD), 'T', "list_add" },
		{ FUNCTION(PUT_FOO), 'T', "put_foo" },
		{ FUNCTION(CLONE), 't', "put.isra.0" },
		{ FUNCTION(USER), 't', "user" },
		{ FUNCTION(CLONE_USER), 't', "clone_user" },
		{ FUNCTION(PER_CPU_USER), 't', "per_cpu_user" },
		{ FUNCTION(FUNCTION_COUNT), 'T', "_etext" },
		{ AT(operations), 'R', "param_ops_int" },
		{ AT(parameters), 'R', "__start___param" },
		{ AT(foo), 'd', "the_foo" },
		{ AT(foo), 'R', "__stop___param" },
		{ AT(strange), 'd', "stranger" },
		{ AT(list), 'd', "a_list" },
		{ AT(pointer), 'd', "a_pointer" },
		{ AT(number), 'd', "a_number" },
		{ AT(limit), 'd', "a_limit" },
		{ AT(end), 'D', "the_end" },
		{ AT(end) + 8, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

static void fill(void)
{
	contents = (struct contents){
		.parameters = { { AT(operations), AT(number) } },
		.foo = { AT(foo), AT(foo), FUNCTION(PUT_FOO), 5 },
		.strange = { 1, 2, 3, 4 },
		.list = { AT(list), AT(list) },
		.pointer = AT(foo),
	};
	area = (struct area){
		.this_cpu = AREA - 0x1000,
		.foo = { AREA + offsetof(struct area, foo), AREA + offsetof(struct area, foo),
			 FUNCTION(PUT_FOO), 5 },
		.pointer = AREA + offsetof(struct area, foo),
	};
	memset(machine_code, 0xc3, sizeof(machine_code)); /* ret */
	code_size = USER * ROOM;
	absolute("48 c7 c6", AT(list)); /* mov $list, %rsi */
	call(FUNCTION(LIST_ADD));
	relative("48 8d 3d", AT(foo)); /* lea foo(%rip), %rdi */
	call(FUNCTION(PUT_FOO));
	relative("48 8b 3d", AT(pointer)); /* mov pointer(%rip), %rdi */
	call(FUNCTION(PUT_FOO));
	relative("8b 05", AT(limit)); /* mov limit(%rip), %eax */
	code_size = CLONE_USER * ROOM;
	absolute("48 c7 c7", AT(strange)); /* mov $stranger, %rdi */
	call(FUNCTION(CLONE));
	code_size = PER_CPU_USER * ROOM;
	absolute("48 c7 c7", OFFSET(foo));	      /* mov $cpu_foo, %rdi */
	absolute("65 48 03 3c 25", OFFSET(this_cpu)); /* add %gs:this_cpu_off, %rdi */
	call(FUNCTION(PUT_FOO));
	absolute("65 48 8b 3c 25", OFFSET(pointer)); /* mov %gs:cpu_pointer, %rdi */
	call(FUNCTION(PUT_FOO));
	absolute("65 8b 04 25", OFFSET(number)); /* mov %gs:cpu_number, %eax */
}

static void forget(void)
{
	target_detach_all(&machine.target);
}

static const struct infer_options options = { .no_hints = true, .no_cache = true, .threads = 2 };

static const char *spell(const struct typing *typing)
{
	static char spelled[128];
	*spelled = 0;
	if (typing->confidence != CONFIDENCE_UNKNOWN)
		type_spell(typing->type, NULL, spelled, sizeof(spelled));
	return spelled;
}

static struct typing infer(const char *name)
{
	struct typing typing = { .confidence = CONFIDENCE_UNKNOWN };
	struct symbol symbol;
	uint64_t cursor = 0;
	CHECK(symtab_find(machine.target.symbols, NULL, name, &cursor, &symbol));
	CHECK_OK(infer_symbol(&machine.target, &options, &symbol, true, &typing));
	return typing;
}

/* What is told about each symbol; code and bytes together. */
static const struct {
	const char *name, *type;
	enum confidence confidence;
	unsigned int sources; /* that must be among those that speak for it */
} wanted[] = {
	{ "the_foo", "struct foo", CONFIDENCE_INFERRED, 1u << SOURCE_CODE | 1u << SOURCE_DATA },
	{ "a_list", "struct list_head", CONFIDENCE_INFERRED,
	  1u << SOURCE_CODE | 1u << SOURCE_DATA },
	{ "a_pointer", "struct foo *", CONFIDENCE_INFERRED, 1u << SOURCE_CODE },
	{ "a_number", "int", CONFIDENCE_INFERRED, 1u << SOURCE_TABLE },
	{ "a_limit", "int", CONFIDENCE_GUESS, 0 },
	{ "cpu_foo", "struct foo", CONFIDENCE_INFERRED, 1u << SOURCE_CODE | 1u << SOURCE_DATA },
	{ "cpu_pointer", "struct foo *", CONFIDENCE_INFERRED, 1u << SOURCE_CODE },
	{ "cpu_number", "int", CONFIDENCE_GUESS, 0 },
};

static void test_one(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		struct typing typing = infer(wanted[i].name);
		CHECK_STRING(spell(&typing), wanted[i].type);
		CHECK_STRING(confidence_name(typing.confidence),
			     confidence_name(wanted[i].confidence));
		CHECK_U64(typing.sources & wanted[i].sources, wanted[i].sources);
		CHECK(typing.candidate_count && typing.clues.count);
		typing_deinit(&typing);
	}
	forget();
}

/* Handed to a clone, whose parameters are not the ones of its name. */
static void test_clone(void)
{
	struct typing typing = infer("stranger");
	for (size_t i = 0; i < typing.clues.count; i++)
		CHECK(typing.clues.items[i].source != SOURCE_CODE);
	CHECK(typing.confidence <= CONFIDENCE_GUESS);
	typing_deinit(&typing);
	forget();
}

static struct error *compare_one(void *context, const struct subject *subject,
				 const struct symbol *symbol, const struct typing *typing)
{
	size_t *count = context;
	(void)subject;
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		if (strcmp(symbol->name, wanted[i].name) != 0)
			continue;
		CHECK_STRING(spell(typing), wanted[i].type);
		CHECK_U64(typing->confidence, wanted[i].confidence);
		++*count;
	}
	return NULL;
}

static void test_all(void)
{
	size_t count = 0;
	CHECK_OK(infer_all(&machine.target, &options, compare_one, &count));
	CHECK_U64(count, ARRAY_COUNT(wanted));
	forget();
}

static struct error *count_per_cpu(void *context, const struct subject *subject,
				   const struct symbol *symbol, const struct typing *typing)
{
	size_t *count = context;
	(void)typing;
	*count += symbol->per_cpu;
	CHECK_U64(subject->address, symbol->address + (symbol->per_cpu ? AREA - 0x1000 : 0));
	return NULL;
}

/* The variables are there, without the bounds of their section; not where BTF types them. */
static void test_per_cpu(void)
{
	size_t count = 0;
	CHECK_OK(infer_all(&machine.target, &options, count_per_cpu, &count));
	CHECK_U64(count, 4);
	forget();
	struct libbpf_btf *typed = btf__new_empty();
	int number = btf__add_int(typed, "int", 4, 1);
	int variable = btf__add_var(typed, "cpu_number", BTF_VAR_STATIC, number);
	btf__add_datasec(typed, ".data..percpu", sizeof(area));
	btf__add_datasec_var_info(typed, variable, offsetof(struct area, number), 4);
	uint32_t size = 0;
	const void *raw = btf__raw_data(typed, &size);
	struct btf *btf = NULL;
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &btf));
	machine.target.btf = btf;
	count = 0;
	CHECK_OK(infer_all(&machine.target, &options, count_per_cpu, &count));
	CHECK_U64(count, 0);
	forget();
	machine.target.btf = machine.btf;
	btf_close(btf);
	btf__free(typed);
}

/* Without code, bytes and tables still speak. */
static void test_no_code(void)
{
	machine.parts[0].size = 0;
	struct typing typing = infer("a_number");
	CHECK_STRING(spell(&typing), "int");
	CHECK_U64(typing.confidence, CONFIDENCE_INFERRED);
	typing_deinit(&typing);
	typing = infer("a_list");
	CHECK_U64(typing.sources & 1u << SOURCE_CODE, 0);
	typing_deinit(&typing);
	machine.parts[0].size = sizeof(machine_code);
	forget();
}

static struct error *take_one(void *context, const struct subject *subject,
			      const struct symbol *symbol, const struct typing *typing)
{
	uint64_t size = 0;
	(void)context, (void)symbol;
	CHECK(typing->confidence == CONFIDENCE_UNKNOWN || type_size(typing->type, &size));
	CHECK(size <= subject->room);
	return NULL;
}

static void ask_all(struct machine *damaged)
{
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		struct typing typing = infer(wanted[i].name);
		typing_deinit(&typing);
	}
	CHECK_OK(infer_all(&damaged->target, &options, take_one, NULL));
	forget();
}

static void test_damage(void)
{
	machine_damage(&machine, 200, ask_all);
	test_one();
}

int main(void)
{
	machine_init(&machine);
	machine_add_part(&machine, TEXT, machine_code, sizeof(machine_code));
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	machine_add_part(&machine, AREA, &area, sizeof(area));
	machine.target.cpus = cpus;
	machine.target.cpu_count = ARRAY_COUNT(cpus);
	fill();
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	RUN(test_one);
	RUN(test_clone);
	RUN(test_all);
	RUN(test_per_cpu);
	RUN(test_no_code);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
