// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * BPF programs that end up on the stacks of sleeping tasks.  bpf_states.c loads them.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct wish {
	__u64 pointer; /* in the caller's memory; a fault there is never served */
	__u64 thread;  /* whose opens block */
	__u64 copied;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct wish);
} wishes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __noinline int read_blocked_page(__u64 pointer)
{
	char bytes[16];
	long error = bpf_copy_from_user(bytes, sizeof(bytes), (const void *)pointer);
	return error ? -1 : bytes[0];
}

static __noinline int count_one(__u32 key)
{
	__u64 one = 1;
	__u64 *count = bpf_map_lookup_elem(&counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&counts, &key, &one, BPF_ANY);
	return 0;
}

SEC("syscall")
int blocked_syscall(struct wish *wish)
{
	count_one(1);
	int first = read_blocked_page(wish->pointer);
	wish->copied = first;
	return first < 0;
}

SEC("lsm.s/file_open")
int BPF_PROG(blocked_open, void *file)
{
	__u32 thread = (__u32)bpf_get_current_pid_tgid(), first = 0;
	struct wish *wish = bpf_map_lookup_elem(&wishes, &first);
	if (!wish || thread != wish->thread)
		return 0;
	count_one(2);
	wish->copied = read_blocked_page(wish->pointer);
	return 0;
}

SEC("fexit/hrtimer_nanosleep")
int BPF_PROG(after_sleep)
{
	count_one(3);
	return 0;
}

SEC("fentry/do_sys_poll")
int BPF_PROG(before_poll)
{
	count_one(4);
	return 0;
}

SEC("kprobe/do_epoll_wait")
int count_epoll(void *context)
{
	count_one(5);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_nanosleep")
int count_nanosleep(void *context)
{
	count_one(6);
	return 0;
}

SEC("xdp")
int pass_all(struct xdp_md *context)
{
	count_one(7);
	return XDP_PASS;
}
