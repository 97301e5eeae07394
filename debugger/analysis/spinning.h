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
/*
 * "; pid 160 "lab-tune", which scheduled while atomic, is in lab_ramp+0x11 [lab]: it may have the
 * lock": whom the log blames last for giving up its CPU where it must not, if it sleeps in the
 * module; else "". Errors are fatal ones.
 */
struct error *spinning_put_sleeper(const struct analysis *analysis, const char *module,
				   char *buffer, size_t size) MUST_CHECK;
/* A piece of evidence for each other CPU that does the same. */
struct error *spinning_add_others(const struct analysis *analysis, uint32_t cpu,
				  struct finding *finding) MUST_CHECK;

#endif
