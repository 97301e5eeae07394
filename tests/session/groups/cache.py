# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole kernel's globals: the same answer from any number of threads, and from the cache,
whatever lies in its folder."""

import os
import random
import shutil
import time

from forged import Image
from lib import Boot, boots, check, check_equal, check_lines
from noall import Memory

SAMPLES = 40
DAMAGE_STEP = 64  # bytes of code, of which one is wrong
CLOCK_SECONDS = 0.1  # a file that was changed within a tick of the clock has no results kept


def whole(program, boot, cache, command="globals"):
    """The lines of `globals`, and seconds of processor; `cache`: the folder, None: without."""
    program.cache = cache
    try:
        result = program.run(["-q", "--format", "csv", "-c", command, boot.dump],
                             status=0, timeout=600)
    finally:
        program.cache = None
    check_equal(result.errors, "", "messages")
    return result.text.splitlines(), result.processor


def files(folder):
    inner = os.path.join(folder, "btfcrash")
    return [os.path.join(inner, name) for name in sorted(os.listdir(inner))]


def only_file(folder):
    there = files(folder)
    check_equal(len(there), 1, "files in the cache")
    return there[0]


def damage(path, how):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if how == "cut":
        del data[len(data) // 2:]
    else:
        data[how(len(data))] ^= 0x55
    with open(path, "wb") as file:
        file.write(data)


def compare_threads(program, boot, wanted, notes):
    for count in (1, 5):
        lines, _ = whole(program, boot, None, command=f"globals --threads {count}")
        check_lines(lines, wanted, f"line of {count} threads")
    notes.append(f"{len(wanted)} lines")


def compare_cached(program, boot, folder, wanted, notes):
    lines, cold = whole(program, boot, folder)
    check_lines(lines, wanted, "line while the cache is made")
    path = only_file(folder)
    check_equal(os.stat(path).st_mode & 0o777, 0o600, "mode of the file")
    lines, warm = whole(program, boot, folder)
    check_lines(lines, wanted, "line with the cache")
    check(warm < cold / 2, f"{warm:.2f} s with the cache, {cold:.2f} s without")
    notes.append(f"{os.path.getsize(path) // 1024} KiB, {100 * warm / cold:.0f} % of the processor")
    # The other set of rules has a file of its own.
    plain, _ = whole(program, boot, folder, command="globals --no-hints")
    check(plain != wanted, "--no-hints changes nothing")
    lines, _ = whole(program, boot, folder, command="globals --no-hints")
    check_lines(lines, plain, "line of globals --no-hints with the cache")
    check_equal(len(files(folder)), 2, "files in the cache")
    for name in files(folder):
        if name != path:
            os.unlink(name)


def compare_damaged(program, boot, folder, wanted, notes):
    """Each is not believed, and written anew. More kinds of damage: tests/unit/debugger/infer/store/cache_test.c."""
    path = only_file(folder)
    with open(path, "rb") as file:
        right = file.read()
    generator = random.Random(7)
    for how in ("cut", lambda size: generator.randrange(40, size)):
        damage(path, how)
        lines, _ = whole(program, boot, folder)
        check_lines(lines, wanted, "line with a damaged cache")
        with open(path, "rb") as file:
            check(file.read() == right, "the damaged file was not written anew")
    notes.append("2 kinds of damage")


def compare_foreign(program, boot, other, folder, wanted):
    """Another dump's results under this one's name."""
    path = only_file(folder)
    os.rename(path, path + ".aside")
    whole(program, other, folder)
    for name in files(folder):
        if not name.endswith(".aside"):
            os.rename(name, path)
    lines, _ = whole(program, boot, folder)
    check_lines(lines, wanted, "line with another dump's cache")


def damage_code(boot, path):
    """A copy of the dump whose code is wrong: its notes, types and data are not."""
    image = Image(boot.dump, path)
    memory = Memory(image)
    start, end = boot.address("_stext"), boot.address("_etext")
    for places, size in memory.pieces(start, end - start):
        for place in range(places[0], places[0] + size, DAMAGE_STEP):
            image.bytes[place] ^= 0xff
    image.bytes.flush()
    image.bytes.close()
    time.sleep(CLOCK_SECONDS)


def compare_copy(program, boot, wanted, notes):
    """What was found in a copy with damaged code is not believed of the dump, nor the reverse."""
    folder = os.path.join(program.scratch, "cache-of-copy")
    os.mkdir(folder)
    copy = Boot.of_folder(boot.kernel, os.path.join(program.scratch, "copy"), "copy")
    os.mkdir(copy.folder)
    damage_code(boot, os.path.join(copy.folder, "vmcore.elf"))
    damaged, _ = whole(program, copy, folder)
    check_equal(len(files(folder)), 1, "files in the cache")
    changed = len(set(wanted) - set(damaged))
    check(changed > 1000, f"the damage changes only {changed} rows")
    lines, _ = whole(program, boot, folder)
    check_lines(lines, wanted, "line after a damaged copy")
    lines, _ = whole(program, copy, folder)
    check_lines(lines, damaged, "line of the damaged copy, after the dump")
    shutil.rmtree(copy.folder)
    notes.append(f"{changed} rows differ in the copy, none in the dump")


def compare_questions(program, boot, folder, wanted, notes):
    """What single questions say of a symbol that both are sure of."""
    header = wanted[0].split(",")
    name, tier = header.index("name"), header.index("confidence")
    certain = [row.split(",")[name] for row in wanted[1:] if row.split(",")[tier] == "certain"
               and '"' not in row]
    names = random.Random(5).sample([word for word in certain if word.isidentifier()], SAMPLES)
    commands = [part for word in names for part in ("-c", f"whatis {word}")]
    cold = program.run(["-q", "--no-cache", *commands, boot.dump]).text.splitlines()
    program.cache = folder
    try:
        warm = program.run(["-q", *commands, boot.dump]).text.splitlines()
    finally:
        program.cache = None
    check_equal(len(warm), len(cold), "lines")
    differ = [pair for pair in zip(cold, warm) if pair[0].split("//")[0] != pair[1].split("//")[0]]
    check(not differ, f"without and with the cache: {differ[:3]}")
    notes.append(f"{SAMPLES} symbols")


def compare_index(program, boot, folder, notes):
    """A flattened stream's index is kept: the same answers with it, without it, and damaged."""
    def ask(cache, dump=boot.path("vmcore.flat-E")):
        program.cache = cache
        try:
            return program.run(["-q", "-c", "print init_task", "-c", "ps", "-c", "log", dump],
                               status=0).text
        finally:
            program.cache = None

    wanted = ask(None)
    check_equal(ask(folder), wanted, "text while the index is made")
    path = only_file(folder)
    check_equal(ask(folder), wanted, "text with the index")
    with open(path, "rb") as file:
        good = file.read()
    for what, how in (("cut", "cut"), ("head", lambda size: 20), ("end", lambda size: size - 3)):
        damage(path, how)
        check_equal(ask(folder), wanted, f"text with a damaged index ({what})")
        check_equal(only_file(folder), path, "the file that is made again")
        with open(path, "rb") as file:
            check(file.read() == good, f"the damaged index ({what}) was not made anew")
    # A file that was written again has an index of its own, though its size is the same.
    again = os.path.join(program.scratch, "again.flat-E")
    shutil.copyfile(boot.path("vmcore.flat-E"), again)
    for year in (1, 2):
        os.utime(again, (year * 31536000, year * 31536000))
        time.sleep(2 * CLOCK_SECONDS)
        check_equal(ask(folder, again), wanted, "text of a file that is written again")
    os.unlink(again)
    check_equal(len(files(folder)), 3, "indexes of a dump, and of a file before and after")
    notes.append(f"{len(good)} bytes")


