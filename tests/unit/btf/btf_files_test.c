// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * BTF from elsewhere: levels on levels as libbpf makes them, wrong bases, distilled bases, ELF
 * files, and levels that our own writer makes, which libbpf reads. Mutated: BTF_MUTATIONS says how
 * often, BTF_MUTATE names a file (and BTF_MUTATE_BASE its base) to take instead of the sample.
 */
#include "tests/unit/btf_samples.h"

#include "btf/elf.h"
#include "btf/fit.h"
#include "btf/relocate.h"
#include "btf/writer.h"
#include <elf.h>
#include <unistd.h>

/* --- levels on levels ---------------------------------------------------------------------- */

struct chain {
	struct libbpf_btf *theirs[3];
	uint8_t *data[3];
	size_t size[3];
	struct btf *levels[3];
};

static struct libbpf_btf *add_extra(struct libbpf_btf *base, int module_struct)
{
	struct libbpf_btf *extra = btf__new_empty_split(base);
	btf__add_struct(extra, "extra_top", 16);
	btf__add_field(extra, "extra_inner", module_struct, 0, 0);
	btf__add_field(extra, "extra_count", 1, 64, 0);
	int variable = btf__add_var(extra, "extra_variable", BTF_VAR_STATIC, 1);
	btf__add_datasec(extra, ".extra.data", 8);
	btf__add_datasec_var_info(extra, variable, 0, 4);
	return extra;
}

/*
 * libbpf before 1.6 counts the strings of a third level from the size of the second's alone. *ret:
 * it does.
 */
static struct error *open_extra(struct chain *chain, bool *ret)
{
	const char *name = "extra_top";
	uint32_t offset = (uint32_t)btf__find_str(chain->theirs[2], name);
	*ret = offset == btf_string_size(chain->levels[1]);
	return (*ret ? btf_open_old_strings : btf_open)(
		chain->data[2], chain->size[2], chain->levels[1], "extra", &chain->levels[2]);
}

static void chain_create(struct chain *chain, bool *ret_old)
{
	chain->theirs[0] = sample_create();
	chain->theirs[1] = btf__new_empty_split(chain->theirs[0]);
	int module = btf__add_struct(chain->theirs[1], "module_struct", 8);
	btf__add_field(chain->theirs[1], "module_member", 2, 0, 0);
	chain->theirs[2] = add_extra(chain->theirs[1], module);
	for (int i = 0; i < 3; i++)
		chain->data[i] = sample_bytes(chain->theirs[i], false, &chain->size[i]);
	CHECK_OK(btf_open(chain->data[0], chain->size[0], NULL, "base", &chain->levels[0]));
	CHECK_OK(btf_open(chain->data[1], chain->size[1], chain->levels[0], "module",
			  &chain->levels[1]));
	CHECK_OK(open_extra(chain, ret_old));
}

static void chain_destroy(struct chain *chain)
{
	for (int i = 2; i >= 0; i--) {
		btf_close(chain->levels[i]);
		free(chain->data[i]);
		btf__free(chain->theirs[i]);
	}
}

static void check_as_libbpf(const struct libbpf_btf *theirs, const struct btf *ours)
{
	struct btf_type type;
	uint64_t size;
	CHECK_U64(btf_end_id(ours), btf__type_cnt(theirs));
	/* Old libbpf loses the names of the level between. */
	for (uint32_t id = btf_start_id(ours); id < btf_end_id(ours); id++) {
		const struct libbpf_type *their = btf__type_by_id(theirs, id);
		CHECK(btf_get(ours, id, &type));
		CHECK_U64(type.kind, their->info >> 24 & 0x1f);
		CHECK_STRING(type.name, btf__name_by_offset(theirs, their->name_off));
		int64_t their_size = btf__resolve_size(theirs, id);
		if (type.kind != BTF_VAR && type.kind != BTF_DATASEC && their_size > 0 &&
		    type_size((struct type){ ours, id }, &size))
			CHECK_U64(size, their_size);
	}
}

