# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of what the kernel holds against what the guest said: /proc of every task, all rows."""

import collections
import ipaddress
import os
import re
import sqlite3

from lib import Boot, Failure, boots, check, check_equal, check_lines, kernel_names, unescaped

# What init and the shell behind it, or the collector itself, have open as they crash the machine.
BUSY = re.compile(rb"init|collect")


def links(task, name):
    """{NAME: TARGET} of a folder of links in /proc/TID; None: it was not to be read."""
    path = os.path.join(task.folder, name)
    if not os.path.exists(path):
        return None
    table = {}
    for line in task.read(name).decode("utf-8", "surrogateescape").splitlines():
        key, _, target = line.partition(" ")
        table[key] = target
    return table


def is_settled(task):
    """Whether its files and mappings were the same when the machine died."""
    return not BUSY.match(task.comm) and task.state not in "ZX"


def by_task(rows):
    table = {}
    for row in rows:
        table.setdefault(row["pid"], []).append(row)
    return table


def files(program, boot, notes):
    """The descriptors of every process, and where they lead."""
    rows = by_task(program.result(boot.dump, "files -a"))
    count = 0
    for tid, task in sorted(boot.tasks.items()):
        wanted = links(task, "files")
        if wanted is None or tid != task.group or not is_settled(task):
            continue
        got = {str(row["fd"]): row["path"] for row in rows.get(tid, ())}
        check_equal(got, wanted, f"files of {tid}, {task.comm}")
        count += len(wanted)
    check(count > 100, f"only {count} open files")
    notes.append(f"{count} open files")


def read_maps(task):
    found = []
    for line in task.read("maps").decode("utf-8", "surrogateescape").splitlines():
        words = line.split(None, 5)
        start, end = (int(number, 16) for number in words[0].split("-"))
        found.append((start, end, words[1], int(words[2], 16), int(words[4]),
                      words[5] if len(words) > 5 else ""))
    return found


def mappings(program, boot, notes):
    rows = by_task(program.result(boot.dump, "mappings -a"))
    count = 0
    for tid, task in sorted(boot.tasks.items()):
        if tid != task.group or not is_settled(task) or not os.path.exists(os.path.join(task.folder, "maps")):
            continue
        got = [(int(row["start"], 16), int(row["end"], 16), row["perms"], row["offset"] or 0,
                row["ino"] or 0, row["path"]) for row in rows.get(tid, ())]
        # It stands behind all, and is no mapping of the process.
        wanted = [one for one in read_maps(task) if one[5] != "[vsyscall]"]
        # What was never a file has an offset of another meaning.
        wanted = [one if one[4] else (*one[:3], 0, *one[4:]) for one in wanted]
        check_equal(got, wanted, f"mappings of {tid}, {task.comm}")
        check(all(row["size"] == int(row["end"], 16) - int(row["start"], 16) for row in rows.get(tid, ())),
              f"sizes of {tid}")
        count += len(wanted)
    check(count > 100, f"only {count} mappings")
    notes.append(f"{count} mappings")


