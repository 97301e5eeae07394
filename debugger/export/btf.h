/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BTF of the variables whose type is known beyond BTF, for bpftool, libbpf and --btf. */
#ifndef DEBUGGER_EXPORT_BTF_H
#define DEBUGGER_EXPORT_BTF_H

#include "base/progress.h"
#include "debugger/target/target.h"

struct exported_btf {
	void *data; /* the caller frees it */
	size_t size;
	size_t variables;
};

/*
 * A level on the BTF that is called `name`, "vmlinux" or a module: a VAR, a tag of its origin and a
 * place in a DATASEC for each global that is declared, or inferred without being a guess.
 */
struct error *export_btf_variables(struct target *target, const char *name,
				   struct progress *progress, struct exported_btf *ret) MUST_CHECK;

#endif
