// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/store/cache.h"

#include "base/array.h"
#include "base/hash.h"
#include "debugger/declare/declare.h"
#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX  4096 /* of a symbol, that count */
#define SAMPLE_MAX 512	/* bytes of a symbol that tells the moment */
#define TEXT_SIZE  512

/* --- the key --------------------------------------------------------------------------------- */

static void add_string(struct cache_key *key, const char *text)
{
	cache_key_add(key, text, strlen(text));
}

static void add_facts(struct cache_key *key, const struct vmcore_facts *facts)
{
	const uint64_t numbers[] = { facts->memory_size,	 facts->max_physical,
				     facts->file_size,		 (uint64_t)facts->dump_level,
				     facts->incomplete,		 facts->page_size,
				     (uint64_t)facts->crash_time };
	add_string(key, facts->format);
	cache_key_add(key, numbers, sizeof(numbers));
}

/* Bytes of variables that change all the time, or differ between kernels: so dumps differ. */
static void add_samples(struct cache_key *key, struct target *target)
{
	static const char *const names[] = { "linux_banner", "jiffies_64", "tk_core",
					     "timekeeper",   "input_pool", "init_uts_ns",
					     "slab_caches",  "modules",	   "system_state" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct symbol symbol;
		uint64_t cursor = 0;
		uint8_t bytes[SAMPLE_MAX];
		if (!symtab_find(target->symbols, NULL, names[i], &cursor, &symbol) ||
		    symbol.module)
			continue;
		size_t size = symbol.size < sizeof(bytes) ? (size_t)symbol.size : sizeof(bytes);
		size = memory_read_some(target->memory, symbol.address, bytes, size, NULL);
		add_string(key, names[i]);
		cache_key_add(key, &symbol.address, sizeof(symbol.address));
		cache_key_add(key, bytes, size);
	}
}

bool cache_key_of(struct target *target, const struct infer_options *options, struct cache_key *ret)
{
	int version[2];
	size_t size;
	uint64_t text;
	if (!target->vmcoreinfo || !target->btf_data || !target->memory ||
	    !symtab_address(target->symbols, "_text", &text))
		return false;
	cache_key_init(ret);
	if (!cache_key_add_program(ret))
		return false;
	cs_version(&version[0], &version[1]);
	cache_key_add(ret, version, sizeof(version));
	add_string(ret, options->no_hints ? "no hints" : "hints");
	const char *lines = vmcoreinfo_text(target->vmcoreinfo, &size);
	cache_key_add(ret, lines, size);
	cache_key_add(ret, target->btf_data, target->btf_size);
	add_facts(ret, target->facts);
	for (size_t i = 0; target->vmcore && i < vmcore_cpu_note_count(target->vmcore); i++) {
		const struct cpu_note *note = vmcore_cpu_note(target->vmcore, i);
		cache_key_add(ret, note->data, note->size);
	}
	add_samples(ret, target);
	return true;
}

/* --- asking ---------------------------------------------------------------------------------- */

enum verdict { VERDICT_NONE, VERDICT_GOOD, VERDICT_BAD };

struct cache {
	struct target *target;
	struct cache_rows rows;
	uint64_t text;	      /* address of _text */
	struct type *types;   /* by number, once they are checked */
	uint8_t *verdicts;    /* enum verdict, of these */
	enum verdict modules; /* of all modules */
};

struct cache *cache_open(struct target *target, const struct cache_key *key)
{
	size_t size;
	int file = target->cache_place ? cache_file_find(target->cache_place, key) : -1;
	uint8_t *data = file < 0 ? NULL : cache_file_read(file, key, &size);
	struct cache *cache = data ? calloc(1, sizeof(*cache)) : NULL;
	if (!cache || !cache_rows_open(&cache->rows, data, size)) {
		/* Rows that do not open have freed the bytes. */
		if (!cache)
			free(data);
		free(cache);
		return NULL;
	}
	cache->target = target;
	cache->types = calloc((size_t)cache->rows.type_count + 1, sizeof(*cache->types));
	cache->verdicts = calloc((size_t)cache->rows.type_count + 1, 1);
	if (!cache->types || !cache->verdicts ||
	    !symtab_address(target->symbols, "_text", &cache->text)) {
		cache_close(cache);
		return NULL;
	}
	return cache;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	cache_rows_close(&cache->rows);
	free(cache->types);
	free(cache->verdicts);
	free(cache);
}

static bool check_modules(struct cache *cache)
{
	const struct module *modules;
	struct cache_module saved;
	size_t count = target_modules(cache->target, &modules);
	if (count != cache->rows.module_count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!cache_rows_module(&cache->rows, i, &saved) || saved.base != modules[i].base ||
		    saved.size != modules[i].size || strcmp(saved.name, modules[i].name))
			return false;
	return true;
}

