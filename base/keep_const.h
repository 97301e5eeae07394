/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Included before every file (Makefile). C's searches take a pointer to const and return one to
 * what may be written: so a borrowed name can be cut short without a word of the compiler's. Here
 * what is found is const where what is searched is, as C23 and glibc 2.43 have it, on every
 * compiler and library.
 */
#ifndef BASE_KEEP_CONST_H
#define BASE_KEEP_CONST_H

#include <stdlib.h>
#include <string.h>

/* `0 ? searched : (void *)1` is a const void * exactly where `searched` points to const. */
#define KEEP_CONST(searched, type, found)                                                          \
	_Generic(0 ? (searched) : (void *)1, const void *: (const type *)(found), default: (found))

#ifndef strchr
#define strchr(string, byte) KEEP_CONST(string, char, strchr(string, byte))
#endif
#ifndef strrchr
#define strrchr(string, byte) KEEP_CONST(string, char, strrchr(string, byte))
#endif
#ifndef strchrnul
#define strchrnul(string, byte) KEEP_CONST(string, char, strchrnul(string, byte))
#endif
#ifndef strstr
#define strstr(string, part) KEEP_CONST(string, char, strstr(string, part))
#endif
#ifndef strcasestr
#define strcasestr(string, part) KEEP_CONST(string, char, strcasestr(string, part))
#endif
#ifndef strpbrk
#define strpbrk(string, bytes) KEEP_CONST(string, char, strpbrk(string, bytes))
#endif
#ifndef memchr
#define memchr(bytes, byte, size) KEEP_CONST(bytes, void, memchr(bytes, byte, size))
#endif
#ifndef memrchr
#define memrchr(bytes, byte, size) KEEP_CONST(bytes, void, memrchr(bytes, byte, size))
#endif
#ifndef rawmemchr
#define rawmemchr(bytes, byte) KEEP_CONST(bytes, void, rawmemchr(bytes, byte))
#endif
#ifndef memmem
#define memmem(bytes, size, part, part_size)                                                       \
	KEEP_CONST(bytes, void, memmem(bytes, size, part, part_size))
#endif
#ifndef bsearch
#define bsearch(key, array, count, size, compare)                                                  \
	KEEP_CONST(array, void, bsearch(key, array, count, size, compare))
#endif

#endif
