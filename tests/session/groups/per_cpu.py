# SPDX-License-Identifier: GPL-3.0-or-later
"""Per-CPU variables where the kernel's BTF has none, as before 5.11.

Newer kernels' BTF has them: there it is made to have none, in a copy of the dump, and what
inference says without them is compared with what they say.
"""

import mmap
import os

from lib import boots, check, check_equal, copy_file

SECTION = b"\0.data..percpu\0"
AROUND = 64  # bytes that tell the kernel's BTF from others
PRINTED = 40


def without_variables(program, boot):
    """A dump whose BTF has no per-CPU variables, and whether it is a copy made for that."""
    with open(boot.path("truth", "btf", "vmlinux"), "rb") as file:
        btf = file.read()
    at = btf.find(SECTION)
    if at < 0:
        return boot.dump, False
    path = os.path.join(program.scratch, f"{boot.kernel}-without-variables")
    copy_file(boot.dump, path)
    known = btf[at - AROUND:at + AROUND]
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as dump:
        place, count = dump.find(known), 0
        while place >= 0:
            dump[place + AROUND:place + AROUND + len(SECTION)] = SECTION.replace(b"percpu", b"nothng")
            count += 1
            place = dump.find(known, place + 1)
    check(count, "the BTF's strings are not in the dump")
    return path, True


def per_cpu_of(program, dump, command="globals"):
    rows = program.result(dump, command, timeout=600)
    return {(row["address"], row["name"]): row for row in rows if row["per_cpu"]}


def says_so(program, boot, dump, is_copy):
    check_equal(program.result(dump, "sys")["per_cpu_inferred"], True, "sys without variables")
    check("the kernel's BTF has no per-CPU variables" in program.text(dump, "sys"), "text of sys")
    if is_copy:
        check_equal(program.result(boot.dump, "sys")["per_cpu_inferred"], False, "sys")
        check("per-CPU" not in program.text(boot.dump, "sys"), "text of sys")


def has_types(rows, notes):
    tiers = [row["confidence"] for row in rows.values()]
    check(len(tiers) > 300, f"only {len(tiers)} variables")
    check(tiers.count("unknown") <= len(tiers) // 50, f"{tiers.count('unknown')} unknown")
    check(tiers.count("certain") > len(tiers) // 3, f"only {tiers.count('certain')} certain")
    check(tiers.count("guess") < len(tiers) // 5, f"{tiers.count('guess')} guesses")
    notes.append(", ".join(f"{tiers.count(tier)} {tier}" for tier in
                           ("certain", "inferred", "guess", "unknown")))


def as_btf_says(rows, truth, notes):
    """Certain are the same types but for twins (struct cpu for struct x86_cpu)."""
    check_equal(set(rows) - set(truth), set(), "variables that BTF does not know")
    differs = {"certain": [], "inferred": []}
    for key, row in rows.items():
        # The start of the section is no VAR.
        if row["confidence"] in differs and truth[key]["type"] not in ("", row["type"]):
            differs[row["confidence"]].append(f"{key[1]}: {row['type']}, {truth[key]['type']}")
    check(len(differs["certain"]) <= 1, f"certain: {differs['certain']}")
    check(len(differs["inferred"]) <= len(rows) // 50, f"inferred: {differs['inferred']}")
    notes.append(f"other types: {len(differs['certain'])} certain, {len(differs['inferred'])} inferred")


def prints_the_same(program, boot, dump, rows):
    """Bytes of each CPU, whoever says what type they are."""
    # Of a name that two variables have, print asks which one is meant.
    names = sorted(row["name"] for row in rows.values() if row["confidence"] == "certain"
                   and row["name"].isidentifier() and not row["module"]
                   and len(boot.addresses.get((row["name"], ""), ())) == 1)
    picked = names[::len(names) // PRINTED]
    commands = [f"print {name}:a" for name in picked]
    for name, ours, theirs in zip(picked, program.answers(dump, commands, timeout=600),
                                  program.answers(boot.dump, commands, timeout=600)):
        check(ours["ok"] and theirs["ok"], f"{name}: {ours.get('error')}")
        for one, other in zip(ours["result"], theirs["result"]):
            if one["type"] == other["type"]:
                check_equal(one["value"], other["value"], name)


def tells_all(program, dump):
    """print, whatis, whatis -v and whattype of one variable."""
    check_equal(program.value(dump, "runqueues:a.cpu")[:2], [0, 1], "CPUs of the run queues")
    plain, verbose, place = (answer["result"] for answer in program.answers(
        dump, ("whatis -v runqueues", "whatis -v runqueues:1", "whattype &runqueues:1")))
    check_equal(verbose, plain, "whatis -v with a CPU")
    check_equal(plain["declaration"], "struct rq runqueues", "declaration")
    sources = {clue["source"] for clue in plain["clues"]}
    check("code" in sources, f"clues from {sources}")
    check_equal(place[0]["type"], "struct rq", "whattype")


def run(session):
    for boot in boots(("boot1",)):
        rows, dump, is_copy = {}, None, False
        with session.case(f"{boot.label}: sys says that per-CPU variables are inferred"):
            dump, is_copy = without_variables(session.program, boot)
            says_so(session.program, boot, dump, is_copy)
        with session.case(f"{boot.label}: per-CPU variables have types without BTF's word") as notes:
            rows = per_cpu_of(session.program, dump, f"globals --without {boot.kernel}")
            has_types(rows, notes)
        with session.case(f"{boot.label}: of one, all commands say the same"):
            tells_all(session.program, dump)
        if is_copy:
            with session.case(f"{boot.label}: what is inferred is what BTF says") as notes:
                as_btf_says(rows, per_cpu_of(session.program, boot.dump), notes)
            with session.case(f"{boot.label}: and prints the same"):
                prints_the_same(session.program, boot, dump, rows)
            os.unlink(dump)
