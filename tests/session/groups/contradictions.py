# SPDX-License-Identifier: GPL-3.0-or-later
"""One word of a dump that all others contradict: it accuses nobody, and what it hides is missed.  On a copy of a dump."""

import os
import re
import struct

from forged import Forged
from lib import Boot, boots_of_most, check, check_equal, kernel_names

def has(forged, expression):
    answer, = forged.program.answers(forged.boot.dump, [f"print {expression}"])
    return answer["ok"]


def cause(forged):
    result = forged.answer("analyze")["result"]
    return result["findings"][0]["summary"], result["signature"], result["task"]


def panicking_task(forged, notes):
    """What a CPU runs: its run queue and current_task, and whose stack it is on; where they differ, who panicked is the same."""
    whole = cause(forged)
    cpu = whole[2]["cpu"]
    current = next(name for name in ("pcpu_hot:{}.current_task", "current_task:{}") if has(forged, "&" + name.format(0)))
    idle = forged.program.value(forged.boot.dump, f"(u64)runqueues:{cpu}.idle")
    for word in (f"runqueues:{cpu}.curr", current.format(cpu)):
        with forged.image.patched({forged.place(f"&{word}"): struct.pack("<Q", int(idle))}):
            check_equal(cause(forged), whole, f"{word} is the idle task")
            problems = [text for text in forged.answer("sys")["result"]["problems"] if "run queue" in text]
            check(len(problems) == 1 and "on whose stack it is" in problems[0], f"{word}: {problems}")
            notes.append(problems[0])


def panicking_cpu(forged, notes):
    whole = cause(forged)
    cpu = whole[2]["cpu"]
    for number, words in ((-1, "that no CPU panicked"), (1 - cpu, f"that CPU {1 - cpu} panicked")):
        with forged.image.patched({forged.layout.offset("panic_cpu"): struct.pack("<i", number)}):
            problems = [text for text in forged.answer("sys")["result"]["problems"] if "panicked" in text]
            check(len(problems) == 1 and words in problems[0], f"panic_cpu {number}: {problems}")
            notes.append(problems[0])
            check_equal(cause(forged), whole, f"panic_cpu is {number}")


def sleepers(forged, notes):
    """A task that sleeps is not made one that runs, or one that has exited, by one word."""
    row = next(row for row in forged.program.result(forged.boot.dump, "waits") if row["state"] == "D" and row["object"])
    task = f"((struct task_struct *){int(row['task'], 16):#x})"
    state = "__state" if has(forged, f"{task}->__state") else "state"
    for member, size, words in ((state, 4, "on no run queue"), ("stack", 8, "though it has not exited")):
        with forged.image.patched({forged.place(f"&{task}->{member}"): bytes(size)}):
            for command in ("ps", "waits"):
                answer = forged.answer(command)
                check(not answer["ok"] and words in str(answer), f"{command} with {member} 0: {str(answer)[:300]}")
            unread = forged.answer("analyze")["result"]["unread"]
            check(any(words in text for text in unread), f"analyze with {member} 0: {unread}")
            if member == "stack":
                text = forged.program.run(["-q", "-c", f"bt {row['pid']}", forged.image.path]).text
                check("has exited" not in text and "NULL" in text, f"bt: {text}")
            notes.append(f"{member} 0: {unread}")


def file_locks(forged, notes):
    """Who took a lock is told by whose files it is of; a pid that leads nowhere tells nothing."""
    locks = forged.program.result(forged.boot.dump, "filelocks")
    waits = {row["object"]: row for row in forged.program.result(forged.boot.dump, "waits") if row["kind"] == "file lock"}
    check(len(waits) >= 2, f"only {len(waits)} wait for file locks")
    for lock in locks:
        if lock["lock"] not in waits:
            continue
        place = f"((struct file_lock *){int(lock['lock'], 16):#x})->"
        place += "c.flc_pid" if has(forged, place + "c.flc_pid") else "fl_pid"
        for pid in (0, 0x3fffff, 1):
            with forged.image.patched({forged.place("&" + place): struct.pack("<i", pid)}):
                row, = (row for row in forged.answer("waits")["result"] if row["object"] == lock["lock"])
                if lock["kind"] == "POSIX":
                    check_equal((row["owner"], row["owner_how"]), (waits[lock["lock"]]["owner"], "the lock is of its open files"), f"POSIX lock of pid {pid}")
                elif pid != 1:
                    check_equal((row["owner"], row["owner_how"]), (None, "no task has the pid of who took it" if pid else "the lock does not say who took it"),
                                f"FLOCK of pid {pid}")
                notes.append(f"{lock['kind']} {pid}: {row['owner_how']}")
        if lock["kind"] == "POSIX":
            holder = f"((struct task_struct *){int(waits[lock['lock']]['owner'], 16):#x})->files"
            init = forged.program.value(forged.boot.dump, "(u64)init_task.files")
            with forged.image.patched({forged.place("&" + holder): struct.pack("<Q", init)}):
                row, = (row for row in forged.answer("waits")["result"] if row["object"] == lock["lock"])
                check_equal((row["owner"], row["owner_how"]), (None, "the lock is of no task's open files"), "POSIX lock of a task that has other files")


