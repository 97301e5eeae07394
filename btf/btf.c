// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Opening a level: one pass over the records notes where each begins and proves that all it
 * mentions exists, or has it mended. The rest of the folder relies on that pass.
 */
#include "btf/btf.h"

#include "btf/level.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BTF_MAGIC	   0xeb9f
#define HEADER_SIZE	   24
#define HEADER_WITH_LAYOUT 32
#define LAYOUT_ENTRY	   4
#define DEPTH_MAX	   64

const struct shape shapes[BTF_KIND_COUNT] = {
	[BTF_INT] = { "INT", 4, 0, false, false, -1 },
	[BTF_PTR] = { "PTR", 0, 0, true, false, -1 },
	[BTF_ARRAY] = { "ARRAY", 12, 0, false, false, -1 },
	[BTF_STRUCT] = { "STRUCT", 0, MEMBER_SIZE, false, true, 4 },
	[BTF_UNION] = { "UNION", 0, MEMBER_SIZE, false, true, 4 },
	[BTF_ENUM] = { "ENUM", 0, ENUMERATOR_SIZE, false, true, -1 },
	[BTF_FWD] = { "FWD", 0, 0, false, false, -1 },
	[BTF_TYPEDEF] = { "TYPEDEF", 0, 0, true, false, -1 },
	[BTF_VOLATILE] = { "VOLATILE", 0, 0, true, false, -1 },
	[BTF_CONST] = { "CONST", 0, 0, true, false, -1 },
	[BTF_RESTRICT] = { "RESTRICT", 0, 0, true, false, -1 },
	[BTF_FUNC] = { "FUNC", 0, 0, true, false, -1 },
	[BTF_FUNC_PROTO] = { "FUNC_PROTO", 0, PARAM_SIZE, true, true, 4 },
	[BTF_VAR] = { "VAR", 4, 0, true, false, -1 },
	[BTF_DATASEC] = { "DATASEC", 0, ENTRY_SIZE, false, false, 0 },
	[BTF_FLOAT] = { "FLOAT", 0, 0, false, false, -1 },
	[BTF_DECL_TAG] = { "DECL_TAG", 4, 0, true, false, -1 },
	[BTF_TYPE_TAG] = { "TYPE_TAG", 0, 0, true, false, -1 },
	[BTF_ENUM64] = { "ENUM64", 0, ENUMERATOR64_SIZE, false, true, -1 },
};

const char *btf_kind_name(enum btf_kind kind)
{
	return kind < BTF_KIND_COUNT && shapes[kind].name ? shapes[kind].name : "UNKNOWN";
}

/* --- the pass over the records --------------------------------------------- */

struct reach { /* the highest of what a record mentions */
	uint32_t name, id;
};

static inline __attribute__((always_inline)) void reach_to(uint32_t *reach, uint32_t value)
{
	*reach = value > *reach ? value : *reach;
}

/* FUNC keeps its linkage where others count elements. */
static inline uint32_t element_count(uint32_t info)
{
	return info_kind(info) == BTF_FUNC ? 0 : info_vlen(info);
}

/* `record` lies within and is of a known kind. */
static inline __attribute__((always_inline)) void
record_reach(const uint8_t *record, const struct shape *shape, bool big_endian, struct reach *reach)
{
	uint32_t info = load_u32(record + 4, big_endian);
	reach_to(&reach->name, load_u32(record, big_endian));
	if (shape->has_type)
		reach_to(&reach->id, load_u32(record + 8, big_endian));
	if (!shape->element_size) {
		if (info_kind(info) == BTF_ARRAY) {
			reach_to(&reach->id, load_u32(record + 12, big_endian));
			reach_to(&reach->id, load_u32(record + 16, big_endian));
		}
		return;
	}
	const uint8_t *element = record + RECORD_SIZE;
	const uint8_t *end = element + (size_t)info_vlen(info) * shape->element_size;
	for (; element < end; element += shape->element_size) {
		if (shape->element_names)
			reach_to(&reach->name, load_u32(element, big_endian));
		if (shape->element_type >= 0)
			reach_to(&reach->id, load_u32(element + shape->element_type, big_endian));
	}
}

