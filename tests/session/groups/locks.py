# SPDX-License-Identifier: GPL-3.0-or-later
"""`locks` against what the guest knew: /proc of every task, /proc/locks, and the module `stuck`,
which writes down who waits for what."""

import os
import re

from lib import boots, boots_of_most, check, check_equal

# What the guest's tasks wait for, by their names.
KINDS = {
    "vfork-parent": ("completion", None), "frozen-one": ("percpu_rwsem", "read"),
    "frozen-two": ("percpu_rwsem", "read"), "frozen-mkdir": ("percpu_rwsem", "read"),
    "pipe-read": ("pipe", "read"), "pipe-write": ("pipe", "write"), "epoll": ("epoll", None),
    "eventfd": ("wait queue", None), "inotify": ("wait queue", None),
    "signalfd": ("wait queue", None), "timerfd": ("wait queue", None),
    "accept": ("socket", None), "tcp-recv": ("socket", "read"),
    "udp-recv": ("socket", "read"), "unix-recv": ("socket", "read"),
    "waitpid": ("child", None), "flock-waiter": ("file lock", "write"),
    "posix-waiter": ("file lock", "write"), "futex": ("futex", "shared"),
    "msgrcv": ("message queue", "read"), "poll": ("poll", None), "select": ("poll", None),
}
# Of these, a file descriptor is the first argument of the system call.
BY_FILE = ("pipe-read", "pipe-write", "epoll")

# How truth/stuck has it, and how locks does.
STUCK_KINDS = {
    "mutex": ("mutex", None), "rwsem-read": ("rwsem", "read"), "rwsem-write": ("rwsem", "write"),
    "rt-mutex": ("rt_mutex", None), "semaphore": ("semaphore", None), "page": ("folio", None),
    "percpu-rwsem-read": ("percpu_rwsem", "read"), "percpu-rwsem-write": ("percpu_rwsem", "write"),
    "buffer": ("buffer", None), "srcu": ("SRCU grace period", None), "completion": ("completion", None),
    "wait-queue": ("wait queue", None), "bit": ("bit", None), "variable": ("variable", None),
    "kthread-stop": ("completion", None), "work": ("flush work", None),
    "workqueue": ("flush workqueue", None), "attribute": ("kernfs file", None), "netdev": ("network device", None),
    "program": ("program", None),
    "sleep": ("sleep", None), "bio": ("bio", None),
    "read": ("folio", None), "spinlock": ("spinlock", None),
    "rwlock-read": ("rwlock", "read"), "rwlock-write": ("rwlock", "write"),
}
# Of the others, the kernel does not note who has it.
OWNED = ("mutex", "rwsem-read", "rwsem-write", "rt-mutex", "kthread-stop", "work", "workqueue", "attribute",
         "spinlock", "rwlock-read", "rwlock-write")
DEADLOCKS = [{"abba-one", "abba-two"}, {"three-a", "three-b", "three-c"}]
READER_DEADLOCK = {"rw-reader", "rw-writer"}
# Writers who wait for readers alone: with PREEMPT_RT the kernel counts readers, and notes none.
DRAINS = ("rw-writer", "rwlock-drains")


def rows_of(program, boot):
    """By pid; each task waits for one thing at most."""
    rows = program.result(boot.dump, "locks")
    by_pid = {row["pid"]: row for row in rows}
    check_equal(len(by_pid), len(rows), "different tasks in locks")
    return by_pid


def named(boot, rows):
    """{name in truth/states: row}."""
    table = {}
    for line in boot.truth("states").splitlines():
        pid, name = line.split()[:2]
        if int(pid) in rows:
            table[name] = rows[int(pid)]
    return table


def argument(boot, pid):
    """The first argument of the system call that a task is in."""
    return int(boot.tasks[pid].read("syscall").split()[1], 16)


