#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes base/escape_table.h: the characters that are shown as escapes, by the Unicode that Python
knows:  base/escape_table.py > base/escape_table.h"""

import unicodedata

# Controls, formats, surrogates, private use, unassigned, separators of lines and paragraphs.
CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# What is invisible by design in other categories (Default_Ignorable_Code_Point, and the blank of
# Braille): joiners, fillers, variation selectors.
INVISIBLE = {0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, *range(0x180b, 0x1810), 0x2800, 0x3164,
             *range(0xfe00, 0xfe10), 0xffa0, *range(0xe0000, 0xe1000)}


def is_escaped(code):
    return code in INVISIBLE or unicodedata.category(chr(code)) in CATEGORIES


def main():
    bounds = [code for code in range(0x80, 0x110001)
              if (code == 0x110000 or is_escaped(code)) != (code > 0x80 and is_escaped(code - 1))]
    bounds += [0x110000] * (len(bounds) % 2)
    print("/* SPDX-License-Identifier: GPL-3.0-or-later */")
    print(f"/* Made by base/escape_table.py from Unicode {unicodedata.unidata_version}: where a run of "
          "characters that are escaped\n * begins, and where it has ended. */")
    print("/* clang-format off */")
    for i in range(0, len(bounds), 10):
        print("\t" + " ".join(f"0x{bound:x}," for bound in bounds[i:i + 10]))
    print("\t/* clang-format on */")


main()