static void test_three_levels_of_libbpf(void)
{
	struct chain chain = { .size = { 0 } };
	bool old;
	struct type_place place;
	chain_create(&chain, &old);
	printf("libbpf counts strings of a third level %s\n", old ? "the old way" : "right");
	for (int i = 0; i < 3; i++) {
		check_as_libbpf(chain.theirs[i], chain.levels[i]);
		CHECK_OK(btf_check_base(chain.levels[i]));
	}
	struct type top = named(chain.levels[2], BTF_STRUCT, "extra_top");
	CHECK_OK(type_find_path(top, "extra_inner.module_member", &place));
	CHECK_U64(place.type.id, 2);
	chain_destroy(&chain);
}

/* The two ways to count are told apart by what fits. */
static void test_numbering_is_found_out(void)
{
	struct chain chain = { .size = { 0 } };
	bool old;
	struct btf *other = NULL;
	chain_create(&chain, &old);
	struct error *error = (old ? btf_open : btf_open_old_strings)(
		chain.data[2], chain.size[2], chain.levels[1], "extra", &other);
	if (!error)
		error = btf_check_base(other);
	CHECK_FAILS(error, "");
	btf_close(other);
	chain_destroy(&chain);
}

/* --- a base that is another ------------------------------------------------------------------ */

static void check_wrong_base(struct libbpf_btf *other, const struct chain *chain, const char *why)
{
	size_t size;
	uint8_t *data = sample_bytes(other, false, &size);
	struct btf *base = NULL, *split = NULL;
	CHECK_OK(btf_open(data, size, NULL, "other", &base));
	struct error *error = btf_open(chain->data[1], chain->size[1], base, "module", &split);
	if (!error)
		error = btf_check_base(split);
	CHECK_FAILS(error, why);
	btf_close(split);
	btf_close(base);
	free(data);
	btf__free(other);
}

static void test_wrong_base(void)
{
	struct chain chain = { .size = { 0 } };
	bool old;
	chain_create(&chain, &old);
	struct libbpf_btf *shorter = btf__new_empty();
	btf__add_int(shorter, "int", 4, 1);
	check_wrong_base(
		shorter, &chain,
		"its base is not this other (1 types, 5 bytes of strings), or it is damaged");
	struct libbpf_btf *longer = sample_create();
	btf__add_struct(longer, "one_more", 0);
	check_wrong_base(longer, &chain, "has a name in the middle of a string");
	/* As many strings, other types: the second id is a variable. */
	struct libbpf_btf *shuffled = sample_create();
	sample_words(shuffled, 2)[1] = BTF_VAR << 24;
	check_wrong_base(shuffled, &chain, "mentions");
	chain_destroy(&chain);
}

static void test_split_or_whole(void)
{
	struct chain chain = { .size = { 0 } };
	bool old;
	chain_create(&chain, &old);
	for (int i = 0; i < 3; i++)
		CHECK_U64(btf_is_split(&(struct bytes){ chain.data[i], chain.size[i], false }),
			  i > 0);
	CHECK(!btf_is_split(&(struct bytes){ (const uint8_t *)"no BTF", 6, false }));
	chain_destroy(&chain);
}

static void test_of_another_kernel(void)
{
	struct libbpf_btf *samples[2] = { sample_create(), sample_create() };
	struct btf *levels[2];
	uint8_t *data[2];
	size_t size;
	int grown = btf__add_struct(samples[0], "grown", 8);
	btf__add_struct(samples[1], "grown", 16);
	(void)grown;
	for (int i = 0; i < 2; i++) {
		data[i] = sample_bytes(samples[i], false, &size);
		CHECK_OK(btf_open(data[i], size, NULL, "vmlinux", &levels[i]));
	}
	CHECK_OK(btf_check_alike(levels[0], levels[0]));
	CHECK_FAILS(btf_check_alike(levels[0], levels[1]),
		    "struct grown has another size (8 bytes, here 16");
	for (int i = 0; i < 2; i++) {
		btf_close(levels[i]);
		free(data[i]);
		btf__free(samples[i]);
	}
}

/* --- distilled bases ----------------------------------------------------------------------------
 */

