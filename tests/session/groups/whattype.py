# SPDX-License-Identifier: GPL-3.0-or-later
"""`whattype`: what lies at an address. The truth is where typed members lead, and the guest's own
symbols and tasks; the command is given the address alone."""

import collections
import re

from lib import boots, check, check_equal

# Members that are followed, by the type they are in.
MEMBERS = {
    "struct task_struct": ("files", "mm", "signal", "sighand", "cred", "fs", "nsproxy",
                           "thread_pid", "real_parent", "group_leader"),
    "struct files_struct": ("fdt",),
    "struct mm_struct": ("exe_file", "user_ns"),
    "struct cred": ("user", "user_ns", "group_info"),
    "struct fs_struct": ("root.dentry", "pwd.dentry", "root.mnt"),
    "struct nsproxy": ("uts_ns", "mnt_ns", "net_ns"),
    "struct file": ("f_inode", "f_mapping", "f_cred", "f_op"),
    "struct dentry": ("d_inode", "d_sb", "d_parent"),
    "struct inode": ("i_sb", "i_mapping", "i_op"),
    "struct super_block": ("s_type", "s_op", "s_root", "s_bdev", "s_bdi"),
    "struct block_device": ("bd_disk",),
}
LEVELS = 5
TASKS = 40
KERNEL_HALF = 1 << 63
# Of what is reached, so many must be named with more than a guess.
SHARE = 0.95


def pointer_of(result):
    """The address in the value of a pointer; None: NULL, or no kernel address."""
    value = result["value"]
    if isinstance(value, dict):
        value = value.get("address") or value.get("value")
    found = re.match("0x[0-9a-f]+", value) if isinstance(value, str) else None
    address = int(found.group(), 16) if found else 0
    return address if address >= KERNEL_HALF else None


def target_of(result):
    """"struct file" of "const struct file *"; None for other pointers."""
    spelled = re.sub(r"\bconst ", "", result["type"])
    return spelled[:-1].strip() if spelled.count("*") == 1 and spelled.endswith("*") else None


def follow(program, boot, reached):
    """The objects that members of `reached` point at: {address: type}."""
    commands = [f"print (({kind} *){address:#x})->{member}"
                for address, kind in reached.items() for member in MEMBERS.get(kind, ())]
    found = {}
    for first in range(0, len(commands), 300):
        for answer in program.answers(boot.dump, commands[first:first + 300]):
            if not answer["ok"]:
                continue
            address, kind = pointer_of(answer["result"]), target_of(answer["result"])
            if address and kind:
                found.setdefault(address, kind)
    return found


def tasks_of(program, boot):
    rows = program.result(boot.dump, "ps")
    return [int(row.get("task") or row["address"], 16) for row in rows]


def addresses_of_members(program, boot):
    wanted = {address: "struct task_struct" for address in tasks_of(program, boot)[-TASKS:]}
    level = dict(wanted)
    for _ in range(LEVELS):
        level = {address: kind for address, kind in follow(program, boot, level).items()
                 if address not in wanted}
        wanted.update(level)
    return wanted


def ask(program, boot, addresses, option=""):
    answers = []
    addresses = list(addresses)
    for first in range(0, len(addresses), 150):
        operands = " ".join(f"{address:#x}" for address in addresses[first:first + 150])
        answers += program.result(boot.dump, f"whattype {option}" + operands, timeout=300)
    return answers


def is_right(program, boot, answer, kind):
    """It names the type, or an object that has one at the address."""
    if re.sub(r"\bconst ", "", answer["type"]) == kind and not answer["offset"]:
        return True
    # "vfs_inode.i_mode": one of the prefixes is the inode.
    words = answer.get("member", "").split(".")
    for count in range(1, len(words) + 1):
        path = f"(({answer['type']} *){answer['start']})->{'.'.join(words[:count])}"
        result = program.result(boot.dump, f"print &{path}")
        if target_of(result) == kind and pointer_of(result) == int(answer["address"], 16):
            return True
    return False


