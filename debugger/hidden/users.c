// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Variables that are not exported: addresses that functions mention which use them, of which one,
 * and only one, has the structure that the variable must have. An empty list or map shows little
 * of it: then at least two functions must mention it, and no other address will do.
 */
#include "debugger/hidden/hidden_private.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/walk.h"
#include <stdlib.h>
#include <string.h>

#define USERS_MAX   6u
#define ITEMS_CHECK 4u /* of a list or map: enough to believe it */
#define CPUS_CHECK  64u
#define NOTE_HEAD   20u	 /* of an ELF note, with the name CORE */
#define NOTE_ALIGN  256u /* of a kexec's notes, which are aligned to their size */
/* Of looking at what an address is of, and of walking over a map. */
#define STEPS_OF_A_LOOK 2000u
#define STEPS_OF_A_WALK 200000u

enum shape { SHAPE_WRONG, SHAPE_EMPTY, SHAPE_RIGHT };

struct recipe {
	const char *name;
	const char *type; /* NULL: unknown size */
	char kind;
	enum shape (*look)(struct target *target, uint64_t address, const struct recipe *recipe);
	const char *item, *member; /* of a list: the struct and its link; of others as they need */
	bool (*is_item)(const struct object *item);
	const char *users[USERS_MAX];
	const char *other; /* a function that uses its like instead; NULL */
	const char *evidence;
};

/* --- what lies there ----------------------------------------------------------------------- */

static bool u64(const struct object *object, const char *path, uint64_t *ret)
{
	struct error *error = object_u64(object, path, ret);
	error_free(error);
	return !error;
}

static bool is_printable(const char *text)
{
	size_t length = 0;
	for (; text[length]; length++)
		if (text[length] < ' ' || text[length] > '~')
			return false;
	return length;
}

/* The member is an array of characters, or a pointer to such. */
static bool has_text(const struct object *object, const char *path, const char *wanted)
{
	char text[256];
	struct object member;
	uint64_t pointer;
	size_t length;
	struct error *error = object_member(object, path, &member);
	if (!error && type_is_pointer(member.type)) {
		error = object_u64(object, path, &pointer);
		if (!error)
			error = memory_read_string(object->target->memory, pointer, text,
						   sizeof(text), &length);
	} else if (!error) {
		error = object_string(object, path, text, sizeof(text));
	}
	error_free(error);
	return !error && (wanted ? !strcmp(text, wanted) : is_printable(text));
}

static bool is_module(const struct object *item)
{
	uint64_t state;
	return u64(item, "state", &state) && state <= 3 && has_text(item, "name", NULL);
}

static bool is_cache(const struct object *item)
{
	uint64_t size, object_size;
	return has_text(item, "name", NULL) && u64(item, "size", &size) &&
	       u64(item, "object_size", &object_size) && object_size && size >= object_size;
}

static bool is_bpf_symbol(const struct object *item)
{
	uint64_t start, end;
	return has_text(item, "name", NULL) && u64(item, "start", &start) &&
	       u64(item, "end", &end) && start < end;
}

static bool is_btf_module(const struct object *item)
{
	struct object btf;
	struct error *error = object_follow(item, "btf", &btf);
	error_free(error);
	return !error && has_text(&btf, "name", NULL);
}

static bool is_trampoline(const struct object *item)
{
	uint64_t code, size;
	return u64(item, "trampoline", &code) && u64(item, "trampoline_size", &size) && code &&
	       size && size < 1 << 20;
}

static bool word_at(struct target *target, uint64_t address, uint64_t *ret)
{
	struct error *error = memory_read_word(target->memory, address, ret);
	error_free(error);
	return !error;
}

static enum shape look_list(struct target *target, uint64_t head, const struct recipe *recipe)
{
	unsigned int word = target->arch->word_size;
	uint64_t node, back, previous = head;
	if (head % word || !word_at(target, head, &node))
		return SHAPE_WRONG;
	for (unsigned int i = 0; i < ITEMS_CHECK; i++) {
		if (!word_at(target, node + word, &back) || back != previous)
			return SHAPE_WRONG;
		if (node == head)
			return i ? SHAPE_RIGHT : SHAPE_EMPTY;
		struct object item;
		struct error *error =
			object_container(target, recipe->item, recipe->member, node, &item);
		error_free(error);
		if (error || !recipe->is_item(&item))
			return SHAPE_WRONG;
		previous = node;
		if (!word_at(target, node, &node))
			return SHAPE_WRONG;
	}
	return SHAPE_RIGHT;
}

