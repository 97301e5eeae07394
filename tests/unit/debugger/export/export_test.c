// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * DWARF of BTF, read back by a reader of this file: each entry is one of the abbreviations', each
 * reference meets an entry, and no chain of types goes in a circle, whatever the BTF is.
 */
#include "tests/unit/btf_samples.h"

#include "debugger/export/dwarf_codes.h"
#include "debugger/export/elf.h"
#include "debugger/export/types.h"
#include "tests/unit/test.h"
#include <elf.h>

#define ENTRIES_MAX 4096
#define CODES_MAX   128

struct entry {
	uint32_t offset, type; /* of its type, 0: none */
	bool has_type;
	uint8_t tag;
	uint64_t size, count;
	const char *name;
	unsigned int depth;
};

struct reading {
	const struct dwarf *dwarf;
	const uint8_t *abbreviations[CODES_MAX]; /* by code: tag, children, pairs */
	size_t at, end;
	struct entry entries[ENTRIES_MAX];
	size_t count;
	bool is_bad;
};

static uint64_t read_bytes(struct reading *reading, unsigned int size)
{
	uint64_t number = 0;
	for (unsigned int i = 0; i < size; i++, reading->at++) {
		if (reading->at >= reading->end) {
			reading->is_bad = true;
			return 0;
		}
		number |= (uint64_t)(uint8_t)reading->dwarf->info.data[reading->at] << (8 * i);
	}
	return number;
}

static uint64_t read_number(struct reading *reading)
{
	uint64_t number = 0, byte = 0x80;
	for (unsigned int shift = 0; byte & 0x80 && shift < 70; shift += 7) {
		byte = read_bytes(reading, 1);
		if (shift < 64)
			number |= (byte & 0x7f) << shift;
	}
	return number;
}

/* All of them have one byte, as the numbers in them. */
static void read_abbreviations(struct reading *reading, const struct strbuf *bytes)
{
	const uint8_t *at = (const uint8_t *)bytes->data, *end = at + bytes->size;
	uint8_t expected = 1;
	while (at < end && *at) {
		CHECK_U64(*at, expected);
		reading->abbreviations[expected++ % CODES_MAX] = at + 1;
		for (at += 3; at + 1 < end && (at[0] || at[1]); at += 2)
			CHECK(at[0] < 0x80 && at[1] < 0x80);
		at += 2;
	}
	CHECK(at == end - 1 && expected < CODES_MAX);
}

static uint64_t read_form(struct reading *reading, uint8_t form, size_t unit)
{
	uint64_t size;
	switch (form) {
	case DW_FORM_flag_present:
		return 1;
	case DW_FORM_data1:
		return read_bytes(reading, 1);
	case DW_FORM_ref4:
		return unit + read_bytes(reading, 4);
	case DW_FORM_ref_addr:
	case DW_FORM_strp:
	case DW_FORM_data4:
	case DW_FORM_sec_offset:
		return read_bytes(reading, 4);
	case DW_FORM_addr:
		return read_bytes(reading, 8);
	case DW_FORM_exprloc:
		size = read_number(reading);
		reading->at += size;
		return size;
	case DW_FORM_udata:
	case DW_FORM_sdata:
		return read_number(reading);
	default:
		reading->is_bad = true;
		return 0;
	}
}

static const char *string_at(struct reading *reading, uint64_t offset)
{
	reading->is_bad |= offset >= reading->dwarf->strings.size;
	return reading->is_bad ? "" : reading->dwarf->strings.data + offset;
}

static bool read_entry(struct reading *reading, size_t unit, unsigned int *depth)
{
	struct entry entry = { .offset = (uint32_t)reading->at, .depth = *depth, .name = "" };
	uint64_t code = read_number(reading);
	if (!code) {
		reading->is_bad |= !*depth;
		*depth -= *depth > 0;
		return true;
	}
	const uint8_t *at = code < CODES_MAX ? reading->abbreviations[code] : NULL;
	if (!at || reading->count == ENTRIES_MAX)
		return false;
	entry.tag = at[0];
	*depth += at[1];
	for (at += 2; at[0]; at += 2) {
		uint64_t value = read_form(reading, at[1], unit);
		if (at[0] == DW_AT_type) {
			entry.type = (uint32_t)value;
			entry.has_type = true;
		}
		if (at[0] == DW_AT_byte_size)
			entry.size = value;
		if (at[0] == DW_AT_count)
			entry.count = value;
		if (at[0] == DW_AT_name)
			entry.name = string_at(reading, value);
	}
	reading->entries[reading->count++] = entry;
	return !reading->is_bad;
}

