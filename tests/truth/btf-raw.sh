#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares `types --format raw` of the kernel and of every module in the dumps with what bpftool
# makes of the BTF files the dumped kernel itself served. By hand:
#	tests/truth/btf-raw.sh [PROGRAM [CAPTURE...]]
# from the root of the repository; a CAPTURE is a folder with vmcore.elf and truth/btf/.

program=${1:-build/btfcrash}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- testdata/cache/6.*/boot1

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
equal=0
different=0

# compare NAME COMMAND: the program's answer against $work/expected
compare()
{
	if "$program" -q -c "$2" -- "$capture/vmcore.elf" >"$work/actual" 2>"$work/errors" &&
	   [ -s "$work/expected" ] && cmp "$work/expected" "$work/actual"; then
		equal=$((equal + 1))
	else
		different=$((different + 1))
		printf 'DIFFERENT %s: %s\n' "$capture" "$1"
		cat "$work/errors"
	fi
}

for capture; do
	capture=$(realpath -- "$capture")
	kernel=$capture/truth/btf/vmlinux
	[ -f "$kernel" ] || { echo "no $kernel"; exit 2; }
	bpftool btf dump file "$kernel" format raw >"$work/expected"
	compare vmlinux 'types --format raw'
	for file in "$capture"/truth/btf/*; do
		module=${file##*/}
		[ "$module" = vmlinux ] && continue
		bpftool btf dump -B "$kernel" file "$file" format raw >"$work/expected"
		compare "$module" "types -m $module --format raw"
	done
done
echo "$equal equal, $different different"
[ "$equal" -gt 0 ] && [ "$different" -eq 0 ]
