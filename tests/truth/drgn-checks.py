# SPDX-License-Identifier: GPL-3.0-or-later
# Run by drgn for drgn-compare: what drgn's helpers say of a dump, in the manner of its own tests. Each check
# writes a mark with its name, and then what it finds, in an order that does not depend on the debugger.
import contextlib
import io
import itertools

import drgn
from drgn import Object, cast, container_of, sizeof, offsetof
from drgn.helpers.common.format import decode_enum_type_flags, escape_ascii_string, number_in_binary_units
from drgn.helpers.common.type import enum_type_to_class, typeof_member
from drgn.helpers.linux import *  # noqa: F401,F403

CHECKS = []
MANY = 400


def check(function):
    CHECKS.append((function.__name__, function))
    return function


def value(name, expression):
    CHECKS.append((name, lambda: print(eval(expression, globals()))))


def each(name, expression, shown="item"):
    def run():
        count = 0
        for item in itertools.islice(eval(expression, globals()), MANY):
            count += 1
            print(eval(shown, globals(), {"item": item}))
        print("count", count)
    CHECKS.append((name, run))


def text(item):
    return escape_ascii_string(item.string_(), escape_backslash=True)


def ours(name):
    for task in for_each_task(prog):
        if task.comm.string_() == name.encode():
            return task
    raise LookupError(name)


# --- the program, its types, symbols and objects ---
value("platform", "prog.platform")
value("flags", "prog.flags")
value("release", "prog['UTS_RELEASE'] if 'UTS_RELEASE' in prog else prog['init_uts_ns'].name.release")
value("vmcoreinfo", "prog['VMCOREINFO']")
value("page_size", "prog['PAGE_SIZE'], prog['PAGE_SHIFT'], prog['PAGE_MASK']")
value("jiffies", "prog['jiffies']")
value("jiffies_64", "prog['jiffies_64']")
value("vmemmap", "prog['vmemmap']")
value("init_uts_ns", "prog['init_uts_ns']")
value("init_task.pid", "prog['init_task'].pid, prog['init_task'].comm")
value("init_task", "prog['init_task']")
value("init_mm", "prog['init_mm']")
value("init_net", "prog['init_net'].net_cookie, prog['init_net'].ns")
value("init_cred", "prog['init_cred']")
value("init_pid_ns", "prog['init_pid_ns']")
value("iomem_resource", "prog['iomem_resource']")
value("boot_cpu_data", "prog['boot_cpu_data']")
value("saved_command_line", "prog['saved_command_line']")
value("nr_cpu_ids", "prog['nr_cpu_ids']")
value("linux_banner", "prog['linux_banner']")
value("system_state", "prog['system_state']")
value("panic_cpu", "prog['panic_cpu']")
value("tainted_mask", "prog['tainted_mask']")
value("avenrun", "prog['avenrun']")
value("total_forks", "prog['total_forks']")
value("root_task_group", "prog['root_task_group'].shares, prog['root_task_group'].se")
value("super_blocks", "prog['super_blocks']")
value("function object", "prog.function('vfs_read').type_")
value("function address", "hex(prog.function('schedule').address_)")
value("type task_struct", "prog.type('struct task_struct')")
value("type page", "prog.type('struct page')")
value("type sk_buff", "prog.type('struct sk_buff')")
value("type xfs_mount", "prog.type('struct xfs_mount')")
value("type pid_t", "prog.type('pid_t'), prog.type('size_t'), prog.type('gfp_t')")
value("type zone_type", "prog.type('enum zone_type')")
value("type bool", "prog.type('bool'), prog.type('_Bool'), prog.type('unsigned long')")
value("type list_head *", "prog.type('struct list_head *')")
value("typeof_member", "typeof_member(prog.type('struct task_struct'), 'se.cfs_rq')")
value("sizeof", "sizeof(prog.type('struct page')), sizeof(prog.type('struct task_struct'))")
value("offsetof", "offsetof(prog.type('struct task_struct'), 'thread.sp')")
value("constant", "prog.constant('ZONE_NORMAL'), prog.constant('NR_FREE_PAGES'), prog['PG_locked']")
value("enum class", "[str(item) for item in enum_type_to_class(prog.type('enum zone_type'), 'Z')]")
value("flags of task", "decode_task_state(prog['init_task']) if 'decode_task_state' in globals() else None")
value("symbol", "prog.symbol('schedule').name, hex(prog.symbol('schedule').address)")
value("symbol by address", "prog.symbol(prog.symbol('vfs_read').address + 5).name")
value("symbol of data", "prog.symbol('init_task').name, hex(prog.symbol('init_task').address)")
value("symbol size of data", "prog.symbol('init_task').size, prog.symbol('init_mm').size")
value("symbol size of function", "prog.symbol('schedule').size, prog.symbol('vfs_read').size")
value("symbol kinds", "prog.symbol('schedule').kind, prog.symbol('init_task').kind, prog.symbol('schedule').binding")
value("symbols", "sorted((s.name, hex(s.address)) for s in prog.symbols('vfs_read'))")
value("reinterpret", "drgn.reinterpret('unsigned long', prog['jiffies'])")
value("cast", "cast('unsigned int', prog['jiffies'])")
value("container_of", "container_of(prog['init_task'].tasks.address_of_(), 'struct task_struct', 'tasks').pid")
value("main module", "prog.main_module().name, prog.main_module().build_id.hex()")
each("modules of drgn", "sorted(m.name for m in prog.modules())")

