// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "btf/member_path.h"
#include "debugger/code/text.h"
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/declare/declare.h"
#include "debugger/disassembly/decode.h"
#include "debugger/disassembly/members.h"
#include "debugger/kernel/bpf.h"
#include "debugger/show/dis_place.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_SIZE_MAX (1u << 20)
#define COUNT_MAX	  100000u
#define PAGE_SIZE	  4096u
#define MNEMONIC_WIDTH	  8
#define BYTES_WIDTH	  24 /* of the raw bytes of most instructions */

/* A line of a BPF program's source. */
struct source_line {
	uint64_t address;
	struct bpf_line line;
};

struct listing {
	struct session *session;
	struct out *out;
	struct disassembler *disassembler;
	const struct dis_place *place;
	bool with_bytes, has_current;
	uint64_t current;	/* pc of the selected frame */
	uint64_t first, last;	/* addresses of instructions to show, both inclusive */
	uint64_t wanted, shown; /* instructions; wanted 0: all */
	int label_width;
	struct function_members members;
	struct source_line *lines;
	size_t line_count, line_capacity;
};

/* --- comments -------------------------------------------------------------------------------- */

static void comment_begin(struct listing *listing, bool *has_comment)
{
	out_text(listing->out, *has_comment ? "; " : "  # ");
	*has_comment = true;
}

/* "struct file.f_op", and behind "file: " when that is the argument. */
static void write_member(struct listing *listing, uint64_t offset, bool *has_comment)
{
	const struct member_access *access = function_members_at(&listing->members, offset);
	struct out *out = listing->out;
	struct member_place member;
	char type[128], text[640];
	if (!access)
		return;
	member_path_at(access->type, access->offset, &member);
	if (member.is_padding)
		return;
	type_spell(type_unqualified(access->type), "", type, sizeof(type));
	snprintf(text, sizeof(text), "%s%s%s%s", access->is_address ? "&" : "", type,
		 *member.path == '[' || !*member.path ? "" : ".", member.path);
	comment_begin(listing, has_comment);
	if (access->argument) {
		out_string(out, "argument", access->argument);
		out_text(out, ": ");
	}
	out_string(out, "member", text);
}

/* Type of the symbol, or the member of it at the offset, where that is certain. */
static void write_data_type(struct listing *listing, const struct symbol *symbol, uint64_t offset)
{
	struct out *out = listing->out;
	struct type type;
	enum type_origin origin;
	char spelled[128], text[640];
	struct member_place member;
	uint64_t size;
	struct error *error =
		declared_symbol_type(listing->session->target, symbol, &type, &origin);
	bool has_type = !error && origin != ORIGIN_NONE && type.btf && type_size(type, &size) &&
			offset < size;
	error_free(error);
	if (!has_type)
		return;
	type_spell(type, "", spelled, sizeof(spelled));
	if (offset)
		member_path_at(type, offset, &member);
	if (!offset || member.is_padding || !*member.path)
		snprintf(text, sizeof(text), "%s", spelled);
	else
		snprintf(text, sizeof(text), "%s, %s%s", spelled, *member.path == '[' ? "" : ".",
			 member.path);
	out_text(out, ": ");
	out_string(out, "data_type", text);
}

#define STRING_MAX 80

/*
 * String literals have no symbols: what the address is called is some symbol far in front of them.
 * The bytes are shown where all up to a NUL can be printed.
 */
static bool write_string(struct listing *listing, uint64_t address, bool *has_comment)
{
	struct target *target = listing->session->target;
	uint64_t start, end;
	char text[STRING_MAX];
	size_t length;
	if (!symtab_address(target->symbols, "__start_rodata", &start) ||
	    !symtab_address(target->symbols, "__end_rodata", &end) || address < start ||
	    address >= end)
		return false;
	struct error *error =
		memory_read_string(target->memory, address, text, sizeof(text), &length);
	error_free(error);
	if (error || length < 2)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n' && text[i] != '\t' &&
		    (i || text[i] != '\001'))
			return false;
	comment_begin(listing, has_comment);
	out_address_as(listing->out, "data", address, "");
	out_text(listing->out, "\"");
	out_string(listing->out, "data_string", text);
	out_text(listing->out, length == sizeof(text) - 1 ? "\"..." : "\"");
	return true;
}

