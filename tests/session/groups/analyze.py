# SPDX-License-Identifier: GPL-3.0-or-later
"""Why it died: dumps whose cause is known, for their guests died of it on purpose. Those of guest/faults
and guest/stuck are told apart by what their functions and types are called there."""

import json
import os
import re

from lib import Boot, boots, boots_of_most, check, check_equal, kernel_names

# {boot: (kind, what the summary has to say, functions of which the first frame to look at is one)}
CAUSES = {
    "boot1": ("sysrq", r'^pid \d+ "collect" asked for the crash', "sysrq_handle_crash"),
    "boot2": ("nmi", "an NMI came", None),
    "kdump": ("sysrq", r'^pid \d+ "collect" asked for the crash', "sysrq_handle_crash"),
    "oom": ("out-of-memory", r'^memory ran out: (2\d\d\.\d MiB of 3\d\d|6\d\.\d MiB of 1[45]\d)\.\d MiB are anonymous memory; '
            r'pid \d+ "collect" has most of it, 2?[5-9]\d\.\d MiB$',
            "out_of_memory"),
    "oomslab": ("out-of-memory", r"^memory ran out: \d+\.\d MiB of 1\d\d\.\d MiB are unreclaimable slabs; the slab cache lab_leak "
                r"\(lab_leak_cache \[faults\]\) has most of it, \d+\.\d MiB$", "out_of_memory"),
    "oomvm": ("out-of-memory", r"^memory ran out: \d+\.\d MiB of 1\d\d\.\d MiB are vmalloc; lab_fault_oomvm\+0x\w+ \[faults\] has most of it, \d+\.\d MiB$",
              "out_of_memory"),
    "oomtmpfs": ("out-of-memory", r"^memory ran out: \d+\.\d MiB of 1\d\d\.\d MiB are tmpfs and shared memory; the file /tmp/greedy/spool has most of it, "
                 r"\d+\.\d MiB$", "out_of_memory"),
    "oomhuge": ("out-of-memory", r"^memory ran out: \d\d\.\d MiB of 1\d\d\.\d MiB are huge pages; nobody uses (\d+) of the \1 of 2\.0 MiB$", "out_of_memory"),
    "oomnode": ("out-of-memory", r'^memory ran out on node 1: no other is allowed to pid \d+ "collect" by its cpuset \(cgroup /near\); '
                r"\S+ \w+ of \S+ MiB are free there$", "out_of_memory"),
    "oomcg": ("cgroup-out-of-memory", r'^memory ran out in cgroup /greedy, whose limit is 16\.0 MiB: 1[56]\.\d MiB '
              r'of 16\.0 MiB are anonymous memory; pid \d+ "collect" has most of it$', "out_of_memory"),
    "hung": (None, "", ""),
    "stuck": ("sysrq", r'^pid \d+ "collect" asked for the crash', "sysrq_handle_crash"),
    "hungtask": ("deadlock", '"abba-one" waits for mutex .*held up by \\d+ "abba-two"', "abba_one"),
    "null": ("null-pointer", r"^lab_device_start\(\) \[faults\] read start of a struct lab_ops through NULL: "
             r"ops of the struct lab_device at 0x[0-9a-f]{16} was NULL$", "lab_device_start"),
    "errptr": ("error-pointer", "-ENOMEM as a pointer", "lab_fault_errptr"),
    "poison": ("list-poison", r"LIST_POISON1: lab_fault_poison\(\) made it so$", "lab_request_next_sector"),
    "free": ("use-after-free", r"^use after free: lab_device_finish_all\(\) .*slab cache lab_request",
             "lab_device_finish_all"),
    "wild": ("wild-pointer", "0xbad1dea0bad1dea", "lab_device_depth"),
    "user": ("user-pointer", r"^lab_device_configure\(\) \[faults\] read rate of a struct lab_config .*argument config of "
             r"lab_device_configure\(\)$", "lab_device_configure"),
    "overrun": ("guard-page", r"^lab_table_sum\S*\(\) \[faults\] read from 0x[0-9a-f]{13}000, the guard page behind 0x2000 bytes of vmalloc of "
                r"lab_fault_overrun\+0x\w+ \[faults\]$", "lab_table_sum"),
    "underrun": (None, r"^lab_table_before\S*\(\) \[faults\] read from 0x[0-9a-f]{13}ff8 through 0x[0-9a-f]{13}000, .*\b0x8 bytes below 0x2000 bytes of vmalloc of lab_fault_underrun\+",
                 "lab_table_before"),
    "usercode": ("user-jump", r"^lab_device_set_mode\S*\(\) \[faults\] called 0x[0-9a-f]+ \(an address of user space\), where the kernel must run nothing: notify of a "
                 "struct lab_device was ", "lab_device_set_mode"),
    "midway": ("midway-jump", r"^lab_device_set_mode\S*\(\) \[faults\] called 0x[0-9a-f]{16} \(lab_device_noted\S*\+0x[15] \[faults\]\), in the middle of an instruction: "
               "notify of a struct lab_device was ", "lab_device_set_mode"),
    "misaligned": ("alignment", r"^lab_device_load\S*\(\) \[faults\] read from 0x[0-9a-f]{15}[^0], no multiple of 16, as movaps wants", "lab_device_load"),
    "constant": ("read-only", r"^lab_device_rename\S*\(\) \[faults\] wrote to 0x[0-9a-f]{16} through 0x[0-9a-f]{16}, lab_null_ops\+0x10 \[faults\], "
                 "which is read-only", "lab_device_rename"),
    "noexec": ("data-jump", r"^lab_device_set_mode\S*\(\) \[faults\] called 0x[0-9a-f]{16} \(an object of the slab cache \S+\b.*\), where no code is: notify of a "
               "struct lab_device was that$", "lab_device_set_mode"),
    "jump": ("null-jump", r"^lab_device_set_mode\S*\(\) \[faults\] called 0x0 \(NULL\), where no code is: notify of a struct lab_device was NULL$",
             "lab_device_set_mode"),
    "bug": ("bug", r"(?:claims|faults)\.c:\d+ in lab_device_put", "lab_device_put"),
    "twice": ("bug", "BUG at lib/list_debug.c", "lab_request_remove"),
    "warn": ("warning", r"(?:claims|faults)\.c:\d+ in lab_device_check", "lab_device_check"),
    "refcount": ("warning", r"^a WARN that panics at lib/refcount\.c:\d+ in refcount_warn_saturate", "lab_device_release"),
    "panic": ("panic", r"^panic: lab0: the controller does not answer \(mode 7\)$", "lab_device_reset"),
    "init": ("init-died", r'^the first process, pid 1 "collect", was killed by signal 11, SIGSEGV$', "do_exit"),
    "noroot": ("no-root", r"^there is no root file system to start from: VFS: Unable to mount root fs on unknown-block\(0,0\)$", "mount_"),
    "mce": ("machine-check", r"^hardware has failed, says CPU 0: a memory controller, uncorrected, the processor's state is corrupt, "
            r"at address 0x12345000$", "mce_panic"),
    "unmapped": ("bad-pointer", r"^lab_table_sum\S*\(\) \[faults\] read from 0x[0-9a-f]{13}000, no area of vmalloc\b", "lab_table_sum"),
    "smash": ("stack-smashed", r"^lab_device_label\(\) wrote past a variable on its stack", "lab_device_label"),
    "stackend": ("stack-end", r'^the end of the kernel stack of pid \d+ "collect" was written over: found when it gave up its CPU, in lab_device_nest\+',
                 "lab_device_nest"),
    "usercopy": ("bug", r"^a BUG at mm/usercopy\.c:\d+ in usercopy_abort\(\), called by lab_device_export", "lab_device_export"),
    "fortify": ("bug", r"^a BUG at lib/string_helpers\.c:\d+ in .*, called by lab_device_describe", "lab_device_describe"),
    "doublefree": ("bug", r"^a BUG at mm/\S+:\d+ in .*, called by lab_\S+ \[faults\](, by way of lab_record_put \[faults\])?: an object that is free was freed again$", "lab_"),
    "kfence": ("kernel-report", r"^KFENCE found: use-after-free read in lab_record_first\+0x\w+/0x\w+ \[faults\]$", "lab_record_first"),
    "atomic": ("sleep-in-atomic", r'^pid \d+ "collect" gave up its CPU where it must not, with a spinlock in hand or preemption off: in lab_device_settle\+',
               "lab_device_settle"),
    "ext4": ("panic", r"^panic: EXT4-fs \(device loop1\): panic forced after error$", "ext4_handle_error"),
    "neighbour": ("slab-corruption", r"^the free list of the slab cache lab_slot is broken at 0x[0-9a-f]{16} "
                  r"\(lab_label \[faults\] points at the object before it\): ", "kmem_cache_alloc"),
    "keeper": ("slab-corruption", r"^the free list of the slab cache lab_slot is broken at 0x[0-9a-f]{16} "
               r"\(lab_records\+0x8 \[faults\] leads to that object by 2 pointers, the last at 0x[0-9a-f]{16}\): ", "kmem_cache_alloc"),
    "spilt": ("wild-pointer", r": timer of the struct lab_slot \(by its slab cache\) at 0x[0-9a-f]{16} was 0x4242424242424242 \(no address but text: \"BBBBBBBB\"\); "
              r"lab_label \[faults\] points at the object where these bytes begin$", ""),
    "initexit": ("init-died", r'^the first process, pid 1 "collect", ended with status 3$', "do_exit"),
    "divide": ("divide", r"^divide error in lab_device_rate", "lab_device_rate"),
    "overflow": ("stack-overflow", r"lab_device_path\(\) \[faults\] recursed \d+ times, 2\d\d bytes a turn", "lab_device_path"),
    "removed": ("jump", r"^a timer, given 0x[0-9a-f]{16} \(an object of the slab cache kmalloc-.*\), led to 0x[0-9a-f]{16} \(where modules lie.*\), "
                "where no code is$", "call_timer_fn"),
    "callback": ("wild-jump", r"^an RCU callback, given 0x[0-9a-f]{16} \(head\S* \[faults\]\), led to 0x7478742e6574616c \(no address but text: "
                 r"\"late\.txt\"\), where no code is$", "rcu_do_batch"),
    "timer": (None, "lab_", "lab_"),
    "softirq": (None, "lab_", "lab_"),
    "work": (None, "lab_", "lab_"),
    "soft": ("soft-lockup", r'did not schedule for too long: pid \d+ "lab-spinner" was in lab_device_poll', "lab_device_poll"),
    "irqoff": ("rcu-stall", r'grace period did not end: pid \d+ "lab-deaf" was in lab_device_poll', "lab_device_poll"),
    "ipi": ("stuck-call", r'^CPU 0 waits for CPU 1, which takes no interrupts for \d+\.\d s: pid \d+ "lab-deaf" was in lab_device_poll',
            "lab_device_poll"),
    "hard": ("hard-lockup", r'did not take interrupts for too long: pid \d+ "lab-deaf" was in lab_device_poll', "lab_device_poll"),
    "storm": ("interrupt-storm", r"^interrupts leave CPU \d no time: \d+ a second came in its last \d+\.\d s, most of them 10 \(lab0\)$", ""),
    "timers": ("soft-lockup", r"did not schedule for too long: a timer was in lab_device_expire", "lab_device_expire"),
    "spin": ("soft-lockup", r'did not schedule for too long: pid \d+ "lab-(left|right)" spins for the lock lab_(?!\1)(left|right) \[faults\], in lab_take_both',
             "lab_take_both"),
    "rcusleep": ("rcu-stall", r'grace period did not end: pid \d+ "lab-sleeper" sleeps while it reads, in lab_device_rest', "lab_device_rest"),
    "rcuresume": ("rcu-stall", r'grace period did not end: pid \d+ "lab-reader" was in lab_device_poll', "lab_device_poll"),
    "rcupreempt": ("rcu-stall", r'grace period did not end: pid \d+ "lab-reader" was preempted while it reads, in lab_device_poll', "lab_device_poll"),
    "rcu": ("rcu-stall", r'grace period did not end: pid \d+ "lab-reader" was in lab_device_poll', "lab_device_poll"),
}
# {boot: what a piece of evidence of the cause says}, out of the log and of the records of the kernel.
EVIDENCE = {
    "bug": r"^the condition, as code: .*; jle? taken, of users of a struct lab_device",
    "warn": r"^nothing leads past it: whoever calls the function gets there$",
    "free": r"^who has it still may be found by what points at it$",
    "timers": r'^it ran in a timer; pid \d+ ("ksoftirqd/\d+" is only the thread that runs them|"(?!ksoftirqd).*" was only interrupted)$',
    "overrun": r"^nothing is ever mapped there: it was read or written too far, or what was there is gone$",
    "constant": r"^a page is there, which must not be written to$",
    "noexec": r"^a page is there, whose bytes must not be run$",
    "twice": r"^the kernel said: list_del corruption, .* is LIST_POISON1",
    "refcount": r"^the kernel said: refcount_t: underflow; use-after-free\.$",
    "init": r"^the kernel said: collect\[1\]: segfault at 8 ",
    "mce": r"^bank 1 of CPU 0 has status 0xbe0000000000009f$",
    "noroot": r"^the kernel was started without root=$",
    "hard": r"^the timer of CPU 1 was due \d+\.\d s before the end$",
    "storm": r"^lab_device_interrupt \[faults\] handles it$",
    "oomtmpfs": r"^the file /tmp/greedy/spool of tmpfs has ",
    "oomnode": r"^other nodes have \d+\.\d MiB free$",
    "stackend": r"^the mark there is 0x2a instead of 0x57ac6e9d$",
    "usercopy": r"^the kernel said: usercopy: Kernel memory exposure attempt detected from SLUB object 'kmalloc-64'",
    "kfence": r"^it was freed by lab_fault_kfence \[faults\]$",
    "ext4": r"^the kernel said: EXT4-fs error \(device loop1\)",
    "spin": r"^CPU \d spins, too: pid \d+ \"lab-(left|right)\" for the lock lab_(left|right) \[faults\], in lab_take_both",
    "rcusleep": r"^the grace period began \d+\.\d s before the end$",
    "rcuresume": r"^it was preempted while it reads, and runs again$",
    "rcupreempt": r'^CPU 1, on which it would go on, runs pid \d+ "lab-hog" instead$',
    "neighbour": r"^the object at 0x\w+ led there, by its word at \+0x40, which was cleared since, and was 0x4242424242424242$",
    "keeper": r"^the object at 0x\w+ led there, by its word at \+0x40, which was cleared since, and was 0x4242424242424242$",
    "spilt": r"^they begin before that object, 0x0 bytes into an object of the slab cache lab_slot at 0x[0-9a-f]{16}$",
    "panic": r"^the kernel is tainted \(OE\), by the module faults \(OE, on the stack\)$",
}
# {boot: (kind, what its summary says, what one of its pieces of evidence says)} of what is told besides the cause.
ASIDES = {
    "leak": ("slab-growth", r"^the slab cache lab_leak \(lab_leak_cache \[faults\]\) has 5\.\d MiB, .* 100\d\d\d objects$",
             r"end of the list lab_records \[faults\], which has 100000 entries"),
    "leakbuffers": ("slab-growth", r"^the slab cache kmalloc-\S+ \(list lab_records \[faults\]\) has \d+\.\d MiB",
                    r"end of the list lab_records \[faults\], which has 100000 entries"),
    "leakpages": ("unaccounted-pages", r"^2[5-9]\.\d MiB of pages, 1\d % of memory, are in no account", "all accounts together"),
    "hog": ("starvation", r'^1 task ready to run has waited for CPU 1 for up to \d+\.\d s: pid \d+ "lab-hog", of real-time priority 50, has it$',
            r'"lab-starved", of real-time priority 1, has waited for'),
    "irqoff": ("interrupts-off", r'^CPU 1 takes no interrupts for (?:[4-9]|\d\d+)\.\d s: pid \d+ "lab-deaf" was in lab_device_poll',
               "the timer of CPU 1 was due"),
    "oops": ("earlier-oops", r"^the kernel oopsed \d+\.\d s before the end, in lab_device_start\+0x\w+ \[faults\]: BUG: kernel NULL pointer",
             "^the registers of the first of 1 oops$"),
    "order": ("allocation-failure", r"^memory is fragmented: 4\.0 MiB was not to be had in one piece, though \d+\.\d MiB are free, .*: lab_fragment_memory \[faults\] asked$",
              "page allocation failure: order:10"),
    "watermark": ("allocation-failure", r"^lab_fill \[faults\] got no memory \(4 KiB\): zone DMA32 of node 0 had \d+\.?\d* \w+ free, and keeps \d+\.?\d* \w+ "
                  r"for others than GFP_ATOMIC$", "^GFP_ATOMIC: whoever asks so must not sleep until memory is reclaimed$"),
    "cpuset": ("allocation-failure", r"^lab_fill \[faults\] got no memory \(4 KiB\): its cpuset near allows node 1 only, while node 0 has "
               r"\d+\.\d MiB free at the end$", r"^asked for: order 0 \(4 KiB\), GFP_USER\|__GFP_NORETRY, by pid \d+ \"collect\" for lab_fill \[faults\]$"),
    "fserror": ("io-error", r"^a device or file system failed, \d+\.\d s before the end: EXT4-fs error \(device loop1\)", "^the log has no other such line$"),
    "oomkill": ("oom-kill", r"^processes were killed for want of memory, \d+\.\d s before the end: .*Killed process \d+ \(lab-greedy\)",
                r"^the log has (no other such line|\d+ such lines, the last one )"),
    "leakvm": ("vmalloc-growth", r"^lab_leak_vmalloc\S* \[faults\] has 24\.0 MiB of vmalloc", "in 384 areas"),
}
# The same of a boot that has several: they are all said, in this order.
SEVERAL = {
    "held": [
        ("throttled", r"^1 task of cgroup /slow ready to run must not, for \d+\.\d s on CPU \d: its quota is used up$",
         r"^its quota is 2\.0 ms of 1000\.0 ms \(cpu\.max\); it was used up in \d+ of \d+ periods"),
        ("disk-unanswered", r"^disk loop6 \[loop\]: its driver has not ended \d requests?, the oldest for \d+\.\d s$",
         r"^loop6 is a loop device: its file is inode \d+, /image of dm-3$"),
        ("disk-unanswered", r"^disk vdb \[virtio_blk\]: its driver has not ended \d+ requests?, the oldest for \d+\.\d s$", r"^the oldest begins at sector \d+"),
        ("bpf-growth", r'^BPF maps have 3[6-8]\.\d MiB of vmalloc, 1\d % of memory; map \d+ "lab_array" has most$',
         r'^map \d+ "lab_hash" \(hash\) of 12288 entries has 1[23]\.\d MiB$'),
        ("vmalloc-growth", r"^array_map_alloc\S* has 24\.\d MiB of vmalloc", "took 24"),
        ("blocked", r'^\d+ "mapper-waits" waits for bio 0x[0-9a-f]+ \(for disk dm-1 \[dm_mod\]\), for up to \d+\.\d s: it was not sent: its device is suspended', "mapper-waits"),
    ],
    "tasklets": [("softirq-storm", r'^softirqs take CPU \d: pid \d+ "ksoftirqd/\d" .* \d\d+ % of the CPU of late$',
                  r"^the tasklet that is next there: lab_device_poll_again \[faults\]$")],
    "storm": [("soft-lockup", "^a CPU did not schedule for too long", "softlockup: hung tasks")],
}
# Nothing else than the boots above is accused of any of them.
ACCUSATIONS = {kind for kind, _, _ in ASIDES.values()} | {kind for said in SEVERAL.values() for kind, _, _ in said} - {"blocked", "soft-lockup"} | {"stuck-call", "kernel-report", "oom-kill", "io-error", "hardware-error",
                                                          "thermal", "earlier-warning", "earlier-hang"}
