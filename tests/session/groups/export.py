# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for other tools: the vmlinux that gdb, drgn, pahole and LLVM take for one.

What they say with it is compared with the guest's own truth: /proc/kallsyms, /sys/kernel/btf as bpftool
reads it, its tasks. crash and the newest drgn have a group of their own, `peers`.
"""

import filecmp
import functools
import os
import re
import struct
import subprocess

from asked_globals import ASKED, COUNTED, SWAP_FILES, TABLES
from forged import BTF_INT, BTF_STRUCT, Image, Layout, btf_records
from groups.types import bpftool
from lib import boots, check, check_equal, shorten, tool

VERIFY_SECONDS = 300
STRUCTS = 80  # whose size and members gdb is asked for
IMAGE = 1 << 30
STRINGS = 96 << 10  # no object of .rodata is larger without a type, but all the strings behind are


def output_of(name, *arguments, errors=False, statuses=(0,), **options):
    """What a tool writes; with `errors`, what it complains of must be nothing."""
    done = subprocess.run([tool(name), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=VERIFY_SECONDS, check=False, **options)
    text = done.stdout.decode(errors="replace")
    complaints = done.stderr.decode(errors="replace").strip()
    check(done.returncode in statuses, f"{name}: status {done.returncode}: {shorten(complaints or text)}")
    check(not errors or not complaints, f"{name}: {shorten(complaints)}")
    return text


def is_image(address):
    return address >> 31 == 0x1ffffffff


@functools.lru_cache(maxsize=2)
def rows_of_symbols(path, *version):
    """The words of each row of `readelf -s` that names a symbol, of one version of a file."""
    del version
    rows = (line.split() for line in output_of("readelf", "-sW", path, errors=True).splitlines())
    return [words for words in rows if len(words) == 8 and words[0][:-1].isdigit()]


def symbol_table(path):
    """Many cases ask for the same file's: readelf is asked once."""
    status = os.stat(path)
    return rows_of_symbols(path, status.st_ino, status.st_size, status.st_mtime_ns)


def symbols_of(path):
    """Address by name of those that have one address."""
    found, twice = {}, set()
    for words in symbol_table(path):
        if words[7] in found:
            twice.add(words[7])
        found[words[7]] = int(words[1], 16)
    return {name: address for name, address in found.items() if name not in twice}


def is_an_elf(boot, path, notes):
    """Sections, build ID, symbols: each of the guest's is as far from _text as it was there."""
    sections = output_of("readelf", "-SW", path, errors=True)
    for name in (".text", ".rodata", ".notes", ".data", ".init.text", ".bss", ".orc_unwind",
                 ".debug_info", ".debug_str", ".symtab"):
        check(f" {name} " in sections, f"no section {name}")
    check("Build ID:" in output_of("readelf", "-n", path, errors=True), "no build ID")
    ours = symbols_of(path)
    moved = boot.address("_text") - ours["_text"]
    check(moved % 0x200000 == 0 and moved < IMAGE, f"moved by {moved:#x}")
    compared = 0
    for (name, module), addresses in boot.addresses.items():
        if module or len(addresses) != 1 or name not in ours:
            continue
        address = next(iter(addresses))
        wanted = address - moved if is_image(address) else address
        check_equal(hex(ours[name]), hex(wanted), f"address of {name}")
        compared += 1
    names = {name for name, module in boot.addresses if not module}
    check(compared > len(names) * 0.9, f"only {compared} of {len(names)} symbols")
    notes.append(f"{compared} symbols")


def objects_of(path):
    """Address, size and number of section of the symbols of data, by name."""
    return {words[7]: (int(words[1], 16), int(words[2], 0), words[6])
            for words in symbol_table(path) if words[3] == "OBJECT"}


def symbols_are_bound(boot, path):
    """Weak symbols are weak, as kallsyms says."""
    found = {}
    for words in symbol_table(path):
        found.setdefault(words[7], set()).add(words[4])
    weak = {name for _, letter, name, module in boot.symbols if letter == "W" and not module}
    wrong = [name for name in weak & found.keys() if "WEAK" not in found[name]]
    check(len(weak & found.keys()) > 10 and not wrong, f"weak ones: {len(weak)}, {wrong[:5]}")


def letters_are_kernels(boot, path, notes):
    """The letter of each symbol, which says what its section is, is what nm said of the linked kernel."""
    ours, wanted = {}, {}
    for line in output_of("nm", path, errors=True).splitlines():
        _, letter, name = line.split()
        ours.setdefault(name, set()).add(letter)
    for _, letter, name, module in boot.symbols:
        if not module:
            wanted.setdefault(name, set()).add(letter)
    both = [name for name in ours.keys() & wanted.keys() if wanted[name] <= set("tTdDrRbB")]
    wrong = [name for name in both if ours[name] != wanted[name]]
    check(len(both) > 50000 and not wrong, f"{len(wrong)} of {len(both)}: {sorted(wrong)[:5]}")
    notes.append(f"{len(both)} names")


