/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a lock is part of that has no symbol: an object of a slab cache, by the cache. */
#ifndef DEBUGGER_ANALYSIS_WAIT_PLACE_H
#define DEBUGGER_ANALYSIS_WAIT_PLACE_H

#include "base/strbuf.h"
#include "debugger/infer/infer.h"

/*
 * "i_rwsem of inode 1234, /log of vda1", "exited of the struct kthread at 0x...", "in an object of
 * the slab cache kmalloc-96". Puts nothing where nothing is known, nor of a whole object of that
 * type ("struct pid_namespace"; NULL: of none).
 */
void wait_put_place(struct target *target, uint64_t address, const char *type, struct strbuf *ret);
/* "inode 1234, /log of vda1"; false: it cannot be read. */
bool wait_put_inode(struct target *target, uint64_t address, struct strbuf *ret);

/*
 * How sure it is that an object of a type ("struct buffer_head") begins there, by the name of the
 * slab cache. Less than certain: caches of such a size are merged into one.
 */
enum confidence wait_slab_object(struct target *target, uint64_t address, const char *type);

#endif
