#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet/schema.sql and fleet/load, with a PostgreSQL that the test starts: once, nothing twice, no bad line stops it."""

import copy
import json
import os
import random
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import database  # noqa: E402
import hostile  # noqa: E402
from database import FLEET, FOLDER, shell, sql  # noqa: E402

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


setUpModule, tearDownModule = database.start, database.stop


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
        database.make_schema()

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

    def test_long_texts(self):
        """An index has no room for these; what is cut is said, and doc has it."""
        name, path = hostile.noise(random.Random(1), 5000), "/" + hostile.noise(random.Random(2), 3899)
        lines = [made(1, signature=name, kernel__release=name, host__name=name, source__path=path, blamed=[name], stack=[]),
                 made(2, signature=name, source__path=path), made(3, signature=name[:-1]), made(4)]
        bad = {key: made(5, source__path=path)[key] for key in ("schema", "version", "source")}
        bad |= {"identity": "file-1", "error": {"kind": "timeout", "message": name * 10}}
        said = self.load(*lines, bad, {**bad, "source": made(6)["source"]})
        self.assertEqual(said, "4 new, 0 better than before, 1 bad dumps, 0 bad lines; columns of 5 were cut (fleet.cut)")
        self.assertEqual(sql("SELECT max(octet_length(signature)), count(DISTINCT signature), max(octet_length(release)) FROM fleet.record"),
                         [["2048", "3", "512"]])
        self.assertEqual(sql("""SELECT doc->>'signature' = doc#>>'{kernel,release}', length(doc->>'signature') FROM fleet.record
                                WHERE identity = 'crash-1'"""), [["t", "5000"]])
        self.assertEqual(sql('SELECT identity, string_agg(what, \',\') FROM fleet.cut GROUP BY 1 ORDER BY 1'),
                         [["crash-1", "frames,host,release,signature"], ["crash-2", "signature"], ["crash-3", "signature"]])

    def test_many_waits(self):
        rows = [{**RECORD["waiting"][0], "function": f"f{number:05d}"} for number in range(30000)]
        self.load(made(1, waiting=rows), made(2, waiting=rows[:100]), made(3, waiting=rows[50:52]))
        self.assertEqual(sql("SELECT identity, cardinality(waits), cut FROM fleet.record ORDER BY 1"),
                         [["crash-1", "64", "{waits}"], ["crash-2", "64", "{waits}"], ["crash-3", "2", "{}"]])
        # The two that all three have are among the 32 of each; the others are in two.
        self.assertEqual(sql("SELECT count(*), max(crashes), max(lift) FROM fleet.hang_together"), [[str(32 * 31 // 2), "3", "1.5"]])
        self.assertEqual(sql("SELECT identity, what FROM fleet.cut ORDER BY 1, 2"),
                         [["crash-1", "hang_together"], ["crash-1", "waits"], ["crash-2", "hang_together"], ["crash-2", "waits"]])
        self.assertEqual(sql("SELECT count(*) FROM fleet.waiting"), [["30102"]])

    def test_what_the_server_refuses(self):
        """A line of which nobody foresaw that it is bad takes none of the others with it."""
        sql("ALTER TABLE fleet.record ADD CHECK (host <> 'odd')")
        lines = [made(number, host__name="odd" if number in (7, 8, 30) else "h") for number in range(40)]
        self.assertEqual(self.load(*lines), "37 new, 0 better than before, 0 bad dumps, 3 bad lines")
        self.assertEqual(sql("SELECT number FROM fleet.bad_line WHERE reason LIKE '%23514%' ORDER BY 1"), [["8"], ["9"], ["31"]])

    def test_files_that_are_none(self):
        os.mkfifo(os.path.join(FOLDER.name, "fifo"))
        done = subprocess.run([os.path.join(FLEET, "load"), "fifo", ".", "none", "/dev/zero"], cwd=FOLDER.name, capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr.count("\n"), "0 lines" in done.stderr), (1, 5, True))

    def test_another_encoding(self):
        sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        os.environ["PGDATABASE"] = "latin"
        try:
            database.make_schema()
            lines = [json.dumps(made(number, panic=text), ensure_ascii=False).encode() for number, text in enumerate(("ä", "漢字", "b"))]
            self.assertEqual(self.load(*lines, b"\xe6\xbc\xa2 is no line"), "2 new, 0 better than before, 0 bad dumps, 2 bad lines")
            self.assertEqual(sql("SELECT count(*) FROM fleet.bad_line WHERE line LIKE '%\\\\u6f22%'"), [["2"]])
        finally:
            os.environ["PGDATABASE"] = "postgres"

    def test_control_characters(self):
        name = os.path.join(FOLDER.name, "\x1b]0;x\x07")
        done = subprocess.run([os.path.join(FLEET, "load"), name], capture_output=True, check=False)
        self.assertNotIn(b"\x1b", done.stderr)

    def test_a_line_without_end(self):
        line = json.dumps(made(1)).encode()
        self.assertEqual(self.load(line + b" " * (40 << 20), made(2)), "1 new, 0 better than before, 0 bad dumps, 1 bad lines")

    def test_earlier_schema(self):
        """Of the version before there was `cut`: what it kept stays."""
        self.load(made(1))
        sql("""ALTER TABLE fleet.record DROP CONSTRAINT record_places, DROP cut CASCADE; DROP INDEX fleet.record_path_digest, fleet.bad_dump_path;
               CREATE INDEX record_path ON fleet.record (path); ALTER TABLE fleet.bad_dump ADD PRIMARY KEY (path);
               UPDATE fleet.record SET waits = (SELECT array_agg('w' || n) FROM generate_series(1, 30000) n)""")
        subprocess.run(["psql", "-Xq", "-f", os.path.join(FLEET, "schema.sql")], capture_output=True, check=True)
        self.assertEqual(self.load(made(1), made(2)), "1 new, 0 better than before, 0 bad dumps, 0 bad lines")
        self.assertEqual(sql("SELECT identity, cardinality(waits), cut FROM fleet.record ORDER BY 1"), [["crash-1", "64", "{waits}"], ["crash-2", "1", "{}"]])

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


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
