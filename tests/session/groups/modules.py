# SPDX-License-Identifier: GPL-3.0-or-later
"""`mod`: against /proc/modules, /sys/module/*/sections, the files of the modules, and with damage.

The guests do not write down /sys/module/*/parameters; the types of parameters are those that the
.ko files say (parmtype), the values those that `print` reads at the same places.
"""

import glob
import lzma
import os
import re
import struct

from forged import Image
from lib import Boot, Failure, boots, cache_folder, check, check_equal, check_lines, kernel_names

BUILD_ID = b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"
TYPES = {"byte": "unsigned char", "short": "short int", "ushort": "short unsigned int",
         "int": "int", "uint": "unsigned int", "hexint": "unsigned int", "long": "long int",
         "ulong": "long unsigned int", "ullong": "long long unsigned int", "charp": "char *",
         "bool": "bool", "invbool": "bool", "bint": "int"}


def proc_modules(boot):
    """The rows of /proc/modules as `mod` has them."""
    for line in boot.truth("modules").splitlines():
        name, size, references, users, state, address, *taint = line.split()
        yield {"name": name, "size": int(size), "references": int(references), "state": state,
               "used_by": "" if users == "-" else users.rstrip(","),
               "address": int(address, 16), "taint": taint[0].strip("()+-") if taint else ""}


def list_modules(program, boot, notes):
    ours = [{**row, "address": int(row["address"], 16)}
            for row in program.result(boot.dump, "mod")]
    theirs = list(proc_modules(boot))
    check_lines([row["name"] for row in ours], [row["name"] for row in theirs], "module")
    for our, their in zip(ours, theirs):
        for key, value in their.items():
            check_equal(our[key], value, f"{their['name']}: {key}")
    notes.append(f"{len(ours)} modules")


def answers_of(program, boot):
    """{name: result of `mod NAME`} of all."""
    names = [name for name, _, _ in boot.modules]
    answers = program.answers(boot.dump, [f"mod {name}" for name in names], status=0)
    return {name: answer["result"] for name, answer in zip(names, answers)}


def compare_sections(boot, answers, notes):
    """All of those modules whose sections the guest wrote down."""
    count, folders = 0, os.listdir(boot.path("truth", "sections"))
    for name in folders:
        folder = boot.path("truth", "sections", name)
        theirs = {section: int(boot.truth("sections", name, section), 16)
                  for section in os.listdir(folder)}
        ours = {row["name"]: int(row["address"], 16) for row in answers[name]["sections"]}
        check_equal(ours, theirs, f"sections of {name}")
        count += len(theirs)
    check(folders, "truth: no sections")
    notes.append(f"{count} sections of {len(folders)} modules")


def module_files(boot):
    """{name: path of its .ko}."""
    pattern = os.path.join(cache_folder(), "packages", f"linux-image-{boot.release}*", "**",
                           "*.ko*")
    return {re.sub(r"\.ko.*", "", os.path.basename(path)).replace("-", "_"): path
            for path in glob.glob(pattern, recursive=True)}


def read_module(path):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rb") as file:
        return file.read()


def modinfo(data, key):
    return [match.decode() for match in
            re.findall(rb"(?<=\0)" + key.encode() + rb"=([^\0]*)(?=\0)", b"\0" + data)]


def compare_file(name, answer, data):
    """Versions, build id, and the types of parameters; returns how many."""
    build_ids = {data[at.end():at.end() + 20].hex() for at in
                 re.finditer(re.escape(BUILD_ID), data)}
    check(answer["build_id"] in build_ids, f"{name}: build id {answer['build_id']!r}")
    for key in ("version", "srcversion"):
        check_equal(answer[key], (modinfo(data, key) or [""])[0], f"{name}: {key}")
    declared = dict(text.split(":", 1) for text in modinfo(data, "parmtype"))
    ours = {row["name"]: row for row in answer["parameters"]}
    # module_param_named() and core parameters have no parmtype of their own.
    check(set(declared) <= set(ours), f"{name}: parameters {sorted(set(declared) - set(ours))}")
    compared = 0
    for parameter, kind in declared.items():
        wanted = TYPES.get(kind.replace("array of ", ""))
        got = re.sub(r"\[\d*\]$", "", ours[parameter]["type"])
        if wanted and got:
            check_equal(got, wanted, f"{name}.{parameter}: type")
            check("[" in ours[parameter]["type"] or "array" not in kind, f"{parameter}: no array")
            compared += 1
        elif wanted:
            raise Failure(f"{name}.{parameter} has no type, but is declared {kind}")
    return compared


def compare_files(boot, answers, notes):
    files = module_files(boot)
    check(files, f"no files of modules of {boot.release}")
    known = [name for name in answers if name in files]
    types = sum(compare_file(name, answers[name], read_module(files[name])) for name in known)
    check(len(known) > 30 and types > 10, f"only {types} types of {len(known)} modules")
    notes.append(f"{types} types of parameters, {len(known)} build ids")


def values_of(program, boot, rows):
    """What `print` reads where scalar parameters are."""
    scalars = [row for row in rows if row["type"] in TYPES.values() and row["type"] != "char *"
               and row["value"] is not None]
    commands = [f"print *({row['type']} *){row['argument']}" for row in scalars]
    for row, answer in zip(scalars, program.answers(boot.dump, commands, status=0)):
        check_equal(row["value"], answer["result"]["value"], row["name"])
    return len(scalars)


