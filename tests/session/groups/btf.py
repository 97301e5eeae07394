# SPDX-License-Identifier: GPL-3.0-or-later
"""BTF of the dump listed, compared and exported; BTF from elsewhere, given by --btf."""

import filecmp
import os
import re
import subprocess
from collections import Counter

from groups.types import bpftool
from lib import boots, check, check_equal, shorten

KINDS = {"STRUCT": "struct", "UNION": "union", "TYPEDEF": "typedef", "FUNC": "func", "VAR": "var",
         "INT": "int", "PTR": "ptr", "DATASEC": "datasec"}


def truth(boot, *names):
    return boot.path("truth", "btf", *names)


def modules_of(boot):
    return sorted(set(os.listdir(truth(boot))) - {"vmlinux"})



def lists(program, boot):
    rows = {row["name"]: row for row in program.result(boot.dump, "btf", timeout=300)}
    counts = {}
    for line in bpftool(truth(boot, "vmlinux")):
        if found := re.match(r"\[\d+\] (\w+) ", line):
            counts[found[1]] = counts.get(found[1], 0) + 1
    for kind, key in KINDS.items():
        check_equal(rows["vmlinux"][key], counts.get(kind, 0), f"number of {kind}")
    check_equal(rows["vmlinux"]["types"], sum(counts.values()), "number of types")
    check_equal(rows["vmlinux"]["level"], 1, "level of vmlinux")
    for name in modules_of(boot):
        check_equal(rows[name]["level"], 2, f"level of {name}")
        check_equal(rows[name]["bytes"] + 24, os.path.getsize(truth(boot, name)),
                    f"bytes of {name}")


def exports(program, boot):
    path = os.path.join(program.scratch, "exported.btf")
    for name in ["vmlinux", *modules_of(boot)[:3]]:
        program.text(boot.dump, f"btf --export {path} -m {name}")
        check(filecmp.cmp(path, truth(boot, name), shallow=False), f"{name} is not as the guest's")


def refused(program, boot, given, why):
    result = program.run(["-q", "--btf", given, "-c", "sys", boot.dump], status=2)
    check(why in result.errors and not result.out,
          f"--btf {given}: {shorten(result.errors)} lacks {why}")


def refuses(program, boot, other):
    """Files of another kernel, bases that are not theirs, no BTF at all."""
    if other.kernel != boot.kernel:
        refused(program, boot, truth(other, "vmlinux"), "it is of another kernel")
    refused(program, boot, boot.dump, "it has no section .BTF")
    refused(program, boot, __file__, "is not BTF's")
    refused(program, boot, os.path.join(program.scratch, "no.btf"), "No such file")
    refused(program, boot, truth(boot, "vmlinux") + ",base=vmlinux", "continues no base")
    names = modules_of(boot)
    if not names:
        return
    for name in names[:4]:
        refused(program, boot, f"{truth(boot, name)},base=none", "string is not empty")
    refused(program, boot, f"{truth(boot, names[0])},base=nothing", "no BTF is called nothing")
    refused(program, boot, f"{truth(boot, names[0])},base={names[1]}", "its base is not this")
    for name in set(modules_of(other)) & set(names[:4]) if other.kernel != boot.kernel else ():
        refused(program, boot, truth(other, name), "its base is not this vmlinux")


def takes_folder(program, boot, notes):
    """What the guest served is found by its name, the kernel's and the modules'."""
    result = program.run(["-q", "--json", "--btf", truth(boot), "-c", "btf", boot.dump], status=0,
                         timeout=300)
    answer, = result.objects()
    files = [row for row in answer["result"] if row["from"] != "dump" and row["from"]]
    names = {row["name"] for row in files}
    check(names >= {"vmlinux", *modules_of(boot)}, f"files: {shorten(names)}")
    check(all(row["module"] == row["name"] for row in files if row["name"] != "vmlinux"),
          "a file is not its module's")
    notes.append(f"{len(files)} files")


def differs(program, boot, other):
    """A BTF does not differ from itself; of two kernels bpftool tells what one has alone."""
    check_equal(program.result(boot.dump, f"btf --diff vmlinux {truth(boot, 'vmlinux')}"), [],
                "differences to itself")
    rows = program.result(boot.dump, f"btf --diff vmlinux {other.dump}", timeout=300)
    for kind in ("STRUCT", "UNION", "FUNC"):
        ours, theirs = ({found[1] for line in bpftool(truth(one, "vmlinux"))
                         if (found := re.match(r"\[\d+\] " + kind + r" '([^']+)'", line))}
                        - {"(anon)"} for one in (boot, other))
        for change, wanted in (("only in A", ours - theirs), ("only in B", theirs - ours)):
            got = {row["name"] for row in rows
                   if row["kind"] == kind and row["change"] == change}
            check_equal(got ^ wanted, set(), f"{kind} {change}")


