// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/sock_tables.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>

/* A table of 2^24 lists is of a machine with more memory than there is. */
#define BUCKETS_MAX (UINT64_C(1) << 24)
#define CHUNK_SIZE  16384
/* UNIX_HASH_SIZE of include/net/af_unix.h */
#define UNIX_BUCKETS 512
/* MAX_LINKS of include/uapi/linux/netlink.h */
#define PROTOCOLS_MAX 32

struct pass {
	struct target *target;
	const struct sock_visitor *visitor;
	uint64_t node;	    /* offset of what links a sock in the table */
	uint64_t net_node;  /* the same of a struct net */
	struct seen tables; /* of TCP and UDP that were visited: mostly all nets have the same */
	struct seen socks;  /* nodes: each is in one list */
};

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

static struct error *visit_sock(void *context, const struct walk_item *item)
{
	const struct pass *pass = context;
	struct object sock;
	TRY(object_at(pass->target, "struct sock", item->address - pass->node, &sock));
	return pass->visitor->visit(pass->visitor->context, &sock);
}

/* --- hash tables --- */

struct buckets {
	uint64_t first; /* address of the head in the first bucket */
	uint64_t count, stride;
	enum hlist_kind kind;
	const char *node; /* of a struct sock */
};

/* Most are empty: those heads are read many at once. */
static struct error *visit_chunk(struct pass *pass, const struct buckets *buckets, uint64_t from,
				 uint64_t count)
{
	struct memory *memory = pass->target->memory;
	uint8_t heads[CHUNK_SIZE];
	size_t word = memory->word_size;
	uint64_t at = buckets->first + from * buckets->stride;
	const struct walk walk = { .target = pass->target,
				   .visit = visit_sock,
				   .broken = broken,
				   .context = pass,
				   .seen = &pass->socks };
	TRY(interrupt_check());
	struct error *error = memory_read(memory, at, heads, (count - 1) * buckets->stride + word);
	if (error)
		return broken(pass, error_prefix(error, "a table of sockets"));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t head =
			load_unsigned(heads + i * buckets->stride, word, memory->big_endian);
		if (head && !(head & 1))
			TRY(walk_hlist(&walk, at + i * buckets->stride, buckets->kind));
	}
	return NULL;
}

static struct error *visit_buckets(struct pass *pass, const struct buckets *buckets)
{
	uint64_t chunk = CHUNK_SIZE / buckets->stride;
	if (buckets->count > BUCKETS_MAX || !chunk)
		return broken(pass,
			      error_create(ERROR_FORMAT,
					   "a table of %" PRIu64 " lists of sockets is too large",
					   buckets->count));
	TRY(object_offset(pass->target, "struct sock", buckets->node, &pass->node));
	for (uint64_t i = 0; i < buckets->count; i += chunk)
		TRY(visit_chunk(pass, buckets, i,
				chunk < buckets->count - i ? chunk : buckets->count - i));
	return NULL;
}

/* Of a table at a pointer: its place, and the size of a bucket. */
static struct error *find_buckets(const struct object *owner, const char *table, const char *head,
				  struct buckets *ret)
{
	struct object bucket, place;
	TRY(object_follow(owner, table, &bucket));
	TRY(object_member(&bucket, head, &place));
	if (!type_size(bucket.type, &ret->stride))
		return error_create(ERROR_FORMAT, "%s has no size", table);
	ret->first = place.address;
	return NULL;
}

/* --- TCP and UDP --- */

/* In 5.10 an array in the table. */
static struct error *find_old_listeners(const struct object *table, struct buckets *ret)
{
	struct object all, one, head;
	uint64_t size;
	TRY(object_member(table, "listening_hash", &all));
	TRY(object_member(table, "listening_hash[0]", &one));
	TRY(object_member(&one, "nulls_head", &head));
	if (!type_size(all.type, &size) || !type_size(one.type, &ret->stride) || !ret->stride)
		return error_create(ERROR_FORMAT, "listening_hash has no size");
	ret->first = head.address;
	ret->count = size / ret->stride;
	return NULL;
}

