// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/flag_names.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 32

struct flag {
	uint64_t mask;
	char name[NAME_SIZE];
};

struct table {
	bool is_loaded;
	size_t count;
	struct flag flags[FLAG_NAMES_MAX];
};

enum { TABLE_PAGE, TABLE_VMA, TABLE_GFP, TABLES, TABLE_DECLARED = TABLES };

static const char *const symbols[TABLES] = { [TABLE_PAGE] = "pageflag_names",
					     [TABLE_VMA] = "vmaflag_names",
					     [TABLE_GFP] = "gfpflag_names" };

/*
 * include/linux/sched.h, compared from 5.10 to 7.3. Others were moved or renamed in between:
 * PF_VCPU, PF_IO_WORKER, PF_MEMALLOC_PIN, 0x4000, 0x10000, 0x800000 to 0x2000000.
 */
static const struct flag task_flags[] = {
	{ 0x2, "PF_IDLE" },
	{ 0x4, "PF_EXITING" },
	{ 0x20, "PF_WQ_WORKER" },
	{ 0x40, "PF_FORKNOEXEC" },
	{ 0x80, "PF_MCE_PROCESS" },
	{ 0x100, "PF_SUPERPRIV" },
	{ 0x200, "PF_DUMPCORE" },
	{ 0x400, "PF_SIGNALED" },
	{ 0x800, "PF_MEMALLOC" },
	{ 0x1000, "PF_NPROC_EXCEEDED" },
	{ 0x2000, "PF_USED_MATH" },
	{ 0x8000, "PF_NOFREEZE" },
	{ 0x20000, "PF_KSWAPD" },
	{ 0x40000, "PF_MEMALLOC_NOFS" },
	{ 0x80000, "PF_MEMALLOC_NOIO" },
	{ 0x100000, "PF_LOCAL_THROTTLE" },
	{ 0x200000, "PF_KTHREAD" },
	{ 0x400000, "PF_RANDOMIZE" },
	{ 0x4000000, "PF_NO_SETAFFINITY" },
	{ 0x8000000, "PF_MCE_EARLY" },
	{ 0x80000000, "PF_SUSPEND_TASK" },
};

/* --- which words ------------------------------------------------------------------------- */

struct flag_names {
	const char *whole, *member; /* of a struct or a typedef of one; or NULL and a type's name */
	unsigned int table;
};

static const struct flag_names known[] = {
	{ "task_struct", "flags", TABLE_DECLARED },
	{ "vm_area_struct", "vm_flags", TABLE_VMA },
	{ "vm_area_struct", "__vm_flags", TABLE_VMA }, /* from 6.3 on, beside vm_flags */
	{ "mm_struct", "def_flags", TABLE_VMA },
	{ "page", "flags", TABLE_PAGE },
	{ "folio", "flags", TABLE_PAGE },	  /* from 5.16 on */
	{ "slab", "__page_flags", TABLE_PAGE },	  /* 5.17 to 6.17 */
	{ "ptdesc", "__page_flags", TABLE_PAGE }, /* 6.6 to 6.17 */
	{ "memdesc_flags_t", "f", TABLE_PAGE },	  /* from 6.18 on */
	{ NULL, "gfp_t", TABLE_GFP },
};

/* Whether a struct, or a typedef on the way to it, has this name. */
static bool is_called(struct type type, const char *name)
{
	struct btf_type record;
	for (int i = 0; i < 8 && type_get(type, &record); i++) {
		bool has_name = record.kind == BTF_TYPEDEF || record.kind == BTF_STRUCT;
		if (has_name && !strcmp(record.name, name))
			return true;
		if (record.kind != BTF_TYPEDEF && record.kind != BTF_CONST &&
		    record.kind != BTF_VOLATILE)
			return false;
		type = (struct type){ type.btf, record.type };
	}
	return false;
}

const struct flag_names *flag_names_of_member(struct type whole, const char *member)
{
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (known[i].whole && !strcmp(member, known[i].member) &&
		    is_called(whole, known[i].whole))
			return &known[i];
	return NULL;
}

const struct flag_names *flag_names_of_type(struct type type)
{
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (!known[i].whole && is_called(type, known[i].member))
			return &known[i];
	return NULL;
}

bool flag_names_are_declared(const struct flag_names *names)
{
	return names->table == TABLE_DECLARED;
}

/* --- the kernel's tables ------------------------------------------------------------------ */

static bool is_word(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (!ascii_is_alnum(*name) && *name != '_')
			return false;
	return true;
}

/* The entry at `object`; false: the table ends there, or goes on with what is no name. */
static bool read_flag(struct target *target, const struct object *object, struct flag *ret)
{
	uint64_t name = 0;
	size_t length;
	struct error *error = object_u64(object, "mask", &ret->mask);
	if (!error)
		error = object_u64(object, "name", &name);
	if (!error && name)
		error = memory_read_string(target->memory, name, ret->name, sizeof(ret->name),
					   &length);
	bool ok = !error && name && length + 1 < sizeof(ret->name) && is_word(ret->name);
	error_free(error);
	return ok;
}

/* A mask of no bits belongs to what the kernel was configured without. */
static void load_table(struct target *target, const char *symbol, struct table *table)
{
	struct object object;
	uint64_t address, size;
	table->is_loaded = true;
	if (!target->memory || !target->btf || !symtab_address(target->symbols, symbol, &address))
		return;
	struct error *error = object_at(target, "struct trace_print_flags", address, &object);
	bool ok = !error && type_size(object.type, &size) && size;
	error_free(error);
	for (size_t i = 0; ok && i < FLAG_NAMES_MAX; i++, object.address += size) {
		struct flag flag;
		if (!read_flag(target, &object, &flag))
			break;
		if (flag.mask)
			table->flags[table->count++] = flag;
	}
}

/* The kernel's tables, loaded one by one; NULL without memory. */
static struct table *tables_of(struct target *target)
{
	static const char key;
	struct table *tables = target_attached(target, &key);
	if (tables)
		return tables;
	tables = calloc(TABLES, sizeof(*tables));
	struct error *error = tables ? target_attach(target, &key, tables, free) : NULL;
	if (error)
		tables = NULL;
	error_free(error);
	return tables;
}

static size_t find_flags(struct target *target, unsigned int number, const struct flag **ret)
{
	*ret = task_flags;
	if (number == TABLE_DECLARED)
		return ARRAY_COUNT(task_flags);
	struct table *tables = tables_of(target);
	if (!tables)
		return 0;
	if (!tables[number].is_loaded)
		load_table(target, symbols[number], &tables[number]);
	*ret = tables[number].flags;
	return tables[number].count;
}

size_t flag_names_split(struct target *target, const struct flag_names *names, uint64_t value,
			const char *ret[FLAG_NAMES_MAX], uint64_t *ret_rest)
{
	const struct flag *flags;
	size_t count = find_flags(target, names->table, &flags), found = 0;
	/* Names of several bits come first, as the kernel's own messages have it. */
	for (size_t i = 0; i < count; i++)
		if ((value & flags[i].mask) == flags[i].mask) {
			ret[found++] = flags[i].name;
			value &= ~flags[i].mask;
		}
	*ret_rest = value;
	return found;
}
