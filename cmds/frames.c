// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/frames.h"

#include "debugger/kernel/bpf.h"
#include <inttypes.h>
#include <string.h>

/* --- registers, for people ---------------------------------------------------------- */

#define REGISTERS_A_LINE 3

/* Digits: selectors have 16 bits, flags 32. */
static int register_digits(const char *name)
{
	static const char *const selectors[] = { "cs", "ss", "ds", "es", "fs", "gs" };
	for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++)
		if (!strcmp(name, selectors[i]))
			return 4;
	return strcmp(name, "rflags") ? 16 : 8;
}

static void write_register(struct out *out, const struct registers *registers, const char *name,
			   unsigned int number)
{
	char upper[16];
	size_t i = 0;
	for (; name[i] && i < sizeof(upper) - 1; i++)
		upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	upper[i] = 0;
	out_text(out, "%3s: %0*" PRIx64, upper, register_digits(name), registers->values[number]);
}

/* The known ones, in the order of the architecture. */
static void write_registers(struct session *session, const struct registers *registers)
{
	const struct arch *arch = session->target->arch;
	unsigned int shown = 0;
	for (unsigned int number = 0; number < arch->register_count; number++) {
		if (!registers_has(registers, number))
			continue;
		out_text(session->out, shown % REGISTERS_A_LINE ? "  " : "    ");
		write_register(session->out, registers, arch->register_names[number], number);
		if (++shown % REGISTERS_A_LINE == 0)
			out_text(session->out, "\n");
	}
	if (shown % REGISTERS_A_LINE)
		out_text(session->out, "\n");
}

/* --- frames ---------------------------------------------------------------------------- */

/* What people need to know of how a frame was found: only when it was not by a rule. */
static const char *guess_mark(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_CALL_SCAN:
		return " (call)";
	case FRAME_POINTER:
		return " (fp)";
	case FRAME_SCAN:
		return " (scan?)";
	default:
		return "";
	}
}

/* What a frame of JITed code knows of its source; frames of other code know nothing. */
struct source {
	bool has_function, has_line;
	struct bpf_function function;
	struct bpf_line line;
};

static void read_source(struct session *session, const struct frame *frame, struct source *ret)
{
	uint64_t pc = frame->pc - (frame->pc_is_exact ? 0 : 1);
	ret->has_function = ret->has_line = false;
	if (!frame->has_symbol || !frame->symbol.module || strcmp(frame->symbol.module, "bpf"))
		return;
	const struct generated_code *code = target_generated_at(session->target, pc);
	if (!code || code->kind != GENERATED_BPF_PROGRAM)
		return;
	struct error *error = bpf_function_read(session->target, code->owner, &ret->function);
	ret->has_function = !error;
	error_free(error);
	error = bpf_line_at(session->target, code->owner, frame->pc, frame->pc_is_exact,
			    &ret->line);
	ret->has_line = !error && ret->line.line;
	error_free(error);
}

/* Below the frame: the source line that was being executed, as the program's own BTF has it. */
static void write_source(struct out *out, const struct source *source)
{
	if (source->has_function) {
		const struct bpf_function *function = &source->function;
		out_string_as(out, "function", function->name, "");
		if (*function->prototype)
			out_string_as(out, "prototype", function->prototype, "");
	}
	if (!source->has_line)
		return;
	out_string_as(out, "file", source->line.file, "");
	out_u64_as(out, "line", source->line.line, "");
	out_u64_as(out, "column", source->line.column, "");
	out_string_as(out, "source", source->line.source, "");
	out_text(out, "\n     %s:%u: %s", source->line.file, source->line.line,
		 source->line.source);
}

static void write_symbol(struct out *out, const struct frame *frame)
{
	char text[32];
	if (!frame->has_symbol) {
		out_null_as(out, "symbol", "(unknown)");
		out_null_as(out, "offset", "");
		return;
	}
	out_string(out, "symbol", frame->symbol.name);
	snprintf(text, sizeof(text), "+0x%" PRIx64, frame->offset);
	out_u64_as(out, "offset", frame->offset, text);
}

