"""What every part of the recipe needs: errors, locks, steps, atomic files."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time

TESTDATA = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GUEST = os.path.join(TESTDATA, "guest")
TEMPORARY = ".temporary-"
LARGE = 16 << 20  # bytes

# depmod, modprobe and mkfs.ext4 are not on every user's path.
os.environ["PATH"] += ":/usr/sbin:/sbin"


class RecipeError(Exception):
    """Something could not be made; the message is one line for the user."""


def cache_path(*parts):
    """A path below the cache folder, which BTFCRASH_CACHE can move."""
    cache = os.environ.get("BTFCRASH_CACHE") or os.path.join(TESTDATA, "cache")
    return os.path.join(os.path.abspath(cache), *parts)


@contextlib.contextmanager
def locked(path):
    """Holds an exclusive lock on a file, which is made if need be."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def step(name):
    """Prints one line with the seconds that the body took."""
    started = time.monotonic()
    yield
    print(f"{name:<44}{time.monotonic() - started:7.1f} s", flush=True)


@contextlib.contextmanager
def made_directory(path):
    """Gives a temporary directory that becomes `path` when the body is done."""
    parent = os.path.dirname(path)
    os.makedirs(parent, exist_ok=True)
    temporary = tempfile.mkdtemp(prefix=TEMPORARY, dir=parent)
    os.chmod(temporary, 0o755)
    try:
        yield temporary
        for name in os.listdir(temporary):
            dig_holes(os.path.join(temporary, name))
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextlib.contextmanager
def made_file(path):
    """Gives a temporary name that becomes `path` when the body is done."""
    temporary = os.path.join(os.path.dirname(path),
                             TEMPORARY + os.path.basename(path))
    try:
        yield temporary
        dig_holes(temporary)
        os.rename(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def write_file(path, text):
    """Writes a small text file, whole or not at all."""
    with made_file(path) as temporary, open(temporary, "w") as file:
        file.write(text)


def read_file(path):
    """The text of a file, whatever bytes are in it."""
    with open(path, errors="replace") as file:
        return file.read()


def remove_leftovers(directory):
    """Removes what an interrupted run left behind.  Call with the lock held."""
    for root, directories, files in os.walk(directory):
        for name in [n for n in directories if n.startswith(TEMPORARY)]:
            shutil.rmtree(os.path.join(root, name))
            directories.remove(name)
        for name in files:
            if name.startswith(TEMPORARY):
                os.unlink(os.path.join(root, name))


def dig_holes(path):
    """Gives back the disk space under the zeros of a file, if it is large.

    Most of a guest's memory was never written. A file system without holes keeps the zeros.
    """
    if os.path.isfile(path) and os.path.getsize(path) >= LARGE:
        subprocess.run(["fallocate", "--dig-holes", path],
                       stderr=subprocess.DEVNULL, check=False)


def run(command, **options):
    """Runs a host command and returns its output; failure is a RecipeError."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              errors="replace", **options)
    except FileNotFoundError:
        raise RecipeError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise RecipeError(f"{command[0]} ran for more than "
                          f"{options['timeout']} s") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        reason = lines[-1] if lines else "no message"
        raise RecipeError(f"{' '.join(command[:3])}: exit status "
                          f"{done.returncode}: {reason}")
    return done.stdout


def main_guard(main):
    """Runs main() and turns its errors into one line and a status."""
    try:
        main()
    except (RecipeError, OSError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
