// SPDX-License-Identifier: GPL-3.0-or-later
/* The log's ring: wrapped, full to the brim, in every state, and damaged. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/kernel/printk.h"

#define BASE	    0xc0800000u
#define RECORDS_MAX 64

enum state { RESERVED, COMMITTED, FINALIZED, REUSABLE };

/* Where this "kernel" keeps things: not where any real one does. */
enum {
	DESC_RING = 48,
	TEXT_RING = 8,
	COUNT_BITS = 4,
	DESCS = 8,
	INFOS = 24,
	HEAD_ID = 40,
	TAIL_ID = 56,
	DESC_SIZE = 40,
	STATE = 8,
	POSITION = 16,
	BEGIN = 8,
	NEXT = 0,
	INFO_SIZE = 64,
	SEQ = 16,
	TIME = 8,
	TEXT_LENGTH = 32,
	CALLER = 36,
	SIZE_BITS = 0,
	DATA = 16,
	COUNTER = 0,
	RING = 16, /* of the memory: first the pointer prb, then the ring, then the rest */
	REST = 256
};

struct written {
	uint64_t id, begin, next;
	enum state state;
	char text[64];
	size_t size;
};

struct ring_image {
	unsigned int word;
	bool big_endian;
	unsigned int count_bits, size_bits;
	uint64_t first_id, position; /* of the next block */
	size_t count;
	uint32_t facility;
	struct written written[RECORDS_MAX];
	uint8_t data[16384];
	size_t size;
	uint64_t descs, infos, text; /* offsets in data */
	struct memory_array memory;
};

static void put(struct ring_image *ring, uint64_t offset, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ring->data[offset + (ring->big_endian ? size - 1 - i : i)] =
			(uint8_t)(value >> i * 8);
}

static void ring_init(struct ring_image *ring, unsigned int word, bool big_endian,
		      unsigned int count_bits, unsigned int size_bits)
{
	*ring = (struct ring_image){ .word = word,
				     .big_endian = big_endian,
				     .count_bits = count_bits,
				     .size_bits = size_bits };
	ring->descs = REST;
	ring->infos = ring->descs + (DESC_SIZE << count_bits);
	ring->text = ring->infos + (INFO_SIZE << count_bits);
	ring->size = ring->text + ((size_t)1 << size_bits);
	/* As the kernel: ids begin just before they wrap. */
	uint64_t mask = (word == 4 ? UINT32_MAX : UINT64_MAX) >> 2;
	ring->first_id = (0 - (((uint64_t)1 << count_bits) + 1)) & mask;
	ring->position = ((uint64_t)0 - ((uint64_t)1 << size_bits)) &
			 (word == 4 ? UINT32_MAX : UINT64_MAX);
	put(ring, 0, BASE + RING, word);
	put(ring, RING + DESC_RING + COUNT_BITS, count_bits, 4);
	put(ring, RING + DESC_RING + DESCS, BASE + ring->descs, word);
	put(ring, RING + DESC_RING + INFOS, BASE + ring->infos, word);
	put(ring, RING + TEXT_RING + SIZE_BITS, size_bits, 4);
	put(ring, RING + TEXT_RING + DATA, BASE + ring->text, word);
	memory_array_init(&ring->memory, BASE, ring->data, ring->size);
	ring->memory.memory.word_size = (uint8_t)word;
	ring->memory.memory.big_endian = big_endian;
	ring->facility = 3;
}

static void put_descriptor(struct ring_image *ring, const struct written *record)
{
	uint64_t index = record->id & (((uint64_t)1 << ring->count_bits) - 1);
	uint64_t at = ring->descs + index * DESC_SIZE;
	put(ring, at + STATE, record->id | (uint64_t)record->state << (ring->word * 8 - 2),
	    ring->word);
	put(ring, at + POSITION + BEGIN, record->begin, ring->word);
	put(ring, at + POSITION + NEXT, record->next, ring->word);
	at = ring->infos + index * INFO_SIZE;
	put(ring, at + SEQ, (uint64_t)(record - ring->written), 8);
	put(ring, at + TIME, (uint64_t)(record - ring->written) * 1000000000, 8);
	put(ring, at + TEXT_LENGTH, record->size, 2);
	put(ring, at + TEXT_LENGTH + 2, ring->facility, 1);
	/* Bit-fields: flags:5, then level:3, from the low bits or from the high ones. */
	put(ring, at + TEXT_LENGTH + 3, ring->big_endian ? 0x08 | 6 : 6 << 5 | 1, 1);
	put(ring, at + CALLER, 77, 4);
}

