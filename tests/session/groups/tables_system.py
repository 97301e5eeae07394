# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of what tasks and administrators see against what the guest said of it. All rows."""

import collections
import os
import re
import stat

from groups.memory import read_cpio
from lib import Boot, boots, check, check_equal, check_lines, kernel_names, value_of

PAGE = 4096


def tree(boot, name):
    """{PATH: VALUE} of a tree of small files."""
    table = {}
    for line in boot.truth(name).splitlines():
        path, _, value = line.partition(" ")
        table[path] = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
    return table


def limit_of(text):
    return None if text == "max" else int(text)


def cgroups(program, boot, notes):
    """The files of cgroupfs, and of the old hierarchy what tasks say of it."""
    rows = program.result(boot.dump, "cgroups")
    files = tree(boot, "cgroup_tree")
    folders = {"/" + path.rpartition("/")[0] for path in files}
    # What is removed has no files, and keeps what is counted as its own.
    gone = [row for row in rows if row["dying"]]
    count = int(re.search(r"^nr_dying_descendants (\d+)", files["cgroup.stat"], re.M)[1])
    check_equal([(row["path"], row["tasks"]) for row in gone], [("/gone", 0)] * count, "cgroups that were removed")
    # 7.x gives the pages to the one above.
    check(count == 1 or boot.kernel.startswith("7."), "truth: no cgroup was removed")
    check(all(int(row["memory"]) >= 4 << 16 for row in gone), f"{gone}")
    unified = {row["path"]: row for row in rows if not row["hierarchy"] and not row["dying"]}
    check_equal(set(unified), folders, "cgroups")
    check(len(unified) >= 3, "truth: no cgroups")
    # 7.x counts what is refused in old hierarchies only.
    full, is_event = {}, "track_failcnt" in program.text(boot.dump, "struct page_counter")
    for path, row in unified.items():
        def said(name, path=path):
            return files.get(f"{path}/{name}".lstrip("/"))
        controllers = said("cgroup.controllers").split()
        check(set(controllers) <= set(row["controllers"].split(",")), f"controllers of {path}: {row['controllers']}")
        # Nobody enables perf_event: all have it.
        if path != "/":
            check_equal(set(row["controllers"].split(",")) - {"perf_event"}, set(controllers), f"controllers of {path}")
        if path == "/":
            check_equal((row["memory"], row["pids"], row["level"]), (None, None, 0), "the root")
            continue
        check_equal(row["level"], path.count("/"), f"level of {path}")
        check_equal(row["tasks"], len(said("cgroup.threads").split()), f"tasks of {path}")
        check_equal(row["frozen"], int(said("cgroup.freeze")), f"frozen {path}")
        check_equal([row[name] for name in ("high", "max", "pids", "pids_max", "memory")],
                    [limit_of(said(name)) for name in ("memory.high", "memory.max", "pids.current", "pids.max", "memory.current")],
                    f"limits and use of {path}")
        # Where it is counted, so is each try to charge more at once than was asked for; it is counted below a limit only.
        hits = int(re.search(r"\bmax (\d+)", said("memory.events.local"))[1])
        failures = int(row["failcnt"])
        is_exact = is_event or (not hits and row["max"] is None)
        check(failures == hits if is_exact else failures >= hits, f"{path} hit its limit {hits} times, not {failures}")
        full[path] = hits
    check(full.get("/tests/full"), f"truth: no limit was hit: {full}")
    limits = [row[name] for row in unified.values() for name in ("high", "max", "pids_max")]
    check({48 << 20, 96 << 20, 40} <= set(limits), f"truth: no limits: {limits}")
    old = sorted((row["name"] or "", row["path"], row["level"], row["frozen"]) for row in rows if row["hierarchy"])
    check_equal(old, [("", "/", 0, 0), ("", "/cold", 1, 1), ("named", "/", 0, None), ("named", "/old", 1, None)], "old hierarchies")
    notes.append(f"{len(rows)} cgroups")


def links(task, name):
    try:
        text = task.read(name).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return {}
    return dict(line.split(" ", 1) for line in text.splitlines())


KINDS = ("mnt", "uts", "ipc", "pid", "user", "net", "cgroup", "time")


