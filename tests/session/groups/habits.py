# SPDX-License-Identifier: GPL-3.0-or-later
"""What people try in their first hour, by the habits of other debuggers."""

import csv
import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import termios

from lib import boots, check, check_equal, check_lines, escaped, parse_json


def on_terminal(program, dump, command, columns):
    """The lines of a command on a terminal so wide, as the program writes them."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    child = subprocess.Popen([program.path, "-q", "--color=never", "-c", command, dump],
                             stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL,
                             env=program.environment())
    os.close(follower)
    text = b""
    try:
        while some := os.read(leader, 65536):
            text += some
    except OSError:  # what a terminal says that nobody has open any more
        pass
    os.close(leader)
    check_equal(child.wait(), 0, f"exit status of {command} on a terminal")
    return text.decode().replace("\r\n", "\n").splitlines()


def wraps_frames(program, boot):
    """Frames go on in a new line between their words; in a pipe they do not."""
    for command in ("bt", "foreach bt"):
        whole = program.text(boot.dump, command)
        check(any(len(line) > 80 for line in whole.splitlines()), f"{command}: nothing to wrap")
        for columns in (80, 60, 132):
            lines = on_terminal(program, boot.dump, command, columns)
            wide = [line for line in lines if len(line) > columns and not line.startswith("    (")]
            check(not wide, f"{command}: wider than {columns}: {wide[:1]}")
            check_equal(" ".join(lines).split(), whole.split(), f"{command}: words on {columns}")


def keeps_format(program, boot):
    """--csv, --json and --columns hold for the line, wherever in it they stand."""
    for option in ("--csv", "--json", "--columns comm,pid", "--csv --columns pid"):
        wanted = program.text(boot.dump, f"ps -k | print {option} {{pid, comm}}")
        got = program.text(boot.dump, f"ps {option} -k | print {{pid, comm}}")
        # JSON has the line as it was typed.
        got, wanted = (re.sub('"command": "[^"]*"', "", text) for text in (got, wanted))
        check_equal(got, wanted, f"{option} before the |")
    lines = program.text(boot.dump, "ps --csv 1 | print --json {pid}")
    check_equal(parse_json(lines.encode())["result"][0]["pid"], 1, "the last of two formats")
    # In a session of JSON, an error that no JSON holds is told as in a session of text.
    result = program.run(["-q", "--json", "-c", "ps --csv 99999", boot.dump], status=1)
    check_equal(result.errors.strip(), 'btfcrash: ps: no task "99999"', "an error of CSV within JSON")
    lines = program.text(boot.dump, "ps --json 1 | task --csv").splitlines()
    check_equal((lines[0].split(",")[0], lines[1].split(",")[0]), ("pid", "1"), "CSV of the last")
    out = os.path.join(program.scratch, "file")
    program.run(["-q", "-c", f"ps --csv 1 | print {{pid, comm}} > {out}", boot.dump], status=0)
    with open(out) as file:
        check_equal(file.read().splitlines()[1].split(",")[1:], ["1", "init"], "CSV in a file")


TRACE_COLUMNS = ("pid,comm,cpu,state,task,frame,sp,pc,symbol,offset,module,kind,arguments,source,"
                 "start,end").split(",")


def known_arguments(text):
    """{name: number, None: unknown} of "name=value, name=value"."""
    pairs = (pair.split("=") for pair in text.split(", ") if pair)
    return [(name, None if value == "?" else int(value, 0)) for name, value in pairs]


def arguments_of(frame):
    """The same of a frame in JSON, where pointers are strings."""
    return [(argument["name"] or "_", argument["value"] if argument["value"] is None
             else int(str(argument["value"]), 0)) for argument in frame.get("args", ())]


def cell(text):
    """What a cell was before it was made safe for spreadsheets."""
    return text[1:] if text.startswith("'") else text


def compare_rows(rows, traces, what):
    """Rows of frames are the frames of JSON."""
    wanted = []
    for trace in traces:
        task = trace["task"]
        for number, frame in enumerate(trace["frames"] or [{}]):
            wanted.append([str(task["pid"]), escaped(task["comm"].encode()), task["address"],
                           str(number) if frame else "", frame.get("pc") or "",
                           frame.get("symbol") or "",
                           "" if frame.get("offset") is None else str(frame["offset"]),
                           frame.get("module") or "", arguments_of(frame)])
    got = [[cell(row[key]) for key in ("pid", "comm", "task", "frame", "pc", "symbol", "offset",
                                       "module")] + [known_arguments(row["arguments"])]
           for row in rows]
    check_lines(got, wanted, f"row of {what}")


def tables_of_frames(program, boot):
    """--csv of stacks has a row a frame, with the task in each."""
    for command in ("bt", "bt -a", "bt 1 2", "foreach bt", "foreach kernel bt"):
        text = program.text(boot.dump, command + " --csv" if command.startswith("bt") else
                            command.replace("foreach", "foreach --csv"))
        reader = csv.DictReader(io.StringIO(text))
        check_equal(reader.fieldnames, TRACE_COLUMNS, f"columns of {command}")
        traces = program.result(boot.dump, command)
        compare_rows(list(reader), traces if isinstance(traces, list) else [traces], command)
    lines = program.text(boot.dump, "bt --columns frame,symbol 1").splitlines()
    check_equal(lines[0].split(), ["frame", "symbol"], "columns chosen")
    check_equal(lines[1].split(), ["0", "__schedule"], "the first frame")
    groups = program.result(boot.dump, "stacks")
    rows = list(csv.DictReader(io.StringIO(program.text(boot.dump, "stacks --csv"))))
    check_equal(len(rows), sum(max(1, len(group["frames"])) for group in groups), "rows of stacks")
    for number, group in enumerate(groups):
        mine = [row for row in rows if row["group"] == str(number)]
        check_equal([row["symbol"] for row in mine],
                    [frame["symbol"] or "" for frame in group["frames"]] or [""], "frames of a group")
        check_equal(mine[0]["pids"], " ".join(str(task["pid"]) for task in group["tasks"]), "pids")


def shares_arguments(program, boot):
    """A group of `stacks` has the arguments that `bt` knows of all its tasks, and no others."""
    stacks, texts = program.result(boot.dump, "stacks"), program.text(boot.dump, "stacks")
    traces = {trace["task"]["address"]: trace for trace in program.result(boot.dump, "foreach bt")}
    shared = dropped = 0
    for group in stacks:
        theirs = [traces[task["address"]]["frames"] for task in group["tasks"]]
        for number, frame in enumerate(group["frames"]):
            for place, argument in enumerate(frame.get("args", ())):
                values = [frames[number]["args"][place]["value"] for frames in theirs]
                wanted = values[0] if all(value == values[0] for value in values) else None
                check_equal(argument["value"], wanted,
                            f"{argument['name']} of {frame['symbol']}, group of {group['count']}")
                shared += len(values) > 1 and wanted is not None
                dropped += wanted is None and values[0] is not None
    check(shared and dropped, f"{shared} shared arguments, {dropped} that differ")
    check(re.search(r"^ ?#\d+ \w+\+0x[0-9a-f]+ \(\w+=", texts, re.MULTILINE), "none in text")
    check("=?" not in texts, "unknown ones in text")


def computes_columns(program, boot):
    """Columns of a table may be expressions of the members."""
    rows = program.result(boot.dump, "ps -u | print {pid, mm->total_vm, mm->total_vm*4, "
                                     "pid + tgid, comm == \"init\", $_, $_->pid}")
    check(rows, "no rows")
    for row in rows:
        check_equal(row["mm->total_vm*4"], 4 * row["mm->total_vm"], "total_vm*4")
        check_equal(row["pid + tgid"] - row["pid"] > 0, True, "pid + tgid")
        check_equal(row['comm == "init"'], int(row["pid"] == 1), "comm == init")
        check_equal((row["$_"], row["$_->pid"]), (row["address"], row["pid"]), "$_")
    whole = program.result(boot.dump, "print init_task{pid, prio - 100}")["value"]
    check_equal(whole["prio - 100"], program.value(boot.dump, "init_task.prio") - 100, "prio - 100")
    head, *lines = program.text(boot.dump, "ps 1 | print {pid, mm->total_vm*4}").splitlines()
    check_equal(head.split(), ["address", "pid", "mm->total_vm*4"], "heading")
    for line, word in (("ps | print {pid, nonesuch*4}", "nonesuch"),
                       ("ps | print {pid, mm{total_vm*4}}", "outer braces"),
                       ("ps | print {pid, (mm + 1){pgd}}", "outer braces"),
                       ("ps | print {pid, pid *}", "column")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors and not result.text, f"{line}: {result.errors}{result.text}")


def knows_pids(program, boot):
    """`set base hex` leaves pids decimal; -x and /x of one command do not."""
    lines = program.run(["-q", "-c", "set base hex", "-c", "print init_task{pid, flags}",
                         "-c", "ps 2 | print {pid, tgid, prio}", "-c", "print -x (pid_t)16",
                         "-c", "print/x (pid_t)16", "-c", "print (pid_t)16", "-c", "print (int)16",
                         boot.dump], status=0).text
    check(".pid = 0," in lines and re.search(r"\.flags = 0x[0-9a-f]+ ", lines), lines)
    check(re.search(r"^[0-9a-f]{16} +2 +2 0x78$", lines, re.MULTILINE), lines)
    check_equal(lines.splitlines()[-4:], ["(pid_t)0x10", "(pid_t)0x10", "(pid_t)16", "(int)0x10"],
                "pids in hexadecimal")


def counts_in_decimal(program, boot):
    """What is no integer of the dump's is the same in every base: counts, CPUs, lines, indices."""
    commands = ("ps", "bt -n -a", "stacks", "sys", "sym jiffies", "struct task_struct", "btf",
                "dis schedule 5", "whattype init_task", "foreach 1 task", "whatis init_task")
    decimal, hexadecimal = (
        program.run(["-q", "-c", f"set base {base}", *sum((["-c", c] for c in commands), []),
                     boot.dump], status=0).text for base in ("dec", "hex"))
    check_lines(hexadecimal.splitlines(), decimal.splitlines(), "line")


