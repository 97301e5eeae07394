// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's linked lists, whatever links them, and tables of them. */
#include "debugger/command/arguments.h"
#include "debugger/show/listing.h"

#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_list;

enum link_kind {
	LINK_UNKNOWN,
	LINK_LIST, /* struct list_head, and plist_node through its node_list */
	LINK_HLIST,
	LINK_HLIST_NULLS,
	LINK_HLIST_BL,
	LINK_CHAIN /* a pointer to the next */
};

/* Where to begin. */
struct start {
	uint64_t address;
	uint64_t buckets, stride; /* of an array of heads; else 1 bucket */
	bool is_head;		  /* else an element, shown first */
	bool is_pointer;	  /* a chain's head holds the address of the first */
	uint32_t cpu;
};

struct listed {
	struct session *session;
	struct linkage linkage;
	enum link_kind kind;
	uint64_t chain_offset; /* of the pointer in a node, LINK_CHAIN */
	bool is_reverse;
	bool has_cpu; /* of the starts: one a CPU */
	struct start *starts;
	size_t start_count;
};

/* --- what links ------------------------------------------------------------------------------- */

/* Heads and nodes by the names of their structs. */
static const struct known {
	const char *name;
	enum link_kind kind;
	bool is_head, is_node;
	const char *member; /* of it that is a struct list_head, NULL: itself */
} known[] = {
	{ "list_head", LINK_LIST, true, true, NULL },
	{ "plist_head", LINK_LIST, true, false, "node_list" },
	{ "plist_node", LINK_LIST, false, true, "node_list" },
	{ "hlist_head", LINK_HLIST, true, false, NULL },
	{ "hlist_node", LINK_HLIST, false, true, NULL },
	{ "hlist_nulls_head", LINK_HLIST_NULLS, true, false, NULL },
	{ "hlist_nulls_node", LINK_HLIST_NULLS, false, true, NULL },
	{ "hlist_bl_head", LINK_HLIST_BL, true, false, NULL },
	{ "hlist_bl_node", LINK_HLIST_BL, false, true, NULL },
	{ "llist_head", LINK_CHAIN, true, false, NULL },
	{ "llist_node", LINK_CHAIN, false, true, NULL },
};

static const struct known *find_known(struct type type)
{
	struct btf_type record;
	if (!type.btf || !type_get_resolved(type, &record) || record.kind != BTF_STRUCT)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, record.name))
			return &known[i];
	return NULL;
}

static struct error *member_offset(struct type type, const char *member, uint64_t *ret)
{
	struct type_place place;
	*ret = 0;
	if (!member)
		return NULL;
	TRY(type_find_path(type, member, &place));
	*ret = place.bit_offset / 8;
	return NULL;
}

static bool points_to(struct type pointer, struct type type)
{
	struct type target;
	struct btf_type a, b;
	return type_is_pointer(pointer) && type_target(pointer, &target) &&
	       type_get_resolved(target, &a) && type_get_resolved(type, &b) && *b.name &&
	       !strcmp(a.name, b.name);
}

/* From the member that the user named. */
static struct error *kind_of_member(struct listed *listed)
{
	struct linkage *linkage = &listed->linkage;
	const struct known *node = find_known(linkage->member);
	struct type_place place;
	uint64_t offset;
	if (node && node->is_node) {
		listed->kind = node->kind;
		TRY(member_offset(linkage->member, node->member, &offset));
		linkage->node_offset += offset;
		return NULL;
	}
	listed->kind = LINK_CHAIN;
	if (points_to(linkage->member, linkage->type)) {
		/* The nodes are the items. */
		listed->chain_offset = linkage->node_offset;
		linkage->node_offset = 0;
		return NULL;
	}
	if (type_find_member(linkage->member, "next", &place) &&
	    points_to(place.type, linkage->member)) {
		listed->chain_offset = place.bit_offset / 8;
		return NULL;
	}
	char name[160];
	type_spell(linkage->member, NULL, name, sizeof(name));
	return error_create(ERROR_USAGE,
			    "%s links nothing: not a list_head, hlist_node, llist_node or "
			    "plist_node, nor a pointer to %s",
			    name, linkage->name);
}

/* --- where it begins -------------------------------------------------------------------------- */