def namespaces(program, boot, notes):
    """The links of /proc/PID/ns of all tasks."""
    wanted = {}
    for tid, task in boot.tasks.items():
        for name, target in links(task, "namespaces").items():
            if name in KINDS:
                wanted.setdefault((name, int(re.search(r"\d+", target).group())), set()).add(tid)
    rows = program.result(boot.dump, "namespaces")
    check_equal({(row["type"], row["ino"]) for row in rows}, set(wanted), "namespaces")
    check_equal(len(rows), len(wanted), "rows")
    for row in rows:
        held = wanted[row["type"], row["ino"]]
        # Those of the few tasks that stay; init's go on changing.
        if 1 not in held:
            check_equal((row["tasks"], row["pid"] in held), (len(held), True), f"tasks of {row}")
    check(len(rows) > len(KINDS) + 3, "truth: one namespace each")
    notes.append(f"{len(rows)} namespaces")


def superblocks(program, boot, notes):
    """Devices and types of all mounts, which filesystem is frozen, and all pages that files have."""
    rows = program.result(boot.dump, "superblocks")
    got = {row["dev"]: row for row in rows}
    check_equal(len(got), len(rows), "devices")
    mounted = {}
    for task in boot.tasks.values():
        try:
            text = task.read("mountinfo").decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            continue
        for line in text.splitlines():
            left, _, right = line.partition(" - ")
            mounted[left.split()[2]] = right.split()[0]
    check(len(mounted) > 10, "truth: no mounts")
    check_equal({device: got[device]["type"] for device in mounted if device in got}, mounted, "types")
    check_equal([(row["type"], row["id"]) for row in rows if row["frozen"]], [("ext4", "loop0")], "frozen")
    check_equal(program.result(boot.dump, "sql SELECT DISTINCT superblock FROM mounts EXCEPT SELECT superblock FROM superblocks"),
                [], "superblocks of mounts")
    notes.append(f"{len(rows)} superblocks, {len(mounted)} mounted")


def filesystems(program, boot, notes):
    rows = program.result(boot.dump, "filesystems")
    check_lines([f"{'nodev' if row['nodev'] else ''}\t{row['name']}" for row in rows],
                boot.truth("filesystems").splitlines(), "filesystem")
    notes.append(f"{len(rows)} types")


def swaps(program, boot, notes):
    rows = program.result(boot.dump, "swaps")
    wanted = []
    for line in boot.truth("swaps").splitlines()[1:]:
        path, _, size, used, priority = line.split()
        wanted.append((path, int(size) * 1024, int(used) * 1024, int(priority)))
    check_equal([(row["path"], row["size"], row["used"], row["prio"]) for row in rows], wanted, "swap")
    check(wanted and wanted[0][2], "truth: no swap in use")
    notes.append(f"{rows[0]['used'] // PAGE} pages in use")


def keys(program, boot, notes):
    """Those that the guest's root may see."""
    rows = {row["serial"]: row for row in program.result(boot.dump, "keys")}
    lines = boot.truth("keys").splitlines()
    for line in lines:
        serial, flags, usage, _, perm, uid, gid, kind, description = line.split(None, 8)
        row = rows.get(int(serial, 16))
        check(row, f"no key {serial}")
        check_equal((row["usage"], row["perm"], row["uid"]), (int(usage), int(perm, 16), int(uid)), f"key {serial}")
        # There, one that is nobody's is the overflow's.
        check(row["gid"] == int(gid) or int(gid) == 65534, f"group of {serial}: {row['gid']}, {gid}")
        # A long name of a type is cut.
        check(row["type"].startswith(kind) and description.startswith(row["description"]), f"key {serial}: {row}, {line}")
        check_equal(("R" in flags, "D" in flags, "Q" in flags),
                    tuple(word in row["flags"] for word in ("revoked", "dead", "quota")), f"flags of {serial}")
    check(lines, "truth: no keys")
    notes.append(f"{len(rows)} keys, {len(lines)} seen")


