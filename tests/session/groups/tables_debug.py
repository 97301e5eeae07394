# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of what the kernel watches and counts against what the guest said of it. All rows."""

import collections
import math
import re
import shlex

from lib import Boot, boots, boots_of_most, check, check_equal, check_lines, kernel_names
from groups.tables_kernel import tree

OCTAL = re.compile(r"\\(0\d\d)")
ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
CONTROL = re.compile(r'(\S+):(\d+) \[(\S+)\](\S+) =(\S+) "(.*)"(?: class:\S+)?$')


def dyndbg(program, boot, notes):
    """Every line of dynamic_debug/control."""
    got = []
    for row in program.result(boot.dump, "dyndbg"):
        text = "".join(ESCAPES.get(character, character) for character in row["format"])
        got.append((row["file"], str(row["line"]), row["module"], row["function"], row["flags"] or "_", text))
    wanted = []
    for line in boot.truth("dynamic_debug").splitlines()[1:]:
        match = CONTROL.match(line)
        check(match, f"truth: {line}")
        # 5.10 has octal digits.
        text = OCTAL.sub(lambda found: ESCAPES.get(chr(int(found[1], 8)), chr(int(found[1], 8))), match[6])
        wanted.append((*match.groups()[:5], text))
    check_lines(sorted(got), sorted(wanted), "message")
    enabled = {row[4] for row in wanted}
    check({"_", "p"} < enabled and any("lt" in flags for flags in enabled), f"truth: only {enabled}")
    notes.append(f"{len(got)} messages, {len([row for row in got if 'p' in row[4]])} printed")


PRESSURE = re.compile(r"(some|full) avg10=(\S+) avg60=(\S+) avg300=(\S+) total=(\d+)")
LATER = 300 * 10 ** 9  # nanoseconds until it died


def pressure(program, boot, notes):
    """The lines of /proc/pressure and of each cgroup: total goes on, and with it the averages, or these sink."""
    rows = {(row["path"], row["resource"], row["kind"]): row for row in program.result(boot.dump, "pressure")}
    wanted = {}
    for resource in ("cpu", "io", "memory"):
        for found in PRESSURE.finditer(boot.truth("pressure", resource)):
            wanted[None, resource, found[1]] = found.groups()[1:]
    for path, value in tree(boot, "cgroup_tree").items():
        folder, _, name = ("/" + path).rpartition("/")
        if folder and name.endswith(".pressure") and "avg10" in value:
            for found in PRESSURE.finditer(value):
                wanted[folder, name.removesuffix(".pressure"), found[1]] = found.groups()[1:]
    # What is removed has no files any more.
    rows = {key: row for key, row in rows.items() if key[0] != "/gone"}
    check_equal(set(rows), set(wanted), "rows")
    quiet = 0
    for key, (*averages, total) in wanted.items():
        row = rows[key]
        if key == (None, "cpu", "full"):
            check_equal(row["total"], None, "what is not defined")
            continue
        before, after = int(total) * 1000, int(row["total"])
        check(before <= after + 999 and after - before < LATER, f"{key}: {after}, it was {before}")
        if after - before < 1000:
            quiet += 1
            for seconds, average in zip((10, 60, 300), averages):
                name = f"avg{seconds}"
                # Each 2 s what came to the total since then is averaged in: also what came right before the guest read it.
                late = 100 * (1 - math.exp(-2 / seconds)) if int(total) else 0
                check(float(row[name]) <= float(average) + late, f"{key}: {name} is {row[name]}, it was {average}")
    check(quiet and len(wanted) > 10, f"truth: {len(wanted)} lines, {quiet} quiet")
    notes.append(f"{len(rows)} rows, {quiet} as they were")


