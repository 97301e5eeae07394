# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard lockups: CPUs that hang with interrupts off and answer nobody."""

import bisect
import re

import blind
from lib import check, check_equal, check_lines
from traces import compare_panic

# The machine as it hangs, and after another CPU's panic.
DUMPS = ("vmcore.hung", "vmcore.elf")
WAITING = ["lockup_wait", "lockup_inner", "lockup_outer"]
# What guest/lockup/lockup.c does on each CPU: in a kernel thread, in an interrupt of another.
STUCK = {1: ("lockup-busy", [*WAITING, "lockup_count", "lockup_busy"]),
         2: ("lockup-thread", [*WAITING, "lockup_thread"])}
USER_CPU = 3  # where the state called "spinner" runs
# Of the kernel that died through kexec: in an NMI, where the crashing CPU's did not reach it.
DEAF_CPU, DEAF_COMM = 1, "lockup-busy"
DEAF_NAMES = [*WAITING, "lockup_nmi", "lockup_count", "lockup_busy"]
NMI_ENTRY = ("end_repeat_nmi", "asm_exc_nmi")
# The NMI may come in the middle of an interrupt, most often the timer's.  While this function runs,
# the kernel has a pointer to the registers of what that interrupted (set_irq_regs()).
HANDLER = "hrtimer_interrupt"
# The last instructions of an interrupt are in none of its own functions.
RETURNS = ("common_interrupt_return", "restore_regs_and_return_to_kernel", "native_iret",
           "native_irq_return_iret")


def own_names(trace):
    """The functions of the module, without what the compiler added to their names."""
    return [frame["symbol"].split(".")[0] for frame in trace["frames"]
            if frame.get("module") == "lockup"]


def check_truth(program, dump):
    """By their registers, the CPUs hang where the module left them.  Returns their traces."""
    traces = program.result(dump, "bt -a")
    check_equal(len(traces), USER_CPU + 1, "CPUs of bt -a")
    for cpu, (comm, names) in STUCK.items():
        check_equal((traces[cpu]["start"], traces[cpu]["task"]["comm"]), ("registers", comm),
                    f"CPU {cpu}")
        check_equal(own_names(traces[cpu]), names, f"CPU {cpu}: functions of the module")
    return traces


def compare_stuck(found, true):
    """All calls are found.  Nothing proves that none of them has returned, and `bt` says so."""
    check_equal(blind.compare_trace(found, true), 0, "sure frames")
    check("proof" not in found, f"proof: {found.get('proof')}")
    check_equal(found["may_be_user"], False, "may be in user mode")
    check_equal(blind.places(found["frames"]), blind.places(true["frames"])[1:], "calls")


def check_user_cpu(program, path, name, before, after):
    """The CPU of the spinner, a program that never sleeps: as the machine hangs it is in user mode,
    save when it happens to be in an interrupt or at another task.  The panic stopped it."""
    if name == "vmcore.hung" and before["frames"][0]["kind"] == "user":
        check_user(program, path, after)
        return "user mode, or unknown"
    sure = blind.compare_trace(after, before)
    check(sure > 1 or name == "vmcore.hung", f"CPU {USER_CPU}: nothing is sure")
    return f"{sure} sure calls"


def check_user(program, path, trace):
    """In user mode nothing on the stack is of now: old calls, which are no stack."""
    check_equal((trace["may_be_user"], "proof" in trace), (True, False), "may be in user mode")
    check_equal([frame for frame in trace["frames"] if blind.is_sure(frame)], [], "sure frames")
    text = program.text(path, f"bt -c {USER_CPU}")
    check("it was running in user mode, or its stack is unknown" in text, text)


def check_one(program, dump, cpu, before):
    """Only the CPU that never answered is without registers, as a kexec leaves it."""
    with blind.wiped_copy(program, dump, lambda data: blind.wipe_notes(data, cpu) == 2) as path:
        after = program.result(path, "bt -a")
        text = program.text(path, f"bt -c {cpu}")
    compare_stuck(after.pop(cpu), before[cpu])
    check_equal(after, before[:cpu] + before[cpu + 1:], f"traces but CPU {cpu}'s")
    check("calls among it may have returned" in text, text)


def check_boot(program, boot, name, notes):
    """The same dump without registers, of each stuck CPU and of all."""
    dump = boot.path(name)
    before = check_truth(program, dump)
    for cpu in STUCK:
        check_one(program, dump, cpu, before)
    with blind.wiped_copy(program, dump, blind.wipe_notes) as path:
        after = program.result(path, "bt -a")
        for cpu in STUCK:
            compare_stuck(after[cpu], before[cpu])
            notes.append(f"CPU {cpu}: {len(after[cpu]['frames'])} calls, marked")
        blind.compare_trace(after[0], before[0])
        notes.append(f"CPU {USER_CPU}: " + check_user_cpu(program, path, name, before[USER_CPU],
                                                          after[USER_CPU]))


# A CPU that takes no NMI, of a kernel that died through kexec


def check_places(boot, frames):
    """Each is in the function that the guest's kallsyms has there."""
    starts = sorted((address, name) for address, letter, name, _ in boot.symbols
                    if letter in "tTwW")
    at = {}
    for address, name in starts:
        at.setdefault(address, set()).add(name)
    order = sorted(at)
    for frame in frames:
        # A call that does not return may be the last of its function; what was interrupted may be at its first instruction.
        pc = int(frame["pc"], 16)
        names = {name for where in (pc - 1, pc) for name in at[order[bisect.bisect_right(order, where) - 1]]}
        check(frame["symbol"] in names, f"{frame['symbol']} at {frame['pc']}: {names}")


