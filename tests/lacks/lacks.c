// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Linked into the program by the linker's --wrap, in front of what looks names up: which symbols,
 * types, members and enumerators the source asks a kernel for that this one does not have.
 *
 *   BTFCRASH_LACKS=FILE
 *
 * A line for each is added to the file, as often as it is asked for. What is asked for in vain may
 * be one of several names of a thing: the lists that are kept (tests/lacks/KERNEL) say which.
 */
#include "base/error.h"
#include "btf/btf.h"
#include "symbols/symtab.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 512

struct error *__real_error_create(enum error_kind kind, const char *format, ...);
struct error *__wrap_error_create(enum error_kind kind, const char *format, ...);
bool __real_type_find_member(struct type type, const char *name, struct type_place *ret);
bool __wrap_type_find_member(struct type type, const char *name, struct type_place *ret);
bool __real_btf_find_enumerator(const struct btf *btf, const char *name, uint32_t *ret_id,
				struct btf_enumerator *ret);
bool __wrap_btf_find_enumerator(const struct btf *btf, const char *name, uint32_t *ret_id,
				struct btf_enumerator *ret);
bool __real_symtab_address(const struct symtab *symtab, const char *name, uint64_t *ret);
bool __wrap_symtab_address(const struct symtab *symtab, const char *name, uint64_t *ret);

/* Lines of several threads and processes do not mix: each is written at once, to the file's end. */
static void note(const char *text)
{
	static int file = -1;
	char line[LINE];
	const char *path = getenv("BTFCRASH_LACKS");
	if (file < 0 && path)
		file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int length = snprintf(line, sizeof(line), "%s\n", text);
	if (file < 0 || length >= LINE)
		return;
	if (write(file, line, (size_t)length) != length)
		abort();
}

static void note_name(const char *what, const char *name)
{
	char line[LINE];
	snprintf(line, sizeof(line), "%s %s", what, name);
	note(line);
}

/* Those that are made where a name is looked up. */
static bool is_of_a_name(const char *format)
{
	static const char *const starts[] = { "%s has no member %s%s", "the kernel has no symbol ",
					      "no type \"%s\" in the kernel's BTF" };
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(format, starts[i], strlen(starts[i])))
			return true;
	return false;
}

struct error *__wrap_error_create(enum error_kind kind, const char *format, ...)
{
	va_list arguments;
	char *text;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		abort();
	if (is_of_a_name(format))
		note(text);
	struct error *error = __real_error_create(kind, "%s", text);
	free(text);
	return error;
}

bool __wrap_type_find_member(struct type type, const char *name, struct type_place *ret)
{
	char text[LINE], spelled[128];
	bool is_found = __real_type_find_member(type, name, ret);
	if (is_found)
		return true;
	type_spell(type, NULL, spelled, sizeof(spelled));
	snprintf(text, sizeof(text), "%s has no member %s", spelled, name);
	note(text);
	return false;
}

bool __wrap_btf_find_enumerator(const struct btf *btf, const char *name, uint32_t *ret_id,
				struct btf_enumerator *ret)
{
	bool is_found = __real_btf_find_enumerator(btf, name, ret_id, ret);
	if (!is_found)
		note_name("no enumerator", name);
	return is_found;
}

bool __wrap_symtab_address(const struct symtab *symtab, const char *name, uint64_t *ret)
{
	bool is_found = __real_symtab_address(symtab, name, ret);
	if (!is_found)
		note_name("the kernel has no symbol", name);
	return is_found;
}
