/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Definitions of types for people and programs: layouts, enumerators, what a typedef stands for. */
#ifndef DEBUGGER_EVAL_DEFINITION_H
#define DEBUGGER_EVAL_DEFINITION_H

#include "base/out.h"
#include "btf/layout.h"

/* How definition_render() of value.h prints: as C, in pahole's columns. */
extern const struct btf_layout_style definition_style;

/* The definition of a struct, union, enum or typedef; other types are spelled. */
struct error *definition_render_as(struct out *out, const char *key, struct type type,
				   const struct btf_layout_style *style) MUST_CHECK;
/*
 * The members that `paths` names ("comm,se.load"), each with its place in `type`. Errors: a path
 * leads nowhere; what came before it has been written.
 */
struct error *definition_render_members(struct out *out, const char *key, struct type type,
					const char *paths,
					const struct btf_layout_style *style) MUST_CHECK;

#endif
