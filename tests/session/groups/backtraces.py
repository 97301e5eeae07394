# SPDX-License-Identifier: GPL-3.0-or-later
"""`bt` against the guest's own traces."""

from lib import BOOT_NAMES, Failure, Session, boots, check, check_equal, task_facts
from traces import compare_panic, compare_sleeping, hidden_ranges

FACTS = ("nvcsw", "nivcsw")


def dump_tasks(program, dump):
    """{tid: row of ps} without the idle tasks."""
    return {row["pid"]: row for row in program.result(dump, "ps") if row["pid"]}


def running_now(program, boot):
    """The tids on the CPUs at the moment of the dump."""
    return set(program.value(boot.dump, f"runqueues:{cpu}.curr->pid")
               for cpu in range(boot.cpu_count))


def sort_tasks(program, boot):
    """([tids to compare], {reason: [tids left out]}).

    The truth is from some milliseconds before the crash.  A task whose counts
    of context switches are still the same has been asleep all the time, so its
    stack must be the same; of the others it may be another one by now.
    """
    now = dump_tasks(program, boot.dump)
    running = running_now(program, boot)
    known = sorted(set(now) & set(boot.tasks))
    facts = dict(zip(known, task_facts(program, boot.dump,
                                       [now[tid]["address"] for tid in known], FACTS)))
    chosen, left_out = [], {}
    for tid in known:
        task = boot.tasks[tid]
        if task.state not in "SDITt":
            reason = {"Z": "zombie, without a stack"}.get(task.state, "was running")
        elif not task.stack:
            reason = "empty stack file"
        elif tuple(facts[tid][name] for name in FACTS) != task.switches:
            reason = "ran between truth and crash"
        elif tid in running:
            reason = "woken, running at the crash"
        else:
            chosen.append(tid)
            continue
        left_out.setdefault(reason, []).append(tid)
    for reason, tids in (("gone at the crash", set(boot.tasks) - set(now)),
                         ("new at the crash", set(now) - set(boot.tasks))):
        if tids:
            left_out[reason] = sorted(tids)
    return chosen, left_out


def compare_all(program, boot, notes):
    """Every comparable sleeping task; says which others there are, and why."""
    chosen, left_out = sort_tasks(program, boot)
    check(len(chosen) >= 60, f"only {len(chosen)} tasks can be compared: {left_out}")
    hidden = hidden_ranges(boot)
    answers = program.answers(boot.dump, [f"bt {tid}" for tid in chosen])
    wrong = []
    for tid, answer in zip(chosen, answers):
        try:
            check(answer["ok"], f"{tid}: {answer.get('error')}")
            check_equal(answer["result"]["task"]["pid"], tid, "pid of the trace")
            compare_sleeping(boot, boot.tasks[tid], answer["result"], hidden)
        except Failure as failure:
            wrong.append(str(failure))
    if wrong:
        raise Failure(f"{len(wrong)} of {len(chosen)} tasks differ: " + "; ".join(wrong))
    notes.append(f"{len(chosen)} tasks")
    for reason, tids in sorted(left_out.items()):
        names = " ".join(str(tid) for tid in tids[:8])
        notes.append(f"not {len(tids)}: {reason} ({names}{' ...' if len(tids) > 8 else ''})")


def check_others(program, boot, notes):
    """Whatever cannot be compared still has to give an answer, and to end."""
    now = dump_tasks(program, boot.dump)
    frames = 0
    for answer in program.answers(boot.dump, [f"bt {tid}" for tid in sorted(now)]):
        check("result" in answer or "no stack" in answer.get("error", ""),
              f"{answer['command']}: {answer.get('error')}")
        frames += len((answer.get("result") or {}).get("frames", []))
    check(frames > len(now), "hardly any frames")
    notes.append(f"{frames} frames of {len(now)} tasks")


def check_cpus(program, boot):
    """bt -a and bt -c agree, and every CPU has a trace that begins in the kernel."""
    everywhere = program.result(boot.dump, "bt -a")
    check_equal(len(everywhere), boot.cpu_count, "traces of bt -a")
    for cpu, trace in enumerate(everywhere):
        check_equal(trace["task"]["cpu"], cpu, "cpu of the trace")
        check_equal(program.result(boot.dump, f"bt -c {cpu}"), trace, f"bt -c {cpu}")
        check(len(trace["frames"]) >= 3, f"CPU {cpu}: {len(trace['frames'])} frames")
        for frame in trace["frames"]:
            check(frame["kind"] not in ("scan", "fp"), f"CPU {cpu}: guessed frame {frame}")


def check_forms(program, boot):
    """By pid and by address of the task_struct: the same."""
    panicked = program.result(boot.dump, "bt")
    if panicked["task"]["pid"]:
        by_pid = program.result(boot.dump, f"bt {panicked['task']['pid']}")
        check_equal(by_pid, panicked, "bt PID")
    by_address = program.result(boot.dump, f"bt {panicked['task']['address']}")
    check_equal(by_address, panicked, "bt ADDRESS")
    result = program.run(["-q", "-c", "bt 4000000", boot.dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message")


def run(session: Session):
    program = session.program
    for boot in boots((*BOOT_NAMES, "bpf")):
        with session.case(f"{boot.label}: bt of the panic is the console's trace") as notes:
            compare_panic(boot, program.result(boot.dump, "bt"), notes)
        with session.case(f"{boot.label}: bt PID is /proc/PID/stack") as notes:
            compare_all(program, boot, notes)
        with session.case(f"{boot.label}: bt of every task") as notes:
            check_others(program, boot, notes)
        with session.case(f"{boot.label}: bt -a and bt -c"):
            check_cpus(program, boot)
        with session.case(f"{boot.label}: bt by pid and by address"):
            check_forms(program, boot)
