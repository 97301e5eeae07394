// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables of the kernel that say what type a variable has: module parameters (their operations say
 * of what type the variable is), sysctls (sysctls.c), static keys (the jump table), static
 * calls, tracepoints, events of tracing, the modules themselves. Read once; what they say is found
 * by address.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "base/large.h"
#include "debugger/infer/evidence/tables_private.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE_MAX (16u << 20)
#define STRING_MAX     64
#define EVENTS_MAX     65536

static bool read_bytes(const struct knowledge *knowledge, uint64_t start, uint64_t size,
		       size_t limit, struct span *ret)
{
	*ret = (struct span){ 0 };
	if (!size || size > limit)
		return false;
	ret->data = large_malloc((size_t)size);
	if (!ret->data)
		return false;
	ret->address = start;
	ret->size = (size_t)size;
	/* Missing bytes are zeros, which no record is; of flags the value does not matter. */
	memory_read_filled(knowledge->target->memory, start, ret->data, ret->size, 0);
	return true;
}

/* Between two symbols of the kernel. */
static bool read_span(const struct knowledge *knowledge, const char *from, const char *to,
		      size_t limit, struct span *ret)
{
	uint64_t start, stop;
	*ret = (struct span){ 0 };
	return symtab_address(knowledge->target->symbols, from, &start) &&
	       symtab_address(knowledge->target->symbols, to, &stop) && stop > start &&
	       read_bytes(knowledge, start, stop - start, limit, ret);
}

uint64_t span_load(const struct knowledge *knowledge, const struct span *span, size_t at,
		   size_t size)
{
	if (at > span->size || span->size - at < size)
		return 0;
	return load_unsigned(span->data + at, size, knowledge->target->facts->big_endian);
}

bool table_offset(struct target *target, const char *type, const char *member, uint64_t *ret)
{
	struct error *error = object_offset(target, type, member, ret);
	error_free(error);
	return !error;
}

bool table_find_type(const struct layout *layout, const char *name, struct type *ret)
{
	uint32_t id = 0;
	if (!strcmp(name, "char *")) {
		uint32_t character = layout_find(layout, BTF_INT, "char");
		id = character ? layout->records[character].pointer : 0;
	} else if (!strncmp(name, "struct ", 7)) {
		id = layout_find(layout, BTF_STRUCT, name + 7);
	} else {
		id = layout_find(layout, BTF_INT, name);
	}
	*ret = (struct type){ layout->btf, id };
	return id != 0;
}

/* --- module parameters --------------------------------------------------------------------- */

/* Operations of kernel/params.c, and the type that module_param() checks for each. */
static const struct {
	const char *operations, *type;
} parameters[] = {
	{ "param_ops_byte", "unsigned char" },
	{ "param_ops_short", "short int" },
	{ "param_ops_ushort", "short unsigned int" },
	{ "param_ops_int", "int" },
	{ "param_ops_uint", "unsigned int" },
	{ "param_ops_hexint", "unsigned int" },
	{ "param_ops_long", "long int" },
	{ "param_ops_ulong", "long unsigned int" },
	{ "param_ops_ullong", "long long unsigned int" },
	{ "param_ops_charp", "char *" },
	{ "param_ops_bool", "_Bool" },
	{ "param_ops_bool_enable_only", "_Bool" },
	{ "param_ops_invbool", "_Bool" },
	{ "param_ops_bint", "int" },
};

static const char *parameter_type(const struct target *target, uint64_t operations)
{
	for (size_t i = 0; i < ARRAY_COUNT(parameters); i++) {
		uint64_t address;
		if (symtab_address(target->symbols, parameters[i].operations, &address) &&
		    address == operations)
			return parameters[i].type;
	}
	return NULL;
}

/* A parameter that is a text or an array has a struct that says where it lies. */
static struct error *add_between(struct knowledge *knowledge, const char *type, uint64_t address,
				 uint64_t record, struct object *ret)
{
	struct error *error = object_at(knowledge->target, type, address, ret);
	if (error)
		return error;
	struct clue clue = { .kind = CLUE_WHOLE,
			     .source = SOURCE_TABLE,
			     .type = ret->type,
			     .where = record,
			     .how = "kernel_param.arg" };
	return knowledge_add_fact(knowledge, address, &clue);
}

