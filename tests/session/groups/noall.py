# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels built without CONFIG_KALLSYMS_ALL: real dumps whose symbol tables keep functions only.

What the commands say must be what they say of the same dump with its whole table, and every symbol
that was found must be where the guest's /proc/kallsyms has it.
"""

import bisect
import collections
import os
import random
import re
import struct

import blind
from forged import Image, Layout
from groups.vmcoreinfo import note_of
from lib import Boot, check, check_equal, check_lines, kernel_names
from noall import strip

# Not lost with the table: the same answers.
COMMANDS = ("bt", "bt -a", "ps", "log", "mod", "foreach bt", "struct task_struct",
            "print runqueues:0.curr", "print init_task.comm", "print init_uts_ns.name",
            "print init_pid_ns.level", "print jiffies", "whattype init_task", "list modules",
            "list -s struct module.name -l list modules", "bpf", "stacks")
KEXEC_COMMANDS = ("bt -a",)  # of such a dump: the notes of its CPUs
UNNAMED = 300  # variables that have no name then, and are asked about
# Found in code: every kernel that we test has them, and they must be found.
FOUND = ("init_task", "init_pid_ns", "jiffies", "__per_cpu_offset", "__per_cpu_start", "runqueues",
         "nr_cpu_ids", "__cpu_possible_mask", "__cpu_online_mask", "modules", "slab_caches",
         "btf_modules", "bpf_kallsyms", "prog_idr", "map_idr", "link_idr", "btf_idr",
         "task_struct_cachep", "taint_flags", "panic_cpu", "shadow_timekeeper",
         "linux_banner", "crash_notes", "__start___param", "__stop___param",
         "kprobe_insn_slots", "__start_orc_unwind", "__stop_orc_unwind", "__start_orc_unwind_ip",
         "__stop_orc_unwind_ip", "prb")


def run_command(program, dump, command):
    """Both streams: what fails with the whole table may fail without."""
    result = program.run(["-q", "-c", command, dump])
    return result.status, result.text.splitlines(), result.errors.splitlines()


def same_answers(session, boot, dump, commands):
    whole = blind.dump_of(boot)
    for command in commands:
        with session.case(f"{boot.label}: {command}"):
            status, lines, errors = run_command(session.program, whole, command)
            got_status, got, got_errors = run_command(session.program, dump, command)
            check_equal(got_status, status, f"exit status ({got_errors})")
            check_equal(got_errors, errors, "messages")
            check_lines(got, lines, "line")


def symbols(session, boot, dump):
    with session.case(f"{boot.label}: symbols") as notes:
        rows = [row for row in session.program.result(dump, "sym -l") if not row["module"]]
        names = {row["name"] for row in rows}
        wrong = [row["name"] for row in rows if int(row["address"], 16)
                 not in boot.addresses.get((row["name"], ""), ())]
        # Of x86-64 it is a macro, but VMCOREINFO calls it so.
        check_equal([name for name in wrong if name != "swapper_pg_dir"], [], "wrong symbols")
        check_equal([name for name in FOUND if name not in names], [], "symbols not found")
        notes.append(f"{len(rows)} symbols")
        said = session.program.text(dump, "sym modules")
        check("(found: " in said, f"sym does not say how: {said!r}")
        said = session.program.text(dump, "sym schedule")
        check("found:" not in said, f"a function of the table is no find: {said!r}")


def unnamed(session, boot, dump):
    """Data of the image without a name is nothing else."""
    with session.case(f"{boot.label}: whattype of data without a name") as notes:
        known = {int(row["address"], 16) for row in session.program.result(dump, "sym -l")}
        places = sorted({address for address, letter, _, module in boot.symbols
                         if letter in "dDbB" and not module and address not in known
                         and address > boot.address("_etext")})
        chosen = random.Random(11).sample(places, UNNAMED)
        answers = session.program.answers(dump, [f"whattype {place:#x}" for place in chosen])
        regions = collections.Counter(answer["result"][0]["region"] for answer in answers)
        wrong = set(regions) - {"unknown", "data"}
        check(not wrong, f"regions: {dict(regions)}")
        notes.append(f"{UNNAMED}: {dict(regions)}")


def banner(session, boot, dump):
    """What is missing is said, and it is true."""
    with session.case(f"{boot.label}: sys"):
        whole = session.program.text(boot.dump, "sys").splitlines()
        lines = session.program.text(dump, "sys").splitlines()
        problems = [line for line in lines if line.strip().startswith("PROBLEM")]
        check(any("CONFIG_KALLSYMS_ALL" in line for line in problems), f"no word of it: {lines}")
        check("DEBUG_INFO_BTF" not in " ".join(lines), "BTF is called missing")
        check_lines([line for line in lines if "PROBLEM:" not in line and "ADVICE:" not in line],
                    whole, "line")


def another_release(session, boot, dump):
    """VMCOREINFO of another kernel is noticed, without a symbol for the banner."""
    with session.case(f"{boot.label}: VMCOREINFO of another release") as notes:
        with open(dump, "r+b") as file:
            at = file.read(1 << 16).index(b"OSRELEASE=") + len(b"OSRELEASE=")
            file.seek(at)
            was = file.read(1)
            file.seek(at)
            file.write(b"9")
        errors = session.program.run(["-c", "print 1", dump]).errors
        with open(dump, "r+b") as file:
            file.seek(at)
            file.write(was)
        check("may be of another kernel" in errors, f"nothing is said: {errors!r}")
        good = session.program.run(["-c", "print 1", dump]).errors
        check("another kernel" not in good, f"said of the kernel's own: {good!r}")
        notes += [line for line in errors.splitlines() if "another kernel" in line]


def another_build(session, boot, dump):
    """--vmcoreinfo of another build of the release, without a symbol for the notes."""
    program = session.program
    with session.case(f"{boot.label}: VMCOREINFO of another build") as notes:
        text = note_of(boot)
        path = os.path.join(program.scratch, "vmcoreinfo.txt")
        arguments = ["-q", "-c", "print 1", "--vmcoreinfo", path, dump]
        for forged, status in ((text, 0),
                               (re.sub("(?m)^BUILD-ID=.*$", "BUILD-ID=" + 40 * "a", text), 2)):
            with open(path, "w") as file:
                file.write(forged)
            result = program.run(arguments, status=status)
        check("not the VMCOREINFO of this dump: " in result.errors and
              "BUILD-ID=aaaa" in result.errors, f"does not say why: {result.errors!r}")
        notes.append(result.errors.strip())


def no_cpus(session, boot, dump):
    """Without a mask of CPUs there are none to show, and that is said."""
    with session.case(f"{boot.label}: bt -a without CPUs") as notes:
        name = b"\0__cpu_possible_mask\0"
        with open(dump, "r+b") as file:
            at = 0
            with_offsets = []
            data = file.read()
            while (at := data.find(name, at)) >= 0:
                with_offsets.append(at)
                at += 1
            check(with_offsets, "the name of the mask is not in the dump")
            for at in with_offsets:
                file.seek(at)
                file.write(b"\0__cpu_impossiblemask\0"[:len(name)])
            del data
        result = session.program.run(["-q", "-c", "bt -a", dump], status=1)
        check_equal(result.out, b"", "output")
        check("__cpu_possible_mask" in result.errors, f"no reason: {result.errors!r}")
        notes.append(result.errors.strip())


def code_of(boot, name):
    """(where it is, bytes up to the next symbol)"""
    addresses = sorted({address for found in boot.addresses.values() for address in found})
    start = boot.address(name)
    return start, addresses[bisect.bisect_right(addresses, start)] - start


def crowded_code(session, boot, dump, path):
    """Code mentions hundreds of addresses where a table may begin, and as many where it may end:
    not all pairs of them are looked at, however long the tables would be."""
    with session.case(f"{boot.label}: code that mentions too many tables") as notes:
        layout = Layout(Image(dump, path), boot)
        user, size = code_of(boot, "unwind_next_frame")
        first, text, count = boot.address("__start_rodata"), boot.address("_stext"), size // 14
        starts = [first + 0x2000 + 4 * i for i in range(count)]
        code = b"".join(b"\x48\x8d\x05" + struct.pack("<i", address - (user + 7 * i + 7))  # lea
                        for i, address in enumerate(starts + [at + (8 << 20) for at in starts]))
        with open(path, "r+b") as file:
            for name, _ in sorted(boot.addresses):
                if re.match("(__)?orc_find", name) or name.startswith("unwind_next_frame."):
                    address, size = code_of(boot, name)
                    file.seek(layout.offset(name))
                    file.write(b"\x90" * size)
            file.seek(layout.offset("unwind_next_frame"))
            file.write(code)
            file.seek(layout.offset("__start_rodata") + 0x2000)
            file.write(b"".join(struct.pack("<I", text - address & 0xffffffff)
                                for address in starts))
        result = session.program.run(["-c", "print 1", path])
        check("symbols of data: the search was given up" in result.errors,
              f"not a word: {result.errors!r}")
        check_equal(result.text, "(int)1\n", "print 1")
        notes.append(f"{count} beginnings and ends; {result.processor:.1f} s")
    os.unlink(path)


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        dump = os.path.join(session.program.scratch, "noall.elf")
        with session.case(f"{boot.label}: make the dump"):
            strip(session.program, boot.dump, dump)
        symbols(session, boot, dump)
        banner(session, boot, dump)
        unnamed(session, boot, dump)
        another_release(session, boot, dump)
        another_build(session, boot, dump)
        same_answers(session, boot, dump, COMMANDS)
        crowded_code(session, boot, dump, dump + ".crowded")
        no_cpus(session, boot, dump)
        os.unlink(dump)
        boot = Boot(kernel, "kdump")
        with session.case(f"{boot.label}: make the dump"):
            strip(session.program, blind.dump_of(boot), dump)
        symbols(session, boot, dump)
        same_answers(session, boot, dump, KEXEC_COMMANDS)
        os.unlink(dump)