/* What the walk over a map of structs sees. */
struct map_look {
	struct target *target;
	const struct recipe *recipe;
	unsigned int right;
	bool wrong, ended; /* enough was seen */
};

/* The struct says under which number it is kept. */
static struct error *look_entry(void *context, const struct walk_item *item)
{
	struct map_look *look = context;
	struct object object;
	uint64_t id;
	if (item->is_value)
		return NULL;
	if (look->wrong || look->right >= ITEMS_CHECK) {
		look->ended = true;
		return error_create(ERROR_OTHER, "enough of the map was seen");
	}
	struct error *error = object_at(look->target, look->recipe->item, item->address, &object);
	const char *path = look->recipe->member;
	if (!error && !strncmp(path, "aux->", 5)) {
		struct object aux;
		error = object_follow(&object, "aux", &aux);
		object = aux;
		path += 5;
	}
	if (error || !u64(&object, path, &id) || id != item->index)
		look->wrong = true;
	else
		look->right++;
	error_free(error);
	return NULL;
}

static struct error *look_broken(void *context, struct error *problem)
{
	((struct map_look *)context)->wrong = true;
	error_free(problem);
	return NULL;
}

static enum shape look_idr(struct target *target, uint64_t address, const struct recipe *recipe)
{
	struct map_look look = { .target = target, .recipe = recipe };
	struct walk walk = {
		.target = target, .visit = look_entry, .broken = look_broken, .context = &look
	};
	struct object idr;
	uint64_t base, next, flags;
	struct error *error = object_at(target, "struct idr", address, &idr);
	error_free(error);
	/* Ids of a map that starts at 0 or 1, next to come within int; flags that mark an idr. */
	if (error || address % target->arch->word_size || !u64(&idr, "idr_base", &base) ||
	    base > 1 || !u64(&idr, "idr_rt.xa_flags", &flags) || !flags ||
	    !u64(&idr, "idr_next", &next) || next > INT32_MAX)
		return SHAPE_WRONG;
	error = walk_idr(&walk, address);
	error_free(error);
	if ((error && !look.ended) || look.wrong)
		return SHAPE_WRONG;
	return look.right ? SHAPE_RIGHT : SHAPE_EMPTY;
}

/* A pointer to the cache of that name. */
static enum shape look_cache(struct target *target, uint64_t address, const struct recipe *recipe)
{
	struct object cache;
	uint64_t pointer;
	if (address % target->arch->word_size || !word_at(target, address, &pointer) || !pointer)
		return SHAPE_WRONG;
	struct error *error = object_at(target, "struct kmem_cache", pointer, &cache);
	error_free(error);
	return !error && has_text(&cache, "name", recipe->item) ? SHAPE_RIGHT : SHAPE_WRONG;
}

/* A struct with a text that says what it is. */
static enum shape look_text(struct target *target, uint64_t address, const struct recipe *recipe)
{
	struct object object;
	struct error *error = object_at(target, recipe->type, address, &object);
	error_free(error);
	return !error && has_text(&object, recipe->member, recipe->item) ? SHAPE_RIGHT
									 : SHAPE_WRONG;
}

/* Letters of the first taint: proprietary, or not. */
static enum shape look_taints(struct target *target, uint64_t address, const struct recipe *recipe)
{
	struct object flag;
	uint64_t yes, no;
	struct error *error = object_at(target, recipe->item, address, &flag);
	error_free(error);
	return !error && u64(&flag, "c_true", &yes) && u64(&flag, "c_false", &no) && yes == 'P' &&
			       no == 'G'
		       ? SHAPE_RIGHT
		       : SHAPE_WRONG;
}

/* A clock that runs: its source has a name, its seconds are those of this century. */
static enum shape look_timekeeper(struct target *target, uint64_t address,
				  const struct recipe *recipe)
{
	struct object timekeeper, clock;
	uint64_t seconds;
	struct error *error = object_at(target, recipe->type, address, &timekeeper);
	if (!error)
		error = object_follow(&timekeeper, "tkr_mono.clock", &clock);
	error_free(error);
	return !error && has_text(&clock, "name", NULL) &&
			       u64(&timekeeper, "xtime_sec", &seconds) && seconds > 1000000000 &&
			       seconds < 7258118400
		       ? SHAPE_RIGHT
		       : SHAPE_WRONG;
}