FAULTS = ("null", "bug", "overflow", "free", "warn", "twice", "timer", "soft", "rcu", "panic", "init")
# What else is said of one that runs in something else than a task.
CIRCUMSTANCES = {"timer": "a timer", "softirq": "a tasklet", "work": "a work item"}
# Who waits for one another in guest/stuck; the worker is whichever runs the item.
CIRCLES = [{"abba-one", "abba-two"}, {"three-a", "three-b", "three-c"}, {"flush-owner", "kworker"}]
# With PREEMPT_RT the kernel notes no reader of an rwsem.
READER_CIRCLE = {"rw-reader", "rw-writer"}
# The code there is not read: the cache's own members may be what is broken.
INFERRED = ("neighbour", "keeper")
# Some things are up to chance: what an NMI comes upon, for one.
VARIABLE = ("boot2", "hung", "soft", "rcu", "irqoff", "ipi")


def fault_boots(kernel):
    found = [Boot(kernel, name) for name in CAUSES]
    return [boot for boot in found if os.path.isdir(boot.folder)]


def dump_of(boot):
    return boot.path("vmcore.kdump") if boot.label.endswith("kdump") else boot.dump


def explains(program, boot, notes):
    kind, summary, function = CAUSES[boot.label.split()[1]]
    found = program.result(dump_of(boot), "analyze")
    check(found["findings"], "nothing is found")
    first = found["findings"][0]
    notes.append(first["summary"])
    check(kind is None or first["kind"] == kind, f"a {first['kind']}: {first['summary']}")
    check(re.search(summary, first["summary"]), first["summary"])
    check_equal(first["sure"], "inferred" if boot.label.split()[1] in INFERRED else "certain", f"how sure is: {first['summary']}")
    for evidence in first["evidence"]:
        check("(null)" not in evidence["text"] and evidence["text"], f"evidence: {evidence}")
    wanted = EVIDENCE.get(boot.label.split()[1], "")
    check(any(re.search(wanted, evidence["text"]) for evidence in first["evidence"]), f"no {wanted}: {first['evidence']}")
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", program.text(dump_of(boot), "help analyze")))
    untold = {finding["kind"] for finding in found["findings"]} - words
    check(not untold, f"help analyze lacks {untold}")
    place = found["frame"] and found["frame"]["place"]
    check(not function or place.startswith(function), f"look at {place}")
    name = boot.label.split()[1]
    if name == "hungtask":
        # Wherever one begins to look at the circle.
        check_equal(found["signature"], "1 deadlock abba_one/abba_two", "signature")
    if name == "callback":
        check_equal(found["signature"], "1 jump rcu_do_batch/head", "signature")
    # Whatever it came upon.
    if name == "mce":
        check_equal(found["signature"], "1 machine-check memory-controller", "signature")
    if name == "boot2":
        check_equal(found["signature"], "1 blocked vfs_write/ksys_write", "signature: of who hung before")
    if name in CIRCUMSTANCES:
        texts = [evidence["text"] for evidence in first["evidence"]]
        check(any(CIRCUMSTANCES[name] in text for text in texts), f"no {CIRCUMSTANCES[name]}: {texts}")
    return found


