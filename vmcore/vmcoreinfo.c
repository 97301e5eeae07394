// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/vmcoreinfo.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's buffer is one page; 64 KiB pages and some air. */
#define TEXT_LIMIT     (1 << 20)
#define START_OF_IMAGE 0xffffffff80000000u /* of x86-64, before KASLR and phys_base */

struct line {
	const char *key, *value;
};

struct vmcoreinfo {
	char *text;  /* as it came, without the padding */
	char *words; /* the same, cut at '=' and at the ends of lines */
	size_t size;
	struct line *lines;
	size_t count, capacity;
};

/* Notes the line in [start, end) of info->words; a line without '=' is passed over. */
static bool add_line(struct vmcoreinfo *info, char *start, char *end)
{
	char *equals = memchr(start, '=', (size_t)(end - start));
	if (!equals)
		return true;
	if (!array_reserve(&info->lines, &info->capacity, info->count + 1))
		return false;
	*equals = 0;
	*end = 0;
	if (end > equals + 1 && end[-1] == '\r')
		end[-1] = 0;
	info->lines[info->count++] = (struct line){ start, equals + 1 };
	return true;
}

static bool add_lines(struct vmcoreinfo *info)
{
	char *at = info->words, *end = at + info->size;
	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		char *stop = newline ? newline : end;
		if (!add_line(info, at, stop))
			return false;
		at = stop + 1;
	}
	return true;
}

struct error *vmcoreinfo_parse(const char *text, size_t size, struct vmcoreinfo **ret)
{
	if (size > TEXT_LIMIT)
		return error_create(ERROR_FORMAT, "vmcoreinfo: %zu bytes are too many", size);
	struct vmcoreinfo *info = calloc(1, sizeof(*info));
	if (!info)
		return error_no_memory();
	info->size = strnlen(text, size);
	info->text = malloc(info->size + 1);
	info->words = malloc(info->size + 1);
	if (!info->text || !info->words)
		goto no_memory;
	memcpy(info->text, text, info->size);
	info->text[info->size] = 0;
	memcpy(info->words, info->text, info->size + 1);
	if (!add_lines(info))
		goto no_memory;
	if (!vmcoreinfo_get(info, "OSRELEASE")) {
		vmcoreinfo_free(info);
		return error_create(ERROR_FORMAT, "vmcoreinfo: no OSRELEASE= in it");
	}
	*ret = info;
	return NULL;

no_memory:
	vmcoreinfo_free(info);
	return error_no_memory();
}

void vmcoreinfo_free(struct vmcoreinfo *info)
{
	if (!info)
		return;
	free(info->lines);
	free(info->words);
	free(info->text);
	free(info);
}

const char *vmcoreinfo_get(const struct vmcoreinfo *info, const char *key)
{
	for (size_t i = 0; i < info->count; i++)
		if (!strcmp(info->lines[i].key, key))
			return info->lines[i].value;
	return NULL;
}

/* The whole of `text` as an unsigned number. */
static bool parse_unsigned(const char *text, int base, uint64_t *ret)
{
	/* strtoull() would take blanks and signs. */
	if (!memchr("0123456789abcdefABCDEF", *text, base == 16 ? 22 : 10) || !*text)
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, base);
	if (*end || errno)
		return false;
	*ret = value;
	return true;
}

bool vmcoreinfo_hex(const struct vmcoreinfo *info, const char *key, uint64_t *ret)
{
	const char *text = vmcoreinfo_get(info, key);
	return text && parse_unsigned(text, 16, ret);
}

bool vmcoreinfo_number(const struct vmcoreinfo *info, const char *key, int64_t *ret)
{
	const char *text = vmcoreinfo_get(info, key);
	if (!text)
		return false;
	bool negative = *text == '-';
	text += negative;
	uint64_t value;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	if (!parse_unsigned(hex ? text + 2 : text, hex ? 16 : 10, &value))
		return false;
	*ret = (int64_t)(negative ? -value : value);
	return true;
}

const char *vmcoreinfo_text(const struct vmcoreinfo *info, size_t *ret_size)
{
	*ret_size = info->size;
	return info->text;
}

bool vmcoreinfo_image_physical(const struct vmcoreinfo *info, uint64_t address, uint64_t *ret)
{
	int64_t base;
	uint64_t offset;
	if (vmcoreinfo_number(info, "NUMBER(phys_base)", &base)) {
		*ret = address - START_OF_IMAGE + (uint64_t)base;
		return true;
	}
	if (vmcoreinfo_number(info, "NUMBER(kimage_voffset)", &base)) {
		*ret = address - (uint64_t)base;
		return true;
	}
	if (vmcoreinfo_hex(info, "NUMBER(kimage_voffset)", &offset)) {
		*ret = address - offset;
		return true;
	}
	return false;
}