def names_cpus(program, boot):
    """A set of CPUs looks like no number."""
    for mask, pattern in (("__cpu_present_mask", f"CPUs 0-{boot.cpu_count - 1}"),
                          ("__cpu_dying_mask", "no CPU")):
        text = program.text(boot.dump, f"print {mask}")
        check(f"{{ {pattern} }}" in text, f"{mask}: {text}")


def says_null(program, boot):
    """What is not there is not broken, and leaves nothing half shown."""
    for line, word in (("tree init_task.mm->mm_mt", "a kernel thread has no mm"),
                       ("tree task_struct.se.run_node ((struct rb_root *)0)", "NULL"),
                       ("struct task_struct.foo", "no member foo"),
                       ("struct task_struct.pid,foo", "no member foo")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors and not result.text, f"{line}: {result.errors}{result.text}")
        check("broken" not in result.errors, result.errors)
    check("dimensions" in program.text(boot.dump, "help struct"), "help struct: dimensions")


def reads_text(program, boot):
    """rd -a without a count reads up to the NUL, not a word of it; with one, so many words."""
    texts = [row["text"] for row in program.result(boot.dump, "rd -a linux_banner")]
    banner = program.result(boot.dump, "print linux_banner")["value"]
    check("".join(texts)[:60] == banner[:60] and len("".join(texts)) > 100, f"{texts}")
    whole = program.result(boot.dump, "rd -8 linux_banner 4096")
    size = next(index for index, word in enumerate(word for row in whole for word in row["words"])
                if not int(word, 0))
    check_equal(len("".join(texts)), size, "characters up to the NUL")
    check_equal(len(program.result(boot.dump, "rd -a linux_banner 2")[0]["text"]), 16, "two words")


