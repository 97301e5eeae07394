# SPDX-License-Identifier: GPL-3.0-or-later
"""What mutate and words share: command lines to draw, runs with limits, what may become of them, workers."""

import argparse
import collections
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "session"))

import lib  # noqa: E402

NEVER = ("quit", "source", "alias", "unalias", "set", "help")  # read nothing of a dump
TYPES = ("task_struct", "list_head", "module", "file", "inode", "page", "sk_buff", "maple_tree",
         "bpf_prog", "rq", "super_block", "no_such")
EXPRESSIONS = ("init_task", "*init_task.mm", "modules", "runqueues", "*prb", "jiffies", "$_",
               "init_task.tasks.next->next", "*init_task.children.next", "prog_idr", "*prog_idr",
               "((struct module *)modules.next)[0]", "init_task.comm", "slab_caches", "*current",
               "init_pid_ns", "&init_mm.mm_mt", "__per_cpu_offset", "&runqueues:0", "vmap_area_root")


class Chosen:
    """Command lines that were asked for."""

    def __init__(self, lines):
        self.lines = lines

    def draw(self, generator, _number, _addresses):
        line = generator.choice(self.lines)
        return line.split()[0], line


class Lines:
    """Command lines: the program's own examples, and operands that are drawn."""

    def __init__(self, program, dump):
        names = [row["name"] for row in program.result(dump, "help")]
        self.names = [name for name in names if name not in NEVER]
        pages = program.answers(dump, ["help " + name for name in self.names], status=0)
        self.examples = {name: [self.example(text) for text in page["result"]["examples"]]
                         for name, page in zip(self.names, pages)}
        self.tasks = [row["pid"] for row in program.result(dump, "ps")]
        self.modules = [row["name"] for row in program.result(dump, "mod")]

    @staticmethod
    def example(text):
        """Examples come as text, or as an object with the line."""
        return text if isinstance(text, str) else text.get("line") or next(iter(text.values()))

    def operand(self, generator, addresses):
        return str(generator.choice((
            generator.choice(TYPES), generator.choice(EXPRESSIONS), generator.choice(self.tasks),
            generator.choice(self.modules or [""]), hex(generator.choice(addresses)), "-a", "",
            f"struct {generator.choice(TYPES)} {hex(generator.choice(addresses))}")))

    def draw(self, generator, number, addresses):
        name = self.names[number % len(self.names)]
        if generator.random() < 0.6 and self.examples[name]:
            return name, generator.choice(self.examples[name])
        return name, f"{name} {self.operand(generator, addresses)}".strip()


class Limits:
    """Of a run of a release build: processor time, resident memory, and memory that is no file's, in MiB (0: any). Sanitizers
    cost ten times that, and reserve what they like. Who judges time itself lets a run go on for `patience` times that."""

    patience = 1

    def __init__(self, seconds, megabytes, data=0):
        self.seconds, self.megabytes, self.data = seconds, megabytes, data

    def apply(self, is_sanitized):
        seconds = self.seconds * self.patience * (10 if is_sanitized else 1)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        if not is_sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        if not is_sanitized and self.data:
            resource.setrlimit(resource.RLIMIT_DATA, (self.data << 20, self.data << 20))


class Ended:
    """What a run left behind: wait status, output, messages, resources; for how long it went on after Ctrl-C, in seconds
    of a release build's processor time, None: none was sent."""

    def __init__(self, status, out, err, used, late):
        self.status, self.out, self.err, self.used, self.late = status, out, err, used, late

    @property
    def seconds(self):
        return self.used.ru_utime + self.used.ru_stime

    @property
    def code(self):
        return os.waitstatus_to_exitcode(self.status)


OUTPUT_MAX = 1 << 26  # bytes that are read; more than that is not looked at
BUSY_SECONDS = 0.3  # of processor, after which Ctrl-C comes
INTERRUPTED_SECONDS = 1  # of processor, within which it ends


