# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows without end: a folder that lies in itself.  Whatever is asked of it ends by itself, in little time and
memory, and says that it is not all; of sound dumps all is told."""

import contextlib
import glob
import json
import os
import re
import struct
import subprocess

from forged import Image, Layout
from lib import ROOT, Boot, Failure, boots, check, check_equal, kernel_names, shorten

SECONDS, MEBIBYTES = 10, 512  # of processor; at most at once
FORGOTTEN_SECONDS = 120  # by the clock
# Asked of the forged dump: the command, whether the table is all of it.
QUESTIONS = (("dentries", True), ("dentries --sort name", True), ("dentries --sort -path -n 5", True),
             ("dentries --where \"name = '/'\"", True), ("dentries --csv", True), ("dentries --columns path,name --csv", True),
             ("dentries | print {d_name.len}", True), ("sql select count(*) from dentries", True),
             ("sql select path from dentries order by path desc", True),
             ("sql select d.path from dentries d join superblocks s on d.superblock = s.superblock", True),
             ("export sqlite dentries FILE", True), ("record", False), ("report", False), ("report --html FILE", False))
MEASURE = ("import resource, subprocess, sys\n"
           "done = subprocess.run(sys.argv[1:])\n"
           "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
           "print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)\n"
           "sys.exit(done.returncode)\n")


def measured(program, words):
    """Exit status, output, messages, seconds of processor, MiB."""
    try:
        done = subprocess.run(["python3", "-S", "-c", MEASURE, program.path, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.environment(), timeout=FORGOTTEN_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"more than {FORGOTTEN_SECONDS} s") from None
    *messages, usage = done.stderr.decode().splitlines()
    seconds, kibibytes = usage.split()
    return done.returncode, done.stdout, messages, float(seconds), int(kibibytes) >> 10


def own_child(program, layout, boot):
    """Patches: the first file system's root is the only name in itself, by links that are sound."""
    def member(path):
        return program.value(boot.dump, f"(u64)&((struct dentry *)0)->{path}")

    root = int(program.result(boot.dump, "sql select dentry from dentries where path = '/' limit 1")[0]["dentry"], 16)
    at = layout.offset_of_physical(root - int(program.value(boot.dump, "page_offset_base")))
    try:
        head, link = member("d_children"), member("d_sib")
    except Failure:
        # Before 6.8 a list with a head.
        head, link = member("d_subdirs"), member("d_child")
        return {at + head: struct.pack("<QQ", root + link, root + link), at + link: struct.pack("<QQ", root + head, root + head)}
    return {at + head: struct.pack("<Q", root + link), at + link: struct.pack("<QQ", 0, root + head)}


def ends(program, path, question, is_table, is_json, notes):
    """One question: in time, and no more is believed of the answer than is true."""
    file = os.path.join(program.scratch, "budgets.out")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)
    words = ["-q", "--no-cache", *(["--json"] if is_json else []), "-c", question.replace("FILE", file), path]
    status, out, messages, seconds, mebibytes = measured(program, words)
    said = shorten(messages[0], 120) if messages else ""
    if is_table:
        check_equal(status, 1, f"exit status ({said})")
    if is_table and is_json:
        answer = json.loads(out)
        check_equal(answer["ok"], False, "ok")
        said = answer["error"]
    if is_table:
        check(said, "nothing is said")
    if not program.is_sanitized:
        check(seconds <= SECONDS, f"{seconds:.1f} s")
        check(mebibytes <= MEBIBYTES, f"{mebibytes} MiB")
    notes.append(f"{seconds:.2f} s, {mebibytes} MiB; {said}")


def endless_folder(session, kernel):
    program, boot = session.program, Boot(kernel, "boot1")
    image = Image(boot.dump, os.path.join(program.scratch, "budgets.elf"))
    with image.patched(own_child(program, Layout(image, boot), boot)):
        for question, is_table in QUESTIONS:
            for is_json in (False, True):
                if is_json and "--csv" in question:
                    continue
                with session.case(f"{kernel}: a folder in itself: {question}{', JSON' if is_json else ''}") as notes:
                    ends(program, image.path, question, is_table, is_json, notes)
    os.unlink(image.path)


