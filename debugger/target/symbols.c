// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Symbols of kernel and modules. The module list is read only when the kernel's own table has no
 * answer: most questions never touch it.
 */
#include "debugger/target/target.h"

#include <stdio.h>

static bool load_modules(struct target *target)
{
	const struct module *modules;
	if (target->modules_loaded)
		return false;
	uint32_t before = symtab_count(target->symbols);
	target_modules(target, &modules);
	return symtab_count(target->symbols) > before;
}

#define AFTER_NOTED UINT64_MAX /* a cursor */

bool target_find_noted(const struct target *target, const char *name, struct symbol *ret)
{
	char key[SYMBOL_NAME_SIZE + 16];
	uint64_t address;
	if (symtab_kernel_count(target->symbols) || !target->vmcoreinfo)
		return false;
	snprintf(key, sizeof(key), "SYMBOL(%s)", name);
	if (!vmcoreinfo_hex(target->vmcoreinfo, key, &address))
		return false;
	*ret = (struct symbol){ .address = address,
				.kind = '?',
				.number = UINT32_MAX,
				.name = symtab_keep_name(target->symbols, name) };
	return true;
}

bool target_find_symbol(struct target *target, const char *module, const char *name,
			uint64_t *cursor, struct symbol *ret)
{
	if (*cursor == AFTER_NOTED)
		return false;
	if (!module && !*cursor && target_find_noted(target, name, ret)) {
		*cursor = AFTER_NOTED;
		return true;
	}
	if (module)
		load_modules(target);
	uint64_t before = *cursor;
	if (symtab_find(target->symbols, module, name, cursor, ret))
		return true;
	/* Asked again for the next of equal names, the kernel's ones have been given. */
	if (!load_modules(target))
		return false;
	*cursor = before;
	return symtab_find(target->symbols, module, name, cursor, ret);
}

bool target_image_end(const struct target *target, uint64_t *ret)
{
	const struct symtab *symbols = target->symbols;
	uint64_t start;
	if (symtab_address(symbols, "_end", ret))
		return true;
	/* A table of functions, and what was found besides: the last that is known. */
	uint32_t count = symtab_kernel_count(symbols);
	if (!count || !symtab_address(symbols, "_etext", &start))
		return false;
	struct symbol last;
	symtab_peek(symbols, count - 1, &last);
	*ret = last.address + 1;
	return *ret > start;
}

uint64_t target_text_start(struct target *target)
{
	if (!target->text_start)
		symtab_address(target->symbols, "_text", &target->text_start);
	return target->text_start;
}

/* Within _text to _end no module can be. */
static bool is_kernel_image(struct target *target, uint64_t address)
{
	uint64_t start = target_text_start(target), end;
	return start && target_image_end(target, &end) && address >= start && address < end;
}

/* An address of which no symbol is known yet: modules may bring one. False: they do not. */
static bool load_for(struct target *target, uint64_t address)
{
	return !target->modules_loaded && !is_kernel_image(target, address) && load_modules(target);
}

bool target_symbol_at(struct target *target, uint64_t address, struct symbol *ret,
		      uint64_t *ret_offset)
{
	return symtab_by_address(target->symbols, address, ret, ret_offset) ||
	       (load_for(target, address) &&
		symtab_by_address(target->symbols, address, ret, ret_offset));
}

bool target_symbol_at_into(struct target *target, uint64_t address, char name[SYMBOL_NAME_SIZE],
			   struct symbol *ret, uint64_t *ret_offset)
{
	return symtab_by_address_into(target->symbols, address, name, ret, ret_offset) ||
	       (load_for(target, address) &&
		symtab_by_address_into(target->symbols, address, name, ret, ret_offset));
}

bool target_describe(struct target *target, uint64_t address, char *buffer, size_t size)
{
	if (symtab_describe(target->symbols, address, buffer, size))
		return true;
	if (!load_for(target, address))
		return false;
	return symtab_describe(target->symbols, address, buffer, size);
}