struct pass {
	struct btf *btf;
	uint32_t types_size;
	uint32_t count;	 /* of records so far */
	uint32_t offset; /* of the next */
	struct reach reach;
	bool is_damaged; /* some record is */
	/* Where the pass ended before the end, and why; NULL: it did not. */
	const char *stop;
	enum btf_kind stop_kind;
	bool has_kind;
};

static uint32_t pass_id(const struct pass *pass)
{
	return pass->btf->start_id + pass->count;
}

/* Size of a record of a kind that only the layout section knows; 0: nobody knows it. */
static uint64_t foreign_size(const struct btf *btf, uint32_t info)
{
	uint32_t kind = info_kind(info);
	if (!kind || kind >= btf->layout_count)
		return 0;
	const uint8_t *entry = btf->layout + (size_t)kind * LAYOUT_ENTRY;
	return RECORD_SIZE + entry[0] + (uint64_t)info_vlen(info) * entry[1];
}

/* Takes in the record at pass->offset, or stops there. */
static inline __attribute__((always_inline)) void pass_record(struct pass *pass, bool big_endian)
{
	struct btf *btf = pass->btf;
	const uint8_t *record = btf->types + pass->offset;
	uint32_t rest = pass->types_size - pass->offset;
	if (rest < RECORD_SIZE) {
		pass->stop = "is cut off by the end of the types";
		return;
	}
	uint32_t info = load_u32(record + 4, big_endian);
	enum btf_kind kind = info_kind(info);
	bool known = kind && kind < BTF_KIND_COUNT;
	const struct shape *shape = &shapes[known ? kind : BTF_VOID];
	uint64_t size = RECORD_SIZE + shape->info_size +
			(uint64_t)element_count(info) * shape->element_size;
	if (!known)
		size = foreign_size(btf, info);
	if (!size || size > rest) {
		pass->stop_kind = kind;
		pass->has_kind = true;
		pass->stop = size ? "runs past the end of the types" : "is of an unknown kind";
		return;
	}
	if (known)
		record_reach(record, shape, big_endian, &pass->reach);
	if (kind == BTF_INT &&
	    !int_is_sane(load_u32(record + 8, big_endian), load_u32(record + 12, big_endian)))
		pass->is_damaged = true;
	if ((kind == BTF_ENUM || kind == BTF_ENUM64) && info >> 31)
		btf->signs_enums = true;
	btf->offsets[pass->count++] = pass->offset;
	pass->offset += (uint32_t)size;
}

/* Once for each byte order, so that the loop does not ask. */
static inline __attribute__((always_inline)) void pass_records(struct pass *pass, bool big_endian)
{
	while (pass->offset < pass->types_size && !pass->stop)
		pass_record(pass, big_endian);
}

/*
 * Without the size of a record what follows is lost, but what came before is as good as ever: it
 * stays, a warning tells, and ids beyond count as void.
 */
static struct error *stop_early(struct pass *pass)
{
	struct btf *btf = pass->btf;
	uint32_t kind = pass->stop_kind;
	char what[64];
	snprintf(what, sizeof(what), "%s", pass->stop);
	if (kind >= BTF_KIND_COUNT)
		snprintf(what, sizeof(what), "is of the unknown kind %u", kind);
	/* Kind 0 is no kind: the record before has another length than it says. */
	if (!kind && pass->has_kind && pass->count) {
		pass->offset = btf->offsets[--pass->count];
		snprintf(what, sizeof(what), "does not end where the next begins");
	}
	uint32_t id = pass_id(pass);
	if (!pass->count)
		return error_create(ERROR_FORMAT, "type %u (%s) %s", id, btf_kind_name(kind), what);
	btf->is_cut = true;
	if (asprintf(&btf->warning, "type %u %s, it and all that follow are lost", id, what) < 0) {
		btf->warning = NULL;
		return error_no_memory();
	}
	return NULL;
}

