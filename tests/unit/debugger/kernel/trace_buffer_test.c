// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A ring buffer of a tracer: its events of every kind, pages in their order, two CPUs; pages that
 * go round, lead nowhere, or have more than they can, and every byte of it changed.
 */
#include "base/array.h"
#include "debugger/kernel/trace_buffer.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define CPUS	2u
#define PAGES	4u /* of a CPU: that of the reader, and three in the circle */
#define ROOM	240u

struct raw_page {
	uint64_t next, prev, read, page;
};

struct raw_bytes {
	uint64_t stamp, commit;
	uint8_t data[ROOM];
};

struct raw_cpu {
	uint64_t reader, commit, count;
	struct raw_page pages[PAGES];
	struct raw_bytes bytes[PAGES];
};

struct raw_data {
	uint64_t buffers; /* of the struct trace_buffer */
	uint64_t array[CPUS];
	struct raw_cpu cpus[CPUS];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct cpu cpus[CPUS];
	uint64_t times[64];
	uint32_t numbers[64]; /* the first word of each record */
	uint32_t of_cpu[64];
	size_t count, problems;
};

static const struct vmcore_facts facts = { .page_size = 16 + ROOM };

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put(struct raw_bytes *bytes, const uint32_t *words, size_t count)
{
	memcpy(bytes->data + bytes->commit, words, 4 * count);
	bytes->commit += 4 * count;
}

static uint32_t head(uint32_t kind, uint32_t delta)
{
	return kind | delta << 5;
}

/* A record of one word. */
static void put_record(struct raw_bytes *bytes, uint32_t delta, uint32_t number)
{
	put(bytes, (const uint32_t[]){ head(1, delta), number }, 2);
}

/* The circle is 1, 2, 3; 2 is its oldest, 1 the newest. */
static void put_cpu(struct raw_data *data, unsigned int number)
{
	struct raw_cpu *cpu = &data->cpus[number];
	memset(cpu, 0, sizeof(*cpu));
	data->array[number] = AT(cpus[number]);
	cpu->reader = AT(cpus[number].pages[0]);
	cpu->commit = AT(cpus[number].pages[1]);
	cpu->count = PAGES - 1;
	for (unsigned int i = 0; i < PAGES; i++) {
		unsigned int next = i == PAGES - 1 ? 1 : i + 1;
		cpu->pages[i].next = AT(cpus[number].pages[next]) | (i == 1);
		cpu->pages[i].page = AT(cpus[number].bytes[i]);
		cpu->bytes[i].stamp = 1000 * (i == 1 ? 4 : i) + number;
	}
}

/* Eight records, with what lies between them. */
static void put_events(struct raw_data *data)
{
	struct raw_bytes *bytes = data->cpus[0].bytes;
	/* The first was read already. */
	put_record(&bytes[0], 1, 99);
	data->cpus[0].pages[0].read = bytes[0].commit;
	put_record(&bytes[0], 2, 1);
	/* A long one, whose length counts itself. */
	put(&bytes[2], (const uint32_t[]){ head(0, 5), 8, 2 }, 3);
	/* What was thrown away takes no time. */
	put(&bytes[2], (const uint32_t[]){ head(29, 1), 8, 77 }, 3);
	/* 2^27 and more later. */
	put(&bytes[2], (const uint32_t[]){ head(30, 7), 1 }, 2);
	put_record(&bytes[2], 0, 3);
	put(&bytes[2], (const uint32_t[]){ head(29, 0), 0 }, 2);
	/* A time of its own, and flags in what is used. */
	put(&bytes[3], (const uint32_t[]){ head(31, 500), 3 }, 2);
	put_record(&bytes[3], 1, 4);
	bytes[3].commit |= UINT64_C(1) << 31;
	put_record(&bytes[1], 0, 5);
	bytes[1].stamp = UINT64_C(1) << 30;
	put_record(&data->cpus[1].bytes[2], 3, 6);
}

