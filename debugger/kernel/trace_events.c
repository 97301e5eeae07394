// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/trace_events.h"

#include "base/array.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES_MAX  65536u
#define FIELDS_MAX 256u
#define NAME_MAX   256
#define FORMAT_MAX 65536

struct trace_events {
	struct trace_event_call **calls;
	size_t count, capacity;
	struct trace_event_call *by_type[TYPES_MAX];
};

struct pass {
	struct target *target;
	const struct trace_events_visitor *visitor;
	struct trace_events *events;
	uint64_t link;
	uint64_t enter_class, exit_class; /* of system calls; 0: there are none */
	uint64_t has_tracepoint;	  /* the flag: the name is the tracepoint's */
};

static struct error *pointed(const struct object *object, const char *path, size_t size, char **ret)
{
	char *text = malloc(size);
	if (!text)
		return error_no_memory();
	struct error *error = path_pointed_string(object, path, text, size);
	char *whole = error ? NULL : strdup(text);
	free(text);
	if (!error && !whole)
		return error_no_memory();
	if (!error)
		*ret = whole;
	return error;
}

static void call_destroy(struct trace_event_call *call)
{
	for (size_t i = 0; i < call->field_count; i++) {
		free(call->fields[i].name);
		free(call->fields[i].type);
	}
	free(call->fields);
	free(call->format);
	free(call->syscall);
	free(call->name);
	free(call->system);
	error_free(call->problem);
	free(call);
}

static void find_kind(const struct pass *pass, uint64_t class_address,
		      struct trace_event_call *call)
{
	bool is_own = !strcmp(call->system, "ftrace");
	if (pass->enter_class && class_address == pass->enter_class)
		call->kind = TRACE_EVENT_SYSCALL_ENTER;
	else if (pass->exit_class && class_address == pass->exit_class)
		call->kind = TRACE_EVENT_SYSCALL_EXIT;
	else if (is_own && strstr(call->name, "_stack"))
		call->kind = TRACE_EVENT_STACK;
	else if (is_own && !strcmp(call->name, "function"))
		call->kind = TRACE_EVENT_FUNCTION;
}

static struct error *read_call(const struct pass *pass, const struct object *object,
			       struct trace_event_call *call)
{
	struct object class, tracepoint;
	uint64_t type;
	call->address = object->address;
	TRY(object_u64(object, "event.type", &type));
	TRY(object_u64(object, "flags", &call->flags));
	TRY(object_follow(object, "class", &class));
	TRY(pointed(&class, "system", NAME_MAX, &call->system));
	if (call->flags & pass->has_tracepoint) {
		TRY(object_follow(object, "tp", &tracepoint));
		TRY(pointed(&tracepoint, "name", NAME_MAX, &call->name));
	} else {
		TRY(pointed(object, "name", NAME_MAX, &call->name));
	}
	if (type >= TYPES_MAX)
		return error_create(ERROR_FORMAT, "event %s has no usable type", call->name);
	call->type = (uint32_t)type;
	find_kind(pass, class.address, call);
	return NULL;
}

static struct error *add(struct trace_events *events, struct trace_event_call *call)
{
	if (events->count == events->capacity) {
		size_t capacity = events->capacity ? 2 * events->capacity : 1024;
		struct trace_event_call **calls = realloc(events->calls, capacity * sizeof(*calls));
		if (!calls)
			return error_no_memory();
		events->calls = calls;
		events->capacity = capacity;
	}
	events->calls[events->count++] = call;
	if (!events->by_type[call->type])
		events->by_type[call->type] = call;
	return NULL;
}

static struct error *visit(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object object;
	TRY(object_at(pass->target, "struct trace_event_call", item->address - pass->link,
		      &object));
	struct trace_event_call *call = calloc(1, sizeof(*call));
	if (!call)
		return error_no_memory();
	struct error *error = read_call(pass, &object, call);
	if (!error)
		error = add(pass->events, call);
	if (!error)
		return NULL;
	call_destroy(call);
	if (error_is_fatal(error))
		return error;
	return pass->visitor->broken(pass->visitor->context, error_prefix(error, "a trace event"));
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

/* The flag's place moved when others went (6.12). */
static uint64_t tracepoint_flag(const struct target *target)
{
	struct btf_enumerator enumerator;
	uint32_t id;
	return target->btf && btf_find_enumerator(target->btf, "TRACE_EVENT_FL_TRACEPOINT", &id,
						  &enumerator)
		       ? (uint64_t)enumerator.value
		       : 0;
}

struct error *trace_events_load(struct target *target, const struct trace_events_visitor *visitor,
				struct trace_events **ret)
{
	struct object head;
	struct pass pass = { .target = target, .visitor = visitor };
	const struct walk walk = {
		.target = target, .visit = visit, .broken = broken, .context = &pass
	};
	TRY(object_variable(target, "ftrace_events", "struct list_head", &head));
	TRY(object_offset(target, "struct trace_event_call", "list", &pass.link));
	(void)symtab_address(target->symbols, "event_class_syscall_enter", &pass.enter_class);
	(void)symtab_address(target->symbols, "event_class_syscall_exit", &pass.exit_class);
	pass.has_tracepoint = tracepoint_flag(target);
	pass.events = calloc(1, sizeof(*pass.events));
	if (!pass.events)
		return error_no_memory();
	struct error *error = walk_list(&walk, head.address, false);
	if (error)
		trace_events_destroy(pass.events);
	else
		*ret = pass.events;
	return error;
}

void trace_events_destroy(struct trace_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->count; i++)
		call_destroy(events->calls[i]);
	free(events->calls);
	free(events);
}

