# SPDX-License-Identifier: GPL-3.0-or-later
"""kdump/kdump-report in the shells that capture kernels have: into which folders it writes and into
which it does not, and what of the dump reaches the console."""

import contextlib
import os
import re
import shutil
import stat
import subprocess

from forged import Image, Layout
from groups.hostile_names import direct
from lib import CONTROL, ROOT, Boot, check, check_equal, kernel_names, tool, unescaped

SCRIPT = os.path.join(ROOT, "kdump", "kdump-report")
REPORT, RECORD = "btfcrash-report.txt", "record.json"
KLIBC = "/usr/lib/klibc/bin"
NOBODY = 65534
# A report with a process's name as a kernel has it, for a shell that writes as echo(1) of System V does.
SAID = "==== Panicking task ====\nPID: 7  \\033[2J\\0007\\c \\\\ %s $(x) `x`\n==== Running ====\nmore\n"
CONSOLE = SAID[:SAID.index("==== Running")]
STAND_IN = f"""#!/bin/sh
case $* in
*--record*) printf '%s\\n' '{{"schema": "btfcrash-record"}}' ;;
*) cat <<'END'
{SAID}END
esac
"""


class Place:
    """A folder that all may write to, as /tmp, with a program that says SAID and a file that is a dump for it."""

    def __init__(self, root):
        self.root = root
        os.mkdir(root)
        self.around = os.path.join(root, "crash")
        os.mkdir(self.around)
        os.chmod(self.around, 0o1777)
        self.folder = os.path.join(self.around, "202611271300")
        self.precious = self.file("precious", "root's own\n")
        self.dump = self.file("vmcore", "x")
        self.program = self.file("stand-in", STAND_IN)
        os.chmod(self.program, 0o755)

    def file(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, shell, folder=None, program=None, dump=None, cwd=None):
        path, command = shell
        environment = {"PATH": path, "BTFCRASH": program or self.program, "BTFCRASH_VMCORE": dump or self.dump, "LC_ALL": "C.UTF-8"}
        return subprocess.run([*command, SCRIPT, folder or self.folder], env=environment, cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, check=False)


@contextlib.contextmanager
def place(session):
    """A new one, which is gone afterwards."""
    root = os.path.join(session.program.scratch, "kdump-report")
    made = Place(root)
    try:
        yield made
    finally:
        shutil.rmtree(root)


