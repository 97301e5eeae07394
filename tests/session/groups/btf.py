# SPDX-License-Identifier: GPL-3.0-or-later
"""BTF of the dump listed, compared and exported; BTF from elsewhere, given by --btf."""

import filecmp
import os
import re
import struct
import subprocess
import time
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


SPARSE_BYTES = 1 << 30
SHRINKING_BYTES = 200 << 20  # reading takes a while
READ_KIB_MAX = 64 << 10  # more than without a file


def write_elf(path, btf, behind=0, said=None):
    """An ELF file with .BTF, so many bytes of nothing in front of it; `said`: the size it claims."""
    names = b"\0.BTF\0.shstrtab\0"
    start = 64 + behind
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, 0, 0, 64, 0, 0, 64, 3, 2)
    header = header[:40] + struct.pack("<Q", start + len(btf) + len(names)) + header[48:]
    sections = bytes(64)
    for name, kind, offset, size in ((1, 1, start, said or len(btf)), (6, 3, start + len(btf), len(names))):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
    with open(path, "wb") as file:
        file.write(header)
        file.seek(start)
        file.write(btf + names + sections)


def peak_kib(program, arguments):
    """The most memory that the program takes, and what it says."""
    process = subprocess.Popen([program.path, *arguments], env=program.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return usage.ru_maxrss, out


def reads_little(program, boot):
    """Of a large file only its BTF is read; of one that is cut off, the error says where."""
    with open(truth(boot, "vmlinux"), "rb") as file:
        btf = file.read()
    path = os.path.join(program.scratch, "large.elf")
    given = ["-q", "--btf", path, "-c", "btf", boot.dump]
    write_elf(path, btf)
    whole = os.path.getsize(path)
    least, out = peak_kib(program, given)
    check("large.elf" in out, f"ELF: {shorten(out)}")
    os.truncate(path, whole - 70)
    refused(program, boot, path, f"its sections: the file ends before offset {whole - 64 + 4}")
    os.truncate(path, len(btf) // 2)
    refused(program, boot, path, "its sections: the file ends before offset")
    write_elf(path, btf, said=whole)
    refused(program, boot, path, f"its section .BTF: the file ends before offset {64 + whole}")
    write_elf(path, btf, said=SPARSE_BYTES)
    refused(program, boot, path, f"its section .BTF: size {SPARSE_BYTES} is beyond the sane")
    write_elf(path, btf, behind=SPARSE_BYTES)
    most, out = peak_kib(program, given)
    check("large.elf" in out, f"sparse ELF: {shorten(out)}")
    check(most < least + READ_KIB_MAX, f"{most} KiB for a sparse file, {least} for a small one")
    os.truncate(path, 0)
    with open(path, "wb") as file:
        file.write(btf[:len(btf) // 2])
    refused(program, boot, path, "is beyond the")
    os.truncate(path, SPARSE_BYTES)
    refused(program, boot, path, f"size {SPARSE_BYTES} is beyond the sane")
    os.unlink(path)


def bears_shrinking(program, boot):
    """A file that gets shorter while it is read gives its BTF, or an error, and no signal."""
    with open(truth(boot, "vmlinux"), "rb") as file:
        btf = file.read()
    path = os.path.join(program.scratch, "shrinking.btf")
    for delay in range(20):
        with open(path, "wb") as file:
            file.write(btf)
            file.truncate(SHRINKING_BYTES)
        process = subprocess.Popen([program.path, "-q", "--btf", path, "-c", "btf", boot.dump],
                                   env=program.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        time.sleep(0.005 * delay)
        os.truncate(path, 8192)
        errors = process.communicate()[1].decode()
        check(process.returncode == 0 or (process.returncode == 2 and "shrinking.btf: " in errors),
              f"status {process.returncode}: {errors}")
    os.unlink(path)


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
        with session.case(f"{boot.label}: little of a large file is read, of a cut one nothing"):
            reads_little(program, boot)
        with session.case(f"{boot.label}: a file that gets shorter meanwhile"):
            bears_shrinking(program, boot)
        with session.case(f"{boot.label}: types that only a file has"):
            types_of_file(program, boot)
        with session.case(f"{boot.label}: types of globals written, and read back") as notes:
            round_trip(program, boot, notes)
