# SPDX-License-Identifier: GPL-3.0-or-later
"""The terminal is the helper's: who reads the dump has none, and what it writes comes through whole and in its order."""

import os
import re
import signal
import termios
import time

from groups.shell import PLAIN_SHELL, PROMPT, children, terminal
from lib import Boot, check, check_equal, kernel_names

SECONDS = 60
# It stands where the machine is slow.
PROGRESS = re.compile(rb"\r\x1b\[K(\w+: \d+ %)?")


def terminals(pid):
    """The numbers of a process' files that are terminals."""
    folder = f"/proc/{pid}/fd"
    files = [(name, os.readlink(f"{folder}/{name}")) for name in os.listdir(folder)]
    return [name for name, path in files if re.match("/dev/(pts|tty|console|ptmx)", path)]


def runs(user, name):
    """Whether a program of that name is below the process soon: one that the shell has not yet begun misses Ctrl-C."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        below = [user.pid]
        for pid in below:
            try:
                below += children(pid)
                with open(f"/proc/{pid}/comm") as file:
                    if file.read().strip() == name:
                        return True
            except OSError:
                pass  # it has ended
        user.read(0.05)
    return False


def has_none(program, boot, state):
    """At the prompt and in a command, with and without the sandbox."""
    for words in ((), ("--no-sandbox",), ("--json",)):
        with terminal(program, ["-q", *words, boot.dump], state) as user:
            user.expect(PROMPT, "start")
            check_equal(terminals(user.pid), [], f"terminals of who reads the dump, {words}")
            check(len(terminals(children(user.pid)[0])) >= 3, "the helper has no terminal")
            user.type(b"\x04")
            check_equal(user.end(), 0, "exit status")
    with terminal(program, ["-q", "-c", "ps | cat; echo here; sleep 1000", boot.dump], state) as user:
        user.expect(b"here", "the program")
        check(runs(user, "sleep"), "no sleep runs")
        check_equal(terminals(user.pid), [], "terminals while a program runs")
        user.type(b"\x03")
        user.end()


def keeps_order(program, boot, state):
    """Output, messages and programs, as they come."""
    lines = ("print 11", "nosuchcommand", "print 22 | cat", "!echo 33", "print nosuch", "print 44", "print 55 > /dev/tty", "print 66")
    words = [word for line in lines for word in ("-c", line)]
    with terminal(program, ["-q", "--color=never", *words, boot.dump], state) as user:
        while user.read(SECONDS):
            pass
        check_equal(user.end(), 1, "exit status")
        shown = re.findall(rb"\b(11|22|33|44|55|66|nosuchcommand|nosuch)\b", user.seen)
        check_equal(b" ".join(shown), b"11 nosuchcommand 22 33 nosuch 44 55 66", "the order")


def is_whole(program, boot, state):
    """What a pipe gets, a terminal gets to the byte."""
    for command in ("log", "sym -l", "ps | cat", "modules --csv"):
        wanted = program.text(boot.dump, command)
        with terminal(program, ["-q", "--color=never", "-c", command, boot.dump], state) as user:
            while user.read(SECONDS):
                pass
            check_equal(user.end(), 0, "exit status")
            shown = PROGRESS.sub(b"", user.seen).replace(b"\r\n", b"\n").decode()
            check(shown == wanted, f"{command} on a terminal is another text: {len(shown)} for {len(wanted)} characters")


def gone(user, pids):
    """Whether the processes end soon."""
    end = time.monotonic() + SECONDS
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < end:
        user.read(0.05)
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def reader_dies_busy(program, boot, state):
    """Killed with output on its way: that is shown, the modes are as before, and the user is told."""
    with terminal(program, ["-q", boot.dump], state, through=PLAIN_SHELL, PAGER="cat") as user:
        before = termios.tcgetattr(user.fd)
        user.expect(PROMPT, "start")
        user.type(b"sym -l\r")
        user.expect(b"\n", "echo")
        user.expect(b"\n", "the first line")
        reader = children(user.pid)[0]
        helper = children(reader)[0]
        time.sleep(0.3)  # nothing is read here: the pipe fills
        os.kill(reader, signal.SIGKILL)
        user.expect(b"the process that reads the dump has ended", "a word of its end")
        check(gone(user, [helper]), "the helper goes on")
        check_equal(termios.tcgetattr(user.fd), before, "the terminal's modes")


def all_are_ended(program, boot, state):
    """What ends both processes at once, as pkill does, leaves the terminal as it was."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        with terminal(program, ["-q", boot.dump], state, through=PLAIN_SHELL) as user:
            before = termios.tcgetattr(user.fd)
            user.expect(PROMPT, "start")
            reader = children(user.pid)[0]
            helper = children(reader)[0]
            os.kill(helper, number)
            os.kill(reader, number)
            check(gone(user, (reader, helper)), f"{number.name}: one of them goes on")
            check_equal(termios.tcgetattr(user.fd), before, f"{number.name}: the terminal's modes")


def helper_dies_busy(program, boot, state):
    """The helper is killed: who reads the dump ends with its next output."""
    with terminal(program, ["-q", boot.dump], state, PAGER="cat") as user:
        user.expect(PROMPT, "start")
        user.type(b"sym -l\r")
        user.expect(b"\n", "echo")
        user.expect(b"\n", "the first line")
        os.kill(children(user.pid)[0], signal.SIGKILL)
        check(user.end() in (-signal.SIGPIPE, -signal.SIGKILL), "it went on, or ended well")


def output_is_left(program, boot, state):
    """`| head`: the end by SIGPIPE is nothing to be told of."""
    # Python's children ignore the signal.
    through = ("env", "--default-signal=PIPE", "sh", "-c", '"$0" "$@" | head -n 1; sleep 0.5; echo behind')
    with terminal(program, ["-q", "-c", "sym -l", boot.dump], state, through=through) as user:
        while user.read(SECONDS):
            pass
        check_equal(user.end(), 0, "exit status")
        check(b"behind" in user.seen and b"unexpectedly" not in user.seen, f"words of its end: {user.seen!r}")


def has_few_files(program, boot, state):
    """Where next to no files may be open, it works or says that it cannot."""
    for count, words in ((8, b"the helper process: Too many open files"), (20, b"(int)42")):
        through = ("sh", "-c", f'ulimit -n {count}; "$0" "$@"')
        with terminal(program, ["-q", "-c", "print 42", boot.dump], state, through=through) as user:
            user.expect(words, f"{count} files")
            user.end()


def run(session):
    boot = Boot(kernel_names()[-1], "boot1")
    state = os.path.join(session.program.scratch, "state")
    for name, test in (("no terminal for who reads the dump", has_none), ("order", keeps_order),
                       ("all of it", is_whole), ("the reader is killed with output on its way", reader_dies_busy),
                       ("both are ended", all_are_ended),
                       ("few files", has_few_files),
                       ("the output is left", output_is_left),
                       ("the helper is killed with output on its way", helper_dies_busy)):
        with session.case(name):
            test(session.program, boot, state)
