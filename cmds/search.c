// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "base/array.h"
#include "debugger/command/arguments.h"
#include "debugger/command/task_space.h"
#include "debugger/eval/value.h"
#include "debugger/kernel/mappings.h"
#include "debugger/kernel/memory_search.h"
#include "debugger/kernel/page_array.h"
#include "debugger/kernel/path.h"
#include "debugger/whattype/place.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WHERE_SIZE (PATH_SIZE + 32)

enum {
	OPTION_KERNEL,
	OPTION_PHYSICAL,
	OPTION_USER,
	OPTION_TASK,
	OPTION_TEXT,
	OPTION_POINTERS,
	OPTION_MASK,
	OPTION_WORD,
	OPTION_HALF,
	OPTION_START,
	OPTION_END,
	OPTION_LENGTH,
	OPTION_COUNT
};

struct searching {
	struct session *session;
	struct memory_search search;
	struct search_pattern *patterns;
	struct places *places; /* NULL: the kernel's memory cannot be told apart */
	bool is_text;
	uint64_t direct_map; /* of physical addresses: where they are in the kernel's */

	/* Of a process; NULL: none is searched. */
	struct user_space *user;
	const struct user_mapping *mapping; /* that the last hit was in; NULL */
	bool has_path;			    /* else it is anonymous, or why its name is missing */
	char mapping_path[PATH_SIZE];
};

/* --- what is found -----------------------------------------------------------------------------
 */

static const struct column columns[] = {
	{ "address", "ADDRESS", -16 },
	{ "value", "VALUE", -16 },
	{ "where", "WHERE", -1 },
	{ "text", NULL, 0 },
	{ "physical", NULL, 0 },
	{ "region", NULL, 0 },
	{ "symbol", NULL, 0 },
	{ "symbol_offset", NULL, 0 },
	{ "module", NULL, 0 },
	{ "cpu", NULL, 0 },
	{ "cache", NULL, 0 },
	{ "object", NULL, 0 },
	{ "offset", NULL, 0 },
	{ "state", NULL, 0 },
	{ "pid", NULL, 0 },
	{ "comm", NULL, 0 },
	{ "task", NULL, 0 },
	{ "type", NULL, 0 },
	{ "member", NULL, 0 },
	{ "confidence", NULL, 0 },
	{ "vma", NULL, 0 },
	{ "path", NULL, 0 },
};

/* An empty text: not there. */
static void write_text(struct out *out, const char *key, const char *text)
{
	if (text && *text)
		out_string_as(out, key, text, "");
	else
		out_null_as(out, key, "");
}

static void write_number(struct out *out, const char *key, bool is_there, uint64_t number)
{
	if (is_there)
		out_u64_as(out, key, number, "");
	else
		out_null_as(out, key, "");
}

static void write_address(struct out *out, const char *key, bool is_there, uint64_t address)
{
	if (is_there)
		out_address_as(out, key, address, "");
	else
		out_null_as(out, key, "");
}

static void write_symbol(struct out *out, const struct memory_place *place)
{
	write_text(out, "symbol", place->has_symbol ? place->symbol : NULL);
	write_number(out, "symbol_offset", place->has_symbol, place->offset);
	write_text(out, "module", place->module);
	write_number(out, "cpu", place->cpu, place->cpu ? place->cpu->number : 0);
}

static void write_object(struct out *out, const struct memory_place *place, bool is_user)
{
	static const char *const states[] = {
		[SLAB_NO_OBJECT] = "no object",
		[SLAB_FREE] = "free",
		[SLAB_ALLOCATED] = "allocated",
		[SLAB_UNSURE] = "perhaps allocated",
	};
	bool in_slab = place->region == REGION_SLAB;
	bool has_object = !place->has_symbol && place->start;
	bool in_stack = place->region == REGION_STACK;
	char type[512] = "";
	if (place->type.btf)
		type_spell(place->type, NULL, type, sizeof(type));
	write_text(out, "cache", in_slab ? place->slab.cache->name : NULL);
	write_address(out, "object", has_object, place->start);
	write_number(out, "offset", has_object || is_user, place->offset);
	write_text(out, "state", in_slab ? states[place->slab.state] : NULL);
	if (in_stack)
		out_i64_as(out, "pid", place->pid, "");
	else
		out_null_as(out, "pid", "");
	write_text(out, "comm", in_stack ? place->comm : NULL);
	write_address(out, "task", in_stack, place->task);
	write_text(out, "type", type);
	write_text(out, "member", place->member);
	write_text(out, "confidence", *type ? confidence_name(place->confidence) : NULL);
}