def evidence_runs(program, boot, found, notes):
    """Each command that a sentence names works, and shows an address that the sentence has."""
    pairs = [(evidence["command"], evidence["text"]) for finding in found["findings"]
             for evidence in finding["evidence"] if evidence["command"]]
    answers = program.answers(dump_of(boot), [command for command, _ in pairs], timeout=300)
    for (command, text), answer in zip(pairs, answers):
        check(answer["ok"], f"{command} ({text}): {answer.get('error')}")
    notes.append(f"{len(pairs)} commands")


def asides_are_told(program, boot, notes):
    """What is wrong with a machine that died of something else, and nothing else of that sort."""
    wanted, summary, text = ASIDES[boot.label.split()[1]]
    found = program.result(boot.dump, "analyze")
    mine = [finding for finding in found["findings"] if finding["kind"] == wanted]
    check_equal(len(mine), 1, f"findings of {wanted}")
    notes.append(mine[0]["summary"])
    check(re.search(summary, mine[0]["summary"]), mine[0]["summary"])
    check(any(re.search(text, evidence["text"]) for evidence in mine[0]["evidence"]), f"{mine[0]['evidence']}")
    others = [finding["kind"] for finding in found["findings"] if finding["kind"] in ACCUSATIONS - {wanted}]
    check(not others, f"also {others}")
    evidence_runs(program, boot, {"findings": mine}, notes)


