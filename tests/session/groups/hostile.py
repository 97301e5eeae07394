# SPDX-License-Identifier: GPL-3.0-or-later
"""Broken and forged dumps: an answer or a one-line error, never a crash.

Also run against a build with sanitizers.  Everything works on one copy of the
newest kernel's ELF dump; what a case changes, it puts back.
"""

import contextlib
import csv
import os
import random
import re
import struct
import subprocess
import time

from forged import Image, Layout
from lib import (CONTROL, Boot, Failure, check, check_equal, copy_file, kernel_names, unescaped,
                 value_of)

# Random damage: the same every time, unless one wants to search.
SEED = int(os.environ.get("BTFCRASH_TEST_SEED", "20"))
DAMAGES = os.environ.get("BTFCRASH_TEST_DAMAGES")  # a file to write the table of damages to
ROUNDS = int(os.environ.get("BTFCRASH_TEST_ROUNDS", "100"))
ROUND_SECONDS = float(os.environ.get("BTFCRASH_TEST_SECONDS", "20"))  # then it is enough
BYTES = 200  # damaged in a round
COMMANDS = ("sys", "print init_task", "bt", "ps", "mod", "log", "foreach bt", "sym -q panic",
            "print runqueues:a.cpu", "types task_struct")
EM_PPC64, EM_AARCH64, EM_S390 = 21, 183, 22


def first_line(result):
    """Of the messages, without the folder of the test's files."""
    return re.sub(r"\S*/session-\w+/", "", result.errors.splitlines()[0])


def one_line_error(result, what):
    """Exit status 2, one line on standard error, nothing on standard output."""
    check_equal(result.status, 2, f"{what}: exit status")
    check_equal(result.out, b"", f"{what}: output")
    lines = result.errors.splitlines()
    check_equal(len(lines), 1, f"{what}: lines of {result.errors!r}")
    check(lines[0].startswith("btfcrash: ") and len(lines[0]) > 20, f"{what}: {lines[0]!r}")
    check(not CONTROL.search(result.err), f"{what}: control characters in the message")
    return first_line(result)


def harmless(result, what):
    """Whatever happens to a damaged dump: no crash (run() sees to that), no control
    characters, a proper status, and a reason when nothing came out."""
    check(result.status in (0, 1, 2), f"{what}: exit status {result.status}")
    check(not CONTROL.search(result.out), f"{what}: control characters in the output")
    check(not CONTROL.search(result.err), f"{what}: control characters in the messages")
    if result.status:
        check(result.err, f"{what}: exit status {result.status} without a message")
    if result.status == 2:
        one_line_error(result, what)


# Files that are no dump


def no_dumps(session):
    program = session.program
    scratch = program.scratch
    empty, text = os.path.join(scratch, "empty"), os.path.join(scratch, "text")
    open(empty, "w").close()
    with open(text, "w") as file:
        file.write("This is no dump, but a text.\n" * 100)
    zeros = os.path.join(scratch, "zeros")
    with open(zeros, "wb") as file:
        file.truncate(1 << 20)
    for what, path, word in (("no such file", os.path.join(scratch, "nothing"), "No such file"),
                             ("a directory", scratch, "directory"),
                             ("an empty file", empty, "empty"), ("a text file", text, ""),
                             ("zeros", zeros, ""), ("the program itself", program.path, ""),
                             ("/dev/null", "/dev/null", "")):
        with session.case(what) as notes:
            line = one_line_error(program.run(["-c", "print 1", path]), what)
            check(os.path.basename(path) in line, f"{line!r} does not name the file")
            check(word.lower() in line.lower(), f"{line!r} does not say {word!r}")
            notes.append(line)
            json = program.run(["--json", "-c", "print 1", path])
            one_line_error(json, what + " with --json")
    with session.case("a name with control characters"):
        one_line_error(program.run(["-c", "print 1", "/nowhere/\x1b[31m"]), "a forged name")


# Cut files