def compare_states(program, boot, notes):
    rows = rows_of(program, boot)
    states = named(boot, rows)
    for name, (kind, mode) in KINDS.items():
        check(name in states, f"{name} waits for nothing")
        row = states[name]
        check_equal((row["kind"], row["mode"]), (kind, mode), f"kind and mode of {name}")
        check_equal(row["sure"], "certain", f"confidence of {name}")
        check(row["object"], f"{name}: no object")
    # Both ends are open in one process.
    check_equal(states["pipe-read"]["owner"], None, "owner of pipe-read's pipe")
    for name in BY_FILE:
        pid = states[name]["pid"]
        path = f"((struct task_struct *){states[name]['task']})->files->fdt->fd[{argument(boot, pid)}]"
        check_equal(states[name]["object"], program.value(boot.dump, f"{path}->private_data"),
                    f"object of {name}")
    compare_queues(program, boot, states)
    child, = [task for task in boot.tasks.values()
              if task.parent == states["vfork-parent"]["pid"]]
    check_equal(states["vfork-parent"]["owner_pid"], child.tid, "who holds vfork-parent up")
    # Others, the kernel's own threads, may have gone on between the truth and the crash.
    for name, row in states.items():
        check(boot.tasks[row["pid"]].state != "R", f"{name} runs: {row}")
    for row in rows.values():
        check(row["owner"] is None or row["owner_pid"] is not None, f"{row}: an owner without pid")
    known = {int(line.split()[0]) for line in boot.truth("states").splitlines()}
    stuck = {tid for tid, task in boot.tasks.items() if task.state == "D" and tid in known}
    check(stuck and stuck <= set(rows), f"not in locks: {stuck - set(rows)}")
    notes.append(f"{len(rows)} waits")


def compare_queues(program, boot, states):
    """The message queue is the one of truth/sysvipc; what is polled is a pipe's queue."""
    queue = program.value(boot.dump, f"((struct msg_queue *){states['msgrcv']['object']})->q_perm.key")
    check_equal(int(queue), 0xb7f1, "key of the message queue")
    for name in ("poll", "select"):
        pipe = program.value(boot.dump, f"((struct file *){states[name]['within']})->private_data")
        rest = int(states[name]["object"], 16) - int(pipe, 16)
        check(0 < rest < 128, f"{name}: queue {rest} bytes behind the pipe")


def compare_frozen(program, boot):
    """The three writers wait for one filesystem, whose mount says which."""
    rows = [row for row in rows_of(program, boot).values() if row["comm"].startswith("frozen-")]
    check_equal(len(rows), 3, "frozen writers")
    blocks = {row["within"] for row in rows}
    check_equal({row["within_type"] for row in rows}, {"struct super_block"}, "types")
    block, = blocks
    name = program.value(boot.dump, f"((struct super_block *){block})->s_id")
    source = [line.split()[0] for line in boot.truth("mounts").splitlines() if "ext4" in line]
    check(f"/dev/{name}" in source, f"{name} is not among {source}")
    for row in rows:
        check("frozen" in row["owner_how"] and row["owner"] is None, f"{row['owner_how']}")
        check(name in row["name"], f"{row['name']} does not say {name}")


def compare_file_locks(program, boot):
    """/proc/locks: a lock, and below it, with an arrow, who waits for it."""
    rows, holders, compared = rows_of(program, boot), {}, 0
    for line in boot.truth("locks").splitlines():
        number, arrow, pid = re.match(r"(\d+): (-> )?\S+ +\S+ +\S+ +(\d+)", line).groups()
        if not arrow:
            holders[number] = int(pid)
            continue
        row = rows.get(int(pid))
        check(row, f"{pid} waits for no file lock")
        check_equal((row["kind"], row["owner_pid"]), ("file lock", holders[number]),
                    f"what {pid} waits for")
        compared += 1
    check(compared >= 2, f"truth: {compared} waiters")


def compare_futexes(program, boot, notes):
    """The address that the system call was given, of every thread that the guest saw in one."""
    rows, wrong, seen = rows_of(program, boot), [], 0
    for tid, task in boot.tasks.items():
        if not task.read("wchan").startswith((b"futex_", b"__futex_")) or task.state != "S":
            continue
        seen += 1
        row = rows.get(tid)
        if not row or row["kind"] != "futex" or int(row["object"], 16) != argument(boot, tid):
            wrong.append(f"{tid}: {row}")
    check(seen > 3 and not wrong, f"{len(wrong)} of {seen}: {wrong[:3]}")
    notes.append(f"{seen} futexes")


