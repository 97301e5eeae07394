"""What can be made of a kernel: crashes in various machines, their dumps."""

import os
import shutil
import struct
import tarfile

from recipe import initramfs
from recipe.common import (RecipeError, made_directory, read_file, step,
                           write_file)
from recipe.flavours import make_flavours
from recipe.qemu import BootError, accelerator, machine, retry

TRUTH_MEGABYTES = 256
CAPTURE_MEGABYTES = 256
PANIC_SILENCE_SECONDS = 10
KERNEL_COMMAND_LINE = ("console=ttyS0 ignore_loglevel printk.time=1 panic=0 "
                       "sysctl.kernel.printk_ratelimit=0")


class Boot:
    """A machine, and how it crashes."""

    def __init__(self, crash, cpu, cpus, megabytes, append="", pvpanic=True):
        self.crash = crash
        self.cpu = cpu
        self.cpus = cpus
        self.megabytes = megabytes
        self.append = append
        self.pvpanic = pvpanic

    def options(self, kernel, initrd, attempt):
        """QEMU's options for this machine."""
        append = (f"{KERNEL_COMMAND_LINE} btfcrash.crash={self.crash} "
                  + self.append.format(crashkernel=kernel.crashkernel)).strip()
        return [*accelerator(attempt), "-cpu", self.cpu,
                "-smp", str(self.cpus),
                "-m", str(max(self.megabytes, kernel.megabytes)),
                "-kernel", kernel.vmlinuz, "-initrd", initrd,
                "-append", append]


# A panic in an NMI reaches the console only at its very end, long after the
# pvpanic device would have stopped the guest: boot2 does without.
BOOTS = {
    "boot1": Boot("sysrq", "max,la57=off", 2, 384),
    "boot2": Boot("nmi", "Haswell", 3, 512, "unknown_nmi_panic", pvpanic=False),
    "la57": Boot("sysrq", "max", 2, 384),
    "oom": Boot("oom", "max,la57=off", 2, 384),
    "hung": Boot("hung", "max,la57=off", 2, 384),
    # Probes patch code, which two emulated CPUs agree about very slowly.
    "bpf": Boot("sysrq", "max,la57=off", 1, 512, "btfcrash.extra=bpf"),
    "threads": Boot("sysrq", "max,la57=off", 2, 512, "btfcrash.extra=crowd"),
    "small": Boot("sysrq", "max,la57=off", 1, 192),
}
KDUMP = Boot("sysrq", "max,la57=off", 2, 512, "crashkernel={crashkernel}")

ITEMS = [*BOOTS, "kdump"]
DEFAULT_ITEMS = ["boot1", "boot2", "bpf", "threads", "kdump"]
WITH_FLAVOURS = ["boot1"]
WITH_BPF = ["bpf"]

COPY_VMCORE = "dd if=/proc/vmcore of=/dev/vdb bs=1M conv=fsync 2>/out/dd\n"


def guest_initramfs(kernel):
    """The path of the guest's initramfs, which is made if need be."""
    path = os.path.join(kernel.folder, "initrd")
    if not os.path.exists(path):
        with step(f"{kernel.name}: initramfs"):
            initramfs.write_guest(kernel, path)
    return path


def make_item(kernel, item):
    """Makes one item of a kernel unless it is there."""
    directory = os.path.join(kernel.folder, item)
    initrd = guest_initramfs(kernel)
    if os.path.exists(directory):
        return
    make = make_kdump if item == "kdump" else make_boot
    with step(f"{kernel.name} {item}: boot, crash, dump"):
        retry(lambda attempt: make(kernel, item, initrd, attempt))


def make_missing_flavours(kernel, item):
    """Makes the other formats of an item's dump, if it has them."""
    if item in WITH_FLAVOURS:
        make_flavours(os.path.join(kernel.folder, item),
                      f"{kernel.name} {item}")


# Dumps from outside


def make_boot(kernel, item, initrd, attempt):
    """One try at a crash whose dump QEMU writes."""
    with made_directory(os.path.join(kernel.folder, item)) as directory:
        with machine(directory) as guest:
            if item in WITH_BPF:
                initrd = with_bpf(guest, initrd)
            crash_under_qemu(guest, BOOTS[item], kernel, initrd, attempt)
            elf = os.path.join(directory, "vmcore.elf")
            guest.dump(elf, "elf")
            if item in WITH_FLAVOURS:
                guest.dump(os.path.join(directory, "vmcore.qemu-zlib"),
                           "kdump-zlib")
            guest.stop()
            keep_logs(guest, directory)
        check_elf(elf)


def with_bpf(guest, initrd):
    """The initramfs with the BPF programs behind it."""
    extra, whole = guest.path("bpf-initrd"), guest.path("initrd")
    initramfs.write_bpf(extra)
    initramfs.join([initrd, extra], whole)
    return whole


