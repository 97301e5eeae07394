# SPDX-License-Identifier: GPL-3.0-or-later
"""`sym -l` against the guest's own /proc/kallsyms."""

from lib import Failure, boots, check, check_lines

# What the live kernel lists behind its modules though no table of a module or
# of the kernel image has it: trampolines and programs made at run time.
RUN_TIME_MODULES = ("bpf", "__builtin__ftrace", "__builtin__kprobes")


def listed(program, dump):
    """(address, letter, name, module) of every row of `sym -l`."""
    rows = program.result(dump, "sym -l")
    return [(int(row["address"], 16), row["kind"], row["name"], row["module"] or "")
            for row in rows]


def shown(rows):
    return [f"{address:016x} {letter} {name}" for address, letter, name, _ in rows]


def split(rows):
    """The rows by module, in order; the core's are under ""."""
    modules = {}
    for row in rows:
        modules.setdefault(row[3], []).append(row)
    return modules


def compare_modules(ours, theirs, notes):
    """Symbols of each module, in the order of its own table."""
    extras = {name: len(theirs[name]) for name in RUN_TIME_MODULES if name in theirs}
    wanted = [name for name in theirs if name and name not in extras]
    got = [name for name in ours if name and name not in extras]
    check_lines(got, wanted, "module")
    for name in wanted:
        check_lines(shown(ours[name]), shown(theirs[name]), f"{name}'s symbol")
    notes.append(f"{sum(len(theirs[name]) for name in wanted)} symbols of "
                 f"{len(wanted)} modules")
    for name, count in extras.items():
        listed_too = len(ours.get(name, []))
        notes.append(f"{count} of [{name}], made at run time, not compared; "
                     f"we list {listed_too}")


def look_up(program, boot):
    """Names and addresses, one by one, through the other form of `sym`."""
    known = [name for name in ("init_task", "_stext", "schedule", "panic", "jiffies")
             if len(boot.addresses.get((name, ""), ())) == 1]
    check(len(known) > 3, "truth: the usual symbols are not there")
    answers = program.answers(boot.dump, [f"sym {name}" for name in known], status=0)
    for name, answer in zip(known, answers):
        rows = answer["result"]
        if isinstance(rows, dict):
            rows = [rows]
        check({int(row["address"], 16) for row in rows} == {boot.address(name)},
              f"sym {name} gives {rows}")
    inside = boot.address("panic") + 5
    rows = program.result(boot.dump, f"sym {inside:#x}")
    check("panic" in str(rows), f"sym {inside:#x} gives {rows}")
    missing = program.run(["-q", "-c", "sym no_such_symbol_xyz", boot.dump], status=1)
    check(len(missing.err.splitlines()) == 1, f"message: {missing.errors}")


def run(session):
    for boot in boots():
        rows = None
        with session.case(f"{boot.label}: every core symbol is as in /proc/kallsyms") as notes:
            rows = split(listed(session.program, boot.dump))
            theirs = split(boot.symbols)
            check_lines(shown(rows.get("", [])), shown(theirs[""]), "symbol")
            notes.append(f"{len(theirs[''])} symbols")
        with session.case(f"{boot.label}: every module symbol is as in /proc/kallsyms") as notes:
            if rows is None:
                raise Failure("sym -l gave nothing")
            compare_modules(rows, split(boot.symbols), notes)
        with session.case(f"{boot.label}: sym NAME and sym ADDRESS"):
            look_up(session.program, boot)
