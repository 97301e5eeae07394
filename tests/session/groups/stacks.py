# SPDX-License-Identifier: GPL-3.0-or-later
"""`stacks`, `foreach` and the filters of tasks, against /proc and against `bt` and `ps`."""

import collections
import re

from groups.backtraces import sort_tasks
from lib import boots, check, check_equal


def wchan(task):
    """The function that /proc/TID/wchan names; "" when it does not wait."""
    text = task.read("wchan").decode().strip("\0\n")
    return "" if text == "0" else text


def groups_of(program, boot, options=""):
    return program.result(boot.dump, f"stacks {options}".strip())


def members(groups):
    """{tid: its group} without the idle tasks."""
    return {task["pid"]: group for group in groups for task in group["tasks"] if task["pid"]}


def compare_partition(program, boot, notes):
    """Each task of ps is in one group; counts fall; the panicking group is the last."""
    groups = groups_of(program, boot)
    listed = [task["address"] for group in groups for task in group["tasks"]]
    check_equal(len(listed), len(set(listed)), "different tasks")
    tasks = {row["address"]: row for row in program.result(boot.dump, "ps")}
    missing = [row for address, row in tasks.items() if address not in set(listed)]
    check(all(row["state"] in "ZX" for row in missing), f"in no group: {missing}")
    check(not set(listed) - set(tasks), "a task that ps does not have")
    for group in groups:
        check_equal(group["count"], len(group["tasks"]), "count of a group")
    counts = [group["count"] for group in groups if not group["panicking"]]
    check_equal(counts, sorted(counts, reverse=True), "counts")
    check_equal([group["panicking"] for group in groups].count(True), 1, "panicking groups")
    check(groups[-1]["panicking"], "the panicking group is not the last")
    notes.append(f"{len(listed)} tasks in {len(groups)} groups")


def compare_waits(program, boot, notes):
    """What a task waits in is its wchan, for every task that slept until the crash."""
    chosen, _ = sort_tasks(program, boot)
    mine = members(groups_of(program, boot))
    wrong = []
    for tid in chosen:
        ours, theirs = mine[tid].get("waits_in", ""), wchan(boot.tasks[tid])
        # One that has been woken, and not yet run, waits in nothing for the kernel; its stack is
        # still that of the wait.
        if ours != theirs and (theirs or not boot.tasks[tid].stack):
            wrong.append(f"{tid}: {ours!r}, not {theirs!r}")
    check(not wrong, f"{len(wrong)} of {len(chosen)}: {'; '.join(wrong[:5])}")
    notes.append(f"{len(chosen)} tasks")


def compare_crowd(program, boot, notes):
    """The crowd's groups have as many members as the guest's wchans say."""
    crowd = {tid: task for tid, task in boot.tasks.items() if task.comm.startswith(b"crowd-")}
    wanted = collections.Counter(wchan(task) for task in crowd.values())
    check(sum(wanted.values()) == 2000 and len(wanted) >= 4, f"truth: {dict(wanted)}")
    mine = members(groups_of(program, boot))
    check_equal(dict(collections.Counter(mine[tid]["waits_in"] for tid in crowd)), dict(wanted),
                "tasks by what they wait in")
    for function, count in wanted.items():
        named = members(groups_of(program, boot, f"-w {function} crowd-*"))
        check_equal(len(named), count, f"stacks -w {function} crowd-*")
    notes.append(", ".join(f"{count} in {function}" for function, count in wanted.items()))


def compare_frames(program, boot):
    """The frames of a group are those of bt of each of its tasks (the first two are asked)."""
    for group in groups_of(program, boot):
        for task in group["tasks"][:2]:
            if not task["pid"]:
                continue
            trace = program.result(boot.dump, f"bt {task['address']}")
            check_equal([(frame["symbol"], frame["pc"]) for frame in trace["frames"]
                         if frame["kind"] != "user"],
                        [(frame["symbol"], frame["pc"]) for frame in group["frames"]
                         if frame["kind"] != "user"], f"frames of {task['pid']}")


# Words of foreach and options of it, and the same question to ps's rows.
FILTERS = (
    ("user", lambda row: not row["comm"].startswith("[") and row["mm"]),
    ("kernel", lambda row: not row["mm"]),
    ("-s D", lambda row: row["state"] == "D"),
    ("UN", lambda row: row["state"] == "D"),
    ("kernel IN", lambda row: not row["mm"] and row["state"] == "S"),
    ("kworker*", lambda row: row["comm"].startswith("kworker")),
    ("1", lambda row: row["pid"] == 1),
)


def compare_filters(program, boot, notes):
    rows = program.result(boot.dump, "ps")
    answers = program.answers(boot.dump, [f"print ((struct task_struct *){row['address']})->mm"
                                          for row in rows])
    for row, answer in zip(rows, answers):
        value = answer["result"]["value"]
        row["mm"] = int(value, 16) if isinstance(value, str) else value
    for words, wanted in FILTERS:
        traces = program.answers(boot.dump, [f"foreach {words} bt"])[0]["result"]
        ours = [trace["task"]["address"] for trace in traces]
        check_equal(sorted(ours), sorted(row["address"] for row in rows if wanted(row)),
                    f"tasks of foreach {words} bt")
        notes.append(f"{words}: {len(ours)}")
    shared = max(rows, key=lambda row: sum(other["mm"] == row["mm"] for other in rows)
                 if row["mm"] else 0)["mm"]
    traces = program.result(boot.dump, f"foreach --mm {shared:#x} bt")
    check_equal(len(traces), sum(row["mm"] == shared for row in rows), "foreach --mm")
    result = program.run(["-q", "-c", "foreach no-such-task bt", boot.dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message")


def compare_functions(program, boot):
    """-f and -m choose the groups that have such a frame."""
    everything = groups_of(program, boot)
    some = groups_of(program, boot, "-f vfs_*")
    wanted = [group for group in everything
              if any(re.match("vfs_", frame["symbol"] or "") for frame in group["frames"])]
    check(wanted, "no stack has a vfs_ function")
    check_equal([group["count"] for group in some], [group["count"] for group in wanted],
                "groups of -f vfs_*")
    modules = {frame.get("module") for group in everything for frame in group["frames"]} - {None}
    check(modules, "no stack has a module's function")
    for module in modules:
        some = groups_of(program, boot, f"-m {module}")
        check_equal(len(some), sum(any(frame.get("module") == module for frame in group["frames"])
                                   for group in everything), f"groups of -m {module}")


def check_without_arguments(program, boot):
    """bt -n is bt but for the arguments."""
    whole, short = program.result(boot.dump, "bt"), program.result(boot.dump, "bt -n")
    check(any("args" in frame for frame in whole["frames"]), "bt has no arguments")
    for frame in whole["frames"]:
        frame.pop("args", None)
    check_equal(short, whole, "bt -n")


def run(session):
    program = session.program
    for boot in boots(("boot1", "threads")):
        with session.case(f"{boot.label}: every task is in one group") as notes:
            compare_partition(program, boot, notes)
        with session.case(f"{boot.label}: what a task waits in is its wchan") as notes:
            compare_waits(program, boot, notes)
    for boot in boots(("threads",)):
        with session.case(f"{boot.label}: the crowd by wchan") as notes:
            compare_crowd(program, boot, notes)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: a group's frames are bt's"):
            compare_frames(program, boot)
        with session.case(f"{boot.label}: foreach chooses tasks") as notes:
            compare_filters(program, boot, notes)
        with session.case(f"{boot.label}: stacks by function and module"):
            compare_functions(program, boot)
        with session.case(f"{boot.label}: bt -n"):
            check_without_arguments(program, boot)
