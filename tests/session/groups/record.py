# SPDX-License-Identifier: GPL-3.0-or-later
"""`record`: what a fleet keeps of a crash is what the commands say, and the same of each form of a dump."""

import json
import os

from forged import Image, Layout
from lib import Boot, check, check_equal, copy_file, kernel_names

# What another form of one dump says otherwise.
OWN = ("dump", "uptime", "time")
# A guest has these, and nobody else should learn them.
NAMES = ("collect", "btfcrash-guest", "0xffff")


def one(program, dump, *options):
    """The record of --record, a line of its own."""
    result = program.run(["--record", *options, *([dump] if isinstance(dump, str) else dump)], status=0)
    check_equal(result.text.count("\n"), 1, "lines")
    return json.loads(result.text)


def is_what_commands_say(program, boot):
    record = one(program, boot.dump)
    system, why = program.result(boot.dump, "sys"), program.result(boot.dump, "analyze")
    modules, account = program.result(boot.dump, "mod"), record["memory"]
    check_equal(program.result(boot.dump, "record"), record, "the answer in JSON")
    check_equal((record["kernel"]["release"], record["kernel"]["version"], record["host"]["name"], record["uptime"]),
                (system["release"], system["version"], system["node"], system["uptime"]), "sys")
    check_equal(record["time"], system["date"].replace(" UTC", "Z").replace(" ", "T"), "the time")
    check_equal((record["host"]["cpus"], record["host"]["memory"]), (system["cpus"], system["memory"]), "sizes")
    check_equal(record["signature"], why.get("signature"), "the signature")
    check_equal("/".join(record["blamed"]), (why.get("signature") or "  ").split(" ", 2)[2], "who is to blame")
    findings = [(one["kind"], one["sure"], one["summary"]) for one in why["findings"] if one["kind"] != "blocked"]
    check_equal([(one["kind"], one["sure"], one["summary"]) for one in record["findings"]], findings, "findings")
    check_equal((record["kind"], record["summary"]), (why["findings"][0]["kind"], why["findings"][0]["summary"]),
                "the first finding")
    check_equal(record["task"]["pid"], why["task"]["pid"], "the task")
    check_equal([one["name"] for one in record["modules"]], [one["name"] for one in modules], "modules")
    check(account["total"] >= sum(kind["bytes"] for kind in account["kinds"]) + account["unaccounted"],
          "kinds of memory are more than there is")


def names_the_build(program, boot):
    """The build id is that of the notes that the guest had in /sys/kernel/notes."""
    with open(boot.path("truth", "notes"), "rb") as file:
        notes = file.read()
    at = notes.index(b"GNU\0") + 4
    check_equal(one(program, boot.dump)["kernel"]["build_id"], notes[at:at + 20].hex(), "the build id")


def groups_who_waits(program, boot):
    rows = [row for row in program.result(boot.dump, "locks") if row["state"] == "D"]
    groups = {}
    for row in rows:
        place = row["kind"], row["function"] or None, row["caller"] or None
        groups[place] = groups.get(place, 0) + 1
    waiting = one(program, boot.dump)["waiting"]
    check(rows and waiting, "nobody waits")
    check_equal({(row["kind"], row["function"], row["caller"]): row["tasks"] for row in waiting}, groups, "groups")
    check(all(a["tasks"] >= b["tasks"] for a, b in zip(waiting, waiting[1:])), "the order")


def is_one_of_each_form(program, boot):
    """A fleet gets some dumps filtered and others not; a filter takes some things of all but the cause."""
    forms = [boot.path("vmcore." + name) for name in ("lzo", "flat")]
    forms.append([boot.path(f"vmcore.split.{number}") for number in (1, 2, 3)])
    known = one(program, boot.path("vmcore.zlib"))
    for form in forms:
        found = one(program, form)
        check_equal({key: value for key, value in found.items() if key not in OWN},
                    {key: value for key, value in known.items() if key not in OWN}, str(form))
    whole, other = one(program, boot.dump), one(program, boot.path("vmcore.flat-E"))
    # The task_struct of who died may be missing, and with it a name in the summary.
    for key in ("signature", "kind", "blamed", "taints", "kernel", "host", "stack"):
        check_equal((known[key], other[key]), (whole[key], whole[key]), f"{key} of filtered dumps")


def keeps_names_to_itself(program, boot):
    result = program.run(["-q", "-c", "record --anonymous", boot.dump], status=0)
    found = json.loads(result.text)
    for name in (*NAMES, boot.dump):
        check(name not in result.text, f"{name} is in it")
    check_equal(found["signature"], one(program, boot.dump)["signature"], "the signature")
    check_equal((found["host"]["name"], found["summary"], found["panic"], found["task"]["comm"]), (None,) * 4, "names")
    result = program.run(["-q", "-c", "record --anonymous --log 5", boot.dump], status=1)
    check("leaves out" in result.errors, result.errors)


def has_more_if_asked(program, boot):
    record = program.result(boot.dump, "record --stacks --log 7")
    check_equal(record["stacks"], program.result(boot.dump, "stacks"), "stacks")
    check_equal([line["text"] for line in record["log"]], [line["text"] for line in program.result(boot.dump, "log")[-7:]],
                "the log's end")


def is_made_of_ruins(program, boot):
    """A dump that was cut off, or has no symbols: what is known, and why not more."""
    path = os.path.join(program.scratch, "cut.vmcore")
    copy_file(boot.path("vmcore.zlib"), path)
    os.truncate(path, os.path.getsize(path) * 6 // 10)
    result = program.run(["--record", path])
    if result.status == 0:
        found = json.loads(result.text)
        check(found["dump"]["problems"], "nothing is said to be missing")
    os.truncate(path, 4096)
    result = program.run(["--record", path], status=2)
    check(not result.text and result.errors, "no message")
    os.unlink(path)


def tells_of_unseen_tasks(program, boot):
    """A list of tasks that breaks is a problem of the dump: who waits may be more."""
    path = os.path.join(program.scratch, "broken.vmcore")
    image = Image(boot.dump, path)
    link = program.value(boot.dump, "&init_task.tasks.next->next")
    base = program.value(boot.dump, "page_offset_base")
    at = Layout(image, boot).offset_of_physical(int(link, 16) - int(base))
    with image.patched({at: bytes(16)}):
        problems = one(program, path)["dump"]["problems"]
    check(any("task list" in text for text in problems), f"{problems}")
    check(not any("task list" in text for text in one(program, boot.dump)["dump"]["problems"]), "a whole list lacks some")
    os.unlink(path)


def run(session):
    program = session.program
    for kernel in kernel_names():
        for name in ("boot1", "null"):
            with session.case(f"{kernel} {name}: what commands say"):
                is_what_commands_say(program, Boot(kernel, name))
        boot = Boot(kernel, "boot1")
        for name, test in (("the build id", names_the_build), ("each form of a dump", is_one_of_each_form),
                           ("--anonymous", keeps_names_to_itself), ("--stacks --log", has_more_if_asked),
                           ("a dump cut off", is_made_of_ruins), ("tasks that nobody saw", tells_of_unseen_tasks)):
            with session.case(f"{kernel}: {name}"):
                test(program, boot)
        with session.case(f"{kernel} stuck: who waits"):
            groups_who_waits(program, Boot(kernel, "stuck"))
