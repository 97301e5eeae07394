// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "debugger/eval/value.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/object.h"
#include "debugger/unwind/unwind.h"
#include "debugger/whattype/whattype.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct command command_whattype;

#define EXPRESSION_SIZE 1024
#define EVIDENCE_MAX	6 /* shown */

/* --- which memory ---------------------------------------------------------------------------- */

static void show_symbol(struct out *out, const struct whattype *what)
{
	out_text(out, "    ");
	out_string(out, "symbol", what->symbol.name);
	if (what->cpu)
		out_text(out, ":%" PRIu32, what->cpu->number);
	out_text(out, "+0x%" PRIx64, what->symbol_offset);
	out_u64_as(out, "symbol_offset", what->symbol_offset, "");
	if (what->symbol.module) {
		out_text(out, " [");
		out_string(out, "module", what->symbol.module);
		out_text(out, "]");
	}
	out_text(out, ", %s\n", memory_region_name(what->region));
}

static void show_slab(struct out *out, const struct whattype *what)
{
	static const char *const states[] = {
		[SLAB_NO_OBJECT] = "no object",
		[SLAB_FREE] = "free",
		[SLAB_ALLOCATED] = "allocated",
		[SLAB_UNSURE] = "perhaps allocated",
	};
	const struct slab_place *slab = &what->slab;
	out_object_begin(out, "slab");
	out_text(out, "    cache ");
	out_string(out, "cache", slab->cache->name);
	out_address_as(out, "cache_address", slab->cache->address, "");
	out_u64_as(out, "size", slab->cache->object_size, "");
	if (slab->state == SLAB_NO_OBJECT) {
		out_text(out, ", between its objects");
	} else {
		out_text(out, ", object ");
		out_u64(out, "index", slab->index);
		out_text(out, " of ");
		out_u64(out, "count", slab->count);
		out_text(out, " at ");
		out_address(out, "object", slab->object);
		out_text(out, ", %" PRIu64 " bytes, ", slab->cache->object_size);
		out_string(out, "state", states[slab->state]);
		out_u64_as(out, "offset", what->address - slab->object, "");
	}
	out_object_end(out);
	out_text(out, "\n");
}

/* The frame that an address on a stack belongs to: the innermost one that begins at or below. */
static void show_frame(struct out *out, const struct stack_trace *trace, uint64_t address)
{
	const struct frame *found = NULL;
	size_t number = 0;
	for (size_t i = 0; i < trace->count; i++)
		if (trace->frames[i].kind != FRAME_USER && trace->frames[i].sp <= address &&
		    (!found || trace->frames[i].sp > found->sp)) {
			found = &trace->frames[i];
			number = i;
		}
	if (!found) {
		out_text(out, ", below the frames");
		return;
	}
	out_text(out, ", in frame #");
	out_u64(out, "frame", number);
	if (found->has_symbol) {
		out_text(out, " ");
		out_string(out, "function", found->symbol.name);
		out_text(out, "+0x%" PRIx64, found->offset);
	}
	out_text(out, found->is_unproved ? " (search?)" : "");
}

static void show_stack(struct session *session, const struct whattype *what)
{
	struct out *out = session->out;
	struct stack_trace trace;
	out_object_begin(out, "stack");
	out_text(out, "    stack of PID ");
	out_i64(out, "pid", what->task.pid);
	out_text(out, " \"");
	out_string(out, "comm", what->task.comm);
	out_text(out, "\", task ");
	out_address(out, "task", what->task.address);
	struct error *error = unwind_task(session->target, &what->task, &trace);
	if (!error) {
		show_frame(out, &trace, what->address);
		stack_trace_deinit(&trace);
	}
	error_free(error);
	out_object_end(out);
	out_text(out, "\n");
}

static void show_area(struct out *out, const struct whattype *what)
{
	char caller[640];
	out_object_begin(out, "area");
	out_text(out, "    vmalloc area ");
	out_address(out, "start", what->area_start);
	out_text(out, "-");
	out_address(out, "end", what->area_end);
	if (what->area_caller &&
	    target_describe(what->target, what->area_caller, caller, sizeof(caller))) {
		out_text(out, ", allocated by ");
		out_string(out, "caller", caller);
	}
	out_object_end(out);
	out_text(out, "\n");
}

