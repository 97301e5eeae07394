# SPDX-License-Identifier: GPL-3.0-or-later
"""The prompt as a person has it: tmux types and looks at the screen."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time

from lib import Boot, check, check_equal, kernel_names, shorten, tool

SECONDS = 60
PROMPT = "btfcrash>"


class Screen:
    """A terminal with the program in it; what is asked for is waited for, however long the
    machine takes."""

    def __init__(self, program, arguments, folder, width=100, height=30, **more):
        self.socket = os.path.join(folder, "tmux")
        self.folder = folder
        environment = program.environment(XDG_STATE_HOME=os.path.join(folder, "state"),
                                          XDG_CONFIG_HOME=os.path.join(folder, "config"), **more)
        environment.pop("TERM")
        environment.pop("TMUX", None)
        environment.pop("NO_COLOR", None)
        environment.setdefault("PAGER", "less -RFX")
        if environment["PAGER"] == "none":
            environment["PAGER"] = ""
        # The status stays on the screen when the program has left; Ctrl-C is not for this shell.
        script = 'trap : INT; "$0" "$@"; echo "status $?"; exec cat'
        tool("less")
        subprocess.run([tool("tmux"), "-S", self.socket, "-f", "/dev/null", "new-session", "-d",
                        "-x", str(width), "-y", str(height),
                        "sh", "-c", script, program.path, *arguments],
                       env=environment, check=True)

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")

    def lines(self, *options):
        """The lines of the screen without the empty ones at its end."""
        return self.tmux("capture-pane", "-p", *options).rstrip("\n").split("\n")

    def wait(self, condition, what):
        """Waits until a condition of the screen's lines holds; returns the lines."""
        end = time.monotonic() + SECONDS
        while True:
            lines = self.lines()
            if condition(lines):
                return lines
            check(time.monotonic() < end, f"{what}: {shorten(' | '.join(lines[-8:]), 400)}")
            time.sleep(0.05)

    def at_prompt(self, what):
        """Waits for an empty prompt in the last line."""
        return self.wait(lambda lines: lines[-1].strip() == PROMPT, what)

    def leave_pager(self, what):
        """Types q; less drops what is typed while it handles a signal, so perhaps once more."""
        for _ in range(3):
            self.keys("q")
            end = time.monotonic() + SECONDS / 3
            while time.monotonic() < end:
                if self.lines()[-1].strip() == PROMPT:
                    return
                time.sleep(0.05)
        self.at_prompt(what)

    def expect(self, pattern, what):
        """Waits for a line that the pattern matches."""
        return self.wait(lambda lines: any(re.search(pattern, line) for line in lines), what)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, line):
        """Clears the screen, runs a line, and returns what it showed when the prompt is back."""
        self.clear()
        self.type(line)
        self.expect(re.escape(line[-30:]), f"echo of {line}")
        self.keys("Enter")
        lines = self.wait(lambda lines: lines[-1].strip() == PROMPT and len(lines) > 1, line)
        return lines[1:-1]

    def clear(self):
        self.keys("C-e", "C-u", "C-l")
        self.wait(lambda lines: len(lines) == 1 and lines[0].strip() == PROMPT, "Ctrl-L")

    def leave(self):
        self.keys("C-d")
        self.expect(r"^status 0$", "Ctrl-D")

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False,
                       stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def screen(session, boot, **options):
    folder = tempfile.mkdtemp(prefix="btfcrash-tmux.")
    arguments = options.pop("arguments", ["-q"])
    prepare = options.pop("prepare", None)
    if prepare:
        prepare(folder)
    opened = Screen(session.program, [*arguments, boot.dump], folder, **options)
    try:
        opened.wait(lambda lines: lines[-1].strip() == PROMPT, "the first prompt")
        yield opened
    finally:
        opened.close()
        shutil.rmtree(folder, ignore_errors=True)


