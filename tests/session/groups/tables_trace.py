# SPDX-License-Identifier: GPL-3.0-or-later
"""What ftrace recorded, against the text that the guest's own tracefs had of it. All rows, all columns."""

import os
import re

from lib import Boot, boots, check, check_equal, kernel_names

LINE = re.compile(r"^ *(.{1,16})-(\d+) +\[(\d+)\] (\S{4,7}) +(\d+)\.(\d{6}): (.*)$")
LOST = re.compile(r"CPU:\d+ \[LOST ")
HEAD = re.compile(r"^# entries-in-buffer/entries-written: (\d+)/(\d+)", re.MULTILINE)
# %p is a hash there, and the address here.
POINTER = re.compile(r"\b[0-9a-f]{16}\b")
# The kernel writes no name of the event in front of what these are.
NAMELESS = re.compile(r"sys_enter_|sys_exit_|print$")


# An argument of a system call.
ARGUMENT = re.compile(r": (0x[0-9a-f]+|\d+)(?=[ ,)])")


def instances(boot):
    return sorted(os.listdir(boot.path("truth", "trace")))


def told(boot, instance):
    """The lines of a `trace`; None: they are those of a tracer that writes others."""
    text = boot.truth("trace", instance)
    if not text.startswith("# tracer: nop"):
        return None
    found = []
    for line in text.splitlines():
        # What is said between the records: those that are lost; a record may end its line itself.
        if line and not line.startswith("#") and not LOST.match(line):
            match = LINE.match(line)
            check(match, f"truth: no event: {line}")
            found.append((*match.groups()[:3], flags_told(match[4]), *match.groups()[4:6], plain(match[7])))
    return found


def flags_told(text):
    """
    As newer kernels have them. 5.10 has no depth of migration; the patch for real time has a letter of its own for what may be
    scheduled later, and how often it was put off.
    """
    if len(text) == 4:
        return text + "."
    if len(text) == 7:
        irqs, resched, lazy, where, depth, _, migration = text
        return irqs + (resched if lazy == "." else {".": "l", "n": "b"}[resched]) + where + depth + migration
    return text


def plain(text):
    """
    Pointers as one word.  Of system calls, numbers are decimal or hexadecimal as the kernel likes it; its format has the mode of
    openat() where nothing is made, too.
    """
    text = POINTER.sub("POINTER", text).rstrip()
    if re.match(r"sys_\w+\(", text):
        text = ARGUMENT.sub(lambda found: f": {int(found[1], 16 if found[1].startswith('0x') else 10)}", text)
        text = text.replace(", mode: 0)", ")")
    return text


