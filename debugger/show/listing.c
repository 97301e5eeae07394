// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/listing.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/digits.h"
#include "base/interrupt.h"
#include "debugger/declare/declare.h"
#include "debugger/show/member.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- TYPE.MEMBER ---------------------------------------------------------------------------- */

/* Behind "struct ", "struct." and the like. */
static const char *skip_keyword(const char *text)
{
	static const char *const keywords[] = { "struct", "union" };
	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(keywords[i]);
		if (!strncmp(text, keywords[i], length) &&
		    (text[length] == ' ' || text[length] == '.'))
			return text + length + 1;
	}
	return text;
}

static bool find_in(struct target *target, const struct btf *near, const char *name,
		    struct type *ret)
{
	static const char *const keywords[] = { "struct ", "union ", "" };
	char spelled[160];
	for (size_t i = 0; i < 3; i++) {
		snprintf(spelled, sizeof(spelled), "%s%s", keywords[i], name);
		struct error *error = target_find_type(target, near, spelled, ret);
		error_free(error);
		if (!error)
			return true;
	}
	return false;
}

static bool find_type(struct target *target, const char *name, struct type *ret)
{
	if (find_in(target, NULL, name, ret))
		return true;
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf && find_in(target, btf, name, ret))
			return true;
	}
	return false;
}

static bool split_name(const char *text, char name[128], const char **ret_member)
{
	const char *from = skip_keyword(text);
	size_t length = strcspn(from, ".");
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_alnum(from[i]) && from[i] != '_')
			return false;
	if (!length || length >= 128 || isdigit((unsigned char)*from))
		return false;
	memcpy(name, from, length);
	name[length] = 0;
	*ret_member = from[length] ? from + length + 1 : NULL;
	return true;
}

struct error *linkage_parse(struct target *target, const char *text, struct linkage *ret)
{
	struct linkage linkage = { .node_offset = 0 };
	struct type_place place;
	char name[128], full[160];
	const char *member;
	if (!split_name(text, name, &member))
		return error_create(ERROR_USAGE,
				    "\"%s\" is no TYPE.MEMBER such as task_struct.tasks", text);
	if (!find_type(target, name, &linkage.type)) {
		snprintf(full, sizeof(full), "struct %s", name);
		/* For its message, with the name that may have been meant. */
		TRY(declare_parse_type(target, NULL, full, NULL, &linkage.type));
	}
	linkage.type = type_completed(target, linkage.type);
	type_spell(linkage.type, NULL, linkage.name, sizeof(linkage.name));
	if (member) {
		TRY(type_find_path(linkage.type, member, &place));
		if (place.bit_size)
			return error_create(ERROR_USAGE, "%s is a bit-field", text);
		linkage.member = place.type;
		linkage.node_offset = place.bit_offset / 8;
	}
	*ret = linkage;
	return NULL;
}

bool linkage_is_named(struct target *target, const char *text)
{
	char name[128];
	const char *member;
	struct type type;
	return split_name(text, name, &member) && find_type(target, name, &type);
}

struct error *linkage_alone(struct target *target, const char *text, const char *root,
			    const char *example)
{
	if (!linkage_is_named(target, text))
		return NULL;
	return error_create(ERROR_USAGE, "%s says what links; its %s is missing, as in `%s`", text,
			    root, example);
}

/* --- roots ----------------------------------------------------------------------------------- */

static struct error *add_root(void *context, const struct expression_result *result)
{
	struct listing_roots *roots = context;
	if (!result->value)
		return error_copy(result->error);
	if (!array_reserve(&roots->roots, &roots->capacity, roots->count + 1))
		return error_no_memory();
	roots->roots[roots->count++] = (struct listing_root){ .value = *result->value,
							      .has_cpu = result->has_cpu,
							      .cpu = result->cpu };
	return NULL;
}

struct error *listing_find_roots(struct session *session, const char *text,
				 struct listing_roots *ret)
{
	struct listing_roots roots = { .count = 0 };
	struct error *error =
		expression_evaluate(&session->scope, text, SLICE_ARRAY, add_root, &roots);
	if (error)
		free(roots.roots);
	else
		*ret = roots;
	return error;
}

