# SPDX-License-Identifier: GPL-3.0-or-later
"""btfcrash.py: dumps as objects of Python, against what the guests and the program's text say."""

import doctest
import importlib.util
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap

from lib import ROOT, Boot, check, check_equal, kernel_names

FOLDER = os.path.join(ROOT, "cmds", "python")


def load():
    spec = importlib.util.spec_from_file_location("btfcrash", os.path.join(FOLDER, "btfcrash.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(program):
    """In which the program is found by its name, and the module."""
    around = program.environment()
    around.update(PATH=os.path.dirname(program.path) + ":" + around["PATH"], PYTHONPATH=FOLDER,
                  PYTHONDONTWRITEBYTECODE="1")
    return around


def fails(kind, call, *words):
    """The exception of a call that has to fail."""
    try:
        call()
    except kind as error:
        check(all(word in str(error) for word in words), f"{kind.__name__}: {error}")
        return error
    check(False, f"no {kind.__name__}")
    return None


def gives_objects(btfcrash, dump, boot):
    tasks = {task.pid: task for task in dump("ps")}
    check_equal(tasks[1].comm, boot.tasks[1].comm.decode(), "comm of 1")
    check_equal(dump.print("init_task").address, boot.address("init_task"), "address of init_task")
    address = dump.value("&init_task")
    check(isinstance(address, btfcrash.Address), f"&init_task is {type(address)}")
    check_equal((str(address), repr([address])), (hex(address), f"[{hex(address)}]"), "as text")
    check_equal(dump.value("init_task.signal->rlim[0].rlim_cur"), 2**64 - 1, "a limit")
    check_equal(dump.value("(long)-1"), -1, "a negative number")
    check_equal(dump.value("runqueues:a.cpu"), [0, 1][:len(dump.print("runqueues:a.cpu"))], "CPUs")
    tiers = [dump.print(text).tier for text in ("runqueues:0.cpu", "&init_task", "1 + 1")]
    check_equal(tiers, ["certain", "inferred", None], "tiers")
    row = next(dump.rows("ps 1 | print {pid, mm->map_count}"))
    check(row["mm->map_count"] > 0 and row.pid == 1, f"row {row}")
    check_equal(list(dump.rows("ps -s X")), [], "rows of nothing")
    check_equal([one.pid for one in dump.rows("task 1")], [1], "one object as rows")
    check_equal((dump("set $it = &init_task"), dump.value("$it->pid")), (None, 0), "a state")
    check_equal(dump("ps > /dev/null"), None, "what went elsewhere")
    fails(AttributeError, lambda: row.nonesuch, "no member nonesuch")


def knows_strings(btfcrash, dump):
    """A string that looks like an address is none; only the memory of a dump has such."""
    check_equal([btfcrash._converted(text) for text in ("0x1f", "\\x30x1f", "0x", "x")],
                [31, "0x1f", "0x", "x"], "strings and addresses")
    check_equal(btfcrash.unescape("a\\x9b\\\\x\\u{200b}"), b"a\x9b\\x\xe2\x80\x8b", "unescape()")
    check(isinstance(dump("rd linux_banner")[0].text, str), "the text of rd")


def has_errors(btfcrash, dump):
    error = fails(btfcrash.CommandError, lambda: dump("print nonesuch_variable"), "nonesuch_variable")
    check_equal(error.command, "print nonesuch_variable", "the command that failed")
    error = fails(btfcrash.CommandError, lambda: dump("print *(int *)0"), "0x0")
    check_equal(error.result.type, "int", "what was found until then")
    for bad in ("", " # x", "print 1\nprint 2", "!true"):
        fails(ValueError, lambda line=bad: dump(line), "not one command")
    fails(btfcrash.Error, lambda: dump("ps --csv 1"), "no JSON")
    check_equal(dump.value("2 + 2"), 4, "the answer behind an error")


def survives_ends(btfcrash, program, boot):
    """A file that is no dump, a program that is none, an answer that is late, a death."""
    fails(btfcrash.Dead, lambda: btfcrash.open("/dev/null", path=program.path), "/dev/null")
    fails(btfcrash.Dead, lambda: btfcrash.open(boot.dump, path=FOLDER + "/nonesuch"), "No such file")
    dump = btfcrash.open(boot.dump, path=program.path)
    dump._process.send_signal(signal.SIGKILL)
    fails(btfcrash.Dead, lambda: [dump("ps") for _ in range(3)], "killed by signal 9")
    fails(btfcrash.Dead, lambda: dump("ps"), "closed")
    check(dump.closed, "a dead program is open")
    dump.close()
    with btfcrash.open(boot.dump, path=program.path) as dump:
        fails(btfcrash.Dead, lambda: dump("quit"), "exit status 0")
    fails(btfcrash.Dead, lambda: dump("ps"), "closed")
    # A program that opens dumps and then says nothing any more.
    silent = os.path.join(program.scratch, "silent")
    with open(silent, "w") as file:
        file.write("#!/bin/sh\nread line\necho \"{\\\"command\\\": \\\"$line\\\", \\\"ok\\\": true}\"\n"
                   "exec sleep 1000\n")
    os.chmod(silent, stat.S_IRWXU)
    dump = btfcrash.open(boot.dump, path=silent)
    fails(btfcrash.Timeout, lambda: dump("ps", timeout=0.2), "no answer in time")
    fails(btfcrash.Dead, lambda: dump("ps"), "no answer in time")
    check(dump.closed, "open after a timeout")
    dump.close()


def opens_several(btfcrash, program, boots):
    dumps = [btfcrash.open(boot.dump, path=program.path, options=["--no-cache"]) for boot in boots]
    try:
        for dump, boot in zip(dumps, boots):
            check_equal(dump("sys").release, boot.release, "release")
        releases = [dump.value("init_uts_ns.name.release") for dump in dumps]
        check_equal(releases, [boot.release for boot in boots], "releases")
    finally:
        for dump in dumps:
            dump.close()


def runs_example(btfcrash, program, boot, notes):
    """The script in the docstring: where tasks wait is in their stacks as the guest saw them."""
    found = re.search(r"where tasks in state D wait:\n\n(.*?)\n\n\S", btfcrash.__doc__, re.DOTALL)
    path = os.path.join(program.scratch, "waiting.py")
    with open(path, "w") as file:
        file.write(textwrap.dedent(found.group(1)))
    done = subprocess.run([sys.executable, "-W", "error", path, boot.dump], env=environment(program),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check_equal((done.returncode, done.stderr), (0, ""), "the script")
    seen = {}
    for line in done.stdout.splitlines():
        function, _, tasks = line.partition(": ")
        seen.update({int(pid): function for pid in re.findall(r"\((\d+)\)", tasks)})
    rows = program.result(boot.dump, "ps -s D")
    check_equal(sorted(seen), sorted(row["pid"] for row in rows), "tasks in state D")
    # Those that the guest made sleep for good; others may have moved after it had looked.
    known = {pid: boot.tasks[pid] for pid in seen
             if pid in boot.tasks and boot.tasks[pid].comm.startswith((b"frozen-", b"vfork-"))}
    for pid, task in known.items():
        names = [name for name, *_ in task.stack]
        check(seen[pid] in names, f"{pid} waits in {seen[pid]}, of {names}")
    check(known, "nothing is known to wait")
    notes.append(done.stdout.strip().replace("\n", "; "))


def run(session):
    program = session.program
    with session.case("the module"):
        btfcrash = load()
        result = doctest.testmod(btfcrash)
        check(result.attempted > 1 and not result.failed, f"doctest: {result}")
        source = open(os.path.join(FOLDER, "btfcrash.py")).read()
        compile(source, "btfcrash.py", "exec", dont_inherit=True)
    boots = [Boot(kernel, "boot1") for kernel in kernel_names()]
    for boot in boots:
        with session.case(f"{boot.label}: objects"), \
                btfcrash.open(boot.dump, path=program.path) as dump:
            gives_objects(btfcrash, dump, boot)
            knows_strings(btfcrash, dump)
        with session.case(f"{boot.label}: errors"), \
                btfcrash.open(boot.dump, path=program.path) as dump:
            has_errors(btfcrash, dump)
        with session.case(f"{boot.label}: the docstring's script") as notes:
            runs_example(btfcrash, program, boot, notes)
    with session.case("the end of a program"):
        survives_ends(btfcrash, program, boots[0])
    with session.case("several dumps"):
        opens_several(btfcrash, program, boots)
