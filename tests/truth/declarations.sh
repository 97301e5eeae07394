#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares debugger/declare/globals.decl with the DWARF of kernels, by hand:
#
#   tests/truth/declarations.sh VMLINUX...
#
# Each declaration must be the variable's own in every VMLINUX that has it (needs drgn). Qualifiers
# do not count, nor does the first dimension of an array that is declared open. Names that only
# assembly or the linker define are listed as "no DWARF". Exit status 1 when one differs.
set -e
cd "$(dirname "$0")/../.."
exec /usr/bin/python3 - "$@" <<'PYTHON'
import re
import sys

import drgn

K = drgn.TypeKind
TAGS = {K.STRUCT: "struct ", K.UNION: "union ", K.ENUM: "enum "}


def declare(kind, declarator):
    """The C declaration of `declarator`, without qualifiers, typedefs kept."""
    if kind.kind == K.POINTER:
        inner = "*" + declarator
        if kind.type.kind in (K.ARRAY, K.FUNCTION):
            inner = "(" + inner + ")"
        return declare(kind.type, inner)
    if kind.kind == K.ARRAY:
        length = "" if kind.length is None else kind.length
        return declare(kind.type, f"{declarator}[{length}]")
    if kind.kind == K.FUNCTION:
        parts = [declare(p.type, "").strip() for p in kind.parameters]
        parts += ["..."] if kind.is_variadic else []
        return declare(kind.type, f"{declarator}({', '.join(parts) or 'void'})")
    if kind.kind in TAGS:
        return f"{TAGS[kind.kind]}{kind.tag} {declarator}"
    return f"{'void' if kind.kind == K.VOID else kind.name} {declarator}"


def declared():
    text = open("debugger/declare/globals.decl").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for line in re.findall(r"[^;]+;", text):
        line = re.sub(r"\b(const|volatile|extern) ", "", " ".join(line.split()).rstrip(";"))
        yield re.search(r"(\w+)[\[\]\d)]*(\(.*\))?$", line).group(1), line


def comparable(line, name, is_open):
    return re.sub(rf"\b{name}\[\d*\]", name + "[]", line) if is_open else line


def check(program):
    absent, wrong, right = [], [], 0
    for name, line in declared():
        try:
            true = declare(program.variable(name).type_, name)
        except LookupError:
            absent.append(name)
            continue
        is_open = name + "[]" in line
        # uint and the like: the same type by another name.
        true = true.replace("struct pglist_data *node_data", "pg_data_t *node_data")
        true = true.replace("u32 boot_cpu_physical", "unsigned int boot_cpu_physical")
        if comparable(true, name, is_open) == comparable(line, name, is_open):
            right += 1
        else:
            wrong.append(f"{line}  but DWARF: {true}")
    return absent, wrong, right


failed = False
for path in sys.argv[1:]:
    program = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    program.load_debug_info([path])
    absent, wrong, right = check(program)
    print(f"{path}: {right} equal, {len(wrong)} different, {len(absent)} no DWARF")
    print(*(f"  {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    print("  no DWARF:", *absent)
    failed |= bool(wrong)
sys.exit(failed)
PYTHON
