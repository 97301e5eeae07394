// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Registers of the FPU, of SSE and AVX, as a thread's FXSAVE or XSAVE area has them; XSAVE's begins
 * with FXSAVE's. They are in memory while no CPU runs the thread. What XSAVE says to be in its
 * initial state it may not have written. AVX's part comes first behind the header, in the compacted
 * format, too (Intel's manual, volume 1, 13.4 and 13.6).
 */
#include "debugger/export/core_private.h"

#include "debugger/target/arch_x86_64.h"
#include <inttypes.h>

#define X87  1u
#define SSE  2u
#define AVX  4u
#define BITS (X87 | SSE | AVX)

/* struct user_fpregs_struct: x87's state, MXCSR, its mask, ST0 to ST7, XMM0 to XMM15, and more. */
#define MXCSR  24
#define ST     32
#define XMM    160
#define UNUSED 416
/* In a core: the parts that the area has, as XCR0 does (kernel xstate_fx_sw_bytes). */
#define ENABLED 464
/* Behind it, of XSAVE alone: which parts were not initial; which the compacted format has. */
#define FEATURES  512
#define COMPACTED 520
#define UPPER	  576 /* halves of YMM0 to YMM15 */

#define IS_COMPACTED (1ull << 63)

#define CONTROL_INITIAL 0x37f
#define MXCSR_INITIAL	0x1f80

/* Where a thread's area lies. */
struct area {
	uint64_t address; /* 0: nobody says */
	bool is_extended; /* XSAVE wrote it */
	bool has_avx;	  /* it has a place for AVX's part, unless it is compacted */
};

/*
 * By a pointer since 5.16 (87d0e5be0fac). While the thread runs a virtual machine, asleep or not,
 * it leads to the guest's registers, and another one to its own (fpu_swap_kvm_fpstate()).
 */
static struct error *find_pointed(const struct object *fpu, struct area *ret)
{
	struct object state = { .address = 0 }, area;
	uint64_t size, features;
	if (object_has(fpu, "__task_fpstate"))
		TRY(object_follow(fpu, "__task_fpstate", &state));
	if (!state.address)
		TRY(object_follow(fpu, "fpstate", &state));
	TRY(object_u64(&state, "size", &size));
	TRY(object_u64(&state, "xfeatures", &features));
	TRY(object_member(&state, "regs", &area));
	if (size < CORE_FPU_SIZE || size > UINT16_MAX)
		return NULL;
	ret->address = area.address;
	ret->is_extended = size > CORE_FPU_SIZE;
	ret->has_avx = size >= CORE_AVX_SIZE && features & AVX;
	return NULL;
}

static struct error *find_area(const struct object *task, struct area *ret)
{
	struct object fpu, area;
	struct symbol symbol;
	uint64_t whole, features, cursor = 0;
	*ret = (struct area){ .address = 0 };
	/* Behind the task_struct since 6.16 (cb7ca40a3882); in it before. */
	if (object_has(task, "thread.fpu")) {
		TRY(object_member(task, "thread.fpu", &fpu));
	} else {
		if (!type_size(task->type, &whole))
			return NULL;
		TRY(object_at(task->target, "struct fpu", task->address + whole, &fpu));
	}
	if (object_has(&fpu, "fpstate"))
		return find_pointed(&fpu, ret);
	TRY(object_member(&fpu, "state", &area));
	ret->address = area.address;
	ret->is_extended = true;
	/* A u64, as long as there was no fpstate. */
	if (target_find_symbol(task->target, NULL, "xfeatures_mask_all", &cursor, &symbol)) {
		TRY(memory_read_u64(task->target->memory, symbol.address, &features));
		ret->has_avx = features & AVX;
		ret->is_extended = features != 0; /* else the CPU has no XSAVE */
	}
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

/* The same of AVX's part; and what else a reader wants to know: no other part is here, and where
 * each lies. */
static void put_upper_halves(uint8_t area[CORE_AVX_SIZE], uint64_t features)
{
	memset(area + ENABLED, 0, CORE_FPU_SIZE - ENABLED);
	area[ENABLED] = BITS;
	memset(area + FEATURES, 0, UPPER - FEATURES);
	area[FEATURES] = features & BITS;
	if (!(features & AVX))
		memset(area + UPPER, 0, CORE_AVX_SIZE - UPPER);
}

static struct error *read_area(struct memory *memory, const struct area *area, struct core_fpu *ret)
{
	uint64_t features = BITS, compacted = 0;
	TRY(memory_read(memory, area->address, ret->area, CORE_FPU_SIZE));
	if (area->is_extended) {
		TRY(memory_read_u64(memory, area->address + FEATURES, &features));
		TRY(memory_read_u64(memory, area->address + COMPACTED, &compacted));
	}
	put_initial(ret->area, features);
	ret->size = CORE_FPU_SIZE;
	if (!area->has_avx || (compacted & IS_COMPACTED && !(compacted & AVX)))
		return NULL;
	TRY(memory_read(memory, area->address + UPPER, ret->area + UPPER, CORE_AVX_SIZE - UPPER));
	put_upper_halves(ret->area, features);
	ret->size = CORE_AVX_SIZE;
	return NULL;
}

struct error *core_read_fpu(const struct object *task, struct core_fpu *ret)
{
	struct area area;
	ret->size = 0;
	struct error *error = find_area(task, &area);
	if (!error && area.address)
		error = read_area(task->target->memory, &area, ret);
	return error_only_fatal(error);
}
