# SPDX-License-Identifier: GPL-3.0-or-later
"""C types as spelled in globals.tsv against the BTF of a kernel: do they exist, how big are they,
are two of them the same?  Written for scores, apart from the C code that is scored."""

import mmap
import re
import struct

(VOID, INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC,
 FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64) = range(20)
MODIFIERS = (VOLATILE, CONST, RESTRICT, TYPE_TAG)
# Bytes behind the first 12, (fixed, for each of vlen).
PAYLOAD = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8),
           FUNC_PROTO: (0, 8), VAR: (4, 0), DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}
TAGS = {"struct": (STRUCT,), "union": (UNION,), "enum": (ENUM, ENUM64)}
DEPTH_MAX = 32


class NoType(Exception):
    """The BTF has no such type, or C no such declaration."""


def section(path, wanted):
    """The bytes of a section of a 64-bit little-endian ELF file, or None."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        at = strings + name
        if data[at:at + len(wanted) + 1] == wanted.encode() + b"\0":
            return data[offset:offset + length]
    return None


class Record:
    """One type: a struct's members are (name, type id, bit offset, bit size)."""
    __slots__ = ("kind", "name", "size", "count", "signed", "members", "flag")

    def __init__(self, kind, name, size, flag):
        self.kind, self.name, self.size, self.flag = kind, name, size, flag
        self.count, self.signed, self.members = 0, False, ()


class Btf:
    """A kernel's BTF or, on top of one, a module's."""

    def __init__(self, data, base=None):
        self.base = base
        self.records = list(base.records) if base else [Record(VOID, "void", 0, 0)]
        magic, _, _, header = struct.unpack_from("<HBBI", data)
        if magic != 0xeb9f:
            raise NoType("no BTF")
        types, types_size, strings, strings_size = struct.unpack_from("<IIII", data, 8)
        own = bytes(data[header + strings:header + strings + strings_size])
        self.strings = (base.strings if base else b"") + own
        self.read(bytes(data[header + types:header + types + types_size]))
        self.index, self.unnamed = {}, {}
        for number, record in enumerate(self.records):
            if record.name:
                self.index.setdefault((record.kind, record.name), number)
            elif record.kind in (STRUCT, UNION):
                names = tuple(member[0] for member in record.members)
                self.unnamed.setdefault((record.kind, names), number)

    def string(self, offset):
        return self.strings[offset:self.strings.index(b"\0", offset)].decode()

    def read(self, data):
        at = 0
        while at < len(data):
            name, info, size = struct.unpack_from("<III", data, at)
            kind, vlen, flag = info >> 24 & 31, info & 0xffff, info >> 31
            record = Record(kind, self.string(name), size, flag)
            at += 12
            fixed, each = PAYLOAD.get(kind, (0, 0))
            if kind == INT:
                record.signed = bool(data[at + 3] & 1)
            elif kind == ARRAY:
                record.size, _, record.count = struct.unpack_from("<III", data, at)
            elif kind in (STRUCT, UNION):
                record.members = [self.member(data, at + 12 * i, flag) for i in range(vlen)]
            elif kind == FUNC_PROTO:
                record.members = [struct.unpack_from("<II", data, at + 8 * i)[1]
                                  for i in range(vlen)]
            self.records.append(record)
            at += fixed + each * vlen

    def member(self, data, at, flag):
        name, kind, offset = struct.unpack_from("<III", data, at)
        return (self.string(name), kind, offset & 0xffffff if flag else offset,
                offset >> 24 if flag else 0)

    def find(self, kinds, name):
        for kind in kinds:
            number = self.index.get((kind, name))
            if number:
                return number
        return None

    def find_unnamed(self, kinds, members):
        """An unnamed struct by the names of its members."""
        number = self.unnamed.get((kinds[0], members))
        if number is None:
            raise NoType("{" + ",".join(members) + "}")
        return number


# A type is a tuple: ("base", id), ("pointer", T), ("array", T, count), ("function", T, params),
# ("word", "struct x") for what is only declared.

WORDS = re.compile(r"\.\.\.|[A-Za-z_]\w*|\d+|[][()*,{}]")
INTEGER_WORDS = {"signed", "unsigned", "char", "short", "int", "long", "_Bool", "__int128",
                 "float", "double", "void"}
QUALIFIERS = {"const", "volatile", "restrict"}


