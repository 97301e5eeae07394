# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which a start does things, as strace sees it: files are opened, libraries loaded,
rights given up, and only then is the first byte of a file read that was given."""

import os
import re
import subprocess

from groups.vmcoreinfo import note_of
from lib import Boot, check, kernel_names, tool

# pid, call with its arguments; of a call that was interrupted the first half has the file.
CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$")
READING = ("read", "pread64", "readv", "preadv", "preadv2", "mmap", "mremap", "copy_file_range", "sendfile", "splice")
OPENING = ("open", "openat", "openat2", "open_by_handle_at")
WATCHED = ",".join(f"?{name}" for name in (*READING, *OPENING, "mprotect", "clone", "clone3", "fork", "vfork", "seccomp"))
FILTER = "SECCOMP_SET_MODE_FILTER, 0"


def calls_of(program, arguments, trace):
    """[(process, call, arguments)] of all processes, in their order."""
    subprocess.run([tool("strace"), "-f", "-y", "-qq", "-s", "0", "-e", "trace=" + WATCHED, "-o", trace, program.path, *arguments],
                   env=program.environment(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
    with open(trace, encoding="utf-8", errors="surrogateescape") as file:
        return [found.groups() for line in file if (found := CALL.match(line))]


def seal_of(calls):
    """(the reading process, where its last filter is laid)."""
    filters = [(number, pid) for number, (pid, name, text) in enumerate(calls)
               if name == "seccomp" and FILTER in text and text.endswith("= 0")]
    check(filters, "no filter of seccomp is laid")
    check(len({pid for _, pid in filters}) == 1, "filters in several processes")
    return filters[-1][1], filters[-1][0]


def check_order(calls, files, notes):
    """Of each of `files` nothing is read before the seal, and something behind it."""
    reader, seal = seal_of(calls)
    helper = next(found[1] for _, name, text in calls if name == "clone" and (found := re.search(r"SIGCHLD.* = (\d+)$", text)))
    reads = dict.fromkeys(files, 0)
    for number, (pid, name, text) in enumerate(calls):
        for path in files:
            if name in READING and f"<{path}>" in text:
                check(number > seal, f"{name} of {path} before the seal")
                check(pid != helper, f"{name} of {path} by the helper")
                reads[path] += 1
        if number <= seal or pid == helper:
            continue
        check(name not in OPENING or "= -1 E" in text or text.endswith("<unfinished ...>"), f"behind the seal: {name}({text}")
        check(name not in ("mmap", "mprotect") or "PROT_EXEC" not in text, f"behind the seal: {name}({text}")
    for path, count in reads.items():
        check(count, f"nothing of {path} was read: this test is blind")
    notes.append(f"{sum(reads.values())} reads, all behind call {seal} of {len(calls)}")


def files_beside(boot, folder):
    """Declarations, VMCOREINFO, a BTF file and a folder of BTF files, and their options."""
    declarations, info = (os.path.join(folder, name) for name in ("a.decl", "vmcoreinfo"))
    with open(declarations, "w") as file:
        file.write("unsigned long jiffies;\n")
    with open(info, "w") as file:
        file.write(note_of(boot))
    btf = os.path.realpath(boot.path("truth", "btf", "vmlinux"))
    return declarations, info, btf


def of_options(session, boot):
    program, folder = session.program, os.path.realpath(session.program.scratch)
    declarations, info, btf = files_beside(boot, folder)
    trace = os.path.join(folder, "trace")
    with session.case(f"{boot.label}: what options name is read behind the seal") as notes:
        arguments = ["-q", "--declare", declarations, "--vmcoreinfo", info, "--btf", btf, "-c", "print jiffies", boot.dump]
        check_order(calls_of(program, arguments, trace), [declarations, info, btf, os.path.realpath(boot.dump)], notes)
    with session.case(f"{boot.label}: files in a folder are opened by the helper") as notes:
        names = sorted(os.listdir(os.path.dirname(btf)))
        arguments = ["-q", "--btf", os.path.dirname(btf), "-c", "btf", boot.dump]
        check_order(calls_of(program, arguments, trace), [os.path.join(os.path.dirname(btf), name) for name in names[:3]], notes)


def run(session):
    trace = os.path.join(session.program.scratch, "trace")
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        for name in ("elf", "qemu-zlib", "pmemsave"):
            with session.case(f"{boot.label}: no byte of vmcore.{name} is read before the seal") as notes:
                dump = boot.path("vmcore." + name)
                check_order(calls_of(session.program, ["-q", "-c", "sys", "-c", "ps", dump], trace), [os.path.realpath(dump)], notes)
        of_options(session, boot)
