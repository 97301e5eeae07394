// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Files for this dump in a folder: named after the kernel or a module, as in /usr/lib/modules or
 * /sys/kernel/btf, or after a build id, as in /usr/lib/debug/.build-id (XX/YYYY.debug) and the
 * cache of debuginfod's clients (XXYYYY/debuginfo). Never from the network.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "btf/elf.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE   4096
#define DEPTH_MAX   16
#define ENTRIES_MAX 200000 /* that one search looks at */

struct search {
	struct target *target;
	btf_path_visitor *add;
	uint32_t entries;
};

/* --- build ids -------------------------------------------------------------------------------- */

static bool spell_id(const uint8_t *id, size_t size, char *buffer, size_t buffer_size)
{
	uint8_t all = 0;
	if (2 * size >= buffer_size)
		return false;
	for (size_t i = 0; i < size; i++) {
		all |= id[i];
		snprintf(buffer + 2 * i, 3, "%02x", id[i]);
	}
	return all;
}

/* Since CONFIG_STACKTRACE_BUILD_ID (5.14) a module may keep it. */
static struct error *read_member(const struct object *module, uint8_t *id, size_t *ret_size)
{
	struct object member;
	uint64_t size;
	*ret_size = 0;
	if (!object_has(module, "build_id"))
		return NULL;
	TRY(object_member(module, "build_id", &member));
	if (!type_size(member.type, &size) || size > BUILD_ID_MAX)
		return NULL;
	TRY(memory_read(module->target->memory, member.address, id, (size_t)size));
	*ret_size = (size_t)size;
	return NULL;
}

/*
 * Its notes stay in memory for /sys/module/NAME/notes: module_notes_attrs, an attribute a section,
 * whose `private` is the address.
 */
static struct error *read_notes(const struct object *module, uint8_t *id, size_t *ret_size)
{
	struct object attributes;
	uint64_t count, address, size;
	uint8_t note[16 + BUILD_ID_MAX];
	*ret_size = 0;
	if (!object_has(module, "notes_attrs"))
		return NULL;
	TRY(object_follow(module, "notes_attrs", &attributes));
	if (!attributes.address || !object_has(&attributes, "notes"))
		return NULL;
	TRY(object_u64(&attributes, "notes", &count));
	for (unsigned int i = 0; i < count && i < 16; i++) {
		struct object entry;
		struct type element;
		uint64_t entry_size;
		TRY(object_member(&attributes, "attrs", &entry));
		if (!type_target(entry.type, &element) || !type_size(element, &entry_size))
			return NULL;
		entry.type = element;
		entry.address += i * entry_size;
		TRY(object_u64(&entry, "private", &address));
		TRY(object_u64(&entry, "size", &size));
		if (size <= 16 || size > sizeof(note))
			continue;
		TRY(memory_read(module->target->memory, address, note, (size_t)size));
		/* Name size 4, type 3 (NT_GNU_BUILD_ID), "GNU". */
		if (memcmp(note + 12, "GNU", 4) != 0 || note[8] + note[11] != 3)
			continue;
		*ret_size = (size_t)size - 16;
		memcpy(id, note + 16, *ret_size);
		return NULL;
	}
	return NULL;
}

static struct error *read_module_id(struct target *target, const struct module *module, uint8_t *id,
				    size_t *ret_size)
{
	struct object object;
	TRY(object_at(target, "struct module", module->address, &object));
	struct error *error = read_member(&object, id, ret_size);
	if (!error && *ret_size)
		return NULL;
	error_free(error);
	return read_notes(&object, id, ret_size);
}

bool target_build_id(struct target *target, const struct module *module, char *buffer, size_t size)
{
	uint8_t id[BUILD_ID_MAX];
	size_t length = 0;
	if (!module) {
		const char *text =
			target->vmcoreinfo ? vmcoreinfo_get(target->vmcoreinfo, "BUILD-ID") : NULL;
		if (!text || !*text || strspn(text, "0123456789abcdef") != strlen(text))
			return false;
		return (size_t)snprintf(buffer, size, "%s", text) < size;
	}
	struct error *error = read_module_id(target, module, id, &length);
	error_free(error);
	return !error && length && spell_id(id, length, buffer, size);
}

/* --- folders ------------------------------------------------------------------------------------
 */

