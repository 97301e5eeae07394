# SPDX-License-Identifier: GPL-3.0-or-later
"""One verdict: `globals`, `whatis`, `whatis -v`, `print` and `whattype` give a variable the same type
and are as sure of it, with the cache and without, whatever was asked before.

BTFCRASH_VERDICTS=2000 asks about more variables than the tests do, BTFCRASH_SEED=N about others."""

import collections
import os
import random
import re

from lib import boots, check, check_equal, kernel_names

SAMPLES = int(os.environ.get("BTFCRASH_VERDICTS", 120))
SEED = int(os.environ.get("BTFCRASH_SEED", 15))
AT_ONCE = 400  # commands of one process
# What people print, some used by more code than is read for one question, some declared by the list.
POPULAR = ("jiffies", "init_task", "init_net", "kmalloc_caches", "nr_cpu_ids", "page_offset_base",
           "modules", "slab_caches", "init_uts_ns", "chrdevs", "node_data", "panic_cpu", "btf_idr",
           "system_wq", "super_blocks", "cgroup_roots", "tainted_mask", "console_drivers",
           # The last of .bss; and two that point at what shares its address with an empty object.
           "pc_conf_lock", "xfs_mp_group", "btrfs_heuristic_compress")


def choose(rows):
    """Names that one variable has: those asked for, and some at random."""
    names = collections.Counter(row["name"] for row in rows)
    single = {row["name"]: row for row in rows
              if names[row["name"]] == 1 and re.fullmatch(r"[A-Za-z_]\w*", row["name"])
              and not row["per_cpu"]}
    # Half of the symbols are made by macros: exports, strings, parameters.
    plain = [name for name in single if not name.startswith("__")]
    generator = random.Random(SEED)
    picked = generator.sample(plain, SAMPLES * 3 // 4) + generator.sample(sorted(single), SAMPLES // 4)
    picked = sorted({*picked, *(name for name in POPULAR if name in single)})
    generator.shuffle(picked)
    return {name: single[name] for name in picked}


def of_row(row):
    return row["type"] or None, row["confidence"], row["origin"], row["at_most"]


def of_whatis(result):
    return result["type"], result["confidence"], result["origin"], result.get("at_most", False)


def of_print(result):
    return result["type"], result["confidence"], result["origin"]


def ask(program, boot, questions, before=()):
    """{(command, name): result} of commands for names."""
    results = {}
    for first in range(0, len(questions), AT_ONCE):
        some = questions[first:first + AT_ONCE]
        commands = [*before, *(command + name for command, name in some)]
        answers = program.answers(boot.dump, commands, timeout=600)[len(before):]
        for (command, name), answer in zip(some, answers):
            if not answer["ok"] and "are called" in answer["error"]:
                continue  # others of the name are in what the kernel freed after boot
            check(answer["ok"], f"{command}{name}: {answer.get('error')}")
            results[command, name] = answer["result"]
    check(len(results) > len(questions) * 0.95, f"only {len(results)} of {len(questions)} have one meaning")
    return results


def compare(got, wanted, what):
    differ = [f"{name}: {got[name]} {what}, {wanted[name]} in globals" for name in got
              if got[name] != wanted[name]]
    check(not differ, f"{len(differ)} of {len(got)} differ, seed {SEED}: {'; '.join(differ[:3])}")


def compare_all(program, boot, wanted, setting, before=()):
    names = list(wanted)
    for command, order in (("whatis ", names), ("whatis -v ", names[::-1])):
        found = ask(program, boot, [(command, name) for name in order], before)
        compare({name: of_whatis(result) for (_, name), result in found.items()}, wanted, f"by {command}{setting}")
        if command == "whatis -v ":
            check_explained(found)


def check_explained(found):
    """What is shown leads the candidates; a type that the table gave has its row."""
    for (_, name), shown in found.items():
        if shown["type"] is None or shown["origin"] != "inferred":
            continue
        check_equal([row["type"] for row in shown["candidates"]][:1], [shown["type"]], f"the first candidate of {name}")
        rows = [row for row in shown.get("rows", []) if row["said"].startswith(("borne out", "taken"))]
        facts = [clue for clue in shown["clues"] if clue["kind"] == "declared"]
        check(shown["confidence"] != "certain" or rows or facts, f"{name}: certain without a fact or a row of the table")


def compare_print(program, boot, wanted):
    """Of members, elements and large variables no more than the type is of interest."""
    found = ask(program, boot, [("print -d 1 -a 1 ", name) for name in wanted])
    compare({name: of_print(result) for (_, name), result in found.items()},
            {name: verdict[:3] for name, verdict in wanted.items()}, "by print")


def compare_whattype(program, boot, rows, wanted):
    """What it says of a variable's own type; a guess is what others contradict there."""
    commands = {name: f"whattype {rows[name]['address']}" for name in wanted
                if wanted[name][0] and wanted[name][1] != "guess"}
    names = list(commands)[:AT_ONCE // 4]
    answers = program.answers(boot.dump, [commands[name] for name in names], timeout=600)
    for name, answer in zip(names, answers):
        check(answer["ok"], f"{commands[name]}: {answer.get('error')}")
        found = answer["result"][0]
        if found["symbol"] == name:
            check_equal((found["type"], found["confidence"], found["origin"]), wanted[name][:3],
                        f"whattype of {name}, and globals")


def alternatives_of(explained):
    """What `print` says a guess may be besides, of what `whatis -v` says about it."""
    return [row["type"] for row in explained["candidates"]
            if not row["rejected"] and row["type"] != explained["type"]][:4]


def know_symbols(program, boot, rows):
    """A value knows which variable it is, whatever words name it; a part or copy of one is none."""
    names = collections.Counter(row["name"] for row in rows)
    guesses = [row for row in rows if row["confidence"] == "guess" and not row["per_cpu"]
               and re.fullmatch(r"[A-Za-z_]\w*", row["name"])]
    single = [row["name"] for row in guesses if names[row["name"]] == 1][:12]
    twins = [f"{row['name']}@{row['address']}" for row in guesses if names[row["name"]] > 1][:12]
    check(len(single) > 6 and len(twins) > 6, f"{len(single)} guesses, {len(twins)} namesakes")
    several = 0
    forms = ("whatis -v ({})", "print {}", "print ({})", "print *&{}")
    answers = iter(program.answers(boot.dump, [form.format(name) for name in single + twins for form in forms]))
    for name in single + twins:
        explained, plain, in_parentheses, copied = (next(answers)["result"] for _ in forms)
        wanted = alternatives_of(explained)
        several += bool(wanted)
        check(plain["confidence"] == "guess", f"{name}: a guess in globals, {plain} by print")
        check_equal(plain["alternatives"], wanted, f"alternatives of {name}")
        check_equal(in_parentheses["alternatives"], wanted, f"alternatives of ({name})")
        check("alternatives" not in copied, f"*&{name} has alternatives")
    check(several, "no guess has alternatives")
    arrays = [row["name"] for row in guesses if names[row["name"]] == 1
              and row["type"] and row["type"].endswith("]")][:4]
    check(arrays, "no guess is an array")
    for name, answer in zip(arrays, program.answers(boot.dump, [f"whatis -v {name} [0]" for name in arrays])):
        check(not answer["ok"] and "is no variable" in answer["error"], f"{name} [0]: {answer}")
    for command in ("print -d 1 init_task", "whatis init_task", "whattype init_task"):
        check("// declared" in program.text(boot.dump, command), f"{command} says another tier")


class WithoutTable:
    """A boot, asked without the shipped table: variables learn from one another there."""

    def __init__(self, boot):
        self.dump = ["--no-hints", boot.dump]


def compare_without_table(program, boot, names, notes):
    boot = WithoutTable(boot)
    found = {row["name"]: of_row(row) for row in program.result(boot.dump, "globals", timeout=600) if row["name"] in names}
    wanted = {name: found[name] for name in names}
    compare_all(program, boot, wanted, "without the table")
    compare_print(program, boot, wanted)
    guesses = sum(verdict[1] == "guess" for verdict in wanted.values())
    check(guesses, "no guess")
    notes.append(f"{len(wanted)} variables, {guesses} guesses")


def run(session):
    program = session.program
    for boot in boots(("boot1",)):
        found = program.result(boot.dump, "globals", timeout=600)
        rows = choose(found)
        wanted = {name: of_row(row) for name, row in rows.items()}
        with session.case(f"{boot.label}: whatis before globals") as notes:
            compare_all(program, boot, wanted, "alone")
            notes.append(f"{len(wanted)} variables, seed {SEED}")
        with session.case(f"{boot.label}: whatis after globals, in another order"):
            order = dict(sorted(wanted.items()))
            compare_all(program, boot, order, "after globals", ("globals --tier unknown",))
        with session.case(f"{boot.label}: print"):
            compare_print(program, boot, wanted)
        with session.case(f"{boot.label}: whattype"):
            compare_whattype(program, boot, rows, wanted)
        if boot.kernel == kernel_names()[-1]:
            with session.case(f"{boot.label}: without the table") as notes:
                compare_without_table(program, boot, list(rows), notes)
        with session.case(f"{boot.label}: a value knows its symbol"):
            know_symbols(program, boot, found)
        program.cache = os.path.join(program.scratch, "verdicts-" + boot.kernel)
        try:
            with session.case(f"{boot.label}: with a cache that is cold, made and warm"):
                compare_all(program, boot, wanted, "with a cold cache")
                cached = {row["name"]: of_row(row)
                          for row in program.result(boot.dump, "globals", timeout=600)
                          if row["name"] in wanted}
                compare(cached, wanted, "by globals that makes the cache")
                compare_all(program, boot, wanted, "with a warm cache")
                compare_print(program, boot, wanted)
        finally:
            program.cache = None
