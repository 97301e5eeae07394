// SPDX-License-Identifier: GPL-3.0-or-later
/* Indexes over the symbol table, made when first needed. */
#include "base/array.h"
#include "symbols/symtab_private.h"
#include <stdlib.h>
#include <string.h>

/* As many as stay in the processor's cache while the chains are built. */
#define HEADS_MAX (1u << 16)
/* Searches in the kernel's own order of names before they are indexed, which costs some thousands.
 */
#define SEARCHES_MAX 4096
/* Scans of the added symbols before their names are indexed; the index costs about ten. */
#define ADDED_SCANS_MAX 8

void symtab_index_forget_kernel(struct symtab_index *index)
{
	free(index->name_heads);
	free(index->name_next);
	index->name_heads = NULL;
	index->name_next = NULL;
	index->has_facts = false;
}

void symtab_index_free(struct symtab_index *index)
{
	if (!index)
		return;
	symtab_index_forget_kernel(index);
	hash_index_deinit(&index->added_names);
	free(index->regions);
	free(index->loose.numbers);
	free(index);
}

/* --- by name ------------------------------------------------------------------- */

/* False without memory: then one walks. */
static bool index_kernel_names(const struct symtab *symtab)
{
	struct symtab_index *index = symtab->index;
	const struct kallsyms *kernel = &symtab->kernel;
	if (index->name_heads)
		return true;
	uint32_t heads = 16;
	while (heads < kernel->count / 2 && heads < HEADS_MAX)
		heads *= 2;
	index->name_mask = heads - 1;
	index->name_heads = malloc(heads * sizeof(*index->name_heads));
	index->name_next = malloc(kernel->count * sizeof(*index->name_next));
	if (!index->name_heads || !index->name_next) {
		symtab_index_forget_kernel(index);
		index->has_no_memory = true;
		return false;
	}
	memset(index->name_heads, 0xff, heads * sizeof(*index->name_heads));
	for (uint32_t i = kernel->count; i-- > 0;) {
		uint32_t *head =
			&index->name_heads[kallsyms_name_hash(kernel, i) & index->name_mask];
		index->name_next[i] = *head;
		*head = i;
	}
	return true;
}

static bool index_added_names(const struct symtab *symtab)
{
	struct symtab_index *index = symtab->index;
	for (; index->added_names_count < symtab->added_count; index->added_names_count++) {
		uint32_t number = (uint32_t)index->added_names_count;
		const char *name = symtab->added[number].name;
		if (!hash_index_add(&index->added_names, symbol_hash(name, strlen(name)), number))
			return false;
	}
	return true;
}

bool symtab_next_in_kernel(const struct symtab *symtab, const char *name, uint32_t from,
			   uint32_t *ret)
{
	const struct kallsyms *kernel = &symtab->kernel;
	struct symtab_index *index = symtab->index;
	size_t length = strlen(name);
	if (kernel->sorted && !index->name_heads &&
	    (index->has_no_memory || index->searches++ < SEARCHES_MAX)) {
		enum kallsyms_found found = kallsyms_find_sorted(kernel, name, from, ret);
		if (found != KALLSYMS_UNSURE)
			return found == KALLSYMS_FOUND;
	}
	bool indexed = kernel->count && index_kernel_names(symtab);
	uint32_t i = from;
	/* Behind one of that name the rest of its chain: thousands may be called the same. */
	if (indexed && from && from <= kernel->count &&
	    kallsyms_name_is(kernel, from - 1, name, length))
		i = index->name_next[from - 1];
	else if (indexed)
		i = index->name_heads[symbol_hash(name, length) & index->name_mask];
	while (i < kernel->count) {
		if (i >= from && kallsyms_name_is(kernel, i, name, length)) {
			*ret = i;
			return true;
		}
		i = indexed ? index->name_next[i] : i + 1;
	}
	return false;
}