static const struct entry *entry_at(const struct reading *reading, uint32_t offset)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->entries[i].offset == offset)
			return &reading->entries[i];
	return NULL;
}

static bool is_link(uint8_t tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
	       tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
	       tag == DW_TAG_array_type;
}

/* A chain of pointers and the like ends. */
static bool ends(const struct reading *reading, const struct entry *entry)
{
	for (int i = 0; i <= EXPORT_DEPTH_MAX; i++) {
		if (!entry || !is_link(entry->tag) || !entry->type)
			return entry;
		entry = entry_at(reading, entry->type);
	}
	return false;
}

static void read_all(struct reading *reading, const struct dwarf *dwarf)
{
	struct strbuf bytes = { 0 };
	*reading = (struct reading){ .dwarf = dwarf };
	dwarf_abbreviations(dwarf, &bytes);
	read_abbreviations(reading, &bytes);
	reading->end = dwarf->info.size;
	while (reading->at < dwarf->info.size && !reading->is_bad) {
		size_t unit = reading->at;
		unsigned int depth = 0;
		reading->end = dwarf->info.size;
		reading->end = unit + 4 + read_bytes(reading, 4);
		reading->is_bad |= reading->end > dwarf->info.size;
		CHECK_U64(read_bytes(reading, 2), 4);
		CHECK_U64(read_bytes(reading, 4), 0);
		CHECK_U64(read_bytes(reading, 1), 8);
		do
			reading->is_bad |= !read_entry(reading, unit, &depth);
		while (depth && !reading->is_bad);
		reading->is_bad |= reading->at != reading->end;
	}
	for (size_t i = 0; i < reading->count && !reading->is_bad; i++)
		reading->is_bad |= reading->entries[i].has_type &&
				   !ends(reading, entry_at(reading, reading->entries[i].type));
	strbuf_deinit(&bytes);
}

static const struct entry *entry_named(const struct reading *reading, uint8_t tag, const char *name)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->entries[i].tag == tag && !strcmp(reading->entries[i].name, name))
			return &reading->entries[i];
	return NULL;
}

/* Into one unit, closed. */
static void write_unit(const struct btf *btf, const struct exported_types *base,
		       struct dwarf *dwarf, struct exported_types *ret)
{
	CHECK_OK(exported_types_write(btf, base, btf_name(btf), dwarf, ret));
	dwarf_unit_end(dwarf);
	CHECK(!dwarf->failed && !dwarf->is_full);
}

static struct reading reading; /* too large for the stack */

static void test_sample(void)
{
	struct libbpf_btf *sample = sample_create();
	size_t size;
	struct btf *btf;
	struct dwarf dwarf;
	struct exported_types types = { 0 };
	struct dwarf_type found;
	struct type array;
	uint8_t *bytes = sample_bytes(sample, false, &size);
	CHECK_OK(btf_open(bytes, size, NULL, "vmlinux", &btf));
	dwarf_init(&dwarf, "test");
	CHECK_OK(exported_types_write(btf, NULL, "vmlinux", &dwarf, &types));
	CHECK_OK(type_array_of(named(btf, BTF_STRUCT, "node"), 7, &array));
	CHECK(exported_type(&types, &dwarf, array, &found));
	CHECK(found.where == DWARF_HERE);
	uint32_t offset = found.offset;
	CHECK(exported_type(&types, &dwarf, array, &found));
	CHECK_U64(found.offset, offset); /* once */
	dwarf_unit_end(&dwarf);
	read_all(&reading, &dwarf);
	CHECK(!reading.is_bad);
	const struct entry *node = entry_named(&reading, DW_TAG_structure_type, "node");
	uint64_t node_size;
	CHECK(type_size(named(btf, BTF_STRUCT, "node"), &node_size));
	CHECK(node && node->size == node_size);
	const struct entry *next = entry_named(&reading, DW_TAG_member, "next");
	const struct entry *pointer = next ? entry_at(&reading, next->type) : NULL;
	CHECK(pointer && pointer->tag == DW_TAG_pointer_type && pointer->size == 8);
	CHECK(pointer && entry_at(&reading, pointer->type) == node);
	CHECK(entry_named(&reading, DW_TAG_enumerator, "RED"));
	const struct entry *nodes = entry_at(&reading, offset);
	CHECK(nodes && nodes->tag == DW_TAG_array_type && entry_at(&reading, nodes->type) == node);
	CHECK(nodes && nodes[1].tag == DW_TAG_subrange_type && nodes[1].count == 7);
	exported_types_deinit(&types);
	dwarf_deinit(&dwarf);
	btf_close(btf);
	free(bytes);
	btf__free(sample);
}

