/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BTF in an ELF file: vmlinux, a module, what a debug package has of them. ELF of 32 and 64
 * bits, either byte order. Formats: the ELF specification; .BTF.base: Documentation/bpf/btf.rst.
 */
#ifndef BTF_ELF_H
#define BTF_ELF_H

#include "base/bytes.h"
#include "base/error.h"

#define BUILD_ID_MAX 64 /* bytes */

/* Borrowed of the file's bytes; a span of no data: the file has none. */
struct elf_btf {
	struct bytes btf;      /* .BTF */
	struct bytes base;     /* .BTF.base, the distilled base */
	struct bytes build_id; /* of a note of GNU's */
	const char *module;    /* "name=" of .modinfo, NULL: no module */
};

bool elf_is(const struct bytes *file);
/* Errors: ERROR_FORMAT when it is no ELF that can be read; having no BTF is no error. */
struct error *elf_find_btf(const struct bytes *file, struct elf_btf *ret) MUST_CHECK;

#endif
