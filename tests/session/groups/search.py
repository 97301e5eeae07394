# SPDX-License-Identifier: GPL-3.0-or-later
"""`search` over all memory of a dump, against a plain scan of the bytes that ELF's headers name."""

import mmap
import os
import re
import signal
import struct
import subprocess
import time

from groups.memory import MAPPED, MAPPED_PAGES, PATTERN, task_named, write_core
from lib import Boot, boots, check, check_equal, kernel_names

PAGE = 4096
TASKS = 12
BUDGET_SECONDS = 3  # of processor, for 400 MB: what a plain reader takes, and room for sanitizers
BUDGET_MEBIBYTES = 80


class Memory:
    """The PT_LOADs of an ELF dump: (physical address, offset, size)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        offset, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        rows = [struct.unpack_from("<IIQQQQQ", self.bytes, offset + size * i) for i in range(count)]
        self.runs = [(row[4], row[2], row[5]) for row in rows if row[0] == 1]

    def find(self, data, align):
        """Physical addresses of these bytes."""
        found = set()
        for physical, offset, size in self.runs:
            at = self.bytes.find(data, offset, offset + size)
            while at >= 0:
                if (physical + at - offset) % align == 0:
                    found.add(physical + at - offset)
                at = self.bytes.find(data, at + 1, offset + size)
        return found

    def find_range(self, first, last):
        """{physical address: word} of words from `first` to `last`, less than 64 KiB apart."""
        found = {}
        for high in {first >> 16, last >> 16}:
            for place in self.find(struct.pack("<Q", high)[:6], 1):
                word = place - 2
                if word % 8 == 0:
                    value, = struct.unpack("<Q", self.read(word, 8))
                    if first <= value <= last:
                        found[word] = value
        return found

    def read(self, address, size):
        for physical, offset, length in self.runs:
            if physical <= address < physical + length:
                return self.bytes[offset + address - physical:offset + address - physical + size]
        return b""


def by_physical(rows):
    places = {int(row["physical"], 16): row for row in rows}
    check_equal(len(places), len(rows), "physical places")
    addresses = [int(row["address"], 16) for row in rows]
    check_equal(addresses, sorted(addresses), "order of addresses")
    return places


def translations(program, boot, rows):
    """What the kernel's memory has at these addresses is what was found there."""
    lines = [f"rd -64 -x {row['address']}" for row in rows]
    for row, answer in zip(rows, program.answers(boot.dump, lines)):
        check(answer["ok"], f"{row}: {answer.get('error')}")
        check_equal(answer["result"][0]["words"], [row["value"]], f"rd {row['address']}")


def words(program, boot, notes):
    memory = Memory(boot.dump)
    tasks = [row["address"] for row in program.result(boot.dump, "ps")]
    count = 0
    for task in [*tasks[:2], *tasks[-TASKS:]]:
        rows = program.result(boot.dump, f"search {task}")
        wanted = memory.find(struct.pack("<Q", int(task, 16)), 8)
        check_equal(sorted(by_physical(rows)), sorted(wanted), f"places of {task}")
        check(all(row["value"] == task for row in rows), "values")
        if task == tasks[-1]:
            translations(program, boot, rows[:100])
        count += len(rows)
    # Several at once are the same together, and with -p they come by physical address.
    pair = f"{tasks[-1]} {tasks[0]}"
    rows = program.result(boot.dump, f"search -p {pair}")
    wanted = {place for task in (tasks[0], tasks[-1]) for place in memory.find(struct.pack("<Q", int(task, 16)), 8)}
    check_equal([int(row["address"], 16) for row in rows], sorted(wanted), "physical addresses of two")
    check_equal(sorted(by_physical(program.result(boot.dump, f"search {pair}"))), sorted(wanted), "two at once")
    check_equal(program.result(boot.dump, f"search -p -n 3 {pair}"), rows[:3], "-n")
    check(count > 200, f"only {count} pointers at tasks")
    notes.append(f"{count} pointers at {TASKS + 2} tasks")