struct distilled {
	struct libbpf_btf *below, *above;
	uint8_t *data[2];
	size_t size[2];
};

/* "node" by value, `table` behind a pointer, an enum without its values. */
static void distilled_create(struct distilled *distilled, uint32_t node_size,
			     const char *table_name, bool big)
{
	struct libbpf_btf *below = btf__new_empty();
	int number = btf__add_int(below, "int", 4, BTF_INT_SIGNED);
	int node = btf__add_struct(below, "node", node_size);
	int table = btf__add_fwd(below, table_name, BTF_FWD_STRUCT);
	int wide = btf__add_enum(below, "wide", 8);
	struct libbpf_btf *above = btf__new_empty_split(below);
	int pointer = btf__add_ptr(above, table);
	btf__add_struct(above, "own", 48);
	btf__add_field(above, "node", node, 0, 0);
	btf__add_field(above, "tables", pointer, 192, 0);
	btf__add_field(above, "choice", wide, 256, 0);
	btf__add_field(above, "int", number, 320, 0);
	*distilled = (struct distilled){ .below = below, .above = above };
	distilled->data[0] = sample_bytes(below, big, &distilled->size[0]);
	distilled->data[1] = sample_bytes(above, big, &distilled->size[1]);
}

static struct error *relocate(const struct distilled *distilled, const struct btf *base, void **ret,
			      size_t *ret_size)
{
	return btf_relocate(&(struct bytes){ distilled->data[0], distilled->size[0], false },
			    &(struct bytes){ distilled->data[1], distilled->size[1], false }, base,
			    ret, ret_size);
}

static void distilled_destroy(struct distilled *distilled)
{
	free(distilled->data[0]);
	free(distilled->data[1]);
	btf__free(distilled->above);
	btf__free(distilled->below);
}

static void check_relocated(const struct btf *split, const struct btf *base)
{
	static const struct {
		const char *member;
		enum btf_kind kind;
		const char *type;
	} members[] = { { "node", BTF_STRUCT, "node" },
			{ "choice", BTF_ENUM, "wide" },
			{ "int", BTF_INT, "int" } };
	struct type own = named(split, BTF_STRUCT, "own"), target;
	struct type_place place;
	CHECK_OK(btf_check_base(split));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		CHECK(type_find_member(own, members[i].member, &place));
		CHECK_U64(place.type.id, id_of(base, members[i].kind, members[i].type));
	}
	CHECK(type_find_member(own, "tables", &place));
	CHECK(type_target(place.type, &target));
	CHECK_U64(target.id, id_of(base, BTF_STRUCT, "table"));
}

static void test_distilled_base(void)
{
	for (int big = 0; big < 2; big++) {
		struct libbpf_btf *sample = sample_create();
		struct distilled distilled;
		struct btf *base, *split = NULL;
		void *data = NULL;
		size_t size;
		uint8_t *bytes = sample_bytes(sample, big, &size);
		CHECK_OK(btf_open(bytes, size, NULL, "vmlinux", &base));
		distilled_create(&distilled, 24, "table", big);
		CHECK_OK(relocate(&distilled, base, &data, &size));
		CHECK_OK(btf_open(data, size, base, "own", &split));
		check_relocated(split, base);
		btf_close(split);
		free(data);
		distilled_destroy(&distilled);
		btf_close(base);
		free(bytes);
		btf__free(sample);
	}
}

static void test_distilled_base_that_does_not_fit(void)
{
	struct libbpf_btf *sample = sample_create();
	struct distilled distilled;
	struct btf *base;
	void *data;
	size_t size;
	uint8_t *bytes = sample_bytes(sample, false, &size);
	CHECK_OK(btf_open(bytes, size, NULL, "vmlinux", &base));
	distilled_create(&distilled, 32, "table", false);
	CHECK_FAILS(relocate(&distilled, base, &data, &size),
		    "STRUCT node has 32 bytes in the file's base, 24 in vmlinux");
	distilled_destroy(&distilled);
	distilled_create(&distilled, 24, "gone", false);
	CHECK_FAILS(relocate(&distilled, base, &data, &size), "vmlinux has no FWD gone");
	distilled_destroy(&distilled);
	btf_close(base);
	free(bytes);
	btf__free(sample);
}