def irqcounts(program, boot, notes):
    """Each number of each row of /proc/interrupts, which went on for some seconds."""
    rows = {(row["label"], row["cpu"]): row for row in program.result(boot.dump, "irqcounts")}
    lines = boot.truth("interrupts").splitlines()
    cpus = len(lines[0].split())
    compared, same = 0, 0
    for line in lines[1:]:
        label, _, rest = line.strip().partition(":")
        words = rest.split()
        if label in ("ERR", "MIS"):
            continue
        if (label, 0) not in rows:
            # What the processor has no memory for is 0, and so is that of others.
            check_equal(set(words[:cpus]) - {"0"}, set(), f"{label} is not there")
            continue
        for cpu in range(cpus):
            count, row = int(words[cpu]), rows[label, cpu]
            check(count <= int(row["count"] or 0) <= count + 100000, f"{label} on CPU {cpu}: {row['count']}, it was {count}")
            compared += 1
            same += count == int(row["count"] or 0)
    check(compared > 20 * cpus and same, f"{compared} compared, {same} the same")
    totals = {str(row["irq"]): int(row["count"]) for row in program.result(boot.dump, "irqs")}
    for label, total in totals.items():
        check_equal(sum(int(row["count"] or 0) for key, row in rows.items() if key[0] == label), total, f"sum of {label}")
    notes.append(f"{compared} counts, {same} the same")


def affinity(program, boot, notes):
    """/proc/irq/N/smp_affinity_list and effective_affinity_list."""
    rows = {str(row["irq"]): row for row in program.result(boot.dump, "irqs")}
    said, compared = tree(boot, "irq_tree"), 0
    for path, value in said.items():
        number, _, name = path.partition("/")
        column = {"smp_affinity_list": "affinity", "effective_affinity_list": "effective"}.get(name)
        if column and number in rows:
            check_equal(rows[number][column], value, f"{name} of {number}")
            compared += 1
    check(compared > 20, f"only {compared} sets of CPUs")
    notes.append(f"{compared} sets of CPUs")


# Who registers what at the start, by name of the struct notifier_block (drivers of these kernels).
KNOWN = {"panic_notifier_list": {"trace_panic_notifier"}, "die_chain": {"trace_die_notifier"},
         "netdev_chain": {"arp_netdev_notifier", "ip_netdev_notifier", "packet_netdev_notifier", "br_device_notifier", "tun_notifier_block"},
         "inetaddr_chain": {"fib_inetaddr_notifier"}, "reboot_notifier_list": {"perf_reboot_notifier"}}


def notifiers(program, boot, notes):
    """Known ones are in their chains; every one is in one chain, behind those of a greater priority, and calls a function."""
    rows = program.result(boot.dump, "notifiers")
    chains = {}
    names = {address: name for address, _, name, _ in boot.symbols}
    functions = {name for _, kind, name, _ in boot.symbols if kind in "tTwW"}
    for row in rows:
        chains.setdefault(row["chain"], []).append(row)
        check(row["function"].split(" ")[0].split("+")[0] in functions, f"no function: {row}")
    for chain, members in chains.items():
        priorities = [row["priority"] for row in members]
        check_equal(priorities, sorted(priorities, reverse=True), f"priorities of {chain}")
        check_equal([row["place"] for row in members], list(range(len(members))), f"places of {chain}")
    for chain, blocks in KNOWN.items():
        inside = {names.get(int(row["notifier"], 16)) for row in chains.get(chain, ())}
        check_equal(blocks - inside, set(), f"notifiers of {chain}")
    # A variable of this type that is registered is in one place.
    places = [row["notifier"] for row in rows]
    check_equal(len(places), len(set(places)), "blocks that are in two chains")
    check(len(chains) > 10 and len(rows) > 60, f"{len(rows)} in {len(chains)} chains")
    notes.append(f"{len(rows)} notifiers in {len(chains)} chains")


