# SPDX-License-Identifier: GPL-3.0-or-later
"""What every session test needs: cases, running the program, the guests' truth."""

import contextlib
import functools
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_SECONDS = float(os.environ.get("BTFCRASH_TEST_TIMEOUT", "180"))
# Commands that change what others say.
STATEFUL = re.compile(r"(set|task|thread|t|alias|source|sf|sn|hex|dec|q|quit|live)\b|[#!]|.*\$(?!_)")
SLOW_SECONDS = 5  # of a case, which says how many it took then
BOOT_NAMES = ("boot1", "boot2")
SANITIZER = re.compile(rb"(ERROR: \w+Sanitizer|runtime error:)[^\n]*")
# C0 without newline and tab, DEL, and C1 as UTF-8 has them.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


class Failure(Exception):
    """A case is not fulfilled; the message is one line that says why."""


def shorten(text, limit=300):
    """One line of at most `limit` characters."""
    text = " | ".join(str(text).strip().splitlines())
    return text if len(text) <= limit else text[:limit] + "..."


def check(condition, why):
    """Fails with `why` unless the condition holds."""
    if not condition:
        raise Failure(why)


def check_equal(got, wanted, what):
    """Fails unless two values are equal."""
    if got != wanted:
        raise Failure(f"{what} is {shorten(repr(got), 120)}, not {shorten(repr(wanted), 120)}")


def check_lines(got, wanted, what):
    """Fails with the first element in which two lists differ."""
    for number, (ours, theirs) in enumerate(zip(got, wanted), 1):
        if ours != theirs:
            raise Failure(f"{what} {number} is {shorten(repr(ours), 120)}, "
                          f"not {shorten(repr(theirs), 120)}")
    if len(got) != len(wanted):
        longer, word = (got, "too many") if len(got) > len(wanted) else (wanted, "too few")
        extra = longer[min(len(got), len(wanted))]
        raise Failure(f"{what}s: {len(got)}, not {len(wanted)}: {word}, from "
                      f"{shorten(repr(extra), 120)} on")


def tool(name):
    """The path of a program that a test needs: one that is missing is a gap in the lists."""
    # Some of Debian's lie in /usr/sbin, which a user's PATH may lack.
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    check(path, f"{name} is not installed, and no list in tests/packages names its package")
    return path


def processor_of_children():
    """Seconds of processor that all programs took which have ended: what else a machine does
    changes them less than the time by the clock."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Running the program


class Result:
    """What a run of the program left behind; `seconds` are by the clock."""

    def __init__(self, status, out, err, seconds, processor=None):
        self.status = status
        self.out = out
        self.err = err
        self.seconds = seconds
        self.processor = processor  # seconds of it

    @property
    def text(self):
        return self.out.decode("utf-8", "backslashreplace")

    @property
    def errors(self):
        return self.err.decode("utf-8", "backslashreplace")

    @property
    def lines(self):
        return self.text.splitlines()

    def objects(self):
        """The JSON objects of the lines of the output."""
        return [parse_json(line) for line in self.out.splitlines()]


def unique(pairs):
    """The table of a JSON object, of which there may be a million."""
    table = dict(pairs)
    if len(table) != len(pairs):
        raise Failure("JSON object with a key twice: " + " ".join(key for key, _ in pairs)[:100])
    return table


UNIQUE = json.JSONDecoder(object_pairs_hook=unique)


def parse_json(line):
    """One line of JSON, whose every object names each key once."""
    try:
        return UNIQUE.decode(line.decode("utf-8"))
    except ValueError as error:
        raise Failure(f"not JSON ({error}): {shorten(line[:200])}") from None


def sanitizer_report(err):
    """What was found and in which functions, of a sanitizer's page of text."""
    report = SANITIZER.search(err)
    if not report:
        return ""
    frames = re.findall(r"^ *#\d+ \S+ in (\S+) \S*?([^/\s]+:\d+)",
                        err[report.end():].decode("utf-8", "replace"), re.MULTILINE)
    before = err[:report.start()].decode("utf-8", "replace").splitlines()[-1:]
    where = " < ".join(f"{name} {line}" for name, line in frames[:5])
    return " ".join([*before, report.group(0).decode("utf-8", "replace"), where]).strip()


