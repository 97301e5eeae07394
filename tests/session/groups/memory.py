# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of processes: what the guest's programs wrote is what is read."""

import os

from lib import Boot, boots, check, check_equal, kernel_names

# testdata/guest/states_run.c: eight shared pages, each with its number behind a text.
MAPPED, MAPPED_PAGES, PATTERN = 0x7B7F00000000, 8, b"btfcrash user page "
PAGE = 4096


def task_named(boot, comm):
    """The task of the guest that is called so, once."""
    found = [task for task in boot.tasks.values() if task.comm == comm]
    check_equal(len(found), 1, f"tasks called {comm}")
    return found[0]


def user_bytes(program, dump, tid, address, size):
    """None in the place of bytes that are missing."""
    rows = program.result(dump, f"rd -u -c {tid} -8 {address:#x} {size}")
    words = [word for row in rows for word in row["words"]]
    check_equal(len(words), size, "bytes that were read")
    return [None if isinstance(word, dict) else int(word, 16) for word in words]


def fails(program, dump, line, *words):
    result = program.run(["-q", "-c", line, dump], status=1)
    check(all(word in result.errors for word in words) and not result.text, f"{line}: {result.errors}")


def reads(program, boot):
    """The pages that the guest filled, by rd -u; the file that is mapped; what is not there."""
    task = task_named(boot, b"mapped")
    for page in range(MAPPED_PAGES):
        wanted = PATTERN + b"%d" % page
        address = MAPPED + page * PAGE
        check_equal(bytes(user_bytes(program, boot.dump, task.tid, address, len(wanted))), wanted, f"page {page}")
        rows = program.result(boot.dump, f"rd -u -c mapped -a {address:#x}")
        check_equal("".join(row["text"] for row in rows).encode(), wanted, f"text of page {page}")
    # One read over two pages, and the first of a program.
    check_equal(bytes(user_bytes(program, boot.dump, task.tid, MAPPED + PAGE - 4, 12)), bytes(4) + PATTERN[:8],
                "over the end of a page")
    check_equal(bytes(user_bytes(program, boot.dump, task.tid, 0x400000, 4)), b"\x7fELF", "the program's file")
    text = program.text(boot.dump, f"task {task.tid} > /dev/null") + program.run(
        ["-q", "-c", f"task {task.tid}", "-c", f"rd -u -a {MAPPED:#x}", boot.dump], status=0).lines[-1]
    check(text.endswith("ge 0"), f"of the chosen task: {text}")
    fails(program, boot.dump, "rd -u -c 2 0x400000", "task 2 has no memory of its own: it is a kernel thread")
    fails(program, boot.dump, f"rd -u -c {task.tid} 0", "user address 0x0 is not mapped")
    fails(program, boot.dump, f"rd -u -c {task.tid} linux_banner", "is an address of the kernel's")
    fails(program, boot.dump, f"rd -u -p {MAPPED}", "two memories")
    fails(program, boot.dump, f"rd -c 1 {MAPPED}", "-c is of -u")


def strings(program, boot, notes):
    """args and env are /proc/PID/cmdline and environ, of all tasks."""
    rows = {row["pid"]: row for row in program.result(boot.dump, "tasks -o pid,args,env")}
    counts = {"cmdline": 0, "environ": 0}
    for tid, task in sorted(boot.tasks.items()):
        if task.state in "ZX":
            continue
        for name, column in (("cmdline", "args"), ("environ", "env")):
            if not os.path.exists(os.path.join(task.folder, name)) or tid not in rows:
                continue
            wanted = task.read(name).rstrip(b"\0").replace(b"\0", b" ").decode()
            check_equal(rows[tid][column] or "", wanted, f"{column} of {tid}")
            counts[name] += bool(wanted)
    check(counts["cmdline"] > 50 and counts["environ"] > 50, f"truth: {counts}")
    notes.append(f"{counts['cmdline']} command lines, {counts['environ']} environments")


def says_filtered(program, boot):
    """makedumpfile -d 31 leaves users' pages out, but not their tables."""
    dump = boot.path("vmcore.zlib")
    task = task_named(boot, b"mapped")
    # makedumpfile 1.7 leaves some of the kernel's lists out of a dump of 6.12: not all tasks are found.
    lines = program.run(["-q", "-c", "tasks -o pid,args", dump]).lines
    check_equal([line.split() for line in lines if line.split()[:1] == [str(task.tid)]],
                [[str(task.tid), "<excluded>"]], "args")
    fails(program, dump, f"rd -u -c {task.tid} {MAPPED:#x}", f"user address {MAPPED:#x}: ", "left out of the dump by its filter")


class Kdump(Boot):
    """What the kernel wrote that kexec started: all of the memory."""

    @property
    def dump(self):
        return self.path("vmcore.kdump")


def run(session):
    program = session.program
    for boot in (*boots(), *(Kdump(kernel, "kdump") for kernel in kernel_names())):
        with session.case(f"{boot.label}: rd -u has what the guest wrote"):
            reads(program, boot)
        with session.case(f"{boot.label}: args and env are /proc/PID/cmdline and environ") as notes:
            strings(program, boot, notes)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: user pages are said to be filtered"):
            says_filtered(program, boot)