static struct error *index_records(struct btf *btf, uint32_t types_size)
{
	struct pass pass = { .btf = btf, .types_size = types_size };
	/* As many as there can be: pages that stay untouched cost nothing until they go back. */
	size_t most = types_size / RECORD_SIZE + 1;
	if (most > UINT32_MAX - btf->start_id)
		return error_create(ERROR_FORMAT, "more types than ids");
	btf->offsets = malloc(most * sizeof(*btf->offsets));
	if (!btf->offsets)
		return error_no_memory();
	if (btf->big_endian)
		pass_records(&pass, true);
	else
		pass_records(&pass, false);
	struct error *error = pass.stop ? stop_early(&pass) : NULL;
	btf->end_id = btf->start_id + pass.count;
	if (!error && !nesting_init(btf))
		error = error_no_memory();
	bool bad_name = pass.reach.name && pass.reach.name >= btf->string_start + btf->string_size;
	if (!error &&
	    (pass.is_damaged || bad_name || pass.reach.id >= btf->end_id || !level_fits(btf)))
		error = mend_records(btf, pass.offset);
	if (error)
		return error;
	uint32_t *shrunk = realloc(btf->offsets, (pass.count + 1) * sizeof(*btf->offsets));
	if (shrunk)
		btf->offsets = shrunk;
	return NULL;
}

/* --- the header ------------------------------------------------------------ */

/* A section that the header places, relative to its own end. */
static struct error *section_find(const struct bytes *bytes, uint32_t field, uint32_t header_size,
				  struct bytes *ret)
{
	uint32_t offset = load_u32(bytes->data + field, bytes->big_endian);
	uint32_t size = load_u32(bytes->data + field + 4, bytes->big_endian);
	if (!bytes_has(bytes, (uint64_t)header_size + offset, size))
		return error_create(ERROR_FORMAT,
				    "header: %s section [0x%x, +0x%x) is beyond the %zu bytes",
				    field == 8	  ? "type"
				    : field == 16 ? "string"
						  : "layout",
				    offset, size, bytes->size);
	*ret = (struct bytes){ bytes->data + header_size + offset, size, bytes->big_endian };
	return NULL;
}

static struct error *adopt_strings(struct btf *btf, const struct bytes *strings)
{
	if (strings->size && strings->data[strings->size - 1])
		return error_create(ERROR_FORMAT, "the last string does not end");
	if (!btf->base && strings->size && strings->data[0])
		return error_create(ERROR_FORMAT, "the first string is not empty");
	if (strings->size > UINT32_MAX - btf->string_start)
		return error_create(ERROR_FORMAT, "more strings than offsets");
	btf->strings = (const char *)strings->data;
	btf->string_size = (uint32_t)strings->size;
	return NULL;
}

static struct error *read_blob(struct btf *btf, struct bytes *bytes)
{
	uint16_t magic;
	if (bytes->size < HEADER_SIZE)
		return error_create(ERROR_FORMAT, "header: %zu bytes are not enough", bytes->size);
	bytes->big_endian = false;
	magic = load_u16(bytes->data, false);
	if (magic != BTF_MAGIC && magic != __builtin_bswap16(BTF_MAGIC))
		return error_create(ERROR_FORMAT, "header: magic 0x%04x is not BTF's", magic);
	bytes->big_endian = btf->big_endian = magic != BTF_MAGIC;
	if (btf->base && btf->base->big_endian != btf->big_endian)
		return error_create(ERROR_FORMAT, "header: byte order differs from the base's");
	if (bytes->data[2] != 1)
		return error_create(ERROR_FORMAT, "header: version %u is unknown", bytes->data[2]);
	uint32_t header_size = load_u32(bytes->data + 4, bytes->big_endian);
	if (header_size < HEADER_SIZE || header_size > bytes->size)
		return error_create(ERROR_FORMAT, "header: impossible length %u", header_size);

