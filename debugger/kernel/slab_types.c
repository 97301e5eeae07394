// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_types.h"

#include "btf/member_path.h"
#include <stdio.h>
#include <string.h>

/* Caches that are named otherwise than their type. A row counts only where the size fits too. */
static const struct {
	const char *cache, *type;
} names[] = {
	{ "PING", "raw_sock" },
	{ "RAW", "raw_sock" },
	{ "RAWv6", "raw6_sock" },
	{ "TCP", "tcp_sock" },
	{ "TCPv6", "tcp6_sock" },
	{ "UDP", "udp_sock" },
	{ "UDPv6", "udp6_sock" },
	{ "UNIX", "unix_sock" },
	{ "UNIX-STREAM", "unix_sock" },
	{ "bdev_cache", "bdev_inode" },
	{ "blkdev_ioc", "io_context" },
	{ "cred_jar", "cred" },
	{ "dax_cache", "dax_device" },
	{ "eventpoll_epi", "epitem" },
	{ "eventpoll_pwq", "eppoll_entry" },
	{ "ext4_groupinfo_4k", "ext4_group_info" },
	{ "fasync_cache", "fasync_struct" },
	{ "file_lock_cache", "file_lock" },
	{ "filp", "file" },
	{ "fs_cache", "fs_struct" },
	{ "ip6_dst_cache", "rt6_info" },
	{ "ip_dst_cache", "rtable" },
	{ "ip_fib_alias", "fib_alias" },
	{ "ip_fib_trie", "key_vector" },
	{ "iint_cache", "integrity_iint_cache" },
	{ "isofs_inode_cache", "iso_inode_info" },
	{ "jbd2_inode", "jbd2_inode" },
	{ "jbd2_journal_head", "journal_head" },
	{ "key_jar", "key" },
	{ "mnt_cache", "mount" },
	{ "net_namespace", "net" },
	{ "numa_policy", "mempolicy" },
	{ "posix_timers_cache", "k_itimer" },
	{ "radix_tree_node", "xa_node" },
	{ "request_sock_TCP", "tcp_request_sock" },
	{ "request_sock_TCPv6", "tcp6_request_sock" },
	{ "shared_policy_node", "sp_node" },
	{ "sighand_cache", "sighand_struct" },
	{ "signal_cache", "signal_struct" },
	{ "skbuff_fclone_cache", "sk_buff_fclones" },
	{ "skbuff_head_cache", "sk_buff" },
	{ "sock_inode_cache", "socket_alloc" },
	{ "tcp_bind2_bucket", "inet_bind2_bucket" },
	{ "tcp_bind_bucket", "inet_bind_bucket" },
	{ "tw_sock_TCP", "tcp_timewait_sock" },
	{ "tw_sock_TCPv6", "tcp6_timewait_sock" },
	{ "uid_cache", "user_struct" },
	{ "vfat_inode_cache", "msdos_inode_info" },
};

/* A kmalloc-N cache, of which everything may be an object. */
static bool is_general(const struct slab_cache *cache)
{
	return !strncmp(cache->name, "kmalloc-", 8) || !strncmp(cache->name, "dma-kmalloc-", 12);
}

static bool find_in(const struct btf *btf, const char *tag, struct type *ret)
{
	uint64_t cursor = 0;
	uint32_t id = btf ? btf_find(btf, BTF_STRUCT, tag, &cursor) : 0;
	*ret = (struct type){ btf, id };
	return id;
}

/* A struct of this tag in the kernel or any module. */
static bool find_struct(struct target *target, const char *tag, struct type *ret)
{
	const struct module *modules;
	if (find_in(target->btf, tag, ret))
		return true;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++)
		if (find_in(target_module_btf(target, &modules[i]), tag, ret))
			return true;
	return false;
}

bool slab_suggest_tag(const char *name, unsigned int number, char *ret)
{
	static const char *const endings[] = { "", "_struct", "_info" };
	size_t length = strlen(name);
	if (!number) {
		const char *tag = name;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(names[i].cache, name))
				tag = names[i].type;
		snprintf(ret, SLAB_TAG_SIZE, "%s", tag);
		return true;
	}
	if (length > 6 && !strcmp(name + length - 6, "_cache"))
		length -= 6;
	if (number > sizeof(endings) / sizeof(endings[0]))
		return false;
	snprintf(ret, SLAB_TAG_SIZE, "%.*s%s", (int)length, name, endings[number - 1]);
	return true;
}

void slab_type_of(struct target *target, const struct slab_cache *cache, struct slab_type *ret)
{
	char tag[SLAB_TAG_SIZE];
	*ret = (struct slab_type){ .type = { NULL, 0 } };
	if (is_general(cache))
		return;
	for (unsigned int number = 0; slab_suggest_tag(cache->name, number, tag); number++) {
		struct type type;
		uint64_t size;
		if (!find_struct(target, tag, &type) || !type_size(type, &size) ||
		    member_least_size(type) > cache->object_size)
			continue;
		/* Less: its buffer at the end is cut. More than the type: an array without a
		 * length, or what is behind it has no name; but is it that type? */
		bool is_own = !strcmp(tag, cache->name) &&
			      (size > cache->object_size || member_is_open_ended(type));
		bool is_exact = size == cache->object_size || is_own;
		if (ret->type.btf && !is_exact)
			continue;
		ret->type = type;
		ret->is_sure = is_exact && !cache->is_shared;
		if (is_exact)
			return;
	}
}
