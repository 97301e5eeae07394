// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reads every table of a real dump while links lead elsewhere:
 *
 *   tables DUMP ROUNDS [SEED [TABLE [ROUND]]]
 *
 * A first pass over a table notes which words it reads. Each round is a process of its own, in
 * which some of these are others: pointers to themselves, to each other (cycles), to wild
 * addresses, beside what they pointed at; counts without an end; a page that is not there. Whatever
 * it reads, the pass has to end, in time and memory. ROUNDS are of each table; with ROUND only that
 * one is run, in this process. Prints what came out; exit status 1 when a round failed.
 */
#include "debugger/command/command.h"
#include "debugger/tables/table.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX     (1u << 17) /* that are noted of a table */
#define SLOTS	      (2 * WORDS_MAX)
#define PAGE_SIZE     4096u
#define ROWS_MAX      (UINT64_C(1) << 26)
#define SECONDS_MAX   10
#define MEBIBYTES_MAX 1000
#define DEFAULT_SEED  5

#ifdef __SANITIZE_ADDRESS__
#define SCALE 10
#else
#define SCALE 1
#endif

struct word {
	uint64_t address, value;
};

/* What a process tells its parent: the words that a table reads, and what came of a round. */
struct shared {
	struct word words[WORDS_MAX];
	size_t count;
	uint64_t rows, problems;
	uint64_t texts; /* bytes */
};

struct overlay {
	struct memory memory;
	struct memory *inner;
	struct word slots[SLOTS]; /* by a hash of the address; 0: none */
	size_t count;
	bool notes;    /* what is read, rather than changes it */
	uint64_t hole; /* address of an excluded page, 0: none */
};

struct stress {
	struct target *target;
	struct overlay overlay;
	struct shared *shared;
	uint64_t seed, random;
	size_t pointers[WORDS_MAX], pointer_count; /* indices into `shared->words` */
	/* What came out. */
	uint64_t rounds, rows, problems, failed, tables;
	double slowest;
	const char *slowest_table;
};

static uint64_t next_random(struct stress *stress)
{
	stress->random ^= stress->random << 13;
	stress->random ^= stress->random >> 7;
	stress->random ^= stress->random << 17;
	return stress->random;
}

/* --- memory with other words ----------------------------------------------------------------- */

/* Where this address is, or is to be. */
static struct word *slot_of(struct overlay *overlay, uint64_t address)
{
	size_t at = (address >> 3) * 0x9e3779b97f4a7c15u >> 46;
	while (overlay->slots[at % SLOTS].address && overlay->slots[at % SLOTS].address != address)
		at++;
	return &overlay->slots[at % SLOTS];
}

static void set_word(struct overlay *overlay, uint64_t address, uint64_t value)
{
	struct word *slot = slot_of(overlay, address);
	if (!slot->address && overlay->count >= WORDS_MAX)
		return;
	overlay->count += !slot->address;
	*slot = (struct word){ address, value };
}

static void note_words(struct overlay *overlay, uint64_t address, const uint8_t *bytes, size_t size)
{
	for (size_t at = -address & 7; at + 8 <= size && overlay->count < WORDS_MAX; at += 8) {
		uint64_t value;
		memcpy(&value, bytes + at, 8);
		set_word(overlay, address + at, value);
	}
}

static void change_words(struct overlay *overlay, uint64_t address, uint8_t *bytes, size_t size)
{
	for (uint64_t at = address & ~(uint64_t)7; at - address + 8 < size + 8; at += 8) {
		const struct word *word = slot_of(overlay, at);
		for (size_t i = 0; word->address && i < 8; i++)
			if (at + i - address < size)
				bytes[at + i - address] = (uint8_t)(word->value >> 8 * i);
	}
}

static struct error *overlay_read(struct memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct overlay *overlay = (struct overlay *)memory;
	uint64_t hole = overlay->hole;
	if (hole && address < hole + PAGE_SIZE && address + size > hole) {
		uint64_t first = address > hole ? address : hole;
		return error_create_at(ERROR_EXCLUDED, first, "0x%" PRIx64 " is excluded", first);
	}
	TRY(overlay->inner->read(overlay->inner, address, buffer, size));
	if (overlay->notes)
		note_words(overlay, address, buffer, size);
	else if (overlay->count)
		change_words(overlay, address, buffer, size);
	return NULL;
}

/* --- damage ---------------------------------------------------------------------------------- */

static bool is_pointer(uint64_t value)
{
	return value >> 47 == 0x1ffff;
}

static const struct word *any_word(struct stress *stress)
{
	return &stress->shared->words[next_random(stress) % stress->shared->count];
}

static const struct word *any_pointer(struct stress *stress)
{
	if (!stress->pointer_count)
		return any_word(stress);
	return &stress->shared
			->words[stress->pointers[next_random(stress) % stress->pointer_count]];
}

