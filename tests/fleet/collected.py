# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet/collect over hostile inputs, and what is wrong with its answer."""

import json
import os
import subprocess
import threading

import hostile

COLLECT = os.path.join(hostile.ROOT, "fleet", "collect")
KEY = "k" * 32
KINDS = {"unreadable", "status", "signal", "killed", "memory", "timeout", "size", "output", "changed"}


class Collected:
    """The lines of a run; `sources` are those of the list, and which of these are records (hostile.make_inputs())."""

    def __init__(self, program, folder, inputs, *options):
        self.sources, self.made = inputs
        self.is_anonymous = "--anonymous" in options
        self.path = os.path.join(folder, "lines.anonymous" if self.is_anonymous else "lines")
        command = [COLLECT, "--program", os.path.abspath(program), "-0", "-j2", "--cgroup", "never", "--timeout", "60", "--memory", "512M",
                   "-o", self.path, *options]
        done = subprocess.run(command, input=b"\0".join(self.sources), capture_output=True, check=False, cwd=folder)
        self.status, self.said = done.returncode, done.stderr.decode(errors="replace")
        with open(self.path, "rb") as file:
            self.data = file.read()
        self.lines = [json.loads(line) for line in self.data.splitlines()]

    def wrong(self):
        """Lines that say what is."""
        if self.status:
            yield f"exit status {self.status}: {self.said[-500:]}"
        if len(self.lines) != len(set(self.sources)):
            yield f"{len(self.lines)} lines of {len(set(self.sources))} inputs"
        internal = {line["error"]["kind"] for line in self.lines if line["error"]} - KINDS
        if internal:
            yield f"errors {internal}"
        for line in self.data.splitlines():
            try:
                json.loads(line, parse_constant=hostile.refuse)
            except ValueError as error:
                yield f"not JSON: {error}: {line[:200]}"
        yield from self.wrong_names() if self.is_anonymous else self.wrong_records()

    def wrong_names(self):
        if hostile.NAMES in self.data:
            where = self.data.index(hostile.NAMES)
            yield f"a name: {self.data[max(0, where - 100):where + 50]}"

    def wrong_records(self):
        found = {line["source"]["path"]: line for line in self.lines}
        for source in self.sources:
            path = hostile.shown(source)
            if path is not None and path not in found:
                yield f"no line of {source[:200]}"
        for source, data in self.made.items():
            line = found.get(hostile.shown(source), {"error": {"message": "none"}})
            is_good = hostile.is_record(data) and len(data) <= 4 << 20
            if is_good != (line["error"] is None):
                yield f"a {'good' if is_good else 'bad'} record: {line['error']}: {data[:300]}"
            elif is_good and {**line, **json.loads(data)} != line:
                yield f"changed: {data[:300]}"


class Changing(threading.Thread):
    """Changes files again and again, until stop()."""

    def __init__(self, folder, count):
        super().__init__()
        self.paths = [os.path.join(os.fsencode(folder), b"changing%d.json" % number) for number in range(count)]
        self.changes = 0
        self.ended = threading.Event()
        for path in self.paths:
            hostile.write(path, hostile.written(hostile.good(1 << 21)))

    def change(self, path, number):
        other = path + b".new"
        how = number % 7
        if how == 0:
            with open(path, "ab") as file:
                file.write(b" " * 4096)
        elif how == 1:
            os.truncate(path, number % 500)
        elif how == 2:
            os.unlink(path)
        else:
            make = (lambda: os.symlink("/dev/zero", other), lambda: os.mkfifo(other), lambda: hostile.write(other, b"no dump" * 5000),
                    lambda: hostile.write(other, hostile.written(hostile.good(1 << 21))))
            make[how - 3]()
            os.rename(other, path)

    def run(self):
        while not self.ended.is_set():
            for at_number, path in enumerate(self.paths):
                try:
                    if os.path.islink(path) or not os.path.isfile(path):
                        hostile.write(path + b".new", hostile.written(hostile.good(1 << 21)))
                        os.rename(path + b".new", path)
                    self.change(path, self.changes + at_number)
                except OSError:
                    pass
            self.changes += 1

    def stop(self):
        self.ended.set()
        self.join()
