// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/finding_facts.h"

static void write_string(struct out *out, const char *key, const char *text)
{
	if (text && *text)
		out_string_as(out, key, text, "");
	else
		out_null_as(out, key, "");
}

static void write_instruction(struct out *out, const struct finding *finding)
{
	if (!finding->instruction) {
		out_null_as(out, "instruction", "");
		return;
	}
	out_object_begin(out, "instruction");
	out_address_as(out, "address", finding->instruction_address, "");
	out_string_as(out, "text", finding->instruction, "");
	out_object_end(out);
}

static void write_access(struct out *out, const struct finding_access *access)
{
	if (!access->kind) {
		out_null_as(out, "access", "");
		return;
	}
	out_object_begin(out, "access");
	out_string_as(out, "kind", access->kind, "");
	out_address_as(out, "address", access->address, "");
	if (access->size)
		out_u64_as(out, "size", access->size, "");
	else
		out_null_as(out, "size", "");
	write_string(out, "register", access->base);
	if (access->base) {
		out_address_as(out, "value", access->base_value, "");
		/* An index may have any 64 bits. */
		out_address_as(out, "added", (uint64_t)access->displacement, "");
	}
	out_object_end(out);
}

static void write_object(struct out *out, const struct finding_object *object)
{
	if (!object->address) {
		out_null_as(out, "object", "");
		return;
	}
	out_object_begin(out, "object");
	out_address_as(out, "address", object->address, "");
	write_string(out, "type", object->type);
	write_string(out, "member", object->member);
	write_string(out, "note", object->note);
	out_object_end(out);
}

static void write_task(struct out *out, const char *key, const struct finding_task *task)
{
	if (!task->address) {
		out_null_as(out, key, "");
		return;
	}
	out_object_begin(out, key);
	if (task->is_named) {
		out_i64_as(out, "pid", task->pid, "");
		out_string_as(out, "comm", task->comm, "");
	} else {
		out_null_as(out, "pid", "");
		out_null_as(out, "comm", "");
	}
	out_address_as(out, "address", task->address, "");
	out_object_end(out);
}

static bool is_new(const struct finding *finding, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (finding->links[i].object == finding->links[number].object)
			return false;
	return finding->links[number].object;
}

/* What is waited for, each once. */
static void write_locks(struct out *out, const struct finding *finding)
{
	out_array_begin(out, "locks");
	for (size_t i = 0; i < finding->link_count; i++) {
		const struct finding_link *link = &finding->links[i];
		if (!is_new(finding, i))
			continue;
		out_object_begin(out, NULL);
		out_string_as(out, "kind", link->kind, "");
		out_address_as(out, "address", link->object, "");
		write_string(out, "type", link->type);
		write_string(out, "name", link->name);
		write_task(out, "owner", &link->owner);
		out_object_end(out);
	}
	out_array_end(out);
}

static void write_chain(struct out *out, const struct finding *finding)
{
	out_array_begin(out, "chain");
	for (size_t i = 0; i < finding->link_count; i++) {
		const struct finding_link *link = &finding->links[i];
		out_object_begin(out, NULL);
		write_task(out, "task", &link->task);
		out_string_as(out, "waits_for", link->kind, "");
		write_string(out, "mode", link->mode);
		if (link->object)
			out_address_as(out, "lock", link->object, "");
		else
			out_null_as(out, "lock", "");
		out_string_as(out, "sure", confidence_name(link->sure), "");
		write_task(out, "owner", &link->owner);
		if (link->owner.address)
			out_string_as(out, "owner_sure", confidence_name(link->owner_sure), "");
		else
			out_null_as(out, "owner_sure", "");
		out_object_end(out);
	}
	out_array_end(out);
}

void finding_write_facts(struct out *out, const struct finding *finding)
{
	write_instruction(out, finding);
	write_access(out, &finding->access);
	write_object(out, &finding->object);
	write_locks(out, finding);
	write_chain(out, finding);
}
