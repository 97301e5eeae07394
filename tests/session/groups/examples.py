# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example of every command and topic runs on a real dump, in text, JSON and CSV."""

import csv
import io
import os
import re
import tempfile

from lib import CONTROL, Boot, check, check_equal, kernel_names, parse_json

TOPICS = ("crash", "piping", "expressions", "output", "rc")
# These do something and say nothing.
SILENT = re.compile(r"quit$|set .|alias .|source /dev/null$|.*> ?/dev/null$")


def is_data(example):
    """Its output is the program's own, in whatever format is asked for."""
    program_reads = re.search(r" \| (grep|head|tail|wc|sort|less)\b", example)
    return not (program_reads or ">" in example.replace("->", "") or "--csv" in example or
                example == "quit")


MARK = 0x5eca5e  # what is printed between the examples of one run
# These change what comes behind them.
APART = re.compile(r"(quit|set|alias|source|live|rc)\b|.*>")


def run_marked(program, boot, examples, *options):
    """The output of each of several commands, which one process runs."""
    lines = [line for example in examples for line in (f"print -D {MARK}", example)]
    result = program.run(["-q", *options, *(word for line in lines for word in ("-c", line)), boot.dump], status=0, timeout=600)
    parts = re.split(rf"^(?:type,origin,value\n)?.*\b{MARK}\n", result.text, flags=re.M)
    check_equal(len(parts), len(examples) + 1, f"outputs of {examples}")
    check(not result.err, f"{examples}: {result.errors}")
    check(not CONTROL.search(result.out), f"{examples}: control characters")
    return dict(zip(examples, parts[1:]))


def check_csv(examples, tables):
    """As many cells in each row as in the heading."""
    for example in examples:
        rows = list(csv.reader(io.StringIO(tables[example])))
        check(len({len(row) or 1 for row in rows}) <= 1, f"{example}: rows of different lengths in CSV")


class Outputs:
    """What examples say: of those that change nothing for the others one process says all, in each form."""

    def __init__(self, program, boot, examples):
        self.program, self.boot = program, boot
        examples = list(dict.fromkeys(examples))
        data = [example for example in examples if is_data(example)]
        together = [example for example in data if not APART.match(example)]
        self.answers = dict(zip(data, program.answers(boot.dump, data, status=0, timeout=600)))
        self.texts = run_marked(program, boot, together)
        self.tables = run_marked(program, boot, together, "--csv")

    def check(self, examples):
        """Each says something, nothing of it is a control, its JSON is JSON and its CSV a table."""
        for example in examples:
            if example not in self.texts:
                self.texts |= run_marked(self.program, self.boot, [example])
            if example in self.answers and example not in self.tables:
                self.tables |= run_marked(self.program, self.boot, [example], "--csv")
            nothing = example in self.answers and self.answers[example]["result"] in (None, [], {})
            check(self.texts[example] or nothing or SILENT.match(example), f"{example}: says nothing")
        check_csv([example for example in examples if example in self.answers], self.tables)


def run_on(program, boot, examples):
    """On another kernel: all in one session, as JSON and as text."""
    data = [example for example in examples if is_data(example)]
    for example, answer in zip(data, program.answers(boot.dump, data, timeout=600)):
        check(answer["ok"], f"{example}: {answer.get('error')}")
    arguments = [word for example in data for word in ("-c", example)]
    result = program.run(["-q", *arguments, boot.dump], status=0, timeout=600)
    check(not result.err, result.errors)
    check(not CONTROL.search(result.out), "control characters")


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


CRASH_OPTIONS = ("bt -f", "bt -T", "bt -s", "bt -e", "dis -rl", "mod -r", "mod -t", "rd -d", "sym -M", "sys -c",
                 "sys -t", "bt -E", "bt -I 1", "bt -R schedule", "bt -p", "bt -x", "mod -g", "ps -C 0", "ps -H",
                 "list -l 8", "list -S a", "list -B", "rd -SS", "rd -o 8", "rd -e 0", "struct -l 8", "struct -c 2",
                 "struct -r", "struct -u", "sym -n", "task -x", "dis -f", "dis -u", "log -d", "log -a", "rd -D",
                 "sys -i", "sys -panic", "tree -r 8", "tree -S a", "files -p 0", "irq -d", "vm -v", "vm -R 1",
                 "vm -f 1", "net -N")


