// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Well-known structs in a few words. Each form asks for the members it needs by name; where one is
 * missing (other kernels, lock debugging, PREEMPT_RT) the struct is shown member by member.
 */
#include "base/array.h"
#include "base/bytes.h"
#include "debugger/eval/render_private.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TYPEDEFS_MAX 16

/* One struct that is being described. */
struct subject {
	const struct renderer *renderer;
	const struct slot *slot;
	char *text; /* RENDER_TEXT_SIZE */
	bool *is_quoted;
};

/* --- members --------------------------------------------------------------------------------- */

/* The member at a path, within the subject; false when there is none of this kind. */
static bool find(const struct subject *subject, const char *path, struct slot *ret,
		 struct btf_type *ret_record)
{
	struct type_place place;
	uint64_t whole, size;
	struct error *error = type_find_path(subject->slot->type, path, &place);
	error_free(error);
	if (error || place.bit_size || place.bit_offset % 8 ||
	    !type_get_resolved(place.type, ret_record) || !type_size(place.type, &size) ||
	    !type_size(subject->slot->type, &whole) || place.bit_offset / 8 > whole ||
	    size > whole - place.bit_offset / 8)
		return false;
	*ret = (struct slot){ .type = place.type,
			      .offset = subject->slot->offset + place.bit_offset / 8 };
	return true;
}

/* An integer or pointer of at most 8 bytes. */
static bool load(const struct subject *subject, const char *path, uint64_t *ret)
{
	struct slot member;
	struct btf_type record;
	uint64_t size;
	if (!find(subject, path, &member, &record) ||
	    (record.kind != BTF_INT && record.kind != BTF_PTR) || !type_size(member.type, &size) ||
	    size > 8)
		return false;
	*ret = render_load(subject->renderer, &member, size);
	return true;
}

static uint64_t address_of(const struct subject *subject)
{
	const struct renderer *renderer = subject->renderer;
	return renderer->address ? renderer->address + subject->slot->offset : 0;
}

/* --- numbers --------------------------------------------------------------------------------- */

static bool number(const struct subject *subject, const char *path)
{
	char text[RENDER_TEXT_SIZE];
	struct slot member;
	struct btf_type record;
	uint64_t size;
	if (!find(subject, path, &member, &record) || record.kind != BTF_INT ||
	    !type_size(member.type, &size) || size > 8)
		return false;
	render_number_text(subject->renderer, render_load(subject->renderer, &member, size),
			   type_is_signed(member.type), size, text);
	render_append(subject->text, "%s", text);
	return true;
}

static bool describe_atomic(const struct subject *subject)
{
	return number(subject, "counter");
}

/* kernel include/linux/refcount.h: REFCOUNT_SATURATED is INT_MIN / 2. */
static bool saturating(const struct subject *subject, const char *path)
{
	uint64_t count;
	if (!load(subject, path, &count) || !number(subject, path))
		return false;
	if ((int32_t)count < 0)
		render_append(subject->text, ", saturated");
	return true;
}

static bool describe_refcount(const struct subject *subject)
{
	return saturating(subject, "refs.counter");
}

static bool describe_kref(const struct subject *subject)
{
	return saturating(subject, "refcount.refs.counter");
}

static bool describe_id(const struct subject *subject)
{
	return number(subject, "val");
}

/* --- lists ----------------------------------------------------------------------------------- */

static bool append_pointer(const struct subject *subject, const char *word, const char *path)
{
	char text[RENDER_TEXT_SIZE];
	struct slot member;
	struct btf_type record;
	if (!find(subject, path, &member, &record) || record.kind != BTF_PTR)
		return false;
	uint64_t address = render_load(subject->renderer, &member,
				       subject->renderer->target->memory
					       ? subject->renderer->target->memory->word_size
					       : 8);
	*subject->is_quoted |= render_pointer_text(subject->renderer, member.type, address, text);
	render_append(subject->text, "%s%s = %s", *subject->text ? ", " : "", word, text);
	return true;
}

/* A head and a node look alike: seen from either, next is the first and prev the last. */
static bool describe_list(const struct subject *subject)
{
	uint64_t next, prev;
	if (!load(subject, "next", &next) || !load(subject, "prev", &prev) || !next || !prev)
		return false;
	if (next == prev && next == address_of(subject)) {
		render_append(subject->text, "empty");
		return true;
	}
	return append_pointer(subject, "first", "next") && append_pointer(subject, "last", "prev");
}

