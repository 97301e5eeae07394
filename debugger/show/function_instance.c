// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/function_instance.h"

#include "base/array.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>

/* --- where it lies --------------------------------------------------------------- */

/* Where the linker put it, as far as symbols of the kernel say. */
static const char *kernel_section(const struct symtab *symtab, uint64_t address)
{
	static const char *const sections[][3] = {
		{ ".text", "_stext", "_etext" },
		{ ".init.text", "_sinittext", "_einittext" },
		{ ".init", "__init_begin", "__init_end" },
		{ ".rodata", "__start_rodata", "__end_rodata" },
		{ ".data", "_sdata", "_edata" },
		{ ".bss", "__bss_start", "__bss_stop" },
		{ ".brk", "__brk_base", "__brk_limit" },
	};
	uint64_t start, end;
	for (size_t i = 0; i < ARRAY_COUNT(sections); i++)
		if (symtab_address(symtab, sections[i][1], &start) &&
		    symtab_address(symtab, sections[i][2], &end) && address - start < end - start)
			return sections[i][0];
	return "";
}

struct nearest_section {
	uint64_t address; /* of the symbol */
	struct module_section section;
};

static struct error *take_nearer(void *context, const struct module_section *section)
{
	struct nearest_section *nearest = context;
	if (section->address <= nearest->address && section->address >= nearest->section.address &&
	    section->address)
		nearest->section = *section;
	return NULL;
}

void symbol_section(struct target *target, const struct symbol *symbol, struct module_section *ret)
{
	struct nearest_section nearest = { .address = symbol->address };
	const struct module *module = symbol->module ? target_module(target, symbol->module) : NULL;
	if (symbol->per_cpu)
		snprintf(nearest.section.name, sizeof(nearest.section.name), ".data..percpu");
	else if (!symbol->module)
		snprintf(nearest.section.name, sizeof(nearest.section.name), "%s",
			 kernel_section(target->symbols, symbol->address));
	else if (module && target->memory && target->btf)
		error_free(module_for_each_section(target, module, take_nearer, &nearest));
	*ret = nearest.section;
}

/* --- one function ------------------------------------------------------------------ */

static void show_prototype(struct out *out, const struct function_instance *instance)
{
	struct btf_type function;
	char text[1024] = "";
	if (instance->function.btf && type_get(instance->function, &function))
		type_spell((struct type){ instance->function.btf, function.type }, function.name,
			   text, sizeof(text));
	out_string_as(out, "prototype", text, *text ? text : "?");
	out_u64_as(out, "btf_id", instance->function.id, "");
}

static const char *proof_text(const struct function_instance *instance)
{
	if (instance->proof > INSTANCE_ONLY)
		return "proved";
	if (instance->proof == INSTANCE_ONLY)
		return "the only one of that name";
	return instance->refuted && instance->refuted == instance->candidates ? "refuted"
									      : "unproved";
}

struct error *function_instance_show(void *context, const struct function_instance *instance)
{
	struct session *session = context;
	struct out *out = session->out;
	struct module_section section;
	const struct symbol *symbol = &instance->symbol;
	bool is_proved = instance->proof > INSTANCE_ONLY;
	out_item_named(out, symbol->address, NULL);
	out_object_begin(out, NULL);
	out_address(out, "address", symbol->address);
	out_text(out, " ");
	out_string(out, "name", symbol->name);
	if (symbol->module) {
		out_text(out, " [");
		out_string(out, "module", symbol->module);
		out_text(out, "]");
	} else {
		out_null_as(out, "module", "");
	}
	out_text(out, ", ");
	out_u64(out, "size", symbol->size);
	out_text(out, " bytes");
	symbol_section(session->target, symbol, &section);
	if (*section.name) {
		out_text(out, " of ");
		out_string(out, "section", section.name);
	} else {
		out_null_as(out, "section", "");
	}
	out_text(out, ": ");
	show_prototype(out, instance);
	out_text(out, "  // ");
	out_bool_as(out, "proved", is_proved, proof_text(instance));
	out_string_as(out, "proof", instance_proof_name(instance->proof), "");
	if (instance->proof != INSTANCE_ONLY && instance->why) {
		out_text(out, ": ");
		out_string(out, "why", instance->why);
	}
	out_u64_as(out, "candidates", instance->candidates, "");
	out_u64_as(out, "refuted", instance->refuted, "");
	if (instance->candidates > 1)
		out_text(out, " (%" PRIu32 " prototypes of that name, %" PRIu32 " refuted)",
			 instance->candidates, instance->refuted);
	out_object_end(out);
	out_text(out, "\n");
	return NULL;
}
