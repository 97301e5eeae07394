# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of globals.hints.z, which README.md describes byte for byte: writing and reading."""

import collections
import os
import shutil
import struct
import subprocess
import tempfile
import zlib

MAGIC = b"BTFHINT1"
KERNELS_MAX = 6
HAS_COUNT = 0x40
HAS_MORE = 0x80

# What a name may be: a type ("struct list_head", arrays as "[]"), a bit for each kernel that says
# so, the elements of an array or None.
Entry = collections.namedtuple("Entry", "type mask count")


class Table:
    """names: {name: [Entry]}; modules: {module: {name: [Entry]}}; both sorted when written."""

    def __init__(self, kernels):
        self.kernels = kernels      # [(series, release, version)]
        self.families = {}          # prefix: type
        self.names = {}
        self.modules = {}

    def parts(self):
        yield self.names
        yield from self.modules.values()


def pack_number(number):
    """Seven bits a byte, low ones first; the high bit of all but the last is set."""
    packed = bytearray()
    while number > 127:
        packed.append(number & 127 | 128)
        number >>= 7
    packed.append(number)
    return bytes(packed)


def pack_strings(strings):
    return b"".join(string.encode() + b"\0" for string in strings)


def pack_block(chunks):
    head = struct.pack(f"<{len(chunks) + 1}I", len(chunks), *(len(chunk) for chunk in chunks))
    return head + b"".join(chunks)


def pack_rows(parts, numbers):
    """The five columns of the rows of some parts; names start anew in each."""
    shared, rests, types, masks, counts = (bytearray() for _ in range(5))
    for part in parts:
        before = b""
        for name, entries in sorted(part.items(), key=lambda item: item[0].encode()):
            name = name.encode()
            common = 0
            while common < min(len(name), len(before), 255) and name[common] == before[common]:
                common += 1
            shared.append(common)
            rests += name[common:] + b"\0"
            before = name
            for entry in entries:
                types += pack_number(numbers[entry.type])
                masks.append(entry.mask | (HAS_COUNT if entry.count else 0)
                             | (HAS_MORE if entry is not entries[-1] else 0))
                counts += pack_number(entry.count) if entry.count else b""
    return [bytes(column) for column in (shared, rests, types, masks, counts)]


def order_types(table):
    """Types that the kernel's part needs, the most frequent first; then those of modules."""
    order = []
    for parts in ([table.names], table.modules.values()):
        uses = collections.Counter(entry.type for part in parts for entries in part.values()
                                   for entry in entries)
        if parts == [table.names]:
            uses.update(table.families.values())
        order.append([name for name, _ in sorted(uses.items(), key=lambda use: (-use[1], use[0]))
                      if not order or name not in order[0]])
    return order


def compress(block):
    """A zlib stream: by zopfli, which finds 8 % more, where it is installed."""
    if not shutil.which("zopfli"):
        return zlib.compress(block, 9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "block")
        with open(path, "wb") as file:
            file.write(block)
        subprocess.run(["zopfli", "--zlib", path], check=True)
        with open(path + ".zlib", "rb") as file:
            return file.read()


def pack(table):
    """The bytes of the file."""
    kernel_types, module_types = order_types(table)
    numbers = {name: number for number, name in enumerate(kernel_types + module_types)}
    families = sorted(table.families.items())
    modules = sorted(table.modules.items(), key=lambda item: item[0].encode())
    blocks = [
        pack_block([pack_strings("\t".join(kernel) for kernel in table.kernels),
                    pack_strings(kernel_types),
                    pack_strings(prefix for prefix, _ in families),
                    b"".join(pack_number(numbers[name]) for _, name in families),
                    *pack_rows([table.names], numbers)]),
        pack_block([pack_strings(name for name, _ in modules),
                    b"".join(pack_number(len(part)) for _, part in modules),
                    pack_strings(module_types),
                    *pack_rows([part for _, part in modules], numbers)])]
    packed = [compress(block) for block in blocks]
    sizes = [len(data) for pair in zip(packed, blocks) for data in pair]
    return MAGIC + struct.pack("<4I", *sizes) + b"".join(packed)


def unpack_strings(chunk):
    return [string.decode() for string in chunk.split(b"\0")[:-1]]


def unpack_numbers(chunk):
    number = shift = 0
    for byte in chunk:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def unpack_block(block):
    count, = struct.unpack_from("<I", block)
    at = 4 + 4 * count
    for size in struct.unpack_from(f"<{count}I", block, 4):
        yield block[at:at + size]
        at += size


def unpack_rows(columns, sizes, types):
    """A dictionary for each part of so many rows."""
    shared, rests, numbers, masks, counts = columns
    rests = iter(rests.split(b"\0"))
    shared, masks = iter(shared), iter(masks)
    numbers, counts = unpack_numbers(numbers), unpack_numbers(counts)
    for size in sizes:
        part, name = {}, b""
        for _ in range(size):
            name = name[:next(shared)] + next(rests)
            entries = part[name.decode()] = []
            more = True
            while more:
                mask = next(masks)
                entries.append(Entry(types[next(numbers)], mask & ((1 << KERNELS_MAX) - 1),
                                     next(counts) if mask & HAS_COUNT else None))
                more = mask & HAS_MORE
        yield part


def unpack(data):
    """The Table that pack() packed."""
    if data[:8] != MAGIC:
        raise ValueError("no table of hints")
    first, _, second, _ = struct.unpack_from("<4I", data, 8)
    blocks = [zlib.decompress(data[24:24 + first]),
              zlib.decompress(data[24 + first:24 + first + second])]
    kernels, types, prefixes, family_types, *columns = unpack_block(blocks[0])
    table = Table([tuple(line.split("\t")) for line in unpack_strings(kernels)])
    types = unpack_strings(types)
    table.families = {prefix: types[number] for prefix, number in
                      zip(unpack_strings(prefixes), unpack_numbers(family_types))}
    table.names, = unpack_rows(columns, [len(columns[0])], types)
    names, sizes, module_types, *columns = unpack_block(blocks[1])
    types += unpack_strings(module_types)
    table.modules = dict(zip(unpack_strings(names),
                             unpack_rows(columns, unpack_numbers(sizes), types)))
    return table