def sizes(program, boot, notes):
    """Words of 4 and 2 bytes, a mask, a range."""
    memory = Memory(boot.dump)
    banner = boot.address("linux_banner")
    word, = struct.unpack("<I", b"Linu")
    rows = program.result(boot.dump, f"search -p -w {word:#x}")
    check_equal({int(row["address"], 16) for row in rows}, memory.find(b"Linu", 4), "words of 4 bytes")
    notes.append(f"{len(rows)} words of 4")
    first = banner & ~(PAGE - 1)
    page = program.result(boot.dump, f"rd -16 -x {first:#x} {PAGE // 2}")
    halves = [int(half, 16) for line in page for half in line["words"]]
    rows = program.result(boot.dump, f"search -h -m 0xff 0x6900 -s {first:#x} -l {PAGE}")
    check_equal([(int(row["address"], 16) - first, int(row["value"], 16)) for row in rows],
                [(2 * i, half) for i, half in enumerate(halves) if half & 0xff00 == 0x6900], "masked words of 2 bytes")
    check(rows, "no word of 2 bytes")
    check_equal(program.result(boot.dump, f"search -h -m 0xff 0x6900 -s {first:#x} -e {first + PAGE:#x}"), rows, "-e")
    check_equal(program.result(boot.dump, f"search -h -m 0xff 0x69ab -s {first:#x} -l {PAGE}"), rows, "a masked value")
    # An address of the direct map is not the image's: asked for it, that is what comes.
    place = int(program.result(boot.dump, f"search -c 'Linux version' -s linux_banner -l 16")[0]["physical"], 16)
    base = int(program.value(boot.dump, "page_offset_base"))
    row, = program.result(boot.dump, f"search -c 'Linux version' -s {base + place:#x} -l 16")
    check_equal((row["address"], row["physical"]), (hex(base + place), hex(place)), "an address in the direct map")


def texts(program, boot, notes):
    memory = Memory(boot.dump)
    rows = program.result(boot.dump, "search -c 'Linux version' BOOT_IMAGE=")
    wanted = memory.find(b"Linux version", 1) | memory.find(b"BOOT_IMAGE=", 1)
    check_equal(sorted(by_physical(rows)), sorted(wanted), "places of texts")
    check_equal({row["text"] for row in rows}, {"Linux version", "BOOT_IMAGE="}, "texts")
    check(any(int(row["address"], 16) == boot.address("linux_banner") for row in rows), "not linux_banner")
    # One that lies across a boundary of what is read at a time: all of them are looked at.
    page = memory.read(0x100000, 0x300000)
    for chunk in range(1, len(page) >> 18):
        text = page[(chunk << 18) - 5:(chunk << 18) + 5]
        if re.fullmatch(rb"[A-Za-z0-9_.]{10}", text):
            got = program.result(boot.dump, f"search -p -c {text.decode()}")
            check_equal({int(row["address"], 16) for row in got}, memory.find(text, 1), f"{text}")
            notes.append(f"{text.decode()} crosses a boundary")
    notes.append(f"{len(rows)} texts")


