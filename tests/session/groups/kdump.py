# SPDX-License-Identifier: GPL-3.0-or-later
"""The true thing: a dump that a capture kernel wrote, and /proc/vmcore within it."""

import itertools
import os
import re
import shutil
import subprocess
import sys

from groups.backtraces import compare_all
from groups.log import compare_console
from groups.tasks import COMM_SIZE, TRANSIENT, compare_tasks
from lib import (ROOT, Boot, Result, check, check_equal, check_lines, copy_file, kernel_names, parse_json,
                 tool, value_of)
from traces import compare_panic

CAPTURE_SECONDS = 1800
ANSWERS = (
    ["-q", "--json", "-c", "print init_task.comm", "-c", "bt", "-c", "ps"],
    ["-q", "-c", "print init_task", "-c", "bt"],
)
MEBIBYTES = 40
# What a capture kernel is asked, and MiB beside 0.01 % of RAM that each may need.
MEASURED = (("bt -a", 32), ("log", 32), ("ps", 32), ("report", 64))
RAM_SHARE = 0.0001
SECTION = re.compile(r"==== .*  \((.*)\) ====$")


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


def static_program(program):
    """What `make static` builds beside the program."""
    path = program.path + "-static"
    check(os.path.exists(path), f"no {path} (make static)")
    return path


def capture(path, kernel, folder, answers=()):
    """Runs a program in a capture kernel: the results of `answers`, and of MEASURED. One program: the memory of such a
    kernel has no room for the files of two."""
    runs = [*answers, *(["-q", "-c", line] for line, _ in MEASURED)]
    command = [sys.executable, os.path.join(ROOT, "testdata", "run-capture"), kernel, path, folder]
    for arguments in runs:
        command += ["--", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=CAPTURE_SECONDS, text=True)
    check(done.returncode == 0, f"run-capture: {done.stdout}")
    results = [capture_result(os.path.join(folder, "capture", str(number)))
               for number in range(1, len(runs) + 1)]
    for result in results:
        check_equal(result.status, 0, f"exit status ({result.errors.strip()[:200]})")
    return results[:len(answers)], results[len(answers):]


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


def sections(report):
    """{command: lines} of a report."""
    found, lines = {}, []
    for line in report.lines:
        title = SECTION.match(line)
        if title:
            lines = found.setdefault(title.group(1), [])
        else:
            lines.append(line)
    return {command: trim(lines) for command, lines in found.items()}


def trim(lines):
    """Without the empty line before the next section."""
    return lines[:-1] if lines and not lines[-1] else lines


def check_stacks(parts, everywhere):
    """The panicking task's stack and those of the other CPUs are what all CPUs have, each once."""
    shown = traces(parts["bt"]) + traces(parts["bt --others"])
    check_equal(sorted(shown), sorted(traces(everywhere)), "report: stacks")
    check_equal(len(shown), len(set(shown)), "report: stacks that differ")


def traces(lines):
    """The lines of each stack, joined."""
    parts = re.split(r"(?m)^(?=PID: )", "\n".join(lines))
    return [part.strip() for part in parts if part.strip()]


def compare_report(results, boot, notes):
    """The report says what the commands say, and those what the guest said."""
    by_name = dict(zip([line for line, _ in MEASURED], results))
    parts = sections(by_name["report"])
    for line in ("log", "ps"):
        check(line in parts, f"report: no section of {line}")
        check_lines(parts[line], trim(by_name[line].lines), f"report: {line}: line")
    check_stacks(parts, trim(by_name["bt -a"].lines))
    compare_console(boot, by_name["log"].lines, notes)
    release = parts["sys"] and "".join(parts["sys"])
    check(boot.release in release, f"report: no {boot.release}")
    check(any("sysrq_handle_crash+" in line for line in parts["bt"]), "report: bt")


def compare_budget(label, results, megabytes, notes):
    """Peak memory in bounds; all numbers go to the notes."""
    numbers, over = [], []
    for (line, budget), result in zip(MEASURED, results):
        peak = result.peak / 1024
        numbers.append(f"{line} {result.seconds:.2f} s {peak:.1f} MiB")
        if peak > budget + RAM_SHARE * megabytes:
            over.append(line)
    notes.append(f"{label}: " + ", ".join(numbers))
    check(not over, f"too much memory for {', '.join(over)}: {'; '.join(notes)}")


