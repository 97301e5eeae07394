// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/confine.h"

#include "base/sandbox.h"
#include "cmds/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool confine_allows_script(struct session *session, const char *path)
{
	struct stat status;
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t capacity = 0;
	bool allows = file && !fstat(fileno(file), &status) && S_ISREG(status.st_mode);
	for (ssize_t length; allows && (length = getline(&line, &capacity, file)) >= 0;) {
		line[strcspn(line, "\n")] = 0;
		allows = run_stays_inside(session, line);
	}
	free(line);
	if (file)
		fclose(file);
	return allows;
}

void confine_enter(struct session *session, struct cache_keeper *keeper)
{
	struct target *target = session->target;
	struct error *error = sandbox_enter();
	/* Without seccomp: as if it had not been tried. */
	if (!error && keeper->to < 0)
		target->no_cache = true;
	else if (!error)
		target->cache_keeper = keeper;
	error_free(error);
}
