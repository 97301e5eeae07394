#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad records and bad files through all of fleet/: each is a line, none is lost, no name passes, and no view takes long.

$HOSTILE is how many (2000); $BTFCRASH is the program.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import collected  # noqa: E402
import database  # noqa: E402
import hostile  # noqa: E402
from database import sql  # noqa: E402

COUNT = int(os.environ.get("HOSTILE", "2000"))
SECONDS = 10    # of a view
PROGRAM = os.environ.get("BTFCRASH") or os.path.join(hostile.ROOT, "build", "btfcrash")

setUpModule, tearDownModule = database.start, database.stop


def scratch_folder():
    """Where files may have any time and size, if there is such a place."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def as_line(data, number):
    """As collect would have written it, had it not looked."""
    source = {"path": f"/d{number}", "size": 1, "mtime": "2026-11-24T08:00:00.000000000Z"}
    if b"}" not in data or b"\n" in data.strip():
        return data.replace(b"\n", b" ") + b"\n"
    rest = json.dumps({"source": source, "error": None, "identity": f"crash-{number:x}"}).encode()
    return data.strip()[:-1] + b", " + rest[1:] + b"\n"


class Hostile(unittest.TestCase):
    def setUp(self):
        database.make_schema()
        folder = scratch_folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check_views(self):
        slow = {view: seconds for view, seconds in database.seconds_of_views().items() if seconds >= SECONDS}
        self.assertEqual(slow, {})

    def load(self, lines, folder=None):
        path = os.path.join(folder or self.folder, "to-load")
        with open(path, "wb") as file:
            file.writelines(lines)
        return database.load(path)

    def make_page(self):
        done = subprocess.run([os.path.join(database.FLEET, "page"), "-n", "20", "--reports", "reports", "--timeout", "20"], cwd=self.folder,
                              env={**os.environ, "BTFCRASH": os.path.abspath(PROGRAM)}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertLess(len(done.stdout), 20 * 10000)

    def test_all_the_way(self):
        run = collected.Collected(PROGRAM, self.folder, hostile.make_inputs(self.folder, COUNT))
        self.assertEqual(list(run.wrong()), [])
        self.assertGreaterEqual(len(run.lines), COUNT)
        said = database.load(run.path)
        good = {line["identity"] for line in run.lines if not line["error"]}
        bad = {line["source"]["path"] for line in run.lines if line["error"]}
        self.assertIn(f"{len(run.lines)} lines: {len(good)} new, 0 better than before, {len(bad)} bad dumps, 0 bad lines", said)
        # Of each what it was.
        kept = dict(sql("SELECT identity, md5(doc::text) FROM fleet.record"))
        self.assertEqual(kept.keys(), good)
        self.assertEqual(sql("SELECT count(*) FROM fleet.bad_dump"), [[str(len(bad))]])
        self.check_views()
        self.make_page()

    def test_no_names(self):
        inputs = hostile.make_inputs(self.folder, COUNT, seed=3)
        hostile.write(os.path.join(self.folder, "key"), collected.KEY.encode())
        run = collected.Collected(PROGRAM, self.folder, inputs, "--anonymous", "--hash-hosts", "key")
        self.assertEqual(list(run.wrong()), [])
        self.assertIn("0 bad lines", database.load(run.path))

    def test_lines_of_anybody(self):
        """What no collect would have written."""
        lines = [as_line(data, number) for number, data in enumerate(hostile.records(COUNT, seed=4))]
        said = self.load(lines)
        self.assertIn(f"{COUNT} lines: ", said)
        records, bad = (int(sql(f"SELECT count(*) FROM fleet.{table}")[0][0]) for table in ("record", "bad_line"))
        self.assertEqual(records + bad, len(lines) - (len(lines) - len(set(lines))), said)
        self.assertGreater(records, COUNT // 10)
        self.check_views()

    def test_records_that_change(self):
        changing = collected.Changing(self.folder, 300)
        names = changing.paths
        changing.start()
        try:
            run = collected.Collected(PROGRAM, self.folder, (names, {}))
        finally:
            changing.stop()
        self.assertEqual((run.status, len(run.lines)), (0, len(names)), run.said)
        self.assertLessEqual({line["error"]["kind"] for line in run.lines if line["error"]}, collected.KINDS)
        self.assertGreater(changing.changes, 0)
        # With nobody at work on them all have a good end.
        for path in names:
            if os.path.lexists(path):
                os.unlink(path)
            hostile.write(path, hostile.written(hostile.good(0)))
        run = collected.Collected(PROGRAM, self.folder, (names, {}))
        last = {line["source"]["path"]: line["error"] for line in run.lines}
        self.assertEqual(set(last.values()), {None})

    def test_hard_views(self):
        for make in hostile.HARD:
            with self.subTest(make.__name__):
                database.make_schema()
                lines = (as_line(hostile.written(make(number)), number) for number in range(COUNT))
                self.assertIn(f"{COUNT} new", self.load(lines))
                self.check_views()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
