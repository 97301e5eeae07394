# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that the source asks a kernel for and this one does not have: each is known, with what stands in for it
(tests/lacks/reviewed).  What is new there may be a fact that nobody misses: a column that is empty, a cause that is not
looked for.  The program is one that notes them (tests/lacks/lacks.c)."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fuzz"))

from lib import BOOT_NAMES, ROOT, Program, boots, check, kernel_names
import runs

REVIEWED = os.path.join(ROOT, "tests", "lacks", "reviewed")
# What names are asked of depends on the task and the cause.
COMMANDS = ("analyze", "analyze -v", "waits", "record", "report", "sys", "foreach bt", "kmem -i", "kmem -s")
# They ask for whatever the user does, or for all names of the program's table of types.
OTHERS = {"globals", "export", "extract", "gcore", "search", "whatis", "whattype", "foreach", "kmem", "types", "sym", "line", "help"}
OTHER_BOOTS = ("stuck", "held", "null", "bug", "overflow", "oom", "oomtmpfs", "hung", "mce", "rcuresume", "lockup")
# A notifier's list is looked for by the names of all symbols.
SUFFIXED = "the kernel has no symbol __ksymtab_"


def reviewed():
    with open(REVIEWED, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    check(all(len(words) == 2 and words[1] for words in lines), f"{REVIEWED}: a line without a reason")
    names = [name for name, _ in lines]
    check(names == sorted(set(names)), f"{REVIEWED}: not sorted, or a name twice")
    return set(names)


def lacked(program, boot, commands):
    """The names of one dump."""
    path = os.path.join(program.scratch, "lacks")
    words = [word for command in commands for word in ("-c", command)]
    done = subprocess.run([program.path, "-q", "--no-sandbox", "--no-cache", *words, boot.dump], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=program.environment(BTFCRASH_LACKS=path), timeout=300)
    check(done.returncode in (0, 1), f"exit status {done.returncode}: {done.stderr[-300:]}")
    with open(path, encoding="utf-8") as file:
        names = {line.rstrip("\n") for line in file}
    os.unlink(path)
    return {name for name in names if not name.startswith(SUFFIXED)}


def run(session):
    program = Program(os.path.join(os.path.dirname(session.program.path), "lacks"))
    program.scratch = session.program.scratch
    known = reviewed()
    for kernel in kernel_names():
        with session.case(f"{kernel}: names that it lacks are reviewed") as notes:
            found = {}
            for boot in (boot for boot in boots((*BOOT_NAMES, *OTHER_BOOTS)) if boot.kernel == kernel and os.path.isdir(boot.folder)):
                lines = runs.Lines(session.program, boot.dump)
                commands = [name for name in lines.names if name not in OTHERS] + list(COMMANDS)
                for name in lacked(program, boot, commands):
                    found.setdefault(name, boot.label)
            check(found, "no name is lacking: none was noted")
            fresh = {name: label for name, label in found.items() if name not in known}
            check(not fresh, f"not in {os.path.relpath(REVIEWED, ROOT)}: {fresh}")
            notes.append(f"{len(found)} names")
