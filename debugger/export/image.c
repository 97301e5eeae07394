// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The kernel's image as sections, by the symbols that its linker script sets
 * (arch/x86/kernel/vmlinux.lds.S, include/asm-generic/vmlinux.lds.h). Code and data have no
 * contents, for the dump has them; what lies between the sections that are known becomes sections
 * without a name of their own, so that each symbol has one.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/export/quirks.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENTS_MAX (64u << 20)
#define IMAGE_MAX    (1ull << 30) /* the kernel's part of the address space on x86-64 */
#define BANNER_MAX   1024
#define HOLE_MAX     (4ull << 20) /* bytes of one section whose contents are a hole */
/* Sections from which on nothing is divided, should the kinds of symbols alternate without an end.
 */
#define PIECES_END 48

struct span {
	const char *name, *start_symbol, *end_symbol;
	uint32_t type;
	uint64_t flags;
	bool has_contents;
	uint64_t start, end; /* run-time addresses */
};

static const struct span known[] = {
	/* crash wants .text and .data; drgn takes a file with .init.text for a kernel's. */
	{ ".text", "_stext", "_etext", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, false, 0, 0 },
	{ ".rodata", "__start_rodata", "__end_rodata", SHT_PROGBITS, SHF_ALLOC, false, 0, 0 },
	{ ".notes", "__start_notes", "__stop_notes", SHT_NOTE, SHF_ALLOC, true, 0, 0 },
	{ ".data", "_sdata", "_edata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, false, 0, 0 },
	{ ".orc_header", "orc_header", "__start_orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, true, 0,
	  0 },
	{ ".orc_unwind_ip", "__start_orc_unwind_ip", "__stop_orc_unwind_ip", SHT_PROGBITS,
	  SHF_ALLOC, true, 0, 0 },
	{ ".orc_unwind", "__start_orc_unwind", "__stop_orc_unwind", SHT_PROGBITS, SHF_ALLOC, true,
	  0, 0 },
	{ ".init.text", "_sinittext", "_einittext", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, false,
	  0, 0 },
	{ ".bss", "__bss_start", "__bss_stop", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, false, 0, 0 },
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

/* Of data that is only read crash wants the banner: what lies behind it needs no place. */
static void cut_at_banner(const struct target *target, struct span *span)
{
	uint64_t banner;
	if (strcmp(span->name, ".rodata") != 0 ||
	    !symtab_address(target->symbols, "linux_banner", &banner) || banner < span->start ||
	    banner >= span->end || span->end - banner <= BANNER_MAX)
		return;
	span->end = banner + BANNER_MAX;
}

/* kallsyms says of a section by its symbols whether it may be written to: .rodata may on 6.12. */
static void see_writable(const struct target *target, struct span *span)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	if (symtab_find_own(target->symbols, NULL, span->start_symbol, &cursor, &symbol) &&
	    (symbol.kind == 'D' || symbol.kind == 'd'))
		span->flags |= SHF_WRITE;
}

static size_t find_spans(const struct target *target, uint64_t first, uint64_t end,
			 struct span ret[])
{
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
		struct span span = known[i];
		if (symtab_address(target->symbols, span.start_symbol, &span.start) &&
		    symtab_address(target->symbols, span.end_symbol, &span.end) &&
		    span.start >= first && span.start < span.end && span.end <= end) {
			cut_at_banner(target, &span);
			see_writable(target, &span);
			ret[count++] = span;
		}
	}
	array_sort(ret, count, sizeof(*ret), compare_spans);
	return count;
}

/* A hole in the dump costs the section's contents: `*ret` stays NULL, and it is a hole too. */
static struct error *read_contents(struct exporting *exporting, uint64_t address, uint64_t size,
				   const void **ret)
{
	void *data;
	if (exporting->content_count == ARRAY_COUNT(exporting->contents))
		return NULL;
	struct error *error =
		memory_read_alloc(exporting->target->memory, address, size, CONTENTS_MAX, &data);
	if (error)
		return error_only_fatal(error);
	exporting->contents[exporting->content_count++] = data;
	*ret = data;
	return NULL;
}

