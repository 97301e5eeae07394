# SPDX-License-Identifier: GPL-3.0-or-later
"""`globals` as a whole, and that `globals`, `whatis` and `print` say the same of a variable."""

import collections
import os
import random
import re

from groups.types import bpftool
from lib import boots, check, check_equal

SAMPLES = 150
OF_MODULES = 50
WORDS = ("certain", "inferred", "guess", "unknown")
# Symbols that macros make, and names that cannot stand in an expression.
FAMILIES = re.compile(r"__ksymtab|__kstrtab|___tp_str|__param|__UNIQUE|__func|types_|args_|print_fmt")

BTF_ID = re.compile(r"__BTF_ID__(func|struct|union|typedef)__(\w+?)__\d+")


def all_globals(program, boot):
    return program.result(boot.dump, "globals", timeout=600)


def agree(program, boot, rows, notes):
    names = {}
    for row in rows:
        names.setdefault(row["name"], []).append(row)
    single = [rows[0] for name, rows in names.items() if len(rows) == 1 and not rows[0]["module"]
              and re.fullmatch(r"[A-Za-z_]\w*", name) and not FAMILIES.match(name)]
    picked = random.Random(3).sample(single, SAMPLES)
    places = collections.Counter()  # in init data, too
    for (name, _), addresses in boot.addresses.items():
        places[name] += len(addresses)
    own = [rows[0] for name, rows in names.items() if places[name] == 1 and len(rows) == 1 and rows[0]["module"]
           and re.fullmatch(r"[A-Za-z_]\w*", name) and not FAMILIES.match(name)]
    picked += random.Random(4).sample(own, OF_MODULES)
    answers = program.answers(boot.dump, [f"whatis {row['name']}" for row in picked], timeout=600)
    for row, answer in zip(picked, answers):
        check(answer["ok"], f"{row['name']}: {answer.get('error')}")
        got = answer["result"]
        check_equal((got["type"] or "", got["confidence"]), (row["type"], row["confidence"]),
                    f"whatis {row['name']}, and globals")
    notes.append(f"{SAMPLES} variables, {OF_MODULES} of modules")


