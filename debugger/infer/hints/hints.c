// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/hints/hints.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC	    "BTFHINT2"
#define HEADER_SIZE 24
#define HAS_COUNT   1
#define HAS_MORE    2
#define SET_SHIFT   2
#define BLOCK_MAX   (64u << 20) /* bytes; the table has 1 MiB */
#define COLUMNS	    5
#define CHUNKS_MAX  16
#define NAME_SIZE   512

/* What the build packed out of hints/globals.hints; the path is relative to its folder (-I). */
__asm__(".pushsection .rodata.globals_hints, \"a\"\n"
	"globals_hints_start:\n"
	".incbin \"debugger/infer/hints/globals.hints.z\"\n"
	"globals_hints_end:\n"
	".popsection\n");
extern const char globals_hints_start[] __attribute__((visibility("hidden")));
extern const char globals_hints_end[] __attribute__((visibility("hidden")));

/* One block, unpacked, and its chunks. */
struct block {
	uint8_t *data;
	struct bytes chunks[CHUNKS_MAX];
	uint32_t chunk_count;
};

/* The strings of a chunk by number. */
struct strings {
	const char **items;
	size_t count;
};

struct row {
	uint32_t name;	/* in `names` */
	uint32_t first; /* entry; to the next row's */
};

struct entry {
	uint32_t type, count, kernels;
};

/* Which kernels: few of all masks that there could be occur, and rows have their numbers. */
struct kernel_sets {
	uint32_t *masks;
	size_t count;
};

/* Rows of the kernel, or of all modules. */
struct part {
	char *names;
	size_t names_size;
	struct row *rows;
	size_t row_count;
	struct entry *entries;
	size_t entry_count;
	struct hash_index index; /* kernel only */
};

struct hints {
	const uint8_t *data;
	uint32_t packed[2], raw[2];
	struct block blocks[2];
	struct strings kernels, types, prefixes, modules, module_types;
	struct kernel_sets sets;
	uint32_t *family_types;
	uint32_t *module_starts; /* rows before each module's, and of all */
	struct part kernel, of_modules;
	bool modules_read, modules_bad;
};

/* --- unpacking ---------------------------------------------------------------------------- */

static struct error *unpack_block(const uint8_t *packed, uint32_t packed_size, uint32_t size,
				  struct block *ret)
{
	uLongf length = size;
	if (size < 4 || size > BLOCK_MAX)
		return error_create(ERROR_FORMAT, "hints: a block of %u bytes", size);
	ret->data = malloc(size);
	if (!ret->data)
		return error_no_memory();
	if (uncompress(ret->data, &length, packed, packed_size) != Z_OK || length != size)
		return error_create(ERROR_FORMAT, "hints: a block that does not decompress");
	uint32_t count = load_u32(ret->data, false);
	if (count > CHUNKS_MAX || 4 + 4 * (uint64_t)count > size)
		return error_create(ERROR_FORMAT, "hints: %u chunks", count);
	uint64_t at = 4 + 4 * (uint64_t)count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = load_u32(ret->data + 4 + 4 * i, false);
		if (chunk > size - at)
			return error_create(ERROR_FORMAT, "hints: chunk %u is too long", i);
		ret->chunks[i] = (struct bytes){ ret->data + at, chunk, false };
		at += chunk;
	}
	ret->chunk_count = count;
	return NULL;
}

static struct error *unpack_strings(const struct bytes *chunk, struct strings *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < chunk->size; i++)
		count += !chunk->data[i];
	ret->items = calloc(count + 1, sizeof(*ret->items));
	if (!ret->items)
		return error_no_memory();
	const char *at = (const char *)chunk->data;
	for (ret->count = 0; ret->count < count; ret->count++) {
		ret->items[ret->count] = at;
		at += strlen(at) + 1;
	}
	return NULL;
}

/* Seven bits a byte, low ones first; false: the chunk ends within, or it has more than 32. */
static bool next_number(const struct bytes *chunk, size_t *at, uint32_t *ret)
{
	uint32_t number = 0;
	for (int shift = 0; shift < 32 && *at < chunk->size; shift += 7) {
		uint8_t byte = chunk->data[(*at)++];
		if (shift == 28 && byte > 15)
			return false;
		number |= (uint32_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret = number;
			return true;
		}
	}
	return false;
}

