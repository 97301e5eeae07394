// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/btf_files.h"

#include "base/array.h"
#include "base/helper.h"
#include "btf/elf.h"
#include "btf/fit.h"
#include "btf/relocate.h"
#include "debugger/target/btf_variables.h"
#include "debugger/target/object.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX   4096
#define BASE_OPTION ",base="

struct btf_files {
	struct btf_file **items;
	size_t count, capacity;
};

/* A file while it is looked at. */
struct given {
	struct memory memory;	 /* of its bytes, from 0 on */
	const char *path, *base; /* NULL: to be found out */
	int file;		 /* -1: not open yet */
	uint64_t size;
	struct elf_btf elf; /* of a raw file only elf.btf */
	bool is_foreign;    /* need not be of this kernel */
};

/* --- bytes ---------------------------------------------------------------------------------- */

/* Not mapped: it may be large, and may get shorter meanwhile. */
static struct error *read_given(struct memory *memory, uint64_t at, void *buffer, size_t size)
{
	const struct given *given = (const struct given *)memory;
	while (size) {
		ssize_t part = at > INT64_MAX ? 0 : pread(given->file, buffer, size, (off_t)at);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return error_system("cannot read at offset %" PRIu64, at);
		if (!part)
			return error_create(ERROR_TRUNCATED, "the file ends before offset %" PRIu64,
					    at + size);
		buffer = (uint8_t *)buffer + part;
		at += (uint64_t)part;
		size -= (size_t)part;
	}
	return NULL;
}

static struct error *open_given(struct target *target, struct given *given)
{
	struct stat status;
	if (given->file < 0)
		given->file = helper_open(target->helper, given->path);
	if (given->file < 0)
		return error_system("%s", given->path);
	struct error *error = NULL;
	if (fstat(given->file, &status))
		error = error_system("%s", given->path);
	else if (!S_ISREG(status.st_mode) || !status.st_size)
		error = error_create(ERROR_FORMAT, "%s is no file with BTF", given->path);
	if (error) {
		close(given->file);
		return error;
	}
	given->memory = (struct memory){ .read = read_given, .name = "file" };
	given->size = (uint64_t)status.st_size;
	return NULL;
}

static const char *compression(const struct bytes *bytes)
{
	static const struct {
		const char *magic, *name;
	} kinds[] = { { "\xfd"
			"7zXZ",
			"xz" },
		      { "\x28\xb5\x2f\xfd", "zstd" },
		      { "\x1f\x8b", "gzip" },
		      { "BZh", "bzip2" } };
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		size_t size = strlen(kinds[i].magic);
		if (bytes->size > size && !memcmp(bytes->data, kinds[i].magic, size))
			return kinds[i].name;
	}
	return NULL;
}

static struct error *find_sections(struct given *given)
{
	uint8_t start[16];
	struct bytes head = { start, given->size < sizeof(start) ? given->size : sizeof(start),
			      false };
	TRY(memory_read(&given->memory, 0, start, head.size));
	const char *compressed = compression(&head);
	if (compressed)
		return error_create(ERROR_UNSUPPORTED, "it is compressed (%s): unpack it first",
				    compressed);
	if (!elf_is(&head)) {
		void *data;
		TRY(memory_read_alloc(&given->memory, 0, given->size, BTF_FILE_MAX, &data));
		given->elf.btf = (struct bytes){ data, (size_t)given->size, false };
		return NULL;
	}
	TRY(elf_find_btf(&given->memory, &given->elf));
	if (!given->elf.btf.data)
		return error_create(ERROR_NOT_FOUND, "it has no section .BTF");
	return NULL;
}

/* --- names ---------------------------------------------------------------------------------- */

/* "/x/nf-tables.ko.debug" is nf_tables: files may spell a module with '-'. */
static void name_of_path(const char *path, char *buffer, size_t size)
{
	static const char *const suffixes[] = { ".debug", ".btf", ".BTF", ".ko" };
	const char *slash = strrchr(path, '/');
	snprintf(buffer, size, "%s", slash ? slash + 1 : path);
	for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
		size_t length = strlen(buffer), suffix = strlen(suffixes[i]);
		if (length > suffix && !strcmp(buffer + length - suffix, suffixes[i]))
			buffer[length - suffix] = 0;
	}
}

static const struct module *module_called(struct target *target, const char *name)
{
	char plain[64];
	snprintf(plain, sizeof(plain), "%s", name);
	for (char *at = plain; *at; at++)
		*at = *at == '-' ? '_' : *at;
	return target_module(target, plain);
}

