# SPDX-License-Identifier: GPL-3.0-or-later
"""list and tree against what the guests said of the same containers, and against each other."""

import re

from lib import boots, check, check_equal, check_lines, value_of

# Workers come and go by themselves, also between the truth and the crash.
TRANSIENT = re.compile(r"kworker/|ext4lazyinit")


def rows_of(program, boot, command):
    """The rows of a list or tree that must be whole."""
    return program.result(boot.dump, command + " -n 0")


def results_of(program, boot, commands):
    """The results of commands, from one run."""
    answers = program.answers(boot.dump, commands, status=0)
    return [answer["result"] for answer in answers]


def tasks(program, boot, notes):
    """The list of processes, in its order, from its head and from one of its elements."""
    rows = rows_of(program, boot, "list task_struct.tasks init_task.tasks -s comm,pid")
    facts = {row["pid"]: row for row in program.result(boot.dump, "ps")}
    truth = {tid for tid, task in boot.tasks.items() if task.group == tid}
    pids = [row["pid"] for row in rows]
    check_equal(len(set(pids)), len(pids), "different pids")
    for tid in truth ^ set(pids):
        comm = facts[tid]["comm"] if tid in facts else boot.tasks[tid].comm.decode()
        check(TRANSIENT.match(comm), f"{tid}, {comm}: only in one of list and /proc")
    check_lines([row["address"] for row in rows],
                [row["address"] for row in program.result(boot.dump, "ps")
                 if row["pid"] in set(pids)], "task")
    backward = rows_of(program, boot, "list -r task_struct.tasks init_task.tasks")
    check_lines([row["address"] for row in reversed(backward)], [row["address"] for row in rows],
                "task backward")
    by_element = rows_of(program, boot, "list -t struct.task_struct.tasks init_task")
    check_lines([row["address"] for row in by_element[1:]], [row["address"] for row in rows],
                "task after init_task")
    check_equal(int(by_element[0]["address"], 16), boot.address("init_task"), "first element")
    crash = rows_of(program, boot, "list -o task_struct.tasks -s task_struct.comm -h init_task")
    check_lines([row["comm"] for row in crash[1:]], [row["comm"] for row in rows], "comm")
    notes.append(f"{len(rows)} processes")


def children(program, boot, notes):
    """Children by their list are those whose parent it is."""
    parents = {}
    for row in program.result(boot.dump, "ps"):
        parents.setdefault(row["ppid"], set()).add(row["pid"])
    rows = rows_of(program, boot, "list task_struct.sibling init_task.children -s pid,real_parent->pid")
    check_equal({row["pid"] for row in rows}, parents[0] - {0}, "children of init_task")
    check_equal({row["real_parent->pid"] for row in rows}, {0}, "pid of their parent")
    notes.append(f"{len(rows)} children of init_task")


def modules(program, boot, notes):
    rows = rows_of(program, boot, "list module.list modules -s name,state")
    check_lines([row["name"] for row in rows], [name for name, _, _ in boot.modules], "module")
    links = rows_of(program, boot, "list modules")
    offset = int(links[0]["address"], 16) - int(rows[0]["address"], 16)
    check_lines([int(row["address"], 16) - offset for row in links],
                [int(row["address"], 16) for row in rows], "link of module")
    check_equal(program.value(boot.dump, "offsetof(struct module, list)"), offset, "offset")
    notes.append(f"{len(rows)} modules")


def chains(program, boot, notes):
    """Lists of bare pointers: /proc/filesystems and the top level of /proc/iomem."""
    # A hash list where it has no `next` any more.
    has_next = " next; " in program.text(boot.dump, "struct file_system_type")
    command = f"list file_system_type.{'next' if has_next else 'list'} file_systems"
    rows = rows_of(program, boot, command + " -s name,fs_flags")
    text = program.text(boot.dump, command + " -s name")
    names = [line.split("\t")[1] for line in boot.truth("filesystems").splitlines()]
    check_equal(len(rows), len(names), "number of file systems")
    check_lines(re.findall(r'"([^"]+)"', text), names, "file system")
    requires_device = [not line.startswith("nodev")
                       for line in boot.truth("filesystems").splitlines()]
    check_lines([bool(row["fs_flags"] & 1) for row in rows], requires_device, "FS_REQUIRES_DEV")
    regions = rows_of(program, boot, "list resource.sibling iomem_resource.child -s start,end")
    wanted = [tuple(int(number, 16) for number in re.match(r"(\w+)-(\w+) :", line).groups())
              for line in boot.truth("iomem").splitlines() if not line.startswith(" ")]
    check_lines([(row["start"], row["end"]) for row in regions], wanted, "region of memory")
    notes.append(f"{len(rows)} file systems, {len(regions)} regions")


