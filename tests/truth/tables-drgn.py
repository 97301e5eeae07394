# SPDX-License-Identifier: GPL-3.0-or-later
"""What drgn's helpers say of what tables hold: a line of JSON of each, [name, rows]. See tables-compare."""

import json
import re

from drgn import FaultError, cast
from drgn.helpers.linux import block, bpf, cgroup, fs, hugetlb, ioport, ipc, irq, mm, module, net, pid, sched, slab, swap
from drgn.helpers.linux.list import list_for_each_entry
from drgn.helpers.linux.mmzone import for_each_online_pgdat, high_wmark_pages, low_wmark_pages, min_wmark_pages
from drgn.helpers.linux.percpu import per_cpu


def text(data):
    return data.decode("utf-8", "backslashreplace")


def tasks():
    for task in pid.for_each_task(prog):
        rss = mm.task_rss(prog, task) if task.mm else None
        yield (task.pid.value_(), task.tgid.value_(), task.value_(), sched.task_state_to_char(task), sched.task_cpu(task),
               text(task.comm.string_()), rss.total if rss else 0)


def arguments():
    for task in leaders():
        if task.mm:
            yield task.pid.value_(), text(b" ".join(mm.cmdline(task) or []).rstrip()), text(b" ".join(mm.environ(task) or []).rstrip())


def leaders():
    return [task for task in pid.for_each_task(prog) if task.pid == task.tgid and not sched.task_state_to_char(task) in "ZX"]


def path_of(file):
    """Of what is on no filesystem there is none: each tool calls it otherwise."""
    try:
        path = text(fs.d_path(file.f_path))
    except (FaultError, ValueError, AttributeError):
        return ""
    return "" if not path.startswith("/") else path


def files():
    for task in leaders():
        for number, file in fs.for_each_file(task):
            yield task.pid.value_(), number, file.value_(), file.f_inode.value_(), path_of(file)


def mappings():
    for task in leaders():
        for vma in mm.for_each_vma(task.mm) if task.mm else ():
            yield task.pid.value_(), vma.value_(), vma.vm_start.value_(), vma.vm_end.value_(), re.sub(r"^\[(tmpfs|hugetlbfs)\]$", "", text(mm.vma_name(vma)))


def mounts():
    for mount in fs.for_each_mount(pid.find_task(prog, 1).nsproxy.mnt_ns):
        yield mount.value_(), text(fs.mount_fstype(mount)), text(fs.mount_src(mount)), text(fs.mount_dst(mount))


def modules():
    for one in module.for_each_module(prog):
        yield one.value_(), text(one.name.string_()), one.refcnt.counter.value_() - 1


def slabs():
    for cache in slab.for_each_slab_cache(prog):
        usage = slab.slab_cache_usage(cache)
        yield cache.value_(), text(cache.name.string_()), cache.object_size.value_(), usage.num_objs, usage.num_objs - usage.free_objs


def netdevs():
    for space in net.for_each_net(prog):
        for dev in net.for_each_netdev(space):
            addresses = [str(one) for one in net.netdev_ipv4_addrs(dev) + net.netdev_ipv6_addrs(dev)]
            yield dev.value_(), text(net.netdev_name(dev)), dev.ifindex.value_(), " ".join(sorted(addresses))


def neighbours():
    for name in ("arp_tbl", "nd_tbl"):
        for one in net.neigh_table_for_each_neighbor(prog[name].nht):
            yield one.value_(), text(net.netdev_name(one.dev))


def disks():
    for disk in block.for_each_disk(prog):
        yield disk.part0.value_(), disk.value_(), text(block.disk_name(disk))


def irqs():
    for number, desc in irq.for_each_irq_desc(prog):
        names = irq.irq_desc_action_names(desc)
        counts = [irq.irq_desc_kstat_cpu(desc, cpu) for cpu in range(prog["nr_cpu_ids"])]
        yield number, desc.value_(), text(irq.irq_desc_chip_name(desc) or b""), text(b", ".join(names)), sum(counts)