def pointers(program, boot, notes):
    """Who points into an object, and what each of them is."""
    memory = Memory(boot.dump)
    init, = [row["address"] for row in program.result(boot.dump, "ps 1")]
    size = int(program.value(boot.dump, "sizeof(struct task_struct)"))
    first = int(init, 16)
    rows = program.result(boot.dump, f"search -r {first + 8:#x}")
    cache = program.result(boot.dump, f"whattype {init}")[0]["slab"]
    check_equal((cache["cache"], cache["object"]), ("task_struct", init), "the slab object of init")
    wanted = memory.find_range(first, first + cache["size"] - 1)
    check_equal({place: int(row["value"], 16) for place, row in by_physical(rows).items()}, wanted,
                "pointers into init's task_struct")
    check_equal(program.result(boot.dump, f"search -r {init},{cache['size']}"), rows, "with a size")
    members = {row["member"] for row in rows if row["type"] == "struct task_struct"}
    check(members >= {"real_parent", "parent"}, f"members: {members}")
    # Of each of these members, that its task has it.
    for row in rows:
        if row["type"] == "struct task_struct" and row["state"] == "allocated" and row["member"] in ("real_parent", "parent"):
            value = program.value(boot.dump, f"((struct task_struct *){row['object']})->{row['member']}")
            check(init[2:] in str(value), f"{row}: {value}")
    variable = program.result(boot.dump, "search -r init_task")
    check(len(variable) > 50, f"only {len(variable)} pointers into init_task")
    end = boot.address("init_task") + size
    check(all(boot.address("init_task") <= int(row["value"], 16) < end for row in variable), "values")
    notes.append(f"{len(rows)} into init, {len(variable)} into init_task")


def names(program, boot, notes):
    """What a hit lies in is what whattype says of its address."""
    words_of = {"slab": "slab", "data": "data", "task stack": "task stack", "per-CPU": "per-CPU", "text": "text",
                "struct pages": "struct pages", "vmalloc": "vmalloc", "direct map": "direct map",
                "CPU stack": "CPU stack"}
    rows = []
    for what in ("init_task", "runqueues:0", "(slab_caches.next)"):
        found = program.result(boot.dump, f"search -r {what}")
        # Every seventh, and whatever of a region there are few of.
        firsts = {row["region"]: row for row in reversed(found)}
        rows += found[::7] + [row for row in firsts.values() if row not in found[::7]]
    seen = {}
    for first in range(0, len(rows), 100):
        some = rows[first:first + 100]
        line = "whattype " + " ".join(row["address"] for row in some)
        for row, answer in zip(some, program.result(boot.dump, line, timeout=300)):
            check_equal(row["region"], words_of[answer["region"]], f"region of {row['address']}")
            seen[row["region"]] = seen.get(row["region"], 0) + 1
            slab, stack = answer.get("slab", {}), answer.get("stack", {})
            check_equal((row["cache"], row["state"]), (slab.get("cache"), slab.get("state")), f"slab of {row['address']}")
            check_equal((row["pid"], row["comm"]), (stack.get("pid"), stack.get("comm")), f"stack of {row['address']}")
            if row["symbol"]:
                check_equal((row["symbol"], row["symbol_offset"], row["module"], row["cpu"]),
                            (answer["symbol"], answer["symbol_offset"], answer.get("module"), answer.get("cpu")),
                            f"symbol of {row['address']}")
    check(len(seen) >= 4, f"only {seen}")
    # The same through a pipe, and as text.
    piped = program.result(boot.dump, f"search init_task -n 3 | whattype")
    check_equal(len(piped), 3, "items of a pipe")
    text = program.text(boot.dump, "search -r init_task")
    check("init_task+0x" in text and " stack of PID " in text and "task_struct " in text, "names in text")
    notes.append(", ".join(f"{count} {region}" for region, count in sorted(seen.items())))


def found_in(core, data, align):
    """Addresses of these bytes in a core; its segments follow one another."""
    found = set()
    for start, where, size, _ in core.loads:
        # A text may run on into the next segment.
        end = where + size + (len(data) - 1 if core.read(start + size, 1) is not None else 0)
        at = core.data.find(data, where, end)
        while at >= 0:
            if at < where + size and (start + at - where) % align == 0:
                found.add(start + at - where)
            at = core.data.find(data, at + 1, end)
    return found


def maps_of(task):
    """[(start, end, offset, name)] of /proc/TID/maps."""
    lines = [line.split(None, 5) for line in task.read("maps").decode("utf-8", "surrogateescape").splitlines()]
    return [(*(int(word, 16) for word in words[0].split("-")), int(words[2], 16), words[5] if len(words) > 5 else "")
            for words in lines]


