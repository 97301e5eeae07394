// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/whattype/whattype.h"

#include "base/array.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/kernel/slab_types.h"
#include "debugger/unwind/stacks.h"
#include "vmcore/virtual.h"
#include <stdlib.h>
#include <string.h>

#define REACHED_MAX 512 /* objects of one place that are looked at */
/* Struct pages are there for whole sections of 128 MiB; x86-64 has 52 bits of physical address. */
#define SECTION_FRAMES ((uint64_t)1 << 15)
#define FRAMES_MAX     ((uint64_t)1 << 40)
#define PAGE_SIZE_MAX  4096u /* of struct page */

const char *memory_region_name(enum memory_region region)
{
	static const char *const names[] = {
		[REGION_UNKNOWN] = "unknown",	  [REGION_TEXT] = "text",
		[REGION_DATA] = "data",		  [REGION_PER_CPU] = "per-CPU",
		[REGION_SLAB] = "slab",		  [REGION_STACK] = "task stack",
		[REGION_CPU_STACK] = "CPU stack", [REGION_PAGE_STRUCT] = "struct pages",
		[REGION_VMALLOC] = "vmalloc",	  [REGION_DIRECT_MAP] = "direct map",
	};
	return names[region];
}

void whattype_deinit(struct whattype *whattype)
{
	if (whattype->has_task)
		task_deinit(&whattype->task);
	reach_destroy_near(whattype->near);
	*whattype = (struct whattype){ 0 };
}

/* The upper half of the addresses. */
static bool is_kernel_address(const struct target *target, uint64_t address)
{
	return address >> (target->memory->word_size * 8 - 1);
}

static void add_finding(struct whattype *what, const struct whattype_finding *finding)
{
	if (what->finding_count < FINDINGS_MAX)
		what->findings[what->finding_count++] = *finding;
}

/* --- symbols --------------------------------------------------------------------------------- */

static struct error *add_symbol_type(struct whattype *what, uint64_t start)
{
	struct whattype_finding finding = {
		.start = start, .how = "symbol", .reach = REACH_NONE, .fits = true
	};
	uint64_t size;
	TRY(error_only_fatal(
		symbol_type(what->target, &what->symbol, &finding.type, &finding.origin)));
	if (!finding.type.btf || finding.origin == ORIGIN_NONE)
		return NULL;
	finding.confidence = origin_confidence(finding.origin);
	finding.covers = type_size(finding.type, &size) && what->symbol_offset < size;
	add_finding(what, &finding);
	return NULL;
}

/* --- per-CPU areas -----------------------------------------------------------------------------
 */

/* The span of offsets of the kernel's static variables. */
static bool static_area(struct target *target, uint64_t *ret_start, uint64_t *ret_end)
{
	return symtab_address(target->symbols, "__per_cpu_start", ret_start) &&
	       symtab_address(target->symbols, "__per_cpu_end", ret_end);
}

/* Does the offset lie in static memory of the kernel or a module? */
static bool is_static_offset(struct target *target, uint64_t offset)
{
	const struct module *modules;
	uint64_t start, end;
	if (static_area(target, &start, &end) && offset >= start && offset < end)
		return true;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++)
		if (modules[i].percpu && offset >= modules[i].percpu &&
		    offset - modules[i].percpu < modules[i].percpu_size)
			return true;
	return false;
}

static struct error *ask_per_cpu(struct whattype *what, bool *ret_found)
{
	struct target *target = what->target;
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	*ret_found = false;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = what->address - cpus[i].per_cpu_offset;
		if (!is_static_offset(target, offset))
			continue;
		*ret_found = true;
		what->region = REGION_PER_CPU;
		what->cpu = &cpus[i];
		what->has_symbol = symtab_by_per_cpu_address(target->symbols, offset, &what->symbol,
							     &what->symbol_offset);
		if (!what->has_symbol)
			return NULL;
		return add_symbol_type(what, what->address - what->symbol_offset);
	}
	return NULL;
}

/* --- objects that are reached ---------------------------------------------------------------- */

static bool type_covers(struct type type, uint64_t start, uint64_t address)
{
	uint64_t size;
	return address >= start && type_size(type, &size) && address - start < size;
}

