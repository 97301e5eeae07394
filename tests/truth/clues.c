// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Prints what code says of globals, for tests/truth/clues_score.py and for the eye:
 *
 *	clues [-d] [-t THREADS] [-g GLOBALS.tsv] DUMP [SYMBOL...]
 *
 * One clue a line, tab-separated: module (or "vmlinux"), symbol, room, kind, offset, size, type,
 * where, how. Without symbols: of all, from one pass over the text. Times go to stderr.
 * -d: the declarations that ship with the program are known types, and so sources.
 *
 * With what tests/truth/globals wrote of the kernel's DWARF (the -dbg package), two more columns: a
 * verdict and DWARF's type. A clue is a constraint, so it is judged as one:
 *	exact	an object, a value of that very type lies at that offset
 *	first	of a pointer: one of the two types is the first member of the other
 *	weak	an integer of that size, but of another name or sign; a void pointer
 *	wrong	neither
 *	beyond	it is about what follows the symbol: string literals have no symbols
 *	-	DWARF does not type the symbol, or its type is not in BTF
 */
#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/infer/evidence/code.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* --- truth -------------------------------------------------------------------------------- */

struct true_global {
	uint64_t address; /* as linked */
	char *type;
};

struct truth {
	struct true_global *items;
	size_t count, capacity;
	uint64_t slide;
};

static bool split(char *line, char **columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		columns[i] = line;
		line = strchr(line, '\t');
		if (!line)
			return i + 1 == count;
		*line++ = 0;
	}
	return true;
}

static int compare_true(const void *a, const void *b)
{
	const struct true_global *left = a, *right = b;
	return left->address < right->address ? -1 : left->address > right->address;
}

static void truth_read(struct truth *truth, const char *path, struct target *target)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *columns[9];
	size_t size = 0;
	uint64_t text;
	while (file && getline(&line, &size, file) > 0) {
		if (*line == '#' || !split(line, columns, 9) || strcmp(columns[0], "vmlinux") ||
		    strstr(columns[7], "percpu") || strstr(columns[7], "untyped") ||
		    !strcmp(columns[3], "0"))
			continue;
		if (!array_reserve(&truth->items, &truth->capacity, truth->count + 1))
			abort();
		truth->items[truth->count++] =
			(struct true_global){ strtoull(columns[1], NULL, 0), strdup(columns[8]) };
	}
	if (!file)
		perror(path);
	else
		fclose(file);
	free(line);
	array_sort(truth->items, truth->count, sizeof(*truth->items), compare_true);
	if (symtab_address(target->symbols, "_text", &text))
		truth->slide = text - 0xffffffff81000000;
}

static const char *truth_type(const struct truth *truth, uint64_t address)
{
	struct true_global key = { address - truth->slide, NULL };
	const struct true_global *found =
		array_search(&key, truth->items, truth->count, sizeof(key), compare_true);
	return found ? found->type : NULL;
}

/* --- verdicts ----------------------------------------------------------------------------- */

enum verdict { WRONG, WEAK, FIRST, EXACT };

static bool same(struct type a, struct type b)
{
	struct btf_type left, right;
	if (!type_get_resolved(a, &left) || !type_get_resolved(b, &right))
		return false;
	if (left.kind == BTF_FWD || right.kind == BTF_FWD ||
	    (left.kind == BTF_STRUCT && *left.name))
		return left.kind != BTF_PTR && right.kind != BTF_PTR &&
		       !strcmp(left.name, right.name);
	/* Their index types may differ. */
	if (left.kind == BTF_ARRAY && right.kind == BTF_ARRAY)
		return left.array_count == right.array_count &&
		       same((struct type){ left.btf, left.type },
			    (struct type){ right.btf, right.type });
	return type_equal(type_resolve(a), type_resolve(b));
}

/* `b` is the first member of `a`, or of its first member, ... */
static bool begins_with(struct type a, struct type b)
{
	for (int depth = 0; depth < 16; depth++) {
		struct btf_type record;
		struct btf_member member;
		if (same(a, b))
			return true;
		if (!type_get_resolved(a, &record))
			return false;
		if (record.kind == BTF_ARRAY)
			a = (struct type){ record.btf, record.type };
		else if ((record.kind == BTF_STRUCT || record.kind == BTF_UNION) &&
			 btf_member(&record, 0, &member))
			a = (struct type){ record.btf, member.type };
		else
			return false;
	}
	return false;
}

