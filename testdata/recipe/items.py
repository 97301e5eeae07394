"""What can be made of a kernel: crashes in various machines, their dumps."""

import functools
import os
import shutil
import struct
import tarfile

from recipe import initramfs
from recipe.common import (RecipeError, made_directory, read_file, step,
                           write_file)
from recipe.flavours import make_flavours
from recipe.images import make_images
from recipe.qemu import (BOOT_SECONDS, SPURIOUS, BootError, accelerator,
                         machine, retry)

TRUTH_MEGABYTES = 256
CAPTURE_MEGABYTES = 256
PANIC_SILENCE_SECONDS = 10
NO_USER_SPACE = "none"
# On a busy host an emulated timer ticks too late for the kernel's check of it, which panics.
KERNEL_COMMAND_LINE = ("console=ttyS0 ignore_loglevel printk.time=1 panic=0 "
                       "sysctl.kernel.printk_ratelimit=0 no_timer_check")


class Boot:
    """A machine, and how it crashes."""

    def __init__(self, crash, cpu, cpus, megabytes, append="", pvpanic=True,
                 low_megabytes=None, disks=(), seconds=BOOT_SECONDS,
                 nodes=()):
        self.crash = crash
        self.cpu = cpu
        self.cpus = cpus
        self.megabytes = megabytes
        self.append = append
        self.pvpanic = pvpanic
        # Memory is a file, and what is above these lies above 4 GiB.
        self.low_megabytes = low_megabytes
        # More of them: (name, megabytes, QEMU's options for the drive, and its device).
        self.disks = disks
        # What it may take until it is dumped.
        self.seconds = seconds
        # The megabytes of each node, a CPU in each.
        self.nodes = nodes

    def memory_options(self, megabytes, path):
        """QEMU's options for its memory, which can be the file `path`."""
        options = ["-m", str(megabytes)]
        if self.low_megabytes:
            options += ["-object", "memory-backend-file,id=memory,"
                        f"size={megabytes}M,mem-path={path},share=on",
                        "-machine", "memory-backend=memory,"
                        f"max-ram-below-4g={self.low_megabytes}M"]
        for number, size in enumerate(self.nodes):
            options += ["-object", f"memory-backend-ram,id=node{number},"
                        f"size={size}M",
                        "-numa", f"node,memdev=node{number},cpus={number}"]
        return options

    def options(self, kernel, initrd, attempt, memory):
        """QEMU's options for this machine."""
        append = (f"{KERNEL_COMMAND_LINE} btfcrash.crash={self.crash} "
                  + self.append.format(crashkernel=kernel.crashkernel)).strip()
        return [*accelerator(attempt), "-cpu", self.cpu,
                "-smp", f"{self.cpus},sockets={self.cpus}" if self.nodes
                else str(self.cpus),
                *self.memory_options(max(self.megabytes, kernel.megabytes),
                                     memory),
                "-kernel", kernel.vmlinuz, "-initrd", initrd,
                "-append", append]


def faulty(name, cpus=1, pvpanic=True):
    """A small machine that dies of a mistake of guest/faults."""
    return Boot(f"fault:{name}", "max,la57=off", cpus, 192,
                "btfcrash.extra=faults", pvpanic)


def greedy(crash, extra=""):
    """A small machine that some of its memory is lost to."""
    return Boot(crash, "max,la57=off", 1, 192, extra)


def two_nodes(crash, extra=""):
    """One whose second node is the smaller one."""
    return Boot(crash, "max,la57=off", 2, 320, extra, nodes=(256, 64))


def ailing(name, cpus=1):
    """A small machine that guest/faults has harmed, and that lives on."""
    return Boot("sysrq", "max,la57=off", cpus, 192, f"btfcrash.extra={name}")


# What guest/faults does to the machine at once.
FAULTS = ("null", "bug", "overflow", "poison", "free", "wild", "user", "warn",
          "divide", "errptr", "jump", "twice", "timer", "softirq", "work",
          "removed", "callback",
          "refcount", "panic", "overrun", "underrun", "constant", "noexec",
          "usercode", "midway", "misaligned", "unmapped",
          "smash", "stackend", "usercopy", "fortify", "doublefree", "kfence",
          "atomic", "oomslab", "oomvm", "neighbour", "spilt", "keeper")
# The same of more than one CPU: one dies, or is found to be dead, of the other.
FAULTS_OF_TWO = ("soft", "rcu", "irqoff", "ipi", "hard", "storm", "timers",
                 "rcusleep", "rcupreempt", "rcuresume", "spin")
# What it does to one that goes on, until somebody looks at it.
AILMENTS = {"leak": 1, "leakpages": 1, "leakvm": 1, "leakbuffers": 1,
            "order": 1, "hog": 2, "tasklets": 2, "watermark": 1}
