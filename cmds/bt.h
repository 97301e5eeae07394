/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt writes for one task; foreach writes it for all. */
#ifndef CMDS_BT_H
#define CMDS_BT_H

#include "debugger/kernel/task.h"
#include "debugger/session.h"

struct error *bt_write_task(struct session *session, const struct task *task) MUST_CHECK;

#endif