def cut_file(source, path, percent):
    """The first part of a file."""
    copy_file(source, path)
    os.truncate(path, os.path.getsize(source) * percent // 100)
    return path


def cut_elf(session, boot, layout):
    """What lies before the cut is served: the kernel image, if it is there."""
    program = session.program
    for percent in (10, 50, 90):
        with session.case(f"elf cut at {percent} %") as notes:
            path = cut_file(boot.dump, os.path.join(program.scratch, "cut"), percent)
            result = program.run(["-c", "print init_task.comm", "-c", "log", "-c", "bt",
                                  "-c", "ps", path])
            harmless(result, "cut")
            if layout.image_end() < os.path.getsize(path):
                check("swapper/0" in result.text, "the kernel image lies before the cut, but "
                      f"init_task.comm is not shown: {result.errors[:300]}")
                notes.append("the kernel image is there")
            elif layout.offset("_text") > os.path.getsize(path):
                check(result.status != 0, "the kernel image is cut off, and nothing is said")
                notes.append("without the kernel image")
            check(result.err, "does not say that the dump is cut")
            notes.append(f"exit status {result.status}: {first_line(result)}")
            os.unlink(path)


def cut_kdump(session, boot, name):
    program = session.program
    for percent in (10, 50, 90):
        with session.case(f"{name} cut at {percent} %") as notes:
            whole = program.text(boot.path("vmcore." + name), "log").splitlines()
            path = cut_file(boot.path("vmcore." + name),
                            os.path.join(program.scratch, "cut"), percent)
            result = program.run(["-c", "print init_task.comm", "-c", "log", "-c", "bt",
                                  "-c", "ps", path])
            harmless(result, "cut")
            check(result.err, "does not say that the dump is cut")
            # makedumpfile writes headers, bitmaps and most of the kernel first.
            check(percent < 90 or result.status != 2,
                  f"nothing of 90 % is served: {result.errors.strip()}")
            shown = set(result.lines) & set(whole)
            notes.append(f"exit status {result.status}: {first_line(result)}; "
                         f"{len(shown)} of {len(whole)} lines of the log")
            os.unlink(path)


def far_records(session, boot):
    """Records of a flattened stream (after 4096 bytes: offset and size, both big-endian, and the
    bytes) that lie, or promise to reach, an exabyte away."""
    program = session.program
    path = os.path.join(program.scratch, "far.flat")
    whole = program.value(boot.path("vmcore.flat"), "init_task.comm")
    with session.case("a flattened record at 2^60") as notes:
        copy_file(boot.path("vmcore.flat"), path)
        with open(path, "r+b") as file:
            file.seek(-16, os.SEEK_END)  # the end's mark: -1, -1
            file.write(struct.pack(">QQ", 1 << 60, 8) + b"far away" + b"\xff" * 16)
        result = program.run(["-c", "print init_task.comm", "-c", "sys", path])
        harmless(result, "at 2^60")
        check(result.status == 2 or whole in result.text, f"{result.text} {result.errors}")
        check(result.seconds < 10, f"{result.seconds:.1f} s")
        notes.append(f"exit status {result.status}: {(result.lines or [first_line(result)])[0]}")
    for what, at, size in (("of 2^60 bytes", 0, 1 << 60), ("that ends at 2^63", 1 << 62, 1 << 62),
                           ("before the beginning", 1 << 63, 8)):
        with session.case(f"a flattened record {what}") as notes:
            copy_file(boot.path("vmcore.flat"), path)
            with open(path, "r+b") as file:
                file.seek(4096)
                file.write(struct.pack(">QQ", at, size))
            result = program.run(["-c", "print init_task.comm", path])
            harmless(result, what)
            check(result.status == 2 or result.err, "nothing is said")
            notes.append(first_line(result))
    os.unlink(path)


# Forged headers


def other_machines(session, image):
    program = session.program
    for name, machine in (("s390x", EM_S390), ("ppc64", EM_PPC64), ("machine 0x7777", 0x7777)):
        with session.case(f"a dump that says it is of {name}") as notes:
            with image.patched({18: struct.pack("<H", machine)}):
                result = program.run(["-c", "print init_task.comm", image.path])
            notes.append(one_line_error(result, name))
    with session.case("a dump that says it is of aarch64") as notes:
        with image.patched({18: struct.pack("<H", EM_AARCH64)}):
            result = program.run(["-c", "print init_task.comm", image.path])
        check(result.status, "as if nothing were wrong")
        harmless(result, "aarch64")
        notes.append(first_line(result))
    with session.case("an ELF dump that says it is big-endian"):
        with image.patched({5: b"\2"}):
            one_line_error(program.run(["-c", "print 1", image.path]), "big-endian")


def without_vmcoreinfo(session, image, layout, boot):
    """The note goes, then the text in memory too."""
    program = session.program
    note = {layout.note_name: b"XMCOREINFO"}
    with session.case("without a VMCOREINFO note, its text is found in memory") as notes:
        with image.patched(note):
            result = program.run(["-c", "print init_task.comm", "-c", "sys", image.path],
                                 status=0)
        check("swapper/0" in result.text and boot.release in result.text, "wrong values")
        warnings = [line for line in result.errors.splitlines() if "warning" in line]
        check(any("vmcoreinfo" in line.lower() for line in warnings),
              f"no warning that the note is missing: {result.errors!r}")
        notes.append(warnings[0])
    with session.case("with neither note nor text") as notes:
        places = image.find_all(b"OSRELEASE=")
        check(len(places) > 1, "layout: no text of VMCOREINFO in memory")
        with image.patched({**note, **{at: b"XSRELEASE=" for at in places}}):
            result = program.run(["-c", "print init_task.comm", image.path])
        notes.append(one_line_error(result, "no VMCOREINFO"))
    with session.case("--vmcoreinfo FILE instead of the note") as notes:
        path = os.path.join(program.scratch, "vmcoreinfo")
        with open(path, "w") as file:
            file.write("".join(f"{key}={value}\n" for key, value in layout.info.items()))
        with image.patched({**note, **{at: b"XSRELEASE=" for at in places}}):
            result = program.run(["-c", "print init_task.comm", "--vmcoreinfo", path,
                                  image.path], status=0)
        check("swapper/0" in result.text, "wrong value")
        bad = program.run(["-c", "print 1", "--vmcoreinfo", "/dev/null", image.path])
        notes.append(one_line_error(bad, "an empty VMCOREINFO file"))


def another_release(session, image, layout):
    """linux_banner and OSRELEASE must agree: VMCOREINFO of another kernel is noticed."""
    program = session.program
    with session.case("VMCOREINFO of another release") as notes:
        head = image.bytes[:1 << 16]
        at = head.index(b"OSRELEASE=") + len(b"OSRELEASE=")
        with image.patched({at: b"9"}):
            result = program.run(["-c", "print init_task.comm", image.path])
        harmless(result, "another release")
        check(result.err, "nothing is said")
        notes.append(first_line(result))


# Parts that are missing, and what is said of it

WORK = (("symbols", "sym panic"), ("a global", "print init_task.comm"), ("ps", "ps"),
        ("bt", "bt"), ("log", "log"), ("mod", "mod"), ("a type", "types list_head"))


@contextlib.contextmanager
def excluded(image, start, end):
    """Pages of the file become excluded, as makedumpfile -E leaves them out: the segment that
    holds them ends before them, and a small one is given up for what follows."""
    start, end = (start + 4095) & ~4095, end & ~4095
    table, = struct.unpack_from("<Q", image.bytes, 32)
    size, count = struct.unpack_from("<HH", image.bytes, 54)
    headers = [table + size * number for number in range(count)]
    rows = {at: struct.unpack_from("<IIQQQQQQ", image.bytes, at) for at in headers}
    loads = {at: row for at, row in rows.items() if row[0] == 1}
    at = next(at for at, row in loads.items() if row[2] <= start and end <= row[2] + row[5])
    smallest = min((row[5], other) for other, row in loads.items() if other != at)[1]
    kind, flags, offset, virtual, physical, length, _, align = rows[at]
    with image.patched({
            at: struct.pack("<IIQQQQQQ", kind, flags, offset, virtual, physical, start - offset,
                            end - offset, align),
            smallest: struct.pack("<IIQQQQQQ", kind, flags, end, virtual and virtual + end - offset,
                                  physical + end - offset, offset + length - end,
                                  offset + length - end, align)}):
        yield


def what_works(session, path, what, boot):
    """(names of WORK that go on, all that is said on standard error)."""
    works, said = [], []
    for name, command in (*WORK, ("memory", f"rd {boot.address('_stext'):x}")):
        result = session.program.run(["-c", command, path])
        harmless(result, f"{what}: {command}")
        if result.status == 2:
            return [], [one_line_error(result, what)]
        if result.status == 0:
            works.append(name)
        said += [line for line in result.errors.splitlines() if line not in said]
    return works, said


def says(session, what, path, wanted, works, boot):
    """One damage: what is missing is said with all `wanted` words, and what one can do about it;
    the parts of `works` go on."""
    with session.case(f"damage: {what}") as notes:
        goes_on, said = what_works(session, path, what, boot)
        said = [line.removeprefix("btfcrash: ") for line in said]
        advice = [line.removeprefix("advice: ") for line in said if line.startswith("advice: ")]
        said = [line for line in said if not line.startswith("advice: ")]
        text = " ".join(said).lower()
        for word in wanted:
            check(word.lower() in text, f"{word!r} is not said: {said}")
        missing = [name for name in works if name not in goes_on]
        check(not missing, f"{missing} should work; {goes_on} do; {said}")
        check(advice or "--vmcoreinfo file" in text, f"no advice: {said}")
        first = next(line for line in said if wanted[0].lower() in line.lower())
        row = [what, ", ".join(goes_on) or "nothing", first, " ".join(advice) or "(in the message)"]
        notes.append(f"{row[1]}; says: {row[2]}; {row[3]}")
        if DAMAGES:
            with open(DAMAGES, "a") as file:
                print("|", " | ".join(row), "|", file=file)


EVERYTHING = [name for name, _ in WORK]
KERNEL = ["symbols", "a global", "bt", "log", "mod", "a type", "memory"]  # without most of slabs


def damaged_files(session, boot):
    """Files that are cut, or that their maker left incomplete."""
    scratch = session.program.scratch
    path = cut_file(boot.dump, os.path.join(scratch, "cut"), 90)
    says(session, "ELF file cut at 90 %", path, ["cut off"], ["symbols", "a type"], boot)
    path = cut_file(boot.path("vmcore.zlib"), path, 90)
    says(session, "kdump-compressed file cut at 90 %", path, ["cut off"], ["memory"], boot)
    # makedumpfile 1.7.2 does not know how 6.12 marks slab pages and filters some.
    says(session, "filtered too much (makedumpfile 1.7.2 -d 31)", boot.path("vmcore.zlib"),
         ["left out of the dump by its filter"], KERNEL, boot)
    copy_file(boot.path("vmcore.zlib"), path)
    # struct disk_dump_header (makedumpfile diskdump_mod.h): signature, version, utsname, time.
    with open(path, "r+b") as file:
        file.seek(8 + 4 + 390 + 6 + 16)
        status, = struct.unpack("<I", file.read(4))
        file.seek(-4, os.SEEK_CUR)
        file.write(struct.pack("<I", status | 8))
    says(session, "flagged as incomplete", path, ["ran out of space"], KERNEL, boot)
    os.unlink(path)


def damaged_vmcoreinfo(session, image, layout, boot):
    path, note = image.path, {layout.note_name: b"XMCOREINFO"}
    with image.patched(note):
        says(session, "no VMCOREINFO note", path, ["no VMCOREINFO note", "found in its memory"],
             EVERYTHING, boot)
    with image.patched({**note, **{at: b"XSRELEASE=" for at in image.find_all(b"OSRELEASE=")}}):
        says(session, "no VMCOREINFO anywhere", path, ["no VMCOREINFO"], [], boot)
    at = image.bytes.find(b"OSRELEASE=") + len(b"OSRELEASE=")
    with image.patched({at: b"9"}):
        says(session, "VMCOREINFO of another release", path, ["may be of another kernel"],
             EVERYTHING, boot)


def without_symbols(session, image, boot):
    """The BTF is found by its looks; VMCOREINFO names a few variables; JSON has the advice."""
    program = session.program
    with session.case("without kallsyms: types, casts, what VMCOREINFO names") as notes:
        check_equal(program.value(image.path, "init_uts_ns.name.release"), boot.release, "release")
        task = f"((struct task_struct *){boot.address('init_task'):#x})"
        check_equal(program.value(image.path, f"{task}->comm"), "swapper/0", "a cast")
        check_equal(program.text(image.path, "struct task_struct"),
                    program.text(boot.dump, "struct task_struct"), "struct task_struct")
        answer, facts = program.run(["-q", "--json", "-c", "ps", "-c", "sys", image.path],
                                    status=1).objects()
        check("no symbols" in answer["error"], answer["error"])
        check("need none" in answer["advice"], f"advice: {answer}")
        check(answer["advice"] in facts["result"]["advice"], f"sys: {facts['result']}")
        notes.append(answer["advice"])


def missing_parts(session, image, layout, boot):
    path = image.path
    with excluded(image, layout.offset("__start_BTF"), layout.offset("__stop_BTF")):
        says(session, "BTF excluded", path, ["BTF", "left out of the dump"],
             ["symbols", "log", "memory"], boot)
    first, size = kallsyms(layout)
    if size:
        works = ["log", "memory", "a type"]
        with excluded(image, first, first + size):
            says(session, "kallsyms excluded", path, ["kallsyms", "left out of the dump"],
                 works, boot)
            without_symbols(session, image, boot)
        with image.patched({first: bytes(size)}):
            says(session, "kallsyms zeroed", path, ["kallsyms"], works, boot)
    with image.patched({layout.offset("__start_BTF"): bytes(4096)}):
        says(session, "BTF's header zeroed", path, ["BTF"], ["symbols", "log", "memory"], boot)


def broken_task_list(session, image, layout, boot):
    """What no list leads to is found all the same, and looked for once."""
    program = session.program
    with session.case("a task list that breaks at kthreadd") as notes:
        whole = {row["pid"] for row in program.result(boot.dump, "ps")}
        kthreadd = next(row["address"] for row in program.result(boot.dump, "ps")
                        if row["pid"] == 2)
        link = program.value(boot.dump, f"&((struct task_struct *){kthreadd})->tasks")
        base = program.value(boot.dump, "page_offset_base")
        at = layout.offset_of_physical(int(link, 16) - base)
        with image.patched({at: bytes(16)}):
            result = program.run(["--json", "-c", "ps", "-c", "ps", image.path], status=1)
            text = program.run(["-q", "-c", "report", image.path], status=1)
        first, second = result.objects()
        check_equal({row["pid"] for row in first["result"]}, whole, "pids that are found")
        check_equal(first, second, "the second answer")
        check("0x0" in first["error"] or "link" in first["error"], f"says {first['error']!r}")
        harmless(text, "report")
        notes.append(f"{len(whole)} tasks; {first['error']}")


def far_end(session, image, layout, boot):
    """Memory that ends far behind what there is: its array of struct page has a hole, and an end."""
    program = session.program
    with session.case("an end of memory that lies") as notes:
        count = "sql SELECT count(*) AS pages, max(physical) AS last FROM pages"
        whole = program.result(boot.dump, count)
        # The most that struct pages could be of, and more.
        for end in (1 << 34, (1 << 40) - 1):
            with image.patched({layout.offset("max_pfn"): struct.pack("<Q", end)}):
                answer, = program.answers(image.path, [count])
            check_equal(answer.get("result"), whole, f"pages up to {end:#x} ({answer.get('error')})")
        notes.append(f"{whole[0]['pages']} pages")


def stale_link(session, image, layout, boot):
    """A pointer at a list of other things must not make the whole list doubtful."""
    program = session.program
    with session.case("a stale link into a list that all processes are in") as notes:
        tasks = [row["address"] for row in program.result(boot.dump, "ps")]
        spaces = {program.value(boot.dump, f"(u64)((struct task_struct *){task})->mm")
                  for task in tasks[-30:]} - {0}
        check(len(spaces) > 10, f"only {len(spaces)} processes")
        inside = program.value(boot.dump, f"&((struct mm_struct *){min(spaces):#x})->rss_stat[0].list")
        first = int(program.value(boot.dump, "&call_single_queue:0.first"), 16)
        at = layout.offset_of_physical(first - program.value(boot.dump, "page_offset_base"))
        with image.patched({at: struct.pack("<Q", int(inside, 16))}):
            answers = program.result(image.path, "whattype " + " ".join(map(hex, spaces)))
        for answer in answers:
            check_equal((answer["type"], answer["confidence"] in ("certain", "inferred")),
                        ("struct mm_struct", True), answer["address"])
        notes.append(f"{len(answers)} mm_structs")


def two_vmcoreinfos(session, image, layout, boot):
    """A dump taken while a capture kernel ran has the VMCOREINFO of both kernels in memory: the
    one of the kernel whose banner is there counts."""
    program = session.program
    text = "".join(f"{key}={value}\n" for key, value in layout.info.items()).encode()
    other = text.replace(boot.release.encode(), b"9.9.9-capture").replace(
        b"KERNELOFFSET=", b"KERNELOFFSET=7")
    name = b"VMCOREINFO\0\0"
    note = struct.pack("<III", 11, len(other), 0) + name + other + bytes(-len(other) % 4)
    # In the hole of zeros before and behind the crashed kernel's own.
    for where, start in (("below", 1 << 20), ("above", layout.image_end())):
        at = image.bytes.find(bytes(len(note) + 8192), start)
        with session.case(f"two VMCOREINFOs, the other one {where}") as notes:
            check(at > 0, "layout: no room for another")
            at = (at + 4095) & ~4095
            with image.patched({at: note, layout.note_name: b"XMCOREINFO"}):
                result = program.run(["-c", "sys", "-c", "print init_task.comm", image.path],
                                     status=0)
            check(boot.release in result.text and "swapper/0" in result.text,
                  f"the wrong one: {result.text[:300]}")
            check("9.9.9" not in result.text, "the capture kernel's release is shown")
            notes.append(first_line(result))
        with image.patched({at: note, layout.note_name: b"XMCOREINFO"}):
            says(session, f"two VMCOREINFOs in memory, the other one {where}", image.path,
                 ["found in its memory"], EVERYTHING, boot)


# Control characters

ESCAPES = b"\x1b[2J\x07\x9b\xc2\x9b\r\x08"


# How the comm of task 0 is asked for, and how an answer in this form is read.
FORMS = (("ps 0", "--color=never"), ("ps 0", "--json"), ("ps 0", "--csv"),
         ("print init_task.comm", "--color=never"), ("print init_task.comm", "--json"),
         ("ps 0 | print {comm}", "--color=never"), ("ps 0 | print {comm}", "--csv"))


def one_comm(program, image, at, name, command, form):
    """The comm of task 0 as a form shows it, without what the form itself puts around it."""
    with image.patched({at: name.ljust(16, b"\0")}):
        if form == "--json":
            answer = program.result(image.path, command)
            return answer[0]["comm"] if isinstance(answer, list) else value_of(answer)
        line = program.run(["-q", form, "-c", command, image.path], status=0).text.splitlines()
    if form == "--csv":
        return next(csv.DictReader(line))["comm"]
    # Below a table's heading; each CPU has a task 0.
    line = line[len(line) > 1]
    return next(filter(None, (re.search(pattern, line) for pattern in
                              (r"\"(.*)\"", r"\[(.*)\]", r"(\S*)$"))))[1]


def control_characters(session, image, boot):
    program = session.program
    with session.case("control characters in a task's comm") as notes:
        address = int(program.value(boot.dump, "&init_task.comm"), 16)
        layout = Layout(image, boot)
        at = layout.offset_of_physical(address - layout.start_kernel_map + layout.base)
        check_equal(image.bytes[at:at + 9], b"swapper/0", "layout: init_task.comm")
        with image.patched({at: (ESCAPES + b"ow" + bytes(16))[:16]}):
            for command in ("print init_task.comm", "print init_task", "ps", "bt 0", "foreach bt",
                            "struct task_struct init_task", "rd init_task 400", "bt -a"):
                for json in ([], ["--json"]):
                    result = program.run(["-q", *json, "-c", command, image.path])
                    harmless(result, command)
                    check(result.out, f"{command}: nothing")
            shown = program.text(image.path, "print init_task.comm")
            check("\\x1b[2J\\x07\\x9b" in shown, f"no escapes in {shown!r}")
            notes.append(shown.strip())
            value = program.value(image.path, "init_task.comm")
            check(value.startswith("\x1b[2J\x07"), f"JSON lost the bytes: {value!r}")
    with session.case("a byte and the text of its escape differ") as notes:
        pairs = [(b"a\x9b", b"a\\x9b"), (b"\\\x9b", b"\\\\x9b"), (b"b\n", b"b\\n"),
                 (b"\xe2\x80\x8b", b"\\u{200b}"), (b"DOMAIN\\user", b"DOMAIN\\\\user")]
        for names in pairs:
            for form in FORMS:
                shown = [one_comm(program, image, at, name, *form) for name in names]
                what = f"{names} as {form}: {shown}"
                check(shown[0] != shown[1], f"they look the same: {what}")
                check_equal(tuple(map(unescaped, shown)), names, f"what is read back of {what}")
            notes.append(" and ".join(shown))
    with session.case("control characters in the log") as notes:
        word = b"sysrq: Trigger a crash"
        places = image.find_all(word)
        check(places, "layout: the log's line is not in memory")
        forged = (b"\x1b]0;" + ESCAPES + word)[:len(word)]
        with image.patched({at: forged for at in places}):
            for arguments in (["log"], ["log -m -c"], ["sys"]):
                for json in ([], ["--json"]):
                    result = program.run(["-q", *json, "-c", *arguments, image.path], status=0)
                    harmless(result, arguments[0])
            lines = [line for line in program.text(image.path, "log").splitlines()
                     if "\\x1b]0;" in line]
            check_equal(len(lines), 1, "lines with the escapes")
            notes.append(lines[0])
        # In text a backslash is the console's; in JSON it differs from a byte.
        shown = []
        for start in (b"a\x9b", b"a\\x9b"):
            with image.patched({at: start + word[len(start):] for at in places}):
                shown.append([[line for line in program.text(image.path, "log").splitlines()
                               if line.endswith("ger a crash")],
                              [record["text"] for record in program.result(image.path, "log")
                               if record["text"].endswith("ger a crash")]])
        check(all(lines[0][0].split("] ")[1].startswith("a\\x9b") for lines in shown), f"{shown}")
        check_equal([lines[1][0][:6] for lines in shown], ["a\\x9bs", "a\\\\x9b"], "in JSON")
    with session.case("control characters in VMCOREINFO"):
        at = image.bytes.find(b"OSRELEASE=") + len(b"OSRELEASE=")
        with image.patched({at: b"\x1b[31m"}):
            harmless(program.run(["-c", "sys", image.path]), "OSRELEASE")


# Random damage


def regions(layout, size):
    """What is worth damaging: (name, file offset, length)."""
    def between(first, last):
        return layout.offset(first), layout.offset(last) - layout.offset(first)
    table = [("headers and notes", 0, 8192), ("ELF header", 0, 1024),
             ("kernel data", *between("_sdata", "_edata")),
             ("read-only data", *between("__start_rodata", "__end_rodata")),
             ("BTF", *between("__start_BTF", "__stop_BTF")),
             ("kallsyms", *kallsyms(layout)),
             ("ORC", *between("__start_orc_unwind", "__stop_orc_unwind")),
             ("page tables", layout.offset("level3_kernel_pgt"), 3 * 4096),
             ("init_task", layout.offset("init_task"), 8192),
             ("all of memory", 8192, size - 8192)]
    return [(name, at, length) for name, at, length in table if length > 0]


def kallsyms(layout):
    """Where the kernel's symbol tables are; those of old kernels do not name
    themselves, and are somewhere in the read-only data."""
    known = [layout.offset(name) for name in ("kallsyms_num_syms", "kallsyms_names",
                                              "kallsyms_token_index")
             if (name, "") in layout.boot.addresses]
    return (min(known), max(known) - min(known)) if known else (0, 0)


def damage(image, generator, at, length, kind):
    """{offset: bytes}: single bytes, whole words, or whole pages of rubbish."""
    patches = {}
    for _ in range(BYTES):
        place = at + generator.randrange(length)
        if kind == "bytes":
            patches[place] = bytes([generator.randrange(256)])
        elif kind == "words":
            value = generator.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1,
                                      generator.getrandbits(64)))
            patches[min(place & ~7, len(image.bytes) - 8)] = struct.pack("<Q", value)
        else:
            page = min(place & ~4095, len(image.bytes) - 4096)
            patches[page] = generator.randbytes(4096) if generator.random() < 0.7 else bytes(4096)
    return patches


