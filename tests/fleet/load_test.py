#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet/schema.sql and fleet/load, with a PostgreSQL that the test starts: once, nothing twice, no bad line stops it."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FLEET = os.path.join(os.path.dirname(os.path.dirname(HERE)), "fleet")
RECORD = {
    "schema": "btfcrash-record", "version": 1, "program": "1.2.3", "time": "2026-11-24T07:58:30Z", "uptime": 5,
    "kernel": {"release": "6.1", "version": None, "machine": None, "build_id": "00"},
    "host": {"name": "h", "boot_id": None, "hardware": "box", "cpus": 1, "cpus_online": 1, "memory": 0},
    "kind": "bug", "sure": "certain", "summary": None, "signature": "1 bug a/b", "blamed": ["a", "b"], "panic": None,
    "findings": [], "task": None, "taints": None, "modules": [], "memory": None,
    "stack": [{"function": name, "offset": 1, "module": None, "found": "orc"} for name in ("p", "a.cold", "b", "c_noprof", "d")],
    "waiting": [{"kind": "mutex", "function": "f", "caller": None, "tasks": 3, "longest_ms": 1}],
    "dump": {"format": "ELF", "level": None, "size": 1, "kdump": True, "live": False, "problems": []},
    "source": {"path": "/d", "size": 1, "mtime": "2026-11-24T08:00:00.000000000Z"}, "error": None, "identity": "crash-0"}


def shell(command):
    script = f'set -eu; folder="$1"; . "{HERE}/servers.sh"; find_postgres || exit 77; {command}'
    return subprocess.run(["sh", "-c", script, "sh", FOLDER.name], capture_output=True, text=True, check=False)


def setUpModule():
    done = shell('start_postgres >&2; echo "$PGHOST"')
    if done.returncode == 77:
        raise unittest.SkipTest("PostgreSQL is not installed")
    assert done.returncode == 0, done.stderr
    os.environ.update(PGHOST=done.stdout.strip(), PGUSER="postgres", PGDATABASE="postgres", PGPORT="5432")


def tearDownModule():
    shell("stop_postgres")
    FOLDER.cleanup()


def sql(question):
    done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", question], capture_output=True, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def made(number=0, **changes):
    record = copy.deepcopy(RECORD)
    record["identity"] = f"crash-{number}"
    record["source"]["path"] = f"/d{number}"
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = record
        for folder in folders:
            place = place[folder]
        place[name] = value
    return record