/* Pointers, typedefs and arrays in circles, one too long, a struct that holds itself. */
static void test_circles(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	size_t size;
	struct btf *btf;
	struct dwarf dwarf;
	struct exported_types types = { 0 };
	int int_id = btf__add_int(sample, "int", 4, BTF_INT_SIGNED);
	btf__add_ptr(sample, int_id + 2);
	btf__add_ptr(sample, int_id + 1);
	btf__add_typedef(sample, "round", int_id + 3);
	btf__add_array(sample, int_id, int_id + 4, 3);
	btf__add_struct(sample, "itself", 8);
	btf__add_field(sample, "inner", int_id + 5, 0, 0);
	int last = int_id;
	for (int i = 0; i < 3 * EXPORT_DEPTH_MAX; i++)
		last = btf__add_ptr(sample, last);
	btf__add_typedef(sample, "deep", last);
	btf__add_typedef(sample, "shallow", int_id);
	uint8_t *bytes = sample_bytes(sample, false, &size);
	CHECK_OK(btf_open(bytes, size, NULL, "vmlinux", &btf));
	dwarf_init(&dwarf, "test");
	write_unit(btf, NULL, &dwarf, &types);
	read_all(&reading, &dwarf);
	CHECK(!reading.is_bad);
	CHECK(entry_named(&reading, DW_TAG_unspecified_type, "btfcrash_damaged"));
	/* btf/ has taken the type from it, or it is left out. */
	const struct entry *inner = entry_named(&reading, DW_TAG_member, "inner");
	CHECK(!inner || !inner->type);
	CHECK(!entry_named(&reading, DW_TAG_typedef, "round"));
	CHECK(!entry_named(&reading, DW_TAG_typedef, "deep"));
	CHECK(entry_named(&reading, DW_TAG_typedef, "shallow"));
	exported_types_deinit(&types);
	dwarf_deinit(&dwarf);
	btf_close(btf);
	free(bytes);
	btf__free(sample);
}

static void add_without_entry(struct libbpf_btf *to, const char *name, int function, int tag)
{
	btf__add_struct(to, name, 24);
	btf__add_field(to, "a_function", function, 0, 0);
	btf__add_field(to, "a_tag", tag, 64, 0);
	btf__add_typedef(to, "a_function_t", function);
}