def pids(program, boot, notes):
    """The idr of pids leads to every task, and from each struct pid back to its number."""
    rows = rows_of(program, boot, "tree pid init_pid_ns.idr -s numbers[0].nr,count")
    found = {row["index"] for row in rows}
    check_lines([row["numbers[0].nr"] for row in rows], [row["index"] for row in rows], "nr of pid")
    check_equal([row["index"] for row in rows], sorted(found), "order")
    known = {row["pid"] for row in program.result(boot.dump, "ps") if row["pid"]}
    check(known <= found, f"no struct pid of {sorted(known - found)[:5]}")
    same = rows_of(program, boot, "tree init_pid_ns.idr.idr_rt")
    check_lines([row["address"] for row in same], [row["address"] for row in rows], "entry")
    notes.append(f"{len(rows)} pids")


def maps_of(boot, tid):
    """{start: end} of /proc/TID/maps, without what is no vm_area_struct of the task."""
    lines = boot.tasks[tid].read("maps").decode(errors="replace").splitlines()
    areas = {}
    for line in lines:
        start, end = (int(number, 16) for number in line.split()[0].split("-"))
        # Who looks needs more memory while it does: its heap, and what has no name, may begin or end elsewhere by then.
        grows = boot.tasks[tid].comm == b"collect" and (line.endswith("[heap]") or len(line.split()) < 6)
        if not line.endswith("[vsyscall]") and not grows:
            areas[start] = end
    return areas


def memory_maps(program, boot, notes):
    """The maple tree (before 6.1: the list) of a process's memory is /proc/PID/maps."""
    if "mm_mt" not in program.text(boot.dump, "struct mm_struct"):
        notes.append("no maple trees in this kernel")
        return
    areas = compared = 0
    for row in rows_of(program, boot,
                       "list task_struct.tasks init_task.tasks -s pid,mm,mm->map_count"):
        if row["mm"] in ("0x0", None) or row["pid"] not in boot.tasks:
            continue
        root = f"((struct mm_struct *){row['mm']})->mm_mt"
        rows = rows_of(program, boot, f"tree vm_area_struct {root} -s vm_start,vm_end")
        check_equal(len(rows), row["mm->map_count"], f"map_count of {row['pid']}")
        for area in rows:
            check_equal((area["index"], area["last"] + 1), (area["vm_start"], area["vm_end"]),
                        f"range of an area of {row['pid']}")
        wanted = maps_of(boot, row["pid"])
        areas += len(rows)
        if wanted:
            got = {area["vm_start"]: area["vm_end"] for area in rows}
            if boot.tasks[row["pid"]].comm == b"collect":
                got = {start: end for start, end in got.items() if start in wanted}
            check_lines(list(got.items()), list(wanted.items()), f"area of {row['pid']}")
            compared += 1
    check(compared > 2, f"only {compared} processes with maps")
    notes.append(f"{areas} areas, {compared} processes against /proc/PID/maps")


STACK_AREA = 16384 + 4096  # with its guard page