# What TAB makes of a line: (typed, the line then) or (typed, a word of the list then).
COMPLETED = [
    ("hel", "help "),
    ("print init_task.start_ti", "print init_task.start_time "),
    ("print init_task.se.vrun", "print init_task.se.vruntime "),
    ("print (init_task.mm)->mmap_ba", "print (init_task.mm)->mmap_base "),
    ("print ((struct task_struct *)&init_task)->tg", "print ((struct task_struct *)&init_task)->tgid "),
    ("print sizeof(struct list_hea", "print sizeof(struct list_head "),
    ("print init_uts_n", "print init_uts_ns "),
    ("print runqueues:0.nr_runn", "print runqueues:0.nr_running "),
    ("struct task_struct.se.vrun", "struct task_struct.se.vruntime "),
    ("ps kthrea", "ps kthreadd "),
    ("mod virtio_bl", "mod virtio_blk "),
    ("help pipi", "help piping "),
    ("ps --sta", "ps --state "),
    ("ps | pri", "ps | print "),
    ("sql SELECT * FROM vmall", "sql SELECT * FROM vmallocs "),
    ("sql SELECT pid, switc", "sql SELECT pid, switches "),
    ("sql SELECT t.preem FROM tasks t WHERE t.preem", "sql SELECT t.preem FROM tasks t WHERE t.preemptions "),
    ("foreach user reg", "foreach user registers "),
    ("foreach 1 print init_task.start_ti", "foreach 1 print init_task.start_time "),
    ("log > /etc/hostna", "log > /etc/hostname "),
]


def completes(session, boot):
    with screen(session, boot) as user:
        for typed, wanted in COMPLETED:
            user.clear()
            user.type(typed)
            user.expect(re.escape(typed) + "$", "echo")
            user.keys("Tab")
            # A blank after the word is not to be seen: what is typed next shows it.
            user.type("#")
            user.expect("^" + re.escape(f"{PROMPT} {wanted}") + "[a-z_]*#$", f"TAB after {typed}")
            user.keys("C-u")
        # Several: the common part, then the list.
        user.clear()
        user.type("print init_task.co")
        user.keys("Tab")
        lines = user.expect(r"\bcomm\b", "TAB after init_task.co")
        check(any("compat_robust_list" in line for line in lines), f"no second word: {lines}")
        user.type("m")
        user.expect(f"^{PROMPT} print init_task.comm$", "the word goes on")
        user.keys("Enter")
        user.expect(r'"swapper/0"', "the completed expression")
        # Nothing fits: the line stays.
        user.clear()
        user.type("print init_task.nonesuch")
        user.keys("Tab")
        user.type("#")
        user.expect(f"^{PROMPT} print init_task.nonesuch#$", "TAB without a word")


def remembers(session, boot):
    with screen(session, boot) as user:
        user.run("print 1111 + 2222")
        user.run("print 5 * 5")
        user.run("print 1111 + 2222")
        user.clear()
        user.keys("Up", "Up")
        user.expect(rf"^{PROMPT} print 5 \* 5$", "two lines up")
        user.keys("C-c")  # back to the end of the history
        user.at_prompt("Ctrl-C")
        user.keys("C-r")
        user.type("2222")
        user.expect(r"2222.*print 1111 \+ 2222", "Ctrl-R")
        user.keys("Enter")
        user.expect(r"\b3333$", "the line that was found")
        user.leave()
        path = os.path.join(user.folder, "state", "btfcrash", "history")
        with open(path) as file:
            lines = file.read().splitlines()
        check_equal(lines.count("print 1111 + 2222"), 1, "times that a line is kept")
        check_equal(os.stat(path).st_mode & 0o777, 0o600, "rights on the history")


def interrupts(session, boot):
    with screen(session, boot, PAGER="none") as user:
        user.clear()
        user.type("print *(unsigned long (*)[4000000])&init_task")
        user.keys("Enter")
        user.wait(lambda lines: PROMPT not in lines[-1] and len(lines) >= 29, "a screen full of it")
        user.keys("C-c")
        lines = user.at_prompt("Ctrl-C during print")
        check("interrupted" in " ".join(lines[-4:]), f"no word of it: {lines[-4:]}")
        check_equal(user.run("print 40 + 2")[-1], "(int)42", "what follows")
        user.clear()
        user.type("sym -l | sleep 1000")
        user.keys("Enter")
        user.expect("sleep 1000$", "echo")
        time.sleep(0.2)  # so that it is likely to sleep already; either way it must end
        user.keys("C-c")
        user.at_prompt("Ctrl-C while a program sleeps")
        user.clear()
        user.type("half a li")
        user.expect("half a li$", "echo")
        user.keys("C-c")
        user.at_prompt("Ctrl-C drops a line")
        user.leave()


