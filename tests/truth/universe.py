#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sorts globals into those that scores count and the rest, and says why.

  tests/truth/universe.py [--list] [--json] GLOBALS.tsv[.gz]...

Counts for the kernel and for all its modules together; --list prints each
symbol with its class instead: OBJECT, SYMBOL, CLASS, DETAIL.

*core* is what ../shared/INFERENCE.md counts: 11,203 symbols of Debian's 6.1 and
12,708 of its 6.12.  Its list of generated families ends too early for that: with
it alone 15,418 and 20,718 remain.  STUDY is that list; GENERATED are the further
families of macros, found by what they have in common; with them, without types
that C cannot name and without mere declarations, both numbers come out exactly.
Which is evidence, not proof, that it is the same set.
"""

import argparse
import collections
import gzip
import json
import re
import sys

Global = collections.namedtuple(
    "Global", "object address section size symbol_size room symbol flags type aliases unit "
    "function members")

# As INFERENCE.md has them.
STUDY = re.compile(
    r"__ksymtab|__kstrtab|___tp_str|__param_str|__UNIQUE_ID|__func__\.|CSWTCH|print_fmt_|event_"
    r"|__tracepoint_|__SCK__|types_|args_|__msg\.|__key\.|__setup_")

# What it does not name, but is made by macros just as well.
GENERATED = re.compile(
    r"__param_"                     # module_param(): const struct kernel_param
    r"|__modver|.*_modver_"         # MODULE_VERSION()
    r"|trace_event_"                # TRACE_EVENT(): _fields_, _type_funcs_, ...
    r"|__tpstrtab_"                 # its name
    r"|__trace_check_"              # the same, since 7.x
    r"|__bpf_trace_"                # its union { struct bpf_raw_event_map ... }
    r"|__syscall_meta_|__p_syscall_meta_"
    r"|security_hook_active_"       # the static keys of LSM hooks
    r"|__already_done\b|__print_once\b|___done\b|___once_key\b"
    r"|_rs\.|descriptor\."          # printk_ratelimited(), pr_debug()
    r"|_acpi_module_name")

# Of modules: what loading consumes or every module has.
MODULE_PARTS = re.compile(
    r"__this_module$|____versions$|_note_\d+$|orc_header$|__event_|__TRACE_SYSTEM_|TRACE_SYSTEM_"
    r"|__mod_|__compound_literal\.")
NOT_LOADED = re.compile(r"\.modinfo|__versions|\.note|\.init\.|\.discard|\.gnu\.linkonce")

# Sections of the kernel that hold room, not variables.
NO_VARIABLES = {".brk", ".init.scratch", "__init_rodata"}


def load(path):
    """The rows of a file that `globals` wrote."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        for line in file:
            if line.startswith("#"):
                continue
            row = Global(*line.rstrip("\n").split("\t"))
            yield row._replace(size=int(row.size), symbol_size=int(row.symbol_size),
                               room=int(row.room), flags=frozenset(row.flags.split(",")))


def family(symbol, pattern):
    """The generated family of a symbol, or None."""
    found = pattern.match(symbol)
    return found and found[0].rstrip("._") + "*"


def classify(row):
    """(class, detail): ("core", "") or why a variable does not belong to it."""
    if "percpu" in row.flags:
        return "per-CPU", ""
    if "init" in row.flags:
        return "init data", ""
    if "nosymbol" in row.flags:
        return "no symbol", ""
    if "text" in row.flags:
        return "in code", ""
    for name, pattern in (("family of the study", STUDY), ("generated", GENERATED)):
        if pattern.match(row.symbol):
            return name, family(row.symbol, pattern)
    if row.object != "vmlinux":
        if MODULE_PARTS.match(row.symbol) or NOT_LOADED.match(row.section):
            return "part of a module", row.section
    elif row.section in NO_VARIABLES:
        return "no variable", row.section
    if "declared" in row.flags:
        return "declared only", ""
    if "{...}" in row.type:
        return "unnamed type", ""
    return "core", ""


def full_type(row):
    """The type; an unnamed struct has the names of its members: "struct {seq,timekeeper}"."""
    if not row.members:
        return row.type
    names = [member.rpartition("@")[0] for member in row.members.split(",")]
    return row.type.replace("{...}", "{" + ",".join(names) + "}")


def is_core(row):
    return classify(row)[0] == "core"


def count(paths):
    """{"kernel" or "modules": {class: {detail: count}}}"""
    counts = {}
    for path in paths:
        for row in load(path):
            kind, detail = classify(row)
            place = "kernel" if row.object == "vmlinux" else "modules"
            details = counts.setdefault(place, {}).setdefault(kind, collections.Counter())
            details[detail] += 1
    return counts


def print_counts(path):
    print(path)
    for place, kinds in count([path]).items():
        print(f"  {place}: {sum(sum(details.values()) for details in kinds.values())} variables")
        for kind, details in sorted(kinds.items(), key=lambda item: -sum(item[1].values())):
            most = ", ".join(f"{name} {number}" for name, number in details.most_common() if name)
            print(f"    {sum(details.values()):6} {kind}{': ' + most if most else ''}")


def main():
    parser = argparse.ArgumentParser(description="Sorts globals by what scores count.")
    parser.add_argument("--list", action="store_true", help="each symbol with its class")
    parser.add_argument("--json", action="store_true", help="counts for programs")
    parser.add_argument("file", nargs="+")
    arguments = parser.parse_args()
    if arguments.json:
        json.dump(count(arguments.file), sys.stdout, indent=1)
        print()
        return
    for path in arguments.file:
        if not arguments.list:
            print_counts(path)
            continue
        for row in load(path):
            print(row.object, row.symbol, *classify(row), sep="\t")


if __name__ == "__main__":
    main()