def rcu(program, boot, notes):
    """What RCU said of itself when SysRq asked it, and what went on since."""
    rows = program.result(boot.dump, "rcu")
    check_equal([row["cpu"] for row in rows], list(range(boot.cpu_count)), "CPUs")
    console = "\n".join(record["text"] for record in program.result(boot.dump, "log"))
    # It counts from -1200 on: on a fast machine the first grace periods are not over when it is asked.
    said = re.search(r"rcu: rcu_(?:preempt|sched): wait state: .* ->gp_seq (-?\d+) ->gp_seq_needed (-?\d+)", console)
    invoked = re.search(r"RCU callbacks invoked since boot: (\d+)", console)
    check(said and invoked, "truth: RCU said nothing")
    check(sum(int(row["invoked"]) for row in rows) >= int(invoked[1]), f"callbacks: {rows}, they were {invoked[1]}")
    check(max(int(row["gp_seq"]) for row in rows) >= int(said[1]), f"grace periods: {rows}, they were {said[1]}")
    for found in re.finditer(r"\tcpu (\d+) ->gp_seq_needed (-?\d+)", console):
        row = rows[int(found[1])]
        check(int(row["gp_seq_needed"]) >= int(found[2]), f"gp_seq_needed of {row}: it was {found[2]}")
    state = program.value(boot.dump, "rcu_state.gp_seq")
    check(all(int(row["gp_seq"]) <= int(state) for row in rows), f"ahead of {state}")
    for row in rows:
        node, data = f"((struct rcu_node *){row['node']})", f"((struct rcu_data *){row['rdp']})"
        owes = program.value(boot.dump, f"({node}->qsmask & {data}->grpmask) != 0")
        check_equal(row["owes"], int(owes), "owes")
    for row in program.result(boot.dump, "rcureaders"):
        check(row["nesting"] > 0, f"{row} reads nothing")
    notes.append(f"{len(rows)} CPUs")


def uprobes(program, boot, notes):
    rows = program.result(boot.dump, "uprobes")
    wanted = []
    for line in boot.truth("uprobe_events").splitlines():
        path, _, offset = line.split()[1].rpartition(":")
        wanted.append((path, int(offset, 16)))
    check(wanted, "truth: no probes")
    check_equal([(row["path"], int(row["offset"])) for row in rows], wanted, "probes")
    notes.append(f"{len(rows)} probes")


def bootparams(program, boot, notes):
    rows = program.result(boot.dump, "bootparams")
    words = shlex.split(boot.truth("cmdline"))
    check_equal([(row["name"], row["value"]) for row in rows],
                [(word.partition("=")[0], word.partition("=")[2] if "=" in word else None) for word in words], "words")
    check_equal([row["place"] for row in rows], list(range(len(words))), "places")
    # Debian's kernels have none in memory.
    check_equal(program.result(boot.dump, "config"), [], "configuration")
    notes.append(f"{len(rows)} words")


def bios(program, boot, notes):
    """Of a disk that answers nothing: those of each request are as long as it is, and begin where it does."""
    requests = {row["request"]: row for row in program.result(boot.dump, "requests")}
    rows = program.result(boot.dump, "bios")
    check(rows, "truth: nothing is in flight")
    by_request = {}
    for row in rows:
        by_request.setdefault(row["request"], []).append(row)
    for address, members in by_request.items():
        request = requests[address]
        check_equal({(row["op"], row["disk"]) for row in members}, {(request["op"], request["disk"])}, "operation and disk")
        check_equal((sum(row["size"] for row in members), int(members[0]["sector"])), (request["size"], int(request["sector"])),
                    "size and place")
    notes.append(f"{len(rows)} bios of {len(by_request)} requests")


BUSY = re.compile(r"\S+/block/(\w+)/hctx\d+/busy \S+ \{\.op=(\w+),.*?\.state=in_flight, \.tag=(\d+),(.*)\}")
SCSI = re.compile(r"\.(retries|allowed|timeout|flags)=([\w.|]+)|\.(cmd)=\S+ ([0-9a-f ]+),")
NVME = re.compile(r"nvme_setup_cmd: (\w+): disk=(\w+), qid=\d+, cmdid=(\d+), nsid=(\d+), .*cmd=\(nvme_cmd_(\w+) slba=(\d+), len=(\d+)")
DISPATCHED = re.compile(r"host_no=(\d+) channel=(\d+) id=(\d+) lun=(\d+) .*driver_tag=(\d+) .*cmnd=\((\w+) lba=(\d+) .*raw=([0-9a-f ]+)\)")
SECOND = 10 ** 9


