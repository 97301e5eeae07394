#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet/collect: bad dumps, killed workers, a full disk: nothing lost, nothing twice.

The program is a stand-in that answers what the name of the dump says; tests/fleet/servers has the real one.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLLECT = os.path.join(ROOT, "fleet", "collect")
SHORT = "10"    # seconds: the stand-in takes a tenth of one, on a busy machine several
STUB = """#!/usr/bin/env python3
import json, os, sys, time
name = os.path.basename(sys.argv[-1])
with open(os.path.join(os.path.dirname(sys.argv[0]), "read"), "a", errors="replace") as file:
    file.write(name + "\\n")
if name.startswith("hang"):
    time.sleep(1000)
if name.startswith("slow"):
    time.sleep(0.3)
if name.startswith("big"):
    sys.stdout.write("x" * 10000000)
if name.startswith("kill"):
    os.kill(os.getpid(), 9)
if name.startswith("worker"):
    os.kill(os.getppid(), 9)
    time.sleep(1000)
if name.startswith("memory"):
    try:
        bytearray(1 << 28)
    except MemoryError:
        sys.exit("btfcrash: out of memory")
if name.startswith("stays"):
    # It outlives its parent, and neither the group of processes nor a pipe leads to it.
    if os.fork() == 0:
        os.setsid()
        with open(os.path.join(os.path.dirname(sys.argv[0]), "stayed"), "w") as file:
            file.write(str(os.getpid()))
        os.dup2(os.open("/dev/null", os.O_RDWR), 1)
        os.dup2(1, 2)
        time.sleep(100)
        os._exit(0)
if name.startswith("helper") and os.fork() > 0:
    sys.exit(os.wait()[1] and "btfcrash: its helper is gone")
if name.startswith(("eat", "helper")):
    # What RLIMIT_DATA does not count.
    import mmap
    memory = mmap.mmap(-1, 1 << 28)
    for _ in range(1 << 8):
        memory.write(b"x" * (1 << 20))
if name.startswith("bad"):
    sys.exit("btfcrash: " + sys.argv[-1] + ": not a dump")
if name.startswith("text"):
    print("[]")
    sys.exit()
same, said = (text.encode("utf-8", "backslashreplace").decode() for text in (name.split(".")[0], sys.argv[-1]))
print(json.dumps({"schema": "btfcrash-record", "version": 1, "program": "1.2.3", "time": "2026-11-24T07:58:30Z", "uptime": 5,
                  "kernel": {"release": "6.1", "version": None, "machine": None, "build_id": "00"},
                  "host": {"name": "host-" + same, "boot_id": None, "hardware": None, "cpus": 1, "cpus_online": 1, "memory": 0},
                  "kind": None, "sure": None, "summary": None, "signature": None, "blamed": [], "panic": None, "findings": [],
                  "task": None, "stack": [], "taints": None, "modules": [], "waiting": None, "memory": None,
                  "dump": {"format": "ELF", "level": None, "size": 1, "kdump": True, "live": False, "problems": [said]}}))
"""


