/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BTF in an ELF file: vmlinux, a module, what a debug package has of them. ELF of 32 and 64
 * bits, either byte order. Formats: the ELF specification; .BTF.base: Documentation/bpf/btf.rst.
 */
#ifndef BTF_ELF_H
#define BTF_ELF_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#define BUILD_ID_MAX 64 /* bytes */
#define BTF_FILE_MAX                                                                               \
	(256u << 20)	   /* bytes of a file's BTF: 40 times those of a kernel of Debian's */
#define ELF_MODULE_SIZE 64 /* of a name: the kernel's have at most 55 letters */

/* Data of NULL, a size of 0 or an empty name: the file has none. */
struct elf_btf {
	struct bytes btf;  /* .BTF, owned */
	struct bytes base; /* .BTF.base, the distilled base, owned */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	char module[ELF_MODULE_SIZE]; /* "name=" of .modinfo */
};

bool elf_is(const struct bytes *head);
/*
 * Reads what it needs of a file, which is memory from 0 on, and may be large. Sets the memory's
 * byte order. Errors: ERROR_FORMAT when it is no ELF that can be read, ERROR_UNSUPPORTED, those of
 * the memory; having no BTF is no error. Caller: elf_btf_deinit().
 */
struct error *elf_find_btf(struct memory *file, struct elf_btf *ret) MUST_CHECK;
void elf_btf_deinit(struct elf_btf *found);

#endif
