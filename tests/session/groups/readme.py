# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples and the picture in README.md are what the program says, on the dump of `make demo`.

An example is a line in a ``` block: `$ COMMAND` for a shell, or `btfcrash> LINE` at the prompt; what
follows is its output.  `vmcore` is the newest kernel's boot1, which is what `make demo` makes,
`bpf.vmcore` the same kernel's crash below BPF programs, `null.vmcore` one through a NULL pointer.

The output has to be there line by line, but for what differs from boot to boot, or when Debian
releases a fixed kernel:

- `...` alone in a line stands for lines left out, within a line for any text;
- an address, an offset into a function, or another number in hexadecimal is any such number, and a
  frame (#9) any frame; but what is the same address or frame throughout a block of the README has
  to be the same one in the output;
- a decimal number is any (pids, counts, sizes), unless it is a value: behind `=`, `= `, `": ` or a
  cast, where it has to be the same;
- `?` is any value: the README may not promise more than there is, but may promise less;
- blanks are as many as it takes; what compilers put behind a name (.part.0) is left aside.

An address in a command, or the number in `frame 9`, is one that an earlier output of the README
shows: its counterpart is asked.
"""

import html
import os
import re
import shlex
import subprocess

from lib import ROOT, Boot, check, check_equal, kernel_names, shorten

DUMPS = {"vmcore": "boot1", "bpf.vmcore": "bpf", "null.vmcore": "null"}
TIMEOUT_SECONDS = 120
SHELL, PROMPT = "$ ", "btfcrash> "

# What a line consists of; the first that fits counts.
TOKEN = re.compile(r"""
    (?P<gap>\.\.\.)
  | (?P<frame>(?<!\S)\#\d+\b)
  | (?P<offset>\+0x[0-9a-f]+)
  | (?P<address>\b(?:0x[1-9a-f][0-9a-f]{5,}|(?=[a-f]*[0-9])[1-9a-f][0-9a-f]{7,})\b)
  | (?P<hex>\b(?:0x[0-9a-f]{2,}|[0-9a-f]{8,})\b)
  | (?P<suffix>\.(?:part|isra|constprop|cold)\b(?:\.\d+)?)
  | (?P<tag>_[0-9a-f]{16}_|_\d{6,}\b)
  | (?P<value>(?:(?<==)|(?<==\ )|(?<=":\ )|(?<=\)))-?\d+\b(?!\.))
  | (?P<number>(?<![\w#])\d[\d.]*\b)
  | (?P<unknown>(?<==)\?)
  | (?P<blank>\s+)
""", re.VERBOSE)
ANY = {"gap": ".*", "hex": "(?:0x)?[0-9a-f]+", "offset": r"\+0x[0-9a-f]+", "suffix": "", "tag": r"_[0-9a-f]+_?",
       "number": r"\d[\d.]*", "unknown": r"[^,)]+", "blank": r"\s+"}


def examples(text):
    """[[(prompt, command, [lines])]]: a list of examples for each ``` block that has any."""
    blocks = []
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        found = []
        for line in block.splitlines():
            prompt = next((one for one in (SHELL, PROMPT) if line.startswith(one)), None)
            if prompt:
                found.append((prompt, line[len(prompt):], []))
            elif found:
                found[-1][2].append(line)
        if found:
            blocks.append(found)
    return blocks


def picture(text):
    """The session that the picture shows, as a block of examples; long frames are one line again."""
    lines = []
    for line in re.findall(r'<text x=[^>]*>(.*)</text>', text):
        line = html.unescape(re.sub("<[^>]*>", "", line))
        # Of several ways to an object, any is as good.
        line = re.sub(r"( pointer: ).*(->\w+\[)", r"\1...\2", line)
        if line.startswith(" " * 8) and re.match(r" ?#\d", lines[-1]):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return examples("```\n" + "\n".join(lines) + "\n```\n")[0]


class Pattern:
    """A line of the README, to be found in the output."""

    def __init__(self, line):
        self.names = []  # of addresses without 0x, and of frames
        parts, end = "^", 0
        line = line.strip()
        for token in TOKEN.finditer(line):
            parts += re.escape(line[end:token.start()])
            end = token.end()
            parts += self.part(token)
        self.regex = re.compile(parts + re.escape(line[end:]) + "$")

    def part(self, token):
        kind = token.lastgroup
        if kind == "value":
            return re.escape(token[0])
        if kind not in ("address", "frame"):
            return ANY[kind]
        self.names.append(token[0].removeprefix("0x"))
        if kind == "frame":
            return r"(#\d+)"
        return "0x([0-9a-f]+)" if token[0].startswith("0x") else "([0-9a-f]{8,})"

    def match(self, line, known):
        """Whether the line fits; `known` learns what the README's addresses and frames are here."""
        line = re.sub(r"\.(part|isra|constprop|cold)\b(\.\d+)?", "", line.strip())
        found = self.regex.match(line)
        if not found:
            return False
        learnt = dict(known)
        for shown, real in zip(self.names, found.groups()):
            if learnt.setdefault(shown, real) != real:
                return False
        known.update(learnt)
        return True


def compare(shown, output, known):
    """Whether the lines of an example are those of the output; says where not."""
    shown = [line for line in shown if line.strip()]
    output = [line for line in output if line.strip()]
    at, may_skip = 0, False
    for line in shown:
        if line.strip() == "...":
            may_skip = True
            continue
        pattern = Pattern(line)
        while at < len(output) and not pattern.match(output[at], known) and may_skip:
            at += 1
        check(at < len(output), f"nothing like {line.strip()!r} in the output from here on")
        check(pattern.match(output[at], known), f"{line.strip()!r} is {output[at].strip()!r}")
        at, may_skip = at + 1, False
    check(may_skip or at == len(output), f"more than is shown: {output[at:at + 1]}")


def run_shell(program, folder, command):
    """What a command in the shell prints, in a folder that has the dumps."""
    environment = program.environment()
    environment["PYTHONPATH"] = os.path.join(ROOT, "cmds", "python")
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["PATH"] = os.path.dirname(program.path) + ":" + environment["PATH"]
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS)
    check_equal(done.returncode, 0, f"exit status of {command} ({shorten(done.stderr)})")
    return done.stdout


def translated(command, known):
    """A command of the README with the addresses and frames that stand for its own."""
    def real(found):
        return (found[1] or "") + known.get(found[2], found[2])
    command = re.sub(r"\b(0x)?([0-9a-f]{6,})\b", real, command)
    return re.sub(r"\bframe (\d+)", lambda found: "frame " + known.get("#" + found[1], found[1])
                  .removeprefix("#"), command)


def check_block(program, folder, block, seen):
    """The examples of one block, in turn: lines at a prompt see what those before them did.
    `seen` is what the blocks before it learnt."""
    known, typed, said = {}, [], ""
    for prompt, command, lines in block:
        command = translated(command, {**seen, **known})
        if prompt == PROMPT:
            typed.append(command)
            words = [word for line in typed for word in ("-c", line)]
            output = run_shell(program, folder, shlex.join(["btfcrash", "-q", "vmcore", *words]))
            output, said = output.removeprefix(said), output
        else:
            output = run_shell(program, folder, command)
        try:
            compare(lines, output.splitlines(), known)
        except Exception as error:
            raise type(error)(f"{command}: {error}") from None
    seen.update(known)


def refuses(shown, output):
    """Whether the comparison sees the difference."""
    try:
        compare(shown, output, {})
    except Exception:
        return True
    return False


def can_fail():
    """What must be told apart is, and what may differ does."""
    frame = " #9 [ffffd1434069bd00] vfs_write+0xf8 at ffffffffab045e48 (file=0xffff8bf1419, count=1, ret=?)"
    other = " #9 [ffffa1434069bd00] vfs_write+0x8 at ffffffff9b045e48 (file=0xffff8bf1777, count=1, ret=-5)"
    for shown, output in (([frame], [other]), (["...", frame], ["1", "2", other]),
                          ([frame, "..."], [other, "9"]), (["12 tasks of 30"], ["7  tasks of  4"]),
                          (["  v (u32)13 ... x"], ["v (u32)13 abc x"]), (["do_it.part.0+0x1"], ["do_it+0x2"])):
        check(not refuses(shown, output), f"{shown} is not {output}")
    for shown, output in (([frame], [other.replace("count=1", "count=2")]),
                          ([frame], [other.replace("vfs_write", "vfs_read")]),
                          ([frame], [other.replace("0xffff8bf1777", "?")]),
                          ([frame], [other.replace("#9", "9")]),
                          ([frame, frame], [other, other.replace("#9", "#8")]),
                          ([frame], [other, other]), ([frame, frame], [other]),
                          ([frame, frame], [other, other.replace("1777", "1778")]),
                          (["(u32)13"], ["(u32)14"]), (['"value": 1}'], ['"value": 2}']),
                          (["a b"], ["a c"]), (["x  // certain"], ["x"])):
        check(refuses(shown, output), f"{shown} passes for {output}")


def demo_kernel():
    """The kernel whose dump `make demo` makes, whichever ones are tested."""
    with open(os.path.join(ROOT, "testdata", "kernels"), encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    return [words[0] for words in lines if words and "optional" not in words][-1]


def run(session):
    with session.case("what the comparison sees"):
        can_fail()
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        blocks = examples(file.read())
    with session.case("there are examples"):
        check(sum(map(len, blocks)) > 10, f"{len(blocks)} blocks")
    kernel = demo_kernel()
    if kernel not in kernel_names():
        session.skip("the examples", f"they are of {kernel}, which is not to be tested")
        return
    folder = os.path.join(session.program.scratch, "readme")
    os.makedirs(folder)
    for name, item in DUMPS.items():
        os.symlink(Boot(kernel, item).dump, os.path.join(folder, name))
    seen = {}
    for block in blocks:
        with session.case(shorten(block[0][1], 60)) as notes:
            check_block(session.program, folder, block, seen)
            notes.append(f"{len(block)} examples")
    with session.case("the picture: tests/picture makes it anew") as notes:
        with open(os.path.join(ROOT, "docs", "session.svg"), encoding="utf-8") as file:
            block = picture(file.read())
        check_block(session.program, folder, block, {})
        notes.append(f"{len(block)} examples")
