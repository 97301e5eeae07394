# SPDX-License-Identifier: GPL-3.0-or-later
"""Expressions: against gcc, against what the guest said of itself, and wrong ones.

Tables are in tests/session/expressions/. c.txt needs no expectations: gcc compiles its lines
against the header that bpftool writes of the guest's BTF. wrong.txt has the exact messages.
"""

import os
import re
import subprocess

from groups.types import bpftool
from lib import ROOT, boots, check, check_equal, shorten, tool, value_of

TABLES = os.path.join(ROOT, "tests", "session", "expressions")
LEAST = {"c.txt": 200, "wrong.txt": 60}
LEAST_FACTS = 60

PROLOGUE = r"""
#include "types.h"
int printf(const char *, ...);
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))
#define SHOW(type, expression) \
	printf("%llu %d %d\n", (unsigned long long)(expression), \
	       (int)sizeof(__typeof__(expression)), \
	       __builtin_types_compatible_p(__typeof__(expression), type))
int main(void)
{
"""


def table(name):
    """The lines of a table that are neither empty nor comments."""
    with open(os.path.join(TABLES, name), encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    lines = [line for line in lines if line and not line.startswith("#")]
    check(len(lines) >= LEAST[name], f"{name}: only {len(lines)} lines")
    return lines


# gcc


def header_of(boot, folder):
    """types.h in `folder`: all types of the guest's BTF in C."""
    path = os.path.join(folder, "types.h")
    with open(path, "wb") as file:
        done = subprocess.run([tool("bpftool"), "btf", "dump", "file",
                               boot.path("truth", "btf", "vmlinux"), "format", "c"], stdout=file, stderr=subprocess.PIPE)
    check(done.returncode == 0, f"bpftool: {done.stderr.decode()}")
    return path


def char_flag(boot):
    """How the kernel was compiled: its chars are unsigned since 6.2 (its Makefile)."""
    release = [int(part) for part in re.findall(r"\d+", boot.release)[:2]]
    return "-fsigned-char" if release < [6, 2] else "-funsigned-char"


def ask_gcc(boot, folder, rows):
    """[(value, size, types are compatible)] of (expression, type) rows."""
    header_of(boot, folder)
    source = os.path.join(folder, "oracle.c")
    with open(source, "w") as file:
        file.write(PROLOGUE)
        for expression, spelled in rows:
            file.write(f"\tSHOW({spelled}, ({expression}));\n")
        file.write("\treturn 0;\n}\n")
    program = os.path.join(folder, "oracle")
    compiler = [os.environ.get("CC", "gcc"), "-std=gnu11", "-w", "-O0", char_flag(boot),
                "-o", program, source]
    done = subprocess.run(compiler, stderr=subprocess.PIPE)
    check(done.returncode == 0, f"gcc: {shorten(done.stderr.decode())}")
    lines = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode()
    answers = [tuple(map(int, line.split())) for line in lines.splitlines()]
    check_equal(len(answers), len(rows), "gcc's answers")
    return answers


def as_number(value):
    """A scalar of JSON as 64 bits."""
    if isinstance(value, str):
        check(re.fullmatch(r"0x[0-9a-f]+", value), f"{value!r} is no number")
        return int(value, 16)
    return int(value) & ((1 << 64) - 1)


def compare_with_gcc(program, boot, notes):
    expressions = table("c.txt")
    printed = program.answers(boot.dump, [f"print -r -- {one}" for one in expressions])
    sizes = program.answers(boot.dump, [f"print sizeof({one})" for one in expressions])
    for answer in printed + sizes:
        check(answer["ok"], f"{answer['command']}: {answer.get('error')}")
    rows = [(one, answer["result"]["type"]) for one, answer in zip(expressions, printed)]
    truths = ask_gcc(boot, program.scratch, rows)
    bad = []
    for (one, spelled), answer, size, truth in zip(rows, printed, sizes, truths):
        got = (as_number(value_of(answer["result"])), value_of(size["result"]))
        if got != truth[:2]:
            bad.append(f"{one} is {got[0]:#x} of {got[1]} bytes, gcc has {truth[0]:#x} of "
                       f"{truth[1]}")
        # Types that are written lose their const: it changes no value.
        elif not truth[2] and "const" not in one:
            bad.append(f"{one} is not of type {spelled}")
    check(not bad, f"{len(bad)} of {len(rows)}: " + "; ".join(bad[:8]))
    notes.append(f"{len(rows)} expressions, {char_flag(boot)}")


def gcc_would_see(program, boot):
    """The comparison can fail: other values, sizes and types are told apart."""
    rows = [("1 + 1", "int"), ("1 + 1", "long"), ("(char)-1", "char")]
    first, second, third = ask_gcc(boot, program.scratch, rows)
    check_equal((first, second[2]), ((2, 4, 1), 0), "gcc's answers to 1 + 1")
    wanted = {"-fsigned-char": (1 << 64) - 1, "-funsigned-char": 255}[char_flag(boot)]
    check_equal(third[0], wanted, "gcc's answer to (char)-1")


# The guest's facts


def c_string(text):
    """As a literal of C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("\t", "\\t") + '"'


def first_of(boot, name, pattern):
    """The groups of the first match of a file of the guest's."""
    found = re.search(pattern, boot.truth(name), re.MULTILINE)
    check(found, f"truth/{name} has no {pattern!r}")
    return found.groups()


def has_member(boot, struct, member):
    """Whether the guest's BTF has it: kernels differ."""
    lines = iter(bpftool(boot.path("truth", "btf", "vmlinux")))
    for line in lines:
        if f" STRUCT '{struct}' " in line:
            for inner in lines:
                if not inner.startswith("\t"):
                    return False
                if inner.startswith(f"\t'{member}' "):
                    return True
    return False


def place_facts(boot):
    """Addresses, as /proc/kallsyms has them."""
    names = ("init_task", "init_uts_ns", "jiffies_64", "linux_banner", "modules", "init_mm",
             "saved_command_line", "iomem_resource", "file_systems", "panic", "schedule")
    addresses = {name: boot.address(name) for name in names}
    for name, address in addresses.items():
        yield f"(unsigned long)&{name}", address
        yield f"(unsigned long)&vmlinux:{name}", address
        yield f"(unsigned long)&{name}@{address:x}", address
    for one, other in zip(names, names[1:]):
        yield (f"(char *)&{one} - (char *)&{other}", addresses[one] - addresses[other])
        yield f"(void *)&{one} < (void *)&{other}", int(addresses[one] < addresses[other])
    yield "&*&init_task == &init_task", 1
    yield "&init_task.tasks.prev == &(&(&init_task)->tasks)->prev", 1
    yield "container_of(&init_task.tasks, struct task_struct, tasks) == &init_task", 1
    yield "&(&init_task)[1] - &init_task", 1


def system_facts(boot):
    version = boot.truth("version")
    cpus = boot.cpu_count
    yield f"init_uts_ns.name.release == {c_string(boot.release)}", 1
    yield f"init_uts_ns.name.release != {c_string(boot.release)}", 0
    yield f"init_uts_ns.name.release == {c_string(boot.release[:-1])}", 0
    yield f"(char *)&linux_banner == {c_string(version)}", 1
    yield f"*(char **)&saved_command_line == {c_string(boot.truth('cmdline').rstrip())}", 1
    yield "(*(char (*)[6])&linux_banner)[4]", ord(version[4])
    yield "((char *)&linux_banner)[6] + 1", ord(version[6]) + 1
    yield "*(unsigned short *)&linux_banner", int.from_bytes(version[:2].encode(), "little")
    yield "*(unsigned long *)&linux_banner >> 32", int.from_bytes(version[4:8].encode(), "little")
    yield "__cpu_present_mask.bits[0]", (1 << cpus) - 1
    yield "nr_cpu_ids >= %d" % cpus, 1
    for cpu in range(cpus):
        yield f"runqueues:{cpu}.cpu", cpu
        yield f"per_cpu(runqueues, {cpu}).cpu", cpu
        yield f"per_cpu(runqueues, {cpu + 1} - 1).cpu + 1", cpu + 1
        yield f"&per_cpu(runqueues, {cpu}) == &runqueues:{cpu}", 1
        yield f"per_cpu(runqueues, {cpu}).curr == current:{cpu}", 1
        yield f"runqueues:{cpu}.idle->comm == \"swapper/{cpu}\"", 1
        yield f"(char *)&runqueues:{cpu} - (char *)&runqueues:0 == " \
              f"__per_cpu_offset[{cpu}] - __per_cpu_offset[0]", 1
    kilobytes, = first_of(boot, "meminfo", r"^MemTotal: +(\d+) kB")
    yield "_totalram_pages.counter * 4", int(kilobytes)


def processor_facts(boot):
    family, = first_of(boot, "cpuinfo", r"^cpu family\t: (\d+)")
    model, = first_of(boot, "cpuinfo", r"^model\t\t: (\d+)")
    stepping, = first_of(boot, "cpuinfo", r"^stepping\t: (\d+)")
    vendor, = first_of(boot, "cpuinfo", r"^vendor_id\t: (.+)")
    name, = first_of(boot, "cpuinfo", r"^model name\t: (.+)")
    physical, virtual = first_of(boot, "cpuinfo",
                                 r"^address sizes\t: (\d+) bits physical, (\d+) bits")
    yield "boot_cpu_data.x86", int(family)
    yield "boot_cpu_data.x86_model", int(model)
    yield "boot_cpu_data.x86_stepping", int(stepping)
    yield f"boot_cpu_data.x86_vendor_id == {c_string(vendor)}", 1
    yield "boot_cpu_data.x86_vendor_id[1]", ord(vendor[1])
    yield f"boot_cpu_data.x86_model_id == {c_string(name)}", 1
    yield "boot_cpu_data.x86_phys_bits", int(physical)
    yield "boot_cpu_data.x86_virt_bits", int(virtual)
    yield "1ull << boot_cpu_data.x86_phys_bits", 1 << int(physical)


def resource_facts(boot):
    """/proc/iomem's first two lines of the top, and /proc/ioports' first."""
    tops = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) : (.+)$", boot.truth("iomem"), re.MULTILINE)
    path = "iomem_resource.child"
    for start, end, name in tops[:4]:
        yield f"{path}->start", int(start, 16)
        yield f"{path}->end - {path}->start + 1", int(end, 16) - int(start, 16) + 1
        yield f"{path}->name == {c_string(name)}", 1
        path += "->sibling"
    start, end, name = first_of(boot, "ioports", r"^([0-9a-f]+)-([0-9a-f]+) : (.+)$")
    yield "ioport_resource.child->end", int(end, 16)
    yield f"ioport_resource.child->name == {c_string(name)}", 1


