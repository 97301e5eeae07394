// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/evidence/pointers.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "debugger/infer/evidence/counted.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/infer/solve/array_length.h"
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX	     200000 /* that are followed in all */
#define OBJECTS_A_TYPE	     400    /* more of a kind say nothing new */
#define OBJECT_SIZE_MAX	     65536
#define ARRAY_ELEMENTS_MAX   256
#define SUBJECT_ELEMENTS_MAX 1000000
#define DEPTH_MAX	     16
#define ARMS_MAX	     32 /* of a union, looked at */
#define ARM_SIZE	     16 /* a pointer and a count */
#define ARM_VISITS_MAX	     1024
#define ARM_BYTES_MAX	     1024
#define ARM_UNFIT	     -100
#define ARM_MARGIN	     3
#define CHOICES_MAX	     32

struct node {
	const struct layout *layout;
	uint64_t address;
	uint32_t type, count;
};

/*
 * Elements of a table that have the same function use the same arm of a union: what the bytes of
 * all that they point at say together, by arm.
 */
struct choice {
	uint64_t function;
	uint32_t offset; /* of the arms, in the element */
	uint32_t arm_count;
	int points[ARMS_MAX];
	uint32_t targets[ARMS_MAX];
};

struct pointer_walk {
	struct knowledge *knowledge;
	struct node *nodes; /* in the order they were found; `done` of them are followed */
	size_t count, capacity, done;
	struct hash_index seen;
	uint16_t *of_type; /* objects by type, of the kernel's layout */
	uint32_t type_count;
	uint64_t image_start, image_end;
	struct per_cpu_copies per_cpu; /* these are globals, too */
	size_t new_facts;
	uint64_t counted;	/* elements that the pointer at hand points at; 0: nothing says */
	struct choice *choices; /* CHOICES_MAX of them: of the table that is followed */
	size_t choice_count;
	uint32_t element_start;	   /* in the buffer, of the element that is followed */
	uint64_t element_function; /* 0: it has none */
	uint8_t *buffer;
};

struct error *pointer_walk_create(struct knowledge *knowledge, struct pointer_walk **ret)
{
	const struct layout *layout;
	TRY(knowledge_layout(knowledge, NULL, &layout));
	struct pointer_walk *walk = calloc(1, sizeof(*walk));
	if (!walk)
		return error_no_memory();
	walk->knowledge = knowledge;
	walk->type_count = layout->end;
	walk->of_type = calloc((size_t)layout->end + 1, sizeof(*walk->of_type));
	walk->buffer = malloc(OBJECT_SIZE_MAX);
	walk->choices = calloc(CHOICES_MAX, sizeof(*walk->choices));
	struct symtab *symbols = knowledge->target->symbols;
	if (!symtab_address(symbols, "_text", &walk->image_start) ||
	    !target_image_end(knowledge->target, &walk->image_end))
		walk->image_start = walk->image_end = 0;
	(void)per_cpu_untyped(knowledge->target, &walk->per_cpu);
	if (!walk->of_type || !walk->buffer || !walk->choices ||
	    !hash_index_init(&walk->seen, 65536)) {
		pointer_walk_destroy(walk);
		return error_no_memory();
	}
	*ret = walk;
	return NULL;
}

void pointer_walk_destroy(struct pointer_walk *walk)
{
	if (!walk)
		return;
	free(walk->nodes);
	free(walk->of_type);
	free(walk->buffer);
	free(walk->choices);
	hash_index_deinit(&walk->seen);
	free(walk);
}

static uint32_t node_hash(uint64_t address, uint32_t type)
{
	uint64_t key = address ^ (uint64_t)type << 40;
	return hash_bytes(&key, sizeof(key));
}

/*
 * False: it was known already, or there are too many. A global that something points at is known,
 * but not followed before it has an answer.
 */
