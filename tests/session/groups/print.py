# SPDX-License-Identifier: GPL-3.0-or-later
"""`print`, the command line and its exit statuses, against facts of the guest."""

import os
import re
import struct

from groups.types import bpftool
from lib import boots, check, check_equal, check_lines, value_of

HZ = 250  # CONFIG_HZ of Debian's amd64 kernels
# jiffies starts five minutes before its low 32 bits wrap (include/linux/jiffies.h).
INITIAL_JIFFIES = (1 << 32) - 300 * HZ
# Between the last line of the log and the stop of the machine, which a busy host takes its time
# for.  A wrong beginning would be 300 s off.
CLOCK_SECONDS = 30


def print_facts(program, boot):
    """Values that the guest told of itself, or that never change."""
    dump = boot.dump
    machine = boot.truth("version").split()
    wanted = {
        "init_task.comm": "swapper/0",
        "init_task.pid": 0,
        "init_task.flags & 0x00200000": 0x00200000,  # PF_KTHREAD
        "init_uts_ns.name.release": machine[2],
        "init_uts_ns.name.sysname": "Linux",
        "init_uts_ns.name.nodename": "btfcrash-guest",
        "sizeof(struct list_head)": 16,
        "sizeof(void *)": 8,
    }
    answers = program.answers(dump, [f"print {expression}" for expression in wanted])
    for (expression, value), answer in zip(wanted.items(), answers):
        check(answer["ok"], f"{expression}: {answer.get('error')}")
        check_equal(value_of(answer["result"]), value, expression)
    version = program.value(dump, "init_uts_ns.name.version")
    check(version in boot.truth("version"), f"version {version!r} is not in /proc/version")


def print_places(program, boot):
    """Addresses are those of kallsyms; & and * are each other's inverse."""
    dump = boot.dump
    for name in ("init_task", "init_uts_ns", "jiffies_64"):
        result = program.result(dump, f"print {name}")
        check_equal(int(result["address"], 16), boot.address(name), f"address of {name}")
        check_equal(int(program.value(dump, f"&{name}"), 16), boot.address(name), f"&{name}")
    check_equal(program.value(dump, "*&init_task.pid"), 0, "*&init_task.pid")
    init = program.value(dump, "init_task.tasks.next")
    offset = (int(program.value(dump, "&init_task.tasks"), 16) - boot.address("init_task"))
    first = int(init, 16) - offset
    check_equal(program.value(dump, f"((struct task_struct *){first:#x})->comm"), "init",
                "comm of the task after init_task")
    check_equal(program.value(dump, f"((struct task_struct *){first:#x})->pid"), 1,
                "pid of the task after init_task")


