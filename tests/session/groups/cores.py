# SPDX-License-Identifier: GPL-3.0-or-later
"""gcore against the core that the guest's own kernel wrote of the same process, which is still there: testdata/guest/states_core.c."""

import os
import re
import struct
import subprocess

from groups.memory import NT_AUXV, PAGE, Core, extract, task_named, write_core
from lib import boots, check, check_equal, tool

NT_PRPSINFO, NT_FPREGSET, NT_X86_XSTATE = 3, 2, 0x202
# Of user_fpregs_struct: what is behind the registers is software's.
FPREGS_SIZE = 416
KNOWN = 0x1122334455667700
RBX, RBP, R12 = 5, 4, 3  # words of user_regs_struct
# Of an XSAVE area: the upper halves of ymm0 to ymm15.
UPPER = slice(576, 832)
# Of elf_prpsinfo: which are of the process, and not of the moment.
PSINFO = struct.Struct("<8xQII4i16s80s")


def kernels_core(boot):
    return Core(os.path.join(boot.folder, "truth", "core"))


def pages_of(core):
    """{address: bytes of a page}; those that are in a segment without bytes are zeros."""
    return {start + at: core.data[where + at:where + at + PAGE] if at < filled else bytes(PAGE)
            for start, where, filled, whole in core.loads for at in range(0, whole, PAGE)}


def upper_halves_are_equal(boot, ours, kernels, notes):
    """What AVX has beyond SSE; the kernel's area has more parts behind it."""
    ours, kernels = ours.by_thread(NT_X86_XSTATE), kernels.by_thread(NT_X86_XSTATE)
    check(re.search(r"^flags.* avx ", boot.truth("cpuinfo"), re.M), "truth: a CPU without AVX")
    check_equal(len(kernels), 3, "truth: threads with AVX")
    check_equal(sorted(ours), sorted(kernels), "threads with AVX")
    for tid, data in kernels.items():
        check_equal(ours[tid][:FPREGS_SIZE].hex(), data[:FPREGS_SIZE].hex(), f"XSAVE area of {tid}: FPU and SSE")
        check_equal(ours[tid][UPPER].hex(), data[UPPER].hex(), f"XSAVE area of {tid}: AVX")
        check_equal(len(ours[tid]), UPPER.stop, f"XSAVE area of {tid}: bytes")
    check_equal(sorted(struct.unpack_from("<Q", data, UPPER.start)[0] for data in kernels.values()),
                sorted(~(KNOWN + number) & (1 << 64) - 1 for number in range(1, 4)), "truth: the upper half of ymm0")
    notes.append(f"{len(kernels)} threads with AVX")


def notes_are_equal(boot, ours, kernels, notes):
    """Registers of each thread, kinship, the process, the auxiliary vector, mapped files."""
    wanted, got = kernels.threads(), ours.threads()
    check_equal(list(got)[0], list(wanted)[0], "the first thread")
    for tid, words in wanted.items():
        check_equal([hex(word) for word in got[tid]], [hex(word) for word in words], f"registers of {tid}")
    check_equal(len(got), 3, "threads")
    for number, words in zip((3, 1, 2), (wanted[tid] for tid in sorted(wanted))):
        check_equal([hex(words[at]) for at in (R12, RBX, RBP)],
                    [hex(KNOWN + number + more) for more in (0, 0x40, 0x50)], f"truth: registers of thread {number}")
    for kind in (1, NT_PRPSINFO):
        count = sum(one == kind for one, _ in kernels.notes)
        check_equal(sum(one == kind for one, _ in ours.notes), count, f"notes {kind}")
    kinship = [[data[32:48] for kind, data in core.notes if kind == 1] for core in (ours, kernels)]
    check_equal(sorted(kinship[0]), sorted(kinship[1]), "pid, parent, group, session")
    check_equal(PSINFO.unpack(ours.note(NT_PRPSINFO)[:PSINFO.size]),
                PSINFO.unpack(kernels.note(NT_PRPSINFO)[:PSINFO.size]), "prpsinfo")
    fpregs = [core.by_thread(NT_FPREGSET) for core in (ours, kernels)]
    check_equal([sorted(one) for one in fpregs], [sorted(wanted)] * 2, "threads with an FPU")
    for tid, data in fpregs[1].items():
        check_equal(fpregs[0][tid][:FPREGS_SIZE].hex(), data[:FPREGS_SIZE].hex(), f"registers of the FPU of {tid}")
    check_equal({struct.unpack_from("<Q", data, 160)[0] for data in fpregs[1].values()}, {KNOWN + 1, KNOWN + 2, KNOWN + 3}, "truth: xmm0")
    upper_halves_are_equal(boot, ours, kernels, notes)
    check_equal(ours.note(NT_AUXV), kernels.note(NT_AUXV), "the auxiliary vector")
    check_equal(ours.files(), kernels.files(), "mapped files")
    notes.append(f"{len(wanted)} threads, {len(kernels.files())} mapped files")


