// SPDX-License-Identifier: GPL-3.0-or-later
/* Structs without a name, by the names of their members. */
#include "debugger/infer/hints/unnamed_types.h"
#include "tests/unit/btf_samples.h"
#include <stdlib.h>

static int add_pair(struct libbpf_btf *sample, const char *name, int type, const char *second)
{
	int id = btf__add_struct(sample, name, 8);
	btf__add_field(sample, "seq", type, 0, 0);
	btf__add_field(sample, second, type, 32, 0);
	return id;
}

static int found(struct unnamed_types *types, const struct btf *btf, const char *text)
{
	return (int)unnamed_find(types, btf, text).id;
}

static void test_find(void)
{
	struct libbpf_btf *sample = btf__new_empty();
	struct btf *btf = NULL;
	size_t size;
	int number = btf__add_int(sample, "int", 4, BTF_INT_SIGNED);
	int other = btf__add_int(sample, "unsigned int", 4, 0);
	add_pair(sample, "named", number, "keeper");
	int keeper = add_pair(sample, NULL, number, "keeper");
	int twin = add_pair(sample, NULL, number, "twin");
	add_pair(sample, NULL, number, "twin");
	add_pair(sample, NULL, number, "differs");
	add_pair(sample, NULL, other, "differs");
	int either = btf__add_union(sample, NULL, 4);
	btf__add_field(sample, "seq", number, 0, 0);
	btf__add_struct(sample, NULL, 0);
	uint8_t *data = sample_bytes(sample, false, &size);
	CHECK_OK(btf_open(data, size, NULL, "vmlinux", &btf));
	struct unnamed_types types = { .items = NULL };
	CHECK_U64(found(&types, btf, "struct {seq,keeper}"), keeper);
	CHECK_U64(found(&types, btf, "struct {seq,twin}"), twin);
	CHECK_U64(found(&types, btf, "struct {seq,differs}"), 0);
	CHECK_U64(found(&types, btf, "union {seq}"), either);
	static const char *const absent[] = { "struct {seq}",
					      "struct {keeper,seq}",
					      "struct {seq,keep}",
					      "struct {seq,keeper,x}",
					      "struct {seq,keeper}*",
					      "struct {seq,keeper",
					      "union {seq,keeper}",
					      "struct {}",
					      "struct {",
					      "struct named",
					      "" };
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		CHECK_U64(found(&types, btf, absent[i]), 0);
	CHECK(unnamed_is_spelled("union {a}") && !unnamed_is_spelled("struct named"));
	unnamed_types_deinit(&types);
	btf_close(btf);
	free(data);
	btf__free(sample);
}

/* A module's are not the kernel's, the kernel's are the module's too. */
static void test_levels(void)
{
	struct libbpf_btf *base = btf__new_empty();
	int number = btf__add_int(base, "int", 4, BTF_INT_SIGNED);
	int ours = add_pair(base, NULL, number, "base");
	struct libbpf_btf *split = btf__new_empty_split(base);
	int theirs = add_pair(split, NULL, number, "split");
	struct btf *kernel = NULL, *module = NULL;
	size_t base_size, split_size;
	uint8_t *base_data = sample_bytes(base, false, &base_size);
	uint8_t *split_data = sample_bytes(split, false, &split_size);
	CHECK_OK(btf_open(base_data, base_size, NULL, "vmlinux", &kernel));
	CHECK_OK(btf_open(split_data, split_size, kernel, "module", &module));
	struct unnamed_types types = { .items = NULL };
	CHECK_U64(found(&types, module, "struct {seq,split}"), theirs);
	CHECK_U64(found(&types, module, "struct {seq,base}"), ours);
	CHECK_U64(found(&types, kernel, "struct {seq,base}"), ours);
	CHECK_U64(found(&types, kernel, "struct {seq,split}"), 0);
	unnamed_types_deinit(&types);
	btf_close(module);
	btf_close(kernel);
	free(base_data);
	free(split_data);
	btf__free(split);
	btf__free(base);
}

int main(void)
{
	RUN(test_find);
	RUN(test_levels);
	return test_finish();
}