static struct error *begin_at_head(struct listed *listed, const struct known *head,
				   struct type type, struct start *start)
{
	uint64_t offset;
	if (listed->kind == LINK_UNKNOWN)
		listed->kind = head->kind;
	if (listed->kind != head->kind)
		return error_create(ERROR_USAGE, "struct %s is no head of such a list", head->name);
	TRY(member_offset(type, head->member, &offset));
	start->address += offset;
	start->is_head = true;
	start->is_pointer = head->kind == LINK_CHAIN;
	return NULL;
}

static bool is_element(const struct listed *listed, struct type type)
{
	struct btf_type own, other;
	return listed->linkage.type.btf && type_get_resolved(type, &other) &&
	       type_get_resolved(listed->linkage.type, &own) && own.kind == other.kind &&
	       *own.name && !strcmp(own.name, other.name);
}

static struct error *no_head(const struct listed *listed, struct type type)
{
	char name[160];
	const char *element = *listed->linkage.name ? listed->linkage.name : "a known element";
	type_spell(type, NULL, name, sizeof(name));
	return error_create(ERROR_USAGE,
			    "%s is neither the head of a list nor %s; -H: a head is there, -h: an "
			    "element",
			    name, element);
}

/* An object of a known type at start->address: what it is says how to begin. */
static struct error *begin_at_object(struct listed *listed, struct type type, struct start *start)
{
	struct btf_type record;
	struct type element;
	if (type_get_resolved(type, &record) && record.kind == BTF_ARRAY &&
	    type_target(type, &element)) {
		start->buckets = record.array_count;
		type = element;
	}
	/* An incomplete type cannot be an array's element; with one head only, no stride is needed.
	 */
	if (!type_size(type, &start->stride))
		start->stride = 0;
	const struct known *head = find_known(type);
	if (head && head->is_head)
		return begin_at_head(listed, head, type, start);
	if (is_element(listed, type) && start->buckets == 1) {
		start->address += listed->linkage.node_offset;
		return NULL;
	}
	if (start->buckets > 1 && points_to(type, listed->linkage.type) &&
	    listed->kind == LINK_CHAIN) {
		start->is_head = start->is_pointer = true;
		return NULL;
	}
	return no_head(listed, type);
}

/* -H of a variable whose type says that it is something else. */
static struct error *check_head(const struct listed *listed, struct type type)
{
	struct btf_type record;
	const struct known *head = find_known(type);
	char name[160];
	if (listed->kind == LINK_CHAIN || (head && head->is_head) || !type.btf ||
	    !type_get_resolved(type, &record) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION))
		return NULL;
	type_spell(type, NULL, name, sizeof(name));
	return error_create(ERROR_USAGE,
			    "%s is no head of a list: name the member that is; -h begins with an "
			    "element",
			    name);
}

/* -H and -h: an address of what the user says. */
static struct error *begin_as_told(struct listed *listed, bool is_head, struct start *start)
{
	if (!is_head && !listed->linkage.member.btf)
		return error_create(ERROR_USAGE, "-h needs a TYPE.MEMBER");
	if (!is_head) {
		start->address += listed->linkage.node_offset;
		return NULL;
	}
	if (listed->kind == LINK_UNKNOWN)
		listed->kind = LINK_LIST;
	start->is_head = true;
	start->is_pointer = listed->kind == LINK_CHAIN;
	return NULL;
}

static struct error *find_start(struct listed *listed, const struct arguments *arguments,
				const struct listing_root *root, struct start *ret)
{
	struct value value;
	struct type type;
	const char *buckets = argument_option(&command_list, arguments, 'b');
	bool head = argument_option(&command_list, arguments, 'H') != NULL;
	bool first = argument_option(&command_list, arguments, 'h') != NULL;
	struct start start = { .cpu = root->cpu, .buckets = 1 };
	TRY(listing_place(&root->value, &start.address, &type));
	if (head)
		TRY(check_head(listed, type));
	if (head || first)
		TRY(begin_as_told(listed, head, &start));
	else if (type.btf)
		TRY(begin_at_object(listed, type, &start));
	else
		return error_create(ERROR_USAGE,
				    "what is at 0x%" PRIx64
				    "? -H: the head of a list, -h: an element",
				    start.address);
	if (buckets && !head && !first) {
		TRY(expression_value(&listed->session->scope, buckets, &value));
		TRY(value_u64(&value, &start.buckets));
		if (!start.stride)
			return error_create(ERROR_USAGE, "heads of unknown size");
	}
	*ret = start;
	return NULL;
}

