# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of processes: what the guest's programs wrote is what is read."""

import os
import re
import struct
import subprocess

from lib import Boot, boots, check, check_equal, kernel_names, tool

# testdata/guest/states_run.c: eight shared pages, each with its number behind a text.
MAPPED, MAPPED_PAGES, PATTERN = 0x7B7F00000000, 8, b"btfcrash user page "
PAGE = 4096


def task_named(boot, comm):
    """The task of the guest that is called so, once."""
    found = [task for task in boot.tasks.values() if task.comm == comm]
    check_equal(len(found), 1, f"tasks called {comm}")
    return found[0]


def user_bytes(program, dump, tid, address, size):
    """None in the place of bytes that are missing."""
    rows = program.result(dump, f"rd -u -c {tid} -8 {address:#x} {size}")
    words = [word for row in rows for word in row["words"]]
    check_equal(len(words), size, "bytes that were read")
    return [None if isinstance(word, dict) else int(word, 16) for word in words]


def fails(program, dump, line, *words):
    result = program.run(["-q", "-c", line, dump], status=1)
    check(all(word in result.errors for word in words) and not result.text, f"{line}: {result.errors}")


def reads(program, boot):
    """The pages that the guest filled, by rd -u; the file that is mapped; what is not there."""
    task = task_named(boot, b"mapped")
    for page in range(MAPPED_PAGES):
        wanted = PATTERN + b"%d" % page
        address = MAPPED + page * PAGE
        check_equal(bytes(user_bytes(program, boot.dump, task.tid, address, len(wanted))), wanted, f"page {page}")
        rows = program.result(boot.dump, f"rd -u -c mapped -a {address:#x}")
        check_equal("".join(row["text"] for row in rows).encode(), wanted, f"text of page {page}")
    # One read over two pages, and the first of a program.
    check_equal(bytes(user_bytes(program, boot.dump, task.tid, MAPPED + PAGE - 4, 12)), bytes(4) + PATTERN[:8],
                "over the end of a page")
    check_equal(bytes(user_bytes(program, boot.dump, task.tid, 0x400000, 4)), b"\x7fELF", "the program's file")
    text = program.text(boot.dump, f"task {task.tid} > /dev/null") + program.run(
        ["-q", "-c", f"task {task.tid}", "-c", f"rd -u -a {MAPPED:#x}", boot.dump], status=0).lines[-1]
    check(text.endswith("ge 0"), f"of the chosen task: {text}")
    fails(program, boot.dump, "rd -u -c 2 0x400000", "task 2 has no memory of its own: it is a kernel thread")
    fails(program, boot.dump, f"rd -u -c {task.tid} 0", "user address 0x0 is not mapped")
    fails(program, boot.dump, f"rd -u -c {task.tid} linux_banner", "is an address of the kernel's")
    fails(program, boot.dump, f"rd -u -p {MAPPED}", "two memories")
    fails(program, boot.dump, f"rd -c 1 {MAPPED}", "-c is of -u")


def strings(program, boot, notes):
    """args and env are /proc/PID/cmdline and environ, of all tasks."""
    rows = {row["pid"]: row for row in program.result(boot.dump, "tasks -o pid,args,env")}
    counts = {"cmdline": 0, "environ": 0}
    for tid, task in sorted(boot.tasks.items()):
        if task.state in "ZX":
            continue
        for name, column in (("cmdline", "args"), ("environ", "env")):
            if not os.path.exists(os.path.join(task.folder, name)) or tid not in rows:
                continue
            wanted = task.read(name).rstrip(b"\0").replace(b"\0", b" ").decode()
            check_equal(rows[tid][column] or "", wanted, f"{column} of {tid}")
            counts[name] += bool(wanted)
    check(counts["cmdline"] > 50 and counts["environ"] > 50, f"truth: {counts}")
    notes.append(f"{counts['cmdline']} command lines, {counts['environ']} environments")


PRESENT, ADDRESS_BITS = 1, 0x000FFFFFFFFFF000


def physical_word(program, boot, address):
    row, = program.result(boot.dump, f"rd -p {address:#x}")
    return int(row["words"][0], 16)


