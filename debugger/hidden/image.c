// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the kernel's image shows by its bytes alone, and no code that is kept uses: the banner
 * (kernel init/version.c) and the table of the parameters of built-in code
 * (include/linux/moduleparam.h), which only start_kernel() and its like read, whose code is gone.
 */
#include "debugger/hidden/hidden_private.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/vmcoreinfo_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK		((size_t)1 << 20)
#define BANNER_MAX	512u
#define ENTRIES_MIN	64u /* parameters: every kernel has hundreds */
#define ENTRIES_MAX	65536u
#define NAME_SIZE	128
#define MODE_MAX	07777u
#define STEPS_OF_A_LOOK 1000u

struct image {
	struct hidden *hidden;
	char banner[192];	   /* how it begins */
	char version[80];	   /* how it ends */
	uint64_t size, operations; /* of struct kernel_param, and where in it the operations are */
	uint64_t known[16];	   /* addresses of the kernel's own operations, exported */
	size_t known_count;
	uint64_t lowest, highest; /* of these */
	bool has_banner, has_parameters;
};

/* --- the banner ----------------------------------------------------------------------------- */

/*
 * The log has the same text, but the constant alone ends with a new line. A kernel may have another
 * constant, without the number of its build (init/version.c, linked first): it is not followed by
 * what uname says.
 */
static struct error *add_banner(struct image *image, uint64_t address)
{
	char text[BANNER_MAX];
	size_t length, end = strlen(image->version);
	struct error *error = memory_read_string(image->hidden->target->memory, address, text,
						 sizeof(text), &length);
	bool is_whole = !error && length > end && length < sizeof(text) - 1 &&
			!strcmp(text + length - end, image->version);
	error_free(error);
	if (!is_whole)
		return NULL;
	image->has_banner = true;
	return hidden_add(image->hidden, "linux_banner", 'R', address, length + 1,
			  "a text in the image, with the kernel's release and version");
}

static struct error *find_banner(struct image *image, const uint8_t *chunk, size_t size,
				 uint64_t address)
{
	size_t length = strlen(image->banner);
	for (const uint8_t *at = chunk; !image->has_banner; at++) {
		at = memmem(at, size - (size_t)(at - chunk), image->banner, length);
		if (!at)
			return NULL;
		TRY(hidden_spend(image->hidden, STEPS_OF_A_LOOK));
		TRY(add_banner(image, address + (uint64_t)(at - chunk)));
	}
	return NULL;
}

/* --- parameters ------------------------------------------------------------------------------- */

static bool is_in_image(const struct image *image, uint64_t address)
{
	return address >= image->hidden->first && address <= image->hidden->last;
}

static bool is_name(struct target *target, uint64_t address)
{
	char text[NAME_SIZE];
	size_t length;
	struct error *error =
		memory_read_string(target->memory, address, text, sizeof(text), &length);
	error_free(error);
	for (size_t i = 0; !error && i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return !error && length && length < sizeof(text) - 1;
}

static bool u64(const struct object *object, const char *path, uint64_t *ret)
{
	struct error *error = object_u64(object, path, ret);
	error_free(error);
	return !error;
}

static bool are_operations(const struct image *image, uint64_t address)
{
	struct target *target = image->hidden->target;
	struct object table;
	uint64_t set, get;
	if (!is_in_image(image, address))
		return false;
	struct error *error = object_at(target, "struct kernel_param_ops", address, &table);
	error_free(error);
	return !error && u64(&table, "set", &set) && u64(&table, "get", &get) && (set || get) &&
	       (!set || symtab_is_text(target->symbols, set)) &&
	       (!get || symtab_is_text(target->symbols, get));
}

/* Whether a struct kernel_param of built-in code is there. */
static bool is_parameter(const struct image *image, uint64_t address)
{
	struct target *target = image->hidden->target;
	struct object parameter;
	uint64_t name, module, operations, mode;
	struct error *error = object_at(target, "struct kernel_param", address, &parameter);
	error_free(error);
	return !error && u64(&parameter, "name", &name) && is_in_image(image, name) &&
	       u64(&parameter, "mod", &module) && !module && u64(&parameter, "ops", &operations) &&
	       u64(&parameter, "perm", &mode) && mode <= MODE_MAX &&
	       are_operations(image, operations) && is_name(target, name);
}

/* The table around one entry, both ends by what is no entry any more. */
static struct error *add_parameters(struct image *image, uint64_t entry, uint64_t *ret_end)
{
	static const char evidence[] = "a table of struct kernel_param, by its structure";
	struct hidden *hidden = image->hidden;
	uint64_t start = entry, end = entry;
	for (size_t i = 0; i < ENTRIES_MAX && is_parameter(image, end); i++)
		end += image->size;
	for (size_t i = 0; i < ENTRIES_MAX && is_parameter(image, start - image->size); i++)
		start -= image->size;
	*ret_end = end;
	TRY(hidden_spend(image->hidden, (end - start) / image->size * STEPS_OF_A_LOOK));
	if (end - start < ENTRIES_MIN * image->size)
		return NULL;
	image->has_parameters = true;
	TRY(hidden_add(hidden, "__start___param", 'R', start, end - start, evidence));
	return hidden_add(hidden, "__stop___param", 'R', end, 0, evidence);
}

static bool is_known(const struct image *image, uint64_t word)
{
	if (word < image->lowest || word > image->highest)
		return false;
	for (size_t i = 0; i < image->known_count; i++)
		if (image->known[i] == word)
			return true;
	return false;
}

static struct error *find_parameters(struct image *image, const uint8_t *chunk, size_t size,
				     uint64_t address)
{
	bool big = image->hidden->target->memory->big_endian;
	uint64_t after = 0;
	for (size_t i = 0; i + 8 <= size && !image->has_parameters; i += 8) {
		uint64_t entry = address + i - image->operations;
		if (!is_known(image, load_u64(chunk + i, big)) || entry < after)
			continue;
		TRY(hidden_spend(image->hidden, STEPS_OF_A_LOOK));
		if (is_parameter(image, entry))
			TRY(add_parameters(image, entry, &after));
	}
	return NULL;
}

static void know_operations(struct image *image)
{
	static const char *const names[] = {
		"param_ops_byte",   "param_ops_short", "param_ops_ushort",  "param_ops_int",
		"param_ops_uint",   "param_ops_long",  "param_ops_ulong",   "param_ops_ullong",
		"param_ops_hexint", "param_ops_charp", "param_ops_bool",    "param_ops_bint",
		"param_ops_string", "param_array_ops", "param_ops_invbool",
	};
	struct symtab *symbols = image->hidden->target->symbols;
	image->lowest = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_COUNT(names) && i < ARRAY_COUNT(image->known); i++) {
		uint64_t address;
		if (!symtab_address(symbols, names[i], &address))
			continue;
		image->known[image->known_count++] = address;
		if (address < image->lowest)
			image->lowest = address;
		if (address > image->highest)
			image->highest = address;
	}
}

