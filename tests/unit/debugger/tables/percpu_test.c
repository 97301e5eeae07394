// SPDX-License-Identifier: GPL-3.0-or-later
/* Chunks of per-CPU memory: whole, of kernels with lists by type, in circles, and with every byte
 * changed. */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define UNITS	0xffff888010000000u /* where the first unit lies: none of it is read */
#define SLOTS	3u

extern const struct table table_percpu;

struct raw_chunk {
	uint64_t list[2], base;
	int32_t free_bytes, largest, bits, pages, populated, empty;
	uint8_t immutable, isolated, unused[6];
};

enum { RESERVED, FIRST, SECOND, THIRD, CHUNKS };

struct raw_data {
	uint64_t lists, first, reserved, base;
	int32_t slots, units;
	uint64_t heads[2 * SLOTS][2];
	struct raw_chunk chunks[CHUNKS];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct vmcore_facts facts;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_chunk(struct raw_chunk *chunk, uint64_t base, int32_t pages)
{
	*chunk = (struct raw_chunk){ .base = base, .pages = pages, .populated = pages };
	chunk->bits = pages * 1024;
}

static void link_chunk(struct raw_data *data, unsigned int slot, unsigned int chunk)
{
	uint64_t head = AT(heads) + slot * sizeof(data->heads[0]);
	uint64_t link = AT(chunks) + chunk * sizeof(data->chunks[0]);
	uint64_t next = data->heads[slot][0];
	struct raw_chunk *after =
		next == head ? NULL : &data->chunks[(next - AT(chunks)) / sizeof(*after)];
	data->chunks[chunk].list[0] = next;
	data->chunks[chunk].list[1] = head;
	data->heads[slot][0] = link;
	if (after)
		after->list[1] = link;
	else
		data->heads[slot][1] = link;
}

/* Five pages of variables, three for modules; the second list of a type has two chunks. */
static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .lists = AT(heads),
				   .first = AT(chunks[FIRST]),
				   .reserved = AT(chunks[RESERVED]),
				   .base = UNITS,
				   .slots = SLOTS,
				   .units = 2 };
	for (unsigned int i = 0; i < ARRAY_COUNT(data->heads); i++)
		data->heads[i][0] = data->heads[i][1] = AT(heads) + i * sizeof(data->heads[0]);
	put_chunk(&data->chunks[RESERVED], UNITS + 5 * 4096, 3);
	put_chunk(&data->chunks[FIRST], UNITS + 8 * 4096, 7);
	put_chunk(&data->chunks[SECOND], UNITS + 0x100000, 16);
	put_chunk(&data->chunks[THIRD], UNITS + 0x200000, 16);
	data->chunks[RESERVED].immutable = data->chunks[FIRST].immutable = 1;
	data->chunks[FIRST].free_bytes = 64;
	data->chunks[FIRST].largest = 10;
	data->chunks[SECOND].populated = 4;
	data->chunks[THIRD].populated = 1;
	data->chunks[THIRD].empty = 1;
	data->chunks[THIRD].isolated = 1;
	data->chunks[THIRD].free_bytes = 16 * 4096;
	data->chunks[THIRD].largest = 16 * 1024;
	link_chunk(data, 0, FIRST);
	link_chunk(data, 1, THIRD);
	link_chunk(data, 1, SECOND);
}

