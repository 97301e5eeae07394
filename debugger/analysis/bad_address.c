// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/bad_address.h"

#include "debugger/kernel/user_space.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE	       4096
#define ERRNO_MAX      4095
#define POISON_DELTA   0xdead000000000000u
#define POISON_SPAN    0x1000
#define LIST_POISON1   0x100
#define LIST_POISON2   0x122
#define SLAB_FREE_BYTE 0x6b

/* How many bits an address has that the processor does not repeat: one bit less than it translates.
 */
static unsigned int user_bits(const struct target *target)
{
	int64_t is_large = 0;
	if (target->vmcoreinfo &&
	    vmcoreinfo_number(target->vmcoreinfo, "NUMBER(pgtable_l5_enabled)", &is_large) &&
	    is_large)
		return 56;
	return 47;
}

static bool is_slab_poison(uint64_t address)
{
	for (unsigned int i = 2; i < 8; i++)
		if ((address >> (8 * i) & 0xff) != SLAB_FREE_BYTE)
			return false;
	return true;
}

static void say_offset(struct bad_address *ret, const char *name)
{
	if (ret->offset)
		snprintf(ret->text, sizeof(ret->text), "%s + 0x%" PRIx64, name, ret->offset);
	else
		snprintf(ret->text, sizeof(ret->text), "%s", name);
}

static void find_poison(struct bad_address *ret, uint64_t offset)
{
	bool is_second = offset >= LIST_POISON2 && offset - LIST_POISON2 < 8;
	ret->kind = BAD_LIST_POISON;
	ret->offset = offset - (is_second ? LIST_POISON2 : LIST_POISON1);
	if (offset < LIST_POISON1) {
		ret->offset = offset;
		say_offset(ret, "the poison of pointers");
	} else {
		say_offset(ret, is_second ? "LIST_POISON2" : "LIST_POISON1");
	}
}

void bad_address_find(const struct target *target, const struct task *task, uint64_t address,
		      struct bad_address *ret)
{
	unsigned int bits = user_bits(target);
	*ret = (struct bad_address){ .kind = BAD_NOTHING };
	if (address < PAGE) {
		ret->kind = BAD_NULL;
		ret->offset = address;
		say_offset(ret, "NULL");
	} else if (address >= -(uint64_t)ERRNO_MAX) {
		ret->kind = BAD_ERROR;
		ret->number = (int)-address;
		const char *name = strerrorname_np(ret->number);
		if (name)
			snprintf(ret->text, sizeof(ret->text), "-%s as a pointer", name);
		else
			snprintf(ret->text, sizeof(ret->text), "error %d as a pointer",
				 -ret->number);
	} else if (address - POISON_DELTA < POISON_SPAN) {
		find_poison(ret, address - POISON_DELTA);
	} else if (is_slab_poison(address)) {
		ret->kind = BAD_FREE_POISON;
		snprintf(ret->text, sizeof(ret->text), "the poison of freed slab objects");
	} else if (!(address >> bits)) {
		ret->kind = BAD_USER;
		snprintf(ret->text, sizeof(ret->text), "an address of user space");
	} else if (address >> bits != UINT64_MAX >> bits) {
		ret->kind = BAD_NON_CANONICAL;
		snprintf(ret->text, sizeof(ret->text), "non-canonical: no address at all");
	} else if (task && task->stack && address < task->stack && task->stack - address <= PAGE) {
		ret->kind = BAD_GUARD;
		snprintf(ret->text, sizeof(ret->text), "the guard page below the task's stack");
	}
}

/* --- what the values say besides -------------------------------------------------------------- */

/*
 * The bytes as they lie in memory: characters, and after the first zero nothing else. Fewer than
 * five are numbers as well.
 */
static bool is_text(const struct target *target, uint64_t value, char ret[9])
{
	size_t length = 0;
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int shift = target->memory->big_endian ? 56 - 8 * i : 8 * i;
		unsigned char byte = (unsigned char)(value >> shift);
		if (byte && (length < i || !isprint(byte) || byte == '"' || byte == '\\'))
			return false;
		if (byte)
			ret[length++] = (char)byte;
	}
	ret[length] = 0;
	return length >= 5;
}

/* Whether the task can have meant it. *ret stays where that is not to be found out. */
static struct error *find_mapping(struct target *target, const struct task *task, uint64_t address,
				  struct bad_address *ret)
{
	struct user_space *space = NULL;
	struct user_page page;
	struct object object;
	uint64_t mm;
	TRY(object_at(target, "struct task_struct", task->address, &object));
	TRY(object_u64(&object, "mm", &mm));
	if (!mm) {
		ret->kind = BAD_LOW;
		snprintf(ret->text, sizeof(ret->text),
			 "no address of the kernel, and the task has no user space");
		return NULL;
	}
	TRY(user_space_open(target, mm, &space));
	struct error *error = user_space_page(space, address, &page);
	user_space_close(space);
	TRY(error);
	ret->kind = page.kind == USER_PAGE_UNMAPPED ? BAD_LOW : BAD_USER;
	snprintf(ret->text, sizeof(ret->text), "%s",
		 page.kind == USER_PAGE_UNMAPPED
			 ? "no address of the kernel, and the task has nothing mapped there"
			 : "an address of user space");
	return NULL;
}

struct error *bad_address_look_up(struct target *target, const struct task *task, uint64_t address,
				  struct bad_address *ret)
{
	char text[9];
	bad_address_find(target, task, address, ret);
	if (ret->kind == BAD_USER && task)
		TRY(error_only_fatal(find_mapping(target, task, address, ret)));
	if ((ret->kind == BAD_LOW || ret->kind == BAD_NON_CANONICAL) &&
	    is_text(target, address, text))
		snprintf(ret->text, sizeof(ret->text), "no address but text: \"%s\"", text);
	return NULL;
}