/* --- our own writer
 * ---------------------------------------------------------------------------------- */

static struct btf_section_entry entry_of(uint32_t id, uint32_t offset, uint32_t size)
{
	return (struct btf_section_entry){ id, offset, size };
}

/* A level with a variable of each way to mention a type. *ret_data: its bytes, the caller's. */
static void write_sample(const struct btf *base, const struct btf *module, void **ret_data,
			 size_t *ret_size)
{
	struct btf_writer *writer = btf_writer_create(base);
	struct type pointer, array;
	CHECK_OK(type_pointer_to(named(base, BTF_STRUCT, "node"), &pointer));
	CHECK_OK(type_array_of(pointer, 5, &array));
	uint32_t plain = btf_writer_variable(writer, "plain", named(base, BTF_INT, "int"), 1);
	uint32_t derived = btf_writer_variable(writer, "derived", array, 0);
	uint32_t copied = btf_writer_variable(writer, "copied",
					      named(module, BTF_STRUCT, "module_struct"), 0);
	btf_writer_tag(writer, "btfcrash:certain", plain);
	const struct btf_section_entry entries[] = { entry_of(plain, 0, 4),
						     entry_of(derived, 8, 40),
						     entry_of(copied, 48, 8) };
	btf_writer_section(writer, ".data", 64, entries, 3);
	CHECK_OK(btf_writer_finish(writer, ret_data, ret_size));
	btf_writer_destroy(writer);
}

static void check_spelled(const struct btf *btf, const char *variable, const char *spelled)
{
	char buffer[100];
	struct btf_type type;
	CHECK(type_get(named(btf, BTF_VAR, variable), &type));
	type_spell((struct type){ btf, type.type }, variable, buffer, sizeof(buffer));
	CHECK_STRING(buffer, spelled);
}

/* libbpf 1.1 declares btf__new_split() and does not export it: through a file. */
static struct libbpf_btf *parse_split(const void *data, size_t size, struct libbpf_btf *base)
{
	char path[] = "/tmp/btf_files_test.XXXXXX";
	int fd = mkstemp(path);
	CHECK_U64(write(fd, data, size), size);
	close(fd);
	struct libbpf_btf *split = btf__parse_raw_split(path, base);
	unlink(path);
	return split;
}

static void test_writer(void)
{
	struct chain chain = { .size = { 0 } };
	struct btf *split = NULL;
	struct type_place place;
	struct btf_type type;
	bool old;
	void *data;
	size_t size;
	chain_create(&chain, &old);
	write_sample(chain.levels[0], chain.levels[1], &data, &size);
	CHECK_OK(btf_open(data, size, chain.levels[0], "written", &split));
	CHECK(!btf_warning(split));
	CHECK_OK(btf_check_base(split));
	check_spelled(split, "plain", "int plain");
	check_spelled(split, "derived", "struct node *derived[5]");
	check_spelled(split, "copied", "struct module_struct copied");
	CHECK(type_find_member(named(split, BTF_STRUCT, "module_struct"), "module_member", &place));
	CHECK_U64(place.type.id, 2);
	CHECK(type_get(named(split, BTF_DECL_TAG, "btfcrash:certain"), &type));
	CHECK_U64(type.type, id_of(split, BTF_VAR, "plain"));
	struct libbpf_btf *theirs = parse_split(data, size, chain.theirs[0]);
	CHECK(theirs);
	if (theirs)
		check_as_libbpf(theirs, split);
	btf__free(theirs);
	btf_close(split);
	free(data);
	chain_destroy(&chain);
}

/* --- ELF files
 * ----------------------------------------------------------------------------------------- */

struct image {
	uint8_t bytes[8192];
	size_t size;
	Elf64_Shdr sections[8];
	uint16_t count;
	char names[128];
	uint32_t names_size;
};