def compare_crowd(program, boot, notes):
    compare_futexes(program, boot, notes)
    # Others of them sleep for a time, or wait for a signal: for no object.
    rows = rows_of(program, boot)
    pipes = [tid for tid, task in boot.tasks.items()
             if task.read("wchan").strip(b"\0\n") in (b"pipe_read", b"anon_pipe_read")
             and task.comm.startswith(b"crowd-")]
    check(len(pipes) > 100, f"truth: {len(pipes)} readers of a pipe")
    wrong = [tid for tid in pipes if rows.get(tid, {}).get("kind") != "pipe"]
    check(not wrong, f"not in a pipe: {wrong[:5]}")
    result = program.run(["-q", "-c", "locks", boot.dump], status=0)
    check(result.processor < 1 or program.is_sanitized, f"{result.processor:.2f} s")
    notes.append(f"{len(pipes)} pipes, {result.processor:.2f} s of processor")


def truth_of_stuck(boot):
    """(pid, comm, kind, address, owner) of each line; 0: none."""
    for line in boot.truth("stuck").splitlines():
        pid, comm, kind, address, owner = line.split()
        yield int(pid), comm, kind, int(address, 16), int(owner)


def is_rt(boot):
    return "PREEMPT_RT" in boot.truth("version")


def compare_stuck(program, boot, notes):
    rows, owned = rows_of(program, boot), 0
    for pid, comm, kind, address, owner in truth_of_stuck(boot):
        check(kind in STUCK_KINDS, f"truth: {kind}")
        row = rows.get(pid)
        check(row, f"{comm} waits for nothing")
        check_equal((row["kind"], row["mode"]), STUCK_KINDS[kind], f"kind and mode of {comm}")
        if kind == "sleep":
            check(not row["object"] and not row["owner"], f"{comm} has {row}")
            continue
        # Of a thread that is to stop, the guest knew the task, which the completion is part of; of a
        # read, the file whose page it waits for; of a program nothing.
        if kind not in ("kthread-stop", "read", "program"):
            check_equal(int(row["object"], 16), address, f"object of {comm}")
        # The kernel may merge the cache of buffers with others of their size.
        check(row["sure"] == "certain" or (kind, row["sure"]) == ("buffer", "inferred"), f"confidence of {comm}: {row['sure']}")
        if comm in DRAINS and is_rt(boot):
            check_equal(row["owner_pid"], None, f"who has what {comm} waits for")
            continue
        if comm == "rw-late" and is_rt(boot):
            # Truth has the reader; nearer is the writer in front of it, which waits for that one.
            check_equal(row["owner_comm"], "rw-writer", "who has what rw-late waits for")
            continue
        if kind in OWNED and owner:
            check_equal(row["owner_pid"], owner, f"who has what {comm} waits for")
            owned += 1
        # Whichever worker started the program.
        check(kind == "program" or row["owner_pid"] in (None, owner), f"{comm}: {row['owner_pid']} has it, not {owner}")
    check(owned > 15, f"truth: {owned} owners")
    notes.append(f"{len(rows)} waits, {owned} owners")


def compare_deadlocks(program, boot, notes):
    """Every circle of the truth is found, and no other."""
    graph = program.result(boot.dump, "locks --graph")
    owners = {comm: owner for _, comm, _, _, owner in truth_of_stuck(boot)}
    names = {pid: comm for pid, comm, _, _, _ in truth_of_stuck(boot)}
    found = []
    for chain in graph["chains"]:
        if chain["deadlock"]:
            circle = [link["task"] for link in chain["waits"] if link["depth"] == 1]
            check_equal(len(circle), chain["length"], "tasks of a circle")
            found.append({names[task["pid"]] for task in circle})
            check(chain["waits"][-1]["text"].endswith(": a deadlock") or chain["behind"],
                  "no word of a deadlock")
    wanted = [*DEADLOCKS, {"flush-owner", names[owners["flush-owner"]]}]
    wanted += [] if is_rt(boot) else [READER_DEADLOCK]
    check_equal(sorted(map(sorted, found)), sorted(map(sorted, wanted)), "deadlocks")
    heads = {chain["head"]["comm"]: chain for chain in graph["chains"]}
    check_equal(heads["owner-asleep"]["behind"], 2, "tasks behind owner-asleep")
    check("lost_done" in heads["lost-owner"]["text"], heads["lost-owner"]["text"])
    notes.append(f"{len(found)} deadlocks, {len(graph['chains'])} chains")