@contextlib.contextmanager
def named(what):
    """Failures say in which round they came."""
    try:
        yield
    except Failure as failure:
        raise Failure(f"{what}: {failure}") from None


def random_damage(session, image, layout):
    """Many wrong bytes at once, in each region in turn."""
    program = session.program
    generator = random.Random(SEED)
    arguments = [word for command in COMMANDS for word in ("-c", command)]
    started = time.monotonic()
    with session.case("random damage") as notes:
        places = regions(layout, len(image.bytes))
        statuses, rounds = {}, 0
        for number in range(ROUNDS):
            if time.monotonic() - started > ROUND_SECONDS and \
                    (rounds >= len(places) or program.is_sanitized):
                break
            name, at, length = places[number % len(places)]
            kind = ("bytes", "words", "pages")[number % 3]
            # Headers are found wrong at once when much is: damage a little of them.
            patches = damage(image, generator, at, length, kind)
            if length <= 8192:
                patches = dict(list(patches.items())[:1 + number % 8])
            what = f"round {number}, {kind} of {name}, seed {SEED}"
            json = ["--json"] if number % 2 else []
            with image.patched(patches), named(what):
                result = program.run(["-q", *json, *arguments, image.path])
            harmless_json(result, what, json)
            statuses[result.status] = statuses.get(result.status, 0) + 1
            rounds += 1
        notes.append(f"seed {SEED}; {rounds} rounds; exit statuses {statuses}; "
                     f"{time.monotonic() - started:.0f} s")