/* Of what has no entry, a function or a tag, nothing can be: not in its own unit nor in another. */
static void test_no_entry(void)
{
	struct libbpf_btf *base_sample = btf__new_empty();
	size_t size;
	struct btf *base, *btf;
	struct dwarf dwarf;
	struct exported_types base_types = { 0 }, types = { 0 };
	int prototype = btf__add_func_proto(base_sample, 0);
	int function = btf__add_func(base_sample, "function", BTF_FUNC_GLOBAL, prototype);
	int tag = btf__add_decl_tag(base_sample, "tag", function, -1);
	add_without_entry(base_sample, "outer", function, tag);
	struct libbpf_btf *sample = btf__new_empty_split(base_sample);
	function = btf__add_func(sample, "own", BTF_FUNC_GLOBAL, prototype);
	add_without_entry(sample, "inner", function, tag);
	uint8_t *base_bytes = sample_bytes(base_sample, false, &size);
	CHECK_OK(btf_open(base_bytes, size, NULL, "vmlinux", &base));
	uint8_t *bytes = sample_bytes(sample, false, &size);
	CHECK_OK(btf_open(bytes, size, base, "module", &btf));
	dwarf_init(&dwarf, "test");
	write_unit(base, NULL, &dwarf, &base_types);
	write_unit(btf, &base_types, &dwarf, &types);
	read_all(&reading, &dwarf);
	CHECK(!reading.is_bad);
	CHECK(entry_named(&reading, DW_TAG_structure_type, "inner"));
	const struct entry *member = entry_named(&reading, DW_TAG_member, "a_function");
	CHECK(member && !member->has_type);
	exported_types_deinit(&types);
	exported_types_deinit(&base_types);
	dwarf_deinit(&dwarf);
	btf_close(btf);
	btf_close(base);
	free(bytes);
	free(base_bytes);
	btf__free(sample);
	btf__free(base_sample);
}

/* What still opens is written, and reads as DWARF. */
static void test_mutated(void)
{
	struct libbpf_btf *sample = sample_create();
	size_t size;
	unsigned int opened = 0;
	uint8_t *bytes = sample_bytes(sample, false, &size);
	for (size_t i = 0; i < size; i++) {
		static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
		uint8_t before = bytes[i];
		for (size_t j = 0; j < sizeof(values); j++) {
			struct btf *btf;
			struct dwarf dwarf;
			struct exported_types types = { 0 };
			bytes[i] = values[j];
			struct error *error = btf_open(bytes, size, NULL, "vmlinux", &btf);
			error_free(error);
			if (error)
				continue;
			opened++;
			dwarf_init(&dwarf, "test");
			write_unit(btf, NULL, &dwarf, &types);
			read_all(&reading, &dwarf);
			if (reading.is_bad)
				printf("byte %zu = %02x\n", i, values[j]);
			CHECK(!reading.is_bad);
			exported_types_deinit(&types);
			dwarf_deinit(&dwarf);
			btf_close(btf);
		}
		bytes[i] = before;
	}
	CHECK(opened > size);
	free(bytes);
	btf__free(sample);
}

/*
 * A kernel and a module on it: one struct of the kernel's is held, one is pointed to, one is
 * pointed to and has no name, one is nobody's.
 */
struct two_levels {
	struct libbpf_btf *base_sample, *sample;
	uint8_t *base_bytes, *bytes;
	size_t size;
	struct btf *base;
};

static void two_levels_init(struct two_levels *levels)
{
	size_t size;
	struct libbpf_btf *base = levels->base_sample = btf__new_empty();
	int integer = btf__add_int(base, "int", 4, BTF_INT_SIGNED);
	int held = btf__add_struct(base, "held", 4);
	btf__add_field(base, "in_held", integer, 0, 0);
	int pointed = btf__add_struct(base, "pointed", 4);
	btf__add_field(base, "in_pointed", integer, 0, 0);
	int nameless = btf__add_struct(base, NULL, 4);
	btf__add_field(base, "in_nameless", integer, 0, 0);
	btf__add_struct(base, "unused", 4);
	btf__add_field(base, "in_unused", integer, 0, 0);
	levels->base_bytes = sample_bytes(base, false, &size);
	CHECK_OK(btf_open(levels->base_bytes, size, NULL, "vmlinux", &levels->base));
	struct libbpf_btf *split = levels->sample = btf__new_empty_split(base);
	int pointer = btf__add_ptr(split, pointed);
	int other = btf__add_ptr(split, nameless);
	btf__add_struct(split, "own", 24);
	btf__add_field(split, "holds", held, 0, 0);
	btf__add_field(split, "points", pointer, 64, 0);
	btf__add_field(split, "points_too", other, 128, 0);
	levels->bytes = sample_bytes(split, false, &levels->size);
}

static void two_levels_deinit(struct two_levels *levels)
{
	btf_close(levels->base);
	free(levels->base_bytes);
	free(levels->bytes);
	btf__free(levels->sample);
	btf__free(levels->base_sample);
}

