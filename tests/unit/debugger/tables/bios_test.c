// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The table of bios: chains of requests that are whole, that go in a ring, that meet, that lead to
 * nowhere, and with every byte changed.
 */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define NOWHERE	  0xffff8880dead0000u
#define TAGS	  3u
#define BIOS	  4u
#define IN_FLIGHT 1u

extern const struct table table_bios;

struct raw_request {
	uint64_t queue, hardware, sector, bio;
	uint32_t state, bytes;
	int32_t tag, pad;
};

struct raw_bio {
	uint64_t next, sector;
	uint32_t bytes, operation;
	uint64_t private, end;
	uint16_t pieces;
	uint8_t status, pad[5];
};

struct raw_data {
	uint64_t filesystem;		       /* the variable */
	uint64_t inodes[2];		       /* of the super block: the head of the list */
	uint64_t device, inode[3];	       /* of the device: links, super block */
	uint64_t disk, queue_of_disk;	       /* its first device, its queue */
	char name[32];			       /* of the disk */
	uint64_t queue[2];		       /* an xarray of one entry */
	uint64_t hardware, number, its_queue;  /* which has its tags, and its place */
	uint64_t tag_count, tags, table[TAGS]; /* nr_tags, rqs */
	struct raw_request requests[TAGS];
	struct raw_bio bios[BIOS];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* The first request has two bios, the second two more, the third is not in flight. */
static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){
		.filesystem = AT(inodes),
		.inodes = { AT(inode), AT(inode) },
		.device = AT(disk),
		.inode = { AT(inodes), AT(inodes), AT(inodes) },
		.disk = AT(device),
		.queue_of_disk = AT(queue),
		.name = "vda",
		.queue = { 0, AT(hardware) },
		.hardware = AT(tag_count),
		.its_queue = AT(queue),
		.tag_count = TAGS,
		.tags = AT(table),
	};
	for (unsigned int i = 0; i < TAGS; i++) {
		data->table[i] = AT(requests[i]);
		data->requests[i] = (struct raw_request){ .queue = AT(queue),
							  .hardware = AT(hardware),
							  .bio = i < 2 ? AT(bios[2 * i]) : NOWHERE,
							  .state = i < 2 ? IN_FLIGHT : 0,
							  .tag = (int32_t)i };
	}
	for (unsigned int i = 0; i < BIOS; i++)
		data->bios[i] = (struct raw_bio){ .next = i % 2 ? 0 : AT(bios[i + 1]),
						  .sector = 8 * i,
						  .operation = 0x800 | i / 2,
						  .bytes = 4096,
						  .pieces = 1 };
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int ushort = btf__add_int(btf, "short unsigned int", 2, 0);
	int letter = btf__add_int(btf, "char", 1, 0);
	btf__add_enum(btf, "mq_rq_state", 4);
	btf__add_enum_value(btf, "MQ_RQ_IN_FLIGHT", IN_FLIGHT);
	btf__add_enum(btf, "req_op", 4);
	btf__add_enum_value(btf, "REQ_OP_READ", 0);
	btf__add_enum_value(btf, "REQ_OP_WRITE", 1);
	int list = add_list_head(btf);
	add_devices(btf, ulong, list, add_gendisk(btf, ulong, letter, 48, 16), 32, 8);
	int to_hardware = add_queue_of_hardware(btf, ulong, letter);
	int place = btf__add_struct(btf, "bvec_iter", 16);
	add_member(btf, "bi_sector", ulong, 0);
	add_member(btf, "bi_size", uint_, 8);
	int to_bio = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "bio", sizeof(struct raw_bio));
	add_member(btf, "bi_next", to_bio, 0);
	add_member(btf, "bi_iter", place, offsetof(struct raw_bio, sector));
	add_member(btf, "bi_private", ulong, offsetof(struct raw_bio, private));
	add_member(btf, "bi_end_io", ulong, offsetof(struct raw_bio, end));
	add_member(btf, "bi_opf", uint_, offsetof(struct raw_bio, operation));
	add_member(btf, "bi_vcnt", ushort, offsetof(struct raw_bio, pieces));
	add_member(btf, "bi_status", letter, offsetof(struct raw_bio, status));
	btf__add_struct(btf, "request", sizeof(struct raw_request));
	add_member(btf, "q", ulong, 0);
	add_member(btf, "mq_hctx", to_hardware, offsetof(struct raw_request, hardware));
	add_member(btf, "__sector", ulong, offsetof(struct raw_request, sector));
	add_member(btf, "bio", to_bio, offsetof(struct raw_request, bio));
	add_member(btf, "state", uint_, offsetof(struct raw_request, state));
	add_member(btf, "__data_len", uint_, offsetof(struct raw_request, bytes));
	add_member(btf, "tag", int_, offsetof(struct raw_request, tag));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(filesystem), 'd', "blockdev_superblock" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_bios, ret_problem);
}

#define ROW_0 "vda|READ|0|4096|1|0|-;"
#define ROW_1 "vda|READ|8|4096|1|0|-;"
#define ROW_2 "vda|WRITE|16|4096|1|0|-;"
#define ROW_3 "vda|WRITE|24|4096|1|0|-;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem), ROW_0 ROW_1 ROW_2 ROW_3);
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* One that follows itself; what the other request has is still told. */
	data->bios[1].next = AT(bios[1]);
	CHECK_STRING(rows_of(machine, &has_problem), ROW_0 ROW_1 ROW_2 ROW_3);
	CHECK(has_problem);
	/* Back to the first, and to what another request had: each comes once. */
	data->bios[1].next = AT(bios[0]);
	data->bios[2].next = AT(bios[1]);
	CHECK_STRING(rows_of(machine, &has_problem), ROW_0 ROW_1 ROW_2);
	CHECK(has_problem);
	/* All requests have one chain, which is a ring. */
	data->requests[1].bio = AT(bios[1]);
	CHECK_STRING(rows_of(machine, &has_problem), ROW_0 ROW_1);
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->bios[0].next = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), ROW_0 "vda|-|-|-|-|-|-;" ROW_2 ROW_3);
	CHECK(has_problem);
	data->tag_count = UINT32_MAX;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	put_data(data);
	data->queue[1] = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	data->inodes[0] = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= 2 * BIOS);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_wild);
	RUN(test_mutated);
	return test_finish();
}