def free_block(program, layout, boot):
    """The direct map's address of 4 MiB that nobody uses, and where they lie in the file."""
    lists = program.result(boot.dump, "sql select list from freelists where ord = 10 and blocks > 0 limit 1")
    page = int(program.value(boot.dump, f"((struct list_head *){lists[0]['list']})->next"), 16)
    page -= program.value(boot.dump, "(u64)&((struct page *)0)->lru")
    size = program.value(boot.dump, "sizeof(struct page)")
    physical = (page - int(program.value(boot.dump, "vmemmap_base"))) // size << 12
    return int(program.value(boot.dump, "page_offset_base")) + physical, layout.offset_of_physical(physical)


def tasks_over_tasks(session, kernel):
    """A sound list of 250,000 tasks, each 16 bytes behind another: more than memory has room for."""
    program, boot = session.program, Boot(kernel, "boot1")
    image = Image(boot.dump, os.path.join(program.scratch, "budgets.elf"))
    layout = Layout(image, boot)
    start, at = free_block(program, layout, boot)
    head = int(program.value(boot.dump, "&init_task.tasks"), 16)
    count = 250000
    nodes = [head, *range(start + 0x10000, start + 0x10000 + 16 * count, 16), head]
    links = b"".join(struct.pack("<QQ", after, before) for before, after in zip(nodes, nodes[2:]))
    with image.patched({at + 0x10000: links, layout.offset_of_physical(layout.physical("init_task")) + head - boot.address("init_task"):
                        struct.pack("<QQ", nodes[1], nodes[-2])}):
        for question in ("ps", "tasks --sort -pid -n 5", "foreach bt", "sql select count(*) from tasks"):
            with session.case(f"{kernel}: tasks over tasks: {question}") as notes:
                ends(program, image.path, question, True, True, notes)
                check("there are more than" in notes[-1], notes[-1])
    os.unlink(image.path)


def cpus_without_end(session, kernel):
    """A mask that makes 8,192 CPUs possible: those without an area of their own are none, and that is said."""
    program, boot = session.program, Boot(kernel, "boot1")
    image = Image(boot.dump, os.path.join(program.scratch, "budgets.elf"))
    layout = Layout(image, boot)
    with image.patched({layout.offset("__cpu_possible_mask"): b"\xff" * 1024, layout.offset("nr_cpu_ids"): struct.pack("<I", 8192)}):
        for question in ("timers", "works", "irqcounts", "sql select count(*) from timers t, works w"):
            with session.case(f"{kernel}: 8,192 possible CPUs: {question}") as notes:
                ends(program, image.path, question, False, True, notes)
        with session.case(f"{kernel}: 8,192 possible CPUs: those that are there"):
            facts = program.answers(image.path, ["sys"])[0]["result"]
            check_equal(facts["cpus"], boot.cpu_count, "CPUs")
            check(any("possible CPUs are left out" in text for text in facts["problems"]), f"{facts['problems']}")
            rows = program.answers(image.path, ["rcu"])[0]["result"]
            check_equal(rows, program.result(boot.dump, "rcu"), "rcu")
    os.unlink(image.path)


def tables_of_objects():
    """(table, column) of those that say that each row is an object of its own."""
    for path in sorted(glob.glob(os.path.join(ROOT, "debugger", "tables", "*.c"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "\t.is_object = true," not in text:
            continue
        item, = re.findall(r"^\t\.item = (COLUMN_\w+),$", text, re.M)
        column, = re.findall(rf"\[{item}\] = {{\s*\"(\w+)\"", text)
        name, = re.findall(r"^\t\.name = \"(\w+)\",$", text, re.M)
        yield name, column


def sound_dumps(session):
    """Where a table's rows are said to be objects, none comes twice: its bound is by their size."""
    tables = list(tables_of_objects())
    with session.case("tables whose rows are objects"):
        check(len(tables) > 40, f"only {len(tables)} are found")
    for boot in boots():
        with session.case(f"{boot.label}: each object is one row") as notes:
            answers = session.program.answers(boot.dump, [
                f"sql select count({column}) as rows_, count(distinct {column}) as objects from {table}" for table, column in tables])
            for (table, column), answer in zip(tables, answers):
                check("result" in answer and "this is not all" not in str(answer) and "not all rows" not in str(answer),
                      f"{table}: {shorten(answer)}")
                row, = answer["result"]
                check_equal(row["objects"], row["rows_"], f"{table}.{column}: different ones")
            notes.append(f"{len(tables)} tables")


def run(session):
    sound_dumps(session)
    endless_folder(session, kernel_names()[-1])
    tasks_over_tasks(session, kernel_names()[-1])
    cpus_without_end(session, kernel_names()[-1])
