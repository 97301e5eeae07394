// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/whattype/place.h"

#include "base/array.h"
#include "debugger/kernel/page_array.h"
#include "debugger/kernel/slab_types.h"
#include "debugger/kernel/slabs.h"
#include "debugger/kernel/vmalloc.h"
#include "debugger/unwind/stacks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CACHES_MAX 8192 /* whose types are remembered */

/* Memory that somebody is known to have: a stack, or per-CPU variables. */
struct owned {
	uint64_t start, end;
	enum memory_region region;
	const struct cpu *cpu;
	uint64_t base; /* per-CPU: what the variables' offsets are added to */
	uint64_t task; /* its task */
	int32_t pid;
	char name[64]; /* its comm, or what a CPU's stack is called */
};

struct cache_type {
	uint64_t cache; /* its address */
	struct slab_type type;
};

struct places {
	struct target *target;
	struct slabs *slabs; /* NULL: they cannot be read */
	bool slabs_asked, owned_asked, areas_asked, pages_asked, has_pages;
	struct owned *owned; /* by address */
	size_t owned_count, owned_capacity;
	struct vmalloc_area *areas; /* by address */
	size_t area_count, area_capacity;
	struct page_array pages;
	struct cache_type *caches; /* by address */
	size_t cache_count, cache_capacity;
};

struct error *places_create(struct target *target, struct places **ret)
{
	struct places *places = calloc(1, sizeof(*places));
	if (!places)
		return error_no_memory();
	places->target = target;
	*ret = places;
	return NULL;
}

void places_destroy(struct places *places)
{
	if (!places)
		return;
	slabs_destroy(places->slabs);
	free(places->owned);
	free(places->areas);
	free(places->caches);
	free(places);
}

/* --- stacks and per-CPU areas ----------------------------------------------------------------- */

static struct error *add_owned(struct places *places, const struct owned *owned)
{
	if (owned->end <= owned->start)
		return NULL;
	if (!array_reserve(&places->owned, &places->owned_capacity, places->owned_count + 1))
		return error_no_memory();
	places->owned[places->owned_count++] = *owned;
	return NULL;
}

static struct error *add_task(void *context, const struct task *task)
{
	struct places *places = context;
	struct stacks stacks;
	stacks_init(&stacks, places->target, task, NULL);
	if (!stacks.count || !stacks.bounds[0].start)
		return NULL;
	struct owned owned = { .start = stacks.bounds[0].start,
			       .end = stacks.bounds[0].end,
			       .region = REGION_STACK,
			       .task = task->address,
			       .pid = task->pid };
	memcpy(owned.name, task->comm, sizeof(owned.name));
	return add_owned(places, &owned);
}

static struct error *add_cpu_stacks(struct places *places, const struct cpu *cpu)
{
	struct stacks stacks;
	stacks_init(&stacks, places->target, NULL, cpu);
	stacks_load(&stacks);
	for (size_t i = 0; i < stacks.count; i++) {
		struct owned owned = { .start = stacks.bounds[i].start,
				       .end = stacks.bounds[i].end,
				       .region = REGION_CPU_STACK,
				       .cpu = cpu };
		snprintf(owned.name, sizeof(owned.name), "%s", stacks.bounds[i].name);
		if (owned.start)
			TRY(add_owned(places, &owned));
	}
	return NULL;
}

static struct error *add_per_cpu(struct places *places, const struct cpu *cpu, uint64_t first,
				 uint64_t size)
{
	struct owned owned = { .start = first + cpu->per_cpu_offset,
			       .end = first + cpu->per_cpu_offset + size,
			       .region = REGION_PER_CPU,
			       .cpu = cpu,
			       .base = cpu->per_cpu_offset };
	return add_owned(places, &owned);
}

