# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example of every command and topic runs on a real dump, in text, JSON and CSV."""

import csv
import io
import re

from lib import CONTROL, Boot, check, check_equal, kernel_names, parse_json

TOPICS = ("pipes", "expressions", "output", "rc")
# These do something and say nothing.
SILENT = re.compile(r"quit$|set .|alias .|source /dev/null$|.*> ?/dev/null$")


def runs_example(program, boot, example):
    """It says something, nothing of it is a control, and its JSON is JSON."""
    result = program.run(["-q", "-c", example, boot.dump], status=0)
    check(not result.err, f"{example}: {result.errors}")
    check(not CONTROL.search(result.out), f"{example}: control characters")
    program_reads = re.search(r" \| (grep|head|tail|wc|sort|less)\b", example)
    nothing = None
    if example != "quit" and not program_reads and ">" not in example and "--csv" not in example:
        nothing = program.result(boot.dump, example) in (None, [], {})
    check(result.out or nothing or SILENT.match(example), f"{example}: says nothing")


def cell_of(value, cell):
    """What a value of JSON is in CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return cell if float(cell) == value else str(value)
    names = {"\n": "\\n", "\t": "\\t"}
    return re.sub(r"[\x00-\x1f\x7f]",
                  lambda found: names.get(found[0], f"\\x{ord(found[0]):02x}"), str(value))


def csv_equals_json(program, boot, line):
    """CSV has the rows of the JSON, and of flat rows the same cells."""
    rows = program.result(boot.dump, line)
    result = program.run(["-q", "--csv", "-c", line, boot.dump], status=0)
    check(not CONTROL.search(result.out), f"{line}: control characters in CSV")
    table = list(csv.DictReader(io.StringIO(result.text)))
    check_equal(len(table), len(rows), f"rows in CSV of {line}")
    for cells, row in zip(table, rows):
        for key, value in row.items():
            if isinstance(value, (dict, list)):
                continue
            check_equal(cells[key], cell_of(value, cells[key]), f"{line}: {key} in CSV")


def chooses_columns(program, boot):
    result = program.run(["-q", "-c", "ps --csv --columns comm,pid 1 2", boot.dump], status=0)
    check_equal(result.lines, ["comm,pid", "init,1", "kthreadd,2"], "chosen columns")
    result = program.run(["-q", "-c", "ps --columns pid 1", boot.dump], status=0)
    check_equal([line.split() for line in result.lines], [["PID"], ["1"]], "one column in text")
    result = program.run(["-q", "-c", "ps --columns nope", boot.dump], status=1)
    check("there are: running,pid" in result.errors, f"columns that exist: {result.errors}")
    answer = parse_json(program.run(["-q", "-c", "ps --json --columns pid 1", boot.dump],
                                    status=0).out.strip())
    check_equal(answer["result"], [{"pid": 1}], "one column in JSON")


def joins_commands(program, boot):
    """Address pipes, against what the commands say alone."""
    tasks = program.result(boot.dump, "ps")
    some = tasks[1:4] + tasks[-2:]
    names = " ".join(row["address"] for row in some)
    table = program.result(boot.dump, f"ps {names} | print {{pid, comm}}")
    check_equal([(row["address"], row["pid"], row["comm"]) for row in table],
                [(row["address"], row["pid"], row["comm"]) for row in some], "members by pipe")
    stacks = program.result(boot.dump, "ps 1 2 | bt")
    check_equal(stacks, [program.result(boot.dump, f"bt {pid}") for pid in (1, 2)], "bt by pipe")
    values = program.result(boot.dump, "ps 1 | print $_->tgid | 4096")
    check_equal([value["value"] for value in values], [1 | 4096], "C's or behind a pipe")
    check_equal(program.result(boot.dump, "ps -s X | bt"), [], "a pipe without items")
    whole = program.text(boot.dump, "ps")
    check_equal(program.text(boot.dump, "ps | cat"), whole, "ps | cat")
    for line, word in (("ps 1 | log", "takes no address"), ("ps 1 | print 5", "$_->MEMBER"),
                       ("ps 1 | print {nonesuch}", "nonesuch"), ("ps |", "nothing behind"),
                       ("print jiffies > jiffies", "may be C's"), ("ps > /nonesuch/x", "/nonesuch/x")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors, f"{line}: {result.errors}")
    # A program that fails is a failed command; one that leaves early is none.
    program.run(["-q", "-c", "ps | (cat >/dev/null; exit 3)", boot.dump], status=1)
    result = program.run(["-q", "-c", "sym -l | head -1", "-c", "print 1", boot.dump], status=0)
    check_equal(len(result.lines), 2, "lines of head -1 and print")


def names_lines(program, boot):
    """Messages of scripts have file and line, sourced files too."""
    inner, outer = (f"{program.scratch}/{name}" for name in ("inner", "outer"))
    with open(inner, "w") as file:
        file.write("# nothing\n\nnonesuch\nprint 1 + 1  # two\n")
    with open(outer, "w") as file:
        file.write(f"source {inner}\nprint nonesuch_variable\nalias two = print 2\ntwo * 3\n")
    result = program.run(["-q", "-i", outer, boot.dump], status=1)
    check_equal(result.lines, ["(int)2", "(int)6"], "what the scripts print")
    check(f"{inner}:3: no command" in result.errors, f"no {inner}:3 in {result.errors}")
    check(f"{outer}:2: print: " in result.errors, f"no {outer}:2 in {result.errors}")
    with open(inner, "w") as file:
        file.write(f"source {inner}\n")
    program.run(["-q", "-i", inner, boot.dump], status=1)


def run(session):
    program = session.program
    boot = Boot(kernel_names()[-1], "boot1")
    names = []
    with session.case("help lists the commands"):
        names = [row["name"] for row in program.result(boot.dump, "help")]
        check({"print", "bt", "log", "ps", "sym", "help"} <= set(names), f"only {names}")
        check(all(row["summary"] for row in program.result(boot.dump, "help")), "no summary")
    for name in names:
        with session.case(name) as notes:
            described = program.result(boot.dump, f"help {name}")
            check(described["description"], "no description")
            check(described["usage"].startswith("usage: "), f"usage: {described['usage']!r}")
            for example in described["examples"]:
                runs_example(program, boot, example)
            notes.append("; ".join(described["examples"]))
    for name in TOPICS:
        with session.case("help " + name):
            for example in program.result(boot.dump, "help " + name)["examples"]:
                runs_example(program, boot, example)
    for line in ("ps", "mod", "sym -q init_task", "help", "log", "ps -k | print {pid, comm, mm}"):
        with session.case("CSV of " + line):
            csv_equals_json(program, boot, line)
    for name, test in (("columns", chooses_columns), ("pipes", joins_commands),
                       ("scripts", names_lines)):
        with session.case(name):
            test(program, boot)
