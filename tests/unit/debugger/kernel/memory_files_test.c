// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The largest files of tmpfs: which filesystems count, the order of the files, inodes that go in
 * circles or nowhere.
 */
#include "base/array.h"
#include "debugger/kernel/memory_files.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define TMPFS	0x01021994u
#define SUPERS	2u
#define INODES	5u

struct raw_list {
	uint64_t next, prev;
};

struct raw_super {
	struct raw_list list;
	uint64_t magic;
	struct raw_list inodes;
};

struct raw_inode {
	uint64_t number, super;
	struct raw_list list;
	uint64_t pages;
};

struct raw_data {
	struct raw_list supers;
	struct raw_super super[SUPERS];
	struct raw_inode inodes[INODES];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* All inodes are the first one's; the other has none, and is no tmpfs. */
static void put_data(struct machine *machine)
{
	static const uint64_t pages[INODES] = { 3, 0, 900, 20, 7 };
	struct raw_data *data = &machine->data;
	uint64_t head = AT(super[0].inodes);
	data->supers = (struct raw_list){ AT(super[0]), AT(super[1]) };
	data->super[0] =
		(struct raw_super){ .list = { AT(super[1]), AT(supers) },
				    .magic = TMPFS,
				    .inodes = { AT(inodes[0].list), AT(inodes[INODES - 1].list) } };
	data->super[1] =
		(struct raw_super){ .list = { AT(supers), AT(super[0]) },
				    .inodes = { AT(super[1].inodes), AT(super[1].inodes) } };
	for (unsigned int i = 0; i < INODES; i++)
		data->inodes[i] = (struct raw_inode){
			.list = { i + 1 < INODES ? AT(inodes[i + 1].list) : head,
				  i ? AT(inodes[i - 1].list) : head },
			.super = AT(super[0]),
			.pages = pages[i],
		};
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int space = btf__add_struct(btf, "address_space", 8);
	add_member(btf, "nrpages", ulong, 0);
	btf__add_struct(btf, "super_block", sizeof(struct raw_super));
	add_member(btf, "s_list", list, 0);
	add_member(btf, "s_magic", ulong, offsetof(struct raw_super, magic));
	add_member(btf, "s_inodes", list, offsetof(struct raw_super, inodes));
	btf__add_struct(btf, "inode", sizeof(struct raw_inode));
	add_member(btf, "i_ino", ulong, 0);
	add_member(btf, "i_sb", ulong, offsetof(struct raw_inode, super));
	add_member(btf, "i_sb_list", list, offsetof(struct raw_inode, list));
	add_member(btf, "i_data", space, offsetof(struct raw_inode, pages));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(supers), 'd', "super_blocks" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static void test_largest(void)
{
	struct machine *machine = machine_create();
	struct memory_files files;
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK_U64(files.files, 4);
	CHECK_U64(files.pages, 930);
	CHECK_U64(files.count, MEMORY_FILES_TOP);
	CHECK_U64(files.items[0].inode, AT(inodes[2]));
	CHECK_U64(files.items[0].pages, 900);
	CHECK_U64(files.items[1].pages, 20);
	CHECK_U64(files.items[2].pages, 7);
	/* Names need more than there is here. */
	CHECK_STRING(files.items[0].name, "");
	/* A filesystem on a disk has its pages elsewhere, too. */
	machine->data.super[0].magic = 0xef53;
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK_U64(files.count, 0);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	struct memory_files files;
	data->inodes[1].list.next = AT(inodes[0].list);
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK(files.files <= INODES);
	/* What is another filesystem's ends the list. */
	put_data(machine);
	data->inodes[3].super = AT(super[1]);
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK_U64(files.files, 2);
	put_data(machine);
	data->inodes[1].list.next = NOWHERE;
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	/* What the other end of the list leads to is found all the same. */
	CHECK_U64(files.pages, 930);
	data->super[0].inodes = (struct raw_list){ NOWHERE, NOWHERE };
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK_U64(files.count, 0);
	data->supers = (struct raw_list){ NOWHERE, 8 };
	CHECK_OK(memory_files_read(&machine->kernel.target, &files));
	CHECK_U64(files.count, 0);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_largest);
	RUN(test_wild);
	return test_finish();
}
