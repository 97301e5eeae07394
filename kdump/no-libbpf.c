// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * In the place of debugger/target/running_kernel.c: for the static program (its capture kernel
 * looks at the one that crashed, never at itself), and for `make LIBBPF=no`.
 */
#include "debugger/target/running_kernel.h"

static struct error *no_library(void)
{
	return error_create(ERROR_UNSUPPORTED, "this program was built without libbpf");
}

struct error *running_kernel_open(struct running_kernel **ret)
{
	(void)ret;
	return no_library();
}

void running_kernel_close(struct running_kernel *kernel)
{
	(void)kernel;
}

struct error *running_kernel_write_btf(struct running_kernel *kernel, const char *name, int file)
{
	(void)kernel;
	(void)name;
	(void)file;
	return no_library();
}

struct error *running_kernel_write_programs(struct running_kernel *kernel, int file)
{
	(void)kernel;
	(void)file;
	return no_library();
}

struct error *running_kernel_write_maps(struct running_kernel *kernel, int file)
{
	(void)kernel;
	(void)file;
	return no_library();
}
