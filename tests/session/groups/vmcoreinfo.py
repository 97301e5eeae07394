# SPDX-License-Identifier: GPL-3.0-or-later
"""--vmcoreinfo: the dump's own is taken, that of another kernel or boot is not."""

import os
import re

from lib import Boot, check, check_equal, kernel_names

BOOTS = ("boot1", "boot2")
LARGE_PAGE = 2 << 20


def note_of(boot):
    """The text of the VMCOREINFO note of an ELF dump."""
    with open(boot.dump, "rb") as file:
        head = file.read(1 << 16)
    at = head.index(b"VMCOREINFO\0")
    size = int.from_bytes(head[at - 8:at - 4], "little")
    return head[at + 12:at + 12 + size].rstrip(b"\0").decode()


def value_of(text, key):
    return re.search(f"^{re.escape(key)}=(.*)$", text, re.M)[1]


def with_file(program, boot, text, flavour="vmcore.elf", status=None):
    path = os.path.join(program.scratch, "vmcoreinfo.txt")
    with open(path, "w") as file:
        file.write(text)
    return program.run(["-q", "-c", "print init_uts_ns.name.release", "--vmcoreinfo", path,
                        boot.path(flavour)], status=status)


def check_refused(result, *parts):
    """One line that says what differs, and nothing else."""
    check_equal(result.status, 2, "exit status")
    check_equal(result.text, "", "output")
    check_equal(len(result.errors.splitlines()), 1, "lines of " + result.errors)
    check("not the VMCOREINFO of this dump: " in result.errors, result.errors)
    for part in parts:
        check(part in result.errors, f"does not say {part}: {result.errors}")


def own(session, boot, text):
    program = session.program
    with session.case(f"{boot.label}: its own"):
        check(boot.release in with_file(program, boot, text, status=0).text, "wrong release")
    with session.case(f"{boot.label}: forged release and build ID"):
        forged = text.replace("OSRELEASE=", "OSRELEASE=9.")
        check_refused(with_file(program, boot, forged), "OSRELEASE=9.", boot.release)
        forged = re.sub("(?m)^BUILD-ID=.*$", "BUILD-ID=" + 40 * "a", text)
        check_refused(with_file(program, boot, forged), "BUILD-ID=aaaa")
    for key, base in (("NUMBER(phys_base)", 10), ("SYMBOL(_stext)", 16),
                      ("SYMBOL(swapper_pg_dir)", 16)):
        with session.case(f"{boot.label}: forged {key}"):
            value = int(value_of(text, key), base) + LARGE_PAGE
            value = f"{value:x}" if base == 16 else str(value)
            forged = text.replace(f"{key}={value_of(text, key)}\n", f"{key}={value}\n")
            check_refused(with_file(program, boot, forged), f"{key}={value}")


def others(session, own_key, boot, texts):
    program = session.program
    for (kernel, name), text in texts.items():
        if (kernel, name) == own_key:
            continue
        # Two boots of a kernel differ in where it lies, in one of these or in both.
        keys = ("OSRELEASE",) if kernel != boot.kernel else ("KERNELOFFSET", "NUMBER(phys_base)")
        key = next(key for key in keys if value_of(text, key) != value_of(texts[own_key], key))
        with session.case(f"{boot.label}: that of {kernel} {name}"):
            says = f"{key}={value_of(text, key)}, the dump has {value_of(texts[own_key], key)}"
            check_refused(with_file(program, boot, text), says)
            if own_key[1] == "boot1":
                check_refused(with_file(program, boot, text, "vmcore.qemu-zlib"), says)


def run(session):
    boots = {(kernel, name): Boot(kernel, name) for kernel in kernel_names() for name in BOOTS}
    texts = {key: note_of(boot) for key, boot in boots.items()}
    for key, boot in boots.items():
        own(session, boot, texts[key])
        others(session, key, boot, texts)
