# SPDX-License-Identifier: GPL-3.0-or-later
"""The rule for integers in JSON: those of a C type wider than 32 bits are strings, whatever their
value, so that readers that keep numbers as doubles lose nothing."""

import json
import re
import subprocess

from lib import Boot, check, check_equal, kernel_names, parse_json, tool

EXACT = "--json-integers=exact"
# What print says of values of types; the wide ones are strings.
VALUES = (
    ("(u64)5", "5"), ("(s64)-5", "-5"), ("(long)1", "1"), ("sizeof(int)", "4"), ("(size_t)-1", str(2**64 - 1)),
    ("*(unsigned __int128 *)&init_task.signal->rlim[0]", str(2**128 - 1)),
    ("*(__int128 *)&init_task.signal->rlim[0]", "-1"),
    ("(unsigned int)-1", 2**32 - 1), ("(int)-5", -5), ("(u8)200", 200), ("(enum pid_type)1", 1),
    ("BPF_F_INDEX_MASK", "4294967295"), ("1 == 1", 1), ("(bool)1", True), ("(void *)16", "0x10"), ("(ktime_t)1000", "1000"),
    ("init_task.pid", 0), ("init_task.signal->rlim[0]",
                           {"rlim_cur": str(2**64 - 1), "rlim_max": str(2**64 - 1)}),
    ("init_task.signal->rlim[0].rlim_cur & 1", "1"),
    # Of a bit-field its own width counts.
    ("((union hv_reference_tsc_msr *)&init_task.signal->rlim[0])->pfn", str(2**52 - 1)),
    ("((union hv_reference_tsc_msr *)&init_task.signal->rlim[0])->reserved", 2**11 - 1))
LINES = ("list task_struct.tasks init_task -s pid,utime,stime,flags,prio,start_time,comm,mm",
         "ps | print {pid, utime + 0, start_time, nvcsw, comm, signal->rlim[0].rlim_cur}",
         "foreach bt", "ps", "mod", "sym -q init_task", "print init_task", "print runqueues:a.clock",
         "print init_task.cpus_mask", "tree irq_desc IRQS -s irq_data.irq,lock",
         "log", "sys", "bpf", "struct task_struct", "enum pid_type", "struct rlimit", "whatis -v init_task",
         "rd linux_banner 4", "registers", "stacks", "btf", "print ((char *)&init_task)[8..9]",
         "list task_struct.tasks init_task -s pid,utime --columns pid,utime")
WIDE = re.compile(r"-?[0-9]+$")
# Of types of arguments: the names of those that are wide on x86-64.
NARROW = re.compile(r"(un)?signed (int|char|short)|int|u32|u16|u8|bool|gfp_t|fmode_t|umode_t|pid_t|enum ")


def as_given(program, dump, lines, *options):
    """The answers of the program without what lib adds."""
    arguments = [word for line in lines for word in ("-c", line)]
    result = program.run(["-q", "--json", *options, *arguments, dump], timeout=600)
    check_equal(len(result.out.splitlines()), len(lines), "lines of JSON")
    for line, answer in zip(lines, result.objects()):
        check(answer["ok"], f"{line}: {answer.get('error')}")
    return result


def lines_for(boot):
    irqs = "sparse_irqs" if boot.addresses.get(("sparse_irqs", "")) else "irq_desc_tree"
    return [line.replace("IRQS", irqs) for line in LINES]


def kinds_by_type(program, boot):
    answers = as_given(program, boot.dump, ["print " + text for text, _ in VALUES]).objects()
    for (text, wanted), answer in zip(VALUES, answers):
        check_equal(answer["result"]["value"], wanted, text)
        check_equal(type(answer["result"]["value"]), type(wanted), f"kind of {text}")


def compare(portable, exact, where):
    """The same but for wide integers; counts those."""
    if isinstance(portable, dict):
        check_equal(list(portable), list(exact), f"keys of {where}")
        return sum(compare(portable[key], exact[key], f"{where}.{key}") for key in portable)
    if isinstance(portable, list):
        check_equal(len(portable), len(exact), f"elements of {where}")
        return sum(compare(*both, f"{where}[]") for both in zip(portable, exact))
    if isinstance(portable, str) and isinstance(exact, int):
        check(WIDE.match(portable) and int(portable) == exact, f"{where}: {portable} and {exact}")
        return 1
    check_equal((type(portable), portable), (type(exact), exact), where)
    check(not isinstance(portable, int) or abs(portable) < 2**53, f"{where}: {portable} is rounded")
    return 0


