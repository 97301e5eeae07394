// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Registers of the FPU and of SSE, as a thread's FXSAVE area has them, which XSAVE's begins with.
 * They are in memory while no CPU runs the thread. What XSAVE says to be in its initial state it
 * may not have written (Intel's manual, volume 1, 13.6).
 */
#include "debugger/export/core_private.h"

#include "debugger/target/arch_x86_64.h"
#include <inttypes.h>

#define X87  1u
#define SSE  2u
#define AVX  4u
#define BITS (X87 | SSE | AVX)

/* struct user_fpregs_struct: x87's state, MXCSR, its mask, ST0 to ST7, XMM0 to XMM15, and more. */
#define MXCSR	 24
#define ST	 32
#define XMM	 160
#define UNUSED	 416
#define FEATURES 512 /* behind it, of XSAVE alone: which parts were not initial */

#define CONTROL_INITIAL 0x37f
#define MXCSR_INITIAL	0x1f80

/* Where the area lies, and whether XSAVE wrote it; *ret 0: nobody says. */
static struct error *find_area(const struct object *task, uint64_t *ret, bool *ret_extended)
{
	struct object fpu, state, area;
	uint64_t size, whole;
	*ret = 0;
	/* Behind the task_struct since 6.16 (cb7ca40a3882); in it before. */
	if (object_has(task, "thread.fpu")) {
		TRY(object_member(task, "thread.fpu", &fpu));
	} else {
		if (!type_size(task->type, &whole))
			return NULL;
		TRY(object_at(task->target, "struct fpu", task->address + whole, &fpu));
	}
	/* By a pointer since 5.16 (87d0e5be0fac). */
	if (!object_has(&fpu, "fpstate")) {
		TRY(object_member(&fpu, "state", &area));
		*ret = area.address;
		*ret_extended = true;
		return NULL;
	}
	TRY(object_follow(&fpu, "fpstate", &state));
	TRY(object_u64(&state, "size", &size));
	TRY(object_member(&state, "regs", &area));
	if (size < CORE_FPU_SIZE || size > UINT16_MAX)
		return NULL;
	*ret = area.address;
	*ret_extended = size > CORE_FPU_SIZE;
	return NULL;
}

static void put(uint8_t *area, size_t at, uint32_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		area[at + i] = (uint8_t)(value >> 8 * i);
}

/* Parts that were not written are as they are at first. */
static void put_initial(uint8_t area[CORE_FPU_SIZE], uint64_t features)
{
	if (!(features & X87)) {
		memset(area, 0, MXCSR);
		memset(area + ST, 0, XMM - ST);
		put(area, 0, CONTROL_INITIAL, 2);
	}
	if (!(features & SSE))
		memset(area + XMM, 0, UNUSED - XMM);
	if (!(features & (SSE | AVX)))
		put(area, MXCSR, MXCSR_INITIAL, 4);
	memset(area + UNUSED, 0, CORE_FPU_SIZE - UNUSED);
}

struct error *core_read_fpu(const struct object *task, uint8_t area[CORE_FPU_SIZE], bool *ret)
{
	uint64_t address, features = BITS;
	bool is_extended = false;
	struct memory *memory = task->target->memory;
	*ret = false;
	struct error *error = find_area(task, &address, &is_extended);
	if (!error && address)
		error = memory_read(memory, address, area, CORE_FPU_SIZE);
	if (!error && address && is_extended)
		error = memory_read_u64(memory, address + FEATURES, &features);
	if (error || !address)
		return error_only_fatal(error);
	put_initial(area, features);
	*ret = true;
	return NULL;
}
