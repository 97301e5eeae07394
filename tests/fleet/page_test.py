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


class Page(unittest.TestCase):
    def test_hostile_text(self):
        row = {"crashes": 3, "hosts": 1, "days": [0] * 29 + [3]}
        row |= {key: HOSTILE for key in ("signature", "summary", "release", "path", "first_seen", "last_seen")}
        answer = {"sums": {"crashes": 3, "hosts": 1, "last": None}, "bad": 0, "rows": [row]}
        with tempfile.TemporaryDirectory() as folder:
            psql = os.path.join(folder, "psql")
            with open(psql, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
            os.chmod(psql, 0o755)
            page = subprocess.run([os.path.join(ROOT, "fleet", "page")], env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]},
                                  capture_output=True, text=True, check=True).stdout
        tags = Tags()
        tags.feed(page)
        names = {name for name, _ in tags.seen}
        self.assertFalse(names & {"script", "img", "link", "a", "iframe", "object"}, names)
        self.assertFalse([attrs for _, attrs in tags.seen if {"src", "href", "onerror"} & set(attrs)])
        self.assertEqual(tags.text.count(HOSTILE), 6)
        policy = [attrs["content"] for name, attrs in tags.seen if attrs.get("http-equiv")]
        self.assertEqual(policy, ["default-src 'none'; style-src 'unsafe-inline'"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
