# SPDX-License-Identifier: GPL-3.0-or-later
"""A big machine: 4 TB of RAM, 70,000 segments, 512 CPUs, 50,000 tasks (stretch.py)."""

import os
import subprocess
import sys

from lib import Boot, check, check_equal, kernel_names
from stretch import FIRST_PID, stretch

TERABYTE = 1 << 40
CPUS, TASKS, SEGMENTS, RAM = 512, 50000, 70000, 4 * TERABYTE
LITTLE_RAM = SEGMENTS * (1 << 20)
OPEN = "print init_task.comm"
# Processor time, as others may keep the machine busy; more than the dump before it was stretched.
OPEN_SECONDS = 0.3
REPORT_SECONDS = 30
OPEN_MEBIBYTES = 10         # more than the dump before it was stretched
RAM_NOISE_MEBIBYTES = 4     # a bit for each page of 4 TB would be 128 MiB
RAM_SHARE = 0.0001
BUDGETS = (("bt -a", 32), ("log", 32), ("ps", 32), ("report", 64))


# A process begins with the peak of the one that started it: a small one has to.
MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measure(program, dump, line):
    """(lines, seconds of processor, MiB at most)."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, program.path, "-q", "--no-cache",
                           "-c", line, dump], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=program.environment())
    check_equal(done.returncode, 0, f"{line}: exit status ({done.stderr[-2000:]!r})")
    seconds, peak = done.stderr.split()[-2:]
    return done.stdout.decode().splitlines(), float(seconds), int(peak) / 1024


def compare_opening(program, boot, notes):
    """Opening costs a little for each segment, and nothing for RAM."""
    path = os.path.join(program.scratch, "segments")
    rows = [measure(program, boot.dump, OPEN)]
    for ram in (LITTLE_RAM, RAM):
        stretch(program, boot, path, segments=SEGMENTS, ram=ram)
        rows.append(measure(program, path, OPEN))
        os.remove(path)
    for (_, seconds, peak), what in zip(rows, ("384 MB", f"{SEGMENTS} segments",
                                               f"{RAM >> 40} TB in {SEGMENTS} segments")):
        notes.append(f"{what}: {seconds:.2f} s {peak:.1f} MiB")
    (small, floor, least), (little, _, more), (big, seconds, most) = rows
    check(small == little == big, "other answers")
    check(seconds - floor <= OPEN_SECONDS, f"opening takes {seconds:.2f} s, not {floor:.2f}")
    check(most - least <= OPEN_MEBIBYTES, "; ".join(notes))
    check(abs(most - more) <= RAM_NOISE_MEBIBYTES, "; ".join(notes))


def compare_big(program, boot, notes):
    """What a capture kernel is asked, in the same bounds as of small machines."""
    path = os.path.join(program.scratch, "big")
    stretch(program, boot, path, CPUS, TASKS, SEGMENTS, RAM)
    found, over = {}, []
    for line, budget in BUDGETS:
        found[line], seconds, peak = measure(program, path, line)
        notes.append(f"{line}: {seconds:.2f} s {peak:.1f} MiB")
        if peak > budget + RAM_SHARE * (RAM >> 20):
            over.append(line)
        if seconds > REPORT_SECONDS:
            over.append(line)
    os.remove(path)
    check(not over, f"too much for {', '.join(over)}: {'; '.join(notes)}")
    copies = sum(line.endswith(" [kthreadd]") for line in found["ps"])
    check_equal(copies, TASKS + 1, "kthreadd and its copies")
    check(any(str(FIRST_PID + TASKS - 1) in line for line in found["ps"]), "ps: no last task")
    check_equal(sum(line.startswith(("PID:", "CPU")) for line in found["bt -a"]), CPUS, "stacks")
    check(len(found["report"]) > TASKS, "report: no tasks")


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        with session.case(f"{kernel}: opening costs segments, not RAM") as notes:
            compare_opening(session.program, boot, notes)
        with session.case(f"{kernel}: {CPUS} CPUs, {TASKS} tasks, {RAM >> 40} TB") as notes:
            compare_big(session.program, boot, notes)
