# SPDX-License-Identifier: GPL-3.0-or-later
"""`dis`: instructions against objdump's of the same bytes, calls against the guest's kallsyms,
members against the guest's BTF as bpftool has it, source lines of BPF against the guest's."""

import os
import re
import subprocess

from groups.bpf import described
from lib import boots, check, check_equal, tool

# Of the kernel, in every kernel that is tested; many calls, members and globals.
FUNCTIONS = ("vfs_read", "do_sys_poll", "schedule", "do_exit", "ksys_write", "proc_reg_read",
             "sysrq_handle_crash")
# Members that the code of these functions cannot do without, and whose pointer is an argument.
MEMBERS = {
    "vfs_read": {("file", "struct file.f_mode"), ("file", "struct file.f_op")},
    "vfs_write": {("file", "struct file.f_mode"), ("file", "struct file.f_op")},
    "proc_reg_read": {("file", "struct file.f_inode")},
}


def listing(program, boot, command):
    return program.result(boot.dump, command)["instructions"]


def bytes_of(instructions):
    return b"".join(bytes.fromhex(row["bytes"]) for row in instructions)


def number(text):
    return int(text, 16)


def disassembled(program, code, address):
    """[(address, bytes)] of objdump."""
    path = os.path.join(program.scratch, "code.bin")
    with open(path, "wb") as file:
        file.write(code)
    done = subprocess.run([tool("objdump"), "-D", "-b", "binary", "-m", "i386:x86-64", "-w",
                           f"--adjust-vma={address:#x}", path],
                          stdout=subprocess.PIPE, check=True, text=True)
    lines = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t", done.stdout, re.MULTILINE)
    return [(int(place, 16), raw.replace(" ", "")) for place, raw in lines]


def compare_function(program, boot, name, notes, start=None):
    """Boundaries and bytes are objdump's, and the bytes those of the dump."""
    result = program.result(boot.dump, f"dis {name}")
    rows = result["instructions"]
    start = start or boot.address(name)
    check_equal(number(rows[0]["address"]), start, f"start of {name}")
    check_equal(result["function"], name, "function")
    code = bytes_of(rows)
    ours = [(number(row["address"]), row["bytes"]) for row in rows]
    check_equal(ours, disassembled(program, code, start), f"instructions of {name}")
    check_equal(code, dump_bytes(program, boot, start, len(code)), f"bytes of {name}")
    notes.append(f"{name} {len(rows)}")


