// SPDX-License-Identifier: GPL-3.0-or-later
/* Neighbours: hardware addresses of what is on the same link (ARP and its kin). */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_NEIGHBOUR,
	COLUMN_TABLE,
	COLUMN_DEVICE,
	COLUMN_STATE,
	COLUMN_REFERENCES,
	COLUMN_QUEUED,
	COLUMN_HARDWARE,
	COLUMN_ADDRESS_ITSELF,
};

static const struct table_column columns[] = {
	[COLUMN_NEIGHBOUR] = { "neighbour", COLUMN_ADDRESS, 16, "its struct neighbour",
			       "struct neighbour" },
	[COLUMN_TABLE] = { "tbl", COLUMN_TEXT, -12, "arp_cache, ndisc_cache", NULL },
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -10, "behind which it is", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -11,
			   "NUD_*: INCOMPLETE, REACHABLE, STALE, DELAY, PROBE, FAILED, ...", NULL },
	[COLUMN_REFERENCES] = { "refcnt", COLUMN_INTEGER, 0, "who uses it", NULL },
	[COLUMN_QUEUED] = { "queued", COLUMN_INTEGER, 6, "packets that wait for its address",
			    NULL },
	[COLUMN_HARDWARE] = { "mac", COLUMN_TEXT, -17, "hardware address", NULL },
	[COLUMN_ADDRESS_ITSELF] = { "address", COLUMN_TEXT, -18, "of IPv4 or IPv6", NULL },
};

/* kernel include/uapi/linux/neighbour.h */
static const struct table_word state_words[] = {
	{ 0x01, "INCOMPLETE" }, { 0x02, "REACHABLE" }, { 0x04, "STALE" }, { 0x08, "DELAY" },
	{ 0x10, "PROBE" },	{ 0x20, "FAILED" },    { 0x40, "NOARP" }, { 0x80, "PERMANENT" },
};
#define NO_ADDRESS   (0x01 | 0x20) /* in these states there is none yet */
#define SHIFT_MAX    24
#define HARDWARE_MAX 32

struct pass {
	struct object table;
	int family;
};

static struct error *set_hardware(struct table_scan *scan, const struct object *neighbour,
				  const struct object *device)
{
	struct object address;
	uint64_t length;
	uint8_t bytes[HARDWARE_MAX];
	char text[3 * HARDWARE_MAX + 1] = "";
	TRY(object_member(neighbour, "ha", &address));
	TRY(object_u64(device, "addr_len", &length));
	if (!length || length > HARDWARE_MAX)
		return NULL;
	TRY(memory_read(scan->target->memory, address.address, bytes, length));
	for (uint64_t i = 0; i < length; i++)
		snprintf(text + 3 * i, 4, "%02x%s", bytes[i], i + 1 < length ? ":" : "");
	table_set_text(scan, COLUMN_HARDWARE, text);
	return NULL;
}

static struct error *set_device(struct table_scan *scan, const struct object *neighbour,
				uint64_t state)
{
	struct object device;
	TRY(object_follow(neighbour, "dev", &device));
	if (!device.address)
		return NULL;
	TRY(table_set_chars(scan, COLUMN_DEVICE, &device, "name"));
	return state & NO_ADDRESS ? NULL : set_hardware(scan, neighbour, &device);
}

static struct error *set_address(struct table_scan *scan, const struct object *neighbour,
				 int family)
{
	struct object key;
	uint8_t bytes[16];
	char name[INET6_ADDRSTRLEN];
	TRY(object_member(neighbour, "primary_key", &key));
	TRY(memory_read(scan->target->memory, key.address, bytes, family == AF_INET ? 4 : 16));
	if (inet_ntop(family, bytes, name, sizeof(name)))
		table_set_text(scan, COLUMN_ADDRESS_ITSELF, name);
	return NULL;
}

static struct error *visit_neighbour(struct table_scan *scan, const struct object *neighbour,
				     void *context)
{
	const struct pass *pass = context;
	uint64_t state = 0;
	table_set(scan, COLUMN_NEIGHBOUR, neighbour->address);
	TRY(table_set_pointed(scan, COLUMN_TABLE, &pass->table, "id"));
	struct error *error = object_u64(neighbour, "nud_state", &state);
	if (error)
		TRY(table_set_error(scan, COLUMN_STATE, error));
	else
		table_set_words(scan, COLUMN_STATE, state_words, ARRAY_COUNT(state_words), state);
	TRY(table_set_member(scan, COLUMN_REFERENCES, neighbour, "refcnt.refs.counter"));
	TRY(table_set_member(scan, COLUMN_QUEUED, neighbour, "arp_queue.qlen"));
	TRY(table_set_error(scan, COLUMN_DEVICE, set_device(scan, neighbour, state)));
	TRY(table_set_error(scan, COLUMN_ADDRESS_ITSELF,
			    set_address(scan, neighbour, pass->family)));
	return table_emit(scan);
}

/* Chains, since 6.13 or so lists whose nodes know where they are. */
static struct error *visit_buckets(struct table_scan *scan, const struct object *hash,
				   struct pass *pass)
{
	struct memory *memory = scan->target->memory;
	struct object heads;
	uint64_t shift;
	bool is_chain = object_has(hash, "hash_buckets");
	const struct table_walk walk = { is_chain ? CONTAINER_CHAIN : CONTAINER_HLIST,
					 "struct neighbour", is_chain ? "next" : "hash",
					 visit_neighbour, pass };
	TRY(object_follow(hash, is_chain ? "hash_buckets" : "hash_heads", &heads));
	TRY(object_u64(hash, "hash_shift", &shift));
	if (shift > SHIFT_MAX)
		return error_create(ERROR_FORMAT, "a table of neighbours is too large");
	for (uint64_t i = 0; i < UINT64_C(1) << shift; i++) {
		uint64_t at = heads.address + i * memory->word_size, first;
		TRY(memory_read_word(memory, at, &first));
		if (first)
			TRY(table_walk(scan, is_chain ? first : at, &walk));
	}
	return NULL;
}

static struct error *visit_table(struct table_scan *scan, const char *name, int family)
{
	struct pass pass = { .family = family };
	struct object hash;
	uint64_t address;
	/* IPv6 may be a module, or left out. */
	if (!table_symbol(scan, name, &address))
		return NULL;
	TRY(object_at(scan->target, "struct neigh_table", address, &pass.table));
	TRY(object_follow(&pass.table, "nht", &hash));
	return hash.address ? visit_buckets(scan, &hash, &pass) : NULL;
}

static struct error *visit(struct table_scan *scan)
{
	TRY(table_broken(scan, visit_table(scan, "arp_tbl", AF_INET)));
	return table_broken(scan, visit_table(scan, "nd_tbl", AF_INET6));
}

static const char *const examples[] = { "neighbours", "neighbours --where 'queued > 0'", NULL };

const struct table table_neighbours = {
	.name = "neighbours",
	.summary = "neighbours on links, with their hardware addresses",
	.description = "A row is a struct neighbour of IPv4 or IPv6, as ip neigh has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_NEIGHBOUR,
	.is_object = true,
};