def check_sure(trace, names, between):
    """None is a fact, unless the NMI came in the middle of an interrupt: what a handler interrupted
    is one then, by the kernel's own pointer.  It is set a little after the interrupt's beginning and
    reset before its end, so that only below HANDLER it must be; a handler in the middle of another
    interrupt's softirqs makes a fact of these, too."""
    frames = trace["frames"]
    sure = [blind.is_sure(frame) for frame in frames]
    check_equal(sure, sorted(sure), "sure frames")
    check(between or not any(sure), f"sure without an interrupt: {sure}")
    check_equal(trace.get("proof"), "irq_regs" if any(sure) else None, "proof")
    first, in_softirq = names.index("lockup_count"), any("softirq" in name for name in between)
    if not in_softirq and (any(sure) or HANDLER in between):
        check_equal(sure.count(False), first, "frames above what was interrupted")
    blind.check_unproved([frame for frame in frames if not blind.is_sure(frame)])


def check_between(between, stacks):
    """What the NMI interrupted: the module's function, or an interrupt anywhere in its work, which
    begins and ends on the stack of what that interrupts."""
    check(not between or between[-1].startswith("asm_") or between[-1] in RETURNS,
          f"calls between: {between}")
    check(stacks == ["NMI"] or (between and stacks == ["NMI", "IRQ"]), f"stacks: {stacks}, {between}")


def check_deaf_trace(boot, trace):
    """All calls are there, and no argument; why is said."""
    check_equal((trace["task"]["comm"], trace["start"], trace.get("cpu_silent"),
                 trace["may_be_user"]), (DEAF_COMM, "search", True, False), f"CPU {DEAF_CPU}")
    frames = trace["frames"]
    names = [frame["symbol"].split(".")[0] for frame in frames]
    check("lockup_count" in names, f"CPU {DEAF_CPU}: {names}")
    interrupted = names.index("lockup_count")
    check_equal(own_names(trace), DEAF_NAMES[1:], "functions of the module")
    entry = [name for name in names if name in NMI_ENTRY]
    calls = [*WAITING[1:], "lockup_nmi", "nmi_handle", "default_do_nmi", "exc_nmi", *entry[:1]]
    check_equal(names[:len(calls)], calls, "calls of the NMI")
    between = names[len(calls):interrupted]
    check_between(between, [frame["stack"] for frame in frames if "stack" in frame])
    check_sure(trace, names, between)
    check_equal(names[interrupted:][:4], ["lockup_count", "lockup_busy", "kthread",
                                          "ret_from_fork"], "calls that were interrupted")
    check_places(boot, frames)


def check_deaf_words(program, dump, trace):
    """What the commands say of the CPU that did not answer, and of no other."""
    text = program.text(dump, f"bt -c {DEAF_CPU}")
    check("its CPU did not answer when the kernel died" in text
          and ("calls among it may have returned" in text or "proof" in trace), text)
    # Also the registers that the NMI saved, and those of an interrupt that the NMI came upon.
    unsure = [frame for frame in trace["frames"] if not blind.is_sure(frame)]
    saved = re.findall(r"^ +\(search\?\)$", text, re.M)
    interrupts = sum((frame.get("symbol") or "").startswith("asm_") for frame in unsure)
    check_equal((text.count("(search?)"), len(saved)), (len(unsure) + len(saved), 1 + interrupts), "marks")
    check_equal(program.text(dump, "bt -a").count("did not answer"), 1, "silent CPUs of bt -a")
    check_equal(program.result(dump, "sys")["cpus_silent"], [DEAF_CPU], "sys: silent CPUs")
    text = program.text(dump, "sys")
    check(f"(no answer from CPU {DEAF_CPU} when the kernel died)" in text, text)
    running = [line.split() for line in program.text(dump, "ps").splitlines()
               if line[:1] in (">", "!")]
    check_lines(sorted((words[0], words[-1]) for words in running if words[0] == "!"),
                [("!", f"[{DEAF_COMM}]")], "ps: marked row")
    check_equal(len(running), 3, "ps: running tasks")


def check_deaf(program, boot, notes):
    """The CPU that locked up with interrupts off answers the NMI: its registers are true."""
    dump = blind.dump_of(boot)
    with open(dump, "rb") as file:
        head = file.read(1 << 16)
    count = sum(name == b"CORE" for _, name in blind.notes_of(head))
    check_equal((count, boot.cpu_count), (2, 3), "notes and CPUs")
    compare_panic(boot, program.result(dump, "bt"), notes)
    traces = program.result(dump, "bt -a")
    check_equal([trace.get("registers_from") for trace in traces],
                ["crash_notes", None, "crash_notes"], "registers from")
    comm, names = STUCK[2]
    check_equal((traces[2]["task"]["comm"], own_names(traces[2])), (comm, names), "CPU 2")
    check_deaf_trace(boot, traces[DEAF_CPU])
    check_deaf_words(program, dump, traces[DEAF_CPU])
    notes.append(f"CPU {DEAF_CPU}: {len(traces[DEAF_CPU]['frames'])} calls, marked")
