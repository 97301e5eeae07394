# SPDX-License-Identifier: GPL-3.0-or-later
"""The schemas of cmds/schemas, and answers of the program held against them."""

import copy
import functools
import glob
import json
import os
import re
import tempfile

import jsonschema

from lib import ROOT, Failure, check

FOLDER = os.path.join(ROOT, "cmds", "schemas")
SHARED = ("answer", "common", "rows")
MADE = {}  # by name, those that the program makes of its tables
# Other names of commands, as far as the lines of the tests have them.
ALIASES = {"p": "print", "px": "print", "union": "struct", "enum": "struct", "?": "help"}
ALIKE = 3  # of elements of one shape so many are looked at


def add_tables(program):
    """Those of tables, which lie in no file."""
    with tempfile.TemporaryDirectory() as folder:
        program.run(["--schemas", folder], status=0)
        for path in glob.glob(folder + "/*.json"):
            with open(path, encoding="utf-8") as file:
                MADE[os.path.basename(path)[:-5]] = json.load(file)
    check(not set(MADE) & set(kept_names()), "schemas in a file and of a table")


def load(name):
    return MADE[name] if name in MADE else load_file(name)


@functools.cache
def load_file(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def names():
    return sorted([*kept_names(), *MADE])


def kept_names():
    return sorted(os.path.basename(path)[:-5] for path in glob.glob(FOLDER + "/*.json"))


def inlined(schema, relaxed):
    """With the shared definitions in its own; `relaxed`: nothing is required."""
    if isinstance(schema, dict):
        return {key: value.replace("common.json", "") if key == "$ref" else inlined(value, relaxed)
                for key, value in schema.items() if not (relaxed and key == "required"
                                                         and isinstance(value, list))}
    if isinstance(schema, list):
        return [inlined(value, relaxed) for value in schema]
    return schema


@functools.cache
def validator(name, relaxed=False):
    """References to other files are resolved in ways that differ between jsonschema's releases."""
    schema = {key: value for key, value in load(name).items() if key != "$id"}
    schema["$defs"] = load("common")["$defs"]
    return jsonschema.Draft202012Validator(inlined(schema, relaxed))


def shape(value):
    """What equal values of a schema may have in common."""
    if isinstance(value, dict):
        return tuple((key, shape(member)) for key, member in value.items())
    if isinstance(value, list):
        return ("[]", *sorted({repr(shape(element)) for element in value}))
    return type(value).__name__


def thinned(value):
    """Of long arrays those elements that differ in shape: a dump has thousands that do not."""
    if isinstance(value, dict):
        return {key: thinned(member) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    seen, kept = {}, []
    for element in value:
        key = shape(element)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= ALIKE:
            kept.append(thinned(element))
    return kept


def validate(name, value, where, relaxed=False):
    error = jsonschema.exceptions.best_match(validator(name, relaxed).iter_errors(value))
    if error:
        place = "/".join(str(part) for part in error.absolute_path)
        raise Failure(f"{where}: {name}.json: {place}: {error.message[:300]}")


def is_valid(name, value, relaxed=False):
    return validator(name, relaxed).is_valid(value)


def schema_of(line):
    """(schema, whether it gets items) of a line of the tests."""
    stages = [line] if line.startswith("alias") else re.split(r" \| (?![0-9])", line)
    last = stages[-1].strip()
    word = last.split()[0]
    word = "struct" if "." in word else ALIASES.get(word, word)
    if len(stages) > 1 and word == "print" and re.match(r"print (\([^)]*\))?\{", last):
        return "table", False
    return word, len(stages) > 1


def check_table(rows, where):
    check(isinstance(rows, list), f"{where}: no array")
    for row in rows:
        if set(row) != {"address", "error"}:
            wrapped = {"type": "array", "items": {"$ref": "#/$defs/row"}, "$defs": load("common")["$defs"]}
            found = jsonschema.Draft202012Validator(inlined(wrapped, False)).is_valid([row])
            check(found, f"{where}: no row: {str(row)[:200]}")


def check_result(line, result, relaxed, known):
    """`known`: the names of commands."""
    if "--columns" in line:
        validate("rows", result, line, relaxed)
        return
    name, gets_items = schema_of(line)
    if name == "table":
        check_table(result, line)
        return
    check(name in known, f"{line}: no command {name}")
    values = result if gets_items else [result]
    relaxed = relaxed or (name in MADE and " -o " in line)
    for value in values:
        if gets_items and isinstance(value, dict) and set(value) == {"address", "error"}:
            continue
        validate(name, value, line, relaxed)
        if name == "report" and isinstance(value, list):
            for section in (one for one in value if isinstance(one, dict)):
                for part in section["result"]:
                    check_result(section["command"], part, "error" in section, known)
        elif name == "foreach":
            command = next((word for word in line.split()[1:] if word in known), None)
            for one in value:
                if "result" in one and "error" not in one:
                    check_result(command, one["result"], relaxed, known)


def check_answer(answer, known):
    """The envelope and what is in it."""
    line = answer["command"]
    validate("answer", answer, line)
    if "result" in answer and (answer["ok"] or answer["result"] is not None):
        check_result(line, thinned(answer["result"]), not answer["ok"], known)


def planted(value):
    """Copies of a value with one thing wrong each: a member too many, one too few, a number for a
    string. Of its first object."""
    def first(node):
        if isinstance(node, dict) and node:
            return node
        parts = node if isinstance(node, list) else ()
        return next((found for found in map(first, parts) if found), None)
    faults = (lambda node: node.update(planted=1), lambda node: node.pop(next(iter(node))),
              lambda node: node.update({next(iter(node)): {"planted": 1.5}}))
    for fault in faults:
        wrong = copy.deepcopy(value)
        fault(first(wrong))
        yield wrong