def several_are_told(program, boot, notes):
    found = program.result(boot.dump, "analyze")["findings"]
    at = 0
    for kind, summary, text in SEVERAL[boot.label.split()[1]]:
        mine = [finding for finding in found if finding["kind"] == kind and re.search(summary, finding["summary"])]
        check_equal(len(mine), 1, f"findings of {kind} that say {summary}, of {[finding['summary'] for finding in found]}")
        check(any(re.search(text, evidence["text"]) for evidence in mine[0]["evidence"]), f"{mine[0]['evidence']}")
        check(found.index(mine[0]) >= at or kind == "blocked", f"{kind} comes too early")
        at = found.index(mine[0])
        evidence_runs(program, boot, {"findings": mine}, notes)
        notes.append(mine[0]["summary"])
    wanted = {kind for kind, _, _ in SEVERAL[boot.label.split()[1]]} | {found[0]["kind"]}
    others = [finding["kind"] for finding in found if finding["kind"] in ACCUSATIONS - wanted]
    check(not others, f"also {others}")


def nothing_is_accused(program, boot):
    found = [finding for finding in program.result(dump_of(boot), "analyze")["findings"] if finding["kind"] in ACCUSATIONS]
    check(not found, f"{found}")


def check_amount(text, name, wanted):
    """Only the largest kinds are listed: one that is not there is smaller than all that are."""
    found = re.search(rf"(?<!un){name}: ([\d.]+) MiB", text)
    smallest = min(float(amount) for amount in re.findall(r": ([\d.]+) MiB", text))
    is_right = abs(float(found[1]) - wanted) < 0.7 if found else wanted < smallest + 0.7
    check(is_right, f"{name}: {wanted} MiB wanted in {text}")


