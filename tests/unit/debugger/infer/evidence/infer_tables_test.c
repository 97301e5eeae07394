// SPDX-License-Identifier: GPL-3.0-or-later
/* What the kernel's own tables say: parameters, sysctls, static keys, in a made-up machine. */
#include "base/array.h"
#include "tests/unit/infer_asked.h"
#include "tests/unit/infer_machine.h"
#include <stddef.h>

#define AT(member)     (DATA + offsetof(struct contents, member))
#define BEHIND	       (DATA + 0x10000) /* a hole: more of the table of sysctls */
#define PROC_INT       (TEXT + 0x100)
#define PROC_MINMAX    (TEXT + 0x180)
#define PROC_STRING    (TEXT + 0x200)
#define PROC_OF_MODULE (TEXT + 0x300)

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_parameter {
	uint64_t operations, variable;
};
struct raw_array {
	uint64_t operations, element;
};
struct raw_string {
	uint32_t length;
	uint64_t string;
};
struct raw_sysctl {
	uint64_t name, data;
	int32_t maximum;
	uint16_t mode;
	uint64_t handler, least, most;
};
struct raw_jump {
	int32_t code, target;
	int64_t key;
};
struct raw_call {
	int32_t code, key;
};
struct raw_event {
	uint64_t tp, function;
};
struct raw_call_of_trace {
	uint64_t name, class, next, prev;
};
struct raw_module {
	uint64_t jumps, exports, events;
	uint32_t jump_count, export_count, event_count;
};
struct raw_export {
	int32_t value, name, space;
};
struct raw_key {
	int32_t enabled;
	uint64_t entries;
};
struct raw_point {
	uint64_t name;
	struct raw_key key;
};

struct contents {
	uint64_t operations[6]; /* of parameters: only their addresses count */
	struct raw_parameter parameters[7];
	struct raw_array array;
	struct raw_string string;
	struct raw_jump jumps[5];
	struct raw_call calls[2];
	struct raw_event events[2];
	struct raw_point points[2];
	struct raw_key called[2];
	struct raw_module module;
	struct raw_jump module_jumps[2];
	struct raw_key of_module;
	uint64_t event_pointers[2];
	struct raw_export exports[2], module_exports[2];
	uint64_t traced[2]; /* the list of events */
	struct raw_call_of_trace opened, closed;
	uint64_t class[4];
	struct raw_sysctl sysctls[8];
	struct raw_key enabled, disabled;
	int32_t number, limit; /* one int each */
	int64_t roomy[9];      /* an int with room behind it */
	uint8_t flag, bytes[7];
	uint64_t text;
	int32_t numbers[4], values[2];
	char line[16], name[16];
	int32_t distant, bad[4];
	uint32_t bounded, ceiling;
	uint64_t end;
};

enum { OPS_INT, OPS_BOOL, OPS_CHARP, OPS_STRING, OPS_ARRAY, OPS_OTHER };

static struct contents contents;
static struct raw_sysctl behind;
static struct machine machine;