/* Takes `size` bytes of the text ring as the kernel does, for text and id. */
static void allocate(struct ring_image *ring, struct written *record, size_t size)
{
	uint64_t lap = (uint64_t)1 << ring->size_bits;
	uint64_t mask = ring->word == 4 ? UINT32_MAX : UINT64_MAX;
	size = (size + ring->word * 2 - 1) & ~((size_t)ring->word - 1);
	record->begin = ring->position;
	uint64_t start = record->begin;
	record->next = (start + size) & mask;
	if (start / lap != ((record->next - 1) & mask) / lap) {
		start = ((start / lap + 1) * lap) & mask;
		record->next = (start + size) & mask;
	}
	ring->position = record->next;
	uint64_t at = ring->text + start % lap;
	put(ring, at, record->id, ring->word);
	memcpy(ring->data + at + ring->word, record->text, record->size);
}

/* Records whose text is about to be written over are given up first. */
static void reuse_overwritten(struct ring_image *ring)
{
	size_t kept = (size_t)1 << ring->count_bits;
	uint64_t mask = ring->word == 4 ? UINT32_MAX : UINT64_MAX;
	for (size_t i = ring->count > kept ? ring->count - kept : 0; i < ring->count; i++) {
		struct written *record = &ring->written[i];
		if (record->size &&
		    ((ring->position - record->begin) & mask) > (uint64_t)1 << ring->size_bits) {
			record->state = REUSABLE;
			put_descriptor(ring, record);
		}
	}
}

static struct written *add(struct ring_image *ring, enum state state, const char *text)
{
	struct written *record = &ring->written[ring->count];
	uint64_t mask = (ring->word == 4 ? UINT32_MAX : UINT64_MAX) >> 2;
	*record = (struct written){ .id = (ring->first_id + ring->count) & mask, .state = state };
	ring->count++;
	snprintf(record->text, sizeof(record->text), "%s", text);
	record->size = strlen(record->text);
	if (record->size)
		allocate(ring, record, record->size);
	else
		record->begin = record->next = 3;
	put_descriptor(ring, record);
	reuse_overwritten(ring);
	put(ring, RING + DESC_RING + HEAD_ID + COUNTER, record->id, ring->word);
	size_t kept = (size_t)1 << ring->count_bits;
	put(ring, RING + DESC_RING + TAIL_ID + COUNTER,
	    ring->written[ring->count > kept ? ring->count - kept : 0].id, ring->word);
	return record;
}

static struct vmcoreinfo *new_vmcoreinfo(void)
{
	char text[2048];
	int length = snprintf(
		text, sizeof(text),
		"OSRELEASE=test\nSYMBOL(prb)=%llx\n"
		"OFFSET(printk_ringbuffer.desc_ring)=%d\n"
		"OFFSET(printk_ringbuffer.text_data_ring)=%d\nOFFSET(prb_desc_ring.count_bits)=%d\n"
		"OFFSET(prb_desc_ring.descs)=%d\nOFFSET(prb_desc_ring.infos)=%d\n"
		"OFFSET(prb_desc_ring.head_id)=%d\nOFFSET(prb_desc_ring.tail_id)=%d\n"
		"SIZE(prb_desc)=%d\nOFFSET(prb_desc.state_var)=%d\n"
		"OFFSET(prb_desc.text_blk_lpos)=%d\nOFFSET(prb_data_blk_lpos.begin)=%d\n"
		"OFFSET(prb_data_blk_lpos.next)=%d\nSIZE(printk_info)=%d\n"
		"OFFSET(printk_info.seq)=%d\nOFFSET(printk_info.ts_nsec)=%d\n"
		"OFFSET(printk_info.text_len)=%d\nOFFSET(printk_info.caller_id)=%d\n"
		"OFFSET(prb_data_ring.size_bits)=%d\nOFFSET(prb_data_ring.data)=%d\n"
		"OFFSET(atomic_long_t.counter)=%d\n",
		(unsigned long long)BASE, DESC_RING, TEXT_RING, COUNT_BITS, DESCS, INFOS, HEAD_ID,
		TAIL_ID, DESC_SIZE, STATE, POSITION, BEGIN, NEXT, INFO_SIZE, SEQ, TIME, TEXT_LENGTH,
		CALLER, SIZE_BITS, DATA, COUNTER);
	struct vmcoreinfo *info = NULL;
	CHECK_OK(vmcoreinfo_parse(text, (size_t)length, &info));
	return info;
}