class Kept:
    """A process that answers one command after the other."""

    def __init__(self, program, dump):
        self.process = subprocess.Popen([program.path, "-q", "--json", "--json-integers=exact", "-i", "-", dump],
                                        env=program.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)
        self.seen = bytearray()

    def answer(self, command, timeout):
        """The line of JSON that it answers with."""
        shown = shorten(f"btfcrash -i -: {command}", 160)
        self.process.stdin.write(command.encode() + b"\n")
        end, pieces = time.monotonic() + timeout, [bytes(self.seen)]
        self.seen.clear()
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            check(ready, f"more than {timeout:.0f} s: {shown}")
            pieces.append(os.read(self.process.stdout.fileno(), 1 << 20))
            if not pieces[-1]:
                raise Failure(f"it ended, status {self.process.wait(10)}: {shown}")
        line, _, rest = b"".join(pieces).partition(b"\n")
        self.seen += rest
        return line

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Program:
    """The program under test."""

    def __init__(self, build):
        self.path = os.path.join(os.path.abspath(build), "btfcrash")
        self.scratch = None  # set by the runner: a folder for files of the tests
        self.cache = None  # for results; None: neither those of the user nor any other
        self.is_sanitized = self.contains(b"__asan_init")
        self.keeps = False  # set by the runner: result() may ask a process that answered others before
        self.kept = {}

    def contains(self, word):
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            return word in file.read()
        return False

    def environment(self, **more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("BTFCRASH")}
        # Below /dev/null not even root makes a folder.
        environment.update(LC_ALL="C.UTF-8", TERM="dumb",
                           XDG_CACHE_HOME=self.cache or "/dev/null/cache", **more)
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=1:exitcode=99")
        return environment

    def run(self, arguments, stdin=b"", timeout=TIMEOUT_SECONDS, status=None):
        """Runs it.  A signal, a sanitizer's report, or another exit status than
        the one that is wanted is a failure."""
        arguments = [os.fspath(argument) for argument in arguments]
        shown = shorten(" ".join(["btfcrash", *arguments]), 160)
        started, processor = time.monotonic(), processor_of_children()
        try:
            done = subprocess.run([self.path, *arguments], input=stdin, timeout=timeout,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.environment())
        except FileNotFoundError:
            raise Failure(f"no program {self.path}") from None
        except subprocess.TimeoutExpired:
            raise Failure(f"more than {timeout:.0f} s: {shown}") from None
        result = Result(done.returncode, done.stdout, done.stderr, time.monotonic() - started,
                        processor_of_children() - processor)
        check(not SANITIZER.search(result.err), f"{sanitizer_report(result.err)}: {shown}")
        if result.status < 0:
            raise Failure(f"killed by {signal.Signals(-result.status).name}: {shown}")
        if status is not None and result.status != status:
            raise Failure(f"exit status {result.status}, not {status}: {shown}: "
                          f"{shorten(result.errors or result.text, 200)}")
        return result

    def text(self, dump, command, **options):
        """The text of one command that has to succeed."""
        options.setdefault("status", 0)
        return self.run(["-q", "-c", command, *files_of(dump)], **options).text

    def answers(self, dump, commands, status=None, **options):
        """The JSON objects of commands, checked to be one line each; all integers are numbers."""
        arguments = ["-q", "--json", "--json-integers=exact"]
        for command in commands:
            arguments += ["-c", command]
        result = self.run([*arguments, *files_of(dump)], status=status, **options)
        check(result.status != 2, f"exit status 2: {shorten(result.errors)}")
        answers = result.objects()
        check_equal(len(answers), len(commands), "number of answers")
        for command, answer in zip(commands, answers):
            check_equal(answer.get("command"), command, "command of the answer")
            check("ok" in answer and ("result" in answer or "error" in answer),
                  f"{command}: neither result nor error")
        return answers

    def result(self, dump, command, **options):
        """The result of one command that has to succeed."""
        if self.may_keep(dump, command, options):
            answer = self.answer_of_kept(dump, command, **options)
        else:
            answer, = self.answers(dump, [command], status=0, **options)
        check(answer["ok"], f"{command}: {answer.get('error')}")
        return answer["result"]

    def may_keep(self, dump, command, options):
        """Of dumps that no test changes, and for one line that changes nothing for others."""
        return (self.keeps and not self.is_sanitized and not self.cache and set(options) <= {"timeout"} and isinstance(dump, str) and
                dump.startswith(cache_folder() + os.sep) and not STATEFUL.match(command) and
                command == command.strip() and command.isprintable())

    def answer_of_kept(self, dump, command, timeout=TIMEOUT_SECONDS):
        """The answer of a process that stays; the two that were asked last do."""
        key = self.path, dump
        kept = self.kept.pop(key, None) or Kept(self, dump)
        try:
            answer = parse_json(kept.answer(command, timeout))
            check_equal(answer.get("command"), command, "command of the answer")
        except BaseException:
            kept.close()
            raise
        self.kept[key] = kept
        while len(self.kept) > 2:
            self.kept.pop(next(iter(self.kept))).close()
        return answer

    def close(self):
        """Ends the processes that were kept."""
        while self.kept:
            self.kept.popitem()[1].close()

    def value(self, dump, expression, **options):
        """The value of `print EXPRESSION`."""
        return value_of(self.result(dump, "print " + expression, **options))


