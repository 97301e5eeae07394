// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/unwind/search.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/unwind/link.h"
#include "debugger/unwind/scan.h"
#include <string.h>

#define PIECE 512
/* Frames of one chain, and steps of all: real stacks need hundreds and some ten thousand. */
#define CHAIN_LIMIT 512
#define STEP_LIMIT  200000
/* Functions looked through for tail calls, and links that are remembered. */
#define LINK_BUDGET 100000
#define LINK_MEMORY 256
/* The outermost frame lies below the registers of user mode, or where these would be. */
#define OUTERMOST 512
/* What interrupts leave between a stack pointer and the registers saved below it. */
#define ALIGNMENT 128
/* With FRED, two words follow pt_regs. */
#define TOP_PADDING 16

struct search {
	const struct unwinder *unwinder;
	const struct cpu_context *context;
	uint64_t steps;
	uint32_t link_budget;
	struct known_link {
		uint64_t address, function;
		enum link link;
	} links[LINK_MEMORY]; /* most chains share their outer half */
};

struct chain {
	struct unwinder walker;
	const char *proof; /* of the innermost frame that is sure */
	struct search_frame sure;
	bool is_doubtful; /* a call before that frame can have led elsewhere */
};

/* --- what is sure -------------------------------------------------------------------------- */

/* Who calls these does not go on. The NMI of a kexec returns on one CPU: the one that sent it. */
static const char *never_returns(struct search *search, const char *name)
{
	static const char *const names[] = { "panic",	      "vpanic",
					     "stop_this_cpu", "nmi_panic_self_stop",
					     "machine_kexec", "panic_smp_self_stop" };
	uint32_t number;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return names[i];
	const struct cpu *cpu = search->unwinder->stacks.cpu;
	if (!strcmp(name, "crash_nmi_callback") && cpu &&
	    panic_cpu_find(search->unwinder->target, &number) && number != cpu->number)
		return "crash_nmi_callback";
	return NULL;
}

static void note_proof(struct chain *chain, const char *proof, const struct registers *registers,
		       bool pc_is_exact)
{
	if (chain->proof || !proof)
		return;
	chain->proof = proof;
	chain->sure = (struct search_frame){ *registers, pc_is_exact };
}

/* A function that never returns: its place is sure, and nothing else of its registers. */
static void note_function(struct search *search, struct chain *chain, const struct symbol *symbol)
{
	const struct arch *arch = search->unwinder->target->arch;
	const struct registers *now = &chain->walker.registers;
	struct registers registers = { .known = 0 };
	if (symbol->module)
		return;
	registers_set(&registers, arch->pc, now->values[arch->pc]);
	registers_set(&registers, arch->sp, now->values[arch->sp]);
	note_proof(chain, never_returns(search, symbol->name), &registers, false);
}

/* --- whether a step holds ------------------------------------------------------------------- */

static const struct stack_bounds *stack_of(struct unwinder *walker, const struct registers *at)
{
	return stacks_find(&walker->stacks, at->values[walker->target->arch->sp]);
}

/* Where the registers of user mode lie: at the very top of the task's stack. */
static bool is_at_top(struct unwinder *walker, uint64_t saved_end)
{
	const struct stack_bounds *bounds = stacks_find(&walker->stacks, saved_end - 1);
	return bounds && bounds->kind == STACK_TASK &&
	       (bounds->end == saved_end || bounds->end - TOP_PADDING == saved_end);
}

/* Registers that an exception saved. */
static bool exception_holds(struct unwinder *walker, const struct step *step)
{
	const struct arch *arch = walker->target->arch;
	if (arch->is_user_mode(&step->registers))
		return is_at_top(walker, step->saved_end);
	const struct stack_bounds *to = stack_of(walker, &step->registers);
	if (!to || !scan_is_text(walker->target, step->registers.values[arch->pc]))
		return false;
	/* On the same stack it goes on right behind them. */
	return to != stack_of(walker, &walker->registers) ||
	       step->registers.values[arch->sp] - step->saved_end < ALIGNMENT;
}

/* The outermost frame, which nothing need have called. */
static bool is_outermost(struct unwinder *walker)
{
	const struct stack_bounds *bounds = stack_of(walker, &walker->registers);
	uint64_t sp = walker->registers.values[walker->target->arch->sp];
	return bounds && bounds->kind == STACK_TASK && bounds->end - sp <= OUTERMOST;
}

static bool ends_here(struct unwinder *walker)
{
	struct orc_entry entry;
	bool found;
	uint64_t pc = walker->registers.values[walker->target->arch->pc];
	struct error *error =
		orc_find(walker->orc, walker->pc_is_exact ? pc : pc - 1, &entry, &found);
	error_free(error);
	return !error && found && entry.type == ORC_TYPE_END_OF_STACK && is_outermost(walker);
}

static void find_function(struct unwinder *walker, struct symbol *symbol)
{
	uint64_t offset, pc = walker->registers.values[walker->target->arch->pc];
	walker->has_function =
		target_symbol_at(walker->target, pc - !walker->pc_is_exact, symbol, &offset);
	walker->function = walker->has_function ? symbol->address : 0;
}

static enum link find_link(struct search *search, uint64_t address, uint64_t function)
{
	struct known_link *known = &search->links[(address ^ function >> 4) % LINK_MEMORY];
	if (known->address != address || known->function != function)
		*known = (struct known_link){ address, function,
					      link_check(search->unwinder->target, address,
							 function, &search->link_budget) };
	return known->link;
}

