// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whether a disk has a request for what somebody waits for: by the bio, by what its end is told of,
 * by a page that it is for; and segments that have no end, or are nowhere.
 */
#include "debugger/kernel/bio_place.h"

#include "base/array.h"
#include "tests/unit/disk_types.h"

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define NOWHERE	  0xffff8880dead0000u
#define PAGES	  0xffffea0000000000u /* struct pages, which nobody reads */
#define PAGE_OF	  64u		      /* bytes of each */
#define TAGS	  2u
#define VECTORS	  3u
#define IN_FLIGHT 1u
#define LIMIT	  1000u

struct raw_request {
	uint64_t queue, hardware, sector, bio;
	uint32_t state, bytes;
	int32_t tag, pad;
};

struct raw_bio {
	uint64_t next, private, vectors;
	uint32_t left, index;
};

struct raw_vector {
	uint64_t page;
	uint32_t length, offset;
};

struct raw_data {
	uint64_t device;		      /* leads to the disk */
	uint64_t disk, queue_of_disk, fops;   /* its first device, its queue */
	uint64_t submit;		      /* of fops */
	uint64_t queue[2];		      /* an xarray of one entry */
	uint64_t hardware, number, its_queue; /* which has its tags, and its place */
	uint64_t tag_count, tags, table[TAGS];
	struct raw_request requests[TAGS];
	struct raw_bio bios[2];
	struct raw_vector vectors[VECTORS];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* The first request is in flight, with two bios; the second one has three segments. */
static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){
		.device = AT(disk),
		.disk = AT(device),
		.queue_of_disk = AT(queue),
		.queue = { 0, AT(hardware) },
		.hardware = AT(tag_count),
		.its_queue = AT(queue),
		.tag_count = TAGS,
		.tags = AT(table),
		.vectors = { { PAGES, 4096, 0 },
			     { PAGES + 8 * PAGE_OF, 8192, 2048 },
			     { PAGES + 32 * PAGE_OF, 512, 0 } },
		.bios = { { .next = AT(bios[1]), .private = NOWHERE },
			  { .private = AT(vectors),
			    .vectors = AT(vectors),
			    .left = 4096 + 8192 + 512 } },
	};
	for (unsigned int i = 0; i < TAGS; i++) {
		data->table[i] = AT(requests[i]);
		data->requests[i] = (struct raw_request){ .queue = AT(queue),
							  .hardware = AT(hardware),
							  .bio = AT(bios[0]),
							  .state = i ? 0 : IN_FLIGHT,
							  .tag = (int32_t)i };
	}
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, 0);
	btf__add_enum(btf, "mq_rq_state", 4);
	btf__add_enum_value(btf, "MQ_RQ_IN_FLIGHT", IN_FLIGHT);
	int disk = btf__add_struct(btf, "gendisk", 24);
	add_member(btf, "part0", ulong, 0);
	add_member(btf, "queue", ulong, 8);
	int to_disk = btf__add_ptr(btf, disk);
	btf__add_struct(btf, "block_device", 8);
	add_member(btf, "bd_disk", to_disk, 0);
	int to_hardware = add_queue_of_hardware(btf, ulong, letter);
	btf__add_struct(btf, "page", PAGE_OF);
	btf__add_struct(btf, "bio_vec", sizeof(struct raw_vector));
	add_member(btf, "bv_page", ulong, 0);
	add_member(btf, "bv_len", uint_, offsetof(struct raw_vector, length));
	add_member(btf, "bv_offset", uint_, offsetof(struct raw_vector, offset));
	int place = btf__add_struct(btf, "bvec_iter", 8);
	add_member(btf, "bi_size", uint_, 0);
	add_member(btf, "bi_idx", uint_, 4);
	int to_bio = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "bio", sizeof(struct raw_bio));
	add_member(btf, "bi_next", to_bio, 0);
	add_member(btf, "bi_private", ulong, offsetof(struct raw_bio, private));
	add_member(btf, "bi_io_vec", ulong, offsetof(struct raw_bio, vectors));
	add_member(btf, "bi_iter", place, offsetof(struct raw_bio, left));
	btf__add_struct(btf, "request", sizeof(struct raw_request));
	add_member(btf, "q", ulong, 0);
	add_member(btf, "mq_hctx", to_hardware, offsetof(struct raw_request, hardware));
	add_member(btf, "__sector", ulong, offsetof(struct raw_request, sector));
	add_member(btf, "__data_len", uint_, offsetof(struct raw_request, bytes));
	add_member(btf, "bio", to_bio, offsetof(struct raw_request, bio));
	add_member(btf, "state", uint_, offsetof(struct raw_request, state));
	add_member(btf, "tag", int_, offsetof(struct raw_request, tag));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = { { DATA + 8192, 'D', "_end" } };
	static const struct vmcore_facts facts = { .page_size = 4096 };
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->kernel.target.facts = &facts;
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static bool is_requested(struct machine *machine, struct bio_sought sought, uint64_t left)
{
	enum bio_place place;
	CHECK_OK(bio_place_on_disk(&machine->kernel.target, AT(device), &sought, &left, &place));
	CHECK(place == BIO_REQUESTED || place == BIO_UNKNOWN);
	return place == BIO_REQUESTED;
}

static bool has_page(struct machine *machine, uint64_t page)
{
	return is_requested(machine, (struct bio_sought){ .page = page }, LIMIT);
}

static void test_bios(void)
{
	struct machine *machine = machine_create();
	struct bio_sought second = { .bio = AT(bios[1]) }, its_end = { .private = AT(vectors) };
	CHECK(is_requested(machine, second, LIMIT));
	CHECK(is_requested(machine, its_end, LIMIT));
	CHECK(!is_requested(machine, (struct bio_sought){ .private = AT(device) }, LIMIT));
	/* What was answered is nobody's. */
	machine->data.requests[0].state = 0;
	CHECK(!is_requested(machine, second, LIMIT));
	CHECK(!is_requested(machine, its_end, LIMIT));
	machine_destroy(machine);
}

static void test_pages(void)
{
	struct machine *machine = machine_create();
	CHECK(has_page(machine, PAGES));
	CHECK(!has_page(machine, PAGES + PAGE_OF));
	/* From the middle of its first page on, it reaches into a third one. */
	CHECK(has_page(machine, PAGES + 10 * PAGE_OF));
	CHECK(!has_page(machine, PAGES + 11 * PAGE_OF));
	CHECK(!has_page(machine, PAGES + 7 * PAGE_OF));
	CHECK(has_page(machine, PAGES + 32 * PAGE_OF));
	/* The first segments are done. */
	machine->data.bios[1].index = 2;
	machine->data.bios[1].left = 512;
	CHECK(!has_page(machine, PAGES));
	CHECK(has_page(machine, PAGES + 32 * PAGE_OF));
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	/* Segments of no bytes never get it done. */
	for (unsigned int i = 0; i < VECTORS; i++)
		data->vectors[i].length = 0;
	CHECK(!has_page(machine, PAGES + 20 * PAGE_OF));
	put_data(data);
	data->bios[1].vectors = NOWHERE;
	CHECK(!has_page(machine, PAGES));
	put_data(data);
	data->bios[1].next = AT(bios[0]);
	CHECK(!has_page(machine, PAGES + PAGE_OF));
	put_data(data);
	CHECK(!is_requested(machine, (struct bio_sought){ .bio = AT(bios[1]) }, 1));
	data->device = NOWHERE;
	CHECK(!has_page(machine, PAGES));
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_bios);
	RUN(test_pages);
	RUN(test_wild);
	return test_finish();
}