def translates(program, boot):
    """Each entry is what lies there, leads to the next, and the last one to the bytes."""
    task = task_named(boot, b"mapped")
    rows = program.result(boot.dump, f"vtop -u -c mapped {MAPPED + PAGE + 16:#x} 0x400000 0")
    rows += program.result(boot.dump, "vtop linux_banner init_task")
    for row in rows:
        for number, step in enumerate(row["steps"]):
            at, entry = int(step["at"], 16), int(step["entry"], 16)
            check_equal(physical_word(program, boot, at), entry, f"entry at {at:#x}")
            check_equal("PRESENT" in step.get("flags", ()), bool(entry & PRESENT), f"flags of {step}")
            if number:
                check_equal(at & ~0xFFF, int(row["steps"][number - 1]["entry"], 16) & ADDRESS_BITS, f"table of {step}")
    page, program_page, nothing, banner, first = rows
    check_equal([step["level"] for step in page["steps"]], ["PGD", "PUD", "PMD", "PTE"], "levels")
    check_equal((page["kind"], page["path"], page["page_size"]), ("present", "/dev/zero (deleted)", PAGE), "of a page")
    check({"swapbacked", "mlocked", "uptodate"} <= set(page["page"]["flag_names"]), f"flags of {page}")
    check(program_page["kind"] in ("present", "cached") and program_page["path"] == "/bin/states", f"{program_page}")
    check_equal((nothing["kind"], nothing["physical"]), ("unmapped", None), "address 0")
    for row, line in ((page, f"rd -u -c {task.tid}"), (program_page, f"rd -u -c {task.tid}"), (banner, "rd"), (first, "rd")):
        wanted, = program.result(boot.dump, f"{line} {row['address']}")
        got, = program.result(boot.dump, f"rd -p {row['physical']}")
        check_equal(got["words"], wanted["words"], f"bytes at {row['physical']}")
        there, = program.result(boot.dump, f"ptov {row['physical']}")
        again, = program.result(boot.dump, f"rd {there['address']}")
        check_equal(again["words"], wanted["words"], f"bytes at {there['address']}")
    fails(program, boot.dump, "vtop -k -u 0", "two memories")
    fails(program, boot.dump, "ptov 0x7fffffffffff", "is behind the end of memory")
    fails(program, boot.dump, "vtop -c 2 0", "it is a kernel thread")


PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_AUXV, NT_FILE = 1, 6, 0x46494C45
# Words of user_regs_struct.
RIP, RSP = 16, 19


class Core:
    """A core file: its segments and notes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        check_equal(self.data[:4], b"\x7fELF", "the beginning of a core")
        offset, = struct.unpack_from("<Q", self.data, 32)
        count, = struct.unpack_from("<H", self.data, 56)
        self.loads, self.notes = [], []
        for number in range(count):
            kind, _, where, address, _, size, whole, _ = struct.unpack_from("<IIQQQQQQ", self.data, offset + 56 * number)
            check(where + size <= len(self.data), "a segment ends behind the file")
            if kind == PT_LOAD:
                self.loads.append((address, where, size, whole))
            if kind == PT_NOTE:
                self.read_notes(where, where + size)

    def read_notes(self, at, end):
        while at < end:
            name, size, kind = struct.unpack_from("<III", self.data, at)
            at += 12 + (name + 3) // 4 * 4
            self.notes.append((kind, self.data[at:at + size]))
            at += (size + 3) // 4 * 4

    def note(self, kind):
        found = [data for one, data in self.notes if one == kind]
        check(found, f"no note {kind:#x}")
        return found[0]

    def read(self, address, size):
        for start, where, filled, whole in self.loads:
            if start <= address and address + size <= start + whole:
                data = self.data[where:where + filled] + bytes(whole - filled)
                return data[address - start:address - start + size]
        return None

    def flags(self):
        """[(PF_* of a segment, its address, size)]"""
        offset, = struct.unpack_from("<Q", self.data, 32)
        count, = struct.unpack_from("<H", self.data, 56)
        heads = [struct.unpack_from("<IIQQQQQQ", self.data, offset + 56 * number) for number in range(count)]
        return [(flags, address, whole) for kind, flags, _, address, _, _, whole, _ in heads if kind == PT_LOAD]

    def threads(self):
        """{tid: words of registers}, in the order of the file."""
        return {struct.unpack_from("<I", data, 32)[0]: struct.unpack_from("<27Q", data, 112)
                for kind, data in self.notes if kind == NT_PRSTATUS}

    def by_thread(self, wanted):
        """{tid: content} of the notes that follow a thread's registers."""
        table, tid = {}, None
        for kind, data in self.notes:
            if kind == NT_PRSTATUS:
                tid, = struct.unpack_from("<I", data, 32)
            elif kind == wanted:
                table[tid] = data
        return table

    def files(self):
        """[(start, end, offset, path)]"""
        data = self.note(NT_FILE)
        count, page = struct.unpack_from("<QQ", data)
        names = data[16 + 24 * count:].split(b"\0")
        check_equal(len(names), count + 1, "names in NT_FILE")
        places = [struct.unpack_from("<QQQ", data, 16 + 24 * number) for number in range(count)]
        return [(start, end, offset * page, name.decode()) for (start, end, offset), name in zip(places, names)]


