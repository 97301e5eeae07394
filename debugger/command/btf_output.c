// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/btf_output.h"

#include "debugger/export/btf.h"
#include "debugger/shell/child.h"
#include "debugger/target/btf_files.h"
#include <stdlib.h>

static struct error *write_file(struct session *session, const char *path, const void *data,
				size_t size)
{
	FILE *file;
	TRY(output_open(session->helper, path, false, &file));
	bool failed = fwrite(data, 1, size, file) != size;
	return output_close(session->helper, file, path, failed ? error_system("%s", path) : NULL);
}

/* `variables`: how many are in it; NULL: none were asked for. */
static void report(struct session *session, const char *path, size_t size, const size_t *variables)
{
	struct out *out = session->out;
	out_object_begin(out, NULL);
	out_string(out, "file", path);
	out_text(out, ": ");
	out_u64(out, "bytes", size);
	out_text(out, " bytes");
	if (variables) {
		out_text(out, ", ");
		out_u64(out, "variables", *variables);
		out_text(out, " variables");
	}
	out_text(out, "\n");
	out_object_end(out);
}

struct error *btf_output(struct session *session, const char *name, const char *path)
{
	const struct btf *btf;
	const void *data;
	size_t size;
	TRY(target_find_btf(session->target, name, &btf));
	TRY(target_btf_bytes(session->target, btf, &data, &size));
	TRY(write_file(session, path, data, size));
	report(session, path, size, NULL);
	return NULL;
}

struct error *btf_output_variables(struct session *session, const char *name, const char *path)
{
	struct exported_btf btf;
	TRY(export_btf_variables(session->target, name, session->progress, &btf));
	struct error *error = write_file(session, path, btf.data, btf.size);
	free(btf.data);
	if (!error)
		report(session, path, btf.size, &btf.variables);
	return error;
}