static struct error *unpack_numbers(const struct bytes *chunk, size_t count, uint32_t **ret)
{
	size_t at = 0;
	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		if (!next_number(chunk, &at, &(*ret)[i]))
			return error_create(ERROR_FORMAT, "hints: numbers end early");
	return NULL;
}

/* To the chunk's end; of kernels that are there. */
static struct error *unpack_sets(const struct bytes *chunk, size_t kernels, struct kernel_sets *ret)
{
	if (!kernels || kernels > HINTS_KERNELS)
		return error_create(ERROR_FORMAT, "hints: %zu kernels", kernels);
	uint32_t all = UINT32_MAX >> (HINTS_KERNELS - kernels);
	ret->masks = calloc(chunk->size + 1, sizeof(*ret->masks));
	if (!ret->masks)
		return error_no_memory();
	for (size_t at = 0; at < chunk->size; ret->count++) {
		uint32_t mask;
		if (!next_number(chunk, &at, &mask) || !mask || mask & ~all)
			return error_create(ERROR_FORMAT, "hints: no set of kernels: number %zu",
					    ret->count);
		ret->masks[ret->count] = mask;
	}
	return NULL;
}

struct row_reader {
	const struct bytes *columns; /* shared, rests, types, kernels, counts */
	const struct kernel_sets *sets;
	size_t rest, type, kernels, count;
	size_t name_length;
	char name[NAME_SIZE];
};

static bool read_name(struct row_reader *reader, size_t row, struct part *part)
{
	size_t common = reader->columns[0].data[row];
	const char *rest = bytes_string(&reader->columns[1], reader->rest);
	if (!rest || common > reader->name_length)
		return false;
	size_t length = strlen(rest);
	if (common + length >= sizeof(reader->name))
		return false;
	memcpy(reader->name + common, rest, length + 1);
	reader->name_length = common + length;
	reader->rest += length + 1;
	part->rows[row] = (struct row){ (uint32_t)part->names_size, (uint32_t)part->entry_count };
	memcpy(part->names + part->names_size, reader->name, reader->name_length + 1);
	part->names_size += reader->name_length + 1;
	return true;
}

static bool read_entries(struct row_reader *reader, struct part *part)
{
	uint32_t word = HAS_MORE;
	while (word & HAS_MORE) {
		struct entry *entry = &part->entries[part->entry_count];
		if (!next_number(&reader->columns[3], &reader->kernels, &word) ||
		    word >> SET_SHIFT >= reader->sets->count ||
		    !next_number(&reader->columns[2], &reader->type, &entry->type))
			return false;
		entry->kernels = reader->sets->masks[word >> SET_SHIFT];
		entry->count = 0;
		if (word & HAS_COUNT &&
		    !next_number(&reader->columns[4], &reader->count, &entry->count))
			return false;
		part->entry_count++;
	}
	return true;
}

/* Rows by name, anew in each part: `starts` (NULL: one part) are the rows that parts begin with. */
static struct error *unpack_rows(const struct bytes *columns, const struct kernel_sets *sets,
				 const uint32_t *starts, struct part *ret)
{
	size_t rows = columns[0].size, part = 0, longest = 0;
	struct row_reader reader = { .columns = columns, .sets = sets };
	for (size_t i = 0; i < rows; i++)
		longest += columns[0].data[i];
	ret->rows = calloc(rows + 1, sizeof(*ret->rows));
	/* A byte each at least. */
	ret->entries = calloc(columns[3].size + 1, sizeof(*ret->entries));
	/* All that is shared, all that is not. */
	ret->names = malloc(longest + columns[1].size + 1);
	if (!ret->rows || !ret->entries || !ret->names)
		return error_no_memory();
	for (size_t row = 0; row < rows; row++) {
		bool is_first = !row;
		for (; starts && starts[part] <= row; part++)
			is_first = true;
		if (is_first)
			reader.name_length = 0;
		if (!read_name(&reader, row, ret) || !read_entries(&reader, ret) ||
		    (!is_first && strcmp(ret->names + ret->rows[row - 1].name,
					 ret->names + ret->rows[row].name) >= 0))
			return error_create(ERROR_FORMAT, "hints: row %zu is damaged", row);
	}
	ret->row_count = rows;
	ret->rows[rows].first = (uint32_t)ret->entry_count;
	return NULL;
}

