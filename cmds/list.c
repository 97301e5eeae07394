// SPDX-License-Identifier: GPL-3.0-or-later
/* The kernel's linked lists, whatever links them, and tables of them. */
#include "cmds/listing.h"

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

struct listed {
	struct session *session;
	struct linkage linkage;
	enum link_kind kind;
	uint64_t chain_offset; /* of the pointer in a node, LINK_CHAIN */
	bool is_reverse;
	/* Where to begin. */
	uint64_t start, buckets, stride; /* of an array of heads; else 1 bucket */
	bool is_head;			 /* else an element, shown first */
	bool is_pointer;		 /* a chain's head holds the address of the first */
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
				   struct type type, uint64_t address)
{
	uint64_t offset;
	if (listed->kind == LINK_UNKNOWN)
		listed->kind = head->kind;
	if (listed->kind != head->kind)
		return error_create(ERROR_USAGE, "struct %s is no head of such a list", head->name);
	TRY(member_offset(type, head->member, &offset));
	listed->start = address + offset;
	listed->is_head = true;
	listed->is_pointer = head->kind == LINK_CHAIN;
	return NULL;
}

static bool is_element(const struct listed *listed, struct type type)
{
	struct btf_type own, other;
	return listed->linkage.type.btf && type_get_resolved(type, &other) &&
	       type_get_resolved(listed->linkage.type, &own) && own.kind == other.kind &&
	       *own.name && !strcmp(own.name, other.name);
}

static struct error *begin_at_element(struct listed *listed, uint64_t address)
{
	listed->start = address + listed->linkage.node_offset;
	return NULL;
}

/* An object of a known type: what it is says how to begin. */
static struct error *begin_at_object(struct listed *listed, struct type type, uint64_t address,
				     struct type *ret_element)
{
	struct btf_type record;
	struct type element;
	*ret_element = type;
	listed->buckets = 1;
	if (type_get_resolved(type, &record) && record.kind == BTF_ARRAY &&
	    type_target(type, &element) && type_size(element, &listed->stride)) {
		listed->buckets = record.array_count;
		*ret_element = type = element;
	}
	const struct known *head = find_known(type);
	if (head && head->is_head)
		return begin_at_head(listed, head, type, address);
	if (is_element(listed, type) && listed->buckets == 1)
		return begin_at_element(listed, address);
	if (listed->buckets > 1 && points_to(type, listed->linkage.type) &&
	    listed->kind == LINK_CHAIN) {
		listed->start = address;
		listed->is_head = listed->is_pointer = true;
		return NULL;
	}
	char name[160];
	type_spell(type, NULL, name, sizeof(name));
	return error_create(ERROR_USAGE,
			    "%s is neither the head of a list nor %s; -H: a head is there, -h: an "
			    "element",
			    name, *listed->linkage.name ? listed->linkage.name : "a known element");
}

/* -H and -h: an address of what the user says. */
static struct error *begin_as_told(struct listed *listed, uint64_t address, bool is_head)
{
	listed->buckets = 1;
	if (!is_head && !listed->linkage.member.btf)
		return error_create(ERROR_USAGE, "-h needs a TYPE.MEMBER");
	if (!is_head)
		return begin_at_element(listed, address);
	if (listed->kind == LINK_UNKNOWN)
		listed->kind = LINK_LIST;
	listed->start = address;
	listed->is_head = true;
	listed->is_pointer = listed->kind == LINK_CHAIN;
	return NULL;
}

