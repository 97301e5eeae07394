/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How collect, when it has written all that the kernel says of itself, crashes the machine. */
#ifndef CRASHES_H
#define CRASHES_H

/*
 * "sysrq", "nmi", ... of crashes[]; "fault:NAME", a mistake of guest/faults; "ail:NAME", such a one
 * that the machine lives with until the sysrq; "wish", what the second disk says.
 */
void crash_as(const char *name);
/* Says what went wrong, and ends (collect.c). */
void fail(const char *what);

#endif
