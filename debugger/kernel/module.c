// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/module.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Real modules have some 60. */
#define SECTIONS_MAX 4096
#define USERS_MAX    4096
/* MODULE_REF_BASE of kernel/module/main.c: a module counts itself once. */
#define OWN_REFERENCES 1
#define TAINTS_MAX     64
/* Of enum mod_mem_type there are 7. */
#define MEMORIES_MAX 16

static struct error *module_object(struct target *target, const struct module *module,
				   struct object *ret)
{
	return object_at(target, "struct module", module->address, ret);
}

/* The string that the pointer at `path` points to; "" for NULL and where there is no such member.
 */
static struct error *read_text(const struct object *object, const char *path,
			       char buffer[MODULE_TEXT_SIZE])
{
	uint64_t address;
	size_t length;
	*buffer = 0;
	if (!object_has(object, path))
		return NULL;
	TRY(object_u64(object, path, &address));
	if (!address)
		return NULL;
	struct error *error = memory_read_string(object->target->memory, address, buffer,
						 MODULE_TEXT_SIZE, &length);
	if (error)
		*buffer = 0;
	return error;
}

/* --- taints ---------------------------------------------------------------------------------- */

/* The letter of a bit, from taint_flags[] of kernel/panic.c. */
static struct error *taint_letter(struct target *target, unsigned int bit, char *ret)
{
	uint64_t table, size, letter;
	struct type type;
	struct object flag;
	if (!symtab_address(target->symbols, "taint_flags", &table))
		return error_create(ERROR_NOT_FOUND, "the kernel has no taint_flags");
	TRY(target_find_type(target, NULL, "struct taint_flag", &type));
	if (!type_size(type, &size))
		return error_create(ERROR_FORMAT, "struct taint_flag has no size");
	TRY(object_at(target, "struct taint_flag", table + bit * size, &flag));
	TRY(object_u64(&flag, "c_true", &letter));
	*ret = (char)letter;
	return NULL;
}

struct error *taint_letters(struct target *target, uint64_t taints, char ret[TAINT_LETTERS_SIZE])
{
	size_t count = 0;
	*ret = 0;
	for (unsigned int bit = 0; bit < TAINTS_MAX && count + 1 < TAINT_LETTERS_SIZE; bit++) {
		char letter = 0;
		if (!(taints >> bit & 1))
			continue;
		TRY(taint_letter(target, bit, &letter));
		ret[count++] = letter;
		ret[count] = 0;
	}
	return NULL;
}

/* --- facts ----------------------------------------------------------------------------------- */

static struct error *read_references(const struct object *object, struct module_facts *facts)
{
	uint64_t count;
	/* Without CONFIG_MODULE_UNLOAD there is no count of references. */
	if (!object_has(object, "refcnt.counter"))
		return NULL;
	TRY(object_u64(object, "refcnt.counter", &count));
	facts->references = (int64_t)(int32_t)count - OWN_REFERENCES;
	facts->has_references = true;
	return NULL;
}

static struct error *read_taints(const struct object *object, struct module_facts *facts)
{
	if (!object_has(object, "taints"))
		return NULL;
	TRY(object_u64(object, "taints", &facts->taints));
	return taint_letters(object->target, facts->taints, facts->letters);
}

/* The first of the regions that are freed after init, of enum mod_mem_type; false: no such enum. */
static bool first_init_region(const struct btf *btf, int64_t *ret)
{
	uint64_t cursor = 0;
	struct btf_type type;
	struct btf_enumerator found;
	if (!btf_get(btf, btf_find(btf, BTF_ENUM, "mod_mem_type", &cursor), &type))
		return false;
	for (uint32_t i = 0; btf_enumerator(&type, i, &found); i++)
		if (!strcmp(found.name, "MOD_INIT_TEXT")) {
			*ret = found.value;
			return true;
		}
	return false;
}

/* Up to 6.3 init_layout; since then the regions from MOD_INIT_TEXT on. */
static struct error *read_init_size(const struct object *object, struct module_facts *facts)
{
	uint64_t size;
	if (object_has(object, "init_layout.size")) {
		TRY(object_u64(object, "init_layout.size", &facts->init_size));
		return NULL;
	}
	int64_t first;
	if (!object_has(object, "mem") || !first_init_region(object->target->btf, &first))
		return NULL;
	for (int64_t i = first; i >= 0 && i < MEMORIES_MAX; i++) {
		char path[32];
		snprintf(path, sizeof(path), "mem[%" PRId64 "].size", i);
		if (!object_has(object, path))
			break;
		TRY(object_u64(object, path, &size));
		facts->init_size += size;
	}
	return NULL;
}

static void keep_first(struct error **first, struct error *error)
{
	if (*first)
		error_free(error);
	else
		*first = error;
}

struct error *module_facts_read(struct target *target, const struct module *module,
				struct module_facts *ret)
{
	struct object object;
	struct error *first = NULL;
	*ret = (struct module_facts){ .version = "" };
	TRY(module_object(target, module, &object));
	keep_first(&first, error_prefix(read_references(&object, ret), "refcnt"));
	keep_first(&first, error_prefix(read_taints(&object, ret), "taints"));
	keep_first(&first, error_prefix(read_text(&object, "version", ret->version), "version"));
	keep_first(&first, error_prefix(read_text(&object, "srcversion", ret->source_version),
					"srcversion"));
	keep_first(&first, read_init_size(&object, ret));
	return first;
}

/* --- users ----------------------------------------------------------------------------------- */