def answers_habits(program, boot):
    """What fingers type and is not here is answered in one line that says what is."""
    for line, word in (("bt -v", "foreach PID"), ("bt -i", "own rules"), ("bt -D", "own rules"),
                       ("bt -A", "bt -a"), ("bt full", "frame 0"), ("log -s", "safe_print_seq"),
                       ("tree -p", "order"), ("tree -l", "order"), ("tree -N 1", "container_of"),
                       ("task -a", "foreach task"), ("sys config", "`config` has"),
                       ("p/t 5", "four bits"), ("p/c 65", "(char)"), ("p/s linux_banner", "rd -a"),
                       ("p/i schedule", "dis ADDRESS"), ("p/f 1", "fraction"),
                       ("p/8x init_task", "rd ADDRESS COUNT")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors and "FULL" not in result.errors, f"{line}: {result.errors}")
        check_equal(len(result.errors.splitlines()), 1, f"lines of the message of {line}")


def says_missing_in_place(program, boot):
    """Where <unmapped> stands, a task does not fail as another one did besides."""
    result = program.run(["-q", "-c", "foreach kernel print current->mm->pgd", boot.dump], status=1)
    check(result.text.count("<unmapped>") > 5 and "fails as" not in result.text, result.text[:400])
    check("more" in result.errors, result.errors)
    result = program.run(["-q", "-c", "foreach kernel print current->mm->pgd->pgd", boot.dump],
                         status=1)
    check("fails as" in result.text, result.text[:400])


def names_locks(program, boot):
    """whattype of a lock in an object says the lock, and not the integer that it begins with."""
    for place, member, kind in (("alloc_lock", "alloc_lock", "spinlock_t"),
                                ("tasks", "tasks", "struct list_head"),
                                ("tasks.prev", "tasks.prev", "struct list_head *"),
                                ("pid", "pid", "pid_t")):
        address = program.result(boot.dump, f"print &current->{place}")["value"]
        answer = program.result(boot.dump, f"whattype {address}")
        answer = answer[0] if isinstance(answer, list) else answer
        check_equal((answer["member"], answer["member_type"]), (member, kind), place)


