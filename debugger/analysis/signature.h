/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A short text that two dumps of the same crash share: "1 null-pointer
 * lab_read/vfs_read/ksys_read". Its parts: the version of these rules, the kind of what was found
 * first, and the functions that are to blame, innermost first: at most four, without addresses,
 * offsets, what compilers add to names and functions that are called from everywhere
 * (stack_words.c). So it is the same for all boots, formats of dumps, and kernels whose code there
 * is the same. Where all that called it are such functions, they end at what an interrupt or an
 * exception came upon: the innermost of them, and the one that runs timers, work items, or
 * whatever it ran in. A deadlock begins at none of its tasks: the first function to blame of each,
 * in the order of their names. A dump that somebody asked for, by SysRq or an NMI, has the
 * signature of what hung before that, if something did. What ran too often may be on no stack: its
 * function alone. Of a machine check: the part that failed.
 */
#ifndef DEBUGGER_ANALYSIS_SIGNATURE_H
#define DEBUGGER_ANALYSIS_SIGNATURE_H

#include "debugger/analysis/analysis.h"

/* Errors are fatal ones. */
struct error *signature_make(const struct analysis *analysis, char ret[SIGNATURE_SIZE]) MUST_CHECK;

#endif