static void write_value(const struct searching *searching, const struct search_hit *hit)
{
	struct out *out = searching->session->out;
	char text[20];
	snprintf(text, sizeof(text), "%0*" PRIx64, (int)searching->search.width * 2, hit->value);
	if (searching->is_text)
		out_null_as(out, "value", searching->patterns[hit->pattern].text);
	else
		out_address_as(out, "value", hit->value, text);
}

/* What it is called; what the dump lacks of that is said in its place. */
static struct error *name_mapping(struct searching *searching, const struct user_mapping *mapping)
{
	struct target *target = searching->session->target;
	struct object mm, vma;
	searching->mapping = mapping;
	struct error *error =
		object_at(target, "struct mm_struct", user_space_mm(searching->user), &mm);
	if (!error)
		error = object_at(target, "struct vm_area_struct", mapping->vma, &vma);
	if (!error)
		error = mapping_name(&mm, &vma, searching->mapping_path,
				     sizeof(searching->mapping_path));
	searching->has_path = !error && *searching->mapping_path;
	if (error)
		snprintf(searching->mapping_path, sizeof(searching->mapping_path), "<%s>",
			 error->message);
	else if (!searching->has_path)
		snprintf(searching->mapping_path, sizeof(searching->mapping_path), "anonymous");
	return error_only_fatal(error);
}

/* The mapping of a hit, and how far in the file it is, or else in the mapping. */
static struct error *find_mapping(struct searching *searching, uint64_t address, uint64_t *offset)
{
	const struct user_mapping *mappings;
	const struct error *problem;
	size_t count;
	TRY(user_space_mappings(searching->user, &mappings, &count, &problem));
	size_t first = array_bound(count, i, mappings[i].end <= address);
	/* It is where the search found the address. */
	if (first == count)
		return NULL;
	const struct user_mapping *mapping = &mappings[first];
	if (mapping != searching->mapping)
		TRY(name_mapping(searching, mapping));
	*offset = address - mapping->start;
	if (mapping->file)
		*offset += mapping->page_offset * searching->session->target->facts->page_size;
	return NULL;
}

static struct error *find_place(struct searching *searching, const struct search_hit *hit,
				struct memory_place *place, char where[WHERE_SIZE])
{
	if (searching->user) {
		TRY(find_mapping(searching, hit->address, &place->offset));
		snprintf(where, WHERE_SIZE, "%s+0x%" PRIx64, searching->mapping_path,
			 place->offset);
	} else if (searching->places) {
		TRY(places_find(searching->places, searching->direct_map + hit->address, place));
		place_spell(searching->places, place, where, WHERE_SIZE);
	}
	return NULL;
}

static void write_mapping(struct out *out, const struct searching *searching)
{
	const struct user_mapping *mapping = searching->mapping;
	write_address(out, "vma", mapping, mapping ? mapping->vma : 0);
	write_text(out, "path", searching->has_path ? searching->mapping_path : NULL);
}

static struct error *write_hit(void *context, const struct search_hit *hit)
{
	struct searching *searching = context;
	struct out *out = searching->session->out;
	struct memory_place place = { .region = REGION_UNKNOWN };
	char where[WHERE_SIZE] = "";
	TRY(find_place(searching, hit, &place, where));
	out_item_named(out, hit->address, NULL);
	out_row_begin(out);
	out_address(out, "address", hit->address);
	write_value(searching, hit);
	out_string(out, "where", where);
	write_text(out, "text", searching->is_text ? searching->patterns[hit->pattern].text : NULL);
	out_address_as(out, "physical", hit->physical, "");
	out_string_as(out, "region", searching->user ? "user" : memory_region_name(place.region),
		      "");
	write_symbol(out, &place);
	write_object(out, &place, searching->user);
	write_mapping(out, searching);
	out_row_end(out);
	return NULL;
}

