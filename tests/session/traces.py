# SPDX-License-Identifier: GPL-3.0-or-later
"""Stack traces: the guest's own, in its console, against what `bt` says."""

import re

from lib import check, parse_stack_line

STAMP = re.compile(r"^\[ *\d+\.\d+\] ")
USER_RIP = re.compile(r"^RIP: 0033:0x([0-9a-f]+)$")
KERNEL_RIP = re.compile(r"^RIP: 0010:(\S+\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[[^\]]+\])?)$")
# The panic goes on after it has printed its trace: it stops the other CPUs,
# calls the notifiers or the crash kernel.  So its own frame is at another offset.
PANIC = ("panic", "vpanic")
# /proc/kallsyms gives this to a module, /proc/PID/stack to none.
RUN_TIME_MODULES = ("bpf", "__builtin__ftrace", "__builtin__kprobes")


class Entry:
    """One frame of the guest's trace."""

    def __init__(self, kind, name="", offset=0, size=0, module=""):
        self.kind = kind  # "kernel", "rip", "user"
        self.name, self.offset, self.size, self.module = name, offset, size, module

    def __str__(self):
        if self.kind == "user":
            return f"user mode at {self.offset:#x}"
        module = f" [{self.module}]" if self.module else ""
        return f"{self.name}+{self.offset:#x}/{self.size:#x}{module}"


def console_trace(lines):
    """The entries of the call trace that follows the panic, without its `?` lines.

    Between "Call Trace:" and the last "</...>" each line is an entry, the mark
    of a stack, or registers; of these RIP tells where the trace goes on.
    """
    text = [STAMP.sub("", line) for line in lines if STAMP.match(line)]
    panics = [number for number, line in enumerate(text) if line.startswith("Kernel panic")]
    check(panics, "console: no panic")
    starts = [number for number in range(panics[0], len(text))
              if text[number] == "Call Trace:"]
    check(starts, "console: no call trace after the panic")
    entries, is_open = [], True
    for line in text[starts[0] + 1:]:
        mark = re.match(r"^ <(/?)(\w+)>$", line)
        if mark:
            is_open = not mark.group(1)
            continue
        # Before 5.16 the task's own stack has no mark.
        if not is_open and not re.match(r" \S", line):
            break
        entry = trace_entry(line)
        if entry:
            entries.append(entry)
    check(len(entries) > 3, "console: the call trace has hardly any lines")
    return entries


def trace_entry(line):
    if line.startswith("RIP: 0033:"):
        return Entry("user", offset=int(USER_RIP.match(line).group(1), 16))
    kernel = KERNEL_RIP.match(line)
    if kernel:
        return Entry("rip", *parse_stack_line(kernel.group(1)))
    if line.startswith("  ") or not line.startswith(" ") or line.startswith(" ?"):
        return None  # ? lines; Code:, RSP:, RAX: and their like
    return Entry("kernel", *parse_stack_line(line[1:]))


def below_panic(entries):
    """Index of panic's frame in the console's trace."""
    for number, entry in enumerate(entries):
        if entry.name in PANIC:
            return number
    check(False, "console: no panic in the call trace")


def frame_text(frame):
    if frame["kind"] == "user":
        return f"user mode at {frame['pc']}"
    module = f" [{frame['module']}]" if frame.get("module") else ""
    return f"{frame['symbol']}+{offset_of(frame):#x}{module}"


def offset_of(frame):
    offset = frame["offset"]
    return int(offset, 16) if isinstance(offset, str) else offset


def check_frame(boot, frame, entry, what):
    """One frame of ours is one entry of theirs: name, offset, module, address."""
    if entry.kind == "user":
        check(frame["kind"] == "user" and int(frame["pc"], 16) == entry.offset,
              f"{what} is {frame_text(frame)}, not {entry}")
        return
    module = frame.get("module") or ""
    check(frame["symbol"] == entry.name and offset_of(frame) == entry.offset
          and (module == entry.module or (module in RUN_TIME_MODULES and not entry.module)),
          f"{what} is {frame_text(frame)}, not {entry}")
    places = boot.addresses.get((entry.name, module), set())
    check(int(frame["pc"], 16) - entry.offset in places,
          f"{what}: {frame['pc']} is not {entry} in the guest's kallsyms")
    check(frame["kind"] not in ("scan", "fp"),
          f"{what}, {entry}, is marked as {frame['kind']}, though it could be proved")


def compare_panic(boot, answer, notes):
    """`bt` of the panic against the console's trace, from panic's frame on.

    Above it the console shows how the trace was printed (dump_stack_lvl), we
    show how the machine was stopped (notifiers, __crash_kexec, pvpanic): both
    are right, and differ.  In panic's own frame only the offset may differ.
    """
    entries = console_trace(boot.console)
    start = below_panic(entries)
    frames = answer["frames"]
    ours = [number for number, frame in enumerate(frames) if frame.get("symbol") in PANIC]
    check(ours, "no panic in our trace: " + ", ".join(map(frame_text, frames)))
    at = ours[0]
    check(frames[at]["symbol"] == entries[start].name,
          f"{frames[at]['symbol']} instead of {entries[start].name}")
    check(0 < offset_of(frames[at]) <= entries[start].size,
          f"{frame_text(frames[at])} is not in {entries[start]}")
    wanted, got = entries[start + 1:], frames[at + 1:]
    for number, (frame, entry) in enumerate(zip(got, wanted), at + 1):
        check_frame(boot, frame, entry, f"frame {number}")
    if len(got) > len(wanted):
        check(False, f"frame after the last: {frame_text(got[len(wanted)])}")
    if len(got) < len(wanted):
        check(False, f"the trace ends before {wanted[len(got)]}")
    for number, frame in enumerate(frames[:at]):
        check(frame["kind"] not in ("scan", "fp"),
              f"frame {number}, {frame_text(frame)}, is marked as {frame['kind']}")
    notes.append(f"{len(wanted)} frames below panic; above it "
                 + " ".join(frame.get("symbol") or "?" for frame in frames[:at]))


# /proc/PID/stack


def hidden_ranges(boot):
    """Text that /proc/PID/stack leaves out: in_sched_functions() of the kernel,
    that is .sched.text and .spinlock.text."""
    ranges = []
    for first, last in (("__sched_text_start", "__sched_text_end"),
                        ("__lock_text_start", "__lock_text_end")):
        if (first, "") in boot.addresses:
            ranges.append((boot.address(first), boot.address(last)))
    check(ranges, "truth: no __sched_text_start")
    return ranges


def compare_sleeping(boot, task, answer, hidden):
    """`bt TID` against the lines of /proc/TID/stack."""
    frames = [frame for frame in answer["frames"] if frame["kind"] != "user"]
    visible = [frame for frame in frames
               if not any(first <= int(frame["pc"], 16) < last for first, last in hidden)]
    entries = [Entry("kernel", *line) for line in task.stack]
    for number, (frame, entry) in enumerate(zip(visible, entries)):
        check_frame(boot, frame, entry, f"{task.tid}: line {number}")
    if len(visible) > len(entries):
        check(False, f"{task.tid}: also {frame_text(visible[len(entries)])}")
    if len(visible) < len(entries):
        check(False, f"{task.tid}: the trace ends before {entries[len(visible)]}")