static struct error *add_part(struct exporting *exporting, const struct span *span)
{
	struct elf_section section = { .type = span->type,
				       .flags = span->flags,
				       .address = link_address(exporting, span->start),
				       .size = span->end - span->start,
				       .alignment = span->type == SHT_NOTE ? 4 : 1 };
	snprintf(section.name, sizeof(section.name), "%s", span->name);
	if (span->has_contents) {
		TRY(read_contents(exporting, span->start, section.size, &section.data));
		if (!section.data)
			section.type = SHT_NOBITS;
	}
	if (elf_add(&exporting->elf, &section) && span->start_symbol)
		elf_symbol(&exporting->elf, "", section.address, 0, STB_LOCAL, STT_SECTION,
			   exporting->elf.count - 1);
	return NULL;
}

/*
 * All holes are one place in the file, as long as the longest of them: one of 16 MiB, as the code
 * of the kernel, is several sections of one name instead, as gdb says which one a symbol is in. The
 * first one comes last of them: crash takes the last .text for where the kernel begins. crash looks
 * for the banner in .rodata: it stays whole.
 */
static struct error *add_span(struct exporting *exporting, const struct span *span)
{
	struct span part = *span;
	bool is_hole = span->type == SHT_PROGBITS && !span->has_contents &&
		       strcmp(span->name, ".rodata") != 0;
	uint64_t parts = is_hole ? (span->end - span->start - 1) / HOLE_MAX + 1 : 1;
	if (exporting->elf.count + parts > PIECES_END)
		parts = 1;
	while (--parts) {
		part.start = span->start + parts * HOLE_MAX;
		part.start_symbol = NULL;
		TRY(add_part(exporting, &part));
		part.end = part.start;
	}
	part.start = span->start;
	part.start_symbol = span->start_symbol;
	return add_part(exporting, &part);
}

static bool has_letter_of_code(char kind)
{
	return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W' || kind == 'i';
}

/*
 * By the letter, and where the linker script puts code: kallsyms takes the letter from the flags of
 * the section, and 7.3's .data may be executed, by them.
 */
bool exported_is_code(const struct exporting *exporting, const struct symbol *symbol)
{
	uint64_t address = symbol->address;
	return has_letter_of_code(symbol->kind) &&
	       (!exporting->text_end || address <= exporting->text_end ||
		(address >= exporting->init_start && address <= exporting->init_end));
}

/* The letter, but of data that has one of code. */
static char kind_of(const struct exporting *exporting, const struct symbol *symbol)
{
	if (!has_letter_of_code(symbol->kind) || exported_is_code(exporting, symbol))
		return symbol->kind;
	return symbol->kind == 't' ? 'd' : 'D';
}

/*
 * What a piece between known sections holds, by the letters of its symbols: code, data that is only
 * read, data, or data that begins as zeros. `before` where a letter does not say.
 */
static char content_of(const struct exporting *exporting, const struct symbol *symbol, char before)
{
	char letter = (char)(kind_of(exporting, symbol) | 0x20);
	if (exported_is_code(exporting, symbol))
		return 't';
	return letter == 'r' || letter == 'd' || letter == 'b' ? letter : before;
}

/* Without bytes in the file: a hole where a linked kernel has some, for debuggers tell by that. */
static struct error *add_piece(struct exporting *exporting, uint64_t start, uint64_t end,
			       char content)
{
	char name[32];
	if (start >= end)
		return NULL;
	snprintf(name, sizeof(name), ".image.%u", exporting->elf.count);
	bool is_filled = content == 'r' || content == 'd';
	return add_span(exporting,
			&(struct span){ .name = name,
					.type = is_filled ? SHT_PROGBITS : SHT_NOBITS,
					.flags = SHF_ALLOC | (content == 'r' ? 0 : SHF_WRITE),
					.start = start,
					.end = end });
}