def value_of(printed):
    """The value in the result of print; with several instances, the list of them."""
    if isinstance(printed, list):
        return [value_of(one) for one in printed]
    return printed["value"]


def files_of(dump):
    """A dump is one path or the list of its parts."""
    return [dump] if isinstance(dump, str) else list(dump)


# Cases


class Session:
    """Runs cases and counts what became of them."""

    def __init__(self, program, output=print):
        self.program = program
        self.output = output
        self.passed = self.skipped = 0
        self.failures = []
        self.group = ""

    @property
    def failed(self):
        return len(self.failures)

    def fail(self, line):
        self.failures.append(line)
        self.output("FAIL " + line)

    @contextlib.contextmanager
    def case(self, name):
        """One case: passes unless its body raises."""
        name = f"{self.group}: {name}"
        notes, started = [], time.monotonic()
        try:
            yield notes
        except Failure as failure:
            self.fail(f"{name}: {shorten(failure, 500)}")
        except Exception as error:  # a broken test is a failed test
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.fail(f"{name}: {type(error).__name__}: {shorten(error)} "
                      f"({os.path.basename(where.filename)}:{where.lineno})")
        else:
            self.passed += 1
            seconds = time.monotonic() - started
            if seconds >= SLOW_SECONDS:
                notes.append(f"{seconds:.0f} s")
            self.output(f"ok {name}" + (f" ({'; '.join(notes)})" if notes else ""))

    def cases(self, boot, cases):
        """A case of each (name, function(program, boot, notes))."""
        for name, function in cases:
            with self.case(f"{boot.label}: {name}") as notes:
                function(self.program, boot, notes)

    def skip(self, name, reason):
        self.skipped += 1
        self.output(f"SKIP {self.group}: {name}: {shorten(reason)}")


def summary(passed, failures, skipped):
    """What failed once more, where a log is read first; the last line is what tests/tally reads."""
    lines = "".join(f"failed: {line}\n" for line in failures)
    return f"{lines}{passed} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else "")


# Real dumps


def cache_folder():
    return os.path.abspath(os.environ.get("BTFCRASH_CACHE")
                           or os.path.join(ROOT, "testdata", "cache"))


def kernel_lines():
    """The words of each line of testdata/kernels."""
    with open(os.path.join(ROOT, "testdata", "kernels")) as file:
        lines = [line.split("#")[0].split() for line in file]
    return [words for words in lines if words]


