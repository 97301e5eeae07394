// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is returned when there is no memory for a message; never freed, never changed. */
static const struct error out_of_memory = { .kind = ERROR_NO_MEMORY, .message = "out of memory" };

struct error *error_no_memory(void)
{
	return (struct error *)&out_of_memory;
}

static struct error *create(enum error_kind kind, uint64_t address, const char *format,
			    va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	struct error *error = length < 0 ? NULL : malloc(sizeof(*error) + (size_t)length + 1);
	if (error) {
		error->kind = kind;
		error->address = address;
		error->advice = NULL;
		vsnprintf(error->message, (size_t)length + 1, format, again);
	}
	va_end(again);
	return error ? error : error_no_memory();
}

struct error *error_create(enum error_kind kind, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct error *error = create(kind, 0, format, arguments);
	va_end(arguments);
	return error;
}

struct error *error_create_at(enum error_kind kind, uint64_t address, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct error *error = create(kind, address, format, arguments);
	va_end(arguments);
	return error;
}

struct error *error_copy(const struct error *error)
{
	if (!error)
		return NULL;
	return error_advise(error_create_at(error->kind, error->address, "%s", error->message),
			    error->advice);
}

struct error *error_advise(struct error *error, const char *advice)
{
	if (error && error != &out_of_memory)
		error->advice = advice;
	return error;
}

int error_is_equal(const struct error *a, const struct error *b)
{
	return a->kind == b->kind && a->address == b->address && !strcmp(a->message, b->message);
}

struct error *error_as(enum error_kind kind, struct error *error)
{
	if (error && !error_is_fatal(error))
		error->kind = kind;
	return error;
}

struct error *error_system(const char *format, ...)
{
	int code = errno;
	va_list arguments;
	va_start(arguments, format);
	struct error *what = create(ERROR_SYSTEM, 0, format, arguments);
	va_end(arguments);
	struct error *error = error_create(ERROR_SYSTEM, "%s: %s", what->message, strerror(code));
	error_free(what);
	return error;
}

struct error *error_prefix(struct error *error, const char *format, ...)
{
	if (!error || error == &out_of_memory)
		return error;
	va_list arguments;
	va_start(arguments, format);
	struct error *prefix = create(error->kind, error->address, format, arguments);
	va_end(arguments);
	if (prefix == &out_of_memory)
		return error;
	struct error *whole = error_create_at(error->kind, error->address, "%s: %s",
					      prefix->message, error->message);
	error_free(prefix);
	if (whole == &out_of_memory)
		return error;
	whole->advice = error->advice;
	error_free(error);
	return whole;
}

void error_free(struct error *error)
{
	if (error != &out_of_memory)
		free(error);
}

int error_is_fatal(const struct error *error)
{
	return error && (error->kind == ERROR_NO_MEMORY || error->kind == ERROR_INTERRUPTED ||
			 error->kind == ERROR_BOUND);
}

struct error *error_after_bound(struct error *error)
{
	if (error && error->kind == ERROR_BOUND)
		error->kind = ERROR_FORMAT;
	return error;
}

struct error *error_only_fatal(struct error *error)
{
	if (error_is_fatal(error))
		return error;
	error_free(error);
	return NULL;
}

int error_is_missing(const struct error *error)
{
	return error->kind == ERROR_FAULT || error->kind == ERROR_EXCLUDED ||
	       error->kind == ERROR_TRUNCATED || error->kind == ERROR_DAMAGED ||
	       error->kind == ERROR_ELSEWHERE;
}

const char *error_place_word(const struct error *error)
{
	switch (error->kind) {
	case ERROR_EXCLUDED:
		return "excluded";
	case ERROR_TRUNCATED:
		return "truncated";
	case ERROR_ELSEWHERE:
		return "not in memory";
	case ERROR_DAMAGED:
		return "damaged";
	case ERROR_FAULT:
		return "unmapped";
	default:
		return "unreadable";
	}
}