class Load(unittest.TestCase):
    def setUp(self):
        schema = os.path.join(FLEET, "schema.sql")
        subprocess.run(["psql", "-Xq", "-c", "DROP SCHEMA IF EXISTS fleet CASCADE", "-f", schema], capture_output=True, check=True)

    def load(self, *lines, arguments=()):
        path = os.path.join(FOLDER.name, "lines")
        with open(path, "wb") as file:
            for line in lines:
                file.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        done = subprocess.run([os.path.join(FLEET, "load"), path, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.split(": ", 2)[2].strip()

    def test_once(self):
        lines = [made(number) for number in range(5)]
        self.assertEqual(self.load(*lines, *lines), "5 new, 0 better than before, 0 bad dumps, 0 bad lines")
        self.assertEqual(self.load(*lines), "0 new, 0 better than before, 0 bad dumps, 0 bad lines")
        self.assertEqual(sql("SELECT count(*), frames FROM fleet.record GROUP BY frames"), [["5", "{a,b,c,d}"]])

    def test_the_better_one(self):
        whole, filtered, newer = made(dump__level=0), made(dump__level=31), made(dump__level=31, program="1.10.0")
        holed = made(dump__level=0, dump__problems=["no notes"], program="1.10.0")
        for lines, kept in (([filtered, whole], ["0", "1.2.3"]), ([whole, filtered], ["0", "1.2.3"]),
                            ([newer, whole], ["0", "1.2.3"]), ([whole, newer], ["0", "1.2.3"]),
                            ([filtered, newer], ["31", "1.10.0"]), ([newer, filtered], ["31", "1.10.0"]),
                            ([holed, filtered], ["31", "1.2.3"]), ([filtered, holed], ["31", "1.2.3"])):
            self.setUp()
            for line in lines:
                self.load(line)
            self.assertEqual(sql("SELECT doc#>>'{dump,level}', doc->>'program' FROM fleet.record"), [kept])

    def test_bad_lines(self):
        half = json.dumps(made(panic="X")).replace('"X"', '"\\ud800"').encode()
        nul = json.dumps(made(panic="X")).replace('"X"', '"\\u0000"').encode()
        bad = [b"", b"{", b"[]", b"\xff\0", b"[" * 100000, b"\\.", half, nul, made(uptime=1 << 70), made(version=2), made(stack=[3]),
               made(time="yesterday"), made(memory={"kinds": [{"kind": "x", "bytes": "y"}], "total": 1}), made(uptime=float("nan"))]
        said = self.load(made(1), *bad, made(2))
        self.assertEqual(said, f"2 new, 0 better than before, 0 bad dumps, {len(bad)} bad lines")
        self.assertEqual(sql("SELECT count(*) FROM fleet.bad_line"), [[str(len(bad))]])
        for view in ("frame", "module", "waiting", "memory"):
            sql(f"SELECT * FROM fleet.{view}")

    def test_hostile_text_stays_text(self):
        name = "\"'; DROP TABLE fleet.record; --\n\\.\n\\N,{}\\"
        self.load(made(signature=name, host__name=name, blamed=[name], stack=[]))
        self.assertEqual(sql("SELECT signature = host, frames[1] = split_part(host, '.', 1) FROM fleet.record"), [["t", "t"]])

    def test_bad_dumps(self):
        bad = {key: made()[key] for key in ("schema", "version", "source")}
        bad |= {"identity": "file-1", "error": {"kind": "timeout", "message": "m"}}
        self.load(bad)
        self.assertEqual(sql("SELECT path, kind, message FROM fleet.bad_dump"), [["/d0", "timeout", "m"]])
        self.load(bad, made())
        self.assertEqual(sql("SELECT count(*) FROM fleet.bad_dump"), [["0"]])
        self.load(bad)
        self.assertEqual(sql("SELECT count(*) FROM fleet.bad_dump"), [["0"]])

    def test_server_restarts(self):
        lines = [made(number) for number in range(3000)]
        again = []

        def restart():
            for _ in range(3):
                time.sleep(0.7)
                again.append(shell("restart_postgres stop; sleep 0.5; restart_postgres").stderr)
        thread = threading.Thread(target=restart)
        thread.start()
        try:
            self.load(*lines, arguments=["--batch", "50"])
        finally:
            thread.join()
        self.assertEqual(len(again), 3)
        self.assertEqual(sql("SELECT count(*), count(DISTINCT identity) FROM fleet.record"), [["3000", "3000"]])

    def test_regressions(self):
        lines = [made(number, kernel__release="6.1" if number < 50 else "6.2",
                      signature="1 bug a/b" if number < 50 or number >= 80 else "1 bug new") for number in range(100)]
        self.load(*lines)
        rows = sql("SELECT signature, older_crashes, newer_crashes, confidence > 0.99 FROM fleet.regressions('6.1', '6.2')")
        self.assertEqual(rows, [["1 bug new", "0", "30", "t"], ["1 bug a/b", "50", "20", "f"]])
        # 10 throws, 8 or more heads: 56 of 1024.
        self.assertEqual(sql("SELECT round(fleet.binomial_tail(8, 10, 0.5)::numeric, 9)"), [["0.054687500"]])

    def test_alike(self):
        def crash(number, kind, *names):
            stack = [{"function": name, "offset": 1, "module": None, "found": "orc"} for name in names]
            return made(number, kind=kind, blamed=list(names[:4]), signature=f"1 {kind} {'/'.join(names[:4])}", stack=stack)
        self.load(crash(1, "bug", *"abcdefgh"), crash(2, "bug", *"abxcdefg"), crash(3, "bug", *"bcdefghi"),
                  crash(4, "null", *"abcdefgh"), crash(5, "bug", *"yzcdefgh"))
        rows = sql("SELECT cluster, count(*) FROM fleet.clusters() GROUP BY 1 ORDER BY 2 DESC, 1")
        self.assertEqual(rows, [["1 bug a/b/c/d", "3"], ["1 bug y/z/c/d", "1"], ["1 null a/b/c/d", "1"]])
        # Without its innermost function it is another, or was cut: not when it only ends sooner.
        self.load(crash(6, "stall", *"pq"), crash(7, "stall", *"qrs"), crash(8, "stall", *"oqrs"), crash(9, "stall", *"qtu"),
                  crash(10, "stall", *"nqrstuvwx"))
        rows = sql("SELECT cluster, count(*) FROM fleet.clusters() WHERE signature LIKE '1 stall %' GROUP BY 1 ORDER BY 2 DESC, 1")
        self.assertEqual(rows, [["1 stall o/q/r/s", "2"], ["1 stall n/q/r/s", "1"], ["1 stall p/q", "1"], ["1 stall q/t/u", "1"]])


FOLDER = tempfile.TemporaryDirectory(prefix="fleet-")

if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