static void put_data(struct machine *machine)
{
	memset(&machine->data, 0, sizeof(machine->data));
	machine->data.buffers = AT(array);
	for (unsigned int i = 0; i < CPUS; i++)
		put_cpu(&machine->data, i);
	put_events(&machine->data);
	machine->count = machine->problems = 0;
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int list = add_list_head(btf);
	int bytes = btf__add_struct(btf, "buffer_data_page", sizeof(struct raw_bytes));
	add_member(btf, "time_stamp", ulong, 0);
	add_member(btf, "commit", ulong, 8);
	add_member(btf, "data", ulong, 16);
	int to_bytes = btf__add_ptr(btf, bytes);
	btf__add_struct(btf, "buffer_page", sizeof(struct raw_page));
	add_member(btf, "list", list, 0);
	add_member(btf, "read", ulong, 16);
	add_member(btf, "page", to_bytes, 24);
	int cpu = btf__add_struct(btf, "ring_buffer_per_cpu", sizeof(struct raw_cpu));
	add_member(btf, "reader_page", ulong, 0);
	add_member(btf, "commit_page", ulong, 8);
	add_member(btf, "nr_pages", ulong, 16);
	int to_cpu = btf__add_ptr(btf, cpu);
	int to_array = btf__add_ptr(btf, to_cpu);
	btf__add_struct(btf, "trace_buffer", 8);
	add_member(btf, "buffers", to_array, 0);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = { { DATA + 65536, 'D', "_end" } };
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	for (unsigned int i = 0; i < CPUS; i++)
		machine->cpus[i].number = i;
	machine->kernel.target.facts = &facts;
	machine->kernel.target.cpus = machine->cpus;
	machine->kernel.target.cpu_count = CPUS;
	machine->kernel.target.cpus_loaded = true;
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static struct error *visit(void *context, const struct trace_record *record)
{
	struct machine *machine = context;
	if (machine->count == ARRAY_COUNT(machine->times))
		return error_create(ERROR_OTHER, "enough");
	CHECK(record->size <= ROOM);
	machine->times[machine->count] = record->time;
	machine->of_cpu[machine->count] = record->cpu;
	if (record->size >= 4)
		memcpy(&machine->numbers[machine->count], record->data, 4);
	machine->count++;
	return NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	struct machine *machine = context;
	machine->problems++;
	error_free(problem);
	return NULL;
}

static struct error *walk(struct machine *machine)
{
	const struct trace_visitor visitor = { visit, broken, machine };
	return trace_buffer_for_each(&machine->kernel.target, AT(buffers), &visitor);
}

static void test_whole(void)
{
	static const struct {
		uint64_t time;
		uint32_t number, cpu;
	} wanted[] = { { 3, 1, 0 },
		       { 2005, 2, 0 },
		       { 2004, 6, 1 },
		       { 2005 + (1u << 27) + 7, 3, 0 },
		       { 3 * (UINT64_C(1) << 27) + 500 + 1, 4, 0 },
		       { UINT64_C(1) << 30, 5, 0 } };
	struct machine *machine = machine_create();
	CHECK_OK(walk(machine));
	CHECK_U64(machine->problems, 0);
	CHECK_U64(machine->count, ARRAY_COUNT(wanted));
	/* By time: that of the other CPU comes first of the two. */
	static const size_t order[] = { 0, 2, 1, 3, 4, 5 };
	for (size_t i = 0; i < ARRAY_COUNT(wanted) && i < machine->count; i++) {
		CHECK_U64(machine->times[i], wanted[order[i]].time);
		CHECK_U64(machine->numbers[i], wanted[order[i]].number);
		CHECK_U64(machine->of_cpu[i], wanted[order[i]].cpu);
	}
	machine_destroy(machine);
}

/* Without pages behind that of the reader, and a CPU that never had a buffer. */
static void test_small(void)
{
	struct machine *machine = machine_create();
	machine->data.cpus[0].commit = machine->data.cpus[0].reader;
	machine->data.array[1] = 0;
	CHECK_OK(walk(machine));
	CHECK_U64(machine->count, 1);
	CHECK_U64(machine->problems, 0);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_cpu *cpu = &machine->data.cpus[0];
	/* The newest is never reached. */
	cpu->pages[2].next = AT(cpus[0].pages[2]);
	CHECK_OK(walk(machine));
	CHECK(machine->problems >= 1);
	put_data(machine);
	cpu->pages[3].next = NOWHERE;
	CHECK_OK(walk(machine));
	CHECK(machine->problems >= 1);
	/* What is before it is there. */
	CHECK(machine->count >= 5);
	put_data(machine);
	cpu->bytes[2].commit = ROOM + 1;
	CHECK_OK(walk(machine));
	CHECK_U64(machine->problems, 1);
	CHECK_U64(machine->count, 4);
	put_data(machine);
	/* An event that is longer than its page. */
	memcpy(cpu->bytes[2].data, (const uint32_t[]){ head(0, 5), 4096 }, 8);
	CHECK_OK(walk(machine));
	CHECK_U64(machine->problems, 1);
	CHECK_U64(machine->count, 4);
	put_data(machine);
	machine->data.array[0] = NOWHERE;
	CHECK_OK(walk(machine));
	CHECK_U64(machine->problems, 1);
	CHECK_U64(machine->count, 1);
	put_data(machine);
	machine->data.buffers = NOWHERE;
	CHECK_OK(walk(machine));
	CHECK_U64(machine->problems, CPUS);
	machine_destroy(machine);
}

/* Whatever a byte becomes, it ends. */
static void test_mutated(void)
{
	static const uint8_t values[] = { 0, 1, 0x1d, 0x1e, 0x1f, 0x7f, 0xff };
	struct machine *machine = machine_create();
	for (size_t i = 0; i < sizeof(machine->data); i++)
		for (size_t k = 0; k < ARRAY_COUNT(values); k++) {
			put_data(machine);
			((uint8_t *)&machine->data)[i] = values[k];
			error_free(walk(machine));
		}
	CHECK(true);
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_small);
	RUN(test_broken);
	RUN(test_mutated);
	return test_finish();
}