static void add_section(struct image *image, const char *name, uint32_t type, const void *data,
			size_t size)
{
	Elf64_Shdr *section = &image->sections[image->count++];
	*section = (Elf64_Shdr){ .sh_name = image->names_size,
				 .sh_type = type,
				 .sh_offset = image->size,
				 .sh_size = size };
	strcpy(image->names + image->names_size, name);
	image->names_size += (uint32_t)strlen(name) + 1;
	memcpy(image->bytes + image->size, data, size);
	image->size += (size + 7) & ~(size_t)7;
}

static void image_create(struct image *image, const void *btf, size_t size)
{
	static const uint8_t note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\1";
	static const char modinfo[] = "license=GPL\0name=own\0depends=";
	*image = (struct image){ .size = sizeof(Elf64_Ehdr) };
	add_section(image, "", SHT_NULL, "", 0);
	add_section(image, ".note.gnu.build-id", SHT_NOTE, note, sizeof(note) - 1);
	add_section(image, ".modinfo", SHT_PROGBITS, modinfo, sizeof(modinfo));
	add_section(image, ".BTF", SHT_PROGBITS, btf, size);
	add_section(image, ".shstrtab", SHT_STRTAB, image->names, sizeof(image->names));
	/* The names have grown since. */
	memcpy(image->bytes + image->sections[4].sh_offset, image->names, sizeof(image->names));
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			      .e_shoff = image->size,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = image->count,
			      .e_shstrndx = 4 };
	memcpy(image->bytes, &header, sizeof(header));
	memcpy(image->bytes + image->size, image->sections, image->count * sizeof(Elf64_Shdr));
	image->size += image->count * sizeof(Elf64_Shdr);
}

static void test_elf(void)
{
	static struct image image;
	struct libbpf_btf *sample = sample_create();
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct elf_btf found;
	image_create(&image, data, size);
	struct memory_array file;
	memory_array_init(&file, 0, image.bytes, image.size);
	CHECK(elf_is(&(struct bytes){ image.bytes, image.size, false }));
	CHECK_OK(elf_find_btf(&file.memory, &found));
	CHECK_U64(found.btf.size, size);
	CHECK(found.btf.data && !memcmp(found.btf.data, data, size));
	CHECK(!found.base.data);
	CHECK_STRING(found.module, "own");
	CHECK_U64(found.build_id_size, 4);
	CHECK_U64(found.build_id[0], 0xab);
	elf_btf_deinit(&found);
	/* Cut off anywhere, each in a block of its own size. */
	for (size_t length = 0; length < image.size - sizeof(Elf64_Shdr); length += 7) {
		uint8_t *copy = malloc(length ? length : 1);
		memcpy(copy, image.bytes, length);
		memory_array_init(&file, 0, copy, length);
		struct error *error = elf_find_btf(&file.memory, &found);
		CHECK(error);
		error_free(error);
		free(copy);
	}
	free(data);
	btf__free(sample);
}

/* --- mutated
 * ------------------------------------------------------------------------------------------ */

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	FILE *file = path ? fopen(path, "rb") : NULL;
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*ret_size = (size_t)ftell(file);
	rewind(file);
	uint8_t *data = malloc(*ret_size);
	CHECK_U64(fread(data, 1, *ret_size, file), *ret_size);
	fclose(file);
	return data;
}

/* xorshift: the same mutants each time. */
static uint32_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 16);
}

static void ask_some(const struct btf *btf, uint64_t *state)
{
	char spelled[200];
	uint32_t start = btf_start_id(btf), count = btf_end_id(btf) - start;
	for (int i = 0; i < 40 && count; i++) {
		struct type type = { btf, start + next_random(state) % count };
		struct btf_type record;
		uint64_t size, cursor = 0;
		type_spell(type, "x", spelled, sizeof(spelled));
		type_size(type, &size);
		type_alignment(type);
		CHECK(type_get(type, &record));
		if (*record.name)
			btf_find(btf, record.kind, record.name, &cursor);
	}
	error_free(btf_check_base(btf));
}