static const struct btf_file *find_file(const struct target *target, const char *name)
{
	const struct btf_files *files = target->btf_files;
	for (size_t i = files ? files->count : 0; i-- > 0;)
		if (!strcmp(files->items[i]->name, name) || !strcmp(files->items[i]->path, name))
			return files->items[i];
	return NULL;
}

struct error *target_btf_bytes(const struct target *target, const struct btf *btf, const void **ret,
			       size_t *ret_size)
{
	const struct btf_files *files = target->btf_files;
	const void *data = btf == target->btf ? target->btf_data : NULL;
	size_t size = target->btf_size;
	for (size_t i = 0; i < target->module_count && !data; i++) {
		data = target->modules[i].btf == btf ? target->modules[i].btf_data : NULL;
		size = target->modules[i].btf_size;
	}
	for (size_t i = 0; files && i < files->count && !data; i++) {
		data = files->items[i]->btf == btf ? files->items[i]->data : NULL;
		size = files->items[i]->size;
	}
	if (!data)
		return error_create(ERROR_NOT_FOUND, "%s is not there as bytes", btf_name(btf));
	*ret = data;
	*ret_size = size;
	return NULL;
}

static struct error *module_btf(struct target *target, const struct module *module,
				const struct btf **ret)
{
	*ret = target_module_btf(target, module);
	if (*ret)
		return NULL;
	return error_create(module->problem ? module->problem->kind : ERROR_NOT_FOUND,
			    "module %s has no BTF%s%s", module->name, module->problem ? ": " : "",
			    module->problem ? module->problem->message : "");
}

struct error *target_find_btf(struct target *target, const char *name, const struct btf **ret)
{
	if (!strcmp(name, "vmlinux")) {
		TRY(target_need_btf(target));
		*ret = target->btf;
		return NULL;
	}
	const struct module *module = target->btf ? module_called(target, name) : NULL;
	if (module)
		return module_btf(target, module, ret);
	const struct btf_file *file = find_file(target, name);
	if (file) {
		*ret = file->btf;
		return NULL;
	}
	return error_create(ERROR_NOT_FOUND, "no BTF is called %s", name);
}

/* --- what a file is --------------------------------------------------------------------------- */

/* The owner: of what it continues, else the module of its name. */
static struct error *find_owner(struct target *target, const struct given *given,
				const struct btf *base, struct btf_file *file)
{
	const struct btf_files *files = target->btf_files;
	const struct module *modules;
	size_t count = target->btf ? target_modules(target, &modules) : 0;
	for (size_t i = 0; base && files && i < files->count; i++)
		if (files->items[i]->btf == base)
			memcpy(file->module, files->items[i]->module, sizeof(file->module));
	for (size_t i = 0; base && i < count; i++)
		if (modules[i].btf == base)
			memcpy(file->module, modules[i].name, sizeof(file->module));
	if (*file->module || (base && base != target->btf))
		return NULL;
	const char *name = *given->elf.module ? given->elf.module : file->name;
	const struct module *module = target->btf ? module_called(target, name) : NULL;
	if (module)
		memcpy(file->module, module->name, sizeof(file->module));
	else if (*given->elf.module)
		return error_create(ERROR_NOT_FOUND, "module %s is not loaded in this dump", name);
	return NULL;
}

static struct error *check_build_id(struct target *target, const struct given *given,
				    const struct btf_file *file)
{
	const struct module *module = *file->module ? target_module(target, file->module) : NULL;
	char theirs[2 * BUILD_ID_MAX + 1] = "", ours[2 * BUILD_ID_MAX + 1];
	const struct elf_btf *elf = &given->elf;
	if (!elf->build_id_size || !target_build_id(target, module, ours, sizeof(ours)))
		return NULL;
	for (size_t i = 0; i < elf->build_id_size; i++)
		snprintf(theirs + 2 * i, 3, "%02x", elf->build_id[i]);
	if (!strcmp(theirs, ours))
		return NULL;
	return error_create(ERROR_FORMAT, "its build id is %s, that of the dump's %s is %s", theirs,
			    module ? module->name : "kernel", ours);
}