def write_core(program, boot, task, dump=None):
    path = os.path.join(program.scratch, "core")
    return program.result(dump or boot.dump, f"gcore {task.tid} {path}"), Core(path)


def cores(program, boot, notes):
    """Memory, auxiliary vector and mapped files of every process; registers of threads that wait."""
    counts = {"cores": 0, "auxiliary vectors": 0, "threads": 0}
    for tid, task in sorted(boot.tasks.items()):
        maps = os.path.join(task.folder, "maps")
        if tid != task.group or task.state in "ZX" or not os.path.exists(maps) or not task.read("maps") or \
                re.match(b"init|collect", task.comm):
            continue
        result, core = write_core(program, boot, task)
        counts["cores"] += 1
        check_equal(result["bytes"], len(core.data), f"bytes of the core of {tid}")
        wanted = [re.match(r"(\w+)-(\w+) \S+ (\w+) \S+ \d+ *(.*)", line).groups()
                  for line in task.read("maps").decode().splitlines()]
        wanted = [(int(start, 16), int(end, 16), int(offset, 16), path) for start, end, offset, path in wanted
                  if path.startswith("/")]
        check_equal(core.files(), wanted, f"files of {tid}")
        if os.path.exists(os.path.join(task.folder, "auxv")):
            check_equal(core.note(NT_AUXV), task.read("auxv"), f"auxiliary vector of {tid}")
            counts["auxiliary vectors"] += 1
        threads = core.threads()
        check_equal(list(threads)[0], tid, "the first thread")
        check_equal(sorted(threads), sorted(one.tid for one in boot.tasks.values()
                                            if one.group == tid and one.state not in "ZX"), f"threads of {tid}")
        for thread, registers in threads.items():
            words = boot.tasks[thread].read("syscall").split()
            if len(words) == 9 and boot.tasks[thread].state == "S":
                check_equal((registers[RSP], registers[RIP]), (int(words[7], 16), int(words[8], 16)),
                            f"rsp and rip of {thread}")
                counts["threads"] += 1
    check(counts["cores"] > 40 and counts["auxiliary vectors"] > 40 and counts["threads"] > 40, f"truth: {counts}")
    notes.append(", ".join(f"{count} {name}" for name, count in counts.items()))


