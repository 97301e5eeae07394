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


def run(session):
    count = RUNS // 4 if session.program.is_sanitized else RUNS
    # One run in thousands finds something: what is to be found is found by hand.
    words_change(session, kernel_names()[-1], count)
    words_change(session, kernel_names()[-1], count // 3, "--interrupt")
    endless_area(session, Boot(kernel_names()[-1], "boot1"))