static struct error *visit_listeners(struct pass *pass, const struct object *table)
{
	struct buckets buckets = { .kind = HLIST_NULLS, .node = "__sk_common.skc_nulls_node" };
	if (object_has(table, "listening_hash")) {
		TRY(find_old_listeners(table, &buckets));
		return visit_buckets(pass, &buckets);
	}
	TRY(find_buckets(table, "lhash2", "nulls_head", &buckets));
	TRY(object_u64(table, "lhash2_mask", &buckets.count));
	buckets.count++;
	return visit_buckets(pass, &buckets);
}

static struct error *visit_tcp(struct pass *pass, const struct object *table)
{
	struct buckets buckets = { .kind = HLIST_NULLS, .node = "__sk_common.skc_nulls_node" };
	bool again = !table->address;
	if (!again)
		TRY(seen_add(&pass->tables, table->address, &again));
	if (again)
		return NULL;
	TRY(visit_listeners(pass, table));
	TRY(find_buckets(table, "ehash", "chain", &buckets));
	TRY(object_u64(table, "ehash_mask", &buckets.count));
	buckets.count++;
	return visit_buckets(pass, &buckets);
}

static struct error *visit_udp(struct pass *pass, const struct object *table)
{
	struct buckets buckets = { .kind = HLIST_PLAIN, .node = "__sk_common.skc_node" };
	bool again = !table->address;
	if (!again)
		TRY(seen_add(&pass->tables, table->address, &again));
	if (again)
		return NULL;
	TRY(find_buckets(table, "hash", "head", &buckets));
	TRY(object_u64(table, "mask", &buckets.count));
	buckets.count++;
	return visit_buckets(pass, &buckets);
}

/* --- raw ones --- */

static struct error *visit_raw(struct pass *pass, const char *name)
{
	struct object table, heads;
	struct buckets buckets = { .kind = HLIST_PLAIN, .node = "__sk_common.skc_node" };
	uint64_t address, size;
	/* What is a module may not be there. */
	if (!symtab_address(pass->target->symbols, name, &address))
		return NULL;
	TRY(object_at(pass->target, "struct raw_hashinfo", address, &table));
	TRY(object_member(&table, "ht", &heads));
	if (!type_size(heads.type, &size))
		return error_create(ERROR_FORMAT, "struct raw_hashinfo has no size");
	buckets.first = heads.address;
	buckets.stride = pass->target->memory->word_size;
	buckets.count = size / buckets.stride;
	return visit_buckets(pass, &buckets);
}

/* --- of each network namespace --- */

static struct error *visit_unix_at(struct pass *pass, uint64_t heads)
{
	const struct buckets buckets = { .kind = HLIST_PLAIN,
					 .node = "__sk_common.skc_node",
					 .first = heads,
					 .stride = pass->target->memory->word_size,
					 .count = UNIX_BUCKETS };
	return heads ? visit_buckets(pass, &buckets) : NULL;
}

static struct error *visit_unix(struct pass *pass, const struct object *net)
{
	struct object heads;
	TRY(object_follow(net, "unx.table.buckets", &heads));
	return visit_unix_at(pass, heads.address);
}

/* Until 5.19 (cf21b355ccb3) all namespaces had one table. */
static struct error *visit_old_unix(struct pass *pass)
{
	uint64_t address;
	if (!symtab_address(pass->target->symbols, "unix_socket_table", &address))
		return NULL;
	return visit_unix_at(pass, address);
}

static struct error *visit_packet(struct pass *pass, const struct object *net)
{
	struct object list;
	const struct walk walk = { .target = pass->target,
				   .visit = visit_sock,
				   .broken = broken,
				   .context = pass,
				   .seen = &pass->socks };
	TRY(object_member(net, "packet.sklist", &list));
	TRY(object_offset(pass->target, "struct sock", "__sk_common.skc_node", &pass->node));
	return walk_hlist(&walk, list.address, HLIST_PLAIN);
}

