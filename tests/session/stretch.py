# SPDX-License-Identifier: GPL-3.0-or-later
"""A real dump made that of a big machine: more RAM, segments, CPUs and tasks, in a sparse file.

The CPUs are copies of CPU 1's per-CPU area, the tasks are copies of kthreadd, with pids and
lists of their own; both lie in RAM that was not there, mapped by 1 GB entries of the page table.
The rest of the added RAM are holes in the file, which read as zeros.
"""

import os
import re
import struct
import subprocess

PAGE = 4096
GIGABYTE = 1 << 30
KERNEL_MAP = 0xffffffff80000000
ADDED_AT = 8 * GIGABYTE     # the copies
EMPTY_AT = 64 * GIGABYTE    # the empty segments
ADDED_GIGABYTES = 8
TABLE_ENTRY = 0x63               # present, written
HUGE_ENTRY = 0x80000000000001e3  # present, written, 1 GB, global, no code
HEADER, SEGMENT, SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ"), 64
PT_LOAD, PT_NOTE, NT_PRSTATUS, PN_XNUM = 1, 4, 1, 0xffff
FIRST_PID = 100000


class Stretched:
    """The file under way."""

    def __init__(self, program, boot, path):
        self.program, self.boot, self.path = program, boot, path
        subprocess.run(["cp", "--sparse=always", boot.dump, path], check=True)
        self.file = open(path, "r+b")
        self.header = list(HEADER.unpack(self.get(0, HEADER.size)))
        self.segments = [SEGMENT.unpack(self.get(self.header[5] + i * SEGMENT.size, SEGMENT.size))
                         for i in range(self.header[10])]
        base = re.search(rb"NUMBER\(phys_base\)=(-?\d+)", self.get(0, 1 << 20))
        self.phys_base = int(base.group(1))
        self.added = align(os.path.getsize(path))
        self.end = self.added
        self.page_offset = self.word(boot.address("page_offset_base"))

    def get(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def put(self, offset, content):
        self.file.seek(offset)
        self.file.write(content)

    def place(self, address):
        """Where the byte at a kernel address lies in the file."""
        if address >= KERNEL_MAP:
            physical = address - KERNEL_MAP + self.phys_base
        else:
            physical = address - self.page_offset
        if physical >= ADDED_AT:
            return self.added + physical - ADDED_AT
        for kind, _, offset, _, start, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= physical < start + size:
                return offset + physical - start
        raise ValueError(f"no memory at {address:#x}")

    def read(self, address, size):
        return self.get(self.place(address), size)

    def write(self, address, content):
        self.put(self.place(address), content)

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def write_word(self, address, value):
        self.write(address, struct.pack("<Q", value))

    def offset(self, record, member):
        return int(self.program.value(self.boot.dump, f"&(({record} *)0)->{member}"), 0)

    def size_of(self, record):
        return self.program.value(self.boot.dump, f"sizeof({record})")

    def new(self, content):
        """The address of added memory with this content; holes where it is zero."""
        address = self.page_offset + ADDED_AT + self.end - self.added
        for at in range(0, len(content), PAGE):
            page = content[at:at + PAGE]
            if page.strip(b"\0"):
                self.put(self.end + at, page)
        self.end = align(self.end + len(content), 64)
        return address


def align(number, to=PAGE):
    return -(-number // to) * to


def map_added(big):
    """Entries of the page table for what is added, which may begin in one table and end in the next."""
    root = big.boot.address("init_top_pgt")
    for number in range(ADDED_GIGABYTES):
        physical = ADDED_AT + number * GIGABYTE
        address = big.page_offset + physical
        top = root + (address >> 39 & 511) * 8
        if not big.word(top):
            big.end = align(big.end)
            table = big.new(bytes(PAGE)) - big.page_offset
            big.write_word(top, table | TABLE_ENTRY)
        table = big.word(top) & 0x000ffffffffff000
        big.write_word(big.page_offset + table + (address >> 30 & 511) * 8, physical | HUGE_ENTRY)


def add_cpus(big, count):
    """CPUs up to `count`, all of them doing what CPU 1 does, with an idle task each."""
    start, end = big.boot.address("__per_cpu_start"), big.boot.address("__per_cpu_end")
    table = big.boot.address("__per_cpu_offset")
    area = bytearray(big.read(big.word(table + 8) + start, end - start))
    idle = big.word(big.word(table + 8) + big.boot.address("runqueues") + big.offset("struct rq", "idle"))
    task = big.read(idle, big.size_of("struct task_struct"))
    named = [at for at in range(0, len(area) - 7, 8) if area[at:at + 8] == struct.pack("<Q", idle)]
    for number in range(big.boot.cpu_count, count):
        own = big.new(task)
        for at in named:
            struct.pack_into("<Q", area, at, own)
        big.end = align(big.end)
        big.write_word(table + number * 8, big.new(bytes(area)) - start)
    for mask in ("__cpu_possible_mask", "__cpu_online_mask", "__cpu_present_mask"):
        big.write(big.boot.address(mask), b"\xff" * (count // 8))
    big.write(big.boot.address("nr_cpu_ids"), struct.pack("<I", count))


def add_tasks(big, count):
    """Copies of kthreadd at the end of the task list."""
    at = {name: big.offset("struct task_struct", name)
          for name in ("pid", "tgid", "tasks", "thread_node", "signal")}
    head_at = big.offset("struct signal_struct", "thread_head")
    task_size, signal_size = big.size_of("struct task_struct"), big.size_of("struct signal_struct")
    task_size, signal_size = align(task_size, 64), align(signal_size, 64)
    rows = big.program.result(big.boot.dump, "ps")
    template = next(int(row["address"], 0) for row in rows if row["pid"] == 2)
    task = bytearray(big.read(template, task_size))
    signal = bytearray(big.read(big.word(template + at["signal"]), signal_size))
    ends = big.boot.address("init_task") + at["tasks"]
    before = big.word(ends + 8)
    for number in range(count):
        mine = big.page_offset + ADDED_AT + big.end - big.added
        group = mine + task_size
        after = group + signal_size + at["tasks"] if number + 1 < count else ends
        struct.pack_into("<i", task, at["pid"], FIRST_PID + number)
        struct.pack_into("<i", task, at["tgid"], FIRST_PID + number)
        struct.pack_into("<QQ", task, at["tasks"], after, before)
        struct.pack_into("<QQ", task, at["thread_node"], group + head_at, group + head_at)
        struct.pack_into("<Q", task, at["signal"], group)
        struct.pack_into("<QQ", signal, head_at, mine + at["thread_node"],
                         mine + at["thread_node"])
        big.new(task + signal)
        if not number:
            big.write_word(before, mine + at["tasks"])
        before = mine + at["tasks"]
    big.write_word(ends + 8, before)


def add_inodes(big, count):
    """Copies of the first inode of a file system, at the end of that one's list."""
    at, size = big.offset("struct inode", "i_sb_list"), align(big.size_of("struct inode"), 8)
    listed = big.offset("struct super_block", "s_list")
    head = big.word(big.boot.address("super_blocks")) - listed + big.offset("struct super_block", "s_inodes")
    inode = bytearray(big.read(big.word(head) - at, size))
    before = big.word(head + 8)
    big.end = align(big.end)
    first = big.page_offset + ADDED_AT + big.end - big.added
    copies = bytearray(size * count)
    for number in range(count):
        mine = first + number * size
        after = mine + size + at if number + 1 < count else head
        struct.pack_into("<QQ", inode, at, after, before)
        copies[number * size:(number + 1) * size] = inode
        before = mine + at
    big.new(bytes(copies))
    big.write_word(big.word(head + 8), first + at)
    big.write_word(head + 8, before)


def notes_for(big, count):
    """The notes, that of CPU 1 as often as there are CPUs."""
    blob = b"".join(big.get(segment[2], segment[5]) for segment in big.segments
                    if segment[0] == PT_NOTE)
    made, at, seen = [], 0, 0
    while at + 12 <= len(blob):
        name, size, kind = struct.unpack_from("<III", blob, at)
        end = at + 12 + align(name, 4) + align(size, 4)
        note, is_cpu = blob[at:end], kind == NT_PRSTATUS and blob[at + 12:at + 16] == b"CORE"
        seen += is_cpu
        made += [note] * (count - big.boot.cpu_count + 1 if is_cpu and seen == 2 else 1)
        at = end
    return b"".join(made)


def finish(big, cpus, segments, ram):
    """Program headers, notes, and the section header that counts them; the empty segments."""
    loads = [segment for segment in big.segments if segment[0] == PT_LOAD]
    big.end = align(big.end)
    size = big.end - big.added
    if size:
        loads.append((PT_LOAD, 7, big.added, 0, ADDED_AT, size, size, 0))
    notes = notes_for(big, cpus)
    notes_at = big.end
    table_at = align(notes_at + len(notes))
    count = 1 + len(loads) + segments
    section_at = table_at + count * SEGMENT.size
    empty_at, each = align(section_at + SECTION), ram // max(segments, 1) // PAGE * PAGE
    table = [(PT_NOTE, 0, notes_at, 0, 0, len(notes), len(notes), 0), *loads]
    for number in range(segments):
        table.append((PT_LOAD, 7, empty_at + number * each, 0,
                      EMPTY_AT + number * (each + PAGE), each, each, 0))
    big.put(notes_at, notes)
    big.put(table_at, b"".join(SEGMENT.pack(*row) for row in table))
    big.put(section_at, section_header(count))
    big.header[5], big.header[6], big.header[10] = table_at, section_at, PN_XNUM
    big.header[11:14] = [SECTION, 1, 0]
    big.put(0, HEADER.pack(*big.header))
    big.file.truncate(empty_at + segments * each)
    big.file.close()


def section_header(count):
    """The first section header of an ELF file with PN_XNUM and more segments: sh_info."""
    return struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, count, 0, 0)


def stretch(program, boot, path, cpus=0, tasks=0, segments=0, ram=0, inodes=0):
    """Writes to `path` the dump of a boot with so many CPUs, and so many more tasks, inodes,
    segments and bytes of RAM.  Its kernel has to know 1 GB pages, and 4-level page tables."""
    big = Stretched(program, boot, path)
    if cpus or tasks or inodes:
        map_added(big)
    if tasks:
        add_tasks(big, tasks)
    if inodes:
        add_inodes(big, inodes)
    if cpus > boot.cpu_count:
        add_cpus(big, cpus)
    finish(big, max(cpus, boot.cpu_count), segments, ram)
