# SPDX-License-Identifier: GPL-3.0-or-later
"""A PostgreSQL that a test starts, and what it is asked."""

import os
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FLEET = os.path.join(os.path.dirname(os.path.dirname(HERE)), "fleet")
FOLDER = tempfile.TemporaryDirectory(prefix="fleet-")
VIEWS = ("frame", "module", "waiting", "memory", "top_crashes", "by_release", "by_hardware", "new_in_release", "cut", "hang_together", "numbered",
         "alike_numbers", "alike", "clusters()", "new_since('6.1')", "regressions('6.1', '6.2')")
# What the server's process has used, in seconds; others may be at work on the machine.
PROCESSOR = """SELECT (part[12]::float8 + part[13]::float8) / 100 FROM (SELECT regexp_split_to_array(
	regexp_replace(pg_read_file('/proc/self/stat'), '.*\\) ', ''), ' ') AS part) s"""


def shell(command):
    script = f'set -eu; folder="$1"; . "{HERE}/servers.sh"; find_postgres || exit 77; {command}'
    return subprocess.run(["sh", "-c", script, "sh", FOLDER.name], capture_output=True, text=True, check=False)


def start():
    done = shell('start_postgres >&2; echo "$PGHOST"')
    if done.returncode == 77:
        raise unittest.SkipTest("PostgreSQL is not installed")
    assert done.returncode == 0, done.stderr
    os.environ.update(PGHOST=done.stdout.strip(), PGUSER="postgres", PGDATABASE="postgres", PGPORT="5432")


def stop():
    shell("stop_postgres")
    FOLDER.cleanup()


def make_schema():
    schema = os.path.join(FLEET, "schema.sql")
    subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-c", "DROP SCHEMA IF EXISTS fleet CASCADE", "-f", schema], capture_output=True, check=True)


def sql(*questions):
    asked = [word for question in questions for word in ("-c", question)]
    done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *asked], capture_output=True, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def seconds_of_views():
    """{view: seconds of processor}, of all rows of each."""
    found = {}
    for view in VIEWS:
        before, _, after = sql("SET max_parallel_workers_per_gather = 0", PROCESSOR, f"SELECT count(*) FROM (SELECT * FROM fleet.{view}) v", PROCESSOR)
        found[view] = float(after[0]) - float(before[0])
    return found


def load(*paths):
    """What is said at its end."""
    done = subprocess.run([os.path.join(FLEET, "load"), *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr.split(": ", 1)[1].strip()
