# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in a dump that are no names: what TAB makes of them at the prompt, through a terminal.

In a copy of a dump every long name is replaced by one that would run a program, or that would
reach the terminal as a control: modules, types, members, symbols of the kernel and of modules,
tasks, BPF programs.  TAB, and Enter behind it, after the beginning of each.
"""

import os
import re
import shutil

from forged import Image, Layout
from groups.shell import PROMPT, terminal
from lib import Boot, check, kernel_names

MARK = "was-here"  # the file that such a name would make
# A name's end, and bytes that may not reach a terminal: C1 as a byte and as UTF-8, NEL, invalid
# and overlong UTF-8, a surrogate, what is invisible or turns the line around.
ENDS = (b"|>was-here;#", b";>was-here;#", b"`>was-here`", b"$(>was-here)", b"'|>was-here;'",
        b"\n!>was-here;", b"\r!>was-here;", b">was-here", b">>was-here ", b" -x |>was-here",
        b"\x9b2J", b"\xc2\x9b2J", b"\xc2\x85", b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80",
        b"\x1b[2J", b"\x1b]0;x\x07", b"\xe2\x80\xae", b"\xe2\x80\x8b", b"\xef\xbb\xbf",
        b"\xf3\xa0\x81\x81", b"\x7f", b"\t", b"\\", b'"', b"\xc3\xa9")
# Readline's own on a terminal of this kind.
SHOWN = re.compile(rb"[\x20-\x7e\r\n\x07\x08]*")


class Names:
    """Replaces names in an image; remembers what to type to be offered them."""

    def __init__(self, image, layout):
        self.image = image
        self.layout = layout
        self.count = 0
        self.replaced = []  # (beginning, name)

    def spoil(self, at, name, room):
        """One name at a place of the file, of `room` bytes with its end; returns its beginning."""
        keep = max(3, len(name) - 24)
        for _ in ENDS:
            end = ENDS[self.count % len(ENDS)]
            self.count += 1
            if keep + len(end) < room:
                break
        new = (name[:keep] + end)[:room - 1]
        self.image.bytes[at:at + len(new)] = new
        if len(new) < room:
            self.image.bytes[at + len(new):at + room] = bytes(room - len(new))
        self.replaced.append((name[:keep], new))
        return name[:keep].decode()

    def strings(self, start, end, length, most):
        """Long names among the strings of a table; they keep their length, so that what lies
        behind them stays in its place."""
        data = self.image.bytes[start:end]
        names = [(match.start(1), match.group(1)) for match in
                 re.finditer(rb"\0([a-z][a-z0-9_]{%d,})(?=\0)" % (length - 1), data)]
        step = max(1, len(names) // most)
        return [self.padded(start + at, name) for at, name in names[::step]]

    def padded(self, at, name):
        end = ENDS[self.count % len(ENDS)]
        self.count += 1
        keep = len(name) - len(end)
        self.image.bytes[at + keep:at + len(name)] = end
        self.replaced.append((name[:keep], name[:keep] + end))
        return name[:keep].decode()


def direct(program, boot, layout, expressions):
    """File offsets of objects in the direct map."""
    base, *found = (answer["result"]["value"] for answer in program.answers(
        boot.dump, ["print page_offset_base", *("print &" + expression for expression in expressions)], status=0))
    return [layout.offset_of_physical(int(address, 16) - base) for address in found]


def spoil_modules(names, boot):
    """struct module has the name in an array of 56 bytes."""
    typed = []
    for line in boot.truth("modules").splitlines():
        name = line.split()[0].encode()
        for at in names.image.find_all(name + bytes(56 - len(name)))[:4]:
            start = names.spoil(at, name, 56)
        typed.append(f"mod {start}")
    return typed


def spoil_types(names):
    start, end = (names.layout.offset(name) for name in ("__start_BTF", "__stop_BTF"))
    found = names.strings(start, end, 26, 60)
    return [before + name for name in found for before in
            ("struct ", "print sizeof(struct ", "whatis ", "print (")]


def spoil_members(names, program, boot):
    """Members of task_struct: the kernel's BTF has each name once."""
    start, end = (names.layout.offset(name) for name in ("__start_BTF", "__stop_BTF"))
    typed = []
    for member in (b"compat_robust_list", b"cpuset_slab_spread_rotor", b"curr_ret_stack_unused",
                   b"timer_slack_ns", b"default_timer_slack_ns", b"rcu_read_unlock_special",
                   b"trc_reader_special", b"min_flt_and_more", b"futex_exit_mutex",
                   b"sched_contributes_to_load", b"numa_preferred_nid", b"stack_refcount"):
        at = names.image.bytes.find(b"\0" + member + b"\0", start, end)
        if at < 0:
            continue
        name = names.padded(at + 1, member)
        typed += [f"print init_task.{name}", f"struct task_struct.{name}", f"ps | print {{{name}",
                  f"print init_task{{pid, {name}"]
    check(len(typed) >= 12, f"only {len(typed)} lines about members")
    return typed


