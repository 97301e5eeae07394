# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that lead back: to themselves, to their head, to an element before, all to one thing, all
in one ring.  tests/stress/loops.c makes them out of the links that a command reads; each command
ends by itself, in time and memory, with about as much to say as before, and soon after Ctrl-C.

By hand, of all commands (hours): build/stress/loops DUMP 1 1
"""

import os
import subprocess

from lib import Boot, check, kernel_names

# Walks within walks, and what shares a list that it should not.
WHOLE = ("socks", "cgroups", "pressure", "filelocks", "routes", "routes6", "netdevs", "ps")


def loops(session, boot, share, lines):
    program = session.program
    driver = os.path.join(os.path.dirname(program.path), "stress", "loops")
    with session.case(f"{boot.label}: links that lead back") as notes:
        check(os.path.exists(driver), f"no {driver} (make session builds it)")
        done = subprocess.run([driver, boot.dump, "1", str(share), *lines], timeout=1800, text=True, env=program.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout} {done.stderr}")
        notes.append(done.stdout.strip())
        count = int(done.stdout.split()[0])
        check(count >= 10 * len(lines) / share, f"only {count} variants")


def run(session):
    scale = 10 if session.program.is_sanitized else 1
    for kernel in kernel_names():
        boot = Boot(kernel, "boot1")
        loops(session, boot, scale, WHOLE)
