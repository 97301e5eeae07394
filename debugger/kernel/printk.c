// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The log: a ring of descriptors, a parallel ring of infos, and a ring of text (kernel
 * kernel/printk/printk_ringbuffer.c). Offsets come from VMCOREINFO.
 */
#include "debugger/kernel/printk.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* log_buf_len is at most 2 GiB; bounds what a bad number makes of it. */
#define COUNT_BITS_MAX 26
#define PAGE	       4096u /* the smallest one: memory is there or not by the page */
#define SIZE_BITS_MAX  31
#define INFO_SIZE_MAX  1024
#define LIVE_ATTEMPTS  8

/* The two top bits of a state variable. */
enum record_state { STATE_RESERVED, STATE_COMMITTED, STATE_FINALIZED, STATE_REUSABLE };

/* Positions with bit 0 set hold no text: it did not fit, or there is none to hold. */
#define POSITION_NO_DATA    1
#define POSITION_EMPTY_LINE 3

/* Where the kernel keeps things, as VMCOREINFO says. */
struct layout {
	int64_t desc_ring, text_ring; /* in printk_ringbuffer */
	int64_t count_bits, descs, infos, head_id, tail_id;
	int64_t desc_size, state, position;
	int64_t begin, next;
	int64_t info_size, seq, time, text_length, caller;
	int64_t size_bits, data;
	int64_t counter;
};

struct ring {
	struct memory *memory;
	struct layout layout;
	uint64_t descs, infos, data;
	uint64_t count;	    /* of descriptors, a power of two */
	uint64_t text_size; /* of the text ring, a power of two */
	uint64_t head_id, tail_id;
	uint64_t id_mask;
	bool is_live; /* it is written to while it is read */
	char *text;   /* of the current record; text_capacity bytes */
	size_t text_capacity;
};

/* --- the ring ------------------------------------------------------------------ */

static struct error *read_layout(const struct vmcoreinfo *info, struct layout *ret)
{
	const struct {
		const char *key;
		int64_t *to;
	} keys[] = {
		{ "OFFSET(printk_ringbuffer.desc_ring)", &ret->desc_ring },
		{ "OFFSET(printk_ringbuffer.text_data_ring)", &ret->text_ring },
		{ "OFFSET(prb_desc_ring.count_bits)", &ret->count_bits },
		{ "OFFSET(prb_desc_ring.descs)", &ret->descs },
		{ "OFFSET(prb_desc_ring.infos)", &ret->infos },
		{ "OFFSET(prb_desc_ring.head_id)", &ret->head_id },
		{ "OFFSET(prb_desc_ring.tail_id)", &ret->tail_id },
		{ "SIZE(prb_desc)", &ret->desc_size },
		{ "OFFSET(prb_desc.state_var)", &ret->state },
		{ "OFFSET(prb_desc.text_blk_lpos)", &ret->position },
		{ "OFFSET(prb_data_blk_lpos.begin)", &ret->begin },
		{ "OFFSET(prb_data_blk_lpos.next)", &ret->next },
		{ "SIZE(printk_info)", &ret->info_size },
		{ "OFFSET(printk_info.seq)", &ret->seq },
		{ "OFFSET(printk_info.ts_nsec)", &ret->time },
		{ "OFFSET(printk_info.text_len)", &ret->text_length },
		{ "OFFSET(printk_info.caller_id)", &ret->caller },
		{ "OFFSET(prb_data_ring.size_bits)", &ret->size_bits },
		{ "OFFSET(prb_data_ring.data)", &ret->data },
		{ "OFFSET(atomic_long_t.counter)", &ret->counter },
	};
	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		if (!vmcoreinfo_number(info, keys[i].key, keys[i].to))
			return error_create(ERROR_NOT_FOUND, "VMCOREINFO has no %s", keys[i].key);
		if (*keys[i].to < 0 || *keys[i].to > INFO_SIZE_MAX)
			return error_create(ERROR_FORMAT, "VMCOREINFO: %s=%" PRId64 " is not sane",
					    keys[i].key, *keys[i].to);
	}
	const int64_t in_info[] = { ret->seq + 8, ret->time + 8, ret->text_length + 4,
				    ret->caller + 4 };
	for (size_t i = 0; i < ARRAY_COUNT(in_info); i++)
		if (in_info[i] > ret->info_size)
			return error_create(ERROR_FORMAT,
					    "VMCOREINFO: SIZE(printk_info)=%" PRId64
					    " is less than its members",
					    ret->info_size);
	return NULL;
}

