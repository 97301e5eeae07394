# SPDX-License-Identifier: GPL-3.0-or-later
"""Many modules, and a long list of their BTF that has none of them: what is asked of all modules takes
the sum of both, not their product.  What is forged lies in the kernel's code."""

import os
import struct

from forged import Image
from groups.hostile import harmless
from groups.hostile_walks import Forge
from lib import Boot, check, check_equal, kernel_names

MODULES, BTFS = 1000, 30_000
SECONDS = 20  # of processor; without an index, minutes
COMMANDS = ("print sizeof(struct nosuch)", "globals nosuch*", "whatis struct nosuch", "print nosuch", "struct nosuch",
            "types struct nosuch", "types --member nosuch", "mod", "globals -m m7", "sym -q nosuch", "slabs", "bt", "btf",
            "print m999::nosuch")


def forge_modules(forge, first):
    """MODULES modules without memory of their own in the list `modules`; returns where the next thing has room."""
    list_, name = forge.offset_of("module", "list", "name")
    size = forge.program.value(forge.boot.dump, "sizeof(struct module)")
    modules = forge.boot.address("modules")
    places = [modules, *(first + size * i + list_ for i in range(MODULES)), modules]
    forge.words(modules, places[1], places[-2])
    for i in range(MODULES):
        module = bytearray(size)
        struct.pack_into("<QQ", module, list_, places[i + 2], places[i])
        module[name:name + 8] = f"m{i}".encode().ljust(8, b"\0")
        forge.put(first + size * i, bytes(module))
    return first + size * MODULES


def forge_btfs(forge, first):
    """BTFS elements of btf_modules, of modules that are none."""
    list_, module, btf = forge.offset_of("btf_module", "list", "module", "btf")
    size = forge.program.value(forge.boot.dump, "sizeof(struct btf_module)")
    head = forge.boot.address("btf_modules")
    places = [head, *(first + size * i + list_ for i in range(BTFS)), head]
    forge.words(head, places[1], places[-2])
    data = bytearray(size * BTFS)
    for i in range(BTFS):
        at = size * i
        struct.pack_into("<QQ", data, at + list_, places[i + 2], places[i])
        struct.pack_into("<Q", data, at + module, first + 8 * i)
        struct.pack_into("<Q", data, at + btf, first)
    forge.put(first, data)


def run(session):
    program = session.program
    boot = Boot(kernel_names()[-1], "boot1")
    image = Image(boot.dump, os.path.join(program.scratch, "modules.elf"))
    forge = Forge(program, image, boot)
    forge_btfs(forge, forge_modules(forge, forge.start))
    with forge.forged():
        with session.case(f"{MODULES} modules"):
            check_equal(len(program.answers(image.path, ["mod"])[0]["result"]), MODULES, "modules")
        for command in COMMANDS:
            with session.case(f"{MODULES} modules, {BTFS} BTFs: {command}") as notes:
                result = program.run(["-q", "--no-cache", "-c", command, image.path])
                harmless(result, command)
                check(program.is_sanitized or result.processor < SECONDS, f"{result.processor:.1f} s of processor time")
                notes.append(f"{result.processor:.2f} s")
    os.unlink(image.path)
