# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage that knows what it damages: where the kernel keeps its structures in a dump, and what an
attacker would write there.  Everything is drawn from one generator, so that a number says it all."""

import contextlib
import struct

import lib
from forged import Image, Layout

PAGE = 4096
WORDS = (0, 1, 2, 7, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 47, 1 << 61,
         (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)
# What a name may do to a terminal, a shell, a table, a parser.
NAMES = (b"\x1b]0;x\x07", b"\x9b31m", b"\xc2\x9b31m", b"\xc2\x85", b"\xe2\x80\xae", b"\xff\xfe",
         b"| id", b";id", b"$(id)", b"`id`", b'"\',', b"=1+1", b"@x", b"-a", b"a\nb", b"\r", b"\t",
         b"%s%n", b"{}", b"\\x9b", b"\x00", b"A" * 60)
ENTRY_PRESENT, ENTRY_LARGE, ENTRY_ADDRESS = 1, 1 << 7, 0x000ffffffffff000


def number_of(value):
    """JSON has addresses as hexadecimal strings."""
    return int(value, 16) if isinstance(value, str) else value


class Memory:
    """The kernel's addresses as offsets in an ELF dump."""

    def __init__(self, image, boot):
        self.image = image
        self.layout = Layout(image, boot)
        self.root = self.layout.physical("init_top_pgt")

    def offset_of_physical(self, physical):
        with contextlib.suppress(lib.Failure):
            return self.layout.offset_of_physical(physical)
        return None

    def physical(self, address):
        """Through the page tables; None where there is nothing."""
        table = self.root
        for shift in (39, 30, 21, 12):
            at = self.offset_of_physical(table + (address >> shift & 511) * 8)
            if at is None or at + 8 > len(self.image.bytes):
                return None
            entry, = struct.unpack_from("<Q", self.image.bytes, at)
            if not entry & ENTRY_PRESENT:
                return None
            table = entry & ENTRY_ADDRESS
            if shift == 12 or (shift < 39 and entry & ENTRY_LARGE):
                return (table & -(1 << shift)) + (address & (1 << shift) - 1)
        return None

    def offset(self, address):
        physical = self.physical(address)
        return None if physical is None else self.offset_of_physical(physical)

    def word(self, address, size=8):
        at = self.offset(address)
        if at is None or at + size > len(self.image.bytes):
            return 0
        return int.from_bytes(self.image.bytes[at:at + size], "little")

    def bytes(self, address, size):
        """As much of it as there is, page by page."""
        found = b""
        while size > 0 and (at := self.offset(address)) is not None:
            part = min(size, PAGE - address % PAGE)
            found += self.image.bytes[at:at + part]
            address, size = address + part, size - part
        return found


class Region:
    """`size` bytes at an address, of which something is to be damaged."""

    def __init__(self, kind, address, size, name=""):
        self.kind, self.address, self.size, self.name = kind, address, size, name


def btf_regions(memory, address, size, name):
    """A BTF blob with the places of its records."""
    data = memory.bytes(address, size)
    if len(data) < 24 or data[:2] != b"\x9f\xeb":
        return None
    header, types, types_size, strings, strings_size = struct.unpack_from("<IIIII", data, 4)
    region = Region("btf", address, size, name)
    region.types, region.strings = header + types, (header + strings, strings_size)
    region.records = []
    sizes = {1: 4, 3: 12, 14: 4, 17: 4}
    elements = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    at, end = region.types, min(header + types + types_size, len(data))
    while at + 12 <= end:
        info, = struct.unpack_from("<I", data, at + 4)
        kind, count = info >> 24 & 0x7f, info & 0xffff
        region.records.append((at, kind, count, elements.get(kind, 0)))
        at += 12 + sizes.get(kind, 0) + elements.get(kind, 0) * (count if kind in elements else 0)
    return region


