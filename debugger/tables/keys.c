// SPDX-License-Identifier: GPL-3.0-or-later
/* Keys of the kernel's key management, as /proc/keys has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_KEY,
	COLUMN_SERIAL,
	COLUMN_USAGE,
	COLUMN_FLAGS,
	COLUMN_STATE,
	COLUMN_EXPIRY,
	COLUMN_PERM,
	COLUMN_UID,
	COLUMN_GID,
	COLUMN_TYPE,
	COLUMN_DESCRIPTION
};

static const struct table_column columns[] = {
	[COLUMN_KEY] = { "key", COLUMN_ADDRESS, 16, "its struct key", "struct key" },
	[COLUMN_SERIAL] = { "serial", COLUMN_INTEGER, 10, "its number; /proc/keys has it in hex",
			    NULL },
	[COLUMN_USAGE] = { "usage", COLUMN_INTEGER, 5, "who holds it", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, 0, "dead, revoked, quota", NULL },
	[COLUMN_STATE] = { "state", COLUMN_INTEGER, 0,
			   "0: not yet made; 1: good; below 0: an error", NULL },
	[COLUMN_EXPIRY] = { "expiry", COLUMN_WIDE, 0, "seconds since 1970; 0: never", NULL },
	[COLUMN_PERM] = { "perm", COLUMN_INTEGER, 0, "who may do what; /proc/keys has it in hex",
			  NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 5, "its owner", NULL },
	[COLUMN_GID] = { "gid", COLUMN_INTEGER, 0, "and group", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -12, "keyring, user, asymmetric, ...", NULL },
	[COLUMN_DESCRIPTION] = { "description", COLUMN_TEXT, -24, "its name", NULL },
};

/* KEY_FLAG_* of kernel include/linux/key.h */
static const struct table_word flag_words[] = {
	{ 0x1, "dead" },
	{ 0x2, "revoked" },
	{ 0x4, "quota" },
};

static struct error *set_type(struct table_scan *scan, const struct object *key)
{
	struct object type;
	TRY(object_follow(key, "type", &type));
	return type.address ? table_set_pointed(scan, COLUMN_TYPE, &type, "name") : NULL;
}

static struct error *visit_key(struct table_scan *scan, const struct object *key, void *context)
{
	uint64_t flags;
	(void)context;
	table_set(scan, COLUMN_KEY, key->address);
	TRY(table_set_member(scan, COLUMN_SERIAL, key, "serial"));
	TRY(table_set_member(scan, COLUMN_USAGE, key, "usage.refs.counter"));
	struct error *error = object_u64(key, "flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_FLAGS, error));
	else
		table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	TRY(table_set_member(scan, COLUMN_STATE, key, "state"));
	TRY(table_set_member(scan, COLUMN_EXPIRY, key, "expiry"));
	TRY(table_set_member(scan, COLUMN_PERM, key, "perm"));
	TRY(table_set_member(scan, COLUMN_UID, key, "uid.val"));
	TRY(table_set_member(scan, COLUMN_GID, key, "gid.val"));
	TRY(table_set_error(scan, COLUMN_TYPE, set_type(scan, key)));
	TRY(table_set_pointed(scan, COLUMN_DESCRIPTION, key, "description"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_RBTREE, "struct key", "serial_node", visit_key,
					 NULL };
	return table_walk_variable(scan, "key_serial_tree", "struct rb_root", &walk);
}

static const char *const examples[] = { "keys", "keys --where \"type = 'keyring'\"", NULL };

const struct table table_keys = {
	.name = "keys",
	.summary = "keys and key rings",
	.description = "A row is a struct key of any user, as /proc/keys has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_KEY,
	.is_object = true,
};
