# SPDX-License-Identifier: GPL-3.0-or-later
"""Structures that many others lead to: each link is sound, and a walk that follows all of them visits
a few megabytes without end.  What is forged lies in the kernel's code, of which nothing else is asked.
"""

import contextlib
import os
import struct
import subprocess

from forged import Image, Layout
from groups.hostile import SEED, harmless
from groups.hostile_costs import little_memory
from lib import Boot, check, check_equal, kernel_names

XA_SLOTS = 64


class Forge:
    """Bytes at addresses of the kernel's image, where its members are, and what of it is free."""

    def __init__(self, program, image, boot):
        self.program, self.image, self.boot = program, image, boot
        self.layout = Layout(image, boot)
        self.start = (boot.address("_stext") + 0xffff) & ~0xffff
        self.size = boot.address("_etext") - self.start
        self.patches = {}

    def offset_of(self, struct_name, *members):
        """Bytes from the start of the struct to each member."""
        answers = self.program.answers(self.boot.dump, [
            f"print (u64)&((struct {struct_name} *)0)->{member}" for member in members], status=0)
        return [answer["result"]["value"] for answer in answers]

    def put(self, address, data):
        at = self.layout.offset_of_physical(
            address - self.layout.start_kernel_map + self.layout.base)
        self.patches[at] = bytes(data)

    def words(self, address, *words):
        self.put(address, struct.pack(f"<{len(words)}Q", *words))

    @contextlib.contextmanager
    def forged(self):
        with self.image.patched(self.patches):
            yield
        self.patches = {}


def ends(session, path, what, command):
    """The command, in a gigabyte and in time (OPENING_SECONDS)."""
    program, result = session.program, None
    with session.case(f"{what}: {command}") as notes:
        result = program.run(["-q", "-c", command, "-c", "sys", path]) if program.is_sanitized \
            else little_memory(program, path, [command, "sys"])
        harmless(result, what)
        check("out of memory" not in result.text, "takes more than a gigabyte")
        said = result.errors.splitlines()[0] if result.errors else "nothing is said"
        notes.append(f"{result.seconds:.1f} s; {said}")
    return result


def equal_slots(session, forge):
    """A node of an xarray that lies in all slots of the one above, and so on: 64 ^ 10 ways down."""
    shift, offset, parent, slots = forge.offset_of("xa_node", "shift", "offset", "parent", "slots")
    head, = forge.offset_of("idr", "idr_rt.xa_head")
    levels = 11
    places = [forge.start + 1024 * level for level in range(levels)]
    for level, place in enumerate(places):
        node = bytearray(slots + 8 * XA_SLOTS)
        node[shift] = 6 * (levels - 1 - level)
        node[offset] = XA_SLOTS - 1
        struct.pack_into("<Q", node, parent, places[level - 1] if level else 0)
        below = places[level + 1] | 2 if level + 1 < levels else 0
        struct.pack_into(f"<{XA_SLOTS}Q", node, slots, *[below] * XA_SLOTS)
        forge.put(place, node)
    forge.words(forge.boot.address("prog_idr") + head, places[0] | 2)
    with forge.forged():
        for command in ("bpf", "tree prog_idr", "report"):
            ends(session, forge.image.path, "xarray nodes in all slots", command)


def shared_symbols(session, forge):
    """Modules that share one large table of symbols, whose names lie far apart."""
    program, boot = session.program, forge.boot
    list_, name, kallsyms = forge.offset_of("module", "list", "name", "kallsyms")
    symtab, strtab, count, typetab = forge.offset_of("mod_kallsyms", "symtab", "strtab",
                                                     "num_symtab", "typetab")
    size = program.value(boot.dump, "sizeof(struct module)")
    modules, many, symbols = boot.address("modules"), 500, 1 << 17
    table = forge.start + many * size + 4096
    tables = forge.start + many * size
    forge.put(table, struct.pack("<IBBHQQ", 1, 18, 0, 1, forge.start, 16) * (symbols - 1) +
              struct.pack("<IBBHQQ", 6 << 20, 18, 0, 1, forge.start, 16))
    forge.words(tables + symtab, table)
    forge.words(tables + strtab, forge.start)
    forge.words(tables + typetab, 0)
    forge.put(tables + count, struct.pack("<I", symbols))
    places = [modules, *(forge.start + size * i + list_ for i in range(many)), modules]
    forge.words(modules, places[1], places[-2])
    module = bytearray(size)
    for i in range(many):
        struct.pack_into("<QQ", module, list_, places[i + 2], places[i])
        struct.pack_into("<Q", module, kallsyms, tables)
        module[name:name + 8] = f"m{i}".encode().ljust(8, b"\0")
        forge.put(forge.start + size * i, bytes(module))
    with forge.forged():
        for command in ("mod", "whatis jiffies"):
            ends(session, forge.image.path, "modules with one table of symbols", command)


def equal_names(session, forge):
    """A module with as many symbols as may be, all of one name."""
    list_, name, kallsyms = forge.offset_of("module", "list", "name", "kallsyms")
    symtab, strtab, count, typetab = forge.offset_of("mod_kallsyms", "symtab", "strtab",
                                                     "num_symtab", "typetab")
    modules, symbols = forge.boot.address("modules"), 200_000
    table = forge.start + (1 << 16)
    node = forge.start + list_
    forge.put(forge.start, bytes(4096))
    forge.words(modules, node, node)
    forge.words(node, modules, modules)
    forge.put(forge.start + name, b"crowd\0")
    forge.words(forge.start + kallsyms, forge.start + 8192)
    forge.words(forge.start + 8192 + symtab, table)
    forge.words(forge.start + 8192 + strtab, forge.start + 12288)
    forge.words(forge.start + 8192 + typetab, 0)
    forge.put(forge.start + 8192 + count, struct.pack("<I", symbols))
    forge.put(forge.start + 12288, b"\0crowded\0")
    forge.put(table, struct.pack("<IBBHQQ", 1, 18, 0, 1, forge.start, 16) * symbols)
    with forge.forged():
        ends(session, forge.image.path, "symbols of one name", "sym -q crowded")
        result = ends(session, forge.image.path, "symbols of one name", "print crowded")
        with session.case("symbols of one name: how many"):
            check(result and "200000 symbols of this name" in result.text, "nothing is said")


def damaged_tables(session, boot):
    """Each table while links that it follows lead round in circles, to wild addresses, to what others hold: tests/stress/tables.c."""
    program = session.program
    driver = os.path.join(os.path.dirname(program.path), "stress", "tables")
    rounds = "2" if program.is_sanitized else "6"
    with session.case(f"{boot.label}: each table with damaged links, {rounds} rounds") as notes:
        check(os.path.exists(driver), f"no {driver} (make session builds it)")
        done = subprocess.run([driver, boot.dump, rounds, str(SEED)], timeout=1200, text=True, env=program.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout} {done.stderr}")
        tables = len(program.result(boot.dump, "sql .tables"))
        check(f" of {tables} tables" in done.stdout, f"not of {tables} tables: {done.stdout}")
        notes.append(done.stdout.strip())


def run(session):
    for kernel in kernel_names():
        damaged_tables(session, Boot(kernel, "boot1"))
    boot = Boot(kernel_names()[-1], "boot1")
    image = Image(boot.dump, os.path.join(session.program.scratch, "walks.elf"))
    forge = Forge(session.program, image, boot)
    for case in (equal_slots, shared_symbols, equal_names):
        case(session, forge)
    with session.case("the dump is as before"):
        check_equal(session.program.text(image.path, "bpf"),
                    session.program.text(boot.dump, "bpf"), "bpf")
    os.unlink(image.path)
