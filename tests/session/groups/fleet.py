# SPDX-License-Identifier: GPL-3.0-or-later
"""`fleet`: bad records and bad files are lines of fleet/collect, and --anonymous lets no name pass. Many more: make fleet-check."""

import json
import os
import sys
import tempfile

from lib import ROOT, Boot, check, check_equal, kernel_names

sys.path[:0] = [os.path.join(ROOT, "tests", "fleet"), os.path.join(ROOT, "fleet")]

import collected  # noqa: E402
import hostile  # noqa: E402
import record as records  # noqa: E402

INPUTS = 200


def scratch_folder():
    """Where files may have any time and size, if there is such a place."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def all_have_lines(program, *options):
    with scratch_folder() as folder:
        hostile.write(os.path.join(folder, "key"), collected.KEY.encode())
        inputs = hostile.make_inputs(os.path.join(folder), INPUTS)
        wrong = list(collected.Collected(program.path, folder, inputs, *options).wrong())
        check(not wrong, f"{len(wrong)}: {wrong[:3]}")


def takes_what_the_schema_allows():
    wrong = []
    for data in hostile.records(INPUTS, seed=2):
        try:
            records.check(records.parse(data))
            is_good = True
        except records.NoRecord:
            is_good = False
        if is_good != hostile.is_record(data):
            wrong.append(data[:200])
    check(not wrong, f"{len(wrong)}: {wrong[:3]}")


def leaves_names_out(program, boot):
    """Of a record what record --anonymous leaves out of its dump."""
    with scratch_folder() as folder:
        made = os.path.join(folder, "record.json")
        hostile.write(made, program.run(["-q", "-c", "record --stacks --log 5", boot.dump], status=0).text.encode())
        hostile.write(os.path.join(folder, "key"), collected.KEY.encode())
        names = [os.fsencode(made), os.fsencode(boot.dump)]
        found = collected.Collected(program.path, folder, (names, {}), "--anonymous", "--hash-hosts", "key", "--follow-links")
        check_equal([line["error"] for line in found.lines], [None, None], "errors")
        one, other = ({key: value for key, value in line.items() if key != "source"} for line in found.lines)
        check_equal(one, other, "of the record and of the dump")
        wanted = json.loads(program.run(["-q", "-c", "record --anonymous", boot.dump], status=0).text)
        wanted["host"]["boot_id"] = one["host"]["boot_id"]
        check_equal({key: one[key] for key in wanted}, wanted, "of the dump")


def run(session):
    program = session.program
    with session.case(f"{INPUTS} bad inputs: a line each"):
        all_have_lines(program)
    with session.case(f"{INPUTS} bad inputs: no names"):
        all_have_lines(program, "--anonymous", "--hash-hosts", "key")
    with session.case("the schema"):
        takes_what_the_schema_allows()
    for kernel in kernel_names():
        with session.case(f"{kernel}: --anonymous of a record"):
            leaves_names_out(program, Boot(kernel, "boot1"))
