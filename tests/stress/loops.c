// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Runs command lines over a real dump whose links lead round in loops:
 *
 *   loops DUMP LINKS SHARE [LINE...]
 *
 * A first pass of a line notes which words it reads, and at which place of the code. A word that
 * leads to what the line reads as well is a link. Of each place the first LINKS of them are led
 * elsewhere, one after the other: back to themselves, to what they lie in, to an element before, to
 * the head; with the pointers that lead back made to agree, and without. What is read at one place
 * is also led to one and the same thing, and linked into one ring. Each variant is a process of its
 * own, which has to end by itself in time and memory, and not to say the same over and over; one
 * that takes longer than a second is run again, and has to end soon after SIGINT.
 *
 * Of all variants each SHARE-th runs. Without LINEs these are all tables, each once as it comes and
 * once sorted, and the commands that walk. Exit status 1: a variant failed.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/alias.h"
#include "debugger/command/command.h"
#include "debugger/tables/table.h"
#include "tests/stress/words.h"
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OBJECT_SIZE   2048u /* pointers and what they point to lie so near the rest of an object */
#define ANCESTORS_MAX 1000u
#define TARGETS_MAX   24u

#define SECONDS_MAX   10
#define SECONDS_TYPED 1 /* then SIGINT */
#define SECONDS_AFTER 1
#define MEBIBYTES_MAX 512

#ifdef __SANITIZE_ADDRESS__
#define SCALE 10
#else
#define SCALE 1
#endif
/* Rows may come that were not there; so much more is a product of two walks. */
#define GROWTH_MAX 8
#define BYTES_FREE (1u << 16)
#define BYTES_EACH 512u /* for a word that was changed: a row that is now there */

struct loops {
	struct target *target;
	struct overlay overlay;
	struct shared *shared;
	const char *line;
	size_t links;
	uint64_t share, number;
	/* Of the words of a line: by address, by place; the links among them. */
	struct word *by_address, *by_place;
	struct word *leading; /* links, by where they lead */
	size_t count, leading_count;
	uint64_t base_bytes, base_lines;
	/* What came out. */
	uint64_t variants, lines, failed, typed;
	double slowest;
	char slowest_line[64];
	long largest; /* KiB */
	char largest_line[64];
};

/* --- running a line -------------------------------------------------------------------------- */

/* What is garbage differs from line to line; what is walked again is said again. */
static void end_line(struct shared *shared)
{
	uint64_t bit = shared->line_hash >> 20 & (LINE_BITS - 1);
	if (shared->met[bit / 8] >> bit % 8 & 1)
		shared->repeated += shared->line_size;
	shared->met[bit / 8] |= (uint8_t)(1u << bit % 8);
	shared->lines++;
	shared->line_hash = shared->line_size = 0;
}

static ssize_t count_bytes(void *cookie, const char *bytes, size_t size)
{
	struct shared *shared = cookie;
	shared->bytes += size;
	for (size_t i = 0; i < size; i++) {
		shared->line_hash = (shared->line_hash ^ (uint8_t)bytes[i]) * 0x100000001b3;
		shared->line_size++;
		if (bytes[i] == '\n')
			end_line(shared);
	}
	return (ssize_t)size;
}

static void run_line(struct loops *loops)
{
	struct session session = { .target = loops->target,
				   .quiet = true,
				   .render = render_defaults };
	session.file =
		fopencookie(loops->shared, "w", (cookie_io_functions_t){ .write = count_bytes });
	struct error *error = scope_init(&session.scope, loops->target);
	if (error || !session.file)
		_exit(3);
	command_run_line(&session, loops->line);
	fclose(session.file);
}

/* SIGINT as if it was typed, after so many seconds of processor time. */
static void type_later(unsigned int seconds)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGINT };
	const struct itimerspec when = { .it_value.tv_sec = seconds };
	timer_t timer;
	interrupt_install();
	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) ||
	    timer_settime(timer, 0, &when, NULL))
		_exit(3);
}

struct outcome {
	int status;
	double seconds;
	long kibibytes;
};

