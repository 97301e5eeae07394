#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""BTF with all variables against DWARF, by hand:

    btf_variables.py PROGRAM DUMP BTF GLOBALS

BTF is what a pahole that knows global_var made of the kernel's -dbg vmlinux, GLOBALS the kernel's
globals.tsv.gz (make truth).  Every variable that --btf types has to have DWARF's type; pahole
writes arrays of several dimensions as flat ones.
"""

import collections
import gzip
import json
import re
import subprocess
import sys


def truth_of(path):
    """Address and type of all variables of a name."""
    names = collections.defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "vmlinux" and "percpu" not in fields[7]:
                names[fields[6]].append((int(fields[1], 16), fields[8]))
    return names


def plain(spelled):
    return re.sub(r"\b(const|volatile|restrict) | (const|volatile|restrict)\b", "", spelled or "")


def flat(spelled):
    """int [5][3] is int [15]."""
    counts = [int(count) for count in re.findall(r"\[(\d+)\]", spelled)]
    product = 1
    for count in counts:
        product *= count
    return re.sub(r"(\[\d+\])+", f"[{product}]", spelled, count=1) if counts else spelled


def slide_of(rows, truth):
    """What KASLR added: of names that are unique on both sides."""
    names = collections.Counter(row["name"] for row in rows)
    slides = collections.Counter(int(row["address"], 16) - truth[row["name"]][0][0] for row in rows
                                 if names[row["name"]] == 1 and len(truth.get(row["name"], ())) == 1)
    return slides.most_common(1)[0][0]


def main():
    program, dump, btf, globals_file = sys.argv[1:]
    out = subprocess.run([program, "-q", "--json", "--btf", btf, "-c", "globals", "--", dump], check=True,
                         stdout=subprocess.PIPE).stdout
    rows = [row for row in json.loads(out)["result"]
            if row["origin"] == "file" and not row["module"] and not row["per_cpu"]]
    truth = truth_of(globals_file)
    slide = slide_of(rows, truth)
    counts, wrong = collections.Counter(), []
    for row in rows:
        place = int(row["address"], 16) - slide
        wanted = [plain(of) for address, of in truth.get(row["name"], ()) if address == place]
        got = plain(row["type"])
        if not wanted:
            counts["not in DWARF"] += 1
        elif got in wanted:
            counts["same"] += 1
        elif got in [flat(one) for one in wanted]:
            counts["flat array"] += 1
        else:
            wrong.append((row["name"], got, wanted))
        counts["of a name that several have"] += len(truth.get(row["name"], ())) > 1
    print(f"{len(rows)} typed by the file:", dict(counts), len(wrong), "wrong")
    print(*wrong[:20], sep="\n")
    sys.exit(1 if wrong else 0)


main()
