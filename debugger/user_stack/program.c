// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/user_stack/program.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/interrupt.h"
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX 256
#define SECTIONS_MAX 4096
#define SYMBOLS_MAX  (1u << 20)
#define PIECE	     256 /* symbols that are read at a time */
#define PAGE_MASK    0xfffull

/* --- the bytes of a file, as far as the page cache has them ----------------------------------- */

struct file_memory {
	struct memory memory;
	struct memory *physical;
	struct page_cache cache;
	uint64_t page_size;
};

static struct error *read_file(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	struct file_memory *file = (struct file_memory *)memory;
	uint8_t *at = buffer;
	if (address > file->cache.size || size > file->cache.size - address)
		return error_create_at(ERROR_FAULT, address, "behind the end of the file");
	while (size) {
		struct cached_page page;
		uint64_t inside = address & (file->page_size - 1);
		size_t part = size < file->page_size - inside ? size
							      : (size_t)(file->page_size - inside);
		TRY(page_cache_find(&file->cache, address / file->page_size, &page));
		if (page.state != CACHED_IN)
			return error_create_at(ERROR_ELSEWHERE, address,
					       "a part of the file is not in memory");
		TRY(memory_read(file->physical, page.physical + inside, at, part));
		at += part;
		address += part;
		size -= part;
	}
	return NULL;
}

static struct error *open_file(struct user_space *space, uint64_t address, struct memory **ret)
{
	struct target *target = user_space_target(space);
	struct object object;
	uint64_t contents;
	TRY(object_at(target, "struct file", address, &object));
	TRY(object_u64(&object, "f_mapping", &contents));
	struct file_memory *file = calloc(1, sizeof(*file));
	if (!file)
		return error_no_memory();
	file->memory = (struct memory){ .read = read_file, .name = "file", .word_size = 8 };
	file->physical = target->physical;
	file->page_size = target->facts->page_size;
	struct error *error = page_cache_init(user_space_records(space), contents, &file->cache);
	if (error)
		free(file);
	else
		*ret = &file->memory;
	return error;
}

/* Takes `error`, keeps the first one, and hands a fatal one on. */
static struct error *keep(struct program *program, struct error *error)
{
	if (!error || error_is_fatal(error))
		return error;
	if (program->problem)
		error_free(error);
	else
		program->problem = error;
	return NULL;
}

static struct error *take_room(struct program *program, const char *what, uint64_t size)
{
	if (size > program->room)
		return error_create(ERROR_FORMAT,
				    "the stack's programs have larger tables than are read: %s of "
				    "%" PRIu64 " bytes",
				    what, size);
	program->room -= size;
	return NULL;
}

/* --- segments -------------------------------------------------------------------------------- */

static bool is_program(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64;
}

/* By the segment with the beginning of the file; all others lie as far from where they should. */
static struct error *read_segments(struct program *program, struct memory *user,
				   const Elf64_Ehdr *header)
{
	Elf64_Phdr frames = { 0 };
	bool is_placed = false;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > SEGMENTS_MAX)
		return NULL;
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		TRY(memory_read(user, program->start + header->e_phoff + i * sizeof(segment),
				&segment, sizeof(segment)));
		if (segment.p_type == PT_LOAD && !(segment.p_offset & ~PAGE_MASK) && !is_placed) {
			program->bias = program->start - (segment.p_vaddr & ~PAGE_MASK);
			is_placed = true;
		}
		if (segment.p_type == PT_GNU_EH_FRAME)
			frames = segment;
	}
	if (is_placed && frames.p_memsz) {
		program->frames.address = frames.p_vaddr + program->bias;
		program->frames.size = frames.p_memsz;
	}
	return NULL;
}

/* --- symbols --------------------------------------------------------------------------------- */

static struct error *add_symbol(struct program *program, const Elf64_Sym *symbol, uint64_t names,
				uint64_t names_size)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    !symbol->st_name || symbol->st_name >= names_size)
		return NULL;
	if (!array_reserve(&program->symbols, &program->symbol_capacity, program->symbol_count + 1))
		return error_no_memory();
	program->symbols[program->symbol_count++] =
		(struct program_symbol){ symbol->st_value, symbol->st_size,
					 names + symbol->st_name };
	return NULL;
}

static struct error *read_table(struct program *program, struct memory *file,
				const Elf64_Shdr *table, const Elf64_Shdr *names)
{
	Elf64_Sym symbols[PIECE];
	uint64_t count = table->sh_size / sizeof(*symbols);
	if (count > SYMBOLS_MAX)
		return error_create(ERROR_FORMAT, "a program has too many symbols");
	TRY(take_room(program, "symbols", table->sh_size));
	for (uint64_t first = 0; first < count; first += PIECE) {
		TRY(interrupt_check());
		uint64_t some = count - first < PIECE ? count - first : PIECE;
		TRY(memory_read(file, table->sh_offset + first * sizeof(*symbols), symbols,
				some * sizeof(*symbols)));
		for (uint64_t i = 0; i < some; i++)
			TRY(add_symbol(program, &symbols[i], names->sh_offset, names->sh_size));
	}
	return NULL;
}

static struct error *read_section(struct memory *file, const Elf64_Ehdr *header,
				  unsigned int number, Elf64_Shdr *ret)
{
	if (number >= header->e_shnum)
		return error_create(ERROR_FORMAT, "a program has no section %u", number);
	return memory_read(file, header->e_shoff + number * sizeof(*ret), ret, sizeof(*ret));
}

struct sections {
	const Elf64_Ehdr *header;
	Elf64_Shdr names; /* of sections */
	Elf64_Shdr symbols, frames;
};

