// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/command.h"

#include "debugger/declare/declare.h"
#include "debugger/eval/value.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

extern const struct command command_struct;

static void show_head(struct out *out, struct type type)
{
	char spelled[256];
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_string_as(out, "type", spelled, "");
	out_string_as(out, "btf", btf_name(type.btf), "");
}

static struct error *show_value(struct session *session, struct type type, const char *address)
{
	struct out *out = session->out;
	struct value value = {
		.target = session->target, .type = type, .in_memory = true, .origin = ORIGIN_CAST
	};
	char spelled[256];
	TRY(expression_address(session->target, address, &value.address));
	out_object_begin(out, NULL);
	show_head(out, type);
	out_address_as(out, "address", value.address, "");
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_text(out, "(%s)", spelled);
	struct error *error = value_render(out, "value", &value, &session->render);
	if (error)
		out_missing(out, "value", error);
	out_text(out, "\n");
	out_object_end(out);
	return error;
}

static struct error *show_definition(struct session *session, struct type type)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	show_head(out, type);
	struct error *error = definition_render(out, "definition", type);
	out_object_end(out);
	return error;
}

static struct error *show(struct session *session, struct type type, const char *address)
{
	return address ? show_value(session, type, address) : show_definition(session, type);
}

static bool is_seen(const struct type *seen, size_t count, struct type type)
{
	for (size_t i = 0; i < count; i++)
		if (type_equal(seen[i], type))
			return true;
	return false;
}

/* Definitions shown so far: equal ones of several modules are shown once. */
#define SEEN_MAX 32

struct showing {
	struct session *session;
	const char *name, *address;
	struct type seen[SEEN_MAX];
	size_t count;
};

static struct error *show_all_in(struct showing *showing, const struct btf *btf, enum btf_kind kind)
{
	uint64_t cursor = 0;
	uint32_t id;
	while ((id = btf_find(btf, kind, showing->name, &cursor))) {
		struct type type = { btf, id };
		if (showing->count == SEEN_MAX || is_seen(showing->seen, showing->count, type))
			continue;
		showing->seen[showing->count++] = type;
		TRY(show(showing->session, type, showing->address));
	}
	return NULL;
}

static struct error *show_named(struct showing *showing, const struct btf *btf)
{
	TRY(show_all_in(showing, btf, BTF_STRUCT));
	return show_all_in(showing, btf, BTF_UNION);
}

static struct error *struct_run(struct session *session, const struct arguments *arguments)
{
	struct showing showing = { .session = session,
				   .name = arguments->operands[0],
				   .address = arguments->operand_count > 1 ? arguments->operands[1]
									   : NULL };
	struct target *target = session->target;
	out_array_begin(session->out, NULL);
	struct error *error = show_named(&showing, target->btf);
	const struct module *modules = NULL;
	/* Modules are asked only for what the kernel does not know. */
	size_t count = error || showing.count ? 0 : target_modules(target, &modules);
	for (size_t i = 0; i < count && !error; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf)
			error = show_named(&showing, btf);
	}
	out_array_end(session->out);
	if (error || showing.count)
		return error;
	char full[160];
	struct type type;
	snprintf(full, sizeof(full), "struct %s", showing.name);
	/* For its message, with the name that may have been meant. */
	error = declare_parse_type(target, NULL, full, NULL, &type);
	return error ? error : error_create(ERROR_NOT_FOUND, "no type \"%s\"", full);
}

static const char *const examples[] = { "struct list_head", "struct list_head &init_task.tasks",
					"struct task_struct", NULL };

const struct command command_struct = {
	.name = "struct",
	.alias = "union",
	.summary = "show the definition of a struct or union, or one in memory",
	.description =
		"Without an address: the members, each with its offset and size in bytes (and "
		"offset and width in bits of bit-fields). With an address: the value found there. "
		"When several different types have the name, all are shown. The address may be "
		"a symbol, a hexadecimal number, or an expression without spaces.",
	.operands = { { .name = "NAME", .kind = OPERAND_TYPE },
		      { .name = "ADDRESS", .kind = OPERAND_ADDRESS, .optional = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.run = struct_run,
};
