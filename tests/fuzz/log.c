// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's ring of messages, by the offsets of a 6.1 kernel. */
#include "tests/fuzz/targets.h"

#include "debugger/kernel/printk.h"
#include <stdio.h>
#include <string.h>

#define BASE 0xffffffff82000000u

/* The same places in every input, so that what was learnt of them stays right. */
static const char layout[] =
	"OSRELEASE=6.1\nSYMBOL(prb)=ffffffff82000000\n"
	"OFFSET(printk_ringbuffer.desc_ring)=0\nOFFSET(printk_ringbuffer.text_data_ring)=48\n"
	"OFFSET(printk_ringbuffer.fail)=80\nSIZE(printk_ringbuffer)=88\n"
	"OFFSET(prb_desc_ring.count_bits)=0\nOFFSET(prb_desc_ring.descs)=8\n"
	"OFFSET(prb_desc_ring.infos)=16\nOFFSET(prb_desc_ring.head_id)=24\n"
	"OFFSET(prb_desc_ring.tail_id)=32\nSIZE(prb_desc)=24\nOFFSET(prb_desc.state_var)=0\n"
	"OFFSET(prb_desc.text_blk_lpos)=8\nOFFSET(prb_data_blk_lpos.begin)=0\n"
	"OFFSET(prb_data_blk_lpos.next)=8\nSIZE(printk_info)=88\nOFFSET(printk_info.seq)=0\n"
	"OFFSET(printk_info.ts_nsec)=8\nOFFSET(printk_info.text_len)=16\n"
	"OFFSET(printk_info.caller_id)=20\nOFFSET(prb_data_ring.size_bits)=0\n"
	"OFFSET(prb_data_ring.data)=8\nOFFSET(atomic_long_t.counter)=0\n";

static struct error *visit(void *context, const struct printk_record *record)
{
	uint8_t *sum = context;
	for (size_t i = 0; i < record->size; i++)
		*sum ^= (uint8_t)record->text[i];
	return NULL;
}

/* Input: shape, then, when bit 2 of it says so, the length of a VMCOREINFO and that, then memory.
 */
void fuzz_printk(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct memory_array array;
	struct vmcoreinfo *info = NULL;
	uint64_t shape = fuzz_take(&input, 1), lost = 0;
	const char *text = layout;
	size_t length = strlen(layout);
	uint8_t sum = 0;
	if (shape & 4) {
		length = fuzz_take(&input, 2);
		length = length < input.size ? length : input.size;
		text = (const char *)input.data;
		input.data += length, input.size -= length;
	}
	struct error *error = vmcoreinfo_parse(text, length, &info);
	if (!error) {
		char message[128];
		memory_array_init(&array, BASE, input.data, input.size);
		array.memory.word_size = shape & 1 ? 4 : 8;
		array.memory.big_endian = shape & 2;
		struct target target = { .memory = &array.memory, .vmcoreinfo = info };
		error = printk_for_each(&target, visit, &sum, &lost);
		if (printk_panic_message(&target, message, sizeof(message)))
			EXPECT(memchr(message, 0, sizeof(message)));
	}
	vmcoreinfo_free(info);
	fuzz_done(error);
}