static bool is_new(struct pointer_walk *walk, const struct node *node)
{
	uint32_t hash = node_hash(node->address, node->type), number;
	size_t position = hash_index_first(&walk->seen, hash);
	while ((number = hash_index_next(&walk->seen, hash, &position)) != HASH_NONE) {
		const struct node *other = &walk->nodes[number];
		if (other->address == node->address && other->type == node->type &&
		    (other->layout || !node->layout))
			return false;
	}
	return walk->count < OBJECTS_MAX;
}

static struct error *push(struct pointer_walk *walk, const struct node *node)
{
	if (!array_reserve(&walk->nodes, &walk->capacity, walk->count + 1) ||
	    !hash_index_add(&walk->seen, node_hash(node->address, node->type),
			    (uint32_t)walk->count))
		return error_no_memory();
	walk->nodes[walk->count++] = *node;
	return NULL;
}

struct error *pointer_walk_add(struct pointer_walk *walk, const struct layout *layout,
			       uint64_t address, uint32_t type, uint32_t count)
{
	struct node node = { layout, address, type, count };
	return is_new(walk, &node) ? push(walk, &node) : NULL;
}

/* --- one object ---------------------------------------------------------------------------- */

/* hlist_node.pprev: whatever points at a hlist_node, a pointer to a hlist_node in the same. */
static bool is_way_back(const struct layout *layout, uint32_t pointer)
{
	const struct field *field;
	uint32_t type = layout_target(layout, pointer);
	for (uint32_t i = 0;
	     layout_is_compound(layout, type) && (field = layout_field(layout, type, i)); i++)
		if (layout_target(layout, layout_resolve(layout, field->type)) == pointer)
			return true;
	return false;
}

/* A pointer to pointers or to numbers that points at an array of them. */
static struct error *add_table(struct pointer_walk *walk, uint32_t pointer_size, uint64_t address,
			       uint64_t where)
{
	struct clue clue = { .kind = CLUE_STRIDE,
			     .source = SOURCE_POINTER,
			     .size = pointer_size,
			     .where = where,
			     .how = "a pointer to its elements points at it" };
	return knowledge_add_fact(walk->knowledge, address, &clue);
}

static bool is_global(const struct pointer_walk *walk, uint64_t address)
{
	return (address >= walk->image_start && address < walk->image_end) ||
	       (address >= walk->per_cpu.first && address < walk->per_cpu.last);
}

/* The symbol that begins at an address, as a question. */
struct pointee {
	struct subject subject;
	struct question question;
	uint8_t bytes[ARM_BYTES_MAX];
};

/* False: none of the image does. */
static bool ask_pointee(const struct pointer_walk *walk, const struct layout *layout,
			uint64_t address, struct pointee *ret)
{
	const struct target *target = walk->knowledge->target;
	uint64_t inside;
	if (!is_global(walk, address) ||
	    !subject_find(walk->knowledge->target, address, &ret->subject, &inside) || inside)
		return false;
	ret->question = (struct question){ .knowledge = walk->knowledge,
					   .subject = &ret->subject,
					   .layout = layout,
					   .bytes = ret->bytes,
					   .is_constant = true };
	size_t size = ret->subject.room < sizeof(ret->bytes) ? (size_t)ret->subject.room
							     : sizeof(ret->bytes);
	ret->question.size =
		(uint32_t)memory_read_some(target->memory, address, ret->bytes, size, NULL);
	return true;
}

/* Numbers that something points at are elements, if what follows the first is in use, too. */
static bool is_numbers(const struct pointer_walk *walk, const struct layout *layout,
		       uint32_t target, uint64_t address)
{
	struct pointee pointee;
	return layout_kind(layout, target) == BTF_INT &&
	       ask_pointee(walk, layout, address, &pointee) &&
	       bytes_in_use(&pointee.question) > layout_size(layout, target);
}

