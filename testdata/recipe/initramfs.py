"""Initial file systems for the guests, written as cpio archives.

The archives are made here rather than by cpio(1), so that device nodes need no
root.  They are not compressed: unpacking under emulation costs more than
loading.  The kernel accepts several archives one after the other, which is how
the capture kernel and its own initramfs get into the guest.
"""

import os
import re
import stat
import subprocess
import tempfile

from recipe.common import GUEST, RecipeError, made_file, run
from recipe.kernel import module_content, module_list
from recipe.module import built_module

GUEST_PROGRAMS = {
    "states": ("states.c", "states_wait.c", "states_run.c", "states_core.c"),
    "keep_core": ("keep_core.c",),
    "collect": ("collect.c", "crashes.c"),
    "tells": ("tells.c",),
    "hops": ("hops.c",),
    "busy": ("busy.c",),
    "runner": ("runner.c",),
    "crowd": ("crowd.c",),
    "many": ("many.c",),
    "unserved": ("unserved.c",),
    "audits": ("audits.c",),
    "held_up": ("held_up.c",),
}
# Of boots that load more modules.
MORE_PROGRAMS = {"asks": ("asks.c", "asks_journal.c")}
BPF_LIBRARIES = ("-lbpf", "-lelf", "-lz")
MULTIARCH = "x86_64-linux-gnu"
DIRECTORIES = ("proc", "sys", "tmp", "mnt", "dev")
CAPTURE_MODULES = ("virtio_pci", "virtio_blk")
CAPTURE_COMMAND_LINE = ("console=ttyS2 irqpoll nr_cpus=1 reset_devices panic=1 "
                        "printk.time=1 ignore_loglevel no_timer_check")


class Archive:
    """Collects files for a cpio archive in the "newc" format."""

    def __init__(self):
        self.entries = {}

    def add(self, path, mode, content=b"", device=(0, 0)):
        """Adds an entry, and the directories above it if they are missing."""
        path = path.strip("/")
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.add(parent, stat.S_IFDIR | 0o755)
        self.entries[path] = (mode, content, device)

    def add_text(self, path, text):
        self.add(path, stat.S_IFREG | 0o644, text.encode())

    def add_link(self, path, target):
        self.add(path, stat.S_IFLNK | 0o777, target.encode())

    def add_host_file(self, path, source, mode=0o755):
        with open(source, "rb") as file:
            self.add(path, stat.S_IFREG | mode, file.read())

    def write(self, path):
        with open(path, "wb") as file:
            for number, name in enumerate(self.entries, 1):
                file.write(self.encode(number, name, *self.entries[name]))
            file.write(self.encode(0, "TRAILER!!!", 0, b"", (0, 0)))

    @staticmethod
    def encode(number, name, mode, content, device):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device,
                  len(name) + 1, 0)
        head = "070701" + "".join(f"{field:08x}" for field in fields)
        head = head.encode() + name.encode() + b"\0"
        head += b"\0" * (-len(head) % 4)
        return head + content + b"\0" * (-len(content) % 4)


def add_base(archive):
    """Busybox, device nodes for the first moments, mount points."""
    for directory in DIRECTORIES:
        archive.add(directory, stat.S_IFDIR | 0o755)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("dev/null", stat.S_IFCHR | 0o666, device=(1, 3))
    archive.add_host_file("bin/busybox", "/bin/busybox")
    for applet in run(["/bin/busybox", "--list"]).split():
        if applet != "busybox":
            archive.add_link(f"bin/{applet}", "busybox")


def add_programs(archive, programs=None):
    """C programs of guest/, compiled for any machine."""
    with tempfile.TemporaryDirectory() as directory:
        for name, sources in (programs or GUEST_PROGRAMS).items():
            output = os.path.join(directory, name)
            run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-pthread", "-s",
                 "-o", output, *(os.path.join(GUEST, source) for source in sources)])
            archive.add_host_file(f"bin/{name}", output)