struct error *listing_place(const struct value *value, uint64_t *ret, struct type *ret_type)
{
	struct btf_type record;
	bool known_type = value_record(value, &record);
	*ret_type = (struct type){ NULL, 0 };
	if (known_type && record.kind == BTF_PTR) {
		TRY(value_u64(value, ret));
		if (type_target(value->type, ret_type) &&
		    (!type_get_resolved(*ret_type, &record) || record.kind == BTF_VOID))
			*ret_type = (struct type){ NULL, 0 };
		*ret_type = type_completed(value->target, *ret_type);
		return NULL;
	}
	bool is_number = known_type && (record.kind == BTF_INT || record.kind == BTF_ENUM);
	if (is_number || (!known_type && !value->in_memory))
		return value_u64(value, ret);
	*ret = value->address;
	*ret_type = type_completed(value->target, value->type);
	return NULL;
}

/* --- columns --------------------------------------------------------------------------------- */

static int longest_enumerator(const struct btf_type *record)
{
	struct btf_enumerator enumerator;
	size_t longest = 0;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++)
		if (strlen(enumerator.name) > longest)
			longest = strlen(enumerator.name);
	return longest < 32 ? (int)longest : 32;
}

/* About as wide as values of a type get; rows are written before all of them are known. */
static int width_of(struct type type)
{
	struct btf_type record;
	uint64_t size = 8;
	if (!type_get_resolved(type, &record))
		return 18;
	type_size(type, &size);
	switch (record.kind) {
	case BTF_PTR:
		return -18;
	case BTF_ENUM:
	case BTF_ENUM64:
		return -longest_enumerator(&record);
	case BTF_INT:
		return size >= 8 ? 20 : size == 4 ? 10 : 5;
	case BTF_ARRAY:
		return -(int)(record.array_count < 32 ? record.array_count + 1 : 32);
	default:
		return -12;
	}
}

/* A key of JSON that no column of ours has. */
static void name_column(struct listing *listing, size_t index, const char *path)
{
	bool is_taken = !strcmp(path, "address") || !strcmp(path, "index") ||
			!strcmp(path, "last") || (listing->has_cpu && !strcmp(path, "cpu"));
	snprintf(listing->keys[index], sizeof(listing->keys[index]), "%s%s", is_taken ? "." : "",
		 path);
}

/* Of members behind pointers the width is not known: -12 does for most. */
static int width_of_path(const struct linkage *linkage, const char *path)
{
	struct type_place place;
	struct error *error = type_find_path(linkage->type, path, &place);
	error_free(error);
	int width = error ? -12 : width_of(place.type), title = (int)strlen(path);
	if (width < 0)
		return -width > title ? width : -title;
	return width > title ? width : title;
}

static size_t choose_columns(struct listing *listing)
{
	struct selection *selection = &listing->selection;
	size_t count = 0;
	bool titled = selection->count || listing->has_index || listing->has_cpu;
	if (listing->has_cpu)
		listing->columns[count++] = (struct column){ "cpu", "CPU", 3 };
	if (listing->has_index) {
		listing->columns[count++] = (struct column){ "index", "INDEX", 16 };
		listing->columns[count++] = (struct column){ "last", NULL, 16 };
	}
	listing->columns[count++] = (struct column){ "address", titled ? "ADDRESS" : "", -16 };
	for (size_t i = 0; i < selection->count; i++) {
		const char *path = selection->paths[i];
		name_column(listing, i, path);
		listing->columns[count++] =
			(struct column){ listing->keys[i], path,
					 width_of_path(listing->linkage, path) };
	}
	return count;
}

static struct error *parse_limit(struct listing *listing, const char *text)
{
	listing->limit = LISTING_LIMIT;
	listing->limit_is_default = !text;
	if (!text)
		return NULL;
	if (!digits_parse(text, &listing->limit))
		return error_create(ERROR_USAGE, "\"%s\" is not a number", text);
	return NULL;
}

