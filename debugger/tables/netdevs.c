// SPDX-License-Identifier: GPL-3.0-or-later
/* Network devices of all namespaces. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "debugger/kernel/net_devices.h"
#include "debugger/kernel/walk.h"
#include <arpa/inet.h>
#include <stdio.h>

enum {
	COLUMN_NETDEV,
	COLUMN_NAMESPACE,
	COLUMN_IFINDEX,
	COLUMN_NAME,
	COLUMN_FLAGS,
	COLUMN_MTU,
	COLUMN_HARDWARE,
	COLUMN_ADDRESSES,
};

static const struct table_column columns[] = {
	[COLUMN_NETDEV] = { "netdev", COLUMN_ADDRESS, 16, "its struct net_device",
			    "struct net_device" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 10,
			       "inode number of the namespace, as in /proc/PID/ns/net", NULL },
	[COLUMN_IFINDEX] = { "ifindex", COLUMN_INTEGER, 7, "its number there", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -10, "as `ip link` has it", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -26, "IFF_*", NULL },
	[COLUMN_MTU] = { "mtu", COLUMN_INTEGER, 5, "bytes of a packet, at most", NULL },
	[COLUMN_HARDWARE] = { "mac", COLUMN_TEXT, -17, "hardware address", NULL },
	[COLUMN_ADDRESSES] = { "addresses", COLUMN_TEXT, -18, "IPv4, then IPv6", NULL },
};

#define NAME_SIZE     64
#define HARDWARE_MAX  32 /* MAX_ADDR_LEN */
#define ADDRESSES_MAX 65536
#define IPV6_SIZE     16

/* kernel include/uapi/linux/if.h: what the device is told, not what it reports */
static const struct {
	uint32_t bit;
	const char *word;
} flag_words[] = {
	{ 0x01, "UP" },	    { 0x02, "BROADCAST" },   { 0x08, "LOOPBACK" },  { 0x10, "POINTOPOINT" },
	{ 0x80, "NOARP" },  { 0x100, "PROMISC" },    { 0x200, "ALLMULTI" }, { 0x400, "MASTER" },
	{ 0x800, "SLAVE" }, { 0x1000, "MULTICAST" },
};

static struct error *set_flags(struct table_scan *scan, const struct object *device)
{
	uint64_t flags;
	char text[128] = "";
	int used = 0;
	TRY(object_u64(device, "flags", &flags));
	for (size_t i = 0; i < ARRAY_COUNT(flag_words); i++)
		if (flags & flag_words[i].bit)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s",
					 used ? "," : "", flag_words[i].word);
	table_set_text(scan, COLUMN_FLAGS, text);
	return NULL;
}

static struct error *set_name(struct table_scan *scan, const struct object *device)
{
	char name[NAME_SIZE];
	TRY(object_string(device, "name", name, sizeof(name)));
	table_set_text(scan, COLUMN_NAME, name);
	return NULL;
}

static struct error *set_hardware(struct table_scan *scan, const struct object *device)
{
	uint64_t address, length;
	uint8_t bytes[HARDWARE_MAX];
	char text[3 * HARDWARE_MAX + 1] = "";
	TRY(object_u64(device, "dev_addr", &address));
	TRY(object_u64(device, "addr_len", &length));
	if (!address || !length || length > HARDWARE_MAX)
		return NULL;
	TRY(memory_read(scan->target->memory, address, bytes, length));
	for (uint64_t i = 0; i < length; i++)
		snprintf(text + 3 * i, 4, "%02x%s", bytes[i], i + 1 < length ? ":" : "");
	table_set_text(scan, COLUMN_HARDWARE, text);
	return NULL;
}

/* --- addresses ------------------------------------------------------------------------------- */

static struct error *add_address(struct target *target, struct strbuf *text, int family,
				 uint64_t at, uint64_t prefix)
{
	uint8_t bytes[IPV6_SIZE];
	char name[INET6_ADDRSTRLEN];
	TRY(memory_read(target->memory, at, bytes, family == AF_INET ? 4 : IPV6_SIZE));
	if (text->size)
		strbuf_char(text, ' ');
	strbuf_put(text, inet_ntop(family, bytes, name, sizeof(name)) ?: "?");
	strbuf_char(text, '/');
	strbuf_u64(text, prefix);
	return NULL;
}