static struct error *found_pointer(struct pointer_walk *walk, const struct node *from,
				   uint32_t target, uint64_t value, uint64_t where)
{
	const struct layout *layout = from->layout;
	if (is_global(walk, value)) {
		struct node node = { NULL, value, target, 0 };
		if (!is_new(walk, &node))
			return NULL;
		struct clue clue = { .kind = CLUE_OBJECT,
				     .source = SOURCE_POINTER,
				     .type = { layout->btf, target },
				     .where = where,
				     .how = "a typed pointer points at it" };
		if (walk->counted <= SUBJECT_ELEMENTS_MAX)
			clue.count = (uint32_t)walk->counted;
		walk->new_facts++;
		TRY(knowledge_add_fact(walk->knowledge, value, &clue));
		if ((layout_kind(layout, target) == BTF_PTR && !is_way_back(layout, target)) ||
		    is_numbers(walk, layout, target, value))
			TRY(add_table(walk, layout_size(layout, target), value, where));
		/* Remembered, not followed: the global's own type may be a larger one. */
		return push(walk, &node);
	}
	/* How long an array of pointers or numbers on the heap is, is not known: not followed. */
	if (!layout_is_compound(layout, target))
		return NULL;
	if (target < walk->type_count && walk->of_type[target]++ > OBJECTS_A_TYPE) {
		walk->of_type[target]--;
		return NULL;
	}
	return pointer_walk_add(walk, layout, value, target, 0);
}

/* --- unions --------------------------------------------------------------------------------- */

/* A pointer in one arm of a union. */
struct arm {
	uint32_t offset, target;
	bool is_counted; /* an integer follows it */
	uint64_t count;
};

struct arms {
	struct arm items[ARMS_MAX];
	uint32_t count, visits;
};

/* "const struct x *items; unsigned int count;": what follows the pointer at `index`. */
static bool read_count(const struct pointer_walk *walk, const struct layout *layout, uint32_t type,
		       uint32_t index, uint32_t offset, uint64_t *ret)
{
	const struct field *field = layout_field(layout, type, index);
	const struct field *next = layout_field(layout, type, index + 1);
	if (!next || layout_kind(layout, type) != BTF_STRUCT || next->bit_size ||
	    layout_kind(layout, next->type) != BTF_INT || next->offset != field->offset + 8)
		return false;
	uint32_t size = layout_size(layout, next->type);
	if (size < 4 || size > 8)
		return false;
	*ret = load_unsigned(walk->buffer + offset + next->offset, size,
			     walk->knowledge->target->facts->big_endian);
	return true;
}

static void add_arms(const struct pointer_walk *walk, const struct layout *layout, uint32_t type,
		     uint32_t offset, struct arms *arms, int depth)
{
	const struct field *field;
	for (uint32_t i = 0; (field = layout_field(layout, type, i)); i++) {
		uint32_t target = layout_target(layout, field->type);
		if (++arms->visits > ARM_VISITS_MAX ||
		    (uint64_t)offset + field->offset + ARM_SIZE > OBJECT_SIZE_MAX)
			return;
		if (depth < DEPTH_MAX && layout_is_compound(layout, field->type))
			add_arms(walk, layout, field->type, offset + field->offset, arms,
				 depth + 1);
		if (layout_kind(layout, field->type) != BTF_PTR || field->bit_size ||
		    !layout_is_compound(layout, target) || arms->count == ARMS_MAX)
			continue;
		struct arm arm = { .offset = offset + field->offset, .target = target };
		arm.is_counted = read_count(walk, layout, type, i, offset, &arm.count);
		arms->items[arms->count++] = arm;
	}
}

/* What the bytes of a symbol say of so many objects of an arm, in points. */
static int judge_arm(const struct question *question, const struct arm *arm)
{
	uint32_t size = layout_size(question->layout, arm->target);
	const char *why;
	if (!size || !arm->count || arm->count > question->subject->room / size)
		return ARM_UNFIT;
	return own_data_judge((void *)question, arm->target, (uint32_t)arm->count, &why);
}

