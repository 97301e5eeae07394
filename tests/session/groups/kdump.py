# SPDX-License-Identifier: GPL-3.0-or-later
"""The true thing: a dump that a capture kernel wrote, and /proc/vmcore within it."""

import os
import shutil
import subprocess
import sys

from groups.backtraces import compare_all
from groups.log import compare_console
from groups.tasks import COMM_SIZE, compare_tasks
from lib import ROOT, Boot, Result, check, check_equal, kernel_names, parse_json, value_of
from traces import compare_panic

CAPTURE_SECONDS = 400
RUNS = (
    ["-q", "--json", "-c", "print init_task.comm", "-c", "bt", "-c", "ps"],
    ["-q", "-c", "log"],
    ["-q", "-c", "print init_task", "-c", "bt"],
)
MEBIBYTES = 40


def compare_saved(program, boot, notes):
    """The saved file against its own guest."""
    dump = boot.path("vmcore.kdump")
    check_equal(program.value(dump, "init_task.comm"), "swapper/0", "init_task.comm")
    compare_panic(boot, program.result(dump, "bt"), notes)
    compare_console(boot, program.text(dump, "log").splitlines(), notes)
    facts = program.result(dump, "sys")
    check(facts["kdump"], "sys does not say that it is a kdump")


class Saved(Boot):
    """A boot whose dump is the capture kernel's."""

    @property
    def dump(self):
        return self.path("vmcore.kdump")


def capture(program, kernel, folder):
    """Runs the program in a capture kernel; a Result and the numbers of each run."""
    command = [sys.executable, os.path.join(ROOT, "testdata", "run-capture"),
               kernel, program.path, folder]
    for arguments in RUNS:
        command += ["--", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=CAPTURE_SECONDS, text=True)
    check(done.returncode == 0, f"run-capture: {done.stdout}")
    return [capture_result(os.path.join(folder, "capture", str(number)))
            for number in range(1, len(RUNS) + 1)]


def capture_result(path):
    """N.stdout, N.stderr, N.result."""
    def read(suffix):
        with open(path + suffix, "rb") as file:
            return file.read()
    numbers = dict(line.split(None, 1) for line in read(".result").decode().splitlines())
    check("exit" in numbers, f"killed by signal {numbers.get('signal')}: {read('.stderr')!r}")
    result = Result(int(numbers["exit"]), read(".stdout"), read(".stderr"),
                    int(numbers["wall_ms"]) / 1000)
    result.peak = int(numbers["peak_rss_kb"])
    return result


def compare_live(program, kernel, notes):
    """/proc/vmcore, read in the capture kernel, against the guest that crashed."""
    folder = os.path.join(program.scratch, "capture-" + kernel)
    results = capture(program, kernel, folder)
    for result in results:
        check_equal(result.status, 0, f"exit status ({result.errors.strip()[:200]})")
    boot = Boot.of_folder(kernel, folder, "capture")
    comm, trace, tasks = [parse_json(line) for line in results[0].out.splitlines()]
    check_equal(value_of(comm["result"]), "swapper/0", "init_task.comm")
    compare_panic(boot, trace["result"], notes)
    compare_console(boot, results[1].lines, notes)
    known = {row["pid"]: row["comm"] for row in tasks["result"]}
    for tid, task in boot.tasks.items():
        name = task.comm.decode("utf-8", "surrogateescape")
        name = name[:COMM_SIZE]  # a kernel thread's full name may be longer
        check(name.startswith("kworker/") or known.get(tid) == name,
              f"ps: {tid} is {known.get(tid)!r}, not {name!r}")
    check(results[2].peak <= MEBIBYTES * 1024, f"peak memory: {results[2].peak} KiB")
    notes.append(f"print init_task and bt: {results[2].seconds:.2f} s, "
                 f"{results[2].peak / 1024:.1f} MiB at most, under emulation")
    shutil.rmtree(folder)


def run(session):
    program = session.program
    for kernel in kernel_names():
        boot = Saved(kernel, "kdump")
        with session.case(f"{kernel} vmcore.kdump: print, bt, log, sys") as notes:
            compare_saved(program, boot, notes)
        with session.case(f"{kernel} vmcore.kdump: ps is /proc") as notes:
            compare_tasks(program, boot, notes)
        with session.case(f"{kernel} vmcore.kdump: bt PID is /proc/PID/stack") as notes:
            compare_all(program, boot, notes)
        with session.case(f"{kernel} /proc/vmcore in the capture kernel") as notes:
            compare_live(program, kernel, notes)