static enum verdict judge_pointer(struct type is, struct type said)
{
	struct type a, b;
	struct btf_type left, right;
	if (!type_target(type_resolve(is), &a) || !type_target(type_resolve(said), &b))
		return WRONG;
	if (same(a, b))
		return EXACT;
	if (!type_get_resolved(a, &left) || !type_get_resolved(b, &right) ||
	    left.kind == BTF_VOID || right.kind == BTF_VOID)
		return WEAK;
	if (begins_with(a, b) || begins_with(b, a))
		return FIRST;
	if (left.kind == BTF_INT && right.kind == BTF_INT && left.size == right.size)
		return WEAK;
	return WRONG;
}

static enum verdict judge_scalar(struct type is, struct type said)
{
	struct btf_type left, right;
	if (!type_get_resolved(is, &left) || !type_get_resolved(said, &right))
		return WRONG;
	if (left.kind == BTF_PTR && right.kind == BTF_PTR)
		return judge_pointer(is, said);
	if (same(is, said))
		return EXACT;
	bool numbers = (left.kind == BTF_INT || left.kind == BTF_ENUM) &&
		       (right.kind == BTF_INT || right.kind == BTF_ENUM);
	return numbers && left.size == right.size ? WEAK : WRONG;
}

/* How well `said` lies at `offset` of `is`; { NULL, 0 }: any scalar of `size` bytes. */
static enum verdict judge(struct type is, uint64_t offset, struct type said, uint32_t size)
{
	struct btf_type record;
	struct btf_member member;
	enum verdict best = WRONG, verdict;
	uint64_t is_size;
	if (!type_get_resolved(is, &record) || !type_size(is, &is_size))
		return WRONG;
	if (!offset && said.btf && same(is, said))
		return EXACT;
	if (record.kind == BTF_ARRAY) {
		struct type element = { record.btf, record.type };
		if (!type_size(element, &is_size) || !is_size)
			return WRONG;
		return judge(element, offset % is_size, said, size);
	}
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION) {
		if (offset || is_size != size)
			return WRONG;
		return said.btf ? judge_scalar(is, said) : EXACT;
	}
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		struct type inner = { record.btf, member.type };
		uint64_t start = member.bit_offset / 8;
		if (offset < start || !type_size(inner, &is_size) || offset - start >= is_size)
			continue;
		verdict = judge(inner, offset - start, said, size);
		best = verdict > best ? verdict : best;
	}
	return best;
}

static bool has_stride(struct type is, uint64_t offset, uint32_t stride)
{
	struct btf_type record;
	struct btf_member member;
	uint64_t size;
	if (!type_get_resolved(is, &record))
		return false;
	if (record.kind == BTF_ARRAY) {
		struct type element = { record.btf, record.type };
		if (!type_size(element, &size) || !size)
			return false;
		return stride % size == 0 || has_stride(element, offset % size, stride);
	}
	for (uint32_t i = 0; (record.kind == BTF_STRUCT || record.kind == BTF_UNION) &&
			     btf_member(&record, i, &member);
	     i++) {
		struct type inner = { record.btf, member.type };
		uint64_t start = member.bit_offset / 8;
		if (offset >= start && type_size(inner, &size) && offset - start < size &&
		    has_stride(inner, offset - start, stride))
			return true;
	}
	return false;
}

static void print_verdict(struct target *target, const struct truth *truth,
			  const struct subject *subject, const struct clue *clue)
{
	static const char *const names[] = { "wrong", "weak", "first", "exact" };
	const char *type = truth_type(truth, subject->address);
	const char *verdict = "-";
	struct type is;
	if (type) {
		struct error *error = declare_parse_type(target, NULL, type, NULL, &is);
		uint64_t size;
		if (!error && type_size(is, &size) && size && clue->offset >= size)
			verdict = "beyond";
		else if (!error && clue->kind == CLUE_STRIDE)
			verdict = has_stride(is, clue->offset, clue->size) ? "exact" : "wrong";
		else if (!error)
			verdict = names[judge(is, clue->offset, clue->type, clue->size)];
		error_free(error);
	}
	printf("\t%s\t%s", verdict, type ? type : "-");
}