def vmap_areas(program, boot, notes):
    """The red-black trees of vmalloc hold what /proc/vmallocinfo says (its addresses are hashed)."""
    if boot.addresses.get(("vmap_area_root", "")):
        roots = ["vmap_area_root"]
    else:
        count = program.value(boot.dump, "nr_vmap_nodes")
        roots = [f"vmap_nodes[{i}].busy.root" for i in range(count)]
    sizes = []
    for root in roots:
        rows = rows_of(program, boot, f"tree vmap_area.rb_node {root} -s va_start,va_end")
        starts = [row["va_start"] for row in rows]
        check_equal(starts, sorted(starts), "order")
        sizes += [row["va_end"] - row["va_start"] for row in rows]
    wanted = sorted(int(line.split()[1]) for line in boot.truth("vmallocinfo").splitlines())
    missing = list(wanted)
    for size in sizes:
        if size in missing:
            missing.remove(size)
    # Stacks of tasks come and go, and those of tasks that ended are kept for a while; nothing else does.
    others = [size for size in missing if size != STACK_AREA]
    more = abs(len([size for size in sizes if size != STACK_AREA]) - len([size for size in wanted if size != STACK_AREA]))
    check(len(others) < 4 and more < 4 and len(missing) < len(wanted) / 4,
          f"{len(sizes)} areas, /proc/vmallocinfo had {len(wanted)}; missing {others or missing[:5]}")
    notes.append(f"{len(sizes)} areas, {len(wanted)} in /proc/vmallocinfo")


def page_caches(program, boot, notes):
    """Pages in the xarray of a file are as many as its address_space counts."""
    files = set()
    for row in rows_of(program, boot, "list task_struct.tasks init_task.tasks -s "
                       "mm->exe_file->f_mapping,mm->exe_file->f_mapping->nrpages"):
        mapping = row["mm->exe_file->f_mapping"]
        if mapping and mapping != "0x0":
            files.add((mapping, row["mm->exe_file->f_mapping->nrpages"]))
    pages = 0
    for mapping, count in files:
        rows = rows_of(program, boot,
                       f"tree ((struct address_space *){mapping})->i_pages")
        own = sum(row["last"] - row["index"] + 1 for row in rows
                  if isinstance(row["address"], str))
        check_equal(own, count, f"pages of the mapping at {mapping}")
        pages += own
    check(files and pages, "no file has pages")
    notes.append(f"{len(files)} files, {pages} pages")


def hash_tables(program, boot, notes):
    """All hashed inodes by the hash table are those of the lists of all super blocks."""
    hashed = {row["address"] for row in
              rows_of(program, boot, "list inode.i_hash inode_hashtable -b 1ul<<i_hash_shift")}
    by_list = set()
    blocks = rows_of(program, boot, "list super_block.s_list super_blocks -s s_id")
    for block in blocks:
        head = f"((struct super_block *){block['address']})->s_inodes"
        rows = rows_of(program, boot, f"list inode.i_sb_list {head} -s i_hash.pprev")
        by_list |= {row["address"] for row in rows if row["i_hash.pprev"] != "0x0"}
    fake = by_list - hashed  # inode_fake_hash(): hashed nowhere, but pointing to itself
    check(hashed and hashed <= by_list, f"{len(hashed - by_list)} hashed inodes are in no list")
    for address in sorted(fake)[:5]:
        value = program.value(boot.dump, f"((struct inode *){address})->i_hash.pprev")
        node = program.value(boot.dump, f"&((struct inode *){address})->i_hash")
        check_equal(value, node, f"pprev of the inode at {address}")
    dentries = rows_of(program, boot, "list dentry.d_hash dentry_hashtable "
                       "-b 1ul<<(32-d_hash_shift)")
    sample = program.result(boot.dump, "list dentry.d_hash dentry_hashtable "
                            "-b 1ul<<(32-d_hash_shift) -n 200 -s d_parent->d_inode,d_name.len")
    check(len(dentries) > 100 and all(row["d_name.len"] for row in sample), "dentries")
    notes.append(f"{len(hashed)} hashed inodes of {len(blocks)} super blocks, "
                 f"{len(dentries)} dentries")


def run_queue(program, boot, notes):
    """hlist: the tasks of a struct pid; per-CPU: the timerqueues' trees are in order."""
    row = program.result(boot.dump, "tree pid init_pid_ns.idr -n 1")[0]
    found, = rows_of(program, boot, "list task_struct.pid_links[0] "
                     f"((struct pid *){row['address']})->tasks[0] -s pid")
    check_equal(found["pid"], 1, "pid of the task of the first struct pid")
    timers = 0
    for cpu in range(boot.cpu_count):
        for clock in range(4):
            rows = rows_of(program, boot, "tree hrtimer.node "
                           f"hrtimer_bases:{cpu}.clock_base[{clock}].active -s node.expires")
            expires = [timer["node.expires"] for timer in rows]
            check_equal(expires, sorted(expires), f"order of the timers of CPU {cpu}")
            timers += len(rows)
    check(timers, "no timers")
    notes.append(f"{timers} timers")


