// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Names that are the debugger's: $name and results, registers, and `current`.
 */
#include "base/digits.h"
#include "debugger/declare/nearest.h"
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/eval/variables.h"
#include "debugger/kernel/panic_cpu.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <string.h>

/* --- results -------------------------------------------------------------------------------- */

/* $: the last; $$: the one before; $$3: three before the last; $3: the third. False: no result. */
static bool result_number(const struct variables *variables, const char *name, uint64_t *ret)
{
	uint64_t count = variables_result_count(variables);
	bool backwards = *name == '$' || !*name;
	const char *digits = name + (*name == '$');
	uint64_t number = *name == '$';
	const char *end = *digits ? digits_scan(digits, 10, &number) : digits;
	if (!end || *end)
		return false;
	*ret = !backwards ? number : number < count ? count - number : 0;
	return true;
}

static struct error *result_evaluate(const struct node *node, const struct variables *variables,
				     uint64_t number, struct value *ret)
{
	const struct value *value = variables_result(variables, number);
	uint64_t count = variables_result_count(variables);
	if (value)
		*ret = *value;
	else if (!count)
		return error_create(ERROR_NOT_FOUND, "column %u: there is no result yet",
				    node->column);
	else if (number && number <= count)
		return error_create(ERROR_NOT_FOUND,
				    "column %u: result $%s is so old that it was forgotten",
				    node->column, node->name);
	else
		return error_create(ERROR_NOT_FOUND,
				    "column %u: there is no result $%s, the last one is $%" PRIu64,
				    node->column, node->name, count);
	return NULL;
}

/* --- variables and registers ---------------------------------------------------------------- */

static bool is_register(const struct target *target, const char *name)
{
	const struct arch *arch = target->arch;
	for (unsigned int i = 0; arch && i < arch->register_count; i++)
		if (arch->register_names[i] && !strcmp(arch->register_names[i], name))
			return true;
	return false;
}

static struct error *no_such_variable(const struct evaluation *evaluation, const struct node *node)
{
	const struct variables *variables = evaluation->scope->variables;
	struct nearest nearest;
	const char *name;
	const struct value *value;
	char hint[96];
	if (is_register(evaluation->target, node->name))
		return error_create(ERROR_NOT_FOUND,
				    "column %u: $%s is a register, and no frame is selected",
				    node->column, node->name);
	nearest_init(&nearest, node->name, strlen(node->name));
	for (size_t i = 0; variables && variables_get(variables, i, &name, &value); i++)
		nearest_offer(&nearest, name);
	return error_create(ERROR_NOT_FOUND, "column %u: no variable \"%s\"%s", node->column,
			    node->name, nearest_hint(&nearest, hint, sizeof(hint)));
}

struct error *variable_evaluate(struct evaluation *evaluation, const struct node *node,
				struct value *ret)
{
	const struct scope *scope = evaluation->scope;
	const struct value *value = NULL;
	uint64_t number;
	bool found = false;
	if (scope->variables && result_number(scope->variables, node->name, &number))
		return result_evaluate(node, scope->variables, number, ret);
	if (scope->find_register)
		TRY(at_column(node, scope->find_register(scope->register_context, node->name,
							 &found, ret)));
	if (found)
		return NULL;
	if (scope->variables)
		value = variables_find(scope->variables, node->name);
	if (!value)
		return no_such_variable(evaluation, node);
	*ret = *value;
	return NULL;
}

/* --- the task ------------------------------------------------------------------------------- */

bool is_current(const struct node *node)
{
	return !strcmp(node->name, "current") && !*node->module && !node->has_address;
}

static struct error *current_task(struct evaluation *evaluation, const struct node *node,
				  uint64_t *ret)
{
	const struct cpu *cpu = NULL;
	uint32_t number;
	TRY(cpu_select(evaluation, node, &cpu));
	*ret = 0;
	if (evaluation->types_only)
		return NULL;
	if (!cpu && evaluation->scope->task) {
		*ret = evaluation->scope->task;
		return NULL;
	}
	if (!cpu && panic_cpu_find(evaluation->target, &number))
		cpu = target_cpu(evaluation->target, number);
	if (!cpu)
		return error_create(ERROR_NOT_FOUND,
				    "column %u: it is not known which CPU panicked, if one did; "
				    "say current:0 or another CPU's",
				    node->column);
	if (!cpu->current_task)
		return error_create(ERROR_NOT_FOUND, "column %u: what CPU %u ran is not known",
				    node->column, cpu->number);
	*ret = cpu->current_task;
	return NULL;
}

struct error *current_evaluate(struct evaluation *evaluation, const struct node *node,
			       struct value *ret)
{
	uint64_t address;
	struct type type;
	TRY(target_find_type(evaluation->target, NULL, "struct task_struct", &type));
	TRY(current_task(evaluation, node, &address));
	return value_set_pointer(evaluation->target, type, address, ret);
}
