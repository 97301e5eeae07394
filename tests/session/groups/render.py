# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as text and as JSON, with every option: the text is read by a parser of its own and compared
with the JSON, value by value."""

import re

from lib import Failure, boots, check, check_equal, shorten, value_of

VALUES = (
    "init_task", "init_task.se", "init_task.comm", "&init_task", "init_task.cred", "*init_task.cred",
    "*init_task.signal", "*init_task.files", "init_uts_ns", "init_uts_ns.name", "init_pid_ns",
    "init_user_ns", "init_net", "init_mm", "init_fs", "init_files", "init_css_set",
    "modules", "super_blocks", "file_systems", "*file_systems", "iomem_resource", "ioport_resource",
    "cgrp_dfl_root", "console_drivers", "panic_notifier_list", "reboot_notifier_list",
    "tasklist_lock", "cgroup_mutex", "slab_caches", "slab_mutex", "root_task_group", "jiffies",
    "__cpu_online_mask", "__cpu_possible_mask", "node_states", "vm_event_states:0", "runqueues:0",
    "cpu_info:0", "cpu_hw_events:0", "tick_cpu_sched:0", "hrtimer_bases:0", "softirq_vec",
    "irq_stat:0", "init_nsproxy", "init_cred", "vm_zone_stat", "contig_page_data", "node_data",
    "kernel_sem", "uevent_sock_mutex", "proc_root", "ksoftirqd:0", "system_wq", "*system_wq",
    "linux_banner", "boot_cpu_data", "hstates", "random_ready_notifier", "inet_ehash_secret",
    "tcp_hashinfo", "tcp_prot", "init_task.thread_info", "init_task.cpus_mask", "sizeof(int)",
    "(char)65", "\"abc\"", "1 == 1", "-1", "(unsigned char)200", "init_task.mm", "init_task.stack",
    "init_task.restart_block", "init_task.rcu_node_entry", "init_task.sched_class",
    "*init_task.sched_class", "module_ktype", "*init_task.real_parent",
)
# Each alone, and many together.
OPTIONS = ("", "-x", "-o", "-D", "-d 1", "-d 3", "-a 2", "-s 4", "-z", "-t", "-O", "-r", "-x -r",
           "-r -z -t -O", "-x -z -t -O -d 4 -a 5 -s 8", "-r -o -t -a 3")
SEPARATOR = "print 0x7a1b2c3d"
SEPARATOR_TEXT = "2048601149"

POINTER = re.compile(r"0x[0-9a-f]+")
FLAGS = re.compile(r" \((declared: )?[\w|]+\)")
NUMBER = re.compile(r"-?(0x[0-9a-f]+|\d+)(?![\w])")
WORD = re.compile(r"[^\s,{}<>\"]+(\+0x[0-9a-f]+)?")


class Text:
    """A parser of what print shows; raises Failure where it cannot go on."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def blanks(self):
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.text.startswith("/*", self.at):
                self.at = self.text.index("*/", self.at) + 2
            else:
                break

    def fail(self, wanted):
        raise Failure(f"{wanted} is wanted at {shorten(self.text[self.at:self.at + 60])!r}")

    def take(self, literal):
        self.blanks()
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found and found.group(0)

    def skip_type(self):
        """A cast, whose parentheses may nest."""
        self.blanks()
        if not self.text.startswith("(", self.at):
            return
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not depth:
                return

    def string(self):
        start = self.at + 1
        self.at = start
        while self.text[self.at] != '"':
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1
        return unescape(self.text[start:self.at - 1])

    def place(self):
        """<...>, where angles may nest."""
        start, depth = self.at, 0
        while True:
            depth += {"<": 1, ">": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not depth:
                return self.text[start:self.at]

    def value(self):
        """A tuple: its kind, and what it is."""
        self.skip_type()
        self.blanks()
        first = self.text[self.at:self.at + 1]
        if first == "{":
            return self.braces()
        if first == '"':
            string = self.string()
            return ("string", string, self.take("..."))
        if first == "<":
            return ("place", self.place())
        number = self.match(NUMBER)
        if number:
            return ("number", number, self.tail())
        word = self.match(WORD)
        if not word:
            self.fail("a value")
        while self.take("|"):
            self.blanks()
            word += " | " + (self.match(WORD) or "")
        if self.text.startswith(" [", self.at):
            self.match(re.compile(r" \[\w+\]"))
        return ("word", word)

    def tail(self):
        """What explains a number: 'A', <symbol>, "what it points to"."""
        rest = ""
        if self.text.startswith(" '", self.at):
            rest = self.match(re.compile(r" '(\\.|[^'\\])'"))
        elif self.text.startswith(' "', self.at):
            self.at += 1
            rest = self.string()
            self.take("...")
        elif self.text.startswith(" <", self.at) and \
                not self.text.startswith(" <repeats", self.at):
            self.at += 1
            rest = self.place()
        elif self.text.startswith(" (", self.at):
            rest = self.match(FLAGS) or ""
        return rest

    def braces(self):
        start = self.at
        self.take("{")
        if self.take("...}"):
            return ("place", "{...}")
        self.blanks()
        if self.text.startswith(".", self.at) and not self.text.startswith("...", self.at):
            return self.members()
        if self.take("}"):
            return ("empty",)
        elements = []
        short = self.is_short(start)
        if short:
            return short
        while not self.take("}"):
            if self.take("..."):
                elements.append(("cut",))
            else:
                element = self.value()
                times = 1
                if self.take("<repeats"):
                    self.blanks()
                    times = int(self.match(re.compile(r"\d+")))
                    check(self.take("times>"), "no end of <repeats")
                elements += [element] * times
            self.take(",")
        return ("array", elements)

    def is_short(self, start):
        """"{ locked, owner = 1 "init" }" and its like: what is no array."""
        line = self.text[start:].split("\n", 1)[0]
        forms = (r"\{ (un|read-|write-)?locked[^\n]*? \}", r"\{ empty \}", r"\{ no (CPU|node) \}",
                 r"\{ first = [^\n{}]* \}", r"\{ (CPU|node)s? \d+(-\d+)?(,\d+(-\d+)?)* \}",
                 r"\{ -?\w+(, saturated)? \}",
                 r"\{ sequence = \w+(, being written)?(, (un)?locked(, with waiters)?)? \}",
                 r"\{ (not done|done for all|done = \d+)(, with waiters)? \}")
        for form in forms:
            found = re.match(form, line)
            if found:
                self.at = start + found.end()
                return ("short", found.group(0))
        return None

    def members(self):
        members = {}
        while not self.take("}"):
            if not self.take("."):
                self.fail("a member")
            name = self.match(re.compile(r"\w+"))
            check(self.take("="), f"no = after .{name}")
            members.setdefault(name, self.value())
            self.take(",")
        return ("struct", members)


def unescape(text):
    r"""What the text of a string stands for; JSON has the bytes of no text as \xNN."""
    simple = {"n": "\n", "t": "\t"}

    def one(match):
        escape = match.group(1)
        if escape[0] == "x":
            code = int(escape[1:], 16)
            return chr(code) if code < 0x80 else match.group(0)
        return simple.get(escape, escape)
    return re.sub(r"\\(x[0-9a-f]{2}|.)", one, text, flags=re.DOTALL)


def to_number(text):
    negative = text.startswith("-")
    digits = text.lstrip("-")
    octal = digits.startswith("0") and not digits.startswith("0x") and len(digits) > 1
    number = int(digits, 16 if digits.startswith("0x") else 8 if octal else 10)
    return -number if negative else number


def leaves(value):
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for element in value:
            yield from leaves(element)
    else:
        yield value


class Difference:
    """What is said where text and JSON differ, which few of so many values do."""

    def __init__(self, path, text, data):
        self.parts = path, text, data

    def __str__(self):
        path, text, data = self.parts
        return f"{path}: {shorten(repr(text), 80)} in text, {shorten(repr(data), 80)} in JSON"


class Comparison:
    def __init__(self, is_raw, names):
        self.is_raw = is_raw
        self.names = names  # enumerators and functions to be looked up: name -> JSON value
        self.count = 0

    def same(self, text, data, path):
        """Fails unless the parsed text says what JSON has."""
        self.count += 1
        kind = text[0]
        where = Difference(path, text, data)
        if isinstance(data, dict) and set(data) == {"error"}:
            check(kind == "place" and text[1] != "{...}", where)
        elif data is None:
            check(kind == "place", where)
        elif kind == "short" and isinstance(data, list):
            self.same(one_element(text[1]), data, path)
        elif kind == "short":
            check(not self.is_raw, where)
            self.same_short(text[1], data, where)
        elif kind == "empty":
            check(data in ({}, []), where)
        elif isinstance(data, dict):
            check(kind == "struct", where)
            data = self.same_flags(text[1], data, path)
            check_equal(sorted(text[1]), sorted(data), f"members of {path}")
            for name, member in data.items():
                self.same(text[1][name], member, f"{path}.{name}")
        elif isinstance(data, list):
            self.same_array(text, data, path, where)
        else:
            self.same_scalar(text, data, where)

    def same_flags(self, members, data, path):
        """Names of flags stand behind a number, and in JSON in members beside it, which are taken
        off here."""
        added = set()
        for name, (kind, *rest) in members.items():
            if kind != "number" or not FLAGS.fullmatch(rest[1]):
                continue
            shown = rest[1].strip(" ()").removeprefix("declared: ").split("|")
            shown = [flag for flag in shown if not flag.startswith("0x")]
            check_equal(shown, data.get(f"{name}_names"), f"flags of {path}.{name}")
            check_equal(data.get(f"{name}_names_origin"),
                        "declared" if "declared: " in rest[1] else None, f"origin of {path}.{name}")
            added |= {f"{name}_names", f"{name}_names_origin"}
        return {name: value for name, value in data.items() if name not in added}

    def same_array(self, text, data, path, where):
        check(kind_is_array(text), where)
        elements = text[1]
        if elements and elements[-1] == ("cut",):
            elements = elements[:-1]
        check_equal(len(elements), len(data), f"elements of {path}")
        for index, (element, own) in enumerate(zip(elements, data)):
            self.same(element, own, f"{path}[{index}]")

    def same_scalar(self, text, data, where):
        kind = text[0]
        if isinstance(data, bool):
            check(text == ("word", "true" if data else "false"), where)
        elif isinstance(data, str) and kind == "string":
            check(text[1] == data, where)
        elif kind == "number":
            number = to_number(text[1])
            wanted = int(data, 16) if isinstance(data, str) else data
            check(any((wanted - number) % 2 ** bits == 0 and abs(number) < 2 ** bits
                      for bits in (8, 16, 32, 64, 128)), where)
            check(not (self.is_raw and text[2]), where)
        elif kind == "word" and not self.is_raw:
            self.names.append((text[1], data, where))
        else:
            raise Failure(where)

    def same_short(self, text, data, where):
        """Numbers, lists and locks: from the members that JSON has."""
        values = [int(value, 16) if isinstance(value, str) and POINTER.fullmatch(value) else value
                  for value in leaves(data)]
        inner = text[2:-2].replace(", saturated", "")
        if inner.startswith("sequence"):
            shown = inner.split(",")[0].split()[-1]
            check_equal((to_number(shown), "written" in inner), (values[0], bool(values[0] & 1)),
                        where)
        elif "done" in inner:
            wanted = {0: "not done", 2 ** 32 - 1: "done for all"}.get(
                data["done"], f"done = {data['done']}")
            check_equal(inner.replace(", with waiters", ""), wanted, where)
        elif inner.startswith("first"):
            shown = [int(number, 16) for number in re.findall(r"= (0x[0-9a-f]+)", inner)]
            check_equal(shown, values[:len(shown)], where)
        elif inner == "empty":
            check(len(set(values)) == 1, where)
        elif inner.startswith("unlocked"):
            check(values[0] == 0, where)
        elif "locked" in inner:
            check(any(values), where)
        elif re.fullmatch(r"-?\w+", inner) and len(values) == 1:
            check((to_number(inner) - values[0]) % 2 ** 32 == 0, where)
        else:
            words = data["bits"]
            bits = {index for index in range(64 * len(words)) if words[index // 64] >> index % 64 & 1}
            check(re.fullmatch(r"no (CPU|node)|(CPU|node) \d+|(CPU|node)s \d+[,-][\d,-]+", inner), where)
            shown = set()
            for part in inner.split(" ")[1].split(",") if not inner.startswith("no ") else ():
                first, _, last = part.partition("-")
                shown |= set(range(int(first), int(last or first) + 1))
            check(shown == bits, where)


def one_element(text):
    """"{ 5 }" is an atomic's number, or an array of one element."""
    inner = text[2:-2]
    return ("array", [("number", inner, "") if NUMBER.fullmatch(inner) else ("word", inner)])


def kind_is_array(text):
    return text[0] in ("array", "empty")


def texts_of(program, boot, commands):
    """The text of each command, from one run."""
    arguments = ["-q"]
    for command in commands:
        arguments += ["-c", command, "-c", SEPARATOR]
    out = program.run([*arguments, boot.dump], timeout=600).text
    parts = re.split(rf"^\(int\){SEPARATOR_TEXT}\n", out, flags=re.MULTILINE)
    check_equal(len(parts), len(commands) + 1, "number of answers")
    return parts[:-1]


def value_text(text):
    """What stands between "TYPE NAME = " or "(TYPE)" and the comment at the end."""
    text = re.sub(r"\A(// [^\n]*\n)*", "", text)
    text = re.sub(r"\n// or: [^\n]*\n?\Z", "\n", text)
    text = re.sub(r"  // (declared|inferred|guess|type unknown|at most|length not)[^\n]*\n?\Z", "", text)
    head = re.match(r"\A[^\n={\"]*? = ", text)
    return text[head.end():] if head else text


def commands_of(options):
    return [f"print {options} {value}".replace("  ", " ") for value in VALUES]


def compare(options, answers, texts, names):
    """Compares all values with one set of options; returns how many values were compared."""
    is_raw = "-r" in options.split()
    total = printed = 0
    for command, answer, text in zip(commands_of(options), answers, texts):
        if not answer["ok"]:
            continue  # not every kernel has every variable
        comparison = Comparison(is_raw, names)
        parsed = Text(value_text(text))
        try:
            comparison.same(parsed.value(), value_of(answer["result"]), command)
            parsed.blanks()
            check(parsed.at == len(parsed.text), f"then {parsed.text[parsed.at:][:60]!r}")
        except (Failure, IndexError, ValueError) as failure:
            raise Failure(f"{command}: {failure}") from None
        total += comparison.count
        printed += 1
    check(printed > len(VALUES) * 3 // 4, f"only {printed} of {len(VALUES)} can be printed")
    return total


def check_names(program, boot, names):
    """Enumerators, flags and functions by name are the numbers that JSON has."""
    wanted = {}
    for name, data, where in names:
        wanted.setdefault((name, data), where)
    keys = sorted(wanted, key=str)
    enumerators = [(name, data) for name, data in keys if isinstance(data, int)]
    answers = program.answers(boot.dump, [f"print (long)({name})" for name, _ in enumerators])
    for (name, data), answer in zip(enumerators, answers):
        check(answer["ok"], f"{name}: {answer.get('error')}")
        check(value_of(answer["result"]) % 2 ** 32 == data % 2 ** 32,
              f"{wanted[(name, data)]}: {name} is {value_of(answer['result'])}")
    functions = [(name, data) for name, data in keys if isinstance(data, str)]
    names = {name for name, _ in functions}
    there = {(name, address) for address, _, name, _ in boot.symbols if name in names}
    for name, data in functions:
        check((name, int(data, 16)) in there,
              f"{wanted[(name, data)]}: no such function there")
    return len(enumerators), len(functions)


def text_is_json(program, boot, notes):
    names, total = [], 0
    # The options are the program's own: all of them on one dump of each kernel.
    chosen = OPTIONS if boot.folder.endswith("boot1") else ("", "-r")
    # Of one run: types that were inferred are asked for again and again.
    commands = [command for options in chosen for command in commands_of(options)]
    answers, texts = program.answers(boot.dump, commands, timeout=600), texts_of(program, boot, commands)
    for number, options in enumerate(chosen):
        own = slice(number * len(VALUES), (number + 1) * len(VALUES))
        total += compare(options, answers[own], texts[own], names)
    enumerators, functions = check_names(program, boot, names)
    notes.append(f"{total} values with {len(chosen)} sets of options; {enumerators} enumerators, "
                 f"{functions} functions by name")


def comparison_can_fail(program, boot, notes):
    """The parser and the comparison see planted differences."""
    del program, boot, notes
    good = {"a": 1, "b": [1, 1, 1, 1, 1], "c": "x\"y", "d": "0xff", "e": {"counter": 3}}
    text = '{ .a = 1, .b = { 1 <repeats 5 times> }, .c = "x\\"y", .d = 0xff <f+0x1>, .e = { 3 }, }'

    def is_same(text, data):
        try:
            Comparison(False, []).same(Text(text).value(), data, "planted")
        except Failure:
            return False
        return True
    check(is_same(text, good), "the good one differs")
    bad = ({**good, "a": 2}, {**good, "b": [1] * 4}, {**good, "c": "xy"}, {**good, "d": "0xfe"},
           {**good, "e": {"counter": 4}}, {**good, "f": 1}, {k: good[k] for k in "abcd"},
           {**good, "a": None}, {**good, "b": {"x": 1}})
    for data in bad:
        check(not is_same(text, data), f"no difference seen: {data}")


def members(program, boot, notes):
    """EXPRESSION{A, B} has the values of A and B."""
    chosen = ("comm", "pid", "se.load.weight", "real_parent->comm", "cred->usage", "tasks",
              "cpus_mask")
    result = program.result(boot.dump, "print init_task{comm, pid, se{load{weight}}, "
                            "real_parent->comm, cred->usage, tasks, cpus_mask}")
    check_equal(list(result["value"]), list(chosen), "members")
    for path in chosen:
        check_equal(result["value"][path], program.value(boot.dump, f"init_task.{path}"), path)
    pointer = program.result(boot.dump, "print (struct task_struct *)&init_task {comm, pid}")
    check_equal(pointer["value"], {"comm": "swapper/0", "pid": 0}, "members behind a pointer")
    every = program.result(boot.dump, "print runqueues:a{cpu, curr->pid}")
    check_equal([one["value"]["cpu"] for one in every], list(range(boot.cpu_count)), "cpu")
    each = program.result(boot.dump, "print init_task.sighand->action[1..3]{sa.sa_flags, sa.sa_handler}")
    check_equal([one["index"] for one in each], [[1], [2], [3]], "elements of a slice")
    for one in each:
        for path, value in one["value"].items():
            check_equal(program.value(boot.dump, f"init_task.sighand->action[{one['index'][0]}].{path}"),
                        value, path)
    null = program.result(boot.dump, "print init_task{mm->pgd}")
    check_equal(null["value"], {"mm->pgd": None}, "a member behind NULL")
    for command in ("print {comm}", "print init_task{}", "print init_task{nosuch}",
                    "print init_task{comm,}", "print init_task{comm", "print init_task{comm}}",
                    "print init_task.pid{comm}"):
        failed = program.run(["-q", "-c", command, boot.dump], status=1)
        check_equal(len(failed.errors.splitlines()), 1, f"lines of the message of `{command}`")
    notes.append(f"{len(chosen)} members")


def known_facts(program, boot, notes):
    """What the short forms say, where the guest's facts say it too."""
    present = program.text(boot.dump, "print __cpu_present_mask").strip()
    check(f"{{ CPUs 0-{boot.cpu_count - 1} }}" in present, present)
    for path in ("slab_mutex", "cgroup_mutex", "module_mutex"):
        text = program.text(boot.dump, f"print {path}")
        owner = program.value(boot.dump, f"{path}.owner.counter")
        check(("unlocked" in text) == (owner == 0), f"{path}: {text!r}, owner {owner:#x}")
    readers = program.text(boot.dump, "print tasklist_lock")
    count = program.value(boot.dump, "tasklist_lock.raw_lock.cnts.counter")
    check(("unlocked" in readers) == (count & ~0x100 == 0), f"tasklist_lock: {readers!r}")
    # A number that is no sum of flags, for the enum counts; one that is.
    check_equal(program.text(boot.dump, "print (enum pid_type)77").strip(), "(enum pid_type)77",
                "an enum that counts")
    flags = program.text(boot.dump, "print (enum kobj_ns_type)0")
    check("KOBJ_NS_TYPE_NONE" in flags, flags)
    # Names of files are of unsigned char; u8 is a number.
    path = "mm->exe_file->f_path.dentry->d_name.name"
    collect = next(tid for tid, task in boot.tasks.items() if task.comm == b"collect")
    shown = program.run(["-q", "-c", f"task {collect}", "-c", f"print current->{path}", boot.dump],
                        status=0).text
    check(shown.rstrip().endswith(' "collect"'), shown)
    bytes_text = program.text(boot.dump, "print (u8 *)&linux_banner")
    check('"' not in bytes_text, bytes_text)
    notes.append(present)


CASES = (
    ("text and JSON say the same", text_is_json),
    ("chosen members", members),
    ("short forms", known_facts),
)
ONCE = (("the comparison can fail", comparison_can_fail),)


def run(session):
    for number, boot in enumerate(boots()):
        for name, test in CASES + (ONCE if not number else ()):
            with session.case(f"{boot.label}: {name}") as notes:
                test(session.program, boot, notes)