/* The modules are those of the file: asked only where one matters, as they are read for it. */
static bool modules_are_good(struct cache *cache)
{
	if (cache->modules == VERDICT_NONE)
		cache->modules = check_modules(cache) ? VERDICT_GOOD : VERDICT_BAD;
	return cache->modules == VERDICT_GOOD;
}

static const struct btf *view_of(struct cache *cache, uint32_t view)
{
	const struct module *modules;
	if (!view)
		return cache->target->btf;
	if (!modules_are_good(cache) || view > target_modules(cache->target, &modules))
		return NULL;
	return target_module_btf(cache->target, &modules[view - 1]);
}

static bool check_type(struct cache *cache, uint32_t number, struct type *ret)
{
	struct cache_type saved;
	struct btf_type record;
	uint64_t size = 0;
	if (!cache_rows_type(&cache->rows, number, &saved))
		return false;
	const struct btf *view = view_of(cache, saved.view);
	if (!view)
		return false;
	if (!saved.id) {
		struct error *error =
			declare_parse_type(cache->target, view, saved.text, NULL, ret);
		error_free(error);
		return !error && type_size(*ret, &size) && size == saved.size;
	}
	*ret = (struct type){ view, saved.id };
	if (saved.id < btf_start_id(view) || saved.id >= btf_end_id(view) ||
	    !btf_get(view, saved.id, &record))
		return false;
	return record.kind == saved.kind && !strcmp(record.name, saved.text) &&
	       type_size(*ret, &size) && size == saved.size;
}

static bool find_type(struct cache *cache, uint32_t number, struct type *ret)
{
	uint8_t *verdict = &cache->verdicts[number];
	if (*verdict == VERDICT_NONE)
		*verdict = check_type(cache, number, &cache->types[number]) ? VERDICT_GOOD
									    : VERDICT_BAD;
	*ret = cache->types[number];
	return *verdict == VERDICT_GOOD;
}

static uint32_t hash_of_bytes(struct target *target, const struct subject *subject)
{
	uint8_t bytes[BYTES_MAX];
	size_t size = subject->room < sizeof(bytes) ? (size_t)subject->room : sizeof(bytes);
	size = memory_read_some(target->memory, subject->address, bytes, size, NULL);
	return hash_bytes(bytes, size);
}

static bool take(struct cache *cache, const struct cache_row *row, const struct subject *subject,
		 const struct symbol *symbol, struct answer *ret)
{
	uint64_t size = 0;
	*ret = (struct answer){ .confidence = row->confidence,
				.sources = row->sources,
				.score = row->score,
				.margin = row->margin,
				.count = row->count,
				.row = row->row,
				.count_is_proved = row->count_is_proved };
	if (cache->text + row->place != subject->address || row->room != (uint32_t)subject->room ||
	    row->name != hash_string(symbol->name) ||
	    row->bytes != hash_of_bytes(cache->target, subject) ||
	    (subject->module && !modules_are_good(cache)))
		return false;
	if (row->confidence == CONFIDENCE_UNKNOWN)
		return true;
	if (!find_type(cache, row->type, &ret->spelled) || !type_size(ret->spelled, &size))
		return false;
	/* An array of arrays counts the innermost elements, its type is a row of them. */
	uint64_t times = row->count ? row->count / row->row : 1;
	return size && times <= subject->room / size;
}

bool cache_find(struct cache *cache, const struct subject *subject, const struct symbol *symbol,
		struct answer *ret)
{
	struct cache_row row;
	uint32_t first = array_bound(cache->rows.row_count, i,
				     cache_rows_row(&cache->rows, i, &row) &&
					     cache->text + row.place < subject->address);
	return cache_rows_row(&cache->rows, first, &row) && take(cache, &row, subject, symbol, ret);
}

bool cache_take_all(struct cache *cache, const struct subjects *subjects, struct answer *ret)
{
	struct cache_row row;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	if (subjects->count != cache->rows.row_count || !modules_are_good(cache))
		return false;
	for (size_t i = 0; i < subjects->count; i++) {
		const struct subject *subject = &subjects->items[i];
		symtab_get_into(cache->target->symbols, subject->symbol, name, &symbol);
		if (!cache_rows_row(&cache->rows, (uint32_t)i, &row) ||
		    !take(cache, &row, subject, &symbol, &ret[i]))
			return false;
	}
	return true;
}

/* --- keeping --------------------------------------------------------------------------------- */

struct keeper {
	struct target *target;
	struct cache_writer writer;
	struct type *types; /* those that have a number */
	size_t type_capacity;
	struct hash_index index;
};