/* --- both ------------------------------------------------------------------------------------- */

/* False: it is not known how the banner reads, or it has been found. */
static bool wants_banner(struct image *image)
{
	struct target *target = image->hidden->target;
	char release[65], version[65];
	struct object name;
	uint64_t address;
	if (hidden_address(image->hidden, "linux_banner", &address) ||
	    !hidden_address(image->hidden, "init_uts_ns", &address))
		return false;
	struct error *error = object_at(target, "struct uts_namespace", address, &name);
	if (!error)
		error = object_string(&name, "name.release", release, sizeof(release));
	if (!error)
		error = object_string(&name, "name.version", version, sizeof(version));
	bool known = !error && *release && *version;
	error_free(error);
	if (!known)
		return false;
	/* The banner, which tells where there are symbols of data, had none. */
	if (*target->release && strcmp(release, target->release))
		vmcoreinfo_doubt(target, vmcoreinfo_contradicted(target, "init_uts_ns", release));
	snprintf(image->banner, sizeof(image->banner), "Linux version %s ", release);
	snprintf(image->version, sizeof(image->version), " %s\n", version);
	return true;
}

static void prepare(struct image *image)
{
	struct target *target = image->hidden->target;
	struct object parameter;
	uint64_t address;
	image->has_banner = !wants_banner(image);
	struct error *error = object_at(target, "struct kernel_param", 0, &parameter);
	if (!error)
		error = object_offset(target, "struct kernel_param", "ops", &image->operations);
	bool has_type = !error && type_size(parameter.type, &image->size) && image->size;
	error_free(error);
	image->has_parameters = !has_type ||
				hidden_address(image->hidden, "__start___param", &address);
	know_operations(image);
}

struct error *hidden_add_image(struct hidden *hidden)
{
	struct image image = { .hidden = hidden };
	uint8_t *chunk = malloc(CHUNK);
	struct error *error = NULL;
	if (!chunk)
		return error_no_memory();
	prepare(&image);
	for (uint64_t at = hidden->first; !error && at < hidden->last;) {
		struct error *why;
		size_t size = memory_read_some(hidden->target->memory, at, chunk, CHUNK, &why);
		bool is_cut = why;
		error_free(why);
		if (!image.has_banner)
			error = find_banner(&image, chunk, size, at);
		if (!error && !image.has_parameters)
			error = find_parameters(&image, chunk, size, at);
		if (!error)
			error = interrupt_check();
		if (image.has_banner && image.has_parameters)
			break;
		/* The banner may lie across two chunks; holes are stepped over. */
		at = is_cut ? ((at + size) | 4095) + 1 : at + size - BANNER_MAX;
	}
	free(chunk);
	return error;
}
