#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames and arguments of all tasks against drgn's, which has DWARF.

  arguments.py DUMP VMLINUX [PROGRAM|TRACES.json [MODULE.ko...]]

TRACES.json is what `btfcrash -q --json -c 'foreach bt' DUMP` wrote: for a drgn
that runs elsewhere.  MODULE.ko are files of the -dbg package.
DUMP must be one that drgn 0.0.22 can read: written by makedumpfile or a capture
kernel.  For each task: our frames against drgn's that are not inlined, by
address; for each frame of both, every argument that we call known against
drgn's value.  A task whose registers one of the two does not know is named.
Exit status 1 when an argument is wrong.
"""

import collections
import json
import os
import subprocess
import sys

import drgn
from drgn.helpers.linux.pid import for_each_task


def our_traces(program, dump):
    """{task address: trace} of `foreach bt`."""
    if program.endswith(".json"):
        with open(program, encoding="utf-8") as file:
            return by_address(json.loads(file.readline())["result"])
    done = subprocess.run([program, "-q", "--json", "--json-integers=exact", "-c", "foreach bt", dump],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return by_address(json.loads(done.stdout.decode().splitlines()[0])["result"])


def by_address(traces):
    return {int(trace["task"]["address"], 16): trace for trace in traces}


def drgn_frames(program, task):
    """drgn's frames that are functions of their own, as (pc, frame)."""
    frames = []
    for frame in program.stack_trace(task):
        try:
            pc, inlined = frame.pc, frame.is_inline
        except (LookupError, ValueError):
            continue
        if not inlined and pc >> 63:
            frames.append((pc, frame))
    return frames


def drgn_value(frame, name):
    """An argument as an integer, or None when drgn has no value of it."""
    try:
        value = frame[name]
        if value.absent_:
            return None
        return int(value) & ((1 << 64) - 1)
    except (KeyError, TypeError, LookupError, ValueError, drgn.FaultError):
        return None
    except Exception as error:  # drgn 0.0.22 knows no DW_OP_entry_value
        if "unknown DWARF expression opcode" in str(error):
            return None
        raise


class Score:
    def __init__(self):
        self.counts = collections.Counter()
        self.wrong = []
        self.differences = []

    def add_argument(self, where, ours, theirs):
        is_pointer = ours["type"].rstrip().endswith("*") or "(*" in ours["type"]
        kind = "pointer" if is_pointer else "other"
        self.counts[kind] += 1
        known = ours["value"] is not None
        self.counts[kind, "known"] += known
        self.counts["theirs"] += theirs is not None
        if not known:
            self.counts["only theirs"] += theirs is not None
            return
        if theirs is None:
            self.counts["only ours"] += 1
            return
        value = ours["value"]
        value = int(value, 16) if isinstance(value, str) else value
        if value & ((1 << 64) - 1) == theirs or value & 0xffffffff == theirs & 0xffffffff and not is_pointer:
            self.counts["equal"] += 1
        else:
            self.wrong.append(f"{where}: {ours['type']} {ours['name']} is {value:#x}, "
                              f"drgn has {theirs:#x}")

    def add_frame(self, where, ours, theirs):
        for argument in ours.get("args", []):
            if argument["name"]:
                self.add_argument(f"{where} {ours['symbol']}+{ours['offset']:#x}", argument,
                                  drgn_value(theirs, argument["name"]))


def names(functions):
    functions = [str(function) for function in functions]
    more = f" and {len(functions) - 12} more" if len(functions) > 12 else ""
    return " ".join(functions[:12]) + more or "none"


def compare_task(score, address, comm, trace, theirs):
    """Frames in order; arguments of those that are equal."""
    ours = [frame for frame in trace["frames"] if frame["kind"] != "user"]
    pcs, their_pcs = [int(frame["pc"], 16) for frame in ours], [pc for pc, _ in theirs]
    score.counts["tasks"] += 1
    score.counts["frames"] += len(ours)
    if pcs != their_pcs:
        score.differences.append(
            f"{comm} ({address:#x}): ours {names(frame['symbol'] for frame in ours)}; drgn's "
            + names(str(frame.name) for _, frame in theirs))
    by_pc = collections.defaultdict(list)
    for pc, frame in theirs:
        by_pc[pc].append(frame)
    for frame in ours:
        pc = int(frame["pc"], 16)
        if len(by_pc[pc]) == 1 and pcs.count(pc) == 1:
            score.add_frame(comm, frame, by_pc[pc][0])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    dump, vmlinux = map(os.path.abspath, sys.argv[1:3])
    traces = our_traces(sys.argv[3] if len(sys.argv) > 3 else "build/btfcrash", dump)
    program = drgn.Program()
    program.set_core_dump(dump)
    program.load_debug_info([vmlinux, *sys.argv[4:]])
    score = Score()
    for task in for_each_task(program):
        address, comm = task.value_(), task.comm.string_().decode("utf-8", "backslashreplace")
        if address not in traces:
            score.differences.append(f"{comm} ({address:#x}): we do not have it")
            continue
        try:
            theirs = drgn_frames(program, task)
        except (ValueError, LookupError, drgn.FaultError) as error:
            score.differences.append(f"{comm} ({address:#x}): drgn: {error}")
            continue
        compare_task(score, address, comm, traces[address], theirs)
    for line in score.differences:
        print("frames differ:", line)
    for line in score.wrong:
        print("WRONG:", line)
    counts = score.counts
    print(f"{counts['tasks']} tasks, {counts['frames']} frames, "
          f"{len(score.differences)} tasks differ")
    for kind in ("pointer", "other"):
        total = counts[kind]
        print(f"{kind} arguments: {counts[kind, 'known']} of {total} known "
              f"({100 * counts[kind, 'known'] / max(total, 1):.1f} %)")
    print(f"drgn knows {counts['theirs']}; equal {counts['equal']}, only ours "
          f"{counts['only ours']}, only drgn's {counts['only theirs']}, wrong {len(score.wrong)}")
    sys.exit(bool(score.wrong))


if __name__ == "__main__":
    main()