/* The frame that a step led to: did it call the one before? */
static bool call_holds(struct search *search, struct chain *chain, uint64_t called)
{
	struct unwinder *walker = &chain->walker;
	uint64_t pc = walker->registers.values[walker->target->arch->pc];
	if (walker->pc_is_exact || !called || ends_here(walker))
		return true;
	enum link link = find_link(search, pc, called);
	chain->is_doubtful |= link == LINK_DOUBTFUL && !chain->proof;
	return link != LINK_IMPOSSIBLE;
}

/* --- one chain ----------------------------------------------------------------------------------
 */

/* Takes one step; false: it does not hold. */
static bool advance(struct search *search, struct chain *chain, bool *ret_ended)
{
	struct unwinder *walker = &chain->walker;
	const struct arch *arch = walker->target->arch;
	struct step step;
	struct symbol symbol;
	*ret_ended = false;
	struct error *error = unwinder_step(walker, &step);
	error_free(error);
	if (error)
		return false;
	*ret_ended = step.is_end;
	if (step.is_end)
		return is_outermost(walker);
	uint64_t called = walker->has_function ? walker->function : 0;
	if (step.kind == FRAME_EXCEPTION && !exception_holds(walker, &step))
		return false;
	unwinder_take(walker, &step);
	*ret_ended = arch->is_user_mode(&walker->registers);
	if (*ret_ended)
		return step.kind == FRAME_EXCEPTION;
	find_function(walker, &symbol);
	if (!call_holds(search, chain, called))
		return false;
	if (step.kind == FRAME_EXCEPTION && search->context->interrupted &&
	    search->context->interrupted == step.saved_end - arch->pt_regs_size)
		note_proof(chain, "irq_regs", &walker->registers, true);
	if (walker->has_function && !walker->pc_is_exact)
		note_function(search, chain, &symbol);
	return true;
}

/* Whether the chain that begins at a return address holds up to its end. */
static bool chain_holds(struct search *search, uint64_t slot, uint64_t pc, struct chain *chain)
{
	const struct arch *arch = search->unwinder->target->arch;
	struct symbol symbol;
	bool ended = false;
	memset(chain, 0, sizeof(*chain));
	chain->walker = *search->unwinder;
	chain->walker.strict = true;
	chain->walker.trace = NULL;
	chain->walker.registers = (struct registers){ .known = 0 };
	registers_set(&chain->walker.registers, arch->pc, pc);
	registers_set(&chain->walker.registers, arch->sp, slot + 8);
	find_function(&chain->walker, &symbol);
	if (chain->walker.has_function)
		note_function(search, chain, &symbol);
	for (size_t i = 0; i < CHAIN_LIMIT && search->steps < STEP_LIMIT; i++) {
		search->steps++;
		if (!advance(search, chain, &ended))
			return false;
		if (ended)
			return true;
	}
	return false;
}

/* --- all of them -------------------------------------------------------------------------------
 */

static void take_result(const struct search *search, uint64_t slot, uint64_t pc,
			const struct chain *chain, struct search_result *ret)
{
	const struct arch *arch = search->unwinder->target->arch;
	*ret = (struct search_result){ .found = true, .sure = chain->sure };
	ret->proof = chain->is_doubtful ? NULL : chain->proof;
	registers_set(&ret->start.registers, arch->pc, pc);
	registers_set(&ret->start.registers, arch->sp, slot + 8);
}

/*
 * The deepest chain, or the deepest that has something sure. Of those, one that passes no doubtful
 * call on its way there: the sure frame itself begins such a one.
 */
static void try_word(struct search *search, uint64_t slot, uint64_t word, struct search_result *ret)
{
	struct target *target = search->unwinder->target;
	struct chain chain;
	if (!scan_is_text(target, word) || !scan_follows_call(target, word) ||
	    !chain_holds(search, slot, word, &chain))
		return;
	if (!ret->found || (chain.proof && !chain.is_doubtful))
		take_result(search, slot, word, &chain, ret);
}

static struct error *search_one(struct search *search, const struct stack_bounds *bounds,
				struct search_result *ret)
{
	struct memory *memory = search->unwinder->target->memory;
	uint8_t raw[PIECE];
	for (uint64_t at = bounds->start; at < bounds->end; at += PIECE) {
		struct error *error;
		size_t size = memory_read_some(memory, at, raw, PIECE, &error);
		error_free(error);
		TRY(interrupt_check());
		for (size_t i = 0; i + 8 <= size && !ret->proof; i += 8)
			try_word(search, at + i, load_u64(raw + i, memory->big_endian), ret);
	}
	return NULL;
}

static bool may_be_on(const struct cpu_context *context, enum stack_kind kind)
{
	return kind == STACK_TASK || (kind == STACK_IRQ && context->may_be_irq) ||
	       (kind == STACK_EXCEPTION && context->may_be_nmi);
}

struct error *search_stacks(const struct unwinder *unwinder, const struct cpu_context *context,
			    struct search_result *ret)
{
	static const enum stack_kind order[] = { STACK_EXCEPTION, STACK_IRQ, STACK_TASK };
	struct search search = { .unwinder = unwinder,
				 .context = context,
				 .link_budget = LINK_BUDGET };
	const struct stacks *stacks = &unwinder->stacks;
	*ret = (struct search_result){ .found = false };
	if (!unwinder->orc)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(order) && !ret->proof; i++)
		for (size_t j = 0; j < stacks->count && !ret->proof; j++)
			if (stacks->bounds[j].kind == order[i] && may_be_on(context, order[i]))
				TRY(search_one(&search, &stacks->bounds[j], ret));
	return NULL;
}