def lists(boot, rows):
    """In order, with words that are known, and with what BTF has of per-CPU variables."""
    places = [(not row["per_cpu"], int(row["address"], 16)) for row in rows]
    check_equal(places, sorted(places), "order of addresses")
    words = {row["confidence"] for row in rows}
    check(words <= set(WORDS), f"words {words}")
    variables = {found.group(1) for line in bpftool(boot.path("truth", "btf", "vmlinux"))
                 if (found := re.match(r"\[\d+\] VAR '(\w+)'", line))}
    typed = {row["name"] for row in rows if row["per_cpu"] and row["confidence"] == "certain"}
    symbols = {name for name, module in boot.addresses if not module}
    missing = (variables & symbols) - typed
    check(len(missing) <= len(variables) // 20, f"no per-CPU {shorten_names(missing)}")


def shorten_names(names):
    return ", ".join(sorted(names)[:5])


def says_the_same(program, boot):
    """The same words for one variable in print and whatis."""
    for name in ("slab_caches", "init_task", "runqueues:0", "zone_names", "sysctl_sched_features"):
        shown = program.answers(boot.dump, [f"print {name}", f"whatis {name}"])
        if not all(answer["ok"] for answer in shown):
            continue
        words = [(answer["result"]["origin"], answer["result"]["confidence"],
                  answer["result"]["type"]) for answer in shown]
        check_equal(words[0], words[1], f"words for {name}")


def filters(program, boot, rows):
    wanted = sorted(row["address"] for row in rows if row["name"].startswith("tty_")
                    and row["confidence"] == "certain")
    got = program.result(boot.dump, "globals --tier certain tty_*", timeout=600)
    check_equal(sorted(row["address"] for row in got), wanted, "tty_*")
    got = program.result(boot.dump, "globals -s name -t 'struct list_head'", timeout=600)
    check(len(got) > 100, f"only {len(got)} lists")
    names = [row["name"] for row in got]
    check_equal(names, sorted(names), "order of names")
    for row in got:
        check(row["type"].startswith("struct list_head"), f"{row['name']} is {row['type']}")
    bad = program.run(["-q", "-c", "globals -s colour", boot.dump], status=1)
    check_equal(len(bad.err.splitlines()), 1, "lines of the message")


def declares(program, boot):
    """What the user declares outranks all, and a conflict is said."""
    path = os.path.join(program.scratch, "mine")
    with open(path, "w") as file:
        file.write("unsigned short linux_banner[2];\n")
    run = ["-q", "--json", "--declare", path, "-c", "whatis linux_banner",
           "-c", "whatis -v linux_banner", "-c", "print linux_banner", boot.dump]
    plain, verbose, printed = program.run(run, status=0).objects()
    for answer in (plain, printed):
        check_equal((answer["result"]["origin"], answer["result"]["confidence"]),
                    ("declared by user", "certain"), answer["command"])
    check_equal(verbose["result"]["declared"]["agrees"], False, "agreement")
    own = program.result(boot.dump, "whatis -v init_task")
    check_equal(own["declared"]["agrees"], True, "agreement on init_task")
    # The list's word counts alone, as in print, which would have to infer to be surer.
    check_equal((own["origin"], own["confidence"]), ("declared", "inferred"), "init_task")
    check(any(clue["where"] != "0x0000000000000000" for clue in own["clues"]), "no places")
    lengths(program, boot, path)


def lengths(program, boot, path):
    """`[]` in the program's list is as long as the enumerator says, and marked as not proved;
    what the user says stays."""
    count = program.value(boot.dump, "(int)NR_VM_NODE_STAT_ITEMS")
    counters = program.result(boot.dump, "whatis vm_node_stat")
    check_equal((counters["type"], counters["origin"], counters["at_most"]),
                (f"atomic_long_t [{count}]", "declared", True), "vm_node_stat")
    with open(path, "w") as file:
        file.write(f"atomic_long_t vm_node_stat[{count + 1}];\n")
    run = ["-q", "--json", "--declare", path, "-c", "whatis vm_node_stat", boot.dump]
    answer, = program.run(run, status=0).objects()
    check_equal(answer["result"]["type"], f"atomic_long_t [{count + 1}]", "of the user")


def strings(program, boot, rows, notes):
    """A constant string ends with its NUL, whatever lies between it and the next symbol; and what
    only ends a section is nothing."""
    said = next(record["text"] for record in program.result(boot.dump, "log")
                if record["text"].startswith("Linux version"))
    banner, whatis = program.answers(boot.dump, ["globals linux_banner", "whatis linux_banner"],
                                     timeout=600)
    wanted = f"char [{len(said) + 2}]"  # a newline, which the log leaves out, and the NUL
    check_equal((banner["result"][0]["type"], whatis["result"]["type"]), (wanted, wanted),
                "linux_banner")
    functions = [row for row in rows if row["name"].startswith("__func__.") and not row["module"]]
    picked = random.Random(5).sample(functions, SAMPLES)
    values = program.answers(boot.dump, [f"print *(char (*)[{row['room']}]){row['address']}"
                                         for row in picked])
    for row, value in zip(picked, values):
        check_equal((row["type"], row["at_most"]),
                    (f"char [{len(value['result']['value']) + 1}]", False), row["name"])
    padded = sum(row["type"] != f"char [{row['room']}]" for row in picked)
    check(padded > SAMPLES // 4, f"only {padded} have padding")
    check("__indirect_thunk_end" not in {row["name"] for row in rows}, "a section's end")
    notes.append(f"linux_banner is {wanted}")


def tables(rows, notes):
    """Records of the kernel's tables that have names of their own are facts."""
    wanted = {"__ksymtab_": "struct kernel_symbol", "__event_": "struct trace_event_call *",
              "__this_module": "struct module"}
    for start, kind in wanted.items():
        got = collections.Counter((row["type"], row["confidence"]) for row in rows
                                  if row["name"].startswith(start))
        check_equal(set(got), {(kind, "certain")}, f"types of {start}*")
        notes.append(f"{got.total()} of {start}*")


def export_flags(boot, rows, notes):
    """Since 7.0: a byte for each export that has a record."""
    kinds = {start: {(row["module"], row["name"][len(start):]): (row["type"], row["confidence"]) for row in rows
                     if row["name"].startswith(start)} for start in ("__ksymtab_", "__flags_")}
    if ("__start___kflagstab", "") not in boot.addresses:
        check(not kinds["__flags_"], "flags without a table of them")
        return
    check_equal(set(kinds["__flags_"]), set(kinds["__ksymtab_"]), "exports with flags")
    check_equal(set(kinds["__flags_"].values()), {("unsigned char", "certain")}, "types of flags")
    notes.append(f"{len(kinds['__flags_'])} flags of exports")


def btf_ids(program, boot, rows, notes):
    """Certain is what has the id of a type of the kind that it is called by, in the guest's own BTF; in a set
    the ids are sorted, but not the symbols, so the names are those of all together."""
    types = {int(found.group(1)): (found.group(2).lower(), found.group(3)) for line in
             bpftool(boot.path("truth", "btf", "vmlinux"))
             if (found := re.match(r"\[(\d+)\] (FUNC|STRUCT|UNION|TYPEDEF) '(\w+)'", line))}
    wanted = [row for row in rows if BTF_ID.fullmatch(row["name"]) and not row["module"]]
    answers = program.answers(boot.dump, [f"print *(unsigned int *){row['address']}" for row in wanted])
    called, named = collections.Counter(), collections.Counter()
    for row, answer in zip(wanted, answers):
        kind, name = BTF_ID.fullmatch(row["name"]).groups()
        found = types.get(int(answer["result"]["value"]), ("nothing", ""))
        got = row["type"], row["confidence"]
        # The flags of a kfunc follow its id.
        expected = ("certain",) if row["room"] == 4 else ("certain", "inferred")
        if found[0] == kind:
            check(got[0] == "unsigned int" and got[1] in expected, f"{row['name']} is {got}")
            called[kind, name] += 1
            named[found] += 1
        else:
            check(got[1] != "certain", f"{row['name']} has the id of {found}, and is certain")
    shared = (called & named).total()
    check(shared > 0.95 * called.total() > 0.8 * len(wanted),
          f"of {len(wanted)} ids {called.total()} are of such a kind, {shared} of the names")
    notes.append(f"{shared} of {len(wanted)} BTF ids")


def run(session):
    for boot in boots(("boot1",)):
        rows = []
        with session.case(f"{boot.label}: globals lists all, per-CPU ones too"):
            rows = all_globals(session.program, boot)
            lists(boot, rows)
        with session.case(f"{boot.label}: globals and whatis agree") as notes:
            agree(session.program, boot, rows, notes)
        with session.case(f"{boot.label}: records of tables are facts") as notes:
            tables(rows, notes)
            export_flags(boot, rows, notes)
        with session.case(f"{boot.label}: BTF ids are of types of their kind") as notes:
            btf_ids(session.program, boot, rows, notes)
        with session.case(f"{boot.label}: strings end with their NUL") as notes:
            strings(session.program, boot, rows, notes)
        with session.case(f"{boot.label}: print and whatis use the same words"):
            says_the_same(session.program, boot)
        with session.case(f"{boot.label}: globals by name, type, tier, and order"):
            filters(session.program, boot, rows)
        with session.case(f"{boot.label}: the user's declarations outrank all"):
            declares(session.program, boot)