/* --- the walk --------------------------------------------------------------------------------- */

static struct error *walk_bucket(const struct listed *listed, const struct start *start,
				 const struct walk *walk, uint64_t address)
{
	struct walk_item first = { .address = address };
	uint64_t node = address;
	if (!start->is_head && listed->kind == LINK_LIST)
		TRY(walk->visit(walk->context, &first));
	switch (listed->kind) {
	case LINK_LIST:
	case LINK_UNKNOWN:
		return walk_list(walk, address, listed->is_reverse);
	case LINK_HLIST:
	case LINK_HLIST_NULLS:
	case LINK_HLIST_BL:
		if (!start->is_head)
			return walk_chain_or_ring(walk, address, 0);
		return walk_hlist(walk, address,
				  listed->kind == LINK_HLIST	     ? HLIST_PLAIN
				  : listed->kind == LINK_HLIST_NULLS ? HLIST_NULLS
								     : HLIST_BL);
	case LINK_CHAIN:
		break;
	}
	if (start->is_pointer) {
		struct error *error = memory_read_word(walk->target->memory, address, &node);
		if (error)
			return walk->broken(walk->context, error);
	}
	return walk_chain_or_ring(walk, node, listed->chain_offset);
}

static struct error *walk_all(const struct listed *listed, struct listing *listing)
{
	struct walk walk = { .target = listed->session->target,
			     .visit = listing_visit,
			     .broken = listing_broken,
			     .context = listing };
	TRY(target_need_memory(walk.target));
	for (size_t i = 0; i < listed->start_count; i++) {
		const struct start *start = &listed->starts[i];
		listing->cpu = start->cpu;
		for (uint64_t j = 0; j < start->buckets; j++)
			TRY(walk_bucket(listed, start, &walk, start->address + j * start->stride));
	}
	return NULL;
}

/* -e: where to stop short of the end. */
static struct error *take_end(struct listing *listing, struct session *session,
			      const struct arguments *arguments)
{
	const char *end = argument_option(&command_list, arguments, 'e');
	listing->has_end = end != NULL;
	return end ? expression_address(&session->scope, end, &listing->end) : NULL;
}

static struct error *show(const struct listed *listed, const struct arguments *arguments)
{
	struct listing listing = { .has_cpu = listed->has_cpu };
	const struct command *own = &command_list;
	TRY(take_end(&listing, listed->session, arguments));
	listing.hexadecimal = argument_option(own, arguments, 'x') != NULL;
	TRY(listing_begin(&listing, listed->session, &listed->linkage,
			  argument_option(own, arguments, 's'),
			  argument_option(own, arguments, 'n')));
	return listing_end(&listing, walk_all(listed, &listing));
}

static struct error *show_roots(struct listed *listed, const struct arguments *arguments,
				const struct listing_roots *roots)
{
	struct error *error = NULL;
	listed->starts = calloc(roots->count, sizeof(*listed->starts));
	if (!listed->starts)
		return error_no_memory();
	listed->has_cpu = roots->roots->has_cpu;
	for (; listed->start_count < roots->count && !error; listed->start_count++)
		error = find_start(listed, arguments, &roots->roots[listed->start_count],
				   &listed->starts[listed->start_count]);
	if (!error && listed->is_reverse && listed->kind != LINK_LIST)
		error = error_create(ERROR_USAGE, "only lists of list_head go backward");
	if (!error)
		error = show(listed, arguments);
	free(listed->starts);
	return error;
}

/* Bare hexadecimal digits, as crash takes them. */
static struct error *find_address(struct session *session, const char *text,
				  struct listing_root *ret)
{
	uint64_t address;
	*ret = (struct listing_root){ .has_cpu = false };
	TRY(expression_address(&session->scope, text, &address));
	ret->value = (struct value){ .target = session->target, .scalar = address };
	return NULL;
}

static struct error *show_text(struct listed *listed, const struct arguments *arguments,
			       const char *text)
{
	struct listing_root root;
	struct listing_roots roots, single = { .roots = &root, .count = 1 };
	bool head = argument_option(&command_list, arguments, 'H') != NULL;
	bool first = argument_option(&command_list, arguments, 'h') != NULL;
	if (head && first)
		return error_create(ERROR_USAGE, "-H and -h contradict each other");
	struct error *error = listing_find_roots(listed->session, text, &roots);
	struct error *alone = error ? linkage_alone(listed->session->target, text, "HEAD",
						    "list task_struct.tasks init_task.tasks")
				    : NULL;
	if (alone) {
		error_free(error);
		return alone;
	}
	if (error && (head || first)) {
		error_free(error);
		TRY(find_address(listed->session, text, &root));
		return show_roots(listed, arguments, &single);
	}
	if (error)
		return error;
	error = show_roots(listed, arguments, &roots);
	free(roots.roots);
	return error;
}

