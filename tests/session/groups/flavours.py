# SPDX-License-Identifier: GPL-3.0-or-later
"""All formats of one memory say the same."""

import collections
import glob
import os
import re
import sqlite3

from lib import Boot, check, check_equal, kernel_names

COMMANDS = ("print init_task.comm", "bt", "ps", "log", "mod", "sys")
FLAVOURS = ("qemu-zlib", "zlib", "lzo", "E", "flat", "flat-E", "split", "zstd")
# Made by QEMU, so nothing is filtered.
WHOLE = ("qemu-zlib",)
# By Debian 13's makedumpfile, 1.7.6, and not by Debian 12's 1.7.2.
BY_NEWEST = ("zstd",)
# A makedumpfile that is too old for a kernel drops slab pages at -d 31 although it should keep them, so that
# tasks, modules and lists have holes: 1.7.2 from 6.12 on, 1.7.6 of 7.3.  Such a dump may lack what is in
# those pages, and has to say so.
OVERFILTERED = ("6.12", "7.3")
OVERFILTERED_BY_NEWEST = ("7.3",)
# What a dump's file is differs by nature.
FILE_FACTS = ("format", "file_size", "dump_level", "problems", "memory_in_dump", "crash_time",
              "date", "kdump")
EXCLUDED = re.compile("excluded|left out of the dump")


def may_have_holes(kernel, name):
    return name not in WHOLE and kernel in (OVERFILTERED_BY_NEWEST if name in BY_NEWEST else OVERFILTERED)


def find_dump(boot, name):
    """The files of a flavour, and why there are none."""
    path = os.path.join(boot.folder, "vmcore." + name)
    if os.path.exists(path + ".unavailable"):
        with open(path + ".unavailable") as file:
            return None, file.read()
    if name == "split":
        parts = sorted(glob.glob(path + ".[0-9]"))
        check(len(parts) > 1, f"missing: {path}.1 (make dumps)")
        return parts, None
    return boot.path("vmcore." + name), None


def without_file_facts(result):
    return {key: value for key, value in result.items() if key not in FILE_FACTS}


def compare_same(answers, whole):
    """Each answer is that of the whole dump."""
    for got, wanted in zip(answers, whole):
        command = wanted["command"]
        check(got["ok"], f"{command}: {got.get('error')}")
        ours, theirs = got["result"], wanted["result"]
        if command == "sys":
            ours, theirs = without_file_facts(ours), without_file_facts(theirs)
        if isinstance(theirs, list):
            for number, pair in enumerate(zip(ours, theirs)):
                check_equal(*pair, f"{command}: row {number}")
            check_equal(len(ours), len(theirs), f"{command}: number of rows")
        check_equal(ours, theirs, command)


def readable(program, dump, expressions):
    """Which expressions can be evaluated; the others have to say that they are excluded."""
    answers = program.answers(dump, [f"print {expression}" for expression in expressions])
    for answer in answers:
        check(answer["ok"] or EXCLUDED.search(answer["error"]),
              f"{answer['command']}: {answer.get('error')}")
    return [answer["ok"] for answer in answers]


def check_missing_tasks(program, dump, missing, notes):
    """A task may be missing only where it was left out of the dump itself."""
    there = readable(program, dump, [f"((struct task_struct *){address})->pid"
                                     for address in missing])
    lost = [address for address, is_there in zip(missing, there) if is_there]
    check(not lost, f"ps: {len(lost)} of {len(missing)} missing tasks can be read: {lost[:3]}")
    notes.append(f"{len(missing)} tasks missing: their pages are excluded")


def compare_rows(program, dump, got, wanted, notes):
    """A table with holes: rows equal the whole dump's, or hold the word excluded;
    what is missing is excluded, and the answer's error owns up to it."""
    command = wanted["command"]
    ours = got.get("result") or []
    theirs = {row["address"]: row for row in wanted["result"]}
    for row in ours:
        check(row["address"] in theirs, f"{command}: there is no {row}")
        for key, value in theirs[row["address"]].items():
            check(row[key] == value or EXCLUDED.search(str(row[key]))
                  or (key == "ppid" and row[key] is None),
                  f"{command}: {key} is {row[key]!r}, not {value!r}, of {row}")
    missing = sorted(set(theirs) - {row["address"] for row in ours})
    check_equal(len(missing), len(theirs) - len(ours), f"{command}: number of missing rows")
    if missing:
        check(not got["ok"], f"{command}: {len(missing)} rows are missing, and it does not say so")
        check(EXCLUDED.search(got["error"]), f"{command}: does not say why rows are missing: "
              f"{got['error']}")
        check(command == "ps", f"{command}: rows are missing")
        check_missing_tasks(program, dump, missing, notes)
    else:
        # A list may be broken by a hole, and its tasks found in another way.
        check(got["ok"] or EXCLUDED.search(got["error"]), f"{command}: {got.get('error')}")
    notes.append(f"{command}: {len(ours)} of {len(theirs)} rows")


