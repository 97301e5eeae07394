// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/solve/rules.h"

#include <string.h>

static const struct rule_row rows[RULE_COUNT] = {
	[RULE_WHOLE] = { "whole", 30, 0, "a table of the kernel states the type" },
	[RULE_STRIDE] = { "stride", 7, 0, "code steps through it in elements of that size" },
	[RULE_ACCESS] = { "access", 2, 0, "code reads or writes a number of that size there" },
	[RULE_SHAPE_NAME] = { "shape-name", 2, 0, "the name sounds like the type" },
	[RULE_SHAPE] = { "shape", 6, 0, "the bytes look like the type" },
	[RULE_OBJECT] = { "object", 10, 0, "a struct of that type is used there" },
	[RULE_OBJECT_POINTER] = { "object-pointer", 7, 0,
				  "a pointer of that type is used there by its address" },
	[RULE_OBJECT_BYTE] = { "object-byte", 3, 0,
			       "a byte is used there by its address: casts to char * are common" },
	[RULE_OBJECT_NUMBER] = { "object-number", 6, 0, "a number is used there by its address" },
	[RULE_VALUE_POINTER] = { "value-pointer", 8, 0,
				 "a pointer to that struct is loaded or stored" },
	[RULE_VALUE_SEEN] = { "value-seen", 3, 0,
			      "what the pointer in the dump points at is no struct" },
	[RULE_VALUE_OTHER_POINTER] = { "value-other-pointer", 5, 0,
				       "a pointer to no struct is loaded or stored" },
	[RULE_VALUE_ENUM] = { "value-enum", 5, 0, "an enum or a small struct is loaded or stored" },
	[RULE_VALUE_NUMBER] = { "value-number", 4, 0, "a number of that type is loaded or stored" },
	[RULE_VALUE_SIGN] = { "value-sign", 7, 0,
			      "a number is compared or extended with its sign" },
	[RULE_AGAIN] = { "again", 1, 0, "the same clue once more, up to three times" },
	[RULE_COUNTED] = { "counted", 9, 0,
			   "as many elements as the struct says that points at them" },
	[RULE_LOCK] = { "lock", 5, 0, "what only spin_lock() sees is a spinlock_t" },
	[RULE_LONE_FUNCTION] = { "lone-function", -4, 0,
				 "a constant that is one pointer to a function: a struct of "
				 "operations, rather" },
	[RULE_TOO_SMALL] = { "too-small", -7, 0, "code reads more than the number has" },
	[RULE_MISFIT] = { "misfit", -2, 0, "no member of the size that is accessed" },
	[RULE_GAP_EXACT] = { "gap-exact", 4, 0, "it has the size that the symbol table gives" },
	[RULE_GAP_INEXACT] = { "gap-inexact", -20, 60,
			       "it has not the size that the symbol table gives" },
	[RULE_GAP_NONE] = { "gap-none", 3, 0, "it ends where the next symbol begins" },
	[RULE_GAP_WORDS] = { "gap-words", 1, 0,
			     "a gap of less than 16 bytes, explained by alignment" },
	[RULE_GAP_UNEXPLAINED] = { "gap-unexplained", -8, 10, "a gap that no alignment explains" },
	[RULE_CONTAINER] = { "container", -3, 0,
			     "a struct that nobody named, around what was named first in it" },
	[RULE_DEEPER] = { "deeper", -2, 0, "one more struct around that" },
	[RULE_INSIDE] = { "inside", -2, 0,
			  "a struct that nobody named, around what was named further in" },
	[RULE_CROWD] = { "crowd", -1, 0, "for each doubling of the structs that it may be" },
	[RULE_ARRAY] = { "array", -5, 0, "an array of structs that nobody indexes" },
	[RULE_ARRAY_PARTS] = { "array-parts", -9, 0,
			       "an array of what is a part of many structs, a list or a lock" },
	[RULE_ARRAY_NUMBERS] = { "array-numbers", -7, 0,
				 "an array of numbers that nobody indexes" },
	[RULE_ARRAY_POINTERS] = { "array-pointers", -4, 0,
				  "an array of pointers that nobody indexes" },
	[RULE_SEARCHED] = { "searched", -4, 0, "found by its bytes only" },
	[RULE_USED] = { "used", -6, 0,
			"what members of that name are: nothing else speaks for it" },
	[RULE_CPUMASK] = { "cpumask", 2, 0, "a bitmap of a cpumask's size" },
	[RULE_BUCKETS] = { "buckets", 1, 0, "as many untyped pointers as a hash has values" },
	[RULE_DEFAULT] = { "default", -4, 0, "a number as large as an access" },
	[RULE_DEFAULT_INT] = { "default-int", 1, 0, "an int, of the numbers of 4 bytes" },
	[RULE_DEFAULT_BOOL] = { "default-bool", 1, 0, "a bool, of those of 1 byte" },
	[RULE_DEFAULT_LONG] = { "default-long", -1, 0, "a long, of those of 8 bytes" },
	[RULE_NAME_SAME] = { "name-same", 8, 0, "the struct is called as the variable" },
	[RULE_NAME_PART] = { "name-part", 2, 0, "the name ends with the struct's" },
	[RULE_NAME_USED] = { "name-used", 3, 0,
			     "members and parameters of that name have the type" },
	[RULE_NAME_USED_NUMBER] = { "name-used-number", 2, 0, "the same of no struct" },
	[RULE_HABIT] = { "habit", 3, 0, "integers that functions around those that use it take" },
	[RULE_FUNCTION_RIGHT] = { "function-right", 2, 1,
				  "a function pointer points at a function of that type" },
	[RULE_FUNCTION_OTHER] = { "function-other", -5, 20,
				  "a function pointer points at a function of another type" },
	[RULE_FUNCTION_NONE] = { "function-none", -5, 24, "a function pointer points at none" },
	[RULE_POINTER_RIGHT] = { "pointer-right", 3, 1,
				 "a pointer points at an object of the right type" },
	[RULE_POINTER_OTHER] = { "pointer-other", -4, 14,
				 "a pointer points at an object of another type" },
	[RULE_POINTER_TEXT] = { "pointer-text", 1, 0, "a char pointer points at text" },
	[RULE_POINTER_THERE] = { "pointer-there", 1, 0, "a pointer points at something" },
	[RULE_POINTER_NUMBER] = { "pointer-number", -3, 0, "a pointer holds no address" },
	[RULE_BOOL] = { "bool", -5, 24, "a bool is neither 0 nor 1" },
	[RULE_HALF_IMAGE] = { "half-image", -2, 0,
			      "an integer covers half of a pointer into the image" },
	[RULE_INTEGER_POINTER] = { "integer-pointer", -1, 0, "an integer looks like a pointer" },
	[RULE_LIST_LINKED] = { "list-linked", 3, 1, "a list head is linked back" },
	[RULE_LIST_NOT] = { "list-not", -4, 200, "a list head is not linked back" },
	[RULE_PADDING] = { "padding", -6, 30, "bytes behind its end are in use" },
	[RULE_STATIC_KEY] = { "static-key", 5, 0, "the kind of static key that it began as" },
	[RULE_CONSTANT] = { "constant", -4, 0,
			    "among constants, and BTF has no const of that type" },
};

const struct rule_row *rule_row(enum rule which)
{
	return &rows[which];
}

void rules_all(struct rules *ret)
{
	for (int i = 0; i < RULE_COUNT; i++)
		ret->points[i] = rows[i].points;
}

bool rules_less(struct rules *rules, const char *name)
{
	for (int i = 0; i < RULE_COUNT; i++) {
		if (strcmp(rows[i].name, name))
			continue;
		rules->points[i] = 0;
		return true;
	}
	return false;
}
