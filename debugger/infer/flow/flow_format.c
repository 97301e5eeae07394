// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * printf() and its kind have a prototype that ends in "...", but their format says what follows it:
 * "%d" is an int. Where the address of a global stands for a number, it is scanf() that fills it.
 * The directives are C's (and POSIX's), with the kernel's "%p" that letters may follow
 * (Documentation/core-api/printk-formats.rst).
 */
#include "debugger/infer/flow/flow_private.h"

#include <string.h>

#define FORMAT_MAX 256 /* bytes of a format that are looked at */

struct directive {
	char conversion; /* 0: the end */
	uint8_t size;	 /* of a number */
	uint8_t stars;	 /* widths that are arguments */
};

static const char *skip_width(const char *at, struct directive *ret)
{
	while (*at && strchr("-+ #0123456789.*", *at))
		ret->stars += *at++ == '*';
	return at;
}

static const char *read_size(const char *at, struct directive *ret)
{
	ret->size = 4;
	for (; *at && strchr("hlzjtLq", *at); at++)
		ret->size = *at != 'h' ? 8 : ret->size == 2 ? 1 : 2;
	return at;
}

/* The next one that takes arguments; returns what follows it. */
static const char *next_directive(const char *at, struct directive *ret)
{
	while ((at = strchr(at, '%'))) {
		*ret = (struct directive){ .size = 4 };
		at = read_size(skip_width(at + 1, ret), ret);
		ret->conversion = *at;
		if (!*at)
			return at;
		at++;
		if (ret->conversion == '%')
			continue;
		if (ret->conversion == 'p')
			at += strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789");
		return at;
	}
	ret->conversion = 0;
	return "";
}

static void pass_number(struct flow *flow, const struct value *value,
			const struct directive *directive)
{
	bool is_signed = directive->conversion == 'd' || directive->conversion == 'i';
	bool is_decimal = is_signed || directive->conversion == 'u';
	struct kind type = flow->world->integers[__builtin_ctz(directive->size)][is_signed];
	struct value loaded = as_loaded(value);
	/* "%x" is for any number, "%lx" for addresses too; and small ones are passed as int. */
	if (!type.id || (!is_decimal && directive->size != 8))
		return;
	if (value->kind == VALUE_CONSTANT && is_data(flow, value->number) && is_decimal)
		report_object(flow, value->number, type, "scanned");
	else if (loaded.kind != VALUE_UNKNOWN && loaded.size == directive->size && loaded.size >= 4)
		report_value(flow, &loaded, type, false, "printed");
}

static void pass_directive(struct flow *flow, const struct value *value, struct kind string,
			   const struct directive *directive)
{
	switch (directive->conversion) {
	case 's':
		meet(flow, value, string, "printed");
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		pass_number(flow, value, directive);
		break;
	}
}

/* The parameter before "...", its number in *ret_number; none: the arguments are all typed. */
static struct kind format_of(struct flow *flow, struct kind prototype, uint32_t *ret_number)
{
	const struct levels *levels = flow->world->levels;
	struct kind none = { 0, 0 };
	struct btf_type record = kind_record(levels, prototype);
	struct btf_param param, last = { .type = 0 };
	uint32_t count = 0;
	if (record.kind != BTF_FUNC_PROTO)
		return none;
	for (; btf_param(&record, count, &param) && param.type; count++)
		last = param;
	if (!count || !btf_param(&record, count, &param))
		return none;
	struct kind format = kind_of(levels, prototype.level, last.type);
	*ret_number = count - 1;
	return kind_size(levels, kind_target(levels, format)) == 1 ? format : none;
}

void pass_formatted(struct flow *flow, struct kind prototype)
{
	const struct flow_world *world = flow->world;
	const struct lowering *lowering = world->lowering;
	char text[FORMAT_MAX];
	uint32_t number;
	if (!world->string)
		return;
	struct kind format = format_of(flow, prototype, &number);
	if (!format.id || number >= lowering->argument_count)
		return;
	const struct value *registers = flow->state.registers;
	const struct value *value = &registers[lowering->arguments[number]];
	if (value->kind != VALUE_CONSTANT ||
	    !world->string(world->context, (uint64_t)value->number, text, sizeof(text)))
		return;
	struct directive directive;
	const char *at = text;
	while ((at = next_directive(at, &directive)) && directive.conversion) {
		number += directive.stars + 1;
		if (number >= lowering->argument_count)
			break;
		pass_directive(flow, &registers[lowering->arguments[number]], format, &directive);
	}
}