/* --- opening ------------------------------------------------------------------------------ */

static struct error *open_kernel(struct hints *hints)
{
	struct block *block = &hints->blocks[0];
	struct part *kernel = &hints->kernel;
	TRY(unpack_block(hints->data + HEADER_SIZE, hints->packed[0], hints->raw[0], block));
	if (block->chunk_count != 5 + COLUMNS)
		return error_create(ERROR_FORMAT, "hints: %u chunks", block->chunk_count);
	TRY(unpack_strings(&block->chunks[0], &hints->kernels));
	TRY(unpack_sets(&block->chunks[1], hints->kernels.count, &hints->sets));
	TRY(unpack_strings(&block->chunks[2], &hints->types));
	TRY(unpack_strings(&block->chunks[3], &hints->prefixes));
	TRY(unpack_numbers(&block->chunks[4], hints->prefixes.count, &hints->family_types));
	TRY(unpack_rows(&block->chunks[5], &hints->sets, NULL, kernel));
	if (!hash_index_init(&kernel->index, kernel->row_count))
		return error_no_memory();
	for (size_t i = 0; i < kernel->row_count; i++)
		if (!hash_index_add(&kernel->index,
				    hash_string(kernel->names + kernel->rows[i].name), (uint32_t)i))
			return error_no_memory();
	return NULL;
}

static struct error *open_modules(struct hints *hints)
{
	struct block *block = &hints->blocks[1];
	TRY(unpack_block(hints->data + HEADER_SIZE + hints->packed[0], hints->packed[1],
			 hints->raw[1], block));
	if (block->chunk_count != 3 + COLUMNS)
		return error_create(ERROR_FORMAT, "hints: %u chunks", block->chunk_count);
	TRY(unpack_strings(&block->chunks[0], &hints->modules));
	TRY(unpack_numbers(&block->chunks[1], hints->modules.count, &hints->module_starts));
	TRY(unpack_strings(&block->chunks[2], &hints->module_types));
	uint64_t rows = 0;
	for (size_t i = 0; i <= hints->modules.count; i++) {
		uint32_t size = hints->module_starts[i];
		hints->module_starts[i] = (uint32_t)rows;
		rows += size;
		if (i && i < hints->modules.count &&
		    strcmp(hints->modules.items[i - 1], hints->modules.items[i]) >= 0)
			return error_create(ERROR_FORMAT, "hints: modules are not in order");
		if (rows > block->chunks[3].size)
			break;
	}
	if (rows != block->chunks[3].size)
		return error_create(ERROR_FORMAT, "hints: modules have other numbers of rows");
	return unpack_rows(&block->chunks[3], &hints->sets, hints->module_starts,
			   &hints->of_modules);
}

struct error *hints_open(const void *data, size_t size, struct hints **ret)
{
	struct hints *hints = calloc(1, sizeof(*hints));
	if (!hints)
		return error_no_memory();
	struct error *error = NULL;
	hints->data = data;
	if (size < HEADER_SIZE || memcmp(data, MAGIC, 8))
		error = error_create(ERROR_FORMAT, "hints: no table");
	for (int i = 0; !error && i < 2; i++) {
		hints->packed[i] = load_u32(hints->data + 8 + 8 * i, false);
		hints->raw[i] = load_u32(hints->data + 12 + 8 * i, false);
	}
	if (!error && (uint64_t)hints->packed[0] + hints->packed[1] > size - HEADER_SIZE)
		error = error_create(ERROR_FORMAT, "hints: the table is cut off");
	if (!error)
		error = open_kernel(hints);
	if (error) {
		hints_destroy(hints);
		return error;
	}
	*ret = hints;
	return NULL;
}

