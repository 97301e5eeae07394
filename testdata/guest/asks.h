/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of asks share. */
#ifndef ASKS_H
#define ASKS_H

#include <stddef.h>
#include <stdio.h>

void fail(const char *what) __attribute__((noreturn));
/* A child that runs it and does not come back; a line of `manifest` says so. */
void start_asking(FILE *manifest, const char *comm, const char *explanation, void (*run)(void));

/* Of a device of the device mapper; what lies on it is not told that it is suspended. */
void mapper_suspend_under(const char *name);
void mapper_path(const char *name, char *path, size_t size);

/* Those who wait for a filesystem on lab-journal, which is then suspended (asks_journal.c). */
void journal_start(FILE *manifest);

#endif
