# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON of every command is as its schema says: the examples of all, and more lines."""

import tempfile

import jsonschema
import schemas
from groups.examples import TOPICS, is_data
from lib import Boot, Failure, check, check_equal, kernel_names

# What the examples do not show. Some of these fail, and have to say so as the schema has it.
MORE = (
    "bt 1", "bt -n 1", "bt 99999", "ps -s D | bt", "ps 1 | bt -n", "ps 1 | print", "ps 1 | print {pid, mm->map_count}",
    "ps -k 2 | print {pid, mm->map_count}", "ps 1 | struct task_struct", "ps 1 | whattype", "ps 1 | rd $_ 2",
    "print init_task", "print runqueues:0", "print runqueues:a.nr_running", "print jiffies", "print nonesuch",
    "print *(int *)0", "print linux_banner[0..3]", "print init_task.signal->rlim[0..1]", "print init_task.cpus_mask",
    "print vfs_read", "print init_task{pid, comm, se{load}}", "print -a 1 init_task.cpus_mask.bits", "p jiffies",
    "whatis -v init_task", "whatis schedule", "whatis vfs_read", "whatis runqueues", "whatis struct list_head",
    "whattype init_task", "whattype 0", "whattype vfs_read", "whattype linux_banner", "whattype runqueues",
    "struct task_struct init_task", "struct task_struct.pid init_task", "struct nonesuch", "enum pid_type",
    "struct -E task_struct", "union thread_union", "ptype init_task", "ptype pid_t",
    "types task_struct", "types list_head", "types pid_type", "types --member i_ino", "types --format=pahole task_struct",
    "types --format=c list_head", "types runqueues", "types vfs_read", "types -m virtio_blk",
    "sym schedule", "sym -f schedule", "sym ffffffff81000000", "sym nosuchsym", "sym -m virtio_blk", "sym vfs_read+4",
    "dis schedule", "dis -r $rip", "dis 0", "frame", "frame 1", "up", "down", "registers", "info frame", "info registers",
    "task 1", "task", "bt", "registers", "foreach 1 print current->pid", "foreach 1 task", "foreach 1 registers",
    "foreach user bt", "stacks", "stacks -s D", "locks vfork-parent", "locks -g flock-holder", "ps --columns pid,comm 1", "log", "btf", "btf diff vmlinux vmlinux",
    "rd -a linux_banner 64", "rd -s init_task 16", "rd -8 linux_banner 4", "rd 0", "bpf", "set", "set depth 3", "set",
    "set depth 0", "set $it = &init_task", "set", "set -c 0", "alias x = ps 1", "alias", "unalias x", "help", "help bt",
    "tree irq_desc sparse_irqs -s irq_data.irq,lock", "tree irq_desc irq_desc_tree -s irq_data.irq,lock",
    "list modules", "list task_struct.tasks init_task -s pid,comm,mm,utime", "list nonesuch", "mod", "mod -b",
    "mod virtio_blk", "files 1", "files -a -n 5", "mappings -a -o pid,path", "mappings 2", "mounts", "mounts -o nonesuch", "irqs", "netdevs", "tasks", "slabs", "vmallocs", "zones", "sockets -a", "sql SELECT 1, NULL, 1.5", "sql SELECT nonesuch",
    "globals --contains 'struct mutex'", "globals --type 'struct list_head'", "report", "source /dev/null",
    "record", "record -a", "record -s -l 3", "record -a -s", "nosuch", "bt -Z", "print")
STACKS = ("bpf", "foreach bt", "bt -a", "stacks", "report --full", "ps", "log", "sys")
PLANTED = ("ps 1", "files 1", "mounts", "bt 1", "print init_task.pid", "sys", "sym -q init_task", "whattype init_task", "log", "help bt", "globals",
           "registers", "task 1", "struct list_head")


def command_names(program):
    answer, = program.answers([], ["help"], status=0)
    return {row["name"] for row in answer["result"]}


def examples(program, known):
    lines = [f"help {name}" for name in (*sorted(known), *TOPICS)]
    found = [line for answer in program.answers([], lines, status=0)
             for line in answer["result"]["examples"]]
    return lines + [line for line in found if is_data(line)]


def is_complete(known):
    check_equal(sorted(set(schemas.names()) - set(schemas.SHARED)), sorted(known),
                "schemas, beside the commands,")
    for name in schemas.names():
        schema = schemas.load(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        check(schema["$id"].endswith(f"/{name}.json"), f"{name}.json: {schema['$id']}")
        check(schema.get("description") and schema.get("title"), f"{name}.json says not what it is")
        schemas.validator(name)


def default_answers(program, boot, lines):
    """Without --json-integers, as most programs ask."""
    arguments = [word for line in lines for word in ("-c", line)]
    result = program.run(["-q", "--json", *arguments, boot.dump], timeout=600)
    answers = result.objects()
    check_equal([answer["command"] for answer in answers], list(lines), "answers")
    return answers


def is_described(program, boot, lines, known, notes):
    wrong = []
    answers = default_answers(program, boot, lines)
    for answer in answers:
        try:
            schemas.check_answer(answer, known)
        except Failure as failure:
            wrong.append(str(failure))
    check(not wrong, f"{len(wrong)} of {len(answers)}: {'; '.join(wrong[:5])}")
    done = sum(answer["ok"] for answer in answers)
    check(done > len(lines) * 0.8, f"only {done} of {len(lines)} lines succeed")
    notes.append(f"{len(answers)} answers")


def sees_faults(program, boot, known):
    """What is planted in an answer is found."""
    for answer in default_answers(program, boot, PLANTED):
        line, result = answer["command"], schemas.thinned(answer["result"])
        schemas.check_result(line, result, False, known)
        name, _ = schemas.schema_of(line)
        for number, wrong in enumerate(schemas.planted(result)):
            # Nothing of `print` is required: what is missing was cut off by an error.
            if (name, number) != ("print", 1):
                check(not schemas.is_valid(name, wrong), f"{line}: fault {number} is not seen")
    answer, = default_answers(program, boot, ["print jiffies"])
    answer["result"]["value"] = int(answer["result"]["value"]) | 1 << 53
    check(not schemas.is_valid("print", answer["result"]), "a number of 64 bits is not seen")
    for envelope in ({"command": "x", "ok": True}, {"command": "x", "ok": False},
                     {"command": "x", "ok": True, "result": 1, "error": "e"},
                     {"command": "x", "ok": True, "result": 1, "more": 1}):
        check(not schemas.is_valid("answer", envelope), f"{envelope} is an answer")


def run(session):
    program = session.program
    schemas.add_tables(program)
    known = command_names(program)
    with session.case("a schema for each command, a command for each schema"):
        is_complete(known)
    lines = [*examples(program, known), *MORE]
    with tempfile.TemporaryDirectory() as program.cache:
        with session.case("planted faults"):
            sees_faults(program, Boot(kernel_names()[-1], "boot1"), known)
        for kernel in kernel_names():
            boot = Boot(kernel, "boot1")
            with session.case(f"{boot.label}: every command") as notes:
                is_described(program, boot, lines, known, notes)
            boot = Boot(kernel, "bpf")
            with session.case(f"{boot.label}: stacks and programs") as notes:
                is_described(program, boot, STACKS, known, notes)
    program.cache = None