static struct error *list_run(struct session *session, const struct arguments *arguments)
{
	struct listed listed = { .session = session };
	struct target *target = session->target;
	size_t first = 0, count = arguments->operand_count;
	const char *linkage = argument_option(&command_list, arguments, 't');
	if (!linkage)
		linkage = argument_option(&command_list, arguments, 'o');
	listed.is_reverse = argument_option(&command_list, arguments, 'r') != NULL;
	if (!linkage && count > 1 && linkage_is_named(target, arguments->operands[0]))
		linkage = arguments->operands[first++];
	else if (!linkage && count > 1 && linkage_is_named(target, arguments->operands[count - 1]))
		linkage = arguments->operands[--count];
	if (linkage) {
		TRY(linkage_parse(target, linkage, &listed.linkage));
		if (!listed.linkage.member.btf)
			return error_create(ERROR_USAGE,
					    "which member of %s links the list? %s.MEMBER",
					    listed.linkage.name, linkage);
		TRY(kind_of_member(&listed));
	}
	if (first == count)
		return error_create(ERROR_USAGE, "which list? name its HEAD");
	char *text = arguments_join(arguments, first, count);
	if (!text)
		return error_no_memory();
	struct error *error = show_text(&listed, arguments, text);
	free(text);
	return error;
}

static const char *const examples[] = {
	"list task_struct.tasks init_task.tasks",
	"list task_struct.tasks init_task.tasks -s comm,pid,mm->map_count",
	"list task_struct.sibling init_task.children -n 5",
	"list task_struct.tasks -h init_task -s task_struct.comm -n 3",
	"list module.list -H modules -s name",
	"list modules",
	"list task_struct.se.group_node runqueues:a.cfs_tasks -s pid,comm",
	NULL
};

const struct command command_list = {
	.name = "list",
	.summary = "walk a linked list or a table of lists",
	.description =
		"TYPE.MEMBER says what the elements are and which of their members links them: a "
		"list_head, hlist_node, llist_node or plist_node, or a pointer to the next "
		"element. Without it the addresses are those of the links.\n"
		"\n"
		"HEAD is the head of the list, or an array of heads: all of them; NAME:a has one "
		"a CPU. An element of "
		"the "
		"type itself, or -h, begins with that element. Of a bare address -H or -h says "
		"what "
		"is there.\n"
		"\n"
		"Each element is a line with its address and the members that -s chooses: paths "
		"with commas between them, through pointers too. A loop, a link that does not lead "
		"back, or memory that the dump lacks is named in its place, and the walk goes on "
		"from the other end of the list where there is one.\n"
		"\n"
		"In a pipe the elements go on as typed addresses: list ... | print {comm, pid}.",
	.options = { { 's', "members", "MEMBERS", OPERAND_WORD, "show these members: a,b->c" },
		     { 'n', "limit", "NUMBER", OPERAND_NUMBER,
		       "show at most so many elements; 0: all; else 10000" },
		     { 'e', "end", "ADDRESS", OPERAND_ADDRESS, "stop before this element" },
		     { 'x', "hex", NULL, 0, "numbers in hexadecimal" },
		     { 'r', "reverse", NULL, 0, "from the end to the beginning" },
		     { 'H', "head", NULL, 0, "HEAD is the address of a head" },
		     { 'h', "element", NULL, 0, "HEAD is the address of an element" },
		     { 'b', "buckets", "COUNT", OPERAND_EXPRESSION,
		       "HEAD is the first of so many heads" },
		     { 't', "type", "TYPE.MEMBER", OPERAND_TYPE, "the same as the operand" },
		     { 'o', "offset", "TYPE.MEMBER", OPERAND_TYPE, "the same, as crash has it" } },
	.operands = { { .name = "TYPE.MEMBER", .kind = OPERAND_TYPE, .optional = true },
		      { .name = "HEAD",
			.kind = OPERAND_EXPRESSION,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_BTF,
	.per_task = true,
	.run = list_run,
};
