# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the network against what the guest said of it: sockets, routes, neighbours. All rows."""

import ipaddress
import re

from lib import boots, check, check_equal

STATES = {"01": "ESTABLISHED", "04": "FIN_WAIT1", "05": "FIN_WAIT2", "06": "TIME_WAIT", "07": "CLOSE", "08": "CLOSE_WAIT", "0A": "LISTEN"}
SOON = 6000  # ticks
UNIX_TYPES = {"0001": "STREAM", "0002": "DGRAM", "0005": "SEQPACKET"}


def end(word):
    digits, port = word.split(":")
    data = b"".join(bytes.fromhex(digits[at:at + 8])[::-1] for at in range(0, len(digits), 8))
    address = ipaddress.ip_address(data)
    return f"[{address}]:{int(port, 16)}" if address.version == 6 else f"{address}:{int(port, 16)}"


def internet(boot, name):
    """(state, local, remote, what waits on both sides, inode) of each row of /proc/net/tcp and the like."""
    found = []
    for line in boot.truth("net", name).splitlines()[1:]:
        words = line.split()
        sent, received = (int(part, 16) for part in words[4].split(":"))
        # A connection that nobody holds ends when its time has come, before the machine dies.
        soon = int(words[9]) == 0 and int(words[5].split(":")[1], 16) < SOON
        found.append(((STATES[words[3]], end(words[1]), end(words[2]), received, sent, int(words[9])), soon))
    return found


def own_namespace(boot):
    line, = (line for line in boot.tasks[1].read("namespaces").decode().splitlines() if line.startswith("net "))
    return int(re.search(r"\d+", line).group())


def socks(program, boot, notes):
    """All rows of /proc/net/{tcp,tcp6,udp,udp6,raw,raw6,unix,netlink,packet}, those that nobody holds, too."""
    rows = [row for row in program.result(boot.dump, "socks") if row["namespace"] == own_namespace(boot)]

    def those(family, protocol):
        return [row for row in rows if (row["family"], row["protocol"]) == (family, protocol)]

    count, ended = 0, 0
    for name, family, protocol in (("tcp", "INET", 6), ("tcp6", "INET6", 6), ("udp", "INET", 17), ("udp6", "INET6", 17)):
        got = sorted((row["state"], row["local"], row["remote"], row["rx"] or 0, row["tx"] or 0, row["ino"])
                     for row in those(family, protocol))
        wanted = internet(boot, name)
        gone = {one for one, soon in wanted if soon} - set(got)
        check_equal(got, sorted(one for one, _ in wanted if one not in gone), name)
        count += len(got)
        ended += len(gone)
    nobodys = sum(row["ino"] == 0 for row in rows)
    check(nobodys + ended, "truth: nobody's connection")
    for name, family in (("raw", "INET"), ("raw6", "INET6")):
        got = sorted((row["local"], row["remote"], row["ino"]) for row in rows if (row["type"], row["family"]) == ("RAW", family))
        check_equal(got, sorted((one[1], one[2], one[5]) for one, _ in internet(boot, name)), name)
    unix = []
    for line in boot.truth("net", "unix").splitlines()[1:]:
        words = line.split(None, 7)
        unix.append((int(words[6]), UNIX_TYPES[words[4]], words[7] if len(words) > 7 else ""))
    check_equal(sorted((row["ino"], row["type"], row["local"] or "") for row in rows if row["family"] == "UNIX"),
                sorted(unix), "UNIX sockets")
    netlink = [(int(words[1]), int(words[2]), int(words[9])) for words in
               map(str.split, boot.truth("net", "netlink").splitlines()[1:])]
    check_equal(sorted((row["protocol"], int(row["local"]), row["ino"]) for row in rows if row["family"] == "NETLINK"),
                sorted(netlink), "netlink sockets")
    packet = [(words[3].lower(), int(words[4]), int(words[8])) for words in map(str.split, boot.truth("net", "packet").splitlines()[1:])]
    got = [(*row["local"].split(":"), row["ino"]) for row in rows if row["family"] == "PACKET"]
    check_equal(sorted((kind, 0 if index == "*" else int(index), ino) for kind, index, ino in got), sorted(packet), "packet sockets")
    check(count + ended > 7 and len(unix) > 2 and len(netlink) > 5 and packet, "truth: no sockets")
    held = program.result(boot.dump, "sql SELECT sock FROM sockets WHERE family IN ('INET', 'INET6', 'UNIX', 'NETLINK', 'PACKET') "
                          "AND ino IN (SELECT ino FROM socks WHERE ino > 0) EXCEPT SELECT sock FROM socks")
    check_equal(held, [], "sockets of tasks")
    notes.append(f"{len(rows)} sockets, {nobodys} that nobody holds, {ended} ended")


def fib_trie(boot):
    """(table, destination, type) of /proc/net/fib_trie."""
    found, table, key = set(), None, None
    for line in boot.truth("net", "fib_trie").splitlines():
        head = re.match(r"(\w+):$", line)
        leaf = re.match(r" +\|-- (\S+)$", line)
        route = re.match(r" +/(\d+) (\w+) (\w+)", line)
        if head:
            table = head[1].lower()
        elif leaf:
            key = leaf[1]
        elif route:
            found.add((table, f"{key}/{route[1]}", route[3].lower()))
    return found


