// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/library.h"

#include "base/array.h"
#include <errno.h>
#include <inttypes.h>
#include <libkdumpfile/kdumpfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages; the library searches its cache one by one, ours (physical.c) is hashed and lies above. */
#define LIBRARY_CACHE_PAGES 8

#define CPUS_MAX 16384u /* Linux knows 8192 */

struct library {
	kdump_ctx_t *ctx;
	uint64_t page_size;
};

static struct error *open_error(kdump_ctx_t *ctx, kdump_status status, const char *path)
{
	switch (status) {
	case KDUMP_ERR_NOTIMPL:
		return error_create(ERROR_UNSUPPORTED,
				    "%s: libkdumpfile " KDUMPFILE_VERSION_STRING
				    " does not know this kind of dump",
				    path);
	case KDUMP_ERR_EOF:
	case KDUMP_ERR_NODATA:
		return error_create(ERROR_TRUNCATED, "%s: the file ends within its headers", path);
	case KDUMP_ERR_SYSTEM:
		return error_system("%s: libkdumpfile cannot open it", path);
	default:
		break;
	}
	/* "Cannot set file.set.0.fd: what is wrong" */
	const char *text = kdump_get_err(ctx);
	const char *reason = text ? strstr(text, ".fd: ") : NULL;
	text = reason ? reason + 5 : text;
	return error_create(ERROR_FORMAT, "%s: its headers or notes are damaged (libkdumpfile: %s)",
			    path, text ? text : kdump_strerror(status));
}

static kdump_status open_files(kdump_ctx_t *ctx, const struct dump_file *files, size_t count)
{
	int *fds = malloc(count * sizeof(*fds));
	if (!fds)
		return KDUMP_ERR_SYSTEM;
	for (size_t i = 0; i < count; i++)
		fds[i] = files[i].fd;
	kdump_set_number_attr(ctx, KDUMP_ATTR_FILE_MMAP_POLICY, KDUMP_MMAP_NEVER);
	kdump_set_number_attr(ctx, KDUMP_ATTR_ZERO_EXCLUDED, 0);
	kdump_set_number_attr(ctx, "cache.size", LIBRARY_CACHE_PAGES);
	kdump_status status = kdump_open_fdset(ctx, (unsigned int)count, fds);
	free(fds);
	return status;
}

struct error *library_open(const struct dump_file *files, size_t count, struct library **ret)
{
	struct library *library = calloc(1, sizeof(*library));
	if (library)
		library->ctx = kdump_new();
	if (!library || !library->ctx) {
		free(library);
		return error_no_memory();
	}
	kdump_status status = open_files(library->ctx, files, count);
	if (status != KDUMP_OK) {
		struct error *error = open_error(library->ctx, status, files[0].path);
		/* Not kdump_free(): 0.5.1 dies in it after a failed open of a kdump-compressed
		 * file. */
		free(library);
		return error;
	}
	library->page_size = library_number(library, KDUMP_ATTR_PAGE_SIZE);
	*ret = library;
	return NULL;
}

void library_close(struct library *library)
{
	if (!library)
		return;
	kdump_free(library->ctx);
	free(library);
}

static struct error *read_error(struct library *library, kdump_status status, uint64_t address)
{
	switch (status) {
	case KDUMP_ERR_NODATA:
		return error_create_at(ERROR_EXCLUDED, address,
				       "the page at physical address 0x%" PRIx64
				       " was left out of the dump",
				       address);
	case KDUMP_ERR_EOF:
		return error_create_at(ERROR_TRUNCATED, address,
				       "the file ends before the page at physical address "
				       "0x%" PRIx64,
				       address);
	case KDUMP_ERR_NOTIMPL:
		return error_create_at(ERROR_UNSUPPORTED, address,
				       "libkdumpfile " KDUMPFILE_VERSION_STRING
				       " was built without the compression of the page at physical "
				       "address 0x%" PRIx64,
				       address);
	case KDUMP_ERR_CORRUPT:
		return error_create_at(ERROR_DAMAGED, address,
				       "the page at physical address 0x%" PRIx64
				       " is damaged in the dump",
				       address);
	default:
		break;
	}
	const char *text = kdump_get_err(library->ctx);
	return error_create_at(ERROR_OTHER, address,
			       "cannot read physical address 0x%" PRIx64 " (libkdumpfile: %s)",
			       address, text ? text : kdump_strerror(status));
}

struct error *library_read(struct library *library, uint64_t physical, void *buffer, size_t size)
{
	size_t done = size;
	kdump_status status = kdump_read(library->ctx, KDUMP_MACHPHYSADDR, physical, buffer, &done);
	return status == KDUMP_OK ? NULL : read_error(library, status, physical + done);
}

/* kdump_get_typed_attr() has got another parameter in 0.5.6, this has been the same in all. */
static bool get_attribute(struct library *library, const char *key, kdump_attr_type_t type,
			  kdump_attr_t *ret)
{
	return kdump_get_attr(library->ctx, key, ret) == KDUMP_OK && ret->type == type;
}

bool library_is_ram(struct library *library, uint64_t physical)
{
	kdump_attr_t attribute;
	if (!library->page_size ||
	    !get_attribute(library, KDUMP_ATTR_MEMORY_PAGEMAP, KDUMP_BITMAP, &attribute))
		return true;
	unsigned char bit = 0;
	kdump_addr_t page = physical / library->page_size;
	return kdump_bmp_get_bits(attribute.val.bitmap, page, page, &bit) != KDUMP_OK || bit & 1;
}

const char *library_string(struct library *library, const char *key)
{
	const char *value = NULL;
	return kdump_get_string_attr(library->ctx, key, &value) == KDUMP_OK ? value : NULL;
}

uint64_t library_number(struct library *library, const char *key)
{
	kdump_num_t value = 0;
	return kdump_get_number_attr(library->ctx, key, &value) == KDUMP_OK ? value : 0;
}

static const uint8_t *get_blob(struct library *library, const char *key, size_t *ret_size)
{
	kdump_attr_t attribute;
	if (!get_attribute(library, key, KDUMP_BLOB, &attribute))
		return NULL;
	/* Stays pinned, and so in place, until the library closes. */
	const uint8_t *data = kdump_blob_pin(attribute.val.blob);
	*ret_size = kdump_blob_size(attribute.val.blob);
	return data;
}

struct error *library_notes(struct library *library, struct notes *notes)
{
	/* It comes from the dump's headers. */
	uint64_t count = library_number(library, KDUMP_ATTR_NUM_CPUS);
	for (uint32_t cpu = 0; cpu < count && cpu < CPUS_MAX; cpu++) {
		char key[64];
		size_t size = 0;
		snprintf(key, sizeof(key), "cpu.%" PRIu32 ".PRSTATUS", cpu);
		const uint8_t *data = get_blob(library, key, &size);
		if (!data)
			continue;
		if (!array_reserve(&notes->cpus, &notes->cpu_capacity, notes->cpu_count + 1))
			return error_no_memory();
		notes->cpus[notes->cpu_count++] =
			(struct cpu_note){ CPU_NOTE_PRSTATUS, cpu, data, size };
	}
	notes->vmcoreinfo = get_blob(library, "linux.vmcoreinfo.raw", &notes->vmcoreinfo_size);
	return NULL;
}