def iocommands(program, boot, notes):
    """Of three disks of three kinds that answer nothing: what was asked for, and what the kernel said of its commands."""
    rows = program.result(boot.dump, "iocommands -o request,command,driver,tag,name,opcode,cdb,lba,age,timeout,left,timed_out,retries,allowed,flags,device,disk")
    requests = {row["request"]: row for row in program.result(boot.dump, "requests -o request,tag,op,state,sector,age,disk")}
    check_equal({row["request"] for row in rows}, {address for address, row in requests.items() if row["state"] == "IN_FLIGHT"}, "requests")
    # Its driver is a function that hands them to a worker: no command of a bus.
    check_equal({(row["driver"], row["name"], row["lba"]) for row in rows if row["disk"] == "loop6"}, {("loop_queue_rq", None, None)}, "commands of loop6")
    rows = [row for row in rows if row["disk"] != "loop6"]
    kinds = {"vdb": ("virtio_blk", "IN", "OUT"), "sda": ("scsi", "READ_10", "WRITE_10"), "nvme0n1": ("nvme", "read", "write")}
    for row in rows:
        request = requests[row["request"]]
        check_equal([row[name] for name in ("tag", "age", "disk")], [request[name] for name in ("tag", "age", "disk")], f"{row}")
        # All of them have blocks of 512 bytes.
        check_equal(int(row["lba"]), int(request["sector"]), f"{row}")
        check_equal((row["driver"], row["name"]), (kinds[row["disk"]][0], kinds[row["disk"]][1 + (request["op"] == "WRITE")]), f"{row}")
        # The driver of virtio's disks waits anew when the time is over.
        if row["disk"] != "vdb":
            check(abs(int(row["timeout"]) - int(row["left"]) - int(row["age"])) < SECOND, f"{row}")
        check(row["timed_out"] in (0, None), f"{row}")
    asked = [line.split() for line in boot.truth("disks_asked", "asked").splitlines()]
    check_equal(sorted((disk, kinds[disk][1 + "rw".index(how)], int(sector)) for disk, how, sector, _ in asked if disk != "vdb"),
                sorted((row["disk"], row["name"], int(row["lba"])) for row in rows if row["disk"] != "vdb"), "what was asked for")
    check({(kinds["vdb"][1 + "rw".index(how)], int(sector)) for disk, how, sector, _ in asked if disk == "vdb"}
          <= {(row["name"], int(row["lba"])) for row in rows if row["disk"] == "vdb"}, "what was asked of vdb")
    by_tag = {(row["disk"], row["tag"]): row for row in rows}
    busy = [match.groups() for match in map(BUSY.match, boot.truth("disks_asked", "busy").splitlines()) if match[1] != "loop6"]
    # Of vdb other tasks asked later.
    check_equal(sum(disk != "vdb" for disk, *_ in busy), sum(disk != "vdb" for disk, *_ in asked), "truth: requests in debugfs")
    check_equal({key for key in by_tag if key[0] != "vdb"}, {(disk, int(tag)) for disk, _, tag, _ in busy if disk != "vdb"}, "tags")
    same = []
    for disk, operation, tag, more in busy:
        row = by_tag[disk, int(tag)]
        same.append(requests[row["request"]]["op"] == operation)
        # vdb answers now and then: another request may have got the tag of one that it answered.
        check(same[-1] or disk == "vdb", f"{row}: not {operation}")
        if disk == "sda":
            said = {one or other: value or text for one, value, other, text in SCSI.findall(more)}
            check_equal((row["cdb"], row["retries"], row["flags"].bit_count()),
                        (said["cmd"].replace(" ", ""), int(said["retries"]), len(said["flags"].split("|"))), f"{row}")
            # A tick has as many ns as NTP makes it have.
            wanted = float(said["timeout"]) * SECOND
            check(abs(int(row["timeout"]) - wanted) < wanted / 1_000_000, f"{row}, {said}")
            # 6.1 says it not.
            check_equal(row["allowed"], int(said.get("allowed", row["allowed"])), f"{row}")
    check(same.count(False) < sum(disk == "vdb" for disk, *_ in busy), f"requests of vdb: {same}")
    traced = boot.truth("disks_asked", "traced")
    for host, channel, number, lun, tag, name, block, sent in DISPATCHED.findall(traced):
        row = by_tag.get(("sda", int(tag)))
        if row:
            check_equal((row["device"], row["name"], int(row["lba"]), row["cdb"]), (f"{host}:{channel}:{number}:{lun}", name, int(block), sent.replace(" ", "")), f"{row}")
            check_equal(row["opcode"], int(sent[:2], 16), f"{row}")
    # What an answered command had as its tag another one may have had since: the last one counts.
    last = {(disk, int(identity) & 0xfff): (device, int(identity), int(space), name, block, int(length))
            for device, disk, identity, space, name, block, length in NVME.findall(traced)}
    for (disk, tag), (device, identity, space, name, block, length) in last.items():
        row = by_tag.get((disk, tag))
        if row:
            sent = bytes.fromhex(row["cdb"])
            check_equal((row["device"], row["name"], int(row["lba"])), (device, name, int(block)), f"{row}")
            check_equal([int.from_bytes(sent[at:at + size], "little") for at, size in ((0, 1), (2, 2), (4, 4), (40, 8), (48, 2))],
                        [row["opcode"], identity, space, int(block), length], f"{row}")
            check_equal((round(int(row["timeout"]) / SECOND, 3), row["retries"]), (700, 0), f"{row}")
    check(sum(key in by_tag for key in last) >= 3, f"truth: {last}")
    check({f"virtio {row['device']} virtio_blk" for row in rows if row["disk"] == "vdb"} < set(boot.truth("buses").splitlines()), "devices of virtio")
    notes.append(f"{len(rows)} commands")


