# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps that would cost hours or gigabytes: Ctrl-C ends the one, and little memory is enough for
the other, through the whole program."""

import os
import signal
import struct
import subprocess
import time

from forged import Image, Layout, wide_types
from groups.hostile import first_line, harmless
from groups.shell import BUSY_SECONDS, PROMPT, processor_seconds, terminal
from lib import (Boot, Failure, Result, check, check_equal, kernel_names,
                 processor_of_children)

# Walks that take long

INTERRUPTED_SECONDS = 60  # of a busy machine; a walk that goes on takes hours
WIDE_COMMANDS = ("globals", "globals --type 'struct list_head'", "globals --contains 'struct mutex'")


def interrupted_text(program, path, command):
    """Ctrl-C, when it has worked for a while; returns how long it went on."""
    running = subprocess.Popen([program.path, "-q", "-c", command, path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=program.environment())
    try:
        while processor_seconds(running.pid) < BUSY_SECONDS:
            check(running.poll() is None, f"{command}: is over before Ctrl-C comes")
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        started = time.monotonic()
        errors = running.communicate(timeout=5 * INTERRUPTED_SECONDS)[1]
    except subprocess.TimeoutExpired:
        raise Failure(f"{command}: Ctrl-C does not end it") from None
    finally:
        running.kill()
    check_equal(running.returncode, 1, f"{command}: exit status after Ctrl-C")
    check(b"interrupted" in errors, f"{command}: {errors}")
    return time.monotonic() - started


def interrupted_walks(session, image, layout):
    """Struct in struct, with as many members as are let pass: Ctrl-C ends all that walks in."""
    program = session.program
    state = os.path.join(program.scratch, "state")
    with image.patched(wide_types(image, layout.offset("__start_BTF"))):
        with session.case("wide types: damage is told") as notes:
            result = program.run(["-c", "types task_struct", image.path], status=0)
            check("members within members without end" in result.errors, result.errors)
            notes.append(first_line(result))
        for command in WIDE_COMMANDS:
            with session.case(f"wide types: Ctrl-C ends {command}") as notes:
                seconds = interrupted_text(program, image.path, command)
                check(seconds < INTERRUPTED_SECONDS, f"goes on for {seconds:.1f} s")
                notes.append(f"{seconds:.2f} s")
        with session.case("wide types: Ctrl-C at the prompt") as notes:
            with terminal(program, ["-q", image.path], state) as user:
                user.expect(PROMPT, "start")
                for command in WIDE_COMMANDS:
                    user.type(command.encode() + b"\r")
                    user.expect(b"\n", "echo")
                    user.wait_busy()
                    user.type(b"\x03")
                    started = time.monotonic()
                    rest = user.expect(PROMPT, command)
                    seconds = time.monotonic() - started
                    check(b"interrupted" in rest, f"{command}: {rest[-200:]}")
                    check(seconds < INTERRUPTED_SECONDS, f"{command} goes on for {seconds:.1f} s")
                    notes.append(f"{seconds:.2f} s")


# Files that promise much, and hold little

# What does not end by itself takes hours.
ADDRESS_SPACE, OPENING_SECONDS = 1 << 30, 120


def little_memory(program, path, commands=("sys",)):
    """Runs it with a gigabyte of addresses."""
    words = [word for command in commands for word in ("-c", command)]
    started, processor = time.monotonic(), processor_of_children()
    try:
        done = subprocess.run(
            ["prlimit", f"--as={ADDRESS_SPACE}", program.path, "-q", *words, path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=program.environment(), timeout=OPENING_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"more than {OPENING_SECONDS} s") from None
    check(done.returncode >= 0, f"killed by {-done.returncode}: {done.stderr[-300:]}")
    check(b"out of memory" not in done.stderr,
          f"takes more than a gigabyte: {done.stderr}")
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - started,
                  processor_of_children() - processor)


def elf_header(offset, count):
    """An ELF core of x86-64 with so many program headers."""
    return (b"\x7fELF\2\1\1" + bytes(9) +
            struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, offset, 0x40 if count > 0xffff else 0, 0,
                        64, 56, min(count, 0xffff), 64, 1 if count > 0xffff else 0, 0))


# Files of some 50 MB that are made of millions of small things

SMALL_SECONDS = 20  # of processor; what takes longer with the square of their number takes hours


def segments(count):
    """ELF program headers of the same 4096 bytes of the file, as many different pages."""
    header = elf_header(128, count) + bytes(44) + struct.pack("<I", count)
    return header.ljust(128, b"\0") + b"".join(
        struct.pack("<IIQQQQQQ", 1, 7, 4096, 0, number << 13, 4096, 4096, 0)
        for number in range(count))


def candidates(size):
    """A page of memory and more that begins a VMCOREINFO of 60,000 bytes every 24 bytes."""
    header = elf_header(64, 1) + struct.pack("<IIQQQQQQ", 1, 7, 4096, 0, 0, size, size, 0)
    note = struct.pack("<III", 11, 60000, 0) + b"VMCOREINFO\0\0"
    return header.ljust(4096, b"\0") + note * (size // len(note))


SMALL_THINGS = {
    "ranges of LiME": lambda: (b"EMiL" + struct.pack("<IQQQB", 1, 0, 0, 0, 0)) * 4_000_000,
    "chunks of AVML": lambda: (b"AVML" + struct.pack("<IQQQ", 2, 0, 1 << 40, 0) +
                               struct.pack("<IIB", 1 | 5 << 8, 0, 0) * 6_000_000),
    "chunks of AVML that are skipped": lambda: (b"AVML" + struct.pack("<IQQQ", 2, 0, 1 << 40, 0) +
                                                struct.pack("<I", 0x80) * 16_000_000),
    "records of a stream": lambda: (b"makedumpfile".ljust(4096, b"\0") +
                                    struct.pack(">QQB", 0, 1, 0) * 4_000_000),
    "ELF segments": lambda: segments(1_000_000),
    "what could be VMCOREINFO": lambda: candidates(64 << 20),
}


def promising_files(session, boot):
    """Kilobytes on disk that say they are terabytes."""
    program = session.program
    if program.is_sanitized:
        return session.skip("files that promise much", "a sanitizer needs more addresses")
    path = os.path.join(program.scratch, "promising")
    count = 45_000_000

    def many_headers(file):
        # More than 65,535: the number is in the first section header (sh_info).
        file.write(elf_header(128, count))
        file.write(bytes(44) + struct.pack("<I", count))
        file.truncate(128 + 56 * count)

    def sparse(file):
        size = 4 << 40
        file.write(elf_header(64, 1))
        file.write(struct.pack("<IIQQQQQQ", 1, 7, 4096, 0, 0, size - 4096, size - 4096, 0))
        file.truncate(size)

    def far(file):
        # All between the headers and the last record is memory, of zeros.
        size, end = 1 << 61, (1 << 64) - 1
        header = elf_header(64, 1) + struct.pack("<IIQQQQQQ", 1, 7, 4096, 0, 0, size, size, 0)
        file.write(b"makedumpfile".ljust(4096, b"\0"))
        file.write(struct.pack(">QQ", 0, len(header)) + header)
        file.write(struct.pack(">QQ", size, 8) + b"far away" + struct.pack(">QQ", end, end))

    for what, write in (("45 million program headers", many_headers), ("4 TB of holes", sparse),
                        ("a flattened record at 2^61", far)):
        with session.case(f"little memory: {what}") as notes:
            with open(path, "wb") as file:
                write(file)
            result = little_memory(program, path)
            harmless(result, what)
            check(result.status, "as if nothing were wrong")
            notes.append(f"{result.seconds:.1f} s, {first_line(result)}")
            os.unlink(path)
    for what, write in SMALL_THINGS.items():
        with session.case(f"little time: {what}") as notes:
            with open(path, "wb") as file:
                file.write(write())
            result = little_memory(program, path)
            harmless(result, what)
            check(result.status, "as if nothing were wrong")
            check(result.processor < SMALL_SECONDS, f"{result.processor:.1f} s")
            notes.append(f"{result.processor:.1f} s, {first_line(result)}")
            os.unlink(path)
    with session.case("little memory: a good dump"):
        check_equal(little_memory(program, boot.dump).status, 0, "exit status")


def run(session):
    boot = Boot(kernel_names()[-1], "boot1")
    promising_files(session, boot)
    image = Image(boot.dump, os.path.join(session.program.scratch, "wide.elf"))
    interrupted_walks(session, image, Layout(image, boot))
    os.unlink(image.path)