static void write_module(struct out *out, const struct frame *frame)
{
	char text[80];
	if (!frame->has_symbol || !frame->symbol.module) {
		out_null_as(out, "module", "");
		return;
	}
	snprintf(text, sizeof(text), " [%s]", frame->symbol.module);
	out_string_as(out, "module", frame->symbol.module, text);
}

/* What stands before the function; a short frame is one of many stacks, and has no place. */
static void write_place(struct out *out, const struct frame *frame, size_t number, bool is_short)
{
	char label[24], place[24];
	snprintf(label, sizeof(label), "#%zu", number);
	snprintf(place, sizeof(place), "[%016" PRIx64 "] ", frame->sp);
	out_text(out, "%3s ", label);
	if (!is_short)
		out_address_as(out, "sp", frame->sp, place);
}

static void write_kernel_frame(struct out *out, const struct frame *frame, size_t number,
			       bool is_short)
{
	write_place(out, frame, number, is_short);
	write_symbol(out, frame);
	if (is_short) {
		out_address_as(out, "pc", frame->pc, "");
	} else {
		out_text(out, " at ");
		out_address(out, "pc", frame->pc);
	}
	write_module(out, frame);
}

/* --- arguments -------------------------------------------------------------------------------- */

#define TYPE_TEXT 128

/* "file=0xffff888003a5d900", "count=?"; what the type is, only JSON says. */
static void write_argument(struct session *session, const struct argument *argument)
{
	struct out *out = session->out;
	char type[TYPE_TEXT], text[32];
	struct type target;
	type_spell(argument->type, "", type, sizeof(type));
	out_object_begin(out, NULL);
	out_string_as(out, "name", argument->name, *argument->name ? argument->name : "_");
	out_string_as(out, "type", type, "");
	out_text(out, "=");
	if (!argument->is_known) {
		out_null_as(out, "value", "?");
	} else if (type_target(argument->type, &target) || argument->value > UINT32_MAX) {
		snprintf(text, sizeof(text), "0x%" PRIx64, argument->value);
		out_address_as(out, "value", argument->value, text);
	} else {
		out_u64(out, "value", argument->value);
	}
	out_object_end(out);
}

static void write_arguments(struct session *session, const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	if (!arguments || !arguments->has_prototype)
		return;
	out_text(out, " (");
	out_array_begin(out, "args");
	for (size_t i = 0; i < arguments->count; i++) {
		out_text(out, i ? ", " : "");
		write_argument(session, &arguments->items[i]);
	}
	out_array_end(out);
	out_text(out, ")");
}

/* --- a frame ------------------------------------------------------------------------------------
 */

static void write_one(struct session *session, const struct frame *frame, size_t number,
		      const struct frame_arguments *arguments, bool is_short)
{
	struct out *out = session->out;
	struct source source;
	bool is_user = frame->kind == FRAME_USER;
	read_source(session, frame, &source);
	if (!is_short && (is_user || frame->kind == FRAME_EXCEPTION))
		write_registers(session, &frame->registers);
	if (*frame->stack_name)
		out_text(out, " <%s>\n", frame->stack_name);
	else if (frame->leaves_stack)
		out_text(out, " <TASK>\n");
	out_object_begin(out, NULL);
	if (is_user) {
		out_null_as(out, "symbol", "");
		out_null_as(out, "offset", "");
		out_address_as(out, "pc", frame->pc, "");
		out_null_as(out, "module", "");
	} else {
		write_kernel_frame(out, frame, number, is_short);
	}
	out_style(out, OUT_GUESS);
	out_string_as(out, "kind", frame_kind_name(frame->kind), guess_mark(frame->kind));
	out_style(out, OUT_PLAIN);
	if (*frame->stack_name)
		out_string_as(out, "stack", frame->stack_name, "");
	write_arguments(session, arguments);
	write_source(out, &source);
	out_object_end(out);
	out_text(out, is_user ? "" : "\n");
}

void frame_write(struct session *session, const struct frame *frame, size_t number,
		 const struct frame_arguments *arguments)
{
	write_one(session, frame, number, arguments, false);
}

void frame_write_short(struct session *session, const struct frame *frame, size_t number)
{
	write_one(session, frame, number, NULL, true);
}
