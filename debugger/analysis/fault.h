/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the detector of faults: what it knows of one, and how it says that. */
#ifndef DEBUGGER_ANALYSIS_FAULT_H
#define DEBUGGER_ANALYSIS_FAULT_H

#include "debugger/analysis/access.h"
#include "debugger/analysis/analysis.h"
#include "debugger/analysis/bad_address.h"
#include "debugger/analysis/object_note.h"
#include "debugger/analysis/pointer_source.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/disassembly/decode.h"

#define FAULT_TEXT 640
/* Of what page_fault_oops() is told (kernel arch/x86/include/asm/trap_pf.h). */
#define FAULT_PROTECTION 1u /* there is a page, which must not be used so */
#define FAULT_WRITE	 2u
#define FAULT_RESERVED	 8u /* an entry of the page table has bits that must be 0 */
#define FAULT_FETCH	 16u

enum fault_place_kind {
	PLACE_NOTHING, /* nothing is known of it */
	PLACE_READ_ONLY,
	PLACE_NO_CODE,
	PLACE_GUARD, /* the page behind an area of vmalloc */
	PLACE_UNMAPPED
};

/* What lies at an address that is none of struct bad_address's. */
struct fault_place {
	enum fault_place_kind kind;
	uint64_t address;
	char text[3 * FAULT_TEXT]; /* "lab_null_ops+0x10 [faults]"; "": not known */
	/* It lies where modules do: the last one that was removed; "": none, or elsewhere. */
	char removed[64];
};

struct fault {
	struct analysis *analysis;
	size_t entry;		   /* frame of the stub that the exception entered */
	size_t at;		   /* frame that it came upon */
	const struct frame *frame; /* that one */
	bool is_page_fault;
	bool has_error_code, has_address; /* as the handler was told */
	size_t midway; /* bytes from the start of the instruction that the pc lies within; 0: one
			* begins there, or it is not known */
	uint64_t error_code, address;
	struct accesses accesses;
	const struct access *access; /* that failed; NULL: not known */
	struct bad_address bad;	     /* of the access, or of the pc */
	struct fault_place place;    /* of the same address */
	struct function_members members;
	/* What was followed: the register that the access starts from, or where it jumped to. */
	const char *pointer_name;
	uint64_t pointer;
	struct pointer_source source; /* of that */
	/* The struct that it is said to be a member of cannot lie there: whoever handed that
	 * address on had no such struct. */
	bool is_misplaced;
	bool is_by_cache; /* that struct: it is what the name of the slab cache says, and no code */
	/* Where that was read from, and the slab's object there; 0: not known. */
	uint64_t object_place;
	struct object_note object;
	char owner[64]; /* the module whose that is, or who wrote over it, if no function is to
			 * blame; "": not known */
};

/* The access is where the processor said that the fault was. */
bool fault_is_explained(const struct fault *fault, const struct access *access);

bool fault_is_readable(const struct fault *fault, uint64_t address);

/* Nothing was added to what a function returned or memory had: an error number was no other one. */
bool fault_is_error_known(const struct fault *fault);

/* What looks like NULL and something added may have been read from memory as it is. */
bool fault_may_be_number(const struct fault *fault);

/* The access is a write, by what the processor said or by the instruction. */
bool fault_writes(const struct fault *fault);

/* Fills in fault->place. Errors are fatal ones. After fault->bad. */
struct error *fault_find_place(struct fault *fault, uint64_t address) MUST_CHECK;
/* Whether the slab allocator says so of where the pointer was read. After fault->source. */
bool fault_is_misplaced(const struct fault *fault);
struct error *fault_show_place(const struct fault *fault, struct finding *finding) MUST_CHECK;

/* The instruction that faulted, disassembled (fault_code.c); what cannot be read is an error. */
struct error *fault_read_instruction(const struct fault *fault, struct instruction *ret) MUST_CHECK;

/* The code around it (fault_code.c). Errors are fatal ones. */

/* Fills in fault->midway, where the function's code can be read from its start. */
struct error *fault_find_midway(struct fault *fault) MUST_CHECK;
/* Chooses the access that is not aligned as its instruction wants, and fills in fault->bad. */
struct error *fault_find_misaligned(struct fault *fault) MUST_CHECK;

/* Where no code is, or none that the kernel may run (fault_jump.c). */

/* It came of a jump to such a place, and not of an instruction. */
bool fault_is_jump(const struct fault *fault) MUST_CHECK;
/* The finding: who jumped there, or whose timer, work item, callback it was. */
struct error *fault_say_jump(struct fault *fault) MUST_CHECK;

/* Words (fault_words.c). */

/* "lab_read() [faults]". */
void fault_spell_function(const struct frame *frame, char *buffer, size_t size);
/* The function that returned the bad pointer. */
void fault_spell_callee(const struct fault *fault, char *buffer, size_t size);
/* ": ops of the struct lab_device at 0x... was NULL", where code says where the pointer was; else
 * "". */
void fault_spell_source(const struct fault *fault, const char *pointer, char *buffer, size_t size);
/* `words`: the exception. */
struct error *fault_summarize(const struct fault *fault, const char *words,
			      struct finding *finding) MUST_CHECK;

/* Evidence (fault_evidence.c). */

/* As facts: the instruction, the access, and what the pointer was read from, as far as known. */
struct error *fault_note(const struct fault *fault, struct finding *finding) MUST_CHECK;
/* The instruction, the access, where the pointer came from. After fault_note(). */
struct error *fault_show(struct fault *fault, struct finding *finding) MUST_CHECK;
/* Where the pointer came from alone. */
struct error *fault_show_source(struct fault *fault, struct finding *finding) MUST_CHECK;
/* `*ret`: it is the slab allocator's free list, and no caller is to blame. Then all is said. */
struct error *fault_show_allocator(struct fault *fault, struct finding *finding,
				   bool *ret) MUST_CHECK;
/* " of the workqueue lab", where a frame runs a work item of one; else "". */
void fault_put_queue(const struct fault *fault, const struct circumstance *circumstance,
		     char *buffer, size_t size);
/* Whose fault it is, the first function that is not called from everywhere, and in what it ran. */
struct error *fault_show_blame(struct fault *fault, struct finding *finding) MUST_CHECK;
/* Whose the memory is that the bad pointer was read from. After fault_show_blame(). */
struct error *fault_show_owner(struct fault *fault, struct finding *finding) MUST_CHECK;
/* "; " and the words behind the summary. */
struct error *fault_append(struct finding *finding, const char *words) MUST_CHECK;
struct fault_owner {
	char words[SYMBOL_NAME_SIZE + 192]; /* "slots [drv] points at that object"; "": not known */
	char module[64];
	char variable[64]; /* "slots"; truncates */
};
/* Adds whose the object of a slab is. `what`: the object, in words. */
struct error *fault_add_owner(struct target *target, const struct object_note *note,
			      const char *what, struct finding *finding,
			      struct fault_owner *ret) MUST_CHECK;
/*
 * Memory that was filled up to `place`, perhaps by who was to fill the object before `object`
 * (NULL: it is in none), which `ret` is about.
 */
struct error *fault_show_run(struct target *target, uint64_t place,
			     const struct object_note *object, struct finding *finding,
			     struct fault_owner *ret) MUST_CHECK;
/* Whether there were others before. */
struct error *fault_show_several(struct fault *fault, struct finding *finding) MUST_CHECK;

#endif