def dmtargets(program, boot, notes):
    """What DM_TABLE_STATUS said of devices and of the targets of their live tables."""
    names = {row["dev"]: row["name"] for row in program.result(boot.dump, "disks -o dev,name")}
    wanted, devices = [], {}
    for line in boot.truth("disks_asked", "mapped").splitlines():
        kind, _, rest = line.partition(" ")
        words = rest.split("|")
        if kind == "device":
            devices[words[0]] = words
            check_equal(names.get(words[2], "dm-" + words[2].split(":")[1]), "dm-" + words[2].split(":")[1], "disks")
        else:
            wanted.append((words[0], int(words[1]), int(words[2]), words[3], words[4]))
    rows = program.result(boot.dump, "dmtargets -o md,dm_table,target,disk,suspended,flags,open,event_nr,start,length,type,devices,name,uuid")
    got = []
    for row in rows:
        name, uuid, number, state, opened, event = devices[row["name"]]
        check_equal((row["uuid"] or "", row["disk"], row["suspended"], row["open"], row["event_nr"]),
                    (uuid, "dm-" + number.split(":")[1], int(state == "suspended"), int(opened), int(event)), f"{row}")
        if row["target"]:
            below = (row["devices"] or "").split(", ")
            # In front of stripes: how many there are, and how large a piece is.
            text = " ".join(([f"{len(below)} 8"] if row["type"] == "striped" else []) + below)
            got.append((name, int(row["start"]), int(row["length"]), row["type"], text))
        else:
            check_equal([row[key] for key in ("dm_table", "start", "length", "type", "devices")], [None] * 5, f"{row}")
    check_lines(sorted(map(str, got)), sorted(map(str, wanted)), "target")
    check_equal({row["name"] for row in rows}, set(devices), "devices")
    check({"suspended", "active"} == {words[3] for words in devices.values()} and len({target[0] for target in wanted}) < len(devices) < len(wanted), "truth")
    notes.append(f"{len(wanted)} targets of {len(devices)} devices")


