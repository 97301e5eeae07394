/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The forms that nine of ten instructions of a kernel have, decoded as Capstone does, which takes
 * twenty times as long: it also writes each instruction down as text. What has another form, or a
 * prefix that is not looked for here, is Capstone's. That both agree on every instruction of a
 * kernel, tests/truth/forms.sh proves. The encodings: Intel's SDM volume 2, chapter 2 and
 * appendix A.
 */
#ifndef DEBUGGER_CODE_DECODE_X86_64_H
#define DEBUGGER_CODE_DECODE_X86_64_H

#include <capstone/capstone.h>

/*
 * Fills what lowering looks at: id, size, address; of its detail prefix, op_count, operands and
 * addr_size. False: ask Capstone. Of these forms the first operand is all that may be written.
 */
bool decode_x86_64(const uint8_t *bytes, size_t size, uint64_t address, cs_insn *ret);

#endif