# After 64 KiB, which the kernel looks for partitions in, a byte a second.
DEAF_DISK = ("throttling.bps-total=1,throttling.bps-total-max=65536,"
             "throttling.bps-total-max-length=1")
# What the kernel says when it was told to crash by a letter.
CRASH_IS_ASKED = "sysrq: Trigger a crash"
# What a machine check says: the bank, its status (uncorrected, the processor's context is corrupt,
# address and more are valid), that of the processor, an address, how to read that.
MACHINE_CHECK = "mce 0 1 0xbe0000000000009f 0x5 0x12345000 0x8c"

# Guests that trace events, and tell more of themselves; RCU does when it is asked by SysRq.
TRACING = "rcutree.sysrq_rcu=1 btfcrash.trace="

# A panic in an NMI reaches the console only at its very end, long after the
# pvpanic device would have stopped the guest: boot2 does without.
BOOTS = {
    "boot1": Boot("sysrq", "max,la57=off", 2, 384, TRACING + "some"),
    "boot2": Boot("nmi", "Haswell", 3, 512, f"unknown_nmi_panic {TRACING}some", pvpanic=False),
    "la57": Boot("sysrq", "max", 2, 384),
    "oom": Boot("oom", "max,la57=off", 2, 384),
    "hung": Boot("hung", "max,la57=off", 2, 384),
    # Probes patch code, which two emulated CPUs agree about very slowly.
    "bpf": Boot("sysrq", "max,la57=off", 1, 512, f"btfcrash.extra=bpf {TRACING}every"),
    "threads": Boot("sysrq", "max,la57=off", 2, 512, "btfcrash.extra=crowd"),
    "small": Boot("sysrq", "max,la57=off", 1, 192),
    # The kernel's image does not fit below 4 GiB when it is at random.
    "hole": Boot("sysrq", "max,la57=off", 2, 512, low_megabytes=128),
    # Nothing reaches the CPUs that are locked up, no NMI either; the first one
    # keeps the time.
    "lockup": Boot("lockup", "max,la57=off", 4, 384,
                   "btfcrash.extra=lockup nonmi_ipi nmi_watchdog=0 nohz=off"),
    # All the ways to wait at once: guest/stuck.
    "stuck": Boot("sysrq", "max,la57=off", 2, 256, "btfcrash.extra=stuck"),
    "hungtask": Boot("hung", "max,la57=off", 2, 256, "btfcrash.extra=stuck"),
    **{name: ailing(name, cpus) for name, cpus in AILMENTS.items()},
    "oomcg": Boot("cgroup", "max,la57=off", 1, 192),
    "init": Boot("init", "max,la57=off", 1, 192),
    "oops": Boot("oops", "max,la57=off", 1, 192, "btfcrash.extra=faults"),
    # It has neither a user space nor what that would load.
    "noroot": Boot(NO_USER_SPACE, "max,la57=off", 1, 192, "rdinit=/none",
                   pvpanic=False),
    # As of an NMI; Debian's 6.1 for clouds cannot take any.
    "mce": Boot("mce", "max,la57=off", 1, 192, pvpanic=False),
    **{name: faulty(name) for name in FAULTS},
    # A double fault is like an NMI, in whose panic the console comes last.
    "overflow": faulty("overflow", pvpanic=False),
    # Its second CPU never comes up.
    "bug": Boot("fault:bug", "max,la57=off", 2, 192,
                "btfcrash.extra=faults maxcpus=1"),
    # The CPU that is left keeps the time, and a watch on the other one. What
    # watches over CPUs that take no interrupts panics in an NMI.
    **{name: faulty(name, cpus=2, pvpanic=name != "hard")
       for name in FAULTS_OF_TWO},
    **{name: greedy(name) for name in ("oomtmpfs", "oomhuge", "oomkill")},
    "oomnode": two_nodes("oomnode"),
    "cpuset": two_nodes("cpuset", "btfcrash.extra=faults"),
    **{name: greedy(name, "btfcrash.extra=ext4")
       for name in ("ext4", "fserror")},
    "initexit": greedy("initexit"),
    # What is beside tasks holds them up: guest/held_up.c.
    "held": Boot("sysrq", "max,la57=off", 2, 256, "btfcrash.extra=held",
                 disks=[("deaf", 16, DEAF_DISK),
                        ("deafscsi", 16, DEAF_DISK, "scsi-hd"),
                        ("deafnvme", 16, DEAF_DISK, "nvme")]),
    # Each thread has two mappings and 16 KiB of kernel stack.
    "crowd": Boot("sysrq", "max,la57=off", 2, 1536,
                  "btfcrash.extra=crowd:10000 sysctl.kernel.threads-max=32768"),
    # As large as is still quick to emulate: 8,000 threads, 300,000 files.
    "big": Boot("sysrq", "max,la57=off", 2, 2048,
                "btfcrash.extra=big sysctl.kernel.threads-max=32768",
                seconds=1800),
}
# Those whose dump a capture kernel writes.
KEXEC_BOOTS = {
    "kdump": Boot("sysrq", "max,la57=off", 2, 512, "crashkernel={crashkernel}"),
    # One of the CPUs that are locked up is so in an NMI, which no other one reaches.
    # With less memory the kernel's image, at random in it, may leave no room for crashkernel.
    "deaf": Boot("deaf", "max,la57=off", 3, 512,
                 "crashkernel={crashkernel} btfcrash.extra=lockup"),
}