def algorithms(program, boot, notes):
    wanted, one = [], {}
    for line in boot.truth("crypto").splitlines() + [""]:
        name, _, value = line.partition(":")
        if name.strip():
            one.setdefault(name.strip(), value.strip())
        elif one:
            wanted.append((one["name"], one["driver"], "" if one["module"] == "kernel" else one["module"],
                           int(one["priority"]), int(one["refcnt"])))
            one = {}
    rows = program.result(boot.dump, "algorithms")
    check_lines([(row["name"], row["driver"], row["module"] or "", row["priority"], row["refcnt"]) for row in rows],
                wanted, "algorithm")
    notes.append(f"{len(rows)} algorithms")


def hugepages(program, boot, notes):
    files = tree(boot, "hugepages")
    rows = program.result(boot.dump, "hugepages")
    check_equal({row["name"] for row in rows}, {path.split("/")[0] for path in files}, "pools")
    for row in rows:
        check_equal(row["size"], int(re.search(r"(\d+)kB", row["name"])[1]) * 1024, "size")
        for column, name in (("nr_hugepages", "nr_hugepages"), ("free", "free_hugepages"), ("resv", "resv_hugepages"),
                             ("surplus", "surplus_hugepages"), ("overcommit", "nr_overcommit_hugepages")):
            check_equal(row[column], int(files[f"{row['name']}/{name}"]), f"{column} of {row['name']}")
    check(any(row["nr_hugepages"] > row["free"] for row in rows), "truth: no huge page in use")
    notes.append(f"{len(rows)} sizes")


def filelocks(program, boot, notes):
    """Held ones and waiting ones; of these, for whom."""
    wanted, holder = [], None
    for line in boot.truth("locks").splitlines():
        words = line.replace("-> ", "").split()
        kind, kind_of, pid, place, start, end = words[1], words[3], int(words[4]), words[5], words[6], words[7]
        holder = holder if "->" in line else pid
        wanted.append((kind, kind_of, pid, int(place.split(":")[2]), int(start), None if end == "EOF" else int(end),
                       holder if "->" in line else None))
    rows = program.result(boot.dump, "filelocks")
    owners = {row["lock"]: row["pid"] for row in rows}
    got = [(row["kind"], row["type"], row["pid"], row["ino"], row["start"], row["end"],
            row["blocker"] and owners[row["blocker"]]) for row in rows]
    check_equal(sorted(got, key=str), sorted(wanted, key=str), "locks")
    check(len(wanted) >= 4, "truth: no locks")
    check_equal({row["path"] for row in rows}, {"/tmp/flock", "/tmp/posix-lock"}, "paths")
    notes.append(f"{len(rows)} locks")


def softirqs(program, boot, notes):
    """They go on until the end."""
    lines = boot.truth("softirqs").splitlines()
    wanted = {}
    for line in lines[1:]:
        name, *counts = line.replace(":", "").split()
        for cpu, count in enumerate(counts):
            wanted[cpu, name] = int(count)
    rows = {(row["cpu"], row["name"]): row for row in program.result(boot.dump, "softirqs")}
    check_equal(set(rows), set(wanted), "softirqs of CPUs")
    for key, count in wanted.items():
        check(count <= rows[key]["count"] <= count + 20000, f"{key}: {rows[key]['count']}, it was {count}")
        check(rows[key]["pending"] in (0, 1), f"pending: {rows[key]}")
    notes.append(f"{len(rows)} rows")


LETTERS = {"enabled": "E", "consdev": "C", "boot": "B", "printbuffer": "p", "anytime": "a", "brl": "b", "nbcon": "N"}


def consoles(program, boot, notes):
    rows = program.result(boot.dump, "consoles")
    wanted = []
    for line in boot.truth("consoles").splitlines():
        name, _, letters = re.match(r"(\S+)\s+(\S+) \((.*?)\)", line).groups()
        wanted.append((name, sorted(letters.replace(" ", ""))))
    check_equal([(row["name"], sorted(LETTERS[word] for word in row["flags"].split(",") if word in LETTERS)) for row in rows],
                wanted, "consoles")
    last = program.result(boot.dump, "messages --sort -seq -n 1")[0]["seq"]
    # Until 5.19 all consoles have one place in the log.
    check(all(row["seq"] is None or 0 < row["seq"] <= last + 1 for row in rows), f"{rows}: the log ends at {last}")
    notes.append(f"{len(rows)} consoles")


