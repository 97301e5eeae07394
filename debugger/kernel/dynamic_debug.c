// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/dynamic_debug.h"

#include "base/interrupt.h"
#include "debugger/target/list.h"

#define SITES_MAX     (1u << 20) /* of a walk over all of them */
#define COPIES_MAX    64u	 /* branches to one message */
#define KEY_FLAGS     3u	 /* in pointers to entries and to keys */
#define KEY_IS_LINKED 2u	 /* JUMP_TYPE_LINKED: no entries but other modules' */
#define KEY	      "key.dd_key_true.key"

struct walk {
	struct target *target;
	debug_site_visitor *visit;
	void *context;
	struct object descriptor, entry; /* types; the addresses change */
	uint64_t descriptor_size, entry_size;
	uint64_t left; /* descriptors that may still be looked at */
};

static struct error *read_text(const struct object *descriptor, const char *member, char *buffer,
			       size_t size)
{
	uint64_t address;
	size_t length;
	TRY(object_u64(descriptor, member, &address));
	return memory_read_string(descriptor->target->memory, address, buffer, size, &length);
}

/* What is stored as a distance from where it is stored. */
static struct error *read_relative(const struct object *entry, const char *member, uint64_t flags,
				   uint64_t *ret)
{
	struct object field;
	uint64_t distance;
	TRY(object_member(entry, member, &field));
	TRY(object_u64(&field, NULL, &distance));
	*ret = field.address + (distance & ~flags);
	return NULL;
}

/* The branches of a key stand together. */
static struct error *visit_branches(const struct walk *walk, uint64_t key, uint64_t first,
				    struct debug_site *site)
{
	struct object entry = walk->entry;
	uint64_t of;
	for (uint64_t i = 0; i < COPIES_MAX; i++) {
		entry.address = first + i * walk->entry_size;
		struct error *error = read_relative(&entry, "key", KEY_FLAGS, &of);
		if (!error && of == key)
			error = read_relative(&entry, "code", 0, &site->address);
		if (error || of != key)
			return error_only_fatal(error);
		TRY(walk->visit(walk->context, site));
	}
	return NULL;
}

static struct error *read_site(const struct object *descriptor, uint64_t *ret_key,
			       uint64_t *ret_entries, struct debug_site *ret)
{
	struct object key;
	TRY(object_member(descriptor, KEY, &key));
	TRY(object_u64(descriptor, KEY ".entries", ret_entries));
	TRY(object_u64(descriptor, "lineno", &ret->line));
	TRY(read_text(descriptor, "function", ret->function, sizeof(ret->function)));
	TRY(read_text(descriptor, "filename", ret->file, sizeof(ret->file)));
	*ret_key = key.address;
	ret->descriptor = descriptor->address;
	return NULL;
}

static struct error *visit_table(struct walk *walk, uint64_t first, uint64_t count)
{
	struct object descriptor = walk->descriptor;
	struct debug_site site;
	uint64_t key, entries;
	for (uint64_t i = 0; i < count && walk->left; i++, walk->left--) {
		TRY(interrupt_check());
		descriptor.address = first + i * walk->descriptor_size;
		struct error *error = read_site(&descriptor, &key, &entries, &site);
		if (!error && !(entries & KEY_IS_LINKED))
			TRY(visit_branches(walk, key, entries & ~(uint64_t)KEY_FLAGS, &site));
		TRY(error_only_fatal(error));
	}
	return NULL;
}

static struct error *prepare(struct target *target, struct walk *walk)
{
	TRY(object_at(target, "struct _ddebug", 0, &walk->descriptor));
	TRY(object_at(target, "struct jump_entry", 0, &walk->entry));
	if (!object_has(&walk->descriptor, KEY ".entries") || !object_has(&walk->entry, "key") ||
	    !type_size(walk->descriptor.type, &walk->descriptor_size) || !walk->descriptor_size ||
	    !type_size(walk->entry.type, &walk->entry_size) || !walk->entry_size)
		return error_create(ERROR_NOT_FOUND, "debug messages have no branches here");
	return NULL;
}

struct error *debug_site_each(struct target *target, debug_site_visitor *visit, void *context)
{
	struct walk walk = {
		.target = target, .visit = visit, .context = context, .left = SITES_MAX
	};
	struct object head, table;
	struct list_walk list;
	uint64_t node, first, count;
	TRY(prepare(target, &walk));
	TRY(object_variable(target, "ddebug_tables", "struct list_head", &head));
	list_walk_init(&list, target, head.address);
	for (;;) {
		struct error *error = list_walk_next(&list, &node);
		if (error || !node)
			return error_only_fatal(error);
		error = object_container(target, "struct ddebug_table", "link", node, &table);
		if (!error)
			error = object_u64(&table, "ddebugs", &first);
		if (!error)
			error = object_u64(&table, "num_ddebugs", &count);
		if (!error)
			TRY(visit_table(&walk, first, count));
		TRY(error_only_fatal(error));
	}
}
