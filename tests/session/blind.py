# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps whose CPUs' registers were wiped, and what `bt` may still say of them."""

import contextlib
import mmap
import os
import struct

from lib import check, check_equal, copy_file

NOTE = 4  # PT_NOTE
NO_TYPE = 0x7fffffff  # a type of note that nobody reads
PRSTATUS = struct.pack("<3I8s", 5, 336, 1, b"CORE")  # the head of such a note
# What never returns is still there, further on than its last call.
NO_RETURN = ("panic", "vpanic", "stop_this_cpu", "crash_nmi_callback", "machine_kexec",
             "nmi_panic_self_stop")


def program_headers(data):
    """(type, offset, size) of each."""
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(table, table + size * count, size):
        kind, = struct.unpack_from("<I", data, at)
        offset, = struct.unpack_from("<Q", data, at + 8)
        length, = struct.unpack_from("<Q", data, at + 32)
        yield kind, offset, length


def notes_of(data):
    """(offset of the type, name) of each note of an ELF dump."""
    for kind, offset, size in list(program_headers(data)):
        at, end = offset, offset + size
        while kind == NOTE and at + 12 <= end:
            name_size, text_size, _ = struct.unpack_from("<3I", data, at)
            yield at + 8, bytes(data[at + 12:at + 12 + name_size]).rstrip(b"\0")
            at += 12 + (name_size + 3 & ~3) + (text_size + 3 & ~3)


def wipe_notes(data, cpu=None):
    """Makes the notes with the registers of one CPU, or of all, unreadable."""
    wiped, seen = 0, {}
    for place, name in notes_of(data):
        if name not in (b"CORE", b"QEMU"):
            continue
        seen[name] = seen.get(name, -1) + 1
        if cpu in (None, seen[name]):
            struct.pack_into("<I", data, place, NO_TYPE)
            wiped += 1
    return wiped


def wipe_crash_notes(data):
    """The same of what a kernel that died through kexec has of them in its memory."""
    wiped, at = 0, data.find(PRSTATUS)
    while at >= 0:
        data[at + 12:at + 20] = b"\0" * 8
        wiped += 1
        at = data.find(PRSTATUS, at + 1)
    return wiped


def wipe_kexec(data):
    """Both."""
    return wipe_notes(data) and wipe_crash_notes(data)


def is_kexec(boot):
    return os.path.basename(boot.folder) in ("kdump", "deaf")


def dump_of(boot):
    """What QEMU wrote, or the capture kernel."""
    return boot.path("vmcore.kdump") if is_kexec(boot) else boot.dump


@contextlib.contextmanager
def wiped_copy(program, dump, wipe):
    """A copy of a dump that `wipe` changes."""
    path = os.path.join(program.scratch, "no-registers.elf")
    copy_file(dump, path)
    try:
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
            check(wipe(data), "there are no registers to wipe")
        yield path
    finally:
        os.unlink(path)


def is_sure(frame):
    return frame.get("proved", True)


def places(frames):
    return [(frame.get("symbol"), frame["pc"], frame.get("sp")) for frame in frames]


def check_arguments(frame, wanted):
    """What is known of a sure frame's arguments is what registers prove, or less."""
    for ours, theirs in zip(frame.get("args", ()), wanted.get("args", ())):
        check(ours["value"] in (None, theirs["value"]),
              f"{frame['symbol']}: {ours['name']} is {ours['value']}, not {theirs['value']}")


def check_unproved(frames):
    for frame in frames:
        known = [argument["name"] for argument in frame.get("args", ())
                 if argument["value"] is not None]
        check(not known, f"{frame['symbol']}, which is not proved, has arguments: {known}")