def runqueues(program, boot, notes):
    if not os.path.exists(os.path.join(boot.folder, "truth", "sched_debug")):
        notes.append("this kernel has no sched/debug")
        return
    rows = program.result(boot.dump, "runqueues")
    check_equal([row["cpu"] for row in rows], list(range(boot.cpu_count)), "CPUs")
    switches = {int(cpu): int(count) for cpu, count in
                re.findall(r"cpu#(\d+),.*?\.nr_switches +: (\d+)", boot.truth("sched_debug"), re.S)}
    running = {row["cpu"]: row["pid"] for row in program.result(boot.dump, "tasks") if row["running"]}
    stops = collections.Counter(row["cpu"] for row in program.result(boot.dump, "runnable") if row["class"] == "stop")
    for row in rows:
        check(switches[row["cpu"]] <= row["nr_switches"] <= 1.5 * switches[row["cpu"]] + 5000, f"switches: {row}, {switches}")
        check_equal(row["pid"], running[row["cpu"]], f"who runs on CPU {row['cpu']}")
        check_equal(row["nr_running"], row["cfs"] + row["rt"] + row["dl"] + stops[row["cpu"]], f"sum of {row}")
    check(sum(row["nr_running"] for row in rows) >= 1, "nobody wants to run")
    notes.append(f"{len(rows)} CPUs")


def works(program, boot, notes):
    """Delayed ones are the timers'; the kernel counts those that its queues have, and its workers."""
    rows = program.result(boot.dump, "works")
    delayed = collections.Counter((row["cpu"], row["function"], row["expires"]) for row in rows if row["state"] == "delayed")
    timers = collections.Counter((row["cpu"], row["work"], row["expires"]) for row in program.result(boot.dump, "timers")
                                 if row["function"] == "delayed_work_timer_fn")
    check_equal(delayed, timers, "delayed works and timers")
    check(len(timers) > 5 and all(row["workqueue"] for row in rows), f"works without queues: {rows}")
    queues = {row["wq"]: row for row in program.result(boot.dump, "workqueues")}
    running = collections.Counter(row["wq"] for row in rows if row["state"] in ("running", "pending"))
    # Barriers and those behind them are on the list, but do not count.
    for queue, row in queues.items():
        check(running[queue] >= row["nr_active"], f"{row['name']}: {row['nr_active']} active, {running[queue]} seen")
    pools = program.result(boot.dump, "pools")
    busy = collections.Counter(row["pool"] for row in rows if row["state"] == "running")
    pending = collections.Counter(row["pool"] for row in rows if row["state"] == "pending")
    for pool in pools:
        check_equal((pool["nr_workers"] - pool["nr_idle"] >= busy[pool["pool"]], pool["pending"]), (True, pending[pool["pool"]]),
                    f"pool {pool}")
    check_equal([row for row in pools if row["cpu"] >= boot.cpu_count], [], "pools of CPUs that are not there")
    said = {line.split()[1] for line in boot.truth("buses").splitlines() if line.startswith("workqueue ")}
    shown = {row["name"] for row in queues.values() if "sysfs" in row["flags"].split(",")}
    check_equal(said - {row["name"] for row in queues.values()}, set(), "queues of /sys/bus/workqueue")
    check_equal(shown, said, "queues that sysfs shows")
    rescuers = {row["pid"] for row in queues.values() if row["pid"]}
    for pid in rescuers:
        check(boot.tasks[pid].comm.startswith(b"kworker/R-") or not boot.tasks[pid].comm.startswith(b"kworker"),
              f"rescuer {pid} is {boot.tasks[pid].comm}")
    check(rescuers, "no queue has a rescuer")
    notes.append(f"{len(rows)} works, {len(queues)} queues, {len(pools)} pools")


