# SPDX-License-Identifier: GPL-3.0-or-later
"""The running kernel (--live) in a guest that does not crash, against the same guest's /proc."""

import os
import re
import subprocess
import sys

from groups import bpf, modules
from groups.kdump import capture_result
from lib import (ROOT, Boot, check, check_equal, check_lines, kernel_names, parse_json,
                 tool)
from traces import compare_sleeping, hidden_ranges

GUEST_SECONDS = 1800
BY_LIBBPF = {"types": "/sys/kernel/btf", "bpf": "bpf(2)"}
NO_SYSFS = {"types": "memory", "types_lack": "no /sys/kernel/btf/vmlinux here", "bpf": "bpf(2)"}
NO_LIBBPF = {"types": "memory", "types_lack": "libbpf.so.1 is not installed",
             "bpf": "memory", "bpf_lack": "libbpf.so.1 is not installed"}
PROGRAM = "/program/btfcrash"
COMMANDS = ("sys", "mod", "ps", "log", "bt", "sym -l", "print init_task.comm", "print linux_banner",
            "print init_uts_ns.name.nodename", "print _totalram_pages", "print *(char (*)[40])saved_command_line",
            "whattype init_task")
# Pids and addresses are known in the guest alone.
STACKS = f"""set --
for pid in $(cut -d ' ' -f 1 /tmp/states); do set -- "$@" -c "bt $pid"; done
exec {PROGRAM} -q --json --live "$@" """
TASK = f"""task=$({PROGRAM} -q --live -c ps | awk '$NF == "nanosleep" {{ print $(NF - 2) }}')
exec {PROGRAM} -q --json --live -c "whattype $task" -c "print ((struct task_struct *)0x$task)->comm" """
# What is not mapped reads as zeros in /proc/kcore.
HOLES = ("rd ffffc8ffff000000", "rd 0", "rd ffffffffff600000", "print *(int *)1")
CACHE = f"""export XDG_CACHE_HOME=/tmp/types
{PROGRAM} -q --live -c 'whatis -v modprobe_path'
find /tmp/types -type f"""
# Tasks come and go all the time; an answer may miss one, and must not break off.
CHURN = f"""for i in 1 2; do (while :; do /bin/true; done) & done
for i in 1 2 3 4; do
	timeout 50 {PROGRAM} -q --live -c ps -c stacks -c 'bt -a' -c log -c mod || echo "status $?"
done
kill $(jobs -p)"""
REFUSED = f"{PROGRAM} -q --live /proc/version -c sys; echo $?; {PROGRAM} -q -c sys; echo $?"
# What `sys` says of the source of types, and whether the BTFs of the kernel and of some modules are
# those of sysfs. Of a file that is laid over one there, memory knows nothing.
EXPORTS = f"""[ -e /tmp/btf ] || cp -r /sys/kernel/btf /tmp/btf
modules=$(ls /tmp/btf | grep -v vmlinux)
two=$(echo "$modules" | head -n 2)
compare() {{
	echo sys >/tmp/lines
	echo "btf --export /tmp/ours.vmlinux" >>/tmp/lines
	for name; do
		echo "btf -m $name --export /tmp/ours.$name" >>/tmp/lines
	done
	{PROGRAM} -q --json --live -i /tmp/lines >/tmp/json
	head -n 1 /tmp/json
	for name in vmlinux "$@"; do
		cmp -s "/tmp/btf/$name" "/tmp/ours.$name" && echo same || echo "$name differs"
	done
	rm /tmp/ours.*
}}
"""
TYPES = {"types": EXPORTS + "compare $modules",
         "laid over": EXPORTS + """set -- $two
mount -o bind "/tmp/btf/$2" "/sys/kernel/btf/$1"
compare "$@"
umount "/sys/kernel/btf/$1\"""",
         "no sysfs": EXPORTS + """umount -l /sys
compare $two
mount -t sysfs sys /sys""",
         "no libbpf": EXPORTS + """rm LIBBPF
compare $two"""}
VALUES = ["-q", "--json", "--json-integers=exact", "--live"]
QUESTIONS = {"answers": [*VALUES, *(word for command in COMMANDS for word in ("-c", command))],
             "text": ["-q", "--live", "-c", "sys", "-c", "log", "-c", "bt"],
             "operand": ["-q", "--json", "-c", "sys", "/proc/kcore"],
             "holes": [*VALUES, *(word for command in HOLES for word in ("-c", command))]}
SCRIPTS = {"stacks": STACKS, "task": TASK, "cache": CACHE, "churn": CHURN, "refused": REFUSED,
           **TYPES}


class LiveBoot(Boot):
    """A guest that left no dump."""

    dump = None