/* The arm that explains the bytes far better than any other one; NULL: none does. */
static const struct arm *choose_arm(const struct question *question, const struct arms *arms,
				    uint32_t offset)
{
	const struct arm *best = NULL;
	int most = ARM_UNFIT, next = ARM_UNFIT;
	for (uint32_t i = 0; i < arms->count; i++) {
		const struct arm *arm = &arms->items[i];
		if (arm->offset != offset || (best && arm->target == best->target))
			continue;
		if (!arm->is_counted)
			return NULL;
		int points = judge_arm(question, arm);
		if (points > most) {
			next = most;
			most = points;
			best = arm;
		} else if (points > next) {
			next = points;
		}
	}
	return most >= 0 && most - next >= ARM_MARGIN ? best : NULL;
}

/* Of elements that have the function of the one at hand; NULL: nothing is known of these. */
static struct choice *find_choice(const struct pointer_walk *walk, uint32_t offset)
{
	for (size_t i = 0; i < walk->choice_count; i++)
		if (walk->choices[i].function == walk->element_function &&
		    walk->choices[i].offset == offset - walk->element_start)
			return &walk->choices[i];
	return NULL;
}

/* What the element's pointer says of each arm is added to what others say. */
static void count_choice(struct pointer_walk *walk, const struct layout *layout,
			 const struct arms *arms, uint32_t offset)
{
	struct pointee pointee;
	struct choice *choice = find_choice(walk, offset);
	uint64_t value =
		load_u64(walk->buffer + offset, walk->knowledge->target->facts->big_endian);
	if (!walk->element_function || !ask_pointee(walk, layout, value, &pointee))
		return;
	if (!choice && walk->choice_count < CHOICES_MAX) {
		choice = &walk->choices[walk->choice_count++];
		*choice = (struct choice){ .function = walk->element_function,
					   .offset = offset - walk->element_start };
	}
	if (!choice)
		return;
	choice->arm_count = arms->count;
	for (uint32_t i = 0; i < arms->count; i++) {
		const struct arm *arm = &arms->items[i];
		choice->targets[i] = arm->target;
		choice->points[i] += arm->offset == offset && arm->is_counted
					     ? judge_arm(&pointee.question, arm)
					     : ARM_UNFIT;
	}
}

/* By what all such elements say together; NULL: no arm is far ahead. */
static const struct arm *chosen_arm(const struct pointer_walk *walk, const struct arms *arms,
				    uint32_t offset)
{
	const struct choice *choice = walk->element_function ? find_choice(walk, offset) : NULL;
	uint32_t best = 0;
	if (!choice || !arms->count || choice->arm_count != arms->count)
		return NULL;
	for (uint32_t i = 1; i < arms->count; i++)
		if (choice->points[i] > choice->points[best])
			best = i;
	for (uint32_t i = 0; i < arms->count; i++)
		if (choice->targets[i] != choice->targets[best] &&
		    choice->points[best] - choice->points[i] < ARM_MARGIN)
			return NULL;
	return choice->points[best] >= 0 ? &arms->items[best] : NULL;
}

/*
 * Which arm of a union is in use, nobody knows. But where each has a pointer and a count, the bytes
 * that are pointed at tell so many of which type they are.
 */
static struct error *follow_arms(struct pointer_walk *walk, const struct node *node,
				 const struct arms *arms, uint32_t offset)
{
	struct pointee pointee;
	uint64_t value =
		load_u64(walk->buffer + offset, walk->knowledge->target->facts->big_endian);
	if (!ask_pointee(walk, node->layout, value, &pointee))
		return NULL;
	const struct arm *arm = chosen_arm(walk, arms, offset);
	if (!arm)
		arm = choose_arm(&pointee.question, arms, offset);
	if (!arm)
		return NULL;
	walk->counted = arm->count;
	struct error *error = found_pointer(walk, node, arm->target, value, node->address + offset);
	walk->counted = 0;
	return error;
}

