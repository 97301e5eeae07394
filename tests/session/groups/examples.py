# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example of every command runs on a real dump, in text and in JSON."""

from lib import CONTROL, Boot, check, kernel_names


def run(session):
    program = session.program
    boot = Boot(kernel_names()[-1], "boot1")
    names = []
    with session.case("help lists the commands"):
        names = [row["name"] for row in program.result(boot.dump, "help")]
        check({"print", "bt", "log", "ps", "sym", "help"} <= set(names), f"only {names}")
        check(all(row["summary"] for row in program.result(boot.dump, "help")), "no summary")
    for name in names:
        with session.case(name) as notes:
            described = program.result(boot.dump, f"help {name}")
            check(described["description"], "no description")
            check(described["usage"].startswith("usage: "), f"usage: {described['usage']!r}")
            check(described["examples"], "no examples")
            for example in described["examples"]:
                result = program.run(["-q", "-c", example, boot.dump], status=0)
                check(result.out or name == "quit", f"{example}: says nothing")
                check(not result.err, f"{example}: {result.errors}")
                check(not CONTROL.search(result.out), f"{example}: control characters")
                if name != "quit":
                    program.result(boot.dump, example)
            notes.append("; ".join(described["examples"]))