def amounts_are_the_kernels(program, boot, notes):
    """Who has the memory, against what the kernel itself put into the log when it ran out."""
    finding = program.result(boot.dump, "analyze")["findings"][0]
    text = next(evidence["text"] for evidence in finding["evidence"] if "anonymous memory:" in evidence["text"])
    with open(boot.path("console.txt"), encoding="utf-8", errors="replace") as file:
        console = file.read()
    if finding["kind"] == "cgroup-out-of-memory":
        wanted = {"anonymous memory": int(re.search(r"\] anon (\d+)$", console, re.M)[1])}
    else:
        wanted = {name: 4096 * int(re.search(rf" {word}:(\d+)", console)[1]) for name, word in (
            ("tmpfs and shared memory", "shmem"), ("unreclaimable slabs", "slab_unreclaimable"),
            ("reclaimable slabs", "slab_reclaimable"))}
    for name, size in wanted.items():
        check_amount(text, name, size / (1 << 20))
    notes.append(text)


def deadlocks_are_told(program, boot):
    found = [finding for finding in program.result(boot.dump, "analyze")["findings"] if finding["kind"] == "deadlock"]
    circles = [{re.sub("/.*", "", name) for name in re.findall(r'\d+ "([^"]+)" waits for', finding["evidence"][0]["text"]
                + " ".join(evidence["text"] for evidence in finding["evidence"]))} for finding in found]
    wanted = CIRCLES + ([] if "PREEMPT_RT" in boot.truth("version") else [READER_CIRCLE])
    for circle in wanted:
        check(circle in circles, f"no deadlock of {sorted(circle)}, but {circles}")
    check_equal(len(circles), len(wanted), "deadlocks")