/* Another pointer in the place of one. */
static uint64_t other_pointer(struct stress *stress, const struct word *word)
{
	uint64_t random = next_random(stress);
	switch (next_random(stress) % 14) {
	case 0:
	case 1: /* a cycle of one */
		return word->address;
	case 2:
		return word->address - random % 256 / 8 * 8;
	case 3:
	case 4: /* where another one leads: a cycle of several, or a row that comes twice */
		return any_pointer(stress)->value;
	case 5:
		return any_pointer(stress)->address;
	case 6:
		return word->value + 8 * (random % 9) - 32;
	case 7:
		return word->value ^ UINT64_C(1) << random % 48;
	case 8:
		return word->value | (1 + random % 3);
	case 9:
		return 0;
	case 10: /* wild: of the kernel's half, of a user's, of none */
		return random | 0xffff800000000000;
	case 11:
		return random & 0x7fffffffffff;
	case 12:
		return random & 1 ? 0xdead000000000100 : UINT64_MAX - random % 4096;
	default:
		return random;
	}
}

static uint64_t other_number(struct stress *stress, const struct word *word)
{
	static const uint64_t numbers[] = { 0,		1,	   0x7fffffff,	       0xffffffff,
					    UINT64_MAX, INT64_MAX, 0x7fffffff7fffffff, 4096 };
	uint64_t random = next_random(stress);
	switch (random % 4) {
	case 0:
		return word->value + (random >> 8) % 5 - 2;
	case 1:
		return random >> random % 61;
	case 2: /* the half of it */
		return (word->value & UINT32_MAX) | numbers[random >> 8 & 7] << 32;
	default:
		return numbers[random >> 8 & 7];
	}
}

static void change_one(struct stress *stress, const struct word *word)
{
	set_word(&stress->overlay, word->address,
		 is_pointer(word->value) && next_random(stress) % 8 ? other_pointer(stress, word)
								    : other_number(stress, word));
}

/* One in so many of all pointers. */
static void change_share(struct stress *stress, uint64_t share)
{
	for (size_t i = 0; i < stress->pointer_count; i++)
		if (!(next_random(stress) % share))
			change_one(stress, &stress->shared->words[stress->pointers[i]]);
}

static void damage(struct stress *stress)
{
	uint64_t kind = next_random(stress) % 10, count = 1 + next_random(stress) % 8;
	if (kind < 3)
		count = 1;
	if (kind < 5)
		for (uint64_t i = 0; i < count; i++)
			change_one(stress, any_pointer(stress));
	else if (kind == 5)
		for (uint64_t i = 0; i < count; i++)
			change_one(stress, any_word(stress));
	else if (kind == 6)
		stress->overlay.hole = any_word(stress)->address & ~(uint64_t)(PAGE_SIZE - 1);
	else
		change_share(stress, kind == 7 ? 1000 : kind == 8 ? 50 : 5);
}

/* --- a pass ---------------------------------------------------------------------------------- */

struct pass {
	struct stress *stress;
	const struct table *table;
};

/* Looks at all that a row has. */
static struct error *count_row(void *context, const struct table_cell *cells)
{
	const struct pass *pass = context;
	struct shared *shared = pass->stress->shared;
	for (size_t i = 0; i < pass->table->column_count; i++)
		if (cells[i].state == CELL_SET && cells[i].text)
			shared->texts += strlen(cells[i].text);
		else if (cells[i].state == CELL_MISSING)
			shared->problems += strlen(cells[i].error->message) > 0;
	return shared->rows++ < ROWS_MAX ? NULL : error_create(ERROR_OTHER, "rows without an end");
}

/* False: there is no end of rows. */
static bool read_table(struct stress *stress, const struct table *table)
{
	struct pass pass = { stress, table };
	struct table_scan scan = { .target = stress->target,
				   .table = table,
				   .wanted = UINT64_MAX,
				   .row = count_row,
				   .context = &pass };
	struct error *error = table_scan_run(&scan);
	struct error *problem = table_scan_problem(&scan);
	stress->shared->problems += (error != NULL) + (problem != NULL);
	error_free(error);
	error_free(problem);
	table_scan_deinit(&scan);
	return stress->shared->rows < ROWS_MAX;
}

/* The words that are read, in a process of its own: nothing that is remembered of them stays. */
static void note_reads(struct stress *stress, const struct table *table)
{
	struct overlay *overlay = &stress->overlay;
	struct shared *shared = stress->shared;
	overlay->notes = true;
	read_table(stress, table);
	for (size_t i = 0; i < SLOTS; i++)
		if (overlay->slots[i].address)
			shared->words[shared->count++] = overlay->slots[i];
}

static void run_damaged(struct stress *stress, const struct table *table)
{
	damage(stress);
	if (!read_table(stress, table))
		exit(3);
}

/* --- rounds ---------------------------------------------------------------------------------- */

static double seconds_of(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* Runs it in a child, whose wait status and resources come back. */
static int apart(struct stress *stress, const struct table *table,
		 void (*run)(struct stress *stress, const struct table *table),
		 struct rusage *ret_usage)
{
	const struct rlimit limit = { SECONDS_MAX * SCALE, SECONDS_MAX * SCALE + 1 };
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		setrlimit(RLIMIT_CPU, &limit);
		run(stress, table);
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, ret_usage) != child)
		perror("stress: tables");
	return status;
}