/* The lowest level that has it, and which view that is; false: of a scratch level. */
static bool place_type(struct keeper *keeper, struct type *type, uint32_t *ret_view)
{
	const struct module *modules;
	size_t count = target_modules(keeper->target, &modules);
	while (btf_base(type->btf) && type->id < btf_start_id(type->btf))
		type->btf = btf_base(type->btf);
	*ret_view = 0;
	if (type->btf == keeper->target->btf)
		return true;
	const struct btf *base = btf_base(type->btf);
	for (uint32_t i = 0; i < count; i++) {
		if (modules[i].btf != type->btf && modules[i].btf != base)
			continue;
		*ret_view = modules[i].btf ? i + 1 : 0;
		if (modules[i].btf && modules[i].btf == type->btf)
			return true;
	}
	return false;
}

/* Types that are made of others are kept as C spells them, if that leads back to them. */
static bool describe_type(struct keeper *keeper, struct type type, char *text,
			  struct cache_type *ret)
{
	struct btf_type record;
	struct type again;
	uint64_t size;
	if (!type_size(type, &size) || size > UINT32_MAX)
		return false;
	*ret = (struct cache_type){ .size = (uint32_t)size, .text = text };
	if (place_type(keeper, &type, &ret->view)) {
		if (!btf_get(type.btf, type.id, &record))
			return false;
		ret->id = type.id;
		ret->kind = record.kind;
		ret->text = record.name;
		return true;
	}
	const struct module *modules;
	target_modules(keeper->target, &modules);
	const struct btf *view = ret->view ? modules[ret->view - 1].btf : keeper->target->btf;
	if (type_spell(type, NULL, text, TEXT_SIZE) >= TEXT_SIZE)
		return false;
	struct error *error = declare_parse_type(keeper->target, view, text, NULL, &again);
	error_free(error);
	return !error && type_equal(type, again);
}

static uint32_t number_of_type(struct keeper *keeper, struct type type)
{
	uint32_t hash = hash_bytes(&type.btf, sizeof(type.btf)) ^ type.id * 0x9e3779b1u, number;
	size_t position = hash_index_first(&keeper->index, hash);
	char text[TEXT_SIZE];
	struct cache_type saved;
	while ((number = hash_index_next(&keeper->index, hash, &position)) != HASH_NONE)
		if (keeper->types[number].btf == type.btf && keeper->types[number].id == type.id)
			return number;
	number = keeper->writer.type_count;
	if (!describe_type(keeper, type, text, &saved) ||
	    !array_reserve(&keeper->types, &keeper->type_capacity, (size_t)number + 1) ||
	    !hash_index_add(&keeper->index, hash, number)) {
		keeper->writer.failed = true;
		return 0;
	}
	keeper->types[number] = type;
	cache_write_type(&keeper->writer, &saved);
	return number;
}

static void keep_row(struct keeper *keeper, uint64_t text, const struct subject *subject,
		     const struct answer *answer)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	bool is_known = answer->confidence != CONFIDENCE_UNKNOWN;
	symtab_get_into(keeper->target->symbols, subject->symbol, name, &symbol);
	struct cache_row row = { .place = subject->address - text,
				 .room = (uint32_t)subject->room,
				 .name = hash_string(symbol.name),
				 .bytes = hash_of_bytes(keeper->target, subject),
				 .type = CACHE_NO_TYPE,
				 .score = answer->score,
				 .margin = answer->margin,
				 .confidence = answer->confidence,
				 .sources = answer->sources,
				 .count_is_proved = answer->count_is_proved ||
						    answer->string_size };
	if (is_known) {
		row.type = number_of_type(keeper, answer->spelled);
		row.count = answer->string_size ? answer->string_size : answer->count;
		row.row = answer->row;
	}
	cache_write_row(&keeper->writer, &row);
}

static void keep_all(struct keeper *keeper, const struct subjects *subjects,
		     const struct answer *answers)
{
	const struct module *modules;
	size_t count = target_modules(keeper->target, &modules);
	uint64_t text = 0;
	symtab_address(keeper->target->symbols, "_text", &text);
	for (size_t i = 0; i < count; i++)
		cache_write_module(&keeper->writer,
				   &(struct cache_module){ modules[i].base, modules[i].size,
							   modules[i].name });
	for (size_t i = 0; i < subjects->count && !keeper->writer.failed; i++)
		keep_row(keeper, text, &subjects->items[i], &answers[i]);
}

void cache_keep(struct target *target, const struct cache_key *key, const struct subjects *subjects,
		const struct answer *answers)
{
	struct keeper keeper = { .target = target };
	size_t size;
	if (!target->cache_place || !hash_index_init(&keeper.index, 8192))
		return;
	keep_all(&keeper, subjects, answers);
	uint8_t *data = cache_writer_finish(&keeper.writer, &size);
	if (data)
		(void)cache_file_write(target->cache_place, key, data, size);
	free(data);
	cache_writer_deinit(&keeper.writer);
	hash_index_deinit(&keeper.index);
	free(keeper.types);
}