def locks_are_named(program, boot):
    """A lock that is no variable, by the pointer of a module that leads to it, and by a declared type, whose lock lies as in stuck_queue."""
    found, = [finding["summary"] for finding in program.result(boot.dump, "analyze")["findings"] if "three-a" in finding["summary"]]
    check(re.search(r"; (threads\+0x\w+|three_queues(\+0x\w+)?) \[stuck\] points at the object that 0x\w+ lies in", found), found)
    path = os.path.join(program.scratch, "queues")
    with open(path, "w") as file:
        file.write("struct key_user *three_queues[3];\n")
    result, = program.run(["-q", "--json", "--declare", path, "-c", "analyze", boot.dump], status=0).objects()
    named, = [finding["summary"] for finding in result["result"]["findings"] if "three-a" in finding["summary"]]
    for number in range(3):
        check(re.search(rf"; 0x\w+ is three_queues\[{number}\]->cons_lock \[stuck\]", named), named)


def tasks_are_told(program, boot):
    """Of a task: what it waits for, and who has that."""
    for task, words in (("abba-one", '"abba-one" waits for mutex .*held up by \\d+ "abba-two"'),
                        ("lost-waits", '"lost-waits" waits for mutex .*held up by \\d+ "lost-owner"'),
                        ("owner-asleep", '"owner-asleep" sleeps in msleep')):
        found = program.result(boot.dump, f"analyze {task}")
        check_equal(found["task"]["comm"], task, "task")
        check(re.search(words, found["findings"][0]["summary"]), f"{task}: {found['findings'][0]}")
        check(found["findings"][0]["kind"] in ("waiting", "task"), found["findings"][0]["kind"])
        summary, texts = found["findings"][0]["summary"], [piece["text"] for piece in found["findings"][0]["evidence"]]
        check(summary not in texts, f"{summary} is its own evidence")