/* A CPU's number, or that none is. */
static enum shape look_cpu(struct target *target, uint64_t address, const struct recipe *recipe)
{
	uint32_t value;
	(void)recipe;
	struct error *error = memory_read_u32(target->memory, address, &value);
	error_free(error);
	return !error && (value == UINT32_MAX || value < 65536) ? SHAPE_EMPTY : SHAPE_WRONG;
}

static bool cpu_count(struct target *target, uint64_t *ret)
{
	uint64_t address;
	uint32_t count;
	if (!symtab_address(target->symbols, "nr_cpu_ids", &address))
		return false;
	struct error *error = memory_read_u32(target->memory, address, &count);
	error_free(error);
	*ret = error ? 0 : count;
	return !error;
}

/*
 * The per-CPU notes of a kexec: an allocation's address, to which that of a CPU's area is added.
 * What is there is a note with registers, or nothing yet.
 */
static enum shape look_notes(struct target *target, uint64_t address, const struct recipe *recipe)
{
	static const uint8_t none[NOTE_HEAD] = { 0 }, some[] = { 'C', 'O', 'R', 'E', 0, 0, 0, 0 };
	enum shape shape = SHAPE_WRONG;
	uint64_t offsets, notes, offset, count;
	unsigned int word = target->arch->word_size;
	(void)recipe;
	if (address % word || !word_at(target, address, &notes) || !notes || notes % NOTE_ALIGN ||
	    !symtab_address(target->symbols, "__per_cpu_offset", &offsets) ||
	    !cpu_count(target, &count))
		return SHAPE_WRONG;
	for (uint64_t cpu = 0; cpu < count && cpu < CPUS_CHECK; cpu++) {
		uint8_t head[NOTE_HEAD];
		if (!word_at(target, offsets + cpu * word, &offset))
			return SHAPE_WRONG;
		struct error *error = memory_read(target->memory, notes + offset, head, NOTE_HEAD);
		error_free(error);
		if (error)
			return SHAPE_WRONG;
		if (!memcmp(head + NOTE_HEAD - sizeof(some), some, sizeof(some)))
			return SHAPE_RIGHT;
		if (!memcmp(head, none, NOTE_HEAD))
			shape = SHAPE_EMPTY;
		else
			return SHAPE_WRONG;
	}
	return shape;
}

/* --- who uses what ---------------------------------------------------------------------------- */