def frozen(forged, notes):
    """A filesystem that is frozen, and in no list."""
    rows = [row for row in forged.program.result(forged.boot.dump, "waits") if row["kind"] == "percpu_rwsem" and row["within_type"] == "struct super_block"]
    check(rows, "nobody waits for a frozen filesystem")
    link = f"((struct super_block *){int(rows[0]['within'], 16):#x})->s_list"
    before, behind = (forged.program.value(forged.boot.dump, f"(u64){link}.{way}") for way in ("prev", "next"))
    patches = {forged.place(f"&((struct list_head *){before:#x})->next"): struct.pack("<Q", behind),
               forged.place(f"&((struct list_head *){behind:#x})->prev"): struct.pack("<Q", before)}
    with forged.image.patched(patches):
        text = forged.program.run(["-q", "-c", "analyze", forged.image.path]).text
        check("a writer has it" not in text and "it was taken to write: by whom is not noted" in text, text)
        notes.append(text.splitlines()[-1])


def possible_cpus(forged, notes):
    """A count of CPUs that is too small hides none; a log whose head is its tail is not empty."""
    whole = forged.program.result(forged.boot.dump, "sys")
    with forged.image.patched({forged.layout.offset("nr_cpu_ids"): struct.pack("<I", 1)}):
        facts = forged.answer("sys")["result"]
        check_equal((facts["cpus"], facts["cpus_online"]), (whole["cpus"], whole["cpus_online"]), "sys with nr_cpu_ids 1")
        check(any("nr_cpu_ids is 1" in text for text in facts["problems"]), f"{facts['problems']}")
        notes.append(str(facts["problems"]))


def log(forged, notes):
    ring = forged.program.value(forged.boot.dump, "(u64)prb")
    ids = [f"((struct printk_ringbuffer *){ring:#x})->desc_ring.{name}_id.counter" for name in ("head", "tail")]
    head, tail = (forged.program.value(forged.boot.dump, f"(u64){name}") for name in ids)
    for place, number in ((ids[0], tail), (ids[1], head)):
        with forged.image.patched({forged.place("&" + place): struct.pack("<Q", number)}):
            answer = forged.answer("log")
            check(not answer["ok"] and "records could not be read" in answer["error"], f"log: {str(answer)[:200]}")
            unread = forged.answer("analyze")["result"]["unread"]
            check(any(text.startswith("log: ") for text in unread), f"analyze: {unread}")
            notes.append(answer["error"])


# Commands, and what of theirs is NULL or 0, which no kernel has so.
COUNTS = (("zones", "&contig_page_data.node_zones[1].per_cpu_pageset", 8), ("disks", "&((struct block_device *){bdev})->bd_stats", 8),
          ("irqs", "&((struct irq_desc *){desc})->kstat_irqs", 8), ("irqcounts", "&((struct irq_desc *){desc})->kstat_irqs", 8),
          ("slabs", "&((struct kmem_cache *){cache})->{node}", 8), ("slabs", "&((struct kmem_cache *){cache})->oo", 4),
          ("memory", "&_totalram_pages", 8), ("zones", "&node_data[0]", 8), ("pagesets", "&node_data[0]", 8), ("freelists", "&node_data[0]", 8))


