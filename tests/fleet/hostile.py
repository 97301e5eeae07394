# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile records and files for fleet/: of a seed always the same.

A record is a good one with something done to it; what may be of that fleet/ has to know by itself, and is_record() by the
schema's files and a library.
"""

import copy
import datetime
import functools
import gzip
import json
import os
import random
import re
import socket
import stat

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORD = {
    "schema": "btfcrash-record", "version": 1, "program": "1.2.3", "time": "2026-11-24T07:58:30Z", "uptime": 5,
    "kernel": {"release": "6.1.0-1-amd64", "version": "#1 SMP Debian", "machine": "x86_64", "build_id": "00ff"},
    "host": {"name": "zebra-host", "boot_id": "00", "hardware": "box", "cpus": 1, "cpus_online": 1, "memory": 1 << 30},
    "kind": "bug", "sure": "certain", "summary": "zebra-summary", "signature": "1 bug a/b", "blamed": ["a", "b"],
    "panic": "zebra-panic", "findings": [{"kind": "bug", "sure": "certain", "summary": "zebra-finding"}],
    "task": {"comm": "zebra-comm", "pid": 3, "cpu": 0, "state": "R"}, "taints": "G",
    "modules": [{"name": "m", "version": "1.0", "srcversion": "AB", "taints": ""}],
    "memory": {"total": 1 << 30, "unaccounted": 0, "kinds": [{"kind": "free", "bytes": 4096}]},
    "stack": [{"function": name, "offset": 1, "module": None, "found": "orc"} for name in ("p", "a.cold", "b", "c_noprof", "d")],
    "waiting": [{"kind": "mutex", "function": "f", "caller": None, "tasks": 3, "longest_ms": 1}],
    "dump": {"format": "ELF", "level": None, "size": 1, "kdump": True, "live": False, "problems": ["zebra-problem"]},
    "log": [{"us": 1, "text": "zebra-log"}], "stacks": [{"count": 1, "tasks": ["zebra-stacks"]}]}
NAMES = b"zebra"        # what none of --anonymous may have
RAW = "@@RAW@@"         # stands for bytes that no library would write

NUMBERS = (
    "Infinity", "-Infinity", "NaN", "1e999", "-1e999", "1e308", "0.5", "1.0", "-0", "-0.0", "-1", "9007199254740991",
    "9007199254740992", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1" * 25, "1" * 5000, "0x10", "1_0",
    "01", "+1", "1e2", "1E400", ".5", "1.", "true", "null", '"5"', "[]", "{}", "inf", "\u0665")
TEXTS = (
    r'"\u0000"', r'"a\u0000b"', r'"\ud800"', r'"\udc80x"', r'"\ud83d\ude00"', '"\u202egnp.exe"', '"\u200f\u0627\u0644"', r'"\\."', r'"\\N"',
    r'"\t\n\r\b\f"', r'"\u0001\u001b[31m\u009b"', r'"\\\\\\"', r'"\"\"\""', '"\'; DROP TABLE fleet.record; --"', '"$$; SELECT 1; $$"',
    '"%s%n%x"', '"<script>alert(1)</script>"', '"&lt;!--"', '"{\\"a\\",NULL,}"', r'"\\u0000"', '"\ufeff"', '"\ufffe\uffff"', '"\U0010ffff"',
    '"e' + "\u0301" * 2000 + '"', '""', '" "', '"\u0131\u0130\u00df"', '"\n"', '"\0"', '"\x1f"', '"a', "'a'", r'"\x41"', r'"\u12"', '"NaN"', '"\\.\\n"',
    r'"\\.' + r'\n"', r'"COPY staged FROM STDIN;\n\\."', r'"\r\n\\.\r\n"', '"--"', '"-rf"', '"../../../etc/passwd"', '"/dev/zero"')
BYTES = (b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x80"')
VALUES = ("[]", "{}", "null", "0", "1", "true", "false", '"x"', "[[]]", '[""]', "[null]", "[{}]", '{"a":1}', "[0]", "-1")


def good(number):
    """A record that is like no other."""
    record = copy.deepcopy(RECORD)
    record["host"]["boot_id"] = f"{number:032x}"
    record["time"] = (datetime.datetime(2026, 1, 1) + datetime.timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return record


def places(value, is_wanted, path=()):
    """Paths of the values in it that are wanted."""
    if path and is_wanted(value):
        yield path
    for key, member in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(member, is_wanted, (*path, key))


def put(record, path, value):
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value


def at(record, path):
    return functools.reduce(lambda value, key: value[key], path, record)


def written(record, raw=b""):
    return json.dumps(record).encode().replace(f'"{RAW}"'.encode(), raw)


def is_number(value):
    return type(value) is int


def is_text(value):
    return isinstance(value, str)


# --- what is done to a record: each a function of it and of chance, with the bytes as answer -----


def number_put(record, chance):
    put(record, chance.choice(list(places(record, is_number))), RAW)
    return written(record, chance.choice(NUMBERS).encode())


def text_put(record, chance):
    put(record, chance.choice(list(places(record, is_text))), RAW)
    return written(record, chance.choice([*(text.encode() for text in TEXTS), *BYTES]))


def noise(chance, size):
    """Text that no index makes smaller."""
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöü漢字", k=size))


def long_text_put(record, chance):
    size = chance.choice((300, 700, 2000, 2700, 3000, 9000, 70000, 1 << 20))
    text = noise(chance, min(size, 9000)) * (size // min(size, 9000))
    for path in chance.sample(list(places(record, is_text)), chance.choice((1, 3))):
        if path[0] not in ("schema", "time", "sure"):
            put(record, path, text)
    return written(record)


def value_put(record, chance):
    put(record, chance.choice(list(places(record, lambda _: True))), RAW)
    return written(record, chance.choice(VALUES).encode())


def key_taken(record, chance):
    *path, key = chance.choice(list(places(record, lambda _: True)))
    del at(record, path)[key]
    return written(record)


def key_added(record, chance):
    objects = [(), *places(record, lambda value: isinstance(value, dict))]
    key = chance.choice(("zebra", "comm", "__proto__", "", "schema ", "Schema", "\ud800", "identity", "source", "error", "a\0b", "x" * 5000))
    at(record, chance.choice(objects)).setdefault(key, chance.choice(("zebra", 1, None, [], {"zebra": ["zebra"]})))
    return written(record)


def key_twice(record, chance):
    *path, key = chance.choice(list(places(record, lambda value: not isinstance(value, (dict, list)))))
    if isinstance(key, int):
        return written(record)
    put(record, (*path, key), RAW)
    value = json.dumps(at(good(0), (*path, key)))
    return written(record, f'{value}, {json.dumps(key)}: "zebra"'.encode())


def list_filled(record, chance):
    """As long as a record can have it, each element another."""
    path = chance.choice([path for path in places(record, lambda value: isinstance(value, list)) if path[0] != "stacks"])
    element, name = at(record, path)[0], f"{chance.randrange(1 << 30):x}"
    rows = [copy.copy(element) for _ in range(30000)]
    for number, row in enumerate(rows):
        if isinstance(row, dict):
            row.update({key: f"{name}_{number}" for key in ("function", "name") if key in row})
    put(record, path, rows)
    return written(record)


def nested(record, chance):
    put(record, chance.choice((("stacks", 0, "tasks"), ("kernel",), ("stack",), ("stacks",))), RAW)
    depth = chance.choice((10, 60, 70, 900, 5000, 100000))
    opened, closed = chance.choice((("[", "]"), ('{"a":', "}")))
    return written(record, (opened * depth + "1" + closed * depth).encode())


def open_put(record, chance):
    """Where the schema says nothing."""
    record["stacks"] = [{"a": RAW, "b" * chance.choice((1, 70000)): [1]}]
    return written(record, chance.choice([*(text.encode() for text in NUMBERS + TEXTS + VALUES), *BYTES]))


def moment_put(record, chance):
    record["time"] = chance.choice((
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-1-1T1:1:1Z",
        "2026-01-01T24:00:00Z", "2026-01-01T23:59:60Z", "2026-01-01T23:59:61Z", "-001-01-01T00:00:00Z", "infinity", "now", "epoch",
        "2026-01-01T00:00:00+00", "٢٠٢٦-01-01T00:00:00Z", "2026-01-01T00:00:00Z\n", "2026-01-01T00:00:00.5Z", ""))
    record["uptime"] = chance.choice((0, -5, (1 << 53) - 1, -(1 << 53) + 1, None))
    if chance.random() < 0.5:
        record["host"]["boot_id"] = None
    return written(record)


def bytes_changed(record, chance):
    """What is no JSON, or another one."""
    data = written(record)
    where = chance.randrange(len(data))
    return chance.choice((
        lambda: data[:where], lambda: data + data, lambda: data + b",", lambda: b"\xef\xbb\xbf" + data, lambda: data.decode().encode("utf-16"),
        lambda: b" \n\t" + data + b"\n\n", lambda: data[:where] + b"\0" + data[where:], lambda: data.replace(b"{", b"{,", 1),
        lambda: data[:where] + bytes([data[where] ^ 1 << chance.randrange(8)]) + data[where + 1:], lambda: b"[" + data + b"]",
        lambda: data + b"\0" * 4096, lambda: data.replace(b'"', b"'"), lambda: b"/* btfcrash-record */" + data, lambda: data + b" " * (5 << 20),
        lambda: b'"btfcrash-record"', lambda: b"btfcrash-record", lambda: b'{"schema": "btfcrash-record"}', lambda: b'["btfcrash-record"]'))()


CHANGES = (number_put, number_put, text_put, text_put, long_text_put, value_put, key_taken, key_added, key_twice, nested, open_put, moment_put,
           bytes_changed)


def records(count, seed=1):
    """So many, as bytes. Of those that are large there are few."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        change = list_filled if number % 100 == 99 else CHANGES[number % len(CHANGES)]
        yield change(good(number), chance)