static void add_types(struct libbpf_btf *btf)
{
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int ushort = btf__add_int(btf, "short unsigned int", 2, 0);
	int character = btf__add_int(btf, "char", 1, 1);
	btf__add_int(btf, "_Bool", 1, 4);
	btf__add_ptr(btf, character);
	btf__add_struct(btf, "kernel_param", sizeof(struct raw_parameter));
	add_member(btf, "ops", ulong, offsetof(struct raw_parameter, operations));
	add_member(btf, "arg", ulong, offsetof(struct raw_parameter, variable));
	btf__add_struct(btf, "kparam_array", sizeof(struct raw_array));
	add_member(btf, "ops", ulong, offsetof(struct raw_array, operations));
	add_member(btf, "elem", ulong, offsetof(struct raw_array, element));
	btf__add_struct(btf, "kparam_string", sizeof(struct raw_string));
	add_member(btf, "maxlen", uint, offsetof(struct raw_string, length));
	add_member(btf, "string", ulong, offsetof(struct raw_string, string));
	btf__add_struct(btf, "ctl_table", sizeof(struct raw_sysctl));
	add_member(btf, "data", ulong, offsetof(struct raw_sysctl, data));
	add_member(btf, "maxlen", int_, offsetof(struct raw_sysctl, maximum));
	add_member(btf, "mode", ushort, offsetof(struct raw_sysctl, mode));
	add_member(btf, "proc_handler", ulong, offsetof(struct raw_sysctl, handler));
	add_member(btf, "extra1", ulong, offsetof(struct raw_sysctl, least));
	add_member(btf, "extra2", ulong, offsetof(struct raw_sysctl, most));
	btf__add_struct(btf, "jump_entry", sizeof(struct raw_jump));
	add_member(btf, "key", ulong, offsetof(struct raw_jump, key));
	int key = btf__add_struct(btf, "static_key", sizeof(struct raw_key));
	add_member(btf, "enabled", int_, offsetof(struct raw_key, enabled));
	add_member(btf, "entries", ulong, offsetof(struct raw_key, entries));
	btf__add_struct(btf, "static_call_site", sizeof(struct raw_call));
	add_member(btf, "key", int_, offsetof(struct raw_call, key));
	btf__add_struct(btf, "static_call_key", sizeof(struct raw_key));
	add_member(btf, "func", ulong, 0);
	btf__add_struct(btf, "bpf_raw_event_map", sizeof(struct raw_event));
	add_member(btf, "tp", ulong, offsetof(struct raw_event, tp));
	btf__add_struct(btf, "tracepoint", sizeof(struct raw_point));
	add_member(btf, "name", ulong, 0);
	add_member(btf, "key", key, offsetof(struct raw_point, key));
	int list = add_list_head(btf);
	btf__add_struct(btf, "trace_event_class", sizeof(contents.class));
	add_member(btf, "system", ulong, 0);
	btf__add_struct(btf, "trace_event_call", sizeof(struct raw_call_of_trace));
	add_member(btf, "class", ulong, offsetof(struct raw_call_of_trace, class));
	add_member(btf, "list", list, offsetof(struct raw_call_of_trace, next));
	btf__add_ptr(btf, btf__find_by_name(btf, "trace_event_call"));
	btf__add_struct(btf, "kernel_symbol", sizeof(struct raw_export));
	add_member(btf, "value_offset", int_, 0);
	btf__add_struct(btf, "module", sizeof(struct raw_module));
	add_member(btf, "syms", ulong, offsetof(struct raw_module, exports));
	add_member(btf, "num_syms", uint, offsetof(struct raw_module, export_count));
	add_member(btf, "trace_events", ulong, offsetof(struct raw_module, events));
	add_member(btf, "num_trace_events", uint, offsetof(struct raw_module, event_count));
	add_member(btf, "jump_entries", ulong, offsetof(struct raw_module, jumps));
	add_member(btf, "num_jump_entries", uint, offsetof(struct raw_module, jump_count));
	btf__add_struct(btf, "static_key_true", sizeof(struct raw_key));
	add_member(btf, "key", key, 0);
	btf__add_struct(btf, "static_key_false", sizeof(struct raw_key));
	add_member(btf, "key", key, 0);
}