HEADS = {"asleep-waits1": '"owner-asleep" sleeps in msleep, called by stuck_sleep', "pipe-waits": '"pipe-stopped" is stopped in do_signal_stop',
         "lost-waits": r'"lost-owner" waits for completion .*lost_done', "stop-waits": '"stop-ignores" sleeps in msleep'}


def heads_are_told(program, boot):
    """What the one at the head of a chain does, of a task that waits for him."""
    for task, words in HEADS.items():
        texts = [piece["text"] for piece in program.result(boot.dump, f"analyze {task}")["findings"][0]["evidence"]]
        check(any(re.search(r"^\d+ " + words, text) for text in texts), f"{task}: no /{words}/ in {texts}")


TIERS = ("unknown", "guess", "inferred", "certain")
FACTS = {
    # boot: (kind of access, register's value, what is added, member's struct, member); None: no access
    "null": ("read", 0, 8, "struct lab_device", "ops"),
    "jump": ("fetch", None, None, None, None),
    "noexec": ("fetch", None, None, None, None),
    "overrun": ("read", None, None, None, None),
    "constant": ("write", None, 0x10, None, None),
    "user": ("read", None, None, None, None),
    "bug": None,
}


def facts_are_told(program, boot):
    """What the sentences are made of, and what the dump itself says of it."""
    expected = FACTS[boot.label.split()[1]]
    found = program.result(boot.dump, "analyze")
    first = found["findings"][0]
    check_equal((first["locks"], first["chain"]), ([], []), "locks of a fault")
    access, thing, code = first["access"], first["object"], first["instruction"]
    if code:
        shown, = program.result(boot.dump, f"dis {code['address']} 1")["instructions"]
        check_equal(code["text"], f"{shown['mnemonic']} {shown['operands']}".strip(), "instruction")
    if expected is None:
        check_equal((access, code["text"]), (None, "ud2"), "access")
        return
    kind, value, added, struct, member = expected
    check_equal(access["kind"], kind, "access")
    check_equal(code is None, kind == "fetch", f"instruction {code}")
    if access["register"]:
        total = (int(access["value"], 16) + int(access["added"], 16)) & (1 << 64) - 1
        check_equal(int(access["address"], 16), total, "address")
    if value is not None:
        check_equal(int(access["value"], 16), value, "register")
    if added is not None:
        check_equal(int(access["added"], 16), added, "what is added to it")
    check_equal((thing["type"], thing["member"]) if thing else (None, None), (struct, member), "object")
    if struct:
        pointer = program.value(boot.dump, f"(({struct} *){thing['address']})->{member}")
        check_equal(int(pointer, 16), value, f"{member} of the object")


def chains_are_told(program, boot):
    """Circles close: each one's owner is who waits next, and what he waits for is among the locks."""
    found = [finding for finding in program.result(boot.dump, "analyze")["findings"] if finding["kind"] == "deadlock"]
    check(found, "no deadlock")
    for finding in found:
        chain = finding["chain"]
        locks = {lock["address"]: lock["owner"] for lock in finding["locks"]}
        for link, after in zip(chain, chain[1:] + chain[:1]):
            check_equal(link["owner"], after["task"], f"owner of what {link['task']} waits for")
            check_equal(locks[link["lock"]], link["owner"], f"owner of {link['lock']}")
        weakest = min((link[key] for link in chain for key in ("sure", "owner_sure")), key=TIERS.index)
        check_equal(finding["sure"], weakest, "how sure")
        for lock in finding["locks"]:
            check(program.result(boot.dump, f"locks {lock['address']}"), f"locks does not have {lock}")


def cpus_are_told(program, boot):
    """What ran on a CPU, and where: as bt has it."""
    panicked = program.result(boot.dump, "analyze")
    for cpu in range(boot.cpu_count):
        found, trace = program.result(boot.dump, f"analyze -c {cpu}"), program.result(boot.dump, f"bt -c {cpu}")
        for key in ("pid", "comm", "address", "cpu"):
            check_equal(found["task"][key], trace["task"][key], f"CPU {cpu}: {key}")
        first = found["findings"][0]
        if trace["task"]["pid"] == panicked["task"]["pid"]:
            whole = panicked["findings"][0]
            # What hung before that is nothing of this CPU's.
            check(whole["summary"].startswith(first["summary"]), f'{first["summary"]}: of the CPU that panicked')
            check_equal({**first, "summary": None}, {**whole, "summary": None}, "of the CPU that panicked")
        else:
            check_equal(first["kind"], "running", f"CPU {cpu}: {first['summary']}")
            check(f'CPU {cpu} ran {trace["task"]["pid"]} "{trace["task"]["comm"]}"' in first["summary"], first["summary"])
            frame = found["frame"]
            check(frame is None or trace["frames"][frame["number"]]["pc"] == frame["pc"], f"no such frame: {frame}")
            check((frame is None) == ("user mode" in first["summary"]), first["summary"])
    for line, why in (("analyze -c 4095", "no CPU 4095"), ("analyze -c 0 1", "exclude")):
        answer, = program.answers(boot.dump, [line])
        check(not answer["ok"] and why in answer["error"], f"{line}: {answer}")


