# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that crash and drgn ask a vmlinux for, and their types."""

# What crash and drgn read by name and type, as the kernel's sources declare it, on every kernel that
# has the symbol: a wrong one makes them fail, or go wrong without a word.
ASKED = {
    "init_task": "struct task_struct", "init_pid_ns": "struct pid_namespace", "jiffies": "volatile unsigned long",
    "runqueues": "struct rq", "__per_cpu_offset": "unsigned long [8192]", "nr_cpu_ids": "unsigned int",
    "__cpu_possible_mask": "struct cpumask", "__cpu_online_mask": "struct cpumask",
    "__cpu_present_mask": "struct cpumask", "__cpu_active_mask": "struct cpumask",
    "modules": "struct list_head", "init_uts_ns": "struct uts_namespace", "saved_command_line": "char *",
    "node_data": "pg_data_t *[1024]", "mem_section": "struct mem_section **", "max_pfn": "unsigned long",
    "_totalram_pages": "atomic_long_t", "vm_event_states": "struct vm_event_state",
    "slab_caches": "struct list_head", "vmap_nodes": "struct vmap_node *",
    "vmap_area_list": "struct list_head", "nr_swapfiles": "unsigned int", "total_swap_pages": "long",
    "hstates": "struct hstate [2]", "init_net": "struct net", "net_namespace_list": "struct list_head",
    "prb": "struct printk_ringbuffer *", "printk_rb_static": "struct printk_ringbuffer",
    "console_drivers": "struct console *", "console_list": "struct hlist_head",
    "hrtimer_bases": "struct hrtimer_cpu_base", "avenrun": "unsigned long [3]",
    "idt_table": "gate_desc [256]", "pgdir_shift": "unsigned int", "ptrs_per_p4d": "unsigned int",
    "page_offset_base": "unsigned long", "vmalloc_base": "unsigned long", "vmemmap_base": "unsigned long",
    "chrdevs": "struct char_device_struct *[255]", "major_names": "struct blk_major_name *[255]",
    "blockdev_superblock": "struct super_block *", "super_blocks": "struct list_head",
    "mount_hashtable": "struct hlist_head *", "init_mm": "struct mm_struct", "panic_cpu": "atomic_t",
    "tainted_mask": "unsigned long", "softirq_vec": "struct softirq_action [10]",
    "cpu_info": "struct cpuinfo_x86", "boot_cpu_data": "struct cpuinfo_x86",
    "cpu_tss_rw": "struct tss_struct", "init_ipc_ns": "struct ipc_namespace", "prog_idr": "struct idr",
    "map_idr": "struct idr", "vm_committed_as": "struct percpu_counter",
    "max_low_pfn": "unsigned long", "__highest_present_section_nr": "unsigned long", "ipc_mni_shift": "int",
    "irq_desc_tree": "struct xarray", "sparse_irqs": "struct maple_tree",
    "stack_slabs": "void *[8192]",
    "sysctl_overcommit_kbytes": "unsigned long", "sysctl_overcommit_ratio": "int",
    "vmap_zone_size": "unsigned int", "timekeeper_data": "struct tk_data [1]", "jiffies_64": "u64",
    "log_wait": "wait_queue_head_t", "system_state": "enum system_states", "console_printk": "int [4]",
    "audit_queue": "struct sk_buff_head", "audit_hold_queue": "struct sk_buff_head",
    "audit_retry_queue": "struct sk_buff_head", "e820_table": "struct e820_table *",
    "empty_zero_page": "unsigned long [512]", "huge_zero_pfn": "unsigned long", "zero_pfn": "unsigned long",
    "key_user_tree": "struct rb_root", "l1tf_mitigation": "enum l1tf_mitigations",
    "loops_per_jiffy": "unsigned long", "memory_block_size_probed": "unsigned long",
    "module_load_offset": "unsigned long", "nr_swap_pages": "atomic_long_t", "phys_base": "unsigned long",
    "sysctl_overcommit_memory": "int", "nr_node_ids": "unsigned int", "total_forks": "unsigned long",
    "vmcoreinfo_data": "unsigned char *", "vmcoreinfo_size": "size_t", "xen_p2m_addr": "unsigned long *",
    "xen_start_info": "struct start_info *",
    # What lies in .rodata is declared const.
    "ext4_file_operations": "const struct file_operations", "tcpv6_protocol": "const struct inet6_protocol",
    "shm_file_operations": "const struct file_operations", "inet_stream_ops": "const struct proto_ops",
}
# As long as swap_info, which has an element for each swap file.
SWAP_FILES = {"nr_swapper_spaces": "unsigned int", "swapper_spaces": "struct address_space *"}
# The lengths by which crash sizes its buffers.
COUNTED = {"vm_zone_stat": "NR_VM_ZONE_STAT_ITEMS", "vm_node_stat": "NR_VM_NODE_STAT_ITEMS",
           "vm_numa_event": "NR_VM_NUMA_EVENT_ITEMS", "dmi_ident": "DMI_STRING_MAX"}
TABLES = ("sys_call_table", "taint_flags", "task_state_array")