def data_is_no_code(path):
    """In a section of code crash would take a pointer to data for a return address."""
    headers = output_of("readelf", "-SW", path)
    code = {match[1]: int(match[2], 16) for match in
            re.finditer(r"\[ *(\d+)\] \S+ +\w+ +(\w{16}) .* W?AX ", headers)}
    objects = objects_of(path)
    wrong = [name for name, (address, _, section) in objects.items()
             if section in code and address != code[section]]
    check(len(code) > 2 and not wrong, f"sections {list(code)}: {wrong[:5]}")
    check(objects["saved_command_line"][2] not in code, "saved_command_line is in a section of code")


def objects_end(path):
    """No symbol reaches into what is not its own: the strings of .rodata, the section behind."""
    symbols = symbols_of(path)
    objects = objects_of(path)
    large = [name for name, (address, size, _) in objects.items()
             if symbols["__start_rodata"] <= address < symbols["__end_rodata"] and size > STRINGS]
    asked = [name for name in ("schedule", "vfs_read", "tcp_sendmsg", "inet6_bind") if name in symbols]
    members, *sizes = texts_of_gdb(path, ["ptype struct mm_struct", *(f'printf "%lu\\n", sizeof({name})' for name in
                                                                     ("init_mm", "struct cpumask")),
                                         *(f"whatis {name}" for name in large), *(f"info symbol {name}" for name in asked)])
    (init_mm, mask), text, places = map(int, sizes[:2]), "".join(sizes[2:2 + len(large)]), sizes[2 + len(large):]
    check("no debug info" not in text, f"{large}: {text}")
    # The array at its end has a bit for each CPU; on 7.3 it has another name.
    check(objects["init_mm"][1] > init_mm, f"init_mm ends where its type does, after {init_mm} bytes")
    if "cpu_bitmap[];" in members:
        check_equal(objects["init_mm"][1], init_mm + mask, "size of init_mm")
    headers = output_of("readelf", "-SW", path)
    parts = [(int(address, 16), int(size, 16)) for address, size in
             re.findall(r"\] \.text +PROGBITS +(\w{16}) \w+ (\w+)", headers)]
    check_equal((len(parts) > 1, sum(size for _, size in parts)),
                (True, symbols["_etext"] - symbols["_stext"]), ".text in parts, their bytes")
    # crash takes the last one for where the kernel begins; gdb says the name behind each symbol.
    check_equal(parts[-1][0], symbols["_stext"], "the last part")
    check_equal([place.strip() for place in places], [f"{name} in section .text" for name in asked],
                "sections of symbols")
    # Segments ascend, but for per-CPU variables at 0.
    loads = [int(address, 16) for address in
             re.findall(r"LOAD +\S+ 0x(\w{16})", output_of("readelf", "-lW", path)) if int(address, 16)]
    check_equal(loads, sorted(loads), "segments")
    header = re.search(r"\[ *(\d+)\] \.data ", headers)
    check_equal(objects["_edata"][2], header[1], "section of _edata")
    # Labels that gdb would name a stack by, and sections by which crash names what begins there.
    check_equal([objects[name][1] for name in ("init_thread_union", "_sdata")], [0, 0], "labels")
    sections = [(words[7], words[1]) for words in symbol_table(path) if words[2:5] == ["0", "SECTION", "LOCAL"]]
    check_equal({name: int(address, 16) for name, address in sections if name in (".data", ".rodata")},
                {".data": symbols["_sdata"], ".rodata": symbols["__start_rodata"]}, "sections")


def labels_are_of_functions(path, notes):
    """A function in assembler ends behind the labels within it, which have no size of their own."""
    symbols = symbols_of(path)
    sizes = {}
    for words in symbol_table(path):
        if words[3] == "FUNC":
            sizes.setdefault(words[7], int(words[2], 0))
    start = symbols["entry_SYSCALL_64"]
    # The last one is entry_SYSRETQ_end, which one trap follows, from 6.2 on.
    labels = [name for name in ("entry_SYSCALL_64_safe_stack", "entry_SYSCALL_64_after_hwframe",
                                "entry_SYSRETQ_unsafe_stack", "entry_SYSRETQ_end") if name in symbols]
    check(len(labels) > 2, f"labels: {labels}")
    check_equal({name: sizes[name] for name in labels}, {name: 0 for name in labels}, "sizes of labels")
    end = start + sizes["entry_SYSCALL_64"]
    check(all(start < symbols[name] < end for name in labels), f"ends at {end:#x}")
    after = min(address for address in symbols.values() if address > max(symbols[name] for name in labels))
    check(end <= after, f"reaches to {end:#x}, what is next is at {after:#x}")
    # Behind the last one there is code that all of them jump to, and which is none's.
    put = [sizes[f"__put_user_{size}"] for size in (1, 2, 4, 8)]
    check(max(put) - min(put) <= 1, f"sizes of __put_user_1 to 8: {put}")
    # Of those that are called (`call` to them, and no falling into) all have a size.
    called = {"_printk", "schedule", "do_syscall_64", "__switch_to_asm", "memcpy"} & sizes.keys()
    check_equal([name for name in called if not sizes[name]], [], "functions without a size")
    nothing = [name for name, size in sizes.items() if not size]
    check(len(nothing) < 400, f"{len(nothing)} symbols of code have no size")
    notes.append(f"{len(nothing)} labels")