def routes(program, boot, notes):
    rows = [row for row in program.result(boot.dump, "routes") if row["namespace"] == own_namespace(boot)]
    # While both tables are one trie, it is printed under either name.
    wanted = {(destination, kind) for _, destination, kind in fib_trie(boot)}
    check_equal({(row["destination"], row["type"]) for row in rows}, wanted, "routes of /proc/net/fib_trie")
    rows = [row for row in rows if not row["hop"]]
    check_equal(len(rows), len(wanted), "rows of first hops")
    main = []
    for line in boot.truth("net", "route").splitlines()[1:]:
        device, destination, gateway, flags, _, _, metric, mask, *_ = line.split()
        network, hop, bits = (str(ipaddress.IPv4Address(int(word, 16).to_bytes(4, "little"))) for word in (destination, gateway, mask))
        main.append((None if device == "*" else device, f"{network}/{ipaddress.ip_network('0.0.0.0/' + bits).prefixlen}",
                     hop if int(flags, 16) & 2 else None, int(metric), bool(int(flags, 16) & 0x200)))
    got = [(row["dev"], row["destination"], row["gateway"], row["metric"], row["type"] == "unreachable")
           for row in rows if row["tb"] == "main"]
    check_equal(sorted(got, key=str), sorted(main, key=str), "routes of /proc/net/route")
    check(len(main) >= 3, "truth: no routes")
    notes.append(f"{len(rows)} routes")


FLAGS6 = {"UP": 1, "GATEWAY": 2, "HOST": 4, "REJECT": 0x200, "DEFAULT": 0x10000, "ALLONLINK": 0x20000, "ADDRCONF": 0x40000,
          "PREFIX_RT": 0x80000, "ANYCAST": 0x100000, "NONEXTHOP": 0x200000, "EXPIRES": 0x400000, "LOCAL": 0x80000000}
NO_ROUTE6 = 0x200200  # flags of the entry that each table begins with: there is none


def routes6(program, boot, notes):
    """All rows of /proc/net/ipv6_route: prefixes, gateways, metrics, flags and devices; which are this host's own by if_inet6."""
    rows = [row for row in program.result(boot.dump, "routes6") if row["namespace"] == own_namespace(boot)]

    def address(digits):
        return str(ipaddress.IPv6Address(bytes.fromhex(digits)))

    wanted, empty = [], 0
    for line in boot.truth("net", "ipv6_route").splitlines():
        to, bits, origin, origin_bits, hop, metric, _, _, flags, device = line.split()
        if (int(flags, 16), int(metric, 16), device) == (NO_ROUTE6, 0xffffffff, "lo"):
            empty += 1
            continue
        wanted.append((f"{address(to)}/{int(bits, 16)}", f"{address(origin)}/{int(origin_bits, 16)}" if int(origin_bits, 16) else None,
                       address(hop) if int(flags, 16) & 2 else None, int(metric, 16), int(flags, 16) & ~2, device))
    got = [(row["destination"], row["origin"], row["gateway"], row["metric"],
            sum(FLAGS6[word] for word in row["flags"].split(",") if word), row["dev"]) for row in rows if not row["hop"]]
    check_equal(sorted(got, key=str), sorted(wanted, key=str), "routes of /proc/net/ipv6_route")
    check(len(wanted) >= 6 and empty, "truth: no routes")
    # The addresses that the machine has are local, and nothing else is.
    own = {f"{address(line.split()[0])}/128" for line in boot.truth("net", "if_inet6").splitlines()}
    check_equal({row["destination"] for row in rows if row["type"] == "local"}, own, "local routes")
    check_equal({row["tb"] for row in rows if row["type"] == "local"}, {"local"}, "their table")
    check_equal({row["destination"] for row in rows if row["type"] == "multicast"}, {"ff00::/8"}, "multicast")
    every = {row["namespace"] for row in program.result(boot.dump, "routes6")}
    notes.append(f"{len(rows)} routes; {len(every)} namespaces have some")


def neighbours(program, boot, notes):
    """What `ip neigh` said; some came since, or were let go."""
    rows = {(row["address"], row["dev"]): row for row in program.result(boot.dump, "neighbours")}
    wanted = {}
    for line in boot.truth("neighbours").splitlines():
        words = line.split()
        wanted[words[0], words[2]] = words[words.index("lladdr") + 1] if "lladdr" in words else None, words[-1]
    lasting = {key for key, (_, state) in wanted.items() if state == "PERMANENT"}
    check(lasting and lasting <= set(rows), f"missing of {wanted}")
    check(len(set(rows) & set(wanted)) > len(wanted) / 2, f"other neighbours: {set(rows)}, {set(wanted)}")
    for key in set(rows) & set(wanted):
        check_equal((rows[key]["mac"], rows[key]["state"]), wanted[key], f"neighbour {key}")
    arp = [line.split() for line in boot.truth("net", "arp").splitlines()[1:]]
    check_equal({(words[0], words[5]): words[3] for words in arp},
                {key: row["mac"] for key, row in rows.items() if row["tbl"] == "arp_cache" and row["state"] != "NOARP"},
                "/proc/net/arp")
    notes.append(f"{len(rows)} neighbours")


CASES = (("socks are /proc/net", socks), ("routes are /proc/net/fib_trie and route", routes),
         ("routes6 are /proc/net/ipv6_route", routes6), ("neighbours are ip neigh", neighbours))


def run(session):
    for boot in boots():
        session.cases(boot, CASES)
