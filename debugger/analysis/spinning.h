/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUs that go round and round until another one gives a lock back, which does not say who has it.
 */
#ifndef DEBUGGER_ANALYSIS_SPINNING_H
#define DEBUGGER_ANALYSIS_SPINNING_H

#include "debugger/analysis/analysis.h"

struct spinning {
	bool is_found;
	size_t frame;  /* the function that does */
	uint64_t lock; /* address; 0: not known */
	/*
	 * "lab_right [faults]", "0x... (in an object of the slab cache x; dev [drv] points at the
	 * object that 0x... lies in), whose word 0xa5a5a5a5 is no lock's"; "": not known
	 */
	char name[2 * SYMBOL_NAME_SIZE + 512];
};

/* Of the analysed task, from a frame on to where it was interrupted. Errors are fatal ones. */
struct error *spinning_find(const struct analysis *analysis, size_t first,
			    struct spinning *ret) MUST_CHECK;
/* The same, wherever on its stack it is: before, or behind what the panic's interrupt ran. */
struct error *spinning_find_any(const struct analysis *analysis, struct spinning *ret) MUST_CHECK;
#define SPINNING_TEXT (8 * SYMBOL_NAME_SIZE)
/*
 * What a CPU does at frame `at`, of which analysis->blamed is to blame: `pid 42 "name" was in
 * lab_read+0x9 [lab]`, "a timer spins for the lock lab_lock [lab], in lab_tick+0x11 [lab]"; behind
 * that, who may have the lock: whom the timer interrupted in the same module, or whom the log
 * blames last for giving up its CPU where it must not, if it sleeps there. Errors are fatal ones.
 */
struct error *spinning_describe(const struct analysis *analysis, size_t at,
				const struct spinning *spinning, char *buffer,
				size_t size) MUST_CHECK;
/* A piece of evidence for each other CPU that does the same. */
struct error *spinning_add_others(const struct analysis *analysis, uint32_t cpu,
				  struct finding *finding) MUST_CHECK;

#endif