static struct error *add_parameter(struct knowledge *knowledge, const struct layout *layout,
				   uint64_t operations, uint64_t variable, uint64_t record)
{
	struct clue clue = { .source = SOURCE_TABLE, .where = record };
	struct target *target = knowledge->target;
	const char *name = parameter_type(target, operations);
	uint64_t size;
	if (name && table_find_type(layout, name, &clue.type) && type_size(clue.type, &size)) {
		clue.kind = CLUE_WHOLE;
		clue.size = (uint32_t)size;
		clue.how = "kernel_param.arg";
		return knowledge_add_fact(knowledge, variable, &clue);
	}
	uint64_t array_operations, string_operations;
	bool is_array = symtab_address(target->symbols, "param_array_ops", &array_operations) &&
			operations == array_operations;
	bool is_string = symtab_address(target->symbols, "param_ops_string", &string_operations) &&
			 operations == string_operations;
	struct object parameter;
	uint64_t value;
	struct error *error = NULL;
	clue.kind = CLUE_OBJECT;
	if (is_string && table_find_type(layout, "char", &clue.type)) {
		error = add_between(knowledge, "struct kparam_string", variable, record,
				    &parameter);
		if (!error)
			error = object_u64(&parameter, "string", &value);
		clue.how = "kparam_string.string";
		if (!error)
			return knowledge_add_fact(knowledge, value, &clue);
	} else if (is_array) {
		error = add_between(knowledge, "struct kparam_array", variable, record, &parameter);
		if (!error)
			error = object_u64(&parameter, "ops", &operations);
		if (!error)
			error = object_u64(&parameter, "elem", &value);
		name = error ? NULL : parameter_type(target, operations);
		clue.how = "kparam_array.elem";
		if (name && table_find_type(layout, name, &clue.type))
			return knowledge_add_fact(knowledge, value, &clue);
	}
	error_free(error);
	return NULL;
}

static struct error *read_parameters(struct knowledge *knowledge, const struct layout *layout)
{
	struct target *target = knowledge->target;
	struct span span;
	uint64_t operations, variable;
	uint32_t size = layout_size(layout, layout_find(layout, BTF_STRUCT, "kernel_param"));
	struct error *error = NULL;
	if (!size || !table_offset(target, "struct kernel_param", "ops", &operations) ||
	    !table_offset(target, "struct kernel_param", "arg", &variable))
		return NULL;
	if (read_span(knowledge, "__start___param", "__stop___param", TABLE_SIZE_MAX, &span))
		for (size_t at = 0; !error && at + size <= span.size; at += size)
			error = add_parameter(knowledge, layout,
					      span_load(knowledge, &span, at + operations, 8),
					      span_load(knowledge, &span, at + variable, 8),
					      span.address + at);
	free(span.data);
	return error;
}

/* --- static keys --------------------------------------------------------------------------- */

static const char key_type[] = "static_key.type";

/* struct jump_entry: s32 code, s32 target, long key, place-relative; its low bits are flags. */
static struct error *add_key(struct knowledge *knowledge, const struct layout *layout, uint64_t key,
			     uint64_t record)
{
	struct clue clue = { .kind = CLUE_OBJECT,
			     .source = SOURCE_TABLE,
			     .where = record,
			     .how = "jump_entry.key" };
	struct target *target = knowledge->target;
	struct object object;
	uint64_t entries;
	if (!table_find_type(layout, "struct static_key", &clue.type))
		return NULL;
	TRY(knowledge_add_fact(knowledge, key, &clue));
	/* JUMP_TYPE_TRUE of include/linux/jump_label.h: what it was defined as. */
	struct error *error = object_at(target, "struct static_key", key, &object);
	if (!error)
		error = object_u64(&object, "entries", &entries);
	if (error) {
		error_free(error);
		return NULL;
	}
	clue.how = key_type;
	if (!table_find_type(layout,
			     entries & 1 ? "struct static_key_true" : "struct static_key_false",
			     &clue.type))
		return NULL;
	return knowledge_add_fact(knowledge, key, &clue);
}

static struct error *read_keys(struct knowledge *knowledge, const struct layout *layout,
			       const struct span *span, uint32_t size)
{
	uint64_t member, last = 0;
	if (size < 8 || !table_offset(knowledge->target, "struct jump_entry", "key", &member))
		return NULL;
	for (size_t at = 0; at + size <= span->size; at += size) {
		uint64_t distance = span_load(knowledge, span, at + member, 8);
		uint64_t key = (span->address + at + member + distance) & ~(uint64_t)3;
		if (distance && key != last && is_kernel_pointer(key))
			TRY(add_key(knowledge, layout, key, span->address + at));
		last = key;
	}
	return NULL;
}