class Recorded:
    """The answers of a guest's run, with what groups for dumps ask a program for."""

    def __init__(self, answers):
        self.answers = answers

    def result(self, _dump, command):
        answer = self.answers.get(command)
        check(answer, f"no answer to {command}")
        check(answer["ok"], f"{command}: {answer.get('error')}")
        return answer["result"]


def answers_of(result):
    return {answer["command"]: answer for answer in map(parse_json, result.out.splitlines())}


def libbpf():
    """Where the program finds libbpf, which it is not linked with, and what that needs."""
    asked = subprocess.run(["gcc", "-print-file-name=libbpf.so.1"], stdout=subprocess.PIPE,
                           check=True, text=True)
    path = os.path.abspath(asked.stdout.strip())
    check(os.path.exists(path), "libbpf.so.1 is not installed")
    needed = subprocess.run(["ldd", path], stdout=subprocess.PIPE, check=True, text=True)
    return [path, *re.findall(r"=> (/\S+)", needed.stdout)]


def run_guest(program, kernel, folder, arguments, option="--live"):
    """Results by the order of the arguments' runs."""
    files = libbpf()
    added = [word for file in files for word in ("--add", file)]
    arguments = [word.replace("LIBBPF", files[0]) for word in arguments]
    done = subprocess.run([sys.executable, os.path.join(ROOT, "testdata", "run-capture"), option,
                           *added, kernel, program.path, folder, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=GUEST_SECONDS, text=True)
    check(done.returncode == 0, f"run-capture: {done.stdout}")
    count = sum(1 for word in arguments if word in ("--", "--sh", "--run"))
    return [capture_result(os.path.join(folder, "capture", str(number)))
            for number in range(1, count + 1)]


def live_guest(program, kernel, folder):
    arguments = []
    for words in QUESTIONS.values():
        arguments += ["--", *words]
    for script in SCRIPTS.values():
        arguments += ["--sh", script]
    return dict(zip([*QUESTIONS, *SCRIPTS], run_guest(program, kernel, folder, arguments)))


def uptimes(boot, number):
    """Seconds since boot before and after run `number`."""
    return [float(boot.read("capture", f"{number}.{when}").split()[0])
            for when in ("before", "after")]


def compare_sys(boot, sys_answer, text, notes):
    check_equal(sys_answer["release"], boot.release, "release")
    check_equal(sys_answer["live"], True, "live")
    check_equal(sys_answer["cpus"], boot.cpu_count, "CPUs")
    before, after = uptimes(boot, 1)
    check(int(before) - 1 <= sys_answer["uptime"] <= after + 1,
          f"uptime {sys_answer['uptime']}, not {before} to {after}")
    check("panic" not in sys_answer and not sys_answer["problems"], f"{sys_answer}")
    check("LIVE: the running kernel" in text and "DUMP:" not in text, f"text: {text[:400]}")
    check_equal(sys_answer["sources"], BY_LIBBPF, "sources")
    check("SOURCES: types from /sys/kernel/btf, BPF programs from bpf(2), all else from memory\n"
          in text, f"text: {text[:600]}")
    notes.append(f"up {sys_answer['uptime']} s")


def compare_symbols(boot, rows, notes):
    ours = [(int(row["address"], 16), row["kind"], row["name"], row["module"] or "")
            for row in rows]
    check_lines(sorted(ours), sorted(boot.symbols), "symbol")
    notes.append(f"{len(ours)} symbols")


def compare_tasks(boot, rows, notes):
    ours = {row["pid"]: row for row in rows}
    states = [line.split() for line in boot.truth("states").splitlines()]
    for words in states:
        tid, row = int(words[0]), ours.get(int(words[0]))
        check(row, f"{words[1]} is missing")
        check_equal(row["ppid"], boot.tasks[tid].parent, f"ppid of {tid}")
        check_equal(row["comm"].encode()[:6], boot.tasks[tid].comm[:6], f"comm of {tid}")
        if words[2] != "R":
            check_equal(row["state"], boot.tasks[tid].state, f"state of {tid}")
    transient = re.compile(rb"kworker/|ext4lazyinit")
    missing = [task.comm for tid, task in boot.tasks.items()
               if tid not in ours and not transient.match(task.comm)]
    check(not missing, f"missing: {missing}")
    running = [row["comm"] for row in rows if row["running"]]
    # Those that never sleep take turns on the last CPU while it looks.
    check("btfcrash" in running and abs(len(running) - boot.cpu_count) <= 2, f"running: {running}")
    notes.append(f"{len(ours)} tasks, the states of {len(states)}, running: {running}")


def compare_log(boot, text, notes):
    lines = text[text.index("[    0.0"):text.index("\nPID: ")].splitlines()
    console = boot.console[:len(lines)]
    check(len(lines) > 200, f"{len(lines)} lines")
    check_lines(lines, console, "line")
    notes.append(f"{len(lines)} lines")


def compare_values(boot, recorded, notes):
    def value(expression):
        return recorded.result(None, "print " + expression)["value"]
    check_equal(value("init_task.comm"), "swapper/0", "init_task.comm")
    check_equal(value("init_uts_ns.name.nodename"), "btfcrash-guest", "nodename")
    check(boot.truth("version").strip() in str(value("linux_banner")), "linux_banner")
    check_equal(value("*(char (*)[40])saved_command_line"), boot.truth("cmdline")[:40],
                "saved_command_line")
    total = int(re.search(r"MemTotal: +(\d+)", boot.truth("meminfo"))[1])
    pages = value("_totalram_pages")
    check_equal((pages["counter"] if isinstance(pages, dict) else pages) * 4, total, "MemTotal")
    notes.append(f"MemTotal {total} kB")


def compare_stacks(boot, answers, notes):
    hidden = hidden_ranges(boot)
    states = {int(line.split()[0]): line.split()[1:3] for line in
              boot.truth("states").splitlines()}
    compared, moving, waiting = 0, [], []
    for tid, (comm, letter) in states.items():
        answer = answers[f"bt {tid}"]
        if letter == "Z":
            continue
        check(answer["ok"], f"bt {tid}: {answer.get('error')}")
        if letter == "R":
            # One of those that never sleep runs; the others wait for its CPU as they left it.
            frames = answer["result"]["frames"]
            runs = answer["result"].get("moving")
            check(not frames if runs else frames and frames[0]["symbol"] == "__schedule", f"bt of {comm}: {runs}, {frames[:2]}")
            (moving if runs else waiting).append(comm)
            continue
        compare_sleeping(boot, boot.tasks[tid], answer["result"], hidden)
        compared += 1
    check(compared > 40 and "spinner" in moving + waiting, f"{compared} stacks, moving: {moving}, waiting: {waiting}")
    notes.append(f"{compared} stacks; moving: {' '.join(moving)}; waiting: {' '.join(waiting)}")


def compare_types(results, notes):
    """BTF of the kernel and of modules is that of /sys/kernel/btf, wherever it is from."""
    counts = []
    for name, sources, differing in (("types", BY_LIBBPF, 0), ("laid over", BY_LIBBPF, 1),
                                     ("no sysfs", NO_SYSFS, 0), ("no libbpf", NO_LIBBPF, 0)):
        first, *lines = results[name].lines
        check_equal(parse_json(first.encode())["result"]["sources"], sources, f"sources, {name}")
        differ = [line for line in lines if line != "same"]
        check_equal(len(differ), differing, f"{name}: {differ} {results[name].errors[:300]}")
        counts.append(len(lines) - len(differ))
    check(counts[0] > 20 and counts[1:] == [2, 3, 3], f"BTFs: {counts}")
    notes.append(f"{counts[0]} BTFs")


def check_churn(result, notes):
    check("status" not in result.text, f"failed: {result.errors[:300]}")
    check_equal(result.text.count("[kthreadd]"), 4, "lists of tasks")
    check("is broken" not in result.errors and "does not link back" not in result.errors,
          result.errors[:300])
    notes.append(f"{len(result.lines)} lines")


def on_kernel(session, kernel, folder):
    results = live_guest(session.program, kernel, folder)
    boot = LiveBoot.of_folder(kernel, folder, kernel)
    recorded = Recorded(answers_of(results["answers"]))
    text = results["text"].text

    def compare(name, function, *arguments):
        with session.case(f"{kernel}: {name}") as notes:
            function(*arguments, notes)
    compare("sys says live, and for how long", lambda notes: compare_sys(
        boot, recorded.result(None, "sys"), text, notes))
    compare("mod is as /proc/modules", modules.list_modules, recorded, boot)
    compare("sym -l is as /proc/kallsyms", lambda notes: compare_symbols(
        boot, recorded.result(None, "sym -l"), notes))
    compare("ps is as /proc/PID", lambda notes: compare_tasks(
        boot, recorded.result(None, "ps"), notes))
    compare("log is the console", compare_log, boot, text)
    compare("values are as /proc has them", compare_values, boot, recorded)
    compare("bt of sleeping tasks is as /proc/PID/stack, of one that runs nothing",
            compare_stacks, boot, answers_of(results["stacks"]))
    with session.case(f"{kernel}: bt of the program itself shows no stack as fact"):
        trace = recorded.result(None, "bt")
        check_equal((trace["task"]["comm"], trace.get("moving"), trace["frames"]),
                    ("btfcrash", True, []), "bt")
    with session.case(f"{kernel}: whattype of a variable and of a task"):
        check("init_task" in str(recorded.result(None, "whattype init_task")), "init_task")
        task, comm = results["task"].objects()
        check("struct task_struct" in str(task["result"]), f"{task}")
        check_equal(comm["result"]["value"], "nanosleep", "comm")
    with session.case(f"{kernel}: what is not mapped is no zeros"):
        for command, answer in answers_of(results["holes"]).items():
            check("not mapped" in str(answer) or "not canonical" in str(answer),
                  f"{command}: {answer}")
    with session.case(f"{kernel}: /proc/kcore as the DUMP is live too"):
        check_equal(answers_of(results["operand"])["sys"]["result"]["live"], True, "live")
    with session.case(f"{kernel}: no types are kept for later"):
        check("modprobe_path" in results["cache"].text, "no answers")
        check("/tmp/types" not in results["cache"].text, results["cache"].text[-200:])
    with session.case(f"{kernel}: --live with a DUMP, no DUMP and no --live"):
        check_equal(results["refused"].lines, ["2", "2"], "exit status")
        check("takes no DUMP" in results["refused"].errors
              and "--live looks at" in results["refused"].errors, results["refused"].errors)
    compare("BTF is as /sys/kernel/btf has it, by libbpf and by memory", compare_types, results)
    compare("tasks that come and go", check_churn, results["churn"])


class WithEnums(Recorded):
    """Enumerators come out of a dump of the same kernel."""

    def __init__(self, answers, program, dump):
        super().__init__(answers)
        self.program, self.dump = program, dump

    def text(self, _dump, command):
        return self.program.text(self.dump, command)


def links_bpf(folder):
    """Whether the loader of the BPF programs can be linked: Debian 13's libelf.a lacks parts of itself."""
    done = subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", folder + ".linked",
                           "-lbpf", "-lelf", "-lz"], stderr=subprocess.DEVNULL,
                          input=b"#include <bpf/libbpf.h>\n"
                                b"int main(void) { return !bpf_object__open_file(\"x\", 0); }\n")
    return done.returncode == 0