static double seconds_of(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static struct outcome run_apart(struct loops *loops, bool is_typed)
{
	rlim_t seconds = (is_typed ? SECONDS_TYPED + SECONDS_AFTER : SECONDS_MAX) * SCALE;
	const struct rlimit limit = { seconds, seconds + 1 };
	struct outcome outcome = { .status = -1 };
	struct rusage usage = { 0 };
	loops->shared->bytes = loops->shared->lines = loops->shared->repeated = 0;
	loops->shared->line_hash = loops->shared->line_size = 0;
	memset(loops->shared->met, 0, sizeof(loops->shared->met));
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDERR_FILENO);
		dup2(null, STDOUT_FILENO);
		if (!loops->overlay.notes)
			setrlimit(RLIMIT_CPU, &limit);
		if (is_typed)
			type_later(SECONDS_TYPED * SCALE);
		run_line(loops);
		_exit(0);
	}
	if (child < 0 || wait4(child, &outcome.status, 0, &usage) != child)
		perror("loops");
	outcome.seconds = seconds_of(&usage);
	outcome.kibibytes = usage.ru_maxrss;
	return outcome;
}

/* --- links ----------------------------------------------------------------------------------- */

static bool is_pointer(uint64_t value)
{
	return value >> 47 == 0x1ffff && value < UINT64_MAX - 4096;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_values(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_places(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The first word that is read at or behind an address. */
static size_t first_at(const struct loops *loops, uint64_t address)
{
	size_t low = 0, high = loops->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (loops->by_address[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first link that leads to or behind an address. */
static size_t first_leading(const struct loops *loops, uint64_t address)
{
	size_t low = 0, high = loops->leading_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (loops->leading[middle].value < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether it leads to something that is read, too. */
static bool is_link(const struct loops *loops, const struct word *word)
{
	if (!is_pointer(word->value))
		return false;
	size_t at = first_at(loops, word->value - OBJECT_SIZE / 4);
	return at < loops->count && loops->by_address[at].address < word->value + OBJECT_SIZE / 4;
}

static void find_links(struct loops *loops)
{
	loops->count = loops->shared->count;
	memcpy(loops->by_address, loops->shared->words, loops->count * sizeof(struct word));
	memcpy(loops->by_place, loops->by_address, loops->count * sizeof(struct word));
	array_sort(loops->by_address, loops->count, sizeof(struct word), compare_addresses);
	array_sort(loops->by_place, loops->count, sizeof(struct word), compare_places);
	loops->leading_count = 0;
	for (size_t i = 0; i < loops->count; i++)
		if (is_link(loops, &loops->by_address[i]))
			loops->leading[loops->leading_count++] = loops->by_address[i];
	array_sort(loops->leading, loops->leading_count, sizeof(struct word), compare_values);
}

/*
 * The link by which the object came to be known that this word is in: of those that lead to
 * somewhere near before it was read, the nearest. NULL: none.
 */
static const struct word *link_to(const struct loops *loops, const struct word *word)
{
	const struct word *best = NULL;
	uint64_t nearest = OBJECT_SIZE;
	for (size_t i = first_leading(loops, word->address - OBJECT_SIZE);
	     i < loops->leading_count && loops->leading[i].value < word->address + OBJECT_SIZE / 4;
	     i++) {
		const struct word *link = &loops->leading[i];
		uint64_t value = link->value & ~(uint64_t)7;
		uint64_t away = value > word->address ? value - word->address
						      : word->address - value;
		if (link->number < word->number && link->address != word->address &&
		    away < nearest) {
			best = link;
			nearest = away;
		}
	}
	return best;
}

/* How far behind `near` a word lies that the same place of the code has read as `word`: the
 * nearest. */
static bool same_member(const struct loops *loops, const struct word *word, uint64_t near,
			uint64_t *ret_offset)
{
	uint64_t nearest = OBJECT_SIZE;
	for (size_t i = first_at(loops, near - OBJECT_SIZE);
	     i < loops->count && loops->by_address[i].address < near + OBJECT_SIZE; i++) {
		const struct word *other = &loops->by_address[i];
		uint64_t away = other->address > near ? other->address - near
						      : near - other->address;
		if (other->place == word->place && away < nearest) {
			nearest = away;
			*ret_offset = other->address - near;
		}
	}
	return nearest < OBJECT_SIZE;
}

/* --- variants -------------------------------------------------------------------------------- */

/* Leads a link elsewhere; `agrees`: what leads back from there does as it did from the old place.
 */
static void lead(struct loops *loops, const struct word *link, uint64_t to, bool agrees)
{
	uint64_t old = link->value & ~(uint64_t)7;
	for (size_t i = first_at(loops, old - OBJECT_SIZE / 2);
	     agrees && i < loops->count && loops->by_address[i].address < old + OBJECT_SIZE / 2;
	     i++) {
		const struct word *back = &loops->by_address[i];
		if (back->address != link->address && is_pointer(back->value) &&
		    back->value - link->address + OBJECT_SIZE / 2 < OBJECT_SIZE)
			set_word(&loops->overlay, to + (back->address - old), back->value);
	}
	set_word(&loops->overlay, link->address, to | (link->value & 7));
}

static void tell(const struct loops *loops, const char *what, const struct outcome *outcome,
		 const char *variant)
{
	printf("%s: %s: %s: status %#x, %" PRIu64 " lines, %" PRIu64 " bytes (whole: %" PRIu64
	       "), %.1f s, %ld MiB\n",
	       loops->line, variant, what, outcome->status, loops->shared->lines,
	       loops->shared->bytes, loops->base_bytes, outcome->seconds, outcome->kibibytes >> 10);
	fflush(stdout);
}

static const char *judge(const struct loops *loops, const struct outcome *outcome)
{
	if (WIFSIGNALED(outcome->status))
		return WTERMSIG(outcome->status) == SIGXCPU || WTERMSIG(outcome->status) == SIGKILL
			       ? "does not end"
			       : "dies";
	if (outcome->status)
		return "does not run";
	if (outcome->kibibytes >> 10 > MEBIBYTES_MAX * SCALE)
		return "takes too much memory";
	if (loops->shared->repeated >
	    loops->base_bytes * GROWTH_MAX + BYTES_FREE + BYTES_EACH * loops->overlay.change_count)
		return "grows";
	return NULL;
}

static void remember(struct loops *loops, const struct outcome *outcome)
{
	if (outcome->seconds > loops->slowest) {
		loops->slowest = outcome->seconds;
		snprintf(loops->slowest_line, sizeof(loops->slowest_line), "%s", loops->line);
	}
	if (outcome->kibibytes > loops->largest) {
		loops->largest = outcome->kibibytes;
		snprintf(loops->largest_line, sizeof(loops->largest_line), "%s", loops->line);
	}
}

/* With the changes that were made, which are taken back. */
static void run_variant(struct loops *loops, const char *variant)
{
	struct outcome outcome = run_apart(loops, false);
	const char *wrong = judge(loops, &outcome);
	loops->variants++;
	remember(loops, &outcome);
	if (wrong)
		tell(loops, wrong, &outcome, variant);
	bool failed = wrong;
	if (outcome.seconds > SECONDS_TYPED * SCALE) {
		outcome = run_apart(loops, true);
		loops->typed++;
		if (outcome.status) {
			tell(loops, "is not interrupted", &outcome, variant);
			failed = true;
		}
	}
	loops->failed += failed;
}

static void forget_changes(struct loops *loops)
{
	memset(loops->overlay.changes, 0, sizeof(loops->overlay.changes));
	loops->overlay.change_count = 0;
}

static bool is_chosen(struct loops *loops)
{
	return !(loops->number++ % loops->share);
}

static void try_link(struct loops *loops, const struct word *link, uint64_t to, const char *where)
{
	char variant[160];
	for (int agrees = 1; agrees >= 0; agrees--) {
		if (!is_chosen(loops))
			continue;
		lead(loops, link, to & ~(uint64_t)7, agrees);
		snprintf(variant, sizeof(variant),
			 "0x%" PRIx64 " -> 0x%" PRIx64 " (was 0x%" PRIx64 ", %s%s)", link->address,
			 to & ~(uint64_t)7, link->value, where, agrees ? ", and back" : "");
		run_variant(loops, variant);
		forget_changes(loops);
	}
}

struct targets {
	uint64_t addresses[TARGETS_MAX];
	size_t count;
};

/* One after the other, none twice. */
static void try_once(struct loops *loops, struct targets *tried, const struct word *link,
		     uint64_t to, const char *where)
{
	to &= ~(uint64_t)7;
	if (!is_pointer(to) || to == (link->value & ~(uint64_t)7) || tried->count == TARGETS_MAX)
		return;
	for (size_t i = 0; i < tried->count; i++)
		if (tried->addresses[i] == to)
			return;
	tried->addresses[tried->count++] = to;
	try_link(loops, link, to, where);
}

static void try_each(struct loops *loops, const struct word *link)
{
	struct targets tried = { .count = 0 };
	const struct word *before = link_to(loops, link), *head = before;
	uint64_t offset, target = link->value & ~(uint64_t)7;
	try_once(loops, &tried, link, link->address, "itself");
	/* What the link lies in, as the kind of object that it leads to. */
	if (same_member(loops, link, target, &offset))
		try_once(loops, &tried, link, link->address - offset, "its object");
	if (!before)
		return;
	try_once(loops, &tried, link, before->value, "its node");
	try_once(loops, &tried, link, before->address, "the link before");
	const struct word *second = link_to(loops, before);
	if (second)
		try_once(loops, &tried, link, second->value, "an element before");
	if (same_member(loops, before, target, &offset))
		try_once(loops, &tried, link, before->address - offset, "the object before");
	for (unsigned int i = 0; i < ANCESTORS_MAX; i++) {
		const struct word *next = link_to(loops, head);
		if (!next)
			break;
		head = next;
	}
	try_once(loops, &tried, link, head->address, "the head");
	try_once(loops, &tried, link, head->value, "the first element");
}

/* What one place of the code has read: words[first..end). */
struct place {
	const struct word *words;
	size_t count;
};

static void try_merged(struct loops *loops, const struct place *place)
{
	char variant[96];
	if (!is_chosen(loops))
		return;
	for (size_t i = 1; i < place->count; i++)
		set_word(&loops->overlay, place->words[i].address, place->words[0].value);
	snprintf(variant, sizeof(variant), "%zu like 0x%" PRIx64 " lead to one thing", place->count,
		 place->words[0].address);
	run_variant(loops, variant);
	forget_changes(loops);
}

/* Each leads to the next one, which leads back, as heads and nodes of doubly linked lists do. */
static void link_ring(struct loops *loops, const uint64_t *ring, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		set_word(&loops->overlay, ring[i], ring[(i + 1) % count]);
		set_word(&loops->overlay, ring[(i + 1) % count] + 8, ring[i]);
	}
}

/*
 * Of heads the nodes of what they are in, too, which lie so far before them: each is then in the
 * list of each.
 */
static void try_ring(struct loops *loops, const struct place *place, uint64_t offset)
{
	static uint64_t ring[CHANGES_MAX / 2];
	char variant[96];
	size_t count = 0;
	if (!is_chosen(loops))
		return;
	for (size_t i = 0; i < place->count && count + 1 < ARRAY_COUNT(ring); i++) {
		if (offset)
			ring[count++] = place->words[i].address - offset;
		ring[count++] = place->words[i].address;
	}
	link_ring(loops, ring, count);
	snprintf(variant, sizeof(variant), "%zu like 0x%" PRIx64 "%s in one ring", place->count,
		 place->words[0].address, offset ? " and their nodes" : "");
	run_variant(loops, variant);
	forget_changes(loops);
}

static void try_place(struct loops *loops, const struct place *place)
{
	size_t links = 0;
	uint64_t offset = 0, found;
	for (size_t i = 0; i < place->count && links < loops->links; i++) {
		const struct word *link = &place->words[i];
		if (!is_link(loops, link))
			continue;
		try_each(loops, link);
		links++;
		if (!offset && same_member(loops, link, link->value & ~(uint64_t)7, &found))
			offset = found;
	}
	if (links && place->count > 1) {
		try_merged(loops, place);
		try_ring(loops, place, 0);
	}
	if (links && offset)
		try_ring(loops, place, offset);
}

/* --- lines ----------------------------------------------------------------------------------- */

static void try_line(struct loops *loops, const char *line)
{
	loops->line = line;
	loops->shared->count = 0;
	loops->overlay.notes = true;
	struct outcome outcome = run_apart(loops, false);
	loops->overlay.notes = false;
	loops->base_bytes = loops->shared->bytes;
	loops->base_lines = loops->shared->lines;
	if (outcome.status) {
		tell(loops, "fails as it is", &outcome, "no change");
		loops->failed++;
		return;
	}
	loops->lines++;
	find_links(loops);
	uint64_t before = loops->variants, failed = loops->failed;
	for (size_t i = 0, end; i < loops->count; i = end) {
		for (end = i + 1;
		     end < loops->count && loops->by_place[end].place == loops->by_place[i].place;)
			end++;
		const struct place place = { &loops->by_place[i], end - i };
		try_place(loops, &place);
	}
	if (getenv("BTFCRASH_STRESS_VERBOSE"))
		printf("%-40s %8" PRIu64 " bytes, %6zu words, %6zu links, %.3f s: %" PRIu64
		       " variants, %" PRIu64 " failed\n",
		       line, loops->base_bytes, loops->count, loops->leading_count, outcome.seconds,
		       loops->variants - before, loops->failed - failed);
}

static const char *const walking[] = { "bt -a",
				       "foreach bt",
				       "ps",
				       "ps -t",
				       "files -a",
				       "report",
				       "record",
				       "analyze",
				       "locks",
				       "waits",
				       "stacks",
				       "mod",
				       "log",
				       "bpf",
				       "sys",
				       "kmem -i",
				       "kmem -s",
				       "whattype init_task",
				       "list task_struct.tasks init_task.tasks -n 0",
				       "list super_block.s_list super_blocks -n 0",
				       "tree prog_idr -n 0",
				       "tree vmap_area_root -n 0",
				       "print -l 10 init_task" };

static void try_all(struct loops *loops)
{
	char line[96];
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->table)
			continue;
		try_line(loops, commands[i]->name);
		snprintf(line, sizeof(line), "%s --sort %s", commands[i]->name,
			 commands[i]->table->columns[0].name);
		try_line(loops, line);
	}
	for (size_t i = 0; i < ARRAY_COUNT(walking); i++)
		try_line(loops, walking[i]);
}

static struct error *prepare(struct loops *loops)
{
	struct target *target = loops->target;
	const struct module *modules;
	TRY(target_need_memory(target));
	TRY(target_need_btf(target));
	TRY(target_need_cpus(target));
	target_modules(target, &modules);
	loops->overlay.memory = *target->memory;
	loops->overlay.memory.read = overlay_read;
	loops->overlay.memory.lend = NULL;
	loops->overlay.inner = target->memory;
	loops->overlay.shared = loops->shared;
	pthread_mutex_init(&loops->overlay.lock, NULL);
	target->memory = &loops->overlay.memory;
	/* The unwinder of these traces is loaded once, not in each process. */
	place_of_code();
	return NULL;
}

static struct error *run(struct loops *loops, char **argv, int argc)
{
	struct target_options options = { .vmcoreinfo_path = NULL };
	const char *dump = argv[1];
	TRY(target_open(&dump, 1, &options, &loops->target));
	struct error *error = prepare(loops);
	for (int i = 4; i < argc && !error; i++)
		try_line(loops, argv[i]);
	if (argc <= 4 && !error)
		try_all(loops);
	if (!error)
		loops->target->memory = loops->overlay.inner;
	target_close(loops->target);
	return error;
}

static bool init(struct loops *loops, char **argv)
{
	loops->links = strtoull(argv[2], NULL, 10);
	loops->share = strtoull(argv[3], NULL, 10);
	loops->shared = mmap(NULL, sizeof(*loops->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	loops->by_address = calloc(WORDS_MAX, sizeof(struct word));
	loops->by_place = calloc(WORDS_MAX, sizeof(struct word));
	loops->leading = calloc(WORDS_MAX, sizeof(struct word));
	return loops->share && loops->links && loops->shared != MAP_FAILED && loops->by_address &&
	       loops->by_place && loops->leading;
}

int main(int argc, char **argv)
{
	static struct loops loops;
	if (argc < 4 || !init(&loops, argv)) {
		fprintf(stderr, "usage: loops DUMP LINKS SHARE [LINE...]\n");
		return 2;
	}
	struct error *error = run(&loops, argv, argc);
	if (error) {
		fprintf(stderr, "loops: %s\n", error->message);
		error_free(error);
		return 2;
	}
	printf("%" PRIu64 " variants of %" PRIu64 " lines, %" PRIu64 " interrupted, %" PRIu64
	       " failed; the slowest %.3f s (%s), the largest %ld MiB (%s)\n",
	       loops.variants, loops.lines, loops.typed, loops.failed, loops.slowest,
	       loops.slowest_line, loops.largest >> 10, loops.largest_line);
	return loops.failed || !loops.variants;
}