static struct error *take_section(struct memory *file, struct sections *sections,
				  const Elf64_Shdr *section)
{
	char name[16] = "";
	size_t length;
	/* .symtab has all of a program's functions; a stripped one has .dynsym, those of others. */
	if (section->sh_type == SHT_SYMTAB ||
	    (section->sh_type == SHT_DYNSYM && !sections->symbols.sh_size))
		sections->symbols = *section;
	if (!(section->sh_flags & SHF_ALLOC) || section->sh_name >= sections->names.sh_size)
		return NULL;
	/* A longer name is another one. */
	TRY(memory_read_string(file, sections->names.sh_offset + section->sh_name, name,
			       sizeof(name), &length));
	if (!strcmp(name, ".eh_frame"))
		sections->frames = *section;
	return NULL;
}

static struct error *find_sections(struct memory *file, struct sections *sections)
{
	const Elf64_Ehdr *header = sections->header;
	Elf64_Shdr section;
	if (header->e_shentsize != sizeof(section) || header->e_shnum > SECTIONS_MAX)
		return NULL;
	TRY(read_section(file, header, header->e_shstrndx, &sections->names));
	for (unsigned int i = 0; i < header->e_shnum; i++) {
		TRY(interrupt_check());
		TRY(read_section(file, header, i, &section));
		TRY(take_section(file, sections, &section));
	}
	return NULL;
}

static struct error *list_frames(struct program *program, const Elf64_Shdr *section)
{
	TRY(take_room(program, ".eh_frame", section->sh_size));
	return cfi_table_list(&program->frames, section->sh_addr + program->bias, section->sh_size);
}

/* Names and frames of what the section headers tell, which need not be in memory. */
static struct error *read_sections(struct program *program, struct memory *file,
				   const Elf64_Ehdr *header)
{
	struct sections sections = { .header = header };
	Elf64_Shdr names;
	TRY(find_sections(file, &sections));
	if (!program->frames.size && sections.frames.sh_size)
		TRY(keep(program, list_frames(program, &sections.frames)));
	if (!sections.symbols.sh_size)
		return NULL;
	TRY(read_section(file, header, sections.symbols.sh_link, &names));
	return read_table(program, file, &sections.symbols, &names);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct program_symbol *left = a, *right = b;
	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	/* Of several names of one function the last one is taken: that with a size. */
	return left->size < right->size ? -1 : left->size > right->size;
}

bool program_symbol_at(struct program *program, struct memory *user, uint64_t address, char *name,
		       size_t size, uint64_t *ret_offset)
{
	uint64_t value = address - program->bias;
	size_t length;
	size_t behind = array_bound(program->symbol_count, i, program->symbols[i].value <= value);
	if (!behind)
		return false;
	const struct program_symbol *symbol = &program->symbols[behind - 1];
	/* Code by hand may have labels without a size. */
	if (symbol->size && value - symbol->value >= symbol->size)
		return false;
	struct memory *from = program->file ? program->file : user;
	uint64_t at = symbol->name + (program->file ? 0 : program->start);
	struct error *error = memory_read_string(from, at, name, size, &length);
	error_free(error);
	*ret_offset = value - symbol->value;
	return !error && length;
}

/* --- the whole --------------------------------------------------------------------------------
 */

size_t program_first_mapping(const struct user_mapping *mappings, size_t number)
{
	const struct user_mapping *mapping = &mappings[number];
	if (!mapping->file)
		return number;
	for (size_t i = number + 1; i-- > 0 && mappings[i].end <= mapping->end;)
		if (mappings[i].file == mapping->file && !mappings[i].page_offset)
			return i;
	return number;
}

void program_destroy(struct program *program)
{
	if (!program)
		return;
	cfi_table_deinit(&program->frames);
	error_free(program->problem);
	free(program->symbols);
	free(program->file);
	free(program);
}

/* The vDSO is whole in its mapping: what is an offset in a file is one in memory. */
struct shifted_memory {
	struct memory memory;
	struct memory *user;
	uint64_t start;
};

static struct error *read_shifted(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	const struct shifted_memory *shifted = (const struct shifted_memory *)memory;
	return memory_read(shifted->user, shifted->start + address, buffer, size);
}

struct error *program_read(struct program *program, struct memory *user)
{
	Elf64_Ehdr header;
	struct shifted_memory shifted = { .memory = { .read = read_shifted, .word_size = 8 },
					  .user = user,
					  .start = program->start };
	program->frames.memory = user;
	struct error *error = memory_read(user, program->start, &header, sizeof(header));
	if (error)
		return keep(program, error);
	if (!is_program(&header))
		return error_create(ERROR_NOT_FOUND, "no program");
	TRY(keep(program, read_segments(program, user, &header)));
	error = read_sections(program, program->file ? program->file : &shifted.memory, &header);
	if (program->symbol_count)
		array_sort(program->symbols, program->symbol_count, sizeof(*program->symbols),
			   compare_symbols);
	return keep(program, error);
}

struct error *program_create(struct user_space *space, const struct user_mapping *mappings,
			     size_t number, uint64_t *room, struct program **ret)
{
	const struct user_mapping *first = &mappings[program_first_mapping(mappings, number)];
	struct program *program = calloc(1, sizeof(*program));
	*ret = NULL;
	if (!program)
		return error_no_memory();
	program->start = first->start;
	program->room = *room;
	struct error *error = NULL;
	if (first->file)
		error = keep(program, open_file(space, first->file, &program->file));
	if (!error)
		error = program_read(program, user_space_memory(space));
	*room = program->room;
	if (error)
		program_destroy(program);
	else
		*ret = program;
	return error_only_fatal(error);
}