/* Bytes are pointed at as what they are and as what they are not. */
static bool says_type(const struct layout *layout, uint32_t target)
{
	return layout_is_compound(layout, target) ? layout_size(layout, target) != 0
						  : layout_size(layout, target) > 1;
}

static struct error *follow_pointer(struct pointer_walk *walk, const struct node *node,
				    uint32_t type, uint32_t offset)
{
	const struct layout *layout = node->layout;
	uint32_t target = layout_target(layout, type);
	if (!says_type(layout, target))
		return NULL;
	uint64_t value =
		load_u64(walk->buffer + offset, walk->knowledge->target->facts->big_endian);
	if (!is_kernel_pointer(value) || value % layout_alignment(layout, target))
		return NULL;
	return found_pointer(walk, node, target, value, node->address + offset);
}

/* What all arms of a union are, but for const, as in attribute_group since 6.13; 0: they differ. */
static uint32_t only_arm(const struct layout *layout, uint32_t type)
{
	const struct field *field, *first = layout_field(layout, type, 0);
	for (uint32_t i = 0; (field = layout_field(layout, type, i)); i++)
		if (field->bit_size || field->offset || field->type != first->type)
			return 0;
	return first ? first->type : 0;
}

static struct error *follow_union(struct pointer_walk *walk, const struct node *node, uint32_t type,
				  uint32_t offset)
{
	struct arms arms = { .count = 0 };
	uint32_t arm = only_arm(node->layout, type);
	if (layout_kind(node->layout, arm) == BTF_PTR)
		return follow_pointer(walk, node, arm, offset);
	add_arms(walk, node->layout, type, offset, &arms, 0);
	for (uint32_t i = 0; i < arms.count; i++)
		if (!i || arms.items[i].offset != arms.items[i - 1].offset)
			TRY(follow_arms(walk, node, &arms, arms.items[i].offset));
	return NULL;
}

/* --- members -------------------------------------------------------------------------------- */

static struct error *follow_type(struct pointer_walk *walk, const struct node *node, uint32_t type,
				 uint64_t offset, int depth);

static struct error *follow_members(struct pointer_walk *walk, const struct node *node,
				    uint32_t type, uint64_t offset, int depth)
{
	const struct layout *layout = node->layout;
	const struct field *field;
	for (uint32_t i = 0; (field = layout_field(layout, type, i)); i++) {
		if (field->bit_size)
			continue;
		if (layout_kind(layout, field->type) == BTF_PTR &&
		    offset + layout_size(layout, type) <= OBJECT_SIZE_MAX)
			walk->counted = counted_by(layout, type, field->offset,
						   walk->buffer + offset,
						   walk->knowledge->target->facts->big_endian);
		struct error *error =
			follow_type(walk, node, field->type, offset + field->offset, depth + 1);
		walk->counted = 0;
		if (error)
			return error;
	}
	return NULL;
}

static struct error *follow_type(struct pointer_walk *walk, const struct node *node, uint32_t type,
				 uint64_t offset, int depth)
{
	const struct layout *layout = node->layout;
	uint32_t size = layout_size(layout, type);
	if (depth > DEPTH_MAX || offset + size > OBJECT_SIZE_MAX)
		return NULL;
	switch (layout_kind(layout, type)) {
	case BTF_PTR:
		return follow_pointer(walk, node, type, offset);
	case BTF_STRUCT:
		return follow_members(walk, node, type, offset, depth);
	case BTF_ARRAY: {
		uint32_t element = layout_target(layout, type);
		uint32_t count = layout_array_count(layout, type);
		uint32_t step = layout_size(layout, element);
		bool has_pointers = layout_is_compound(layout, element) ||
				    layout_kind(layout, element) == BTF_PTR;
		for (uint32_t i = 0; has_pointers && i < count && i < ARRAY_ELEMENTS_MAX; i++)
			TRY(follow_type(walk, node, element, offset + (uint64_t)i * step,
					depth + 1));
		return NULL;
	}
	case BTF_UNION:
		return follow_union(walk, node, type, offset);
	default:
		return NULL;
	}
}