def built_in(program, boot, notes):
    rows = program.result(boot.dump, "mod -b")
    start, stop = boot.address("__start___param"), boot.address("__stop___param")
    size = program.value(boot.dump, "sizeof(struct kernel_param)")
    check_equal(len(rows), (stop - start) // size, "number of parameters")
    values = {row["name"]: row["value"] for row in rows}
    # The command line of the guests sets these.
    check_equal(values["printk.time"], True, "printk.time")
    check_equal(values["printk.ignore_loglevel"], True, "printk.ignore_loglevel")
    check_equal(values["panic"], 0 if "panic=0" in boot.truth("cmdline") else values["panic"],
                "panic")
    typed = sum(1 for row in rows if row["type"])
    check(typed * 10 > len(rows) * 8, f"only {typed} of {len(rows)} are typed")
    notes.append(f"{len(rows)} parameters, {typed} typed, "
                 f"{values_of(program, boot, rows)} values as print has them")


# Damage


def module_count(program, path):
    return [row["name"] for row in program.result(path, "mod")]


def damaged_btf(program, image, boot):
    """The BTF of one module begins with other bytes."""
    names = [name for name, _, _ in boot.modules]
    victim = next(name for name in ("nf_conntrack", "btrfs", "dm_mod") if name in names)
    with open(boot.path("truth", "btf", victim), "rb") as file:
        places = image.find_all(file.read()[:512])
    check(places, f"layout: the BTF of {victim} is not in the dump")
    with image.patched({at: b"\0\1" for at in places}):
        check_equal(module_count(program, image.path), names, "modules")
        answer = program.result(image.path, f"mod {victim}")
        check("BTF" in str(answer["problems"]), f"problems: {answer['problems']}")
        check(len(answer["sections"]) > 10, "sections are lost too")
        other = next(name for name in names if name != victim)
        check(program.result(image.path, f"mod {other}")["btf"].get("first_id"),
              f"{other} lost its BTF too")
        check(program.result(image.path, f"sym -m {victim}"), f"{victim} lost its symbols too")
    return victim


def damaged_symbols(program, image, boot, word):
    """The table of symbols of one module is elsewhere, or too long."""
    victim = boot.modules[3][0]
    module = program.result(image.path, f"mod {victim}")["struct_module"]
    whole = len(program.result(image.path, "sym -l"))
    own = len(program.result(image.path, f"sym -m {victim}"))
    table = f"((struct module *){module})->kallsyms"
    symtab = int(program.value(image.path, f"{table}->symtab"), 16)
    count = program.value(image.path, f"{table}->num_symtab")
    places = image.find_all(struct.pack("<QI", symtab, count))
    check(places, f"layout: the struct mod_kallsyms of {victim} is not in the dump")
    with image.patched({at: word(symtab, count) for at in places}):
        rows = program.result(image.path, "sym -l")
        left = sum(1 for row in rows if row["module"] == victim)
        check(left < own, f"{victim} has {left} of {own} symbols, as if nothing were wrong")
        check_equal(len(rows) - left, whole - own, "symbols of the others")
        check(program.result(image.path, f"mod {victim}")["problems"], "no problem is named")
    return victim


def broken_list(program, image, boot):
    """A link in the middle of the list leads nowhere: both ends are listed."""
    names = [name for name, _, _ in boot.modules]
    rows = {name: program.result(image.path, f"mod {name}")["struct_module"]
            for name in names[8:13]}
    link = program.value(image.path, "(unsigned long)&((struct module *)0)->list")
    victim = names[10]
    words = [int(rows[names[i]], 16) + link for i in (11, 9)]
    places = image.find_all(struct.pack("<QQ", *words))
    check(places, f"layout: the list of {victim} is not in the dump")
    with image.patched({at: struct.pack("<Q", 0xdead000000000100) for at in places}):
        result = program.run(["-q", "--json", "-c", "mod", image.path], status=1)
        answer, = result.objects()
        check_equal([row["name"] for row in answer["result"]], names, "modules")
        check("modules: list" in str(answer["error"]), f"says {answer['error']}")
    return victim


def damage(session):
    program = session.program
    boot = Boot(kernel_names()[-1], "boot1")
    path = os.path.join(program.scratch, "modules")
    image = Image(boot.dump, path)
    with session.case("damaged BTF costs one module's BTF") as notes:
        notes.append(damaged_btf(program, image, boot))
    with session.case("a table of symbols that is unmapped costs one module's symbols") as notes:
        notes.append(damaged_symbols(program, image, boot,
                                     lambda symtab, count: struct.pack("<QI", 0xdead0000, count)))
    with session.case("a table of symbols that is too long costs one module's symbols") as notes:
        notes.append(damaged_symbols(program, image, boot,
                                     lambda symtab, count: struct.pack("<QI", symtab, 1 << 31)))
    with session.case("behind a broken link of the list, the modules are listed too") as notes:
        notes.append(broken_list(program, image, boot))
    os.unlink(path)


def run(session):
    program = session.program
    for boot in boots():
        with session.case(f"{boot.label}: mod is as /proc/modules") as notes:
            list_modules(program, boot, notes)
        answers = None
        with session.case(f"{boot.label}: sections are as in /sys/module") as notes:
            answers = answers_of(program, boot)
            compare_sections(boot, answers, notes)
        with session.case(f"{boot.label}: versions, build ids, types as the .ko says") as notes:
            compare_files(boot, answers or {}, notes)
        with session.case(f"{boot.label}: values of modules' parameters") as notes:
            rows = [row for answer in (answers or {}).values() for row in answer["parameters"]]
            count = values_of(program, boot, rows)
            check(count, "there are none")
            notes.append(f"{count} values")
        with session.case(f"{boot.label}: parameters of what is built in") as notes:
            built_in(program, boot, notes)
    damage(session)