ITEMS = [*BOOTS, *KEXEC_BOOTS]
DEFAULT_ITEMS = ["boot1", "boot2", "bpf", "threads", "hole", "kdump"]
WITH_FLAVOURS = {
    "boot1": ("zlib", "lzo", "E", "flat", "flat-E", "split"),
}
# Without holes, whatever makedumpfile this machine has.
WITH_NEWEST_FLAVOURS = {
    "boot1": ("zstd",),
    "boot2": ("zstd",),
    "big": ("zlib", "lzo", "zstd", "flat"),
}
# Those that QEMU writes itself.
WITH_QEMU_FLAVOURS = ["boot1"]
WITH_IMAGES = ["hole"]
WITH_BPF = ["bpf"]
WITH_LOCKUP = ["lockup", "deaf"]
# Those that have a module of our own on top.
MODULES = {
    "lockup": WITH_LOCKUP,
    "stuck": ["stuck", "hungtask"],
    "faults": [*FAULTS, *FAULTS_OF_TWO, *AILMENTS, "oops",
               "cpuset"],
}
# Those that load more of the kernel's modules.
MORE_MODULES = {"held": ["nfsv3", "virtio_scsi", "sd_mod", "autofs4"]}
# Of the kernels that are not optional, on top.
MORE_DEFAULT_ITEMS = [*WITH_LOCKUP, "stuck", "held", "null", "bug", "overflow",
                      "neighbour", "spilt", "keeper"]


def default_items(line):
    """What is made of a kernel if nobody says what.

    One that is optional may need a newer compiler for its modules.
    """
    return DEFAULT_ITEMS + ([] if line.is_optional else MORE_DEFAULT_ITEMS)


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
    make = make_kdump if item in KEXEC_BOOTS else make_boot
    with step(f"{kernel.name} {item}: boot, crash, dump"):
        retry(lambda attempt: make(kernel, item, initrd, attempt))


def make_missing_flavours(kernel, item):
    """Makes the other formats of an item's dump, if it has them."""
    directory = os.path.join(kernel.folder, item)
    make_flavours_of(item, directory, f"{kernel.name} {item}")
    if item in WITH_IMAGES:
        make_images(directory, f"{kernel.name} {item}")


def make_flavours_of(item, directory, label):
    """The same of a dump in another folder, which has no images."""
    make_flavours(directory, label, WITH_FLAVOURS.get(item, ()))
    make_flavours(directory, label, WITH_NEWEST_FLAVOURS.get(item, ()), newest=True)


# Dumps from outside


def make_boot(kernel, item, initrd, attempt):
    """One try at a crash whose dump QEMU writes."""
    with made_directory(os.path.join(kernel.folder, item)) as directory:
        with machine(directory) as guest:
            initrd = with_extras(guest, kernel, item, initrd)
            crash_under_qemu(guest, BOOTS[item], kernel, initrd, attempt,
                             os.path.join(directory, "vmcore.hung"))
            elf = os.path.join(directory, "vmcore.elf")
            guest.dump(elf, "elf")
            if item in WITH_QEMU_FLAVOURS:
                guest.dump(os.path.join(directory, "vmcore.qemu-zlib"),
                           "kdump-zlib")
                guest.save_memory(os.path.join(directory, "vmcore.pmemsave"))
            guest.stop()
            if BOOTS[item].low_megabytes:
                shutil.move(guest.path("memory"),
                            os.path.join(directory, "vmcore.raw"))
            keep_logs(guest, directory)
        if BOOTS[item].crash != NO_USER_SPACE:
            check_elf(elf)


def with_extra(guest, initrd, write):
    """The initramfs with one behind it that only this boot has."""
    extra, whole = guest.path("extra-initrd"), guest.path("initrd")
    write(extra)
    initramfs.join([initrd, extra], whole)
    return whole


