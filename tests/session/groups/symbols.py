# SPDX-License-Identifier: GPL-3.0-or-later
"""`sym -l` against the guest's own /proc/kallsyms."""

from lib import BOOT_NAMES, Failure, boots, check, check_equal, check_lines

def listed(program, dump):
    """(address, letter, name, module) of every row of `sym -l`."""
    rows = program.result(dump, "sym -l")
    return [(int(row["address"], 16), row["kind"], row["name"], row["module"] or "")
            for row in rows]


def shown(rows):
    return [f"{address:016x} {letter} {name}" for address, letter, name, _ in rows]


def split(rows):
    """The rows by module, in order; the core's are under ""."""
    modules = {}
    for row in rows:
        modules.setdefault(row[3], []).append(row)
    return modules


def compare_modules(ours, theirs, notes):
    """Symbols of each module, and of what the kernel wrote at run time ([bpf],
    [__builtin__ftrace]), in the order of each table."""
    wanted = [name for name in theirs if name]
    got = [name for name in ours if name]
    check_lines(got, wanted, "module")
    for name in wanted:
        check_lines(shown(ours[name]), shown(theirs[name]), f"{name}'s symbol")
    notes.append(f"{sum(len(theirs[name]) for name in wanted)} symbols of "
                 f"{len(wanted)} modules")


def look_up(program, boot):
    """Names and addresses, one by one, through the other form of `sym`."""
    known = [name for name in ("init_task", "_stext", "schedule", "panic", "jiffies")
             if len(boot.addresses.get((name, ""), ())) == 1]
    check(len(known) > 3, "truth: the usual symbols are not there")
    answers = program.answers(boot.dump, [f"sym {name}" for name in known], status=0)
    for name, answer in zip(known, answers):
        rows = answer["result"]
        if isinstance(rows, dict):
            rows = [rows]
        check({int(row["address"], 16) for row in rows} == {boot.address(name)},
              f"sym {name} gives {rows}")
    inside = boot.address("panic") + 5
    rows = program.result(boot.dump, f"sym {inside:#x}")
    check("panic" in str(rows), f"sym {inside:#x} gives {rows}")
    missing = program.run(["-q", "-c", "sym no_such_symbol_xyz", boot.dump], status=1)
    check(len(missing.err.splitlines()) == 1, f"message: {missing.errors}")


def places(program, boot):
    """Size and section of the symbols of equal names, by the guest's table and sections."""
    rows = program.result(boot.dump, "sym cleanup_module")
    check(len(rows) > 10, "few modules have a cleanup_module")
    known = 0
    for name, _, _ in boot.modules[:5]:
        for row in program.result(boot.dump, f"sym -m {name}"):
            if row["name"] != "__this_module":
                continue
            shown, = program.result(boot.dump, f"sym {row['address']}")
            check(shown["module"] == name and shown["section"] == ".gnu.linkonce.this_module",
                  f"{name}: {shown}")
            check(shown["size"] == program.value(boot.dump, "sizeof(struct module)"), f"{shown}")
            known += 1
    check(known, "no __this_module")
    text, = program.result(boot.dump, "sym panic")
    check(text["section"] == ".text" and text["size"] > 16, f"panic: {text}")
    # A function, not the end of a section.
    text, = program.result(boot.dump, "sym __stop_tty")
    check(text["section"] == ".text" and text["size"] > 16, f"__stop_tty: {text}")
    text, = program.result(boot.dump, "sym __stop___ex_table")
    check(not text["size"], f"__stop___ex_table: {text}")


def functions(program, boot, notes):
    """Two sysfs attributes are called wakeup_show, one of an interrupt, one of a device; what
    tests/truth/score-instances compares with DWARF for all."""
    rows = program.result(boot.dump, "sym -f wakeup_show")
    check({int(row["address"], 16) for row in rows} == boot.addresses[("wakeup_show", "")],
          f"addresses: {rows}")
    for row in rows:
        if row["proved"]:
            around = program.result(boot.dump, f"sym {row['address']}")[0]
            # kernel/irq comes before drivers/base in the image.
            kind = "struct kobject *" if around["address"] == min(
                one["address"] for one in rows) else "struct device *"
            check(f"({kind}" in row["prototype"], f"{row['address']} is {row['prototype']}")
    check(any(row["proved"] for row in rows), "none is proved")
    check_equal(program.result(boot.dump, "whatis wakeup_show"), rows, "whatis wakeup_show")
    only, = program.result(boot.dump, "sym -f panic")
    check(only["proof"] == "only one" and not only["proved"], f"panic: {only}")
    # BTF has assembler's functions as void (void), and this one takes two tasks.
    switch, = program.result(boot.dump, "whatis __switch_to_asm")
    check(switch["proof"] == "unproved" and switch["refuted"] == 1, f"refuted: {switch}")
    read, = program.result(boot.dump, "sym -f 'wake_up_proces[s]'")
    check(read["proved"] and read["proof"] == "code" and read["section"] == ".text",
          f"wake_up_process: {read}")
    notes.append(f"{sum(row['proved'] for row in rows)} of {len(rows)} proved")


def clones(program, boot, notes):
    """What the compiler made of a function has its name, and no proved prototype."""
    names = sorted({name.split(".")[0] for _, letter, name, module in boot.symbols
                    if not module and letter == "t" and ".isra." in name})[:20]
    rows = [row for name in names for row in program.result(boot.dump, f"sym -f {name}")
            if "." in row["name"]]
    check(len(rows) >= len(names) > 5, f"{len(rows)} clones of {len(names)} functions")
    check(not any(row["proved"] for row in rows), "a clone's prototype is proved")
    notes.append(f"{len(rows)} clones")


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: size and section of symbols"):
            places(session.program, boot)
        with session.case(f"{boot.label}: which of equal names has which prototype") as notes:
            functions(session.program, boot, notes)
        with session.case(f"{boot.label}: clones of functions") as notes:
            clones(session.program, boot, notes)
    for boot in boots((*BOOT_NAMES, "bpf")):
        rows = None
        with session.case(f"{boot.label}: every core symbol is as in /proc/kallsyms") as notes:
            rows = split(listed(session.program, boot.dump))
            theirs = split(boot.symbols)
            check_lines(shown(rows.get("", [])), shown(theirs[""]), "symbol")
            notes.append(f"{len(theirs[''])} symbols")
        with session.case(f"{boot.label}: every module symbol is as in /proc/kallsyms") as notes:
            if rows is None:
                raise Failure("sym -l gave nothing")
            compare_modules(rows, split(boot.symbols), notes)
        with session.case(f"{boot.label}: sym NAME and sym ADDRESS"):
            look_up(session.program, boot)
