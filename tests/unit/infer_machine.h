/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made-up machine for the tests of debugger/infer: memory in a few parts, symbols in kallsyms
 * tables, BTF that the test writes; and damage to all of that memory.
 */
#ifndef TESTS_UNIT_INFER_MACHINE_H
#define TESTS_UNIT_INFER_MACHINE_H

#include "debugger/target/attached.h"
#include "debugger/target/target.h"
#include "tests/unit/chance.h"
#include "tests/unit/code_by_hand.h"
#include "tests/unit/kallsyms_image.h"
#include "tests/unit/libbpf.h"
#include "tests/unit/test.h"

#define DATA	      0xffffffff82000000u
#define MACHINE_PARTS 8
#define MACHINE_PAGE  4096u

struct machine {
	struct memory memory;
	struct machine_part {
		uint64_t address;
		uint8_t *bytes; /* borrowed */
		size_t size;	/* 0: absent; zeros follow to the end of a page */
	} parts[MACHINE_PARTS];
	size_t part_count;
	struct target target;
	struct vmcore_facts facts;
	struct image tables;
	struct libbpf_btf *source;
	struct btf *btf;
};

static inline struct error *machine_read(struct memory *memory, uint64_t address, void *buffer,
					 size_t size)
{
	const struct machine *machine = (const struct machine *)memory;
	for (size_t i = 0; i < machine->part_count; i++) {
		const struct machine_part *part = &machine->parts[i];
		uint64_t offset = address - part->address;
		uint64_t end = (part->size + MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE;
		if (offset >= end)
			continue;
		if (size > end - offset) {
			address = part->address + end;
			break;
		}
		size_t rest = offset < part->size ? part->size - offset : 0;
		memset(buffer, 0, size);
		if (rest)
			memcpy(buffer, part->bytes + offset, rest < size ? rest : size);
		return NULL;
	}
	return error_create_at(ERROR_FAULT, address, "nothing at 0x%" PRIx64, address);
}

/* Without parts, symbols and types: `source` is for the test to fill. */
static inline void machine_init(struct machine *machine)
{
	*machine = (struct machine){
		.memory = { .read = machine_read, .name = "kernel", .word_size = 8 },
		.facts = { .page_size = 4096 },
		.source = btf__new_empty()
	};
	machine->target = (struct target){ .memory = &machine->memory,
					   .facts = &machine->facts,
					   .arch = &arch_x86_64,
					   .cpus_loaded = true,
					   .modules_loaded = true,
					   .no_cache = true };
}

static inline void machine_add_part(struct machine *machine, uint64_t address, void *bytes,
				    size_t size)
{
	CHECK(machine->part_count < MACHINE_PARTS);
	machine->parts[machine->part_count++] = (struct machine_part){ address, bytes, size };
}

/* By address, the last one ends the kernel. Per-CPU ones come first, by offset. */
static inline void machine_set_symbols(struct machine *machine, const struct test_symbol *symbols,
				       size_t count)
{
	image_symbols(&machine->tables, 0xffffffff83000000u, symbols, (uint32_t)count,
		      &machine->target.symbols);
}

static inline void machine_set_types(struct machine *machine)
{
	uint32_t size = 0;
	const void *raw = btf__raw_data(machine->source, &size);
	CHECK_OK(btf_open(raw, size, NULL, "vmlinux", &machine->btf));
	machine->target.btf = machine->btf;
}

static inline void machine_deinit(struct machine *machine)
{
	target_detach_all(&machine->target);
	symtab_destroy(machine->target.symbols);
	btf_close(machine->btf);
	btf__free(machine->source);
	image_destroy(&machine->tables);
}

/* --- damage ---------------------------------------------------------------------------------- */

/* What a word of damaged memory may hold: anywhere in the machine, most of the time. */
static inline uint64_t machine_bad_word(const struct machine *machine, uint64_t *state)
{
	const struct machine_part *part = &machine->parts[next_random(state) % machine->part_count];
	uint64_t random = (uint64_t)next_random(state) << 33 ^ next_random(state);
	switch (next_random(state) % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - next_random(state) % 16;
	case 2:
		return next_random(state) % 4096;
	case 3:
		return random;
	case 4:
		return part->address + (part->size ? random % part->size : 0);
	default:
		return part->address + (part->size ? random % part->size & ~(uint64_t)7 : 0);
	}
}

/* One of the parts: all of it, or a word of it. */
static inline void machine_damage_part(const struct machine *machine, struct machine_part *part,
				       uint64_t *state)
{
	uint64_t word = machine_bad_word(machine, state);
	size_t words = part->size / 8, at = words ? next_random(state) % words : 0;
	switch (next_random(state) % 6) {
	case 0: /* absent */
		part->size = 0;
		break;
	case 1: /* cut */
		part->size = next_random(state) % (part->size + 1);
		break;
	case 2: /* looped: every word points there */
		for (size_t i = 0; i < words; i++)
			memcpy(part->bytes + 8 * i, &word, 8);
		break;
	case 3: /* random */
		for (size_t i = 0; i < words; i++) {
			word = machine_bad_word(machine, state);
			memcpy(part->bytes + 8 * i, &word, 8);
		}
		break;
	default:
		if (words)
			memcpy(part->bytes + 8 * at, &word, 8);
	}
}

/* Runs the trial while parts of the memory are damaged; they are whole again when it returns. */
static inline void machine_damage(struct machine *machine, unsigned int rounds,
				  void (*trial)(struct machine *machine))
{
	uint64_t state = 1;
	for (unsigned int round = 0; round < rounds; round++) {
		struct machine_part saved[MACHINE_PARTS];
		uint8_t *bytes[MACHINE_PARTS];
		memcpy(saved, machine->parts, sizeof(saved));
		for (size_t i = 0; i < machine->part_count; i++) {
			bytes[i] = malloc(saved[i].size + 1);
			if (!bytes[i])
				abort();
			memcpy(bytes[i], saved[i].bytes, saved[i].size);
		}
		for (uint32_t times = next_random(&state) % 3 + 1; times; times--)
			machine_damage_part(
				machine, &machine->parts[next_random(&state) % machine->part_count],
				&state);
		trial(machine);
		memcpy(machine->parts, saved, sizeof(saved));
		for (size_t i = 0; i < machine->part_count; i++) {
			memcpy(saved[i].bytes, bytes[i], saved[i].size);
			free(bytes[i]);
		}
	}
}

#endif
