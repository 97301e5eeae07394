// SPDX-License-Identifier: GPL-3.0-or-later
/* Places in the source, as far as the kernel itself has them. */
#include "base/array.h"
#include "debugger/command/command.h"
#include "debugger/kernel/bpf.h"
#include "debugger/kernel/source_lines.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct column columns[] = {
	{ "address", "ADDRESS", 16 }, { "function", "FUNCTION", -32 }, { "offset", NULL, 0 },
	{ "module", NULL, 0 },	      { "file", "FILE", -32 },	       { "line", "LINE", -5 },
	{ "what", "WHAT", -13 },      { "within", "WRITTEN IN", -1 },  { "near", NULL, 0 },
};

struct row {
	uint64_t address;
	const struct symbol *symbol;
	const char *file, *what, *within; /* NULL: not known */
	uint32_t line;			  /* 0: none */
	bool is_near, is_guess;
};

static void string_or_null(struct out *out, const char *key, const char *text)
{
	if (text)
		out_string(out, key, text);
	else
		out_null_as(out, key, "");
}

static void write_row(struct out *out, const struct row *row)
{
	char text[SYMBOL_NAME_SIZE + 96], number[16];
	uint64_t offset = row->address - row->symbol->address;
	const char *module = row->symbol->module;
	snprintf(text, sizeof(text), "%s+0x%" PRIx64 "%s%s%s", row->symbol->name, offset,
		 module ? " [" : "", module ?: "", module ? "]" : "");
	out_item_named(out, row->address, NULL);
	out_row_begin(out);
	out_address(out, "address", row->address);
	out_string_as(out, "function", row->symbol->name, text);
	out_u64_as(out, "offset", offset, "");
	string_or_null(out, "module", module);
	string_or_null(out, "file", row->file);
	snprintf(number, sizeof(number), "%" PRIu32, row->line);
	if (row->line)
		out_u64_as(out, "line", row->line, number);
	else
		out_null_as(out, "line", "");
	if (row->is_guess)
		out_style(out, OUT_GUESS);
	out_string(out, "what", row->what);
	out_style(out, OUT_PLAIN);
	string_or_null(out, "within", row->within);
	out_bool(out, "near", row->is_near);
	out_row_end(out);
}

static void write_fact(struct out *out, const struct symbol *symbol, const struct line_fact *fact)
{
	write_row(out, &(struct row){ .address = fact->address,
				      .symbol = symbol,
				      .file = fact->file,
				      .what = line_kind_name(fact->kind),
				      .within = fact->within,
				      .line = fact->line,
				      .is_near = fact->is_near });
}

/* The function's file, then its places; `here`: an address among them, or the function's own. */
static void write_function(struct out *out, const struct source_lines *lines,
			   const struct symbol *symbol, uint64_t here)
{
	static const char *const words[] = { [FILE_UNKNOWN] = "function",
					     [FILE_FILLED] = "function, as its neighbours",
					     [FILE_CODE] = "function, by its code",
					     [FILE_WRITTEN] = "function" };
	const struct line_fact *facts;
	struct row row = { .address = symbol->address, .symbol = symbol };
	enum file_proof proof = source_lines_file(lines, symbol, &row.file);
	size_t count = source_lines_of(lines, symbol->address, &facts);
	row.what = words[proof];
	row.is_guess = proof == FILE_FILLED;
	write_row(out, &row);
	bool is_shown = here == symbol->address;
	for (size_t i = 0; i <= count; i++) {
		if (!is_shown && (i == count || facts[i].address > here)) {
			write_row(out, &(struct row){ .address = here,
						      .symbol = symbol,
						      .what = "(here)" });
			is_shown = true;
		}
		if (i == count)
			break;
		is_shown |= facts[i].address == here;
		write_fact(out, symbol, &facts[i]);
	}
}

struct bpf_walk {
	struct out *out;
	const struct symbol *symbol;
};

static struct error *write_bpf_line(void *context, uint64_t address, const struct bpf_line *line)
{
	struct bpf_walk *walk = context;
	if (address && address - walk->symbol->address < walk->symbol->size)
		write_row(walk->out, &(struct row){ .address = address,
						    .symbol = walk->symbol,
						    .file = line->file,
						    .what = "BPF",
						    .line = line->line });
	return NULL;
}

