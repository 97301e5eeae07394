# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest crash and drgn, in a Debian sid of their own, on dumps with an exported vmlinux: they start,
complain of nothing, and say of the tasks, their stacks and the modules what this program says.

The sid is kept beside the dumps. Without root, or where none can be had, the cases are left out."""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile

from lib import ROOT, boots, cache_folder, check, check_equal, shorten

SID_ROOT = os.path.join(ROOT, "tests", "truth", "sid-root")
MAKE_SECONDS, RUN_SECONDS = 900, 300
ALIKE = 0.98

CRASH = ("sys", "ps", "mod", "foreach bt", "kmem -i", "kmem -V", "mount", "dev", "files", "vm", "timer", "irq",
         "log", "p init_task.pid")
COMPLAINTS = re.compile(r"\binvalid|cannot|WARNING|failed|not found|seek error|outside of ELF")
MARK = "@@@"

# A zombie's stack may be given back already.
DRGN = """
from drgn import FaultError
from drgn.helpers.linux.module import for_each_module
from drgn.helpers.linux.pid import for_each_task
print(prog["UTS_RELEASE"].string_().decode())
print(*sorted(module.name.string_().decode() for module in for_each_module(prog)))
for task in for_each_task(prog):
    try:
        pcs = [frame.pc for frame in prog.stack_trace(task)]
    except (ValueError, LookupError, FaultError):
        pcs = []
    print(task.pid.value_(), *pcs)