/* --- what is looked for ------------------------------------------------------------------------
 */

static struct error *address_of(struct session *session, const char *text, uint64_t *ret)
{
	return expression_address(&session->scope, text, ret);
}

/* The object around an address: that of a slab cache, a variable, a stack; else the address. */
static struct error *find_object(const struct searching *searching, uint64_t address,
				 struct search_pattern *pattern)
{
	struct memory_place place;
	struct symbol symbol;
	uint64_t offset, size = 0;
	pattern->first = address;
	if (!searching->places)
		return NULL;
	TRY(places_find(searching->places, address, &place));
	if (place.region == REGION_SLAB && place.slab.state != SLAB_NO_OBJECT)
		size = place.slab.cache->object_size;
	else if (place.region == REGION_PAGE_STRUCT && type_size(place.type, &size))
		size = place.offset < size ? size : 0;
	else if (place.has_symbol && place.region != REGION_PER_CPU &&
		 target_symbol_at(searching->session->target, address, &symbol, &offset))
		size = symbol.size;
	if (size && place.offset < size) {
		pattern->first = place.start;
		pattern->span = size - 1;
	}
	return NULL;
}

/* "ADDRESS", or "ADDRESS,SIZE". */
static struct error *parse_object(const struct searching *searching, const char *text,
				  struct search_pattern *pattern)
{
	const char *comma = strrchr(text, ',');
	uint64_t size;
	if (!comma) {
		uint64_t address;
		TRY(address_of(searching->session, text, &address));
		return find_object(searching, address, pattern);
	}
	char *address = strndup(text, (size_t)(comma - text));
	if (!address)
		return error_no_memory();
	struct error *error = address_of(searching->session, address, &pattern->first);
	free(address);
	TRY(error);
	TRY(argument_number(comma + 1, "a size", 1, INT64_MAX, &size));
	if (pattern->first + (size - 1) < pattern->first)
		return error_create(ERROR_USAGE, "it ends beyond the last address");
	pattern->span = size - 1;
	return NULL;
}

static struct error *parse_value(const struct searching *searching, const char *text, uint64_t keep,
				 struct search_pattern *pattern)
{
	unsigned int bits = searching->search.width * 8;
	uint64_t value;
	TRY(address_of(searching->session, text, &value));
	if (bits < 64 && value >> bits)
		return error_create(ERROR_USAGE, "%s has more than %u bits", text, bits);
	pattern->keep = keep;
	pattern->first = value & keep;
	return NULL;
}

static struct error *parse_pattern(const struct searching *searching,
				   const struct arguments *arguments, const char *text,
				   uint64_t keep, struct search_pattern *pattern)
{
	*pattern = (struct search_pattern){ .keep = UINT64_MAX };
	if (arguments->options[OPTION_POINTERS])
		return parse_object(searching, text, pattern);
	if (!searching->is_text)
		return parse_value(searching, text, keep, pattern);
	pattern->text = text;
	pattern->size = strlen(text);
	if (!pattern->size || pattern->size > SEARCH_TEXT_MAX)
		return error_create(ERROR_USAGE, "a text has 1 to %d bytes", SEARCH_TEXT_MAX);
	return NULL;
}

static struct error *parse_range(struct searching *searching, const struct arguments *arguments)
{
	struct memory_search *search = &searching->search;
	const char *start = arguments->options[OPTION_START];
	const char *end = arguments->options[OPTION_END];
	const char *length = arguments->options[OPTION_LENGTH];
	uint64_t value;
	search->last = UINT64_MAX;
	/* A process's own memory is not the kernel's. */
	if (search->space == SPACE_KERNEL)
		search->first = UINT64_C(1)
				<< (searching->session->target->memory->word_size * 8 - 1);
	if (start)
		TRY(address_of(searching->session, start, &search->first));
	if (end && length)
		return command_usage_error(arguments->command, "-e and -l both say where it ends");
	if (end) {
		TRY(address_of(searching->session, end, &value));
		if (value <= search->first)
			return error_create(ERROR_USAGE, "it ends before it begins");
		search->last = value - 1;
	}
	if (length) {
		TRY(argument_number(length, "a length", 1, UINT64_MAX, &value));
		if (search->first + (value - 1) < search->first)
			return error_create(ERROR_USAGE, "it ends beyond the last address");
		search->last = search->first + (value - 1);
	}
	return NULL;
}

