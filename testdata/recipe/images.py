"""Images of one memory as tools inside a guest save it, made by images.c.

The tools themselves are a module out of the tree and a program in Rust.
"""

import os
import subprocess

from recipe.common import (TEMPORARY, TESTDATA, RecipeError, made_file, run,
                           step)

SECONDS = 300
# What images.c calls it.
IMAGES = ["lime", "concatenated", "avml"]


def build(program):
    """Compiles images.c; Snappy comes with makedumpfile, without headers."""
    run(["gcc", "-O2", "-Wall", "-Wextra", "-o", program,
         os.path.join(TESTDATA, "recipe", "images.c"), "-l:libsnappy.so.1"])


def make_image(program, directory, name):
    with made_file(os.path.join(directory, f"vmcore.{name}")) as temporary:
        with open(temporary, "wb") as output:
            done = subprocess.run(
                [program, name, os.path.join(directory, "vmcore.elf"),
                 os.path.join(directory, "truth", "iomem")],
                stdout=output, stderr=subprocess.PIPE, text=True,
                timeout=SECONDS, check=False)
        if done.returncode:
            raise RecipeError(done.stderr.strip())


def make_images(directory, label):
    """Makes the images that are missing of directory/vmcore.elf."""
    missing = [name for name in IMAGES if not os.path.exists(
        os.path.join(directory, f"vmcore.{name}"))]
    if not missing:
        return
    program = os.path.join(directory, TEMPORARY + "images")
    build(program)
    try:
        for name in missing:
            with step(f"{label}: {name}"):
                make_image(program, directory, name)
    finally:
        os.unlink(program)
