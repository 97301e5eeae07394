// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Every record our reader decodes, against libbpf: on samples in both byte orders, and on the BTF
 * of real kernels: testdata/cache (or $BTFCRASH_CACHE), and what BTFCRASH_TEST_BTF names ("BASE" or
 * "BASE:SPLIT", several with blanks between).
 */
#include "tests/unit/btf_samples.h"

#include <glob.h>

static int compared;

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*ret_size = (size_t)ftell(file);
	rewind(file);
	uint8_t *data = malloc(*ret_size + 1);
	if (fread(data, 1, *ret_size, file) != *ret_size)
		*ret_size = 0;
	fclose(file);
	return data;
}

/* --- record by record ------------------------------------------------------------- */

static void compare_members(const struct btf_type *type, const struct libbpf_type *other)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member_as_stored(type, i, &member); i++) {
		CHECK_U64(member.type, btf_members(other)[i].type);
		CHECK_U64(member.bit_offset, btf_member_bit_offset(other, i));
		CHECK_U64(member.bit_size, btf_member_bitfield_size(other, i));
	}
	CHECK(!btf_member(type, type->vlen, &member));
}

static void compare_enumerators(const struct btf_type *type, const struct libbpf_type *other,
				const struct libbpf_btf *theirs)
{
	struct btf_enumerator enumerator;
	bool wide = btf_is_enum64(other);
	for (uint32_t i = 0; btf_enumerator(type, i, &enumerator); i++) {
		uint32_t name = wide ? btf_enum64(other)[i].name_off : btf_enum(other)[i].name_off;
		CHECK_STRING(enumerator.name, btf__name_by_offset(theirs, name));
		if (wide)
			CHECK_U64(enumerator.value, btf_enum64_value(&btf_enum64(other)[i]));
		else
			CHECK_U64((uint32_t)enumerator.value, (uint32_t)btf_enum(other)[i].val);
	}
	CHECK(!btf_enumerator(type, type->vlen, &enumerator));
}

static void compare_params(const struct btf_type *type, const struct libbpf_type *other)
{
	struct btf_param param;
	for (uint32_t i = 0; btf_param(type, i, &param); i++)
		CHECK_U64(param.type, btf_params(other)[i].type);
	CHECK(!btf_param(type, type->vlen, &param));
}

static void compare_entries(const struct btf_type *type, const struct libbpf_type *other)
{
	struct btf_section_entry entry;
	for (uint32_t i = 0; btf_section_entry(type, i, &entry); i++) {
		CHECK_U64(entry.type, btf_var_secinfos(other)[i].type);
		CHECK_U64(entry.offset, btf_var_secinfos(other)[i].offset);
		CHECK_U64(entry.size, btf_var_secinfos(other)[i].size);
	}
	CHECK(!btf_section_entry(type, type->vlen, &entry));
}

static void compare_array(const struct btf_type *type, const struct libbpf_type *other)
{
	CHECK_U64(type->type, btf_array(other)->type);
	CHECK_U64(type->array_index_type, btf_array(other)->index_type);
	CHECK_U64(type->array_count, btf_array(other)->nelems);
}

static void compare_payload(const struct btf_type *type, const struct libbpf_type *other,
			    const struct libbpf_btf *theirs)
{
	switch (type->kind) {
	case BTF_INT:
		CHECK_U64(type->int_bits, btf_int_bits(other));
		CHECK_U64(type->int_offset, btf_int_offset(other));
		CHECK_U64(type->int_encoding, btf_int_encoding(other));
		break;
	case BTF_ARRAY:
		compare_array(type, other);
		break;
	case BTF_STRUCT:
	case BTF_UNION:
		compare_members(type, other);
		break;
	case BTF_ENUM:
	case BTF_ENUM64:
		compare_enumerators(type, other, theirs);
		break;
	case BTF_FUNC_PROTO:
		compare_params(type, other);
		break;
	case BTF_DATASEC:
		compare_entries(type, other);
		break;
	case BTF_VAR:
		CHECK_U64(type->extra, btf_var(other)->linkage);
		break;
	case BTF_DECL_TAG:
		CHECK_U64(type->extra, btf_decl_tag(other)->component_idx);
		break;
	default:
		break;
	}
}

static bool has_size(enum btf_kind kind)
{
	return kind == BTF_INT || kind == BTF_FLOAT || kind == BTF_STRUCT || kind == BTF_UNION ||
	       kind == BTF_ENUM || kind == BTF_ENUM64 || kind == BTF_DATASEC;
}