static const struct recipe recipes[] = {
	{ .name = "modules",
	  .type = "struct list_head",
	  .kind = 'd',
	  .look = look_list,
	  .item = "struct module",
	  .member = "list",
	  .is_item = is_module,
	  .users = { "find_module_all", "print_modules", "m_start", "m_next",
		     "module_kallsyms_on_each_symbol", "each_symbol" },
	  .evidence = "what the code that looks for modules uses, a list of struct module" },
	{ .name = "slab_caches",
	  .type = "struct list_head",
	  .kind = 'D',
	  .look = look_list,
	  .item = "struct kmem_cache",
	  .member = "list",
	  .is_item = is_cache,
	  .users = { "slab_start", "slab_next", "kmem_cache_destroy", "find_mergeable",
		     "dump_unreclaimable_slab", "slab_unmergeable" },
	  .evidence = "what the code that lists slab caches uses, a list of struct kmem_cache" },
	{ .name = "btf_modules",
	  .type = "struct list_head",
	  .kind = 'd',
	  .look = look_list,
	  .item = "struct btf_module",
	  .member = "list",
	  .is_item = is_btf_module,
	  .users = { "btf_module_notify", "btf_try_get_module", "btf_get_module_btf" },
	  .evidence = "what the code that keeps modules' BTF uses, a list of struct btf_module" },
	{ .name = "bpf_kallsyms",
	  .type = "struct list_head",
	  .kind = 'd',
	  .look = look_list,
	  .item = "struct bpf_ksym",
	  .member = "lnode",
	  .is_item = is_bpf_symbol,
	  .users = { "bpf_get_kallsym", "bpf_ksym_add", "bpf_ksym_del" },
	  .evidence = "what the code that names BPF programs uses, a list of struct bpf_ksym" },
	{ .name = "ftrace_ops_trampoline_list",
	  .type = "struct list_head",
	  .kind = 'd',
	  .look = look_list,
	  .item = "struct ftrace_ops",
	  .member = "list",
	  .is_item = is_trampoline,
	  .users = { "ftrace_get_trampoline_kallsym", "ftrace_add_trampoline_to_kallsyms",
		     "arch_ftrace_update_trampoline", "ftrace_update_trampoline",
		     "ftrace_trampoline_free" },
	  .evidence = "what the code that keeps ftrace's trampolines uses, a list" },
	{ .name = "prog_idr",
	  .type = "struct idr",
	  .kind = 'd',
	  .look = look_idr,
	  .item = "struct bpf_prog",
	  .member = "aux->id",
	  .users = { "bpf_prog_by_id", "bpf_prog_get_curr_or_next", "bpf_prog_free_id",
		     "bpf_prog_load" },
	  .evidence = "what the code that finds BPF programs uses, a map of their numbers" },
	{ .name = "map_idr",
	  .type = "struct idr",
	  .kind = 'd',
	  .look = look_idr,
	  .item = "struct bpf_map",
	  .member = "id",
	  .users = { "bpf_map_get_curr_or_next", "bpf_map_free_id", "bpf_map_by_id",
		     "bpf_map_alloc_id" },
	  .evidence = "what the code that finds BPF maps uses, a map of their numbers" },
	{ .name = "link_idr",
	  .type = "struct idr",
	  .kind = 'd',
	  .look = look_idr,
	  .item = "struct bpf_link",
	  .member = "id",
	  .users = { "bpf_link_get_curr_or_next", "bpf_link_by_id", "bpf_link_free_id",
		     "bpf_link_prime" },
	  .evidence = "what the code that finds BPF links uses, a map of their numbers" },
	{ .name = "btf_idr",
	  .type = "struct idr",
	  .kind = 'd',
	  .look = look_idr,
	  .item = "struct btf",
	  .member = "id",
	  .users = { "btf_get_fd_by_id", "btf_alloc_id", "btf_free_id", "btf_put",
		     "bpf_find_btf_id" },
	  .evidence = "what the code that finds BTF uses, a map of numbers" },
	{ .name = "task_struct_cachep",
	  .kind = 'd',
	  .look = look_cache,
	  .item = "task_struct",
	  .users = { "free_task", "dup_task_struct", "copy_process" },
	  .evidence = "what the code that makes tasks uses, the cache task_struct" },
	{ .name = "taint_flags",
	  .kind = 'R',
	  .look = look_taints,
	  .item = "struct taint_flag",
	  .users = { "print_tainted", "print_tainted_seq", "module_flags_taint", "_print_tainted",
		     "module_flags" },
	  .evidence = "what the code that prints taints uses, letters of taints" },
	{ .name = "shadow_timekeeper",
	  .type = "struct timekeeper",
	  .kind = 'b',
	  .look = look_timekeeper,
	  .users = { "timekeeping_advance", "timekeeping_update", "timekeeping_update_from_shadow",
		     "update_wall_time" },
	  .other = "ktime_get",
	  .evidence = "what the code that keeps time uses, a struct timekeeper" },
	{ .name = "kprobe_insn_slots",
	  .type = "struct kprobe_insn_cache",
	  .kind = 'd',
	  .look = look_text,
	  .item = "kprobe_insn_page",
	  .member = "sym",
	  .users = { "kernel_text_address", "__kernel_text_address", "kprobe_get_kallsym",
		     "arch_prepare_kprobe", "is_kprobe_insn_slot" },
	  .evidence = "what the code that knows slots of kprobes uses, and it is called so" },
	{ .name = "kprobe_optinsn_slots",
	  .type = "struct kprobe_insn_cache",
	  .kind = 'd',
	  .look = look_text,
	  .item = "kprobe_optinsn_page",
	  .member = "sym",
	  .users = { "kernel_text_address", "__kernel_text_address", "kprobe_get_kallsym",
		     "arch_prepare_optimized_kprobe", "is_kprobe_optinsn_slot" },
	  .evidence = "what the code that knows slots of kprobes uses, and it is called so" },
	{ .name = "panic_cpu",
	  .type = "atomic_t",
	  .kind = 'D',
	  .look = look_cpu,
	  .users = { "panic", "nmi_panic", "crash_kexec" },
	  .evidence = "what the code that panics uses, the number of a CPU" },
	{ .name = "crash_notes",
	  .type = "long unsigned int",
	  .kind = 'b',
	  .look = look_notes,
	  .users = { "crash_save_cpu", "crash_notes_show" },
	  .evidence = "what the code that saves a CPU's registers uses, notes of each CPU" },
};

