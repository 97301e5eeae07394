# SPDX-License-Identifier: GPL-3.0-or-later
"""--with: another tool is started on the dump with a vmlinux that is made of it.

What the tool is told is seen by a tool of the test's own; gdb and drgn are real. crash and newer
drgns are tried by hand, in a Debian that has them.
"""

import contextlib
import json
import os
import signal
import subprocess
import time

from lib import Boot, boots, check, check_equal, shorten, tool

SECONDS = 300
STATUS = 7
TOOL = """#!/usr/bin/env python3
import json, os, sys
names = [name for name in sys.argv[1:] if name.endswith(".vmlinux")]
plugins = os.environ.get("DRGN_PLUGINS", "")
print(json.dumps({
    "arguments": sys.argv, "input": sys.stdin.read(), "plugins": plugins,
    "plugin": open(plugins.rpartition("=")[2]).read() if plugins else "",
    "files": [[name, os.path.getsize(name), os.path.getsize(name + ".tiers"), os.stat(name).st_ino]
              for name in names]}))
sys.exit(%d)
""" % STATUS


def make_tools(program):
    folder = os.path.join(program.scratch, "tools")
    os.makedirs(folder, exist_ok=True)
    for name in ("crash", "drgn", "gdb"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(TOOL)
        os.chmod(file.name, 0o755)
    return folder


def start(program, arguments, path=None, status=None, stdin=b"", **more):
    """The result of `btfcrash ARGUMENTS`, with the folder `path` before all others of $PATH."""
    paths = ":".join([*([path] if path else []), os.path.dirname(tool("gdb")), os.environ["PATH"]])
    done = subprocess.run([program.path, *arguments], env=program.environment(PATH=paths, **more),
                          input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=SECONDS, cwd=program.scratch)
    done.text, done.errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if status is not None:
        check_equal(done.returncode, status, f"status of {arguments}: {shorten(done.errors or done.text)}")
    return done


def asks_tool(program, tools, arguments, **options):
    done = start(program, arguments, path=tools, status=STATUS, **options)
    return json.loads(done.text), done.errors


def is_started(program, boot, tools, notes):
    """What the tool is told: first the file and the dump, then the user's words, whatever they are."""
    words = ["-s", "--json", "-c", "$x; 'y'", "--with", "--"]
    seen, errors = asks_tool(program, tools, [boot.dump, "--with", "crash", *words], stdin=b"bt\n")
    file = seen["files"][0][0]
    check_equal(seen["arguments"][1:], [file, boot.dump, *words], "words")
    check_equal(seen["input"], "bt\n", "standard input")
    check(seen["files"][0][1] > 1 << 20 and seen["files"][0][2] > 1 << 16, f"files: {seen['files']}")
    for wanted in ("no debuginfo", file, file + ".tiers", "zeros", "certain, inferred or declared"):
        check(wanted in errors, f"the note has no {wanted}: {errors}")
    # Nothing is kept here: XDG_CACHE_HOME is no folder.
    check(not os.path.exists(os.path.dirname(file)), "a file that nobody finds again is left behind")
    seen, errors = asks_tool(program, tools, ["-q", boot.dump, "--with=drgn", "-q", "x.py"], DRGN_PLUGINS="other")
    check_equal(errors, "", "what is said with -q")
    file = seen["files"][0][0]
    check_equal(seen["arguments"][1:], ["-c", boot.dump, "--main-symbols", "-s", file, "-q", "x.py"], "words of drgn")
    check(seen["plugins"].startswith("other,btfcrash=/"), f"plugins: {seen['plugins']}")
    compile(seen["plugin"], "plugin", "exec")
    notes.append(f"{seen['files'][0][1] >> 20} MiB")


@contextlib.contextmanager
def cache(program, name):
    """For cases that are not about how the file is made: it is kept."""
    program.cache = os.path.join(program.scratch, name)
    try:
        yield
    finally:
        program.cache = None


def is_kept(program, boot, tools, notes):
    """The second start finds the file of the first, unless it is damaged or for another tool."""
    program.cache = os.path.join(program.scratch, "kept")
    try:
        one, two = (asks_tool(program, tools, [boot.dump, "--with", "crash"])[0]["files"] for _ in range(2))
        check_equal(two, one, "files of the second start")
        path = one[0][0]
        folder = os.path.join(os.path.realpath(program.cache), "btfcrash")
        check_equal(os.path.dirname(path), folder, "folder")
        check_equal(os.stat(path).st_mode & 0o777, 0o600, "mode")
        drgn = asks_tool(program, tools, [boot.dump, "--with", "drgn"])[0]["files"]
        check_equal(drgn, one, "drgn's file")
        with open(path, "r+b") as file:
            file.truncate(one[0][1] // 2)
        again = asks_tool(program, tools, [boot.dump, "--with", "crash"])[0]["files"]
        check(again[0][1] > one[0][1] - 4096 and again[0][3] != one[0][3], f"a cut file: {again}, not {one}")
        check_equal(sorted(name for name in os.listdir(folder) if ".new" in name), [], "rests")
        other = asks_tool(program, tools, ["--no-cache", boot.dump, "--with", "crash"])[0]["files"]
        check(not other[0][0].startswith(folder), f"--no-cache: {other}")
    finally:
        program.cache = None
    notes.append(os.path.basename(path))


def ends_when_told(program, boot, tools, number, delay):
    """Ctrl-C while the file is made: the tool does not start, and nothing is left."""
    program.cache = os.path.join(program.scratch, f"ended-{number}")
    folder = os.path.join(program.cache, "btfcrash")
    try:
        child = subprocess.Popen([program.path, boot.dump, "--with", "crash"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True,
                                 # A shell's background jobs ignore it.
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                                 env=program.environment(PATH=tools + ":" + os.environ["PATH"]))
        until = time.monotonic() + SECONDS
        # Without a pause: what happens in the first moments is what goes wrong.
        while time.monotonic() < until and not (os.path.isdir(folder) and os.listdir(folder)):
            pass
        time.sleep(delay)
        os.killpg(child.pid, signal.SIGINT)
        out, _ = child.communicate(timeout=SECONDS)
        check_equal((child.returncode, out), (128 + signal.SIGINT, b""), "what is left to say")
        check_equal([name for name in os.listdir(folder) if "vmlinux" in name], [], "files")
    finally:
        program.cache = None


def survives_ignored_children(program, boot, tools):
    """Started by a program that ignores SIGCHLD: children have a status all the same."""
    environment = program.environment(PATH=tools + ":" + os.environ["PATH"])
    done = subprocess.run([program.path, "-q", boot.dump, "--with", "crash"], env=environment, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    check_equal((done.returncode, done.stderr), (STATUS, b""), "of a tool")
    check(boot.dump in json.loads(done.stdout)["arguments"], "no dump")
    done = subprocess.run([program.path, "-q", "-c", "!false", boot.dump], env=environment, check=False, timeout=SECONDS,
                          stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    check_equal(done.returncode, 1, "status of !false")


def takes_any_path(program, boot, tools):
    """A dump whose name looks like an option, like other words, like the number of a process or a line of a shell."""
    for name in ("./-x", "a b;'c'", "12345", "./--eval", "./-ex!touch x", " ", "a\nb", "%s%n", "$(touch x)", "; touch x", "`touch x`", "!touch x"):
        link = os.path.join(program.scratch, name)
        os.symlink(boot.dump, link)
        with cache(program, "kept"):
            seen, _ = asks_tool(program, tools, [name, "--with", "crash"])
        path = seen["arguments"][2]
        check(path[0] in "./" and os.path.realpath(os.path.join(program.scratch, path)) == os.path.realpath(boot.dump),
              f"the dump {name} is {path}")
        os.unlink(link)


def refuses(program, boot, tools):
    """What no tool can do is said before anything is made."""
    none = os.path.join(program.scratch, "none")
    cases = [(["--with", "crash", boot.dump], "DUMP comes before --with"),
             ([boot.dump, "--with", "lldb"], "crash drgn gdb"), ([boot.dump, "--with"], "usage"),
             (["-c", "sys", boot.dump, "--with", "gdb"], "no options beside --with"),
             ([none, "--with", "crash"], "No such file"),
             (["--format", "raw", boot.dump, "--with", "crash"], "raw memory: crash"),
             ([boot.dump, "--with", "gdb"], "without virtual addresses, which gdb does not read"),
             ([boot.dump, boot.dump, "--with", "drgn"], "drgn reads a dump of one file only")]
    for flavour, name, why in (("pmemsave", "crash", "raw memory: crash, drgn and gdb read no images"),
                               ("zlib", "gdb", "kdump-compressed, which gdb does not read"),
                               ("flat", "drgn", "flattened, which drgn does not read")):
        path = os.path.join(boot.folder, "vmcore." + flavour)
        if os.path.exists(path):
            cases.append(([path, "--with", name], why))
    for arguments, why in cases:
        done = start(program, arguments, path=tools, status=2)
        check(why in done.errors, f"{arguments}: {done.errors}")
        check_equal(done.text, "", "output")
    done = subprocess.run([program.path, boot.dump, "--with", "crash"], env=program.environment(PATH="/nonexistent"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 2 and b"Debian's package: crash" in done.stderr, str(done))
    broken = os.path.join(program.scratch, "broken.elf")
    with open(boot.dump, "rb") as file, open(broken, "wb") as copy:
        copy.write(file.read(100000))
    done = start(program, [broken, "--with", "crash"], path=tools)
    check(done.returncode == 2 and not done.text, f"of a dump that cannot be read: {done.returncode} {done.text}")


def gdb_runs(program, boot, notes):
    commands = ["p init_uts_ns.name.release", "info symbol $rip", "p sizeof(struct task_struct)", "p init_task.comm"]
    words = [word for command in commands for word in ("-ex", command)]
    done = start(program, [boot.dump, "--with", "gdb", "-nx", "-batch", *words], status=0)
    size = program.value(boot.dump, "sizeof(struct task_struct)")
    for wanted in (f'"{boot.release}"', " in section .text", f"= {size}", '"swapper/0'):
        check(wanted in done.text, f"gdb does not say {wanted}: {shorten(done.text + done.errors)}")
    check("newer than core" not in done.text + done.errors, f"gdb takes it for another program's: {shorten(done.errors)}")
    notes.append(next(line for line in done.text.splitlines() if "in section" in line))


DRGN = """
print(prog["init_uts_ns"].name.release.string_().decode())
for frame in prog.crashed_thread().stack_trace():
    print(frame.name)
"""


def drgn_runs(program, boot, notes):
    script = os.path.join(program.scratch, "with.py")
    with open(script, "w") as file:
        file.write(DRGN)
    done = start(program, [boot.dump, "--with", "drgn", "-q", script], status=0)
    lines = done.text.splitlines()
    check_equal(lines[0], boot.release, "release")
    ours = [frame["symbol"] for frame in program.result(boot.dump, "bt")["frames"] if frame.get("symbol")]
    # Debian 12's drgn knows no ORC tables of 6.4 and later, and ends early there.
    # Without a name is a user's frame, which newer ones call by its address.
    names = [name for name in lines[1:] if name != "None" and not name.startswith("0x")]
    # entry_SYSCALL_64_after_hwframe, a label, lies within entry_SYSCALL_64, which drgn names.
    known = [name for name in names
             if name in ours or any(label.startswith(name + "_after_") for label in ours)]
    check(len(names) > 1 and known == names, f"drgn's stack {lines[1:]}, ours {ours}")
    notes.append(f"{len(names)} frames")


def run(session):
    program = session.program
    tools = make_tools(program)
    all_boots = [boot for boot in boots() if boot.label.endswith("boot1")]
    for boot in all_boots:
        with session.case(f"{boot.label}: a tool is started with file, dump and its words") as notes:
            is_started(program, boot, tools, notes)
        with session.case(f"{boot.label}: the file is kept for the next time") as notes:
            is_kept(program, boot, tools, notes)
        if os.path.exists(os.path.join(os.path.dirname(boot.folder), "kdump")):
            kdump = Boot(boot.kernel, "kdump")
            kdump_dump = kdump.path("vmcore.kdump")
            for name, case in (("gdb", gdb_runs), ("drgn", drgn_runs)):
                with session.case(f"{boot.kernel} kdump: {name} runs") as notes, cache(program, "kept-kdump"):
                    case(program, WithDump(kdump, kdump_dump), notes)
    with session.case(f"{all_boots[0].label}: paths are no options"):
        takes_any_path(program, all_boots[0], tools)
    with session.case(f"{all_boots[0].label}: started where SIGCHLD is ignored"):
        survives_ignored_children(program, all_boots[0], tools)
    with session.case(f"{all_boots[0].label}: Ctrl-C ends it"):
        for number, delay in enumerate((*[0] * 12, 0.0005, 0.001, 0.002, 0.02, 0.2, 0.6)):
            ends_when_told(program, all_boots[0], tools, number, delay)
    with session.case(f"{all_boots[0].label}: what cannot be is refused"):
        refuses(program, all_boots[0], tools)


class WithDump:
    """A boot whose dump has another name."""

    def __init__(self, boot, dump):
        self.release, self.dump = boot.release, dump
