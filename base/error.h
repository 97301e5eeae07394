/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors as values. A function that can fail returns `struct error *`: NULL is
 * success, anything else is owned by the caller, who either hands it on
 * (usually with error_prefix()) or releases it with error_free().
 *
 * A message is one line, lower case, and says what and where.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdint.h>

#define MUST_CHECK	      __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, arg) __attribute__((format(printf, fmt, arg)))

enum error_kind {
	ERROR_OTHER,
	ERROR_NO_MEMORY,
	ERROR_SYSTEM,	   /* a system call failed */
	ERROR_USAGE,	   /* the user's words are off */
	ERROR_FORMAT,	   /* foreign bytes are not what they should be */
	ERROR_NOT_FOUND,   /* a symbol, type, member, note the answer needs is missing */
	ERROR_FAULT,	   /* the address does not exist */
	ERROR_EXCLUDED,	   /* the page exists, the dump was filtered */
	ERROR_TRUNCATED,   /* the file ends before the page it promises */
	ERROR_DAMAGED,	   /* the page is in the file, but cannot be decoded */
	ERROR_ELSEWHERE,   /* it was not in the machine's memory: swapped out, in a file alone */
	ERROR_INTERRUPTED, /* Ctrl-C */
	ERROR_BOUND,	   /* what is without end in the dump ends here; what there is is not all */
	ERROR_UNSUPPORTED  /* valid, but not by this build or its libraries */
};

struct error {
	enum error_kind kind;
	/* First address that could not be read; only for FAULT, EXCLUDED, TRUNCATED, DAMAGED,
	 * ELSEWHERE. */
	uint64_t address;
	const char *advice; /* a literal: what the user can do; NULL: nothing. Copies have it too */
	char message[];
};

/* Never returns NULL: without memory it returns a static error. */
struct error *error_create(enum error_kind kind, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;
/* The same for memory that cannot be read; `address` is the first bad byte. */
struct error *error_create_at(enum error_kind kind, uint64_t address, const char *format, ...)
	PRINTF_LIKE(3, 4) MUST_CHECK;
/* The same once more; NULL stays NULL. */
struct error *error_copy(const struct error *error) MUST_CHECK;
/* "prefix: message"; takes `error`; NULL stays NULL. */
struct error *error_prefix(struct error *error, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;
/* The same as another kind, unless it is fatal; takes `error`; NULL stays NULL. */
struct error *error_as(enum error_kind kind, struct error *error) MUST_CHECK;
struct error *error_no_memory(void) MUST_CHECK;
/* Gives it advice, a literal; takes `error`; NULL stays NULL. */
struct error *error_advise(struct error *error, const char *advice) MUST_CHECK;
/* Whether two say the same: kind, place and words. */
int error_is_equal(const struct error *a, const struct error *b);
/* "what: strerror(errno)". */
struct error *error_system(const char *format, ...) PRINTF_LIKE(1, 2) MUST_CHECK;
/* NULL is allowed. */
void error_free(struct error *error);
/*
 * True for errors that end the whole command: no memory, Ctrl-C, and until its walk is over, a
 * bound. NULL is none.
 */
int error_is_fatal(const struct error *error);
/*
 * The walk that a bound ended is over: takes `error`; of ERROR_BOUND the words stay, and end
 * nothing more (ERROR_FORMAT). Others are handed on.
 */
struct error *error_after_bound(struct error *error) MUST_CHECK;
/* Takes `error`; returns a fatal one, and NULL for those that only mean that this is not known. */
struct error *error_only_fatal(struct error *error) MUST_CHECK;
/* True for errors that say "these bytes are not in the dump" (fault, excluded, truncated, damaged,
 * elsewhere). */
int error_is_missing(const struct error *error);
/* One or two words to show in the place of a value: "excluded", "unmapped", "truncated", "damaged",
 * "not in memory". */
const char *error_place_word(const struct error *error);

/* Hands an error on to the caller. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		struct error *try_error = (call);                                                  \
		if (try_error)                                                                     \
			return try_error;                                                          \
	} while (0)

#endif