def as_told(row):
    """A row as such a line."""
    micros = (int(row["time"]) + 500) // 1000
    text = row["info"] if NAMELESS.match(row["event"]) else f"{row['event']}: {row['info']}"
    return (row["comm"] or "<...>", str(row["pid"]), f"{row['cpu']:03d}", row["flags"],
            str(micros // 10 ** 6), f"{micros % 10 ** 6:06d}", plain(text))


def own_rows(rows, instance):
    return [row for row in rows if (row["instance"] or "global") == instance]


def compare(got, wanted, what):
    check_equal(len(got), len(wanted), f"records of {what}")
    for number, (mine, line) in enumerate(zip(got, wanted)):
        check_equal(mine, line, f"record {number} of {what}")


def time_of(line):
    return int(line[4]), line[5]


def compare_later(got, wanted, what):
    """
    A buffer that went on: of what was told, all that was not written over since; names may have been.
    Each CPU's records follow each other in both.  Returns how many there are, and how many of them the
    guest's text has too early: where it caught up with a CPU that was writing, its reader forgets a delta,
    and its times go back.
    """
    compared = early = 0
    for cpu in sorted({line[2] for line in got}):
        mine = [line for line in got if line[2] == cpu]
        kept = [line for line in wanted if line[2] == cpu and time_of(line) >= time_of(mine[0])]
        start = next((i for i, line in enumerate(mine) if kept and line[1:] == kept[0][1:]), 0)
        check(len(mine) - start >= len(kept), f"{what}: CPU {cpu} has {len(mine) - start} of {len(kept)} records")
        for number, (line, told_line) in enumerate(zip(mine[start:], kept)):
            is_early = time_of(told_line) < time_of(line)
            if is_early:
                told_line = (*told_line[:4], *line[4:6], told_line[6])
            check_equal(line[1:], told_line[1:], f"record {number} of CPU {cpu} of {what}")
            early += is_early
        compared += len(kept)
    if not compared:
        # A guest that had to wait for its processor wrote all of it over before it died.
        check(len(got) > 1000 and max(map(time_of, wanted)) < min(map(time_of, got)), f"{what}: nothing of {len(wanted)} records is there")
        return 0, 0
    check(compared > 100 and early * 20 < compared, f"{what}: {compared} records, {early} too early")
    return compared, early


def trace(program, boot, notes):
    rows = program.result(boot.dump, "trace")
    for instance in instances(boot):
        wanted = told(boot, instance)
        mine = own_rows(rows, instance)
        is_off = instance != "global" or "nmi_panic" not in boot.truth("cmdline")
        if wanted is None:
            continue
        got = [as_told(row) for row in mine]
        count = len(wanted)
        if is_off:
            compare(got, wanted, instance)
        else:
            count, early = compare_later(got, wanted, instance)
            notes.append(f"the guest tells {early} too early" if count else "what the guest told was written over since")
        notes.append(f"{instance}: {count} records of {len({row['event'] for row in mine})} events")
    times = [(row["instance"] or "", int(row["time"])) for row in rows if row["instance"] is None]
    check_equal(times, sorted(times), "order")
    check_equal({row["event"] for row in rows if row["event"] is None}, set(), "events that nobody knows")


def events(program, boot, notes):
    """All that have a number in tracefs, and in how many instances each is enabled."""
    rows = program.result(boot.dump, "events")
    said = {}
    for line in boot.truth("trace_events").splitlines():
        name, number = line.split()
        said[name.removesuffix("/id")] = int(number)
    got = {f"{row['system']}/{row['name']}": row["id"] for row in rows if row["system"] != "ftrace"}
    wanted = {name: number for name, number in said.items() if not name.startswith("ftrace/")}
    check_equal(got, wanted, "events")
    own = {row["name"]: row["id"] for row in rows if row["system"] == "ftrace"}
    for name, number in said.items():
        if name.startswith("ftrace/"):
            check_equal(own.get(name.partition("/")[2]), number, name)
    enabled = {}
    for instance in os.listdir(boot.path("truth", "set_event")):
        for line in boot.truth("set_event", instance).splitlines():
            system, _, name = line.partition(":")
            enabled[f"{system}/{name}"] = enabled.get(f"{system}/{name}", 0) + 1
    check_equal({f"{row['system']}/{row['name']}": row["enabled"] for row in rows if row["enabled"]}, enabled, "enabled events")
    # What a record of one has, BTF has as a struct.
    fields, = [row["fields"] for row in rows if row["name"] == "sched_switch"]
    check("pid_t prev_pid" in fields and re.search(r"char\[\w+\] next_comm", fields), fields)
    notes.append(f"{len(rows)} events, {len(enabled)} enabled")


def tracebuffers(program, boot, notes):
    """As many records as the kernel counted, and as `trace` has."""
    rows = program.result(boot.dump, "tracebuffers")
    records = program.result(boot.dump, "sql SELECT coalesce(instance, 'global') AS instance, cpu, count(*) AS n FROM trace GROUP BY 1, 2")
    got = {(row["instance"] or "global", row["cpu"]): int(row["entries"]) for row in rows if int(row["entries"])}
    check_equal(got, {(row["instance"], row["cpu"]): row["n"] for row in records}, "records")
    compared = 0
    for instance in instances(boot):
        mine = [row for row in rows if (row["instance"] or "global") == instance]
        check_equal([row["cpu"] for row in mine], list(range(boot.cpu_count)), f"CPUs of {instance}")
        tracer = boot.truth("trace", instance).splitlines()[0].split()[-1]
        check_equal({row["tracer"] for row in mine}, {tracer}, "tracer")
        head = HEAD.search(boot.truth("trace", instance))
        if head and all(row["off"] for row in mine):
            inside = sum(int(row["entries"]) for row in mine)
            check_equal((inside, inside + sum(int(row["overrun"]) for row in mine)), (int(head[1]), int(head[2])),
                        f"what {instance} has, and was written")
            compared += 1
    check(compared, "truth: no buffer was off")
    small = [row for row in rows if row["instance"] == "small"]
    check(any(int(row["overrun"]) for row in small), "truth: the small buffer did not go round")
    notes.append(f"{len(rows)} buffers, {compared} instances compared")


def run(session):
    kinds = [*boots(), *(Boot(kernel, "bpf") for kernel in kernel_names())]
    for boot in kinds:
        session.cases(boot, (("trace is tracefs' trace", trace), ("events are tracefs' events", events),
                             ("tracebuffers are counted", tracebuffers)))
