# SPDX-License-Identifier: GPL-3.0-or-later
"""The prompt, driven through a pseudo-terminal."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from lib import Boot, check, check_equal, kernel_names

PROMPT = b"btfcrash> "
BUSY_SECONDS = 0.3
SECONDS = 120


class Terminal:
    """The program at a terminal of its own, in a folder."""

    def __init__(self, program, arguments, state, folder=".", through=(), **more):
        environment = program.environment(XDG_STATE_HOME=state, **more)
        environment["TERM"] = "dumb"
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            words = [*through, program.path, *arguments]
            os.execvpe(words[0], words, environment)

    def wait_busy(self):
        """Waits until it has worked for a while since the call, however busy the machine is."""
        wanted, end = processor_seconds(self.pid) + BUSY_SECONDS, time.monotonic() + SECONDS
        while processor_seconds(self.pid) < wanted:
            self.read(0.05)
            check(time.monotonic() < end and PROMPT not in self.seen,
                  f"does not work: {self.seen[-200:]!r}")

    def read(self, seconds):
        """Reads what comes within a time; False at the end or without anything."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        with contextlib.suppress(OSError):  # EIO: the program is gone
            data = os.read(self.fd, 65536)
            self.seen += data
            return bool(data)
        return False

    def expect(self, word, what):
        """Reads until a word comes; returns what came up to its end."""
        end = time.monotonic() + SECONDS
        while word not in self.seen:
            left = end - time.monotonic()
            check(left > 0 and self.read(left),
                  f"{what}: no {word!r} after {self.seen[-200:]!r}")
        before, _, self.seen = self.seen.partition(word)
        return before + word

    def type(self, text):
        os.write(self.fd, text)

    def resize(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def end(self):
        """Waits for the exit status; kills the program when it does not leave."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        check(False, f"does not leave: {self.seen[-200:]!r}")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@contextlib.contextmanager
def terminal(program, arguments, state, **options):
    opened = Terminal(program, arguments, state, **options)
    try:
        yield opened
    finally:
        opened.close()


def banner(program, boot, state):
    """A banner with the facts, a command, Ctrl-D."""
    with terminal(program, [boot.dump], state) as user:
        text = user.expect(PROMPT, "start").decode("utf-8", "replace")
        for word in (boot.release, "sysrq triggered crash", "ELF"):
            check(word in text, f"no {word!r} in the banner {text!r}")
        lines = text.splitlines()
        check(4 <= len(lines) <= 20, f"a banner of {len(lines)} lines")
        user.type(b"print init_task.comm\r")
        check(b"swapper/0" in user.expect(PROMPT, "print"), "no swapper/0")
        user.type(b"nosuchcommand\r")
        check(b"nosuchcommand" in user.expect(PROMPT, "nosuchcommand"), "no message")
        user.type(b"\x04")
        check_equal(user.end(), 0, "exit status after Ctrl-D")


def interrupts(program, boot, state):
    """Ctrl-C ends a long command, drops a line half typed, and ends nothing else."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        user.type(b"sym -l\r")
        user.expect(b"\n", "echo")
        user.expect(b"\n", "first line of sym -l")
        user.type(b"\x03")
        rest = user.expect(PROMPT, "Ctrl-C during sym -l")
        whole = len(program.text(boot.dump, "sym -l"))
        check(len(rest) < whole / 2, f"{len(rest)} bytes of {whole} came after Ctrl-C")
        user.type(b"print 12")
        user.expect(b"print 12", "echo")
        user.type(b"\x03")
        user.expect(PROMPT, "Ctrl-C at the prompt")
        user.type(b"print 34 + 1\r")
        check(b"35" in user.expect(PROMPT, "print"), "the line before Ctrl-C is still there")
        user.type(b"quit\r")
        check_equal(user.end(), 0, "exit status after quit")


# What an interactive shell does about Ctrl-Z and `fg`: the terminal is its own meanwhile.
JOBS = ("sh", "-c", 'set -m; mode=$(stty -g); "$0" "$@"; stty "$mode"; echo stopped; fg; echo left')


def stops(program, boot, state):
    """Ctrl-Z with half a line: it is there again afterwards, and TAB completes it."""
    with terminal(program, ["-q", boot.dump], state, through=JOBS) as user:
        user.expect(PROMPT, "start")
        user.type(b"print 12 + init_task.norm")
        user.expect(b"init_task.norm", "echo")
        user.type(b"\x1a")
        user.expect(b"stopped", "Ctrl-Z")
        user.expect(PROMPT + b"print 12 + init_task.norm", "the line after fg")
        user.type(b"a\t")  # normal_prio
        user.expect(b"prio", "TAB")
        user.type(b"\r")
        check(b"\n(int)132" in user.expect(PROMPT, "print"), "another line was run")
        user.type(b"\x04")
        user.expect(b"left", "Ctrl-D")


# Kill and yank, the ends of the line, words, history, a new screen.
NARROW_KEYS = (b"abc\x0b\x19", b'"\x0c\x19', b"\x01\x19\x05", b"x y z\x0c", b"\x02\x02\x06p", b"\x10\x0e\x0b",
               b"pppp\x01\x0b\x19\x19\x0c", b"\x7f\x7f\x15\x19")


def bears_narrow(program, boot, state):
    """Keys and new sizes on a terminal of next to no columns, which does not wrap by itself."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        for columns in (2, 1, 3, 1, 2, 80, 2, 0, 1, 80):
            user.resize(columns)
            for keys in NARROW_KEYS:
                user.type(keys)
                while user.read(0.02):
                    pass
            user.type(b"\x03")
            while user.read(0.1):
                pass
        user.resize(80)
        user.type(b"print 34 + 1\r")
        user.expect(b"(int)35", "a command after all that")
        user.expect(PROMPT, "the next prompt")
        user.type(b"\x04")
        check_equal(user.end(), 0, "exit status")


HELPER_BYTES_MAX = 64 << 20


def bears_long_lines(program, boot, state):
    """Two yanks for each kill double a line: it ends somewhere, and is refused."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        helper = children(user.pid)[0]
        user.type(b"print 1 + ")
        for _ in range(24):
            user.type(b"\x01\x0b\x19\x19")
        user.type(b"\r")
        user.expect(b"no line has more than", "a word about the line")
        with open(f"/proc/{helper}/status") as file:
            size = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))
        check(size < HELPER_BYTES_MAX or program.is_sanitized, f"the helper took {size >> 20} MiB")
        user.type(b"print 34 + 1\r")
        user.expect(b"(int)35", "a command after that")
        user.expect(PROMPT, "the next prompt")
        user.type(b"\x04")
        check_equal(user.end(), 0, "exit status")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