def counts_memory(program, boot):
    """MEMORY is what the guest's own /proc/meminfo called MemTotal, whatever the file holds."""
    with open(boot.path("truth/meminfo"), encoding="ascii") as file:
        total = int(re.search(r"^MemTotal: +(\d+) kB$", file.read(), re.MULTILINE)[1]) * 1024
    facts = program.result(boot.dump, "sys")
    check_equal(facts["memory"], total, "memory")
    check(facts["memory_in_dump"] > total, f"memory in the dump: {facts['memory_in_dump']}")


NOT_FOR_EACH = ("ps", "q", "set base hex", "alias a = b", "source /dev/null", "foreach bt", "help",
                "log")


def runs_for_each(program, boot):
    """`foreach` runs any command that looks at the current task, for each task as that one."""
    stacks = program.result(boot.dump, "foreach user bt")
    answers = program.result(boot.dump, "foreach user print current{pid, comm}")
    check_equal([answer["task"] for answer in answers], [stack["task"] for stack in stacks],
                "tasks of foreach user print")
    for answer in answers:
        check_equal((answer["result"]["value"]["pid"], answer["result"]["address"]),
                    (answer["task"]["pid"], answer["task"]["address"]), "current")
    text = program.text(boot.dump, "foreach user print current->pid")
    check_equal(re.findall(r"^PID: (\d+) .*\n.* current->pid = (\d+)$", text, re.MULTILINE),
                [(str(answer["task"]["pid"]),) * 2 for answer in answers], "tasks' lines")
    rows = csv.DictReader(io.StringIO(program.text(
        boot.dump, "foreach user print current{pid, comm} --csv")))
    check_lines([(row["task.pid"], cell(row["task.comm"]), row["value.pid"]) for row in rows],
                [(str(task["pid"]), escaped(task["comm"].encode()), str(task["pid"]))
                 for task in (answer["task"] for answer in answers)], "row")
    head, row = program.text(boot.dump, "foreach --columns value,task.pid 1 "
                                        "print current->pid").splitlines()
    check_equal((head.split(), row.split()), (["value", "task.pid"], ["1", "1"]), "columns")
    listed = program.text(boot.dump, "foreach 1 task | print {pid, comm}").splitlines()[1:]
    check_equal([line.split()[1:] for line in listed], [["1", "init"]], "foreach in a pipe")
    one = ("registers", "dis", "rd current 2", "whattype current", "print $rip",
           "sym current->sched_class", "ptype current", "p/x current->pid + 17", "px current->flags",
           "print current->flags | 4", "list task_struct.sibling current->children -s pid")
    # The last one chooses a frame for all that comes behind.
    one += ("frame 1",)
    lines = [line for command in one for line in (f"foreach 1 {command}", command)]
    got = program.run(["-q", "--json", "-c", "task 1", *sum((["-c", line] for line in lines), []),
                       boot.dump], status=0).objects()[1:]
    for mine, alone in zip(got[::2], got[1::2]):
        check_equal(mine["result"][0]["result"], alone["result"], mine["command"])


def goes_on_for_each(program, boot):
    """One failing task does not end it, and the user's own task is the current one afterwards."""
    line = "foreach 1 2 print current->mm->total_vm"
    whole = parse_json(program.run(["-q", "--json", "-c", line, boot.dump], status=1).out)
    good, bad = whole["result"]
    check(not whole["ok"] and "error" not in good and "NULL" in bad["error"], str(whole))
    lines = program.run(["-q", "-c", "task 2", "-c", line, "-c", "print current->pid", "-c",
                         "foreach 2 1 print current->pid", "-c", "task", boot.dump], status=1)
    check_equal(lines.text.count("PID: "), 6, "tasks' lines")
    check("(pid_t)2" in lines.text or "current->pid = 2" in lines.text, lines.text)
    check_equal(lines.lines[-1], lines.lines[0], "the current task afterwards")
    check("task 2: print: " in lines.errors, lines.errors)
    frames = program.run(["-q", "--json", "-c", "foreach frame 7", boot.dump], status=1)
    answers = parse_json(frames.out)["result"]
    check(any("no frame 7" in answer.get("error", "") for answer in answers) and
          any("result" in answer for answer in answers), "frames of some tasks only")
    for line, word in ([(f"foreach {command}", "cannot be run for each")
                        for command in NOT_FOR_EACH] +
                       [("foreach bt -a", "only -n"), ("foreach bt 1", "foreach 1 bt"),
                        ("foreach user -n bt", "before"),
                        ("foreach print {pid}", "current{pid}"), ("foreach 1 btt", "did you mean"),
                        ('foreach "bt" bt', 'no task "bt"')]):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors and not result.text, f"{line}: {result.errors}{result.text}")
        check_equal(len(result.errors.splitlines()), 1, f"lines of the message of {line}")


