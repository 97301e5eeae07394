# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of files that are options, lines of a shell or formats: wherever one is handed to a program
it stays a name, and the file is read."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

from groups.python import environment, fails, load
from lib import CONTROL, ROOT, Boot, check, check_equal, kernel_names

SECONDS = 300
MARK = "was-here"  # the file that a name would make as a line of a shell or of btfcrash
NAMES = (f"-c!touch {MARK}", f"-c !touch {MARK}", f"--command=!touch {MARK}", "--help", "-i-", "--", "-", " ", "a\nb", "%s%n", f"$(touch {MARK})",
         f"`touch {MARK}`", f"; touch {MARK}", f"| touch {MARK}", f"> {MARK}", f"'; touch {MARK}; '", f'"; touch {MARK}; "', "--with=gdb", "\x1b[2J", "\udc9b")


@contextlib.contextmanager
def folder(session, boot):
    """A new one, in which all of NAMES are the dump; nothing else may be in it afterwards but what is taken out of `extra`."""
    path = os.path.join(session.program.scratch, "names")
    os.mkdir(path)
    for name in NAMES:
        os.symlink(boot.dump, os.path.join(path, name))
    extra = set()
    try:
        yield path, extra
        check_equal(sorted(set(os.listdir(path)) - set(NAMES) - extra), [], "files that a name has made")
    finally:
        shutil.rmtree(path)


def run(session):
    boot = Boot(kernel_names()[0], "boot1")
    for case in (opened_by_python, opened_beside_a_dump, collected, submitted, paged, listed_for_initramfs, shown_by_demo, named_in_messages):
        with session.case(case.__name__.replace("_", " ")), folder(session, boot) as (path, extra):
            case(session.program, boot, path, extra)


@contextlib.contextmanager
def standing_in(path):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def opened_by_python(program, boot, path, _):
    btfcrash = load()
    with standing_in(path):
        for name in NAMES:
            with btfcrash.open(name, path=program.path, timeout=SECONDS) as dump:
                check_equal(dump.value("linux_banner[0]"), ord("L"), f"the first letter in {name!r}")


def opened_beside_a_dump(program, boot, path, _):
    """As one of `vmcore.*` is, among the parts of a dump."""
    btfcrash = load()
    with standing_in(path):
        for name in NAMES:
            with contextlib.suppress(btfcrash.Dead), btfcrash.open(boot.dump, name, path=program.path, timeout=SECONDS) as dump:
                dump.value("1")
        fails(btfcrash.Dead, lambda: btfcrash.open(boot.dump, "--version", path=program.path), "--version")


def collected(program, boot, path, extra):
    """fleet/collect: as words, and as a list whose names end in NUL."""
    extra.update(("words", "list"))
    collect = [sys.executable, os.path.join(ROOT, "fleet", "collect"), "--program", program.path, "-j", "2", "--cgroup", "never",
               "--follow-links"]
    runs = ((["-o", "words", "--", *NAMES[:4]], b"", 4),
            (["-o", "list", "-0"], b"".join(os.fsencode(name) + b"\0" for name in NAMES), len(NAMES)))
    for more, given, count in runs:
        done = subprocess.run([*collect, *more], input=given, cwd=path, env=program.environment(), capture_output=True, timeout=SECONDS, check=False)
        check_equal(done.returncode, 0, f"status of collect ({done.stderr!r})")
        with open(os.path.join(path, more[1]), encoding="utf-8") as file:
            errors = [json.loads(line)["error"] for line in file]
        check_equal(errors, [None] * count, "errors")


def submitted(program, boot, path, extra):
    """fleet/slurm.sbatch, as Slurm starts it, with a folder and a list of such names."""
    extra.update(("-folder", "-list"))
    os.mkdir(os.path.join(path, "-folder"))
    # A job follows no links.
    os.unlink(os.path.join(path, NAMES[0]))
    shutil.copyfile(boot.path("vmcore.zlib"), os.path.join(path, NAMES[0]))
    with open(os.path.join(path, "-list"), "w", encoding="utf-8") as file:
        file.write(NAMES[0] + "\n")
    around = program.environment(BTFCRASH=program.path, FLEET=os.path.join(ROOT, "fleet"), SLURM_ARRAY_TASK_ID="0", SLURM_ARRAY_TASK_COUNT="1")
    done = subprocess.run(["sh", os.path.join(ROOT, "fleet", "slurm.sbatch"), "-list", "-folder"], cwd=path, env=around, capture_output=True,
                          timeout=SECONDS, check=False)
    check_equal(done.returncode, 0, f"status of the job ({done.stderr!r})")
    with open(os.path.join(path, "-folder", "records.0.jsonl"), encoding="utf-8") as file:
        check_equal([json.loads(line)["error"] for line in file], [None], "errors")