static void show_place(struct session *session, const struct whattype *what)
{
	struct out *out = session->out;
	out_string_as(out, "region", memory_region_name(what->region), "");
	if (what->cpu)
		out_u64_as(out, "cpu", what->cpu->number, "");
	if (what->is_mapped)
		out_address_as(out, "physical", what->physical, "");
	if (what->region == REGION_SLAB)
		show_slab(out, what);
	else if (what->region == REGION_STACK)
		show_stack(session, what);
	else if (what->area_end)
		show_area(out, what);
	else if (what->has_symbol)
		show_symbol(out, what);
	else if (what->region == REGION_CPU_STACK)
		out_text(out, "    %s stack of CPU %" PRIu32 "\n", what->stack, what->cpu->number);
	else if (what->is_mapped)
		out_text(out, "    %s, physical address 0x%" PRIx64 "\n",
			 memory_region_name(what->region), what->physical);
	else if (what->cpu)
		out_text(out, "    per-CPU memory of CPU %" PRIu32 "\n", what->cpu->number);
}

/* --- which type --------------------------------------------------------------------------------
 */

/* "init_task", "runqueues:1", "((struct file *)0xffff888004c1a300)": print takes it. */
static void spell_object(const struct whattype *what, const struct whattype_finding *finding,
			 char *buffer, size_t size)
{
	char type[512];
	bool is_symbol = what->has_symbol && finding->reach == REACH_NONE;
	if (is_symbol && what->region == REGION_PER_CPU) {
		snprintf(buffer, size, "%s:%" PRIu32, what->symbol.name, what->cpu->number);
	} else if (is_symbol) {
		snprintf(buffer, size, "%s", what->symbol.name);
	} else {
		type_spell(finding->type, NULL, type, sizeof(type));
		snprintf(buffer, size, "((%s *)0x%" PRIx64 ")", type, finding->start);
	}
}

/* A variable's is the word that `print` has for it; what pointers say may make it another. */
static const char *tier_name(const struct whattype_finding *finding)
{
	const char *remark = origin_remark(finding->origin);
	return remark && finding->confidence == origin_confidence(finding->origin)
		       ? remark
		       : confidence_name(finding->confidence);
}

/* The type of the object and of the member at the address. */
static void show_type(const struct whattype *what, struct out *out)
{
	const struct whattype_finding *finding = &what->findings[0];
	char type[512], object[EXPRESSION_SIZE], spelled[EXPRESSION_SIZE + 512];
	struct member_place place;
	uint64_t offset = what->address - finding->start;
	bool is_symbol = what->has_symbol && finding->reach == REACH_NONE;
	type_spell(finding->type, NULL, type, sizeof(type));
	spell_object(what, finding, object, sizeof(object));
	out_string_as(out, "type", type, "");
	out_address_as(out, "start", finding->start, "");
	out_u64_as(out, "offset", offset, "");
	member_path_whole_at(finding->type, offset, &place);
	bool has_member = *place.path && (offset || what->region == REGION_DATA);
	if (*place.path) {
		char member[512];
		type_spell(place.type, NULL, member, sizeof(member));
		out_string_as(out, "member", place.path, "");
		out_string_as(out, "member_type", member, "");
		out_bool_as(out, "in_union", place.in_union, "");
	}
	if (has_member && offset) {
		size_t length = strlen(object);
		snprintf(object + length, sizeof(object) - length, "%s%s",
			 *place.path == '[' ? ""
			 : is_symbol	    ? "."
					    : "->",
			 place.path);
		type_spell(place.type, object, spelled, sizeof(spelled));
		out_text(out, "%s", spelled);
		if (what->address != finding->start + place.start)
			out_text(out, " + %" PRIu64, what->address - finding->start - place.start);
		if (place.is_padding)
			out_text(out, " (padding)");
	} else if (is_symbol) {
		type_spell(finding->type, object, spelled, sizeof(spelled));
		out_text(out, "%s", spelled);
	} else {
		out_text(out, "%s", type);
	}
	out_text(out, "  // %s\n", tier_name(finding));
}

static void show_unknown(const struct whattype *what, struct out *out)
{
	if (what->region == REGION_TEXT)
		out_text(out, "code\n");
	else
		out_text(out, "type unknown\n");
	out_null_as(out, "type", "");
}

static void show_confidence(const struct whattype *what, struct out *out, bool is_typed)
{
	enum type_origin origin = is_typed ? what->findings[0].origin : ORIGIN_NONE;
	enum confidence confidence = is_typed ? what->findings[0].confidence : CONFIDENCE_UNKNOWN;
	out_string_as(out, "origin", origin_data_name(origin), "");
	out_string_as(out, "confidence", confidence_name(confidence), "");
}

