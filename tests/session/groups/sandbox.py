# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which a start does things, as strace sees it: files are opened, libraries loaded,
rights given up, and only then is the first byte of a file read that was given."""

import collections
import ctypes
import errno
import os
import re
import subprocess

from groups.vmcoreinfo import note_of
from lib import Boot, check, check_equal, kernel_names, shorten, tool

# pid, call with its arguments; of a call that was interrupted the first half has the file.
CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$")
READING = ("read", "pread64", "readv", "preadv", "preadv2", "mmap", "mremap", "copy_file_range", "sendfile", "splice")
OPENING = ("open", "openat", "openat2", "open_by_handle_at")
WATCHED = ",".join(f"?{name}" for name in (*READING, *OPENING, "mprotect", "clone", "clone3", "fork", "vfork", "seccomp"))
LANDLOCK_CREATE_RULESET = 444  # on all machines
LASTING = ("clone", "seccomp")
FILTER = "SECCOMP_SET_MODE_FILTER, 0"


def calls_of(program, arguments, trace):
    """[(process, call, arguments)] of all processes in their order, of which a thread is none: those of filters and
    new threads when they are done, all others when they begin."""
    subprocess.run([tool("strace"), "-f", "-y", "-qq", "-s", "0", "-e", "trace=" + WATCHED, "-o", trace, program.path, *arguments],
                   env=program.environment(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
    begun, process_of, calls = {}, {}, []
    with open(trace, encoding="utf-8", errors="surrogateescape") as file:
        found = [match.groups() for line in file if (match := CALL.match(line))]
    for thread, name, text in found:
        is_done = not text.endswith("<unfinished ...>")
        whole = begun.pop(thread, "") + text
        if not is_done:
            begun[thread] = whole
        if name == "clone" and (child := re.search(r"CLONE_THREAD.* = (\d+)$", whole)):
            process_of[child[1]] = thread
        if is_done if name in LASTING else whole is text or not is_done:
            calls.append((thread, name, whole))
    # Threads of a process are made by its first one here.
    return [(process_of.get(thread, thread), name, text) for thread, name, text in calls]


def check_order(calls, files, notes):
    """Of each of `files` nothing is read by a process before it has laid both filters, and something behind that;
    what it opens or makes code of then is refused."""
    filters, reads = collections.Counter(), dict.fromkeys(files, 0)
    for pid, name, text in calls:
        is_sealed = filters[pid] == 2
        filters[pid] += name == "seccomp" and FILTER in text and text.endswith("= 0")
        for path in files:
            if name in READING and f"<{path}>" in text:
                check(is_sealed, f"{name} of {path} before the seal")
                reads[path] += 1
        if is_sealed:
            check(name not in OPENING or "= -1 E" in text or text.endswith("<unfinished ...>"), f"behind the seal: {name}({text}")
            check("PROT_EXEC" not in text, f"behind the seal: {name}({text}")
    for path, count in reads.items():
        check(count, f"nothing of {path} was read: this test is blind")
    notes.append(f"{sum(reads.values())} reads in {len(calls)} calls")


def files_beside(boot, folder):
    """Declarations, VMCOREINFO, a BTF file and a folder of BTF files, and their options."""
    declarations, info = (os.path.join(folder, name) for name in ("a.decl", "vmcoreinfo"))
    with open(declarations, "w") as file:
        file.write("short jiffies;\n")
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
        text = program.run(arguments, status=0).text
        check(text.startswith("short"), f"the declaration is not read: {text}")
    with session.case(f"{boot.label}: files in a folder are opened by the helper") as notes:
        names = sorted(os.listdir(os.path.dirname(btf)))
        arguments = ["-q", "--btf", os.path.dirname(btf), "-c", "btf", boot.dump]
        check_order(calls_of(program, arguments, trace), [os.path.join(os.path.dirname(btf), name) for name in names[:3]], notes)


def without_landlock():
    """In a process that is about to become the program: landlock_create_ruleset(2) is none of its kernel's."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_rule_add.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint)
    library.seccomp_load.argtypes = (ctypes.c_void_p,)
    rules = library.seccomp_init(0x7fff0000)
    if library.seccomp_rule_add(rules, 0x00050000 | errno.ENOSYS, LANDLOCK_CREATE_RULESET, 0) or library.seccomp_load(rules):
        os._exit(99)


def says_what_lacks(program, boot):
    """One line, and none where -q or JSON asks for answers alone."""
    for options, wanted in ((["-c", "sys"], 1), (["-c", "sys", "-c", "ps"], 1), (["-q", "-c", "sys"], 0), (["--json", "-c", "sys"], 0)):
        done = subprocess.run([program.path, *options, boot.dump], env=program.environment(), preexec_fn=without_landlock, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        check_equal(done.returncode, 0, f"exit status with {done.stderr!r}")
        check_equal(done.stderr.count(b"warning: no Landlock (this kernel has none)"), wanted, f"warnings of {options}")
        check(b'"landlock": 0' in done.stdout if "--json" in options else b"no Landlock: this kernel has none" in done.stdout,
              f"sys: {shorten(done.stdout.decode())}")


def run(session):
    trace = os.path.join(session.program.scratch, "trace")
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        for name in ("elf", "qemu-zlib", "pmemsave"):
            with session.case(f"{boot.label}: no byte of vmcore.{name} is read before the seal") as notes:
                dump = boot.path("vmcore." + name)
                check_order(calls_of(session.program, ["-q", "-c", "sys", "-c", "ps", dump], trace), [os.path.realpath(dump)], notes)
        of_options(session, boot)
        with session.case(f"{boot.label}: so it is where a vmlinux stands beside the dump") as notes:
            files = [os.path.realpath(session.program.path), os.path.realpath(boot.dump)]
            check_order(calls_of(session.program, ["-q", "-c", "sys", *files], trace), files, notes)
        with session.case(f"{boot.label}: where there is no Landlock, that is said once"):
            says_what_lacks(session.program, boot)
