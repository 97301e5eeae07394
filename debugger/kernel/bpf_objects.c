// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bpf_objects.h"

#include "debugger/kernel/walk.h"
#include "debugger/target/live.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BPF_MAX_SUBPROGS is 256. */
#define FUNCTIONS_MAX 1024
#define INSTRUCTION   8u /* bytes */
#define TAG_SIZE      8u

/* --- words ---------------------------------------------------------------------------------- */

/*
 * The enumerator behind a value without the prefix that all have, in lower case. Of several the
 * last: the one before is called ..._DEPRECATED. "": none.
 */
static void spell_enum(struct type type, uint64_t value, const char *prefix,
		       char ret[BPF_NAME_SIZE])
{
	struct btf_type record;
	struct btf_enumerator enumerator;
	size_t length = strlen(prefix);
	ret[0] = 0;
	if (!type_get_resolved(type, &record))
		return;
	for (uint32_t i = 0; btf_enumerator(&record, i, &enumerator); i++)
		if (enumerator.value == (int64_t)value && !strncmp(enumerator.name, prefix, length))
			snprintf(ret, BPF_NAME_SIZE, "%s", enumerator.name + length);
	for (char *at = ret; *at; at++)
		*at = (char)tolower((unsigned char)*at);
}

static void read_enum(const struct object *object, const char *member, const char *prefix,
		      char ret[BPF_NAME_SIZE])
{
	struct object field;
	uint64_t value;
	ret[0] = 0;
	struct error *error = object_member(object, member, &field);
	if (!error)
		error = object_u64(&field, NULL, &value);
	if (!error)
		spell_enum(field.type, value, prefix, ret);
	error_free(error);
}

static void spell_named(struct target *target, const char *type_name, uint64_t value,
			const char *prefix, char ret[BPF_NAME_SIZE])
{
	struct type type;
	ret[0] = 0;
	struct error *error = target_find_type(target, NULL, type_name, &type);
	if (!error)
		spell_enum(type, value, prefix, ret);
	error_free(error);
}

static struct error *read_u32(const struct object *object, const char *member, uint32_t *ret)
{
	uint64_t value;
	TRY(object_u64(object, member, &value));
	*ret = (uint32_t)value;
	return NULL;
}

/* --- programs -------------------------------------------------------------------------------- */