def list_facts(boot):
    names = [line.split("\t")[-1] for line in boot.truth("filesystems").splitlines()]
    path = "((struct file_system_type *)*(void **)&file_systems)"
    is_chain = has_member(boot, "file_system_type", "next")
    for name in names[:5] if is_chain else ():
        yield f"{path}->name == {c_string(name)}", 1
        path += "->next"
    path = "((struct list_head *)&modules)->next"
    for name, _, base in boot.modules[:3]:
        yield f"container_of({path}, struct module, list)->name == {c_string(name)}", 1
        path += "->next"


def task_facts_of(boot):
    """Of init, which lies behind init_task in the list of tasks, and of who panicked."""
    status = boot.tasks[1].status
    init = "container_of(init_task.tasks.next, struct task_struct, tasks)"
    yield f"{init}->pid", 1
    yield f"{init}->comm == {c_string(boot.tasks[1].comm.decode())}", 1
    yield f"(*{init}).tgid", int(status["Tgid"])
    yield f"{init}->real_parent->pid", int(status["PPid"])
    yield f"{init}->real_parent == &init_task", 1
    yield f"{init}->signal->nr_threads", int(status["Threads"])
    yield f"{init}->cred->uid.val", int(status["Uid"].split()[0])
    yield f"{init}->thread_pid->numbers[0].nr", 1
    yield f"{init}->blocked.sig[0]", int(status["SigBlk"], 16)
    yield f"({init}->flags & 0x00200000) != 0", 0
    yield f"{init}->mm != 0 && init_task.mm == 0", 1
    yield f"{init}->mm->owner == {init}", 1
    yield f"{init}->mm->total_vm * 4", int(status["VmSize"].split()[0])
    yield f"{init}->nr_cpus_allowed", boot.cpu_count
    second = f"container_of({init}->tasks.next, struct task_struct, tasks)"
    yield f"{second}->pid", 2
    yield f"{second}->comm == \"kthreadd\"", 1
    yield f"({second}->flags & 0x00200000) != 0", 1
    yield f"{second}->mm ? 1 : 2", 2
    lines = [re.search(r"CPU: (\d+) (?:UID: \d+ )?PID: (\d+) Comm: (\S+)", line)
             for line in boot.console]
    cpu, pid, comm = [found for found in lines if found][-1].groups()
    yield "current->pid", int(pid)
    yield f"current->comm == {c_string(comm)}", 1
    yield f"current == current:{cpu}", 1
    yield f"current == runqueues:{cpu}.curr", 1
    yield "init_task.comm == \"swapper/0\" && init_task.comm != \"swapper\"", 1
    yield "init_task.comm[8] - '0'", 0
    yield "init_task.cred == init_task.real_cred", 1
    yield "*init_task.cred == *init_task.real_cred", 1


