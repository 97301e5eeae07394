"""Debian 13's makedumpfile, wherever this runs.

Debian 12's 1.7.2 writes no Zstandard. It does not know how 6.12 marks pages of slabs, takes some of them
for pages of processes, and leaves them out at -d 31. So the package comes from Debian 13, with
the libraries that it needs, and is run by their loader.
"""

import functools
import glob
import os

from recipe.apt import Apt
from recipe.common import RecipeError, cache_path, locked, made_directory, step, write_file

SUITE = "trixie"
PACKAGE = "makedumpfile"
SCRIPT = f"""#!/bin/sh
root=$(dirname "$0")
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/{PACKAGE}" "$@"
"""


def needed(apt):
    """The package, and all that it depends on."""
    names = [PACKAGE]
    for name in names:
        names += [other for other in apt.depends(name) if other not in names]
    return names


def fetch():
    """The folder of the newest one; it is downloaded unless it is there."""
    apt = Apt(SUITE)
    version = apt.candidate(PACKAGE)
    if version is None:
        raise RecipeError(f"apt-cache knows no {PACKAGE} of {SUITE}: can the mirror be reached?")
    # A colon, as behind an epoch, would part the path of the libraries in two.
    tree = cache_path("packages", f"{PACKAGE}_{version.partition(':')[2] or version}")
    if not os.path.exists(tree):
        with step(f"{PACKAGE} {version}"), made_directory(tree) as directory:
            for name in needed(apt):
                apt.download(name, directory)
            write_file(os.path.join(directory, PACKAGE), SCRIPT)
            os.chmod(os.path.join(directory, PACKAGE), 0o755)
    return tree


@functools.lru_cache(None)
def newest_makedumpfile():
    """The path of a script that runs it; without the mirror, of the one that was fetched last."""
    with locked(cache_path("packages", ".lock")):
        try:
            tree = fetch()
        except RecipeError:
            fetched = sorted(glob.glob(cache_path("packages", f"{PACKAGE}_*")), key=os.path.getmtime)
            if not fetched:
                raise
            tree = fetched[-1]
    return os.path.join(tree, PACKAGE)