class Parser:
    """Recursive descent over an abstract declarator."""

    def __init__(self, btf, text):
        self.btf, self.words, self.at = btf, WORDS.findall(text), 0

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else ""

    def next(self):
        self.at += 1
        return self.words[self.at - 1] if self.at <= len(self.words) else ""

    def specifiers(self):
        words = []
        while True:
            word = self.peek()
            if word in QUALIFIERS:
                self.next()
            elif word in INTEGER_WORDS or (not words and re.match(r"[A-Za-z_]", word)):
                words.append(self.next())
                if word in TAGS and self.peek() == "{":
                    return ("base", self.btf.find_unnamed(TAGS[word], self.members()))
                if word in TAGS:
                    words.append(self.next())
                if word not in INTEGER_WORDS:
                    while self.peek() in QUALIFIERS:
                        self.next()
                    return self.named(words)
            else:
                return self.named(words)

    def members(self):
        """The names in "{first,second}"; those of unnamed members are empty."""
        names = [""]
        while (word := self.next()) not in ("}", ""):
            if word == ",":
                names.append("")
            elif word != "{":
                names[-1] = word
        return tuple(names)

    def named(self, words):
        name = " ".join(words)
        if not words:
            raise NoType("no type")
        if name == "void":
            return ("base", 0)
        if words[0] in TAGS:
            number = self.btf.find(TAGS[words[0]], words[1])
            if number is None and self.btf.find((FWD,), words[1]):
                return ("word", name)
        else:
            number = self.btf.find((INT, FLOAT, TYPEDEF), name)
        if number is None:
            raise NoType(name)
        return ("base", number)

    def declarator(self, inner):
        """Applies what is written around the (absent) name to a type."""
        while self.peek() == "*":
            self.next()
            inner = ("pointer", inner)
            while self.peek() in QUALIFIERS:
                self.next()
        group = None
        if self.peek() == "(" and self.words[self.at + 1] in ("*", "(", "["):
            group = self.at + 1
            depth = 0
            while True:
                word = self.next()
                depth += (word == "(") - (word == ")")
                if not depth or not word:
                    break
        inner = self.suffixes(inner)
        if group is not None:
            end, self.at = self.at, group
            inner = self.declarator(inner)
            self.at = end
        return inner

    def suffixes(self, inner):
        if self.peek() == "[":
            self.next()
            count = int(self.next()) if self.peek() != "]" else 0
            self.next()
            return ("array", self.suffixes(inner), count)
        if self.peek() == "(":
            self.next()
            params = []
            while self.peek() not in (")", ""):
                if self.peek() == "...":
                    params.append(("word", self.next()))
                else:
                    params.append(self.declarator(self.specifiers()))
                if self.peek() == ",":
                    self.next()
            self.next()
            if params == [("base", 0)]:
                params = []
            return ("function", self.suffixes(inner), tuple(params))
        return inner


def parse(btf, text):
    """The type that a text means in a BTF.  Raises NoType."""
    parser = Parser(btf, text)
    kind = parser.declarator(parser.specifiers())
    if parser.peek():
        raise NoType(text)
    return kind


def of_record(btf, number):
    """One level of a type of BTF as a tuple; modifiers and typedefs of named types fall away."""
    for _ in range(DEPTH_MAX):
        record = btf.records[number]
        if record.kind in MODIFIERS or record.kind == TYPEDEF:
            inner = of_modifier(btf, record)
            if inner is None:
                return ("base", number)
            number = inner
        elif record.kind == PTR:
            return ("pointer", ("base", record.size))
        elif record.kind == ARRAY:
            return ("array", ("base", record.size), record.count)
        elif record.kind == FUNC_PROTO:
            return ("function", ("base", record.size),
                    tuple(("base", param) for param in record.members))
        else:
            return ("base", number)
    raise NoType("a cycle")


def of_modifier(btf, record):
    """What is below a modifier; None: an unnamed struct, for which the typedef's name stands."""
    if record.kind != TYPEDEF:
        return record.size
    number = record.size
    while btf.records[number].kind in MODIFIERS:
        number = btf.records[number].size
    below = btf.records[number]
    return None if below.kind in (STRUCT, UNION, ENUM, ENUM64) and not below.name else number


def resolve(btf, kind):
    return of_record(btf, kind[1]) if kind[0] == "base" else kind