def facts(boot):
    for some in (place_facts, system_facts, processor_facts, resource_facts, list_facts,
                 task_facts_of):
        yield from some(boot)


def compare_with_guest(program, boot, notes):
    rows = list(facts(boot))
    check(len(rows) >= LEAST_FACTS, f"only {len(rows)} facts")
    answers = program.answers(boot.dump, [f"print {expression}" for expression, _ in rows])
    bad = []
    for (expression, wanted), answer in zip(rows, answers):
        if not answer["ok"]:
            bad.append(f"{expression}: {answer['error']}")
        elif as_number(value_of(answer["result"])) != wanted & ((1 << 64) - 1):
            bad.append(f"{expression} is {value_of(answer['result'])}, not {wanted}")
    check(not bad, f"{len(bad)} of {len(rows)}: " + "; ".join(bad[:8]))
    notes.append(f"{len(rows)} expressions")


# Sessions


def remembers(program, boot):
    """Variables and results keep value, type and place."""
    answers = program.answers(boot.dump, [
        "set $t = container_of(init_task.tasks.next, struct task_struct, tasks)",
        "print $t->pid", "print $", "print $ + 10", "print $$", "print $1 + $3",
        "set $t = $t->tasks.next", "print container_of($t, struct task_struct, tasks)->pid",
        "set $s = init_task", "print $s == init_task", "print &$s == &init_task",
        "set $text = \"swapper/0\"", "print init_task.comm == $text", "print sizeof $text",
        "whatis $t", "set"], status=0)
    got = [value_of(answer["result"]) for answer in answers
           if answer["command"].startswith("print")]
    check_equal(got, [1, 1, 11, 1, 12, 2, 1, 1, 1, 10], "values")
    listed = answers[-1]["result"]["variables"]
    check_equal([one["name"] for one in listed], ["$t", "$s", "$text"], "variables")
    check_equal([one["type"] for one in listed],
                ["struct list_head *", "struct task_struct", "char [10]"], "types")
    check_equal(answers[-2]["result"]["type"], "struct list_head *", "whatis $t")


