"""Debian's archive: what apt knows of this machine, or of another suite.

A suite that the machine's own apt does not follow gets lists of its own in the
cache, so that nothing of the machine's configuration is touched.
"""

import glob
import os
import re
import time

from recipe.common import RecipeError, cache_path, run, step, write_file

MIRROR = "http://deb.debian.org/debian"
COMPONENT = "main"
LISTS_SECONDS = 24 * 3600
DOWNLOAD_SECONDS = 600


class Apt:
    """apt-cache and apt-get of one suite, or of this machine (None)."""

    def __init__(self, suite=None):
        self.options = ["-o", "APT::Sandbox::User=root"]
        if suite:
            self.follow(suite)

    def follow(self, suite):
        """Takes the suite for all there is.  Call with the packages' lock."""
        folder = cache_path("packages", f"apt-{suite}")
        self.options += ["-o", f"Dir::Etc::sourcelist={folder}/sources",
                         "-o", "Dir::Etc::sourceparts=/dev/null",
                         "-o", f"Dir::State::lists={folder}/lists",
                         "-o", f"Dir::Cache={folder}/cache"]
        stamp = os.path.join(folder, "updated")
        if (os.path.exists(stamp)
                and time.time() - os.path.getmtime(stamp) < LISTS_SECONDS):
            return
        for name in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        mirror = MIRROR + ("-security" if suite.endswith("-security") else "")
        write_file(os.path.join(folder, "sources"),
                   f"deb {mirror} {suite} {COMPONENT}\n")
        with step(f"apt-get update of {suite}"):
            run(["apt-get", *self.options, "update"],
                timeout=DOWNLOAD_SECONDS)
        write_file(stamp, "")

    def candidate(self, package):
        """The version that apt would install, or None."""
        policy = run(["apt-cache", *self.options, "policy", package])
        found = re.search(r"Candidate: (\S+)", policy)
        return found[1] if found and found[1] != "(none)" else None

    def depends(self, package):
        """The packages that one depends on, by name."""
        listed = run(["apt-cache", *self.options, "depends", package])
        return re.findall(r"Depends: ([^\s<]+)", listed)

    def download(self, wanted, directory):
        """Downloads one package and unpacks it into the directory."""
        try:
            run(["apt-get", *self.options, "download", wanted],
                cwd=directory, timeout=DOWNLOAD_SECONDS)
        except RecipeError as error:
            raise RecipeError(f"cannot download {wanted} (apt-get update may "
                              f"help): {error}") from None
        archive, = glob.glob(os.path.join(directory, "*.deb"))
        run(["dpkg", "-x", archive, directory])
        os.unlink(archive)
