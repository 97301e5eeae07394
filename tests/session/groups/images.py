# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw memory, LiME and AVML say what QEMU's ELF dump of the same stopped guest says."""

import os

from groups.flavours import without_file_facts
from lib import Boot, check, check_equal, kernel_names

COMMANDS = ("sys", "ps", "log", "mod", "print init_task.comm", "print *(struct list_head *)&modules",
            "whattype &init_task", "whattype &init_mm")
# Without the notes there are no registers; which task it is, is known all the same.
IMAGES = (("hole", "raw", "raw memory (in pieces"), ("hole", "lime", "LiME"),
          ("hole", "concatenated", "raw memory (in pieces"), ("hole", "avml", "AVML (snappy)"), ("boot1", "pmemsave", "raw memory"))


def compare(program, boot, name, says):
    path = boot.path(f"vmcore.{name}")
    ours = program.answers(path, COMMANDS, status=0)
    theirs = program.answers(boot.dump, COMMANDS, status=0)
    check(ours[0]["result"]["format"].startswith(says), f"format {ours[0]['result']['format']}")
    for got, wanted in zip(ours, theirs):
        result, expected = got["result"], wanted["result"]
        if got["command"] == "sys":
            result, expected = without_file_facts(result), without_file_facts(expected)
        check_equal(result, expected, got["command"])
    trace = program.answers(path, ["bt"], status=0)[0]["result"]
    whole = program.answers(boot.dump, ["bt"], status=0)[0]["result"]
    check_equal(trace["task"]["pid"], whole["task"]["pid"], "bt: task")


def forced(program, boot, notes):
    """Nothing tells: a kernel must be found, or the user say so."""
    path = os.path.join(program.scratch, "damaged-image")
    with open(path, "wb") as file:
        file.write(b"\177ELF" + bytes(4092))
        with open(boot.path("vmcore.pmemsave"), "rb") as image:
            image.seek(4096)
            while block := image.read(1 << 20):
                file.write(block)
    refused = program.run(["-q", "-c", "print 1", path])
    check_equal(refused.status, 2, "status of an image that begins like ELF")
    taken = program.run(["-q", "--format", "raw", "-c", "print init_task.comm", path], status=0)
    check("swapper/0" in taken.text, taken.text)
    os.truncate(path, 8 << 20)
    none = program.run(["-q", "--format", "raw", "-c", "print 1", path])
    check_equal(none.status, 2, "status of an image without a kernel")
    check("no VMCOREINFO" in none.errors, none.errors)
    notes.append(none.errors.strip())
    os.unlink(path)


def run(session):
    program = session.program
    for kernel in kernel_names():
        for item, name, says in IMAGES:
            with session.case(f"{kernel} {item}: {name} says what elf says"):
                compare(program, Boot(kernel, item), name, says)
        with session.case(f"{kernel}: --format raw") as notes:
            forced(program, Boot(kernel, "boot1"), notes)
