# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard input and output that are closed, full, or left by their reader: never success, and no
file of ours in their place."""

import subprocess

from lib import TIMEOUT_SECONDS, Boot, check, check_equal, kernel_names

# (what, the shell's words behind the program, exit status, a word of the message)
BROKEN = (
    ("standard output closed", "-q -c bt DUMP >&-", 1, "output is lost"),
    ("standard output closed, JSON", "-q --json -c bt DUMP >&-", 1, "output is lost"),
    ("standard output closed, CSV", "-q --csv -c ps DUMP >&-", 1, "output is lost"),
    ("a full disk", "-q -c bt DUMP >/dev/full", 1, "No space left"),
    ("a full disk, much output", "-q -c 'sym -l' DUMP >/dev/full", 1, "output is lost"),
    ("a full disk, JSON", "-q --json -c bt DUMP >/dev/full", 1, "No space left"),
    ("a full disk, no sandbox", "-q --no-sandbox -c bt DUMP >/dev/full", 1, "No space left"),
    ("a full disk, a script", "-q -i - DUMP >/dev/full <<'E'\nbt\nE", 1, "No space left"),
    ("a full disk, --help", "--help >/dev/full", 1, "No space left"),
    ("a full disk, --version", "--version >/dev/full", 1, "No space left"),
    ("a full disk for a file", "-q -c 'bt > /dev/full' DUMP", 1, "No space left"),
    ("a reader that is gone", "-q -c 'sym -l' DUMP | true", 1, "output is lost"),
    ("standard input closed", "-q DUMP <&-", 2, "reading commands"),
    ("standard input closed, -i -", "-q -i - DUMP <&-", 2, "reading commands"),
    ("input and output closed", "-q -c bt DUMP <&- >&-", 1, "output is lost"),
    ("all closed", "-q -c bt DUMP <&- >&- 2>&-", 1, ""),
)


def broken(session, boot, what, words, status, message):
    program = session.program
    with session.case(f"{boot.label}: {what}") as notes:
        words = words.replace("DUMP", boot.dump)
        script = f"set -o pipefail; trap '' PIPE; {program.path} {words}"
        done = subprocess.run(["bash", "-c", script], env=program.environment(),
                              cwd=program.scratch, timeout=TIMEOUT_SECONDS, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = done.stderr.decode("utf-8", "replace")
        check_equal(done.returncode, status, f"exit status with {errors!r}")
        check_equal(done.stdout, b"", "output")
        check(message in errors, f"no {message!r} in {errors!r}")
        notes.append(errors.strip())


def small_stack(session, boot):
    program = session.program
    with session.case(f"{boot.label}: a small stack"):
        script = f"ulimit -s 64; {program.path} -q -c bt {boot.dump}"
        done = subprocess.run(["bash", "-c", script], env=program.environment(), timeout=TIMEOUT_SECONDS, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check_equal((done.returncode, done.stdout), (2, ""), done.stderr)
        check("the stack may have 64 KiB" in done.stderr, done.stderr)


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        small_stack(session, boot)
        for what, words, status, message in BROKEN:
            broken(session, boot, what, words, status, message)
