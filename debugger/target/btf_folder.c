// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Files for this dump in a folder: named after the kernel or a module, as in /usr/lib/modules or
 * /sys/kernel/btf, or after a build id, as in /usr/lib/debug/.build-id (XX/YYYY.debug) and the
 * cache of debuginfod's clients (XXYYYY/debuginfo). Never from the network.
 */
#include "base/array.h"
#include "base/folder.h"
#include "base/helper.h"
#include "base/interrupt.h"
#include "btf/elf.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define NAMES_MAX (64u << 20) /* bytes of the names in a folder */
#define KERNELS	  "/usr/lib/modules"
#define DEBUG	  "/usr/lib/debug"

struct search {
	struct target *target;
	btf_path_visitor *add;
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
	int file = helper_open(search->target->helper, path);
	*ret = file >= 0 || (errno != ENOENT && errno != ENOTDIR);
	if (file >= 0)
		close(file);
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

/* All at once, a NUL behind each, and one more. Owned. */
static struct error *read_names(struct target *target, const char *folder, char **ret,
				size_t *ret_size)
{
	struct stat status;
	int file = helper_list(target->helper, folder);
	if (file < 0) {
		/* One that is not there has nothing for this dump. */
		if (errno != ENOENT)
			target_add_problem(target, error_system("%s", folder));
		return NULL;
	}
	size_t size = fstat(file, &status) ? 0 : (size_t)status.st_size, done = 0;
	char *names = size <= NAMES_MAX ? calloc(size + 1, 1) : NULL;
	for (ssize_t part = 1; names && done < size && part > 0; done += (size_t)part) {
		part = pread(file, names + done, size - done, (off_t)done);
		if (part < 0)
			part = 0;
	}
	close(file);
	if (!names)
		return error_no_memory();
	*ret = names;
	*ret_size = done;
	return NULL;
}

static struct error *add_name(const struct search *search, const char *folder, const char *name)
{
	char path[PATH_SIZE];
	const char *slash = strrchr(name, '/');
	if (!*name)
		target_add_problem(search->target,
				   error_create(ERROR_OTHER,
						"%s has more than %d entries: it was not searched "
						"to the end",
						folder, FOLDER_ENTRIES_MAX));
	if (!is_wanted(search, slash ? slash + 1 : name) ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return NULL;
	return search->add(search->target, path);
}

static struct error *add_by_names(const struct search *search, const char *folder)
{
	char *names = NULL;
	size_t size = 0;
	struct error *error = read_names(search->target, folder, &names, &size);
	for (size_t at = 0; at < size && !error; at += strlen(names + at) + 1) {
		error = interrupt_check();
		if (!error)
			error = add_name(search, folder, names + at);
	}
	free(names);
	return error;
}

/* The places where distributions and debuginfod's clients keep such files. */
void btf_system_folders(char *ret[BTF_SYSTEM_FOLDERS])
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME");
	size_t count = 0;
	memset(ret, 0, BTF_SYSTEM_FOLDERS * sizeof(*ret));
	ret[count++] = strdup(KERNELS);
	ret[count++] = strdup(DEBUG);
	if (cache && *cache)
		ret[count++] = strdup(cache);
	if (home && *home && asprintf(&ret[count], "%s/.cache/debuginfod_client", home) < 0)
		ret[count] = NULL;
}

static struct error *search_by_ids(const struct search *search)
{
	char *folders[BTF_SYSTEM_FOLDERS];
	struct error *error = NULL;
	btf_system_folders(folders);
	for (size_t i = 1; i < BTF_SYSTEM_FOLDERS; i++)
		if (!error && folders[i])
			error = add_by_ids(search, folders[i]);
	for (size_t i = 0; i < BTF_SYSTEM_FOLDERS; i++)
		free(folders[i]);
	return error;
}

static struct error *search_system(const struct search *search)
{
	char path[PATH_SIZE];
	const char *release = search->target->release;
	bool found;
	TRY(search_by_ids(search));
	if (!*release || strchr(release, '/'))
		return NULL;
	snprintf(path, sizeof(path), DEBUG "/boot/vmlinux-%s", release);
	TRY(add_if_there(search, path, &found));
	snprintf(path, sizeof(path), KERNELS "/%s", release);
	return add_by_names(search, path);
}

struct error *btf_folder_search(struct target *target, const char *folder, btf_path_visitor *add)
{
	const struct search search = { .target = target, .add = add };
	if (!folder)
		return search_system(&search);
	TRY(add_by_ids(&search, folder));
	return add_by_names(&search, folder);
}