struct seen {
	size_t count;
	uint64_t seqs[RECORDS_MAX + 64];
	char texts[RECORDS_MAX + 64][64];
	bool all_fields; /* level, facility, caller, time are as written */
};

static struct error *remember(void *context, const struct printk_record *record)
{
	struct seen *seen = context;
	if (seen->count == ARRAY_COUNT(seen->seqs))
		return error_create(ERROR_OTHER, "too many records");
	seen->seqs[seen->count] = record->seq;
	snprintf(seen->texts[seen->count++], 64, "%.*s",
		 (int)(record->size < 63 ? record->size : 63), record->text);
	seen->all_fields &= record->level == 6 && record->facility == 3 && record->caller == 77 &&
			    record->time == record->seq * 1000000000;
	return NULL;
}

static struct error *read_ring(struct ring_image *ring, struct seen *seen, uint64_t *ret_lost)
{
	struct vmcoreinfo *info = new_vmcoreinfo();
	struct target target = { .memory = &ring->memory.memory, .vmcoreinfo = info };
	*seen = (struct seen){ .all_fields = true };
	struct error *error = printk_for_each(&target, remember, seen, ret_lost);
	vmcoreinfo_free(info);
	return error;
}

/* What is still in the ring comes out in order, and what was given up is no loss. */
static void check_ring(struct ring_image *ring)
{
	struct seen seen;
	uint64_t lost = 0;
	CHECK_OK(read_ring(ring, &seen, &lost));
	CHECK(seen.all_fields);
	size_t kept = (size_t)1 << ring->count_bits;
	size_t at = 0;
	for (size_t i = ring->count > kept ? ring->count - kept : 0; i < ring->count; i++) {
		const struct written *record = &ring->written[i];
		if (record->state == RESERVED || record->state == REUSABLE)
			continue;
		CHECK(at < seen.count);
		CHECK_U64(seen.seqs[at], i);
		CHECK_STRING(seen.texts[at], record->text);
		at++;
	}
	CHECK_U64(seen.count, at);
	CHECK_U64(lost, 0);
}

static void test_all_machines(void)
{
	for (int variant = 0; variant < 8; variant++) {
		struct ring_image ring;
		ring_init(&ring, variant & 4 ? 4 : 8, variant & 1, 4, 9);
		add(&ring, FINALIZED, "Linux version 6.1");
		add(&ring, FINALIZED, "");
		add(&ring, FINALIZED, "two\nlines");
		add(&ring, COMMITTED, "could be continued");
		if (variant & 2)
			add(&ring, RESERVED, "being written");
		check_ring(&ring);
	}
}

static void test_empty(void)
{
	struct ring_image ring;
	ring_init(&ring, 8, false, 3, 8);
	/* As before the first message: one descriptor, not in use. */
	struct written *none = add(&ring, REUSABLE, "");
	none->begin = none->next = 1;
	put_descriptor(&ring, none);
	check_ring(&ring);
}

