# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the kernel's own affairs against what the guest said: modules, symbols, log. All rows."""

import collections
import os
import re

from lib import boots, check, check_equal, check_lines


def modules(program, boot, notes):
    """What /proc/modules and /sys/module say."""
    rows = program.result(boot.dump, "modules")
    wanted = []
    for line in boot.truth("modules").splitlines():
        name, size, references, users, state, base, *taint = line.split()
        wanted.append((name, int(size), int(references), state, int(base, 16),
                       "" if users == "-" else users.rstrip(","), taint[0].strip("()+-") if taint else ""))
    check_lines([(row["name"], row["size"], row["refcnt"], row["state"], int(row["base"], 16), row["used_by"], row["taint"])
                 for row in rows], wanted, "module")
    said = tree(boot, "modules_tree")
    for row in rows:
        for column in ("version", "srcversion"):
            check_equal(row[column], said.get(f"{row['name']}/{column}"), f"{column} of {row['name']}")
    check(any(row["srcversion"] for row in rows), "truth: no version")
    notes.append(f"{len(rows)} modules")


def tree(boot, name):
    """{PATH: VALUE} of a tree of small files."""
    table = {}
    for line in boot.truth(name).splitlines():
        path, _, value = line.partition(" ")
        table[path] = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
    return table


def sections(program, boot, notes):
    wanted = {}
    for module in os.listdir(boot.path("truth", "sections")):
        for name in os.listdir(boot.path("truth", "sections", module)):
            wanted[module, name] = int(boot.truth("sections", module, name), 16)
    rows = program.result(boot.dump, "sections")
    check_equal({(row["module"], row["name"]): int(row["section"], 16) for row in rows}, wanted, "sections")
    check_equal(len(rows), len(wanted), "rows")
    notes.append(f"{len(rows)} sections")


def symbols(program, boot, notes):
    """Of the kernel and of modules in /proc/kallsyms' order."""
    rows = program.result(boot.dump, "symbols")
    got = [f"{int(row['address'], 16):016x} {row['kind']} {row['name']} {row['module'] or ''}" for row in rows]
    wanted = []
    for line in boot.truth("kallsyms").splitlines():
        address, kind, name, *module = line.split()
        wanted.append(f"{address} {kind} {name} {module[0].strip('[]') if module else ''}")
    check_lines(got, wanted, "symbol")
    notes.append(f"{len(rows)} symbols")


def messages(program, boot, notes):
    """As `log` has them, which is compared with the console; and in order."""
    rows = program.result(boot.dump, "messages")
    wanted = program.result(boot.dump, "log")
    check_equal([(row["text"], row["caller"], row["level"], row["facility"]) for row in rows],
                [(row["text"], row["caller"], row["level"], row["facility"]) for row in wanted], "records")
    check_equal([row["time"] // 1000 for row in rows], [round(row["time"] * 1e6) for row in wanted], "times")
    check_equal([row["seq"] for row in rows], list(range(rows[0]["seq"], rows[0]["seq"] + len(rows))), "numbers")
    for row in rows:
        check_equal(row["caller"], f"T{row['pid']}" if row["cpu"] is None else f"C{row['cpu']}", "caller")
    notes.append(f"{len(rows)} records")


def frames(program, boot, notes):
    """As `bt` has them, which is compared with what the kernel said: of every task."""
    rows = {}
    for row in program.result(boot.dump, "frames -a"):
        rows.setdefault(row["task"], []).append(row)
    tasks = [row["address"] for row in program.result(boot.dump, "ps") if row["state"] not in "ZX"]
    for task, answer in zip(tasks, program.answers(boot.dump, [f"bt {task}" for task in tasks], status=0)):
        wanted = answer["result"]["frames"]
        # Of user mode, bt only says that it is.
        check_equal([(row["function"], row["offset"], row["module"], row["kind"], row["kind"] != "user" and row["sp"])
                     for row in rows.get(task, ())],
                    [(one.get("symbol"), one.get("offset"), one.get("module"), one["kind"], one.get("sp", False))
                     for one in wanted], f"frames of {task}")
        check_equal([row["frame"] for row in rows.get(task, ())], list(range(len(wanted))), "numbers")
    check_equal(set(rows), set(tasks), "tasks")
    notes.append(f"{sum(map(len, rows.values()))} frames of {len(tasks)} tasks")


CASES = (("frames are bt's", frames), ("modules are /proc/modules", modules), ("sections are /sys/module/*/sections", sections),
         ("symbols are /proc/kallsyms", symbols), ("messages are the log", messages))


def run(session):
    for boot in boots():
        for name, case in CASES:
            with session.case(f"{boot.label}: {name}") as notes:
                case(session.program, boot, notes)