static bool describe_hlist(const struct subject *subject)
{
	uint64_t first;
	if (!load(subject, "first", &first))
		return false;
	if (first)
		return append_pointer(subject, "first", "first");
	render_append(subject->text, "empty");
	return true;
}

/* --- locks ----------------------------------------------------------------------------------- */

/* kernel include/asm-generic/qspinlock_types.h: pending and tail are waiters. */
#define QSPINLOCK_LOCKED 0xffu
/* kernel include/asm-generic/qrwlock.h */
#define QRWLOCK_WRITER	     0xffu
#define QRWLOCK_WAITING	     0x100u
#define QRWLOCK_READER_SHIFT 9
/* kernel kernel/locking/mutex.h: MUTEX_FLAG_WAITERS; HANDOFF and PICKUP are above it. */
#define MUTEX_WAITERS 1u
#define MUTEX_FLAGS   7u
/* kernel kernel/locking/rwsem.c */
#define RWSEM_WRITER	   1u
#define RWSEM_WAITERS	   2u
#define RWSEM_READER_SHIFT 8
#define RWSEM_READER_MASK  (INT64_MAX >> RWSEM_READER_SHIFT)
#define RWSEM_READER_OWNED 1u
#define RWSEM_FLAGS	   3u

static bool describe_spinlock_value(const struct subject *subject, const char *path)
{
	uint64_t value;
	if (!load(subject, path, &value))
		return false;
	render_append(subject->text, value & QSPINLOCK_LOCKED ? "locked" : "unlocked");
	if ((uint32_t)value & ~QSPINLOCK_LOCKED)
		render_append(subject->text, ", with waiters");
	return true;
}

static bool describe_spinlock(const struct subject *subject)
{
	return describe_spinlock_value(subject, "rlock.raw_lock.val.counter");
}

static bool describe_raw_spinlock(const struct subject *subject)
{
	return describe_spinlock_value(subject, "raw_lock.val.counter");
}

static bool describe_qspinlock(const struct subject *subject)
{
	return describe_spinlock_value(subject, "val.counter");
}

static bool describe_rwlock_value(const struct subject *subject, const char *path)
{
	uint64_t value;
	if (!load(subject, path, &value))
		return false;
	uint32_t readers = (uint32_t)value >> QRWLOCK_READER_SHIFT;
	if (readers)
		render_append(subject->text, "read-locked by %" PRIu32, readers);
	else
		render_append(subject->text, value & QRWLOCK_WRITER ? "write-locked" : "unlocked");
	if (value & QRWLOCK_WAITING)
		render_append(subject->text, ", with waiters");
	return true;
}

static bool describe_rwlock(const struct subject *subject)
{
	return describe_rwlock_value(subject, "raw_lock.cnts.counter");
}

static bool describe_qrwlock(const struct subject *subject)
{
	return describe_rwlock_value(subject, "cnts.counter");
}

static struct error *read_task(struct target *target, uint64_t address, uint64_t *ret_pid,
			       char comm[64])
{
	struct object task;
	TRY(target_need_memory(target));
	TRY(object_at(target, "struct task_struct", address, &task));
	TRY(object_u64(&task, "pid", ret_pid));
	return object_string(&task, "comm", comm, 64);
}

/* `owner = 123 "comm"`. */
static void append_task(const struct subject *subject, uint64_t address)
{
	char comm[64], quoted[160];
	uint64_t pid;
	struct error *error = read_task(subject->renderer->target, address, &pid, comm);
	if (error) {
		render_append(subject->text, ", owner = 0x%" PRIx64 " <%s>", address,
			      error_is_missing(error) ? error_place_word(error) : "no task");
		error_free(error);
		return;
	}
	render_quote(comm, strlen(comm), quoted, sizeof(quoted));
	*subject->is_quoted = true;
	render_append(subject->text, ", owner = %" PRId32 " %s", (int32_t)pid, quoted);
}