def names_members(program, boot, notes):
    wanted = addresses_of_members(program, boot)
    check(len(wanted) > 200, f"only {len(wanted)} objects are reached by members")
    guesses = collections.Counter()
    for (address, kind), answer in zip(wanted.items(), ask(program, boot, wanted)):
        check_equal(int(answer["address"], 16), address, "address of the answer")
        if answer["confidence"] not in ("certain", "inferred"):
            slab = answer.get("slab", {})
            guesses[kind, answer["type"], answer["region"], slab.get("cache"),
                    slab.get("state")] += 1
            continue
        check(is_right(program, boot, answer, kind),
              f"{address:#x} is a {kind}, but {answer['confidence']} {answer['type']} "
              f"at {answer['offset']}")
    sure = len(wanted) - guesses.total()
    check(sure >= SHARE * len(wanted),
          f"only {sure} of {len(wanted)} are more than a guess; {guesses.most_common(5)}")
    notes.append(f"{sure} of {len(wanted)}")


def names_variables(program, boot):
    """A variable with the member inside; a CPU's copy of a per-CPU variable."""
    address = int(program.value(boot.dump, "&init_task.tasks.prev"), 16)
    answer, = ask(program, boot, [address])
    check_equal((answer["symbol"], answer["member"], answer["type"], answer["region"]),
                ("init_task", "tasks.prev", "struct task_struct", "data"), "init_task")
    check_equal(answer["symbol_offset"], address - boot.address("init_task"), "offset")
    for cpu in range(boot.cpu_count):
        address = int(program.value(boot.dump, f"&runqueues:{cpu}.curr"), 16)
        answer, = ask(program, boot, [address])
        check_equal((answer["symbol"], answer["cpu"], answer["region"]),
                    ("runqueues", cpu, "per-CPU"), f"runqueues:{cpu}")
        check_equal(answer["confidence"], "inferred" if answer["origin"] == "declared"
                    else "certain", "confidence")
    text = program.text(boot.dump, "whattype &init_task.tasks.prev")
    check("struct list_head *init_task.tasks.prev" in text, f"text: {text!r}")
    module = boot.modules[0][0]
    addresses = boot.addresses.get(("__this_module", module))
    if addresses:
        answer, = ask(program, boot, addresses)
        check_equal(answer["module"], module, "module")


def names_stacks(program, boot, notes):
    """Of each task of the guest: the word in the middle of its stack is on that stack."""
    tasks = {task: int(program.value(boot.dump, f"((struct task_struct *){task:#x})->stack"), 16)
             for task in tasks_of(program, boot)[-12:]}
    seen = 0
    for (task, stack), answer in zip(tasks.items(), ask(program, boot,
                                                        [at + 0x3000 for at in tasks.values()])):
        if "symbol" in answer:
            continue  # the first task's is a variable
        check_equal(answer["region"], "task stack", f"region of the stack {stack:#x}")
        check_equal(int(answer["stack"]["task"], 16), task, "task of the stack")
        check(answer["stack"]["pid"] in boot.tasks or answer["stack"]["pid"] == 0
              or answer["stack"]["pid"] > 0, "pid")
        seen += 1
    check(seen > 5, f"only {seen} stacks")
    notes.append(f"{seen} stacks")


def names_beyond_the_walk(program, boot, notes):
    """With 2,000 threads not all objects are followed, but whose pointers are at one is found."""
    creds = [pointer_of(answer["result"]) for answer in program.answers(
        boot.dump, [f"print ((struct task_struct *){task:#x})->cred"
                    for task in tasks_of(program, boot)[::20]])]
    creds = sorted({address for address in creds if address})
    check(len(creds) > 5, f"only {len(creds)} creds")
    for answer in ask(program, boot, creds):
        check(answer["confidence"] in ("certain", "inferred"),
              f"{answer['address']} is a {answer['confidence']}")
        check_equal(answer["type"], "struct cred", answer["address"])
    text = program.text(boot.dump, f"whattype -a {creds[0]:#x}")
    check("(not all objects of the dump were followed)" in text, "the walk is not cut")
    notes.append(f"{len(creds)} creds")


def without_evidence(answer):
    return {name: value for name, value in answer.items() if name not in ("evidence", "nearby")}