static void add_types(struct machine *machine, bool has_types)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	int list = add_list_head(btf);
	int block = btf__add_struct(btf, "pcpu_block_md", 8);
	add_member(btf, "contig_hint", int_, 0);
	add_member(btf, "nr_bits", int_, 4);
	btf__add_struct(btf, "pcpu_chunk", sizeof(struct raw_chunk));
	add_member(btf, "list", list, offsetof(struct raw_chunk, list));
	add_member(btf, "base_addr", ulong, offsetof(struct raw_chunk, base));
	add_member(btf, "free_bytes", int_, offsetof(struct raw_chunk, free_bytes));
	add_member(btf, "chunk_md", block, offsetof(struct raw_chunk, largest));
	add_member(btf, "nr_pages", int_, offsetof(struct raw_chunk, pages));
	add_member(btf, "nr_populated", int_, offsetof(struct raw_chunk, populated));
	add_member(btf, "nr_empty_pop_pages", int_, offsetof(struct raw_chunk, empty));
	add_member(btf, "immutable", boolean, offsetof(struct raw_chunk, immutable));
	if (!has_types)
		add_member(btf, "isolated", boolean, offsetof(struct raw_chunk, isolated));
	if (has_types) {
		btf__add_enum(btf, "pcpu_chunk_type", 4);
		btf__add_enum_value(btf, "PCPU_CHUNK_ROOT", 0);
		btf__add_enum_value(btf, "PCPU_CHUNK_MEMCG", 1);
		btf__add_enum_value(btf, "PCPU_NR_CHUNK_TYPES", 2);
		btf__add_enum_value(btf, "PCPU_FAIL_ALLOC", 2);
	}
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(bool has_types)
{
	static const struct test_symbol symbols[] = {
		{ AT(lists), 'D', "pcpu_chunk_lists" },
		{ AT(first), 'D', "pcpu_first_chunk" },
		{ AT(reserved), 'D', "pcpu_reserved_chunk" },
		{ AT(base), 'D', "pcpu_base_addr" },
		{ AT(slots), 'D', "pcpu_nr_slots" },
		{ AT(units), 'D', "pcpu_nr_units" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	machine->facts.page_size = 4096;
	machine->kernel.target.facts = &machine->facts;
	add_types(machine, has_types);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_percpu, ret_problem);
}

/* Those before the lists. */
#define BEGIN                                                                                      \
	"static|-|-|20480|-|-|5|5|-|-|-|40960;"                                                    \
	"reserved|-|-|12288|0|0|3|3|0|1|0|24576;"

static void test_whole(void)
{
	struct machine *machine = machine_create(false);
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem),
		     BEGIN "first|-|0|28672|64|40|7|7|0|1|0|57344;"
			   "dynamic|-|1|65536|0|0|16|4|0|0|0|32768;"
			   "dynamic|-|1|65536|65536|65536|16|1|1|0|1|8192;");
	CHECK(!has_problem);
	/* Nothing is set aside for modules. */
	machine->data.reserved = 0;
	rows_of(machine, &has_problem);
	CHECK(!has_problem && !strncmp(machine->rows.text, "static|-|-|32768|", 17));
	CHECK_U64(machine->rows.count, 4);
	machine_destroy(machine);
}

static void test_types(void)
{
	struct machine *machine = machine_create(true);
	bool has_problem;
	/* The second list of the second type. */
	link_chunk(&machine->data, SLOTS + 1, RESERVED);
	machine->data.reserved = 0;
	CHECK(strstr(rows_of(machine, &has_problem), "first|ROOT|0|"));
	CHECK(strstr(machine->rows.text, "dynamic|ROOT|1|65536|65536|65536|16|1|1|0|-|8192;"));
	CHECK(strstr(machine->rows.text, "dynamic|MEMCG|1|12288|"));
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create(false);
	struct raw_chunk *chunks = machine->data.chunks;
	bool has_problem;
	/* A circle beside the head. */
	chunks[THIRD].list[0] = AT(chunks[SECOND]);
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count >= 5 && machine->rows.count < 8);
	put_data(&machine->data);
	/* What can be reached from the other end is there. */
	chunks[SECOND].list[0] = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 5);
	put_data(&machine->data);
	machine->data.first = machine->data.reserved = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 4);
	put_data(&machine->data);
	machine->data.lists = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), BEGIN);
	CHECK(has_problem);
	put_data(&machine->data);
	machine->data.slots = 1 << 30;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

/* No number that cannot be is shown. */
static void test_counts(void)
{
	struct machine *machine = machine_create(false);
	struct raw_chunk *first = &machine->data.chunks[FIRST];
	bool has_problem;
	first->populated = 8;
	first->free_bytes = -1;
	first->bits = 0;
	CHECK(strstr(rows_of(machine, &has_problem), "first|-|0|28672|-|-|7|-|0|1|0|-;"));
	first->pages = -1;
	CHECK(strstr(rows_of(machine, &has_problem), "first|-|0|-|-|-|-|-|0|1|0|-;"));
	machine->data.units = -2;
	CHECK(strstr(rows_of(machine, &has_problem), "static|-|-|20480|-|-|5|5|-|-|-|-;"));
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create(false);
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= TABLE_ROWS_MAX);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_types);
	RUN(test_broken);
	RUN(test_counts);
	RUN(test_mutated);
	return test_finish();
}