static void add_symbols(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_text" },
		{ TEXT, 'T', "_stext" },
		{ PROC_INT, 'T', "proc_dointvec" },
		{ PROC_MINMAX, 'T', "proc_douintvec_minmax" },
		{ PROC_STRING, 'T', "proc_dostring" },
		{ PROC_OF_MODULE, 't', "proc_do_more" },
		{ TEXT + 0x400, 'T', "_etext" },
		{ DATA, 'D', "_sdata" },
		{ AT(operations[OPS_INT]), 'R', "param_ops_int" },
		{ AT(operations[OPS_BOOL]), 'R', "param_ops_bool" },
		{ AT(operations[OPS_CHARP]), 'R', "param_ops_charp" },
		{ AT(operations[OPS_STRING]), 'R', "param_ops_string" },
		{ AT(operations[OPS_ARRAY]), 'R', "param_array_ops" },
		{ AT(operations[OPS_OTHER]), 'r', "param_ops_other" },
		{ AT(parameters), 'R', "__start___param" },
		{ AT(array), 'R', "__stop___param" },
		{ AT(jumps), 'D', "__start___jump_table" },
		{ AT(calls), 'D', "__stop___jump_table" },
		{ AT(calls), 'D', "__start_static_call_sites" },
		{ AT(events), 'D', "__stop_static_call_sites" },
		{ AT(events), 'D', "__start__bpf_raw_tp" },
		{ AT(points), 'D', "__stop__bpf_raw_tp" },
		{ AT(points[0]), 'd', "first_point" },
		{ AT(points[1]), 'd', "second_point" },
		{ AT(called[0]), 'd', "first_call" },
		{ AT(called[1]), 'd', "second_call" },
		{ AT(module), 'd', "module" },
		{ AT(of_module), 'd', "of_module" },
		{ AT(event_pointers[0]), 'd', "__event_open" },
		{ AT(event_pointers[1]), 'd', "__event_close" },
		{ AT(exports), 'r', "__start___ksymtab" },
		{ AT(exports), 'r', "__ksymtab_number" },
		{ AT(exports[1]), 'r', "__ksymtab_limit" },
		{ AT(module_exports), 'r', "__stop___ksymtab" },
		{ AT(module_exports[0]), 'r', "__ksymtab_of_module" },
		{ AT(module_exports[1]), 'r', "__ksymtab_behind" },
		{ AT(traced), 'd', "ftrace_events" },
		{ AT(opened), 'd', "event_open" },
		{ AT(closed), 'd', "event_close" },
		{ AT(class), 'd', "event_class_file" },
		{ AT(sysctls), 'd', "sysctls" },
		{ AT(enabled), 'd', "enabled" },
		{ AT(disabled), 'd', "disabled" },
		{ AT(number), 'd', "number" },
		{ AT(limit), 'd', "limit" },
		{ AT(roomy), 'd', "roomy" },
		{ AT(flag), 'd', "flag" },
		{ AT(bytes), 'd', "bytes" },
		{ AT(text), 'd', "text" },
		{ AT(numbers), 'd', "numbers" },
		{ AT(values), 'd', "values" },
		{ AT(line), 'd', "line" },
		{ AT(name), 'd', "name" },
		{ AT(distant), 'd', "distant" },
		{ AT(bad), 'd', "bad" },
		{ AT(bounded), 'd', "bounded" },
		{ AT(ceiling), 'd', "ceiling" },
		{ AT(end), 'd', "end" },
		{ BEHIND + sizeof(behind), 'D', "_edata" },
		{ BEHIND + sizeof(behind) + 8, 'D', "_end" },
	};
	machine_set_symbols(&machine, symbols, ARRAY_COUNT(symbols));
}

static int64_t from(uint64_t place, uint64_t target, unsigned int flags)
{
	return (int64_t)(target - place) + flags;
}

static void fill(void)
{
	contents = (struct contents){
		.parameters = { { AT(operations[OPS_INT]), AT(number) },
				{ AT(operations[OPS_INT]), AT(roomy) },
				{ AT(operations[OPS_BOOL]), AT(flag) },
				{ AT(operations[OPS_CHARP]), AT(text) },
				{ AT(operations[OPS_STRING]), AT(string) },
				{ AT(operations[OPS_ARRAY]), AT(array) },
				{ AT(operations[OPS_OTHER]), AT(bytes) } },
		.array = { AT(operations[OPS_INT]), AT(numbers[1]) },
		.string = { 16, AT(line) },
		.enabled = { 1, 1 },
		.disabled = { 0, 2 },
	};
	/* The low bits of a key are flags of the branch; the table is sorted by key. */
	for (unsigned int i = 0; i < 4; i++)
		contents.jumps[i].key =
			from(AT(jumps[i].key), i < 2 ? AT(enabled) : AT(disabled), i % 3);
	contents.jumps[4].key = from(AT(jumps[4].key), AT(points[1].key), 0);
	for (unsigned int i = 0; i < 2; i++) {
		contents.calls[i].key = (int32_t)from(AT(calls[i].key), AT(called[i]), i + 1);
		contents.events[i].tp = AT(points[i]);
		contents.module_jumps[i].key = from(AT(module_jumps[i].key), AT(of_module), i);
	}
	contents.module = (struct raw_module){
		AT(module_jumps), AT(module_exports), AT(event_pointers), 2, 1, 2
	};
	contents.of_module.entries = 1;
	contents.traced[0] = contents.closed.prev = AT(opened.next);
	contents.traced[1] = contents.opened.next = AT(closed.next);
	contents.closed.next = contents.opened.prev = AT(traced);
	contents.opened.class = contents.closed.class = AT(class);
	contents.sysctls[0] =
		(struct raw_sysctl){ 0, AT(limit), 4, 0644, PROC_INT, 0, AT(distant) };
	contents.sysctls[1] = (struct raw_sysctl){ 0, AT(values), 8, 0644, PROC_INT, 0, 0 };
	contents.sysctls[2] = (struct raw_sysctl){ 0, AT(name), 16, 0444, PROC_STRING, 0, 0 };
	contents.sysctls[3] =
		(struct raw_sysctl){ 0, AT(bounded), 4, 0644, PROC_MINMAX, 1, AT(ceiling) };
	behind = (struct raw_sysctl){ 0, AT(distant), 4, 0644, PROC_INT, 0, 0 };
}