/* What pointers say of objects between two addresses. */
static void add_reached(struct whattype *what, uint64_t first, uint64_t last)
{
	uint32_t numbers[REACHED_MAX];
	size_t count = reach_find(what->reach, first, last, numbers, REACHED_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct reach_object *object = reach_object(what->reach, numbers[i]);
		struct whattype_finding finding = { .type = reach_type(what->reach, numbers[i]),
						    .start = object->address,
						    .confidence = CONFIDENCE_INFERRED,
						    .origin = ORIGIN_INFERRED,
						    .how = "pointer",
						    .reach = numbers[i] };
		uint64_t size = 0;
		/* One before may seem to reach in, by a buffer at its end that is cut. */
		bool is_before = finding.start < first &&
				 first - finding.start >= member_least_size(finding.type);
		if (!object->references || is_before || !type_size(finding.type, &size))
			continue;
		finding.covers = type_covers(finding.type, finding.start, what->address);
		finding.fits = finding.start >= first &&
			       finding.start + member_least_size(finding.type) - 1 <= last;
		add_finding(what, &finding);
	}
}

/* Can the one be a part of the other, or both be parts of one larger thing? */
static bool agree(const struct whattype_finding *a, const struct whattype_finding *b)
{
	const struct whattype_finding *outer = a, *inner = b;
	uint64_t first, second;
	if (!type_size(a->type, &first) || !type_size(b->type, &second))
		return false;
	if (a->start + first <= b->start || b->start + second <= a->start)
		return true;
	if (second > first) {
		outer = b;
		inner = a;
	}
	return inner->start >= outer->start &&
	       member_is_at(outer->type, inner->start - outer->start, inner->type);
}

/* Lets all findings judge one another, weighed by how many pointers say so. */
static void compare_findings(struct whattype *what)
{
	for (size_t i = 0; i < what->finding_count; i++) {
		struct whattype_finding *one = &what->findings[i];
		for (size_t k = 0; k < what->finding_count; k++) {
			const struct whattype_finding *other = &what->findings[k];
			if (i == k || other->reach == REACH_NONE || !other->fits)
				continue;
			uint32_t weight = reach_object(what->reach, other->reach)->references;
			if (agree(one, other))
				one->agree += weight;
			else
				one->differ += weight;
		}
	}
}

static int rank(const struct whattype_finding *finding)
{
	return (finding->covers ? 16 : 0) + (finding->fits ? 8 : 0) + 2 * (int)finding->confidence;
}

static int compare_rank(const void *a, const void *b)
{
	const struct whattype_finding *left = a, *right = b;
	uint64_t first = 0, second = 0;
	if (rank(left) != rank(right))
		return rank(left) > rank(right) ? -1 : 1;
	if (left->differ != right->differ)
		return left->differ < right->differ ? -1 : 1;
	(void)type_size(left->type, &first);
	(void)type_size(right->type, &second);
	/* The larger one says more, of two that agree. */
	return first > second ? -1 : first < second;
}

/* Marks findings that lie within an earlier one: they add nothing. */
static void mark_parts(struct whattype *what)
{
	for (size_t i = 0; i < what->finding_count; i++) {
		struct whattype_finding *finding = &what->findings[i];
		finding->is_part = false;
		for (size_t k = 0; k < i && !finding->is_part; k++) {
			const struct whattype_finding *other = &what->findings[k];
			finding->is_part =
				other->fits && other->start <= finding->start &&
				member_is_at(other->type, finding->start - other->start,
					     finding->type) &&
				!(other->reach == REACH_NONE && other->start == finding->start);
		}
	}
}

static void put_in_order(struct whattype *what)
{
	compare_findings(what);
	for (size_t i = 0; i < what->finding_count; i++) {
		struct whattype_finding *finding = &what->findings[i];
		if (finding->reach != REACH_NONE && (finding->differ || !finding->fits))
			finding->confidence = CONFIDENCE_GUESS;
	}
	array_sort(what->findings, what->finding_count, sizeof(*what->findings), compare_rank);
	mark_parts(what);
}

/* From here on the pointers of the whole dump are asked. */
static struct error *follow_all(struct whattype *what)
{
	reach_destroy_near(what->near);
	what->near = NULL;
	what->follows_all = true;
	return reach_get(what->target, &what->reach);
}

/* --- the image and modules -------------------------------------------------------------------- */

