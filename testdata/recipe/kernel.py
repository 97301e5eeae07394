"""A test kernel: from the name of a meta package to files in the cache."""

import glob
import hashlib
import lzma
import os
import re

from recipe.apt import Apt
from recipe.common import (TESTDATA, GUEST, RecipeError, cache_path, locked,
                           made_directory, read_file, run)

# What goes into the hash of the recipe: a change in any of it remakes dumps.
RECIPE_FILES = ("make-dumps", "recipe/*.py", "recipe/*.c", "guest/*", "guest/*/*")


class Line:
    """One line of testdata/kernels: NAME META-PACKAGE [OPTION...]."""

    OPTIONS = ("source", "memory", "crashkernel", "optional")

    def __init__(self, words):
        self.name, self.meta = words[:2]
        options = dict(word.partition("=")[::2] for word in words[2:])
        unknown = [name for name in options if name not in self.OPTIONS]
        if unknown:
            raise RecipeError(f"testdata/kernels: no option {unknown[0]}; "
                              "there are: " + " ".join(self.OPTIONS))
        self.source = options.get("source")
        self.megabytes = int(options.get("memory", 0))
        self.crashkernel = options.get("crashkernel", "192M")
        self.is_optional = "optional" in options


class Kernel:
    """A line of testdata/kernels, resolved to exact packages."""

    def __init__(self, line):
        self.name = line.name
        self.megabytes = line.megabytes
        self.crashkernel = line.crashkernel
        with locked(cache_path("packages", ".lock")):
            self.apt = Apt(line.source)
            self.package, self.version = resolve(self.apt, line.meta)
        self.release = self.package.removeprefix("linux-image-")
        key = recipe_hash(f"{self.package} {self.version}")
        self.folder = cache_path(f"{self.release}-{key}")
        self.tree = cache_path("packages", f"{self.package}_{self.version}")

    @property
    def vmlinuz(self):
        path = os.path.join(self.tree, "boot", f"vmlinuz-{self.release}")
        if os.path.exists(path):
            return path
        return os.path.join(self.tree, "lib/modules", self.release, "vmlinuz")

    def fetch(self):
        """Downloads and unpacks the kernel's packages unless they are there."""
        with locked(cache_path("packages", ".lock")):
            if os.path.exists(self.tree):
                return
            with made_directory(self.tree) as directory:
                for package in self.parts():
                    self.apt.download(f"{package}={self.version}", directory)
                if not os.path.exists(os.path.join(directory, "lib")):
                    os.symlink("usr/lib", os.path.join(directory, "lib"))
                run(["depmod", "-b", directory, self.release])

    def parts(self):
        """The image's package, and those it is split into if it is."""
        return [self.package] + [name for name in self.apt.depends(self.package)
                                 if name.endswith("-" + self.release)]

    def module_files(self, names):
        """The modules and all they need, as paths in the order of loading."""
        paths = []
        for name in names:
            for path in self.dependencies(name):
                if path not in paths:
                    paths.append(path)
        return paths

    def dependencies(self, name):
        """Paths of a module and what it needs; none if built in or unknown."""
        try:
            lines = run(["modprobe", "-d", self.tree, "-S", self.release,
                         "--show-depends", name]).splitlines()
        except RecipeError:
            return []
        return [line.split()[1] for line in lines if line.startswith("insmod")]


def load_kernels():
    """A Line for each line of testdata/kernels, oldest first."""
    path = os.path.join(TESTDATA, "kernels")
    lines = [line.split("#")[0].split() for line in open(path)]
    wrong = [line for line in lines if len(line) == 1]
    if wrong:
        raise RecipeError(f"{path}: not NAME META-PACKAGE: {wrong[0][0]}")
    return [Line(line) for line in lines if line]


def recipe_hash(salt):
    """A short hash over the recipe's files and a text."""
    digest = hashlib.sha256(salt.encode())
    for pattern in RECIPE_FILES:
        for path in sorted(glob.glob(os.path.join(TESTDATA, pattern))):
            if os.path.isdir(path):
                continue
            with open(path, "rb") as file:
                digest.update(os.path.basename(path).encode() + file.read())
    return digest.hexdigest()[:10]


def resolve(apt, meta):
    """(package, version) of the kernel image that a meta package stands for."""
    if apt.candidate(meta) is None:
        raise RecipeError(f"apt-cache knows no package {meta}: "
                          "is the name right, was apt-get update run?")
    images = [name for name in apt.depends(meta)
              if re.match(r"linux-image-\d", name)]
    if not images:
        raise RecipeError(f"{meta} depends on no linux-image package")
    return images[0], apt.candidate(images[0])


def module_list():
    """The names in guest/modules."""
    lines = read_file(os.path.join(GUEST, "modules")).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def module_content(path):
    """The bytes of a module, unpacked."""
    with open(path, "rb") as file:
        content = file.read()
    return lzma.decompress(content) if path.endswith(".xz") else content
