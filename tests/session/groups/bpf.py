# SPDX-License-Identifier: GPL-3.0-or-later
"""BPF programs on the stacks of sleeping tasks, and their lines of source."""

import re

from lib import boots, check, check_equal

# Tasks of testdata/guest/bpf/bpf_states.c, and the functions of JITed code that
# each must have on its stack, innermost first ("" is a trampoline).
STACKS = {
    "bpf-syscall": ["read_blocked_page", "blocked_syscall"],
    "bpf-open": ["read_blocked_page", "blocked_open", ""],
    "bpf-fexit": [""],
}


class Function:
    """A JITed function as the kernel described it to bpf_states."""

    def __init__(self, program, address, size, name):
        self.program = program
        self.address, self.size, self.name = address, size, name
        self.lines = []  # (address, line, column, file, text)


def described(boot):
    """([Function], [fields of MAP lines]) of truth/bpf."""
    functions, maps, program = [], [], None
    for line in boot.truth("bpf").splitlines():
        kind, *fields = line.split("\t", 5 if line.startswith("LINE") else -1)
        if kind == "PROGRAM":
            program = fields
        elif kind == "FUNCTION":
            functions.append(Function(program, int(fields[0], 16), int(fields[1]), fields[2]))
        elif kind == "LINE":
            address = int(fields[0], 16)
            owner = [function for function in functions if function.program is program
                     and 0 <= address - function.address < function.size]
            check_equal(len(owner), 1, f"functions at {address:#x}")
            owner[0].lines.append((address, int(fields[1]), int(fields[2]), fields[3],
                                   fields[4].strip()))
        elif kind == "MAP":
            maps.append(fields)
    check(len(functions) > 5 and maps, "truth/bpf: hardly anything in it")
    return functions, maps


def pid_of(boot, comm):
    pids = [int(line.split()[0]) for line in boot.truth("states").splitlines()
            if line.split()[1] == comm]
    check_equal(len(pids), 1, f"tasks called {comm}")
    return pids[0]


def line_of(function, pc):
    """The last line whose code begins before a return address."""
    before = [line for line in function.lines if line[0] < pc]
    check(before, f"{function.name}: no line before {pc:#x}")
    return before[-1]


def compare_frame(frame, functions):
    """Name, file, line, column and text of one frame of a BPF function."""
    pc = int(frame["pc"], 16)
    owner = [function for function in functions if 0 < pc - function.address <= function.size]
    check_equal(len(owner), 1, f"functions at {pc:#x}")
    _, line, column, file, text = line_of(owner[0], pc)
    check(line and text, f"{owner[0].name}: the kernel has no line at {pc:#x}")
    for key, wanted in (("function", owner[0].name), ("line", line), ("column", column),
                        ("file", file), ("source", text)):
        check_equal(frame.get(key), wanted, f"{key} of {frame['symbol']}")


def compare_stacks(program, boot, notes):
    functions, _ = described(boot)
    for comm, wanted in STACKS.items():
        trace = program.result(boot.dump, f"bt {pid_of(boot, comm)}")
        frames = [frame for frame in trace["frames"] if frame.get("module") == "bpf"]
        check_equal([frame.get("function", "") for frame in frames], wanted,
                    f"JITed functions of {comm}")
        for frame in frames:
            if frame.get("function"):
                compare_frame(frame, functions)
    notes.append(f"{len(STACKS)} stacks, {len(functions)} functions")


def compare_lists(program, boot, notes):
    """`bpf`: ids, names, types, sizes, tags of programs and maps."""
    described_programs, described_maps = {}, {}
    for line in boot.truth("bpf").splitlines():
        kind, *fields = line.split("\t")
        if kind == "PROGRAM":
            described_programs[int(fields[0])] = fields[1:]
        elif kind == "MAP":
            described_maps[int(fields[0])] = fields[1:]
    answer = program.result(boot.dump, "bpf")
    check_equal([row["id"] for row in answer["programs"]], sorted(described_programs), "programs")
    for row in answer["programs"]:
        name, number, jited, instructions, tag = described_programs[row["id"]]
        ours = [row["name"], str(row["jited"]), str(row["instructions"]), row["tag"]]
        check_equal(ours, [name, jited, instructions, tag], f"program {row['id']}")
        check_equal(row["type"], word_of(program, boot, "bpf_prog_type", "BPF_PROG_TYPE_", number),
                    f"type of program {row['id']}")
    check_equal([row["id"] for row in answer["maps"]], sorted(described_maps), "maps")
    for row in answer["maps"]:
        name, number, *sizes = described_maps[row["id"]]
        check_equal([row["name"], str(row["key"]), str(row["value"]), str(row["entries"])],
                    [name, *sizes], f"map {row['id']}")
        check_equal(row["type"], word_of(program, boot, "bpf_map_type", "BPF_MAP_TYPE_", number),
                    f"type of map {row['id']}")
    notes.append(f"{len(answer['programs'])} programs, {len(answer['maps'])} maps")


def word_of(program, boot, enum, prefix, number):
    """What the kernel's BTF calls a number, as bpftool shortens it."""
    text = program.text(boot.dump, f"print (enum {enum}){number}")
    name = re.search(rf"\b{prefix}(\w+)", text)
    check(name, f"{enum} {number} is {text!r}")
    return name.group(1).lower()


def compare_details(program, boot, notes):
    """`bpf ID`: every FUNCTION and LINE of the truth, in its order."""
    functions, _ = described(boot)
    lines = 0
    for described_program in dict.fromkeys(function.program[0] for function in functions):
        mine = [one for one in functions if one.program[0] == described_program]
        answer = program.result(boot.dump, f"bpf {described_program}")
        check_equal([(int(one["address"], 16), one["size"], one["name"])
                     for one in answer["functions"]],
                    [(one.address, one.size, one.name) for one in mine],
                    f"functions of program {described_program}")
        ours = [(int(one["address"], 16), one["line"], one["column"], one["file"], one["source"])
                for one in answer["lines"]]
        check_equal(ours, [line for one in mine for line in one.lines],
                    f"lines of program {described_program}")
        lines += len(ours)
    check(lines > 50, f"{lines} lines")
    notes.append(f"{lines} lines of {len(functions)} functions")
    result = program.run(["-q", "-c", "bpf 4000000", boot.dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message")


def run(session):
    for boot in boots(("bpf",)):
        with session.case(f"{boot.label}: functions and lines of JITed frames") as notes:
            compare_stacks(session.program, boot, notes)
        with session.case(f"{boot.label}: programs and maps") as notes:
            compare_lists(session.program, boot, notes)
        with session.case(f"{boot.label}: functions and lines of programs") as notes:
            compare_details(session.program, boot, notes)