static struct error *parse_words(struct searching *searching, const struct arguments *arguments)
{
	struct memory_search *search = &searching->search;
	const char *mask = arguments->options[OPTION_MASK];
	bool is_half = arguments->options[OPTION_HALF], is_word = arguments->options[OPTION_WORD];
	bool is_pointers = arguments->options[OPTION_POINTERS];
	uint64_t ignored = 0;
	searching->is_text = arguments->options[OPTION_TEXT];
	if (searching->is_text + is_half + is_word + is_pointers > 1 ||
	    (mask && (searching->is_text || is_pointers)))
		return command_usage_error(arguments->command,
					   "texts and pointers have no size of words and no mask");
	search->width = searching->is_text ? 1
			: is_half	   ? 2
			: is_word	   ? 4
					   : searching->session->target->physical->word_size;
	if (mask)
		TRY(address_of(searching->session, mask, &ignored));
	search->pattern_count = arguments->operand_count;
	for (size_t i = 0; i < arguments->operand_count; i++)
		TRY(parse_pattern(searching, arguments, arguments->operands[i], ~ignored,
				  &searching->patterns[i]));
	if (arguments->options[OPTION_COUNT])
		TRY(argument_number(arguments->options[OPTION_COUNT], "a number of hits", 1,
				    INT64_MAX, &search->limit));
	return NULL;
}

static struct error *prepare_physical(struct searching *searching)
{
	struct target *target = searching->session->target;
	struct page_array pages;
	if (!target->memory || !target->btf)
		return NULL;
	struct error *error = page_array_read(target, &pages);
	if (!error)
		searching->direct_map = pages.direct_map;
	TRY(error_only_fatal(error));
	return searching->direct_map ? places_create(target, &searching->places) : NULL;
}

static struct error *prepare_kernel(struct searching *searching)
{
	struct target *target = searching->session->target;
	TRY(target_need_memory(target));
	TRY(target_need_symbols(target));
	TRY(target_need_btf(target));
	return places_create(target, &searching->places);
}

static struct error *prepare_space(struct searching *searching, const struct arguments *arguments)
{
	const char *task = arguments->options[OPTION_TASK];
	bool is_physical = arguments->options[OPTION_PHYSICAL];
	bool is_user = arguments->options[OPTION_USER];
	if (is_physical + is_user + !!arguments->options[OPTION_KERNEL] > 1)
		return command_usage_error(arguments->command, "-k, -u or -p");
	if (task && !is_user)
		return command_usage_error(arguments->command, "--task is of -u");
	searching->search.space = is_physical ? SPACE_PHYSICAL
				  : is_user   ? SPACE_USER
					      : SPACE_KERNEL;
	if (is_user) {
		TRY(task_space_open(searching->session, task, &searching->user));
		searching->search.user = searching->user;
		return NULL;
	}
	return is_physical ? prepare_physical(searching) : prepare_kernel(searching);
}

static struct error *prepare(struct searching *searching, const struct arguments *arguments)
{
	searching->patterns = calloc(arguments->operand_count, sizeof(*searching->patterns));
	if (!searching->patterns)
		return error_no_memory();
	searching->search.patterns = searching->patterns;
	TRY(prepare_space(searching, arguments));
	if (arguments->options[OPTION_POINTERS] && !searching->places && !searching->user)
		return error_create(ERROR_NOT_FOUND, "the kernel's memory cannot be told apart");
	TRY(parse_range(searching, arguments));
	return parse_words(searching, arguments);
}

/* --- the command -------------------------------------------------------------------------------
 */

/* A mapping that could not be read was not searched. */
static struct error *say_unsearched(const struct searching *searching)
{
	const struct user_mapping *mappings;
	const struct error *problem = NULL;
	size_t count;
	if (searching->user)
		TRY(user_space_mappings(searching->user, &mappings, &count, &problem));
	return problem ? error_prefix(error_copy(problem), "not all mappings were searched") : NULL;
}

