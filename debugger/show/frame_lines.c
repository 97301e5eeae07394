// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/frame_lines.h"

#include "debugger/kernel/source_lines.h"
#include <inttypes.h>

/* The nearest places that are known, NULL: none on that side. */
struct nearest {
	const struct line_fact *behind, *before; /* the frame is behind the one, before the other */
};

static void find_nearest(const struct source_lines *lines, const struct frame *frame,
			 struct nearest *ret)
{
	/* What is called returns behind the call. */
	uint64_t pc = frame->pc - (frame->pc_is_exact ? 0 : 1);
	const struct line_fact *facts;
	size_t count = source_lines_of(lines, frame->symbol.address, &facts);
	*ret = (struct nearest){ 0 };
	for (size_t i = 0; i < count; i++) {
		/* Where such a place is, is not known to the byte. */
		if (facts[i].is_near)
			continue;
		if (facts[i].address <= pc)
			ret->behind = &facts[i];
		else if (!ret->before)
			ret->before = &facts[i];
	}
}

static void write_place(struct out *out, const char *key, const struct line_fact *fact,
			uint64_t bytes, const char *words, const char *function_file)
{
	if (!fact) {
		out_null_as(out, key, "");
		return;
	}
	bool is_same = fact->file == function_file;
	out_object_begin(out, key);
	if (bytes)
		out_text(out, "%s0x%" PRIx64 " bytes %s ", function_file ? ", " : "", bytes, words);
	else
		out_text(out, "%sat ", function_file ? ", " : "");
	out_string_as(out, "file", fact->file, is_same ? "line " : fact->file);
	out_text(out, is_same ? "" : ":");
	out_u64(out, "line", fact->line);
	out_u64_as(out, "bytes", bytes, "");
	out_object_end(out);
}

void frame_write_lines(struct session *session, const struct frame *frame)
{
	struct out *out = session->out;
	struct nearest nearest;
	const char *file;
	if (!session->lines || !frame->has_symbol || frame->kind == FRAME_USER)
		return;
	enum file_proof proof = source_lines_file(session->lines, &frame->symbol, &file);
	find_nearest(session->lines, frame, &nearest);
	if (!file && !nearest.behind && !nearest.before)
		return;
	out_text(out, "\n     ");
	out_object_begin(out, "lines");
	if (file) {
		out_string(out, "file", file);
		/* What is proved needs no word. */
		bool is_sure = proof == FILE_WRITTEN;
		out_text(out, is_sure ? "" : " (");
		out_string_as(out, "proof", file_proof_name(proof),
			      is_sure		   ? ""
			      : proof == FILE_CODE ? "by its code"
						   : file_proof_name(proof));
		out_text(out, is_sure ? "" : ")");
	} else {
		out_null_as(out, "file", "");
		out_null_as(out, "proof", "");
	}
	write_place(out, "behind", nearest.behind,
		    nearest.behind ? frame->pc - nearest.behind->address : 0, "behind", file);
	if (!file && nearest.behind && nearest.before)
		out_text(out, ", ");
	write_place(out, "before", nearest.before,
		    nearest.before ? nearest.before->address - frame->pc : 0, "before", file);
	out_object_end(out);
}
