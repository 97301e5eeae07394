// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's trees, and the maps from an index to an entry that are trees inside. */
#include "cmds/listing.h"

#include "base/array.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_tree;

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

/* The rb_node within the member that was named. */
static struct error *find_node(struct linkage *linkage)
{
	struct type type = linkage->member;
	struct type_place place;
	char name[160];
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

static struct error *show(struct session *session, const struct arguments *arguments,
			  const struct linkage *linkage, const struct tree_kind *kind,
			  uint64_t root)
{
	struct listing listing = {
		.has_index = kind->is_map,
		.hexadecimal = argument_option(&command_tree, arguments, 'x') != NULL,
	};
	struct walk walk = { .target = session->target,
			     .visit = listing_visit,
			     .broken = listing_broken,
			     .context = &listing };
	TRY(listing_begin(&listing, session, linkage,
			  argument_option(&command_tree, arguments, 's'),
			  argument_option(&command_tree, arguments, 'n')));
	return listing_end(&listing, kind->walk(&walk, root));
}

static struct error *find_root(struct session *session, const char *text, bool is_told,
			       const struct tree_kind **kind, uint64_t *ret)
{
	struct value value;
	struct type type;
	struct type_place place;
	struct error *error = expression_value(&session->scope, text, &value);
	if (error && is_told) {
		error_free(error);
		return expression_address(&session->scope, text, ret);
	}
	if (error)
		return error;
	TRY(listing_place(&value, ret, &type));
	const struct tree_kind *found = kind_of_type(type);
	if (is_told && (!found || found->walk == (*kind)->walk)) {
		found = found ? found : *kind;
	} else if (!found || is_told) {
		char name[160] = "it";
		if (type.btf)
			type_spell(type, NULL, name, sizeof(name));
		return error_create(ERROR_USAGE,
				    "%s is no root of %s; -t says what an address is the root of",
				    name, is_told ? (*kind)->option : "a tree");
	}
	*kind = found;
	if (found->member && type.btf) {
		TRY(type_find_path(type, found->member, &place));
		*ret += place.bit_offset / 8;
	}
	return NULL;
}

static struct error *tree_run(struct session *session, const struct arguments *arguments)
{
	struct linkage linkage = { .node_offset = 0 };
	const struct tree_kind *kind = NULL;
	size_t first = 0;
	uint64_t root = 0;
	const char *told = argument_option(&command_tree, arguments, 't');
	const char *named = argument_option(&command_tree, arguments, 'o');
	if (told)
		TRY(kind_of_option(told, &kind));
	if (!named && arguments->operand_count > 1 &&
	    linkage_is_named(session->target, arguments->operands[0]))
		named = arguments->operands[first++];
	if (first == arguments->operand_count)
		return error_create(ERROR_USAGE, "which tree? name its ROOT");
	char *text = listing_expression(arguments, first, arguments->operand_count);
	if (!text)
		return error_no_memory();
	struct error *error = find_root(session, text, told != NULL, &kind, &root);
	free(text);
	if (!error && named)
		error = linkage_parse(session->target, named, &linkage);
	if (error)
		return error;
	if (!kind->is_map && linkage.type.btf && !linkage.member.btf)
		return error_create(ERROR_USAGE, "which member of %s is the node? %s.MEMBER",
				    linkage.name, named);
	if (!kind->is_map && linkage.member.btf)
		TRY(find_node(&linkage));
	return show(session, arguments, &linkage, kind, root);
}

static const char *const examples[] = {
	"tree pid init_pid_ns.idr", "tree pid init_pid_ns.idr -s level,count -n 10",
	"tree init_pid_ns.idr.idr_rt",
	"tree task_struct.se.run_node runqueues:0.cfs.tasks_timeline", NULL
};

const struct command command_tree = {
	.name = "tree",
	.summary = "walk a red-black tree, xarray, radix tree, idr or maple tree",
	.description =
		"ROOT is the root: its type says what tree it is, else -t does. TYPE.MEMBER says "
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
	.run = tree_run,
};
