#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# dracut without Fedora's kdump.sh, which would have rebooted by now: the report waits in /run, and
# lies on the root file system if that can be written.
if [ -e /proc/vmcore ]; then
	/usr/lib/btfcrash/kdump-report || :
	mount -o remount,rw "${NEWROOT:-/sysroot}" &&
		/usr/lib/btfcrash/kdump-report \
			"${NEWROOT:-/sysroot}/var/crash/btfcrash-$(date +%Y-%m-%d-%H:%M:%S)" || :
fi
