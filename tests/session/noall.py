#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes of a real dump the one of a kernel that was built without CONFIG_KALLSYMS_ALL.

Its kallsyms have functions only (nm's t, T, w and W), and the tables are those that
scripts/kallsyms.c would have written: fewer records in the same token compression, markers, offsets
and the order by name, at the addresses that VMCOREINFO names. The loaded modules' tables keep what
core_kallsyms keeps then: symbols of executable sections (kernel/module/kallsyms.c,
is_core_symbol()). Nothing else changes: data, exports and BTF stay where they are.

Also a program:  noall.py BTFCRASH VMCORE.elf NEW.elf [--bounds]
                 noall.py BTFCRASH --cache KERNEL FOLDER

The latter makes a folder of all boots of a kernel, with the flavours that makedumpfile makes, for
all other groups:  BTFCRASH_CACHE=FOLDER BTFCRASH_TEST_KERNELS=KERNEL tests/session/run BUILD GROUP...
"""

import os
import struct
import sys

from forged import Image, program_headers
from lib import ROOT, Failure, Program, cache_folder, check

FUNCTIONS = b"tTwW"
PAGE = 4096
START_KERNEL_MAP = 0xffffffff80000000


class Memory:
    """Kernel virtual memory of an x86-64 ELF dump, to read and to write."""

    def __init__(self, image):
        self.bytes = image.bytes
        head = image.bytes[:1 << 16]
        start = head.index(b"OSRELEASE=")
        name = head.rindex(b"VMCOREINFO\0", 0, start)
        size, = struct.unpack_from("<I", head, name - 8)
        text = head[start:start + size].split(b"\0")[0].decode()
        self.info = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        self.segments = list(program_headers(image.bytes))
        base = int(self.info["NUMBER(phys_base)"])
        self.root = self.symbol("swapper_pg_dir") - START_KERNEL_MAP + base

    def symbol(self, name):
        return int(self.info.get(f"SYMBOL({name})", "0"), 16)

    def file_offsets(self, physical):
        """All of them: /proc/vmcore has the kernel's image twice."""
        offsets = [offset + physical - start for offset, start, size in self.segments
                   if start <= physical < start + size]
        check(offsets, f"noall: no physical address {physical:#x} in the dump")
        return offsets

    def translate(self, address):
        """Physical address of a kernel address: four levels of page tables."""
        table = self.root
        for shift in (39, 30, 21, 12):
            at = self.file_offsets(table + (address >> shift & 511) * 8)[0]
            entry, = struct.unpack_from("<Q", self.bytes, at)
            check(entry & 1, f"noall: kernel address {address:#x} is not mapped")
            table = entry & 0x000ffffffffff000
            if shift == 12 or entry & 0x80:
                inside = (1 << shift) - 1
                return (table & ~inside) | (address & inside)
        raise Failure("noall: unreachable")

    def pieces(self, address, size):
        """(file offsets, size) of each page's part."""
        while size:
            part = min(size, PAGE - address % PAGE)
            yield self.file_offsets(self.translate(address)), part
            address, size = address + part, size - part

    def read(self, address, size):
        return b"".join(self.bytes[at[0]:at[0] + part] for at, part in self.pieces(address, size))

    def write(self, address, data):
        done = 0
        for places, part in self.pieces(address, len(data)):
            for at in places:
                self.bytes[at:at + part] = data[done:done + part]
            done += part

    def number(self, address, size):
        return int.from_bytes(self.read(address, size), "little")


def aligned(value, to=8):
    return (value + to - 1) & -to


class Kallsyms:
    """The kernel's tables, as its VMCOREINFO names them."""

    def __init__(self, memory):
        self.memory = memory
        self.at = {name: memory.symbol("kallsyms_" + name) for name in
                   ("num_syms", "names", "token_table", "token_index", "offsets",
                    "relative_base")}
        check(all(self.at.values()), "noall: VMCOREINFO does not name the tables of kallsyms")
        self.count = memory.number(self.at["num_syms"], 4)
        index = struct.unpack("<256H", memory.read(self.at["token_index"], 512))
        text = memory.read(self.at["token_table"], max(index) + 512)
        self.tokens = [text[start:text.index(0, start)] for start in index]
        self.records = self.read_records()
        self.offsets = struct.unpack(f"<{self.count}i",
                                     memory.read(self.at["offsets"], self.count * 4))
        # Where the order by name lies: behind the base, or (up to 6.3) before the tokens.
        self.is_sorted_last = self.at["offsets"] > self.at["names"]

    def read_records(self):
        names = self.memory.read(self.at["names"], self.names_room())
        records, at = [], 0
        for _ in range(self.count):
            size, header = names[at], 1
            if size & 0x80:
                size, header = (size & 0x7f) | names[at + 1] << 7, 2
            records.append(names[at:at + header + size])
            at += header + size
        return records

    def names_room(self):
        return self.at["token_table"] - self.at["names"]

    def name(self, number):
        """With nm's letter in front."""
        record = self.records[number]
        return b"".join(self.tokens[code] for code in record[2 if record[0] & 0x80 else 1:])

    def keep(self, numbers):
        """Writes the tables anew, with these symbols only."""
        memory, at = self.memory, self.at
        records = [self.records[number] for number in numbers]
        markers, place = [], 0
        for i, record in enumerate(records):
            if not i % 256:
                markers.append(place)
            place += len(record)
        names = [self.name(number)[1:] for number in numbers]
        order = sorted(range(len(numbers)), key=lambda i: (names[i], i))
        table = b"".join(struct.pack(">I", number)[1:] for number in order)
        memory.write(at["names"], bytes(self.names_room()))
        memory.write(at["num_syms"], struct.pack("<I", len(numbers)))
        memory.write(at["names"], b"".join(records))
        memory.write(aligned(at["names"] + place), struct.pack(f"<{len(markers)}I", *markers))
        memory.write(at["offsets"], bytes(self.count * 4))
        memory.write(at["offsets"],
                     struct.pack(f"<{len(numbers)}i", *(self.offsets[n] for n in numbers)))
        if self.is_sorted_last:
            memory.write(at["relative_base"] + 8, bytes(self.count * 3))
            memory.write(at["relative_base"] + 8, table)
        else:
            memory.write(at["token_table"] - aligned(len(table)), table)


def is_kept(name, bounds):
    return name[0] in FUNCTIONS or (bounds and name[1:].startswith((b"__start_", b"__stop_")))


def modules(memory, program, dump):
    """Addresses of all struct modules, from the list."""
    head = int(program.result(dump, "print &modules")["value"], 0)
    offset = member(program, dump, "module", "list")
    node = memory.number(head, 8)
    while node != head:
        yield node - offset
        node = memory.number(node, 8)


def member(program, dump, kind, path):
    """offsetof()"""
    return int(program.result(dump, f"print &((struct {kind} *)0)->{path}")["value"], 0)


def strip_module(memory, table, offsets):
    """Of a struct mod_kallsyms: what core_kallsyms would have kept."""
    symtab, count, typetab = (memory.number(table + offsets[name], size) for name, size in
                              (("symtab", 8), ("num_symtab", 4), ("typetab", 8)))
    symbols, kinds = memory.read(symtab, count * 24), memory.read(typetab, count)
    kept = [i for i in range(count) if not i or kinds[i] in FUNCTIONS]
    memory.write(symtab, b"".join(symbols[i * 24:i * 24 + 24] for i in kept))
    memory.write(typetab, bytes(kinds[i] for i in kept))
    memory.write(table + offsets["num_symtab"], struct.pack("<I", len(kept)))


def strip(program, source, path, bounds=False):
    """Writes to `path` the dump `source` without CONFIG_KALLSYMS_ALL.  `bounds`: with the
    __start_ and __stop_ symbols that kernels since 6.10 keep."""
    offsets = {name: member(program, source, "mod_kallsyms", name)
               for name in ("symtab", "num_symtab", "typetab")}
    pointer = member(program, source, "module", "kallsyms")
    image = Image(source, path)
    memory = Memory(image)
    kallsyms = Kallsyms(memory)
    kallsyms.keep([i for i in range(kallsyms.count) if is_kept(kallsyms.name(i), bounds)])
    for module in modules(memory, program, source):
        strip_module(memory, memory.number(module + pointer, 8), offsets)
    image.bytes.flush()
    image.bytes.close()


# What is made of an ELF dump.  Its images of memory stay as they are: no commands of theirs matter.
DUMPS = ("vmcore.elf", "vmcore.kdump", "vmcore.hung")


def strip_boot(program, source, folder):
    """A boot's folder once more: what was not a dump is shared."""
    os.makedirs(folder)
    for name in os.listdir(source):
        if name in DUMPS:
            strip(program, os.path.join(source, name), os.path.join(folder, name))
        elif not name.startswith("vmcore."):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))


def strip_kernel(program, kernel, cache):
    """All boots of a kernel."""
    sys.path.insert(0, os.path.join(ROOT, "testdata"))
    from recipe.items import make_flavours_of
    source = os.path.realpath(os.path.join(cache_folder(), kernel))
    for name in sorted(os.listdir(source)):
        if not os.path.isdir(os.path.join(source, name)):
            continue
        folder = os.path.join(os.path.abspath(cache), kernel, name)
        strip_boot(program, os.path.join(source, name), folder)
        make_flavours_of(name, folder, f"{kernel} {name}")
        print(folder, flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    program = Program(os.path.dirname(sys.argv[1]) or ".")
    if sys.argv[2] == "--cache" and len(sys.argv) == 5:
        strip_kernel(program, *sys.argv[3:])
    else:
        strip(program, sys.argv[2], sys.argv[3], "--bounds" in sys.argv)


if __name__ == "__main__":
    main()