def every_cpu(program, boot, notes):
    """NAME:a walks what each CPU has, and says of which CPU a row is."""
    lists, trees = "list task_struct.se.group_node runqueues:{}.cfs_tasks -s pid", \
        "tree hrtimer.node hrtimer_bases:{}.clock_base[0].active"
    for command in lists, trees:
        wanted = [{"cpu": cpu, **row} for cpu in range(boot.cpu_count)
                  for row in rows_of(program, boot, command.format(cpu))]
        check(wanted, f"{command}: nothing")
        check_equal(rows_of(program, boot, command.format("a")), wanted, command)
    lines = program.text(boot.dump, lists.format("a")).splitlines()
    check_equal(lines[0].split(), ["CPU", "ADDRESS", "pid"], "heading")
    running = {row["pid"] for row in program.result(boot.dump, "ps")
               if row["pid"] and (row["state"] == "R" or row["running"])}
    found = {row["pid"]: row["address"] for row in rows_of(program, boot, lists.format("a"))}
    late = [pid for pid in set(found) - running if not stays_queued(program, boot, found[pid])]
    check(found and not late, f"{late} of {found}, running: {running}")
    notes.append(f"{len(found)} tasks")


def stays_queued(program, boot, address):
    """Since 6.12 a task that went to sleep may stay on its queue for a while (DELAY_DEQUEUE)."""
    answer, = program.answers(boot.dump, [f"print ((struct task_struct *){address})->se.sched_delayed"])
    return answer["ok"] and bool(value_of(answer["result"]))


def other_lists(program, boot, notes):
    """plist and llist: lists of another kind seen as one, for idle guests have none that are long."""
    plist, node, tasks_offset = results_of(program, boot, [
        "list task_struct.pushable_tasks '*(struct plist_head *)&init_task.tasks'",
        "print offsetof(struct task_struct, pushable_tasks.node_list)",
        "print offsetof(struct task_struct, tasks)"])
    tasks = rows_of(program, boot, "list task_struct.tasks init_task.tasks")
    shift = tasks_offset["value"] - node["value"]
    check_lines([int(row["address"], 16) for row in plist],
                [int(row["address"], 16) + shift for row in tasks], "plist node")
    llist, modules, head = results_of(program, boot, [
        "list '*(struct llist_head *)&modules'", "list modules", "print &modules"])
    check_lines([row["address"] for row in llist],
                [row["address"] for row in modules] + [head["value"]], "llist node")
    notes.append(f"{len(plist)} and {len(llist)} nodes")


def ends(program, boot, notes):
    """-e: before an element, named by its own address or its node's."""
    head = "task_struct.tasks init_task.tasks"
    rows = rows_of(program, boot, f"list {head}")
    for end in (rows[5]["address"], f"&((struct task_struct *){rows[5]['address']})->tasks"):
        cut = rows_of(program, boot, f"list {head} -e '{end}'")
        check_lines([row["address"] for row in cut], [row["address"] for row in rows[:5]], end)
    notes.append(f"5 of {len(rows)}")