static struct error *ask_symbol(struct whattype *what, bool *ret_found)
{
	struct target *target = what->target;
	*ret_found = what->has_symbol =
		target_symbol_at(target, what->address, &what->symbol, &what->symbol_offset);
	if (!what->has_symbol)
		return NULL;
	uint64_t address = what->symbol.address;
	bool is_text = symtab_is_function(target->symbols, &what->symbol);
	what->region = is_text ? REGION_TEXT : REGION_DATA;
	if (is_text)
		return NULL;
	TRY(add_symbol_type(what, address));
	if (!what->symbol.size ||
	    (what->finding_count && what->findings[0].confidence > CONFIDENCE_GUESS))
		return NULL;
	/* What the symbol itself does not tell, pointers at it may. */
	TRY(follow_all(what));
	add_reached(what, address, address + what->symbol.size - 1);
	put_in_order(what);
	return NULL;
}

/* --- slabs -------------------------------------------------------------------------------------
 */

/*
 * The name of a cache and the pointers at its object know nothing of each other: where they agree
 * and nothing else is there, the type is certain.
 */
static struct error *add_cache_type(struct whattype *what)
{
	struct slab_type type;
	TRY(reach_cache_type(what->reach, what->slab.cache, &type));
	if (!type.type.btf)
		return NULL;
	struct whattype_finding finding = { .type = type.type,
					    .start = what->slab.object,
					    .confidence = type.is_sure ? CONFIDENCE_INFERRED
								       : CONFIDENCE_GUESS,
					    .origin = ORIGIN_INFERRED,
					    .how = "slab cache",
					    .reach = REACH_NONE,
					    .fits = true };
	finding.covers = type_covers(type.type, finding.start, what->address);
	add_finding(what, &finding);
	return NULL;
}

/* A pointer at something else in a cache that is sure of its type is stale. */
static void weigh_pointers(struct whattype *what, const struct whattype_finding *cache)
{
	bool is_sure = cache->confidence > CONFIDENCE_GUESS;
	for (size_t k = 0; k < what->finding_count; k++) {
		struct whattype_finding *other = &what->findings[k];
		if (other->reach == REACH_NONE || !other->fits)
			continue;
		/* Pointers at what the cache says itself count for it. */
		if (agree(cache, other))
			other->confidence = cache->confidence;
		else if (is_sure)
			other->confidence = CONFIDENCE_GUESS;
	}
}

static void weigh_cache_type(struct whattype *what)
{
	for (size_t i = 0; i < what->finding_count; i++) {
		struct whattype_finding *finding = &what->findings[i];
		if (finding->reach != REACH_NONE)
			continue;
		weigh_pointers(what, finding);
		bool agreed = finding->agree && !finding->differ;
		if (agreed && finding->confidence < CONFIDENCE_CERTAIN)
			finding->confidence = (enum confidence)(finding->confidence + 1);
		finding->origin = confidence_origin(finding->confidence);
	}
}

/* By the cache and the pointers of `what->reach`. */
static struct error *type_slab_object(struct whattype *what)
{
	what->finding_count = 0;
	TRY(add_cache_type(what));
	add_reached(what, what->slab.object, what->slab.object + what->slab.cache->slot_size - 1);
	put_in_order(what);
	weigh_cache_type(what);
	for (size_t i = 0; i < what->finding_count && what->slab.state == SLAB_FREE; i++)
		what->findings[i].confidence = CONFIDENCE_GUESS;
	array_sort(what->findings, what->finding_count, sizeof(*what->findings), compare_rank);
	mark_parts(what);
	return NULL;
}

/* Is it certain by the cache and by what is around it? */
static struct error *ask_near(struct whattype *what, bool *ret_certain)
{
	*ret_certain = false;
	if (what->follows_all || what->slab.state != SLAB_ALLOCATED)
		return NULL;
	TRY(reach_create_near(what->reach, &what->slab, &what->near));
	what->reach = what->near;
	TRY(type_slab_object(what));
	const struct whattype_finding *best = &what->findings[0];
	*ret_certain = what->finding_count && best->covers && best->fits &&
		       best->confidence == CONFIDENCE_CERTAIN;
	return NULL;
}