def says_equal_messages_once(program, boot):
    """What is wrong with many items alike is said of the first, and counted; JSON has it of each."""
    tasks = program.result(boot.dump, "ps -k")
    for line, first, message in (
            ("ps -k | print nosuch", tasks[0]["address"], "print: column 5: struct task_struct has no "
                                                          'member "nosuch"'),
            ("foreach -k print nosuch", f"task {tasks[0]['pid']}",
             'print: column 1: no symbol or enumerator "nosuch"')):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check_equal(result.errors.splitlines(),
                    [f"btfcrash: {first}: {message}",
                     f"btfcrash: the same of {len(tasks) - 1} more"], line)
        if line.startswith("foreach"):
            check_lines([text for text in result.lines if text and not text.startswith("PID: ")],
                        [f"fails as {first} did"] * (len(tasks) - 1), "what stands below the tasks")
        whole = parse_json(program.run(["-q", "--json", "-c", line, boot.dump], status=1).out)
        check_equal([answer["error"] for answer in whole["result"]], [message] * len(tasks),
                    f"{line} as JSON")
        check(whole["error"].endswith(f"{len(tasks)} of {len(tasks)} failed"), whole["error"])
    # Of two messages by turns the count says which.
    line = "ps | print $_->mm ? nosuch1 : nosuch2"
    lines = program.run(["-q", "-c", line, boot.dump], status=1).errors.splitlines()
    counts = [re.fullmatch(r'btfcrash: print: column \d+: no symbol or enumerator "nosuch([12])": '
                           r"the same of (\d+) more", counted) for counted in lines[2:]]
    check(len(lines) == 4 and all(counts), str(lines))
    check_equal(sorted(count[1] for count in counts), ["1", "2"], "what was counted")
    check_equal(sum(int(count[2]) for count in counts),
                len(program.result(boot.dump, "ps")) - 2, "how often")


def ends_for_each(program, boot):
    """Ctrl-C ends it: the program cannot be done, for nobody reads what it writes."""
    child = subprocess.Popen([program.path, "-q", "-c", "foreach rd current 4096", boot.dump],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=program.environment())
    try:
        check(child.stdout.readline().startswith(b"PID: 0"), "no first task")
        child.send_signal(signal.SIGINT)
        text, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    check_equal(child.returncode, 1, "exit status after Ctrl-C")
    check(b"interrupted" in errors, f"after Ctrl-C: {errors}")
    count = len(program.result(boot.dump, "foreach task"))
    check(text.count(b"PID: ") + 1 < count, f"all {count} tasks were shown")


def asks_for_help(program, boot):
    """COMMAND --help, as programs have it; in an expression too, where -- is C's."""
    for command in ("bt", "print", "list"):
        check_equal(program.text(boot.dump, f"{command} --help"),
                    program.text(boot.dump, f"help {command}"), f"{command} --help")
    for line in ("foreach bt --help", "foreach user bt --help"):
        check_equal(program.text(boot.dump, line), program.text(boot.dump, "help bt"), line)


def takes_kinds_of_tasks(program, boot):
    """crash's `active` is what ran on a CPU, `gleader` one task a process."""
    tasks = program.result(boot.dump, "foreach print current{pid, tgid}")
    on_cpus = {program.result(boot.dump, f"print current:{cpu}")["value"]
               for cpu in range(boot.cpu_count)}
    active = program.result(boot.dump, "foreach active print current->pid")
    check_equal({answer["task"]["address"] for answer in active}, on_cpus, "foreach active")
    leaders = program.result(boot.dump, "foreach gleader print current->pid")
    check_lines([answer["task"]["address"] for answer in leaders],
                [task["task"]["address"] for task in tasks
                 if task["result"]["value"]["pid"] == task["result"]["value"]["tgid"]], "leader")
    both = program.result(boot.dump, "foreach gleader active print current->pid")
    check_equal([answer["task"] for answer in both],
                [answer["task"] for answer in active if answer in leaders], "gleader active")


