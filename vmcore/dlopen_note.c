// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which libraries the program loads at run time (decompress.c), as a note that packagers' tools
 * read: https://systemd.io/ELF_DLOPEN_METADATA/. Linked into the program with shared libraries
 * only: the static one loads nothing.
 */
__asm__(".pushsection .note.dlopen, \"a\", @note\n"
	".balign 4\n"
	".long 4, 2f - 1f, 0x407c0c0a\n"
	".asciz \"FDO\"\n"
	"1:	.asciz \"["
	"{\\\"feature\\\":\\\"deflate\\\",\\\"description\\\":\\\"dumps compressed with zlib, "
	"faster\\\","
	"\\\"priority\\\":\\\"recommended\\\",\\\"soname\\\":[\\\"libdeflate.so.0\\\"]},"
	"{\\\"feature\\\":\\\"zstd\\\",\\\"description\\\":\\\"dumps compressed with Zstandard\\\","
	"\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"libzstd.so.1\\\"]},"
	"{\\\"feature\\\":\\\"snappy\\\",\\\"description\\\":\\\"dumps compressed with Snappy\\\","
	"\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"libsnappy.so.1\\\"]}]\"\n"
	"2:	.balign 4\n"
	".popsection\n");
