# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the kernel's own affairs against what the guest said: modules, symbols, log. All rows."""

import collections
import os
import re

from lib import Boot, boots, check, check_equal, check_lines, kernel_names


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


TASK_STACK = 16384


def timers(program, boot, notes):
    """The kernel says of each wheel which lists are not empty, and timers know where they are."""
    rows = program.result(boot.dump, "timers")
    flags = [row["flags"] for row in program.result(boot.dump, "timers | print {flags}")]
    filled = collections.defaultdict(set)
    for row, word in zip(rows, flags, strict=True):
        check_equal((word & 0x3ffff, word >> 22), (row["cpu"], row["bucket"]), f"place of {row}")
        check_equal(("deferrable" in row["flags"], "irqsafe" in row["flags"]), (bool(word >> 19 & 1), bool(word >> 21 & 1)),
                    f"flags of {row}")
        filled[row["cpu"], row["base"]].add(row["bucket"])
    for cpu in range(boot.cpu_count):
        maps = program.value(boot.dump, f"timer_bases:{cpu}")
        for number, base in enumerate(maps):
            bits = {64 * word + bit for word, value in enumerate(base["pending_map"])
                    for bit in range(64) if value >> bit & 1}
            check_equal(filled[cpu, number], bits, f"lists of CPU {cpu}, wheel {number}")
    sleeping = [row for row in rows if row["function"] == "process_timeout"]
    check(sleeping, "nobody waits for a time-out")
    for row in sleeping:
        stack = program.value(boot.dump, f"((struct task_struct *){row['task']})->stack")
        check(0 <= int(row["timer"], 16) - int(stack, 16) < TASK_STACK, f"{row} is not on the stack of its task")
    notes.append(f"{len(rows)} timers, {len(sleeping)} of tasks")


def read_timer_list(boot):
    """(cpu, clock's number, function, earliest, latest) of /proc/timer_list, and what time it was."""
    found, cpu, clock, function, now = [], None, None, None, None
    for line in boot.truth("timer_list").splitlines():
        words = line.split()
        if line.startswith("now at"):
            now = int(words[2])
        elif line.startswith("cpu: "):
            cpu = int(words[1])
        elif line.startswith(" clock "):
            clock = int(words[1].rstrip(":"))
        elif re.match(r" #\d+:", line):
            function = words[2].rstrip(",")
        elif line.startswith(" # expires at"):
            earliest, latest = words[3].split("-")
            found.append((cpu, clock, function, int(earliest), int(latest)))
    return found, now


CLOCKS = ("MONOTONIC", "REALTIME", "BOOTTIME", "TAI")
MINUTE = 60 * 10 ** 9


def hrtimers(program, boot, notes):
    """Those that were a minute off wait still, but for the tick, which moves; the CPUs' own are there.

    The kernel counts its timers anew for each line of the file: one that goes meanwhile lets another be left out (kernel
    kernel/time/timer_list.c, print_active_timers()). The states that the guest starts have one of each kind.
    """
    rows = program.result(boot.dump, "hrtimers")
    wanted, now = read_timer_list(boot)
    got = [(row["cpu"], row["clock"], (row["function"] or "").split("+")[0].split()[0], row["softexpires"], row["expires"])
           for row in rows]
    wanted = [(cpu, CLOCKS[clock % 4] + ("_SOFT" if clock > 3 else ""), *rest) for cpu, clock, *rest in wanted]

    def far_of(timers):
        return sorted(one for one in timers if one[3] > now + MINUTE and not one[2].startswith("tick_"))

    far = far_of(wanted)
    check(len(far) >= 2, "truth: no timers")
    check(set(far) <= set(far_of(got)), f"timers that wait for long: not {set(far) - set(far_of(got))}")
    check_equal(sorted(one[2] for one in far_of(got)), ["hrtimer_wakeup", "posix_timer_fn", "timerfd_tmrproc"], "what waits for long")
    check_equal({one[:3] for one in wanted if "watchdog" in one[2] or "tick" in one[2]} - {one[:3] for one in got},
                set(), "the CPUs' own")
    sleeper, = (row["pid"] for row in rows if row["function"] == "hrtimer_wakeup" and row["expires"] > now + 1000 * MINUTE)
    check_equal(boot.tasks[sleeper].comm, b"nanosleep", "who sleeps for a day")
    notes.append(f"{len(rows)} timers, {len(far)} for long")