def compare_unserved(program, boot):
    """guest/unserved: a filesystem's server that does not answer, and a stopped reader of a pipe,
    whose end two more tasks have inherited."""
    states = named(boot, rows_of(program, boot))
    servers = {line.split()[1]: int(line.split()[0]) for line in boot.truth("states").splitlines()}
    fuse, pipe = states["fuse-waits"], states["pipe-waits"]
    check_equal((fuse["kind"], fuse["owner_pid"]), ("FUSE answer", servers["fuse-server"]),
                "what fuse-waits waits for, and who has it")
    check_equal((fuse["sure"], fuse["owner_sure"]), ("certain", "certain"), "confidence")
    check_equal((pipe["kind"], pipe["mode"], pipe["owner_pid"]), ("pipe", "write", servers["pipe-stopped"]),
                "what pipe-waits waits for, and who has it")
    scan = states["scan-waits"]
    check_equal((scan["kind"], scan["owner_pid"], scan["owner_sure"]), ("fanotify answer", servers["scan-server"], "certain"),
                "what scan-waits waits for, and who has it")
    row = states["unix-waits"]
    check_equal((row["kind"], row["mode"], row["owner_pid"]), ("socket", "read", servers["unix-stopped"]),
                "what unix-waits waits for, and who has it")
    check_equal(row["name"], "unix stream socket", "what it is called")
    check_equal((row["sure"], row["owner_sure"]), ("certain", "certain"), "confidence")
    row = states["space-waits"]
    check_equal((row["kind"], row["owner_pid"], row["owner_sure"]), ("PID namespace", servers["space-parent"], "certain"),
                "what space-waits waits for")
    rows = {row["comm"]: row for row in rows_of(program, boot).values()}
    row, writer = states["dump-waits"], rows["dump-writes"]
    check_equal((row["kind"], row["owner_pid"], row["owner_sure"]), ("core dump", writer["pid"], "certain"), "what dump-waits waits for")
    check_equal((writer["kind"], writer["mode"], writer["owner_comm"]), ("pipe", "write", "unserved"), "what dump-writes waits for")
    row = states["call-waits"]
    check_equal((row["kind"], row["mode"]), ("socket", "read"), "what call-waits waits for")
    check("has not" in row["owner_how"] and "accepted" in row["owner_how"], row["owner_how"])
    # Earlier kernels do not say who listens.
    definition = program.result(boot.dump, "struct unix_sock")[0]["definition"]
    knows = "listener" in [member["name"] for member in definition["members"]]
    check_equal(row["owner_pid"], servers["call-server"] if knows else None, "who could accept call-waits")
    words = program.result(boot.dump, "analyze pipe-waits")["findings"][0]["summary"]
    check(f'{servers["pipe-stopped"]} "pipe-stopped"' in words and "stopped" in words, words)


def compare_places(program, boot):
    """What a lock is part of that has no symbol: truth has the inode of the lock, and its file is
    what the module opened."""
    rows = {row["comm"]: row for row in rows_of(program, boot).values()}
    row = rows["inode-waits"]
    inode = program.value(boot.dump, f"((struct inode *)({row['object']} - offsetof(struct inode, i_rwsem)))->i_ino")
    check(re.fullmatch(rf"i_rwsem of inode {inode}, /held-inode of \w+", row["name"]), row["name"])
    for name in ("three-a", "three-b", "three-c"):
        check(re.fullmatch(r"in an object of the slab cache kmalloc-\S+", rows[name]["name"]), f"{name}: {rows[name]['name']}")
    row = rows["program-waits"]
    worker = rows_of(program, boot)[row["owner_pid"]]
    check_equal((row["name"], row["owner_sure"], worker["kind"], worker["owner_sure"]), ("/bin/busybox", "certain", "child", "certain"),
                "what program-waits waits for")
    child = program.result(boot.dump, f"tasks --where 'pid = {worker['owner_pid']}'")[0]
    check_equal((child["comm"], child["ppid"]), ("busybox", worker["pid"]), "the program that it waits for")
    # The dump's kernel counts the one that the device has of itself, too.
    check_equal(rows["netdev-waits"]["name"], "stuck0 [stuck], usage count 2", "what netdev-waits waits for")