/* What the file of a module has of types, into `reading`, which borrows `dwarf`. */
static void read_module(const struct two_levels *levels, const struct btf *btf, struct dwarf *dwarf)
{
	struct exported_types base = { 0 }, own = { 0 };
	struct needed_types needed;
	dwarf_init(dwarf, "test");
	CHECK_OK(needed_types_init(&needed, levels->base, btf));
	CHECK_OK(exported_types_write_needed(levels->base, needed.how, "vmlinux", dwarf, &base));
	dwarf_unit_end(dwarf);
	write_unit(btf, &base, dwarf, &own);
	read_all(&reading, dwarf);
	needed_types_deinit(&needed);
	exported_types_deinit(&own);
	exported_types_deinit(&base);
}

static void test_needed(void)
{
	struct two_levels levels;
	struct btf *btf;
	struct dwarf dwarf;
	two_levels_init(&levels);
	CHECK_OK(btf_open(levels.bytes, levels.size, levels.base, "module", &btf));
	read_module(&levels, btf, &dwarf);
	CHECK(!reading.is_bad);
	CHECK(entry_named(&reading, DW_TAG_structure_type, "own"));
	CHECK(entry_named(&reading, DW_TAG_member, "in_held"));
	CHECK(entry_named(&reading, DW_TAG_structure_type, "pointed"));
	CHECK(!entry_named(&reading, DW_TAG_member, "in_pointed"));
	CHECK(entry_named(&reading, DW_TAG_member, "in_nameless"));
	CHECK(!entry_named(&reading, DW_TAG_structure_type, "unused"));
	dwarf_deinit(&dwarf);
	btf_close(btf);
	two_levels_deinit(&levels);
}

static void test_needed_mutated(void)
{
	struct two_levels levels;
	unsigned int opened = 0;
	two_levels_init(&levels);
	for (size_t i = 0; i < levels.size; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct btf *btf;
			levels.bytes[i] ^= (uint8_t)(1u << bit);
			struct error *error =
				btf_open(levels.bytes, levels.size, levels.base, "module", &btf);
			if (!error) {
				struct dwarf dwarf;
				opened++;
				read_module(&levels, btf, &dwarf);
				CHECK(!reading.is_bad);
				dwarf_deinit(&dwarf);
				btf_close(btf);
			}
			error_free(error);
			levels.bytes[i] ^= (uint8_t)(1u << bit);
		}
	CHECK(opened > levels.size);
	two_levels_deinit(&levels);
}

static void test_names(void)
{
	char clean[DWARF_NAME_MAX + 1], longer[2 * DWARF_NAME_MAX];
	struct dwarf dwarf;
	CHECK_U64(dwarf_clean_name("a\033[31m\nb\177\200", clean), 10);
	CHECK_STRING(clean, "a?[31m?b??");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CHECK_U64(dwarf_clean_name(longer, clean), DWARF_NAME_MAX);
	dwarf_init(&dwarf, "test");
	dwarf_name(&dwarf, "one");
	dwarf_name(&dwarf, "two");
	dwarf_name(&dwarf, "one");
	CHECK_U64(dwarf.strings.size, 8);
	CHECK(!memcmp(dwarf.info.data, dwarf.info.data + 8, 4));
	dwarf_deinit(&dwarf);
}

