/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the terminal is told of our colours: each has one sequence, and there are no others. */
#ifndef BASE_STYLES_H
#define BASE_STYLES_H

#define STYLE_PLAIN   "\x1b[0m"
#define STYLE_HEADING "\x1b[1m"
#define STYLE_ADDRESS "\x1b[2m"
#define STYLE_GUESS   "\x1b[33m"
#define STYLE_ERROR   "\x1b[31m"

#endif
