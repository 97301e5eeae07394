# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be read is not known: no 0, no empty list, no silence.  Links and numbers that others found out to be
believed, on a copy of a dump."""

import os
import struct
import time

from forged import Forged
from groups.hostile import cut_file
from lib import Boot, check, check_equal, kernel_names

FIFO_SECONDS = 30  # by the clock, of a machine that does other things


def cpus(forged):
    with forged.image.patched({forged.layout.offset("nr_cpu_ids"): struct.pack("<I", 0)}):
        facts = forged.answer("sys")["result"]
        check_equal((facts["cpus"], facts["cpus_online"]), (None, None), "sys: CPUs")
        host = forged.answer("record")["result"]["host"]
        check_equal((host["cpus"], host["cpus_online"]), (None, None), "record: CPUs")
        counts = [row["count"] for row in forged.answer("irqs")["result"]]
        check(counts and all(isinstance(count, dict) and "error" in count for count in counts), f"irqs: {counts[:3]}")
        for name in ("objects", "disks", "memory"):
            check(not forged.answer(name)["ok"] or "CPUs cannot be known" in str(forged.answer(name)["result"]), name)
        text = forged.program.run(["-q", "-c", "sys", forged.image.path]).text
        check("CPUS: not known" in text, text)


def log(forged):
    with forged.image.patched({forged.place("&prb->desc_ring.count_bits"): struct.pack("<I", 63)}):
        check_equal(forged.answer("record --log 5")["result"]["log"], None, "record: the log")
        check(any(text.startswith("log: ") for text in forged.answer("sys")["result"]["problems"]), "sys: no word of the log")
        unread = forged.answer("analyze")["result"]["unread"]
        check(any(text.startswith("log: ") for text in unread), f"analyze: {unread}")


def chains(forged):
    for name, first in (("notifiers", "panic_notifier_list.head"), ("filesystems", "(struct file_system_type *)*(u64 *)&file_systems")):
        if not forged.program.answers(forged.boot.dump, [f"print ({first})->next"])[0]["ok"]:
            continue  # a list, from 7.1 on
        node = forged.address(f"&({first})->next") - forged.program.value(forged.boot.dump, f"(u64)&((typeof({first}))0)->next")
        with forged.image.patched({forged.place(f"&({first})->next"): struct.pack("<Q", node)}):
            answer = forged.answer(name)
            check(not answer["ok"] and "leads back" in answer["error"], f"{name}: {answer.get('error')}")


def parents(forged):
    task = forged.address("init_task.tasks.next") - forged.program.value(forged.boot.dump, "(u64)&((struct task_struct *)0)->tasks")
    place = forged.place(f"&((struct task_struct *){task:#x})->real_parent")
    check_equal([row["pid"] for row in forged.program.result(forged.boot.dump, "ps -p 1")], [0, 1], "the way up")
    with forged.image.patched({place: struct.pack("<QQ", task, task)}):
        check_equal([row["pid"] for row in forged.answer("ps -p 1")["result"]], [1], "the way of one that is its own parent")


# Commands, and the head of what they walk: of a list one that leads to itself, else a pointer that is NULL.  Each holds
# something that the kernel counts elsewhere, or never is without.
LISTS = (("slabs", "&slab_caches"), ("superblocks", "&super_blocks"), ("inodes", "&super_blocks"), ("netdevs", "&net_namespace_list"),
         ("netdevs", "&init_net.dev_base_head"), ("socks", "&net_namespace_list"), ("routes", "&net_namespace_list"),
         ("routes6", "&net_namespace_list"), ("cgroups", "&cgroup_roots"), ("cgroups", "&cgrp_dfl_root.cgrp.self.children"),
         ("workqueues", "&workqueues"), ("majors", "&misc_list"), ("tracebuffers", "&ftrace_trace_arrays"), ("modules", "&modules"))
POINTERS = (("routes", "&init_net.ipv4.fib_table_hash"), ("pools", "&worker_pool_idr.idr_rt.xa_head"), ("resources", "&iomem_resource.child"),
            ("files {task}", "&((struct task_struct *){task})->files"), ("files {task}", "&((struct task_struct *){task})->files->fdt->max_fds"))


def empty_heads(forged, notes):
    """What looks empty, though something else says that it is not, is broken: no table without rows, no count without tasks."""
    task = forged.address("init_task.tasks.next") - forged.program.value(forged.boot.dump, "(u64)&((struct task_struct *)0)->tasks")
    space = f"((struct task_struct *){task:#x})->nsproxy->mnt_ns->"
    is_tree = forged.program.answers(forged.boot.dump, [f"print {space}nr_mounts", f"print {space}mounts.rb_node"])[1]["ok"]
    lists, pointers = list(LISTS), list(POINTERS)
    (pointers if is_tree else lists).append(("mounts", f"&{space}mounts.rb_node" if is_tree else f"&{space}list"))
    has_maple = forged.program.answers(forged.boot.dump, ["print &sparse_irqs"])[0]["ok"]
    pointers.append(("irqs", "&sparse_irqs.ma_root" if has_maple else "&irq_desc_tree.xa_head"))
    pool, = forged.program.result(forged.boot.dump, "pools --where 'nr_workers > 0' -n 1 -o worker_pool")
    lists.append(("works", f"&((struct worker_pool *){pool['worker_pool']})->workers"))
    has_tree = forged.program.answers(forged.boot.dump, ["print init_mm.mm_mt"])[0]["ok"]
    pointers.append(("mappings {task}", "&((struct task_struct *){task})->mm->" + ("mm_mt.ma_root" if has_tree else "mmap")))
    for command, head in lists + pointers:
        command, head = (text.format(task=f"{task:#x}") for text in (command, head))
        address = forged.address(head)
        with forged.image.patched({forged.place(head): struct.pack("<QQ", address, address) if (command, head) in lists else bytes(8)}):
            answer = forged.answer(command)
            said = answer.get("error") or str(answer.get("problems", ""))
            check(not answer["ok"] and ("empty" in said or "found" in said or "counted" in said or "NULL" in said or "entries" in said or "no children" in said),
                  f"{command} with nothing at {head}: {str(answer)[:300]}")
            notes.append(f"{command}: {said[:80]}")
    whole = forged.program.result(forged.boot.dump, "ps")
    head = forged.address("&init_task.tasks")
    with forged.image.patched({forged.place("&init_task.tasks"): struct.pack("<QQ", head, head)}):
        answer = forged.answer("ps")
        check(not answer["ok"] and "that the kernel counted" in answer["error"], f"ps: {answer.get('error')}")
        check_equal({row["address"] for row in answer["result"]}, {row["address"] for row in whole}, "tasks that another way leads to")


def known_cause(program, path):
    """Of a dump that lacks things, analyze says which; what it cannot look for is not known, and no news."""
    answer, = program.answers(path, ["analyze"])
    if "result" not in answer:
        return "no analysis"
    result = answer["result"]
    check(result["unread"], f"all seems to be read: {result}")
    check_equal(answer["ok"], bool(result["findings"]), "ok")
    text = program.run(["-q", "--no-cache", "-c", "analyze", path]).text
    check("nothing is found" not in text, f"{text}")
    check("NOT READ: " in text, f"{text}")
    return f"{len(result['findings'])} findings, {len(result['unread'])} not read"


def cut_causes(program, boot, notes):
    for name in ("elf", "zlib", "flat"):
        for percent in (10, 50, 90):
            path = cut_file(boot.path("vmcore." + name), os.path.join(program.scratch, "cut"), percent)
            notes.append(f"{name} at {percent} %: {known_cause(program, path)}")
            os.unlink(path)


def fifo(program, boot):
    """One that nobody reads ends the command, whatever would be written; one that somebody reads gets all."""
    path = os.path.join(program.scratch, "fifo")
    os.mkfifo(path)
    for line in (f"log > {path}", f"gcore 1 {path}", f"export btf {path}", f"export sqlite tasks {path}"):
        began = time.monotonic()
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check("nobody reads from it" in result.errors, f"{line}: {result.errors}")
        check(time.monotonic() - began < FIFO_SECONDS, f"{line}: {time.monotonic() - began:.0f} s")
    os.unlink(path)


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        forged = Forged(session.program, boot)
        for name, test in (("CPUs", cpus), ("the log", log), ("chains that lead back", chains), ("a task that is its own parent", parents)):
            with session.case(f"{boot.label}: not known: {name}"):
                test(forged)
        with session.case(f"{boot.label}: heads that look empty") as notes:
            empty_heads(forged, notes)
        os.unlink(forged.image.path)
        with session.case(f"{boot.label}: a cause where files are cut off") as notes:
            cut_causes(session.program, boot, notes)
        with session.case(f"{boot.label}: a FIFO that nobody reads"):
            fifo(session.program, boot)