def freelists(program, boot, notes):
    """The lists of /proc/pagetypeinfo; each order has as many blocks as the zone counts, and all are what is free."""
    rows = program.result(boot.dump, "freelists")
    kinds = {}
    for line in boot.truth("pagetypeinfo").splitlines():
        found = re.match(r"Node +(\d+), zone +(\w+), type +(\w+) +(.*)", line)
        if found:
            kinds.setdefault((int(found[1]), found[2]), []).append((found[3].lower(), len(found[4].split())))
    zones = {(row["node"], row["name"]): row for row in program.result(boot.dump, "zones")}
    check(zones and set(zones) <= set(kinds), f"zones {set(zones)}, the guest had {set(kinds)}")
    for key, zone in zones.items():
        mine = [row for row in rows if (row["node"], row["name"]) == key]
        orders = kinds[key][0][1]
        check_equal(len(mine), orders * len(kinds[key]), f"lists of {key}")
        check_equal(sum(row["free"] for row in mine), zone["free"], f"free memory of {key}")
        for order in range(orders):
            counted = program.value(boot.dump, f"((struct zone *){zone['zone']})->free_area[{order}].nr_free")
            check_equal(sum(int(row["blocks"]) for row in mine if row["ord"] == order), int(counted), f"blocks of {key}, order {order}")
        names = [row["type"].lower() for row in mine if row["ord"] == 0]
        check_equal([name for name, _ in kinds[key] if name not in names and name != "highatomic"], [], f"types of {key}: {names}")
    notes.append(f"{len(rows)} lists")


def words_of(program, boot, address, count):
    """So many unsigned longs from there on, as one number."""
    words = [word for line in program.result(boot.dump, f"rd 0x{address:x} {count}") for word in line["words"]]
    check_equal(len(words), count, f"words at {address:x}")
    return sum(int(word, 16) << 64 * place for place, word in enumerate(words))


