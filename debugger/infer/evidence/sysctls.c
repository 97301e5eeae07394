// SPDX-License-Identifier: GPL-3.0-or-later
/* Records of sysctls, wherever they lie in the kernel's data: their handlers tell of what types. */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/infer/evidence/tables_private.h"
#include "debugger/target/target.h"
#include <stdlib.h>

#define DATA_SIZE_MAX (64u << 20)
#define PIECE_SIZE    (256u << 10) /* what is looked through at a time */

/*
 * Handlers of kernel/sysctl.c and what they take table->data for, and those that have limits, the
 * extra members; size: one element.
 */
static const struct {
	const char *handler, *type;
	uint32_t size;
	bool has_limits;
} handlers[] = {
	{ "proc_dointvec", "int", 4, false },
	{ "proc_dointvec_minmax", "int", 4, true },
	{ "proc_dointvec_jiffies", "int", 4, false },
	{ "proc_dointvec_ms_jiffies", "int", 4, false },
	{ "proc_dointvec_userhz_jiffies", "int", 4, false },
	{ "proc_douintvec", "unsigned int", 4, false },
	{ "proc_douintvec_minmax", "unsigned int", 4, true },
	{ "proc_dou8vec_minmax", "unsigned char", 1, false },
	{ "proc_dobool", "_Bool", 1, false },
	{ "proc_doulongvec_minmax", "long unsigned int", 8, true },
	{ "proc_doulongvec_ms_jiffies_minmax", "long unsigned int", 8, true },
	{ "proc_dostring", "char", 1, false },
};

struct sysctl_layout {
	uint64_t data, maximum, mode, handler, limits[2];
	uint32_t size;
	uint64_t addresses[ARRAY_COUNT(handlers)]; /* 0: not there */
	uint64_t lowest, highest;		   /* of those that are */
};

static bool find_sysctl_layout(const struct knowledge *knowledge, const struct layout *layout,
			       struct sysctl_layout *ret)
{
	struct target *target = knowledge->target;
	ret->size = layout_size(layout, layout_find(layout, BTF_STRUCT, "ctl_table"));
	ret->lowest = UINT64_MAX;
	ret->highest = 0;
	for (size_t i = 0; i < ARRAY_COUNT(handlers); i++) {
		uint64_t *address = &ret->addresses[i];
		if (!symtab_address(target->symbols, handlers[i].handler, address))
			*address = 0;
		if (*address && *address < ret->lowest)
			ret->lowest = *address;
		if (*address > ret->highest)
			ret->highest = *address;
	}
	return ret->size && ret->size <= PIECE_SIZE &&
	       table_offset(target, "struct ctl_table", "data", &ret->data) &&
	       table_offset(target, "struct ctl_table", "maxlen", &ret->maximum) &&
	       table_offset(target, "struct ctl_table", "mode", &ret->mode) &&
	       table_offset(target, "struct ctl_table", "extra1", &ret->limits[0]) &&
	       table_offset(target, "struct ctl_table", "extra2", &ret->limits[1]) &&
	       table_offset(target, "struct ctl_table", "proc_handler", &ret->handler);
}

/* A record whose handler, size and permissions make sense together. */
static struct error *add_sysctl(struct knowledge *knowledge, const struct layout *layout,
				const struct span *span, size_t at,
				const struct sysctl_layout *sysctl)
{
	uint64_t handler = span_load(knowledge, span, at + sysctl->handler, 8);
	uint64_t data = span_load(knowledge, span, at + sysctl->data, 8);
	uint64_t maximum = span_load(knowledge, span, at + sysctl->maximum, 4);
	uint64_t mode = span_load(knowledge, span, at + sysctl->mode, 2);
	if (!is_kernel_pointer(data) || mode & ~(uint64_t)0777 || !maximum || maximum > 65536)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(handlers); i++) {
		struct clue clue = { .kind = CLUE_OBJECT,
				     .source = SOURCE_TABLE,
				     .where = span->address + at,
				     .how = "ctl_table.data" };
		if (!sysctl->addresses[i] || sysctl->addresses[i] != handler ||
		    maximum % handlers[i].size ||
		    !table_find_type(layout, handlers[i].type, &clue.type))
			continue;
		clue.size = (uint32_t)maximum;
		struct clue record = { .kind = CLUE_OBJECT,
				       .source = SOURCE_TABLE,
				       .where = span->address + at,
				       .how = "a record of a ctl_table" };
		if (table_find_type(layout, "struct ctl_table", &record.type))
			TRY(knowledge_add_fact(knowledge, span->address + at, &record));
		TRY(knowledge_add_fact(knowledge, data, &clue));
		clue.how = "a limit of a ctl_table";
		clue.size = handlers[i].size;
		for (size_t n = 0; handlers[i].has_limits && n < ARRAY_COUNT(sysctl->limits); n++) {
			uint64_t limit = span_load(knowledge, span, at + sysctl->limits[n], 8);
			if (is_kernel_pointer(limit))
				TRY(knowledge_add_fact(knowledge, limit, &clue));
		}
		return NULL;
	}
	return NULL;
}

/* Those that begin among the first `count` bytes. */
static struct error *add_sysctls(struct knowledge *knowledge, const struct layout *layout,
				 const struct span *span, size_t count,
				 const struct sysctl_layout *sysctl)
{
	for (size_t at = 0; at < count && at + sysctl->size <= span->size; at += 8) {
		uint64_t handler = span_load(knowledge, span, at + sysctl->handler, 8);
		if (handler >= sysctl->lowest && handler <= sysctl->highest)
			TRY(add_sysctl(knowledge, layout, span, at, sysctl));
	}
	return NULL;
}

/* In pieces: the kernel's data has megabytes, and few records. */
static struct error *read_sysctls_between(struct knowledge *knowledge, const struct layout *layout,
					  const char *from, const char *to,
					  const struct sysctl_layout *sysctl)
{
	const struct symtab *symbols = knowledge->target->symbols;
	uint64_t start, stop;
	struct error *error = NULL;
	if (!symtab_address(symbols, from, &start) || !symtab_address(symbols, to, &stop) ||
	    stop <= start || stop - start > DATA_SIZE_MAX)
		return NULL;
	uint8_t *data = malloc(PIECE_SIZE + sysctl->size);
	if (!data)
		return error_no_memory();
	for (uint64_t done = 0; done < stop - start && !error; done += PIECE_SIZE) {
		uint64_t left = stop - start - done, most = PIECE_SIZE + sysctl->size;
		struct span span = { start + done, data, (size_t)(left < most ? left : most) };
		memory_read_filled(knowledge->target->memory, span.address, data, span.size, 0);
		error = add_sysctls(knowledge, layout, &span, PIECE_SIZE, sysctl);
		if (!error)
			error = interrupt_check();
	}
	free(data);
	return error;
}

struct error *sysctls_read(struct knowledge *knowledge, const struct layout *layout)
{
	struct sysctl_layout sysctl;
	if (!find_sysctl_layout(knowledge, layout, &sysctl))
		return NULL;
	TRY(read_sysctls_between(knowledge, layout, "__start_rodata", "__end_rodata", &sysctl));
	return read_sysctls_between(knowledge, layout, "_sdata", "_edata", &sysctl);
}