# --- tasks ---
each("for_each_task", "for_each_task(prog)", "item.pid.value_(), text(item.comm), hex(item)")
each("task states", "for_each_task(prog)", "item.pid.value_(), task_state_to_char(item)")
each("for_each_pid", "for_each_pid(prog)", "hex(item)")
each("task_cpu", "for_each_task(prog)", "item.pid.value_(), task_cpu(item)")
each("cmdline", "for_each_task(prog)", "cmdline(item)")
each("environ", "for_each_task(prog)", "environ(item)")
each("for_each_task_in_group", "for_each_task_in_group(ours('threads'), include_self=True)", "item.pid")
each("task_thread_info", "for_each_task(prog)", "task_thread_info(item).flags")
each("task_rq", "for_each_task(prog)", "hex(task_rq(item))")
each("task_on_cpu", "for_each_task(prog)", "task_on_cpu(item)")
each("task_since_last_arrival_ns", "for_each_task(prog)", "task_since_last_arrival_ns(item)")
each("task vmas", "for_each_vma(ours('mapped').mm)", "item.vm_start, item.vm_end, vma_name(item)")
value("find_task", "find_task(prog, 1).comm")
value("find_pid", "find_pid(prog, 1).level")
value("pid_task", "pid_task(find_pid(prog, 1), prog.constant('PIDTYPE_PID')).comm")
value("cpu_curr", "[cpu_curr(prog, cpu).comm for cpu in for_each_online_cpu(prog)]")
value("idle_task", "[idle_task(prog, cpu).comm for cpu in for_each_online_cpu(prog)]")
value("loadavg", "loadavg(prog)")
value("panic_task", "panic_task(prog).comm")
value("panic_message", "panic_message(prog)")
value("tainted", "tainted(prog)")
value("kthread_data", "kthread_data(find_task(prog, 2))")
value("cpu_rq", "[cpu_rq(prog, cpu).nr_running for cpu in for_each_online_cpu(prog)]")
each("files of task", "for_each_file(ours('nanosleep'))", "item[0], d_path(item[1].f_path)")
value("fget", "d_path(fget(ours('nanosleep'), 0).f_path)")


@check
def stack_traces():
    for task in for_each_task(prog):
        print(task.pid.value_(), [frame.name for frame in prog.stack_trace(task) if not frame.is_inline])


@check
def stack_functions():
    for task in for_each_task(prog):
        print(task.pid.value_(), [frame.function_name for frame in prog.stack_trace(task) if not frame.is_inline])


@check
def stack_pcs():
    for task in for_each_task(prog):
        print(task.pid.value_(), [hex(frame.pc) for frame in prog.stack_trace(task) if not frame.is_inline])


@check
def stack_registers():
    for task in itertools.islice(for_each_task(prog), 40):
        for frame in prog.stack_trace(task):
            if not frame.is_inline:
                registers = frame.registers()
                print(task.pid.value_(), frame.pc, {name: hex(registers[name]) for name in sorted(registers)})


