#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares `bt` of one dump with what its guest said of itself.

  tests/session/compare_stacks.py BTFCRASH DUMP_DIR [DUMP]

DUMP_DIR is a folder of testdata/cache/KERNEL, or what run-capture left. Every task that has not run
since the guest wrote /proc/PID/stack must have that stack; the panic must have the console's trace.
Prints "ok" or "FAIL" a task and the sums; the exit status is 1 if one failed.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lib  # noqa: E402
import traces  # noqa: E402
from groups.backtraces import FACTS  # noqa: E402

DUMP_NAMES = ("vmcore.elf", "vmcore.kdump")


def find_dump(folder):
    for name in DUMP_NAMES:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"no {' or '.join(DUMP_NAMES)} in {folder}")


def sleeping(program, boot, dump, stacks):
    """The answers of tasks that are where the truth saw them."""
    known = [answer for answer in stacks if answer["task"]["pid"] in boot.tasks]
    facts = lib.task_facts(program, dump, [answer["task"]["address"] for answer in known], FACTS)
    for answer, fact in zip(known, facts):
        task = boot.tasks[answer["task"]["pid"]]
        has_run = tuple(fact[name] for name in FACTS) != task.switches
        if task.stack and task.state in "SDITt" and not has_run:
            yield task, answer


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    folder = os.path.abspath(sys.argv[2])
    dump = sys.argv[3] if len(sys.argv) == 4 else find_dump(folder)
    program = lib.Program(os.path.dirname(os.path.abspath(sys.argv[1])))
    program.path = os.path.abspath(sys.argv[1])
    boot = lib.Boot.of_folder(os.path.basename(folder), folder, folder)
    session = lib.Session(program)
    session.group = "stacks"
    with session.case("panic") as notes:
        traces.compare_panic(boot, program.result(dump, "bt"), notes)
    hidden = traces.hidden_ranges(boot)
    for task, answer in sleeping(program, boot, dump, program.result(dump, "foreach bt")):
        with session.case(f"{task.tid} {lib.escaped(task.comm)}"):
            traces.compare_sleeping(boot, task, answer, hidden)
    print(lib.summary(session.passed, session.failures, session.skipped))
    sys.exit(1 if session.failed else 0)


if __name__ == "__main__":
    main()