def memory_is_equal(result, ours, kernels, clocks, notes):
    """Each page that the kernel wrote: the same bytes, or it is said to be missing."""
    got, wanted = pages_of(ours), pages_of(kernels)
    # Behind all is what the kernel shows at an address of its own, and is no mapping.
    wanted = {address: page for address, page in wanted.items() if address < 1 << 47}
    missing = sorted(set(wanted) - set(got))
    check_equal(result["missing"], {"swapped": 0, "in_file": 0, "not_in_dump": 0}, "pages that are missing")
    # The kernel's own data beside the vDSO changes as it is read: it is left out.
    devices = {address for address in missing if not any(wanted[address])}
    check_equal(missing, sorted(devices), "pages with bytes that are missing")
    check(len(devices) <= 8, f"{len(devices)} pages are in no segment")
    check_equal(sorted(set(got) - set(wanted)), [], "pages that the kernel does not have")
    for address, page in got.items():
        check(address in clocks or page == wanted[address], f"the page at {address:#x} differs")
    texts = [re.match(rb"btfcrash (\w+) page \d", page) for page in got.values()]
    kinds = {match[1].decode() for match in texts if match}
    check(kinds >= {"private", "shared", "protected", "file", "written", "paged"}, f"truth: {kinds}")
    flags = [{at: flag for flag, start, size in core.flags() for at in range(start, start + size, PAGE) if at in got}
             for core in (ours, kernels)]
    check_equal(flags[0], flags[1], "what may be done to a page")
    filled = sum(any(page) for page in got.values())
    notes.append(f"{len(got)} pages, {filled} of them with bytes; {len(devices)} of devices")


def gdb_says(program, executable, core, *commands):
    """What each command of gdb prints."""
    words = [word for command in commands for word in ("-ex", "echo \\n====\\n", "-ex", command)]
    text = subprocess.run([tool("gdb"), "-nx", "-batch", *words, executable, "-c", core], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, env=program.environment(),
                          stdin=subprocess.DEVNULL).stdout.decode()
    return text.split("\n====\n")[1:]


def by_thread(text):
    """Its parts of a thread each, without gdb's own numbers, in the order of the kernel's."""
    parts = re.split(r"(?m)^(?=Thread \d+ \(|[ *] \d+ +(?:Thread|LWP) )", text)
    return sorted(re.sub(r"^(Thread|[ *]) +\d+ ", "", part).strip() for part in parts)


GDB = ("info threads", "thread apply all -ascending info registers", "thread apply all -ascending bt", "info auxv",
       "info proc mappings", "info proc", "x/8i $pc", "x/64xg $sp",
       "thread apply all -ascending info registers float", "thread apply all -ascending info registers xmm0 xmm1 xmm7 xmm15 mxcsr",
       "thread apply all -ascending info registers ymm0 ymm15")


def gdb_is_equal(program, boot, path, notes):
    task = task_named(boot, b"dumped")
    executable = os.path.join(program.scratch, "executable")
    with open(executable, "wb") as file:
        file.write(extract(program, boot, f"/proc/{task.tid}/exe")[1])
    got = gdb_says(program, executable, path, *GDB)
    wanted = gdb_says(program, executable, os.path.join(boot.folder, "truth", "core"), *GDB)
    check_equal(len(got), len(GDB), "answers of gdb")
    for command, one, other in zip(GDB, got, wanted):
        check_equal(by_thread(one), by_thread(other), f"gdb: {command}")
        check(len(one.splitlines()) > 0, f"gdb: {command} says nothing")
    check("ud2" in got[6] and got[0].count("LWP") == 3, f"gdb: {got[0]} {got[6]}")
    notes.append(f"{sum(len(one.splitlines()) for one in got)} lines of gdb")


def compare(program, boot, notes):
    result, core = write_core(program, boot, task_named(boot, b"dumped"))
    check_equal((result["threads"], result["without_registers"]), (3, 0), "threads")
    kernels = kernels_core(boot)
    notes_are_equal(boot, core, kernels, notes)
    task = task_named(boot, b"dumped")
    # That data which changes; 7.x writes it into a core.
    clocks = {at for row in program.result(boot.dump, f"mappings {task.tid}") if row["path"] == "[vvar]"
              for at in range(int(row["start"], 16), int(row["end"], 16), PAGE)}
    memory_is_equal(result, core, kernels, clocks, notes)
    gdb_is_equal(program, boot, os.path.join(program.scratch, "core"), notes)


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: gcore is the core that the kernel wrote") as notes:
            compare(session.program, boot, notes)