size_t trace_events_count(const struct trace_events *events)
{
	return events->count;
}

struct trace_event_call *trace_events_at(const struct trace_events *events, size_t index)
{
	return events->calls[index];
}

struct trace_event_call *trace_events_find(const struct trace_events *events, uint32_t type)
{
	return type < TYPES_MAX ? events->by_type[type] : NULL;
}

/* --- fields ---------------------------------------------------------------------------------- */

struct loading {
	struct target *target;
	struct trace_event_call *call;
	uint64_t link;
	struct error *problem;
};

static void find_field_kind(struct trace_field *field)
{
	const char *type = field->type;
	bool is_array = strchr(type, '[');
	field->kind = !strncmp(type, "__data_loc ", 11)	 ? TRACE_DATA_LOC
		      : !strncmp(type, "__rel_loc ", 10) ? TRACE_REL_LOC
		      : is_array || (field->size != 1 && field->size != 2 && field->size != 4 &&
				     field->size != 8)
			      ? TRACE_BYTES
			      : TRACE_NUMBER;
	field->is_text = is_array && strstr(type, "char") && !strstr(type, "unsigned char");
}

/*
 * Of an array, how many it has, as a number: the text may name a constant. The kernel keeps it
 * since 6.2 (b6c7abd1c28a), and `format` of tracefs has it.
 */
static struct error *number_elements(struct trace_field *field, uint64_t count)
{
	char *bracket = strchr(field->type, '[');
	if (!bracket || !count || field->kind != TRACE_BYTES)
		return NULL;
	size_t size = (size_t)(bracket - field->type) + 24;
	char *text = malloc(size);
	if (!text)
		return error_no_memory();
	snprintf(text, size, "%.*s[%" PRIu64 "]", (int)(bracket - field->type), field->type, count);
	free(field->type);
	field->type = text;
	return NULL;
}

static struct error *read_field(struct loading *loading, const struct object *object)
{
	struct trace_event_call *call = loading->call;
	uint64_t offset, size, is_signed, count = 0;
	struct trace_field *fields =
		realloc(call->fields, (call->field_count + 1) * sizeof(*fields));
	if (!fields)
		return error_no_memory();
	call->fields = fields;
	struct trace_field *field = &fields[call->field_count];
	TRY(object_u64(object, "offset", &offset));
	TRY(object_u64(object, "size", &size));
	TRY(object_u64(object, "is_signed", &is_signed));
	if (object_has(object, "len"))
		TRY(object_u64(object, "len", &count));
	if (offset > UINT16_MAX || size > UINT16_MAX)
		return error_create(ERROR_FORMAT, "a field has no usable place");
	*field = (struct trace_field){ .offset = (uint32_t)offset,
				       .size = (uint32_t)size,
				       .is_signed = is_signed };
	TRY(pointed(object, "name", NAME_MAX, &field->name));
	struct error *error = pointed(object, "type", NAME_MAX, &field->type);
	if (error) {
		free(field->name);
		return error;
	}
	find_field_kind(field);
	call->field_count++;
	return number_elements(field, count);
}

static struct error *visit_field(void *context, const struct walk_item *item)
{
	struct loading *loading = context;
	struct object object;
	if (loading->call->field_count == FIELDS_MAX)
		return error_create(ERROR_FORMAT, "it has no end of fields");
	TRY(object_at(loading->target, "struct ftrace_event_field", item->address - loading->link,
		      &object));
	return read_field(loading, &object);
}

static struct error *broken_field(void *context, struct error *problem)
{
	struct loading *loading = context;
	if (loading->problem)
		error_free(problem);
	else
		loading->problem = problem;
	return NULL;
}

static int by_offset(const void *left, const void *right)
{
	const struct trace_field *a = left, *b = right;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Those of a system call's arguments are kept with the call. */
static struct error *read_details(struct loading *loading)
{
	struct trace_event_call *call = loading->call;
	struct object object, class, data, fields;
	const struct walk walk = { .target = loading->target,
				   .visit = visit_field,
				   .broken = broken_field,
				   .context = loading };
	bool is_syscall = call->kind == TRACE_EVENT_SYSCALL_ENTER ||
			  call->kind == TRACE_EVENT_SYSCALL_EXIT;
	TRY(object_offset(loading->target, "struct ftrace_event_field", "link", &loading->link));
	TRY(object_at(loading->target, "struct trace_event_call", call->address, &object));
	TRY(object_follow(&object, "class", &class));
	TRY(object_member(&class, "fields", &fields));
	if (is_syscall) {
		TRY(object_u64(&object, "data", &data.address));
		TRY(object_at(loading->target, "struct syscall_metadata", data.address, &data));
		TRY(pointed(&data, "name", NAME_MAX, &call->syscall));
		if (call->kind == TRACE_EVENT_SYSCALL_ENTER)
			TRY(object_member(&data, "enter_fields", &fields));
		call->has_user_data = object_has(&data, "user_mask");
	}
	TRY(walk_list(&walk, fields.address, false));
	array_sort(call->fields, call->field_count, sizeof(*call->fields), by_offset);
	return pointed(&object, "print_fmt", FORMAT_MAX, &call->format);
}

struct error *trace_event_load(struct target *target, struct trace_event_call *call)
{
	struct loading loading = { .target = target, .call = call };
	if (call->is_loaded)
		return NULL;
	call->is_loaded = true;
	struct error *error = read_details(&loading);
	if (error && error_is_fatal(error)) {
		error_free(loading.problem);
		return error;
	}
	if (error)
		error_free(loading.problem);
	call->problem = error ?: loading.problem;
	return NULL;
}