def kernel_names():
    """The kernels to test on: those of BTFCRASH_TEST_KERNELS (words), or the
    names in testdata/kernels that are not optional."""
    asked = os.environ.get("BTFCRASH_TEST_KERNELS", "").split()
    names = [words[0] for words in kernel_lines()
             if (words[0] in asked if asked else "optional" not in words)]
    unknown = set(asked) - set(names)
    check(not unknown, f"testdata/kernels has no {' '.join(unknown)}")
    return names


def boots(names=BOOT_NAMES):
    """Every boot of every kernel, whether it is there or not."""
    return [Boot(kernel, name) for kernel in kernel_names() for name in names]


def boots_of_most(session, name):
    """A boot that make-dumps leaves out of optional kernels unless it is asked for: of these only where it is there."""
    optional = [words[0] for words in kernel_lines() if "optional" in words]
    for boot in boots((name,)):
        if boot.kernel in optional and not os.path.isdir(boot.folder):
            session.skip(boot.label, "no such boot in the cache")
        else:
            yield boot


class Boot:
    """One crashed guest: its dumps, its console and what it said of itself."""

    def __init__(self, kernel, name):
        self.kernel = kernel
        self.folder = os.path.join(cache_folder(), kernel, name)
        self.label = f"{kernel} {name}"

    @classmethod
    def of_folder(cls, kernel, folder, label):
        """A boot that lies elsewhere than in the cache."""
        boot = cls(kernel, "")
        boot.folder, boot.label = folder, label
        return boot

    def path(self, *parts):
        path = os.path.join(self.folder, *parts)
        check(os.path.exists(path), f"missing: {path} (make dumps)")
        return path

    @property
    def dump(self):
        return self.path("vmcore.elf")

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8", errors="surrogateescape") as file:
            return file.read()

    def truth(self, *parts):
        return self.read("truth", *parts)

    @functools.cached_property
    def release(self):
        return self.truth("version").split()[2]

    @functools.cached_property
    def console(self):
        """The lines of the serial console, from the first of the kernel on."""
        text = self.read("serial.log").replace("\r\n", "\n")
        lines = text.split("\n")
        while lines and not re.match(r"\[ *\d+\.\d+\] ", lines[0]):
            del lines[0]
        return lines

    @functools.cached_property
    def symbols(self):
        """/proc/kallsyms: (address, letter, name, module), in its order."""
        symbols = []
        for line in self.truth("kallsyms").splitlines():
            words = line.split()
            module = words[3].strip("[]") if len(words) > 3 else ""
            symbols.append((int(words[0], 16), words[1], words[2], module))
        return symbols

    @functools.cached_property
    def addresses(self):
        """{(name, module): set of addresses}."""
        table = {}
        for address, _, name, module in self.symbols:
            if (name, module) in table:
                table[name, module].add(address)
            else:
                table[name, module] = {address}
        return table

    def address(self, name):
        """Of a core symbol that is there once."""
        addresses = self.addresses.get((name, ""), set())
        check(len(addresses) == 1, f"truth: {len(addresses)} symbols {name}")
        return next(iter(addresses))

    @functools.cached_property
    def modules(self):
        """/proc/modules: (name, size, address), in its order."""
        lines = [line.split() for line in self.truth("modules").splitlines()]
        return [(words[0], int(words[1]), int(words[5], 16)) for words in lines]

    @functools.cached_property
    def tasks(self):
        """Every thread of the guest by tid, as it was right before the crash."""
        folder = self.path("truth", "tasks")
        tasks = {int(tid): TaskTruth(os.path.join(folder, tid), int(tid))
                 for tid in os.listdir(folder)}
        return {tid: task for tid, task in tasks.items() if task.is_whole}

    @functools.cached_property
    def cpu_count(self):
        return self.truth("cpuinfo").count("processor\t:")