# A shell that does not mend the terminal, as a script's or a plain one.
PLAIN_SHELL = ("sh", "-c", 'trap : HUP; "$0" "$@"; echo "left with $?"; exec cat')


def outlives(program, boot, state, victim):
    """One of the two processes is killed at the prompt: the other ends. The terminal's modes are put
    back by the helper, else by a shell with job control, which hears of the signal."""
    with terminal(program, ["-q", boot.dump], state, through=PLAIN_SHELL) as user:
        before = termios.tcgetattr(user.fd)
        user.expect(PROMPT, "start")
        user.type(b"half")
        user.expect(b"half", "echo")
        check(termios.tcgetattr(user.fd) != before, "the prompt left the terminal as it was")
        reader = children(user.pid)[0]
        helper = children(reader)[0]
        os.kill(helper if victim == "helper" else reader, signal.SIGKILL)
        # The shell and the helper say so at the same time.
        said = {b"left with 137"} | ({b"the process that reads the dump has ended"} if victim == "reader" else set())
        deadline = time.monotonic() + SECONDS
        while not all(word in user.seen for word in said):
            user.read(0.1)
            check(time.monotonic() < deadline, f"not all of {said} in {user.seen!r}")
        if victim == "reader":
            while user.read(0.3):
                pass
            check_equal(termios.tcgetattr(user.fd), before, "the terminal's modes")