def swaps():
    for one in swap.for_each_swap_info(prog):
        yield one.value_(), text(swap.swap_file_path(one)), one.prio.value_(), 4096 * swap.swap_usage_in_pages(one)


def hugepages():
    for state in hugetlb.for_each_hstate(prog):
        yield state.value_(), state.nr_huge_pages.value_(), state.free_huge_pages.value_(), hugetlb.huge_page_size(state).value_()


def ipcs():
    for kind, walk, member in (("msg", ipc.for_each_sysv_msg_queue, "q_perm"), ("shm", ipc.for_each_sysv_shm, "shm_perm"),
                               ("sem", ipc.for_each_sysv_sem_array, "sem_perm")):
        for one in walk(pid.find_task(prog, 1).nsproxy.ipc_ns):
            perm = getattr(one, member)
            yield kind, one.value_(), perm.key.value_(), perm.id.value_()


def resources():
    for name in ("iomem_resource", "ioport_resource"):
        for one in ioport.for_each_resource(prog[name].address_of_()):
            if one != prog[name].address_of_():
                yield one.value_(), one.start.value_(), one.end.value_(), text(one.name.string_()) if one.name else ""


def vmallocs():
    for area in mm.for_each_vmap_area(prog):
        if area.vm:
            yield area.va_start.value_(), area.vm.size.value_()


def zones():
    for node in for_each_online_pgdat(prog):
        for number in range(node.nr_zones):
            zone = node.node_zones[number].address_of_()
            if zone.present_pages:
                marks = [4096 * mark(zone) for mark in (min_wmark_pages, low_wmark_pages, high_wmark_pages)]
                yield zone.value_(), text(zone.name.string_()), 4096 * zone.present_pages.value_(), *marks


def cgroups():
    for css in cgroup.css_for_each_descendant_pre(prog["cgrp_dfl_root"].cgrp.self.address_of_()):
        yield css.cgroup.value_(), text(cgroup.cgroup_path(css.cgroup))


def runqueues():
    for number in range(prog["nr_cpu_ids"]):
        queue = per_cpu(prog["runqueues"], number)
        yield queue.address_of_().value_(), number, queue.nr_running.value_(), queue.curr.value_()


def progs():
    for one in bpf.bpf_prog_for_each(prog):
        yield one.value_(), one.aux.id.value_(), text(one.aux.name.string_())


def bpfmaps():
    for one in bpf.bpf_map_for_each(prog):
        yield one.value_(), one.id.value_(), text(one.name.string_())


def superblocks():
    for one in list_for_each_entry("struct super_block", prog["super_blocks"].address_of_(), "s_list"):
        yield one.value_(), text(one.s_id.string_()), text(one.s_type.name.string_())


def pages():
    """Those of inodes' page caches, by inode."""
    for one in list_for_each_entry("struct super_block", prog["super_blocks"].address_of_(), "s_list"):
        for inode in list_for_each_entry("struct inode", one.s_inodes.address_of_(), "i_sb_list"):
            count = sum(not cast("unsigned long", page).value_() & 1 for _, page in fs.inode_for_each_page(inode))
            if count:
                yield inode.value_(), count


def messages():
    from drgn.helpers.linux.printk import get_printk_records
    for record in get_printk_records(prog):
        yield record.seq, record.timestamp, text(record.text)



for name in ("tasks", "arguments", "files", "mappings", "mounts", "modules", "slabs", "netdevs", "neighbours", "disks", "irqs", "swaps",
             "hugepages", "ipcs", "resources", "vmallocs", "zones", "cgroups", "runqueues", "progs", "bpfmaps", "superblocks",
             "pages", "messages"):
    try:
        rows = [list(row) for row in globals()[name]()]
    except (LookupError, AttributeError, ValueError, TypeError, FaultError, ImportError) as error:
        rows = f"{type(error).__name__}: {error}"
    print("@@@", json.dumps([name, rows]))
