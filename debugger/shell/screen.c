// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/screen.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/shell/spawn.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void find_size(struct screen *screen)
{
	struct helper_size size = { 0 };
	struct message reply;
	if (helper_ask(screen->helper, HELPER_SIZE, NULL, 0, &reply) && reply.size == sizeof(size))
		memcpy(&size, reply.data, sizeof(size));
	message_deinit(&reply);
	/* What it says is a short's number. */
	screen->rows = size.rows ? (int)size.rows : 24;
	screen->columns = size.columns ? (int)size.columns : 80;
}

/* The rows that the bytes take; colours count as if they were seen, the pager knows better. */
static void count_rows(struct screen *screen, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != '\n' && ++screen->column <= screen->columns)
			continue;
		screen->row++;
		screen->column = 0;
	}
}

/* The reader is gone: the command shall stop, as after Ctrl-C. */
static void leave(struct screen *screen)
{
	screen->left = true;
	interrupt_flag = 1;
}

static bool write_pager(struct screen *screen, const char *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, screen->pager.to) == size && !fflush(screen->pager.to))
		return true;
	leave(screen);
	return false;
}

static void write_terminal(struct screen *screen, const char *bytes, size_t size)
{
	progress_hide(screen->progress);
	fwrite(bytes, 1, size, stdout);
	fflush(stdout);
}

/* The pager takes over the terminal: no progress from here on. */
static bool start_pager(struct screen *screen)
{
	struct error *error = child_start_pager(screen->helper, &screen->pager);
	screen->may_page = false;
	if (error) {
		error_free(error);
		write_terminal(screen, screen->held, screen->held_size);
		return true;
	}
	progress_hide(screen->progress);
	if (screen->progress)
		screen->progress->helper = NULL;
	return write_pager(screen, screen->held, screen->held_size);
}

static bool hold(struct screen *screen, const char *bytes, size_t size)
{
	if (!array_reserve(&screen->held, &screen->held_capacity, screen->held_size + size + 1))
		return false;
	memcpy(screen->held + screen->held_size, bytes, size);
	screen->held_size += size;
	count_rows(screen, bytes, size);
	return screen->row < screen->rows - 1 || start_pager(screen);
}

static ssize_t screen_write(void *cookie, const char *bytes, size_t size)
{
	struct screen *screen = cookie;
	bool ok = true;
	if (screen->left)
		ok = false;
	else if (screen->pager.helper)
		ok = write_pager(screen, bytes, size);
	else if (screen->may_page)
		ok = hold(screen, bytes, size);
	else
		write_terminal(screen, bytes, size);
	if (!ok)
		errno = EPIPE;
	return ok ? (ssize_t)size : 0;
}

bool screen_open(struct screen *screen, struct progress *progress, struct helper_link *helper,
		 bool may_page)
{
	*screen = (struct screen){ .progress = progress,
				   .helper = helper,
				   .progress_helper = progress ? progress->helper : NULL,
				   .may_page = may_page && spawn_pager() };
	find_size(screen);
	screen->file = fopencookie(screen, "w", (cookie_io_functions_t){ .write = screen_write });
	/* Lines appear as they come where nothing is held. */
	if (screen->file && !screen->may_page)
		setvbuf(screen->file, NULL, _IOLBF, BUFSIZ);
	return screen->file;
}

void screen_close(struct screen *screen)
{
	fclose(screen->file);
	if (screen->pager.helper)
		child_wait(&screen->pager);
	else if (screen->may_page && screen->held_size)
		write_terminal(screen, screen->held, screen->held_size);
	if (screen->progress)
		screen->progress->helper = screen->progress_helper;
	progress_end(screen->progress);
	free(screen->held);
}