def outlives_question(program, boot, state):
    """The helper is killed while it waits for the words behind TAB: the answer finds nobody."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        helper = children(user.pid)[0]
        user.type(b"print init_task.co")
        user.expect(b"init_task.co", "echo")
        os.kill(user.pid, signal.SIGSTOP)
        user.type(b"\t")
        time.sleep(0.3)  # so that it is likely to have asked; without, it is another test
        os.kill(helper, signal.SIGKILL)
        os.kill(user.pid, signal.SIGCONT)
        check_equal(user.end(), -signal.SIGKILL, "exit status")


def keeps_history(program, boot, state):
    """A line of one session comes back in the next."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        user.type(b"print 1234 + 4321\r")
        user.expect(PROMPT, "print")
        user.type(b"\x04")
        check_equal(user.end(), 0, "exit status")
    path = os.path.join(state, "btfcrash", "history")
    check(os.path.exists(path), f"no {path}")
    with open(path) as file:
        check("print 1234 + 4321\n" in file.read(), "the line is not in the file")
    check_equal(os.stat(path).st_mode & 0o077, 0, "rights of others on the history")
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "second start")
        user.type(b"\x10\r")  # Ctrl-P: the line before
        check(b"5555" in user.expect(PROMPT, "Ctrl-P"), "the old line did not run")
        user.type(b"\x04")
        check_equal(user.end(), 0, "exit status")


def bears_odd_files(program, boot, state):
    """What is no file of lines in the place of the history, of the prompt's lines, of a script."""
    config = os.path.join(state, "odd", "config")
    own = os.path.join(state, "odd", "state")
    paths = [os.path.join(folder, "btfcrash", name)
             for folder, name in ((own, "history"), (config, "rc"))]
    for path in paths:
        os.makedirs(os.path.dirname(path), exist_ok=True)

    def asks(*words):
        with terminal(program, ["-q", boot.dump], own, XDG_CONFIG_HOME=config) as user:
            before = user.expect(PROMPT, "start").decode()
            for word in words:
                check(word in before, f"no {word!r} in {before!r}")
            user.type(b"print 1234 + 4321\r")
            check(b"5555" in user.expect(PROMPT, "print"), "the line did not run")
            user.type(b"\x04")
            check_equal(user.end(), 0, "exit status")
            return before

    for path in paths:
        for target in ("fifo", "/dev/zero"):
            os.mkfifo(path) if target == "fifo" else os.symlink(target, path)
            asks(f"warning: {path}: this is no regular file")
            os.unlink(path)
        os.symlink("/dev/null", path)
        check("warning" not in asks(), f"a warning of {path}, which is /dev/null")
        os.unlink(path)
    history, rc = paths
    with open(rc, "w") as file:
        file.write("print 41 + 1\n" + "x" * (1 << 20) + "y\nprint 43 + 1\n")
    before = asks(f"warning: {rc}: a line has more than 1048576 bytes", "42")
    check("44" not in before, "the lines behind an endless one were run")
    os.unlink(rc)
    os.mkdir(rc)
    asks(f"warning: {rc}: Is a directory")
    os.rmdir(rc)
    with open(history, "w") as file:
        file.write("print 6665 + 1\n")
        file.writelines(f"print {number}\n" for number in range(500_000))  # 6 MB
        file.write("print 7776 + 1\n")
    check("warning" not in asks(), "a warning of a long history")
    with open(history) as file:
        lines = file.read().splitlines()
    check("print 6665 + 1" not in lines and "print 7776 + 1" in lines, "the last lines are not kept")

    zero = program.run(["-q", "-i", "/dev/zero", boot.dump])
    check(b"/dev/zero: a line has more than 1048576 bytes" in zero.err and zero.status,
          f"/dev/zero as a script: {zero.errors}")
    fifo = os.path.join(state, "fifo")
    os.mkfifo(fifo)
    unwritten = program.run(["-q", "-i", fifo, boot.dump], timeout=60)
    check(f"{fifo}: nothing writes to this FIFO" in unwritten.errors,
          f"a FIFO as a script: {unwritten.errors}")
    os.unlink(fifo)
    for words in ('exec "$0" -q -i <(sleep 0.2; echo print 41 + 1) "$1"',
                  'echo print 41 + 1 | "$0" -q -i /dev/stdin "$1"',
                  'mkfifo "$2"; "$0" -q -i "$2" "$1" & sleep 0.3; echo print 41 + 1 >"$2"; wait $!'):
        done = subprocess.run(["bash", "-c", words, program.path, boot.dump, fifo],
                              env=program.environment(), capture_output=True, timeout=SECONDS)
        check_equal(done.stdout, b"(int)42\n", f"{words}, with {done.stderr!r}")