static struct error *or_broken(struct pass *pass, struct error *error)
{
	if (!error || error_is_fatal(error))
		return error;
	/* This kernel has no such table. */
	if (error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	return broken(pass, error);
}

static struct error *visit_net(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object net, table;
	TRY(object_at(pass->target, "struct net", item->address - pass->net_node, &net));
	struct error *error = object_follow(&net, "ipv4.tcp_death_row.hashinfo", &table);
	TRY(or_broken(pass, error ?: visit_tcp(pass, &table)));
	error = object_follow(&net, "ipv4.udp_table", &table);
	TRY(or_broken(pass, error ?: visit_udp(pass, &table)));
	TRY(or_broken(pass, visit_unix(pass, &net)));
	return or_broken(pass, visit_packet(pass, &net));
}

/* --- netlink --- */

static struct error *visit_chain(struct pass *pass, uint64_t head, uint64_t node)
{
	struct memory *memory = pass->target->memory;
	pass->node = node;
	while (head && !(head & 1)) {
		struct walk_item item = { .address = head };
		uint64_t next;
		bool again = false;
		TRY(interrupt_check());
		TRY(seen_add(&pass->socks, head, &again));
		if (again)
			return error_create(ERROR_FORMAT,
					    "a list of netlink sockets leads to 0x%" PRIx64
					    ", which was reached before",
					    head);
		TRY(memory_read_word(memory, head, &next));
		TRY(visit_sock(pass, &item));
		head = next;
	}
	return NULL;
}

static struct error *visit_rhashtable(struct pass *pass, const struct object *table, uint64_t node)
{
	struct memory *memory = pass->target->memory;
	struct object buckets, first;
	uint64_t size, nest;
	TRY(object_follow(table, "hash.tbl", &buckets));
	if (!buckets.address)
		return NULL;
	TRY(object_u64(&buckets, "size", &size));
	TRY(object_u64(&buckets, "nest", &nest));
	if (nest || size > BUCKETS_MAX)
		return error_create(ERROR_FORMAT,
				    "the table of netlink sockets at 0x%" PRIx64
				    " cannot be followed",
				    buckets.address);
	TRY(object_member(&buckets, "buckets", &first));
	for (uint64_t i = 0; i < size; i++) {
		uint64_t head;
		TRY(memory_read_word(memory, first.address + i * memory->word_size, &head));
		/* The lowest bit is a lock; alone, it marks an empty one. */
		TRY(visit_chain(pass, head & ~(uint64_t)1, node));
	}
	return NULL;
}

static struct error *visit_netlink(struct pass *pass)
{
	struct object pointer, table;
	uint64_t address, size, node;
	TRY(object_variable(pass->target, "nl_table", "unsigned long", &pointer));
	TRY(object_u64(&pointer, NULL, &address));
	TRY(object_at(pass->target, "struct netlink_table", address, &table));
	TRY(object_offset(pass->target, "struct netlink_sock", "node", &node));
	if (!address || !type_size(table.type, &size))
		return NULL;
	for (unsigned int i = 0; i < PROTOCOLS_MAX; i++, table.address += size)
		TRY(or_broken(pass, error_prefix(visit_rhashtable(pass, &table, node),
						 "netlink protocol %u", i)));
	return NULL;
}

static struct error *visit_all(struct pass *pass)
{
	struct target *target = pass->target;
	struct object nets, table;
	const struct walk walk = { .target = target,
				   .visit = visit_net,
				   .broken = broken,
				   .context = pass,
				   .never_empty = "net_namespace_list" };
	struct error *error =
		object_variable(target, "tcp_hashinfo", "struct inet_hashinfo", &table);
	TRY(or_broken(pass, error ?: visit_tcp(pass, &table)));
	error = object_variable(target, "udp_table", "struct udp_table", &table);
	TRY(or_broken(pass, error ?: visit_udp(pass, &table)));
	TRY(or_broken(pass, visit_raw(pass, "raw_v4_hashinfo")));
	TRY(or_broken(pass, visit_raw(pass, "raw_v6_hashinfo")));
	TRY(object_offset(target, "struct net", "list", &pass->net_node));
	TRY(object_variable(target, "net_namespace_list", "struct list_head", &nets));
	TRY(walk_list(&walk, nets.address, false));
	TRY(or_broken(pass, visit_old_unix(pass)));
	return or_broken(pass, visit_netlink(pass));
}

struct error *sock_tables_for_each(struct target *target, const struct sock_visitor *visitor)
{
	struct pass pass = { .target = target, .visitor = visitor };
	struct error *error = visit_all(&pass);
	seen_deinit(&pass.tables);
	seen_deinit(&pass.socks);
	return error;
}