def paged(program, boot, path, extra):
    """fleet/page, with a database that names each of them, and a program that tells its words."""
    extra.update(("psql", "program", "said", "reports"))
    found = {"sums": {"crashes": 1, "hosts": 1, "last": None}, "bad": 0, "rows": [
        {"crashes": 1, "hosts": 1, "days": [], "signature": "s", "summary": None, "release": None, "path": name,
         "first_seen": None, "last_seen": None} for name in NAMES if name.isprintable()]}
    for name, text in (("psql", "cat <<'END'\n" + json.dumps(found) + "\nEND\n"),
                       ("program", f"printf '%s\\0' \"$@\" >>'{path}/said'\n")):
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(file.name, 0o755)
    around = program.environment(BTFCRASH=path + "/program")
    around["PATH"] = path + ":" + around["PATH"]
    done = subprocess.run([sys.executable, os.path.join(ROOT, "fleet", "page"), "--reports", "reports"], cwd=path, env=around,
                          capture_output=True, timeout=SECONDS, check=False)
    check_equal(done.returncode, 0, f"status of page ({done.stderr!r})")
    with open(os.path.join(path, "said"), "rb") as file:
        words = file.read().split(b"\0")[:-1]
    files = [word for word in words if not word.startswith((b"-q", b"-c", b"--", b"report --html "))]
    check_equal(files, [os.fsencode(os.path.join(path, row["path"])) for row in found["rows"]], "files")


def listed_for_initramfs(program, boot, path, _):
    """kdump/initramfs-files: the program itself comes first."""
    for name in NAMES:
        os.unlink(os.path.join(path, name))
        shutil.copy(program.path, os.path.join(path, name))
        done = subprocess.run([os.path.join(ROOT, "kdump", "initramfs-files"), name], cwd=path, capture_output=True, timeout=SECONDS, check=False)
        check_equal(done.returncode, 0, f"status for {name!r} ({done.stderr!r})")
        check(done.stdout.startswith(os.fsencode(os.path.realpath(os.path.join(path, name))) + b"\n"), f"of {name!r}: {done.stdout!r}")


def shown_by_demo(program, boot, path, extra):
    """tests/demo, whose dumps are in a folder of that name."""
    with open(os.path.join(ROOT, "testdata", "kernels"), encoding="utf-8") as file:
        kernel = [line.split()[0] for line in file if line.strip() and not line.startswith("#") and "optional" not in line][-1]
    for name in (NAMES[0], NAMES[3]):
        cache = os.path.join(path, name)
        os.unlink(cache)
        os.makedirs(f"{cache}/{kernel}/boot1")
        os.symlink(boot.dump, f"{cache}/{kernel}/boot1/vmcore.elf")
        around = program.environment()
        around["BTFCRASH_CACHE"] = name
        done = subprocess.run([os.path.join(ROOT, "tests", "demo"), program.path], cwd=path, env=around, capture_output=True, timeout=SECONDS, check=False)
        check(done.returncode == 0 and b"struct proto" in done.stdout, f"demo with {name!r}: status {done.returncode}, {done.stderr!r}")


def named_in_messages(program, boot, path, _):
    """A file that is not there: its name is one line, and no control."""
    for number, name in enumerate(NAMES):
        os.unlink(os.path.join(path, name))
        others = (["-q", "--btf", name, boot.dump, "-c", "sys"], ["-q", "--declare", name, boot.dump, "-c", "sys"], ["-q", "-i", name, boot.dump])
        for words in (["--", name], *(others if number % 4 == 0 else ())):
            done = subprocess.run([program.path, *words], cwd=path, env=program.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=SECONDS, check=False)
            check(done.returncode and not CONTROL.search(done.stderr), f"{words}: status {done.returncode}, {done.stderr!r}")
            check(b"(null)" not in done.stderr and b"usage" not in done.stderr, f"{words}: {done.stderr!r}")