/* --- static calls -------------------------------------------------------------------------- */

/* struct static_call_site: s32 addr, s32 key, place-relative; the key's low bits are flags. */
static struct error *read_calls(struct knowledge *knowledge, const struct layout *layout,
				const struct span *span, uint32_t size)
{
	struct clue clue = { .kind = CLUE_WHOLE,
			     .source = SOURCE_TABLE,
			     .how = "static_call_site.key" };
	uint64_t member, last = 0;
	if (!table_find_type(layout, "struct static_call_key", &clue.type) ||
	    !table_offset(knowledge->target, "struct static_call_site", "key", &member))
		return NULL;
	for (size_t at = 0; at + size <= span->size; at += size) {
		uint64_t place = span->address + at + member;
		uint64_t distance = (uint64_t)(int32_t)span_load(knowledge, span, at + member, 4);
		uint64_t key = (place + distance) & ~(uint64_t)3;
		clue.where = span->address + at;
		if (distance && key != last && is_kernel_pointer(key))
			TRY(knowledge_add_fact(knowledge, key, &clue));
		last = key;
	}
	return NULL;
}

/* --- tracepoints --------------------------------------------------------------------------- */

/* Of each tracepoint that BPF can be attached to, which are all that TRACE_EVENT() defines. */
static struct error *read_tracepoints(struct knowledge *knowledge, const struct layout *layout,
				      const struct span *span, uint32_t size)
{
	struct clue clue = { .kind = CLUE_WHOLE,
			     .source = SOURCE_TABLE,
			     .how = "bpf_raw_event_map.tp" };
	/* The record itself is the first arm of a union without a name. */
	struct clue record = { .kind = CLUE_OBJECT,
			       .source = SOURCE_POINTER,
			       .how = "is in the table of bpf_raw_event_map" };
	uint64_t member;
	if (!table_find_type(layout, "struct tracepoint", &clue.type) ||
	    !table_find_type(layout, "struct bpf_raw_event_map", &record.type) ||
	    !table_offset(knowledge->target, "struct bpf_raw_event_map", "tp", &member))
		return NULL;
	for (size_t at = 0; at + size <= span->size; at += size) {
		uint64_t tracepoint = span_load(knowledge, span, at + member, 8);
		clue.where = record.where = span->address + at;
		if (!is_kernel_pointer(tracepoint))
			continue;
		TRY(knowledge_add_fact(knowledge, tracepoint, &clue));
		TRY(knowledge_add_fact(knowledge, record.where, &record));
	}
	return NULL;
}

/* --- events of tracing --------------------------------------------------------------------- */

static struct error *add_event(struct knowledge *knowledge, const struct layout *layout,
			       uint64_t event)
{
	struct clue whole = { .kind = CLUE_WHOLE,
			      .source = SOURCE_TABLE,
			      .where = event,
			      .how = "is on the list ftrace_events" };
	struct clue class = { .kind = CLUE_OBJECT,
			      .source = SOURCE_POINTER,
			      .where = event,
			      .how = "trace_event_call.class" };
	struct object object;
	uint64_t address;
	TRY(object_at(knowledge->target, "struct trace_event_call", event, &object));
	TRY(object_u64(&object, "class", &address));
	if (table_find_type(layout, "struct trace_event_call", &whole.type))
		TRY(knowledge_add_fact(knowledge, event, &whole));
	if (table_find_type(layout, "struct trace_event_class", &class.type) &&
	    is_kernel_pointer(address))
		TRY(knowledge_add_fact(knowledge, address, &class));
	return NULL;
}

/* The kernel and all modules keep them on one list. */
static struct error *read_events(struct knowledge *knowledge, const struct layout *layout)
{
	struct list_walk walk;
	uint64_t head, node, link;
	struct error *error = NULL;
	if (!symtab_address(knowledge->target->symbols, "ftrace_events", &head) ||
	    !table_offset(knowledge->target, "struct trace_event_call", "list", &link))
		return NULL;
	list_walk_init(&walk, knowledge->target, head);
	for (size_t i = 0; i < EVENTS_MAX && !error; i++) {
		error = list_walk_next(&walk, &node);
		if (error || !node)
			break;
		error = add_event(knowledge, layout, node - link);
	}
	return error_only_fatal(error);
}

/* --- exports, and what modules bring for tracing --------------------------------------------- */