def says_what_lacks(program, boot):
    """What was left out is named, with a line that works or the name that was meant."""
    for line, words in (("list task_struct.tasks", ("HEAD", "list task_struct.tasks init_task.tasks")),
                        ("list -H task_struct.tasks", ("HEAD",)),
                        ("tree task_struct.se.run_node", ("ROOT", "`tree task_struct.se.run_node r")),
                        ("print (task_struct *)0", ('did you mean "struct task_struct"?',)),
                        ("print *(address_space *)0", ('did you mean "struct address_space"?',)),
                        ("set foo", ("base, ", "raw, pager"))):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(all(word in result.errors for word in words) and not result.text,
              f"{line}: {result.errors}{result.text}")


def looks_for_names(program, boot):
    """A part of a name is no name; what lists names by a part is said."""
    result = program.run(["-q", "-c", "sym jiff", boot.dump], status=1)
    check(result.errors.endswith(" `sym -q jiff` lists the names with it in them\n"), result.errors)


def names_vma_flags(program, boot):
    """Names of a VMA's flags are those of its rights in /proc/PID/maps."""
    compared = 0
    pause, = (line.split()[0] for line in boot.truth("states").splitlines()
              if line.split()[1] == "pause")
    for task in ("1", pause):
        maps = {}
        for line in boot.truth("tasks", task, "maps").splitlines():
            span, rights = line.split()[:2]
            maps[tuple(int(end, 16) for end in span.split("-"))] = rights
        found, = program.result(boot.dump, f"foreach {task} tree vm_area_struct "
                                           "current->mm->mm_mt -s vm_start,vm_end,vm_flags")
        for row in found["result"]:
            names = row["vm_flags_names"]
            rights = maps[(int(row["vm_start"]), int(row["vm_end"]))]
            wanted = [name for name, letter in zip(("read", "write", "exec"), rights)
                      if letter != "-"]
            check_equal([name for name in names if name in ("read", "write", "exec")], wanted,
                        f"rights of {rights}: {names}")
            check_equal("mayshare" in names, rights[3] == "s", f"mayshare of {rights}: {names}")
            compared += 1
    check(compared > 10, f"only {compared} VMAs")
    text = program.text(boot.dump, "foreach 1 tree vm_area_struct current->mm->mm_mt -s vm_flags")
    check(re.search(r" 0x[0-9a-f]+ \(read\|exec\|mayread\|", text), text)


def names_task_flags(program, boot):
    """Names of a task's flags are what else is known of it; what has no name stays a number."""
    seen = set()
    for answer in program.result(boot.dump, "foreach print current{flags, mm, pid, exit_state}"):
        comm, value = answer["task"]["comm"], answer["result"]["value"]
        names, flags = set(value.get("flags_names", ())), value["flags"]
        seen |= names
        check_equal("PF_IDLE" in names, value["pid"] == 0, f"PF_IDLE of {comm}")
        check_equal("PF_KTHREAD" in names, bool(flags & 0x200000), f"PF_KTHREAD of {comm}")
        if int(value["mm"], 16) or not value["exit_state"]:
            check_equal("PF_KTHREAD" in names, not int(value["mm"], 16), f"mm and PF_KTHREAD, {comm}")
        check_equal("PF_EXITING" in names, value["exit_state"] != 0, f"PF_EXITING of {comm}")
        check("PF_WQ_WORKER" in names or not comm.startswith("kworker/"), f"PF_WQ_WORKER of {comm}")
        check_equal("PF_KSWAPD" in names, comm.startswith("kswapd"), f"PF_KSWAPD of {comm}")
    check(seen >= {"PF_IDLE", "PF_KTHREAD", "PF_EXITING", "PF_WQ_WORKER", "PF_KSWAPD",
                   "PF_NO_SETAFFINITY", "PF_RANDOMIZE", "PF_FORKNOEXEC"}, f"only {seen}")
    lines = program.run(["-q", "-c", "print init_task.flags", "-c", "print init_task.flags & 2",
                         "-c", "print -r init_task.flags", "-c", "print -D init_task.flags",
                         "-c", "struct task_struct.flags init_task", boot.dump], status=0).lines
    check(re.search(r" = 0x[0-9a-f]+ \(declared: PF_IDLE\|PF_KTHREAD\b.*\)  //", lines[0]), lines[0])
    check("PF_" not in lines[1] + lines[2], f"{lines[1]} {lines[2]}")
    check(re.search(r" = \d+ \(declared: ", lines[3]), lines[3])
    check(re.search(r"flags = 0x[0-9a-f]+ \(declared: ", lines[4]), lines[4])


