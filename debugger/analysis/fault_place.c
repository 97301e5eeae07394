// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What lies at an address of the kernel's half that a page fault came of: read-only data, data that
 * was called, the page behind an area of vmalloc, or nothing.
 */
#include "debugger/analysis/fault.h"
#include "debugger/analysis/object_note.h"
#include "debugger/kernel/vmalloc.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* Of a struct vm_struct's flags (kernel include/linux/vmalloc.h): no page is left free behind it.
 */
#define VM_NO_GUARD 0x40u

/* --- areas of vmalloc ------------------------------------------------------------------------- */

struct neighbours {
	uint64_t address;
	struct vmalloc_area around, below, above; /* size 0: there is none */
};

static struct error *look_at_area(void *context, const struct vmalloc_area *area)
{
	struct neighbours *found = context;
	if (area->start > found->address) {
		if (!found->above.size || area->start < found->above.start)
			found->above = *area;
		return NULL;
	}
	if (found->address - area->start < area->size)
		found->around = *area;
	else if (!found->below.size || area->start > found->below.start)
		found->below = *area;
	return NULL;
}

static void put_caller(struct target *target, const struct vmalloc_area *area, char *buffer,
		       size_t size)
{
	char caller[SYMBOL_NAME_SIZE + 96];
	bool is_known = area->caller &&
			target_describe(target, area->caller, caller, sizeof(caller));
	snprintf(buffer, size, "%s%s", is_known ? " of " : "", is_known ? caller : "");
}

/*
 * The guard page behind one area is the page below the next one, which somebody may have left as
 * well. `behind`: bytes from what is used below. "": no area begins nearer than that, or within a
 * page.
 */
static void put_above(struct target *target, const struct neighbours *found, uint64_t behind,
		      char *buffer, size_t size)
{
	char caller[SYMBOL_NAME_SIZE + 100];
	const struct vmalloc_area *area = &found->above;
	uint64_t page = target->facts->page_size;
	uint64_t distance = area->start - found->address;
	*buffer = 0;
	if (!area->size || distance > page || distance > behind)
		return;
	put_caller(target, area, caller, sizeof(caller));
	snprintf(buffer, size, "0x%" PRIx64 " bytes below 0x%" PRIx64 " bytes of vmalloc%s",
		 distance, area->pages * page, caller);
}

static void say_around(struct target *target, const struct neighbours *found,
		       struct fault_place *ret)
{
	char caller[SYMBOL_NAME_SIZE + 100], above[SYMBOL_NAME_SIZE + 200];
	const struct vmalloc_area *area = &found->around;
	uint64_t offset = found->address - area->start;
	uint64_t used = area->pages * target->facts->page_size;
	put_caller(target, area, caller, sizeof(caller));
	put_above(target, found, offset > used ? offset - used : 0, above, sizeof(above));
	ret->kind = used && offset >= used && !(area->flags & VM_NO_GUARD) ? PLACE_GUARD
									   : PLACE_UNMAPPED;
	if (ret->kind == PLACE_GUARD)
		snprintf(ret->text, sizeof(ret->text),
			 "the guard page behind 0x%" PRIx64 " bytes of vmalloc%s%s%s", used, caller,
			 *above ? ", and " : "", above);
	else
		snprintf(ret->text, sizeof(ret->text),
			 "a page that is not mapped, 0x%" PRIx64 " bytes into vmalloc%s", offset,
			 caller);
}

/* Nothing is there: an area was given back, or there never was one. */
static void say_between(struct target *target, const struct neighbours *found,
			struct fault_place *ret)
{
	char caller[SYMBOL_NAME_SIZE + 100], above[SYMBOL_NAME_SIZE + 200], behind[64];
	const struct vmalloc_area *area = &found->below;
	uint64_t distance = found->address - area->start - area->size;
	ret->kind = PLACE_UNMAPPED;
	put_above(target, found, distance + target->facts->page_size, above, sizeof(above));
	put_caller(target, area, caller, sizeof(caller));
	snprintf(behind, sizeof(behind), "0x%" PRIx64 " bytes behind", distance);
	snprintf(ret->text, sizeof(ret->text),
		 "no area of vmalloc (%s the end of the nearest one%s%s%s)",
		 distance ? behind : "at", caller, *above ? ", " : "", above);
}

static uint64_t read_base(struct target *target, const char *name)
{
	struct object variable;
	uint64_t value = 0;
	struct error *error = object_variable(target, name, "unsigned long", &variable);
	if (!error)
		error = object_u64(&variable, NULL, &value);
	error_free(error);
	return value;
}

