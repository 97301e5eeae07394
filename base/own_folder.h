/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders for what is kept between sessions. Only those of the user's own, which nobody else can
 * write into: with another's HOME (sudo), or where others may exchange what is in it, nothing is
 * kept and nothing is believed.
 */
#ifndef BASE_OWN_FOLDER_H
#define BASE_OWN_FOLDER_H

#include <stdbool.h>

/*
 * $VARIABLE/btfcrash when it is an absolute path, else ~ and `inner` ("/.cache") and /btfcrash,
 * made if they are not there and `create`. From $VARIABLE or ~ on each is looked at. -1: none.
 */
int own_folder_open(const char *variable, const char *inner, bool create);

#endif