/* Each record of a table is a variable with a name of its own. */
static struct error *add_records(struct knowledge *knowledge, const struct span *span,
				 uint32_t size, struct type type, bool is_exact, const char *how)
{
	struct clue clue = { .kind = CLUE_WHOLE,
			     .source = SOURCE_TABLE,
			     .type = type,
			     .shows_sign = is_exact,
			     .how = how };
	for (size_t at = 0; at + size <= span->size; at += size) {
		clue.where = span->address + at;
		TRY(knowledge_add_fact(knowledge, clue.where, &clue));
	}
	return NULL;
}

static struct error *read_exports(struct knowledge *knowledge, const struct layout *layout,
				  const struct span *span, uint32_t size)
{
	uint32_t id = layout_find(layout, BTF_STRUCT, "kernel_symbol");
	return add_records(knowledge, span, size, (struct type){ layout->btf, id }, false,
			   "is in a table of exported symbols");
}

/* Since 7.0: a byte for each export of the kernel, and for each of a module. */
static struct error *read_export_flags(struct knowledge *knowledge, const struct layout *layout,
				       const struct span *span, uint32_t size)
{
	uint32_t id = layout_find(layout, BTF_INT, "unsigned char");
	return add_records(knowledge, span, size, (struct type){ layout->btf, id }, true,
			   "is in the table of exports' flags");
}

static struct error *read_pointers(struct knowledge *knowledge, const struct layout *layout,
				   const struct span *span, const char *name, const char *how)
{
	uint32_t target = layout_find(layout, BTF_STRUCT, name);
	uint32_t id = target ? layout->records[target].pointer : 0;
	if (!id)
		return NULL;
	return add_records(knowledge, span, knowledge->target->memory->word_size,
			   (struct type){ layout->btf, id }, false, how);
}

static struct error *read_event_pointers(struct knowledge *knowledge, const struct layout *layout,
					 const struct span *span, uint32_t size)
{
	(void)size;
	return read_pointers(knowledge, layout, span, "trace_event_call", "module.trace_events");
}

static struct error *read_eval_pointers(struct knowledge *knowledge, const struct layout *layout,
					const struct span *span, uint32_t size)
{
	(void)size;
	return read_pointers(knowledge, layout, span, "trace_eval_map", "module.trace_evals");
}

/* --- tables of the kernel and of each module ------------------------------------------------ */

static const struct shared_table {
	const char *record;	   /* type of an element, NULL: a pointer */
	const char *start, *end;   /* symbols around the kernel's own; NULL: freed after boot */
	const char *first, *count; /* members of struct module */
	struct error *(*read)(struct knowledge *knowledge, const struct layout *layout,
			      const struct span *span, uint32_t record_size);
} shared_tables[] = {
	{ "struct jump_entry", "__start___jump_table", "__stop___jump_table", "jump_entries",
	  "num_jump_entries", read_keys },
	{ "struct static_call_site", "__start_static_call_sites", "__stop_static_call_sites",
	  "static_call_sites", "num_static_call_sites", read_calls },
	{ "struct bpf_raw_event_map", "__start__bpf_raw_tp", "__stop__bpf_raw_tp", "bpf_raw_events",
	  "num_bpf_raw_events", read_tracepoints },
	{ "struct kernel_symbol", "__start___ksymtab", "__stop___ksymtab", "syms", "num_syms",
	  read_exports },
	{ "struct kernel_symbol", "__start___ksymtab_gpl", "__stop___ksymtab_gpl", "gpl_syms",
	  "num_gpl_syms", read_exports },
	{ "unsigned char", "__start___kflagstab", "__stop___kflagstab", "flagstab", "num_syms",
	  read_export_flags },
	{ NULL, NULL, NULL, "trace_events", "num_trace_events", read_event_pointers },
	{ NULL, NULL, NULL, "trace_evals", "num_trace_evals", read_eval_pointers },
};

static uint32_t record_size(const struct knowledge *knowledge, const struct layout *layout,
			    const struct shared_table *table)
{
	struct type type;
	if (!table->record)
		return knowledge->target->memory->word_size;
	return table_find_type(layout, table->record, &type) ? layout_size(layout, type.id) : 0;
}

static struct error *read_of_module(struct knowledge *knowledge, const struct layout *layout,
				    const struct shared_table *table, uint64_t module)
{
	struct object object;
	struct span span;
	uint64_t first = 0, count = 0;
	uint32_t size = record_size(knowledge, layout, table);
	struct error *error = object_at(knowledge->target, "struct module", module, &object);
	if (!error && object_has(&object, table->first) && object_has(&object, table->count))
		error = object_u64(&object, table->first, &first);
	if (!error && first)
		error = object_u64(&object, table->count, &count);
	if (error || count > TABLE_SIZE_MAX)
		return error_only_fatal(error);
	if (read_bytes(knowledge, first, count * size, TABLE_SIZE_MAX, &span))
		error = table->read(knowledge, layout, &span, size);
	free(span.data);
	return error;
}