def processor_seconds(pid):
    """Of a process that runs or waits for its parent to notice that it ended."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(child, seconds):
    """Ctrl-C when it is busy. Returns how long it went on, in seconds of processor; None: it had ended before. One
    that goes on for long is killed."""
    at = None
    while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        used = processor_seconds(child.pid)
        if at is None and used >= BUSY_SECONDS:
            at = used
            child.send_signal(signal.SIGINT)
        elif at is not None and used - at > 10 * seconds:
            child.kill()
        time.sleep(0.01)
    return None if at is None else processor_seconds(child.pid) - at


def run(program, arguments, scratch, limits, interrupts=False, **environment):
    """Runs the program, which gets Ctrl-C while it works if it `interrupts`."""
    with tempfile.TemporaryFile(dir=scratch) as out, tempfile.TemporaryFile(dir=scratch) as err:
        child = subprocess.Popen([program.path, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=program.environment(**environment), cwd=scratch,
                                 preexec_fn=lambda: limits.apply(program.is_sanitized), start_new_session=True)
        timer = threading.Timer(20 * limits.seconds * limits.patience, os.killpg, (child.pid, signal.SIGKILL))
        timer.start()
        scale = 10 if program.is_sanitized else 1
        late = interrupt(child, INTERRUPTED_SECONDS * scale) if interrupts else None
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = status
        out.seek(0)
        err.seek(0)
        return Ended(status, out.read(OUTPUT_MAX), err.read(1 << 22), used,
                     late / scale if late is not None else None)


def judge(program, limits, ended, form):
    """Why it is not what a damaged dump may do; None: it is."""
    status, out, err = ended.status, ended.out, ended.err
    if report := lib.sanitizer_report(err):
        return report
    if ended.late is not None and ended.late > INTERRUPTED_SECONDS:
        return f"goes on for {ended.late:.1f} s after Ctrl-C"
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        # While a dump is opened nothing holds Ctrl-C back.
        if name == "SIGINT" and ended.late is not None:
            return None
        return {"SIGSYS": "a system call that the sandbox forbids", "SIGXCPU": "no end",
                "SIGKILL": "no end"}.get(name, name)
    code = os.WEXITSTATUS(status)
    if code not in (0, 1, 2):
        return f"exit status {code}"
    if not program.is_sanitized and limits.megabytes and ended.used.ru_maxrss >> 10 > limits.megabytes:
        return f"{ended.used.ru_maxrss >> 10} MiB"
    for what, text in (("output", out), ("messages", err)):
        if found := lib.CONTROL.search(text):
            return f"control character {found[0]!r} in the {what}"
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return f"no UTF-8 in the {what}"
    if code and not (out if form == "json" and code == 1 else err):
        return f"exit status {code} without a word"
    if form == "json" and out and code != 2 and len(out) < OUTPUT_MAX:
        try:
            for line in out.splitlines():
                lib.parse_json(line)
        except lib.Failure as failure:
            return str(failure)
    return None


def work(attack, index, results, jobs):
    arguments = attack.arguments
    attack.settle(os.path.join(attack.scratch, str(index)))
    numbers = [arguments.only] if arguments.only is not None else range(
        arguments.first + index, arguments.first + arguments.count, jobs)
    for number in numbers:
        try:
            results.put((number, *attack.attempt(number)))
        except Exception as error:  # a broken tool must not look like a sound program
            results.put((number, "?", "", f"the tool: {error!r}", 0, "?", 0))
    results.put(None)


def collect(attack, arguments, results, jobs):
    failed, commands, kinds, slowest, total = 0, collections.Counter(), {}, [], 0
    while jobs:
        result = results.get()
        if result is None:
            jobs -= 1
            continue
        number, name, what, why, seconds, how, status = result
        commands[name] += 1
        total += seconds
        kinds.setdefault(how, collections.Counter())[status] += 1
        slowest = sorted([*slowest, (seconds, number, what)])[-5:]
        if sum(commands.values()) % 500 == 0:
            print(f"# {sum(commands.values())} done, {failed} failed", file=sys.stderr)
        if why:
            failed += 1
            print(f"FAIL {attack.what} {number} of seed {arguments.seed}: {why}: {what}", flush=True)
    for how in sorted(kinds):
        print(f"{how}: exit statuses {dict(sorted(kinds[how].items()))}")
    for seconds, number, what in slowest:
        print(f"{seconds:.1f} s: {attack.what} {number}, {what}")
    print("commands:", ", ".join(f"{name} {count}" for name, count in sorted(commands.items())))
    done = sum(commands.values())
    print(f"seed {arguments.seed}: {total:.0f} s of processor time, {total / max(1, done):.2f} each")
    print(f"{done - failed} passed, {failed} failed")
    return failed


def parser_of(description):
    """The options of both."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kernel", help="of testdata/kernels; without: the newest")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="processes (2)")
    parser.add_argument("--first", metavar="N", type=int, default=0, help="number of the first")
    parser.add_argument("--only", metavar="N", type=int, help="this one alone")
    parser.add_argument("--boot", metavar="NAME", action="append", help="dumps of this boot alone")
    parser.add_argument("--line", metavar="LINE", action="append", help="draw among these lines")
    parser.add_argument("build", metavar="BUILD_DIR")
    parser.add_argument("count", metavar="COUNT", nargs="?", type=int, default=2000)
    parser.add_argument("seed", metavar="SEED", nargs="?", type=int, default=1)
    return parser


def run_all(kind, arguments):
    """All attempts of a kind of attack; ends the process."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else arguments.build
    jobs = 1 if arguments.only is not None else arguments.jobs
    results = multiprocessing.Queue()
    with tempfile.TemporaryDirectory(prefix=kind.what + "-", dir=base) as scratch:
        attack = kind(arguments, scratch)
        workers = [multiprocessing.Process(target=work, args=(attack, index, results, jobs)) for index in range(jobs)]
        for worker in workers:
            worker.start()
        failed = collect(attack, arguments, results, jobs)
        for worker in workers:
            worker.join()
    sys.exit(1 if failed else 0)
