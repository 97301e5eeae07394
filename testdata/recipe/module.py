"""A module of our own, compiled for a test kernel with Debian's headers.

The headers are unpacked into the cache; nothing of the machine is touched.
Debian has no vmlinux there, without which kbuild gives a module no types: they
are made here, on top of those in the kernel's image, but for one that is to be
as such modules are on a user's machine.
"""

import functools
import os
import re
import shutil
import struct
import subprocess
import tempfile

from recipe.common import (GUEST, RecipeError, cache_path, locked,
                           made_directory, made_file, read_file, run,
                           write_file)

BUILD_SECONDS = 300
WITHOUT_TYPES = ("lockup",)
# How the kernel in an image begins, and what unpacks it.
UNPACKERS = {b"\x02\x21\x4c\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd",
             b"\xfd7zXZ\0": "xz"}
# Of an image's header: the size of what comes first, and where the kernel is.
SETUP_SECTORS, PAYLOAD = 0x1f1, 0x248


def fetch_headers(kernel):
    """The folder with a kernel's headers, which are downloaded if need be."""
    package = f"linux-headers-{kernel.release}"
    folder = cache_path("packages", f"{package}_{kernel.version}")
    with locked(cache_path("packages", ".lock")):
        if os.path.exists(folder):
            return folder
        needed = [name for name in kernel.apt.depends(package)
                  if re.match("linux-(headers|kbuild)-", name)]
        with made_directory(folder) as directory:
            for name in [package, *needed]:
                # The tools are of no one kernel, and an archive has those of the next one
                # days before it.
                is_of_kernel = name.startswith("linux-headers-")
                kernel.apt.download(f"{name}={kernel.version}" if is_of_kernel
                                    else name, directory)
    return folder


def build_command(kernel, headers, directory, name):
    """Debian's Makefile includes one below /usr/src: here it is read itself.

    The names of sources are those of this tree: what is made is always the same.
    """
    build = os.path.join(headers, "usr/src", f"linux-headers-{kernel.release}")
    path, = re.findall(r"^include /(.*)/Makefile$",
                       read_file(os.path.join(build, "Makefile")), re.M)
    source = os.path.join(headers, path)
    return ["make", "-s", "-C", build, "-f", f"{source}/Makefile",
            f"KBUILD_OUTPUT={build}", f"M={directory}", "CC=gcc",
            f"KCFLAGS=-ffile-prefix-map={directory}=testdata/guest/{name}",
            "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"]


def unpacked_kernel(image):
    """The ELF file in a kernel's image, which begins with code that unpacks it."""
    with open(image, "rb") as file:
        content = file.read()
    offset, size = struct.unpack_from("<II", content, PAYLOAD)
    offset += (content[SETUP_SECTORS] + 1) * 512
    # Its last four bytes are its size when it is unpacked.
    packed = content[offset:offset + size - 4]
    for magic, unpacker in UNPACKERS.items():
        if packed.startswith(magic):
            # What the shell's tools do not know behind the end is no failure.
            return subprocess.run([unpacker, "-dc"], input=packed,
                                  stdout=subprocess.PIPE, check=False).stdout
    raise RecipeError(f"{image}: a kernel packed as nobody here unpacks it")


def kernel_types(kernel):
    """The path of a file with a kernel's BTF."""
    path = cache_path("packages", f"btf-{kernel.release}_{kernel.version}")
    with locked(cache_path("packages", ".lock")):
        if os.path.exists(path):
            return path
        with tempfile.NamedTemporaryFile() as elf, made_file(path) as made:
            elf.write(unpacked_kernel(kernel.vmlinuz))
            elf.flush()
            run(["objcopy", "--dump-section", f".BTF={made}", elf.name,
                 os.devnull])
    return path


def kbuild(name, directory):
    """What is compiled: NAME.c, or all sources if none is called so."""
    sources = sorted(entry for entry in os.listdir(directory)
                     if entry.endswith(".c"))
    objects = " ".join(f"{source[:-2]}.o" for source in sources)
    parts = "" if f"{name}.c" in sources else f"{name}-y := {objects}\n"
    return f"obj-m := {name}.o\n{parts}"


@functools.lru_cache(None)
def built_module(kernel, name):
    """The content of the module of guest/NAME, compiled for the kernel."""
    headers = fetch_headers(kernel)
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(os.path.join(GUEST, name), directory,
                        dirs_exist_ok=True)
        write_file(os.path.join(directory, "Kbuild"), kbuild(name, directory))
        run(build_command(kernel, headers, directory, name),
            timeout=BUILD_SECONDS)
        path = os.path.join(directory, f"{name}.ko")
        if name not in WITHOUT_TYPES:
            run(["pahole", "-J", "--btf_base", kernel_types(kernel), path],
                env={**os.environ, "LLVM_OBJCOPY": "objcopy"})
        run(["strip", "--strip-debug", path])
        with open(path, "rb") as file:
            return file.read()