@check
def stack_symbols():
    for task in for_each_task(prog):
        for frame in prog.stack_trace(task):
            if not frame.is_inline:
                try:
                    print(task.pid.value_(), frame.symbol().name, hex(frame.symbol().address))
                except LookupError:
                    print(task.pid.value_(), "no symbol")


@check
def stack_of_crash():
    print([frame.name for frame in prog.crashed_thread().stack_trace() if not frame.is_inline])


@check
def stack_text():
    print(prog.stack_trace(ours("nanosleep")))


@check
def stack_locals():
    for frame in prog.stack_trace(ours("nanosleep")):
        print(frame.name, frame.locals())


@check
def threads():
    print(sorted(thread.tid for thread in prog.threads()))
    print(prog.main_thread() if prog.flags & drgn.ProgramFlags.IS_LIVE else prog.crashed_thread().tid)



# --- CPUs, per-CPU data, masks ---
each("for_each_online_cpu", "for_each_online_cpu(prog)")
each("for_each_possible_cpu", "for_each_possible_cpu(prog)")
each("for_each_present_cpu", "for_each_present_cpu(prog)")
value("num_online_cpus", "num_online_cpus(prog), num_possible_cpus(prog), num_present_cpus(prog)")
value("cpumask_to_cpulist", "cpumask_to_cpulist(prog['__cpu_online_mask'].address_of_())")
value("cpumask_weight", "cpumask_weight(prog['__cpu_possible_mask'].address_of_())")
value("per_cpu runqueues", "[per_cpu(prog['runqueues'], cpu).cpu for cpu in for_each_possible_cpu(prog)]")
value("per_cpu cpu_info", "per_cpu(prog['cpu_info'], 0).x86_model_id")
value("per_cpu cpu_number", "[per_cpu(prog['cpu_number'], 1) if 'cpu_number' in prog else None]")
value("per_cpu_owner", "per_cpu_owner('runqueues', cpu_rq(prog, 1)) if 'per_cpu_owner' in globals() else None")
value("percpu_counter_sum", "percpu_counter_sum(prog['vm_committed_as'].address_of_())")
value("per_cpu softnet", "[per_cpu(prog['softnet_data'], cpu).processed for cpu in for_each_online_cpu(prog)]")
value("per_cpu vm_event_states", "per_cpu(prog['vm_event_states'], 0)")
value("per_cpu kernel_cpustat", "per_cpu(prog['kernel_cpustat'], 0)")
value("per_cpu tick_cpu_sched", "per_cpu(prog['tick_cpu_sched'], 0)")
value("per_cpu hrtimer_bases", "per_cpu(prog['hrtimer_bases'], 1)")
value("bitops", "list(for_each_set_bit(prog['init_mm'].cpu_bitmap if False else prog['__cpu_possible_mask'].bits, 64))")
value("clear bits", "sum(1 for _ in for_each_clear_bit(prog['__cpu_possible_mask'].bits, 64))")
value("test_bit", "test_bit(0, prog['__cpu_online_mask'].bits), test_bit(63, prog['__cpu_online_mask'].bits)")
value("nodemask", "list(for_each_online_node(prog))")
value("node_data", "NODE_DATA(prog, 0).node_id if 'NODE_DATA' in globals() else prog['node_data'][0].node_id")

# --- lists, trees, indexes ---
each("list modules", "list_for_each_entry('struct module', prog['modules'].address_of_(), 'list')", "text(item.name)")
each("list reverse", "list_for_each_entry_reverse('struct module', prog['modules'].address_of_(), 'list')",
     "text(item.name)")
value("list_empty", "list_empty(prog['modules'].address_of_()), list_is_singular(prog['modules'].address_of_())")
value("list_first", "list_first_entry(prog['modules'].address_of_(), 'struct module', 'list').name")
value("list_count", "list_count_nodes(prog['modules'].address_of_())")
value("validate_list", "validate_list(prog['modules'].address_of_())")
each("kernel modules", "for_each_module(prog)", "text(item.name)")
value("find_module", "find_module(prog, 'xfs').name")
value("address_to_module", "address_to_module(prog, find_module(prog, 'xfs').init.value_() or 0)")
each("module_percpu_region", "for_each_module(prog)", "text(item.name), module_percpu_region(item)")
each("hlist", "hlist_for_each_entry('struct mount', prog['mount_hashtable'], 'mnt_hash')", "item.mnt_id")
each("rbtree", "rbtree_inorder_for_each_entry('struct key', prog['key_serial_tree'].address_of_(), 'serial_node')",
     "item.serial")
