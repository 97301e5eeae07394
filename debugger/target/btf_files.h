/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BTF from elsewhere (--btf): a level on the kernel's or a module's BTF, or on another file's; or a
 * whole BTF of the same kernel. What is in it besides types, variables, outranks what is declared
 * or inferred.
 */
#ifndef DEBUGGER_TARGET_BTF_FILES_H
#define DEBUGGER_TARGET_BTF_FILES_H

#include "debugger/target/target.h"

struct btf_variables;

struct btf_file {
	char *path;	   /* where it is from */
	char *name;	   /* the file's name without folder and suffix: for base=NAME */
	struct btf *btf;   /* its base is what it continues, NULL: nothing */
	char module[64];   /* whose variables it has; "": the kernel's */
	bool is_relocated; /* it came with a distilled base */
	void *data;	   /* bytes that `btf` borrows */
	size_t size;
	struct btf_variables *variables;
};

/*
 * "FILE[,base=NAME]". FILE is raw BTF, an ELF file with .BTF, or a folder in which files for this
 * dump's kernel and modules are looked for, by name and by build id; "system": in the usual
 * folders. NAME: vmlinux, a module, an earlier file, or none; without it a split BTF continues the
 * kernel's. A file that does not fit is refused with the reason; one of a folder with a problem of
 * the target.
 */
struct error *target_add_btf(struct target *target, const char *text) MUST_CHECK;
/* The path in such a text; owned, NULL without memory. */
char *btf_path(const char *text);
/* In the order they were given: 0 to count - 1. Borrowed. */
size_t target_btf_file_count(const struct target *target);
const struct btf_file *target_btf_file(const struct target *target, size_t number);
/*
 * By name: "vmlinux", a module's, a file's name or path. Errors: ERROR_NOT_FOUND, or why it has
 * none.
 */
struct error *target_find_btf(struct target *target, const char *name,
			      const struct btf **ret) MUST_CHECK;
/* The blob of one of these. Borrowed; ERROR_NOT_FOUND. */
struct error *target_btf_bytes(const struct target *target, const struct btf *btf, const void **ret,
			       size_t *ret_size) MUST_CHECK;
/*
 * A file to look at that need not be of this kernel: whole, or a level on the dump's vmlinux.
 * Errors of files without BTF: ERROR_NOT_FOUND, ERROR_FORMAT.
 */
struct error *btf_file_open(struct target *target, const char *path,
			    struct btf_file **ret) MUST_CHECK;
/* NULL is allowed. */
void btf_file_close(struct btf_file *file);
void btf_files_destroy(struct target *target);

/*
 * The type that a file gives a variable: ORIGIN_FILE, or ORIGIN_INFERRED or ORIGIN_DECLARED when it
 * was only that when the file was made (`btf --export-variables`).
 */
bool btf_files_symbol_type(struct target *target, const struct symbol *symbol, struct type *ret,
			   enum type_origin *ret_origin);

/* --- folders (btf_folder.c) ----------------------------------------------------------------- */

/* The dump's own build ids, in hexadecimal; false: it does not say. */
bool target_build_id(struct target *target, const struct module *module, char *buffer, size_t size);
#define BTF_SYSTEM_FOLDERS 4
/* The usual folders; owned. NULL at the end: there are fewer. */
void btf_system_folders(char *ret[BTF_SYSTEM_FOLDERS]);
/*
 * Calls `add` for all files in a folder that seem to be of this kernel or its modules. A NULL
 * folder: the usual ones.
 */
typedef struct error *btf_path_visitor(struct target *target, const char *path);
struct error *btf_folder_search(struct target *target, const char *folder,
				btf_path_visitor *add) MUST_CHECK;

#endif
