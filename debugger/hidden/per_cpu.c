// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Per-CPU variables: BTF lists them with their offsets in the section, the exported ones say where
 * that begins (at 0 on x86-64 up to 6.14).
 */
#include "debugger/hidden/hidden_private.h"

static const char evidence[] = "a per-CPU variable of the kernel's BTF";

/* How many exported symbols agree on where the section starts. */
struct votes {
	uint64_t start;
	size_t yes, no;
};

static bool section_variable(const struct btf_type *section, uint32_t index, const char **ret_name,
			     struct btf_section_entry *ret)
{
	struct btf_type variable;
	if (!btf_section_entry(section, index, ret))
		return false;
	*ret_name = btf_get(section->btf, ret->type, &variable) ? variable.name : "";
	return true;
}

static struct error *vote(struct hidden *hidden, const struct btf_type *section,
			  struct votes *votes)
{
	struct btf_section_entry entry;
	const char *name;
	for (uint32_t i = 0; section_variable(section, i, &name, &entry); i++) {
		TRY(hidden_spend(hidden, hidden->count));
		const struct found_symbol *symbol = *name ? hidden_find_named(hidden, name) : NULL;
		if (!symbol)
			continue;
		uint64_t start = symbol->address - entry.offset;
		if (!votes->yes)
			votes->start = start;
		if (votes->start == start)
			votes->yes++;
		else
			votes->no++;
	}
	return NULL;
}

/* An exported one is known by now; BTF has its size. */
static struct error *add_variable(struct hidden *hidden, const char *name, char kind,
				  uint64_t address, uint64_t size)
{
	TRY(hidden_spend(hidden, hidden->count));
	struct found_symbol *known = (struct found_symbol *)hidden_find_named(hidden, name);
	if (!known || known->address != address) {
		TRY(hidden_add(hidden, name, kind, address, size, evidence));
		known = &hidden->items[hidden->count - 1];
	}
	known->kind = kind;
	known->size = size;
	known->per_cpu = true;
	return NULL;
}

struct error *hidden_add_per_cpu(struct hidden *hidden)
{
	const struct btf *btf = hidden->target->btf;
	uint64_t cursor = 0;
	uint32_t id = btf ? btf_find(btf, BTF_DATASEC, ".data..percpu", &cursor) : 0;
	struct btf_type section;
	struct btf_section_entry entry;
	struct votes votes = { 0 };
	const char *name;
	if (!id || !btf_get(btf, id, &section))
		return NULL;
	TRY(vote(hidden, &section, &votes));
	if (!votes.yes || votes.no)
		return NULL;
	/* Per-CPU symbols that are offsets have the letter A (absolute) in kallsyms. */
	char kind = votes.start ? 'D' : 'A';
	for (uint32_t i = 0; section_variable(&section, i, &name, &entry); i++) {
		if (*name)
			TRY(add_variable(hidden, name, kind, votes.start + entry.offset,
					 entry.size));
	}
	return add_variable(hidden, "__per_cpu_start", kind, votes.start, 0);
}