each("rbtree procfs", "rbtree_inorder_for_each_entry('struct proc_dir_entry', prog['proc_root'].subdir.address_of_(), "
     "'subdir_node')", "text(item.name)")
value("validate_rbtree", "validate_rbtree('struct key', prog['key_serial_tree'].address_of_(), 'serial_node', "
      "lambda a, b: (a.serial.value_() > b.serial.value_()) - (a.serial.value_() < b.serial.value_()), False)")
each("idr pids", "idr_for_each(prog['init_pid_ns'].idr.address_of_())", "item[0], hex(item[1])")
value("idr_find", "hex(idr_find(prog['init_pid_ns'].idr.address_of_(), 1))")
each("xarray", "xa_for_each(ours('mapped').mm.exe_file.f_mapping.i_pages.address_of_())", "item[0], hex(item[1])")
value("xa_load", "hex(xa_load(ours('mapped').mm.exe_file.f_mapping.i_pages.address_of_(), 0))")
each("radix tree", "radix_tree_for_each(ours('mapped').mm.exe_file.f_mapping.i_pages.address_of_())", "item[0]")
each("maple tree", "mt_for_each(ours('mapped').mm.mm_mt.address_of_())", "item[0], item[1], hex(item[2])")
value("mtree_load", "hex(mtree_load(ours('mapped').mm.mm_mt.address_of_(), 0x400000))")
each("bdis", "list_for_each_entry('struct backing_dev_info', prog['bdi_list'].address_of_(), 'bdi_list')",
     "text(item.dev_name)")
each("plist", "plist_for_each_entry('struct swap_info_struct', prog['swap_active_head'].address_of_(), 'list')")
each("llist", "llist_for_each_entry('struct callback_head', prog['delayed_fput_list'].address_of_(), 'next')")
value("sbitmap", "[list(sbitmap_for_each_set(disk.queue.tag_set.tags[0].bitmap_tags.sb.address_of_())) "
      "for disk in itertools.islice(for_each_disk(prog), 2) if disk.queue.tag_set]")

# --- memory ---
value("totalram_pages", "totalram_pages(prog)")
value("in_direct_map", "in_direct_map(prog, prog['init_task'].stack.value_()), in_direct_map(prog, ours('poll'))")
value("virt_to_page", "hex(virt_to_page(ours('poll')))")
value("page_to_pfn", "page_to_pfn(virt_to_page(ours('poll')))")
value("page_to_virt", "hex(page_to_virt(virt_to_page(ours('poll'))))")
value("pfn_to_page", "hex(pfn_to_page(prog, 4096))")
value("phys_to_virt", "hex(phys_to_virt(prog, 0x1000)), hex(virt_to_phys(ours('poll')))")
value("decode_page_flags", "decode_page_flags(virt_to_page(ours('poll')))")
value("compound_head", "hex(compound_head(virt_to_page(ours('poll')))), compound_order(virt_to_page(ours('poll')))")
value("PageSlab", "PageSlab(virt_to_page(ours('poll'))), PageHead(virt_to_page(ours('poll'))), "
      "PageReserved(pfn_to_page(prog, 0))")