def counts(forged, notes):
    def first(command, column):
        return int(forged.program.result(forged.boot.dump, command)[0][column], 16)
    node = forged.program.value(forged.boot.dump, "(u64)((u64 *)&node_data)[0]")
    places = {"bdev": f"{first('disks -n 1', 'bdev'):#x}", "desc": f"{first('irqs -n 1', 'desc'):#x}", "cache": f"{first('slabs -n 1', 'cache'):#x}"}
    places["node"] = "node[0]" if has(forged, f"((struct kmem_cache *){places['cache']})->node[0]") else "per_node[0].node"
    for command, expression, size in COUNTS:
        expression = expression.format(**places).replace("contig_page_data.", f"((struct pglist_data *){node:#x})->")
        expression = expression.replace("&node_data[0]", "&((u64 *)&node_data)[0]")
        with forged.image.patched({forged.place(expression): bytes(size)}):
            answer = forged.answer(command)
            check(not answer["ok"] or "is NULL" in str(answer["result"]), f"{command} with nothing at {expression}: {str(answer)[:300]}")
            notes.append(f"{command}: {answer.get('error')}")


HUNG = b"INFO: task lab-left:77 blocked for more than 120 seconds."
LEAVES = b"unregister_netdevice: waiting for lab9 to become free. Usage count = 3"
# Up to 6.18 and since.
WARNED = (b"WARNING: CPU: 1 PID: 77 at lab.c:9 lab_warn+0x1/0x9", b"WARNING: lab.c:9 at lab_warn+0x1/0x9, CPU#1: cat/77")


def no_panic(forged):
    """Patches: nothing says that a CPU panicked."""
    patches = {at: b"Kernel merry" for at in forged.image.find_all(b"Kernel panic - not syncing")}
    for name in ("panic_cpu", "crashing_cpu"):
        if has(forged, f"&{name}"):
            patches[forged.place(f"&{name}")] = struct.pack("<i", -1)
    return patches


def reports_of_the_log(forged, notes):
    """What the kernel said before it was dumped, of an oops and of a task that hangs, counts where it died of neither."""
    line = next(text for text in forged.program.text(forged.boot.dump, "log").splitlines()
                if len(text.split("] ", 1)[-1]) > len(HUNG) and len(forged.image.find_all(text.split("] ", 1)[-1].encode())) == 1).split("] ", 1)[-1]
    at = forged.image.find_all(line.encode())[0]
    hung = {at: HUNG.ljust(len(line))}
    where = forged.program.value(forged.boot.dump, "(u64)&schedule")
    oops = {forged.place("&die_counter"): struct.pack("<i", 1), forged.place("&exec_summary_regs.ip"): struct.pack("<Q", where + 1)}
    for words in WARNED:
        with forged.image.patched({at: words.ljust(len(line))}):
            said = [finding["summary"] for finding in forged.answer("analyze")["result"]["findings"] if finding["kind"] == "earlier-warning"]
            check(len(said) == 1 and "lab_warn+0x1" in said[0], f"{words}: {said}")
            notes.append(said[0])
    for kind, patches in (("earlier-hang", hung), ("earlier-hang", {**hung, **no_panic(forged)}), ("earlier-oops", {**oops, **no_panic(forged)})):
        with forged.image.patched(patches):
            found = forged.answer("analyze")["result"]["findings"]
            said = [finding["summary"] for finding in found if finding["kind"] == kind]
            check_equal(len(said), 1, f"findings of {kind} in {[finding['summary'] for finding in found]}")
            check(("lab-left:77" if kind == "earlier-hang" else "schedule+0x1") in said[0], said[0])
            is_panic = any(finding["kind"] == "sysrq" for finding in found)
            check_equal(is_panic, patches is hung, "a panic of sysrq")
            notes.append(said[0])


def a_mutex(forged):
    row = next(row for row in forged.program.result(forged.boot.dump, "waits") if row["kind"] == "mutex" and row["owner"])
    return row, f"&((struct mutex *){int(row['object'], 16):#x})->owner.counter"


def a_futex(forged):
    """Of a thread that lends its priority: its rt_mutex has the owner."""
    row = next(row for row in forged.program.result(forged.boot.dump, "waits") if row["comm"] == "pi-waits")
    return row, f"&((struct task_struct *){int(row['task'], 16):#x})->pi_blocked_on->lock->owner"