def spoil_symbols(names, boot):
    """Strings of the modules' symbol tables, which lie in memory as they were in the file."""
    typed = []
    wanted = [(name, module) for _, _, name, module in boot.symbols
              if module and len(name) > 22 and re.fullmatch(r"[a-z0-9_]+", name)]
    for name, module in wanted[::max(1, len(wanted) // 40)]:
        found = names.image.find_all(b"\0" + name.encode() + b"\0")
        starts = {names.padded(at + 1, name.encode()) for at in found[:1]}
        typed += [line for start in starts
                  for line in (f"print {module}:{start}", f"print {start}", f"sym {start}")]
    check(len(typed) > 30, f"only {len(typed)} lines about symbols")
    return typed


def spoil_tasks(names, program, boot):
    typed = []
    rows = [row for row in program.result(boot.dump, "ps") if row["pid"] > 1]
    places = direct(program, boot, names.layout, [f"((struct task_struct *){row['address']})->comm" for row in rows])
    for row, at in zip(rows, places):
        if names.image.bytes[at:at + 16].startswith(row["comm"].encode()[:15]):
            names.count += 1
            name = row["comm"].encode()[:3] if names.count % 3 else b""
            end = ENDS[names.count % len(ENDS)][:15 - len(name)]
            names.image.bytes[at:at + 16] = (name + end).ljust(16, b"\0")
            names.replaced.append((name, name + end))
            typed.append("ps " + name.decode())
            typed.append("foreach " + name.decode())
    check(len(typed) > 60, f"only {len(typed)} lines about tasks")
    return sorted(set(typed))


def spoil_bpf(names, program, boot):
    """The name that a BPF program's symbol has."""
    typed = []
    symbols = [f"((struct bpf_prog *){row['address']})->aux->ksym.name" for row in program.result(boot.dump, "bpf")["programs"]]
    own = [answer["result"]["value"].encode() for answer in
           program.answers(boot.dump, ["print " + symbol for symbol in symbols], status=0)]
    for name, at in zip(own, direct(program, boot, names.layout, symbols)):
        if name and names.image.bytes[at:at + len(name)] == name:
            start = names.spoil(at, name, 128)
            typed += [f"sym {start}", f"print {start}"]
    return typed


def press(program, dump, state, folder, lines):
    """TAB twice and Enter behind each line; returns what the terminal got for each."""
    answers = []
    inputrc = os.path.join(state, "inputrc")
    os.makedirs(state, exist_ok=True)
    with open(inputrc, "w") as file:
        file.write("set page-completions off\nset completion-query-items -1\n")
    with terminal(program, ["-q", dump], state, folder=folder, INPUTRC=inputrc) as user:
        user.expect(PROMPT, "start")
        for line in lines:
            user.type(line.encode())
            user.expect(line.encode(), f"echo of {line}")
            user.type(b"\t\t #done\r")
            answers.append(user.expect(b"#done", f"TAB after {line}"))
            user.expect(PROMPT, f"Enter after {line} and TAB")
        user.type(b"quit\r")
        check(user.end() == 0, "exit status after quit")
    return answers


def check_answers(names, lines, answers):
    hostile = {name for _, name in names.replaced}
    ends = [name[-7:] for name in hostile]
    for line, answer in zip(lines, answers):
        bad = SHOWN.sub(b"", answer)
        check(not bad, f"TAB after {line!r}: {bad[:20]!r} reached the terminal in {answer[-200:]!r}")
        found = [end for end in ends if end in answer and end not in line.encode()]
        check(not found, f"TAB after {line!r} offers {found[0] if found else ''!r}: "
              f"{answer[-200:]!r}")


def piped(session, boot):
    """The type of what goes through a pipe is no text."""
    program = session.program
    with session.case(f"{boot.label}: a type through a pipe") as notes:
        wanted = program.result(boot.dump, "print init_task.signal | print ->nr_threads")
        image = Image(boot.dump, os.path.join(program.scratch, "names.elf"))
        layout = Layout(image, boot)
        at = image.bytes.find(b"\0signal_struct\0", layout.offset("__start_BTF"))
        check(0 < at < layout.offset("__stop_BTF"), "layout: no signal_struct in BTF")
        with image.patched({at + 1: b"x)0,$q=1,(int"}):
            got = program.result(image.path, "print init_task.signal | print ->nr_threads")
            told = program.result(image.path, "print init_task.signal | print {nr_threads}")
        value = wanted[0]["value"]
        check(got[0]["value"] == value and told[0]["nr_threads"] == value, f"{got} {told}")
        notes.append(f"nr_threads of a \"struct x)0,$q=1,(int\" is {value}")
    os.unlink(os.path.join(program.scratch, "names.elf"))


def pressed(session, boot, what, spoil):
    program = session.program
    folder = os.path.join(program.scratch, "names")
    with session.case(f"{boot.label}: {what}") as notes:
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        image = Image(boot.dump, os.path.join(program.scratch, "names.elf"))
        names = Names(image, Layout(image, boot))
        lines = spoil(names, program, boot)[:MOST]
        check(lines, "nothing to type")
        answers = press(program, image.path, os.path.join(folder, "state"), folder, lines)
        check_answers(names, lines, answers)
        made = sorted(set(os.listdir(folder)) - {"state"})
        check(not made, f"files that a name made: {made}")
        notes.append(f"{len(names.replaced)} names, {len(lines)} lines")
    if os.path.exists(os.path.join(program.scratch, "names.elf")):
        os.unlink(os.path.join(program.scratch, "names.elf"))


MOST = 80


def run(session):
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        for what, spoil in (("modules", lambda names, _, boot: spoil_modules(names, boot)),
                            ("types", lambda names, *_: spoil_types(names)),
                            ("members", spoil_members),
                            ("symbols", lambda names, _, boot: spoil_symbols(names, boot)),
                            ("tasks", spoil_tasks)):
            pressed(session, boot, what, spoil)
        piped(session, boot)
        pressed(session, Boot(kernel, "bpf"), "BPF programs", spoil_bpf)