value("follow_page", "hex(follow_page(ours('mapped').mm, ours('mapped').mm.start_data))")
value("follow_pfn", "follow_pfn(ours('mapped').mm, ours('mapped').mm.start_data)")
value("follow_phys", "follow_phys(prog['init_mm'].address_of_(), prog.symbol('schedule').address)")
value("access_remote_vm", "access_remote_vm(ours('mapped').mm, ours('mapped').mm.start_data, 16)")
value("vmalloc_to_page", "hex(vmalloc_to_page(find_module(prog, 'xfs')))")
value("vmalloc_to_pfn", "vmalloc_to_pfn(find_module(prog, 'xfs'))")
each("vmap areas", "for_each_vmap_area(prog)", "hex(item.va_start), hex(item.va_end)")
value("find_vmap_area", "hex(find_vmap_area(prog, find_module(prog, 'xfs').value_()).va_start)")
value("vma_find", "hex(vma_find(ours('mapped').mm, 0x400000))")
value("task_vsize", "totalram_pages(prog), sum(task.mm.total_vm.value_() for task in for_each_task(prog) if task.mm)")
value("page size of types", "page_size(virt_to_page(ours('poll'))) if 'page_size' in globals() else None")
value("get_page_flags of 50 pages", "[decode_page_flags(pfn_to_page(prog, pfn)) for pfn in range(4096, 4146)]")
value("nr_free_pages", "nr_free_pages(prog)")
value("global_node_page_state", "global_node_page_state(prog, prog['NR_FILE_PAGES'])")
value("global zone state", "global_zone_page_state(prog, prog['NR_FREE_PAGES'])" )
value("vm_commit_limit", "vm_commit_limit(prog), vm_memory_committed(prog)")
each("zones", "for_each_populated_zone(prog) if 'for_each_populated_zone' in globals() else []", "text(item.name)")
each("slab caches", "for_each_slab_cache(prog)", "text(item.name)")
each("slab usage", "for_each_slab_cache(prog)", "text(item.name), slab_cache_usage(item)")
each("slab order", "for_each_slab_cache(prog)", "slab_cache_order(item), slab_cache_objects_per_slab(item)")
value("slab total usage", "slab_total_usage(prog)")
value("find_slab_cache", "find_slab_cache(prog, 'dentry').object_size")
each("slab objects", "slab_cache_for_each_allocated_object(find_slab_cache(prog, 'task_struct'), 'struct task_struct')",
     "hex(item), text(item.comm)")
value("slab_object_info", "slab_object_info(ours('poll'))")
value("find_containing_slab_cache", "find_containing_slab_cache(ours('poll')).name")
value("get_slab_cache_aliases", "get_slab_cache_aliases(prog)")
value("slab_cache_is_merged", "slab_cache_is_merged(find_slab_cache(prog, 'dentry'))")
each("swap", "for_each_swap_info(prog) if 'for_each_swap_info' in globals() else []")
value("swap files", "total_swap_pages(prog) if 'total_swap_pages' in globals() else prog['total_swap_pages']")

# --- file systems, block devices ---
each("for_each_mount", "for_each_mount(prog)", "mount_src(item), mount_dst(item), mount_fstype(item)")
each("d_path", "for_each_mount(prog)", "d_path(item.mnt.address_of_(), item.mnt.mnt_root)")
each("dentries", "d_children(ours('mapped').fs.root.dentry) if 'd_children' in globals() else []", "dentry_path(item)")
value("path_lookup", "d_path(path_lookup(prog, '/proc'))")
value("path_lookup bin", "path_lookup(prog, '/bin').dentry.d_inode.i_ino")
value("inode_path", "inode_path(path_lookup(prog, '/bin').dentry.d_inode)")
each("inode_paths", "inode_paths(path_lookup(prog, '/bin').dentry.d_inode)")
each("super blocks", "list_for_each_entry('struct super_block', prog['super_blocks'].address_of_(), 's_list')",
     "text(item.s_id), text(item.s_type.name)")
each("disks", "for_each_disk(prog)", "text(disk_name(item)) if not isinstance(disk_name(item), bytes) else disk_name(item)")
each("partitions", "for_each_partition(prog)", "part_name(item), part_devt(item)")
value("MAJOR", "MAJOR(Object(prog, 'dev_t', 0x800001)), MINOR(Object(prog, 'dev_t', 0x800001)), MKDEV(8, 1)")
each("bdev state", "for_each_disk(prog)", "number_in_binary_units(item.part0.bd_nr_sectors.value_() * 512)")
each("blk-mq tags", "for_each_disk(prog)", "item.queue.nr_hw_queues, item.queue.nr_requests")
each("file systems", "iter([prog['file_systems']])", "text(item.name)")

# --- cgroups, BPF, net, IPC, others ---
value("cgroup root", "cgroup_name(prog['cgrp_dfl_root'].cgrp.address_of_())")
each("cgroup descendants", "css_for_each_descendant_pre(prog['cgrp_dfl_root'].cgrp.self.address_of_())",
     "cgroup_path(item.cgroup)")