def ipcs(program, boot, notes):
    """All columns of /proc/sysvipc that the table has."""
    rows = program.result(boot.dump, "ipcs")
    got = {(row["kind"], row["id"]): (row["key"], row["perms"], row["uid"], row["gid"], row["ctime"]) for row in rows}
    wanted, sizes = {}, {}
    for kind, number in (("shm", "shmid"), ("sem", "semid"), ("msg", "msqid")):
        names, *lines = (line.split() for line in boot.truth("sysvipc", kind).splitlines())
        for line in lines:
            said = dict(zip(names, line))
            key = kind, int(said[number])
            wanted[key] = int(said["key"]), said["perms"], int(said["uid"]), int(said["gid"]), int(said["ctime"])
            sizes[key] = {"shm": lambda: (int(said["size"]), int(said["nattch"]), int(said["cpid"]), int(said["lpid"])),
                          "sem": lambda: (None, int(said["nsems"]), None, None),
                          "msg": lambda: (int(said["cbytes"]), int(said["qnum"]), int(said["lspid"]) or None,
                                          int(said["lrpid"]) or None)}[kind]()
    check_equal(got, wanted, "objects")
    check_equal({(row["kind"], row["id"]): (row["size"], row["entries"], row["cpid"], row["lpid"]) for row in rows}, sizes, "sizes")
    check(len(rows) >= 3, "truth: no IPC")
    notes.append(f"{len(rows)} objects")


def devices(program, boot, notes):
    rows = program.result(boot.dump, "devices")
    wanted = sorted(boot.truth("buses").splitlines())
    got = sorted(f"{row['bus']} {row['name']} {row['driver'] or '-'}" for row in rows)
    check_lines(got, wanted, "device of /sys/bus")
    check(len(wanted) > 50, "truth: no devices")
    notes.append(f"{len(rows)} devices")


