/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed places in the dead machine's memory, for code that knows the kernel by member names:
 *
 *	struct object task;
 *	TRY(object_variable(target, "init_task", "struct task_struct", &task));
 *	TRY(object_u64(&task, "pid", &pid));
 *
 * Paths go through structs, unions and arrays ("mem[0].base"), never through pointers; a pointer is
 * followed with object_follow().
 */
#ifndef DEBUGGER_TARGET_OBJECT_H
#define DEBUGGER_TARGET_OBJECT_H

#include "debugger/target/target.h"

struct object {
	struct target *target;
	struct type type;
	uint64_t address;
	uint32_t bit_offset, bit_size; /* bit_size 0: not a bit-field */
	uint32_t loaded;	       /* how many bytes of it object_load() read */
	const uint8_t *bytes;	       /* borrowed */
};

/* `type_name` as in target_find_type(). */
struct error *object_at(struct target *target, const char *type_name, uint64_t address,
			struct object *ret) MUST_CHECK;
/*
 * A kernel variable by name. Its type is BTF's if that has one, else `type_name` (which the caller
 * knows from the kernel's sources; NULL: must be known).
 */
struct error *object_variable(struct target *target, const char *name, const char *type_name,
			      struct object *ret) MUST_CHECK;
/* The same of a per-CPU variable on one CPU. */
struct error *object_per_cpu(struct target *target, const char *name, const char *type_name,
			     const struct cpu *cpu, struct object *ret) MUST_CHECK;
/*
 * Reads a whole object into `buffer`, which has to live as long as it and its copies, so that its
 * members take no more reads. Nothing is read of one that has no such size, is larger than the
 * buffer, or is not all there: then its members are read one by one, as without this.
 */
void object_load(struct object *object, uint8_t *buffer, size_t size);
bool object_has(const struct object *object, const char *path);
struct error *object_member(const struct object *object, const char *path,
			    struct object *ret) MUST_CHECK;
/* Integer, enum, bool, pointer or bit-field at `path` (NULL: the object itself), zero- or
 * sign-extended. */
struct error *object_u64(const struct object *object, const char *path, uint64_t *ret) MUST_CHECK;
/*
 * The same of a pointer that no kernel ever leaves NULL: that is an error, so that what it leads to
 * does not count as nothing.
 */
struct error *object_pointer(const struct object *object, const char *path,
			     uint64_t *ret) MUST_CHECK;
/* The address in the pointer at `path`, and its target as an object. */
struct error *object_follow(const struct object *object, const char *path,
			    struct object *ret) MUST_CHECK;
/* A char array, up to its NUL. */
struct error *object_string(const struct object *object, const char *path, char *buffer,
			    size_t size) MUST_CHECK;
/* The struct `type_name` that holds the object at `address` as its member `path`. */
struct error *object_container(struct target *target, const char *type_name, const char *path,
			       uint64_t address, struct object *ret) MUST_CHECK;
/* offsetof(); ERROR_NOT_FOUND. */
struct error *object_offset(struct target *target, const char *type_name, const char *path,
			    uint64_t *ret) MUST_CHECK;

#endif
