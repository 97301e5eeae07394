// SPDX-License-Identifier: GPL-3.0-or-later
/* Rules of the audit subsystem (kernel kernel/auditfilter.c, include/uapi/linux/audit.h). */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	COLUMN_RULE,
	COLUMN_LIST,
	COLUMN_ACTION,
	COLUMN_SYSCALLS,
	COLUMN_FIELDS,
	COLUMN_KEY,
	COLUMN_PRIO
};

static const struct table_column columns[] = {
	[COLUMN_RULE] = { "rule", COLUMN_ADDRESS, 16, "its struct audit_krule",
			  "struct audit_krule" },
	[COLUMN_LIST] = { "list", COLUMN_TEXT, -10,
			  "when it is looked at: user, task, exit, exclude, filesystem, io_uring",
			  NULL },
	[COLUMN_ACTION] = { "action", COLUMN_TEXT, -6, "always: a record is made, or never", NULL },
	[COLUMN_SYSCALLS] = { "syscalls", COLUMN_TEXT, -12, "their numbers; all; none", NULL },
	[COLUMN_FIELDS] = { "fields", COLUMN_TEXT, -32,
			    "what must be true, as auditctl -F takes it, spaces between; "
			    "field_compare by the kernel's number",
			    NULL },
	[COLUMN_KEY] = { "key", COLUMN_TEXT, 0, "what its records are marked with", NULL },
	[COLUMN_PRIO] = { "prio", COLUMN_WIDE, 0,
			  "of several of exit or io_uring that fit, the highest counts; of "
			  "the first it is -1, 0 or more of those that were put in front",
			  NULL },
};

#define LISTS_MAX    16
#define FIELDS_MAX   64 /* AUDIT_MAX_FIELDS */
#define MASK_WORDS   64 /* AUDIT_BITMASK_SIZE */
#define SYSCALLS_MAX (32 * MASK_WORDS)
#define TEXT_MAX     8192
#define LISTS_SURE   7 /* that each kernel has; later ones have one more (io_uring) */

/* Kernel include/linux/audit.h, include/uapi/linux/audit.h */
#define LOGINUID_LEGACY 1u
#define LOGINUID	9u
#define LOGINUID_SET	24u

enum field_kind {
	FIELD_NUMBER,
	FIELD_SIGNED,
	FIELD_HEX,
	FIELD_PERM,
	FIELD_FILE_TYPE,
	FIELD_LABEL, /* of a security module */
	FIELD_WATCH,
	FIELD_TREE,
	FIELD_EXE,
	FIELD_KEY
};

/* AUDIT_* of the kernel's interface, with auditctl's names. */
static const struct {
	uint32_t type;
	enum field_kind kind;
	const char *name;
} fields[] = {
	{ 0, FIELD_NUMBER, "pid" },
	{ 1, FIELD_SIGNED, "uid" },
	{ 2, FIELD_SIGNED, "euid" },
	{ 3, FIELD_SIGNED, "suid" },
	{ 4, FIELD_SIGNED, "fsuid" },
	{ 5, FIELD_SIGNED, "gid" },
	{ 6, FIELD_SIGNED, "egid" },
	{ 7, FIELD_SIGNED, "sgid" },
	{ 8, FIELD_SIGNED, "fsgid" },
	{ 9, FIELD_SIGNED, "auid" },
	{ 10, FIELD_NUMBER, "pers" },
	{ 11, FIELD_HEX, "arch" },
	{ 12, FIELD_NUMBER, "msgtype" },
	{ 13, FIELD_LABEL, "subj_user" },
	{ 14, FIELD_LABEL, "subj_role" },
	{ 15, FIELD_LABEL, "subj_type" },
	{ 16, FIELD_LABEL, "subj_sen" },
	{ 17, FIELD_LABEL, "subj_clr" },
	{ 18, FIELD_NUMBER, "ppid" },
	{ 19, FIELD_LABEL, "obj_user" },
	{ 20, FIELD_LABEL, "obj_role" },
	{ 21, FIELD_LABEL, "obj_type" },
	{ 22, FIELD_LABEL, "obj_lev_low" },
	{ 23, FIELD_LABEL, "obj_lev_high" },
	{ 24, FIELD_NUMBER, "auid_set" },
	{ 25, FIELD_SIGNED, "sessionid" },
	{ 26, FIELD_HEX, "fstype" },
	{ 100, FIELD_HEX, "devmajor" },
	{ 101, FIELD_HEX, "devminor" },
	{ 102, FIELD_NUMBER, "inode" },
	{ 103, FIELD_SIGNED, "exit" },
	{ 104, FIELD_NUMBER, "success" },
	{ 105, FIELD_WATCH, "path" },
	{ 106, FIELD_PERM, "perm" },
	{ 107, FIELD_TREE, "dir" },
	{ 108, FIELD_FILE_TYPE, "filetype" },
	{ 109, FIELD_SIGNED, "obj_uid" },
	{ 110, FIELD_SIGNED, "obj_gid" },
	{ 111, FIELD_NUMBER, "field_compare" },
	{ 112, FIELD_EXE, "exe" },
	{ 113, FIELD_NUMBER, "saddr_fam" },
	{ 200, FIELD_HEX, "a0" },
	{ 201, FIELD_HEX, "a1" },
	{ 202, FIELD_HEX, "a2" },
	{ 203, FIELD_HEX, "a3" },
	{ 210, FIELD_KEY, "key" },
};