static void compare_record(const struct btf *ours, const struct libbpf_btf *theirs, uint32_t id)
{
	struct btf_type type;
	const struct libbpf_type *other = btf__type_by_id(theirs, id);
	CHECK(btf_get(ours, id, &type));
	CHECK_U64(type.kind, btf_kind(other));
	CHECK_U64(type.id, id);
	CHECK_U64(type.vlen, btf_vlen(other));
	CHECK_U64(type.kind_flag, btf_kflag(other));
	CHECK_STRING(type.name, btf__name_by_offset(theirs, other->name_off));
	if (has_size(type.kind))
		CHECK_U64(type.size, other->size);
	else if (type.kind != BTF_ARRAY)
		CHECK_U64(type.type, other->type);
	compare_payload(&type, other, theirs);

	uint64_t size = 0;
	int64_t resolved = btf__resolve_size(theirs, id);
	bool sized = type_size((struct type){ ours, id }, &size);
	CHECK_U64(sized, resolved >= 0);
	if (sized)
		CHECK_U64(size, resolved);
}

/* The first of a name, as libbpf finds it from the start of the base on. */
static void compare_names(const struct btf *ours, const struct libbpf_btf *theirs)
{
	struct btf_type type;
	uint32_t step = 1 + (btf_end_id(ours) - btf_start_id(ours)) / 256;
	for (uint32_t id = btf_start_id(ours); btf_get(ours, id, &type); id++) {
		uint64_t cursor = 0;
		if (!type.name[0])
			continue;
		uint32_t found = btf_find(ours, type.kind, type.name, &cursor);
		/* libbpf's look-up is a scan: of a kernel, ask for some. */
		if (!btf_base(ours) && type.kind != BTF_ENUM && id % step == 0)
			CHECK_U64(found, btf__find_by_name_kind(theirs, type.name, type.kind));
		/* All of a name are found, in order, and this one is among them. */
		while (found && found != id) {
			uint32_t next = btf_find(ours, type.kind, type.name, &cursor);
			CHECK(next > found);
			found = next;
		}
		CHECK_U64(found, id);
	}
}

static void compare_level(const struct btf *ours, const struct libbpf_btf *theirs)
{
	CHECK_U64(btf_end_id(ours), btf__type_cnt(theirs));
	CHECK_U64(btf_pointer_size(ours), btf__pointer_size(theirs));
	for (uint32_t id = btf_start_id(ours); id < btf_end_id(ours) && !test_bad; id++)
		compare_record(ours, theirs, id);
	if (!test_bad)
		compare_names(ours, theirs);
	compared++;
}

/* --- samples ------------------------------------------------------------------------ */

static void test_sample_both_orders(void)
{
	for (int big = 0; big < 2; big++) {
		struct libbpf_btf *sample = sample_create();
		size_t size;
		uint8_t *data = sample_bytes(sample, big, &size);
		struct btf *btf;
		CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
		CHECK_U64(btf_is_big_endian(btf), big);
		CHECK(!btf_warning(btf));
		compare_level(btf, sample);
		btf_close(btf);
		free(data);
		btf__free(sample);
	}
}

static void test_split(void)
{
	struct libbpf_btf *base = sample_create();
	struct libbpf_btf *split = btf__new_empty_split(base);
	int fresh = btf__add_struct(split, "fresh", 8);
	btf__add_field(split, "next", 6, 0, 0);
	/* Repeats a name of the base: the own one is found first. */
	int node = btf__add_struct(split, "node", 4);
	btf__add_field(split, "own", 1, 0, 0);
	btf__add_ptr(split, fresh);
	size_t base_size, size;
	uint8_t *base_data = sample_bytes(base, false, &base_size);
	uint8_t *data = sample_bytes(split, false, &size);
	struct btf *below, *btf;
	CHECK_OK(btf_open(base_data, base_size, NULL, "base", &below));
	CHECK_OK(btf_open(data, size, below, "split", &btf));
	CHECK_U64(btf_start_id(btf), btf_end_id(below));
	CHECK_U64(btf_string_start(btf), btf_string_size(below));
	compare_level(btf, split);
	uint64_t cursor = 0;
	CHECK_U64(btf_find(btf, BTF_STRUCT, "node", &cursor), node);
	CHECK_U64(btf_find(btf, BTF_STRUCT, "node", &cursor), id_of(below, BTF_STRUCT, "node"));
	CHECK_U64(btf_find(btf, BTF_STRUCT, "node", &cursor), 0);
	CHECK_U64(id_of(btf, BTF_INT, "char"), 3);
	btf_close(btf);
	btf_close(below);
	free(base_data);
	free(data);
	btf__free(split);
	btf__free(base);
}

static void test_equal_names_before_and_after_index(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	int ids[3];
	btf__add_int(sample, "int", 4, 0);
	for (int i = 0; i < 3; i++) {
		ids[i] = btf__add_struct(sample, "twin", 4u << i);
		btf__add_func_proto(sample, 0);
	}
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf;
	CHECK_OK(btf_open(data, size, NULL, "twins", &btf));
	uint64_t cursor = 0;
	for (int round = 0; round < 20; round++, cursor = 0) {
		for (int i = 0; i < 3; i++)
			CHECK_U64(btf_find(btf, BTF_STRUCT, "twin", &cursor), ids[i]);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "twin", &cursor), 0);
		cursor = 0;
		CHECK_U64(btf_find(btf, BTF_UNION, "twin", &cursor), 0);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "win", &cursor), 0);
		CHECK_U64(btf_find(btf, BTF_STRUCT, "", &cursor), 0);
	}
	btf_close(btf);
	free(data);
	btf__free(sample);
}