def knows_crash(program, boot):
    """What crash has and we lack is answered with what does the same, which works; what are lines of tables: habits.py."""
    advice = []
    commands = [word["name"] for word in program.result(boot.dump, "help crash")["words"]]
    check(len(commands) > 12, f"crash's commands: {commands}")
    for line in (*commands, *CRASH_OPTIONS):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        _, found, hint = result.errors.partition("; ")
        check(found and "usage" not in hint and "`help` lists" not in hint,
              f"{line}: {result.errors}")
        advice += re.findall("`([^`]*)`", hint)
    # What has a word in capitals is a pattern.
    lines = [line for line in advice if not re.search(r"\b[A-Z]{3,}\b", line)]
    if not boot.addresses.get(("sparse_irqs", "")):
        lines = [line.replace("sparse_irqs", "irq_desc_tree") for line in lines]
    check(len(lines) > 20, f"only {len(lines)} lines of advice")
    arguments = [word for line in lines for word in ("-c", line)]
    result = program.run(["-q", *arguments, boot.dump], status=0)
    check(not result.err, result.errors)
    same = ("g p/x jiffies", "p/x jiffies"), ("for 1 bt", "foreach 1 bt"), \
        ("size list_head", "struct list_head"), ("help where", "help bt"), \
        ("help px", "help print"), ("gdb p/x jiffies", "p/x jiffies"), ("ps -ku", "ps -k -u"), ("dis -rx schedule",
                                                                        "dis -r -x schedule"), \
        ("whatis task_struct", "whatis struct task_struct")
    for line, meant in same:
        check_equal(program.text(boot.dump, line), program.text(boot.dump, meant), line)
    lines = ("set hex on", "p 255", "set hex off", "p 255")
    numbers = program.run(["-q", *sum((["-c", line] for line in lines), []), boot.dump], status=0)
    check_equal(numbers.lines, ["(int)0xff", "(int)255"], "set hex on, set hex off")
    for name in ("pager", "scroll", "pagination"):
        answers = program.answers(boot.dump, [f"set {name} off", "set", f"set {name} on", "set"],
                                  status=0)
        pager = [{option["name"]: option["value"] for option in answer["result"]["options"]}["pager"]
                 for answer in answers[1::2]]
        check_equal(pager, ["off", "on"], f"set {name}")
    lines = ("set hex", "p 255", "set radix 10", "p 255", "set -c 1", "print current == current:1",
             "set -p", "print current == current:0", "print current->comm")
    answers = program.answers(boot.dump, lines, status=0)
    numbers = [answers[i]["result"]["value"] for i in (1, 3, 5, 7)]
    check_equal(numbers, [255, 255, 1, 1], "what set selects")
    words = program.text(boot.dump, "rd linux_banner 3").splitlines()
    check_equal(program.text(boot.dump, "rd -x linux_banner 3").splitlines(),
                [re.match("[0-9a-f]+: ( [0-9a-f]{16})+", line)[0] for line in words],
                "rd without characters")
    for line, word in (("print task_struct", '"task_struct" is a type: struct task_struct'),
                       ("print init_task.comm[0]@4", "column 18: elements are ARRAY[0..9]"),
                       ("set -c 99", "there is no CPU 99"), ("set -x", "set -p or set -c CPU"),
                       ("set scroll less", 'scroll is on or off, not "less"'),
                       ("h", "Ctrl-R"),
                       ("struct TASK_STRUCT", 'did you mean "struct task_struct"?'),
                       ("print INIT_TASK", 'did you mean "init_task"?'),
                       ("print init_task.COMM", 'did you mean "comm"?'),
                       ("* task_struct", "`struct task_struct` shows a type"),
                       ("foreach * nosuch", 'no command "nosuch"'),
                       ("ps ; bt", "one line is one command"), ("p 1;", "leave out the")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors, f"{line}: {result.errors}")


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
    """With a cache, or each example that looks at all globals would take seconds."""
    program = session.program
    with tempfile.TemporaryDirectory() as program.cache:
        boot = Boot(kernel_names()[-1], "boot1")
        program.run(["-q", "-c", "globals", boot.dump], status=0, timeout=600)
        examples = run_all(session, program, boot)
        for kernel in (*kernel_names()[:-1], "7.3"):
            other = Boot(kernel, "boot1")
            if not os.path.exists(os.path.join(other.folder, "vmcore.elf")):
                continue
            with session.case(f"{kernel}: {len(examples)} examples"):
                run_on(program, other, examples)
            with session.case(f"{kernel}: crash's words"):
                knows_crash(program, other)
    program.cache = None


def run_all(session, program, boot):
    """Returns the examples of all commands."""
    names, described, outputs = [], {}, None
    with session.case("help lists the commands"):
        names = [row["name"] for row in program.result(boot.dump, "help")]
        check({"print", "bt", "log", "ps", "sym", "help"} <= set(names), f"only {names}")
        check(all(row["summary"] for row in program.result(boot.dump, "help")), "no summary")
        helps = [*names, *TOPICS]
        described = dict(zip(helps, (answer["result"] for answer in
                                     program.answers(boot.dump, ["help " + name for name in helps], status=0))))
    with session.case("all examples in one run"):
        outputs = Outputs(program, boot, [example for name in described for example in described[name]["examples"]])
    for name in described:
        with session.case(name if name in names else "help " + name) as notes:
            check(described[name]["description"], "no description")
            if name in names:
                check(described[name]["usage"].startswith("usage: "), f"usage: {described[name]['usage']!r}")
            check(outputs, "the run of all examples failed")
            outputs.check(described[name]["examples"])
            notes.append("; ".join(described[name]["examples"]))
    for line in ("ps", "mod", "sym -q init_task", "help", "log", "ps -k | print {pid, comm, mm}"):
        with session.case("CSV of " + line):
            csv_equals_json(program, boot, line)
    for name, test in (("columns", chooses_columns), ("pipes", joins_commands),
                       ("scripts", names_lines), ("crash's words", knows_crash)):
        with session.case(name):
            test(program, boot)
    return [example for name in names for example in described[name]["examples"]]