def add_bpf(archive):
    """BPF programs, and the program that loads them and sleeps below them."""
    with tempfile.TemporaryDirectory() as directory:
        loader = os.path.join(directory, "bpf_states")
        run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-s", "-o", loader,
             os.path.join(GUEST, "bpf", "bpf_states.c"), *BPF_LIBRARIES])
        archive.add_host_file("bin/bpf_states", loader)
        programs = os.path.join(directory, "programs.o")
        # The path of the source is in what is compiled: it must not differ.
        run(["clang", "-target", "bpf", "-g", "-O2", "-mcpu=v2", "-Wall",
             "-D__TARGET_ARCH_x86", "-gdwarf-5", "-gembed-source",
             "-fdebug-compilation-dir=/bpf", f"-I/usr/include/{MULTIARCH}",
             "-c", "programs.bpf.c", "-o", programs],
            cwd=os.path.join(GUEST, "bpf"))
        archive.add_host_file("bpf/programs.o", programs, 0o644)


def add_modules(archive, kernel, names, listing="modules/list"):
    """Modules and a list of them in the order of loading."""
    listed = []
    for path in kernel.module_files(names):
        name = re.sub(r"\.xz$", "", os.path.basename(path))
        archive.add(f"modules/{name}", stat.S_IFREG | 0o644,
                    module_content(path))
        listed.append(name + "\n")
    archive.add_text(listing, "".join(listed))


def add_ext4_image(archive):
    """A small ext4 with a journal, to be mounted from a loop device."""
    with tempfile.TemporaryDirectory() as directory:
        image = os.path.join(directory, "image")
        run(["mkfs.ext4", "-q", "-F", "-L", "frozen", image, "8M"])
        archive.add_host_file("images/ext4", image, 0o644)


def program_closure(program):
    """The program and the shared libraries that ldd names."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if "not found" in listed.stdout:
        raise RecipeError(f"{program}: a shared library is missing")
    return [program] + re.findall(r"(?:^|\s)(/\S+)", listed.stdout) \
        if listed.returncode == 0 else [program]


def add_program(archive, program, path=None):
    """A dynamically linked program of the host, with its libraries."""
    program = os.path.abspath(program)
    archive.add_host_file(path or program, program)
    for library in program_closure(program)[1:]:
        archive.add_host_file(library, library)


def write_guest(kernel, path):
    """The initramfs of the guest that crashes."""
    archive = Archive()
    add_base(archive)
    add_programs(archive)
    add_modules(archive, kernel, module_list())
    add_ext4_image(archive)
    archive.add_host_file("init", os.path.join(GUEST, "init"))
    with made_file(path) as temporary:
        archive.write(temporary)


def write_bpf(path):
    """What the boot below BPF programs needs on top: a compiler made it."""
    archive = Archive()
    add_bpf(archive)
    archive.write(path)


def write_module(kernel, name, path):
    """A module of our own, for the boots that ask for it."""
    archive = Archive()
    archive.add(f"extra/{name}.ko", stat.S_IFREG | 0o644,
                built_module(kernel, name))
    archive.write(path)


def write_more_modules(kernel, names, path):
    """Modules of the kernel's own that only one boot loads, and programs that need them."""
    archive = Archive()
    add_modules(archive, kernel, names, "modules/more")
    add_programs(archive, MORE_PROGRAMS)
    archive.write(path)


def write_capture(kernel, path, script, extend=lambda archive: None):
    """The initramfs of the capture kernel, which runs the script."""
    archive = Archive()
    add_base(archive)
    add_programs(archive)
    add_modules(archive, kernel, CAPTURE_MODULES)
    archive.add_host_file("init", os.path.join(GUEST, "capture-init"))
    archive.add_text("capture", script)
    extend(archive)
    archive.write(path)


def write_kexec(kernel, path, capture):
    """What the crashing guest needs on top in order to load `capture`."""
    archive = Archive()
    add_program(archive, "/sbin/kexec", "bin/kexec")
    archive.add_host_file("kexec/vmlinuz", kernel.vmlinuz, 0o644)
    archive.add_host_file("kexec/initrd", capture, 0o644)
    archive.add_text("kexec/cmdline", CAPTURE_COMMAND_LINE)
    archive.write(path)


def join(paths, path):
    """Archives one after the other, each aligned as the kernel wants it."""
    with open(path, "wb") as output:
        for part in paths:
            with open(part, "rb") as file:
                content = file.read()
            output.write(content + b"\0" * (-len(content) % 512))
