/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel says of a loaded module beyond its place: who uses it, what it tainted, its
 * versions, sections and regions. kernel/module/{main,procfs,sysfs}.c; members by name, so a kernel
 * built without one has no answer for it.
 */
#ifndef DEBUGGER_KERNEL_MODULE_H
#define DEBUGGER_KERNEL_MODULE_H

#include "debugger/target/target.h"

#define MODULE_TEXT_SIZE     128
#define MODULE_BUILD_ID_SIZE 20
#define TAINT_LETTERS_SIZE   64
/* Bit of taints: it is not of the kernel's tree (kernel include/linux/panic.h). */
#define TAINT_OUT_OF_TREE 12

struct module_facts {
	bool has_references;
	int64_t references;		  /* as /proc/modules counts: without the module's own */
	uint64_t taints;		  /* bits */
	char letters[TAINT_LETTERS_SIZE]; /* of the taints; "" none */
	char version[MODULE_TEXT_SIZE], source_version[MODULE_TEXT_SIZE]; /* "": none */
	uint64_t init_size; /* bytes of init memory that is still there */
};
/* What cannot be read stays empty; the error is the first reason. */
struct error *module_facts_read(struct target *target, const struct module *module,
				struct module_facts *ret) MUST_CHECK;

/*
 * "OE": of taints of the kernel or a module, as the kernel's table taint_flags has them. Errors:
 * the letters until there are in *ret.
 */
struct error *taint_letters(struct target *target, uint64_t taints,
			    char ret[TAINT_LETTERS_SIZE]) MUST_CHECK;

/* "dm_mod,dm_crypt": the modules that use it, in the kernel's order. */
struct error *module_users(struct target *target, const struct module *module, char *buffer,
			   size_t size) MUST_CHECK;

struct module_section {
	char name[MODULE_TEXT_SIZE];
	uint64_t address;
};
typedef struct error *module_section_visitor(void *context, const struct module_section *section);
/*
 * As /sys/module/NAME/sections has them (sect_attrs). ERROR_NOT_FOUND: the kernel keeps none. A
 * visitor's error is handed on.
 */
struct error *module_for_each_section(struct target *target, const struct module *module,
				      module_section_visitor *visit, void *context) MUST_CHECK;
/* From the note in .note.gnu.build-id; *ret_size 0: there is none. */
struct error *module_build_id(struct target *target, const struct module *module,
			      uint8_t ret[MODULE_BUILD_ID_SIZE], size_t *ret_size) MUST_CHECK;

#endif