def canonical(btf, kind, depth=0):
    """A comparable value: without qualifiers, typedefs and all array dimensions."""
    if depth > DEPTH_MAX:
        return "..."
    kind = resolve(btf, kind)
    if kind[0] == "word":
        return kind[1]
    if kind[0] == "pointer":
        return ("*", canonical(btf, kind[1], depth + 1))
    if kind[0] == "array":
        inner = canonical(btf, kind[1], depth + 1)
        return inner if inner[0] == "[]" else ("[]", inner)
    if kind[0] == "function":
        return ("()", canonical(btf, kind[1], depth + 1),
                tuple(canonical(btf, param, depth + 1) for param in kind[2]))
    record = btf.records[kind[1]]
    word = {STRUCT: "struct ", UNION: "union ", ENUM: "enum ", ENUM64: "enum ",
            FWD: "union " if record.flag else "struct "}.get(record.kind, "")
    return word + (record.name or f"#{kind[1]}")


def size(btf, kind):
    """Bytes; 0 for open arrays, None for what has no size."""
    kind = resolve(btf, kind)
    if kind[0] == "pointer":
        return 8
    if kind[0] == "array":
        each = size(btf, kind[1])
        return None if each is None else each * kind[2]
    if kind[0] != "base":
        return None
    record = btf.records[kind[1]]
    if record.kind == TYPEDEF:
        return size(btf, ("base", record.size))
    return record.size if record.kind in (INT, FLOAT, STRUCT, UNION, ENUM, ENUM64) else None


def element(btf, kind):
    """A type below its array dimensions."""
    kind = resolve(btf, kind)
    while kind[0] == "array":
        kind = resolve(btf, kind[1])
    return kind


def elements(btf, kind):
    """How many there are below all dimensions of an array; 1: it is none, 0: nobody says."""
    count, kind = 1, resolve(btf, kind)
    while kind[0] == "array":
        count *= kind[2]
        kind = resolve(btf, kind[1])
    return count


def compare_strictly(btf, truth, given):
    """"exact", "length": an array of the same elements but not as many, or "wrong"."""
    try:
        a, b = parse(btf, truth), parse(btf, given)
    except NoType:
        return "exact" if truth == given else "wrong"
    if canonical(btf, a) != canonical(btf, b):
        return "wrong"
    # DWARF itself has no length of some: "x[]", declared so.
    return "exact" if elements(btf, a) in (0, elements(btf, b)) else "length"


def record_below(btf, number):
    while btf.records[number].kind in (TYPEDEF,) + MODIFIERS:
        number = btf.records[number].size
    return btf.records[number]


def leaves(btf, kind, at=0, depth=0):
    """[(bit offset, bits, canonical type)] of all scalars of a type."""
    kind = resolve(btf, kind)
    if depth > DEPTH_MAX:
        return []
    if kind[0] == "array":
        inner = leaves(btf, kind[1], 0, depth + 1)
        step = 8 * (size(btf, kind[1]) or 0)
        return [(at + i * step + offset, bits, leaf) for i in range(min(kind[2], 64))
                for offset, bits, leaf in inner]
    if kind[0] == "base":
        record = record_below(btf, kind[1])
        if record.kind in (STRUCT, UNION):
            return sorted({leaf for _, member, offset, bits in record.members
                           for leaf in member_leaves(btf, member, at + offset, bits, depth)},
                          key=str)
    return [(at, 8 * (size(btf, kind) or 0), canonical(btf, kind))]


def member_leaves(btf, member, at, bits, depth):
    if bits:
        return [(at, bits, canonical(btf, ("base", member)))]
    return leaves(btf, ("base", member), at, depth + 1)


def is_integer(btf, kind):
    return kind[0] == "base" and record_below(btf, kind[1]).kind in (INT, ENUM, ENUM64)


def compare(btf, truth, given):
    """"exact", "usable" or "wrong", as INFERENCE.md means them; both are texts."""
    try:
        a = parse(btf, truth)
    except NoType:
        return "exact" if truth == given else "wrong"
    b = parse(btf, given)
    if canonical(btf, a) == canonical(btf, b):
        return "exact"
    a, b = element(btf, a), element(btf, b)
    if canonical(btf, a) == canonical(btf, b):
        return "usable"
    if size(btf, a) != size(btf, b):
        return "wrong"
    if is_integer(btf, a) and is_integer(btf, b):
        return "usable"
    if a[0] == b[0] == "pointer" and ("base", 0) in (resolve(btf, a[1]), resolve(btf, b[1])):
        return "usable"
    return "usable" if leaves(btf, a) == leaves(btf, b) else "wrong"