static int compare_owned(const void *a, const void *b)
{
	const struct owned *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static struct error *find_owned(struct places *places)
{
	struct target *target = places->target;
	struct error *problem = NULL;
	const struct cpu *cpus;
	const struct module *modules;
	uint64_t first, end;
	bool has_static = symtab_address(target->symbols, "__per_cpu_start", &first) &&
			  symtab_address(target->symbols, "__per_cpu_end", &end) && end > first;
	size_t cpu_count = target_cpus(target, &cpus);
	size_t module_count = target_modules(target, &modules);
	for (size_t i = 0; i < cpu_count; i++) {
		if (has_static)
			TRY(add_per_cpu(places, &cpus[i], first, end - first));
		for (size_t k = 0; k < module_count; k++)
			if (modules[k].percpu)
				TRY(add_per_cpu(places, &cpus[i], modules[k].percpu,
						modules[k].percpu_size));
		TRY(add_cpu_stacks(places, &cpus[i]));
	}
	struct error *error = task_for_each(target, add_task, places, &problem);
	error_free(problem);
	TRY(error_only_fatal(error));
	array_sort(places->owned, places->owned_count, sizeof(*places->owned), compare_owned);
	return NULL;
}

static struct error *ask_owned(struct places *places, uint64_t address, struct memory_place *ret,
			       bool *ret_found)
{
	*ret_found = false;
	if (!places->owned_asked) {
		places->owned_asked = true;
		TRY(find_owned(places));
	}
	size_t behind = array_bound(places->owned_count, i, places->owned[i].start <= address);
	if (!behind || address >= places->owned[behind - 1].end)
		return NULL;
	const struct owned *owned = &places->owned[behind - 1];
	*ret_found = true;
	ret->region = owned->region;
	ret->cpu = owned->cpu;
	ret->start = owned->start;
	ret->offset = address - owned->start;
	if (owned->region == REGION_PER_CPU) {
		struct symbol symbol;
		uint64_t offset;
		ret->has_symbol = symtab_by_per_cpu_address(
			places->target->symbols, address - owned->base, &symbol, &offset);
		if (ret->has_symbol) {
			snprintf(ret->symbol, sizeof(ret->symbol), "%s", symbol.name);
			snprintf(ret->module, sizeof(ret->module), "%s", symbol.module ?: "");
			ret->start = address - offset;
			ret->offset = offset;
		}
	} else if (owned->region == REGION_STACK) {
		ret->task = owned->task;
		ret->pid = owned->pid;
		memcpy(ret->comm, owned->name, sizeof(ret->comm));
	} else {
		snprintf(ret->stack, sizeof(ret->stack), "%.15s", owned->name);
	}
	return NULL;
}

/* --- symbols ---------------------------------------------------------------------------------- */

static bool ask_symbol(struct places *places, uint64_t address, struct memory_place *ret)
{
	struct target *target = places->target;
	struct symbol symbol;
	if (!target_symbol_at_into(target, address, ret->symbol, &symbol, &ret->offset))
		return false;
	ret->region = symtab_is_function(target->symbols, &symbol) ? REGION_TEXT : REGION_DATA;
	ret->has_symbol = true;
	ret->start = address - ret->offset;
	snprintf(ret->module, sizeof(ret->module), "%s", symbol.module ?: "");
	return true;
}

/* --- slabs ------------------------------------------------------------------------------------ */

static void set_type(struct memory_place *place, struct type type, enum confidence confidence)
{
	struct member_place member;
	uint64_t size;
	place->type = type;
	place->confidence = confidence;
	if (!type_size(type, &size) || place->offset >= size)
		return;
	member_path_whole_at(type, place->offset, &member);
	snprintf(place->member, sizeof(place->member), "%s", member.path);
}

static struct error *type_of_cache(struct places *places, const struct slab_cache *cache,
				   struct slab_type *ret)
{
	size_t at = array_bound(places->cache_count, i, places->caches[i].cache < cache->address);
	if (at < places->cache_count && places->caches[at].cache == cache->address) {
		*ret = places->caches[at].type;
		return NULL;
	}
	slab_type_of(places->target, cache, ret);
	if (places->cache_count >= CACHES_MAX)
		return NULL;
	if (!array_reserve(&places->caches, &places->cache_capacity, places->cache_count + 1))
		return error_no_memory();
	memmove(&places->caches[at + 1], &places->caches[at],
		(places->cache_count - at) * sizeof(*places->caches));
	places->caches[at] = (struct cache_type){ cache->address, *ret };
	places->cache_count++;
	return NULL;
}

static struct error *ask_slab(struct places *places, uint64_t address, struct memory_place *ret,
			      bool *ret_found)
{
	struct slab_type type;
	*ret_found = false;
	if (!places->slabs_asked) {
		places->slabs_asked = true;
		TRY(error_only_fatal(slabs_create(places->target, &places->slabs)));
	}
	if (!places->slabs)
		return NULL;
	struct error *error = slabs_find(places->slabs, address, &ret->slab);
	if (error)
		return error_only_fatal(error);
	*ret_found = true;
	ret->region = REGION_SLAB;
	if (ret->slab.state == SLAB_NO_OBJECT)
		return NULL;
	ret->start = ret->slab.object;
	ret->offset = address - ret->start;
	TRY(type_of_cache(places, ret->slab.cache, &type));
	/* What is free holds something of its type no longer, or not yet. */
	if (type.type.btf && type.is_sure && ret->slab.state != SLAB_FREE)
		set_type(ret, type.type, CONFIDENCE_INFERRED);
	return NULL;
}

/* --- other memory ----------------------------------------------------------------------------- */

static struct error *add_area(void *context, const struct vmalloc_area *area)
{
	struct places *places = context;
	if (!array_reserve(&places->areas, &places->area_capacity, places->area_count + 1))
		return error_no_memory();
	places->areas[places->area_count++] = *area;
	return NULL;
}

static int compare_areas(const void *a, const void *b)
{
	const struct vmalloc_area *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static struct error *ask_area(struct places *places, uint64_t address, struct memory_place *ret,
			      bool *ret_found)
{
	*ret_found = false;
	if (!places->areas_asked) {
		uint64_t lost;
		places->areas_asked = true;
		TRY(error_only_fatal(vmalloc_for_each(places->target, add_area, places, &lost)));
		array_sort(places->areas, places->area_count, sizeof(*places->areas),
			   compare_areas);
	}
	size_t behind = array_bound(places->area_count, i, places->areas[i].start <= address);
	if (!behind || address - places->areas[behind - 1].start >= places->areas[behind - 1].size)
		return NULL;
	*ret_found = true;
	ret->region = REGION_VMALLOC;
	ret->start = places->areas[behind - 1].start;
	ret->offset = address - ret->start;
	ret->caller = places->areas[behind - 1].caller;
	return NULL;
}

static struct error *ask_page(struct places *places, uint64_t address, struct memory_place *ret)
{
	const struct page_array *pages = &places->pages;
	if (!places->pages_asked) {
		places->pages_asked = true;
		struct error *error = page_array_read(places->target, &places->pages);
		places->has_pages = !error;
		TRY(error_only_fatal(error));
	}
	if (!places->has_pages)
		return NULL;
	if (page_array_frame(pages, address, &ret->frame)) {
		ret->region = REGION_PAGE_STRUCT;
		ret->start = address - (address - pages->records.base) % pages->records.record_size;
		ret->offset = address - ret->start;
		set_type(ret, pages->page.type, CONFIDENCE_CERTAIN);
	} else if (address >= pages->direct_map &&
		   address - pages->direct_map < pages->count * pages->records.page_size) {
		ret->region = REGION_DIRECT_MAP;
		ret->offset = address - pages->direct_map;
	}
	return NULL;
}

struct error *places_find(struct places *places, uint64_t address, struct memory_place *ret)
{
	bool found;
	*ret = (struct memory_place){ .region = REGION_UNKNOWN };
	if (ask_symbol(places, address, ret))
		return NULL;
	TRY(ask_owned(places, address, ret, &found));
	if (!found)
		TRY(ask_slab(places, address, ret, &found));
	if (!found)
		TRY(ask_area(places, address, ret, &found));
	return found ? NULL : ask_page(places, address, ret);
}

/* --- in words --------------------------------------------------------------------------------- */

static void spell_slab(const struct memory_place *place, char *buffer, size_t size)
{
	const char *state = place->slab.state == SLAB_FREE ? " (free)" : "";
	if (place->slab.state == SLAB_NO_OBJECT)
		snprintf(buffer, size, "%s, between its objects", place->slab.cache->name);
	else
		snprintf(buffer, size, "%s %" PRIx64 "+0x%" PRIx64 "%s%s%s",
			 place->slab.cache->name, place->start, place->offset, state,
			 *place->member ? " ." : "", place->member);
}

static void spell_area(const struct places *places, const struct memory_place *place, char *buffer,
		       size_t size)
{
	char caller[SYMBOL_NAME_SIZE + 80];
	int used = snprintf(buffer, size, "vmalloc area %" PRIx64 "+0x%" PRIx64, place->start,
			    place->offset);
	if (place->caller && used > 0 && (size_t)used < size &&
	    target_describe(places->target, place->caller, caller, sizeof(caller)))
		snprintf(buffer + used, size - (size_t)used, ", of %s", caller);
}

void place_spell(const struct places *places, const struct memory_place *place, char *buffer,
		 size_t size)
{
	const char *open = *place->module ? " [" : "", *close = *place->module ? "]" : "";
	unsigned int cpu = place->cpu ? place->cpu->number : 0;
	if (place->region == REGION_PER_CPU && place->has_symbol)
		snprintf(buffer, size, "%s:%u+0x%" PRIx64 "%s%s%s", place->symbol, cpu,
			 place->offset, open, place->module, close);
	else if (place->region == REGION_PER_CPU)
		snprintf(buffer, size, "per-CPU memory of CPU %u", cpu);
	else if (place->has_symbol)
		snprintf(buffer, size, "%s+0x%" PRIx64 "%s%s%s", place->symbol, place->offset, open,
			 place->module, close);
	else if (place->region == REGION_SLAB)
		spell_slab(place, buffer, size);
	else if (place->region == REGION_STACK)
		snprintf(buffer, size, "stack of PID %" PRId32 " \"%.*s\"+0x%" PRIx64, place->pid,
			 (int)sizeof(place->comm), place->comm, place->offset);
	else if (place->region == REGION_CPU_STACK)
		snprintf(buffer, size, "%s stack of CPU %u+0x%" PRIx64, place->stack, cpu,
			 place->offset);
	else if (place->region == REGION_PAGE_STRUCT)
		snprintf(buffer, size, "struct page of frame 0x%" PRIx64 "%s%s", place->frame,
			 *place->member ? " ." : "", place->member);
	else if (place->region == REGION_VMALLOC)
		spell_area(places, place, buffer, size);
	else
		snprintf(buffer, size, "%s", memory_region_name(place->region));
}
