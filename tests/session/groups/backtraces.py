# SPDX-License-Identifier: GPL-3.0-or-later
"""`bt` against the guest's own traces."""

import os
import re

import blind
import lockup
from lib import BOOT_NAMES, Failure, Session, boots, check, check_equal, task_facts
from traces import compare_panic, compare_sleeping, hidden_ranges

FACTS = ("nvcsw", "nivcsw")


def dump_tasks(program, dump):
    """{tid: row of ps} without the idle tasks."""
    return {row["pid"]: row for row in program.result(dump, "ps") if row["pid"]}


def running_now(program, boot):
    """The tids on the CPUs at the moment of the dump."""
    return set(program.value(boot.dump, f"runqueues:{cpu}.curr->pid")
               for cpu in range(boot.cpu_count))


def sort_tasks(program, boot):
    """([tids to compare], {reason: [tids left out]}).

    The truth is from some milliseconds before the crash.  A task whose counts
    of context switches are still the same has been asleep all the time, so its
    stack must be the same; of the others it may be another one by now.
    """
    now = dump_tasks(program, boot.dump)
    running = running_now(program, boot)
    known = sorted(set(now) & set(boot.tasks))
    facts = dict(zip(known, task_facts(program, boot.dump,
                                       [now[tid]["address"] for tid in known], FACTS)))
    chosen, left_out = [], {}
    for tid in known:
        task = boot.tasks[tid]
        if task.state not in "SDITt":
            reason = {"Z": "zombie, without a stack"}.get(task.state, "was running")
        elif not task.stack:
            reason = "empty stack file"
        elif tuple(facts[tid][name] for name in FACTS) != task.switches:
            reason = "ran between truth and crash"
        elif tid in running:
            reason = "woken, running at the crash"
        else:
            chosen.append(tid)
            continue
        left_out.setdefault(reason, []).append(tid)
    for reason, tids in (("gone at the crash", set(boot.tasks) - set(now)),
                         ("new at the crash", set(now) - set(boot.tasks))):
        if tids:
            left_out[reason] = sorted(tids)
    return chosen, left_out


def compare_all(program, boot, notes):
    """Every comparable sleeping task; says which others there are, and why."""
    chosen, left_out = sort_tasks(program, boot)
    check(len(chosen) >= 60, f"only {len(chosen)} tasks can be compared: {left_out}")
    hidden = hidden_ranges(boot)
    answers = program.answers(boot.dump, [f"bt {tid}" for tid in chosen])
    wrong = []
    for tid, answer in zip(chosen, answers):
        try:
            check(answer["ok"], f"{tid}: {answer.get('error')}")
            check_equal(answer["result"]["task"]["pid"], tid, "pid of the trace")
            compare_sleeping(boot, boot.tasks[tid], answer["result"], hidden)
        except Failure as failure:
            wrong.append(str(failure))
    if wrong:
        raise Failure(f"{len(wrong)} of {len(chosen)} tasks differ: " + "; ".join(wrong))
    notes.append(f"{len(chosen)} tasks")
    for reason, tids in sorted(left_out.items()):
        names = " ".join(str(tid) for tid in tids[:8])
        notes.append(f"not {len(tids)}: {reason} ({names}{' ...' if len(tids) > 8 else ''})")


def check_others(program, boot, notes):
    """Whatever cannot be compared still has to give an answer, and to end."""
    now = dump_tasks(program, boot.dump)
    frames = 0
    for answer in program.answers(boot.dump, [f"bt {tid}" for tid in sorted(now)]):
        check("result" in answer or "no stack" in answer.get("error", ""),
              f"{answer['command']}: {answer.get('error')}")
        frames += len((answer.get("result") or {}).get("frames", []))
    check(frames > len(now), "hardly any frames")
    notes.append(f"{frames} frames of {len(now)} tasks")


def check_cpus(program, boot):
    """bt -a and bt -c agree, and every CPU has a trace that begins in the kernel."""
    everywhere = program.result(boot.dump, "bt -a")
    check_equal(len(everywhere), boot.cpu_count, "traces of bt -a")
    for cpu, trace in enumerate(everywhere):
        check_equal(trace["task"]["cpu"], cpu, "cpu of the trace")
        check_equal(program.result(boot.dump, f"bt -c {cpu}"), trace, f"bt -c {cpu}")
        check(len(trace["frames"]) >= 3, f"CPU {cpu}: {len(trace['frames'])} frames")
        for frame in trace["frames"]:
            check(frame["kind"] not in ("scan", "fp"), f"CPU {cpu}: guessed frame {frame}")


