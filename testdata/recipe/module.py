"""A module of our own, compiled for a test kernel with Debian's headers.

The headers are unpacked into the cache; nothing of the machine is touched.
"""

import os
import re
import shutil
import tempfile

from recipe.common import (GUEST, cache_path, locked, made_directory, read_file,
                           run, write_file)

BUILD_SECONDS = 300


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
                kernel.apt.download(f"{name}={kernel.version}", directory)
    return folder


def build_command(kernel, headers, directory):
    """Debian's Makefile includes one below /usr/src: here it is read itself."""
    build = os.path.join(headers, "usr/src", f"linux-headers-{kernel.release}")
    path, = re.findall(r"^include /(.*)/Makefile$",
                       read_file(os.path.join(build, "Makefile")), re.M)
    source = os.path.join(headers, path)
    return ["make", "-s", "-C", build, "-f", f"{source}/Makefile",
            f"KBUILD_OUTPUT={build}", f"M={directory}", "CC=gcc",
            "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"]


def built_module(kernel, name):
    """The content of guest/NAME/NAME.ko, compiled for the kernel."""
    headers = fetch_headers(kernel)
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(os.path.join(GUEST, name, f"{name}.c"), directory)
        write_file(os.path.join(directory, "Kbuild"), f"obj-m := {name}.o\n")
        run(build_command(kernel, headers, directory), timeout=BUILD_SECONDS)
        path = os.path.join(directory, f"{name}.ko")
        run(["strip", "--strip-debug", path])
        with open(path, "rb") as file:
            return file.read()
