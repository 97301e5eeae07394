# SPDX-License-Identifier: GPL-3.0-or-later
"""`log` against the serial console."""

from lib import boots, check, check_lines

# The console of a guest that panicked may lag behind the log, never lead.
MORE_LINES = 4


def log_lines(program, dump):
    """The lines of `log`, as a terminal shows them."""
    return program.text(dump, "log").splitlines()


def compare_console(boot, lines, notes):
    """Every line of the console, text and time stamp, from the first one on."""
    console = list(boot.console)
    while console and not console[-1]:
        del console[-1]
    check(len(console) > 200, f"console: only {len(console)} lines")
    # The dump may have been made in the middle of the console's last line.
    cut = len(lines) >= len(console) and lines[len(console) - 1].startswith(console[-1])
    if cut:
        console[-1] = lines[len(console) - 1]
    check_lines(lines[:len(console)], console, "line")
    more = lines[len(console):]
    check(len(more) <= MORE_LINES, f"{len(more)} lines that the console lacks, from "
          f"{more[:1]} on")
    notes.append(f"{len(console)} lines"
                 + "".join(f"; not yet on the console: {line}" for line in more))


def run(session):
    program = session.program
    for boot in boots():
        with session.case(f"{boot.label}: log is the serial console") as notes:
            compare_console(boot, log_lines(program, boot.dump), notes)
        with session.case(f"{boot.label}: log in JSON says the same"):
            records = program.result(boot.dump, "log")
            check(len(records) > 200, "hardly any records")
            text = program.text(boot.dump, "log")
            for record in records:
                line = record if isinstance(record, str) else record["text"]
                for part in line.split("\n"):
                    check(part in text, f"JSON has {part!r}, text has not")
