# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel crash dumps in Python: opens a dump with the program btfcrash and asks it for objects.

    import btfcrash

    with btfcrash.open("vmcore") as dump:
        for task in dump("ps -s D"):              # any command, as at the prompt
            print(task.pid, task.comm, task.address)
        print(dump.value("init_task.comm"))       # a C expression
        print(dump.print("modules").tier)         # how sure its type is: "inferred"

A command's result is what its JSON says (`help output` in the program; the schemas in
share/btfcrash/schemas say what there is): lists, numbers, strings, None, and objects whose members
are attributes and keys: task.comm, task["mm->map_count"]. Integers are exact. Addresses and
pointers are ints that show as hexadecimal. What the dump does not have is {"error": "why"} in its
place.

A script that says where tasks in state D wait:

    import sys

    import btfcrash

    with btfcrash.open(sys.argv[1]) as dump:
        for stack in dump.rows("stacks -s D"):
            names = ", ".join(f"{task.comm} ({task.pid})" for task in stack.tasks)
            print(f"{stack.get('waits_in') or '?'}: {names}")

Several dumps can be open at a time. Nothing but Python 3.9 and the program is needed. Debian's
package python3-btfcrash puts this file where `import btfcrash` finds it; `make install` into
PREFIX/share/btfcrash/python, to be named in PYTHONPATH, or elsewhere with PYTHON_FOLDER=.
"""

import itertools
import json
import os
import re
import selectors
import subprocess
import tempfile
import threading
import time

__all__ = ["Address", "CommandError", "Dead", "Dump", "Error", "Object", "Timeout", "Value",
           "open", "unescape"]


class Error(Exception):
    """What went wrong, in the program's words; the other exceptions are of this class."""


class CommandError(Error):
    """A command failed. `command` is its line, `advice` what the program says to do (or None),
    `result` what it had found until then (or None)."""

    def __init__(self, command, message, advice=None, result=None):
        super().__init__(message)
        self.command = command
        self.advice = advice
        self.result = result


class Timeout(Error):
    """An answer took too long; the program was ended, the dump is closed."""


class Dead(Error):
    """The program has ended or could not open the dump; the message says why."""


class Address(int):
    """An address or a pointer: an int that shows as hexadecimal.

    >>> Address(4096) + 16, Address(4096)
    (4112, 0x1000)
    """

    __slots__ = ()

    def __repr__(self):
        return hex(self)

    __str__ = __repr__


class Object(dict):
    """An object of JSON; its members are attributes, too, but for those that dict has itself."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no member {name}; there are: {' '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Value(Object):
    """What `print` says: `type`, `value`, `address` if it lies in memory, `origin` of the type."""

    @property
    def tier(self):
        """How sure its type is: "certain", "inferred" or "guess"; None where nothing had to be
        found out, as of a cast. The program's `help whatis` says more."""
        return self.get("confidence")


def unescape(text):
    r"""The bytes of the dump behind a string of a result: what is no UTF-8 stands there as \x9b.

    >>> unescape("a\\x9bc")
    b'a\x9bc'
    """
    def one(match):
        escape = match.group(1)
        if escape[0] == "x":
            return bytes([int(escape[1:], 16)]).decode("utf-8", "surrogateescape")
        if escape[0] == "u":
            return chr(int(escape[2:-1], 16))
        return {"n": "\n", "t": "\t"}.get(escape, escape)
    plain = re.sub(r"\\([\\nt]|x[0-9a-f]{2}|u\{[0-9a-f]+\})", one, text)
    return plain.encode("utf-8", "surrogateescape")


_ADDRESS = re.compile(r"0x[0-9a-f]+\Z")
_NO_ADDRESS = re.compile(r"\\x30(x[0-9a-f]+)\Z", re.IGNORECASE)


def _converted(value):
    """The strings of JSON that are addresses; --json-integers=exact marks those that are none."""
    if isinstance(value, str):
        if _ADDRESS.match(value):
            return Address(value, 16)
        found = _NO_ADDRESS.match(value)
        return "0" + found.group(1) if found else value
    if isinstance(value, list):
        return [_converted(element) for element in value]
    if isinstance(value, dict):
        return Object((key, _converted(member)) for key, member in value.items())
    return value


def _answer(text):
    """An answer of the program; None: it is none."""
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and {"command", "ok"} <= set(answer) else None