def sets_options(program, boot):
    """set OPTION VALUE lasts; wrong ones say what there is."""
    result = program.run(["-q", "-c", "set base hex", "-c", "print 255", "-c", "set base dec",
                          "-c", "print 255", boot.dump], status=0)
    check_equal(result.lines, ["(int)0xff", "(int)255"], "lines")
    listed = program.result(boot.dump, "set")["options"]
    check({"name": "base", "value": "dec"} in listed, f"options: {listed}")
    for wrong in ("set base 17", "set nosuch 1", "set base"):
        result = program.run(["-q", "-c", wrong, boot.dump], status=1)
        check_equal(len(result.err.splitlines()), 1, f"lines of the message of `{wrong}`")


def slices(program, boot):
    """A slice is an array; with something behind it, one result an element."""
    comm = "swapper/0"
    values = program.answers(boot.dump, [
        "print init_task.comm[0..3]", "print init_task.comm[2..4] + 0",
        "print init_task.signal->rlim[0..15].rlim_max == init_task.signal->rlim[0].rlim_max",
        "print sizeof(init_task.comm[0..3])", "print &init_task.comm[1..2] - &init_task.comm[0]",
        "print runqueues:a.nr_running >= 0, runqueues:a.cpu"], status=0)
    check_equal(value_of(values[0]["result"]), comm[:4], "comm[0..3]")
    check_equal(value_of(values[1]["result"]), [ord(c) for c in comm[2:5]], "comm[2..4] + 0")
    check_equal([one["index"] for one in values[1]["result"]], [[2], [3], [4]], "indices")
    check_equal(value_of(values[2]["result"])[0], 1, "rlim[0..15]")
    check_equal(len(values[2]["result"]), 16, "results of rlim[0..15]")
    check_equal(value_of(values[3]["result"]), 4, "sizeof")
    check_equal(value_of(values[4]["result"]), [1, 2], "&comm[1..2]")
    check_equal(value_of(values[5]["result"]), list(range(boot.cpu_count)), "runqueues:a.cpu")