static void test_wrapped(void)
{
	for (size_t count = 1; count < RECORDS_MAX; count++) {
		struct ring_image ring;
		ring_init(&ring, 8, count & 1, 3, 8);
		for (size_t i = 0; i < count; i++) {
			char text[64];
			snprintf(text, sizeof(text), "record %zu %.*s", i, (int)(i * 7 % 30),
				 "abcdefghijklmnopqrstuvwxyzabcdefgh");
			add(&ring, FINALIZED, i % 11 ? text : "");
		}
		check_ring(&ring);
	}
}

/* Blocks that end with the ring, and one that has all of it. */
static void test_exactly_full(void)
{
	struct ring_image ring;
	ring_init(&ring, 8, false, 3, 6);
	add(&ring, FINALIZED, "24 bytes with id");
	add(&ring, FINALIZED, "and 40 more, up to the very end.");
	CHECK_U64(ring.position % 64, 0);
	check_ring(&ring);
	add(&ring, FINALIZED, "56 bytes take all of the sixty-four that the ring has...");
	CHECK_U64(ring.position % 64, 0);
	check_ring(&ring);
}

static void test_lost(void)
{
	struct ring_image ring;
	ring_init(&ring, 8, false, 3, 8);
	add(&ring, FINALIZED, "one");
	struct written *record = add(&ring, FINALIZED, "two");
	add(&ring, FINALIZED, "three");
	struct seen seen;
	uint64_t lost;
	/* Its text did not fit. */
	struct written changed = *record;
	record->begin = record->next = 1;
	put_descriptor(&ring, record);
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(seen.count, 2);
	CHECK_U64(lost, 1);
	/* Impossible places. */
	*record = changed;
	record->next = record->begin + 0x10000;
	put_descriptor(&ring, record);
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(lost, 1);
	record->next = record->begin;
	put_descriptor(&ring, record);
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(lost, 1);
	/* Another's text. */
	*record = changed;
	record->begin = ring.written[0].begin;
	record->next = ring.written[0].next;
	put_descriptor(&ring, record);
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(lost, 1);
	CHECK_STRING(seen.texts[1], "three");
	/* A descriptor of another lap. */
	*record = changed;
	record->begin = record->next = 3;
	put_descriptor(&ring, record);
	put(&ring, ring.descs + (record->id & 7) * DESC_SIZE + STATE,
	    (record->id - 8) | (uint64_t)FINALIZED << 62, 8);
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(lost, 1);
	CHECK_U64(seen.count, 2);
}

static uint64_t reads;

/* Memory ends where the array does. */
static struct error *count_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	const struct memory_array *array = (const struct memory_array *)memory;
	reads++;
	if (address < BASE || address - BASE >= array->size ||
	    size > array->size - (address - BASE))
		return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
	memcpy(buffer, array->data + (address - BASE), size);
	return NULL;
}

/* Of millions of descriptors that a ring claims and that are not there, a few a page are asked. */
static void test_absent_descriptors(void)
{
	struct ring_image ring;
	struct seen seen;
	uint64_t lost, claimed = (uint64_t)1 << 24;
	ring_init(&ring, 8, false, 3, 8);
	add(&ring, FINALIZED, "one");
	put(&ring, RING + DESC_RING + COUNT_BITS, 24, 4);
	put(&ring, RING + DESC_RING + TAIL_ID, ring.written[0].id & ~(claimed - 1), 8);
	put(&ring, RING + DESC_RING + HEAD_ID, ring.written[0].id | (claimed - 1), 8);
	put(&ring, RING + DESC_RING + DESCS, 0, 8);
	ring.memory.memory.read = count_read;
	reads = 0;
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(seen.count, 0);
	CHECK_U64(lost, claimed);
	CHECK(reads < 2 * claimed * DESC_SIZE / 4096);
}

static void test_text_is_cut(void)
{
	struct ring_image ring;
	ring_init(&ring, 8, false, 3, 8);
	struct written *record = add(&ring, FINALIZED, "12345678");
	record->size = 5000; /* of text, says the info; the block has 8 bytes */
	put_descriptor(&ring, record);
	struct seen seen;
	uint64_t lost;
	CHECK_OK(read_ring(&ring, &seen, &lost));
	CHECK_U64(seen.count, 1);
	CHECK_STRING(seen.texts[0], "12345678");
}

