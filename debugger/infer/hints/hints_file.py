# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of globals, as text (globals.hints) and packed (globals.hints.z, which the program
holds; README.md describes it byte for byte).

  hints_file.py TEXT PACKED     packs the text; the build does
"""

import collections
import re
import struct
import sys
import zlib

MAGIC = b"BTFHINT2"
KERNELS_MAX = 32
# A row's number in the file: these, above them that of its set of kernels.
HAS_COUNT = 1
HAS_MORE = 2
SET_SHIFT = 2
# The per-CPU variables of a module are a part of their own, as those of the kernel are: a name may
# be an ordinary variable in one kernel and a per-CPU one in another.
PER_CPU = ":percpu"

# The dimension of the variable itself, not one behind a pointer: "x *[4]", "int (*[4])(char)".
DIMENSION = re.compile(r"^([^(\[]*(?:\((?:\*|const|volatile| )+)*\[)(\d*)\]")

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


def pack_rows(parts, numbers, sets):
    """The five columns of the rows of some parts; names start anew in each."""
    shared, rests, types, kernels, counts = (bytearray() for _ in range(5))
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
                kernels += pack_number(sets[entry.mask] << SET_SHIFT
                                       | (HAS_COUNT if entry.count else 0)
                                       | (HAS_MORE if entry is not entries[-1] else 0))
                counts += pack_number(entry.count) if entry.count else b""
    return [bytes(column) for column in (shared, rests, types, kernels, counts)]


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


def order_sets(table):
    """The masks that rows have, the most frequent first: few, of all that there could be."""
    uses = collections.Counter(entry.mask for part in table.parts() for entries in part.values()
                               for entry in entries)
    return [mask for mask, _ in sorted(uses.items(), key=lambda use: (-use[1], use[0]))]


def pack(table):
    """The bytes of the file."""
    if len(table.kernels) > KERNELS_MAX:
        sys.exit(f"hints: {len(table.kernels)} kernels, a mask has bits for {KERNELS_MAX}")
    kernel_types, module_types = order_types(table)
    numbers = {name: number for number, name in enumerate(kernel_types + module_types)}
    masks = order_sets(table)
    sets = {mask: number for number, mask in enumerate(masks)}
    families = sorted(table.families.items())
    modules = sorted(table.modules.items(), key=lambda item: item[0].encode())
    blocks = [
        pack_block([pack_strings("\t".join(kernel) for kernel in table.kernels),
                    b"".join(pack_number(mask) for mask in masks),
                    pack_strings(kernel_types),
                    pack_strings(prefix for prefix, _ in families),
                    b"".join(pack_number(numbers[name]) for _, name in families),
                    *pack_rows([table.names], numbers, sets)]),
        pack_block([pack_strings(name for name, _ in modules),
                    b"".join(pack_number(len(part)) for _, part in modules),
                    pack_strings(module_types),
                    *pack_rows([part for _, part in modules], numbers, sets)])]
    packed = [zlib.compress(block, 9) for block in blocks]
    sizes = [len(data) for pair in zip(packed, blocks) for data in pair]
    return MAGIC + struct.pack("<4I", *sizes) + b"".join(packed)


def split_dimension(text):
    """(type with its first dimension left empty, elements or None)."""
    found = DIMENSION.match(text)
    if not found:
        return text, None
    return found[1] + "]" + text[found.end():], int(found[2] or 0) or None


def with_count(entry):
    return entry.type.replace("[]", f"[{entry.count}]", 1) if entry.count else entry.type


def write_text(table):
    """The text of a Table: a line a kernel, a family, a type of a name; tabs between the fields."""
    lines = [("kernel", f"{1 << number:#x}", *kernel)
             for number, kernel in enumerate(table.kernels)]
    lines += [("family", prefix, text) for prefix, text in sorted(table.families.items())]
    for module, part in [("vmlinux", table.names)] + sorted(table.modules.items()):
        for name, entries in sorted(part.items()):
            lines += [("type", module, name, f"{entry.mask:#x}", with_count(entry))
                      for entry in entries]
    return "".join("\t".join(line) + "\n" for line in lines)


def read_text(text):
    """The Table that write_text() wrote."""
    table = Table([])
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "kernel":
            table.kernels.append(tuple(fields[1:]))
        elif kind == "family":
            table.families[fields[0]] = fields[1]
        else:
            module, name, mask, spelled = fields
            part = table.names if module == "vmlinux" else table.modules.setdefault(module, {})
            kind, count = split_dimension(spelled)
            part.setdefault(name, []).append(Entry(kind, int(mask, 16), count))
    return table


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        data = pack(read_text(file.read()))
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