def ended_owners(forged, notes, find):
    """An owner word that leads to what was a task: that is said; one that leads to anything else says nothing."""
    row, word = find(forged)
    free = next(found["object"] for found in forged.program.result(forged.boot.dump, "objects task_struct --where \"state = 'free'\"")
                if forged.program.value(forged.boot.dump, f"((struct task_struct *){int(found['object'], 16):#x})->pid"))
    other = forged.program.result(forged.boot.dump, "objects dentry --where \"state = 'free'\" -n 1")[0]["object"]
    # Who sleeps for what another one has went to sleep after that one began.
    began = forged.place(f"&((struct task_struct *){int(free, 16):#x})->start_time")
    youngest = max(int(task["start"]) for task in forged.program.result(forged.boot.dump, "tasks"))
    for address, start, pattern in ((free, 1, r'its owner has ended; the last task there was \d+ ".*"'),
                                    (free, youngest, "its owner has ended: who is there now began after others had gone to sleep for it"),
                                    (other, 1, "its owner word names no task")):
        with forged.image.patched({forged.place(word): struct.pack("<Q", int(address, 16)), began: struct.pack("<Q", start)}):
            mine, = (found for found in forged.answer("waits")["result"] if found["task"] == row["task"])
            check_equal(mine["owner"], None, f"the owner at {address}")
            check(re.fullmatch(pattern, mine["owner_how"]), mine["owner_how"])
            said = forged.answer(f"analyze {row['pid']}")["result"]["findings"][0]["summary"]
            check(mine["owner_how"] in said, said)
            notes.append(mine["owner_how"])


def sleeping_owner(forged, notes):
    """An owner that does nothing but sleep, in a system call that takes no lock, is not accused as if it were certain."""
    row, word = a_mutex(forged)
    sleeper = forged.program.result(forged.boot.dump, "sql SELECT task FROM frames WHERE function = 'do_nanosleep' LIMIT 1")[0]["task"]
    with forged.image.patched({forged.place(word): struct.pack("<Q", int(sleeper, 16))}):
        found, = (found for found in forged.answer("analyze -v")["result"]["findings"] if "is said to hold up" in found["summary"])
        check_equal(found["sure"], "inferred", "confidence")
        check(any("do_nanosleep() takes no lock" in piece["text"] for piece in found["evidence"]), f"{found['evidence']}")
        notes.append(found["summary"])


def warnings_text(forged, notes):
    """What a WARN says of itself is told, be it a check that is known or not."""
    known, other = b"refcount_t: underflow; use-after-free.", b"lab0: a device with 1000 users is lost"
    whole = [evidence["text"] for evidence in forged.answer("analyze")["result"]["findings"][0]["evidence"]]
    check_equal(whole.count(f"the kernel said: {known.decode()}"), 1, "the text of the check")
    with forged.image.patched({at: other for at in forged.image.find_all(known)}):
        texts = [evidence["text"] for evidence in forged.answer("analyze")["result"]["findings"][0]["evidence"]]
        check_equal(texts.count(f"the kernel said: {other.decode()}"), 1, f"the text, in {texts}")
        check(not any("refcount_t" in text for text in texts), f"{texts}")
        notes.append(other.decode())


def never_up(program, boot):
    """What a CPU runs that never was up is no contradiction."""
    facts = program.result(boot.dump, "sys")
    check_equal((facts["cpus"], facts["cpus_online"], facts["problems"]), (2, 1, []), "CPUs that could be, are up, and what is wrong")
    check_equal(program.value(boot.dump, "(u64)runqueues:1.curr"), program.value(boot.dump, "(u64)runqueues:1.idle"), "what CPU 1 runs, by its run queue")


NEVER = 2**63 - 1
HZ = 250  # of the test kernels


def devices(forged, notes):
    """A transmit queue that its driver stopped, of a device that is up; a device that cannot be removed, by the log."""
    row = next(row for row in forged.program.result(forged.boot.dump, "netdevs") if row["name"] == "lo" and "UP" in row["flags"])
    device = f"((struct net_device *){int(row['netdev'], 16):#x})"
    state, sent, now = forged.place(f"&{device}->_tx->state"), forged.place(f"&{device}->_tx->trans_start"), forged.program.value(forged.boot.dump, "(u64)jiffies")
    stop = {state: struct.pack("<Q", 1), sent: struct.pack("<Q", now - 8 * HZ)}
    lines = [(float(found[1]), found[2].encode()) for found in re.finditer(r"^\[ *([\d.]+)\] (.*)$", forged.program.text(forged.boot.dump, "log"), re.M)]
    end = lines[-1][0]
    lines = [(time, line) for time, line in lines if len(line) > len(LEAVES) and len(forged.image.find_all(line)) == 1]
    early, late = lines[0], next(line for line in reversed(lines) if line[0] < end - 0.5)
    leave, left = ({forged.image.find_all(line)[0]: LEAVES.ljust(len(line))} for _, line in (late, early))
    cases = [(stop, "transmit-stopped", "network device lo: its driver has stopped transmit queue 0, and nothing is noted as sent there for"),
             (leave, "network-device", "waiting for lab9 to become free. Usage count = 3")]
    # Some guests die before a line of theirs is old.
    if end - early[0] > 21:
        cases.append((left, "earlier-hang", "waiting for lab9 to become free. Usage count = 3"))
    for patches, kind, words in cases:
        with forged.image.patched(patches):
            result = forged.answer("analyze")["result"]
            said, = [finding["summary"] for finding in result["findings"] if finding["kind"] == kind]
            check(words in said, said)
            notes.append(f"{kind}: {said.strip()}")
            # What was let go long ago does not sign the crash.
            check(kind != "earlier-hang" or "lab9" not in result["findings"][0]["summary"], result["findings"][0]["summary"])
    for what, patches in (("is down", {forged.place(f"&{device}->flags"): struct.pack("<I", 8)}), ("just sent", {sent: struct.pack("<Q", now - HZ)}),
                          ("never sent", {sent: bytes(8)}), ("was not stopped", {state: bytes(8)})):
        with forged.image.patched({**stop, **patches}):
            kinds = {finding["kind"] for finding in forged.answer("analyze")["result"]["findings"]}
            check("transmit-stopped" not in kinds, f"of a device that {what}: {kinds}")


