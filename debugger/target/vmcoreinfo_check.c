// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/vmcoreinfo_check.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/target/btf_search.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UTS_SIZE     512  /* of init_uts_ns, what its names are in */
#define NOTES_MAX    8192 /* beyond what kernels have, and what an aligned BTF leaves behind them */
#define BUILD_ID_MAX 64

/* --- what differs --------------------------------------------------------------- */

/* The first line that differs from what the dump itself has; "" when it has nothing to compare. */
static void find_difference(struct target *target, char *ret, size_t size)
{
	/* These differ in another kernel, or in another boot of the same one. */
	static const char *const keys[] = { "OSRELEASE",      "BUILD-ID",
					    "KERNELOFFSET",   "NUMBER(phys_base)",
					    "SYMBOL(_stext)", "SYMBOL(swapper_pg_dir)" };
	struct vmcoreinfo *own = NULL;
	struct error *error = vmcore_own_vmcoreinfo(target->vmcore, &own);
	*ret = 0;
	for (size_t i = 0; !error && i < ARRAY_COUNT(keys); i++) {
		const char *given = vmcoreinfo_get(target->vmcoreinfo, keys[i]);
		const char *its = vmcoreinfo_get(own, keys[i]);
		if (given && its && strcmp(given, its)) {
			snprintf(ret, size, ": it has %s=%.100s, the dump has %.100s", keys[i],
				 given, its);
			break;
		}
	}
	error_free(error);
	vmcoreinfo_free(own);
}

/* Takes `why`, which is said when nothing better is known. */
static struct error *differs(struct target *target, struct error *why)
{
	char difference[256];
	if (why->kind == ERROR_NO_MEMORY)
		return why;
	find_difference(target, difference, sizeof(difference));
	if (!*difference)
		snprintf(difference, sizeof(difference), ": %.240s", why->message);
	error_free(why);
	return error_create(ERROR_FORMAT, "not the VMCOREINFO of this dump%s", difference);
}

/* --- where the kernel is ---------------------------------------------------------- */

/* Read without page tables. */
static struct error *check_release(struct target *target)
{
	const struct vmcoreinfo *info = target->vmcoreinfo;
	uint64_t address, physical;
	char names[UTS_SIZE];
	if (!vmcoreinfo_hex(info, "SYMBOL(init_uts_ns)", &address) ||
	    !vmcoreinfo_image_physical(info, address, &physical))
		return error_create(ERROR_NOT_FOUND, "it does not say where init_uts_ns is");
	TRY(memory_read(target->physical, physical, names, sizeof(names)));
	if (memmem(names, sizeof(names), target->release, strlen(target->release) + 1))
		return NULL;
	return error_create(ERROR_FORMAT, "there is no release %s at its init_uts_ns",
			    target->release);
}

static struct error *check_tables(struct target *target)
{
	uint64_t stext, expected, physical;
	if (!vmcoreinfo_hex(target->vmcoreinfo, "SYMBOL(_stext)", &stext) ||
	    !vmcoreinfo_image_physical(target->vmcoreinfo, stext, &expected))
		return NULL;
	TRY(virtual_memory_translate(target->memory, stext, &physical));
	if (physical == expected)
		return NULL;
	return error_create(ERROR_FORMAT,
			    "its page tables have _stext at physical address 0x%" PRIx64
			    ", not 0x%" PRIx64,
			    physical, expected);
}

/* The dump lacks the pages that would tell; an address without memory tells enough. */
static bool is_unknown(const struct error *error)
{
	return error && (error->kind == ERROR_NOT_FOUND ||
			 (error_is_missing(error) && error->kind != ERROR_FAULT));
}

struct error *vmcoreinfo_check_place(struct target *target)
{
	struct error *release = check_release(target), *tables = check_tables(target);
	bool fits = (!release && (!tables || is_unknown(tables))) ||
		    (!tables && is_unknown(release));
	/* The better of two reasons is the one that is no hole in the dump. */
	bool take_tables = !release || (tables && is_unknown(release));
	struct error *why = take_tables ? tables : release;
	error_free(take_tables ? release : tables);
	if (!fits)
		return differs(target, why);
	error_free(why);
	return NULL;
}

/* --- which kernel it is ------------------------------------------------------------- */

struct error *vmcoreinfo_contradicted(const struct target *target, const char *name,
				      const char *has)
{
	return error_create(ERROR_FORMAT, "%s says \"%.60s\", VMCOREINFO says %s", name, has,
			    target->release);
}

void vmcoreinfo_doubt(struct target *target, struct error *why)
{
	struct error *error = why;
	if (why && why->kind == ERROR_FORMAT) {
		error = error_create(ERROR_FORMAT,
				     "%s: the VMCOREINFO may be of another kernel, answers may be "
				     "wrong",
				     why->message);
		error_free(why);
	}
	target_add_problem(target, error_advise(error, "what still works may be wrong; "
						       "--vmcoreinfo FILE takes the right one"));
}