def is_said_to_be_missing(program, path, found):
    """The task_struct was left out: nobody has pid 0 and no name for that."""
    address = found["task"]["address"]
    answer, = program.answers(path, [f"rd {address} 1"])
    check("left out" in json.dumps(answer), f"the task_struct is in {path}")
    check_equal(found["task"]["comm"], None, "its name")
    check("pid 0" not in found["findings"][0]["summary"], found["findings"][0]["summary"])


def apart_from_hangs(finding):
    return {**finding, "summary": re.split(r"; before that(?: \(\w+\))?, ", finding["summary"])[0]}


def is_the_same_of_a_filtered_dump(program, boot):
    """What makedumpfile leaves of it is enough, and the signature is one. Who waits for whom may lack
    tasks: Debian 12's makedumpfile takes some slab pages of 6.12 for free ones."""
    wanted = program.result(boot.dump, "analyze")
    for flavour in ("zlib", "lzo"):
        path = boot.path("vmcore." + flavour)
        if os.path.exists(path):
            found = program.result(path, "analyze")
            if found["task"]["pid"] is None:
                is_said_to_be_missing(program, path, found)
                continue
            for key in ("panic", "task", "frame", "signature"):
                check_equal(found[key], wanted[key], f"{key} of vmcore.{flavour}")
            first, whole = found["findings"][0], wanted["findings"][0]
            check_equal(apart_from_hangs(first), apart_from_hangs(whole), f"the first finding of vmcore.{flavour}")


def run(session):
    program = session.program
    signatures = {}
    for kernel in kernel_names():
        for boot in fault_boots(kernel):
            found = None
            with session.case(f"{boot.label}: the cause") as notes:
                found = explains(program, boot, notes)
            if found is None:
                continue
            name = boot.label.split()[1]
            signatures.setdefault(name, {})[kernel] = found["signature"]
            with session.case(f"{boot.label}: its evidence can be asked for") as notes:
                evidence_runs(program, boot, found, notes)
            if name in FACTS:
                with session.case(f"{boot.label}: facts"):
                    facts_are_told(program, boot)
    for boot in boots(ASIDES):
        if os.path.isdir(boot.folder):
            with session.case(f"{boot.label}: what else is wrong") as notes:
                asides_are_told(program, boot, notes)
    for boot in (*boots_of_most(session, "held"), *(boot for boot in boots(SEVERAL.keys() - {"held"}) if os.path.isdir(boot.folder))):
        with session.case(f"{boot.label}: all that is wrong") as notes:
            several_are_told(program, boot, notes)
    for boot in boots(("oom", "oomcg")):
        if os.path.isdir(boot.folder):
            with session.case(f"{boot.label}: who has the memory") as notes:
                amounts_are_the_kernels(program, boot, notes)
    for boot in boots(("boot1", "boot2", "kdump", "threads", "bpf", "hole", "stuck", "oom", "small", "la57", "crowd", *FAULTS)):
        if os.path.isdir(boot.folder):
            with session.case(f"{boot.label}: nothing else is accused"):
                nothing_is_accused(program, boot)
    for boot in boots(("stuck", "hungtask")):
        if os.path.isdir(boot.folder):
            with session.case(f"{boot.label}: locks by who leads to them"):
                locks_are_named(program, boot)
            with session.case(f"{boot.label}: deadlocks"):
                deadlocks_are_told(program, boot)
            with session.case(f"{boot.label}: who waits for whom, as data"):
                chains_are_told(program, boot)
            with session.case(f"{boot.label}: a task that waits"):
                tasks_are_told(program, boot)
            with session.case(f"{boot.label}: who is at the head"):
                heads_are_told(program, boot)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: a filtered dump says the same"):
            is_the_same_of_a_filtered_dump(program, boot)
        with session.case(f"{boot.label}: of a CPU"):
            cpus_are_told(program, boot)
    with session.case("signatures: equal causes are equal, others are not") as notes:
        check(len(signatures) > 2, f"only {list(signatures)}")
        for name, found in signatures.items():
            check(name in VARIABLE or len(set(found.values())) == 1, f"{name}: {found}")
        by_text = {}
        for name, found in signatures.items():
            by_text.setdefault(min(found.values()), []).append(name)
        # The reader of "rcu", who was away for a while; a filesystem is frozen in each of the machines of
        # guest/states.
        alike = [names for names in by_text.values() if len(set(names) - {"boot2", "kdump", "stuck", "rcuresume"}) > 1]
        check(not alike, f"one signature for {alike}")
        notes.append(f"{len(signatures)} causes")