def is_running(number):
    """Not one that has ended and that nobody has asked about."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Collect(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fleet-")
        self.addCleanup(self.folder.cleanup)
        self.program = self.path("program")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(STUB)
        os.chmod(self.program, 0o755)
        self.output = self.path("out.jsonl")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def dumps(self, *names):
        for name in names:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(name)
        return [self.path(name) for name in names]

    def command(self, *arguments):
        return [COLLECT, "--program", self.program, "-o", self.output, *arguments]

    def collect(self, *arguments, status=0, **more):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def lines(self):
        with open(self.output, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def read(self):
        """The dumps that the program was started on."""
        with open(self.path("read"), encoding="utf-8") as file:
            return sorted(file.read().split())

    def test_bad_dumps_are_records(self):
        dumps = self.dumps("good", "hang", "big", "kill", "bad", "text", "memory", "last")
        self.collect("-j3", "--timeout", SHORT, "--memory", "128M", *dumps, self.path("none"))
        found = {os.path.basename(line["source"]["path"]): line["error"] for line in self.lines()}
        kinds = {name: error and error["kind"] for name, error in found.items()}
        self.assertEqual(kinds, {"good": None, "last": None, "hang": "timeout", "big": "size", "kill": "killed",
                                 "bad": "status", "text": "output", "memory": "memory", "none": "unreadable"})
        self.assertIn("not a dump", found["bad"]["message"])
        for line in self.lines():
            self.assertEqual((line["schema"], line["version"]), ("btfcrash-record", 1))

    def test_records_that_are_made_already(self):
        record = json.loads(subprocess.run([self.program, self.dumps("dump")[0]], capture_output=True, check=True).stdout)
        os.unlink(self.path("read"))
        named = {**record, "task": {"comm": "alice", "pid": 1, "cpu": 0, "state": "R"}, "panic": "host-dump", "summary": "alice",
                 "findings": [{"kind": "bug", "sure": "certain", "summary": "alice"}], "log": [{"us": 1, "text": "alice"}]}
        texts = {"record.json": json.dumps(record), "torn.json": json.dumps(record)[:-1], "vmcore.json": "{}",
                 "named.json": json.dumps(named), "other.json": json.dumps({**record, "owner": "alice"})}
        for name, text in texts.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        names = [self.path(name) for name in texts] + self.dumps("dump")
        self.collect(*names)
        self.assertEqual(self.read(), ["dump", "vmcore.json"])
        found = {os.path.basename(line["source"]["path"]): line for line in self.lines()}
        self.assertEqual(found["torn.json"]["error"]["kind"], "output")
        self.assertEqual(found["record.json"]["identity"], found["dump"]["identity"])
        with open(self.path("key"), "w", encoding="utf-8") as file:
            file.write("k" * 32)
        self.assertEqual(found["other.json"]["error"], {"kind": "output", "message": "not a record: it has a key that no record has there"})
        os.unlink(self.output)
        self.collect("--anonymous", "--hash-hosts", self.path("key"), *names[:1], *names[3:5])
        self.assertEqual([line["error"] and line["error"]["kind"] for line in self.lines()], [None, None, "output"])
        for name in ("host-dump", "alice"):
            self.assertNotIn(name, json.dumps(self.lines()))

    def test_goes_on_where_it_was(self):
        dumps = self.dumps("a", "bad", "c")
        self.collect(*dumps[:2])
        self.collect(*dumps, *dumps)
        self.assertEqual(self.read(), ["a", "bad", "c"])
        self.collect("--retry", *dumps)
        self.assertEqual(self.read(), ["a", "bad", "bad", "c"])
        with open(dumps[0], "a", encoding="utf-8") as file:
            file.write("more")
        self.collect(*dumps)
        self.assertEqual(self.read(), ["a", "a", "bad", "bad", "c"])

    def test_torn_last_line(self):
        dumps = self.dumps("a", "b")
        self.collect(*dumps)
        os.truncate(self.output, os.path.getsize(self.output) - 7)
        self.assertIn("torn", self.collect(*dumps))
        self.assertEqual([os.path.basename(line["source"]["path"]) for line in self.lines()], ["a", "b"])
        self.assertEqual(self.read(), ["a", "b", "b"])

    def test_killed_workers(self):
        dumps = self.dumps(*(f"slow{number}" for number in range(12)))
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen(self.command("-j2", *dumps), stderr=subprocess.DEVNULL) as worker:
                time.sleep(1)
                worker.send_signal(number)
        self.collect("-j2", *dumps)
        paths = [line["source"]["path"] for line in self.lines()]
        self.assertEqual(sorted(paths), sorted(dumps))
        self.assertFalse(os.path.exists(self.output + ".tries"))

    def test_a_dump_that_kills_the_worker(self):
        dumps = self.dumps("a", "worker", "z")
        for _ in range(3):
            self.collect(*dumps, status=-signal.SIGKILL)
        self.collect(*dumps)
        self.assertEqual([line["error"] and line["error"]["kind"] for line in self.lines()], [None, "worker", None])

    def with_cgroups(self, *arguments):
        """What the worker said, and its number; where there are no memory cgroups, the test is skipped."""
        alone = self.cgroup_of_its_own()
        command = self.command("--cgroup", "always", "--memory", "96M", *arguments)
        if alone:
            command = ["sh", "-c", f'echo $$ >{alone}/cgroup.procs && exec "$@"', "sh", *command]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
            said = worker.communicate()[1]
        if alone:   # it is as it was
            self.assertEqual([entry.name for entry in os.scandir(alone) if entry.is_dir()], [], said)
            with open(alone + "/cgroup.subtree_control", encoding="ascii") as file:
                self.assertEqual(file.read().strip(), "")
        if "no memory cgroup can be made" in said:
            self.assertEqual(worker.returncode, 2)
            self.skipTest(said.strip())
        self.assertEqual(worker.returncode, 0, said)
        return said, worker.pid

    def cgroup_of_its_own(self):
        """As root and where they are of the second version: one in which the worker is alone, as where one was delegated."""
        path = f"/sys/fs/cgroup/fleet-test-{os.getpid()}"
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers") and os.access("/sys/fs/cgroup/cgroup.procs", os.W_OK):
            os.mkdir(path)
            self.addCleanup(os.rmdir, path)
            return path
        return None

    def kinds(self):
        return {os.path.basename(line["source"]["path"]): line["error"] and line["error"]["kind"] for line in self.lines()}

    @staticmethod
    def groups(number):
        """The cgroups that this worker has left."""
        return [name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith(f"dump-{number}-")]

    def test_cgroup(self):
        said, number = self.with_cgroups(*self.dumps("a", "eat", "b", "helper", "stays", "kill", "z"))
        self.assertEqual(self.kinds(), {"a": None, "eat": "memory", "b": None, "helper": "memory", "stays": None,
                                        "kill": "killed", "z": None}, said)
        self.assertNotIn("a memory cgroup less", said)
        self.assertFalse(self.groups(number))
        with open(self.path("stayed"), encoding="ascii") as file:
            self.assertFalse(is_running(file.read()))

    def test_cgroups_of_a_killed_worker(self):
        tried = subprocess.run(self.command("--cgroup", "always", *self.dumps("a")), capture_output=True, text=True, check=False)
        if tried.returncode == 2:   # of the second version a worker must be alone
            self.skipTest(tried.stderr.strip())
        with subprocess.Popen(self.command("--cgroup", "always", "-j3", *self.dumps("worker")), stderr=subprocess.DEVNULL) as worker:
            self.assertEqual(worker.wait(), -signal.SIGKILL)
        self.assertEqual(len(self.groups(worker.pid)), 3)
        self.collect("--cgroup", "always", *self.dumps("b"))
        self.assertFalse(self.groups(worker.pid))

    def test_cgroup_where_one_can_be_made(self):
        said = self.collect("--memory", "96M", *self.dumps("eat", "z"))
        self.assertEqual(self.kinds(), {"eat": None if "no memory cgroup can be made" in said else "memory", "z": None}, said)
        os.unlink(self.output)
        self.assertNotIn("cgroup", self.collect("--cgroup", "never", "--memory", "96M", *self.dumps("eat", "z")))
        self.assertEqual(self.kinds(), {"eat": None, "z": None})

    def test_without_cgroups(self):
        # Nothing can be made where all is read-only.
        command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro none /sys/fs/cgroup && exec "$@"', "sh"]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no mounts of its own")
        dumps = self.dumps("memory", "z")
        for when, status, kinds in (("always", 2, None), ("auto", 0, {"memory": "memory", "z": None})):
            done = subprocess.run([*command, *self.command("--cgroup", when, "--memory", "128M", *dumps)], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("no memory cgroup can be made", done.stderr)
            if kinds:
                self.assertEqual(self.kinds(), kinds)

    def test_one_worker_a_file(self):
        dumps = self.dumps("hang")
        with subprocess.Popen(self.command("--timeout", "1000", *dumps), stderr=subprocess.DEVNULL) as first:
            while not os.path.exists(self.path("read")):    # on a busy machine it takes a while to begin
                time.sleep(0.05)
            self.assertIn("another worker", self.collect(*dumps, status=3))
            first.terminate()

    def test_full_disk(self):
        # A limit of the file's size stands in where no file system can be mounted: write() fails in the same way.
        dumps = self.dumps("a", "b", "c", "d")
        self.collect(*dumps[:2])
        size = os.path.getsize(self.output) + 100
        limited = ["sh", "-c", f'trap "" XFSZ; exec prlimit --fsize={size} "$@"', "sh", *self.command(*dumps)]
        done = subprocess.run(limited, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("2 lines that it has stay", done.stderr)
        self.assertEqual(len(self.lines()), 2)
        self.collect(*dumps)
        self.assertEqual(len({line["identity"] for line in self.lines()}), 4)

    def test_shards(self):
        dumps = self.dumps(*"abcdefg")
        for index in range(3):
            self.collect("--shard", f"{index}/3", *dumps)
        self.assertEqual(self.read(), list("abcdefg"))
        for more in ({"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_COUNT": "3"},
                     {"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "3"}):
            self.output = self.path(f"out{len(more)}")
            self.collect(*dumps, env={**os.environ, **more})
            self.assertEqual([line["source"]["path"][-1] for line in self.lines()], ["b", "e"])
        self.collect(*dumps, status=2, env={**os.environ, "JOB_COMPLETION_INDEX": "1"})

    def test_names_of_any_bytes(self):
        name = os.fsencode(self.path("a\nb")) + b"\xff"
        with open(name, "wb") as file:
            file.write(b"x")
        self.collect("-0", input=os.fsdecode(name + b"\0"), errors="surrogateescape")
        self.assertIsNone(self.lines()[0]["error"])
        self.assertTrue(self.lines()[0]["source"]["path"].endswith("a\nb\\xff"))

    def test_names_that_read_alike(self):
        """Of one size and time, so that the name alone tells them apart."""
        names = [os.fsencode(self.path("v")) + end for end in (b"\\xff", b"\xff", b"\\\\xff", b"\\\xff", b"\\", b"\\\\", b"\\x", b"\\\\x")]
        for name in names:
            with open(name, "wb") as file:
                file.write(b"x")
            os.utime(name, (1, 1))
        self.collect("-0", input=os.fsdecode(b"\0".join(names)), errors="surrogateescape")
        self.assertEqual(len({line["source"]["path"] for line in self.lines()}), len(names))

    def test_tries_that_are_a_link(self):
        with open(self.path("other"), "w", encoding="utf-8") as file:
            file.write("of another")
        os.symlink(self.path("other"), self.output + ".tries")
        self.collect(*self.dumps("a"), status=3)
        with open(self.path("other"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "of another")

    def test_no_names(self):
        with open(self.path("key"), "w", encoding="utf-8") as file:
            file.write("0123456789abcdef")
        dumps = self.dumps("zebra.elf", "zebra.kdump", "bad-zebra", "hang-zebra")
        hashed = ["--hash-hosts", self.path("key")]
        self.collect("--timeout", SHORT, *hashed, *dumps)
        with open(self.output, encoding="utf-8") as file:
            self.assertNotIn("zebra", file.read())
        self.collect("--timeout", SHORT, *hashed, *dumps)
        self.assertEqual(len(self.read()), 4)
        self.collect("--anonymous", *dumps, status=2)

    def test_one_crash_in_two_files(self):
        self.collect(*self.dumps("one.elf", "one.kdump", "two.elf"))
        names = [line["identity"] for line in self.lines()]
        self.assertEqual((names[0] == names[1], names[0] == names[2]), (True, False))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
