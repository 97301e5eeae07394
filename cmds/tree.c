// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's trees, and the maps from an index to an entry that are trees inside. */
#include "debugger/command/arguments.h"
#include "debugger/show/listing.h"

#include "base/array.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_tree;

/* Below lies what a NULL pointer leads to. */
#define NULL_PAGE 4096u

typedef struct error *tree_walk(const struct walk *walk, uint64_t root);

/* Roots by the names of their structs, and by what -t calls them. */
static const struct tree_kind {
	const char *name;   /* of the struct */
	const char *option; /* NULL: another has it */
	const char *member; /* of it that is walked, NULL: itself */
	tree_walk *walk;
	bool is_map;
} kinds[] = {
	{ "rb_root", "rbtree", NULL, walk_rbtree, false },
	{ "rb_root_cached", NULL, "rb_root", walk_rbtree, false },
	/* rb_root is cached since 5.4 (511885d7061e). */
	{ "timerqueue_head", NULL, "rb_root.rb_root", walk_rbtree, false },
	{ "rb_root_linked", NULL, "rb_root", walk_rbtree, false },
	{ "timerqueue_linked_head", NULL, "rb_root.rb_root", walk_rbtree, false },
	{ "xarray", "xarray", NULL, walk_xarray, true },
	{ "radix_tree_root", "radix", NULL, walk_xarray, true },
	{ "idr", "idr", NULL, walk_idr, true },
	{ "maple_tree", "maple", NULL, walk_maple, true },
};

static const struct tree_kind *kind_of_type(struct type type)
{
	struct btf_type record;
	if (!type.btf || !type_get_resolved(type, &record) || record.kind != BTF_STRUCT)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (!strcmp(kinds[i].name, record.name))
			return &kinds[i];
	return NULL;
}

static struct error *kind_of_option(const char *option, const struct tree_kind **ret)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		if (kinds[i].option && !strcmp(kinds[i].option, option)) {
			*ret = &kinds[i];
			return NULL;
		}
	}
	return error_create(ERROR_USAGE, "\"%s\" is none of rbtree, xarray, radix, idr and maple",
			    option);
}

/* A timerqueue_node has the rb_node as its `node`; where those are linked too, one more is between.
 */
#define NODE_NESTING 3

static bool is_rb_node(struct type type)
{
	struct btf_type record;
	return type_get_resolved(type, &record) && !strcmp(record.name, "rb_node");
}

/* The rb_node within the member that was named, if any was. */
static struct error *find_node(struct linkage *linkage)
{
	struct type type = linkage->member;
	struct type_place place;
	char name[160];
	if (!linkage->type.btf)
		return NULL;
	if (!type.btf)
		return error_create(ERROR_USAGE, "which member of %s is the node? %s.MEMBER",
				    linkage->name, linkage->name);
	for (int i = 0; i < NODE_NESTING && !is_rb_node(type); i++) {
		if (!type_find_member(type, "node", &place))
			break;
		linkage->node_offset += place.bit_offset / 8;
		type = place.type;
	}
	if (is_rb_node(type))
		return NULL;
	type_spell(linkage->member, NULL, name, sizeof(name));
	return error_create(ERROR_USAGE, "%s is no struct rb_node", name);
}

/* A tree, of which there may be one a CPU. */
struct root {
	const struct tree_kind *kind;
	uint64_t address;
	struct listing_root from;
};

static struct error *walk_all(struct listing *listing, const struct root *roots, size_t count)
{
	struct walk walk = { .target = listing->session->target,
			     .visit = listing_visit,
			     .broken = listing_broken,
			     .context = listing };
	for (size_t i = 0; i < count; i++) {
		listing->cpu = roots[i].from.cpu;
		TRY(roots[i].kind->walk(&walk, roots[i].address));
	}
	return NULL;
}

static struct error *show(struct session *session, const struct arguments *arguments,
			  struct linkage *linkage, const struct root *roots, size_t count)
{
	struct listing listing = {
		.has_cpu = roots->from.has_cpu,
		.has_index = roots->kind->is_map,
		.hexadecimal = argument_option(&command_tree, arguments, 'x') != NULL,
	};
	if (!listing.has_index)
		TRY(find_node(linkage));
	TRY(listing_begin(&listing, session, linkage,
			  argument_option(&command_tree, arguments, 's'),
			  argument_option(&command_tree, arguments, 'n')));
	return listing_end(&listing, walk_all(&listing, roots, count));
}

/* `told`: what -t says, NULL. It holds for addresses, not for what is known to be something else.
 */