static bool describe_mutex(const struct subject *subject)
{
	uint64_t owner, next;
	if (!load(subject, "owner.counter", &owner) || !load(subject, "wait_list.next", &next))
		return false;
	if (owner & ~(uint64_t)MUTEX_FLAGS) {
		render_append(subject->text, "locked");
		append_task(subject, owner & ~(uint64_t)MUTEX_FLAGS);
	} else {
		render_append(subject->text, "unlocked");
	}
	if (owner & MUTEX_WAITERS)
		render_append(subject->text, ", with waiters");
	return true;
}

static bool describe_rwsem(const struct subject *subject)
{
	uint64_t count, owner, next;
	if (!load(subject, "count.counter", &count) || !load(subject, "owner.counter", &owner) ||
	    !load(subject, "wait_list.next", &next))
		return false;
	uint64_t readers = count >> RWSEM_READER_SHIFT & RWSEM_READER_MASK;
	if (count & RWSEM_WRITER) {
		render_append(subject->text, "write-locked");
		if (!(owner & RWSEM_READER_OWNED) && owner & ~(uint64_t)RWSEM_FLAGS)
			append_task(subject, owner & ~(uint64_t)RWSEM_FLAGS);
	} else if (readers) {
		/* Its owner would be some reader, present or past. */
		render_append(subject->text, "read-locked by %" PRIu64, readers);
	} else {
		render_append(subject->text, "unlocked");
	}
	if (count & RWSEM_WAITERS)
		render_append(subject->text, ", with waiters");
	return true;
}

/* kernel include/linux/seqlock.h: odd while somebody writes. */
static bool sequence(const struct subject *subject, const char *path)
{
	uint64_t value;
	if (!load(subject, path, &value))
		return false;
	render_append(subject->text, "sequence = ");
	if (!number(subject, path))
		return false;
	if (value & 1)
		render_append(subject->text, ", being written");
	return true;
}

static bool describe_seqcount(const struct subject *subject)
{
	return sequence(subject, "sequence");
}

static bool describe_seqcount_of_lock(const struct subject *subject)
{
	return sequence(subject, "seqcount.sequence");
}

static bool describe_seqlock(const struct subject *subject)
{
	if (!sequence(subject, "seqcount.seqcount.sequence"))
		return false;
	render_append(subject->text, ", ");
	return describe_spinlock_value(subject, "lock.rlock.raw_lock.val.counter");
}

/* kernel kernel/sched/completion.c: complete_all() leaves UINT_MAX, each waiter takes 1. */
static bool describe_completion(const struct subject *subject)
{
	uint64_t done, next;
	struct slot list;
	struct btf_type record;
	if (!load(subject, "done", &done) || !load(subject, "wait.task_list.next", &next) ||
	    !find(subject, "wait.task_list", &list, &record))
		return false;
	if ((uint32_t)done == UINT32_MAX)
		render_append(subject->text, "done for all");
	else if (done)
		render_append(subject->text, "done = %" PRIu64, done);
	else
		render_append(subject->text, "not done");
	uint64_t head = address_of(subject) ? subject->renderer->address + list.offset : 0;
	if (head && next && next != head)
		render_append(subject->text, ", with waiters");
	return true;
}

/* --- sets of CPUs and nodes ------------------------------------------------------------------ */

struct bits {
	const struct image *image;
	uint64_t start; /* offset of the first word */
	uint64_t word;	/* bytes */
	uint64_t count;
};

static bool bit_is_set(const struct bits *bits, uint64_t bit)
{
	uint64_t at = bits->start + bit / (8 * bits->word) * bits->word;
	return load_unsigned(bits->image->data + at, bits->word, bits->image->big_endian) >>
		       bit % (8 * bits->word) &
	       1;
}

/* "CPUs 0-3,8": the numbers as the kernel writes lists of CPUs, which alone might be a value. */
static void append_bits(const struct subject *subject, const struct bits *bits, const char *what)
{
	uint64_t count = 0;
	for (uint64_t bit = 0; bit < bits->count && count < 2; bit++)
		count += bit_is_set(bits, bit);
	if (count)
		render_append(subject->text, "%s%s ", what, count > 1 ? "s" : "");
	else
		render_append(subject->text, "no %s", what);
	size_t start = strlen(subject->text);
	for (uint64_t bit = 0; bit < bits->count; bit++) {
		uint64_t first = bit;
		if (!bit_is_set(bits, bit))
			continue;
		while (bit + 1 < bits->count && bit_is_set(bits, bit + 1))
			bit++;
		if (strlen(subject->text) > RENDER_TEXT_SIZE - 64) {
			render_append(subject->text, ",...");
			return;
		}
		render_append(subject->text, "%s%" PRIu64, subject->text[start] ? "," : "", first);
		if (bit > first)
			render_append(subject->text, "-%" PRIu64, bit);
	}
}