/*
 * Up to where the next one begins: .init.data, .exit.text and more. What its symbols say is apart
 * is so here: in a section with code crash takes a pointer to data for a return address. Of those
 * at one address the first one says it: kallsyms has what begins there before __stop_... and
 * __end_...
 */
static struct error *add_gap(struct exporting *exporting, uint64_t start, uint64_t end)
{
	const struct symtab *symbols = exporting->target->symbols;
	struct symbol symbol;
	uint64_t before = 0;
	char content = 0;
	for (uint32_t i = 0; i < symtab_kernel_count(symbols); i++) {
		symtab_peek(symbols, i, &symbol);
		if (symbol.address < start || symbol.address >= end || symbol.address == before)
			continue;
		before = symbol.address;
		char now = content_of(exporting, &symbol, content);
		if (now != content && symbol.address > start) {
			if (exporting->elf.count >= PIECES_END)
				return add_piece(exporting, start, end, 0);
			TRY(add_piece(exporting, start, symbol.address, content));
			start = symbol.address;
		}
		content = now;
	}
	return add_piece(exporting, start, end, content);
}

/* crash compares the banner with the dump's. */
static struct error *add_banner(struct exporting *exporting)
{
	uint64_t address;
	const void *banner = NULL;
	if (!symtab_address(exporting->target->symbols, "linux_banner", &address))
		return NULL;
	uint64_t place = link_address(exporting, address);
	for (unsigned int i = 1; i < exporting->elf.count; i++) {
		struct elf_section *section = &exporting->elf.sections[i];
		if (section->data || section->type != SHT_PROGBITS || place < section->address ||
		    place - section->address >= section->size)
			continue;
		uint64_t left = section->size - (place - section->address);
		uint64_t size = left < BANNER_MAX ? left : BANNER_MAX;
		TRY(read_contents(exporting, address, size, &banner));
		if (!banner)
			return NULL;
		section->patch = banner;
		section->patch_offset = place - section->address;
		section->patch_size = strnlen(banner, size);
		return NULL;
	}
	return NULL;
}

/* Per-CPU variables are linked at 0 until 6.15 (9d7de2aa8b41), then in the image. */
static void add_per_cpu(struct exporting *exporting)
{
	const struct symtab *symbols = exporting->target->symbols;
	uint64_t start, end;
	if (!symtab_address(symbols, "__per_cpu_start", &start) || start ||
	    !symtab_address(symbols, "__per_cpu_end", &end) || !end || end > IMAGE_MAX)
		return;
	elf_add(&exporting->elf, &(struct elf_section){ .name = ".data..percpu",
							.type = SHT_PROGBITS,
							.flags = SHF_ALLOC | SHF_WRITE,
							.size = end,
							.alignment = 4096 });
}

static void find_code(struct exporting *exporting)
{
	const struct symtab *symbols = exporting->target->symbols;
	uint64_t text_end;
	if (symtab_address(symbols, "__init_begin", &exporting->init_start) &&
	    symtab_address(symbols, "__init_end", &exporting->init_end) &&
	    symtab_address(symbols, "_etext", &text_end))
		exporting->text_end = text_end;
}

struct error *export_sections(struct exporting *exporting)
{
	const struct target *target = exporting->target;
	struct span spans[ARRAY_COUNT(known)];
	uint64_t at, end;
	if ((!symtab_address(target->symbols, "_text", &at) &&
	     !symtab_address(target->symbols, "_stext", &at)) ||
	    !target_image_end(target, &end) || end <= at || end - at > IMAGE_MAX)
		return error_create(ERROR_NOT_FOUND,
				    "the symbols do not say where the kernel begins and ends");
	size_t count = find_spans(target, at, end, spans);
	find_code(exporting);
	add_per_cpu(exporting);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].start < at)
			continue;
		/* .notes lies within .rodata, whose rest becomes a gap. */
		if (i + 1 < count && spans[i + 1].start < spans[i].end)
			spans[i].end = spans[i + 1].start;
		if (spans[i].start == spans[i].end)
			continue;
		TRY(add_gap(exporting, at, spans[i].start));
		TRY(add_span(exporting, &spans[i]));
		at = spans[i].end;
	}
	TRY(add_gap(exporting, at, end));
	return add_banner(exporting);
}