def compare_modules(program, boot, notes):
    """Functions of modules, whose names no other symbol has."""
    unique = {}
    for (name, module), addresses in boot.addresses.items():
        unique.setdefault(name, []).extend((module, address) for address in addresses)
    text = {name for _, letter, name, module in boot.symbols if module and letter in "tT"}
    loaded = {name for name, _, _ in boot.modules}
    places = [(name, *unique[name][0]) for name in sorted(text)
              if len(unique[name]) == 1 and "." not in name]
    places = [place for place in places if place[1] in loaded]
    for name, _, start in places[::len(places) // 8]:
        compare_function(program, boot, name, notes, start)


def dump_bytes(program, boot, address, size):
    rows = program.result(boot.dump, f"rd -8 {address:#x} {size}")
    return bytes(number(word) for row in rows for word in row["words"])


def compare_targets(program, boot, notes):
    """What a call or jump leads to is what the guest calls that address."""
    by_address = {}
    for address, _, name, _ in boot.symbols:
        by_address.setdefault(address, set()).add(name)
    calls = 0
    for function in FUNCTIONS:
        for row in listing(program, boot, f"dis {function}"):
            if not row["mnemonic"].startswith("call") or "target" not in row:
                continue
            names = by_address.get(number(row["target"]))
            check(names, f"{function}: no symbol at {row['target']}")
            name = row["target_symbol"].split(" [")[0]
            check(name in names, f"{function}: {name} is called {sorted(names)}")
            calls += 1
    check(calls > 40, f"only {calls} calls")
    notes.append(f"{calls} calls")


def compare_members(program, boot, notes):
    """The member lies at the displacement of the instruction, as `struct` has it; and those that
    must be there are."""
    seen = 0
    for function, wanted in MEMBERS.items():
        rows = listing(program, boot, f"dis {function}")
        found = {(row.get("argument"), row["member"]) for row in rows if "member" in row}
        check(wanted <= found, f"{function}: {sorted(wanted - found)} is missing")
        for row in rows:
            place = re.match(r"(?:\S+, )?(?:0x)?([0-9a-f]*)\(%\w+\)(?:, \S+)?$", row["operands"])
            if not place or not row.get("argument") or row["member"].startswith("&"):
                continue
            kind, member = row["member"].split(".", 1)
            offset = program.value(boot.dump, f"(long)&(({kind} *)0)->{member}")
            size = program.value(boot.dump, f"sizeof((({kind} *)0)->{member})")
            displacement = int(place.group(1) or "0", 16)
            check(offset <= displacement < offset + size,
                  f"{function}: {row['operands']} is {row['member']} at {offset:#x}")
            seen += 1
    check(seen >= 4, f"only {seen} members of arguments")
    notes.append(f"{seen} members")


def compare_forms(program, boot):
    """COUNT, -r, -x, name+offset, addresses; and what is wrong."""
    whole = listing(program, boot, "dis vfs_read")
    five = listing(program, boot, "dis vfs_read 5")
    check_equal(five, whole[:5], "dis vfs_read 5")
    middle = whole[7]
    one = listing(program, boot, f"dis {middle['address']}")
    check_equal(one, [middle], "dis ADDRESS")
    by_name = listing(program, boot, f"dis vfs_read+{middle['offset']:#x} 2")
    check_equal(by_name, whole[7:9], "dis NAME+OFFSET 2")
    reverse = listing(program, boot, f"dis -r {middle['address']}")
    check_equal(reverse, whole[:8], "dis -r ADDRESS")
    text = program.text(boot.dump, "dis -x vfs_read 1")
    check(whole[0]["bytes"] in text, f"dis -x: {text}")
    for wrong in ("dis no_such_function", "dis vfs_read 0", "dis vfs_read -3", "dis -r 0x10"):
        result = program.run(["-q", "-c", wrong, boot.dump], status=1)
        check_equal(len(result.err.splitlines()), 1, f"lines of the message of {wrong}")


def marks_frames(program, boot):
    """`dis` of each frame of the panic: its pc is marked, and is behind a call."""
    frames = program.result(boot.dump, "bt")["frames"]
    marked = 0
    for index, frame in enumerate(frames):
        if frame["kind"] == "user" or not frame.get("symbol"):
            continue
        answers = program.answers(boot.dump, [f"frame {index}", "dis"])
        rows = answers[1]["result"]["instructions"]
        current = [number for number, row in enumerate(rows) if row.get("current")]
        if not current:  # the call does not return: its pc lies behind the function
            continue
        check_equal(rows[current[0]]["address"], frame["pc"], f"mark of frame {index}")
        if index and frame["kind"] == "orc":
            check(rows[current[0] - 1]["mnemonic"].startswith("call"),
                  f"frame {index}: {rows[current[0] - 1]['mnemonic']} before its pc")
        marked += 1
    check(marked >= 5, f"{marked} frames are marked")


def compare_bpf(program, boot, notes):
    """Each source line stands at the instruction where the kernel says that it begins."""
    functions, _ = described(boot)
    lines = 0
    for function in functions:
        rows = listing(program, boot, f"dis {function.address:#x} 4096")
        rows = [row for row in rows
                if 0 <= number(row["address"]) - function.address < function.size]
        ours = {number(row["address"]): (row["line"], row["file"], row["source"])
                for row in rows if "line" in row}
        theirs = {address: (line, file, text)
                  for address, line, _, file, text in function.lines if line}
        check_equal(ours, theirs, f"lines of {function.name}")
        lines += len(ours)
    notes.append(f"{lines} lines of {len(functions)} functions")


def run(session):
    program = session.program
    for boot in boots(("boot1",)):
        with session.case(f"{boot.label}: dis against objdump") as notes:
            for name in FUNCTIONS:
                compare_function(program, boot, name, notes)
        with session.case(f"{boot.label}: dis of modules against objdump") as notes:
            compare_modules(program, boot, notes)
        with session.case(f"{boot.label}: what is called") as notes:
            compare_targets(program, boot, notes)
        with session.case(f"{boot.label}: what is accessed") as notes:
            compare_members(program, boot, notes)
        with session.case(f"{boot.label}: forms of the command"):
            compare_forms(program, boot)
        with session.case(f"{boot.label}: the pc of each frame"):
            marks_frames(program, boot)
    for boot in boots(("bpf",)):
        with session.case(f"{boot.label}: source lines of BPF programs") as notes:
            compare_bpf(program, boot, notes)