def pipes(program, boot, notes):
    """The type of the items goes through the pipe."""
    rows = rows_of(program, boot, "list task_struct.tasks init_task.tasks -s comm,pid")
    piped = program.result(boot.dump,
                           "list task_struct.tasks init_task.tasks -n 0 | print {comm, pid}")
    check_lines([(row["comm"], row["pid"]) for row in piped],
                [(row["comm"], row["pid"]) for row in rows], "item of the pipe")
    one = program.result(boot.dump, "tree pid init_pid_ns.idr -n 3 | print {level}")
    check_equal(len(one), 3, "items of tree")
    listed = "list -t struct.task_struct.tasks init_task"
    spelled = [f"{listed} | print {form}" for form in (
        "(struct task_struct){comm, pid}", "(struct task_struct *){comm, pid}", "{comm, pid}",
        "{$_->comm, $_->pid}")]
    answers = results_of(program, boot, spelled)
    for command, answer in zip(spelled, answers):
        check_lines([tuple(row.values())[1:] for row in answer],
                    [(row["comm"], row["pid"]) for row in rows_of(
                        program, boot, "list task_struct.tasks -h init_task -s comm,pid")], command)
    nested = program.result(boot.dump, f"{listed} | print mm{{map_count, pgd}}")
    chosen = rows_of(program, boot,
                     "list task_struct.tasks -h init_task -s mm{map_count,pgd}")
    check_lines(nested, chosen, "row of nested members")
    check(any(row["mm.pgd"] is None for row in nested) and any(row["mm.pgd"] for row in nested),
          "a kernel thread has no mm, init has one")
    text = program.text(boot.dump, f"{listed} | print mm{{pgd}}")
    check_equal(text.count("<null>"), sum(row["mm.pgd"] is None for row in nested), "<null>")
    one_by_one = program.result(boot.dump, f"{listed} -n 2 | print (struct list_head)->next")
    check_equal([row["type"] for row in one_by_one], ["struct list_head *"] * 2, "types")
    for wrong in (f"{listed} | print {{comm, nosuch}}", f"{listed} | print (struct nosuch){{comm}}",
                  f"{listed} | print 1 + 2", "list modules | print {name}"):
        result = program.run(["-q", "-c", wrong, boot.dump], status=1)
        check_equal((result.text, len(result.errors.splitlines())), ("", 1),
                    f"output and lines of the message of `{wrong}`")
    notes.append(f"{len(rows)} items")


def limits(program, boot, notes):
    """A limit that was asked for is silent, the other one is said; text has a line each."""
    head = "task_struct.tasks init_task.tasks"
    check_equal(len(program.result(boot.dump, f"list {head} -n 7")), 7, "rows")
    check_equal(len(program.text(boot.dump, f"list {head} -n 7").splitlines()), 7, "lines")
    check_equal(len(program.text(boot.dump, f"list {head} -s pid -n 7").splitlines()), 8, "lines")
    wrong = ("list", "list task_struct init_task.tasks", "list task_struct.comm init_task.tasks",
             "list task_struct.tasks init_task.comm", "list task_struct.tasks 0x1234",
             "list nosuch.tasks init_task.tasks", "list task_struct.nosuch init_task.tasks",
             "list -H -h modules", "list -H init_task", "tree -t xarray init_net", "tree init_task", "tree -t nosuch 0x10", "tree",
             "tree task_struct.comm vmap_area_root", "list modules -s name",
             f"list {head} -s nosuch", f"list {head} -s comm,", "list -H 0x1000",
             "tree -t maple 0x1000", "list module.list -H 0xffffffffffffff00")
    for command in wrong:
        result = program.run(["-q", "-c", command, boot.dump], status=1)
        check_equal(len(result.errors.splitlines()), 1, f"lines of the message of `{command}`")
    broken = program.answers(boot.dump, ["list module.list -H 0x1000"], status=1)[0]
    check(broken["result"][0]["error"] and not broken["ok"], f"a broken list: {broken}")
    notes.append(f"{len(wrong)} wrong commands")


CASES = (
    ("tasks", tasks),
    ("children", children),
    ("modules", modules),
    ("lists of pointers", chains),
    ("idr of pids", pids),
    ("maple trees of memory", memory_maps),
    ("red-black trees of vmalloc", vmap_areas),
    ("xarrays of page caches", page_caches),
    ("hash tables", hash_tables),
    ("hlists and timers", run_queue),
    ("all CPUs", every_cpu),
    ("plists and llists", other_lists),
    ("where lists end", ends),
    ("pipes", pipes),
    ("limits and errors", limits),
)


def run(session):
    for boot in boots():
        for name, test in CASES:
            with session.case(f"{boot.label}: {name}") as notes:
                test(session.program, boot, notes)