static struct error *search_run(struct session *session, const struct arguments *arguments)
{
	struct searching searching = { .session = session };
	searching.search.target = session->target;
	searching.search.progress = session->progress;
	searching.search.hit = write_hit;
	searching.search.context = &searching;
	struct error *error = prepare(&searching, arguments);
	if (!error) {
		out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
		error = memory_search_run(&searching.search);
		out_table_end(session->out);
	}
	if (!error)
		error = say_unsearched(&searching);
	user_space_close(searching.user);
	places_destroy(searching.places);
	free(searching.patterns);
	return error;
}

static const char *const examples[] = {
	"search init_task -n 5",	  "search -r init_task -n 10",
	"search -c 'Linux version' -n 3", "search -h -m 0xff 0xf00 -l 0x10000 -s linux_banner",
	"search -p -c BOOT_IMAGE -n 1",	  NULL
};

const struct command command_search = {
	.name = "search",
	.summary = "find words, texts and pointers in memory",
	.description =
		"Looks for words with one of these values in all of the dump's memory, and says "
		"what each lies in: a variable, a slab cache's object, a task's stack. Values are "
		"numbers, hexadecimal with or without 0x, symbols or C expressions; words lie at "
		"multiples of their size. With -r, words that point into the object at ADDRESS "
		"are found: the object of a slab cache, the variable, or what ADDRESS,SIZE says; "
		"else those that point at the address itself.\n"
		"\n"
		"Each page of memory comes once, by the address that says most: that in vmalloc's "
		"areas (stacks, modules), in the kernel's image, in the array of struct page, else "
		"in the direct map of all memory. From -s to -e or for -l bytes only, it comes "
		"with an address there. Hits come by address. A member is that of the type after "
		"which the slab cache is named; `whattype` knows more ways to a type, and takes "
		"hits from a pipe.\n"
		"\n"
		"With -u the memory of a process is searched, of the chosen task's or of TASK's "
		"(--task): each page that is in memory, by its addresses in the process, pages of "
		"mapped files that are in the page cache among them. A hit is named by its "
		"mapping: its place in the file, or else from the mapping's start. What was never "
		"touched, swapped out or is in its file alone is not searched; -r has pointers to "
		"the address itself or into ADDRESS,SIZE.",
	.options = { [OPTION_KERNEL] = { 'k', "kernel", NULL, 0,
					 "the kernel's addresses (what is done without it, too)" },
		     [OPTION_PHYSICAL] = { 'p', "physical", NULL, 0, "physical addresses" },
		     [OPTION_USER] = { 'u', "user", NULL, 0, "a process's addresses" },
		     [OPTION_TASK] = { 0, "task", "TASK", OPERAND_TASK, "with -u, of this task" },
		     [OPTION_TEXT] = { 'c', "text", NULL, 0, "VALUEs are texts, bytes anywhere" },
		     [OPTION_POINTERS] = { 'r', "references", NULL, 0,
					   "pointers into the objects at VALUEs" },
		     [OPTION_MASK] = { 'm', "mask", "MASK", OPERAND_NUMBER,
				       "the bits of words that do not count" },
		     [OPTION_WORD] = { 'w', NULL, NULL, 0, "words of 4 bytes" },
		     [OPTION_HALF] = { 'h', NULL, NULL, 0, "words of 2 bytes" },
		     [OPTION_START] = { 's', "start", "START", OPERAND_ADDRESS, "from there on" },
		     [OPTION_END] = { 'e', "end", "END", OPERAND_ADDRESS, "up to there" },
		     [OPTION_LENGTH] = { 'l', "length", "LENGTH", OPERAND_NUMBER, "so many bytes" },
		     [OPTION_COUNT] = { 'n', "count", "COUNT", OPERAND_NUMBER, "so many hits" } },
	.operands = { { .name = "VALUE", .kind = OPERAND_ADDRESS, .repeated = true } },
	.examples = examples,
	.per_task = true,
	.run = search_run,
};