def ask_without_place(program, boot):
    """Neither a folder nor a HOME; a file where the folder should be."""
    wanted = program.text(boot.dump, "whatis chrdevs")
    program.cache = "/dev/null"
    try:
        check_equal(program.text(boot.dump, "whatis chrdevs"), wanted, "answer")
    finally:
        program.cache = None


def run(session):
    program = session.program
    every = boots(("boot1",))
    for boot, other in zip(every, every[1:] + every[:1]):
        folder = os.path.join(program.scratch, "cache-" + boot.kernel)
        os.mkdir(folder)
        wanted, _ = whole(program, boot, None)
        check(len(wanted) > 30000, f"{boot.label}: only {len(wanted)} globals")
        with session.case(f"{boot.label}: any number of threads finds the same") as notes:
            compare_threads(program, boot, wanted, notes)
        with session.case(f"{boot.label}: the cache changes nothing but the time") as notes:
            compare_cached(program, boot, folder, wanted, notes)
        if boot is every[0]:
            with session.case(f"{boot.label}: a damaged cache is ignored") as notes:
                compare_damaged(program, boot, folder, wanted, notes)
            with session.case(f"{boot.label}: a copy with damaged code has its own") as notes:
                compare_copy(program, boot, wanted, notes)
        if other is not boot:
            with session.case(f"{boot.label}: another dump's cache is ignored"):
                compare_foreign(program, boot, other, folder, wanted)
        with session.case(f"{boot.label}: single questions, with the cache and without") as notes:
            compare_questions(program, boot, folder, wanted, notes)
        folder = os.path.join(program.scratch, "index-" + boot.kernel)
        os.mkdir(folder)
        with session.case(f"{boot.label}: the index of a flattened dump is kept") as notes:
            compare_index(program, boot, folder, notes)
        with session.case(f"{boot.label}: no place for a cache is no error"):
            ask_without_place(program, boot)