# The variable's type is inferred, or in the cache.
INFERRED = b"print clocksource_subsys.dev_na"
# What is typed, and a word that TAB answers with. The first ones have to load what they need.
COMPLETED = ((b"print init_task.co", b"compat_robust_list"), (b"print init_uts_n", b"init_uts_ns"),
             (b"print (init_task.mm)->mmap_ba", b"mmap_base"), (b"struct task_str", b"task_struct"),
             (b"struct task_struct.se.vrun", b"vruntime"), (b"sym vfs_rea", b"vfs_read"),
             (b"print virtio_blk:virtb", b"virtblk"), (b"ps kthrea", b"kthreadd"),
             (INFERRED, b"dev_name"))
# It is 0.01 to 0.03 s; a slow machine, or one that shares its processors, needs several times as long.
# What reads too much for a TAB, needs seconds.
TAB_SECONDS = 0.5


def processor_seconds(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


def completes_quickly(program, boot, state, notes):
    """TAB takes little of the processor, the first time too."""
    with terminal(program, ["-q", boot.dump], state) as user:
        user.expect(PROMPT, "start")
        spent = {}
        for typed, word in COMPLETED:
            user.type(typed)
            user.expect(typed, "echo")
            before = processor_seconds(user.pid)
            user.seen = typed
            user.type(b"\t")
            user.expect(word, f"TAB after {typed}")
            while user.read(0.2):
                pass
            spent[typed.decode()] = processor_seconds(user.pid) - before
            user.seen = b""  # a list of words ends with a prompt, too
            user.type(b"\x03")
            user.expect(PROMPT, "Ctrl-C")
        slowest = max(spent, key=spent.get)
        check(spent[slowest] < TAB_SECONDS or program.is_sanitized,
              f"TAB after {slowest!r} takes {spent[slowest]:.3f} s")
        notes.append(f"{slowest!r}: {spent[slowest] * 1000:.0f} ms")


def completes_from_cache(program, boot, state):
    """TAB behind a variable whose type an earlier session has kept."""
    program.cache = os.path.join(state, "types")
    try:
        program.run(["-q", "-c", "globals", boot.dump], status=0)
        check(os.listdir(os.path.join(program.cache, "btfcrash")), "nothing was kept")
        with terminal(program, ["-q", boot.dump], state) as user:
            user.expect(PROMPT, "start")
            user.type(INFERRED)
            user.expect(INFERRED, "echo")
            user.type(b"\t")
            user.expect(b"me", "TAB")
            user.type(b"\r")
            user.expect(b"\"clocksource\"", "the member")
    finally:
        program.cache = None


def run(session):
    for kernel in kernel_names():
        other = Boot(kernel, "boot1")
        with session.case(f"{kernel}: TAB is quick") as notes:
            completes_quickly(session.program, other,
                              os.path.join(session.program.scratch, "state"), notes)
    boot = Boot(kernel_names()[-1], "boot1")
    state = os.path.join(session.program.scratch, "state")
    for name, test in (("banner, a command, Ctrl-D", banner), ("Ctrl-C", interrupts), ("Ctrl-Z", stops),
                       ("history is kept", keeps_history), ("odd files", bears_odd_files), ("TAB and the cache", completes_from_cache),
                       ("a narrow terminal", bears_narrow),
                       ("a line without end", bears_long_lines)):
        with session.case(name):
            test(session.program, boot, state)
    for victim in ("helper", "reader"):
        with session.case(f"the {victim} is killed"):
            outlives(session.program, boot, state, victim)
    with session.case("the helper is killed behind TAB"):
        outlives_question(session.program, boot, state)