static void test_elf(void)
{
	static const char contents[] = "contents";
	static char written[1 << 16];
	struct elf elf;
	uint64_t size;
	FILE *file = tmpfile();
	elf_init(&elf, EM_X86_64);
	elf_add(&elf, &(struct elf_section){ .name = ".text",
					     .type = SHT_PROGBITS,
					     .flags = SHF_ALLOC | SHF_EXECINSTR,
					     .address = 0xffffffff81000000,
					     .size = 0x5000 });
	elf_add(&elf, &(struct elf_section){ .name = ".rodata",
					     .type = SHT_PROGBITS,
					     .flags = SHF_ALLOC,
					     .address = 0xffffffff81005000,
					     .size = 0x2000,
					     .patch = contents,
					     .patch_offset = 0x1234,
					     .patch_size = 8 });
	elf_add(&elf, &(struct elf_section){ .name = ".data..percpu",
					     .type = SHT_PROGBITS,
					     .flags = SHF_ALLOC | SHF_WRITE,
					     .size = 0x1000 });
	elf_symbol(&elf, "global", 0xffffffff81000010, 4, true, STT_FUNC, 1);
	elf_symbol(&elf, "local", 0xffffffff81005010, 4, false, STT_OBJECT, 2);
	elf_symbol(&elf, "", 0xffffffff81005000, 0, false, STT_SECTION, 2);
	CHECK_OK(elf_write(&elf, file, &size));
	rewind(file);
	CHECK_U64(fread(written, 1, sizeof(written), file), size);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)written;
	CHECK_U64(header->e_shnum, 7);
	CHECK_U64(header->e_phnum, 3);
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(written + header->e_phoff);
	CHECK_U64(segments[0].p_vaddr, 0xffffffff81000000);
	CHECK_U64(segments[1].p_vaddr, 0);
	CHECK_U64(segments[2].p_vaddr, 0xffffffff81005000);
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(written + header->e_shoff);
	const char *names = written + sections[header->e_shstrndx].sh_offset;
	CHECK_STRING(names + sections[2].sh_name, ".rodata");
	CHECK(!memcmp(written + sections[2].sh_offset + 0x1234, contents, 9));
	CHECK(!written[sections[2].sh_offset + 0x1233]);
	/* The zeros of .text are those before it. */
	CHECK_U64(sections[2].sh_offset + 0x1234, sections[1].sh_offset + 0x5000);
	const Elf64_Sym *symbols = (const Elf64_Sym *)(written + sections[4].sh_offset);
	CHECK_U64(sections[4].sh_info, 3); /* the first global one */
	CHECK_STRING(written + sections[5].sh_offset + symbols[1].st_name, "local");
	CHECK_STRING(written + sections[5].sh_offset + symbols[3].st_name, "global");
	CHECK_U64(symbols[2].st_name, 0); /* which readers take for its section's */
	elf_deinit(&elf);
	fclose(file);
}

static void test_object(void)
{
	static const Elf64_Rela relocation = { .r_offset = 8, .r_addend = 3 };
	static char written[1 << 14];
	struct elf elf;
	uint64_t size;
	FILE *file = tmpfile();
	elf_init(&elf, EM_X86_64);
	elf.is_relocatable = true;
	elf_add(&elf,
		&(struct elf_section){
			.name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .size = 0x500 });
	elf_add(&elf, &(struct elf_section){ .name = ".rela.text",
					     .type = SHT_RELA,
					     .data = &relocation,
					     .size = sizeof(relocation),
					     .info = 1 });
	CHECK_OK(elf_write(&elf, file, &size));
	rewind(file);
	CHECK_U64(fread(written, 1, sizeof(written), file), size);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)written;
	CHECK_U64(header->e_type, ET_REL);
	CHECK_U64(header->e_phnum, 0);
	CHECK_U64(header->e_phoff, 0);
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(written + header->e_shoff);
	CHECK_U64(sections[sections[2].sh_link].sh_type, SHT_SYMTAB);
	CHECK_U64(sections[1].sh_addr, 0);
	CHECK(!memcmp(written + sections[2].sh_offset, &relocation, sizeof(relocation)));
	elf_deinit(&elf);
	fclose(file);
}

/* Of sizes and names that a damaged dump makes up no file is made, nor is a disk filled. */
static void test_bounds(void)
{
	static char name[DWARF_NAME_MAX + 1];
	uint64_t size;
	struct elf elf;
	FILE *file = tmpfile();
	elf_init(&elf, EM_X86_64);
	elf_add(&elf, &(struct elf_section){
			      .name = ".text", .type = SHT_PROGBITS, .size = ELF_SECTION_MAX + 1 });
	CHECK_FAILS(elf_write(&elf, file, &size), "larger than any kernel's");
	elf_deinit(&elf);
	elf_init(&elf, EM_X86_64);
	memset(name, 'x', DWARF_NAME_MAX);
	for (uint32_t i = 0; i < ELF_NAMES_MAX / DWARF_NAME_MAX * 2; i++)
		elf_symbol(&elf, name, 0, 0, true, STT_FUNC, 1);
	CHECK(elf.names.size < ELF_NAMES_MAX + 2 * DWARF_NAME_MAX);
	CHECK_FAILS(elf_write(&elf, file, &size), "larger than any kernel's");
	CHECK_U64((uint64_t)ftello(file), 0);
	elf_deinit(&elf);
	fclose(file);
}