struct error *hints_create(struct hints **ret)
{
	return hints_open(globals_hints_start, (size_t)(globals_hints_end - globals_hints_start),
			  ret);
}

static void part_deinit(struct part *part)
{
	free(part->names);
	free(part->rows);
	free(part->entries);
	hash_index_deinit(&part->index);
}

void hints_destroy(struct hints *hints)
{
	if (!hints)
		return;
	part_deinit(&hints->kernel);
	part_deinit(&hints->of_modules);
	free(hints->kernels.items);
	free(hints->types.items);
	free(hints->prefixes.items);
	free(hints->modules.items);
	free(hints->module_types.items);
	free(hints->sets.masks);
	free(hints->family_types);
	free(hints->module_starts);
	free(hints->blocks[0].data);
	free(hints->blocks[1].data);
	free(hints);
}

/* --- finding ------------------------------------------------------------------------------- */

uint32_t hints_kernel(const struct hints *hints, const char *name)
{
	uint32_t kernels = 0;
	for (size_t i = 0; i < hints->kernels.count; i++) {
		const char *line = hints->kernels.items[i];
		size_t series = strcspn(line, "\t");
		const char *release = line[series] ? line + series + 1 : "";
		size_t length = strcspn(release, "\t");
		if ((strlen(name) == series && !strncmp(line, name, series)) ||
		    (strlen(name) == length && !strncmp(release, name, length)))
			kernels |= 1u << i;
	}
	return kernels;
}

#define VERSION_MAX 9999

/* "6.12.5-x" as 6 << 16 | 12; 0: it begins with no version. */
static uint32_t version_of(const char *text)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return 0;
	unsigned long major = strtoul(text, &end, 10);
	if (*end != '.' || !isdigit((unsigned char)end[1]))
		return 0;
	unsigned long minor = strtoul(end + 1, NULL, 10);
	return major <= VERSION_MAX && minor <= VERSION_MAX ? (uint32_t)(major << 16 | minor) : 0;
}

uint32_t hints_near(const struct hints *hints, uint32_t kernels, const char *release)
{
	uint32_t wanted = version_of(release), before = 0, after = UINT32_MAX, near = 0;
	for (size_t i = 0; i < hints->kernels.count; i++) {
		uint32_t version = version_of(hints->kernels.items[i]);
		if (!(kernels >> i & 1))
			continue;
		if (version <= wanted && version > before)
			before = version;
		if (version >= wanted && version < after)
			after = version;
	}
	for (size_t i = 0; i < hints->kernels.count; i++) {
		uint32_t version = version_of(hints->kernels.items[i]);
		bool is_it = version == before || (version == after && before != wanted);
		near |= (uint32_t)is_it << i;
	}
	return wanted ? near & kernels : kernels;
}

void hints_series(const struct hints *hints, uint32_t kernels, char *buffer, size_t size)
{
	uint32_t told = 0, next = 0;
	size_t used = 0;
	for (*buffer = 0; used < size; told = next) {
		const char *series = NULL;
		for (size_t i = 0; i < hints->kernels.count; i++) {
			uint32_t version = version_of(hints->kernels.items[i]);
			if (!(kernels >> i & 1) || version <= told || (series && version >= next))
				continue;
			series = hints->kernels.items[i];
			next = version;
		}
		if (!series)
			return;
		used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", used ? ", " : "",
					 (int)strcspn(series, "\t"), series);
	}
}

/* gcc's number after the dot means nothing elsewhere: "state.3" is in the table as "state.". */
static void table_name(const char *name, char *buffer, size_t size)
{
	const char *dot = strrchr(name, '.');
	size_t length = strlen(name);
	length = length < size ? length : size - 1;
	memcpy(buffer, name, length);
	buffer[length] = 0;
	if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")] ||
	    (size_t)(dot - name) + 1 >= size)
		return;
	buffer[dot - name + 1] = 0;
}

static const char *type_text(const struct hints *hints, uint32_t number)
{
	if (number < hints->types.count)
		return hints->types.items[number];
	number -= (uint32_t)hints->types.count;
	return number < hints->module_types.count ? hints->module_types.items[number] : NULL;
}

