// SPDX-License-Identifier: GPL-3.0-or-later
/* Unwind tables, and machine code with the analysis of what its registers hold. */
#include "tests/fuzz/targets.h"

#include "debugger/arguments/symbolic.h"
#include "debugger/code/lower.h"
#include "debugger/unwind/orc.h"
#include <string.h>

#define BASE 0xffffffff82000000u

/* Input: where and how many, then memory. */
void fuzz_orc(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct memory_array array;
	uint64_t ips = fuzz_take(&input, 2), entries = fuzz_take(&input, 2);
	uint32_t count = (uint32_t)fuzz_take(&input, 4);
	uint64_t pc = BASE + (uint64_t)(int32_t)fuzz_take(&input, 4);
	memory_array_init(&array, BASE, input.data, input.size);
	struct orc_table table = { &array.memory, BASE + ips, BASE + entries, count };
	enum orc_version version = ORC_UNKNOWN;
	fuzz_done(orc_guess_version(&table, &version));
	for (uint32_t last = count; last; last /= 3) {
		uint8_t raw[ORC_ENTRY_SIZE];
		bool found = false;
		struct error *error = orc_table_find(&table, 0, last - 1, pc, raw, &found);
		for (int which = ORC_UNKNOWN; !error && found && which <= ORC_V4; which++) {
			struct orc_entry entry;
			orc_decode((enum orc_version)which, raw, &entry);
			EXPECT(entry.sp_base <= ORC_BASE_INVALID && entry.type <= ORC_TYPE_INVALID);
		}
		fuzz_done(error);
	}
}

static bool is_register(uint8_t number, unsigned int limit)
{
	return number < limit || number == LOWER_NONE;
}

void fuzz_lower(const uint8_t *data, size_t size)
{
	struct decoder *decoder = lowering_x86_64.create();
	struct ops ops = { 0 };
	struct code code = { data, size, BASE };
	lowering_x86_64.lower(decoder, &code, &ops);
	for (size_t i = 0; i < ops.count; i++) {
		const struct op *op = &ops.items[i];
		EXPECT(op->kind <= OP_STOP && op->at < size);
		EXPECT(is_register(op->to, LOWER_SOMEWHERE) &&
		       is_register(op->from, LOWER_SOMEWHERE));
		EXPECT(is_register(op->base, LOWER_REGISTERS) &&
		       is_register(op->index, LOWER_REGISTERS));
	}
	free(ops.items);
	lowering_x86_64.destroy(decoder);
}

/* Every seventh address outside is a helper of the kernel. */
static enum helper helper_at(void *context, uint64_t address, uint8_t *ret_register)
{
	(void)context;
	*ret_register = (uint8_t)(address % 16);
	return address % 7 ? HELPER_NONE : (enum helper)(address / 7 % 4);
}

/* Input: place, whether it is exact, code. */
void fuzz_symbolic(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	uint64_t offset = fuzz_take(&input, 2);
	bool exact = fuzz_take(&input, 1) & 1;
	struct symbolic_world world = { .lowering = &lowering_x86_64,
					.helper = helper_at,
					.current_task = { 0x1000 } };
	struct code code = { input.data, input.size, BASE };
	struct symbolic_place place;
	struct error *error = symbolic_run(&world, &code, offset, exact, &place);
	if (!error)
		EXPECT(place.state.slot_count <= SYMBOLIC_SLOTS);
	fuzz_done(error);
}