def disks(program, boot, notes):
    """/proc/diskstats, and sizes. The truth is written to one of them until the end."""
    rows = {row["name"]: row for row in program.result(boot.dump, "disks")}
    wanted = {}
    for line in boot.truth("diskstats").splitlines():
        major, minor, name, *counts = line.split()
        wanted[name] = f"{major}:{minor}", [int(count) for count in counts]
    check_equal(set(rows), set(wanted), "disks")
    sizes = dict(line.split(" ", 2)[::2] for line in boot.truth("disks").splitlines() if line.split(" ")[1] == "size")
    for name, (device, counts) in wanted.items():
        row = rows[name]
        check_equal((row["dev"], row["size"]), (device, int(sizes[name]) * 512), f"{name}")
        got = [row["reads"], row["read"] // 512, row["read_time"] // 10 ** 6, row["writes"], row["written"] // 512,
               row["write_time"] // 10 ** 6]
        then = [counts[at] for at in (0, 2, 3, 4, 6, 7)]
        check(all(now >= before for now, before in zip(got, then)), f"{name}: {got}, it was {then}")
        if not any(then):
            check_equal(got, then, name)
    check(rows["vda"]["written"] and any(not row["reads"] for row in rows.values()), "truth: no disk at work")
    check_equal(len(program.result(boot.dump, "requests")), sum(row["in_flight"] for row in rows.values()), "requests in flight")
    check_equal(len(program.result(boot.dump, "iocommands")), sum(row["in_flight"] for row in rows.values()), "commands in flight")
    notes.append(f"{len(rows)} disks")


def stuck_works(program, boot, notes):
    """What the module `stuck` says of its works, and who runs them."""
    wanted, behind = {}, []
    for line in boot.truth("stuck").splitlines():
        _, comm, kind, address, owner = line.split()
        if comm == "flush-behind":
            behind.append(int(address, 16))
        elif kind == "work":
            wanted[int(address, 16)] = int(owner)
    rows = {int(row["work"], 16): row for row in program.result(boot.dump, "works --where \"state = 'running'\"")}
    # Its queue runs one work at a time.
    kept = {int(row["work"], 16): row for row in program.result(boot.dump, "works --where \"state = 'inactive'\"")}
    check_equal([kept[address]["workqueue"] for address in behind if address in kept], ["flush_ordered"], "works that are kept back")
    check_equal({address: rows[address]["pid"] for address in wanted if address in rows}, wanted, "works that run")
    check(len(wanted) >= 2, "truth: no works")
    for address in wanted:
        check(rows[address]["workqueue"].startswith("flush_") and rows[address]["function"].endswith("[stuck]"), f"{rows[address]}")
    notes.append(f"{len(wanted)} works that run")


# What guest/audits.c uses of kernel include/uapi/linux/audit.h.
AUDIT_LISTS = {1: "task", 4: "exit", 5: "exclude"}
AUDIT_ACTIONS = {0: "never", 2: "always"}
AUDIT_OPERATORS = {0x40000000: "=", 0x30000000: "!=", 0x10000000: "<", 0x60000000: ">="}
AUDIT_FIELDS = {1: "uid", 5: "gid", 9: "auid", 108: "filetype", 11: "arch", 12: "msgtype", 103: "exit", 104: "success", 105: "path", 106: "perm", 107: "dir", 210: "key"}
AUDIT_PERMS = ((4, "r"), (2, "w"), (1, "x"), (8, "a"))


def audit_field(text):
    """As auditctl has it, of "NUMBER OPERATOR VALUE"."""
    number, operator, value = text.split(" ", 2)
    name = AUDIT_FIELDS[int(number)]
    if name == "arch":
        value = hex(int(value))
    elif name in ("exit", "auid"):
        value = str(int(value) - (1 << 32))
    elif name == "filetype":
        value = {stat.S_IFREG: "file"}[int(value)]
    elif name == "perm":
        value = "".join(letter for bit, letter in AUDIT_PERMS if int(value) & bit)
    return name + AUDIT_OPERATORS[int(operator, 16)] + value


def audit(program, boot, notes):
    """What guest/audits.c was told by the kernel: rules by list, and auditctl -s."""
    wanted = []
    for line in boot.truth("audit", "rules").splitlines():
        listed, action, syscalls, fields = line.split("|", 3)
        wanted.append((AUDIT_LISTS[int(listed)], AUDIT_ACTIONS[int(action)], syscalls, " ".join(map(audit_field, fields.split(";")))))
    rows = program.result(boot.dump, "auditrules")
    check_equal([(row["list"], row["action"], row["syscalls"], row["fields"]) for row in rows], wanted, "rules")
    check_equal([row["key"] for row in rows if row["key"]], ["btfcrash", "watch"], "keys")
    check(len(wanted) == 7, f"truth: {len(wanted)} rules")
    # Records that nobody takes are in the log at once; the rest does not change.
    said = {name: int(value) for name, value in (line.split() for line in boot.truth("audit", "status").splitlines())}
    got = {row["name"]: row["value"] for row in program.result(boot.dump, "audit")}
    check_equal({name: got[name] for name in said}, said, "state")
    check_equal(got["call_rules"], sum(row["list"] in ("task", "exit") for row in rows), "rules of calls and tasks")
    notes.append(f"{len(wanted)} rules, {len(said)} values")


LAG = 128  # pages, a CPU


def charged(program, boot, notes):
    """Pages lead to the cgroup that they are charged to, whose counter has them; one whose processes are gone keeps its pages, up to 6.x."""
    charges = {row["memcg"]: row["n"] for row in program.result(boot.dump, "sql SELECT memcg, count(*) AS n FROM pages WHERE memcg IS NOT NULL GROUP BY memcg")}
    groups = {row["memcg"]: row for row in program.result(boot.dump, "cgroups -o path,memcg,memory,dying") if row["memcg"]}
    check_equal(set(charges) - set(groups), set(), "pages of what is no cgroup")
    for path in ("/tests/full", "/gone"):
        group, = [row for row in groups.values() if row["path"] == path] or [None]
        if path == "/gone" and not group:
            check(boot.kernel.startswith("7."), "truth: /gone is gone")
            continue
        used = int(group["memory"]) / PAGE
        # What slabs have for it, and what CPUs have set aside, are no pages of its own.
        check(0.8 * used <= charges[group["memcg"]] <= used, f"{path}: {charges[group['memcg']]} pages of {used}")
    root, = [row["memcg"] for row in groups.values() if row["path"] == "/"]
    check(charges[root] > sum(charges.values()) / 2, f"{charges}")
    notes.append(f"{len(charges)} cgroups have {sum(charges.values())} pages")


def pages(program, boot, notes):
    """Each file's address_space counts its pages; blocks that are free, slabs and reserved pages are counted elsewhere."""
    rows = program.result(boot.dump, "pages -o page,type,mapping,head,flag_names")
    by_page = {row["page"]: row for row in rows}
    firsts = [by_page[row["head"]] if row["head"] else row for row in rows]
    owners = collections.Counter(first["mapping"] for first in firsts)
    data = int(program.result(boot.dump, "print (long)&((struct inode *)0)->i_data")["value"])
    files = {f"0x{int(row['inode'], 16) + data:x}": int(row["cached"]) // PAGE for row in program.result(boot.dump, "inodes -o inode,cached")}
    files = {mapping: count for mapping, count in files.items() if count}
    check_equal({mapping: owners[mapping] for mapping in files}, files, "pages of files")
    slabs = sum(first["type"] == "slab" for first in firsts)
    # What a cache gave back, RCU may have yet to free: of bio-192, in which the guest's last writes were.
    late = slabs - sum(int(row["size"]) for row in program.result(boot.dump, "slabs -o size")) // PAGE
    check(slabs > 1000 and 0 <= late <= LAG, f"{late} more pages of slabs than caches have")
    reserved = sum("reserved" in row["flag_names"].split(",") for row in rows)
    check(0 < reserved < len(rows) / 2 and len(files) > 10, f"{reserved} reserved pages, {len(files)} files")
    notes.append(f"{len(rows)} pages, {sum(files.values())} of {len(files)} files, {slabs} of slabs, {late} of them given back, {reserved} reserved")


def inodes(program, boot, notes):
    """Open files are among them; all pages of files are what the kernel counts; names are mappings'."""
    sums, = program.result(boot.dump, f"sql SELECT count(*) AS n, sum(cached) / {PAGE} AS pages FROM inodes")
    counted = program.value(boot.dump, "vm_node_stat[NR_FILE_PAGES].counter")
    # Until 5.12 it is counted elsewhere, and is small.
    answer, = program.answers(boot.dump, ["print vm_node_stat[NR_SWAPCACHE].counter"])
    swap = value_of(answer["result"]) if answer["ok"] else 0
    check(abs(counted - swap - sums["pages"]) <= 2 * LAG * boot.cpu_count, f"{sums}, the kernel has {counted}, {swap} of them swap's")
    per = {row["superblock"]: (row["inodes"], row["cached"]) for row in program.result(boot.dump, "superblocks") if row["inodes"]}
    got = program.result(boot.dump, "sql SELECT superblock, count(*) AS n, sum(cached) AS cached FROM inodes GROUP BY superblock")
    check_equal({row["superblock"]: (row["n"], row["cached"]) for row in got}, per, "inodes of superblocks")
    lost = program.result(boot.dump, "sql SELECT f.path FROM files f LEFT JOIN inodes i ON i.inode = f.inode "
                          "WHERE f.type = 'REG' AND f.path NOT LIKE '%memfd%' AND (i.inode IS NULL OR i.ino <> f.ino OR i.type <> f.type)")
    check_equal(lost, [], "files that are open")
    names = program.result(boot.dump, "sql SELECT DISTINCT m.path, i.name, i.cached FROM mappings m JOIN inodes i ON i.ino = m.ino "
                           "WHERE i.filesystem = 'rootfs' AND m.path = i.name")
    check({"/bin/busybox", "/bin/states"} <= {row["name"] for row in names} and all(row["cached"] for row in names),
          f"names: {names}")
    gone = program.result(boot.dump, "inodes --where \"nlink = 0 and type = 'REG' and filesystem = 'tmpfs'\"")
    check(any(row["size"] == len("deleted") for row in gone), f"the deleted file: {gone}")
    notes.append(f"{sums['n']} inodes, {sums['pages']} pages")


def dentries(program, boot, notes):
    """The kernel's own sums of names; the names that the guest read, and those of its initial file system."""
    rows = program.result(boot.dump, "dentries -o dentry,filesystem,superblock,type,count,unused,name,path,inode,ino")
    every, unused, negative = (sum(program.value(boot.dump, f"{name}:a")) for name in
                               ("nr_dentry", "nr_dentry_unused", "nr_dentry_negative"))
    check_equal(sum(row["unused"] for row in rows), unused, "names that nobody uses")
    check_equal(sum(row["unused"] and row["type"] == "negative" for row in rows), negative, "unused names of no files")
    said = int(tree(boot, "sysctl")["fs/dentry-state"].split()[4])
    check_equal(any(row["type"] == "negative" for row in rows), said > 0, "names of no files")
    # Pipes, sockets and files without a name are in no folder.
    check(0 <= every - len(rows) < 200, f"{len(rows)} names of {every}")
    check_equal(len({row["dentry"] for row in rows}), len(rows), "names that come once")
    check(all(row["path"] == "/" or row["path"].rpartition("/")[2] == row["name"] for row in rows), "ends of paths")
    paths = collections.defaultdict(dict)
    for row in rows:
        paths[row["filesystem"]][row["path"]] = row["type"]
    wanted = {"/" + name for name in read_cpio(os.path.join(boot.folder, "..", "initrd")) if re.fullmatch(r"[\w./+-]+", name)}
    check_equal({path for path in wanted if paths["rootfs"].get(path) != "REG"}, set(), "files of the initial file system")
    # The collector looked at these shortly before; memory was not short.
    for kind, name, top in (("proc", "sysctl", "/sys/"), ("cgroup2", "cgroup_tree", "/")):
        files = {top + path for path in tree(boot, name)}
        missing = {path for path in files if paths[kind].get(path) != "REG"}
        check_equal(missing, set(), f"names of {kind}")
        wanted |= files
    inodes = {row["inode"]: row["ino"] for row in program.result(boot.dump, "inodes -o inode,ino")}
    check(all(inodes.get(row["inode"]) == row["ino"] for row in rows if row["inode"]), "inodes of names")
    notes.append(f"{len(rows)} names of {every}, {negative} negative; {len(wanted)} that the guest knew")


def majors(program, boot, notes):
    """/proc/devices and /proc/misc; of those with a struct cdev, that it has the number."""
    rows = program.result(boot.dump, "majors -o type,major,minor,minors,cdev,operations,name")
    kinds, kind = {"char": [], "block": []}, None
    for line in boot.truth("devices").splitlines():
        head, words = re.match(r"(Character|Block) devices:", line), line.split()
        if head:
            kind = {"Character": "char", "Block": "block"}[head[1]]
        elif words:
            kinds[kind].append((int(words[0]), words[1]))
    for kind, wanted in kinds.items():
        check_equal(sorted({(row["major"], row["name"]) for row in rows if row["type"] == kind}), sorted(set(wanted)), f"{kind} devices")
    misc = sorted((int(words[0]), words[1]) for words in map(str.split, boot.truth("misc").splitlines()))
    check_equal(sorted((row["minor"], row["name"]) for row in rows if row["type"] == "misc"), misc, "misc devices")
    check_equal({row["operations"] for row in rows if row["name"] == "ttyS" or row["name"] == "mem"}, {"tty_fops", "memory_fops"}, "operations")
    counted = 0
    for row in rows:
        if row["cdev"]:
            device, count = (program.value(boot.dump, f"((struct cdev *){row['cdev']})->{name}") for name in ("dev", "count"))
            number = row["major"] << 20 | row["minor"]
            check(device <= number < device + count, f"{row}: the cdev has {device:#x}, {count} numbers")
            counted += 1
    check(counted > 8 and len(misc) > 5, f"{counted} cdevs")
    notes.append(f"{len(rows)} rows, {counted} cdevs, {len(misc)} misc devices")


CASES = (("works are timers' and queues'", works), ("ipcs are /proc/sysvipc", ipcs), ("devices are /sys/bus", devices),
         ("disks are /proc/diskstats", disks), ("inodes are open files and the page cache", inodes),
         ("pages are those that files count", pages), ("dentries are the kernel's sums and names", dentries),
         ("majors are /proc/devices and misc", majors), ("cgroups are cgroupfs", cgroups), ("pages are charged to cgroups", charged), ("namespaces are /proc/PID/ns", namespaces),
         ("superblocks are those of mountinfo", superblocks), ("filesystems are /proc/filesystems", filesystems),
         ("swaps are /proc/swaps", swaps), ("keys are /proc/keys", keys), ("algorithms are /proc/crypto", algorithms),
         ("hugepages are /sys/kernel/mm/hugepages", hugepages), ("filelocks are /proc/locks", filelocks),
         ("softirqs are /proc/softirqs", softirqs), ("consoles are /proc/consoles", consoles),
         ("runqueues are sched/debug", runqueues))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
    for kernel in kernel_names():
        session.cases(Boot(kernel, "stuck"), (("works that are stuck", stuck_works), ("audit is what the kernel said to auditctl", audit)))
