// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lists the functions of a kernel with an address, as DWARF has them: instances FILE. Columns,
 * between tabs: address, name, unit, result, parameters (several columns). A type is spelled as
 * btf/btf.h does, then, of a pointer to a named struct or union: " #SIZE:NAME@BIT,...", its
 * members, for there are several structs of one name.
 */
#include "tests/truth/dwarf_spell.h"

#include <dwarf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t member_bit(Dwarf_Die *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) &&
	    !dwarf_formudata(&attribute, &value))
		return value;
	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) &&
	    !dwarf_formudata(&attribute, &value))
		return value * 8;
	return 0;
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word size = 0;
	if (dwarf_attr(type, DW_AT_byte_size, &attribute))
		dwarf_formudata(&attribute, &size);
	return size;
}

static void print_members(Dwarf_Die *type)
{
	Dwarf_Die member;
	printf(" #%" PRIu64 ":", size_of(type));
	if (dwarf_child(type, &member))
		return;
	do {
		const char *name = dwarf_diename(&member);
		if (dwarf_tag(&member) == DW_TAG_member)
			printf("%s@%" PRIu64 ",", name ? name : "", member_bit(&member));
	} while (!dwarf_siblingof(&member, &member));
}

/* Without typedefs and qualifiers: "*" for each pointer, then what is behind them. */
static void print_type(Dwarf_Die *owner)
{
	Dwarf_Die type, next;
	putchar('\t');
	if (!dwarf_type_of(owner, &type)) {
		fputs("void", stdout);
		return;
	}
	for (;;) {
		const char *name = dwarf_diename(&type);
		int tag = dwarf_tag(&type);
		if (tag == DW_TAG_pointer_type)
			putchar('*');
		if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) {
			printf("struct %s", name ? name : "");
			if (!dwarf_hasattr(&type, DW_AT_declaration))
				print_members(&type);
			return;
		}
		if (tag == DW_TAG_enumeration_type || tag == DW_TAG_base_type) {
			printf("%s%s %" PRIu64, tag == DW_TAG_base_type ? "" : "enum ",
			       name ? name : "", size_of(&type));
			return;
		}
		if (tag == DW_TAG_subroutine_type || tag == DW_TAG_array_type) {
			fputs(tag == DW_TAG_array_type ? "array" : "function", stdout);
			return;
		}
		if (!dwarf_type_of(&type, &next)) {
			fputs("void", stdout);
			return;
		}
		type = next;
	}
}

/* Parameters are written down at the abstract instance, if there is one. */
static void print_function(Dwarf_Die *function, const char *unit)
{
	Dwarf_Die origin = *function, child;
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	if (dwarf_entrypc(function, &address))
		return;
	while (dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, &child))
		origin = child;
	const char *name = dwarf_diename(&origin);
	printf("%#" PRIx64 "\t%s\t%s", (uint64_t)address, name ? name : "", unit);
	print_type(&origin);
	if (!dwarf_child(&origin, &child)) {
		do {
			if (dwarf_tag(&child) == DW_TAG_formal_parameter)
				print_type(&child);
			else if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
				printf("\t...");
		} while (!dwarf_siblingof(&child, &child));
	}
	putchar('\n');
}

static void print_unit(Dwarf_Die *unit)
{
	const char *name = dwarf_diename(unit);
	Dwarf_Die child;
	if (dwarf_child(unit, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_subprogram)
			print_function(&child, name ? name : "");
	} while (!dwarf_siblingof(&child, &child));
}

int main(int argc, char **argv)
{
	int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	Dwarf *dwarf = file >= 0 ? dwarf_begin(file, DWARF_C_READ) : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t kind;
	if (!dwarf) {
		fprintf(stderr, "usage: instances FILE-with-DWARF\n");
		return 1;
	}
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, NULL))
		if (kind == DW_UT_compile)
			print_unit(&die);
	dwarf_end(dwarf);
	close(file);
	return 0;
}