static struct error *find_root(const struct tree_kind *told, struct root *root)
{
	struct type type;
	struct type_place place;
	struct btf_type record;
	TRY(listing_place(&root->from.value, &root->address, &type));
	const struct tree_kind *found = kind_of_type(type);
	bool is_struct = type.btf && type_get_resolved(type, &record) && *record.name &&
			 (record.kind == BTF_STRUCT || record.kind == BTF_UNION);
	root->kind = found ? found : told;
	if ((!found && (!told || is_struct)) || (told && found && found->walk != told->walk)) {
		char name[160] = "it";
		if (type.btf)
			type_spell(type, NULL, name, sizeof(name));
		return error_create(ERROR_USAGE,
				    "%s is no root of %s; -t says what an address is the root of",
				    name, told ? told->option : "a tree");
	}
	if (found && found->member) {
		TRY(type_find_path(type, found->member, &place));
		root->address += place.bit_offset / 8;
	}
	if (root->address < NULL_PAGE)
		return error_create(ERROR_NOT_FOUND, "NULL: there is no tree%s",
				    root->kind->walk == walk_maple
					    ? "; a kernel thread has no mm, nor the tree in it"
					    : "");
	return NULL;
}

static struct error *show_roots(struct session *session, const struct arguments *arguments,
				struct linkage *linkage, const struct tree_kind *told,
				const struct listing_roots *from)
{
	struct root *roots = calloc(from->count, sizeof(*roots));
	struct error *error = roots ? NULL : error_no_memory();
	for (size_t i = 0; i < from->count && !error; i++) {
		roots[i].from = from->roots[i];
		error = find_root(told, &roots[i]);
	}
	if (!error)
		error = show(session, arguments, linkage, roots, from->count);
	free(roots);
	return error;
}

static struct error *show_text(struct session *session, const struct arguments *arguments,
			       struct linkage *linkage, const char *text)
{
	const char *option = argument_option(&command_tree, arguments, 't');
	const struct tree_kind *told = NULL;
	struct root root = { .address = 0 };
	struct listing_roots roots;
	if (option)
		TRY(kind_of_option(option, &told));
	struct error *error = listing_find_roots(session, text, &roots);
	struct error *alone =
		error ? linkage_alone(session->target, text, "ROOT",
				      "tree task_struct.se.run_node runqueues:a.cfs.tasks_timeline")
		      : NULL;
	if (alone) {
		error_free(error);
		return alone;
	}
	if (!error) {
		error = show_roots(session, arguments, linkage, told, &roots);
		free(roots.roots);
		return error;
	}
	if (!told)
		return error;
	/* Bare hexadecimal digits. */
	error_free(error);
	TRY(expression_address(&session->scope, text, &root.address));
	root.kind = told;
	return show(session, arguments, linkage, &root, 1);
}

static struct error *tree_run(struct session *session, const struct arguments *arguments)
{
	struct linkage linkage = { .node_offset = 0 };
	size_t first = 0;
	const char *named = argument_option(&command_tree, arguments, 'o');
	if (!named && arguments->operand_count > 1 &&
	    linkage_is_named(session->target, arguments->operands[0]))
		named = arguments->operands[first++];
	if (first == arguments->operand_count)
		return error_create(ERROR_USAGE, "which tree? name its ROOT");
	if (named)
		TRY(linkage_parse(session->target, named, &linkage));
	char *text = arguments_join(arguments, first, arguments->operand_count);
	if (!text)
		return error_no_memory();
	struct error *error = show_text(session, arguments, &linkage, text);
	free(text);
	return error;
}

static const char *const examples[] = {
	"tree pid init_pid_ns.idr", "tree pid init_pid_ns.idr -s level,count -n 10",
	"tree init_pid_ns.idr.idr_rt",
	"tree task_struct.se.run_node runqueues:a.cfs.tasks_timeline", NULL
};

const struct command command_tree = {
	.name = "tree",
	.summary = "walk a red-black tree, xarray, radix tree, idr or maple tree",
	.description =
		"ROOT is the root, NAME:a one a CPU: its type says what tree it is, else -t does. "
		"TYPE.MEMBER says "
		"what the elements of a red-black tree are and which member is the node; for the "
		"others TYPE is what the entries point to. Without it the addresses are those of "
		"nodes or entries.\n"
		"\n"
		"Each element is a line: in maps (xarray, idr, maple tree) with its index or "
		"range, "
		"then its address, then the members that -s chooses. \"value\" is a number in the "
		"place of a pointer. What is broken is named in its place, and the rest is "
		"walked.\n"
		"\n"
		"In a pipe the elements go on as typed addresses: tree ... | print {members}.",
	.options = { { 's', "members", "MEMBERS", OPERAND_WORD, "show these members: a,b->c" },
		     { 'n', "limit", "NUMBER", OPERAND_NUMBER,
		       "show at most so many elements; 0: all; else 10000" },
		     { 'x', "hex", NULL, 0, "numbers in hexadecimal" },
		     { 't', "kind", "KIND", OPERAND_WORD, "rbtree, xarray, radix, idr or maple" },
		     { 'o', "offset", "TYPE.MEMBER", OPERAND_TYPE,
		       "the same as the operand, as crash has it" } },
	.operands = { { .name = "TYPE.MEMBER", .kind = OPERAND_TYPE, .optional = true },
		      { .name = "ROOT",
			.kind = OPERAND_EXPRESSION,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.per_task = true,
	.run = tree_run,
};