class TaskTruth:
    """What /proc/TID said."""

    def __init__(self, folder, tid):
        self.folder = folder
        self.tid = tid

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    @property
    def is_whole(self):
        """Not of one that ended while it was written down."""
        return all(os.path.exists(os.path.join(self.folder, name))
                   for name in ("comm", "status", "stat", "wchan", "stack", "syscall"))

    @functools.cached_property
    def status(self):
        lines = self.read("status").decode("utf-8", "surrogateescape").splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)

    @property
    def state(self):
        """Its letter; "?" of one that went to sleep or woke up while it was written down."""
        letter = self.status["State"][0]
        # Written down after the status, behind the name, which may hold anything.
        later = self.read("stat").rpartition(b") ")[2][:1].decode()
        return letter if later == letter else "?"

    @property
    def parent(self):
        return int(self.status["PPid"])

    @property
    def group(self):
        return int(self.status["Tgid"])

    @property
    def switches(self):
        """(voluntary, involuntary) context switches: the same numbers later mean
        that the task has not slept or been preempted in between."""
        return (int(self.status["voluntary_ctxt_switches"]),
                int(self.status["nonvoluntary_ctxt_switches"]))

    @functools.cached_property
    def comm(self):
        return self.read("comm").rstrip(b"\n")

    @functools.cached_property
    def stack(self):
        """(name, offset, size, module) of each line, innermost first."""
        return [parse_stack_line(line) for line in
                self.read("stack").decode().splitlines()]


def task_facts(program, dump, addresses, expressions, chunk=200):
    """[{expression: value}] of members of task_structs, in one or few runs."""
    rows = []
    for start in range(0, len(addresses), chunk):
        some = addresses[start:start + chunk]
        commands = [f"print ((struct task_struct *){address})->{expression}"
                    for address in some for expression in expressions]
        answers = iter(program.answers(dump, commands))
        for _ in some:
            row = {}
            for expression in expressions:
                answer = next(answers)
                check(answer["ok"], f"{answer['command']}: {answer.get('error')}")
                row[expression] = value_of(answer["result"])
            rows.append(row)
    return rows


STACK_LINE = re.compile(r"(?:\[<[0-9a-f]+>\] )?([^\s+]+)\+0x([0-9a-f]+)/0x([0-9a-f]+)"
                        r"(?: \[([^\]]+)\])?\s*$")


def parse_stack_line(line):
    """"name+0xOFFSET/0xSIZE [module]" as (name, offset, size, module)."""
    found = STACK_LINE.match(line)
    check(found, f"truth: not a stack line: {line!r}")
    return (found.group(1), int(found.group(2), 16), int(found.group(3), 16),
            (found.group(4) or "").split()[0] if found.group(4) else "")


def escaped(text):
    """Bytes of a dump as the program's text output shows them."""
    out = ""
    for character in text.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if character in "\n\t":
            out += {"\n": "\\n", "\t": "\\t"}[character]
        elif code < 0x20 or code == 0x7f:
            out += f"\\x{code:02x}"
        elif 0xdc80 <= code <= 0xdcff:
            out += f"\\x{code - 0xdc00:02x}"
        else:
            out += character
    return out


def unescaped(text):
    """The bytes of a dump behind the program's text, behind a cell of its CSV or a string of its
    JSON: README's rule backward."""
    def one(match):
        escape = match.group(1)
        if escape[0] == "x":
            return bytes([int(escape[1:], 16)]).decode("utf-8", "surrogateescape")
        if escape[0] == "u":
            return chr(int(escape[2:-1], 16))
        return {"n": "\n", "t": "\t"}.get(escape, escape)
    plain = text if "\\" not in text else re.sub(r"\\([\\nt]|x[0-9a-f]{2}|u\{[0-9a-f]+\})", one, text)
    return plain.encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def scratch_folder(build):
    """A folder on the disk of the build, which is gone afterwards."""
    os.makedirs(build, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="session-", dir=os.path.abspath(build))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy_file(source, target):
    """A copy that shares its blocks where the file system can do that."""
    done = subprocess.run(["cp", "--reflink=auto", "--sparse=auto", source, target],
                          stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, f"cp: {done.stderr}")
    os.chmod(target, 0o644)