static void show_count(const struct whattype *what, const struct whattype_finding *finding,
		       struct out *out)
{
	uint32_t count = reach_object(what->reach, finding->reach)->references;
	if (count > 1)
		out_text(out, ", by %" PRIu32 " pointers", count);
	/* Others were not looked for. */
	if (what->near)
		out_text(out, " nearby");
}

/* How each of those that say something came to it; of the first one, what it is known by. */
static void show_evidence(const struct whattype *what, struct out *out)
{
	out_array_begin(out, "evidence");
	size_t shown = 0;
	for (size_t i = 0; i < what->finding_count && shown < EVIDENCE_MAX; i++) {
		const struct whattype_finding *finding = &what->findings[i];
		char type[512], path[EXPRESSION_SIZE];
		if (finding->reach == REACH_NONE && finding->how[0] != 's')
			continue;
		if (finding->is_part || (what->has_symbol && finding->reach == REACH_NONE))
			continue;
		shown++;
		type_spell(finding->type, NULL, type, sizeof(type));
		out_object_begin(out, NULL);
		out_text(out, "    %s: ", finding->how);
		out_string_as(out, "source", finding->how, "");
		if (finding->reach != REACH_NONE) {
			const struct reach_object *object =
				reach_object(what->reach, finding->reach);
			reach_spell(what->reach, finding->reach, path, sizeof(path));
			out_string(out, "path", path);
			out_text(out, " -> ");
			out_u64_as(out, "pointers", object->references, "");
		}
		out_string(out, "type", type);
		out_address_as(out, "start", finding->start, "");
		if (finding->start != what->address)
			out_text(out, " at %016" PRIx64, finding->start);
		if (finding->reach != REACH_NONE)
			show_count(what, finding, out);
		out_string_as(out, "confidence", confidence_name(finding->confidence), "");
		if (!finding->fits)
			out_text(out, "  // does not fit");
		else if (finding->differ > finding->agree)
			out_text(out, "  // differs");
		out_object_end(out);
		out_text(out, "\n");
	}
	out_array_end(out);
}

static struct error *show_address(struct session *session, uint64_t address, bool all)
{
	struct out *out = session->out;
	struct whattype what;
	TRY(whattype_ask(session->target, address, all, &what));
	out_object_begin(out, NULL);
	out_address(out, "address", address);
	out_text(out, ": ");
	bool is_typed = what.finding_count && what.findings[0].covers && what.findings[0].fits;
	if (is_typed)
		show_type(&what, out);
	else
		show_unknown(&what, out);
	show_confidence(&what, out, is_typed);
	show_place(session, &what);
	show_evidence(&what, out);
	out_bool_as(out, "nearby", what.near != NULL, "");
	if (what.reach && reach_is_cut(what.reach))
		out_text(out, "    (not all objects of the dump were followed)\n");
	out_object_end(out);
	whattype_deinit(&what);
	return NULL;
}

static struct error *whattype_run(struct session *session, const struct arguments *arguments)
{
	struct error *first = NULL;
	bool all = arguments->options[0];
	out_array_begin(session->out, NULL);
	for (size_t i = 0; i < arguments->operand_count && !first; i++) {
		uint64_t address;
		first = expression_address(&session->scope, arguments->operands[i], &address);
		if (!first)
			first = show_address(session, address, all);
	}
	out_array_end(session->out);
	return first;
}

static const char *const examples[] = { "whattype init_task", "whattype &init_task.tasks.next",
					"whattype init_task.files", NULL };

const struct command command_whattype = {
	.name = "whattype",
	.summary = "show what lies at an address: which memory, which type",
	.description =
		"Of an address: the variable around it, the CPU whose per-CPU memory it is, the "
		"task whose stack, the slab cache whose object, the vmalloc area; and the type and "
		"member there. Memory that has no name is typed by its slab cache and by typed "
		"pointers at it, which are followed from what is typed already; the path is shown "
		"as an expression that `print` takes. Where the slab cache and pointers in objects "
		"around "
		"the asked one make its type certain, no more are followed; -a shows those of the "
		"whole dump, too.\n"
		"\n"
		"certain: a variable of certain type, or cache and pointers agree; declared: a "
		"variable that the list of declarations has, as `print` says; inferred: one source "
		"says so and nothing speaks against it; guess: something does, or the object is "
		"free.",
	.options = { { 'a', "all", NULL, 0, "follow all typed pointers of the dump" } },
	.operands = { { .name = "ADDRESS", .kind = OPERAND_ADDRESS, .repeated = true } },
	.examples = examples,
	.needs = NEEDS_BTF | NEEDS_MEMORY | NEEDS_SYMBOLS,
	.per_task = true,
	.run = whattype_run,
};