static void spell_tag(const uint8_t bytes[TAG_SIZE], char ret[2 * TAG_SIZE + 1])
{
	for (size_t i = 0; i < TAG_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void read_tag(const struct object *program, char ret[2 * TAG_SIZE + 1])
{
	struct object tag;
	uint8_t bytes[TAG_SIZE];
	ret[0] = 0;
	struct error *error = object_member(program, "tag", &tag);
	if (!error)
		error = memory_read(program->target->memory, tag.address, bytes, sizeof(bytes));
	if (!error)
		spell_tag(bytes, ret);
	error_free(error);
}

/* What a tracing program is attached to: a function of the kernel, or one of another program. */
static void read_target(const struct object *aux, struct bpf_program *program)
{
	struct object other;
	uint64_t name = 0;
	size_t length;
	struct error *error = object_u64(aux, "attach_func_name", &name);
	if (!error && name)
		error = memory_read_string(aux->target->memory, name, program->target,
					   sizeof(program->target), &length);
	if (error)
		program->target[0] = 0;
	error_free(error);
	error = object_follow(aux, "dst_prog", &other);
	if (!error && other.address)
		error = object_follow(&other, "aux", &other);
	if (!error && other.address)
		error = read_u32(&other, "id", &program->target_id);
	error_free(error);
}

static struct error *read_maps(const struct object *aux, struct bpf_program *program)
{
	struct memory *memory = aux->target->memory;
	uint64_t table, count;
	TRY(object_u64(aux, "used_maps", &table));
	TRY(object_u64(aux, "used_map_cnt", &count));
	if (count > BPF_MAPS_MAX)
		return error_create(ERROR_FORMAT, "it uses %" PRIu64 " maps", count);
	for (uint64_t i = 0; i < count; i++) {
		struct object map;
		uint64_t address;
		TRY(memory_read_word(memory, table + i * memory->word_size, &address));
		TRY(object_at(aux->target, "struct bpf_map", address, &map));
		TRY(read_u32(&map, "id", &program->maps[program->map_count]));
		program->map_count++;
	}
	return NULL;
}

/* The struct bpf_prog of function `index`: the program itself where it is not made of several. */
static struct error *function_at(struct target *target, const struct bpf_program *program,
				 uint32_t index, struct object *ret)
{
	struct object aux;
	uint64_t table, count, address = program->address;
	TRY(object_at(target, "struct bpf_prog_aux", program->aux, &aux));
	TRY(object_u64(&aux, "func_cnt", &count));
	if (count) {
		TRY(object_u64(&aux, "func", &table));
		TRY(memory_read_word(target->memory, table + index * target->memory->word_size,
				     &address));
	}
	return object_at(target, "struct bpf_prog", address, ret);
}

struct error *bpf_program_code(struct target *target, const struct bpf_program *program,
			       uint32_t index, struct bpf_code *ret)
{
	struct object function;
	struct bpf_code code;
	TRY(function_at(target, program, index, &function));
	TRY(object_u64(&function, "aux", &code.aux));
	TRY(object_u64(&function, "bpf_func", &code.start));
	TRY(read_u32(&function, "jited_len", &code.size));
	*ret = code;
	return NULL;
}

static struct error *read_sizes(struct target *target, const struct object *aux,
				struct bpf_program *program)
{
	TRY(read_u32(aux, "func_cnt", &program->function_count));
	if (program->function_count > FUNCTIONS_MAX)
		return error_create(ERROR_FORMAT, "it has %u functions", program->function_count);
	if (!program->function_count)
		program->function_count = 1;
	for (uint32_t i = 0; i < program->function_count; i++) {
		struct bpf_code code;
		TRY(bpf_program_code(target, program, i, &code));
		program->jited_bytes += code.size;
	}
	return NULL;
}

static struct error *read_program(struct target *target, uint64_t address,
				  struct bpf_program *program)
{
	struct object object, aux;
	uint64_t length;
	*program = (struct bpf_program){ .address = address };
	TRY(object_at(target, "struct bpf_prog", address, &object));
	TRY(object_follow(&object, "aux", &aux));
	program->aux = aux.address;
	TRY(read_u32(&aux, "id", &program->id));
	TRY(object_string(&aux, "name", program->name, sizeof(program->name)));
	TRY(object_u64(&object, "len", &length));
	program->instruction_bytes = length * INSTRUCTION;
	read_enum(&object, "type", "BPF_PROG_TYPE_", program->type);
	read_enum(&object, "expected_attach_type", "BPF_", program->attach_type);
	/* Its value is 0, which all others have that are attached in one way only. */
	if (!strcmp(program->attach_type, "cgroup_inet_ingress") &&
	    strcmp(program->type, "cgroup_skb") != 0)
		program->attach_type[0] = 0;
	read_tag(&object, program->tag);
	read_target(&aux, program);
	/* What is for people: without it there is still the program. */
	struct object user;
	struct error *error = object_u64(&aux, "load_time", &program->load_time);
	if (!error)
		error = object_follow(&aux, "user", &user);
	if (!error && user.address)
		error = read_u32(&user, "uid.val", &program->uid);
	error_free(error);
	TRY(read_sizes(target, &aux, program));
	return read_maps(&aux, program);
}

/* --- maps ------------------------------------------------------------------------------------ */

static struct error *read_map(struct target *target, uint64_t address, struct bpf_map *map)
{
	struct object object;
	*map = (struct bpf_map){ .address = address };
	TRY(object_at(target, "struct bpf_map", address, &object));
	TRY(read_u32(&object, "id", &map->id));
	TRY(read_u32(&object, "key_size", &map->key_size));
	TRY(read_u32(&object, "value_size", &map->value_size));
	TRY(read_u32(&object, "max_entries", &map->max_entries));
	TRY(object_string(&object, "name", map->name, sizeof(map->name)));
	read_enum(&object, "map_type", "BPF_MAP_TYPE_", map->type);
	return NULL;
}

/* --- what a running kernel says of them ------------------------------------------------------- */

/* All but what is in memory alone: where it lies, and what it is attached to. */
static void take_program_facts(struct target *target, const struct running_program *facts,
			       struct bpf_program *program)
{
	program->id = facts->id;
	program->uid = facts->uid;
	program->load_time = facts->load_time;
	program->instruction_bytes = facts->instruction_bytes;
	program->jited_bytes = facts->jited_bytes;
	program->function_count = facts->function_count;
	snprintf(program->name, sizeof(program->name), "%.*s", RUNNING_NAME_SIZE, facts->name);
	spell_named(target, "enum bpf_prog_type", facts->type, "BPF_PROG_TYPE_", program->type);
	spell_tag(facts->tag, program->tag);
	program->map_count = facts->map_count;
	memcpy(program->maps, facts->maps, sizeof(program->maps));
}

static void take_map_facts(struct target *target, const struct running_map *facts,
			   struct bpf_map *map)
{
	map->id = facts->id;
	map->key_size = facts->key_size;
	map->value_size = facts->value_size;
	map->max_entries = facts->max_entries;
	snprintf(map->name, sizeof(map->name), "%.*s", RUNNING_NAME_SIZE, facts->name);
	spell_named(target, "enum bpf_map_type", facts->type, "BPF_MAP_TYPE_", map->type);
}

/* --- all ------------------------------------------------------------------------------------- */

struct pass {
	struct target *target;
	const struct bpf_visitor *visitor;
	/*
	 * One of them: as it is found in memory (NULL: not), and as the kernel lists it (NULL: not,
	 * or this is a dump).
	 */
	struct error *(*show)(struct pass *pass, const struct walk_item *item, const void *facts);
	const uint8_t *listed; /* by the kernel, in the order of ids, with which each begins */
	size_t listed_size, listed_count, next;
};

static struct error *report_broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

static struct error *show_program(struct pass *pass, const struct walk_item *item,
				  const void *facts)
{
	struct bpf_program program = { 0 };
	struct error *error = item ? read_program(pass->target, item->address, &program) : NULL;
	if (error && !facts)
		return report_broken(pass,
				     error_prefix(error, "BPF program %" PRIu64, item->index));
	if (error)
		program = (struct bpf_program){ 0 };
	error_free(error);
	if (facts)
		take_program_facts(pass->target, facts, &program);
	return pass->visitor->program(pass->visitor->context, &program);
}

static struct error *show_map(struct pass *pass, const struct walk_item *item, const void *facts)
{
	struct bpf_map map = { 0 };
	struct error *error = item ? read_map(pass->target, item->address, &map) : NULL;
	if (error && !facts)
		return report_broken(pass, error_prefix(error, "BPF map %" PRIu64, item->index));
	if (error)
		map = (struct bpf_map){ 0 };
	error_free(error);
	if (facts)
		take_map_facts(pass->target, facts, &map);
	return pass->visitor->map(pass->visitor->context, &map);
}

/* The next one listed, if its id is below `end`; NULL. */
static const void *take_listed(struct pass *pass, uint64_t end)
{
	uint32_t id;
	const void *facts = pass->listed + pass->next * pass->listed_size;
	if (pass->next == pass->listed_count)
		return NULL;
	memcpy(&id, facts, sizeof(id));
	if (id >= end)
		return NULL;
	pass->next++;
	return facts;
}

/* What the kernel lists and memory, which was read later or changed meanwhile, does not have. */
static struct error *show_listed(struct pass *pass, uint64_t end)
{
	const void *facts;
	while ((facts = take_listed(pass, end)))
		TRY(pass->show(pass, NULL, facts));
	return NULL;
}

static struct error *visit(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	TRY(show_listed(pass, item->index));
	return pass->show(pass, item, take_listed(pass, item->index + 1));
}

/* All in the idr of a name, and what is listed. */
static struct error *walk_all(struct pass *pass, const char *idr, const void *listed)
{
	struct walk walk = {
		.target = pass->target, .visit = visit, .broken = report_broken, .context = pass
	};
	struct object object;
	pass->listed = listed;
	TRY(object_variable(pass->target, idr, "struct idr", &object));
	TRY(walk_idr(&walk, object.address));
	return show_listed(pass, UINT64_MAX);
}

struct error *bpf_for_each_program(struct target *target, const struct bpf_visitor *visitor)
{
	struct running_program *listed = NULL;
	struct pass pass = { target, visitor, show_program, .listed_size = sizeof(*listed) };
	if (target_is_live(target))
		error_free(live_programs(target, &listed, &pass.listed_count));
	struct error *error = walk_all(&pass, "prog_idr", listed);
	free(listed);
	return error;
}

struct error *bpf_for_each_map(struct target *target, const struct bpf_visitor *visitor)
{
	struct running_map *listed = NULL;
	struct pass pass = { target, visitor, show_map, .listed_size = sizeof(*listed) };
	if (target_is_live(target))
		error_free(live_maps(target, &listed, &pass.listed_count));
	struct error *error = walk_all(&pass, "map_idr", listed);
	free(listed);
	return error;
}