static struct error *add_ipv4(const struct object *device, struct strbuf *text)
{
	struct object internet, address, local;
	uint64_t prefix;
	TRY(object_follow(device, "ip_ptr", &internet));
	if (!internet.address)
		return NULL;
	TRY(object_follow(&internet, "ifa_list", &address));
	for (unsigned int i = 0; address.address; i++) {
		if (i == ADDRESSES_MAX)
			return error_create(ERROR_FORMAT, "more than %d addresses", ADDRESSES_MAX);
		TRY(object_member(&address, "ifa_local", &local));
		TRY(object_u64(&address, "ifa_prefixlen", &prefix));
		TRY(add_address(device->target, text, AF_INET, local.address, prefix));
		TRY(object_follow(&address, "ifa_next", &address));
	}
	return NULL;
}

struct ipv6 {
	struct target *target;
	struct strbuf *text;
	uint64_t in_list;
	struct error *problem;
};

static struct error *visit_ipv6(void *context, const struct walk_item *item)
{
	struct ipv6 *ipv6 = context;
	struct object address, bytes;
	uint64_t prefix;
	TRY(object_at(ipv6->target, "struct inet6_ifaddr", item->address - ipv6->in_list,
		      &address));
	TRY(object_member(&address, "addr", &bytes));
	TRY(object_u64(&address, "prefix_len", &prefix));
	return add_address(ipv6->target, ipv6->text, AF_INET6, bytes.address, prefix);
}

static struct error *broken_ipv6(void *context, struct error *problem)
{
	(void)context;
	return problem;
}

static struct error *add_ipv6(struct table_scan *scan, const struct object *device,
			      struct strbuf *text)
{
	struct ipv6 ipv6 = { .target = device->target, .text = text };
	const struct walk walk = { .target = device->target,
				   .visit = visit_ipv6,
				   .broken = broken_ipv6,
				   .context = &ipv6,
				   .seen = &scan->seen };
	struct object internet, list;
	if (!object_has(device, "ip6_ptr"))
		return NULL;
	TRY(object_follow(device, "ip6_ptr", &internet));
	if (!internet.address)
		return NULL;
	TRY(object_offset(device->target, "struct inet6_ifaddr", "if_list", &ipv6.in_list));
	TRY(object_member(&internet, "addr_list", &list));
	return walk_list(&walk, list.address, false);
}

static struct error *set_addresses(struct table_scan *scan, const struct object *device)
{
	struct strbuf text = { 0 };
	if (!table_wants(scan, COLUMN_ADDRESSES))
		return NULL;
	struct error *error = add_ipv4(device, &text);
	if (!error)
		error = add_ipv6(scan, device, &text);
	strbuf_bytes(&text, "", 1);
	if (!error && text.failed)
		error = error_no_memory();
	if (!error)
		table_set_text(scan, COLUMN_ADDRESSES, text.data);
	strbuf_deinit(&text);
	return error;
}

/* --- the lists ------------------------------------------------------------------------------- */

static struct error *visit_device(void *context, const struct object *net,
				  const struct object *device)
{
	struct table_scan *scan = context;
	table_set(scan, COLUMN_NETDEV, device->address);
	TRY(table_set_member(scan, COLUMN_NAMESPACE, net, "ns.inum"));
	TRY(table_set_member(scan, COLUMN_IFINDEX, device, "ifindex"));
	TRY(table_set_member(scan, COLUMN_MTU, device, "mtu"));
	TRY(table_set_error(scan, COLUMN_NAME, set_name(scan, device)));
	TRY(table_set_error(scan, COLUMN_FLAGS, set_flags(scan, device)));
	TRY(table_set_error(scan, COLUMN_HARDWARE, set_hardware(scan, device)));
	TRY(table_set_error(scan, COLUMN_ADDRESSES, set_addresses(scan, device)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	return table_broken(context, problem);
}

static struct error *visit(struct table_scan *scan)
{
	return net_devices_for_each(scan->target, visit_device, broken, scan);
}

static const char *const examples[] = { "netdevs", "netdevs -o name,mac,addresses",
					"netdevs | print {name, operstate, num_tx_queues}", NULL };

const struct table table_netdevs = {
	.name = "netdevs",
	.alias = "net",
	.summary = "network devices",
	.description = "A row is a struct net_device of a network namespace, with its addresses.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_NETDEV,
	.is_object = true,
};
