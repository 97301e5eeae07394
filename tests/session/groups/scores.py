# SPDX-License-Identifier: GPL-3.0-or-later
"""How right `globals` is: the shipped table has what DWARF says of each variable of the kernels that
dumps are made of; without these rows, `globals` must find it by the other kernels' and the dump.

Right is the same type after typedefs and qualifiers, signs and lengths of arrays included; where
only a length that is not said to be proved differs, that is counted apart.  Whole scores, with
modules and by source of evidence: `make infer-score`."""

import collections
import os
import re
import sys

from lib import boots, check

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "tests", "truth"), os.path.join(ROOT, "debugger", "infer", "hints")]

import ctypes_of_btf as ctypes  # noqa: E402
import hints_file  # noqa: E402

# What `globals` is told; the shares that must be right of all, and of what is called inferred; and
# how much of all must be certain, and what must be usable. Nothing that is certain may be wrong. Without the table, kernel
# parameters that are integers are no longer: module_param() does not check their sign.
KINDS = {
    "with the table less its own rows": ("--without {kernel}", 0.99, 0.995, 0.65, 0.995),
    "without the table": ("--no-hints", 0.88, 0.97, 0.007, 0.935),
}
# Of a kernel that is newer than all others in the table; the newest of these is one release older.
KINDS_OF_NEWEST = {
    "with a table of older kernels": ("--without {kernel}", 0.995, 0.997, 0.68, 0.995),
    "as one that came out long since": ("--without {kernel},{before}", 0.955, 0.98, 0.58, 0.965),
    "without the table": ("--no-hints", 0.88, 0.97, 0.007, 0.935),
}
WORTH = {"exact": 1, "length": 0.5}
TIERS = ("certain", "inferred", "guess", "unknown")


def own_rows(table, release):
    """{name: types} of the kernel itself, as that release's DWARF has them; empty: it is not there.
    A type that has no name is spelled without its members, so it cannot be compared; of an array whose
    length differs from kernel to kernel the table has none."""
    own = sum(1 << bit for bit, kernel in enumerate(table.kernels) if kernel[1] == release)
    types = {name: [hints_file.with_count(entry) for entry in entries if entry.mask & own]
             for name, entries in table.names.items()}
    return {name: found for name, found in types.items()
            if found and not any("{" in kind or "[]" in kind for kind in found)}


def version(series):
    return [int(number) for number in series.split(".")]


def table_name(symbol):
    """Static variables of functions have other numbers in each build."""
    return re.sub(r"\.\d+$", ".", symbol)


def judge(btf, types, row):
    """"exact", "length" (which is said to be unproved) or "wrong"."""
    results = {ctypes.compare_strictly(btf, wanted, row["type"]) for wanted in types}
    if "exact" in results:
        return "exact"
    return "length" if row["at_most"] and "length" in results else "wrong"


def has_room(btf, types, room):
    """For one element of one of them at least."""
    try:
        return any((ctypes.size(btf, ctypes.element(btf, ctypes.parse(btf, kind))) or 0) <= room
                   for kind in types)
    except ctypes.NoType:
        return True


def score(btf, truth, rows):
    """{tier: {result: rows}}"""
    results = collections.defaultdict(lambda: collections.defaultdict(list))
    rows = [row for row in rows if table_name(row["name"]) in truth]
    times = collections.Counter(row["name"] for row in rows)
    for row in rows:
        types = truth[table_name(row["name"])]
        if times[row["name"]] > 1 and not has_room(btf, types, row["room"]):
            continue  # a namesake that DWARF does not know: a set that assembler made
        if not row["module"] and not row["per_cpu"]:
            result = judge(btf, types, row) if row["type"] else "nothing"
            results[row["confidence"]][result].append((row, types))
    return results


def share(results, tiers):
    """What is exact of these tiers, and half of what is but for its length."""
    right = total = 0
    for tier in tiers:
        for result, rows in results[tier].items():
            right += len(rows) * WORTH.get(result, 0)
            total += len(rows)
    return right / max(total, 1), total