static void write_data(struct listing *listing, uint64_t address, bool *has_comment)
{
	struct target *target = listing->session->target;
	struct symbol symbol;
	uint64_t offset;
	char text[SYMBOL_NAME_SIZE + 96];
	if (!target_symbol_at(target, address, &symbol, &offset) ||
	    !target_describe(target, address, text, sizeof(text)) ||
	    (offset && write_string(listing, address, has_comment)))
		return;
	comment_begin(listing, has_comment);
	out_address(listing->out, "data", address);
	out_text(listing->out, " <");
	out_string(listing->out, "data_symbol", text);
	out_text(listing->out, ">");
	if (!symtab_is_function(listing->session->target->symbols, &symbol))
		write_data_type(listing, &symbol, offset);
}

static void write_target(struct listing *listing, uint64_t address)
{
	struct out *out = listing->out;
	char text[SYMBOL_NAME_SIZE + 96];
	out_address_as(out, "target", address, "");
	if (!target_describe(listing->session->target, address, text, sizeof(text)))
		return;
	out_text(out, " <");
	out_string(out, "target_symbol", text);
	out_text(out, ">");
}

/* --- instructions ---------------------------------------------------------------------------- */

static void write_bytes(struct listing *listing, const uint8_t *bytes, size_t size)
{
	char raw[2 * INSTRUCTION_MAX + 1] = "", shown[3 * INSTRUCTION_MAX + 2];
	for (size_t i = 0; i < size && i < INSTRUCTION_MAX; i++)
		snprintf(raw + 2 * i, 3, "%02x", bytes[i]);
	if (listing->with_bytes)
		snprintf(shown, sizeof(shown), "%-*s", BYTES_WIDTH, raw);
	out_string_as(listing->out, "bytes", raw, listing->with_bytes ? shown : "");
}

/* The source lines whose code begins here, before the instruction. */
static const struct bpf_line *write_lines(struct listing *listing, uint64_t address)
{
	const struct bpf_line *found = NULL;
	for (size_t i = 0; i < listing->line_count; i++) {
		const struct bpf_line *line = &listing->lines[i].line;
		if (listing->lines[i].address != address || !line->line)
			continue;
		out_text(listing->out, "%s:%" PRIu32 ": %s\n", line->file, line->line,
			 line->source);
		found = line;
	}
	return found;
}

static void write_label(struct listing *listing, uint64_t address)
{
	char label[SYMBOL_NAME_SIZE + 32] = "";
	const struct dis_place *place = listing->place;
	uint64_t offset = address - place->symbol.address;
	if (place->has_symbol && offset < place->symbol.size) {
		snprintf(label, sizeof(label), "<%s+0x%" PRIx64 ">:", place->symbol.name, offset);
	} else {
		char text[SYMBOL_NAME_SIZE + 16];
		if (target_describe(listing->session->target, address, text, sizeof(text)))
			snprintf(label, sizeof(label), "<%s>:", text);
	}
	out_text(listing->out, " %-*s ", listing->label_width, label);
}

static void write_instruction(struct listing *listing, const uint8_t *bytes,
			      const struct instruction *instruction)
{
	struct out *out = listing->out;
	char text[256];
	bool is_current = listing->has_current && instruction->address == listing->current;
	bool has_comment = false;
	uint64_t offset = instruction->address - listing->place->symbol.address;
	const struct bpf_line *line = write_lines(listing, instruction->address);
	out_object_begin(out, NULL);
	out_bool_as(out, "current", is_current, is_current ? "=> " : "   ");
	out_address(out, "address", instruction->address);
	if (listing->place->has_symbol)
		out_u64_as(out, "offset", offset, "");
	write_label(listing, instruction->address);
	write_bytes(listing, bytes, instruction->size);
	snprintf(text, sizeof(text), *instruction->operands ? "%-*s %s" : "%.*s%s",
		 *instruction->operands ? MNEMONIC_WIDTH - 1 : (int)sizeof(text) - 1,
		 instruction->mnemonic, instruction->operands);
	out_string_as(out, "mnemonic", instruction->mnemonic, "");
	out_string_as(out, "operands", instruction->operands, text);
	if (instruction->has_target)
		write_target(listing, instruction->target);
	if (instruction->has_data)
		write_data(listing, instruction->data, &has_comment);
	if (listing->place->has_symbol)
		write_member(listing, offset, &has_comment);
	if (line) {
		out_string_as(out, "file", line->file, "");
		out_u64_as(out, "line", line->line, "");
		out_string_as(out, "source", line->source, "");
	}
	out_text(out, "\n");
	out_object_end(out);
}