/*
 * Functions that a compiler has renamed (".constprop.0", ".isra.0"): who asks has the name that is
 * in the source.
 */
static bool write_clones(struct session *session, const struct source_lines *lines,
			 const char *text)
{
	const struct symtab *symbols = session->target->symbols;
	size_t length = strlen(text);
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	const struct module *modules;
	bool is_found = false;
	/* They bring their symbols. */
	(void)target_modules(session->target, &modules);
	for (uint32_t i = 0; i < symtab_count(symbols); i++) {
		symtab_get_into(symbols, i, name, &symbol);
		if (strncmp(symbol.name, text, length) != 0 || symbol.name[length] != '.' ||
		    !symtab_is_function(symbols, &symbol))
			continue;
		write_function(session->out, lines, &symbol, symbol.address);
		is_found = true;
	}
	return is_found;
}

static struct error *write_operand(struct session *session, const struct source_lines *lines,
				   const char *text)
{
	struct symbol symbol;
	uint64_t address, offset;
	struct error *error = expression_address(&session->scope, text, &address);
	if (error && error->kind == ERROR_NOT_FOUND && write_clones(session, lines, text)) {
		error_free(error);
		return NULL;
	}
	TRY(error);
	if (!target_symbol_at(session->target, address, &symbol, &offset))
		return error_create(ERROR_NOT_FOUND, "no function is at 0x%" PRIx64, address);
	const struct generated_code *code = target_generated_at(session->target, address);
	if (code && code->kind == GENERATED_BPF_PROGRAM) {
		struct bpf_walk walk = { session->out, &symbol };
		return bpf_for_each_line(session->target, code->owner, write_bpf_line, &walk);
	}
	if (!symtab_is_text(session->target->symbols, address))
		return error_create(ERROR_NOT_FOUND, "%s is no function", text);
	write_function(session->out, lines, &symbol, address);
	return NULL;
}

static struct error *write_all(struct session *session, const struct source_lines *lines)
{
	const struct line_fact *facts = source_lines_all(lines);
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	for (size_t i = 0; i < source_lines_count(lines); i++)
		if (target_symbol_at_into(session->target, facts[i].address, name, &symbol,
					  &offset))
			write_fact(session->out, &symbol, &facts[i]);
	return NULL;
}

static struct error *line_run(struct session *session, const struct arguments *arguments)
{
	struct source_lines *lines;
	TRY(source_lines_create(session->target, &lines));
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	struct error *error = arguments->operand_count ? NULL : write_all(session, lines);
	for (size_t i = 0; i < arguments->operand_count && !error; i++)
		error = write_operand(session, lines, arguments->operands[i]);
	out_table_end(session->out);
	source_lines_destroy(lines);
	return error;
}

static const char *const examples[] = { "line schedule", "line $rip", "line | head -3", NULL };

const struct command command_line = {
	.name = "line",
	.summary = "source lines that the kernel itself has",
	.description =
		"Lists places in the source: the kernel keeps file and line of each BUG and WARN "
		"and of "
		"each message of dynamic debug, and where their code is; BPF programs have lines "
		"of all "
		"their code. Of a function: the file that it is written in, and these places; of "
		"an "
		"address, where it is among them; without operand all places.\n"
		"\n"
		"A place proves that code of that line is at that address. WRITTEN IN is the "
		"function "
		"that has the line, where that is known: another one was inlined. Lines between "
		"two "
		"places are not known: compilers move code. The function's file is known where "
		"something "
		"that is written in it says so; \"by its code\": all of its places are in that "
		"file, "
		"which a source that includes another one can have wrong; \"as its neighbours\": "
		"the "
		"functions in front and behind are of that file, which is not proved. A name that "
		"only "
		"clones of a function have (.constprop, .isra, .part, .cold) stands for all of "
		"them. In data, "
		"near: the "
		"place is up to some 60 bytes behind the address.",
	.operands = { { .name = "FUNCTION|ADDRESS",
			.kind = OPERAND_ADDRESS,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_BTF | NEEDS_MEMORY | NEEDS_SYMBOLS,
	.run = line_run,
};
