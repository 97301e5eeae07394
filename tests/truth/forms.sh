#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds clues_forms and runs it: tests/truth/forms.sh [BUILD [DUMP...]]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
[ $# -eq 0 ] || shift
cache=${BTFCRASH_CACHE:-testdata/cache}
[ $# -gt 0 ] || set -- "$cache/6.1/boot1/vmcore.elf" "$cache/6.12/boot1/vmcore.elf"
make BUILD="$build" "$build/libbtfcrash.a" >/dev/null
"${CC:-cc}" -I. -D_GNU_SOURCE -O2 -std=gnu11 -o "$build/clues_forms" tests/truth/clues_forms.c \
	"$build/libbtfcrash.a" -lkdumpfile -lcapstone -lreadline -llzo2 -lz
exec "$build/clues_forms" "$@"