static void test_parameters(void)
{
	struct asked *asked = asked_create(&machine.target);
	static const struct {
		const char *name, *type;
		enum clue_kind kind;
	} wanted[] = { { "number", "int", CLUE_WHOLE },
		       { "flag", "_Bool", CLUE_WHOLE },
		       { "text", "char *", CLUE_WHOLE },
		       /* More room than alignment explains: perhaps the first of several. */
		       { "roomy", "int", CLUE_OBJECT } };
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		ask_source(asked, tables_collect, wanted[i].name);
		CHECK_U64(asked->clues.count, 1);
		const struct clue *clue = find_clue(asked, wanted[i].kind, 0);
		CHECK_STRING(clue_type(clue), wanted[i].type);
		CHECK(clue && clue->source == SOURCE_TABLE &&
		      clue->where - AT(parameters) < sizeof(contents.parameters));
	}
	/* Operations of somebody's own say nothing. */
	ask_source(asked, tables_collect, "bytes");
	CHECK_U64(asked->clues.count, 0);
	asked_destroy(asked);
}

static void test_parameters_of_several(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask_source(asked, tables_collect, "line");
	CHECK(has_clue(asked, "kparam_string.string", "char"));
	ask_source(asked, tables_collect, "numbers");
	CHECK(has_clue(asked, "kparam_array.elem", "int"));
	/* Where the table points, not where the symbol begins. */
	CHECK(find_clue(asked, CLUE_OBJECT, 4) && asked->clues.count == 1);
	asked_destroy(asked);
}

static void test_sysctls(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask_source(asked, tables_collect, "limit");
	CHECK(has_clue(asked, "ctl_table.data", "int") && asked->clues.count == 1);
	ask_source(asked, tables_collect, "values");
	CHECK(has_clue(asked, "ctl_table.data", "int"));
	ask_source(asked, tables_collect, "name");
	CHECK(has_clue(asked, "ctl_table.data", "char"));
	/* One page that was filtered does not hide all that follows. */
	ask_source(asked, tables_collect, "distant");
	CHECK(has_clue(asked, "ctl_table.data", "int"));
	CHECK_U64(asked->clues.count, 1); /* a handler without limits has none */
	ask_source(asked, tables_collect, "ceiling");
	CHECK(has_clue(asked, "a limit of a ctl_table", "unsigned int"));
	ask_source(asked, tables_collect, "sysctls");
	CHECK(has_clue(asked, "a record of a ctl_table", "struct ctl_table"));
	CHECK_U64(asked->clues.count, 4);
	CHECK(find_clue(asked, CLUE_OBJECT, sizeof(struct raw_sysctl)));
	asked_destroy(asked);
}