"""


def sid_root():
    """Where the sid is, made if need be; or why there is none."""
    folder = os.path.join(cache_folder(), "sid-root")
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        return None, "needs root and mmdebstrap"
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            done = subprocess.run([SID_ROOT, "make", folder], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=MAKE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None, "no Debian sid within its time"
    return (folder, None) if done.returncode == 0 else (None, shorten(done.stderr.decode(errors="replace")))


def run_in(folder, *words):
    done = subprocess.run([SID_ROOT, "run", folder, "--", *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_SECONDS, check=False)
    text = done.stdout.decode(errors="replace")
    check(done.returncode == 0, f"{words[0]}: status {done.returncode}: {shorten(text[-400:])}")
    return text


def stacks_of(program, boot, without=()):
    """By PID: the addresses of the kernel's frames of tasks that sleep, without those of some kinds; idle
    tasks are not among them."""
    tasks = [row for row in program.result(boot.dump, "ps") if row["pid"]]
    answers = program.answers(boot.dump, [f"bt {row['pid']}" for row in tasks])
    return {row["pid"]: [pc for pc in (int(frame["pc"], 16) for frame in answer["result"]["frames"]
                                       if frame["kind"] not in without) if pc >> 63]
            for row, answer in zip(tasks, answers) if answer["ok"] and answer["result"]["start"] == "switch"}


def compare_stacks(got, wanted, notes):
    """What a tool shows behind the kernel's frames, a user's or an empty one, is its own way to end."""
    missing = sorted(wanted.keys() - got.keys())
    check(not missing, f"no stacks of {missing[:5]}")
    different = [pid for pid, pcs in wanted.items() if got[pid][:len(pcs)] != pcs]
    shown = "; ".join(f"{pid}: {[hex(pc) for pc in got[pid]]} for {[hex(pc) for pc in wanted[pid]]}"
                      for pid in different[:1])
    check(len(different) <= (1 - ALIKE) * len(wanted), f"{len(different)} stacks are others: {shown}")
    notes.append(f"{len(wanted) - len(different)} of {len(wanted)} stacks")


def crash_reads(program, boot, folder, path, notes):
    commands = path + ".commands"
    with open(commands, "w") as file:
        file.writelines(f"gdb echo {MARK}\\n\n{command}\n" for command in (*CRASH, "", "exit"))
    text = run_in(folder, "crash", "-s", "-i", commands, path, boot.dump)
    head, *parts = text.split(MARK + "\n")
    said = dict(zip(CRASH, parts))
    check_equal(len(parts), len(CRASH) + 2, f"answers, {shorten(text[-300:])}")
    check(not COMPLAINTS.search(head), f"at the start: {shorten(head)}")
    for command in CRASH[:-2]:
        complaint = COMPLAINTS.search(said[command])
        check(command in ("sys", "log", "foreach bt") or not complaint, f"{command}: {complaint}")
    check(f"RELEASE: {boot.release}\n" in said["sys"], f"sys: {shorten(said['sys'])}")
    check("TOTAL MEM" in said["kmem -i"] and "NR_FREE_PAGES" in said["kmem -V"], "kmem")
    rows = program.result(boot.dump, "ps")
    listed = re.findall(r"^>? +(\d+) +\d+ +\d+ +(\w{16}) ", said["ps"], re.M)
    check_equal(sorted((int(pid), int(task, 16)) for pid, task in listed),
                sorted((row["pid"], int(row["address"], 16)) for row in rows), "ps")
    modules = re.findall(r"^\w{16} +(\w+) ", said["mod"], re.M)
    check_equal(sorted(modules), sorted(row["name"] for row in program.result(boot.dump, "mod")), "mod")
    texts = {int(pid): stack for pid, stack in re.findall(r"^PID: (\d+) .*\n((?:.+\n)*)", said["foreach bt"], re.M)}
    got = {pid: [int(pc, 16) for pc in re.findall(r"^ *#\d+ \[\w+\] \S+ at (\w+)", stack, re.M)]
           for pid, stack in texts.items()}
    # It does not number the frame that an interrupt or an exception came upon.
    wanted = stacks_of(program, boot, ("exception",))
    # Of tasks that ran it may say what it cannot do: where they were is up to chance.
    complaints = [(pid, texts[pid]) for pid in wanted if COMPLAINTS.search(texts.get(pid, ""))]
    check(not complaints, f"foreach bt: {complaints[:1]}")
    compare_stacks(got, wanted, notes)
    check("= 0\n" in said["p init_task.pid"], "p init_task.pid")


def drgn_reads(program, boot, folder, path, notes):
    script = path + ".py"
    with open(script, "w") as file:
        file.write(DRGN)
    lines = run_in(folder, "drgn", "-q", "-c", boot.dump, "-s", path, script).splitlines()
    while lines and lines[0] != boot.release:
        check(not COMPLAINTS.search(lines[0]) or "debug" in lines[0], lines[0])
        lines.pop(0)
    check(len(lines) > 2, "no answer")
    check_equal(lines[1].split(), sorted(row["name"] for row in program.result(boot.dump, "mod")), "modules")
    got = {int(pid): [int(pc) for pc in pcs] for pid, *pcs in map(str.split, lines[2:])}
    compare_stacks(got, stacks_of(program, boot), notes)


def crash_has_the_line(program, boot, folder, scratch, notes):
    """bt -l shows the line at which the kernel itself said that it died, and no other one."""
    place = re.search(r"kernel BUG at (.*):(\d+)!", "\n".join(boot.console))
    kernel, module, commands = (os.path.join(scratch, name) for name in ("kernel", "faults.ko", "commands"))
    program.run(["-q", "-c", f"export vmlinux --no-modules {kernel}", "-c", f"export module faults {module}", boot.dump],
                status=0, timeout=300)
    with open(commands, "w") as file:
        file.write(f"mod -s faults {module}\nbt -l\nexit\n")
    text = run_in(folder, "crash", "-s", "-i", commands, kernel, boot.dump)
    check_equal(re.findall(r"^ +(\S+): (\d+)$", text, re.M), [(f"./{place[1]}", place[2])], shorten(text))
    notes.append(f"{place[1]}:{place[2]}")


def run(session):
    folder, why = sid_root()
    for boot in boots(("boot1",)):
        name = f"{boot.label}: crash and drgn of Debian sid"
        if not folder:
            session.skip(name, why)
            continue
        # A place that the other Debian sees, too.
        with tempfile.TemporaryDirectory(prefix="btfcrash-peers.", dir="/var/tmp") as scratch:
            path = os.path.join(scratch, "vmlinux")
            session.program.text(boot.dump, f"export vmlinux {path}", timeout=300)
            with session.case(f"{boot.label}: crash of sid says the same") as notes:
                crash_reads(session.program, boot, folder, path, notes)
            with session.case(f"{boot.label}: drgn of sid says the same") as notes:
                drgn_reads(session.program, boot, folder, path, notes)
            if os.path.exists(os.path.join(os.path.dirname(boot.folder), "bug")):
                with session.case(f"{boot.kernel} bug: crash of sid shows the line of a BUG()") as notes:
                    crash_has_the_line(session.program, type(boot)(boot.kernel, "bug"), folder, scratch, notes)