def check_user_hit(row, maps, memory):
    """Its name and place are those of /proc/TID/maps, and its bytes lie where it says."""
    address = int(row["address"], 16)
    (start, _, offset, path), = (one for one in maps if one[0] <= address < one[1])
    inside = address - start + (offset if path.startswith("/") else 0)
    check_equal((row["region"], row["path"] or "", row["offset"]), ("user", path, inside), f"place of {row['address']}")
    check_equal(row["where"], f"{path or 'anonymous'}+{inside:#x}", f"words on {row['address']}")
    data = row["text"].encode() if row["text"] else struct.pack("<Q", int(row["value"], 16))
    check_equal(memory.read(int(row["physical"], 16), len(data)), data, f"bytes at {row['physical']}")


def users(program, boot, notes):
    """A process's memory: what the guest wrote into it, and all that a plain scan of its core finds."""
    memory, counts = Memory(boot.dump), []
    task = task_named(boot, b"mapped")
    rows = program.result(boot.dump, f"search -u --task {task.tid} -c '{PATTERN.decode()}'")
    got = [int(row["address"], 16) for row in rows if int(row["address"], 16) >= MAPPED]
    check_equal(got, [MAPPED + page * PAGE for page in range(MAPPED_PAGES)], "what the guest wrote")
    check_equal(program.text(boot.dump, f"foreach {task.tid} search -u -c 'btfcrash user page 7'").splitlines()[-1].split()[0],
                f"{MAPPED + 7 * PAGE:016x}", "of each task")
    for comm in (b"mapped", b"threads", b"swapped", b"huge", b"shm"):
        task = task_named(boot, comm)
        _, core = write_core(program, boot, task)
        maps = maps_of(task)
        # A text over the end of a page of the program.
        start = next(start for start, end, _, path in maps if path == "/bin/states" and end - start > 4 * PAGE)
        texts = [core.read(start + page * PAGE - 2, 4) for page in range(1, 400)]
        crossing = [text for text in texts if text and re.fullmatch(rb"[!-&(-Z^-~]{4}", text)][:2]
        for data in (b"/proc/self", PATTERN[:9], *crossing):
            rows = program.result(boot.dump, f"search -u --task {task.tid} -c '{data.decode()}'")
            wanted = found_in(core, data, 1)
            check_equal([int(row["address"], 16) for row in rows], sorted(wanted), f"{data} in {comm}")
            counts.append(len(rows))
        for word in (0x400000, 1, int(program.value(boot.dump, f"((struct task_struct *){task_address(program, boot, task)})->mm->arg_start"))):
            rows = program.result(boot.dump, f"search -u --task {task.tid} {word:#x}")
            # The kernel's own pages are in no core.
            got = [row for row in rows if not re.fullmatch(r"\[vvar.*\]", row["path"] or "")]
            check_equal([int(row["address"], 16) for row in got], sorted(found_in(core, struct.pack("<Q", word), 8)),
                        f"{word:#x} in {comm}")
            counts.append(len(rows))
            for row in got[::50]:
                check_user_hit(row, maps, memory)
        low, size = maps[0][0], maps[0][1] - maps[0][0]
        rows = program.result(boot.dump, f"search -u --task {task.tid} -r {low:#x},{size} -n 40")
        check(rows and all(low <= int(row["value"], 16) < low + size for row in rows), "pointers into a mapping")
    check(len(counts) > 25 and sum(map(bool, counts)) > 20, f"hits: {counts}")
    for line, word in (("search -u -k 1", "-k, -u or -p"), ("search --task 1 1", "--task is of -u"),
                       ("search -u --task 2 1", "it is a kernel thread"), ("search -u --task nobody 1", "nobody")):
        errors = program.run(["-q", "-c", line, boot.dump], status=1).errors
        check(word in errors, f"{line}: {errors}")
    notes.append(f"{len(counts)} searches, {sum(counts)} hits")


