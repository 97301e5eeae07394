#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet/page: what stands in dumps stays text. psql is a stand-in that answers with hostile rows."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTILE = "</td><script src=//x>alert(1)</script><img onerror=x>\"'&amp;\u202e"


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


ROW = {"crashes": 3, "hosts": 1, "days": [0] * 29 + [3]}
ROW |= {key: HOSTILE for key in ("signature", "summary", "release", "path", "first_seen", "last_seen")}


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fleet-")
        self.addCleanup(self.folder.cleanup)

    def stand_in(self, name, script):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        return path

    def page(self, row, *arguments, **more):
        answer = {"sums": {"crashes": 3, "hosts": 1, "last": None}, "bad": 0, "rows": [row]}
        self.stand_in("psql", f"cat <<'END'\n{json.dumps(answer)}\nEND\n")
        environment = {**os.environ, "PATH": self.folder.name + ":" + os.environ["PATH"], **more}
        done = subprocess.run([os.path.join(ROOT, "fleet", "page"), *arguments], env=environment, cwd=self.folder.name,
                              capture_output=True, text=True, check=True)
        self.said = done.stderr
        return done.stdout

    def test_reports(self):
        dump = self.stand_in("a 'dump' <b>", "")
        program = self.stand_in("program", 'echo "$@" >>"$0.said"; name=${3#report --html }; echo page >"$name"\n')
        for _ in range(2):
            tags = Tags()
            tags.feed(self.page({**ROW, "path": dump}, "--reports", "made", BTFCRASH=program))
            links = [attrs["href"] for name, attrs in tags.seen if name == "a"]
            self.assertEqual([os.path.dirname(link) for link in links], ["made"])
            self.assertTrue(os.path.exists(os.path.join(self.folder.name, links[0])))
        with open(program + ".said", encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1)
        self.assertNotIn("<a ", self.page({**ROW, "path": dump + ".gone"}, "--reports", "made", BTFCRASH=program))

    def test_limits(self):
        dump = self.stand_in("dump", "")
        limits = ["--reports", "made", "--timeout", "5", "--memory", "128M", "--report-limit", "1M"]
        for script, why in (("sleep 1000", "timeout"), ("trap '' TERM HUP; exec >&- 2>&-; while :; do sleep 1; done", "timeout"),
                            ("yes", "size"), ("exec yes >page.html", "size"), ("trap '' XFSZ; yes >page.html; exit 2", "status"),
                            ("python3 -c 'bytearray(1 << 29)' || exit 2", "status"), ("kill -9 $$", "killed"), ("exit 3", "status"), (":", "No such file")):
            program = self.stand_in("program", script + "\n")
            self.assertNotIn("<a ", self.page({**ROW, "path": dump}, *limits, BTFCRASH=program), script)
            self.assertIn(f"no report: '{why}", self.said.replace('"', "'"), script)
            self.assertEqual(os.listdir(os.path.join(self.folder.name, "made")), [], script)

    def test_what_is_no_dump(self):
        """A path of the database is any text."""
        program = self.stand_in("program", 'echo "$@" >>"$0.said"; echo page >page.html\n')
        os.mkfifo(os.path.join(self.folder.name, "fifo"))
        for path in ("fifo", "/dev/zero", "/dev/tty", ".", "", "x" * 5000, "/\t/\t/", "a\0b", "y" * 70000):
            self.assertNotIn("<a ", self.page({**ROW, "path": path}, "--reports", "made", BTFCRASH=program), path[:50])
        self.assertFalse(os.path.exists(program + ".said"))
        self.stand_in("-c!touch hacked", "")
        self.assertIn("<a ", self.page({**ROW, "path": "-c!touch hacked"}, "--reports", "made", BTFCRASH=program))
        with open(program + ".said", encoding="utf-8") as file:
            self.assertEqual(file.read(), f"-q -c report --html page.html -- {self.folder.name}/-c!touch hacked\n")

    def test_long_text(self):
        page = self.page({**ROW, "signature": "s" * 5000, "path": "/p" * 50000})
        self.assertLess(len(page), 10000)
        self.assertIn("ss…", page)

    def test_hostile_text(self):
        row, page = ROW, self.page(ROW)
        tags = Tags()
        tags.feed(page)
        names = {name for name, _ in tags.seen}
        self.assertFalse(names & {"script", "img", "link", "a", "iframe", "object"}, names)
        self.assertFalse([attrs for _, attrs in tags.seen if {"src", "href", "onerror"} & set(attrs)])
        self.assertEqual(tags.text.count(HOSTILE), 6)
        self.assertIn('<td class="t">2026-11-25 08:01', self.page({**row, "last_seen": "2026-11-25T08:01:44+00:00"}))
        policy = [attrs["content"] for name, attrs in tags.seen if attrs.get("http-equiv")]
        self.assertEqual(policy, ["default-src 'none'; style-src 'unsafe-inline'"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