/* Where addresses stand is known of a file that will be moved, and of no other. */
static void test_places(void)
{
	struct dwarf dwarf;
	struct dwarf_place place;
	dwarf_init(&dwarf, "test");
	dwarf_address(&dwarf, 5);
	CHECK_U64(dwarf.info_places.size, 0);
	dwarf.is_relocatable = true;
	dwarf_address(&dwarf, 6);
	dwarf_code_unit_begin(&dwarf, "unit", 7, 8);
	dwarf_unit_end(&dwarf);
	CHECK_U64(dwarf.info_places.size, 2 * sizeof(place));
	CHECK_U64(dwarf.range_places.size, sizeof(place));
	memcpy(&place, dwarf.info_places.data, sizeof(place));
	CHECK_U64(place.offset, 8);
	CHECK_U64(place.address, 6);
	memcpy(&place, dwarf.range_places.data, sizeof(place));
	CHECK_U64(place.address, 7);
	CHECK_U64((uint8_t)dwarf.ranges.data[place.offset], 7);
	dwarf_deinit(&dwarf);
}

/* Each line is a sequence of its own, of the bytes of one instruction. */
static void test_lines(void)
{
	static const char *const names[] = { "unused.c", "a\n.c", "b.c" };
	static const struct dwarf_line items[] = {
		{ .address = 0x1000, .line = 300, .file = 2, .size = 2 },
		{ .address = 0x1002, .line = 1, .file = 1, .size = 2 },
		{ .address = 0x1010, .line = 7, .file = 2, .size = 2 },
	};
	static const char wanted[] = "b.c\0\0\0\0a?.c\0\0\0\0\0"
				     "\0\011\2\0\x10\0\0\0\0\0\0\4\1\3\xab\2\1\2\2\0\1\1"
				     "\0\011\2\2\x10\0\0\0\0\0\0\4\2\3\0\1\2\2\0\1\1"
				     "\0\011\2\x10\x10\0\0\0\0\0\0\4\1\3\6\1\2\2\0\1\1";
	struct dwarf_lines lines = { items, 3, names, 3, "." };
	struct dwarf_place place;
	struct dwarf dwarf;
	uint32_t length, header;
	dwarf_init(&dwarf, "test");
	dwarf.is_relocatable = true;
	dwarf_lines_unit_begin(&dwarf, "unit", 0x1000, 0x20, &lines);
	dwarf_unit_end(&dwarf);
	read_all(&reading, &dwarf);
	CHECK(!reading.is_bad && !dwarf.failed);
	size_t size = sizeof(wanted) - 1;
	CHECK(dwarf.lines.size > 10 + size);
	if (dwarf.lines.size > 10 + size) {
		const char *end = dwarf.lines.data + dwarf.lines.size;
		memcpy(&length, dwarf.lines.data, 4);
		memcpy(&header, dwarf.lines.data + 6, 4);
		CHECK_U64(length, dwarf.lines.size - 4);
		CHECK_U64(10 + header, dwarf.lines.size - size + 16); /* behind the names */
		CHECK(!memcmp(end - size, wanted, size));
	}
	CHECK_U64(dwarf.line_places.size, 3 * sizeof(place));
	memcpy(&place, dwarf.line_places.data + sizeof(place), sizeof(place));
	CHECK_U64(place.address, 0x1002);
	CHECK_U64((uint8_t)dwarf.lines.data[place.offset], 2);
	dwarf_deinit(&dwarf);
}

int main(void)
{
	RUN(test_sample);
	RUN(test_circles);
	RUN(test_no_entry);
	RUN(test_mutated);
	RUN(test_needed);
	RUN(test_needed_mutated);
	RUN(test_names);
	RUN(test_elf);
	RUN(test_object);
	RUN(test_bounds);
	RUN(test_places);
	RUN(test_lines);
	return test_finish();
}