def alike(btf, a, b, depth=0):
    """Whether two types differ in no more than what no code can tell, below arrays, too."""
    a, b = ctypes.element(btf, a), ctypes.element(btf, b)
    if depth > ctypes.DEPTH_MAX or ctypes.canonical(btf, a) == ctypes.canonical(btf, b):
        return True
    if a[0] == b[0] == "pointer":
        a, b = a[1], b[1]
        return (("base", 0) in (ctypes.resolve(btf, a), ctypes.resolve(btf, b))
                or alike(btf, a, b, depth + 1))
    if a[0] == b[0] == "function":
        return len(a[2]) == len(b[2]) and all(
            alike(btf, x, y, depth + 1) for x, y in zip((a[1], *a[2]), (b[1], *b[2])))
    return (a[0] == b[0] == "base" and ctypes.size(btf, a) == ctypes.size(btf, b)
            and ctypes.is_integer(btf, a) and ctypes.is_integer(btf, b))


def scalars(btf, kind):
    """What lies where; of integers only the size."""
    return [(at, bits, leaf if leaf[0] in ("*", "()") else leaf.split()[0] in ("struct", "union"))
            for at, bits, leaf in ctypes.leaves(btf, kind)]


def usable(btf, wanted, given):
    """"exact", "length" or "wrong", where what no code can tell is the same."""
    try:
        a, b = ctypes.parse(btf, wanted), ctypes.parse(btf, given)
    except ctypes.NoType:
        return "exact" if wanted == given else "wrong"
    if scalars(btf, a) == scalars(btf, b):
        return "exact"  # nodemask_t and its unsigned long [16]
    same = scalars(btf, ctypes.element(btf, a)) == scalars(btf, ctypes.element(btf, b))
    if not same and not alike(btf, a, b):
        return "wrong"
    return "exact" if ctypes.elements(btf, a) in (0, ctypes.elements(btf, b)) else "length"


def usable_share(btf, results, log=None):
    """`log` gets what is not strictly right."""
    right = total = 0
    for tier in TIERS:
        for result, rows in results[tier].items():
            for row, types in rows:
                kind = row["type"]
                found = {usable(btf, wanted, kind) for wanted in types} if kind else {"nothing"}
                best = max(found, key=lambda one: WORTH.get(one, 0))
                right += WORTH.get(best, 0)
                total += 1
                if log is not None and result != "exact":
                    log.append((best, tier, row["name"], str(kind), " or ".join(types)))
    return right / max(total, 1)


def check_scores(btf, results, goals, notes):
    wrong = [f"{row['name']}: {row['type']}, not {' or '.join(types)}"
             for row, types in results["certain"]["wrong"]]
    check(not wrong, f"{len(wrong)} certain ones are wrong: {'; '.join(wrong[:5])}")
    for name, tiers, goal in (("all", TIERS, goals[0]), ("certain", ("certain",), goals[1]),
                              ("inferred", ("inferred",), goals[1])):
        right, count = share(results, tiers)
        lengths = sum(len(results[tier]["length"]) for tier in tiers)
        notes.append(f"{name} {count}: {right:.2%} right, {lengths} but for a length")
        check(right >= goal, f"{name}: {right:.2%} of {count} right")
    right = usable_share(btf, results)
    notes.append(f"{right:.2%} usable")
    check(right >= goals[3], f"{right:.2%} usable")
    total = share(results, TIERS)[1]
    check(total > 9000, f"only {total} variables are in the table")
    certain = share(results, ("certain",))[1] / total
    check(certain >= goals[2], f"only {certain:.2%} are certain")


def run(session):
    with open(os.path.join(ROOT, "debugger", "infer", "hints", "globals.hints"), encoding="utf-8") as file:
        table = hints_file.read_text(file.read())
    for boot in boots(("boot1",)):
        truth = own_rows(table, boot.release)
        if not truth:
            session.skip(f"{boot.label}: types of globals", f"the table has nothing of {boot.release}")
            continue
        with open(boot.path("truth", "btf", "vmlinux"), "rb") as file:
            btf = ctypes.Btf(file.read())
        before, newest = sorted({kernel[0] for kernel in table.kernels}, key=version)[-2:]
        is_newest = boot.kernel == newest
        for title, (words, *goals) in (KINDS_OF_NEWEST if is_newest else KINDS).items():
            with session.case(f"{boot.label}: types of globals {title}") as notes:
                command = "globals " + words.format(kernel=boot.kernel, before=before)
                rows = session.program.result(boot.dump, command, timeout=600)
                check_scores(btf, score(btf, truth, rows), goals, notes)