class Damage:
    """Draws patches {file offset: bytes} for an ELF dump."""

    def __init__(self, program, image, boot):
        self.memory = Memory(image, boot)
        self.image, self.boot = image, boot
        self.size = len(image.bytes)
        self.tasks = [number_of(row["address"]) for row in program.result(image.path, "ps")]
        self.regions = {}
        for region in self.find(program):
            if region and memory_is_there(self.memory, region):
                self.regions.setdefault(region.kind, []).append(region)

    def adopt(self, image):
        """Another copy of the dump takes the place of the first."""
        self.image = self.memory.image = image

    def values(self, program, *expressions):
        """Numbers, 0 for what is not there, of one run of the program."""
        found = []
        for answer in program.answers(self.image.path, ["print " + text for text in expressions]):
            value = lib.value_of(answer["result"]) if answer["ok"] else 0
            with contextlib.suppress(ValueError):
                value = number_of(value)
            found.append(value if isinstance(value, int) else 0)
        return found

    # Where things are

    def find(self, program):
        start, end = map(self.boot.address, ("__start_BTF", "__stop_BTF"))
        yield btf_regions(self.memory, start, end - start, "vmlinux")
        yield from self.find_kallsyms()
        for name, size in (("prb", 8), ("modules", 16), ("prog_idr", 64), ("map_idr", 64),
                           ("slab_caches", 16), ("init_task", PAGE), ("__per_cpu_offset", 64),
                           ("init_pid_ns", 256), ("init_uts_ns", 512), ("init_mm", 1024)):
            with contextlib.suppress(lib.Failure):
                yield Region("roots", self.boot.address(name), size, name)
        with contextlib.suppress(lib.Failure):
            first = self.boot.address("__start_orc_unwind_ip")
            yield Region("orc", first, self.boot.address("__stop_orc_unwind") - first, "vmlinux")
        yield from self.find_modules(program)
        yield from self.find_printk(program)
        yield from (Region("tasks", task, 8192, "task_struct") for task in self.tasks)
        some = self.tasks[:4] + self.tasks[-8:]
        for stack in self.values(program, *(
                f"(unsigned long)((struct task_struct *){task})->stack" for task in some)):
            yield Region("stacks", stack, 4 * PAGE)
        yield from self.find_bpf(program)
        for address in self.values(program, "(unsigned long)&runqueues:0",
                                   "(unsigned long)&runqueues:1"):
            yield Region("roots", address, 2048, "runqueues")
        yield from self.find_tables()

    def find_kallsyms(self):
        """Around the table of tokens, in which every letter stands for itself."""
        at = self.image.bytes.find(b"\0".join(b"0123456789"[i:i + 1] for i in range(10)) + b"\0")
        if at >= 0:
            region = Region("kallsyms", 0, 2 << 20)
            region.offset = max(0, at - (3 << 19))
            yield region

    def find_modules(self, program):
        for row in program.result(self.image.path, "mod")[:16]:
            name = row["name"]
            address = self.find_module(name)
            if not address:
                continue
            yield Region("modules", address, 1024, name)
            member = f"((struct module *){address})->"
            data, size, count, ips, entries, symbols, table, strings = self.values(
                program, f"(unsigned long){member}btf_data", member + "btf_data_size",
                member + "arch.num_orcs", f"(unsigned long){member}arch.orc_unwind_ip",
                f"(unsigned long){member}arch.orc_unwind", f"(unsigned long){member}kallsyms",
                f"(unsigned long){member}kallsyms->symtab",
                f"(unsigned long){member}kallsyms->strtab")
            yield btf_regions(self.memory, data, size, name)
            yield Region("orc", ips, count * 4, name)
            yield Region("orc", entries, count * 6, name)
            yield Region("modules", symbols, 64, name + " symbols")
            yield Region("modules", table, 2048, name + " symtab")
            yield Region("modules", strings, 2048, name + " strtab")

    def find_module(self, name):
        """Along the list, of which the symbols know the head: the name follows the list."""
        head = self.boot.address("modules")
        at = self.memory.word(head)
        for _ in range(200):
            if at in (0, head):
                break
            if self.memory.bytes(at + 16, 56).split(b"\0")[0] == name.encode():
                return at - 8
            at = self.memory.word(at)
        return 0

    def find_printk(self, program):
        parts = (("", 96), ("->desc_ring.descs", 8 * PAGE), ("->desc_ring.infos", 16 * PAGE),
                 ("->text_data_ring.data", 16 * PAGE))
        places = self.values(program, *("(unsigned long)prb" + part for part, _ in parts))
        for (part, size), place in zip(parts, places):
            yield Region("printk", place, size, part)

    def find_bpf(self, program):
        answer = program.result(self.image.path, "bpf")
        for kind in ("programs", "maps"):
            for row in answer[kind]:
                address = number_of(row["address"])
                yield Region("bpf", address, 512, row["name"])
                for at in range(address, address + 128, 8):  # aux, BTF, jited functions
                    target = self.memory.word(at)
                    if target >> 47 == 0x1ffff:
                        yield Region("bpf", target, 1024, row["name"] + " points")

    def find_tables(self):
        """Page tables: the top, and some of each level below."""
        tables, address = [self.memory.root], self.boot.address("init_top_pgt")
        yield Region("pages", address, PAGE, "top")
        for _ in range(3):
            below = []
            for table in tables[:12]:
                at = self.memory.offset_of_physical(table)
                if at is None:
                    continue
                region = Region("pages", 0, PAGE, f"table {table:#x}")
                region.offset = at
                yield region
                entries = struct.unpack_from("<512Q", self.image.bytes, at)
                below += [entry & ENTRY_ADDRESS for entry in entries
                          if entry & ENTRY_PRESENT and not entry & ENTRY_LARGE]
            tables = below

    # What is done to them

    def place(self, region, inside):
        if hasattr(region, "offset"):
            return region.offset + inside
        return self.memory.offset(region.address + inside)

    def put(self, patches, region, inside, data):
        at = self.place(region, inside)
        if at is not None and 0 <= at and at + len(data) <= self.size:
            patches[at] = data

    def word(self, generator, size):
        """A number of an attacker, a pointer to something that is there, or rubbish."""
        choose = generator.random()
        if size == 8 and choose < 0.4:
            region = self.any_region(generator)
            return (region.address + generator.randrange(region.size) // 8 * 8) & (1 << 64) - 1
        if choose < 0.8:
            return generator.choice(WORDS) & (1 << 8 * size) - 1
        return generator.getrandbits(generator.choice((4, 12, 20, 8 * size))) & (1 << 8 * size) - 1

    def any_region(self, generator):
        return generator.choice(self.regions[generator.choice(sorted(self.regions))])

    def words(self, generator, region):
        patches = {}
        for _ in range(generator.choice((1, 1, 2, 5, 30))):
            size = generator.choice((1, 2, 4, 4, 8, 8, 8))
            inside = generator.randrange(max(1, region.size // size)) * size
            self.put(patches, region, inside, self.word(generator, size).to_bytes(size, "little"))
        return patches

    def pointers_of(self, region):
        """(offset, value, own address) of the words that are pointers."""
        places = []
        for inside in range(0, min(region.size, 8192) - 7, 8):
            at = self.place(region, inside)
            if at is not None and at + 8 <= self.size:
                value, = struct.unpack_from("<Q", self.image.bytes, at)
                if value >> 47 == 0x1ffff:
                    places.append((at, value, region.address + inside))
        return places

    def pointers(self, generator, region):
        """Words that are pointers point elsewhere: to themselves, to each other, beside."""
        places, patches = self.pointers_of(region), {}
        for _ in range(generator.choice((1, 2, 8)) if places else 0):
            at, value, own = generator.choice(places)
            new = generator.choice((own, generator.choice(places)[1], value + 8, value - 8,
                                    value ^ 1 << generator.randrange(48), value | 1, value | 2,
                                    self.word(generator, 8)))
            patches[at] = struct.pack("<Q", new & (1 << 64) - 1)
        return patches

    def crowds(self, generator, region):
        """One pointer in the place of many: what is sound once leads to the same thing each time."""
        found = self.pointers_of(region)
        patches = {}
        for _ in range(generator.choice((1, 2)) if found else 0):
            at, value, _ = generator.choice(found)
            for place in range(at, min(at + 8 * generator.choice((2, 16, 64)), self.size - 7), 8):
                patches[place] = struct.pack("<Q", value)
        return patches

    def names(self, generator, region):
        """Where there is text, other text."""
        data = self.memory.bytes(region.address, min(region.size, 1 << 16)) \
            if not hasattr(region, "offset") else \
            self.image.bytes[region.offset:region.offset + region.size]
        patches = {}
        for _ in range(generator.choice((1, 5, 40))):
            start = generator.randrange(max(1, len(data)))
            for at in range(start, min(start + 4096, len(data) - 3)):
                if all(0x20 < byte < 0x7f for byte in data[at:at + 3]):
                    self.put(patches, region, at, generator.choice(NAMES))
                    break
        return patches

    def btf(self, generator, region):
        patches = {}
        if generator.random() < 0.05:
            self.put(patches, region, 4 * generator.randrange(8),
                     self.word(generator, 4).to_bytes(4, "little"))
            return patches
        for _ in range(generator.choice((1, 3, 20, 300, 3000))):
            at, kind, count, width = generator.choice(region.records)
            choose, inside = generator.random(), at + 4 * generator.randrange(3)
            if choose < 0.3 and count and width:
                inside = at + 12 + width * generator.randrange(count) + \
                    4 * generator.randrange(width // 4)
            elif choose < 0.4 and kind in (1, 3):
                inside = at + 12 + 4 * generator.randrange(3 if kind == 3 else 1)
            elif choose < 0.5 and width:  # as many members, of another kind
                self.put(patches, region, at + 7, bytes([generator.choice((4, 5, 0x84, 0x85))]))
                continue
            elif choose < 0.65:
                start, size = region.strings
                self.put(patches, region, start + generator.randrange(max(1, size - 64)),
                         generator.choice(NAMES))
                continue
            value = generator.choice((self.word(generator, 4), generator.randrange(len(
                region.records) + 2), generator.randrange(4096) * 8))
            self.put(patches, region, inside, (value & 0xffffffff).to_bytes(4, "little"))
        return patches

    def head(self, generator):
        """ELF's header, program headers and notes."""
        limit = generator.choice((64, 1024, 8192, 65536))
        patches = {}
        for _ in range(generator.choice((1, 3, 20))):
            size = generator.choice((2, 4, 8))
            at = generator.randrange(limit // size) * size
            patches[at] = self.word(generator, size).to_bytes(size, "little")
        return patches

    def anywhere(self, generator):
        patches = {}
        for _ in range(generator.choice((1, 10, 100))):
            page = generator.randrange(self.size // PAGE) * PAGE
            other = generator.randrange(self.size // PAGE) * PAGE
            patches[page] = generator.choice((bytes(PAGE), self.image.bytes[other:other + PAGE]))
        return patches

    def draw(self, generator):
        """(what was done, patches)"""
        kind = generator.choice([*sorted(self.regions), "head", "anywhere"])
        if kind in ("head", "anywhere"):
            return kind, getattr(self, kind)(generator)
        region = generator.choice(self.regions[kind])
        how = generator.choice(("words", "pointers", "crowds", "names"))
        if kind == "btf" and generator.random() < 0.9:
            how = "btf"
        return f"{kind}/{how}", getattr(self, how)(generator, region)


class PackedDamage:
    """Of a compressed or flattened dump: headers, bitmaps and descriptors are near its start."""

    def __init__(self, image):
        self.image, self.size = image, len(image.bytes)

    def adopt(self, image):
        self.image = image

    def place(self, generator, size):
        limit = min(self.size, generator.choice((512, PAGE, 4 * PAGE, 1 << 18, self.size)))
        return generator.randrange(max(1, (limit - size) // 4)) * 4

    def draw(self, generator):
        patches, how = {}, generator.choice(("words", "zero", "swap", "names"))
        for _ in range(generator.choice((1, 3, 20))):
            size = 64 if how in ("zero", "swap") else 8
            at = self.place(generator, size)
            big = generator.random() < 0.3  # flattened records and other machines
            patches[at] = {
                "words": lambda: generator.choice(WORDS).to_bytes(8, "big" if big else "little"),
                "zero": lambda: bytes(size), "names": lambda: generator.choice(NAMES),
                "swap": lambda other=self.place(generator, size):
                    self.image.bytes[other:other + size]}[how]()
            patches[at] = patches[at][:self.size - at]
        return "packed/" + how, patches


def memory_is_there(memory, region):
    if hasattr(region, "offset"):
        return True
    return region.address and region.size > 0 and memory.offset(region.address) is not None


def load(program, boot, name, path):
    """A copy of a dump, and what damages it."""
    image = Image(boot.path(name), path)
    is_elf = image.bytes[:4] == b"\x7fELF"
    return Damage(program, image, boot) if is_elf else PackedDamage(image)
