"""Many crashes of one boot: the machine is kept when it is ready, and continued for each of them."""

import functools
import os
import shutil
import time

from recipe import initramfs
from recipe.common import (TEMPORARY, locked, made_directory, read_file, step,
                           write_file)
from recipe.items import (AILMENTS, BOOTS, FAULTS, FAULTS_OF_TWO,
                          TRUTH_MEGABYTES, Boot, check_elf, guest_initramfs,
                          has_panicked, unpack, with_extra)
from recipe.module import built_module
from recipe.qemu import MACHINE_LOCK, BootError, retry, unlocked_machine

SECTOR = 512
READY_FOLDER = "ready"
# Others wait for the emulator, too: as long as a boot takes.
BATCH_SECONDS = 120
# It asks its second disk what it is to die of.
READY = Boot("wish", "max,la57=off", 2, 192, "btfcrash.extra=many",
             disks=[("wish", 1)])
DISKS = [("truth", TRUTH_MEGABYTES), *READY.disks]
# What can be made so: whatever needs neither another machine nor other modules. NMIs and machine
# checks, which come from outside, are not among them, nor is a timer that is always due, which a
# busy host comes to too late.
SUITED = [*FAULTS, *(name for name in FAULTS_OF_TWO if name != "timers"),
          *AILMENTS, "oom", "oomcg", "oomtmpfs", "oomhuge", "oomkill", "ext4",
          "fserror", "hung", "oops"]


def wish_of(item):
    """What the guest has to read: the crash, or what it is to harm before it crashes."""
    return f"ail:{item}" if item in AILMENTS else BOOTS[item].crash


def make_many(kernel, items):
    """Makes those of the items that are not there, of one boot, which is kept for later ones."""
    wanted = [item for item in items
              if not os.path.exists(os.path.join(kernel.folder, item))]
    folder = os.path.join(kernel.folder, READY_FOLDER)
    if not wanted:
        return
    initrd = guest_initramfs(kernel)
    built_module(kernel, "faults")  # before anybody waits for this machine
    if not os.path.exists(folder):
        with (locked(MACHINE_LOCK),
              step(f"{kernel.name}: a boot for many crashes")):
            retry(lambda attempt: keep_ready(kernel, initrd, folder, attempt))
    while wanted:
        with locked(MACHINE_LOCK):
            end = time.monotonic() + BATCH_SECONDS
            while wanted and time.monotonic() < end:
                item = wanted.pop(0)
                with step(f"{kernel.name} {item}: crash, dump"):
                    retry(lambda attempt: try_one(kernel, initrd, item, folder,
                                                  attempt))


def try_one(kernel, initrd, item, folder, attempt):
    """If the machine that was kept goes wrong, another one is."""
    if attempt and os.path.exists(folder):
        gone = os.path.join(kernel.folder, TEMPORARY + READY_FOLDER)
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(folder, gone)
        shutil.rmtree(gone, ignore_errors=True)
    if not os.path.exists(folder):
        keep_ready(kernel, initrd, folder, attempt)
    make_one(kernel, item, folder, attempt)


def options_of(kernel, folder, attempt):
    """QEMU's, the same when it boots and when it goes on."""
    options = READY.options(kernel, os.path.join(folder, "initrd"), attempt,
                            None)
    for name, _ in DISKS:
        options += ["-drive", f"file={os.path.join(folder, name)},if=none,"
                    f"id={name},format=raw,cache=unsafe", "-device",
                    f"virtio-blk-pci,drive={name},serial={name}"]
    return options + ["-device", "vmcoreinfo", "-device", "pvpanic-pci",
                      "-action", "panic=pause"]


def keep_ready(kernel, initrd, folder, attempt):
    """Boots the machine and keeps it, stopped: nothing changes meanwhile."""
    with made_directory(folder) as made, unlocked_machine(made) as guest:
        shutil.move(with_extra(guest, initrd, functools.partial(
            initramfs.write_module, kernel, "faults")),
                    os.path.join(made, "initrd"))
        for name, megabytes in DISKS:
            with open(os.path.join(made, name), "wb") as file:
                file.truncate(megabytes << 20)
        guest.start(options_of(kernel, made, attempt))
        guest.wait("the states", lambda: guest.said("guest: ready"))
        time.sleep(1)  # until it asks
        guest.monitor.command("stop")
        guest.monitor.command("migrate", uri="exec:cat >"
                              + os.path.join(made, "state"))
        guest.wait("the kept machine", lambda: guest.monitor.command(
            "query-migrate")["status"] in ("completed", "failed"))
        if guest.monitor.command("query-migrate")["status"] == "failed":
            raise BootError("the machine could not be kept")
        guest.stop()
        for port in ("serial", "progress"):
            shutil.copy(guest.path(port), os.path.join(made, port))
        unpack(os.path.join(made, "truth"), os.path.join(made, "unpacked"))


def make_one(kernel, item, folder, attempt):
    """Continues the machine, which then dies of the item's cause."""
    with made_directory(os.path.join(kernel.folder, item)) as directory:
        with open(os.path.join(folder, "wish"), "r+b") as file:
            file.write(wish_of(item).encode().ljust(SECTOR, b"\0"))
        with unlocked_machine(directory) as guest:
            guest.is_ready = True
            guest.start(options_of(kernel, folder, attempt)
                        + ["-incoming", "exec:cat "
                           + os.path.join(folder, "state")])
            guest.wait("the kept machine", lambda: guest.monitor.command(
                "query-status")["status"] != "inmigrate")
            guest.monitor.command("cont")
            guest.wait("the panic", lambda: has_panicked(guest))
            guest.monitor.command("stop")
            if not guest.said("guest: told to die"):
                raise BootError("it died before it was told to")
            elf = os.path.join(directory, "vmcore.elf")
            guest.dump(elf, "elf")
            guest.stop()
            keep_logs(guest, folder, directory)
        check_elf(elf)


def keep_logs(guest, folder, directory):
    """What the machine said before it was kept, and after; its truth is that of all."""
    shutil.copytree(os.path.join(folder, "unpacked"),
                    os.path.join(directory, "truth"), copy_function=os.link)
    for port in ("serial", "progress"):
        text = (read_file(os.path.join(folder, port))
                + read_file(guest.path(port)))
        write_file(os.path.join(directory, f"{port}.log"), text)
    log = read_file(os.path.join(directory, "serial.log"))
    write_file(os.path.join(directory, "console.txt"), log.replace("\r", ""))
