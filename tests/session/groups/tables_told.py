# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns against what the guest's own programs were told: smaps, pagemap, stat, rtnetlink, sysfs, tracefs (guest/tells.c). All rows."""

import collections
import os
import re

from groups.tables import POLICIES, is_settled, links
from groups.tables_kernel import tree
from lib import Boot, boots, check, check_equal, check_lines, kernel_names

PAGE = 4096
TICKS = 250  # a second: CONFIG_HZ of Debian's


def told(boot, name):
    """The words of each line."""
    lines = [line.split() for line in boot.truth("told", name).splitlines()]
    check(lines, f"truth: {name} is empty")
    return lines


def processes(boot):
    """(PID, task) of those that have memory and went on no more."""
    return [(tid, task) for tid, task in sorted(boot.tasks.items()) if tid == task.group and is_settled(task) and "VmSize" in task.status]


def by_pid(rows):
    table = collections.defaultdict(list)
    for row in rows:
        table[row["pid"]].append(row)
    return table


# Words of smaps by the bits of VM_* (kernel fs/proc/task_mmu.c); where the word is empty, the kernel says nothing of the bit.
VM_WORDS = dict(enumerate("rd wr ex sh mr mw me ms gd um pf dw uw lo io sr rr dc de lf ac nr ht sf ar wf dd sd mm hg nh mg".split()))
# Protection keys; faults of the third kind of userfaultfd; what may be dropped, sealed.
VM_WORDS.update({32: "", 33: "", 34: "", 35: ""})
VM_HIGH = {"ui", "dp", "sl", "ss", "??"}


def words_of_flags(flags):
    return [VM_WORDS.get(bit, "high") for bit in range(64) if flags >> bit & 1 and VM_WORDS.get(bit, "high")]


def read_smaps(task):
    """{START: its words of flags} of each mapping of a process."""
    table, start = {}, None
    for line in task.read("smaps").decode("utf-8", "surrogateescape").splitlines():
        head = re.match(r"([0-9a-f]+)-[0-9a-f]+ ", line)
        if head:
            start = int(head[1], 16)
        elif line.startswith("VmFlags:"):
            table[start] = line.split()[1:]
    # What lies behind all is no mapping of the process.
    return {start: words for start, words in table.items() if start < 1 << 63}


def mapping_flags(program, boot, notes):
    """VM_* of each mapping, bit by bit, by the two letters that smaps has for each."""
    rows = by_pid(program.result(boot.dump, "mappings -a -o pid,start,flags"))
    count, kinds = 0, collections.Counter()
    for pid, task in processes(boot):
        got = {int(row["start"], 16): words_of_flags(int(row["flags"])) for row in rows[pid]}
        wanted = {start: ["high" if word in VM_HIGH else word for word in words] for start, words in read_smaps(task).items()}
        check_equal(set(got), set(wanted), f"mappings of {pid}, {task.comm}")
        for start, words in wanted.items():
            check_equal(got[start], words, f"flags of {start:x}, mapping of {pid}, {task.comm}")
            kinds.update(words)
        count += len(wanted)
    check(count > 300 and {"sh", "lo", "ht", "um", "gd", "sd"} <= set(kinds), f"truth: {count} mappings, {kinds}")
    notes.append(f"{count} mappings, {len(kinds)} flags")


LARGE = 64 << 10  # KiB: guest/collect.c tells no pages of larger processes, nor what is in their smaps