static bool is_done(const struct listing *listing, uint64_t address)
{
	return address > listing->last || (listing->wanted && listing->shown == listing->wanted);
}

/* The instructions of readable bytes; returns the address behind the last one. */
static uint64_t list_bytes(struct listing *listing, const uint8_t *bytes, size_t size,
			   uint64_t address)
{
	size_t at = 0;
	while (at < size && !is_done(listing, address + at)) {
		struct instruction instruction;
		disassemble(listing->disassembler, bytes + at, size - at, address + at,
			    &instruction);
		uint64_t next = address + at + instruction.size;
		/* What is asked for need not be where an instruction begins. */
		if (address + at < listing->first && next > listing->first) {
			at = listing->first - address;
			continue;
		}
		if (address + at >= listing->first) {
			write_instruction(listing, bytes + at, &instruction);
			listing->shown++;
		}
		at += instruction.size;
	}
	return address + at;
}

static void write_hole(struct listing *listing, uint64_t address, const struct error *error)
{
	struct out *out = listing->out;
	out_object_begin(out, NULL);
	out_text(out, "   ");
	out_address(out, "address", address);
	write_label(listing, address);
	out_missing(out, "missing", error);
	out_text(out, "\n");
	out_object_end(out);
}

/* From `start`, where an instruction begins, to the last one that is wanted. */
static struct error *list_code(struct listing *listing, uint64_t start, uint64_t end)
{
	struct memory *memory = listing->session->target->memory;
	uint8_t *bytes = malloc(end - start);
	struct error *error = bytes ? NULL : error_no_memory();
	while (!error && start < end && !is_done(listing, start)) {
		struct error *why;
		size_t size = memory_read_some(memory, start, bytes, end - start, &why);
		uint64_t behind = start + size;
		list_bytes(listing, bytes, size, start);
		start = behind;
		if (why && !is_done(listing, start)) {
			if (start >= listing->first ||
			    start / PAGE_SIZE == listing->first / PAGE_SIZE)
				write_hole(listing, start, why);
			/* Behind the hole, the place of the next instruction is a guess. */
			start = (start / PAGE_SIZE + 1) * PAGE_SIZE;
		}
		error_free(why);
		error = interrupt_check();
	}
	free(bytes);
	return error;
}

/* --- what to list ---------------------------------------------------------------------------- */

static struct error *add_line(void *context, uint64_t address, const struct bpf_line *line)
{
	struct listing *listing = context;
	const struct symbol *symbol = &listing->place->symbol;
	if (address - symbol->address >= symbol->size)
		return NULL;
	if (!array_reserve(&listing->lines, &listing->line_capacity, listing->line_count + 1))
		return error_no_memory();
	listing->lines[listing->line_count++] = (struct source_line){ address, *line };
	return NULL;
}

/* Prototype, members, source lines: what cannot be had of them is left out. */
static struct error *find_comments(struct listing *listing)
{
	struct target *target = listing->session->target;
	const struct dis_place *place = listing->place;
	struct error *error = NULL;
	if (!place->has_symbol)
		return NULL;
	const struct generated_code *code = place->symbol.module &&
							    !strcmp(place->symbol.module, "bpf")
						    ? target_generated_at(target, place->address)
						    : NULL;
	if (code && code->kind == GENERATED_BPF_PROGRAM)
		error = bpf_for_each_line(target, code->owner, add_line, listing);
	else if (!code && target->btf)
		error = function_members_find(target, &place->symbol, &listing->members);
	return error_only_fatal(error);
}

static void write_header(struct listing *listing)
{
	struct out *out = listing->out;
	const struct dis_place *place = listing->place;
	char text[512];
	if (!place->has_symbol) {
		out_null_as(out, "function", "");
		return;
	}
	out_string_as(out, "function", place->symbol.name, "");
	if (place->symbol.module)
		out_string_as(out, "module", place->symbol.module, "");
	if (!listing->members.prototype.btf)
		return;
	type_spell(listing->members.prototype, place->symbol.name, text, sizeof(text));
	out_string(out, "prototype", text);
	out_text(out, ":\n");
}

static struct error *write_listing(struct listing *listing, uint64_t start, uint64_t end)
{
	struct error *error = find_comments(listing);
	if (!error)
		error = disassembler_create(listing->session->target->arch->name,
					    &listing->disassembler);
	if (!error) {
		out_object_begin(listing->out, NULL);
		write_header(listing);
		out_array_begin(listing->out, "instructions");
		error = list_code(listing, start, end);
		out_array_end(listing->out);
		out_object_end(listing->out);
	}
	disassembler_destroy(listing->disassembler);
	function_members_deinit(&listing->members);
	free(listing->lines);
	return error;
}

