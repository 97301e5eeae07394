// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/content.h"

#include "base/interrupt.h"
#include "debugger/kernel/page_cache.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PAGE_SIZE_MAX	 65536u
#define PIPE_BUFFERS_MAX 65536u
/* Of a file that cannot be positioned: all of it is written. */
#define STREAM_MAX ((uint64_t)1 << 40)

struct content {
	struct target *target;
	const struct content_options *options;
	FILE *file;
	struct page_records records;
	struct page_cache cache;
	uint64_t next;		/* page that comes next */
	uint64_t written;	/* bytes of the file */
	uint64_t gap, gap_size; /* that was not told yet: offset, bytes */
	enum content_gap gap_kind;
	uint8_t *buffer;
	bool no_seek;
	struct content_summary summary;
};

/* --- what is not there ---------------------------------------------------------------------- */

static struct error *tell_gap(struct content *content)
{
	uint64_t size = content->gap_size;
	content->gap_size = 0;
	if (!size)
		return NULL;
	content->summary.gaps[content->gap_kind] += size;
	return content->options->gap(content->options->context, content->gap_kind, content->gap,
				     size);
}

/* Neighbours of a kind are one. */
static struct error *add_gap(struct content *content, enum content_gap kind, uint64_t offset,
			     uint64_t size)
{
	if (content->gap_size && content->gap_kind == kind &&
	    content->gap + content->gap_size == offset) {
		content->gap_size += size;
		return NULL;
	}
	TRY(tell_gap(content));
	content->gap_kind = kind;
	content->gap = offset;
	content->gap_size = size;
	return NULL;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static struct error *move_to(struct content *content, uint64_t offset)
{
	static const uint8_t zeros[4096];
	if (content->written < offset && !content->no_seek) {
		content->no_seek = fseeko(content->file, (off_t)offset, SEEK_SET) != 0;
		if (!content->no_seek)
			content->written = offset;
	}
	if (content->written < offset && offset > STREAM_MAX)
		return error_create(ERROR_UNSUPPORTED, "more than 1 TiB into a pipe");
	while (content->written < offset) {
		uint64_t left = offset - content->written;
		size_t size = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);
		TRY(interrupt_check());
		if (fwrite(zeros, 1, size, content->file) != size)
			return error_system("writing");
		content->written += size;
	}
	return NULL;
}

static struct error *put(struct content *content, uint64_t offset, const void *data, size_t size)
{
	TRY(tell_gap(content));
	TRY(move_to(content, offset));
	if (fwrite(data, 1, size, content->file) != size)
		return error_system("writing");
	content->written += size;
	content->summary.bytes += size;
	return NULL;
}

/* --- a regular file -----------------------------------------------------------------------------
 */

/* Nothing is known of pages up to this one: tmpfs has nowhere else to keep them. */
static struct error *pass_to(struct content *content, uint64_t index)
{
	uint64_t page = content->records.page_size, start = content->next * page;
	if (index <= content->next)
		return NULL;
	content->next = index;
	uint64_t end = index > content->summary.size / page ? content->summary.size : index * page;
	if (content->cache.is_shmem || end <= start)
		return NULL;
	return add_gap(content, CONTENT_NOT_CACHED, start, end - start);
}

static struct error *put_page(struct content *content, uint64_t index)
{
	struct cached_page cached;
	uint64_t page = content->records.page_size, offset = index * page;
	uint64_t left = content->summary.size - offset;
	size_t size = left < page ? (size_t)left : (size_t)page;
	struct error *error = page_cache_find(&content->cache, index, &cached);
	if (!error && cached.state == CACHED_NOT)
		return pass_to(content, index + 1);
	TRY(pass_to(content, index));
	content->next = index + 1;
	if (!error && cached.state == CACHED_SWAPPED)
		return add_gap(content, CONTENT_SWAPPED, offset, size);
	if (!error)
		error = memory_read(content->target->physical, cached.physical, content->buffer,
				    size);
	if (!error)
		return put(content, offset, content->buffer, size);
	if (error_is_fatal(error))
		return error;
	error_free(error);
	return add_gap(content, CONTENT_NOT_IN_DUMP, offset, size);
}

static struct error *visit_entry(void *context, const struct walk_item *item)
{
	struct content *content = context;
	uint64_t page = content->records.page_size;
	uint64_t pages = content->summary.size / page + (content->summary.size % page != 0);
	for (uint64_t index = item->index; index <= item->last && index < pages; index++) {
		TRY(interrupt_check());
		progress_report(content->options->progress, "pages", index, pages);
		if (index >= content->next)
			TRY(put_page(content, index));
	}
	return NULL;
}

/* A part of the tree that cannot be read: what it leads to is passed by. */
static struct error *broken(void *context, struct error *problem)
{
	(void)context;
	return error_only_fatal(problem);
}

