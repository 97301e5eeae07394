# SPDX-License-Identifier: GPL-3.0-or-later
"""`types --format raw` against bpftool's dump of the guest's own BTF bytes."""

import os
import subprocess

from lib import boots, check, check_equal, check_lines, shorten, tool

FEW_MODULES = 8  # on the second boot, whose modules are the same files


def bpftool(path, base=None):
    """The lines of `bpftool btf dump file PATH format raw`."""
    done = subprocess.run([tool("bpftool"), *(["-B", base] if base else []), "btf", "dump", "file",
                           path, "format", "raw"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0, f"bpftool: {done.stderr.decode()}")
    return done.stdout.decode().splitlines()


def compare_kernel(program, boot, notes):
    wanted = bpftool(boot.path("truth", "btf", "vmlinux"))
    got = program.text(boot.dump, "types --format raw").splitlines()
    check_lines(got, wanted, "line")
    notes.append(f"{len([line for line in wanted if line.startswith('[')])} types")


def compare_modules(program, boot, notes, limit=None):
    base = boot.path("truth", "btf", "vmlinux")
    names = sorted(set(os.listdir(boot.path("truth", "btf"))) - {"vmlinux"})
    if not names:
        notes.append(check_no_module_types(program, boot))
        return
    check(len(names) > 3, "truth: few modules with BTF")
    types = 0
    for name in names[:limit]:
        wanted = bpftool(boot.path("truth", "btf", name), base)
        got = program.text(boot.dump, f"types -m {name} --format raw").splitlines()
        check_lines(got, wanted, f"{name}'s line")
        types += len([line for line in wanted if line.startswith("[")])
    notes.append(f"{types} types of {len(names[:limit])} modules")


def check_no_module_types(program, boot):
    """Kernels before 5.11 keep no BTF of modules; that is said."""
    name = boot.modules[0][0]
    result = program.run(["-q", "-c", f"types -m {name} --format raw", boot.dump], status=1)
    check("no BTF of modules" in result.errors, f"types -m {name}: {shorten(result.errors)}")
    return "this kernel keeps none"


def run(session):
    for boot in boots():
        with session.case(f"{boot.label}: every type is as bpftool has it") as notes:
            compare_kernel(session.program, boot, notes)
        is_second = boot.label.endswith("boot2")
        with session.case(f"{boot.label}: every module's types are as bpftool has them") as notes:
            compare_modules(session.program, boot, notes, FEW_MODULES if is_second else None)
        with session.case(f"{boot.label}: an unknown module's types are an error"):
            result = session.program.run(["-q", "-c", "types -m no_such_module --format raw",
                                          boot.dump], status=1)
            check_equal(len(result.err.splitlines()), 1, "lines of the message")