def timers_of_cpus(forged, notes):
    """A CPU that is still running timers has none to come next: the first that is left was due."""
    other = 1 - cause(forged)[2]["cpu"]
    base = f"hrtimer_bases:{other}"
    first = forged.address(f"(void *){base}.clock_base[0].active.rb_root.rb_leftmost")
    never = {forged.place(f"&{base}.expires_next"): struct.pack("<q", NEVER)}
    due = {forged.place(f"&((struct timerqueue_node *){first:#x})->expires"): struct.pack("<q", 1000000000)}
    for patches, is_late in ((never, False), ({**never, **due}, True)):
        with forged.image.patched(patches):
            said = [finding["summary"] for finding in forged.answer("analyze")["result"]["findings"] if finding["kind"] in ("interrupts-off", "stuck-call")]
            check_equal(len(said), int(is_late), f"findings of CPU {other}: {said}")
            notes.extend(said)


def by_device(forged, notes):
    """A filesystem that was frozen by way of its block device is not frozen by user space."""
    row = next(row for row in forged.program.result(forged.boot.dump, "waits") if row["kind"] == "percpu_rwsem" and row["within_type"] == "struct super_block")
    device = f"((struct super_block *){int(row['within'], 16):#x})->s_bdev"
    for count, words in ((0, "its filesystem is frozen"), (1, "its filesystem is frozen, by who froze its block device")):
        with forged.image.patched({forged.place(f"&{device}->bd_fsfreeze_count"): struct.pack("<i", count)}):
            mine, = (found for found in forged.answer("waits")["result"] if found["task"] == row["task"])
            check(mine["owner_how"].startswith(words) and ("device" in mine["owner_how"]) == bool(count), mine["owner_how"])
            notes.append(mine["owner_how"])


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        forged = Forged(session.program, boot)
        for name, test in (("the task that panicked", panicking_task), ("the CPU that panicked", panicking_cpu), ("tasks that sleep", sleepers),
                           ("who took a file lock", file_locks), ("a frozen filesystem", frozen), ("counts", counts), ("CPUs that are possible", possible_cpus), ("a log that looks empty", log),
                           ("reports of the log", reports_of_the_log), ("network devices", devices), ("timers of CPUs", timers_of_cpus),
                           ("frozen by a block device", by_device)):
            with session.case(f"{boot.label}: {name}") as notes:
                test(forged, notes)
        os.unlink(forged.image.path)
    for name, find in (("stuck", a_mutex), ("held", a_futex)):
        for boot in boots_of_most(session, name):
            forged = Forged(session.program, boot)
            with session.case(f"{boot.label}: an owner that has ended") as notes:
                ended_owners(forged, notes, find)
            if name == "stuck":
                with session.case(f"{boot.label}: an owner that only sleeps") as notes:
                    sleeping_owner(forged, notes)
            os.unlink(forged.image.path)
    for boot in (Boot(kernel, "refcount") for kernel in kernel_names()):
        if not os.path.isdir(boot.folder):
            continue
        forged = Forged(session.program, boot)
        with session.case(f"{boot.label}: what a WARN said") as notes:
            warnings_text(forged, notes)
        os.unlink(forged.image.path)
    for boot in boots_of_most(session, "bug"):
        with session.case(f"{boot.label}: a CPU that never was up"):
            never_up(session.program, boot)