def percpu(program, boot, notes):
    """Pages: all that the kernel counts, as in /proc/meminfo. Bytes: by the maps of what is allocated; what slab caches have of it begins there."""
    def value(expression):
        number = program.value(boot.dump, expression)
        return sum(number) if isinstance(number, list) else int(str(number), 0)

    rows = program.result(boot.dump, "percpu")
    kinds = [row["kind"] for row in rows]
    check_equal((kinds[:2], kinds.count("first")), (["static", "reserved"], 1), f"kinds {kinds}")
    chunks = rows[1:]
    check_equal(sum(row["nr_populated"] for row in rows), value("pcpu_nr_populated"), "pages that have memory")
    memory = sum(row["memory"] for row in rows)
    said = int(re.search(r"^Percpu: +(\d+) kB", boot.truth("meminfo"), re.M)[1]) * 1024
    check(abs(memory - said) <= said // 8, f"memory: {memory}, Percpu was {said}")
    # What is counted is where allocations may go.
    empty = [row["nr_empty_pop_pages"] for row in chunks if row["kind"] != "reserved" and not row["isolated"]]
    check_equal(sum(empty), value("pcpu_nr_empty_pop_pages"), "pages without anything")
    maps = {}
    for row in chunks:
        chunk = f"((struct pcpu_chunk *){row['chunk']})"
        bits = row["size"] // 4
        taken, bounds = (words_of(program, boot, value(f"{chunk}->{name}"), bits // 64) for name in ("alloc_map", "bound_map"))
        check_equal((bits - taken.bit_count()) * 4, row["free"], f"free bytes of {row}")
        text = format(taken, f"0{bits}b")
        check(row["largest"] <= 4 * max(map(len, text.split("1"))), f"no area is as large: {row}")
        maps[int(row["base_addr"], 16)] = row["size"], taken, bounds
    # A per-CPU pointer is an offset from the CPU's variables.
    starts = value("__per_cpu_offset[0]") - value("pcpu_unit_offsets[0]")
    member = "cpu_slab" if "cpu_slab" in program.text(boot.dump, "whatis struct kmem_cache") else "cpu_sheaves"
    pointers = [int(row["value"], 16) for row in program.result(boot.dump, f"slabs | print {member}")]
    for pointer in pointers:
        address = (pointer + starts) % (1 << 64)
        base = max((base for base in maps if base <= address), default=None)
        check(base is not None and address - base < maps[base][0], f"{pointer:x} is in no chunk")
        place = (address - base) // 4
        check((maps[base][1] & maps[base][2]) >> place & 1, f"nothing allocated begins at {pointer:x}")
    check(len(set(pointers)) > 50, f"{len(set(pointers))} pointers of slab caches")
    notes.append(f"{len(chunks)} chunks, {memory >> 10} KiB, {said >> 10} before, {len(pointers)} pointers")


def objects(program, boot, notes):
    """Of each cache as many as the kernel counts, free and in use; what tables of files and tasks have is in use there."""
    caches = {row["cache"]: row for row in program.result(boot.dump, "slabs -o cache,name,num_objs,active_objs,inuse")}
    sums = {cache: collections.Counter() for cache in caches}
    states = collections.Counter()
    for row in program.result(boot.dump, "sql SELECT cache, state, list, count(*) AS n FROM objects GROUP BY 1, 2, 3"):
        states[row["state"]] += row["n"]
        check(row["state"] != "free" or row["list"] != "none", f"free objects of a slab that is nowhere: {row}")
        check(row["state"] != "unsure", f"objects in use or free: {row}")
        if row["list"] == "rcu":
            check_equal(row["state"], "free", f"of slabs that were given back: {row}")
            continue
        count = sums[row["cache"]]
        count["all"] += row["n"]
        count["active"] += row["n"] * ((row["state"], row["list"]) != ("free", "partial"))
        count[row["state"]] += row["n"]
    for cache, row in caches.items():
        check_equal((sums[cache]["all"], sums[cache]["active"]), (int(row["num_objs"]), int(row["active_objs"])), f"objects of {row['name']}")
        check_equal(sums[cache]["allocated"], int(row["inuse"]), f"objects in use of {row['name']}")
    tasks = {row["task"] for row in program.result(boot.dump, "tasks -o task")}
    known = {"filp": {row["file"] for row in program.result(boot.dump, "files -a -o file")},
             "task_struct": tasks - {f"{boot.address('init_task'):#x}"},
             "vm_area_struct": {row["vma"] for row in program.result(boot.dump, "mappings -a -o vma") if row["vma"]}}
    for name, addresses in known.items():
        rows = program.result(boot.dump, f"objects {name}")
        check_equal({row["name"] for row in rows}, {name}, "caches of a name")
        taken = [row["object"] for row in rows if row["state"] != "free"]
        check_equal((len(set(taken)), addresses - set(taken)), (len(taken), set()), f"{name} that are not in use")
        # The kernel has files of its own; of tasks and mappings some may be about to be freed.
        check(name == "filp" or len(taken) <= len(addresses) + 4, f"{len(taken)} {name} in use, {len(addresses)} in tables")
        check_equal(program.result(boot.dump, f"sql SELECT * FROM objects WHERE name = '{name}'"), rows, f"{name} by SQL")
    both = program.result(boot.dump, "objects filp task_struct -o name")
    check_equal({row["name"] for row in both}, {"filp", "task_struct"}, "caches of two names")
    check_equal(program.result(boot.dump, "objects nonesuch"), [], "objects of no cache")
    notes.append(", ".join(f"{count} {state}" for state, count in sorted(states.items())) + f" in {len(caches)} caches")


CASES = (("objects are as many as slabs count", objects), ("percpu is what /proc/meminfo and its maps say", percpu), ("freelists are /proc/pagetypeinfo", freelists), ("dyndbg is dynamic_debug/control", dyndbg), ("pressure is /proc/pressure", pressure), ("irqcounts are /proc/interrupts", irqcounts),
         ("irqs have /proc/irq's CPUs", affinity), ("notifiers are in their chains", notifiers), ("rcu is what it said", rcu),
         ("uprobes are uprobe_events", uprobes), ("bootparams are /proc/cmdline", bootparams))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
    for boot in boots_of_most(session, "held"):
        session.cases(boot, (("bios of requests", bios), ("iocommands are what drivers were given", iocommands),
                             ("dmtargets are dmsetup's table", dmtargets)))
