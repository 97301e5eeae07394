# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs at work within limits: of time, memory, and what they say and write."""

import argparse
import ctypes
import itertools
import os
import re
import resource
import selectors
import signal
import subprocess
import time

READ_SIZE = 1 << 16
ERRORS_SIZE = 1 << 16   # the end of what is said
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def size(text):
    """Of a word of the command line."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: a size is a number, or one with K, M or G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def read_words(path):
    with open(path, encoding="ascii") as file:
        return file.read().split()


class Group:
    """A memory cgroup for one child at a time: what the kernel counts, and not only what the process asks for."""

    def __init__(self, path, memory):
        self.path, self.memory, self.kills = path, memory, 0
        os.mkdir(path)
        try:
            self.is_first = os.path.exists(path + "/memory.limit_in_bytes")
            write(path + ("/memory.limit_in_bytes" if self.is_first else "/memory.max"), memory)
            # Swap is no way out, and with a process go those that it started.
            for name, value in (("memory.memsw.limit_in_bytes", memory), ("memory.swap.max", 0), ("memory.oom.group", 1)):
                if os.path.exists(f"{path}/{name}"):
                    write(f"{path}/{name}", value)
        except BaseException:
            self.remove()
            raise

    def enter(self):
        write(self.path + "/cgroup.procs", os.getpid())

    def count_kills(self):
        """How many processes in it the kernel has killed for want of memory."""
        try:
            words = read_words(self.path + ("/memory.oom_control" if self.is_first else "/memory.events"))
            return int(words[words.index("oom_kill") + 1])
        except (OSError, ValueError):   # the first version did not count before Linux 4.13
            return 0

    def is_empty(self):
        """After what is left in it was killed; a process that waits for a disk does not end by that."""
        for _ in range(50):
            left = read_words(self.path + "/cgroup.procs")
            if not left:
                return True
            for process in left:
                try:
                    os.kill(int(process), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        return False

    def remove(self):
        try:
            self.is_empty()
            os.rmdir(self.path)
        except OSError:
            pass


class Groups:
    """One for each child that may be at work, below the worker's cgroup: of the first version, or of the second where
    that was delegated or is root's. They are used again, for a cgroup that was removed stays in the kernel's memory
    until the last page of a file that was read in it has gone."""

    def __init__(self, count, memory):
        self.memory = memory
        self.left = None    # where the worker was
        self.numbers = itertools.count()
        self.all, self.free = [], []
        try:
            self.parent = self.find_parent()
            self.remove_old()
            for _ in range(count):
                self.make()
        except BaseException:   # it may be stopped meanwhile
            self.remove()
            raise

    def find_parent(self):
        """Where cgroups for children may be made; the second version wants no process beside them."""
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(":", 2) for line in file]
        for _, controllers, path in rows:
            if "memory" in controllers.split(","):
                return "/sys/fs/cgroup/memory" + path.rstrip("/")
        own = "/sys/fs/cgroup" + next(path.rstrip("/") for number, _, path in rows if number == "0")
        if "memory" not in read_words(own + "/cgroup.subtree_control"):
            if "memory" not in read_words(own + "/cgroup.controllers"):
                raise OSError(None, f"{own} has no control of memory")
            os.makedirs(own + "/collect", exist_ok=True)
            self.left = own
            try:
                write(own + "/collect/cgroup.procs", os.getpid())
                write(own + "/cgroup.subtree_control", "+memory")
            except OSError:
                self.go_back()
                raise
        return own

    def go_back(self):
        """All is as it was found, unless another worker needs it now."""
        try:
            if [entry.name for entry in os.scandir(self.left) if entry.is_dir()] == ["collect"]:
                write(self.left + "/cgroup.subtree_control", "-memory")
                write(self.left + "/cgroup.procs", os.getpid())
                os.rmdir(self.left + "/collect")
        except OSError:
            pass

    def remove_old(self):
        """What a worker that was killed has left."""
        for name in os.listdir(self.parent):
            found = re.fullmatch(r"dump-(\d+)-\d+", name)
            if found and (int(found[1]) == os.getpid() or not os.path.exists(f"/proc/{found[1]}")):
                try:
                    os.rmdir(os.path.join(self.parent, name))
                except OSError:
                    pass

    def make(self):
        group = Group(f"{self.parent}/dump-{os.getpid()}-{next(self.numbers)}", self.memory)
        self.all.append(group)
        self.free.append(group)

    def take(self):
        """None where there is none any more: better than to stop."""
        if not self.free:
            return None
        group = self.free.pop()
        group.kills = group.count_kills()
        return group

    def give_back(self, group):
        try:
            if group.is_empty():
                self.free.append(group)
            else:
                self.make()
        except OSError as error:
            print(f"collect: a memory cgroup less: {error}", file=sys.stderr)

    def remove(self):
        for group in self.all:
            group.remove()
        if self.left:
            self.go_back()


def lower(limit, value):
    """To value, unless it is lower already."""
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def limit_child(memory, written, group):
    """In the child: it dies with the worker, and before it where memory is short."""
    if group:
        try:
            group.enter()
        except OSError as error:
            os.write(2, f"not in its cgroup: {error}\n".encode())
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_DATA, memory)
    if written is not None:
        lower(resource.RLIMIT_FSIZE, written)
    try:
        write("/proc/self/oom_score_adj", 1000)
    except OSError:
        pass


class Process:
    """One that somebody waits for with a selector, whose data it is."""

    def __init__(self, command, selector, *, timeout, memory, output, written=None, group=None, folder=None):
        """timeout: seconds; memory, output (to the pipe), written (to each file): bytes. group: a Group to be in."""
        self.selector, self.group = selector, group
        self.timeout, self.output, self.written = timeout, output, written
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True, cwd=folder, preexec_fn=lambda: limit_child(memory, written, group))
        self.deadline = time.monotonic() + timeout
        self.texts = {self.process.stdout: bytearray(), self.process.stderr: bytearray()}
        self.open = len(self.texts)
        self.why = None     # it was killed: (kind, message)
        for pipe in self.texts:
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, self)

    def read(self, pipe):
        data = pipe.read(READ_SIZE)
        if not data:
            self.selector.unregister(pipe)
            self.open -= 1
            return
        text = self.texts[pipe]
        if pipe is self.process.stderr:
            text += data
            del text[:-ERRORS_SIZE]
        elif len(text) + len(data) > self.output:
            self.kill("size", f"the output is larger than {self.output} bytes")
        else:
            text += data

    def look_at_clock(self):
        if self.open and self.deadline <= time.monotonic():
            self.kill("timeout", f"not done after {self.timeout:g} s")

    def kill(self, kind, message):
        self.why = self.why or (kind, message)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for pipe in self.texts:
            if pipe in self.selector.get_map():
                self.selector.unregister(pipe)
        self.open = 0

    def end(self):
        """Its status, output (bytes), and what it said of errors, when nothing is open any more."""
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:   # it waits for a disk, and not even SIGKILL ends that
            status = None
            self.kill("timeout", "it closed its output and did not end")
        output, errors = map(bytes, self.texts.values())
        for pipe in self.texts:
            pipe.close()
        return status, output, errors.decode("utf-8", "replace").strip()

    def failure(self, status, errors):
        """(kind, message) of a bad end; None: it was a good one."""
        if self.why:
            return self.why
        if not status:
            return None
        if self.group and self.group.count_kills() > self.group.kills:
            return "memory", f"killed by the kernel for want of memory; its cgroup may have {self.group.memory} bytes"
        if status == -signal.SIGXFSZ:
            return "size", f"a file that it wrote is larger than {self.written} bytes"
        if status == -signal.SIGKILL:
            return "killed", "SIGKILL, as the kernel does where memory is short"
        if status < 0:
            return "signal", f"signal {-status}: {errors}"
        if re.search(r"out of memory\W*$", errors, re.IGNORECASE):
            return "memory", errors
        return "status", errors or f"exit status {status}"


def wait_for(processes, selector):
    """Until something happens to one of them; those that have closed their output, or were killed, are at their end."""
    nearest = min(process.deadline for process in processes)
    for key, _ in selector.select(max(0, nearest - time.monotonic())):
        if key.data.open:
            key.data.read(key.fileobj)
    for process in processes:
        process.look_at_clock()
    return [process for process in processes if not process.open]
