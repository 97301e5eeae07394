// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/frames.h"

#include "base/strbuf.h"
#include "debugger/kernel/bpf.h"
#include "debugger/show/frame_lines.h"
#include <inttypes.h>
#include <string.h>

/* --- registers, for people ---------------------------------------------------------- */

#define REGISTERS_A_LINE 3
#define REGISTER_INDENT	 4
/* Of what does not fit behind a frame: narrower than any label, so that labels stand out. */
#define FRAME_INDENT 8

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
			   unsigned int number, bool is_first)
{
	char upper[16];
	size_t i = 0;
	for (; name[i] && i < sizeof(upper) - 1; i++)
		upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	upper[i] = 0;
	char text[40];
	int length = snprintf(text, sizeof(text), "%3s: %0*" PRIx64, upper, register_digits(name),
			      registers->values[number]);
	out_space(out, is_first ? REGISTER_INDENT : 2, length, REGISTER_INDENT);
	out_text(out, "%s", text);
}

/* The known ones, in the order of the architecture. */
static void write_registers(struct session *session, const struct registers *registers)
{
	const struct arch *arch = session->target->arch;
	unsigned int shown = 0;
	for (unsigned int number = 0; number < arch->register_count; number++) {
		if (!registers_has(registers, number))
			continue;
		write_register(session->out, registers, arch->register_names[number], number,
			       shown % REGISTERS_A_LINE == 0);
		if (++shown % REGISTERS_A_LINE == 0)
			out_text(session->out, "\n");
	}
	if (shown % REGISTERS_A_LINE)
		out_text(session->out, "\n");
}

/* --- frames ---------------------------------------------------------------------------- */

