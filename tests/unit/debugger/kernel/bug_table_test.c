// SPDX-License-Identifier: GPL-3.0-or-later
/* A kernel with four BUGs and WARNs, one of which is lost, and a module with two. */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/bug_table.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TEXT	0xffffffff81000000u
#define TABLES	0xffffffff83000000u
#define KERNELS 4u

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_bug {
	int32_t address, file;
	uint16_t line, flags;
};

struct raw_module {
	uint64_t bug_table;
	uint32_t num_bugs;
};

struct raw_data {
	struct raw_bug kernel[KERNELS], module[2];
	struct raw_module modules[2];
	char files[2][32];
};

struct machine {
	struct memory memory;
	struct target target;
	struct module modules[2];
	struct raw_data data;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
	uint64_t excluded; /* a byte; 0: none */
	struct bug found[8];
	const struct module *of[8];
	size_t count;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static struct error *machine_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct machine *machine = (struct machine *)memory;
	uint64_t offset = address - DATA;
	if (offset >= sizeof(machine->data) || size > sizeof(machine->data) - offset ||
	    machine->excluded - address < size)
		return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
	memcpy(buffer, (uint8_t *)&machine->data + offset, size);
	return NULL;
}

static void put_bug(struct raw_bug *bug, uint64_t at, uint64_t address, unsigned int file,
		    uint16_t line, uint16_t flags)
{
	bug->address = (int32_t)(address - (at + offsetof(struct raw_bug, address)));
	bug->file = (int32_t)(AT(files[file]) - (at + offsetof(struct raw_bug, file)));
	bug->line = line;
	bug->flags = flags;
}

static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	snprintf(data->files[0], sizeof(data->files[0]), "mm/slub.c");
	snprintf(data->files[1], sizeof(data->files[1]), "drivers/lab.c");
	for (unsigned int i = 0; i < KERNELS; i++)
		put_bug(&data->kernel[i], AT(kernel[i]), TEXT + i * 16, 0, (uint16_t)(100 + i),
			(uint16_t)(i == 1   ? 0x901
				   : i == 3 ? 0x913
					    : 0));
	for (unsigned int i = 0; i < 2; i++)
		put_bug(&data->module[i], AT(module[i]), TEXT + 0x1000000 + i, 1, 7, 0x903);
	data->modules[0] = (struct raw_module){ AT(module), 2 };
	data->modules[1] = (struct raw_module){ AT(module), UINT32_MAX };
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->source = btf__new_empty();
	int int_ = btf__add_int(btf, "int", 4, 1), ushort = btf__add_int(btf, "ushort", 2, 0);
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	btf__add_struct(btf, "bug_entry", sizeof(struct raw_bug));
	btf__add_field(btf, "bug_addr_disp", int_, 0, 0);
	btf__add_field(btf, "file_disp", int_, 32, 0);
	btf__add_field(btf, "line", ushort, 64, 0);
	btf__add_field(btf, "flags", ushort, 80, 0);
	btf__add_struct(btf, "module", sizeof(struct raw_module));
	btf__add_field(btf, "bug_table", ulong, 0, 0);
	btf__add_field(btf, "num_bugs", uint, 64, 0);
	uint32_t size = 0;
	const void *raw = btf__raw_data(btf, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &machine->btf));
	machine->target.btf = machine->btf;
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ TEXT, 'T', "_stext" },
		{ AT(kernel), 'D', "__start___bug_table" },
		{ AT(kernel[KERNELS]), 'D', "__stop___bug_table" },
		{ DATA + 4096, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->memory = (struct memory){ .read = machine_read, .name = "kernel", .word_size = 8 };
	for (unsigned int i = 0; i < 2; i++)
		machine->modules[i] = (struct module){ .address = AT(modules[i]) };
	machine->target = (struct target){ .memory = &machine->memory,
					   .modules = machine->modules,
					   .module_count = 2,
					   .modules_loaded = true };
	image_symbols(&machine->tables, TABLES, symbols, ARRAY_COUNT(symbols),
		      &machine->target.symbols);
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	symtab_destroy(machine->target.symbols);
	btf_close(machine->btf);
	btf__free(machine->source);
	image_destroy(&machine->tables);
	free(machine);
}

static struct error *take(void *context, const struct module *module, const struct bug *bug)
{
	struct machine *machine = context;
	if (machine->count == ARRAY_COUNT(machine->found))
		return error_create(ERROR_OTHER, "enough");
	machine->of[machine->count] = module;
	machine->found[machine->count++] = *bug;
	return NULL;
}

static void test_all(void)
{
	struct machine *machine = machine_create();
	CHECK_OK(bug_each(&machine->target, take, machine));
	CHECK_U64(machine->count, KERNELS + 2);
	for (unsigned int i = 0; i < KERNELS; i++) {
		const struct bug *bug = &machine->found[i];
		CHECK_U64(bug->address, TEXT + i * 16);
		CHECK_U64(bug->entry, AT(kernel[i]));
		CHECK_U64(bug->line, 100 + i);
		CHECK_STRING(bug->file, "mm/slub.c");
		CHECK_U64(bug->is_warning, i == 1 || i == 3);
		CHECK_U64(bug->is_once, i == 3);
		CHECK_U64(bug->is_near, i == 3);
		CHECK(!machine->of[i]);
	}
	CHECK(machine->of[KERNELS] == &machine->modules[0]);
	CHECK_STRING(machine->found[KERNELS + 1].file, "drivers/lab.c");
	CHECK_U64(machine->found[KERNELS + 1].address, TEXT + 0x1000001);
	machine_destroy(machine);
}

/* What cannot be read costs itself; a visitor's error ends it, and so does Ctrl-C. */
static void test_broken(void)
{
	struct machine *machine = machine_create();
	machine->excluded = AT(kernel[2].line);
	CHECK_OK(bug_each(&machine->target, take, machine));
	CHECK_U64(machine->count, KERNELS + 1);
	CHECK_U64(machine->found[2].line, 103);
	machine->count = ARRAY_COUNT(machine->found);
	CHECK_FAILS(bug_each(&machine->target, take, machine), "enough");
	interrupt_flag = 1;
	machine->count = 0;
	CHECK_FAILS(bug_each(&machine->target, take, machine), "interrupted");
	interrupt_clear();
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_all);
	RUN(test_broken);
	return test_finish();
}