static struct error *ring_read(struct ring *ring, uint64_t address)
{
	const struct layout *layout = &ring->layout;
	struct memory *memory = ring->memory;
	uint64_t desc_ring = address + (uint64_t)layout->desc_ring;
	uint64_t text_ring = address + (uint64_t)layout->text_ring;
	uint64_t counter = (uint64_t)layout->counter;
	uint32_t count_bits, size_bits;
	TRY(memory_read_u32(memory, desc_ring + (uint64_t)layout->count_bits, &count_bits));
	TRY(memory_read_u32(memory, text_ring + (uint64_t)layout->size_bits, &size_bits));
	if (!count_bits || count_bits > COUNT_BITS_MAX || size_bits < 4 ||
	    size_bits > SIZE_BITS_MAX)
		return error_create(ERROR_FORMAT,
				    "the ring at 0x%" PRIx64 " claims 2^%" PRIu32
				    " records and 2^%" PRIu32 " bytes of text",
				    address, count_bits, size_bits);
	ring->count = (uint64_t)1 << count_bits;
	ring->text_size = (uint64_t)1 << size_bits;
	TRY(memory_read_word(memory, desc_ring + (uint64_t)layout->descs, &ring->descs));
	TRY(memory_read_word(memory, desc_ring + (uint64_t)layout->infos, &ring->infos));
	TRY(memory_read_word(memory, text_ring + (uint64_t)layout->data, &ring->data));
	TRY(memory_read_word(memory, desc_ring + (uint64_t)layout->head_id + counter,
			     &ring->head_id));
	TRY(memory_read_word(memory, desc_ring + (uint64_t)layout->tail_id + counter,
			     &ring->tail_id));
	/* The ids are words less the two bits of the state. */
	ring->id_mask = ((uint64_t)1 << (memory->word_size * 8 - 2)) - 1;
	ring->head_id &= ring->id_mask;
	ring->tail_id &= ring->id_mask;
	if (((ring->head_id - ring->tail_id) & ring->id_mask) >= ring->count)
		ring->tail_id = (ring->head_id - ring->count + 1) & ring->id_mask;
	return NULL;
}

static struct error *ring_open(struct target *target, struct ring *ring)
{
	TRY(target_need_memory(target));
	if (!target->vmcoreinfo)
		return error_create(ERROR_NOT_FOUND, "log: the dump has no VMCOREINFO");
	*ring = (struct ring){ .memory = target->memory, .is_live = target_is_live(target) };
	TRY(error_prefix(read_layout(target->vmcoreinfo, &ring->layout), "log"));
	uint64_t pointer;
	if (!vmcoreinfo_hex(target->vmcoreinfo, "SYMBOL(prb)", &pointer) &&
	    !symtab_address(target->symbols, "prb", &pointer))
		return error_create(ERROR_NOT_FOUND, "log: VMCOREINFO has no SYMBOL(prb)");
	uint64_t address;
	TRY(error_prefix(memory_read_word(ring->memory, pointer, &address), "log: prb"));
	return error_prefix(ring_read(ring, address), "log: printk_ringbuffer");
}

/* --- one record ---------------------------------------------------------------- */

struct descriptor {
	enum record_state state;
	uint64_t id, begin, next;
};