static struct error *find_area(struct target *target, uint64_t address, struct fault_place *ret)
{
	struct neighbours found = { .address = address };
	uint64_t lost, first = read_base(target, "vmalloc_base"),
		       end = read_base(target, "vmemmap_base");
	if (!first || address < first || address >= end)
		return NULL;
	TRY(vmalloc_for_each(target, look_at_area, &found, &lost));
	if (found.around.size)
		say_around(target, &found, ret);
	else if (found.below.size && !lost)
		say_between(target, &found, ret);
	return NULL;
}

/* --- modules that are gone -----------------------------------------------------------------------
 */

static bool is_module_name(const char *name)
{
	const char *end = name;
	while (isalnum((unsigned char)*end) || *end == '_' || *end == '-')
		end++;
	return *name && !*end;
}

/* A text, or a struct that begins with it (kernel kernel/module/main.c). */
static struct error *find_removed(struct target *target, struct fault_place *ret)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	size_t length;
	if (ret->address < target->arch->modules_start || ret->address >= target->arch->modules_end)
		return NULL;
	snprintf(ret->text, sizeof(ret->text), "where modules lie");
	if (!target_find_symbol(target, NULL, "last_unloaded_module", &cursor, &symbol))
		return NULL;
	struct error *error = memory_read_string(target->memory, symbol.address, ret->removed,
						 sizeof(ret->removed), &length);
	if (error || !is_module_name(ret->removed))
		*ret->removed = 0;
	else
		snprintf(ret->text, sizeof(ret->text),
			 "where modules lie, of which %s was the last to be removed", ret->removed);
	return error_only_fatal(error);
}

/* --- all ------------------------------------------------------------------------------------ */

struct error *fault_find_place(struct fault *fault, uint64_t address)
{
	struct target *target = fault->analysis->target;
	struct fault_place *place = &fault->place;
	struct object_note note;
	if (!fault->is_page_fault || fault->bad.kind != BAD_NOTHING)
		return NULL;
	place->address = address;
	TRY(object_note_find(target, address, &note));
	bool is_protected = fault->has_error_code && fault->error_code & FAULT_PROTECTION;
	if (is_protected && fault->error_code & FAULT_FETCH)
		place->kind = PLACE_NO_CODE;
	else if (is_protected && fault->error_code & FAULT_WRITE)
		place->kind = PLACE_READ_ONLY;
	if (*note.text || is_protected) {
		snprintf(place->text, sizeof(place->text), "%s", note.text);
		return NULL;
	}
	TRY(error_only_fatal(find_area(target, address, place)));
	return *place->text ? NULL : find_removed(target, place);
}

/* What kmalloc() is asked for up to this lies in slabs (kernel include/linux/slab.h). */
#define SLAB_OBJECT_MOST 8192u
#define STRUCT_LEAST	 64u

bool fault_is_misplaced(const struct fault *fault)
{
	const struct pointer_source *source = &fault->source;
	const struct object_note *note = &source->note;
	struct target *target = fault->analysis->target;
	struct object object;
	uint64_t size = 0, start = source->origin.place - source->member.offset;
	if (!source->is_known || !source->origin.is_loaded || !source->origin.has_place ||
	    !*source->member.path)
		return false;
	struct error *error = object_at(target, source->member.type, start, &object);
	bool has_size = !error && type_size(object.type, &size);
	error_free(error);
	if (note->is_slab && note->object)
		return start < note->object || (start > note->object && has_size &&
						start - note->object + size > note->size);
	/* In the direct map, and in nothing that is known; heads of lists are in tables, too. */
	return !*note->text && has_size && size >= STRUCT_LEAST && size <= SLAB_OBJECT_MOST &&
	       is_kernel_pointer(start) && start < read_base(target, "vmalloc_base");
}

struct error *fault_show_place(const struct fault *fault, struct finding *finding)
{
	static const char *const words[] = {
		[PLACE_READ_ONLY] = "a page is there, which must not be written to",
		[PLACE_NO_CODE] = "a page is there, whose bytes must not be run",
		[PLACE_GUARD] = "nothing is ever mapped there: it was read or written too far, or "
				"what was there is gone",
		[PLACE_UNMAPPED] = "no page is there",
	};
	const struct fault_place *place = &fault->place;
	char command[64];
	if (place->kind >= sizeof(words) / sizeof(*words) || !words[place->kind])
		return NULL;
	snprintf(command, sizeof(command), "whattype 0x%" PRIx64, place->address);
	return finding_add(finding, command, "%s", words[place->kind]);
}