/* What people need to know of how a frame was found: only when it was not by a rule. */
static const char *guess_mark(const struct frame *frame)
{
	if (frame->is_unproved)
		return " (search?)";
	switch (frame->kind) {
	case FRAME_SEARCH:
		return " (search)";
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

/* What stands for the function, where there is one; its module is NULL in the kernel. */
static const char *module_of(const struct frame *frame)
{
	return frame->has_symbol ? frame->symbol.module : NULL;
}

static void write_symbol(struct out *out, const struct frame *frame)
{
	char text[32];
	if (!frame->has_symbol) {
		out_space(out, 1, 9, FRAME_INDENT);
		out_null_as(out, "symbol", "(unknown)");
		out_null_as(out, "offset", "");
		return;
	}
	int length = snprintf(text, sizeof(text), "+0x%" PRIx64, frame->offset);
	out_space(out, 1, (int)strlen(frame->symbol.name) + length, FRAME_INDENT);
	out_string(out, "symbol", frame->symbol.name);
	out_u64_as(out, "offset", frame->offset, text);
}

static void write_module(struct out *out, const struct frame *frame)
{
	char text[80];
	if (!module_of(frame)) {
		out_null_as(out, "module", "");
		return;
	}
	int length = snprintf(text, sizeof(text), "[%s]", frame->symbol.module);
	out_space(out, 1, length, FRAME_INDENT);
	out_string_as(out, "module", frame->symbol.module, text);
}

/* What stands before the function; a short frame is one of many stacks, and has no place. */
static void write_place(struct out *out, const struct frame *frame, size_t number, bool is_short)
{
	char label[24], place[24];
	snprintf(label, sizeof(label), "#%zu", number);
	snprintf(place, sizeof(place), " [%016" PRIx64 "]", frame->sp);
	out_text(out, "%3s", label);
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
		out_space(out, 1, 19, FRAME_INDENT); /* "at ffffffff81000000" */
		out_text(out, "at ");
		out_address(out, "pc", frame->pc);
	}
	write_module(out, frame);
}

/* --- arguments -------------------------------------------------------------------------------- */

#define TYPE_TEXT 128

#define VALUE_TEXT 32

/* Large unsigned ones are limits, flags and addresses rather than counts. */
static const char *value_text(const struct argument *argument, char text[VALUE_TEXT])
{
	struct type target;
	if (!argument->is_known)
		snprintf(text, VALUE_TEXT, "?");
	else if (type_target(argument->type, &target))
		snprintf(text, VALUE_TEXT, "0x%" PRIx64, argument->value);
	else if (type_is_signed(argument->type))
		snprintf(text, VALUE_TEXT, "%" PRId64, (int64_t)argument->value);
	else
		snprintf(text, VALUE_TEXT, argument->value > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64,
			 argument->value);
	return text;
}

static const char *argument_name(const struct argument *argument)
{
	return *argument->name ? argument->name : "_";
}

/*
 * "file=0xffff888003a5d900", "dfd=-100", "count=?": in JSON a string for pointers, out_integer_as()
 * for all else, by the type and never by the value. What the type is, only JSON says.
 */
static void write_argument(struct session *session, const struct argument *argument)
{
	struct out *out = session->out;
	char type[TYPE_TEXT], text[VALUE_TEXT];
	struct type target;
	uint64_t size = sizeof(uint64_t);
	bool is_signed = type_is_signed(argument->type);
	type_size(argument->type, &size);
	const uint32_t bits = size < sizeof(uint64_t) ? (uint32_t)size * 8 : 64;
	type_spell(argument->type, "", type, sizeof(type));
	value_text(argument, text);
	out_object_begin(out, NULL);
	out_string_as(out, "name", argument->name, argument_name(argument));
	out_string_as(out, "type", type, "");
	out_text(out, "=");
	if (!argument->is_known)
		out_null_as(out, "value", text);
	else if (type_target(argument->type, &target))
		out_address_as(out, "value", argument->value, text);
	else
		out_integer_as(out, "value",
			       &(struct out_integer){ argument->value, bits, is_signed }, text);
	out_object_end(out);
}

/* Places that "(name=value," takes, or what else stands around it. */
static int argument_width(const struct argument *argument)
{
	char text[VALUE_TEXT];
	return (int)(strlen(argument_name(argument)) + strlen(value_text(argument, text))) + 3;
}

static void write_known_arguments(struct session *session, const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	size_t shown = 0;
	for (size_t i = 0; i < arguments->count; i++) {
		if (!arguments->items[i].is_known)
			continue;
		out_text(out, shown ? "," : "");
		out_space(out, 1, argument_width(&arguments->items[i]), FRAME_INDENT);
		out_text(out, shown++ ? "" : "(");
		write_argument(session, &arguments->items[i]);
	}
	out_text(out, shown ? ")" : "");
}

/* "name=value, name=value" as one cell of a table. */
static void write_arguments_cell(struct out *out, const struct frame_arguments *arguments)
{
	struct strbuf text = { 0 };
	char value[VALUE_TEXT];
	for (size_t i = 0; arguments && i < arguments->count; i++)
		strbuf_format(&text, "%s%s=%s", i ? ", " : "", argument_name(&arguments->items[i]),
			      value_text(&arguments->items[i], value));
	strbuf_bytes(&text, "", 1);
	if (text.failed || !arguments || !arguments->has_prototype)
		out_null_as(out, "arguments", "");
	else
		out_string(out, "arguments", text.data);
	strbuf_deinit(&text);
}

/* In text `is_short` leaves out what is not known: of many stacks, what they do not share. */
static void write_arguments(struct session *session, const struct frame_arguments *arguments,
			    bool is_short)
{
	struct out *out = session->out;
	if (!arguments || !arguments->has_prototype)
		return;
	if (out_is_rows(out)) {
		write_arguments_cell(out, arguments);
		return;
	}
	if (is_short && out_is_text(out)) {
		write_known_arguments(session, arguments);
		return;
	}
	out_array_begin(out, "args");
	for (size_t i = 0; i < arguments->count; i++) {
		out_text(out, i ? "," : "");
		out_space(out, 1, argument_width(&arguments->items[i]), FRAME_INDENT);
		out_text(out, i ? "" : "(");
		write_argument(session, &arguments->items[i]);
	}
	out_array_end(out);
	if (!arguments->count) {
		out_space(out, 1, 2, FRAME_INDENT);
		out_text(out, "(");
	}
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
	if (!is_short && (is_user || frame->kind == FRAME_EXCEPTION)) {
		if (frame->is_unproved)
			out_text(out, "   %s\n", guess_mark(frame));
		write_registers(session, &frame->registers);
	}
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
	out_string_as(out, "kind", frame_kind_name(frame->kind), is_user ? "" : guess_mark(frame));
	out_style(out, OUT_PLAIN);
	if (frame->is_unproved)
		out_bool_as(out, "proved", false, "");
	if (*frame->stack_name)
		out_string_as(out, "stack", frame->stack_name, "");
	write_arguments(session, arguments, is_short);
	write_source(out, &source);
	if (!is_short)
		frame_write_lines(session, frame);
	out_object_end(out);
	out_text(out, is_user ? "" : "\n");
}

void frame_write(struct session *session, const struct frame *frame, size_t number,
		 const struct frame_arguments *arguments)
{
	write_one(session, frame, number, arguments, false);
}

void frame_write_short(struct session *session, const struct frame *frame, size_t number,
		       const struct frame_arguments *arguments)
{
	write_one(session, frame, number, arguments, true);
}

/* --- a row --------------------------------------------------------------------------------------
 */

static void string_or_null(struct out *out, const char *key, const char *value)
{
	if (value && *value)
		out_string(out, key, value);
	else
		out_null_as(out, key, "");
}

static void write_no_cells(struct out *out)
{
	static const char *const keys[] = { "frame",  "sp",   "pc",	   "symbol", "offset",
					    "module", "kind", "arguments", "source" };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		out_null_as(out, keys[i], "");
}

void frame_write_cells(struct session *session, const struct frame *frame, size_t number,
		       const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	struct source source;
	if (!frame) {
		write_no_cells(out);
		return;
	}
	read_source(session, frame, &source);
	out_u64(out, "frame", number);
	out_address(out, "sp", frame->sp);
	out_address(out, "pc", frame->pc);
	bool has_symbol = frame->has_symbol && frame->kind != FRAME_USER;
	string_or_null(out, "symbol", has_symbol ? frame->symbol.name : NULL);
	if (has_symbol)
		out_u64(out, "offset", frame->offset);
	else
		out_null_as(out, "offset", "");
	string_or_null(out, "module", has_symbol ? module_of(frame) : NULL);
	out_string(out, "kind", frame_kind_name(frame->kind));
	write_arguments_cell(out, arguments);
	if (source.has_line) {
		char place[sizeof(source.line.file) + 16];
		snprintf(place, sizeof(place), "%s:%u", source.line.file, source.line.line);
		out_string(out, "source", place);
	} else {
		out_null_as(out, "source", "");
	}
}