def is_sound(path, notes):
    """No complaint of LLVM's verifier."""
    check(os.path.getsize(path) <= 40 << 20, f"{os.path.getsize(path)} bytes")
    done = subprocess.run([tool("llvm-dwarfdump"), "--verify", "--quiet", path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=VERIFY_SECONDS, check=False)
    text = done.stdout.decode(errors="replace")
    wrong = [line for line in text.splitlines() if line.startswith("error")]
    check(done.returncode == 0 and not wrong, f"{len(wrong)} errors: {shorten(wrong or text)}")
    notes.append(f"{os.path.getsize(path) >> 20} MiB, {os.stat(path).st_blocks >> 11} on disk")


def sizes_of_structs(boot):
    """Name and size of the structs whose name is the only one."""
    found, twice = {}, set()
    for line in bpftool(boot.path("truth", "btf", "vmlinux")):
        if match := re.match(r"\[\d+\] (STRUCT|UNION) '(\w+)' size=(\d+)", line):
            twice.update({match[2]} & found.keys())
            found[match[2]] = (match[1].lower(), int(match[3]))
    return {name: value for name, value in found.items() if name not in twice and value[1]}


def gdb_reads(program, boot, path, notes):
    """Sizes of structs as BTF has them; the declared text of functions and variables."""
    structs = sorted(sizes_of_structs(boot).items())
    asked = structs[::max(1, len(structs) // STRUCTS)]
    complaints = output_of("gdb", "-batch", "-nx", "-ex", "p 1", path, errors=True)
    check_equal(complaints, "$1 = 1\n", "gdb's start")
    script = os.path.join(program.scratch, "export.gdb")
    with open(script, "w") as file:
        for name, (kind, _) in asked:
            file.write(f'printf "%lu\\n", sizeof({kind} {name})\n')
        file.write("whatis vfs_read\nwhatis init_task\np &init_task\nptype struct list_head\n"
                   "whatis jiffies\nwhatis jiffies_64\nptype struct sk_buff\n"
                   "whatis ((struct cgroup *)0)->ancestors\n"
                   "info scope vfs_read\n")
    lines = output_of("gdb", "-batch", "-nx", "-x", script, path).splitlines()
    got = [int(line) for line in lines[:len(asked)]]
    check_equal(dict(zip((name for name, _ in asked), got)),
                {name: size for name, (_, size) in asked}, "sizes")
    text = "\n".join(lines[len(asked):])
    for wanted in ("type = ssize_t (struct file *, char *, size_t, loff_t *)", "type = struct task_struct",
                   "<init_task>", "struct list_head *prev;", "Symbol pos is",
                   # Two symbols of one address, and `[0]` that is no flexible array.
                   "type = volatile unsigned long", "type = u64", "__cloned_offset[0];", "type = struct cgroup *[]"):
        check(wanted in text, f"gdb does not say {wanted}: {shorten(text)}")
    notes.append(f"{len(asked)} sizes")


ROW = re.compile(r"(\S+) +(\d+|-) +(0x\w+)", re.M)
TRAP = b"\x0f\x0b"  # ud2


def rows_of(path):
    """File and line by address; each row ends behind the two bytes of a trap."""
    rows, end = {}, None
    for file, line, address in ROW.findall(output_of("readelf", "-W", "--debug-dump=decodedline", path)):
        address = int(address, 16)
        if line == "-":
            check_equal(address, end, "end of a row")
            end = None
        else:
            check(end is None and address not in rows, f"{address:#x}: a row without an end")
            rows[address] = (file, int(line))
            end = address + len(TRAP)
    return rows


def lines_are_of_traps(program, boot, path, notes):
    """What the kernel's table of BUG() and WARN() says, of nothing but these instructions."""
    rows = rows_of(path)
    check(len(rows) > 5000, f"{len(rows)} rows")
    moved = boot.address("_text") - symbols_of(path)["_text"]
    asked = sorted(rows)[::len(rows) // 100]
    answers = program.answers(boot.dump, [f"print *(unsigned short *){address + moved:#x}" for address in asked])
    wrong = [hex(address) for address, answer in zip(asked, answers)
             if answer["result"]["value"] != int.from_bytes(TRAP, "little")]
    check(not wrong, f"no ud2 at {wrong}")
    around = [address + distance for address in asked for distance in (-1, 0, 1, 2, 7)]
    lines = asked_of_gdb(path, [f"info line *{address:#x}" for address in around])
    check_equal(len(lines), len(around), "answers of gdb")
    known = {address + byte: place for address, place in rows.items() for byte in range(len(TRAP))}
    for address, line in zip(around, lines):
        wanted = "No line number information" if address not in known else \
            'Line %d of "%s" ' % known[address][::-1]
        check(wanted in line, f"gdb of {address:#x}: {line}, not {wanted}")
    notes.append(f"{len(rows)} rows")


def line_of_the_crash(program, boot, path, notes):
    """Where the kernel itself said that it died, in a module: in its file, and in the kernel's."""
    text = "\n".join(boot.console)
    place = re.search(r"kernel BUG at (.*):(\d+)!", text)
    where = re.search(r"RIP: 0010:(\S+)\+(0x\w+)/\S+ \[faults\]", text)
    wanted = (place[1], int(place[2]))
    pc = min(boot.addresses[where[1], "faults"]) + int(where[2], 16)
    program.text(boot.dump, f"export vmlinux {path}", timeout=300)
    moved = boot.address("_text") - symbols_of(path)["_text"]
    check_equal(rows_of(path).get(pc - moved), wanted, "of all")
    program.text(boot.dump, f"export module faults {path}", timeout=300)
    lines = asked_of_gdb(path, [f"info line *'{where[1]}'+{where[2]}"])
    check('Line %d of "%s" ' % wanted[::-1] in lines[0], f"of the module: {lines}")
    check(wanted in rows_of(path).values(), "readelf of the module")
    notes.append(f"{wanted[0]}:{wanted[1]}")


def has_no_odd_lines(program, boot, path, notes):
    """Names of files are the dump's; where the table has a trap that the code has not, there is no row."""
    rows = rows_of(path)
    moved = boot.address("_text") - symbols_of(path)["_text"]
    image = Image(boot.dump, os.path.join(program.scratch, "lines.elf"))
    layout = Layout(image, boot)
    first, last = boot.address("_stext") - moved, boot.address("_etext") - moved
    gone = sorted(address for address in rows if first <= address < last)[::500]
    start = layout.offset("_stext")
    for address in gone:
        check_equal(image.bytes[start + address - first:start + address - first + 2], TRAP, hex(address))
    name = b"kernel/exit.c"
    odd = b"/../\x1b[2J\n;xyz"
    patches = {at + 1: odd for at in image.find_all(b"\0" + name + b"\0")}
    check(patches and len(odd) == len(name), f"{len(patches)} names")
    patches |= {start + address - first: b"\x90\x90" for address in gone}
    with image.patched(patches):
        program.text(image.path, f"export vmlinux {path}", timeout=300)
    is_sound(path, notes)
    got = rows_of(path)
    renamed = {address: (file, line) for address, (file, line) in got.items() if (file, line) != rows[address]}
    check_equal({file for file, _ in renamed.values()}, {"/../?[2J?;xyz"}, "odd names")
    check_equal({rows[address][0] for address in renamed}, {name.decode()}, "the names before")
    check_equal(sorted(rows.keys() - got.keys()), gone, "rows that are gone")


DRGN = """
from drgn.helpers.linux.list import list_for_each_entry
print(prog["init_uts_ns"].name.release.string_().decode())
for leader in list_for_each_entry("struct task_struct", prog["init_task"].tasks.address_of_(), "tasks"):
    threads = leader.signal.thread_head.address_of_()
    for task in list_for_each_entry("struct task_struct", threads, "thread_node"):
        print(task.pid.value_())
"""


def drgn_reads(program, boot, path, notes):
    """The tasks of another boot, by the types and the variables of the file.

    Debian 12's drgn does not translate addresses of dumps made from outside.
    """
    dump = type(boot)(boot.kernel, "kdump").path("vmcore.kdump")
    script = os.path.join(program.scratch, "export_drgn.py")
    with open(script, "w") as file:
        file.write(DRGN)
    lines = output_of("drgn", "-q", "-c", dump, "-s", path, script).splitlines()
    check_equal(lines[0], boot.release, "release")
    rows = program.result(dump, "ps")
    wanted = sorted(row["pid"] for row in rows if row["pid"])
    check_equal(sorted(int(line) for line in lines[1:]), wanted, "pids")
    notes.append(f"{len(wanted)} tasks")


def pahole_reads(boot, path, notes):
    """Members and their places, as pahole has them of the guest's own BTF."""
    names = sorted(sizes_of_structs(boot))
    asked = ",".join(names[::max(1, len(names) // STRUCTS)])

    def members(kind, file):
        # What pahole infers of alignment is not in BTF; comments have the places.
        # pahole 1.30 ends with 1 where it has found all that -C asks for, in any vmlinux.
        text = output_of("pahole", "-F", kind, "-C", asked, file, statuses=(0, 1))
        text = re.sub(r"\s*__attribute__\(\(__aligned__\(\d+\)\)\)", "", text)
        return sorted(re.sub(r"\s+", " ", line) for line in text.splitlines()
                      if re.search(r"/\* +\d+(:\s*\d+)? +\d+ \*/", line))

    ours = members("dwarf", path)
    check(len(ours) > STRUCTS, f"only {len(ours)} members")
    check_equal(ours, members("btf", boot.path("truth", "btf", "vmlinux")), "members")
    notes.append(f"{len(ours)} members")


def asked_of_gdb(path, commands):
    """The one line that gdb answers each of them with."""
    words = [word for command in commands for word in ("-ex", command)]
    return output_of("gdb", "-batch", "-nx", *words, path).splitlines()


def texts_of_gdb(path, commands):
    """What gdb answers each of them with, in one run."""
    mark = "@@@\n"
    words = [word for command in commands for word in ("-ex", command, "-ex", "echo @@@\\n")]
    *texts, rest = output_of("gdb", "-batch", "-nx", *words, path).split(mark)
    check_equal((len(texts), rest), (len(commands), ""), "answers of gdb")
    return texts


def has_what_is_asked_for(program, boot, path, notes):
    """The globals that crash and drgn read, and their lengths."""
    names = [name for name in [*ASKED, *COUNTED, *TABLES, *SWAP_FILES, "swap_info"] if (name, "") in boot.addresses]
    check(len(names) > 40, f"only {len(names)} of them")
    counted = [name for name in names if name in COUNTED]
    core = {name for name, module in boot.addresses if not module}
    others = [name for name in ("mt_slots", "mt_pivots", "stack_pools") if name in core]
    commands = [*(f"whatis {name}" for name in (*names, *others, "vmemmap_populate")), "ptype enum maple_type",
                *(f'printf "%d\\n", (int){COUNTED[name]}' for name in counted)]
    said = dict(zip(commands, texts_of_gdb(path, commands)))
    types = {name: said[f"whatis {name}"].strip().removeprefix("type = ") for name in names}
    check_equal({name: types[name] for name in names if name in ASKED},
                {name: ASKED[name] for name in names if name in ASKED}, "types")
    nodes = said["ptype enum maple_type"].count("maple_") - 1
    for name in others:
        text = said[f"whatis {name}"].strip()
        if name == "stack_pools":  # an array, and in 7.3 a pointer to one
            check("[1]" not in text, f"{name}: {text}")
        else:
            check_equal(text, f"type = const unsigned char [{nodes}]", name)
    text = said["whatis vmemmap_populate"]
    check(text.startswith(("type = int (", "type = void ()")), f"drgn looks for vmemmap_populate: {text}")
    values = [said[command].strip() for command in commands[len(commands) - len(counted):]]
    check_equal([types[name] for name in counted],
                [f"const char *[{value}]" if name == "dmi_ident" else f"atomic_long_t [{value}]"
                 for name, value in zip(counted, values)], "lengths")
    files = re.search(r"\[\d+\]$", types["swap_info"])[0]
    check_equal({name: types[name] for name in names if name in SWAP_FILES},
                {name: f"{SWAP_FILES[name]}{'' if SWAP_FILES[name].endswith('*') else ' '}{files}"
                 for name in names if name in SWAP_FILES}, "lengths")
    lengths = {name: int(re.search(r"\[(\d+)\]", types[name])[1])
               for name in names if name in TABLES}
    calls = {address for (name, module), addresses in boot.addresses.items()
             if not module and name.startswith("__x64_sys_") for address in addresses}
    last = lengths["sys_call_table"] - 1
    row, = program.result(boot.dump, f"rd {boot.address('sys_call_table') + 8 * last:#x} 2")
    words = [int(word, 16) for word in row["words"]]
    check(words[0] in calls and words[1] not in calls, f"the last system call of {lengths}: {words}")
    notes.append(f"{len(names)} variables, {lengths}")


def refuses(program, boot, path):
    """Words that fit no form; a file that cannot be."""
    for command, why in (("export core /dev/null", "no form \"core\""),
                         ("export vmlinux", "export: FILE is missing; usage: export"),
                         ("export vmlinux --tiers a a", "the same file"),
                         ("export vmlinux -m ext4 /dev/null", "-m is for btf and variables"),
                         ("export btf --guesses /dev/null", "is for vmlinux and module"),
                         ("export module nosuch /dev/null", "no module nosuch is loaded"),
                         ("export module /dev/null", "a module's name and a FILE"),
                         ("export vmlinux tun /dev/null", "one FILE"),
                         (f"export vmlinux {path}/x", "Not a directory")):
        result = program.run(["-q", "-c", command, boot.dump], status=1)
        check(why in result.errors, f"{command}: {result.errors}")


def lists_tiers(program, boot, notes):
    """A line for each variable: those of the file, and those that were left out."""
    paths = [os.path.join(program.scratch, "tiers." + name) for name in ("vmlinux", "list")]
    result = program.result(boot.dump, f"export vmlinux --tiers {paths[1]} {paths[0]}", timeout=300)
    with open(paths[1], encoding="ascii") as file:
        head, *rows = (line.rstrip("\n").split("\t") for line in file)
    check_equal(head, ["name", "module", "address", "type", "confidence", "origin", "in_file"], "head")
    check(all(len(row) == len(head) for row in rows), "not all lines have as many columns")
    written = [row for row in rows if row[6] == "yes"]
    check_equal(len(written), result["variables"], "variables")
    check({row[4] for row in written} == {"certain", "inferred"}, "tiers of what is written")
    left = [row for row in rows if row[6] == "no"]
    check(left and {row[4] for row in left} <= {"guess", "unknown"}, "tiers of what is left out")
    init_task, = (row for row in rows if row[0] == "init_task" and row[1] == "vmlinux")
    check_equal(init_task[2:4], [f"{boot.address('init_task'):#x}", "struct task_struct"], "init_task")
    notes.append(f"{len(written)} written, {len(left)} left out")


def sections_of(path):
    """Name and number of the sections."""
    return {match[2]: int(match[1]) for match in
            re.finditer(r"\[ *(\d+)\] (\S+)", output_of("readelf", "-SW", path, errors=True))}


def add_symbol_file(path, places):
    """gdb's command, as crash makes it."""
    others = " ".join(f"-s {name} {address}" for name, address in sorted(places.items()) if name != ".text")
    return f"add-symbol-file {path} {places['.text']} {others}"


def has_a_module(program, boot, path, notes):
    """Sections and symbols lie where the guest had them; gdb completes types by the kernel's file."""
    module = os.path.join(program.scratch, "tun.ko")
    result = program.result(boot.dump, f"export module tun {module}", timeout=300)
    check_equal(result["bytes"], os.path.getsize(module), "bytes")
    check("REL (Relocatable" in output_of("readelf", "-hW", module, errors=True), "no object file")
    facts = program.result(boot.dump, "mod tun")
    there = {row["name"]: row["address"] for row in facts["sections"]}
    places = {name: there[name] for name in sections_of(module) if name in there}
    check({".text", ".data", ".rodata", ".note.gnu.build-id"} <= places.keys(), f"sections: {sorted(places)}")
    check(f"Build ID: {facts['build_id']}" in output_of("readelf", "-n", module), "another build ID")
    numbers = {number: name for name, number in sections_of(module).items()}
    compared = 0
    for line in output_of("readelf", "-sW", module, errors=True).splitlines():
        words = line.split()
        wanted = boot.addresses.get((words[7], "tun")) if len(words) == 8 else None
        if wanted and words[6].isdigit():
            section = numbers[int(words[6])]
            check(int(places[section], 16) + int(words[1], 16) in wanted, f"address of {words[7]}")
            compared += 1
    check(compared > 0.9 * sum(module == "tun" for _, module in boot.addresses), f"{compared} symbols")
    verified = subprocess.run([tool("llvm-dwarfdump"), "--verify", "--quiet", module], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(verified.returncode == 0, shorten(verified.stdout.decode(errors="replace")))
    lines = asked_of_gdb(path, ["set confirm off", add_symbol_file(module, places), "p &tun_fops", "whatis tun_fops",
                                "info address tun_chr_read_iter", "whatis tun_chr_read_iter",
                                "p sizeof(struct tun_struct)", "p sizeof(*((struct tun_struct *) 0)->dev)"])
    text = "\n".join(lines)
    size, of_kernel = (program.value(boot.dump, f"sizeof(struct {name})") for name in ("tun_struct", "net_device"))
    for wanted in (f"{min(boot.addresses['tun_fops', 'tun']):#x} <tun_fops>", "type = struct file_operations",
                   f"{min(boot.addresses['tun_chr_read_iter', 'tun']):#x}", f"= {size}\n", f"= {of_kernel}",
                   "type = ssize_t (struct kiocb *, struct iov_iter *)"):
        check(wanted in text, f"gdb does not say {wanted}: {shorten(text, 600)}")
    notes.append(f"{compared} symbols, {len(places)} sections, {os.path.getsize(module) >> 10} KiB")


DRGN_MODULE = """
print(prog.type("struct virtnet_info").size, prog["virtnet_netdev"].address_of_().value_(),
      prog["virtnet_poll"].address_of_().value_())
"""


def drgn_reads_module(program, boot, path, notes):
    """The file of a module, known by its build ID, beside a kernel's without modules."""
    dump = type(boot)(boot.kernel, "kdump").path("vmcore.kdump")
    module, script = (os.path.join(program.scratch, name) for name in ("virtio_net.ko", "export_module.py"))
    program.text(dump, f"export vmlinux --no-modules {path}", timeout=300)
    program.text(dump, f"export module virtio_net {module}", timeout=300)
    with open(script, "w") as file:
        file.write(DRGN_MODULE)
    got = output_of("drgn", "-q", "-c", dump, "-s", path, "-s", module, script).split()
    wanted = [program.value(dump, text) for text in ("sizeof(struct virtnet_info)", "(unsigned long)&virtnet_netdev",
                                                     "(unsigned long)&virtnet_poll")]
    # Debian 12's drgn does not know where 6.4 and later keep the sections of modules, and leaves out
    # where they begin.
    starts = {0, *(int(row["address"], 16) for row in program.result(dump, "mod virtio_net")["sections"])}
    distances = [int(right) - int(word) for word, right in zip(got, wanted)]
    check_equal((len(distances), distances[0]), (3, 0), f"of virtio_net: {got}, {wanted}")
    check(set(distances[1:]) <= starts, f"addresses: {got}, not {wanted}")
    notes.append("where it lies" if not any(distances) else "within sections")


def has_no_odd_sections(program, boot, notes):
    """Names of sections are the dump's: those that would mean something to a tool are left out."""
    image = Image(boot.dump, os.path.join(program.scratch, "sections.elf"))
    path = os.path.join(program.scratch, "sections.ko")
    odd = {b".return_sites\0": b".debug_info\0\0\0", b"__ksymtab_gpl\0": b".x\x1b[2J\n-s y\0\0\0",
           b"__kcrctab_gpl\0": b"../../../etc/x", b".smp_locks\0": b".gnu_debug\0"}
    # What lies before a name in its slab may be any byte: of the neighbour, or a free pointer's.
    patches = {at: new for old, new in odd.items() for at in image.find_all(old)}
    check(len(patches) > 10, f"{len(patches)} names")
    with image.patched(patches):
        program.text(image.path, f"export module tun {path}", timeout=300)
    names = sections_of(path)
    check_equal(sorted(name for name in names if re.search(r"[^\w.-]|gnu_debug", name)), [], "odd names")
    listing = output_of("readelf", "-SW", path, errors=True)
    check_equal(len(re.findall(r" \.debug_info ", listing)), 1, "sections .debug_info")
    check(not {".return_sites", "__ksymtab_gpl", ".smp_locks"} & names.keys() and ".text" in names, str(names))
    notes.append(f"{len(patches)} names")


def has_no_odd_size(program, boot, notes):
    """A BTF by which percpu_size has 64 bits, and a size that fills the disk: that section is left out."""
    image = Image(boot.dump, os.path.join(program.scratch, "size.elf"))
    path = os.path.join(program.scratch, "size.ko")
    name, percpu, size = next((row["name"], int(row["percpu"], 16), row["percpu_size"]) for row in
                              program.result(boot.dump, "mod | print {name, percpu, percpu_size}") if row["percpu_size"])
    types = Layout(image, boot).offset("__start_BTF")
    header, _, _, strings, _ = struct.unpack_from("<4xIIIII", image.bytes, types)

    def name_at(place):
        start = types + header + strings + struct.unpack_from("<I", image.bytes, place)[0]
        return image.bytes[start:image.bytes.find(b"\0", start)]

    records = {name_at(place): (number, place, vlen) for number, place, kind, vlen in btf_records(image, types)
               if kind in (BTF_INT, BTF_STRUCT)}
    _, place, vlen = records[b"module"]
    member = next(at for at in range(place + 12, place + 12 + 12 * vlen, 12) if name_at(at) == b"percpu_size")
    patches = {at + 8: struct.pack("<Q", 0x70000000 << 32 | size)
               for at in image.find_all(struct.pack("<QI", percpu, size))}
    patches[member + 4] = struct.pack("<I", records[b"long unsigned int"][0])
    check(len(patches) > 1, f"no percpu_size of {name}")
    with image.patched(patches):
        check(program.result(image.path, f"mod {name}")["percpu_size"] >> 32, "the size is as it was")
        program.text(image.path, f"export module {name} {path}", timeout=60)
    names = sections_of(path)
    check(".text" in names and ".data..percpu" not in names, str(names))
    notes.append(name)


def forms_agree(program, boot):
    """`export btf` is `btf --export`."""
    paths = [os.path.join(program.scratch, name) for name in ("one.btf", "other.btf")]
    program.text(boot.dump, f"export btf {paths[0]}")
    program.text(boot.dump, f"btf --export {paths[1]}")
    one, other = (open(path, "rb").read() for path in paths)
    check(one == other and len(one) > 1000000, f"{len(one)} and {len(other)} bytes")


def of_every_boot(program, boot, notes):
    """Without modules nothing of this boot is in it."""
    other = type(boot)(boot.kernel, "boot2")
    paths = [os.path.join(program.scratch, name) for name in ("first", "second")]
    for one, path in zip((boot, other), paths):
        program.text(one.dump, f"export vmlinux --no-modules {path}", timeout=300)
    first, second = (symbols_of(path) for path in paths)
    check(first == second and len(first) > 20000, f"{len(first)} and {len(second)} symbols")
    banner = boot.truth("version").strip().encode()
    for path in paths:
        with open(path, "rb") as file:
            check(banner in file.read(), "no banner")
    notes.append(f"{len(first)} symbols")


def same_with_cache(program, boot, path):
    """Who derived a type first, the kernel or a module, is nothing that the file may show. What comes after uses this cache."""
    again = path + ".again"
    program.cache = os.path.join(program.scratch, "types-" + boot.kernel)
    for cache in ("cold", "warm"):
        program.text(boot.dump, f"export vmlinux {again}", timeout=300)
        check(filecmp.cmp(path, again, shallow=False), f"not the same with a {cache} cache: "
              f"{os.path.getsize(path)} and {os.path.getsize(again)} bytes")
        check(os.listdir(os.path.join(program.cache, "btfcrash")), "nothing is in the cache")
    os.unlink(again)


def run(session):
    program = session.program
    all_boots = [boot for boot in boots() if boot.label.endswith("boot1")]
    for boot in all_boots:
        path, program.cache = os.path.join(program.scratch, "vmlinux." + boot.kernel), None
        with session.case(f"{boot.label}: a vmlinux is written"):
            result = program.result(boot.dump, f"export vmlinux {path}", timeout=300)
            check_equal(result["bytes"], os.path.getsize(path), "bytes")
            check(result["functions"] > 20000 and result["variables"] > 10000, str(result))
        with session.case(f"{boot.label}: a vmlinux is the same with types of the cache"):
            same_with_cache(program, boot, path)
        with session.case(f"{boot.label}: readelf reads it, and symbols are the guest's") as notes:
            is_an_elf(boot, path, notes)
        with session.case(f"{boot.label}: symbols of data end where their objects do"):
            objects_end(path)
        with session.case(f"{boot.label}: labels of assembler lie within their functions") as notes:
            labels_are_of_functions(path, notes)
        with session.case(f"{boot.label}: symbols are bound as in the guest"):
            symbols_are_bound(boot, path)
        with session.case(f"{boot.label}: symbols have the letters of the guest's") as notes:
            letters_are_kernels(boot, path, notes)
        with session.case(f"{boot.label}: no data lies in a section of code"):
            data_is_no_code(path)
        with session.case(f"{boot.label}: llvm-dwarfdump verifies it") as notes:
            is_sound(path, notes)
        with session.case(f"{boot.label}: gdb reads types, functions, variables") as notes:
            gdb_reads(program, boot, path, notes)
        with session.case(f"{boot.label}: lines of source are those of traps") as notes:
            lines_are_of_traps(program, boot, path, notes)
        if boot == all_boots[0]:
            with session.case(f"{boot.label}: odd names of files, traps that are none") as notes:
                has_no_odd_lines(program, boot, path, notes)
        bug = os.path.join(os.path.dirname(boot.folder), "bug")
        if os.path.exists(bug):
            with session.case(f"{boot.kernel} bug: the line at which it died") as notes:
                line_of_the_crash(program, type(boot)(boot.kernel, "bug"), path, notes)
        with session.case(f"{boot.label}: pahole reads it, without modules") as notes:
            program.text(boot.dump, f"export vmlinux --no-modules {path}", timeout=300)
            pahole_reads(boot, path, notes)
        with session.case(f"{boot.label}: an object file for a module") as notes:
            has_a_module(program, boot, path, notes)
        with session.case(f"{boot.label}: the tiers of variables are listed") as notes:
            lists_tiers(program, boot, notes)
        with session.case(f"{boot.label}: what crash and drgn ask for has its type") as notes:
            has_what_is_asked_for(program, boot, path, notes)
        with session.case(f"{boot.label}: and without the shipped table") as notes:
            alone = path + ".alone"
            program.run(["-q", "--no-hints", "-c", f"export vmlinux {alone}", boot.dump], timeout=300)
            has_what_is_asked_for(program, boot, alone, notes)
            os.unlink(alone)
        # Kernels that are no part of the tests by themselves may have one boot alone.
        if os.path.exists(os.path.join(os.path.dirname(boot.folder), "kdump")):
            with session.case(f"{boot.label}: drgn reads the dump with it") as notes:
                drgn_reads(program, boot, path, notes)
            with session.case(f"{boot.label}: drgn reads a module's file") as notes:
                drgn_reads_module(program, boot, path, notes)
        if os.path.exists(os.path.join(os.path.dirname(boot.folder), "boot2")):
            with session.case(f"{boot.label}: one for all boots of the build") as notes:
                of_every_boot(program, boot, notes)
    for boot in all_boots[:1]:
        with session.case(f"{boot.label}: what fits no form is refused"):
            refuses(program, boot, path)
        with session.case(f"{boot.label}: odd names of sections") as notes:
            has_no_odd_sections(program, boot, notes)
        with session.case(f"{boot.label}: an odd size of a section") as notes:
            has_no_odd_size(program, boot, notes)
        with session.case(f"{boot.label}: BTF is exported by either command"):
            forms_agree(program, boot)
    program.cache = None