def read(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def shells(scratch):
    """{name: (PATH, command)}: those of initramfs with what they have in them, and two of whole systems."""
    applets = os.path.join(scratch, "applets")
    os.makedirs(applets, exist_ok=True)
    for name in ("sh", "mkdir", "mv", "cat", "ls", "rm", "sync", "timeout"):
        link = os.path.join(applets, name)
        if not os.path.lexists(link):
            os.symlink(tool("busybox"), link)
    check(os.path.exists(KLIBC + "/sh"), "klibc-utils is not installed, which tests/packages lists")
    return {"dash": (os.environ["PATH"], [tool("dash")]), "bash": (os.environ["PATH"], [tool("bash"), "--posix"]),
            "busybox": (applets, [applets + "/sh"]), "klibc": (KLIBC, [KLIBC + "/sh"])}


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def check_written(where, done):
    """Both files are there, whole and nobody else's to read, and nothing besides."""
    check_equal((done.returncode, done.stdout), (0, b""), f"status and output ({done.stderr!r})")
    check_equal(read(os.path.join(where.folder, REPORT)), SAID, "the report")
    check_equal(read(os.path.join(where.folder, RECORD)), '{"schema": "btfcrash-record"}\n', "the record")
    for name in (REPORT, RECORD):
        check_equal(mode(os.path.join(where.folder, name)), 0o600, f"the mode of {name}")
    left = [name for name in os.listdir(where.folder) if name.endswith(".incomplete")]
    check_equal(left, [], "what is left")


def check_refused(where, done):
    """It says so, and nobody has been written to."""
    check(done.returncode == 1 and b"no report" in done.stderr, f"status {done.returncode}: {done.stderr!r}")
    check_equal(read(where.precious), "root's own\n", "a file elsewhere")


def writes_new(where, shell):
    done = where.run(shell)
    check_written(where, done)
    check_equal(mode(where.folder), 0o700, "the mode of the folder")
    check_equal(done.stderr.decode(), f"{CONSOLE}btfcrash: report in {where.folder}/{REPORT}\n", "the console")


def writes_parents(where, shell):
    where.folder += "/deeper/last"
    check_written(where, where.run(shell))


def writes_relative(where, shell):
    """A path, a program and a dump without a slash in front."""
    done = where.run(shell, folder="-here/", program="./stand-in", dump="vmcore", cwd=where.root)
    where.folder = where.root + "/-here"
    check_written(where, done)


def writes_beside_dump(where, shell):
    """kdump-tools made the folder before, and the dump lies there."""
    for allowed in (0o755, 0o700, 0o750):
        os.mkdir(where.folder)
        os.chmod(where.folder, allowed)
        with open(where.folder + "/dump.202611271300", "w", encoding="ascii") as file:
            file.write("dump")
        check_written(where, where.run(shell))
        check_equal((mode(where.folder), read(where.folder + "/dump.202611271300")), (allowed, "dump"), "the folder")
        shutil.rmtree(where.folder)


def writes_again(where, shell):
    """What an earlier run left, begun or whole, is no obstacle; a link is not followed."""
    os.mkdir(where.folder, 0o755)
    for name in (REPORT, RECORD):
        with open(f"{where.folder}/{name}", "w", encoding="ascii") as file:
            file.write("older")
        os.symlink(where.precious, f"{where.folder}/{name}.incomplete")
    check_written(where, where.run(shell))
    check_equal(read(where.precious), "root's own\n", "a file elsewhere")


def refuses_link(where, shell):
    """The folder is a link to one of this user's, though nobody else could write there."""
    elsewhere = where.root + "/elsewhere"
    os.mkdir(elsewhere, 0o700)
    os.symlink(elsewhere, where.folder)
    check_refused(where, where.run(shell))
    check_equal(os.listdir(elsewhere), [], "what lies behind the link")


def refuses_open_folder(where, shell):
    """A folder of this user's to which others may write; a file; a link into nothing."""
    for allowed in (0o777, 0o1777, 0o775, 0o757, 0o722):
        os.mkdir(where.folder)
        os.chmod(where.folder, allowed)
        os.symlink(where.precious, f"{where.folder}/{REPORT}.incomplete")
        check_refused(where, where.run(shell))
        shutil.rmtree(where.folder)
    where.file("crash/202611271300", "a file")
    check_refused(where, where.run(shell))
    check_equal(read(where.folder), "a file", "the file")
    os.unlink(where.folder)
    os.symlink(where.root + "/nothing", where.folder)
    check_refused(where, where.run(shell))


def refuses_others_folder(where, shell):
    """Another user made it first, with links to what is root's in it. Needs root."""
    for name in (REPORT, RECORD):
        os.makedirs(where.folder, exist_ok=True)
        os.symlink(where.precious, f"{where.folder}/{name}.incomplete")
    os.chown(where.folder, NOBODY, NOBODY)
    os.chmod(where.folder, 0o755)
    check_refused(where, where.run(shell))
    check_equal(sorted(os.listdir(where.folder)), sorted(name + ".incomplete" for name in (REPORT, RECORD)), "the folder")


def writes_hostile_names(where, shell):
    """Names that are options, formats or lines of a shell: of the folder, the program and the dump."""
    for name in ("-c!touch x", "--help", " ", "%s", "$(touch x)", ";touch x", "`touch x`", "a'\"b", "*", "a\nb"):
        for path in (where.dump, where.program):
            os.symlink(path, f"{path}.{name}")
        done = where.run(shell, folder=name, program="./stand-in." + name, dump="vmcore." + name, cwd=where.root)
        there = os.path.join(where.root, name)
        check_equal((done.returncode, done.stdout), (0, b""), f"status and output of {name!r} ({done.stderr!r})")
        check_equal((read(f"{there}/{REPORT}"), sorted(os.listdir(there))), (SAID, [REPORT, RECORD]), f"what is in {name!r}")
    check(not os.path.exists(where.root + "/x"), "a name was run")


CASES = (writes_new, writes_parents, writes_relative, writes_hostile_names, writes_beside_dump, writes_again, refuses_link, refuses_open_folder)


def is_for(shell, case):
    """The initramfs of klibc has neither rm nor an ls that tells modes: what is there already is refused."""
    return shell != "klibc" or case not in (writes_beside_dump, writes_again)


def compare_real(program, boot, where, shell):
    """The program's own report of a dump whose panicking task has a hostile name."""
    copy = where.root + "/copy"
    image = Image(boot.dump, copy)
    address = program.result(boot.dump, "bt")["task"]["address"]
    at, = direct(program, boot, Layout(image, boot), [f"((struct task_struct *){address})->comm"])
    for name in (b"\\033[2J\\a\\c\\n", b"\x1b[2J\x9b\xc2\x9b\x07\r%s", b"\\\\033\\0033c"):
        with image.patched({at: name[:15].ljust(16, b"\0")}):
            done = where.run(shell, program=program.path, dump=copy)
            wanted = program.text(copy, "report")
        check_equal(done.returncode, 0, f"status ({done.stderr!r})")
        check_equal(read(where.folder + "/" + REPORT), wanted, "the report")
        begins = wanted[:wanted.index("==== Running")]
        shown = re.search(r'(?m)^PID: .* COMMAND: "(.*)"$', begins).group(1)
        check_equal(unescaped(shown), name[:15], "the name in the report")
        check(not CONTROL.search(done.stderr), f"a control byte of {name!r} on the console")
        check_equal(done.stderr.decode(), f"{begins}btfcrash: report in {where.folder}/{REPORT}\n", "the console")
        shutil.rmtree(where.folder)
    image.bytes.close()


def run(session):
    known = shells(session.program.scratch)
    for name, shell in known.items():
        for case in CASES:
            if is_for(name, case):
                with session.case(f"{name}: {case.__name__.replace('_', ' ')}"), place(session) as where:
                    case(where, shell)
        if os.geteuid():
            session.skip(f"{name}: another user's folder", "only root can give a folder away")
        else:
            with session.case(f"{name}: refuses others' folder"), place(session) as where:
                refuses_others_folder(where, shell)
    boot = Boot(kernel_names()[0], "boot1")
    for name in ("dash", "klibc"):
        with session.case(f"{boot.label}: names of a dump on the console of {name}"), place(session) as where:
            compare_real(session.program, boot, where, known[name])