static struct error *write_file(struct content *content, const struct object *inode)
{
	const struct walk walk = { .target = content->target,
				   .visit = visit_entry,
				   .broken = broken,
				   .context = content };
	struct object pages;
	uint64_t mapping;
	TRY(object_u64(inode, "i_mapping", &mapping));
	TRY(page_cache_init(&content->records, mapping, &content->cache));
	content->summary.size = content->cache.size;
	TRY(object_member(&content->cache.mapping, "i_pages", &pages));
	TRY(walk_xarray(&walk, pages.address));
	TRY(pass_to(content, UINT64_MAX));
	TRY(tell_gap(content));
	if (content->written >= content->summary.size)
		return NULL;
	/* The last byte gives the file its size. */
	TRY(move_to(content, content->summary.size - 1));
	return fputc(0, content->file) == EOF ? error_system("writing") : NULL;
}

/* --- a pipe
 * --------------------------------------------------------------------------------------- */

static struct error *put_buffer(struct content *content, const struct object *buffer)
{
	uint64_t page, offset, size, physical;
	uint64_t at = content->summary.size;
	TRY(object_u64(buffer, "page", &page));
	TRY(object_u64(buffer, "offset", &offset));
	TRY(object_u64(buffer, "len", &size));
	if (size > content->records.page_size || offset > content->records.page_size - size)
		return error_create(ERROR_FORMAT, "pipe_buffer 0x%" PRIx64 " has %" PRIu64 " bytes",
				    buffer->address, size);
	content->summary.size += size;
	struct error *error = page_record_physical(&content->records, page, &physical);
	if (!error)
		error = memory_read(content->target->physical, physical + offset, content->buffer,
				    size);
	if (!error)
		return put(content, at, content->buffer, size);
	if (error_is_fatal(error))
		return error;
	error_free(error);
	return add_gap(content, CONTENT_NOT_IN_DUMP, at, size);
}

static struct error *write_pipe(struct content *content, const struct object *pipe)
{
	uint64_t head, tail, slots, buffers, record;
	struct object first;
	content->summary.is_pipe = true;
	TRY(object_u64(pipe, "head", &head));
	TRY(object_u64(pipe, "tail", &tail));
	TRY(object_u64(pipe, "ring_size", &slots));
	TRY(object_u64(pipe, "bufs", &buffers));
	TRY(object_follow(pipe, "bufs", &first));
	if (!type_size(first.type, &record) || !slots || slots > PIPE_BUFFERS_MAX ||
	    slots & (slots - 1))
		return error_create(ERROR_FORMAT, "a pipe of %" PRIu64 " buffers", slots);
	/* Both only grow, and wrap at 32 bits, on some kernels at 16. */
	uint64_t used = (uint32_t)(head - tail);
	if (used > slots)
		used = (uint16_t)(head - tail);
	if (used > slots)
		return error_create(ERROR_FORMAT, "%" PRIu64 " buffers of %" PRIu64 " are filled",
				    used, slots);
	for (uint64_t i = 0; i < used; i++) {
		struct object buffer = first;
		buffer.address = buffers + ((tail + i) & (slots - 1)) * record;
		TRY(put_buffer(content, &buffer));
	}
	TRY(tell_gap(content));
	return move_to(content, content->summary.size);
}

/* --- either
 * ----------------------------------------------------------------------------------------- */

static struct error *write_content(struct content *content, const struct object *inode)
{
	uint64_t mode;
	struct object pipe;
	if (!inode->address)
		return error_create(ERROR_NOT_FOUND, "it has no inode");
	TRY(page_records_init(content->target, &content->records));
	if (content->records.page_size > PAGE_SIZE_MAX)
		return error_create(ERROR_FORMAT, "pages of %" PRIu64 " bytes",
				    content->records.page_size);
	content->buffer = malloc(content->records.page_size);
	if (!content->buffer)
		return error_no_memory();
	TRY(object_u64(inode, "i_mode", &mode));
	if ((mode & S_IFMT) == S_IFREG)
		return write_file(content, inode);
	if ((mode & S_IFMT) == S_IFIFO) {
		TRY(object_follow(inode, "i_pipe", &pipe));
		if (pipe.address)
			return write_pipe(content, &pipe);
	}
	const char *kind = (mode & S_IFMT) == S_IFDIR	 ? "a folder"
			   : (mode & S_IFMT) == S_IFLNK	 ? "a symbolic link"
			   : (mode & S_IFMT) == S_IFSOCK ? "a socket"
			   : (mode & S_IFMT) == S_IFIFO	 ? "a pipe that nobody has open"
							 : "no regular file";
	return error_create(ERROR_UNSUPPORTED, "it is %s", kind);
}

struct error *export_content(const struct object *inode, const struct content_options *options,
			     FILE *file, struct content_summary *ret)
{
	struct content content = { .target = inode->target, .options = options, .file = file };
	struct error *error = write_content(&content, inode);
	progress_end(options->progress);
	free(content.buffer);
	if (!error && fflush(file))
		error = error_system("writing");
	if (!error)
		*ret = content.summary;
	return error;
}