static struct error *ask_slab(struct whattype *what, bool *ret_found)
{
	bool is_certain;
	*ret_found = false;
	if (!reach_slabs(what->reach))
		return NULL;
	struct error *error = slabs_find(reach_slabs(what->reach), what->address, &what->slab);
	if (error)
		return error_only_fatal(error);
	*ret_found = true;
	what->region = REGION_SLAB;
	if (what->slab.state == SLAB_NO_OBJECT)
		return NULL;
	TRY(ask_near(what, &is_certain));
	if (is_certain)
		return NULL;
	TRY(follow_all(what));
	return type_slab_object(what);
}

/* --- stacks ------------------------------------------------------------------------------------
 */

static struct error *look_at_stack(void *context, const struct task *task)
{
	struct whattype *what = context;
	struct stacks stacks;
	if (what->has_task)
		return NULL;
	stacks_init(&stacks, what->target, task, NULL);
	const struct stack_bounds *bounds = stacks_find(&stacks, what->address);
	if (!bounds || !bounds->start || what->address >= bounds->end)
		return NULL;
	struct error *error = task_read(what->target, task->address, &what->task);
	what->has_task = !error;
	return error_only_fatal(error);
}

static struct error *ask_task_stacks(struct whattype *what, bool *ret_found)
{
	struct error *problem = NULL;
	struct error *error = task_for_each(what->target, look_at_stack, what, &problem);
	error_free(problem);
	*ret_found = what->has_task;
	if (what->has_task)
		what->region = REGION_STACK;
	return error_only_fatal(error);
}

static struct error *ask_cpu_stacks(struct whattype *what, bool *ret_found)
{
	const struct cpu *cpus;
	size_t count = target_cpus(what->target, &cpus);
	*ret_found = false;
	for (size_t i = 0; i < count && !*ret_found; i++) {
		struct stacks stacks;
		stacks_init(&stacks, what->target, NULL, &cpus[i]);
		const struct stack_bounds *bounds = stacks_find(&stacks, what->address);
		if (!bounds || !bounds->start || what->address >= bounds->end)
			continue;
		*ret_found = true;
		what->region = REGION_CPU_STACK;
		what->cpu = &cpus[i];
		memcpy(what->stack, bounds->name, sizeof(what->stack));
	}
	return NULL;
}

/* --- the rest of the kernel's half ---------------------------------------------------------------
 */

/* A base that KASLR keeps in a variable; 0: none. */
static uint64_t read_base(struct target *target, const char *name)
{
	uint64_t address, value = 0;
	if (symtab_address(target->symbols, name, &address))
		error_free(memory_read_word(target->memory, address, &value));
	return value;
}

/* Where struct pages may lie, bytes: those of all memory, by sections. */
static uint64_t page_structs_size(struct target *target)
{
	struct type type;
	uint64_t size, frames = read_base(target, "max_pfn");
	struct error *error = target_find_type(target, NULL, "struct page", &type);
	bool has_size = !error && type_size(type, &size);
	error_free(error);
	if (!frames && target->facts->page_size)
		frames = target->facts->max_physical / target->facts->page_size;
	if (!has_size || size > PAGE_SIZE_MAX || frames > FRAMES_MAX)
		return 0;
	return ((frames + SECTION_FRAMES - 1) & ~(SECTION_FRAMES - 1)) * size;
}

static struct error *ask_page_struct(struct whattype *what, uint64_t base)
{
	struct whattype_finding finding = { .confidence = CONFIDENCE_CERTAIN,
					    .origin = ORIGIN_CERTAIN,
					    .how = "place",
					    .reach = REACH_NONE,
					    .covers = true,
					    .fits = true };
	uint64_t size;
	what->region = REGION_PAGE_STRUCT;
	TRY(error_only_fatal(target_find_type(what->target, NULL, "struct page", &finding.type)));
	if (!finding.type.btf || !type_size(finding.type, &size) || !size || !what->is_mapped)
		return NULL;
	finding.start = what->address - (what->address - base) % size;
	add_finding(what, &finding);
	return NULL;
}

struct area_question {
	struct target *target;
	struct type type;
	uint64_t address, start, end;
};

static bool is_area(void *context, const struct reach_object *reached)
{
	struct area_question *question = context;
	struct object area = { .target = question->target,
			       .type = question->type,
			       .address = reached->address };
	struct error *error = object_u64(&area, "va_start", &question->start);
	if (!error)
		error = object_u64(&area, "va_end", &question->end);
	error_free(error);
	return !error && question->address >= question->start && question->address < question->end;
}

