"""A kdump-compressed dump whose pages are compressed anew, by Zstandard.

makedumpfile can write them, but Debian's is built without. Its library is on every Debian, as dpkg
needs it.
"""

import ctypes
import struct
import zlib

from recipe.common import RecipeError

# Of the header: what makedumpfile did, the size of a block, of the sub header, of both bitmaps.
STATUS = struct.Struct("<IiiI")
STATUS_AT = 424
DESCRIPTOR = struct.Struct("<QIIQ")
ZLIB, ZSTD = 0x1, 0x20
LEVEL = 1


class Compressor:
    """The library's functions."""

    def __init__(self):
        self.library = ctypes.CDLL("libzstd.so.1")
        self.library.ZSTD_compress.restype = ctypes.c_size_t
        self.buffer = ctypes.create_string_buffer(1 << 20)

    def compress(self, page):
        size = self.library.ZSTD_compress(
            self.buffer, ctypes.c_size_t(len(self.buffer)), page,
            ctypes.c_size_t(len(page)), LEVEL)
        if size > len(self.buffer):
            raise RecipeError("zstd does not compress a page")
        return ctypes.string_at(self.buffer, size)


def count_bits(file, offset, size):
    file.seek(offset)
    return bin(int.from_bytes(file.read(size), "little")).count("1")


def recompress(source, path):
    """Writes the dump `source`, whose pages zlib compressed, to `path`."""
    compressor = Compressor()
    with open(source, "rb") as old, open(path, "wb") as new:
        old.seek(STATUS_AT)
        status, block, sub_header, bitmaps = STATUS.unpack(old.read(STATUS.size))
        if old.seek(0) or not old.read(8) == b"KDUMP   " or not status & ZLIB:
            raise RecipeError(f"{source}: not compressed with zlib")
        table = (1 + sub_header + bitmaps) * block
        count = count_bits(old, (1 + sub_header) * block + bitmaps * block // 2,
                           bitmaps * block // 2)
        old.seek(table)
        descriptors = list(DESCRIPTOR.iter_unpack(old.read(count * DESCRIPTOR.size)))
        # What lies between the table and the first page stays where it is.
        first = min(offset for offset, *_ in descriptors)
        old.seek(0)
        new.write(old.read(first))
        written = write_pages(old, new, descriptors, compressor, block)
        new.seek(table)
        new.write(b"".join(DESCRIPTOR.pack(*written[offset], flags)
                           for offset, _, _, flags in descriptors))
        new.seek(STATUS_AT)
        new.write(struct.pack("<I", status & ~ZLIB | ZSTD))


def write_pages(old, new, descriptors, compressor, block):
    """Where each page's data went: {old offset: (offset, size, compression)}."""
    written = {}
    for offset, size, compression, _ in descriptors:
        if offset in written:
            continue
        old.seek(offset)
        page = old.read(size)
        if compression & ZLIB:
            page = zlib.decompress(page)
        packed = compressor.compress(page)
        small = len(packed) < block
        data = packed if small else page
        written[offset] = new.tell(), len(data), ZSTD if small else 0
        new.write(data)
    return written