static const struct {
	const char *enumerator, *sign;
} operators[] = {
	{ "Audit_equal", "=" },	   { "Audit_not_equal", "!=" }, { "Audit_bitmask", "&" },
	{ "Audit_bittest", "&=" }, { "Audit_lt", "<" },		{ "Audit_gt", ">" },
	{ "Audit_le", "<=" },	   { "Audit_ge", ">=" },
};

struct pass {
	uint64_t list; /* that is gone through */
	uint64_t operators[ARRAY_COUNT(operators)];
};

/* --- fields ----------------------------------------------------------------------------------- */

static void put_number(struct strbuf *text, const char *format, uint64_t number)
{
	char word[32];
	snprintf(word, sizeof(word), format, number);
	strbuf_put(text, word);
}

static void put_permissions(struct strbuf *text, uint64_t bits)
{
	static const struct {
		uint32_t bit;
		const char *letter;
	} letters[] = { { 4, "r" }, { 2, "w" }, { 1, "x" }, { 8, "a" } };
	for (size_t i = 0; i < ARRAY_COUNT(letters); i++)
		if (bits & letters[i].bit)
			strbuf_put(text, letters[i].letter);
}

static void put_file_type(struct strbuf *text, uint64_t mode)
{
	static const struct {
		uint32_t mode;
		const char *name;
	} types[] = { { S_IFREG, "file" },	{ S_IFDIR, "dir" },   { S_IFLNK, "link" },
		      { S_IFCHR, "character" }, { S_IFBLK, "block" }, { S_IFIFO, "fifo" },
		      { S_IFSOCK, "socket" } };
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (mode == types[i].mode) {
			strbuf_put(text, types[i].name);
			return;
		}
	put_number(text, "%" PRIu64, mode);
}

/* The string that the pointer at `path` leads to, or, if `own`, that begins there. */
static struct error *put_string(struct strbuf *text, const struct object *object, const char *path,
				bool own)
{
	struct object place;
	char word[PATH_SIZE];
	size_t length;
	if (!own) {
		TRY(path_pointed_string(object, path, word, sizeof(word)));
	} else {
		TRY(object_member(object, path, &place));
		TRY(memory_read_string(object->target->memory, place.address, word, sizeof(word),
				       &length));
	}
	strbuf_put(text, word);
	return NULL;
}

static struct error *put_place(struct strbuf *text, const struct object *rule, const char *member,
			       const char *path, bool own)
{
	struct object place;
	TRY(object_follow(rule, member, &place));
	return place.address ? put_string(text, &place, path, own) : NULL;
}

static struct error *put_value(struct strbuf *text, const struct object *rule,
			       const struct object *field, enum field_kind kind)
{
	uint64_t value;
	TRY(object_u64(field, "val", &value));
	value = (uint32_t)value;
	switch (kind) {
	case FIELD_SIGNED:
		put_number(text, "%" PRId64, (uint64_t)(int32_t)value);
		break;
	case FIELD_HEX:
		put_number(text, "0x%" PRIx64, value);
		break;
	case FIELD_PERM:
		put_permissions(text, value);
		break;
	case FIELD_FILE_TYPE:
		put_file_type(text, value);
		break;
	case FIELD_LABEL:
		return put_string(text, field, "lsm_str", false);
	case FIELD_WATCH:
		return put_place(text, rule, "watch", "path", false);
	case FIELD_TREE:
		return put_place(text, rule, "tree", "pathname", true);
	case FIELD_EXE:
		return put_place(text, rule, "exe", "path", false);
	case FIELD_KEY:
		return put_string(text, rule, "filterkey", false);
	case FIELD_NUMBER:
		put_number(text, "%" PRIu64, value);
		break;
	}
	return NULL;
}