def names_page_flags(program, boot):
    """The kernel's table of them says of each bit what BTF's enum does; pages of the slab say so."""
    bits = {item["name"]: item["value"]
            for item in program.result(boot.dump, "enum pageflags")[0]["definition"]["enumerators"]
            if item["name"].startswith("PG_")}
    member = "flags.f" if program.run(["-q", "-c", "print (long)&((struct page *)0)->flags.f",
                                       boot.dump]).status == 0 else "flags"
    first, direct = (int(program.value(boot.dump, f"*(unsigned long *)&{name}"))
                     for name in ("vmemmap_base", "page_offset_base"))
    pages = program.result(boot.dump, f"print ((struct page (*)[64]){first:#x})[0..1400][0].{member}")
    seen = set()
    for page in pages:
        value = int(page.get("value") or 0)
        names = page.get("value_names", [])
        wanted = {bit for bit in bits.values() if value >> bit & 1}
        check_equal({bits["PG_" + name] for name in names}, wanted, f"flags {value:#x}, {names}")
        seen |= set(names)
    check(len(seen) > 3, f"pages have only {seen}")
    if "PG_slab" not in bits:
        return
    for task in program.result(boot.dump, "ps -u")[:5]:
        page = f"((struct page *){first:#x})[({task['address']} - {direct:#x}) >> 12]"
        head = int(program.value(boot.dump, f"{page}.compound_head"))
        if head & 1:
            page = f"(*(struct page *){head - 1:#x})"
        names = program.result(boot.dump, f"print {page}.{member}")["value_names"]
        answer = program.text(boot.dump, f"whattype {task['address']}")
        check("slab" in names and "slab cache" in answer, f"{names}, {answer}")


def finds_tasks_by_name(program, boot):
    """A name does for a pid, if it is one task's; what is no task is not shown as one."""
    names = [task["comm"] for task in program.result(boot.dump, "ps")]
    check_equal(program.text(boot.dump, "bt init"), program.text(boot.dump, "bt 1"), "bt init")
    check_equal(program.result(boot.dump, "task collect")["comm"], "collect", "task collect")
    for name in sorted(name for name in set(names) if names.count(name) > 1)[:1]:
        result = program.run(["-q", "-c", f"bt {name}", boot.dump], status=1)
        check(f"{names.count(name)} tasks are called {name}; `ps {name}`" in result.errors,
              result.errors)
    for line in ("bt jiffies", "task linux_banner", "bt init_net", "bt nosuch"):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(not result.text and ("no task is at 0x" in result.errors
                                   or "no symbol" in result.errors),
              f"{line}: {result.text}{result.errors}")


# What is typed, and the line that it stands for; PID is that of a process with a parent.
VIEWS = (("ps -m", "tasks -o last,state,pid,task,cpu,comm --sort -last"),
         ("ps -l PID 1", "tasks -o last,state,pid,task,cpu,comm --where 'pid IN (PID, 1)' --sort -last"),
         ("ps -t PID", "tasks -o pid,task,cpu,start,utime,stime,comm --where 'pid IN (PID)'"),
         ("ps -a PID", "tasks -o pid,comm,args,env --where 'pid IN (PID)'"),
         ("ps -c 1", "tasks -o pid,ppid,cpu,task,state,rss,vsz,comm --where 'ppid IN (1)' --sort ppid"),
         ("ps -g PID", "tasks -o tgid,pid,task,cpu,state,comm --where 'tgid IN (PID)' --sort tgid"),
         ("ps -r PID", "limits PID"), ("ps -y FIFO", "tasks -o pid,ppid,cpu,task,state,rss,vsz,comm --where \"policy = 'FIFO'\""),
         ("files -R /dev/null", "files -a --where \"path LIKE '%/dev/null%'\""), ("vm -p PID", "userpages PID"),
         ("vm -m PID", "foreach PID print *current->mm"), ("net -s PID", "sockets PID"),
         ("net -a", "neighbours"), ("kmem -f", "freelists --where 'blocks > 0'"), ("kmem -h", "hugepages"), ("kmem -S filp", "objects filp"),
         ("kmem -n", "zones -o node,zone,name,present,managed,free"), ("kmem -o", "print -x __per_cpu_offset"),
         ("dev -d", "disks -o disk,queue,in_flight,reads,writes,name"), ("dev -i", "resources"), ("dev -D", "requests"),
         ("dev -p", "devices --where \"bus = 'pci'\""), ("irq -s", "irqcounts --where 'count > 0'"),
         ("irq -a", "irqs -o irq,affinity,effective,name"), ("irq -b", "softirqs"), ("timer -r", "hrtimers"),
         ("timer -C 0", "timers --where 'cpu IN (0)'"), ("ipcs -s", "ipcs --where \"kind = 'sem'\""), ("runq", "runnable"), ("swap", "swaps"),
         ("sig PID", "signals PID"), ("mount -f", "files -a --where \"type = 'REG'\" --sort path"),
         ("mount -i", "inodes --where \"state LIKE '%dirty%'\""), ("task -R pid,comm", "print current{pid,comm}"))


