# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns that the other groups of tables leave out, against what the guest said of them."""

import collections
import ipaddress
import os
import re

from groups.memory import read_cpio
from groups.tables import is_settled, links
from groups.tables_system import LAG
from lib import boots, boots_of_most, check, check_equal

PAGE = 4096
O_CLOEXEC = 0o2000000


def by_pid(rows):
    table = collections.defaultdict(list)
    for row in rows:
        table[row["pid"]].append(row)
    return table


def settled(boot):
    """(TID, task) of those that did not go on until the machine died."""
    return [(tid, task) for tid, task in sorted(boot.tasks.items()) if is_settled(task)]


def fdinfo(program, boot, notes):
    """pos and flags of /proc/PID/fdinfo, and ino where this kernel tells it; close-on-exec is one of the flags."""
    rows = by_pid(program.result(boot.dump, "files -a"))
    count, positions, closing, inodes = 0, 0, 0, 0
    for tid, task in settled(boot):
        if tid != task.group or not os.path.exists(os.path.join(task.folder, "fdinfo")):
            continue
        said = {}
        for line in task.read("fdinfo").decode("utf-8", "surrogateescape").splitlines():
            number, _, rest = line.partition(" ")
            said[int(number)] = dict(re.findall(r"(?:^|\\n)(pos|flags|ino):\s*(\d+)", rest))
        check_equal({row["fd"] for row in rows[tid]}, set(said), f"descriptors of {tid}")
        for row in rows[tid]:
            facts = said[row["fd"]]
            flags = int(facts["flags"], 8)
            check_equal((int(row["pos"]), row["flags"] | O_CLOEXEC * row["cloexec"]), (int(facts["pos"]), flags),
                        f"{row['path']}, descriptor {row['fd']} of {tid}")
            # The kernel tells it since 5.14.
            check_equal(int(row["ino"]), int(facts.get("ino", row["ino"])), f"inode of descriptor {row['fd']} of {tid}")
            count += 1
            positions += int(row["pos"]) > 0
            closing += row["cloexec"]
            inodes += "ino" in facts
    check(count > 100 and positions and closing, f"{count} files, {positions} not at their beginning, {closing} that exec closes")
    notes.append(f"{count} files, {positions} not at their beginning, {closing} that exec closes, {inodes} inodes")


