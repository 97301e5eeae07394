// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/running_kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY	   "libbpf.so.1"
#define BTF_FOLDER "/sys/kernel/btf/"
#define VMLINUX	   "vmlinux"

/*
 * For packagers' tools, as in vmcore/dlopen_note.c. Linked, libbpf and libelf would cost 0.2 ms and
 * 0.6 MiB at every start.
 */
__asm__(".pushsection .note.dlopen, \"a\", @note\n"
	".balign 4\n"
	".long 4, 2f - 1f, 0x407c0c0a\n"
	".asciz \"FDO\"\n"
	"1:	.asciz \"["
	"{\\\"feature\\\":\\\"libbpf\\\",\\\"description\\\":\\\"types and BPF programs of the "
	"running kernel\\\",\\\"priority\\\":\\\"recommended\\\",\\\"soname\\\":[\\\"" LIBRARY
	"\\\"]}]\"\n"
	"2:	.balign 4\n"
	".popsection\n");

/* What is called of the library; bpf_obj_get_info_by_fd() is older than its kin for programs. */
#define FUNCTIONS(X)                                                                               \
	X(libbpf_set_print)                                                                        \
	X(btf__load_vmlinux_btf)                                                                   \
	X(btf__load_module_btf)                                                                    \
	X(btf__raw_data)                                                                           \
	X(btf__free)                                                                               \
	X(bpf_prog_get_next_id)                                                                    \
	X(bpf_prog_get_fd_by_id)                                                                   \
	X(bpf_map_get_next_id)                                                                     \
	X(bpf_map_get_fd_by_id)                                                                    \
	X(bpf_obj_get_info_by_fd)

struct running_kernel {
	void *library;
	struct btf *vmlinux; /* that modules' BTF continue, NULL: not asked for yet */
#define POINTER(name) __typeof__(&(name)) name;
	FUNCTIONS(POINTER)
#undef POINTER
};

/* --- the library ------------------------------------------------------------------------------ */

/* False: it has no such function. */
static int find_function(void *library, const char *name, void *ret, size_t size)
{
	void *symbol = dlsym(library, name);
	memcpy(ret, &symbol, size);
	return symbol != NULL;
}

struct error *running_kernel_open(struct running_kernel **ret)
{
	struct running_kernel *kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return error_no_memory();
	kernel->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int has_all = kernel->library != NULL;
#define FIND(name)                                                                                 \
	has_all = has_all && find_function(kernel->library, #name, &kernel->name, sizeof(void *));
	FUNCTIONS(FIND)
#undef FIND
	if (!has_all) {
		struct error *error = error_create(ERROR_UNSUPPORTED, LIBRARY " is not installed%s",
						   kernel->library ? ", but another one" : "");
		running_kernel_close(kernel);
		return error;
	}
	/* It would write to the user's terminal. */
	kernel->libbpf_set_print(NULL);
	*ret = kernel;
	return NULL;
}

void running_kernel_close(struct running_kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->vmlinux)
		kernel->btf__free(kernel->vmlinux);
	if (kernel->library)
		dlclose(kernel->library);
	free(kernel);
}