enum { OPTION_REVERSE, OPTION_BYTES };

static struct error *list_place(struct session *session, const struct arguments *arguments,
				const struct dis_place *place, uint64_t count)
{
	struct listing listing = { .session = session,
				   .out = session->out,
				   .place = place,
				   .first = place->address,
				   .last = UINT64_MAX,
				   .with_bytes = arguments->options[OPTION_BYTES],
				   .wanted = count };
	bool reverse = arguments->options[OPTION_REVERSE];
	bool has_function = place->has_symbol && place->symbol.size &&
			    place->symbol.size <= FUNCTION_SIZE_MAX;
	uint64_t start = place->address, end = start + INSTRUCTION_MAX * (count ? count : 1);
	struct focus *focus = &session->focus;
	if (focus->has_trace && focus->frame < focus->trace.count) {
		listing.has_current = true;
		listing.current = focus->trace.frames[focus->frame].pc;
	}
	if (reverse && !has_function)
		return error_create(ERROR_NOT_FOUND, "no function around 0x%" PRIx64,
				    place->address);
	if (has_function) {
		start = place->symbol.address;
		uint64_t behind = start + text_function_size(session->target, &place->symbol);
		end = count && end > behind ? end : behind;
		listing.label_width = (int)strlen(place->symbol.name) + 9;
	}
	if (reverse) {
		listing.first = place->symbol.address;
		listing.last = place->address;
	} else if (!place->is_name && !count) {
		listing.wanted = 1;
	}
	if (end < start || end - start > 2 * FUNCTION_SIZE_MAX)
		return error_create(ERROR_USAGE, "that is too much");
	return write_listing(&listing, start, end);
}

/* --- the command ----------------------------------------------------------------------------- */

/* The function of the selected frame. */
static struct error *list_frame(struct session *session, const struct arguments *arguments)
{
	const struct stack_trace *trace;
	struct dis_place place;
	TRY(focus_trace(&session->focus, session->target, &trace));
	if (session->focus.frame >= trace->count)
		return error_create(ERROR_NOT_FOUND, "no frame is known");
	const struct frame *frame = &trace->frames[session->focus.frame];
	dis_place_at(session->target, frame->pc - (frame->pc_is_exact ? 0 : 1), &place);
	place.address = arguments->options[OPTION_REVERSE] || !place.has_symbol
				? frame->pc
				: place.symbol.address;
	place.is_name = place.has_symbol;
	return list_place(session, arguments, &place, 0);
}

static struct error *dis_run(struct session *session, const struct arguments *arguments)
{
	struct dis_place place;
	uint64_t count = 0;
	if (!arguments->operand_count)
		return list_frame(session, arguments);
	if (arguments->operand_count > 1)
		TRY(argument_number(arguments->operands[1], "a number of instructions", 1,
				    COUNT_MAX, &count));
	TRY(dis_place_find(session, arguments->operands[0], &place));
	return list_place(session, arguments, &place, count);
}

static const char *const examples[] = { "dis", "dis vfs_read 5", "dis -x vfs_read+4 2",
					"dis -r vfs_read+0x20", NULL };

const struct command command_dis = {
	.name = "dis",
	.summary = "machine code, with what it calls and accesses",
	.description =
		"Shows the instructions of a function, or COUNT of them from an address on (one "
		"when there is no COUNT), or of the selected frame's function, with a mark at its "
		"pc. It is the code as it lies in the dump: patched, traced. With -r up to an "
		"address, such as a return address of bt.\n"
		"\n"
		"Behind # stand the symbol at an address in the code, with its type where BTF or a "
		"declaration gives it, and the member that is accessed where the prototype of the "
		"function and the types of members prove it; before it the argument that the "
		"pointer is. A BPF program goes by its name too, and shows its lines of source.",
	.options = { [OPTION_REVERSE] = { .letter = 'r',
					  .name = "reverse",
					  .help = "from the start of the function to the address" },
		     [OPTION_BYTES] = { .letter = 'x',
					.name = "bytes",
					.help = "the bytes of each instruction" } },
	.operands = { { .name = "FUNCTION|ADDRESS", .kind = OPERAND_SYMBOL, .optional = true },
		      { .name = "COUNT", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS,
	.per_task = true,
	.run = dis_run,
};
