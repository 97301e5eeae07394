// SPDX-License-Identifier: GPL-3.0-or-later
/* The options of rendering by name. */
#include "base/array.h"
#include "base/digits.h"
#include "debugger/eval/render.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct render_options render_defaults = { .string_limit = 256 };

enum setting_kind { SETTING_BASE, SETTING_NUMBER, SETTING_SWITCH };

/* Where a setting lies in struct render_options, in the order of render_settings. */
static const struct place {
	enum setting_kind kind;
	size_t offset;
} places[] = {
	{ SETTING_BASE, offsetof(struct render_options, base) },
	{ SETTING_NUMBER, offsetof(struct render_options, depth) },
	{ SETTING_NUMBER, offsetof(struct render_options, array_limit) },
	{ SETTING_NUMBER, offsetof(struct render_options, string_limit) },
	{ SETTING_SWITCH, offsetof(struct render_options, hide_zero) },
	{ SETTING_SWITCH, offsetof(struct render_options, show_types) },
	{ SETTING_SWITCH, offsetof(struct render_options, show_offsets) },
	{ SETTING_SWITCH, offsetof(struct render_options, raw) },
};

const struct render_setting render_settings[] = {
	{ "base", "dec|hex|oct", "numbers in decimal, hexadecimal or octal; pids are decimal" },
	{ "depth", "NUMBER", "levels of nested structs and arrays that are shown, 0: all" },
	{ "array", "NUMBER", "elements of an array that are shown, 0: all" },
	{ "string", "NUMBER", "bytes of a string that are shown, 0: all" },
	{ "hide-zero", "on|off", "leave out members whose bytes are all zero" },
	{ "types", "on|off", "show the type of each member" },
	{ "offsets", "on|off", "show the offset of each member, in bytes" },
	{ "raw", "on|off", "no short forms, enumerators or symbols, just numbers" },
};
const size_t render_setting_count = ARRAY_COUNT(render_settings);

static const char *const base_names[] = { "dec", "hex", "oct" };

static const struct place *find_place(const char *name)
{
	for (size_t i = 0; i < render_setting_count; i++)
		if (!strcmp(render_settings[i].name, name))
			return &places[i];
	return NULL;
}

static struct error *no_setting(const char *name)
{
	char names[256] = "";
	for (size_t i = 0; i < render_setting_count; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", render_settings[i].name);
	return error_create(ERROR_USAGE, "no setting \"%s\"; there are %s", name, names);
}

static struct error *set_base(enum number_base *base, const char *value)
{
	for (size_t i = 0; i < ARRAY_COUNT(base_names); i++) {
		if (!strncmp(value, base_names[i], 3)) {
			*base = (enum number_base)i;
			return NULL;
		}
	}
	return error_create(ERROR_USAGE, "\"%s\" is not dec, hex or oct", value);
}

static struct error *set_number(unsigned int *number, const char *value)
{
	uint64_t parsed;
	const char *end = digits_scan(value, 0, &parsed);
	if (!end || *end || parsed > UINT32_MAX)
		return error_create(ERROR_USAGE, "\"%s\" is not a number", value);
	*number = (unsigned int)parsed;
	return NULL;
}

static struct error *set_switch(bool *is_on, const char *value)
{
	bool on = !strcmp(value, "on") || !strcmp(value, "1") || !strcmp(value, "yes");
	bool off = !strcmp(value, "off") || !strcmp(value, "0") || !strcmp(value, "no");
	if (!on && !off)
		return error_create(ERROR_USAGE, "\"%s\" is not on or off", value);
	*is_on = on;
	return NULL;
}

struct error *render_option_set(struct render_options *options, const char *name, const char *value)
{
	const struct place *place = find_place(name);
	if (!place)
		return no_setting(name);
	void *field = (char *)options + place->offset;
	switch (place->kind) {
	case SETTING_BASE:
		return error_prefix(set_base(field, value), "%s", name);
	case SETTING_NUMBER:
		return error_prefix(set_number(field, value), "%s", name);
	case SETTING_SWITCH:
		break;
	}
	return error_prefix(set_switch(field, value), "%s", name);
}

const char *render_option_text(const struct render_options *options, const char *name, char *buffer,
			       size_t size)
{
	const struct place *place = find_place(name);
	const void *field = place ? (const char *)options + place->offset : NULL;
	*buffer = 0;
	if (!place)
		return buffer;
	switch (place->kind) {
	case SETTING_BASE:
		snprintf(buffer, size, "%s", base_names[*(const enum number_base *)field]);
		break;
	case SETTING_NUMBER:
		snprintf(buffer, size, "%u", *(const unsigned int *)field);
		break;
	case SETTING_SWITCH:
		snprintf(buffer, size, "%s", *(const bool *)field ? "on" : "off");
		break;
	}
	return buffer;
}