/* Words that look like a record of it, but for one of them. */
static void test_no_sysctls(void)
{
	static const struct raw_sysctl wrong[] = {
		{ 0, AT(bad), 4, 0644, PROC_OF_MODULE, 0, 0 },
		{ 0, AT(bad), 6, 0644, PROC_INT, 0, 0 },
		{ 0, AT(bad), 0, 0644, PROC_INT, 0, 0 },
		{ 0, AT(bad), 4, 01644, PROC_INT, 0, 0 },
		{ 0, AT(bad), 1 << 20, 0644, PROC_INT, 0, 0 },
		{ 0, 0x1000, 4, 0644, PROC_INT, 0, 0 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		contents.sysctls[4] = wrong[i];
		struct asked *asked = asked_create(&machine.target);
		ask_source(asked, tables_collect, "bad");
		CHECK_U64(asked->clues.count, 0);
		ask_source(asked, tables_collect, "sysctls");
		CHECK_U64(asked->clues.count, 4);
		asked_destroy(asked);
	}
	fill();
}

/* Which of the twins it is says the bit that the macro sets. */
static void test_keys(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask_source(asked, tables_collect, "enabled");
	CHECK(has_clue(asked, "jump_entry.key", "struct static_key"));
	CHECK(has_clue(asked, "static_key.type", "struct static_key_true"));
	CHECK_U64(asked->clues.count, 2);
	ask_source(asked, tables_collect, "disabled");
	CHECK(has_clue(asked, "static_key.type", "struct static_key_false"));
	CHECK(!has_clue(asked, "static_key.type", "struct static_key_true"));
	asked_destroy(asked);
}

static void test_calls(void)
{
	struct asked *asked = asked_create(&machine.target);
	static const char *const names[] = { "first_call", "second_call" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		ask_source(asked, tables_collect, names[i]);
		CHECK(has_clue(asked, "static_call_site.key", "struct static_call_key"));
		CHECK_U64(asked->clues.count, 1);
		CHECK(asked->clues.items[0].kind == CLUE_WHOLE);
	}
	asked_destroy(asked);
}

/* A key within a struct is a plain one, whatever its bits say. */
static void test_events(void)
{
	static const char *const names[] = { "event_open", "event_close" };
	for (int broken = 0; broken < 2; broken++) {
		struct asked *asked = asked_create(&machine.target);
		contents.closed.prev -= broken;
		for (int i = 0; i < 2; i++) {
			ask_source(asked, tables_collect, names[i]);
			CHECK_U64(asked->clues.count, !i || !broken);
			CHECK(!asked->clues.count || has_clue(asked, "is on the list ftrace_events",
							      "struct trace_event_call"));
		}
		ask_source(asked, tables_collect, "event_class_file");
		CHECK(has_clue(asked, "trace_event_call.class", "struct trace_event_class"));
		asked_destroy(asked);
	}
	fill();
}

static void test_tracepoints(void)
{
	struct asked *asked = asked_create(&machine.target);
	ask_source(asked, tables_collect, "first_point");
	CHECK(has_clue(asked, "bpf_raw_event_map.tp", "struct tracepoint"));
	CHECK_U64(asked->clues.count, 1);
	ask_source(asked, tables_collect, "second_point");
	CHECK(has_clue(asked, "bpf_raw_event_map.tp", "struct tracepoint"));
	CHECK(has_clue(asked, "jump_entry.key", "struct static_key"));
	CHECK_U64(asked->clues.count, 2);
	ask_source(asked, tables_collect, "__start__bpf_raw_tp");
	CHECK(has_clue(asked, "is in the table of bpf_raw_event_map", "struct bpf_raw_event_map"));
	asked_destroy(asked);
}

/* Modules have tables of their own; a count that cannot be is none. */
static void test_modules(void)
{
	struct module module = { .name = "made_up", .address = AT(module) };
	for (unsigned int damaged = 0; damaged < 2; damaged++) {
		contents.module.jump_count = damaged ? UINT32_MAX : 2;
		machine.target.modules = &module;
		machine.target.module_count = 1;
		struct asked *asked = asked_create(&machine.target);
		ask_source(asked, tables_collect, "of_module");
		CHECK(has_clue(asked, "jump_entry.key", "struct static_key") == !damaged);
		CHECK(has_clue(asked, "static_key.type", "struct static_key_true") == !damaged);
		ask_source(asked, tables_collect, "module");
		CHECK(has_clue(asked, "module.list", "struct module"));
		asked_destroy(asked);
		machine.target.modules = NULL;
		machine.target.module_count = 0;
	}
	fill();
}

/* Each record of these has a name; behind a module's last there is none. */
static void test_records(void)
{
	static const struct {
		const char *name, *how, *type;
		bool is_of_module, is_none;
	} wanted[] = {
		{ "__ksymtab_number", "is in a table of exported symbols", "struct kernel_symbol",
		  false, false },
		{ "__ksymtab_limit", "is in a table of exported symbols", "struct kernel_symbol",
		  false, false },
		{ "__ksymtab_of_module", "is in a table of exported symbols",
		  "struct kernel_symbol", true, false },
		{ "__ksymtab_behind", "", "", true, true },
		{ "__event_open", "module.trace_events", "struct trace_event_call *", true, false },
		{ "__event_close", "module.trace_events", "struct trace_event_call *", true,
		  false },
	};
	struct module module = { .name = "made_up", .address = AT(module) };
	for (size_t count = 0; count < 2; count++) {
		machine.target.modules = count ? &module : NULL;
		machine.target.module_count = count;
		struct asked *asked = asked_create(&machine.target);
		for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
			bool is_told = !wanted[i].is_none && (count || !wanted[i].is_of_module);
			ask_source(asked, tables_collect, wanted[i].name);
			CHECK_U64(asked->clues.count, is_told);
			CHECK(!is_told || has_clue(asked, wanted[i].how, wanted[i].type));
			CHECK(!is_told || asked->clues.items[0].kind == CLUE_WHOLE);
		}
		asked_destroy(asked);
	}
	machine.target.modules = NULL;
	machine.target.module_count = 0;
}