/* The kernel has no types to compare with, so the sizes in VMCOREINFO must agree. */
static struct error *check_sizes(struct target *target, const struct btf *btf)
{
	static const char *const names[] = { "page",	  "pglist_data", "zone",	"free_area",
					     "list_head", "prb_desc",	 "printk_info", "kobject" };
	unsigned int same = 0;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		char key[64];
		int64_t wanted;
		uint64_t cursor = 0, size;
		snprintf(key, sizeof(key), "SIZE(%s)", names[i]);
		struct type type = { btf, btf_find(btf, BTF_STRUCT, names[i], &cursor) };
		if (!type.id || !target->vmcoreinfo ||
		    !vmcoreinfo_number(target->vmcoreinfo, key, &wanted) || !type_size(type, &size))
			continue;
		if (size != (uint64_t)wanted)
			return error_create(ERROR_FORMAT,
					    "it is of another kernel: struct %s has %" PRIu64
					    " bytes, VMCOREINFO says %" PRId64,
					    names[i], size, wanted);
		same++;
	}
	if (!same)
		return error_create(ERROR_FORMAT, "nothing tells that it is of this kernel");
	return NULL;
}

static struct error *find_base(struct target *target, const struct given *given,
			       const struct btf **ret)
{
	bool continues = given->elf.base.data || btf_is_split(&given->elf.btf);
	*ret = NULL;
	if (given->base && strcmp(given->base, "none") != 0) {
		if (!continues)
			return error_create(ERROR_USAGE, "it is whole and continues no base");
		return error_prefix(target_find_btf(target, given->base, ret), "base=%s",
				    given->base);
	}
	if (!continues || given->base)
		return NULL;
	return error_prefix(target_find_btf(target, "vmlinux", ret), "it continues another BTF");
}

/* --- taking it in --------------------------------------------------------------------------------
 */

/* On more than one level there are two ways to count strings; only the right one fits. */
static struct error *read_old_strings(struct btf_file *file, struct error *why)
{
	struct btf *btf = NULL;
	struct error *error =
		btf_open_old_strings(file->data, file->size, btf_base(file->btf), file->name, &btf);
	if (!error)
		error = btf_check_base(btf);
	if (error) {
		btf_close(btf);
		error_free(error);
		return why;
	}
	error_free(why);
	btf_close(file->btf);
	file->btf = btf;
	return NULL;
}

static struct error *read_types(const struct given *given, const struct btf *base,
				struct btf_file *file)
{
	size_t size = given->elf.btf.size;
	if (given->elf.base.data) {
		TRY(error_prefix(btf_relocate(&given->elf.base, &given->elf.btf, base, &file->data,
					      &size),
				 "its distilled base does not fit"));
		file->is_relocated = true;
	} else {
		file->data = malloc(size ? size : 1);
		if (!file->data)
			return error_no_memory();
		memcpy(file->data, given->elf.btf.data, size);
	}
	file->size = size;
	TRY(btf_open(file->data, size, base, file->name, &file->btf));
	struct error *error = btf_check_base(file->btf);
	if (!error || !base || !btf_base(base))
		return error;
	return read_old_strings(file, error);
}

static struct error *check_kernel(struct target *target, const struct btf_file *file)
{
	if (btf_base(file->btf) || *file->module)
		return NULL;
	return target->btf ? btf_check_alike(file->btf, target->btf)
			   : check_sizes(target, file->btf);
}

static struct error *read_file(struct target *target, const struct given *given,
			       struct btf_file *file)
{
	char name[256];
	const struct btf *base;
	name_of_path(given->path, name, sizeof(name));
	file->path = strdup(given->path);
	file->name = strdup(name);
	if (!file->path || !file->name)
		return error_no_memory();
	TRY(find_base(target, given, &base));
	if (given->is_foreign)
		return read_types(given, base, file);
	TRY(find_owner(target, given, base, file));
	TRY(check_build_id(target, given, file));
	TRY(read_types(given, base, file));
	TRY(check_kernel(target, file));
	TRY(btf_variables_create(target, file->btf, file->module, &file->variables));
	return NULL;
}

void btf_file_close(struct btf_file *file)
{
	if (!file)
		return;
	btf_variables_destroy(file->variables);
	btf_close(file->btf);
	free(file->data);
	free(file->path);
	free(file->name);
	free(file);
}

/* Types that the dump lacks are taken from the file. */
static void fill_gap(struct target *target, struct btf_file *file)
{
	const struct module *module = *file->module ? target_module(target, file->module) : NULL;
	if (!target->btf && !btf_base(file->btf)) {
		target->btf = file->btf;
		target->btf_is_of_file = true;
	}
	if (!module || btf_base(file->btf) != target->btf || target_module_btf(target, module))
		return;
	struct module *own = &target->modules[module - target->modules];
	own->btf = file->btf;
	own->btf_is_of_file = true;
}