static struct error *write_all(int file, const void *data, size_t size)
{
	const char *at = data;
	while (size) {
		ssize_t part = write(file, at, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return error_system("what the kernel said");
		at += part;
		size -= (size_t)part;
	}
	return NULL;
}

/* --- BTF -------------------------------------------------------------------------------------- */

/* A module's name, and no path: the process that asks may have been taken over. */
static int is_name(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-") == strlen(name);
}

static struct error *no_btf(const char *name)
{
	int number = errno;
	if (!access(BTF_FOLDER VMLINUX, R_OK))
		return error_create(ERROR_UNSUPPORTED, BTF_FOLDER "%s: libbpf: %s", name,
				    strerror(number));
	return error_create(ERROR_NOT_FOUND, "no " BTF_FOLDER VMLINUX " here");
}

/* Where libbpf cannot take the kernel's own, it looks for files that are named after its release.
 */
static struct error *check_own(struct running_kernel *kernel, const struct btf *btf)
{
	struct stat status;
	__u32 size;
	if (kernel->btf__raw_data(btf, &size) && !stat(BTF_FOLDER VMLINUX, &status) &&
	    status.st_size == (off_t)size)
		return NULL;
	errno = EINVAL;
	return no_btf(VMLINUX);
}

static struct error *load_vmlinux(struct running_kernel *kernel)
{
	if (kernel->vmlinux)
		return NULL;
	struct btf *btf = kernel->btf__load_vmlinux_btf();
	if (!btf)
		return no_btf(VMLINUX);
	struct error *error = check_own(kernel, btf);
	if (error)
		kernel->btf__free(btf);
	else
		kernel->vmlinux = btf;
	return error;
}

static struct error *write_raw(struct running_kernel *kernel, const struct btf *btf, int file)
{
	__u32 size;
	const void *data = kernel->btf__raw_data(btf, &size);
	return data ? write_all(file, data, size) : error_no_memory();
}

struct error *running_kernel_write_btf(struct running_kernel *kernel, const char *name, int file)
{
	if (!is_name(name))
		return error_create(ERROR_USAGE, "not a module's name");
	struct error *error = load_vmlinux(kernel);
	if (error)
		return error;
	if (!strcmp(name, VMLINUX))
		return write_raw(kernel, kernel->vmlinux, file);
	struct btf *btf = kernel->btf__load_module_btf(name, kernel->vmlinux);
	if (!btf)
		return no_btf(name);
	error = write_raw(kernel, btf, file);
	kernel->btf__free(btf);
	return error;
}

/* --- bpf(2) ----------------------------------------------------------------------------------- */

/* Also for what ended since its id was given, which is no error: *ret_fd is -1 then. */
static struct error *open_object(int fd, int *ret_fd)
{
	if (fd < 0 && errno != ENOENT)
		return error_system("bpf(2)");
	*ret_fd = fd;
	return NULL;
}

static struct error *write_program(struct running_kernel *kernel, int fd, int file)
{
	struct running_program program = { 0 };
	struct bpf_prog_info info = { .map_ids = (uintptr_t)program.maps,
				      .nr_map_ids = RUNNING_MAPS_MAX };
	__u32 size = sizeof(info);
	if (kernel->bpf_obj_get_info_by_fd(fd, &info, &size))
		return error_system("bpf(2)");
	/* More than the kernel allows: of those there is no list. */
	if (info.nr_map_ids > RUNNING_MAPS_MAX)
		return NULL;
	program.id = info.id;
	program.type = info.type;
	program.uid = info.created_by_uid;
	program.instruction_bytes = info.xlated_prog_len;
	program.jited_bytes = info.jited_prog_len;
	program.function_count = info.nr_jited_func_lens;
	program.load_time = info.load_time;
	program.map_count = info.nr_map_ids;
	memcpy(program.tag, info.tag, sizeof(program.tag));
	memcpy(program.name, info.name, sizeof(program.name));
	return write_all(file, &program, sizeof(program));
}

static struct error *write_map(struct running_kernel *kernel, int fd, int file)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	if (kernel->bpf_obj_get_info_by_fd(fd, &info, &size))
		return error_system("bpf(2)");
	struct running_map map = { .id = info.id,
				   .type = info.type,
				   .key_size = info.key_size,
				   .value_size = info.value_size,
				   .max_entries = info.max_entries };
	memcpy(map.name, info.name, sizeof(map.name));
	return write_all(file, &map, sizeof(map));
}

/* How the kernel hands out its objects of one kind, one after the other. */
struct object_kind {
	int (*next_id)(__u32 id, __u32 *ret);
	int (*open)(__u32 id);
	struct error *(*write)(struct running_kernel *kernel, int fd, int file);
};

static struct error *write_objects(struct running_kernel *kernel, const struct object_kind *kind,
				   int file)
{
	__u32 id = 0;
	while (!kind->next_id(id, &id)) {
		int fd;
		struct error *error = open_object(kind->open(id), &fd);
		if (!error && fd >= 0) {
			error = kind->write(kernel, fd, file);
			close(fd);
		}
		if (error)
			return error;
	}
	return errno == ENOENT ? NULL : error_system("bpf(2)");
}

struct error *running_kernel_write_programs(struct running_kernel *kernel, int file)
{
	const struct object_kind programs = { kernel->bpf_prog_get_next_id,
					      kernel->bpf_prog_get_fd_by_id, write_program };
	return write_objects(kernel, &programs, file);
}

struct error *running_kernel_write_maps(struct running_kernel *kernel, int file)
{
	const struct object_kind maps = { kernel->bpf_map_get_next_id, kernel->bpf_map_get_fd_by_id,
					  write_map };
	return write_objects(kernel, &maps, file);
}