def compare_trace(got, wanted):
    """A trace of a dump with holes: the same frames; what is not known of the task
    is excluded, and an argument is the whole dump's or not known."""
    check(got["ok"], f"bt: {got.get('error')}")
    ours, theirs = got["result"], wanted["result"]
    if ours["task"] != theirs["task"]:
        check(EXCLUDED.search(ours["task"].get("problem", "")), f"bt: task is {ours['task']}")
        check_equal(ours["task"]["address"], theirs["task"]["address"], "bt: task")
    check_equal(len(ours["frames"]), len(theirs["frames"]), "bt: number of frames")
    for number, (frame, whole) in enumerate(zip(ours["frames"], theirs["frames"])):
        for key in set(frame) | set(whole) - {"args"}:
            if key != "args":
                check_equal(frame.get(key), whole.get(key), f"bt: {key} of frame {number}")
        for argument, its in zip(frame.get("args", []), whole.get("args", [])):
            check(argument in (its, {**its, "value": None}),
                  f"bt: frame {number}: {argument}, not {its}")


def compare_with_holes(program, dump, answers, whole, notes):
    for got, wanted in zip(answers, whole):
        if wanted["command"] in ("ps", "mod"):
            compare_rows(program, dump, got, wanted, notes)
        elif wanted["command"] == "bt":
            compare_trace(got, wanted)
        elif wanted["command"] == "sys":
            check(got["ok"], f"sys: {got.get('error')}")
            check_equal(got["result"]["release"], wanted["result"]["release"], "release")
            check_equal(got["result"]["panic"], wanted["result"]["panic"], "panic")
        else:
            compare_same([got], [wanted])


def compare_text(program, dump, boot, may_miss):
    """bt and log in text, byte by byte."""
    for command in ("log",) if may_miss else ("bt", "log"):
        ours = program.run(["-q", "-c", command, *dump], status=0)
        theirs = program.run(["-q", "-c", command, boot.dump], status=0)
        check_equal(ours.out, theirs.out, f"text of {command}")
        check(may_miss or not ours.err, f"{command}: {ours.errors}")


def all_tables(program, dump, path):
    """{table: its rows, and how many there are of each}, of --sqlite; without what lies in the memory of processes."""
    program.run(["-q", dump, "--sqlite", path], status=0)
    database = sqlite3.connect(path)
    database.text_factory = bytes
    tables = {}
    for name, in database.execute("SELECT name FROM sqlite_schema").fetchall():
        name = name.decode()
        columns = [row[1].decode() for row in database.execute(f"PRAGMA table_info({name})")]
        of_users = [columns.index(column) for column in ("args", "env") if name == "tasks"]
        tables[name] = collections.Counter(tuple(value for i, value in enumerate(row) if i not in of_users)
                                           for row in database.execute(f"SELECT * FROM {name}"))
    database.close()
    os.unlink(path)
    return tables


def compare_tables(session, boot, name):
    """Each row of each table is that of the dump of which nothing was left out."""
    program = session.program
    with session.case(f"{boot.label} {name}: all tables are elf's") as notes:
        whole, filtered = (all_tables(program, dump, os.path.join(program.scratch, "flavour.db"))
                           for dump in (boot.dump, boot.path(f"vmcore.{name}")))
        check_equal(set(filtered), set(whole), "tables")
        for name, rows in whole.items():
            check_equal(list((filtered[name] - rows).items())[:2], list((rows - filtered[name]).items())[:2], f"rows of {name}")
        check(len(whole) > 70 and whole["tasks"].total() > 100, f"truth: {len(whole)} tables")
        notes.append(f"{len(whole)} tables, {sum(rows.total() for rows in whole.values())} rows")


def run(session):
    program = session.program
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        whole = None
        with session.case(f"{kernel} elf"):
            whole = program.answers(boot.dump, COMMANDS, status=0)
        for name in FLAVOURS:
            compare_flavour(session, boot, name, whole)
        for item, name in (("boot1", "zlib"), ("boot1", "zstd"), ("boot2", "zstd")):
            if not may_have_holes(kernel, name):
                compare_tables(session, Boot(kernel, item), name)


def compare_flavour(session, boot, name, whole):
    program = session.program
    label = f"{boot.kernel} {name} says what elf says"
    reason = None
    try:
        dump, reason = find_dump(boot, name)
    except Exception as failure:
        with session.case(label):
            raise failure
        return
    if reason:
        session.skip(label, reason)
        return
    with session.case(label) as notes:
        check(whole, "elf gives nothing to compare with")
        parts = [dump] if isinstance(dump, str) else dump
        may_miss = may_have_holes(boot.kernel, name)
        answers = program.answers(parts, COMMANDS)
        if may_miss:
            compare_with_holes(program, parts, answers, whole, notes)
        else:
            compare_same(answers, whole)
        compare_text(program, parts, boot, may_miss)
        notes.append(answers[-1]["result"]["format"])
