# SPDX-License-Identifier: GPL-3.0-or-later
"""`ps` against /proc/TID of every task."""

import re

from lib import boots, check, check_equal, escaped, task_facts

# Workers come and go by themselves, also between the truth and the crash.
TRANSIENT = re.compile(rb"kworker/|ext4lazyinit")
WORKER = re.compile(rb"^(kworker/u?\d+:\d+[A-Z]*)[-+].*")
PF_WQ_WORKER = 0x00000020
PF_KTHREAD = 0x00200000
COMM_SIZE = 15  # TASK_COMM_LEN without its NUL


def rows_of(program, dump):
    """(idle tasks by cpu, the others by pid)."""
    rows = program.result(dump, "ps")
    idle = {row["cpu"]: row for row in rows if not row["pid"]}
    others = {row["pid"]: row for row in rows if row["pid"]}
    check_equal(len(idle) + len(others), len(rows), "different tasks in ps")
    return idle, others


def compare_tasks(program, boot, notes):
    idle, now = rows_of(program, boot.dump)
    check_equal(sorted(idle), list(range(boot.cpu_count)), "CPUs of the idle tasks")
    for cpu, row in idle.items():
        check_equal(row["comm"], f"swapper/{cpu}", f"comm of CPU {cpu}'s idle task")
    for tid in sorted(set(boot.tasks) - set(now)):
        check(TRANSIENT.match(boot.tasks[tid].comm), f"{tid}, {boot.tasks[tid].comm}, is missing")
    for tid in sorted(set(now) - set(boot.tasks)):
        check(TRANSIENT.match(now[tid]["comm"].encode()), f"there was no {now[tid]}")
    known = sorted(set(now) & set(boot.tasks))
    check(len(known) > 100, f"only {len(known)} tasks")
    facts = task_facts(program, boot.dump, [now[tid]["address"] for tid in known],
                       ("flags", "nvcsw", "nivcsw", "tgid"))
    unchanged = 0
    for tid, fact in zip(known, facts):
        row, task = now[tid], boot.tasks[tid]
        compare_comm(row, task, fact["flags"])
        check_equal(row["ppid"], task.parent, f"ppid of {tid}")
        check_equal(fact["tgid"], task.group, f"tgid of {tid}")
        # One that runs, or has just been woken, may be between two states.
        if (fact["nvcsw"], fact["nivcsw"]) == task.switches and row["state"] != "R" \
                and not row["running"] and task.state != "?":
            check_equal(row["state"], task.state, f"state of {tid}")
            unchanged += 1
    check(unchanged > 60, f"only {unchanged} tasks have not run since the truth")
    notes.append(f"{len(known)} tasks, the states of {unchanged}")
    check_text(program, boot)


def compare_comm(row, task, flags):
    """/proc/PID/comm adds to a worker's comm what it works on, after - or +, and
    shows the full name of a kernel thread, of which comm holds the beginning
    (Linux 5.17, d6986ce24fc0)."""
    theirs = task.comm
    if flags & PF_WQ_WORKER:
        theirs = WORKER.sub(rb"\1", theirs)
    if flags & PF_KTHREAD:
        theirs = theirs[:COMM_SIZE]
    # JSON holds the very bytes, text their escapes.
    check_equal(row["comm"].encode("utf-8", "surrogateescape"), theirs, f"comm of {row['pid']}")


def check_text(program, boot):
    """The text has a line for each task, with control characters escaped."""
    lines = program.text(boot.dump, "ps").splitlines()
    odd = [task for task in boot.tasks.values() if re.search(rb"[\x00-\x1f]", task.comm)]
    check(odd, "truth: no task with control characters in its comm")
    for task in odd:
        check(any(str(task.tid) in line and escaped(task.comm) in line for line in lines),
              f"no line with {escaped(task.comm)} in ps")


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: ps is /proc") as notes:
            compare_tasks(session.program, boot, notes)