def compare_trace(blind, seeing):
    """A trace without registers with the true one.  Returns how many frames are sure.

    What is sure begins with a function that never returns.  From there on, the
    true trace has the same frames; but for that one's place, which is where it
    made its last call.
    """
    check_equal(blind.get("start"), "search", "start")
    frames, true = blind["frames"], seeing["frames"]
    sure = [frame for frame in frames if is_sure(frame)]
    check_unproved(frames[:len(frames) - len(sure)])
    check([is_sure(frame) for frame in frames]
          == [False] * (len(frames) - len(sure)) + [True] * len(sure),
          "frames that are not proved below some that are")
    if not sure:
        return 0
    proof = blind["proof"]
    # Of an interrupt the kernel notes where the registers are, which it has saved.
    saved = proof == "irq_regs"
    check(saved or (proof in NO_RETURN and sure[0]["symbol"] == proof),
          f"{sure[0]['symbol']} by {proof}")
    # A kexec notes registers before it jumps, those of other CPUs before their NMI; others are in
    # what never returns, or in what that has called by then.
    common = len(true) if proof == "crash_nmi_callback" else min(len(true), len(sure)) - 1
    if saved:
        common = len(sure)
    check_equal(places(sure[-common:]), places(true[-common:]), "what is sure")
    for frame, wanted in zip(sure[-common:], true[-common:]):
        check_arguments(frame, wanted)
    if proof != "crash_nmi_callback" and not saved:
        check_equal(sure[-common - 1]["symbol"], true[-common - 1]["symbol"], "the last call's")
    return len(sure)


def check_all(program, boot, notes):
    """Every CPU without registers; then the answers of other commands.

    The panicking task's stack has to be found.  Another CPU was stopped wherever it
    was, and its stack may be said to be unknown: no frame is sure then, which is noted.
    """
    before = program.result(dump_of(boot), "bt -a")
    wipe = wipe_kexec if is_kexec(boot) else wipe_notes
    with wiped_copy(program, dump_of(boot), wipe) as path:
        after = program.result(path, "bt -a")
        check_equal(len(after), len(before), "CPUs of bt -a")
        panicked = program.result(path, "bt")["task"]
        for cpu, (old, new) in enumerate(zip(before, after)):
            check_equal(new["task"], old["task"], f"CPU {cpu}: the task")
            sure = compare_trace(new, old)
            check(sure > 1 or new["task"] != panicked,
                  f"CPU {cpu}: nothing of its stack is sure: {new}")
            notes.append(f"CPU {cpu}: {sure} of {len(new['frames'])} frames sure by "
                         f"{new['proof']}" if sure else f"CPU {cpu}: unknown")
        check_others(program, path, after)


def check_others(program, path, traces):
    """What `bt` says, all say that show a stack or a frame."""
    panicked = program.result(path, "bt")
    check(panicked in traces, "bt is none of bt -a")
    by_address = {trace["task"]["address"]: trace for trace in traces}
    found = [trace for trace in program.result(path, "foreach bt")
             if trace["start"] == "search"]
    check_equal({trace["task"]["address"] for trace in found}, set(by_address), "searched stacks")
    for trace in found:
        check_equal(trace, by_address[trace["task"]["address"]], "foreach bt")
    group, = [group for group in program.result(path, "stacks") if group["panicking"]]
    check_equal((group["start"], [is_sure(frame) for frame in group["frames"]]),
                ("search", [is_sure(frame) for frame in panicked["frames"]]), "stacks")
    text = program.text(path, "bt")
    check("no registers say where it was" in text, text)
    check_equal(text.count("(search?)"),
                sum(not is_sure(frame) for frame in panicked["frames"]), "marks")
    first, second = program.answers(path, ["frame 0", "registers"])
    check_equal(first["result"], panicked["frames"][0], "frame 0")
    check_equal(second["ok"], is_sure(panicked["frames"][0]), "registers of frame 0")


def check_one(program, boot, notes):
    """A CPU whose registers are not in the dump, as one that never answered; the others are as
    they were."""
    before = program.result(dump_of(boot), "bt -a")
    victim = boot.cpu_count - 1
    with wiped_copy(program, dump_of(boot), lambda data: wipe_notes(data, victim) == 2) as path:
        after = program.result(path, "bt -a")
    check_equal(len(after), len(before), "CPUs of bt -a")
    for cpu, (old, new) in enumerate(zip(before, after)):
        if cpu == victim:
            compare_trace(new, old)
            notes.append(f"{len(new['frames'])} frames of CPU {victim}")
        else:
            check_equal(new, old, f"CPU {cpu}")
            check_equal((new["start"], new["registers_from"]), ("registers", "PRSTATUS"),
                        f"CPU {cpu}: start")


def check_memory_notes(program, boot, notes):
    """A kexec's own notes in memory serve where the file has none."""
    before = program.result(dump_of(boot), "bt -a")
    with wiped_copy(program, dump_of(boot), wipe_notes) as path:
        after = program.result(path, "bt -a")
    check_equal(after, before, "bt -a")
    check_equal({trace["registers_from"] for trace in after}, {"crash_notes"}, "registers from")
    notes.append(f"{len(after)} CPUs")