def pages(session, boot):
    with screen(session, boot, height=20) as user:
        user.clear()
        user.type("sym -l")
        user.keys("Enter")
        user.wait(lambda lines: lines[-1].strip() == ":", "the pager's prompt")
        user.keys("Space")
        user.wait(lambda lines: lines[-1].strip() == ":", "the next page")
        user.keys("q")
        lines = user.at_prompt("q in the pager")
        check(not any("btfcrash:" in line for line in lines), f"an error after q: {lines[-3:]}")
        check_equal(user.run("print 40 + 2"), ["(int)42"], "short output, which is not paged")
        user.type("ps")
        user.keys("Enter")
        user.wait(lambda lines: lines[-1].strip() == ":", "the pager again")
        user.keys("C-c")
        user.leave_pager("Ctrl-C and q in the pager")
        user.leave()
    with screen(session, boot, height=20, PAGER="none") as user:
        check("swapper" not in " ".join(user.run("ps")), "paged although PAGER is empty")


def pipes(session, boot):
    with screen(session, boot) as user:
        count = len(session.program.result(boot.dump, "ps"))
        check_equal(user.run("ps | grep -c '[0-9]'"), [str(count)], "ps through grep")
        check_equal(user.run("ps 1 | print ->comm"), ['(char [16])"init"'], "an address pipe")
        check_equal(len(user.run("sym -l | head -3")), 3, "lines of sym -l | head -3")
        out = os.path.join(user.folder, "out")
        check_equal(user.run(f"ps > {out}"), [], "what ps > FILE shows")
        with open(out) as file:
            check_equal(len(file.readlines()), count + 1, "lines of the file")
        check("\x1b" not in open(out).read(), "colours in a file")
        check_equal(user.run("!echo from the shell"), ["from the shell"], "a shell command")


def resizes(session, boot):
    with screen(session, boot, width=100, height=30) as user:
        user.tmux("resize-window", "-x", "50", "-y", "15")
        user.type("ps")
        user.keys("Enter")
        user.wait(lambda lines: lines[-1].strip() == ":" and len(lines) <= 15,
                  "the pager in the smaller window")
        user.keys("q")
        user.at_prompt("q")
        user.tmux("resize-window", "-x", "120", "-y", "40")
        user.clear()
        line = "print " + " + ".join(["1"] * 24)
        user.type(line)
        user.expect(re.escape(f"{PROMPT} {line}") + "$", "a long line is in one piece")
        user.keys("Enter")
        user.expect(r"^\(int\)24$", "its value")


def starts(session, boot):
    def write_rc(folder):
        os.makedirs(os.path.join(folder, "config", "btfcrash"))
        with open(os.path.join(folder, "config", "btfcrash", "rc"), "w") as file:
            file.write("# mine\nalias answer = print 40 + 2  # the usual\n\nnonesuch\n")

    with screen(session, boot, prepare=write_rc) as user:
        lines = user.lines()
        check(any(re.search(r"/rc:4: no command \"nonesuch\"", line.replace("\n", ""))
                  for line in ["".join(lines)]), f"no file and line in {lines}")
        check_equal(user.run("answer"), ["(int)42"], "an alias")
        check_equal(user.run("answer * 10"), ["(int)60"], "an alias and more")
    with screen(session, boot, prepare=write_rc, arguments=["-q", "--no-rc"]) as user:
        check("no command" in " ".join(user.run("answer")), "the rc ran in spite of --no-rc")


def colors(session, boot):
    def shown(**options):
        with screen(session, boot, **options) as user:
            user.run("ps 1")
            return "\n".join(user.lines("-e"))
    check("\x1b[1m" in shown(), "no bold heading")
    check("\x1b[1m" not in shown(arguments=["-q", "--color=never"]), "colours with --color=never")
    plain = session.program.run(["-q", "--color=always", "-c", "ps 1", boot.dump], status=0)
    check(b"\x1b[1m" in plain.out, "no colours with --color=always")
    plain = session.program.run(["-q", "-c", "ps 1", boot.dump], status=0)
    check(b"\x1b" not in plain.out, "colours in a pipe")


def run(session):
    boot = Boot(kernel_names()[-1], "boot1")
    for name, test in (("completion", completes), ("history", remembers), ("Ctrl-C", interrupts),
                       ("pager", pages), ("pipes and files", pipes), ("resize", resizes),
                       ("rc and aliases", starts), ("colours", colors)):
        with session.case(name):
            test(session, boot)
