"""One emulated machine: start it, watch it, dump it."""

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import tempfile
import time

from recipe.common import TEMPORARY, RecipeError, locked, read_file

# A boot takes 15 to 40 s; on a slow and busy machine several times as long.
BOOT_SECONDS = 600
SILENT_PART = 4     # of these, without a word before it is ready
DUMP_SECONDS = 300
ATTEMPTS = 5
MEGABYTE = 1 << 20

# A guest that says one of these before it was told to crash met the emulator,
# not us, and is tried again.
SPURIOUS = re.compile(r"^.*(BUG: |Oops|general protection|soft lockup|"
                      r"rcu_sched self-detected|Kernel panic).*$", re.M)

# One emulated machine at a time, whatever worktree or cache asks for it.
MACHINE_LOCK = os.path.join(tempfile.gettempdir(),
                            f"btfcrash-qemu-{os.getuid()}.lock")


PORTS = ("serial", "progress", "capture-serial")


class BootError(RecipeError):
    """The guest did not do what it should; another try may help."""


class Monitor:
    """A connection to QEMU's machine protocol (QMP)."""

    def __init__(self, connection):
        self.socket = connection
        self.pending = b""
        self.events = []
        self.receive(10)
        self.command("qmp_capabilities")

    def receive(self, seconds):
        """The next message, or None when none comes in time."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if not select.select([self.socket], [], [], max(left, 0))[0]:
                return None
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                raise BootError("qemu closed its monitor")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return json.loads(line)

    def command(self, name, seconds=30, **arguments):
        """Executes a command and waits for its answer."""
        message = {"execute": name, "arguments": arguments}
        try:
            self.socket.sendall(json.dumps(message).encode())
        except OSError as error:
            raise BootError(f"qemu: {name}: {error.strerror}") from None
        while True:
            answer = self.receive(seconds)
            if answer is None:
                raise BootError(f"qemu: no answer to {name} in {seconds} s")
            if "event" in answer:
                self.events.append(answer["event"])
            elif "error" in answer:
                raise BootError(f"qemu: {name}: {answer['error']['desc']}")
            else:
                return answer["return"]

    def has_event(self, name):
        """Takes in what has arrived; true if the event was seen."""
        while True:
            answer = self.receive(0)
            if answer is None:
                return name in self.events
            self.events.append(answer.get("event"))


class Machine:
    """A guest whose files live in a scratch directory.

    It has three serial ports, each of which ends in the scratch file of its
    name: the console, the progress of user space, a capture kernel's console.
    """

    def __init__(self, scratch):
        self.scratch = scratch
        self.process = None
        self.monitor = None
        self.deadline = None
        self.seconds = BOOT_SECONDS
        # Else it panics as it should before it could say so.
        self.has_user_space = True
        # It goes on from where it said so.
        self.is_ready = False

    def path(self, name):
        return os.path.join(self.scratch, name)

    def start(self, options, seconds=BOOT_SECONDS):
        """Starts QEMU with these options on top of those of every guest."""
        ours, theirs = socket.socketpair()
        # setpriv: no emulator may outlive us, however we end.
        command = ["setpriv", "--pdeathsig", "KILL",
                   "qemu-system-x86_64", "-nodefaults", "-display", "none",
                   "-no-reboot",
                   "-chardev", f"socket,id=monitor,fd={theirs.fileno()}",
                   "-mon", "chardev=monitor,mode=control"]
        for port in PORTS:
            command += ["-serial", f"file:{self.path(port)}"]
        with theirs, open(self.path("stderr"), "wb") as errors:
            self.process = subprocess.Popen(
                command + options, stdin=subprocess.DEVNULL, stderr=errors,
                pass_fds=[theirs.fileno()])
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        try:
            self.monitor = Monitor(ours)
        except (BootError, OSError):
            self.process.wait(10)
            raise BootError(f"qemu: {self.last_words()}") from None

    def stop(self):
        """Ends QEMU, however it is."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.monitor:
            self.monitor.socket.close()

    def said(self, pattern, port="progress"):
        """True if a serial port has put out what the pattern matches."""
        return (os.path.exists(self.path(port))
                and re.search(pattern, read_file(self.path(port))) is not None)

    def silence(self, port):
        """The seconds since a serial port has put out anything."""
        return time.time() - os.path.getmtime(self.path(port))

    def wait(self, what, condition):
        """Waits until condition() holds; a dead or failing guest ends it."""
        while not condition():
            if self.process.poll() is not None:
                raise BootError(f"qemu ended before {what}: "
                                + self.last_words())
            if time.monotonic() > self.deadline:
                raise BootError(f"no {what} in {self.seconds} s")
            failed = self.find_failure()
            if failed:
                raise BootError(f"before {what}: {failed}")
            time.sleep(0.05)

    def wait_end(self):
        """Waits until the guest has ended its machine by itself."""
        while self.process.poll() is None:
            if time.monotonic() > self.deadline:
                raise BootError(f"not finished in {self.seconds} s")
            time.sleep(0.05)

    def last_words(self):
        lines = read_file(self.path("stderr")).strip().splitlines()
        return lines[-1] if lines else "no message"

    def find_failure(self):
        """The line in which the guest says that it failed, or None."""
        if (not self.has_user_space
                or not os.path.exists(self.path("progress"))):
            return None
        # The console first: the guest may crash, as it should, in between.
        console = read_file(self.path("serial"))
        progress = read_file(self.path("progress"))
        found = re.search(r"guest: failed: .*", progress)
        if found or self.is_ready or "guest: ready" in progress:
            return found[0].strip() if found else None
        found = SPURIOUS.search(console)
        if found:
            return found[0].strip()
        # It may have died without a word: a panic that holds the console.
        silence = min(self.silence("serial"), self.silence("progress"))
        return (f"nothing was said for {silence:.0f} s"
                if silence > self.seconds / SILENT_PART else None)

    def dump(self, path, form):
        """Writes the memory of the (paused) guest to a file."""
        self.monitor.command("dump-guest-memory", DUMP_SECONDS, paging=False,
                             protocol=f"file:{path}", format=form)
        os.chmod(path, 0o644)

    def save_memory(self, path):
        """Writes the bytes of the guest's memory, and no more, to a file."""
        size = self.monitor.command("query-memory-size-summary")["base-memory"]
        self.monitor.command("pmemsave", DUMP_SECONDS, val=0, size=size,
                             filename=path)
        os.chmod(path, 0o644)

    def add_disk(self, name, megabytes, options=None, device="virtio-blk-pci"):
        """Makes an empty disk; returns the options that plug it in."""
        with open(self.path(name), "wb") as file:
            file.truncate(megabytes * MEGABYTE)
        return ["-drive", f"file={self.path(name)},if=none,id={name},"
                "format=raw,cache=unsafe"
                + (f",{options}" if options else ""),
                *(["-device", "virtio-scsi-pci"] if device == "scsi-hd" else []),
                "-device", f"{device},drive={name},serial={name}"]


@contextlib.contextmanager
def machine(parent):
    """A Machine whose scratch directory, below `parent`, is gone afterwards."""
    with locked(MACHINE_LOCK), unlocked_machine(parent) as guest:
        yield guest


@contextlib.contextmanager
def unlocked_machine(parent):
    """The same for who has the lock."""
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=parent) as path:
        guest = Machine(path)
        try:
            yield guest
        finally:
            guest.stop()


def accelerator(attempt):
    """A thread for each CPU; at last one for all, if guests go wrong."""
    threads = "single" if attempt == ATTEMPTS - 1 else "multi"
    return ["-accel", f"tcg,thread={threads}"]


def retry(attempt_once):
    """Calls attempt_once(0), (1), ... until one of them ends well."""
    reasons = []
    for attempt in range(ATTEMPTS):
        try:
            return attempt_once(attempt)
        except BootError as error:
            reasons.append(str(error))
            print(f"attempt {attempt + 1} failed: {error}", flush=True)
    raise RecipeError(f"{ATTEMPTS} boots failed, the last one: {reasons[-1]}")
