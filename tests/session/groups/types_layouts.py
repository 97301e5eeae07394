# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts of all structs and unions against pahole's, text for text; `struct` and its like.

What pahole prints otherwise:

  A type that has the name, size and members' names and places of an earlier one, but other
  types of members, is not shown by pahole at all (it takes both for one).  Which these are is
  found in bpftool's listing, and each must be missing there.
"""

import functools
import json
import os
import re
import subprocess

from lib import boots, check, check_equal, check_lines, shorten, tool

LARGEST_MODULES = 10
TOP_LEVEL = re.compile(rb"^(?:struct|union) .*?^\}[^\n]*;\n", re.MULTILINE | re.DOTALL)
NAMES = ("task_struct", "mm_struct", "sk_buff", "vm_fault", "net_device", "rcu_special", "list_head")
NAMED = ("STRUCT", "UNION")
HOLES_WITHIN = re.compile(rb"/\* XXX last struct has [^*]*\bholes? ?[^*]*\*/")


@functools.lru_cache(maxsize=2)
def pahole(path, *options):
    """What pahole prints; a byte that is no UTF-8 would be escaped by the program."""
    done = subprocess.run([tool("pahole"), "-F", "btf", *options, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check(done.returncode == 0, f"pahole: {shorten(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


@functools.lru_cache(maxsize=2)
def records(path, base=None):
    """The types of a BTF file as bpftool has them, without its base's."""
    done = subprocess.run([tool("bpftool"), *(["-B", base] if base else []), "-j", "btf", "dump",
                           "file", path, "format", "raw"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check(done.returncode == 0, f"bpftool: {done.stderr.decode('utf-8', 'replace')}")
    return json.loads(done.stdout)["types"]


@functools.lru_cache(maxsize=2)
def looks_of(path, base=None):
    """What pahole tells structs and unions with a name by, with the name."""
    return [(row["name"], (row["name"], row["size"],
                           tuple((member["name"], member["bits_offset"], member.get("bitfield_size"))
                                 for member in row["members"])))
            for row in records(path, base) if row["kind"] in NAMED and row["name"] != "(anon)"]


def hidden_by_pahole(path, base=None):
    """For each struct or union with a name: whether pahole takes it for an earlier one."""
    seen = {look for _, look in looks_of(base)} if base else set()
    for name, look in looks_of(path, base):
        yield name, look in seen
        seen.add(look)


def compare(ours, theirs, path, base=None):
    """Both outputs, type by type; the names that pahole does not show."""
    got = TOP_LEVEL.findall(ours)
    check_equal(b"".join(got), ours, "what is no struct or union of the output")
    own = list(hidden_by_pahole(path, base))
    check_equal(len(got), len(own), "number of layouts")
    shown = [text for text, (_, hidden) in zip(got, own) if not hidden]
    check_lines(shown, TOP_LEVEL.findall(theirs), "layout")
    return [name for name, hidden in own if hidden]


def compare_kernel(program, boot, notes):
    path = boot.path("truth", "btf", "vmlinux")
    ours = program.run(["-q", "-c", "types --format pahole", boot.dump], status=0).out
    hidden = compare(ours, pahole(path), path)
    notes.append(f"{len(TOP_LEVEL.findall(ours))} layouts, pahole hides: {' '.join(hidden)}")


def compare_modules(program, boot, notes):
    base = boot.path("truth", "btf", "vmlinux")
    names = sorted(set(os.listdir(boot.path("truth", "btf"))) - {"vmlinux"},
                   key=lambda name: -os.path.getsize(boot.path("truth", "btf", name)))
    kernel = pahole(base)
    count, all_hidden = 0, []
    for name in names[:LARGEST_MODULES]:
        path = boot.path("truth", "btf", name)
        theirs = pahole(path, "--btf_base", base)
        check(theirs.startswith(kernel), f"{name}: pahole does not begin with the kernel's types")
        ours = program.run(["-q", "-c", f"types -m {name} --format pahole", boot.dump],
                           status=0).out
        all_hidden += compare(ours, theirs[len(kernel):], path, base)
        count += len(TOP_LEVEL.findall(ours))
    if names:
        notes.append(f"{count} layouts, pahole hides: {' '.join(all_hidden)}")


def compare_named(program, boot):
    path = boot.path("truth", "btf", "vmlinux")
    words = [word for name in NAMES for word in ("-c", f"struct -o {name}")]
    ours = program.run(["-q", *words, boot.dump], status=0).out
    check_lines(ours.splitlines(), pahole(path, "-C", ",".join(NAMES)).splitlines(), "line")


def compare_with_pahole(session, boot):
    """Text for text; not with a pahole after 1.24, which tells the holes of members' types as well."""
    kernel = b""
    with session.case(f"{boot.label}: pahole can be asked") as notes:
        kernel = pahole(boot.path("truth", "btf", "vmlinux"))
        notes.append(f"{len(TOP_LEVEL.findall(kernel))} layouts")
    if HOLES_WITHIN.search(kernel):
        session.skip(f"{boot.label}: layouts are as pahole has them",
                     "this pahole tells the holes of members' types, which 1.24 does not")
        return
    with session.case(f"{boot.label}: every layout is as pahole has it") as notes:
        compare_kernel(session.program, boot, notes)
    with session.case(f"{boot.label}: layouts of modules are as pahole has them") as notes:
        compare_modules(session.program, boot, notes)
    with session.case(f"{boot.label}: struct -o is as pahole -C"):
        compare_named(session.program, boot)


def flatten(members, base=0):
    """(name, bit offset, width) of the JSON's members, through anonymous ones."""
    for member in members:
        offset = member["offset"] * 8 + member.get("bit_offset", 0)
        if member["name"]:
            yield member["name"], offset, member.get("bit_size", 0)
        else:
            yield from flatten(member.get("members", []))


def flatten_rows(rows, row, base=0):
    for member in row["members"]:
        offset = base + member["bits_offset"]
        if member["name"] != "(anon)":
            yield member["name"], offset, member.get("bitfield_size", 0)
        elif member["type_id"] in rows and "members" in rows[member["type_id"]]:
            yield from flatten_rows(rows, rows[member["type_id"]], offset)


def compare_json(program, boot, notes):
    """Offsets and widths of all members as data, as bpftool has them."""
    rows = {row["id"]: row for row in records(boot.path("truth", "btf", "vmlinux"))}
    got = program.result(boot.dump, "types --format pahole")
    members = 0
    for layout in got:
        row = rows[layout["id"]]
        check_equal((layout["name"], layout["size"]), (row["name"], row["size"]), "a layout")
        # A member of a named type without a name of its own is not gone into in JSON.
        ours = list(flatten(layout["members"]))
        wanted = list(flatten_rows(rows, row))
        if any(not part["name"] and "members" not in part for part in layout["members"]):
            continue
        check_equal(ours, wanted, f"members of {row['name']}")
        members += len(wanted)
    check(members > 20000, f"only {members} members were compared")
    notes.append(f"{members} members")


def check_members(program, boot):
    """A member's place, and members of one in memory, as in crash."""
    rows = {row["id"]: row for row in records(boot.path("truth", "btf", "vmlinux"))}
    task, = [row for row in rows.values() if row["kind"] == "STRUCT"
             and row["name"] == "task_struct"]
    places = {name: offset // 8 for name, offset, _ in flatten_rows(rows, task)}
    found, = program.result(boot.dump, "struct task_struct.tasks,pid,comm")
    check_equal([(part["name"], part["offset"]) for part in found["members"]],
                [(name, places[name]) for name in ("tasks", "pid", "comm")], "members")
    check_equal(found["members"][2]["type"], "char [16]", "type of comm")
    found, = program.result(boot.dump, "struct task_struct.comm,pid init_task")
    check_equal([part["value"] for part in found["members"]], ["swapper/0", 0], "values")
    text = program.text(boot.dump, "struct task_struct.comm,pid init_task")
    check_equal(text, '  comm = "swapper/0"\n  pid = 0\n', "text of members")
    result = program.run(["-q", "-c", "struct task_struct.com", boot.dump], status=1)
    check("has no member com" in result.errors, f"message: {shorten(result.errors)}")


def check_several(program, boot, notes):
    """Every type of a name is shown, with where it is from."""
    names, kinds = {}, {}
    for row in records(boot.path("truth", "btf", "vmlinux")):
        kinds[row["id"]] = row["kind"]
        if row["kind"] in NAMED and row["name"] != "(anon)":
            names.setdefault(row["name"], []).append(row["id"])
    several = {name: ids for name, ids in names.items() if len(ids) > 1}
    check(several, "truth: every name is of one type")
    for name, ids in several.items():
        found = program.result(boot.dump, f"struct -m vmlinux {name}")
        check_equal(sorted(part["id"] for part in found), ids, f"types called {name}")
        text = program.text(boot.dump, f"struct -m vmlinux {name}")
        for number in ids:
            check(f"/* vmlinux, type {number} */" in text, f"{name}: type {number} is not told")
        tagged = {kinds[number] for number in ids}
        if tagged == {"STRUCT"}:
            shown = program.result(boot.dump, f"whatis struct {name}")
            check(set(ids) <= {part["id"] for part in shown}, f"whatis struct {name}: {shown}")
    notes.append(" ".join(several))


def check_module_type(program, boot):
    if "xfs" not in os.listdir(boot.path("truth", "btf")):
        return
    found, = program.result(boot.dump, "struct xfs:xfs_mount")
    check_equal((found["btf"], found["definition"]["name"]), ("xfs", "xfs_mount"), "xfs_mount")
    check_equal(program.result(boot.dump, "struct xfs_mount"), [found], "without the module")
    result = program.run(["-q", "-c", "struct nls_utf8:xfs_mount", boot.dump], status=1)
    check('no type "struct xfs_mount" in nls_utf8' in result.errors, shorten(result.errors))
    for tag in ("struct", "union", "enum"):
        result = program.run(["-q", "-c", f"{tag} no_such_type", boot.dump], status=1)
        check(f'no type "{tag} no_such_type"' in result.errors, shorten(result.errors))


def check_searches(program, boot, notes):
    """Searches by member, size and part, each against bpftool's rows."""
    rows = {row["id"]: row for row in records(boot.path("truth", "btf", "vmlinux"))}
    named = [row for row in rows.values() if row["kind"] in NAMED and row["name"] != "(anon)"]
    got = program.result(boot.dump, "types -m vmlinux --member i_ino")
    wanted = [row["id"] for row in named
              if any(name == "i_ino" for name, _, _ in flatten_rows(rows, row))]
    check_equal([row["id"] for row in got if row["kind"] != "typedef"], wanted, "--member i_ino")
    got = program.result(boot.dump, "types -m vmlinux --size 4096")
    wanted = [row["id"] for row in named if row["size"] == 4096]
    check_equal([row["id"] for row in got if row["kind"] in ("struct", "union")
                 and row["name"] in {row["name"] for row in named}], wanted, "--size 4096")
    got = program.result(boot.dump, "types -m vmlinux 'task_*'")
    check({"task_struct", "task_group"} <= {row["name"] for row in got}, "no task_struct")
    check(all(row["name"].startswith("task_") for row in got), "a name that does not fit")
    got = program.result(boot.dump, "types -m vmlinux --contains 'struct mutex'")
    check_contains(rows, got)
    notes.append(f"{len(got)} places of a struct mutex")


def check_contains(rows, got):
    """Each place is one, and every struct that has a mutex itself was found."""
    mutex, = [row["id"] for row in rows.values() if row["kind"] == "STRUCT"
              and row["name"] == "mutex"]
    wanted = {row["id"] for row in rows.values() if row["kind"] in NAMED and row["name"] != "(anon)"
              and any(member["type_id"] == mutex for member in row["members"])}
    check(wanted, "truth: nothing has a mutex")
    check(wanted <= {row["id"] for row in got}, "a struct with a mutex was not found")
    for row in got:
        check_equal(row["type"].split(" [")[0], "struct mutex", f"{row['name']}.{row['member']}")


def run(session):
    program = session.program
    for boot in boots():
        if boot.label.endswith("boot2"):
            continue
        compare_with_pahole(session, boot)
        with session.case(f"{boot.label}: layouts as JSON are as bpftool has them") as notes:
            compare_json(program, boot, notes)
        with session.case(f"{boot.label}: members by name, in the type and in memory"):
            check_members(program, boot)
        with session.case(f"{boot.label}: all types of one name are shown") as notes:
            check_several(program, boot, notes)
        with session.case(f"{boot.label}: types of modules"):
            check_module_type(program, boot)
        with session.case(f"{boot.label}: types by member, size, part and pattern") as notes:
            check_searches(program, boot, notes)