/* "auid=-1" is kept as "auid_set=0", with a mark in the rule that it was told the other way. */
static struct error *is_unset_auid(const struct object *rule, const struct object *field,
				   uint64_t type, bool *ret)
{
	uint64_t flags, value;
	*ret = false;
	if (type != LOGINUID_SET)
		return NULL;
	TRY(object_u64(rule, "pflags", &flags));
	TRY(object_u64(field, "val", &value));
	*ret = flags & LOGINUID_LEGACY && !(uint32_t)value;
	return NULL;
}

static struct error *put_field(const struct pass *pass, struct strbuf *text,
			       const struct object *rule, const struct object *field)
{
	bool is_unset;
	uint64_t type, comparison;
	size_t known = 0, sign = 0;
	TRY(object_u64(field, "type", &type));
	TRY(object_u64(field, "op", &comparison));
	TRY(is_unset_auid(rule, field, type, &is_unset));
	if (is_unset)
		type = LOGINUID;
	while (known < ARRAY_COUNT(fields) && fields[known].type != type)
		known++;
	while (sign < ARRAY_COUNT(operators) && pass->operators[sign] != comparison)
		sign++;
	if (sign == ARRAY_COUNT(operators))
		return error_create(ERROR_FORMAT, "%" PRIu64 " is no operator", comparison);
	if (known == ARRAY_COUNT(fields))
		put_number(text, "%" PRIu64, type);
	else
		strbuf_put(text, fields[known].name);
	strbuf_put(text, operators[sign].sign);
	if (is_unset) {
		strbuf_put(text, "-1");
		return NULL;
	}
	return put_value(text, rule, field,
			 known == ARRAY_COUNT(fields) ? FIELD_NUMBER : fields[known].kind);
}

static struct error *put_fields(const struct pass *pass, struct strbuf *text,
				const struct object *rule)
{
	struct object field;
	uint64_t count, size;
	TRY(object_u64(rule, "field_count", &count));
	TRY(object_follow(rule, "fields", &field));
	if (count > FIELDS_MAX || !type_size(field.type, &size))
		return error_create(ERROR_FORMAT, "%" PRIu64 " fields are more than there can be",
				    count);
	for (uint64_t i = 0; i < count; i++) {
		if (text->size > TEXT_MAX)
			return error_create(ERROR_FORMAT, "fields of more than %d bytes", TEXT_MAX);
		if (i)
			strbuf_put(text, " ");
		TRY(put_field(pass, text, rule, &field));
		field.address += size;
	}
	return NULL;
}