static struct error *read_descriptor(const struct ring *ring, uint64_t index,
				     struct descriptor *ret)
{
	const struct layout *layout = &ring->layout;
	uint64_t address = ring->descs + index * (uint64_t)layout->desc_size;
	uint64_t position = address + (uint64_t)layout->position;
	uint64_t state;
	TRY(memory_read_word(ring->memory,
			     address + (uint64_t)layout->state + (uint64_t)layout->counter,
			     &state));
	TRY(memory_read_word(ring->memory, position + (uint64_t)layout->begin, &ret->begin));
	TRY(memory_read_word(ring->memory, position + (uint64_t)layout->next, &ret->next));
	ret->id = state & ring->id_mask;
	ret->state = (enum record_state)(state >> (ring->memory->word_size * 8 - 2) & 3);
	return NULL;
}

static struct error *read_info(const struct ring *ring, uint64_t index, struct printk_record *ret)
{
	const struct layout *layout = &ring->layout;
	uint8_t raw[INFO_SIZE_MAX];
	size_t size = (size_t)layout->info_size;
	bool big = ring->memory->big_endian;
	TRY(memory_read(ring->memory, ring->infos + index * size, raw, size));
	ret->seq = load_u64(raw + layout->seq, big);
	ret->time = load_u64(raw + layout->time, big);
	ret->caller = load_u32(raw + layout->caller, big);
	ret->size = load_u16(raw + layout->text_length, big);
	ret->level = ret->facility = PRINTK_UNKNOWN;
	/*
	 * VMCOREINFO does not name these: u8 facility, u8 flags:5, u8 level:3 have stood between
	 * text_len and caller_id ever since (struct printk_info).
	 */
	if (layout->caller == layout->text_length + 4) {
		uint8_t bits = raw[layout->text_length + 3];
		ret->facility = raw[layout->text_length + 2];
		ret->level = big ? bits & 7u : bits >> 5;
	}
	return NULL;
}

/*
 * Where the text of a descriptor is. The id stands before it; a block that would straddle the end
 * of the ring lies at its start instead. Comparing next - 1 (since 7.0) also serves the kernels
 * that never fill a block up to the end of the ring.
 */
static bool text_block(const struct ring *ring, const struct descriptor *descriptor,
		       uint64_t *ret_offset, uint64_t *ret_size)
{
	uint64_t size = ring->text_size;
	uint64_t word_mask = ring->memory->word_size == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t begin = descriptor->begin, next = descriptor->next;
	uint64_t last_lap = ((next - 1) & word_mask) / size;
	if (begin / size == last_lap) {
		*ret_offset = begin & (size - 1);
		*ret_size = next - begin;
	} else if (((begin + size) & word_mask) / size == last_lap) {
		*ret_offset = 0;
		*ret_size = next & (size - 1);
		/* A block that ends with the lap fills all of it. */
		*ret_size = *ret_size ? *ret_size : size;
	} else {
		return false;
	}
	return *ret_size <= size - *ret_offset && *ret_size >= ring->memory->word_size;
}

static struct error *read_text(struct ring *ring, const struct descriptor *descriptor,
			       struct printk_record *record)
{
	if ((descriptor->begin | descriptor->next) & POSITION_NO_DATA) {
		if (descriptor->begin != POSITION_EMPTY_LINE ||
		    descriptor->next != POSITION_EMPTY_LINE)
			return error_create(ERROR_FORMAT, "the text did not fit");
		record->size = 0;
		record->text = "";
		return NULL;
	}
	uint64_t offset, size, id;
	if (!text_block(ring, descriptor, &offset, &size))
		return error_create(ERROR_FORMAT, "the text is at no possible place");
	TRY(memory_read_word(ring->memory, ring->data + offset, &id));
	if ((id & ring->id_mask) != descriptor->id)
		return error_create(ERROR_FORMAT, "the text is another record's");
	size -= ring->memory->word_size;
	record->size = record->size < size ? record->size : (size_t)size;
	if (!array_reserve(&ring->text, &ring->text_capacity, record->size + 1))
		return error_no_memory();
	record->text = ring->text;
	return memory_read(ring->memory, ring->data + offset + ring->memory->word_size, ring->text,
			   record->size);
}

