# SPDX-License-Identifier: GPL-3.0-or-later
"""`types --format c`: the header compiles, and the compilers lay out every struct as BTF says.

Sizes and offsets are asserted at compile time, with gcc and clang, as bpftool reads them from the
guest's BTF.  Bit-fields have no offsetof(): gcc's debug information of the header, made BTF by
pahole, is compared with the guest's.
"""

import json
import os
import re
import subprocess

from lib import boots, check, check_equal, shorten, tool

COMPILE_SECONDS = 120
COMPOUND = ("STRUCT", "UNION")
TAGGED = ("STRUCT", "UNION", "ENUM", "ENUM64")
FILLER = re.compile(r"__(hole|size)_\d+$")  # members that hold others in their places


def succeed(command, what):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=COMPILE_SECONDS)
    check(done.returncode == 0, f"{what}: {shorten(done.stdout.decode('utf-8', 'replace'))}")
    return done.stdout


class Types:
    """The types of a BTF file as bpftool has them."""

    def __init__(self, path):
        text = succeed([tool("bpftool"), "-j", "btf", "dump", "file", path, "format", "raw"],
                       "bpftool")
        self.rows = {row["id"]: row for row in json.loads(text)["types"]}

    def members(self, row, base=0):
        """(path, bit offset, bit-field width) of the members, through anonymous ones."""
        for member in row["members"]:
            offset = base + member["bits_offset"]
            inner = self.rows.get(member["type_id"])
            if member["name"] != "(anon)":
                yield member["name"], offset, member.get("bitfield_size", 0)
            elif inner and inner["kind"] in COMPOUND:
                yield from self.members(inner, offset)

    def tagged(self):
        """("struct x", row) of all structs and unions, with the names that C tells apart."""
        seen = {}
        for row in self.rows.values():
            if row["kind"] not in TAGGED or row["name"] == "(anon)":
                continue
            number = seen[row["name"]] = seen.get(row["name"], 0) + 1
            if row["kind"] in COMPOUND:
                suffix = f"___{number}" if number > 1 else ""
                yield f"{row['kind'].lower()} {row['name']}{suffix}", row

    def nameless(self):
        """(typedef, row) of the structs and unions that only typedefs name."""
        seen = {}
        for row in self.rows.values():
            if row["kind"] != "TYPEDEF":
                continue
            number = seen[row["name"]] = seen.get(row["name"], 0) + 1
            inner = self.rows.get(row["type_id"])
            if inner and inner["kind"] in COMPOUND and inner["name"] == "(anon)":
                yield row["name"] + (f"___{number}" if number > 1 else ""), inner

    def all_named(self):
        yield from self.tagged()
        yield from self.nameless()


def assertions(types):
    """C that proves sizes and offsets at compile time, and how many."""
    lines = []
    for name, row in types.all_named():
        lines.append(f'_Static_assert(sizeof({name}) == {row["size"]}, "size of {name}");')
        for member, offset, width in types.members(row):
            if not width:
                lines.append(f"_Static_assert(__builtin_offsetof({name}, {member}) == "
                             f'{offset // 8}, "{name}.{member}");')
    return lines


def compare_fields(types, folder, source):
    """Every member of every struct, bit-fields too, as gcc places it; how many bit-fields."""
    compiled = os.path.join(folder, "header.o")
    succeed([tool("gcc"), "-g", "-w", "-fno-eliminate-unused-debug-types", "-c", "-x", "c",
             source, "-o", compiled], "gcc -g")
    # It writes the section by LLVM's objcopy, unless told which.
    succeed(["env", f"LLVM_OBJCOPY={tool('objcopy')}", tool("pahole"), "-J", compiled],
            "pahole -J")
    own = Types(compiled)
    ours = {name: (row["size"], [part for part in own.members(row) if not FILLER.match(part[0])])
            for name, row in own.all_named()}
    fields = 0
    for name, row in types.all_named():
        check(name in ours, f"{name} is not in the header's own BTF")
        size, members = ours[name]
        check_equal(size, row["size"], f"size of {name}")
        wanted = list(types.members(row))
        check_equal(members, wanted, f"members of {name}")
        fields += sum(1 for _, _, width in wanted if width)
    return fields


def check_header(program, boot, notes):
    types = Types(boot.path("truth", "btf", "vmlinux"))
    text = program.text(boot.dump, "types --format c")
    lines = assertions(types)
    check(len(lines) > 20000, f"truth: only {len(lines)} sizes and offsets")
    header = os.path.join(program.scratch, "vmlinux.h")
    proof = os.path.join(program.scratch, "proof.c")
    with open(header, "w") as file:
        file.write(text)
    with open(proof, "w") as file:
        file.write('#include "vmlinux.h"\n' + "\n".join(lines) + "\n")
    for compiler in ("gcc", "clang"):
        succeed([tool(compiler), "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", proof],
                compiler)
    # One that does not hold is seen.
    with open(proof, "a") as file:
        file.write('_Static_assert(sizeof(struct list_head) == 17, "planted");\n')
    done = subprocess.run([tool("gcc"), "-fsyntax-only", proof], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=COMPILE_SECONDS)
    check(done.returncode != 0 and b"planted" in done.stdout, "a wrong size is not seen")
    fields = compare_fields(types, program.scratch, header)
    notes.append(f"{len(lines)} sizes and offsets, {fields} bit-fields")


def run(session):
    for boot in boots():
        if boot.label.endswith("boot2"):
            continue
        with session.case(f"{boot.label}: the header compiles to the same layouts") as notes:
            check_header(session.program, boot, notes)