static bool added_is(const struct symtab *symtab, uint32_t number, const char *module,
		     const char *name)
{
	const struct added_symbol *symbol = &symtab->added[number];
	return !strcmp(symbol->name, name) &&
	       (!module || !strcmp(symtab->sources[symbol->source]->name, module));
}

static bool next_added(const struct symtab *symtab, const char *module, const char *name,
		       uint32_t from, uint32_t *ret)
{
	/* The first few questions are answered by scanning, which costs less than the index. */
	bool scans = symtab->index->added_scans < ADDED_SCANS_MAX;
	if (scans)
		symtab->index->added_scans++;
	if (scans || !index_added_names(symtab)) {
		for (uint32_t i = from; i < symtab->added_count; i++)
			if (added_is(symtab, i, module, name)) {
				*ret = i;
				return true;
			}
		return false;
	}
	const struct hash_index *names = &symtab->index->added_names;
	uint32_t hash = symbol_hash(name, strlen(name));
	/* An added symbol's entry has its number: behind one of that name goes on its chain. */
	size_t position = from && from <= names->count && names->entries[from - 1].hash == hash
				  ? names->entries[from - 1].next
				  : hash_index_first(names, hash);
	for (uint32_t i; (i = hash_index_next(names, hash, &position)) != HASH_NONE;)
		if (i >= from && added_is(symtab, i, module, name)) {
			*ret = i;
			return true;
		}
	return false;
}

bool symtab_next_named(const struct symtab *symtab, const char *module, const char *name,
		       uint32_t from, uint32_t *ret)
{
	uint32_t count = symtab->kernel.count;
	if (from < count && !module && symtab_next_in_kernel(symtab, name, from, ret))
		return true;
	if (!next_added(symtab, module, name, from > count ? from - count : 0, ret))
		return false;
	*ret += count;
	return true;
}

/* --- by address ---------------------------------------------------------------- */

static bool in_regions(const struct symbol_source *source, uint64_t address)
{
	for (size_t i = 0; i < source->region_count; i++)
		if (address - source->regions[i].start < source->regions[i].size)
			return true;
	return false;
}

/*
 * Labels of assemblers and linkers (is_mapping_symbol(), include/linux/module_symbol.h): listed,
 * but no address is called after them.
 */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L') ||
	       (name[0] == 'L' && name[1] == '0');
}

/* Can an address be called after it? */
static bool names_a_place(const struct symtab *symtab, const struct added_symbol *symbol)
{
	const struct symbol_source *source = symtab->sources[symbol->source];
	const char *name = symbol->name;
	if (symbol->per_cpu || !*name)
		return false;
	return !source->is_module ||
	       (!is_mapping_symbol(name) && in_regions(source, symbol->address));
}