static bool describe_mask(const struct subject *subject, const char *what)
{
	struct slot member;
	struct btf_type record, word;
	struct type element;
	if (!find(subject, "bits", &member, &record) || record.kind != BTF_ARRAY ||
	    !type_target(member.type, &element) || !type_get_resolved(element, &word) ||
	    word.kind != BTF_INT || (word.size != 4 && word.size != 8))
		return false;
	struct bits bits = { .image = &subject->renderer->image,
			     .start = member.offset,
			     .word = word.size,
			     .count = (uint64_t)record.array_count * word.size * 8 };
	append_bits(subject, &bits, what);
	return true;
}

static bool describe_cpumask(const struct subject *subject)
{
	return describe_mask(subject, "CPU");
}

static bool describe_nodemask(const struct subject *subject)
{
	return describe_mask(subject, "node");
}

/* --- which ----------------------------------------------------------------------------------- */

static const struct form {
	const char *name; /* of the struct, or of a typedef of it */
	bool (*describe)(const struct subject *subject);
} forms[] = {
	{ "atomic_t", describe_atomic },
	{ "atomic64_t", describe_atomic },
	{ "completion", describe_completion },
	{ "cpumask", describe_cpumask },
	{ "hlist_bl_head", describe_hlist },
	{ "hlist_head", describe_hlist },
	{ "hlist_nulls_head", describe_hlist },
	{ "kgid_t", describe_id },
	{ "kprojid_t", describe_id },
	{ "kref", describe_kref },
	{ "kuid_t", describe_id },
	{ "list_head", describe_list },
	{ "llist_head", describe_hlist },
	{ "mutex", describe_mutex },
	{ "nodemask_t", describe_nodemask },
	{ "qrwlock", describe_qrwlock },
	{ "qspinlock", describe_qspinlock },
	{ "raw_spinlock", describe_raw_spinlock },
	{ "refcount_struct", describe_refcount },
	{ "rw_semaphore", describe_rwsem },
	{ "rwlock_t", describe_rwlock },
	{ "seqcount", describe_seqcount },
	{ "seqcount_mutex", describe_seqcount_of_lock },
	{ "seqcount_raw_spinlock", describe_seqcount_of_lock },
	{ "seqcount_rwlock", describe_seqcount_of_lock },
	{ "seqcount_spinlock", describe_seqcount_of_lock },
	{ "seqlock_t", describe_seqlock },
	{ "spinlock", describe_spinlock },
};

static const struct form *form_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

/* By the name of the struct, or of a typedef on the way to it: atomic_t is a struct without one. */
static const struct form *find_form(struct type type)
{
	struct btf_type record;
	for (int i = 0; i < TYPEDEFS_MAX && type_get(type, &record); i++) {
		bool is_typedef = record.kind == BTF_TYPEDEF;
		bool is_struct = record.kind == BTF_STRUCT || record.kind == BTF_UNION;
		const struct form *form = *record.name && (is_typedef || is_struct)
						  ? form_by_name(record.name)
						  : NULL;
		if (form || is_struct)
			return form;
		type = (struct type){ type.btf, record.type };
	}
	return NULL;
}

bool render_short_text(const struct renderer *renderer, const struct slot *slot,
		       char text[RENDER_TEXT_SIZE], bool *ret_quoted)
{
	char words[RENDER_TEXT_SIZE] = "";
	bool is_quoted = false;
	struct subject subject = { renderer, slot, words, &is_quoted };
	const struct form *form = find_form(slot->type);
	uint64_t size;
	if (!form || !type_size(slot->type, &size) ||
	    image_missing(&renderer->image, slot->offset, size) || !form->describe(&subject))
		return false;
	snprintf(text, RENDER_TEXT_SIZE, "{ %.*s }", RENDER_TEXT_SIZE - 8, words);
	*ret_quoted = is_quoted;
	return true;
}