/* --- symbols ------------------------------------------------------------------------------- */

/* Is a symbol of this kind, as kallsyms has it, of such a section? */
static bool is_of_kind(const struct elf_section *section, char kind)
{
	bool is_code = section->flags & SHF_EXECINSTR, is_written = section->flags & SHF_WRITE;
	switch (kind | 0x20) {
	case 't':
		return is_code;
	case 'd':
		return !is_code && is_written && section->type != SHT_NOBITS;
	case 'b':
		return !is_code && is_written && section->type == SHT_NOBITS;
	case 'r':
		return !is_code && !is_written;
	default:
		return false;
	}
}

/* A label behind a section that is known, and not the one before the next. */
static bool is_end_of_span(const char *name)
{
	bool is_end = false;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
		if (!strcmp(name, known[i].start_symbol))
			return false;
		is_end |= !strcmp(name, known[i].end_symbol);
	}
	return is_end;
}

/*
 * The one around an address, or else the one that ends there: _end, __per_cpu_end, and _etext,
 * which is code by its kind where data begins. 0: none.
 */
static unsigned int section_of(const struct elf *elf, uint64_t address, const char *name, char kind)
{
	unsigned int around = 0;
	unsigned int before = 0;
	for (unsigned int i = 1; i < elf->count; i++) {
		const struct elf_section *section = &elf->sections[i];
		if (address >= section->address && address - section->address < section->size)
			around = i;
		else if (address - section->address == section->size)
			before = i;
	}
	if (!around || !before)
		return around ? around : before;
	if (is_of_kind(&elf->sections[before], kind) &&
	    (is_end_of_span(name) || !is_of_kind(&elf->sections[around], kind)))
		return before;
	return around;
}

static void add_symbol(struct exporting *exporting, const struct symbol *symbol)
{
	struct elf *elf = &exporting->elf;
	char name[DWARF_NAME_MAX + 1];
	bool is_offset = symbol->address < IMAGE_MAX; /* of a per-CPU variable */
	uint64_t address = is_offset ? symbol->address : link_address(exporting, symbol->address);
	unsigned int section = section_of(elf, address, symbol->name, kind_of(exporting, symbol));
	bool is_function = exported_is_code(exporting, symbol);
	/* One behind the image, or an absolute one: crash would measure by it how far the kernel
	 * moved. */
	if (!section || !dwarf_clean_name(symbol->name, name))
		return;
	if (is_function && elf->sections[section].type == SHT_NOBITS)
		elf->sections[section].flags |= SHF_EXECINSTR;
	uint64_t size = exporting->sizes[symbol->number];
	if (is_function)
		size = quirk_is_label_of_code(symbol->name) ? 0
							    : exporting->code_sizes[symbol->number];
	else if (!size && !quirk_is_label(symbol->name))
		size = symbol->size;
	elf_symbol(elf, name, address, size, exported_binding(exporting, symbol),
		   is_function ? STT_FUNC : STT_OBJECT, section);
	exporting->summary.symbols++;
}

struct error *export_symbols(struct exporting *exporting)
{
	const struct symtab *symbols = exporting->target->symbols;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint32_t count = symtab_kernel_count(symbols);
	TRY(export_measure_code(exporting));
	for (uint32_t i = 0; i < count; i++) {
		if (!(i & 1023))
			TRY(interrupt_check());
		symtab_get_into(symbols, i, name, &symbol);
		add_symbol(exporting, &symbol);
	}
	return exporting->elf.failed ? error_no_memory() : NULL;
}
