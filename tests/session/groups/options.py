# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: its options in --help, the manual page and the shells' completions, and what
needs no dump."""

import os
import re
import subprocess

from lib import ROOT, Boot, check, check_equal, kernel_names, tool

# bash's own words about what it would complete, one a line.
BASH = """
source "$1"
COMP_WORDS=(btfcrash "${@:2}") COMP_CWORD=$(($# - 1))
_btfcrash
printf '%s\\n' "${COMPREPLY[@]}"
"""


def is_listed_everywhere(program, notes):
    """--help, which people read, has each option; so have the others, and no more."""
    usage = program.run(["--help"], status=0).text
    options = re.findall(r"^ +(?:-(\w), )?--([\w-]+)", usage, re.MULTILINE)
    check(len(options) > 15, f"options of --help: {options}")
    long = sorted(name for _, name in options)
    manual = program.run(["--manual"], status=0).text.partition(".SH EXIT STATUS")[0]
    check_equal(sorted(re.findall(r"^\.B (?:\\-\w, )?\\-\\-([\w-]+)", manual, re.MULTILINE)), long,
                "options of the manual page")
    zsh, fish = (program.run(["--completion", shell], status=0).text for shell in ("zsh", "fish"))
    check_equal(sorted(re.findall(r"--([\w-]+)[}\[]", zsh)), long, "options for zsh")
    check_equal(sorted(re.findall(r" -l ([\w-]+)", fish)), long, "options for fish")
    for letter, name in options:
        check(not letter or f"{{-{letter},--{name}}}" in zsh, f"zsh: -{letter}")
        check(not letter or f" -s {letter} -l {name} " in fish, f"fish: -{letter}")
    check(all(len(line) <= 80 for line in usage.splitlines()), "--help is wider than 80 columns")
    notes.append(f"{len(options)} options")


def completes_in_bash(program):
    path = os.path.join(program.scratch, "btfcrash.bash")
    with open(path, "wb") as file:
        file.write(program.run(["--completion", "bash"], status=0).out)
    for words, wanted in ((("--col",), ["--columns", "--color"]), (("--color", "al"), ["always"]),
                          (("--format", ""), ["text", "json", "csv", "raw"]),
                          (("-c", "whatt"), ["whattype"]), (("vmc",), [""])):
        done = subprocess.run(["bash", "-c", BASH, "bash", path, *words], stdout=subprocess.PIPE,
                              check=True)
        check_equal(done.stdout.decode().splitlines(), wanted, " ".join(words))


def is_syntax(program, shell):
    path = os.path.join(program.scratch, "btfcrash." + shell)
    with open(path, "wb") as file:
        file.write(program.run(["--completion", shell], status=0).out)
    done = subprocess.run([tool(shell), "-n", path], stderr=subprocess.PIPE, check=False)
    check_equal((done.returncode, done.stderr), (0, b""), f"{shell} -n")


def helps_without_dump(program):
    for line, word in (("help", "whattype"), ("help bt", "usage: bt"), ("? piping", "COMMAND |"),
                       ("help crash", "`print -x PAGE << 12`"), ("ps --help", "usage: ps"),
                       (" print --help", "usage: print")):
        check(word in program.run(["-c", line], status=0).text, f"{line}: no {word}")
    result = program.run(["--json", "-c", "help nosuch"], status=1)
    check("no command" in result.objects()[0]["error"], result.text)
    path = os.path.join(program.scratch, "help")
    program.run(["-c", f"ps --help > {path}"], status=0)
    with open(path, encoding="utf-8") as file:
        check("usage: ps" in file.read(), "ps --help into a file")
    # Whatever stands beside it needs a dump.
    for lines in (("help", "sys"), ("help | print",), ("sys",), ("ps --help", "ps")):
        arguments = [word for line in lines for word in ("-c", line)]
        if not os.path.exists("/proc/vmcore"):
            check("no DUMP" in program.run(arguments, status=2).errors, f"{lines} without a dump")
        missing = program.run([*arguments, "/nonexistent/vmcore"], status=2)
        check("/nonexistent/vmcore" in missing.errors, f"{lines}: {missing.errors}")


def leaves_vmlinux_aside(program, boot):
    """crash's habit; a program of any kind stands for a vmlinux."""
    wanted = program.text(boot.dump, "print init_task.comm")
    for files in ((program.path, boot.dump), (boot.dump, program.path)):
        result = program.run(["-c", "print init_task.comm", *files], status=0)
        check_equal(result.text, wanted, "the answer")
        check_equal(result.errors.strip(),
                    f"btfcrash: {program.path} is left aside: the dump needs no vmlinux beside it",
                    "what is said")
    result = program.run(["-q", "-c", "print init_task.comm", program.path, boot.dump], status=0)
    check_equal((result.text, result.errors), (wanted, ""), "with -q")
    result = program.run(["-c", "sys", program.path], status=2)
    check("needs no vmlinux, give it the dump" in result.errors, result.errors)


def sheet_is_in_readme(program):
    words = program.answers([], ["help crash"], status=0)[0]["result"]["words"]
    check(len(words) > 12, f"{len(words)} words")
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    for word in words:
        row = f"| {word['name']} | {word['instead']} |"
        check(row in readme, f"README.md has no line {row}")


def run(session):
    program = session.program
    with session.case("options are the same everywhere") as notes:
        is_listed_everywhere(program, notes)
    with session.case("completion in bash"):
        completes_in_bash(program)
    for shell in ("bash", "zsh", "fish"):
        with session.case(f"{shell} parses its completion"):
            is_syntax(program, shell)
    with session.case("help without a dump"):
        helps_without_dump(program)
    with session.case("help crash is in the README"):
        sheet_is_in_readme(program)
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        with session.case(f"{kernel}: a vmlinux beside the dump"):
            leaves_vmlinux_aside(program, boot)
