// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/trace_buffer.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>

/* A page's time and how much of it is used stand before its data; it may have several pages. */
#define PAGE_HEADER 16u
#define ORDER_MAX   8u
#define PAGES_MAX   ((uint64_t)1 << 24)
/* Above these, `commit` has flags. */
#define COMMIT_MASK 0xfffffffu

/* Kinds of events: kernel include/linux/ring_buffer.h. Those below have their length in words. */
enum { EVENT_LONG = 0, EVENT_PADDING = 29, EVENT_TIME_EXTEND = 30, EVENT_TIME_STAMP = 31 };
#define TYPE_BITS  5u
#define DELTA_BITS 27u
/* An absolute time has 59 bits; those above are of the time before it. */
#define STAMP_BITS 59u

/* Links of the circle have flags in their lowest bits; 1: the page behind is the oldest. */
#define LINK_FLAGS 3u
#define LINK_HEAD  1u

/* Of one CPU: where it is, and the record that comes next. */
struct reader {
	uint32_t cpu;
	bool is_done;
	uint64_t page, reader_page, commit_page; /* of struct buffer_page */
	uint64_t pages_left;
	uint64_t data_address;
	uint8_t *data; /* of the page, behind its header */
	size_t size, at, first;
	uint64_t clock;
	struct trace_record record;
};

struct pass {
	struct target *target;
	const struct trace_visitor *visitor;
	uint64_t link; /* of `list` in a struct buffer_page */
	size_t page_size;
	struct reader *readers;
	size_t count;
};

