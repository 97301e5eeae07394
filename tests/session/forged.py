# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of an ELF dump to change, and where things of the kernel lie in it."""

import contextlib
import mmap
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


def program_headers(data):
    """(file offset, physical address, size in the file) of each PT_LOAD."""
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, _, offset, _, physical, length = struct.unpack_from(
            "<IIQQQQ", data, start + number * size)
        if kind == 1:
            yield offset, physical, length