/* What more kernels say comes first; whose rows are left out has no word in it. */
static bool goes_before(uint32_t kernels, uint32_t other)
{
	int count = __builtin_popcount(kernels), others = __builtin_popcount(other);
	return count != others ? count > others : kernels > other;
}

static void insert_hint(struct hint *hints, size_t count, const struct hint *hint)
{
	size_t at = count;
	for (; at && goes_before(hint->kernels, hints[at - 1].kernels); at--)
		hints[at] = hints[at - 1];
	hints[at] = *hint;
}

static size_t take_row(const struct hints *hints, const struct part *part, size_t row,
		       uint32_t kernels, struct hint *ret)
{
	size_t count = 0;
	for (uint32_t i = part->rows[row].first;
	     i < part->rows[row + 1].first && count < HINTS_A_NAME; i++) {
		const struct entry *entry = &part->entries[i];
		const char *type = type_text(hints, entry->type);
		struct hint hint = { .type = type,
				     .count = entry->count,
				     .kernels = entry->kernels & kernels };
		if (hint.kernels && type)
			insert_hint(ret, count++, &hint);
	}
	return count;
}

static size_t find_in_kernel(const struct hints *hints, const char *name, uint32_t kernels,
			     struct hint *ret)
{
	uint32_t hash = hash_string(name), row;
	size_t position = hash_index_first(&hints->kernel.index, hash);
	while ((row = hash_index_next(&hints->kernel.index, hash, &position)) != HASH_NONE)
		if (!strcmp(hints->kernel.names + hints->kernel.rows[row].name, name))
			return take_row(hints, &hints->kernel, row, kernels, ret);
	return 0;
}

static size_t find_in_module(struct hints *hints, const char *module, const char *name,
			     uint32_t kernels, struct hint *ret)
{
	if (!hints->modules_read) {
		struct error *error = open_modules(hints);
		hints->modules_read = true;
		hints->modules_bad = error != NULL;
		error_free(error);
	}
	if (hints->modules_bad)
		return 0;
	const struct part *part = &hints->of_modules;
	size_t number =
		array_bound(hints->modules.count, i, strcmp(hints->modules.items[i], module) < 0);
	if (number == hints->modules.count || strcmp(hints->modules.items[number], module))
		return 0;
	const struct row *rows = part->rows + hints->module_starts[number];
	size_t count = hints->module_starts[number + 1] - hints->module_starts[number];
	size_t row = array_bound(count, i, strcmp(part->names + rows[i].name, name) < 0);
	if (row == count || strcmp(part->names + rows[row].name, name))
		return 0;
	return take_row(hints, part, hints->module_starts[number] + row, kernels, ret);
}

static size_t find_family(const struct hints *hints, const char *name, uint32_t kernels,
			  struct hint *ret)
{
	size_t longest = 0;
	for (size_t i = 0; i < hints->prefixes.count; i++) {
		const char *prefix = hints->prefixes.items[i];
		size_t length = 0;
		while (prefix[length] && prefix[length] == name[length])
			length++;
		const char *type = type_text(hints, hints->family_types[i]);
		if (prefix[length] || length <= longest || !type)
			continue;
		longest = length;
		*ret = (struct hint){ .type = type, .kernels = kernels, .is_family = true };
	}
	return longest != 0;
}

size_t hints_find(struct hints *hints, const struct symbol *symbol, uint32_t kernels,
		  struct hint *ret)
{
	char wanted[NAME_SIZE], part[NAME_SIZE];
	const char *module = symbol->module;
	table_name(symbol->name, wanted, sizeof(wanted));
	if (symbol->per_cpu) {
		snprintf(part, sizeof(part), "%s:percpu", module ? module : "");
		return find_in_module(hints, part, wanted, kernels, ret);
	}
	size_t count = module ? find_in_module(hints, module, wanted, kernels, ret)
			      : find_in_kernel(hints, wanted, kernels, ret);
	return count ? count : find_family(hints, wanted, kernels, ret);
}