static void seed_round(struct stress *stress, const struct table *table, uint64_t number)
{
	uint64_t seed = stress->seed * 0x9e3779b97f4a7c15u + number;
	for (const char *at = table->name; *at; at++)
		seed = (seed ^ (uint8_t)*at) * 0x100000001b3;
	stress->random = seed | 1;
	for (int i = 0; i < 8; i++)
		next_random(stress);
}

static void run_round(struct stress *stress, const struct table *table, uint64_t number)
{
	struct rusage usage = { 0 };
	seed_round(stress, table, number);
	stress->shared->rows = stress->shared->problems = 0;
	int status = apart(stress, table, run_damaged, &usage);
	double seconds = seconds_of(&usage);
	if (seconds > stress->slowest) {
		stress->slowest = seconds;
		stress->slowest_table = table->name;
	}
	stress->rounds++;
	stress->rows += stress->shared->rows;
	stress->problems += stress->shared->problems;
	bool is_big = usage.ru_maxrss >> 10 > MEBIBYTES_MAX * SCALE;
	if (!status && !is_big)
		return;
	printf("%s, round %" PRIu64 ": status %#x, %" PRIu64 " rows, %.1f s, %ld MiB\n",
	       table->name, number, status, stress->shared->rows, seconds, usage.ru_maxrss >> 10);
	stress->failed++;
}

/* False: nothing of it can be changed. */
static bool learn(struct stress *stress, const struct table *table)
{
	struct shared *shared = stress->shared;
	struct rusage usage;
	shared->count = shared->rows = 0;
	stress->pointer_count = 0;
	if (apart(stress, table, note_reads, &usage)) {
		printf("%s: the first pass fails\n", table->name);
		stress->failed++;
	}
	for (size_t i = 0; i < shared->count; i++)
		if (is_pointer(shared->words[i].value))
			stress->pointers[stress->pointer_count++] = i;
	if (getenv("BTFCRASH_STRESS_VERBOSE"))
		printf("%-12s %8" PRIu64 " rows, %6zu words, %6zu pointers, %.3f s\n", table->name,
		       shared->rows, shared->count, stress->pointer_count, seconds_of(&usage));
	stress->tables++;
	return shared->count;
}

static void run_table(struct stress *stress, const struct table *table, uint64_t rounds,
		      const char *only)
{
	if (!learn(stress, table))
		return;
	if (only) {
		seed_round(stress, table, strtoull(only, NULL, 10));
		run_damaged(stress, table);
	}
	for (uint64_t i = 0; i < rounds && !only; i++)
		run_round(stress, table, i);
}

/* --- the dump -------------------------------------------------------------------------------- */

static struct error *prepare(struct stress *stress)
{
	struct target *target = stress->target;
	const struct module *modules;
	TRY(target_need_memory(target));
	TRY(target_need_btf(target));
	TRY(target_need_cpus(target));
	target_modules(target, &modules);
	stress->overlay.memory = *target->memory;
	stress->overlay.memory.read = overlay_read;
	stress->overlay.memory.lend = NULL;
	stress->overlay.inner = target->memory;
	return NULL;
}

static struct error *run(struct stress *stress, char **argv, int argc)
{
	struct target_options options = { .vmcoreinfo_path = NULL };
	const char *dump = argv[1];
	TRY(target_open(&dump, 1, &options, &stress->target));
	struct error *error = prepare(stress);
	if (!error)
		stress->target->memory = &stress->overlay.memory;
	for (size_t i = 0; commands[i] && !error; i++)
		if (commands[i]->table && (argc < 5 || !strcmp(commands[i]->table->name, argv[4])))
			run_table(stress, commands[i]->table, strtoull(argv[2], NULL, 10),
				  argc > 5 ? argv[5] : NULL);
	if (!error)
		stress->target->memory = stress->overlay.inner;
	target_close(stress->target);
	return error;
}

int main(int argc, char **argv)
{
	static struct stress stress;
	if (argc < 3) {
		fprintf(stderr, "usage: tables DUMP ROUNDS [SEED [TABLE [ROUND]]]\n");
		return 2;
	}
	stress.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : DEFAULT_SEED;
	stress.shared = mmap(NULL, sizeof(*stress.shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stress.shared == MAP_FAILED) {
		perror("tables: mmap");
		return 2;
	}
	struct error *error = run(&stress, argv, argc);
	if (error) {
		fprintf(stderr, "tables: %s\n", error->message);
		error_free(error);
		return 2;
	}
	printf("%" PRIu64 " rounds of %" PRIu64 " tables: %" PRIu64 " rows, %" PRIu64
	       " problems; the slowest %.3f s (%s)\n",
	       stress.rounds, stress.tables, stress.rows, stress.problems, stress.slowest,
	       stress.slowest_table ?: "none");
	return stress.failed || !stress.tables;
}