def parameters(program, boot, notes):
    """The files of /sys/module/*/parameters; those that a driver's own function shows have no value."""
    wanted = {}
    for path, value in tree(boot, "modules_tree").items():
        module, folder, name = (path.split("/") + ["", ""])[:3]
        if folder == "parameters":
            wanted[module, name] = value
    rows = {(row["module"].replace("-", "_"), row["name"].replace("-", "_")): row for row in program.result(boot.dump, "parameters")
            if int(row["mode"], 8) & 0o444}
    names = {(module, name.replace("-", "_")) for module, name in wanted}
    check_equal(set(rows), names, "parameters with files that may be read")
    same = 0
    for (module, name), value in wanted.items():
        row = rows[module, name.replace("-", "_")]
        # What DAMON measures goes on; the panic itself stops those warnings.
        if row["value"] is None or row["type"] == "char *" and value == "(null)" or module == "damon_stat" or name == "rcu_cpu_stall_suppress":
            continue
        text = row["value"]
        # Hexadecimal, by a driver's word.
        if value.startswith("0x"):
            value, text = int(value, 16), int(text)
        check_equal(text, value, f"{module}.{name}")
        same += 1
    check(same > len(wanted) / 2, f"only {same} of {len(wanted)} have values")
    notes.append(f"{len(rows)} parameters, {same} with values")


# They change by themselves, or with the crash.
MOVING = re.compile(r"kernel/(random/|ns_last_pid|pty/nr|tainted|panic|sched_domain)|fs/(inode-|dentry-|file-nr|aio-nr|inode-state)|"
                    r"net/netfilter/nf_conntrack_count|kernel/(printk|core_pattern)$")


def sysctls(program, boot, notes):
    """Every file of /proc/sys is there, with the same content where that is no function's work."""
    wanted = tree(boot, "sysctl")
    rows = {row["path"]: row for row in program.result(boot.dump, "sysctls")}
    missing = {path for path in wanted if path not in rows}
    check_equal(missing, set(), "settings")
    same = 0
    for path, value in wanted.items():
        if rows[path]["value"] is None or MOVING.match(path):
            continue
        check_equal(rows[path]["value"].split(), value.split(), path)
        same += 1
    check(same > 500, f"only {same} of {len(wanted)} have values")
    notes.append(f"{len(rows)} settings, {same} with values")


def resources(program, boot, notes):
    rows = program.result(boot.dump, "resources")
    for space, name, digits in (("mem", "iomem", 8), ("io", "ioports", 4)):
        got = [f"{'  ' * row['depth']}{int(row['start'], 16):0{digits}x}-{int(row['end'], 16):0{digits}x} : {row['name']}"
               for row in rows if row["space"] == space]
        check_lines(got, boot.truth(name).splitlines(), name)
    notes.append(f"{len(rows)} resources")


CASES = (("parameters are /sys/module/*/parameters", parameters), ("sysctls are /proc/sys", sysctls),
         ("resources are /proc/iomem and ioports", resources), ("timers are where they say", timers), ("hrtimers are /proc/timer_list", hrtimers), ("frames are bt's", frames), ("modules are /proc/modules", modules), ("sections are /sys/module/*/sections", sections),
         ("symbols are /proc/kallsyms", symbols), ("messages are the log", messages))


def bpf(program, boot, notes):
    """What the kernel said of each program and map; probes by their places."""
    programs, maps = set(), set()
    for line in boot.truth("bpf").splitlines():
        kind, *words = line.split("\t")
        if kind == "PROGRAM":
            number, name, _, jited, translated, tag = words
            programs.add((int(number), name, int(jited), tag))
        elif kind == "MAP":
            number, name, _, key, value, entries = words
            maps.add((int(number), name, int(key), int(value), int(entries)))
    check(programs and maps, "truth: no programs")
    rows = program.result(boot.dump, "progs")
    check_equal({(row["id"], row["name"], row["jited"], row["tag"]) for row in rows}, programs, "programs")
    rows = program.result(boot.dump, "bpfmaps")
    check_equal({(row["id"], row["name"], row["key_size"], row["value_size"], row["max_entries"]) for row in rows}, maps, "maps")
    listed = {tuple(line.split()[:3:2]) for line in boot.truth("kprobes").splitlines()}
    rows = program.result(boot.dump, "kprobes")
    got = {(row["addr"][2:], re.sub(r"^([^+]+)$", r"\1+0x0", row["function"].split()[0])) for row in rows}
    check_equal(got, listed, "probes of /sys/kernel/debug/kprobes/list")
    check(len(rows) >= 2, "truth: no probes")
    notes.append(f"{len(programs)} programs, {len(maps)} maps, {len(rows)} probes")


def named(program, boot, notes):
    """SQL takes every column of every table by its name alone: none is a word of its own."""
    tables = program.result(boot.dump, "sql")
    lines = [f"sql SELECT {row['columns'].replace(' ', ', ')} FROM {row['name']} LIMIT 1" for row in tables]
    for row, answer in zip(tables, program.answers(boot.dump, lines)):
        check(answer["ok"], f"{row['name']}: {answer.get('error')}")
    check(len(tables) > 40, f"only {len(tables)} tables")
    notes.append(f"{len(tables)} tables, {sum(row['columns'].count(' ') + 1 for row in tables)} columns")


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
    for kernel in kernel_names():
        session.cases(Boot(kernel, "boot1"), (("names of columns", named),))
        session.cases(Boot(kernel, "bpf"), (("BPF programs, maps and probes", bpf),))