static struct error *set_fields(struct table_scan *scan, const struct pass *pass,
				const struct object *rule)
{
	struct strbuf text = { 0 };
	if (!table_wants(scan, COLUMN_FIELDS))
		return NULL;
	struct error *error = put_fields(pass, &text, rule);
	strbuf_bytes(&text, "", 1);
	if (!error && text.failed)
		error = error_no_memory();
	if (!error)
		table_set_text(scan, COLUMN_FIELDS, text.data);
	strbuf_deinit(&text);
	return error;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* The last word is for classes of calls, which a rule without calls of its own leaves out. */
static struct error *set_syscalls(struct table_scan *scan, const struct object *rule)
{
	uint32_t mask[MASK_WORDS];
	struct object place;
	struct strbuf text = { 0 };
	unsigned int full = 0;
	uint64_t size;
	TRY(object_member(rule, "mask", &place));
	if (!type_size(place.type, &size) || size != sizeof(mask))
		return error_create(ERROR_FORMAT, "its mask is not of %zu bytes", sizeof(mask));
	TRY(memory_read(scan->target->memory, place.address, mask, sizeof(mask)));
	for (unsigned int i = 0; i < MASK_WORDS; i++)
		full += mask[i] == UINT32_MAX;
	for (unsigned int i = 0; full < MASK_WORDS - 1 && i < SYSCALLS_MAX; i++)
		if (mask[i / 32] >> i % 32 & 1)
			put_number(&text, text.size ? ",%" PRIu64 : "%" PRIu64, i);
	strbuf_bytes(&text, "", 1);
	struct error *error = text.failed ? error_no_memory() : NULL;
	if (!error)
		table_set_text(scan, COLUMN_SYSCALLS,
			       full >= MASK_WORDS - 1 ? "all"
			       : text.size > 1	      ? text.data
						      : "none");
	strbuf_deinit(&text);
	return error;
}

/* It counts up and down from the middle of 64 bits; where order does not matter it is all ones. */
static struct error *set_priority(struct table_scan *scan, const struct object *rule)
{
	uint64_t priority;
	TRY(object_u64(rule, "prio", &priority));
	if (priority != UINT64_MAX)
		table_set(scan, COLUMN_PRIO, priority ^ (uint64_t)1 << 63);
	return NULL;
}

static struct error *visit_rule(struct table_scan *scan, const struct object *rule, void *context)
{
	static const char *const lists[] = { "user", "task",	"entry",      "watch",
					     "exit", "exclude", "filesystem", "io_uring" };
	static const char *const actions[] = { "never", "possible", "always" };
	const struct pass *pass = context;
	uint64_t list, action;
	TRY(object_u64(rule, "listnr", &list));
	TRY(object_u64(rule, "action", &action));
	if (list != pass->list)
		return table_broken(scan, error_create(ERROR_FORMAT,
						       "the rule at 0x%" PRIx64 " of list %" PRIu64
						       " is in list %" PRIu64,
						       rule->address, list, pass->list));
	table_set(scan, COLUMN_RULE, rule->address);
	table_set_name(scan, COLUMN_LIST, lists, ARRAY_COUNT(lists), list);
	table_set_name(scan, COLUMN_ACTION, actions, ARRAY_COUNT(actions), action);
	TRY(table_set_error(scan, COLUMN_SYSCALLS, set_syscalls(scan, rule)));
	TRY(table_set_error(scan, COLUMN_FIELDS, set_fields(scan, pass, rule)));
	TRY(table_set_pointed(scan, COLUMN_KEY, rule, "filterkey"));
	TRY(table_set_error(scan, COLUMN_PRIO, set_priority(scan, rule)));
	return table_emit(scan);
}

/* What fills the room behind the last is no list: its first does not lead back to it. */
static bool is_list(struct table_scan *scan, uint64_t head)
{
	struct memory *memory = scan->target->memory;
	uint64_t first, back;
	struct error *error = memory_read_word(memory, head, &first);
	if (!error)
		error = memory_read_word(memory, first + memory->word_size, &back);
	bool is_good = !error && back == head;
	error_free(error);
	return is_good;
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .list = 0 };
	const struct table_walk walk = { CONTAINER_LIST, "struct audit_krule", "list", visit_rule,
					 &pass };
	const uint64_t size = 2 * scan->target->memory->word_size;
	struct symbol symbol;
	uint64_t cursor = 0;
	for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
		struct btf_enumerator found = { .value = (int64_t)i };
		uint32_t id;
		btf_find_enumerator(scan->target->btf, operators[i].enumerator, &id, &found);
		pass.operators[i] = (uint64_t)found.value;
	}
	if (!target_find_symbol(scan->target, NULL, "audit_rules_list", &cursor, &symbol))
		return error_create(ERROR_NOT_FOUND, "this kernel has no audit_rules_list");
	for (; pass.list < LISTS_MAX && (pass.list + 1) * size <= symbol.size; pass.list++) {
		uint64_t head = symbol.address + pass.list * size;
		if (pass.list >= LISTS_SURE && !is_list(scan, head))
			continue;
		TRY(table_broken(scan, table_walk(scan, head, &walk)));
	}
	return NULL;
}

static const char *const examples[] = { "auditrules", "auditrules -o list,action,syscalls,fields",
					NULL };

const struct table table_auditrules = {
	.name = "auditrules",
	.summary = "rules of the audit subsystem",
	.description = "A row is a rule that auditctl -l would list, in its order. What audit "
		       "does otherwise, and whether it is on, is the matter of audit.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_RULE,
	.is_object = true,
};