/* --- output ------------------------------------------------------------------------------- */

static void print_clue(struct target *target, const struct truth *truth,
		       const struct subject *subject, const struct clue *clue)
{
	static const char *const kinds[] = { "object", "value", "access", "stride",
					     "shape",  "whole", "hint" };
	struct symbol symbol;
	char type[512] = "-", where[256];
	symtab_get(target->symbols, subject->symbol, &symbol);
	if (clue->type.id)
		type_spell(clue->type, NULL, type, sizeof(type));
	if (!target_describe(target, clue->where, where, sizeof(where)))
		snprintf(where, sizeof(where), "%#" PRIx64, clue->where);
	printf("%s\t%s\t%" PRIu64 "\t%s\t%u\t%u\t%s\t%s\t%s",
	       symbol.module ? symbol.module : "vmlinux", symbol.name, subject->room,
	       kinds[clue->kind], clue->offset, clue->size, type, where, clue->how);
	if (truth->count)
		print_verdict(target, truth, subject, clue);
	putchar('\n');
}

static void print_clues(struct target *target, const struct truth *truth,
			const struct subject *subject, const struct clues *clues)
{
	for (size_t i = 0; i < clues->count; i++)
		print_clue(target, truth, subject, &clues->items[i]);
}

static struct error *one(struct inference *inference, const struct truth *truth, const char *name)
{
	struct symbol symbol;
	struct subject subject;
	struct clues clues = { .items = NULL };
	uint64_t cursor = 0;
	double start = seconds();
	if (!target_find_symbol(inference->target, NULL, name, &cursor, &symbol) ||
	    !subject_of_symbol(inference->target, &symbol, &subject))
		return error_create(ERROR_NOT_FOUND, "%s is no data symbol", name);
	struct error *error = code_clues(inference, &subject, &clues);
	if (!error)
		print_clues(inference->target, truth, &subject, &clues);
	fprintf(stderr, "%s: %zu clues in %.1f ms\n", name, clues.count, (seconds() - start) * 1e3);
	clues_deinit(&clues);
	return error;
}

static struct error *all(struct inference *inference, const struct truth *truth,
			 unsigned int threads)
{
	struct code_clues clues;
	double start = seconds();
	struct error *error = code_clues_all(inference, threads, &clues);
	if (error)
		return error;
	fprintf(stderr, "%zu subjects, %zu functions in %.2f s\n", clues.count,
		inference->function_count, seconds() - start);
	for (size_t i = 0; i < clues.count; i++)
		print_clues(inference->target, truth, &inference->subjects.items[i],
			    &clues.items[i]);
	code_clues_deinit(&clues);
	return NULL;
}

static bool nothing_is_known(void *context, const struct subject *subject,
			     const struct symbol *symbol, struct type *ret)
{
	(void)context, (void)subject, (void)symbol, (void)ret;
	return false;
}

static struct error *run(const char *dump, bool declared, unsigned int threads, const char *globals,
			 char **names)
{
	struct truth truth = { .items = NULL };
	struct target_options options = { NULL };
	struct target *target;
	struct inference *inference;
	struct error *error = target_open(&dump, 1, &options, &target);
	if (error)
		return error;
	if (globals)
		truth_read(&truth, globals, target);
	error = inference_get(target, &inference);
	if (!error && !declared)
		inference->known_type = nothing_is_known;
	if (!error && !*names)
		error = all(inference, &truth, threads);
	for (; !error && *names; names++)
		error = one(inference, &truth, *names);
	target_close(target);
	for (size_t i = 0; i < truth.count; i++)
		free(truth.items[i].type);
	free(truth.items);
	return error;
}

int main(int argc, char **argv)
{
	unsigned int threads = 0;
	const char *globals = NULL;
	bool declared = false;
	int option;
	while ((option = getopt(argc, argv, "dt:g:")) != -1) {
		if (option == 't')
			threads = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'd')
			declared = true;
		else if (option == 'g')
			globals = optarg;
		else
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr, "usage: clues [-d] [-t THREADS] [-g GLOBALS] DUMP [SYMBOL...]\n");
		return 2;
	}
	struct error *error = run(argv[optind], declared, threads, globals, argv + optind + 1);
	if (error)
		fprintf(stderr, "clues: %s\n", error->message);
	error_free(error);
	return error != NULL;
}