each("cgroup children", "css_for_each_child(prog['cgrp_dfl_root'].cgrp.self.address_of_())", "cgroup_path(item.cgroup)")
each("cgroup of tasks", "for_each_task(prog)", "cgroup_path(item.cgroups.dfl_cgrp)")
value("cgroup_get_from_path", "hex(cgroup_get_from_path(prog, '/'))")
value("kernfs", "kernfs_path(prog['sysfs_root_kn'])")
each("kernfs children", "kernfs_children(prog['sysfs_root_kn'])", "kernfs_name(item)")
value("kernfs_walk", "kernfs_path(kernfs_walk(prog['sysfs_root_kn'], 'kernel'))")
each("bpf progs", "bpf_prog_for_each(prog)", "item.aux.id, text(item.aux.name)")
each("bpf maps", "bpf_map_for_each(prog)", "item.id, text(item.name), item.map_type")
each("bpf links", "bpf_link_for_each(prog)", "item.id")
each("bpf btf", "bpf_btf_for_each(prog)", "item.id")
each("bpf prog by name", "bpf_prog_for_each(prog)", "bpf_prog_used_maps(item)")
each("net namespaces", "for_each_net(prog)", "item.ns.inum")
each("net devices", "for_each_netdev(prog['init_net'].address_of_()) if 'for_each_netdev' in globals() else "
     "list_for_each_entry('struct net_device', prog['init_net'].dev_base_head.address_of_(), 'dev_list')",
     "text(item.name), item.ifindex")
value("netdev_get_by_name", "netdev_get_by_name(prog, 'lo').name, netdev_get_by_index(prog, 1).name")
value("netdev_priv", "hex(netdev_priv(netdev_get_by_name(prog, 'lo')))")
value("netdev_ipv4_addrs", "netdev_ipv4_addrs(netdev_get_by_name(prog, 'lo'))")
value("tcp_hashinfo", "prog['tcp_hashinfo'].ehash_mask, prog['tcp_hashinfo'].lhash2_mask")
each("ipc shm", "for_each_shm(prog) if 'for_each_shm' in globals() else []")
each("ipc ids", "idr_for_each(prog['init_ipc_ns'].ids[2].ipcs_idr.address_of_())", "item[0]")
value("dmesg", "get_dmesg(prog)")
each("printk records", "get_printk_records(prog)", "item.text[:80], item.timestamp, item.level, item.caller_tid")
value("uptime", "uptime(prog), ktime_get_seconds(prog), ktime_get_real_seconds(prog)")
value("ktime", "ktime_get_coarse_ns(prog), ktime_get_boottime_seconds(prog) "
      "if 'ktime_get_boottime_seconds' in globals() else 0")
value("local clock", "loadavg(prog), prog['tk_core']")
each("irq_desc", "for_each_irq_desc(prog)", "item[0], irq_desc_action_names(item[1])")
value("irq stats", "[irq_desc_kstat_cpu(irq_to_desc(prog, 4), cpu) for cpu in for_each_online_cpu(prog)]")
each("timers", "for_each_timer(prog) if 'for_each_timer' in globals() else []", "hex(item)")
value("wait queue", "waitqueue_active(prog['kswapd_wait'].address_of_()) if 'kswapd_wait' in prog else "
      "waitqueue_active(prog['log_wait'].address_of_())")
each("waiters", "waitqueue_for_each_task(prog['log_wait'].address_of_())", "item.pid")
value("user", "find_user(prog, 0).uid")
each("users", "for_each_user(prog)", "item.uid.val")
value("module kallsyms", "load_module_kallsyms(prog) is not None")
each("pci", "for_each_pci_dev(prog) if 'for_each_pci_dev' in globals() else []", "pci_name(item)")
value("source of frame", "prog.stack_trace(ours('nanosleep'))[0].source()")
value("locals of frame", "prog.stack_trace(ours('nanosleep'))[1]['prev']")
value("chars of resource", "prog['iomem_resource'].child.name, prog['ioport_resource'].child.name")
value("module variable", "prog['xfs_stats_clear'] if 'xfs_stats_clear' in prog else prog['loop_ctl_fops'].open")
value("module type", "sizeof(prog.type('struct loop_device')), sizeof(prog.type('struct xfs_inode'))")
value("module function", "prog.function('xfs_file_fsync').type_")

for name, function in CHECKS:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            function()
        except BaseException as error:  # what it says is the result
            print("failed:", type(error).__name__, str(error).splitlines()[:1])
    print("@@@", name)
    print(output.getvalue(), flush=True)