def on_bpf(session, kernel, folder):
    """Programs and maps as bpf_obj_get_info_by_fd() describes them."""
    if not links_bpf(folder):
        session.skip(f"{kernel}: BPF programs", "their loader cannot be linked with -static here")
        return
    result, again, bpftool, memory = run_guest(
        session.program, kernel, folder,
        ["--", "-q", "--json", "--live", "-c", "sys", "-c", "bpf",
         "--sh", f"exec {PROGRAM} -q --live -c 'bpf 1' -c 'bt -a'",
         "--run", tool("bpftool"), "--json", "prog",
         "--sh", f"rm LIBBPF; exec {PROGRAM} -q --json --live -c sys -c bpf"], "--live-bpf")
    boot = LiveBoot.of_folder(kernel, folder, kernel)
    recorded = WithEnums(answers_of(result), session.program, Boot(kernel, "bpf").dump)
    with session.case(f"{kernel}: bpf is as the kernel describes its programs and maps") as notes:
        bpf.compare_lists(recorded, boot, notes)
        check_equal(again.errors.count("\n"), 0 if again.status == 0 else 1, "messages")
    with session.case(f"{kernel}: bpf by bpf(2) is bpftool's, and memory's without libbpf") as notes:
        compare_sources(recorded, WithEnums(answers_of(memory), session.program, recorded.dump),
                        parse_json(bpftool.out), notes)


