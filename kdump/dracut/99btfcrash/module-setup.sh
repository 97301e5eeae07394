#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dracut: btfcrash in the initramfs of a capture kernel. For /usr/lib/dracut/modules.d/99btfcrash/.

check() {
	require_binaries /usr/lib/btfcrash/btfcrash || return 1
	# Fedora's mkdumprd says so. Everywhere else: dracut --add btfcrash.
	[[ ${IN_KDUMP-} ]] && return 0
	return 255
}

depends() {
	return 0
}

install() {
	inst_multiple /usr/lib/btfcrash/btfcrash /usr/lib/btfcrash/kdump-report \
		cat date ls mkdir mount mv rm sync tail tr
	inst_multiple -o timeout
	# Fedora: kdump.sh runs what is here before it saves the dump.
	inst_script "$moddir/kdump-pre" /etc/kdump/pre.d/btfcrash
	# Others, which save it when the root file system has taken over.
	inst_hook pre-pivot 10 "$moddir/pre-pivot.sh"
}
