"""Other formats of one dump, made by makedumpfile from QEMU's ELF file.

makedumpfile wants program headers right behind the ELF header, where QEMU puts
its section headers, so it is fed a copy in which they are moved.
"""

import os
import shutil
import struct
import subprocess

from recipe.common import (TEMPORARY, RecipeError, made_file, run, step,
                           write_file)
from recipe.makedumpfile import newest_makedumpfile

ELF_HEADER_SIZE = 64
PROGRAM_HEADER_SIZE = 56
MAKEDUMPFILE_SECONDS = 600
SPLIT_COUNT = 3

# Name of the flavour and how makedumpfile is told to make it.  "flat" ones
# come out of its standard output.
FLAVOURS = {
    "zlib": ["-c", "-d", "31"],
    "lzo": ["-l", "-d", "31"],
    "E": ["-E", "-d", "31"],
    "flat": ["-F", "-c", "-d", "31"],
    "flat-E": ["-F", "-E", "-d", "31"],
    "split": ["--split", "-c", "-d", "31"],
    "zstd": ["-z", "-d", "31"],
}


def move_program_headers(source, path):
    """Copies an ELF dump of QEMU and puts its program headers at offset 64."""
    shutil.copyfile(source, path)
    with open(path, "r+b") as file:
        header = bytearray(file.read(ELF_HEADER_SIZE))
        offset, = struct.unpack_from("<Q", header, 32)
        count, = struct.unpack_from("<H", header, 56)
        file.seek(offset)
        program_headers = file.read(count * PROGRAM_HEADER_SIZE)
        first_data = min(struct.unpack_from("<Q", program_headers, at + 8)[0]
                         for at in range(0, len(program_headers),
                                         PROGRAM_HEADER_SIZE))
        if ELF_HEADER_SIZE + len(program_headers) > first_data:
            raise RecipeError(f"{source}: no room for program headers at 64")
        struct.pack_into("<QQ", header, 32, ELF_HEADER_SIZE, 0)
        struct.pack_into("<HHH", header, 58, 64, 0, 0)
        file.seek(0)
        file.write(header + program_headers)


def split_names(directory, prefix=""):
    """The files that --split writes."""
    return [os.path.join(directory, f"{prefix}vmcore.split.{number}")
            for number in range(1, SPLIT_COUNT + 1)]


def make_split(command, source, directory):
    """Writes one dump into several files."""
    temporary = split_names(directory, TEMPORARY)
    run([*command, source, *temporary], timeout=MAKEDUMPFILE_SECONDS)
    # The last one appears last, and is what says that the flavour exists.
    for name, path in zip(temporary, split_names(directory)):
        os.chmod(name, 0o644)
        os.rename(name, path)


def make_single(command, source, path):
    """Writes one dump into one file."""
    with made_file(path) as temporary:
        if "-F" in command:
            with open(temporary, "wb") as output:
                run_flat([*command, source], output)
        else:
            run([*command, source, temporary], timeout=MAKEDUMPFILE_SECONDS)
        os.chmod(temporary, 0o644)


def run_flat(command, output):
    """makedumpfile, whose flattened dump is its standard output."""
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE,
                          text=True, timeout=MAKEDUMPFILE_SECONDS)
    if done.returncode:
        raise RecipeError(f"{' '.join(command)}: exit status "
                          f"{done.returncode}: {done.stderr.strip()[-200:]}")


def is_made(directory, name):
    """True if the flavour is there, or known not to be possible."""
    path = os.path.join(directory, f"vmcore.{name}")
    last = split_names(directory)[-1] if name == "split" else path
    return os.path.exists(last) or os.path.exists(f"{path}.unavailable")


def make_one(directory, name, source, makedumpfile):
    """Makes a flavour, or writes down why it cannot be made."""
    path = os.path.join(directory, f"vmcore.{name}")
    command = [makedumpfile, *FLAVOURS[name]]
    try:
        if name == "split":
            make_split(command, source, directory)
        else:
            make_single(command, source, path)
    except RecipeError as error:
        print(f"cannot make {name}: {error}", flush=True)
        write_file(f"{path}.unavailable", f"{error}\n")


def make_flavours(directory, label, names, newest=False):
    """Makes those flavours that are missing of directory/vmcore.elf, by the newest makedumpfile or this machine's.

    Where the newest cannot be had, all else is made, and these the next time.
    """
    missing = [name for name in names if not is_made(directory, name)]
    if not missing:
        return
    try:
        makedumpfile = newest_makedumpfile() if newest else "makedumpfile"
    except RecipeError as error:
        print(f"cannot make {', '.join(missing)} of {label}: {error}", flush=True)
        return
    moved = os.path.join(directory, TEMPORARY + "moved.elf")
    move_program_headers(os.path.join(directory, "vmcore.elf"), moved)
    try:
        for name in missing:
            with step(f"{label}: {name}"):
                make_one(directory, name, moved, makedumpfile)
    finally:
        os.unlink(moved)