def task_address(program, boot, task):
    row, = program.result(boot.dump, f"ps {task.tid}")
    return row["address"]


def formats(program, boot, notes):
    """A filtered, compressed dump: what it has of it, and nothing else."""
    task = program.result(boot.dump, "ps 1")[0]["address"]
    base = int(program.value(boot.dump, "page_offset_base"))
    whole = by_physical(program.result(boot.dump, f"search {task}"))
    for name in ("vmcore.zlib", "vmcore.lzo", "vmcore.E", "vmcore.flat"):
        rows = program.result(boot.path(name), f"search {task}")
        check(rows, f"{name}: nothing")
        for place, row in by_physical(rows).items():
            # Of an area whose description was filtered the direct map's address is left.
            check(place in whole and row["address"] in (whole[place]["address"], hex(base + place)), f"{name}: {row}")
        notes.append(f"{name}: {len(rows)} of {len(whole)}")


def measure(program, boot, notes):
    """In a bounded time and memory, whatever is found: every word that is zero."""
    script = ("import resource, subprocess, sys\n"
              "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)\n"
              "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
              "print(done.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)\n")
    for line in ("search 0x123456789abcdef", "search -p 0x123456789abcdef"):
        done = subprocess.run(["python3", "-S", "-c", script, program.path, "-q", "--no-cache", "-c", line, boot.dump],
                              stdout=subprocess.PIPE, env=program.environment(), check=True)
        status, seconds, peak = done.stdout.split()
        check_equal(int(status), 0, "status")
        notes.append(f"{line.split()[1]}: {float(seconds):.2f} s, {int(peak) >> 10} MiB")
        if not program.is_sanitized:
            check(float(seconds) <= BUDGET_SECONDS, f"{line} takes {float(seconds):.2f} s")
            check(int(peak) >> 10 <= BUDGET_MEBIBYTES, f"{line} takes {int(peak) >> 10} MiB")


def is_ended(program, boot):
    """Ctrl-C, in the midst of millions of hits: the output is whole so far, and the status says so."""
    running = subprocess.Popen([program.path, "-q", "-c", "search -p 0", boot.dump], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=program.environment())
    for _ in range(1000):
        running.stdout.readline()
    running.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, errors = running.communicate(timeout=60)
    check(time.monotonic() - started < 30, "it goes on")
    check(out.endswith(b"\n") and b"interrupted" in errors, f"errors: {errors[:200]}")
    check(running.returncode in (1, 130), f"status {running.returncode}")


def refuses(program, boot):
    for line, word in (("search", "usage"), ("search -k -p 1", "-k, -u or -p"), ("search -w 0x100000000", "more than 32 bits"),
                       ("search -h 0x10000", "more than 16 bits"), ("search -c x -w", "no size of words"),
                       ("search -m 1 -r init_task", "no mask"), ("search -e 1 -s 2 1", "ends before"),
                       ("search -l 1 -e 5 1", "both say"), ("search -n 0 1", "number of hits"), ("search -c ''", "1 to 4096"),
                       ("search -l x 1", "not a length"), ("search -r init_task,0", "not a size"), ("search nonesuch_symbol", "nonesuch_symbol")):
        errors = program.run(["-q", "-c", line, boot.dump], status=1).errors
        check(word in errors, f"{line}: {errors}")


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: a process's memory") as notes:
            users(session.program, boot, notes)
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        session.cases(boot, (("words are those of a plain scan", words), ("sizes, masks, ranges", sizes), ("texts", texts),
                             ("pointers into objects", pointers), ("hits are named as whattype does", names),
                             ("other formats", formats), ("time and memory", measure)))
        with session.case(f"{boot.label}: Ctrl-C"):
            is_ended(session.program, boot)
        with session.case(f"{boot.label}: what it refuses"):
            refuses(session.program, boot)
