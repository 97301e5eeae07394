// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What is damaged in a level's records is taken out of a copy of them, so that everybody else still
 * relies on what btf_open() promises.
 */
#include "btf/btf.h"

#include "btf/level.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No compiler makes wider integers; consumers rely on the bound. */
#define INT_SIZE_MAX 16

bool int_is_sane(uint32_t size, uint32_t data)
{
	uint32_t bits = data & 0xff, offset = data >> 16 & 0xff;
	return size && size <= INT_SIZE_MAX && bits && bits + offset <= size * 8;
}

void record_words(const uint8_t *record, bool big_endian, word_visitor *visit, void *context)
{
	uint32_t info = load_u32(record + 4, big_endian);
	enum btf_kind kind = info_kind(info);
	const struct shape *shape = &shapes[kind];
	visit(context, record, WORD_NAME);
	if (shape->has_type)
		visit(context, record + 8, WORD_TYPE);
	if (kind == BTF_ARRAY) {
		visit(context, record + 12, WORD_TYPE);
		visit(context, record + 16, WORD_TYPE);
	}
	if (!shape->element_size)
		return;
	const uint8_t *element = record + RECORD_SIZE;
	for (uint32_t i = info_vlen(info); i; i--, element += shape->element_size) {
		if (shape->element_names)
			visit(context, element, WORD_ELEMENT_NAME);
		if (shape->element_type >= 0)
			visit(context, element + shape->element_type, WORD_ELEMENT_TYPE);
	}
}

/* --- damage ------------------------------------------------------------------------------ */

struct mend {
	struct btf *btf;
	uint32_t id; /* at work on */
	bool is_damaged, is_shifted;
	const char *what;	    /* is wrong with it */
	uint32_t damaged, first_id; /* how many are, and the first */
	enum btf_kind first_kind;
	const char *first_what;
	bool *is_counted; /* by id - start_id */
};

static void found_damage(struct mend *mend, const char *what)
{
	if (!mend->is_damaged)
		mend->what = what;
	mend->is_damaged = true;
}

/* Words of ours to write to: the visitor only looks. */
static void put(const struct mend *mend, const uint8_t *word, uint32_t value)
{
	uint8_t *to = mend->btf->mended + (word - mend->btf->types);
	for (int i = 0; i < 4; i++)
		to[mend->btf->big_endian ? 3 - i : i] = (uint8_t)(value >> 8 * i);
}

static void mend_word(void *context, const uint8_t *word, enum word_role role)
{
	struct mend *mend = context;
	struct btf *btf = mend->btf;
	uint32_t value = level_u32(btf, word), kind = info_kind(value);
	if (role == WORD_NAME || role == WORD_ELEMENT_NAME) {
		if (value < btf->string_start + btf->string_size || !value)
			return;
		found_damage(mend, "has a name beyond the strings");
	} else {
		/* Where an id should be is what only records have: this one runs into the next. */
		bool is_info = role == WORD_ELEMENT_TYPE && kind && kind < BTF_KIND_COUNT;
		/* What is cut off is missing, not wrong. */
		if (value < btf->end_id || (btf->is_cut && !is_info))
			return;
		mend->is_shifted |= is_info;
		found_damage(mend, "mentions a type that does not exist");
	}
	put(mend, word, 0);
}

/* A number that cannot be is one that is not known. */
static void mend_scalar(struct mend *mend, const struct btf_type *type, const uint8_t *record)
{
	bool is_sane = type->kind == BTF_INT
			       ? int_is_sane(type->size, level_u32(type->btf, record + 12))
			       : scalar_is_sane(type);
	if (is_sane)
		return;
	found_damage(mend, type->kind == BTF_INT ? "has more bits than bytes for them"
						 : "has a size that no compiler gives it");
	put(mend, record + 4, (uint32_t)BTF_FWD << 24);
}

/* Without type and bits, where it said or at the struct's end: who reads it reads nothing. */
static void place_at_end(struct mend *mend, const struct btf_type *type, const uint8_t *element)
{
	uint64_t end = (uint64_t)type->size * 8, most = type->kind_flag ? 0xffffff : UINT32_MAX;
	uint32_t offset = level_u32(type->btf, element + 8) & (uint32_t)most;
	end = end < most ? end : most;
	put(mend, element + 4, 0);
	put(mend, element + 8, offset < end ? offset : (uint32_t)end);
}

/* Of an array nobody knows how long it is, of a member that leaves its struct what it is. */
static void mend_sizes(struct mend *mend, const struct btf_type *type, const uint8_t *record)
{
	if (!array_is_sane(type)) {
		found_damage(mend, "has more elements than there are addresses");
		put(mend, record + 20, 0);
	}
	for (uint32_t i = 0; i < type->vlen; i++) {
		const uint8_t *element = record + RECORD_SIZE + (size_t)i * 12;
		if (element_fits(type, i))
			continue;
		if (type->kind == BTF_DATASEC) {
			found_damage(mend, "has a variable beyond its end");
			put(mend, element, 0);
			continue;
		}
		found_damage(mend, "has a member beyond its end");
		place_at_end(mend, type, element);
	}
}