static struct error *keep_file(struct target *target, struct btf_file *file)
{
	if (!target->btf_files)
		target->btf_files = calloc(1, sizeof(*target->btf_files));
	struct btf_files *files = target->btf_files;
	if (!files || !array_reserve(&files->items, &files->capacity, files->count + 1))
		return error_no_memory();
	if (files->count == FILES_MAX)
		return error_create(ERROR_USAGE, "more than %d files with BTF", FILES_MAX);
	files->items[files->count++] = file;
	fill_gap(target, file);
	return NULL;
}

/* Opens it; `keep`: and keeps it with keep_file(). */
static struct error *open_file(struct target *target, struct given *given, bool keep,
			       struct btf_file **ret)
{
	struct error *error = open_given(target, given);
	if (error)
		return error;
	struct btf_file *file = calloc(1, sizeof(*file));
	error = file ? find_sections(given) : error_no_memory();
	if (!error)
		error = read_file(target, given, file);
	if (!error && keep)
		error = keep_file(target, file);
	if (error)
		btf_file_close(file);
	else
		*ret = file;
	elf_btf_deinit(&given->elf);
	close(given->file);
	return error_prefix(error, "%s", given->path);
}

static struct error *add_file(struct target *target, struct given *given)
{
	struct btf_file *file;
	return open_file(target, given, true, &file);
}

struct error *btf_file_open(struct target *target, const char *path, struct btf_file **ret)
{
	struct given given = { .path = path, .file = -1, .is_foreign = true };
	return open_file(target, &given, false, ret);
}

/* A file of a folder that does not fit is left out; the others are added all the same. */
static struct error *add_found(struct target *target, const char *path)
{
	struct given given = { .path = path, .file = -1 };
	struct error *error = add_file(target, &given);
	if (error_is_fatal(error))
		return error;
	target_add_problem(target, error);
	return NULL;
}

static struct error *add_folder(struct target *target, const char *folder)
{
	size_t before = target_btf_file_count(target);
	TRY(btf_folder_search(target, folder, add_found));
	if (target_btf_file_count(target) == before)
		target_add_problem(target,
				   error_create(ERROR_NOT_FOUND, "%s has no BTF for this dump",
						folder ? folder : "this system"));
	return NULL;
}

char *btf_path(const char *text)
{
	const char *comma = strstr(text, BASE_OPTION);
	return comma ? strndup(text, (size_t)(comma - text)) : strdup(text);
}

static struct error *add_named(struct target *target, const char *path, const char *text)
{
	const char *comma = strstr(text, BASE_OPTION);
	struct given given = { .path = path,
			       .base = comma ? comma + strlen(BASE_OPTION) : NULL,
			       .file = helper_open(target->helper, path) };
	struct stat status;
	if (given.file < 0)
		return error_system("%s", path);
	if (comma || fstat(given.file, &status) || !S_ISDIR(status.st_mode))
		return add_file(target, &given);
	close(given.file);
	return add_folder(target, path);
}

struct error *target_add_btf(struct target *target, const char *text)
{
	if (!strcmp(text, "system"))
		return error_prefix(add_folder(target, NULL), "--btf");
	char *path = btf_path(text);
	if (!path)
		return error_no_memory();
	struct error *error = add_named(target, path, text);
	free(path);
	return error_prefix(error, "--btf");
}

size_t target_btf_file_count(const struct target *target)
{
	return target->btf_files ? target->btf_files->count : 0;
}

const struct btf_file *target_btf_file(const struct target *target, size_t number)
{
	return target->btf_files->items[number];
}

void btf_files_destroy(struct target *target)
{
	struct btf_files *files = target->btf_files;
	if (!files)
		return;
	/* The later ones continue the earlier. */
	while (files->count)
		btf_file_close(files->items[--files->count]);
	free(files->items);
	free(files);
	target->btf_files = NULL;
}

/* --- look-up -----------------------------------------------------------------------------------
 */

bool btf_files_symbol_type(struct target *target, const struct symbol *symbol, struct type *ret,
			   enum type_origin *ret_origin)
{
	const struct btf_files *files = target->btf_files;
	/* The last one given knows best. */
	for (size_t i = files ? files->count : 0; i-- > 0;) {
		uint32_t id = btf_variables_find(files->items[i]->variables, symbol);
		struct btf_type variable;
		if (!id || !btf_get(files->items[i]->btf, id, &variable))
			continue;
		*ret = (struct type){ files->items[i]->btf, variable.type };
		*ret_origin = btf_variables_origin(files->items[i]->variables, id);
		return true;
	}
	return false;
}