static struct error *page_object(const struct pass *pass, uint64_t address, struct object *ret)
{
	return object_at(pass->target, "struct buffer_page", address, ret);
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Reads the data of a page that is reached: of the reader's own, from where it was not yet read. */
static struct error *enter_page(const struct pass *pass, struct reader *reader)
{
	struct object page, data;
	struct memory *memory = pass->target->memory;
	uint64_t stamp, commit, read = 0, offset;
	reader->size = reader->at = reader->first = 0;
	TRY(page_object(pass, reader->page, &page));
	TRY(object_follow(&page, "page", &data));
	TRY(object_u64(&data, "time_stamp", &stamp));
	TRY(object_u64(&data, "commit", &commit));
	TRY(object_offset(pass->target, "struct buffer_data_page", "data", &offset));
	if (reader->page == reader->reader_page)
		TRY(object_u64(&page, "read", &read));
	commit &= COMMIT_MASK;
	if (commit > pass->page_size)
		return error_create(ERROR_FORMAT,
				    "page 0x%" PRIx64 " of CPU %" PRIu32 " has %" PRIu64
				    " bytes of %zu",
				    data.address, reader->cpu, commit, pass->page_size);
	TRY(memory_read(memory, data.address + offset, reader->data, commit));
	reader->data_address = data.address + offset;
	reader->size = commit;
	reader->first = read;
	reader->clock = stamp;
	return NULL;
}

static struct error *next_link(const struct pass *pass, uint64_t page, uint64_t *ret)
{
	return memory_read_word(pass->target->memory, page + pass->link, ret);
}

/* The page that the link before it calls the oldest, within one round. */
static struct error *find_head(const struct pass *pass, const struct reader *reader, uint64_t start,
			       uint64_t *ret)
{
	uint64_t at = start, link;
	for (uint64_t i = 0; i < reader->pages_left; i++) {
		TRY(interrupt_check());
		TRY(next_link(pass, at, &link));
		at = (link & ~(uint64_t)LINK_FLAGS) - pass->link;
		if (link & LINK_FLAGS) {
			*ret = at;
			return NULL;
		}
	}
	return error_create(ERROR_FORMAT, "no page of CPU %" PRIu32 " is its first", reader->cpu);
}

/* From the reader's own page to the oldest one of the circle, then round it to the newest. */
static struct error *next_page(const struct pass *pass, struct reader *reader)
{
	uint64_t link;
	if (reader->page == reader->commit_page) {
		reader->is_done = true;
		return NULL;
	}
	if (!reader->pages_left--) {
		reader->is_done = true;
		return error_create(ERROR_FORMAT, "pages of CPU %" PRIu32 " go round in a circle",
				    reader->cpu);
	}
	struct error *error;
	if (reader->page == reader->reader_page) {
		error = find_head(pass, reader, reader->commit_page, &reader->page);
	} else {
		error = next_link(pass, reader->page, &link);
		if (!error)
			reader->page = (link & ~(uint64_t)LINK_FLAGS) - pass->link;
	}
	reader->is_done = error;
	return error ?: enter_page(pass, reader);
}

/* --- events ---------------------------------------------------------------------------------- */

/* The event at reader->at: its whole size; its data, when it is a record. */
static struct error *read_event(const struct pass *pass, struct reader *reader, bool *ret)
{
	bool big = pass->target->memory->big_endian;
	const uint8_t *event = reader->data + reader->at;
	size_t left = reader->size - reader->at;
	uint32_t head = left >= 4 ? load_u32(event, big) : 0;
	uint32_t kind = big ? head >> DELTA_BITS : head & ((1u << TYPE_BITS) - 1);
	uint64_t delta = big ? head & ((1u << DELTA_BITS) - 1) : head >> TYPE_BITS;
	bool has_word = kind == EVENT_LONG || kind >= EVENT_PADDING;
	*ret = false;
	if (left < (has_word ? 8 : 4) && !(kind == EVENT_PADDING && !delta))
		goto torn;
	uint64_t word = has_word && left >= 8 ? load_u32(event + 4, big) : 0;
	uint64_t size = 8, skip = kind == EVENT_LONG ? 8 : 4;
	switch (kind) {
	case EVENT_PADDING:
		/* Without a time: the rest of the page is empty. */
		size = delta ? word + 4 : left;
		break;
	case EVENT_TIME_EXTEND:
		reader->clock += (word << DELTA_BITS) + delta;
		break;
	case EVENT_TIME_STAMP:
		delta += word << DELTA_BITS;
		delta |= reader->clock >> STAMP_BITS << STAMP_BITS;
		reader->clock = delta < reader->clock && reader->clock >> STAMP_BITS
					? delta + (UINT64_C(1) << STAMP_BITS)
					: delta;
		break;
	default:
		size = kind == EVENT_LONG ? word + 4 : 4 + 4 * (uint64_t)kind;
		reader->clock += delta;
		*ret = size >= skip && reader->at >= reader->first;
	}
	if (size < 4 || size > left)
		goto torn;
	reader->record = (struct trace_record){ .cpu = reader->cpu,
						.time = reader->clock,
						.address = reader->data_address + reader->at + skip,
						.data = event + skip,
						.size = size >= skip ? size - skip : 0 };
	reader->at += size;
	return NULL;
torn:
	reader->at = reader->size;
	*ret = false;
	return error_create(ERROR_FORMAT, "an event of CPU %" PRIu32 " runs past its page",
			    reader->cpu);
}

/* The next record of the CPU, in `record`, or `is_done`. What is broken is told on the way. */
static struct error *advance(const struct pass *pass, struct reader *reader)
{
	bool is_record = false;
	while (!reader->is_done && !is_record) {
		struct error *error = reader->at < reader->size
					      ? read_event(pass, reader, &is_record)
					      : next_page(pass, reader);
		if (!error)
			error = interrupt_check();
		if (error && error_is_fatal(error))
			return error;
		if (error)
			TRY(pass->visitor->broken(pass->visitor->context, error));
	}
	return NULL;
}

/* --- all CPUs -------------------------------------------------------------------------------- */

static struct error *open_reader(const struct pass *pass, const struct object *buffer,
				 struct reader *reader)
{
	uint64_t count;
	TRY(object_u64(buffer, "reader_page", &reader->reader_page));
	TRY(object_u64(buffer, "commit_page", &reader->commit_page));
	TRY(object_u64(buffer, "nr_pages", &count));
	reader->page = reader->reader_page;
	reader->pages_left = (count < PAGES_MAX ? count : PAGES_MAX) + 2;
	reader->data = malloc(pass->page_size);
	if (!reader->data)
		return error_no_memory();
	/* What a broken first page has does not keep one from those in the circle. */
	reader->is_done = false;
	return enter_page(pass, reader);
}

static struct error *open_cpu(struct pass *pass, const struct object *buffers, uint32_t cpu)
{
	struct object buffer;
	uint64_t address;
	size_t word = pass->target->memory->word_size;
	TRY(memory_read_word(pass->target->memory, buffers->address + cpu * word, &address));
	/* A CPU that never was on has none. */
	if (!address)
		return NULL;
	TRY(object_at(pass->target, "struct ring_buffer_per_cpu", address, &buffer));
	struct reader *reader = &pass->readers[pass->count++];
	reader->cpu = cpu;
	reader->is_done = true;
	return open_reader(pass, &buffer, reader);
}

static struct error *open_cpus(struct pass *pass, const struct object *buffer)
{
	struct object buffers;
	const struct cpu *cpus;
	TRY(object_follow(buffer, "buffers", &buffers));
	TRY(target_need_cpus(pass->target));
	size_t count = target_cpus(pass->target, &cpus);
	pass->readers = calloc(count, sizeof(*pass->readers));
	if (!pass->readers && count)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct error *error = open_cpu(pass, &buffers, cpus[i].number);
		if (error && error_is_fatal(error))
			return error;
		if (error)
			TRY(pass->visitor->broken(pass->visitor->context, error));
	}
	return NULL;
}

static struct error *merge(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++)
		TRY(advance(pass, &pass->readers[i]));
	for (;;) {
		struct reader *next = NULL;
		for (size_t i = 0; i < pass->count; i++) {
			struct reader *reader = &pass->readers[i];
			if (!reader->is_done && (!next || reader->record.time < next->record.time))
				next = reader;
		}
		if (!next)
			return NULL;
		TRY(pass->visitor->visit(pass->visitor->context, &next->record));
		TRY(advance(pass, next));
	}
}

struct error *trace_buffer_for_each(struct target *target, uint64_t buffer,
				    const struct trace_visitor *visitor)
{
	struct pass pass = { .target = target,
			     .visitor = visitor,
			     .page_size = target->facts->page_size - PAGE_HEADER };
	struct object object;
	uint64_t order;
	TRY(object_at(target, "struct trace_buffer", buffer, &object));
	TRY(object_offset(target, "struct buffer_page", "list", &pass.link));
	/* Pages of a buffer may be larger since f9b94daa542a (6.8). */
	if (object_has(&object, "subbuf_order")) {
		TRY(object_u64(&object, "subbuf_order", &order));
		if (order <= ORDER_MAX)
			pass.page_size = (target->facts->page_size << order) - PAGE_HEADER;
	}
	struct error *error = open_cpus(&pass, &object);
	if (!error)
		error = merge(&pass);
	for (size_t i = 0; i < pass.count; i++)
		free(pass.readers[i].data);
	free(pass.readers);
	return error;
}