/* Text and info belong to the descriptor if it is the same before and after they were read. */
static struct error *check_unchanged(const struct ring *ring, uint64_t index,
				     const struct descriptor *before)
{
	struct descriptor now;
	TRY(read_descriptor(ring, index, &now));
	if (now.state != before->state || now.id != before->id || now.begin != before->begin ||
	    now.next != before->next)
		return error_create(ERROR_FORMAT, "it was written to meanwhile");
	return NULL;
}

/*
 * `*ret_there` is false for a descriptor that is not in use, which is no loss. What was committed
 * but not finalized (a line that could have been continued) counts: the machine is dead.
 */
static struct error *read_record(struct ring *ring, uint64_t id, struct printk_record *ret,
				 bool *ret_there)
{
	uint64_t index = id & (ring->count - 1);
	struct descriptor descriptor;
	*ret_there = false;
	TRY(read_descriptor(ring, index, &descriptor));
	if (descriptor.state == STATE_RESERVED || descriptor.state == STATE_REUSABLE)
		return NULL;
	if (descriptor.id != id)
		return error_create(ERROR_FORMAT, "the descriptor is another record's");
	TRY(read_info(ring, index, ret));
	TRY(read_text(ring, &descriptor, ret));
	if (ring->is_live)
		TRY(check_unchanged(ring, index, &descriptor));
	*ret_there = true;
	return NULL;
}

/*
 * The same of a log that is written to meanwhile. Its oldest records make room for new ones: a
 * descriptor that holds another record by now has lost nothing but what is older than the log.
 */
static struct error *settle_record(struct ring *ring, uint64_t id, struct printk_record *ret,
				   bool *ret_there)
{
	struct error *error = read_record(ring, id, ret, ret_there);
	for (unsigned int attempt = 1; error && ring->is_live && attempt < LIVE_ATTEMPTS;
	     attempt++) {
		struct descriptor now;
		error_free(error);
		TRY(read_descriptor(ring, id & (ring->count - 1), &now));
		*ret_there = false;
		if (now.id != id)
			return NULL;
		error = read_record(ring, id, ret, ret_there);
	}
	return error;
}

/* Of the descriptors behind one that could not be read, those that begin in the same page. */
static uint64_t unreadable_behind(const struct ring *ring, uint64_t id, const struct error *error)
{
	uint64_t size = (uint64_t)ring->layout.desc_size, index = id & (ring->count - 1);
	uint64_t start = ring->descs + index * size;
	if (!error_is_missing(error) || !size || error->address < start ||
	    error->address - start >= size)
		return 0;
	uint64_t left = ((error->address | (PAGE - 1)) - start) / size;
	return left < ring->count - 1 - index ? left : ring->count - 1 - index;
}

/*
 * Records outside of what tail and head say is there. A record is made reusable before the tail
 * leaves it (kernel/printk/printk_ringbuffer.c: desc_push_tail()), so one of the two is damaged.
 */
static uint64_t count_left_out(const struct ring *ring, uint64_t count)
{
	uint64_t ret = 0;
	struct descriptor descriptor;
	for (uint64_t i = count; i < ring->count && !ring->is_live; i++) {
		struct error *error =
			read_descriptor(ring, (ring->tail_id + i) & (ring->count - 1), &descriptor);
		ret += !error &&
		       (descriptor.state == STATE_COMMITTED || descriptor.state == STATE_FINALIZED);
		bool is_over = error || interrupt_flag;
		error_free(error);
		if (is_over)
			break;
	}
	return ret;
}

