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
};

static void found_damage(struct mend *mend, const char *what)
{
	if (!mend->is_damaged)
		mend->what = what;
	mend->is_damaged = true;
}

/* Words of ours to write to: the visitor only looks. */
static void clear(const struct mend *mend, const uint8_t *word)
{
	memset(mend->btf->mended + (word - mend->btf->types), 0, 4);
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
	clear(mend, word);
}

/* An integer that cannot be is one that is not known. */
static void mend_int(struct mend *mend, const uint8_t *record)
{
	uint32_t info = (uint32_t)BTF_FWD << 24;
	if (int_is_sane(level_u32(mend->btf, record + 8), level_u32(mend->btf, record + 12)))
		return;
	found_damage(mend, "has more bits than bytes for them");
	uint8_t *word = mend->btf->mended + (record - mend->btf->types) + 4;
	word[0] = word[1] = word[2] = word[3] = 0;
	word[mend->btf->big_endian ? 0 : 3] = (uint8_t)(info >> 24);
}

static void mend_record(struct mend *mend)
{
	const uint8_t *record = level_record(mend->btf, mend->id);
	enum btf_kind kind = info_kind(level_u32(mend->btf, record + 4));
	mend->is_damaged = mend->is_shifted = false;
	if (kind >= BTF_KIND_COUNT)
		return;
	record_words(record, mend->btf->big_endian, mend_word, mend);
	if (kind == BTF_INT)
		mend_int(mend, record);
	if (!mend->is_damaged)
		return;
	if (!mend->damaged++) {
		mend->first_id = mend->id;
		mend->first_kind = kind;
		mend->first_what = mend->what;
	}
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

struct error *mend_records(struct btf *btf, uint32_t types_size)
{
	struct mend mend = { .btf = btf };
	btf->mended = malloc(types_size ? types_size : 1);
	if (!btf->mended)
		return error_no_memory();
	memcpy(btf->mended, btf->types, types_size);
	for (mend.id = btf->start_id; mend.id < btf->end_id; mend.id++) {
		mend_record(&mend);
		if (!mend.is_shifted)
			continue;
		/* What mentions the lost ones is damaged too: once more, with the new end. */
		struct error *error = cut_before(&mend);
		if (error)
			return error;
		mend = (struct mend){ .btf = btf, .id = btf->start_id - 1 };
	}
	btf->types = btf->mended;
	return warn(&mend);
}