struct error *vmcoreinfo_check_banner(struct target *target)
{
	uint64_t address;
	char banner[256], expected[160];
	size_t length;
	if (!symtab_address(target->symbols, "linux_banner", &address))
		return NULL;
	TRY(error_prefix(memory_read_string(target->memory, address, banner, sizeof(banner),
					    &length),
			 "linux_banner"));
	snprintf(expected, sizeof(expected), "Linux version %s ", target->release);
	if (!strncmp(banner, expected, strlen(expected)))
		return NULL;
	return vmcoreinfo_contradicted(target, "linux_banner", banner);
}

/* Where symbols come from says nothing of these two. */
static struct error *check_symbols(struct target *target)
{
	static const char *const names[] = { "_stext", "init_uts_ns" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		char key[32];
		uint64_t address, given;
		snprintf(key, sizeof(key), "SYMBOL(%s)", names[i]);
		if (vmcoreinfo_hex(target->vmcoreinfo, key, &given) &&
		    symtab_address(target->symbols, names[i], &address) && address != given)
			return error_create(ERROR_FORMAT,
					    "%s is at 0x%" PRIx64 ", VMCOREINFO says 0x%" PRIx64,
					    names[i], address, given);
	}
	return NULL;
}

/*
 * The kernel's own notes end in [*ret_start, *ret_stop), where a table of symbols that has
 * functions only does not say: since 5.2 the linker has put BTF behind them. An empty range: not
 * known.
 */
static struct error *find_notes(struct target *target, uint64_t *ret_start, uint64_t *ret_stop)
{
	uint64_t stext, size;
	*ret_start = *ret_stop = 0;
	if (symtab_address(target->symbols, "__start_notes", ret_start) &&
	    symtab_address(target->symbols, "__stop_notes", ret_stop))
		return NULL;
	if (!vmcoreinfo_hex(target->vmcoreinfo, "SYMBOL(_stext)", &stext))
		return NULL;
	struct error *error = btf_search(target->memory, stext, ret_stop, &size);
	*ret_start = *ret_stop - (error ? 0 : NOTES_MAX);
	if (!error || error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	return NULL;
}

/* The GNU build ID in the kernel's own notes, as text; "" when it is not there. */
static struct error *read_build_id(struct target *target, char id[2 * BUILD_ID_MAX + 1])
{
	static const uint8_t head[] = { 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	uint64_t start, stop;
	uint8_t notes[NOTES_MAX];
	*id = 0;
	if (target->memory->big_endian)
		return NULL;
	TRY(find_notes(target, &start, &stop));
	if (stop - start > sizeof(notes))
		return NULL;
	TRY(memory_read(target->memory, start, notes, (size_t)(stop - start)));
	const uint8_t *end = notes + (stop - start), *found = NULL;
	/* The last one: what else may be before the notes is not the kernel's own. */
	for (const uint8_t *at = notes; (at = memmem(at, (size_t)(end - at), head, sizeof(head)));)
		found = at++;
	if (!found || found - notes < 8)
		return NULL;
	uint32_t size = load_u32(found - 4, false);
	found += sizeof(head);
	for (uint32_t i = 0; size <= BUILD_ID_MAX && size <= (size_t)(end - found) && i < size; i++)
		snprintf(id + (size_t)2 * i, 3, "%02x", found[i]);
	return NULL;
}

static struct error *check_build_id(struct target *target)
{
	const char *given = vmcoreinfo_get(target->vmcoreinfo, "BUILD-ID");
	char id[2 * BUILD_ID_MAX + 1];
	if (!given)
		return NULL;
	TRY(read_build_id(target, id));
	if (!*id || !strcmp(given, id))
		return NULL;
	return error_create(ERROR_FORMAT, "the kernel's build ID is %s, VMCOREINFO says %.100s", id,
			    given);
}

/* A page that the dump lacks refutes nothing. */
static struct error *unless_missing(struct error *error)
{
	if (!error || !error_is_missing(error))
		return error;
	error_free(error);
	return NULL;
}

/* Symbols were looked for where it says: a damaged dump, or the wrong place? */
static struct error *check_own(struct target *target)
{
	char difference[256];
	find_difference(target, difference, sizeof(difference));
	if (!*difference)
		return NULL;
	return error_create(ERROR_FORMAT, "not the VMCOREINFO of this dump%s", difference);
}

struct error *vmcoreinfo_check_kernel(struct target *target)
{
	if (!symtab_count(target->symbols))
		return check_own(target);
	struct error *error = check_symbols(target);
	if (!error)
		error = unless_missing(vmcoreinfo_check_banner(target));
	if (!error)
		error = unless_missing(check_build_id(target));
	return error ? differs(target, error) : NULL;
}