struct error *printk_for_each(struct target *target, printk_visitor *visit, void *context,
			      uint64_t *ret_lost)
{
	struct ring ring = { 0 };
	TRY(ring_open(target, &ring));
	struct error *error = NULL;
	uint64_t lost = 0, steps = 0;
	uint64_t count = ((ring.head_id - ring.tail_id) & ring.id_mask) + 1;
	for (uint64_t i = 0; i < count && !error; i++) {
		struct printk_record record;
		bool there;
		struct error *bad =
			settle_record(&ring, (ring.tail_id + i) & ring.id_mask, &record, &there);
		if (bad) {
			uint64_t more = unreadable_behind(&ring, ring.tail_id + i, bad);
			more = more < count - 1 - i ? more : count - 1 - i;
			lost += 1 + more;
			i += more;
		} else if (there) {
			error = visit(context, &record);
		}
		error_free(bad);
		if (!error && !(steps++ & 1023))
			error = interrupt_check();
	}
	free(ring.text);
	*ret_lost = lost + count_left_out(&ring, count);
	return error;
}

static struct error *pass_record(void *context, const struct printk_record *record)
{
	(void)context;
	(void)record;
	return NULL;
}

struct error *printk_check(struct target *target)
{
	uint64_t lost = 0;
	TRY(printk_for_each(target, pass_record, NULL, &lost));
	return lost ? error_create(ERROR_FORMAT, "log: %" PRIu64 " records cannot be read", lost)
		    : NULL;
}

/* --- why it died --------------------------------------------------------------- */

struct panic_search {
	char *buffer;
	size_t size;
	int rank; /* of what is in the buffer, 0: nothing */
	uint32_t caller;
};

#define RANK_PANIC 3

/* How much a line says about the reason; a later one of equal rank wins. */
static int reason_rank(const char *line, size_t length)
{
	static const struct {
		const char *start;
		int rank;
	} reasons[] = {
		{ "Kernel panic - not syncing: ", RANK_PANIC },
		{ "BUG: ", 2 },
		{ "kernel BUG at ", 2 },
		{ "Unable to handle kernel ", 2 },
		{ "general protection fault", 2 },
		{ "Oops", 1 },
		{ "Internal error: ", 1 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(reasons); i++)
		if (length >= strlen(reasons[i].start) &&
		    !memcmp(line, reasons[i].start, strlen(reasons[i].start)))
			return reasons[i].rank;
	return 0;
}

bool printk_is_of_kernel(const struct printk_record *record)
{
	return !record->facility || record->facility == PRINTK_UNKNOWN;
}

void printk_first_line(const struct printk_record *record, char *ret, size_t size)
{
	const char *end = memchr(record->text, '\n', record->size);
	size_t length = end ? (size_t)(end - record->text) : record->size;
	length = length < size - 1 ? length : size - 1;
	memcpy(ret, record->text, length);
	ret[length] = 0;
}

static struct error *find_reason(void *context, const struct printk_record *record)
{
	struct panic_search *search = context;
	const char *end = record->text + record->size;
	if (!printk_is_of_kernel(record))
		return NULL;
	for (const char *line = record->text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((stop ? stop : end) - line);
		int rank = reason_rank(line, length);
		if (rank && rank >= search->rank) {
			search->rank = rank;
			search->caller = record->caller;
			snprintf(search->buffer, search->size, "%.*s", (int)length, line);
		}
		line += length + 1;
	}
	return NULL;
}

bool printk_panic_message(struct target *target, char *buffer, size_t size)
{
	struct panic_search search = { .buffer = buffer, .size = size };
	uint64_t lost;
	error_free(printk_for_each(target, find_reason, &search, &lost));
	return search.rank;
}

bool printk_panic_caller(struct target *target, uint32_t *ret)
{
	char line[1];
	struct panic_search search = { .buffer = line, .size = sizeof(line) };
	uint64_t lost;
	error_free(printk_for_each(target, find_reason, &search, &lost));
	*ret = search.caller;
	return search.rank == RANK_PANIC;
}