def tasks(program, boot, notes):
    """Flags and times of /proc/TID/stat, VmSwap of status, where links of /proc lead; frames and runnable say of tasks what tasks do."""
    rows = {row["pid"]: row for row in program.result(boot.dump, "tasks") if row["pid"]}
    count, swapped, folders = 0, 0, 0
    for tid, task in settled(boot):
        row = rows.get(tid)
        if not row or row["running"] or (row["switches"], row["preemptions"]) != task.switches:
            continue
        stat = [int(word) for word in task.read("stat").rpartition(b") ")[2].split()[1:]]
        check_equal(row["flags"], stat[5], f"flags of {tid}, {task.comm}")
        # In hundredths of a second.
        check_equal((int(row["utime"]) // 10 ** 7, int(row["stime"]) // 10 ** 7), (stat[10], stat[11]), f"times of {tid}, {task.comm}")
        links = dict(line.split(" ", 1) for line in task.read("links").decode("utf-8", "surrogateescape").splitlines())
        for name in ("cwd", "root", "exe"):
            if name in links:
                check_equal(row[name], links[name], f"{name} of {tid}, {task.comm}")
                folders += 1
        count += 1
        if "VmSwap" in task.status:
            # Who reads its memory, as the guest did next, brings pages back.
            said, is_left = int(task.status["VmSwap"].split()[0]) * 1024, task.comm == b"swapped"
            check((said if is_left else 0) <= int(row["swap"]) <= said, f"swap of {tid}, {task.comm}: {row['swap']}, it was {said}")
            swapped += is_left and said > 0
    check(count > 60 and swapped and folders > count, f"{count} tasks, {swapped} with pages in swap, {folders} links")
    frames = {(row["task"], row["pid"], row["comm"], row["state"]) for row in program.result(boot.dump, "frames -a")}
    known = {(row["task"], row["pid"], row["comm"], row["state"]) for row in program.result(boot.dump, "tasks")}
    check_equal(frames - known, set(), "tasks of frames")
    priorities = {row["task"]: (row["prio"], row["comm"]) for row in program.result(boot.dump, "tasks")}
    for row in program.result(boot.dump, "runnable"):
        check_equal((row["prio"], row["comm"]), priorities[row["task"]], f"{row}")
    notes.append(f"{count} tasks, {swapped} with pages in swap")


# VM_* of struct vm_struct (kernel include/linux/vmalloc.h).
AREAS = {"ioremap": 1, "vmalloc": 2, "vmap": 4, "user": 8}


def vmallocs(program, boot, notes):
    """Pages and kind of each area of /proc/vmallocinfo; its addresses are hashed."""
    got = collections.Counter((int(row["size"]), (row["function"] or "").split()[0], int(row["pages"]) // PAGE, row["flags"] & 15)
                              for row in program.result(boot.dump, "vmallocs"))
    wanted = collections.Counter()
    for line in boot.truth("vmallocinfo").splitlines():
        words = line.split()
        if len(words) > 2 and "+0x" in words[2]:
            pages = next((int(word[6:]) for word in words if word.startswith("pages=")), 0)
            kinds = sum(flag for name, flag in AREAS.items() if name in words[3:])
            wanted[int(words[1]), words[2].partition("/")[0], pages, kinds] += 1
    missing = wanted - got
    check(missing.total() <= 3, f"missing: {missing.most_common(5)}")
    kinds = {one[3] for one in wanted}
    check(wanted.total() > 100 and {1, 2, 4} <= kinds, f"truth: {wanted.total()} areas, kinds {kinds}")
    notes.append(f"{wanted.total()} areas there, {missing.total()} gone since")


def slabs(program, boot, notes):
    """Memory of each cache that has as many objects as in /proc/slabinfo: its slabs, times their pages."""
    rows = {row["name"]: row for row in program.result(boot.dump, "slabs")}
    same = 0
    for line in boot.truth("slabinfo").splitlines()[2:]:
        words = line.split()
        row = rows[words[0]]
        if int(row["num_objs"]) == int(words[2]):
            check_equal(int(row["size"]), int(words[14]) * int(words[5]) * PAGE, f"memory of {words[0]}")
            same += 1
        check(row["object_size"] <= row["objsize"] and int(row["inuse"]) <= int(row["active_objs"]), f"{row}")
    # A cache that is called as a struct has objects of its size.
    sized = 0
    for name, struct in (("vm_area_struct", "vm_area_struct"), ("dentry", "dentry"), ("mnt_cache", "mount"), ("fs_cache", "fs_struct"),
                         ("files_cache", "files_struct"), ("signal_cache", "signal_struct"), ("sighand_cache", "sighand_struct")):
        # One that others are merged with is as large as the largest.
        if name in rows and not rows[name]["merged"]:
            check_equal(rows[name]["object_size"], int(program.value(boot.dump, f"sizeof(struct {struct})")), f"size in {name}")
            sized += 1
    reclaimable = sum(int(row["size"]) for row in rows.values() if row["reclaimable"])
    counted = program.value(boot.dump, "vm_node_stat[NR_SLAB_RECLAIMABLE_B].counter") * PAGE
    check(abs(reclaimable - counted) <= LAG * PAGE * boot.cpu_count, f"reclaimable: {reclaimable}, the kernel counted {counted}")
    check(same > 100 and sized >= 2, f"{same} caches, {sized} of structs")
    notes.append(f"{same} caches, {sized} of structs, {reclaimable >> 10} KiB reclaimable, {counted >> 10} counted")


def interrupts(program, boot, notes):
    """The line of each interrupt controller's own number; whose interrupts irqcounts counts."""
    rows = {row["irq"]: row for row in program.result(boot.dump, "irqs")}
    counts = program.result(boot.dump, "irqcounts")
    named = 0
    for line in boot.truth("interrupts").splitlines()[1:]:
        label, _, rest = line.strip().partition(":")
        found = re.search(r" (\d+)-(?:edge|fasteoi|level|mask-level)", rest)
        if label.isdigit() and found:
            check_equal(int(rows[int(label)]["hwirq"]), int(found[1]), f"number of {label}")
            named += 1
    check(named > 5, f"truth: {named} numbers of controllers")
    for row in counts:
        is_device = row["label"].isdigit()
        check_equal((row["irq"], row["desc"] is not None), (int(row["label"]) if is_device else None, is_device), f"{row}")
        if is_device:
            check_equal((row["desc"], row["name"]), (rows[row["irq"]]["desc"], (rows[row["irq"]]["name"] or "").split(",")[0] or None), f"{row}")
    notes.append(f"{named} numbers of controllers, {len(counts)} counts")


TESTED, INTERNAL = 0x400, 0x2000  # CRYPTO_ALG_* (kernel include/linux/crypto.h)


def algorithms(program, boot, notes):
    """selftest, internal and blocksize of /proc/crypto."""
    rows = iter(program.result(boot.dump, "algorithms"))
    sizes, internal = 0, 0
    for text in boot.truth("crypto").strip().split("\n\n"):
        said = {}
        for line in text.splitlines():
            name, _, value = line.partition(":")
            said.setdefault(name.strip(), value.strip())
        row = next(rows)
        check_equal((bool(row["flags"] & TESTED), bool(row["flags"] & INTERNAL)), (said["selftest"] == "passed", said["internal"] == "yes"),
                    f"flags of {row['driver']}")
        if "blocksize" in said:
            check_equal(row["blocksize"], int(said["blocksize"]), f"blocksize of {row['driver']}")
            sizes += 1
        internal += said["internal"] == "yes"
    check_equal(next(rows, None), None, "more algorithms")
    check(sizes > 10, f"truth: {sizes} block sizes")
    notes.append(f"{sizes} block sizes, {internal} internal")


FOR_EVER = (0, (1 << 63) - 1)  # the latter since 39299bdd2546 (6.7)


def keys(program, boot, notes):
    """What /proc/keys says of their state, and until when they are good."""
    rows = {row["serial"]: row for row in program.result(boot.dump, "keys")}
    for line in boot.truth("keys").splitlines():
        serial, flags, _, expiry, *_ = line.split()
        row = rows[int(serial, 16)]
        check_equal((row["state"] == 1, row["state"] < 0), ("I" in flags and "N" not in flags, "N" in flags), f"state of {serial}")
        check_equal(int(row["expiry"]) in FOR_EVER, expiry == "perm", f"expiry of {serial}")
    notes.append(f"{len(rows)} keys")


SCOPES = {"universe": 0, "site": 200, "link": 253, "host": 254, "nowhere": 255}


def routes(program, boot, notes):
    """Scopes of /proc/net/fib_trie; hardware addresses are what link-local addresses of IPv6 are made of."""
    wanted, key = set(), None
    for line in boot.truth("net", "fib_trie").splitlines():
        leaf, route = re.match(r" +\|-- (\S+)$", line), re.match(r" +/(\d+) (\w+) (\w+)", line)
        key = leaf[1] if leaf else key
        if route:
            wanted.add((f"{key}/{route[1]}", route[3].lower(), SCOPES[route[2]]))
    space = re.search(r"net net:\[(\d+)\]", boot.tasks[1].read("namespaces").decode())[1]
    got = {(row["destination"], row["type"], row["scope"]) for row in program.result(boot.dump, "routes") if str(row["namespace"]) == space}
    check_equal(got, wanted, "scopes")
    check_equal({one[2] for one in wanted}, {0, 253, 254}, "truth: scopes")
    made = 0
    for row in program.result(boot.dump, "netdevs"):
        for word in row["addresses"].split():
            address = ipaddress.ip_interface(word).ip
            # Of EUI-64; others are of the kernel's own choice.
            if str(row["namespace"]) == space and address.version == 6 and address.packed[:2] == b"\xfe\x80" and address.packed[11:13] == b"\xff\xfe":
                mac = bytes((address.packed[8] ^ 2, *address.packed[9:11], *address.packed[13:16]))
                check_equal(row["mac"], mac.hex(":"), f"hardware address of {row['name']}")
                made += 1
    check(made, "truth: no link-local addresses")
    notes.append(f"{len(got)} routes, {made} hardware addresses")


def mounts(program, boot, notes):
    """The device of each mount of mountinfo, and whether its file system is read-only; who stands for a namespace has its name."""
    devices = {row["superblock"]: row for row in program.result(boot.dump, "superblocks")}
    own = links(boot.tasks[1], "namespaces")["mnt"]
    rows = {row["id"]: row for row in program.result(boot.dump, "mounts") if f"mnt:[{row['namespace']}]" == own}
    count = 0
    for line in boot.tasks[1].read("mountinfo").decode("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        number, _, device, *_ = left.split()
        found = devices[rows[int(number)]["superblock"]]
        check_equal((found["dev"], "ro" in found["flags"].split(",")), (device, right.split()[2].split(",")[0] == "ro"), f"mount {number}")
        count += 1
    names = {row["pid"]: row["comm"] for row in program.result(boot.dump, "tasks")}
    for row in program.result(boot.dump, "namespaces"):
        check(row["pid"] is None or row["comm"] == names[row["pid"]], f"{row}")
    check(count > 10, f"truth: {count} mounts")
    notes.append(f"{count} mounts")


LIMITS = {"cpu": "cpu time", "fsize": "file size", "data": "data size", "stack": "stack size", "core": "core file size", "rss": "resident set",
          "nproc": "processes", "nofile": "open files", "memlock": "locked memory", "as": "address space", "locks": "file locks",
          "sigpending": "pending signals", "msgqueue": "msgqueue size", "nice": "nice priority", "rtprio": "realtime priority",
          "rttime": "realtime timeout"}


def limits(program, boot, notes):
    names = [re.match(r"Max ([a-z ]+?) {2,}", line)[1] for line in boot.tasks[1].read("limits").decode().splitlines()[1:]]
    check_equal([LIMITS[row["resource"]] for row in program.result(boot.dump, "limits 1")], names, "resources")
    notes.append(f"{len(names)} resources")


def runqueues(program, boot, notes):
    """Clocks went on by less than a minute; tasks that sleep uninterruptibly are those that all queues together count."""
    if not os.path.exists(os.path.join(boot.folder, "truth", "sched_debug")):
        notes.append("this kernel has no sched/debug")
        return
    rows = program.result(boot.dump, "runqueues")
    text = boot.truth("sched_debug")
    for row in rows:
        said = re.search(rf"cpu#{row['cpu']},.*?\.clock +: ([\d.]+)", text, re.S)
        then = round(float(said[1]) * 1e6)
        check(then <= int(row["clock"]) < then + 60 * 10 ** 9, f"clock: {row}, it was {then}")
    listed = {row["task"]: row["comm"] for row in program.result(boot.dump, "tasks")}
    check_equal([row["comm"] for row in rows], [listed[row["curr"]] for row in rows], "who runs")
    # Idle kernel threads have a state of their own.
    asleep = sum(row["state"] == "D" for row in program.result(boot.dump, "tasks"))
    check_equal(sum(row["nr_uninterruptible"] for row in rows), asleep, "tasks that sleep uninterruptibly")
    check(asleep >= 3, f"truth: {asleep} sleep so")
    notes.append(f"{len(rows)} queues, {asleep} tasks")


def files_of_kernel(program, boot, notes):
    """Sizes of the files that the guest began with, by their inodes; types of swap files."""
    content = {"/" + name: data for name, data in read_cpio(os.path.join(boot.folder, "..", "initrd")).items()}
    rows = program.result(boot.dump, "inodes --where \"filesystem = 'rootfs' and type = 'REG'\" -o name,size,nlink,mode,uid")
    sizes = collections.defaultdict(set)
    for row in rows:
        sizes[row["name"]].add(int(row["size"]))
    names = [name for name in content if name in sizes]
    check_equal({name: len(content[name]) for name in names if len(content[name]) not in sizes[name]}, {}, "sizes")
    check(len(names) > 50, f"only {len(names)} of {len(content)} files")
    for row, line in zip(program.result(boot.dump, "swaps"), boot.truth("swaps").splitlines()[1:], strict=True):
        # SWP_BLKDEV
        check_equal(bool(row["flags"] & 1 << 6), line.split()[1] == "partition", f"{row}")
    notes.append(f"{len(names)} files")


def in_flight(program, boot, notes):
    """Of each disk what sysfs says (/sys/block/DISK/inflight), but for vdb, of which another task asked later."""
    rows = {row["name"]: row["in_flight"] for row in program.result(boot.dump, "disks")}
    said = {}
    for line in boot.truth("disks").splitlines():
        disk, name, value = line.split(" ", 2)
        if name == "inflight":
            said[disk] = sum(map(int, value.split()))
    check_equal({disk: rows[disk] for disk in said if disk not in ("vda", "vdb")}, {disk: said[disk] for disk in said if disk not in ("vda", "vdb")},
                "requests in flight")
    check(rows["vdb"] >= said["vdb"] >= 3 and said["sda"] == said["nvme0n1"] == 3, f"truth: {said}")
    notes.append(f"{sum(rows.values())} in flight on {len(rows)} disks")


def requests(program, boot, notes):
    """Of three disks of three kinds that answer nothing: what each was asked for, by its requests and by their bios."""
    rows = {row["request"]: row for row in program.result(boot.dump, "requests")}
    wanted = sorted((disk, {"r": "READ", "w": "WRITE"}[how], int(sector), int(size)) for disk, how, sector, size in
                    map(str.split, boot.truth("disks_asked", "asked").splitlines()))
    got = sorted((row["disk"], row["op"], int(row["sector"]), int(row["size"])) for row in rows.values())
    # Of vdb another task asked later; guest/asks_journal.c asked a loop device.
    check_equal([one[:3] for one in got if one[0] == "loop6" and one[1] == "WRITE"], [("loop6", "WRITE", 32 * 4096 // 512)], "writes of loop6")
    check_equal([one for one in got if one[0] not in ("vdb", "loop6")], [one for one in wanted if one[0] != "vdb"], "requests")
    check(set(wanted) <= set(got) and len(wanted) == 9, f"requests of vdb: {got}, asked was for {wanted}")
    sums = collections.Counter()
    for row in program.result(boot.dump, "bios"):
        request = rows[row["request"]]
        sums[row["disk"], row["op"], int(request["sector"])] += int(row["size"])
    check_equal({key: sums[key] for *key, _ in map(tuple, wanted) for key in [tuple(key)]}, {one[:3]: one[3] for one in wanted}, "sums of bios")
    notes.append(f"{len(rows)} requests, {len(wanted)} that were asked for")


CASES = (("files are fdinfo", fdinfo), ("tasks have the flags of stat", tasks), ("vmallocs have the pages of vmallocinfo", vmallocs),
         ("slabs have the memory of slabinfo", slabs), ("irqs have controllers' numbers", interrupts),
         ("algorithms have the flags of crypto", algorithms), ("keys last as long as in /proc/keys", keys),
         ("routes have the scopes of fib_trie", routes), ("limits have their names", limits), ("mounts have the devices of mountinfo", mounts),
         ("runqueues have clocks of sched/debug", runqueues), ("inodes have the sizes of files", files_of_kernel))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
    for boot in boots_of_most(session, "held"):
        session.cases(boot, (("requests are what was asked for", requests), ("disks have what sysfs says is in flight", in_flight)))