/* Without the symbols or types of a table there is none. */
static void test_absent(void)
{
	struct machine empty;
	static const struct test_symbol symbols[] = { { TEXT, 'T', "_stext" },
						      { TEXT + 16, 'T', "_etext" },
						      { DATA, 'd', "number" },
						      { DATA + 8, 'D', "_end" } };
	machine_init(&empty);
	btf__add_int(empty.source, "int", 4, 1);
	machine_set_types(&empty);
	machine_set_symbols(&empty, symbols, ARRAY_COUNT(symbols));
	struct asked *asked = asked_create(&empty.target);
	ask_source(asked, tables_collect, "number");
	CHECK_U64(asked->clues.count, 0);
	asked_destroy(asked);
	machine_deinit(&empty);
}

static void ask_all(struct machine *damaged)
{
	static const char *const names[] = { "number", "line", "numbers", "sysctls", "enabled" };
	struct asked *asked = asked_create(&damaged->target);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		ask_source(asked, tables_collect, names[i]);
		for (size_t k = 0; k < asked->clues.count; k++)
			CHECK(asked->clues.items[k].offset < asked->subject.room);
	}
	asked_destroy(asked);
}

static void test_damage(void)
{
	machine_damage(&machine, 1000, ask_all);
	test_parameters();
}

/* Data that ends less than a piece below the end of all addresses. */
static void test_last_addresses(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_stext" },
		{ PROC_INT, 'T', "proc_dointvec" },
		{ TEXT + 0x400, 'T', "_etext" },
		{ 0xffffffffffe00000u, 'D', "_sdata" },
		{ 0xffffffffffe00000u, 'd', "number" },
		{ 0xffffffffffffff00u, 'D', "_edata" },
	};
	struct machine last;
	machine_init(&last);
	add_types(last.source);
	machine_set_types(&last);
	machine_set_symbols(&last, symbols, ARRAY_COUNT(symbols));
	struct asked *asked = asked_create(&last.target);
	ask_source(asked, tables_collect, "number");
	CHECK_U64(asked->clues.count, 0);
	asked_destroy(asked);
	machine_deinit(&last);
}

int main(void)
{
	machine_init(&machine);
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	machine_add_part(&machine, BEHIND, &behind, sizeof(behind));
	fill();
	add_types(machine.source);
	machine_set_types(&machine);
	add_symbols();
	RUN(test_parameters);
	RUN(test_parameters_of_several);
	RUN(test_sysctls);
	RUN(test_no_sysctls);
	RUN(test_keys);
	RUN(test_calls);
	RUN(test_events);
	RUN(test_tracepoints);
	RUN(test_modules);
	RUN(test_records);
	RUN(test_absent);
	RUN(test_last_addresses);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
