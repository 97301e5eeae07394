// SPDX-License-Identifier: GPL-3.0-or-later
/* Parameters of modules and of what is built in, as /sys/module/NAME/parameters has them. */
#include "debugger/kernel/parameter.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN_PARAMETER, COLUMN_MODULE, COLUMN_MODE, COLUMN_TYPE, COLUMN_NAME, COLUMN_VALUE };

static const struct table_column columns[] = {
	[COLUMN_PARAMETER] = { "parameter", COLUMN_ADDRESS, 16, "its struct kernel_param",
			       "struct kernel_param" },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, -20, "whose it is", NULL },
	[COLUMN_MODE] = { "mode", COLUMN_TEXT, 0, "of its file in octal; 0000: it has none", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -16, "of its variable", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -28, "the parameter's", NULL },
	[COLUMN_VALUE] = { "value", COLUMN_TEXT, -16,
			   "a number, Y or N, a text; none: a driver's own function makes it, or "
			   "its "
			   "variable was only there at the start",
			   NULL },
};

#define TYPE_SIZE  256
#define VALUE_SIZE 1024

struct pass {
	struct table_scan *scan;
	const struct module *module; /* NULL: of the kernel itself */
};

static struct error *set_number(struct table_scan *scan, const struct parameter *parameter,
				const char *type)
{
	const struct object object = { .target = scan->target,
				       .type = parameter->type,
				       .address = parameter->variable };
	uint64_t number;
	char text[24];
	TRY(object_u64(&object, NULL, &number));
	if (!strcmp(type, "bool") || !strcmp(type, "_Bool")) {
		table_set_text(scan, COLUMN_VALUE,
			       (number != 0) != parameter->is_inverted ? "Y" : "N");
		return NULL;
	}
	snprintf(text, sizeof(text), type_is_signed(parameter->type) ? "%" PRId64 : "%" PRIu64,
		 number);
	table_set_text(scan, COLUMN_VALUE, text);
	return NULL;
}

static struct error *set_string(struct table_scan *scan, const struct parameter *parameter)
{
	struct memory *memory = scan->target->memory;
	char text[VALUE_SIZE];
	uint64_t address;
	size_t length;
	TRY(memory_read_word(memory, parameter->variable, &address));
	if (!address)
		return NULL;
	TRY(memory_read_string(memory, address, text, sizeof(text), &length));
	table_set_text(scan, COLUMN_VALUE, text);
	return NULL;
}

/* What is only needed to start lies in memory that is given away then: it holds anything. */
static bool is_gone(const struct table_scan *scan, const struct parameter *parameter)
{
	uint64_t begin, end;
	return table_symbol(scan, "__init_begin", &begin) &&
	       table_symbol(scan, "__init_end", &end) && parameter->variable - begin < end - begin;
}

static struct error *set_value(struct table_scan *scan, const struct parameter *parameter)
{
	char type[TYPE_SIZE];
	if (!parameter->type.btf)
		return NULL;
	type_spell(parameter->type, NULL, type, sizeof(type));
	table_set_text(scan, COLUMN_TYPE, type);
	if (!parameter->variable || is_gone(scan, parameter))
		return NULL;
	if (!strcmp(type, "char *"))
		return set_string(scan, parameter);
	/* Arrays and the like have no short form. */
	return strpbrk(type, "[*") ? NULL : set_number(scan, parameter, type);
}

static struct error *visit_parameter(void *context, const struct parameter *parameter)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	const char *dot = strchr(parameter->name, '.');
	char mode[16], owner[sizeof(parameter->name)] = "kernel";
	table_set(scan, COLUMN_PARAMETER, parameter->address);
	/* Of what is built in, the module's name stands before its own. */
	if (pass->module)
		dot = NULL;
	else if (dot)
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - parameter->name),
			 parameter->name);
	table_set_text(scan, COLUMN_MODULE, pass->module ? pass->module->name : owner);
	snprintf(mode, sizeof(mode), "%04o", parameter->permissions);
	table_set_text(scan, COLUMN_MODE, mode);
	table_set_text(scan, COLUMN_NAME, dot ? dot + 1 : parameter->name);
	TRY(table_set_error(scan, COLUMN_VALUE, set_value(scan, parameter)));
	return table_emit(scan);
}

static struct error *visit_owner(struct table_scan *scan, const struct module *module)
{
	struct pass pass = { scan, module };
	const struct parameter_visitor visitor = { visit_parameter, &pass };
	struct error *error = parameter_for_each(scan->target, module, &visitor);
	return table_broken(scan, module ? error_prefix(error, "module %s", module->name) : error);
}

static struct error *visit(struct table_scan *scan)
{
	const struct module *modules;
	size_t count = target_modules(scan->target, &modules);
	TRY(visit_owner(scan, NULL));
	for (size_t i = 0; i < count; i++)
		TRY(visit_owner(scan, &modules[i]));
	return NULL;
}

static const char *const examples[] = { "parameters --where \"module = 'rcupdate'\"",
					"parameters --where \"name LIKE '%timeout%'\" "
					"-o module,name,value",
					NULL };

const struct table table_parameters = {
	.name = "parameters",
	.summary = "parameters of modules and of what is built in",
	.description = "A row is a struct kernel_param, as /sys/module/NAME/parameters has them, "
		       "and those that have no file there. What a driver's own function shows, "
		       "has no value here; mod shows arrays, too.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PARAMETER,
	.is_object = true,
};