class Dump:
    """An open dump; open() makes them. Calling it runs a command."""

    def __init__(self, files, path, options, timeout):
        self._lock = threading.Lock()
        self._numbers = itertools.count(4200000000)
        self._buffer = bytearray()
        self._failure = None  # why there are no more answers
        self._timeout = timeout
        self._errors = tempfile.TemporaryFile()
        command = [path, "-q", *options, "--json", "--json-integers=exact", "-i", "-", "--", *files]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._errors, bufsize=0)
        except OSError as error:
            self._errors.close()
            raise Dead(f"{path}: {error.strerror}") from None
        try:
            self._ask(None, timeout)
        except BaseException:
            self.close()
            raise

    def __call__(self, command, timeout=None):
        """The result of a command line, pipes and all: dump("ps -s D | print {pid, comm}").

        A line may run programs (`| PROGRAM`) and write files (`> FILE`), so a text that came out
        of a dump has no place in it before somebody has looked at it; print() takes such lines.
        None where a command has no result. Raises CommandError when it fails, Timeout after
        `timeout` seconds (without it, those of open()), Dead when the program is gone.
        """
        line = command.strip()
        if not line or line.startswith(("#", "!")) or any(c in line for c in "\n\r\0"):
            raise ValueError(f"not one command of btfcrash: {command!r}")
        answers = self._ask(line, self._timeout if timeout is None else timeout)
        if not answers:
            return None
        answer = answers[-1]
        result = _converted(answer.get("result"))
        if not answer["ok"]:
            raise CommandError(answer["command"], answer["error"], answer.get("advice"), result)
        return result

    def rows(self, command, timeout=None):
        """The rows of a result one by one; a result that is one object is one row."""
        result = self(command, timeout)
        yield from result if isinstance(result, list) else () if result is None else (result,)

    def print(self, expression, timeout=None):
        """A C expression as a Value; of several instances (runqueues:a) a list of them."""
        result = self("print " + expression, timeout)
        return [Value(one) for one in result] if isinstance(result, list) else Value(result)

    def value(self, expression, timeout=None):
        """The value alone: dump.value("init_task.pid") is 0."""
        printed = self.print(expression, timeout)
        return [one.value for one in printed] if isinstance(printed, list) else printed.value

    @property
    def closed(self):
        """Whether the program has ended."""
        return self._process.poll() is not None

    def close(self):
        """Ends the program. Doing so twice is no error."""
        self._failure = self._failure or "by close()"
        # At the end of its input it ends by itself, unless it is busy.
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if hasattr(self, "_process"):
            self.close()

    # Some lines have no answer (`alias x=y > FILE`), some several (`source`): a question whose
    # answer is known stands behind each.
    def _ask(self, line, timeout):
        """The answers to a line."""
        with self._lock:
            if self._failure:
                raise Dead(f"the dump is closed: {self._failure}")
            deadline = None if timeout is None else time.monotonic() + timeout
            last = f"print {next(self._numbers)}"
            try:
                self._write((line + "\n" if line else "") + last + "\n")
                lines = list(iter(lambda: self._line_before(last, deadline), None))
            except BaseException as error:
                # The next answer would be taken for that of another line.
                self._failure = error
                self._process.kill()
                self._process.wait()
                raise
        if None in map(_answer, lines):
            raise Error(f"{line}: what it says is no JSON")
        return [_answer(text) for text in lines]

    def _line_before(self, last, deadline):
        """None: it was the answer to `last`."""
        text = self._read_line(deadline)
        answer = _answer(text)
        return None if answer and answer["command"] == last else text

    def _write(self, text):
        data = text.encode("utf-8", "surrogateescape")
        try:
            while data:
                data = data[self._process.stdin.write(data):]
        except BrokenPipeError:
            raise self._death() from None

    def _read_line(self, deadline):
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            searched = 0
            while True:
                end = self._buffer.find(b"\n", searched)
                if end >= 0:
                    line = bytes(self._buffer[:end])
                    del self._buffer[:end + 1]
                    return line
                searched = len(self._buffer)
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and (left <= 0 or not selector.select(left)):
                    raise Timeout("no answer in time")
                data = os.read(self._process.stdout.fileno(), 1 << 20)
                if not data:
                    raise self._death()
                self._buffer += data

    def _death(self):
        status = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "backslashreplace").strip()
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return Dead(re.sub(r"^btfcrash: ", "", said, flags=re.MULTILINE)
                    or f"the program has ended: {how}")


def open(*files, path="btfcrash", options=(), timeout=None):
    """Opens a dump: a file, or the parts of one that was split. Without files: /proc/vmcore.

    `path`: the program. `options`: more of its command line, such as ["--declare", "FILE"].
    `timeout`: seconds that opening it and each answer may take; None, any number.
    Raises Dead with the program's message when it cannot open the dump.
    """
    return Dump([os.fspath(file) for file in files], os.fspath(path), list(options), timeout)