	struct bytes types, strings, layout = { NULL, 0, false };
	struct error *error = section_find(bytes, 8, header_size, &types);
	if (!error)
		error = section_find(bytes, 16, header_size, &strings);
	if (!error && header_size >= HEADER_WITH_LAYOUT)
		error = section_find(bytes, 24, header_size, &layout);
	if (!error)
		error = adopt_strings(btf, &strings);
	if (error)
		return error;
	/* Only the lowest level carries the layout, for all. */
	if (layout.size) {
		btf->layout = layout.data;
		btf->layout_count = (uint32_t)(layout.size / LAYOUT_ENTRY);
	}
	btf->types = types.data;
	btf->types_size = (uint32_t)types.size;
	return index_records(btf, (uint32_t)types.size);
}

/* --- open and close --------------------------------------------------------- */

struct btf *level_create(const struct btf *base, const char *name)
{
	size_t name_size = strlen(name) + 1;
	struct btf *btf = calloc(1, sizeof(*btf) + name_size);
	if (!btf)
		return NULL;
	btf->lazy = calloc(1, sizeof(*btf->lazy));
	if (!btf->lazy) {
		free(btf);
		return NULL;
	}
	memcpy(btf->name, name, name_size);
	btf->start_id = btf->end_id = 1;
	if (base) {
		btf->base = base;
		btf->start_id = btf->end_id = base->end_id;
		btf->string_start = base->string_start + base->string_size;
		btf->layout = base->layout;
		btf->layout_count = base->layout_count;
		btf->signs_enums = base->signs_enums;
		btf->big_endian = base->big_endian;
		btf->depth = base->depth + 1;
	}
	return btf;
}

static struct error *open_level(const struct bytes *blob, const struct btf *base, const char *name,
				bool old_strings, struct btf **ret)
{
	if (base && (base->is_cut || base->arena || base->depth >= DEPTH_MAX))
		return error_create(ERROR_FORMAT, "BTF of %s: its base %s %s", name, base->name,
				    base->is_cut ? "is incomplete, so that ids do not fit"
						 : "cannot be one");
	struct btf *btf = level_create(base, name);
	if (!btf)
		return error_no_memory();
	if (base && old_strings)
		btf->string_start = base->string_size;
	struct bytes bytes = *blob;
	struct error *error = read_blob(btf, &bytes);
	if (error) {
		btf_close(btf);
		return error_prefix(error, "BTF of %s", name);
	}
	*ret = btf;
	return NULL;
}

struct error *btf_open(const void *data, size_t size, const struct btf *base, const char *name,
		       struct btf **ret)
{
	return open_level(&(struct bytes){ data, size, false }, base, name, false, ret);
}

struct error *btf_open_old_strings(const void *data, size_t size, const struct btf *base,
				   const char *name, struct btf **ret)
{
	return open_level(&(struct bytes){ data, size, false }, base, name, true, ret);
}

void btf_close(struct btf *btf)
{
	if (!btf)
		return;
	btf_close(btf->lazy->scratch);
	name_indexes_deinit(btf->lazy);
	free(btf->lazy);
	arena_destroy(btf->arena);
	free(btf->offsets);
	free(btf->warning);
	free(btf->mended);
	free(btf->nested);
	free(btf);
}

const char *btf_name(const struct btf *btf)
{
	return btf->name;
}

const char *btf_warning(const struct btf *btf)
{
	return btf->warning;
}

bool btf_is_cut(const struct btf *btf)
{
	return btf->is_cut;
}

const struct btf *btf_base(const struct btf *btf)
{
	return btf->base;
}

bool btf_is_big_endian(const struct btf *btf)
{
	return btf->big_endian;
}

uint32_t btf_start_id(const struct btf *btf)
{
	return btf->start_id;
}

uint32_t btf_end_id(const struct btf *btf)
{
	return btf->end_id;
}

uint32_t btf_type_bytes(const struct btf *btf)
{
	return btf->types_size;
}

uint32_t btf_string_start(const struct btf *btf)
{
	return btf->string_start;
}

uint32_t btf_string_size(const struct btf *btf)
{
	return btf->string_size;
}