def pages(program, boot, notes):
    """Of each page of processes whether it is in memory and where, or in swap and where (pagemap)."""
    rows = by_pid(program.result(boot.dump, "userpages -a -o pid,address,size,state,physical,swap_type,swap_offset"))
    swaps = {row["type"] for row in program.result(boot.dump, "swaps")}
    kinds, count = collections.Counter(), 0
    for pid, task in processes(boot):
        if int(task.status["VmSize"].split()[0]) > LARGE:
            continue
        got, wanted = {}, {}
        for row in rows[pid]:
            start = int(row["address"], 16)
            if row["state"] in ("present", "zero"):
                got.update({start + at: (1, (int(row["physical"], 16) + at) // PAGE) for at in range(0, int(row["size"]), PAGE)})
            elif row["swap_offset"] is not None:
                got[start] = (0, row["swap_type"], int(row["swap_offset"]))
        for line in task.read("pagemap").decode().splitlines():
            address, entry = (int(word, 16) for word in line.split())
            if entry >> 63:
                wanted[address] = (1, entry & (1 << 55) - 1)
            elif entry >> 62 & 1:
                wanted[address] = (0, entry & 31, entry >> 5 & (1 << 50) - 1)
        check_equal({one[1] for one in got.values() if not one[0]} - swaps, set(), f"swap files of {pid}, {task.comm}, that are not there")
        for address in sorted(got.keys() | wanted.keys()):
            check_equal(got.get(address), wanted.get(address), f"page {address:x} of {pid}, {task.comm}")
        kinds.update(one[0] for one in wanted.values())
        count += 1
    check(count > 30 and kinds[1] > 1000 and kinds[0] >= 16, f"truth: {count} processes, {kinds}")
    notes.append(f"{count} processes, {kinds[1]} pages in memory, {kinds[0]} in swap")


# Bits of /proc/kpageflags (kernel include/uapi/linux/kernel-page-flags.h) that pages keep while they are mapped: whether they were
# touched and on which list they are changes by itself.
FRAME_FLAGS = {"uptodate": 3, "swapbacked": 14, "mlocked": 33, "reserved": 32}
KPF_ANON, KPF_TAIL = 12, 16
# Programs that ran on, or were started and ended, since the guest told of the frames, and what the kernel maps into all.
SHARED = {"/bin/busybox", "/bin/collect", "/bin/tells", "[vdso]", "[vvar]", "[vvar_vclock]"}


def frames(program, boot, notes):
    """How many page tables have each frame that processes have mapped (kpagecount), whether it is anonymous, and flags (kpageflags)."""
    counts, flags = (memoryview(open(boot.path("truth", "told", name), "rb").read()).cast("Q") for name in ("kpagecount", "kpageflags"))
    still = {pid for pid, _ in processes(boot)}
    paths = collections.defaultdict(set)
    for row in program.result(boot.dump, "userpages -a -o pid,size,physical,path --where \"state = 'present'\""):
        for at in range(0, int(row["size"]), PAGE):
            paths[(int(row["physical"], 16) + at) // PAGE].add((row["path"], row["pid"] in still))
    kept = {frame for frame, users in paths.items() if not any(path in SHARED or not is_still for path, is_still in users)}
    rows = {int(row["physical"], 16) // PAGE: row
            for row in program.result(boot.dump, "pages -o physical,mapping,mapcount,flag_names --where 'mapcount > 0'")}
    anonymous, parts = 0, 0
    for frame in sorted(kept):
        row = rows.get(frame)
        check(row, f"frame {frame:x} of {paths[frame]} is in no page table")
        # A part of a larger block has neither flags nor a mapping of its own.
        if flags[frame] >> KPF_TAIL & 1:
            check_equal(row["mapcount"], counts[frame], f"page tables that have frame {frame:x}")
            parts += 1
            continue
        names = set(row["flag_names"].split(","))
        got = (row["mapcount"], int(row["mapping"], 16) & 1, {name for name in FRAME_FLAGS if name in names})
        wanted = (counts[frame], flags[frame] >> KPF_ANON & 1, {name for name, bit in FRAME_FLAGS.items() if flags[frame] >> bit & 1})
        check_equal(got, wanted, f"frame {frame:x} of {paths[frame]}")
        anonymous += wanted[1]
    check(len(kept) > 500 and anonymous > 100 and parts >= 511 and len({counts[frame] for frame in kept}) > 3, f"truth: {len(kept)} frames, {anonymous} anonymous, {parts} parts of blocks")
    notes.append(f"{len(kept)} frames, {anonymous} anonymous, {parts} parts of blocks")


def statuses(boot):
    """{INODE: (MODE, LINKS, UID, GID, SIZE)} of what descriptors lead to."""
    table = {}
    for task in boot.tasks.values():
        path = os.path.join(task.folder, "statuses")
        # It may have ended meanwhile, and threads have their leader's.
        for line in task.read("statuses").decode().splitlines() if os.path.exists(path) else ():
            _, inode, mode, *numbers = line.split()
            table[int(inode)] = (int(mode, 8), *map(int, numbers))
    return table


S_IFMT, TYPES = 0o170000, {0o010000: "FIFO", 0o020000: "CHR", 0o040000: "DIR", 0o060000: "BLK", 0o100000: "REG", 0o120000: "LNK", 0o140000: "SOCK"}
LASTING = {"rootfs", "tmpfs", "ramfs", "devtmpfs"}


def files(program, boot, notes):
    """Mode, links, owner and size of each file that stat was asked for."""
    devices = {row["superblock"]: (row["dev"], row["type"]) for row in program.result(boot.dump, "superblocks -o superblock,dev,type")}
    rows = {}
    for row in program.result(boot.dump, "inodes -o superblock,ino,type,mode,nlink,uid,size"):
        rows[devices[row["superblock"]][0], int(row["ino"])] = (row["type"], int(row["mode"], 8), row["nlink"], row["uid"], int(row["size"]))
    kinds = dict(devices.values())
    compared, missing, modes, owners = collections.Counter(), collections.Counter(), set(), set()
    for line in boot.truth("told", "files").splitlines():
        device, inode, mode, nlink, uid, _, size, path = line.split(" ", 7)
        kind = kinds[device]
        if path.startswith("/tmp/told"):
            continue
        row = rows.get((device, int(inode)))
        if not row:
            missing[kind] += 1
            check(kind not in LASTING, f"{path} is missing")
            continue
        # It tells the links of the folders below it.
        row = (*row[:2], int(nlink), *row[3:]) if kind == "overlay" and row[0] == "DIR" else row
        check_equal(row, (TYPES[int(mode, 8) & S_IFMT], int(mode, 8) & 0o7777, int(nlink), int(uid), int(size)), f"{path} of {kind}")
        compared[kind] += 1
        modes.add(int(mode, 8))
        owners.add(int(uid))
    check({0, 77, 1000, 3000000000} <= owners and {0o106711, 0o010640, 0o020604, 0o060060} <= modes, f"truth: {owners}, {modes}")
    check(len(compared) >= 6 and compared.total() > 300 and missing.total() * 10 < compared.total(), f"{compared}, not there: {missing}")
    notes.append(f"{compared.total()} files of {len(compared)} kinds of file systems, {missing.total()} not in memory any more")


def blocks(program, boot, notes):
    """The size of blocks of each mounted file system, as stat has it."""
    # Overlay has no blocks, and tells those of what lies below it.
    rows = {row["dev"]: int(row["blocksize"]) for row in program.result(boot.dump, "superblocks -o dev,type,blocksize") if row["type"] != "overlay"}
    wanted = {device: int(size) for device, size, path in told(boot, "mounts") if path != "/mnt/overlay"}
    check_equal({device: rows.get(device) for device in wanted}, wanted, "sizes of blocks")
    check(len(wanted) > 10 and len(set(wanted.values())) > 1, f"truth: {wanted}")
    notes.append(f"{len(wanted)} file systems, blocks of {sorted(set(wanted.values()))}")


def sysctl_modes(program, boot, notes):
    rows = {row["path"]: row["mode"] for row in program.result(boot.dump, "sysctls -o path,mode")}
    wanted = {}
    for line in boot.truth("told", "files").splitlines():
        _, _, mode, _, _, _, _, path = line.split(" ", 7)
        if path.startswith("/proc/sys/") and int(mode, 8) & S_IFMT == 0o100000:
            wanted[path.removeprefix("/proc/sys/")] = f"{int(mode, 8) & 0o7777:04o}"
    check_equal({path: rows.get(path) for path in wanted if rows.get(path) != wanted[path]}, {}, "modes")
    check(len(wanted) > 500 and len(set(wanted.values())) > 2, f"truth: {len(wanted)}, {set(wanted.values())}")
    notes.append(f"{len(wanted)} settings, {len(set(wanted.values()))} modes")


# Bytes of each of the numbers that these print.
NUMBERS = {"proc_dointvec": 4, "proc_dointvec_minmax": 4, "proc_douintvec": 4, "proc_douintvec_minmax": 4, "proc_dointvec_jiffies": 4, "devinet_conf_proc": 4,
           "proc_doulongvec_minmax": 8, "proc_dou8vec_minmax": 1}


def sysctl_sizes(program, boot, notes):
    """As many numbers as /proc/sys has, of the size that the function reads."""
    rows = {row["path"]: row for row in program.result(boot.dump, "sysctls -o path,size,handler")}
    wanted = {path: NUMBERS[rows[path]["handler"]] * len(value.split()) for path, value in tree(boot, "sysctl").items()
              if rows[path]["handler"] in NUMBERS}
    check_equal({path: int(rows[path]["size"]) for path in wanted if int(rows[path]["size"]) != wanted[path]}, {}, "sizes")
    check(len(wanted) > 500 and len(set(wanted.values())) > 3, f"truth: {len(wanted)} settings, {set(wanted.values())}")
    notes.append(f"{len(wanted)} settings, sizes {sorted(set(wanted.values()))}")


def openers(program, boot, notes):
    """Who has each disk open: descriptors, mounts and swap."""
    count, swaps = collections.Counter(), collections.Counter()
    for task in boot.tasks.values():
        if task.tid == task.group:
            count.update(path.removeprefix("/dev/") for path in (links(task, "files") or {}).values())
    count.update(line.rpartition(" - ")[2].split()[1].removeprefix("/dev/")
                 for line in boot.tasks[1].read("mountinfo").decode("utf-8", "surrogateescape").splitlines())
    swaps.update(line.split()[0].removeprefix("/dev/") for line in boot.truth("swaps").splitlines()[1:])
    disks_of = program.result(boot.dump, "disks -o name,bdev,openers")
    if "block_device" not in program.text(boot.dump, "whatis ((struct gendisk *)0)->part0"):
        check_equal([row["bdev"] for row in disks_of if row["bdev"] is not None], [], "disks of a kernel without struct block_device of a disk")
        notes.append("this kernel has no struct block_device of a disk")
        return
    rows = {row["name"]: row["openers"] for row in disks_of}
    for name, number in rows.items():
        # Up to 6.7 swapon(2) opened the disk by its file, and once more for itself.
        check(number in (count[name] + swaps[name], count[name] + 2 * swaps[name]), f"openers of {name}: {number}, not {count[name]} and {swaps[name]}")
    check(len(rows) > 8 and sum(number > 0 for number in rows.values()) >= 3, f"truth: {rows}")
    notes.append(f"{len(rows)} disks, {sum(number > 0 for number in rows.values())} open")


def number_of(task, name):
    """A number of /proc/TID/sched; those with six digits behind the point are milliseconds, and come as nanoseconds."""
    text = re.search(rf"^{re.escape(name)} +: +([\d.]+)$", task.read("sched").decode(), re.M)[1]
    return int(text.replace(".", "")) if "." in text else int(text)


WEIGHT = 1024  # of a nice of 0


def runnable(program, boot, notes):
    """Who never sleeps (guest/busy.c, and the spinner): CPU, priority and class of /proc/TID/stat; what went on since by /proc/TID/sched."""
    rows = {row["pid"]: row for row in program.result(boot.dump, "runnable")}
    clocks = {row["cpu"]: int(row["clock"]) for row in program.result(boot.dump, "runqueues")}
    listed = {row["pid"]: row for row in program.result(boot.dump, "tasks")}
    never = {int(line.split()[0]): line.split()[1] for line in boot.truth("states").splitlines() if line.split()[2] == "R"}
    # On 7.3 a task of a group has a weight among all of the queue, which goes up and down a little.
    weighed = program.answers(boot.dump, [f"print ((struct task_struct *){rows[tid]['task']})->se.h_load.weight" for tid in never if tid in rows])
    weights = {tid: answer["result"]["value"] // 2 for tid, answer in zip((tid for tid in never if tid in rows), weighed) if answer["ok"]}
    kinds, waiting = set(), 0
    for tid, comm in never.items():
        task, row = boot.tasks[tid], rows.get(tid)
        check(row, f"{tid}, {comm} is not among {sorted(rows)}")
        stat = [int(word) for word in task.read("stat").rpartition(b") ")[2].split()[1:]]
        # Processor, priority, nice and policy are the 39th, 18th, 19th and 41st of all.
        check_equal((row["cpu"], row["prio"] - 100, row["class"], row["comm"]), (stat[35], stat[14], "fair", comm), f"{row}")
        check_equal((listed[tid]["nice"], listed[tid]["policy"], listed[tid]["state"]), (stat[15], POLICIES[stat[37]], "R"), f"{listed[tid]}")
        # It does not run where "collect" does, which may be anywhere.
        others = [other for pid, other in rows.items() if other["running"] and other["cpu"] == row["cpu"] and pid != tid]
        check_equal(row["running"], not others, f"{row} beside {others}")
        # Its time went on, by its weight, and no faster than the clock.
        passed = clocks[row["cpu"]] - number_of(task, "se.exec_start")
        check(passed >= 0, f"{row}: the clock went back by {-passed}")
        ran = int(row["vruntime"]) - number_of(task, "se.vruntime")
        check(0 <= ran <= passed * WEIGHT * WEIGHT // weights.get(tid, number_of(task, "se.load.weight")) + 10 ** 6, f"{row}: vruntime {ran} later after {passed}")
        check(row["running"] or 0 <= int(row["waited"]) <= passed, f"{row}: it waits for longer than {passed}, when it ran")
        # One that waited already, and does so still.
        if not row["running"] and listed[tid]["switches"] + listed[tid]["preemptions"] == number_of(task, "nr_switches"):
            check_equal(ran, 0, f"vruntime of {comm}, which has not run since, beyond what it was")
            check(passed - int(row["waited"]) < 10 ** 6, f"{row}: it has waited for {passed}")
            waiting += 1
        kinds.add((stat[37], stat[15]))
    if os.path.exists(boot.path("truth", "sched_debug")):
        count_runnable(program, boot, rows, set(never))
    check_equal({comm for comm in never.values()}, {"spinner", "busy-nice", "busy-batch", "busy-idle", "busy-one", "busy-two", "busy-last"}, "truth: who never sleeps")
    check_equal(kinds, {(0, 19), (0, 12), (3, 17), (5, 0), (0, 0), (0, 5)}, "truth: policies and nice")
    notes.append(f"{len(rows)} tasks, {len(never)} that never sleep, {waiting} that waited all the time")


def count_runnable(program, boot, rows, never):
    """The queue of the last CPU counts those that never sleep, also in groups, as sched/debug said, and who else is there."""
    last = boot.cpu_count - 1
    said = boot.truth("sched_debug").split(f"\ncpu#{last},")[1]
    queue, = (row for row in program.result(boot.dump, "runqueues") if row["cpu"] == last)
    # Those who came and went while it was told are few.
    then = int(re.search(r"\.nr_running +: (\d+)", said)[1])
    told_running = {int(pid) for pid in re.findall(r"^[ >]R .{15} +(\d+) ", said, re.M)}
    check(never <= told_running, f"truth: {told_running} wanted to run")
    check(len(never) <= then <= len(never) + 4, f"truth: {then} wanted to run")
    others = [row for row in rows.values() if row["cpu"] == last and row["pid"] not in never and row["class"] != "idle"]
    check_equal(queue["nr_running"], len(never) + len(others), f"nr_running beside {others}")
    check_equal((queue["cfs"], queue["rt"], queue["dl"]),
                (len(never) + sum(row["class"] == "fair" for row in others), sum(row["class"] == "rt" for row in others), 0), f"classes beside {others}")


ROUTE_TYPES = {1: "unicast", 2: "local", 3: "broadcast", 4: "anycast", 5: "multicast", 6: "blackhole", 7: "unreachable"}
ROUTE_TABLES = {"253": "default", "254": "main", "255": "local"}


def own_namespace(boot):
    return int(re.search(r"\d+", links(boot.tasks[1], "namespaces")["net"])[0])


def routes(program, boot, notes):
    """All that rtnetlink dumps of all tables: who made each, the address to send from, and each of several hops with its weight."""
    wanted = {2: [], 10: []}
    for family, table, kind, scope, protocol, metric, *words in told(boot, "routes"):
        device, gateway, weight, source, destination = (None if word == "-" else word for word in words)
        # Of one that is alone nothing is said.
        weight = int(weight) if weight else 1 if device else None
        one = (ROUTE_TABLES.get(table, table), ROUTE_TYPES[int(kind)], int(protocol), int(metric), device, gateway, source, destination, weight)
        wanted[int(family)].append((*one, int(scope)) if family == "2" else one)
    columns = ("tb", "type", "proto", "metric", "dev", "gateway", "src", "destination", "weight")
    for family, table, names in ((2, "routes", (*columns, "scope")), (10, "routes6", columns)):
        rows = [row for row in program.result(boot.dump, table) if row["namespace"] == own_namespace(boot)]
        got = [tuple(row[name] for name in names) for row in rows]
        check_lines(sorted(got, key=str), sorted(wanted[family], key=str), f"row of {table}")
        check({2, 42} <= {one[2] for one in wanted[family]} and len(wanted[family]) > 5, f"truth: {wanted[family]}")
        # guest/hops.c makes one of several hops, and one that has a group of them.
        shares = collections.Counter(one[7] for one in wanted[family])
        check_equal({shares[name] for name in shares if name.startswith(("198.18.", "2001:db8:"))}, {1, 2, 3} if family == 2 else {1, 2}, "truth: hops")
        check(len({one[8] for one in wanted[family]} - {1, None}) >= 4, f"truth: weights of {wanted[family]}")
        numbers = collections.defaultdict(list)
        for row in rows:
            numbers[row["route"]].append(row["hop"])
            check_equal(row.get("hops", shares[row["destination"]]), shares[row["destination"]], f"hops of {row['destination']}")
        check_equal({route: list(range(len(all_of))) for route, all_of in numbers.items()}, dict(numbers), f"numbers of hops in {table}")
    check(any(one[6] and one[2] == 42 for one in wanted[2]) and any(one[0] == "100" for one in wanted[2]), f"truth: {wanted[2]}")
    notes.append(f"{len(wanted[2])} routes of IPv4, {len(wanted[10])} of IPv6")


NEIGHBOUR_STATES = {1: "INCOMPLETE", 2: "REACHABLE", 4: "STALE", 8: "DELAY", 16: "PROBE", 32: "FAILED", 64: "NOARP", 128: "PERMANENT"}


def neighbours(program, boot, notes):
    """Who uses them, of those that have the state that rtnetlink told."""
    rows = {(row["tbl"], row["dev"], row["address"]): (row["state"], row["refcnt"]) for row in program.result(boot.dump, "neighbours")}
    same = 0
    for family, device, state, references, address in told(boot, "neighbours"):
        row = rows.get(({"2": "arp_cache", "10": "ndisc_cache"}[family], device, address))
        if row and row[0] == NEIGHBOUR_STATES.get(int(state), ""):
            # It leaves out the table's own.
            check_equal(row[1], int(references) + 1, f"references to {address}")
            same += 1
    check(same >= 2, f"only {same} have the state that was told")
    notes.append(f"{same} of {len(rows)}")


def queues(program, boot, notes):
    """max_active and kinds of the queues that sysfs shows; nice of all workers is their pools'."""
    rows = {row["name"]: row for row in program.result(boot.dump, "workqueues") if "sysfs" in row["flags"].split(",")}
    said = collections.defaultdict(dict)
    for queue, name, value in told(boot, "workqueues"):
        said[queue][name] = value
    check_equal({name: (row["max_active"], "unbound" in row["flags"].split(",")) for name, row in rows.items()},
                {name: (int(one["max_active"]), one["per_cpu"] == "0") for name, one in said.items()}, "queues")
    check_equal((said["writeback"]["max_active"], said["writeback"]["nice"]), ("17", "-5"), "truth: what was asked for")
    pools = program.result(boot.dump, "pools")
    bound = {(row["cpu"], row["nice"] < 0): row["nice"] for row in pools if row["cpu"] >= 0}
    others = {row["pool"]: row["nice"] for row in pools}
    check("-5" in {str(nice) for nice in others.values()}, f"no pool has the nice that was asked for: {pools}")
    got, wanted = {}, {}
    for tid, task in boot.tasks.items():
        found = re.match(rb"kworker/(u?)(\d+):\d+(H?)", task.comm)
        if found:
            number = int(found[2])
            got[tid] = others.get(number) if found[1] else bound.get((number, bool(found[3])))
            wanted[tid] = int(task.read("stat").rpartition(b") ")[2].split()[16])
    check_equal({tid: nice for tid, nice in got.items() if nice != wanted[tid]}, {}, "workers whose pool has another nice")
    check(len(set(wanted.values())) > 1 and len(wanted) > 5, f"truth: {wanted}")
    notes.append(f"{len(said)} queues, {len(wanted)} workers, nice {sorted(set(wanted.values()))}")


def socket_owners(program, boot, notes):
    """Who has each socket, by /proc/net and by stat of the descriptors; protocols of raw ones."""
    rows = {row["ino"]: row for row in program.result(boot.dump, "socks") if row["ino"] and row["namespace"] == own_namespace(boot)}
    kept = {row["ino"]: row for row in program.result(boot.dump, "sockets -a")}
    wanted, raw = {}, {}
    for name in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        for words in map(str.split, boot.truth("net", name).splitlines()[1:]):
            if int(words[9]):
                wanted[int(words[9])] = int(words[7])
            if name.startswith("raw"):
                raw[int(words[9])] = int(words[1].split(":")[1], 16)
    check_equal({inode: rows[inode]["uid"] for inode in wanted if inode in rows}, wanted, "owners by /proc/net")
    for inode, protocol in raw.items():
        check_equal((rows[inode]["protocol"], kept[inode]["protocol"]), (protocol, protocol), f"protocol of raw socket {inode}")
    descriptors = {inode: one[2] for inode, one in statuses(boot).items() if inode in rows and one[0] & S_IFMT == 0o140000}
    check_equal({inode: rows[inode]["uid"] for inode in descriptors}, descriptors, "owners by stat")
    families = {rows[inode]["family"] for inode in descriptors if descriptors[inode]}
    check({0, 1000, 1001, 4000000000} <= set(wanted.values()) and {1, 89} <= set(raw.values()) and {"UNIX", "NETLINK"} <= families,
          f"truth: {set(wanted.values())}, {raw}, {families}")
    notes.append(f"{len(wanted)} by /proc/net, {len(descriptors)} by stat")


def devices(program, boot, notes):
    """Parents, modules and NUMA nodes of devices, as sysfs has them."""
    rows = program.result(boot.dump, "devices")
    parents = sorted({row["parent"] for row in rows if int(row["parent"] or "0", 16)})
    names = dict(zip(parents, (answer["result"]["value"] for answer in
                               program.answers(boot.dump, [f"print *(char(*)[40])((struct device *){parent})->kobj.name" for parent in parents]))))
    modules = {name for name, _, _ in boot.modules}
    got = sorted((row["bus"], row["name"], names.get(row["parent"], "-"), row["numa_node"], row["module"] or "-") for row in rows)
    # Those that hang on none lie in the folder of their bus, if it has one (subsys_system_register()).
    alone = {one[:2] for one in got if one[2] == "-"}
    wanted = []
    for bus, name, parent, node, module in told(boot, "devices"):
        parent = "-" if parent == bus and (bus, name) in alone else parent
        wanted.append((bus, name, parent, int(node) if node != "-" else -1, module if module in modules else "-"))
    check_lines(got, sorted(wanted), "device")
    check(len({one[2] for one in wanted}) > 10 and len({one[4] for one in wanted}) > 2, "truth: parents, modules")
    notes.append(f"{len(got)} devices, {len(parents)} parents, {len(alone)} without")


BATCHES = 8  # that go to and fro between the last look of guest/collect.c and its crash


def zones(program, boot, notes):
    """zones and pagesets are what the last thing that was told says: pages that are free, and those that each CPU keeps, with its bounds."""
    said = {}
    for part in re.split(r"\n(?=Node)", boot.truth("zoneinfo_last")):
        node, name = re.match(r"Node (\d+), zone +(\w+)", part).groups()
        sets = re.findall(r"cpu: (\d+)\s+count: +(\d+)\s+high: +(\d+)\s+batch: +(\d+)(?:\s+high_m\w+: +\d+)*\s+vm stats threshold: (\d+)", part)
        said[int(node), name] = int(re.search(r"pages free +(\d+)", part)[1]), [tuple(map(int, one[1:])) for one in sets]
    rows = program.result(boot.dump, "zones")
    check_equal({(row["node"], row["name"]) for row in rows}, {key for key, (_, sets) in said.items() if sets}, "zones")
    pagesets = collections.defaultdict(dict)
    for row in program.result(boot.dump, "pagesets"):
        pagesets[row["zone"]][row["cpu"]] = row
    check_equal(set(pagesets), {row["zone"] for row in rows}, "zones of pagesets")
    same, kept, moved, near = 0, 0, 0, 0
    for row in rows:
        free, sets = said[row["node"], row["name"]]
        check_equal(len(sets), boot.cpu_count, f"truth: CPUs of {row['name']}")
        now = [pagesets[row["zone"]].get(cpu) for cpu in range(boot.cpu_count)]
        check(all((one["node"], one["name"]) == (row["node"], row["name"]) for one in now), f"{row['name']}: {now}")
        check_equal(row["per_cpu"], sum(one["count"] for one in now) * PAGE, f"what CPUs keep of {row['name']}")
        for wanted, one in zip(sets, now):
            count, high, batch, threshold = wanted
            check_equal(one["threshold"], threshold, f"threshold of {row['name']}")
            check(abs(one["count"] - count) <= BATCHES * batch, f"{row['name']}: a CPU keeps {one['count']} pages, it was {count}")
            moved += abs(one["count"] - count)
            near += count > 0 and abs(one["count"] - count) <= batch
            # Since 6.7 it goes up and down between two others, which stay.
            bounds = range(one["high_min"], one["high_max"] + 1) if one["high_min"] is not None else ()
            check(one["batch"] == batch and (one["high"] == high or one["high"] in bounds and high in bounds),
                  f"{row['name']}: batch {one['batch']}, high {one['high']}, it was {batch}, {high}")
            same += one["high"] == high > 0
        check(abs(row["free"] // PAGE - free) <= BATCHES * sets[0][2], f"{row['name']}: {row['free'] // PAGE} pages are free, it was {free}")
        kept += sum(count for count, *_ in sets)
    check(near, f"{moved} of {kept} pages that CPUs keep came or went")
    check(same, "truth: no CPU has the same bound")
    notes.append(f"{len(rows)} zones, {kept} pages that CPUs kept, {moved} moved since; {near} counts moved by a batch at most, {same} bounds did not")


def resources(program, boot, notes):
    """Flags of what PCI devices have (/sys/bus/pci/devices/*/resource)."""
    rows = {(row["name"], int(row["start"], 16), int(row["end"], 16)): int(row["flags"]) for row in program.result(boot.dump, "resources")}
    wanted = {}
    for name, start, end, flags in told(boot, "resources"):
        # Regions of old that are no one's but IDE's.
        if int(end, 16):
            wanted[name, int(start, 16), int(end, 16)] = int(flags, 16)
    check_equal({key: rows.get(key) for key in wanted}, wanted, "flags")
    check(len(wanted) > 3 and len(set(wanted.values())) > 1, f"truth: {wanted}")
    notes.append(f"{len(wanted)} resources")


IFF = {"UP": 1, "BROADCAST": 2, "DEBUG": 4, "LOOPBACK": 8, "POINTOPOINT": 16, "NOTRAILERS": 32, "RUNNING": 64, "NOARP": 128, "PROMISC": 256,
       "ALLMULTI": 512, "MASTER": 1024, "SLAVE": 2048, "MULTICAST": 4096}


def network(program, boot, notes):
    """Numbers, flags, MTU and hardware addresses of /sys/class/net."""
    said = collections.defaultdict(dict)
    for device, name, *value in told(boot, "network"):
        said[device][name] = "".join(value)
    wanted = {name: (int(one["ifindex"]), int(one["flags"], 16), int(one["mtu"]), one["address"] or None) for name, one in said.items()}
    got = {row["name"]: (row["ifindex"], sum(IFF[word] for word in row["flags"].split(",") if word), row["mtu"], row["mac"])
           for row in program.result(boot.dump, "netdevs") if row["namespace"] == own_namespace(boot)}
    check_equal(set(got), set(wanted), "devices")
    for name, one in wanted.items():
        check_equal(got[name], one, name)
    check(len(wanted) > 3, f"truth: {wanted}")
    notes.append(f"{len(wanted)} devices")


def modules(program, boot, notes):
    """coresize and initsize of /sys/module."""
    said = dict(re.match(r"([^/ ]+/(?:coresize|initsize)) (\d+)$", line).groups() for line in boot.truth("modules_tree").splitlines()
                if re.match(r"[^/ ]+/(?:coresize|initsize) ", line))
    rows = program.result(boot.dump, "modules")
    got = {f"{row['name']}/{name}": row[column] for row in rows for name, column in (("coresize", "size"), ("initsize", "init_size"))}
    check_equal({name: int(value) for name, value in got.items()}, {name: int(value) for name, value in said.items()}, "sizes")
    check(len(said) > 20, f"truth: {len(said)} sizes")
    notes.append(f"{len(rows)} modules")


def disks(program, boot, notes):
    """How long requests were under way (/proc/diskstats), of disks that have done nothing since."""
    rows = {row["name"]: row for row in program.result(boot.dump, "disks")}
    same, busy = 0, 0
    for words in map(str.split, boot.truth("diskstats").splitlines()):
        row, counts = rows[words[2]], [int(word) for word in words[3:]]
        if (int(row["reads"]), int(row["writes"]), row["in_flight"], counts[8]) == (counts[0], counts[4], 0, 0):
            check_equal(int(row["io_ticks"]) * 1000 // TICKS, counts[9], f"ticks of {words[2]}")
            same += 1
            busy += counts[9] > 0
    check(same > 3 and busy, f"{same} disks, {busy} that did something")
    notes.append(f"{same} disks, {busy} that did something")


STATS = {"entries": "entries", "overrun": "overrun", "bytes": "bytes", "dropped events": "dropped", "read events": "read"}
PAGE_DATA = 4080  # of a page of a ring buffer


def buffers(program, boot, notes):
    """What tracefs counts of each buffer that recorded nothing since, and its size."""
    said = collections.defaultdict(dict)
    for line in boot.truth("told", "buffers").splitlines():
        instance, cpu, name, value = re.match(r"(\S+) cpu(\d+) ([\w ]+?):? +(\d[\d.]*)", line).groups()
        said[instance, int(cpu)][name] = value
    compared = 0
    for row in program.result(boot.dump, "tracebuffers"):
        one = said.pop((row["instance"] or "global", row["cpu"]))
        pages_of_size = max(2, -(-int(one["size"]) * 1024 // PAGE_DATA))
        check_equal(int(row["size"]), pages_of_size * PAGE, f"size of {row['instance']}, CPU {row['cpu']}")
        if row["off"]:
            check_equal({name: int(row[column]) for name, column in STATS.items()}, {name: int(one[name]) for name in STATS}, f"{row}")
            compared += 1
    check_equal(dict(said), {}, "buffers that are not there")
    check(compared >= boot.cpu_count, f"truth: {compared} buffers were off")
    notes.append(f"{compared} buffers")


def field_told(text):
    """TYPE[N] NAME of TYPE NAME[N]."""
    found = re.match(r"(.*) (\w+)(\[.*\])$", text)
    return f"{found[1]}{found[3]} {found[2]}" if found else text


def formats(program, boot, notes):
    """The fields of each event, and what the kernel prints of them."""
    rows = {f"{row['system']}/{row['name']}": row for row in program.result(boot.dump, "events -o system,name,fields,format")}
    count = 0
    for line in boot.truth("told", "formats").rstrip("\n").split("\n"):
        name, fields, text = line.replace("\1", "\n").split("\t", 2)
        if name.startswith("ftrace/"):
            continue
        row = rows[name]
        check_equal(row["fields"], "; ".join(field_told(field) for field in fields.split(";") if field), f"fields of {name}")
        check_equal(row["format"], text, f"format of {name}")
        count += 1
    check(count > 1000, f"truth: {count} formats")
    notes.append(f"{count} events")


CASES = (("mappings have the flags of smaps", mapping_flags), ("userpages are pagemap", pages), ("inodes are what stat says", files), ("sysctls have the sizes of their numbers", sysctl_sizes), ("disks are open", openers),
         ("runnable is stat and sched", runnable), ("zones and pagesets are the last zoneinfo", zones),
         ("superblocks have the blocks of stat", blocks), ("sysctls have the modes of stat", sysctl_modes),
         ("routes are what rtnetlink dumps", routes), ("neighbours have the references of rtnetlink", neighbours),
         ("workqueues and pools are sysfs'", queues), ("socks have the owners of stat", socket_owners),
         ("devices have the parents of sysfs", devices), ("resources have the flags of sysfs", resources),
         ("netdevs are /sys/class/net", network), ("modules have the sizes of sysfs", modules), ("disks have the ticks of diskstats", disks),
         ("tracebuffers are tracefs' stats", buffers))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
    for kernel in kernel_names():
        session.cases(Boot(kernel, "boot1"), (("events have the formats of tracefs", formats), ("pages are kpagecount and kpageflags", frames)))
