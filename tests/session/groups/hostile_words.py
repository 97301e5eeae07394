# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that are others each time they are read (tests/fuzz/words), and sizes that are all addresses: ends in time,
in little memory, without a word too much; Ctrl-C ends what works for a while.

BTFCRASH_TEST_WORDS: runs on the newest kernel (6; thousands by hand), of which a third gets Ctrl-C.
"""

import os
import re
import struct
import subprocess

from forged import Image, Layout
from groups.hostile import SEED, harmless
from lib import ROOT, Boot, check, kernel_names

RUNS = int(os.environ.get("BTFCRASH_TEST_WORDS", "6"))
SECONDS = 10  # of processor
WORDS_SECONDS = 30  # of a run, beside which the machine does much else: `globals` of a sound dump takes 5 then
TIMEOUT_SECONDS = 1800  # by the clock, on a machine that does much else


def words(program, kernel, count, *options):
    return subprocess.run([os.path.join(ROOT, "tests", "fuzz", "words"), "--kernel", kernel, "--jobs", "1", "--seconds", str(WORDS_SECONDS),
                           *options, os.path.dirname(program.path), str(count), str(SEED)], timeout=TIMEOUT_SECONDS, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def words_change(session, kernel, count, *options):
    """What fails is run once more, alone: the words of a run are always the same, how much memory and time the machine has is not."""
    program = session.program
    what = " ".join(("words change", *options))
    with session.case(f"{kernel}: {what}, {count} runs") as notes:
        done = words(program, kernel, count, *options)
        failures = re.findall(r"^FAIL run (\d+) .*", done.stdout, re.MULTILINE)
        again = [words(program, kernel, count, "--only", number, *options) for number in failures]
        check(all(one.returncode == 0 for one in again), f"{[one.stdout for one in again]}")
        check(f"{count - len(failures)} passed, {len(failures)} failed" in done.stdout, done.stdout[-300:])
        check("words change" in done.stdout, f"no word was changed: {done.stdout[-500:]}")
        notes.append(done.stdout.splitlines()[-2])


def endless_area(session, boot):
    """An area of vmalloc whose size is that of 16 terabytes: pages of it are looked for as long as the machine
    may have some."""
    program = session.program
    image = Image(boot.dump, os.path.join(program.scratch, "area.elf"))
    layout = Layout(image, boot)
    base = program.value(boot.dump, "page_offset_base")
    pid = program.result(boot.dump, "ps")[-1]["pid"]
    task = next(row["address"] for row in program.result(boot.dump, "ps") if row["pid"] == pid)
    size = int(program.value(boot.dump, f"&((struct task_struct *){task})->stack_vm_area->size"), 16)
    at = layout.offset_of_physical(size - base)
    with image.patched({at: struct.pack("<Q", 1 << 44)}):
        for command in (f"search {task}", f"whattype {task}"):
            with session.case(f"{boot.label}: an area of vmalloc without end: {command.split()[0]}") as notes:
                result = program.run(["-q", "--no-cache", "-c", command, image.path])
                harmless(result, command)
                check(program.is_sanitized or result.processor < SECONDS, f"{result.processor:.1f} s of processor time")
                notes.append(f"{result.processor:.2f} s")
    os.unlink(image.path)


# From which allocation on, and of how many bytes at least: they fail (tests/fuzz/allocations.c).
SHORTAGES = (("foreach bt", 222, 100000), ("record", 344, 100000), ("stacks", 716, 100000), ("globals", 20, 0), ("globals", 3000, 5000),
             ("ps", 60, 0), ("sys", 75, 0), ("sys", 104, 0), ("mounts", 98, 1000), ("analyze", 400, 0), ("analyze", 90, 100000),
             ("report", 943, 0), ("slabs", 222, 0), ("files -a", 903, 0), ("print init_task", 150, 0), ("log", 40, 100000))


def memory_is_short(session, boot):
    """What has no memory says so, or that something is not known; it gives no other answer, and it ends."""
    program = session.program
    path = os.path.join(os.path.dirname(program.path), "words", "btfcrash")
    with session.case(f"{boot.label}: memory is short") as notes:
        told = 0
        for line, after, least in SHORTAGES:
            whole = program.run(["--no-cache", "-c", line, boot.dump])
            done = subprocess.run([path, "--no-cache", "-c", line, boot.dump], timeout=TIMEOUT_SECONDS, check=False, text=True, errors="replace",
                                  env={**program.environment(), "BTFCRASH_ALLOCATIONS": f"{after}:{least}"},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            what = f"{line}, of {least} bytes from the {after}. on"
            check(done.returncode >= 0 and "died of" not in done.stderr, f"{what}: {done.returncode}: {done.stderr}")
            is_told = re.search(r"out of memory|not known|at least|unknown", done.stdout + done.stderr)
            check(is_told or done.stdout == whole.text, f"{what}: another answer, without a word: {done.stderr}")
            told += done.stdout != whole.text
        check(told > len(SHORTAGES) / 3, f"{told} were short of memory")
        notes.append(f"{told} of {len(SHORTAGES)} were short of it")


def run(session):
    count = RUNS // 4 if session.program.is_sanitized else RUNS
    # One run in thousands finds something: what is to be found is found by hand.
    words_change(session, kernel_names()[-1], count)
    words_change(session, kernel_names()[-1], count // 3, "--interrupt")
    endless_area(session, Boot(kernel_names()[-1], "boot1"))
    memory_is_short(session, Boot(kernel_names()[-1], "boot1"))