static struct error *read_shared(struct knowledge *knowledge, const struct layout *layout)
{
	const struct module *modules;
	size_t module_count = target_modules(knowledge->target, &modules);
	for (size_t i = 0; i < ARRAY_COUNT(shared_tables); i++) {
		const struct shared_table *table = &shared_tables[i];
		struct error *error = NULL;
		struct span span = { 0 };
		uint32_t size = record_size(knowledge, layout, table);
		if (!size)
			continue;
		if (table->start &&
		    read_span(knowledge, table->start, table->end, TABLE_SIZE_MAX, &span))
			error = table->read(knowledge, layout, &span, size);
		free(span.data);
		for (size_t k = 0; k < module_count && !error; k++)
			error = read_of_module(knowledge, layout, table, modules[k].address);
		if (error)
			return error;
	}
	return NULL;
}

/* --- the list of modules ------------------------------------------------------------------- */

/* What each entry is: the module's own variable __this_module. */
static struct error *read_modules(struct knowledge *knowledge, const struct layout *layout)
{
	struct clue clue = { .kind = CLUE_WHOLE, .source = SOURCE_TABLE, .how = "module.list" };
	const struct module *modules;
	size_t count = target_modules(knowledge->target, &modules);
	if (!table_find_type(layout, "struct module", &clue.type))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		clue.where = modules[i].address;
		TRY(knowledge_add_fact(knowledge, modules[i].address, &clue));
	}
	return NULL;
}

/* --- all of them ---------------------------------------------------------------------------- */

struct error *tables_read(struct knowledge *knowledge)
{
	static struct error *(*const readers[])(struct knowledge *, const struct layout *) = {
		read_parameters, sysctls_read, read_shared, read_modules, read_events
	};
	const struct layout *layout;
	if (knowledge->tables_read)
		return NULL;
	TRY(knowledge_layout(knowledge, NULL, &layout));
	size_t before = knowledge->fact_count;
	struct error *error = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(readers) && !error; i++)
		error = readers[i](knowledge, layout);
	/* Interrupted: half of the facts would answer the next question otherwise. */
	if (error)
		knowledge->fact_count = before;
	knowledge->tables_read = !error;
	return error;
}

/* A table's word is of the whole symbol when it begins there and leaves no room for more. */
static struct clue fit_clue(const struct question *question, struct clue clue, uint32_t offset)
{
	const struct subject *subject = question->subject;
	uint64_t size;
	clue.offset = offset;
	if (!type_size(clue.type, &size))
		size = 0;
	uint64_t whole = clue.size > size ? clue.size : size;
	uint64_t end = subject->address + subject->room, alignment = end & -end;
	bool fills = subject->room >= whole &&
		     (subject->room == whole || subject->room - whole < alignment);
	if (clue.kind == CLUE_WHOLE && (offset || !fills))
		clue.kind = CLUE_OBJECT;
	if (clue.kind == CLUE_OBJECT)
		clue.size = 0;
	return clue;
}

/*
 * Facts that count for one symbol, those of the lowest addresses. The largest variables of a kernel
 * have 350 clues of all sources; a size in a module's table that is a lie has all facts there are.
 */
#define FACTS_MAX 1000

struct error *tables_collect(const struct question *question, struct clues *clues)
{
	struct knowledge *knowledge = question->knowledge;
	const struct subject *subject = question->subject;
	bool has_whole = false;
	TRY(knowledge_prepare(knowledge));
	size_t first = knowledge_first_fact(knowledge, subject->address);
	for (size_t i = first; i < knowledge->fact_count && i - first < FACTS_MAX; i++) {
		const struct fact *fact = &knowledge->facts[i];
		uint64_t offset = fact->address - subject->address;
		if (offset >= subject->room)
			break;
		/* tracepoint.key has the bit, but is a plain static_key. */
		if (has_whole && fact->clue.how == key_type)
			continue;
		struct clue clue = fit_clue(question, fact->clue, (uint32_t)offset);
		has_whole |= clue.kind == CLUE_WHOLE;
		if (!clues_add(clues, &clue))
			return error_no_memory();
	}
	return NULL;
}