def print_per_cpu(program, boot):
    """var:CPU is that CPU's, var:a is all of them in order."""
    dump = boot.dump
    cpus = list(range(boot.cpu_count))
    got = [program.value(dump, f"runqueues:{cpu}.cpu") for cpu in cpus]
    check_equal(got, cpus, "runqueues:N.cpu")
    every = program.result(dump, "print runqueues:a.cpu")
    check_equal(value_of(every), cpus, "runqueues:a.cpu")
    numbers = program.value(dump, "cpu_number:a") if ("cpu_number", "") in boot.addresses \
        else cpus
    check_equal(numbers, cpus, "cpu_number:a")
    result = program.run(["-q", "-c", f"print runqueues:{len(cpus)}.cpu", dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message for a CPU too many")


def print_jiffies(program, boot):
    """jiffies fits the time of the log's last line."""
    stamps = [float(found.group(1)) for found in
              (re.match(r"\[ *(\d+\.\d+)\]", line) for line in boot.console) if found]
    seconds = (program.value(boot.dump, "jiffies_64") - INITIAL_JIFFIES) / HZ
    check(abs(seconds - stamps[-1]) <= CLOCK_SECONDS,
          f"jiffies say {seconds:.1f} s of uptime, the console {stamps[-1]:.1f} s")
    # An alias of the same bytes in the linker's script.
    if boot.addresses.get(("jiffies", "")) == boot.addresses.get(("jiffies_64", "")):
        check_equal(program.value(boot.dump, "jiffies"),
                    program.value(boot.dump, "jiffies_64"), "jiffies")


def print_modules(program, boot):
    """`mod` is /proc/modules: names, addresses, sizes, order."""
    rows = program.result(boot.dump, "mod")
    got = [(row["name"], row["size"], int(row["address"], 16)) for row in rows]
    check_lines(got, boot.modules, "module")


def same_scalar(text, value):
    """A scalar of JSON as the text has it: decimal, hexadecimal, string, name."""
    if isinstance(value, bool):
        return str(value).lower() in text
    if isinstance(value, int):
        return str(value) in text or f"{value:#x}" in text
    return value in text


def print_text(program, boot):
    """Text and JSON of one answer agree, and say the same type."""
    expressions = ("init_task.comm", "init_task.pid", "init_task.prio", "&init_task",
                   "init_task.flags", "init_uts_ns.name.release", "runqueues:0.cpu",
                   "init_task.tasks.next", "init_task.stack")
    for expression in expressions:
        result = program.result(boot.dump, f"print {expression}")
        text = program.text(boot.dump, f"print {expression}")
        check(same_scalar(text, result["value"]),
              f"{expression}: {result['value']!r} in JSON, {text!r} in text")
    result = program.result(boot.dump, "print init_task")
    check_equal(result["type"], "struct task_struct", "type of init_task")
    text = program.text(boot.dump, "print init_task")
    for member in result["value"]:
        # JSON has the names of flags beside the number, the text behind it.
        number = re.sub("_names(_origin)?$", "", member)
        check(member in text or (number != member and number in result["value"]),
              f"member {member} is not in the text")
    check("swapper/0" in text, "no comm in the text")


def says_origin(program, boot):
    """A type that is not certain comes with the word for it."""
    result = program.result(boot.dump, "print init_task.pid")
    check(result["origin"], "no origin")
    text = program.text(boot.dump, "print init_task.pid")
    check_equal("//" in text, result["confidence"] != "certain", f"a remark in {text!r}")
    if result["confidence"] != "certain":
        check(result["origin"] in text, f"origin {result['origin']} is not in {text!r}")
    per_cpu = program.result(boot.dump, "print runqueues:0.cpu")
    # BTF has the per-CPU variables of kernels since 5.11.
    in_btf = any(" VAR 'runqueues' " in line
                 for line in bpftool(boot.path("truth", "btf", "vmlinux")))
    check_equal(per_cpu["origin"], "BTF" if in_btf else "declared", "origin of runqueues")


def declares(program, boot):
    """--declare FILE outranks what the program knows; a bad file is an error."""
    scratch = program.scratch
    path = os.path.join(scratch, "declarations")
    with open(path, "w") as file:
        file.write("/* two halves of four letters */\nunsigned short linux_banner[2];\n")
    result, = program.run(["-q", "--json", "--declare", path, "-c", "print linux_banner",
                           boot.dump], status=0).objects()
    check_equal(value_of(result["result"]), list(struct.unpack("<2H", b"Linu")), "linux_banner")
    check("declared" in result["result"]["origin"], f"origin {result['result']['origin']}")
    with open(path, "w") as file:
        file.write("unsigned short linux_banner[2;\n")
    bad = program.run(["-q", "--declare", path, "-c", "print 1", boot.dump], status=2)
    check_equal(len(bad.err.splitlines()), 1, "lines of the message")
    check(path in bad.errors and ":1:" in bad.errors, f"no FILE:LINE in {bad.errors!r}")
    missing = program.run(["-q", "--declare", path + ".no", "-c", "print 1", boot.dump], status=2)
    check_equal(len(missing.err.splitlines()), 1, "lines of the message")


WRONG = (
    "print no_such_symbol_xyz",
    "print init_task.no_such_member",
    "print init_task.pid +",
    "print *init_task",
    "print (struct no_such_type *)0",
    "print *(struct task_struct *)0",
    "print *(unsigned long *)0xffffffffffffff00",
    "print init_task[",
    "print",
    "nosuchcommand",
    "struct no_such_type",
    "rd 0",
    "bt -c 99",
    "bt --no-such-option",
    "help no_such_command",
)


def wrong_commands(program, boot):
    """Each says why in one line, changes the status, and stops no other."""
    for command in WRONG:
        result = program.run(["-q", "-c", command, "-c", "print 4711", boot.dump], status=1)
        lines = result.errors.splitlines()
        check_equal(len(lines), 1, f"lines of the message of `{command}`")
        check(lines[0].startswith("btfcrash: ") and len(lines[0]) > 20,
              f"`{command}`: {lines[0]!r}")
        check("4711" in result.text, f"`{command}` has stopped what came after it")
        answer = program.answers(boot.dump, [command], status=1)[0]
        check(not answer["ok"] and answer["error"] and "\n" not in answer["error"],
              f"`{command}` in JSON: {answer}")
        check(answer["error"] in result.errors,
              f"`{command}`: {answer['error']!r} in JSON, {lines[0]!r} in text")


def usage(program, boot):
    """Wrong usage is status 2, help and version are 0."""
    for arguments in (["--no-such-option"], ["-c"], ["--declare"]):
        result = program.run(arguments, status=2)
        check(result.err and not result.out, f"{arguments}: nothing on standard error")
    if not os.path.exists("/proc/vmcore"):
        result = program.run([], status=2)
        check("usage" in result.errors, "no usage without a DUMP")
    check("usage" in program.run(["--help"], status=0).text, "--help shows no usage")
    check(re.match(r"btfcrash \d", program.run(["--version"], status=0).text), "--version")
    result = program.run(["-q", "-i", boot.path("vmcore.elf") + ".no", boot.dump], status=2)
    check_equal(len(result.err.splitlines()), 1, "lines of the message for -i")


def sources(program, boot):
    """-c, -i and standard input, in the order given."""
    path = os.path.join(program.scratch, "script")
    with open(path, "w") as file:
        file.write("# a comment\n\nprint 22\nprint 33\n")
    first = "print 11"
    result = program.run(["-q", "-c", first, "-i", path, "-c", "print 44", boot.dump], status=0)
    found = re.findall(r"\b(11|22|33|44)\b", result.text)
    check_equal(found, ["11", "22", "33", "44"], "order of -c and -i")
    result = program.run(["-q", boot.dump], stdin=b"print 55\n# no\nprint 66\n", status=0)
    check_equal(re.findall(r"\b(55|66)\b", result.text), ["55", "66"], "standard input")
    result = program.run(["-q", "-i", "-", boot.dump], stdin=b"print 77", status=0)
    check("77" in result.text, "-i - has lost a last line without newline")
    result = program.run(["-q", "-c", "print 88", "-c", "quit", "-c", "print 99", boot.dump],
                         status=0)
    check("88" in result.text and "99" not in result.text, "quit does not end it")
    result = program.run(["-q", "--json", boot.dump],
                         stdin=b"print 1\nnosuch\nps\nsys\nlog\nmod\nbt -a\nrd init_task 4\n"
                         b"struct list_head\nsym panic\nhelp\nhelp bt\nforeach bt\n", status=1)
    answers = result.objects()
    check_equal([answer["ok"] for answer in answers], [True, False] + [True] * 11, "ok of each")


def reads(program, boot):
    """rd and struct show the same bytes as print."""
    address = boot.address("linux_banner")
    rows = program.result(boot.dump, f"rd {address:#x} 4")
    banner = boot.truth("version").encode()[:32]
    words = [f"{word:016x}" for word in struct.unpack("<4Q", banner)]
    text = program.text(boot.dump, f"rd {address:#x} 4").lower()
    for word in words:
        check(word in text, f"rd: no {word} in {text!r}")
    shown = str(rows).lower()
    numbers = [str(word) for word in struct.unpack("<4Q", banner)]
    check(all(word in shown or number in shown for word, number in zip(words, numbers)),
          f"rd in JSON: {shown[:200]}")
    by_struct, = program.result(boot.dump, f"struct task_struct {boot.address('init_task'):#x}")
    by_print = program.result(boot.dump, "print init_task")
    check_equal(by_struct["value"], by_print["value"], "struct task_struct ADDRESS")
    definition = program.text(boot.dump, "struct list_head")
    check("next" in definition and "prev" in definition, f"struct list_head: {definition!r}")


def summary(program, boot):
    """sys says what the console and /proc said."""
    facts = program.result(boot.dump, "sys")
    text = str(facts)
    check_equal(facts["release"], boot.release, "release")
    panics = [line.split("not syncing: ", 1)[1] for line in boot.console
              if "Kernel panic - not syncing: " in line and "---[" not in line]
    check(panics[0] in facts["panic"], f"panic is {facts['panic']!r}, not {panics[0]!r}")
    check("btfcrash-guest" in text, "no node name")
    check_equal(facts["problems"], [], "problems")
    check(str(boot.cpu_count) in text, "no CPU count")


CASES = (
    ("values are the guest's facts", print_facts),
    ("addresses, & and *", print_places),
    ("per-CPU variables", print_per_cpu),
    ("jiffies fit the console's time", print_jiffies),
    ("mod is /proc/modules", print_modules),
    ("rd and struct agree with print", reads),
    ("sys", summary),
)
# What depends on the program alone needs one dump.
ONCE = (
    ("text and JSON agree", print_text),
    ("the origin of a type is said", says_origin),
    ("--declare FILE", declares),
    ("wrong commands: one line, status 1", wrong_commands),
    ("usage, --help, --version", usage),
    ("-c, -i and standard input", sources),
)


def run(session):
    every = boots()
    for number, boot in enumerate(every):
        for name, test in CASES + (ONCE if number == len(every) - 1 else ()):
            with session.case(f"{boot.label}: {name}"):
                test(session.program, boot)
