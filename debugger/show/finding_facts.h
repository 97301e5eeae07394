/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a finding of `analyze` says in sentences, as data. */
#ifndef DEBUGGER_SHOW_FINDING_FACTS_H
#define DEBUGGER_SHOW_FINDING_FACTS_H

#include "base/out.h"
#include "debugger/analysis/finding.h"

/* Members of an object: instruction, access, object, locks, chain. As text, nothing. */
void finding_write_facts(struct out *out, const struct finding *finding);

#endif