def harmless_json(result, what, json):
    """The error of a command is in the line itself with --json."""
    if not json or result.status == 2:
        harmless(result, what)
        return
    check(result.status in (0, 1), f"{what}: exit status {result.status}")
    check(not CONTROL.search(result.out), f"{what}: control characters in the output")
    answers = result.objects()
    check_equal(len(answers), len(COMMANDS), f"{what}: lines")
    check_equal(all(answer["ok"] for answer in answers), result.status == 0, f"{what}: status")


def random_kdump(session, boot):
    """The same on the headers, bitmaps and page descriptors of a compressed dump."""
    program = session.program
    generator = random.Random(SEED)
    with session.case("random damage of a kdump-compressed file") as notes:
        image = Image(boot.path("vmcore.zlib"), os.path.join(program.scratch, "forged.zlib"))
        statuses, started = {}, time.monotonic()
        for number in range(max(12, ROUNDS // 8)):
            if time.monotonic() - started > ROUND_SECONDS / 2:
                break
            length = (4096, 16384, 1 << 20, len(image.bytes))[number % 4]
            patches = damage(image, generator, 0, length, ("bytes", "words")[number // 4 % 2])
            patches = dict(list(patches.items())[:(2, 8, 40, BYTES)[number % 4]])
            what = f"round {number}, seed {SEED}"
            with image.patched(patches), named(what):
                result = program.run(["-q", "-c", "print init_task.comm", "-c", "bt", "-c", "log",
                                      "-c", "ps", image.path])
            harmless(result, what)
            statuses[result.status] = statuses.get(result.status, 0) + 1
        notes.append(f"exit statuses {statuses}")
        os.unlink(image.path)


def damaged_stacks(session, boot):
    """The stacks of the dump, spoiled in memory: tests/stress/stacks.c."""
    program = session.program
    driver = os.path.join(os.path.dirname(program.path), "stress", "stacks")
    rounds = "2000" if program.is_sanitized else "10000"
    with session.case(f"{boot.label}: {rounds} damages of stacks") as notes:
        check(os.path.exists(driver), f"no {driver} (make session builds it)")
        done = subprocess.run([driver, boot.dump, rounds, str(SEED)], timeout=600, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout} {done.stderr}")
        notes.append(done.stdout.strip())


def run(session):
    boot = Boot(kernel_names()[-1], "boot1")
    no_dumps(session)
    for kernel in kernel_names():
        damaged_stacks(session, Boot(kernel, "boot1"))
    image = None
    with session.case("a copy of the dump to forge"):
        image = Image(boot.dump, os.path.join(session.program.scratch, "forged.elf"))
        layout = Layout(image, boot)
    if not image:
        return
    cut_elf(session, boot, layout)
    for name in ("zlib", "flat"):
        cut_kdump(session, boot, name)
    far_records(session, boot)
    other_machines(session, image)
    without_vmcoreinfo(session, image, layout, boot)
    another_release(session, image, layout)
    damaged_files(session, boot)
    damaged_vmcoreinfo(session, image, layout, boot)
    missing_parts(session, image, layout, boot)
    broken_task_list(session, image, layout, boot)
    far_end(session, image, layout, boot)
    stale_link(session, image, layout, boot)
    two_vmcoreinfos(session, image, layout, boot)
    control_characters(session, image, boot)
    random_damage(session, image, layout)
    random_kdump(session, boot)
