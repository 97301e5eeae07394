# SPDX-License-Identifier: GPL-3.0-or-later
"""What a record may be: strict JSON, of the shape of cmds/schemas/record.json, and which of it names nobody.

A record may come from anywhere. What is said of a bad one is made of words of this file alone, never of what stands in it.
SHAPE is the schema in the form of a table, since machines that collect have neither the schema's file nor a library for
it; the tests hold both against each other.
"""

import dataclasses
import datetime
import json
import math
import re

SCHEMA, VERSION = "btfcrash-record", 1
COUNT_MAX = (1 << 53) - 1
DIGITS_MAX = 20         # of a number: what has more fits into nothing, and Python takes its time to read it
DEPTH_MAX = 64          # of what the schema leaves open


class NoRecord(ValueError):
    """Why it is none."""


# --- JSON ---------------------------------------------------------------------------------------


def _integer(digits):
    if len(digits) > DIGITS_MAX:
        raise NoRecord("a number of too many digits")
    return int(digits)


def _float(digits):
    number = float(digits)
    if not math.isfinite(number):
        raise NoRecord("a number that is too large")
    return number


def _constant(_):
    raise NoRecord("a number that is none")


def _object(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NoRecord("a key that is there twice")
    return members


def parse(data):
    """Bytes of one JSON value: what RFC 8259 allows, each key once, numbers that are numbers."""
    try:
        return json.loads(data.decode("utf-8"), parse_int=_integer, parse_float=_float, parse_constant=_constant,
                          object_pairs_hook=_object)
    except NoRecord:
        raise
    except UnicodeDecodeError:
        raise NoRecord("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NoRecord(f"not JSON: byte {len(error.doc[:error.pos].encode('utf-8'))}") from None
    except RecursionError:
        raise NoRecord("nested too deeply") from None


def clean(text):
    """Text that UTF-8 and databases have: the rest as escapes."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def printable(text):
    """For a terminal: no control character of it gets there."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else f"\\x{ord(letter):02x}" for letter in text)


def is_clean(text):
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text


# --- the shape ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of a value. passes: which values name nobody, a pattern of texts; None: of none it is known."""
    kind: str                   # text, count, integer, whole (a count of any size), bool, object, list
    is_nullable: bool = False
    passes: str = None
    members: dict = None        # of an object; None: any
    optional: frozenset = frozenset()
    element: "Shape" = None     # of a list
    is_valid: object = None     # what a text has to be besides


def text(passes=None, is_nullable=False, is_valid=None):
    return Shape("text", is_nullable, passes, is_valid=is_valid)


def known(passes, is_valid=None):
    """A text, or null where it is not known."""
    return text(passes, True, is_valid)


def rows(is_nullable=False, **members):
    return Shape("list", is_nullable, element=Shape("object", members=members))


def one_of(*words):
    return lambda value: value in words


def is_moment(value):
    """As the program writes one: years of four digits, UTC."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value, re.ASCII):
        return False
    try:
        datetime.datetime.fromisoformat(value[:-1])
    except ValueError:
        return False
    return True


COUNT, INTEGER, BOOL = Shape("count"), Shape("integer"), Shape("bool")
FUNCTION = r"[\w.$:<>]{1,512}"
WORDS = r"[A-Za-z0-9][\w ,()/-]{0,63}"
TAINTS = r"[A-Za-z ]{0,64}"
SURE = one_of("certain", "inferred", "guess", "unknown")

SHAPE = Shape("object", optional=frozenset(("log", "stacks")), members={
    "schema": text(SCHEMA, is_valid=one_of(SCHEMA)),
    "version": Shape("integer", is_valid=one_of(VERSION)),
    "program": text(r"[\w.+~-]{1,64}"),
    "time": known(r"[\dTZ:-]{20}", is_moment),
    "uptime": Shape("integer", True),
    "kernel": Shape("object", members={
        "release": known(r"[\w.+~-]{1,64}"), "version": known(r"#[\w .+~:()/-]{1,128}"),
        "machine": known(r"\w{1,64}"), "build_id": known(r"[0-9a-f]{1,128}")}),
    # Of the names what was hashed passes.
    "host": Shape("object", members={
        "name": known(None), "boot_id": known(r"[0-9a-f]{64}"), "hardware": known(r"[\w .,+:()/&®-]{1,256}"),
        "cpus": Shape("count", True), "cpus_online": Shape("count", True), "memory": Shape("count", True)}),
    "kind": known(WORDS), "sure": known(WORDS, SURE), "summary": known(None),
    "signature": known(r"\d+ [\w-]{1,64}( [\w.$:<>/]{0,4096})?"),
    "blamed": Shape("list", element=text(FUNCTION)),
    "panic": known(None),
    "findings": rows(kind=text(WORDS), sure=text(WORDS, is_valid=SURE), summary=known(None)),
    "task": Shape("object", True, members={
        "comm": known(None), "pid": Shape("integer", True), "cpu": COUNT, "state": text(r"[\w?]{0,2}")}),
    "stack": rows(function=known(FUNCTION), offset=COUNT, module=known(r"[\w.-]{1,64}"), found=text(WORDS)),
    "taints": known(TAINTS),
    "modules": rows(name=text(r"[\w.-]{1,64}"), version=known(r"[\w.+:~-]{1,64}"), srcversion=known(r"\w{1,64}"),
                    taints=text(TAINTS)),
    "waiting": rows(True, kind=text(WORDS), function=known(FUNCTION), caller=known(FUNCTION), tasks=COUNT, longest_ms=COUNT),
    "memory": Shape("object", True, members={
        "total": COUNT, "unaccounted": COUNT, "kinds": rows(kind=text(WORDS), bytes=COUNT)}),
    "dump": Shape("object", members={
        "format": text(r"[\w .,()/-]{1,64}"), "level": Shape("integer", True), "size": COUNT, "kdump": BOOL, "live": BOOL,
        # How many there are says how good the record is; their sentences say more.
        "problems": Shape("list", element=text(None))}),
    "log": rows(True, us=COUNT, text=text(None)),
    "stacks": Shape("list", element=Shape("object")),
})


def _check_open(value, where, depth=0):
    """What the schema says nothing of, but for what a database takes."""
    if depth > DEPTH_MAX:
        raise NoRecord(f"{where} is nested too deeply")
    if isinstance(value, str) and not is_clean(value):
        raise NoRecord(f"{where} has text that is none")
    if isinstance(value, dict):
        for key, member in value.items():
            _check_open(key, where)
            _check_open(member, where, depth + 1)
    elif isinstance(value, list):
        for member in value:
            _check_open(member, where, depth + 1)


def _check_object(value, shape, where):
    if not isinstance(value, dict):
        raise NoRecord(f"{where} is no object")
    if shape.members is None:
        _check_open(value, where)
        return
    if not value.keys() <= shape.members.keys():
        raise NoRecord(f"{where} has a key that no record has there")
    for name, member in shape.members.items():
        if name in value:
            check(value[name], member, name if where == "it" else f"{where}.{name}")
        elif name not in shape.optional:
            raise NoRecord(f"{where} has no {name}")


def _check_leaf(value, shape, where):
    if shape.kind == "bool":
        is_good = isinstance(value, bool)
    elif shape.kind == "text":
        is_good = isinstance(value, str) and is_clean(value)
    elif shape.kind == "whole":
        is_good = type(value) is int and value >= 0
    else:
        is_good = type(value) is int and (0 if shape.kind == "count" else -COUNT_MAX) <= value <= COUNT_MAX
    if not is_good:
        raise NoRecord(f"{where} is no {shape.kind}")
    if shape.is_valid and not shape.is_valid(value):
        raise NoRecord(f"{where} is not what a record has there")


def check(value, shape=SHAPE, where="it"):
    """Raises NoRecord unless a value that parse() has returned is of the shape."""
    if value is None and shape.is_nullable:
        return
    if shape.kind == "object":
        _check_object(value, shape, where)
    elif shape.kind == "list":
        if not isinstance(value, list):
            raise NoRecord(f"{where} is no list")
        for element in value:
            check(element, shape.element, where)
    else:
        _check_leaf(value, shape, where)


LEFT_OUT = "(left out)"


def without_names(value, shape=SHAPE):
    """A copy of a record that check() has passed, with those keys and texts alone of which SHAPE says that they pass. What
    does not is null, or LEFT_OUT; what has no place in each record is not there."""
    if value is None or shape.kind in ("count", "integer", "bool"):
        return value
    if shape.kind == "object":
        return {name: without_names(value[name], member) for name, member in shape.members.items() if name not in shape.optional}
    if shape.kind == "list":
        return [without_names(element, shape.element) for element in value]
    if shape.passes and re.fullmatch(shape.passes, value, re.ASCII):
        return value
    return None if shape.is_nullable else LEFT_OUT
