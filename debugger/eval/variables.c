// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/variables.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/eval/convert.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define RESULTS_KEPT 4096
#define NAME_SIZE    64
#define BYTES_MAX    (16u << 20)

struct variable {
	char name[NAME_SIZE];
	struct value value;
};

/* A literal's bytes; they follow the head. */
struct kept {
	struct kept *next;
	size_t size;
	char bytes[];
};

struct variables {
	struct variable *items;
	size_t count, capacity;
	struct value *results; /* a ring once it has RESULTS_KEPT */
	size_t results_capacity;
	uint64_t result_count; /* ever */
	struct kept *kept;
	size_t kept_bytes;
};

struct variables *variables_create(void)
{
	return calloc(1, sizeof(struct variables));
}

void variables_destroy(struct variables *variables)
{
	if (!variables)
		return;
	while (variables->kept) {
		struct kept *next = variables->kept->next;
		free(variables->kept);
		variables->kept = next;
	}
	free(variables->items);
	free(variables->results);
	free(variables);
}

static struct variable *find(const struct variables *variables, const char *name)
{
	for (size_t i = 0; i < variables->count; i++)
		if (!strcmp(variables->items[i].name, name))
			return &variables->items[i];
	return NULL;
}

static bool is_identifier(const char *name)
{
	if (!ascii_is_alpha(*name) && *name != '_')
		return false;
	while (ascii_is_alnum(*name) || *name == '_')
		name++;
	return !*name;
}

struct error *variables_set(struct variables *variables, const char *name,
			    const struct value *value)
{
	struct variable *variable = find(variables, name);
	if (!is_identifier(name))
		return error_create(ERROR_USAGE, "a variable cannot be called \"$%s\"", name);
	if (strlen(name) >= NAME_SIZE)
		return error_create(ERROR_USAGE, "a variable's name has at most %d letters",
				    NAME_SIZE - 1);
	if (!variable) {
		if (!array_reserve(&variables->items, &variables->capacity, variables->count + 1))
			return error_no_memory();
		variable = &variables->items[variables->count++];
		strcpy(variable->name, name);
	}
	variable->value = *value;
	return NULL;
}

struct error *variables_set_address(struct variables *variables, struct target *target,
				    uint64_t address)
{
	struct value value;
	TRY(value_set_pointer(target, (struct type){ NULL, 0 }, address, &value));
	return variables_set(variables, "_", &value);
}

const struct value *variables_find(const struct variables *variables, const char *name)
{
	const struct variable *variable = find(variables, name);
	return variable ? &variable->value : NULL;
}

bool variables_get(const struct variables *variables, size_t index, const char **ret_name,
		   const struct value **ret)
{
	if (index >= variables->count)
		return false;
	*ret_name = variables->items[index].name;
	*ret = &variables->items[index].value;
	return true;
}

struct error *variables_add_result(struct variables *variables, const struct value *value,
				   uint64_t *ret_number)
{
	size_t wanted = variables->result_count < RESULTS_KEPT ? variables->result_count + 1
							       : RESULTS_KEPT;
	if (!array_reserve(&variables->results, &variables->results_capacity, wanted))
		return error_no_memory();
	variables->results[variables->result_count % RESULTS_KEPT] = *value;
	*ret_number = ++variables->result_count;
	return NULL;
}

uint64_t variables_result_count(const struct variables *variables)
{
	return variables->result_count;
}

const struct value *variables_result(const struct variables *variables, uint64_t number)
{
	uint64_t count = variables->result_count;
	if (!number || number > count || count - number >= RESULTS_KEPT)
		return NULL;
	return &variables->results[(number - 1) % RESULTS_KEPT];
}

struct error *variables_keep_bytes(struct variables *variables, const char *bytes, size_t size,
				   const char **ret)
{
	struct kept *kept = variables->kept;
	while (kept && (kept->size != size || memcmp(kept->bytes, bytes, size) != 0))
		kept = kept->next;
	if (!kept) {
		if (size > BYTES_MAX - variables->kept_bytes)
			return error_create(ERROR_USAGE, "too many strings for one session");
		kept = malloc(sizeof(*kept) + size);
		if (!kept)
			return error_no_memory();
		kept->next = variables->kept;
		kept->size = size;
		memcpy(kept->bytes, bytes, size);
		variables->kept = kept;
		variables->kept_bytes += size;
	}
	*ret = kept->bytes;
	return NULL;
}
