/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders for what is kept between sessions. Only those of the user's own, which nobody else can
 * write into: with another's HOME (sudo), or where others may exchange what is in it, nothing is
 * kept and nothing is believed.
 */
#ifndef BASE_OWN_FOLDER_H
#define BASE_OWN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

/*
 * $VARIABLE/btfcrash when it is an absolute path, else ~ and `inner` ("/.cache") and /btfcrash,
 * made if they are not there and `create`. From $VARIABLE or ~ on each is looked at. -1: none.
 */
int own_folder_open(const char *variable, const char *inner, bool create);

/* How much of a kind is kept. */
struct folder_limits {
	const char *ending; /* of the files' names: others do not count */
	const char *beside; /* goes with each: a file whose name ends so behind that; NULL */
	size_t files;
	uint64_t bytes; /* on disk, of all without what is beside them; 0: any number */
	/* Of what stays though it is old; NULL: nothing does. */
	bool (*is_needed)(const char *name, const struct stat *status);
};
/* Removes the oldest until the rest is within the limits; `newest` stays in any case. */
void own_folder_prune(int folder, const struct folder_limits *limits, const char *newest);

#endif