def compare_held(program, boot, notes):
    """guest/held_up: a reader in a frozen cgroup, and a futex whose owner the kernel knows."""
    states = named(boot, rows_of(program, boot))
    pids = {line.split()[1]: int(line.split()[0]) for line in boot.truth("states").splitlines()}
    pipe, futex = states["cold-waits"], states["pi-waits"]
    check_equal((pipe["kind"], pipe["mode"], pipe["owner_pid"]), ("pipe", "write", pids["cold-holds"]), "what cold-waits waits for")
    check_equal((futex["kind"], int(futex["object"], 16), futex["owner_pid"]), ("futex", argument(boot, pids["pi-waits"]), pids["pi-holds"]),
                "what pi-waits waits for")
    check_equal((futex["sure"], futex["owner_sure"]), ("certain", "certain"), "confidence")
    for comm, device, how in (("direct-waits", "vdb [virtio_blk]", "its driver has the request and has not ended it"),
                              ("mapper-waits", "dm-1 [dm_mod]", "it was not sent: its device is suspended (device mapper)"),
                              ("limit-waits", "sda [sd_mod]", "it was not sent: a cgroup's limit (io.max) keeps it back")):
        row = states[comm]
        check_equal((row["kind"], row["name"], row["owner_how"]), ("bio", f"for disk {device}", how), f"what {comm} waits for")
    row = states["sync-waits"]
    thread = next(other for other in rows_of(program, boot).values() if other["pid"] == row["owner_pid"])
    check_equal((row["kind"], row["owner_sure"], row["name"]), ("journal commit", "certain", "for disk dm-3 [dm_mod]"), "what sync-waits waits for")
    check(thread["comm"].startswith("jbd2/dm-3"), f"who commits: {thread}")
    notes.append(f"{thread['comm']} waits for {thread['kind']} ({thread['name']}): {thread['owner_how']}")
    by_pid = {row["pid"]: row for row in rows_of(program, boot).values()}
    for comm in ("loop-reads", "loop-syncs"):
        row = states[comm]
        worker = by_pid[row["owner_pid"]]
        check_equal((row["kind"] in ("folio", "page"), row["name"], row["owner_sure"]), (True, "for disk loop6 [loop]", "inferred"), f"what {comm} waits for")
        check(worker["comm"].startswith("kworker/") and re.fullmatch(r"of inode \d+, /image of dm-3", worker["name"]), f"{worker}")
        check_equal(worker["owner_how"], "its device is suspended (device mapper)", "what the loop device's worker waits for")
    row = states["rename-waits"]
    check_equal((row["kind"], row["name"], row["owner_pid"], row["owner_sure"]),
                ("mutex", "s_vfs_rename_mutex of dm-3, ext4", pids["rename-holds"], "certain"), "what rename-waits waits for")
    check_equal(states["rename-holds"]["owner_how"], "its device is suspended (device mapper)", "what rename-holds waits for")
    row = states["auto-waits"]
    check_equal((row["kind"], row["sure"], row["owner_pid"], row["owner_sure"]),
                ("automount", "certain", pids["auto-daemon"], "certain"), "what auto-waits waits for")
    for comm, pattern in (("nfs-waits", r"RPC answer 0x[0-9a-f]+ \(a call of mount, asked of server 127\.0\.0\.1\): the server has not answered"),
                          ("disk-waits", r"folio 0x[0-9a-f]+ \(for disk vdb \[virtio_blk\]\).*")):
        said = program.result(boot.dump, f"analyze {comm}")["findings"][0]["summary"]
        check(re.fullmatch(rf'{pids[comm]} "{comm}" waits for {pattern}', said), said)
    texts = [piece["text"] for piece in program.result(boot.dump, "analyze cold-waits")["findings"][0]["evidence"]]
    check(f'{pids["cold-holds"]} "cold-holds" is frozen by its cgroup /cold' in texts, f"{texts}")
    words = program.result(boot.dump, "analyze kthreadd")["findings"][0]["summary"]
    check("frozen" not in words, words)