def check_forms(program, boot):
    """By pid and by address of the task_struct: the same."""
    panicked = program.result(boot.dump, "bt")
    if panicked["task"]["pid"]:
        by_pid = program.result(boot.dump, f"bt {panicked['task']['pid']}")
        check_equal(by_pid, panicked, "bt PID")
    by_address = program.result(boot.dump, f"bt {panicked['task']['address']}")
    check_equal(by_address, panicked, "bt ADDRESS")
    result = program.run(["-q", "-c", "bt 4000000", boot.dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message")


def check_registers(program, boot, notes):
    """In text, registers stand above each interrupted frame and behind the last one of user
    mode."""
    interrupted = users = 0
    rows = [row["pid"] for row in program.result(boot.dump, "ps") if row["pid"]]
    answers = program.answers(boot.dump, [f"bt {pid}" for pid in rows])
    for pid, answer in zip(rows, answers):
        frames = (answer.get("result") or {}).get("frames", [])
        kinds = [frame["kind"] for frame in frames]
        wanted = [int(frame["pc"], 16) for frame in frames if frame["kind"] in ("exception", "user")]
        users += kinds.count("user")
        interrupted += kinds.count("exception")
        if "exception" not in kinds and users > 5:
            continue
        text = program.run(["-q", "-c", f"bt {pid}", boot.dump]).text
        shown = [int(rip, 16) for rip in re.findall(r"^ +RIP: ([0-9a-f]{16}) ", text, re.MULTILINE)]
        check_equal(shown, wanted, f"RIPs of {pid}")
        check("user" not in kinds[:-1], f"{pid}: frames after user mode")
    check(users > 5, f"{users} traces that end in user mode")
    notes.append(f"{interrupted} interrupted frames, {users} in user mode")


# Other panics and other machines, which make-dumps makes where it can.
OPTIONAL = ("oom", "hung", "la57")


def all_boots(session):
    """The boots that every kernel has, then those that are there."""
    yield from boots((*BOOT_NAMES, "bpf"))
    for boot in boots(OPTIONAL):
        if os.path.exists(os.path.join(boot.folder, "vmcore.elf")):
            yield boot
        else:
            session.skip(f"{boot.label}: bt", "no such dump was made")


# What the functions below a system call have of its arguments: {(number, function): {name: which}}.
# The numbers are x86-64's; "file" is the open file that the first one, a descriptor, stands for.
READ_WRITE = {"fd": 0, "file": 0, "buf": 1, "count": 2}
SELECT = {"n": 0, "inp": 1, "outp": 2, "exp": 3}
OF_SYSTEM_CALL = {
    (0, "ksys_read"): READ_WRITE, (0, "vfs_read"): READ_WRITE,
    (1, "ksys_write"): READ_WRITE, (1, "vfs_write"): READ_WRITE,
    (202, "do_futex"): {"uaddr": 0, "op": 1, "val": 2},
    (270, "do_select"): SELECT, (270, "core_sys_select"): SELECT,
}


def file_of(program, boot, task, descriptor):
    return int(program.value(boot.dump, f"((struct task_struct *){task})->files->fdt->"
                                        f"fd[{descriptor}]"), 16)


def compare_argument(program, boot, task, call, argument):
    """One that is known, with the system call's: (number, arguments)."""
    which = OF_SYSTEM_CALL[call[0], task["function"]].get(argument["name"])
    value = argument["value"]
    if which is None or value is None:
        return 0
    value = int(value, 16) if isinstance(value, str) else value & 0xffffffffffffffff
    wanted = call[1][which]
    if argument["name"] == "file":
        wanted = file_of(program, boot, task["address"], wanted)
    elif argument["name"] == "val":
        wanted &= 0xffffffff
    check_equal(value, wanted, f"{task['comm']}: {argument['name']} of {task['function']}")
    return 1


def compare_arguments(program, boot, notes):
    """Known arguments are those of the system call that /proc/PID/syscall tells."""
    chosen, _ = sort_tasks(program, boot)
    known = {}
    for tid in chosen:
        words = boot.tasks[tid].read("syscall").split()
        if len(words) < 7:
            continue
        call = int(words[0]), [int(word, 16) for word in words[1:7]]
        trace = program.result(boot.dump, f"bt {tid}")
        for frame in trace["frames"]:
            if (call[0], frame.get("symbol")) not in OF_SYSTEM_CALL:
                continue
            task = dict(trace["task"], function=frame["symbol"])
            for argument in frame.get("args", ()):
                known[frame["symbol"]] = known.get(frame["symbol"], 0) + \
                    compare_argument(program, boot, task, call, argument)
    for function in ("vfs_read", "vfs_write", "do_futex", "do_select"):
        check(known.get(function), f"nothing known of {function}: {known}")
    notes.append(", ".join(f"{count} of {name}" for name, count in sorted(known.items())))


def numbers_of(program, dump, tid, function):
    """{name: value} of what is known of the arguments of a function on a task's stack, and the
    line of text."""
    frame, = [frame for frame in program.result(dump, f"bt {tid}")["frames"]
              if frame.get("symbol") == function]
    lines = program.run(["-q", "-c", f"bt {tid}", dump]).text.splitlines()
    line, = [line for line in lines if f" {function}+0x" in line]
    return {argument["name"]: argument["value"] for argument in frame["args"]}, line


# States of the guest whose arguments are known from its source: {name: (function, numbers)}. The
# negative one is AT_FDCWD, the long one MAX_SCHEDULE_TIMEOUT.
NUMBERS = {
    b"frozen-mkdir": ("do_mkdirat", {"dfd": -100, "mode": 0o700}),
    b"accept": ("schedule_timeout", {"timeout": 2**63 - 1}),
}


def check_numbers(program, boot, notes):
    """Numbers among the arguments are numbers in JSON and decimal in text, with their sign."""
    for comm, (function, wanted) in NUMBERS.items():
        tids = [tid for tid, task in boot.tasks.items() if task.comm == comm]
        check(tids, f"no task {comm}")
        found, line = numbers_of(program, boot.dump, tids[0], function)
        check_equal({name: found[name] for name in wanted}, wanted, f"numbers of {function}")
        for name, value in wanted.items():
            check(re.search(rf"\b{name}={value}[,)]", line), f"not {name}={value}: {line}")
            notes.append(f"{name}={value}")


def run(session: Session):
    program = session.program
    for boot in all_boots(session):
        with session.case(f"{boot.label}: bt of the panic is the console's trace") as notes:
            compare_panic(boot, program.result(boot.dump, "bt"), notes)
        with session.case(f"{boot.label}: bt PID is /proc/PID/stack") as notes:
            compare_all(program, boot, notes)
        with session.case(f"{boot.label}: bt of every task") as notes:
            check_others(program, boot, notes)
        with session.case(f"{boot.label}: bt -a and bt -c"):
            check_cpus(program, boot)
        with session.case(f"{boot.label}: bt by pid and by address"):
            check_forms(program, boot)
        with session.case(f"{boot.label}: registers between the frames") as notes:
            check_registers(program, boot, notes)
    for boot in boots():
        with session.case(f"{boot.label}: arguments are those of /proc/PID/syscall") as notes:
            compare_arguments(program, boot, notes)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: numbers among the arguments") as notes:
            check_numbers(program, boot, notes)
    without_registers(session)


def without_registers(session):
    """Each dump once more, blinded."""
    program = session.program
    made = [boot for boot in boots((*OPTIONAL, "small")) if os.path.exists(boot.folder)]
    for boot in (*boots((*BOOT_NAMES, "bpf", "threads", "kdump")), *made):
        with session.case(f"{boot.label}: no CPU has registers") as notes:
            blind.check_all(program, boot, notes)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: a CPU without registers") as notes:
            blind.check_one(program, boot, notes)
    for boot in boots(("kdump",)):
        with session.case(f"{boot.label}: registers in memory alone") as notes:
            blind.check_memory_notes(program, boot, notes)
    for boot in boots(("lockup",)):
        if not os.path.exists(boot.folder):
            session.skip(f"{boot.label}: CPUs that hang", "no such dump was made")
            continue
        for dump in lockup.DUMPS:
            with session.case(f"{boot.label}: {dump}: CPUs that hang, without registers") as notes:
                lockup.check_boot(program, boot, dump, notes)
    for boot in boots(("deaf",)):
        if not os.path.exists(boot.folder):
            session.skip(f"{boot.label}: a CPU that takes no NMI", "no such dump was made")
            continue
        with session.case(f"{boot.label}: a CPU that takes no NMI, and a kexec") as notes:
            lockup.check_deaf(program, boot, notes)
        with session.case(f"{boot.label}: no CPU has registers") as notes:
            blind.check_all(program, boot, notes)