static struct error *find_start(struct listed *listed, const struct arguments *arguments,
				const char *text)
{
	struct value value;
	struct type type, element;
	uint64_t address;
	const char *buckets = argument_option(&command_list, arguments, 'b');
	bool head = argument_option(&command_list, arguments, 'H') != NULL;
	bool first = argument_option(&command_list, arguments, 'h') != NULL;
	if (head && first)
		return error_create(ERROR_USAGE, "-H and -h contradict each other");
	/* Bare hexadecimal digits too, as crash takes them. */
	struct error *error = expression_value(&listed->session->scope, text, &value);
	if (error && (head || first)) {
		error_free(error);
		TRY(expression_address(&listed->session->scope, text, &address));
		return begin_as_told(listed, address, head);
	}
	if (error)
		return error;
	TRY(listing_place(&value, &address, &type));
	if (head || first)
		return begin_as_told(listed, address, head);
	if (!type.btf)
		return error_create(ERROR_USAGE,
				    "what is at 0x%" PRIx64
				    "? -H: the head of a list, -h: an element",
				    address);
	TRY(begin_at_object(listed, type, address, &element));
	if (!buckets)
		return NULL;
	TRY(expression_value(&listed->session->scope, buckets, &value));
	TRY(value_u64(&value, &listed->buckets));
	if (!type_size(element, &listed->stride))
		return error_create(ERROR_USAGE, "heads of unknown size");
	return NULL;
}

/* --- the walk --------------------------------------------------------------------------------- */

static struct error *walk_bucket(const struct listed *listed, const struct walk *walk,
				 uint64_t address)
{
	struct walk_item first = { .address = address };
	uint64_t node = address;
	if (!listed->is_head && listed->kind == LINK_LIST)
		TRY(walk->visit(walk->context, &first));
	switch (listed->kind) {
	case LINK_LIST:
	case LINK_UNKNOWN:
		return walk_list(walk, address, listed->is_reverse);
	case LINK_HLIST:
	case LINK_HLIST_NULLS:
	case LINK_HLIST_BL:
		if (!listed->is_head)
			return walk_chain(walk, address, 0);
		return walk_hlist(walk, address,
				  listed->kind == LINK_HLIST	     ? HLIST_PLAIN
				  : listed->kind == LINK_HLIST_NULLS ? HLIST_NULLS
								     : HLIST_BL);
	case LINK_CHAIN:
		break;
	}
	if (listed->is_pointer) {
		struct error *error = memory_read_word(walk->target->memory, address, &node);
		if (error)
			return walk->broken(walk->context, error);
	}
	return walk_chain(walk, node, listed->chain_offset);
}

static struct error *walk_all(const struct listed *listed, const struct walk *walk)
{
	TRY(target_need_memory(walk->target));
	for (uint64_t i = 0; i < listed->buckets; i++)
		TRY(walk_bucket(listed, walk, listed->start + i * listed->stride));
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

static struct error *show(struct listed *listed, const struct arguments *arguments)
{
	struct listing listing = { .has_index = false };
	struct walk walk = { .target = listed->session->target,
			     .visit = listing_visit,
			     .broken = listing_broken,
			     .context = &listing };
	const struct command *own = &command_list;
	TRY(take_end(&listing, listed->session, arguments));
	listing.hexadecimal = argument_option(own, arguments, 'x') != NULL;
	TRY(listing_begin(&listing, listed->session, &listed->linkage,
			  argument_option(own, arguments, 's'),
			  argument_option(own, arguments, 'n')));
	return listing_end(&listing, walk_all(listed, &walk));
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
	char *text = listing_expression(arguments, first, count);
	if (!text)
		return error_no_memory();
	struct error *error = find_start(&listed, arguments, text);
	free(text);
	if (!error && listed.is_reverse && listed.kind != LINK_LIST)
		error = error_create(ERROR_USAGE, "only lists of list_head go backward");
	return error ? error : show(&listed, arguments);
}

static const char *const examples[] = {
	"list task_struct.tasks init_task.tasks",
	"list task_struct.tasks init_task.tasks -s comm,pid,mm->map_count",
	"list task_struct.children init_task.children -n 5",
	"list task_struct.tasks -h init_task -s task_struct.comm -n 3",
	"list module.list -H modules -s name",
	"list modules",
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
		"HEAD is the head of the list, or an array of heads: all of them. An element of "
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
	.run = list_run,
};