/* The struct vmap_area of the address, and who allocated it. */
static struct error *ask_area(struct whattype *what)
{
	struct area_question question = { .target = what->target, .address = what->address };
	struct object area, vm;
	TRY(error_only_fatal(
		target_find_type(what->target, NULL, "struct vmap_area", &question.type)));
	if (!question.type.btf)
		return NULL;
	uint32_t number = reach_search(what->reach, question.type, is_area, &question);
	if (number == REACH_NONE)
		return NULL;
	what->area_start = question.start;
	what->area_end = question.end;
	area = (struct object){ .target = what->target,
				.type = question.type,
				.address = reach_object(what->reach, number)->address };
	struct error *error = object_follow(&area, "vm", &vm);
	if (!error)
		error = object_u64(&vm, "caller", &what->area_caller);
	return error_only_fatal(error);
}

static struct error *ask_rest(struct whattype *what)
{
	uint64_t direct = read_base(what->target, "page_offset_base");
	uint64_t vmalloc = read_base(what->target, "vmalloc_base");
	uint64_t pages = read_base(what->target, "vmemmap_base");
	if (pages && what->address >= pages &&
	    what->address - pages < page_structs_size(what->target))
		return ask_page_struct(what, pages);
	TRY(follow_all(what));
	if (what->is_mapped)
		add_reached(what, what->address, what->address);
	/* Nothing bounds the object: the larger one that agrees is not cut off by anything. */
	for (size_t i = 0; i < what->finding_count; i++)
		what->findings[i].fits = what->address - what->findings[i].start <
					 member_least_size(what->findings[i].type);
	put_in_order(what);
	if (vmalloc && what->address >= vmalloc && what->address < pages) {
		what->region = REGION_VMALLOC;
		return ask_area(what);
	}
	if (direct && what->address >= direct && what->address < vmalloc && what->is_mapped)
		what->region = REGION_DIRECT_MAP;
	return NULL;
}

/* --- all together --------------------------------------------------------------------------------
 */

static bool is_typed(const struct whattype *what)
{
	return what->finding_count && what->findings[0].covers && what->findings[0].fits &&
	       what->findings[0].confidence >= CONFIDENCE_INFERRED;
}

static struct error *ask_heap(struct whattype *what)
{
	bool found;
	what->finding_count = 0;
	TRY(ask_slab(what, &found));
	if (!found)
		TRY(ask_task_stacks(what, &found));
	if (!found)
		TRY(ask_cpu_stacks(what, &found));
	return found ? NULL : ask_rest(what);
}

/* Is there more to learn from all globals? */
static bool is_open(const struct whattype *what)
{
	if (is_typed(what) || !what->is_mapped || what->slab.state == SLAB_FREE)
		return false;
	return what->region == REGION_SLAB || what->region == REGION_VMALLOC ||
	       what->region == REGION_DIRECT_MAP;
}

/* Searches for pointers at an object that was not reached before the search was cut off. */
static struct error *ask_pointers(struct whattype *what)
{
	uint64_t first = what->address, last = what->address;
	if (what->region == REGION_SLAB && what->slab.state != SLAB_NO_OBJECT) {
		first = what->slab.object;
		last = first + what->slab.cache->slot_size - 1;
	}
	TRY(error_only_fatal(reach_add_pointers_at(what->reach, first, last)));
	return ask_heap(what);
}

static struct error *ask(struct whattype *what)
{
	bool found;
	TRY(ask_symbol(what, &found));
	if (!found)
		TRY(ask_per_cpu(what, &found));
	if (found || !is_kernel_address(what->target, what->address))
		return NULL;
	struct error *error =
		virtual_memory_translate(what->target->memory, what->address, &what->physical);
	what->is_mapped = !error;
	TRY(error_only_fatal(error));
	TRY(reach_open(what->target, &what->reach));
	TRY(ask_heap(what));
	if (is_open(what) && reach_is_cut(what->reach))
		TRY(ask_pointers(what));
	if (!is_open(what))
		return NULL;
	TRY(error_only_fatal(reach_add_globals(what->reach)));
	return ask_heap(what);
}

struct error *whattype_ask(struct target *target, uint64_t address, bool all, struct whattype *ret)
{
	*ret = (struct whattype){ .target = target, .address = address, .follows_all = all };
	struct error *error = ask(ret);
	if (error)
		whattype_deinit(ret);
	return error;
}