/* Once for each type, whatever is wrong with it. */
static void count_damaged(struct mend *mend, uint32_t id, enum btf_kind kind, const char *what)
{
	if (mend->is_counted[id - mend->btf->start_id])
		return;
	mend->is_counted[id - mend->btf->start_id] = true;
	if (!mend->damaged++) {
		mend->first_id = id;
		mend->first_kind = kind;
		mend->first_what = what;
	}
}

/* Of structs in structs without end, the member that is too much. */
static void drop_member(void *context, const struct btf_type *type, const uint8_t *word,
			bool is_first)
{
	struct mend *mend = context;
	put(mend, word, 0);
	if (is_first)
		count_damaged(mend, type->id, type->kind,
			      "holds itself, or members within members without end");
}

static struct error *mend_nesting(struct mend *mend)
{
	struct nesting nesting = { drop_member, mend };
	struct btf *btf = mend->btf;
	struct btf_type type;
	if (!nesting_init(btf))
		return error_no_memory();
	for (uint32_t id = btf->start_id; id < btf->end_id; id++)
		if (btf_get(btf, id, &type) && (type.kind == BTF_STRUCT || type.kind == BTF_UNION))
			nesting_mend(&nesting, &type);
	return NULL;
}

static void mend_record(struct mend *mend)
{
	const uint8_t *record = level_record(mend->btf, mend->id);
	enum btf_kind kind = info_kind(level_u32(mend->btf, record + 4));
	struct btf_type type;
	mend->is_damaged = mend->is_shifted = false;
	if (kind >= BTF_KIND_COUNT)
		return;
	record_words(record, mend->btf->big_endian, mend_word, mend);
	if (!mend->is_shifted && btf_get(mend->btf, mend->id, &type)) {
		mend_scalar(mend, &type, record);
		mend_sizes(mend, &type, record);
	}
	if (mend->is_damaged)
		count_damaged(mend, mend->id, kind, mend->what);
}

/* Nothing that is read from a wrong place on is shown as a type. */
static struct error *cut_before(struct mend *mend)
{
	struct btf *btf = mend->btf;
	enum btf_kind kind = info_kind(level_u32(btf, level_record(btf, mend->id) + 4));
	if (mend->id == btf->start_id)
		return error_create(ERROR_FORMAT, "type %u (%s) %s", mend->id, btf_kind_name(kind),
				    mend->what);
	btf->is_cut = true;
	btf->end_id = mend->id;
	free(btf->warning);
	if (asprintf(&btf->warning,
		     "type %u (%s) runs into the next, it and all that follow are lost", mend->id,
		     btf_kind_name(kind)) < 0) {
		btf->warning = NULL;
		return error_no_memory();
	}
	return NULL;
}

static struct error *warn(const struct mend *mend)
{
	struct btf *btf = mend->btf;
	char several[40] = "", *warning;
	if (!mend->damaged)
		return NULL;
	if (mend->damaged > 1)
		snprintf(several, sizeof(several), "%u types are damaged: ", mend->damaged);
	if (asprintf(&warning, "%s%s%stype %u (%s) %s", btf->warning ? btf->warning : "",
		     btf->warning ? "; " : "", several, mend->first_id,
		     btf_kind_name(mend->first_kind), mend->first_what) < 0)
		return error_no_memory();
	free(btf->warning);
	btf->warning = warning;
	return NULL;
}

/* Again from the start where an end was found: what mentions the lost ones is damaged too. */
static struct error *mend_all(struct mend *mend, uint32_t types_size, const uint8_t *damaged)
{
	struct btf *btf = mend->btf;
	size_t count = (size_t)btf->end_id - btf->start_id;
	memcpy(btf->mended, damaged, types_size);
	for (mend->id = btf->start_id; mend->id < btf->end_id; mend->id++) {
		mend_record(mend);
		if (!mend->is_shifted)
			continue;
		struct error *error = cut_before(mend);
		if (error)
			return error;
		memcpy(btf->mended, damaged, types_size);
		memset(mend->is_counted, 0, count * sizeof(*mend->is_counted));
		*mend = (struct mend){ .btf = btf,
				       .id = btf->start_id - 1,
				       .is_counted = mend->is_counted };
	}
	struct error *error = mend_nesting(mend);
	return error ? error : warn(mend);
}

struct error *mend_records(struct btf *btf, uint32_t types_size)
{
	struct mend mend = { .btf = btf };
	const uint8_t *damaged = btf->types;
	btf->mended = malloc(types_size ? types_size : 1);
	mend.is_counted = calloc((size_t)btf->end_id - btf->start_id + 1, sizeof(bool));
	struct error *error = NULL;
	if (btf->mended && mend.is_counted) {
		btf->types = btf->mended;
		error = mend_all(&mend, types_size, damaged);
	} else {
		error = error_no_memory();
	}
	free(mend.is_counted);
	return error;
}