def compare_grace_period(program, boot):
    """Who waits for readers of RCU waits for what runs on the CPU that is one."""
    rows = {row["comm"]: row for row in rows_of(program, boot).values()}
    row = rows["lab-synchronize"]
    check_equal((row["kind"], row["owner_comm"], row["owner_sure"]), ("RCU grace period", "lab-reader", "certain"), "the wait for readers")


def compare_dot(program, boot):
    """An edge of --dot for each owner; what names hold is inside of quotes."""
    lines = program.result(boot.dump, "locks --dot")
    check_equal((lines[0], lines[-1]), ("digraph waits {", "}"), "first and last line")
    for line in lines[1:-1]:
        quoted = re.sub(r'"(\\.|[^"\\])*"', "", line)
        check(re.fullmatch(r"\t[a-z]+\S*( -> \S+)? \[[a-z=, ]*\];", quoted), line)
    edges = {tuple(re.findall(r"task_([0-9a-f]+)", line)) for line in lines if " -> task_" in line}
    owned = {(row["task"][2:], row["owner"][2:]) for row in rows_of(program, boot).values()
             if row["owner"]}
    check_equal(edges, owned, "edges")


def compare_choice(program, boot):
    """Of one lock, and of one task: who waits for it, and what it waits for itself."""
    rows = rows_of(program, boot).values()
    frozen = [row for row in rows if row["comm"].startswith("frozen-")]
    chosen = program.result(boot.dump, f"locks {frozen[0]['object']}")
    check_equal(sorted(row["comm"] for row in chosen), sorted(row["comm"] for row in frozen),
                "waiters of a lock")
    chosen = program.result(boot.dump, "locks flock-holder")
    check_equal([row["comm"] for row in chosen], ["flock-waiter"], "who waits for flock-holder")
    answer, = program.answers(boot.dump, ["locks nobody-has-this-name"])
    check(not answer["ok"], "a name that no task has")


def run(session):
    program = session.program
    for boot in boots():
        with session.case(f"{boot.label}: kinds and objects") as notes:
            compare_states(program, boot, notes)
        with session.case(f"{boot.label}: futexes by their system calls") as notes:
            compare_futexes(program, boot, notes)
        with session.case(f"{boot.label}: the frozen filesystem"):
            compare_frozen(program, boot)
        with session.case(f"{boot.label}: /proc/locks"):
            compare_file_locks(program, boot)
        with session.case(f"{boot.label}: --dot"):
            compare_dot(program, boot)
        with session.case(f"{boot.label}: of one lock, of one task"):
            compare_choice(program, boot)
    for boot in boots(("threads",)):
        with session.case(f"{boot.label}: a crowd") as notes:
            compare_crowd(program, boot, notes)
    for boot in boots_of_most(session, "stuck"):
        with session.case(f"{boot.label}: every kind of lock") as notes:
            compare_stuck(program, boot, notes)
        with session.case(f"{boot.label}: servers that do not serve"):
            compare_unserved(program, boot)
        with session.case(f"{boot.label}: what locks are part of"):
            compare_places(program, boot)
        with session.case(f"{boot.label}: deadlocks") as notes:
            compare_deadlocks(program, boot, notes)
        with session.case(f"{boot.label}: --dot"):
            compare_dot(program, boot)
    for boot in boots_of_most(session, "held"):
        with session.case(f"{boot.label}: who holds others up") as notes:
            compare_held(program, boot, notes)
        with session.case(f"{boot.label}: servers that do not serve"):
            compare_unserved(program, boot)
    for boot in boots(("rcu",)):
        if os.path.isdir(boot.folder):
            with session.case(f"{boot.label}: who holds others up"):
                compare_grace_period(program, boot)
