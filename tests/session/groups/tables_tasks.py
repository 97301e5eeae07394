# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of what tasks do to one another against what the guest said: signals, limits, queues, pipes. All rows."""

import os
import re

from lib import boots, check, check_equal

# They went on until the machine died.
BUSY = re.compile(rb"init|collect|sh$")
NAMES = ("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ "
         "VTALRM PROF WINCH IO PWR SYS").split()


def has_file(task, name):
    return os.path.exists(os.path.join(task.folder, name))


def signal_set(text):
    """The number that /proc has of names."""
    if text == "all":
        return (1 << 64) - 1
    numbers = (NAMES.index(word) + 1 if word in NAMES else int(word) for word in (text or "").split(",") if word)
    return sum(1 << (number - 1) for number in numbers)


def signals(program, boot, notes):
    """SigPnd, ShdPnd, SigBlk, SigIgn and SigCgt of /proc/TID/status, of all threads."""
    rows = {row["pid"]: row for row in program.result(boot.dump, "signals -a") if row["pid"]}
    compared, pending = 0, 0
    for tid, task in sorted(boot.tasks.items()):
        if BUSY.match(task.comm) or "SigPnd" not in task.status:
            continue
        row = rows[tid]
        got = [signal_set(row[column]) for column in ("pending", "shared", "blocked", "ignored", "caught")]
        wanted = [int(task.status[key], 16) for key in ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")]
        check_equal([f"{number:x}" for number in got], [f"{number:x}" for number in wanted], f"signals of {tid}, {task.comm}")
        compared += 1
        pending += bool(got[0] or got[1])
    check(compared > 60 and pending, f"{compared} tasks, {pending} with pending signals")
    check_equal(len(rows), len([row for row in program.result(boot.dump, "ps") if row["pid"]]), "threads")
    notes.append(f"{compared} tasks, {pending} with pending signals")


def limits(program, boot, notes):
    rows = {}
    for row in program.result(boot.dump, "limits -a"):
        rows.setdefault(row["pid"], []).append((row["soft"], row["hard"]))
    compared = 0
    for tid, task in sorted(boot.tasks.items()):
        if tid != task.group or not has_file(task, "limits"):
            continue
        wanted = []
        for line in task.read("limits").decode().splitlines()[1:]:
            ends = re.match(r"Max [a-z ]+? {2,}(\S+) +(\S+)", line).groups()
            wanted.append(tuple(None if word == "unlimited" else word for word in ends))
        check_equal([tuple(None if word is None else str(word) for word in pair) for pair in rows.get(tid, ())], wanted,
                    f"limits of {tid}, {task.comm}")
        compared += 1
    check(compared > 50, f"only {compared} processes")
    notes.append(f"{compared} processes")


def runnable(program, boot, notes):
    """Those that the scheduler calls queued, on their CPUs; as many as the queues count; the spinner of the last CPU."""
    rows = program.result(boot.dump, "runnable")
    tasks = program.result(boot.dump, "ps | print {pid, on_rq}")
    cpus = {row["address"]: row["cpu"] for row in program.result(boot.dump, "ps")}
    queued = sorted((cpus[row["address"]], row["pid"]) for row in tasks if row["on_rq"] == 1 and row["pid"])
    got = sorted((row["cpu"], row["pid"]) for row in rows if row["class"] != "idle")
    check_equal(got, queued, "tasks that are queued")
    for queue in program.result(boot.dump, "runqueues"):
        mine = [row for row in rows if row["cpu"] == queue["cpu"]]
        counted = [row for row in mine if row["class"] != "idle"]
        check_equal(len(counted), queue["nr_running"], f"tasks of CPU {queue['cpu']}")
        check_equal([row["pid"] for row in mine if row["running"]], [queue["pid"]], f"who runs on CPU {queue['cpu']}")
    spinner, = (int(line.split()[0]) for line in boot.truth("states").splitlines() if line.split()[1] == "spinner")
    check((boot.cpu_count - 1, spinner) in got, f"spinner {spinner} is not in {got}")
    notes.append(f"{len(rows)} tasks")


def waits(program, boot, notes):
    """As `locks` has them, which is compared with what the guest said."""
    def facts(row, age):
        return (row["pid"], row["task"], row["state"], row["kind"], row["object"], row["type"], row["mode"], row["owner"],
                row["function"], row["caller"], row["within"], age)

    rows = [facts(row, int(row["age"]) // 10 ** 6 if row["age"] is not None else None)
            for row in program.result(boot.dump, "waits")]
    listed = [facts(row, row["milliseconds"]) for row in program.result(boot.dump, "locks")]
    check(len(listed) > 3, f"{len(listed)} tasks wait")
    missing = [row for row in listed if row not in rows]
    check_equal(missing, [], "tasks of locks")
    notes.append(f"{len(rows)} tasks, {len(listed)} of locks")


def open_modes(task):
    """{FD: flags of open(2)} of /proc/PID/fdinfo."""
    table = {}
    for line in task.read("fdinfo").decode("utf-8", "surrogateescape").splitlines():
        number, _, rest = line.partition(" ")
        flags = re.search(r"flags:\\?t?\s*(\d+)", rest)
        if number.isdigit() and flags:
            table[number] = int(flags[1], 8)
    return table


def pipes(program, boot, notes):
    """The ends that /proc/PID/fd and fdinfo have; the full one is full, and as long as the kernel says."""
    wanted = {}
    for tid, task in boot.tasks.items():
        if tid != task.group or not has_file(task, "files") or not has_file(task, "fdinfo"):
            continue
        modes = open_modes(task)
        for line in task.read("files").decode("utf-8", "surrogateescape").splitlines():
            number, _, target = line.partition(" ")
            match = re.fullmatch(r"pipe:\[(\d+)\]", target)
            if match and not BUSY.match(task.comm):
                ends = wanted.setdefault(int(match[1]), (set(), set()))
                mode = modes[number] & 3
                ends[0].update({tid} if mode in (0, 2) else ())
                ends[1].update({tid} if mode in (1, 2) else ())
    rows = {row["ino"]: row for row in program.result(boot.dump, "pipes")}

    def pids(text):
        return {int(word) for word in text.split(",") if word}

    for ino, (readers, writers) in wanted.items():
        row = rows[ino]
        check_equal((pids(row["read_by"]), pids(row["written_by"])), (readers, writers), f"ends of pipe {ino}")
    busy = {ino for ino in rows if ino not in wanted}
    check(len(wanted) >= 5 and len(busy) < 5, f"{len(wanted)} pipes, {busy} of those who went on")
    owner, = (int(line.split()[0]) for line in boot.truth("states").splitlines() if line.split()[1] == "pipe-write")
    full = [row for row in rows.values() if pids(row["written_by"]) == {owner}]
    check_equal([(row["used"], row["max_usage"], row["bytes"]) for row in full], [(16, 16, 65536)], "the full pipe")
    for row in rows.values():
        pipe = f"((struct pipe_inode_info *){row['pipe']})"
        check_equal((row["used"], row["readers"], row["writers"]),
                    tuple(program.value(boot.dump, f"{pipe}->{member}") for member in ("head - " + pipe + "->tail", "readers", "writers")),
                    "members")
    notes.append(f"{len(rows)} pipes, {len(wanted)} with all ends")


SOFTWARE = 1  # PERF_TYPE_SOFTWARE


def perfevents(program, boot, notes):
    """The three that a state opened, of what and on which CPU; each has an open file that leads to it."""
    rows = program.result(boot.dump, "perfevents -a")
    owner, = (int(line.split()[0]) for line in boot.truth("states").splitlines() if line.split()[1] == "perf")
    check_equal([(row["pid"], row["type"], int(row["config"]), row["cpu"], row["target_pid"], row["pmu"]) for row in rows if row["pid"] == owner],
                [(owner, SOFTWARE, 2, -1, owner, "software"), (owner, SOFTWARE, 3, 0, owner, "software"),
                 (owner, SOFTWARE, 4, 0, None, "software")], "events")
    opened = [line for line in boot.tasks[owner].read("files").decode().splitlines() if line.endswith("anon_inode:[perf_event]")]
    check_equal(len(opened), 3, "truth: files")
    files = program.result(boot.dump, f"files {owner}")
    held = {program.value(boot.dump, f"((struct file *){row['file']})->private_data")
            for row in files if row["path"] == "anon_inode:[perf_event]"}
    check_equal({row["event"] for row in rows if row["pid"] == owner}, held, "what its files lead to")
    notes.append(f"{len(rows)} events")


CASES = (("signals are /proc/TID/status", signals), ("limits are /proc/PID/limits", limits), ("runnable are queued", runnable),
         ("waits are those of locks", waits), ("pipes are /proc/PID/fd", pipes), ("perfevents are the state's", perfevents))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