def with_extras(guest, kernel, item, initrd):
    """The initramfs of an item, with what only that one has."""
    if item in WITH_BPF:
        return with_extra(guest, initrd, initramfs.write_bpf)
    if item in MORE_MODULES:
        return with_extra(guest, initrd, functools.partial(
            initramfs.write_more_modules, kernel, MORE_MODULES[item]))
    for name, items in MODULES.items():
        if item in items:
            return with_extra(guest, initrd, functools.partial(
                initramfs.write_module, kernel, name))
    return initrd


def crash_under_qemu(guest, boot, kernel, initrd, attempt, hung):
    """Boots the guest and leaves it paused in its panic.

    One that locks up is dumped to `hung` before.
    """
    pvpanic = ["-device", "pvpanic-pci", "-action", "panic=pause"]
    guest.start(boot.options(kernel, initrd, attempt, guest.path("memory"))
                + guest.add_disk("truth", TRUTH_MEGABYTES)
                + sum((guest.add_disk(*disk) for disk in boot.disks), [])
                + ["-device", "vmcoreinfo"]
                + (pvpanic if boot.pvpanic else []), boot.seconds)
    guest.has_user_space = boot.crash != NO_USER_SPACE
    if guest.has_user_space:
        guest.wait("the states", lambda: guest.said("guest: ready"))
    if boot.crash == "nmi":
        guest.monitor.command("inject-nmi")
    if boot.crash == "mce":
        guest.monitor.command("human-monitor-command",
                              **{"command-line": MACHINE_CHECK})
    if boot.crash == "lockup":
        keep_hung(guest, hung)
    guest.wait("the panic", lambda: has_panicked(guest))
    guest.monitor.command("stop")
    check_cause(guest, boot)


def keep_hung(guest, path):
    """A dump of the machine that hangs, before anything panics."""
    guest.wait("the lockup", lambda: guest.said("guest: locked up"))
    guest.monitor.command("stop")
    if guest.monitor.has_event("GUEST_PANICKED"):
        raise BootError("it panicked before the dump of its lockup")
    guest.dump(path, "elf")
    guest.monitor.command("cont")


def has_panicked(guest):
    """By the device's word, the last line, or silence after the panic.

    Kernels before 5.15 may keep the last line of a panic in an NMI to
    themselves.
    """
    return (guest.monitor.has_event("GUEST_PANICKED")
            or guest.said(r"---\[ end Kernel panic.*\n", "serial")
            or (guest.said(r"Kernel panic - not syncing", "serial")
                and guest.silence("serial") > PANIC_SILENCE_SECONDS))


def check_cause(guest, boot):
    """One that is to die of sysrq-c was well until then.

    While it boots, guest.wait() looks for failures, but not at the moment at
    which the guest is ready, nor behind it.
    """
    if boot.crash != "sysrq":
        return
    before, asked, _ = read_file(guest.path("serial")).partition(CRASH_IS_ASKED)
    failed = SPURIOUS.search(before)
    if failed or not asked:
        raise BootError("it died of something else: "
                        + (failed[0].strip() if failed else "no sysrq-c"))


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
            boot = KEXEC_BOOTS[item]
            disk = guest.add_disk("vmcore", max(boot.megabytes,
                                                kernel.megabytes))
            crash_with_kexec(guest, kernel,
                             with_extras(guest, kernel, item, initrd),
                             attempt, COPY_VMCORE, disk, boot=boot)
            unpack(guest.path("capture"), os.path.join(directory, "capture"))
            keep_logs(guest, directory)
            keep_vmcore(guest, directory)
        check_elf(os.path.join(directory, "vmcore.kdump"))


def crash_with_kexec(guest, kernel, initrd, attempt, script, disk=None,
                     extend=lambda archive: None, boot=KEXEC_BOOTS["kdump"]):
    """Crashes the guest and runs a script in the kernel that kexec starts."""
    capture = guest.path("capture-initrd")
    initramfs.write_capture(kernel, capture, script, extend)
    extra = guest.path("kexec-initrd")
    initramfs.write_kexec(kernel, extra, capture)
    whole = guest.path("whole-initrd")
    initramfs.join([initrd, extra], whole)
    guest.start(boot.options(kernel, whole, attempt, None)
                + guest.add_disk("truth", TRUTH_MEGABYTES)
                + (disk or guest.add_disk("vmcore", 1))
                + guest.add_disk("capture", CAPTURE_MEGABYTES))
    guest.wait("the states", lambda: guest.said("guest: ready"))
    guest.wait("the capture kernel", lambda: guest.said("guest: capture"))
    guest.wait_end()
    if not guest.said("guest: capture done"):
        raise BootError("the capture kernel did not finish its script")
    check_cause(guest, boot)


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
