# SPDX-License-Identifier: GPL-3.0-or-later
"""Source lines that the kernel itself has: `line` and `bt -l`, against the code at their addresses and
what the guest said when it died there. Against DWARF: tests/truth/lines."""

import os
import re

from lib import Boot, boots, check, check_equal, kernel_names

UD2 = "0f0b"
# A branch that is off, or one that is on.
BRANCH = re.compile("0f1f440000|66906690|6690|e9|eb")
SAMPLE = 60


def code_is_there(program, boot, notes):
    """Places have the code that belongs to them, and files that a kernel has."""
    rows = program.result(boot.dump, "line")
    notes.append(f"{len(rows)} places")
    check(len(rows) > 5000, f"only {len(rows)} places")
    for kind in ("BUG", "WARN", "debug message"):
        # Init code is gone.
        end = boot.address("_etext")
        found = [row for row in rows if row["what"] == kind and not row["near"]
                 and (row["module"] or int(row["address"], 16) < end)]
        check(len(found) > 100, f"{len(found)} of {kind}")
        step = max(len(found) // SAMPLE, 1)
        chosen = found[::step]
        answers = program.answers(boot.dump, [f"dis {row['address']} 1" for row in chosen])
        wrong = []
        for row, answer in zip(chosen, answers):
            check(answer["ok"], f"{row}: {answer.get('error')}")
            code, = answer["result"]["instructions"]
            expected = BRANCH.match(code["bytes"]) if kind == "debug message" else code["bytes"] == UD2
            if not expected:
                wrong.append((row["function"], code["bytes"]))
        check(not wrong, f"no {kind}: {wrong[:5]}")
    names = {row["file"] for row in rows}
    odd = [name for name in names if not re.search(r"\.[chS]$", name)]
    check(not odd, f"files: {odd[:5]}")


def places_agree(program, boot):
    """Of a function the same rows as of all, sorted, between which an address stands where it is."""
    rows = [row for row in program.result(boot.dump, "line") if not row["module"]]
    row = next(row for row in rows[len(rows) // 2:] if row["offset"] > 4 and row["what"] == "WARN")
    start = int(row["address"], 16) - row["offset"]
    mine = [other for other in rows if int(other["address"], 16) - other["offset"] == start]
    found = program.result(boot.dump, f"line {start:#x}")
    check_equal(found[1:], mine, f"places of {row['function']}")
    check_equal((found[0]["offset"], found[0]["line"]), (0, None), "the function's own row")
    here = program.result(boot.dump, f"line {int(row['address'], 16) - 1:#x}")
    position = [other["what"] for other in here].index("(here)")
    check_equal(here[position + 1], row, "behind the address")
    check_equal([other for other in here if other["what"] != "(here)"], found, "rows without the address")
    symbols = [line.split()[:3] for line in boot.truth("kallsyms").splitlines()]
    names = {name for _, _, name in symbols}
    clones = {}
    for address, kind, name in symbols:
        if ".constprop." in name and kind in "tT" and name.split(".")[0] not in names:
            clones.setdefault(name.split(".")[0], set()).add(int(address, 16))
    for name in sorted(clones)[:5]:
        found = {int(row["address"], 16) - row["offset"] for row in program.result(boot.dump, f"line {name}")}
        check(clones[name] <= found, f"line {name}: {found}, not {clones[name]}")
    check(len(clones) >= 5, f"{len(clones)} clones")
    answer, = program.answers(boot.dump, ["line init_task"])
    check(not answer["ok"] and "no function" in answer["error"], f"of data: {answer}")


def names_the_bug(program, boot):
    """The line of a BUG or WARN is the one that the kernel printed."""
    console = "\n".join(boot.console)
    said = re.search(r"kernel BUG at (\S+):(\d+)!|WARNING: .* at (\S+):(\d+) ", console)
    file, line = [part for part in said.groups() if part]
    analysis = program.result(boot.dump, "analyze")
    first, frame = analysis["findings"][0], analysis["frame"]
    check(f"{file}:{line}" in first["summary"], first["summary"])
    address = first["instruction"]["address"]
    row = next(row for row in program.result(boot.dump, f"line {address}") if row["address"] == address and row["line"])
    check_equal((row["file"], row["line"]), (file, int(line)), "line of the instruction")
    check(any(evidence["command"] == f"line {address}" for evidence in first["evidence"]), "evidence")
    frames = program.result(boot.dump, "bt -l")["frames"]
    mine = next(one for one in frames if one["pc"] == address)
    check_equal(mine["lines"]["behind"], {"file": file, "line": int(line), "bytes": 0}, "bt -l")
    check(frame is None or frames[frame["number"]]["pc"] == frame["pc"], "frame")
    text = program.text(boot.dump, "bt -l -n")
    check(f"at line {line}" in text or f"at {file}:{line}" in text, text[-800:])
    # A file that nothing proves says what it is known by.
    words = {"its code": "(by its code)", "as its neighbours": "(as its neighbours)"}
    marked = [f"{lines['file']} {words[lines['proof']]}" for lines in (one.get("lines") or {} for one in frames)
              if lines.get("proof") in words]
    check(marked and all(mark in text for mark in marked), f"{marked}: {text[-800:]}")


def frames_stay(program, boot):
    """-l adds, and changes nothing; what it says of a frame is what `line` says of its function."""
    plain, more = program.result(boot.dump, "bt -a"), program.result(boot.dump, "bt -a -l")
    known = 0
    for trace, other in zip(plain, more):
        for frame, with_lines in zip(trace["frames"], other["frames"]):
            lines = with_lines.pop("lines", None)
            check_equal(with_lines, frame, "frame")
            if not lines:
                continue
            known += 1
            rows = program.result(boot.dump, f"line {int(frame['pc'], 16) - 1:#x}")
            check_equal(rows[0]["file"], lines["file"], f"file of {frame['symbol']}")
            places = {(row["file"], row["line"], int(row["address"], 16)) for row in rows if row["line"]}
            pc = int(frame["pc"], 16)
            for key, sign in (("behind", -1), ("before", 1)):
                place = lines[key]
                check(not place or (place["file"], place["line"], pc + sign * place["bytes"]) in places,
                      f"{frame['symbol']}: {key} {place}, but {rows}")
    check(known > 2, f"lines of {known} frames")


def run(session):
    program = session.program
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: places have their code") as notes:
            code_is_there(program, boot, notes)
        with session.case(f"{boot.label}: places of a function and of an address"):
            places_agree(program, boot)
        with session.case(f"{boot.label}: bt -l"):
            frames_stay(program, boot)
    for kernel in kernel_names():
        for name in ("bug", "warn", "twice"):
            boot = Boot(kernel, name)
            if os.path.isdir(boot.folder):
                with session.case(f"{boot.label}: the line of what it died of"):
                    names_the_bug(program, boot)
