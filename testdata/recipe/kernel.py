"""A test kernel: from the name of a meta package to files in the cache."""

import glob
import hashlib
import lzma
import os
import re

from recipe.common import (TESTDATA, GUEST, RecipeError, cache_path, locked,
                           made_directory, read_file, run)

# What goes into the hash of the recipe: a change in any of it remakes dumps.
RECIPE_FILES = ("make-dumps", "recipe/*.py", "guest/*")


class Kernel:
    """One line of testdata/kernels, resolved to an exact package."""

    def __init__(self, name, meta):
        self.name = name
        self.package, self.version = resolve(meta)
        self.release = re.sub(r"^linux-image-|-unsigned$", "", self.package)
        key = recipe_hash(f"{self.package} {self.version}")
        self.folder = cache_path(f"{self.release}-{key}")
        self.tree = cache_path("packages", f"{self.package}_{self.version}")

    @property
    def vmlinuz(self):
        return os.path.join(self.tree, "boot", f"vmlinuz-{self.release}")

    def fetch(self):
        """Downloads and unpacks the kernel package unless it is there."""
        with locked(cache_path("packages", ".lock")):
            if os.path.exists(self.tree):
                return
            with made_directory(self.tree) as directory:
                download(f"{self.package}={self.version}", directory)
                run(["depmod", "-b", directory, self.release])

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
    """(name, meta package) of each line of testdata/kernels, oldest first."""
    path = os.path.join(TESTDATA, "kernels")
    lines = [line.split("#")[0].split() for line in open(path)]
    wrong = [line for line in lines if len(line) not in (0, 2)]
    if wrong:
        raise RecipeError(f"{path}: not NAME META-PACKAGE: "
                          + " ".join(wrong[0]))
    return [tuple(line) for line in lines if line]


def recipe_hash(salt):
    """A short hash over the recipe's files and a text."""
    digest = hashlib.sha256(salt.encode())
    for pattern in RECIPE_FILES:
        for path in sorted(glob.glob(os.path.join(TESTDATA, pattern))):
            with open(path, "rb") as file:
                digest.update(os.path.basename(path).encode() + file.read())
    return digest.hexdigest()[:10]


def candidate(package):
    """The version that apt would install, or None."""
    policy = run(["apt-cache", "policy", package])
    found = re.search(r"Candidate: (\S+)", policy)
    return found[1] if found and found[1] != "(none)" else None


def resolve(meta):
    """(package, version) of the kernel image that a meta package stands for."""
    if candidate(meta) is None:
        raise RecipeError(f"apt-cache knows no package {meta}: "
                          "is the name right, was apt-get update run?")
    depends = run(["apt-cache", "depends", meta])
    found = re.search(r"Depends: (linux-image-\d\S*)", depends)
    if not found:
        raise RecipeError(f"{meta} depends on no linux-image package")
    signed = found[1]
    version = candidate(signed)
    unsigned = candidate(f"{signed}-unsigned")
    if unsigned == version:
        return f"{signed}-unsigned", version
    return signed, version


def download(wanted, directory):
    """Downloads one package and unpacks it into the directory."""
    try:
        run(["apt-get", "-o", "APT::Sandbox::User=root", "download", wanted],
            cwd=directory, timeout=600)
    except RecipeError as error:
        raise RecipeError(f"cannot download {wanted} (apt-get update may "
                          f"help): {error}") from None
    archive, = glob.glob(os.path.join(directory, "*.deb"))
    run(["dpkg", "-x", archive, directory])
    os.unlink(archive)


def module_list():
    """The names in guest/modules."""
    lines = read_file(os.path.join(GUEST, "modules")).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def module_content(path):
    """The bytes of a module, unpacked."""
    with open(path, "rb") as file:
        content = file.read()
    return lzma.decompress(content) if path.endswith(".xz") else content