/*
 * Bytes of it that are there: kmem_cache.node[] is as long as the machine has nodes, and what lies
 * behind it in the slab is the next object.
 */
static struct error *size_there(struct pointer_walk *walk, const struct node *node, size_t *size)
{
	const struct slab_cache *cache;
	struct slabs *slabs;
	uint64_t slot;
	TRY(knowledge_slabs(walk->knowledge, &slabs));
	if (!slabs || is_global(walk, node->address))
		return NULL;
	struct error *error = slabs_slot(slabs, node->address, &cache, &slot);
	if (error)
		return error_only_fatal(error);
	uint64_t left = slot + cache->slot_size - node->address;
	if (left < *size)
		*size = (size_t)left;
	return NULL;
}

static void begin_element(struct pointer_walk *walk, const struct node *node, uint32_t start)
{
	const struct layout *layout = node->layout;
	const struct field *field;
	walk->element_start = start;
	walk->element_function = 0;
	for (uint32_t i = 0; layout_is_compound(layout, node->type) && !walk->element_function &&
			     (field = layout_field(layout, node->type, i));
	     i++)
		if (layout_kind(layout, layout_target(layout, field->type)) == BTF_FUNC_PROTO)
			walk->element_function =
				load_u64(walk->buffer + start + field->offset,
					 walk->knowledge->target->facts->big_endian);
}

/* What the unions of all elements of a table are, by the functions of these. */
static void count_choices(struct pointer_walk *walk, const struct node *node, uint32_t step,
			  uint64_t size)
{
	const struct layout *layout = node->layout;
	const struct field *field;
	if (layout_kind(layout, node->type) != BTF_STRUCT)
		return;
	for (uint32_t at = 0; at + step <= size; at += step) {
		begin_element(walk, node, at);
		for (uint32_t i = 0; (field = layout_field(layout, node->type, i)); i++) {
			struct arms arms = { .count = 0 };
			if (layout_kind(layout, field->type) != BTF_UNION || field->bit_size)
				continue;
			add_arms(walk, layout, field->type, at + field->offset, &arms, 0);
			if (arms.count)
				count_choice(walk, layout, &arms, arms.items[0].offset);
		}
	}
}

static struct error *follow(struct pointer_walk *walk, const struct node *node)
{
	uint32_t step = layout_size(node->layout, node->type);
	uint64_t wanted = node->count ? (uint64_t)step * node->count : step;
	if (wanted > OBJECT_SIZE_MAX)
		wanted = OBJECT_SIZE_MAX - OBJECT_SIZE_MAX % (step ? step : 1);
	if (!step || step > OBJECT_SIZE_MAX)
		return NULL;
	size_t size = (size_t)wanted;
	TRY(size_there(walk, node, &size));
	struct error *error =
		memory_read(walk->knowledge->target->memory, node->address, walk->buffer, size);
	if (error)
		return error_only_fatal(error);
	memset(walk->buffer + size, 0, (size_t)wanted - size);
	walk->choice_count = 0;
	if (node->count > 1)
		count_choices(walk, node, step, wanted);
	for (uint32_t at = 0; at + step <= wanted; at += step) {
		begin_element(walk, node, at);
		TRY(follow_type(walk, node, node->type, at, 0));
	}
	return NULL;
}

struct error *pointer_walk_run(struct pointer_walk *walk, size_t *ret_new)
{
	walk->new_facts = 0;
	for (; walk->done < walk->count; walk->done++) {
		struct node node = walk->nodes[walk->done];
		if (walk->done % 1024 == 0)
			TRY(interrupt_check());
		if (node.layout)
			TRY(follow(walk, &node));
	}
	*ret_new = walk->new_facts;
	return NULL;
}