# --- what is a record -----------------------------------------------------------------------------


@functools.cache
def validator():
    import jsonschema  # pylint: disable=import-outside-toplevel
    schemas = []
    for name in ("record", "common"):
        with open(os.path.join(ROOT, "cmds", "schemas", name + ".json"), encoding="utf-8") as file:
            schemas.append(json.loads(file.read().replace("common.json#", "#")))
    schema = {**schemas[0], "$defs": schemas[1]["$defs"]}
    del schema["$id"]
    return jsonschema.Draft202012Validator(schema)


def unique(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def refuse(digits):
    raise ValueError(digits)


def number(digits):
    assert len(digits) <= 20
    return int(digits)


def finite(digits):
    assert abs(float(digits)) != float("inf")
    return float(digits)


def depth(value):
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, members), default=0)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for member in (*value, *(value.values() if isinstance(value, dict) else ())):
            yield from texts(member)


def is_record(data):
    """By the schema; and of what that says nothing: whole numbers as such, each key once, text that a database has."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=unique, parse_int=number, parse_float=finite, parse_constant=refuse)
        if not validator().is_valid(value):
            return False
        for text in texts(value):
            assert "\0" not in text and text.encode() is not None
        closed = {key: member for key, member in value.items() if key != "stacks"}
        assert not list(places(closed, lambda member: isinstance(member, float)))
        assert all(depth(stack) < 64 for stack in value.get("stacks", ()))
        if value["time"]:
            assert re.fullmatch("[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}Z", value["time"])
            datetime.datetime.fromisoformat(value["time"][:-1])
        return value["time"] != ""
    except (ValueError, AssertionError, RecursionError, TypeError):
        return False


# --- files ----------------------------------------------------------------------------------------


def names(chance, number):
    """Of a file: bytes, each another."""
    tag = str(number).encode()
    return chance.choice((
        b"new\nline" + tag, b"-rf" + tag, b"--help" + tag, b"-c!touch hacked" + tag, b"\xff\xfe" + tag, b"n" * (250 - len(tag)) + tag, b"a b'c\"" + tag,
        b"$(touch hacked)" + tag, b"`touch hacked`;" + tag, "\u202e漢".encode() + tag, b"\x1b[31m" + tag, b"\\x41\\" + tag, b"\\xff\xff" + tag, b"%s%n" + tag,
        b"..." + tag, b"*" + tag, b"DUMP\r" + tag, b"~" + tag, b"#!" + tag))


def deep(folder, size):
    """A path of so many bytes, of which a folder is made; the kernel takes no more than 4,095 at once."""
    while len(folder) + 202 < size:
        folder += b"/" + b"d" * 200
        os.makedirs(folder, exist_ok=True)
    return folder + b"/" + b"x" * max(1, size - len(folder) - 1)


def no_dump(chance):
    """What looks like a dump, and is none."""
    noise_bytes = bytes(chance.randrange(256) for _ in range(chance.choice((1, 64, 5000))))
    return chance.choice((
        b"", b"\n", b"text\n", noise_bytes, b"\x7fELF", b"\x7fELF\x02\x01\x01" + noise_bytes, b"KDUMP   " + noise_bytes,
        b"makedumpfile\0\0\0\0" + noise_bytes, gzip.compress(noise_bytes, mtime=0), b"EMiL" + noise_bytes, b"\0" * 100000, b"{}",
        b"\x7fELF\x02\x01\x01\0" + b"\0" * 8 + b"\x04\0\x3e\0" + b"\xff" * 200, b"QEVM" + noise_bytes, b"!<arch>\n" + noise_bytes))


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def set_time(path, chance):
    write(path, no_dump(chance))
    seconds = chance.choice((300000000000, -1, -62135596801, -300000000000, 1 << 62, -(1 << 62), 253402300800, 0))
    try:
        os.utime(path, ns=(0, seconds * 10**9 if abs(seconds) < 1 << 60 else chance.choice((-1, 1)) * ((1 << 63) - 1)))
    except OverflowError:
        pass


def make_sparse(path, chance):
    write(path, b"")
    for power in (62, 43, 40, 30):
        try:
            os.truncate(path, (1 << power) + chance.randrange(1000))
            return
        except OSError:
            continue


def make_socket(path, _):
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(".", os.O_RDONLY)
        os.chdir(os.path.dirname(path))     # a name of a socket has 107 bytes
        try:
            listener.bind(os.path.basename(path))
        finally:
            os.fchdir(here)
            os.close(here)


def make_device(path, chance):
    if os.geteuid() == 0:
        os.mknod(path, 0o666 | chance.choice((stat.S_IFCHR, stat.S_IFBLK)), os.makedev(*chance.choice(((1, 5), (1, 7), (1, 8), (7, 200)))))
    else:
        os.symlink("/dev/full", path)


def link_to(target):
    return lambda path, _: os.symlink(target, path)


def make_unreadable(path, chance):
    write(path, no_dump(chance))
    os.chmod(path, 0)


def make_nothing(_path, _chance):
    pass


# How, and by which name a file is made; "*" is any.
KINDS = (
    ("x%d.json", lambda path, _: os.mkdir(path)), ("fifo%d", lambda path, _: os.mkfifo(path)), ("fifo%d.json", lambda path, _: os.mkfifo(path)),
    ("device%d", make_device), ("device%d.json", make_device), ("dangling%d", link_to("nowhere")), ("zero%d.json", link_to("/dev/zero")),
    ("zero%d", link_to("/dev/zero")), ("kmsg%d.json", link_to("/proc/kmsg")), ("shadow%d.json", link_to("/etc/shadow")), ("self%d", link_to("/proc/self/mem")),
    ("socket%d", make_socket), ("unreadable%d.json", make_unreadable), ("unreadable%d", make_unreadable), ("time%d", set_time), ("time%d.json", set_time),
    ("sparse%d", make_sparse), ("sparse%d.json", make_sparse), ("empty%d.json", lambda path, _: write(path, b"")), ("none%d", make_nothing),
    ("none%d.json/x", make_nothing), ("*", lambda path, chance: write(path, no_dump(chance))),
    ("*.json", lambda path, chance: write(path, no_dump(chance))), ("dump%d", lambda path, chance: write(path, no_dump(chance))))


def lines_of_odd_paths(folder):
    """Of the list, which has NUL behind each: what is hardly a path."""
    looping = folder + b"/loop"
    os.symlink(b"loop", looping)
    very_deep, good_record = deep(folder, 3900), written(good(1 << 20))
    write(very_deep, b"no dump")
    long_record = deep(folder, 3895) + b".json"
    write(long_record, good_record)
    return [looping, looping + b"/x", very_deep, long_record, folder + b"/" + b"n" * 256, b"p/" * 3000, b"q" * 70000, b"r" * (1 << 20) + b"r" * 5000, b"\t", b"a\t",
            b"\t".join([folder + b"/dump"] * 3), b"/", b".", b"..", folder + b"/", b"/dev/zero", b"/dev/tty", b"/proc/self/fd/0", b"/proc/kmsg",
            b"/proc/self/environ", b"-o", b"--", b"-", b"@list", b"/dev/stdin\t/dev/stdin", b"\t".join([b"/dev/null"] * 5000), b"s\t" * 40000, b" ", b"\n"]


def make_inputs(folder, count, seed=1):
    """(lines of the list, {line: bytes of the record in it}): count in all, of which two thirds are records."""
    folder = os.fsencode(folder)
    lines, made = lines_of_odd_paths(folder), {folder + b"/" + os.path.relpath(deep(folder, 3895) + b".json", folder): written(good(1 << 20))}
    for at_number, data in enumerate(records(count * 2 // 3, seed)):
        path = folder + b"/r%d.json" % at_number
        write(path, data)
        lines.append(path)
        made[path] = data
    for at_number in range(count - len(lines)):
        chance = random.Random(f"{seed} file {at_number}")
        name, make = KINDS[at_number % len(KINDS)]
        # A name without a "%d" may have any bytes.
        path = folder + b"/" + (name.encode() % at_number if "%" in name else names(chance, at_number)[:250] + name[1:].encode())
        make(path, chance)
        lines.append(path)
    return lines, made


def shown(line):
    """As collect tells a path; None: one that it tells in its own way."""
    text = line.decode("utf-8", "backslashreplace")
    return text if len(text) <= 1 << 16 and "\\" not in text else None


# --- records that only the views find hard --------------------------------------------------------


def waits(number_of_places, first=0):
    return [{"kind": "mutex", "function": f"wait_{first + number}", "caller": "c" * 40, "tasks": 1, "longest_ms": 1} for number in range(number_of_places)]


def stack(*functions):
    return [{"function": name, "offset": 1, "module": None, "found": "orc"} for name in functions]


def hard_waits(number):
    """One of a thousand pairs that wait in places of their own, some in very many."""
    record = good(number)
    record["waiting"] = waits(30000 if number % 200 == 0 else 64, number // 2 * 64)
    return record


def hard_signatures(number):
    """All of one kind, with the two innermost functions equal; each like many others."""
    record = good(number)
    names_of = ["a", "b", *(f"f{at_}_{number // 3**at_ % 3}" for at_ in range(6))]
    record.update(signature=f"1 bug {noise(random.Random(number), 900)}", blamed=names_of[:4], stack=stack(*names_of))
    record["host"]["name"] = noise(random.Random(number), 3000)
    return record


def hard_chain(number):
    """Each is like the next one alone: steps of alike lead a long way."""
    record = good(number)
    names_of = ["a", "b", *(f"g{(number + at_) // 6}_{at_}" for at_ in range(6))]
    record.update(signature=f"1 bug chain{number:05d}", blamed=names_of[:4], stack=stack(*names_of))
    return record


HARD = (hard_waits, hard_signatures, hard_chain)