static void test_panic_message(void)
{
	struct vmcoreinfo *info = new_vmcoreinfo();
	static const struct {
		const char *lines[4];
		const char *found;
		uint32_t facility;
	} logs[] = {
		{ { "hello", "world" }, NULL, 0 },
		{ { "Oops: 0002 [#1]", "x" }, "Oops: 0002 [#1]", 0 },
		{ { "BUG: a", "Oops: b", "c" }, "BUG: a", 0 },
		{ { "BUG: a", "BUG: b" }, "BUG: b", 0 },
		{ { "Kernel panic - not syncing: x", "BUG: y",
		    "---[ end Kernel panic - not syncing: x ]---", 0 },
		  "Kernel panic - not syncing: x",
		  0 },
		{ { "first\nKernel panic - not syncing: z\nlast", 0 },
		  "Kernel panic - not syncing: z",
		  0 },
		/* What a process wrote to /dev/kmsg. */
		{ { "Kernel panic - not syncing: x" }, NULL, 1 },
	};
	for (size_t i = 0; i < ARRAY_COUNT(logs); i++) {
		struct ring_image ring;
		ring_init(&ring, 8, false, 3, 9);
		ring.facility = logs[i].facility;
		for (size_t line = 0; line < 4 && logs[i].lines[line]; line++)
			add(&ring, FINALIZED, logs[i].lines[line]);
		struct target target = { .memory = &ring.memory.memory, .vmcoreinfo = info };
		char text[64] = "";
		bool found = printk_panic_message(&target, text, sizeof(text));
		CHECK(found == (logs[i].found != NULL));
		uint32_t caller = 0;
		bool is_panic = found && !strncmp(text, "Kernel panic", 12);
		CHECK(printk_panic_caller(&target, &caller) == is_panic);
		CHECK(!is_panic || caller == 77);
		if (found && logs[i].found)
			CHECK_STRING(text, logs[i].found);
	}
	vmcoreinfo_free(info);
}

static void test_missing_keys(void)
{
	struct ring_image ring;
	ring_init(&ring, 8, false, 3, 8);
	struct vmcoreinfo *info = NULL;
	CHECK_OK(vmcoreinfo_parse("OSRELEASE=x\nSYMBOL(prb)=0\n", 26, &info));
	struct target target = { .memory = &ring.memory.memory, .vmcoreinfo = info };
	struct seen seen = { 0 };
	uint64_t lost;
	CHECK_FAILS(printk_for_each(&target, remember, &seen, &lost), "VMCOREINFO has no");
	target.vmcoreinfo = NULL;
	CHECK_FAILS(printk_for_each(&target, remember, &seen, &lost), "no VMCOREINFO");
	vmcoreinfo_free(info);
}

static void test_every_byte_mutated(void)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	struct ring_image ring;
	ring_init(&ring, 8, false, 2, 7);
	for (int i = 0; i < 6; i++)
		add(&ring, FINALIZED, "some text to read");
	size_t complete = 0;
	for (size_t i = 0; i < ring.size; i++)
		for (size_t m = 0; m < ARRAY_COUNT(masks); m++) {
			struct seen seen;
			uint64_t lost;
			ring.data[i] ^= masks[m];
			struct error *error = read_ring(&ring, &seen, &lost);
			complete += !error && seen.count == 4;
			error_free(error);
			ring.data[i] ^= masks[m];
		}
	CHECK(complete > 0);
	for (size_t size = 0; size < ring.size; size++) {
		struct seen seen;
		uint64_t lost;
		ring.memory.size = size;
		error_free(read_ring(&ring, &seen, &lost));
	}
}

int main(void)
{
	RUN(test_all_machines);
	RUN(test_empty);
	RUN(test_wrapped);
	RUN(test_exactly_full);
	RUN(test_lost);
	RUN(test_absent_descriptors);
	RUN(test_text_is_cut);
	RUN(test_panic_message);
	RUN(test_missing_keys);
	RUN(test_every_byte_mutated);
	return test_finish();
}