def read_mountinfo(task):
    """By id: (parent, path, the mount's options, type, source)."""
    table = {}
    for line in task.read("mountinfo").decode("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        words, (kind, source, *_) = left.split(), right.split()
        table[int(words[0])] = (int(words[1]), words[4], words[5], kind, source)
    return table


def mounts(program, boot, notes):
    """Those of the namespace of each task, by what /proc/TID/ns/mnt says."""
    spaces = {}
    for row in program.result(boot.dump, "mounts"):
        space = spaces.setdefault(row["namespace"], {})
        check(row["id"] not in space, f"mount {row['id']} comes twice")
        space[row["id"]] = (row["parent"], row["path"], row["options"], row["type"], row["source"])
    seen = set()
    for tid, task in sorted(boot.tasks.items()):
        spaces_of = links(task, "namespaces") or {}
        word = spaces_of.get("mnt")
        if not word or not os.path.exists(os.path.join(task.folder, "mountinfo")) or word in seen:
            continue
        seen.add(word)
        wanted = read_mountinfo(task)
        got = spaces.get(int(re.search(r"\d+", word).group()))
        check(got, f"no mounts of {word}, the namespace of {tid}")
        # A read-only superblock is its own matter there: the mount's options stand alone.
        for number in wanted:
            check(number in got, f"mount {number} of {word} is missing: {wanted[number]}")
            check_equal(got[number][1:], wanted[number][1:], f"mount {number} of {word}")
            # The root's parent lies outside.
            if got[number][1] != "/":
                check_equal(got[number][0], wanted[number][0], f"parent of mount {number}")
        extra = {number: got[number] for number in set(got) - set(wanted)}
        # What lies below the task's own root is not told to it: the first mount of a namespace.
        check(all(mount[0] == number for number, mount in extra.items()), f"there is no {extra}")
    check(seen, "truth: no mounts")
    notes.append(f"{len(seen)} namespaces, {sum(map(len, spaces.values()))} mounts")


POLICIES = {0: "NORMAL", 1: "FIFO", 2: "RR", 3: "BATCH", 5: "IDLE", 6: "DEADLINE", 7: "EXT"}
RSS_LAG = 64 * 4096  # bytes, a CPU
TICK = 10_000_000  # nanoseconds of a tick in /proc/TID/stat


def compare_task(row, task):
    """One that has not run since: its /proc/TID/status and stat."""
    status, stat = task.status, task.read("stat").rpartition(b") ")[2].split()
    check_equal((row["tgid"], row["ppid"], row["uid"]),
                (task.group, task.parent, int(status["Uid"].split()[0])), "tgid, ppid and uid")
    check_equal((row["prio"] - 100, row["nice"]), (int(stat[15]), int(stat[16])), "prio and nice")
    check_equal(row["policy"], POLICIES[int(stat[38])], "policy")
    check_equal(row["start"] // TICK, int(stat[19]), "start")
    # The kernel scales what it counted in ticks to what it measured: it does not here.
    check(row["utime"] >= 0 and row["stime"] >= 0, "times below zero")
    check_equal((row["mm"] != "0x0"), int(stat[20]) > 0, "an address space")
    if "VmSize" in status and is_settled(task):
        check_equal(row["vsz"], 1024 * int(status["VmSize"].split()[0]), "size")
    # What /proc/TID/stat calls the CPU it ran on last is where it got one last, after it began.
    check(row["last"] is None or int(row["last"]) >= 0 <= int(row["run_delay"]), f"times of {row}")
    path = os.path.join(task.folder, "cgroup")
    if os.path.exists(path):
        unified = [line[3:] for line in task.read("cgroup").decode().splitlines() if line.startswith("0::")]
        check_equal([row["cgroup"]], unified, "cgroup")


def tasks(program, boot, notes):
    rows = program.result(boot.dump, "tasks")
    by_pid = {row["pid"]: row for row in rows if row["pid"]}
    listed = program.result(boot.dump, "ps")
    check_equal([(row["pid"], row["task"], row["comm"], row["state"]) for row in rows],
                [(row["pid"], row["address"], row["comm"], row["state"]) for row in listed], "tasks of ps")
    same = 0
    for tid, task in sorted(boot.tasks.items()):
        row = by_pid.get(tid)
        if not row or (row["switches"], row["preemptions"]) != task.switches or row["running"]:
            continue
        try:
            compare_task(row, task)
        except Failure as failure:
            raise Failure(f"{tid}, {task.comm}: {failure}") from None
        same += 1
    check(same > 60, f"only {same} tasks have not run since the truth")
    notes.append(f"{same} tasks that have not run since")


STATES = {1: "ESTABLISHED", 3: "SYN_RECV", 5: "FIN_WAIT2", 6: "TIME_WAIT", 7: "CLOSE", 8: "CLOSE_WAIT", 10: "LISTEN"}
UNIX_STATES = {1: "CLOSE", 3: "ESTABLISHED"}  # SS_UNCONNECTED, SS_CONNECTED
SO_ACCEPTCON = 0x10000
UNIX_TYPES = {1: "STREAM", 2: "DGRAM", 5: "SEQPACKET"}


def read_internet(boot, name, family):
    """By inode: (family, state, local, remote)."""
    table = {}
    for line in boot.truth("net", name).splitlines()[1:]:
        words = line.split()
        ends = []
        for word in words[1:3]:
            digits, port = word.split(":")
            # Words of 32 bits in the machine's order.
            data = b"".join(bytes.fromhex(digits[at:at + 8])[::-1] for at in range(0, len(digits), 8))
            address = ipaddress.ip_address(data)
            ends.append(f"[{address}]:{int(port, 16)}" if address.version == 6 else f"{address}:{int(port, 16)}")
        table[int(words[9])] = (family, STATES[int(words[3], 16)], *ends)
    return table


def userpages(program, boot, notes):
    """What is in memory is what mm_struct counts as resident, but for huge pages and what CPUs and, up to 6.1, threads have not added up yet; runs fill mappings."""
    rows = program.result(boot.dump, "sql SELECT u.pid, sum(u.size) FILTER (WHERE u.state = 'present' AND u.path NOT LIKE '%hugepage%') AS present, sum(u.size) AS size, "
                          "count(*) AS runs, t.rss, (SELECT count(*) FROM tasks o WHERE o.mm = t.mm) AS threads FROM userpages u JOIN tasks t ON t.task = u.task GROUP BY u.task")
    sizes = program.result(boot.dump, "sql SELECT pid, sum(size) AS size FROM mappings GROUP BY pid ORDER BY pid")
    check_equal(sorted((row["pid"], row["size"]) for row in rows), [(row["pid"], row["size"]) for row in sizes], "sizes of all mappings")
    check_equal([row for row in rows if abs(row["present"] - row["rss"]) > RSS_LAG * (boot.cpu_count + row["threads"])], [], "pages in memory")
    same = sum(row["present"] == row["rss"] for row in rows)
    check(len(rows) > 20 and same > len(rows) * 0.9, f"{same} of {len(rows)} are equal")
    swapped, = program.result(boot.dump, "sql SELECT count(*) AS n FROM userpages WHERE state = 'swapped' AND swap_offset IS NOT NULL")
    notes.append(f"{len(rows)} processes, {same} with as many pages, {sum(row['runs'] for row in rows)} runs, {swapped['n']} swapped")


def sockets(program, boot, notes):
    rows = program.result(boot.dump, "sockets -a")
    wanted = {}
    for name, family in (("tcp", "INET"), ("udp", "INET"), ("raw", "INET"), ("tcp6", "INET6"), ("udp6", "INET6"), ("raw6", "INET6")):
        wanted.update(read_internet(boot, name, family))
    internet = {row["ino"]: (row["family"], row["state"], row["local"], row["remote"]) for row in rows
                if row["family"] in ("INET", "INET6")}
    wanted.pop(0, None)  # nobody holds them
    check_equal(internet, wanted, "sockets of /proc/net/tcp, udp, raw, tcp6, udp6, raw6")
    unix = {row["ino"]: (row["type"], row["state"], row["local"] or "") for row in rows
            if row["family"] == "UNIX"}
    wanted = {}
    for line in boot.truth("net", "unix").splitlines()[1:]:
        words = line.split(None, 7)
        state = "LISTEN" if int(words[3], 16) & SO_ACCEPTCON else UNIX_STATES[int(words[5], 16)]
        wanted[int(words[6])] = (UNIX_TYPES[int(words[4], 16)], state, words[7] if len(words) > 7 else "")
    check_equal(unix, wanted, "sockets of /proc/net/unix")
    check(len(internet) > 4 and len(unix) > 2, "truth: no sockets")
    # What came of connections, and is not yet read; the end of one counts.
    full = {int(words[9]) for words in map(str.split, boot.truth("net", "tcp").splitlines()[1:])
            if words[3] != "0A" and int(words[4].split(":")[1], 16)}
    check(full, "truth: nothing waits to be read")
    check_equal({row["ino"] for row in rows if row["received"] and row["state"] != "LISTEN"}, full,
                "who has something to read")
    # The same by descriptors: what files calls a socket.
    held = sorted((row["pid"], row["fd"]) for row in program.result(boot.dump, "files -a") if row["type"] == "SOCK")
    check_equal(sorted((row["pid"], row["fd"]) for row in rows), held, "descriptors")
    notes.append(f"{len(internet)} and {len(unix)} of UNIX")


def read_interrupts(boot):
    """By number: (sum, the rest of the line)."""
    lines = boot.truth("interrupts").splitlines()
    cpus, table = len(lines[0].split()), {}
    for line in lines[1:]:
        number, _, rest = line.strip().partition(":")
        if number.isdigit():
            words = rest.split(None, cpus)
            table[int(number)] = (sum(map(int, words[:cpus])), " ".join(words[cpus].split()))
    return table


def irqs(program, boot, notes):
    rows = {row["irq"]: row for row in program.result(boot.dump, "irqs")}
    wanted = read_interrupts(boot)
    for number, (count, rest) in wanted.items():
        row = rows.get(number)
        check(row, f"no interrupt {number}")
        check(rest.startswith(row["chip"]) and rest.endswith(row["name"] or ""), f"{number}: {row} is {rest}")
        # They went on until the end, some thousand of them.
        check(count <= row["count"] <= count + 10000, f"{number}: {row['count']}, it was {count}")
    extra = [row for number, row in rows.items() if number not in wanted]
    check(not any(row["name"] or row["count"] for row in extra), f"there is no {extra}")
    # The function that does the work: where the handler only wakes a thread (with PREEMPT_RT most), that one's.
    handled = [row for row in rows.values() if int(row["action"] or "0", 16)]
    lines = [f"print ((struct irqaction *){row['action']})->{member}" for row in handled for member in ("handler", "thread_fn")]
    places = [int(answer["result"]["value"], 16) for answer in program.answers(boot.dump, lines)]
    names = {address: name for address, _, name, _ in boot.symbols}
    threads = 0
    for row, handler, thread in zip(handled, places[::2], places[1::2]):
        is_woken = thread and names.get(handler) in ("irq_default_primary_handler", "irq_nested_primary_handler")
        threads += bool(is_woken)
        check_equal(row["handler"].split(" ")[0], names.get(thread if is_woken else handler), f"handler of {row['irq']}")
    notes.append(f"{len(wanted)} interrupts, {len(extra)} that nobody handles, {threads} that threads handle")


def netdevs(program, boot, notes):
    spaces = {}
    for row in program.result(boot.dump, "netdevs"):
        spaces.setdefault(row["namespace"], []).append(row)
    own = re.search(r"\d+", links(boot.tasks[1], "namespaces")["net"]).group()
    rows = spaces.get(int(own), [])
    wanted = [line.split(":")[0].strip() for line in boot.truth("net", "dev").splitlines()[2:]]
    check_equal([row["name"] for row in rows], wanted, "devices")
    inet6 = {}
    for line in boot.truth("net", "if_inet6").splitlines():
        digits, index, prefix, _, _, name = line.split()
        inet6.setdefault((int(index, 16), name), set()).add(
            (ipaddress.IPv6Address(int(digits, 16)), int(prefix, 16)))
    for row in rows:
        addresses = [ipaddress.ip_interface(word) for word in row["addresses"].split()]
        got = {(one.ip, one.network.prefixlen) for one in addresses if one.version == 6}
        check_equal(got, inet6.get((row["ifindex"], row["name"]), set()), f"IPv6 of {row['name']}")
    loopback = rows[0]
    check_equal((loopback["name"], loopback["flags"], loopback["mtu"], loopback["addresses"].split()[0]),
                ("lo", "UP,LOOPBACK", 65536, "127.0.0.1/8"), "the loopback")
    notes.append(f"{len(rows)} devices, {sum(map(len, inet6.values()))} IPv6 addresses, {len(spaces)} namespaces")


def slabs(program, boot, notes):
    """What allocates went on until the end; most caches did not change."""
    wanted = {}
    for line in boot.truth("slabinfo").splitlines()[2:]:
        words = line.split()
        wanted[words[0]] = tuple(map(int, words[1:4]))
    rows = program.result(boot.dump, "slabs")
    got = {row["name"]: (row["active_objs"], row["num_objs"], row["objsize"]) for row in rows}
    check_equal(set(got), set(wanted), "caches")
    check_equal({name: one[2] for name, one in got.items()}, {name: one[2] for name, one in wanted.items()},
                "sizes")
    same = sum(got[name] == wanted[name] for name in wanted)
    check(same > len(wanted) * 0.8, f"only {same} of {len(wanted)} caches have as many objects")
    check(all(row["active_objs"] <= row["num_objs"] for row in rows), "more active objects than objects")
    notes.append(f"{len(wanted)} caches, {same} with as many objects")


def vmallocs(program, boot, notes):
    """Addresses are hashed there: sizes and who asked. The dying kernel may have mapped more."""
    rows = program.result(boot.dump, "vmallocs")
    got = collections.Counter((row["size"], (row["function"] or "").split()[0].split("+")[0]) for row in rows)
    wanted = collections.Counter()
    for line in boot.truth("vmallocinfo").splitlines():
        words = line.split()
        if len(words) > 2 and "+0x" in words[2]:
            wanted[int(words[1]), words[2].split("+")[0]] += 1
    missing = wanted - got
    check(missing.total() <= 3, f"missing: {missing.most_common(5)}")
    check(rows and wanted.total() > 100, "truth: no areas")
    notes.append(f"{len(rows)} areas, {wanted.total()} there, {missing.total()} gone since")


def zones(program, boot, notes):
    wanted, name = {}, None
    for line in boot.truth("zoneinfo").splitlines():
        head = re.match(r"Node (\d+), zone +(\w+)", line)
        if head:
            name = int(head.group(1)), head.group(2)
        words = line.split()
        if name and len(words) == 2 and words[0] in ("min", "low", "high", "present", "managed"):
            wanted.setdefault(name, {}).setdefault(words[0], int(words[1]) * 4096)
    wanted = {name: facts for name, facts in wanted.items() if facts["present"]}
    rows = program.result(boot.dump, "zones")
    check_equal({(row["node"], row["name"]): {key: row[key] for key in wanted[row["node"], row["name"]]}
                 for row in rows}, wanted, "zones")
    check(all(0 < row["free"] <= row["managed"] and row["largest"] <= row["free"] for row in rows),
          "what is free")
    notes.append(f"{len(rows)} zones")


def memory(program, boot, notes):
    """/proc/meminfo, which was read some seconds before: sizes that hardly move, but for the inodes of what read the rest of /proc."""
    said = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in boot.truth("meminfo").splitlines()}
    rows = program.result(boot.dump, "memory")
    kinds = {row["kind"]: row["bytes"] for row in rows}
    check_equal(kinds["all"], said["MemTotal"], "all memory")
    check_equal(sum(kinds.values()) - kinds["all"], kinds["all"], "the sum of the kinds")
    # As MemFree is made: what CPUs keep is not in it.
    check_equal(kinds["free"], sum(row["free"] for row in program.result(boot.dump, "zones")), "free memory")
    for kind, name in (("anonymous memory", "AnonPages"), ("tmpfs and shared memory", "Shmem"), ("reclaimable slabs", "SReclaimable"),
                       ("unreclaimable slabs", "SUnreclaim"), ("page tables", "PageTables"), ("kernel stacks", "KernelStack"),
                       ("per-CPU memory", "Percpu")):
        check(abs(kinds[kind] - said[name]) <= max(said[name] / 5, 1 << 20) or kind == "reclaimable slabs" and kinds[kind] > said[name],
              f"{kind}: {kinds[kind]}, {name} {said[name]}")
    check_equal(program.result(boot.dump, "kmem -i"), rows, "kmem -i")
    for option, table in (("-s", "slabs"), ("-p", "pages"), ("-v", "vmallocs"), ("-z", "zones"), ("init_task", "whattype init_task"),
                          ("-s dentry", "slabs --where \"name = 'dentry'\"")):
        check_equal(program.result(boot.dump, "kmem " + option), program.result(boot.dump, table), "kmem " + option)
    notes.append(f"{len(rows)} kinds")


def resident(program, boot, notes):
    """The kernel's own figure lags by what CPUs have not added up yet, or, up to 6.1, by what 64 faults of each thread brought."""
    by_thread = program.answers(boot.dump, ["struct task_rss_stat"])[0]["ok"]
    groups = collections.Counter(task.group for task in boot.tasks.values())
    rows = {row["pid"]: row for row in program.result(boot.dump, "tasks")}
    far, count = [], 0
    for tid, task in boot.tasks.items():
        row = rows.get(tid)
        if not row or "VmRSS" not in task.status or (row["switches"], row["preemptions"]) != task.switches:
            continue
        count += 1
        wanted = int(task.status["VmRSS"].split()[0]) * 1024
        # A fault maps up to 16 pages of a file.
        lag = RSS_LAG * 16 * groups[task.group] if by_thread else RSS_LAG * boot.cpu_count
        if abs(row["rss"] - wanted) > lag:
            far.append((tid, row["rss"], wanted))
    check(count > 50 and not far, f"{len(far)} of {count}: {far[:5]}")
    notes.append(f"{count} tasks")


def looks(program, boot):
    """Columns that are asked for, a number of rows, pipes, tasks by name."""
    # kthreadd has none, and all that is printed is not a heading.
    none = program.run(["-q", "-c", "set 2", "-c", "sockets", boot.dump], status=0).text
    check(none.endswith("none of PID 2 (-a: of all tasks)\n"), f"no sockets: {none}")
    # Where pages are missing, as of 6.12's init in what Debian 12 filters, nobody knows.
    unknown = program.run(["-q", "-c", "set 1", "-c", "sockets", boot.path("vmcore.zlib")])
    check(("none of" in unknown.text) != ("left out" in unknown.errors), f"{unknown.text}{unknown.errors}")
    lines = program.text(boot.dump, "files -a -o path,fd,pid -n 3").splitlines()
    check_equal(lines[0].split(), ["PATH", "FD", "PID"], "heading")
    check_equal(len(lines), 4, "lines")
    row, = program.result(boot.dump, "files 1 -o fd,path -n 1")
    check_equal(list(row), ["fd", "path"], "columns")
    rows = program.result(boot.dump, "files -a")
    check_equal(program.result(boot.dump, "files -a --where \"type = 'CHR' and fd > 1\""),
                [row for row in rows if row["type"] == "CHR" and row["fd"] > 1], "--where")
    check_equal([row["path"] for row in program.result(boot.dump, "files -a --sort -path")],
                sorted((row["path"] for row in rows), key=lambda path: path.encode(), reverse=True),
                "--sort")
    check_equal(program.result(boot.dump, "files 1 --sort -fd -n 1 -o fd,pid"), [{"fd": 10, "pid": 1}], "-n")
    check_equal(program.text(boot.dump, "files 1 --where 1"), program.text(boot.dump, "files 1"), "looks")
    counts = program.result(boot.dump, "files 1 --where 'fd < 100 -- all' | print f_flags")
    check_equal(len(counts), len(program.result(boot.dump, "files 1")), "items")
    check_equal(program.result(boot.dump, "files 2"), [], "files of kthreadd")
    check_equal(program.result(boot.dump, "mappings 2"), [], "mappings of kthreadd")
    check_equal(program.text(boot.dump, "mount"), program.text(boot.dump, "mounts"), "crash's word")
    check_equal(program.text(boot.dump, "vm 1"), program.text(boot.dump, "mappings 1"), "crash's word")
    check_equal(program.text(boot.dump, "foreach 1 files").splitlines()[1:],
                program.text(boot.dump, "files 1").splitlines(), "foreach")
    for line, word in (("mounts -o nonesuch", 'no column "nonesuch"; there are mount, id, '),
                       ("mounts -o id,id", "column id is named twice"),
                       ("files --sort nonesuch", 'no column "nonesuch"'), ("files --where x", "no such column: x"),
                       ("files --where '1); SELECT 1; --'", "one statement"), ("files -a 1", "then none is named"), ("mounts -n 0", '"0" is not a number of rows')):
        errors = program.run(["-q", "-c", line, boot.dump], status=1).errors
        check(word in errors, f"{line}: {errors}")


def asks(program, boot):
    """SQL gives what the tables give, by whatever way rows are found, and does nothing else."""
    def answer(text):
        return program.result(boot.dump, "sql " + text)

    rows, maps = (program.result(boot.dump, name + " -a") for name in ("files", "mappings"))
    check_equal(answer("SELECT * FROM files"), rows, "all rows")
    for pid in sorted({row["pid"] for row in rows})[:12]:
        check_equal(answer(f"SELECT * FROM files WHERE pid = {pid}"),
                    [row for row in rows if row["pid"] == pid], f"rows of {pid}")
    check_equal(answer("SELECT * FROM files WHERE pid = 0 OR pid = 999999"), [], "rows of nobody")
    check_equal(answer("SELECT * FROM files WHERE path = '/dev/null'"),
                [row for row in rows if row["path"] == "/dev/null"], "rows by text")
    check_equal(answer("SELECT fd FROM files WHERE path = '/DEV/null' COLLATE NOCASE"),
                [{"fd": row["fd"]} for row in rows if row["path"] == "/dev/null"], "another collation")
    check_equal(answer("SELECT fd FROM files WHERE fd = 2.0 OR fd = '2'"),
                [{"fd": 2} for row in rows if row["fd"] == 2], "rows by another kind of value")
    check_equal(answer("SELECT fd FROM files WHERE path = NULL OR fd = NULL"), [], "rows of NULL")
    counts = {}
    for row in maps:
        if row["path"]:
            counts[row["path"]] = counts.get(row["path"], 0) + row["size"]
    wanted = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    found = answer("SELECT path, sum(size) AS bytes FROM mappings WHERE path <> '' GROUP BY path "
                   "ORDER BY bytes DESC, path")
    check_equal([(row["path"], row["bytes"]) for row in found], wanted, "sums")
    pairs = [(one["pid"], other["vma"]) for one in rows for other in maps
             if one["pid"] == other["pid"] and one["fd"] == 0]
    found = answer("SELECT f.pid, m.vma FROM files f JOIN mappings m ON f.pid = m.pid WHERE f.fd = 0")
    check_equal(sorted((row["pid"], row["vma"]) for row in found), sorted(pairs), "a join")
    row, = answer("SELECT pid, pid, count(*), addr(255), 1.5, NULL FROM files")
    check_equal(list(row), ["pid", "pid_2", "count(*)", "addr(255)", "1.5", "NULL"], "names")
    # A text, which may be any: with exact integers it is not to be taken for an address.
    check_equal((row["addr(255)"], row["1.5"], row["NULL"]), ("\\x30xff", 1.5, None), "kinds")
    check_equal(program.text(boot.dump, "sql SELECT addr(255) AS a").split(), ["A", "0xff"], "addr()")
    check_equal(len(program.result(boot.dump, "sql SELECT file FROM files WHERE pid = 1 | print f_flags")),
                sum(row["pid"] == 1 for row in rows), "items of a pipe")
    check_equal({row["name"] for row in program.result(boot.dump, "sql")} >= {"files", "mappings", "mounts"},
                True, "list of tables")
    for line, word in (("DELETE FROM files", "may not be modified"), ("ATTACH '/etc/passwd' AS x", "only SELECT"),
                       ("PRAGMA database_list", "only SELECT"), ("CREATE TABLE x(y)", "only SELECT"),
                       ("SELECT load_extension('x')", "not authorized"), ("SELECT", "incomplete input"),
                       ("SELECT nonesuch FROM files", "no such column: nonesuch"),
                       ("SELECT * FROM nonesuch", "no such table: nonesuch"),
                       ("WITH RECURSIVE t(x) AS (SELECT zeroblob(1e7) UNION ALL SELECT x FROM t) "
                        "SELECT * FROM t ORDER BY x", "this takes more than")):
        errors = program.run(["-q", "-c", "sql " + line, boot.dump], status=1).errors
        check(word in errors, f"{line}: {errors}")
    # What the last one was given: as much as the guest had (384 MiB or more), and no more than SQLite ever gets.
    bound = int(re.search(r"more than (\d+) MiB", errors)[1])
    check(300 <= bound <= 512, f"SQLite got {bound} MiB")


QUERY_SECONDS = 1  # of processor, each


def helps(program, boot, notes):
    """Each query of `help sql` runs, in time, and most have something to say."""
    lines = [line for line in program.result(boot.dump, "help sql")["examples"] if line.startswith("sql SELECT") or "'SELECT" in line]
    check(len(lines) >= 20, f"only {len(lines)} queries")
    full, slowest = 0, 0
    for line in lines:
        ran = program.run(["-q", "--csv", "-c", line, boot.dump], status=0)
        full += len(ran.lines) > 1
        slowest = max(slowest, ran.processor)
        check(program.is_sanitized or ran.processor <= QUERY_SECONDS, f"{line} takes {ran.processor:.2f} s")
    check(full >= 15, f"only {full} of {len(lines)} have rows")
    check_equal(program.result(boot.dump, "sql .tables"), program.result(boot.dump, "sql"), ".tables")
    listed = {row["name"]: row["columns"].split() for row in program.result(boot.dump, "sql")}
    schema = program.result(boot.dump, "sql .schema")
    check_equal({name: [row["column"] for row in schema if row["table"] == name] for name in listed}, listed, ".schema")
    check_equal(program.result(boot.dump, "sql .schema zones"), [row for row in schema if row["table"] == "zones"], ".schema zones")
    for line, word in ((".schema nonesuch", "no table"), (".read /etc/passwd", "there are .tables"), (".tables x", "there are .tables")):
        check(word in program.run(["-q", "-c", "sql " + line, boot.dump], status=1).errors, line)
    notes.append(f"{len(lines)} queries, {full} with rows, {slowest:.2f} s the slowest")


def as_stored(value, is_text):
    """A value of JSON as a database has it: addresses are integers with a sign."""
    if isinstance(value, str) and not is_text:
        number = int(value, 16)
        return number - (1 << 64) if number >> 63 else number
    # Each escapes what it must: the bytes behind them are the same.
    return unescaped(value) if is_text and value is not None else value


def writes_database(program, boot, notes):
    """--sqlite: all rows of all tables are what `sql` says."""
    path = os.path.join(program.scratch, "tables 'of' a.db")
    told = program.run(["-q", boot.dump, "--sqlite", path], status=0).text
    database = sqlite3.connect(path)
    check_equal(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity")
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_schema")]
    check_equal(names, [row["name"] for row in program.result(boot.dump, "sql")], "tables")
    count = 0
    for name in names:
        kinds = [row[2] for row in database.execute(f"PRAGMA table_info({name})")]
        stored = database.execute(f"SELECT * FROM {name}").fetchall()
        texts = "".join(value for row in stored for value in row if isinstance(value, str))
        check(not re.search(r"[\x00-\x1f\x7f]", texts), f"{name}: control characters")
        rows = [tuple(row.values()) for row in program.result(boot.dump, f"sql SELECT * FROM {name}")]
        for number, pair in enumerate(zip(stored, rows)):
            if len(pair[0]) == len(pair[1]) and all(one == other or as_stored(one, kind == "TEXT") == as_stored(other, kind == "TEXT")
                                                    for one, other, kind in zip(*pair, kinds)):
                rows[number] = pair[0]
        check_lines(stored, rows, f"row of {name}")
        check(f"{name}: {len(rows)} rows" in told, f"{name}: {told}")
        count += len(rows)
    database.close()
    check(count > 500, f"only {count} rows")
    size = os.path.getsize(path)
    result = program.result(boot.dump, f"export sqlite slabs zones {os.path.join(program.scratch, 'some.db')}")
    check_equal([row["table"] for row in result["tables"]], ["slabs", "zones"], "tables that were named")
    with open(boot.dump, "rb") as file:
        head = file.read(4096)
    for words, wanted in ((["--sqlite", boot.dump], "is the dump"), (["--sqlite", path, "nonesuch"], "no table"),
                          (["--sqlite", path, "files", "files"], "named twice")):
        check(wanted in program.run(["-q", boot.dump, *words], status=1).errors, f"{words}")
    check_equal(os.path.getsize(path), size, "a file that was not to be written")
    with open(boot.dump, "rb") as file:
        check_equal(file.read(4096), head, "the dump")
    notes.append(f"{len(names)} tables, {count} rows, {size >> 10} KiB")


def run(session):
    cases = (("files are /proc/PID/fd", files), ("mappings are /proc/PID/maps", mappings),
             ("mounts are /proc/PID/mountinfo", mounts), ("tasks are /proc/PID/stat and status", tasks),
             ("irqs are /proc/interrupts", irqs), ("netdevs are /proc/net", netdevs), ("slabs are /proc/slabinfo", slabs),
             ("vmallocs are /proc/vmallocinfo", vmallocs), ("zones are /proc/zoneinfo", zones), ("memory is /proc/meminfo", memory),
             ("rss is VmRSS", resident), ("userpages are rss", userpages), ("sockets are /proc/net/tcp, udp, unix", sockets))
    for boot in boots():
        session.cases(boot, cases)
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        with session.case(f"{boot.label}: columns, rows, items"):
            looks(session.program, boot)
        with session.case(f"{boot.label}: SQL"):
            asks(session.program, boot)
        with session.case(f"{boot.label}: what help asks") as notes:
            helps(session.program, boot, notes)
        with session.case(f"{boot.label}: a database") as notes:
            writes_database(session.program, boot, notes)