def kinds_of(value, where, kinds):
    """{path: kinds of its values}: null and errors are none."""
    if isinstance(value, dict):
        for key in value:
            kinds_of(value[key], f"{where}.{key}", kinds)
    elif isinstance(value, list):
        for element in value:
            kinds_of(element, where + "[]", kinds)
    elif value is not None:
        kinds.setdefault(where, set()).add(type(value).__name__)


def says_the_same(program, boot, notes):
    lines = lines_for(boot)
    portable, exact = (as_given(program, boot.dump, lines, *more).objects() for more in ((), (EXACT,)))
    count = 0
    for line, ours, theirs in zip(lines, portable, exact):
        count += compare(ours, theirs, line)
    check(count > 500, f"only {count} wide integers")
    for line, answer in zip(lines[:2], portable):
        kinds = {}
        kinds_of(answer["result"], line, kinds)
        mixed = {path: found for path, found in kinds.items() if len(found) > 1}
        check(not mixed, f"by value: {mixed}")
    notes.append(f"{count} wide integers")


def arguments_by_type(program, boot, notes):
    stacks, = as_given(program, boot.dump, ["foreach bt"]).objects()
    wide = narrow = 0
    for trace in stacks["result"]:
        for argument in [one for frame in trace.get("frames", ()) for one in frame.get("args", ())]:
            value, kind = argument["value"], argument["type"]
            if value is None or "*" in kind or "(" in kind or isinstance(value, bool):
                continue
            is_wide = isinstance(value, str)
            if re.search(r"long|size_t|loff_t|u64|s64|ktime_t", kind):
                check(is_wide, f"{kind} {argument['name']} is {value!r}")
                wide += 1
            elif NARROW.match(kind):
                check(not is_wide, f"{kind} {argument['name']} is {value!r}")
                narrow += 1
    check(wide > 10 and narrow > 10, f"only {wide} wide and {narrow} narrow ones")
    notes.append(f"{wide} wide, {narrow} narrow")


def survives_jq(program, boot):
    """jq keeps numbers as doubles: the default form loses nothing in it; the exact one would."""
    lines = lines_for(boot)
    result = as_given(program, boot.dump, lines)
    for line, before, after in zip(lines, result.objects(), through_jq(result.out)):
        check_equal(after, before, f"{line} behind jq")
    exact = as_given(program, boot.dump, ["print (u64)9007199254740993"], EXACT)
    check_equal(exact.objects()[0]["result"]["value"], 2**53 + 1, "an exact number")
    doubles = json.loads(exact.out, parse_int=float)
    check(doubles["result"]["value"] != 2**53 + 1, "this number would not be rounded")


def through_jq(text):
    done = subprocess.run([tool("jq"), "-c", "."], input=text, stdout=subprocess.PIPE, check=True)
    return [parse_json(line) for line in done.stdout.splitlines()]


def has_option(program, boot):
    for options, wanted in (((), "4"), ((EXACT,), 4)):
        answer, = as_given(program, boot.dump, ["print sizeof(int)"], *options).objects()
        check_equal(answer["result"]["value"], wanted, "sizeof(int)")
    bad = program.run(["--json", "--json-integers=big", boot.dump], status=2)
    check("portable exact" in bad.errors, bad.errors)


def run(session):
    program = session.program
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        with session.case(f"{kernel}: the type decides"):
            kinds_by_type(program, boot)
        with session.case(f"{kernel}: both forms say the same") as notes:
            says_the_same(program, boot, notes)
        with session.case(f"{kernel}: arguments of functions") as notes:
            arguments_by_type(program, boot, notes)
        with session.case(f"{kernel}: jq rounds nothing"):
            survives_jq(program, boot)
        with session.case(f"{kernel}: the option"):
            has_option(program, boot)