def equal_names(program, boot):
    """Several variables of a name are listed with what chooses one; each choice is that one."""
    counts = {}
    for address, letter, name, module in boot.symbols:
        if not module and letter in "bBdDrR" and not name.startswith("__"):
            counts.setdefault(name, set()).add(address)
    some = sorted(name for name, addresses in counts.items() if 2 <= len(addresses) <= 4)[:20]
    check(len(some) == 20, "few equal names")
    for name in some:
        answer, = program.answers(boot.dump, [f"print &{name}"], status=1)
        count = len(counts[name])
        check(answer["error"].startswith(f"print: column 2: {count} variables are called"),
              f"{name}: {answer['error']}")
        choices = re.findall(r"\S+@[0-9a-f]+", answer["error"])
        check_equal({int(choice.split("@")[1], 16) for choice in choices}, counts[name], name)
        values = program.answers(boot.dump, [f"print (unsigned long)&{choice}"
                                             for choice in choices], status=0)
        check_equal({value_of(value["result"]) for value in values}, counts[name], name)


# Wrong expressions


def wrong(program, boot, notes):
    """Exact messages; the table's `{...}` stands for what differs between kernels."""
    rows = [line.split("\t") for line in table("wrong.txt")]
    check(all(len(row) == 2 for row in rows), "wrong.txt: a line without one tab")
    commands = [f"print {expression}" for expression, _ in rows]
    answers = program.answers(boot.dump, commands, status=1)
    bad = []
    for (expression, message), answer in zip(rows, answers):
        got = answer.get("error", "no error").removeprefix("print: ")
        pattern = ".*".join(re.escape(part) for part in message.split("{...}"))
        if not re.fullmatch(pattern, got):
            bad.append(f"{expression}: {got!r}, not {message!r}")
    check(not bad, f"{len(bad)} of {len(rows)}: " + "; ".join(bad[:8]))
    notes.append(f"{len(rows)} messages")


CASES = (
    ("gcc computes the same", compare_with_gcc),
    ("values are the guest's facts", compare_with_guest),
    ("wrong expressions", wrong),
)
ONCE = (
    ("gcc would see a difference", gcc_would_see),
    ("variables and results", remembers),
    ("set OPTION VALUE", sets_options),
    ("slices", slices),
    ("equal names", equal_names),
)


def run(session):
    every = boots(("boot1",))
    for number, boot in enumerate(every):
        for name, test in CASES:
            with session.case(f"{boot.label}: {name}") as notes:
                test(session.program, boot, notes)
        for name, test in ONCE if number == len(every) - 1 else ():
            with session.case(f"{boot.label}: {name}"):
                test(session.program, boot)