static struct error *add_if_there(const struct search *search, const char *path, bool *ret)
{
	*ret = !access(path, R_OK);
	return *ret ? search->add(search->target, path) : NULL;
}

static struct error *add_by_id(const struct search *search, const char *folder,
			       const struct module *module)
{
	static const char *const inner[] = { "/.build-id", "" };
	char id[2 * BUILD_ID_MAX + 1], path[PATH_SIZE];
	bool found = false;
	if (!target_build_id(search->target, module, id, sizeof(id)) || strlen(id) < 4)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(inner) && !found; i++) {
		snprintf(path, sizeof(path), "%s%s/%.2s/%s.debug", folder, inner[i], id, id + 2);
		TRY(add_if_there(search, path, &found));
	}
	if (found)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s/debuginfo", folder, id);
	return add_if_there(search, path, &found);
}

static struct error *add_by_ids(const struct search *search, const char *folder)
{
	const struct module *modules = NULL;
	size_t count = search->target->btf ? target_modules(search->target, &modules) : 0;
	TRY(add_by_id(search, folder, NULL));
	for (size_t i = 0; i < count; i++)
		TRY(add_by_id(search, folder, &modules[i]));
	return NULL;
}

/* "vmlinux", "vmlinux-RELEASE", "xfs", "xfs.ko", "xfs.ko.debug", "xfs.btf". */
static bool is_wanted(const struct search *search, const char *name)
{
	char stem[256];
	snprintf(stem, sizeof(stem), "%s", name);
	for (char *at = stem; *at; at++)
		*at = *at == '-' ? '_' : *at;
	stem[strcspn(stem, ".")] = 0;
	if (target_module(search->target, stem))
		return true;
	if (strncmp(name, "vmlinux", 7) != 0)
		return false;
	name += 7;
	if (*name == '-') {
		size_t length = strlen(search->target->release);
		if (!length || strncmp(name + 1, search->target->release, length) != 0)
			return false;
		name += 1 + length;
	}
	return !*name || !strcmp(name, ".btf") || !strcmp(name, ".debug");
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static struct error *walk_folder(struct search *search, const char *folder, int depth);

static struct error *walk_entry(struct search *search, const char *folder, const char *name,
				int depth)
{
	char path[PATH_SIZE];
	struct stat status;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path) ||
	    lstat(path, &status))
		return NULL;
	/* Links lead out, "build" to whole source trees. */
	if (S_ISDIR(status.st_mode))
		return walk_folder(search, path, depth + 1);
	if (S_ISLNK(status.st_mode) && stat(path, &status))
		return NULL;
	return S_ISREG(status.st_mode) && is_wanted(search, name)
		       ? search->add(search->target, path)
		       : NULL;
}

static struct error *walk_folder(struct search *search, const char *folder, int depth)
{
	struct dirent **entries;
	struct error *error = NULL;
	if (depth > DEPTH_MAX)
		return NULL;
	int count = scandir(folder, &entries, NULL, compare_names);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (!error && name[0] != '.' && search->entries++ < ENTRIES_MAX)
			error = interrupt_check();
		if (!error && name[0] != '.' && search->entries < ENTRIES_MAX)
			error = walk_entry(search, folder, name, depth);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return error;
}

/* The places where distributions and debuginfod's clients keep such files. */
static struct error *search_system(struct search *search)
{
	char path[PATH_SIZE];
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME");
	const char *release = search->target->release;
	bool found;
	TRY(add_by_ids(search, "/usr/lib/debug"));
	if (cache && *cache)
		TRY(add_by_ids(search, cache));
	snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home ? home : "");
	TRY(add_by_ids(search, path));
	if (!*release || strchr(release, '/'))
		return NULL;
	snprintf(path, sizeof(path), "/usr/lib/debug/boot/vmlinux-%s", release);
	TRY(add_if_there(search, path, &found));
	snprintf(path, sizeof(path), "/usr/lib/modules/%s", release);
	return walk_folder(search, path, 0);
}

struct error *btf_folder_search(struct target *target, const char *folder, btf_path_visitor *add)
{
	struct search search = { .target = target, .add = add };
	if (!folder)
		return search_system(&search);
	TRY(add_by_ids(&search, folder));
	return walk_folder(&search, folder, 0);
}
