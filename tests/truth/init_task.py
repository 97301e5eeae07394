#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares printed variables, member by member, with what DWARF says of them.

  tests/truth/init_task.py DUMP VMLINUX [PROGRAM [VARIABLE[:CPU]...]]

DUMP is an ELF dump of QEMU, VMLINUX the -dbg package's of the same kernel.  The
JSON of PROGRAM's `print VARIABLE` (build/btfcrash; init_task, runqueues:0 and a
few more) is walked along DWARF's type of the variable, which drgn reads from
VMLINUX, over the variable's bytes, which are taken from the file here.  Types,
addresses, order of members and each value have to be the same.
"""

import json
import os
import struct
import subprocess
import sys

import drgn

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VARIABLES = ("init_task", "init_uts_ns", "runqueues:0", "runqueues:1", "init_mm", "init_pid_ns",
             "init_files", "iomem_resource", "init_net", "jiffies_64")
KERNEL_MAP = 0xffffffff80000000
AGGREGATES = (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION, drgn.TypeKind.CLASS)


class Dump:
    """Memory of an ELF dump, without any help: physical, direct map, kernel image."""

    def __init__(self, path):
        self.file = open(path, "rb")
        head = self.file.read(64)
        start, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        self.segments = []
        for number in range(count):
            self.file.seek(start + number * size)
            kind, _, offset, _, physical, length = struct.unpack("<IIQQQQ", self.file.read(40))
            if kind == 1:
                self.segments.append((offset, physical, length))
        self.file.seek(0)
        notes = self.file.read(1 << 16)
        at = notes.index(b"OSRELEASE=")
        lines = notes[at:notes.index(b"\0", at)].decode().splitlines()
        self.info = dict(line.split("=", 1) for line in lines if "=" in line)
        self.base = int(self.info["NUMBER(phys_base)"])
        self.slide = int(self.info["KERNELOFFSET"], 16)
        self.direct_map = None

    def physical(self, address, size):
        for offset, start, length in self.segments:
            if start <= address and address + size <= start + length:
                self.file.seek(offset + address - start)
                return self.file.read(size)
        raise ValueError(f"no physical address {address:#x}")

    def read(self, address, size):
        if address >= KERNEL_MAP:
            return self.physical(address - KERNEL_MAP + self.base, size)
        return self.physical(address - self.direct_map, size)

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]


class Comparison:
    """One variable: its JSON against its bytes."""

    def __init__(self, data):
        self.data = data
        self.values = 0
        self.differences = []

    def differ(self, path, ours, theirs):
        self.differences.append(f"{path}: {ours!r}, DWARF says {theirs!r}")

    def walk(self, path, kind, bit, size, ours):
        """A value of a type at a bit of the data; size: of a bit-field."""
        while kind.kind == drgn.TypeKind.TYPEDEF:
            kind = kind.type
        if kind.kind in AGGREGATES:
            self.walk_members(path, kind, bit, ours)
        elif kind.kind == drgn.TypeKind.ARRAY:
            self.walk_array(path, kind, bit, ours)
        else:
            theirs = self.scalar(kind, bit, size)
            self.values += 1
            if ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
                self.differ(path, ours, theirs)

    def members(self, kind, bit):
        """(name, type, bit, size) of the members, with those of unnamed ones in place."""
        for member in kind.members or ():
            at = bit + member.bit_offset
            inner = member.type
            while inner.kind == drgn.TypeKind.TYPEDEF:
                inner = inner.type
            if member.name is None and inner.kind in AGGREGATES:
                yield from self.members(inner, at)
            elif member.name is not None:
                yield member.name, member.type, at, member.bit_field_size

    def walk_members(self, path, kind, bit, ours):
        members = list(self.members(kind, bit))
        names = [member[0] for member in members]
        if not isinstance(ours, dict) or list(ours) != names:
            self.differ(path, list(ours) if isinstance(ours, dict) else ours, names)
            return
        for name, inner, at, size in members:
            self.walk(f"{path}.{name}", inner, at, size, ours[name])

    def walk_array(self, path, kind, bit, ours):
        element = kind.type
        while element.kind == drgn.TypeKind.TYPEDEF:
            element = element.type
        length = kind.length or 0
        if element.kind == drgn.TypeKind.INT and element.name == "char" and length:
            theirs = self.data[bit // 8:bit // 8 + length].split(b"\0")[0].decode("latin-1")
            self.values += 1
            if ours != theirs:
                self.differ(path, ours, theirs)
            return
        if not isinstance(ours, list) or len(ours) != length:
            self.differ(path, f"{len(ours)} elements", f"{length} elements")
            return
        for index in range(length):
            self.walk(f"{path}[{index}]", element, bit + index * 8 * drgn.sizeof(element), None,
                      ours[index])

    def scalar(self, kind, bit, size):
        """The value as JSON has it."""
        bits = size or 8 * drgn.sizeof(kind)
        first, last = bit // 8, (bit + bits + 7) // 8
        number = int.from_bytes(self.data[first:last], "little") >> bit % 8
        number &= (1 << bits) - 1
        if kind.kind == drgn.TypeKind.POINTER:
            return f"{number:#x}"
        if kind.kind == drgn.TypeKind.BOOL:
            return bool(number) if size is None else number
        if bits > 64:
            return f"{number:#034x}"
        integer = kind.type if kind.kind == drgn.TypeKind.ENUM else kind
        if integer.is_signed and number >> (bits - 1):
            number -= 1 << bits
        return number


def printed(program, dump, variable):
    """The result of print, or None with a message."""
    done = subprocess.run([program, "-q", "--json", "--json-integers=exact", "-c",
                           "print " + variable, dump],
                          stdout=subprocess.PIPE, check=False)
    answer = json.loads(done.stdout)
    if not answer["ok"]:
        return None, answer["error"]
    return answer["result"], None


def compare(debug, dump, program, path, variable):
    """Prints a line; returns whether all is equal."""
    result, error = printed(program, path, variable)
    name, _, cpu = variable.partition(":")
    try:
        symbol = debug.variable(name)
    except LookupError:
        print(f"{variable}: not in this kernel")
        return False
    if error:
        print(f"{variable}: not printed: {error}")
        return False
    # drgn moves the symbols of a dump by its KASLR offset itself.
    address = symbol.address_
    if cpu:
        offsets = debug.variable("__per_cpu_offset").address_
        address = (address + dump.word(offsets + 8 * int(cpu))) & (1 << 64) - 1
    size = drgn.sizeof(symbol.type_)
    comparison = Comparison(dump.read(address, size))
    if int(result["address"], 16) != address:
        comparison.differ("address", result["address"], hex(address))
    if result["type"].replace(" ", "") != symbol.type_.type_name().replace(" ", ""):
        print(f"{variable}: type {result['type']}, DWARF says {symbol.type_.type_name()}")
    comparison.walk(name, symbol.type_, 0, None, result["value"])
    state = "equal" if not comparison.differences else \
        f"{len(comparison.differences)} DIFFERENCES"
    print(f"{variable}: {symbol.type_.type_name()}, {size} bytes, {comparison.values} values, "
          f"type {result['origin']}: {state}")
    for line in comparison.differences[:20]:
        print("  " + line)
    return not comparison.differences


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    path, vmlinux = map(os.path.abspath, sys.argv[1:3])
    program = sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "build", "btfcrash")
    debug = drgn.Program()
    # drgn 0.0.22 cannot follow the page tables of a QEMU dump, but takes from it
    # where the kernel lies: all that is needed of it here are types and symbols.
    debug.set_core_dump(path)
    debug.load_debug_info([vmlinux])
    dump = Dump(path)
    dump.direct_map = dump.word(debug.variable("page_offset_base").address_)
    results = [compare(debug, dump, program, path, variable)
               for variable in sys.argv[4:] or VARIABLES]
    print(f"{results.count(True)} equal, {results.count(False)} not")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