def opens_core(program, boot):
    """gdb finds the memory, the threads and the vDSO of a core."""
    result, core = write_core(program, boot, task_named(boot, b"mapped"))
    for page in range(MAPPED_PAGES):
        wanted = PATTERN + b"%d\0" % page
        check_equal(core.read(MAPPED + page * PAGE, len(wanted)), wanted, f"page {page}")
    check_equal((result["threads"], result["without_registers"]), (1, 0), "threads")
    path = os.path.join(program.scratch, "core")

    def gdb(*lines):
        arguments = [word for line in lines for word in ("-ex", line)]
        return subprocess.run([tool("gdb"), "-nx", "-batch", *arguments, "-c", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=True, env=program.environment(),
                              stdin=subprocess.DEVNULL).stdout.decode()

    text = gdb(*(f"x/s {MAPPED + page * PAGE:#x}" for page in range(MAPPED_PAGES)), "info auxv", "x/4xb 0x400000")
    for page in range(MAPPED_PAGES):
        check(f'"{PATTERN.decode()}{page}"' in text, f"page {page} in gdb: {text}")
    check(re.search(r'AT_EXECFN.*"/bin/states"', text) and re.search("0x7f\t0x45\t0x4c\t0x46", text), f"gdb: {text}")
    task = task_named(boot, b"threads")
    write_core(program, boot, task)
    lines = gdb("info threads", "print $rip", "x/i $rip - 2").splitlines()
    found = [re.search(r"LWP (\d+)", line)[1] for line in lines if re.search(r"^[ *]+\d+ +(Thread|LWP)", line)]
    wanted = sorted(str(one.tid) for one in boot.tasks.values() if one.group == task.tid)
    check_equal(sorted(found), wanted, "threads in gdb")
    check("syscall" in lines[-1], f"not behind a system call: {lines[-1]}")
    fails(program, boot.dump, f"gcore 2 {path}", "it is a kernel thread")
    fails(program, boot.dump, f"gcore 1 {boot.dump}", "is the dump, which is not written to")


S_IFMT, S_IFREG = 0o170000, 0o100000


def read_cpio(path):
    """{name: content} of the regular files in an archive (newc); of several of a name the last."""
    with open(path, "rb") as file:
        data = file.read()
    table, at = {}, 0
    while data[at:at + 6] == b"070701":
        fields = [int(data[at + 6 + 8 * number:at + 14 + 8 * number], 16) for number in range(13)]
        mode, size, length = fields[1], fields[6], fields[11]
        name = data[at + 110:at + 110 + length - 1].decode()
        start = (at + 110 + length + 3) // 4 * 4
        if mode & S_IFMT == S_IFREG:
            table[name] = data[start:start + size]
        at = (start + size + 3) // 4 * 4
    return table


def extract(program, boot, path, dump=None):
    file = os.path.join(program.scratch, "extracted")
    result = program.result(dump or boot.dump, f"extract {path} {file}")
    with open(file, "rb") as opened:
        return result, opened.read()


def extracts(program, boot, notes):
    """Every file of the initial file system is what it was made of; files of tmpfs, of a disk, a pipe."""
    wanted = {name: data for name, data in read_cpio(os.path.join(boot.folder, "..", "initrd")).items()
              # This one was mounted, and written to.
              if re.fullmatch(r"[\w./+-]+", name) and name != "images/ext4"}
    check(len(wanted) > 20, f"only {len(wanted)} files")
    path = os.path.join(program.scratch, "file-")
    commands = [f"extract /{name} {path}{number}" for number, name in enumerate(wanted)]
    answers = program.answers(boot.dump, commands, status=0)
    for number, ((name, data), answer) in enumerate(zip(wanted.items(), answers)):
        with open(f"{path}{number}", "rb") as file:
            check(file.read() == data, f"{name} is not what it was made of")
        check_equal((answer["result"]["size"], answer["result"]["bytes"], answer["result"]["gaps"]),
                    (len(data), len(data), []), f"sizes of {name}")
        os.remove(f"{path}{number}")
    notes.append(f"{len(wanted)} files, {sum(map(len, wanted.values()))} bytes")
    check_equal(extract(program, boot, "/tmp/states")[1], boot.truth("states").encode(), "/tmp/states")
    _, data = extract(program, boot, "/mnt/frozen/one")
    check(data and data == b"data" * (len(data) // 4), "a file on a disk")
    task = task_named(boot, b"pipe-write")
    result, data = extract(program, boot, f"/proc/{task.tid}/fd/3")
    check_equal((result["is_pipe"], data), (True, bytes(16 * PAGE)), "a full pipe")
    _, data = extract(program, boot, f"/proc/{task.tid}/exe")
    check(data == wanted["bin/states"], "the program of a task")
    fails(program, boot.dump, "extract /nonesuch/file /dev/null", "the kernel has no name /nonesuch in memory")
    fails(program, boot.dump, "extract /bin /dev/null", "/bin: it is a folder")
    fails(program, boot.dump, "extract bin /dev/null", "no path from the root")
    fails(program, boot.dump, f"extract /proc/{task.tid}/fd/77 /dev/null", "has no file 77 open")
    fails(program, boot.dump, f"extract /bin/states {boot.dump}", "is the dump, which is not written to")


def unwinds(program, boot):
    """gdb's bt of a core, with the program out of the same dump: what the guest said of its stack's end."""
    task = task_named(boot, b"threads")
    _, data = extract(program, boot, f"/proc/{task.tid}/exe")
    write_core(program, boot, task)
    core, path = (os.path.join(program.scratch, name) for name in ("core", "extracted"))
    text = subprocess.run([tool("gdb"), "-nx", "-batch", "-ex", "bt", path, "-c", core], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, env=program.environment(),
                          stdin=subprocess.DEVNULL).stdout.decode()
    frames = [int(word, 16) for word in re.findall(r"^#\d+ +0x(\w+) in", text, re.MULTILINE)]
    start = struct.unpack_from("<Q", data, 24)[0]
    check_equal(frames[0], int(task.read("syscall").split()[8], 16), "pc")
    check(len(frames) > 3 and start < frames[-1] < start + 64, f"does not lead to _start at {start:#x}: {text}")


def gdb_stacks(program, boot, task, executable):
    """{tid: pcs} that gdb finds in the core of a process."""
    write_core(program, boot, task)
    text = subprocess.run([tool("gdb"), "-nx", "-batch", "-ex", "thread apply all bt", executable, "-c",
                           os.path.join(program.scratch, "core")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, env=program.environment(), stdin=subprocess.DEVNULL).stdout.decode()
    stacks, tid = {}, None
    for line in text.splitlines():
        thread = re.match(r"Thread \d+ \((?:LWP|process|Thread 0x\w+ \(LWP) (\d+)\)", line)
        frame = re.match(r"#\d+ +0x(\w+) in", line)
        if thread:
            tid = int(thread[1])
        elif frame and tid:
            stacks.setdefault(tid, []).append(int(frame[1], 16))
    return stacks


def user_stacks(program, boot, notes):
    """bt -u is gdb's bt of the core, thread by thread; the frames lie in the files of /proc/TID/maps."""
    executables, counts = {}, {"threads": 0, "frames": 0, "whole": 0}
    tasks = [task for _, task in sorted(boot.tasks.items()) if task.tid == task.group and task.state not in "ZX" and
             task.read("maps") and not re.match(b"init|collect", task.comm)]
    special = [task for task in tasks if task.comm in (b"threads", b"vfork-parent", b"user-fault", b"kernel-fault", b"stopped")]
    for task in {task.tid: task for task in tasks[::6] + special}.values():
        path = os.readlink(os.path.join(task.folder, "exe")) if os.path.islink(os.path.join(task.folder, "exe")) else \
            next(line.split()[5] for line in task.read("maps").decode().splitlines())
        if path not in executables:
            _, data = extract(program, boot, path)
            executables[path] = os.path.join(program.scratch, f"program{len(executables)}")
            with open(executables[path], "wb") as file:
                file.write(data)
        wanted = gdb_stacks(program, boot, task, executables[path])
        check(task.tid in wanted, f"gdb finds no stack of {task.tid}")
        for tid, pcs in wanted.items():
            result = program.result(boot.dump, f"bt -u {tid}")
            frames = result["user_frames"]
            got = [int(frame["pc"], 16) for frame in frames]
            # gdb looks at code where a program has no rules; that is a guess. And a caller at 0, which is the end, is a frame to it.
            if len(pcs) > 1 and not pcs[-1]:
                pcs.pop()
            check_equal(got, pcs if "end" not in result else pcs[:len(got)], f"stack of {tid}, {task.comm}")
            check_equal([frame["kind"] for frame in frames], ["registers"] + ["cfi"] * (len(frames) - 1), f"kinds of {tid}")
            # Assembler of `dumped` moves the stack pointer, which its rules do not know.
            ruled = frames[:1] if task.comm == b"dumped" else frames
            check(all(frame["path"] == path and frame["place"] == int(frame["pc"], 16) - 0x400000 for frame in ruled),
                  f"files of {tid}: {frames}")
            if path == "/bin/states" and ruled is frames:
                check("end" not in result and len(got) > 2, f"stack of {tid}: {result}")
            words = boot.tasks[tid].read("syscall").split()
            if len(words) == 9 and boot.tasks[tid].state == "S":
                check_equal((frames[0]["sp"], frames[0]["pc"]), (words[7].decode(), words[8].decode()), f"sp and pc of {tid}")
            counts["threads"] += 1
            counts["frames"] += len(got)
            counts["whole"] += "end" not in result
    check(counts["threads"] > 15 and counts["whole"] > 12, f"stacks: {counts}")
    # All of them at once, and those that have none.
    lines = program.run(["-q", "-c", "foreach user bt -u", boot.dump]).lines
    check_equal(sum(line.startswith("PID: ") for line in lines), len(program.result(boot.dump, "ps -u")), "tasks")
    fails(program, boot.dump, "bt -u 2", "task 2 has no memory of its own: it is a kernel thread")
    notes.append(", ".join(f"{count} {name}" for name, count in counts.items()))


def says_filtered(program, boot, notes):
    """makedumpfile -d 31 leaves users' pages out, but not their tables."""
    dump = boot.path("vmcore.zlib")
    task = task_named(boot, b"mapped")
    # makedumpfile 1.7 takes some slabs of 6.12 for users' pages: not all tasks are found.
    if task.tid not in {row["pid"] for row in program.answers(dump, ["tasks"])[0]["result"]}:
        notes.append("makedumpfile left the task out")
        return
    lines = program.run(["-q", "-c", "tasks -o pid,args", dump]).lines
    check_equal([line.split() for line in lines if line.split()[:1] == [str(task.tid)]],
                [[str(task.tid), "<excluded>"]], "args")
    if not program.run(["-q", "-c", f"mappings {task.tid}", dump]).status:
        result, core = write_core(program, boot, task, dump)
        check_equal((result["pages"], core.read(MAPPED, 8)), (0, None), "pages of a core")
        check(result["missing"]["not_in_dump"] > 100 and result["without_registers"] == 0, f"missing: {result}")
        of_pages, = (one for one in result["incomplete"] if int(one["start"], 16) == MAPPED)
        # The struct of the file may be in such a page, too.
        check("left out of the dump" in of_pages["path"].get("error", "") if isinstance(of_pages["path"], dict)
              else of_pages["path"] == "/dev/zero (deleted)", f"path: {of_pages}")
        check_equal(of_pages["not_in_dump"], MAPPED_PAGES, "missing")
    answer, = program.answers(dump, [f"extract /bin/states {os.path.join(program.scratch, 'extracted')}"])
    if answer["ok"]:
        check_equal((answer["result"]["bytes"], answer["result"]["not_in_dump"]), (0, answer["result"]["size"]), "a file")
    answer, = program.answers(dump, [f"bt -u {task.tid}"])
    check("left out of the dump" in (answer["result"]["end"] if answer["ok"] else answer["error"]), f"stack: {answer}")
    fails(program, dump, f"rd -u -c {task.tid} {MAPPED:#x}", f"user address {MAPPED:#x}: ", "left out of the dump by its filter")


class Kdump(Boot):
    """What the kernel wrote that kexec started: all of the memory."""

    @property
    def dump(self):
        return self.path("vmcore.kdump")


def run(session):
    program = session.program
    for boot in (*boots(), *(Kdump(kernel, "kdump") for kernel in kernel_names())):
        with session.case(f"{boot.label}: rd -u has what the guest wrote"):
            reads(program, boot)
        with session.case(f"{boot.label}: vtop has the entries, and they lead to the bytes"):
            translates(program, boot)
        with session.case(f"{boot.label}: args and env are /proc/PID/cmdline and environ") as notes:
            strings(program, boot, notes)
        with session.case(f"{boot.label}: cores of all processes are what /proc said") as notes:
            cores(program, boot, notes)
        with session.case(f"{boot.label}: gdb opens a core"):
            opens_core(program, boot)
        with session.case(f"{boot.label}: gdb's stack of a core leads to the program's start"):
            unwinds(program, boot)
        with session.case(f"{boot.label}: stacks of programs are gdb's") as notes:
            user_stacks(program, boot, notes)
        with session.case(f"{boot.label}: extracted files are what they were") as notes:
            extracts(program, boot, notes)
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: user pages are said to be filtered") as notes:
            says_filtered(program, boot, notes)