static int compare_addresses(const void *a, const void *b, void *context)
{
	const struct added_symbol *added = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (added[left].address != added[right].address)
		return added[left].address < added[right].address ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Puts in order what of the added symbols `from` to `end` - 1 are places and of this kind. */
static void make_order(const struct symtab *symtab, size_t from, size_t end, bool of_module,
		       struct address_order *order)
{
	uint32_t *numbers = end > from ? malloc((end - from) * sizeof(*numbers)) : NULL;
	if (!numbers)
		return;
	size_t count = 0;
	for (size_t i = from; i < end; i++)
		if (symtab->sources[symtab->added[i].source]->is_module == of_module &&
		    names_a_place(symtab, &symtab->added[i]))
			numbers[count++] = (uint32_t)i;
	qsort_r(numbers, count, sizeof(*numbers), compare_addresses, symtab->added);
	free(order->numbers);
	*order = (struct address_order){ numbers, count, end - from };
}

static int compare_regions(const void *a, const void *b)
{
	const struct module_region *left = a, *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->source < right->source ? -1 : left->source > right->source;
}

/* Without memory the older ones stay. */
static void collect_regions(const struct symtab *symtab, struct symtab_index *index)
{
	size_t count = 0;
	for (size_t i = 0; i < symtab->source_count; i++)
		count += symtab->sources[i]->region_count;
	struct module_region *regions = malloc((count + 1) * sizeof(*regions));
	if (!regions)
		return;
	count = 0;
	for (size_t i = 0; i < symtab->source_count; i++)
		for (size_t j = 0; j < symtab->sources[i]->region_count; j++)
			regions[count++] = (struct module_region){
				symtab->sources[i]->regions[j].start,
				symtab->sources[i]->regions[j].size,
				(uint32_t)i,
			};
	array_sort(regions, count, sizeof(*regions), compare_regions);
	free(index->regions);
	index->regions = regions;
	index->region_count = count;
	index->regions_of = symtab->source_count;
}

struct symbol_source *symtab_module_at(const struct symtab *symtab, uint64_t address)
{
	struct symtab_index *index = symtab->index;
	if (index->regions_of != symtab->source_count)
		collect_regions(symtab, index);
	size_t above = array_bound(index->region_count, i, index->regions[i].start <= address);
	if (!above || address - index->regions[above - 1].start >= index->regions[above - 1].size)
		return NULL;
	return symtab->sources[index->regions[above - 1].source];
}

static const struct address_order *order_of_module(const struct symtab *symtab,
						   struct symbol_source *module)
{
	size_t from = module->first_symbol;
	if (module->order.made_of != module->symbol_count)
		make_order(symtab, from, from + module->symbol_count, true, &module->order);
	return &module->order;
}

static const struct address_order *order_of_loose(const struct symtab *symtab)
{
	struct address_order *loose = &symtab->index->loose;
	if (loose->made_of != symtab->added_count)
		make_order(symtab, 0, symtab->added_count, false, loose);
	return loose;
}

const struct address_order *symtab_order_at(const struct symtab *symtab, uint64_t address)
{
	struct symbol_source *module = symtab_module_at(symtab, address);
	return module ? order_of_module(symtab, module) : order_of_loose(symtab);
}

/* --- ranges -------------------------------------------------------------------- */

static struct address_range named_range(const struct symtab *symtab, const char *start,
					const char *end)
{
	struct address_range range = { 0 };
	uint32_t from, to;
	if (symtab_next_in_kernel(symtab, start, 0, &from) &&
	    symtab_next_in_kernel(symtab, end, 0, &to))
		range = (struct address_range){ symtab->kernel.addresses[from],
						symtab->kernel.addresses[to] };
	return range;
}

const struct symtab_index *symtab_facts(const struct symtab *symtab)
{
	struct symtab_index *index = symtab->index;
	if (!index->has_facts) {
		index->per_cpu = named_range(symtab, "__per_cpu_start", "__per_cpu_end");
		index->text[0] = named_range(symtab, "_stext", "_etext");
		index->text[1] = named_range(symtab, "_sinittext", "_einittext");
		index->data = named_range(symtab, "_sdata", "_edata");
		index->has_facts = true;
	}
	return index;
}

/* --- all of them --------------------------------------------------------------- */

bool symtab_make_indexes(const struct symtab *symtab)
{
	struct symtab_index *index = symtab->index;
	(void)symtab_facts(symtab);
	if ((symtab->kernel.count && !index_kernel_names(symtab)) || !index_added_names(symtab))
		return false;
	index->added_scans = ADDED_SCANS_MAX;
	if (index->regions_of != symtab->source_count)
		collect_regions(symtab, index);
	bool good = index->regions_of == symtab->source_count &&
		    order_of_loose(symtab)->made_of == symtab->added_count;
	for (size_t i = 0; i < symtab->source_count && good; i++) {
		struct symbol_source *source = symtab->sources[i];
		good = !source->is_module ||
		       order_of_module(symtab, source)->made_of == source->symbol_count;
	}
	return good;
}