def crash_under_qemu(guest, boot, kernel, initrd, attempt):
    """Boots the guest and leaves it paused in its panic."""
    pvpanic = ["-device", "pvpanic-pci", "-action", "panic=pause"]
    guest.start(boot.options(kernel, initrd, attempt)
                + guest.add_disk("truth", TRUTH_MEGABYTES)
                + ["-device", "vmcoreinfo"]
                + (pvpanic if boot.pvpanic else []))
    guest.wait("the states", lambda: guest.said("guest: ready"))
    if boot.crash == "nmi":
        guest.monitor.command("inject-nmi")
    guest.wait("the panic", lambda: has_panicked(guest))
    guest.monitor.command("stop")


def has_panicked(guest):
    """By the device's word, the last line, or silence after the panic.

    Kernels before 5.15 may keep the last line of a panic in an NMI to
    themselves.
    """
    return (guest.monitor.has_event("GUEST_PANICKED")
            or guest.said(r"---\[ end Kernel panic.*\n", "serial")
            or (guest.said(r"Kernel panic - not syncing", "serial")
                and guest.silence("serial") > PANIC_SILENCE_SECONDS))


def check_elf(path):
    """A dump without VMCOREINFO is of no use to anybody."""
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    if b"VMCOREINFO\0" not in head:
        raise BootError(f"{path}: no VMCOREINFO note")


# Dumps from inside


def make_kdump(kernel, item, initrd, attempt):
    """One try at a crash whose dump a capture kernel writes."""
    with made_directory(os.path.join(kernel.folder, item)) as directory:
        with machine(directory) as guest:
            disk = guest.add_disk("vmcore", max(KDUMP.megabytes,
                                                kernel.megabytes))
            crash_with_kexec(guest, kernel, initrd, attempt,
                             COPY_VMCORE, disk)
            unpack(guest.path("capture"), os.path.join(directory, "capture"))
            keep_logs(guest, directory)
            keep_vmcore(guest, directory)
        check_elf(os.path.join(directory, "vmcore.kdump"))


def crash_with_kexec(guest, kernel, initrd, attempt, script, disk=None,
                     extend=lambda archive: None):
    """Crashes the guest and runs a script in the kernel that kexec starts."""
    capture = guest.path("capture-initrd")
    initramfs.write_capture(kernel, capture, script, extend)
    extra = guest.path("extra-initrd")
    initramfs.write_kexec(kernel, extra, capture)
    whole = guest.path("initrd")
    initramfs.join([initrd, extra], whole)
    guest.start(KDUMP.options(kernel, whole, attempt)
                + guest.add_disk("truth", TRUTH_MEGABYTES)
                + (disk or guest.add_disk("vmcore", 1))
                + guest.add_disk("capture", CAPTURE_MEGABYTES))
    guest.wait("the states", lambda: guest.said("guest: ready"))
    guest.wait("the capture kernel", lambda: guest.said("guest: capture"))
    guest.wait_end()
    if not guest.said("guest: capture done"):
        raise BootError("the capture kernel did not finish its script")


def keep_vmcore(guest, directory):
    """Cuts the disk with the dump to its size and keeps it."""
    size = int(read_file(os.path.join(directory, "capture", "vmcore.size")))
    os.truncate(guest.path("vmcore"), size)
    shutil.move(guest.path("vmcore"), os.path.join(directory, "vmcore.kdump"))


# What the guests leave behind


def keep_logs(guest, directory):
    """Keeps the console and the truth of a guest."""
    unpack(guest.path("truth"), os.path.join(directory, "truth"))
    for port, name in (("serial", "serial.log"), ("progress", "progress.log"),
                       ("capture-serial", "capture-serial.log")):
        if os.path.getsize(guest.path(port)):
            shutil.move(guest.path(port), os.path.join(directory, name))
    log = read_file(os.path.join(directory, "serial.log"))
    write_file(os.path.join(directory, "console.txt"), log.replace("\r", ""))


def unpack(disk, directory):
    """Unpacks the tar archive that a guest wrote to a raw disk.

    Regular files only, wherever their names point: what a guest wrote decides
    about no other path.
    """
    os.makedirs(directory)
    try:
        with tarfile.open(disk, "r:") as archive:
            for member in filter(tarfile.TarInfo.isreg, archive):
                unpack_member(archive, member, directory)
    except (tarfile.TarError, struct.error) as error:
        raise BootError(f"{os.path.basename(disk)} disk: {error}") from None


def unpack_member(archive, member, directory):
    path = os.path.normpath(os.path.join(directory, member.name))
    if not path.startswith(directory + os.sep):
        raise RecipeError(f"a guest's archive names {member.name}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        shutil.copyfileobj(archive.extractfile(member), file)