def is_stale(program, boot, path):
    """Whether a way of pointers leads through an object that is free, or by now one of a cache whose objects are too
    small, or through a part of a stack that its calls have left."""
    first, *members = path.split("->")
    for count in range(len(members)):
        way = "->".join([first, *members[:count]])
        at = int(program.value(boot.dump, way), 16)
        found, = ask(program, boot, [at])
        slab, stack = found.get("slab"), found.get("stack")
        if slab and (slab["state"] == "free" or slab["size"] - slab["offset"] < int(program.value(boot.dump, f"sizeof(*{way})"))):
            return True
        if stack and at < int(program.value(boot.dump, f"((struct task_struct *){stack['task']})->thread.sp")):
            return True
    return False


def check_same(one, other):
    """Two answers of one address say the same; names what does not."""
    differ = {name: (one.get(name), other.get(name)) for name in {*one, *other} if one.get(name) != other.get(name)}
    check(not differ, f"{one['address']}: {differ}")


def decides_nearby(program, boot, notes):
    """What a cache and the objects around make certain is what all pointers of the dump say; of these some may be
    stale, and take the certainty away: never another thing, and of few."""
    wanted = sorted(addresses_of_members(program, boot))
    short, whole = ask(program, boot, wanted), ask(program, boot, wanted, "-a ")
    near = stale = unproved = 0
    for one, other in zip(short, whole):
        check(not other["nearby"], "all were asked for")
        if not one["nearby"]:
            check_same(one, other)
            continue
        near += 1
        check_equal(one["confidence"], "certain", one["address"])
        differing = [found for found in other["evidence"] if found["type"] != other["type"] and "path" in found]
        if other["confidence"] != "certain" and differing:
            # A way that is too long to be written, or leads through what is in use by now for something else and is as
            # large, or through memory that nobody cleared, looks sound: these are few.
            proved = all(not found["path"].startswith("...") and is_stale(program, boot, found["path"]) for found in differing)
            stale, unproved = stale + proved, unproved + (not proved)
            if not proved:
                notes.append(f"{one['address']}: {[found['path'] for found in differing]}")
            other["confidence"] = one["confidence"]
        check_same(without_evidence(one), without_evidence(other))
    check(near > 50, f"only {near} of {len(wanted)} are decided nearby")
    check(unproved < near / 20, f"{unproved} of {near} lose their certainty to pointers that are not stale: {notes}")
    notes.append(f"{near} of {len(wanted)} nearby, stale pointers at {stale}, unproved at {unproved}")


def takes_expressions(program, boot):
    """Blanks in brackets do not end an address."""
    start = boot.address("init_task")
    tasks = int(program.value(boot.dump, "&init_task.tasks"), 16)
    operands = ("(struct task_struct *)&init_task", f"({start:#x} + 8)",
                "&((struct task_struct *) &init_task)->tasks")
    answers = program.result(boot.dump, "whattype " + " ".join(operands))
    check_equal([int(answer["address"], 16) for answer in answers], [start, start + 8, tasks],
                "addresses")


def names_nothing(program, boot):
    """What is no memory of the kernel's is not typed."""
    for address in (0, 0x1000, 0x7fffffffe000, 0xffff7fffffffffff, 0xffffffffffffffff):
        answer, = ask(program, boot, [address])
        check_equal(answer["confidence"], "unknown", f"confidence of {address:#x}")
        check(answer["type"] is None, f"{address:#x} has a type")
    result = program.run(["-q", "-c", "whattype no_such_name", boot.dump], status=1)
    check_equal(len(result.err.splitlines()), 1, "lines of the message")


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: whattype names what typed members lead to") as notes:
            names_members(session.program, boot, notes)
        with session.case(f"{boot.label}: whattype goes no farther than it must") as notes:
            decides_nearby(session.program, boot, notes)
        with session.case(f"{boot.label}: whattype names variables"):
            names_variables(session.program, boot)
        with session.case(f"{boot.label}: whattype names stacks") as notes:
            names_stacks(session.program, boot, notes)
        with session.case(f"{boot.label}: whattype of addresses with blanks in them"):
            takes_expressions(session.program, boot)
        with session.case(f"{boot.label}: whattype of what is no memory"):
            names_nothing(session.program, boot)
    for boot in boots(("threads",)):
        with session.case(f"{boot.label}: whattype where not all is followed") as notes:
            names_beyond_the_walk(session.program, boot, notes)