struct error *listing_begin(struct listing *listing, struct session *session,
			    const struct linkage *linkage, const char *members, const char *limit)
{
	listing->session = session;
	listing->linkage = linkage;
	listing->options = session->render;
	listing->options.one_line = listing->options.bare_strings = true;
	listing->options.string_limit = 0;
	if (listing->hexadecimal) {
		listing->options.base = BASE_HEXADECIMAL;
		listing->options.base_of_all = true;
	}
	TRY(parse_limit(listing, limit));
	if (members && !linkage->type.btf)
		return error_create(ERROR_USAGE, "whose members are \"%s\"? name a TYPE too",
				    members);
	if (members)
		TRY(selection_parse(members, linkage->name, &listing->selection));
	struct error *error = selection_check(&session->scope, &listing->selection, linkage->type);
	if (error) {
		selection_deinit(&listing->selection);
		return error;
	}
	size_t count = choose_columns(listing);
	out_table_begin(session->out, NULL, listing->columns, count);
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* "5" or "0x7f...-0x7f...": of wide maps the indices are addresses. */
static void show_index(struct out *out, const struct walk_item *item)
{
	char text[48];
	bool is_wide = item->last > UINT32_MAX;
	if (item->index == item->last)
		snprintf(text, sizeof(text), is_wide ? "0x%" PRIx64 : "%" PRIu64, item->index);
	else
		snprintf(text, sizeof(text),
			 is_wide ? "0x%" PRIx64 "-0x%" PRIx64 : "%" PRIu64 "-%" PRIu64, item->index,
			 item->last);
	out_wide_as(out, "index", item->index, text);
	out_wide_as(out, "last", item->last, "");
}

static void show_address(struct listing *listing, const struct walk_item *item, uint64_t address)
{
	struct out *out = listing->session->out;
	char text[40];
	if (item->is_value) {
		snprintf(text, sizeof(text), "value 0x%" PRIx64, item->address);
		out_wide_as(out, "address", item->address, text);
		return;
	}
	const struct type type = listing->linkage->type;
	out_item(out,
		 &(struct out_item){ .address = address, .btf = type.btf, .type_id = type.id });
	out_address(out, "address", address);
}

/* Ends the walk: listing_end() knows why. */
static struct error *stop(struct listing *listing)
{
	listing->full = true;
	return error_create(ERROR_OTHER, "the limit is reached");
}

struct error *listing_visit(void *context, const struct walk_item *item)
{
	struct listing *listing = context;
	struct out *out = listing->session->out;
	struct error *error = NULL;
	TRY(interrupt_check());
	uint64_t address = item->address - listing->linkage->node_offset;
	listing->ended = listing->has_end &&
			 (address == listing->end || item->address == listing->end);
	if (listing->ended || (listing->limit && listing->count == listing->limit))
		return stop(listing);
	listing->count++;
	struct value value = { .target = listing->session->target,
			       .type = listing->linkage->type,
			       .in_memory = true,
			       .address = address,
			       .origin = ORIGIN_CAST };
	out_row_begin(out);
	if (listing->has_cpu)
		out_u64(out, "cpu", listing->cpu);
	if (listing->has_index)
		show_index(out, item);
	show_address(listing, item, address);
	for (size_t i = 0; i < listing->selection.count && !error; i++) {
		if (item->is_value)
			out_null_as(out, listing->keys[i], "");
		else
			error = member_show(listing->session, &value, &listing->selection, i,
					    listing->keys[i], &listing->options, true);
	}
	out_row_end(out);
	return error;
}

struct error *listing_broken(void *context, struct error *problem)
{
	struct listing *listing = context;
	struct out *out = listing->session->out;
	listing->problems++;
	out_text(out, "// broken: %s\n", problem->message);
	out_object_begin(out, NULL);
	out_string_as(out, "error", problem->message, "");
	out_object_end(out);
	error_free(problem);
	return NULL;
}

struct error *listing_end(struct listing *listing, struct error *error)
{
	out_table_end(listing->session->out);
	selection_deinit(&listing->selection);
	if (listing->full) {
		error_free(error);
		error = NULL;
		if (listing->limit_is_default && !listing->ended)
			error = error_create(ERROR_OTHER,
					     "there are more than %" PRIu64
					     "; -n NUMBER shows so many, -n 0 all",
					     listing->limit);
	}
	if (!error && listing->problems)
		error = error_create(ERROR_FORMAT,
				     "%zu broken link%s; what could be reached is shown",
				     listing->problems, listing->problems > 1 ? "s" : "");
	return error;
}