def read_exported(path, base):
    """Name, spelled type id and tag of each variable, as bpftool reads them."""
    variables, tags = {}, {}
    for line in bpftool(path, base):
        if found := re.match(r"\[(\d+)\] VAR '(\S+)' type_id=(\d+)", line):
            variables[int(found[1])] = found[2]
        elif found := re.match(r"\[\d+\] DECL_TAG 'btfcrash:(\w+)' type_id=(\d+)", line):
            tags[int(found[2])] = found[1]
    return variables, tags


def round_trip(program, boot, notes):
    """What is known of globals, written, read by bpftool, and given back."""
    path = os.path.join(program.scratch, "vmlinux-btf-extra")
    program.text(boot.dump, f"btf --export-variables {path}", timeout=900)
    variables, tags = read_exported(path, truth(boot, "vmlinux"))
    names = list(variables.values())
    check(len(names) > 5000, f"only {len(names)} variables")
    check_equal(set(tags), set(variables), "variables with a tag")
    check(set(tags.values()) <= {"certain", "inferred", "declared"}, f"tags {set(tags.values())}")
    symbols = Counter(name for _, _, name, _ in boot.symbols)
    single = [(name, tags[number]) for number, name in sorted(variables.items())
              if symbols[name] == 1 and re.fullmatch(r"[a-z]\w+", name)]
    picked = single[::len(single) // 60]
    by_name = {name: tags[number] for number, name in variables.items()}
    picked += [(name, by_name.get(name)) for name in ("slab_caches", "init_net", "modules")]
    commands = [f"whatis {name}" for name, _ in picked]
    arguments = [word for command in commands for word in ("-c", command)]
    plain = program.answers(boot.dump, commands, timeout=600)
    given = program.run(["-q", "--json", "--btf", path, *arguments, boot.dump], status=0,
                        timeout=600).objects()
    same = 0
    for (name, tag), before, after in zip(picked, plain, given):
        origin = after["result"]["origin"]
        wanted = {"certain": "file", "inferred": "inferred", "declared": "declared"}[tag]
        check_equal(origin, wanted, f"origin of {name}, {tag}")
        same += before["result"]["type"] == after["result"]["type"]
    check(same >= len(picked) * 0.95, f"only {same} of {len(picked)} have the same type")
    data = Counter(name for _, letter, name, module in boot.symbols
                   if not module and letter not in "tTwW")
    shared = sorted(name for name in set(names) if data[name] > 1)
    check(len(shared) > 20, f"only {len(shared)} names that several symbols have")
    refused = program.run(["-q", "--btf", path, "-c", f"whatis {shared[0]}", boot.dump], status=1)
    check(" are called " in refused.errors, f"{shared[0]}: {refused.errors}")
    notes.append(f"{len(names)} variables, {same} of {len(picked)} typed as without")


FILE_SOURCE = """struct list_head { struct list_head *next, *prev; };
struct only_in_file { int alpha; struct list_head links; } variable;
"""


def types_of_file(program, boot):
    """What only a file has is found by struct and types, as what modules have."""
    path = os.path.join(program.scratch, "types.c")
    with open(path, "w") as file:
        file.write(FILE_SOURCE)
    subprocess.run(["clang", "-target", "bpf", "-g", "-c", path, "-o", path[:-2]], check=True)
    commands = ("struct only_in_file", "struct -m types only_in_file", "types 'only_in*'",
                "types -m types struct only_in_file", "print sizeof(struct only_in_file)")
    arguments = [word for command in commands for word in ("-c", command)]
    result = program.run(["-q", "--json", "--json-integers=exact", "--btf",
                          path[:-2] + ",base=none", *arguments, boot.dump], status=0)
    by_name, by_file, found, raw, size = [answer["result"] for answer in result.objects()]
    check_equal(by_name, by_file, "struct -m")
    check("alpha" in str(by_name) and "links" in str(by_name), f"struct: {by_name}")
    check("only_in_file" in str(found) and "only_in_file" in str(raw), f"types: {found} {raw}")
    check_equal(size["value"], 24, "its size")
    wrong = program.run(["-q", "-c", "struct -m nosuch list_head", boot.dump], status=1)
    check("no BTF is called nosuch" in wrong.errors, wrong.errors)


def run(session):
    program = session.program
    all_boots = [boot for boot in boots() if boot.label.endswith("boot1")]
    for number, boot in enumerate(all_boots):
        other = all_boots[number - 1]
        with session.case(f"{boot.label}: the BTFs are listed as bpftool counts them"):
            lists(program, boot)
        with session.case(f"{boot.label}: exported BTF is the guest's, byte for byte"):
            exports(program, boot)
        with session.case(f"{boot.label}: BTF that does not fit is refused with the reason"):
            refuses(program, boot, other)
        with session.case(f"{boot.label}: a folder's BTF is found by name") as notes:
            takes_folder(program, boot, notes)
        with session.case(f"{boot.label}: what differs from {other.label}, and from itself"):
            differs(program, boot, other)
    for boot in all_boots[:1]:
        with session.case(f"{boot.label}: types that only a file has"):
            types_of_file(program, boot)
        with session.case(f"{boot.label}: types of globals written, and read back") as notes:
            round_trip(program, boot, notes)
