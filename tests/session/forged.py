# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of an ELF dump to change, and where things of the kernel lie in it."""

import contextlib
import mmap
import os
import struct

from lib import Failure, copy_file


class Image:
    """A writable copy of a dump, mapped; patches are undone."""

    def __init__(self, source, path):
        copy_file(source, path)
        self.path = path
        with open(path, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 0)

    def find_all(self, word):
        places, at = [], self.bytes.find(word)
        while at >= 0:
            places.append(at)
            at = self.bytes.find(word, at + 1)
        return places

    @contextlib.contextmanager
    def patched(self, patches):
        """Writes {offset: bytes} for a while."""
        old = {at: self.bytes[at:at + len(new)] for at, new in patches.items()}
        for at, new in patches.items():
            self.bytes[at:at + len(new)] = new
        try:
            yield
        finally:
            for at in reversed(list(old)):
                self.bytes[at:at + len(old[at])] = old[at]


class Layout:
    """Where things of the kernel lie in an ELF dump, by its own VMCOREINFO."""

    def __init__(self, image, boot):
        self.boot = boot
        head = image.bytes[:1 << 16]
        start = head.index(b"OSRELEASE=")
        self.note_name = head.rindex(b"VMCOREINFO\0", 0, start)
        size, = struct.unpack_from("<I", head, self.note_name - 8)
        text = head[start:start + size].split(b"\0")[0].decode()
        self.info = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        self.segments = list(program_headers(image.bytes))
        self.base = int(self.info["NUMBER(phys_base)"])
        self.start_kernel_map = 0xffffffff80000000

    def offset_of_physical(self, physical):
        for offset, start, size in self.segments:
            if start <= physical < start + size:
                return offset + physical - start
        raise Failure(f"layout: no physical address {physical:#x} in the dump")

    def offset(self, name):
        """File offset of a symbol of the kernel image."""
        return self.offset_of_physical(self.physical(name))

    def physical(self, name):
        return self.boot.address(name) - self.start_kernel_map + self.base

    def image_end(self):
        """File offset of the end of the kernel image, behind which there may be nothing."""
        return self.offset_of_physical(self.physical("_end") - 1) + 1


class Forged:
    """A copy of a dump, words of which change for a while."""

    def __init__(self, program, boot):
        self.program, self.boot = program, boot
        self.image = Image(boot.dump, os.path.join(program.scratch, "forged.elf"))
        self.layout = Layout(self.image, boot)

    def place(self, expression):
        """Where in the file what an expression is the address of lies."""
        row, = self.program.result(self.boot.dump, f"vtop {self.address(expression):#x}")
        return self.layout.offset_of_physical(int(row["physical"], 16))

    def address(self, expression):
        return int(self.program.value(self.boot.dump, expression), 16)

    def answer(self, command):
        answer, = self.program.answers(self.image.path, [command])
        return answer


def program_headers(data):
    """(file offset, physical address, size in the file) of each PT_LOAD."""
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, _, offset, _, physical, length = struct.unpack_from(
            "<IIQQQQ", data, start + number * size)
        if kind == 1:
            yield offset, physical, length


# BTF: kind -> bytes of each of the `vlen` elements, bytes besides
BTF_ELEMENTS = {1: (0, 4), 3: (0, 12), 4: (12, 0), 5: (12, 0), 6: (8, 0), 13: (8, 0), 14: (0, 4),
                15: (12, 0), 17: (0, 4), 19: (12, 0)}
BTF_INT, BTF_STRUCT = 1, 4


def btf_records(image, at):
    """(id, offset in the file, kind, vlen) of each record of the BTF at an offset."""
    header, start, size = struct.unpack_from("<4xIII", image.bytes, at)
    place, end, number = at + header + start, at + header + start + size, 1
    while place < end:
        info, = struct.unpack_from("<I", image.bytes, place + 4)
        kind, vlen = info >> 24 & 0x7f, info & 0xffff
        yield number, place, kind, vlen
        element, besides = BTF_ELEMENTS.get(kind, (0, 0))
        place, number = place + 12 + element * vlen + besides, number + 1


def wide_types(image, at):
    """Every struct of some members gets them all of one type, which has as many members in it as
    programs let pass: patches. Sizes stay, but of those that serve within."""
    structs = [record for record in btf_records(image, at) if record[2] == BTF_STRUCT]
    patches, inner = {}, 1  # the first type is an integer
    serving = [next(one for one in structs if one[3] == vlen) for vlen in (32, 16, 8)]
    for number, place, _, vlen in serving + [one for one in structs if one[3] >= 3]:
        size, = struct.unpack_from("<I", image.bytes, place + 8)
        is_serving = len(patches) < 3
        if not is_serving and (place in patches or size < 8):
            continue
        record = bytearray(image.bytes[place:place + 12 + 12 * vlen])
        struct.pack_into("<I", record, 4, BTF_STRUCT << 24 | vlen)  # no bit fields
        for member in range(vlen):
            struct.pack_into("<II", record, 12 + 12 * member + 4, inner, 0)
        if is_serving:
            struct.pack_into("<I", record, 8, 8)
            inner = number
        patches[place] = bytes(record)
    return patches
