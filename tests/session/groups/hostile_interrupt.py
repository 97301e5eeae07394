# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C ends every command within a second of processor time on dumps that make work without end.

BTFCRASH_TEST_WHOLE=1: every command and table, with all of its examples; else some.
"""

import os
import struct
import sys

from forged import Image, Layout, wide_types
from groups.hostile import SEED
from groups.hostile_modules import forge_btfs, forge_modules
from groups.hostile_walks import XA_SLOTS, Forge
from lib import ROOT, Boot, check, kernel_names

sys.path.insert(0, os.path.join(ROOT, "tests", "fuzz"))
import runs  # noqa: E402

WHOLE = bool(os.environ.get("BTFCRASH_TEST_WHOLE"))
SAMPLE = 12  # of the lines, on each dump
SLOTS = 1 << 22  # of a table of open files, all that are looked at
LIMITS = runs.Limits(60, 0)
# What looks at all types, symbols, memory; the program's examples have the rest.
LINES = ("globals", "globals --contains 'struct mutex'", "export vmlinux /dev/null", "export variables /dev/null",
         "types --contains 'struct mutex'", "types --format c", "types --format pahole", "btf --diff vmlinux vmlinux", "report -f",
         "record -s", "whattype {address}", "search -t task_struct", "export sqlite /dev/null", "analyze", "print *init_task",
         "types --size 4096 '*'", "whatis struct task_struct", "struct task_struct", "print struct nosuch", "bpf", "tree prog_idr",
         "userpages --sort pid", "dentries --sort -name", "objects", "sql SELECT count(*) FROM pages a, pages b", "foreach bt -u")


def wide(program, image, boot):
    return wide_types(image, Layout(image, boot).offset("__start_BTF"))


def modules(program, image, boot):
    forge = Forge(program, image, boot)
    forge_btfs(forge, forge_modules(forge, forge.start))
    return forge.patches


def equal_slots(program, image, boot):
    """A node of an xarray that lies in all of its own slots but one."""
    forge = Forge(program, image, boot)
    shift, slots = forge.offset_of("xa_node", "shift", "slots")
    head, = forge.offset_of("idr", "idr_rt.xa_head")
    for level in range(11):
        node = bytearray(slots + 8 * XA_SLOTS)
        node[shift] = 6 * (10 - level)
        below = (forge.start + 1024 * (level + 1)) | 2 if level < 10 else 0
        struct.pack_into(f"<{XA_SLOTS}Q", node, slots, *[below] * XA_SLOTS)
        forge.put(forge.start + 1024 * level, node)
    forge.words(boot.address("prog_idr") + head, forge.start | 2)
    return forge.patches


def endless_files(program, image, boot):
    """The table of init's open files has as many slots as may be, all over the memory of the machine."""
    forge = Forge(program, image, boot)
    array, count = forge.offset_of("fdtable", "fd", "max_fds")
    init = next(row for row in program.result(boot.dump, "ps") if row["pid"] == 1)["address"]
    place = program.value(boot.dump, f"&((struct task_struct *){init})->files->fdt")
    row, = program.result(boot.dump, f"vtop {place}")
    forge.patches[forge.layout.offset_of_physical(int(row["physical"], 16))] = struct.pack("<Q", forge.start)
    direct_map = program.value(boot.dump, "(u64)page_offset_base")
    unused = image.bytes.find(bytes(8 * SLOTS))
    offset, physical, size = next(one for one in forge.layout.segments if one[0] <= unused < one[0] + one[2])
    start = direct_map + physical
    forge.patches[unused] = b"".join(struct.pack("<Q", start + 4096 * (slot * 4099 % (size // 4096))) for slot in range(SLOTS))
    forge.words(forge.start + array, start + unused - offset)
    forge.words(forge.start + count, 0xffffffff)
    return forge.patches


DUMPS = {"wide types": wide, "many modules": modules, "nodes in all slots": equal_slots,
         "files without end": endless_files}
# What walks what was forged, whatever the sample is.
ALWAYS = {"files without end": ("record", "locks", "waits")}


def lines_of(program, boot):
    address = program.result(boot.dump, "ps")[-1]["address"]
    lines = [line.format(address=address) for line in LINES]
    if WHOLE:
        examples = runs.Lines(program, boot.dump).examples
        lines += [name for name in examples] + [line for some in examples.values() for line in some]
    return lines


def run(session):
    program = session.program
    boot = Boot(kernel_names()[-1], "boot1")
    image = Image(boot.dump, os.path.join(program.scratch, "interrupt.elf"))
    lines = lines_of(program, boot)
    for number, (what, make) in enumerate(DUMPS.items()):
        chosen = lines if WHOLE else [line for i, line in enumerate(lines) if (i + number + SEED) % (len(lines) // SAMPLE) == 0]
        chosen = [line for line in ALWAYS.get(what, ()) if line not in chosen] + chosen
        with image.patched(make(program, image, boot)):
            with session.case(f"{what}: Ctrl-C ends {len(chosen)} lines") as notes:
                late = {}
                for line in chosen:
                    ended = runs.run(program, ["-q", "--no-cache", "-c", line, image.path], program.scratch, LIMITS, interrupts=True)
                    why = runs.judge(program, LIMITS, ended, "text")
                    check(not why, f"{line}: {why}")
                    if ended.late is not None:
                        late[line] = ended.late
                check(late or not WHOLE, "nothing works for long enough to be interrupted")
                worst = max(late, key=late.get, default=None)
                notes.append(f"{len(late)} were interrupted, {worst!r} went on for {late.get(worst, 0):.2f} s")
    os.unlink(image.path)