def compare_sources(recorded, memory, listed, notes):
    """What bpf(2) says is what is in memory, and what bpftool says of what both have."""
    for source, wanted in ((recorded, BY_LIBBPF), (memory, NO_LIBBPF)):
        check_equal(source.result(None, "sys")["sources"], wanted, "sources")
    check_equal(recorded.result(None, "bpf"), memory.result(None, "bpf"), "bpf and memory")
    theirs = {row["id"]: row for row in listed}
    rows = recorded.result(None, "bpf")["programs"]
    for row in rows:
        other = theirs[row["id"]]
        check_equal([row["type"], row["name"], row["tag"], row["uid"], row["instructions"],
                     row["jited"], row["maps"]],
                    [other["type"], other.get("name", ""), other["tag"], other["uid"],
                     other["bytes_xlated"], other["bytes_jited"],
                     ",".join(map(str, other.get("map_ids", [])))], f"program {row['id']}")
    check(any(row["maps"] for row in rows), "no program uses a map")
    notes.append(f"{len(rows)} programs")


def run(session):
    """On one kernel unless some were asked for: a guest of its own takes minutes, and what differs between kernels the groups on dumps look at."""
    for kernel in kernel_names() if os.environ.get("BTFCRASH_TEST_KERNELS") else kernel_names()[-1:]:
        for number, test in enumerate((on_kernel, on_bpf)):
            folder = os.path.join(session.program.scratch, f"live-{kernel}-{number}")
            try:
                test(session, kernel, folder)
            except Exception as error:
                with session.case(f"{kernel}: the guest"):
                    raise error