static void ask_written(const struct btf *btf, const struct btf *base, uint64_t *state)
{
	struct btf_writer *writer = btf_writer_create(base);
	void *data = NULL;
	size_t size;
	uint32_t start = btf_start_id(btf), count = btf_end_id(btf) - start;
	for (int i = 0; i < 4 && count; i++)
		btf_writer_variable(writer, "x",
				    (struct type){ btf, start + next_random(state) % count }, 0);
	struct btf *split = NULL;
	CHECK_OK(btf_writer_finish(writer, &data, &size));
	CHECK_OK(btf_open(data, size, base, "written", &split));
	CHECK(!btf_warning(split));
	btf_close(split);
	free(data);
	btf_writer_destroy(writer);
}

struct mutation {
	const struct btf *below;
	struct distilled distilled;
	uint64_t state;
	uint32_t opened, damaged, relocated;
};

/* A copy in a block of its own size, with a few bytes changed. */
static uint8_t *mutant_of(struct mutation *mutation, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	memcpy(copy, data, size);
	for (uint32_t flips = 1 + next_random(&mutation->state) % 4; flips; flips--)
		copy[next_random(&mutation->state) % size] ^=
			(uint8_t)(1 + next_random(&mutation->state) % 255);
	return copy;
}

static void try_as_level(struct mutation *mutation, const uint8_t *copy, size_t size)
{
	struct btf *btf = NULL;
	struct error *error = btf_open(copy, size, mutation->below, "mutant", &btf);
	if (!error) {
		mutation->opened++;
		mutation->damaged += btf_warning(btf) != NULL;
		ask_some(btf, &mutation->state);
		ask_written(btf, mutation->below, &mutation->state);
	}
	error_free(error);
	btf_close(btf);
}

/* One of the two blobs of a distilled pair. */
static void try_as_distilled(struct mutation *mutation, int which)
{
	struct distilled distilled = mutation->distilled;
	void *data = NULL;
	size_t size;
	uint8_t *copy = mutant_of(mutation, distilled.data[which], distilled.size[which]);
	distilled.data[which] = copy;
	struct error *error = relocate(&distilled, mutation->below, &data, &size);
	if (!error) {
		mutation->relocated++;
		try_as_level(mutation, data, size);
	}
	error_free(error);
	free(data);
	free(copy);
}

static void test_mutated(void)
{
	const char *times = getenv("BTF_MUTATIONS");
	uint32_t wanted = times ? (uint32_t)atoi(times) : 3000;
	struct mutation mutation = { .state = 88172645463325252u };
	struct chain chain = { .size = { 0 } };
	struct btf *base = NULL;
	bool old;
	size_t size, base_size = 0;
	chain_create(&chain, &old);
	distilled_create(&mutation.distilled, 24, "table", false);
	uint8_t *given = read_file(getenv("BTF_MUTATE"), &size);
	uint8_t *given_base = read_file(getenv("BTF_MUTATE_BASE"), &base_size);
	if (given_base)
		CHECK_OK(btf_open(given_base, base_size, NULL, "base", &base));
	if (!given)
		size = chain.size[1];
	for (uint32_t i = 0; i < wanted; i++) {
		uint8_t *copy = mutant_of(&mutation, given ? given : chain.data[1], size);
		mutation.below = base ? base : chain.levels[0];
		try_as_level(&mutation, copy, size);
		free(copy);
		mutation.below = chain.levels[0];
		try_as_distilled(&mutation, i % 2);
	}
	printf("%u mutants: %u opened, %u of these damaged, %u relocated\n", 2 * wanted,
	       mutation.opened, mutation.damaged, mutation.relocated);
	CHECK(mutation.opened > wanted / 10 && mutation.damaged && mutation.relocated);
	btf_close(base);
	free(given);
	free(given_base);
	distilled_destroy(&mutation.distilled);
	chain_destroy(&chain);
}

int main(void)
{
	RUN(test_three_levels_of_libbpf);
	RUN(test_numbering_is_found_out);
	RUN(test_wrong_base);
	RUN(test_split_or_whole);
	RUN(test_of_another_kernel);
	RUN(test_distilled_base);
	RUN(test_distilled_base_that_does_not_fit);
	RUN(test_writer);
	RUN(test_elf);
	RUN(test_mutated);
	return test_finish();
}
