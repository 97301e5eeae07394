// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/content.h"

#include "debugger/command/command.h"
#include "debugger/kernel/path_lookup.h"
#include "debugger/shell/child.h"
#include <inttypes.h>

/* Of runs that are not there; the sums are of all. */
#define GAPS_SHOWN 1000

struct listing {
	struct out *out;
	uint64_t count;
};

static const char *const gap_words[CONTENT_GAPS] = { "not in the page cache", "swapped out",
						     "not in the dump" };
static const char *const gap_keys[CONTENT_GAPS] = { "not_cached", "swapped", "not_in_dump" };

static struct error *write_gap(void *context, enum content_gap kind, uint64_t offset, uint64_t size)
{
	struct listing *listing = context;
	struct out *out = listing->out;
	if (listing->count++ >= GAPS_SHOWN)
		return NULL;
	out_object_begin(out, NULL);
	out_wide(out, "offset", offset);
	out_text(out, ": ");
	out_wide(out, "size", size);
	out_text(out, " bytes ");
	out_string_as(out, "why", gap_keys[kind], gap_words[kind]);
	out_text(out, "\n");
	out_object_end(out);
	return NULL;
}

static void write_sums(struct out *out, const char *path, const struct content_summary *summary)
{
	out_string(out, "file", path);
	out_text(out, ": ");
	out_wide(out, "size", summary->size);
	out_text(out, " bytes, ");
	out_wide(out, "bytes", summary->bytes);
	out_text(out, " of them from memory");
	for (size_t i = 0; i < CONTENT_GAPS; i++) {
		char text[64] = "";
		if (summary->gaps[i])
			snprintf(text, sizeof(text), ", %" PRIu64 " %s", summary->gaps[i],
				 gap_words[i]);
		out_wide_as(out, gap_keys[i], summary->gaps[i], text);
	}
	out_bool_as(out, "is_pipe", summary->is_pipe, "");
	out_text(out, "\n");
}

static struct error *extract_run(struct session *session, const struct arguments *arguments)
{
	const char *path = arguments->operands[0], *target = arguments->operands[1];
	struct listing listing = { .out = session->out };
	const struct content_options options = { .progress = session->progress,
						 .gap = write_gap,
						 .context = &listing };
	struct content_summary summary;
	struct object inode;
	FILE *file;
	if (*path != '/')
		return error_create(ERROR_USAGE, "%s is no path from the root: /tmp/x", path);
	TRY(path_lookup(session->target, path, &inode));
	TRY(output_open(session->helper, target, false, &file));
	out_object_begin(session->out, NULL);
	out_array_begin(session->out, "gaps");
	struct error *error =
		error_prefix(export_content(&inode, &options, file, &summary), "%s", path);
	out_array_end(session->out);
	out_wide_as(session->out, "gap_count", listing.count, "");
	if (listing.count > GAPS_SHOWN)
		out_text(session->out, "and %" PRIu64 " more\n", listing.count - GAPS_SHOWN);
	error = output_close(session->helper, file, target, error);
	if (!error)
		write_sums(session->out, target, &summary);
	out_object_end(session->out);
	return error;
}

static const char *const examples[] = { "extract /proc/1/exe /dev/null", NULL };

const struct command command_extract = {
	.name = "extract",
	.summary = "write the content of a file that was in memory",
	.description =
		"Writes what the dead machine had in memory of a file into FILE: of a file on disk "
		"the pages that were cached, of tmpfs and shared memory all that was not swapped "
		"out, of a pipe what nobody had read yet. Nobody else may read FILE, as of "
		"`gcore`. "
		"Where bytes are missing FILE has zeros; "
		"offset, size and reason of each such run are listed. A page counts only if it "
		"says "
		"itself that it is this page of this file.\n"
		"\n"
		"PATH is one as the first process saw it, through all mounts; symbolic links are "
		"not followed. The kernel forgets names that nobody uses. /proc/PID/exe is the "
		"program of a process, /proc/PID/fd/N a file that it has open, which may have lost "
		"its name: `files PID` lists them. With makedumpfile -d 31 files' pages are not in "
		"the dump.",
	.operands = { { .name = "PATH", .kind = OPERAND_WORD },
		      { .name = "FILE", .kind = OPERAND_OUTPUT, .is_private = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = extract_run,
};