def shows_views(program, boot):
    """Options of crash's daily work are the lines of tables that help says, with what stands behind them in its place."""
    pid, = (line.split()[0] for line in boot.truth("states").splitlines() if line.split()[1] == "posix-holder")
    pairs = [tuple(word.replace("PID", pid) for word in pair) for pair in VIEWS]
    answers = program.answers(boot.dump, [line for pair in pairs for line in pair])
    for (typed, line), mine, wanted in zip(pairs, answers[::2], answers[1::2]):
        check(mine["ok"] and wanted["ok"], f"{typed}: {mine.get('error')}, {line}: {wanted.get('error')}")
        check_equal(mine["result"], wanted["result"], typed)
        check(mine["result"] or typed in ("dev -D", "mount -i", "ps -y FIFO", f"net -s {pid}"), f"{typed} shows nothing")
    check_equal(program.text(boot.dump, "ps -m | head -3"), "".join(line + "\n" for line in program.text(boot.dump, "ps -m").splitlines()[:3]),
                "ps -m | head")
    for line, word in (("ps -p", "needs PID"), ("ps -m foo", '"foo" is no number'), ("dev -d 1", "nothing stands behind -d"),
                       ("files -R", "needs PATH"), ("ps -t 1;2", "is no number"), ("files -R a\"b", "can stand here")):
        result = program.run(["-q", "-c", line, boot.dump], status=1)
        check(word in result.errors and not result.text, f"{line}: {result.errors}{result.text}")
        check_equal(len(result.errors.splitlines()), 1, f"lines of the message of {line}")
    check_equal(program.result(boot.dump, "files -R it's"), [], "a quote in a path")
    check("ps -m [PID...]" in program.text(boot.dump, "help ps"), "help ps")


def follows_parents(program, boot):
    """ps -p goes up to the first task, ps -c down, ps -S counts: as /proc says of each."""
    by_parent, states = {}, {}
    tasks = program.result(boot.dump, "ps")
    for row in tasks:
        states[row["state"]] = states.get(row["state"], 0) + 1
    for tid, task in boot.tasks.items():
        if tid == task.group:
            by_parent.setdefault(task.parent, set()).add(tid)
    compared = 0
    for tid, task in list(boot.tasks.items())[::10]:
        if tid != task.group or task.state in "ZX" or task.comm in (b"collect", b"init"):
            continue
        chain, at = [tid], tid
        while at in boot.tasks and boot.tasks[at].parent:
            at = boot.tasks[at].parent
            chain.append(at)
        rows = program.result(boot.dump, f"ps -p {tid}")
        check_equal([row["pid"] for row in rows if row["pid"]], chain[::-1], f"parents of {tid}")
        compared += 1
    check(compared > 5, f"only {compared} tasks")
    kernel = {row["pid"] for row in program.result(boot.dump, "ps -c 2")}
    check_equal(by_parent[2] - kernel, set(), "children of kthreadd")
    check_equal({row["state"]: row["tasks"] for row in program.result(boot.dump, "ps -S")}, states, "tasks by state")


TESTS = (("views", shows_views), ("parents and children", follows_parents), ("tasks by name", finds_tasks_by_name),
         ("kinds of tasks", takes_kinds_of_tasks), ("what lacks", says_what_lacks),
         ("--help", asks_for_help), ("parts of names", looks_for_names),
         ("flags of VMAs", names_vma_flags), ("flags of tasks", names_task_flags),
         ("flags of pages", names_page_flags),
         ("a command for each task", runs_for_each), ("one of them fails", goes_on_for_each),
         ("equal messages", says_equal_messages_once),
         ("Ctrl-C in foreach", ends_for_each),
         ("pids", knows_pids), ("counts", counts_in_decimal), ("sets of CPUs", names_cpus), ("NULL", says_null),
         ("a format in a pipe", keeps_format),
         ("tables of frames", tables_of_frames), ("shared arguments", shares_arguments),
         ("computed columns", computes_columns),
         ("frames on a narrow terminal", wraps_frames), ("memory", counts_memory), ("locks", names_locks),
         ("text", reads_text), ("habits", answers_habits), ("missing", says_missing_in_place))


def run(session):
    for boot in boots():
        for name, test in TESTS:
            with session.case(f"{boot.label}: {name}"):
                test(session.program, boot)