static struct error *add_user(struct target *target, uint64_t node, char *buffer, size_t size)
{
	struct object use, user;
	char name[64];
	TRY(object_container(target, "struct module_use", "source_list", node, &use));
	TRY(object_follow(&use, "source", &user));
	TRY(object_string(&user, "name", name, sizeof(name)));
	size_t length = strlen(buffer);
	snprintf(buffer + length, size - length, "%s%s", length ? "," : "", name);
	return NULL;
}

struct error *module_users(struct target *target, const struct module *module, char *buffer,
			   size_t size)
{
	struct object object, head;
	struct list_walk walk;
	uint64_t node;
	*buffer = 0;
	TRY(module_object(target, module, &object));
	if (!object_has(&object, "source_list"))
		return NULL;
	TRY(object_member(&object, "source_list", &head));
	list_walk_init(&walk, target, head.address);
	for (unsigned int i = 0; i < USERS_MAX; i++) {
		TRY(list_walk_next(&walk, &node));
		if (!node)
			break;
		TRY(add_user(target, node, buffer, size));
	}
	return NULL;
}

/* --- sections -------------------------------------------------------------------------------- */

/* The table of sections of one module. */
struct section_table {
	struct target *target;
	struct type entry; /* struct module_sect_attr; since 6.14 struct bin_attribute */
	uint64_t first, size, count;
};

/* 34f5ec0f8252 (6.14) dropped the count; the attributes of the group end in a NULL instead. */
static struct error *count_attributes(const struct object *attributes, uint64_t *ret)
{
	static const char *const lists[] = { "grp.bin_attrs", "grp.bin_attrs_new" };
	struct memory *memory = attributes->target->memory;
	uint64_t list = 0, entry;
	if (object_has(attributes, "nsections"))
		return object_u64(attributes, "nsections", ret);
	for (size_t i = 0; i < ARRAY_COUNT(lists) && !list; i++)
		if (object_has(attributes, lists[i]))
			TRY(object_u64(attributes, lists[i], &list));
	for (*ret = 0; list && *ret <= SECTIONS_MAX; ++*ret) {
		TRY(memory_read_word(memory, list + *ret * memory->word_size, &entry));
		if (!entry)
			break;
	}
	return NULL;
}

static struct error *find_sections(struct target *target, const struct module *module,
				   struct section_table *ret)
{
	struct object object, attributes, entries;
	TRY(module_object(target, module, &object));
	if (!object_has(&object, "sect_attrs"))
		return error_create(ERROR_NOT_FOUND, "this kernel keeps no sections of modules");
	TRY(object_follow(&object, "sect_attrs", &attributes));
	if (!attributes.address)
		return error_create(ERROR_NOT_FOUND, "it has none");
	TRY(object_member(&attributes, "attrs", &entries));
	TRY(count_attributes(&attributes, &ret->count));
	if (ret->count > SECTIONS_MAX)
		return error_create(ERROR_FORMAT, "%" PRIu64 " of them", ret->count);
	ret->target = target;
	ret->first = entries.address;
	if (!type_target(entries.type, &ret->entry) || !type_size(ret->entry, &ret->size))
		return error_create(ERROR_FORMAT, "attrs is no array");
	return NULL;
}

static struct error *read_section(const struct section_table *table, uint64_t number,
				  struct module_section *ret)
{
	static const char *const names[] = { "battr.attr.name", "mattr.attr.name", "attr.name" };
	struct object entry = { .target = table->target,
				.type = table->entry,
				.address = table->first + number * table->size };
	*ret = (struct module_section){ .name = "" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (!object_has(&entry, names[i]))
			continue;
		TRY(read_text(&entry, names[i], ret->name));
		break;
	}
	return object_u64(&entry, object_has(&entry, "address") ? "address" : "private",
			  &ret->address);
}

struct error *module_for_each_section(struct target *target, const struct module *module,
				      module_section_visitor *visit, void *context)
{
	struct section_table table;
	struct module_section section;
	TRY(error_prefix(find_sections(target, module, &table), "sections"));
	for (uint64_t i = 0; i < table.count; i++) {
		TRY(error_prefix(read_section(&table, i, &section), "section %" PRIu64, i));
		TRY(visit(context, &section));
	}
	return NULL;
}

/* --- build id -------------------------------------------------------------------------------- */

static struct error *keep_note(void *context, const struct module_section *section)
{
	uint64_t *note = context;
	if (!strcmp(section->name, ".note.gnu.build-id"))
		*note = section->address;
	return NULL;
}

struct error *module_build_id(struct target *target, const struct module *module,
			      uint8_t ret[MODULE_BUILD_ID_SIZE], size_t *ret_size)
{
	/* Elf64_Nhdr: sizes of name and description, type; then "GNU". */
	uint8_t head[16];
	uint64_t note = 0;
	*ret_size = 0;
	TRY(module_for_each_section(target, module, keep_note, &note));
	if (!note)
		return NULL;
	TRY(memory_read(target->memory, note, head, sizeof(head)));
	uint32_t size = load_u32(head + 4, target->memory->big_endian);
	if (load_u32(head, target->memory->big_endian) != 4 || memcmp(head + 12, "GNU", 4) ||
	    size > MODULE_BUILD_ID_SIZE)
		return error_create(ERROR_FORMAT, "build id: 0x%" PRIx64 " is no note", note);
	TRY(memory_read(target->memory, note + sizeof(head), ret, size));
	*ret_size = size;
	return NULL;
}