/* An address that was mentioned, and by how many of the users. */
struct candidate {
	uint64_t address;
	unsigned int users;
	unsigned int last_user; /* counted from 1 */
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
	unsigned int users; /* that exist */
};

static struct candidate *candidate_of(struct candidates *candidates, uint64_t address)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i].address == address)
			return &candidates->items[i];
	if (!array_reserve(&candidates->items, &candidates->capacity, candidates->count + 1))
		return NULL;
	struct candidate *candidate = &candidates->items[candidates->count++];
	*candidate = (struct candidate){ .address = address };
	return candidate;
}

static struct error *add_user(struct candidates *candidates, const struct mentions *mentions)
{
	candidates->users++;
	for (size_t i = 0; i < mentions->count; i++) {
		struct candidate *candidate = candidate_of(candidates, mentions->items[i]);
		if (!candidate)
			return error_no_memory();
		candidate->users += candidate->last_user != candidates->users;
		candidate->last_user = candidates->users;
	}
	return NULL;
}

static struct error *add_users(struct code_reader *reader, const struct recipe *recipe,
			       struct candidates *candidates)
{
	struct mentions mentions = { 0 };
	struct error *error = NULL;
	for (size_t i = 0; !error && i < USERS_MAX && recipe->users[i]; i++) {
		bool exists;
		mentions.count = 0;
		error = code_reader_mentions(reader, recipe->users[i], &mentions, &exists);
		if (!error && exists)
			error = add_user(candidates, &mentions);
	}
	free(mentions.items);
	return error;
}

/* Is it mentioned where the variable is not? */
static struct error *is_other(struct code_reader *reader, const struct recipe *recipe,
			      uint64_t address, bool *ret)
{
	struct mentions mentions = { 0 };
	bool exists;
	*ret = false;
	if (!recipe->other)
		return NULL;
	struct error *error = code_reader_mentions(reader, recipe->other, &mentions, &exists);
	for (size_t i = 0; !error && i < mentions.count; i++)
		*ret |= mentions.items[i] == address;
	free(mentions.items);
	return error;
}

/*
 * The one that it must be; 0: none, or nobody can tell which. Structure decides; where it is too
 * little, that the most users mention it, two at least.
 */
static struct error *choose(struct hidden *hidden, struct code_reader *reader,
			    const struct recipe *recipe, const struct candidates *candidates,
			    uint64_t *ret)
{
	unsigned int right = 0, users = 0, equals = 0;
	uint64_t found = 0, empty = 0;
	*ret = 0;
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];
		bool is_another = false;
		TRY(hidden_spend(hidden,
				 candidates->count + (recipe->look == look_idr ? STEPS_OF_A_WALK
									       : STEPS_OF_A_LOOK)));
		enum shape shape = recipe->look(hidden->target, candidate->address, recipe);
		if (shape != SHAPE_WRONG)
			TRY(is_other(reader, recipe, candidate->address, &is_another));
		if (shape == SHAPE_WRONG || is_another)
			continue;
		if (shape == SHAPE_RIGHT) {
			right++;
			found = candidate->address;
		} else if (candidate->users > users) {
			users = candidate->users;
			equals = 1;
			empty = candidate->address;
		} else if (candidate->users == users) {
			equals++;
		}
	}
	if (right)
		*ret = right == 1 ? found : 0;
	else if (users > 1 && equals == 1)
		*ret = empty;
	return NULL;
}

static struct error *find_one(struct hidden *hidden, struct code_reader *reader,
			      const struct recipe *recipe)
{
	struct candidates candidates = { 0 };
	uint64_t address = 0, size = 0;
	struct type type;
	if (hidden_address(hidden, recipe->name, &address))
		return NULL;
	struct error *error = add_users(reader, recipe, &candidates);
	if (!error)
		error = choose(hidden, reader, recipe, &candidates, &address);
	free(candidates.items);
	if (error || !address)
		return error;
	error = recipe->type ? target_find_type(hidden->target, NULL, recipe->type, &type)
			     : error_create(ERROR_NOT_FOUND, "no type");
	if (!error && !type_size(type, &size))
		size = 0;
	error_free(error);
	return hidden_add(hidden, recipe->name, recipe->kind, address, size, recipe->evidence);
}

struct error *hidden_add_used(struct hidden *hidden, struct code_reader *reader)
{
	for (size_t i = 0; i < ARRAY_COUNT(recipes); i++) {
		TRY(find_one(hidden, reader, &recipes[i]));
		TRY(interrupt_check());
	}
	return NULL;
}