def compare_live(program, kernel, notes):
    """/proc/vmcore, read in the capture kernel, against the guest that crashed."""
    folder = os.path.join(program.scratch, "capture-" + kernel)
    (facts, numbers), ours = capture(program.path, kernel, folder, ANSWERS)
    boot = Boot.of_folder(kernel, folder, "capture")
    comm, trace, tasks = [parse_json(line) for line in facts.out.splitlines()]
    check_equal(value_of(comm["result"]), "swapper/0", "init_task.comm")
    compare_panic(boot, trace["result"], notes)
    known = {row["pid"]: row["comm"] for row in tasks["result"]}
    for tid, task in boot.tasks.items():
        name = task.comm.decode("utf-8", "surrogateescape")
        name = name[:COMM_SIZE]  # a kernel thread's full name may be longer
        check(TRANSIENT.match(task.comm) or known.get(tid) == name,
              f"ps: {tid} is {known.get(tid)!r}, not {name!r}")
    compare_report(ours, boot, notes)
    check(numbers.peak <= MEBIBYTES * 1024, f"peak memory: {numbers.peak} KiB")
    notes.append(f"under emulation: print init_task and bt {numbers.seconds:.2f} s "
                 f"{numbers.peak / 1024:.1f} MiB")
    megabytes = os.path.getsize(Saved(kernel, "kdump").dump) >> 20
    compare_budget("btfcrash", ours, megabytes, notes)
    shutil.rmtree(folder)
    _, static = capture(static_program(program), kernel, folder)
    compare_report(static, Boot.of_folder(kernel, folder, "capture"), notes)
    compare_budget("static", static, megabytes, notes)
    shutil.rmtree(folder)


# What a report may read of a dump, however large that is: the tables of symbols and types in a few
# reads, then page by page what pointers lead to.
READ_MEBIBYTES, READS = 16, 1000


def compare_reading(program, boot, notes):
    """A report reads what it needs, and that once."""
    result = program.run(["-q", "--no-cache", "-c", "report", "-c", "!cat /proc/$PPID/io",
                          boot.dump], status=0)
    numbers = dict(re.findall(r"^(rchar|syscr): (\d+)$", result.text, re.M))
    read, calls = int(numbers["rchar"]) / (1 << 20), int(numbers["syscr"])
    notes.append(f"{read:.1f} MiB of {os.path.getsize(boot.dump) >> 20} in {calls} reads")
    check(0 < read <= READ_MEBIBYTES and calls <= READS, f"a report reads {notes[-1]}")


# A root with two files in it, neither of which can be written; no environment.
EMPTY_WORLD = """
set -e
mount -t tmpfs none "$1"
cp "$2" "$1/btfcrash"
: >"$1/vmcore"
mount --bind "$3" "$1/vmcore"
mount -o remount,ro "$1"
exec env -i "$(command -v chroot)" "$1" /btfcrash -q -c "$4" /vmcore
"""


def no_namespaces():
    """Why this environment lets nobody make a root of his own; empty where it does."""
    done = subprocess.run([tool("unshare"), "-rm", "true"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.strip() or f"unshare: status {done.returncode}" if done.returncode else ""


def compare_alone(program, boot, notes):
    """The static program needs no other file, no environment, no terminal, no place to write."""
    root = os.path.join(program.scratch, "empty-world")
    os.makedirs(root, exist_ok=True)
    static = static_program(program)
    for line, _ in MEASURED:
        done = subprocess.run(["unshare", "-rm", "sh", "-c", EMPTY_WORLD, "sh", root, static,
                               boot.dump, line], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        check_equal(done.returncode, 0, f"{line}: exit status ({done.stderr[-200:]!r})")
        check_equal(done.stdout.decode(), program.text(boot.dump, line), f"{line}: the output")
    notes.append(f"{os.path.getsize(static) / 1e6:.1f} MB")


def read_cut(program, boot, notes):
    """Copies of /proc/vmcore that end early: the kernel's image comes first in them, and once more later. The log is
    vmcore-dmesg's; of tasks there are some, or that they are not known."""
    whole = program.text(boot.dump, "log")
    path = os.path.join(program.scratch, "vmcore.cut")
    for percent in (15, 25, 50, 90):
        copy_file(boot.dump, path)
        os.truncate(path, os.path.getsize(path) * percent // 100)
        check_lines(program.text(path, "log").splitlines(), whole.splitlines(), f"{percent} %: line of the log")
        peer = subprocess.run([tool("vmcore-dmesg"), path], stdout=subprocess.PIPE, text=True, check=True)
        # It has the time once where a message has several lines.
        both = itertools.zip_longest(whole.splitlines(), peer.stdout.splitlines(), fillvalue="(nothing)")
        differ = [pair for pair in both if pair[0] != pair[1] and not pair[0].endswith("] " + pair[1])]
        check(not differ, f"{percent} %: vmcore-dmesg: {differ[:1]}")
        tasks = program.run(["-q", "--no-cache", "-c", "tasks -o pid", path], status=1)
        check("the file ends before" in tasks.errors, f"{percent} %: {tasks.errors}")
        notes.append(f"{percent} %: {len(tasks.text.splitlines())} tasks")
    os.unlink(path)


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
        name = f"{kernel} vmcore.kdump: the static program all by itself"
        forbidden = no_namespaces()
        if forbidden:
            session.skip(name, forbidden)
        else:
            with session.case(name) as notes:
                compare_alone(program, boot, notes)
        with session.case(f"{kernel} vmcore.kdump: copies that end early") as notes:
            read_cut(program, boot, notes)
        with session.case(f"{kernel} vmcore.kdump: how much a report reads") as notes:
            compare_reading(program, boot, notes)
        with session.case(f"{kernel} /proc/vmcore in the capture kernel") as notes:
            compare_live(program, kernel, notes)