static void test_enumerators(void)
{
	struct libbpf_btf *sample = sample_create();
	size_t size;
	uint8_t *data = sample_bytes(sample, false, &size);
	struct btf *btf;
	struct btf_enumerator found;
	uint32_t id;
	CHECK_OK(btf_open(data, size, NULL, "sample", &btf));
	CHECK(btf_find_enumerator(btf, "BLUE", &id, &found));
	CHECK_U64(id, id_of(btf, BTF_ENUM, "color"));
	CHECK_U64(found.value, 4000000000u);
	CHECK(btf_find_enumerator(btf, "MINUS", &id, &found));
	CHECK_U64(found.value, -1);
	CHECK(btf_find_enumerator(btf, "WIDE_MINUS", &id, &found));
	CHECK_U64(found.value, -5);
	CHECK_U64(id, id_of(btf, BTF_ENUM, "wide"));
	CHECK(btf_find_enumerator(btf, "LONE", &id, &found));
	CHECK_U64(found.value, 7);
	CHECK(!btf_find_enumerator(btf, "NONE", &id, &found));
	/* By an index, from some questions on. */
	for (int i = 0; i < 8; i++) {
		CHECK(btf_find_enumerator(btf, "WIDE_MINUS", &id, &found));
		CHECK_STRING(found.name, "WIDE_MINUS");
		CHECK(btf_find_enumerator(btf, "LONE", &id, &found));
		CHECK_STRING(found.name, "LONE");
		CHECK(!btf_find_enumerator(btf, "NONE", &id, &found));
	}
	btf_close(btf);
	free(data);
	btf__free(sample);
}

/* --- real kernels --------------------------------------------------------------------- */

static void compare_file(const char *path, const struct btf *base, struct libbpf_btf *other_base)
{
	size_t size;
	uint8_t *data = read_file(path, &size);
	struct libbpf_btf *theirs = btf__parse_raw_split(path, other_base);
	struct btf *ours = NULL;
	CHECK(data && theirs);
	if (data && theirs)
		CHECK_OK(btf_open(data, size, base, path, &ours));
	if (ours)
		compare_level(ours, theirs);
	btf_close(ours);
	btf__free(theirs);
	free(data);
}

/* `base`, and what lies upon it. */
static void compare_files(const char *base, char *const *splits, size_t count)
{
	size_t size;
	uint8_t *data = read_file(base, &size);
	struct libbpf_btf *theirs = btf__parse_raw(base);
	struct btf *ours = NULL;
	CHECK(data && theirs);
	compare_file(base, NULL, NULL);
	if (data && theirs)
		CHECK_OK(btf_open(data, size, NULL, base, &ours));
	for (size_t i = 0; ours && i < count && !test_bad; i++)
		if (strcmp(splits[i], base))
			compare_file(splits[i], ours, theirs);
	btf_close(ours);
	btf__free(theirs);
	free(data);
}

static void test_named_files(void)
{
	const char *list = getenv("BTFCRASH_TEST_BTF");
	char *copy = strdup(list ? list : ""), *rest = copy, *word;
	while ((word = strsep(&rest, " ")) && !test_bad) {
		char *split = strchr(word, ':');
		if (split)
			*split++ = 0;
		if (*word)
			compare_files(word, &split, split ? 1 : 0);
	}
	free(copy);
}

static void test_cached_kernels(void)
{
	glob_t bases, splits;
	const char *cache = getenv("BTFCRASH_CACHE");
	char kernels[512];
	/* NAME of testdata/kernels: at most a dot and digits, unlike the folders that it links to.
	 */
	snprintf(kernels, sizeof(kernels), "%s/[0-9].{?,??}/boot1/truth/btf/vmlinux",
		 cache && *cache ? cache : "testdata/cache");
	if (glob(kernels, GLOB_BRACE, NULL, &bases))
		return;
	for (size_t i = 0; i < bases.gl_pathc && !test_bad; i++) {
		char pattern[512];
		snprintf(pattern, sizeof(pattern), "%.*s*",
			 (int)(strlen(bases.gl_pathv[i]) - strlen("vmlinux")), bases.gl_pathv[i]);
		if (!glob(pattern, 0, NULL, &splits)) {
			compare_files(bases.gl_pathv[i], splits.gl_pathv, splits.gl_pathc);
			globfree(&splits);
		}
	}
	globfree(&bases);
}

int main(void)
{
	RUN(test_sample_both_orders);
	RUN(test_split);
	RUN(test_equal_names_before_and_after_index);
	RUN(test_enumerators);
	RUN(test_named_files);
	RUN(test_cached_kernels);
	printf("%d levels compared with libbpf\n", compared);
	return test_finish();
}
